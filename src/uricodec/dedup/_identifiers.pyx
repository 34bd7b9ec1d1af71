"""Rows as identifiers: a sink of the row engine that computes fingerprints, and the writing of selected rows.

A batch is the lines of a buffer, or some rows of a column. The engine normalizes them block by block, and while a block
is in the first-level cache each normal form gets its fingerprint. The starts of lines come from the block; normal forms
are kept only for exact tables. An invalid row is its own normal form; if invalid rows are to be dropped, they are
marked as seen.

Nulls form a group of their own and are not identifiers: they are marked as new or seen here, and tables skip them. Or they
are counted like an identifier: their fingerprint is that of no bytes, with all bits inverted.
Items of lists are gathered into blocks first.

Lines may be records, with the identifier in a field. The engine then runs over the values of the field. A record
without a value is null to the engine; afterwards it gets the fingerprint of its bytes, with all bits inverted, so that it
is equivalent to records of the same bytes only, and to no value.

Tables that keep the newest row need the order of each row (_order): in records it is that of a second field.
"""
cimport cython
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from uricodec._rows._arrow cimport *
from uricodec._base._cpython cimport PyBytes_AS_STRING
from uricodec._base._fingerprint cimport UC_FINGERPRINT, FingerprintKey, Key, fingerprint, fingerprints, store_word
from uricodec._counting._order cimport Order, read_order
from uricodec._counting._runs cimport store_big_word
from uricodec._counting._table cimport *
from uricodec._records._fields cimport RECORD_NAMES, Selection, Unselected, place_in_record, select_values
from uricodec._records._framing cimport CSV, DELIMITED, Framing
from uricodec._base._text cimport *
from uricodec._rows._columns cimport read_column, sources_of, tables_of
from uricodec._rows._dictionaries cimport select_rows, without_null_values
from uricodec._rows._lists cimport BYTES_ITEMS, NULL_ITEMS, TEXT_ITEMS, Items, gather
from uricodec._rows._engine cimport *
from uricodec._rows._tasks cimport SourceRows, begin_work, check_run, faults_of, raise_row_of, rows_of_lines, run_to_end

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from uricodec._rows._columns import Column
from uricodec._rows._tasks import LineFault, Lines

cdef enum:
    BATCH = 8192        # rows of a column per batch
    COUNT = 20          # digits of the greatest 64-bit number
    RECORD = 44         # bytes of a record without its form and its text, see Identifiers.records()


# --- the sink -----------------------------------------------------------------------------------------------------------

# The results of a run: `rows` items in each of the buffers that are in use.
cdef struct RunResults:
    size_t rows
    bint keeps_forms
    bint drops              # rejected rows are dropped
    bint null_seen
    bint nulls_later        # nulls are marked as undecided: they are not to be compared
    bint null_is_text       # nulls are an identifier like others
    Buffer starts             # starts of lines, and that of the next one: size_t
    Buffer form_starts        # in run.data, if forms are kept: size_t
    Buffer form_ends
    Buffer fingerprints
    Buffer marks              # Mark values


cdef bint have_rows(Buffer *buffer, size_t rows, size_t more, size_t width) noexcept nogil:
    buffer.size = rows * width
    return grow(buffer, more * width)


cdef bint reserve_forms(Run *run, size_t bytes, size_t rows) noexcept nogil:
    """Provide memory for normal forms: after the previous ones, or over them if they are not kept."""
    cdef RunResults *batch = <RunResults *>run.sink.owner
    cdef size_t size = capacity_for(run, bytes, rows)
    run.status = NO_MEMORY
    if not have_rows(&batch.marks, batch.rows, rows, 1):
        return False  # pragma: no cover: no memory
    if run.source.layout == LINES and not have_rows(&batch.starts, batch.rows + 1, rows, sizeof(size_t)):
        return False  # pragma: no cover: no memory
    if not run.writes:      # a table may read fingerprints all the same
        if not have_rows(&batch.fingerprints, batch.rows, rows, UC_FINGERPRINT):
            return False  # pragma: no cover: no memory
        memset(batch.fingerprints.data + UC_FINGERPRINT * batch.rows, 0, UC_FINGERPRINT * rows)
    else:
        if not batch.keeps_forms:
            run.data.size = 0
        elif not (have_rows(&batch.form_starts, batch.rows, rows, sizeof(size_t)) and
                  have_rows(&batch.form_ends, batch.rows, rows, sizeof(size_t))):
            return False  # pragma: no cover: no memory
        if size == 0 or not grow(&run.data, size) or not have_rows(&batch.fingerprints, batch.rows, rows, UC_FINGERPRINT):
            return False  # pragma: no cover: no memory
        run.out = run.data.data + run.data.size
    run.status = DONE
    return True


