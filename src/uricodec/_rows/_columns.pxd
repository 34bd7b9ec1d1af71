"""Columns as objects have them."""
from uricodec._rows._arrow cimport Array
from libc.stdint cimport int64_t
from uricodec._rows._arrow cimport Array, Type


cdef tuple read_column(object source, list arrays)
cdef Array table_of(Array column)


cdef list values_of(Type type, Array array, int64_t start, int64_t stop, errors)
cdef str name_of(Type type)
