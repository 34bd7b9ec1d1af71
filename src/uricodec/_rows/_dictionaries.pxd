"""Dictionaries with distinct values, selection of rows, and rows by number."""
from libc.stdint cimport int64_t, uint8_t

from uricodec._rows._arrow cimport Array, Memory, Type


# The values of a dictionary without nulls and duplicates.
cdef class Distinct:
    cdef Array values
    cdef Memory numbers         # old value -> its number among the new ones, -1 for a null; None: no change
    cdef bint ordered           # the numbers are in the order of the old values

cdef Distinct distinct_of(Array values, Type type)
cdef tuple identity_of(Array array)
cdef Array with_numbers(Array array, Type type, Distinct distinct, int64_t first, Array dictionary, bytes format)
cdef tuple with_one_dictionary(Type type, list arrays, size_t limit)
cdef tuple without_null_values(Type type, list arrays)

cdef Array select_rows(Array array, Type type, const uint8_t *marks, uint8_t chosen)

cdef bint repeats_values(list arrays) except -1
cdef tuple by_indices(Array array, Type type, Array results, Type kind, size_t limit)
