"""Access logs: requests as records, with path and query decoded.

The formats are those of `FORMATS`; `docs/logs.md` says what is read in each, and what becomes of hostile requests.
"""

import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from uricodec._core._log_columns import convert_columns
from uricodec._core._log_records import FORMATS, MAX_LINE, NAMES, Lines, LogReader
from uricodec._files import streams

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["FORMATS", "LogFault", "Record", "columns", "detect", "parse", "to_arrow"]

CHUNK = 1 << 18

# Of the columns of convert_columns(), the first behind those of the members.
PARAMETER = len(NAMES) - 1

# Of a line that is no record, so much is shown.
SHOWN = 1 << 16


class Record(NamedTuple):
    """A line of a log. A member is None if the log does not say it.

    >>> Record._fields[:7]
    ('host', 'user', 'time', 'method', 'target', 'path', 'query')
    """

    host: str | None
    user: str | None
    time: str | None
    method: str | None
    target: str | None
    path: str | None
    query: tuple[tuple[str, str], ...] | None
    protocol: str | None
    status: int | None
    size: int | None
    referer: str | None
    agent: str | None
    flags: tuple[str, ...] | None = None


class LogFault(NamedTuple):
    """A line that is no record: its number, from 1; where in it the fault is, in octets from 0; a code; the line.

    >>> LogFault(7, 0, "host", b"???").line
    7
    """

    line: int
    offset: int
    code: str
    text: bytes


def detect(head: bytes) -> str:
    """Guess the format of a log.

    Args:
        head (bytes): Its first lines.

    Returns:
        str: One of FORMATS. "combined" stands for "common", too, and for what is unknown.

    >>> detect(b"#Version: 1.0\\n#Fields: date time x-edge-location sc-bytes c-ip\\n")
    'cloudfront'
    """
    return decided(head) or "combined"


def decided(head: bytes) -> str | None:
    """The format that the first whole lines of a log show, or None if only those to come may."""
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
    """Read a log.

    Args:
        source (bytes-like | binary file | str | PathLike): The log, or the path of one; plain or gzip.
        format (str): One of FORMATS, or "auto" to have it detected.
        mask (Iterable[str]): Names of query parameters whose values are hidden, in target, query and referer. They are
            compared decoded, without regard to ASCII case.
        flags (bool): Whether records have `flags`: what is suspicious of a request.
        errors (str): What becomes of octets that are not UTF-8: "keep" them as triplets, or "replace" them by U+FFFD.
        max_line (int): How many bytes a line may have, without its end, from 1 to 2**28. A longer one is no record,
            with the code "too-long".
        faults (list[LogFault] | None): Gets the lines that are no records.

    Yields:
        Record: One for each line that is one.

    Raises:
        TypeError: The file is open in text mode, or the buffer is not one of octets.
        ValueError: There is no such format or policy, or max_line is out of range.
        OSError: The file cannot be read, is truncated while it is read, or its gzip data are damaged.

    Source: RFC 9112 section 3; RFC 3986 sections 2.1 and 3.

    >>> line = b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /caf%C3%A9?q=a+b HTTP/1.1" 200 512'
    >>> [record] = parse(line)
    >>> record.path, record.query, record.status, record.time
    ('/café', (('q', 'a b'),), 200, '2025-01-01T12:00:00+00:00')
    """
    for records in _json_lines(source, format, (mask, flags, errors, max_line), faults):
        for line in records.splitlines():
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
    """Read a log into columns.

    Args:
        source, format, mask, flags, errors, max_line, faults: As of `parse`.

    Returns:
        dict[str, list]: The values of each member, in the order of the records. No "flags" without `flags`.

    Raises:
        TypeError, ValueError, OSError: As `parse`.

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
    """Read a log into Arrow columns, batch by batch. This needs pyarrow.

    Args:
        source, format, mask, flags, errors, max_line, faults: As of `parse`.

    Returns:
        pyarrow.RecordBatchReader: Texts are strings, status and size int64, the query a list of structs of name and
            value, flags a list of strings.

    Raises:
        ImportError: There is no pyarrow.
        TypeError, ValueError, OSError: As `parse`, when the batches are read.

    >>> import polars  # doctest: +SKIP
    >>> polars.from_arrow(to_arrow("access.log.gz")).group_by("path").len()  # doctest: +SKIP
    """
    from pyarrow import RecordBatchReader  # type: ignore[import-untyped,import-not-found,unused-ignore]

    options = mask, flags, errors, max_line
    return RecordBatchReader.from_batches(arrow_schema(flags), _batches(source, format, options, faults))


def _batches(source: Any, format: str, options: tuple[Any, ...], faults: list[LogFault] | None) -> Iterator[Any]:
    lines = 0
    for reader, chunk in _read(source, format, options):
        done = 0
        while done < len(chunk):
            found, data = convert_columns(reader, chunk[done:])
            _note(faults, found, lines, chunk[done:])
            lines += found.lines
            done += found.read
            if found.records:
                yield arrow_batch(data, options[1])


def arrow_schema(flags: bool) -> Any:
    """The schema of to_arrow()."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    parameter = pa.struct([pa.field("name", pa.string(), False), pa.field("value", pa.string(), False)])
    special = {
        "query": pa.list_(pa.field("item", parameter, False)),
        "status": pa.int64(),
        "size": pa.int64(),
        "flags": pa.list_(pa.field("item", pa.string(), False)),
    }
    return pa.schema([(name, special.get(name, pa.string())) for name in (NAMES if flags else NAMES[:-1])])


