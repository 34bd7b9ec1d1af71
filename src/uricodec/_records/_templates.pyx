"""Lines made of values: the text of a template, or a record of CSV, TSV or JSON.

A template is text with values between. An operation reads the values from a line, each once:

    line          7 TAB a"b
    operation     FieldRows: the fields 7 and a"b
    template      {"count":  field 0, a number  ,"line":  field 1, for JSON  }
    result        {"count":7,"line":"a\\"b"}

How values are written, by all commands (`formats` has the formats): in JSON as strings of RFC 8259, as escape_json() does.
In CSV (RFC 4180) and plain text, control characters and bytes that are not UTF-8 become triplets, so that a line stays a
line. In CSV, only a value with a delimiter or a quote is in quotes, and so is an empty one, because nothing is a missing
one.
"""
cimport cython
from libc.stdint cimport uint64_t, uint8_t
from libc.string cimport memchr, memcpy

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyMem_RawCalloc, PyMem_RawFree
from uricodec._base._kernels cimport ByteSet, kernels, uc_set
from uricodec._base._text cimport sequence_at
from uricodec._codec._percent cimport write_triplet
from uricodec._records._framing cimport escape_json
from uricodec._rows._engine cimport *


# --- values -----------------------------------------------------------------------------------------------------------

cdef enum Form:
    NUMBER, TEXT, CSV_CELL, JSON_STRING

cdef list FORM_NAMES = ["number", "text", "csv", "jsonl"]
cdef size_t[4] FACTORS = [1, 3, 3, 6]       # how many bytes a byte of a value may become

cdef ByteSet PLAIN = ByteSet(range(0x20, 0x7F))

# The bytes of values of CSV,
cdef struct CsvSets:
    uc_set unquoted     # that need no quotes, and
    uc_set plain        # no triplets, either: most values consist of these, and one look is enough for them


cdef int set_csv(CsvSets *csv, bytes delimiter) except -1:
    cdef ByteSet unquoted = ~ByteSet(b'"' + delimiter)
    cdef ByteSet plain = PLAIN & unquoted
    csv.unquoted, csv.plain = unquoted.set, plain.set
    return 0


cdef size_t put_text(const uint8_t *src, size_t n, bint quoted, uint8_t *dst) noexcept nogil:
    """Write text, at most 3 n bytes; if it is `quoted`, its quotes are doubled. Return the size."""
    cdef size_t i = 0, o = 0, size
    cdef int length
    while True:
        size = kernels.span(src + i, n - i, &PLAIN.set)
        memcpy(dst + o, src + i, size)
        if quoted and memchr(src + i, c'"', size) != NULL:
            size = 0
            while src[i] != c'"':
                dst[o] = src[i]
                i += 1
                o += 1
            dst[o] = dst[o + 1] = c'"'
            i += 1
            o += 2
            continue
        i += size
        o += size
        if i == n:
            return o
        length = sequence_at(src + i, n - i)
        if length > 1 and not (src[i] == 0xC2 and src[i + 1] < 0xA0):   # not U+0080-009F
            memcpy(dst + o, src + i, length)
            o += length
            i += length
        else:
            for _ in range(max(length, 1)):
                o += write_triplet(src[i], dst + o)
                i += 1


cdef size_t put_value(const uint8_t *src, size_t n, Form form, const CsvSets *csv, uint8_t *dst) noexcept nogil:
    """Write a value, at most 6 n + 2 bytes. Return the size."""
    cdef size_t size
    if form == NUMBER:
        memcpy(dst, src, n)
        return n
    if form == JSON_STRING:
        return escape_json(src, n, dst)
    if form == CSV_CELL and n and kernels.span(src, n, &csv.plain) == n:
        memcpy(dst, src, n)
        return n
    if form == TEXT or n and kernels.span(src, n, &csv.unquoted) == n:
        return put_text(src, n, False, dst)
    size = put_text(src, n, True, dst + 1)
    dst[0] = dst[size + 1] = c'"'
    return size + 2


