"""What rows of any octets use of the loops that decode lines."""
from libc.stdint cimport uint8_t

from uricodec._core._kernels cimport ByteSet
from uricodec._core._triplets cimport Careful, Policy


# Decodes octets in which nothing needs care; UC_FULL if something may. dst has room for n octets.
cdef size_t decode_quickly(const uint8_t *src, size_t n, const Careful *how, uint8_t *dst) noexcept nogil
cdef void set_careful(Careful *how, bint plus, bint raw, Policy policy, ByteSet free)

# Whether there is a UTF-8 sequence of U+0080-009F.
cdef bint has_c1(const uint8_t *src, size_t n) noexcept nogil
