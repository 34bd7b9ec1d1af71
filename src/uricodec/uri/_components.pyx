# distutils: extra_compile_args=-O2
"""Single URIs and IRIs: checking, splitting and joining them, and relative references (RFC 3986, RFC 3987).

resolve() (RFC 3986 section 5.2) copies the components of the target from the base or the reference, then removes dot segments
in the written path. The partial forms of RFC 1630 give the same results in all of its printed examples; its sentence about
consecutive slashes contradicts those examples.

relativize() considers the five kinds of references. For a relative path it goes up from the directory of the base to
the deepest directory shared with the target, and down again. It returns the shortest candidate that resolves to the
target.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp, memcpy

from uricodec._base._kernels cimport lower
from uricodec._base._text cimport *
from uricodec._rows._engine cimport UC_REJECTED, Outcome, SizedRow, row_function
from uricodec._rows._single cimport *
from uricodec._url._grammar cimport *
from uricodec._url._normalize cimport GUARD, first_dot_segment, guard_slashes, remove_dot_segments, scheme_end
from uricodec._url._whatwg cimport find_fault_of_url

from collections import namedtuple

from uricodec._base.diagnostics import diagnostic
from uricodec.errors import UriSyntaxError


cdef inline Faults faults_of(Syntax syntax):
    return URI_FAULTS if syntax == URI_SYNTAX else IRI_FAULTS


cdef bint matches(object text, Syntax syntax, Production production, bint safe_host, Outcome *outcome) except -1:
    """Return whether the result of text_of() matches a production. Otherwise set `outcome`."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Parts parts
    cdef bint unsafe
    if not read_text(text, &source, buffer, syntax, production, &parts, outcome):
        return False
    unsafe = safe_host and find_unsafe(source.data, &parts, outcome)
    if unsafe and type(text) is str:
        outcome.offset = <size_t>characters_before(source.data, outcome.offset)
    release(&source)
    return not unsafe


cdef object find_fault(object input, Syntax syntax, Production production, bint safe_host, object base):
    cdef Outcome outcome
    if production == WHATWG_URL:
        return find_fault_of_url(input, base)
    if base is not None:
        raise ValueError(f"base is only supported with production='whatwg', got base={base!r}")
    if matches(text_of(input), syntax, production, safe_host, &outcome):
        return None
    return diagnostic(CODE_NAMES[outcome.code], REASONS[outcome.code], input, <Py_ssize_t>outcome.offset)


cdef inline int reference_or(object production, Syntax syntax, bint whatwg) except -1:
    """Return production_of(), at once for the default."""
    if production is ("URI-reference" if syntax == URI_SYNTAX else "IRI-reference"):
        return REFERENCE
    return production_of(production, syntax, whatwg)


def check(uri, production="URI-reference", bint safe_host=False, *, base=None):
    """Find the first fault of a URI reference.

    Args:
        uri (str | bytes-like): The text to check.
        production (str): The grammar rule it must match: "URI-reference", "URI" (with a scheme), "absolute-URI" (with a
            scheme, without a fragment) or "relative-ref"; or "whatwg": what browsers accept as a URL.
        safe_host (bool): Whether a host with a triplet that represents one of ``: / ? # [ ] @``, a backslash, a space, a
            "%", or an ASCII control character is a fault, too. The grammar allows it, and some schemes use it:
            postgresql://%2Fvar%2Frun/db. Ignored with "whatwg", which has its own rules for hosts.
        base (str | bytes-like | None): The base of relative URLs, with "whatwg"; None: they are invalid.

    Returns:
        Diagnostic | None: None if the text matches. Otherwise a code and an offset, in characters for a str, in bytes
            otherwise; if something is missing at the end, the offset is the length. The codes:
            "scheme" (missing), "userinfo", "host", "port", "path", "query", "fragment" (invalid character in that
            component, or a fragment that is not allowed), "host-delimiter" (see `safe_host`), "ip-literal" (invalid
            address in brackets, a zone, or text other than a port after it), "path-colon" (a relative path that looks
            like a scheme), "percent" ("%" not followed by two hexadecimal digits); with that production, "whatwg" alone.

    Raises:
        ValueError: If the production is unknown, or a base is given with another one than "whatwg".
        UriSyntaxError: If the base is invalid.

    Source: RFC 3986 appendix A.

    >>> check("http://example.org/a b")
    Diagnostic(code='path', offset=20, message="invalid character ' ' in path at offset 20")
    >>> check("http://example.org%2Fa")
    >>> check("http://example.org%2Fa", safe_host=True).code
    'host-delimiter'
    """
    return find_fault(uri, URI_SYNTAX, <Production>reference_or(production, URI_SYNTAX, True), safe_host, base)


