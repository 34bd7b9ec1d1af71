"""Columns as objects: reading a column from an Arrow object, and its values as Python objects."""
from libc.stdint cimport int64_t
from uricodec._rows._arrow cimport Array, Type


cdef tuple read_column(object source, list arrays, bint runs=*)
cdef list tables_of(list columns)
cdef list sources_of(list arrays, Type type)
cdef list values_of(Type type, Array array, int64_t start, int64_t stop, errors)
cdef str name_of(Type type)
