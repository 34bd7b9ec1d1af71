# distutils: extra_compile_args=-Os
"""Undecided rows, to be spilled to disk by partition: fingerprint and row number, and the normal form if exact.

A full table cannot decide whether identifiers that it does not hold are new. Their rows go to the partition that some
bits of the fingerprint select, so that rows with equal identifiers are in the same one. Each partition has a buffer. A
full buffer is a block, which the caller writes to a file and later reads as a batch, when the partition is processed.

A block is:

    header | for each row: 16 bytes, its fingerprint | 4: its number minus the base | 4: the size of its form | forms

and zeros up to a multiple of 8. Blocks without forms have no sizes of forms. The forms are in reverse order: in a buffer
they grow from the end towards the fingerprints, because the sizes of the next ones are unknown. Numbers are in the
machine's byte order: only the process that wrote the files reads them.

The numbers that belong to a row follow its form, as if they were a part of it; the form may then be empty.

A form too long for a buffer is a block by itself, in memory that is freed when the block is written.
"""
cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport SIZE_MAX, UINT32_MAX
from libc.string cimport memcpy, memmove, memset

from uricodec._base._cpython cimport PyMem_RawFree, PyMem_RawMalloc
from uricodec._base._fingerprint cimport UC_FINGERPRINT
from uricodec._counting._table cimport *


cdef enum:
    CHUNK = 1024                # rows that are searched at once
    DEPTHS = 10                 # groups of 6 bits in a 64-bit word
    SHORTEST = 128              # least size of a buffer in bytes,
    LONGEST = 1 << 30           # and the greatest

cdef uint64_t MAGIC = 0x6C6C697073697275
cdef uint64_t MAGIC_EXACT = 0x6C6C697073697265

HEADER = sizeof(Header)


# --- blocks -------------------------------------------------------------------------------------------------------------

cdef uint64_t check_of(const Header *header) noexcept nogil:
    """Return the checksum of the header's other fields. Changing any single field changes it."""
    cdef uint64_t fields[5]
    cdef uint64_t check = 0
    cdef int i
    memcpy(fields, header, sizeof(fields))
    for i in range(5):
        check = (check ^ fields[i]) * <uint64_t>0x9E3779B97F4A7C15
        check ^= check >> 32
    return check


cdef inline size_t size_of_row(bint exact) noexcept nogil:
    return UC_FINGERPRINT + (8 if exact else 4)


cdef inline size_t padded(size_t n) noexcept nogil:
    return (n + 7) & ~<size_t>7


cdef bint read_header(const uint8_t *src, size_t n, Header *header) noexcept nogil:
    """Read and check a header. False: it is invalid."""
    if n < sizeof(Header):
        return False
    memcpy(header, src, sizeof(Header))
    if header.check != check_of(header) or header.magic != MAGIC and header.magic != MAGIC_EXACT:
        return False
    if header.rows > header.size // UC_FINGERPRINT or header.octets > header.size or header.size > SIZE_MAX >> 2:
        return False
    if header.octets and header.magic == MAGIC:
        return False
    return header.size == padded(
        sizeof(Header) + header.rows * size_of_row(header.magic == MAGIC_EXACT) + header.octets)


def block_size(header):
    """Return the size of a block, given its header.

    Args:
        header (bytes-like): The beginning of the block, at least HEADER bytes.

    >>> block_size(bytes(HEADER))
    Traceback (most recent call last):
    ValueError: damaged block: invalid header
    """
    cdef Py_buffer buffer
    cdef Header found
    cdef bint sound
    PyObject_GetBuffer(header, &buffer, PyBUF_SIMPLE)
    sound = read_header(<const uint8_t *>buffer.buf, <size_t>buffer.len, &found)
    PyBuffer_Release(&buffer)
    if not sound:
        raise ValueError("damaged block: invalid header")
    return found.size


# --- writing ------------------------------------------------------------------------------------------------------------