def arrow_batch(columns: list[tuple[int, bytes, bytes, bytes]], flags: bool) -> Any:
    """A batch of the columns of convert_columns()."""
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


def _json_lines(source: Any, format: str, options: tuple[Any, ...], faults: list[LogFault] | None) -> Iterator[bytes]:
    """The records of a log, chunk by chunk."""
    lines = 0
    room = memoryview(bytearray(LogReader.room(CHUNK)))
    for reader, chunk in _read(source, format, options):
        done = 0
        while done < len(chunk):
            found = reader.convert(chunk[done:], room)
            if not found.read:
                room = room_for(chunk[done:], options[-1])
                continue
            _note(faults, found, lines, chunk[done:])
            lines += found.lines
            done += found.read
            if found.written:
                yield bytes(room[: found.written])


def room_for(lines: memoryview, max_line: int) -> memoryview:
    """Make room for the record of the first of these lines: pages of memory that are taken when they are used."""
    from mmap import mmap

    head = bytes(lines[: max_line + 1])
    size = head.find(b"\n")
    return memoryview(mmap(-1, LogReader.room(len(head) if size < 0 else size)))


def _note(faults: list[LogFault] | None, found: Lines, lines: int, chunk: memoryview) -> None:
    """Add the faults that were found behind so many lines."""
    if faults is not None:
        for line, start, size, code, offset in found.faults:
            faults.append(LogFault(lines + line + 1, offset, code, bytes(chunk[start : start + min(size, SHOWN)])))


def _read(source: Any, format: Any, options: tuple[Any, ...]) -> Iterator[tuple[LogReader, memoryview]]:
    """Whole lines of a log, and who reads them."""
    chunks = _chunks(source, options[-1])
    first: list[bytes | memoryview] = []
    if format == "auto":  # a chunk may be one line, and the next one the first that shows the format
        head = b""
        for chunk in chunks:
            first.append(chunk)
            head += chunk[:CHUNK]
            if decided(head) or len(head) >= CHUNK:
                break
        format = detect(head)
    reader = LogReader(format, "jsonl", *options)
    for chunk in chain(first, chunks):
        yield reader, memoryview(chunk)


def _chunks(source: Any, max_line: int) -> Iterator["bytes | memoryview"]:
    """Whole lines of a log; of one that is longer than a line can be, only its beginning."""
    if isinstance(source, (str, os.PathLike)):
        yield from _chunks_of_file(source, max_line)
        return
    if hasattr(source, "read"):
        read = source.read
        first = read(CHUNK)
        if isinstance(first, str):
            raise TypeError('the log is open in text mode; open it in binary mode ("rb")')
        if len(first) == 1:  # of the two that say whether it is compressed
            first += read(CHUNK)
    else:
        view = memoryview(source)
        if view.format.lstrip("@=<>!") not in ("B", "b", "c"):
            raise TypeError(f"a log is a buffer of octets, not of format {view.format!r}")
        view = view.cast("B")
        if bytes(view[:2]) != b"\x1f\x8b":
            yield view
            return
        first, read = bytes(view), lambda _size: b""
    if first.startswith(b"\x1f\x8b"):
        read = _gzip_reader(first, read)
        first = read(CHUNK)
    rest: list[bytes] = []  # of a line that has not ended
    size = 0
    data = first
    while data:
        cut = data.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, data[:cut]])
            rest, size = [data[cut:]], len(data) - cut
        elif size <= max_line + 1:  # "\r" may be the last of these, and not of an end
            rest.append(data)
            size += len(data)
        data = read(CHUNK)
    if size:
        yield b"".join(rest)


def _chunks_of_file(path: "str | os.PathLike[str]", max_line: int) -> Iterator["bytes | memoryview"]:
    """The same of a file by its path, which must not be truncated meanwhile."""
    with open(path, "rb") as file:
        opened = os.fstat(file.fileno())
        yield from _chunks(file, max_line)
        if streams.was_truncated(opened, os.fstat(file.fileno()), file.tell):
            raise streams.FileError(streams.printable(os.fsdecode(path)), streams.TRUNCATED)


def _gzip_reader(first: bytes, read: Any) -> Any:
    """The function that reads from gzip data of which the first octets have been read already."""
    import gzip
    import zlib

    file = gzip.GzipFile(fileobj=_Joined(first, read))  # type: ignore[call-overload]

    def read_file(size: int) -> bytes:
        try:
            return file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise OSError(f"damaged gzip data ({error})") from None

    return read_file


class _Joined:
    """A file of which the first octets have been read already."""

    def __init__(self, first: bytes, read: Any) -> None:
        self._first, self._read = first, read

    def read(self, size: int = -1) -> bytes:
        data, self._first = self._first, b""
        if 0 <= size < len(data):
            data, self._first = data[:size], data[size:]
        return data or self._read(size)
