"""Operations of the percent codec on rows: what loops over many rows know of them."""
from uricodec._core._kernels cimport uc_set
from uricodec._core._rows cimport *
from uricodec._core._triplets cimport Policy


cdef struct Encoding:
    uc_set safe
    bint plus
    bint triplets       # stay, and '%' is safe
    bint digits         # theirs are safe
    bint utf8           # the input must be UTF-8
    Policy policy       # for bytes that are not; where triplets stay, also for malformed ones


cdef class CodecRows(RowOperation):
    pass


# Rows of an operation that rejects some, as each other policy has them.
cdef size_t encode_keeping(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil
cdef size_t encode_replacing(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil


cdef class EncodeRows(CodecRows):
    cdef Encoding how


cdef class RequoteRows(CodecRows):
    cdef Encoding how
