"""Log lines to columns in the Arrow layout: values one after the other, their end offsets, and a validity bitmap.

This module depends on no Arrow library. Each column has a buffer of its own, which is grown before each window of lines
that `_fast` reads, and before each other line, so that the stores are in bounds. A column that a format does not have is
filled up where another line needs it, and at the end.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from uricodec._base._kernels cimport raise_set
from uricodec.logs._fast cimport *
from uricodec.logs._fast_json cimport read_fast_json, set_fast_record
from uricodec.logs._fields cimport *
from uricodec.logs._programs cimport *
from uricodec.logs._records cimport *
from uricodec.logs._texts cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_Clear
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport PyObject

cdef extern from "Python.h":
    PyObject *PyBytes_FromStringAndSize(const char *text, Py_ssize_t size) noexcept
    char *PyBytes_AS_STRING(PyObject *bytes) noexcept
    int _PyBytes_Resize(PyObject **bytes, Py_ssize_t size) noexcept
    void Py_CLEAR(PyObject *object) noexcept


cdef enum:
    BATCH_ROWS = 65536                  # the most rows of a batch
    BATCH_BYTES = 64 * 1024 * 1024      # a batch is also full when a column has more bytes than this

# A buffer that grows: the contents of a bytes object, so that they need not be copied at the end.
cdef struct Buffer:
    PyObject *bytes
    uint8_t *data
    size_t size
    size_t cap

# The values of a column. A text column uses all buffers; a list only ends and valid; a number only data (8 bytes) and
# valid. The sizes of ends and valid follow from the number of rows.
cdef struct Column:
    Buffer data
    Buffer ends                 # 4 bytes for 0, then 4 a row
    Buffer valid                # one bit a row
    size_t rows

# The columns: those of NAMES, the values of their lists, the flags, and the parameters that have a column of their own.
cdef enum:
    VHOST_COLUMN = 12, DURATION_COLUMN, ADDRESS_LIST, EXTRA_LIST
    PARAMETER, VALUE, ADDRESS, EXTRA_NAME, EXTRA_VALUE_COLUMN, FLAG_LIST, FLAG_TEXT
    COLUMNS_OF_BATCH

cdef struct Batch:
    Column *column          # COLUMNS_OF_BATCH, and one for each parameter
    int count
    size_t rows
    size_t most             # an upper bound of the bytes of a column, of the lines that `_fast` has read
    size_t reserved_to      # in the source: up to there the columns have capacity for lines that `_fast` reads

# The order of NAMES.
cdef int ORDER[13]
ORDER = [CLIENT, USER, TIME, METHOD, TARGET, PATH, QUERY, PROTOCOL, STATUS, BYTES_SENT, REFERER, USER_AGENT, VHOST]


cdef bint reserve(Buffer *buffer, size_t more) noexcept nogil:
    """Ensure capacity for `more` bytes. False: out of memory."""
    cdef size_t cap = 2 * buffer.cap
    if buffer.cap - buffer.size >= more:
        return True
    if cap < buffer.size + more:
        cap = buffer.size + more
    if cap < 4096:
        cap = 4096
    return resize(buffer, cap)


cdef bint resize(Buffer *buffer, size_t cap) noexcept with gil:
    """Change the capacity of a buffer. False: out of memory."""
    if buffer.bytes == NULL:
        buffer.bytes = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>cap)
    else:
        _PyBytes_Resize(&buffer.bytes, <Py_ssize_t>cap)
    if buffer.bytes == NULL:
        PyErr_Clear()  # pragma: no cover: no memory
        buffer.data, buffer.cap = NULL, 0  # pragma: no cover: no memory
        return False  # pragma: no cover: no memory
    buffer.data, buffer.cap = <uint8_t *>PyBytes_AS_STRING(buffer.bytes), cap
    return True


cdef bint reserve_rows(Column *column, size_t more) noexcept nogil:
    """Ensure capacity for the ends and the bits of `more` rows. False: out of memory."""
    column.ends.size, column.valid.size = 4 * (column.rows + 1), (column.rows + 7) // 8
    return reserve(&column.ends, 4 * more) and reserve(&column.valid, more // 8 + 2)


cdef bint reserve_line(Batch *batch, size_t n, size_t extra) noexcept nogil:
    """Ensure the capacity that a line of n bytes can need, and `extra` bytes for names. False: out of memory.

    A text takes at most 3 bytes for each byte of the line; a time takes at most 48.
    """
    cdef Column *column
    cdef size_t rows
    cdef int k
    for k in range(batch.count):
        column = batch.column + k
        # A list has at most one text for each byte of the line; that of extra fields at most EXTRAS; one of flags FLAGS.
        rows = n + 1 if k == PARAMETER or k == VALUE or k == ADDRESS else 1 + EXTRAS
        if not (reserve(&column.data, 3 * n + 128 + (extra if k == EXTRA_NAME else 0))
                and reserve_rows(column, rows)):
            return False  # pragma: no cover: no memory
    return True


cdef inline bint is_of_numbers(int k) noexcept nogil:
    """Return whether a column has 8 bytes for each row."""
    return k == 8 or k == 9 or k == DURATION_COLUMN


cdef inline bint is_of_rows(const Writer *w, int k) noexcept nogil:
    """Return whether a column has a value for each row: not one of the values of lists."""
    return k < PARAMETER or k == FLAG_LIST and w.flags or k >= COLUMNS_OF_BATCH


cdef void fill_up(Column *column, size_t rows, bint numbers) noexcept nogil:
    """Add missing values to a column, which has the capacity. All of them end where the last value does.

    The bits of the values after them are set: see reserve_window().
    """
    cdef size_t first = column.rows // 8, last = rows // 8
    cdef int32_t *ends = <int32_t *>column.ends.data
    cdef int32_t end = ends[column.rows]
    if numbers:
        memset(column.data.data + column.data.size, 0, 8 * (rows - column.rows))
        column.data.size += 8 * (rows - column.rows)
    column.valid.data[first] &= (1 << column.rows % 8) - 1
    memset(column.valid.data + first + 1, 0, last - first)
    column.valid.data[last] |= 0xFF << rows % 8
    while column.rows < rows:
        column.rows += 1
        ends[column.rows] = end


cdef bint fill_all(const Writer *w, Batch *batch) noexcept nogil:
    """Add missing values to all columns that have a value for each row. False: out of memory."""
    cdef Column *column
    cdef size_t missing
    cdef int k
    for k in range(batch.count):
        column = batch.column + k
        if is_of_rows(w, k) and column.rows < batch.rows:
            missing = batch.rows - column.rows
            if not (reserve_rows(column, missing)
                    and reserve(&column.data, 8 * missing if is_of_numbers(k) else 0)):
                return False  # pragma: no cover: no memory
            fill_up(column, batch.rows, is_of_numbers(k))
    return True


cdef bint reserve_window(const Writer *w, const FastRun *run, size_t names, size_t extras, Batch *batch) noexcept nogil:
    """Ensure the capacity that the lines of a window can need. False: out of memory.

    A line has SHORTEST bytes at least. A copy stores up to BLOCK bytes after a text.
    """
    cdef size_t n = run.window_end - run.start, rows = n // SHORTEST + 1
    cdef Column *column
    cdef int k
    if not fill_all(w, batch):
        return False  # pragma: no cover: no memory
    for k in range(batch.count):
        column = batch.column + k
        if not (reserve(&column.data, 3 * n + 64 * rows + 2 * BLOCK + (names * rows if k == EXTRA_NAME else 0))
                and reserve_rows(column, n + rows + (extras * rows if k == EXTRA_NAME or k == EXTRA_VALUE_COLUMN else 0)
                                 + (FLAGS * rows if k == FLAG_TEXT else 0))):
            return False  # pragma: no cover: no memory
        # Values are there unless fill_up() says otherwise.
        column.valid.data[column.rows // 8] |= 0xFF << column.rows % 8
        memset(column.valid.data + column.rows // 8 + 1, 0xFF, rows // 8 + 1)
    batch.reserved_to = run.window_end
    return True


cdef inline void end_text(Column *column, uint8_t *end) noexcept nogil:
    """Record the end of a text that is not missing, in a list or in a column whose bits are set."""
    cdef int32_t place = <int32_t>(end - column.data.data)
    column.data.size = end - column.data.data
    column.rows += 1
    memcpy(column.ends.data + 4 * column.rows, &place, 4)


cdef inline void end_value(Column *column, size_t end, bint valid) noexcept nogil:
    """Record the end of the value of the next row, and whether it is valid (not null)."""
    cdef int32_t place = <int32_t>end
    cdef uint8_t *bits = column.valid.data + column.rows // 8
    bits[0] = <uint8_t>(bits[0] & ~(1 << column.rows % 8) | valid << column.rows % 8)
    column.rows += 1
    memcpy(column.ends.data + 4 * column.rows, &place, 4)


cdef void add_number(Column *column, Text text) noexcept nogil:
    cdef int64_t value = 0
    cdef size_t i
    for i in range(text.n):
        value = 10 * value + (text.at[i] - c'0')
    memcpy(column.data.data + column.data.size, &value, 8)
    column.data.size += 8
    end_value(column, 0, text.at != NULL)


cdef void add_query(const Writer *w, const Entry *entry, Batch *batch) noexcept nogil:
    cdef Text query = entry.text[QUERY]
    cdef Column *name = batch.column + PARAMETER
    cdef Column *value = batch.column + VALUE
    cdef uint8_t *dst
    cdef size_t i = 0, end, equals
    while i < query.n:
        end = find(query.at, i, query.n, c'&')
        if end > i:
            equals = find(query.at, i, end, c'=')
            dst = name.data.data + name.data.size
            end_text(name, put_decoded(w, entry, text_of(query.at + i, equals - i), True, RAW, dst))
            dst = value.data.data + value.data.size
            if equals < end:
                if is_masked(w, query.at + i, equals - i):
                    memcpy(dst, b"***", 3)
                    dst += 3
                else:
                    dst = put_decoded(w, entry, text_of(query.at + equals + 1, end - equals - 1), True, RAW, dst)
            end_text(value, dst)
        i = end + 1


cdef void add_seconds(Column *column, Text text, int unit) noexcept nogil:
    """Add the duration as a double. It is the nearest one if the number has at most 15 digits."""
    cdef uint8_t digits[128]
    cdef size_t n = 0, i, fraction = 0
    cdef double value = 0, scale = 1
    cdef bint after = False
    if text.at != NULL:
        n = put_seconds(text, unit, digits)
    for i in range(n):
        if digits[i] == c'.':
            after = True
        elif fraction < 22:
            value = 10 * value + (digits[i] - c'0')
            fraction += after
    for i in range(fraction):
        scale *= 10
    value /= scale
    memcpy(column.data.data + column.data.size, &value, 8)
    column.data.size += 8
    end_value(column, 0, text.at != NULL)


cdef void add_addresses(const Writer *w, const Entry *entry, Text list, Batch *batch) noexcept nogil:
    cdef Text address
    cdef Column *column = batch.column + ADDRESS
    cdef size_t before = column.rows
    while next_address(&list, &address):
        end_text(column, put_text(w, entry, address, RAW, column.data.data + column.data.size))
    end_value(batch.column + ADDRESS_LIST, column.rows, column.rows > before)


cdef void add_extra_fields(const Writer *w, const Entry *entry, Batch *batch) noexcept nogil:
    cdef Column *name = batch.column + EXTRA_NAME
    cdef Column *value = batch.column + EXTRA_VALUE_COLUMN
    cdef size_t k
    for k in range(entry.extras):
        if entry.text[MEMBERS + k].at != NULL:
            end_text(name, put_any(w, entry.name[k].at, entry.name[k].n, RAW, name.data.data + name.data.size))
            end_text(value, put_masked(w, entry, entry.text[MEMBERS + k], True, RAW, value.data.data + value.data.size))
    end_value(batch.column + EXTRA_LIST, name.rows, has_extra(entry))


cdef void add_parameter(const Writer *w, const Entry *entry, Text query, Column *column, const Text *name) noexcept nogil:
    cdef bint masked = False
    cdef Text text = parameter_of(w, query, name, &masked)
    cdef uint8_t *dst = column.data.data + column.data.size
    if masked:
        memcpy(dst, b"***", 3)
        dst += 3
    elif text.at != NULL:
        dst = put_decoded(w, entry, text, True, RAW, dst)
    column.data.size = dst - column.data.data
    end_value(column, column.data.size, text.at != NULL)


cdef void add_flags(int flags, Batch *batch) noexcept nogil:
    cdef Column *column = batch.column + FLAG_TEXT
    cdef uint8_t *dst
    cdef int i
    for i in range(FLAGS):
        if flags >> i & 1:
            dst = column.data.data + column.data.size
            memcpy(dst, FLAG_TEXTS[i].name, FLAG_TEXTS[i].n)
            end_text(column, dst + FLAG_TEXTS[i].n)
    end_value(batch.column + FLAG_LIST, column.rows, True)


cdef bint add_row(const Writer *w, const Entry *entry, Batch *batch) noexcept nogil:
    """Add a record. Return whether the batch is full."""
    cdef Column *column
    cdef Text text
    cdef int k, member
    for k in range(13):
        member = ORDER[k]
        text = entry.text[member] if member != CLIENT else client_of(w, entry)
        column = batch.column + k
        if member == STATUS or member == BYTES_SENT:
            add_number(column, text)
        elif member == QUERY:
            if text.at != NULL:
                add_query(w, entry, batch)
            end_value(column, batch.column[PARAMETER].rows, text.at != NULL)
        else:
            if text.at != NULL:
                column.data.size = put_value(w, entry, member, text, RAW, column.data.data + column.data.size) - column.data.data
            end_value(column, column.data.size, text.at != NULL)
    add_seconds(batch.column + DURATION_COLUMN, entry.text[DURATION], entry.unit)
    add_addresses(w, entry, entry.text[FORWARDED_FOR], batch)
    add_extra_fields(w, entry, batch)
    for k in range(<int>w.params):
        add_parameter(w, entry, entry.text[QUERY], batch.column + COLUMNS_OF_BATCH + k, w.param + k)
    if w.flags:
        add_flags(flags_of_entry(w, entry), batch)
    batch.rows += 1
    return is_full(batch)


cdef bint is_full(const Batch *batch) noexcept nogil:
    cdef int k
    for k in range(batch.count):
        if batch.column[k].data.size > BATCH_BYTES:
            return True
    return batch.rows == BATCH_ROWS


# --- lines that are read by marks -------------------------------------------------------------------------------------

cdef Entry PLAIN_LINE, OTHER_LINE
PLAIN_LINE.plain = True
OTHER_LINE.plain = False


cdef inline uint8_t *add_copy(Column *column, Text text) noexcept nogil:
    """Copy a text to a column. Return its end."""
    return copy_blocks(text.at, text.n, column.data.data + column.data.size)


cdef inline Column *next_value(Batch *batch, int k) noexcept nogil:
    """Return a column that has a value for each row before."""
    cdef Column *column = batch.column + k
    if column.rows < batch.rows:
        fill_up(column, batch.rows, is_of_numbers(k))
    return column


cdef void add_fast_query(const Writer *w, const FastRun *run, Text query, Batch *batch) noexcept nogil:
    """Add the parameters, like add_query()."""
    cdef const uint8_t *s = run.src + run.window
    cdef size_t at = query.at - s, stop = at + query.n
    cdef FastParameter parameter
    cdef Column *name = batch.column + PARAMETER
    cdef Column *value = batch.column + VALUE
    cdef uint8_t *dst
    while next_parameter(s, run.mark[<int>DELIMITERS], &at, stop, &parameter):
        dst = name.data.data + name.data.size
        if parameter.escaped_name:
            end_text(name, put_escaped(w, run, parameter.name, True, RAW, dst))
        else:
            end_text(name, copy_blocks(parameter.name.at, parameter.name.n, dst))
        dst = value.data.data + value.data.size
        if parameter.escaped:
            end_text(value, put_escaped(w, run, parameter.value, True, RAW, dst))
        else:
            end_text(value, copy_blocks(parameter.value.at, parameter.value.n, dst))


cdef void add_fast_row(const Writer *w, FastRun *run, const FastRecord *record, Batch *batch) noexcept nogil:
    """Add a record that `_fast` has read. Columns that its format does not have are filled up later."""
    cdef FastPlan *fast = record.plan
    cdef const FastMember *member
    cdef const FastMember *extra
    cdef Column *column
    cdef Text text, list, address
    cdef uint8_t *dst
    cdef size_t k
    cdef Entry entry
    for k in range(fast.members):
        member = fast.member + k
        if member.value == PARAMETER_VALUE or member.value == FLAGS_VALUE or member.value == EXTRA_VALUE:
            break
        text = record.value[member.at]
        if member.value == CLIENT_VALUE:
            list = record.value[fast.step_of[FORWARDED_FOR]]
            if fast.step_of[CLIENT] < 0:
                text = text_of(NULL, 0)
            if next_address(&list, &address):
                text = address
        if text.at == NULL:
            continue
        run.seen |= member.bit
        column = next_value(batch, member.column)
        dst = column.data.data + column.data.size
        if member.value == COPIED or member.value == CLIENT_VALUE:
            if is_of_numbers(member.column):
                add_number(column, text)
            else:
                end_text(column, copy_blocks(text.at, text.n, dst))
        elif member.value == TIME_VALUE:
            end_text(column, put_fast_time(fast.time, text, dst))
        elif member.value == PATH_VALUE:
            if record.plain or record.decoded:
                end_text(column, copy_blocks(text.at, text.n, dst))
            else:
                end_text(column, put_decoded(w, &PLAIN_LINE, text, False, RAW, dst))
        elif member.value == QUERY_VALUE:
            if record.usual and w.names == NULL:
                add_fast_query(w, run, text, batch)
            else:
                entry.text[QUERY], entry.plain = text, True
                add_query(w, &entry, batch)
            end_value(column, batch.column[PARAMETER].rows, True)
        elif member.value == SECONDS_VALUE:
            add_seconds(column, text, fast.plan.duration_unit)
        elif member.value == MASKED_VALUE:
            end_text(column, put_masked(w, &PLAIN_LINE, text, member.at != TARGET_AT or record.value[PATH_AT].at == NULL, RAW, dst))
        else:
            add_addresses(w, &PLAIN_LINE, text, batch)
    if fast.extras:
        column = batch.column + EXTRA_VALUE_COLUMN
        for k in range(fast.extras):
            extra = fast.extra + k
            text = record.value[extra.at]
            if text.at == NULL:
                continue
            end_text(batch.column + EXTRA_NAME, add_copy(batch.column + EXTRA_NAME, extra.name))
            if w.names != NULL or extra.at == <int>fast.steps:
                end_text(column, put_masked(w, &OTHER_LINE, text, True, RAW, column.data.data + column.data.size))
            else:
                end_text(column, add_copy(column, text))
        column = next_value(batch, EXTRA_LIST)
        end_value(column, batch.column[EXTRA_NAME].rows, batch.column[EXTRA_NAME].rows > last_end(column))
    for k in range(w.params):
        add_parameter(w, &PLAIN_LINE, record.value[QUERY_AT] if fast.has_request else text_of(NULL, 0),
                      next_value(batch, COLUMNS_OF_BATCH + <int>k), w.param + k)
    if w.flags:
        next_value(batch, FLAG_LIST)
        add_flags(flags_of_record(w, record) if fast.has_request else 0, batch)
    batch.rows += 1


cdef inline size_t last_end(const Column *column) noexcept nogil:
    cdef int32_t end
    memcpy(&end, column.ends.data + 4 * column.rows, 4)
    return <size_t>end


cdef bint write_fast_rows(LogReader reader, FastRun *run, Batch *batch, bint *full, size_t *lines) noexcept nogil:
    """Write the rows of lines from run.start on, up to the first that is declined. False: out of memory."""
    cdef FastRecord record
    cdef size_t first = run.start
    while not full[0] and run.start < run.n and read_fast(&reader.fast, run, &record):
        if record.next > batch.reserved_to and not reserve_window(
                &reader.writer, run, record.plan.names_n, record.plan.extras, batch):
            return False  # pragma: no cover: no memory
        add_fast_row(&reader.writer, run, &record, batch)
        run.start = record.next
        lines[0] += 1
        reader.fast_records += 1
        batch.most += 3 * (record.end - first) + 96 + record.plan.names_n
        full[0] = batch.rows == BATCH_ROWS or batch.most > BATCH_BYTES and is_full(batch)
        first = run.start
    return True


cdef bint write_json_rows(LogReader reader, FastRun *run, Entry *entry, Batch *batch, bint *full, size_t *lines) noexcept nogil:
    """Write the rows of lines of JSON, like write_fast_rows()."""
    cdef FastRecord record
    while not full[0] and run.start < run.n and read_fast_json(&reader.json, run, entry, &record):
        if not add_json_row(reader, run, record.next, entry, &record, batch, full):
            return False  # pragma: no cover: no memory
        run.start = record.next
        lines[0] += 1
        reader.fast_records += 1
    return True


cdef bint add_json_row(LogReader reader, const FastRun *run, size_t next, Entry *entry, FastRecord *record, Batch *batch, bint *full) noexcept nogil:
    """Add a record that read_fast_json() has read, of the line at run.start. False: out of memory."""
    cdef size_t size = next - run.start
    if not set_fast_record(&reader.json, &reader.request, entry, record):
        reader.read_rest(entry)
        return add_entry(reader, entry, size, batch, full)
    # The names of the other extra fields are in the line.
    if next > batch.reserved_to and not reserve_window(
            &reader.writer, run, record.plan.names_n, reader.json.plan.extras, batch):
        return False  # pragma: no cover: no memory
    add_fast_row(&reader.writer, &reader.request, record, batch)
    batch.most += 3 * size + 96 + record.plan.names_n
    full[0] = batch.rows == BATCH_ROWS or batch.most > BATCH_BYTES and is_full(batch)
    return True


cdef bint write_docker_rows(LogReader reader, FastRun *run, Entry *entry, Batch *batch, bint *full, size_t *lines) noexcept nogil:
    """Write the rows of lines of Docker's json-file driver, like write_fast_rows()."""
    cdef FastRecord record
    cdef FastRun outer, inner
    cdef size_t next
    reader.begin_docker(run, &outer, &inner)
    batch.reserved_to = 0
    while not full[0] and reader.read_docker(&outer, &inner, entry, &record, &next):
        if reader.has_json:
            if not add_json_row(reader, &outer, next, entry, &record, batch, full):
                return False  # pragma: no cover: no memory
        else:
            if next > batch.reserved_to and not reserve_window(
                    &reader.writer, &outer, record.plan.names_n, record.plan.extras, batch):
                return False  # pragma: no cover: no memory
            add_fast_row(&reader.writer, &inner, &record, batch)
            batch.most += 3 * (next - outer.start) + 96 + record.plan.names_n
            full[0] = batch.rows == BATCH_ROWS or batch.most > BATCH_BYTES and is_full(batch)
        outer.start = next
        lines[0] += 1
        reader.fast_records += 1
    batch.reserved_to = 0
    run.start = outer.start
    run.seen |= inner.seen
    return True


