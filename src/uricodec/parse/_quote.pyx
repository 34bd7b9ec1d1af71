"""Quoting, and query strings, which are quoted: urllib.parse's functions with quote in their names, parse_qsl, parse_qs, urlencode.

They do what the running interpreter's functions do, for every input. The fast paths take text and bytes, as `_arguments`
knows them, in its encodings; of queries, a separator of one ASCII character, or for text any str; and for urlencode any
mapping, or a list or tuple of pairs. Everything else is passed to the stdlib's function.
"""
cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memchr

from uricodec._base._kernels cimport ASCII_BYTES, ByteSet, kernels, remove_byte, reraise, uc_lowest_bit, uc_set
from uricodec._base._text cimport *
from uricodec._codec._percent cimport *
from uricodec.parse._arguments cimport *


# --- quote and unquote ------------------------------------------------------------------------------------------------

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


# --- calls of quote and unquote ---------------------------------------------------------------------------------------

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


cdef extern from "Python.h":
    Py_ssize_t PyObject_Size(object) noexcept       # -1: an exception is set
    bytes PyUnicode_AsEncodedString(object, const char *encoding, const char *errors)


# --- parse queries ----------------------------------------------------------------------------------------------------

# Bytes stay bytes; before 3.13, they are read as ASCII, and what they decode to has to be ASCII as well.
cdef bint KEEPS_BYTES = stdlib().keeps_bytes()

# An empty query has no field, or in some versions one: max_num_fields=0 rejects that, and so does strict_parsing.
cdef bint EMPTY_IS_FIELD = stdlib().has_empty_field(max_num_fields=0)
cdef bint EMPTY_IS_FAULT = stdlib().has_empty_field(strict_parsing=True)


cdef inline bint are_ascii(bytes data) noexcept:  # pragma: no cover: another Python
    cdef size_t n = <size_t>PyBytes_GET_SIZE(data)
    return kernels.span(<const uint8_t *>PyBytes_AS_STRING(data), n, &ASCII_BYTES.set) == n


# How a query is read.
cdef struct Rules:
    bint keep_blank
    bint strict
    bint grouped
    bint in_bytes       # names and values are bytes
    bint unusual        # they are, or the encoding is not UTF-8
    Codec codec


# The interpreter's own objects for names and values of one character.
cdef PyObject *characters[128]
cdef int code
for code in range(128):
    character = chr(code)
    Py_INCREF(character)
    characters[code] = <PyObject *>character
del character


cdef object decode_unusual(const uint8_t *src, Py_ssize_t n, bint work, const Rules *rules):
    """Decode a name or value to bytes, or in an encoding other than UTF-8; return None if the stdlib must do it."""
    cdef bytes data
    if not rules.in_bytes:
        return decode_as(src, <size_t>n, True, &rules.codec) if work else ascii_text(src, <size_t>n)
    if not work:
        return PyBytes_FromStringAndSize(<const char *>src, n)
    data = decode_bytes(src, <size_t>n, True)
    return data if KEEPS_BYTES or are_ascii(data) else None


cdef inline str decode_field(const uint8_t *src, Py_ssize_t n, bint work, const Rules *rules):
    """Decode a name or value in UTF-8."""
    if work:
        return decode_text(src, <size_t>n, True, rules.codec.errors)
    return <str>characters[src[0]] if n == 1 else ascii_text(src, <size_t>n)


cdef inline int add_pair(object result, bint grouped, object name, object value) except -1:
    """Append a pair to a list, or a value to the list of its name in a dict."""
    cdef PyObject *values
    if not grouped:
        (<list>result).append((name, value))
        return 0
    values = PyDict_GetItemWithError(result, name)
    if values == NULL:
        (<dict>result)[name] = [value]
    else:
        (<list>values).append(value)
    return 0


# What a parser has to look at: the '=' and, in what it decodes, '%' and '+'; and the separator, which is nearly always '&'.
cdef ByteSet NO_MARK = ~ByteSet("=%+")
cdef ByteSet NO_MARK_OR_AMPERSAND = NO_MARK - "&"

cdef enum:
    WINDOW = 1024       # bytes that are marked at once,
    WORDS = 16          # and the words of their marks


# A field that is being read.
cdef struct QueryField:
    const uint8_t *name
    const uint8_t *value    # NULL before the first '='
    bint name_work          # something to decode
    bint value_work


