# distutils: extra_compile_args=-O2
"""Single URIs and IRIs: checking, splitting and joining them (RFC 3986, RFC 3987)."""
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcmp

from uricodec._rows._engine cimport Outcome
from uricodec._rows._single cimport *
from uricodec._base._kernels cimport ALPHANUM, ByteSet, kernels
from uricodec._base._matches cimport FOUND, copy_matches
from uricodec._base._text cimport *
from uricodec._url._grammar cimport *

from cpython.buffer cimport PyBuffer_Release
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM

from collections import namedtuple

from uricodec._base.diagnostics import diagnostic
from uricodec.errors import IriError, UriSyntaxError


# --- codes and messages -----------------------------------------------------------------------------------------------

CODE_NAMES = [None] * CODES
REASONS = [None] * CODES
cdef int number
for number, name, reason in (
    (SCHEME, "scheme", "expected a scheme and \":\""),
    (USERINFO, "userinfo", "invalid character in userinfo"),
    (HOST, "host", "invalid character in host"),
    (HOST_DELIMITER, "host-delimiter", "authority contains a character that decodes or normalizes to a delimiter"),
    (IP_LITERAL, "ip-literal", "invalid IP literal"),
    (PORT, "port", "invalid character in port"),
    (PATH, "path", "invalid character in path"),
    (PATH_COLON, "path-colon", "unexpected \":\" in the first segment of a relative path"),
    (QUERY, "query", "invalid character in query"),
    (FRAGMENT, "fragment", "invalid character in fragment, or unexpected fragment"),
    (PERCENT, "percent", "\"%\" not followed by two hexadecimal digits"),
    (UTF8, "utf-8", "invalid UTF-8"),
    (SURROGATE, "surrogate", "lone surrogate"),
    (CHARACTER, "character", "invalid character in IRI"),
    (PRIVATE, "private", "private-use character outside the query"),
    (BIDI, "bidi", "bidirectional formatting character"),
    (WHATWG_SCHEME, "whatwg", "expected a scheme, or a base that a relative URL can have"),
    (WHATWG_HOST, "whatwg", "invalid or missing host"),
    (WHATWG_PORT, "whatwg", "invalid port"),
):
    CODE_NAMES[number], REASONS[number] = name, reason
del name, reason

cdef list PRODUCTION_NAMES = [
    ["URI-reference", "URI", "absolute-URI", "relative-ref"],
    ["IRI-reference", "IRI", "absolute-IRI", "irelative-ref"],
]


cdef int production_of(object production, Syntax syntax, bint whatwg=False) except -1:
    cdef list names = PRODUCTION_NAMES[<int>syntax]
    cdef int i
    if whatwg:
        names = [*names, "whatwg"]
    for i in range(<int>len(names)):
        if names[i] == production:
            return i
    raise ValueError(f"unknown production {production!r}; choose from {', '.join(names)}")


URI_FAULTS = Faults(CODE_NAMES, REASONS, UriSyntaxError, SURROGATE)
IRI_FAULTS = Faults(CODE_NAMES, REASONS, IriError, SURROGATE)


cdef inline Faults faults_of(Syntax syntax):
    return URI_FAULTS if syntax == URI_SYNTAX else IRI_FAULTS


# --- reading ----------------------------------------------------------------------------------------------------------

cdef inline bint read(const Bytes *source, bint is_text, Syntax syntax, Production production, Parts *parts,
               Outcome *outcome) noexcept:
    """Read the bytes of a str or of bytes."""
    if source.size <= SMALL:
        if is_text:     # the UTF-8 of a str is well-formed
            return read_reference(source.data, source.size, syntax, production, parts, outcome)
        return read_bytes(source.data, source.size, syntax, production, parts, outcome)
    with nogil:
        return read_bytes(source.data, source.size, syntax, production, parts, outcome)


