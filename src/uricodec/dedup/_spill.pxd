"""Records of names that wait for a table with room, and batches of them."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from uricodec.dedup._table cimport *


# How a block begins. All sizes are octets.
cdef struct Header:
    uint64_t magic
    uint64_t size       # of the whole block
    uint64_t rows
    uint64_t base       # what the numbers of rows are relative to
    uint64_t octets     # of normal forms
    uint64_t check      # what the others make


cdef struct Part:
    uint8_t *data
    uint32_t *numbers   # in `data` behind as many fingerprints as fit, if there are no forms
    uint32_t *lengths
    size_t limit        # no more rows than these; 0: the block was taken
    size_t rows
    size_t octets       # of forms: the last ones before the end of the room, the first one being the very last
    uint64_t base


cdef class SpillBuffers:
    cdef Part *parts
    cdef uint32_t *sides        # numbers and lengths of all partitions, if there are forms
    cdef list blocks            # what holds the data of each
    cdef size_t count
    cdef size_t place           # the octet of a fingerprint where the word begins
    cdef int shift              # of that word, to the bits that choose a partition
    cdef bint exact
    cdef size_t room
    cdef size_t most            # rows of a partition
    cdef readonly Py_ssize_t full
    cdef char busy

    cdef int use(self) except -1
    cdef object finished(self, size_t part)


cdef class SpilledNames(Names):
    cdef Py_buffer block
    cdef bint held
    cdef uint8_t *room          # marks, bounds, and numbers if those of the block are not aligned
    cdef size_t allocated

    cdef int discard(self) except -1
