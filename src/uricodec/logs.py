"""Access logs: requests as records, with path and query decoded.

The formats are those of `FORMATS`; `docs/logs.md` says what is read in each, and what becomes of hostile requests.
"""

import json
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from uricodec._core._log_records import FORMATS, LONGEST, NAMES, LogReader

if TYPE_CHECKING:
    import pyarrow
    from typing_extensions import Buffer

__all__ = ["FORMATS", "LogFault", "Record", "columns", "detect", "parse", "to_arrow"]

CHUNK = 1 << 18

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
    for line in head.split(b"\n", 100)[:100]:
        if line.startswith(b"#"):
            if line.startswith(b"#Fields:"):
                return "cloudfront" if b"x-edge-" in line else "iis"
        elif line.lstrip().startswith(b"{"):
            return "nginx-json"
        elif line.split(b" ", 1)[0] in (b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"):
            return "alb"
        elif line.strip():
            break
    return "combined"


def parse(  # noqa: PLR0913
    source: "Buffer | BinaryIO | str | os.PathLike[str]",
    format: str = "auto",
    *,
    mask: Iterable[str] = (),
    flags: bool = False,
    errors: str = "keep",
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
        faults (list[LogFault] | None): Gets the lines that are no records.

    Yields:
        Record: One for each line that is one.

    Raises:
        ValueError: There is no such format or policy.
        OSError: The file cannot be read.

    Source: RFC 9112 section 3; RFC 3986 sections 2.1 and 3.

    >>> line = b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /caf%C3%A9?q=a+b HTTP/1.1" 200 512'
    >>> [record] = parse(line)
    >>> record.path, record.query, record.status, record.time
    ('/café', (('q', 'a b'),), 200, '2025-01-01T12:00:00+00:00')
    """
    for records in _json_lines(source, format, (mask, flags, errors), faults):
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
    faults: list[LogFault] | None = None,
) -> dict[str, list[Any]]:
    """Read a log into columns.

    Args:
        source, format, mask, flags, errors, faults: As of `parse`.

    Returns:
        dict[str, list]: The values of each member, in the order of the records. No "flags" without `flags`.

    Raises:
        ValueError, OSError: As `parse`.

    >>> columns(b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /a%20b HTTP/1.1" 200 512')["path"]
    ['/a b']
    """
    names = NAMES if flags else NAMES[:-1]
    records = list(parse(source, format, mask=mask, flags=flags, errors=errors, faults=faults))
    return {name: [record[i] for record in records] for i, name in enumerate(names)}


def to_arrow(  # noqa: PLR0913
    source: "Buffer | BinaryIO | str | os.PathLike[str]",
    format: str = "auto",
    *,
    mask: Iterable[str] = (),
    flags: bool = False,
    errors: str = "keep",
    faults: list[LogFault] | None = None,
) -> "pyarrow.RecordBatchReader":
    """Read a log into Arrow columns, batch by batch. This needs pyarrow.

    Args:
        source, format, mask, flags, errors, faults: As of `parse`.

    Returns:
        pyarrow.RecordBatchReader: Texts are strings, status and size int64, the query a list of structs of name and
            value, flags a list of strings.

    Raises:
        ImportError: There is no pyarrow.
        ValueError, OSError: As `parse`, when the batches are read.

    >>> import polars  # doctest: +SKIP
    >>> polars.from_arrow(to_arrow("access.log.gz")).group_by("path").len()  # doctest: +SKIP
    """
    from pyarrow import RecordBatchReader

    batches = map(arrow_batch, _json_lines(source, format, (mask, flags, errors), faults))
    return RecordBatchReader.from_batches(arrow_schema(flags), (batch for batch in batches if batch is not None))


def arrow_schema(flags: bool) -> "pyarrow.Schema":
    """The schema of to_arrow()."""
    import pyarrow as pa

    parameter = pa.struct([pa.field("name", pa.string(), False), pa.field("value", pa.string(), False)])
    special = {
        "query": pa.list_(pa.field("item", parameter, False)),
        "status": pa.int64(),
        "size": pa.int64(),
        "flags": pa.list_(pa.field("item", pa.string(), False)),
    }
    return pa.schema([(name, special.get(name, pa.string())) for name in (NAMES if flags else NAMES[:-1])])


def arrow_batch(records: bytes) -> "pyarrow.RecordBatch | None":
    """A batch of JSON lines of LogReader; None of none."""
    if not records:
        return None
    import pyarrow as pa
    from pyarrow import json as reader

    schema = arrow_schema(records.endswith(b"]}\n"))
    at = schema.names.index("query")
    flat = schema.set(at, pa.field("query", pa.list_(pa.list_(pa.string()))))
    table = reader.read_json(
        pa.py_buffer(records),
        read_options=reader.ReadOptions(use_threads=False, block_size=len(records) + 1),
        parse_options=reader.ParseOptions(explicit_schema=flat, unexpected_field_behavior="error"),
    )
    batch = table.combine_chunks().to_batches()[0]
    query = batch.column(at)
    texts = query.flatten().flatten()  # name, value, name, value ...
    every = pa.array(range(0, len(texts), 2), pa.int64())
    parameters = pa.StructArray.from_arrays(
        [texts.take(every), texts.take(pa.compute.add(every, 1))], fields=list(schema.field(at).type.value_type)
    )
    pairs = pa.ListArray.from_arrays(query.offsets, parameters, type=schema.field(at).type, mask=query.is_null())
    arrays = [pairs if i == at else batch.column(i).cast(field.type) for i, field in enumerate(schema)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _json_lines(source: Any, format: str, options: tuple[Any, ...], faults: list[LogFault] | None) -> Iterator[bytes]:
    """The records of a log, chunk by chunk."""
    reader = None
    lines = 0
    room = bytearray()
    for chunk in map(memoryview, _chunks(source)):
        if reader is None:
            head = bytes(chunk[:CHUNK])
            reader = LogReader(detect(head) if format == "auto" else format, "jsonl", *options)  # type: ignore[arg-type]
            room = bytearray(LogReader.room(LONGEST))
        done = 0
        while done < len(chunk):
            found = reader.convert(chunk[done:], room)
            if faults is not None:
                for line, start, size, code, offset in found.faults:
                    text = bytes(chunk[done + start : done + start + min(size, SHOWN)])
                    faults.append(LogFault(lines + line + 1, offset, code, text))
            lines += found.lines
            done += found.read
            if found.written:
                yield bytes(memoryview(room)[: found.written])
    if reader is None:  # an empty log has a format, too
        LogReader("combined" if format == "auto" else format, "jsonl", *options)  # type: ignore[arg-type]


def _chunks(source: Any) -> Iterator["bytes | memoryview"]:
    """Whole lines of a log; of one that is longer than a line can be, only its beginning."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            yield from _chunks(file)
        return
    if hasattr(source, "read"):
        read = source.read
        first = read(CHUNK)
    else:
        view = memoryview(source).cast("B")
        if bytes(view[:2]) != b"\x1f\x8b":
            yield view
            return
        first, read = bytes(view), lambda _size: b""
    if first.startswith(b"\x1f\x8b"):
        import gzip

        read = gzip.GzipFile(fileobj=_Joined(first, read)).read  # type: ignore[call-overload]
        first = read(CHUNK)
    rest = b""
    data = first
    while data:
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest = data[cut:]
        elif len(rest) <= LONGEST:
            rest += data
        data = read(CHUNK)
    if rest:
        yield rest


class _Joined:
    """A file of which the first octets have been read already."""

    def __init__(self, first: bytes, read: Any) -> None:
        self._first, self._read = first, read

    def read(self, size: int = -1) -> bytes:
        data, self._first = self._first, b""
        if 0 <= size < len(data):
            data, self._first = data[:size], data[size:]
        return data or self._read(size)
