"""Logs as chunks of lines, and their conversion: for the functions of uricodec.logs, and for `uricodec log`."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

from uricodec._base._text import new_buffer
from uricodec._io import compress, streams
from uricodec.logs._detection import HEAD, Candidate, FormatError, decide, is_utf16
from uricodec.logs._format import Format
from uricodec.logs._records import IMPORTANT, Lines, LogReader

# Capacity of the read buffer, in chunks. It grows for longer lines, up to `max_line`.
CAPACITY = 4

# A block of NUL bytes before a line: the file was truncated while a program wrote at an offset in it.
BLOCK = re.compile(rb"(?<=\n)\0+")

# A log of fewer bytes is not taken for UTF-16 because of them.
SHORTEST = 16

# Kubernetes CRI: a part of a line ("P"), or its last or only part ("F").
CRI = re.compile(rb"(.{4}-..-..T..:..:..[^ ]* (std(?:out|err)) )([PF]) ", re.DOTALL)

NEWLINE = re.compile(rb"\n")
PART = re.compile(rb" stdout P | stderr P ")

# One of so many lines at the start of a log of Kubernetes is in this form.
FIRST = 8


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
        skipped (int): The number of NUL bytes before lines, which are dropped, unless the log is UTF-16.
    """

    def __init__(self, detecting: bool = False, wait: bool = False) -> None:
        super().__init__()
        self.detecting, self._wait = detecting, wait
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
        joined (bytes | None): What the lines of the chunk become if parts of lines are joined.
    """

    log: "Log"
    chunk: streams.Chunk
    reader: LogReader
    joined: bytes | None = None

    @property
    def view(self) -> memoryview:
        """A new memoryview of the lines, see Chunk.view."""
        return self.chunk.view[: self.chunk.size] if self.joined is None else memoryview(self.joined)


class Part(NamedTuple):
    """The outcome of a part of a piece: where its lines start in the chunk, what LogReader says, and the records."""

    start: int
    found: Lines
    data: Any


class PartialLines:
    """The parts of lines in a log of Kubernetes, which the container runtime splits.

    Args:
        max_line (int): The longest valid line, in bytes. No more than that is kept of a line.

    Attributes:
        changes (deque[tuple[int, int]]): Numbers of lines after joining, and how many more, or fewer, lines of the log
            than that precede them.
    """

    def __init__(self, max_line: int) -> None:
        self.changes: deque[tuple[int, int]] = deque()
        self._max_line = max_line
        self._lines = 0  # after joining
        self._found, self._left = False, FIRST  # whether the log is one of Kubernetes; lines that may still show it
        self._parts: dict[bytes, bytearray] = {}  # by stream

    def join(self, data: memoryview) -> bytes | None:
        """Return lines whose parts are joined; None if nothing has to be joined."""
        if self._left:
            self._look(data)
        if not self._found and not self._left:
            return None
        lines = bytes(data).split(b"\n")
        end = [lines.pop()] if not lines[-1] else []
        if not self._found or (not self._parts and not PART.search(data)):
            self._lines += len(lines)
            return None
        joined = []
        for line in lines:
            found = CRI.match(line) if self._fits(len(line), line[-1:]) else None
            if found is None or (found[3] == b"F" and found[2] not in self._parts):
                joined.append(line)
                continue
            start = len(found[0]) if found[2] in self._parts else 0
            parts = self._parts.setdefault(found[2], bytearray())
            parts += line[start : start + self._max_line + 1 - len(parts)]
            if found[3] == b"P":
                self.changes.append((self._lines + len(joined), 1))
            else:
                joined.append(self._whole(found[2]))
        self._lines += len(joined)
        return b"\n".join([*joined, *end])

    def _look(self, data: memoryview) -> None:
        """Find out whether the log is one of Kubernetes."""
        at = 0
        while self._left and at < len(data):
            found = NEWLINE.search(data, at)
            end = found.start() if found else len(data)
            if self._fits(end - at, bytes(data[max(at, end - 1) : end])) and CRI.match(data, at):
                self._found = True
            at = end + 1
            self._left -= 1

    def _fits(self, size: int, last: bytes) -> bool:
        """Return whether a line that ends in this byte is not too long."""
        return size - (last == b"\r") <= self._max_line

    def rest(self) -> bytes:
        """Return the lines whose last part is missing."""
        self.changes.append((self._lines, -len(self._parts)))
        return b"\n".join([self._whole(stream) for stream in list(self._parts)])

    def skip(self, lines: int) -> None:
        """Count lines that are not joined, because they are too long."""
        self._lines += lines
        self._left = max(self._left - lines, 0)

    def _whole(self, stream: bytes) -> bytes:
        """Return a line in the form of one that was not split."""
        line = bytes(self._parts.pop(stream))
        return CRI.sub(rb"\1F ", line, count=1)


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
        joined (int): How many of the lines are parts that were joined to later ones.
        nul_bytes (int): How many NUL bytes before lines were skipped.
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
        self.lines = self.records = self.joined = self.nul_bytes = 0
        self._partial = PartialLines(self.max_line)
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
        for chunk, joined in self._joined(chunks(buffers, ends, max(self.max_line + 1, streams.CHUNK)), buffers):
            self.nul_bytes = ends.skipped
            if reader is None:
                if self.format is None:
                    found = ends.found or decide(
                        bytes(chunk.view[: min(chunk.size, HEAD)] if joined is None else joined[:HEAD])
                    )
                    self.format = found.format if found else Format("combined")  # blank lines and comments only
                    if self._on_format and found:
                        self._on_format(found.format, found.lines, found.votes)
                    ends.detecting = False
                reader = self.reader()
            if self._threads == 1:
                yield Piece(self, chunk, reader, joined)
                continue
            mine = self.reader()
            mine.go_on(reader)
            piece = Piece(self, chunk, mine, joined)
            if chunk.whole:
                reader.skip(piece.view)
            yield piece
        self.nul_bytes = ends.skipped

    def _joined(self, chunks: Iterator[streams.Chunk], buffers: Any) -> Iterator[tuple[streams.Chunk, bytes | None]]:
        """Yield chunks, and their lines if parts of them were joined."""
        for chunk in chunks:
            joined = self._partial.join(chunk.view[: chunk.size]) if chunk.whole else None
            if not chunk.whole:
                self._partial.skip(chunk.ends)
            if joined == b"":
                buffers.release(chunk)
            else:
                yield chunk, joined
        rest = self._partial.rest()
        if rest:
            chunk = buffers.get()
            chunk.size, chunk.begins, chunk.ends = 0, True, True
            yield chunk, rest

    def _number(self, line: int) -> int:
        """Return the number of a line of the log, from 1, given that after joining, from 0."""
        changes = self._partial.changes
        while changes and changes[0][0] <= line:
            self.joined += changes.popleft()[1]
        return line + self.joined + 1

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
        done = self.lines - self.joined
        for start, found, _ in parts:
            lines = piece.view[start:]
            for line, at, size, code, offset in found.invalid:
                report(self._number(done + line), offset, code, lines[at : at + size])
            done += found.lines
            self.records += found.records
        if not chunk.whole:
            if chunk.begins:
                report(self._number(done), self.max_line, "too-long", chunk.view[: chunk.size])
            done += chunk.ends
        self.lines = self._number(done) - 1


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
    view, start = piece.view, 0
    while start < len(view) and piece.chunk.whole:
        found, data = convert_lines(piece.reader, piece.view[start:], limit)
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
            yield name, partial(_whole, view)
            return
        read = BytesIO(view).read
    yield name, partial(streams.chunks_of, partial(streams.begin, name, _reader(read)))


def _whole(view: memoryview, _buffers: Any, ends: streams.LineEnds, *_: Any) -> Iterator[streams.Chunk]:
    """Yield a log in memory as one chunk."""
    chunk = streams.Chunk(0)
    chunk.buffer, chunk.size = view, len(view)
    if any(0 in bytes(view[start : start + streams.CHUNK]) for start in range(0, len(view), streams.CHUNK)):
        chunk.replace(view, len(view))
        chunk.size = ends.keep(chunk.buffer, 0, len(view))
    if chunk.size:
        yield chunk


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
