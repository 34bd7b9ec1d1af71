"""A hash table of texts, for sets that are used where they lie, in memory or in a mapped file.

    slots | text                  the data of a saved set: docs/developing/fingerprint.md

The text is the entries in their normal forms, each after its size. A slot is empty or has an entry: where it is in the
text, and some bits of its hash. So a set is exact, and costs about 30 bytes for each host.

A text is hashed from one piece to the next, a host label by label, so that what it begins or ends with needs no other pass.
A piece is read as words of 7 bytes, and the first of each piece has a mark. The hash is the polynomial, in a secret random
number modulo 2^61 - 1, whose coefficients are these words. Different texts have different words, so two of n words have
the same hash for at most n of all 2^61 keys: entries that collide cannot be chosen. Linear probing then needs hashes
that are spread well, so the bits are mixed.

**Files.** A block of data is read, unless the file is mapped, and checked when it is used for the first time. Offsets in it are not
trusted anyway.
"""
cimport cython
from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove, memset

from uricodec._base._atomic cimport uc_give, uc_publish8, uc_read8, uc_take
from uricodec._base._fingerprint cimport UC_FINGERPRINT, FingerprintKey, fingerprint, load_word, store_word
from uricodec._base._kernels cimport prefetch, reraise
from uricodec._base._text cimport *
from uricodec._rows._arrow cimport discard, grow

from uricodec.errors import SetError

cdef extern from "simd/file.h" nogil:
    int read_at "uc_read_at"(int number, uint8_t *dst, size_t size, uint64_t place) noexcept

cdef extern from "Python.h":
    void *PyErr_Format(object type, const char *format, ...) noexcept


cdef enum:
    LEAST_BITS = 4              # of the number of slots
    MOST_BITS = 40
    PATIENCE = 1 << 20          # tries to wait for a thread that copies a block: in a forked process there is none
    LEAST_OF_TEXT = 1 << 22     # bytes of entries that are not looked through
    MORE = 4

KINDS = ("hosts", "prefixes")


# --- looking up -------------------------------------------------------------------------------------------------------

cdef bint check_block(const Table *table, uint64_t block) noexcept nogil:
    """Return whether a block of the file is as it was written. It is read, unless the file is mapped."""
    cdef uint8_t buffer[CHECKED]
    cdef uint8_t found[UC_FINGERPRINT]
    cdef uint64_t place = block * CHECKED, rest = (<uint64_t>SLOT << table.bits) + table.text_size - place
    cdef size_t size = <size_t>min(rest, <uint64_t>CHECKED), tries = 0
    cdef const uint8_t *src = table.slots + place
    if table.number >= 0:
        if read_at(table.number, buffer, size, table.place + place) != 1:
            return False
        src = buffer
    fingerprint(table.key, src, size, found)
    if memcmp(found, table.directory + UC_FINGERPRINT * block, UC_FINGERPRINT) != 0:
        return False
    if table.number >= 0:
        while tries < PATIENCE and not uc_take(table.storing):
            tries += 1
        if not uc_read8(table.sound + block):   # other threads read a block that is there: it is not written twice
            memcpy(<uint8_t *>table.slots + place, buffer, size)
            uc_publish8(table.sound + block, 1)
        uc_give(table.storing)
    else:
        uc_publish8(table.sound + block, 1)
    return True


cdef Found find(const Table *table, uint64_t hash, const uint8_t *text, size_t n, Entry *entry) noexcept nogil:
    cdef uint64_t left = <uint64_t>1 << (table.bits - LINE_BITS), slot
    cdef const uint8_t *line = line_of(table, hash)
    cdef int i
    cdef Found found
    while left:
        if not is_sound(table, line, LINE):
            return DAMAGED
        for i in range(SLOTS):
            slot = load_word(line + SLOT * i)
            if slot == 0:
                return ABSENT
            if slot >> 40 == (hash & TAG):
                found = compare(table, slot & PLACE, text, n, entry)
                if found != ABSENT:
                    return found
        line += LINE
        if line == table.slots + (<uint64_t>SLOT << table.bits):
            line = table.slots
        left -= 1
    return ABSENT  # pragma: no cover: not in files that are written here


