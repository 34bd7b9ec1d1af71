"""The host of a URL that all parsers agree about, and the categories of IP addresses.

A guard against server-side request forgery (SSRF) reads the host of a URL, and then a client reads it again, with its own
parser. Parsers differ about hosts: about backslashes, "@", blanks, triplets, numbers, characters beyond ASCII. So this
module does not choose a parser. It reads a language on which they agree, and rejects all else with a code:

    scheme "://" [ userinfo "@" ] ( name / IPv4address / "[" IPv6address "]" ) [ ":" [ port ] ] ( "/" / "?" / "#" / end )

    name  = label *( "." label ) [ "." ]        label = 1*63( ALPHA / DIGIT / "-" / "_" )
    port  = 1 to 65535, in at most five digits

A name whose last label is a number is rejected (WHATWG URL, "ends in a number"), and so is an A-label that IDNA does not
know. What follows the authority cannot change the host; only control characters are looked for there, because some
parsers delete them wherever they stand.

read_url() decides and touches no object; read_plain() does so faster for most URLs. The public function makes objects.
"""
cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from uricodec._base._kernels cimport ALPHANUM, DIGIT, HEXDIG, SUB_DELIMS, UNRESERVED, ByteSet, kernels, lower, reraise
from uricodec._base._text cimport *
from uricodec._codec._percent cimport triplet_value
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, Outcome
from uricodec._url._idna cimport U_LABELS_CAPACITY, ask_about_host, to_u_labels
from uricodec._url._grammar cimport GROUPS, end_of_scheme, format_ipv6, is_numeric_label, parse_ipv4, parse_ipv6, web_prefix
from uricodec._rows._single cimport borrow, characters_before, text_of


from functools import partial

from uricodec.errors import AmbiguousUrlError


# --- codes ------------------------------------------------------------------------------------------------------------

cdef enum HostCode:
    AGREED, SCHEME, SLASHES, CONTROL, BLANK, BACKSLASH, NOT_ASCII, USERINFO, PERCENT, NO_HOST, HOST, EMPTY_LABEL
    TRAILING_DOT, LENGTH, NUMBER, A_LABEL, IP_LITERAL, ZONE, PORT, PORT_NOT_ALLOWED, SURROGATE, SCHEME_NOT_ACCEPTED
    CODES

AGREED_CODES, AGREED_REASONS = [None] * CODES, [None] * CODES
cdef int number
for number, name, reason in (
    (SCHEME, "scheme", 'expected an accepted scheme and "://" (curl guesses a missing one)'),
    (SLASHES, "slashes", 'expected exactly "//" (WHATWG parsers and curl accept fewer or more, urllib.parse finds no host)'),
    (CONTROL, "control", "control character (WHATWG parsers and urllib.parse delete some of them, httpx and curl reject them)"),
    (BLANK, "blank", "space (some parsers delete it before a URL; urllib.parse keeps it in a host, httpx encodes it)"),
    (BACKSLASH, "backslash", "backslash (WHATWG parsers and urllib3 end the host there, urllib.parse does not)"),
    (NOT_ASCII, "not-ascii", "character beyond ASCII in the authority (parsers map it by different versions of IDNA, or not at"
                             ' all; convert the URL with uricodec.iri.iri_to_uri(url, host="idna") first)'),
    (USERINFO, "userinfo", '"@" in the authority (urllib.request connects to all of it, others to what follows "@")'),
    (PERCENT, "percent", '"%" in host (WHATWG parsers and curl decode triplets, urllib.parse and httpx do not)'),
    (NO_HOST, "no-host", "no host"),
    (HOST, "host", "invalid character in host (curl rejects most of them, requests encodes some, urllib.parse keeps them)"),
    (EMPTY_LABEL, "empty-label", "empty label in host (requests rejects some of them, others keep them)"),
    (TRAILING_DOT, "trailing-dot", "trailing dot in host (the same host in DNS, but not in lists of hosts)"),
    (LENGTH, "length", "host or label is too long for DNS"),
    (NUMBER, "number", "host ends in a number, but is not an address in usual notation (WHATWG parsers and curl read 127.1 as"
                       " an address, urllib.parse as a name)"),
    (A_LABEL, "a-label", "invalid A-label in host (Node rejects it, others keep it)"),
    (IP_LITERAL, "ip-literal", "invalid IP literal (urllib.parse and yarl accept some that others reject)"),
    (ZONE, "zone", "zone in IP literal (curl and urllib3 accept it, WHATWG parsers reject it)"),
    (PORT, "port", "invalid port (urllib3 reads 0 as the default, httpx accepts 65536, yarl a sign)"),
    (PORT_NOT_ALLOWED, "port-not-allowed", "port is not one of those that the call allows"),
    (SCHEME_NOT_ACCEPTED, "scheme",
     "scheme is not one of those that the call accepts: http, https, ws and wss, or fewer with schemes="),
    (SURROGATE, "surrogate", "lone surrogate (httpx and Ada reject it, others fail when they send it)"),
):
    AGREED_CODES[number], AGREED_REASONS[number] = name, reason
