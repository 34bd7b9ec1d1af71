# distutils: define_macros=CYTHON_VECTORCALL_TPNEW=0
# Cython 3.3: see _rows/_engine.pyx.
"""A hash table of the identifiers seen so far, by their fingerprints, in bounded memory.

    start                                                    last
    |. . A B . C . . D E F . G . . . . . . . . . . . . . H . .|
     <---------------- homes ------------------> <- slack -->

A slot is empty or holds an identifier: its fingerprint and, with `counting`, its number of occurrences and the number
of its first row. Identifiers are equal if all 128 bits of their fingerprints are. The home of an identifier is the slot
at the same relative position as its fingerprint in the range of all fingerprints. It is stored in the first slot from
its home on that was empty, so slots are nearly in the order of fingerprints. Nothing is deleted, so a
search ends at the identifier or at an empty slot. Searches do not wrap around: slack follows the last home, and the
last slot is always empty.

**Growing.** The slots are at the end of reserved address space, and new slots are added before them. Then, from the
first slot to the last, each is emptied and its identifier stored again. With D new slots, the identifier in slot s, counted from the
new start, is stored in s or before it: its old home was at most s - D, and no home moves by more than D. So no slot is
overwritten before it is read, no second table is needed, and both reading and writing are sequential: a few nanoseconds
for each identifier.

**Full.** When growing would exceed the limit, the slots fill up to four fifths. After that the table does not change.
Each run of occupied slots is sorted, so that a search for an unknown identifier can stop at the first greater one:
after three slots on average instead of thirteen.

**Exact.** A slot holds the position of the normal form in place of the second half of the fingerprint. Identifiers with
equal first halves are compared byte by byte, so different normal forms are different identifiers even if their
fingerprints are equal. The time for a row is bounded by the number of identifiers that share the first half of a
fingerprint: the key is secret, so such identifiers cannot be crafted, and docs/developing/fingerprint.md shows that they
do not occur by chance. The home depends on the fingerprint only.

**Numbers.** A table that is exact and counts can also add up numbers that belong to the rows: 64-bit integers to exact sums
of 128 bits, and floating-point numbers to sketches of their quantiles. They are in the slots, which then have 8
or 16 words. Sketches grow as their numbers need it, so the table is full when they use a quarter of the limit; those of
identifiers in the table can then still grow.

**Sketches.** A bucket of a sketch holds how many numbers are in ( g^(i-1), g^i ], where g = (1 + e) / (1 - e) and e, below
1 %, is the relative error. A quantile is the number 2 g^i / (g + 1) of the bucket that holds the number of that rank: it is at
most the share e away from every number in the bucket, relative to that number. Nothing depends on the order of the numbers.
(C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees", 2019.)

Buckets are in an array that grows as far as the numbers need it: from that of the least number to that of the greatest.
So their number depends on the ratio of these: one for each 1.9 %, and 370 for numbers from 1 to 1000. A bucket has a byte
until the first one needs two, then four, and eight. Numbers below 10^-9 count as 0, and those above 10^24 are in one bucket,
so a sketch has at most 4096 buckets. The least and the greatest number are exact.

Slots are prefetched some rows ahead of the current one.

**Which row.** A table that counts can store the last row of each identifier, or the newest one: the row with the greatest
order (_order), which is then in the slot, too. Tables are complete when all rows have been added; until then the row of
an identifier may change.

**Estimates.** Cardinality estimates the number of different identifiers in a few kilobytes: HyperLogLog over their
fingerprints. Some bits of the second half of a fingerprint select a register. In the bits after them, the position of
the first 1 is 1 with probability 1/2, 2 with 1/4, and so on. A register stores the greatest position. Equal identifiers
have the same position, so only the number of different ones matters. With m registers and q bits after the selecting
ones, let c(k) be the number of registers that store k. The estimate is

    m^2 / (2 ln 2)  /  (m sigma(c(0) / m) + sum of c(k) / 2^k over k = 1 .. q + m tau(1 - c(q + 1) / m) / 2^q)

    sigma(x) = x + sum of x^(2^k) 2^(k-1), k = 1 ..      tau(x) = (1 - x - sum of (1 - x^(2^-k))^2 / 2^k, k = 1 ..) / 3

(O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017, algorithm 6). sigma and tau correct
both ends of the sum exactly, so the estimate is good from 0 to 10^12 identifiers, without tables or a change of method.
"""
cimport cython
from libc.math cimport ceil, exp, isfinite, log, sqrt
from libc.stdint cimport INT64_MIN, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from uricodec._base._atomic cimport uc_glance8, uc_glance_size, uc_put8, uc_put_size
from uricodec._base._cpython cimport (
    PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc,
)
from uricodec._base._fingerprint cimport UC_FINGERPRINT, load_word, store_word
from uricodec._base._kernels cimport prefetch
from uricodec._counting._order cimport Order, is_later


# --- batches of identifiers -------------------------------------------------------------------------------------------

cdef class IdentifierBatch:
    """A batch of identifiers. Subclasses in other modules fill it from lines, columns or spilled rows.

    Attributes:
        new (int): The number of rows whose identifiers were new to the table that processed the batch last.
        later (int): The number of rows that a full table could not decide.
    """

    cdef int use(self) except -1:
        """Lock the batch until `busy` is released: against other threads, and exporters of buffers that call back."""
        if not uc_take(&self.busy):
            raise RuntimeError("another thread is using the identifiers")
        return 0

    def __len__(self):
        return <Py_ssize_t>self.count

    @property
    def marks(self):
        """The marks of the rows: a byte each, 0 not decided, 1 seen, 2 new, 3 undecided because the table was full.
        """
        self.use()
        try:
            return (<const char *>self.marks)[:self.count]
        finally:
            uc_give(&self.busy)

    @property
    def fingerprints(self):
        """The fingerprints of the rows.
        """
        self.use()
        try:
            return (<const char *>self.fingerprints)[:16 * self.count]
        finally:
            uc_give(&self.busy)