cdef void raise_found(const Table *table, Found found) noexcept with gil:
    if found == DAMAGED:
        PyErr_Format(SetError, b"%s: damaged saved set: entries", table.name)


cdef uint64_t whole_host(const uint8_t *host, size_t n, uint64_t point, size_t *labels) noexcept nogil:
    cdef uint64_t hash = 1
    cdef size_t end = n + 1
    labels[0] = 0
    while end:
        end = absorb_label(host, end - 1, point, &hash)
        labels[0] += 1
    return hash


# --- building ---------------------------------------------------------------------------------------------------------

cdef int kind_of(str kind) except -1:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    return <int>KINDS.index(kind)


cdef uint64_t point_of(FingerprintKey key):
    """Return the secret of hashes, which is derived from a key."""
    return load_word(<const uint8_t *>PyBytes_AS_STRING(key.fingerprint(b"uricodec entries"))) & PRIME


cdef class TableBuilder:
    """The base class of what makes tables.

    An entry is appended to the text. When that has grown MORE times, entries that it has twice are removed. So the memory
    is at most some times that of the different entries, however often they are added.

    Attributes:
        key (FingerprintKey): The key of the table.
        entries (int): How many entries were added; equal ones count each time.
    """

    def __cinit__(self):
        if not grow(&self.text, 1):
            raise MemoryError  # pragma: no cover: no memory
        self.text.data[0], self.text.size = 0, 1
        self.most = LEAST_OF_TEXT

    def __dealloc__(self):
        discard(&self.text)
        discard(&self.items)

    cdef int begin(self, str kind, FingerprintKey key) except -1:
        self.table.kind, self.table.point = <Kind>kind_of(kind), point_of(key)
        self.key = key
        return 0

    cdef bint put(self, const uint8_t *s, size_t n, const EntryKey *key) noexcept nogil:
        if self.text.size + self.items.size > self.most and not self.compact():
            return False  # pragma: no cover: no memory
        if not grow(&self.text, HEAD + n) or not grow(&self.items, 16):
            set_no_memory()  # pragma: no cover: no memory
            return False  # pragma: no cover: no memory
        store_word(key.hash, self.items.data + self.items.size)
        store_word(self.text.size, self.items.data + self.items.size + 8)
        self.items.size += 16
        self.text.data[self.text.size] = <uint8_t>n
        self.text.data[self.text.size + 1] = <uint8_t>(n >> 8)
        memcpy(self.text.data + self.text.size + HEAD, s, n)
        self.text.size += HEAD + n
        self.entries += 1
        if key.is_surt:
            self.table.surts |= depth_bit(key.depth)
        else:
            self.table.depths |= depth_bit(key.depth)
        return True

    def finish(self):
        """Return the table of the entries. The builder is empty afterwards.
        """
        cdef Table table
        cdef size_t items = self.items.size // 16, size, place
        cdef uint64_t count = 0
        cdef bytes data
        self.size_for(&table, items)
        size = (<size_t>SLOT << table.bits) + self.text.size
        data = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(size + LINE))
        place = -<size_t>PyBytes_AS_STRING(data) % LINE
        table.slots = <const uint8_t *>PyBytes_AS_STRING(data) + place
        table.text = table.slots + (<size_t>SLOT << table.bits)
        with nogil:
            memset(<void *>table.slots, 0, <size_t>SLOT << table.bits)
            count = self.fill(&table, items)
        discard(&self.text)
        discard(&self.items)
        size = (<size_t>SLOT << table.bits) + <size_t>table.text_size
        return EntryTable(KINDS[<int>table.kind], data, count, table.bits, table.depths, table.surts, self.key, None, place, size)

    cdef bint compact(self) noexcept nogil:
        """Remove the entries that are there more than once. False: an exception is set."""
        cdef Table table
        cdef size_t items = self.items.size // 16
        cdef uint8_t *slots
        self.size_for(&table, items)
        slots = <uint8_t *>PyMem_RawCalloc((<size_t>SLOT << table.bits) + LINE, 1)
        if slots == NULL:
            set_no_memory()  # pragma: no cover: no memory
            return False  # pragma: no cover: no memory
        table.slots, table.text = slots + -<size_t>slots % LINE, self.text.data
        self.items.size = 16 * <size_t>self.fill(&table, items)
        self.text.size = <size_t>table.text_size
        PyMem_RawFree(slots)
        self.most = max(self.most, MORE * (self.text.size + self.items.size))
        return True

    cdef void size_for(self, Table *table, size_t items) noexcept nogil:
        table[0] = self.table
        table.bits = LEAST_BITS
        while (<uint64_t>3 << table.bits) // 4 < items:
            table.bits += 1

    cdef uint64_t fill(self, Table *table, size_t items) noexcept nogil:
        """Write the slots, which are empty, and the text; return the number of different entries.

        These become the first items. The text may be that of the builder: an entry never comes after where it was.
        """
        cdef uint8_t *slots = <uint8_t *>table.slots
        cdef uint8_t *text = <uint8_t *>table.text
        cdef uint8_t *slot
        cdef uint64_t at, hash, count = 0
        cdef size_t i, n
        cdef Entry entry
        text[0] = 0
        table.text_size = 1
        for i in range(items):
            if i + AHEAD < items:
                prefetch(line_of(table, load_word(self.items.data + 16 * (i + AHEAD))))
            hash, at = load_word(self.items.data + 16 * i), load_word(self.items.data + 16 * i + 8)
            n = entry_size(self.text.data + at)
            if find(table, hash, self.text.data + at + HEAD, n, &entry) == PRESENT:
                continue
            slot = <uint8_t *>line_of(table, hash)
            while load_word(slot):
                slot += SLOT
                if slot == slots + (<size_t>SLOT << table.bits):
                    slot = slots
            store_word((hash & TAG) << 40 | table.text_size, slot)
            memmove(text + table.text_size, self.text.data + at, HEAD + n)
            store_word(hash, self.items.data + 16 * count)
            store_word(table.text_size, self.items.data + 16 * count + 8)
            table.text_size += HEAD + n
            count += 1
        return count


