"""Lines that are in normal form already."""
from libc.stdint cimport uint8_t, uint64_t


# A mark_function (_rows.pxd) of the levels "case", "percent" and "path".
cdef void mark_changes(const uint8_t *src, size_t n, const uint64_t *ends, uint64_t *marks) noexcept nogil
