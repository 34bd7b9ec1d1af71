"""Text: conversions between Python objects, bytes and UTF-8 (RFC 3629).

An ASCII str is read and written in place; any other str is converted to UTF-8 in a buffer on the caller's stack, or on
the heap if it is long. Each importing module compiles the inline functions of this file, so only what short calls need is
inline; the rest is in _text.pyx.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._base._cpython cimport *
from uricodec._base._kernels cimport uc_utf8


# --- UTF-8: the grammar (section 4), for loops that read one byte at a time -------------------------------------------

cdef extern from "simd/octets.h" nogil:
    # The length of a sequence that begins with this byte; 0 if none does.
    int sequence_length "uc_sequence_length"(uint8_t lead)
    # Whether a byte is allowed at this index of a sequence; overlong forms and surrogates are not.
    bint continues "uc_continues"(uint8_t lead, int index, uint8_t byte)
    # Where an incomplete sequence before src[i] begins; i if there is none.
    size_t interrupted "uc_interrupted"(const uint8_t *src, size_t i)
    # Write a character. Return the length of its sequence.
    size_t write_character "uc_write_character"(uint32_t c, uint8_t *dst)


cdef inline bint is_ascii(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether all bytes are ASCII. For few bytes: kernels are faster for many."""
    cdef size_t i
    for i in range(n):
        if s[i] >= 0x80:
            return False
    return True


cdef inline int sequence_at(const uint8_t *s, size_t n) noexcept nogil:
    """Return the length of the well-formed UTF-8 sequence at s; 0 if there is none."""
    cdef int length = sequence_length(s[0]), k
    if length == 0 or <size_t>length > n:
        return 0
    for k in range(1, length):
        if not continues(s[0], k, s[k]):
            return 0
    return length


# Return the length of the maximal subpart at the start of src (Unicode 3.9, "U+FFFD Substitution"); 0 if valid.
cdef size_t ill_formed(const uint8_t *src, size_t n) noexcept nogil

# Return the offset of the first ill-formed maximal subpart, and set its size; n if there is none.
cdef size_t find_ill_formed(const uint8_t *src, size_t n, size_t *subpart) noexcept nogil

# Copy text, with U+FFFD for each ill-formed maximal subpart, as in bytes.decode(errors="replace"). Return the size. dst has
# a capacity of 3 * n bytes; src does not overlap it, or is at dst + 2 * m for an m >= n.
cdef size_t replace_ill_formed(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil

# Do the same with n bytes at dst, where 3 * n bytes can be written.
cdef size_t make_utf8(uint8_t *dst, size_t n) noexcept nogil

# Return a str decoded from UTF-8. `errors` is the name of the error handler; NULL: "replace".
cdef str utf8_text(const uint8_t *src, size_t n, const char *errors)


# --- objects ----------------------------------------------------------------------------------------------------------

# Inputs of up to SMALL characters or bytes use buffers on the stack.
cdef enum:
    SMALL = 512
    UTF8_CAPACITY = 4 * SMALL   # capacity for the UTF-8 of SMALL characters


# The bytes of an input: borrowed from the object, or in a buffer on the heap that release() frees.
cdef struct Bytes:
    const uint8_t *data
    size_t size
    uint8_t *heap


cdef inline void release(Bytes *source) noexcept nogil:
    if source.heap != NULL:
        PyMem_RawFree(source.heap)
        source.heap = NULL


cdef inline uint8_t *allocate(size_t size) except NULL:
    """Allocate a buffer. The caller has checked that the size does not overflow, see encoded_size()."""
    cdef uint8_t *buffer = <uint8_t *>PyMem_RawMalloc(size if size else 1)
    if buffer == NULL:
        raise MemoryError
    return buffer


# Set a MemoryError, where row functions run out of memory.
cdef void set_no_memory() noexcept with gil


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


cdef inline uint8_t *append_bytes(uint8_t *dst, const void *src, size_t n) noexcept nogil:
    """Copy n bytes, and return where the next ones go."""
    copy_text(dst, <const uint8_t *>src, n)
    return dst + n


cdef inline size_t write_decimal(uint64_t value, uint8_t *dst) noexcept nogil:
    """Write a number. Return how many digits it has, at most 20."""
    cdef uint8_t digits[20]
    cdef size_t i = 20
    while i == 20 or value:
        i -= 1
        digits[i] = <uint8_t>(c'0' + value % 10)
        value //= 10
    memcpy(dst, digits + i, 20 - i)
    return 20 - i


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

# The part of utf8_of() for a str that is not ASCII.
cdef bint encode_utf8(str text, Bytes *source, uint8_t *buffer) except -1


cdef inline bint utf8_of(str text, Bytes *source, uint8_t *buffer) except -1:
    """Set `source` to the UTF-8 of a str, in `buffer` (UTF8_CAPACITY bytes) if the str is SMALL. False if it has a surrogate.

    The caller must keep the str alive until it calls release().
    """
    PyUnicode_READY(text)
    source.heap = NULL
    if PyUnicode_IS_ASCII(text):
        source.data = <const uint8_t *>PyUnicode_DATA(text)
        source.size = <size_t>PyUnicode_GET_LENGTH(text)
        return True
    return encode_utf8(text, source, buffer)


# Return the index of the first lone surrogate; -1 if there is none.
cdef Py_ssize_t first_surrogate(str text) noexcept

# Return whether two forms, each a str or bytes, are the same in UTF-8.
cdef bint same_bytes(object a, object b) except -1

# Return the text with U+FFFD for each surrogate.
cdef str without_surrogates(str text)

# Borrow the bytes of a bytes-like, until PyBuffer_Release().
cdef int borrow_bytes(object data, Py_buffer *view) except -1

# Borrow the bytes of an item of a list. TypeError if it is not bytes-like.
cdef int borrow_row(object item, size_t row, Py_buffer *view) except -1

# Return a copy of the bytes of a bytes-like, which need not be contiguous.
cdef bytes copy_of_bytes(object data)