@cython.final
cdef class _Block:
    """The memory of a block. A memoryview keeps it alive, even if its partition uses other memory by then."""
    cdef uint8_t *data
    cdef Py_ssize_t size

    def __cinit__(self, size_t capacity):
        self.data = <uint8_t *>PyMem_RawMalloc(capacity)
        if self.data == NULL:
            raise MemoryError  # pragma: no cover: no memory

    def __dealloc__(self):
        PyMem_RawFree(self.data)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.data, self.size, 1, flags)


cdef enum Added:
    ALL, FULL, TOO_LONG


@cython.final
cdef class SpillBuffers:
    """A buffer for the rows of each partition. Only one thread at a time may use it.

    Args:
        depth (int): How many times the rows were partitioned before, up to 19. Each depth selects partitions by other 6
            bits of the fingerprint: the first ten use its second half, from the lowest bits on, then those of the first
            half, which also determines the home in a table. Identifiers with random fingerprints never need so many.
        capacity (int): The size of a buffer in bytes, from 128 to 2**30.
        parts (int): The number of partitions, a power of 2 up to 64.
        columns (int): How many numbers of 8 bytes belong to each row; it must be exact, but its forms may be empty.

    Attributes:
        full (int): The partition whose buffer was full when add() stopped; -1: none.

    >>> buffers, batch = SpillBuffers(capacity=4096), SpilledBatch()
    >>> buffers.add(batch, 0), buffers.full, len(buffers), bytes(buffers.take(0))
    (0, -1, 64, b'')
    """

    def __cinit__(self, Py_ssize_t depth=0, bint exact=False, Py_ssize_t capacity=65536, Py_ssize_t parts=64, size_t columns=0):
        cdef size_t i
        cdef BlockPart *part
        cdef _Block block
        if not 0 <= depth < 2 * DEPTHS:
            raise ValueError(f"depth must be from 0 to {2 * DEPTHS - 1}, got {depth}")
        if not SHORTEST <= capacity <= LONGEST:
            raise ValueError(f"buffer size must be from {SHORTEST} to {LONGEST} bytes, got {capacity}")
        if not 0 < parts <= 64 or parts & (parts - 1):
            raise ValueError(f"number of partitions must be a power of 2 up to 64, got {parts}")
        if columns and not exact:
            raise ValueError("numbers are only spilled with normal forms")
        self.columns = columns
        self.full, self.exact, self.capacity, self.blocks = -1, exact, <size_t>capacity & ~<size_t>7, []
        self.place, self.shift = 8 if depth < DEPTHS else 0, 6 * (depth % DEPTHS)
        self.most = (self.capacity - sizeof(Header)) // size_of_row(exact)
        self.parts = <BlockPart *>PyMem_RawMalloc(parts * sizeof(BlockPart))
        if self.parts == NULL:
            raise MemoryError  # pragma: no cover: no memory
        if exact:
            self.sides = <uint32_t *>PyMem_RawMalloc(parts * self.most * 2 * sizeof(uint32_t))
            if self.sides == NULL:
                raise MemoryError  # pragma: no cover: no memory
        for i in range(<size_t>parts):
            block = _Block(self.capacity)
            self.blocks.append(block)
            part = &self.parts[i]
            part.data = block.data
            if exact:
                part.numbers = self.sides + 2 * i * self.most
                part.lengths = part.numbers + self.most
            else:
                part.numbers = <uint32_t *>(part.data + sizeof(Header) + UC_FINGERPRINT * self.most)
                part.lengths = NULL
            part.rows, part.octets, part.limit, part.base = 0, 0, self.most, 0
        self.count = <size_t>parts

    def __dealloc__(self):
        PyMem_RawFree(self.parts)
        PyMem_RawFree(self.sides)

    def __len__(self):
        return <Py_ssize_t>self.count

    def add(self, IdentifierBatch batch not None, size_t start=0):
        """Copy the undecided rows of a batch to the buffers of their partitions.

        Args:
            batch (IdentifierBatch): The batch; only rows that are marked as later are copied.

        Returns:
            int: The row to continue with after the block of partition `full` was taken and cleared; the number of rows
                when finished. A block that was taken but not cleared accepts no rows.
        """
        cdef Added added = TOO_LONG
        cdef size_t i = start, part
        batch.use()
        try:
            if self.exact and batch.form_starts == NULL and batch.count and not self.columns:
                raise ValueError("exact partitions require normal forms")
            if batch.columns != self.columns and batch.count:
                raise ValueError(f"expected {self.columns} numbers for each row, got {batch.columns}")
            self.use()
            try:
                self.full = -1
                while added == TOO_LONG:
                    with nogil:
                        added = add_rows(self, batch, &i, &part)
                    if added == TOO_LONG:
                        add_long(self, batch, i, part)
                        i += 1
                if added == FULL:
                    self.full = <Py_ssize_t>part
                return i if added == FULL else batch.count
            finally:
                uc_give(&self.busy)
        finally:
            uc_give(&batch.busy)

    def take(self, size_t part):
        """Return the block of a partition.

        Returns:
            memoryview: The bytes to write to a file; empty if the partition has no rows. Valid until clear() is called;
                before that the block accepts no rows.
        """
        if part >= self.count:
            raise IndexError(f"partition index out of range: {part}")
        self.use()
        try:
            return self.finished(part)
        finally:
            uc_give(&self.busy)

    cdef object finished(self, size_t part):
        cdef BlockPart *at = &self.parts[part]
        cdef _Block block = <_Block>self.blocks[part]
        cdef Header header
        cdef uint8_t *end
        cdef size_t size
        if at.rows == 0:
            return memoryview(b"")
        if at.limit:
            at.limit = 0
            header.magic = MAGIC_EXACT if self.exact else MAGIC
            header.rows, header.base, header.octets = at.rows, at.base, at.octets
            size = sizeof(Header) + at.rows * size_of_row(self.exact) + at.octets
            header.size = padded(size)
            header.check = check_of(&header)
            memcpy(at.data, &header, sizeof(Header))
            end = at.data + sizeof(Header) + at.rows * UC_FINGERPRINT
            if self.exact:      # first, because it frees the end of the buffer
                memmove(end + 8 * at.rows, at.data + self.capacity - at.octets, at.octets)
                memcpy(end + 4 * at.rows, at.lengths, 4 * at.rows)
            memmove(end, at.numbers, 4 * at.rows)
            memset(at.data + size, 0, header.size - size)
            block.size = <Py_ssize_t>header.size
        return memoryview(block)

    def clear(self, size_t part):
        """Reuse the buffer of a partition whose block was written. The contents of its memoryviews become undefined.
        """
        cdef BlockPart *at
        cdef _Block block
        if part >= self.count:
            raise IndexError(f"partition index out of range: {part}")
        self.use()
        try:
            at, block = &self.parts[part], <_Block>self.blocks[part]
            if <size_t>block.size > self.capacity:
                block = _Block(self.capacity)
                self.blocks[part] = block
                at.data = block.data
            block.size, at.rows, at.octets, at.limit = 0, 0, 0, self.most
        finally:
            uc_give(&self.busy)

    cdef int use(self) except -1:
        if not uc_take(&self.busy):
            raise RuntimeError("another thread is using the buffers")  # pragma: no cover: a race
        return 0


