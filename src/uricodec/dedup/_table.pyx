"""A table of the names seen so far, by their fingerprints, in memory that is limited.

    start                                                    last
    |. . A B . C . . D E F . G . . . . . . . . . . . . . H . .|
     <---------------- homes ------------------> <- slack -->

A slot is empty, or has a name: its fingerprint, and with `counting` how often it was seen and the number of its first
row. The home of a name is where its fingerprint stands in the range of all fingerprints, so names lie nearly in order.
It is in the first slot from there on that was empty. Nothing is deleted, so whoever looks for it finds it before an empty
slot, or it is not there. Nothing wraps around: behind the last home there is slack, and the last slot is always empty.

**Growing.** The slots are at the end of reserved address space, and what is added comes before them. Then each slot, first
to last, is emptied and its name put where it belongs now. With D slots more the name of slot s, the number counted from
the new start, belongs into s at the latest: its old home was s - D at most, and the home of none moves by more than D. So
what is read was not written before, no second table is needed, and reading as well as writing goes from the start to
the end once: a few nanoseconds a name.

**Full.** Where the next growth would not fit into the limit, the slots fill up to four fifths. After that the table stays as
it is. Its names are put in order, each run of slots in itself, so that a search for an unknown name can stop at the
first name that is greater: it sees three slots instead of thirteen.

**Exact.** The second half of the fingerprint makes room for where the normal form is. Names with the same first half are
compared octet by octet, so those with the same fingerprint and different forms are two names, one after the other.
How long a row takes is bounded by how many names share a fingerprint: the key is secret, so nobody can craft them, and
docs/fingerprint.md shows that there are none by accident. Placing depends on nothing but the fingerprint.

Of a batch, some rows ahead of the one that is worked on are already on their way from memory.
"""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from uricodec._base._atomic cimport uc_glance_size, uc_put_size


# --- batches of identifiers -------------------------------------------------------------------------------------------

cdef class Names:
    """A batch of names. What makes one from lines, columns or what was spilled is in modules of its own.

    Attributes:
        new (int): How many rows of the batch have a name that is new to the table that saw it last.
        later (int): Of how many rows a full table could not say.
    """

    cdef int use(self) except -1:
        """Until `busy` is given back nobody else gets in: neither other threads, nor a buffer that is asked for its octets."""
        if not uc_take(&self.busy):
            raise RuntimeError("another thread is using the names")
        return 0

    def __len__(self):
        return <Py_ssize_t>self.count

    @property
    def marks(self):
        """What is said of each row: an octet, 0 nothing, 1 seen, 2 new, 3 later.

        Returns:
            bytes: As many as there are rows.

        Raises:
            RuntimeError: Another thread is using the names.
        """
        self.use()
        try:
            return (<const char *>self.marks)[:self.count]
        finally:
            uc_give(&self.busy)

    @property
    def fingerprints(self):
        """The fingerprints.

        Returns:
            bytes: 16 octets for each row.

        Raises:
            RuntimeError: Another thread is using the names.
        """
        self.use()
        try:
            return (<const char *>self.fingerprints)[:16 * self.count]
        finally:
            uc_give(&self.busy)


@cython.final
cdef class FingerprintNames(Names):
    """A batch of names that are fingerprints already.

    Args:
        fingerprints (bytes-like): 16 octets for each row.
        forms (list[bytes] | None): The normal forms, for tables that are exact; as many as there are rows.
        first (int): The number of the first row.
        numbers (list[int] | None): How far the number of each row is from that of the first; None: they follow.
        marks (bytes | None): What is said of each row already; None: nothing.

    Raises:
        ValueError: Not as many of the one as of the other.

    >>> names = FingerprintNames(b"one fingerprint." b"and another one!")
    >>> len(names), names.marks
    (2, b'\\x00\\x00')
    """
    cdef object held            # what the pointers are about
    cdef uint8_t *memory

    def __cinit__(self, fingerprints, forms=None, uint64_t first=0, numbers=None, marks=None):
        cdef size_t rows, i, end = 0
        cdef size_t *bounds
        cdef uint32_t *numbers_of
        cdef bytes octets = bytes(fingerprints), joined = b"".join(forms or ())
        rows = <size_t>len(octets) // 16
        for each in forms, numbers, marks:
            if len(octets) != 16 * <Py_ssize_t>rows or each is not None and len(each) != <Py_ssize_t>rows:
                raise ValueError("not as many of the one as of the other")
        # Bounds of forms, numbers, marks: the most aligned comes first.
        self.memory = <uint8_t *>PyMem_RawCalloc(rows + 1, sizeof(size_t) + sizeof(uint32_t) + 1)
        if self.memory == NULL:
            raise MemoryError  # pragma: no cover: no memory
        bounds = <size_t *>self.memory
        numbers_of = <uint32_t *>(bounds + rows + 1)
        self.marks = <uint8_t *>(numbers_of + rows + 1)
        self.held = octets, joined
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
    void prefetch "UC_PREFETCH"(const void *at) noexcept
    size_t page_size "uc_page_size"() noexcept
    uint8_t *reserve "uc_reserve"(size_t size) noexcept
    bint commit "uc_commit"(uint8_t *at, size_t size) noexcept
    void release "uc_release"(uint8_t *at, size_t size) noexcept


