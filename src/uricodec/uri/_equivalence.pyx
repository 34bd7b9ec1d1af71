# distutils: extra_compile_args=-O2
"""Normal forms and equivalence of single URIs and IRIs (RFC 3986 section 6).

Two references are equivalent at a level if their normal forms at that level are equal. If not, these may be in part:

    a = b                                   equal
    form of a = form of b                   equivalent
    the same without fragments              same-document
    the same without queries, too           same-path
    the same scheme, host and port          same-origin
    the same host                           same-host
"""
cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memcmp, memcpy

from uricodec._base._text cimport *
from uricodec._rows._engine cimport *
from uricodec._rows._single cimport *
from uricodec._rows._tuples cimport *
from uricodec._url._grammar cimport URI_FAULTS, Parts, find_parts, is_well_delimited
from uricodec.uri._keys cimport KEY_EXTRA, KEY_FACTOR
from uricodec._url._normalize cimport *
from uricodec.uri._policy cimport PolicyRows, form_of_policy
from uricodec.uri._components cimport is_short
from uricodec.uri._rows cimport WORD, TupleRows, Word, fill_words, read_tuple
from uricodec._url._whatwg cimport WHATWG_FACTOR

from uricodec._rows._tuples import EACH_ROW
from uricodec.uri._policies import operation_of, ready_rows, shape_rows


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


# The operations of shapes, by what they do with the query.
cdef dict SHAPE_ROWS = shape_rows()


cdef PolicyRows rows_of_shape(object query):
    found = SHAPE_ROWS.get(query) if isinstance(query, str) else None
    if found is None:
        raise ValueError(f"query must be one of {', '.join(map(repr, SHAPE_ROWS))}, got {query!r}")
    return found


def shape(uri, query="names"):
    """Return the shape of a URL: with the class, in braces, of each path segment that identifies one resource.

    Each segment is classified by itself, so that the same URL has the same shape everywhere. It is percent-decoded, and
    its file extension is set apart: ".", a letter and up to four letters or digits, or six to eight letters; two
    extensions are, too. The classes are:

    - {int}: ASCII digits.
    - {uuid}: 8-4-4-4-12 hexadecimal digits.
    - {date}: a year, a month and a day, such as 2024-10-21.
    - {hex}: hexadecimal digits with a letter and a digit, at least 12, or an even number from 8 on.
    - {email}: an address whose domain has two labels or more, the last one of letters. A domain that begins with a
      version or a scale is that of a file: vue@3.4.js, logo@2x.png.
    - {token}: at least 16 of the characters A-Z a-z 0-9 - _ . ~ = : +, with a digit, that look drawn at random: see
      docs/guides/compare.md.

    Any other segment stays. Scheme, host and port are those of level "scheme", the fragment is dropped. Any text has a
    shape, which may not be a URI reference, because of the braces; the shape of a shape is the same. Where `normalize`
    keeps malformed parts, and without an authority if no "/" begins the path after a scheme (`mailto:`), only the fragment
    is dropped.

    Args:
        uri (str | bytes-like): The URL or reference; bytes are read as UTF-8.
        query (str): "names": the names of the parameters, sorted, each once, without values; "drop": no query; "keep":
            as at level "scheme".

    Returns:
        str | bytes: str for a str, bytes for a bytes-like object; the same object if a str or bytes is its shape.

    Raises:
        UriSyntaxError: If a str contains a lone surrogate.
        ValueError: If `query` is unknown.

    Source: RFC 3986 sections 3.3 and 6.2; RFC 9562 section 4 (UUIDs); docs/guides/compare.md.

    >>> from uricodec import uri
    >>> uri.shape("HTTPS://Example.org:443/users/1042/photos/5f4dcc3b5aa765d61d8327deb882cf99.jpg?w=80&page=2&w=3#a")
    'https://example.org/users/{int}/photos/{hex}.jpg?page&w'
    >>> uri.shape("/reset/V1StGXR8_Z5jdHi6B-myT/jo%40example.org?next=/a", query="drop")
    '/reset/{token}/{email}'
    """
    cdef Single form
    return result_of(uri, form_of_policy(rows_of_shape(query), &form), URI_FAULTS, True)


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


# --- relations --------------------------------------------------------------------------------------------------------

RELATIONS = ("equal", "equivalent", "same-document", "same-path", "same-origin", "same-host", "different")

cdef enum Relation:
    EQUAL, EQUIVALENT, SAME_DOCUMENT, SAME_PATH, SAME_ORIGIN, SAME_HOST, DIFFERENT

