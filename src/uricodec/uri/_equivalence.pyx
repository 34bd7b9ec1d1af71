"""Normal forms and equivalence of single URIs and IRIs (RFC 3986 section 6).

Two references are equivalent at a level if their normal forms at that level are equal.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec._rows._operation cimport UC_RAISED, UC_REJECTED, Outcome, raise_set
from uricodec._base._text cimport *
from uricodec.uri._components cimport *
from uricodec.uri._normalize cimport *

from uricodec.errors import UriSyntaxError


# --- levels -----------------------------------------------------------------------------------------------------------

cdef list LEVEL_NAMES = ["simple", "case", "percent", "path", "scheme", "iri", "rfc1630", "rfc2396"]


cdef int level_of(object level) except -1:
    cdef int i
    for i in range(<int>LEVELS):
        if LEVEL_NAMES[i] is level:
            return i
    for i in range(<int>LEVELS):
        if LEVEL_NAMES[i] == level:
            return i
    raise ValueError(f"unknown level {level!r}; choose from {', '.join(LEVEL_NAMES)}")


# --- normal forms -----------------------------------------------------------------------------------------------------

cdef ByteSet ASCII = ByteSet(range(128))

# Capacity of the stack buffer for the normal form of SMALL bytes.
cdef enum:
    FORM_CAPACITY = 3 * SMALL + FORM_EXTRA


cdef inline size_t capacity_for(const uint8_t *s, size_t n, int level) except 0:
    """Return an upper bound for the size of a long text's normal form. ASCII only grows at level "rfc1630"."""
    cdef size_t factor = NORMALIZE_ROWS[level].factor
    if level == AT_IRI and kernels.span(s, n, &ASCII.set) == n:
        factor = 1
    if n > (<size_t>PY_SSIZE_T_MAX - NORMALIZE_ROWS[level].extra) // factor:
        raise OverflowError("normal form may exceed the maximum object size")  # pragma: no cover: too large
    return factor * n + NORMALIZE_ROWS[level].extra


cdef object raise_first(object given, str text, int level):
    """Raise the first error of a str with a lone surrogate: an earlier one, if there is one, or the surrogate itself."""
    try:
        form_of(text[:first_surrogate(text)], level, False)
    except UriSyntaxError as error:
        if not isinstance(error, UriSyntaxError):   # a MemoryError by now
            raise error
        raise UriSyntaxError(error.reason, given, error.offset) from None
    raise_surrogate(given, UriSyntaxError)


cdef object form_of(object uri, int level, bint keep_class):
    """Return the normal form for normalize() (keep_class: unchanged input is returned as the same object) or key()."""
    cdef uint8_t utf8[UTF8_CAPACITY]
    cdef uint8_t buffer[FORM_CAPACITY]
    cdef uint8_t *dst = buffer
    cdef object text = plain(uri)
    cdef Bytes source
    cdef Outcome outcome
    cdef size_t size
    if not borrow(text, &source, utf8):
        raise_first(uri, text, level)
    try:
        if source.size <= SMALL:
            size = NORMALIZE_ROWS[level].row(source.data, source.size, FORMS + level, dst, &outcome)
        else:
            dst = allocate(capacity_for(source.data, source.size, level))
            with nogil:
                size = NORMALIZE_ROWS[level].row(source.data, source.size, FORMS + level, dst, &outcome)
        if size == UC_REJECTED:
            if outcome.code == UC_RAISED:
                raise_set()
            raise_rejection(uri, source.data, &outcome, UriSyntaxError)
        if size == source.size and memcmp(dst, source.data, size) == 0:
            return uri if keep_class and isinstance(uri, (str, bytes)) else text
        if type(text) is str and not PyUnicode_IS_ASCII(text):
            return PyUnicode_DecodeUTF8(<const char *>dst, <Py_ssize_t>size, NULL)
        return text_or_bytes(type(text) is str, dst, size)
    finally:
        if dst != buffer:
            PyMem_RawFree(dst)
        release(&source)


def normalize(uri, level="path"):
    """Return the normal form of a URI reference or IRI reference. Equivalent references have the same normal form.

    Malformed parts are not errors; they are kept unchanged: a "%" without two hexadecimal digits, bytes that are not
    UTF-8, an authority with misplaced delimiters. No level changes the structure (which components exist).

    Args:
        uri (str | bytes-like): The reference; bytes are read as UTF-8.
        level (str): Which differences are ignored. Each level of this list includes the ones before it:
            "simple": none.
            "case": case of the scheme, of the host, and of the hexadecimal digits in triplets.
            "percent": whether unreserved characters are percent-encoded.
            "path": dot segments of a path that begins with "/".
            "scheme": the scheme's default port or an empty port; an empty path after an authority; case of the host of
                a
            "mailto" address; the spelling of an IPv6 address.
            "iri": whether a reference is an IRI or the URI that it maps to.
            Two further levels are not part of the list: "rfc2396" is "percent" with the unreserved characters of RFC
            2396, and "rfc1630" normalizes percent-encoding only, by RFC 1630.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like object; the same object if a str or bytes is already in
            normal form.

    Raises:
        UriSyntaxError: If a str contains a lone surrogate, or, at level "rfc1630", a "%" is not followed by two
            hexadecimal digits.
        ValueError: If the level is unknown.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3; RFC 5952 sections 4 and 5; RFC 2396 sections 2.3 and 6; RFC
        1630,
        "Unsafe characters".

    >>> normalize("eXAMPLE://a/./b/../b/%63/%7bfoo%7d")
    'example://a/b/c/%7Bfoo%7D'
    >>> normalize("http://example.com:80", "scheme"), normalize("http://example.com/a/..//b", "case")
    ('http://example.com/', 'http://example.com/a/..//b')
    >>> normalize("s:/a/..//b")     # and not s://b, where b would be the authority
    's:/.//b'
    """
    return form_of(uri, level_of(level), True)


