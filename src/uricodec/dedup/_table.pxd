"""Batches of identifiers, and a table that knows which of them came before, as far as memory goes."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from uricodec._base._atomic cimport uc_give, uc_take


cdef enum Mark:
    PENDING     # nobody has said anything yet
    SEEN        # its name came before; or it is none that counts
    NEW         # its name is new
    LATER       # its name is none of those in the table, which is full: this is found out later


# Who fills one in owns what the pointers are about, and keeps it until the next batch.
cdef class Names:
    cdef size_t count                   # of rows
    cdef public uint64_t first          # the number of the first row of all that are worked on;
    cdef const uint32_t *numbers        # NULL: the others follow; otherwise row i has the number first + numbers[i]
    # The normal form of row i: forms[form_starts[i] .. form_ends[i]). NULL where nobody needs it.
    cdef const uint8_t *forms
    cdef const size_t *form_starts
    cdef const size_t *form_ends
    cdef const uint8_t *fingerprints    # of that, UC_FINGERPRINT octets each
    cdef uint8_t *marks                 # a Mark each
    # How many rows a table has marked so, of this batch.
    cdef readonly size_t new
    cdef readonly size_t later
    cdef char busy                      # a flag: somebody fills it in, or works on it

    cdef int use(self) except -1


cdef inline uint64_t number_of(Names names, size_t i) noexcept nogil:
    return names.first + (i if names.numbers == NULL else names.numbers[i])


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
