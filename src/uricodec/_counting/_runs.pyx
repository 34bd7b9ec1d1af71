# distutils: extra_compile_args=-O2
"""Records: sorting them, and the merge of sorted runs.

A run is an iterator of blocks, and a block is any number of whole records, in order. There are two kinds of records:

    16 bytes: a fingerprint                 in the order of Table.fingerprints()
    8 bytes: size | so many bytes           in the order of these bytes; at least 16 of them

The first 16 bytes of the next record of each run are held as two words, which nearly always tell which one is less. The
runs are a heap, with the least record at the root:

    run 0: A D F      heap: A (0), B (2), C (1)     A is copied, and D takes its place: B (2), D (0), C (1)
    run 1: C G        merge: A B C D ...
    run 2: B E
"""
cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcmp, memcpy

from uricodec._base._cpython cimport (PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyMem_RawCalloc, PyMem_RawFree,
                                      PyMem_RawMalloc)
from uricodec._base._fingerprint cimport UC_FINGERPRINT, load_word, store_word


cdef enum:
    SIZE = 8                # bytes before a record that has a size

# Which records are copied: all, or each fingerprint once if it is in any run, in all, or in the first one only.
cdef enum Kept:
    RECORDS, IN_ANY, IN_ALL, IN_FIRST_ONLY

# What came of the step to the next record of a run.
cdef enum Step:
    NEXT, END_OF_BLOCK, NO_ROOM, NOT_ASCENDING, INCOMPLETE


cdef struct Run:
    uint64_t high, low      # the first 16 bytes of the next record
    const uint8_t *at       # that record
    size_t size
    const uint8_t *end      # of the block
    size_t number


cdef inline bint is_before(const Run *run, const Run *other) noexcept nogil:
    cdef int order
    if run.high != other.high:
        return run.high < other.high
    if run.low != other.low:
        return run.low < other.low
    if run.size == KEY or other.size == KEY:
        return run.size < other.size
    order = memcmp(run.at + KEY, other.at + KEY, min(run.size, other.size) - KEY)
    return order < 0 or order == 0 and run.size < other.size


cdef void sift(Run *heap, size_t count, size_t at) noexcept nogil:
    """Move a run down to its place in the heap."""
    cdef Run moved = heap[at]
    cdef size_t child = 2 * at + 1
    while child < count:
        if child + 1 < count and is_before(&heap[child + 1], &heap[child]):
            child += 1
        if not is_before(&heap[child], &moved):
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = moved


cdef inline Step read_fingerprint(Run *run, bint after) noexcept nogil:
    """Read the fingerprint at a run. after: it has to come after the one before it."""
    cdef uint64_t high, low
    if run.end - run.at < UC_FINGERPRINT:
        return INCOMPLETE
    high, low = load_word(run.at), load_word(run.at + 8)
    if after and (high < run.high or high == run.high and low <= run.low):
        return NOT_ASCENDING
    run.high, run.low, run.size = high, low, UC_FINGERPRINT
    return NEXT


cdef inline Step read_record(Run *run) noexcept nogil:
    run.at = record_at(run.at, run.end, &run.size)
    if run.at == NULL:
        return INCOMPLETE
    run.high, run.low = load_big_word(run.at), load_big_word(run.at + 8)
    return NEXT


