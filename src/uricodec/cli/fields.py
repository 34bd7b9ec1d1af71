"""Values in records: which fields or members a command processes, and the worker that runs it on them."""

import os

from uricodec import ByteSet
from uricodec._codec._rows import NO_CONTROL
from uricodec._io import streams
from uricodec._records._fields import reason_of, transform_fields
from uricodec._records._framing import Framing
from uricodec._records.ends import MarkedLineEnds, RecordEnds, front_of
from uricodec._rows.reports import visible
from uricodec.cli import lines
from uricodec.cli.errors import CommandError

EVERY = ByteSet(range(256))


def spans_of(items, names=None, flag="--fields"):
    """Return the fields that an option selects.

    Args:
        items (list[str]): Lists as in cut: "1,3-5", "-2", "4-"; with names, also these.
        names (list[bytes] | None): The names of the fields, if they have some.
        flag (str): The option.

    Returns:
        list[tuple[int, int | None]]: Spans of fields, which count from 1, ascending and apart.

    Raises:
        CommandError: An item is invalid.

    >>> spans_of(["7,1,3-5", "4-6"])
    [(1, 1), (3, 7)]
    >>> spans_of(["url,-2", "9-"], [b"id", b"", b"url"])
    [(1, 3), (9, None)]
    """
    found = []
    for item in [part for each in items for part in each.split(",")]:
        if names is not None and os.fsencode(item) in names:
            found += [(n, n) for n, name in enumerate(names, 1) if name == os.fsencode(item)]
        else:
            found.append(span_of(item, names, flag))
    merged = []
    for low, high in sorted(found, key=lambda span: span[0]):
        if merged and (merged[-1][1] is None or low <= merged[-1][1] + 1):
            before, end = merged[-1]
            merged[-1] = before, None if end is None or high is None else max(end, high)
        else:
            merged.append((low, high))
    return merged


def span_of(item, names, flag):
    """Return the fields that an item of a list selects, which is not a name."""
    first, dash, last = item.partition("-")
    parts = [part for part in (first, last) if part]
    if not parts or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        if names is not None:
            raise CommandError(f"{flag}: the header has no field {item!r}", 2)
        hint = "names need --header" if item.strip("-") else ""
        raise CommandError(f"{flag}: expected numbers such as 1,3-5, got {item!r}", 2, hint)
    low = int(first or 1)
    high = (int(last) if last else None) if dash else low
    if low < 1:
        raise CommandError(f"{flag}: fields count from 1, got {item!r}", 2)
    if high is not None and high < low:
        raise CommandError(f"{flag}: the first field of {item!r} comes after the last one", 2)
    return low, high


