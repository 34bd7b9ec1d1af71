"""Operations of the percent codec on rows: what loops over many rows know of them."""
from uricodec._core._kernels cimport uc_set
from uricodec._core._rows cimport *
from uricodec._core._triplets cimport Policy


cdef struct Encoding:
    uc_set safe
    bint plus
    bint triplets       # stay, and '%' is safe
    bint digits         # theirs are safe
    Policy policy       # for octets that are not UTF-8; where triplets stay, for malformed ones


cdef class CodecRows(RowOperation):
    pass


cdef class EncodeRows(CodecRows):
    cdef Encoding how


cdef class RequoteRows(CodecRows):
    cdef Encoding how