cdef inline size_t form_size(IdentifierBatch batch, size_t i) noexcept nogil:
    """Return the size of a normal form. Without forms, which rows with numbers need not have, it is 0."""
    return 0 if batch.form_starts == NULL else batch.form_ends[i] - batch.form_starts[i]


cdef inline void copy_form(IdentifierBatch batch, size_t i, size_t more, uint8_t *dst) noexcept nogil:
    """Copy the normal form of a row, and the `more` bytes of its numbers."""
    cdef size_t n = form_size(batch, i)
    if n:
        memcpy(dst, batch.forms + batch.form_starts[i], n)
    if more:
        memcpy(dst + n, values_of(batch, i), more)


cdef Added add_rows(SpillBuffers self, IdentifierBatch batch, size_t *next, size_t *full) noexcept nogil:
    """Add rows from *next on, and set *next to the row that could not be added, or the number of rows.

    The rows of a chunk to be added are selected without branches, which could not be predicted.
    """
    cdef uint32_t found[CHUNK]
    cdef const uint8_t *marks
    cdef const uint8_t *fingerprint
    cdef BlockPart *part
    cdef size_t first = next[0], rows, count, i, j, n = 0, most
    cdef size_t per = size_of_row(True), mask = self.count - 1, place = self.place, more = 8 * self.columns
    cdef int shift = self.shift
    cdef bint exact = self.exact
    cdef uint64_t word, number
    most = self.capacity - sizeof(Header)
    while first < batch.count:
        rows = min(<size_t>CHUNK, batch.count - first)
        marks = batch.marks + first
        count = 0
        for i in range(rows):
            found[count] = <uint32_t>i
            count += marks[i] == LATER
        for j in range(count):
            i = first + found[j]
            fingerprint = batch.fingerprints + UC_FINGERPRINT * i
            memcpy(&word, fingerprint + place, 8)
            part = &self.parts[<size_t>(word >> shift) & mask]
            number = number_of(batch, i)
            if part.rows == 0:
                part.base = number
            if part.rows >= part.limit or number - part.base > UINT32_MAX:
                next[0], full[0] = i, <size_t>(part - self.parts)
                return FULL
            if exact:
                n = form_size(batch, i) + more
                if per * (part.rows + 1) + part.octets + n > most:
                    next[0], full[0] = i, <size_t>(part - self.parts)
                    return FULL if part.rows else TOO_LONG
                part.octets += n
                part.lengths[part.rows] = <uint32_t>n
                copy_form(batch, i, more, part.data + self.capacity - part.octets)
            memcpy(part.data + sizeof(Header) + UC_FINGERPRINT * part.rows, fingerprint, UC_FINGERPRINT)
            part.numbers[part.rows] = <uint32_t>(number - part.base)
            part.rows += 1
        first += rows
    return ALL