del name, reason


KIND_NAMES = ["name", "ipv4", "ipv6"]


# --- categories of addresses ------------------------------------------------------------------------------------------

cdef enum Category:
    PUBLIC, PRIVATE, LOOPBACK, LINK_LOCAL, SHARED, MULTICAST, RESERVED, METADATA, NAME
    EMBEDDED        # as the IPv4 address in the last 32 bits
    EMBEDDED_6TO4   # as the IPv4 address after the first 16 bits; RESERVED instead of PUBLIC

CATEGORY_NAMES = [
    "public", "private", "loopback", "link-local", "shared", "multicast", "reserved", "metadata", "name",
]

# Services that give credentials of a virtual machine, container or function to whoever can connect: AWS, GCP, Azure and
# others at 169.254.169.254; ECS and EKS; Tencent; Alibaba; OCI; the host of Azure's virtual machines.
cdef list METADATA_IPV4 = [
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23", "100.100.100.200", "192.0.0.192", "168.63.129.16",
]
cdef list METADATA_IPV6 = ["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"]

# IANA IPv4 Special-Purpose Address Registry (RFC 6890), and multicast. The first row that contains an address counts.
cdef list IPV4_RANGES = [
    *[(METADATA, address, 32) for address in METADATA_IPV4],
    (PUBLIC, "192.0.0.9", 32), (PUBLIC, "192.0.0.10", 32),
    (RESERVED, "0.0.0.0", 8), (PRIVATE, "10.0.0.0", 8), (SHARED, "100.64.0.0", 10), (LOOPBACK, "127.0.0.0", 8),
    (LINK_LOCAL, "169.254.0.0", 16), (PRIVATE, "172.16.0.0", 12), (RESERVED, "192.0.0.0", 24),
    (RESERVED, "192.0.2.0", 24), (PRIVATE, "192.168.0.0", 16), (RESERVED, "198.18.0.0", 15),
    (RESERVED, "198.51.100.0", 24), (RESERVED, "203.0.113.0", 24), (MULTICAST, "224.0.0.0", 4),
    (RESERVED, "240.0.0.0", 4),
    (PUBLIC, "0.0.0.0", 0),
]
# IANA IPv6 Special-Purpose Address Registry, and multicast. RFC 3513 section 2.4: only 2000::/3 is assigned to unicast
# addresses that are global.
cdef list IPV6_RANGES = [
    *[(METADATA, address, 128) for address in METADATA_IPV6],
    (LOOPBACK, "::1", 128),
    (EMBEDDED, "::ffff:0:0", 96),       # RFC 4291 section 2.5.5.2: IPv4-mapped; sockets connect to the IPv4 address
    (EMBEDDED, "64:ff9b::", 96),        # RFC 6052: NAT64 does
    (EMBEDDED_6TO4, "2002::", 16),      # RFC 3056; deprecated (RFC 7526)
    (PUBLIC, "2001:1::1", 128), (PUBLIC, "2001:1::2", 128), (PUBLIC, "2001:3::", 32), (PUBLIC, "2001:4:112::", 48),
    (PUBLIC, "2001:20::", 28), (PUBLIC, "2001:30::", 28), (RESERVED, "2001::", 23), (RESERVED, "2001:db8::", 32),
    (RESERVED, "3fff::", 20), (PUBLIC, "2000::", 3),
    (PRIVATE, "fc00::", 7), (LINK_LOCAL, "fe80::", 10), (PRIVATE, "fec0::", 10), (MULTICAST, "ff00::", 8),
    (RESERVED, "::", 0),
]

cdef struct Range:
    uint16_t groups[GROUPS]
    int bits
    int category

cdef enum:
    RANGES = 32

