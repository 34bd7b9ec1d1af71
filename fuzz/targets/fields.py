"""Values in records: fields, CSV and JSON lines against Python's readers, with any buffer and block sizes."""

import csv
import io
import json

from common import lines_of, run
from reference import codec as naive
from support.limits import lowered

from uricodec import ByteSet, bytesets, uri, urn
from uricodec._codec._rows import DecodeRows, EncodeRows, RequoteRows
from uricodec._records._fields import reason_of, transform_fields
from uricodec._records._framing import Framing
from uricodec.uri._rows import NormalizeRows
from uricodec.urn._rows import CheckUrnRows, NormalizeUrnRows

DICTIONARIES = "percent uri urn lines"
COVERS = {  # no public names: what uricodec.cli calls
    "uricodec._records._fields": ["transform_fields", "reason_of"],
}

SAFE = bytesets.RFC3986_UNRESERVED | "/"


def is_utf8(value):
    return value.decode("utf-8", "ignore").encode() == value


VALUES = (
    (DecodeRows(decodable=ByteSet()), lambda value: value, ["keep"]),
    (RequoteRows(SAFE), lambda value: naive.requote(value, SAFE), ["keep"]),
    (EncodeRows(SAFE), lambda value: naive.encode(value, SAFE), ["keep"]),
    (NormalizeRows("path"), lambda value: uri.normalize(value) if is_utf8(value) else None, ["keep", "null"]),
    (CheckUrnRows(), lambda value: b"" if urn.is_valid(value) else None, ["keep", "null"]),
    (
        NormalizeUrnRows("2141"),
        lambda value: urn.normalize(value, "2141") if urn.is_valid(value, "2141") else None,
        ["keep", "null"],
    ),
)
DELIMITERS = (b"\t", b" ", b",", b"\xa9")
SPANS = ([(1, None)], [(2, 2)], [(1, 1), (3, 4)])


def in_pieces(src, framing, rows, errors, size):
    """Return the output of transform_fields for records in pieces, and the number of invalid ones.

    Check that it is the same for all records at once, and without a report.
    """
    made = all_pieces(src, framing, rows, errors, size, 1000)
    with lowered(most_rows=4, most_bytes=64):
        assert made == all_pieces(src, framing, rows, errors, 1 << 20, 1000)
        assert made[:2] == all_pieces(src, framing, rows, errors, 1 << 20, 0)[:2]
    return made


def all_pieces(src, framing, rows, errors, size, limit):  # noqa: PLR0913, PLR0917
    written, lines, invalid, start, room = b"", 0, 0, 0, bytearray(len(src) + 64)
    while start < len(src):
        stop = min(len(src), start + size)
        cut = framing.cut(src, start, stop) if stop < len(src) else stop
        if cut <= start and stop < len(src):
            size *= 2
            continue
        while start < cut:
            read, done = transform_fields(src[start:cut], room, rows, framing, errors, limit)
            if not read:  # there is no room for the first record
                assert len(room) < 64 * len(src) + 4096
                room = bytearray(2 * len(room))
                continue
            assert all(fault.start + fault.offset <= fault.stop <= read for fault in done.faults)
            assert all(type(reason_of(rows, fault.code)) is str for fault in done.faults)
            written += room[: done.written]
            lines, invalid, start = lines + done.lines, invalid + done.invalid, start + read
    return bytes(written), lines, invalid


def fields(draw):
    """Delimited fields: each chosen field is processed by itself, and every line keeps its number of fields."""
    rows, function, policies = draw.one(VALUES)
    delimiter, spans, size = draw.one(DELIMITERS), draw.one(SPANS), draw.one((8, 64, 1 << 20))
    errors = draw.one(policies)
    src = draw.octets()
    framing = Framing("delimited", delimiter=delimiter, fields=spans)
    made, count, _ = in_pieces(src, framing, rows, errors, size)
    assert count == len(lines_of(src))
    assert [line.count(delimiter) for line in made.split(b"\n")] == [line.count(delimiter) for line in src.split(b"\n")]
    want = b""
    for line, tail in lines_of(src):
        parts = line.split(delimiter)
        for i, part in enumerate(parts):
            if any(first <= i + 1 <= (last or i + 1) for first, last in spans):
                value = function(part)
                if value is None or (delimiter in value and delimiter not in part):
                    value = part if errors == "keep" else b""
                parts[i] = value
        want += delimiter.join(parts) + tail
    assert made == want


def read_csv(octets):
    return list(csv.reader(io.StringIO(octets.decode("latin-1"), newline="")))


def csv_records(draw):
    """CSV: as many records and fields as Python's reader finds, and fields that are not chosen do not change."""
    rows, _, _ = draw.one(VALUES[1:4])
    size, errors = draw.one((8, 64, 1 << 20)), draw.one(("keep", "null"))
    src = draw.octets().replace(b"\0", b"").replace(b"\r\n", b"\n").replace(b"\r", b"")
    framing = Framing("csv", delimiter=b",", fields=[(2, 2)])
    made, _, _ = in_pieces(src, framing, rows, errors, size)
    assert made == in_pieces(src, framing, rows, errors, 1 << 20)[0]
    before, after = read_csv(src), read_csv(made)
    assert [len(row) for row in after] == [len(row) for row in before]
    assert [row[:1] + row[2:] for row in after] == [row[:1] + row[2:] for row in before]


def json_records(draw):
    """JSON lines: a member of an object against Python's json, and no line is lost; each value as a line of its own."""
    rows, function, policies = draw.one(VALUES[:4])
    size, errors = draw.one((8, 64, 1 << 20)), draw.one(policies)
    src = draw.octets()
    framing = Framing("json", names=[b"u"])
    made, count, _ = in_pieces(src, framing, rows, errors, size)
    assert made.count(b"\n") == src.count(b"\n") and count == len(lines_of(src))
    for (line, _), (text, _) in zip(lines_of(src), lines_of(made), strict=False):
        value = member(line)
        if isinstance(value, str):
            want = function(value.encode()).decode("utf-8", "surrogateescape")
            assert member(text) == want or has_surrogate(want)
    framing = Framing("lines", jsonl=True)
    made, count, _ = in_pieces(src, framing, rows, errors, size)
    assert count == len(lines_of(src)) == len([json.loads(line) for line in made.splitlines()])


def member(line):
    """Return the value of the member u, if the line can be parsed in one way only."""
    try:
        text = line.decode()
        found = json.loads(text, object_pairs_hook=list, parse_constant=lambda _: 1 / 0)
    except (ValueError, ZeroDivisionError, RecursionError):
        return None
    if not isinstance(found, list) or not text.strip(" \t\r").startswith("{"):
        return None
    values = [value for name, value in found if name == "u"]
    return values[0] if len(values) == 1 and isinstance(values[0], str) and not has_surrogate(values[0]) else None


def has_surrogate(text):
    return any("\ud800" <= character <= "\udfff" for character in text)


OPERATIONS = (fields, csv_records, json_records)


def target(data):
    run(OPERATIONS, data)
