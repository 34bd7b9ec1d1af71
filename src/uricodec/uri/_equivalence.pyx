# distutils: extra_compile_args=-O2
"""Normal forms and equivalence of single URIs and IRIs (RFC 3986 section 6).

Two references are equivalent at a level if their normal forms at that level are equal.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from uricodec._base._kernels cimport ASCII_BYTES, kernels
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, Outcome, raise_set
from uricodec._base._text cimport *
from uricodec.uri._components cimport *
from uricodec.uri._keys cimport KEY_EXTRA
from uricodec.uri._normalize cimport *
from uricodec.uri._policy cimport PolicyRows
from uricodec.uri._whatwg cimport WHATWG_FACTOR

from uricodec.errors import UriSyntaxError
from uricodec.uri._policies import operation_of, ready_rows


# --- normal forms -----------------------------------------------------------------------------------------------------

# Capacity of the stack buffer for the normal form of SMALL bytes.
cdef enum:
    FORM_CAPACITY = WHATWG_FACTOR * SMALL + KEY_EXTRA     # no form needs more, but with a long base


# The operations of ready policies, by name.
cdef dict READY_ROWS = ready_rows()

cdef inline void set_level(Maker *maker, int level) noexcept:
    maker.operation, maker.options, maker.ascii_stays = &NORMALIZE_ROWS[level], FORMS + level, level == AT_IRI
    maker.rejects, maker.replaces_surrogates, maker.keeps_normal = level == AT_RFC1630, False, level <= AT_IRI


cdef inline void set_rows(Maker *maker, PolicyRows rows) noexcept:
    maker.operation, maker.options, maker.ascii_stays = &rows.slots.strict, rows.slots.options, rows.ascii_stays
    maker.rejects, maker.replaces_surrogates, maker.keeps_normal = rows.rejects, rows.replaces_surrogates, False


cdef int set_maker(Maker *maker, object level, object policy) except -1:
    cdef PolicyRows rows
    cdef PyObject *ready
    if policy is None:
        set_level(maker, level_of(level))
        return 0
    if level != "path":
        raise ValueError(f"level must not be given with a policy, got {level!r}")
    # The operation lives as long as the policy, which the caller holds.
    ready = PyDict_GetItemWithError(READY_ROWS, policy) if type(policy) is str else NULL
    rows = <PolicyRows>ready if ready != NULL else operation_of(policy)
    set_rows(maker, rows)
    return 0


cdef inline size_t capacity_for(const uint8_t *s, size_t n, const Maker *maker) except 0:
    """Return an upper bound for the size of a long text's normal form."""
    cdef size_t factor = maker.operation.factor
    if maker.ascii_stays and kernels.span(s, n, &ASCII_BYTES.set) == n:
        factor = 1
    if n > (<size_t>PY_SSIZE_T_MAX - maker.operation.extra) // factor:
        raise OverflowError("normal form may exceed the maximum object size")  # pragma: no cover: too large
    return factor * n + maker.operation.extra


cdef object raise_first(object given, str text, const Maker *maker):
    """Raise the first error of a str with a lone surrogate: an earlier one, if there is one, or the surrogate itself."""
    try:
        form_of(text[:first_surrogate(text)], maker, False)
    except UriSyntaxError as error:
        if not isinstance(error, UriSyntaxError):   # a MemoryError by now
            raise error  # pragma: no cover: no memory
        raise UriSyntaxError(error.reason, given, error.offset) from None
    raise_surrogate(given, UriSyntaxError)


cdef object form_of(object uri, const Maker *maker, bint keep_class):
    """Return the normal form for normalize() (keep_class: unchanged input is returned as the same object) or key()."""
    cdef uint8_t utf8[UTF8_CAPACITY]
    cdef uint8_t buffer[FORM_CAPACITY]
    cdef uint8_t *dst = buffer
    cdef object text = plain(uri)
    cdef Bytes source
    cdef Outcome outcome
    cdef size_t size
    if not borrow(text, &source, utf8):
        if not maker.replaces_surrogates:
            raise_first(uri, text, maker)
        text = without_surrogates(text)
        borrow(text, &source, utf8)
    try:
        if source.size <= SMALL and maker.operation.extra <= KEY_EXTRA:
            size = maker.operation.row(source.data, source.size, maker.options, dst, &outcome)
        else:
            dst = allocate(capacity_for(source.data, source.size, maker))
            with nogil:
                size = maker.operation.row(source.data, source.size, maker.options, dst, &outcome)
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


