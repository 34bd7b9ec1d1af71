# distutils: extra_compile_args=-O2
"""Saved sets of fingerprints: looking them up, and the directory of such a file.

docs/developing/fingerprint.md has the format byte by byte. The fingerprints of a set are sorted. They are spread evenly,
so their highest bits divide them into buckets of about 100, and where a fingerprint is in its bucket can be guessed
to within a few places: looking it up costs a row of the directory and one or two cache lines of the fingerprints.

Each row of the directory also has a checksum of its bucket. It is a sum, so that two buckets can be made one without
reading them again: how many there will be is known only when all fingerprints are written.

A bucket is read from the file when it is needed, and checked. It stays in memory if there is enough for the whole file;
otherwise it is read again for each batch. The file is not mapped to memory: a process dies that reads from a mapped
file which another one has truncated, and it compares whatever is written there meanwhile.
"""
cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from uricodec._base._atomic cimport uc_give, uc_publish8, uc_read8, uc_take
from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyMem_RawCalloc, PyMem_RawFree
from uricodec._base._fingerprint cimport UC_FINGERPRINT, load_word, multiply, store_word
from uricodec._base._kernels cimport prefetch
from uricodec._counting._table cimport *


cdef extern from "simd/file.h" nogil:
    int read_at "uc_read_at"(int number, uint8_t *dst, size_t size, uint64_t place) noexcept


cdef enum:
    ROW = 16                # bytes of a row of the directory: where its bucket starts, and the checksum of that
    MOST_IN_BUCKET = 1024   # 128 on average at most: more occur in damaged files only
    AT_ONCE = 32            # fingerprints that are looked up together
    NEAR = 16               # slots searched one by one
    LINE = 64               # bytes of a cache line

cdef uint64_t NOT_ZERO = <uint64_t>1 << 63      # see _table.pyx
cdef uint64_t FIRST = 0x243F6A8885A308D3        # the first digits of pi
cdef uint64_t SECOND = 0x13198A2E03707344


cdef inline uint64_t check_of(uint64_t low, uint64_t high) noexcept nogil:
    """Return what a fingerprint adds to the checksum of its bucket."""
    cdef uint64_t top
    return multiply(low ^ FIRST, high ^ SECOND, &top) ^ top


cdef inline bint is_below(uint64_t low, uint64_t high, uint64_t other_low, uint64_t other_high) noexcept nogil:
    return low < other_low or low == other_low and high < other_high


cdef inline size_t bucket_of(uint64_t low, int shard_bits, int bits) noexcept nogil:
    return <size_t>(low << shard_bits >> 1 >> (63 - bits))


def bits_for(uint64_t count):
    """Return how many bits divide so many fingerprints into buckets of 64 to 128.

    >>> bits_for(0), bits_for(127), bits_for(128), bits_for(10**8)
    (0, 0, 1, 20)
    """
    cdef int bits = 0
    while count >> bits >= 128:
        bits += 1
    return bits


def first_of(bytes block not None, int bits, uint64_t least):
    """Return where, in a block of sorted fingerprints, the first one is whose highest `bits` bits are at least `least`.

    >>> first_of(bytes(16) + bytes([255] * 16), 1, 1)
    16
    """
    cdef const uint8_t *src = <const uint8_t *>PyBytes_AS_STRING(block)
    cdef size_t low = 0, high = <size_t>len(block) // UC_FINGERPRINT, at
    while low < high:
        at = (low + high) // 2
        if load_word(src + UC_FINGERPRINT * at) >> 1 >> (63 - bits) < least:
            low = at + 1
        else:
            high = at
    return UC_FINGERPRINT * low


# --- the directory ------------------------------------------------------------------------------------------------------

