"""`uricodec log`: the command line of uricodec.logs."""

from uricodec._io import streams
from uricodec._rows.reports import SHOWN, InvalidLine
from uricodec.cli.errors import CommandError
from uricodec.cli.lines import check_outputs, descending
from uricodec.logs import ROOM, LogLines, RecordBuffer
from uricodec.logs._mask import Mask
from uricodec.logs._records import NAMES, LogReader


def run(arguments):
    """Write the records of all logs.

    Args:
        arguments (argparse.Namespace): The arguments of the command.

    Returns:
        int: 0

    Raises:
        CommandError: An output is also another file, --max-line is too large, or pyarrow is missing.
        FileError: A file cannot be read or written.
        BrokenPipeError: The output pipe is closed.
    """
    try:
        LogReader("common", max_line=arguments.max_line)
    except ValueError as error:
        raise CommandError(f"--max-line: {str(error).removeprefix('max_line ')}", 2) from None
    check_outputs(arguments)
    with streams.Output(arguments.output) as output:
        if arguments.invalid_to is None:
            Converter(arguments, output, None).convert_all()
        else:
            with streams.Output(arguments.invalid_to) as rejects:
                Converter(arguments, output, rejects).convert_all()
    return 0


class Converter:
    """Reads lines of logs and writes records.

    Args:
        arguments (argparse.Namespace): The arguments of the command.
        output (Output): Where the records go.
        rejects (Output | None): Where the report of invalid lines goes.
    """

    def __init__(self, arguments, output, rejects):
        self._arguments, self._output, self._rejects = arguments, output, rejects
        self._sink = SINKS[arguments.to](output, arguments.flags, arguments.max_line)
        self._hide = Mask(arguments.mask).hide if arguments.mask else bytes
        self._lines = self._records = 0
        self._faults = {}  # the number of invalid lines, by code

    def convert_all(self):
        """Convert all inputs, and write the counts."""
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
            what = f"{count} of {self._lines} lines could not be parsed"
            streams.tell(f"uricodec: {what}\n\nhint: --invalid-to FILE lists them\n")

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


class Jsonl:
    """Writes records as JSON lines.

    Args:
        output (Output): Where they go.
        flags (bool): Whether they have flags.
        max_line (int): The bytes that a line of the log may have.

    Attributes:
        convert (Callable): Converts lines to records; an argument of LogLines.convert().
        write (Callable): Writes the records.
    """

    to = "jsonl"

    def __init__(self, output, flags, max_line):
        self.convert, self.write = RecordBuffer(max_line).convert, output.write

    def close(self):
        """Write what follows the last record."""


class Csv(Jsonl):
    """Writes records as CSV, after a header."""

    to = "csv"

    def __init__(self, output, flags, max_line):
        super().__init__(output, flags, max_line)
        output.write((",".join(NAMES if flags else NAMES[:-1]) + "\n").encode())


class Arrow(Jsonl):
    """Writes records as an Arrow IPC stream, with pyarrow."""

    def __init__(self, output, flags, _max_line):
        if output.isatty():
            raise CommandError("--to arrow: the output is a terminal", 2, "-o FILE writes to a file")
        try:
            import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise CommandError("--to arrow: pyarrow is not installed", 2, "pip install pyarrow") from None
        from uricodec import logs
        from uricodec.logs._columns import convert_columns

        stream = pyarrow.ipc.new_stream(pyarrow.PythonFile(Sink(output), "w"), logs.arrow_schema(flags))
        self.convert, self.close = convert_columns, stream.close
        self.write = lambda columns: stream.write_batch(logs.arrow_batch(columns, flags))


class Sink:
    """The output, as a file object for pyarrow."""

    closed = False

    def __init__(self, output):
        self._output = output

    def write(self, data):
        self._output.write(data)
        return len(data)


SINKS = {"jsonl": Jsonl, "csv": Csv, "arrow": Arrow}
