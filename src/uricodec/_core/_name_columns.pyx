"""Rows of lists and Arrow columns that are names: their normal forms and fingerprints; and the rows that are kept.

A column is read in batches. Every row goes through the row function of its kind, so all layouts are read, and the lock of
the interpreter is free while rows of Arrow are worked on. Nulls are a group of their own, which has nothing to do with names:
here it is said of them whether they are new, and tables leave them alone.
"""
cimport cython
from libc.stdint cimport SIZE_MAX
from libc.string cimport memcpy, memset

from uricodec._core._arrow cimport *
from uricodec._rows._operation cimport *
from uricodec._rows._columns cimport read_column, table_of
from uricodec._rows._dictionaries cimport select_rows, without_null_values
from uricodec._rows._tasks cimport Rows, raise_row_of, rows_of
from uricodec._core._fingerprint cimport UC_FINGERPRINT, FingerprintKey, fingerprints
from uricodec._core._names cimport *
from uricodec._core._text cimport *

from uricodec._rows._columns import Column

from cpython.buffer cimport PyBuffer_Release

cdef enum:
    BATCH = 8192        # rows that are named at once

cdef enum State:
    NAMED, REFUSED, RAISED, WITHOUT_MEMORY, MISPLACED


# --- names --------------------------------------------------------------------------------------------------------------

