"""Batches of identifiers, and a table that recognizes repeated ones in bounded memory."""
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._base._atomic cimport uc_give, uc_take

cdef enum Mark:
    PENDING     # not decided yet
    SEEN        # its identifier occurred before; or the row is to be skipped
    NEW         # its identifier is new
    LATER       # undecided: the table is full and does not hold its identifier


# A batch. The class that fills it owns the memory that it points to, until the next batch.
cdef class IdentifierBatch:
    cdef size_t count                   # rows
    cdef public uint64_t first          # the number of the batch's first row in the whole input
    cdef const uint32_t *numbers        # row i has the number first + numbers[i]; NULL: first + i
    # The normal form of row i: forms[form_starts[i] .. form_ends[i]). NULL if not needed.
    cdef const uint8_t *forms
    cdef const size_t *form_starts
    cdef const size_t *form_ends
    # Numbers that belong to the rows, 8 bytes each, `columns` for each row. NULL: they follow the row's normal form.
    cdef const uint8_t *values
    cdef size_t columns
    cdef const uint8_t *fingerprints    # of the normal forms, UC_FINGERPRINT bytes each
    cdef uint8_t *marks                 # Mark values
    # How many rows of this batch the last table marked as NEW and as LATER.
    cdef readonly size_t new
    cdef readonly size_t later
    cdef char busy                      # a lock flag: a thread fills or processes the batch

    cdef int use(self) except -1


cdef inline uint64_t number_of(IdentifierBatch batch, size_t i) noexcept nogil:
    return batch.first + (i if batch.numbers == NULL else batch.numbers[i])


cdef inline const uint8_t *values_of(IdentifierBatch batch, size_t i) noexcept nogil:
    return batch.forms + batch.form_ends[i] if batch.values == NULL else batch.values + 8 * batch.columns * i


cdef enum:
    # Words of a slot: the first half of the fingerprint; the second half, or 1 + the position of the form; a count; a
    # row; then a sum in two words for each column to be added up, a sketch for each column of quantiles, and a set of
    # hashes for each column whose values are told apart; or with
    # KEEP_NEWEST the order of the row, in two words.
    PLAIN = 2
    COUNTING = 4
    ORDERED = 8
    LONGEST_SLOT = 16

# Which row of an identifier is kept: the first, the last, or the first of those whose order is the greatest.
cdef enum Keep:
    KEEP_FIRST, KEEP_LAST, KEEP_NEWEST


# The fields of a table that loops keep in registers.
cdef struct TableSlots:
    uint64_t *start         # the first slot
    uint64_t *last          # the last slot, which is always empty, so that every search ends
    uint64_t homes          # how many slots can be homes
    size_t count            # identifiers in the table
    size_t enough           # the table grows when it holds so many


# Consecutive normal forms.
cdef struct Arena:
    uint8_t *start
    uint8_t *region         # the reserved address space, and its size
    size_t reserved
    size_t committed              # bytes that are allocated
    size_t used


cdef class Table:
    cdef readonly size_t limit
    cdef readonly bint counting
    cdef readonly bint exact
    cdef readonly size_t sums
    cdef readonly size_t quantiles
    cdef readonly size_t distincts
    cdef Keep keep
    cdef public uint64_t settled    # rows before this one are never replaced
    cdef size_t stride      # words of a slot
    cdef size_t sketched    # bytes of sketches and sets of hashes
    cdef bint out_of_memory       # a sketch could not be allocated
    cdef readonly bint full
    cdef TableSlots slots
    cdef Arena arena
    cdef uint8_t *region    # the address space with the slots at its end; NULL: out of memory
    cdef size_t reserved
    cdef size_t committed
    cdef size_t granule
    cdef bint slack_is_full         # the slack is full, and growing would not help
    cdef bint ranked        # the slots were sorted by count: no identifier can be found any more
    cdef char busy

    cdef void open(self) noexcept nogil
    cdef void close(self) noexcept nogil
    cdef size_t rounded(self, size_t size) noexcept nogil
    cdef int use(self) except -1
    cdef tuple block_of_counts(self, size_t at, Py_ssize_t block, uint64_t least)
    cdef int ensure_capacity(self) noexcept nogil
    cdef size_t fair_share(self) noexcept nogil
    cdef int grow(self, size_t size) noexcept nogil
    cdef int ensure_capacity_for(self, size_t octets) noexcept nogil
    cdef int sort(self) except -1
    cdef tuple block_of_fingerprints(self, size_t at, Py_ssize_t block)
    cdef size_t take_fingerprints(self, size_t *at, uint8_t *dst, size_t capacity) noexcept nogil
    cdef size_t take_counts(self, size_t *at, uint64_t *pairs, size_t capacity, uint64_t least) noexcept nogil


cdef void free_sketches(Table table, const uint64_t *slot) noexcept nogil


# --- estimates --------------------------------------------------------------------------------------------------------

cdef class Cardinality:
    cdef readonly int precision
    cdef uint8_t *registers
    cdef size_t count           # registers

    cdef void add_rows(self, IdentifierBatch batch) noexcept nogil

# Different hashes. Followed by 2^bits words, of which 0 is an unused slot; or if there are more, by registers as of Cardinality.
cdef struct HashSet:
    uint64_t count          # while they are in slots
    uint32_t bits           # 0: these are registers

cdef enum:
    MOST_EXACT = 768        # hashes in slots
    HASH_SLOT_BITS = 10     # of the largest set
    HASH_REGISTER_BITS = 13  # as many bytes: the standard error is 1.15 %

# Followed by `size` counts of `width` bytes each: those of the buckets from `first` on.
cdef struct Sketch:
    uint64_t count          # numbers
    uint64_t zeros          # those of them that count as 0
    double least
    double greatest
    int32_t first
    uint16_t size
    uint16_t width


# Add a number to a sketch; NULL: an empty one. False: out of memory. *used changes by the bytes that are allocated.
cdef bint add_number(Sketch **sketch, double number, size_t *used) noexcept nogil
cdef double quantile_of(const Sketch *sketch, double share) noexcept nogil
cdef void free_sketch(Sketch *sketch) noexcept nogil

# Add a hash to a set; NULL: an empty one. False: out of memory. *used changes by the bytes that are allocated.
cdef bint add_hash(HashSet **set, uint64_t hash, size_t *used) noexcept nogil
# Return how many different hashes were added, exactly up to MOST_EXACT.
cdef uint64_t distinct_of(const HashSet *set) noexcept nogil