cdef bint read_text(object text, Bytes *source, uint8_t *buffer, Syntax syntax, Production production, Parts *parts,
                    Outcome *outcome) except -1:
    cdef bint is_text = type(text) is str, borrowed = borrow(text, source, buffer)
    if not borrowed:
        text = (<str>text).encode("utf-8", "surrogatepass")
        borrow(text, source, buffer)
    if read(source, is_text and borrowed, syntax, production, parts, outcome):
        return True
    if not borrowed and outcome.code == UTF8:
        outcome.code = SURROGATE
    if is_text:
        outcome.offset = <size_t>characters_before(source.data, outcome.offset)
    release(source)
    return False


cdef object find_fault(object input, Syntax syntax, Production production, bint safe_host, object base):
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Parts parts
    cdef Outcome outcome
    cdef object text
    if production == WHATWG_URL:
        from uricodec.uri._whatwg import find_fault_of_url     # which imports this module
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
    cdef Authority parts
    cdef Outcome outcome
    cdef const uint8_t *s
    if authority is None:
        return None
    authority = text_of(authority)
    if not borrow(authority, &source, buffer):
        URI_FAULTS.raise_at(authority, SURROGATE, first_surrogate(authority))
    try:
        s = source.data
        if not find_authority(s, 0, <Py_ssize_t>source.size, &parts):
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


# --- finding URLs in text ---------------------------------------------------------------------------------------------

# A URL is found by its "://". The scheme before it is searched backwards, the end forwards: the first byte or character
# that ends any URL, or a closing bracket without an opening one. If opening brackets remain, the URL ends where all
# were closed for the last time; then punctuation is trimmed. The search continues where the URL ended before that, so
# no byte is read more often than a few times. A URL between quotes or angle brackets is what is between them.

# ASCII that no URI contains (RFC 3986 section 2; appendix C: "delimited by double-quotes, angle brackets or
# whitespace"), but curly brackets, which URI templates contain (RFC 6570).
cdef ByteSet URL_ENDS = ByteSet(range(33)) | '"<>\\^`|' | b"\x7f"
cdef ByteSet TRIMMED = ByteSet("?!.,:*_~';")
cdef ByteSet BRACKETS = ByteSet("()[]{}")
cdef ByteSet URL_PLAIN = ~(URL_ENDS | BRACKETS | bytes(range(128, 256)))
cdef ByteSet NO_COLON = ~ByteSet(":")
cdef ByteSet SCHEME_BYTES = ALPHANUM | "+-."

cdef enum:
    LONGEST_SCHEME = 64     # a bound on what is read again backwards; the longest registered scheme has 36 characters
    NOT_FULL = 4            # the bytes of the longest character


cdef size_t length_of_character(const uint8_t *s, size_t n) noexcept nogil:
    """Return the length of the character beyond ASCII at the start of s; 0 if it ends a URL or is not UTF-8.

    It ends a URL if it is a space, a quotation mark, a control, or punctuation of the blocks General Punctuation, CJK
    Symbols and Punctuation, and Halfwidth and Fullwidth Forms. Parts of words are ZWJ, ZWNJ, the hyphens and the en
    dash (U+2010 to U+2013), and the ideographs U+3005 to U+3007.
    """
    cdef uint32_t c
    if s[0] < 0xC2 or s[0] > 0xF4 or n < 2 or s[1] & 0xC0 != 0x80:
        return 0
    if s[0] < 0xE0:
        c = <uint32_t>(s[0] & 0x1F) << 6 | (s[1] & 0x3F)
        return 0 if c <= 0xA0 or c == 0xAB or c == 0xBB else 2
    if n < 3 or s[2] & 0xC0 != 0x80:
        return 0
    if s[0] < 0xF0:
        c = <uint32_t>(s[0] & 0x0F) << 12 | <uint32_t>(s[1] & 0x3F) << 6 | (s[2] & 0x3F)
        if c < 0x2000:
            return 0 if c < 0x800 or c == 0x1680 else 3
        if c < 0x3040:
            return 3 if (0x2070 <= c < 0x3000 or 0x3005 <= c <= 0x3007 or 0x2010 <= c <= 0x2013
                         or c == 0x200C or c == 0x200D) else 0
        if c >= 0xFF00:
            return 3 if (0xFF10 <= c <= 0xFF19 or 0xFF21 <= c <= 0xFF3A or 0xFF41 <= c <= 0xFF5A
                         or 0xFF66 <= c < 0xFFF0) else 0
        return 0 if 0xD800 <= c <= 0xDFFF or c == 0xFEFF else 3
    if n < 4 or s[3] & 0xC0 != 0x80:
        return 0
    c = <uint32_t>(s[0] & 0x07) << 18 | <uint32_t>(s[1] & 0x3F) << 12
    return 4 if 0x10000 <= c <= 0x10FFFF else 0


