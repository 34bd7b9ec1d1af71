"""Percent-encoding (RFC 3986 section 2.1): the portable kernels, and urllib.parse's quote and unquote family.

The family does what the running interpreter's functions do, for every input. The fast paths take str, bytes and
bytearray themselves (no subclasses) in UTF-8; everything else, and every error, is the stdlib's own function.
"""
from libc.string cimport memchr

from uricodec._core._kernels cimport UC_FULL, ByteSet, kernels, provide, uc_kernels
from uricodec._core._text cimport *

from uricodec._core import _utf8     # its kernels

from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE
from cpython.ref cimport Py_DECREF


cdef extern from "Python.h":
    PyObject *new_bytes "PyBytes_FromStringAndSize"(const char *data, Py_ssize_t size) except NULL
    int _PyBytes_Resize(PyObject **bytes, Py_ssize_t size) except -1


# --- the portable kernels: what every tier computes --------------------------------------------------------------------

cdef const char *DIGITS = "0123456789ABCDEF"


cdef size_t encode(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst, size_t cap) noexcept nogil:
    cdef size_t i, o = 0
    cdef uint8_t c
    for i in range(n):
        c = src[i]
        if safe.member[c]:
            if o == cap:
                return UC_FULL
            dst[o] = c'+' if plus and c == c' ' else c
            o += 1
        else:
            if cap - o < 3:
                return UC_FULL
            dst[o] = c'%'
            dst[o + 1] = DIGITS[c >> 4]
            dst[o + 2] = DIGITS[c & 15]
            o += 3
    return o


cdef int hex_value(uint8_t c) noexcept nogil:
    """The value of a hexadecimal digit, or -1."""
    if c'0' <= c <= c'9':
        return c - c'0'
    if c'A' <= c <= c'F':
        return c - (c'A' - 10)
    if c'a' <= c <= c'f':
        return c - (c'a' - 10)
    return -1


cdef size_t decode(const uint8_t *src, size_t n, int plus, uint8_t *dst, size_t cap) noexcept nogil:
    cdef size_t i = 0, o = 0
    cdef int high, low
    while i < n:
        if o == cap:
            return UC_FULL
        if src[i] == c'%' and n - i > 2:
            high, low = hex_value(src[i + 1]), hex_value(src[i + 2])
            if high >= 0 and low >= 0:
                dst[o] = <uint8_t>(high << 4 | low)
                i, o = i + 3, o + 1
                continue
        dst[o] = c' ' if plus and src[i] == c'+' else src[i]
        i, o = i + 1, o + 1
    return o


cdef void upper_triplets(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    cdef size_t i
    cdef int digits = 0     # how many of the next octets are digits of a triplet
    for i in range(n):
        if src[i] == c'%' and n - i > 2 and hex_value(src[i + 1]) >= 0 and hex_value(src[i + 2]) >= 0:
            digits = 3
        dst[i] = src[i] - 32 if digits and src[i] >= c'a' else src[i]
        digits -= digits > 0


cdef uc_kernels portable
portable.encode = encode
portable.decode = decode
portable.upper_triplets = upper_triplets
provide(&portable)


# --- octets to objects --------------------------------------------------------------------------------------------------

cdef object encode_octets(const uint8_t *src, size_t n, const uc_set *safe, bint plus, bint text):
    """The encoded octets as a str of ASCII, or as bytes."""
    cdef uint8_t room[ENCODED_ROOM]
    cdef uint8_t *dst
    cdef size_t size, written
    cdef object result
    if n <= SMALL:
        return text_or_bytes(text, room, kernels.encode(src, n, safe, plus, room, ENCODED_ROOM))
    size = encoded_size(n, kernels.count_outside(src, n, safe))
    if text:
        result = PyUnicode_New(<Py_ssize_t>size, 127)
        dst = <uint8_t *>PyUnicode_DATA(result)
    else:
        result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>size)
        dst = <uint8_t *>PyBytes_AS_STRING(result)
    written = kernels.encode(src, n, safe, plus, dst, size)
    if written != size:
        raise BufferError("the buffer changed while it was encoded")
    return result


