"""Several arrays as one."""
from uricodec._rows._arrow cimport Array, Type
from libc.stdint cimport int64_t, uint8_t

cdef object join_arrays(Type type, list arrays, size_t limit)
cdef Array part_of(Array array, int64_t start, int64_t length)
cdef Array child_of(Array whole, int i)
cdef int widen_offsets(Array array) except -1
cdef void copy_bits(const uint8_t *src, size_t start, size_t n, uint8_t *dst, size_t place) noexcept nogil
