"""Rows that are in normal form already."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t


# A changes_function (_rows/_engine.pxd) of the levels "case", "percent" and "path".
cdef void mark_changes(const uint8_t *src, size_t n, const uint32_t *at, size_t rows, uint64_t *marks) noexcept nogil