cdef size_t end_of_url(const uint8_t *s, size_t n, size_t i, size_t *balanced) noexcept nogil:
    """Return the end of the URL that goes on at i; `balanced` is the last place where all brackets are closed."""
    cdef size_t depth[3]        # of round, square and curly brackets
    cdef size_t total = 0       # the sum of depth
    cdef size_t outermost = i   # the bracket that made it 1
    cdef size_t length
    cdef int kind
    depth[0] = depth[1] = depth[2] = 0
    while i < n:
        if URL_PLAIN.set.member[s[i]]:
            i += kernels.span(s + i, n - i, &URL_PLAIN.set)
        elif s[i] >= 0x80:
            length = length_of_character(s + i, n - i)
            if length == 0:
                break
            i += length
        elif BRACKETS.set.member[s[i]]:
            kind = 0 if s[i] <= c')' else 1 if s[i] <= c']' else 2
            if s[i] == c'(' or s[i] == c'[' or s[i] == c'{':
                if total == 0:
                    outermost = i
                depth[kind] += 1
                total += 1
            elif depth[kind] == 0:
                break
            else:
                depth[kind] -= 1
                total -= 1
            i += 1
        else:
            break
    balanced[0] = i if total == 0 else outermost
    return i


# What ends the search for a closing delimiter: bytes that no delimited URL contains, of which the delimiters are some. So
# between two URLs after the same delimiter is one of these bytes, and the time stays linear.
cdef ByteSet IN_DELIMITED = ~(ByteSet(range(33)) | '"<>\\' | b"\x7f")
cdef ByteSet IN_SINGLE_QUOTED = IN_DELIMITED - "'"
cdef ByteSet IN_ESCAPED = IN_DELIMITED - [ESCAPED_QUOTE, ESCAPED_LESS, ESCAPED_GREATER]
cdef ByteSet IN_ESCAPED_SINGLE = IN_ESCAPED - [ESCAPED_APOSTROPHE]


cdef uint8_t closing(uint8_t opening, bint decoded) noexcept nogil:
    if opening == c'<':
        return c'>'
    if opening == c'"' or opening == c"'":
        return opening
    if not decoded or opening < ESCAPED_QUOTE or opening > ESCAPED_LESS:
        return 0
    return ESCAPED_GREATER if opening == ESCAPED_LESS else opening


cdef size_t end_of_delimited(const uint8_t *s, size_t n, size_t i, uint8_t close) noexcept nogil:
    """Return where the delimiter is that ends the URL which goes on at i; n if what follows decides; 0 if there is none.

    In JSON and source code a backslash begins an escape, perhaps of the quotes themselves. In text that has been decoded,
    a delimiter that was escaped ends only what begins with such a one.
    """
    if close < 0x80:
        i += kernels.span(s + i, n - i, &IN_SINGLE_QUOTED.set if close == c"'" else &IN_DELIMITED.set)
    else:
        i += kernels.span(s + i, n - i, &IN_ESCAPED_SINGLE.set if close == ESCAPED_APOSTROPHE else &IN_ESCAPED.set)
    if i == n or s[i] == c'\\' and i + 1 == n:
        return n
    return i if s[i] == close or s[i] == c'\\' and s[i + 1] == close != c'>' and close != ESCAPED_GREATER else 0


