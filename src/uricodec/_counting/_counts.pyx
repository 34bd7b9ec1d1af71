# distutils: extra_compile_args=-O2
"""Counts of keys: batches of lines as keys, and the identifiers of a counting table in the order of their counts.

**Keys** are lines as they are: the normal forms of a KeyBatch are the lines of the caller's buffer. No operation runs and
nothing is copied: a pass over the buffer finds the lines and computes their fingerprints. A key is any bytes without the
terminator; a "\\r" before "\\n" belongs to the key. Numbers that belong to the keys come as arrays beside the lines, one for
each column, and are copied so that those of a key are neighbours.

**Order.** The most frequent identifier is first, and of equally frequent ones the one that occurred first. No two have the same
first row, so the order is total: it depends on the rows and nothing else.

**A few.** most_frequent() looks at each slot once, and has a heap of the best so far, whose root is the worst of them. The
table does not change.

**All.** sort_slots() moves the identifiers to the front of the slots and sorts them there, so that no memory is needed
beside the table. Afterwards the slots are no longer those that fingerprints select, so no rows can be added. Slots are
distributed by 8 bits of the count, then by the next ones, and at last by those of the row (radix sort): the time is
linear, whatever the counts are, and no branch depends on them until a few are left.

**Records.** Sorted identifiers leave a table as records of a run (_runs), in blocks:

    8 bytes: size of the rest | 8: 2^64 - 1 - count | 8: first row | numbers | the key

The count and the row are big-endian, so that records are in the order of their bytes. Numbers are 16 bytes for each sum,
the low word first, and 40 for each sketch: its quantiles 0.5, 0.9, 0.95 and 0.99 and its greatest number, or NaN if it is empty;
and 8 for each set of hashes, their number.
"""
cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport NAN
from libc.stdint cimport SIZE_MAX, UINT64_MAX, uint8_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._atomic cimport uc_give
from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyMem_RawFree, PyMem_RawMalloc
from uricodec._base._fingerprint cimport UC_FINGERPRINT, FingerprintKey, fingerprints, load_word, store_word
from uricodec._base._kernels cimport prefetch
from uricodec._base._text cimport write_decimal
from uricodec._counting._runs cimport *
from uricodec._counting._table cimport *
from uricodec._rows._arrow cimport Buffer, discard, grow


cdef enum:
    ROWS = 8192         # most keys of a batch: their arrays stay in the second-level cache


