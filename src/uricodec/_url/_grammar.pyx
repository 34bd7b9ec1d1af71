"""The grammar of URIs (RFC 3986 appendix A) and IRIs (RFC 3987 section 2.2).

Parsing has two parts. find_parts() splits any bytes into components, for which four delimiters are enough (RFC 3986
appendix B). read_reference() also checks that each component contains only what it may.

Most bytes of a reference need no decision. One kernel finds the end of a simple host. From the path on, another kernel
marks the bytes that need a decision, as bits of 64-bit words: "%", "?", "#", invalid ASCII, and in UTF-8 the lead bytes
of characters that IRIs do not allow everywhere. Only marked bytes are examined, in order.

The offset of a fault is that of the first byte that cannot continue its component. It is the "%" of a triplet, the
first byte of a character, and the ":" or "#" if the production does not allow that delimiter. Beyond the ABNF, only the
characters that RFC 3987 section 4.1 forbids are rejected. Whether the host is safe is another question: find_unsafe() finds
triplets in a host and characters in an authority that decode or normalize to delimiters.

Last, what is known of authorities beyond the grammar: the defaults of schemes, and the spelling of IPv6 addresses; and the
messages for faults.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from uricodec._base._kernels cimport ALPHA, DIGIT, SUB_DELIMS, UNRESERVED, ByteSet, kernels, uc_lowest_bit, uc_set, uc_utf8
from uricodec._base._text cimport *
from uricodec._url._addresses cimport *
from uricodec._codec._percent cimport hex_value, triplet_value
from uricodec._rows._engine cimport Outcome
from uricodec._rows._single cimport *

from uricodec.errors import IriError, UriSyntaxError


cdef enum:
    WORDS = 64, CHUNK = 64 * WORDS      # bytes marked by one kernel call


# --- bytes -----------------------------------------------------------------------------------------------------------

#   scheme        = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
SCHEME_TAIL = ALPHA | DIGIT | "+-."
#   gen-delims    = ":" / "/" / "?" / "#" / "[" / "]" / "@"
cdef ByteSet GEN_DELIMS = ByteSet(":/?#[]@")

# Bytes to which no triplet of a safe host decodes: they would delimit the host or begin a triplet after decoding.
cdef ByteSet HOSTILE = GEN_DELIMS | "%\\ \x7F" | range(0x20)

IN_HOST = ~ByteSet(":@/?#")
cdef ByteSet BUT_BRACKETS = ~ByteSet("[]")

# The bytes that continue a path, and those that continue a query.
cdef ByteSet IN_PATH = ~ByteSet("?#")
cdef ByteSet IN_QUERY = ~ByteSet("#")


# --- characters beyond ASCII ------------------------------------------------------------------------------------------

# RFC 3987 section 2.2:
#   ucschar        = %xA0-D7FF / %xF900-FDCF / %xFDF0-FFEF
#                  / %x10000-1FFFD / %x20000-2FFFD / %x30000-3FFFD
#                  / %x40000-4FFFD / %x50000-5FFFD / %x60000-6FFFD
#                  / %x70000-7FFFD / %x80000-8FFFD / %x90000-9FFFD
#                  / %xA0000-AFFFD / %xB0000-BFFFD / %xC0000-CFFFD
#                  / %xD0000-DFFFD / %xE1000-EFFFD
#   iprivate       = %xE000-F8FF / %xF0000-FFFFD / %x100000-10FFFD
# Section 4.1: "IRIs MUST NOT contain bidirectional formatting characters (LRM, RLM, LRE, RLE, PDF, LRO, and RLO)."
cdef list RANGES = [
    *[(UCSCHAR, first, last) for first, last in ((0xA0, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFEF))],
    *[(UCSCHAR, plane << 16, plane << 16 | 0xFFFD) for plane in range(0x1, 0xE)],
    (UCSCHAR, 0xE1000, 0xEFFFD),
    *[(IPRIVATE, first, last) for first, last in ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))],
    *[(BIDI_CONTROL, first, last) for first, last in ((0x200E, 0x200F), (0x202A, 0x202E))],
]

# Runs of characters of one kind: where each run starts, in ascending order, and its kind.
cdef enum:
    RUNS = 64
cdef uint32_t run_starts[RUNS]
cdef uint8_t run_kinds[RUNS]
cdef int runs = 0


def _kind_by_range(c):
    # Ranges overlap: the last, more specific kind wins.
    found = NO_CHARACTER
    for kind, first, last in RANGES:
        if first <= c <= last:
            found = max(found, kind)
    return found


for start in sorted({0} | {edge for _, first, last in RANGES for edge in (first, last + 1)}):
    run_starts[runs], run_kinds[runs] = start, _kind_by_range(start)
    runs += 1


cdef inline int run_of(uint32_t c) noexcept nogil:
    cdef int low = 0, high = runs, middle
    while high - low > 1:
        middle = (low + high) // 2
        if run_starts[middle] <= c:
            low = middle
        else:
            high = middle
    return low


cdef CharacterKind character_kind(uint32_t c) noexcept nogil:
    return <CharacterKind>run_kinds[run_of(c)]


def _first_of(lead):
    """Return the first character that begins with this lead byte."""
    if lead < 0xE0:
        return (lead & 0x1F) << 6
    return max((lead & 0x0F) << 12, 0x800) if lead < 0xF0 else max((lead & 0x07) << 18, 0x10000)


def _decides(lead):
    first, last = _first_of(lead), 0x10FFFF if lead == 0xF4 else _first_of(lead + 1) - 1
    if lead == 0xED:
        last = 0xD7FF       # surrogates are not characters
    return run_of(first) != run_of(last) or run_kinds[run_of(first)] != UCSCHAR


DECIDING_LEADS = ByteSet([lead for lead in range(0xC2, 0xF5) if _decides(lead)])
cdef ByteSet PLAIN_UTF8 = ByteSet(range(0x80, 0x100)) - DECIDING_LEADS

# Characters whose compatibility form (NFKC), which IDNA uses, contains one of "/?#@:[]\\%". Their lead bytes are in
# DECIDING_LEADS.
cdef list DELIMITER_LIKE = [
    0x2047, 0x2048, 0x2049, 0x2100, 0x2101, 0x2105, 0x2106, 0x2A74,
    0xFE13, 0xFE16, 0xFE47, 0xFE48, 0xFE55, 0xFE56, 0xFE5F, 0xFE68, 0xFE6A, 0xFE6B,
    0xFF03, 0xFF05, 0xFF0F, 0xFF1A, 0xFF1F, 0xFF20, 0xFF3B, 0xFF3C, 0xFF3D,
]
cdef enum:
    ALIKE = 27
cdef uint32_t alike[ALIKE]
for index in range(ALIKE):
    alike[index] = DELIMITER_LIKE[index]


cdef bint is_delimiter_like(uint32_t c) noexcept nogil:
    cdef int i
    for i in range(ALIKE):
        if alike[i] == c:
            return True
    return False


# --- what needs no decision, by Syntax --------------------------------------------------------------------------------

#   reg-name      = *( unreserved / pct-encoded / sub-delims )              ireg-name = *( iunreserved / ...
#   userinfo      = *( unreserved / pct-encoded / sub-delims / ":" )
#   pchar         = unreserved / pct-encoded / sub-delims / ":" / "@"
#   segment       = *pchar          query, fragment = *( pchar / "/" / "?" )
cdef uc_set HOST_PLAIN[2]
cdef uc_set USERINFO_PLAIN[2]
cdef uc_set PATH_PLAIN[2]


cdef int set_plain(Syntax syntax, ByteSet host) except -1:
    HOST_PLAIN[<int>syntax] = host.set
    USERINFO_PLAIN[<int>syntax] = (<ByteSet>(host | ":")).set
    PATH_PLAIN[<int>syntax] = (<ByteSet>(host | ":@/")).set


set_plain(URI_SYNTAX, UNRESERVED | SUB_DELIMS)
set_plain(IRI_SYNTAX, UNRESERVED | SUB_DELIMS | PLAIN_UTF8)


# --- components -------------------------------------------------------------------------------------------------------

cdef size_t end_of_scheme(const uint8_t *s, size_t n) noexcept nogil:
    cdef size_t i = 1
    if n == 0 or not ALPHA.set.member[s[0]]:
        return 0
    while i < n and SCHEME_TAIL.set.member[s[i]]:
        i += 1
    return i if i < n and s[i] == c':' else 0


cdef void find_parts(const uint8_t *s, size_t n, Parts *parts) noexcept nogil:
    cdef size_t i
    find_authority(s, n, parts)
    parts.query = parts.fragment = -1
    i = <size_t>parts.path
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


cdef bint is_well_delimited(const uint8_t *s, const Parts *parts) noexcept nogil:
    cdef Py_ssize_t i, end = parts.path if parts.port < 0 else parts.port - 1
    cdef const uint8_t *host = s + parts.host
    cdef size_t size = <size_t>(parts.host_end - parts.host)
    if parts.userinfo_end > parts.authority and memchr(
            s + parts.authority, c'@', <size_t>(parts.userinfo_end - parts.authority)) != NULL:
        return False
    if size and host[0] == c'[':
        if host[size - 1] != c']' or parts.host_end < end:
            return False
    elif kernels.span(host, size, &BUT_BRACKETS.set) < size:
        return False
    for i in range(end + 1, parts.path):
        if not DIGIT.set.member[s[i]]:
            return False
    return True


# --- what is in a component -------------------------------------------------------------------------------------------

cdef bint reject(Outcome *outcome, UriCode code, size_t offset) noexcept nogil:
    outcome.code, outcome.offset = code, offset
    return False


cdef bint read_triplet(const uint8_t *s, size_t n, size_t i, Outcome *outcome) noexcept nogil:
    """pct-encoded = "%" HEXDIG HEXDIG"""
    return triplet_value(s + i, n - i) >= 0 or reject(outcome, PERCENT, i)


cdef bint read_character(const uint8_t *s, size_t i, UriCode component, Outcome *outcome) noexcept nogil:
    """Check a character beyond ASCII in an IRI."""
    cdef int length
    cdef uint32_t c = character_at(s + i, &length)
    cdef CharacterKind kind = character_kind(c)
    if kind == UCSCHAR:
        return True
    if kind == IPRIVATE:        # iquery = *( ipchar / iprivate / "/" / "?" )
        return component == QUERY or reject(outcome, PRIVATE, i)
    return reject(outcome, BIDI if kind == BIDI_CONTROL else CHARACTER, i)


cdef bint read_marked(const uint8_t *s, size_t n, size_t i, Syntax syntax, UriCode component,
                      Outcome *outcome) noexcept nogil:
    """Check a marked byte that is not a delimiter between components."""
    if s[i] == c'%':
        return read_triplet(s, n, i, outcome)
    if s[i] < 0x80 or syntax == URI_SYNTAX:
        return reject(outcome, component, i)
    return read_character(s, i, component, outcome)


cdef bint read_component(const uint8_t *s, size_t start, size_t end, const uc_set *plain, Syntax syntax, UriCode component,
                         Outcome *outcome) noexcept nogil:
    cdef size_t i = start
    while i < end:
        if not plain.member[s[i]]:
            if not read_marked(s, end, i, syntax, component, outcome):
                return False
            i += 1
        else:
            i += kernels.span(s + i, end - i, plain)
    return True


# --- authority --------------------------------------------------------------------------------------------------------

cdef bint read_ipv6(const uint8_t *s, size_t i, size_t end, size_t *stop) noexcept nogil:
    """IPv6address, up to "]".

        =                            6( h16 ":" ) ls32
        /                       "::" 5( h16 ":" ) ls32
        / [               h16 ] "::" 4( h16 ":" ) ls32
        / [ *1( h16 ":" ) h16 ] "::" 3( h16 ":" ) ls32
        / [ *2( h16 ":" ) h16 ] "::" 2( h16 ":" ) ls32
        / [ *3( h16 ":" ) h16 ] "::"    h16 ":"   ls32
        / [ *4( h16 ":" ) h16 ] "::"              ls32
        / [ *5( h16 ":" ) h16 ] "::"              h16
        / [ *6( h16 ":" ) h16 ] "::"
    ls32 = ( h16 ":" h16 ) / IPv4address        h16 = 1*4HEXDIG

    In other words: eight groups, or at most seven groups and one "::". An IPv4address counts as the last two groups.
    `stop` is where the address ends, or the first byte that does not match.
    """
    cdef size_t start
    cdef int groups = 0, most = 8
    if i < end and s[i] == c':':
        i += 1
        if i == end or s[i] != c':':
            stop[0] = i
            return False
        i += 1
        most = 7
    while True:
        # A group, which is optional after "::".
        start = i
        while i < end and i - start < 4 and groups < most and hex_value(s[i]) >= 0:
            i += 1
        stop[0] = i
        if i == start:
            return most == 7 and s[i - 1] == c':' and s[i - 2] == c':' and i < end and s[i] == c']'
        groups += 1
        if i == end:
            return False
        if s[i] == c']':
            return most == 7 or groups == 8
        if s[i] == c'.' and end_of_byte(s, start, end) == i and (groups == 7 if most == 8 else groups < 7):
            return read_ipv4(s, start, end, stop) and stop[0] < end and s[stop[0]] == c']'
        if s[i] != c':' or groups == most:
            return False
        i += 1
        if i < end and s[i] == c':':
            if most == 7:
                stop[0] = i
                return False
            most = 7
            i += 1


cdef bint read_future(const uint8_t *s, size_t i, size_t end, size_t *stop) noexcept nogil:
    """IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" ), up to "]". The "v" has been read."""
    cdef size_t start = i
    while i < end and hex_value(s[i]) >= 0:
        i += 1
    stop[0] = i
    if i == start or i == end or s[i] != c'.':
        return False
    i += 1
    start = i
    i += kernels.span(s + i, end - i, &USERINFO_PLAIN[<int>URI_SYNTAX])
    stop[0] = i
    return i > start and i < end and s[i] == c']'