cdef enum:
    USUAL_FORM = KEY_FACTOR * SMALL + KEY_EXTRA + WIDE     # most forms of SMALL bytes need no more

cdef Word[7] RELATION_WORDS
fill_words(RELATION_WORDS, 7, list(RELATIONS))


# Options of the row functions.
cdef struct PairOptions:
    TupleOptions tuple          # must be first
    Single form
    bint only_equivalent


cdef inline bint is_same(const uint8_t *a, Py_ssize_t a_start, Py_ssize_t a_end, const uint8_t *b, Py_ssize_t b_start,
                         Py_ssize_t b_end) noexcept nogil:
    return a_end - a_start == b_end - b_start and memcmp(a + a_start, b + b_start, <size_t>(a_end - a_start)) == 0


cdef Relation relation_of(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) noexcept nogil:
    """Return the relation of two normal forms that differ."""
    cdef Parts x, y
    find_parts(a, a_size, &x)
    find_parts(b, b_size, &y)
    if is_same(a, 0, x.query_end, b, 0, y.query_end):
        return SAME_DOCUMENT
    if is_same(a, 0, x.path_end, b, 0, y.path_end):
        return SAME_PATH
    if x.authority < 0 or y.authority < 0:
        return DIFFERENT
    # An authority with misplaced delimiters is its own host.
    if not is_well_delimited(a, &x):
        x.host, x.host_end = x.authority, x.path
    if not is_well_delimited(b, &y):
        y.host, y.host_end = y.authority, y.path
    if not is_same(a, x.host, x.host_end, b, y.host, y.host_end):
        return DIFFERENT
    if x.scheme_end < 0 or not is_same(a, 0, x.scheme_end, b, 0, max(y.scheme_end, <Py_ssize_t>0)):
        return SAME_HOST
    return SAME_ORIGIN if is_same(a, x.host_end, x.path, b, y.host_end, y.path) else SAME_HOST


cdef int relate(const Values *values, const PairOptions *pair, Outcome *outcome) noexcept nogil:
    """Return the Relation of the two values of a row; -1 if one of them has no normal form."""
    cdef uint8_t buffer[2 * USUAL_FORM]
    cdef uint8_t *memory[2]
    cdef const uint8_t *forms[2]
    cdef size_t sizes[2]
    cdef size_t capacity[2]
    cdef const SizedRow *operation = pair.form.operation
    cdef uint8_t *heap = NULL
    cdef int i, found = DIFFERENT
    cdef bint equal = values.size[0] == values.size[1] and memcmp(values.at[0], values.at[1], <size_t>values.size[0]) == 0
    if equal and not pair.form.rejects:
        return EQUAL
    for i in range(2):
        capacity[i] = operation.factor * <size_t>values.size[i] + operation.extra + WIDE
    if capacity[0] <= USUAL_FORM and capacity[1] <= USUAL_FORM:
        memory[0], memory[1] = buffer, buffer + USUAL_FORM
    else:
        heap = <uint8_t *>PyMem_RawMalloc(capacity[0] + capacity[1])
        if heap == NULL:
            set_no_memory()  # pragma: no cover: no memory
            outcome.code = UC_RAISED  # pragma: no cover: no memory
            return -1  # pragma: no cover: no memory
        memory[0], memory[1] = heap, heap + capacity[0]
    for i in range(2):
        if pair.form.stays != NULL and pair.form.stays(values.at[i], <size_t>values.size[i], pair.form.options):
            forms[i], sizes[i] = values.at[i], <size_t>values.size[i]
            continue
        forms[i] = memory[i]
        sizes[i] = operation.row(values.at[i], <size_t>values.size[i], pair.form.options, memory[i], outcome)
        if sizes[i] == UC_REJECTED:
            if outcome.code != UC_RAISED and pair.tuple.values.packed:
                outcome.offset = place(i, outcome.offset)
            found = -1
            break
    if found < 0:
        pass
    elif equal:
        found = EQUAL
    elif sizes[0] == sizes[1] and memcmp(forms[0], forms[1], sizes[0]) == 0:
        found = EQUIVALENT
    elif not pair.only_equivalent:
        found = relation_of(forms[0], sizes[0], forms[1], sizes[1])
    PyMem_RawFree(heap)
    return found


cdef size_t equivalent_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                             Outcome *outcome) noexcept nogil:
    cdef Values values
    cdef int found
    if not read_tuple(src, n, options, &values, outcome):
        return UC_REJECTED
    found = relate(&values, <const PairOptions *>options, outcome)
    if 0 <= found <= EQUIVALENT:
        return 0
    if found > EQUIVALENT:
        outcome.code, outcome.offset = UC_FALSE, 0
    return UC_REJECTED


