# distutils: extra_compile_args=-O2
"""Single URIs and IRIs: checking, splitting and joining them (RFC 3986, RFC 3987)."""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from uricodec._rows._engine cimport Outcome
from uricodec._rows._single cimport *
from uricodec._base._text cimport *
from uricodec._url._grammar cimport *
from uricodec._url._whatwg cimport find_fault_of_url

from collections import namedtuple

from uricodec._base.diagnostics import diagnostic


cdef inline Faults faults_of(Syntax syntax):
    return URI_FAULTS if syntax == URI_SYNTAX else IRI_FAULTS


cdef object find_fault(object input, Syntax syntax, Production production, bint safe_host, object base):
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Parts parts
    cdef Outcome outcome
    cdef object text
    if production == WHATWG_URL:
        return find_fault_of_url(input, base)
    if base is not None:
        raise ValueError(f"base is only supported with production='whatwg', got base={base!r}")
    text = text_of(input)
    if read_text(text, &source, buffer, syntax, production, &parts, &outcome):
        if not (safe_host and find_unsafe(source.data, &parts, &outcome)):
            release(&source)
            return None
        if type(text) is str:
            outcome.offset = <size_t>characters_before(source.data, outcome.offset)
        release(&source)
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
    return find_fault(uri, URI_SYNTAX, <Production>reference_or(production, URI_SYNTAX, True), safe_host, base) is None


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
    return find_fault(iri, IRI_SYNTAX, <Production>reference_or(production, IRI_SYNTAX, False), safe_host, None) is None


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
