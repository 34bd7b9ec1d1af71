"""Values in records: which fields, members or lines a command is for, and the worker that has the core find them."""

import os

from uricodec import ByteSet
from uricodec._codec._rows import NO_CONTROL
from uricodec._io import streams
from uricodec._records._fields import reason_of, transform_fields
from uricodec._records._framing import Framing
from uricodec._rows.reports import visible
from uricodec.cli import lines
from uricodec.cli.errors import CommandError

MARK = b"\xef\xbb\xbf"  # U+FEFF, as Windows writes it

# What framing is asked for with.
OPTIONS = ["delimiter", "fields", "csv", "header", "json_field", "jsonl", "nul"]

EVERY = ByteSet(range(256))


def wanted(arguments):
    """Whether any framing is asked for but that of lines."""
    return any(is_given(arguments, name) for name in OPTIONS)


def is_given(arguments, name):
    return getattr(arguments, name, None) not in (None, False)


def settle(arguments):
    """Refuse combinations of options that mean nothing."""
    chosen = {name for name in [*OPTIONS, "raw"] if is_given(arguments, name)}
    for name, others in {
        "csv": ["json_field", "jsonl", "nul"],
        "json_field": ["delimiter", "fields", "header", "jsonl", "nul", "raw"],
        "jsonl": ["delimiter", "fields", "header", "raw"],
    }.items():
        for other in others:
            if name in chosen and other in chosen:
                arguments.refuse(f"argument {flag(other)}: not allowed with {flag(name)}")
    if "fields" not in chosen and "csv" not in chosen:
        for name in "delimiter", "header":
            if name in chosen:
                arguments.refuse(f"argument {flag(name)}: not allowed without --fields or --csv")
    if "header" in chosen and "fields" not in chosen:
        arguments.fields = ["1-"]


def flag(name):
    return "-z" if name == "nul" else f"--{name.replace('_', '-')}"


def spans_of(items, refuse, names=None):
    """Read the lists of --fields.

    Args:
        items (list[str]): As of cut: "1,3-5", "-2", "4-"; with names, also these.
        refuse (Callable[[str], object]): Is told what is wrong, and does not return.
        names (list[bytes] | None): Of the fields, if they have some.

    Returns:
        list[tuple[int, int | None]]: Spans of fields from 1 on, ascending and apart.

    >>> spans_of(["7,1,3-5", "4-6"], None)
    [(1, 1), (3, 7)]
    >>> spans_of(["url,-2", "9-"], None, [b"id", b"", b"url"])
    [(1, 3), (9, None)]
    """
    found = []
    for item in [part for each in items for part in each.split(",")]:
        if names is not None and os.fsencode(item) in names:
            found += [(n, n) for n, name in enumerate(names, 1) if name == os.fsencode(item)]
            continue
        first, dash, last = item.partition("-")
        parts = [part for part in (first, last) if part]
        if not parts or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
            refuse(f"no field {item!r}" + (" in the header" if names is not None else ""))
        low = int(first or 1)
        high = (int(last) if last else None) if dash else low
        if low < 1 or (high is not None and high < low):
            refuse(f"no fields {item!r}: they count from 1, up")
        found.append((low, high))
    merged = []
    for low, high in sorted(found, key=lambda span: span[0]):
        if merged and (merged[-1][1] is None or low <= merged[-1][1] + 1):
            before, end = merged[-1]
            merged[-1] = before, None if end is None or high is None else max(end, high)
        else:
            merged.append((low, high))
    return merged


class Plan:
    """Where the values of a command are; if the header has to say it, not before that is read.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.
        only (bool): Whether each value becomes a line, and nothing else is written.

    Attributes:
        framing (Framing): It.
        decodable (ByteSet): The bytes of which triplets may be decoded.
        kept (bytes): What terminates the lines that are encoded as a whole: it stays as it is.
        end (bytes): What ends a line of the input,
        out (bytes): and of the output.
        whole (bool): Whether each line that is written has its end.
        jsonl (bool): Whether each line becomes a string of JSON.
        csv (bool): Whether records are CSV.
        lines (bool): Whether they are lines, and become lines.
        empty (bytes): What stands for a record without anything in it.
    """

    def __init__(self, arguments, only=False):
        self._refuse = lambda reason: arguments.refuse(f"argument -f/--fields: {reason}")
        self._items = arguments.fields or ["1-"]
        self._header = None if arguments.header else b""
        self._lacks_header = False
        self.end = b"\0" if arguments.nul else b"\n"
        self.out = b"\n" if arguments.jsonl or only else self.end
        self.jsonl = arguments.jsonl
        self.whole = arguments.jsonl or only
        self.csv = arguments.csv
        self.empty = b'""' if arguments.csv else b"null" if arguments.jsonl or arguments.json_field is not None else b""
        self.decodable = NO_CONTROL
        self.raw = bool(getattr(arguments, "raw", False))
        self._marked = arguments.csv or arguments.header or arguments.json_field is not None
        options = {"end": self.end, "only": only, "free": self.raw, "jsonl": arguments.jsonl}
        if arguments.csv:
            delimiter = delimiter_of(arguments, b",", b'"\r\n')
            options |= {"form": "csv", "delimiter": delimiter}
        elif arguments.fields:
            delimiter = delimiter_of(arguments, b"\t", self.end + (b"" if arguments.nul else b"\r"))
            options |= {"form": "delimited", "delimiter": delimiter}
            self.decodable = (EVERY - self.end if arguments.nul else NO_CONTROL) - delimiter
        elif arguments.json_field is not None:
            options |= {"form": "json", "names": list(map(os.fsencode, arguments.json_field))}
            self.decodable = EVERY
        else:
            options["form"] = "lines"
            self.decodable = EVERY if arguments.jsonl else EVERY - self.end if arguments.nul else NO_CONTROL
        self._options = options
        self.lines = options["form"] == "lines" and not arguments.jsonl
        self.kept = self.end if self.lines else b""
        spans = [(1, 1)] if arguments.header else spans_of(self._items, self._refuse)
        try:
            self.framing = Framing(**options, fields=spans)
        except ValueError as error:
            arguments.refuse(f"argument --json-field: {error}")

    def begin(self, chunk, name):
        """Read the byte order mark and the header of an input.

        Args:
            chunk (Chunk): The first of the input.
            name (str): Of the input, for messages.

        Returns:
            int: Where the first record starts.

        Raises:
            CommandError: There is no such field, or the header is not that of the inputs before.
        """
        front = self.front(chunk.buffer, chunk.size)
        if self._header == b"":
            self._lacks_header |= not front  # a byte order mark behind anything else is none
            return front
        if not chunk.whole:
            raise CommandError(f"{name}: the header is longer than --max-line allows", 3)
        names, size = self.framing.first(chunk.view[front:], chunk.size - front)
        size += front
        header = bytes(chunk.view[front:size])
        if self._header is None:
            self.framing = Framing(**self._options, fields=spans_of(self._items, self._refuse, names))
            self._header = header
        elif header.rstrip(b"\r\n") != self._header.rstrip(b"\r\n"):
            raise CommandError(f"{name}: its header is another one", 3)
        return size

    def front(self, buffer, stop):
        """How long the byte order mark is that an input of records begins with, of which buffer[:stop] is known."""
        return len(MARK) if self._marked and buffer.startswith(MARK, 0, stop) else 0

    def may_begin_mark(self, buffer, stop):
        """Return whether buffer[:stop] is the beginning of a byte order mark, so that only the next bytes decide."""
        return self._marked and stop < len(MARK) and MARK.startswith(buffer[:stop])

    def header_of(self, chunk, size):
        """What to write for the front of an input, of which this is the first chunk."""
        header, self._lacks_header = (b"" if self._lacks_header else bytes(chunk.view[:size])), True
        return b"" if self.whole else header


