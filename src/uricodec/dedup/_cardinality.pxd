"""How many names there are, roughly."""
from libc.stdint cimport uint8_t, uint64_t

from uricodec.dedup._table cimport Names


cdef class Cardinality:
    cdef readonly int precision
    cdef uint8_t *registers
    cdef size_t count           # of registers

    cdef void add_rows(self, Names names) noexcept nogil