def is_valid(uri, production="URI-reference", bint safe_host=False, *, base=None):
    """Return whether a text is a URI reference, or matches another production.

    Args:
        uri (str | bytes-like): The text to check.
        production (str): See `check`. With the default, relative references are valid; "URI" requires a scheme.
        safe_host (bool): See `check`.

    Returns:
        bool: Whether `check` finds no fault.

    Raises:
        ValueError: If the production is unknown, or a base is given with another one than "whatwg".
        UriSyntaxError: If the base is invalid.

    Source: RFC 3986 appendix A.

    >>> is_valid("http://example.org/"), is_valid("/a"), is_valid("/a", production="URI"), is_valid("http://[::1%25eth0]/")
    (True, True, False, False)
    """
    cdef Outcome outcome
    cdef Production rule = <Production>reference_or(production, URI_SYNTAX, True)
    if rule == WHATWG_URL or base is not None:
        return find_fault(uri, URI_SYNTAX, rule, safe_host, base) is None
    return matches(text_of(uri), URI_SYNTAX, rule, safe_host, &outcome)


def check_iri(iri, production="IRI-reference", bint safe_host=False):
    """Find the first fault of an IRI reference.

    Args:
        iri (str | bytes-like): The text to check; bytes are read as UTF-8.
        production (str): The grammar rule it must match: "IRI-reference", "IRI" (with a scheme), "absolute-IRI" (with a
            scheme, without a fragment) or "irelative-ref".
        safe_host (bool): As in `uricodec.uri.check`; characters of an authority that NFKC maps to a delimiter are faults, too.

    Returns:
        Diagnostic | None: None if the text matches. Otherwise a code and an offset, in characters for a str, in bytes
            otherwise. The codes are those of `uricodec.uri.check`. Further ones: "utf-8" (bytes are not UTF-8), "surrogate" (a str
            contains a lone surrogate), "character" (a character beyond ASCII that is not allowed in IRIs), "private" (a
            private-use character outside the query), "bidi" (one of the seven bidirectional formatting characters).

    Raises:
        ValueError: If the production is unknown.

    Source: RFC 3987 sections 2.2 and 4.1.

    >>> from uricodec import iri
    >>> iri.check("http://résumé.example.org/\u202ea")
    Diagnostic(code='bidi', offset=26, message='bidirectional formatting character at offset 26')
    """
    return find_fault(iri, IRI_SYNTAX, <Production>reference_or(production, IRI_SYNTAX, False), safe_host, None)


def is_valid_iri(iri, production="IRI-reference", bint safe_host=False):
    """Return whether a text is an IRI reference, or matches another production.

    Args:
        iri (str | bytes-like): The text to check; bytes are read as UTF-8.
        production (str): See `check`. With the default, relative references are valid; "IRI" requires a scheme.
        safe_host (bool): See `check`.

    Returns:
        bool: Whether `check` finds no fault.

    Raises:
        ValueError: If the production is unknown.

    Source: RFC 3987 sections 2.2 and 4.1.

    >>> from uricodec import iri
    >>> iri.is_valid("http://résumé.example.org/"), iri.is_valid("résumé"), iri.is_valid("résumé", production="IRI")
    (True, True, False)
    """
    cdef Outcome outcome
    return matches(text_of(iri), IRI_SYNTAX, <Production>reference_or(production, IRI_SYNTAX, False), safe_host, &outcome)


# --- components -------------------------------------------------------------------------------------------------------

cdef list HOST_KINDS = ["reg-name", "IPv4address", "IP-literal"]
cdef enum Subcomponent:
    OF_USERINFO, OF_HOST, OF_PORT, OF_KIND