cdef struct Ranges:
    Range ranges[RANGES]
    uint8_t first[256]      # by the first byte of an address: the first range that may contain it

cdef Ranges ipv4_ranges
cdef Ranges ipv6_ranges


cdef int fill_ranges(Ranges *table, list rows) except -1:
    cdef Range *ranges = table.ranges
    cdef int i, byte
    cdef bytes text
    cdef bint done
    for i, (category, address, bits) in enumerate(rows):
        text = address.encode("ascii")
        if i == RANGES:
            raise ValueError("the table of ranges is too small")  # pragma: no cover: cannot happen
        if b"." in text:
            done = parse_ipv4(<const uint8_t *>PyBytes_AS_STRING(text), 0, <size_t>len(text), ranges[i].groups)
        else:
            done = parse_ipv6(<const uint8_t *>PyBytes_AS_STRING(text), <size_t>len(text), ranges[i].groups)
        if not done:
            raise ValueError(address)  # pragma: no cover: cannot happen
        ranges[i].bits, ranges[i].category = bits, category
    for byte in range(256):
        i = 0
        while (ranges[i].groups[0] >> 8 ^ byte) >> (8 - min(ranges[i].bits, 8)):
            i += 1
        table.first[byte] = <uint8_t>i
    return 0


fill_ranges(&ipv4_ranges, IPV4_RANGES)
fill_ranges(&ipv6_ranges, IPV6_RANGES)


cdef int category_in(const Ranges *table, const uint16_t *groups) noexcept nogil:
    """Return the category of the first range that contains an address. The last range contains all."""
    cdef const Range *ranges = table.ranges + table.first[groups[0] >> 8]
    cdef int k, bits
    while True:
        k, bits = 0, ranges.bits
        while bits >= 16 and groups[k] == ranges.groups[k]:
            k += 1
            bits -= 16
        if bits < 16 and (bits == 0 or groups[k] >> (16 - bits) == ranges.groups[k] >> (16 - bits)):
            return ranges.category
        ranges += 1


cdef int category_of(HostForm form, const uint16_t *groups) noexcept nogil:
    cdef int category
    if form == NAME_HOST:
        return NAME
    if form == IPV4_HOST:
        return category_in(&ipv4_ranges, groups)
    category = category_in(&ipv6_ranges, groups)
    if category == EMBEDDED:
        return category_in(&ipv4_ranges, groups + 6)
    if category == EMBEDDED_6TO4:
        category = category_in(&ipv4_ranges, groups + 1)
        return RESERVED if category == PUBLIC else category
    return category


def address_category(address):
    """Return the category of an IP address, for a decision whether to connect to it.

    Args:
        address (str | ipaddress.IPv4Address | ipaddress.IPv6Address): The address, without brackets; an IPv6 zone is
            ignored.

    Returns:
        str: "public", "private", "loopback", "link-local", "shared" (RFC 6598), "multicast", "reserved" (all else that is
            not globally reachable: this network, protocol assignments, documentation, benchmarks, unassigned ranges) or
            "metadata" (services that give credentials to whoever can connect, such as 169.254.169.254). IPv4-mapped and
            NAT64 addresses (64:ff9b::/96) have the category of their IPv4 address, and so do 6to4 addresses, except
            that none is public.

    Raises:
        ValueError: If the text is not an address in the syntax of RFC 3986.

    Source: RFC 6890, and the IANA registries of special-purpose addresses.

    >>> address_category("93.184.216.34"), address_category("::ffff:10.0.0.1"), address_category("169.254.169.254")
    ('public', 'private', 'metadata')
    """
    cdef uint16_t groups[GROUPS]
    cdef bytes text = str(address).partition("%")[0].encode("ascii", "replace")
    cdef const uint8_t *s = <const uint8_t *>PyBytes_AS_STRING(text)
    if parse_ipv4(s, 0, <size_t>len(text), groups):
        return CATEGORY_NAMES[category_of(IPV4_HOST, groups)]
    if parse_ipv6(s, <size_t>len(text), groups):
        return CATEGORY_NAMES[category_of(IPV6_HOST, groups)]
    raise ValueError(f"expected an IP address, got {str(address)!r}")


# --- reading a URL ----------------------------------------------------------------------------------------------------

cdef enum:
    HTTP, HTTPS, WS, WSS
SCHEMES = ["http", "https", "ws", "wss"]
DEFAULT_PORTS[:] = [80, 443, 80, 443]

