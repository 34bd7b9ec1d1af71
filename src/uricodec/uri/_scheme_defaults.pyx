"""What the definitions of schemes say of authorities: which port is assumed, and that the host is a domain name."""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp, memcpy, memset


# scheme, port that is assumed if none is given, whether the host is in the domain name system
cdef list ROWS = [
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
    ROOM = 64
cdef Scheme rows[ROOM]
cdef size_t count = 0


cdef int add(bytes name, bytes port, bint dns) except -1:
    global count
    cdef Scheme *row = rows + count
    if count == ROOM or len(name) > NAME or len(port) > 8:
        raise ValueError(f"no room for {name!r}")
    memset(row, 0, sizeof(Scheme))
    memcpy(row.name, <const char *>name, <size_t>len(name))
    memcpy(row.port, <const char *>port, <size_t>len(port))
    row.port_size = <uint8_t>len(port)
    row.dns = dns
    count += 1
    return 0


for name, port, dns in ROWS:
    add(name.encode("ascii"), b"" if port is None else b"%d" % port, dns)
del name, port, dns


cdef const Scheme *find_scheme(const uint8_t *name, size_t n) noexcept nogil:
    cdef uint8_t padded[NAME]
    cdef size_t i
    if n > NAME:
        return NULL
    memset(padded, 0, NAME)
    memcpy(padded, name, n)
    for i in range(count):
        if memcmp(rows[i].name, padded, NAME) == 0:
            return rows + i
    return NULL
