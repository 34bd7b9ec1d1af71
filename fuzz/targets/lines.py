"""The loops of the command line: lines and records against a loop over single values, in any pieces."""

import csv
import io
import json

import oracle
from lines import decode_lines, encode_lines, room_for
from support import lines_of, outcome, run

from uricodec import ByteSet, charsets, iri, uri, urn
from uricodec._core._codec_rows import DecodeRows, EncodeRows, RequoteRows
from uricodec._core._field_lines import reason_of, transform_fields
from uricodec._core._framing import Framing
from uricodec._core._uri_operations import (
    CheckedRows,
    CheckRows,
    IriToUriRows,
    NormalizeRows,
    ResolveRows,
    SchemeRows,
    SplitRows,
    UriToIriRows,
)
from uricodec._core._urn_rows import CheckUrnRows, NormalizeUrnRows
from uricodec._rows._lines import transform_lines
from uricodec._rows._operation import RowOperation
from uricodec.errors import UriError, UriSyntaxError

DICTIONARIES = "percent uri urn lines"
COVERS = {  # no public names: what uricodec.cli calls
    "uricodec._rows._lines": ["transform_lines"],
    "uricodec._core._field_lines": ["transform_fields", "reason_of"],
}

SAFE = charsets.RFC3986_UNRESERVED | "/"
BASE = b"http://a.example/b/c/d?q"
LEVELS = ("simple", "case", "percent", "path", "scheme", "iri", "rfc1630", "rfc2396")
COLUMNS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
ENDS = (b"\n", b"\0")


class Refused(Exception):
    """What a line is refused for: code and offset."""


def code_lines(draw):
    """Lines decoded and encoded against their twins: whole, and line by line."""
    plus, raw, errors = draw.flag(), draw.flag(), draw.one(("keep", "replace", "raise"))
    src = draw.octets()
    room = bytearray(room_for(src, encode=True))
    made = outcome(decode_lines, src, room, plus, raw, errors)
    want = outcome(oracle.decode_lines, src, plus, raw, errors)
    if isinstance(want, tuple):
        assert made == want
    else:
        assert room[:made] == want
        parts = [bytearray(room_for(line + tail, errors)) for line, tail in lines_of(src)]
        for part, (line, tail) in zip(parts, lines_of(src), strict=True):
            del part[decode_lines(line + tail, part, plus, raw, errors) :]
        assert raw or b"".join(parts) == want
        controls = [octet for octet in src if octet < 0x20 or octet == 0x7F]
        assert raw or [octet for octet in want if octet < 0x20 or octet == 0x7F] == controls
    want = oracle.encode_lines(src, SAFE, plus)
    made = encode_lines(src, room, SAFE, plus)
    assert room[:made] == want


# --- lines as rows ----------------------------------------------------------------------------------------------------


def checked(kind, production):
    def function(row):
        fault = uri.check(row, production) if kind == "uri" else iri.check_iri(row, production)
        if fault:
            raise Refused(*fault)
        return b""

    return function


def guarded(operation, function):
    """A function that raises, as one that refuses."""

    def guard(row):
        try:
            return function(row)
        except UriError as error:
            known = error.reason in operation.reasons
            code = operation.code_names[operation.reasons.index(error.reason)] if known else "host"
            raise Refused(code, error.position) from None

    return guard


def scheme(row):
    name, colon, _ = row.partition(b":")
    return (
        name.lower() if colon and name and all(octet in b"+-." or bytes([octet]).isalnum() for octet in name) else b""
    )


def split(kind, form):
    def function(row):
        found = (uri if kind == "uri" else iri).split(row)
        values = [getattr(found, column) for column in COLUMNS]
        if form == "csv":
            return b",".join(b"" if value is None else b'"%s"' % value for value in values) + b",,"
        texts = [value if value is None else value.decode() for value in values]
        return json.dumps(dict(zip(COLUMNS, texts, strict=True)), ensure_ascii=False, separators=(",", ":")).encode()

    return function


def row_operations():
    yield RowOperation(), bytes
    for kind, production in ("uri", "URI"), ("uri", "relative-ref"), ("iri", "IRI-reference"), ("iri", "absolute-IRI"):
        check = checked(kind, production)
        yield CheckRows(kind, production), check
        yield CheckedRows(kind, production, SchemeRows()), lambda row, check=check: check(row) + scheme(row)
        for form in "jsonl", "csv":
            rows = SplitRows(kind, form)
            yield rows, guarded(rows, split(kind, form))
    for level in LEVELS:
        rows = NormalizeRows(level)
        normal = guarded(rows, lambda row, level=level: uri.normalize(row, level))
        yield rows, normal
        check = checked("iri", "IRI-reference")
        yield CheckedRows("iri", "IRI-reference", rows), lambda row, c=check, normal=normal: c(row) + normal(row)
    yield ResolveRows(BASE), lambda row: uri.resolve(BASE, row)
    for ascii_ext in "error", "encode":
        rows = IriToUriRows(ascii_ext)
        yield rows, guarded(rows, lambda row, ascii_ext=ascii_ext: iri.iri_to_uri(row, ascii_ext=ascii_ext))
    rows = UriToIriRows()
    yield rows, guarded(rows, iri.uri_to_iri)