def normalize(uri, level="path", *, policy=None, base=None):
    """Return the normal form of a URI reference or IRI reference. Equivalent references have the same normal form.

    Malformed parts are not errors; they are kept unchanged: a "%" without two hexadecimal digits, bytes that are not
    UTF-8, an authority with misplaced delimiters. No level changes which components exist, except for the
    empty authority that level "scheme" adds to `file:/a`.

    Args:
        uri (str | bytes-like): The reference; bytes are read as UTF-8.
        level (str): Which differences are ignored. Each level of this list includes the ones before it:
            "simple": none.
            "case": case of the scheme, of the host, and of the hexadecimal digits in triplets. Hosts of schemes that use
                identifiers there, such as ipfs, keep their case.
            "percent": whether unreserved characters are percent-encoded.
            "path": dot segments of a path that begins with "/".
            "scheme": the scheme's default port or an empty port, and zeros before a port; an empty path after an
                authority; `file:/`, `file:///` and `file://localhost/`; case of the host of a "mailto" address; the
                spelling of an IPv6 address.
            "iri": whether a reference is an IRI or the URI that it maps to; and a host and its A-labels, in schemes
                whose hosts are DNS names.
            Two further levels are not part of the list: "rfc2396" is "percent" with the unreserved characters of RFC
            2396, and "rfc1630" normalizes percent-encoding only, by RFC 1630.
        policy (Policy | str | None): What is merged beyond a level, instead of one: see `Policy`.
        base (str | bytes-like | None): The base of relative URLs, with the policy "whatwg"; None: they are invalid.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like object; the same object if a str or bytes is already in
            normal form.

    Raises:
        UriSyntaxError: If a str contains a lone surrogate (for which the policy "whatwg" writes U+FFFD), or, at level
            "rfc1630", a "%" is not followed by two hexadecimal digits; if the policy "whatwg" or "w3lib" rejects the
            URL or the base.
        ValueError: If the level or the policy is unknown, or both are given, or a base without the policy "whatwg".

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3; RFC 5952 sections 4 and 5; RFC 2396 sections 2.3 and 6; RFC
    1630, "Unsafe characters".

    >>> normalize("eXAMPLE://a/./b/../b/%63/%7bfoo%7d")
    'example://a/b/c/%7Bfoo%7D'
    >>> normalize("http://example.com:80", "scheme"), normalize("http://example.com/a/..//b", "case")
    ('http://example.com/', 'http://example.com/a/..//b')
    >>> normalize("s:/a/..//b")     # and not s://b, where b would be the authority
    's:/.//b'
    >>> normalize("https://example.com?utm_source=x&b=2&a=1#top", policy="crawl")
    'https://example.com/?a=1&b=2'
    """
    cdef Maker maker
    cdef PolicyRows rows        # that `maker` refers to
    if base is None:
        set_maker(&maker, level, policy)
    else:
        if policy is None:
            raise ValueError(f"base is only supported with policy='whatwg', got level={level!r}")
        rows = operation_of(policy, None if level == "path" else level, base)
        set_rows(&maker, rows)
    return form_of(uri, &maker, True)


def key(uri, level="path", *, policy=None):
    """Return a key for comparing references: the normal form, which is the same for equivalent references only.

    Args:
        uri (str | bytes-like): The reference.
        level (str): See `normalize`.
        policy (Policy | str | None): See `normalize`.

    Returns:
        str | bytes: bytes for a bytes-like object, otherwise str.

    Raises:
        UriSyntaxError: As for `normalize`.
        ValueError: If the level or the policy is unknown, or both are given.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3.

    >>> key("HTTP://h/%7euser") == key("http://H/~user")
    True
    """
    cdef Maker maker
    set_maker(&maker, level, policy)
    return form_of(uri, &maker, False)


def equivalent(a, b, level="path", *, policy=None):
    """Return whether two references are equivalent.

    Args:
        a (str | bytes-like): A reference.
        b (str | bytes-like): Another reference; it may be of the other type (a str is compared by its UTF-8).
        level (str): See `normalize`.
        policy (Policy | str | None): See `normalize`.

    Returns:
        bool: Whether the normal forms are equal.

    Raises:
        UriSyntaxError: As for `normalize`.
        ValueError: If the level or the policy is unknown, or both are given.

    Source: RFC 3986 section 6.1; RFC 3987 section 5.1.

    >>> equivalent("http://example.com", "http://example.com:/", level="scheme")
    True
    >>> equivalent("http://example.com", "http://example.com/#", level="scheme")
    False
    """
    cdef Maker maker
    set_maker(&maker, level, policy)
    x, y = form_of(a, &maker, False), form_of(b, &maker, False)
    return same_bytes(x, y)