@cython.final
cdef class Directory:
    """The directory of a set that is being written: rows of where a bucket starts, and its checksum.

    Args:
        bits (int): The number of buckets is 2**bits.
        shard_bits (int): So many of the highest bits are the same in all fingerprints of the set,
        shard (int): namely these.

    Attributes:
        count (int): The number of fingerprints added.
    """
    cdef readonly uint64_t count
    cdef int bits
    cdef int shard_bits
    cdef uint64_t shard
    cdef size_t bucket      # the present one
    cdef uint64_t start     # where it starts,
    cdef uint64_t check     # and its checksum so far
    cdef uint64_t low, high  # the last fingerprint

    def __cinit__(self, int bits, int shard_bits=0, uint64_t shard=0):
        self.bits, self.shard_bits, self.shard = bits, shard_bits, shard

    def add(self, bytes block not None):
        """Add fingerprints. Return the rows of the buckets that are complete (bytes).

        Raises:
            ValueError: If fingerprints are not ascending, or not in the shard.
        """
        cdef const uint8_t *src = <const uint8_t *>PyBytes_AS_STRING(block)
        cdef size_t rows = <size_t>len(block) // UC_FINGERPRINT, i, bucket
        cdef uint64_t low, high
        cdef bytearray done = bytearray()
        cdef uint8_t row[ROW]
        for i in range(rows):
            low, high = load_word(src + UC_FINGERPRINT * i), load_word(src + UC_FINGERPRINT * i + 8)
            if self.count and not is_below(self.low, self.high, low, high):
                raise ValueError("fingerprints are not ascending")
            if self.shard_bits and low >> (64 - self.shard_bits) != self.shard:
                raise ValueError("a fingerprint does not belong to the shard")
            bucket = bucket_of(low, self.shard_bits, self.bits)
            while self.bucket < bucket:
                self.put(row)
                done += row[:ROW]
            self.check += check_of(low, high)
            self.low, self.high = low, high
            self.count += 1
        return bytes(done)

    cdef void put(self, uint8_t *row) noexcept:
        """End the present bucket."""
        store_word(self.start, row)
        store_word(self.check, row + 8)
        self.start, self.check = self.count, 0
        self.bucket += 1

    def finish(self):
        """Yield the rows of the remaining buckets (bytes)."""
        cdef uint8_t row[ROW]
        cdef bytearray done
        cdef size_t buckets = <size_t>1 << self.bits
        while self.bucket < buckets:
            done = bytearray()
            while self.bucket < buckets and len(done) < 1 << 16:
                self.put(row)
                done += row[:ROW]
            yield bytes(done)


def fold(bytes rows not None, size_t step):
    """Return rows of a directory of which each `step` ones are made one (bytes).

    >>> fold(bytes(8) + b"\\1" + bytes(7) + b"\\5" + bytes(7) + b"\\2" + bytes(7), 2) == bytes(8) + b"\\3" + bytes(7)
    True
    """
    cdef const uint8_t *src = <const uint8_t *>PyBytes_AS_STRING(rows)
    cdef size_t count = <size_t>len(rows) // ROW // max(step, <size_t>1), i, k
    cdef bytes folded = PyBytes_FromStringAndSize(NULL, ROW * <Py_ssize_t>count)
    cdef uint8_t *dst = <uint8_t *>PyBytes_AS_STRING(folded)
    cdef uint64_t check
    for i in range(count):
        check = 0
        for k in range(step):
            check += load_word(src + ROW * (step * i + k) + 8)
        store_word(load_word(src + ROW * step * i), dst + ROW * i)
        store_word(check, dst + ROW * i + 8)
    return folded


# --- looking up ---------------------------------------------------------------------------------------------------------

cdef enum Found:
    ABSENT, PRESENT, DAMAGED, SHORT, UNREADABLE


cdef struct Probe:
    uint64_t low, high
    size_t bucket
    uint64_t start
    size_t size             # fingerprints in the bucket
    size_t guess


cdef struct Memo:           # the rows of a batch that were looked up, for equal ones after them
    uint32_t *rows          # by fingerprint: the number of a row, from 1
    size_t mask


cdef inline size_t known_row(Memo *memo, IdentifierBatch batch, size_t row, const Probe *probe) noexcept nogil:
    """Return a row that was looked up with the same fingerprint; if none is known, remember this row, and return it."""
    cdef uint32_t *slot = memo.rows + (probe.high & memo.mask)
    cdef size_t equal = slot[0]
    if equal and memcmp(batch.fingerprints + UC_FINGERPRINT * (equal - 1), batch.fingerprints + UC_FINGERPRINT * row,
                        UC_FINGERPRINT) == 0:
        return equal - 1
    slot[0] = <uint32_t>(row + 1)
    return row