# no_gc: the garbage collector would clear the owner's reference before __dealloc__ releases the buffer.
@cython.no_gc
@cython.final
cdef class KeyBatch(IdentifierBatch):
    """A batch of keys, which are lines.

    Args:
        key (FingerprintKey): The key of the fingerprints.
        terminator (bytes): The byte that ends a key. The last key may lack it.
        sums (int): How many columns of integers belong to the keys.
        quantiles (int): How many columns of floating-point numbers, which follow these.
        distincts (int): How many columns of hashes, which follow these; see hashes_of().

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> keys = KeyBatch(FingerprintKey())
    >>> keys.read(b"a\\nb\\n\\na"), len(keys)
    (6, 4)
    >>> prints = keys.fingerprints
    >>> prints[:16] == prints[48:], prints[:16] == prints[16:32]
    (True, False)
    """
    cdef FingerprintKey key
    cdef uint8_t terminator
    cdef Py_buffer lines
    cdef bint held
    cdef Buffer starts      # size_t
    cdef Buffer ends
    cdef Buffer prints
    cdef Buffer all_marks
    cdef Buffer all_values
    cdef size_t sums, quantiles

    def __cinit__(self, FingerprintKey key not None, bytes terminator not None=b"\n", size_t sums=0, size_t quantiles=0,
                  size_t distincts=0):
        if len(terminator) != 1:
            raise ValueError(f"terminator must be one byte, got {terminator!r}")
        self.sums, self.quantiles, self.columns = sums, quantiles, sums + quantiles + distincts
        memset(&self.all_values, 0, sizeof(Buffer))
        self.key, self.terminator = key, <uint8_t>terminator[0]
        memset(&self.starts, 0, sizeof(Buffer))
        memset(&self.ends, 0, sizeof(Buffer))
        memset(&self.prints, 0, sizeof(Buffer))
        memset(&self.all_marks, 0, sizeof(Buffer))

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.lines)
        discard(&self.starts)
        discard(&self.ends)
        discard(&self.prints)
        discard(&self.all_marks)
        discard(&self.all_values)

    def release(self):
        """Release the lines. The batch is then empty."""
        self.use()
        self.empty()
        uc_give(&self.busy)

    cdef int empty(self) except -1:
        self.count = self.new = self.later = 0
        self.forms, self.form_starts, self.form_ends = NULL, NULL, NULL
        self.fingerprints, self.marks, self.values = NULL, NULL, NULL
        if self.held:
            self.held = False
            PyBuffer_Release(&self.lines)

    def read(self, lines not None, size_t start=0, size_t most=ROWS, values=(), size_t row=0):
        r"""Read keys from an offset on.

        Args:
            lines (bytes-like): The lines. They are referenced, and must not change, until the next call or release().
            start (int): The offset of the first key.
            most (int): The most keys to read.
            values (Sequence[Buffer]): An array for each column, of 64-bit integers (format "q"), numbers ("d") or hashes
                ("Q"). The least integer, NaN, or the hash 0 stands for a missing one.
            row (int): The item of each array that belongs to the first key.

        Returns:
            int: The offset of the key after the last one that was read; the size of `lines` if all were read.

        >>> from array import array
        >>> from uricodec._base._fingerprint import FingerprintKey
        >>> keys = KeyBatch(FingerprintKey(), sums=1, quantiles=1)
        >>> keys.read(b"a\nb\n", values=[array("q", [5, -1]), array("d", [0.25, 1.5])])
        4
        """
        cdef size_t end = 0
        cdef bint done = True
        self.use()
        try:
            self.empty()
            PyObject_GetBuffer(lines, &self.lines, PyBUF_SIMPLE)
            self.held = True
            if start > <size_t>self.lines.len:
                raise IndexError(f"expected an offset up to {self.lines.len}, got {start}")
            with nogil:
                done = find_keys(self, start, most, &end)
            if not done:
                raise MemoryError  # pragma: no cover: no memory
            if <size_t>len(values) != self.columns:
                raise ValueError(f"expected {self.columns} columns of numbers, got {len(values)}")
            for column in range(self.columns):
                self.add_column(column, values[column], row)
            self.values = self.all_values.data
            return end
        except:
            self.empty()
            raise
        finally:
            uc_give(&self.busy)

    cdef int add_column(self, size_t column, object numbers, size_t row) except -1:
        cdef Py_buffer buffer
        cdef size_t i, n = self.count, columns = self.columns
        cdef uint8_t form = c'q' if column < self.sums else c'd' if column < self.sums + self.quantiles else c'Q'
        cdef const uint64_t *src
        cdef uint64_t *dst
        PyObject_GetBuffer(numbers, &buffer, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
        try:
            if buffer.itemsize != 8 or buffer.format == NULL or not has_format(buffer.format, form):
                raise TypeError(f"expected numbers in format {chr(form)!r} as column {column}")
            if row > <size_t>buffer.len // 8 or n > <size_t>buffer.len // 8 - row:
                raise ValueError(f"expected a number for each key, got {buffer.len // 8} as column {column}")
            self.all_values.size = 0
            if not grow(&self.all_values, 8 * n * columns):
                raise MemoryError  # pragma: no cover: no memory
            src, dst = <const uint64_t *>buffer.buf + row, <uint64_t *>self.all_values.data + column
            for i in range(n):
                dst[i * columns] = src[i]
        finally:
            PyBuffer_Release(&buffer)
        return 0


cdef inline bint has_format(const char *found, uint8_t form) noexcept nogil:
    """Return whether a format is "q", "d" or "Q"; where a long has 64 bits, it may be "l" or "L"."""
    cdef uint8_t first = <uint8_t>found[0]
    return found[1] == 0 and (first == form or first == c'l' and form == c'q' or first == c'L' and form == c'Q')


def hashes_of(FingerprintKey key not None, lines not None, bytes missing not None):
    r"""Return a hash of each line, for a column of distinct values: 8 bytes each, in the byte order of the machine.

    Args:
        key (FingerprintKey): The key of the hashes.
        lines (bytes-like): The lines, each with its terminator, "\n".
        missing (bytes): A line whose hash is 0, without the terminator.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> hashes = hashes_of(FingerprintKey(), b"a\n\na\n", b"")
    >>> hashes[:8] == hashes[16:], hashes[8:16]
    (True, b'\x00\x00\x00\x00\x00\x00\x00\x00')
    """
    cdef KeyBatch batch = KeyBatch(key)
    cdef list made = []
    cdef size_t at = 0, size = <size_t>len(lines), i
    cdef bytes part
    cdef uint64_t *dst
    cdef uint64_t hash
    cdef const uint8_t *form
    while at < size:
        at = batch.read(lines, at)
        part = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(8 * batch.count))
        dst = <uint64_t *>PyBytes_AS_STRING(part)
        for i in range(batch.count):
            form, hash = batch.forms + batch.form_starts[i], load_word(batch.fingerprints + 16 * i + 8)
            if batch.form_ends[i] - batch.form_starts[i] == <size_t>len(missing) and (
                    memcmp(form, <const uint8_t *>PyBytes_AS_STRING(missing), <size_t>len(missing)) == 0):
                hash = 0
            else:
                hash = hash if hash else 1
            memcpy(dst + i, &hash, 8)
        made.append(part)
        batch.release()
    return b"".join(made)


