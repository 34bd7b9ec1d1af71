"""Removal of dot segments (RFC 3986 section 5.2.4).

The RFC moves segments from an input buffer to an output buffer. Here both are the same memory. This is safe because
each step writes at most as many bytes as it has read, so the output never overtakes the input. Removing the last output
segment searches backwards for its "/". Each byte is written once and removed at most once, so the time is linear and no
stack is needed.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memchr


cdef size_t first_dot_segment(const uint8_t *path, size_t n) noexcept nogil:
    cdef size_t i = 0, end
    cdef const uint8_t *found
    while i < n:
        found = <const uint8_t *>memchr(path + i, c'.', n - i)
        if found == NULL:
            return n
        i = found - path
        if i == 0 or path[i - 1] == c'/':
            end = i + 1
            if end < n and path[end] == c'.':
                end += 1
            if end == n or path[end] == c'/':
                return i - (i > 0)
        i += 1
    return n


cdef size_t remove_dot_segments(uint8_t *path, size_t n) noexcept nogil:
    cdef size_t i = first_dot_segment(path, n)      # read position
    cdef size_t o = i                               # write position
    # A: "If the input buffer begins with a prefix of "../" or "./", then remove that prefix". Once it begins with "/",
    # it always will.
    if i == 0 and n and path[0] == c'.':
        while True:
            if n - i >= 2 and path[i] == c'.' and path[i + 1] == c'/':
                i += 2
            elif n - i >= 3 and path[i] == c'.' and path[i + 1] == c'.' and path[i + 2] == c'/':
                i += 3
            else:
                break
        # D: "if the input buffer consists only of "." or "..", then remove that".
        if n - i == 1 and path[i] == c'.' or n - i == 2 and path[i] == c'.' and path[i + 1] == c'.':
            return 0
    while i < n:
        if n - i >= 2 and path[i] == c'/' and path[i + 1] == c'.':
            # B: "a prefix of "/./" or "/.", where "." is a complete path segment": replace it with "/".
            if n - i == 2:
                path[o] = c'/'
                return o + 1
            if path[i + 2] == c'/':
                i += 2
                continue
            # C: the same for "/../" or "/..", "and remove the last segment and its preceding "/" (if any)".
            if path[i + 2] == c'.' and (n - i == 3 or path[i + 3] == c'/'):
                while o and path[o - 1] != c'/':
                    o -= 1
                o -= o > 0
                if n - i == 3:
                    path[o] = c'/'
                    return o + 1
                i += 3
                continue
        # E: "move the first path segment [...] including the initial "/" character (if any)".
        while True:
            path[o] = path[i]
            i += 1
            o += 1
            if i == n or path[i] == c'/':
                break
    return o