def cell(bytes value not None, str form not None, bytes delimiter not None=b","):
    r"""Return a value as it is written in "text", "csv" or "jsonl"; `delimiter` is that of CSV.

    >>> cell(b'a "b"\n', "text"), cell(b'a "b"\n', "csv"), cell(b'a "b"\n', "jsonl")
    (b'a "b"%0A', b'"a ""b""%0A"', b'"a \\"b\\"\\n"')
    """
    cdef bytes made = PyBytes_FromStringAndSize(NULL, 6 * len(value) + 2)
    cdef CsvSets csv
    cdef size_t size
    set_csv(&csv, delimiter)
    size = put_value(<const uint8_t *>PyBytes_AS_STRING(value), <size_t>len(value), <Form><int>FORM_NAMES.index(form),
                     &csv, <uint8_t *>PyBytes_AS_STRING(made))
    return made[:<Py_ssize_t>size]


# --- fields between tabs ----------------------------------------------------------------------------------------------

cdef size_t fields_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Find the fields of a line; the last one is the rest of it."""
    cdef Component *fields = <Component *>dst
    cdef size_t i, start = 0, end, count = (<const size_t *>options)[0]
    cdef const uint8_t *tab
    for i in range(count):
        tab = <const uint8_t *>memchr(src + start, c'\t', n - start) if i + 1 < count else NULL
        end = n if tab == NULL else tab - src
        set_field(fields + i, <Py_ssize_t>start, <Py_ssize_t>end)
        start = min(end + 1, n)
    return count * sizeof(Component)


@cython.final
cdef class FieldRows(RowOperation):
    """Operation that finds the fields of a line, between tabs.

    Args:
        count (int): How many.
    """
    cdef size_t count

    def __cinit__(self, size_t count):
        self.count = count
        self.slots.strict, self.slots.block = SizedRow(fields_row, 0, count * sizeof(Component)), NULL
        self.slots.options, self.slots.result = &self.count, WRITES_COMPONENTS


# --- templates --------------------------------------------------------------------------------------------------------

# Text, or one of the values of a reader: an operation that reads one, several components, or a list from the line.
cdef struct Piece:
    const uint8_t *text         # NULL: a value
    size_t size
    size_t reader
    size_t value                # its number
    Form form

cdef struct Template:
    const Slots *readers[MOST_FIELDS]
    size_t reader_count
    Piece *pieces
    size_t piece_count
    CsvSets csv
    size_t factor               # of what the pieces write for a line of n bytes: factor * n + extra
    size_t extra


cdef inline row_function row_of(const Slots *reader) noexcept nogil:
    return reader.strict.row if reader.keep == NULL else reader.keep


cdef const uint8_t *find_value(const Piece *piece, const Slots *reader, const uint8_t *src, const uint8_t *made,
                               size_t *size) noexcept nogil:
    """Return the value of a piece, in the line or in what its reader has made, of size[0] bytes; NULL if it has none."""
    cdef const Component *field
    cdef size_t _
    if reader.result == WRITES_BYTES:
        return made
    if reader.result == WRITES_ITEMS:
        if piece.value >= item_count(made):
            return NULL
        made += sizeof(uint64_t)
        size[0] = next_text(&made)
        for _ in range(piece.value):
            made += size[0]
            size[0] = next_text(&made)
        return made
    field = <const Component *>made + piece.value
    if field.start < 0:
        return NULL
    size[0] = <size_t>(field.end - field.start)
    return (src if reader.result == WRITES_COMPONENTS else made) + field.start


cdef size_t template_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write the pieces. What the readers make is behind the capacity for that."""
    cdef const Template *template = <const Template *>options
    cdef const Slots *reader
    cdef const Piece *piece
    cdef const uint8_t *value
    cdef const uint8_t *made[MOST_FIELDS]
    cdef size_t sizes[MOST_FIELDS]
    cdef uint8_t *start = dst
    cdef uint8_t *at = dst + template.factor * n + template.extra
    cdef size_t i, size
    if n == 0:
        return 0
    at += -<size_t>at & 7
    for i in range(template.reader_count):
        reader = template.readers[i]
        made[i] = at
        sizes[i] = row_of(reader)(src, n, reader.options, at, outcome)
        if sizes[i] == UC_REJECTED:
            if outcome.code == UC_RAISED:
                return UC_REJECTED
            made[i] = NULL      # the line has none of these values
        at += padded(reader.strict.factor * n + reader.strict.extra)
    for i in range(template.piece_count):
        piece = &template.pieces[i]
        if piece.text != NULL:
            memcpy(dst, piece.text, piece.size)
            dst += piece.size
        elif made[piece.reader] != NULL:
            size = sizes[piece.reader]
            value = find_value(piece, template.readers[piece.reader], src, made[piece.reader], &size)
            if value != NULL:
                dst += put_value(value, size, piece.form, &template.csv, dst)
    return <size_t>(dst - start)


