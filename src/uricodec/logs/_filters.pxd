"""Conditions on the fields of records."""
from libc.stdint cimport int64_t, uint16_t, uint8_t

from uricodec.logs._fields cimport Text
from uricodec.logs._texts cimport Filter


cdef int set_condition(Filter *filter, object condition, list kept) except -1
cdef bint matches(const Filter *filter, Text text) noexcept nogil
cdef bint matches_moment(const Filter *filter, int64_t micros) noexcept nogil
cdef bint matches_flags(const Filter *filter, int flags) noexcept nogil

# Read an address; IPv4 as ::ffff:0:0/96. False: it is not one.
cdef bint read_address(const uint8_t *s, size_t n, uint16_t *groups) noexcept nogil
cdef bint is_mapped(const uint16_t *groups) noexcept nogil
