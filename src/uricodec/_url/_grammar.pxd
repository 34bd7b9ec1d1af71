"""The offsets of the components of a URI or IRI, the codes for what may be invalid, and what authorities mean."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcmp

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec._base._text cimport Bytes
from uricodec._url._addresses cimport *
from uricodec._codec._percent cimport hex_value
from uricodec._rows._engine cimport Outcome
from uricodec._rows._single cimport Faults


# RFC 3986, or RFC 3987 in UTF-8.
cdef enum Syntax:
    URI_SYNTAX, IRI_SYNTAX


# RFC 3986 section 4: URI-reference, URI, absolute-URI, relative-ref, and a URL by the URL Standard (and IRI-reference ...
# of RFC 3987 section 2.2).
cdef enum Production:
    REFERENCE, FULL, ABSOLUTE, RELATIVE, WHATWG_URL


# The kinds of faults. Their names are those of Diagnostic.code.
cdef enum UriCode:
    VALID, SCHEME, USERINFO, HOST, HOST_DELIMITER, IP_LITERAL, PORT, PATH, PATH_COLON, QUERY, FRAGMENT, PERCENT
    UTF8, SURROGATE, CHARACTER, PRIVATE, BIDI
    WHATWG_SCHEME, WHATWG_HOST, WHATWG_PORT
    CODES


# Offsets of the components (RFC 3986 appendix B), and of those of the authority (section 3.2):
#
#     http://me@example.org:80/over/there?name=ferret#nose
#         :  authority     |  path       query        fragment
#            me@ host      port
#
# -1: the component is undefined, which differs from an empty one.
cdef struct Parts:
    Py_ssize_t scheme_end       # the ":"; the scheme starts at 0
    Py_ssize_t authority        # after the "//"; it ends where the path starts
    Py_ssize_t path
    Py_ssize_t path_end
    Py_ssize_t query            # after the "?"
    Py_ssize_t query_end
    Py_ssize_t fragment         # after the "#"
    Py_ssize_t end
    Py_ssize_t userinfo_end     # the "@"; the userinfo starts where the authority does
    Py_ssize_t host             # defined if the authority is, maybe empty
    Py_ssize_t host_end
    Py_ssize_t port             # after the ":"; it ends where the path starts


cdef enum HostKind:
    REG_NAME, IPV4_ADDRESS, IP_LITERAL_HOST


cdef ByteSet IN_HOST            # bytes that neither end a host nor follow something else

# Return the offset of the ":" after the scheme; 0 if the text does not begin with a scheme (section 3.1) and ":".
cdef size_t end_of_scheme(const uint8_t *s, size_t n) noexcept nogil


cdef inline size_t web_prefix(const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of "http://" or "https://" in lower case, with which most URLs begin; 0 if the text does not."""
    cdef size_t size
    # Without a branch that depends on the scheme, which cannot be predicted.
    if n < 7 or memcmp(s, b"http", 4) != 0:
        return 0
    size = 7 + <size_t>(s[4] == c's')
    return size if size <= n and memcmp(s + size - 3, b"://", 3) == 0 else 0


cdef inline size_t split_authority(const uint8_t *s, size_t n, size_t start, Parts *parts) noexcept nogil:
    """Find the components of the authority that starts at an offset. Return where it ends.

    Any authority is split at its last "@" and, after the host, at the first ":". A host that begins with "[" ends with the
    next "]"; text between that and the ":" is part of neither.
    """
    cdef size_t i = start
    parts.authority, parts.userinfo_end = <Py_ssize_t>start, -1
    while True:     # for each "@"
        parts.host, parts.port = <Py_ssize_t>i, -1
        if i < n and s[i] == c'[':
            while i < n and s[i] != c']' and s[i] != c'@' and s[i] != c'/' and s[i] != c'?' and s[i] != c'#':
                i += 1
            i += i < n and s[i] == c']'
            parts.host_end = <Py_ssize_t>i
            while i < n and IN_HOST.set.member[s[i]]:
                i += 1
        else:
            i += kernels.span(s + i, n - i, &IN_HOST.set)
            parts.host_end = <Py_ssize_t>i
        if i < n and s[i] == c':':
            i += 1
            parts.port = <Py_ssize_t>i
            while i < n and (IN_HOST.set.member[s[i]] or s[i] == c':'):
                i += 1
        if i == n or s[i] != c'@':
            return i
        parts.userinfo_end = <Py_ssize_t>i
        i += 1


cdef inline void find_authority(const uint8_t *s, size_t n, Parts *parts) noexcept nogil:
    """Find the scheme and the authority of any bytes, and the start of the path. Text that is not a scheme is a path."""
    cdef size_t i = web_prefix(s, n)
    if i:
        parts.scheme_end = <Py_ssize_t>i - 3
        parts.path = <Py_ssize_t>split_authority(s, n, i, parts)
        return
    i = end_of_scheme(s, n)
    parts.scheme_end = <Py_ssize_t>i if i else -1
    i += i > 0
    if n - i >= 2 and s[i] == c'/' and s[i + 1] == c'/':
        i = split_authority(s, n, i + 2, parts)
    else:
        parts.authority = parts.userinfo_end = parts.host = parts.host_end = parts.port = -1
    parts.path = <Py_ssize_t>i

# Find the components of any bytes.
cdef void find_parts(const uint8_t *s, size_t n, Parts *parts) noexcept nogil

# Whether the delimiters of an authority are where the grammar has them: at most one "@", brackets around the whole host
# or nowhere, and only digits after the ":". Without this, who the host is depends on the reader.
cdef bint is_well_delimited(const uint8_t *s, const Parts *parts) noexcept nogil

