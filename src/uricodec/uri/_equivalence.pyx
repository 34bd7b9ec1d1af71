# distutils: extra_compile_args=-O2
"""Normal forms and equivalence of single URIs and IRIs (RFC 3986 section 6).

Two references are equivalent at a level if their normal forms at that level are equal.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from uricodec._base._text cimport *
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, Outcome, reraise
from uricodec._rows._single cimport *
from uricodec._url._grammar cimport URI_FAULTS, Parts
from uricodec.uri._keys cimport KEY_EXTRA
from uricodec.uri._normalize cimport *
from uricodec.uri._policy cimport PolicyRows
from uricodec.uri._resolve cimport is_short
from uricodec.uri._whatwg cimport WHATWG_FACTOR

from cpython.tuple cimport PyTuple_GET_SIZE

from uricodec.uri._policies import operation_of, ready_rows


# --- normal forms -----------------------------------------------------------------------------------------------------

# The operations of ready policies, by name.
cdef dict READY_ROWS = ready_rows()


cdef bint is_normal_form(const uint8_t *s, size_t n, const void *options) noexcept nogil:
    cdef Parts parts
    return is_normal(s, n, &parts)


cdef Single LEVEL_FORMS[LEVELS]
cdef int at
for at in range(<int>LEVELS):
    LEVEL_FORMS[at] = single_of(&NORMALIZE_ROWS[at], FORMS + at, NULL, ASCII_OF_ASCII)
    LEVEL_FORMS[at].ascii_stays, LEVEL_FORMS[at].rejects = at == AT_IRI, at == AT_RFC1630
    if at <= AT_IRI:
        LEVEL_FORMS[at].stays = is_normal_form

cdef str PATH = LEVEL_NAMES[<int>AT_PATH]


cdef inline const Single *form_of_level(object level) except NULL:
    return LEVEL_FORMS + (<int>AT_PATH if level is PATH else level_of(level))


cdef const Single *form_of_policy(PolicyRows rows, Single *form) noexcept:
    form[0] = single_of(&rows.slots.strict, rows.slots.options, NULL, ASCII_OF_ASCII)
    form.ascii_stays, form.rejects, form.replaces_surrogates = rows.ascii_stays, rows.rejects, rows.replaces_surrogates
    return form


cdef const Single *find_form(object level, object policy, Single *form) except NULL:
    cdef PyObject *ready
    if policy is None:
        return form_of_level(level)
    if level != "path":
        raise ValueError(f"level must not be given with a policy, got {level!r}")
    # The operation lives as long as the policy, which the caller holds.
    ready = PyDict_GetItemWithError(READY_ROWS, policy) if type(policy) is str else NULL
    return form_of_policy(<PolicyRows>ready if ready != NULL else operation_of(policy), form)


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
    cdef Single form
    cdef PolicyRows rows        # that `form` refers to
    if base is None:
        return result_of(uri, find_form(level, policy, &form), URI_FAULTS, True)
    if policy is None:
        raise ValueError(f"base is only supported with policy='whatwg', got level={level!r}")
    rows = operation_of(policy, None if level == "path" else level, base)
    return result_of(uri, form_of_policy(rows, &form), URI_FAULTS, True)


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
    cdef Single form
    return result_of(uri, find_form(level, policy, &form), URI_FAULTS, False)


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
    cdef Single form
    return same_results(a, b, find_form(level, policy, &form), URI_FAULTS)


# --- calls ------------------------------------------------------------------------------------------------------------

# Fast path: most calls are f(text), f(text, level), f(text, level=level) or f(text, policy=policy). These functions handle
# them without argument parsing if the text is short, ASCII and valid, and pass all other calls on.
cdef vectorcall parse_normalize, parse_key, parse_equivalent

cdef enum:
    FORM_CAPACITY = WHATWG_FACTOR * SMALL + KEY_EXTRA     # no form of SMALL bytes needs more, but with a long base

cdef str LEVEL = "level", POLICY = "policy"


cdef inline const Single *form_in_call(PyObject *const *args, Py_ssize_t texts, size_t flags, PyObject *names,
                                       Single *form) except? NULL:
    """Return what makes the form in a call with this number of texts; NULL if the arguments must be parsed."""
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    if names != NULL:
        if n != texts or PyTuple_GET_SIZE(<object>names) != 1:
            return NULL
        if PyTuple_GET_ITEM(<object>names, 0) == <PyObject *>LEVEL:
            return form_of_level(<object>args[n])
        if PyTuple_GET_ITEM(<object>names, 0) == <PyObject *>POLICY:
            return find_form(PATH, <object>args[n], form)
        return NULL
    if n == texts:
        return LEVEL_FORMS + <int>AT_PATH
    return form_of_level(<object>args[texts]) if n == texts + 1 else NULL


cdef inline bint write_short(PyObject *text, const Single *form, uint8_t *buffer, size_t *size) except -1:
    """Write the normal form of a short text. False: it is invalid, and the slow path raises the error."""
    cdef Outcome outcome
    size[0] = form.operation.row(<const uint8_t *>PyUnicode_DATA(<object>text), <size_t>PyUnicode_GET_LENGTH(<object>text),
                                 form.options, buffer, &outcome)
    if size[0] == UC_REJECTED and outcome.code == UC_RAISED:
        reraise()
    return size[0] != UC_REJECTED


cdef inline object short_form(PyObject *text, const Single *form):
    """Return the normal form of a short text; None if the slow path must return it."""
    cdef uint8_t buffer[FORM_CAPACITY]
    cdef const uint8_t *s = <const uint8_t *>PyUnicode_DATA(<object>text)
    cdef size_t size, n = <size_t>PyUnicode_GET_LENGTH(<object>text)
    cdef Parts parts
    if form.stays != NULL and is_normal(s, n, &parts):
        return <object>text
    if not write_short(text, form, buffer, &size):
        return None
    return <object>text if size == n and memcmp(buffer, s, n) == 0 else ascii_text(buffer, size)


cdef object call_normalize(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef Single memory
    cdef const Single *form = form_in_call(args, 1, flags, names, &memory)
    if form != NULL and is_short(args[0]):
        result = short_form(args[0], form)
        if result is not None:
            return result
    return parse_normalize(function, args, flags, names)


cdef object call_key(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef Single memory
    cdef const Single *form = form_in_call(args, 1, flags, names, &memory)
    if form != NULL and is_short(args[0]):
        result = short_form(args[0], form)
        if result is not None:
            return result
    return parse_key(function, args, flags, names)


cdef object call_equivalent(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef Single memory
    cdef const Single *form = form_in_call(args, 2, flags, names, &memory)
    cdef uint8_t buffer_a[FORM_CAPACITY]
    cdef uint8_t buffer_b[FORM_CAPACITY]
    cdef size_t a, b
    if form != NULL and is_short(args[0]) and is_short(args[1]):
        if write_short(args[0], form, buffer_a, &a) and write_short(args[1], form, buffer_b, &b):
            return a == b and memcmp(buffer_a, buffer_b, a) == 0
    return parse_equivalent(function, args, flags, names)


parse_normalize = take_calls(normalize, call_normalize)
parse_key = take_calls(key, call_key)
parse_equivalent = take_calls(equivalent, call_equivalent)
for function in normalize, key, equivalent:
    function.__module__ = "uricodec.uri"        # pickled by reference to their public name
del function
