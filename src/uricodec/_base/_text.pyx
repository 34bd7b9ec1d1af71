"""UTF-8 (RFC 3629): the portable kernels that validate it, and convert it from and to code units. Bytes of objects."""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_FromStringAndSize
from libc.stdint cimport uint64_t
from libc.string cimport strchr

from uricodec._base._kernels cimport UC_SURROGATE, kernels, provide, uc_kernels


cdef extern from "simd/target.h" nogil:
    const bint UC_LITTLE_ENDIAN


# --- checking -----------------------------------------------------------------------------------------------------------

# A validator without branches: a state machine. The table has a word for each byte, with the successor of each state in
# six bits. States are multiples of 6, so that a shift by the state moves its successor to the lowest bits.
cdef enum State:
    DONE = 0, WRONG = 6, ONE_MORE = 12, TWO_MORE = 18, THREE_MORE = 24, AFTER_E0 = 30, AFTER_ED = 36, AFTER_F0 = 42, AFTER_F4 = 48
cdef uint64_t successors[256]


cdef State successor(int state, uint8_t byte) noexcept nogil:
    cdef State[5] by_length = [WRONG, DONE, ONE_MORE, TWO_MORE, THREE_MORE]
    cdef uint8_t lead
    if state == DONE:
        return (AFTER_E0 if byte == 0xE0 else AFTER_ED if byte == 0xED else AFTER_F0 if byte == 0xF0
                else AFTER_F4 if byte == 0xF4 else by_length[sequence_length(byte)])
    lead = (0xE0 if state == AFTER_E0 else 0xED if state == AFTER_ED else 0xF0 if state == AFTER_F0
            else 0xF4 if state == AFTER_F4 else 0)
    if state == WRONG or not continues(lead, 1, byte):
        return WRONG
    if state == ONE_MORE:
        return DONE
    return TWO_MORE if state == THREE_MORE or lead >= 0xF0 else ONE_MORE


cdef int byte, state
for byte in range(256):
    for state in range(DONE, AFTER_F4 + 1, 6):
        successors[byte] |= <uint64_t>successor(state, byte) << state


cdef size_t interrupted(const uint8_t *src, size_t i) noexcept nogil:
    cdef size_t k
    for k in range(1, 4):
        if k > i or src[i - k] < 0x80:
            break
        if src[i - k] >= 0xC0:
            return i - k if <size_t>sequence_length(src[i - k]) > k else i
    return i


cdef size_t scan_utf8(const uint8_t *src, size_t n, uc_utf8 *found) noexcept nogil:
    cdef size_t i = 0, k, whole, characters = 0
    cdef uint64_t first, second, before, state = DONE
    cdef uint8_t highest = 0
    while n - i >= 16:
        memcpy(&first, src + i, 8)
        memcpy(&second, src + i + 8, 8)
        if state != DONE or (first | second) & <uint64_t>0x8080808080808080:
            before = state
            for k in range(16):
                state = successors[src[i + k]] >> state & 63
            if state == WRONG:      # somewhere in these bytes: repeat them, checking every byte
                state = before
                break
        i += 16
    while i < n:
        state = successors[src[i]] >> state & 63
        if state == WRONG:
            break
        i += 1
    whole = i if state == DONE else interrupted(src, i)
    # Two separate loops, which compilers vectorize.
    for i in range(whole):
        characters += (src[i] & 0xC0) != 0x80
    for i in range(whole):
        highest = src[i] if src[i] > highest else highest
    found.characters = characters
    found.highest = highest
    return whole


# --- code units ---------------------------------------------------------------------------------------------------------

cdef inline bint ascii_units(const code_unit *src, size_t n) noexcept nogil:
    """Return whether at least 8 bytes of code units are left, and these are ASCII."""
    cdef uint64_t units, others = 0x8080808080808080
    if code_unit is uint16_t:
        others = 0xFF80FF80FF80FF80
    elif code_unit is uint32_t:
        others = 0xFFFFFF80FFFFFF80
    if n < 8 // sizeof(code_unit):
        return False
    memcpy(&units, src, 8)
    return not units & others