cdef str decode_text(const uint8_t *src, size_t n, bint plus):
    """The decoded octets read as UTF-8, with U+FFFD for every maximal part that is none."""
    cdef uint8_t room[DECODED_ROOM]
    cdef uint8_t *dst
    if n <= SMALL:
        return PyUnicode_DecodeUTF8(<char *>room, <Py_ssize_t>kernels.decode(src, n, plus, room, DECODED_ROOM), "replace")
    dst = allocate(n)
    try:
        return PyUnicode_DecodeUTF8(<char *>dst, <Py_ssize_t>kernels.decode(src, n, plus, dst, n), "replace")
    finally:
        PyMem_RawFree(dst)


cdef bytes decode_bytes(const uint8_t *src, size_t n, bint plus):
    cdef uint8_t room[DECODED_ROOM]
    cdef PyObject *result
    cdef size_t size
    if n <= SMALL:
        return PyBytes_FromStringAndSize(<char *>room, <Py_ssize_t>kernels.decode(src, n, plus, room, DECODED_ROOM))
    result = new_bytes(NULL, <Py_ssize_t>n)
    size = kernels.decode(src, n, plus, <uint8_t *>PyBytes_AS_STRING(<object>result), n)
    _PyBytes_Resize(&result, <Py_ssize_t>size)
    whole = <bytes>result
    Py_DECREF(whole)    # `result` was a reference of our own
    return whole


# --- what is safe -------------------------------------------------------------------------------------------------------

# urllib.parse never quotes these: the unreserved characters of RFC 3986 section 2.3.
cdef ByteSet UNRESERVED = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
cdef ByteSet UNRESERVED_SLASH = UNRESERVED | "/"
cdef ByteSet UNRESERVED_SPACE = UNRESERVED | " "
cdef ByteSet PLAIN = ~ByteSet("%+")     # what unquote_plus leaves as it is

# The sets of the last values of `safe`, for quote and for quote_plus. A program has a handful; bounded all the same.
cdef dict quote_sets = {}
cdef dict plus_sets = {}
cdef enum:
    MANY_SETS = 64


cdef ByteSet quote_set(object safe, bint plus):
    """The octets that quote (or quote_plus) leaves as they are for this `safe`; None if it is no plain str or bytes.

    The set of quote_plus has the space, which the encoder then turns into a plus sign.
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
        # As the stdlib: characters beyond ASCII are ignored.
        known = UNRESERVED | (<str>safe).encode("ascii", "ignore")
        if plus:
            known = known | " "
        if len(sets) >= MANY_SETS:
            sets.clear()
        sets[safe] = known
    return known


# --- urllib.parse -------------------------------------------------------------------------------------------------------

cdef object stdlib_module = None


cdef object stdlib():
    """The stdlib's own functions, for whatever the fast paths leave."""
    global stdlib_module
    if stdlib_module is None:
        from uricodec._core import _stdlib
        stdlib_module = _stdlib
    return stdlib_module


cdef inline bint is_default(object argument, str default) noexcept:
    return argument is None or argument is default or type(argument) is str and <str>argument == default


cdef object quote_text(str text, const uc_set *safe, bint plus):
    """The quoted text, or the same object if there is nothing to quote; None if it has a surrogate."""
    cdef uint8_t utf8[UTF8_ROOM]
    cdef uint8_t quoted[ENCODED_ROOM]
    cdef Octets octets
    cdef size_t size
    if not utf8_octets(text, &octets, utf8):
        return None
    if octets.size <= SMALL:
        size = kernels.encode(octets.data, octets.size, safe, plus, quoted, ENCODED_ROOM)
        if size == octets.size and not (plus and memchr(octets.data, c' ', octets.size) != NULL) and PyUnicode_IS_ASCII(text):
            return text
        return ascii_text(quoted, size)
    try:
        if (PyUnicode_IS_ASCII(text) and kernels.span(octets.data, octets.size, safe) == octets.size
                and not (plus and memchr(octets.data, c' ', octets.size) != NULL)):
            return text
        return encode_octets(octets.data, octets.size, safe, plus, True)
    finally:
        release(&octets)


cdef object quote_buffer(object data, const uc_set *safe, bint plus):
    """The octets of bytes or a bytearray, quoted as a str; None for anything else."""
    if type(data) is bytes:
        return encode_octets(<const uint8_t *>PyBytes_AS_STRING(data), <size_t>PyBytes_GET_SIZE(data), safe, plus, True)
    if type(data) is bytearray:
        return encode_octets(<const uint8_t *>PyByteArray_AS_STRING(data), <size_t>PyByteArray_GET_SIZE(data), safe, plus,
                             True)
    return None


