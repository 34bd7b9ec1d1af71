"""Logs as chunks of lines, and their conversion: for the functions of uricodec.logs, and for `uricodec log`."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

from uricodec._base._text import new_buffer
from uricodec._io import compress, streams
from uricodec.logs._detection import HEAD, Candidate, FormatError, decide
from uricodec.logs._format import Format
from uricodec.logs._records import IMPORTANT, Lines, LogReader

# Capacity of the read buffer, in chunks. It grows for longer lines, up to `max_line`.
CAPACITY = 4


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


class Piece(NamedTuple):
    """Lines of a log to convert.

    Attributes:
        log (Log): The log.
        chunk (streams.Chunk): The lines, or a part of a line that is too long.
        reader (LogReader): Converts them.
    """

    log: "Log"
    chunk: streams.Chunk
    reader: LogReader


class Part(NamedTuple):
    """The outcome of a part of a piece: where its lines start in the chunk, what LogReader says, and the records."""

    start: int
    found: Lines
    data: Any


class Log:
    """One log.

    Args:
        format (Format | None): The format; None to find it out.
        options (dict): The arguments of LogReader besides the programs.
        threads (int): How many threads convert the pieces.
        on_format (Callable[[Format, int, int], None] | None): Called with the format that was found out, the number of
            lines that it was found in, and how many of them it matches.
        wait (bool): Whether the log grows.

    Attributes:
        format (Format | None): The format, as soon as it is known.
        lines (int): The number of lines that have been used.
        records (int): The number of records among them.
        missing (frozenset[str]): Those of IMPORTANT that no record had a value of.
    """

    def __init__(
        self,
        format: Format | None,
        options: dict[str, Any],
        threads: int = 1,
        on_format: "Callable[[Format, int, int], None] | None" = None,
        wait: bool = False,
    ) -> None:
        self.format = format
        self._options, self._threads, self._on_format, self._wait = options, threads, on_format, wait
        self.max_line = options["max_line"]
        self.lines = self.records = 0
        self.missing = frozenset(IMPORTANT)

    def reader(self) -> LogReader:
        assert self.format is not None
        return LogReader(self.format.programs, **self._options)

    def pieces(self, chunks: Callable[..., Iterator[Any]], buffers: Any) -> Iterator[Piece]:
        """Read the log.

        Args:
            chunks (Callable): Reads chunks, see Input.chunks().
            buffers (Buffers): The buffers to read into.

        Yields:
            Piece: The next lines.

        Raises:
            FormatError: The format cannot be found out.
        """
        ends = LogEnds(self.format is None, self._wait)
        reader = None
        # A "\r" before the newline does not count. The reader itself rejects lines that fit a chunk.
        for chunk in chunks(buffers, ends, max(self.max_line + 1, streams.CHUNK)):
            if reader is None:
                if self.format is None:
                    found = ends.found or decide(bytes(chunk.view[: min(chunk.size, HEAD)]))
                    self.format = found.format if found else Format("combined")  # blank lines and comments only
                    if self._on_format and found:
                        self._on_format(found.format, found.lines, found.votes)
                    ends.detecting = False
                reader = self.reader()
            if self._threads == 1:
                yield Piece(self, chunk, reader)
                continue
            mine = self.reader()
            mine.go_on(reader)
            if chunk.whole:
                reader.skip(chunk.view[: chunk.size])
            yield Piece(self, chunk, mine)

    def use(self, piece: Piece, parts: list[Part], report: Callable[..., None]) -> None:
        """Count the lines of a piece, and report the invalid ones.

        Args:
            piece (Piece): The piece.
            parts (list[Part]): What convert() has returned for it.
            report (Callable): Called for each invalid line with its number, the offset of the error, a code, and the
                line (memoryview); of a line that is too long, at least its first SHOWN bytes.
        """
        chunk = piece.chunk
        self.missing &= piece.reader.missing
        for start, found, _ in parts:
            lines = chunk.view[start:]
            for line, at, size, code, offset in found.invalid:
                report(self.lines + line + 1, offset, code, lines[at : at + size])
            self.lines += found.lines
            self.records += found.records
        if not chunk.whole:
            if chunk.begins:
                report(self.lines + 1, self.max_line, "too-long", chunk.view[: chunk.size])
            self.lines += chunk.ends


def convert(piece: Piece, convert_lines: Callable[..., Any], limit: int) -> Iterator[Part]:
    """Convert the lines of a piece.

    Args:
        piece (Piece): The piece.
        convert_lines (Callable[[LogReader, memoryview, int], tuple[Lines, object]]): Converts as many lines as it has
            capacity for.
        limit (int): The number of invalid lines after which a part ends.

    Yields:
        Part: The outcome for some of the lines; its data are valid until the next one.
    """
    chunk, start = piece.chunk, 0
    while start < chunk.size and chunk.whole:
        found, data = convert_lines(piece.reader, chunk.view[start : chunk.size], limit)
        yield Part(start, found, data)
        start += found.read


@contextmanager
def opened(source: Any) -> Iterator[tuple[str, Callable[..., Iterator[Any]]]]:
    """Yield the name of a log, and a function that reads its chunks, see Input.chunks()."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fsdecode(source)
        with open(source, "rb", buffering=0) as file, streams.Input(name, file=file) as log:
            yield log.name, log.chunks
        return
    read = getattr(source, "read", None)
    name = streams.printable(str(getattr(source, "name", "<log>")))
    if read is None:
        try:
            view = memoryview(source)
        except TypeError:
            raise TypeError(f"expected a path, a binary file or a bytes-like, got {type(source).__name__}") from None
        if view.format.lstrip("@=<>!") not in ("B", "b", "c"):
            raise TypeError(f"expected a buffer of bytes, got items of format {view.format!r}")
        view = view.cast("B")
        if compress.format_of(view) is None:
            chunk = streams.Chunk(0)
            chunk.buffer, chunk.size = view, len(view)
            yield name, lambda *_: iter([chunk] if len(view) else [])
            return
        read = BytesIO(view).read
    yield name, partial(streams.chunks_of, partial(streams.begin, name, _reader(read)))


def _reader(read: Callable[[int], Any]) -> Callable[[memoryview], int]:
    """Return a function that reads into a buffer what `read` returns, even if that is more than requested."""
    rest = memoryview(b"")

    def read_into(view: memoryview) -> int:
        nonlocal rest
        if not rest:
            data = read(len(view))
            if isinstance(data, str):
                raise TypeError('the log is open in text mode; open it in binary mode ("rb")')
            if data is None:
                raise BlockingIOError("non-blocking file has no data yet")
            rest = memoryview(data)
        size = min(len(rest), len(view))
        view[:size], rest = rest[:size], rest[size:]
        return size

    return read_into