cdef enum:
    # Words of a slot: the first 64 bits of the fingerprint; the others, or 1 + where its form is; a count; a first row.
    PLAIN = 2
    COUNTING = 4
    SLACK = 256                     # slots; 50 behind the last home are in use less than once in a million tables
    AHEAD = 32                      # rows: their slots are on their way
    FORMS_AHEAD = 12                # their forms are
    BLOCK = 128                     # slots
    HUGE_PAGE = 1 << 21
    LEAST = 1 << 14                 # octets of the first slots, and of the first forms
    # What make_room says.
    ROOM = 0
    NO_ROOM = 1
    NO_MEMORY = 2

cdef uint64_t MOST_HOMES = 0xFFFFFFFF      # as many as 32 bits of a fingerprint can tell apart
# Stands for 64 zeros in the second half of a fingerprint, as those mean an empty slot. It is the half of no fingerprint
# with the same first half: each has an even number of ones.
cdef uint64_t NOT_ZERO = <uint64_t>1 << 63


cdef inline uint64_t word(const uint8_t *octets) noexcept nogil:
    cdef uint64_t value
    memcpy(&value, octets, 8)
    return value


cdef inline uint64_t *home(uint64_t *start, uint64_t homes, size_t stride, uint64_t low) noexcept nogil:
    return start + ((low >> 32) * homes >> 32) * stride


cdef inline size_t rounded_up(size_t size, size_t granule) noexcept nogil:
    return (size + granule - 1) // granule * granule


