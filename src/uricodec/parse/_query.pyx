"""Query strings: urllib.parse's parse_qsl, parse_qs and urlencode.

The fast paths take a str (no subclass) in UTF-8 with a separator of one ASCII character, and pairs of str, bytes, int,
float, bool or None; everything else, and every error, is the stdlib's own function.
"""
from uricodec._base._kernels cimport ByteSet, kernels, remove_octet, uc_lowest_bit, uc_set
from uricodec._codec._percent cimport decode_text, quote_set
from uricodec.parse._quote cimport stdlib
from uricodec._base._text cimport *
from uricodec.parse import _quote

from libc.stdint cimport uint64_t

from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject_Str

cimport cython


cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object mapping, object key) except? NULL


# --- parse ----------------------------------------------------------------------------------------------------------

cdef inline str decode_field(const uint8_t *src, Py_ssize_t n, bint work):
    return decode_text(src, <size_t>n, True, NULL) if work else ascii_text(src, <size_t>n)


cdef inline int put(object result, bint grouped, str name, str value) except -1:
    """Appends a pair to a list, or a value to the list of its name in a dict."""
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
    WINDOW = 1024       # octets that are marked at once,
    WORDS = 16          # and the words of their marks


# A field that is being read.
cdef struct Field:
    const uint8_t *name
    const uint8_t *value    # NULL before the first '='
    bint name_work          # something to decode
    bint value_work


cdef inline bint end_field(object result, bint grouped, const Field *field, const uint8_t *end, bint keep_blank,
                           bint strict) except -1:
    """Puts a field into the result, if it counts; False where strict parsing must fail."""
    cdef str name
    if field.value == NULL:
        if keep_blank and field.name != end and not strict:
            put(result, grouped, decode_field(field.name, end - field.name, field.name_work), "")
        return not strict
    if keep_blank or field.value != end:
        name = decode_field(field.name, field.value - 1 - field.name, field.name_work)
        put(result, grouped, name, decode_field(field.value, end - field.value, field.value_work))
    return True


cdef object parse_ascii(str text, uint8_t separator, bint keep_blank, bint strict, bint grouped):
    """The fields of a str of ASCII; None where strict parsing must fail."""
    cdef const uint8_t *src = <const uint8_t *>PyUnicode_DATA(text)
    cdef const uint8_t *at
    cdef size_t n = <size_t>PyUnicode_GET_LENGTH(text), start, size, word
    cdef uint64_t marks[WORDS]
    cdef uint64_t bits
    cdef uc_set set
    cdef const uc_set *plain = &NO_MARK_OR_AMPERSAND.set
    cdef Field field = [src, NULL, False, False]
    cdef object result = {} if grouped else []
    if separator != c'&':
        set = NO_MARK.set
        remove_octet(&set, separator)
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
                    if not end_field(result, grouped, &field, at, keep_blank, strict):
                        return None
                    field = [at + 1, NULL, False, False]
                elif at[0] != c'=':
                    if field.value == NULL:
                        field.name_work = True
                    else:
                        field.value_work = True
                elif field.value == NULL:
                    field.value = at + 1
    return result if end_field(result, grouped, &field, src + n, keep_blank, strict) else None


cdef object parse_text(str text, str separator, bint keep_blank, bint strict, bint grouped):
    """The same for any other str."""
    cdef object result = {} if grouped else []
    for field in text.split(separator):
        if not field and not strict:
            continue
        name, equals, value = (<str>field).partition("=")
        if strict and not equals:
            return None
        if value or keep_blank:
            put(result, grouped, _quote.unquote_plus(name), _quote.unquote_plus(value))
    return result


