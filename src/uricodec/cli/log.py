"""`uricodec log`: the command line of uricodec.logs."""

import sys

from uricodec import logs
from uricodec._io import follow, streams
from uricodec._io.workers import OrderedWorkers, threads_for
from uricodec._rows.reports import SHOWN, InvalidLine
from uricodec.cli.errors import CommandError, with_link
from uricodec.cli.lines import check_outputs, descending, progress_of
from uricodec.logs import Format, FormatError
from uricodec.logs._mask import Mask
from uricodec.logs._reading import CAPACITY, Log, RecordBuffer, convert
from uricodec.logs._records import NAMES, LogReader

FORMAT_HINT = "--format NAME or --format 'FORMAT STRING' says which it is; --list-formats lists the names"
ERRORS_HINT = "--errors drop leaves such lines out, --invalid-to FILE lists them"

# The most invalid lines that the core reports at once.
INVALID = 1024

# One invalid line in so many is reported always; the number of reasons that are.
FEW, REASONS = 100, 3

# Why a log has NUL bytes.
TRUNCATED = "the file was truncated while a program wrote it"


def run(arguments):
    """Write the records of all logs.

    Args:
        arguments (argparse.Namespace): The arguments of the command.

    Returns:
        int: 0; 1 if a log has no known format, or no record; 3 if a file could not be read, and others were.

    Raises:
        CommandError: No log has a record, a line is invalid under --errors raise, an output is also another file,
            --max-line is too large, or pyarrow is missing.
        FileError: The only file cannot be read, or an output not written.
        BrokenPipeError: The output pipe is closed.
    """
    if arguments.list_formats:
        return list_formats()
    try:
        LogReader([], max_line=arguments.max_line)
    except ValueError as error:
        raise CommandError(f"--max-line: {str(error).removeprefix('max_line ')}", 2) from None
    check_outputs(arguments)
    with streams.Output(arguments.output) as output:
        if arguments.invalid_to is None:
            converter = Converter(arguments, output, None)
            converter.convert_all()
        else:
            with streams.Output(arguments.invalid_to) as rejects:
                converter = Converter(arguments, output, rejects)
                converter.convert_all()
        return converter.finish()


def list_formats():
    """Write the names of the presets, and what writes such logs."""
    from uricodec.logs._formats import preset_descriptions

    sys.stdout.write("".join([f"{name:20}{text}\n" for name, text in preset_descriptions().items()]))
    return 0


