"""Log lines to columns in the Arrow layout: values one after the other, their end offsets, and a validity bitmap.

This module depends on no Arrow library. Each column has a buffer of its own, which is grown before each line so that
the stores for that line are in bounds.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from uricodec.logs._fields cimport *
from uricodec.logs._programs cimport *
from uricodec.logs._records cimport *
from uricodec.logs._texts cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_RawFree, PyMem_RawRealloc


cdef enum:
    BATCH_ROWS = 65536                  # the most rows of a batch
    BATCH_BYTES = 64 * 1024 * 1024      # a batch is also full when a column has more bytes than this

# A buffer that grows.
cdef struct Buffer:
    uint8_t *data
    size_t size
    size_t cap

# The values of a column. A text column uses all buffers; a list only ends and valid; a number only data (8 bytes) and
# valid.
cdef struct Column:
    Buffer data
    Buffer ends
    Buffer valid                # one bit a row
    size_t rows

# The columns: those of NAMES, the values of their lists, the flags, and the parameters that have a column of their own.
cdef enum:
    VHOST_COLUMN = 12, DURATION_COLUMN, ADDRESS_LIST, EXTRA_LIST
    PARAMETER, VALUE, ADDRESS, EXTRA_NAME, EXTRA_VALUE, FLAG_LIST, FLAG_TEXT
    COLUMNS_OF_BATCH

cdef struct Batch:
    Column *column          # COLUMNS_OF_BATCH, and one for each parameter
    int count

# The order of NAMES.
cdef int ORDER[13]
ORDER = [CLIENT, USER, TIME, METHOD, TARGET, PATH, QUERY, PROTOCOL, STATUS, BYTES_SENT, REFERER, USER_AGENT, VHOST]


cdef bint reserve(Buffer *buffer, size_t more) noexcept nogil:
    """Ensure capacity for `more` bytes. False: out of memory."""
    cdef size_t cap = 2 * buffer.cap
    cdef uint8_t *larger
    if buffer.cap - buffer.size >= more:
        return True
    if cap < buffer.size + more:
        cap = buffer.size + more
    if cap < 4096:
        cap = 4096
    larger = <uint8_t *>PyMem_RawRealloc(buffer.data, cap)
    if larger == NULL:
        return False  # pragma: no cover: no memory
    buffer.data, buffer.cap = larger, cap
    return True


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
                and reserve(&column.ends, 4 * (rows + 1)) and reserve(&column.valid, 1)):
            return False  # pragma: no cover: no memory
    return True


cdef inline void end_value(Column *column, size_t end, bint valid) noexcept nogil:
    """Record the end of the value of the next row, and whether it is valid (not null)."""
    cdef int32_t place = <int32_t>end
    if column.rows % 8 == 0:
        column.valid.data[column.rows // 8] = 0
        column.valid.size = column.rows // 8 + 1
    column.valid.data[column.rows // 8] |= valid << column.rows % 8
    memcpy(column.ends.data + column.ends.size, &place, 4)
    column.ends.size += 4
    column.rows += 1


cdef inline void end_text(Column *column, uint8_t *end) noexcept nogil:
    """Record the end of a text in a list. Such texts are never null."""
    cdef int32_t place = <int32_t>(end - column.data.data)
    column.data.size = end - column.data.data
    memcpy(column.ends.data + column.ends.size, &place, 4)
    column.ends.size += 4
    column.rows += 1


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


cdef void add_seconds(Column *column, const Entry *entry) noexcept nogil:
    """Add the duration as a double. It is the nearest one if the number has at most 15 digits."""
    cdef uint8_t digits[128]
    cdef size_t n = 0, i, fraction = 0
    cdef double value = 0, scale = 1
    cdef bint after = False
    if entry.text[DURATION].at != NULL:
        n = put_seconds(entry.text[DURATION], entry.unit, digits)
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
    end_value(column, 0, entry.text[DURATION].at != NULL)


cdef void add_addresses(const Writer *w, const Entry *entry, Batch *batch) noexcept nogil:
    cdef Text list = entry.text[FORWARDED_FOR], address
    cdef Column *column = batch.column + ADDRESS
    cdef size_t before = column.rows
    while next_address(&list, &address):
        end_text(column, put_text(w, entry, address, RAW, column.data.data + column.data.size))
    end_value(batch.column + ADDRESS_LIST, column.rows, column.rows > before)


cdef void add_extra_fields(const Writer *w, const Entry *entry, Batch *batch) noexcept nogil:
    cdef Column *name = batch.column + EXTRA_NAME
    cdef Column *value = batch.column + EXTRA_VALUE
    cdef size_t k
    for k in range(entry.extras):
        if entry.text[MEMBERS + k].at != NULL:
            end_text(name, put_any(w, entry.name[k].at, entry.name[k].n, RAW, name.data.data + name.data.size))
            end_text(value, put_masked(w, entry, entry.text[MEMBERS + k], True, RAW, value.data.data + value.data.size))
    end_value(batch.column + EXTRA_LIST, name.rows, has_extra(entry))


cdef void add_parameter(const Writer *w, const Entry *entry, Column *column, const Text *name) noexcept nogil:
    cdef bint masked = False
    cdef Text text = parameter_of(w, entry.text[QUERY], name, &masked)
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
    cdef bint full = False
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
    add_seconds(batch.column + DURATION_COLUMN, entry)
    add_addresses(w, entry, batch)
    add_extra_fields(w, entry, batch)
    for k in range(<int>w.params):
        add_parameter(w, entry, batch.column + COLUMNS_OF_BATCH + k, w.param + k)
    if w.flags:
        add_flags(flags_of_entry(w, entry), batch)
    for k in range(batch.count):
        full = full or batch.column[k].data.size > BATCH_BYTES
    return full or batch.column[0].rows == BATCH_ROWS


cdef bint write_columns(LogReader reader, const uint8_t *src, size_t n, Batch *batch, size_t limit, Found *found,
                        size_t *counts) noexcept nogil:
    """Write columns, as LogReader.write() writes records. False: out of memory."""
    cdef size_t start = 0, size, lines = 0, invalid = 0
    cdef Entry entry
    cdef Line line
    cdef bint full = False
    cdef int k
    for k in range(batch.count):
        if not reserve(&batch.column[k].ends, 4):
            return False  # pragma: no cover: no memory
        memset(batch.column[k].ends.data, 0, 4)
        batch.column[k].ends.size = 4
    while start < n and invalid < limit and not full:
        size = line_size(src, start, n)
        line = reader.read(src, start, size, &entry)
        if line == RECORD:
            if not reserve_line(batch, size, reader.record_extra):
                return False  # pragma: no cover: no memory
            full = add_row(&reader.writer, &entry, batch)
        elif line == NO_RECORD:
            note(reader, &entry, lines, start, size, found + invalid)
            invalid += 1
        lines += 1
        start = next_line(src, start + size, n)
    counts[0], counts[1], counts[2], counts[3], counts[4] = start, 0, lines, batch.column[0].rows, invalid
    return True


cdef bytes bytes_of(const Buffer *buffer):
    return PyBytes_FromStringAndSize(<const char *>buffer.data, <Py_ssize_t>buffer.size)


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
            columns.append((<Py_ssize_t>batch.column[k].rows, bytes_of(&batch.column[k].valid),
                            bytes_of(&batch.column[k].ends), bytes_of(&batch.column[k].data)))
        return lines_of(reader, found, counts), columns
    finally:
        PyBuffer_Release(&source)
        for k in range(batch.count):
            PyMem_RawFree(batch.column[k].data.data)
            PyMem_RawFree(batch.column[k].ends.data)
            PyMem_RawFree(batch.column[k].valid.data)
        PyMem_Free(batch.column)