cdef object parse(object text, object keep_blank, object strict, object encoding, object errors, object max_fields,
                  object separator, bint grouped):
    """The fields of a query as a list of pairs, or grouped in a dict; None if that is the stdlib's work."""
    cdef Py_UCS4 by
    if not (type(text) is str and type(separator) is str and len(<str>separator) == 1
            and type(keep_blank) is bool and type(strict) is bool
            and (encoding is UTF8 or type(encoding) is str and <str>encoding == "utf-8")
            and (errors is REPLACE or type(errors) is str and <str>errors == "replace")):
        return None
    by = (<str>separator)[0]
    PyUnicode_READY(text)
    if not text or by > 127:
        return None if text or strict or max_fields is not None else {} if grouped else []
    if max_fields is not None:
        if type(max_fields) is not int or max_fields < 1 + (<str>text).count(separator):
            return None
    if PyUnicode_IS_ASCII(text):
        return parse_ascii(<str>text, <uint8_t>by, keep_blank, strict, grouped)
    return parse_text(<str>text, <str>separator, keep_blank, strict, grouped)


PARSE_DOC = """{first}

    Args:
        qs (str | bytes): The query, without its question mark.
        keep_blank_values (bool): Keep the fields without a value.
        strict_parsing (bool): Raise ValueError for a field without '='; otherwise it is ignored.
        encoding (str): Of the decoded octets.
        errors (str): Its error handler.
        max_num_fields (int | None): Raise ValueError when there are more fields.
        separator (str): Between fields.

    Returns:
        {returns}

    Raises:
        ValueError, TypeError: As urllib.parse.{name}.

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
    returns="list[tuple[str, str]]: Name and value of each field.",
    name="parse_qsl",
    example="[('q', 'a b'), ('lang', '\u00e9'), ('q', 'c')]",
)
parse_qs.__doc__ = PARSE_DOC.format(
    first="Split a query into its decoded fields, grouped by name: urllib.parse.parse_qs.",
    returns="dict[str, list[str]]: The values of each name.",
    name="parse_qs",
    example="{'q': ['a b', 'c'], 'lang': ['\u00e9']}",
)
cdef object UTF8 = parse_qs.__defaults__[2]
cdef object REPLACE = parse_qs.__defaults__[3]


# --- encode ---------------------------------------------------------------------------------------------------------

# A text under construction: in `room` while it fits, then on the heap.
cdef struct Text:
    uint8_t *data
    size_t size
    size_t cap
    uint8_t *heap
    uint8_t room[2048]


cdef int reserve(Text *text, size_t more) except -1:
    """Make room for `more` octets."""
    cdef uint8_t *larger
    cdef size_t cap
    if more <= text.cap - text.size:
        return 0
    if more > <size_t>PY_SSIZE_T_MAX - text.size:
        raise OverflowError("the encoded query is longer than a str can be")  # pragma: no cover: too large
    cap = max(text.size + more, min(2 * text.cap, <size_t>PY_SSIZE_T_MAX))
    larger = allocate(cap)
    memcpy(larger, text.data, text.size)
    PyMem_RawFree(text.heap)
    text.data = text.heap = larger
    text.cap = cap
    return 0


cdef int put_octet(Text *text, uint8_t octet) except -1:
    reserve(text, 1)
    text.data[text.size] = octet
    text.size += 1
    return 0


cdef int put_encoded(Text *text, const uint8_t *src, size_t n, const uc_set *safe, bint plus) except -1:
    # Room for the kernel's wide stores as well, so that short texts do not take its slow end.
    reserve(text, encoded_size(n, n) + 128 if n <= SMALL else encoded_size(n, kernels.count_outside(src, n, safe)))
    text.size += kernels.encode(src, n, safe, plus, text.data + text.size, text.cap - text.size)
    return 0


cdef bint put_scalar(Text *text, object value, const uc_set *safe, bint plus) except -1:
    """Appends a key or value, encoded; False for a str with a surrogate."""
    cdef uint8_t room[UTF8_ROOM]
    cdef Octets octets
    if type(value) is bytes:
        put_encoded(text, <const uint8_t *>PyBytes_AS_STRING(value), <size_t>PyBytes_GET_SIZE(value), safe, plus)
        return True
    if type(value) is not str:
        value = PyObject_Str(value)
    if not utf8_octets(<str>value, &octets, room):
        return False
    try:
        put_encoded(text, octets.data, octets.size, safe, plus)
    finally:
        release(&octets)
    return True


cdef inline bint is_scalar(object value) noexcept:
    """A value whose text no user's code can have a say in, so that it may be asked for twice."""
    return (type(value) is str or type(value) is int or type(value) is bytes or type(value) is float
            or type(value) is bool or value is None)


