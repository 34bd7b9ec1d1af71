"""JSON (RFC 8259) of which only the ends of values are looked for."""
from libc.stdint cimport uint8_t

from uricodec.logs._fields cimport find


cdef inline size_t skip_space(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    while i < n and (s[i] == c' ' or s[i] == c'\t' or s[i] == c'\r' or s[i] == c'\n'):     # "\n": in a line of Docker
        i += 1
    return i


cdef inline bint is_escaped(const uint8_t *s, size_t i) noexcept nogil:
    """Return whether an odd number of backslashes is before s[i]. A quote before them ends the search."""
    cdef bint odd = False
    while i and s[i - 1] == c'\\':
        odd = not odd
        i -= 1
    return odd


cdef inline size_t end_of_string(const uint8_t *s, size_t i, size_t n, bint plain) noexcept nogil:
    """Return the offset of the quote that ends the string which starts at i; n if it does not end."""
    i = find(s, i, n, c'"')
    while not plain and i < n and is_escaped(s, i):
        i = find(s, i + 1, n, c'"')
    return i


cdef inline size_t end_of_scalar(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of the number, true, false or null that starts at i."""
    while i < n and (c'0' <= s[i] <= c'9' or c'a' <= s[i] <= c'z' or s[i] == c'.' or s[i] == c'-' or s[i] == c'+' or s[i] == c'E'):
        i += 1
    return i


cdef inline size_t skip_nested(const uint8_t *s, size_t i, size_t n, bint plain) noexcept nogil:
    """Return the end of the object or array that starts at i; n + 1 if it does not end. Its content is not checked."""
    cdef size_t depth = 0
    while i < n:
        if s[i] == c'"':
            i = end_of_string(s, i + 1, n, plain)
        elif s[i] == c'{' or s[i] == c'[':
            depth += 1
        elif s[i] == c'}' or s[i] == c']':
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return n + 1