class Components(namedtuple("Components", ["scheme", "authority", "path", "query", "fragment"], module="uricodec.uri")):
    """The components of a URI or IRI, as they are spelled: a named tuple of str or of bytes.

    An undefined component is None, which differs from an empty one: "a?" has an empty query, "a" has no query. A path
    is always defined.

    Source: RFC 3986 section 3, appendix B.

    >>> from uricodec import uri
    >>> parts = uri.split("http://me@example.org:8042/over/there?name=ferret#nose")
    >>> parts.userinfo, parts.host, parts.port, parts.host_kind
    ('me', 'example.org', '8042', 'reg-name')
    >>> uri.unsplit(parts._replace(authority="[::1]:", query=None))
    'http://[::1]:/over/there#nose'
    """

    __slots__ = ()

    @property
    def userinfo(self):
        """The part of the authority before "@"; None if it is undefined."""
        return subcomponent(self[1], OF_USERINFO)

    @property
    def host(self):
        """The host, including brackets; it may be empty. None without an authority."""
        return subcomponent(self[1], OF_HOST)

    @property
    def port(self):
        """The port as it is spelled; it may be empty. None if it is undefined."""
        return subcomponent(self[1], OF_PORT)

    @property
    def host_kind(self):
        """The kind of host: "reg-name" (a name, or empty), "IPv4address" or "IP-literal"; None without an authority."""
        return subcomponent(self[1], OF_KIND)


cdef inline object piece(object text, const uint8_t *s, Py_ssize_t start, Py_ssize_t end):
    """Return s[start:end], bytes of the text, as an object of the text's type."""
    if type(text) is not str:
        return PyBytes_FromStringAndSize(<const char *>s + start, end - start)
    if PyUnicode_IS_ASCII(text):
        return ascii_text(s + start, <size_t>(end - start))
    return utf8_text(s + start, <size_t>(end - start), NULL)


cdef object subcomponent(object authority, Subcomponent which):
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Parts parts
    cdef Outcome outcome
    cdef const uint8_t *s
    if authority is None:
        return None
    authority = text_of(authority)
    if not borrow(authority, &source, buffer):
        URI_FAULTS.raise_at(authority, SURROGATE, first_surrogate(authority))
    try:
        s = source.data
        parts.path = <Py_ssize_t>split_authority(s, source.size, 0, &parts)
        if <size_t>parts.path < source.size or not is_well_delimited(s, &parts):
            # The caller made these Components: split() only returns valid authorities.
            read_authority(s, 0, <Py_ssize_t>source.size, URI_SYNTAX, &parts, &outcome)
            URI_FAULTS.raise_outcome(authority, s, &outcome)
        if which == OF_KIND:
            return HOST_KINDS[<int>host_kind(s, parts.host, parts.host_end)]
        if which == OF_HOST:
            return piece(authority, s, parts.host, parts.host_end)
        if which == OF_USERINFO:
            return None if parts.userinfo_end < 0 else piece(authority, s, 0, parts.userinfo_end)
        return None if parts.port < 0 else piece(authority, s, parts.port, <Py_ssize_t>source.size)
    finally:
        release(&source)


# The schemes of most URIs: these objects are shared instead of created for each result.
cdef str HTTP = "http"
cdef str HTTPS = "https"


cdef inline object scheme_piece(object text, const uint8_t *s, Py_ssize_t end):
    if type(text) is str and 4 <= end <= 5 and memcmp(s, b"https", <size_t>end) == 0:
        return HTTP if end == 4 else HTTPS
    return piece(text, s, 0, end)


cdef inline void set_item(object result, Py_ssize_t i, object item) noexcept:
    Py_INCREF(item)
    PyTuple_SET_ITEM(result, i, item)


cdef object make_components(object text, const uint8_t *s, const Parts *parts):
    cdef object result = UC_NEW_TUPLE(Components, 5)
    set_item(result, 0, None if parts.scheme_end < 0 else scheme_piece(text, s, parts.scheme_end))
    set_item(result, 1, None if parts.authority < 0 else piece(text, s, parts.authority, parts.path))
    set_item(result, 2, piece(text, s, parts.path, parts.path_end))
    set_item(result, 3, None if parts.query < 0 else piece(text, s, parts.query, parts.query_end))
    set_item(result, 4, None if parts.fragment < 0 else piece(text, s, parts.fragment, parts.end))
    UC_FORGET_HASH(result)
    return result


