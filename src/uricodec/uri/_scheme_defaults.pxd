"""What is known of schemes that have an authority."""
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