class Converter:
    """Reads logs and writes records.

    Args:
        arguments (argparse.Namespace): The arguments of the command.
        output (Output): Where the records go.
        rejects (Output | None): Where the report of invalid lines goes.
    """

    def __init__(self, arguments, output, rejects):
        self._arguments, self._output, self._rejects = arguments, output, rejects
        self._params = list(dict.fromkeys(arguments.param or []))
        self._sink = SINKS[arguments.to](output, self._params, arguments.flags)
        self._hide = Mask(arguments.mask).hide if arguments.mask else bytes
        self._format = None if arguments.format == "auto" else arguments.format
        if arguments.map:
            self._format = Format(map=dict(arguments.map))
        self._options = {
            "params": self._params,
            "client": arguments.client,
            "mask": arguments.mask,
            "flags": arguments.flags,
            "encoding": arguments.encoding,
            "replace_invalid_utf8": arguments.replace_invalid_utf8,
            "max_line": arguments.max_line,
        }
        if arguments.to != "arrow":
            self._options |= {"to": arguments.to, "csv_safe": arguments.csv_safe}
        self._lines = self._records = self._joined = self._nul_bytes = 0
        self._invalid = {}  # the number of invalid lines, by code,
        self._examples = {}  # and what was wrong with the first of them: its place and the reason
        self._lossy = []  # the logs with more invalid lines than one in FEW, and how many
        self._formats = {}  # of the logs, by name
        self._failures = []  # of the logs that have no record

    def convert_all(self):
        """Convert all inputs."""
        names = self._arguments.files or ["-"]
        growing = self._arguments.follow
        if growing and len(names) > 1:
            raise CommandError("--follow: expected one FILE", 2)
        threads = 1 if growing else self._arguments.threads or threads_for(names)
        buffers = streams.Buffers(CAPACITY * streams.CHUNK, lambda: self._sink.state(self._arguments.max_line))
        progress = False if growing else progress_of(self._arguments)
        kind = follow.FollowedInput if growing else streams.Input
        outputs = [output.name for output in (self._output, self._rejects) if output]
        with streams.Meter(names, self._output, self._rejects, progress=progress) as meter:
            for name in names:
                try:
                    with kind(name, meter, output=self._output) as source:
                        self._convert(source, buffers, threads)
                except streams.FileError as error:
                    if len(names) == 1 or error.filename in outputs:
                        raise
                    self._failures.append(error)
                except FormatError as error:
                    self._failures.append(error)
                except KeyboardInterrupt:  # which ends a log that grows
                    self._tell_invalid()
                    raise

    def finish(self):
        """Say which logs have no records, and write the counts. Return the exit status.

        Raises:
            CommandError, FileError: No log has a record, and one is not empty.
        """
        self._tell_invalid()
        if self._arguments.stats:
            self._show()
        for error in self._failures[: len(self._failures) - (not self._records)]:
            streams.tell(f"uricodec: {error}\n")
        if self._failures and not self._records:
            if isinstance(self._failures[-1], FormatError):
                raise CommandError(str(self._failures[-1]), 1, FORMAT_HINT)
            raise self._failures[-1]
        self._sink.close()
        return max([3 if isinstance(error, streams.FileError) else 1 for error in self._failures], default=0)

    def _tell_invalid(self):
        """Say how many lines were left out, and why: if nothing else does, or if one log has more than one in 100."""
        count = sum(self._invalid.values())
        reported = self._arguments.stats or self._rejects is not None
        if count == 0 or not self._records or (reported and not self._lossy):
            return
        text = f"{count} of {self._lines} lines are not records ({100 * count / self._lines:.2g} %)"
        if len(self._arguments.files) > 1:
            text += "".join(f"\n  {name}: {lost} of {lines}" for name, lost, lines in self._lossy)
        for code, number in list(descending(self._invalid).items())[:REASONS]:
            text += f"\n  {number}: {code}, as in {self._examples[code]}"
        if self._rejects is None:
            text += "\n\nhint: --invalid-to FILE lists them"
        streams.tell(f"uricodec: {with_link(text, 'log', 1)}\n")

    def _tell_missing(self, log):
        """Say which important fields of a JSON format had no value in any record: the members have other names."""
        missing = [name for name in log.format.fields if name in log.missing]
        if missing and log.format.is_json:
            named = f"{self._name}: " + ", ".join(missing)
            streams.tell(f"uricodec: {named}: null in all {log.records} records of the format {log.format}\n")

    def _convert(self, source, buffers, threads):
        """Convert one log.

        Raises:
            FormatError: It has no known format, or no record.
        """
        self._name, self._first = source.name, None
        before = sum(self._invalid.values())
        log = Log(self._format, self._options, threads, self._tell_format, wait=self._arguments.follow)
        limit = 1 if self._arguments.errors == "raise" else INVALID

        def work(piece):
            """Convert a piece. Records that would be overwritten before they are used are copied."""
            parts = []
            for part in convert(piece, piece.chunk.state.convert, limit):
                done = part.start + part.found.read >= len(piece.view)
                parts.append(part if done or isinstance(part.data, list) else part._replace(data=bytes(part.data)))
                if limit == 1 and part.found.invalid:
                    break
            return parts

        def use(piece, parts):
            for part in parts:
                if part.found.records:
                    self._sink.write(part.data)
            log.use(piece, parts, report)
            buffers.release(piece.chunk)

        def report(line, offset, code, text):
            self._report(log, line, offset, code, text)

        try:
            OrderedWorkers(threads).run(log.pieces(source.chunks, buffers), work, use)
        except FormatError as error:
            raise FormatError(f"{source.name}: {error}") from None
        finally:
            self._lines += log.lines
            self._records += log.records
            lost = sum(self._invalid.values()) - before
            if log.records and lost * FEW > log.lines:
                self._lossy.append((self._name, lost, log.lines))
            self._joined += log.joined
            self._nul_bytes += log.nul_bytes
            if log.nul_bytes:
                streams.tell(f"uricodec: {self._name}: {log.nul_bytes} NUL bytes before lines skipped: {TRUNCATED}\n")
        if log.records:
            self._tell_missing(log)
        if log.nul_bytes and not log.lines:
            raise FormatError(f"{source.name}: {logs.NUL_ONLY}")
        if self._first and not log.records:
            raise FormatError(logs.no_records(log.format, source.name, self._first))

    def _tell_format(self, format, lines, votes):
        """Say which format was found out."""
        self._formats[self._name] = str(format)
        if not self._arguments.stats and sys.stderr is not None and sys.stderr.isatty():
            streams.tell(f"uricodec: {self._name}: format {format} ({votes} of the first {lines} lines)\n")

    def _report(self, log, line, offset, code, text):
        self._invalid[code] = self._invalid.get(code, 0) + 1
        if code not in self._examples:
            self._examples[code] = f"{self._name}:{line}: {self._why(log, offset, code, text)}"
        if self._first is None:
            self._first = logs.InvalidLine(line, offset, code, bytes(text[: 1 << 16]))
        if self._arguments.errors == "raise":
            why = self._why(log, offset, code, text)
            raise CommandError(f"{self._name}:{line}:{offset + 1}: {why}", 1, ERRORS_HINT)
        if self._rejects:
            long = code == "too-long"
            shown = self._hide(bytes(text[:SHOWN] if long else text)) + b"..." * long
            self._rejects.write(InvalidLine(self._name, line, offset, code, shown).row())

    @staticmethod
    def _why(log, offset, code, text):
        diagnostic = log.format.explain(bytes(text)) if code != "too-long" else None
        return diagnostic.message if diagnostic else f"the line has more than {offset} bytes"

    def _show(self):
        """Write the counts to standard error."""
        from json import dumps

        invalid = sum(self._invalid.values())
        counts = {
            "lines": self._lines,
            "records": self._records,
            "invalid": invalid,
            "directives": self._lines - self._records - self._joined - invalid,
            "faults": descending(self._invalid),
            "formats": self._formats,
        }
        rare = {"joined": self._joined, "nul_bytes": self._nul_bytes}
        streams.tell(dumps(counts | {name: count for name, count in rare.items() if count}) + "\n")


