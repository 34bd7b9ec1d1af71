"""Log lines to columns: arrays of the row engine, one of a struct for each batch.

Each column has buffers of its own, which grow before each window of lines that are marked, and before each other line, so
that the stores are in bounds. A column that a format does not have is filled up where another line needs it, and at the
end.
"""
from libc.math cimport NAN
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from uricodec._base._cpython cimport PyBytes_FromStringAndSize, PyMem_Calloc, PyMem_Free
from uricodec._rows._arrow cimport Array, Buffer, Type, discard, grow, hold
from uricodec._rows._columns cimport values_of
from uricodec._rows._columns import Column
from uricodec._url._queries cimport QueryField, QueryReader, next_field, read_query
from uricodec.logs._fields cimport *
from uricodec.logs._line cimport *
from uricodec.logs._marks cimport *
from uricodec.logs._records cimport *
from uricodec.logs._texts cimport *
from uricodec.logs._writing cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

cimport cython

cdef extern from *:
    """
    /* The number that 1 to 8 digits at s are, after which 8 bytes may be loaded. */
    static inline uint64_t uc_number(const uint8_t *s, size_t n) {
        uint64_t word = 0;
        size_t i;
        if (!UC_LITTLE_ENDIAN) {
            for (i = 0; i < n; i++) word = 10 * word + (s[i] - '0');
            return word;
        }
        memcpy(&word, s, 8);    /* two digits at a time are joined, then four, then eight */
        word = (word << (64 - 8 * n)) & 0x0F0F0F0F0F0F0F0F;
        word = (word * 2561 >> 8) & 0x00FF00FF00FF00FF;
        word = (word * 6553601 >> 16) & 0x0000FFFF0000FFFF;
        return word * 42949672960001 >> 32;
    }
    """
    uint64_t uc_number(const uint8_t *s, size_t n) noexcept nogil


cdef enum:
    BATCH_ROWS = 65536                  # the most rows of a batch
    BATCH_BYTES = 64 * 1024 * 1024      # a batch is also full when a column has more bytes than this

# What a column has: for each row a text, 8 bytes, or a list; or the texts of all lists.
cdef enum Content:
    TEXTS, NUMBERS, LISTS, TEXTS_OF_QUERY, ADDRESSES, EXTRA_NAMES, EXTRA_TEXTS, FLAG_NAMES

# The values of a column. One of texts uses all buffers; one of lists only ends and valid; one of numbers only data and
# valid. The sizes of ends and valid follow from the number of rows.
cdef struct LogColumn:
    Content content
    Buffer data
    Buffer ends             # 4 bytes for 0, then 4 a row
    Buffer valid            # one bit a row
    size_t rows
    int child               # of lists: the column of their texts, or of the first of the pairs that they consist of

cdef struct Batch:
    LogColumn *column       # one for each field; then those of the texts of lists
    int fields, count
    size_t rows
    size_t most             # an upper bound of the bytes of a column
    size_t reserved_to      # in the source: up to there the columns have capacity for lines