cdef bint put_pair(Text *text, object key, object value, bint doseq, const uc_set *safe, bint plus) except -1:
    """Appends key=value, or one for each element of a sequence; False if that is the stdlib's work."""
    if doseq and (type(value) is list or type(value) is tuple):
        value = tuple(value)    # a list may become shorter meanwhile
        for element in <tuple>value:
            if not put_pair(text, key, element, False, safe, plus):
                return False
        # Even if there was no element, the stdlib looks at the key, which may be an error.
        return len(value) > 0 or type(key) is bytes or type(key) is str and PyUnicode_IS_ASCII(key)
    if not is_scalar(key) or not is_scalar(value):
        return False
    if text.size:
        put_octet(text, c'&')
    if not put_scalar(text, key, safe, plus):
        return False
    put_octet(text, c'=')
    return put_scalar(text, value, safe, plus)


cdef bint put_pairs(Text *text, object query, bint doseq, const uc_set *safe, bint plus) except -1:
    cdef Py_ssize_t position = 0
    cdef PyObject *key
    cdef PyObject *value
    cdef object pair, name, own
    if type(query) is dict:
        with cython.critical_section(query):
            while PyDict_Next(query, &position, &key, &value):
                name, own = <object>key, <object>value      # the dict may drop them: a long number becomes text in Python
                if not put_pair(text, name, own, doseq, safe, plus):
                    return False
        return True
    for pair in tuple(query):
        if type(pair) is not tuple or len(<tuple>pair) != 2:
            return False
        if not put_pair(text, (<tuple>pair)[0], (<tuple>pair)[1], doseq, safe, plus):
            return False
    return True


def urlencode(query, doseq=False, safe='', encoding=None, errors=None, quote_via=_quote.quote_plus):
    """Make a query of names and values: urllib.parse.urlencode.

    Args:
        query (Mapping | Sequence[tuple]): The pairs; what is neither str nor bytes is turned into a str.
        doseq (bool): A value that is a sequence makes a field for each element.
        safe (str | bytes): ASCII characters to leave as they are, besides A-Z a-z 0-9 - . _ ~
        encoding (str | None): Of str: UTF-8 by default.
        errors (str | None): Its error handler: "strict" by default.
        quote_via (Callable): quote_plus, quote, or a function with their arguments.

    Returns:
        str: The query, without a question mark.

    Raises:
        TypeError: As urllib.parse.urlencode.
        UnicodeEncodeError: A str cannot be encoded (a lone surrogate).

    Source: urllib.parse; HTML, application/x-www-form-urlencoded.

    >>> urlencode({"q": "a b", "n": 1, "tag": ["x", "y"]}, doseq=True)
    'q=a+b&n=1&tag=x&tag=y'
    """
    cdef Text text
    cdef ByteSet octets = None
    cdef bint plus = quote_via is _quote.quote_plus
    if (encoding is None and errors is None and type(doseq) is bool
            and (type(query) is dict or type(query) is list or type(query) is tuple)):
        if plus or quote_via is _quote.quote:
            octets = quote_set(safe, plus)
        elif quote_via is stdlib().quote_plus or quote_via is stdlib().quote:
            plus = quote_via is stdlib().quote_plus
            octets = quote_set(safe, plus)
    if octets is not None:
        text.data, text.size, text.cap, text.heap = text.room, 0, sizeof(text.room), NULL
        try:
            if put_pairs(&text, query, doseq, &octets.set, plus):
                return ascii_text(text.data, text.size)
        finally:
            PyMem_RawFree(text.heap)
    return stdlib().urlencode(query, doseq, safe, encoding, errors, quote_via)


for function in parse_qsl, parse_qs, urlencode:
    function.__module__ = "uricodec.parse"
del function