@cython.final
cdef class FingerprintBatch(IdentifierBatch):
    """A batch of identifiers that is given by fingerprints.

    Args:
        fingerprints (bytes-like): 16 bytes for each row.
        forms (list[bytes] | None): The normal form of each row, for exact tables.
        numbers (list[int] | None): The number of each row, relative to the first; None: consecutive.
        marks (bytes | None): The mark of each row; None: not decided.
        orders (bytes | None): The order of each row in 16 bytes, for tables that keep the newest row.

    >>> batch = FingerprintBatch(b"one fingerprint." b"and another one!")
    >>> len(batch), batch.marks
    (2, b'\\x00\\x00')
    """
    cdef object held            # owner of the memory that is pointed to
    cdef uint8_t *memory

    def __cinit__(self, fingerprints, forms=None, uint64_t first=0, numbers=None, marks=None, bytes orders=None):
        cdef size_t rows, i, end = 0
        cdef size_t *bounds
        cdef uint32_t *numbers_of
        cdef bytes octets = bytes(fingerprints), joined = b"".join(forms or ())
        rows = <size_t>len(octets) // 16
        for each in forms, numbers, marks:
            if len(octets) != 16 * <Py_ssize_t>rows or each is not None and len(each) != <Py_ssize_t>rows:
                raise ValueError("arguments differ in length")
        if orders is not None:
            if len(orders) != len(octets):
                raise ValueError("arguments differ in length")
            self.columns, self.values = 2, <const uint8_t *>PyBytes_AS_STRING(orders)
        # Bounds of forms, numbers and marks, ordered by descending alignment.
        self.memory = <uint8_t *>PyMem_RawCalloc(rows + 1, sizeof(size_t) + sizeof(uint32_t) + 1)
        if self.memory == NULL:
            raise MemoryError  # pragma: no cover: no memory
        bounds = <size_t *>self.memory
        numbers_of = <uint32_t *>(bounds + rows + 1)
        self.marks = <uint8_t *>(numbers_of + rows + 1)
        self.held = octets, joined, orders
        self.first = first
        self.fingerprints = <const uint8_t *>PyBytes_AS_STRING(octets)
        if forms is not None:
            for i in range(rows):
                end += <size_t>len(forms[i])
                bounds[i + 1] = end
            self.forms = <const uint8_t *>PyBytes_AS_STRING(joined)
            self.form_starts = bounds
            self.form_ends = bounds + 1
        if numbers is not None:
            for i in range(rows):
                numbers_of[i] = numbers[i]
            self.numbers = numbers_of
        if marks is not None:
            for i in range(rows):
                self.marks[i] = marks[i]
        self.count = rows

    def __dealloc__(self):
        PyMem_RawFree(self.memory)


cdef extern from "simd/memory.h" nogil:
    size_t page_size "uc_page_size"() noexcept
    uint8_t *reserve "uc_reserve"(size_t size) noexcept
    bint commit "uc_commit"(uint8_t *at, size_t size) noexcept
    void release "uc_release"(uint8_t *at, size_t size) noexcept


cdef enum:
    SLACK = 256                     # slots; fewer than one table in a million needs more than 50 of them
    AHEAD = 16                      # rows whose slots are prefetched
    FORMS_AHEAD = 4                 # rows whose forms are prefetched
    BLOCK = 128                     # slots
    HUGE_PAGE = 1 << 21
    LEAST = 1 << 14                 # bytes of the first slots, and of the first forms
    LARGEST_HASH_SET = 8 * 1024 + 16    # bytes: of 2^HASH_SLOT_BITS slots, and of 2^HASH_REGISTER_BITS registers
    LEAST_SKETCHED = 1 << 17        # bytes: sketches may use a quarter of them whatever the limit
    # Results of ensure_capacity().
    ROOM = 0
    NO_ROOM = 1
    NO_MEMORY = 2

# Which share of the homes is filled when the table grows; and when it cannot grow any more.
cdef double FILLED = 0.75
cdef double FULL = 0.8

cdef uint64_t MOST_HOMES = 0xFFFFFFFF      # as many as 32 bits of a fingerprint can distinguish
KEEPS = ("first", "last", "newest")
# Replaces a second half of 64 zeros, which would mean an empty slot. No fingerprint with the same first half has this
# second half, because the number of ones in a fingerprint is even.
cdef uint64_t NOT_ZERO = <uint64_t>1 << 63


cdef inline uint64_t *home(uint64_t *start, uint64_t homes, size_t stride, uint64_t low) noexcept nogil:
    return start + ((low >> 32) * homes >> 32) * stride


cdef inline void prefetch_slot(const uint64_t *slot) noexcept nogil:
    """Prefetch the cache line of a slot, and the next one, where a search often ends."""
    prefetch(slot)
    prefetch(slot + 8)


cdef inline size_t rounded_up(size_t size, size_t granule) noexcept nogil:
    return (size + granule - 1) // granule * granule


