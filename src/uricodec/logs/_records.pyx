"""Log lines to records, as JSON lines (RFC 8259) or CSV (RFC 4180).

A record is always one line, whatever the log contains. In JSON, control characters, U+2028 and U+2029 are escaped; in
CSV they stay percent-encoded. Bytes that are not UTF-8 stay triplets, or become U+FFFD.

In most lines all texts are printable ASCII. The parser of the line determines that in one step, and the texts are
copied. Decoded and other texts are written in three steps, the first two with kernels: copy a text that needs no
escape; in UTF-8, escape single characters; otherwise, go character by character.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec.logs._fields cimport *
from uricodec.logs._formats cimport *
from uricodec._codec._percent cimport hex_value, is_plain
from uricodec._records._quoting cimport starts_formula
from uricodec._codec._triplets cimport StrictOptions, decode_strictly, is_utf8, policy_of
from uricodec._codec._triplets cimport KEEP as KEEP_BYTES
from uricodec._base._text cimport continues, sequence_length

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from collections import namedtuple

cimport cython


# --- texts ------------------------------------------------------------------------------------------------------------

# Bytes that are copied: in any text, and in UTF-8 (C2 and E2 begin U+0080-009F and U+2028-2029).
cdef ByteSet PLAIN_TEXT = ByteSet(range(0x20, 0x7F)) - '"\\'
cdef ByteSet PLAIN_UTF8 = PLAIN_TEXT | ByteSet(range(0x80, 0x100)) - b"\xC2\xE2"

cdef const char *HEX = "0123456789abcdef"
cdef const char *UPPER_HEX = "0123456789ABCDEF"


cdef inline uint8_t *put(const char *text, size_t n, uint8_t *dst) noexcept nogil:
    memcpy(dst, text, n)
    return dst + n


cdef inline uint8_t *put_triplet(uint8_t octet, uint8_t *dst) noexcept nogil:
    dst[0], dst[1], dst[2] = c'%', <uint8_t>UPPER_HEX[octet >> 4], <uint8_t>UPPER_HEX[octet & 15]
    return dst + 3


cdef inline uint8_t *put_unit(int unit, uint8_t *dst) noexcept nogil:
    """Write "\\uhhhh"."""
    dst[0], dst[1] = c'\\', c'u'
    dst[2], dst[3] = <uint8_t>HEX[unit >> 12 & 15], <uint8_t>HEX[unit >> 8 & 15]
    dst[4], dst[5] = <uint8_t>HEX[unit >> 4 & 15], <uint8_t>HEX[unit & 15]
    return dst + 6


cdef uint8_t *put_character(const uint8_t *at, size_t n, Place place, uint8_t *dst) noexcept nogil:
    """Write a character of n bytes of UTF-8, escaped if necessary."""
    cdef size_t i
    cdef int unit = -1
    if n == 1 and place != RAW:
        if at[0] == c'"':
            if place != CELL:
                dst[0] = c'\\'
                dst += 1
            dst[0] = c'"'
            if place != STRING:
                dst += 1
                dst[0] = c'"'
            return dst + 1
        if at[0] == c'\\' and place != CELL:
            dst[0] = dst[1] = c'\\'
            return dst + 2
        if at[0] < 0x20 or at[0] == 0x7F:
            unit = at[0]
    elif n == 2 and at[0] == 0xC2 and at[1] < 0xA0:
        unit = at[1]
    elif n == 3 and at[0] == 0xE2 and at[1] == 0x80 and (at[2] == 0xA8 or at[2] == 0xA9):
        unit = 0x2000 + at[2] - 0x80
    if place == RAW:
        unit = -1
    if unit >= 0 and place != CELL:
        return put_unit(unit, dst)
    for i in range(n):
        if unit >= 0:
            dst = put_triplet(at[i], dst)
        else:
            dst[0] = at[i]
            dst += 1
    return dst


cdef uint8_t *put_bytes(const Writer *w, const uint8_t *src, size_t n, Place place, uint8_t *dst) noexcept nogil:
    """Write a text that is not UTF-8."""
    cdef size_t i = 0, have
    cdef size_t length
    while i < n:
        length = <size_t>sequence_length(src[i])
        have = 1
        while have < length and i + have < n and continues(src[i], <int>have, src[i + have]):
            have += 1
        if have == length:
            dst = put_character(src + i, have, place, dst)
            i += have
        elif w.errors == KEEP_BYTES:
            dst = put_triplet(src[i], dst)
            i += 1
        else:
            dst = put("\xEF\xBF\xBD", 3, dst)       # U+FFFD, for a maximal subpart
            i += have
    return dst


cdef uint8_t *put_any(const Writer *w, const uint8_t *src, size_t n, Place place, uint8_t *dst) noexcept nogil:
    """Write a text, at most 6 bytes for each of its bytes."""
    cdef size_t i = kernels.span(src, n, &PLAIN_TEXT.set), size
    memcpy(dst, src, i)
    dst += i
    if i == n:
        return dst
    if not is_utf8(src + i, n - i):
        return put_bytes(w, src + i, n - i, place, dst)
    if place == RAW:
        memcpy(dst, src + i, n - i)
        return dst + n - i
    while i < n:
        size = kernels.span(src + i, n - i, &PLAIN_UTF8.set)
        memcpy(dst, src + i, size)
        dst += size
        i += size
        if i < n:
            size = <size_t>sequence_length(src[i])
            if size == 0 or size > n - i:       # another thread changed the input
                size = 1  # pragma: no cover: a race
            dst = put_character(src + i, size, place, dst)
            i += size
    return dst


cdef uint8_t *put_text(const Writer *w, const Entry *entry, Text text, Place place, uint8_t *dst) noexcept nogil:
    if entry.plain:
        memcpy(dst, text.at, text.n)
        return dst + text.n
    return put_any(w, text.at, text.n, place, dst)


cdef uint8_t *put_decoded(const Writer *w, const Entry *entry, Text text, bint plus, Place place,
                          uint8_t *dst) noexcept nogil:
    cdef StrictOptions how
    cdef size_t size
    if is_plain(text.at, text.n, plus):
        return put_text(w, entry, text, place, dst)
    size = kernels.decode(text.at, text.n, plus, w.room, text.n)
    if w.errors == KEEP_BYTES and not is_utf8(w.room, size):
        how.policy = how.malformed = KEEP_BYTES
        how.plus, how.utf8, how.free, how.c1 = plus, True, NULL, False
        size = decode_strictly(text.at, text.n, &how, w.room)
    return put_any(w, w.room, size, place, dst)


# --- parameters -------------------------------------------------------------------------------------------------------

cdef bint is_masked(const Writer *w, const uint8_t *name, size_t n) noexcept nogil:
    """Return whether the value of this parameter must be hidden."""
    cdef const uint8_t *mask = w.names
    cdef size_t i, size
    if mask == NULL:
        return False
    size = kernels.decode(name, n, True, w.room, n)
    for i in range(size):
        if c'A' <= w.room[i] <= c'Z':
            w.room[i] += 32
    while mask[0]:
        if mask[0] == size and memcmp(mask + 1, w.room, size) == 0:
            return True
        mask += mask[0] + 1
    return False


cdef uint8_t *put_masked(const Writer *w, const Entry *entry, Text text, Place place, uint8_t *dst) noexcept nogil:
    """Write a target or referer, hiding values of parameters after the first "?", and a fragment with the last of them.

    Without "?", a text that is not a path is treated as parameters: it may be the body of a form, logged as a request.
    """
    cdef size_t i, start = 0, end, equals       # start: of the part not written yet
    if w.names == NULL:
        return put_text(w, entry, text, place, dst)
    i = find(text.at, 0, text.n, c'?') + 1
    if i > text.n and (entry.text[PATH].at == NULL or text.at == entry.text[REFERER].at):
        i = 0
    while i <= text.n:
        end = find(text.at, i, text.n, c'&')
        equals = find(text.at, i, end, c'=')
        if equals < end and is_masked(w, text.at + i, equals - i):
            dst = put_text(w, entry, text_of(text.at + start, equals + 1 - start), place, dst)
            dst = put("***", 3, dst)
            start = end
        i = end + 1
    return put_text(w, entry, text_of(text.at + start, text.n - start), place, dst)


cdef uint8_t *put_query(const Writer *w, const Entry *entry, Place place, uint8_t *dst) noexcept nogil:
    """Write the decoded parameters as a JSON array of pairs. Empty parameters are skipped."""
    cdef Text query = entry.text[QUERY]
    cdef size_t i = 0, end, equals
    cdef const char *quote = '"' if place == STRING else '""'
    cdef size_t size = 1 if place == STRING else 2
    cdef bint first = True
    dst[0] = c'['
    dst += 1
    while i < query.n:
        end = find(query.at, i, query.n, c'&')
        if end > i:
            equals = find(query.at, i, end, c'=')
            dst = put("[" if first else ",[", 1 if first else 2, dst)
            first = False
            dst = put(quote, size, dst)
            dst = put_decoded(w, entry, text_of(query.at + i, equals - i), True, place, dst)
            dst = put(quote, size, dst)
            dst[0] = c','
            dst = put(quote, size, dst + 1)
            if equals < end:
                if is_masked(w, query.at + i, equals - i):
                    dst = put("***", 3, dst)
                else:
                    dst = put_decoded(w, entry, text_of(query.at + equals + 1, end - equals - 1), True, place, dst)
            dst = put(quote, size, dst)
            dst[0] = c']'
            dst += 1
        i = end + 1
    dst[0] = c']'
    return dst + 1


# --- flags ------------------------------------------------------------------------------------------------------------

cdef inline int byte_at(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the byte that the triplet at i encodes; -1 without a triplet."""
    cdef int high, low
    if n - i < 3 or s[i] != c'%':
        return -1
    high, low = hex_value(s[i + 1]), hex_value(s[i + 2])
    return -1 if high < 0 or low < 0 else high << 4 | low


