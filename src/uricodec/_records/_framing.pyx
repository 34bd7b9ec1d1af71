"""Where records end in a buffer: lines, perhaps with delimiters or JSON objects in them, and records of CSV."""
cimport cython
from libc.stdint cimport SIZE_MAX
from libc.string cimport memchr

from uricodec._base._atomic cimport uc_put8
from uricodec._base._kernels cimport ByteSet, remove_byte
from uricodec._base._text cimport borrow_bytes, copy_of_bytes
from uricodec._records._quoting cimport *

from cpython.buffer cimport PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree


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
        free (bool): Whether results may contain delimiters and terminators.
        jsonl (bool): Whether each line becomes a JSON string; requires the form "lines".
    """

    def __cinit__(self, form, end=b"\n", delimiter=b"\t", fields=((1, None),), names=(), only=False, free=False,
                  jsonl=False):
        cdef Frame *frame = &self.frame
        cdef size_t i
        cdef ByteSet every = ByteSet(range(256))
        spans = list(fields)
        frame.form = <Form><int>FORM_NAMES.index(form)
        frame.end, frame.delimiter = ord(end), ord(delimiter)
        frame.only, frame.free, frame.jsonl = only, free, jsonl and frame.form == LINES and not only
        frame.copies = not (only or frame.jsonl)
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
            for octet in JSON_STRUCTURE:
                remove_byte(&frame.unmarked, octet)
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
        if frame.spans == NULL:
            raise MemoryError  # pragma: no cover: no memory
        frame.span_count = <size_t>len(spans)
        for i, (first, last) in enumerate(spans):
            frame.spans[i].first, frame.spans[i].last = first - 1, SIZE_MAX if last is None else last - 1

    def __dealloc__(self):
        PyMem_RawFree(self.frame.spans)

    cdef void note_seen(self, uint32_t paths) noexcept:
        """Note that records were read, and by which paths members were found."""
        cdef int p
        uc_put8(&self.asked, 1)
        for p in range(self.frame.path_count):
            if paths >> p & 1:
                uc_put8(&self.seen[p], 1)

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

    def cut(self, buffer, start, stop):
        """Return the end of the last complete record in a buffer.

        Args:
            buffer (bytes-like): A buffer with records.
            start (int): Where a record begins.
            stop (int): Where the valid bytes of the buffer end.

        Returns:
            int: The offset after the record, at most `stop`; 0 if none ends.

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
            start (int): Where the part begins.
            stop (int): Where it ends.
            state (int): The state returned by the previous call; 0 for the beginning of the record.

        Returns:
            tuple[int, int]: The offset after the record, or 0 if it does not end in this part; and the new state.

        >>> Framing("csv").skip(b'"a', 0, 2, 0), Framing("csv").skip(b'\\n"\\nb', 0, 4, 2)
        ((0, 2), (3, 3))
        """
        cdef Py_buffer view
        cdef const uint8_t *s
        cdef size_t i, n = stop, end = 0
        cdef uint8_t delimiter = self.frame.delimiter
        cdef int at = state     # 0: field begins; 1: in an unquoted field; 2: in quotes; 3: after a quote in quotes
        borrow_bytes(buffer, &view)
        s, n = <const uint8_t *>view.buf, min(n, <size_t>view.len)
        for i in range(<size_t>start, n):
            if at == 2:
                at = 3 if s[i] == c'"' else 2
            elif s[i] == c'"' and at != 1:
                at = 2
            elif s[i] == c'\n':
                end = i + 1
                break
            else:
                at = 0 if s[i] == delimiter else 1
        PyBuffer_Release(&view)
        return <Py_ssize_t>end, at

    def first(self, buffer, stop):
        """Return the fields of the first record, which is the header.

        Args:
            buffer (bytes-like): At least one record of CSV, or with delimiters.
            stop (int): Where the valid bytes of the buffer end.

        Returns:
            tuple[list[bytes], int]: The values, and the offset of the next record.

        >>> Framing("csv", delimiter=b",").first(b'a,"b""c"\\r\\nd', 10)
        ([b'a', b'b"c'], 10)
        """
        cdef bytes octets = copy_of_bytes(memoryview(buffer)[:stop])
        cdef const uint8_t *s = <const uint8_t *>PyBytes_AS_STRING(octets)
        cdef CsvField field
        cdef size_t i = 0, end, next
        cdef bytes value
        cdef list values = []
        end = end_of_record(&self.frame, s, <size_t>len(octets), &next)
        if self.frame.form == DELIMITED:
            return octets[:end].split(bytes([self.frame.delimiter])), next
        while i <= end:
            find_csv_field(s, i, end, &self.frame.inside, &field)
            value = PyBytes_FromStringAndSize(<const char *>s + i, field.end - i)
            if field.quoted:
                value = value[:unescape_csv(s, &field, <uint8_t *>PyBytes_AS_STRING(value))]
            values.append(value)
            i = field.end + 1
        return values, next
