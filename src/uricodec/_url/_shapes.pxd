"""Shapes of URLs: the classes of path segments that identify one resource among many of the same kind."""
from libc.stdint cimport uint8_t


# What a segment is, in the order of CLASS_TEXT.
cdef enum SegmentClass:
    NO_CLASS, INT, UUID, DATE, HEX, EMAIL, TOKEN
    CLASSES


cdef const uint8_t *CLASS_TEXT[CLASSES]     # "{int}",
cdef size_t CLASS_SIZE[CLASSES]             # and the size of it

# Return the class of a segment, which is percent-decoded. What follows the first stem[0] bytes is a file extension, or
# nothing: it belongs to no class.
cdef SegmentClass segment_class(const uint8_t *s, size_t n, size_t *stem) noexcept nogil


# A shape is at most so much longer than its path: "1/2" becomes "{int}/{int}".
cdef enum:
    SHAPE_FACTOR = 3
    SHAPE_EXTRA = 2

# Write a path with the class of each segment that has one, and return the size. is_decoded: "%" is a byte like any other. The
# path may be in the same memory as dst, if it begins SHAPE_FACTOR - 1 times its size and SHAPE_EXTRA bytes after dst.
cdef size_t write_shape(const uint8_t *path, size_t n, bint is_decoded, uint8_t *dst) noexcept nogil
