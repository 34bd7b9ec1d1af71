"""The worker that reads logs: for the functions of uricodec.logs, and for `uricodec log`."""

import re
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

from uricodec._base._text import new_buffer
from uricodec._io import reading
from uricodec._io.reading import LineEnds
from uricodec._io.reports import InvalidLine
from uricodec._io.runner import InvalidLines, Position, Worker
from uricodec.logs._columns import convert_columns
from uricodec.logs._detection import (
    HEAD,
    SHARE,
    Candidate,
    FormatError,
    candidates,
    decide,
    decide_beside,
    is_utf16,
    nearest,
    strange,
)
from uricodec.logs._format import Format, OpenFormat, has_bare_queries
from uricodec.logs._formats import quote_in
from uricodec.logs._partial import PartialLines
from uricodec.logs._records import IMPORTANT, Lines, LogReader

# Capacity of a buffer in bytes. It grows for longer lines, up to `max_line`.
CAPACITY = 4 * reading.CHUNK

# A block of NUL bytes before a line: the file was truncated while a program wrote at an offset in it.
BLOCK = re.compile(rb"(?<=\n)\0+")

# After so many lines, a log without a record is reported.
FIRST = 1000

# A log of fewer bytes is not taken for UTF-16 because of them.
SHORTEST = 16