cdef bint end_unusual(object result, const Rules *rules, const QueryField *field, const uint8_t *end) except -1:
    cdef const uint8_t *name_end = end if field.value == NULL else field.value - 1
    cdef object name = decode_unusual(field.name, name_end - field.name, field.name_work, rules)
    cdef object value = b"" if rules.in_bytes else ""
    if field.value != NULL:
        value = decode_unusual(field.value, end - field.value, field.value_work, rules)
    if name is None or value is None:
        return False  # pragma: no cover: another Python
    add_pair(result, rules.grouped, name, value)
    return True


cdef inline bint end_field(object result, const Rules *rules, const QueryField *field, const uint8_t *end) except -1:
    """Add a field to the result, unless blank ones are left out. Return False if the stdlib must parse the query."""
    cdef str name
    if field.value == NULL:
        if rules.strict or not rules.keep_blank or field.name == end:
            return not rules.strict
        if rules.unusual:
            return end_unusual(result, rules, field, end)
        add_pair(result, rules.grouped, decode_field(field.name, end - field.name, field.name_work, rules), "")
        return True
    if field.value == end and not rules.keep_blank:
        return True
    if rules.unusual:
        return end_unusual(result, rules, field, end)
    name = decode_field(field.name, field.value - 1 - field.name, field.name_work, rules)
    add_pair(result, rules.grouped, name, decode_field(field.value, end - field.value, field.value_work, rules))
    return True


