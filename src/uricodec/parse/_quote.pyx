"""Quote and unquote: the functions of urllib.parse with these words in their names.

They do what the running interpreter's functions do, for every input. The fast paths take str, bytes and bytearray
in the usual encodings, and subclasses of str that change none of it; everything else is passed to the stdlib's function.
"""
from libc.string cimport memchr

from uricodec._base._kernels cimport ByteSet
from uricodec._base._text cimport *
from uricodec._codec._percent cimport *
from uricodec.parse._arguments cimport *


# --- urllib.parse -------------------------------------------------------------------------------------------------------

cdef enum:
    QUOTED = BOOL | LENGTH | CONTAINS | ENCODE | BUFFERS    # what quoting calls


cdef inline object quote_bytes(bytes data, const uc_set *safe, bint plus):
    return encode_bytes(<const uint8_t *>PyBytes_AS_STRING(data), <size_t>PyBytes_GET_SIZE(data), safe, plus, True)


cdef object quote_usable(object given, ByteSet kept, object safe, object encoding, object errors, bint plus):
    """Return the result of quote (or quote_plus) for text or bytes; None if the stdlib must quote it."""
    cdef Codec codec
    cdef object result
    if type(given) is bytes:
        return quote_bytes(<bytes>given, &kept.set, plus) if encoding is None and errors is None else None
    if not find_codec(encoding, errors, "strict", &codec):
        return None
    PyUnicode_READY(given)
    if PyUnicode_IS_ASCII(given) or codec.encoding == UTF_8 and is_default(errors, "strict"):
        result = quote_text(<str>given, &kept.set, plus)
        return None if result is None else PyUnicode_FromObject(result)
    if codec.encoding == LATIN_1 and PyUnicode_KIND(given) == 1:
        return encode_bytes(<const uint8_t *>PyUnicode_DATA(given), <size_t>PyUnicode_GET_LENGTH(given), &kept.set, plus,
                             True)
    if plus and " " not in <str>given:      # a space that an error handler writes is encoded
        kept = quote_set(safe, False)
    if encoding is None:
        encoding = "utf-8"
    return quote_bytes((<str>given).encode(encoding, "strict" if errors is None else errors), &kept.set,
                       plus and " " in <str>given)


cdef inline object quote_plain(object string, object safe, object encoding, object errors, bint plus):
    """Return the result of quote (or quote_plus); None if the stdlib must quote it."""
    cdef ByteSet kept = UNRESERVED_SLASH if safe is SLASH and not plus else quote_set(safe, plus)
    cdef object given
    if kept is None:
        return None
    if type(string) is str and encoding is None and errors is None:
        return quote_text(<str>string, &kept.set, plus)
    given = usable(string, QUOTED)
    if given is None:
        return None
    if type(given) is not bytes and not PyUnicode_GET_LENGTH(given):
        return string       # the object itself, whatever it is to be encoded in
    return quote_usable(given, kept, safe, encoding, errors, plus)


def quote(string, safe='/', encoding=None, errors=None):
    """Percent-encode every byte but the unreserved characters and those in `safe`: urllib.parse.quote.

    Args:
        string (str | bytes | bytearray): What to quote; a str is encoded first.
        safe (str | bytes): ASCII characters to leave as they are, besides A-Z a-z 0-9 - . _ ~
        encoding (str | None): The encoding of a str; None: UTF-8.
        errors (str | None): Its error handler: "strict" by default.

    Returns:
        str: The same object if a str had nothing to quote.

    Raises:
        UnicodeEncodeError: The string cannot be encoded (a lone surrogate).
        TypeError, LookupError: As urllib.parse.quote.

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
        encoding (str | None): The encoding of a str; None: UTF-8.
        errors (str | None): Its error handler: "strict" by default.

    Returns:
        str: The same object if a str had nothing to quote.

    Raises:
        UnicodeEncodeError: The string cannot be encoded (a lone surrogate).
        TypeError, LookupError: As urllib.parse.quote_plus.

    Source: urllib.parse; HTML, application/x-www-form-urlencoded.

    >>> quote_plus("a b+c")
    'a+b%2Bc'
    """
    result = quote_plain(string, safe, encoding, errors, True)
    return stdlib().quote_plus(string, safe, encoding, errors) if result is None else result


def quote_from_bytes(bs, safe='/'):
    """Quote bytes: urllib.parse.quote_from_bytes.

    Args:
        bs (bytes | bytearray): The bytes.
        safe (str | bytes): ASCII characters to leave as they are, besides A-Z a-z 0-9 - . _ ~

    Returns:
        str: ASCII.

    Raises:
        TypeError: As urllib.parse.quote_from_bytes.

    Source: urllib.parse; RFC 3986 section 2.1.

    >>> quote_from_bytes(b"a b\\xff")
    'a%20b%FF'
    """
    cdef ByteSet kept = UNRESERVED_SLASH if safe is SLASH else quote_set(safe, False)
    cdef object given
    if kept is not None:
        given = usable(bs, BUFFERS)
        if type(given) is bytes:
            return quote_bytes(<bytes>given, &kept.set, False)
    return stdlib().quote_from_bytes(bs, safe)


