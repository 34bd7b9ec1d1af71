"""IPv4 and IPv6 addresses: read from text, and written.

An address is read in any text form of RFC 4291 section 2.2 into groups of 16 bits, and written from them in the form of
RFC 5952, so the result does not depend on the original spelling:

    2001:DB8:0:0:0:0:2:1  ->  2001 0db8 0000 0000 0000 0000 0002 0001  ->  2001:db8::2:1

The longest run of two or more zero groups becomes "::" (the first one, if several are equally long). Only an IPv4-mapped
address has its last 32 bits in dotted decimal (RFC 5952 section 5).
"""
from libc.stdint cimport uint8_t, uint16_t

from uricodec._base._text cimport write_decimal
from uricodec._codec._percent cimport hex_value


cdef bint read_ipv4(const uint8_t *s, size_t start, size_t end, size_t *stop) noexcept nogil:
    """IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet"""
    cdef size_t i = start, next
    cdef int k
    for k in range(4):
        if k:
            if i == end or s[i] != c'.':
                stop[0] = i
                return False
            i += 1
        next = end_of_byte(s, i, end)
        if next == i:
            stop[0] = i
            return False
        i = next
    stop[0] = i
    return True


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


cdef bint is_ipvfuture(const uint8_t *s, size_t n) noexcept nogil:
    cdef size_t i = 1
    while i < n and hex_value(s[i]) >= 0:
        i += 1
    return i > 1 and s[0] == c'v' and i + 1 < n and s[i] == c'.'


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


cdef size_t format_ipv6(const uint16_t *groups, bint dotted, uint8_t *dst) noexcept nogil:
    """Write an address in the form of RFC 5952, at most LONGEST bytes. dotted: an IPv4-mapped one has its dots."""
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
    if dotted and gap == 0 and gap_end == 5 and groups[5] == 0xFFFF:
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
                o += write_decimal(groups[6 + k // 2] >> (8 if k % 2 == 0 else 0) & 0xFF, dst + o)
            break
        o += put_hex(groups[i], dst + o)
        i += 1
    return o