cdef object split_text(object input, Syntax syntax):
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Parts parts
    cdef Outcome outcome
    cdef object text = text_of(input)
    if not read_text(text, &source, buffer, syntax, REFERENCE, &parts, &outcome):
        faults_of(syntax).raise_at(input, outcome.code, <Py_ssize_t>outcome.offset)
    try:
        return make_components(text, source.data, &parts)
    finally:
        release(&source)


def split(uri):
    """Split a URI or a relative reference into its components.

    Args:
        uri (str | bytes-like): The reference, which must match the grammar; see `check`.

    Returns:
        Components: scheme, authority, path, query, fragment: str for a str, bytes for a bytes-like object; None for an
            undefined component.

    Raises:
        UriSyntaxError: If the text is not a URI reference.

    Source: RFC 3986 section 3, appendix A.

    >>> split("http://example.org/?#a")
    Components(scheme='http', authority='example.org', path='/', query='', fragment='a')
    >>> split("//[::1]evil.example/")
    Traceback (most recent call last):
    uricodec.errors.UriSyntaxError: invalid IP literal at offset 7
    """
    return split_text(uri, URI_SYNTAX)


def split_iri(iri):
    """Split an IRI or a relative reference into its components.

    Args:
        iri (str | bytes-like): The reference, which must match the grammar (see `check`); bytes are read as UTF-8.

    Returns:
        Components: scheme, authority, path, query, fragment: str for a str, bytes for a bytes-like object; None for an
            undefined component.

    Raises:
        IriError: If the text is not an IRI reference.

    Source: RFC 3987 section 2.2.

    >>> from uricodec import iri
    >>> iri.split("http://résumé.example.org/é")
    Components(scheme='http', authority='résumé.example.org', path='/é', query=None, fragment=None)
    """
    return split_text(iri, IRI_SYNTAX)


cdef Py_ssize_t misread(object text, const uint8_t *s, const Parts *parts, object components):
    """Return the index where parsing the joined text differs from the components it was made of; -1 if it does not."""
    cdef Py_ssize_t end = 0, wanted, got
    scheme, authority, path, query, fragment = components
    places = []
    if scheme is not None:
        end = len(scheme) + 1
    places.append((-1 if scheme is None else end - 1, parts.scheme_end))
    # "//" is part of the authority here: without one, parsing differs from that offset on.
    places.append((-1 if authority is None else end, parts.authority if parts.authority < 0 else parts.authority - 2))
    if authority is not None:
        end += 2 + len(authority)
    places.append((end, parts.path))
    end += len(path)
    places.append((end, parts.path_end))
    end += 0 if query is None else 1 + len(query)
    places.append((end, parts.query_end))
    places.append((-1 if fragment is None else end + 1, parts.fragment))
    for wanted, got in places:
        if got >= 0 and type(text) is str:
            got = characters_before(s, <size_t>got)
        if wanted != got:
            return got if wanted < 0 else wanted if got < 0 else min(wanted, got)
    return -1


