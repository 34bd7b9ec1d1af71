"""urllib.parse's quote and unquote family.

It does what the running interpreter's functions do, for every input. The fast paths take str, bytes and bytearray
themselves (no subclasses) in UTF-8; everything else, and every error, is the stdlib's own function.
"""
from libc.string cimport memchr

from uricodec._base._atomic cimport uc_publish, uc_read
from uricodec._base._kernels cimport ByteSet
from uricodec._base._text cimport *
from uricodec._codec._percent cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_SIZE


cdef extern from "Python.h":
    PyObject *PyTuple_GET_ITEM(object, Py_ssize_t) noexcept


# --- urllib.parse -------------------------------------------------------------------------------------------------------

cdef void *stdlib_module = NULL     # once it is there, it stays: several threads may find that it is not


cdef object stdlib():
    """The stdlib's own functions, for whatever the fast paths leave."""
    cdef void *known = uc_read(&stdlib_module)
    if known == NULL:
        from uricodec.parse import _stdlib
        Py_INCREF(_stdlib)
        known = <void *>_stdlib
        uc_publish(&stdlib_module, known)
    return <object>known


cdef inline bint is_default(object argument, str default) noexcept:
    return argument is None or argument is default or type(argument) is str and <str>argument == default


cdef object quote_buffer(object data, const uc_set *safe, bint plus):
    """The octets of bytes or a bytearray, quoted as a str; None for anything else."""
    cdef Py_buffer view
    if type(data) is bytes:
        return encode_octets(<const uint8_t *>PyBytes_AS_STRING(data), <size_t>PyBytes_GET_SIZE(data), safe, plus, True)
    if type(data) is not bytearray:
        return None
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)   # until it is released, no thread can make it longer or shorter
    try:
        return encode_octets(<const uint8_t *>view.buf, <size_t>view.len, safe, plus, True)
    finally:
        PyBuffer_Release(&view)


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


# The error handlers of the stdlib that decode: any other one is the stdlib's affair.
cdef frozenset HANDLERS = frozenset(["strict", "ignore", "backslashreplace", "surrogateescape", "surrogatepass"])


cdef inline bint is_handler(object errors, const char **name) noexcept:
    """Whether utf8_text knows the error handler, and by which name."""
    name[0] = NULL
    if is_default(errors, "replace"):
        return True
    if type(errors) is not str or errors not in HANDLERS:
        return False
    name[0] = <const char *>PyUnicode_DATA(errors)
    return True


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
    cdef const char *handler
    if type(string) is str:
        if is_default(encoding, "utf-8") and is_handler(errors, &handler):
            return unquote_text(<str>string, False, handler)
        if "%" not in <str>string:
            return string
    elif (type(string) is bytes and type(encoding) is str and type(errors) is str
            and encoding == "utf-8" and is_handler(errors, &handler)):
        return decode_text(<const uint8_t *>PyBytes_AS_STRING(string), <size_t>PyBytes_GET_SIZE(string), False, handler)
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
    cdef const char *handler
    if type(string) is str and is_default(encoding, "utf-8") and is_handler(errors, &handler):
        return unquote_text(<str>string, True, handler)
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


# --- calls --------------------------------------------------------------------------------------------------------------

# f(text) is what most calls are, and of quote f(text, safe=""). These take them before any argument is parsed, and leave
# all others to the functions.
cdef vectorcall parse_quote, parse_quote_plus, parse_unquote, parse_unquote_plus
cdef str SAFE = "safe"


cdef inline object take_quote(PyObject *const *args, size_t flags, PyObject *names, bint plus):
    """What quote (or quote_plus) returns for a text, with or without `safe`; None for any other call."""
    cdef ByteSet octets
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    if n < 1 or type(<object>args[0]) is not str:
        return None
    if n == 1 and names == NULL:
        octets = UNRESERVED_SPACE if plus else UNRESERVED_SLASH
    elif (n == 2 and names == NULL
            or n == 1 and PyTuple_GET_SIZE(<object>names) == 1 and PyTuple_GET_ITEM(<object>names, 0) == <PyObject *>SAFE):
        octets = quote_set(<object>args[1], plus)
        if octets is None:
            return None
    else:
        return None
    return quote_text(<str>args[0], &octets.set, plus)


cdef object call_quote(object function, PyObject *const *args, size_t flags, PyObject *names):
    result = take_quote(args, flags, names, False)
    return parse_quote(function, args, flags, names) if result is None else result


cdef object call_quote_plus(object function, PyObject *const *args, size_t flags, PyObject *names):
    result = take_quote(args, flags, names, True)
    return parse_quote_plus(function, args, flags, names) if result is None else result


cdef object call_unquote(object function, PyObject *const *args, size_t flags, PyObject *names):
    if is_call_of_text(args, flags, names):
        return unquote_text(<str>args[0], False, NULL)
    return parse_unquote(function, args, flags, names)


cdef object call_unquote_plus(object function, PyObject *const *args, size_t flags, PyObject *names):
    if is_call_of_text(args, flags, names):
        return unquote_text(<str>args[0], True, NULL)
    return parse_unquote_plus(function, args, flags, names)


parse_quote = take_calls(quote, call_quote)
parse_quote_plus = take_calls(quote_plus, call_quote_plus)
parse_unquote = take_calls(unquote, call_unquote)
parse_unquote_plus = take_calls(unquote_plus, call_unquote_plus)
