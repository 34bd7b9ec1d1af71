"""Log lines to records, as JSON lines (RFC 8259) or CSV (RFC 4180).

A record is always one line, whatever the log contains. Most lines are read by marks (`_text_reader`, `_json_reader`). The
others are read step by step (`_programs`), which also finds out what is wrong with a line that is no record. Both fill a
`Record`, which `_writing` writes, and `_columns`.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._cpython cimport *
from uricodec._codec._charsets cimport CHARSET_FACTOR, Charset
from uricodec._codec._triplets cimport KEEP as KEEP_BYTES
from uricodec._codec._triplets cimport REPLACE as REPLACE_BYTES
from uricodec._records._framing cimport json_string
from uricodec._url._queries cimport set_names
from uricodec._records.formats import FORMATS
from uricodec._rows._engine cimport RowOperation, padded
from uricodec._rows._tasks import LineFault
from uricodec._url._shapes cimport SHAPE_EXTRA, SHAPE_FACTOR
from uricodec.logs._fields cimport *
from uricodec.logs._filters cimport set_condition
from uricodec.logs import _groups
from uricodec.logs._json_reader cimport free_json_reader, read_json_line, set_json_reader
from uricodec.logs._line cimport *
from uricodec.logs._programs cimport *
from uricodec.logs._text_reader cimport free_text_reader, read_text_line, read_w3c_line, set_text_reader
from uricodec.logs._texts cimport *
from uricodec.logs._wrapping cimport *
from uricodec.logs._writing cimport free_variant, keeps, put_record, set_variant

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from collections import namedtuple
from collections.abc import Iterable

cimport cython


# --- records ----------------------------------------------------------------------------------------------------------

# The fields of a record, in their order; their slots, and how their values are written.
NAMES = ("client", "user", "time", "method", "target", "path", "query", "protocol", "status", "bytes_sent", "referer",
         "user_agent", "vhost", "duration", "forwarded_for", "extra")
cdef int SLOT_OF[16]
SLOT_OF = [CLIENT, USER, TIME, METHOD, TARGET, PATH, QUERY, PROTOCOL, STATUS, BYTES_SENT, REFERER, USER_AGENT, VHOST, DURATION,
           FORWARDED_FOR, -1]
cdef ValueKind KIND_OF[16]
KIND_OF = [COPIED, COPIED, TIME_VALUE, COPIED, COPIED, PATH_VALUE, QUERY_VALUE, COPIED, COPIED, COPIED, COPIED, COPIED, COPIED,
           SECONDS_VALUE, ADDRESSES_VALUE, EXTRAS_VALUE]

# How the values of groups are written, by their parts.
cdef dict KIND_OF_PART = {"period": PERIOD_VALUE, "class": CLASS_VALUE, "network": NETWORK_VALUE, "segments": SEGMENTS_VALUE,
                          "shape": SHAPE_VALUE, "host": ROW_VALUE, "domain": ROW_VALUE}


# --- lines ------------------------------------------------------------------------------------------------------------

cdef enum:
    FACTOR = 24, RECORD_EXTRA = 1024        # the largest size of a record without groups, given that of its line

# Default of the longest valid line, in bytes without its terminator.
MAX_LINE = 16 * 1024 * 1024

# The largest max_line: longer lines could overflow the 32-bit offsets of columns.
cdef size_t MOST = 1 << 28

# The most fields that can be chosen.
cdef enum:
    MOST_FIELDS = 256

# The names of the errors, and of the members in the order of the slots. Those of other errors are names of fields.
cdef tuple CODE_NAMES = ("", "empty", "json", "fields", "format", "too-long")
cdef tuple SLOT_NAMES = ("client", "user", "time", "time", "request", "method", "target", "path", "query", "protocol", "status",
                         "bytes_sent", "referer", "user_agent", "vhost", "duration", "forwarded_for")

# Fields that hardly any log lacks, and their slots.
IMPORTANT = ("time", "method", "target", "status")
cdef int IMPORTANT_SLOTS[4]
IMPORTANT_SLOTS = [TIME, METHOD, TARGET, STATUS]
Lines = namedtuple("Lines", ["read", "written", "lines", "records", "dropped", "invalid", "others"], module="uricodec.logs")
Lines.__doc__ = (
    "The bytes read and written; the number of lines, of records, and of those that did not meet the conditions; the invalid "
    "lines as LineFaults, whose numbers count from the first line; how many others there are, by code."
)


cdef str code_name(LogReader reader, const Found *found):
    cdef int slot = found.code - FIELD
    if slot < 0:
        return CODE_NAMES[found.code]
    return SLOT_NAMES[slot] if slot < MEMBERS else "extra." + reader.programs[found.variant].names[slot - MEMBERS]


cdef object lines_of(LogReader reader, const Found *found, const size_t *counts):
    cdef size_t i
    cdef list invalid = []
    cdef dict others = {}
    cdef Found other
    for i in range(counts[4]):
        invalid.append(LineFault(<Py_ssize_t>found[i].line, <Py_ssize_t>found[i].start,
                                 <Py_ssize_t>(found[i].start + found[i].size), code_name(reader, found + i),
                                 <Py_ssize_t>found[i].offset))
    for i in range(CODES if reader.examples else 0):
        if reader.count_of[i] > 1:
            other.code = <int>i
            code = code_name(reader, &other)
            others[code] = others.get(code, 0) + reader.count_of[i] - 1
    return Lines(<Py_ssize_t>counts[0], <Py_ssize_t>counts[1], <Py_ssize_t>counts[2], <Py_ssize_t>counts[3],
                 <Py_ssize_t>reader.dropped, invalid, others)


cdef inline size_t line_size(const uint8_t *src, size_t start, size_t n) noexcept nogil:
    """Return the size of a line without its terminator, "\n" or "\r\n"; a last line may end with "\r"."""
    cdef size_t end = find(src, start, n, c'\n')
    return end - start - (end > start and src[end - 1] == c'\r')


cdef inline size_t next_line(const uint8_t *src, size_t end, size_t n) noexcept nogil:
    """Return where the next line starts, if this one is terminated; otherwise n."""
    if end < n and src[end] == c'\r':
        end += 1
    return end + (end < n)


cdef inline size_t previous_line(const uint8_t *src, size_t end) noexcept nogil:
    """Return where the line starts before the one that starts at `end` > 0."""
    cdef size_t start = end - 1
    while start and src[start - 1] != c'\n':
        start -= 1
    return start


@cython.final
cdef class LogReader:
    """Converter of log lines to records. It remembers the fields that a log announced, so each log needs its own.

    Args:
        programs (Iterable[Program]): The variants of the format.
        to (str): The output: a format of FORMATS (without a header); "columns", or "arrow", in which times are numbers.
        fields (Sequence[str] | None): The fields of a record, see field_names(), or none. None: those of NAMES, without
            those that only other formats have in JSON.
        where (Iterable[Condition]): Conditions that all records meet which are written.
        tests (Iterable[Condition]): Conditions that have a column each, after the fields: 1 if a record meets them, or 0.
        params (Iterable[str]): Query parameters that have a field of their own.
        client (str): "peer", or "forwarded": the first address of X-Forwarded-For, if there is one.
        mask (Iterable[str]): Query parameters whose values are hidden.
        flags (bool): Whether records have flags.
        encoding (Charset | None): How to decode texts that are not UTF-8.
        replace_invalid_utf8 (bool): Whether to replace bytes that are not UTF-8 by U+FFFD. Otherwise they become triplets.
        max_line (int): The longest valid line, in bytes without its terminator, from 1 to 2**28.
        csv_safe (bool): Whether to put an apostrophe before each CSV cell that a spreadsheet may take for a formula.
        strict (int): 1: values must be what the names of the fields promise, to find out the format of a log; 2: texts in
            quotes must not contain quotes, either.
        timezone (tzinfo | None): The zone of times that have none. None: UTC.
        to_timezone (tzinfo | None): The zone in which times are written. None: that of the log.
        fast (bool): Whether lines that need no care may be read by marks, which gives the same records.

    Attributes:
        programs (list[Program]): The variants.
        to (str): The output.
        fields (tuple[str, ...]): The fields of a record.
        fast_records (int): How many records were read by marks.
        examples (bool): Whether of the invalid lines of a call, only the first one of each code is returned; the others are
            counted. Of fields of the format alone, all are.

    Raises:
        ValueError: If the output, client or a field is unknown, or max_line is
            out of range.
        TypeError: If `mask` or `params` is a str.

    >>> from uricodec.logs import Format
    >>> reader = LogReader(Format("common").programs)
    >>> record = bytearray(reader.capacity_for(100))
    >>> found = reader.convert(b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /caf%C3%A9 HTTP/1.1" 200 5', record)
    >>> print(bytes(record[:found.written]).decode(), end="")
    {"client":"192.0.2.1","user":null,"time":"2025-01-01T12:00:00+00:00",...,"path":"/café","query":null,...}
    """

    def __cinit__(self, programs, to="jsonl", *, fields=None, where=(), tests=(), params=(), client="peer", mask=(), flags=False,
                  encoding=None, replace_invalid_utf8=False, max_line=MAX_LINE, csv_safe=False, strict=0, timezone=None,
                  to_timezone=None, fast=True):
        cdef Charset charset
        cdef Program program
        if not 1 <= max_line <= MOST:
            raise ValueError(f"max_line must be from 1 to {MOST}, got {max_line}")
        if to not in FORMATS and to not in ("columns", "arrow"):
            raise ValueError(f"to must be {', '.join(map(repr, FORMATS))}, 'columns' or 'arrow', got {to!r}")
        if client not in ("peer", "forwarded"):
            raise ValueError(f"client must be 'peer' or 'forwarded', got {client!r}")
        self.programs, self._kept = list(programs), []
        self.variants = <int>len(self.programs)
        self.variant = <Variant *>PyMem_Calloc(self.variants + 1, sizeof(Variant))
        self.columns = <Columns *>PyMem_Calloc(self.variants + 1, sizeof(Columns))
        self.shared = <size_t *>PyMem_Calloc(self.variants + 1, sizeof(size_t))
        if self.variant == NULL or self.columns == NULL or self.shared == NULL:
            raise MemoryError  # pragma: no cover: no memory
        self.record_factor, self.record_extra = FACTOR, RECORD_EXTRA
        for k, item in enumerate(self.programs):
            if type(item) is not Program:
                raise TypeError(f"expected a Program, got {type(item).__name__}")
            program = item
            self.variant[k].plan = &program.plan
            self.objects += program.plan.notation == JSON_LINES
            self.shared[k] = shared_steps(self.variant[k - 1].plan, &program.plan, True) if k else 0
            self.record_extra += 6 * NAMES_CAPACITY if program.plan.columns != NULL else 0
            self.writer.members |= program.plan.members
            self.writer.own_fields |= program.plan.own_fields
            for name in program.names:
                self.record_extra += 6 * len(name.encode()) + 16
        masked = []
        for text in texts_of("mask", mask):
            if text:
                masked.append(text.encode("utf-8", "surrogateescape").lower())
        if masked:
            set_names(&self.masked, masked, False, True, self._kept)
            self.writer.masked = &self.masked
        self.to = to
        self.arrow = to == "arrow"
        if to in FORMATS:
            _, _, values, delimiter, _ = FORMATS[to]
            self.writer.csv, self.quotes, self.delimiter = values != "jsonl", values == "csv", <uint8_t>ord(delimiter)
        self.writer.csv_safe = self.writer.csv and csv_safe
        self.writer.errors = REPLACE_BYTES if replace_invalid_utf8 else KEEP_BYTES
        self.writer.forwarded = client == "forwarded"
        names = field_names(fields, params, flags) if fields is None or fields or params or flags else ()
        self.set_fields(names, fields is not None or to != "jsonl", len(tests))
        self.set_filters(list(where), list(tests))
        if encoding is not None:
            charset = encoding      # of another type, it raises TypeError
            self._kept.append(charset)
            self.writer.charset = charset.tables
        self.max_line, self.strict, self.timezone, self.zone.quarter = max_line, strict, timezone, -1 << 60
        self.zone.timezone = <PyObject *>timezone if timezone is not None else NULL
        self.to_timezone = to_timezone
        if to_timezone is not None:
            self.shown.timezone = <PyObject *>to_timezone
            self.writer.shown = &self.shown
        self.writer.zone = &self.zone
        for k in range(self.variants):
            self.variant[k].time = &self.time
            set_variant(self.variant + <int>k, self.variant[<int>k].plan, &self.writer, self._kept)
        set_text_reader(&self.text, self.variant, self.variants, self.columns, &self.writer)
        self.is_fast = fast and not strict and self.text.is_usable
        if fast and not strict and self.variants and self.variant.plan.notation == JSON_LINES:
            set_json_reader(&self.json, self.variant, &self.writer)
            self.is_fast = True
        self.begin()

    cdef int set_fields(self, tuple names, bint chosen, size_t tests) except -1:
        """Set the fields of records. Those that are not `chosen` are left out if the format does not have them.

        `tests`: how many more there may be, see set_filters().
        """
        cdef Field *field
        cdef bytes key
        self.writer.field = <Field *>PyMem_Calloc(<size_t>len(names) + tests + 1, sizeof(Field))
        if self.writer.field == NULL:
            raise MemoryError  # pragma: no cover: no memory
        fields = []
        for name in names:
            field = self.writer.field + len(fields)
            self.set_field(field, name)
            if not chosen and field.slot >= VHOST and not self.writer.members >> field.slot & 1:
                continue
            field.optional = field.kind == EXTRAS_VALUE and not (chosen or self.writer.own_fields)
            key = b'%s%s:' % (b"," if fields else b"{", json_string(name.encode("utf-8", "surrogateescape").decode(
                "utf-8", "replace").encode()))
            self._kept.append(key)
            field.key = text_of(<const uint8_t *>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key))
            fields.append(name)
            self.writer.fields = len(fields)
            self.record_extra += len(key) + TIME_SIZE
        self.fields = tuple(fields)
        return 0

    cdef int set_field(self, Field *field, str name) except -1:
        """Set what a name means."""
        cdef bytes own = b""
        cdef RowOperation rows
        group = _groups.group_of(name)
        field.slot = -1
        if name in NAMES:
            place = NAMES.index(name)
            field.kind, field.slot = KIND_OF[place], SLOT_OF[place]
        elif name == "flags":
            field.kind = FLAGS_VALUE
        elif group is not None:
            field.kind, field.slot = KIND_OF_PART[group.part], SLOT_OF[NAMES.index(group.field)]
            field.period, field.bits = group.size, group.bits
            self.record_factor += 6
            if field.kind == SHAPE_VALUE:
                self.writer.made_factor = max(self.writer.made_factor, <size_t>SHAPE_FACTOR)
                self.writer.made_extra = max(self.writer.made_extra, <size_t>SHAPE_EXTRA)
            if field.kind == ROW_VALUE:
                rows = rows_of_part(group.part)
                self._kept.append(rows)
                field.rows = &rows.slots
                self.writer.made_factor = max(self.writer.made_factor, rows.slots.strict.factor)
                self.writer.made_extra = max(self.writer.made_extra, rows.slots.strict.extra)
        else:
            field.kind = PARAMETER_VALUE if name.startswith("param.") else EXTRA_VALUE
            own = name[6:].encode("utf-8", "surrogateescape")
        if field.kind == COPIED and (field.slot == REFERER or field.slot == TARGET) and self.writer.masked != NULL:
            field.kind = MASKED_VALUE
        field.is_number = field.kind == COPIED and field.slot in (STATUS, BYTES_SENT) or field.kind == SECONDS_VALUE
        field.is_text = not field.is_number and field.kind not in (QUERY_VALUE, ADDRESSES_VALUE, EXTRAS_VALUE, FLAGS_VALUE)
        self._kept.append(own)
        field.name = text_of(<const uint8_t *>PyBytes_AS_STRING(own), PyBytes_GET_SIZE(own))
        return 0

    cdef int set_filters(self, list conditions, list tests) except -1:
        """Set the conditions, and fields for the tests."""
        cdef Filter *filter
        cdef Field *field
        cdef list each, flat = []
        for i, condition in enumerate([*conditions, *tests]):
            if i >= len(conditions):
                field = self.writer.field + self.writer.fields
                field.kind, field.slot, field.is_number, field.period = TEST_VALUE, -1, True, <size_t>len(flat)
                self.fields += (f"rate {i - len(conditions)}",)
                self.writer.fields += 1
            else:
                self.writer.filters += 1 + len(condition.others)
            each = [condition, *condition.others]
            for k, one in enumerate(each):
                flat.append((one, k + 1 < len(each)))
        self.writer.filter = <Filter *>PyMem_Calloc(len(flat) + 1, sizeof(Filter))
        if self.writer.filter == NULL:
            raise MemoryError  # pragma: no cover: no memory
        for condition, more in flat:
            filter = self.writer.filter + self.writer.all_filters
            filter.more = more
            self.set_field(&filter.field, condition.field)
            if filter.field.kind == QUERY_VALUE:    # as it was sent
                filter.field.kind = COPIED
            set_condition(filter, condition, self._kept)
            self.writer.all_filters += 1
        return 0

    def __dealloc__(self):
        cdef int k
        for k in range(self.variants if self.variant != NULL else 0):
            free_variant(self.variant + k)
        free_json_reader(&self.json)
        free_text_reader(&self.text)
        PyMem_Free(self.variant)
        PyMem_Free(self.columns)
        PyMem_Free(self.shared)
        PyMem_Free(self.writer.field)
        PyMem_Free(self.writer.filter)
        PyMem_RawFree(self.memory)

    cdef int reserve(self, size_t size) except -1:
        """Ensure the memory for reading lines, given the total size of the lines."""
        cdef size_t value = 3 + CHARSET_FACTOR if self.writer.all_filters else 0
        cdef size_t made, room = max(self.writer.made_factor, <size_t>1)      # shapes are decoded, too
        size = max(min(size, self.max_line), <size_t>4096)
        if self.memory == NULL or size > self.capacity:
            PyMem_RawFree(self.memory)
            # For a line of Docker; for undone escapes and joined targets; for decoded texts; from another encoding; for a
            # value that is compared; for a line without its colors; for one at the end of the source; for row functions.
            made = padded((6 + room + CHARSET_FACTOR + value) * size + 9 * EXTRA_CAPACITY)
            self.memory = <uint8_t *>PyMem_RawMalloc(made + self.writer.made_factor * size + self.writer.made_extra)
            if self.memory == NULL:
                raise MemoryError  # pragma: no cover: no memory
            self.capacity = size
            self.writer.room = self.memory + 4 * size + 2 * EXTRA_CAPACITY
            self.writer.wide = self.writer.room + room * size + EXTRA_CAPACITY
            self.writer.value = self.writer.wide + CHARSET_FACTOR * size + EXTRA_CAPACITY
            self.plain = (4 + room + CHARSET_FACTOR + value) * size + 7 * EXTRA_CAPACITY
            self.padded = self.plain + size + EXTRA_CAPACITY
            self.writer.made = self.memory + made
        return 0

    def capacity_for(self, size):
        """Return the capacity that a record may need.

        Args:
            size (int): The size of its line in bytes.

        Returns:
            int: Bytes.

        >>> from uricodec.logs import Format
        >>> LogReader(Format("common").programs).capacity_for(100) > 2400
        True
        """
        return self.record_factor * size + self.record_extra

    def begin(self):
        """Reset the reader for another log: forget the announced fields.

        >>> from uricodec.logs import Format
        >>> LogReader(Format("iis").programs).begin()
        """
        cdef int k
        for k in range(self.variants):
            if self.variant[k].plan.columns != NULL:
                self.columns[k] = self.variant[k].plan.columns[0]
        self.first = True

    def go_on(self, LogReader other not None):
        r"""Read the lines that follow those which another reader with the same arguments has read.

        >>> from uricodec.logs import Format
        >>> before, after = LogReader(Format("iis").programs), LogReader(Format("iis").programs)
        >>> before.convert(b"#Fields: date time cs-uri-stem\n", bytearray(2**17)).lines
        1
        >>> after.go_on(before)
        >>> after.convert(b"2025-01-01 12:00:00 /", bytearray(2**17)).records
        1
        """
        cdef int k
        for k in range(self.variants):
            self.columns[k] = other.columns[k]
            self.columns[k].known = False
        self.first = other.first

    def skip(self, src):
        r"""Remember the fields that lines announce, without reading their records.

        Args:
            src (bytes-like): Whole lines.

        >>> from uricodec.logs import Format
        >>> reader = LogReader(Format("iis").programs)
        >>> reader.skip(b"#Fields: date time cs-uri-stem\n2025-01-01 11:00:00 /\n")
        >>> reader.convert(b"2025-01-01 12:00:00 /", bytearray(2**17)).records
        1
        """
        cdef Py_buffer source
        cdef const uint8_t *s
        cdef size_t n, end, start
        cdef Record record
        cdef int k
        PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
        s, n = <const uint8_t *>source.buf, <size_t>source.len
        self.first = self.first and n == 0
        for k in range(self.variants):
            if self.variant[k].plan.columns == NULL:
                continue
            end = n
            while end:      # backwards, to the last line that begins with "#Fields:"
                start = previous_line(s, end)
                if end - start >= 8 and memcmp(s + start, b"#Fields:", 8) == 0:
                    while start and s[previous_line(s, start)] == c'#':     # the others of its header
                        start = previous_line(s, start)
                    while end < n and s[end] == c'#':
                        end = find(s, end, n, c'\n') + 1
                    while start < end:
                        clear(&record, NULL)
                        read_line(self.variant[k].plan, self.columns + k, s + start, line_size(s, start, n), &record)
                        start = find(s, start, end, c'\n') + 1
                    break
                end = start
        PyBuffer_Release(&source)

    @property
    def missing(self):
        """Those of IMPORTANT (frozenset[str]) of which no record that met the conditions so far had a value."""
        cdef int i
        missing = set(IMPORTANT) & set(self.fields)
        for i in range(4):
            if self.seen >> IMPORTANT_SLOTS[i] & 1:
                missing.discard(IMPORTANT[i])
        return frozenset(missing)

    @property
    def local_times(self):
        """Whether a time without a zone was read as one of `timezone` (bool)."""
        return bool(self.zone.used)

    @property
    def failed_variant(self):
        """The index of the program whose error the last invalid line has."""
        return self.failed

    def convert(self, src, dst, limit=FAULTS):
        r"""Write the records of lines.

        Args:
            src (bytes-like): The lines; the last one may lack its terminator, "\n" or "\r\n".
            dst (bytes-like): A writable buffer that does not overlap src.
            limit (int): The number of invalid lines after which to stop, at most 1024.

        Returns:
            Lines: The outcome. If not all was read, dst or the list of invalid lines is full: call again with src[read:].
                If nothing was read, dst must have a capacity of `capacity_for()` for the first line.

        Raises:
            MemoryError: If memory for the line cannot be allocated.

        >>> from uricodec.logs import Format
        >>> LogReader(Format("common").programs).convert(b"192.0.2.1\n", bytearray(20000)).invalid
        [LineFault(line=0, start=0, stop=9, code='client', offset=0)]
        """
        cdef Py_buffer source, target
        cdef Found found[FAULTS]
        cdef size_t counts[5]
        cdef size_t most = min(limit, FAULTS)
        PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
        try:
            self.reserve(<size_t>source.len)
            PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
            try:
                with nogil:
                    self.write(<const uint8_t *>source.buf, <size_t>source.len, <uint8_t *>target.buf, <size_t>target.len,
                               most, found, counts)
            finally:
                PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&source)
        return lines_of(self, found, counts)

    cdef void write(self, const uint8_t *src, size_t n, uint8_t *dst, size_t cap, size_t limit, Found *found,
                    size_t *counts) noexcept nogil:
        cdef size_t written = 0, lines = 0, records = 0, invalid = 0
        cdef Record *record = &self.record
        cdef Line line
        cdef bint first
        self.begin_lines(src, n)
        while self.marked.start < n and invalid < limit:
            first = self.first
            line = self.read_next()
            if line == RECORD and not record.is_dropped:
                if cap - written < self.record_factor * (record.end - self.marked.start) + self.record_extra:
                    self.first = first
                    break
                written = put_record(&self.writer, record, &self.seen, dst + written) - dst
                records += 1
            elif line == RECORD:
                self.dropped += 1
            elif line == NO_RECORD:
                invalid += note(self, lines, found + invalid)
            lines += 1
            self.marked.start = record.next
        if self.writer.csv:
            written = leave_out_quotes(dst, written, self.delimiter, not self.quotes)
        counts[0], counts[1], counts[2], counts[3], counts[4] = self.marked.start, written, lines, records, invalid

    cdef void begin_lines(self, const uint8_t *src, size_t n) noexcept nogil:
        cdef Marked *marked = &self.marked
        marked.src, marked.n, marked.max_line = src, n, self.max_line
        marked.start = marked.window = marked.window_end = 0
        marked.room = self.memory + self.capacity + EXTRA_CAPACITY
        self.record.forwarded = self.writer.forwarded
        self.dropped = 0
        memset(self.count_of, 0, sizeof(self.count_of))

    cdef Line read_next(self) noexcept nogil:
        """Read the line at marked.start."""
        if self.is_fast and not self.first and self.read_by_marks():
            self.fast_records += 1
            return RECORD
        return self.read_exactly(line_size(self.marked.src, self.marked.start, self.marked.n))

    cdef bint read_by_marks(self) noexcept nogil:
        """Read the line by its marks, perhaps in a JSON object. False: it is declined."""
        cdef Marked *marked = &self.marked
        cdef const uint8_t *s = marked.src + marked.start
        cdef size_t left = marked.n - marked.start
        if s[0] == c'{' and left > BLOCK and (is_of_docker(s, left) or self.json.known == NULL):
            if 0 < self.objects < self.variants:
                return False
            if self.find_line_in_object():
                return self.read_line_in_object()
        self.record.code = FINE
        if self.read_marked(marked):
            self.record.marked_to = marked.window_end
            return True
        # It is certain that the only format has no record in the object itself.
        return self.record.code != FINE and self.json.known != NULL and self.variants == 1 and s[0] == c'{' and (
            self.find_line_in_object() and self.read_line_in_object())

    cdef bint read_marked(self, Marked *marked) noexcept nogil:
        if self.json.known != NULL:
            return read_json_line(&self.json, marked, &self.record)
        if self.text.columns != NULL:
            return read_w3c_line(&self.text, marked, &self.record)
        return read_text_line(&self.text, marked, &self.record)

    cdef bint find_line_in_object(self) noexcept nogil:
        """Let the text of a member be the line of `inner`. False: the line has none, or it is declined."""
        cdef const uint8_t *s = self.marked.src + self.marked.start
        cdef size_t n = self.marked.n - self.marked.start, size = line_size(self.marked.src, self.marked.start, self.marked.n)
        cdef Marked *inner = &self.inner
        cdef Text text
        if n - size <= BLOCK or size > self.max_line or not text_in_object(s, size, self.memory, &text):
            return False
        self.memory[text.n] = c'\n'
        memset(self.memory + text.n + 1, 0, BLOCK + 1)
        inner.src, inner.n, inner.start, inner.window, inner.window_end = self.memory, text.n + BLOCK + 2, 0, 0, 0
        inner.max_line, inner.room = self.max_line, self.marked.room
        return True

    cdef bint read_line_in_object(self) noexcept nogil:
        """Read the line of `inner` by its marks. False: it is declined, or there are several lines."""
        cdef Record *record = &self.record
        if not self.read_marked(&self.inner) or record.next + BLOCK + 1 != self.inner.n or record.end + 1 != record.next:
            return False
        record.end = self.marked.start + line_size(self.marked.src, self.marked.start, self.marked.n)
        record.next = next_line(self.marked.src, record.end, self.marked.n)
        record.marked_to = max(record.next, min(self.marked.n, self.marked.start + WINDOW))
        return True

    cdef Line read_exactly(self, size_t size) noexcept nogil:
        """Read the line of this size step by step, which also finds what is wrong with it."""
        cdef Record *record = &self.record
        cdef size_t start = self.marked.start, n = self.marked.n
        cdef const uint8_t *s = self.marked.src + start
        cdef Line line
        record.end = start + size
        record.next = record.marked_to = next_line(self.marked.src, record.end, n)
        if n - record.end < BLOCK and size <= self.max_line:
            memcpy(self.memory + self.padded, s, size)
            s = self.memory + self.padded
        line = self.read(s, size, record)
        if line == RECORD:
            record.is_marked, record.has_triplets = False, True
            record.special = 0 if record.plain else 0xFFFFFFFF
            record.is_dropped = self.writer.filters > 0 and not (
                keeps(&self.writer, record, False) and keeps(&self.writer, record, True))
        return line

    cdef Line read(self, const uint8_t *s, size_t size, Record *record) noexcept nogil:
        """Read a line of `size` bytes. A byte order mark at the start of the log is skipped.

        What another program wrote before the line is skipped, if the line is a record then.
        """
        cdef size_t mark = 3 if self.first and size >= 3 and memcmp(s, b"\xEF\xBB\xBF", 3) == 0 else 0
        self.first = False
        record.text[<int>TIME] = text_of(NULL, 0)   # also if no format has it: the last line may have that of its prefix
        if size > self.max_line:
            fail(record, TOO_LONG, self.max_line)
            return NO_RECORD
        line = self.read_colored(s + mark, size - mark, record) if memchr(s, ESCAPE, size) != NULL else self.read_plain(
            s + mark, size - mark, record)
        record.offset += mark
        return line

    cdef Line read_colored(self, const uint8_t *s, size_t size, Record *record) noexcept nogil:
        """Read a line without its control sequences."""
        cdef uint8_t *plain = self.memory + self.plain
        cdef Line line
        memcpy(plain, s, size)
        line = self.read_plain(plain, without_colors(plain, size), record)
        if line == NO_RECORD:
            record.offset = offset_with_colors(s, size, record.offset)
        return line

    cdef Line read_plain(self, const uint8_t *s, size_t n, Record *record) noexcept nogil:
        """Read a line, perhaps one with something around it. The error is the farthest one."""
        cdef Line line = NO_RECORD
        cdef Failure farthest = Failure(FINE, 0, 0)
        cdef size_t skipped, more
        cdef int kind
        cdef bint has_prefix = False
        cdef bint object_first = self.objects < self.variants or is_of_docker(s, n)
        for kind in range(PREFIXES):
            skipped = skip_prefix(kind, s, n)
            if skipped:
                has_prefix = True
                line = self.read_variants(s + skipped, n - skipped, record)
                record.offset += skipped
                if line == NO_RECORD and record.code != EMPTY:
                    keep_farther(&farthest, record, self.failed)
                    more = self.read_after_words(s + skipped, n - skipped, record, &line)
                    skipped += more
                if line == RECORD and kind == CONSOLE and record.text[<int>TIME].at == NULL:
                    record.text[<int>TIME] = text_of(s, find(s, 0, n, c'\t'))
                self.take_time(line, s, skipped, record)
                if line != NO_RECORD or record.code == EMPTY:
                    return line
        if object_first:
            line = self.read_in_object(s, n, record)
            if line != NO_RECORD or record.code == EMPTY:
                return line
            keep_farther(&farthest, record, self.failed)
        line = self.read_variants(s, n, record)
        if line == NO_RECORD and record.offset >= farthest.offset:
            farthest = Failure(record.code, record.offset, self.failed)
        if line == NO_RECORD and not object_first:      # the error says more than what the text lacks
            line = self.read_in_object(s, n, record)
        if not has_prefix:
            self.read_without_words(s, n, record, &line)
        if line == NO_RECORD:
            record.code, record.offset, self.failed = farthest.code, farthest.offset, farthest.variant
        return line

    cdef size_t read_after_words(self, const uint8_t *s, size_t n, Record *record, Line *line) noexcept nogil:
        """Read a line after what a program may have written before it, if that is there. Return the size of this."""
        cdef int kind
        cdef size_t skipped
        if prefix_of(s, n):
            return 0
        for kind in range(WORDS):
            skipped = skip_words(kind, s, n)
            if skipped:
                line[0] = self.read_variants(s + skipped, n - skipped, record)
                if line[0] != NO_RECORD:
                    return skipped
        return 0

    cdef void read_without_words(self, const uint8_t *s, size_t n, Record *record, Line *line) noexcept nogil:
        """Read a line that is no record, or a doubtful one, after what a program may have written before it."""
        cdef Line whole = line[0]
        cdef size_t skipped
        if whole == RECORD and is_doubtful(record) or whole == NO_RECORD:
            skipped = self.read_after_words(s, n, record, line)
            if whole == RECORD and (line[0] != RECORD or skipped and is_doubtful(record)):
                line[0] = self.read_variants(s, n, record)
            else:
                self.take_time(line[0], s, skipped, record)

    cdef void take_time(self, Line line, const uint8_t *s, size_t n, Record *record) noexcept nogil:
        """Let a record without a time have that of the n bytes before its line; not to find out the format."""
        if line == RECORD and record.text[<int>TIME].at == NULL and not self.strict:
            record.text[<int>TIME] = time_before(s, n)

    cdef Line read_in_object(self, const uint8_t *s, size_t n, Record *record) noexcept nogil:
        """Read the line, perhaps with a prefix of its own, that a JSON object contains.

        An object that is a record itself is not one with a line. Without a line in it, return NO_RECORD without an error.
        """
        cdef Text inner
        cdef Line line = NO_RECORD
        cdef size_t skipped, start = text_in_object(s, n, self.memory, &inner)
        cdef int kind
        cdef bint has_prefix = False
        record.code, record.offset = FINE, 0
        if start == 0:
            return NO_RECORD
        if 0 < self.objects < self.variants:
            self.objects_only = True
            line = self.read_variants(s, n, record)
            self.objects_only = False
            if line != NO_RECORD:
                return line
        for kind in range(PREFIXES):
            skipped = skip_prefix(kind, inner.at, inner.n)
            if skipped and line == NO_RECORD:
                has_prefix = True
                line = self.read_variants(inner.at + skipped, inner.n - skipped, record)
                if line == NO_RECORD:
                    skipped += self.read_after_words(inner.at + skipped, inner.n - skipped, record, &line)
                self.take_time(line, inner.at, skipped, record)
        if line == NO_RECORD:
            line = self.read_variants(inner.at, inner.n, record)
        if not has_prefix:
            self.read_without_words(inner.at, inner.n, record, &line)
        record.offset = start
        return line

    cdef Line read_variants(self, const uint8_t *s, size_t n, Record *record) noexcept nogil:
        """Read a line in the first variant that it matches. An error is that of the variant that came farthest.

        Texts with quotes that are not escaped are read only if no variant matches without: they could be several fields.
        """
        cdef Line line = self.read_each(False, s, n, record)
        if line == NO_RECORD and record.odd_quotes and self.strict < 2:
            line = self.read_each(True, s, n, record)
        return line

    cdef Line read_each(self, bint odd_quotes, const uint8_t *s, size_t n, Record *record) noexcept nogil:
        """Read a line in the first variant that it matches. What this has in common with the one before is not read again.

        If no variant matches, record.odd_quotes says whether one would if odd quotes counted as text.
        """
        cdef int k, code = FINE, failed = 0
        cdef size_t offset = 0
        cdef const Plan *plan
        cdef bint would = False
        cdef Line line = NO_RECORD
        for k in range(self.variants):
            plan = self.variant[k].plan
            if self.objects_only and plan.notation != JSON_LINES:
                continue
            if k == 0 or self.shared[k] == 0 or record.step >= self.variant[k - 1].plan.steps:
                clear(record, self.memory + self.capacity + EXTRA_CAPACITY)
                line = read_line(plan, self.columns + k, s, n, record)
            elif record.step < self.shared[k]:
                continue
            else:
                line = self.read_again(k, s, n, record)
            if line == RECORD and not odd_quotes and record.odd_quotes > <int>(NONE_ODD if self.strict else ENDS_SURELY):
                would = True
                fail(record, FORMAT_ERROR, 0)
                line = NO_RECORD
            if line == RECORD and self.strict and not self.columns[k].announced and not (
                    self.has_usual_start(k, record) and is_whole(plan, record)):
                fail(record, FORMAT_ERROR, 0)
                line = NO_RECORD
            if line != NO_RECORD:
                record.variant = self.variant + k
                return line
            if self.strict and not self.has_usual_start(k, record):
                record.offset = 0
            if k == 0 or record.offset > offset:
                code, offset, failed = record.code, record.offset, k
        record.code, record.offset, record.odd_quotes, self.failed = code, offset, would, failed
        return NO_RECORD

    cdef bint has_usual_start(self, int k, Record *record) noexcept nogil:
        """Return whether the fields before an error have the values that their names promise."""
        cdef const Plan *plan = self.variant[k].plan
        cdef int i
        for i in range(MEMBERS):
            if record.text[i].n == 1 and record.text[i].at[0] == c'-':
                record.text[i] = text_of(NULL, 0)
        if plan.has_site and not has_usual_host(plan, record.text[<int>VHOST]):
            return False
        # Apache and nginx escape quotes: these are of two fields.
        if plan.escapes == BACKSLASHES and record.odd_quotes and record.text[<int>REQUEST].at != NULL and find_text(
                record.text[<int>REQUEST], b'" "'):
            return False
        return has_usual_values(record, JSON_LINES <= plan.notation <= LTSV_LINES, plan.notation == TEXT_LINES
                                and plan.step[0].slot == FORWARDED_FOR and not plan.members >> CLIENT & 1)

    cdef Line read_again(self, int k, const uint8_t *s, size_t n, Record *record) noexcept nogil:
        """Read a line in a variant, from the first step that differs from those of the variant before it."""
        cdef const Plan *plan = self.variant[k].plan
        cdef const Plan *before = self.variant[k - 1].plan
        cdef size_t i
        for i in range(self.shared[k], before.steps):
            record.text[before.step[i].slot] = text_of(NULL, 0)
        for i in range(plan.extras):
            record.own_name[i], record.own_key[i] = plan.name[i], text_of(NULL, 0)
            if i >= record.extras:
                record.text[MEMBERS + i] = text_of(NULL, 0)
        record.extras = plan.extras
        record.decoded = False
        return RECORD if read_steps(plan, self.shared[k], s, n, record) else NO_RECORD


# The error of an attempt to read a line.
cdef struct Failure:
    int code
    size_t offset
    int variant


cdef inline void keep_farther(Failure *kept, const Record *record, int variant) noexcept nogil:
    """Keep the error of an attempt that came farther than those before it."""
    if record.code != FINE and (kept.code == FINE or record.offset > kept.offset):
        kept[0] = Failure(record.code, record.offset, variant)


cdef bint has_usual_host(const Plan *plan, Text site) noexcept nogil:
    """Return whether the site of a line may be one; of a line that begins with the client, an address is another field."""
    if plan.step[0].kind != SITE:
        return is_usual_site(site) and (site.at == NULL or not is_address(site))
    return plan.step[0].literal[0] != c' ' or is_usual_site(site)


cdef inline bint find_text(Text text, const char *part) noexcept nogil:
    """Return whether a text has three bytes in it."""
    cdef size_t i
    for i in range(text.n - 2 if text.n > 2 else 0):
        if memcmp(text.at + i, part, 3) == 0:
            return True
    return False


cdef inline bint is_whole(const Plan *plan, const Record *record) noexcept nogil:
    """Return whether nothing follows the last field that could be a referer and an agent, which this format does not read."""
    return plan.rest < 0 or record.text[plan.rest].at == NULL or plan.members >> USER_AGENT & 1


def csv_as_text(bytes records not None, bytes delimiter not None):
    """Return records of CSV as values between delimiters, without quotes.

    >>> csv_as_text(b'"a, b",,"say ""x"" twice"', b"\\t")
    b'a, b\\t\\tsay "x" twice'
    """
    cdef bytearray made = bytearray(records)
    return bytes(memoryview(made)[:leave_out_quotes(<uint8_t *><char *>made, len(made), <uint8_t>ord(delimiter), True)])


cdef RowOperation rows_of_part(str part):
    """Return the operation that reads a part of a URL. Its modules are imported here: few logs are read for it."""
    if part == "domain":
        from uricodec._hosts._suffixes import DomainRows
        return DomainRows(True, False, None, False, False)
    from uricodec.uri._values import PartRows
    return PartRows(part, False, False)


def texts_of(str name, texts):
    """Return the texts of an argument as a list, without repetitions."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise TypeError(f"{name} must be an iterable of names, got {type(texts).__name__}")
    texts = list(texts)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{name} must be names, got {type(text).__name__}")
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise ValueError(f"invalid name {text!r} in {name}: lone surrogate") from None
    return list(dict.fromkeys(map(str.__str__, texts)))     # of subclasses of str, the texts


def field_names(fields, params, flags):
    """Return the names of the fields of records.

    Args:
        fields (Iterable[str] | None): Names of NAMES, those of groups (see `_groups`), "param.NAME" of a query parameter,
            "extra.NAME" of another field of the format, "flags". None: NAMES.
        params (Iterable[str]): Parameters whose fields follow.
        flags (bool): Whether the flags follow.

    Returns:
        tuple[str, ...]: The names, each once.

    Raises:
        ValueError: If a field is unknown, or there is none, or too many.
        TypeError: If `fields` or `params` is a str.

    >>> field_names(["status", "param.q"], ["page"], False)
    ('status', 'param.q', 'param.page')
    """
    names = list(NAMES)
    if fields is not None:
        names = texts_of("fields", fields)
        for name in names:
            if name not in NAMES and name != "flags" and not name.startswith(("param.", "extra.")) and (
                    _groups.group_of(name) is None):
                from difflib import get_close_matches
                known = *NAMES, "param.NAME", "extra.NAME", "flags", *_groups.EXAMPLES
                close = get_close_matches(name, known, 1)
                hint = f"did you mean {close[0]!r}" if close else f"the fields are {', '.join(known)}"
                raise ValueError(f"unknown field {name!r}; {hint}")
        if not 1 <= len(names) <= MOST_FIELDS:
            raise ValueError(f"fields must be from 1 to {MOST_FIELDS} names, got {len(names)}")
    more = [f"param.{name}" for name in texts_of("params", params)] + ["flags"] * bool(flags)
    return tuple(dict.fromkeys([*names, *more]))