@cython.final
cdef class Merge:
    """The merge of sorted runs, as an iterable of blocks.

    Args:
        runs (list[Iterator[bytes]]): The blocks of each run.
        keep (str): "records": all records, which have sizes. Of fingerprints, each one once: "any": what is in any run;
            "all": in all; "only-first": in the first and no other.
        size (int): The size of a block in bytes, unless a record is longer.

    >>> one, two = b"a" * 16, b"b" * 16
    >>> [b"".join(Merge([iter([one + two]), iter([two])], keep)) for keep in ("any", "all", "only-first")] == [
    ...     one + two, two, one]
    True
    >>> runs = [iter([pack([b"a" * 16, b"c" * 20])]), iter([pack([b"b" * 17])])]
    >>> [record[:2] for block in Merge(runs, "records") for record in unpack(block)]
    [b'aa', b'bb', b'cc']
    """
    cdef list runs
    cdef list blocks        # the owners of the next records
    cdef Run *heap
    cdef size_t total       # runs,
    cdef size_t count       # and those in the heap
    cdef Kept kept
    cdef size_t size
    cdef uint64_t high, low  # the fingerprint that is being counted,
    cdef size_t found       # in how many runs it is,
    cdef bint in_first      # and whether the first one is among them

    def __cinit__(self, list runs not None, str keep not None, size_t size=1 << 20):
        self.kept = {"records": RECORDS, "any": IN_ANY, "all": IN_ALL, "only-first": IN_FIRST_ONLY}[keep]
        self.runs, self.blocks, self.size = runs, [None] * len(runs), max(size, <size_t>UC_FINGERPRINT)
        self.total = <size_t>len(runs)
        self.heap = <Run *>PyMem_RawCalloc(self.total + 1, sizeof(Run))
        if self.heap == NULL:
            raise MemoryError  # pragma: no cover: no memory

    def __dealloc__(self):
        PyMem_RawFree(self.heap)

    def __iter__(self):
        """Yield blocks of the merge, once.

        Raises:
            ValueError: If a record is incomplete, or fingerprints are not ascending.
        """
        cdef size_t i
        for i in range(self.total):
            self.heap[self.count].number = i
            self.count += self.fetch(&self.heap[self.count], False)
        for i in range(self.count // 2, 0, -1):
            sift(self.heap, self.count, i - 1)
        while self.count or self.found:
            block = self.next_block()
            if block:
                yield block

    cdef bint fetch(self, Run *run, bint after) except -1:
        """Fetch the next block of a run. False: there is none."""
        cdef bytes block = b""
        while block is not None and not block:
            block = next(self.runs[run.number], None)
        self.blocks[run.number] = block
        if block is None:
            return False
        run.at = <const uint8_t *>PyBytes_AS_STRING(block)
        run.end = run.at + len(block)
        must_be_sound(read_record(run) if self.kept == RECORDS else read_fingerprint(run, after))
        return True

    cdef bytes next_block(self):
        """Return the next block of the merge, perhaps an empty one."""
        cdef size_t size = max(self.size, SIZE + self.heap[0].size) if self.kept == RECORDS else self.size
        cdef bytes block = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>size)
        cdef uint8_t *start = <uint8_t *>PyBytes_AS_STRING(block)
        cdef uint8_t *dst = start
        cdef uint8_t *end = start + size
        cdef Step step = END_OF_BLOCK
        while self.count and step != NO_ROOM:
            with nogil:
                step = self.copy_records(&dst, end) if self.kept == RECORDS else self.copy_fingerprints(&dst, end)
            if step == END_OF_BLOCK:
                if not self.fetch(self.heap, True):
                    self.count -= 1
                    self.heap[0] = self.heap[self.count]
                sift(self.heap, self.count, 0)
            must_be_sound(step)
        if not self.count and end - dst >= UC_FINGERPRINT:
            dst = self.put_counted(dst)
            self.found = 0
        return block[:dst - start]

    cdef Step copy_records(self, uint8_t **dst, const uint8_t *end) noexcept nogil:
        """Copy records up to the end of a block, or while there is room."""
        cdef Run *least = self.heap
        cdef Step step
        while SIZE + least.size <= <size_t>(end - dst[0]):
            memcpy(dst[0], least.at - SIZE, SIZE + least.size)
            dst[0] += SIZE + least.size
            least.at += least.size
            if least.at == least.end:
                return END_OF_BLOCK
            step = read_record(least)
            if step != NEXT:
                return step
            sift(self.heap, self.count, 0)
        return NO_ROOM

    cdef Step copy_fingerprints(self, uint8_t **dst, const uint8_t *end) noexcept nogil:
        """Do the same with fingerprints, each of which is counted first."""
        cdef Run *least = self.heap
        cdef Step step
        while end - dst[0] >= UC_FINGERPRINT:
            if not self.found or self.high != least.high or self.low != least.low:
                dst[0] = self.put_counted(dst[0])
                self.high, self.low, self.found, self.in_first = least.high, least.low, 0, False
            self.found += 1
            self.in_first |= least.number == 0
            least.at += UC_FINGERPRINT
            if least.at == least.end:
                return END_OF_BLOCK
            step = read_fingerprint(least, True)
            if step != NEXT:
                return step
            sift(self.heap, self.count, 0)
        return NO_ROOM

    cdef inline uint8_t *put_counted(self, uint8_t *dst) noexcept nogil:
        """Write the fingerprint that was counted, if it is wanted. Return where the next one goes."""
        cdef bint wanted = self.found > 0
        if self.kept == IN_ALL:
            wanted = self.found == self.total
        elif self.kept == IN_FIRST_ONLY:
            wanted = self.found == 1 and self.in_first
        if not wanted:
            return dst
        store_word(self.high, dst)
        store_word(self.low, dst + 8)
        return dst + UC_FINGERPRINT