cdef inline object quote_plain(object string, object safe, object encoding, object errors, bint plus):
    """What quote (or quote_plus) returns for the usual arguments; None for any other."""
    cdef ByteSet octets = UNRESERVED_SLASH if safe is SLASH and not plus else quote_set(safe, plus)
    if octets is None:
        return None
    if type(string) is not str:
        return quote_buffer(string, &octets.set, plus) if encoding is None and errors is None else None
    if is_default(encoding, "utf-8") and is_default(errors, "strict"):
        return quote_text(<str>string, &octets.set, plus)
    return None


def quote(string, safe='/', encoding=None, errors=None):
    """Percent-encode every octet but the unreserved characters and those in `safe`: urllib.parse.quote.

    Args:
        string (str | bytes | bytearray): What to quote; a str is encoded first.
        safe (str | bytes): ASCII characters to leave as they are, besides A-Z a-z 0-9 - . _ ~
        encoding (str | None): Of a str: UTF-8 by default.
        errors (str | None): Its error handler: "strict" by default.

    Returns:
        str: The same object if there was nothing to quote.

    Raises:
        UnicodeEncodeError: The string cannot be encoded (a lone surrogate).
        TypeError: As urllib.parse.quote.

    Source: urllib.parse; RFC 3986 section 2.1.

    >>> quote("/a b/\u00e9")
    '/a%20b/%C3%A9'
    """
    result = quote_plain(string, safe, encoding, errors, False)
    return stdlib().quote(string, safe, encoding, errors) if result is None else result


def quote_plus(string, safe='', encoding=None, errors=None):
    """Quote as in HTML form values, with '+' for a space: urllib.parse.quote_plus.

    Args:
        string (str | bytes | bytearray): What to quote; a str is encoded first.
        safe (str | bytes): ASCII characters to leave as they are, besides A-Z a-z 0-9 - . _ ~
        encoding (str | None): Of a str: UTF-8 by default.
        errors (str | None): Its error handler: "strict" by default.

    Returns:
        str: The same object if there was nothing to quote.

    Raises:
        UnicodeEncodeError: The string cannot be encoded (a lone surrogate).
        TypeError: As urllib.parse.quote_plus.

    Source: urllib.parse; HTML, application/x-www-form-urlencoded.

    >>> quote_plus("a b+c")
    'a+b%2Bc'
    """
    result = quote_plain(string, safe, encoding, errors, True)
    return stdlib().quote_plus(string, safe, encoding, errors) if result is None else result


def quote_from_bytes(bs, safe='/'):
    """Quote octets: urllib.parse.quote_from_bytes.

    Args:
        bs (bytes | bytearray): The octets.
        safe (str | bytes): ASCII characters to leave as they are, besides A-Z a-z 0-9 - . _ ~

    Returns:
        str: ASCII.

    Raises:
        TypeError: As urllib.parse.quote_from_bytes.

    Source: urllib.parse; RFC 3986 section 2.1.

    >>> quote_from_bytes(b"a b\\xff")
    'a%20b%FF'
    """
    cdef ByteSet octets = UNRESERVED_SLASH if safe is SLASH else quote_set(safe, False)
    if octets is not None:
        result = quote_buffer(bs, &octets.set, False)
        if result is not None:
            return result
    return stdlib().quote_from_bytes(bs, safe)


cdef str decode_runs(str text, run_decoder decoder, void *context):
    """Decode a str beyond ASCII. Each run of ASCII is decoded by itself: the rest is text already.

    None as soon as the decoder gives None.
    """
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text), start = 0, end
    cdef Py_ssize_t percent = text.find("%")
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef list parts = []
    while percent >= 0:
        end = percent + 1
        while end < n and PyUnicode_READ(kind, data, end) < 128:
            end += 1
        parts.append(PyUnicode_Substring(text, start, percent))
        run = PyUnicode_Substring(text, percent, end)
        decoded = decoder(<const uint8_t *>PyUnicode_DATA(run), <size_t>(end - percent), percent, context)
        if decoded is None:
            return None
        parts.append(decoded)
        start = end
        percent = text.find("%", start)
    if not parts:
        return text
    parts.append(PyUnicode_Substring(text, start, n))
    return "".join(parts)


