"""The grammar of URIs (RFC 3986 appendix A) and IRIs (RFC 3987 section 2.2): components first, then what is in them.

To take a reference apart needs four delimiters and no more (RFC 3986 appendix B): that is find_parts(), which takes any
octets. Whether each component may hold what it holds is for read_reference() to say.
"""
from libc.stdint cimport uint8_t

from uricodec._core._kernels cimport ByteSet, kernels
from uricodec._core._rows cimport Refusal


# --- octets -------------------------------------------------------------------------------------------------------------

#   ALPHA         = %x41-5A / %x61-7A                   DIGIT         = %x30-39
cdef ByteSet ALPHA = ByteSet(range(0x41, 0x5B)) | ByteSet(range(0x61, 0x7B))
cdef ByteSet DIGIT = ByteSet(range(0x30, 0x3A))
#   scheme        = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
SCHEME_TAIL = ALPHA | DIGIT | "+-."
#   unreserved    = ALPHA / DIGIT / "-" / "." / "_" / "~"
UNRESERVED = ALPHA | DIGIT | "-._~"

# Where the scan of a path and that of a query stop.
cdef ByteSet IN_PATH = ~ByteSet("?#")
cdef ByteSet IN_QUERY = ~ByteSet("#")


# --- components -----------------------------------------------------------------------------------------------------------

cdef void find_parts(const uint8_t *s, size_t n, Parts *parts) noexcept nogil:
    cdef size_t i = 0
    parts.scheme_end = parts.authority = parts.query = parts.fragment = -1
    if n and ALPHA.set.member[s[0]]:
        i = 1
        while i < n and SCHEME_TAIL.set.member[s[i]]:
            i += 1
        if i < n and s[i] == c':':
            parts.scheme_end = <Py_ssize_t>i
            i += 1
        else:
            i = 0
    if n - i >= 2 and s[i] == c'/' and s[i + 1] == c'/':
        i += 2
        parts.authority = <Py_ssize_t>i
        while i < n and s[i] != c'/' and s[i] != c'?' and s[i] != c'#':
            i += 1
    parts.path = <Py_ssize_t>i
    i += kernels.span(s + i, n - i, &IN_PATH.set)
    parts.path_end = <Py_ssize_t>i
    if i < n and s[i] == c'?':
        i += 1
        parts.query = <Py_ssize_t>i
        i += kernels.span(s + i, n - i, &IN_QUERY.set)
    parts.query_end = <Py_ssize_t>i
    if i < n:
        parts.fragment = <Py_ssize_t>i + 1
    parts.end = <Py_ssize_t>n


cdef bint find_authority(const uint8_t *s, Py_ssize_t start, Py_ssize_t end, Authority *authority) noexcept nogil:
    """authority = [ userinfo "@" ] host [ ":" port ]"""
    cdef Py_ssize_t i = start
    authority.userinfo_end = authority.port = -1
    authority.host = start
    while i < end and s[i] != c'@':
        i += 1
    if i < end:
        authority.userinfo_end = i
        authority.host = i + 1
    i = authority.host
    if i < end and s[i] == c'[':
        while i < end and s[i] != c']':
            if s[i] == c'@':
                return False
            i += 1
        if i == end:
            return False
        i += 1
        if i < end and s[i] != c':':
            return False
    else:
        while i < end and s[i] != c':':
            if s[i] == c'@' or s[i] == c'[' or s[i] == c']':
                return False
            i += 1
    authority.host_end = i
    if i < end:
        authority.port = i + 1
        for i in range(authority.port, end):
            if not DIGIT.set.member[s[i]]:
                return False
    return True


cdef bint read_reference(const uint8_t *s, size_t n, Syntax syntax, Rule rule, Parts *parts, Refusal *refusal) noexcept nogil:
    find_parts(s, n, parts)
    return True