# --- calls ------------------------------------------------------------------------------------------------------------

# Fast path: most calls are f(text), f(text, level), f(text, level=level) or f(text, policy=policy). These functions handle
# them without argument parsing if the text is short, ASCII and valid, and pass all other calls on.
cdef vectorcall parse_normalize, parse_key, parse_equivalent
cdef tuple BY_LEVEL = ("level",), BY_POLICY = ("policy",)


cdef inline int maker_in_call(PyObject *const *args, Py_ssize_t texts, size_t flags, PyObject *names, Maker *maker) except -1:
    """Set what a call with this number of texts needs. Return 0 if the arguments must be parsed."""
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags), i
    cdef object name = None
    if names != NULL:
        if n != texts or len(<tuple>names) != 1:
            return 0
        name = (<tuple>names)[0]
    elif n == texts:
        set_level(maker, AT_PATH)
        return 1
    elif n != texts + 1:
        return 0
    if name is BY_POLICY[0]:
        if <object>args[texts] is None:
            return 0
        set_maker(maker, "path", <object>args[texts])
        return 1
    if name is None or name is BY_LEVEL[0]:
        for i in range(<int>LEVELS):
            if LEVEL_NAMES[i] is <object>args[texts]:
                set_level(maker, <int>i)
                return 1
    return 0


cdef inline int write_short(PyObject *text, const Maker *maker, uint8_t *buffer, size_t *size) except -1:
    """Write the normal form of a short text. Return 0 if it is invalid: the slow path raises the error."""
    cdef Outcome outcome
    size[0] = maker.operation.row(<const uint8_t *>PyUnicode_DATA(<object>text),
                                  <size_t>PyUnicode_GET_LENGTH(<object>text), maker.options, buffer, &outcome)
    if size[0] != UC_REJECTED:
        return 1
    return raise_set() if outcome.code == UC_RAISED else 0


cdef inline object short_form(PyObject *text, const Maker *maker):
    """Return the normal form of a short text; None if it is invalid: the slow path raises the error."""
    cdef uint8_t buffer[FORM_CAPACITY]
    cdef Parts parts
    cdef size_t size
    if maker.keeps_normal and is_normal(<const uint8_t *>PyUnicode_DATA(<object>text),
                                        <size_t>PyUnicode_GET_LENGTH(<object>text), &parts):
        return <object>text
    if not write_short(text, maker, buffer, &size):
        return None
    if size == <size_t>PyUnicode_GET_LENGTH(<object>text) and memcmp(buffer, PyUnicode_DATA(<object>text), size) == 0:
        return <object>text
    return ascii_text(buffer, size)


cdef object call_normalize(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef Maker maker
    if maker_in_call(args, 1, flags, names, &maker) and is_short(args[0]):
        form = short_form(args[0], &maker)
        if form is not None:
            return form
    return parse_normalize(function, args, flags, names)


cdef object call_key(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef Maker maker
    if maker_in_call(args, 1, flags, names, &maker) and is_short(args[0]):
        form = short_form(args[0], &maker)
        if form is not None:
            return form
    return parse_key(function, args, flags, names)


cdef object call_equivalent(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef Maker maker
    cdef uint8_t buffer_a[FORM_CAPACITY]
    cdef uint8_t buffer_b[FORM_CAPACITY]
    cdef size_t a, b
    if maker_in_call(args, 2, flags, names, &maker) and is_short(args[0]) and is_short(args[1]):
        if write_short(args[0], &maker, buffer_a, &a) and write_short(args[1], &maker, buffer_b, &b):
            return a == b and memcmp(buffer_a, buffer_b, a) == 0
    return parse_equivalent(function, args, flags, names)


parse_normalize = take_calls(normalize, call_normalize)
parse_key = take_calls(key, call_key)
parse_equivalent = take_calls(equivalent, call_equivalent)
for function in normalize, key, equivalent:
    function.__module__ = "uricodec.uri"        # pickled by reference to their public name
del function