cdef str decode_run(const uint8_t *src, size_t n, Py_ssize_t start, void *context):
    return decode_text(src, n, False)


cdef bint is_plain(const uint8_t *src, size_t n, bint plus) noexcept nogil:
    """Whether there is nothing to decode."""
    if plus:
        return kernels.span(src, n, &PLAIN.set) == n
    return memchr(src, c'%', n) == NULL


cdef str unquote_text(str text, bint plus):
    cdef const uint8_t *data
    cdef size_t n
    PyUnicode_READY(text)
    if not PyUnicode_IS_ASCII(text):
        return decode_runs(text.replace("+", " ") if plus else text, decode_run, NULL)
    data, n = <const uint8_t *>PyUnicode_DATA(text), <size_t>PyUnicode_GET_LENGTH(text)
    return text if is_plain(data, n, plus) else decode_text(data, n, plus)


def unquote(string, encoding='utf-8', errors='replace'):
    """Decode percent-encoded octets, once, and read them as text: urllib.parse.unquote.

    Args:
        string (str | bytes): What to decode.
        encoding (str | None): Of the decoded octets.
        errors (str | None): Its error handler: "replace" gives U+FFFD for what is no such text.

    Returns:
        str: The same object if there was nothing to decode.

    Raises:
        UnicodeDecodeError: With errors="strict", the octets are no such text.
        TypeError: As urllib.parse.unquote.

    Source: urllib.parse; RFC 3986 section 2.1.

    >>> unquote("/a%20b/%C3%A9%zz")
    '/a b/\u00e9%zz'
    """
    if type(string) is str:
        if is_default(encoding, "utf-8") and is_default(errors, "replace") or "%" not in <str>string:
            return unquote_text(<str>string, False)
    elif (type(string) is bytes and type(encoding) is str and type(errors) is str
            and encoding == "utf-8" and errors == "replace"):
        return decode_text(<const uint8_t *>PyBytes_AS_STRING(string), <size_t>PyBytes_GET_SIZE(string), False)
    return stdlib().unquote(string, encoding, errors)


def unquote_plus(string, encoding='utf-8', errors='replace'):
    """Decode HTML form values, in which '+' is a space: urllib.parse.unquote_plus.

    Args:
        string (str): What to decode.
        encoding (str | None): Of the decoded octets.
        errors (str | None): Its error handler: "replace" gives U+FFFD for what is no such text.

    Returns:
        str: The same object if there was nothing to decode.

    Raises:
        UnicodeDecodeError: With errors="strict", the octets are no such text.
        TypeError: As urllib.parse.unquote_plus.

    Source: urllib.parse; HTML, application/x-www-form-urlencoded.

    >>> unquote_plus("a+b%2Bc")
    'a b+c'
    """
    if type(string) is str and is_default(encoding, "utf-8") and is_default(errors, "replace"):
        return unquote_text(<str>string, True)
    return stdlib().unquote_plus(string, encoding, errors)


def unquote_to_bytes(string):
    """Decode percent-encoded octets, once: urllib.parse.unquote_to_bytes.

    Args:
        string (str | bytes): What to decode; a str is encoded in UTF-8 first.

    Returns:
        bytes: The same object if bytes had nothing to decode.

    Raises:
        UnicodeEncodeError: The string has a lone surrogate.
        TypeError, AttributeError: As urllib.parse.unquote_to_bytes.

    Source: urllib.parse; RFC 3986 section 2.1.

    >>> unquote_to_bytes("a%20b%FF")
    b'a b\\xff'
    """
    cdef uint8_t room[UTF8_ROOM]
    cdef Octets octets
    cdef const uint8_t *data
    cdef size_t n
    if type(string) is bytes:
        data, n = <const uint8_t *>PyBytes_AS_STRING(string), <size_t>PyBytes_GET_SIZE(string)
        return string if memchr(data, c'%', n) == NULL else decode_bytes(data, n, False)
    if type(string) is str and utf8_octets(<str>string, &octets, room):
        try:
            return decode_bytes(octets.data, octets.size, False)
        finally:
            release(&octets)
    return stdlib().unquote_to_bytes(string)


cdef object SLASH = quote.__defaults__[0]
for function in quote, quote_plus, quote_from_bytes, unquote, unquote_plus, unquote_to_bytes:
    function.__module__ = "uricodec.parse"      # pickled by reference to where users find them
del function