cdef enum:
    LABEL = 63      # the longest in DNS (RFC 1035 section 2.3.4)

# The bytes that continue a part.
cdef ByteSet IN_NAME = ALPHANUM | "-_."
#   userinfo      = *( unreserved / pct-encoded / sub-delims / ":" )        RFC 3986 section 3.2.1
cdef ByteSet IN_USERINFO = UNRESERVED | SUB_DELIMS | ":"
cdef ByteSet IN_ADDRESS = HEXDIG | ":."
cdef ByteSet IN_LITERAL = IN_ADDRESS | "]"      # and in a port after it
cdef ByteSet NUMBER_END = DIGIT | "abcdefx"      # last bytes of numbers
cdef ByteSet PRINTED = ~(ByteSet(range(0x20)) | "\x7f")


cdef inline bint reject(Outcome *outcome, int code, size_t offset) noexcept nogil:
    outcome.code, outcome.offset = code, offset
    return False


cdef inline int read_scheme(const uint8_t *s, size_t n) noexcept nogil:
    """Return the scheme with which a URL begins; -1 if it is another one."""
    if n >= 3 and s[0] | 0x20 == c'w' and s[1] | 0x20 == c's':
        return WS if s[2] == c':' else WSS if n >= 4 and s[2] | 0x20 == c's' and s[3] == c':' else -1
    if n >= 5 and s[0] | 0x20 == c'h' and s[1] | 0x20 == c't' and s[2] | 0x20 == c't' and s[3] | 0x20 == c'p':
        return HTTP if s[4] == c':' else HTTPS if n >= 6 and s[4] | 0x20 == c's' and s[5] == c':' else -1
    return -1


cdef inline bint ends_authority(const uint8_t *s, size_t n, size_t i) noexcept nogil:
    return i == n or s[i] == c'/' or s[i] == c'?' or s[i] == c'#'


cdef inline size_t end_of_name(const uint8_t *s, size_t n, size_t i) noexcept nogil:
    while i < n and IN_NAME.set.member[s[i]]:
        i += 1
    return i


cdef bint read_userinfo(const uint8_t *s, size_t start, size_t end, Outcome *outcome) noexcept nogil:
    cdef size_t i = start
    while i < end:
        if s[i] == c'%' and triplet_value(s + i, end - i) >= 0:
            i += 3
        elif IN_USERINFO.set.member[s[i]]:
            i += 1
        else:
            return reject(outcome, USERINFO, i)
    return True


cdef bint examine(const uint8_t *s, size_t n, size_t *start, const Accepted *accepted, Outcome *outcome) noexcept nogil:
    """Look at an authority that is more than a name and a port, and skip its userinfo. False: it is rejected."""
    cdef size_t i = start[0], at = n
    while not ends_authority(s, n, i):
        if s[i] == c'\\':
            return reject(outcome, BACKSLASH, i)
        if s[i] == c' ':
            return reject(outcome, BLANK, i)
        if s[i] >= 0x80:
            return reject(outcome, NOT_ASCII, i)
        if not PRINTED.set.member[s[i]]:
            return reject(outcome, CONTROL, i)
        if s[i] == c'@':
            if at < n or not accepted.userinfo:
                return reject(outcome, USERINFO, i)
            at = i
        i += 1
    if at < n:
        if not read_userinfo(s, start[0], at, outcome):
            return False
        start[0] = at + 1
    return True


cdef bint read_ip_literal(const uint8_t *s, size_t n, size_t start, size_t *end, WebHost *found,
                          Outcome *outcome) noexcept nogil:
    """Read "[" IPv6address "]" and write its short form."""
    cdef size_t i = start + 1 + kernels.span(s + start + 1, n - start - 1, &IN_ADDRESS.set)
    while not ends_authority(s, n, i) and s[i] != c']':
        if s[i] == c'%':
            return reject(outcome, ZONE, i)
        i += 1
    if ends_authority(s, n, i) or not parse_ipv6(s + start + 1, i - start - 1, found.groups):
        return reject(outcome, IP_LITERAL, start)
    i += 1
    if not ends_authority(s, n, i) and s[i] != c':':
        return reject(outcome, IP_LITERAL, i)
    found.form = IPV6_HOST
    found.size = format_ipv6(found.groups, True, found.host)      # at most LONGEST bytes
    end[0] = i
    return True