cdef int add_long(SpillBuffers self, IdentifierBatch batch, size_t i, size_t part) except -1:
    """Make a block of one row, in memory allocated for it."""
    cdef BlockPart *at = &self.parts[part]
    cdef size_t more = 8 * self.columns, n = form_size(batch, i) + more
    cdef size_t size = sizeof(Header) + size_of_row(True) + n
    cdef Header header
    cdef uint32_t pair[2]
    cdef _Block block
    if n > UINT32_MAX:
        raise OverflowError("normal form is 4 GiB or larger")  # pragma: no cover: too large
    header.magic, header.size, header.rows = MAGIC_EXACT, padded(size), 1
    header.base, header.octets = number_of(batch, i), n
    header.check = check_of(&header)
    pair[0], pair[1] = 0, <uint32_t>n
    block = _Block(header.size)
    memcpy(block.data, &header, sizeof(Header))
    memcpy(block.data + sizeof(Header), batch.fingerprints + UC_FINGERPRINT * i, UC_FINGERPRINT)
    memcpy(block.data + sizeof(Header) + UC_FINGERPRINT, pair, sizeof(pair))
    copy_form(batch, i, more, block.data + size - n)
    memset(block.data + size, 0, header.size - size)
    block.size = <Py_ssize_t>header.size
    self.blocks[part] = block
    at.data, at.rows, at.limit = block.data, 1, 0
    return 0


# --- reading ------------------------------------------------------------------------------------------------------------

