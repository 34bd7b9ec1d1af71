"""Splitting of any text, and operations that read values from it."""
from libc.stdint cimport int64_t, uint8_t

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec._base._text cimport copy_text
from uricodec._rows._engine cimport Component, RowOperation, padded, row_function
from uricodec._url._grammar cimport Syntax, end_of_scheme, web_prefix
from uricodec._url._queries cimport QueryName


# Find the components of any text, in the order of `split_uri`: scheme, authority, userinfo, host, port, path, query,
# fragment (RFC 3986 appendix B).
cdef void split_any(const uint8_t *s, size_t n, Component *fields) noexcept nogil

cdef ByteSet IN_HOST        # bytes that neither end the host nor follow something else


cdef inline size_t authority_start(const uint8_t *s, size_t n) noexcept nogil:
    """Return where the authority starts; 0: it is undefined."""
    cdef size_t i = web_prefix(s, n)
    if i:
        return i
    i = end_of_scheme(s, n)
    i += i > 0
    return i + 2 if n - i >= 2 and s[i] == c'/' and s[i + 1] == c'/' else 0


cdef inline void find_host(const uint8_t *s, size_t n, Component *host, Component *port) noexcept nogil:
    """Find the host and the port."""
    cdef size_t i = authority_start(s, n)
    host.start = host.end = port.start = port.end = -1
    if i == 0:
        return
    while True:     # for each "@"
        host.start, port.start = <int64_t>i, -1
        if i < n and s[i] == c'[':
            while i < n and s[i] != c']' and s[i] != c'@' and s[i] != c'/' and s[i] != c'?' and s[i] != c'#':
                i += 1
            i += i < n and s[i] == c']'
            host.end = <int64_t>i
            # text between the "]" and the ":" is part of neither
            while i < n and IN_HOST.set.member[s[i]]:
                i += 1
        else:
            i += kernels.span(s + i, n - i, &IN_HOST.set)
            host.end = <int64_t>i
        if i < n and s[i] == c':':
            i += 1
            port.start = <int64_t>i
            while i < n and (IN_HOST.set.member[s[i]] or s[i] == c':'):
                i += 1
            port.end = <int64_t>i
        if i == n or s[i] != c'@':
            return
        i += 1


# What a row function that writes values gets.
cdef struct Options:
    row_function read
    Syntax syntax               # of rows that are not invalid
    bint text                   # results are UTF-8,
    bint checks                 # and rows may not be
    int count                   # of names
    int texts                   # of each item; 0: the result is not a list
    const QueryName *names

# Make n bytes at dst UTF-8, where 3 * n bytes can be written; return the size.
cdef size_t to_text(uint8_t *dst, size_t n) noexcept nogil


cdef inline size_t put_raw(const uint8_t *src, const Component *part, const void *options, uint8_t *dst) noexcept nogil:
    """Write one component as it is spelled; return the size."""
    cdef Component *field = <Component *>dst
    cdef size_t n
    if part.start < 0:
        field.start = field.end = -1
        return sizeof(Component)
    n = <size_t>(part.end - part.start)
    copy_text(dst + sizeof(Component), src + part.start, n)
    if (<const Options *>options).checks:
        n = to_text(dst + sizeof(Component), n)
    field.start, field.end = sizeof(Component), <int64_t>(sizeof(Component) + n)
    return padded(sizeof(Component) + n)

# Return the value in any input, under a policy: a dict if there are names. The options may begin a larger struct.
cdef object value_in(object input, Options *how, tuple names, object errors)


cdef class ValueRows(RowOperation):
    cdef Options how
    cdef readonly tuple names   # of several values; None: there is one

    # Set the row function, and what its results are.
    cdef int set_row(self, row_function row, bint text, bint checks, size_t values) except -1
