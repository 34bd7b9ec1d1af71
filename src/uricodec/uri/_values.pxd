"""Splitting of any text, and operations that read values from it."""
from libc.stdint cimport int64_t, uint8_t

from uricodec._base._text cimport copy_text, make_utf8
from uricodec._codec._charsets cimport CharsetTable
from uricodec._rows._engine cimport Component, Outcome, RowOperation, padded, row_function
from uricodec._url._grammar cimport Parts, Syntax
from uricodec._url._queries cimport QueryName


# Set the components of a text, in the order of `split_uri`: scheme, authority, userinfo, host, port, path, query, fragment.
cdef void set_fields(const Parts *parts, Component *fields) noexcept nogil


# What a "+" in a query is: a blank in the queries of forms, see has_form_query(); or always; or never.
cdef enum PlusRule:
    PLUS_BY_SCHEME, PLUS_IS_BLANK, PLUS_IS_PLUS

# What a row function that writes values gets.
cdef struct Options:
    row_function read
    Syntax syntax               # of rows that are not invalid
    bint text                   # results are UTF-8,
    bint checks                 # and rows may not be
    int count                   # of names
    int texts                   # of each item; 0: the result is not a list
    const QueryName *names
    PlusRule plus
    const CharsetTable *tables  # the encoding of what is not UTF-8; NULL: it becomes U+FFFD in text
    row_function inner          # reads what bare_row() makes; NULL: hosts have "//" before them


cdef inline size_t put_raw(const uint8_t *src, Py_ssize_t start, Py_ssize_t end, const void *options,
                           uint8_t *dst) noexcept nogil:
    """Write a component, src[start:end], as it is spelled; -1: it is undefined. Return the size."""
    cdef Component *field = <Component *>dst
    cdef size_t n
    if start < 0:
        field.start = field.end = -1
        return sizeof(Component)
    n = <size_t>(end - start)
    copy_text(dst + sizeof(Component), src + start, n)
    if (<const Options *>options).checks:
        n = make_utf8(dst + sizeof(Component), n)
    field.start, field.end = sizeof(Component), <int64_t>(sizeof(Component) + n)
    return padded(sizeof(Component) + n)

cdef size_t bare_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil

cdef inline int set_bare(Options *how, object bare) except -1:
    """Say whether text may begin with a host. `read` has been set."""
    how.inner = NULL
    if bare is not False and bare:
        how.inner, how.read = how.read, bare_row
    return 0

# Return the value in any input, under a policy: a dict if there are names. The options may begin a larger struct.
cdef object value_in(object input, Options *how, tuple names, object errors)


cdef class ValueRows(RowOperation):
    cdef Options how
    cdef readonly tuple names   # of several values; None: there is one

    # Set the row function, and what its results are.
    cdef int set_row(self, row_function row, bint text, bint checks, size_t values) except -1
    # Let rows begin with hosts.
    cdef int set_bare(self) except -1