cdef bint add_entry(LogReader reader, const Entry *entry, size_t size, Batch *batch, bint *full) noexcept nogil:
    """Add the record of a line of a size that the exact reader has read. False: out of memory."""
    batch.reserved_to = 0
    batch.most += 3 * size + reader.record_extra
    if not (fill_all(&reader.writer, batch) and reserve_line(batch, size, reader.record_extra)):
        return False  # pragma: no cover: no memory
    full[0] = add_row(&reader.writer, entry, batch)
    return True


cdef bint write_columns(LogReader reader, const uint8_t *src, size_t n, Batch *batch, size_t limit, Found *found,
                        size_t *counts) noexcept nogil:
    """Write columns, as LogReader.write() writes records. False: out of memory."""
    cdef size_t start = 0, size, lines = 0, invalid = 0
    cdef Entry entry
    cdef Line line
    cdef bint full = False
    cdef int k
    cdef FastRun run
    for k in range(batch.count):
        # What the last batch needed, which most often has as many lines.
        if not (reserve(&batch.column[k].ends, min(reader.last_rows[k], n) + 4 if k < HINTS else 4)
                and reserve(&batch.column[k].data, min(reader.last_data[k], n) if k < HINTS else 0)):
            return False  # pragma: no cover: no memory
        memset(batch.column[k].ends.data, 0, 4)
    batch.rows = batch.most = batch.reserved_to = 0
    reader.begin_run(&run, src, n)
    while start < n and invalid < limit and not full:
        if (reader.has_fast or reader.has_json) and not reader.first:
            run.start = start
            if not (write_json_rows(reader, &run, &entry, batch, &full, &lines) if reader.has_json else
                    write_fast_rows(reader, &run, batch, &full, &lines)):
                return False  # pragma: no cover: no memory
            if not full and n - run.start > 8 and memcmp(src + run.start, b'{"log":"', 8) == 0:
                if not write_docker_rows(reader, &run, &entry, batch, &full, &lines):
                    return False  # pragma: no cover: no memory
            start = run.start
            if start == n or full:
                break
        size = line_size(src, start, n)
        line = reader.read(src, start, size, &entry)
        if line == RECORD:
            if not add_entry(reader, &entry, size, batch, &full):
                return False  # pragma: no cover: no memory
        elif line == NO_RECORD:
            note(reader, &entry, lines, start, size, found + invalid)
            invalid += 1
        lines += 1
        start = next_line(src, start + size, n)
    reader.end_run(&run)
    counts[0], counts[1], counts[2], counts[3], counts[4] = start, 0, lines, batch.rows, invalid
    return fill_all(&reader.writer, batch)