# --- tables -----------------------------------------------------------------------------------------------------------

def checksums(data not None, FingerprintKey key not None):
    """Return the checksums of data (bytes): 16 bytes for each 4096.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> len(checksums(bytes(5000), FingerprintKey()))
    32
    """
    cdef Py_buffer view
    cdef size_t i, blocks, size
    cdef bytes found
    cdef uint8_t *dst
    borrow_bytes(data, &view)
    size = <size_t>view.len
    blocks = (size + CHECKED - 1) // CHECKED
    try:
        found = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(UC_FINGERPRINT * blocks))
        dst = <uint8_t *>PyBytes_AS_STRING(found)
        with nogil:
            for i in range(blocks):
                fingerprint(&key.key, <const uint8_t *>view.buf + CHECKED * i, min(<size_t>CHECKED, size - CHECKED * i),
                            dst + UC_FINGERPRINT * i)
    finally:
        PyBuffer_Release(&view)
    return found


def aligned(data not None):
    """Return a copy of data (bytes), and where it starts there: with a cache line.

    >>> copy, place = aligned(b"abc")
    >>> copy[place : place + 3]
    b'abc'
    """
    cdef Py_buffer view
    cdef bytes copy
    cdef size_t place
    borrow_bytes(data, &view)
    try:
        copy = PyBytes_FromStringAndSize(NULL, view.len + LINE)
        place = -<size_t>PyBytes_AS_STRING(copy) % LINE
        memset(PyBytes_AS_STRING(copy), 0, <size_t>view.len + LINE)
        memcpy(PyBytes_AS_STRING(copy) + place, view.buf, <size_t>view.len)
    finally:
        PyBuffer_Release(&view)
    return copy, place


