"""UTF-8 (RFC 3629): ill-formed text, and bytes of objects."""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from libc.string cimport memmove, strchr

from uricodec._base._kernels cimport UC_SURROGATE, kernels, uc_lowest_bit


cdef extern from "simd/fingerprint.h" nogil:
    uint64_t load_word "uc_load_word"(const uint8_t *at)


# --- ill-formed text ----------------------------------------------------------------------------------------------------

cdef size_t ill_formed(const uint8_t *src, size_t n) noexcept nogil:
    cdef int length, have = 1
    if n == 0:
        return 0
    length = sequence_length(src[0])
    while have < length and <size_t>have < n and continues(src[0], have, src[have]):
        have += 1
    return 0 if have == length else have


cdef enum:
    NEAR = 64       # bytes in which one character is read at a time: for fewer, or if more is ill-formed, that is faster


cdef size_t find_ill_formed(const uint8_t *src, size_t n, size_t *subpart) noexcept nogil:
    cdef uc_utf8 found
    cdef size_t i = 0
    cdef uint64_t beyond
    while i < min(n, <size_t>NEAR):
        if n - i >= 8:
            beyond = load_word(src + i) & <uint64_t>0x8080808080808080
            i += <size_t>uc_lowest_bit(beyond) >> 3 if beyond else 8
            if beyond == 0:
                continue
        if src[i] < 0x80:
            i += 1
            continue
        subpart[0] = ill_formed(src + i, n - i)
        if subpart[0]:
            return i
        i += <size_t>max(sequence_length(src[i]), 1)
    if i >= n:
        return n
    i += kernels.scan_utf8(src + i, n - i, &found)
    subpart[0] = max(ill_formed(src + i, n - i), <size_t>1)
    return i


