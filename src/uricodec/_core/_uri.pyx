"""URIs and IRIs one by one: checked, taken apart and put together (RFC 3986, RFC 3987), and rows that do so."""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from uricodec._core._rows cimport UC_REFUSED, Operation, Refusal
from uricodec._core._split cimport UC_FORGET_HASH, UC_NEW_TUPLE
from uricodec._core._text cimport *
from uricodec._core._uri_grammar cimport *

from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM

from collections import namedtuple

from uricodec.errors import IriError, UriSyntaxError


# --- names --------------------------------------------------------------------------------------------------------------

CODE_NAMES = [None] * CODES
REASONS = [None] * CODES
cdef int number
for number, name, reason in (
    (SCHEME, "scheme", "no octet of a scheme, nor the \":\" behind it"),
    (USERINFO, "userinfo", "no character of a userinfo"),
    (HOST, "host", "no character of a host"),
    (HOST_DELIMITER, "host-delimiter", "stands for a delimiter in a host"),
    (IP_LITERAL, "ip-literal", "no IP literal"),
    (PORT, "port", "no digit of a port"),
    (PATH, "path", "no character of a path"),
    (PATH_COLON, "path-colon", "a \":\" in the first segment of a relative path"),
    (QUERY, "query", "no character of a query"),
    (FRAGMENT, "fragment", "no character of a fragment, or no place for one"),
    (PERCENT, "percent", "\"%\" without two hexadecimal digits"),
    (UTF8, "utf-8", "octets that are not UTF-8"),
    (SURROGATE, "surrogate", "lone surrogate"),
    (CHARACTER, "character", "a character that no IRI has"),
    (PRIVATE, "private", "a character of private use outside a query"),
    (BIDI, "bidi", "a bidirectional formatting character"),
):
    CODE_NAMES[number], REASONS[number] = name, reason
del name, reason

cdef list RULE_NAMES = [
    ["URI-reference", "URI", "absolute-URI", "relative-ref"],
    ["IRI-reference", "IRI", "absolute-IRI", "irelative-ref"],
]


cdef int rule_of(object rule, Syntax syntax) except -1:
    cdef list names = RULE_NAMES[<int>syntax]
    cdef int i
    for i in range(4):
        if names[i] == rule:
            return i
    raise ValueError(f"no rule {rule!r}; there are: {', '.join(names)}")


# --- inputs, errors -----------------------------------------------------------------------------------------------------

cdef object plain(object input):
    if type(input) is str or type(input) is bytes:
        return input
    if isinstance(input, str):
        return str.__str__(input)
    return bytes(memoryview(input))


cdef bint borrow(object text, Octets *octets, uint8_t *room) except -1:
    if type(text) is str:
        return utf8_octets(<str>text, octets, room)
    octets.data = <const uint8_t *>PyBytes_AS_STRING(text)
    octets.size = <size_t>PyBytes_GET_SIZE(text)
    octets.heap = NULL
    return True


cdef Py_ssize_t characters_before(const uint8_t *utf8, size_t offset) noexcept nogil:
    cdef size_t i
    cdef Py_ssize_t characters = 0
    for i in range(offset):
        characters += utf8[i] & 0xC0 != 0x80
    return characters


cdef int raise_refusal(object input, const uint8_t *utf8, const Refusal *refusal, object error_class) except -1:
    cdef Py_ssize_t position = <Py_ssize_t>refusal.offset
    if isinstance(input, str):
        position = characters_before(utf8, refusal.offset)
    raise error_class(REASONS[refusal.code], input, position)


cdef int raise_surrogate(object input, object error_class) except -1:
    raise error_class(REASONS[SURROGATE], input, next(i for i, c in enumerate(input) if "\ud800" <= c <= "\udfff"))


# --- rows ---------------------------------------------------------------------------------------------------------------

COLUMNS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")


cdef size_t check_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    cdef const Grammar *grammar = <const Grammar *>options
    cdef Parts parts
    return 0 if read_octets(src, n, grammar.syntax, grammar.rule, &parts, refusal) else UC_REFUSED


CHECK_ROW.row, CHECK_ROW.factor, CHECK_ROW.extra = check_row, 0, 0
SPLIT_JSONL_ROW = SPLIT_CSV_ROW = CHECK_ROW