# Parse strictly: well-formed UTF-8 for IRIs, any bytes for URIs. False: `outcome` has the first fault (a UriCode, an
# offset).
cdef bint read_reference(const uint8_t *s, size_t n, Syntax syntax, Production production, Parts *parts,
                         Outcome *outcome) noexcept nogil

# Parse strictly. IRIs may contain ill-formed UTF-8, which is reported as a fault.
cdef bint read_bytes(const uint8_t *s, size_t n, Syntax syntax, Production production, Parts *parts,
                      Outcome *outcome) noexcept nogil

# Whether the authority of a valid reference has what decodes or normalizes to a delimiter; `outcome` says where.
cdef bint find_unsafe(const uint8_t *s, const Parts *parts, Outcome *outcome) noexcept nogil

# Parse the authority s[start .. end) strictly. False: `outcome` has the first fault.
cdef bint read_authority(const uint8_t *s, Py_ssize_t start, Py_ssize_t end, Syntax syntax, Parts *parts,
                         Outcome *outcome) noexcept nogil

# Return the kind of the host s[start .. end) of a valid authority.
cdef HostKind host_kind(const uint8_t *s, Py_ssize_t start, Py_ssize_t end) noexcept nogil


# How IRIs may use a character beyond ASCII (RFC 3987 sections 2.2 and 4.1). By the ABNF, bidi controls are ucschar,
# too.
cdef enum CharacterKind:
    NO_CHARACTER, UCSCHAR, IPRIVATE, BIDI_CONTROL

cdef CharacterKind character_kind(uint32_t c) noexcept nogil

# Lead bytes of characters that are not all unrestricted ucschar. In well-formed UTF-8 every other byte above 0x7F is
# part of an unrestricted character.
cdef ByteSet DECIDING_LEADS


cdef inline uint32_t character_at(const uint8_t *s, int *length) noexcept nogil:
    """Return the character at the start of well-formed UTF-8, and its length in bytes."""
    if s[0] < 0x80:
        length[0] = 1  # pragma: no cover: a race
        return s[0]  # pragma: no cover: a race
    if s[0] < 0xE0:
        length[0] = 2
        return <uint32_t>((s[0] & 0x1F) << 6 | (s[1] & 0x3F))
    if s[0] < 0xF0:
        length[0] = 3
        return <uint32_t>((s[0] & 0x0F) << 12 | (s[1] & 0x3F) << 6 | (s[2] & 0x3F))
    length[0] = 4
    return <uint32_t>((s[0] & 0x07) << 18 | (s[1] & 0x3F) << 12 | (s[2] & 0x3F) << 6 | (s[3] & 0x3F))


cdef ByteSet SCHEME_TAIL        # bytes of a scheme after its first letter


# --- authorities ------------------------------------------------------------------------------------------------------

cdef enum:
    NAME = 16           # bytes of a scheme's name, padded with 0

cdef struct Scheme:
    uint8_t name[NAME]
    uint8_t port[8]     # the digits of the default port
    uint8_t port_size   # 0: the scheme has no default port
    bint dns            # a host that is not an address is a domain name
    bint is_file        # "file": RFC 8089

# Find a scheme, given in lower case. NULL: it is unknown.
cdef const Scheme *find_scheme(const uint8_t *name, size_t n) noexcept nogil

# Return whether a scheme, in lower case, is one of the names, which blanks enclose.
cdef bint is_one_of(const uint8_t *scheme, size_t n, const char *names) noexcept nogil

# Return whether the hosts of a scheme, given in lower case, are identifiers in which the case of letters counts.
cdef bint has_exact_hosts(const uint8_t *name, size_t n) noexcept nogil


cdef enum:
    IPV6_GROWTH = 6     # bytes by which the normal form may be longer: "::ffff:a:a" becomes "::ffff:0.10.0.10"

# Normalize the host in brackets host[0 .. n), n >= 2, in place, and return its size. The buffer must have IPV6_GROWTH
# bytes after it. Brackets whose content is not an IPv6 address, with or without a zone, are left unchanged.
cdef size_t normalize_ipv6(uint8_t *host, size_t n) noexcept nogil


cdef inline bint is_numeric_label(const uint8_t *label, size_t n) noexcept nogil:
    """Return whether a host that ends with this label is an address, or none: 1*DIGIT / "0x" *HEXDIG

    (WHATWG URL, "ends in a number")
    """
    cdef size_t i = 0
    cdef bint hexadecimal = n >= 2 and label[0] == c'0' and label[1] | 0x20 == c'x'
    if hexadecimal:
        i = 2
    while i < n and (c'0' <= label[i] <= c'9' or hexadecimal and hex_value(label[i]) >= 0):
        i += 1
    return i == n


# --- codes and messages -----------------------------------------------------------------------------------------------

cdef list CODE_NAMES        # the name of each UriCode
cdef list REASONS           # the reason that errors state for it
cdef Faults URI_FAULTS      # they are a UriSyntaxError
cdef Faults IRI_FAULTS      # an IriError

cdef list PRODUCTION_NAMES  # of each Syntax

# Return the Production with a name; raise ValueError if it is unknown. whatwg: WHATWG_URL is one.
cdef int production_of(object production, Syntax syntax, bint whatwg=*) except -1


# --- reading objects --------------------------------------------------------------------------------------------------

# Borrow and read what text_of() returned. False: the input is invalid, nothing has to be released, and the outcome's
# offset is an index into the text. `buffer` is that of borrow().
cdef bint read_text(object text, Bytes *source, uint8_t *buffer, Syntax syntax, Production production, Parts *parts,
                    Outcome *outcome) except -1