cdef size_t replace_ill_formed(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    cdef size_t i = 0, o = 0, size, subpart
    while True:
        size = find_ill_formed(src + i, n - i, &subpart)
        # Here o <= 3 * i, so dst has 3 bytes for each one left, and where src is dst + 2 * m, dst + o is not after src + i.
        if size <= 16 and n - i >= 16:
            memcpy(dst + o, src + i, 16)
        else:
            memmove(dst + o, src + i, size)
        i, o = i + size, o + size
        if i == n:
            return o
        memcpy(dst + o, b"\xEF\xBF\xBD", 3)     # U+FFFD
        i, o = i + subpart, o + 3


cdef size_t make_utf8(uint8_t *dst, size_t n) noexcept nogil:
    cdef uc_utf8 found
    if kernels.scan_utf8(dst, n, &found) == n:
        return n
    memmove(dst + 2 * n, dst, n)
    return replace_ill_formed(dst + 2 * n, n, dst)


cdef void set_no_memory() noexcept with gil:  # pragma: no cover: no memory
    PyErr_NoMemory()


# --- str --------------------------------------------------------------------------------------------------------------

cdef str replaced_text(const uint8_t *src, size_t n):
    cdef uint8_t buffer[3 * SMALL]
    cdef uint8_t *dst
    if n <= SMALL:
        return utf8_text(buffer, replace_ill_formed(src, n, buffer), NULL)
    if n > <size_t>PY_SSIZE_T_MAX // 3:
        raise OverflowError("the result may exceed the maximum size of an object")  # pragma: no cover: too large
    dst = allocate(3 * n)
    try:
        return utf8_text(dst, replace_ill_formed(src, n, dst), NULL)
    finally:
        PyMem_RawFree(dst)


cdef str utf8_text(const uint8_t *src, size_t n, const char *errors):
    """Return a str decoded from UTF-8. `errors` is the name of the error handler; NULL: "replace"."""
    cdef uc_utf8 found
    cdef int width
    cdef str text
    if kernels.scan_utf8(src, n, &found) < n:
        return replaced_text(src, n) if errors == NULL else PyUnicode_DecodeUTF8(<const char *>src, <Py_ssize_t>n, errors)
    if found.highest < 0x80:
        return ascii_text(src, n)
    width = 1 if found.highest < 0xC4 else 2 if found.highest < 0xF0 else 4
    text = PyUnicode_New(<Py_ssize_t>found.characters, 0xFF if width == 1 else 0xFFFF if width == 2 else 0x10FFFF)
    kernels.from_utf8(src, n, width, PyUnicode_DATA(text), found.characters)
    return text


cdef bint encode_utf8(str text, Bytes *source, uint8_t *buffer) except -1:
    """Do what utf8_of() does for a str that is not ASCII."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef uint8_t *dst = buffer
    if n > SMALL:
        # At most 2, 3 and 4 bytes for a code unit of 1, 2 and 4.
        if n > PY_SSIZE_T_MAX // 4:
            raise OverflowError("the text is too long for UTF-8")  # pragma: no cover: too large
        source.heap = dst = allocate(<size_t>n * (2 if kind == 1 else 3 if kind == 2 else 4))
    source.data = dst
    source.size = kernels.to_utf8(PyUnicode_DATA(text), <size_t>n, kind, dst)
    if source.size == UC_SURROGATE:
        release(source)
        return False
    return True


cdef Py_ssize_t first_surrogate(str text) noexcept:
    """Return the index of the first lone surrogate; -1 if there is none."""
    cdef Py_ssize_t i = 0
    cdef Py_UCS4 c
    for c in text:
        if 0xD800 <= c <= 0xDFFF:
            return i
        i += 1
    return -1


cdef bint same_bytes(object a, object b) except -1:
    if type(a) is type(b):
        return a == b
    return (a.encode() if isinstance(a, str) else a) == (b.encode() if isinstance(b, str) else b)


cdef str without_surrogates(str text):
    cdef list characters = []
    for character in text:
        characters.append("\ufffd" if 0xD800 <= character < 0xE000 else character)
    return "".join(characters)


# --- bytes-like objects -----------------------------------------------------------------------------------------------

cdef bint has_bytes(const char *format) noexcept:
    """Return whether a buffer format means bytes or numbers, not pointers to objects, characters or fixed-size strings."""
    if format == NULL or format[0] == c'B' and format[1] == 0:     # bytes and the like
        return True
    if format[0] != 0 and strchr("@=<>!", format[0]) != NULL:
        format += 1
    while c'0' <= format[0] <= c'9':
        format += 1
    return format[0] != 0 and strchr("BbcH?hIiLlQqNnefd", format[0]) != NULL and format[1] == 0


cdef int reject_buffer(object data, format) except -1:
    raise TypeError(f"expected a buffer of bytes or numbers, got {type(data).__name__} with items of format {format!r}")


cdef int borrow_bytes(object data, Py_buffer *view) except -1:
    """Borrow the bytes of a bytes-like, until PyBuffer_Release()."""
    PyObject_GetBuffer(data, view, PyBUF_ND | PyBUF_FORMAT)     # PyBUF_SIMPLE has no format
    # Scalars of NumPy and ctypes export buffers, but their memory is not text.
    if view.ndim == 0 or not isinstance(data, (bytes, bytearray, memoryview)) and getattr(data, "shape", None) == ():
        PyBuffer_Release(view)
        raise TypeError(f"a bytes-like object is required, not {type(data).__name__!r}")
    if has_bytes(view.format):
        return 0
    format = view.format.decode("latin-1")
    PyBuffer_Release(view)
    return reject_buffer(data, format)


cdef int borrow_row(object item, size_t row, Py_buffer *view) except -1:
    """Borrow the bytes of an item of a list. TypeError if it is not bytes-like."""
    try:
        return borrow_bytes(item, view)
    except (TypeError, ValueError, BufferError) as error:
        if not isinstance(error, (TypeError, ValueError, BufferError)):     # replaced by a MemoryError
            raise error  # pragma: no cover: no memory
        raise TypeError(f"row {row}: {error}") from None


def new_buffer(size):
    """Return a bytearray for results. Its bytes are not set: large ones take memory, and time, only where they are used.

    >>> len(new_buffer(5))
    5
    """
    return PyByteArray_FromStringAndSize(NULL, size)


cdef bytes copy_of_bytes(object data):
    """Return a copy of the bytes of a bytes-like, which need not be contiguous."""
    if type(data) is bytearray:
        return bytes(data)
    if not PyObject_CheckBuffer(data):
        raise TypeError(f"expected str or a bytes-like object, got {type(data).__name__}")
    view = memoryview(data)
    if not has_bytes(view.format.encode()):
        reject_buffer(data, view.format)
    return bytes(view)