cdef bint reserve_rows(LogColumn *column, size_t more) noexcept nogil:
    """Ensure capacity for the ends and the bits of `more` rows. False: out of memory."""
    column.ends.size, column.valid.size = 4 * (column.rows + 1), (column.rows + 7) // 8
    return (column.content == NUMBERS or grow(&column.ends, 4 * more)) and grow(&column.valid, more // 8 + 2)


cdef size_t most_rows(Content content, size_t n, size_t lines, size_t extras) noexcept nogil:
    """Return how many rows lines of n bytes in all can need.

    A list has at most one text for each byte of its line; one of extra fields also those that the format names.
    """
    if content <= LISTS:
        return lines
    if content == FLAG_NAMES:
        return FLAGS * lines
    return n + lines + (extras * lines if content == EXTRA_NAMES or content == EXTRA_TEXTS else 0)


cdef size_t most_bytes(Content content, size_t n, size_t lines, size_t names) noexcept nogil:
    """Return how many bytes lines of n bytes in all can need, given the size of the names of extra fields.

    A text takes at most 3 bytes for each byte of the line; a time takes TIME_SIZE; a copy stores up to BLOCK bytes more.
    """
    if content == NUMBERS:
        return 8 * lines
    if content == LISTS:
        return 0
    if content == FLAG_NAMES:
        return 16 * FLAGS * lines
    return 3 * n + 64 * lines + 2 * BLOCK + (names * lines if content == EXTRA_NAMES else 0)


cdef bint reserve(Batch *batch, size_t n, size_t lines, size_t names, size_t extras) noexcept nogil:
    """Ensure the capacity that lines of n bytes in all can need. False: out of memory.

    The bits of the rows are set: values are there unless fill_up() or end_value() says otherwise.
    """
    cdef LogColumn *column
    cdef size_t rows
    cdef int k
    for k in range(batch.count):
        column = batch.column + k
        rows = most_rows(column.content, n, lines, extras)
        if not (grow(&column.data, most_bytes(column.content, n, lines, names)) and reserve_rows(column, rows)):
            return False  # pragma: no cover: no memory
        if column.content <= LISTS:
            column.valid.data[column.rows // 8] |= <uint8_t>(0xFF << column.rows % 8)
            memset(column.valid.data + column.rows // 8 + 1, 0xFF, rows // 8 + 1)
    return True


cdef void fill_up(LogColumn *column, size_t rows) noexcept nogil:
    """Add missing values to a column, which has the capacity. All of them end where the last value does.

    The bits of the values after them are set: see reserve().
    """
    cdef size_t first = column.rows // 8, last = rows // 8
    cdef int32_t *ends = <int32_t *>column.ends.data
    cdef int32_t end
    column.valid.data[first] &= (1 << column.rows % 8) - 1
    memset(column.valid.data + first + 1, 0, last - first)
    column.valid.data[last] |= <uint8_t>(0xFF << rows % 8)
    if column.content == NUMBERS:
        memset(column.data.data + column.data.size, 0, 8 * (rows - column.rows))
        column.data.size += 8 * (rows - column.rows)
        column.rows = rows
        return
    end = ends[column.rows]
    while column.rows < rows:
        column.rows += 1
        ends[column.rows] = end


cdef bint fill_all(Batch *batch) noexcept nogil:
    """Add missing values to all columns of fields. False: out of memory."""
    cdef LogColumn *column
    cdef size_t missing
    cdef int k
    for k in range(batch.fields):
        column = batch.column + k
        if column.rows < batch.rows:
            missing = batch.rows - column.rows
            if not (reserve_rows(column, missing) and grow(&column.data, 8 * missing if column.content == NUMBERS else 0)):
                return False  # pragma: no cover: no memory
            fill_up(column, batch.rows)
    return True


cdef bint reserve_lines(LogReader reader, Batch *batch) noexcept nogil:
    """Ensure the capacity that the lines can need that are marked together with the one of the record. False: out of memory."""
    cdef const Record *record = &reader.record
    cdef size_t n = record.marked_to - reader.marked.start
    if record.next > batch.reserved_to or record.marked_to == record.next:
        # Lines that are read by marks have SHORTEST bytes at least; others are alone.
        if not (fill_all(batch) and reserve(batch, n, n // SHORTEST + 1, names_of(record), record.extras)):
            return False  # pragma: no cover: no memory
        batch.reserved_to = record.marked_to
    return True


cdef inline void end_text(LogColumn *column, uint8_t *end) noexcept nogil:
    """Record the end of a text that is not missing."""
    cdef int32_t place = <int32_t>(end - column.data.data)
    column.data.size = end - column.data.data
    column.rows += 1
    memcpy(column.ends.data + 4 * column.rows, &place, 4)


cdef inline void end_list(LogColumn *column, const LogColumn *texts) noexcept nogil:
    """Record the end of a list, where its texts end now."""
    cdef int32_t place = <int32_t>texts.rows
    column.rows += 1
    memcpy(column.ends.data + 4 * column.rows, &place, 4)


cdef inline void add_eight(LogColumn *column, const void *value) noexcept nogil:
    memcpy(column.data.data + column.data.size, value, 8)
    column.data.size += 8
    column.rows += 1


cdef void add_number(LogColumn *column, const Text *text) noexcept nogil:
    cdef uint64_t value = 0
    cdef size_t i
    if 1 <= text.n <= 8:
        value = uc_number(text.at, text.n)
    else:
        for i in range(text.n):
            value = 10 * value + (text.at[i] - c'0')
    add_eight(column, &value)


cdef void add_query(const Writer *w, const Record *record, Batch *batch, LogColumn *column) noexcept nogil:
    cdef QueryReader reader = read_query(record.text[<int>QUERY].at, record.text[<int>QUERY].n)
    cdef QueryField field
    cdef LogColumn *name = batch.column + column.child
    cdef LogColumn *value = name + 1
    cdef uint8_t *dst
    cdef bint plain = record.special >> QUERY & 1 == 0
    while next_field(&reader, &field):
        if field.size:
            dst = name.data.data + name.data.size
            end_text(name, put_decoded(w, plain, text_of(field.text, field.name_size), True, RAW, dst))
            dst = value.data.data + value.data.size
            if field.name_size < field.size and is_masked(w, field.text, field.name_size):
                memcpy(dst, b"***", 3)
                dst += 3
            else:
                dst = put_decoded(w, plain, value_of(&field), True, RAW, dst)
            end_text(value, dst)


cdef void add_marked_query(const Writer *w, const Marked *marked, Text query, Batch *batch, LogColumn *column) noexcept nogil:
    """Add the parameters, like add_query()."""
    cdef const uint8_t *s = marked.src + marked.window
    cdef size_t at = query.at - s, stop = at + query.n
    cdef Parameter parameter
    cdef LogColumn *name = batch.column + column.child
    cdef LogColumn *value = name + 1
    cdef uint8_t *dst
    while next_parameter(s, marked.mark[<int>DELIMITERS], &at, stop, &parameter):
        dst = name.data.data + name.data.size
        if parameter.escaped_name:
            end_text(name, put_escaped(w, marked, parameter.name, True, RAW, dst))
        else:
            end_text(name, copy_blocks(parameter.name.at, parameter.name.n, dst))
        dst = value.data.data + value.data.size
        if parameter.escaped:
            end_text(value, put_escaped(w, marked, parameter.value, True, RAW, dst))
        else:
            end_text(value, copy_blocks(parameter.value.at, parameter.value.n, dst))


cdef void add_seconds(LogColumn *column, Text text, int unit) noexcept nogil:
    cdef double value = seconds_of(text, unit)
    add_eight(column, &value)


cdef void add_addresses(const Writer *w, const Record *record, Text list, Batch *batch, LogColumn *column) noexcept nogil:
    cdef Text address, port
    cdef LogColumn *texts = batch.column + column.child
    while next_address(&list, &address, &port):
        end_text(texts, put_text(w, record.special >> FORWARDED_FOR & 1 == 0, address, RAW, texts.data.data + texts.data.size))


cdef bint add_extras(const Writer *w, const Record *record, Batch *batch, LogColumn *column) noexcept nogil:
    """Add the extra fields that have values. False: there are none."""
    cdef LogColumn *name = batch.column + column.child
    cdef LogColumn *value = name + 1
    cdef size_t k, before = name.rows
    cdef const Text *text = record.text + MEMBERS
    cdef uint8_t *dst
    cdef bint is_plain = w.masked == NULL and not record.special & EXTRA_BIT
    cdef bint is_valid = record.variant.plan.columns == NULL
    cdef int rest = record.variant.plan.rest - MEMBERS
    for k in range(record.extras):
        if text[k].at == NULL:
            continue
        dst = name.data.data + name.data.size
        if is_valid and record.key[k].at != NULL:
            memcpy(dst, record.name[k].at, record.name[k].n)
            end_text(name, dst + record.name[k].n)
        else:
            end_text(name, put_any(w, record.name[k].at, record.name[k].n, RAW, dst))
        dst = value.data.data + value.data.size
        if is_plain and <int>k != rest:
            end_text(value, copy_blocks(text[k].at, text[k].n, dst))
        else:
            end_text(value, put_extra_value(w, record, k, RAW, dst))
    return name.rows > before


cdef void add_flags(int flags, Batch *batch, LogColumn *column) noexcept nogil:
    cdef LogColumn *name = batch.column + column.child
    cdef uint8_t *dst
    cdef int i
    for i in range(FLAGS):
        if flags >> i & 1:
            dst = name.data.data + name.data.size
            memcpy(dst, FLAG_TEXTS[i].name, FLAG_TEXTS[i].n)
            end_text(name, dst + FLAG_TEXTS[i].n)


cdef inline LogColumn *next_value(Batch *batch, int k) noexcept nogil:
    """Return a column that has a value for each row before."""
    cdef LogColumn *column = batch.column + k
    if column.rows < batch.rows:
        fill_up(column, batch.rows)
    return column


cdef void add_other(LogReader reader, const Output *output, Batch *batch) noexcept nogil:
    """Add a value that is not a copy. Without one, the column is filled up later."""
    cdef const Writer *w = &reader.writer
    cdef const Record *record = &reader.record
    cdef LogColumn *column = batch.column + output.column
    cdef uint8_t *dst
    cdef uint8_t *end
    cdef Text text
    cdef int64_t micros
    cdef size_t place
    cdef bint masked
    if output.value == EXTRAS_VALUE:
        if add_extras(w, record, batch, column):
            end_list(next_value(batch, output.column), batch.column + column.child)
        return
    if output.value == TEST_VALUE:
        place = output.field.period
        micros = meets_one_of(w, record, &place)
        add_eight(column, &micros)
        return
    if output.value == FLAGS_VALUE:
        add_flags(flags_of_record(w, record), batch, column)
        end_list(next_value(batch, output.column), batch.column + column.child)
        return
    text = text_in(w, record, output, &masked)
    if text.at == NULL:
        return
    reader.seen |= output.bit
    if column.content == NUMBERS and output.value == TIME_VALUE:
        if read_moment(record, text, w.zone, &micros):
            add_eight(next_value(batch, output.column), &micros)
        return
    next_value(batch, output.column)
    if column.content == LISTS:
        if output.value == ADDRESSES_VALUE:
            add_addresses(w, record, text, batch, column)
        elif record.is_marked and w.masked == NULL:
            add_marked_query(w, record.marked, text, batch, column)
        else:
            add_query(w, record, batch, column)
        end_list(column, batch.column + column.child)
    elif output.value == SECONDS_VALUE:
        add_seconds(column, text, record.unit)
    elif column.content == NUMBERS:
        add_number(column, &text)
    else:
        dst = column.data.data + column.data.size
        end = put_value(w, record, output, text, masked, RAW, dst)
        if end > dst or not may_be_missing(output):
            end_text(column, end)


cdef void add_row(LogReader reader, Batch *batch) noexcept nogil:
    """Add the record that was read. Columns without a value in it are filled up later."""
    cdef const Record *record = &reader.record
    cdef const Output *output = record.variant.output
    cdef const Output *last = output + record.variant.outputs
    cdef LogColumn *column
    cdef const Text *text
    cdef uint32_t seen = 0
    while output < last:
        text = record.text + output.slot
        if record.special & output.bit or not is_copied(record, output):
            add_other(reader, output, batch)
        elif text.at != NULL:
            seen |= output.bit
            column = next_value(batch, output.column)
            if output.field.is_number:
                add_number(column, text)
            elif output.is_long:
                end_text(column, copy_long(text.at, text.n, column.data.data + column.data.size))
            else:
                end_text(column, copy_blocks(text.at, text.n, column.data.data + column.data.size))
        output += 1
    reader.seen |= seen
    batch.rows += 1


cdef inline size_t names_of(const Record *record) noexcept nogil:
    """Return the size of the names of extra fields that a record may have besides those in its line."""
    cdef size_t k, size = 0
    if record.variant.plan.columns == NULL:
        return record.variant.names_n
    for k in range(record.extras):
        size += 3 * record.name[k].n        # bytes that are not UTF-8 become triplets
    return size


cdef inline bint is_full(const Batch *batch) noexcept nogil:
    cdef int k
    if batch.most > BATCH_BYTES:
        for k in range(batch.count):
            if batch.column[k].data.size > BATCH_BYTES:
                return True
    return False


cdef bint write_columns(LogReader reader, const uint8_t *src, size_t n, Batch *batch, size_t limit, Found *found,
                        size_t *counts) noexcept nogil:
    """Write columns, as LogReader.write() writes records. False: out of memory."""
    cdef size_t lines = 0, invalid = 0
    cdef Record *record = &reader.record
    cdef Line line
    batch.rows = batch.most = batch.reserved_to = 0
    reader.begin_lines(src, n)
    while reader.marked.start < n and invalid < limit and batch.rows < BATCH_ROWS and not is_full(batch):
        line = reader.read_next()
        if line == RECORD and not record.is_dropped:
            if not reserve_lines(reader, batch):
                return False  # pragma: no cover: no memory
            add_row(reader, batch)
            batch.most += 3 * (record.end - reader.marked.start) + 96 + names_of(record)
        elif line == RECORD:
            reader.dropped += 1
        elif line == NO_RECORD:
            invalid += note(reader, lines, found + invalid)
        lines += 1
        reader.marked.start = record.next
    counts[0], counts[1], counts[2], counts[3], counts[4] = reader.marked.start, 0, lines, batch.rows, invalid
    return fill_all(batch)


# --- batches ------------------------------------------------------------------------------------------------------------

cdef Type TEXT_TYPE = Type(b"u", b"item", required=True)
cdef Type PARAMETER_TYPE = Type(b"+s", b"item", (Type(b"u", b"name", required=True), Type(b"u", b"value", required=True)),
                                required=True)
cdef Type ENTRY_TYPE = Type(b"+s", b"entries", (Type(b"u", b"key", required=True), Type(b"u", b"value", required=True)),
                            required=True)


cdef Type type_of(const Field *field, bint arrow, bytes zone, bytes name):
    if field.kind == QUERY_VALUE:
        return Type(b"+l", name, (PARAMETER_TYPE,))
    if field.kind == ADDRESSES_VALUE or field.kind == FLAGS_VALUE:
        return Type(b"+l", name, (TEXT_TYPE,))
    if field.kind == EXTRAS_VALUE:
        return Type(b"+m", name, (ENTRY_TYPE,))
    if field.kind == SECONDS_VALUE:
        return Type(b"g", name)
    if field.kind == TIME_VALUE and arrow:
        return Type(b"tsu:" + zone, name)
    return Type(b"l" if field.is_number else b"u", name)


def type_of_batch(LogReader reader not None):
    """Return the type of the batches of a reader: a struct of its fields.

    >>> from uricodec.logs import Format
    >>> from uricodec.logs._records import LogReader
    >>> type_of_batch(LogReader(Format("common").programs, "arrow", fields=["time", "status"])).children[0].format
    b'tsu:UTC'
    """
    cdef list fields = []
    cdef size_t k
    cdef bytes zone = b"UTC"
    if reader.to_timezone is not None:      # a name of the IANA database, "UTC" or "UTC+05:30"
        zone = (str(reader.to_timezone).removeprefix("UTC") or "UTC").encode()
    for k in range(reader.writer.fields):
        name = reader.fields[k].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        fields.append(type_of(reader.writer.field + k, reader.arrow, zone, name.encode()))
    return Type(b"+s", b"", tuple(fields))


@cython.final
@cython.no_gc
cdef class BatchMemory:
    """The columns of a batch, which are freed with it."""
    cdef Batch batch

    def __cinit__(self, LogReader reader not None):
        cdef Batch *batch = &self.batch
        cdef const Field *field
        cdef LogColumn *column
        cdef size_t k
        cdef int i
        batch.fields = <int>reader.writer.fields
        batch.column = <LogColumn *>PyMem_Calloc(3 * batch.fields + 1, sizeof(LogColumn))
        if batch.column == NULL:
            raise MemoryError  # pragma: no cover: no memory
        batch.count = batch.fields
        for k in range(reader.writer.fields):
            field, column = reader.writer.field + k, batch.column + k
            column.content = NUMBERS if field.is_number or field.kind == TIME_VALUE and reader.arrow else TEXTS
            column.child = batch.count
            if field.kind == QUERY_VALUE:
                self.add_texts(column, TEXTS_OF_QUERY, TEXTS_OF_QUERY)
            elif field.kind == EXTRAS_VALUE:
                self.add_texts(column, EXTRA_NAMES, EXTRA_TEXTS)
            elif field.kind == ADDRESSES_VALUE:
                self.add_texts(column, ADDRESSES, TEXTS)
            elif field.kind == FLAGS_VALUE:
                self.add_texts(column, FLAG_NAMES, TEXTS)
        # What the last batch needed, which most often has as many lines.
        for i in range(batch.count):
            ends, data = reader.last_sizes[i] if reader.last_sizes else (4, 0)
            if not (grow(&batch.column[i].ends, ends) and grow(&batch.column[i].data, data)):
                raise MemoryError  # pragma: no cover: no memory
            memset(batch.column[i].ends.data, 0, 4)

    cdef int add_texts(self, LogColumn *column, Content first, Content second) except -1:
        """Add the columns of the texts of lists. TEXTS: lists of single texts."""
        column.content = LISTS
        self.batch.column[self.batch.count].content = first
        self.batch.count += 1
        if second != TEXTS:
            self.batch.column[self.batch.count].content = second
            self.batch.count += 1
        return 0

    def __dealloc__(self):
        cdef int k
        for k in range(self.batch.count):
            discard(&self.batch.column[k].data)
            discard(&self.batch.column[k].ends)
            discard(&self.batch.column[k].valid)
        PyMem_Free(self.batch.column)

    cdef Array array_of(self, int k):
        """Return the array of a column. Its memory moves there."""
        cdef LogColumn *column = self.batch.column + k
        cdef Array array = Array(), pairs
        array.length = <int64_t>column.rows
        column.ends.size = 4 * (column.rows + 1)
        array.set_buffers(3 if column.content != NUMBERS and column.content != LISTS else 2)
        if k < self.batch.fields:
            array.nulls = -1
            column.valid.size = (column.rows + 7) // 8
            if not grow(&column.valid, 1):
                raise MemoryError  # pragma: no cover: no memory
            if column.rows % 8:
                column.valid.data[column.rows // 8] &= 0xFF >> (8 - column.rows % 8)
            array.buffers[0] = hold(array, &column.valid)
        if column.content == NUMBERS:
            array.buffers[1] = hold(array, &column.data)
            return array
        array.buffers[1] = hold(array, &column.ends)
        if column.content != LISTS:
            array.buffers[2] = hold(array, &column.data)
            return array
        array.children = (self.array_of(column.child),)
        if self.batch.column[column.child].content in (TEXTS_OF_QUERY, EXTRA_NAMES):
            pairs = Array()
            pairs.set_buffers(1)
            pairs.length = (<Array>array.children[0]).length
            pairs.children = (array.children[0], self.array_of(column.child + 1))
            array.children = (pairs,)
        return array

    cdef Array array(self):
        cdef Array whole = Array()
        cdef list columns = []
        cdef int k
        whole.set_buffers(1)
        whole.length = <int64_t>self.batch.rows
        for k in range(self.batch.fields):
            columns.append(self.array_of(k))
        whole.children = tuple(columns)
        return whole


def convert_columns(LogReader reader not None, src, limit=FAULTS):
    """Convert lines of a log to columns.

    Args:
        reader (LogReader): The reader of the lines, made for "columns" or "arrow".
        src (bytes-like): The lines; the last one may lack its terminator, "\\n" or "\\r\\n".
        limit (int): The number of invalid lines after which to stop, at most 1024.

    Returns:
        tuple[Lines, Column]: The outcome, and the records: one array of the type type_of_batch(). If not all was read, the
            batch is full: call again with src[read:].

    Raises:
        MemoryError: If a column cannot grow.

    Source: Arrow columnar format, variable-size binary and list layouts.

    >>> from uricodec.logs import Format
    >>> from uricodec.logs._columns import objects_of
    >>> from uricodec.logs._records import LogReader
    >>> reader = LogReader(Format("common").programs, "columns", fields=["client", "status"])
    >>> found, batch = convert_columns(reader, b'192.0.2.1 - - [-] "GET / HTTP/1.1" 200 5')
    >>> objects_of(batch, 0, 1)
    [['192.0.2.1'], [200]]
    """
    cdef Py_buffer source
    cdef Found found[FAULTS]
    cdef size_t counts[5]
    cdef BatchMemory memory = BatchMemory(reader)
    cdef Batch *batch = &memory.batch
    cdef bint done
    cdef int k
    cdef size_t most = min(limit, FAULTS)
    PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
    try:
        reader.reserve(<size_t>source.len)
        with nogil:
            done = write_columns(reader, <const uint8_t *>source.buf, <size_t>source.len, batch, most, found, counts)
    finally:
        PyBuffer_Release(&source)
    if not done:
        raise MemoryError  # pragma: no cover: no memory
    reader.last_sizes = []
    for k in range(batch.count):
        reader.last_sizes.append((<Py_ssize_t>min(batch.column[k].ends.cap, counts[0] + 4),
                                  <Py_ssize_t>min(batch.column[k].data.cap, counts[0])))
    return lines_of(reader, found, counts), Column(type_of_batch(reader), [memory.array()])


# --- values as objects ------------------------------------------------------------------------------------------------

def objects_of(batch not None, int64_t start, int64_t stop):
    """Return the values of rows of a batch: a list for each field.

    Args:
        batch (Column): The batch, of a reader made for "columns".
        start, stop (int): The first row, and the one after the last.

    Returns:
        list[list]: str, int, float, None; a tuple of pairs for a query, of str for addresses and flags; a dict for `extra`.
    """
    cdef Type type = batch.type
    cdef Array whole = batch.arrays[0]
    cdef list values = []
    for kind, column in zip(type.children, whole.children):
        values.append(field_objects(kind, column, start, stop))
    return values


cdef list field_objects(Type type, Array array, int64_t start, int64_t stop):
    cdef const int32_t *ends = <const int32_t *>array.buffers[1]
    cdef const uint8_t *valid = <const uint8_t *>array.buffers[0]
    cdef int64_t i, first
    cdef Type kind
    cdef Array items
    cdef list values = [], texts
    if type.format == b"g":
        for i in range(start, stop):
            values.append((<const double *>array.buffers[1])[i] if valid[i >> 3] >> (i & 7) & 1 else None)
        return values
    if type.format != b"+l" and type.format != b"+m":
        return values_of(type, array, start, stop, "strict")
    kind, items, first = type.children[0], array.children[0], ends[start]
    if kind.format == b"+s":
        texts = list(zip(values_of(kind.children[0], items.children[0], first, ends[stop], "strict"),
                         values_of(kind.children[1], items.children[1], first, ends[stop], "strict")))
    else:
        texts = values_of(kind, items, first, ends[stop], "strict")
    for i in range(start, stop):
        if not valid[i >> 3] >> (i & 7) & 1:
            values.append(None)
        elif type.format == b"+m":
            values.append(dict(texts[ends[i] - first:ends[i + 1] - first]))
        else:
            values.append(tuple(texts[ends[i] - first:ends[i + 1] - first]))
    return values


def numbers_of(batch not None, int k, bint whole):
    """Return the numbers of a field, 8 bytes each.

    Args:
        batch (Column): A batch of convert_columns().
        k (int): The field, which is a number.
        whole (bool): Whether they become integers: of seconds, the nanoseconds; the least integer for a missing number.
            Otherwise they are floating-point numbers, NaN for a missing one.

    Returns:
        bytes: The numbers, in the byte order of the machine.
    """
    cdef Type type = (<Type>batch.type).children[k]
    cdef Array array = (<Array>batch.arrays[0]).children[k]
    cdef const uint8_t *valid = <const uint8_t *>array.buffers[0]
    cdef bint seconds = type.format == b"g"
    cdef int64_t i, integer
    cdef double number
    cdef bytes made = PyBytes_FromStringAndSize(NULL, 8 * array.length)
    cdef char *dst = made
    for i in range(array.length):
        if seconds:
            number = (<const double *>array.buffers[1])[i]
            integer = <int64_t>(number * 1e9 + 0.5) if number < 9e9 else INT64_MAX
        else:
            integer = (<const int64_t *>array.buffers[1])[i]
            number = <double>integer
        if not valid[i >> 3] >> (i & 7) & 1:
            integer, number = INT64_MIN, NAN
        memcpy(dst + 8 * i, <const void *>&integer if whole else <const void *>&number, 8)
    return made