cdef list with_texts_joined(list pieces):
    """Return the pieces of a template, of which no two texts follow each other, and none is empty."""
    cdef list joined = []
    cdef bytes text = b""
    for each in [*pieces, None]:
        if isinstance(each, bytes):
            text += each
            continue
        joined += [text] if text else []
        joined += [each] if each is not None else []
        text = b""
    return joined


@cython.final
cdef class TemplateRows(RowOperation):
    """Operation that writes what a template makes of a line. An empty line stays one.

    Args:
        pieces (list[bytes | tuple[RowOperation, int, str]]): Text, or a value: the operation that reads it from the line,
            the number of the value among those that it reads, from 0, and how it is written: "number", "text", "csv" or
            "jsonl". A value that a line lacks is not written.
        delimiter (bytes): The byte between values of CSV.

    >>> from uricodec._rows._tasks import transform_lines
    >>> fields = FieldRows(2)
    >>> rows = TemplateRows([b'[', (fields, 0, "number"), b",", (fields, 1, "jsonl"), b"]"])
    >>> buffer = bytearray(rows.capacity(6))
    >>> bytes(buffer[:transform_lines(b'7\\ta"b\\n', buffer, rows)[1].written])
    b'[7,"a\\\\"b"]\\n'
    """
    cdef Template template
    cdef list held

    def __cinit__(self, list pieces not None, bytes delimiter not None=b","):
        cdef Template *template = &self.template
        cdef RowOperation rows
        cdef const Slots *reader
        cdef Piece *piece
        cdef size_t most
        cdef list operations = []
        pieces = with_texts_joined(pieces)
        for each in pieces:
            if not isinstance(each, bytes) and each[0] not in operations:
                operations.append(each[0])
        if len(operations) > MOST_FIELDS:
            raise ValueError(f"expected at most {MOST_FIELDS} operations, got {len(operations)}")
        self.held = [pieces, operations]
        set_csv(&template.csv, delimiter)
        template.pieces = <Piece *>PyMem_RawCalloc(max(len(pieces), 1), sizeof(Piece))
        if template.pieces == NULL:
            raise MemoryError  # pragma: no cover: no memory
        template.reader_count, template.piece_count = <size_t>len(operations), <size_t>len(pieces)
        self.slots.strict, self.slots.block = SizedRow(template_row, 0, 8), NULL
        for i, rows in enumerate(operations):
            template.readers[i] = reader = &rows.slots
            self.slots.strict.factor += reader.strict.factor
            self.slots.strict.extra += padded(reader.strict.extra) + 8
        for i, each in enumerate(pieces):
            piece = &template.pieces[i]
            if isinstance(each, bytes):
                piece.text, piece.size = <const uint8_t *>PyBytes_AS_STRING(each), <size_t>len(each)
                template.extra += piece.size
                continue
            piece.reader, piece.value = <size_t>operations.index(each[0]), <size_t>each[1]
            piece.form = <Form><int>FORM_NAMES.index(each[2])
            reader = template.readers[piece.reader]
            most = FACTORS[<int>piece.form]
            template.factor += most * (1 if reader.result == WRITES_COMPONENTS else reader.strict.factor)
            template.extra += most * reader.strict.extra + 2
        self.slots.strict.factor += template.factor
        self.slots.strict.extra += template.extra
        self.slots.options = template

    def __dealloc__(self):
        PyMem_RawFree(self.template.pieces)