ROWS = tuple(row_operations())


def lines_as_rows(draw):
    """transform_lines: every operation against a loop; whole, and with room for a line or a few."""
    operation, function = draw.one(ROWS)
    errors, end = draw.one(("keep", "null", "drop")), draw.one(ENDS)
    more, limit = draw.one((0, 10, 100, 4096)), draw.one((100, 0, 1, 2))
    record = getattr(operation, "record", None)
    src = draw.octets()
    want, faults, start, lines = b"", [], 0, lines_of(src, end)
    for number, (line, tail) in enumerate(lines):
        try:
            want += function(line) + tail
        except Refused as refused:
            faults.append((number, start, *refused.args))
            if errors != "drop":
                want += (record(*refused.args) if record else line if errors == "keep" else b"") + tail
        start += len(line) + len(tail)
    written, found, count, start = b"", [], 0, 0
    room = bytearray(max((operation.room(len(line)) for line, _ in lines), default=0) + more)
    while start < len(src):
        read, done = transform_lines(src[start:], room, operation, end, errors, limit)
        assert 0 < read <= len(src) - start
        assert limit == 0 or done.invalid == len(done.faults) <= limit
        written += room[: done.written]
        found += [(count + fault.line, start + fault.start, *fault[2:]) for fault in done.faults]
        count, start = count + done.lines, start + read
    assert (written, count) == (want, len(lines))
    assert found == faults or limit == 0
    if faults:
        refused = outcome(
            transform_lines, src, bytearray(len(want) + operation.room(len(src))), operation, end, "raise"
        )
        assert isinstance(refused, tuple) and refused[1] == faults[0][1] + faults[0][3]


# --- values in records ------------------------------------------------------------------------------------------------

VALUES = (
    (DecodeRows(errors="keep", free=ByteSet()), lambda value: value),
    (RequoteRows(SAFE, "keep"), lambda value: oracle.requote(value, SAFE)),
    (EncodeRows(SAFE, False, "keep"), lambda value: oracle.encode(value, SAFE)),
    (NormalizeRows("path"), uri.normalize),
    (CheckUrnRows(), lambda value: b"" if urn.is_valid(value) else None),
    (NormalizeUrnRows("2141"), lambda value: urn.normalize(value, "2141") if urn.is_valid(value, "2141") else None),
)
DELIMITERS = (b"\t", b" ", b",", b"\xa9")
SPANS = ([(1, None)], [(2, 2)], [(1, 1), (3, 4)])


def in_pieces(src, framing, rows, errors, size):
    """What transform_fields writes, whole records at a time, and how many values were refused."""
    written, lines, invalid, start, room = b"", 0, 0, 0, bytearray(len(src) + 64)
    while start < len(src):
        stop = min(len(src), start + size)
        cut = framing.cut(src, start, stop) if stop < len(src) else stop
        if cut <= start and stop < len(src):
            size *= 2
            continue
        while start < cut:
            read, done = transform_fields(src[start:cut], room, rows, framing, errors, None, 1000)
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
    """Delimited fields: those that are chosen, each by itself, and every line keeps its fields."""
    rows, function = draw.one(VALUES)
    delimiter, spans, size = draw.one(DELIMITERS), draw.one(SPANS), draw.one((8, 64, 1 << 20))
    errors = draw.one(("keep", "null"))
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
    """CSV: as many records and fields as Python's reader finds, and those that are not chosen stay what they are."""
    rows, _ = draw.one(VALUES[1:4])
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
    rows, function = draw.one(VALUES[:4])
    size, errors = draw.one((8, 64, 1 << 20)), draw.one(("keep", "null"))
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
    """The value of the member u, if Python reads the line in the only way there is."""
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


def bases(draw):
    """A base of `resolve` is a URI, or there is an error of its own."""
    base, ref = draw.parts(2)
    try:
        rows = ResolveRows(base)
    except UriSyntaxError as error:
        assert 0 <= error.position <= len(base) and isinstance(outcome(uri.resolve, base, ref), tuple)
        return
    src = ref.replace(b"\n", b"").rstrip(b"\r")
    room = bytearray(rows.room(len(src)))
    read, found = transform_lines(src, room, rows)
    assert read == len(src) and (found.invalid or room[: found.written] == uri.resolve(base, src) or not src)


OPERATIONS = (code_lines, lines_as_rows, fields, csv_records, json_records, bases)


def target(data):
    run(OPERATIONS, data)