cdef object join(object components, Syntax syntax):
    """Join the components (RFC 3986 section 5.3), and check that the result splits into them again."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Parts parts
    cdef Outcome outcome
    cdef Py_ssize_t position
    components = tuple(components)
    if len(components) != 5:
        raise ValueError(f"expected five components, got {len(components)}")
    scheme, authority, path, query, fragment = components
    marks = (":", "//", "?", "#") if isinstance(path, str) else (b":", b"//", b"?", b"#")
    pieces = [] if scheme is None else [scheme, marks[0]]
    if authority is not None:
        pieces += marks[1], authority
    pieces.append(path)
    if query is not None:
        pieces += marks[2], query
    if fragment is not None:
        pieces += marks[3], fragment
    text = "".join(pieces) if isinstance(path, str) else b"".join(pieces)
    if not read_text(text, &source, buffer, syntax, REFERENCE, &parts, &outcome):
        faults_of(syntax).raise_at(text, outcome.code, <Py_ssize_t>outcome.offset)
    try:
        position = misread(text, source.data, &parts, components)
    finally:
        release(&source)
    if position >= 0:
        raise faults_of(syntax).error("result would split into different components", text, position)
    return text


def unsplit(components):
    """Join components into a URI or a relative reference.

    Args:
        components (sequence): scheme, authority, path, query, fragment: all str, or all bytes-like. None for an
            undefined component; the path must be defined.

    Returns:
        str | bytes: The reference, which `split` splits into the same components.

    Raises:
        UriSyntaxError: If the result is not a valid reference, or would split into different components. The error's
            input and position refer to the joined text.
        ValueError: If there are not five components.
        TypeError: If the components are not all of one type, or the path is None.

    Source: RFC 3986 section 5.3.

    >>> unsplit(("http", "example.org", "/", "", None))
    'http://example.org/?'
    >>> unsplit((None, None, "//example.org", None, None))
    Traceback (most recent call last):
    uricodec.errors.UriSyntaxError: result would split into different components at offset 0
    """
    return join(components, URI_SYNTAX)


def unsplit_iri(components):
    """Join components into an IRI or a relative reference.

    Args:
        components (sequence): scheme, authority, path, query, fragment: all str, or all bytes-like (UTF-8). None for an
            undefined component; the path must be defined.

    Returns:
        str | bytes: The reference, which `split` splits into the same components.

    Raises:
        IriError: If the result is not a valid reference, or would split into different components. The error's input
            and position refer to the joined text.
        ValueError: If there are not five components.
        TypeError: If the components are not all of one type, or the path is None.

    Source: RFC 3986 section 5.3; RFC 3987 section 2.2.

    >>> from uricodec import iri
    >>> iri.unsplit((None, None, "résumé", None, ""))
    'résumé#'
    """
    return join(components, IRI_SYNTAX)


# Functions are pickled by reference: the reference must be their public name.
for function in check, is_valid, split, unsplit:
    function.__module__ = "uricodec.uri"
for function in check_iri, is_valid_iri, split_iri, unsplit_iri:
    function.__module__ = "uricodec.iri"
for function, name in (check_iri, "check"), (is_valid_iri, "is_valid"), (split_iri, "split"), (unsplit_iri, "unsplit"):
    function.__name__ = function.__qualname__ = name
del function, name


cdef extern from "<stdint.h>":
    const size_t SIZE_MAX


# --- resolving --------------------------------------------------------------------------------------------------------

cdef bint find_base(const uint8_t *s, size_t n, bint strict, Base *base) noexcept nogil:
    find_parts(s, n, &base.parts)
    base.s, base.n, base.strict = s, n, strict
    base.directory = <size_t>base.parts.path_end
    while base.directory > <size_t>base.parts.path and s[base.directory - 1] != c'/':
        base.directory -= 1
    return base.parts.scheme_end >= 0


cdef bint is_scheme_of(const Base *base, const uint8_t *s, Py_ssize_t n) noexcept nogil:
    """Return whether a scheme is that of the base. Schemes are case-insensitive (RFC 3986 section 3.1)."""
    cdef Py_ssize_t i
    if n != base.parts.scheme_end:
        return False
    for i in range(n):
        if lower(s[i]) != lower(base.s[i]):
            return False
    return True


cdef inline size_t append(uint8_t *dst, size_t o, const uint8_t *s, size_t start, size_t end) noexcept nogil:
    copy_text(dst + o, s + start, end - start)
    return o + (end - start)


cdef size_t write_target(const Base *base, const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    cdef Parts parts
    cdef const Parts *b = &base.parts
    cdef size_t o = 0, path, start, end
    cdef bint removes_dots = True, has_authority = True
    find_parts(s, n, &parts)
    start, end = <size_t>parts.path, <size_t>parts.path_end
    if parts.scheme_end >= 0 and (base.strict or not is_scheme_of(base, s, parts.scheme_end)):
        path = o = append(dst, 0, s, 0, start)
        has_authority = parts.authority >= 0
    elif parts.authority >= 0:
        o = append(dst, 0, base.s, 0, <size_t>b.scheme_end + 1)
        path = o = append(dst, o, s, <size_t>parts.authority - 2, start)
    else:
        path = o = append(dst, 0, base.s, 0, <size_t>b.path)
        has_authority = b.authority >= 0
        if start == end:
            o = append(dst, o, base.s, <size_t>b.path, <size_t>b.path_end if parts.query >= 0 else <size_t>b.query_end)
            removes_dots = False
        elif s[start] != c'/':
            # 5.2.3: "all but the last segment of the base URI's path", or "/" if the authority has an empty path.
            if has_authority and b.path == b.path_end:
                dst[o] = c'/'
                o += 1
            o = append(dst, o, base.s, <size_t>b.path, base.directory)
    o = append(dst, o, s, start, end)
    if removes_dots:
        o = path + remove_dot_segments(dst + path, o - path, False)
        if not has_authority:
            o = path + guard_slashes(dst + path, o - path)
    return append(dst, o, s, end, n)


cdef size_t resolve_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                        Outcome *outcome) noexcept nogil:
    return write_target(<const Base *>options, src, n, dst)


cdef SizedRow resolve_rows(const Base *base) noexcept:
    cdef SizedRow rows
    rows.row, rows.factor, rows.extra = resolve_row, 1, base.n + RESOLVE_EXTRA
    return rows


# --- a base and another text ------------------------------------------------------------------------------------------

cdef object from_base(object base, object other, bint strict, row_function row, size_t factor, Faults faults):
    """Return the result of a row function for the other text; its options are the base, of which the result may have all bytes."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Base found
    cdef Outcome outcome
    cdef SizedRow operation
    cdef Single single
    cdef object text = text_of(base), second = text_of(other)
    if type(text) is not type(second):
        raise TypeError("expected two strs or two bytes-like objects, got "
                        f"{type(base).__name__} and {type(other).__name__}")
    if not borrow(text, &source, buffer):
        faults.raise_at(base, SURROGATE, first_surrogate(<str>text))
    try:
        if type(second) is str and not PyUnicode_IS_ASCII(second) and first_surrogate(<str>second) >= 0:
            faults.raise_at(other, SURROGATE, first_surrogate(<str>second))
        if not find_base(source.data, source.size, strict, &found):
            outcome.code, outcome.offset = SCHEME, scheme_end(source.data, source.size)
            faults.raise_outcome(base, source.data, &outcome)
        operation = SizedRow(row, factor, source.size + RESOLVE_EXTRA + 1)
        single = single_of(&operation, &found, NULL, ASCII_OF_ASCII)
        if type(text) is str and not PyUnicode_IS_ASCII(text):
            single.results = ANY_TEXT
        return result_of(other, &single, faults, True)
    finally:
        release(&source)


