"""Columns as objects have them."""
from uricodec._rows._arrow cimport Array


cdef tuple read_column(object source, list arrays)
cdef Array table_of(Array column)
