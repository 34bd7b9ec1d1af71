"""Values in records: which fields or members a command processes, and the transform that runs it on them."""

import os

from uricodec import ByteSet
from uricodec._base._text import new_buffer
from uricodec._codec._rows import NO_CONTROL
from uricodec._io import reading
from uricodec._io.reports import visible
from uricodec._records._fields import reason_of, transform_fields
from uricodec._records._framing import Framing
from uricodec._records.headers import (
    FieldError,
    InputFormat,
    LongHeaderError,
    NoHeaderError,
    is_delimiter,
    merge,
    number_of,
    spans_of,
)
from uricodec.cli import lines
from uricodec.cli.errors import CommandError

EVERY = ByteSet(range(256))

LONG_HEADER_HINT = "--max-line SIZE allows longer ones"
UNCLOSED = "the last record ends within quotes, which are not closed"


class SelectedValues:
    """The values of records that a command processes. With --header and names of fields, where they are is known after
    the header is read.

    Args:
        arguments (Arguments): The arguments of the command.
        only (bool): Whether each value becomes a line, and nothing else is written.
        jsonl (bool): Whether each line becomes a JSON string.
        added (list[bytes] | None): Each value stays, and its result follows it: in CSV, fields whose names end like
            this; in JSON, a member. None: results replace values.

    Attributes:
        framing (Framing): The structure of the records.
        decodable (ByteSet): The bytes whose triplets may be decoded.
        end, out, whole, raw, empty: See lines.Transform.
        jsonl (bool): Whether each line becomes a JSON string.

    Raises:
        CommandError: --fields, --delimiter or --json-field is invalid.
    """

    def __init__(self, arguments, only=False, jsonl=False, added=None):
        null_data = arguments.null_data
        self._arguments = arguments
        self._items = arguments.fields or ["1-"]
        self._before = b""  # what is written before the records of the first input
        self.added, self._base = added, arguments.base_field
        self.end = b"\0" if null_data else b"\n"
        self.out = b"\n" if jsonl or only else self.end
        self.jsonl = jsonl
        self.whole = jsonl or only
        self.raw = arguments.raw
        self.empty = b'""' if arguments.csv else b"null" if jsonl or arguments.json_field else b""
        form = "csv" if arguments.csv else "json" if arguments.json_field else "lines"
        if arguments.fields and not arguments.csv:
            form = "delimited"
        self._inputs = InputFormat(form, self.end, delimiter_of(arguments, form, self.end), arguments.header)
        self.ends = self._inputs.ends
        self._is_delimiter_given = arguments.delimiter is not None
        self._options = self._inputs.options | {
            "only": only,
            "free": self.raw,
            "jsonl": jsonl,
            "after": added is not None,
        }
        lines_decodable = EVERY - self.end if null_data else NO_CONTROL
        if form == "csv":
            self.decodable = NO_CONTROL
        elif form == "delimited":
            self.decodable = lines_decodable - self._options["delimiter"]
        elif form == "json":
            names = list(map(os.fsencode, arguments.json_field))
            self._options["names"] = names
            if self._base is not None:
                if os.fsencode(self._base) in names:
                    raise CommandError(
                        f"--base-field: {self._base!r} is also in --json-field", 2, "name other members there"
                    )
                self._options |= {"names": [*names, os.fsencode(self._base)], "base": len(names) + 1}
            self.decodable = EVERY
        else:
            self.decodable = EVERY if jsonl else lines_decodable
        try:
            self.framing = Framing(**self._options) if arguments.header else self._framing(None)
        except ValueError as error:
            raise CommandError(f"--json-field: {error}", 2, "a nested member is written a.b") from None

    def _framing(self, names, where=""):
        """Return the Framing, given the names of the fields, if they have some; `where` they are, for messages."""
        flag = "--fields"
        try:
            spans = spans_of(self._items, names)
            if self._base is None or self._options["form"] == "json":
                return Framing(**self._options, fields=spans)
            flag = "--base-field"
            number = number_of(self._base, names)
        except FieldError as error:
            hint = "names need --header" if isinstance(error, NoHeaderError) else ""
            raise CommandError(f"{flag}: {where}{error}", 2, hint) from None
        if (number, number) in spans:
            raise CommandError(f"--base-field: {self._base!r} is also in --fields", 2, "name other fields there")
        return Framing(**self._options, fields=merge([*spans, (number, number)]), base=number)

    def begin(self, chunk, name):
        """Read the byte order mark and the header of an input.

        Args:
            chunk (Chunk): The first of the input.
            name (str): Of the input, for messages.

        Returns:
            int: Where the first record starts.

        Raises:
            CommandError: The header lacks a field of --fields, or is too long.
            FileError: The header differs from that of the first input.
        """
        is_first = self._inputs.first is None
        try:
            head = self._inputs.begin(chunk, name)
        except LongHeaderError as error:
            raise CommandError(str(error), 3, LONG_HEADER_HINT) from None
        self._inputs.compare(head, name)
        if is_first:
            header = head.header
            if self._inputs.has_header:
                self.framing = self._framing(head.names, f"{name}: ")
                header = self._header_with_names(head) if self.added else header
            self._before = head.mark + header
        return head.size

    def _header_with_names(self, head):
        """Return a header of CSV with the names of added fields."""
        spans, cells = spans_of(self._items, head.names), []
        for number, name in enumerate(head.names, 1):
            cells.append(name)
            if any(low <= number and (high is None or number <= high) for low, high in spans):
                cells += [name + b"_" + added for added in self.added]
        end = head.header[len(head.header.rstrip(b"\r\n")) :]
        delimiter = self._options["delimiter"]
        return delimiter.join([cell_of(c, delimiter) for c in cells]) + end

    def finish(self, errors):
        """Check what the records of all inputs contained; see Transform.finish()."""
        framing = self.framing
        if framing.missing:
            names = visible(b", ".join(framing.missing))
            message = f"--json-field: no record contains a string at {names!r}"
            raise CommandError(message, 1, "a nested member is written a.b")
        for message, hint in self._doubts():
            if errors == "raise":
                raise CommandError(message, 1, hint)
            lines.note(self._arguments, message)

    def _doubts(self):
        """Yield what shows that the records were not what the arguments say (str), and a hint."""
        framing = self.framing
        delimiter = self._options["delimiter"].decode("latin-1")
        if framing.beyond:
            spans = ", ".join(str(low) if low == high else f"{low}-{high or ''}" for low, high in framing.beyond)
            yield f"--fields: no record has field {spans}", f"fields are separated by {delimiter!r}; see --delimiter"
        elif framing.divided is False and self._is_delimiter_given:
            yield f"--delimiter: no record contains {delimiter!r}", ""
        if framing.unclosed:
            yield UNCLOSED, ""

    def header_of(self, _chunk, _size):
        """Return what is written for the first bytes of an input, which are in its first chunk."""
        before, self._before = self._before, b""
        return b"" if self.whole else before


