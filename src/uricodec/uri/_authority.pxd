"""IPv6 addresses in one spelling; default ports and other facts about schemes that have an authority."""
from libc.stdint cimport uint8_t, uint16_t

from uricodec._codec._percent cimport hex_value


cdef enum:
    NAME = 16           # bytes of a scheme's name, padded with 0

cdef struct Scheme:
    uint8_t name[NAME]
    uint8_t port[8]     # the digits of the default port
    uint8_t port_size   # 0: the scheme has no default port
    bint dns            # a host that is not an address is a domain name

# Find a scheme, given in lower case. NULL: it is unknown.
cdef const Scheme *find_scheme(const uint8_t *name, size_t n) noexcept nogil


cdef enum:
    IPV6_GROWTH = 6     # bytes by which the normal form may be longer: "::ffff:a:a" becomes "::ffff:0.10.0.10"

# Normalize the host in brackets host[0 .. n), n >= 2, in place, and return its size. The buffer must have IPV6_GROWTH
# bytes after it. Brackets whose content is not an IPv6 address, with or without a zone, are left unchanged.
cdef size_t normalize_ipv6(uint8_t *host, size_t n) noexcept nogil


cdef enum:
    GROUPS = 8          # of an IPv6 address, of 16 bits each
    LONGEST = 39        # bytes: eight groups of four digits, seven colons

# Read an IPv4address into two groups, or an IPv6address without brackets into eight. False: the text is not one.
cdef bint parse_ipv4(const uint8_t *s, size_t start, size_t end, uint16_t *groups) noexcept nogil
cdef bint parse_ipv6(const uint8_t *s, size_t n, uint16_t *groups) noexcept nogil

# Write an IPv6 address in the form of RFC 5952, at most LONGEST bytes, and return its size.
cdef size_t format_ipv6(const uint16_t *groups, uint8_t *dst) noexcept nogil


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
