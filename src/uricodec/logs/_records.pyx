"""Log lines to records, as JSON lines (RFC 8259) or CSV (RFC 4180).

A record is always one line, whatever the log contains. Most lines are read and written by `_fast`, which takes only
lines that need no care; this module reads all others, and defines what the records are.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._codec._charsets cimport CHARSET_FACTOR, Charset
from uricodec._codec._triplets cimport KEEP as KEEP_BYTES
from uricodec._codec._triplets cimport REPLACE as REPLACE_BYTES
from uricodec._records._framing cimport json_string, starts_formula
from uricodec._url._queries cimport set_names
from uricodec._records.formats import FORMATS
from uricodec._rows._tasks import LineFault
from uricodec.logs._fast cimport FastRecord, FastRun, free_fast, put_fast, read_fast, set_fast, write_fast
from uricodec.logs._fast_json cimport free_fast_json, read_docker, read_fast_json, set_fast_json, set_fast_record
from uricodec.logs._fields cimport *
from uricodec.logs._filters cimport matches, matches_flags, matches_moment, set_condition
from uricodec.logs._programs cimport *
from uricodec.logs._texts cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_RawFree, PyMem_RawMalloc
from cpython.ref cimport PyObject

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

# Fields that are made from another one, for counting.
PERIODS = {"time:day": DAY, "time:hour": HOUR, "time:minute": MINUTE}
DERIVED = (*PERIODS, "status:class")


cdef Text text_in(const Writer *w, const Entry *entry, const Field *field, bint *masked) noexcept nogil:
    """Return the text of which a field is written; NULL if it is missing. `masked`: it must be hidden."""
    cdef Text list, first, port
    cdef size_t k
    masked[0] = False
    if field.kind == PARAMETER_VALUE:
        return parameter_of(w, entry.text[QUERY], &field.name, masked)
    if field.kind == EXTRA_VALUE:
        for k in range(entry.extras):
            if entry.text[MEMBERS + k].at != NULL and entry.name[k].n == field.name.n and memcmp(
                    entry.name[k].at, field.name.at, field.name.n) == 0:
                return entry.text[MEMBERS + k]
        return text_of(NULL, 0)
    if field.kind == ADDRESSES_VALUE:
        list = entry.text[FORWARDED_FOR]
        return entry.text[FORWARDED_FOR] if next_address(&list, &first, &port) else text_of(NULL, 0)
    if field.kind == CLASS_VALUE:
        return entry.text[STATUS] if entry.text[STATUS].n == 3 else text_of(NULL, 0)
    return entry.text[field.slot]


cdef uint8_t *put_value(const Writer *w, const Entry *entry, const Field *field, Text text, bint masked, Place place,
                        uint8_t *dst) noexcept nogil:
    """Write the value of a field that is a text or a number, given the text of text_in(). Nothing: it is missing."""
    cdef uint8_t time[TIME_SIZE]
    cdef size_t size
    if masked:
        return put("***", 3, dst)
    if field.kind == PARAMETER_VALUE or field.kind == PATH_VALUE and not entry.decoded:
        return put_decoded(w, entry, text, field.kind == PARAMETER_VALUE, place, dst)
    if field.kind == MASKED_VALUE:
        return put_masked(w, entry, text, field.slot != TARGET or entry.text[PATH].at == NULL, place, dst)
    if field.kind == EXTRA_VALUE:
        return put_masked(w, entry, text, True, place, dst)
    if field.kind == SECONDS_VALUE:
        return dst + put_seconds(text, entry.unit, dst)
    if field.kind == TIME_VALUE:
        size = put_time(entry, dst)
        return dst + size if size else put_text(w, entry, text, place, dst)
    if field.kind == PERIOD_VALUE:
        size = put_time(entry, time)
        return dst + period_of(time, size, field.period, dst) if size else dst
    if field.kind == CLASS_VALUE:
        return put_class(text, dst)
    return put_text(w, entry, text, place, dst)


cdef uint8_t *put_cell(const Writer *w, uint8_t *start, uint8_t *end) noexcept nogil:
    """End a CSV cell or a JSON string, whose content begins at `start`."""
    if w.csv_safe and starts_formula(start, end - start):
        memmove(start + 1, start, end - start)
        start[0] = c"'"
        end += 1
    end[0] = c'"'
    return end + 1


cdef inline uint8_t *put_quote(const Writer *w, uint8_t *dst) noexcept nogil:
    """Write the quote of a JSON string, which may be in a CSV cell."""
    return put('""', 2, dst) if w.csv else put('"', 1, dst)


cdef uint8_t *put_addresses(const Writer *w, const Entry *entry, uint8_t *dst) noexcept nogil:
    """Write the addresses of X-Forwarded-For as a JSON array."""
    cdef Text list = entry.text[FORWARDED_FOR], address, port
    cdef bint first = True
    dst = put("[", 1, dst)
    while next_address(&list, &address, &port):
        if not first:
            dst = put(",", 1, dst)
        first = False
        dst = put_quote(w, dst)
        dst = put_text(w, entry, address, STRING_IN_CELL if w.csv else STRING, dst)
        dst = put_quote(w, dst)
    return put("]", 1, dst)


cdef uint8_t *put_extra(const Writer *w, const Entry *entry, uint8_t *dst) noexcept nogil:
    """Write the extra fields that have values as a JSON object."""
    cdef Place place = STRING_IN_CELL if w.csv else STRING
    cdef size_t k
    cdef bint first = True
    dst = put("{", 1, dst)
    for k in range(entry.extras):
        if entry.text[MEMBERS + k].at == NULL:
            continue
        if k < entry.keys and not w.csv:
            memcpy(dst, entry.key[k].at + first, entry.key[k].n - first)
            dst += entry.key[k].n - first
        else:
            dst = put(",", not first, dst)
            dst = put_quote(w, dst)
            dst = put_any(w, entry.name[k].at, entry.name[k].n, place, dst)
            dst = put_quote(w, dst)
            dst = put(":", 1, dst)
            dst = put_quote(w, dst)
        first = False
        dst = put_masked(w, entry, entry.text[MEMBERS + k], True, place, dst)
        dst = put_quote(w, dst)
    return put("}", 1, dst)


cdef bint has_extra(const Entry *entry) noexcept nogil:
    """Return whether one of the extra fields has a value."""
    cdef size_t k
    for k in range(entry.extras):
        if entry.text[MEMBERS + k].at != NULL:
            return True
    return False


cdef uint8_t *put_record(const Writer *w, const Entry *entry, uint8_t *dst) noexcept nogil:
    """Write a record of at most FACTOR bytes for each byte of its line, plus `record_extra`."""
    cdef size_t k
    cdef const Field *field
    for k in range(w.fields):
        field = w.field + k
        dst = put(",", k > 0, dst) if w.csv else put(<const char *>field.key.at, field.key.n, dst)
        dst = put_field(w, entry, field, dst)
    return put("\n" if w.csv else "}\n", 1 if w.csv else 2, dst)


cdef uint8_t *put_field(const Writer *w, const Entry *entry, const Field *field, uint8_t *dst) noexcept nogil:
    """Write the value of a field, after its key."""
    cdef uint8_t *value = dst + (field.is_text or w.csv and not field.is_number)
    cdef uint8_t *end = value
    cdef Place place = STRING_IN_CELL if w.csv else STRING
    cdef Text text
    cdef bint masked
    if field.kind == FLAGS_VALUE:
        return put_flags(flags_of_request(w, entry.text[PATH], entry.text[QUERY], entry.decoded, entry.whole), w.csv, dst)
    if field.kind == EXTRAS_VALUE:
        if has_extra(entry):
            end = put_extra(w, entry, value)
        elif field.optional and not w.csv:
            return dst - field.key.n
    else:
        text = text_in(w, entry, field, &masked)
        if text.at == NULL:
            pass
        elif field.kind == QUERY_VALUE:
            end = put_query(w, entry, place, value)
        elif field.kind == ADDRESSES_VALUE:
            end = put_addresses(w, entry, value)
        else:
            end = put_value(w, entry, field, text, masked, CELL if w.csv else STRING, value)
            if field.is_text and (field.kind != PERIOD_VALUE or end > value):
                dst[0] = c'"'
                return put_cell(w, value, end)
    if end == value:
        return dst if w.csv else put("null", 4, dst)
    if value > dst:
        dst[0] = end[0] = c'"'
    return end + (value - dst)


# --- lines ------------------------------------------------------------------------------------------------------------

cdef enum:
    FACTOR = 24, RECORD_EXTRA = 1024        # the largest size of a record, given that of its line

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
Lines = namedtuple("Lines", ["read", "written", "lines", "records", "dropped", "invalid"], module="uricodec.logs")
Lines.__doc__ = (
    "The bytes read and written; the number of lines, of records, and of those that did not meet the conditions; the invalid "
    "lines as LineFaults, whose numbers count from the first line."
)


cdef str code_name(LogReader reader, const Found *found):
    cdef int slot = found.code - FIELD
    if slot < 0:
        return CODE_NAMES[found.code]
    return SLOT_NAMES[slot] if slot < MEMBERS else "extra." + reader.programs[found.variant].names[slot - MEMBERS]


cdef object lines_of(LogReader reader, const Found *found, const size_t *counts):
    cdef size_t i
    cdef list invalid = []
    for i in range(counts[4]):
        invalid.append(LineFault(<Py_ssize_t>found[i].line, <Py_ssize_t>found[i].start,
                                 <Py_ssize_t>(found[i].start + found[i].size), code_name(reader, found + i),
                                 <Py_ssize_t>found[i].offset))
    return Lines(<Py_ssize_t>counts[0], <Py_ssize_t>counts[1], <Py_ssize_t>counts[2], <Py_ssize_t>counts[3],
                 <Py_ssize_t>reader.dropped, invalid)


@cython.final
cdef class LogReader:
    """Converter of log lines to records. It remembers the fields that a log announced, so each log needs its own.

    Args:
        programs (Iterable[Program]): The variants of the format.
        to (str): The output: a format of FORMATS (without a header); "columns", or "arrow", in which times are numbers.
        fields (Iterable[str] | None): The fields of a record, see field_names(). None: those of NAMES, without those that
            only other formats have in JSON.
        where (Iterable[Condition]): Conditions that all records meet which are written.
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
        timezone (tzinfo | None): The zone of times that have none, in "arrow". None: UTC.
        fast (bool): Whether lines that need no care may be read by marks (`_fast`), which gives the same records.

    Attributes:
        programs (list[Program]): The variants.
        to (str): The output.
        fields (tuple[str, ...]): The fields of a record.
        fast_records (int): How many records were read by marks.

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

    def __cinit__(self, programs, to="jsonl", *, fields=None, where=(), params=(), client="peer", mask=(), flags=False, encoding=None,
                  replace_invalid_utf8=False, max_line=MAX_LINE, csv_safe=False, strict=0, timezone=None, fast=True):
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
        self.plan = <const Plan **>PyMem_Calloc(self.variants + 1, sizeof(Plan *))
        self.columns = <Columns *>PyMem_Calloc(self.variants + 1, sizeof(Columns))
        self.shared = <size_t *>PyMem_Calloc(self.variants + 1, sizeof(size_t))
        if self.plan == NULL or self.columns == NULL or self.shared == NULL:
            raise MemoryError  # pragma: no cover: no memory
        self.record_extra = RECORD_EXTRA
        for k, item in enumerate(self.programs):
            if type(item) is not Program:
                raise TypeError(f"expected a Program, got {type(item).__name__}")
            program = item
            self.plan[k] = &program.plan
            self.objects += program.plan.notation == JSON_LINES
            self.shared[k] = shared_steps(self.plan[k - 1], &program.plan, True) if k else 0
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
        self.set_fields(field_names(fields, params, flags), fields is not None or to != "jsonl")
        self.set_filters(list(where))
        if encoding is not None:
            charset = encoding      # of another type, it raises TypeError
            self._kept.append(charset)
            self.writer.charset = charset.tables
        self.max_line, self.strict, self.timezone, self.zone.quarter = max_line, strict, timezone, -1 << 60
        self.zone.timezone = <PyObject *>timezone if timezone is not None else NULL
        self.writer.zone = &self.zone
        if fast and not strict and self.variants and self.plan[0].notation == JSON_LINES:
            set_fast_json(&self.json, self.plan[0], &self.writer, self._kept)
            self.has_json = True
        elif fast and not strict and self.variants:
            set_fast(&self.fast, self.plan, self.variants, &self.writer, self._kept)
            self.has_fast = self.fast.plan[0] != NULL
        self.begin()

    cdef int set_fields(self, tuple names, bint chosen) except -1:
        """Set the fields of records. Those that are not `chosen` are left out if the format does not have them."""
        cdef Field *field
        cdef bytes key
        self.writer.field = <Field *>PyMem_Calloc(len(names) + 1, sizeof(Field))
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
        field.slot = -1
        if name in NAMES:
            place = NAMES.index(name)
            field.kind, field.slot = KIND_OF[place], SLOT_OF[place]
        elif name in PERIODS:
            field.kind, field.slot, field.period = PERIOD_VALUE, TIME, PERIODS[name]
        elif name == "status:class":
            field.kind, field.slot = CLASS_VALUE, STATUS
        elif name == "flags":
            field.kind = FLAGS_VALUE
        else:
            field.kind = PARAMETER_VALUE if name.startswith("param.") else EXTRA_VALUE
            own = name[6:].encode("utf-8", "surrogateescape")
        if (field.slot == REFERER or field.slot == TARGET) and self.writer.masked != NULL:
            field.kind = MASKED_VALUE
        field.is_number = field.kind == COPIED and field.slot in (STATUS, BYTES_SENT) or field.kind == SECONDS_VALUE
        field.is_text = not field.is_number and field.kind not in (QUERY_VALUE, ADDRESSES_VALUE, EXTRAS_VALUE, FLAGS_VALUE)
        self._kept.append(own)
        field.name = text_of(<const uint8_t *>PyBytes_AS_STRING(own), PyBytes_GET_SIZE(own))
        return 0

    cdef int set_filters(self, list conditions) except -1:
        cdef Filter *filter
        self.writer.filter = <Filter *>PyMem_Calloc(len(conditions) + 1, sizeof(Filter))
        if self.writer.filter == NULL:
            raise MemoryError  # pragma: no cover: no memory
        for condition in conditions:
            filter = self.writer.filter + self.writer.filters
            self.set_field(&filter.field, condition.field)
            if filter.field.kind == QUERY_VALUE:    # as it was sent
                filter.field.kind = COPIED
            set_condition(filter, condition, self._kept)
            self.writer.filters += 1
        return 0

    cdef bint keeps(self, const Entry *entry) noexcept nogil:
        """Return whether a record meets all conditions."""
        cdef const Writer *w = &self.writer
        cdef const Filter *filter
        cdef Text text
        cdef size_t i, size
        cdef bint masked
        for i in range(w.filters):
            filter = w.filter + i
            if filter.field.kind == FLAGS_VALUE:
                if not matches_flags(filter, flags_of_request(
                        w, entry.text[PATH], entry.text[QUERY], entry.decoded, entry.whole)):
                    return False
                continue
            text = text_in(w, entry, &filter.field, &masked)
            if text.at != NULL and filter.comparison == AS_MOMENT:
                size = put_time(entry, w.value)
                if size == 0 or not matches_moment(filter, micros_of(w.value, size, w.zone)):
                    return False
                continue
            if text.at != NULL and filter.field.kind != ADDRESSES_VALUE:
                text = text_of(w.value, put_value(w, entry, &filter.field, text, masked, RAW, w.value) - w.value)
                if filter.field.kind == PERIOD_VALUE and text.n == 0:
                    text.at = NULL
            if not matches(filter, text):
                return False
        return True

    def __dealloc__(self):
        free_fast(&self.fast)
        free_fast_json(&self.json)
        PyMem_Free(self.plan)
        PyMem_Free(self.columns)
        PyMem_Free(self.shared)
        PyMem_Free(self.writer.field)
        PyMem_Free(self.writer.filter)
        PyMem_RawFree(self.memory)

    cdef int reserve(self, size_t size) except -1:
        """Ensure the memory for reading lines, given the total size of the lines."""
        cdef size_t value = 3 + CHARSET_FACTOR if self.writer.filters else 0
        size = max(min(size, self.max_line), <size_t>4096)
        if self.memory == NULL or size > self.capacity:
            PyMem_RawFree(self.memory)
            # For a line of Docker; for undone escapes and joined targets; for decoded texts; from another encoding; for a
            # value that is compared; for a line without its colors.
            self.memory = <uint8_t *>PyMem_RawMalloc((6 + CHARSET_FACTOR + value) * size + 8 * EXTRA_CAPACITY)
            if self.memory == NULL:
                raise MemoryError  # pragma: no cover: no memory
            self.capacity = size
            self.writer.room = self.memory + 4 * size + 2 * EXTRA_CAPACITY
            self.writer.wide = self.writer.room + size + EXTRA_CAPACITY
            self.writer.value = self.writer.wide + CHARSET_FACTOR * size + EXTRA_CAPACITY
            self.plain = (5 + CHARSET_FACTOR + value) * size + 7 * EXTRA_CAPACITY
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
        return FACTOR * size + self.record_extra

    def begin(self):
        """Reset the reader for another log: forget the announced fields.

        >>> from uricodec.logs import Format
        >>> LogReader(Format("iis").programs).begin()
        """
        cdef int k
        for k in range(self.variants):
            if self.plan[k].columns != NULL:
                self.columns[k] = self.plan[k].columns[0]
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
        cdef Entry entry
        cdef int k
        PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
        s, n = <const uint8_t *>source.buf, <size_t>source.len
        self.first = self.first and n == 0
        for k in range(self.variants):
            if self.plan[k].columns == NULL:
                continue
            end = n
            while end:      # backwards, to the last line that begins with "#Fields:"
                start = end - 1
                while start and s[start - 1] != c'\n':
                    start -= 1
                if end - start >= 8 and memcmp(s + start, b"#Fields:", 8) == 0:
                    clear(&entry, NULL)
                    read_line(self.plan[k], self.columns + k, s + start, line_size(s, start, n), &entry)
                    break
                end = start
        PyBuffer_Release(&source)

    @property
    def missing(self):
        """Those of IMPORTANT (frozenset[str]) of which no record that met the conditions so far had a value."""
        cdef int i
        missing = set(IMPORTANT) & set(self.fields)
        for i in range(4):
            if self.seen[i]:
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
        cdef size_t start = 0, size, written = 0, lines = 0, records = 0, invalid = 0, fast
        cdef Entry entry
        cdef Line line
        cdef FastRun run
        entry.forwarded = self.writer.forwarded
        self.begin_run(&run, src, n)
        while start < n and invalid < limit:
            if (self.has_fast or self.has_json) and not self.first:
                run.start, run.dropped = start, 0
                if self.has_json:
                    fast = self.write_json(&run, &entry, dst, cap, &written)
                else:
                    fast = write_fast(&self.fast, &self.writer, self.record_extra, &run, dst, cap, &written)
                if n - run.start > 8 and memcmp(src + run.start, b'{"log":"', 8) == 0:
                    fast += self.write_docker(&run, &entry, dst, cap, &written)
                start, lines, records = run.start, lines + fast, records + fast - run.dropped
                self.fast_records += fast
                self.dropped += run.dropped
                if start == n:
                    break
            size = line_size(src, start, n)
            if size <= self.max_line and cap - written < FACTOR * size + self.record_extra:
                break
            line = self.read(src, start, size, &entry)
            if line == RECORD and self.is_dropped(&entry):
                self.dropped += 1
            elif line == RECORD:
                written = put_record(&self.writer, &entry, dst + written) - dst
                records += 1
            elif line == NO_RECORD:
                note(self, &entry, lines, start, size, found + invalid)
                invalid += 1
            lines += 1
            start = next_line(src, start + size, n)
        self.end_run(&run)
        if self.quotes:
            written = leave_out_quotes(dst, written, self.delimiter)
        elif self.writer.csv:
            written = csv_to_text(dst, written, self.delimiter)
        counts[0], counts[1], counts[2], counts[3], counts[4] = start, written, lines, records, invalid

    cdef void begin_run(self, FastRun *run, const uint8_t *src, size_t n) noexcept nogil:
        run.src, run.n, run.max_line = src, n, self.max_line
        run.window = run.window_end = 0
        run.seen = 0
        run.dropped = self.dropped = 0
        run.room = self.memory + self.capacity + EXTRA_CAPACITY
        self.request.room, self.request.seen = run.room, 0

    cdef void end_run(self, const FastRun *run) noexcept nogil:
        cdef int i
        for i in range(4):
            self.seen[i] |= (run.seen | self.request.seen) >> IMPORTANT_SLOTS[i] & 1

    cdef size_t write_json(self, FastRun *run, Entry *entry, uint8_t *dst, size_t capacity, size_t *written) noexcept nogil:
        """Write the records of lines of JSON, like write_fast()."""
        cdef FastRecord record
        cdef size_t lines = 0
        while run.start < run.n and read_fast_json(&self.json, run, entry, &record):
            if capacity - written[0] < FACTOR * (record.end - run.start) + self.record_extra:
                break
            written[0] = self.put_json(run, entry, &record, dst + written[0]) - dst
            run.start = record.next
            lines += 1
        return lines

    cdef uint8_t *put_json(self, FastRun *run, Entry *entry, FastRecord *record, uint8_t *dst) noexcept nogil:
        """Write the record of a line of `run`, or count it among those that are dropped."""
        cdef bint whole = set_fast_record(&self.json, &self.request, entry, record)
        if not whole:
            read_request(entry)
            record.dropped = self.is_dropped(entry)
        if record.dropped:
            run.dropped += 1
            return dst
        return put_fast(record.plan, &self.writer, &self.request, record, dst) if whole else put_record(
            &self.writer, entry, dst)

    cdef bint is_dropped(self, const Entry *entry) noexcept nogil:
        """Return whether a record does not meet all conditions; otherwise note which of IMPORTANT it has."""
        cdef int i
        if self.writer.filters and not self.keeps(entry):
            return True
        for i in range(4):
            self.seen[i] |= entry.text[IMPORTANT_SLOTS[i]].at != NULL
        return False

    cdef size_t write_docker(self, FastRun *run, Entry *entry, uint8_t *dst, size_t capacity, size_t *written) noexcept nogil:
        """Write the records of lines of Docker's json-file driver, like write_fast()."""
        cdef FastRecord record
        cdef FastRun outer, inner
        cdef size_t lines = 0, next
        self.begin_docker(run, &outer, &inner)
        while self.read_docker_line(&outer, &inner, entry, &record, &next):
            if capacity - written[0] < FACTOR * (next - outer.start) + self.record_extra:
                break
            if self.has_json:
                written[0] = self.put_json(run, entry, &record, dst + written[0]) - dst
            elif record.dropped:
                run.dropped += 1
            else:
                written[0] = put_fast(record.plan, &self.writer, &inner, &record, dst + written[0]) - dst
            outer.start = next
            lines += 1
        run.start = outer.start
        run.seen |= inner.seen
        return lines

    cdef void begin_docker(self, const FastRun *run, FastRun *outer, FastRun *inner) noexcept nogil:
        """Let `outer` have the lines from run.start on."""
        outer.src, outer.n, outer.start, outer.max_line, outer.room = run.src, run.n, run.start, run.max_line, run.room
        outer.window = outer.window_end = 0
        inner.seen = 0

    cdef bint read_docker_line(self, FastRun *outer, FastRun *inner, Entry *entry, FastRecord *record, size_t *next) noexcept nogil:
        """Read the line in the record of Docker at outer.start, as read_fast_json() or read_fast() do. False: it is declined."""
        if outer.start >= outer.n or not read_docker(outer, self.memory, inner, next):
            return False
        if not (read_fast_json(&self.json, inner, entry, record) if self.has_json else read_fast(&self.fast, inner, record)):
            return False
        # Otherwise it has several lines, or a "\r".
        return record.end + 1 == record.next and record.next + BLOCK + 1 == inner.n

    cdef Line read(self, const uint8_t *src, size_t start, size_t size, Entry *entry) noexcept nogil:
        """Read a line of `size` bytes. A byte order mark at the start of the log is skipped.

        What another program wrote before the line is skipped, if the line is a record then.
        """
        cdef const uint8_t *s = src + start
        cdef size_t mark = 3 if self.first and size >= 3 and memcmp(s, b"\xEF\xBB\xBF", 3) == 0 else 0
        self.first = False
        if size > self.max_line:
            fail(entry, TOO_LONG, self.max_line)
            return NO_RECORD
        s, size = s + mark, size - mark
        if memchr(s, ESCAPE, size) != NULL:
            return self.read_colored(s, size, mark, entry)
        return self.read_plain(s, size, mark, entry)

    cdef Line read_colored(self, const uint8_t *s, size_t size, size_t mark, Entry *entry) noexcept nogil:
        """Read a line without its control sequences."""
        cdef uint8_t *plain = self.memory + self.plain
        cdef Line line
        memcpy(plain, s, size)
        line = self.read_plain(plain, without_colors(plain, size), 0, entry)
        if line == NO_RECORD:
            entry.offset = mark + offset_with_colors(s, size, entry.offset)
        return line

    cdef Line read_plain(self, const uint8_t *s, size_t size, size_t mark, Entry *entry) noexcept nogil:
        """Read a line that begins after the byte order mark, perhaps after a prefix."""
        cdef Line line
        cdef int kind, code = FINE, failed = 0
        cdef size_t offset = 0
        for kind in range(PREFIXES):
            line = self.read_after(kind, s, size, entry)
            if line != NO_RECORD:
                return line
            if entry.code == EMPTY:
                entry.offset += mark
                return NO_RECORD
            if entry.code != FINE and entry.offset > offset:
                code, offset, failed = entry.code, entry.offset, self.failed
        if self.objects < self.variants:
            line = self.read_in_object(s, size, entry)
            if line != NO_RECORD:
                return line
            if entry.code != FINE and entry.offset > offset:
                code, offset, failed = entry.code, entry.offset, self.failed
        line = self.read_variants(s, size, entry)
        if line == NO_RECORD:
            if entry.offset < offset:
                entry.code, entry.offset, self.failed = code, offset, failed
            if self.objects == self.variants:
                code, offset, failed = entry.code, entry.offset, self.failed
                line = self.read_in_object(s, size, entry)
                if line != NO_RECORD:
                    return line
                entry.code, entry.offset, self.failed = code, offset, failed    # it says more than what the text lacks
            entry.offset += mark
        return line

    cdef Line read_after(self, int prefix, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
        """Read a line that follows a prefix. Without the prefix, return NO_RECORD without an error."""
        cdef size_t skipped = 0
        cdef Text inner
        cdef Line line
        entry.code = FINE
        if prefix == DOCKER:
            if not docker_line(s, n, self.memory, &inner):
                return NO_RECORD
            line = self.read_variants(inner.at, inner.n, entry)
            entry.offset = 8        # where the text begins, whose escapes are undone
            return line
        skipped = skip_prefix(prefix, s, n)
        if skipped == 0:
            return NO_RECORD
        line = self.read_variants(s + skipped, n - skipped, entry)
        entry.offset += skipped
        return line

    cdef Line read_in_object(self, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
        """Read the line, perhaps with a prefix of its own, that a JSON object contains.

        An object that is a record itself is not one with a line. Without a line in it, return NO_RECORD without an error.
        """
        cdef Text inner
        cdef Line line = NO_RECORD
        cdef size_t skipped, start = text_in_object(s, n, self.memory, &inner)
        cdef int kind
        entry.code = FINE
        if start == 0:
            return NO_RECORD
        if 0 < self.objects < self.variants:
            self.objects_only = True
            line = self.read_variants(s, n, entry)
            self.objects_only = False
            if line != NO_RECORD:
                return line
        for kind in range(DOCKER):
            skipped = skip_prefix(kind, inner.at, inner.n)
            if skipped and line == NO_RECORD:
                line = self.read_variants(inner.at + skipped, inner.n - skipped, entry)
        if line == NO_RECORD:
            line = self.read_variants(inner.at, inner.n, entry)
        entry.offset = start
        return line

    cdef Line read_variants(self, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
        """Read a line in the first variant that it matches. An error is that of the variant that came farthest.

        Texts with quotes that are not escaped are read only if no variant matches without: they could be several fields.
        """
        cdef Line line = self.read_each(False, s, n, entry)
        if line == NO_RECORD and entry.odd_quotes and self.strict < 2:
            line = self.read_each(True, s, n, entry)
        return line

    cdef Line read_each(self, bint odd_quotes, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
        """Read a line in the first variant that it matches. What this has in common with the one before is not read again.

        If no variant matches, entry.odd_quotes says whether one would if odd quotes counted as text.
        """
        cdef int k, code = FINE, failed = 0
        cdef size_t offset = 0
        cdef bint would = False
        cdef Line line = NO_RECORD
        for k in range(self.variants):
            if self.objects_only and self.plan[k].notation != JSON_LINES:
                continue
            if k == 0 or self.shared[k] == 0 or entry.step >= self.plan[k - 1].steps:
                clear(entry, self.memory + self.capacity + EXTRA_CAPACITY)
                line = read_line(self.plan[k], self.columns + k, s, n, entry)
            elif entry.step < self.shared[k]:
                continue
            else:
                line = self.read_again(k, s, n, entry)
            if line == RECORD and not odd_quotes and entry.odd_quotes > <int>(NONE_ODD if self.strict else ENDS_SURELY):
                would = True
                fail(entry, FORMAT_ERROR, 0)
                line = NO_RECORD
            if line == RECORD and self.strict and not self.columns[k].announced and not (
                    self.has_usual_start(k, entry) and is_whole(self.plan[k], entry)):
                fail(entry, FORMAT_ERROR, 0)
                line = NO_RECORD
            if line != NO_RECORD:
                return line
            if self.strict and not self.has_usual_start(k, entry):
                entry.offset = 0
            if k == 0 or entry.offset > offset:
                code, offset, failed = entry.code, entry.offset, k
        entry.code, entry.offset, entry.odd_quotes, self.failed = code, offset, would, failed
        return NO_RECORD

    cdef bint has_usual_start(self, int k, Entry *entry) noexcept nogil:
        """Return whether the fields before an error have the values that their names promise."""
        cdef int i
        for i in range(MEMBERS):
            if entry.text[i].n == 1 and entry.text[i].at[0] == c'-':
                entry.text[i] = text_of(NULL, 0)
        return has_usual_values(entry, self.plan[k].notation == JSON_LINES,
                                self.plan[k].notation == TEXT_LINES and self.plan[k].step[0].slot == FORWARDED_FOR
                                and not self.plan[k].members >> CLIENT & 1)

    cdef Line read_again(self, int k, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
        """Read a line in a variant, from the first step that differs from those of the variant before it."""
        cdef const Plan *plan = self.plan[k]
        cdef size_t i
        for i in range(self.shared[k], self.plan[k - 1].steps):
            if self.plan[k - 1].step[i].slot >= 0:
                entry.text[self.plan[k - 1].step[i].slot] = text_of(NULL, 0)
        for i in range(plan.extras):
            entry.name[i] = plan.name[i]
            if i >= entry.extras:
                entry.text[MEMBERS + i] = text_of(NULL, 0)
        entry.extras, entry.keys, entry.key = plan.extras, plan.extras, plan.key
        entry.decoded = False
        return RECORD if read_steps(plan, self.shared[k], s, n, entry) else NO_RECORD


cdef inline bint is_whole(const Plan *plan, const Entry *entry) noexcept nogil:
    """Return whether nothing follows the last field that could be a referer and an agent, which this format does not read."""
    return plan.rest < 0 or entry.text[plan.rest].at == NULL or plan.members >> USER_AGENT & 1


def csv_as_text(bytes records not None, bytes delimiter not None):
    """Return records of CSV as values between delimiters, without quotes.

    >>> csv_as_text(b'"a, b",,"say ""x"" twice"', b"\\t")
    b'a, b\\t\\tsay "x" twice'
    """
    cdef bytearray made = bytearray(records)
    return bytes(memoryview(made)[:csv_to_text(<uint8_t *><char *>made, len(made), <uint8_t>ord(delimiter))])


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
        fields (Iterable[str] | None): Names of NAMES, of DERIVED, "param.NAME" of a query parameter, "extra.NAME" of another
            field of the format, "flags". None: NAMES.
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
            if name not in NAMES and name not in DERIVED and name != "flags" and not name.startswith(("param.", "extra.")):
                from difflib import get_close_matches
                known = *NAMES, "param.NAME", "extra.NAME", "flags", *DERIVED
                close = get_close_matches(name, known, 1)
                hint = f"did you mean {close[0]!r}" if close else f"the fields are {', '.join(known)}"
                raise ValueError(f"unknown field {name!r}; {hint}")
        if not 1 <= len(names) <= MOST_FIELDS:
            raise ValueError(f"fields must be from 1 to {MOST_FIELDS} names, got {len(names)}")
    more = [f"param.{name}" for name in texts_of("params", params)] + ["flags"] * bool(flags)
    return tuple(dict.fromkeys([*names, *more]))