def unquote(string, encoding='utf-8', errors='replace'):
    """Decode percent-encoded bytes, once, and read them as text: urllib.parse.unquote.

    Args:
        string (str | bytes): What to decode.
        encoding (str | None): The encoding of the decoded bytes.
        errors (str | None): Its error handler: "replace" writes U+FFFD for bytes that are invalid in it.

    Returns:
        str: The same object if a str had nothing to decode.

    Raises:
        UnicodeDecodeError: The bytes are invalid in the encoding, with errors="strict".
        TypeError, AttributeError, LookupError: As urllib.parse.unquote.

    Source: urllib.parse; RFC 3986 section 2.1.

    >>> unquote("/a%20b/%C3%A9%zz")
    '/a b/\u00e9%zz'
    """
    cdef Codec codec
    cdef object given
    if find_codec(encoding, errors, "replace", &codec):
        given = usable(string, CONTAINS | GETITEM)
        if type(given) is str:
            return unquote_as(given, False, &codec)
        if type(given) is bytes:
            if encoding is not None and errors is not None:
                return decode_as(<const uint8_t *>PyBytes_AS_STRING(given), <size_t>PyBytes_GET_SIZE(given), False, &codec)
        elif given is not None:
            if PyUnicode_FindChar(given, c'%', 0, PyUnicode_GET_LENGTH(given), 1) >= 0:
                return unquote_as(given, False, &codec)
            string.split    # as the stdlib, which returns the object itself
            return string
    elif type(string) is str and "%" not in <str>string:
        return string
    elif (type(string) is str or type(string) is bytes) and is_custom_handler(encoding, errors):
        given = stdlib().unless_invalid(unquote, string, encoding, "strict")
        if given is not None:
            return given
    return stdlib().unquote(string, encoding, errors)


def unquote_plus(string, encoding='utf-8', errors='replace'):
    """Decode HTML form values, in which '+' is a space: urllib.parse.unquote_plus.

    Args:
        string (str): What to decode.
        encoding (str | None): The encoding of the decoded bytes.
        errors (str | None): Its error handler: "replace" writes U+FFFD for bytes that are invalid in it.

    Returns:
        str: The same object if there was nothing to decode.

    Raises:
        UnicodeDecodeError: The bytes are invalid in the encoding, with errors="strict".
        TypeError, AttributeError, LookupError: As urllib.parse.unquote_plus.

    Source: urllib.parse; HTML, application/x-www-form-urlencoded.

    >>> unquote_plus("a+b%2Bc")
    'a b+c'
    """
    cdef Codec codec
    if find_codec(encoding, errors, "replace", &codec):
        given = usable(string, REPLACE)
        if given is not None and type(given) is not bytes:
            return unquote_as(given, True, &codec)
    elif type(string) is str and is_custom_handler(encoding, errors):
        given = stdlib().unless_invalid(unquote_plus, string, encoding, "strict")
        if given is not None:
            return given
    return stdlib().unquote_plus(string, encoding, errors)


def unquote_to_bytes(string):
    """Decode percent-encoded bytes, once: urllib.parse.unquote_to_bytes.

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
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef const uint8_t *data
    cdef size_t n
    if type(string) is bytes:
        data, n = <const uint8_t *>PyBytes_AS_STRING(string), <size_t>PyBytes_GET_SIZE(string)
        return string if memchr(data, c'%', n) == NULL else decode_bytes(data, n, False)
    given = usable(string, BOOL | LENGTH | ENCODE)
    if given is not None and utf8_of(<str>given, &source, buffer):
        try:
            return decode_bytes(source.data, source.size, False)
        finally:
            release(&source)
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
    """Return the result of quote (or quote_plus) for a str, with or without `safe`; None for any other call."""
    cdef ByteSet kept
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    if n < 1 or type(<object>args[0]) is not str:
        return None
    if n == 1 and names == NULL:
        kept = UNRESERVED_SPACE if plus else UNRESERVED_SLASH
    elif (n == 2 and names == NULL
            or n == 1 and PyTuple_GET_SIZE(<object>names) == 1 and PyTuple_GET_ITEM(<object>names, 0) == <PyObject *>SAFE):
        kept = quote_set(<object>args[1], plus)
        if kept is None:
            return None
    else:
        return None
    return quote_text(<str>args[0], &kept.set, plus)


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
