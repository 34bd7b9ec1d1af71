"""What other loops use of the percent codec."""
from uricodec._core._kernels cimport ByteSet, uc_set
from libc.stdint cimport uint8_t

cdef ByteSet quote_set(object safe, bint plus)
cdef object encode_octets(const uint8_t *src, size_t n, const uc_set *safe, bint plus, bint text)
cdef str decode_text(const uint8_t *src, size_t n, bint plus)
cdef object stdlib()