cdef bint read_name(const uint8_t *s, size_t start, size_t end, const Accepted *accepted, WebHost *found,
                    Outcome *outcome) noexcept nogil:
    """Read a name or an IPv4 address that consists of IN_NAME, and write it in lower case."""
    cdef size_t size = end - start, i, label = 0
    cdef uint8_t c
    if size == 0:
        return reject(outcome, NO_HOST, start)
    if size - (s[end - 1] == c'.') > NAME_SIZE:
        return reject(outcome, LENGTH, start)
    for i in range(size):       # size <= NAME_SIZE + 1
        c = s[start + i]
        found.host[i] = lower(c)
        if c > c'.':
            continue
        if c == c'.':
            if i == label:
                return reject(outcome, EMPTY_LABEL, start + i)
            if i - label > LABEL:
                return reject(outcome, LENGTH, start + label)
            if i + 1 < size:
                label = i + 1
        elif i - label == 3 and found.host[i - 1] == c'-' and found.a_label < 0:
            if found.host[label] == c'x' and found.host[label + 1] == c'n':
                found.a_label = <Py_ssize_t>label
    found.size = size
    if c == c'.':
        size -= 1
    if size - label > LABEL:
        return reject(outcome, LENGTH, start + label)
    found.form = NAME_HOST
    if DIGIT.set.member[found.host[label]] and is_numeric_label(found.host + label, size - label):
        if size < found.size or not parse_ipv4(found.host, 0, size, found.groups):
            return reject(outcome, NUMBER, start)
        found.form = IPV4_HOST
    elif size < found.size and not accepted.trailing_dot:
        return reject(outcome, TRAILING_DOT, end - 1)
    return True


cdef bint read_port(const uint8_t *s, size_t n, size_t *end, WebHost *found, Outcome *outcome) noexcept nogil:
    """Read a port after ":": nothing, or 1 to 65535 in at most five digits."""
    cdef size_t i = end[0], start = i
    cdef uint32_t port = 0
    while i < n and i - start < 5 and DIGIT.set.member[s[i]]:
        port = 10 * port + s[i] - c'0'
        i += 1
    if not ends_authority(s, n, i) or port > 65535 or i > start and port == 0:
        return reject(outcome, PORT, start)
    if i > start:
        found.port = <uint16_t>port
    end[0] = i
    return True


cdef inline bint read_plain(const uint8_t *s, size_t n, const Accepted *accepted, WebHost *found) noexcept nogil:
    """Find the host of a URL if it is as most are. False: read_url() has to read it.

    That is, in lower case, "http://" or "https://"; a name of at most LABEL bytes, with no "-" or "." at its start, at its
    end or beside another one; and "/", "?", "#" or the end. So all labels are fine, and none has "xn--".
    """
    cdef const uint8_t *name
    cdef size_t start = web_prefix(s, n), size, i = 0
    cdef uint64_t word, next, capital, apart = ~<uint64_t>0
    cdef uint8_t last
    if start == 0:
        return False
    found.scheme = HTTP + (start == 8)
    size = kernels.span(s + start, n - start, &IN_NAME.set)
    if not ends_authority(s, n, start + size) or size - 1 >= <size_t>LABEL or not accepted.schemes >> found.scheme & 1:
        return False
    name = s + start
    if n - start - size < sizeof(word):
        copy_text(found.host, name, size)
        memset(found.host + size, c'a', sizeof(word))
        name = found.host
    # In each byte of these words, the sum has the highest bit if the byte, below 0x80, is at least 0x30, so neither "-"
    # nor "."; at least "A"; after "Z". What follows the name is looked at, too, and may only cost time.
    while i < size:
        memcpy(&word, name + i, sizeof(word))
        memcpy(&next, name + i + 1, sizeof(next))
        word, next = word & <uint64_t>0x7F7F7F7F7F7F7F7F, next & <uint64_t>0x7F7F7F7F7F7F7F7F
        apart &= (word + <uint64_t>0x5050505050505050) | (next + <uint64_t>0x5050505050505050)
        capital = (word + <uint64_t>0x3F3F3F3F3F3F3F3F) & ~(word + <uint64_t>0x2525252525252525)
        word |= (capital & <uint64_t>0x8080808080808080) >> 2
        memcpy(found.host + i, &word, sizeof(word))
        i += sizeof(word)
    last = found.host[size - 1]
    if ~apart & <uint64_t>0x8080808080808080 or found.host[0] < c'0' or last < c'0':
        return False
    if NUMBER_END.set.member[last]:
        i = size
        while i and found.host[i - 1] != c'.':
            i -= 1
        if DIGIT.set.member[found.host[i]]:
            return False
    found.form, found.port, found.a_label = NAME_HOST, DEFAULT_PORTS[found.scheme], -1
    found.start, found.size, found.port_start = start, size, start + size
    return kernels.span(s + start + size, n - start - size, &PRINTED.set) == n - start - size


