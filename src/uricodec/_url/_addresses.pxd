"""IPv4 and IPv6 addresses as groups of 16 bits."""
from libc.stdint cimport uint8_t, uint16_t

from uricodec._base._kernels cimport DIGIT


cdef enum:
    GROUPS = 8          # of an IPv6 address, of 16 bits each
    LONGEST = 39        # bytes: eight groups of four digits, seven colons

# Read an IPv4address into two groups, or an IPv6address without brackets into eight. False: the text is not one.
cdef bint parse_ipv4(const uint8_t *s, size_t start, size_t end, uint16_t *groups) noexcept nogil
cdef bint parse_ipv6(const uint8_t *s, size_t n, uint16_t *groups) noexcept nogil

# Return whether a text is "v", hexadecimal digits, a dot, and at least one character of any kind, which urllib.parse takes
# for an IPvFuture.
cdef bint is_ipvfuture(const uint8_t *s, size_t n) noexcept nogil

# Write an IPv6 address in the form of RFC 5952, at most LONGEST bytes, and return its size. dotted: as RFC 5952 section
# 5 says, the IPv4 address in an IPv4-mapped one has dots.
cdef size_t format_ipv6(const uint16_t *groups, bint dotted, uint8_t *dst) noexcept nogil


cdef inline size_t end_of_byte(const uint8_t *s, size_t i, size_t end) noexcept nogil:
    """Return the end of the longest dec-octet that starts at i; `i` if none does.

    dec-octet = DIGIT / %x31-39 DIGIT / "1" 2DIGIT / "2" %x30-34 DIGIT / "25" %x30-35
    """
    cdef int value = 0
    while i < end and DIGIT.set.member[s[i]] and 10 * value + s[i] - c'0' <= 255:
        value = 10 * value + s[i] - c'0'
        i += 1
        if value == 0:
            break
    return i


# Return whether s[start .. end) begins with an IPv4address. `stop` is where it ends, or the first byte that does not
# match.
cdef bint read_ipv4(const uint8_t *s, size_t start, size_t end, size_t *stop) noexcept nogil
