"""Arrow arrays in memory: imported ones, and ours for export."""
from libc.stdint cimport int32_t, int64_t, uint8_t


cdef extern from *:
    """
    /* The structs of the Arrow C data and stream interfaces, as their specification lays them out. */
    #ifndef ARROW_C_DATA_INTERFACE
    #define ARROW_C_DATA_INTERFACE
    struct ArrowSchema {
        const char *format, *name, *metadata;
        int64_t flags, n_children;
        struct ArrowSchema **children, *dictionary;
        void (*release)(struct ArrowSchema *);
        void *private_data;
    };
    struct ArrowArray {
        int64_t length, null_count, offset, n_buffers, n_children;
        const void **buffers;
        struct ArrowArray **children, *dictionary;
        void (*release)(struct ArrowArray *);
        void *private_data;
    };
    #endif
    #ifndef ARROW_C_STREAM_INTERFACE
    #define ARROW_C_STREAM_INTERFACE
    struct ArrowArrayStream {
        int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
        int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
        const char *(*get_last_error)(struct ArrowArrayStream *);
        void (*release)(struct ArrowArrayStream *);
        void *private_data;
    };
    #endif
    """
    struct ArrowSchema:
        const char *format
        const char *name
        const char *metadata
        int64_t flags
        int64_t n_children
        ArrowSchema **children
        ArrowSchema *dictionary
        void (*release)(ArrowSchema *) noexcept nogil
        void *private_data

    struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void **buffers
        ArrowArray **children
        ArrowArray *dictionary
        void (*release)(ArrowArray *) noexcept nogil
        void *private_data

    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept nogil
        int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept nogil
        const char *(*get_last_error)(ArrowArrayStream *) noexcept nogil
        void (*release)(ArrowArrayStream *) noexcept nogil
        void *private_data


# An Arrow type: a format string, a name, and the types of its parts.
cdef class Type:
    cdef readonly bytes format
    cdef readonly bytes name
    cdef readonly tuple children
    cdef readonly Type dictionary
    cdef readonly bint ordered
    cdef readonly bint required


# A buffer that grows.
cdef struct Buffer:
    uint8_t *data
    size_t size
    size_t cap
    bint in_bytes                 # the memory belongs to a bytes object

# Buffers that are freed with this object, unless their memory was moved out before.
cdef class ArrowBuffers:
    cdef Buffer first, second, third

cdef bytes begin_bytes(Buffer *buffer, size_t size)
cdef bytes finish_bytes(Buffer *buffer, list held)
cdef bint grow(Buffer *buffer, size_t more) noexcept nogil
# Ensure capacity for `more` bytes.
cdef int reserve(Buffer *buffer, size_t more) except -1
# Make the buffer n bytes of zeros; eight more follow.
cdef int fill_zeros(Buffer *buffer, size_t n) except -1
# Append an item. False: out of memory.
cdef bint append_item(Buffer *buffer, const void *item, size_t size) noexcept nogil
cdef int append(Buffer *buffer, const void *item, size_t size) except -1
cdef void trim(Buffer *buffer) noexcept nogil
cdef void discard(Buffer *buffer) noexcept nogil


# Memory that was moved out of a growing buffer, freed with this object.
cdef class Memory:
    cdef uint8_t *data
    cdef size_t cap

cdef Memory memory_of(Buffer *buffer)


# An array: its buffers, which `owners` keep alive.
cdef class Array:
    cdef readonly int64_t length
    cdef readonly int64_t nulls         # -1: not counted
    cdef readonly int64_t offset
    cdef int64_t n_buffers
    cdef const void **buffers
    cdef list owners            # private: they keep the buffers alive
    cdef readonly tuple children
    cdef readonly Array dictionary
    cdef Type type              # of the column that contains it; None: not in a column yet

    cdef int set_buffers(self, int64_t n) except -1


# Move the memory of a buffer to the array, which owns it from then on.
cdef const void *hold(Array array, Buffer *buffer) except NULL

# Note that an array belongs to a column of this type. TypeError if it does not match.
cdef int set_type(Array array, Type type) except -1

cdef object schema_capsule(Type type)
cdef object array_capsule(Array array)
cdef object stream_capsule(Type type, list arrays)

# Return the type of an Arrow object, and append its arrays to `arrays`.
cdef object read_object(object source, list arrays)


# Formats of text and lists -> the formats with 64-bit offsets.
cdef dict LARGE

cdef Array part_of(Array array, int64_t start, int64_t length)
cdef Array child_of(Array whole, int i)
# Return where a row of text or of a list starts, by offsets of 64 bits (`large`) or 32.
cdef int64_t offset_at(Array array, bint large, int64_t row) noexcept
cdef bint widen(Buffer *offsets) noexcept nogil
cdef void narrow(Buffer *offsets) noexcept
cdef int set_width(Array array, bint large) except -1

# An offset in text or lists.
ctypedef fused arrow_offset:
    int32_t
    int64_t
