"""`uricodec log`: access logs become records.

Chunks of whole lines go through the core. Python looks only at the lines that are no records.
"""

import re

from uricodec._io import streams
from uricodec._rows.reports import SHOWN, InvalidLine
from uricodec.cli.errors import CommandError
from uricodec.cli.lines import descending, refuse_same_file
from uricodec.logs import ROOM, LogLines, RecordBuffer
from uricodec.logs._records import NAMES, LogReader


def run(arguments):
    """Write the records of all logs.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0

    Raises:
        CommandError: Two files are one, or pyarrow is missing.
        FileError: A file fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    if arguments.csv_safe and arguments.to != "csv":
        arguments.refuse("argument --csv-safe: not allowed without --to csv")
    try:
        LogReader("common", max_line=arguments.max_line)
    except ValueError as error:
        arguments.refuse(f"argument --max-line: {error}")
    refuse_same_file(arguments)
    with streams.Output(arguments.output) as output:
        if arguments.invalid_to is None:
            Converter(arguments, output, None).convert_all()
        else:
            with streams.Output(arguments.invalid_to) as rejects:
                Converter(arguments, output, rejects).convert_all()
    return 0


class Converter:
    """Lines of logs in, records out.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.
        output (Output): Where the records go.
        rejects (Output | None): Where the lines go that are none.
    """

    def __init__(self, arguments, output, rejects):
        self._arguments, self._output, self._rejects = arguments, output, rejects
        self._sink = SINKS[arguments.to](output, arguments.flags, arguments.max_line)
        self._hide = Mask(arguments.mask).hide if arguments.mask else bytes
        self._lines = self._records = 0
        self._faults = {}  # how many lines are no records, by their fault

    def convert_all(self):
        """Convert all inputs, and say what was in them."""
        names = self._arguments.files or ["-"]
        buffers = streams.Buffers(ROOM * streams.CHUNK)
        with streams.Meter(names, self._output) as meter:
            for name in names:
                with streams.Input(name, meter, output=self._output) as source:
                    self._convert(source, buffers)
        self._sink.close()
        if self._arguments.stats:
            self._show()
        elif self._rejects is None and self._faults:
            count = sum(self._faults.values())
            streams.tell(f"uricodec: {count} of {self._lines} lines are no records; --invalid-to FILE writes them\n")

    def _convert(self, source, buffers):
        """Convert one log."""
        arguments = self._arguments
        options = arguments.mask, arguments.flags, arguments.errors, arguments.max_line, arguments.csv_safe
        self._name = source.name
        log = LogLines(arguments.format, self._sink.to, options, self._report)
        for records in log.convert(source.chunks, buffers, self._sink.convert):
            self._sink.write(records)
        self._lines += log.lines
        self._records += log.records

    def _report(self, line, offset, code, text):
        self._faults[code] = self._faults.get(code, 0) + 1
        if self._rejects:
            long = code == "too-long"
            shown = self._hide(bytes(text[:SHOWN] if long else text)) + b"..." * long
            self._rejects.write(InvalidLine(self._name, line, offset, code, shown).row())

    def _show(self):
        """Write the counts to standard error."""
        from json import dumps

        invalid = sum(self._faults.values())
        counts = {
            "lines": self._lines,
            "records": self._records,
            "invalid": invalid,
            "directives": self._lines - self._records - invalid,
            "faults": descending(self._faults),
        }
        streams.tell(dumps(counts) + "\n")


class Mask:
    """Hides values of parameters in lines that could not be read, and of which nobody knows where what begins and ends.

    So nothing is shown behind the first of the names that a "=" follows, in whichever way both are escaped.

    Args:
        names (list[str]): Of the parameters.
    """

    def __init__(self, names):
        self._names = {fold(undone(name.encode("utf-8", "surrogateescape"))[0]) + b"=" for name in names}

    def hide(self, line):
        r"""What may be shown of the line.

        >>> print(Mask(["token"]).hide(rb"GET /a?x=1&%54ok\x65n%253Dabc HTTP/1.1").decode())
        GET /a?x=1&%54ok\x65n%253D***
        """
        octets, starts = undone(line)
        ends = [*starts[1:], len(line)]
        ends = [end for octet, end in zip(octets, ends, strict=False) if octet != BACKSLASH]
        octets = fold(octets)
        last = [at + len(name) - 1 for name in self._names if (at := octets.find(name)) >= 0]
        return line[: ends[min(last)]] + b"***" if last else line


BACKSLASH = 0x5C
OPENING = re.compile(rb"[%\\]")
ESCAPE = re.compile(
    rb"(?:(?:%|\\x)([0-9A-F]{2})|[%\\]u([0-9A-F]{4})|(\xED[\xA0-\xAF][\x80-\xBF]\xED[\xB0-\xBF][\x80-\xBF]))\Z",
    re.IGNORECASE,
)

# The control characters that have an escape of one letter are the same as the letter, and "+" the same as a space.
SAME = bytes(range(256)).lower().translate(bytes.maketrans(b"\t\n\r\b\f\v+", b"tnrbfv "))


def fold(octets):
    r"""Octets as they are compared: without case, and without what a backslash does to a letter.

    >>> fold(b"A+b\\n\n")
    b'a bnn'
    """
    return bytes(octets).translate(SAME, b"\\")


def undone(line):
    r"""Octets with all layers of triplets, "\xhh" and "\uhhhh" undone, and where in the line each of them starts.

    An escape is undone as soon as it is complete, and what it becomes may complete another one: so the time does not
    depend on the number of layers.

    >>> undone(rb"%2541\x4%32")
    (bytearray(b'AB'), [0, 5])
    """
    octets, starts, at = bytearray(), [], 0
    while at < len(line):
        if OPENING.search(octets, max(0, len(octets) - 5)):  # the next octet may complete an escape
            end = at + 1
        else:
            opening = OPENING.search(line, at)
            end = opening.end() if opening else len(line)
        octets += line[at:end]
        starts += range(at, end)
        at = end
        while found := ESCAPE.search(octets, max(0, len(octets) - 6)):
            start, made = found.start(), meaning(found)
            octets[start:] = made
            starts[start:] = [starts[start]] * len(made)
    return octets, starts


def meaning(escape):
    """The octets that an escape stands for; those of two surrogates are one character."""
    if escape[1]:
        return bytes.fromhex(escape[1].decode())
    text = chr(int(escape[2], 16)) if escape[2] else escape[3].decode("utf-8", "surrogatepass")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")


class Jsonl:
    """Writes records: as JSON, one a line.

    Args:
        output (Output): Where they go.
        flags (bool): Whether they have flags.
        max_line (int): Bytes that a line of the log may have.

    Attributes:
        convert (Callable): Converts lines, as LogLines.convert() wants it.
        write (Callable): Writes what that returns for records.
    """

    to = "jsonl"

    def __init__(self, output, flags, max_line):
        self.convert, self.write = RecordBuffer(max_line).convert, output.write

    def close(self):
        """Write what belongs behind all records."""


class Csv(Jsonl):
    """Writes them as CSV, with a line of names before them."""

    to = "csv"

    def __init__(self, output, flags, max_line):
        super().__init__(output, flags, max_line)
        output.write((",".join(NAMES if flags else NAMES[:-1]) + "\n").encode())


class Arrow(Jsonl):
    """Writes a stream of Arrow IPC, by pyarrow."""

    def __init__(self, output, flags, _max_line):
        if output.isatty():
            raise CommandError("--to arrow does not write to a terminal", 2)
        try:
            import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise CommandError("--to arrow needs pyarrow", 2) from None
        from uricodec import logs
        from uricodec.logs._columns import convert_columns

        stream = pyarrow.ipc.new_stream(pyarrow.PythonFile(Sink(output), "w"), logs.arrow_schema(flags))
        self.convert, self.close = convert_columns, stream.close
        self.write = lambda columns: stream.write_batch(logs.arrow_batch(columns, flags))


class Sink:
    """An output as pyarrow wants a file to be."""

    closed = False

    def __init__(self, output):
        self._output = output

    def write(self, data):
        self._output.write(data)
        return len(data)


SINKS = {"jsonl": Jsonl, "csv": Csv, "arrow": Arrow}