cdef bint has_capacity(KeyBatch self, size_t rows) noexcept nogil:
    """Ensure capacity for more rows than the batch has. False: out of memory."""
    self.starts.size = self.ends.size = self.count * sizeof(size_t)
    self.prints.size, self.all_marks.size = self.count * UC_FINGERPRINT, self.count
    return (grow(&self.starts, rows * sizeof(size_t)) and grow(&self.ends, rows * sizeof(size_t)) and
            grow(&self.prints, rows * UC_FINGERPRINT) and grow(&self.all_marks, rows))


cdef bint find_keys(KeyBatch self, size_t at, size_t most, size_t *end) noexcept nogil:
    """Find keys from `at` on, at most so many, and set *end to where the next one begins. False: out of memory."""
    cdef const uint8_t *src = <const uint8_t *>self.lines.buf
    cdef const uint8_t *found
    cdef size_t n = <size_t>self.lines.len, stop, rows
    cdef size_t *starts
    cdef size_t *ends
    while at < n and self.count < most:
        rows = min(<size_t>ROWS, most - self.count)
        if not has_capacity(self, rows):
            return False  # pragma: no cover: no memory
        stop = self.count + rows
        starts, ends = <size_t *>self.starts.data, <size_t *>self.ends.data
        while at < n and self.count < stop:
            found = <const uint8_t *>memchr(src + at, self.terminator, n - at)
            starts[self.count] = at
            ends[self.count] = n if found == NULL else <size_t>(found - src)
            at = n if found == NULL else <size_t>(found - src) + 1
            self.count += 1
    end[0] = at
    if self.count:
        fingerprints(&self.key.key, src, <const size_t *>self.starts.data, <const size_t *>self.ends.data, self.count,
                     self.prints.data)
        memset(self.all_marks.data, PENDING, self.count)
    self.forms, self.fingerprints, self.marks = src, self.prints.data, self.all_marks.data
    self.form_starts, self.form_ends = <const size_t *>self.starts.data, <const size_t *>self.ends.data
    return True


cdef enum:
    HEAD = 24           # bytes of a record before its numbers
    FEW = 32            # slots that are sorted by insertion

cdef enum:
    QUANTILES = 4
cdef double[4] SHARES   # QUANTILES
SHARES[0], SHARES[1], SHARES[2], SHARES[3] = 0.5, 0.9, 0.95, 0.99


cdef inline bint before(uint64_t count, uint64_t first, uint64_t other_count, uint64_t other_first) noexcept nogil:
    """Return whether an identifier comes before another one."""
    return count > other_count or count == other_count and first < other_first


cdef inline const uint8_t *key_at(Table table, const uint64_t *slot, size_t *size) noexcept nogil:
    """Return the normal form of the identifier in a slot; empty if the table is not exact."""
    cdef const uint8_t *form
    cdef uint64_t long_size
    size[0] = 0
    if not table.exact:
        return NULL
    form = table.arena.start + slot[1] - 1
    size[0] = form[0]
    form += 1
    if size[0] == 255:
        memcpy(&long_size, form, 8)
        size[0] = <size_t>long_size
        form += 8
    return form


cdef inline size_t numbers_size(Table table) noexcept nogil:
    return 16 * table.sums + sizeof(double) * (QUANTILES + 1) * table.quantiles + 8 * table.distincts