def delimiter_of(arguments, form, end):
    """Return the byte between fields; None: the usual one."""
    delimiter = arguments.delimiter
    if delimiter is not None and not is_delimiter(delimiter, form, end):
        raise CommandError(
            f"--delimiter: {visible(delimiter)!r} has another meaning in these records", 2, "such as --delimiter ';'"
        )
    return delimiter


def cell_of(value, delimiter):
    """Return a value (bytes) as a field of CSV.

    >>> cell_of(b"url", b","), cell_of(b"a,b", b",")
    (b'url', b'"a,b"')
    """
    if any(byte in value for byte in (b'"', b"\r", b"\n", delimiter)):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value


class FieldTransform(lines.Transform):
    """Runs an operation on values in records.

    Args:
        values (SelectedValues): The values.
        rows (RowOperation): The operation.
    """

    def __init__(self, values, rows):
        self._values, self._rows = values, rows
        self.end, self.out, self.raw = values.end, values.out, values.raw
        self.whole, self.empty = values.whole, values.empty
        self.begin, self.header_of, self.ends, self.finish = values.begin, values.header_of, values.ends, values.finish
        self._buffer = new_buffer(2 * reading.CHUNK)
        if hasattr(rows, "record") and values.added is None:
            self.header, self.record = rows.header, rows.record
        elif values.jsonl:
            self.record = lambda code, offset: values.empty

    def work(self, lines, errors, limit):
        while True:
            read, found = transform_fields(lines, self._buffer, self._rows, self._values.framing, errors, limit)
            if read or found.invalid:
                return read, found, memoryview(self._buffer)[: found.written]
            size, self._buffer = 2 * len(self._buffer), bytearray()  # the result of the first record did not fit
            self._buffer = new_buffer(size)

    def reason(self, code):
        return reason_of(self._rows, code)

    def group(self, lines, found):
        return bytes(memoryview(self._buffer)[: found.written]).splitlines()
