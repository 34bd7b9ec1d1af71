"""Buffers for undecided rows that wait in temporary files, and batches of rows that are read again."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from uricodec._counting._table cimport *


# The header of a block. All sizes are in bytes.
cdef struct Header:
    uint64_t magic
    uint64_t size       # of the whole block
    uint64_t rows
    uint64_t base       # row numbers are relative to it
    uint64_t octets     # of all normal forms
    uint64_t check      # checksum of the other fields


cdef struct BlockPart:
    uint8_t *data
    uint32_t *numbers   # without forms: in `data`, after the space for fingerprints
    uint32_t *lengths
    size_t limit        # most rows; 0: the block was taken
    size_t rows
    size_t octets       # of forms, which are stored from the end of the buffer backwards
    uint64_t base


cdef class SpillBuffers:
    cdef BlockPart *parts
    cdef uint32_t *sides        # with forms: numbers and lengths of all partitions
    cdef list blocks            # the owner of each partition's data
    cdef size_t count
    cdef size_t place           # the byte of a fingerprint where the word with the partition bits begins
    cdef int shift              # from the lowest bit of that word to the partition bits
    cdef bint exact
    cdef size_t columns
    cdef size_t capacity
    cdef size_t most            # most rows of a partition
    cdef readonly Py_ssize_t full
    cdef char busy

    cdef int use(self) except -1
    cdef object finished(self, size_t part)


cdef class SpilledBatch(IdentifierBatch):
    cdef Py_buffer block
    cdef bint held
    cdef uint8_t *memory        # marks, bounds, and numbers if those of the block are not aligned
    cdef size_t allocated

    cdef int discard(self) except -1