cdef size_t put_utf8(const code_unit *src, size_t n, uint8_t *dst) noexcept nogil:
    cdef uint8_t *start = dst
    cdef uint32_t c
    cdef size_t i = 0, k, ascii
    while i < n:
        c = src[i]
        if c < 0x80:
            ascii = 1
            dst[0] = <uint8_t>c
            if ascii_units(src + i, n - i):
                ascii = 8 // sizeof(code_unit)
                for k in range(1, 8 // sizeof(code_unit)):
                    dst[k] = <uint8_t>src[i + k]
            dst += ascii
            i += ascii
            continue
        i += 1
        if c < 0x800:
            dst[0] = <uint8_t>(0xC0 | c >> 6)
            dst[1] = <uint8_t>(0x80 | c & 0x3F)
            dst += 2
        elif c < 0x10000:
            if 0xD800 <= c < 0xE000:
                return UC_SURROGATE
            if UC_LITTLE_ENDIAN and i < n:      # one store of 4 bytes, in bounds because another unit follows
                c = 0x8080E0 | c >> 12 | (c & 0xFC0) << 2 | (c & 0x3F) << 16
                memcpy(dst, &c, 4)
            else:
                dst[0] = <uint8_t>(0xE0 | c >> 12)
                dst[1] = <uint8_t>(0x80 | c >> 6 & 0x3F)
                dst[2] = <uint8_t>(0x80 | c & 0x3F)
            dst += 3
        else:
            dst[0] = <uint8_t>(0xF0 | c >> 18)
            dst[1] = <uint8_t>(0x80 | c >> 12 & 0x3F)
            dst[2] = <uint8_t>(0x80 | c >> 6 & 0x3F)
            dst[3] = <uint8_t>(0x80 | c & 0x3F)
            dst += 4
    return dst - start


cdef size_t to_utf8(const void *src, size_t n, int width, uint8_t *dst) noexcept nogil:
    if width == 1:
        return put_utf8(<const uint8_t *>src, n, dst)
    if width == 2:
        return put_utf8(<const uint16_t *>src, n, dst)
    return put_utf8(<const uint32_t *>src, n, dst)


cdef void get(const uint8_t *src, size_t n, code_unit *dst) noexcept nogil:
    cdef const uint8_t *end = src + n
    cdef uint32_t c
    cdef size_t k
    while src < end:
        c = src[0]
        if c < 0x80:
            if ascii_units(src, end - src):
                for k in range(8):
                    dst[k] = src[k]
                src += 8
                dst += 8
                continue
            src += 1
        elif c < 0xE0:
            c = (c & 0x1F) << 6 | src[1] & 0x3F
            src += 2
        elif c < 0xF0:
            c = (c & 0x0F) << 12 | (src[1] & 0x3F) << 6 | src[2] & 0x3F
            src += 3
        else:
            c = (c & 0x07) << 18 | (src[1] & 0x3F) << 12 | (src[2] & 0x3F) << 6 | src[3] & 0x3F
            src += 4
        dst[0] = <code_unit>c
        dst += 1


cdef void from_utf8(const uint8_t *src, size_t n, int width, void *dst, size_t characters) noexcept nogil:
    if width == 1:
        get(src, n, <uint8_t *>dst)
    elif width == 2:
        get(src, n, <uint16_t *>dst)
    else:
        get(src, n, <uint32_t *>dst)


cdef uc_kernels portable
portable.scan_utf8 = scan_utf8
portable.to_utf8 = to_utf8
portable.from_utf8 = from_utf8
provide(&portable)


# --- ill-formed text ----------------------------------------------------------------------------------------------------

cdef size_t ill_formed(const uint8_t *src, size_t n) noexcept nogil:
    cdef int length, have = 1
    if n == 0:
        return 0
    length = sequence_length(src[0])
    while have < length and <size_t>have < n and continues(src[0], have, src[have]):
        have += 1
    return 0 if have == length else have


cdef size_t well_formed(const uint8_t *src, size_t n, uc_utf8 *found, size_t *subpart) noexcept nogil:
    """Return the length of the well-formed text at the start of src, and in *subpart that of the maximal subpart after it."""
    cdef size_t size = 0
    found.characters = found.highest = 0
    subpart[0] = ill_formed(src, n)
    if subpart[0] == 0:
        size = kernels.scan_utf8(src, n, found)
        subpart[0] = ill_formed(src + size, n - size)
    return size


cdef void scan_replacing(const uint8_t *src, size_t n, uc_utf8 *found) noexcept nogil:
    cdef uc_utf8 part
    cdef size_t i = 0, subpart
    found.characters = found.highest = 0
    while i < n:
        i += well_formed(src + i, n - i, &part, &subpart)
        i += subpart
        found.characters += part.characters + (subpart > 0)
        found.highest = max(found.highest, part.highest, <uint8_t>(0xEF if subpart else 0))


cdef void from_utf8_replacing(const uint8_t *src, size_t n, int width, uint8_t *dst) noexcept nogil:
    cdef uc_utf8 part
    cdef size_t i = 0, size, subpart
    while i < n:
        size = well_formed(src + i, n - i, &part, &subpart)
        if size:
            kernels.from_utf8(src + i, size, width, dst, part.characters)
            dst += part.characters * <size_t>width
        if subpart:
            kernels.from_utf8(<const uint8_t *>b"\xEF\xBF\xBD", 3, width, dst, 1)
            dst += width
        i += size + subpart


# --- str --------------------------------------------------------------------------------------------------------------

cdef str utf8_text(const uint8_t *src, size_t n, const char *errors):
    """Return a str decoded from UTF-8. `errors` is the name of the error handler; NULL: "replace"."""
    cdef uc_utf8 found
    cdef int width
    cdef str text
    cdef bint well_formed = kernels.scan_utf8(src, n, &found) == n
    if not well_formed:
        if errors != NULL:
            return PyUnicode_DecodeUTF8(<const char *>src, <Py_ssize_t>n, errors)
        scan_replacing(src, n, &found)
    if found.highest < 0x80:
        return ascii_text(src, n)
    width = 1 if found.highest < 0xC4 else 2 if found.highest < 0xF0 else 4
    text = PyUnicode_New(<Py_ssize_t>found.characters, 0xFF if width == 1 else 0xFFFF if width == 2 else 0x10FFFF)
    if well_formed:
        kernels.from_utf8(src, n, width, PyUnicode_DATA(text), found.characters)
    else:
        from_utf8_replacing(src, n, width, <uint8_t *>PyUnicode_DATA(text))
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
