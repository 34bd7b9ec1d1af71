"""Estimation of the number of different identifiers."""
from libc.stdint cimport uint8_t, uint64_t

from uricodec.dedup._table cimport IdentifierBatch


cdef class Cardinality:
    cdef readonly int precision
    cdef uint8_t *registers
    cdef size_t count           # registers

    cdef void add_rows(self, IdentifierBatch names) noexcept nogil
