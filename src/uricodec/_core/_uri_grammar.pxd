"""What a URI or an IRI consists of, as positions, and what is wrong with one."""
from libc.stdint cimport uint8_t

from uricodec._core._kernels cimport ByteSet
from uricodec._core._rows cimport Refusal


# RFC 3986, or RFC 3987 in UTF-8.
cdef enum Syntax:
    URI_SYNTAX, IRI_SYNTAX


# RFC 3986 section 4: URI-reference, URI, absolute-URI, relative-ref (and IRI-reference ... of RFC 3987 section 2.2).
cdef enum Rule:
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

# The strict reading, of well-formed UTF-8 or any octets. False: `refusal` has the first fault (a Code) and its offset.
cdef bint read_reference(const uint8_t *s, size_t n, Syntax syntax, Rule rule, Parts *parts, Refusal *refusal) noexcept nogil

cdef ByteSet SCHEME_TAIL        # of a scheme, behind its first letter
cdef ByteSet UNRESERVED         # RFC 3986 section 2.3