cdef int must_be_sound(Step step) except -1:
    if step == INCOMPLETE:
        raise ValueError("damaged block: a record is incomplete")
    if step == NOT_ASCENDING:
        raise ValueError("fingerprints are not ascending")
    return 0


# --- sorting ----------------------------------------------------------------------------------------------------------

cdef struct Item:
    uint64_t high, low      # the first 16 bytes of a record
    const uint8_t *at
    size_t size


cdef int order_of(const void *one, const void *other) noexcept nogil:
    """Return less than 0 if an Item is before another one, 0 if they are equal."""
    cdef const Item *a = <const Item *>one
    cdef const Item *b = <const Item *>other
    cdef int order
    if a.high != b.high:
        return -1 if a.high < b.high else 1
    if a.low != b.low:
        return -1 if a.low < b.low else 1
    order = memcmp(a.at + KEY, b.at + KEY, min(a.size, b.size) - KEY)
    return order if order else (a.size > b.size) - (a.size < b.size)


@cython.final
cdef class Sorted:
    """The records of blocks, which have sizes, in order: an iterator of blocks.

    Args:
        blocks (list[bytes]): The blocks, in which records are in any order.
        size (int): The size of a block in bytes, unless a record is longer.

    Raises:
        ValueError: If a block does not end with a record.

    >>> [unpack(block)[0][:1] for block in Sorted([pack([b"c" * 16, b"a" * 16]), pack([b"b" * 17])], 30)]
    [b'a', b'b', b'c']
    """
    cdef list blocks        # the owners of the records
    cdef Item *items
    cdef size_t count
    cdef size_t at          # the next one
    cdef size_t size

    def __cinit__(self, list blocks not None, size_t size):
        cdef const uint8_t *at
        cdef const uint8_t *end
        cdef bytes block
        cdef Item item
        self.blocks, self.size = blocks, size
        for block in blocks:
            at = <const uint8_t *>PyBytes_AS_STRING(block)
            end = at + len(block)
            while at < end:
                at = record_at(at, end, &item.size)
                if at == NULL:
                    must_be_sound(INCOMPLETE)
                at += item.size
                self.count += 1
        self.items = <Item *>PyMem_RawMalloc(self.count * sizeof(Item) + 1)
        if self.items == NULL:
            raise MemoryError  # pragma: no cover: no memory
        self.count = 0
        for block in blocks:
            at = <const uint8_t *>PyBytes_AS_STRING(block)
            end = at + len(block)
            while at < end:
                item.at = record_at(at, end, &item.size)
                item.high, item.low = load_big_word(item.at), load_big_word(item.at + 8)
                self.items[self.count] = item
                self.count += 1
                at = item.at + item.size
        with nogil:
            qsort(self.items, self.count, sizeof(Item), order_of)

    def __dealloc__(self):
        PyMem_RawFree(self.items)

    def __iter__(self):
        return self

    def __next__(self):
        cdef size_t stop = self.at, size = 0
        cdef bytes block
        cdef uint8_t *dst
        if self.at == self.count:
            raise StopIteration
        while stop < self.count and (stop == self.at or size + SIZE + self.items[stop].size <= self.size):
            size += SIZE + self.items[stop].size
            stop += 1
        block = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>size)
        dst = <uint8_t *>PyBytes_AS_STRING(block)
        while self.at < stop:
            size = SIZE + self.items[self.at].size
            memcpy(dst, self.items[self.at].at - SIZE, size)
            dst += size
            self.at += 1
        return block


# --- blocks -----------------------------------------------------------------------------------------------------------

def pack(records not None):
    """Return a block of records that have sizes.

    Args:
        records (Iterable[bytes]): The records, of at least 16 bytes.
    """
    cdef list parts = []
    for record in records:
        parts.append(len(record).to_bytes(SIZE, "little"))
        parts.append(record)
    return b"".join(parts)


def unpack(bytes block not None):
    """Return the records of a block (list[bytes]).

    Raises:
        ValueError: If the block does not end with a record.
    """
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(block)
    cdef const uint8_t *end = at + len(block)
    cdef size_t size = 0
    cdef list found = []
    while at < end:
        at = record_at(at, end, &size)
        if at == NULL:
            must_be_sound(INCOMPLETE)
        found.append(PyBytes_FromStringAndSize(<const char *>at, <Py_ssize_t>size))
        at += size
    return found
