"""Shapes of URLs: the classes of path segments that identify one resource among many of the same kind."""
from libc.stdint cimport uint8_t


# What a segment is, in the order of CLASS_TEXT.
cdef enum SegmentClass:
    NO_CLASS, INT, UUID, DATE, HEX, EMAIL, TOKEN
    CLASSES


cdef enum:
    LONGEST_CLASS = 7       # bytes: "{token}"

cdef const uint8_t *CLASS_TEXT[CLASSES]     # "{int}",
cdef size_t CLASS_SIZE[CLASSES]             # and the size of it

# Return the class of a segment, which is percent-decoded. What follows the first stem[0] bytes is a file extension, or
# nothing: it belongs to no class.
cdef SegmentClass segment_class(const uint8_t *s, size_t n, size_t *stem) noexcept nogil