cdef uint8_t *reserve_most(size_t *size, size_t least, size_t granule) noexcept nogil:
    """Reserve address space of up to *size bytes, but at least `least`, and set *size. Reserves less if it must."""
    cdef uint8_t *region
    size[0] = min(size[0], (<size_t>-1) // 8)
    while True:
        size[0] = rounded_up(max(size[0], least) + HUGE_PAGE, granule)
        region = reserve(size[0])
        if region != NULL or size[0] // 2 < least + HUGE_PAGE + granule:
            return region
        size[0] //= 2


@cython.final
cdef class Table:
    """The identifiers seen so far, as many as fit into memory.

    Identifiers with different fingerprints are different, also if normal forms are compared.

    Args:
        limit (int): The limit for memory in bytes. A few hundred identifiers always fit, and one of any length.
        counting (bool): Whether to count occurrences, and store the first row of each identifier.
        exact (bool): Whether identifiers with equal fingerprints must have equal normal forms to be the same.
        sums (int): How many integers of each row are added up; the least integer of 64 bits stands for a missing one.
        quantiles (int): How many numbers of each row, which follow these, go to sketches; NaN stands for a missing one.
        distincts (int): How many hashes of each row, which follow these, are told apart; 0 stands for a missing one.
        keep (str): Which row of an identifier is stored, if the table counts: "first", "last" or "newest". With
            "newest", rows have an order in two numbers of their own (_order); of equal ones, the first row is stored.

    Attributes:
        settled (int): Stored rows before this one are not replaced.
        full (bool): Whether an identifier did not fit: no new ones will be stored.

    >>> from uricodec._counting._table import FingerprintBatch
    >>> table = Table(limit=1 << 20)
    >>> batch = FingerprintBatch(b"one fingerprint." b"another, like it" b"one fingerprint.")
    >>> table.add(batch)
    >>> list(batch.marks), batch.new, table.count, table.full
    ([2, 2, 1], 2, 2, False)
    """

    def __cinit__(self, size_t limit, bint counting=False, bint exact=False, size_t sums=0, size_t quantiles=0, keep="first",
                  size_t distincts=0):
        self.limit = limit
        self.keep = <Keep><int>KEEPS.index(keep)
        self.counting = counting
        self.exact = exact
        self.sums, self.quantiles, self.distincts = sums, quantiles, distincts
        self.stride = COUNTING if counting else PLAIN
        if sums or quantiles or distincts:
            if not (exact and counting):
                raise ValueError("sums, quantiles and distinct values require an exact table that counts")
            if max(sums, quantiles, distincts) > LONGEST_SLOT or COUNTING + 2 * sums + quantiles + distincts > LONGEST_SLOT:
                raise ValueError("expected up to 12 sums, quantiles and distinct values, where a sum counts twice, "
                                 f"got {sums}, {quantiles} and {distincts}")
            # a power of 2: the slots fill whole pages
            self.stride = 8 if COUNTING + 2 * sums + quantiles + distincts <= 8 else LONGEST_SLOT
        if self.keep != KEEP_FIRST and (not counting or sums or quantiles or distincts):
            raise ValueError(f"keep={keep!r} requires a table that counts, without sums and quantiles")
        if self.keep == KEEP_NEWEST:
            self.stride = ORDERED
        self.granule = max(<size_t>LEAST, page_size())
        self.open()
        if self.region == NULL:
            raise MemoryError

    def __dealloc__(self):
        self.close()

    @property
    def count(self):
        """The number of identifiers in the table, at a moment when other threads may add some.
        """
        return uc_glance_size(&self.slots.count)

    @property
    def size(self):
        """The memory in use.
        """
        return self.committed + self.arena.committed + self.sketched

    def add(self, IdentifierBatch batch not None):
        """Mark the undecided rows of a batch as new or seen, and store new identifiers.

        Args:
            batch (IdentifierBatch): The batch. Afterwards each row is marked as seen, new or, if the table is full, later.
        """
        cdef int status
        cdef size_t columns
        batch.use()
        try:
            if batch.count and self.exact and batch.form_starts == NULL:
                raise ValueError("an exact table requires normal forms")
            columns = 2 if self.keep == KEEP_NEWEST else self.sums + self.quantiles + self.distincts
            if batch.count and batch.columns != columns:
                raise ValueError(f"expected {columns} numbers for each row, got {batch.columns}")
            self.use()
            if self.ranked:
                uc_give(&self.busy)
                raise ValueError("cannot add to a table whose slots were sorted by count")
            with nogil:
                status = add_rows(self, batch)
            uc_give(&self.busy)
        finally:
            uc_give(&batch.busy)
        if status == NO_MEMORY:
            raise MemoryError

    def counts(self, Py_ssize_t block=65536, uint64_t least=1):
        """Yield the counts of all identifiers, in any order.

        Args:
            block (int): The number of identifiers per block, up to a million.
            least (int): Only counts of at least this number.

        Yields:
            bytes: Two 64-bit numbers for each identifier: its first row, and its number of occurrences.

        >>> from uricodec._counting._table import FingerprintBatch
        >>> table = Table(1 << 20, counting=True)
        >>> table.add(FingerprintBatch(b"one fingerprint." b"one fingerprint.", first=5))
        >>> [memoryview(block).cast("Q").tolist() for block in table.counts()]
        [[5, 2]]
        """
        if not self.counting:
            raise ValueError("the table has no counts; make it with counting=True")
        at = 0
        while True:
            pairs, at = self.block_of_counts(at, min(max(block, 1), 1 << 20), least)
            if not pairs:
                return
            yield pairs

    def fingerprints(self, Py_ssize_t block=65536):
        """Yield the fingerprints of all identifiers, ascending by their first half, then by their second half.

        Both are little-endian words. A second half of zeros is replaced by 2^63, which no fingerprint with the same
        first half has. No identifier may be added meanwhile.

        Args:
            block (int): The number of identifiers per block, up to a million.

        Yields:
            bytes: 16 bytes for each identifier.

        >>> from uricodec._counting._table import FingerprintBatch
        >>> table = Table(1 << 20)
        >>> table.add(FingerprintBatch(b"one fingerprint." b"another, like it" b"one fingerprint."))
        >>> [sorted([block[:16], block[16:]]) for block in table.fingerprints()]
        [[b'another, like it', b'one fingerprint.']]
        """
        if self.exact:
            raise ValueError("an exact table has no fingerprints")
        if self.ranked:
            raise ValueError("the slots were sorted by count")
        self.sort()
        at = 0
        while True:
            octets, at = self.block_of_fingerprints(at, min(max(block, 1), 1 << 20))
            if not octets:
                return
            yield octets

    cdef int sort(self) except -1:
        """Sort each run of slots, so that all identifiers are in order."""
        self.use()
        with nogil:
            if self.stride == PLAIN:
                put_in_order(&self.slots, PLAIN)
            elif self.stride == COUNTING:
                put_in_order(&self.slots, COUNTING)
            else:
                put_in_order(&self.slots, self.stride)
        uc_give(&self.busy)
        return 0

    cdef tuple block_of_fingerprints(self, size_t at, Py_ssize_t block):
        cdef bytes octets = PyBytes_FromStringAndSize(NULL, UC_FINGERPRINT * block)
        cdef uint8_t *dst = <uint8_t *>PyBytes_AS_STRING(octets)
        cdef size_t taken
        self.use()
        with nogil:
            taken = self.take_fingerprints(&at, dst, <size_t>block)
        uc_give(&self.busy)
        return octets if taken == <size_t>block else octets[:UC_FINGERPRINT * taken], at

    cdef size_t take_fingerprints(self, size_t *at, uint8_t *dst, size_t capacity) noexcept nogil:
        """Write the next fingerprints from slot *at on, up to the capacity `capacity`. Return their number."""
        cdef size_t stride = self.stride
        cdef uint64_t *slot = self.slots.start + at[0] * stride
        cdef size_t taken = 0
        while slot < self.slots.last and taken < capacity:
            if slot[1]:
                store_word(slot[0], dst + UC_FINGERPRINT * taken)
                store_word(slot[1], dst + UC_FINGERPRINT * taken + 8)
                taken += 1
            slot += stride
        at[0] = <size_t>(slot - self.slots.start) // stride
        return taken

    def clear(self):
        """Remove all identifiers, and free memory.
        """
        self.use()
        self.close()
        self.open()
        uc_give(&self.busy)
        if self.region == NULL:
            raise MemoryError

    cdef tuple block_of_counts(self, size_t at, Py_ssize_t block, uint64_t least):
        cdef bytes pairs = PyBytes_FromStringAndSize(NULL, 16 * block)
        cdef uint64_t *counts = <uint64_t *>PyBytes_AS_STRING(pairs)
        cdef size_t taken
        self.use()
        with nogil:
            taken = self.take_counts(&at, counts, <size_t>block, least)
        uc_give(&self.busy)
        return pairs[:16 * taken], at

    cdef size_t take_counts(self, size_t *at, uint64_t *pairs, size_t capacity, uint64_t least) noexcept nogil:
        """Write the next pairs from slot *at on, up to the capacity `capacity`. Return their number."""
        cdef size_t stride = self.stride
        cdef uint64_t *slot = self.slots.start + at[0] * stride
        cdef size_t taken = 0
        while slot < self.slots.last and taken < capacity:
            if slot[1] and slot[2] >= least:
                pairs[2 * taken] = slot[3]
                pairs[2 * taken + 1] = slot[2]
                taken += 1
            slot += stride
        at[0] = <size_t>(slot - self.slots.start) // stride
        return taken

    # --- memory -------------------------------------------------------------------------------------------------------

    cdef void open(self) noexcept nogil:
        """Start with few slots. If memory cannot be allocated, `region` is NULL."""
        cdef size_t stride = self.stride
        cdef size_t least = LEAST * stride // PLAIN
        cdef uint8_t *end
        memset(&self.slots, 0, sizeof(TableSlots))
        memset(&self.arena, 0, sizeof(Arena))
        self.full = self.slack_is_full = self.ranked = self.out_of_memory = False
        self.sketched = 0
        self.committed = 0
        if least < self.granule:
            least = self.granule  # pragma: no cover: larger pages
        self.reserved = self.limit
        self.region = reserve_most(&self.reserved, least + HUGE_PAGE, self.granule)
        if self.region == NULL:
            return
        end = <uint8_t *>(<size_t>(self.region + self.reserved) & ~<size_t>(HUGE_PAGE - 1))
        self.slots.last = <uint64_t *>end - stride
        self.slots.start = <uint64_t *>end
        if self.grow(least) != ROOM or (self.exact and self.ensure_capacity_for(1) != ROOM):
            self.close()

    cdef void close(self) noexcept nogil:
        cdef uint64_t *slot = self.slots.start
        if self.region != NULL and self.quantiles + self.distincts:
            while slot < self.slots.last:
                if slot[1]:
                    free_sketches(self, slot)
                slot += self.stride
        if self.region != NULL:
            release(self.region, self.reserved)
        if self.arena.region != NULL:
            release(self.arena.region, self.arena.reserved)
        memset(&self.slots, 0, sizeof(TableSlots))
        memset(&self.arena, 0, sizeof(Arena))
        self.region = NULL
        self.committed = 0

    cdef size_t rounded(self, size_t size) noexcept nogil:
        """Round a size down to a multiple of the granule, but not below one granule."""
        return size - size % self.granule if size > self.granule else self.granule

    cdef int ensure_capacity(self) noexcept nogil:
        """Ensure capacity for another identifier: allocate more slots, or allow to fill more of them.

        Slots double, up to the limit or, with normal forms, to the size at which the slots and the forms will both be
        full. That size is an estimate: if the slots are full before the forms are, they still grow, by a 16th at a
        time. Growing moves all identifiers, so less than a 32nd is not worth it while some slots can be filled.
        """
        cdef size_t octets = 8 * self.stride
        cdef size_t others = self.arena.committed + self.sketched
        cdef size_t allowed = self.limit - others if self.limit > others else 0
        cdef size_t reserved = <size_t>(<uint8_t *>self.slots.last - self.region) + octets
        cdef size_t enough = <size_t>(<double>self.slots.homes * FULL)
        cdef bint is_full = self.slots.count >= enough
        cdef size_t size = 2 * self.committed, fair
        if self.arena.used:
            fair = self.fair_share()
            if is_full:
                fair = max(fair, self.committed + self.committed // 16)
            size = min(size, rounded_up(fair, self.granule))
        allowed = min(allowed, min(reserved, <size_t>min(MOST_HOMES * octets, (<size_t>-1) // 2)))
        size = min(size, self.rounded(allowed))
        if size > self.committed and (is_full or size - self.committed >= self.committed // 32):
            return self.grow(size)
        if is_full:
            return NO_ROOM
        self.slots.enough = enough
        return ROOM

    cdef size_t fair_share(self) noexcept nogil:
        """Return the size of as many slots as the limit has room for with their forms, if all are as long as those so far.

        With a limit of 64 MB, slots of 16 bytes, and forms of 40 bytes on average: four fifths of the slots are filled,
        so for each slot there are 16 bytes and 0.8 * 40 = 32 bytes of forms. A third of the limit is for slots: 21 MB.
        """
        cdef double length = <double>self.arena.used / <double>self.slots.count
        return <size_t>(<double>self.limit / (1 + FULL * length / <double>(8 * self.stride)))

    cdef int grow(self, size_t size) noexcept nogil:
        """Extend the slots to `size` bytes."""
        cdef size_t stride = self.stride
        cdef uint64_t *old = self.slots.start
        cdef uint64_t *start = self.slots.last + stride - size // 8
        if not commit(<uint8_t *>start, size - self.committed):
            return NO_MEMORY
        self.committed = size
        self.slots.start = start
        self.slots.homes = size // (8 * stride) - SLACK
        self.slots.enough = <size_t>(<double>self.slots.homes * FILLED)
        if self.slots.count and stride == PLAIN:
            rearrange(&self.slots, old, PLAIN)
        elif self.slots.count and stride == COUNTING:
            rearrange(&self.slots, old, COUNTING)
        elif self.slots.count:
            rearrange(&self.slots, old, stride)
        return ROOM

    cdef int ensure_capacity_for(self, size_t octets) noexcept nogil:
        """Ensure capacity for so many bytes in the arena."""
        cdef Arena *arena = &self.arena
        cdef size_t need = arena.used + octets, size, most
        if need <= arena.committed:
            return ROOM
        if arena.region != NULL and arena.reserved - HUGE_PAGE < need and not arena.used:
            # The very first form exceeds the limit.
            release(arena.region, arena.reserved)
            memset(arena, 0, sizeof(Arena))
        if arena.region == NULL:
            arena.reserved = self.limit
            arena.region = reserve_most(&arena.reserved, need, self.granule)
            if arena.region == NULL:
                return NO_MEMORY
            arena.start = <uint8_t *>rounded_up(<size_t>arena.region, HUGE_PAGE)
        # In proportion to the present size, so that growing is rare, but within the limit.
        most = self.limit - self.committed - self.sketched if self.limit > self.committed + self.sketched else 0
        most = min(most, arena.reserved - HUGE_PAGE)
        size = rounded_up(need + arena.committed // 32, HUGE_PAGE if need > 2 * HUGE_PAGE else self.granule)
        size = min(size, most - most % self.granule)
        if size < need:
            if arena.used:
                return NO_ROOM
            size = rounded_up(need, self.granule)
        if not commit(arena.start + arena.committed, size - arena.committed):
            return NO_MEMORY
        arena.committed = size
        return ROOM

    cdef int use(self) except -1:
        if not uc_take(&self.busy):
            raise RuntimeError("another thread is using the table")  # pragma: no cover: a race
        if self.region == NULL:
            uc_give(&self.busy)
            raise MemoryError
        return 0


cdef inline void rearrange(TableSlots *slots, uint64_t *old, size_t stride) noexcept nogil:
    """Store the identifiers of the slots from `old` on again, after slots were added before them.

    Empties a few slots at a time, almost without branches, because occupied slots cannot be predicted.
    """
    cdef uint64_t held[BLOCK * LONGEST_SLOT]
    cdef uint64_t *slot = old
    cdef uint64_t *end
    cdef uint64_t *name
    cdef uint64_t *to
    cdef size_t i
    while slot < slots.last:
        end = slots.last if <size_t>(slots.last - slot) < BLOCK * stride else slot + BLOCK * stride
        name = held
        while slot < end:
            for i in range(stride):
                name[i] = slot[i]
            name += stride if slot[1] else 0
            slot[1] = 0
            slot += stride
        end = name
        name = held
        while name < end:
            to = home(slots.start, slots.homes, stride, name[0])
            to += stride if to[1] else 0
            while to[1]:
                to += stride
            for i in range(stride):
                to[i] = name[i]
            name += stride


cdef inline bint is_greater(const uint64_t *slot, const uint64_t *other) noexcept nogil:
    return slot[0] > other[0] or slot[0] == other[0] and slot[1] > other[1]


cdef inline void put_in_order(TableSlots *slots, size_t stride) noexcept nogil:
    """Sort each run of occupied slots. An insertion takes no more steps than filling the run took."""
    cdef uint64_t *slot = slots.start
    cdef uint64_t *to
    cdef uint64_t held[LONGEST_SLOT]
    cdef size_t i
    while slot < slots.last:
        if slot[1] and slot > slots.start and (slot - stride)[1] and is_greater(slot - stride, slot):
            for i in range(stride):
                held[i] = slot[i]
            to = slot
            while to > slots.start and (to - stride)[1] and is_greater(to - stride, held):
                for i in range(stride):
                    to[i] = (to - stride)[i]
                to -= stride
            for i in range(stride):
                to[i] = held[i]
        slot += stride


# --- forms ------------------------------------------------------------------------------------------------------------
# In the arena a form follows its length: one byte if it is below 255, otherwise 255 and eight bytes.

cdef inline bint same_form(const uint8_t *stored, const uint8_t *form, size_t length) noexcept nogil:
    cdef size_t other = stored[0]
    stored += 1
    if other == 255:
        other = <size_t>load_word(stored)
        stored += 8
    return other == length and memcmp(stored, form, length) == 0


cdef inline uint64_t store_form(Arena *arena, const uint8_t *form, size_t length) noexcept nogil:
    """Store a form; the caller has ensured capacity. Return 1 + its position."""
    cdef size_t place = arena.used
    if length < 255:
        arena.start[place] = <uint8_t>length
        arena.used += 1
    else:
        arena.start[place] = 255
        store_word(length, arena.start + place + 1)
        arena.used += 9
    memcpy(arena.start + arena.used, form, length)
    arena.used += length
    return <uint64_t>place + 1


# --- numbers ----------------------------------------------------------------------------------------------------------

cdef inline bint is_full_of_sketches(Table table, size_t count) noexcept nogil:
    # Sets of hashes are granted the size to which they may grow: half of the memory suffices for them.
    cdef size_t limit = max(table.limit, <size_t>LEAST_SKETCHED)
    return table.sketched > limit // 4 and not table.distincts or (
        (count + 1) * table.distincts * LARGEST_HASH_SET > limit // 2)


cdef bint add_values(Table table, uint64_t *slot, const uint8_t *values) noexcept nogil:
    """Add the numbers of a row to the sums and sketches of its identifier. False: out of memory."""
    cdef size_t _
    cdef int64_t integer
    cdef uint64_t low
    cdef double number
    slot += COUNTING
    for _ in range(table.sums):
        memcpy(&integer, values, 8)
        values += 8
        if integer != INT64_MIN:
            low = slot[0] + <uint64_t>integer
            # the high word of the integer is its sign, 0 or all ones
            slot[1] += <uint64_t>(low < slot[0]) - <uint64_t>(integer < 0)
            slot[0] = low
        slot += 2
    for _ in range(table.quantiles):
        memcpy(&number, values, 8)
        values += 8
        if not add_number(<Sketch **>slot, number, &table.sketched):
            return False  # pragma: no cover: no memory
        slot += 1
    for _ in range(table.distincts):
        memcpy(&low, values, 8)
        values += 8
        if low and not add_hash(<HashSet **>slot, low, &table.sketched):
            return False  # pragma: no cover: no memory
        slot += 1
    return True


cdef void free_sketches(Table table, const uint64_t *slot) noexcept nogil:
    """Free the sketches of the identifier in a slot."""
    cdef size_t i
    slot += COUNTING + 2 * table.sums
    for i in range(table.quantiles):
        free_sketch((<Sketch **>(slot + i))[0])
    slot += table.quantiles
    for i in range(table.distincts):
        PyMem_RawFree((<HashSet **>(slot + i))[0])


# --- which row is stored -----------------------------------------------------------------------------------------------

cdef inline void store_row(uint64_t *slot, IdentifierBatch batch, size_t row, bint ordered) noexcept nogil:
    slot[3] = number_of(batch, row)
    if ordered:
        memcpy(slot + COUNTING, values_of(batch, row), sizeof(Order))


cdef inline void replace_row(Table table, uint64_t *slot, IdentifierBatch batch, size_t row) noexcept nogil:
    """Store a later row of the same identifier in place of the stored one, if it is the one to be kept."""
    cdef Order order
    if slot[3] < table.settled:
        return
    if table.keep == KEEP_NEWEST:
        memcpy(&order, values_of(batch, row), sizeof(Order))
        if not is_later(&order, <const Order *>(slot + COUNTING)):
            return
    store_row(slot, batch, row, table.keep == KEEP_NEWEST)


# --- loops over rows --------------------------------------------------------------------------------------------------

cdef int add_rows(Table table, IdentifierBatch batch) noexcept nogil:
    cdef size_t row = 0
    cdef int status = ROOM
    batch.new = batch.later = 0
    while not table.full and row < batch.count:
        if table.exact:
            if table.stride == PLAIN:
                row = take_forms(table, batch, row, PLAIN)
            elif table.stride == COUNTING:
                row = take_forms(table, batch, row, COUNTING)
            else:
                row = take_forms(table, batch, row, table.stride)
            if table.out_of_memory:
                return NO_MEMORY  # pragma: no cover: no memory
        else:
            if table.stride == PLAIN:
                row = take(table, batch, row, PLAIN)
            elif table.stride == COUNTING:
                row = take(table, batch, row, COUNTING)
            else:
                row = take(table, batch, row, ORDERED)
        if row < batch.count:
            status = NO_ROOM if table.slack_is_full or is_full_of_sketches(table, table.slots.count) else ROOM
            if status == ROOM and table.slots.count >= table.slots.enough:
                status = table.ensure_capacity()
            if status == ROOM and table.exact:
                status = table.ensure_capacity_for(9 + batch.form_ends[row] - batch.form_starts[row])
            if status == NO_MEMORY:
                return NO_MEMORY
            table.full = status == NO_ROOM
            if table.full and table.stride == PLAIN:
                put_in_order(&table.slots, PLAIN)
            elif table.full and table.stride == COUNTING:
                put_in_order(&table.slots, COUNTING)
            elif table.full:
                put_in_order(&table.slots, table.stride)
    if table.full and table.stride == PLAIN:
        look_up(table, batch, row, PLAIN)
    elif table.full and table.stride == COUNTING:
        look_up(table, batch, row, COUNTING)
    elif table.full:
        look_up(table, batch, row, table.stride)
    return NO_MEMORY if table.out_of_memory else ROOM


cdef inline size_t take(Table table, IdentifierBatch batch, size_t row, size_t stride) noexcept nogil:
    """Process rows from `row` on, up to a new identifier for which capacity is missing. Return its row."""
    cdef TableSlots slots = table.slots
    cdef const uint8_t *fingerprints = batch.fingerprints
    cdef uint8_t *marks = batch.marks
    cdef size_t rows = batch.count, new = 0, i
    cdef bint keeps = stride != PLAIN and table.keep != KEEP_FIRST
    cdef uint64_t low, high
    cdef uint64_t *slot
    for i in range(row, min(row + AHEAD, rows)):
        prefetch_slot(home(slots.start, slots.homes, stride, load_word(fingerprints + 16 * i)))
    while row < rows:
        if row + AHEAD < rows:
            prefetch_slot(home(slots.start, slots.homes, stride, load_word(fingerprints + 16 * (row + AHEAD))))
        if marks[row] == PENDING:
            low = load_word(fingerprints + 16 * row)
            high = load_word(fingerprints + 16 * row + 8)
            high = high if high else NOT_ZERO
            slot = home(slots.start, slots.homes, stride, low)
            while slot[1] and (slot[1] != high or slot[0] != low):
                slot += stride
            if slot[1]:
                marks[row] = SEEN
                if stride != PLAIN:
                    slot[2] += 1
                if keeps:
                    replace_row(table, slot, batch, row)
            else:
                if slots.count >= slots.enough or slot == slots.last:
                    table.slack_is_full = slot == slots.last
                    break
                slot[0] = low
                slot[1] = high
                if stride != PLAIN:
                    slot[2] = 1
                    store_row(slot, batch, row, stride == ORDERED)
                marks[row] = NEW
                slots.count += 1
                new += 1
        row += 1
    uc_put_size(&table.slots.count, slots.count)
    batch.new += new
    return row


cdef inline const uint8_t *likely_form(Table table, uint64_t low, size_t stride) noexcept nogil:
    """Return the form of an identifier if it is in its home or in the other slot of the same cache line. No branches."""
    cdef uint64_t *slot = home(table.slots.start, table.slots.homes, stride, low)
    cdef uint64_t *other = slot + (stride if (<size_t>slot + 8 * stride) & 63 else 0)
    cdef uint64_t place = slot[1] & (0 - <uint64_t>(slot[0] == low)) | other[1] & (0 - <uint64_t>(other[0] == low))
    return table.arena.start + place


cdef inline size_t take_forms(Table table, IdentifierBatch batch, size_t row, size_t stride) noexcept nogil:
    """Do the same as take(), comparing normal forms."""
    cdef TableSlots slots = table.slots
    cdef const uint8_t *fingerprints = batch.fingerprints
    cdef const uint8_t *form
    cdef uint8_t *marks = batch.marks
    cdef size_t rows = batch.count, new = 0, i, length, left
    cdef bint keeps = stride != PLAIN and table.keep != KEEP_FIRST
    cdef bint ordered = stride == ORDERED and table.keep == KEEP_NEWEST
    cdef uint64_t low
    cdef uint64_t *slot
    for i in range(row, min(row + AHEAD, rows)):
        prefetch_slot(home(slots.start, slots.homes, stride, load_word(fingerprints + 16 * i)))
    while row < rows:
        if row + AHEAD < rows:
            prefetch_slot(home(slots.start, slots.homes, stride, load_word(fingerprints + 16 * (row + AHEAD))))
        if row + FORMS_AHEAD < rows:
            prefetch(likely_form(table, load_word(fingerprints + 16 * (row + FORMS_AHEAD)), stride))
        if marks[row] == PENDING:
            low = load_word(fingerprints + 16 * row)
            form = batch.forms + batch.form_starts[row]
            length = batch.form_ends[row] - batch.form_starts[row]
            slot = home(slots.start, slots.homes, stride, low)
            while slot[1] and (slot[0] != low or not same_form(table.arena.start + slot[1] - 1, form, length)):
                slot += stride
            if slot[1]:
                marks[row] = SEEN
                if stride != PLAIN:
                    slot[2] += 1
                if keeps:
                    replace_row(table, slot, batch, row)
            else:
                left = table.arena.committed - table.arena.used
                if slots.count >= slots.enough or slot == slots.last or left < 9 or left - 9 < length or (
                        stride > COUNTING and is_full_of_sketches(table, slots.count)):
                    table.slack_is_full = slot == slots.last
                    break
                slot[0] = low
                slot[1] = store_form(&table.arena, form, length)
                for i in range(COUNTING, stride):
                    slot[i] = 0
                if stride != PLAIN:
                    slot[2] = 1
                    store_row(slot, batch, row, ordered)
                marks[row] = NEW
                slots.count += 1
                new += 1
            if stride > COUNTING and not ordered and not add_values(table, slot, values_of(batch, row)):
                table.out_of_memory = True  # pragma: no cover: no memory
                break
        row += 1
    uc_put_size(&table.slots.count, slots.count)
    batch.new += new
    return row


cdef inline void look_up(Table table, IdentifierBatch batch, size_t row, size_t stride) noexcept nogil:
    """Mark rows from `row` on; the table is full, and its runs are sorted."""
    cdef TableSlots slots = table.slots
    cdef const uint8_t *fingerprints = batch.fingerprints
    cdef uint8_t *marks = batch.marks
    cdef size_t rows = batch.count, later = 0
    cdef bint exact = table.exact, found
    cdef bint keeps = stride != PLAIN and table.keep != KEEP_FIRST
    cdef uint64_t low, high
    cdef uint64_t *slot
    for row in range(row, rows):
        if row + AHEAD < rows:
            prefetch_slot(home(slots.start, slots.homes, stride, load_word(fingerprints + 16 * (row + AHEAD))))
        if exact and row + FORMS_AHEAD < rows:
            prefetch(likely_form(table, load_word(fingerprints + 16 * (row + FORMS_AHEAD)), stride))
        if marks[row] != PENDING:
            continue
        low = load_word(fingerprints + 16 * row)
        high = load_word(fingerprints + 16 * row + 8)
        high = high if high else NOT_ZERO
        slot = home(slots.start, slots.homes, stride, low)
        while slot[1] and slot[0] < low:
            slot += stride
        found = False
        while slot[1] and slot[0] == low and not found:
            if exact:
                found = same_form(table.arena.start + slot[1] - 1, batch.forms + batch.form_starts[row],
                                  batch.form_ends[row] - batch.form_starts[row])
            else:
                found = slot[1] == high
            if not found:
                slot += stride
        if found:
            marks[row] = SEEN
            if stride != PLAIN:
                slot[2] += 1
            if keeps:
                replace_row(table, slot, batch, row)
            elif stride > COUNTING and not add_values(table, slot, values_of(batch, row)):
                table.out_of_memory = True  # pragma: no cover: no memory
                break
        else:
            marks[row] = LATER
            later += 1
    batch.later = later


# --- estimates --------------------------------------------------------------------------------------------------------

cdef double sigma(double x) noexcept nogil:
    cdef double share = 1, total = x, before = -1
    while total != before:
        x *= x
        before = total
        total += x * share
        share += share
    return total


cdef double tau(double x) noexcept nogil:
    cdef double share = 1, total = 1 - x, before = -1
    if x == 0 or x == 1:
        return 0
    while total != before:
        x = sqrt(x)
        before = total
        share /= 2
        total -= (1 - x) * (1 - x) * share
    return total / 3


@cython.final
cdef class Cardinality:
    """An estimate of the number of different identifiers. The standard error is 1.04 / sqrt(2^precision): 0.8 % for 14.

    Args:
        precision (int): From 4 to 18. 2^precision bytes are used.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> from uricodec._counting._table import FingerprintBatch
    >>> key, cardinality = FingerprintKey("x"), Cardinality()
    >>> cardinality.add(FingerprintBatch(b"".join(key.fingerprint(name) for name in ["a", "b", "a", "c"])))
    >>> cardinality.estimate()
    3
    """

    def __cinit__(self, int precision=14):
        if not 4 <= precision <= 18:
            raise ValueError(f"precision must be from 4 to 18, got {precision}")
        self.precision = precision
        self.count = <size_t>1 << precision
        self.registers = <uint8_t *>PyMem_RawCalloc(self.count, 1)
        if self.registers == NULL:
            raise MemoryError  # pragma: no cover: no memory

    def __dealloc__(self):
        PyMem_RawFree(self.registers)

    def add(self, IdentifierBatch batch not None):
        """Count identifiers. Counting one again changes nothing.

        Args:
            batch (IdentifierBatch): The rows. Rows that are marked as seen are skipped: they are invalid, or were counted before.
                So pass all batches that a table gets, before or after the table.
        """
        batch.use()
        with nogil:
            self.add_rows(batch)
        uc_give(&batch.busy)

    def estimate(self):
        """Return the estimate.
        """
        return estimate_of(self.registers, self.precision)

    cdef void add_rows(self, IdentifierBatch batch) noexcept nogil:
        cdef size_t i
        for i in range(batch.count):
            if batch.marks[i] != SEEN:
                register_hash(self.registers, self.precision, load_word(batch.fingerprints + 16 * i + 8))


cdef inline void register_hash(uint8_t *registers, int precision, uint64_t hash) noexcept nogil:
    cdef uint64_t bits = hash << 1      # the highest bit of a word of a fingerprint is a parity bit
    cdef size_t register = <size_t>(bits >> 64 - precision)
    cdef uint8_t place = 1
    bits = bits << precision | <uint64_t>1 << precision     # a sentinel: the position is at most here
    while not bits >> 63:
        bits <<= 1
        place += 1
    if place > registers[register]:
        uc_put8(registers + register, place)


cdef uint64_t estimate_of(const uint8_t *registers, int precision) noexcept nogil:
    cdef size_t counts[64]
    cdef size_t i, count = <size_t>1 << precision
    cdef int k, places = 63 - precision
    cdef double m = <double>count, z
    memset(counts, 0, sizeof(counts))
    for i in range(count):
        counts[uc_glance8(registers + i)] += 1
    z = m * tau(1 - <double>counts[places + 1] / m)
    for k in range(places, 0, -1):
        z = (z + <double>counts[k]) / 2
    if counts[0] == count:
        return 0
    if counts[places + 1] == count:
        return <uint64_t>1 << 63
    return <uint64_t>(m * m / (2 * log(2)) / (z + m * sigma(<double>counts[0] / m)) + 0.5)


# --- sets of hashes ---------------------------------------------------------------------------------------------------

cdef inline uint64_t *slots_of(const HashSet *set) noexcept nogil:
    return <uint64_t *>(set + 1)


cdef bint add_hash(HashSet **set, uint64_t hash, size_t *used) noexcept nogil:
    cdef HashSet *at = set[0]
    cdef HashSet *made
    cdef uint64_t *slots
    cdef uint64_t mask, i
    cdef size_t size
    if at != NULL and at.bits == 0:
        register_hash(<uint8_t *>slots_of(at), HASH_REGISTER_BITS, hash)
        return True
    if at != NULL:
        slots, mask, i = slots_of(at), (<uint64_t>1 << at.bits) - 1, hash
        while slots[i & mask] and slots[i & mask] != hash:
            i += 1
        if slots[i & mask]:
            return True
        if 4 * (at.count + 1) <= 3 * (mask + 1):
            slots[i & mask] = hash
            at.count += 1
            return True
    # The hashes move to a set of twice the size, or to registers.
    size = sizeof(HashSet) + (<size_t>8 << (2 if at == NULL else at.bits + 1))
    if at != NULL and at.bits == HASH_SLOT_BITS:
        size = LARGEST_HASH_SET
    made = <HashSet *>PyMem_RawCalloc(1, size)
    if made == NULL:
        return False  # pragma: no cover: no memory
    used[0] += size
    if at == NULL:
        made.bits = 2
    elif at.bits < HASH_SLOT_BITS:
        made.bits = at.bits + 1
    set[0] = made
    if at != NULL:
        for i in range(<uint64_t>1 << at.bits):
            if slots_of(at)[i]:
                add_hash(set, slots_of(at)[i], used)
        used[0] -= sizeof(HashSet) + (<size_t>8 << at.bits)
        PyMem_RawFree(at)
    return add_hash(set, hash, used)


cdef uint64_t distinct_of(const HashSet *set) noexcept nogil:
    if set == NULL:
        return 0
    return set.count if set.bits else max(estimate_of(<const uint8_t *>slots_of(set), HASH_REGISTER_BITS), MOST_EXACT + 1)


# --- sketches ---------------------------------------------------------------------------------------------------------

cdef enum:
    LOWEST = -1102          # the bucket of 10^-9
    HIGHEST = LOWEST + 4095
    STEP = 16               # buckets that an array grows by, at least

# Rounding a quantile to four digits, as logs.count() does, adds at most 0.0505 %, so that the result is at most 1 % away.
cdef double ERROR = 0.0094
cdef double SMALLEST = 1e-9
cdef double LOG_G = log((1 + ERROR) / (1 - ERROR))


cdef inline uint8_t *counts_of(const Sketch *sketch) noexcept nogil:
    return <uint8_t *>(sketch + 1)


cdef inline size_t size_of(size_t buckets, size_t width) noexcept nogil:
    return sizeof(Sketch) + buckets * width


cdef inline uint64_t count_of(const Sketch *sketch, size_t i) noexcept nogil:
    """Return the count of bucket i of the array."""
    if sketch.width == 1:
        return counts_of(sketch)[i]
    if sketch.width == 2:
        return (<const uint16_t *>counts_of(sketch))[i]
    return (<const uint32_t *>counts_of(sketch))[i] if sketch.width == 4 else (<const uint64_t *>counts_of(sketch))[i]


cdef inline void set_count(Sketch *sketch, size_t i, uint64_t count) noexcept nogil:
    if sketch.width == 1:
        counts_of(sketch)[i] = <uint8_t>count
    elif sketch.width == 2:
        (<uint16_t *>counts_of(sketch))[i] = <uint16_t>count
    elif sketch.width == 4:
        (<uint32_t *>counts_of(sketch))[i] = <uint32_t>count
    else:
        (<uint64_t *>counts_of(sketch))[i] = count


cdef inline bint has_width_for(const Sketch *sketch, uint64_t count) noexcept nogil:
    return sketch.width == 8 or count >> 8 * sketch.width == 0


cdef bint widen(Sketch **sketch, size_t *used) noexcept nogil:
    """Make counts twice as wide. False: out of memory."""
    cdef Sketch *old = sketch[0]
    cdef Sketch *made = <Sketch *>PyMem_RawMalloc(size_of(old.size, 2 * old.width))
    cdef size_t i
    if made == NULL:
        return False  # pragma: no cover: no memory
    memcpy(made, old, sizeof(Sketch))
    made.width = 2 * old.width
    for i in range(old.size):
        set_count(made, i, count_of(old, i))
    used[0] += <size_t>old.size * old.width
    PyMem_RawFree(old)
    sketch[0] = made
    return True


cdef inline bint add_count(Sketch **sketch, size_t i, size_t *used) noexcept nogil:
    """Add 1 to the count of bucket i of the array. False: out of memory."""
    cdef uint64_t count = count_of(sketch[0], i) + 1
    if not has_width_for(sketch[0], count) and not widen(sketch, used):
        return False  # pragma: no cover: no memory
    set_count(sketch[0], i, count)
    return True


cdef bint ensure_capacity(Sketch **sketch, int32_t bucket, size_t *used) noexcept nogil:
    """Ensure that a sketch has a bucket. An array also grows by a quarter, as far as allowed."""
    cdef Sketch *old = sketch[0]
    cdef Sketch *made
    cdef int32_t low = bucket, high = bucket, more
    cdef size_t width = 1 if old == NULL else old.width
    if old != NULL and old.size:
        if old.first <= bucket < old.first + <int32_t>old.size:
            return True
        low, high = min(bucket, old.first), max(bucket, old.first + <int32_t>old.size - 1)
    more = max(<int32_t>STEP, (high - low) // 4) - 1
    if old == NULL or old.size == 0:
        low, high = low - more // 2, high + more - more // 2
    elif low < old.first:
        low -= more
    else:
        high += more
    # A bucket that is needed is within the limits.
    low, high = max(low, <int32_t>LOWEST), min(high, <int32_t>HIGHEST)
    made = <Sketch *>PyMem_RawCalloc(1, size_of(<size_t>(high - low + 1), width))
    if made == NULL:
        return False  # pragma: no cover: no memory
    if old != NULL:
        memcpy(made, old, sizeof(Sketch))
        if old.size:
            memcpy(counts_of(made) + width * <size_t>(old.first - low), counts_of(old), width * old.size)
        used[0] -= size_of(old.size, width)
        PyMem_RawFree(old)
    made.first, made.size, made.width = low, <uint16_t>(high - low + 1), <uint16_t>width
    used[0] += size_of(made.size, width)
    sketch[0] = made
    return True


cdef inline int32_t bucket_of(double number) noexcept nogil:
    cdef double bucket = ceil(log(number) / LOG_G)
    return <int32_t>min(max(bucket, <double>LOWEST), <double>HIGHEST)


cdef bint add_number(Sketch **sketch, double number, size_t *used) noexcept nogil:
    cdef int32_t bucket
    cdef Sketch *at
    if not isfinite(number):
        return True
    if number >= SMALLEST:
        bucket = bucket_of(number)
        if not ensure_capacity(sketch, bucket, used):
            return False  # pragma: no cover: no memory
        if not add_count(sketch, <size_t>(bucket - sketch[0].first), used):
            return False  # pragma: no cover: no memory
    else:
        number = max(number, 0)
        if sketch[0] == NULL:
            sketch[0] = <Sketch *>PyMem_RawCalloc(1, sizeof(Sketch))
            if sketch[0] == NULL:
                return False  # pragma: no cover: no memory
            sketch[0].width = 1
            used[0] += sizeof(Sketch)
        sketch[0].zeros += 1
    at = sketch[0]
    at.least = number if at.count == 0 else min(at.least, number)
    at.greatest = number if at.count == 0 else max(at.greatest, number)
    at.count += 1
    return True


cdef double quantile_of(const Sketch *sketch, double share) noexcept nogil:
    """Return a quantile of a sketch that is not empty: the number of rank floor(share * (count - 1)), from 0."""
    cdef uint64_t rank = <uint64_t>(share * <double>(sketch.count - 1)), seen = sketch.zeros
    cdef size_t i = 0
    if rank < seen:
        return sketch.least     # 0, unless it is the only number
    while i < sketch.size:
        seen += count_of(sketch, i)
        if rank < seen:
            break
        i += 1
    # 2 g^i / (g + 1) = (1 - e) g^i
    return min(max((1 - ERROR) * exp((<double>sketch.first + <double>i) * LOG_G), sketch.least), sketch.greatest)


cdef void free_sketch(Sketch *sketch) noexcept nogil:
    PyMem_RawFree(sketch)
