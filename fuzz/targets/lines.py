"""The loops of the command line: lines and records against a loop over single values, in any pieces."""

from common import lines_of, outcome, run
from reference import codec as naive
from support.lines import capacity_for, decode_lines, encode_lines
from support.uri_lines import Rejected, agreed, both, checked, guarded, host_of, of_text, scheme, to_csv, to_json

from uricodec import bytesets, iri, uri
from uricodec._rows._engine import RowOperation
from uricodec._rows._tasks import transform_lines
from uricodec.errors import UriSyntaxError
from uricodec.iri._conversion import IriToUriRows, UriToIriRows
from uricodec.uri._rows import (
    CheckedRows,
    CheckRows,
    CheckWebRows,
    NormalizeRows,
    ResolveRows,
    SchemeRows,
    SplitRows,
    WebHostRows,
)

DICTIONARIES = "percent uri urn lines"
COVERS = {  # no public names: what uricodec.cli calls
    "uricodec._rows._tasks": ["transform_lines"],
}

SAFE = bytesets.RFC3986_UNRESERVED | "/"
BASE = b"http://a.example/b/c/d?q"
LEVELS = ("simple", "case", "percent", "path", "scheme", "iri", "rfc1630", "rfc2396")
ENDS = (b"\n", b"\0")


def code_lines(draw):
    """Compare decoded and encoded lines with their references: as a whole, and line by line."""
    plus, raw, errors = draw.flag(), draw.flag(), draw.one(("keep", "replace", "raise"))
    src = draw.octets()
    room = bytearray(capacity_for(src, encode=True))
    made = outcome(decode_lines, src, room, plus, raw, errors)
    want = outcome(naive.decode_lines, src, plus, raw, errors)
    if isinstance(want, tuple):
        assert made == want
    else:
        assert room[:made] == want
        parts = [bytearray(capacity_for(line + tail, errors)) for line, tail in lines_of(src)]
        for part, (line, tail) in zip(parts, lines_of(src), strict=True):
            del part[decode_lines(line + tail, part, plus, raw, errors) :]
        assert raw or b"".join(parts) == want
        controls = [octet for octet in src if octet < 0x20 or octet == 0x7F]
        assert raw or [octet for octet in want if octet < 0x20 or octet == 0x7F] == controls
    want = naive.encode_lines(src, SAFE, plus)
    made = encode_lines(src, room, SAFE, plus)
    assert room[:made] == want


# --- lines as rows ----------------------------------------------------------------------------------------------------


def row_operations():
    yield RowOperation(), bytes
    for kind, production in ("uri", "URI"), ("uri", "relative-ref"), ("iri", "IRI-reference"), ("iri", "absolute-IRI"):
        check = checked(kind, production)
        yield CheckRows(kind, production), check
        yield CheckedRows(CheckRows(kind, production), SchemeRows()), both(check, scheme)
        for form, write in ("jsonl", to_json), ("csv", to_csv):
            rows = SplitRows(kind, form)
            yield rows, guarded(lambda row, kind=kind, write=write: write(row, kind), rows)
    rows = SplitRows("web", "jsonl")
    yield rows, both(agreed, guarded(lambda row: to_json(row, "iri"), SplitRows("iri", "jsonl")))
    yield WebHostRows(), both(agreed, host_of)
    normal = of_text(lambda row: uri.normalize(row, "scheme"))
    yield CheckedRows(CheckWebRows(), NormalizeRows("scheme")), both(agreed, normal)
    for level in LEVELS:
        rows = NormalizeRows(level)
        normal = of_text(guarded(lambda row, level=level: uri.normalize(row, level), rows))
        yield rows, normal
        yield CheckedRows(CheckRows("iri", "IRI-reference"), rows), both(checked("iri", "IRI-reference"), normal)
    yield ResolveRows(BASE), of_text(lambda row: uri.resolve(BASE, row))
    for disallowed in "raise", "encode":
        rows = IriToUriRows(disallowed)
        yield rows, guarded(lambda row, disallowed=disallowed: iri.iri_to_uri(row, disallowed=disallowed), rows)
    rows = UriToIriRows()
    yield rows, guarded(iri.uri_to_iri, rows)


ROWS = tuple(row_operations())


def lines_as_rows(draw):
    """transform_lines: every operation against a loop; whole, and with capacity for one or a few lines."""
    operation, function = draw.one(ROWS)
    errors, end = draw.one(("keep", "null", "drop")), draw.one(ENDS)
    more, limit = draw.one((0, 10, 100, 4096)), draw.one((100, 0, 1, 2))
    record, counted = getattr(operation, "record", None), limit > 0 or errors != "keep"
    src = draw.octets()
    want, faults, start, lines = b"", [], 0, lines_of(src, end)
    for number, (line, tail) in enumerate(lines):
        try:
            want += function(line) + tail
        except Rejected as rejected:
            faults.append((number, start, start + len(line), *rejected.args))
            if errors != "drop":
                want += (record(*rejected.args) if record else line if errors == "keep" else b"") + tail
        start += len(line) + len(tail)
    if type(operation) is CheckRows:  # which writes nothing
        want = b""
    written, found, count, start = b"", [], 0, 0
    room = bytearray(max((operation.capacity(len(line)) for line, _ in lines), default=0) + more)
    while start < len(src):
        read, done = transform_lines(src[start:], room, operation, end, errors, limit)
        assert 0 < read <= len(src) - start
        assert limit == 0 or done.invalid == len(done.faults) <= limit
        written += room[: done.written]
        found += [(count + fault.line, start + fault.start, start + fault.stop, *fault[3:]) for fault in done.faults]
        assert (done.lines is not None) == counted
        count, start = count + (done.lines or 0), start + read
    assert (written, count) == (want, len(lines) if counted else 0)
    assert found == faults or limit == 0
    if faults:
        room = bytearray(len(want) + operation.capacity(len(src)))
        read, done = transform_lines(src, room, operation, end, "raise")
        assert read == faults[0][1] and tuple(done.faults[-1]) == faults[0]


def bases(draw):
    """The base of `resolve` is a URI, or the command reports it."""
    base, ref = draw.parts(2)
    try:
        rows = ResolveRows(base)
    except UriSyntaxError as error:
        assert 0 <= error.offset <= len(base) and isinstance(outcome(uri.resolve, base, ref), tuple)
        return
    src = ref.replace(b"\n", b"").rstrip(b"\r")
    room = bytearray(rows.capacity(len(src)))
    read, found = transform_lines(src, room, rows)
    assert read == len(src) and (found.invalid or room[: found.written] == uri.resolve(base, src) or not src)


OPERATIONS = (code_lines, lines_as_rows, bases)


def target(data):
    run(OPERATIONS, data)
