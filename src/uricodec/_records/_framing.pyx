"""Records in a buffer: where they end, and the quotes and escapes of values in CSV (RFC 4180) and JSON (RFC 8259).

A record is a line, perhaps with delimiters or a JSON object in it, or a record of CSV.

A CSV field that begins with a quote is quoted up to the next single quote. Bytes between that and the delimiter belong
to the field, as in Python's csv reader. A quote elsewhere is an ordinary byte.

A JSON object is parsed only as far as needed to find its members: other nested values are skipped by counting brackets
outside strings, and numbers are not checked.
"""
cimport cython
from libc.stdint cimport SIZE_MAX, uint32_t
from libc.string cimport memchr, memcpy

from uricodec._base._atomic cimport uc_put8
from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyMem_RawCalloc, PyMem_RawFree
from uricodec._base._kernels cimport ALPHANUM, ByteSet, kernels, next_mark, remove_byte, uc_set, uc_utf8
from uricodec._base._text cimport borrow_bytes, copy_of_bytes, sequence_at, write_character
from uricodec._codec._percent cimport hex_value, write_triplet
from uricodec._rows._engine cimport BAD_JSON, SURROGATE_ESCAPE

from cpython.buffer cimport PyBuffer_Release


# --- CSV ----------------------------------------------------------------------------------------------------------------

cdef void find_csv_field(const uint8_t *s, size_t i, size_t n, const uc_set *inside, CsvField *field) noexcept nogil:
    """Find the end of the field that starts at i: the next byte after its quotes that is not in `inside`."""
    cdef const uint8_t *quote
    field.start, field.closed = i, True
    field.quoted = i < n and s[i] == c'"'
    if field.quoted:
        field.closed = False
        i += 1
        while i < n:
            quote = <const uint8_t *>memchr(s + i, c'"', n - i)
            if quote == NULL:
                i = n
                break
            i = quote - s + 1
            if i == n or s[i] != c'"':
                field.closed = True
                break
            i += 1
    field.end = i + kernels.span(s + i, n - i, inside)


cdef size_t unescape_csv(const uint8_t *s, const CsvField *field, uint8_t *dst) noexcept nogil:
    """Write the value of a quoted field. It is never longer than the field. Return its size."""
    cdef size_t i = field.start + 1, o = 0
    cdef bint open = True
    while i < field.end:
        if open and s[i] == c'"':
            i += 1
            if i == field.end or s[i] != c'"':
                open = False
                continue
        dst[o] = s[i]
        o += 1
        i += 1
    return o


cdef size_t place_in_csv(const uint8_t *s, const CsvField *field, size_t offset) noexcept nogil:
    """Return the offset in s of a byte of the value, which is quoted."""
    cdef size_t i = field.start + 1
    cdef bint open = True
    while i < field.end:
        if open and s[i] == c'"':
            if i + 1 < field.end and s[i + 1] == c'"':
                i += 1
            else:
                open = False
                i += 1
                continue
        if offset == 0:
            break
        offset -= 1
        i += 1
    return i