cdef void copy_numbers(Table table, const uint64_t *slot, uint8_t *dst) noexcept nogil:
    cdef double quantiles[5]    # QUANTILES + 1
    cdef const Sketch *sketch
    cdef uint64_t count
    cdef size_t i, k
    slot += COUNTING
    if table.sums:
        memcpy(dst, slot, 16 * table.sums)
    dst += 16 * table.sums
    slot += 2 * table.sums
    for i in range(table.quantiles):
        sketch = (<const Sketch **>(slot + i))[0]
        for k in range(QUANTILES):
            quantiles[k] = NAN if sketch == NULL else quantile_of(sketch, SHARES[k])
        quantiles[<int>QUANTILES] = NAN if sketch == NULL else sketch.greatest
        memcpy(dst, quantiles, sizeof(quantiles))
        dst += sizeof(quantiles)
    slot += table.quantiles
    for i in range(table.distincts):
        count = distinct_of((<const HashSet **>(slot + i))[0])
        memcpy(dst, &count, 8)
        dst += 8


# --- the most frequent: a few -----------------------------------------------------------------------------------------

cdef struct Best:
    uint64_t count
    uint64_t first
    const uint64_t *slot


cdef void sift(Best *heap, size_t at, size_t n) noexcept nogil:
    """Move the identifier `at` down until it is not before those below it."""
    cdef Best held = heap[at]
    cdef size_t child = 2 * at + 1
    while child < n:
        if child + 1 < n and before(heap[child].count, heap[child].first, heap[child + 1].count, heap[child + 1].first):
            child += 1
        if not before(held.count, held.first, heap[child].count, heap[child].first):
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = held


