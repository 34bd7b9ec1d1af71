"""Access logs: requests as records, with path and query decoded.

The formats are those of `FORMATS`. `docs/logs.md` describes what is read in each, and how hostile requests are handled.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from uricodec._io import compress, streams
from uricodec.logs._columns import convert_columns
from uricodec.logs._records import FORMATS, MAX_LINE, NAMES, Lines, LogReader

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["FORMATS", "LogFault", "Record", "columns", "detect", "parse", "to_arrow"]


def __dir__() -> list[str]:
    return __all__


# Capacity of the read buffer, in chunks. It grows for longer lines, up to `max_line`.
ROOM = 4

# Index of the first column of convert_columns() after those of the members.
PARAMETER = len(NAMES) - 1

# Number of bytes that are kept of an invalid line.
SHOWN = 1 << 16


class Record(NamedTuple):
    """A request in a log. A member is None if the log does not contain it.

    >>> Record._fields[:7]
    ('client', 'user', 'time', 'method', 'target', 'path', 'query')
    """

    client: str | None
    user: str | None
    time: str | None
    method: str | None
    target: str | None
    path: str | None
    query: tuple[tuple[str, str], ...] | None
    protocol: str | None
    status: int | None
    bytes_sent: int | None
    referer: str | None
    user_agent: str | None
    flags: tuple[str, ...] | None = None


class LogFault(NamedTuple):
    """An invalid line of a log.

    Attributes:
        line (int): The number of the line, from 1.
        offset (int): Where in the line it is invalid, in bytes from 0.
        code (str): The kind of fault.
        text (bytes): The line.

    >>> LogFault(7, 0, "client", b"???").line
    7
    """

    line: int
    offset: int
    code: str
    text: bytes


def detect(head: bytes) -> str:
    """Guess the format of a log.

    Args:
        head (bytes): The first lines of the log.

    Returns:
        str: One of FORMATS. "combined" also covers "common" and unknown formats.

    >>> detect(b"#Version: 1.0\\n#Fields: date time x-edge-location sc-bytes c-ip\\n")
    'cloudfront'
    """
    return decided(head) or "combined"


def decided(head: bytes) -> str | None:
    """Return the format that the first complete lines of a log show; None if more lines are needed."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"#Software: Microsoft"):
        return "iis"
    lines = head.split(b"\n", 100)
    for line in lines[:100]:
        if line.startswith(b"#"):
            if line.startswith(b"#Fields:"):
                return "cloudfront" if b"x-edge-" in line else "iis"
        elif line.lstrip().startswith(b"{"):
            return "nginx-json"
        elif line.split(b" ", 1)[0] in (b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"):
            return "alb"
        elif line.strip():
            return "combined"
    return "combined" if len(lines) > 100 else None


def parse(  # noqa: PLR0913
    source: "Buffer | BinaryIO | str | os.PathLike[str]",
    format: str = "auto",
    *,
    mask: Iterable[str] = (),
    flags: bool = False,
    errors: str = "keep",
    max_line: int = MAX_LINE,
    faults: list[LogFault] | None = None,
) -> Iterator[Record]:
    """Parse an access log, and yield its records.

    Args:
        source (bytes-like | binary file | str | PathLike): The log, or its path; uncompressed or compressed (gzip,
            bzip2, xz, Zstandard).
        format (str): One of FORMATS, or "auto" to detect it.
        mask (Iterable[str]): Query parameters whose values are hidden in target, query and referer. Names are compared
            after decoding, ignoring ASCII case.
        flags (bool): Whether records have `flags`, the suspicious properties of a request.
        errors (str): How to handle bytes that are not UTF-8: "keep" them as triplets, or "replace" them by U+FFFD.
        max_line (int): The longest valid line, in bytes without its terminator, from 1 to 2**28. Longer lines are
            invalid, with the code "too-long".
        faults (list[LogFault] | None): Receives the invalid lines.

    Yields:
        Record: One for each valid line.

    Raises:
        TypeError: If the file is open in text mode, or the buffer does not contain bytes.
        ValueError: If the format or policy is unknown, or max_line is out of range.
        OSError: If the file cannot be read, is truncated while it is read, or its compressed data are damaged.

    Source: RFC 9112 section 3; RFC 3986 sections 2.1 and 3.

    >>> line = b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /caf%C3%A9?q=a+b HTTP/1.1" 200 512'
    >>> [record] = parse(line)
    >>> record.path, record.query, record.status, record.time
    ('/café', (('q', 'a b'),), 200, '2025-01-01T12:00:00+00:00')
    """
    convert = RecordBuffer(max_line).convert
    for records in _convert(source, format, (mask, flags, errors, max_line), faults, convert):
        for line in bytes(records).splitlines():
            record = json.loads(line)
            if record["query"] is not None:
                record["query"] = tuple(map(tuple, record["query"]))
            if flags:
                record["flags"] = tuple(record["flags"])
            yield Record(**record)


def columns(  # noqa: PLR0913
    source: "Buffer | BinaryIO | str | os.PathLike[str]",
    format: str = "auto",
    *,
    mask: Iterable[str] = (),
    flags: bool = False,
    errors: str = "keep",
    max_line: int = MAX_LINE,
    faults: list[LogFault] | None = None,
) -> dict[str, list[Any]]:
    """Parse an access log into columns.

    Args:
        source, format, mask, flags, errors, max_line, faults: See `parse`.

    Returns:
        dict[str, list]: The values of each member, in the order of the records. "flags" is included only if `flags` is
            true.

    Raises:
        TypeError, ValueError, OSError: See `parse`.

    >>> columns(b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /a%20b HTTP/1.1" 200 512')["path"]
    ['/a b']
    """
    names = NAMES if flags else NAMES[:-1]
    records = list(parse(source, format, mask=mask, flags=flags, errors=errors, max_line=max_line, faults=faults))
    return {name: [record[i] for record in records] for i, name in enumerate(names)}


def to_arrow(  # noqa: PLR0913
    source: "Buffer | BinaryIO | str | os.PathLike[str]",
    format: str = "auto",
    *,
    mask: Iterable[str] = (),
    flags: bool = False,
    errors: str = "keep",
    max_line: int = MAX_LINE,
    faults: list[LogFault] | None = None,
) -> Any:
    """Parse an access log into Arrow columns, batch by batch. This requires pyarrow.

    Args:
        source, format, mask, flags, errors, max_line, faults: See `parse`.

    Returns:
        pyarrow.RecordBatchReader: Texts are strings, status and size are int64, the query is a list of structs of name
            and value, flags are a list of strings.

    Raises:
        ImportError: If pyarrow is not installed.
        TypeError, ValueError, OSError: See `parse`; raised when the batches are read.

    >>> import polars  # doctest: +SKIP
    >>> polars.from_arrow(to_arrow("access.log.gz")).group_by("path").len()  # doctest: +SKIP
    """
    from pyarrow import RecordBatchReader  # type: ignore[import-untyped,import-not-found,unused-ignore]

    batches = _convert(source, format, (mask, flags, errors, max_line), faults, convert_columns)
    return RecordBatchReader.from_batches(arrow_schema(flags), (arrow_batch(batch, flags) for batch in batches))


def arrow_schema(flags: bool) -> Any:
    """Return the schema of to_arrow()."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    parameter = pa.struct([pa.field("name", pa.string(), False), pa.field("value", pa.string(), False)])
    special = {
        "query": pa.list_(pa.field("item", parameter, False)),
        "status": pa.int64(),
        "bytes_sent": pa.int64(),
        "flags": pa.list_(pa.field("item", pa.string(), False)),
    }
    return pa.schema([(name, special.get(name, pa.string())) for name in (NAMES if flags else NAMES[:-1])])


def arrow_batch(columns: list[tuple[int, bytes, bytes, bytes]], flags: bool) -> Any:
    """Return a record batch of the columns of convert_columns()."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    def array(at: int, kind: Any) -> Any:
        rows, valid, ends, data = columns[at]
        buffers = [pa.py_buffer(valid) if valid else None, pa.py_buffer(data)]
        if kind == pa.string():
            buffers.insert(1, pa.py_buffer(ends))
        return pa.Array.from_buffers(kind, rows, buffers)

    def lists(at: int, kind: Any, values: Any) -> Any:
        rows, valid, ends, _ = columns[at]
        return pa.Array.from_buffers(kind, rows, [pa.py_buffer(valid), pa.py_buffer(ends)], children=[values])

    schema = arrow_schema(flags)
    arrays = []
    for i, field in enumerate(schema):
        if field.name == "query":
            pairs = [array(PARAMETER, pa.string()), array(PARAMETER + 1, pa.string())]
            values = pa.StructArray.from_arrays(pairs, fields=list(field.type.value_type))
            arrays.append(lists(i, field.type, values))
        elif field.name == "flags":
            arrays.append(lists(PARAMETER + 2, field.type, array(PARAMETER + 3, pa.string())))
        else:
            arrays.append(array(i, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class RecordBuffer:
    """The buffer for records as JSON or CSV. It grows if a record needs more.

    Args:
        max_line (int): The longest valid line of the log, in bytes.
    """

    def __init__(self, max_line: int) -> None:
        self._max_line = max_line
        self._buffer = memoryview(bytearray(LogReader.room(streams.CHUNK)))

    def convert(self, reader: LogReader, lines: memoryview) -> tuple[Lines, memoryview]:
        """Convert as many lines as the buffer can hold. Return the outcome, and the records until the next call."""
        found = reader.convert(lines, self._buffer)
        if not found.read:
            from mmap import mmap  # its pages take memory only when they are used

            head = bytes(lines[: self._max_line + 1])
            size = head.find(b"\n")
            self._buffer = memoryview(mmap(-1, LogReader.room(len(head) if size < 0 else size)))
            found = reader.convert(lines, self._buffer)
        return found, self._buffer[: found.written]


class LogEnds(streams.LineEnds):
    """Where to cut a log into chunks. While the format is being detected, nothing is cut before the lines show it.

    Args:
        detecting (bool): Whether the format is being detected.
    """

    def __init__(self, detecting: bool) -> None:
        super().__init__()
        self.detecting = detecting

    def cut(self, buffer: bytearray, first: int, start: int, stop: int) -> int:
        if not self.detecting:
            return self.last(buffer, start, stop)
        if stop - first >= min(streams.CHUNK, len(buffer)):
            return self.last(buffer, first, stop)
        end = self.last(buffer, start, stop)
        return end if end and decided(bytes(buffer[:end])) else 0


class LogLines:
    """The lines of one log, and their conversion to records.

    Args:
        format (str): One of FORMATS, or "auto".
        to (str): What LogReader writes.
        options (tuple): The other arguments of LogReader; the fourth is max_line.
        report (Callable): Called for each invalid line with its number, the offset of the fault, a code, and the line
            (memoryview); of a line that is too long, at least its first SHOWN bytes.

    Attributes:
        lines (int): The number of lines read.
        records (int): The number of records among them.
    """

    def __init__(self, format: Any, to: Any, options: tuple[Any, ...], report: Callable[..., None]) -> None:
        self._format, self._to, self._options, self._report = format, to, options, report
        self.lines: int = 0
        self.records: int = 0

    def convert(self, chunks: Callable[..., Iterator[Any]], buffers: Any, convert: Callable[..., Any]) -> Iterator[Any]:
        """Read the log, and yield the converted records.

        Args:
            chunks (Callable): Reads chunks, see Input.chunks().
            buffers (Buffers): The buffers to read into.
            convert (Callable[[LogReader, memoryview], tuple[Lines, object]]): Converts as many lines as it has capacity
                for.

        Yields:
            object: The result of `convert` for some of the lines.
        """
        detecting, max_line = self._format == "auto", self._options[3]
        reader = None if detecting else LogReader(self._format, self._to, *self._options)
        ends = LogEnds(detecting)
        # A "\r" before the newline does not count. The reader itself rejects lines that fit a chunk.
        for chunk in chunks(buffers, ends, max(max_line + 1, streams.CHUNK)):
            if reader is None:
                head = bytes(chunk.view[: min(chunk.size, streams.CHUNK)])
                self._format = detect(head)
                reader = LogReader(self._format, self._to, *self._options)
                ends.detecting = False
            start = 0 if chunk.whole else chunk.size
            while start < chunk.size:
                lines = chunk.view[start : chunk.size]
                found, data = convert(reader, lines)
                for line, at, size, code, offset in found.faults:
                    self._report(self.lines + line + 1, offset, code, lines[at : at + size])
                self.lines += found.lines
                self.records += found.records
                start += found.read
                if found.records:
                    yield data
            if not chunk.whole:
                if chunk.begins:
                    self._report(self.lines + 1, max_line, "too-long", chunk.view[: chunk.size])
                self.lines += chunk.ends
            buffers.release(chunk)
        if reader is None:
            LogReader("combined", self._to, *self._options)  # check the arguments for an empty log, too


def _convert(
    source: Any, format: str, options: tuple[Any, ...], faults: list[LogFault] | None, convert: Callable[..., Any]
) -> Iterator[Any]:
    """Read a log; see LogLines.convert()."""

    def report(line: int, offset: int, code: str, text: memoryview) -> None:
        if faults is not None:
            faults.append(LogFault(line, offset, code, bytes(text[:SHOWN])))

    with _opened(source) as chunks:
        log = LogLines(format, "jsonl", options, report)
        yield from log.convert(chunks, streams.Buffers(ROOM * streams.CHUNK), convert)


@contextmanager
def _opened(source: Any) -> Iterator[Callable[..., Iterator[Any]]]:
    """Yield a function that reads the chunks of a log, see Input.chunks()."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb", buffering=0) as file, streams.Input(os.fsdecode(source), file=file) as opened:
            yield opened.chunks
        return
    read = getattr(source, "read", None)
    if read is None:
        view = memoryview(source)
        if view.format.lstrip("@=<>!") not in ("B", "b", "c"):
            raise TypeError(f"expected a buffer of bytes, got items of format {view.format!r}")
        view = view.cast("B")
        if compress.format_of(view) is None:
            chunk = streams.Chunk(0)
            chunk.buffer, chunk.size = view, len(view)
            yield lambda *_: iter([chunk])
            return
        read = BytesIO(view).read
    yield partial(streams.chunks_of, partial(streams.begin, "<log>", _reader(read)))


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