@cython.final
cdef class ColumnNames(Names):
    """The names of a list's items, or of an Arrow column's rows.

    Args:
        rows (RowOperation): What brings a name into normal form; one that copies, if it is one already.
        key (FingerprintKey): Of the fingerprints.
        errors (str): What becomes of a row that is refused: "keep" takes it as it is, "drop" leaves it out, "raise" raises.

    Attributes:
        invalid (int): How many rows of all columns were refused.
        null_seen (bool): Whether there was a null: the first one is new, all others are seen.

    Raises:
        ValueError: There is no such policy.

    >>> from uricodec._core._fingerprint import FingerprintKey
    >>> from uricodec._core._urn_rows import NormalizeUrnRows
    >>> names = ColumnNames(NormalizeUrnRows("8141"), FingerprintKey())
    >>> names.hold(["URN:Example:a", None, "urn:example:a", None])
    4
    >>> names.read(0), list(names.marks), names.fingerprints[:16] == names.fingerprints[32:48]
    (4, [0, 2, 0, 1], True)
    >>> names.read(4)
    0
    """
    cdef RowOperation how
    cdef FingerprintKey key
    cdef bint copies, drops, fails
    cdef readonly size_t invalid
    cdef public bint null_seen
    # The column: a list, or arrays; and what is read next.
    cdef list items
    cdef list sources
    cdef size_t at
    cdef size_t row
    # The batch.
    cdef Room names
    cdef size_t form_starts_of[BATCH]
    cdef size_t form_ends_of[BATCH]
    cdef uint8_t prints[UC_FINGERPRINT * BATCH]
    cdef uint8_t marks_of[BATCH]
    cdef Outcome outcome

    def __cinit__(self, RowOperation rows not None, FingerprintKey key not None, errors="keep"):
        if errors not in ("keep", "drop", "raise"):
            raise ValueError(f"no policy {errors!r} for errors; there are: keep, drop, fail")
        self.how, self.key, self.copies = rows, key, type(rows) is RowOperation
        self.drops, self.fails = errors == "drop", errors == "raise"
        self.sources, self.fingerprints, self.marks = [], self.prints, self.marks_of
        self.form_starts, self.form_ends = self.form_starts_of, self.form_ends_of

    def __dealloc__(self):
        discard(&self.names)

    def hold(self, column not None):
        """Have another column to read.

        Args:
            column (list | tuple | Arrow object): str, bytes-like and None; or text or octets of any layout.

        Returns:
            int: How many rows it has.

        Raises:
            TypeError: It is no such thing.
        """
        cdef list arrays = [], items = None, sources = []
        if isinstance(column, (list, tuple)):
            items = list(column)
        else:
            _, type = read_column(column, arrays)
            sources = [rows_of(array, type) for array in arrays]
        self.use()
        self.count, self.row, self.at, self.items, self.sources = 0, 0, 0, items, sources
        uc_give(&self.busy)
        return len(items) if items is not None else sum([(<Rows>rows).source.count for rows in sources])

    def read(self, first):
        """Be the names of the next rows of the column.

        Args:
            first (int): The number of the first of them.

        Returns:
            int: How many these are; 0 at the end.

        Raises:
            UriError: A row is refused, and that fails.
            TypeError: An item of a list that is no str, bytes-like or None.
            ValueError: An Arrow array is damaged.
            RuntimeError: Another thread is using the names.
        """
        cdef uint64_t number = first
        self.use()
        try:
            return self.read_batch(number)
        except:
            self.count = 0      # the forms may be elsewhere by now
            raise
        finally:
            uc_give(&self.busy)

    cdef object read_batch(self, uint64_t first):
        cdef Rows rows = None
        self.first, self.count, self.new, self.later, self.names.size = first, 0, 0, 0, 0
        memset(self.marks_of, PENDING, BATCH)
        if self.items is not None:
            self.read_items()
        else:
            while self.at < <size_t>len(self.sources):
                rows = <Rows>self.sources[self.at]
                if self.row < rows.source.count:
                    break
                self.row = 0
                self.at += 1
            else:
                return 0
            self.read_rows(rows)
        self.forms = self.names.data
        if self.forms == NULL:
            self.forms = b""
        with nogil:
            fingerprints(&self.key.key, self.forms, self.form_starts, self.form_ends, self.count, self.prints)
        return self.count

    # --- Arrow

    cdef int read_rows(self, Rows rows) except -1:
        cdef State outcome
        cdef size_t count = min(<size_t>BATCH, rows.source.count - self.row)
        with nogil:
            outcome = name_rows(self, &rows.source, count)
        if outcome == RAISED:
            raise_set()
        if outcome == WITHOUT_MEMORY:
            raise MemoryError
        if outcome == MISPLACED:
            raise ValueError("the Arrow array has offsets that are in no order, or views or indices of what is not there")
        if outcome == REFUSED:
            raise_row_of(self.how, &rows.source, self.row + self.count, self.outcome.code, self.outcome.offset,
                      self.first + self.count)
        self.row += count
        return 0

    # --- lists

    cdef int read_items(self) except -1:
        cdef size_t count = min(<size_t>BATCH, <size_t>len(self.items) - self.row), i
        for i in range(count):
            item = self.items[self.row + i]
            if item is None:
                name_null(self)
            elif isinstance(item, str):
                self.name_text(item)
            else:
                self.name_octets(item, item)
        self.row += count
        return 0

    cdef int name_text(self, object item) except -1:
        cdef uint8_t utf8[UTF8_ROOM]
        cdef Octets octets
        cdef State outcome
        cdef str text = item if type(item) is str else str.__str__(item)
        if not utf8_octets(text, &octets, utf8):
            if self.fails:
                raise self.how.error(f"row {self.first + self.count}: lone surrogate", item, first_surrogate(text))
            # Which no other str has.
            return self.name_surrogate(text.encode("utf-8", "surrogatepass"))
        try:
            outcome = name_row(self, octets.data, octets.size)
            if outcome == REFUSED:
                place = len(octets.data[:self.outcome.offset].decode("utf-8", "replace"))
                self.refuse(item, place)
            return self.check(outcome)
        finally:
            release(&octets)

    cdef int name_surrogate(self, bytes octets) except -1:
        cdef Py_ssize_t n = len(octets)
        if add_form(self, octets, <size_t>n) != NAMED:
            raise MemoryError
        self.invalid += 1
        if self.drops:
            self.marks_of[self.count - 1] = SEEN
        return 0

    cdef int name_octets(self, object source, object item) except -1:
        cdef Py_buffer view
        cdef State outcome
        borrow_row(source, self.first + self.count, &view)
        try:
            outcome = name_row(self, <const uint8_t *>view.buf, <size_t>view.len)
        finally:
            PyBuffer_Release(&view)
        if outcome == REFUSED:
            self.refuse(item, self.outcome.offset)
        return self.check(outcome)

    cdef int refuse(self, object item, size_t place) except -1:
        raise self.how.error(f"row {self.first + self.count}: {self.how.reasons[self.outcome.code]}", item, place)

    cdef int check(self, State outcome) except -1:
        if outcome == RAISED:
            raise_set()
        if outcome == WITHOUT_MEMORY:
            raise MemoryError
        return 0


# --- rows ---------------------------------------------------------------------------------------------------------------