cdef bint read_url(const uint8_t *s, size_t n, const Accepted *accepted, WebHost *found, Outcome *outcome) noexcept nogil:
    """Find the host of a URL. False: it is rejected, and `outcome` has the reason."""
    cdef size_t i, start, port
    cdef bint has_scheme
    cdef int scheme = read_scheme(s, n)
    if scheme < 0:
        if n and s[0] == c' ':
            return reject(outcome, BLANK, 0)
        if n and not PRINTED.set.member[s[0]]:
            return reject(outcome, CONTROL, 0)
        # What a digit follows is a host and a port.
        i = end_of_scheme(s, n)
        has_scheme = i > 0 and not (i + 1 < n and c'0' <= s[i + 1] <= c'9')
        return reject(outcome, SCHEME_NOT_ACCEPTED if has_scheme else SCHEME, 0)
    if not accepted.schemes >> scheme & 1:
        return reject(outcome, SCHEME_NOT_ACCEPTED, 0)
    found.scheme = scheme
    found.port = DEFAULT_PORTS[scheme]
    found.a_label = -1
    i = 3 if scheme == WS else 4 if scheme == WSS else 5 if scheme == HTTP else 6
    for start in range(i, i + 3):
        if start < n and s[start] == c'\\':
            return reject(outcome, BACKSLASH, start)
    if n - i < 2 or s[i] != c'/' or s[i + 1] != c'/':
        return reject(outcome, SLASHES, i)
    i += 2
    if i < n and s[i] == c'/':
        return reject(outcome, SLASHES, i)

    start = i
    if i < n and s[i] == c'[':
        i += 1
        i += kernels.span(s + i, n - i, &IN_LITERAL.set)
    else:
        i = end_of_name(s, n, start)
    port = i + 1
    while i < n and s[i] == c':' and port < n and DIGIT.set.member[s[port]]:
        port += 1
    if not ends_authority(s, n, i) and (s[i] != c':' or not ends_authority(s, n, port)):
        if not examine(s, n, &start, accepted, outcome):
            return False
        i = end_of_name(s, n, start)
    found.start = start
    if start < n and s[start] == c'[':
        if not read_ip_literal(s, n, start, &i, found, outcome):
            return False
    elif not ends_authority(s, n, i) and s[i] != c':':
        return reject(outcome, PERCENT if s[i] == c'%' else HOST, i)
    elif not read_name(s, start, i, accepted, found, outcome):
        return False
    found.port_start = i
    if i < n and s[i] == c':':
        i += 1
        found.port_start = i
        if not read_port(s, n, &i, found, outcome):
            return False
    start = i + kernels.span(s + i, n - i, &PRINTED.set)
    return start == n or reject(outcome, CONTROL, start)


# --- A-labels, and the ports of a caller ------------------------------------------------------------------------------

cdef bint has_a_labels(const WebHost *found, Outcome *outcome) noexcept nogil:
    """Return whether each label with "xn--" is an A-label."""
    cdef uint8_t unicode[U_LABELS_CAPACITY]
    cdef const uint8_t *label
    cdef size_t start = <size_t>found.a_label, end, size
    cdef Py_ssize_t answer
    while start < found.size:
        end = start
        while end < found.size and found.host[end] != c'.':
            end += 1
        label = found.host + start
        if end - start >= 4 and memcmp(label, b"xn--", 4) == 0:
            size = to_u_labels(label, end - start, False, unicode)
            if size == UC_REJECTED:
                return reject(outcome, UC_RAISED, 0)
            if size == 0:
                answer = ask_about_host("to_unicode", label, end - start, unicode, sizeof(unicode))
                if answer < 0:
                    return reject(outcome, UC_RAISED if answer == -2 else A_LABEL, 0 if answer == -2 else found.start + start)
        start = end + 1
    return True


