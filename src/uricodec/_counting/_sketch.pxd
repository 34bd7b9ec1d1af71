"""Sketches of many numbers, for their quantiles, in a few kilobytes."""
from libc.stdint cimport int32_t, uint16_t, uint64_t


# Followed by `size` counts of `width` bytes each: those of the buckets from `first` on.
cdef struct Sketch:
    uint64_t count          # numbers
    uint64_t zeros          # those of them that count as 0
    double least
    double greatest
    int32_t first
    uint16_t size
    uint16_t width


# Add a number to a sketch; NULL: an empty one. False: out of memory. *used changes by the bytes that are allocated.
cdef bint add_number(Sketch **sketch, double number, size_t *used) noexcept nogil
cdef double quantile_of(const Sketch *sketch, double share) noexcept nogil
cdef void free_sketch(Sketch *sketch) noexcept nogil
