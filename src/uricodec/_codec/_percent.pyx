"""Percent-encoding (RFC 3986 section 2.1): encoding and decoding of str and bytes."""
from uricodec._base._kernels cimport UC_SURROGATE, UNRESERVED, ByteSet, kernels
from uricodec._base._text cimport *


# --- encoding to objects ----------------------------------------------------------------------------------------------

cdef object encode_bytes(const uint8_t *src, size_t n, const uc_set *safe, bint plus, bint text):
    """Return the encoded bytes as an ASCII str (`text`) or as bytes."""
    cdef uint8_t buffer[ENCODED_CAPACITY]
    if n <= SMALL:
        return text_or_bytes(text, buffer, kernels.encode(src, n, safe, plus, buffer, ENCODED_CAPACITY))
    return encode_counted(src, n, kernels.count_outside(src, n, safe), safe, plus, text)


cdef object encode_counted(const uint8_t *src, size_t n, size_t escapes, const uc_set *safe, bint plus, bint text):
    """Return the same, written directly into the new object. `escapes` is the number of bytes that are not in `safe`."""
    cdef size_t size = encoded_size(n, escapes), written
    cdef uint8_t *dst
    cdef object result
    if text:
        result = PyUnicode_New(<Py_ssize_t>size, 127)
        dst = <uint8_t *>PyUnicode_DATA(result)
    else:
        result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>size)
        dst = <uint8_t *>PyBytes_AS_STRING(result)
    written = kernels.encode(src, n, safe, plus, dst, size)
    if written != size:
        raise BufferError("the buffer changed while it was encoded")  # pragma: no cover: a race
    return result


cdef str encode_units(const uint8_t *src, size_t n, int width, const uc_set *safe, bint plus):
    """Return the UTF-8 of code units, encoded; None if there is a surrogate.

    Processes the text twice, first to count and then to encode, in pieces through a buffer that stays in the cache.
    """
    cdef uint8_t utf8[UTF8_CAPACITY]
    cdef size_t start, size, total = 0, escapes = 0, o = 0
    cdef uint8_t *dst
    cdef str result
    for start in range(0, n, SMALL):
        size = kernels.to_utf8(src + start * width, min(<size_t>SMALL, n - start), width, utf8)
        if size == UC_SURROGATE:
            return None
        total += size
        escapes += kernels.count_outside(utf8, size, safe)
    result = PyUnicode_New(<Py_ssize_t>encoded_size(total, escapes), 127)
    dst = <uint8_t *>PyUnicode_DATA(result)
    for start in range(0, n, SMALL):
        size = kernels.to_utf8(src + start * width, min(<size_t>SMALL, n - start), width, utf8)
        o += kernels.encode(utf8, size, safe, plus, dst + o, total + 2 * escapes - o)
    return result


# --- decoding to objects ----------------------------------------------------------------------------------------------

cdef str decode_text(const uint8_t *src, size_t n, bint plus, const char *errors):
    """Return the decoded bytes as a str, converted from UTF-8 like utf8_text()."""
    cdef uint8_t buffer[DECODED_CAPACITY]
    cdef uint8_t *dst
    if n <= SMALL:
        return utf8_text(buffer, kernels.decode(src, n, plus, buffer, DECODED_CAPACITY), errors)
    dst = allocate(n)
    try:
        return utf8_text(dst, kernels.decode(src, n, plus, dst, n), errors)
    finally:
        PyMem_RawFree(dst)


cdef bytes decode_bytes(const uint8_t *src, size_t n, bint plus):
    cdef uint8_t buffer[DECODED_CAPACITY]
    cdef PyObject *result
    if n <= SMALL:
        return PyBytes_FromStringAndSize(<char *>buffer, <Py_ssize_t>kernels.decode(src, n, plus, buffer, DECODED_CAPACITY))
    result = new_bytes(NULL, <Py_ssize_t>n)
    return resized(result, kernels.decode(src, n, plus, <uint8_t *>PyBytes_AS_STRING(<object>result), n))


