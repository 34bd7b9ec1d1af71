"""Knowledge about authorities beyond the grammar: the spelling of IPv6 addresses, and the defaults of schemes.

IPv6 addresses are read in any text form of RFC 4291 section 2.2 and written in the form of RFC 5952.

    2001:DB8:0:0:0:0:2:1  ->  2001 0db8 0000 0000 0000 0000 0002 0001  ->  2001:db8::2:1

An address is read into eight groups and written from them, so the result does not depend on the original spelling. The
longest run of two or more zero groups becomes "::" (the first one, if several are equally long). Only an IPv4-mapped
address has its last 32 bits in dotted decimal (RFC 5952 section 5).
"""
from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from uricodec._codec._percent cimport hex_value
from uricodec.uri._grammar cimport read_ipv4


# --- IPv6 addresses ---------------------------------------------------------------------------------------------------

cdef bint parse_ipv4(const uint8_t *s, size_t start, size_t end, uint16_t *groups) noexcept nogil:
    """Read an IPv4address (RFC 3986 section 3.2.2) into two groups. Return False if s[start .. end) is not one."""
    cdef uint8_t numbers[4]
    cdef size_t i, stop
    cdef int k = 0, value = 0
    if not read_ipv4(s, start, end, &stop) or stop != end:
        return False
    for i in range(start, end):
        if s[i] == c'.':
            numbers[k] = <uint8_t>value
            k += 1
            value = 0
        else:
            value = 10 * value + s[i] - c'0'
    numbers[3] = <uint8_t>value
    for k in range(2):
        groups[k] = <uint16_t>(numbers[2 * k] << 8 | numbers[2 * k + 1])
    return True


cdef bint parse_ipv6(const uint8_t *s, size_t n, uint16_t *groups) noexcept nogil:
    """Read an IPv6address (RFC 3986 section 3.2.2). Return False if s[0 .. n) is not one."""
    cdef int count = 0, gap = -1, value, k
    cdef size_t i = 0, start
    if n >= 2 and s[0] == c':' and s[1] == c':':
        gap = 0
        i = 2
    while i < n:
        if count == GROUPS:
            return False
        start = i
        value = 0
        while i < n and i - start < 4 and hex_value(s[i]) >= 0:
            value = value << 4 | hex_value(s[i])
            i += 1
        if i == start:
            return False
        if i < n and s[i] == c'.':
            if count > GROUPS - 2 or not parse_ipv4(s, start, n, groups + count):
                return False
            count += 2
            break
        groups[count] = <uint16_t>value
        count += 1
        if i == n:
            break
        if s[i] != c':':
            return False
        i += 1
        if i == n:
            return False
        if s[i] == c':':
            if gap >= 0:
                return False
            gap = count
            i += 1
    if gap < 0:
        return count == GROUPS
    if count == GROUPS:
        return False            # "::" stands for at least one group
    for k in range(count - gap):
        groups[GROUPS - 1 - k] = groups[count - 1 - k]
    for k in range(gap, gap + GROUPS - count):
        groups[k] = 0
    return True


cdef inline size_t put_hex(uint16_t value, uint8_t *dst) noexcept nogil:
    cdef const char *digits = "0123456789abcdef"
    cdef size_t o = 0
    cdef int shift = 12
    while shift and value >> shift == 0:
        shift -= 4
    while shift >= 0:
        dst[o] = <uint8_t>digits[value >> shift & 15]
        o += 1
        shift -= 4
    return o


cdef inline size_t put_decimal(int value, uint8_t *dst) noexcept nogil:
    """Write one number of an IPv4 address."""
    cdef size_t o = 0
    if value >= 100:
        dst[o] = <uint8_t>(c'0' + value // 100)
        o += 1
    if value >= 10:
        dst[o] = <uint8_t>(c'0' + value // 10 % 10)
        o += 1
    dst[o] = <uint8_t>(c'0' + value % 10)
    return o + 1


cdef size_t format_ipv6(const uint16_t *groups, uint8_t *dst) noexcept nogil:
    """Write an address in the form of RFC 5952, at most LONGEST bytes."""
    cdef int i, k, gap = GROUPS, gap_end = 0, ipv4 = GROUPS
    cdef size_t o = 0
    i = 0
    while i < GROUPS:
        k = i
        while k < GROUPS and groups[k] == 0:
            k += 1
        if k - i >= 2 and k - i > gap_end - gap:        # gap_end - gap is negative until the first run is found
            gap, gap_end = i, k
        i = k + 1
    # ::ffff:0:0/96 (RFC 4291 section 2.5.5.2)
    if gap == 0 and gap_end == 5 and groups[5] == 0xFFFF:
        ipv4 = 6
    i = 0
    while i < GROUPS:
        if i == gap:
            dst[o] = dst[o + 1] = c':'
            o += 2
            i = gap_end
            continue
        if i != 0 and i != gap_end:
            dst[o] = c':'
            o += 1
        if i == ipv4:
            for k in range(4):
                if k:
                    dst[o] = c'.'
                    o += 1
                o += put_decimal(groups[6 + k // 2] >> (8 if k % 2 == 0 else 0) & 0xFF, dst + o)
            break
        o += put_hex(groups[i], dst + o)
        i += 1
    return o


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
    size = format_ipv6(groups, address)
    memmove(host + 1 + size, host + end, n - end)
    memcpy(host + 1, address, size)
    return 1 + size + n - end


# --- defaults of schemes ----------------------------------------------------------------------------------------------

# Facts that the definitions of schemes state about authorities: the default port, and whether the host is a domain
# name.

# scheme, default port, whether hosts are domain names
cdef list SCHEMES = [
    # RFC 1738 section 3.1, of <host>: "The fully qualified domain name of a network host, or its IP address". Section
    # 3.2, and 3.4, 3.7 to 3.9 and 3.11 in the same words: "If :<port> is omitted, the port defaults to 21."
    ("ftp", 21, True),
    ("gopher", 70, True),
    ("nntp", 119, True),
    ("telnet", 23, True),
    ("wais", 210, True),
    ("prospero", 1525, True),
    # RFC 8089 section 2: "The "host" is the fully qualified domain name of the system on which the file is accessible."
    ("file", None, True),
    # RFC 9110 section 4.2.1: "If the port subcomponent is empty or not given, TCP port 80 (the reserved port for WWW
    # services) is the default." Section 4.2.2: "TCP port 443 (the reserved port for HTTP over TLS) is the default."
    ("http", 80, True),
    ("https", 443, True),
    # RFC 6455 section 3: "The port component is OPTIONAL; the default for "ws" is port 80, while the default for "wss"
    # is port 443."
    ("ws", 80, True),
    ("wss", 443, True),
    # RFC 2326 section 3.2: "If the port is empty or not given, port 554 is assumed."
    ("rtsp", 554, True),
    # RFC 4516 section 2: "The default LDAP port is TCP port 389."
    ("ldap", 389, True),
    # RFC 7252 section 6.1: "If it is empty or not given, then the default port 5683 is assumed"; 6.2: 5684.
    ("coap", 5683, True),
    ("coaps", 5684, True),
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
    row.dns = dns
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