def resolve(base, ref, bint strict=True):
    """Resolve a reference against a base URI, and return the target.

    Args:
        base (str | bytes-like): The base URI or IRI, with a scheme. Its fragment is ignored.
        ref (str | bytes-like): The reference, of the same type.
        strict (bool): False: a scheme of the reference is ignored if it equals that of the base, as in older software.

    Returns:
        str | bytes: The target, bytes for a bytes-like object; the same object if the reference is its own target. "/."
            is put before the path if the result of the RFC's algorithm would be parsed into different components.

    Raises:
        UriSyntaxError: If the base has no scheme, or an argument contains a lone surrogate.
        TypeError: If the arguments are not of the same type.

    Source: RFC 3986 sections 5.2 and 5.3; RFC 1630, "Partial (relative) form".

    >>> resolve("http://a/b/c/d;p?q", "../g?y#s"), resolve("urn:example:a", "?+r")
    ('http://a/b/g?y#s', 'urn:example:a?+r')
    >>> resolve("http://a/b", "http:g"), resolve("http://a/b", "http:g", strict=False)
    ('http:g', 'http://a/g')
    >>> resolve("s:a/b", "..//c")       # and not s://c, where c would be the authority
    's:/.//c'
    """
    return from_base(base, ref, strict, resolve_row, 1, URI_FAULTS)


# --- relativizing -----------------------------------------------------------------------------------------------------

# The kinds of references (RFC 3986 sections 4.2 and 4.4). Of equally short ones, the first kind is used.
cdef enum ReferenceKind:
    SAME_DOCUMENT, RELATIVE_PATH, ABSOLUTE_PATH, NETWORK_PATH, WHOLE_URI
    KINDS

cdef struct Target:
    const uint8_t *s
    size_t n
    Parts parts
    size_t path             # where its path starts, after a guard
    size_t size[KINDS]      # of each kind of reference, at most n; SIZE_MAX: the kind is impossible
    size_t up, down         # of a relative path: the number of "../", and where the copied part of the path starts
    bint dot                # whether "./" is put before it

cdef inline bint equal(const uint8_t *a, size_t a_start, size_t a_end, const uint8_t *b, size_t b_start,
                       size_t b_end) noexcept nogil:
    return a_end - a_start == b_end - b_start and memcmp(a + a_start, b + b_start, a_end - a_start) == 0