cdef str decode_runs(str text, run_decoder decoder, void *context):
    """Decode a str with characters beyond ASCII: only its runs of ASCII characters need decoding.

    Returns None as soon as the decoder returns None.
    """
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text), done = 0, start, end
    cdef Py_ssize_t percent = text.find("%")
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef list parts = []
    while percent >= 0:
        start = percent
        while start > done and PyUnicode_READ(kind, data, start - 1) < 128:
            start -= 1
        end = percent + 1
        while end < n and PyUnicode_READ(kind, data, end) < 128:
            end += 1
        parts.append(PyUnicode_Substring(text, done, start))
        run = PyUnicode_Substring(text, start, end)
        decoded = decoder(<const uint8_t *>PyUnicode_DATA(run), <size_t>(end - start), start, context)
        if decoded is None:
            return None
        parts.append(decoded)
        done = end
        percent = text.find("%", done)
    if not parts:
        return text
    parts.append(PyUnicode_Substring(text, done, n))
    return "".join(parts)


PLAIN = ~ByteSet("%+")


# --- safe characters --------------------------------------------------------------------------------------------------

# urllib.parse never quotes the unreserved characters.
UNRESERVED_SLASH = UNRESERVED | "/"
UNRESERVED_SPACE = UNRESERVED | " "

# The sets for the most recent values of `safe`, for quote and for quote_plus. Programs use a handful; the size is
# bounded.
cdef dict quote_sets = {}
cdef dict plus_sets = {}
cdef enum:
    MANY_SETS = 64


cdef ByteSet quote_set(object safe, bint plus):
    """Return the bytes that quote (or quote_plus) keeps for this `safe`; None if it is not a plain str or bytes.

    The set for quote_plus contains the space, which the encoder then turns into a plus sign.
    """
    cdef dict sets = plus_sets if plus else quote_sets
    if type(safe) is bytes:
        safe = (<bytes>safe).decode("latin-1")
    elif type(safe) is not str:
        return None
    if not safe:
        return UNRESERVED_SPACE if plus else UNRESERVED
    known = sets.get(safe)
    if known is None:
        # like the stdlib, ignore characters beyond ASCII
        known = UNRESERVED | (<str>safe).encode("ascii", "ignore")
        if plus:
            known = known | " "
        if len(sets) >= MANY_SETS:
            sets.clear()
        sets[safe] = known
    return known


# --- quoting and unquoting of text, as in urllib.parse ----------------------------------------------------------------

cdef object quote_dirty(str text, const uc_set *safe, bint plus):
    """Return the quoted text; None if it has a surrogate."""
    cdef uint8_t utf8[UTF8_CAPACITY]
    cdef uint8_t quoted[ENCODED_CAPACITY]
    cdef const uint8_t *src = <const uint8_t *>PyUnicode_DATA(text)
    cdef size_t n = <size_t>PyUnicode_GET_LENGTH(text)
    if not PyUnicode_IS_ASCII(text):
        if n > SMALL:
            return encode_units(src, n, PyUnicode_KIND(text), safe, plus)
        n = kernels.to_utf8(src, n, PyUnicode_KIND(text), utf8)
        if n == UC_SURROGATE:
            return None
        src = utf8
    if n <= SMALL:
        return ascii_text(quoted, kernels.encode(src, n, safe, plus, quoted, ENCODED_CAPACITY))
    return encode_counted(src, n, kernels.count_outside(src, n, safe), safe, plus, True)


cdef str decode_run(const uint8_t *src, size_t n, Py_ssize_t start, void *context):
    return decode_text(src, n, False, <const char *>context)


cdef str unquote_str(str text, bint plus, const char *errors):
    if PyUnicode_IS_ASCII(text):
        return decode_text(<const uint8_t *>PyUnicode_DATA(text), <size_t>PyUnicode_GET_LENGTH(text), plus, errors)
    return decode_runs(text.replace("+", " ") if plus else text, decode_run, <void *>errors)
