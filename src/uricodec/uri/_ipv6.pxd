"""IPv6 addresses in one spelling."""
from libc.stdint cimport uint8_t


cdef enum:
    IPV6_GROWTH = 6     # bytes by which the normal form may be longer: "::ffff:a:a" becomes "::ffff:0.10.0.10"

# Bring host[0 .. n), n >= 2, which begins with "[", into normal form, in place: the buffer has IPV6_GROWTH bytes more.
# What is not an IPv6 address, with or without a zone, and "]" stays. Returns the size.
cdef size_t normalize_ipv6(uint8_t *host, size_t n) noexcept nogil
