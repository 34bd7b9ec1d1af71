# distutils: extra_compile_args=-O2
"""The first rows of the identifiers of a corpus: a bit for each row, and a count for each bit that is set.

The first pass over the corpus sets bits, in any order, and the second one reads them. The count of an identifier is
stored at the rank of its first row, which is the number of bits set before that row: so there is one count per
identifier. Ranks are stored for the start of each SPAN of words, a cache line, and bits are counted from there.

The bits are in memory that the caller provides, for example a mapped file, or in memory that grows.
"""
cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport SIZE_MAX, uint32_t
from libc.string cimport memset

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from uricodec._base._kernels cimport bits_of
from uricodec._counting._table cimport *


cdef enum:
    SPAN = 8            # words
    CHUNK = 1024        # rows that are searched at once

cdef enum PassStatus:
    DONE, NO_ROOM, NO_MEMORY


# The last word that was looked up, and how many bits are set before it.
cdef struct Cursor:
    uint64_t word
    uint64_t before


cdef int borrow(object memory, Py_buffer *buffer, int flags, size_t unit) except -1:
    """Borrow an array of 64-bit integers. Its size must be a multiple of `unit` bytes."""
    PyObject_GetBuffer(memory, buffer, flags)
    if buffer.len and (<size_t>buffer.buf % sizeof(uint64_t) or <size_t>buffer.len % unit):
        PyBuffer_Release(buffer)
        raise ValueError(f"expected an aligned buffer of a multiple of {unit} bytes")
    return 0