cdef size_t relation_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Values values
    cdef int found
    if not read_tuple(src, n, options, &values, outcome):
        return UC_REJECTED
    found = relate(&values, <const PairOptions *>options, outcome)
    if found < 0:
        return UC_REJECTED
    memcpy(dst, RELATION_WORDS[found].text, WORD)
    return RELATION_WORDS[found].size


cdef class PairRows(TupleRows):
    """Base class of the operations on two references."""
    cdef PairOptions options
    cdef object policy      # what the form refers to

    cdef int set_pair(self, object other, object level, object policy, bint text) except -1:
        if policy is not None and not isinstance(policy, str):
            self.policy = policy
        self.options.form = find_form(level, policy, &self.options.form)[0]
        self.set_values(&self.options.tuple, (EACH_ROW, other), text)
        return 0


@cython.final
cdef class EquivalentRows(PairRows):
    """Operation that compares references by their normal forms.

    Args:
        other (str | bytes-like): What they are compared with; EACH_ROW: what is in the row.
        level, policy: See `normalize`.
        text (bool): Whether rows are text.

    Source: RFC 3986 section 6.1.
    """

    def __cinit__(self, other, level, policy, text):
        self.slots.strict, self.slots.result = SizedRow(equivalent_tuple, 0, 0), WRITES_NOTHING
        self.options.only_equivalent = True
        self.set_pair(other, level, policy, text)


@cython.final
cdef class RelationRows(PairRows):
    """Operation that returns how references are related.

    Args:
        other, level, text: As in `EquivalentRows`.

    Source: RFC 3986 sections 4.4 and 6.1; RFC 6454 section 4.
    """

    def __cinit__(self, other, level, text):
        self.slots.strict = SizedRow(relation_tuple, 0, WORD)
        self.set_pair(other, level, None, text)


def relation(a, b, level="scheme"):
    """Return how two references are related.

    Args:
        a (str | bytes-like): A reference.
        b (str | bytes-like): Another one, which may be of the other type.
        level (str): What the normal forms merge: see `normalize`.

    Returns:
        str: The first of these that is true: "equal" (the same text); "equivalent" (the same normal form);
            "same-document" (the same but for the fragment); "same-path" (but for query and fragment); "same-origin" (the
            same scheme, host and port); "same-host"; "different".

    Raises:
        UriSyntaxError: If a str contains a lone surrogate, or, at level "rfc1630", a "%" is not followed by two
            hexadecimal digits.
        ValueError: If the level is unknown.

    Source: RFC 3986 sections 4.4 and 6.1; RFC 6454 section 4.

    >>> from uricodec import uri
    >>> uri.relation("http://a/b", "HTTP://a:80/b"), uri.relation("http://a/b?c", "http://a/b?c#d")
    ('equivalent', 'same-document')
    >>> uri.relation("http://a/b?c", "http://a/b"), uri.relation("http://me@a/b", "http://a/")
    ('same-path', 'same-origin')
    >>> uri.relation("http://a/", "https://a/"), uri.relation("/a", "/b")
    ('same-host', 'different')
    """
    form, other = key(a, level), key(b, level)      # raise for what has no normal form
    if same_bytes(text_of(a), text_of(b)):
        return RELATIONS[0]
    if same_bytes(form, other):
        return RELATIONS[1]
    first = form.encode() if isinstance(form, str) else form
    second = other.encode() if isinstance(other, str) else other
    return RELATIONS[<int>relation_of(
        <const uint8_t *>PyBytes_AS_STRING(first), <size_t>PyBytes_GET_SIZE(first),
        <const uint8_t *>PyBytes_AS_STRING(second), <size_t>PyBytes_GET_SIZE(second))]


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


cdef inline object call_form(vectorcall parse, object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef Single memory
    cdef const Single *form = form_in_call(args, 1, flags, names, &memory)
    if form != NULL and is_short(args[0]):
        result = short_form(args[0], form)
        if result is not None:
            return result
    return parse(function, args, flags, names)


cdef object call_normalize(object function, PyObject *const *args, size_t flags, PyObject *names):
    return call_form(parse_normalize, function, args, flags, names)


cdef object call_key(object function, PyObject *const *args, size_t flags, PyObject *names):
    return call_form(parse_key, function, args, flags, names)


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
for function in normalize, key, equivalent, relation, shape:
    function.__module__ = "uricodec.uri"        # pickled by reference to their public name
del function