@cython.final
cdef class SetFile:
    """The fingerprints of an open set.

    Args:
        directory (bytes): The directory.
        count (int): The number of fingerprints.
        bits (int): The directory has 2**bits rows.
        shard_bits (int), shard (int): See Directory.
        place (int): Where the fingerprints are in the file.
        number (int): The descriptor of the file.
        memory (mmap | None): Memory for all fingerprints, in which those that were read stay; None: they are read again.

    Attributes:
        directory (bytes), count (int): As above.
        buckets (int): The number of buckets.

    Raises:
        ValueError: If the directory is damaged.
    """
    cdef readonly bytes directory
    cdef const uint8_t *rows
    cdef readonly uint64_t count
    cdef readonly size_t buckets
    cdef int bits
    cdef int shard_bits
    cdef uint64_t shard
    cdef uint64_t place
    cdef int number
    cdef object memory
    cdef uint8_t *held      # for each bucket, whether it is in the memory
    cdef char storing       # a thread writes to the memory

    def __cinit__(self, bytes directory not None, uint64_t count, int bits, int shard_bits, uint64_t shard, uint64_t place,
                  int number, memory=None):
        cdef uint64_t start = 0, after
        cdef size_t i
        self.directory, self.rows = directory, <const uint8_t *>PyBytes_AS_STRING(directory)
        self.count, self.bits, self.buckets = count, bits, <size_t>1 << bits
        self.shard_bits, self.shard = shard_bits, shard
        self.place, self.number, self.memory = place, number, memory
        if <size_t>len(directory) != ROW * self.buckets or load_word(self.rows):
            raise ValueError("damaged directory")
        for i in range(self.buckets):
            after = self.start_of(i + 1)
            if after < start or after - start > MOST_IN_BUCKET:
                raise ValueError("damaged directory")
            start = after
        if memory is not None:
            if <uint64_t>len(memory) < UC_FINGERPRINT * count:
                raise ValueError("too little memory")
            self.held = <uint8_t *>PyMem_RawCalloc(self.buckets, 1)
            if self.held == NULL:
                raise MemoryError  # pragma: no cover: no memory

    def __dealloc__(self):
        PyMem_RawFree(self.held)

    cdef inline uint64_t start_of(self, size_t bucket) noexcept nogil:
        return load_word(self.rows + ROW * bucket) if bucket < self.buckets else self.count

    def mark(self, IdentifierBatch batch not None, bint present, Mark mark):
        """Mark the undecided rows of a batch that are in the set, or those that are not.

        Args:
            batch (IdentifierBatch): The batch.
            present (bool): Which rows are marked: those that are in the set, or the others.
            mark (int): The mark that they get, see IdentifierBatch.marks.

        Raises:
            ValueError: If a bucket of the file is damaged.
            OSError: If the file cannot be read.
        """
        cdef Py_buffer view
        cdef uint8_t *memory = NULL
        cdef Memo memo
        cdef Found found
        memo.rows = NULL
        batch.use()
        try:
            if self.memory is not None:
                PyObject_GetBuffer(self.memory, &view, PyBUF_WRITABLE)
                memory = <uint8_t *>view.buf
            else:
                memo.mask = 1
                while memo.mask < batch.count:
                    memo.mask *= 2
                memo.rows = <uint32_t *>PyMem_RawCalloc(memo.mask, sizeof(uint32_t))
                memo.mask -= 1
                if memo.rows == NULL:
                    raise MemoryError  # pragma: no cover: no memory
            with nogil:
                found = self.mark_rows(batch, memory, &memo, present, mark)
            if self.memory is not None:
                PyBuffer_Release(&view)
        finally:
            PyMem_RawFree(memo.rows)
            uc_give(&batch.busy)
        if found == DAMAGED:
            raise ValueError("damaged fingerprints")
        if found == SHORT:
            raise OSError(None, "file was truncated")
        if found == UNREADABLE:
            raise OSError(None, "cannot read the file")

    cdef Found mark_rows(self, IdentifierBatch batch, uint8_t *memory, Memo *memo, bint present,
                         Mark mark) noexcept nogil:
        cdef Probe probes[AT_ONCE]
        cdef uint8_t bucket[UC_FINGERPRINT * MOST_IN_BUCKET]
        cdef size_t row = 0, first, i, rows, equal
        cdef const uint8_t *fingerprint
        cdef const uint8_t *src
        cdef Probe *probe
        cdef Found found
        for first in range((batch.count + AT_ONCE - 1) // AT_ONCE):
            first *= AT_ONCE
            rows = min(<size_t>AT_ONCE, batch.count - first)
            for i in range(rows):
                probe = &probes[i]
                fingerprint = batch.fingerprints + UC_FINGERPRINT * (first + i)
                probe.low, probe.high = load_word(fingerprint), load_word(fingerprint + 8)
                probe.high = probe.high if probe.high else NOT_ZERO
                probe.bucket = bucket_of(probe.low, self.shard_bits, self.bits)
                prefetch(self.rows + ROW * probe.bucket)
            for i in range(rows):
                probe = &probes[i]
                probe.start = self.start_of(probe.bucket)
                probe.size = <size_t>(self.start_of(probe.bucket + 1) - probe.start)
                probe.guess = <size_t>((probe.low << self.shard_bits << self.bits >> 32) * probe.size >> 32)
                if memory != NULL:
                    src = memory + UC_FINGERPRINT * (probe.start + probe.guess)
                    prefetch(src)
                    prefetch(src - LINE)    # the guess is wrong by four places on average
                    prefetch(src + LINE)
                    prefetch(self.held + probe.bucket)
            for i in range(rows):
                probe, row = &probes[i], first + i
                if batch.marks[row] != PENDING:
                    continue
                found = ABSENT
                if probe.size:
                    if memory == NULL:
                        equal = known_row(memo, batch, row, probe)
                        if equal != row:
                            batch.marks[row] = batch.marks[equal]
                            continue
                    src = self.get(probe, memory, bucket, &found)
                    if found == PRESENT:
                        found = search(probe, src)
                if found > PRESENT:
                    return found
                if (found == PRESENT) == present:
                    batch.marks[row] = mark
        return ABSENT

    cdef inline const uint8_t *get(self, const Probe *probe, uint8_t *memory, uint8_t *bucket,
                                   Found *found) noexcept nogil:
        """Return the fingerprints of a bucket: in memory, or read into `bucket`. PRESENT: they are sound."""
        cdef uint64_t start = UC_FINGERPRINT * probe.start
        cdef size_t size = UC_FINGERPRINT * probe.size
        cdef int status
        found[0] = PRESENT
        if memory != NULL and uc_read8(self.held + probe.bucket):
            return memory + start
        status = read_at(self.number, bucket, size, self.place + start)
        if status <= 0:
            found[0] = SHORT if status == 0 else UNREADABLE
        elif not self.is_sound(probe.bucket, bucket, probe.size):
            found[0] = DAMAGED
        # If another thread is storing a bucket, this one is stored when it is read again. Once it is held, others read
        # it, so it is not stored twice.
        elif memory != NULL and uc_take(&self.storing):
            if not uc_read8(self.held + probe.bucket):
                memcpy(memory + start, bucket, size)
                uc_publish8(self.held + probe.bucket, 1)
            uc_give(&self.storing)
        return bucket

    cdef inline bint is_sound(self, size_t bucket, const uint8_t *src, size_t size) noexcept nogil:
        """Return whether fingerprints have the checksum of their bucket, are ascending, and belong to it."""
        cdef uint64_t check = 0, low, high, last_low = 0, last_high = 0
        cdef bint sorted = True
        cdef size_t i
        for i in range(size):
            low, high = load_word(src + UC_FINGERPRINT * i), load_word(src + UC_FINGERPRINT * i + 8)
            check += check_of(low, high)
            sorted &= not i or is_below(last_low, last_high, low, high)
            last_low, last_high = low, high
        return check == load_word(self.rows + ROW * bucket + 8) and sorted and (not size or (
            self.is_in(load_word(src), bucket) and self.is_in(last_low, bucket)))

    cdef inline bint is_in(self, uint64_t low, size_t bucket) noexcept nogil:
        return low >> 1 >> (63 - self.shard_bits) == self.shard and bucket_of(low, self.shard_bits, self.bits) == bucket

    def span(self, size_t bucket, size_t most):
        """Return the fingerprints to read at once from a bucket on: the place in the file, size, and the bucket after.

        Args:
            bucket (int): The first bucket.
            most (int): At most so many bytes, but at least one bucket.
        """
        cdef size_t after = bucket + 1
        cdef uint64_t start = self.start_of(bucket)
        while after < self.buckets and UC_FINGERPRINT * (self.start_of(after + 1) - start) <= most:
            after += 1
        return self.place + UC_FINGERPRINT * start, UC_FINGERPRINT * (self.start_of(after) - start), after

    def check(self, bytes octets not None, size_t bucket, size_t after):
        """Check the fingerprints from a bucket up to another one.

        Raises:
            ValueError: If they are damaged.
        """
        cdef const uint8_t *src = <const uint8_t *>PyBytes_AS_STRING(octets)
        cdef size_t size
        cdef bint sound = <uint64_t>len(octets) == UC_FINGERPRINT * (self.start_of(after) - self.start_of(bucket))
        with nogil:
            while sound and bucket < after:
                size = <size_t>(self.start_of(bucket + 1) - self.start_of(bucket))
                sound = self.is_sound(bucket, src, size)
                src += UC_FINGERPRINT * size
                bucket += 1
        if not sound:
            raise ValueError("damaged fingerprints")


cdef inline Found search(const Probe *probe, const uint8_t *src) noexcept nogil:
    """Look for a fingerprint in its bucket, from where it is likely to be."""
    cdef size_t low = 0, high = probe.size, at = probe.guess, tries = 0
    cdef uint64_t word
    # src[0 .. low) is below the fingerprint, src[high .. size) is not.
    while low < high:
        word = load_word(src + UC_FINGERPRINT * at)
        if is_below(word, load_word(src + UC_FINGERPRINT * at + 8), probe.low, probe.high):
            low = at + 1
            at = low
        else:
            high = at
            at = high - 1
        tries += 1
        if tries > NEAR:    # a bucket that is not spread evenly
            at = (low + high) // 2
        # at is wrong only when low == high, which ends the loop
    if low == probe.size or load_word(src + UC_FINGERPRINT * low) != probe.low:
        return ABSENT
    return PRESENT if load_word(src + UC_FINGERPRINT * low + 8) == probe.high else ABSENT