cdef bint read_literal(const uint8_t *s, size_t start, size_t end, size_t *stop) noexcept nogil:
    """IP-literal = "[" ( IPv6address / IPvFuture  ) "]", whose "[" has been read."""
    cdef bint done
    cdef size_t i = start + 1
    if i < end and s[i] | 0x20 == c'v':
        done = read_future(s, i + 1, end, stop)
    else:
        done = read_ipv6(s, i, end, stop)
    stop[0] += done
    return done


cdef bint read_authority(const uint8_t *s, Py_ssize_t start, Py_ssize_t end, Syntax syntax, Parts *parts,
                         Outcome *outcome) noexcept nogil:
    """authority = [ userinfo "@" ] host [ ":" port ]"""
    cdef Py_ssize_t i = start
    cdef size_t stop
    parts.userinfo_end = parts.port = -1
    parts.host = start
    while i < end and s[i] != c'@':
        i += 1
    if i < end:
        if not read_component(s, start, i, &USERINFO_PLAIN[<int>syntax], syntax, USERINFO, outcome):
            return False
        parts.userinfo_end = i
        parts.host = i + 1
    i = parts.host
    if i < end and s[i] == c'[':
        if not read_literal(s, i, end, &stop):
            return reject(outcome, IP_LITERAL, stop)
        i = <Py_ssize_t>stop
        if i < end and s[i] != c':':
            return reject(outcome, IP_LITERAL, i)
    else:
        while i < end and s[i] != c':':
            i += 1
        if not read_component(s, parts.host, i, &HOST_PLAIN[<int>syntax], syntax, HOST, outcome):
            return False
    parts.host_end = i
    if i < end:
        parts.port = i + 1
        for i in range(parts.port, end):    # port = *DIGIT
            if not DIGIT.set.member[s[i]]:
                return reject(outcome, PORT, i)
    return True