cdef size_t escape_csv(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Write a value in quotes, at most 2 n + 2 bytes. Return the size."""
    cdef size_t i = 0, o = 1, size
    cdef const uint8_t *quote
    dst[0] = c'"'
    while True:
        quote = <const uint8_t *>memchr(src + i, c'"', n - i)
        size = n - i if quote == NULL else quote - src - i
        memcpy(dst + o, src + i, size)
        o += size
        i += size
        dst[o] = c'"'
        o += 1
        if quote == NULL:
            return o
        dst[o] = c'"'
        o += 1
        i += 1


# --- JSON objects -----------------------------------------------------------------------------------------------------

# RFC 8259 section 7:
#   string = quotation-mark *char quotation-mark
#   unescaped = %x20-21 / %x23-5B / %x5D-10FFFF
cdef ByteSet IN_STRING = ~ByteSet('"\\')
# Section 2: ws = *( %x20 / %x09 / %x0A / %x0D )
# Characters of numbers, true, false and null; any other byte ends them.
cdef ByteSet IN_SCALAR = ALPHANUM | "+-."
cdef ByteSet JSON_STRUCTURE = ByteSet('"\\[]{}')


cdef inline size_t end_of_string(const uint8_t *s, const uint64_t *marks, size_t i, size_t n, bint *escaped) noexcept nogil:
    """Return the offset of the quote that closes a string whose first byte is s[i]; n if it is not closed."""
    escaped[0] = False
    while True:
        i = next_mark(marks, i, n)
        if i >= n or s[i] == c'"':
            return i
        if s[i] == c'\\':
            escaped[0] = True
            i += 1
        i += 1


cdef size_t end_of_value(const uint8_t *s, const uint64_t *marks, size_t i, size_t n) noexcept nogil:
    """Return the offset after a value that is not a string; n if it does not end or is not a value."""
    cdef size_t depth = 0, start = i
    cdef bint escaped
    if i < n and s[i] != c'{' and s[i] != c'[':
        while i < n and IN_SCALAR.set.member[s[i]]:
            i += 1
        return i if i > start else n
    while True:
        i = next_mark(marks, i, n)
        if i >= n:
            return n
        if s[i] == c'"':
            i = end_of_string(s, marks, i + 1, n, &escaped)
        elif s[i] == c'{' or s[i] == c'[':
            depth += 1
        elif s[i] != c'\\':
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1


cdef Found_member next_member(const uint8_t *s, const uint64_t *marks, size_t *i, size_t n, bint first, bint array,
                              Member *member) noexcept nogil:
    """Find the next member of an object, or element of an array, at or after s[i]: i is after the opening bracket for the
    `first`, otherwise after the previous value. Afterwards i is after the value, or at its start if it is not a string.
    NO_MORE: i is after the closing bracket."""
    cdef size_t at = skip_spaces(s, i[0], n)
    if at < n and s[at] == (c']' if array else c'}'):
        i[0] = at + 1
        return NO_MORE
    if not first:
        if at >= n or s[at] != c',':
            return NO_OBJECT
        at = skip_spaces(s, at + 1, n)
    if not array:
        if at >= n or s[at] != c'"':
            return NO_OBJECT
        member.name = at + 1
        member.name_end = end_of_string(s, marks, at + 1, n, &member.name_escaped)
        at = skip_spaces(s, member.name_end + 1, n)
        if at >= n or s[at] != c':':
            return NO_OBJECT
        at = skip_spaces(s, at + 1, n)
    member.start, member.value = at, 0
    i[0] = at
    if at < n and s[at] == c'"':
        member.value = at + 1
        member.value_end = end_of_string(s, marks, at + 1, n, &member.value_escaped)
        i[0] = member.value_end + 1
    return MEMBER if i[0] < n else NO_OBJECT


# --- JSON strings -----------------------------------------------------------------------------------------------------

# RFC 8259 section 7:
#   char = unescaped / escape ( %x22 / %x5C / %x2F / %x62 / %x66 / %x6E / %x72 / %x74 / %x75 4HEXDIG )
cdef inline int simple_escape(uint8_t c) noexcept nogil:
    if c == c'"' or c == c'\\' or c == c'/':
        return c
    return (8 if c == c'b' else 12 if c == c'f' else 10 if c == c'n' else 13 if c == c'r' else 9 if c == c't' else
            NOWHERE)


cdef int unit_of(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the UTF-16 code unit that is written as "\\uXXXX" at s[i]; NOWHERE if none is."""
    cdef int unit = 0, digit
    cdef size_t k
    if n - i < 6 or s[i] != c'\\' or s[i + 1] != c'u':
        return NOWHERE
    for k in range(2, 6):
        digit = hex_value(s[i + k])
        if digit < 0:
            return NOWHERE
        unit = unit << 4 | digit
    return unit


cdef size_t read_escape(const uint8_t *s, size_t i, size_t n, uint8_t *utf8, int *have, int *code) noexcept nogil:
    """Decode the escape at s[i] to UTF-8. Return its length; 0 if it is invalid, see `code`."""
    cdef int unit = unit_of(s, i, n), low
    cdef size_t length = 6
    code[0] = BAD_JSON
    if unit == NOWHERE:
        unit = simple_escape(s[i + 1]) if n - i > 1 else NOWHERE
        utf8[0] = <uint8_t>unit
        have[0] = 1
        return 0 if unit == NOWHERE else 2
    if 0xD800 <= unit <= 0xDFFF:
        low = unit_of(s, i + 6, n)
        if unit >= 0xDC00 or low < 0xDC00 or low > 0xDFFF:
            code[0] = SURROGATE_ESCAPE
            return 0
        unit = 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00
        length = 12
    have[0] = <int>write_character(<uint32_t>unit, utf8)
    return length


cdef size_t unescape_json(const uint8_t *s, size_t n, uint8_t *dst, int *code, size_t *place) noexcept nogil:
    """Write the text of a string, at most n bytes. Return its size; (size_t)-1, code and place if the string is invalid."""
    cdef size_t i = 0, o = 0, size, length
    cdef uint8_t utf8[4]
    cdef int have
    while True:
        size = kernels.span(s + i, n - i, &IN_STRING.set)
        memcpy(dst + o, s + i, size)
        i += size
        o += size
        if i >= n:
            return o
        length = read_escape(s, i, n, utf8, &have, code)
        if length == 0:
            place[0] = i
            return <size_t>NOWHERE
        memcpy(dst + o, utf8, have)
        o += have
        i += length


cdef size_t place_in_json(const uint8_t *s, size_t n, size_t offset) noexcept nogil:
    """Return the offset in a string, as written, of a byte of its text."""
    cdef size_t i = 0, length
    cdef uint8_t utf8[4]
    cdef int have, code
    while i < n:
        have = 1
        length = 1 if s[i] != c'\\' else read_escape(s, i, n, utf8, &have, &code)
        if offset < <size_t>have or length == 0:
            break
        offset -= have
        i += length
    return i


# Bytes of a string that never need escaping,
cdef ByteSet PLAIN_ASCII = ByteSet(range(0x20, 0x7F)) - '"\\'


cdef bint is_plain_json(const uint8_t *src, size_t n) noexcept nogil:
    """Return whether no byte of a string needs, or may need, escaping."""
    return kernels.span(src, n, &PLAIN_ASCII.set) == n


cdef size_t put_unit(int unit, uint8_t *dst) noexcept nogil:
    """Write a character as an escape, such as "\\n" or "\\u0001". Return the size, 6 at most."""
    cdef const char *digits = "0123456789abcdef"
    dst[0] = c'\\'
    dst[1] = (c'"' if unit == c'"' else c'\\' if unit == c'\\' else c'b' if unit == 8 else c'f' if unit == 12 else
              c'n' if unit == 10 else c'r' if unit == 13 else c't' if unit == 9 else c'u')
    if dst[1] != c'u':
        return 2
    dst[2], dst[3], dst[4], dst[5] = digits[unit >> 12], digits[unit >> 8 & 15], digits[unit >> 4 & 15], digits[unit & 15]
    return 6


# ... and those in text that is UTF-8, except the first bytes of U+0080-00BF and U+2000-2FFF.
cdef ByteSet PLAIN_TEXT = (PLAIN_ASCII | ByteSet(range(0x80, 0x100))) - b"\xC2\xE2"


cdef size_t escape_json(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Write a string with its quotes, at most 6 n + 2 bytes. Return the size.

    Escaped are quotes and backslashes, all controls (U+0000-001F, 007F-009F), and the separators U+2028 and 2029. A
    byte that is not UTF-8 becomes a triplet such as "%FF", because JSON strings consist of characters.
    """
    cdef size_t i = 0, o = 1, size
    cdef uc_utf8 found
    cdef const uc_set *plain
    cdef int length
    dst[0] = c'"'
    if is_plain_json(src, n):   # most strings are
        memcpy(dst + 1, src, n)
        dst[n + 1] = c'"'
        return n + 2
    plain = &PLAIN_TEXT.set if kernels.scan_utf8(src, n, &found) == n else &PLAIN_ASCII.set
    while True:
        size = kernels.span(src + i, n - i, plain)
        memcpy(dst + o, src + i, size)
        i += size
        o += size
        if i >= n:
            break
        length = sequence_at(src + i, n - i)
        if length == 0:
            o += write_triplet(src[i], dst + o)
            i += 1
            continue
        if length == 1:
            o += put_unit(src[i], dst + o)
        elif length == 2 and src[i] == 0xC2 and src[i + 1] < 0xA0:
            o += put_unit(src[i + 1], dst + o)
        elif length == 3 and src[i] == 0xE2 and src[i + 1] == 0x80 and src[i + 2] | 1 == 0xA9:
            o += put_unit(0x2000 | src[i + 2] & 0x3F, dst + o)
        else:
            memcpy(dst + o, src + i, length)
            o += length
        i += length
    dst[o] = c'"'
    return o + 1


cpdef bytes json_string(bytes text):
    r"""Return a text as a JSON string, with its quotes, as all commands write it; see escape_json().

    >>> print(json_string(b"a\t\x1b\xc3\xa9\xff").decode())
    "a\t\u001bé%FF"
    """
    cdef bytes escaped = PyBytes_FromStringAndSize(NULL, 6 * len(text) + 2)
    cdef size_t size = escape_json(<const uint8_t *>PyBytes_AS_STRING(text), len(text), <uint8_t *>PyBytes_AS_STRING(escaped))
    return escaped[:<Py_ssize_t>size]


# --- records ----------------------------------------------------------------------------------------------------------

cdef list FORM_NAMES = ["lines", "delimited", "csv", "json"]


cdef size_t end_of_csv(const Frame *frame, const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the offset of the newline that ends the record that starts at i; n if it does not end."""
    cdef CsvField field
    while True:
        find_csv_field(s, i, n, &frame.inside, &field)
        if field.end == n or s[field.end] == c'\n':
            return field.end
        i = field.end + 1


cdef size_t end_of_records(const Frame *frame, const uint8_t *s, size_t start, size_t n) noexcept nogil:
    """Return the offset after the last newline that ends a record of CSV, given the start of one; `start` if none."""
    cdef size_t i = start, outside = start, at, end = start
    cdef const uint8_t *quote
    while True:
        quote = <const uint8_t *>memchr(s + i, c'"', n - i)
        at = n if quote == NULL else quote - s
        if quote != NULL and at > start and s[at - 1] != frame.delimiter and s[at - 1] != c'\n':
            i = at + 1      # inside an unquoted field
            continue
        i = at
        while at > outside and s[at - 1] != c'\n':
            at -= 1
        if at > outside:
            end = at
        if quote == NULL:
            return end
        while True:
            quote = <const uint8_t *>memchr(s + i + 1, c'"', n - i - 1)
            if quote == NULL:
                return end
            i = quote - s + 1
            if i == n or s[i] != c'"':
                break
        outside = i


cdef size_t end_of_record(const Frame *frame, const uint8_t *s, size_t n, size_t *next) noexcept nogil:
    """Return where the first record ends, without a "\r" before its newline; and where the next one starts."""
    cdef const uint8_t *found
    cdef size_t end
    if frame.form == CSV:
        end = end_of_csv(frame, s, 0, n)
    else:
        found = <const uint8_t *>memchr(s, frame.end, n)
        end = n if found == NULL else found - s
    next[0] = min(end + 1, n)
    if frame.end == c'\n' and end and s[end - 1] == c'\r' and (end < n or frame.form == CSV):
        end -= 1
    return end


@cython.final
cdef class Framing:
    """The format of records, and which of their values are selected.

    Args:
        form (str): "lines", "delimited", "csv" or "json".
        end (bytes): The byte that ends a line.
        delimiter (bytes): The byte between fields.
        fields (Iterable[tuple[int, int | None]]): Spans of selected fields, as first and last numbers from 1, ascending
            and disjoint; None: to the end.
        names (Iterable[bytes]): The names of selected members of objects, in UTF-8, at most 32. "a.b" selects the
            member "a.b", and the member "b" of the object, or of the objects in the array, that is the member "a"; at
            most 16 steps.
        only (bool): Whether each value becomes a line, and nothing else is written.
        jsonl (bool): Whether each line becomes a JSON string; requires the form "lines".
        after (bool): Whether each value stays, and its result follows it: further fields of CSV, or another member of
            the JSON object. The operation writes CSV or JSON.
        base (int): Which field, or which of `names`, from 1, has the base of the other values of its record; 0: none.
            It must be selected. The operation has the attribute `pairs`.
        scalars (bool): Whether numbers, true, false and null in JSON are values like strings.

    Attributes:
        by (Framing | None): The format with the value by which equivalent records are ordered, for deduplication.
    """

    def __cinit__(self, form, end=b"\n", delimiter=b"\t", fields=((1, None),), names=(), only=False, free=False,
                  jsonl=False, after=False, size_t base=0, bint scalars=False):
        cdef Frame *frame = &self.frame
        cdef size_t i
        cdef ByteSet every = ByteSet(range(256))
        spans = list(fields)
        frame.form = <Form><int>FORM_NAMES.index(form)
        frame.end, frame.delimiter = ord(end), ord(delimiter)
        frame.only, frame.free, frame.jsonl = only, free, jsonl and frame.form == LINES and not only
        frame.copies, frame.after, frame.base = not (only or frame.jsonl), after, base
        frame.scalars = scalars
        if frame.form == LINES:
            spans = [(1, None)]
        frame.inside = every.set
        remove_byte(&frame.inside, frame.end)
        if frame.form == DELIMITED or frame.form == CSV:
            remove_byte(&frame.inside, frame.delimiter)
        frame.plain = frame.inside
        remove_byte(&frame.plain, c'"')
        remove_byte(&frame.plain, c'\r')
        frame.unmarked = frame.inside
        if frame.form == CSV:
            remove_byte(&frame.unmarked, c'"')
        elif frame.form == JSON:
            for byte in JSON_STRUCTURE:
                remove_byte(&frame.unmarked, byte)
        self.names, self.end = tuple(names), end
        steps = 0
        for name in self.names:
            steps = max(steps, name.count(b".") + 1)
        if len(self.names) > PATHS or steps > STEPS:
            raise ValueError(f"expected at most {PATHS} member names of at most {STEPS} steps each")
        frame.path_count = <int>len(self.names)
        for i, name in enumerate(self.names):
            frame.paths[i].text = <const uint8_t *>PyBytes_AS_STRING(<bytes?>name)
            frame.paths[i].size = <size_t>len(name)
        frame.spans = <Span *>PyMem_RawCalloc(max(len(spans), 1), sizeof(Span))
        self.reached = <uint8_t *>PyMem_RawCalloc(max(len(spans), 1), 1)
        if frame.spans == NULL or self.reached == NULL:
            raise MemoryError  # pragma: no cover: no memory
        frame.span_count = <size_t>len(spans)
        for i, (first, last) in enumerate(spans):
            frame.spans[i].first, frame.spans[i].last = first - 1, SIZE_MAX if last is None else last - 1

    def __dealloc__(self):
        PyMem_RawFree(self.frame.spans)
        PyMem_RawFree(self.reached)

    cdef void note_seen(self, const Seen *found) noexcept:
        """Note what records contained."""
        cdef int p
        if not found.asked:
            return
        uc_put8(&self.asked, 1)
        for p in range(self.frame.path_count):
            if found.paths >> p & 1:
                uc_put8(&self.seen[p], 1)
        if found.spans:
            uc_put8(&self.reached[found.spans - 1], 1)
        if found.parted:
            uc_put8(&self.parted, 1)
        if found.open:
            uc_put8(&self.open, 1)

    @property
    def missing(self):
        """The names that selected no member so far, not counting objects; empty if no record was read.

        >>> Framing("json", names=[b"a"]).missing
        ()
        """
        missing = []
        for i, name in enumerate(self.names):
            if self.asked and not self.seen[i]:
                missing.append(name)
        return tuple(missing)

    @property
    def beyond(self):
        """The spans of selected fields that no record had so far; empty if no record was read.

        >>> Framing("csv", fields=[(1, 1)]).beyond
        ()
        """
        cdef size_t i, reached = 0
        cdef list spans = []
        if self.asked and self.frame.form != JSON:
            for i in range(self.frame.span_count):
                if self.reached[i]:
                    reached = i + 1
            for i in range(reached, self.frame.span_count):
                last = self.frame.spans[i].last
                spans.append((self.frame.spans[i].first + 1, None if last == SIZE_MAX else last + 1))
        return tuple(spans)

    @property
    def divided(self):
        """Whether a record had a delimiter so far; None: no record was read."""
        return bool(self.parted) if self.asked else None

    @property
    def unclosed(self):
        """Whether a record of CSV had quotes that are not closed: it ended with the input."""
        return bool(self.open)

    def cut(self, buffer, start, stop):
        """Return the end of the last complete record in a buffer.

        Args:
            buffer (bytes-like): A buffer with records.
            stop (int): Where the valid bytes of the buffer end.

        >>> Framing("csv", delimiter=b",").cut(b'a,b\\n"c\\nd",e\\n"f\\n', 0, 15)
        12
        """
        cdef Py_buffer view
        cdef size_t i = start, n = stop, end = i
        if self.frame.form != CSV:
            return buffer.rfind(self.end, start, stop) + 1
        borrow_bytes(buffer, &view)
        n = min(n, <size_t>view.len)
        if i < n:
            with nogil:
                end = end_of_records(&self.frame, <const uint8_t *>view.buf, i, n)
        PyBuffer_Release(&view)
        return <Py_ssize_t>end if end > i else 0

    def skip(self, buffer, start, stop, state):
        """Return the end of a record of CSV whose beginning is no longer in the buffer.

        Args:
            buffer (bytes-like): The next part of the record.
            state (int): The state returned by the previous call; 0 for the beginning of the record.

        >>> Framing("csv").skip(b'"a', 0, 2, 0), Framing("csv").skip(b'\\n"\\nb', 0, 4, 2)
        ((0, 2), (3, 0))
        """
        count, end, state = self.skip_records(memoryview(buffer)[:stop], start, 1, state)
        return end if count else 0, state

    def skip_records(self, buffer, size_t start, size_t most, int state):
        """Find the end of the last one of the next records of CSV or lines.

        Args:
            buffer (bytes-like): The next part of the records.
            start (int): Where it begins.
            most (int): The number of records to skip.
            state (int): The state returned by the previous call; 0 for the beginning of a record.

        Returns:
            tuple[int, int, int]: How many records end in the buffer, at most `most`; the end of the last one of them,
                or `start`; and the state at the end of the buffer, or 0 after `most` records.

        >>> Framing("lines").skip_records(b"a\\nb\\nc", 0, 5, 0), Framing("csv").skip_records(b'"a\\n",b\\nc', 0, 1, 0)
        ((2, 4, 0), (1, 7, 0))
        """
        cdef Py_buffer view
        cdef const uint8_t *s
        cdef const uint8_t *found
        cdef size_t i = start, n, end = start, count = 0
        cdef uint8_t delimiter = self.frame.delimiter, terminator = self.frame.end
        cdef bint csv = self.frame.form == CSV
        cdef int at = state     # 0: field begins; 1: in an unquoted field; 2: in quotes; 3: after a quote in quotes
        borrow_bytes(buffer, &view)
        with nogil:
            s, n = <const uint8_t *>view.buf, <size_t>view.len
            while count < most and i < n:
                if not csv:
                    found = <const uint8_t *>memchr(s + i, terminator, n - i)
                    if found == NULL:
                        break
                    count, end = count + 1, found + 1 - s
                    i = end
                    continue
                if at == 2:
                    at = 3 if s[i] == c'"' else 2
                elif s[i] == c'"' and at != 1:
                    at = 2
                elif s[i] == c'\n':
                    count, end, at = count + 1, i + 1, 0
                else:
                    at = 0 if s[i] == delimiter else 1
                i += 1
        PyBuffer_Release(&view)
        return count, end, at

    def first(self, buffer, stop):
        """Return the fields of the first record, which is the header.

        Args:
            buffer (bytes-like): At least one record of CSV, or with delimiters.
            stop (int): Where the valid bytes of the buffer end.

        >>> Framing("csv", delimiter=b",").first(b'a,"b""c"\\r\\nd', 10)
        ([b'a', b'b"c'], 10)
        """
        cdef bytes data = copy_of_bytes(memoryview(buffer)[:stop])
        cdef const uint8_t *s = <const uint8_t *>PyBytes_AS_STRING(data)
        cdef CsvField field
        cdef size_t i = 0, end, next
        cdef bytes value
        cdef list values = []
        end = end_of_record(&self.frame, s, <size_t>len(data), &next)
        if self.frame.form == DELIMITED:
            return data[:end].split(bytes([self.frame.delimiter])), next
        while i <= end:
            find_csv_field(s, i, end, &self.frame.inside, &field)
            value = PyBytes_FromStringAndSize(<const char *>s + i, field.end - i)
            if field.quoted:
                value = value[:unescape_csv(s, &field, <uint8_t *>PyBytes_AS_STRING(value))]
            values.append(value)
            i = field.end + 1
        return values, next
