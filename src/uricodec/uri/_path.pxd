"""Dot segments of a path, and what keeps a path from being read as something else."""
from libc.stdint cimport uint8_t
from libc.string cimport memmove

from uricodec.uri._grammar cimport SCHEME_TAIL


cdef enum:
    GUARD = 2           # octets that a guard adds to a path

# Where the first dot segment begins, with the "/" before it; n if there is none.
cdef size_t first_dot_segment(const uint8_t *path, size_t n) noexcept nogil

# RFC 3986 section 5.2.4, in place. Returns the size of what remains.
cdef size_t remove_dot_segments(uint8_t *path, size_t n) noexcept nogil


cdef inline size_t scheme_end(const uint8_t *s, size_t n) noexcept nogil:
    """Where the octets end that may be a scheme; 0 if the first one may not."""
    cdef size_t i = 0
    if n and <uint8_t>((s[0] | 0x20) - c'a') < 26:
        while i < n and SCHEME_TAIL.set.member[s[i]]:
            i += 1
    return i


cdef inline size_t put_before(uint8_t *path, size_t n, uint8_t first, uint8_t second) noexcept nogil:
    memmove(path + GUARD, path, n)
    path[0], path[1] = first, second
    return n + GUARD


cdef inline size_t guard_slashes(uint8_t *path, size_t n) noexcept nogil:
    """Without an authority, what follows "//" would be one."""
    return put_before(path, n, c'/', c'.') if n >= 2 and path[0] == c'/' and path[1] == c'/' else n


cdef inline size_t guard_colon(uint8_t *path, size_t n) noexcept nogil:
    """Without a scheme, what stands before the first ":" might be one."""
    cdef size_t end = scheme_end(path, n)
    return put_before(path, n, c'.', c'/') if end and end < n and path[end] == c':' else n
