"""Conditions on the fields of records."""
from libc.stdint cimport uint8_t

from uricodec.logs._fields cimport Text, Zone
from uricodec.logs._texts cimport Filter


cdef int set_condition(Filter *filter, object condition, list kept) except -1
cdef bint matches(const Filter *filter, Text text) noexcept nogil
cdef bint matches_moment(const Filter *filter, const uint8_t *time, size_t n, Zone *zone) noexcept nogil
cdef bint matches_flags(const Filter *filter, int flags) noexcept nogil