cdef object bytes_of(Buffer *buffer):
    """Return the contents of a buffer, which is empty after that."""
    if buffer.bytes == NULL:
        return b""
    if _PyBytes_Resize(&buffer.bytes, <Py_ssize_t>buffer.size) < 0:
        raise_set()  # pragma: no cover: no memory
    result = <object>buffer.bytes
    Py_CLEAR(buffer.bytes)
    return result


cdef void finish(Column *column, bint of_rows) noexcept:
    """Set the sizes of the buffers, and clear the bits after the last row."""
    column.ends.size = 4 * (column.rows + 1)
    column.valid.size = (column.rows + 7) // 8 if of_rows else 0
    if column.valid.size and column.rows % 8:
        column.valid.data[column.rows // 8] &= 0xFF >> (8 - column.rows % 8)


def convert_columns(LogReader reader not None, src, limit=FAULTS):
    """Convert lines of a log to columns.

    Args:
        reader (LogReader): The reader of the lines; its output format is ignored.
        src (bytes-like): The lines; the last one may lack its terminator, "\\n" or "\\r\\n".
        limit (int): The number of invalid lines after which to stop, at most 1024.

    Returns:
        tuple[Lines, list[tuple[int, bytes, bytes, bytes]]]: The outcome, and the columns. A column is the number of
            rows, a validity bitmap (lowest bit first), end offsets (int32, after an initial 0), and the bytes of texts,
            or int64, or doubles. There is a column for each of NAMES; then the names and the values of the parameters (to
            which the offsets of the query refer), the addresses, the names and the values of the extra fields; then flags
            as a list, and their texts; then those parameters that have a column of their own. If not all was read, the
            batch is full: call again with src[read:].

    Raises:
        MemoryError: If a column cannot grow.

    Source: Arrow columnar format, variable-size binary and list layouts.

    >>> from uricodec.logs import Format
    >>> from uricodec.logs._records import LogReader
    >>> found, columns = convert_columns(LogReader(Format("common").programs), b'192.0.2.1 - - [-] "GET / HTTP/1.1" 200 5')
    >>> rows, there, ends, octets = columns[0]
    >>> rows, there, octets
    (1, b'\\x01', b'192.0.2.1')
    """
    cdef Py_buffer source
    cdef Found found[FAULTS]
    cdef size_t counts[5]
    cdef Batch batch
    cdef bint done
    cdef int k
    cdef list columns = []
    cdef size_t most = min(limit, FAULTS)
    batch.count = COLUMNS_OF_BATCH + <int>reader.writer.params
    batch.column = <Column *>PyMem_Calloc(batch.count, sizeof(Column))
    if batch.column == NULL:
        raise MemoryError  # pragma: no cover: no memory
    try:
        PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
    except:
        PyMem_Free(batch.column)
        raise
    try:
        reader.reserve(<size_t>source.len)
        with nogil:
            done = write_columns(reader, <const uint8_t *>source.buf, <size_t>source.len, &batch, most, found, counts)
        if not done:
            raise MemoryError  # pragma: no cover: no memory
        for k in range(batch.count):
            finish(batch.column + k, is_of_rows(&reader.writer, k))
            if k < HINTS:
                reader.last_rows[k], reader.last_data[k] = batch.column[k].ends.cap, batch.column[k].data.cap
            columns.append((<Py_ssize_t>batch.column[k].rows, bytes_of(&batch.column[k].valid),
                            bytes_of(&batch.column[k].ends), bytes_of(&batch.column[k].data)))
        return lines_of(reader, found, counts), columns
    finally:
        PyBuffer_Release(&source)
        for k in range(batch.count):
            Py_CLEAR(batch.column[k].data.bytes)
            Py_CLEAR(batch.column[k].ends.bytes)
            Py_CLEAR(batch.column[k].valid.bytes)
        PyMem_Free(batch.column)
