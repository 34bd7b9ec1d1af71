# distutils: extra_compile_args=-Os
"""The Arrow C data interface: import of other libraries' arrays, export of ours, in capsules (PyCapsule interface).

An imported array is moved out of its capsule, so that a capsule can be used once,
and released when the last array that shares its buffers is freed. An exported array owns references to our objects
until its consumer releases it, on any thread.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset, strlen

from uricodec._base._cpython cimport *

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New


cdef extern from "Python.h":
    bint Py_IsInitialized() noexcept nogil

cdef extern from *:
    """
    #include <errno.h>
    #include <stdlib.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #include "simd/atomic.h"
    /* Page faults of fresh memory cost as much time as the operations. So a block that malloc() would map is a mapping here,
     * with pages of 2 MiB if it is that large, which grows without being copied; and unused blocks are kept for the next
     * call: up to 128 MiB, enough for a million rows of 100 bytes. A thread that finds the lock taken does not use them. */
    #define UC_PAGE ((size_t)2 << 20)
    #define UC_SMALL_PAGE ((size_t)64 << 10)
    #define UC_MAPPED(size) ((size) >= 2 * UC_SMALL_PAGE)
    #define UC_ROUNDED(size, page) (((size) + (page) - 1) & ~((page) - 1))
    #define UC_PAGES(size) UC_ROUNDED(size, (size) < UC_PAGE ? UC_SMALL_PAGE : UC_PAGE)
    #define UC_KEPT 64
    #define UC_KEPT_MOST ((size_t)128 << 20)
    static struct { void *data; size_t size; } uc_kept[UC_KEPT];
    static size_t uc_kept_size;
    static char uc_kept_lock;

    /* Request large pages for a mapping that has become large. */
    static void *uc_large(void *data, size_t before, size_t size) {
        if (before < UC_PAGE && size >= UC_PAGE) (void)madvise(data, size, MADV_HUGEPAGE);
        return data;
    }
    /* Take a kept block, and set *size to its size: the smallest of at least `want` bytes, unless it is more than twice as
     * large; else the largest of the others, if `smaller` is set. Returns NULL if there is none. */
    static void *uc_take_kept(size_t want, int smaller, size_t *size) {
        int i, best = -1;
        size_t have = 0;
        void *data = NULL;
        if (!uc_take(&uc_kept_lock)) return NULL;
        for (i = 0; i < UC_KEPT; i++) {
            size_t each = uc_kept[i].size;
            if (each >= want ? each / 2 <= want && (have < want || each < have) : smaller && have < want && each > have)
                best = i, have = each;
        }
        if (best >= 0) {
            data = uc_kept[best].data, *size = have;
            uc_kept_size -= have, uc_kept[best].size = 0;
        }
        uc_give(&uc_kept_lock);
        return data;
    }
    /* Map at least *size bytes, and set *size to the size mapped: a kept block, enlarged if need be, or a new mapping. */
    static void *uc_map(size_t *size) {
        size_t want = UC_PAGES(*size), have = 0;
        void *data = uc_take_kept(want, 1, &have);
        if (data != NULL && have < want) {
            void *moved = mremap(data, have, want, MREMAP_MAYMOVE);
            if (moved == MAP_FAILED) munmap(data, have);
            data = moved == MAP_FAILED ? NULL : uc_large(moved, have, want), have = want;
        }
        if (data == NULL) {
            data = mmap(NULL, have = want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (data == MAP_FAILED) return NULL;
            uc_large(data, 0, want);
        }
        *size = have;
        return data;
    }
    static int uc_keep(void *data, size_t size) {
        int i, kept = 0;
        if (size > UC_KEPT_MOST || !uc_take(&uc_kept_lock)) return 0;
        for (i = 0; i < UC_KEPT && !kept; i++)
            if (uc_kept[i].size == 0 && uc_kept_size + size <= UC_KEPT_MOST)
                uc_kept[i].data = data, uc_kept[i].size = size, uc_kept_size += size, kept = 1;
        uc_give(&uc_kept_lock);
        return kept;
    }
    static void uc_discard(void *data, size_t size) {
        if (data == NULL || !UC_MAPPED(size)) PyMem_RawFree(data);
        else if (!uc_keep(data, UC_PAGES(size))) munmap(data, UC_PAGES(size));
    }
    /* Resize a block of which `used` bytes are in use. Returns the block, and its capacity in *want. */
    static void *uc_resize(void *data, size_t size, size_t used, size_t *want) {
        void *moved = NULL;
        int was_mapped = data != NULL && UC_MAPPED(size);
        if (!UC_MAPPED(size) && !UC_MAPPED(*want)) return PyMem_RawRealloc(data, *want);
        if (was_mapped && UC_MAPPED(*want)) {
            /* To copy what is in use costs less than fresh pages if the block grows by much. */
            if (*want / 2 >= size) moved = uc_take_kept(UC_PAGES(*want), 0, want);
            if (moved == NULL) {
                *want = UC_PAGES(*want);
                moved = mremap(data, UC_PAGES(size), *want, MREMAP_MAYMOVE);
                return moved == MAP_FAILED ? NULL : uc_large(moved, size, *want);
            }
        }
        else moved = UC_MAPPED(*want) ? uc_map(want) : PyMem_RawMalloc(*want);
        if (moved == NULL) return NULL;
        if (data != NULL) memcpy(moved, data, used < *want ? used : *want);
        uc_discard(data, size);
        return moved;
    }
    /* Request large pages for memory that another allocator owns. */
    static void uc_large_pages(void *data, size_t size) {
        size_t start = UC_ROUNDED((size_t)data, UC_PAGE), end = ((size_t)data + size) & ~(UC_PAGE - 1);
        if (end > start) (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
    }
    #else
    static void uc_discard(void *data, size_t size) { (void)size, PyMem_RawFree(data); }
    static void *uc_resize(void *data, size_t size, size_t used, size_t *want) {
        return (void)size, (void)used, PyMem_RawRealloc(data, *want);
    }
    static void uc_large_pages(void *data, size_t size) { (void)data, (void)size; }
    #endif
    """
    void uc_discard(void *data, size_t size) noexcept nogil
    void *uc_resize(void *data, size_t size, size_t used, size_t *want) noexcept nogil
    void uc_large_pages(void *data, size_t size) noexcept nogil
    const int ENOMEM

cdef enum:
    ORDERED = 1         # ARROW_FLAG_DICTIONARY_ORDERED
    NULLABLE = 2        # ARROW_FLAG_NULLABLE
    LARGE_BYTES = 1 << 20     # bytes objects from this size on get large pages


@cython.final
cdef class Type:
    """The type of a column.

    Args:
        format (bytes): The format string of the C data interface, for example "u" for UTF-8.
        name (bytes): The name of a column in a table, or of a field.
        dictionary (Type | None): The type of the values of a dictionary; `format` is then that of the indices.
        ordered (bool): Whether the order of the dictionary's values has a meaning.
        required (bool): Whether no value is null.
    """

    def __cinit__(self, bytes format not None, bytes name not None=b"", tuple children not None=(), Type dictionary=None,
                  ordered=False, required=False):
        for child in children:
            <Type?>child
        self.format, self.name, self.children, self.dictionary = format, name, children, dictionary
        self.ordered, self.required = ordered, required


cdef bint grow(Buffer *buffer, size_t more) noexcept nogil:
    """Ensure capacity for `more` bytes. False: out of memory."""
    cdef size_t cap = buffer.size + more
    cdef uint8_t *data
    if cap < more:
        return False  # pragma: no cover: too large
    if cap <= buffer.cap:
        return True
    cap = max(cap, buffer.cap + buffer.cap // 2)
    if buffer.in_bytes:
        data = <uint8_t *>uc_resize(NULL, 0, 0, &cap)
        if data != NULL:
            memcpy(data, buffer.data, buffer.size)
    else:
        data = <uint8_t *>uc_resize(buffer.data, buffer.cap, buffer.size, &cap)
    if data == NULL:
        return False
    buffer.data, buffer.cap, buffer.in_bytes = data, cap, False
    return True


cdef int reserve(Buffer *buffer, size_t more) except -1:
    if not grow(buffer, more):
        raise MemoryError  # pragma: no cover: no memory
    return 0


cdef int fill_zeros(Buffer *buffer, size_t n) except -1:
    reserve(buffer, n + 8)
    memset(buffer.data, 0, n + 8)
    buffer.size = n
    return 0


cdef bint append_item(Buffer *buffer, const void *item, size_t size) noexcept nogil:
    if not grow(buffer, size):
        return False  # pragma: no cover: no memory
    memcpy(buffer.data + buffer.size, item, size)
    buffer.size += size
    return True


cdef int append(Buffer *buffer, const void *item, size_t size) except -1:
    if not append_item(buffer, item, size):
        raise MemoryError  # pragma: no cover: no memory
    return 0


cdef void *zeroed(size_t size) except NULL:
    """Allocate memory of zeros, freed with free()."""
    cdef void *memory = calloc(1, size)
    if memory == NULL:
        raise MemoryError  # pragma: no cover: no memory
    return memory


cdef void trim(Buffer *buffer) noexcept nogil:
    """Free the unused capacity of a small buffer: there may be many of them."""
    cdef size_t cap = max(buffer.size, <size_t>1)
    cdef uint8_t *data
    if buffer.data == NULL or buffer.in_bytes or buffer.cap >= LARGE_BYTES:
        return
    data = <uint8_t *>uc_resize(buffer.data, buffer.cap, buffer.size, &cap)
    if data != NULL:
        buffer.data, buffer.cap = data, cap


cdef void discard(Buffer *buffer) noexcept nogil:
    if not buffer.in_bytes:
        uc_discard(buffer.data, buffer.cap)
    buffer.data, buffer.in_bytes = NULL, False
    buffer.size = buffer.cap = 0


@cython.final
@cython.no_gc
cdef class ArrowBuffers:
    def __dealloc__(self):
        discard(&self.first)
        discard(&self.second)
        discard(&self.third)


cdef bytes begin_bytes(Buffer *buffer, size_t size):
    """Return a bytes object whose memory the buffer uses; finish_bytes() returns it if its capacity was enough."""
    cdef bytes made = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>size)
    buffer.data, buffer.size, buffer.cap, buffer.in_bytes = <uint8_t *>PyBytes_AS_STRING(made), 0, size, True
    if size >= LARGE_BYTES:
        uc_large_pages(buffer.data, size)
    return made


cdef bytes finish_bytes(Buffer *buffer, list held):
    """Return the contents of the buffer as bytes. `held` holds the only reference to the object from begin_bytes()."""
    cdef PyObject *object
    if not buffer.in_bytes:
        return PyBytes_FromStringAndSize(<const char *>buffer.data, <Py_ssize_t>buffer.size)
    made = held.pop()
    object = <PyObject *>made
    Py_INCREF(made)
    made = None
    buffer.data, buffer.in_bytes = NULL, False
    return resized(object, buffer.size)


cdef Memory memory_of(Buffer *buffer):
    """Move the memory of the buffer, without unused capacity, into an object."""
    cdef Memory memory = Memory()
    cdef size_t want = max(buffer.size, <size_t>1)
    cdef uint8_t *data
    if buffer.data == NULL or buffer.cap - want > buffer.cap // 2:
        data = <uint8_t *>uc_resize(buffer.data, buffer.cap, buffer.size, &want)
        if data != NULL:
            buffer.data, buffer.cap = data, want
        elif buffer.data == NULL:
            raise MemoryError  # pragma: no cover: no memory
    memory.data, memory.cap = buffer.data, buffer.cap
    buffer.data = NULL
    buffer.size = buffer.cap = 0
    return memory


@cython.final
@cython.no_gc
cdef class Memory:
    def __dealloc__(self):
        uc_discard(self.data, self.cap)


@cython.final
cdef class Array:
    def __cinit__(self):
        self.owners, self.children = [], ()
        self.set_buffers(0)

    cdef int set_buffers(self, int64_t n) except -1:
        """Allocate n buffer pointers, all NULL, and at least three, because any of the first three may be read."""
        PyMem_RawFree(self.buffers)
        self.buffers = <const void **>PyMem_RawCalloc(<size_t>max(n, 3), sizeof(void *))
        if self.buffers == NULL:
            raise MemoryError  # pragma: no cover: no memory
        self.n_buffers = n
        return 0

    def __dealloc__(self):
        PyMem_RawFree(self.buffers)


cdef const void *hold(Array array, Buffer *buffer) except NULL:
    cdef Memory memory = memory_of(buffer)
    array.owners.append(memory)
    return memory.data


cdef int set_type(Array array, Type type) except -1:
    cdef Array part
    cdef Type kind
    if array.type is None:
        array.type = type
    if (array.type.format != type.format or len(array.children) != len(type.children)
            or (array.dictionary is None) != (type.dictionary is None)):
        raise TypeError("the arrays do not match the type of the column")
    for part, kind in zip(array.children, type.children):
        set_type(part, kind)
    if type.dictionary is not None:
        set_type(array.dictionary, type.dictionary)
    return 0


# --- export -----------------------------------------------------------------------------------------------------------

# A struct that is exported has a reference to one of our objects in private_data until its consumer calls release. A
# consumer may move children out, which are then released separately. After the end of the interpreter, nothing is done.

cdef void let_go(void *held) noexcept nogil:
    if held != NULL and Py_IsInitialized():
        with gil:
            Py_DECREF(<object>held)


ctypedef fused exported:
    ArrowSchema
    ArrowArray


cdef void release_struct(exported *held) noexcept nogil:
    cdef int64_t i
    for i in range(held.n_children if held.children != NULL else 0):
        if held.children[i] != NULL and held.children[i].release != NULL:
            held.children[i].release(held.children[i])
        free(held.children[i])
    free(held.children)
    if held.dictionary != NULL:
        if held.dictionary.release != NULL:
            held.dictionary.release(held.dictionary)
        free(held.dictionary)
    held.release = NULL
    let_go(held.private_data)


cdef int fill_parts(exported *whole, tuple children, object dictionary) except -1:
    """Write the children and the dictionary, if any, of a type or an array into its struct."""
    cdef int64_t i
    if children:
        whole.children = <exported **>zeroed(len(children) * sizeof(void *))
        whole.n_children = len(children)
    for i in range(whole.n_children):
        whole.children[i] = <exported *>zeroed(sizeof(exported))
        if exported is ArrowSchema:
            fill_schema(whole.children[i], children[i])
        else:
            fill_array(whole.children[i], children[i])
    if dictionary is not None:
        whole.dictionary = <exported *>zeroed(sizeof(exported))
        if exported is ArrowSchema:
            fill_schema(whole.dictionary, dictionary)
        else:
            fill_array(whole.dictionary, dictionary)
    return 0


cdef int fill_schema(ArrowSchema *schema, Type type) except -1:
    """Write a type into a zeroed struct. After an error, the struct can be released."""
    schema.format, schema.name, schema.flags = type.format, type.name, (0 if type.required else NULLABLE) | type.ordered
    Py_INCREF(type)
    schema.private_data = <void *>type
    schema.release = release_struct[ArrowSchema]
    return fill_parts(schema, type.children, type.dictionary)


cdef int fill_array(ArrowArray *struct_, Array array) except -1:
    """Write an array into a zeroed struct. After an error, the struct can be released."""
    struct_.length, struct_.null_count, struct_.offset = array.length, array.nulls, array.offset
    struct_.n_buffers, struct_.buffers = array.n_buffers, array.buffers
    Py_INCREF(array)
    struct_.private_data = <void *>array
    struct_.release = release_struct[ArrowArray]
    return fill_parts(struct_, array.children, array.dictionary)


cdef void drop_schema(object capsule) noexcept:
    cdef ArrowSchema *schema = <ArrowSchema *>PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void drop_array(object capsule) noexcept:
    cdef ArrowArray *array = <ArrowArray *>PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


cdef void drop_stream(object capsule) noexcept:
    cdef ArrowArrayStream *stream = <ArrowArrayStream *>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


cdef object in_capsule(void *struct_, const char *name, void (*drop)(object) noexcept):
    try:
        return PyCapsule_New(struct_, name, drop)
    except:  # pragma: no cover: no memory
        free(struct_)
        raise


cdef object schema_capsule(Type type):
    cdef ArrowSchema *schema = <ArrowSchema *>zeroed(sizeof(ArrowSchema))
    capsule = in_capsule(schema, "arrow_schema", drop_schema)
    fill_schema(schema, type)
    return capsule


cdef object array_capsule(Array array):
    cdef ArrowArray *struct_ = <ArrowArray *>zeroed(sizeof(ArrowArray))
    capsule = in_capsule(struct_, "arrow_array", drop_array)
    fill_array(struct_, array)
    return capsule


@cython.final
cdef class Stream:
    """Arrays that a consumer takes one by one."""
    cdef Type type
    cdef list arrays        # the remaining arrays, in reverse order


# fill_schema() and fill_array() for callers that look at the exception themselves (see docs/developing/recipes.md).
ctypedef int (*unchecked_schema)(ArrowSchema *, Type) noexcept
ctypedef int (*unchecked_array)(ArrowArray *, Array) noexcept


cdef int stream_schema(ArrowArrayStream *stream, ArrowSchema *out) noexcept nogil:
    with gil:
        memset(out, 0, sizeof(ArrowSchema))
        if (<unchecked_schema>fill_schema)(out, (<Stream>stream.private_data).type) < 0:
            PyErr_Clear()  # pragma: no cover: no memory
            if out.release != NULL:  # pragma: no cover: no memory
                out.release(out)  # pragma: no cover: no memory
            return ENOMEM  # pragma: no cover: no memory
    return 0


cdef int stream_next(ArrowArrayStream *stream, ArrowArray *out) noexcept nogil:
    with gil:
        memset(out, 0, sizeof(ArrowArray))
        if (<Stream>stream.private_data).arrays and (
                <unchecked_array>fill_array)(out, (<Stream>stream.private_data).arrays.pop()) < 0:
            PyErr_Clear()  # pragma: no cover: no memory
            if out.release != NULL:  # pragma: no cover: no memory
                out.release(out)  # pragma: no cover: no memory
            return ENOMEM  # pragma: no cover: no memory
    return 0


cdef const char *stream_error(ArrowArrayStream *_stream) noexcept nogil:  # pragma: no cover: no memory
    return "no memory"


cdef void release_stream(ArrowArrayStream *stream) noexcept nogil:
    stream.release = NULL
    let_go(stream.private_data)


cdef object stream_capsule(Type type, list arrays):
    cdef ArrowArrayStream *stream
    cdef Stream held = Stream()
    held.type, held.arrays = type, arrays[::-1]
    stream = <ArrowArrayStream *>zeroed(sizeof(ArrowArrayStream))
    capsule = in_capsule(stream, "arrow_array_stream", drop_stream)
    Py_INCREF(held)
    stream.private_data = <void *>held
    stream.get_schema, stream.get_next = stream_schema, stream_next
    stream.get_last_error, stream.release = stream_error, release_stream
    return capsule


# --- import -----------------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc
cdef class Moved:
    """An array that was moved out of its capsule; it is released with this object."""
    cdef ArrowArray array

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)


cdef enum:
    LEVELS = 64     # of a type in another. More than one has no column that is supported; nothing recurses deeper

cdef Type type_of(const ArrowSchema *schema, int level=1):
    cdef int64_t i
    cdef list children = []
    if level > LEVELS:
        raise ValueError(f"the Arrow schema has more than {LEVELS} levels")
    if schema == NULL or schema.n_children > 0 and schema.children == NULL:
        raise ValueError("the Arrow schema is missing a child")
    for i in range(schema.n_children):
        children.append(type_of(schema.children[i], level + 1))
    if schema.format == NULL:
        raise ValueError("the Arrow schema is missing its format")
    return Type(<bytes>schema.format, b"" if schema.name == NULL else <bytes>schema.name, tuple(children),
                None if schema.dictionary == NULL else type_of(schema.dictionary, level + 1), schema.flags & ORDERED)


cdef Type take_schema(ArrowSchema *schema):
    """Return the type of a schema, and release the schema."""
    if schema.release == NULL:
        raise ValueError("the Arrow schema has been released")
    try:
        return type_of(schema)
    finally:
        schema.release(schema)


# The least number of buffers of an array; without a row, those of the rows may be NULL. Other formats are not read.
cdef dict BUFFERS = {b"u": 3, b"z": 3, b"U": 3, b"Z": 3, b"vu": 2, b"vz": 2, b"+l": 2, b"+L": 2, b"b": 2, b"w:16": 2,
                     b"c": 2, b"C": 2, b"s": 2, b"S": 2, b"i": 2, b"I": 2, b"l": 2, b"L": 2}

cdef int64_t MOST_ROWS = <int64_t>1 << 48   # no memory holds more
cdef int64_t NO_OFFSETS = 0                 # the offsets of an array without a row


cdef int check_parts(Array array, Type type) except -1:
    """Check what can be checked of an array: its sizes, and that the buffers which its rows need are there.

    The format does not say how large a buffer is, so a length that is only too large remains the producer's fault.

    Source: https://arrow.apache.org/docs/format/CDataInterface.html
    """
    cdef bint large = type.format in (b"U", b"Z", b"+L")
    cdef int64_t i, last
    cdef const int64_t *sizes
    if array.length > MOST_ROWS or array.offset > MOST_ROWS:
        raise ValueError(f"the Arrow array has more rows than memory can hold: {array.length}, offset {array.offset}")
    if not -1 <= array.nulls <= array.length:
        raise ValueError(f"the Arrow array has {array.nulls} nulls in {array.length} rows")
    if type.format not in BUFFERS:
        return 0
    if array.n_buffers < <int64_t>BUFFERS[type.format]:
        raise ValueError(f"the Arrow array has too few buffers for its format: {array.n_buffers}")
    if array.buffers[1] == NULL and array.length == 0:
        array.offset, array.buffers[1] = 0, &NO_OFFSETS
    if array.buffers[1] == NULL or array.buffers[0] == NULL and array.nulls > 0:
        raise ValueError("the Arrow array is missing a buffer")
    if type.format in (b"vu", b"vz"):
        if array.n_buffers > 3:
            sizes = <const int64_t *>array.buffers[array.n_buffers - 1]
            if sizes == NULL:
                raise ValueError("the Arrow array is missing a buffer")
            for i in range(array.n_buffers - 3):
                if sizes[i] < 0:
                    raise ValueError("the Arrow array has a negative size")
                if sizes[i] and array.length and array.buffers[2 + i] == NULL:
                    raise ValueError("the Arrow array is missing a buffer")
    elif type.format in (b"u", b"z", b"U", b"Z"):
        last = offset_at(array, large, array.length)
        if array.buffers[2] == NULL and last != offset_at(array, large, 0):
            raise ValueError("the Arrow array is missing a buffer")
    return 0


cdef Array array_of(const ArrowArray *struct_, Type type, Moved moved):
    cdef Array array = Array()
    cdef int64_t i
    cdef list children = []
    if struct_ == NULL or struct_.n_children != len(type.children) or struct_.n_children and struct_.children == NULL:
        raise ValueError("the Arrow array and its schema differ in the number of children")
    if (struct_.dictionary == NULL) != (type.dictionary is None):
        raise ValueError("only one of the Arrow array and its schema has a dictionary")
    if struct_.length < 0 or struct_.offset < 0 or struct_.n_buffers < 0:
        raise ValueError("the Arrow array has a negative size")
    if struct_.n_buffers and struct_.buffers == NULL:
        raise ValueError("the Arrow array is missing a buffer")
    array.length, array.nulls, array.offset = struct_.length, struct_.null_count, struct_.offset
    array.set_buffers(struct_.n_buffers)
    for i in range(struct_.n_buffers):
        array.buffers[i] = struct_.buffers[i]
    array.owners.append(moved)
    for i in range(struct_.n_children):
        children.append(array_of(struct_.children[i], type.children[i], moved))
    array.children = tuple(children)
    if struct_.dictionary != NULL:
        array.dictionary = array_of(struct_.dictionary, type.dictionary, moved)
    check_parts(array, type)
    return array


cdef Array take_array(ArrowArray *struct_, Type type):
    """Move an array of a type out of the struct."""
    cdef Moved moved = Moved()
    if struct_.release == NULL:
        raise ValueError("the Arrow array has been released, or its capsule was used before")
    moved.array = struct_[0]
    struct_.release = NULL
    return array_of(&moved.array, type, moved)


cdef object read_stream(ArrowArrayStream *stream, list arrays):
    cdef ArrowSchema schema
    cdef ArrowArray array
    cdef Type type
    cdef int status
    cdef const char *message
    memset(&schema, 0, sizeof(schema))
    with nogil:
        status = stream.get_schema(stream, &schema)
    if status == 0:
        type = take_schema(&schema)
    while status == 0:
        memset(&array, 0, sizeof(array))
        with nogil:
            status = stream.get_next(stream, &array)
        if status == 0:
            if array.release == NULL:
                return type
            try:
                arrays.append(take_array(&array, type))
            finally:
                if array.release != NULL:       # out of memory before it was moved
                    array.release(&array)  # pragma: no cover: no memory
    message = stream.get_last_error(stream)
    raise ValueError("the Arrow stream failed: " + ("" if message == NULL else
                                                    message[:strlen(message)].decode("utf-8", "replace")))


cdef object read_object(object source, list arrays):
    """Return the type of an object with capsules; append its arrays to `arrays`."""
    cdef ArrowArrayStream *stream
    cdef ArrowArrayStream taken
    if not hasattr(source, "__arrow_c_stream__"):    # preferred: a stream may have chunks, which need not be joined
        schema, array = source.__arrow_c_array__()
        type = take_schema(<ArrowSchema *>PyCapsule_GetPointer(schema, "arrow_schema"))
        arrays.append(take_array(<ArrowArray *>PyCapsule_GetPointer(array, "arrow_array"), type))
        return type
    capsule = source.__arrow_c_stream__()
    stream = <ArrowArrayStream *>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    if stream.release == NULL:
        raise ValueError("the Arrow stream has been released, or its capsule was used before")
    taken = stream[0]
    stream.release = NULL
    try:
        return read_stream(&taken, arrays)
    finally:
        taken.release(&taken)


# --- parts of arrays, and offsets of another width -----------------------------------------------------------------------

cdef dict LARGE = {b"u": b"U", b"z": b"Z", b"+l": b"+L"}      # the format with 64-bit offsets


cdef Array part_of(Array array, int64_t start, int64_t length):
    """Return a range of rows of an array, which shares its buffers."""
    cdef Array part = Array()
    cdef int64_t i
    part.length, part.offset, part.nulls = length, array.offset + start, array.nulls
    if length != array.length and array.nulls > 0:
        part.nulls = length if array.nulls == array.length else -1
    part.set_buffers(array.n_buffers)
    for i in range(array.n_buffers):
        part.buffers[i] = array.buffers[i]
    part.children, part.dictionary = array.children, array.dictionary
    part.owners.extend(array.owners)
    return part


cdef Array child_of(Array whole, int i):
    """Return the rows of a field that belong to the rows of its struct, which may be a slice."""
    cdef Array child = whole.children[i]
    if whole.offset + whole.length > child.length:
        raise ValueError("a column of the Arrow table has too few rows")
    if whole.offset == 0 and whole.length == child.length:
        return child
    return part_of(child, whole.offset, whole.length)


cdef int64_t offset_at(Array array, bint large, int64_t row) noexcept:
    row += array.offset
    return (<const int64_t *>array.buffers[1])[row] if large else (<const int32_t *>array.buffers[1])[row]


cdef bint widen(Buffer *offsets) noexcept nogil:
    """Convert 32-bit offsets to 64-bit offsets. False: out of memory."""
    cdef Buffer wide
    cdef size_t i, n = offsets.size // 4
    memset(&wide, 0, sizeof(wide))
    if not grow(&wide, 2 * offsets.cap):
        return False  # pragma: no cover: no memory
    for i in range(n):
        (<int64_t *>wide.data)[i] = (<int32_t *>offsets.data)[i]
    wide.size = 8 * n
    discard(offsets)
    offsets[0] = wide
    return True


cdef void narrow(Buffer *offsets) noexcept:
    """Convert 64-bit offsets to 32-bit offsets, which must be large enough."""
    cdef size_t i, n = offsets.size // 8
    for i in range(n):
        (<int32_t *>offsets.data)[i] = <int32_t>(<int64_t *>offsets.data)[i]
    offsets.size = 4 * n


cdef int set_width(Array array, bint large) except -1:
    """Convert 32-bit offsets to 64-bit offsets (`large`), or the other way round."""
    cdef ArrowBuffers buffers = ArrowBuffers()
    append(&buffers.first, array.buffers[1], (4 if large else 8) * <size_t>(array.offset + array.length + 1))
    if not large:
        narrow(&buffers.first)
    elif not widen(&buffers.first):
        raise MemoryError  # pragma: no cover: no memory
    array.buffers[1] = hold(array, &buffers.first)
    return 0