# no_gc: the garbage collector would clear the owner's reference before __dealloc__ releases the buffer.
@cython.no_gc
@cython.final
cdef class SpilledBatch(IdentifierBatch):
    """A batch of rows that were spilled: a block that is read again. It is empty at first.

    Args:
        columns (int): How many numbers of 8 bytes belong to each row.

    >>> batch = SpilledBatch()
    >>> batch.read(b"urn:isbn:0451450523")
    Traceback (most recent call last):
    ValueError: damaged block: invalid header
    >>> len(batch)
    0
    """

    def __cinit__(self, size_t columns=0):
        self.columns = columns

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.block)
        PyMem_RawFree(self.memory)

    def release(self):
        """Release the block. The batch is then empty."""
        self.use()
        self.discard()
        uc_give(&self.busy)

    cdef int discard(self) except -1:
        self.count, self.first, self.new, self.later = 0, 0, 0, 0
        self.fingerprints, self.forms, self.marks = NULL, NULL, NULL
        self.form_starts, self.form_ends, self.numbers = NULL, NULL, NULL
        if self.held:
            self.held = False
            PyBuffer_Release(&self.block)

    def read(self, block):
        """Read a block; its rows are not decided.

        Args:
            block (bytes-like): The block, from the first byte of its header to its end. It must not change until the
                next call.
        """
        cdef Header header
        cdef const uint8_t *at
        cdef size_t rows, size
        cdef bint sound, exact
        self.use()
        try:
            self.discard()
            PyObject_GetBuffer(block, &self.block, PyBUF_SIMPLE)
            self.held = True
            at = <const uint8_t *>self.block.buf
            if not read_header(at, <size_t>self.block.len, &header):
                raise ValueError("damaged block: invalid header")
            if header.size != <size_t>self.block.len:
                raise ValueError(f"damaged block: expected {header.size} bytes, got {self.block.len}")
            rows, exact = header.rows, header.magic == MAGIC_EXACT
            size = (2 * rows + 1) * sizeof(size_t) + rows * (sizeof(uint32_t) + 1)
            if self.allocated < size:
                PyMem_RawFree(self.memory)
                self.allocated, self.memory = 0, <uint8_t *>PyMem_RawMalloc(size)
                if self.memory == NULL:
                    raise MemoryError  # pragma: no cover: no memory
                self.allocated = size
            with nogil:
                sound = place_rows(self, at + sizeof(Header), rows, exact, header.octets)
            if not sound:
                raise ValueError("damaged block: lengths of normal forms do not match its size")
            self.first, self.count = header.base, rows
        except:
            self.discard()
            raise
        finally:
            uc_give(&self.busy)

    @property
    def row_numbers(self):
        """The numbers of the rows.
        """
        cdef size_t i
        cdef list numbers = []
        self.use()
        try:
            for i in range(self.count):
                numbers.append(number_of(self, i))
            return numbers
        finally:
            uc_give(&self.busy)


cdef bint place_rows(SpilledBatch self, const uint8_t *src, size_t rows, bint exact, size_t octets) noexcept nogil:
    """Set the pointers to the arrays of a block. False: the sizes of the forms do not match the total."""
    cdef size_t *bounds = <size_t *>self.memory
    cdef size_t *ends = bounds + rows + 1
    cdef uint32_t *numbers = <uint32_t *>(ends + rows)
    cdef const uint8_t *lengths
    cdef uint32_t length
    cdef size_t i, at = octets, more = 8 * self.columns
    self.fingerprints = src
    src += UC_FINGERPRINT * rows
    if <size_t>src % sizeof(uint32_t):
        memcpy(numbers, src, 4 * rows)
        self.numbers = numbers
    else:
        self.numbers = <const uint32_t *>src
    self.marks = <uint8_t *>(numbers + rows)
    memset(self.marks, PENDING, rows)
    if not exact:
        return True
    lengths = src + 4 * rows
    for i in range(rows):
        memcpy(&length, lengths + 4 * i, 4)
        if length > at or length < more:
            return False
        ends[i] = at - more
        at -= length
        bounds[i + 1] = at
    self.forms = lengths + 4 * rows
    self.form_starts, self.form_ends = bounds + 1, ends
    return at == 0
