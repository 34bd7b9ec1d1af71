"""Decoding with a policy for errors."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport uc_set
from uricodec._codec._charsets cimport CharsetTable
from uricodec._codec._percent cimport triplet_value


# How a malformed triplet, or decoded bytes that are not UTF-8, are handled.
cdef enum BytePolicy:
    KEEP        # they stay as they are
    REPLACE     # they become U+FFFD
    FAIL        # decoding stops with their position

cdef enum DecodeFault:
    NO_FAULT, MALFORMED, NOT_UTF8

cdef struct StrictOptions:
    BytePolicy policy       # for decoded bytes that are not UTF-8
    BytePolicy malformed    # for a '%' without two hexadecimal digits
    bint plus           # a '+' is a space
    bint utf8           # the decoded bytes must be UTF-8 (RFC 3629)
    const uc_set *free  # triplets of other bytes stay; NULL: all are decoded
    bint c1             # triplets of U+0080-009F stay
    DecodeFault fault         # result: the error,
    size_t offset       # and its offset in src

cdef size_t decode_strictly(const uint8_t *src, size_t n, StrictOptions *how, uint8_t *dst,
                            const CharsetTable *tables=*) noexcept nogil
cdef size_t count_malformed(const uint8_t *src, size_t n, size_t *first) noexcept nogil
cdef bint is_utf8(const uint8_t *src, size_t n) noexcept nogil
cdef BytePolicy policy_of(object errors) except *
cdef int raise_fault(object data, const StrictOptions *how) except -1


cdef inline size_t unit_at(const uint8_t *src, size_t i, size_t n, uint8_t *byte) noexcept nogil:
    """Read one byte of the decoded text into `byte`. Return how many bytes of src it takes, 3 or 1; 0 at the end."""
    cdef int value
    if i >= n:
        return 0
    byte[0] = src[i]
    if byte[0] == c'%':
        value = triplet_value(src + i, n - i)
        if value >= 0:
            byte[0] = <uint8_t>value
            return 3
    return 1