def key(uri, level="path"):
    """Return a key for comparing references: the normal form, which is the same for equivalent references only.

    Args:
        uri (str | bytes-like): The reference.
        level (str): See `normalize`.

    Returns:
        str | bytes: bytes for a bytes-like object, otherwise str.

    Raises:
        UriSyntaxError: If a str contains a lone surrogate, or, at level "rfc1630", a "%" is not followed by two
            hexadecimal digits.
        ValueError: If the level is unknown.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3.

    >>> key("HTTP://h/%7euser") == key("http://H/~user")
    True
    """
    return form_of(uri, level_of(level), False)


def equivalent(a, b, level="path"):
    """Return whether two references are equivalent.

    Args:
        a (str | bytes-like): A reference.
        b (str | bytes-like): Another reference; it may be of the other type (a str is compared by its UTF-8).
        level (str): See `normalize`.

    Returns:
        bool: Whether the normal forms are equal.

    Raises:
        UriSyntaxError: If a str contains a lone surrogate, or, at level "rfc1630", a "%" is not followed by two
            hexadecimal digits.
        ValueError: If the level is unknown.

    Source: RFC 3986 section 6.1; RFC 3987 section 5.1.

    >>> equivalent("http://example.com", "http://example.com:/", level="scheme")
    True
    >>> equivalent("http://example.com", "http://example.com/#", level="scheme")
    False
    """
    cdef int at = level_of(level)
    x, y = form_of(a, at, False), form_of(b, at, False)
    return x == y if type(x) is type(y) else as_bytes(x) == as_bytes(y)


cdef bytes as_bytes(object form):
    return form if type(form) is bytes else (<str>form).encode("utf-8")


# --- calls ------------------------------------------------------------------------------------------------------------

# Fast path: most calls are f(text) or f(text, level), with level as positional or keyword argument. These functions
# handle them without argument parsing if the text is short, ASCII and valid, and pass all other calls on.
cdef vectorcall parse_normalize, parse_key, parse_equivalent
cdef tuple BY_NAME = ("level",)


cdef inline int level_in_call(PyObject *const *args, Py_ssize_t texts, size_t flags, PyObject *names) except -2:
    """Return the level of a call with this number of texts; -1 if the arguments must be parsed."""
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags), i
    if names == NULL and n == texts:
        return AT_PATH
    if names == NULL and n == texts + 1 or names != NULL and n == texts and (
            len(<tuple>names) == 1 and (<tuple>names)[0] is BY_NAME[0]):
        for i in range(<int>LEVELS):
            if LEVEL_NAMES[i] is <object>args[texts]:
                return <int>i
    return -1


cdef inline int write_short(PyObject *text, int level, uint8_t *buffer, size_t *size) except -1:
    """Write the normal form of a short text. Return 0 if it is invalid: the slow path raises the error."""
    cdef Outcome outcome
    size[0] = NORMALIZE_ROWS[level].row(<const uint8_t *>PyUnicode_DATA(<object>text),
                                        <size_t>PyUnicode_GET_LENGTH(<object>text), FORMS + level, buffer, &outcome)
    if size[0] != UC_REJECTED:
        return 1
    return raise_set() if outcome.code == UC_RAISED else 0


cdef inline object short_form(PyObject *text, int level):
    """Return the normal form of a short text; None if it is invalid: the slow path raises the error."""
    cdef uint8_t buffer[FORM_CAPACITY]
    cdef size_t size
    if not write_short(text, level, buffer, &size):
        return None
    if size == <size_t>PyUnicode_GET_LENGTH(<object>text) and memcmp(buffer, PyUnicode_DATA(<object>text), size) == 0:
        return <object>text
    return ascii_text(buffer, size)


cdef object call_normalize(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef int level = level_in_call(args, 1, flags, names)
    if level >= 0 and is_short(args[0]):
        form = short_form(args[0], level)
        if form is not None:
            return form
    return parse_normalize(function, args, flags, names)


cdef object call_key(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef int level = level_in_call(args, 1, flags, names)
    if level >= 0 and is_short(args[0]):
        form = short_form(args[0], level)
        if form is not None:
            return form
    return parse_key(function, args, flags, names)


cdef object call_equivalent(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef int level = level_in_call(args, 2, flags, names)
    cdef uint8_t buffer_a[FORM_CAPACITY]
    cdef uint8_t buffer_b[FORM_CAPACITY]
    cdef size_t a, b
    if level >= 0 and is_short(args[0]) and is_short(args[1]):
        if write_short(args[0], level, buffer_a, &a) and write_short(args[1], level, buffer_b, &b):
            return a == b and memcmp(buffer_a, buffer_b, a) == 0
    return parse_equivalent(function, args, flags, names)


parse_normalize = take_calls(normalize, call_normalize)
parse_key = take_calls(key, call_key)
parse_equivalent = take_calls(equivalent, call_equivalent)
for function in normalize, key, equivalent:
    function.__module__ = "uricodec.uri"        # pickled by reference to their public name
del function
