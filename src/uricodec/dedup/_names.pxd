"""Rows that are names: a batch of them, with the fingerprints of their normal forms, and what a table says of each."""
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