cdef void add_rows(Run *run, size_t rows, const size_t *starts, size_t *ends) noexcept nogil:
    """Mark rows, and add the fingerprints of their normal forms, run.data[starts[i] .. ends[i])."""
    cdef RunResults *batch = <RunResults *>run.sink.owner
    cdef uint8_t *marks = batch.marks.data + batch.rows
    cdef const Source *source = run.source
    cdef size_t i, w
    cdef int k
    if batch.drops:
        for w in range((rows + 63) // 64):
            for i in range(64 * w, min(64 * w + 64, rows) if run.block.rejected[w] else 0):
                if run.block.rejected[w] >> (i & 63) & 1:
                    marks[i] = SEEN
    if source.valid != NULL or source.layout == INDEXED or source.layout == NULLS:
        for i in range(rows):
            if is_null(source, run.row + i):
                if not batch.null_is_text:
                    marks[i] = LATER if batch.nulls_later else SEEN if batch.null_seen else NEW
                ends[i], batch.null_seen = starts[i], True
    fingerprints(<const Key *>run.key, run.data.data, starts, ends, rows, batch.fingerprints.data + UC_FINGERPRINT * batch.rows)
    if batch.null_is_text and (source.valid != NULL or source.layout == INDEXED or source.layout == NULLS):
        for i in range(rows):
            if is_null(source, run.row + i):
                for k in range(UC_FINGERPRINT):
                    batch.fingerprints.data[UC_FINGERPRINT * (batch.rows + i) + k] ^= 0xFF


cdef bint take_forms(Run *run) noexcept nogil:
    cdef RunResults *batch = <RunResults *>run.sink.owner
    cdef const Block *block = run.block
    cdef size_t starts[ROWS]
    cdef size_t ends[ROWS]
    cdef size_t *form_starts = &starts[0]
    cdef size_t *form_ends = &ends[0]
    cdef size_t *line_starts
    cdef size_t i, rows = block.rows, base = run.data.size
    memset(batch.marks.data + batch.rows, PENDING, rows)
    if run.source.layout == LINES:
        line_starts = <size_t *>batch.starts.data + batch.rows + 1
        for i in range(rows):
            line_starts[i] = run.next + block.at[i + 1]
        line_starts[rows - 1] = run.next + block.size
    if run.writes:
        if batch.keeps_forms:
            form_starts = <size_t *>batch.form_starts.data + batch.rows
            form_ends = <size_t *>batch.form_ends.data + batch.rows
        for i in range(rows):
            form_starts[i] = base + run.out_at[i]
        if block.has_cr:
            for i in range(rows):
                form_ends[i] = base + run.out_at[i + 1] - tail_of(run, i)
        else:
            for i in range(rows):
                form_ends[i] = base + run.out_at[i + 1] - block.gap
        form_ends[rows - 1] = base + run.written - tail_of(run, rows - 1)
        add_rows(run, rows, form_starts, form_ends)
        run.data.size += run.written
    batch.rows += rows
    return True


# --- finding lines without an operation -------------------------------------------------------------------------------

cdef size_t find_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return 0


cdef bint find_block(Run *run) noexcept nogil:
    pass_rows(run, run.block.rows)
    return True


cdef Slots FIND
memset(&FIND, 0, sizeof(Slots))
FIND.strict, FIND.result, FIND.block = SizedRow(find_row, 0, 0), WRITES_NOTHING, find_block

cdef RowOperation COPY = RowOperation()


# --- batches ------------------------------------------------------------------------------------------------------------

cdef class Identifiers(IdentifierBatch):
    """A batch of identifiers that a run of the row engine fills.
    """
    cdef readonly RowOperation operation
    cdef FingerprintKey key
    cdef RowPolicy policy
    cdef SourceRows rows                  # the source
    cdef RunResults batch
    cdef Run run

    # The subclasses have the other parameters. With *args and **kwargs, Cython 3.3 crashes if these cannot be allocated.
    def __cinit__(self, RowOperation operation not None, FingerprintKey key not None, terminator=None, errors=None, forms=None,
                  nulls_later=None, nulls=None, ordered=None):
        if operation.slots.result != WRITES_BYTES:
            raise ValueError("expected an operation that writes bytes")
        memset(&self.batch, 0, sizeof(RunResults))
        memset(&self.run, 0, sizeof(Run))
        self.operation, self.key = operation, key
        self.run.key = &key.key
        self.run.sink.reserve, self.run.sink.commit = reserve_forms, take_forms
        self.run.sink.owner = &self.batch

    def __dealloc__(self):
        PyMem_RawFree(self.run.gathered)
        discard(&self.run.found)
        discard(&self.run.data)
        discard(&self.batch.starts)
        discard(&self.batch.form_starts)
        discard(&self.batch.form_ends)
        discard(&self.batch.fingerprints)
        discard(&self.batch.marks)

    cdef int set_options(self, object errors, bint forms) except -1:
        if errors not in ("keep", "drop", "raise"):
            raise ValueError(f"errors must be 'keep', 'drop' or 'raise', got {errors!r}")
        self.policy = RAISE_ROW if errors == "raise" else KEEP_ROW
        self.batch.drops, self.batch.keeps_forms = errors == "drop", forms
        return 0

    cdef void clear(self) noexcept:
        """Remove all rows."""
        self.count = self.new = self.later = 0
        self.batch.rows = self.run.data.size = self.run.found.size = self.run.invalid = 0
        self.forms, self.form_starts, self.form_ends = NULL, NULL, NULL

    cdef int set_operation(self, const Slots *slots, RowPolicy policy) except -1:
        set_operation(&self.run, slots, policy, True)
        self.run.otherwise = NULL       # a rejected row is its own normal form
        if self.run.gathered == NULL and begin_work(&self.run) == NULL:
            raise MemoryError  # pragma: no cover: no memory
        return 0

    cdef int add(self, const Source *source, size_t start, size_t stop) except -1:
        """Add rows of a source, or bytes of lines. If a row is rejected under `raise`, add only those before it."""
        self.run.source, self.run.row, self.run.next, self.run.stop = source, start, start, stop
        set_lines(&self.run)
        run_to_end(&self.run)
        return check_run(&self.run)

    cdef void show(self) noexcept:
        """Make the rows visible to tables."""
        self.fingerprints, self.marks = self.batch.fingerprints.data, self.batch.marks.data
        if self.batch.keeps_forms and self.run.writes:
            self.forms = self.run.data.data
            self.form_starts = <const size_t *>self.batch.form_starts.data
            self.form_ends = <const size_t *>self.batch.form_ends.data
        self.count = self.batch.rows

    cdef const uint8_t *text_of(self, size_t row, size_t *n) noexcept nogil:
        """Return what was read in a row; NULL: null. The subclasses do that."""
        n[0] = 0
        return NULL

    def records(self, bytes spellings not None, bytes counts not None, bytes identifiers not None, bytes sizes not None):
        """Return the rows that are marked as new and whose identifiers have several spellings, as a block of records.

        A record is a fingerprint (16 bytes), the size (4) of the form and the form, if forms are kept, the number of the
        row (8), how often it occurs (8), and its text. All numbers are big-endian, as records are sorted.

        Args:
            spellings (bytes): The marks of the rows, of which those with new spellings are new.
            counts (bytes): How often each of these spellings occurs, as from FirstRows.counts_of().
            identifiers, sizes (bytes): The same of rows with new identifiers, and how many spellings each has.
        """
        cdef const uint8_t *is_spelling = <const uint8_t *>PyBytes_AS_STRING(spellings)
        cdef const uint8_t *is_identifier = <const uint8_t *>PyBytes_AS_STRING(identifiers)
        cdef const uint8_t *count = <const uint8_t *>PyBytes_AS_STRING(counts)
        cdef const uint8_t *size = <const uint8_t *>PyBytes_AS_STRING(sizes)
        cdef const uint8_t *count_end = count + len(counts)
        cdef const uint8_t *size_end = size + len(sizes)
        cdef Buffer found
        cdef bint single, done = True
        cdef size_t i
        cdef uint64_t times
        memset(&found, 0, sizeof(Buffer))
        self.use()
        try:
            if min(len(spellings), len(identifiers)) < <Py_ssize_t>self.count:
                raise ValueError(f"expected {self.count} marks, got {min(len(spellings), len(identifiers))}")
            with nogil:
                for i in range(self.count):
                    single = False
                    if is_identifier[i] == NEW and size < size_end:
                        memcpy(&times, size, 8)
                        single = times == 1
                        size += 8
                    if is_spelling[i] != NEW or count == count_end:
                        continue
                    memcpy(&times, count, 8)
                    count += 8
                    if self.marks[i] == NEW and not single and not self.add_record(i, times, &found):
                        done = False
                        break
            if not done:
                raise MemoryError  # pragma: no cover: no memory
            return (<const char *>found.data)[:found.size] if found.size else b""
        finally:
            uc_give(&self.busy)
            discard(&found)

    cdef bint add_record(self, size_t row, uint64_t count, Buffer *found) noexcept nogil:
        """Append a record; see records(). False: out of memory."""
        cdef size_t n, form = 0
        cdef const uint8_t *text = self.text_of(row, &n)
        cdef uint8_t *dst
        if self.forms != NULL:
            form = self.form_ends[row] - self.form_starts[row]
        if not grow(found, RECORD + form + n):
            return False  # pragma: no cover: no memory
        dst = found.data + found.size
        store_word(RECORD - 8 + form + n, dst)
        memcpy(dst + 8, self.fingerprints + UC_FINGERPRINT * row, UC_FINGERPRINT)
        store_big_word(<uint64_t>form << 32, dst + 24)      # of which the last four bytes are written over
        dst += 28
        if form:
            memcpy(dst, self.forms + self.form_starts[row], form)
        dst += form
        store_big_word(number_of(self, row), dst)
        store_big_word(count, dst + 8)
        if n:
            memcpy(dst + 16, text, n)
        found.size += RECORD + form + n
        return True


# --- lines --------------------------------------------------------------------------------------------------------------

@cython.final
cdef class LineBatch(Identifiers):
    """The identifiers of the lines of a buffer.

    Args:
        terminator (bytes): The control character that ends a line. A "\\r" before "\\n" belongs to it.
        errors (str): How an invalid line is handled: "keep" (its bytes are its identifier), "drop" or "raise".
        forms (bool): Whether to keep normal forms, for exact tables.
        ordered (bool): Whether rows have an order, see Framing.by.

    Attributes:
        unordered (int): The number of records without a readable value in the field by which they are ordered.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> from uricodec.urn._rows import NormalizeUrnRows
    >>> batch = LineBatch(NormalizeUrnRows("8141"), FingerprintKey())
    >>> batch.read(b"URN:Example:a\\nurl:x\\nurn:example:a", 0)[1:3]
    (3, 1)
    >>> prints = batch.fingerprints
    >>> prints[:16] == prints[32:], prints[:16] == prints[16:32]
    (True, False)
    """
    cdef bytes terminator
    # If lines are records: their format, the values of a field, and the rows that have one.
    cdef Framing framing
    cdef Selection selected
    cdef Source selected_values
    cdef Buffer valid
    # Of rows with an order: the values that it depends on, and the order of each.
    cdef Selection by
    cdef Buffer orders
    cdef readonly size_t unordered

    def __cinit__(self, RowOperation operation not None, FingerprintKey key not None, terminator=b"\n", errors="keep", forms=True,
                  bint ordered=False):
        self.set_options(errors, forms)
        self.columns = 2 if ordered else 0
        memset(&self.by, 0, sizeof(Selection))
        memset(&self.orders, 0, sizeof(Buffer))
        self.terminator = bytes(memoryview(terminator))
        rows_of_lines(b"", self.terminator)     # checks the terminator
        memset(&self.selected, 0, sizeof(Selection))
        memset(&self.selected_values, 0, sizeof(Source))
        memset(&self.valid, 0, sizeof(Buffer))
        self.selected_values.layout, self.selected_values.end = OFFSETS_64, INT64_MAX

    def __dealloc__(self):
        discard(&self.selected.starts)
        discard(&self.selected.text)
        discard(&self.selected.ends)
        discard(&self.selected.without)
        discard(&self.valid)
        discard(&self.by.starts)
        discard(&self.by.text)
        discard(&self.by.ends)
        discard(&self.by.without)
        discard(&self.orders)

    cdef int hold(self, object lines, uint64_t first, Framing framing, const Slots *slots, RowPolicy policy, size_t limit) except -1:
        """Find all rows of the given lines."""
        cdef RunResults *batch = &self.batch
        self.clear()
        self.rows, self.framing, self.selected.without.size = None, framing, 0
        self.rows = rows_of_lines(lines, self.terminator)
        self.first, self.numbers = first, NULL
        self.set_operation(slots, policy)
        self.run.limit = limit
        # Other records end where lines do.
        if framing is not None and (self.run.writes or framing.frame.form == CSV):
            self.add_records()
            return 0
        if not have_rows(&batch.starts, 0, 1, sizeof(size_t)):
            raise MemoryError  # pragma: no cover: no memory
        (<size_t *>batch.starts.data)[0] = 0
        self.add(&self.rows.source, 0, self.rows.source.count)
        return 0

    cdef void release(self) noexcept:
        self.clear()
        self.rows = None

    def read(self, lines not None, first, limit=0, Framing framing=None):
        r"""Read lines as identifiers.

        Args:
            lines (bytes-like): The lines; the last one may lack its terminator. They are referenced until the next
                call.
            framing (Framing | None): The lines are records in this format, and the value that it selects is the
                identifier. A record without exactly one readable value is invalid.

        Returns:
            Lines: 0 bytes written, the number of lines and of invalid ones, and the first `limit` of these as
                LineFaults. If one is invalid and `errors` is "raise", only that one is returned and the batch is empty:
                the caller raises.

        >>> from uricodec._records._framing import Framing
        >>> from uricodec._base._fingerprint import FingerprintKey
        >>> batch, framing = LineBatch(RowOperation(), FingerprintKey()), Framing("csv", delimiter=b",", fields=[(2, 2)])
        >>> batch.read(b'1,"a"\n2,a\n3\n', 0, 1, framing)
        Lines(written=0, lines=3, invalid=1, faults=[LineFault(line=2, start=10, stop=11, code='field', offset=0)])
        >>> batch.text(0), batch.text(2)
        (b'a', b'3')
        """
        cdef uint64_t number = first
        cdef bint stops = self.policy == RAISE_ROW
        cdef size_t listed = 1 if stops else <size_t>max(limit, 0)
        cdef size_t invalid
        self.use()
        try:
            self.hold(lines, number, framing, &self.operation.slots, self.policy, listed)
            invalid = self.run.invalid + self.selected.without.size // sizeof(Unselected)
            found = Lines(0, self.batch.rows, min(invalid, <size_t>1) if stops else invalid, self.faults(listed))
            if stops and invalid:
                self.release()
            else:
                self.show()
                if self.columns:
                    self.add_orders()
            return found
        except:
            self.release()
            raise
        finally:
            uc_give(&self.busy)

    cdef int add_orders(self) except -1:
        """Set the order of each row. Without a field by which rows are ordered, all are the oldest."""
        cdef Selection *by = &self.by
        cdef const Unselected *record
        cdef const int64_t *ends
        cdef Order *orders
        cdef size_t i, skipped = 0
        cdef bint done = True
        self.orders.size = self.unordered = 0
        if not grow(&self.orders, sizeof(Order) * self.count + 1):
            raise MemoryError  # pragma: no cover: no memory
        memset(self.orders.data, 0, sizeof(Order) * self.count)
        self.values = <const uint8_t *>self.orders.data
        if self.framing is None or self.framing.by is None or self.count == 0:
            return 0
        with nogil:
            done = select_values(&self.framing.by.frame, self.rows.source.data, self.rows.source.count, True, False, by)
        if not done:
            raise MemoryError  # pragma: no cover: no memory
        with nogil:
            record, ends = <const Unselected *>by.without.data, <const int64_t *>by.ends.data
            orders = <Order *>self.orders.data
            for i in range(min(self.count, by.count)):
                if skipped < by.without.size // sizeof(Unselected) and record[skipped].row == i:
                    skipped += 1
                    self.unordered += 1
                elif not read_order(by.text.data + ends[i], <size_t>(ends[i + 1] - ends[i]), &orders[i]):
                    self.unordered += 1
        return 0

    def find(self, lines not None, first, Framing framing=None):
        r"""Find lines without reading identifiers, for a second pass.

        Args:
            lines (bytes-like): The lines; the last one may lack its terminator. They are referenced until the next
                call.
            framing (Framing | None): The lines are records in this format.

        >>> from uricodec._base._fingerprint import FingerprintKey
        >>> batch = LineBatch(RowOperation(), FingerprintKey())
        >>> batch.find(b"a\nb", 0)
        >>> len(batch), batch.marks
        (2, b'\x00\x00')
        """
        cdef uint64_t number = first
        self.use()
        try:
            self.hold(lines, number, framing, &FIND, KEEP_ROW, 0)
            self.show()
        except:
            self.release()
            raise
        finally:
            uc_give(&self.busy)

    # --- records ----------------------------------------------------------------------------------------------------

    cdef int add_records(self) except -1:
        """Find all records, and if identifiers are read, add their values. Under `raise`, stop at an invalid one."""
        cdef RunResults *batch = &self.batch
        cdef Selection *selected = &self.selected
        cdef Source *values = &self.selected_values
        cdef bint reads = self.run.writes, done
        with nogil:
            done = select_values(&self.framing.frame, self.rows.source.data, self.rows.source.count, reads,
                                 self.policy == RAISE_ROW, selected)
        if not done:
            raise MemoryError  # pragma: no cover: no memory
        self.framing.note_seen(&selected.seen)
        batch.starts, selected.starts = selected.starts, batch.starts
        values.data, values.offsets, values.count = selected.text.data, selected.ends.data, selected.count
        values.valid = NULL
        if not reads:
            self.run.source = values
            if selected.count:      # memset() must not get NULL
                if not reserve_forms(&self.run, 0, selected.count):
                    raise MemoryError  # pragma: no cover: no memory
                memset(batch.marks.data, PENDING, selected.count)
            batch.rows = selected.count
            return 0
        if selected.without.size:
            self.set_validity()
        self.add(values, 0, values.count)
        if self.run.status != STOPPED:
            with nogil:
                done = self.add_unselected()
            if not done:
                raise MemoryError  # pragma: no cover: no memory
        return 0

    cdef int set_validity(self) except -1:
        """Make the records without a value null."""
        cdef const Unselected *records = <const Unselected *>self.selected.without.data
        cdef size_t i, size = self.selected.count // 8 + 1
        self.valid.size = 0
        if not grow(&self.valid, size):
            raise MemoryError  # pragma: no cover: no memory
        memset(self.valid.data, 0xFF, size)
        for i in range(self.selected.without.size // sizeof(Unselected)):
            self.valid.data[records[i].row >> 3] &= <uint8_t>~(1 << (records[i].row & 7))
        self.selected_values.valid = self.valid.data
        return 0

    cdef bint add_unselected(self) noexcept nogil:
        """Make the bytes of each record without a value its identifier. False: out of memory."""
        cdef RunResults *batch = &self.batch
        cdef Buffer *data = &self.run.data
        cdef const Unselected *record = <const Unselected *>self.selected.without.data
        cdef const uint8_t *src
        cdef uint8_t *target
        cdef size_t i, n
        cdef int k
        for i in range(self.selected.without.size // sizeof(Unselected)):
            if record[i].row >= batch.rows:     # under `raise`
                break
            src, n = self.rows.source.data + record[i].start, self.end_of(record[i].row) - record[i].start
            batch.marks.data[record[i].row] = SEEN if batch.drops else PENDING
            target = batch.fingerprints.data + UC_FINGERPRINT * record[i].row
            fingerprint(<const Key *>self.run.key, src, n, target)
            for k in range(UC_FINGERPRINT):
                target[k] ^= 0xFF
            if batch.keeps_forms:
                if not grow(data, n + WIDE):
                    return False  # pragma: no cover: no memory
                memcpy(data.data + data.size, src, n)
                (<size_t *>batch.form_starts.data)[record[i].row] = data.size
                data.size += n
                (<size_t *>batch.form_ends.data)[record[i].row] = data.size
        return True

    cdef list faults(self, size_t limit):
        """Return the first invalid lines or records."""
        cdef const Rejected *rejected = <const Rejected *>self.run.found.data
        cdef const Rejected *rejected_end = rejected + self.run.found.size // sizeof(Rejected)
        cdef const Unselected *record = <const Unselected *>self.selected.without.data
        cdef const Unselected *record_end = record + self.selected.without.size // sizeof(Unselected)
        cdef const size_t *starts = <const size_t *>self.batch.starts.data
        cdef size_t start, stop, offset
        cdef list faults = []
        if self.framing is None:
            return faults_of(&self.run, self.operation, limit)
        while <size_t>len(faults) < limit and (rejected < rejected_end or record < record_end):
            if record < record_end and (rejected == rejected_end or record.row < rejected.row):
                stop = self.end_of(record.row)
                faults.append(LineFault(record.row, record.start, stop, RECORD_NAMES[record.code], record.offset))
                record += 1
                continue
            start, stop = starts[rejected.row], self.end_of(rejected.row)
            offset = place_in_record(&self.framing.frame, self.rows.source.data + start, starts[rejected.row + 1] - start,
                                     rejected.offset)
            faults.append(LineFault(rejected.row, start, stop, self.operation.code_names[rejected.code], offset))
            rejected += 1
        return faults

    cdef size_t end_of(self, size_t row) noexcept nogil:
        """Return where a line ends, without its terminator. In CSV, "\r" may be one at the end of the buffer."""
        cdef const size_t *starts = <const size_t *>self.batch.starts.data
        cdef const uint8_t *src = self.rows.source.data
        cdef size_t end = starts[row + 1]
        cdef uint8_t terminator = self.rows.source.terminator
        cdef bint ended = end > starts[row] and src[end - 1] == terminator
        if ended:
            end -= 1
        elif self.framing is None or self.framing.frame.form != CSV:
            return end
        if terminator == c'\n' and end > starts[row] and src[end - 1] == c'\r':
            end -= 1
        return end

    @property
    def selects(self):
        """Whether at least one record has a value; True for lines."""
        return self.framing is None or self.selected.count > self.selected.without.size // sizeof(Unselected)

    def text(self, size_t row):
        """Return what read() found in a row: the line without its terminator, or the value of the record.

        Args:
            row (int): The number of the row in the batch.
        """
        cdef const uint8_t *src
        cdef size_t n
        self.use()
        try:
            if row >= self.count:
                raise IndexError(f"expected a row below {self.count}, got {row}")
            src = self.text_of(row, &n)
            return src[:n]
        finally:
            uc_give(&self.busy)

    cdef const uint8_t *text_of(self, size_t row, size_t *n) noexcept nogil:
        cdef size_t start
        cdef const uint8_t *src
        if self.framing is not None and is_valid(&self.selected_values, row):
            row_at(&self.selected_values, row, &src, n)
            return src
        start = (<const size_t *>self.batch.starts.data)[row]
        n[0] = self.end_of(row) - start
        return self.rows.source.data + start

    cdef size_t size(self) noexcept nogil:
        """Return the size of all lines in bytes."""
        return self.rows.source.count if self.rows is not None else 0

    # --- writing ----------------------------------------------------------------------------------------------------

    cdef inline size_t write_run(self, size_t i, size_t stop, uint8_t *dst) noexcept nogil:
        """Write lines, each with its terminator."""
        cdef const size_t *starts = <const size_t *>self.batch.starts.data
        cdef const uint8_t *src = self.rows.source.data + starts[i]
        cdef uint8_t terminator = self.rows.source.terminator
        cdef size_t n = starts[stop] - starts[i]
        if starts[stop] + WIDE <= self.rows.source.count:
            copy_bytes(dst, src, n)
        else:
            memcpy(dst, src, n)
            if n == 0 or dst[n - 1] != terminator:
                dst[n] = terminator
                n += 1
        return n

    cdef size_t write_new(self, uint8_t *dst) noexcept nogil:
        cdef size_t i = 0, stop, o = 0
        while i < self.count:
            if self.marks[i] != NEW:
                i += 1
                continue
            stop = i + 1
            while stop < self.count and self.marks[stop] == NEW:
                stop += 1
            o += self.write_run(i, stop, dst + o)
            i = stop
        return o

    cdef uint8_t separator(self) noexcept nogil:
        """Return the byte between a count and its line: the count is the first field of a record that has fields."""
        if self.framing is not None and (self.framing.frame.form == CSV or self.framing.frame.form == DELIMITED):
            return self.framing.frame.delimiter
        return c'\t'

    cdef size_t write_counts(self, const uint8_t *counts, size_t known, uint8_t *dst) noexcept nogil:
        cdef uint8_t separator = self.separator()
        cdef size_t i, o = 0, done = 0
        cdef uint64_t count
        for i in range(self.count):
            if self.marks[i] != NEW or done == known:
                continue
            memcpy(&count, counts + 8 * done, 8)
            done += 1
            o += write_decimal(count, dst + o)
            dst[o] = separator
            o += 1 + self.write_run(i, i + 1, dst + o + 1)
        return o

    def write(self, dst not None, counts=None):
        """Write the lines that are marked as new, each with its terminator.

        Args:
            dst (bytearray | memoryview): The destination, of at least `capacity()` bytes.
            counts (bytes-like | None): A 64-bit count for each of these lines, written before the line and a tab, or the
                delimiter of the records.

        >>> from uricodec._base._fingerprint import FingerprintKey
        >>> from uricodec._counting._table import Table
        >>> batch, buffer = LineBatch(RowOperation(), FingerprintKey()), bytearray(100)
        >>> _ = batch.read(b"a\\na\\nb", 0)
        >>> Table(1 << 20).add(batch)
        >>> buffer[: batch.write(buffer)]
        bytearray(b'a\\nb\\n')
        """
        cdef Py_buffer target, numbers
        PyObject_GetBuffer(b"" if counts is None else counts, &numbers, PyBUF_SIMPLE)
        try:
            PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
            try:
                self.use()
                try:
                    return self.write_to(&target, NULL if counts is None else &numbers)
                finally:
                    uc_give(&self.busy)
            finally:
                PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&numbers)

    cdef Py_ssize_t write_to(self, const Py_buffer *target, const Py_buffer *numbers) except -1:
        cdef size_t written
        if numbers != NULL and <size_t>numbers.len != 8 * self.new:
            raise ValueError(f"expected {self.new} counts, got {numbers.len // 8}")
        if <size_t>target.len < self.size() + (0 if numbers == NULL else (COUNT + 1) * self.new) + WIDE:
            raise ValueError(f"dst is too small: {target.len} bytes")
        with nogil:
            if numbers == NULL:
                written = self.write_new(<uint8_t *>target.buf)
            else:
                written = self.write_counts(<const uint8_t *>numbers.buf, self.new, <uint8_t *>target.buf)
        return <Py_ssize_t>written

    def new_lines(self):
        """Return the lines that are marked as new, each with its terminator.

        Returns:
            list[bytes]: The lines.

        >>> from uricodec._base._fingerprint import FingerprintKey
        >>> from uricodec._counting._table import Table
        >>> batch = LineBatch(RowOperation(), FingerprintKey())
        >>> _ = batch.read(b"a\\na\\nb", 0)
        >>> Table(1 << 20).add(batch)
        >>> batch.new_lines()
        [b'a\\n', b'b\\n']
        """
        cdef list lines = []
        cdef const size_t *starts
        cdef const uint8_t *src
        cdef size_t i
        cdef bytes line
        self.use()
        try:
            starts = <const size_t *>self.batch.starts.data
            for i in range(self.count):
                if self.marks[i] != NEW:
                    continue
                src = self.rows.source.data + starts[i]
                line = src[:starts[i + 1] - starts[i]]
                lines.append(line if line.endswith(self.terminator) else line + self.terminator)
            return lines
        finally:
            uc_give(&self.busy)

    def capacity(self):
        """Return the capacity that write() needs.
        """
        return <Py_ssize_t>(self.size() + (COUNT + 1) * self.new + WIDE)


# --- lists and columns --------------------------------------------------------------------------------------------------

@cython.final
cdef class ColumnBatch(Identifiers):
    """The identifiers of a list's items, or of an Arrow column's rows.

    Args:
        operation (RowOperation): Normalizes identifiers; the base class copies.
        key (FingerprintKey): The key of the fingerprints.
        errors (str): How an invalid row is handled: "keep" (its bytes are its identifier), "drop" or "raise".
        forms (bool): Whether to keep normal forms, for exact tables.
        nulls_later (bool): Whether to mark nulls as undecided, instead of as a group of their own.
        nulls (bool): Whether nulls are an identifier like others, which tables find and count.
        ordered (bool): Whether rows have an order.

    Attributes:
        invalid (int): The number of invalid rows in all columns.
        null_seen (bool): Whether there was a null: the first one is new, all others are seen.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> from uricodec.urn._rows import NormalizeUrnRows
    >>> batch = ColumnBatch(NormalizeUrnRows("8141"), FingerprintKey())
    >>> batch.hold(["URN:Example:a", None, "urn:example:a", None])
    4
    >>> batch.read(0), list(batch.marks), batch.fingerprints[:16] == batch.fingerprints[32:48]
    (4, [0, 2, 0, 1], True)
    >>> batch.read(4)
    0
    """
    cdef readonly size_t invalid
    # The column, a list or arrays; and what is read next: row `row` of array `at`, or item `at` of a batch.
    cdef list items
    cdef list sources
    cdef size_t at
    cdef size_t row
    # The items of a batch, and the gathered ones among them, or a single one.
    cdef list batch_items
    cdef Source source
    cdef Items gathered
    cdef int64_t end[2]
    cdef object orders              # of the rows of the column
    cdef size_t done                # how many rows of it have been read

    def __cinit__(self, RowOperation operation not None, FingerprintKey key not None, errors="keep", forms=True,
                  bint nulls_later=False, bint nulls=False, bint ordered=False):
        self.set_options(errors, forms)
        self.batch.nulls_later, self.batch.null_is_text, self.columns = nulls_later, nulls, 2 if ordered else 0
        self.sources = []
        memset(&self.source, 0, sizeof(Source))
        self.source.end = INT64_MAX

    @property
    def ordered(self):
        """Whether rows have an order."""
        return self.columns > 0

    @property
    def null_seen(self):
        return self.batch.null_seen

    @null_seen.setter
    def null_seen(self, seen):
        self.batch.null_seen = seen

    def hold(self, column not None, bytes orders=None):
        """Set the column to read.

        Args:
            column (list | tuple | Arrow object): str, bytes-like and None items, or a column of text or bytes.
            orders (bytes | None): The order of each row, see orders_of(); None: all are the oldest.
        """
        cdef list arrays = [], items = None, sources = []
        cdef Py_ssize_t count
        if isinstance(column, (list, tuple)):
            items = column if type(column) is list else list(column)
        else:
            _, kind = read_column(column, arrays)
            sources = sources_of(arrays, kind)
        count = len(items) if items is not None else count_of(sources)
        if self.columns and orders is None:
            orders = bytes(<Py_ssize_t>sizeof(Order) * count)
        if self.columns and len(orders) != <Py_ssize_t>sizeof(Order) * count:
            raise ValueError(f"expected the order of {count} rows, got {len(orders) // <Py_ssize_t>sizeof(Order)}")
        self.use()
        self.clear()
        self.row, self.at, self.items, self.sources = 0, 0, items, sources
        self.orders, self.done = orders, 0
        uc_give(&self.busy)
        return count

    def read(self, first, size_t most=BATCH):
        """Read the next rows of the column as identifiers.

        Args:
            first (int): The number of the first of these rows.
            most (int): The most rows to read; fewer are read where an array of the column ends.
        """
        cdef uint64_t number = first
        self.use()
        try:
            self.clear()
            self.first, self.run.limit = number, self.policy == RAISE_ROW
            self.set_operation(&self.operation.slots, self.policy)
            if self.items is not None:
                self.read_items()
            else:
                self.read_rows(most)
            self.invalid += self.run.invalid
            self.show()
            if self.columns:
                self.values = <const uint8_t *>PyBytes_AS_STRING(<bytes>self.orders) + sizeof(Order) * self.done
            self.done += self.count
            return self.count
        except:
            self.clear()        # the forms may have been moved
            raise
        finally:
            uc_give(&self.busy)

    def text(self, size_t row):
        """Return the bytes of a row of the batch; None for null.

        Args:
            row (int): The number of the row in the batch.
        """
        cdef const uint8_t *src
        cdef size_t n
        self.use()
        try:
            if row >= self.count:
                raise IndexError(f"expected a row below {self.count}, got {row}")
            if self.items is not None:
                raise TypeError("expected an Arrow object")
            src = self.text_of(row, &n)
            return None if src == NULL else src[:n]
        finally:
            uc_give(&self.busy)

    cdef const uint8_t *text_of(self, size_t row, size_t *n) noexcept nogil:
        cdef const uint8_t *src
        cdef bint found = False
        n[0] = 0
        if self.items is None:
            row += self.row - self.count        # a batch is in one array
            if not is_null(&self.rows.source, row):
                found = row_at(&self.rows.source, row, &src, n)
        return src if found else NULL

    cdef int read_rows(self, size_t most) except -1:
        """Read the next rows of the current array."""
        cdef SourceRows rows = None
        cdef const Rejected *rejected
        cdef size_t stop
        while self.at < <size_t>len(self.sources):
            rows = <SourceRows>self.sources[self.at]
            if self.row < rows.source.count:
                break
            self.row = 0
            self.at += 1
        else:
            return 0
        self.rows, stop = rows, min(self.row + most, rows.source.count)
        self.add(&rows.source, self.row, stop)
        if self.run.status == STOPPED:
            rejected = <const Rejected *>self.run.found.data
            raise_row_of(self.operation, &rows.source, rejected.row, rejected.code, rejected.offset,
                         self.first + self.batch.rows)
        self.row = stop
        return 0

    # --- lists

    cdef int read_items(self) except -1:
        """Read the next items of the list."""
        cdef Source *source = &self.source
        cdef Py_ssize_t stop
        self.batch_items = self.items[self.row:self.row + BATCH]        # a copy: no other thread changes it
        self.row += <size_t>len(self.batch_items)
        self.at, stop = 0, len(self.batch_items)
        while <Py_ssize_t>self.at < stop:
            if gather(&self.gathered, self.batch_items, <Py_ssize_t>self.at, stop,
                      TEXT_ITEMS | BYTES_ITEMS | NULL_ITEMS, self.run.gathered) == <Py_ssize_t>self.at:
                self.read_item(self.batch_items[self.at])
            else:
                source.layout, source.offsets, source.data = OFFSETS_32, self.gathered.at, self.run.gathered
                source.valid, source.count = self.gathered.valid, self.gathered.rows
                self.add_items()
        return 0

    cdef int add_items(self) except -1:
        """Add the items whose bytes are in self.source, which are the next ones."""
        cdef const Rejected *rejected
        cdef const uint8_t *src
        cdef size_t place, n
        self.add(&self.source, 0, self.source.count)
        if self.run.status == STOPPED:
            rejected = <const Rejected *>self.run.found.data
            item, place = self.batch_items[self.at + rejected.row], rejected.offset
            if isinstance(item, str):
                row_at(&self.source, rejected.row, &src, &n)
                place = <size_t>len(src[:place].decode("utf-8", "replace"))
            self.operation.raise_row(self.operation.code_names[rejected.code], self.operation.reasons[rejected.code], item,
                                     place, self.first + self.batch.rows)
        self.at += self.source.count
        return 0

    cdef int add_item(self, const uint8_t *src, size_t n) except -1:
        """Add one item."""
        self.end[0], self.end[1] = 0, <int64_t>n
        self.source.layout, self.source.offsets, self.source.data = OFFSETS_64, self.end, src
        self.source.valid, self.source.count = NULL, 1
        return self.add_items()

    cdef int read_item(self, object item) except -1:
        """Read an item that cannot be gathered."""
        cdef uint8_t utf8[UTF8_CAPACITY]
        cdef Bytes source
        cdef Py_buffer view
        cdef str text
        if isinstance(item, str):
            text = item if type(item) is str else str.__str__(item)
            if not utf8_of(text, &source, utf8):
                if self.operation.replaces_surrogates:
                    return self.read_item(without_surrogates(text))
                return self.add_surrogate(item, text)
            try:
                return self.add_item(source.data, source.size)
            finally:
                release(&source)
        borrow_row(item, self.first + self.batch.rows, &view)
        try:
            return self.add_item(<const uint8_t *>view.buf, <size_t>view.len)
        finally:
            PyBuffer_Release(&view)

    cdef int add_surrogate(self, object item, str text) except -1:
        """Add a str that cannot be encoded as UTF-8. It is its own normal form, by bytes that no other str has."""
        cdef bytes octets = text.encode("utf-8", "surrogatepass")
        if self.policy == RAISE_ROW:
            self.operation.raise_row("surrogate", "lone surrogate", item, <size_t>first_surrogate(text),
                                     self.first + self.batch.rows)
        self.set_operation(&COPY.slots, KEEP_ROW)
        self.add_item(<const uint8_t *>PyBytes_AS_STRING(octets), <size_t>PyBytes_GET_SIZE(octets))
        self.set_operation(&self.operation.slots, self.policy)
        self.run.invalid += 1
        if self.batch.drops:
            self.batch.marks.data[self.batch.rows - 1] = SEEN
        return 0


# --- selecting rows
# -----------------------------------------------------------------------------------------------------

def borrow(column):
    """Return an Arrow object as a Column, which can be read any number of times.

    Args:
        column (Arrow object): Any Arrow object; a stream is read to its end.
    """
    cdef list arrays = []
    type = read_object(column, arrays)
    return Column(type, arrays)


def mask(bytes marks not None):
    """Return which rows are the first ones with their identifiers, as a column.

    Args:
        marks (bytes): The marks of the rows, see `IdentifierBatch.marks`.

    >>> len(mask(b"\\x02\\x01\\x03"))
    3
    """
    cdef const uint8_t *src = marks
    cdef size_t n = <size_t>len(marks), i
    cdef Array array = Array()
    cdef Buffer bits, valid
    memset(&bits, 0, sizeof(Buffer))
    memset(&valid, 0, sizeof(Buffer))
    array.set_buffers(2)
    array.length, array.nulls = <int64_t>n, 0
    try:
        if not grow(&bits, (n + 7) // 8 + 1) or not grow(&valid, (n + 7) // 8 + 1):
            raise MemoryError  # pragma: no cover: no memory
        bits.size = valid.size = (n + 7) // 8
        memset(bits.data, 0, bits.size)
        memset(valid.data, 0, valid.size)
        for i in range(n):
            bits.data[i >> 3] |= (src[i] == NEW) << (i & 7)
            valid.data[i >> 3] |= (src[i] != LATER) << (i & 7)
            array.nulls += src[i] == LATER
        if array.nulls:
            array.buffers[0] = hold(array, &valid)
        array.buffers[1] = hold(array, &bits)
    finally:
        discard(&bits)
        discard(&valid)
    return Column(Type(b"b"), [array])


def column_of(bytes prints not None):
    """Return fingerprints as a column of 16 bytes in each row.

    >>> len(column_of(bytes(32)))
    2
    """
    cdef Array array = Array()
    cdef Buffer octets
    memset(&octets, 0, sizeof(Buffer))
    array.set_buffers(2)
    array.length = <int64_t>len(prints) // UC_FINGERPRINT
    try:
        if not grow(&octets, <size_t>len(prints) + 1):
            raise MemoryError  # pragma: no cover: no memory
        octets.size = <size_t>len(prints)
        memcpy(octets.data, PyBytes_AS_STRING(prints), octets.size)
        array.buffers[1] = hold(array, &octets)
    finally:
        discard(&octets)
    return Column(Type(b"w:16"), [array])


cdef Py_ssize_t count_of(list sources) except -1:
    cdef Py_ssize_t count = 0
    for rows in sources:
        count += <Py_ssize_t>(<SourceRows>rows).source.count
    return count


def select(column, bytes marks not None):
    """Return the rows of a column that are marked as new.

    Args:
        marks (bytes): The marks of the rows, see `IdentifierBatch.marks`.

    Returns:
        list | Column: The rows; those of an Arrow object in their layout: views and dictionaries share the buffers of
            the column. A row that refers to a null in a dictionary becomes null.

    >>> select(["a", "b", None], b"\\x02\\x01\\x02")
    ['a', None]
    """
    cdef const uint8_t *src = marks
    cdef Py_ssize_t i
    cdef list arrays = [], made = [], sources
    cdef SourceRows rows
    cdef size_t done = 0
    if isinstance(column, (list, tuple)):
        if len(column) != len(marks):
            raise ValueError(f"expected {len(column)} marks, got {len(marks)}")
        for i in range(len(marks)):
            if src[i] == NEW:
                made.append(column[i])
        return made
    whole, type = read_column(column, arrays)
    sources = sources_of(arrays, type)
    if count_of(sources) != len(marks):
        raise ValueError(f"expected {count_of(sources)} marks, got {len(marks)}")
    for rows in sources:
        made.append(select_rows(rows.array, type, src + done, NEW))
        done += rows.source.count
    type, made = without_null_values(type, made)
    if (<Type>whole).format == b"+s":
        made = tables_of(made)
        type = Type(b"+s", (<Type>whole).name, (type,))
    return Column(type, made)