# no_gc: the garbage collector would clear the owner's reference before __dealloc__ releases the buffer.
@cython.no_gc
@cython.final
cdef class FirstRows:
    """A set of row numbers. Only one thread at a time may call methods that change it, and no others meanwhile.

    Args:
        memory (bytes-like | None): The memory for the bits: writable, aligned to 8 bytes, all zero, with a bit for each
            row in whole 64-bit words. None: memory is allocated, and grows.

    >>> rows = FirstRows(bytearray(16))
    >>> len(rows), rows.count
    (128, 0)
    """

    def __cinit__(self, memory=None):
        if memory is not None:
            borrow(memory, &self.memory, PyBUF_WRITABLE, 1)
            self.given, self.words, self.size = True, <uint64_t *>self.memory.buf, <size_t>self.memory.len // 8

    def __dealloc__(self):
        self.discard()

    def __len__(self):
        """Return the number of rows that the memory is large enough for."""
        return <Py_ssize_t>(64 * self.size)

    def release(self):
        """Release the caller's memory, or free the allocated memory. Then no bit is set."""
        self.discard()

    cdef void discard(self):
        self.unseal()
        if self.given:
            self.given = False
            PyBuffer_Release(&self.memory)
        else:
            PyMem_RawFree(self.words)
        self.words, self.size, self.count = NULL, 0, 0

    cdef void unseal(self) noexcept nogil:
        PyMem_RawFree(self.ranks)
        self.ranks = NULL

    # --- bits

    def set(self, IdentifierBatch batch not None):
        """Set the bits of the rows that are marked as new. Afterwards the set is no longer sealed.
        """
        cdef uint64_t row = 0
        cdef PassStatus status
        batch.use()
        with nogil:
            self.unseal()
            status = set_rows(self, batch, &row)
        uc_give(&batch.busy)
        raise_status(self, status, row)

    def set_pairs(self, pairs, uint64_t least=0):
        """Set the bits of rows that are given by number. Afterwards the set is no longer sealed.

        Args:
            pairs (bytes-like): Pairs of a row number and a count, as from Table.counts().
            least (int): Rows before this one are ignored.

        >>> import sys
        >>> rows = FirstRows()
        >>> rows.set_pairs(b"".join(number.to_bytes(8, sys.byteorder) for number in (3, 1, 70, 2)))
        >>> rows.count
        2
        """
        cdef Py_buffer source
        cdef uint64_t row = 0
        cdef PassStatus status
        borrow(pairs, &source, PyBUF_SIMPLE, 16)
        with nogil:
            self.unseal()
            status = set_pairs(self, <const uint64_t *>source.buf, <size_t>source.len // 16, least, &row)
        PyBuffer_Release(&source)
        raise_status(self, status, row)

    def mark(self, IdentifierBatch batch not None, bint decided=True):
        """Mark each row as new if its bit is set, else as seen. Rows that are marked as seen stay so.

        Args:
            batch (IdentifierBatch): The batch; its `new` is set, and its `later` becomes 0.
            decided (bool): False: rows whose bits are set become undecided, not new, for another table.
        """
        batch.use()
        with nogil:
            mark_rows(self, batch, NEW if decided else PENDING)
        uc_give(&batch.busy)

    def marks(self, uint64_t start, size_t count):
        """Return the marks (bytes) that mark() gives undecided rows, from row `start` on.

        >>> rows = FirstRows(bytearray(b"\\5" + bytes(7)))
        >>> rows.marks(1, 3)
        b'\\x01\\x02\\x01'
        """
        cdef bytes found = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>count)
        cdef uint8_t *dst = <uint8_t *>PyBytes_AS_STRING(found)
        cdef size_t i
        with nogil:
            for i in range(count):
                dst[i] = NEW if is_set(self, start + i) else SEEN
        return found

    # --- counts

    def seal(self):
        """Compute ranks when all bits are set. Afterwards counts can be stored and read.
        """
        cdef size_t i, spans = self.size // SPAN + 1
        cdef uint64_t count = 0
        self.unseal()
        self.ranks = <uint64_t *>PyMem_RawMalloc(spans * sizeof(uint64_t))
        if self.ranks == NULL:
            raise MemoryError  # pragma: no cover: no memory
        with nogil:
            for i in range(self.size):
                if i % SPAN == 0:
                    self.ranks[i // SPAN] = count
                count += bits_of(self.words[i])
        self.count = <size_t>count

    def rank(self, uint64_t row):
        """Return how many bits are set before that of a row.

        Args:
            row (int): The number of the row, whose own bit need not be set.

        >>> rows = FirstRows()
        >>> rows.seal()
        >>> rows.rank(1000)
        0
        """
        cdef Cursor cursor
        self.must_be_sealed()
        if not has_capacity(self, row):
            return self.count
        cursor.word, cursor.before = 0, 0
        return rank_of(self, row, &cursor)

    def put_counts(self, pairs, counts, uint64_t first=0):
        """Store counts at the ranks of their rows.

        Args:
            pairs (bytes-like): Pairs of a row number and a count, 64 bits each in the machine's byte order, in any
                order. Counts of rows whose bits are not set are ignored.
            counts (bytes-like): The destination, writable: a window of 8 bytes for each rank from `first` on. Counts
                outside it are ignored.
        """
        cdef Py_buffer source, target
        cdef size_t put
        borrow(pairs, &source, PyBUF_SIMPLE, 16)
        try:
            borrow(counts, &target, PyBUF_WRITABLE, 8)
            try:
                self.must_be_sealed()       # checked after borrowing, because an exporter may run code
                with nogil:
                    put = put_pairs(self, <const uint64_t *>source.buf, <size_t>source.len // 16,
                                    <uint64_t *>target.buf, first, <size_t>target.len // 8)
            finally:
                PyBuffer_Release(&target)
            return put
        finally:
            PyBuffer_Release(&source)

    def remove_rare(self, counts, uint64_t least):
        """Remove the rows with low counts, and these counts. Afterwards the set is no longer sealed.

        Args:
            counts (bytes-like): The counts from put_counts(), writable: those that stay move to the front.
            least (int): The lowest count that stays: 2 selects identifiers with duplicates.
        """
        cdef Py_buffer source
        self.borrow_counts(counts, &source, PyBUF_WRITABLE)
        with nogil:
            remove_rare(self, <uint64_t *>source.buf, least)
            self.unseal()
        PyBuffer_Release(&source)

    def counts_of(self, counts, uint64_t start, uint64_t stop):
        """Return the counts (bytes) of the rows from `start` up to `stop` whose bits are set.

        Args:
            counts (bytes-like): The counts from put_counts().

        >>> rows, counts = FirstRows(), bytearray(8)
        >>> rows.set_pairs(pairs := (3).to_bytes(8, "little") + (7).to_bytes(8, "little"))
        >>> rows.seal()
        >>> rows.put_counts(pairs, counts), rows.counts_of(counts, 0, 3), rows.counts_of(counts, 3, 9)[0]
        (1, b'', 7)
        """
        cdef Py_buffer source
        cdef const char *first
        cdef size_t low, high
        self.borrow_counts(counts, &source)
        # Bits in memory that somebody else can change may have become more than were counted.
        high = min(<size_t>self.rank(stop), self.count)
        low = min(<size_t>self.rank(start), high)
        first = <const char *>source.buf
        found = first[8 * low:8 * high]
        PyBuffer_Release(&source)
        return found

    cdef int must_be_sealed(self) except -1:
        if self.ranks == NULL:
            raise ValueError("bits are not sealed; call seal() first")
        return 0

    cdef int borrow_counts(self, object counts, Py_buffer *buffer, int flags=PyBUF_SIMPLE) except -1:
        borrow(counts, buffer, flags, 8)
        try:
            self.must_be_sealed()       # checked after borrowing, because an exporter may run code
            if <size_t>buffer.len // 8 < self.count:
                raise ValueError(f"expected a buffer for {self.count} counts, got one for {buffer.len // 8}")
        except:
            PyBuffer_Release(buffer)
            raise
        return 0


# --- loops --------------------------------------------------------------------------------------------------------------

cdef inline bint has_capacity(FirstRows self, uint64_t row) noexcept nogil:
    return row >> 6 < self.size


cdef inline bint is_set(FirstRows self, uint64_t row) noexcept nogil:
    return has_capacity(self, row) and self.words[row >> 6] >> (row & 63) & 1


cdef PassStatus enlarge(FirstRows self, uint64_t row) noexcept nogil:
    """Ensure capacity for a row, and some more."""
    cdef uint64_t size = (row >> 6) + 1
    cdef uint64_t *words
    if self.given:
        return NO_ROOM
    size = max(size, self.size + self.size // 2, <size_t>512)
    if size > SIZE_MAX >> 4:
        return NO_MEMORY  # pragma: no cover: too large
    words = <uint64_t *>PyMem_RawRealloc(self.words, <size_t>size * sizeof(uint64_t))
    if words == NULL:
        return NO_MEMORY
    memset(words + self.size, 0, (<size_t>size - self.size) * sizeof(uint64_t))
    self.unseal()
    self.words, self.size = words, <size_t>size
    return DONE


cdef int raise_status(FirstRows self, PassStatus status, uint64_t row) except -1:
    if status == NO_ROOM:
        raise ValueError(f"row {row} is out of range for {64 * self.size} rows")
    if status == NO_MEMORY:
        raise MemoryError
    return 0


cdef PassStatus set_rows(FirstRows self, IdentifierBatch batch, uint64_t *row) noexcept nogil:
    """Set bits; `row` is the first row without capacity. New rows are found without branches."""
    cdef uint32_t found[CHUNK]
    cdef const uint8_t *marks
    cdef uint64_t *word
    cdef uint64_t number
    cdef size_t first = 0, rows, count, i, j
    cdef PassStatus status
    while first < batch.count:
        rows = min(<size_t>CHUNK, batch.count - first)
        marks = batch.marks + first
        count = 0
        for i in range(rows):
            found[count] = <uint32_t>i
            count += marks[i] == NEW
        for j in range(count):
            number = number_of(batch, first + found[j])
            if not has_capacity(self, number):
                status = enlarge(self, number)
                if status != DONE:
                    row[0] = number
                    return status
            word = &self.words[number >> 6]
            self.count += not word[0] >> (number & 63) & 1
            word[0] |= <uint64_t>1 << (number & 63)
        first += rows
    return DONE


cdef PassStatus set_pairs(FirstRows self, const uint64_t *pairs, size_t n, uint64_t least, uint64_t *row) noexcept nogil:
    """Set bits; `row` is the first row without capacity."""
    cdef uint64_t *word
    cdef uint64_t number
    cdef size_t i
    cdef PassStatus status
    for i in range(n):
        number = pairs[2 * i]
        if number < least:
            continue
        if not has_capacity(self, number):
            status = enlarge(self, number)
            if status != DONE:
                row[0] = number
                return status
        word = &self.words[number >> 6]
        self.count += not word[0] >> (number & 63) & 1
        word[0] |= <uint64_t>1 << (number & 63)
    return DONE


cdef void mark_rows(FirstRows self, IdentifierBatch batch, Mark first_mark) noexcept nogil:
    cdef size_t i, new = 0
    cdef bint first
    for i in range(batch.count):
        first = is_set(self, number_of(batch, i)) & (batch.marks[i] != SEEN)
        batch.marks[i] = first_mark if first else SEEN
        new += first
    batch.new, batch.later = new, 0


cdef inline uint64_t rank_of(FirstRows self, uint64_t row, Cursor *cursor) noexcept nogil:
    """Return how many bits are set before that of a row in range. Fast for rows close to the last one."""
    cdef uint64_t at = row >> 6, word = cursor.word, before = cursor.before
    if at != word:
        if word > at or at - word > SPAN:
            word = at // SPAN * SPAN
            before = self.ranks[word // SPAN]
        while word < at:
            before += bits_of(self.words[word])
            word += 1
        cursor.word, cursor.before = word, before
    return before + bits_of(self.words[at] & ((<uint64_t>1 << (row & 63)) - 1))


cdef inline bint find_count(FirstRows self, uint64_t row, Cursor *cursor, uint64_t *rank) noexcept nogil:
    """Find the index of a row's count. False: its bit is not set, or was set after sealing."""
    if not is_set(self, row):
        return False
    rank[0] = rank_of(self, row, cursor)
    return rank[0] < self.count


cdef size_t put_pairs(FirstRows self, const uint64_t *pairs, size_t n, uint64_t *counts, uint64_t first,
                      size_t size) noexcept nogil:
    """Store the counts whose ranks are among the `size` from `first` on. A rank before them becomes a large number."""
    cdef Cursor cursor
    cdef uint64_t rank
    cdef size_t i, put = 0
    for i in range(n):
        cursor.word, cursor.before = SIZE_MAX, 0    # rows are in any order: no dependency between iterations
        if find_count(self, pairs[2 * i], &cursor, &rank) and rank - first < size:
            counts[rank - first] = pairs[2 * i + 1]
            put += 1
    return put


cdef void remove_rare(FirstRows self, uint64_t *counts, uint64_t least) noexcept nogil:
    cdef size_t i, at = 0, kept = 0, count = self.count
    cdef uint64_t word, bit
    for i in range(self.size):
        word = self.words[i]
        while word and at < count:
            bit = word & (0 - word)
            word ^= bit
            if counts[at] < least:
                self.words[i] ^= bit
            else:
                counts[kept] = counts[at]
                kept += 1
            at += 1
    self.count = kept