cdef bint find_relative_path(Target *target, const uint8_t *directory, size_t n) noexcept nogil:
    """Find the way from a directory (a path without dot segments that ends with "/" or is empty) to the target."""
    cdef const uint8_t *path = target.s + target.path
    cdef size_t size = <size_t>target.parts.path_end - target.path, i = 0, common = 0, end
    while i < n and i < size and path[i] == directory[i]:
        i += 1
        if path[i - 1] == c'/':
            common = i
    if n and common == 0:
        return False        # "../" cannot leave a path that does not begin with "/"
    target.up = 0
    for i in range(common, n):
        target.up += directory[i] == c'/'
    target.down = target.path + common
    path += common
    size -= common
    end = 0
    while end < size and path[end] != c'/' and path[end] != c':':
        end += 1
    target.dot = target.up == 0 and (size == 0 or end == 0 and path[0] == c'/' or end < size and path[end] == c':')
    return True


cdef void find_references(const Base *base, Target *target, const uint8_t *directory, size_t n) noexcept nogil:
    cdef const Parts *b = &base.parts
    cdef const Parts *t = &target.parts
    cdef const uint8_t *s = target.s
    cdef size_t path_end = <size_t>t.path_end, tail = target.n - path_end
    cdef int kind
    for kind in range(<int>KINDS):
        target.size[kind] = SIZE_MAX
    target.size[<int>WHOLE_URI] = target.n
    if not equal(base.s, 0, <size_t>b.scheme_end, s, 0, <size_t>t.scheme_end):
        return
    if t.authority >= 0:
        target.size[<int>NETWORK_PATH] = target.n - <size_t>(t.authority - 2)
    if not equal(base.s, 0, <size_t>b.path, s, 0, <size_t>t.path):
        return
    if equal(base.s, <size_t>b.path, <size_t>b.path_end, s, <size_t>t.path, path_end):
        if equal(base.s, <size_t>b.path_end, <size_t>b.query_end, s, path_end, <size_t>t.query_end):
            target.size[<int>SAME_DOCUMENT] = target.n - <size_t>t.query_end
        elif t.query >= 0:
            target.size[<int>SAME_DOCUMENT] = tail
    target.path = <size_t>t.path
    if t.authority < 0 and path_end - target.path >= 4 and memcmp(s + target.path, b"/.//", 4) == 0:
        target.path += GUARD
    if target.path < path_end and s[target.path] == c'/':
        target.size[<int>ABSOLUTE_PATH] = target.n - target.path
        if path_end - target.path >= 2 and s[target.path + 1] == c'/':
            target.size[<int>ABSOLUTE_PATH] += GUARD
    if find_relative_path(target, directory, n):
        target.size[<int>RELATIVE_PATH] = 3 * target.up + 2 * target.dot + (target.n - target.down)
        if target.down == path_end:
            target.size[<int>RELATIVE_PATH] -= 1        # the last "/" is omitted
        if target.size[<int>RELATIVE_PATH] > target.n:
            target.size[<int>RELATIVE_PATH] = SIZE_MAX


cdef void write_reference(const Target *target, ReferenceKind kind, uint8_t *dst) noexcept nogil:
    cdef size_t o = 0, start = 0, end = target.n
    if kind == SAME_DOCUMENT:
        start = end - target.size[<int>kind]
    elif kind == NETWORK_PATH:
        start = <size_t>target.parts.authority - 2
    elif kind == ABSOLUTE_PATH:
        start = target.path
        if target.size[<int>kind] > end - start:
            dst[0], dst[1] = c'/', c'.'
            o = GUARD
    elif kind == RELATIVE_PATH:
        start = target.down
        for _ in range(target.up):
            dst[o], dst[o + 1], dst[o + 2] = c'.', c'.', c'/'
            o += 3
        if target.dot:
            dst[o], dst[o + 1] = c'.', c'/'
            o += 2
        if start == <size_t>target.parts.path_end:
            o -= 1
    memcpy(dst + o, target.s + start, end - start)