class Plan:
    """Where the values of a command are. With --header and names of fields, that is known after the header is read.

    Args:
        arguments (argparse.Namespace): The arguments of the command.
        only (bool): Whether each value becomes a line, and nothing else is written.
        added (list[bytes] | None): Each value stays, and its result follows it: in CSV, fields whose names end like
            this; in JSON, a member. None: results replace values.

    Attributes:
        framing (Framing): The structure of the records.
        decodable (ByteSet): The bytes whose triplets may be decoded.
        end (bytes): The line terminator of the input.
        out (bytes): The line terminator of the output.
        whole (bool): Whether each line that is written has a terminator, even if the last line of the input has none.
        raw (bool): Whether control characters are decoded, too.
        jsonl (bool): Whether each line becomes a JSON string.
        csv (bool): Whether records are CSV.
        empty (bytes): The text of an empty record.

    Raises:
        CommandError: --fields, --delimiter or --json-field is invalid.
    """

    def __init__(self, arguments, only=False, added=None):
        null_data = arguments.null_data
        self._items = arguments.fields or ["1-"]
        self._header = None if arguments.header else b""
        self._shown = b""  # the header that is written; b"": that of the input
        self.added, self._base = added, arguments.base_field
        self._lacks_header = False
        self.end = b"\0" if null_data else b"\n"
        self.out = b"\n" if arguments.jsonl or only else self.end
        self.jsonl = arguments.jsonl
        self.whole = arguments.jsonl or only
        self.raw = arguments.raw
        self.csv = arguments.csv
        self.empty = b'""' if arguments.csv else b"null" if arguments.jsonl or arguments.json_field else b""
        self._marked = bool(arguments.csv or arguments.header or arguments.json_field)
        options = {
            "end": self.end,
            "only": only,
            "free": self.raw,
            "jsonl": arguments.jsonl,
            "after": added is not None,
        }
        lines_decodable = EVERY - self.end if null_data else NO_CONTROL
        if arguments.csv:
            options |= {"form": "csv", "delimiter": delimiter_of(arguments, b",", b'"\r\n')}
            self.decodable = NO_CONTROL
        elif arguments.fields:
            delimiter = delimiter_of(arguments, b"\t", self.end if null_data else b"\r\n")
            options |= {"form": "delimited", "delimiter": delimiter}
            self.decodable = lines_decodable - delimiter
        elif arguments.json_field:
            names = list(map(os.fsencode, arguments.json_field))
            options |= {"form": "json", "names": names}
            if self._base is not None:
                if os.fsencode(self._base) in names:
                    raise CommandError(f"--base-field: {self._base!r} is also in --json-field", 2)
                options |= {"names": [*names, os.fsencode(self._base)], "base": len(names) + 1}
            self.decodable = EVERY
        else:
            options["form"] = "lines"
            self.decodable = EVERY if arguments.jsonl else lines_decodable
        self._options = options
        try:
            self.framing = Framing(**options, fields=[(1, 1)]) if arguments.header else self._framing(None)
        except ValueError as error:
            raise CommandError(f"--json-field: {error}", 2) from None

    def _framing(self, names):
        """Return the Framing, given the names of the fields, if they have some."""
        if self._base is None or self._options["form"] == "json":
            return Framing(**self._options, fields=spans_of(self._items, names))
        span, *more = spans_of([self._base], names, "--base-field")
        if more or span[0] != span[1]:
            raise CommandError(f"--base-field: expected one field, got {self._base!r}", 2)
        spans = spans_of(self._items, names)
        if span in spans:
            raise CommandError(f"--base-field: {self._base!r} is also in --fields", 2)
        return Framing(**self._options, fields=spans_of([*self._items, self._base], names), base=span[0])

    def begin(self, chunk, name):
        """Read the byte order mark and the header of an input.

        Args:
            chunk (Chunk): The first of the input.
            name (str): Of the input, for messages.

        Returns:
            int: Where the first record starts.

        Raises:
            CommandError: The header lacks a field of --fields, or differs from that of the first input.
        """
        front = front_of(chunk.buffer, chunk.size) if self._marked else 0
        if self._header == b"":
            self._lacks_header |= not front  # a byte order mark is only one at the start of the output
            return front
        if not chunk.whole:
            raise CommandError(f"{name}: the header is too long", 3, "--max-line SIZE allows longer ones")
        names, size = self.framing.first(chunk.view[front:], chunk.size - front)
        size += front
        header = bytes(chunk.view[front:size])
        if self._header is None:
            self.framing = self._framing(names)
            self._header = header
            if self.added:
                self._shown = bytes(chunk.view[:front]) + self._header_with_names(header, names)
        elif header.rstrip(b"\r\n") != self._header.rstrip(b"\r\n"):
            raise CommandError(f"{name}: header differs from that of the first input", 3)
        return size

    def _header_with_names(self, header, names):
        """Return a header of CSV with the names of added fields."""
        spans, cells = spans_of(self._items, names), []
        for number, name in enumerate(names, 1):
            cells.append(name)
            if any(low <= number and (high is None or number <= high) for low, high in spans):
                cells += [name + b"_" + added for added in self.added]
        end = header[len(header.rstrip(b"\r\n")) :]
        delimiter = self._options["delimiter"]
        return delimiter.join([cell_of(c, delimiter) for c in cells]) + end

    def ends(self):
        """Return the object that finds the ends of the records of one input (streams.LineEnds)."""
        if self.csv:
            return RecordEnds(self.framing)
        return MarkedLineEnds(self.end) if self._marked else streams.LineEnds(self.end)

    def header_of(self, chunk, size):
        """Return what is written for the first bytes of an input, which are in its first chunk."""
        header = b"" if self._lacks_header or self.whole else self._shown or bytes(chunk.view[:size])
        self._lacks_header = True
        return header


def delimiter_of(arguments, default, others):
    """Return the byte between fields, which must not be one of `others`."""
    delimiter = arguments.delimiter or default
    if delimiter in others:
        raise CommandError(f"--delimiter: {visible(delimiter)!r} has another meaning in these records", 2)
    return delimiter


def cell_of(value, delimiter):
    """Return a value (bytes) as a field of CSV.

    >>> cell_of(b"url", b","), cell_of(b"a,b", b",")
    (b'url', b'"a,b"')
    """
    if any(byte in value for byte in (b'"', b"\r", b"\n", delimiter)):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value


class Values(lines.Worker):
    """Runs an operation on values in records.

    Args:
        plan (Plan): Where the values are.
        rows (RowOperation): The operation.
    """

    def __init__(self, plan, rows):
        self._plan, self._rows = plan, rows
        self.end, self.out, self.whole, self.empty, self.raw = plan.end, plan.out, plan.whole, plan.empty, plan.raw
        self._buffer = bytearray(2 * streams.CHUNK)
        if hasattr(rows, "record") and plan.added is None:
            self.header, self.record = rows.header, rows.record
        elif plan.jsonl:
            self.record = lambda code, offset: plan.empty

    def finish(self):
        missing = self._plan.framing.missing
        if missing:
            names = visible(b", ".join(missing))
            message = f"--json-field: no record contains a string at {names!r}"
            raise CommandError(message, 1, "a nested member is written a.b")

    def begin(self, chunk, name):
        return self._plan.begin(chunk, name)

    def header_of(self, chunk, size):
        return self._plan.header_of(chunk, size)

    def ends(self):
        return self._plan.ends()

    def work(self, lines, errors, limit):
        while True:
            read, found = transform_fields(lines, self._buffer, self._rows, self._plan.framing, errors, limit)
            if read or found.invalid:
                return read, found, memoryview(self._buffer)[: found.written]
            size, self._buffer = 2 * len(self._buffer), bytearray()  # the result of the first record did not fit
            self._buffer = bytearray(size)

    def reason(self, code):
        return reason_of(self._rows, code)

    def group(self, lines, found):
        return bytes(memoryview(self._buffer)[: found.written]).splitlines()