cdef inline size_t start_of_run(const uint8_t *s, size_t done, size_t end, size_t most) noexcept nogil:
    """Return the start of the bytes of a scheme before `end`, at most `most` of them, none of them before `done`."""
    cdef size_t start = end
    while start > done and end - start < most and SCHEME_BYTES.set.member[s[start - 1]]:
        start -= 1
    return start


cdef size_t start_of_scheme(const uint8_t *s, size_t done, size_t colon) noexcept nogil:
    """Return the first start of a scheme that reaches the colon; `colon` if there is none."""
    cdef size_t i = start_of_run(s, done, colon, LONGEST_SCHEME)
    while i < colon:
        if s[i] | 0x20 >= c'a' and ALPHANUM.set.member[s[i]] and (i == done or not ALPHANUM.set.member[s[i - 1]]):
            return i
        i += 1
    return colon


cdef size_t scan_urls(const uint8_t *s, size_t n, size_t *start, size_t longest, bint last, bint decoded,
                      size_t *spans) noexcept nogil:
    """Write the starts and ends of the URLs from *start on, at most FOUND, and set *start to where the search continues.

    A URL ends after `longest` bytes at the latest. If the text is not the last part, *start is at most where a URL
    begins, or may begin, that depends on what follows. `decoded`: the text may contain delimiters that were escaped.

    Returns: their number. If it is less than FOUND, the text has been searched.
    """
    cdef size_t i = start[0], done = i, count = 0, begin, stop, bound, balanced
    cdef uint8_t close
    while count < FOUND:
        i += kernels.span(s + i, n - i, &NO_COLON.set)
        if n - i < 3:
            if last:
                done = n
            else:
                begin = done
                done = start_of_run(s, done, i, LONGEST_SCHEME + 1)
                done -= done > begin and closing(s[done - 1], decoded) != 0
            break
        if s[i + 1] != c'/' or s[i + 2] != c'/':
            i += 1
            continue
        i += 3
        begin = start_of_scheme(s, done, i - 3)
        if begin == i - 3:
            done = i
            continue
        bound = begin + longest if n - begin > longest else n
        close = closing(s[begin - 1], decoded) if begin else 0
        if close:
            stop = end_of_delimited(s, bound, i, close)
            if stop == bound and not last and n - begin < longest:
                done = begin - 1
                break
            if i < stop < bound:
                spans[2 * count], spans[2 * count + 1] = begin, stop
                count += 1
                i = done = stop
                continue
        stop = end_of_url(s, bound, i, &balanced)
        if not last and n - begin < longest and (stop == n or s[stop] >= 0x80 and n - stop < NOT_FULL):
            done = begin - (close != 0)
            break
        while balanced > i and TRIMMED.set.member[s[balanced - 1]]:
            balanced -= 1
        if balanced > i:
            spans[2 * count] = begin
            spans[2 * count + 1] = balanced
            count += 1
        i = done = stop
    start[0] = done
    return count


cdef size_t find_urls(object buffer, list found, size_t longest, bint last) except? 0:
    """Append the spans of URLs to `found`, and return where a URL may begin that depends on what follows."""
    cdef Py_buffer view
    cdef size_t spans[2 * FOUND]
    cdef size_t i, count = FOUND, start = 0
    borrow_bytes(buffer, &view)
    try:
        while count == FOUND:
            with nogil:
                count = scan_urls(<const uint8_t *>view.buf, <size_t>view.len, &start, longest, last, False, spans)
            for i in range(count):
                found.append((<Py_ssize_t>spans[2 * i], <Py_ssize_t>spans[2 * i + 1]))
    finally:
        PyBuffer_Release(&view)
    return start