class Jsonl:
    """Writes records as JSON lines.

    Args:
        output (Output): Where they go.
        params (list[str]): The parameters that have a field of their own.
        flags (bool): Whether they have flags.
    """

    header = b""

    def __init__(self, output, params, flags):
        self._output = output

    def state(self, max_line):
        """Return what converts lines, in one of the threads: its `convert` is an argument of convert()."""
        return RecordBuffer(max_line)

    def write(self, records):
        """Write records, after the header of all."""
        if self.header:
            self._output.write(self.header)
            self.header = b""
        self._output.write(records)

    def close(self):
        """Write what follows the last record, and the header, if nothing was written."""
        self.write(b"")


class Csv(Jsonl):
    """Writes records as CSV, after a header."""

    def __init__(self, output, params, flags):
        super().__init__(output, params, flags)
        import csv
        from io import StringIO

        header = StringIO()
        columns = [*NAMES, *(f"param.{name}" for name in params), *(["flags"] if flags else [])]
        csv.writer(header, lineterminator="\n").writerow(columns)
        self.header = header.getvalue().encode("utf-8", "surrogateescape")


class Arrow(Jsonl):
    """Writes records as an Arrow IPC stream, with pyarrow."""

    def __init__(self, output, params, flags):
        if output.isatty():
            raise CommandError("--to arrow: the output is a terminal", 2, "-o FILE writes to a file")
        try:
            import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise CommandError("--to arrow: pyarrow is not installed", 2, "pip install pyarrow") from None
        from uricodec.logs import _arrow

        self._output = output
        self._batch = lambda columns: _arrow.batch(columns, params, flags)
        self._open = lambda: pyarrow.ipc.new_stream(pyarrow.PythonFile(Sink(output), "w"), _arrow.schema(params, flags))
        self._stream = None

    def state(self, max_line):
        from uricodec.logs import _columns

        return Columns(_columns.convert_columns)

    def write(self, columns):
        if self._stream is None:
            self._stream = self._open()
        if columns:
            self._stream.write_batch(self._batch(columns))

    def close(self):
        self.write([])
        self._stream.close()


class Columns:
    """Converts lines to columns."""

    def __init__(self, convert_columns):
        self.convert = convert_columns


class Sink:
    """The output, as a file object for pyarrow."""

    closed = False

    def __init__(self, output):
        self._output = output

    def write(self, data):
        self._output.write(data)
        return len(data)


SINKS = {"jsonl": Jsonl, "csv": Csv, "arrow": Arrow}
