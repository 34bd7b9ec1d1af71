"""The host of a URL that all parsers agree about, read without objects."""
from libc.stdint cimport uint8_t, uint16_t

from uricodec._rows._engine cimport Outcome
from uricodec._url._grammar cimport GROUPS


cdef enum:
    NAME_SIZE = 253         # the longest name in DNS (RFC 1035 section 2.3.4); a trailing dot does not count
    HOST_COMPONENTS = 17    # Components in whose place there is the capacity for a host:
    WEB_HOST_CAPACITY = 16 * HOST_COMPONENTS    # NAME_SIZE + 1 bytes, and 16 more, because words are written
    PORT_BYTES = 0x10000 // 8

# What a caller accepts.
cdef struct Accepted:
    int schemes             # a bit for each of SCHEMES
    bint userinfo
    bint trailing_dot
    const uint8_t *ports    # a bit for each; NULL: all

cdef enum HostForm:
    NAME_HOST, IPV4_HOST, IPV6_HOST

cdef struct WebHost:
    int scheme
    HostForm form
    uint16_t port               # the default one if it is undefined or empty
    size_t port_start           # where the port is, or the end of the host
    Py_ssize_t a_label          # where the first label with "xn--" starts; -1: there is none
    size_t start                # of the host
    size_t size
    uint8_t *host               # in lower case; an IPv6 address without brackets
    uint16_t groups[GROUPS]     # of an address

cdef uint16_t[4] DEFAULT_PORTS      # by scheme

# The names of schemes, of values of HostForm, of categories, and of the codes of outcomes; and the messages of the latter.
cdef list SCHEMES, KIND_NAMES, CATEGORY_NAMES, AGREED_CODES, AGREED_REASONS

# Set what a caller accepts. `ports` has PORT_BYTES.
cdef int set_accepted(Accepted *accepted, object schemes, object userinfo, object trailing_dot) except -1
cdef int set_ports(Accepted *accepted, object ports, uint8_t *bits) except -1

# Find the host of a URL, and write it to `host`, which has WEB_HOST_CAPACITY. False: it is rejected, and `outcome` has the
# reason, or UC_RAISED.
cdef bint read_web_host(const uint8_t *s, size_t n, const Accepted *accepted, uint8_t *host, WebHost *found,
                        Outcome *outcome) noexcept nogil

cdef int category_of(HostForm form, const uint16_t *groups) noexcept nogil
