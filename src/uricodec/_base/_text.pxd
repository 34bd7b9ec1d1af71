"""Conversions between Python objects and the bytes that loops process. Also: replacement of a function's vectorcall slot.

Inline functions only. An ASCII str is read and written in place; any other str is converted to UTF-8 (RFC 3629) in a
buffer on the caller's stack, or on the heap if it is long.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, strchr

from uricodec._base._kernels cimport UC_SURROGATE, kernels
from uricodec._base._utf8 cimport code_unit


cdef extern from "Python.h":
    int PyUnicode_READY(object) except -1
    bint PyUnicode_IS_ASCII(object) noexcept
    bint PyUnicode_IS_COMPACT_ASCII(object) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(object) noexcept
    int PyUnicode_KIND(object) noexcept
    void *PyUnicode_DATA(object) noexcept
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t i) noexcept
    str PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)
    str PyUnicode_Substring(object, Py_ssize_t start, Py_ssize_t end)
    str PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    str PyUnicode_FromKindAndData(int kind, const void *data, Py_ssize_t size)
    const Py_ssize_t PY_SSIZE_T_MAX
    Py_ssize_t PyVectorcall_NARGS(size_t flags) noexcept
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_vectorcall_offset
    PyTypeObject *Py_TYPE(object) noexcept


cdef extern from *:
    """
    /* Since 3.14 tuples cache their hash. tp_alloc leaves it 0, but -1 means that it is not computed. */
    #if PY_VERSION_HEX >= 0x030E0000
    #define UC_FORGET_HASH(tuple) (((PyTupleObject *)(tuple))->ob_hash = -1)
    #else
    #define UC_FORGET_HASH(tuple) ((void)0)
    #endif
    #define UC_NEW_TUPLE(type, size) (((PyTypeObject *)(type))->tp_alloc((PyTypeObject *)(type), (size)))
    """
    object UC_NEW_TUPLE(object type, Py_ssize_t size)
    void UC_FORGET_HASH(object tuple)


# Inputs of up to SMALL characters or bytes use buffers on the stack.
cdef enum:
    SMALL = 512
    UTF8_CAPACITY = 4 * SMALL   # capacity for the UTF-8 of SMALL characters


# The bytes of an input: borrowed from the object, or in a buffer on the heap that release() frees.
cdef struct Octets:
    const uint8_t *data
    size_t size
    uint8_t *heap


cdef inline void release(Octets *octets) noexcept nogil:
    if octets.heap != NULL:
        PyMem_RawFree(octets.heap)
        octets.heap = NULL


cdef inline uint8_t *allocate(size_t size) except NULL:
    """Allocate a buffer. The caller has checked that the size does not overflow, see encoded_size()."""
    cdef uint8_t *buffer = <uint8_t *>PyMem_RawMalloc(size if size else 1)
    if buffer == NULL:
        raise MemoryError
    return buffer


cdef inline size_t encoded_size(size_t n, size_t escapes) except? 0:
    """Return n + 2 * escapes, the only size that can overflow."""
    if escapes > (<size_t>PY_SSIZE_T_MAX - n) // 2:
        raise OverflowError("the encoded text exceeds the maximum size of an object")  # pragma: no cover: too large
    return n + 2 * escapes


cdef inline void copy_text(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    """Copy n bytes. Short texts, the usual ones, take two overlapping copies instead of a call of memcpy."""
    if n > 16:
        memcpy(dst, src, n)
    elif n >= 8:
        memcpy(dst, src, 8)
        memcpy(dst + n - 8, src + n - 8, 8)
    elif n >= 4:
        memcpy(dst, src, 4)
        memcpy(dst + n - 4, src + n - 4, 4)
    elif n >= 2:
        memcpy(dst, src, 2)
        memcpy(dst + n - 2, src + n - 2, 2)
    elif n:
        dst[0] = src[0]


cdef inline str ascii_text(const uint8_t *data, size_t n):
    """Return a str of n ASCII bytes."""
    cdef str text
    if n <= 1:      # the interpreter caches these objects
        return PyUnicode_FromKindAndData(1, data, <Py_ssize_t>n)
    text = PyUnicode_New(<Py_ssize_t>n, 127)
    copy_text(<uint8_t *>PyUnicode_DATA(text), data, n)
    return text


# Return a result as an ASCII str (`text`) or as bytes.
cdef inline object text_or_bytes(bint text, const uint8_t *data, size_t n):
    if text:
        return ascii_text(data, n)
    return PyBytes_FromStringAndSize(<const char *>data, <Py_ssize_t>n)


cdef inline bint utf8_octets(str text, Octets *octets, uint8_t *room) except -1:
    """Set `octets` to the UTF-8 of a str, in `room` (UTF8_CAPACITY bytes) if the str is SMALL. False if it has a surrogate.

    The caller must keep the str alive until it calls release().
    """
    cdef Py_ssize_t n
    cdef int kind
    cdef void *data
    cdef uint8_t *dst = room
    PyUnicode_READY(text)
    n = PyUnicode_GET_LENGTH(text)
    data = PyUnicode_DATA(text)
    octets.heap = NULL
    if PyUnicode_IS_ASCII(text):
        octets.data = <const uint8_t *>data
        octets.size = <size_t>n
        return True
    kind = PyUnicode_KIND(text)
    if n > SMALL:
        # At most 2, 3 and 4 bytes for a code unit of 1, 2 and 4.
        if n > PY_SSIZE_T_MAX // 4:
            raise OverflowError("the text is too long for UTF-8")  # pragma: no cover: too large
        octets.heap = dst = allocate(<size_t>n * (2 if kind == 1 else 3 if kind == 2 else 4))
    octets.data = dst
    octets.size = kernels.to_utf8(data, <size_t>n, kind, dst)
    if octets.size == UC_SURROGATE:
        release(octets)
        return False
    return True


cdef inline bint has_octets(const char *format) noexcept:
    """Return whether a buffer format means bytes or numbers, not pointers to objects, characters or fixed-size strings."""
    if format == NULL or format[0] == c'B' and format[1] == 0:     # bytes and the like
        return True
    if format[0] != 0 and strchr("@=<>!", format[0]) != NULL:
        format += 1
    while c'0' <= format[0] <= c'9':
        format += 1
    return format[0] != 0 and strchr("BbcH?hIiLlQqNnefd", format[0]) != NULL and format[1] == 0


cdef inline int reject_buffer(object data, format) except -1:
    raise TypeError(f"expected a buffer of bytes or numbers, got {type(data).__name__} with items of format {format!r}")


cdef inline int borrow_octets(object data, Py_buffer *view) except -1:
    """Borrow the bytes of a bytes-like, until PyBuffer_Release()."""
    PyObject_GetBuffer(data, view, PyBUF_ND | PyBUF_FORMAT)     # PyBUF_SIMPLE has no format
    # Scalars of NumPy and ctypes export buffers, but their memory is not text.
    if view.ndim == 0 or not isinstance(data, (bytes, bytearray, memoryview)) and getattr(data, "shape", None) == ():
        PyBuffer_Release(view)
        raise TypeError(f"a bytes-like object is required, not {type(data).__name__!r}")
    if has_octets(view.format):
        return 0
    format = view.format.decode("latin-1")
    PyBuffer_Release(view)
    return reject_buffer(data, format)


cdef inline int borrow_row(object item, size_t row, Py_buffer *view) except -1:
    """Borrow the bytes of an item of a list. TypeError if it is not bytes-like."""
    try:
        return borrow_octets(item, view)
    except (TypeError, ValueError, BufferError) as error:
        if not isinstance(error, (TypeError, ValueError, BufferError)):     # replaced by a MemoryError
            raise error  # pragma: no cover: no memory
        raise TypeError(f"row {row}: {error}") from None


cdef inline bytes copy_of_octets(object data):
    """Return a copy of the bytes of a bytes-like, which need not be contiguous."""
    if type(data) is bytearray:
        return bytes(data)
    if not PyObject_CheckBuffer(data):
        raise TypeError(f"expected str or a bytes-like object, got {type(data).__name__}")
    view = memoryview(data)
    if not has_octets(view.format.encode()):
        reject_buffer(data, view.format)
    return bytes(view)


# The type of a function's vectorcall slot (PEP 590), which the interpreter calls.
ctypedef object (*vectorcall)(object function, PyObject *const *args, size_t flags, PyObject *names)


cdef inline vectorcall take_calls(object function, vectorcall call):
    """Set the vectorcall slot of a compiled function to `call`. Return the previous slot, for calls that it passes on."""
    cdef vectorcall *slot = <vectorcall *>(<char *><PyObject *>function + Py_TYPE(function).tp_vectorcall_offset)
    cdef vectorcall before = slot[0]
    slot[0] = call
    return before


cdef inline bint is_call_of_text(PyObject *const *args, size_t flags, PyObject *names) noexcept:
    return PyVectorcall_NARGS(flags) == 1 and names == NULL and type(<object>args[0]) is str


cdef inline Py_ssize_t first_surrogate(str text) noexcept:
    """Return the index of the first lone surrogate; -1 if there is none."""
    cdef Py_ssize_t i = 0
    cdef Py_UCS4 c
    for c in text:
        if 0xD800 <= c <= 0xDFFF:
            return i
        i += 1
    return -1