cdef object parse_ascii(const uint8_t *src, size_t n, uint8_t separator, const Rules *rules):
    """Return the fields of an ASCII query; None if the stdlib must parse it."""
    cdef const uint8_t *at
    cdef size_t start, size, word
    cdef uint64_t marks[WORDS]
    cdef uint64_t bits
    cdef uc_set set
    cdef const uc_set *plain = &NO_MARK_OR_AMPERSAND.set
    cdef QueryField field = [src, NULL, False, False]
    cdef object result = {} if rules.grouped else []
    if separator != c'&':
        set = NO_MARK.set
        remove_byte(&set, separator)
        plain = &set
    for start in range(0, n, WINDOW):
        size = min(n - start, <size_t>WINDOW)
        kernels.mark_outside(src + start, size, plain, marks)
        for word in range((size + 63) // 64):
            bits = marks[word]
            while bits:
                at = src + start + 64 * word + uc_lowest_bit(bits)
                bits &= bits - 1
                if at[0] == separator:
                    if not end_field(result, rules, &field, at):
                        return None
                    field = [at + 1, NULL, False, False]
                elif at[0] != c'=':
                    if field.value == NULL:
                        field.name_work = True
                    else:
                        field.value_work = True
                elif field.value == NULL:
                    field.value = at + 1
    return result if end_field(result, rules, &field, src + n) else None


cdef object parse_text(str text, str separator, const Rules *rules):
    """Return the fields of a query that is not ASCII; None if the stdlib must parse it."""
    cdef object result = {} if rules.grouped else []
    for field in text.split(separator):
        if not field and not rules.strict:
            continue
        name, equals, value = (<str>field).partition("=")
        if rules.strict and not equals:
            return None
        if value or rules.keep_blank:
            add_pair(result, rules.grouped, unquote_as(name, True, &rules.codec), unquote_as(value, True, &rules.codec))
    return result


cdef inline bint is_number(object argument) noexcept:
    return type(argument) is bool or type(argument) is int


cdef object parse(object query, object keep_blank, object strict, object encoding, object errors, object max_fields,
                  object separator, bint grouped):
    """Return the fields as a list of pairs, or grouped in a dict; None if the stdlib must parse the query."""
    cdef Rules rules
    cdef uint8_t by
    cdef bint is_byte = True        # the separator
    cdef object given = usable(query, BOOL | LENGTH | COUNT | SPLIT | BUFFERS)
    if given is None or not is_number(keep_blank) or not is_number(strict):
        return None
    if max_fields is not None and not is_number(max_fields):
        return None
    if type(separator) is bytes and len(<bytes>separator) == 1 and (<bytes>separator).isascii():
        separator = (<bytes>separator).decode("ascii")
    if type(separator) is not str or len(<str>separator) != 1 or not PyUnicode_IS_ASCII(separator):
        is_byte = False
        if type(separator) is not str or not separator or not PyUnicode_Check(given):
            return None
    if not given:       # nothing to decode
        if strict and EMPTY_IS_FAULT or max_fields is not None and max_fields < EMPTY_IS_FIELD:
            return None
        return {} if grouped else []
    if not find_codec(encoding, errors, "replace", &rules.codec):
        if not is_custom_handler(encoding, errors):
            return None
        return stdlib().unless_invalid(parse_qs if grouped else parse_qsl, query, keep_blank, strict, encoding, "strict",
                                       max_fields, separator)
    rules.keep_blank, rules.strict, rules.grouped, rules.in_bytes = keep_blank, strict, grouped, type(given) is bytes
    rules.unusual = rules.in_bytes or rules.codec.encoding != UTF_8
    by = (<const uint8_t *>PyUnicode_DATA(separator))[0]
    if max_fields is not None and max_fields < 1 + given.count(by if rules.in_bytes else separator):
        return None
    if rules.in_bytes:
        if not KEEPS_BYTES and not are_ascii(<bytes>given):
            return None  # pragma: no cover: another Python
        return parse_ascii(<const uint8_t *>PyBytes_AS_STRING(given), <size_t>PyBytes_GET_SIZE(given), by, &rules)
    PyUnicode_READY(given)
    if is_byte and PyUnicode_IS_ASCII(given):
        return parse_ascii(<const uint8_t *>PyUnicode_DATA(given), <size_t>PyUnicode_GET_LENGTH(given), by, &rules)
    return parse_text(PyUnicode_FromObject(given), <str>separator, &rules)


PARSE_DOC = """{first}

    Args:
        qs (str | bytes): The query, without its question mark.
        keep_blank_values (bool): Keep the fields without a value.
        strict_parsing (bool): Raise ValueError for a field without '='; otherwise it is ignored.
        encoding (str): The encoding of the decoded bytes.
        errors (str): Its error handler.
        max_num_fields (int | None): Raise ValueError when there are more fields.
        separator (str): The character between fields.

    Returns:
        {returns}

    Raises:
        ValueError, TypeError, AttributeError, LookupError: As urllib.parse.{name}.

    Source: urllib.parse; HTML, application/x-www-form-urlencoded.

    >>> {name}("q=a+b&lang=%C3%A9&q=c")
    {example}
    """

# Signatures are the running interpreter's: parse_qsl has grown a private argument, the level of its warning.
if "_stacklevel" in (stdlib().parse_qsl.__kwdefaults__ or ()):  # pragma: no cover: another Python
    def parse_qsl(qs, keep_blank_values=False, strict_parsing=False, encoding='utf-8', errors='replace',
                  max_num_fields=None, separator='&', *, _stacklevel=1):
        fields = parse(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator, False)
        if fields is not None:
            return fields
        return stdlib().parse_qsl(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator,
                                  _stacklevel=_stacklevel)
else:  # pragma: no cover: another Python
    def parse_qsl(qs, keep_blank_values=False, strict_parsing=False, encoding='utf-8', errors='replace',
                  max_num_fields=None, separator='&'):
        fields = parse(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator, False)
        if fields is not None:
            return fields
        return stdlib().parse_qsl(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator)


def parse_qs(qs, keep_blank_values=False, strict_parsing=False, encoding='utf-8', errors='replace',
             max_num_fields=None, separator='&'):
    fields = parse(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator, True)
    if fields is not None:
        return fields
    return stdlib().parse_qs(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator)


parse_qsl.__doc__ = PARSE_DOC.format(
    first="Split a query into its decoded fields, in order: urllib.parse.parse_qsl.",
    returns="list[tuple[str, str]] | list[tuple[bytes, bytes]]: Name and value of each field, of the type of qs.",
    name="parse_qsl",
    example="[('q', 'a b'), ('lang', '\u00e9'), ('q', 'c')]",
)
parse_qs.__doc__ = PARSE_DOC.format(
    first="Split a query into its decoded fields, grouped by name: urllib.parse.parse_qs.",
    returns="dict[str, list[str]] | dict[bytes, list[bytes]]: The values of each name, of the type of qs.",
    name="parse_qs",
    example="{'q': ['a b', 'c'], 'lang': ['\u00e9']}",
)


# --- write queries ----------------------------------------------------------------------------------------------------

# A text under construction: in `buffer` while it fits, then on the heap.
cdef struct QueryText:
    uint8_t *data
    size_t size
    size_t cap
    uint8_t *heap
    bint beyond         # it is UTF-8, with surrogates, of more than ASCII
    bint overridden     # a subclass of str decides what adding it to a str gives
    uint8_t buffer[2048]


cdef int grow(QueryText *text, size_t more) except -1:
    cdef uint8_t *larger
    cdef size_t cap
    if more > <size_t>PY_SSIZE_T_MAX - text.size:
        raise OverflowError("the encoded query is longer than a str can be")  # pragma: no cover: too large
    cap = max(text.size + more, min(2 * text.cap, <size_t>PY_SSIZE_T_MAX))
    larger = allocate(cap)
    memcpy(larger, text.data, text.size)
    PyMem_RawFree(text.heap)
    text.data = text.heap = larger
    text.cap = cap
    return 0


cdef inline int reserve(QueryText *text, size_t more) except -1:
    """Ensure a capacity for `more` bytes."""
    return 0 if more <= text.cap - text.size else grow(text, more)


cdef inline int put_byte(QueryText *text, uint8_t byte) except -1:
    reserve(text, 1)
    text.data[text.size] = byte
    text.size += 1
    return 0


cdef int put_encoded(QueryText *text, const uint8_t *src, size_t n, const uc_set *safe, bint plus) except -1:
    # Capacity for the kernel's wide stores as well, so that short texts do not take its slow end.
    reserve(text, encoded_size(n, n) + 128 if n <= SMALL else encoded_size(n, kernels.count_outside(src, n, safe)))
    text.size += kernels.encode(src, n, safe, plus, text.data + text.size, text.cap - text.size)
    return 0


# How names and values are quoted: the arguments of urlencode, and what follows from them.
cdef struct Quoting:
    const uc_set *safe
    bint plus
    bint utf8               # and what cannot be encoded is an error
    PyObject *via
    PyObject *given_safe
    PyObject *encoding
    PyObject *errors


cdef int put_quoted(QueryText *text, object value, const Quoting *quoting) except -1:
    """Quote bytes or text of any type, and append the result."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef object given = usable(value, BOOL | LENGTH | CONTAINS | ENCODE)
    cdef object quoted
    if type(value) is not str and isinstance(value, str) and usable(value, ADD | RIGHT_ADD) is None:
        text.overridden = True      # what is quoted may be the object itself
        return 0
    if type(given) is bytes:
        return put_encoded(text, <const uint8_t *>PyBytes_AS_STRING(given), <size_t>PyBytes_GET_SIZE(given), quoting.safe,
                           quoting.plus)
    if given is not None and (quoting.utf8 or PyUnicode_IS_ASCII(given)) and utf8_of(<str>given, &source, buffer):
        try:
            return put_encoded(text, source.data, source.size, quoting.safe, quoting.plus)
        finally:
            release(&source)
    if isinstance(value, bytes):
        quoted = (<object>quoting.via)(value, <object>quoting.given_safe)
    else:
        quoted = (<object>quoting.via)(
            value, <object>quoting.given_safe, <object>quoting.encoding, <object>quoting.errors)
    if not PyUnicode_IS_ASCII(quoted):      # a str that says it is false is returned as it is
        text.beyond = True
    cdef bytes data = PyUnicode_AsEncodedString(quoted, "utf-8", "surrogatepass")
    reserve(text, <size_t>PyBytes_GET_SIZE(data))
    memcpy(text.data + text.size, PyBytes_AS_STRING(data), <size_t>PyBytes_GET_SIZE(data))
    text.size += <size_t>PyBytes_GET_SIZE(data)
    return 0


cdef inline int put_object(QueryText *text, object value, const Quoting *quoting) except -1:
    if type(value) is not str and not isinstance(value, bytes):
        value = PyObject_Str(value)
    if type(value) is str:
        PyUnicode_READY(value)
        if PyUnicode_IS_ASCII(value):
            return put_encoded(text, <const uint8_t *>PyUnicode_DATA(value), <size_t>PyUnicode_GET_LENGTH(value), quoting.safe,
                               quoting.plus)
    return put_quoted(text, value, quoting)


cdef inline bint has_length(object value) except -1:
    if PyObject_Size(value) >= 0:
        return True
    if not PyErr_ExceptionMatches(TypeError):
        reraise()
    PyErr_Clear()
    return False


cdef int put_pair(QueryText *text, object key, object value, bint doseq, const Quoting *quoting) except -1:
    """Append key=value, or one for each element of a sequence. Each object is converted to text once, in order."""
    cdef size_t start = text.size, name, size
    cdef bint first = True
    if start:
        put_byte(text, c'&')
    name = text.size
    put_object(text, key, quoting)
    if text.overridden:
        return 0
    put_byte(text, c'=')
    size = text.size - name
    if not doseq or is_scalar(value):
        return put_object(text, value, quoting)
    if isinstance(value, (bytes, str)):
        return put_quoted(text, value, quoting)
    if not has_length(value):
        return put_object(text, value, quoting)
    for element in value:
        if not first:
            put_byte(text, c'&')
            reserve(text, size)
            memcpy(text.data + text.size, text.data + name, size)
            text.size += size
        first = False
        put_object(text, element, quoting)
        if text.overridden:
            return 0
    if first:
        text.size = start
    return 0


cdef inline bint is_scalar(object value) noexcept:
    """Return whether a value is converted to text without running code of the program."""
    return (type(value) is str or type(value) is int or type(value) is bytes or type(value) is float
            or type(value) is bool or value is None)


cdef bint put_dict(QueryText *text, object query, bint doseq, const Quoting *quoting) except -1:
    """Append all pairs of scalars. Return False at the first other pair; the pairs before it are appended."""
    cdef Py_ssize_t position = 0
    cdef PyObject *key
    cdef PyObject *value
    cdef object name, own
    with cython.critical_section(query):
        while PyDict_Next(query, &position, &key, &value):
            name, own = <object>key, <object>value      # keep references: str() may run code that changes the dict
            if not is_scalar(name) or not is_scalar(own):
                return False
            put_pair(text, name, own, doseq, quoting)
    return True


cdef int put_pairs(QueryText *text, object pairs, bint doseq, const Quoting *quoting) except -1:
    for pair in pairs:
        if type(pair) is not tuple or len(<tuple>pair) != 2:
            pair = stdlib().unpacked(pair)
        put_pair(text, (<tuple>pair)[0], (<tuple>pair)[1], doseq, quoting)
        if text.overridden:
            return 0
    return 0


cdef inline bint is_list_of_pairs(object query):
    """Return whether a query is a list or tuple that urlencode accepts."""
    return (type(query) is list or type(query) is tuple) and (not query or isinstance(query[0], tuple))


cdef object encode_query(object query, bint doseq, const Quoting *quoting):
    """Return the query of a mapping, or of a list or tuple of pairs; None if the stdlib must write it."""
    cdef QueryText text
    text.data, text.size, text.cap, text.heap = text.buffer, 0, sizeof(text.buffer), NULL
    text.beyond = text.overridden = False
    try:
        if type(query) is not dict or not put_dict(&text, query, doseq, quoting):
            text.size = 0
            put_pairs(&text, query if type(query) is list or type(query) is tuple else query.items(), doseq, quoting)
        if text.overridden:
            return None
        if text.beyond:
            return PyUnicode_DecodeUTF8(<const char *>text.data, <Py_ssize_t>text.size, "surrogatepass")
        return ascii_text(text.data, text.size)
    finally:
        PyMem_RawFree(text.heap)


def urlencode(query, doseq=False, safe='', encoding=None, errors=None, quote_via=quote_plus):
    """Write names and values as a query: urllib.parse.urlencode.

    Args:
        query (Mapping | Sequence[tuple]): The pairs; other objects than str and bytes are converted by str().
        doseq (bool): Write a field for each element of a value that is a sequence.
        safe (str | bytes): ASCII characters to leave as they are, besides A-Z a-z 0-9 - . _ ~
        encoding (str | None): The encoding of each str; None: UTF-8.
        errors (str | None): Its error handler: "strict" by default.
        quote_via (Callable): quote_plus, quote, or a function with their arguments.

    Returns:
        str: The query, without a question mark.

    Raises:
        TypeError, LookupError: As urllib.parse.urlencode.
        UnicodeEncodeError: A str cannot be encoded (a lone surrogate).

    Source: urllib.parse; HTML, application/x-www-form-urlencoded.

    >>> urlencode({"q": "a b", "n": 1, "tag": ["x", "y"]}, doseq=True)
    'q=a+b&n=1&tag=x&tag=y'
    """
    cdef Quoting quoting
    cdef Codec codec
    cdef ByteSet kept = None
    quoting.plus = quote_via is quote_plus
    codec.encoding = UTF_8
    if type(doseq) is bool and (encoding is None and errors is None or find_codec(encoding, errors, "strict", &codec)):
        if quoting.plus or quote_via is quote:
            kept = quote_set(safe, quoting.plus)
        elif quote_via is stdlib().quote_plus or quote_via is stdlib().quote:
            quoting.plus = quote_via is stdlib().quote_plus
            kept = quote_set(safe, quoting.plus)
    if kept is not None and (is_list_of_pairs(query) or type(query) is dict or hasattr(query, "items")):
        quote_via = quote_plus if quoting.plus else quote
        quoting.safe, quoting.via, quoting.given_safe = &kept.set, <PyObject *>quote_via, <PyObject *>safe
        quoting.encoding, quoting.errors = <PyObject *>encoding, <PyObject *>errors
        quoting.utf8 = codec.encoding == UTF_8 and is_default(errors, "strict")
        encoded = encode_query(query, doseq, &quoting)
        if encoded is not None:
            return encoded
    return stdlib().urlencode(query, doseq, safe, encoding, errors, quote_via)


for function in parse_qsl, parse_qs, urlencode:
    function.__module__ = "uricodec.parse"
del function
