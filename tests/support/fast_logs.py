"""Logs that are read by marks compared with what the exact reader gives (LogReader(fast=False))."""

from pathlib import Path

from uricodec._codec._charsets import Charset
from uricodec.logs._columns import convert_columns, objects_of
from uricodec.logs._records import LogReader

try:
    import pyarrow as pa
except ImportError:
    pa = None

EXAMPLES = Path(__file__).parents[2] / "examples" / "logs"
OPTIONS = [
    {},
    {"params": ["q", "a", "é"]},
    {"client": "forwarded"},
    {"mask": ["q"], "flags": True},
    {"replace_invalid_utf8": True},
    {"fields": ["status:class", "time", "param.q", "extra.rest", "time:hour", "extra", "path", "bytes_sent", "client"]},
    {"fields": ["time:minute", "extra.Host", "duration", "query", "referer"], "mask": ["q"], "flags": True},
    {"encoding": Charset("latin-1"), "params": ["name"]},
]


def converted(reader, data, cuts=()):
    """The records and the invalid lines of a log that is read in parts, and what the reader says about it."""
    records, invalid, lines, start = [], [], 0, 0
    dst = bytearray(reader.capacity_for(max(map(len, data.split(b"\n")))) + 4096)
    for stop in (*cuts, len(data)):
        while start < stop:
            found = reader.convert(memoryview(data)[start:stop], dst)
            records.append(bytes(dst[: found.written]))
            invalid += [(lines + line, stop - start, code, offset) for line, start, stop, code, offset in found.invalid]
            lines += found.lines
            start += found.read
    return b"".join(records), invalid, lines, reader.missing


def in_columns(reader, data):
    """The columns of a log, as Arrow data and as objects."""
    batches, start = [], 0
    while start < len(data):
        found, batch = convert_columns(reader, memoryview(data)[start:])
        values = [pa.record_batch(batch)] if pa else []
        if reader.to == "columns":
            values = objects_of(batch, 0, len(batch))
        batches.append((found.lines, found.records, found.invalid, values))
        start += found.read
    return batches, reader.missing


def check(format, data, cuts=(), **options):
    """Compare all that is made of a log. Return the share of records that were read by marks."""
    fast = LogReader(format.programs, **options)
    assert converted(fast, data, cuts) == converted(LogReader(format.programs, fast=False, **options), data), options
    for safe in False, True:
        options["csv_safe"] = safe
        ours, exact = (LogReader(format.programs, "csv", fast=is_fast, **options) for is_fast in (True, False))
        assert converted(ours, data, cuts) == converted(exact, data), options
    del options["csv_safe"]
    for to in "columns", "arrow":
        ours, exact = (LogReader(format.programs, to, fast=is_fast, **options) for is_fast in (True, False))
        assert in_columns(ours, data) == in_columns(exact, data), options
    return fast.fast_records
