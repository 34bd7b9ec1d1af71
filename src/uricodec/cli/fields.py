"""Values in records: which fields or members a command processes."""

import os

from uricodec import ByteSet
from uricodec._io.reports import visible
from uricodec._records._fields import reason_of, transform_fields
from uricodec._records._framing import Framing
from uricodec._records.headers import (
    FieldError,
    InputFormat,
    LongHeaderError,
    NoHeaderError,
    merge,
    number_of,
    spans_of,
)
from uricodec.cli import lines
from uricodec.cli.errors import LONG_HEADER_HINT, UNCLOSED, CommandError

EVERY = ByteSet(range(256))


class Values(lines.Lines):
    """The values of records that a command processes. With --header and names of fields, where they are is known after
    the header is read.

    Args:
        records (Records): Which values of which records.
        only (bool): Whether each value becomes a line, and nothing else is written.
        jsonl (bool): Whether each line becomes a JSON string.
        added (list[bytes] | None): Each value stays, and its result follows it: in CSV, fields whose names end like
            this; in JSON, a member. None: results replace values.
        raw (bool): Whether control characters are decoded, too.
        base (str | None): The field or member of each record with its base.

    Attributes:
        framing (Framing): The structure of the records.
        decodable (ByteSet): The bytes whose triplets may be decoded.
        end, out, whole, raw, empty, jsonl: See lines.Lines.

    Raises:
        CommandError: --field or --json-field is invalid.
    """

    are_records = True

    def __init__(self, records, only=False, jsonl=False, added=None, raw=False, base=None):  # noqa: PLR0913, PLR0917
        super().__init__(records.end, b"\n" if jsonl or only else None, raw)
        form = records.form
        self._items = records.selected or ["1-"]
        self._before = b""  # what is written before the records of the first input
        self.added, self._base, self.jsonl = added, base, jsonl
        self.empty = b'""' if form == "csv" else b"null" if jsonl or form == "json" else b""
        self._inputs = InputFormat(form, self.end, records.delimiter, records.header)
        self.ends = self._inputs.ends
        self._is_delimiter_given = records.delimiter is not None
        self._options = self._inputs.options | {"only": only, "free": raw, "jsonl": jsonl, "after": added is not None}
        if form == "delimited":
            self.decodable -= self._options["delimiter"]
        elif form == "json":
            self.decodable = EVERY
            names = self._options["names"] = list(map(os.fsencode, self._items))
            if base is not None:
                if os.fsencode(base) in names:
                    raise CommandError(f"--base-field: {base!r} is also in --json-field", 2, "name other members there")
                self._options |= {"names": [*names, os.fsencode(base)], "base": len(names) + 1}
            self._items = ["1-"]
        elif jsonl:
            self.decodable = EVERY
        try:
            self.framing = Framing(**self._options) if records.header else self._framing(None)
        except ValueError as error:
            raise CommandError(f"--json-field: {error}", 2, "a nested member is written a.b") from None

    def _framing(self, names, where=""):
        """Return the Framing, given the names of the fields, if they have some; `where` they are, for messages."""
        flag = "--field"
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
            raise CommandError(f"--base-field: {self._base!r} is also in --field", 2, "name other fields there")
        return Framing(**self._options, fields=merge([*spans, (number, number)]), base=number)

    def begin(self, chunk, name):
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

    def finish(self, plan, errors):
        framing = self.framing
        if framing.missing:
            names = visible(b", ".join(framing.missing))
            message = f"--json-field: no record contains a string at {names!r}"
            raise CommandError(message, 1, "a nested member is written a.b")
        for message, hint in self._doubts():
            if errors == "raise":
                raise CommandError(message, 1, hint)
            plan.note(message)

    def _doubts(self):
        """Yield what shows that the records were not what the options say (str), and a hint."""
        framing = self.framing
        delimiter = self._options["delimiter"].decode("latin-1")
        if framing.beyond:
            spans = ", ".join(str(low) if low == high else f"{low}-{high or ''}" for low, high in framing.beyond)
            yield f"--field: no record has field {spans}", f"fields are separated by {delimiter!r}; see --delimiter"
        elif framing.divided is False and self._is_delimiter_given:
            yield f"--delimiter: no record contains {delimiter!r}", ""
        if framing.unclosed:
            yield UNCLOSED, ""

    def header(self):
        before, self._before = self._before, b""
        return b"" if self.whole else before

    def transform(self, lines, buffer, rows, errors, limit):
        return transform_fields(lines, buffer, rows, self.framing, errors, limit)

    def capacity(self, _lines, buffer, _rows, _errors):
        return 2 * len(buffer)

    def reason(self, rows, code):
        return reason_of(rows, code)


def cell_of(value, delimiter):
    """Return a value (bytes) as a field of CSV.

    >>> cell_of(b"url", b","), cell_of(b"a,b", b",")
    (b'url', b'"a,b"')
    """
    if any(byte in value for byte in (b'"', b"\r", b"\n", delimiter)):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value
