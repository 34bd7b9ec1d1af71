"""Queries: see _queries.pxd."""
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

from uricodec._base._text cimport *


# --- names ------------------------------------------------------------------------------------------------------------

cdef inline const uint8_t *ascii_or_bytes(object text, size_t *n) noexcept:
    if type(text) is str:
        n[0] = <size_t>PyUnicode_GET_LENGTH(text)
        return <const uint8_t *>PyUnicode_DATA(text)
    n[0] = <size_t>PyBytes_GET_SIZE(text)
    return <const uint8_t *>PyBytes_AS_STRING(text)


cdef int set_names(NameSet *names, list given, bint may_be_prefix, bint folds, list held) except -1:
    cdef bytes memory = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(<size_t>len(given) * sizeof(QueryName)))
    cdef QueryName name
    cdef uint32_t *at
    cdef Py_ssize_t i
    held.append(memory)
    held.append(given)
    names.name, names.folds, names.all = <QueryName *>PyBytes_AS_STRING(memory), folds, False
    memset(names.first, 0, sizeof(names.first))
    for text in given:
        name.text = ascii_or_bytes(text, &name.size)
        names.first[name.text[0] & 31 if name.size else 0] += 1
    for i in range(1, 33):
        names.first[i] += names.first[i - 1]
    # first[b] is the end of the names with bits b, and moves to their start as they are set from the last one on.
    for i in range(len(given) - 1, -1, -1):
        name.text = ascii_or_bytes(given[i], &name.size)
        at = &names.first[name.text[0] & 31 if name.size else 0]
        name.is_prefix = may_be_prefix and name.size and name.text[name.size - 1] == c'*'
        name.size -= name.is_prefix
        names.all |= name.is_prefix and name.size == 0
        at[0] -= 1
        names.name[at[0]] = name
    return 0


# --- order ------------------------------------------------------------------------------------------------------------

# A query with at most FEW fields and SHORT bytes is sorted on the stack, others on the heap. At most FEWEST fields are
# sorted by insertion: qsort() takes longer for these.
cdef enum:
    SHORT = 2048
    FEWEST = 16


cdef inline void insert_fields(QueryField *fields, size_t count, compare_function compare) noexcept nogil:
    """Sort a few fields."""
    cdef QueryField field
    cdef size_t i, k
    for i in range(1, count):
        field, k = fields[i], i
        while k and compare(fields + k - 1, &field) > 0:
            fields[k] = fields[k - 1]
            k -= 1
        fields[k] = field


cdef void write_sorted(QueryField *fields, size_t count, compare_function compare, uint8_t *query) noexcept nogil:
    """Write the fields, which the query does not overlap, in their order."""
    cdef size_t i, at = 0
    if count <= FEWEST:
        insert_fields(fields, count, compare)
    else:
        qsort(fields, count, sizeof(QueryField), compare)
    for i in range(count):
        if i:
            query[at] = c'&'
            at += 1
        memcpy(query + at, fields[i].text, fields[i].size)
        at += fields[i].size


cdef bint sort_query(uint8_t *query, size_t n, compare_function compare) noexcept nogil:
    cdef uint8_t short_copy[SHORT]
    cdef QueryField few[FEW]
    cdef QueryField *fields = few
    cdef QueryReader reader = read_query(query, n)
    cdef QueryField field, last
    cdef size_t count = 0, i
    cdef uint8_t *copy = short_copy
    cdef bint in_order = True
    while next_field(&reader, &field):
        if count < FEW:
            few[count] = field
        if count and in_order:
            in_order = compare(&last, &field) <= 0
        last = field
        count += 1
    if in_order:
        return True
    if count > FEW or n > SHORT:
        # count - 1 bytes of the query are "&", so the size does not overflow for any query that fits in memory.
        fields = <QueryField *>malloc(count * sizeof(QueryField) + n)
        if fields == NULL:  # pragma: no cover: no memory
            set_no_memory()
            return False
        copy = <uint8_t *>(fields + count)
        reader = read_query(query, n)
        for i in range(count):
            next_field(&reader, fields + i)
    memcpy(copy, query, n)
    for i in range(count):
        fields[i].text = copy + (fields[i].text - query)
    write_sorted(fields, count, compare, query)
    if fields != few:
        free(fields)
    return True
