"""A table of names: which came before, as far as memory goes."""
from libc.stdint cimport uint8_t, uint64_t

from uricodec.dedup._names cimport Names


# What loops need of a table, in registers while they run.
cdef struct Slots:
    uint64_t *start         # the first slot, and
    uint64_t *last          # the last one, which is always empty: every search ends
    uint64_t homes          # how many slots are the home of a name
    size_t count            # names in it
    size_t enough           # as many as there should be before it grows


# Forms one behind the other.
cdef struct Arena:
    uint8_t *start
    uint8_t *region         # address space, and how much
    size_t reserved
    size_t had              # octets that memory was had for
    size_t used


cdef class Table:
    cdef readonly size_t limit
    cdef readonly bint counting
    cdef readonly bint exact
    cdef readonly bint full
    cdef Slots slots
    cdef Arena arena
    cdef uint8_t *region    # where the slots are, at the end of it; NULL: nothing is there
    cdef size_t reserved
    cdef size_t had
    cdef size_t granule
    cdef bint stuck         # the slack is used up: no growth would help
    cdef char busy

    cdef void open(self) noexcept nogil
    cdef void close(self) noexcept nogil
    cdef size_t rounded(self, size_t size) noexcept nogil
    cdef int use(self) except -1
    cdef tuple block_of_counts(self, size_t at, Py_ssize_t block)
    cdef int make_room(self) noexcept nogil
    cdef int grow(self, size_t size) noexcept nogil
    cdef int make_room_for(self, size_t octets) noexcept nogil
    cdef size_t take_counts(self, size_t *at, uint64_t *pairs, size_t room) noexcept nogil
