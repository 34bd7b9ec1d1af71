"""Queries: their fields in their order, sets of names, and what a "+" is.

    query = field *( "&" field )        a field may be empty
    field = name [ "=" value ]

    q=caf%C3%A9+au+lait&&safe           three fields: one of the name "q", an empty one, and "safe" without a value
"""
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr, memcmp

from uricodec._base._kernels cimport lower
from uricodec._codec._percent cimport triplet_value
from uricodec._url._grammar cimport end_of_scheme


cdef inline bint has_form_query(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a "+" in the query of a text is a blank.

    Forms write it so (URL standard, application/x-www-form-urlencoded), and forms are sent to http, https, ws and wss,
    or to a reference without a scheme. In other schemes "+" is a plus sign, as RFC 6068 section 5 says of mailto.
    """
    cdef size_t size
    # Most URLs begin with one of these.
    if n >= 6 and memcmp(s, b"http", 4) == 0 and (s[4] == c':' or s[4] == c's' and s[5] == c':'):
        return True
    size = end_of_scheme(s, n)
    if size == 0:
        return True
    if lower(s[size - 1]) == c's' and size > 2:
        size -= 1
    if size == 2:
        return lower(s[0]) == c'w' and lower(s[1]) == c's'
    return size == 4 and lower(s[0]) == c'h' and lower(s[1]) == c't' and lower(s[2]) == c't' and lower(s[3]) == c'p'


# --- fields -----------------------------------------------------------------------------------------------------------

cdef struct QueryField:
    const uint8_t *text
    size_t name_size
    size_t size             # of all; without "=" that of the name

# Where the next field is read. Bytes before it may be overwritten.
cdef struct QueryReader:
    const uint8_t *query
    size_t size
    size_t at               # beyond `size`: there is none


cdef inline QueryReader read_query(const uint8_t *query, size_t n) noexcept nogil:
    """Return the reader of a query, which has at least one field."""
    return QueryReader(query, n, 0)


cdef inline size_t size_until(const uint8_t *s, size_t n, uint8_t c) noexcept nogil:
    cdef const uint8_t *found = <const uint8_t *>memchr(s, c, n)
    return n if found == NULL else <size_t>(found - s)


cdef inline bint next_field(QueryReader *reader, QueryField *field) noexcept nogil:
    """Read the next field. False: there is none."""
    if reader.at > reader.size:
        return False
    field.text = reader.query + reader.at
    field.size = size_until(field.text, reader.size - reader.at, c'&')
    field.name_size = size_until(field.text, field.size, c'=')
    reader.at += field.size + 1
    return True


# --- names ------------------------------------------------------------------------------------------------------------

# How a name is spelled: as it is, with triplets, or also with "+" for a blank.
cdef enum Spelling:
    DECODED, ENCODED, FORM

# A decoded name, or what names begin with.
cdef struct QueryName:
    const uint8_t *text
    size_t size
    bint is_prefix

# Names by the five bits of their first byte that the cases of a letter share: those with the bits b are name[first[b]] to
# name[first[b + 1]].
cdef struct NameSet:
    uint32_t first[33]
    bint folds                  # names are in lower case, and match in any
    bint all                    # one of them is a prefix of every name
    QueryName *name

# Make a set of the names in a list, each of them ASCII or bytes, a prefix if it ends with "*" and may be one. What the set
# refers to is appended to `held`.
cdef int set_names(NameSet *names, list given, bint may_be_prefix, bint folds, list held) except -1


cdef inline bint is_name(const uint8_t *s, size_t n, Spelling spelling, const QueryName *name, bint folds) noexcept nogil:
    """Return whether what is spelled here is the name, or begins with it."""
    cdef size_t i = 0, at = 0
    cdef int byte
    if n < name.size or spelling == DECODED and n > name.size and not name.is_prefix:
        return False
    while i < n:
        if at == name.size:
            return name.is_prefix
        byte = s[i]
        i += 1
        if byte == c'+' and spelling == FORM:
            byte = c' '
        elif byte == c'%' and spelling != DECODED:
            byte = triplet_value(s + i - 1, n - i + 1)
            if byte < 0:
                byte = c'%'
            else:
                i += 2
        if (lower(<uint8_t>byte) if folds else byte) != name.text[at]:
            return False
        at += 1
    return at == name.size


cdef inline bint has_name(const NameSet *names, const uint8_t *s, size_t n, Spelling spelling) noexcept nogil:
    """Return whether the set has the name that is spelled here, or what it begins with."""
    cdef uint32_t i, end
    cdef size_t k
    cdef int byte = s[0] if n else 0
    if byte == c'+' and spelling == FORM:
        byte = c' '
    elif byte == c'%' and spelling != DECODED:
        byte = triplet_value(s, n)
        if byte < 0:
            byte = c'%'
    i, end = names.first[byte & 31], names.first[(byte & 31) + 1]
    if i == end:
        return names.all
    for k in range(n):      # it is short
        if s[k] == c'%' or s[k] == c'+':
            break
    else:
        spelling = DECODED
    for i in range(i, end):
        if is_name(s, n, spelling, names.name + i, names.folds):
            return True
    return names.all


# --- order ------------------------------------------------------------------------------------------------------------

ctypedef int (*compare_function)(const void *a, const void *b) noexcept nogil

cdef enum:
    FEW = 64            # fields that are sorted on the stack

# Sort fields, and write them to `query`, which none of them overlaps, with "&" between them.
cdef void write_sorted(QueryField *fields, size_t count, compare_function compare, uint8_t *query) noexcept nogil

# Sort the fields of a query in place; equal ones stay in their order. False: a MemoryError is set.
cdef bint sort_query(uint8_t *query, size_t n, compare_function compare) noexcept nogil


cdef inline int compare_text(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) noexcept nogil:
    cdef int order
    if a_size and b_size and a[0] != b[0]:      # most names
        return <int>a[0] - <int>b[0]
    order = memcmp(a, b, min(a_size, b_size))
    return order if order else (a_size > b_size) - (a_size < b_size)