cdef State name_rows(ColumnNames self, const Source *source, size_t count) noexcept nogil:
    cdef const uint8_t *src
    cdef size_t i, n
    cdef State outcome
    for i in range(self.row, self.row + count):
        if is_null(source, i):
            name_null(self)
            continue
        if not row_at(source, i, &src, &n):
            return MISPLACED
        outcome = name_row(self, src, n)
        if outcome != NAMED:
            return outcome
    return NAMED


cdef void name_null(ColumnNames self) noexcept nogil:
    cdef size_t i = self.count
    self.form_starts_of[i] = self.form_ends_of[i] = self.names.size
    self.marks_of[i] = SEEN if self.null_seen else NEW
    self.null_seen = True
    self.count += 1


cdef inline State add_form(ColumnNames self, const uint8_t *src, size_t n) noexcept nogil:
    """The next row has this form."""
    if not grow(&self.names, n + WIDE):
        return WITHOUT_MEMORY
    memcpy(self.names.data + self.names.size, src, n)
    end_form(self, n)
    return NAMED


cdef inline void end_form(ColumnNames self, size_t n) noexcept nogil:
    self.form_starts_of[self.count] = self.names.size
    self.names.size += n
    self.form_ends_of[self.count] = self.names.size
    self.count += 1


cdef State name_row(ColumnNames self, const uint8_t *src, size_t n) noexcept nogil:
    cdef const Operation *operation = &self.how.slots.strict
    cdef size_t size
    if self.copies:
        return add_form(self, src, n)
    if n > SIZE_MAX // 4 // max(operation.factor, <size_t>1) or not grow(&self.names, room_of(operation, n) + WIDE):
        return WITHOUT_MEMORY
    size = operation.row(src, n, self.how.slots.options, self.names.data + self.names.size, &self.outcome)
    if size != UC_REJECTED:
        end_form(self, size)
        return NAMED
    if self.outcome.code == UC_RAISED:
        return RAISED
    if self.fails:
        return REFUSED
    self.invalid += 1
    if self.drops:
        self.marks_of[self.count] = SEEN
    return add_form(self, src, n)


# --- what is kept -------------------------------------------------------------------------------------------------------

def borrow(column):
    """What an Arrow object has to give, to be read any number of times.

    Args:
        column (Arrow object): Anything; a stream is read.

    Returns:
        Column: The same.
    """
    cdef list arrays = []
    type = read_object(column, arrays)
    return Column(type, arrays)


def mask(bytes marks not None):
    """Which rows are the first of their names, as a column.

    Args:
        marks (bytes): As `Names.marks`.

    Returns:
        Column: True, False, or null for what is found out later.

    >>> len(mask(b"\\x02\\x01\\x03"))
    3
    """
    cdef const uint8_t *src = marks
    cdef size_t n = <size_t>len(marks), i
    cdef Array array = Array()
    cdef Room bits, valid
    memset(&bits, 0, sizeof(Room))
    memset(&valid, 0, sizeof(Room))
    array.set_buffers(2)
    array.length, array.nulls = <int64_t>n, 0
    try:
        if not grow(&bits, (n + 7) // 8 + 1) or not grow(&valid, (n + 7) // 8 + 1):
            raise MemoryError
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


def select(column, bytes marks not None):
    """The rows of an Arrow column that are marked as new.

    Args:
        column (Arrow object): The rows.
        marks (bytes): As `Names.marks`, one for each row.

    Returns:
        Column: These rows, in the layout that they have; views and dictionaries share the buffers of the column. A row
            that refers to a null in a dictionary is null itself.

    Raises:
        ValueError: Not as many marks as rows, or offsets that are in no order.
    """
    cdef list arrays = [], made = [], sources
    cdef Rows rows
    cdef size_t done = 0
    whole, type = read_column(column, arrays)
    sources = [rows_of(array, type) for array in arrays]
    if sum([(<Rows>each).source.count for each in sources]) != len(marks):
        raise ValueError("not as many marks as rows")
    for rows in sources:
        made.append(select_rows(rows, <const uint8_t *>(<const char *>marks) + done, NEW))
        done += rows.source.count
    type, made = without_null_values(type, made)
    if (<Type>whole).format == b"+s":
        made = [table_of(array) for array in made]
        type = Type(b"+s", (<Type>whole).name, (type,))
    return Column(type, made)
