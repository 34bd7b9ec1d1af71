"""IPv6 addresses in one spelling; the defaults of schemes that have an authority."""
from libc.stdint cimport uint8_t


cdef enum:
    NAME = 16           # octets of a row's name, those that are not needed being 0

cdef struct Scheme:
    uint8_t name[NAME]
    uint8_t port[8]     # its digits
    uint8_t port_size   # 0: none is assumed
    bint dns            # the host is a domain name, or an address

# The row of a scheme in lower case, NULL if there is none.
cdef const Scheme *find_scheme(const uint8_t *name, size_t n) noexcept nogil


cdef enum:
    IPV6_GROWTH = 6     # bytes by which the normal form may be longer: "::ffff:a:a" becomes "::ffff:0.10.0.10"

# Bring host[0 .. n), n >= 2, which begins with "[", into normal form, in place: the buffer has IPV6_GROWTH bytes more.
# What is not an IPv6 address, with or without a zone, and "]" stays. Returns the size.
cdef size_t normalize_ipv6(uint8_t *host, size_t n) noexcept nogil
