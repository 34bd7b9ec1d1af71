"""Splitting of any text, and operations that read values from it."""
from libc.stdint cimport uint8_t

from uricodec._rows._engine cimport Component, RowOperation, row_function
from uricodec._url._grammar cimport Syntax
from uricodec.uri._queries cimport ParameterName


# Find the components of any text, in the order of `split_uri`: scheme, authority, userinfo, host, port, path, query,
# fragment (RFC 3986 appendix B).
cdef void split_any(const uint8_t *s, size_t n, Component *fields) noexcept nogil

# Find the host and the port of any text; start < 0: it has none.
cdef void split_host(const uint8_t *s, size_t n, Component *host, Component *port) noexcept nogil


# What a row function that writes values gets.
cdef struct Options:
    row_function read
    Syntax syntax               # of rows that are not invalid
    bint text                   # results are UTF-8,
    bint checks                 # and rows may not be
    int count                   # of names
    int texts                   # of each item; 0: the result is not a list
    const ParameterName *names

# Write one component as it is spelled; return the size.
cdef size_t put_raw(const uint8_t *src, const Component *part, const void *options, uint8_t *dst) noexcept nogil

# Return the value in any input, under a policy: a dict if there are names. The options may begin a larger struct.
cdef object value_in(object input, Options *how, tuple names, object errors)


cdef class ValueRows(RowOperation):
    cdef Options how
    cdef readonly tuple names   # of several values; None: there is one

    # Set the row function, and what its results are.
    cdef int set_row(self, row_function row, bint text, bint checks, size_t values) except -1