cdef size_t select(Table table, Best *heap, size_t most, uint64_t least, Best bound) noexcept nogil:
    """Put the best identifiers before `bound` into `heap`, the best one first. Return their number."""
    cdef const uint64_t *slot = table.slots.start
    cdef size_t n = 0, i, stride = table.stride
    cdef Best held
    while slot < table.slots.last:
        # Most slots fail here: they are compared with the worst identifier that is good enough.
        if slot[1] and before(slot[2], slot[3], bound.count, bound.first) and slot[3] >= least:
            held.count, held.first, held.slot = slot[2], slot[3], slot
            if n < most:
                i = n
                n += 1
                while i and before(heap[(i - 1) // 2].count, heap[(i - 1) // 2].first, held.count, held.first):
                    heap[i] = heap[(i - 1) // 2]
                    i = (i - 1) // 2
                heap[i] = held
            else:
                heap[0] = held
                sift(heap, 0, n)
            if n == most:
                bound = heap[0]
        slot += stride
    i = n
    while i > 1:
        i -= 1
        held, heap[i] = heap[i], heap[0]
        heap[0] = held
        sift(heap, 0, i)
    return n


def most_frequent(Table table not None, size_t most, uint64_t least=0, bound=None):
    """Return the most frequent identifiers of a table, which does not change.

    Args:
        table (Table): A table that counts.
        most (int): How many to return; 24 bytes of memory are needed for each.
        least (int): Only identifiers whose first row has at least this number.
        bound (tuple[int, int] | None): Only identifiers that come before one with this count and first row.

    Returns:
        list[tuple[int, int, bytes]]: Count, first row, and numbers and key of each, the most frequent first. Keys of
            tables that are not exact are empty.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> from uricodec._counting._counts import KeyBatch
    >>> from uricodec._counting._table import Table
    >>> table, keys = Table(1 << 20, counting=True, exact=True), KeyBatch(FingerprintKey())
    >>> _ = keys.read(b"c\\na\\nb\\na\\nb\\n")
    >>> table.add(keys)
    >>> most_frequent(table, 2)
    [(2, 1, b'a'), (2, 2, b'b')]
    """
    cdef Best *heap
    cdef Best last
    cdef size_t n, i
    cdef list found = []
    must_count(table)
    last.count, last.first = (0, UINT64_MAX) if bound is None else bound
    table.use()
    try:
        most = min(most, table.slots.count)
        heap = <Best *>PyMem_RawMalloc(most * sizeof(Best) + 1)
        if heap == NULL:
            raise MemoryError  # pragma: no cover: no memory
        try:
            with nogil:
                n = select(table, heap, most, least, last) if most else 0
            for i in range(n):
                found.append((heap[i].count, heap[i].first, key_of(table, heap[i].slot)))
        finally:
            PyMem_RawFree(heap)
    finally:
        uc_give(&table.busy)
    return found


def entries(Table table not None, size_t start, size_t most):
    """Return identifiers of a table, which does not change, in no order.

    Args:
        table (Table): A table that counts.
        start (int): Where to begin: 0, or what the call before returned.
        most (int): How many to return at most; at least 1.

    Returns:
        tuple[list[tuple[int, int, bytes]], int | None]: Count, first row, and numbers and key of each; and where the
            next ones begin, None if there are no more.
    """
    cdef const uint64_t *slot
    cdef list found = []
    must_count(table)
    table.use()
    try:
        slot = table.slots.start
        if start > <size_t>(table.slots.last - slot) // table.stride:
            raise IndexError(f"expected a slot of the table, got {start}")
        slot += start * table.stride
        while slot < table.slots.last and <size_t>len(found) < most:
            if slot[1]:
                found.append((slot[2], slot[3], key_of(table, slot)))
            slot += table.stride
        return found, None if slot >= table.slots.last else <size_t>(slot - table.slots.start) // table.stride
    finally:
        uc_give(&table.busy)


cdef bytes key_of(Table table, const uint64_t *slot):
    cdef size_t size, start = numbers_size(table)
    cdef const uint8_t *key = key_at(table, slot, &size)
    cdef bytes result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(start + size))
    cdef uint8_t *dst = <uint8_t *>PyBytes_AS_STRING(result)
    copy_numbers(table, slot, dst)
    if size:
        memcpy(dst + start, key, size)
    return result


cdef int must_count(Table table) except -1:
    if not table.counting:
        raise ValueError("the table has no counts; make it with counting=True")
    return 0


# --- the most frequent: all -------------------------------------------------------------------------------------------

cdef inline void copy_slot(uint64_t *to, const uint64_t *slot, size_t stride) noexcept nogil:
    cdef size_t i
    for i in range(stride):
        to[i] = slot[i]


cdef inline void swap(uint64_t *slot, uint64_t *other, size_t stride) noexcept nogil:
    cdef uint64_t held[LONGEST_SLOT]
    copy_slot(held, slot, stride)
    copy_slot(slot, other, stride)
    copy_slot(other, held, stride)


cdef inline bint in_order(const uint64_t *slot, const uint64_t *other) noexcept nogil:
    return before(slot[2], slot[3], other[2], other[3])


cdef size_t gather(Table table, uint64_t least, uint64_t *counts, uint64_t *rows) noexcept nogil:
    """Move the identifiers to the first slots, which are those before them, and empty the others. Return their number.

    Set *counts and *rows to the bits in which some counts, and some rows, differ from the first ones.
    """
    cdef uint64_t *slot = table.slots.start
    cdef uint64_t *to = slot
    cdef size_t stride = table.stride
    while slot < table.slots.last:
        if slot[1] and slot[3] >= least:
            if to != slot:
                copy_slot(to, slot, stride)
            counts[0] |= slot[2] ^ table.slots.start[2]
            rows[0] |= slot[3] ^ table.slots.start[3]
            to += stride
        elif slot[1]:
            free_sketches(table, slot)
        slot += stride
    slot = to
    while slot < table.slots.last:
        slot[1] = 0
        slot += stride
    return <size_t>(to - table.slots.start) // stride


cdef inline size_t digit_of(const uint64_t *slot, size_t word, size_t shift) noexcept nogil:
    """Return 8 bits of a word, such that the identifier with the lesser ones comes first."""
    return ((slot[3] if word == 3 else ~slot[2]) >> shift) & 255


cdef inline void distribute(uint64_t *start, size_t n, size_t stride, size_t word, size_t shift, uint64_t **ends) noexcept nogil:
    """Sort slots by 8 bits of a word, and set ends[d] to where those with the bits d end."""
    cdef uint64_t *next[256]        # where the next slot of each digit is stored
    cdef size_t counts[256]
    cdef uint64_t held[LONGEST_SLOT]
    cdef uint64_t *slot
    cdef size_t i, digit
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        counts[digit_of(start + i * stride, word, shift)] += 1
    slot = start
    for i in range(256):
        next[i] = slot
        slot += counts[i] * stride
        ends[i] = slot
    for i in range(256):
        slot = next[i]
        while slot < ends[i]:
            digit = digit_of(slot, word, shift)
            if digit != i:
                copy_slot(held, slot, stride)
                while digit != i:
                    # There are more streams than the processor recognizes.
                    prefetch(next[digit] + 8 * stride)
                    swap(held, next[digit], stride)
                    next[digit] += stride
                    digit = digit_of(held, word, shift)
                copy_slot(slot, held, stride)
            slot += stride


cdef inline size_t highest_digit(uint64_t word) noexcept nogil:
    """Return by how much a word is shifted so that its highest 8 bits remain."""
    cdef size_t shift = 0
    while word >> shift > 255:
        shift += 1
    return shift


cdef void sort(uint64_t *start, size_t n, size_t stride, size_t word, size_t shift, size_t row_shift) noexcept nogil:
    """Sort slots that are equal in higher bits by 8 bits of a word, then by the bits after these, and by their rows."""
    cdef uint64_t *ends[256]
    cdef uint64_t held[LONGEST_SLOT]
    cdef uint64_t *slot
    cdef size_t i
    if n > FEW:
        if stride == COUNTING:
            distribute(start, n, COUNTING, word, shift, ends)
        else:
            distribute(start, n, stride, word, shift, ends)
        if shift:
            shift -= min(shift, <size_t>8)
        elif word == 2:
            word, shift = 3, row_shift
        else:
            return
        for i in range(256):
            if ends[i] > start + stride:
                sort(start, <size_t>(ends[i] - start) // stride, stride, word, shift, row_shift)
            start = ends[i]
        return
    for i in range(1, n):
        slot = start + i * stride
        copy_slot(held, slot, stride)
        while slot > start and in_order(held, slot - stride):
            copy_slot(slot, slot - stride, stride)
            slot -= stride
        copy_slot(slot, held, stride)


def sort_slots(Table table not None, uint64_t least=0):
    """Sort the identifiers of a table, the most frequent first. Then no rows can be added until clear().

    Args:
        table (Table): A table that counts.
        least (int): Only identifiers whose first row has at least this number; the others are removed.

    Returns:
        int: The number of identifiers.
    """
    cdef size_t count
    cdef uint64_t counts = 0, rows = 0
    must_count(table)
    table.use()
    with nogil:
        table.ranked = table.full = True
        count = gather(table, least, &counts, &rows)
        if counts:
            sort(table.slots.start, count, table.stride, 2, highest_digit(counts), highest_digit(rows))
        else:
            sort(table.slots.start, count, table.stride, 3, highest_digit(rows), 0)
    uc_give(&table.busy)
    return count


cdef int must_be_ranked(Table table, size_t stop) except -1:
    if not table.ranked:
        raise ValueError("the slots are not sorted; call sort_slots() first")
    if stop > table.slots.homes:
        raise IndexError(f"expected an identifier up to {table.slots.homes}, got {stop}")
    return 0


cdef size_t block_end(Table table, size_t start, size_t stop, size_t size, size_t *total) noexcept nogil:
    """Return the identifier after the last one whose record fits in a block, and set *total to the size of the records."""
    cdef const uint64_t *slot = table.slots.start + start * table.stride
    cdef size_t n, numbers = numbers_size(table)
    while start < stop:
        key_at(table, slot, &n)
        n += HEAD + numbers
        if total[0] and total[0] + n > size:
            break
        total[0] += n
        start += 1
        slot += table.stride
    return start


def records(Table table not None, size_t start, size_t stop, size_t size):
    """Return records of a table that sort_slots() has sorted.

    Args:
        table (Table): The table.
        start (int): The first identifier, in order.
        stop (int): The identifier after the last one.
        size (int): The size of a block in bytes; at least one record is returned, even if it is longer.

    Returns:
        tuple[bytes, int]: The records, and the number of the identifier after the last one.
    """
    cdef size_t end, total = 0, n = 0, stride = table.stride, numbers = numbers_size(table)
    cdef const uint64_t *slot
    cdef const uint8_t *key
    cdef uint8_t *dst
    cdef bytes block
    table.use()
    try:
        must_be_ranked(table, stop)
        end = block_end(table, start, stop, size, &total)
        block = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>total)
        dst = <uint8_t *>PyBytes_AS_STRING(block)
        slot = table.slots.start + start * stride
        while start < end:
            key = key_at(table, slot, &n)
            store_word(KEY + numbers + n, dst)
            store_big_word(UINT64_MAX - slot[2], dst + 8)
            store_big_word(slot[3], dst + 16)
            copy_numbers(table, slot, dst + HEAD)
            dst += HEAD + numbers
            if n:
                memcpy(dst, key, n)
            dst += n
            slot += stride
            start += 1
        return block, end
    finally:
        uc_give(&table.busy)


def unpack_ranked(bytes block not None, size_t most=SIZE_MAX):
    """Return the first records of a block of records() as count, first row, and numbers and key of each.

    Args:
        block (bytes): The block.
        most (int): How many records at most.

    Returns:
        tuple[list[tuple[int, int, bytes]], int]: As from most_frequent(); and how many they are.

    Raises:
        ValueError: If the block does not end with a record.
    """
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(block)
    cdef const uint8_t *end = at + len(block)
    cdef size_t size = 0
    cdef list found = []
    while at < end and <size_t>len(found) < most:
        at = must_be_record(record_at(at, end, &size))
        found.append((UINT64_MAX - load_big_word(at), load_big_word(at + 8),
                      PyBytes_FromStringAndSize(<const char *>at + KEY, <Py_ssize_t>(size - KEY))))
        at += size
    return found, len(found)


cdef inline uint8_t *write_count(uint8_t *dst, uint64_t count, const uint8_t *key, size_t n, uint8_t terminator) noexcept nogil:
    """Write COUNT TAB KEY and the terminator. Return their end."""
    dst += write_decimal(count, dst)
    dst[0] = c"\t"
    if n:       # the key of a table that is not exact is NULL
        memcpy(dst + 1, key, n)
    dst[1 + n] = terminator
    return dst + n + 2


def lines_of_slots(Table table not None, size_t start, size_t stop, size_t size, uint8_t terminator=c"\n"):
    """Return lines of a table that sort_slots() has sorted: COUNT TAB KEY. The table has no sums or quantiles.

    Args:
        table (Table): The table.
        start (int): The first identifier, in order.
        stop (int): The identifier after the last one.
        size (int): The size of a block in bytes; at least one line is returned, even if it is longer.
        terminator (int): The byte that ends a line.

    Returns:
        tuple[bytes, int]: The lines, and the number of the identifier after the last one.
    """
    cdef size_t end, total = 0, n = 0, stride = table.stride
    cdef const uint64_t *slot
    cdef const uint8_t *key
    cdef uint8_t *dst
    cdef bytes lines
    table.use()
    try:
        must_be_ranked(table, stop)
        end = block_end(table, start, stop, size, &total)
        lines = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>total)      # HEAD is more than digits, tab and terminator
        dst = <uint8_t *>PyBytes_AS_STRING(lines)
        with nogil:
            slot = table.slots.start + start * stride
            while start < end:
                key = key_at(table, slot, &n)
                dst = write_count(dst, slot[2], key, n, terminator)
                slot += stride
                start += 1
        return lines[:dst - <uint8_t *>PyBytes_AS_STRING(lines)], end
    finally:
        uc_give(&table.busy)


def lines_of_counts(bytes block not None, size_t most=SIZE_MAX, uint8_t terminator=c"\n"):
    r"""Return the first records of a block of records() as lines: COUNT TAB KEY, where a key has no numbers.

    Args:
        block (bytes), most (int): As for unpack_ranked().
        terminator (int): The byte that ends a line.

    Returns:
        tuple[bytes, int]: The lines; and how many they are.

    Raises:
        ValueError: If the block does not end with a record.

    >>> lines_of_counts(bytes([17, *[0] * 7, *[255] * 7, 248, *[0] * 8]) + b"a", 1)
    (b'7\ta\n', 1)
    """
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(block)
    cdef const uint8_t *end = at + len(block)
    cdef bytes lines = PyBytes_FromStringAndSize(NULL, len(block))      # HEAD is more than digits, tab and terminator
    cdef uint8_t *start = <uint8_t *>PyBytes_AS_STRING(lines)
    cdef uint8_t *dst = start
    cdef size_t size = 0, done = 0
    while at < end and done < most:
        at = must_be_record(record_at(at, end, &size))
        dst = write_count(dst, UINT64_MAX - load_big_word(at), at + KEY, size - KEY, terminator)
        at += size
        done += 1
    return lines[:dst - start], done


cdef const uint8_t *must_be_record(const uint8_t *at) except NULL:
    if at == NULL:
        raise ValueError("damaged block: a record is incomplete")
    return at