# What is said of a log without a line.
NUL_ONLY = "the log is binary: it has only NUL bytes"


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
            self._allocate(reader, reading.CHUNK // 8)
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


class ColumnBuffer:
    """Converts lines to columns, as the state of a thread."""

    convert = staticmethod(convert_columns)


class LogEnds(LineEnds):
    """Where to cut a log into chunks. While the format is being detected, nothing is cut before the lines show it.

    Args:
        detecting (bool): Whether the format is being detected.
        wait (bool): Whether the log grows: what is there decides then, as soon as it shows one format.
        likely (Format | None): See decide().

    Attributes:
        found (Candidate | None): The format that the first chunk shows, if it was cut for that.
        skipped (int): The number of NUL bytes before lines, which are dropped, unless the log is UTF-16.
    """

    def __init__(self, detecting: bool = False, wait: bool = False, likely: Format | None = None) -> None:
        super().__init__()
        self.detecting, self._wait, self.likely = detecting, wait, likely
        self.found: Candidate | None = None
        self.skipped = 0
        self._before = b"\n"  # the last byte that was kept
        self._is_utf16: bool | None = None

    def keep(self, buffer: bytearray, start: int, stop: int) -> int:
        if self._is_utf16 is None:
            self._is_utf16 = stop > SHORTEST and is_utf16(bytes(buffer[: min(stop, 200)]))
        if not self._is_utf16 and buffer.find(0, start, stop) >= 0:
            read = buffer[start:stop]
            # A block may have the size of a disk.
            is_block = self._before == b"\n" and read == bytes(len(read))
            kept = b"" if is_block else BLOCK.sub(b"", self._before + read)[1:]
            self.skipped += len(read) - len(kept)
            memoryview(buffer)[start : start + len(kept)] = kept
            stop = start + len(kept)
        if stop > start:
            self._before = bytes(buffer[stop - 1 : stop])
        return stop

    def rest(self, buffer: bytearray, first: int, stop: int) -> int:
        return self.last(buffer, first, stop) if self.detecting else 0

    def cut(self, buffer: bytearray, first: int, start: int, stop: int) -> int:
        if not self.detecting or stop - first >= min(HEAD, reading.CHUNK):
            return self.last(buffer, first if self.detecting else start, stop)
        end = self.last(buffer, start, stop)
        if end < stop and buffer.count(b"\n", first, end) < SHARE:
            return 0  # the unfinished line may change the decision
        try:
            self.found = decide(bytes(buffer[:end]), not self._wait, self.likely) if end else None
        except FormatError:
            self.found = None
        return end if self.found else 0


class Part(NamedTuple):
    """The outcome of a part of a chunk: where its lines start in it, what LogReader says, and the records."""

    start: int
    found: Lines
    data: Any


class Redactor:
    """Redacts the URLs in lines.

    Args:
        names (str | Collection[str]): The names of parameters, see `uricodec.uri.redact`.
    """

    def __init__(self, names: "str | Collection[str]") -> None:
        from uricodec.uri import _redact

        self._names = names
        self._module: Any = _redact
        self._rows = _redact.RedactTextRows(names)

    def set_bare(self) -> None:
        """Recognize queries without "?" from now on."""
        self._rows = self._module.RedactTextRows(self._names, bare=True)

    def redact(self, lines: "bytes | memoryview") -> memoryview:
        """Return redacted lines."""
        return self._module.redact_lines(lines, self._rows)


def hiding(names: Collection[str]) -> "Callable[[str], str]":
    """Return the function that hides the values of parameters in a message that shows a part of a line."""
    if not names:
        return str
    from uricodec.logs._mask import Mask

    hide = Mask(names).hide
    return lambda text: hide(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


class LogWorker(Worker):
    """Converts the lines of one log.

    Args:
        name (str): The name of the log.
        format (Format | OpenFormat | None): The format; None to find it out, an OpenFormat to find out a part of it.
        options (dict): The arguments of LogReader besides the programs.
        errors (str): How lines that are not records are handled: "drop" or "raise".
        fail (Callable[[str, InvalidLine], Exception]): Returns the exception for such a line, given the message.
        report (Callable[[list[InvalidLine]], None] | None): Called with such lines.
        take (Callable[[Any], None]): Called with records, in order: what `chunk.state.convert()` returned.
        threads (int): How many threads convert the chunks.
        on_format (Callable[[Candidate], None] | None): Called with the format that was found out.
        wait (bool): Whether the log grows.
        redact (str | Collection[str] | None): The names of the parameters that are redacted, see `uri.redact`; None:
            lines are read as they are.
        wanted (int | None): How many invalid lines are reported; of the others, only examples. None: all.
        likely (Format | None): The format of the log before, which is tried first.
        on_none (Callable[[str], None] | None): Called with a message if of the first FIRST lines, none is a record.

    Attributes:
        format (Format | None): The format, as soon as it is known.
        lines (int): The number of lines that have been used.
        records (int): The number of records among them that were used.
        dropped (int): The number of those that do not meet the conditions.
        joined (int): How many of the lines are parts that were joined to later ones.
        missing (frozenset[str]): Those of IMPORTANT that no record had a value of.
        local_times (bool): Whether a time without a zone was read as one of the zone of the options.
        invalid (InvalidLines): What happens to the other lines.
    """

    def __init__(  # noqa: PLR0913
        self,
        name: str,
        format: "Format | OpenFormat | None",
        options: dict[str, Any],
        errors: str,
        *,
        fail: "Callable[[str, InvalidLine], Exception]",
        report: "Callable[[list[InvalidLine]], None] | None" = None,
        take: "Callable[[Any], None]",
        threads: int = 1,
        on_format: "Callable[[Candidate], None] | None" = None,
        wait: bool = False,
        redact: "str | Collection[str] | None" = None,
        wanted: int | None = None,
        likely: Format | None = None,
        on_none: "Callable[[str], None] | None" = None,
    ) -> None:
        self._open = format if isinstance(format, OpenFormat) else None
        self.format: Format | None = None if isinstance(format, OpenFormat) else format
        self._name, self._given = name, self.format is not None
        self._redactor = None if redact is None else Redactor(redact)
        self._hide = hiding(options["mask"])
        if report and self._redactor:
            report = partial(self._report_redacted, report)  # a line may be too long for work()
        self._options, self._threads, self._on_format, self._take = options, threads, on_format, take
        super().__init__(InvalidLines(errors, fail, self._reason, report, options["max_line"], True, wanted))
        self._ends = LogEnds(self.format is None, wait, likely)
        self._on_none = on_none
        self._reader: LogReader | None = None
        self._free: list[LogReader] = []  # those of chunks that were used
        self._partial, self._done = PartialLines(options["max_line"]), 0  # the number of joined lines that were used
        self.lines = self.records = self.dropped = self.joined = 0
        self.missing, self.local_times = frozenset(IMPORTANT), False

    def _report_redacted(self, report: "Callable[[list[InvalidLine]], None]", lines: list[InvalidLine]) -> None:
        assert self._redactor is not None
        report([line._replace(text=bytes(self._redactor.redact(line.text))) for line in lines])

    def why(self, line: InvalidLine) -> str:
        """Return what is wrong with a line that is not a record."""
        diagnostic = self.format.explain(line.text) if self.format and line.code != "too-long" else None
        return self._hide(diagnostic.message) if diagnostic else self.invalid.why(line)

    def _reason(self, line: InvalidLine) -> str:
        diagnostic = self.format.explain(line.text) if self.format else None
        return self._hide(
            f"not a record of the format {self.format}: {diagnostic.message if diagnostic else line.code}"
        )

    @property
    def nul_bytes(self) -> int:
        """How many NUL bytes before lines were skipped."""
        return self._ends.skipped

    def ends(self) -> LogEnds:
        return self._ends

    def prepare(self, chunk: Any) -> None:
        """Join parts of lines, find out the format in the first chunk, and choose the reader of each.

        Raises:
            FormatError: The format cannot be found out.
        """
        joined = self._partial.join(chunk.view[: chunk.size]) if chunk.whole else None
        chunk.lines = chunk.view[: chunk.size] if joined is None else memoryview(joined)
        if not chunk.whole:
            self._partial.skip(chunk.ends)
        if not len(chunk.lines):
            chunk.reader = None
            return
        if self._reader is None:
            if self.format is None:
                try:
                    found = self._find_format(bytes(chunk.lines[:HEAD]))
                except FormatError as error:
                    raise FormatError(self._shown(error.message), error.suggestion) from None
                assert self.format is not None
                if self._on_format and found:
                    self._on_format(found)
                self._ends.detecting = False
            self._reader = reader_of(self.format, self._options)
            if self._redactor and has_bare_queries(self.format):
                self._redactor.set_bare()
        chunk.reader = self._reader
        if self._threads > 1:
            assert self.format is not None
            chunk.reader = self._free.pop() if self._free else reader_of(self.format, self._options)
            chunk.reader.go_on(self._reader)
            if chunk.whole:
                self._reader.skip(chunk.lines)
        chunk.reader.examples = self.invalid.examples_suffice

    def _find_format(self, head: bytes) -> Candidate | None:
        """Find out the format, given the first lines."""
        if self._open:
            found = decide_beside(self._open.known, head)
            self.format = self._open.with_found(found.format if found else None)
        else:
            found = self._ends.found or decide(head, likely=self._ends.likely)
            self.format = found.format if found else Format("combined")  # blank lines and comments only
        return found

    def _shown(self, message: str) -> str:
        """Return a message about lines that were not redacted."""
        if self._redactor:
            message = bytes(self._redactor.redact(message.encode())).decode()
        return self._hide(message)

    def work(self, chunk: Any) -> list[Part]:
        """Convert the lines of a chunk. Records that would be overwritten before they are used are copied."""
        start, parts = 0, []
        if self._redactor:
            chunk.lines = self._redactor.redact(chunk.lines)
        limit = 1 if self.invalid.errors == "raise" else self.invalid.limit
        while start < len(chunk.lines):
            found, data = chunk.state.convert(chunk.reader, chunk.lines[start:], limit)
            done = start + found.read >= len(chunk.lines)
            parts.append(Part(start, found, data if done or not isinstance(data, memoryview) else bytes(data)))
            if found.invalid and limit == 1:
                break
            start += found.read
        return parts

    def rest(self) -> bytes:
        return self._partial.rest()

    def _number(self, line: int) -> int:
        """Return the number of a line of the log, from 1, given that after joining, from 0."""
        changes = self._partial.changes
        while changes and changes[0][0] <= line:
            self.joined += changes.popleft()[1]
        return line + self.joined + 1

    def use(self, chunk: Any, parts: list[Part], at: Position) -> None:
        if chunk.reader is not None:
            self.missing &= chunk.reader.missing
            self.local_times |= chunk.reader.local_times
            if self._threads > 1:
                self._free.append(chunk.reader)
        for start, found, data in parts:
            if found.records:
                self._take(data)
            self.records += found.records
            self.dropped += found.dropped
            faults = [fault._replace(line=self._number(self._done + fault.line) - at.line) for fault in found.invalid]
            self._done += found.lines
            count = len(faults) + sum(found.others.values())
            self.invalid.add(count, faults, chunk.lines[start:], chunk.before + start, at, found.others)
            at.line = self._number(self._done)
        self.lines = at.line - 1
        if self._on_none and self.lines >= FIRST:
            if self._given and self.invalid.first and not (self.records or self.dropped):
                line, before = self.invalid.first
                self._on_none(f"{self.invalid.message(line, before)}; none of the first {self.lines} lines is one")
            self._on_none = None

    def use_long(self, chunk: Any, at: Position) -> None:
        at.line = self._number(self._done)
        super().use_long(chunk, at)
        self._done += chunk.ends
        self.lines = at.line - 1 + chunk.ends

    def check_records(self) -> None:
        """Check that a log that is not empty has a record.

        Raises:
            FormatError: It has none.
        """
        if self.nul_bytes and not self.lines:
            raise FormatError(f"{self._name}: {NUL_ONLY}")
        if self.records or self.dropped or self.invalid.first is None:
            return
        line, before = self.invalid.first
        reason = strange(line.text)
        if reason:
            raise FormatError(f"{line.input}: {reason}")
        from uricodec.logs._guess import guess

        message = f"{self.invalid.message(line, before)}; no line is one{quote_in(str(self.format))}"
        if found := candidates(line.text):
            raise FormatError(f"{message}; {found[0].format} reads it")
        near = nearest(line.text)
        raise FormatError(f"{message}; the nearest is {near[0]}" if near else message, guess([line.text]))


def reader_of(format: Format, options: dict[str, Any]) -> LogReader:
    """Return a LogReader of a format; `options` are its other arguments."""
    return LogReader(format.programs, **options)


def longest_chunk(max_line: int) -> int:
    """Return the limit for a line in chunks: LogReader rejects those that fit one, and does not count a final "\\r"."""
    return max(max_line + 1, reading.CHUNK)