def delimiter_of(arguments, default, others):
    """The octet between fields; not one of `others`."""
    if arguments.delimiter is None:
        return default
    delimiter = b"\t" if arguments.delimiter == r"\t" else os.fsencode(arguments.delimiter)
    if len(delimiter) != 1 or delimiter in others:
        arguments.refuse("argument -d/--delimiter: not one octet that can stand between fields")
    return delimiter


def plan(arguments, only=False):
    """The Plan of a command whose options mean something."""
    settle(arguments)
    return Plan(arguments, only)


class LineEnds(streams.LineEnds):
    """Where the lines of an input end that may begin with a byte order mark.

    Args:
        plan (Plan): What a record is.
    """

    def __init__(self, plan):
        super().__init__(plan.end)
        self._plan = plan

    def front(self, buffer, stop):
        return self._plan.front(buffer, stop) or (stop if self._plan.may_begin_mark(buffer, stop) else 0)


class RecordEnds(LineEnds):
    """Where the records of a CSV file end.

    That depends on all of a record before, so what a part of it leaves open is kept: no part is read twice.

    Args:
        plan (Plan): What a record is.
    """

    def __init__(self, plan):
        super().__init__(plan)
        self._framing = plan.framing
        self._open = self._skipped = 0  # states of Framing.skip(): at the end of what is known; in a long record

    def last(self, buffer, start, stop):
        return self._framing.cut(buffer, start, stop)

    def cut(self, buffer, first, start, stop):
        end = 0
        if start > first:
            end, self._open = self._framing.skip(buffer, start, stop, self._open)
            if not end:
                return 0
        end = self.last(buffer, end or first, stop) or end
        _, self._open = self._framing.skip(buffer, end or first, stop, 0)
        return end

    def skip(self, buffer, start, stop):
        end, state = self._framing.skip(buffer, start, stop, self._skipped)
        self._skipped = 0 if end else state
        return end


class Values(lines.Worker):
    """Values in records, and an operation on them.

    Args:
        plan (Plan): Where they are.
        rows (RowOperation): What to do with each.
    """

    def __init__(self, plan, rows):
        self._plan, self._rows = plan, rows
        self.end, self.out, self.whole, self.empty, self.raw = plan.end, plan.out, plan.whole, plan.empty, plan.raw
        self._room = bytearray(3 * streams.CHUNK)
        if hasattr(rows, "record"):
            self.header, self.record = rows.header, rows.record
        elif plan.jsonl:
            self.record = lambda code, offset: plan.empty

    def finish(self):
        missing = self._plan.framing.missing
        if missing:
            names = visible(b", ".join(missing))
            reason = f"no record has a text at {names!r} (nested members are named as in a.b)"
            raise CommandError(f"argument --json-field: {reason}", 1)

    def begin(self, chunk, name):
        return self._plan.begin(chunk, name)

    def header_of(self, chunk, size):
        return self._plan.header_of(chunk, size)

    def ends(self):
        return RecordEnds(self._plan) if self._plan.csv else LineEnds(self._plan)

    def work(self, octets, errors, limit):
        while True:
            read, found = transform_fields(octets, self._room, self._rows, self._plan.framing, errors, limit)
            if read or found.invalid:
                return read, found, memoryview(self._room)[: found.written]
            size, self._room = 2 * len(self._room), bytearray()  # there is no room for the first record
            self._room = bytearray(size)

    def reason(self, code):
        return reason_of(self._rows, code)

    def group(self, octets, found):
        return bytes(memoryview(self._room)[: found.written]).splitlines()