cdef HostKind host_kind(const uint8_t *s, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """host = IP-literal / IPv4address / reg-name, where the first alternative that matches counts (section 3.2.2)."""
    cdef size_t stop
    if start < end and s[start] == c'[':
        return IP_LITERAL_HOST
    return IPV4_ADDRESS if read_ipv4(s, start, end, &stop) and <Py_ssize_t>stop == end else REG_NAME


# --- references -------------------------------------------------------------------------------------------------------

cdef inline bint ends_authority(const uint8_t *s, size_t n, size_t i) noexcept nogil:
    return i == n or s[i] == c'/' or s[i] == c'?' or s[i] == c'#'


cdef inline size_t end_of_authority(const uint8_t *s, size_t n, size_t start, Syntax syntax, Parts *parts,
                             Outcome *outcome) noexcept nogil:
    """Return the end of the authority; 0 if it is invalid."""
    cdef size_t i = start + kernels.span(s + start, n - start, &HOST_PLAIN[<int>syntax])
    parts.authority = parts.host = <Py_ssize_t>start
    parts.host_end, parts.userinfo_end, parts.port = <Py_ssize_t>i, -1, -1
    if i < n and s[i] == c':':      # fast path: a simple host, perhaps a port
        i += 1
        parts.port = <Py_ssize_t>i
        while i < n and DIGIT.set.member[s[i]]:
            i += 1
    if ends_authority(s, n, i):
        return i
    while not ends_authority(s, n, i):
        i += 1
    return i if read_authority(s, <Py_ssize_t>start, <Py_ssize_t>i, syntax, parts, outcome) else 0


cdef bint read_from_path(const uint8_t *s, size_t n, Syntax syntax, Production production, Parts *parts,
                         Outcome *outcome) noexcept nogil:
    """path [ "?" query ] [ "#" fragment ]"""
    cdef uint64_t words[WORDS]
    cdef uint64_t word
    cdef size_t start = parts.path, size, i, w
    cdef UriCode component = PATH
    parts.query = parts.fragment = -1
    parts.path_end = parts.query_end = parts.end = <Py_ssize_t>n
    while start < n:
        size = n - start if n - start < CHUNK else CHUNK
        kernels.mark_outside(s + start, size, &PATH_PLAIN[<int>syntax], words)
        for w in range((size + 63) // 64):
            word = words[w]
            while word:
                i = start + 64 * w + <size_t>uc_lowest_bit(word)
                word &= word - 1
                if s[i] == c'?':
                    if component == PATH:
                        parts.path_end = <Py_ssize_t>i
                        parts.query = <Py_ssize_t>i + 1
                        component = QUERY
                elif s[i] == c'#' and component != FRAGMENT and production != ABSOLUTE:
                    parts.query_end = <Py_ssize_t>i
                    if component == PATH:
                        parts.path_end = <Py_ssize_t>i
                    parts.fragment = <Py_ssize_t>i + 1
                    component = FRAGMENT
                elif not read_marked(s, n, i, syntax, FRAGMENT if s[i] == c'#' else component, outcome):
                    return False
        start += size
    return True


cdef bint read_reference(const uint8_t *s, size_t n, Syntax syntax, Production production, Parts *parts,
                         Outcome *outcome) noexcept nogil:
    """URI-reference = URI / relative-ref

    URI           = scheme ":" hier-part [ "?" query ] [ "#" fragment ]
    relative-ref  = relative-part [ "?" query ] [ "#" fragment ]
    """
    cdef size_t i = 0, colon = n
    cdef bint done
    if n and ALPHA.set.member[s[0]]:
        i = 1
        while i < n and SCHEME_TAIL.set.member[s[i]]:
            i += 1
    if i and i < n and s[i] == c':':
        if production == RELATIVE:
            return reject(outcome, PATH_COLON, i)
        parts.scheme_end = <Py_ssize_t>i
        i += 1
    elif production == FULL or production == ABSOLUTE:
        return reject(outcome, SCHEME, i)
    else:
        parts.scheme_end = -1
        # path-noscheme = segment-nz-nc *( "/" segment ): no colon in the first segment
        while i < n and s[i] != c'/' and s[i] != c'?' and s[i] != c'#':
            if s[i] == c':':
                colon = i
                break
            i += 1
        i = 0
    if n - i >= 2 and s[i] == c'/' and s[i + 1] == c'/':
        i = end_of_authority(s, n, i + 2, syntax, parts, outcome)
        if i == 0:
            return False
    else:
        parts.authority = parts.userinfo_end = parts.host = parts.host_end = parts.port = -1
    parts.path = <Py_ssize_t>i
    done = read_from_path(s, n, syntax, production, parts, outcome)
    if colon < n and (done or outcome.offset > colon):
        return reject(outcome, PATH_COLON, colon)
    return done


cdef bint read_bytes(const uint8_t *s, size_t n, Syntax syntax, Production production, Parts *parts,
                      Outcome *outcome) noexcept nogil:
    """Parse an IRI that may contain ill-formed UTF-8: an earlier fault is reported first."""
    cdef uc_utf8 found
    cdef size_t whole = n if syntax == URI_SYNTAX else kernels.scan_utf8(s, n, &found)
    cdef bint done = read_reference(s, whole, syntax, production, parts, outcome)
    if whole < n and (done or outcome.offset >= whole):
        return reject(outcome, UTF8, whole)
    return done


cdef bint find_unsafe(const uint8_t *s, const Parts *parts, Outcome *outcome) noexcept nogil:
    """Find what misleads in the authority of a valid reference: RFC 3986 section 7.5, and CVE-2022-27780, CVE-2019-9636."""
    cdef Py_ssize_t i = parts.authority
    cdef int length
    if i < 0:
        return False
    while i < parts.path:
        length = 1
        if s[i] == c'%':
            length = 3
            if parts.host <= i < parts.host_end and HOSTILE.set.member[<uint8_t>triplet_value(s + i, 3)]:
                return not reject(outcome, HOST_DELIMITER, i)
        elif s[i] >= 0x80 and is_delimiter_like(character_at(s + i, &length)):
            return not reject(outcome, HOST_DELIMITER, i)
        i += length
    return False


# --- IPv6 addresses ---------------------------------------------------------------------------------------------------

cdef size_t normalize_ipv6(uint8_t *host, size_t n) noexcept nogil:
    cdef uint16_t groups[GROUPS]
    cdef uint8_t address[LONGEST]
    cdef size_t end = n - 1, size
    cdef const uint8_t *percent = <const uint8_t *>memchr(host, c'%', n)
    if percent != NULL:
        # RFC 6874: IPv6addrz = IPv6address "%25" ZoneID
        end = percent - host
        if n - end < 5 or host[end + 1] != c'2' or host[end + 2] != c'5':
            return n
    if not parse_ipv6(host + 1, end - 1, groups):
        return n
    size = format_ipv6(groups, True, address)
    memmove(host + 1 + size, host + end, n - end)
    memcpy(host + 1, address, size)
    return 1 + size + n - end


# --- defaults of schemes ----------------------------------------------------------------------------------------------

# Facts that the definitions of schemes state about authorities: the default port, and whether the host is a domain
# name.

# scheme, default port, whether hosts are domain names; the most frequent ones first
cdef list SCHEMES = [
    # RFC 9110 section 4.2.1: "If the port subcomponent is empty or not given, TCP port 80 (the reserved port for WWW
    # services) is the default." Section 4.2.2: "TCP port 443 (the reserved port for HTTP over TLS) is the default."
    ("https", 443, True),
    ("http", 80, True),
    # RFC 8089 section 2: "The "host" is the fully qualified domain name of the system on which the file is accessible."
    ("file", None, True),
    # RFC 1738 section 3.1, of <host>: "The fully qualified domain name of a network host, or its IP address". Section
    # 3.2, and 3.4, 3.7 to 3.9 and 3.11 in the same words: "If :<port> is omitted, the port defaults to 21."
    ("ftp", 21, True),
    ("gopher", 70, True),
    ("nntp", 119, True),
    ("telnet", 23, True),
    ("wais", 210, True),
    ("prospero", 1525, True),
    # RFC 6455 section 3: "The port component is OPTIONAL; the default for "ws" is port 80, while the default for "wss"
    # is port 443."
    ("ws", 80, True),
    ("wss", 443, True),
    # RFC 2326 section 3.2: "If the port is empty or not given, port 554 is assumed"; rtsps: RFC 7826 section 4.2.
    ("rtsp", 554, True),
    ("rtspu", 554, True),
    ("rtsps", 322, True),
    # RFC 4516 section 2: "The default LDAP port is TCP port 389."
    ("ldap", 389, True),
    # RFC 7252 section 6.1: "If it is empty or not given, then the default port 5683 is assumed"; 6.2: 5684.
    ("coap", 5683, True),
    ("coaps", 5684, True),
    # Mail: RFC 5092 section 3 (imap), RFC 2384 section 3 (pop), RFC 3656 (mupdate), RFC 2244 section 5 (acap).
    ("imap", 143, True),
    ("pop", 110, True),
    ("mupdate", 3905, True),
    ("acap", 674, True),
    # RFC 3510 section 4.1 (ipp), RFC 7472 section 4.2 (ipps).
    ("ipp", 631, True),
    ("ipps", 631, True),
    # RFC 2224 section 4 (nfs), RFC 3617 section 3 (tftp), RFC 5781 section 2 (rsync).
    ("nfs", 2049, True),
    ("tftp", 69, True),
    ("rsync", 873, True),
    # RFC 2229 section 5 (dict), RFC 4088 section 2.2 (snmp).
    ("dict", 2628, True),
    ("snmp", 161, True),
]

cdef enum:
    MAX_SCHEMES = 64
cdef Scheme schemes[MAX_SCHEMES]
cdef size_t scheme_count = 0


cdef int add(bytes name, bytes port, bint dns) except -1:
    global scheme_count
    cdef Scheme *row = schemes + scheme_count
    if scheme_count == MAX_SCHEMES or len(name) > NAME or len(port) > 8:
        raise ValueError(f"the table of schemes is too small for {name!r}")  # pragma: no cover: cannot happen
    memset(row, 0, sizeof(Scheme))
    memcpy(row.name, <const char *>name, <size_t>len(name))
    memcpy(row.port, <const char *>port, <size_t>len(port))
    row.port_size = <uint8_t>len(port)
    row.dns, row.is_file = dns, name == b"file"
    scheme_count += 1
    return 0


for name, port, dns in SCHEMES:
    add(name.encode("ascii"), b"" if port is None else b"%d" % port, dns)
del name, port, dns


cdef const Scheme *find_scheme(const uint8_t *name, size_t n) noexcept nogil:
    cdef uint8_t padded[NAME]
    cdef size_t i
    if n > NAME:
        return NULL
    memset(padded, 0, NAME)
    memcpy(padded, name, n)
    for i in range(scheme_count):
        if memcmp(schemes[i].name, padded, NAME) == 0:
            return schemes + i
    return NULL


# RFC 3986 section 6.2.2.1 folds the host of every scheme. Here the host is an identifier that differs in the case of its
# letters from others, so that folding it would name another resource, or none:
#
#     ipfs, ipld, ipns            identifiers in base 58 (https://github.com/multiformats/cid, version 0) and keys
#     ar, sia                     identifiers of transactions and files in base 64
#     s3, s3a, s3n                buckets, whose older names have both cases (Amazon S3 user guide, "Bucket naming rules")
#     android-app, android.resource, content      names of Java packages and of content providers
cdef const char *EXACT_HOSTS = b" ipfs ipld ipns ar sia s3 s3a s3n android-app android.resource content "
cdef ByteSet FIRST_OF_EXACT = ByteSet(b"".join([name[:1] for name in EXACT_HOSTS.split()]))


cdef bint is_one_of(const uint8_t *scheme, size_t n, const char *names) noexcept nogil:
    """Return whether a scheme, in lower case, is one of the names, which blanks enclose."""
    cdef const uint8_t *s = <const uint8_t *>names + 1
    cdef size_t size
    while s[0]:
        size = 0
        while s[size] != c' ':
            size += 1
        if size == n and memcmp(s, scheme, n) == 0:
            return True
        s += size + 1
    return False


cdef bint has_exact_hosts(const uint8_t *name, size_t n) noexcept nogil:
    return n and FIRST_OF_EXACT.set.member[name[0]] and is_one_of(name, n, EXACT_HOSTS)


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

PRODUCTION_NAMES = [
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


# --- reading objects --------------------------------------------------------------------------------------------------

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
