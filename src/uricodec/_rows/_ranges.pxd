"""Ranges of rows, copied from arrays to a new one."""
from libc.stdint cimport int64_t, uint8_t

from uricodec._rows._arrow cimport Array, Buffer, Type


# Ranges of rows of an array, in the order in which they are wanted.
cdef struct Ranges:
    size_t count
    const int64_t *starts       # the first row of each; -1: nulls instead of rows
    const int64_t *sizes        # the number of rows of each; NULL: one
    int64_t rows                # of all ranges


cdef inline int64_t size_at(const Ranges *ranges, size_t i) noexcept nogil:
    return 1 if ranges.sizes == NULL else ranges.sizes[i]


# An array that grows by ranges of other arrays of its type.
cdef class Growing:
    cdef Type type
    cdef size_t limit           # offsets get 64 bits if they exceed this
    cdef int64_t rows
    cdef Buffer valid           # a bit for each row
    cdef Buffer values          # what buffer 1 of an Arrow array has: bits, numbers, indices, views, or offsets
    cdef Buffer data            # the bytes of text; of views, the sizes of their buffers
    cdef bint large             # offsets have 64 bits
    cdef list parts             # children: Growing
    cdef Array dictionary
    cdef list sources           # arrays with the buffers of views

    cdef int add(self, Array array, const Ranges *ranges) except -1
    cdef int add_texts(self, Array array, const Ranges *ranges) except -1
    # Return the contents for a pickle, and set them.
    cdef tuple save(self)
    cdef int load(self, tuple saved, Array dictionary) except -1
    # Return the type, perhaps with 64-bit offsets, and the array. Nothing can be added afterwards.
    cdef tuple finish(self)


cdef Growing growing_of(Type type, size_t limit)

# Return one array with all rows, and its type, which has 64-bit offsets if the result has more than `limit` bytes.
# Arrays of dictionary type must share one dictionary, see with_one_dictionary().
cdef tuple join_arrays(Type type, list arrays, size_t limit)

# Return copies of the buffers with the rows of an array, for a pickle; and an array of them, with a dictionary or None.
cdef tuple saved_rows(Type type, Array array)
cdef Array loaded_rows(Type type, tuple saved, Array dictionary)

cdef void copy_bits(const uint8_t *src, size_t start, size_t n, uint8_t *dst, size_t place) noexcept nogil