cdef ReferenceKind relativize_into(const Base *base, Target *target, uint8_t *dst, uint8_t *buffer) noexcept nogil:
    """Write the shortest reference and return its kind; KINDS if none resolves to the target."""
    cdef size_t n = base.directory - <size_t>base.parts.path
    cdef int kind, best
    if base.parts.authority >= 0 and base.parts.path == base.parts.path_end:
        buffer[0] = c'/'
        n = 1
    else:
        memcpy(buffer, base.s + base.parts.path, n)
        n = remove_dot_segments(buffer, n, False)
    find_references(base, target, buffer, n)
    while True:
        best = KINDS
        for kind in range(<int>KINDS):
            if target.size[kind] != SIZE_MAX and (best == KINDS or target.size[kind] < target.size[best]):
                best = kind
        if best == KINDS:
            return KINDS
        write_reference(target, <ReferenceKind>best, dst)
        n = write_target(base, dst, target.size[best], buffer)
        if n == target.n and memcmp(buffer, target.s, n) == 0:
            return <ReferenceKind>best
        target.size[best] = SIZE_MAX


cdef size_t write_reference_to(const Base *base, const uint8_t *s, size_t n, uint8_t *dst, uint8_t *buffer,
                               Outcome *outcome) noexcept nogil:
    cdef Target to
    cdef ReferenceKind kind
    to.s, to.n = s, n
    find_parts(s, n, &to.parts)
    if to.parts.scheme_end < 0:
        outcome.code, outcome.offset = SCHEME, scheme_end(s, n)
        return UC_REJECTED
    kind = relativize_into(base, &to, dst, buffer)
    if kind == KINDS:
        outcome.code = PATH
        outcome.offset = <size_t>to.parts.path + first_dot_segment(s + to.parts.path,
                                                                   <size_t>(to.parts.path_end - to.parts.path))
        return UC_REJECTED
    return to.size[<int>kind]


cdef size_t relativize_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return write_reference_to(<const Base *>options, src, n, dst, dst + n + 1, outcome)


cdef list RELATIVE_REASONS = [*REASONS]
RELATIVE_REASONS[PATH] = "no reference resolves to a path with a dot segment"
cdef Faults RELATIVE_FAULTS = Faults(CODE_NAMES, RELATIVE_REASONS, UriSyntaxError, SURROGATE)


def relativize(base, target):
    """Return the shortest reference that resolves to a target: `resolve(base, relativize(base, target)) == target`.

    Args:
        base (str | bytes-like): The base URI or IRI, with a scheme.
        target (str | bytes-like): The URI or IRI to refer to, with a scheme, of the same type.

    Returns:
        str | bytes: The reference, bytes for a bytes-like object; the target itself if no reference is shorter.

    Raises:
        UriSyntaxError: If the base or the target has no scheme or contains a lone surrogate, or if no reference
            resolves to the target because its path contains dot segments.
        TypeError: If the arguments are not of the same type.

    Source: RFC 3986 section 4.2; RFC 1630, "Partial (relative) form".

    >>> relativize("http://a/b/c/d;p?q", "http://a/b/g?y#s"), relativize("http://a/b/c", "http://a/b/")
    ('../g?y#s', '.')
    >>> relativize("http://a/b/c", "http://a/b/c:d")
    './c:d'
    """
    return from_base(base, target, True, relativize_row, 2, RELATIVE_FAULTS)


# --- calls ------------------------------------------------------------------------------------------------------------

# Fast path: most calls are resolve(base, ref) with short texts.
cdef vectorcall parse_resolve


cdef object call_resolve(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef uint8_t buffer[2 * SMALL + RESOLVE_EXTRA]
    cdef const uint8_t *ref
    cdef size_t n, size
    cdef Base base
    if (PyVectorcall_NARGS(flags) == 2 and names == NULL and is_short(args[0]) and is_short(args[1])
            and find_base(<const uint8_t *>PyUnicode_DATA(<object>args[0]),
                          <size_t>PyUnicode_GET_LENGTH(<object>args[0]), True, &base)):
        ref, n = <const uint8_t *>PyUnicode_DATA(<object>args[1]), <size_t>PyUnicode_GET_LENGTH(<object>args[1])
        size = write_target(&base, ref, n, buffer)
        if size == n and memcmp(buffer, ref, n) == 0:
            return <object>args[1]
        return ascii_text(buffer, size)
    return parse_resolve(function, args, flags, names)


parse_resolve = take_calls(resolve, call_resolve)
for function in resolve, relativize:
    function.__module__ = "uricodec.uri"        # pickled by reference to their public name
del function
