"""Rows of several values: how they are written into one row of bytes, and read again.

A row has a header of an int64_t for each column, and then the values. The header is the size of the value or, if it is
negative, why there is none: NULL_VALUE, WRONG_TYPE, or LONE_SURROGATE less the offset of the surrogate.
"""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from uricodec._rows._engine cimport Outcome, RowOperation, row_function

cdef enum:
    MOST_VALUES = 5
    NULL_VALUE = -1
    WRONG_TYPE = -2
    LONE_SURROGATE = -3
    WHOLE_RESULT = 7        # stands for the number of a value: an offset is in what the values make together
    NUMBER_SHIFT = 8 * sizeof(size_t) - 3


# The values of an operation: each is in the row, or the same for all rows.
cdef struct Values:
    int count
    bint packed                 # rows have a header; else a row is the first value, and the others are fixed
    bint is_fixed[MOST_VALUES]
    const uint8_t *at[MOST_VALUES]
    int64_t size[MOST_VALUES]   # negative: there is none


cdef inline size_t place(int value, size_t offset) noexcept nogil:
    """Return an offset with the number of the value that it refers to in its three highest bits.

    Of 32 bits, 29 are left: an error from 512 MiB on is said to be there.
    """
    return min(offset, (<size_t>1 << NUMBER_SHIFT) - 1) | <size_t>value << NUMBER_SHIFT


# Set the values of a row. Its size is at least that of its header.
cdef void read_values(const uint8_t *src, size_t n, const Values *given, Values *values) noexcept nogil


# Options of the row functions of TupleOperation: the first member of those that have more.
cdef struct TupleOptions:
    Values values
    row_function row            # of the operation, for `keep`


# Write the result, or the first value if the row is invalid. Its options are TupleOptions.
cdef size_t keep_first(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil


cdef class TupleOperation(RowOperation):
    cdef TupleOptions *tuple_options
    cdef list fixed             # the fixed values: bytes or None
    cdef readonly bint text     # errors show values as str

    cdef int set_values(self, TupleOptions *options, tuple values, bint text) except -1
    cdef object whole_of(self, list values)
