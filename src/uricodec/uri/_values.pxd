"""Splitting of any text, for operations on rows."""
from libc.stdint cimport uint8_t

from uricodec._rows._engine cimport Component


# Find the components of any text, in the order of `split_uri`: scheme, authority, userinfo, host, port, path, query,
# fragment (RFC 3986 appendix B).
cdef void split_any(const uint8_t *s, size_t n, Component *fields) noexcept nogil

# Find the host and the port of any text; start < 0: it has none.
cdef void split_host(const uint8_t *s, size_t n, Component *host, Component *port) noexcept nogil
