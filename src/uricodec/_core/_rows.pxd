"""One row in, one row out: the loop of an operation over a single value, as lines, columns and calls use it."""
from libc.stdint cimport uint8_t


cdef extern from *:
    """
    #define UC_REFUSED SIZE_MAX
    """
    # What a row function returns when it refuses its input.
    const size_t UC_REFUSED


# Why, and where: a code of the module that the function is in, and an offset in src.
cdef struct Refusal:
    int code
    size_t offset


# Reads src[0 .. n) and writes to dst, elsewhere, which has the room that its Operation asks for. Returns how many octets
# it has written, or UC_REFUSED; what it has written then is of no use.
ctypedef size_t (*row_function)(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                                Refusal *refusal) noexcept nogil


cdef struct Operation:
    row_function row
    size_t factor           # room that is needed: factor * n + extra octets
    size_t extra
