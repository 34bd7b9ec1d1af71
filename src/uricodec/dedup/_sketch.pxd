"""Sketches of many numbers, for their quantiles, in a few kilobytes."""
from libc.stdint cimport int32_t, uint32_t, uint64_t


# Followed by `size` counts: that of bucket first + i is counts[i].
cdef struct Sketch:
    uint64_t count          # numbers
    uint64_t zeros          # those of them that count as 0
    double least
    double greatest
    int32_t first
    uint32_t size


# Add a number to a sketch; NULL: an empty one. False: out of memory. *used changes by the bytes that are allocated.
cdef bint add_number(Sketch **sketch, double number, size_t *used) noexcept nogil
cdef bint add_sketch(Sketch **sketch, const Sketch *other, size_t *used) noexcept nogil
cdef double quantile_of(const Sketch *sketch, double share) noexcept nogil
cdef void free_sketch(Sketch *sketch) noexcept nogil
