"""What a URI or an IRI consists of, as positions, and what is wrong with one."""
from libc.stdint cimport uint8_t, uint32_t

from uricodec._base._kernels cimport ByteSet
from uricodec._rows._operation cimport Outcome


# RFC 3986, or RFC 3987 in UTF-8.
cdef enum Syntax:
    URI_SYNTAX, IRI_SYNTAX


# RFC 3986 section 4: URI-reference, URI, absolute-URI, relative-ref (and IRI-reference ... of RFC 3987 section 2.2).
cdef enum Production:
    REFERENCE, FULL, ABSOLUTE, RELATIVE


# What is wrong. The names are those of Fault.code.
cdef enum Code:
    VALID, SCHEME, USERINFO, HOST, HOST_DELIMITER, IP_LITERAL, PORT, PATH, PATH_COLON, QUERY, FRAGMENT, PERCENT
    UTF8, SURROGATE, CHARACTER, PRIVATE, BIDI
    CODES


# Where the components are (RFC 3986 appendix B). -1: there is no such component, which is not the same as an empty one.
cdef struct Parts:
    Py_ssize_t scheme_end       # the ":"; the scheme starts at 0
    Py_ssize_t authority        # behind the "//"; it ends where the path starts
    Py_ssize_t path
    Py_ssize_t path_end
    Py_ssize_t query            # behind the "?"
    Py_ssize_t query_end
    Py_ssize_t fragment         # behind the "#"
    Py_ssize_t end


cdef enum HostKind:
    REG_NAME, IPV4_ADDRESS, IP_LITERAL_HOST


# Where the subcomponents of an authority are. -1: there is none.
cdef struct Authority:
    Py_ssize_t userinfo_end     # the "@"; the userinfo starts where the authority does
    Py_ssize_t host
    Py_ssize_t host_end
    Py_ssize_t port             # behind the ":"; it ends where the authority does


# Any octets: what is no scheme by the grammar belongs to the path.
cdef void find_parts(const uint8_t *s, size_t n, Parts *parts) noexcept nogil

# False if its delimiters are out of place: two "@", a bracket that is not around the host, a ":" before no number.
cdef bint find_authority(const uint8_t *s, Py_ssize_t start, Py_ssize_t end, Authority *authority) noexcept nogil

# The strict reading, of well-formed UTF-8 or any octets. False: `outcome` has the first fault (a Code) and its offset.
cdef bint read_reference(const uint8_t *s, size_t n, Syntax syntax, Production production, Parts *parts,
                         Outcome *outcome) noexcept nogil

# The same for any octets: for an IRI, they may be ill-formed UTF-8.
cdef bint read_octets(const uint8_t *s, size_t n, Syntax syntax, Production production, Parts *parts,
                      Outcome *outcome) noexcept nogil

# Of the authority alone: False if something in it is refused.
cdef bint read_authority(const uint8_t *s, Py_ssize_t start, Py_ssize_t end, Syntax syntax, Authority *authority,
                         Outcome *outcome) noexcept nogil

# Whether an IPv4address is there, which ends at `stop`, or cannot go on there.
cdef bint read_ipv4(const uint8_t *s, size_t start, size_t end, size_t *stop) noexcept nogil

# What kind of host s[start .. end) is, which find_authority() has found.
cdef HostKind host_kind(const uint8_t *s, Py_ssize_t start, Py_ssize_t end) noexcept nogil


# What a character beyond ASCII is to an IRI (RFC 3987 sections 2.2 and 4.1). The bidi controls are ucschar, too.
cdef enum CharacterKind:
    NO_CHARACTER, UCSCHAR, IPRIVATE, BIDI_CONTROL

cdef CharacterKind character_kind(uint32_t c) noexcept nogil

# The octets with which characters begin that are not all plain ucschar; of well-formed UTF-8, all others above 0x7F
# belong to plain ones.
cdef ByteSet DECIDING_LEADS


cdef inline uint32_t character_at(const uint8_t *s, int *length) noexcept nogil:
    """The character that well-formed UTF-8 begins with, and its octets."""
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


cdef ByteSet SCHEME_TAIL        # of a scheme, behind its first letter
cdef ByteSet UNRESERVED         # RFC 3986 section 2.3
