"""Names of query parameters, and what a "+" in a query means."""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from uricodec._base._kernels cimport lower
from uricodec._codec._percent cimport triplet_value
from uricodec._url._grammar cimport end_of_scheme


# A decoded name, or the prefix of such names.
cdef struct ParameterName:
    const uint8_t *text
    size_t size
    bint is_prefix


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


cdef inline bint is_name(const uint8_t *src, size_t n, const ParameterName *name, bint plus, bint folds) noexcept nogil:
    """Return whether the name of a field decodes to a name, or to what begins with it.

    Args:
        plus: Whether "+" is a blank, see has_form_query().
        folds: Whether ASCII letters compare without case; those of `name` are in lower case.
    """
    cdef size_t i = 0, at = 0
    cdef int byte
    while i < n:
        if at == name.size:
            return name.is_prefix
        byte = triplet_value(src + i, n - i) if src[i] == c'%' else c' ' if plus and src[i] == c'+' else src[i]
        i += 3 if src[i] == c'%' and byte >= 0 else 1
        if byte < 0:
            byte = c'%'
        if (lower(<uint8_t>byte) if folds else byte) != name.text[at]:
            return False
        at += 1
    return at == name.size
