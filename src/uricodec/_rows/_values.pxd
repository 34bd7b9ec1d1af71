"""Python objects of the rows of arrays."""
from libc.stdint cimport int64_t

from uricodec._rows._arrow cimport Array, Type


cdef list values_of(Type type, Array array, int64_t start, int64_t stop, errors)
cdef str name_of(Type type)
