"""CPython's internals: all access of the package to the layout of the interpreter's objects, and all that its versions differ in.

| what | CPython |
|---|---|
| str (PEP 393): characters are read and, in a new object, written in place | 3.10 and later; PyUnicode_READY: to 3.11 |
| bytes are written in place before anyone else has a reference to them; `_PyBytes_Resize` | private, but unchanged from 3.10 to 3.15 |
| tp_alloc of tuple subclasses; the cached hash of a tuple | the hash is cached since 3.14 |
| the vectorcall slot of a function (PEP 590) | 3.10 and later |
| the version tag of a type; `_PyType_Lookup` (private) | the tag's flag is gone since 3.14; an atomic load without the GIL |
| PyMutex | 3.13 and later; used without the GIL only |
| borrowed references to items of lists, tuples and dicts | while a reference to the container, and the GIL or a lock, is held |
"""
from libc.stdint cimport uint32_t


# What the package uses of the C API, instead of Cython's declarations of all of it: each module would read them again.

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_vectorcall_offset
    ctypedef struct PyObject:
        pass
    PyTypeObject *Py_TYPE(object) noexcept
    void Py_INCREF(object) noexcept
    void Py_DECREF(object) noexcept
    void Py_XDECREF(PyObject *) noexcept

    void *PyMem_RawMalloc(size_t size) noexcept nogil
    void *PyMem_RawCalloc(size_t n, size_t size) noexcept nogil
    void *PyMem_RawRealloc(void *memory, size_t size) noexcept nogil
    void PyMem_RawFree(void *memory) noexcept nogil
    void *PyMem_Calloc(size_t n, size_t size) noexcept
    void PyMem_Free(void *memory) noexcept

    void PyErr_Clear() noexcept
    bint PyErr_ExceptionMatches(object) noexcept
    int PyErr_CheckSignals() except -1
    PyObject *PyErr_NoMemory() except NULL

    str PyObject_Str(object)
    int PyObject_SetAttr(object, object name, object value) except -1
    int Py_LT, Py_LE, Py_EQ, Py_NE, Py_GT
    object PyNumber_Index(object)

    char *PyBytes_AS_STRING(object) noexcept
    Py_ssize_t PyBytes_GET_SIZE(object) noexcept
    bytes PyBytes_FromStringAndSize(const char *data, Py_ssize_t size)
    bytearray PyByteArray_FromStringAndSize(const char *data, Py_ssize_t size)
    Py_ssize_t PyList_GET_SIZE(object) noexcept
    Py_ssize_t PyTuple_GET_SIZE(object) noexcept
    void PyTuple_SET_ITEM(object, Py_ssize_t i, object item) noexcept
    int PyDict_Next(object, Py_ssize_t *position, PyObject **key, PyObject **value) noexcept

    int PyUnicode_READY(object) except -1
    bint PyUnicode_Check(object) noexcept
    bint PyUnicode_IS_ASCII(object) noexcept
    bint PyUnicode_IS_COMPACT_ASCII(object) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(object) noexcept
    int PyUnicode_KIND(object) noexcept
    void *PyUnicode_DATA(object) noexcept
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t i) noexcept
    Py_UCS4 PyUnicode_MAX_CHAR_VALUE(object) noexcept
    str PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)
    str PyUnicode_Substring(object, Py_ssize_t start, Py_ssize_t end)
    str PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    str PyUnicode_FromKindAndData(int kind, const void *data, Py_ssize_t size)
    object PyUnicode_FromObject(object)
    Py_ssize_t PyUnicode_CopyCharacters(object to, Py_ssize_t to_start, object source, Py_ssize_t start, Py_ssize_t n) except -1
    Py_ssize_t PyUnicode_FindChar(object, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    const Py_ssize_t PY_SSIZE_T_MAX

    # Borrowed references.
    PyObject *PyList_GET_ITEM(list items, Py_ssize_t i) noexcept
    PyObject *PyTuple_GET_ITEM(object items, Py_ssize_t i) noexcept
    PyObject *PyDict_GetItemWithError(object mapping, object key) except? NULL
    PyObject *_PyType_Lookup(PyTypeObject *, object name) noexcept

    PyObject *new_bytes "PyBytes_FromStringAndSize"(const char *data, Py_ssize_t size) except NULL
    int _PyBytes_Resize(PyObject **bytes, Py_ssize_t size) except -1

    Py_ssize_t PyVectorcall_NARGS(size_t flags) noexcept
    PyTypeObject PyUnicode_Type


cdef extern from *:
    """
    #define UC_NEW_TUPLE(type, size) (((PyTypeObject *)(type))->tp_alloc((PyTypeObject *)(type), (size)))

    /* Since 3.14 tuples cache their hash. tp_alloc leaves it 0, but -1 means that it is not computed. */
    #if PY_VERSION_HEX >= 0x030E0000
    #define UC_FORGET_HASH(tuple) (((PyTupleObject *)(tuple))->ob_hash = -1)
    #else
    #define UC_FORGET_HASH(tuple) ((void)0)
    #endif

    /* The version of a type; 0 while it has none. Until 3.12, the tag counts only if its flag is set. */
    static inline uint32_t uc_type_version(PyTypeObject *type) {
    #ifdef Py_GIL_DISABLED
        return _Py_atomic_load_uint32_relaxed(&type->tp_version_tag);
    #elif PY_VERSION_HEX >= 0x030D0000
        return type->tp_version_tag;
    #else
        return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG ? type->tp_version_tag : 0;
    #endif
    }
    #define UC_HAS_DICT(object) (Py_TYPE(object)->tp_dictoffset != 0)

    /* A lock for data that the GIL protects where there is one. Static memory is an open lock. */
    #ifdef Py_GIL_DISABLED
    typedef PyMutex uc_mutex;
    #define UC_LOCK(mutex) PyMutex_Lock(mutex)
    #define UC_UNLOCK(mutex) PyMutex_Unlock(mutex)
    #else
    typedef char uc_mutex;
    #define UC_LOCK(mutex) ((void)(mutex))
    #define UC_UNLOCK(mutex) ((void)(mutex))
    #endif
    """
    object UC_NEW_TUPLE(object type, Py_ssize_t size)
    void UC_FORGET_HASH(object tuple)

    uint32_t uc_type_version(PyTypeObject *type) noexcept
    bint UC_HAS_DICT(object) noexcept

    ctypedef char uc_mutex
    void UC_LOCK(uc_mutex *mutex) noexcept
    void UC_UNLOCK(uc_mutex *mutex) noexcept


cdef inline bytes resized(PyObject *made, size_t size):
    """Return a bytes object from new_bytes() after setting its size. `made` is the only reference, which this takes."""
    _PyBytes_Resize(&made, <Py_ssize_t>size)    # on failure, it releases the object
    result = <bytes>made
    Py_DECREF(result)   # `made` held a reference
    return result


# The type of a function's vectorcall slot (PEP 590), which the interpreter calls.
ctypedef object (*vectorcall)(object function, PyObject *const *args, size_t flags, PyObject *names)


cdef inline vectorcall take_calls(object function, vectorcall call):
    """Set the vectorcall slot of a compiled function to `call`. Return the previous slot, for calls that it passes on."""
    cdef vectorcall *slot = <vectorcall *>(<char *><PyObject *>function + Py_TYPE(function).tp_vectorcall_offset)
    cdef vectorcall before = slot[0]
    slot[0] = call
    return before


cdef inline bint is_call_of_text(PyObject *const *args, size_t flags, PyObject *names) noexcept:
    """Return whether a call of a vectorcall slot has one argument, a str."""
    return PyVectorcall_NARGS(flags) == 1 and names == NULL and type(<object>args[0]) is str
