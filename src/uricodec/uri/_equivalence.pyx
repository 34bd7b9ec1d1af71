"""URIs and IRIs compared: normal forms as objects, equivalence being equality of them (RFC 3986 section 6)."""
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

# Room on the stack for the form of SMALL octets.
cdef enum:
    FORM_ROOM = 3 * SMALL + FORM_EXTRA


cdef inline size_t room_for(const uint8_t *s, size_t n, int level) except 0:
    """Octets that the form of a long text may need; ASCII grows at one level only."""
    cdef size_t factor = NORMALIZE_ROWS[level].factor
    if level == AT_IRI and kernels.span(s, n, &ASCII.set) == n:
        factor = 1
    if n > (<size_t>PY_SSIZE_T_MAX - NORMALIZE_ROWS[level].extra) // factor:
        raise OverflowError("normal form may exceed the maximum object size")  # pragma: no cover: too large
    return factor * n + NORMALIZE_ROWS[level].extra


cdef object raise_first(object given, str text, int level):
    """For a str with a surrogate: that is the error, or what is found before it."""
    try:
        form_of(text[:first_surrogate(text)], level, False)
    except UriSyntaxError as error:
        if not isinstance(error, UriSyntaxError):   # a MemoryError by now
            raise error
        raise UriSyntaxError(error.reason, given, error.position) from None
    raise_surrogate(given, UriSyntaxError)


cdef object form_of(object uri, int level, bint keep_class):
    """What normalize or key returns."""
    cdef uint8_t utf8[UTF8_ROOM]
    cdef uint8_t room[FORM_ROOM]
    cdef uint8_t *dst = room
    cdef object text = plain(uri)
    cdef Octets octets
    cdef Outcome outcome
    cdef size_t size
    if not borrow(text, &octets, utf8):
        raise_first(uri, text, level)
    try:
        if octets.size <= SMALL:
            size = NORMALIZE_ROWS[level].row(octets.data, octets.size, FORMS + level, dst, &outcome)
        else:
            dst = allocate(room_for(octets.data, octets.size, level))
            with nogil:
                size = NORMALIZE_ROWS[level].row(octets.data, octets.size, FORMS + level, dst, &outcome)
        if size == UC_REJECTED:
            if outcome.code == UC_RAISED:
                raise_set()
            raise_refusal(uri, octets.data, &outcome, UriSyntaxError)
        if size == octets.size and memcmp(dst, octets.data, size) == 0:
            return uri if keep_class and isinstance(uri, (str, bytes)) else text
        if type(text) is str and not PyUnicode_IS_ASCII(text):
            return PyUnicode_DecodeUTF8(<const char *>dst, <Py_ssize_t>size, NULL)
        return text_or_bytes(type(text) is str, dst, size)
    finally:
        if dst != room:
            PyMem_RawFree(dst)
        release(&octets)


def normalize(uri, level="path"):
    """The normal form of a URI reference or IRI reference, which is the same for all that are equivalent to it.

    What is malformed is no error but stands for itself: a "%" without two digits, octets that are not UTF-8, an
    authority whose delimiters are out of place. No level changes which components there are.

    Args:
        uri (str | bytes-like): The reference; of bytes, an IRI in UTF-8.
        level (str): Which differences vanish. "simple": none. "case": the case of the scheme, of the host and of the
            digits of triplets. "percent": also whether unreserved characters are encoded. "path": also dot segments
            of a path that begins with "/". "scheme": also the port that the scheme assumes, or an empty one; an empty
            path after an authority; the case of the host of a "mailto" address; how an IPv6 address is spelled. "iri":
            also what separates an IRI from the URI that it maps to. Beside them, "rfc2396": as "percent", by the
            unreserved characters of RFC 2396, and "rfc1630": the encoding level alone.

    Returns:
        str | bytes: Of the kind that came in, bytes for a bytes-like; the same object if a str or bytes does not
            change.

    Raises:
        UriSyntaxError: A lone surrogate; at level "rfc1630", a "%" that begins no triplet.
        ValueError: There is no such level.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3; RFC 5952 sections 4 and 5; RFC 2396 sections 2.3 and 6; RFC 1630,
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
    """What references have in common exactly if they are equivalent: their normal form.

    Args:
        uri (str | bytes-like): The reference.
        level (str): As of `normalize`.

    Returns:
        str | bytes: bytes for a bytes-like, otherwise str.

    Raises:
        UriSyntaxError: A lone surrogate; at level "rfc1630", a "%" that begins no triplet.
        ValueError: There is no such level.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3.

    >>> key("HTTP://h/%7euser") == key("http://H/~user")
    True
    """
    return form_of(uri, level_of(level), False)


def equivalent(a, b, level="path"):
    """Whether two references are equivalent.

    Args:
        a (str | bytes-like): A reference.
        b (str | bytes-like): Another one, not necessarily of the same type: bytes are compared with UTF-8.
        level (str): As of `normalize`.

    Returns:
        bool: Whether their normal forms are the same.

    Raises:
        UriSyntaxError: A lone surrogate; at level "rfc1630", a "%" that begins no triplet.
        ValueError: There is no such level.

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

# f(text) and f(text, level), level by its place or its name, are what most calls are. These take them before any
# argument is parsed, if the text is short and ASCII and all goes well, and leave all others to the functions.
cdef vectorcall parse_normalize, parse_key, parse_equivalent
cdef tuple BY_NAME = ("level",)


cdef inline int level_in_call(PyObject *const *args, Py_ssize_t texts, size_t flags, PyObject *names) except -2:
    """The level of a call with so many texts; -1 if it is to be parsed."""
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags), i
    if names == NULL and n == texts:
        return AT_PATH
    if names == NULL and n == texts + 1 or names != NULL and n == texts and (
            len(<tuple>names) == 1 and (<tuple>names)[0] is BY_NAME[0]):
        for i in range(<int>LEVELS):
            if LEVEL_NAMES[i] is <object>args[texts]:
                return <int>i
    return -1


cdef inline int write_short(PyObject *text, int level, uint8_t *room, size_t *size) except -1:
    """Write the form of a short text. 0 for what raises."""
    cdef Outcome outcome
    size[0] = NORMALIZE_ROWS[level].row(<const uint8_t *>PyUnicode_DATA(<object>text),
                                        <size_t>PyUnicode_GET_LENGTH(<object>text), FORMS + level, room, &outcome)
    if size[0] != UC_REJECTED:
        return 1
    return raise_set() if outcome.code == UC_RAISED else 0


cdef inline object short_form(PyObject *text, int level):
    """The form of a short text; None for what raises."""
    cdef uint8_t room[FORM_ROOM]
    cdef size_t size
    if not write_short(text, level, room, &size):
        return None
    if size == <size_t>PyUnicode_GET_LENGTH(<object>text) and memcmp(room, PyUnicode_DATA(<object>text), size) == 0:
        return <object>text
    return ascii_text(room, size)


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
    cdef uint8_t room_a[FORM_ROOM]
    cdef uint8_t room_b[FORM_ROOM]
    cdef size_t a, b
    if level >= 0 and is_short(args[0]) and is_short(args[1]):
        if write_short(args[0], level, room_a, &a) and write_short(args[1], level, room_b, &b):
            return a == b and memcmp(room_a, room_b, a) == 0
    return parse_equivalent(function, args, flags, names)


parse_normalize = take_calls(normalize, call_normalize)
parse_key = take_calls(key, call_key)
parse_equivalent = take_calls(equivalent, call_equivalent)
for function in normalize, key, equivalent:
    function.__module__ = "uricodec.uri"        # pickled by reference to where users find them
del function