def find(buffer, content="plain"):
    r"""Find the URLs in any bytes, such as text, logs, web pages or dumps.

    A URL begins with a scheme of at most 64 characters, not directly after an ASCII letter or digit, and "://".
    Characters beyond ASCII may follow, in UTF-8: hosts and paths of IRIs are found whole. A URL ends before

    - a space, a control character, one of ``" < > \\ ^ ` |``, or a byte that is not UTF-8;
    - a quotation mark, a space or punctuation beyond ASCII, such as an ideographic full stop;
    - a bracket without its partner: a URL in brackets ends before the closing one, ``/Foo_(bar)`` is found whole;
    - a final ``? ! . , : * _ ~ ' ;``, or several of them.

    A URL directly between quotes (``"`` or ``'``) or angle brackets, without a space or control character, is all that is
    between them, unless it contains a quote, an angle bracket or a backslash itself.

    What is found need not be valid: check it with `uri.is_valid` or `iri.is_valid`.

    Args:
        buffer (bytes-like): The bytes, which are contiguous in memory.
        content (str): What they are: "plain"; "json", where a URL may contain escapes such as ``\/`` and ``\u0026``;
            "html", where it may contain character references such as ``&amp;``; or "auto", see `extract`.

    Returns:
        list[tuple[int, int]]: The start and end of each URL in `buffer`, in order. `extract` decodes what is there.

    Raises:
        TypeError: If `buffer` is not bytes-like.
        BufferError: If it is not contiguous.
        ValueError: If `content` is unknown.

    Source: RFC 3986 section 3.1 and appendix C. How brackets and final punctuation are handled is what people mean,
    not what the grammar says: both may be part of a URI.

    >>> find(b"see (http://a.example/x_(y)), <https://b.example/?q=1>.")
    [(5, 27), (31, 53)]
    >>> find(rb'{"a":"http:\/\/a.example\/?b\u0026c"}', content="json")
    [(6, 35)]
    """
    cdef list found = []
    if content != "plain":
        from uricodec.uri._extraction import find_with_escapes

        return find_with_escapes(buffer, content)[0]
    find_urls(buffer, found, <size_t>-1, True)
    return found


def find_part(buffer, size_t longest, bint last):
    """Find the URLs in a part of a text, as find() does in a whole one.

    Args:
        buffer (bytes-like): The part.
        longest (int): The most bytes of a URL, at least 128. One that is longer ends there.
        last (bool): Whether the text ends after this part.

    Returns:
        tuple[list[tuple[int, int]], int]: The URLs that do not depend on what follows, and where the next part begins:
            where a URL begins, or may begin, that does.

    >>> find_part(b"http://a.example http://b.ex", 1000, False)
    ([(0, 16)], 17)
    """
    cdef list found = []
    cdef size_t rest = find_urls(buffer, found, longest, last)
    return found, rest


cdef size_t find_whole_urls(const uint8_t *s, size_t n, size_t *start, size_t *spans) noexcept nogil:
    return scan_urls(s, n, start, <size_t>-1, True, False, spans)


def copy_urls(src, dst, bytes prefix=None, size_t before=0):
    r"""Write the URLs of a text as lines, as many as fit. No URL may go on before or after the text.

    Args:
        src (bytes-like): The text.
        dst (bytes-like): The lines; enough for one of them, and with offsets 22 bytes more.
        prefix (bytes | None): What each line begins with, before its offset in the input and a tab; None: no offsets.
        before (int): The offset of the text in the input.

    Returns:
        tuple[int, int]: Where the first URL begins that does not fit, or the size of the text; and how many bytes have
            been written.

    >>> dst = bytearray(45)
    >>> copy_urls(b"http://a.example http://b.example", dst, b"", 80)
    (17, 20)
    >>> bytes(dst[:20])
    b'80\thttp://a.example\n'
    """
    cdef tuple done = copy_matches(find_whole_urls, src, dst, prefix, before)
    cdef Py_ssize_t read = done[0]
    # The delimiter before a URL decides where it ends.
    if 0 < read < len(src) and closing(src[read - 1], False):
        return read - 1, done[1]
    return done


# Functions are pickled by reference: the reference must be their public name.
for function in check, find, is_valid, split, unsplit:
    function.__module__ = "uricodec.uri"
for function in check_iri, is_valid_iri, split_iri, unsplit_iri:
    function.__module__ = "uricodec.iri"
for function, name in (check_iri, "check"), (is_valid_iri, "is_valid"), (split_iri, "split"), (unsplit_iri, "unsplit"):
    function.__name__ = function.__qualname__ = name
del function, name