cdef inline bint is_overlong(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether s begins with an overlong UTF-8 sequence.

    C0, C1, E0 80-9F, F0 80-8F, and of the sequences of RFC 2279, which some software still decodes, F8 80-87, FC 80-83.
    """
    if n < 2 or s[1] & 0xC0 != 0x80:
        return False
    return (s[0] == 0xC0 or s[0] == 0xC1 or s[0] == 0xE0 and s[1] < 0xA0 or s[0] == 0xF0 and s[1] < 0x90
            or s[0] == 0xF8 and s[1] < 0x88 or s[0] == 0xFC and s[1] < 0x84)


cdef inline bint separates(uint8_t c, bint query) noexcept nogil:
    return c == c'/' or c == c'\\' or query and (c == c'&' or c == c'=')


cdef int flags_of(const Writer *w, Text text, bint decoded, bint query) noexcept nogil:
    """Return the flags of a path or a query."""
    cdef int flags = 0, octet
    cdef size_t i, size
    cdef uint8_t *s = w.room
    i = 0 if decoded else find(text.at, 0, text.n, c'%')
    while not decoded and i < text.n:
        octet = byte_at(text.at, i, text.n)
        if octet < 0:
            flags |= MALFORMED
        elif not query and (octet == c'/' or octet == c'\\'):
            flags |= ENCODED_SLASH
        i = find(text.at, i + 1, text.n, c'%')
    if decoded:
        memcpy(s, text.at, text.n)
        size = text.n
    else:
        size = kernels.decode(text.at, text.n, False, s, text.n)
    if memchr(s, 0, size) != NULL:
        flags |= NUL
    i = find(s, 0, size, c'%')
    while i < size:
        if byte_at(s, i, size) >= 0:
            flags |= DOUBLE_ENCODED
        i = find(s, i + 1, size, c'%')
    i = find(s, 0, size, c'.')
    while i + 1 < size:
        if (s[i + 1] == c'.' and (i == 0 or separates(s[i - 1], query))
                and (i + 2 == size or separates(s[i + 2], query))):
            flags |= DOT_DOT
        i = find(s, i + 1, size, c'.')
    if not is_utf8(s, size):
        for i in range(size):
            if is_overlong(s + i, size - i):
                flags |= OVERLONG
    return flags


cdef int flags_of_entry(const Writer *w, const Entry *entry) noexcept nogil:
    cdef int flags = MALFORMED if entry.whole else 0
    if entry.text[PATH].at != NULL:
        flags |= flags_of(w, entry.text[PATH], entry.decoded, False)
    if entry.text[QUERY].at != NULL:
        flags |= flags_of(w, entry.text[QUERY], False, True)
    return flags


# --- records ----------------------------------------------------------------------------------------------------------

# The members of a record, in their order.
NAMES = ("client", "user", "time", "method", "target", "path", "query", "protocol", "status", "bytes_sent", "referer", "user_agent", "flags")

FLAG_TEXTS = [Name("malformed", 9), Name("double-encoded", 14), Name("overlong-utf8", 13), Name("encoded-slash", 13),
              Name("dot-dot", 7), Name("nul", 3)]

# The members in the order of NAMES, and the JSON text before each value.
cdef int ORDER[12]
ORDER = [CLIENT, USER, TIME, METHOD, TARGET, PATH, QUERY, PROTOCOL, STATUS, BYTES_SENT, REFERER, USER_AGENT]
cdef Name KEYS[12]
KEYS = [Name('{"client":', 10), Name(',"user":', 8), Name(',"time":', 8), Name(',"method":', 10), Name(',"target":', 10),
        Name(',"path":', 8), Name(',"query":', 9), Name(',"protocol":', 12), Name(',"status":', 10), Name(',"bytes_sent":', 14),
        Name(',"referer":', 11), Name(',"user_agent":', 14)]


cdef uint8_t *put_flags(int flags, bint csv, uint8_t *dst) noexcept nogil:
    """Write the flags as a JSON array, or as a CSV cell with spaces between them."""
    cdef int i
    cdef bint first = True
    dst = put('"', 1, dst) if csv else put(',"flags":[', 10, dst)
    for i in range(FLAGS):
        if flags >> i & 1:
            if not first:
                dst = put(" " if csv else ",", 1, dst)
            if not csv:
                dst = put('"', 1, dst)
            dst = put(FLAG_TEXTS[i].name, FLAG_TEXTS[i].n, dst)
            if not csv:
                dst = put('"', 1, dst)
            first = False
    return put('"' if csv else "]", 1, dst)


cdef uint8_t *put_record(const Writer *w, const Entry *entry, uint8_t *dst) noexcept nogil:
    """Write a record of at most FACTOR bytes for each byte of its line, plus RECORD_EXTRA."""
    cdef int i
    cdef size_t size
    cdef int member
    cdef Text text
    cdef uint8_t *value
    cdef Place place = CELL if w.csv else STRING
    for i in range(12):
        member = ORDER[i]
        text = entry.text[member]
        if not w.csv:
            dst = put(KEYS[i].name, KEYS[i].n, dst)
        elif i:
            dst = put(",", 1, dst)
        if text.at == NULL:
            if not w.csv:
                dst = put("null", 4, dst)
            continue
        if member == STATUS or member == BYTES_SENT:
            memcpy(dst, text.at, text.n)
            dst += text.n
            continue
        if member == QUERY and not w.csv:
            dst = put_query(w, entry, STRING, dst)
            continue
        dst[0] = c'"'
        dst += 1
        value = dst
        if member == QUERY:
            dst = put_query(w, entry, STRING_IN_CELL, dst)
        elif member == PATH and not entry.decoded:
            dst = put_decoded(w, entry, text, False, place, dst)
        elif member == TARGET or member == REFERER:
            dst = put_masked(w, entry, text, place, dst)
        else:
            size = put_time(entry, dst) if member == TIME else 0
            dst = dst + size if size else put_text(w, entry, text, place, dst)
        if w.csv_safe and starts_formula(value, dst - value):
            memmove(value + 1, value, dst - value)
            value[0] = c"'"
            dst += 1
        dst[0] = c'"'
        dst += 1
    if w.flags:
        if w.csv:
            dst = put(",", 1, dst)
        dst = put_flags(flags_of_entry(w, entry), w.csv, dst)
    return put("\n" if w.csv else "}\n", 1 if w.csv else 2, dst)


# --- lines ------------------------------------------------------------------------------------------------------------

cdef enum:
    FACTOR = 16, RECORD_EXTRA = 1024        # the largest size of a record, given that of its line

# Default of the longest valid line, in bytes without its terminator.
MAX_LINE = 16 * 1024 * 1024

# The largest max_line: longer lines could overflow the 32-bit offsets of columns.
cdef size_t MOST = 1 << 28

FORMATS = ("combined", "common", "nginx-json", "cloudfront", "iis", "alb")
cdef list CODE_NAMES = ["", "empty", "client", "user", "time", "request", "status", "bytes_sent", "referer", "user_agent", "fields", "json",
                        "too-long"]

Lines = namedtuple("Lines", ["read", "written", "lines", "records", "faults"], module="uricodec.logs")
Lines.__doc__ = "The bytes read and written, the number of lines and of records, and the invalid lines as LineFaults."
LineFault = namedtuple("LineFault", ["line", "start", "size", "code", "offset"], module="uricodec.logs")
LineFault.__doc__ = (
    "An invalid line: its number, from 0; its start in the buffer; its size; a code; the offset of the fault in it."
)


cdef object lines_of(const Found *found, const size_t *counts):
    cdef size_t i
    cdef list faults = []
    for i in range(counts[4]):
        faults.append(LineFault(<Py_ssize_t>found[i].line, <Py_ssize_t>found[i].start, <Py_ssize_t>found[i].size,
                                CODE_NAMES[found[i].code], <Py_ssize_t>found[i].offset))
    return Lines(<Py_ssize_t>counts[0], <Py_ssize_t>counts[1], <Py_ssize_t>counts[2], <Py_ssize_t>counts[3], faults)


@cython.final
cdef class LogReader:
    """Converter of log lines to records. It remembers the fields that a log announced, so each log needs its own.

    Args:
        format (str): One of FORMATS.
        to (str): The output: "jsonl" or "csv" (without a header).
        mask (Iterable[str]): Query parameters whose values are hidden.
        flags (bool): Whether records have flags.
        errors (str): How to handle bytes that are not UTF-8: "keep" them as triplets, or "replace" them by U+FFFD.
        max_line (int): The longest valid line, in bytes without its terminator, from 1 to 2**28.
        csv_safe (bool): Whether to put an apostrophe before each CSV cell that a spreadsheet may take for a formula.

    Raises:
        ValueError: If the format, output or policy is unknown, a name in `mask` has more than 255 bytes, or max_line is
            out of range.
        TypeError: If `mask` is a str.

    >>> reader = LogReader("common")
    >>> record = bytearray(LogReader.room(100))
    >>> found = reader.convert(b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /caf%C3%A9 HTTP/1.1" 200 5', record)
    >>> print(bytes(record[:found.written]).decode(), end="")
    {"client":"192.0.2.1","user":null,"time":"2025-01-01T12:00:00+00:00",...,"path":"/café","query":null,...}
    """

    def __cinit__(self, format, to="jsonl", mask=(), flags=False, errors="keep", max_line=MAX_LINE, csv_safe=False):
        if not 1 <= max_line <= MOST:
            raise ValueError(f"max_line must be from 1 to {MOST}, got {max_line}")
        if format not in FORMATS:
            raise ValueError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
        if to not in ("jsonl", "csv"):
            raise ValueError(f"to must be 'jsonl' or 'csv', got {to!r}")
        if errors not in ("keep", "replace"):
            raise ValueError(f"errors must be 'keep' or 'replace', got {errors!r}")
        if isinstance(mask, str):
            raise TypeError("mask must be an iterable of parameter names, got a str")
        names = bytearray()     # each after its length
        for name in mask:
            name = name.encode("utf-8", "surrogateescape").lower()
            if len(name) > 255:
                raise ValueError(f"names in mask must have at most 255 bytes, got {name!r}")
            if name:
                names.append(len(name))
                names += name
        self.names = bytes(names) + b"\0"
        self.format = <Format>(<int>FORMATS.index(format))
        self.writer.csv, self.writer.flags = to == "csv", flags
        self.writer.csv_safe = self.writer.csv and csv_safe
        self.writer.errors = policy_of(errors)
        self.writer.names = <const uint8_t *>self.names if len(self.names) > 1 else NULL
        self.max_line = max_line
        self.begin()

    def __dealloc__(self):
        PyMem_RawFree(self.memory)

    cdef int reserve(self, size_t size) except -1:
        """Ensure the memory for parsing lines, given the total size of the lines."""
        size = max(min(size, self.max_line), <size_t>4096)
        if self.memory == NULL or size > self.capacity:
            PyMem_RawFree(self.memory)
            self.memory = <uint8_t *>PyMem_RawMalloc(3 * size + 2 * EXTRA_CAPACITY)
            if self.memory == NULL:
                raise MemoryError  # pragma: no cover: no memory
            self.capacity = size
            self.writer.room = self.memory + 2 * size + EXTRA_CAPACITY
        return 0

    @staticmethod
    def room(size):
        """Return the capacity that a record may need.

        Args:
            size (int): The size of its line in bytes.

        Returns:
            int: Bytes.

        >>> LogReader.room(100)
        2624
        """
        return FACTOR * size + RECORD_EXTRA

    def begin(self):
        """Reset the reader for another log: forget the announced fields.

        >>> LogReader("iis").begin()
        """
        default_layout(self.format, &self.layout)
        self.first = True

    def convert(self, src, dst):
        """Write the records of lines.

        Args:
            src (bytes-like): The lines; the last one may lack its terminator, "\\n" or "\\r\\n".
            dst (bytes-like): A writable buffer that does not overlap src.

        Returns:
            Lines: The outcome. If not all was read, dst or the list of faults is full: call again with src[read:]. If
                nothing was read, dst must have a capacity of `room()` for the first line.

        Raises:
            MemoryError: If memory for the line cannot be allocated.

        >>> LogReader("alb").convert(b"what is this\\n", bytearray(2000)).faults
        [LineFault(line=0, start=0, size=12, code='time', offset=12)]
        """
        cdef Py_buffer source, target
        cdef Found found[FAULTS]
        cdef size_t counts[5]
        PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
        try:
            self.reserve(<size_t>source.len)
            PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
            try:
                with nogil:
                    self.write(<const uint8_t *>source.buf, <size_t>source.len, <uint8_t *>target.buf, <size_t>target.len,
                               found, counts)
            finally:
                PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&source)
        return lines_of(found, counts)

    cdef void write(self, const uint8_t *src, size_t n, uint8_t *dst, size_t cap, Found *found, size_t *counts) noexcept nogil:
        cdef size_t start = 0, size, written = 0, lines = 0, records = 0, faults = 0
        cdef Entry entry
        cdef Line line
        while start < n and faults < FAULTS:
            size = line_size(src, start, n)
            if size <= self.max_line and cap - written < FACTOR * size + RECORD_EXTRA:
                break
            line = self.read(src, start, size, &entry)
            if line == RECORD:
                written = put_record(&self.writer, &entry, dst + written) - dst
                records += 1
            elif line == NO_RECORD:
                note(&entry, lines, start, size, found + faults)
                faults += 1
            lines += 1
            start = next_line(src, start + size, n)
        counts[0], counts[1], counts[2], counts[3], counts[4] = start, written, lines, records, faults

    cdef Line read(self, const uint8_t *src, size_t start, size_t size, Entry *entry) noexcept nogil:
        """Parse a line of `size` bytes. A byte order mark at the start of the log is skipped."""
        cdef const uint8_t *s = src + start
        cdef size_t mark = 3 if self.first and size >= 3 and memcmp(s, b"\xEF\xBB\xBF", 3) == 0 else 0
        cdef Line line
        self.first = False
        clear(entry, self.memory)
        if size > self.max_line:
            fail(entry, TOO_LONG, self.max_line)
            return NO_RECORD
        line = read_line(self.format, &self.layout, s + mark, size - mark, entry)
        entry.offset += mark
        return line
