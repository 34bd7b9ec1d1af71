"""`uricodec log`: access logs become records.

Chunks of whole lines go through the core. Python looks only at the lines that are no records.
"""

import re
from collections import deque

from uricodec._core._log_records import NAMES, LogReader
from uricodec._files import streams
from uricodec.cli.errors import CommandError
from uricodec.cli.lines import refuse_same_file, visible
from uricodec.logs import decided, detect, room_for

# The buffer has room for so many chunks. For longer lines it grows, up to --max-line.
ROOM = 4

# So many octets of such a line are shown.
SHOWN = 100


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
    if arguments.invalid_to is None:
        with streams.Output(arguments.output) as output:
            convert(arguments, output, None)
    else:
        with streams.Output(arguments.output) as output, streams.Output(arguments.invalid_to) as rejects:
            convert(arguments, output, rejects)
    return 0


def convert(arguments, output, rejects):
    """Send all inputs through a converter, and say what was in them."""
    names = arguments.files or ["-"]
    sink = SINKS[arguments.to](output, arguments.flags, arguments.max_line)
    logs = Converter(arguments, sink, rejects)
    with streams.Meter(names, output) as meter:
        for name in names:
            with streams.Input(name, meter, output=output) as source:
                logs.convert(source)
    sink.close()
    if arguments.stats:
        logs.show()
    elif rejects is None and logs.faults:
        count = sum(logs.faults.values())
        streams.tell(f"uricodec: {count} of {logs.lines} lines are no records; --invalid-to FILE writes them\n")


class Converter:
    """Lines of logs in, records out.

    Args:
        arguments (argparse.Namespace): With format, to, csv_safe, mask, flags, errors and max_line.
        sink (Jsonl): Where the records go.
        rejects (Output | None): Where the lines go that are none.

    Attributes:
        lines (int): How many were read.
        faults (dict[str, int]): How many are no records, by their fault.
    """

    def __init__(self, arguments, sink, rejects):
        self._arguments, self._sink, self._rejects = arguments, sink, rejects
        self._hide = Mask(arguments.mask).hide if arguments.mask else bytes
        self._chunk = streams.Chunk(ROOM * streams.CHUNK)
        self._reader = None
        self.lines = self._written = 0
        self.faults = {}

    def convert(self, source):
        """Convert one log.

        Args:
            source (Input): What to read.

        Raises:
            FileError: A file fails.
            BrokenPipeError: Nobody reads the output any more.
        """
        self._name, self._line = source.name, 1
        max_line = self._arguments.max_line
        ends = LogEnds(self._arguments.format == "auto", max_line)
        new, free = True, deque([self._chunk])
        for chunk in source.chunks(free, ends, max_line + 1):  # a "\r" before the newline does not count
            if new:
                self._begin(bytes(chunk.view[: min(chunk.size, streams.CHUNK)]))
                new = ends.detecting = False
            if chunk.whole:
                start = 0
                while start < chunk.size:
                    start += self._convert(chunk.view[start : chunk.size])
            else:
                if chunk.begins:
                    self._report(self._line, max_line, "too-long", bytes(chunk.view[: min(chunk.size, SHOWN)]))
                self._line += chunk.ends
                self.lines += chunk.ends
            free.append(chunk)

    def _begin(self, head):
        """Get ready for a log that begins like this."""
        if self._reader and self._arguments.format != "auto":
            self._reader.begin()
            return
        arguments = self._arguments
        format = detect(head) if arguments.format == "auto" else arguments.format
        options = arguments.mask, arguments.flags, arguments.errors, arguments.max_line, arguments.csv_safe
        self._reader = LogReader(format, self._sink.to, *options)

    def _convert(self, lines):
        """Write the records of lines (memoryview), as far as there is room. Returns how much was read."""
        found = self._sink.convert(self._reader, lines)
        self._written += found.records
        for line, at, length, code, offset in found.faults:
            shown = min(length, SHOWN) if code == "too-long" else length
            text = bytes(lines[at : at + shown]) if self._rejects else b""
            self._report(self._line + line, offset, code, text)
        self._line += found.lines
        self.lines += found.lines
        return found.read

    def _report(self, line, offset, code, text):
        self.faults[code] = self.faults.get(code, 0) + 1
        if self._rejects:
            shown = visible(self._hide(text)) + ("..." if code == "too-long" else "")
            self._rejects.write(f"{self._name}\t{line}\t{offset}\t{code}\t{shown}\n".encode())

    def show(self):
        """Write the counts to standard error."""
        from json import dumps

        invalid = sum(self.faults.values())
        counts = {
            "lines": self.lines,
            "records": self._written,
            "invalid": invalid,
            "directives": self.lines - self._written - invalid,
            "faults": dict(sorted(self.faults.items(), key=lambda item: (-item[1], item[0]))),
        }
        streams.tell(dumps(counts) + "\n")


class LogEnds(streams.LineEnds):
    """Where lines of a log end: none does before the first ones show the format, if that is to be detected.

    Args:
        detecting (bool): Whether it is.
        max_line (int): Bytes that a line may have.
    """

    def __init__(self, detecting, max_line):
        super().__init__()
        self.detecting, self._enough = detecting, min(streams.CHUNK, max_line)

    def cut(self, buffer, first, start, stop):
        if not self.detecting:
            return self.last(buffer, start, stop)
        if stop - first >= min(self._enough, len(buffer)):
            return self.last(buffer, first, stop)
        end = self.last(buffer, start, stop)
        return end if end and decided(bytes(buffer[:end])) else 0


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
    """

    to = "jsonl"

    def __init__(self, output, flags, max_line):
        self._output, self._flags, self._max_line = output, flags, max_line
        self._room = memoryview(bytearray(LogReader.room(streams.CHUNK)))

    def convert(self, reader, lines):
        """Write the records of lines, as far as there is room. Returns what the reader found."""
        found = reader.convert(lines, self._room)
        if not found.read:
            self._room = room_for(lines, self._max_line)
            found = reader.convert(lines, self._room)
        self._output.write(self._room[: found.written])
        return found

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

    def __init__(self, output, flags, max_line):
        super().__init__(output, flags, max_line)
        if output.isatty():
            raise CommandError("--to arrow does not write to a terminal", 2)
        try:
            import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise CommandError("--to arrow needs pyarrow", 2) from None
        from uricodec import logs
        from uricodec._core._log_columns import convert_columns

        self._convert, self._batch = convert_columns, logs.arrow_batch
        self._stream = pyarrow.ipc.new_stream(pyarrow.PythonFile(Sink(output), "w"), logs.arrow_schema(flags))

    def convert(self, reader, lines):
        found, columns = self._convert(reader, lines)
        if found.records:
            self._stream.write_batch(self._batch(columns, self._flags))
        return found

    def close(self):
        self._stream.close()


class Sink:
    """An output as pyarrow wants a file to be."""

    closed = False

    def __init__(self, output):
        self._output = output

    def write(self, data):
        self._output.write(data)
        return len(data)


SINKS = {"jsonl": Jsonl, "csv": Csv, "arrow": Arrow}
