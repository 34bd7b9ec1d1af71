"""Resolving references against a base, row by row."""
from libc.stdint cimport uint8_t

from uricodec._rows._operation cimport Operation
from uricodec.uri._grammar cimport Parts


# A base URI, for any number of references.
cdef struct Base:
    const uint8_t *s
    size_t n
    Parts parts
    size_t directory        # where the last segment of its path begins
    bint strict             # False: a scheme in a reference that is the base's is ignored

# False if it has no scheme.
cdef bint find_base(const uint8_t *s, size_t n, bint strict, Base *base) noexcept nogil

# Write the target of a reference: at most base.n + n + RESOLVE_EXTRA octets.
cdef size_t write_target(const Base *base, const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil

cdef enum:
    RESOLVE_EXTRA = 3

# Rows that are references, whose options are the Base.
cdef Operation resolve_rows(const Base *base) noexcept