@cython.final
cdef class EntryTable:
    """The table of a set, which is constant.

    Args:
        kind (str): "hosts" or "prefixes".
        data (bytes | mmap): Slots and text, from `place` on.
        count (int), bits (int), depths (int), surts (int): What EntryBuilder.finish() returns.
        key (FingerprintKey): The key of the set.
        directory (bytes | None): The checksums of data that are to be checked when they are used.
        place (int): Where the data are,
        size (int | None): and their size; None: all that follow.
        file (StoredSet | None): Where each block of data is read from when it is used; None: the data are there.
        start (int): Where the data are in the file.

    Attributes:
        kind (str), count (int), bits (int), depths (int), surts (int), key (FingerprintKey): As above.

    Raises:
        ValueError: If sizes do not match.
    """

    def __cinit__(self, str kind not None, data not None, uint64_t count, int bits, uint64_t depths, uint64_t surts,
                  FingerprintKey key not None, bytes directory=None, size_t place=0, size=None, file=None,
                  uint64_t start=0, str name not None=""):
        cdef size_t slots
        self.file, self.table.number, self.table.place = file, -1 if file is None else file.number, start
        self.table.storing = &self.storing
        self.name = name.encode("utf-8", "replace")
        self.table.name = PyBytes_AS_STRING(self.name)
        self.kind, self.count, self.key = kind, count, key
        self.table.kind, self.table.bits = <Kind>kind_of(kind), bits
        self.table.depths, self.table.surts = depths, surts
        self.table.point, self.table.key = point_of(key), &key.key
        borrow_bytes(data, &self.view)
        self.viewed = True
        if not LEAST_BITS <= bits <= MOST_BITS or place > <size_t>self.view.len:
            raise ValueError("damaged table")
        self.size = <size_t>self.view.len - place if size is None else size
        slots = <size_t>SLOT << bits
        if self.size > <size_t>self.view.len - place or self.size <= slots:
            raise ValueError("damaged table")
        if count >= <uint64_t>1 << bits or count > (self.size - slots) // HEAD:
            raise ValueError("damaged table")
        self.table.slots = <const uint8_t *>self.view.buf + place
        self.table.text, self.table.text_size = self.table.slots + slots, self.size - slots
        if directory is not None:
            slots = (self.size + CHECKED - 1) // CHECKED
            if <size_t>len(directory) != UC_FINGERPRINT * slots:
                raise ValueError("damaged directory")
            self.directory, self.table.directory = directory, <const uint8_t *>PyBytes_AS_STRING(directory)
            self.table.sound = <uint8_t *>PyMem_RawCalloc(slots, 1)
            if self.table.sound == NULL:
                raise MemoryError  # pragma: no cover: no memory

    def __dealloc__(self):
        PyMem_RawFree(self.table.sound)
        if self.viewed:
            PyBuffer_Release(&self.view)

    @property
    def bits(self):
        return self.table.bits

    @property
    def depths(self):
        return self.table.depths

    @property
    def surts(self):
        return self.table.surts

    def damaged(self):
        """Return the error for data that are not what was saved.
        """
        return SetError(f"{self.name.decode()}: damaged saved set: entries")

    cdef int check(self, Found found) except -1:
        if found > PRESENT:
            raise_found(&self.table, found)
            reraise()
        return 0

    def __iter__(self):
        """Yield the entries (str), in the order in which they were put in.
        """
        cdef uint64_t at = 1, _
        cdef const uint8_t *s
        cdef size_t n
        for _ in range(self.count):
            s = self.table.text + at
            if at + HEAD > self.table.text_size or not is_sound(&self.table, s, HEAD):
                raise self.damaged()
            n = entry_size(s)
            if at + HEAD + n > self.table.text_size or not is_sound(&self.table, s, HEAD + n):
                raise self.damaged()
            try:
                yield utf8_text(s + HEAD, n, NULL)
            except UnicodeDecodeError:
                raise self.damaged() from None
            at += HEAD + n

    def verify(self):
        """Check all data. Raise SetError if they are damaged.
        """
        cdef uint64_t block
        cdef bint sound = True
        if self.table.sound == NULL:
            return
        with nogil:
            for block in range((self.size + CHECKED - 1) // CHECKED):
                sound = sound and check_block(&self.table, block)
        if not sound:
            raise self.damaged()

    def data(self):
        """Return the data (memoryview), checked.
        """
        self.verify()
        start = self.table.slots - <const uint8_t *>self.view.buf
        return memoryview(<object>self.view.obj)[start:start + self.size]
