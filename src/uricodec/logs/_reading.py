"""The worker that reads logs: for the functions of uricodec.logs, and for `uricodec log`."""

from collections.abc import Callable
from typing import Any, NamedTuple

from uricodec._base._text import new_buffer
from uricodec._io import streams
from uricodec._io.reports import InvalidLine
from uricodec._io.runner import InvalidLines, Position, Worker
from uricodec._rows._tasks import LineFault
from uricodec.logs._detection import HEAD, Candidate, FormatError, candidates, decide, nearest, strange
from uricodec.logs._format import Format
from uricodec.logs._records import IMPORTANT, Lines, LogReader

# Capacity of a buffer in bytes. It grows for longer lines, up to `max_line`.
CAPACITY = 4 * streams.CHUNK


class RecordBuffer:
    """The buffer for records as JSON or CSV. It grows if a record needs more.

    Args:
        max_line (int): The longest valid line of the log, in bytes.
    """

    def __init__(self, max_line: int) -> None:
        self._max_line = max_line
        self._buffer = memoryview(b"")

    def convert(self, reader: LogReader, lines: memoryview, limit: int) -> "tuple[Lines, memoryview]":
        """Convert as many lines as the buffer can hold. Return the outcome, and the records until the next call."""
        if not self._buffer:
            self._allocate(reader, streams.CHUNK // 8)
        found = reader.convert(lines, self._buffer, limit)
        if not found.read:
            head = bytes(lines[: self._max_line + 1])
            size = head.find(b"\n")
            self._allocate(reader, len(head) if size < 0 else size)
            found = reader.convert(lines, self._buffer, limit)
        return found, self._buffer[: found.written]

    def _allocate(self, reader: LogReader, size: int) -> None:
        """Allocate a buffer for the record of a line of `size` bytes."""
        self._buffer = memoryview(new_buffer(reader.capacity_for(size)))


class LogEnds(streams.LineEnds):
    """Where to cut a log into chunks. While the format is being detected, nothing is cut before the lines show it.

    Args:
        detecting (bool): Whether the format is being detected.
        wait (bool): Whether the log grows: what is there decides then, as soon as it shows one format.

    Attributes:
        found (Candidate | None): The format that the first chunk shows, if it was cut for that.
    """

    def __init__(self, detecting: bool, wait: bool) -> None:
        super().__init__()
        self.detecting, self._wait = detecting, wait
        self.found: Candidate | None = None

    def cut(self, buffer: bytearray, first: int, start: int, stop: int) -> int:
        if not self.detecting or stop - first >= min(HEAD, streams.CHUNK):
            return self.last(buffer, first if self.detecting else start, stop)
        end = self.last(buffer, start, stop)
        try:
            self.found = decide(bytes(buffer[:end]), early=not self._wait) if end else None
        except FormatError:
            self.found = None
        return end if self.found else 0


class Part(NamedTuple):
    """The outcome of a part of a chunk: where its lines start in it, what LogReader says, and the records."""

    start: int
    found: Lines
    data: Any


class LogWorker(Worker):
    """Converts the lines of one log.

    Args:
        format (Format | None): The format; None to find it out.
        options (dict): The arguments of LogReader besides the programs.
        errors (str): How lines that are not records are handled: "drop" or "raise".
        fail (Callable[[str, InvalidLine], Exception]): Returns the exception for such a line, given the message.
        report (Callable[[list[InvalidLine]], None] | None): Called with such lines.
        take (Callable[[Any], None]): Called with records, in order: what `chunk.state.convert()` returned.
        threads (int): How many threads convert the chunks.
        on_format (Callable[[Candidate], None] | None): Called with the format that was found out.
        wait (bool): Whether the log grows.

    Attributes:
        format (Format | None): The format, as soon as it is known.
        lines (int): The number of lines that have been used.
        records (int): The number of records among them.
        missing (frozenset[str]): Those of IMPORTANT that no record had a value of.
        invalid (InvalidLines): What happens to the other lines.
    """

    def __init__(  # noqa: PLR0913
        self,
        format: Format | None,
        options: dict[str, Any],
        errors: str,
        *,
        fail: "Callable[[str, InvalidLine], Exception]",
        report: "Callable[[list[InvalidLine]], None] | None" = None,
        take: "Callable[[Any], None]",
        threads: int = 1,
        on_format: "Callable[[Candidate], None] | None" = None,
        wait: bool = False,
    ) -> None:
        self.format = format
        self._options, self._threads, self._on_format, self._take = options, threads, on_format, take
        super().__init__(InvalidLines(errors, fail, self._reason, report, options["max_line"], counts=True))
        self._ends = LogEnds(format is None, wait)
        self._reader: LogReader | None = None
        self.lines = self.records = 0
        self.missing = frozenset(IMPORTANT)

    def why(self, line: InvalidLine) -> str:
        """Return what is wrong with a line that is not a record."""
        diagnostic = self.format.explain(line.text) if self.format and line.code != "too-long" else None
        return diagnostic.message if diagnostic else self.invalid.why(line)

    def _reason(self, line: InvalidLine) -> str:
        diagnostic = self.format.explain(line.text) if self.format else None
        return f"not a record of the format {self.format}: {diagnostic.message if diagnostic else line.code}"

    def ends(self) -> LogEnds:
        return self._ends

    def prepare(self, chunk: Any) -> None:
        """Find out the format in the first chunk, and choose the reader of each.

        Raises:
            FormatError: The format cannot be found out.
        """
        if self._reader is None:
            if self.format is None:
                found = self._ends.found or decide(bytes(chunk.view[: min(chunk.size, HEAD)]))
                self.format = found.format if found else Format("combined")  # blank lines and comments only
                if self._on_format and found:
                    self._on_format(found)
                self._ends.detecting = False
            self._reader = reader_of(self.format, self._options)
        chunk.reader = self._reader
        if self._threads > 1:
            assert self.format is not None
            chunk.reader = reader_of(self.format, self._options)
            chunk.reader.go_on(self._reader)
            if chunk.whole:
                self._reader.skip(chunk.view[: chunk.size])

    def work(self, chunk: Any) -> list[Part]:
        """Convert the lines of a chunk. Records that would be overwritten before they are used are copied."""
        start, parts = 0, []
        limit = 1 if self.invalid.errors == "raise" else self.invalid.limit
        while start < chunk.size:
            found, data = chunk.state.convert(chunk.reader, chunk.view[start : chunk.size], limit)
            done = start + found.read >= chunk.size
            parts.append(Part(start, found, data if done or isinstance(data, list) else bytes(data)))
            if found.invalid and limit == 1:
                break
            start += found.read
        return parts

    def use(self, chunk: Any, parts: list[Part], at: Position) -> None:
        self.missing &= chunk.reader.missing
        for start, found, data in parts:
            if found.records:
                self._take(data)
            self.lines += found.lines
            self.records += found.records
            faults = [
                LineFault(line, start, start + size, code, offset) for line, start, size, code, offset in found.invalid
            ]
            self.invalid.add(len(faults), faults, chunk, start, at)
            at.line += found.lines

    def use_long(self, chunk: Any, at: Position) -> None:
        self.lines += chunk.ends

    def no_records(self) -> FormatError | None:
        """Return the error for a log that has lines, but no record of its format; None if it has one, or no lines."""
        if self.records or self.invalid.first is None:
            return None
        line, before = self.invalid.first
        reason = strange(line.text)
        if reason:
            return FormatError(f"{line.input}: {reason}")
        return FormatError(
            f"{self.invalid.message(line, before)}; no line is one; the nearest formats are "
            f"{nearest(candidates(line.text))}"
        )


def reader_of(format: Format, options: dict[str, Any]) -> LogReader:
    """Return a LogReader of a format; `options` are its other arguments."""
    return LogReader(format.programs, **options)


def longest_chunk(max_line: int) -> int:
    """Return the limit for a line in chunks: LogReader rejects those that fit one, and does not count a final "\\r"."""
    return max(max_line + 1, streams.CHUNK)