cdef bint read_web_host(const uint8_t *s, size_t n, const Accepted *accepted, uint8_t *host, WebHost *found,
                        Outcome *outcome) noexcept nogil:
    found.host = host
    if not read_plain(s, n, accepted, found) and not read_url(s, n, accepted, found, outcome):
        return False
    if accepted.ports != NULL and not accepted.ports[found.port >> 3] >> (found.port & 7) & 1:
        return reject(outcome, PORT_NOT_ALLOWED, found.port_start)
    return found.a_label < 0 or has_a_labels(found, outcome)


# --- objects ----------------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Host:
    """A host to connect to, as `agreed_host` returns it: immutable, hashable.

    Two objects are equal if scheme, host and port are.

    >>> from uricodec import uri
    >>> host = uri.agreed_host("HTTPS://[2001:0DB8::1]:8443/?q")
    >>> host
    Host(scheme='https', host='2001:db8::1', port=8443, kind='ipv6', category='reserved')
    >>> host == uri.agreed_host("https://[2001:db8::0:1]:8443")
    True
    """
    cdef str text
    cdef int of_scheme, of_port, form, of_category

    def __init__(self):
        raise TypeError("expected a call of agreed_host(), which returns a Host")

    @property
    def scheme(self):
        """The scheme: "http", "https", "ws" or "wss"."""
        return SCHEMES[self.of_scheme]

    @property
    def host(self):
        """A name in lower case, or an address without brackets, an IPv6 address in its short form."""
        return self.text

    @property
    def port(self):
        """The port; the default of the scheme if the URL has none."""
        return self.of_port

    @property
    def kind(self):
        """What the host is: "name", "ipv4" or "ipv6"."""
        return KIND_NAMES[self.form]

    @property
    def category(self):
        """The category of the address, see `address_category`; "name" for a name."""
        return CATEGORY_NAMES[self.of_category]

    @property
    def is_global(self):
        """Whether the host is an address of category "public". A name is not: resolve it, and check its addresses."""
        return self.of_category == PUBLIC

    def as_url(self):
        """Return the URL of the host: scheme, host and port, without a path.

        Returns:
            str: The URL; the port is left out if it is the default. It is the origin of RFC 6454.

        Source: RFC 6454 section 6.2.

        >>> from uricodec import uri
        >>> uri.agreed_host("http://[::1]:80/a").as_url(), uri.agreed_host("https://Example.org:8443/a").as_url()
        ('http://[::1]', 'https://example.org:8443')
        """
        host = f"[{self.text}]" if self.form == IPV6_HOST else self.text
        port = "" if self.of_port == DEFAULT_PORTS[self.of_scheme] else f":{self.of_port}"
        return f"{self.scheme}://{host}{port}"

    def __repr__(self):
        return (f"Host(scheme={self.scheme!r}, host={self.text!r}, port={self.of_port}, kind={self.kind!r}, "
                f"category={self.category!r})")

    def __hash__(self):
        return hash((self.of_scheme, self.text, self.of_port))

    def __eq__(self, other):
        if type(other) is not Host:
            return NotImplemented
        return (self.text == (<Host>other).text and self.of_port == (<Host>other).of_port
                and self.of_scheme == (<Host>other).of_scheme)

    def __reduce__(self):
        return partial(agreed_host, trailing_dot="allow"), (self.as_url(),)


cdef Host make_host(const WebHost *found):
    cdef Host host = Host.__new__(Host)
    host.text = ascii_text(found.host, found.size)
    host.of_scheme, host.of_port, host.form = found.scheme, found.port, found.form
    host.of_category = category_of(found.form, found.groups)
    return host


cdef str RAISE = "raise"


cdef bint allowed(str name, object value) except -1:
    if value != "raise" and value != "allow":
        raise ValueError(f"{name} must be 'raise' or 'allow', got {value!r}")
    return value == "allow"


cdef int set_accepted(Accepted *accepted, object schemes, object userinfo, object trailing_dot) except -1:
    accepted.schemes, accepted.ports = (1 << <int>len(SCHEMES)) - 1 if schemes is None else 0, NULL
    for scheme in () if schemes is None else schemes:
        if scheme not in SCHEMES:
            raise ValueError(f"unknown scheme {scheme!r}; choose from {', '.join(SCHEMES)}")
        accepted.schemes |= 1 << <int>SCHEMES.index(scheme)
    accepted.userinfo = userinfo is not RAISE and allowed("userinfo", userinfo)
    accepted.trailing_dot = trailing_dot is not RAISE and allowed("trailing_dot", trailing_dot)
    return 0