cdef uint8_t *reserve_most(size_t *size, size_t least, size_t granule) noexcept nogil:
    """Address space of as much of the size as there is, and of `least` at least; some more than that."""
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
    """Which names came before, of as many as there is memory for.

    Names with different fingerprints are different names, also where forms are compared.

    Args:
        limit (int): Octets that it may use. A few hundred names always fit in, and one of any length.
        counting (bool): Whether names are counted, and their first rows noted.
        exact (bool): Whether names with the same fingerprint are the same only if their normal forms are.

    Attributes:
        full (bool): Whether a name was refused for want of memory: no new ones will be taken.

    Raises:
        MemoryError: There is no memory.

    >>> from uricodec.dedup._table import FingerprintNames
    >>> table = Table(limit=1 << 20)
    >>> names = FingerprintNames(b"one fingerprint." b"another, like it" b"one fingerprint.")
    >>> table.add(names)
    >>> list(names.marks), names.new, table.count, table.full
    ([2, 2, 1], 2, 2, False)
    """

    def __cinit__(self, size_t limit, bint counting=False, bint exact=False):
        self.limit = limit
        self.counting = counting
        self.exact = exact
        self.granule = max(<size_t>LEAST, page_size())
        self.open()
        if self.region == NULL:
            raise MemoryError

    def __dealloc__(self):
        self.close()

    @property
    def count(self):
        """How many names it holds; others may be added meanwhile.

        Returns:
            int: The number.
        """
        return uc_glance_size(&self.slots.count)

    @property
    def size(self):
        """The memory in use.

        Returns:
            int: Octets.
        """
        return self.had + self.arena.had

    def add(self, Names names not None):
        """Say of each row that is pending whether its name is new, and take it in if so.

        Args:
            names (Names): The rows. Afterwards each is marked as seen, new or, if the table is full, later.

        Raises:
            MemoryError: There is less memory than the limit. The rows before are marked and in the table; later rows are
                pending.
            RuntimeError: Another thread is using the table, or the names.
            ValueError: The table is exact, and the names come without normal forms.
        """
        cdef int status
        names.use()
        try:
            if names.count and self.exact and names.form_starts == NULL:
                raise ValueError("an exact table needs normal forms")
            self.use()
            with nogil:
                status = add_rows(self, names)
            uc_give(&self.busy)
        finally:
            uc_give(&names.busy)
        if status == NO_MEMORY:
            raise MemoryError

    def counts(self, Py_ssize_t block=65536):
        """Give what was counted, of all names, in no particular order.

        Args:
            block (int): How many names at a time, up to a million.

        Yields:
            bytes: Two numbers of 64 bits for each name: that of its first row, and how often it was seen.

        Raises:
            RuntimeError: Another thread is using the table.
            ValueError: The table does not count.

        >>> from uricodec.dedup._table import FingerprintNames
        >>> table = Table(1 << 20, counting=True)
        >>> table.add(FingerprintNames(b"one fingerprint." b"one fingerprint.", first=5))
        >>> [memoryview(block).cast("Q").tolist() for block in table.counts()]
        [[5, 2]]
        """
        if not self.counting:
            raise ValueError("the table does not count")
        at = 0
        while True:
            pairs, at = self.block_of_counts(at, min(max(block, 1), 1 << 20))
            if not pairs:
                return
            yield pairs

    def clear(self):
        """Forget everything, and give memory back.

        Raises:
            MemoryError: There is no memory to begin again.
            RuntimeError: Another thread is using the table.
        """
        self.use()
        self.close()
        self.open()
        uc_give(&self.busy)
        if self.region == NULL:
            raise MemoryError

    cdef tuple block_of_counts(self, size_t at, Py_ssize_t block):
        cdef bytes pairs = PyBytes_FromStringAndSize(NULL, 16 * block)
        cdef uint64_t *room = <uint64_t *>PyBytes_AS_STRING(pairs)
        cdef size_t taken
        self.use()
        with nogil:
            taken = self.take_counts(&at, room, <size_t>block)
        uc_give(&self.busy)
        return pairs[:16 * taken], at

    cdef size_t take_counts(self, size_t *at, uint64_t *pairs, size_t room) noexcept nogil:
        """The next pairs from slot *at on, as many as there are and there is room for."""
        cdef uint64_t *slot = self.slots.start + at[0] * COUNTING
        cdef size_t taken = 0
        while slot < self.slots.last and taken < room:
            if slot[1]:
                pairs[2 * taken] = slot[3]
                pairs[2 * taken + 1] = slot[2]
                taken += 1
            slot += COUNTING
        at[0] = <size_t>(slot - self.slots.start) // COUNTING
        return taken

    # --- memory -------------------------------------------------------------------------------------------------------

    cdef void open(self) noexcept nogil:
        """Begin with few slots. Leaves `region` NULL if there is no memory."""
        cdef size_t stride = COUNTING if self.counting else PLAIN
        cdef size_t least = LEAST * stride // PLAIN
        cdef uint8_t *end
        memset(&self.slots, 0, sizeof(Slots))
        memset(&self.arena, 0, sizeof(Arena))
        self.full = self.stuck = False
        self.had = 0
        if least < self.granule:
            least = self.granule  # pragma: no cover: larger pages
        self.reserved = self.limit
        self.region = reserve_most(&self.reserved, least + HUGE_PAGE, self.granule)
        if self.region == NULL:
            return
        end = <uint8_t *>(<size_t>(self.region + self.reserved) & ~<size_t>(HUGE_PAGE - 1))
        self.slots.last = <uint64_t *>end - stride
        self.slots.start = <uint64_t *>end
        if self.grow(least) != ROOM or (self.exact and self.make_room_for(1) != ROOM):
            self.close()

    cdef void close(self) noexcept nogil:
        if self.region != NULL:
            release(self.region, self.reserved)
        if self.arena.region != NULL:
            release(self.arena.region, self.arena.reserved)
        memset(&self.slots, 0, sizeof(Slots))
        memset(&self.arena, 0, sizeof(Arena))
        self.region = NULL
        self.had = 0

    cdef size_t rounded(self, size_t size) noexcept nogil:
        """A multiple of the granule, not more than the size, unless that is less than one."""
        return size - size % self.granule if size > self.granule else self.granule

    cdef int make_room(self) noexcept nogil:
        """Make room for another name: more slots, or the permission to fill up more of them."""
        cdef size_t octets = 8 * (COUNTING if self.counting else PLAIN)
        cdef size_t most = self.limit - self.arena.had if self.limit > self.arena.had else 0
        cdef size_t reserved = <size_t>(<uint8_t *>self.slots.last - self.region) + octets
        cdef size_t filled = <size_t>(<double>self.slots.homes * 0.8)
        cdef size_t size = 2 * self.had, fair
        if self.arena.used:
            # As many slots as there will be forms for, if those to come are as long as those that came; and some more if
            # that was wrong.
            fair = <size_t>(<double>self.limit / (
                1 + 0.8 * <double>self.arena.used / <double>self.slots.count / <double>octets))
            if self.slots.count >= filled:
                fair = max(fair, self.had + self.had // 16)
            size = min(size, rounded_up(fair, self.granule))
        most = self.rounded(min(most, min(reserved, <size_t>min(MOST_HOMES * octets, (<size_t>-1) // 2))))
        size = min(size, most)
        if size > self.had and (size - self.had >= self.had // 32 or self.slots.count >= filled):
            return self.grow(size)
        if self.slots.count >= filled:
            return NO_ROOM
        self.slots.enough = filled
        return ROOM

    cdef int grow(self, size_t size) noexcept nogil:
        """Have `size` octets of slots, more than before."""
        cdef size_t stride = COUNTING if self.counting else PLAIN
        cdef uint64_t *old = self.slots.start
        cdef uint64_t *start = self.slots.last + stride - size // 8
        if not commit(<uint8_t *>start, size - self.had):
            return NO_MEMORY
        self.had = size
        self.slots.start = start
        self.slots.homes = size // (8 * stride) - SLACK
        self.slots.enough = <size_t>(<double>self.slots.homes * 0.75)
        if self.slots.count and stride == PLAIN:
            rearrange(&self.slots, old, PLAIN)
        elif self.slots.count:
            rearrange(&self.slots, old, COUNTING)
        return ROOM

    cdef int make_room_for(self, size_t octets) noexcept nogil:
        """Have room for so many octets in the arena."""
        cdef Arena *arena = &self.arena
        cdef size_t need = arena.used + octets, size, most
        if need <= arena.had:
            return ROOM
        if arena.region != NULL and arena.reserved - HUGE_PAGE < need and not arena.used:
            # The first name of all is longer than the limit.
            release(arena.region, arena.reserved)
            memset(arena, 0, sizeof(Arena))
        if arena.region == NULL:
            arena.reserved = self.limit
            arena.region = reserve_most(&arena.reserved, need, self.granule)
            if arena.region == NULL:
                return NO_MEMORY
            arena.start = <uint8_t *>rounded_up(<size_t>arena.region, HUGE_PAGE)
        # Some more than is needed, but as a share of what there is already, and inside the limit.
        most = self.limit - self.had if self.limit > self.had else 0
        most = min(most, arena.reserved - HUGE_PAGE)
        size = rounded_up(need + arena.had // 32, HUGE_PAGE if need > 2 * HUGE_PAGE else self.granule)
        size = min(size, most - most % self.granule)
        if size < need:
            if arena.used:
                return NO_ROOM
            size = rounded_up(need, self.granule)
        if not commit(arena.start + arena.had, size - arena.had):
            return NO_MEMORY
        arena.had = size
        return ROOM

    cdef int use(self) except -1:
        if not uc_take(&self.busy):
            raise RuntimeError("another thread is using the table")  # pragma: no cover: a race
        if self.region == NULL:
            uc_give(&self.busy)
            raise MemoryError
        return 0


cdef inline void rearrange(Slots *slots, uint64_t *old, size_t stride) noexcept nogil:
    """Put the names of the slots from `old` on where they belong, now that there are slots before those.

    A few slots are emptied at a time, and nearly without branches: which of them have names cannot be foreseen.
    """
    cdef uint64_t held[BLOCK * COUNTING]
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


cdef inline void put_in_order(Slots *slots, size_t stride) noexcept nogil:
    """Sort each run of slots. An insertion takes no more steps than it took to fill the run."""
    cdef uint64_t *slot = slots.start
    cdef uint64_t *to
    cdef uint64_t held[COUNTING]
    cdef size_t i
    while slot < slots.last:
        if slot[1] and slot > slots.start and (slot - stride)[1] and (slot - stride)[0] > slot[0]:
            for i in range(stride):
                held[i] = slot[i]
            to = slot
            while to > slots.start and (to - stride)[1] and (to - stride)[0] > held[0]:
                for i in range(stride):
                    to[i] = (to - stride)[i]
                to -= stride
            for i in range(stride):
                to[i] = held[i]
        slot += stride


# --- forms ------------------------------------------------------------------------------------------------------------
# In the arena a form follows its length: an octet if that is below 255, otherwise 255 and eight octets.

cdef inline bint same_form(const uint8_t *stored, const uint8_t *form, size_t length) noexcept nogil:
    cdef size_t other = stored[0]
    stored += 1
    if other == 255:
        other = <size_t>word(stored)
        stored += 8
    return other == length and memcmp(stored, form, length) == 0


cdef inline uint64_t store_form(Arena *arena, const uint8_t *form, size_t length) noexcept nogil:
    """Room was made before. Returns 1 + the place."""
    cdef size_t place = arena.used
    cdef uint64_t value = length
    if length < 255:
        arena.start[place] = <uint8_t>length
        arena.used += 1
    else:
        arena.start[place] = 255
        memcpy(arena.start + place + 1, &value, 8)
        arena.used += 9
    memcpy(arena.start + arena.used, form, length)
    arena.used += length
    return <uint64_t>place + 1


# --- loops over rows --------------------------------------------------------------------------------------------------

cdef int add_rows(Table table, Names names) noexcept nogil:
    cdef size_t row = 0
    cdef int status = ROOM
    names.new = names.later = 0
    while not table.full and row < names.count:
        if table.exact:
            row = take_forms(table, names, row, COUNTING) if table.counting else take_forms(table, names, row, PLAIN)
        else:
            row = take(table, names, row, COUNTING) if table.counting else take(table, names, row, PLAIN)
        if row < names.count:
            status = NO_ROOM if table.stuck else ROOM
            if status == ROOM and table.slots.count >= table.slots.enough:
                status = table.make_room()
            if status == ROOM and table.exact:
                status = table.make_room_for(9 + names.form_ends[row] - names.form_starts[row])
            if status == NO_MEMORY:
                return NO_MEMORY
            table.full = status == NO_ROOM
            if table.full and table.counting:
                put_in_order(&table.slots, COUNTING)
            elif table.full:
                put_in_order(&table.slots, PLAIN)
    if table.full and table.counting:
        look_up(table, names, row, COUNTING)
    elif table.full:
        look_up(table, names, row, PLAIN)
    return ROOM


cdef inline size_t take(Table table, Names names, size_t row, size_t stride) noexcept nogil:
    """Work on rows from `row` on, until there is a new name without room. Returns where that was."""
    cdef Slots slots = table.slots
    cdef const uint8_t *fingerprints = names.fingerprints
    cdef uint8_t *marks = names.marks
    cdef size_t rows = names.count, new = 0, i
    cdef uint64_t low, high
    cdef uint64_t *slot
    for i in range(row, min(row + AHEAD, rows)):
        prefetch(home(slots.start, slots.homes, stride, word(fingerprints + 16 * i)))
    while row < rows:
        if row + AHEAD < rows:
            prefetch(home(slots.start, slots.homes, stride, word(fingerprints + 16 * (row + AHEAD))))
        if marks[row] == PENDING:
            low = word(fingerprints + 16 * row)
            high = word(fingerprints + 16 * row + 8)
            high = high if high else NOT_ZERO
            slot = home(slots.start, slots.homes, stride, low)
            while slot[1] and (slot[1] != high or slot[0] != low):
                slot += stride
            if slot[1]:
                marks[row] = SEEN
                if stride == COUNTING:
                    slot[2] += 1
            else:
                if slots.count >= slots.enough or slot == slots.last:
                    table.stuck = slot == slots.last
                    break
                slot[0] = low
                slot[1] = high
                if stride == COUNTING:
                    slot[2] = 1
                    slot[3] = number_of(names, row)
                marks[row] = NEW
                slots.count += 1
                new += 1
        row += 1
    uc_put_size(&table.slots.count, slots.count)
    names.new += new
    return row


cdef inline const uint8_t *likely_form(Table table, uint64_t low, size_t stride) noexcept nogil:
    """Where the form of a name is, if it is at home or in the next slot of 64 octets that came at once. No branches."""
    cdef uint64_t *slot = home(table.slots.start, table.slots.homes, stride, low)
    cdef uint64_t *other = slot + (stride if (<size_t>slot + 8 * stride) & 63 else 0)
    cdef uint64_t place = slot[1] & (0 - <uint64_t>(slot[0] == low)) | other[1] & (0 - <uint64_t>(other[0] == low))
    return table.arena.start + place


cdef inline size_t take_forms(Table table, Names names, size_t row, size_t stride) noexcept nogil:
    """The same, comparing forms."""
    cdef Slots slots = table.slots
    cdef const uint8_t *fingerprints = names.fingerprints
    cdef const uint8_t *form
    cdef uint8_t *marks = names.marks
    cdef size_t rows = names.count, new = 0, i, length, room
    cdef uint64_t low
    cdef uint64_t *slot
    for i in range(row, min(row + AHEAD, rows)):
        prefetch(home(slots.start, slots.homes, stride, word(fingerprints + 16 * i)))
    while row < rows:
        if row + AHEAD < rows:
            prefetch(home(slots.start, slots.homes, stride, word(fingerprints + 16 * (row + AHEAD))))
        if row + FORMS_AHEAD < rows:
            prefetch(likely_form(table, word(fingerprints + 16 * (row + FORMS_AHEAD)), stride))
        if marks[row] == PENDING:
            low = word(fingerprints + 16 * row)
            form = names.forms + names.form_starts[row]
            length = names.form_ends[row] - names.form_starts[row]
            slot = home(slots.start, slots.homes, stride, low)
            while slot[1] and (slot[0] != low or not same_form(table.arena.start + slot[1] - 1, form, length)):
                slot += stride
            if slot[1]:
                marks[row] = SEEN
                if stride == COUNTING:
                    slot[2] += 1
            else:
                room = table.arena.had - table.arena.used
                if slots.count >= slots.enough or slot == slots.last or room < 9 or room - 9 < length:
                    table.stuck = slot == slots.last
                    break
                slot[0] = low
                slot[1] = store_form(&table.arena, form, length)
                if stride == COUNTING:
                    slot[2] = 1
                    slot[3] = number_of(names, row)
                marks[row] = NEW
                slots.count += 1
                new += 1
        row += 1
    uc_put_size(&table.slots.count, slots.count)
    names.new += new
    return row


cdef inline void look_up(Table table, Names names, size_t row, size_t stride) noexcept nogil:
    """Work on rows from `row` on. The table is full, and in order."""
    cdef Slots slots = table.slots
    cdef const uint8_t *fingerprints = names.fingerprints
    cdef uint8_t *marks = names.marks
    cdef size_t rows = names.count, later = 0
    cdef bint exact = table.exact, found
    cdef uint64_t low, high
    cdef uint64_t *slot
    for row in range(row, rows):
        if row + AHEAD < rows:
            prefetch(home(slots.start, slots.homes, stride, word(fingerprints + 16 * (row + AHEAD))))
        if exact and row + FORMS_AHEAD < rows:
            prefetch(likely_form(table, word(fingerprints + 16 * (row + FORMS_AHEAD)), stride))
        if marks[row] != PENDING:
            continue
        low = word(fingerprints + 16 * row)
        high = word(fingerprints + 16 * row + 8)
        high = high if high else NOT_ZERO
        slot = home(slots.start, slots.homes, stride, low)
        while slot[1] and slot[0] < low:
            slot += stride
        found = False
        while slot[1] and slot[0] == low and not found:
            if exact:
                found = same_form(table.arena.start + slot[1] - 1, names.forms + names.form_starts[row],
                                  names.form_ends[row] - names.form_starts[row])
            else:
                found = slot[1] == high
            if not found:
                slot += stride
        if found:
            marks[row] = SEEN
            if stride == COUNTING:
                slot[2] += 1
        else:
            marks[row] = LATER
            later += 1
    names.later = later
