"""Conditions on the fields of records."""
from libc.stdint cimport int64_t

from uricodec.logs._fields cimport Text
from uricodec.logs._texts cimport Filter


cdef int set_condition(Filter *filter, object condition, list kept) except -1
cdef bint matches(const Filter *filter, Text text) noexcept nogil
cdef bint matches_moment(const Filter *filter, int64_t micros) noexcept nogil
cdef bint matches_flags(const Filter *filter, int flags) noexcept nogil