cdef int set_ports(Accepted *accepted, object ports, uint8_t *bits) except -1:
    cdef int port
    if ports is None:
        return 0
    memset(bits, 0, PORT_BYTES)
    for value in ports:
        if not isinstance(value, int):
            raise TypeError(f"ports must be int, got {type(value).__name__}")
        if not 0 < value < 0x10000:
            raise ValueError(f"port must be 1 to 65535, got {value}")
        port = value
        bits[port >> 3] |= 1 << (port & 7)
    accepted.ports = bits
    return 0


cdef int raise_ambiguous(object input, object text, const uint8_t *s, const Outcome *outcome) except -1:
    if outcome.code == UC_RAISED:
        reraise()
    position = characters_before(s, outcome.offset) if type(text) is str else <Py_ssize_t>outcome.offset
    raise AmbiguousUrlError(AGREED_REASONS[outcome.code], input, position, AGREED_CODES[outcome.code])


def agreed_host(url, *, schemes=None, userinfo="raise", trailing_dot="raise", ports=None):
    """Return the host of a URL if all parsers would connect to it.

    A guard that reads a URL with one parser does not know what a client with another parser connects to. This function
    accepts only what urllib.parse, urllib3, requests, yarl, httpx, curl and WHATWG parsers (browsers, Node, Ada) read alike.

    Args:
        url (str | bytes-like): An absolute URL.
        schemes (Collection[str] | None): The accepted ones of "http", "https", "ws" and "wss"; None: all.
        userinfo (str): "raise" rejects an "@" before the host; "allow" accepts one, after characters of RFC 3986.
        trailing_dot (str): "raise" rejects a name that ends with "."; "allow" accepts it, and `Host.host` keeps it.
        ports (Collection[int] | None): The accepted ports; None: all.

    Returns:
        Host: scheme, host, port, kind and category. A name has the category "name": resolve it once, check each
            address with `address_category`, and connect to that address.

    Raises:
        AmbiguousUrlError: If parsers may differ. Its `code` is one of the codes:
            "scheme" (missing, or not accepted), "slashes" (not exactly two), "control" (one of ASCII, anywhere),
            "blank" (a space before or in the authority), "backslash" (before or in the authority), "not-ascii" (in the
            authority), "userinfo", "percent" (in the host), "no-host", "host" (another character that is not a letter,
            digit, "-", "_" or "."), "empty-label", "trailing-dot", "length" (of the host or a label), "number" (the host
            ends in a number, but is not four decimal numbers without leading zeros), "a-label" (invalid),
            "ip-literal" (invalid, or followed by text), "zone", "port" (neither empty nor 1 to 65535 in at most five
            digits), "port-not-allowed", "surrogate" (a lone one, anywhere).
        ValueError: If an option has an unknown value.

    Source: RFC 3986 section 3.2; WHATWG URL, "host parsing".

    >>> agreed_host("https://Example.org/a?b")
    Host(scheme='https', host='example.org', port=443, kind='name', category='name')
    >>> agreed_host("http://good.example\\\\@evil.example/")
    Traceback (most recent call last):
    uricodec.errors.AmbiguousUrlError: backslash (WHATWG parsers and urllib3 end the host there, urllib.parse does not) at offset 19
    """
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef uint8_t bits[PORT_BYTES]
    cdef uint8_t host[WEB_HOST_CAPACITY]
    cdef Bytes source
    cdef WebHost found
    cdef Outcome outcome
    cdef Accepted accepted
    cdef object text = text_of(url), encoded = text
    cdef size_t surrogate = UC_REJECTED     # where the first one is
    cdef bint agreed
    set_accepted(&accepted, schemes, userinfo, trailing_dot)
    set_ports(&accepted, ports, bits)
    if not borrow(text, &source, buffer):
        surrogate = <size_t>len((<str>text)[:first_surrogate(text)].encode())
        encoded = (<str>text).encode("utf-8", "surrogatepass")
        borrow(encoded, &source, buffer)
    try:
        agreed = read_web_host(source.data, source.size, &accepted, host, &found, &outcome)
        if surrogate != UC_REJECTED and (agreed or surrogate < outcome.offset):
            agreed = reject(&outcome, SURROGATE, surrogate)
        if not agreed:
            raise_ambiguous(url, text, source.data, &outcome)
        return make_host(&found)
    finally:
        release(&source)


# Classes and functions are pickled by reference: the reference must be their public name.
agreed_host.__module__ = address_category.__module__ = "uricodec.uri"
