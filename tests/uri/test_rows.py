"""Lines of URIs and IRIs: every operation on rows against a naive loop over lines, on every CPU tier."""

import csv
import io
import json
import random
from itertools import product
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.codec import lines_of
from support.tables import each_row
from support.uri_lines import (
    BASE,
    COLUMNS,
    IRI_PRODUCTIONS,
    LEVELS,
    LINES,
    TEXT,
    URI_PRODUCTIONS,
    agreed,
    both,
    checked,
    components,
    control_count,
    copy,
    csv_record,
    guarded,
    host_of,
    json_record,
    model,
    of_text,
    scheme,
    to_csv,
    to_json,
    to_safe_csv,
    to_tsv,
    tsv_record,
)

from uricodec import UriSyntaxError, iri, uri
from uricodec._rows._engine import RowOperation
from uricodec._rows._tasks import Lines, transform_lines
from uricodec.errors import IriError
from uricodec.iri._conversion import IriToUriRows, UriToIriRows
from uricodec.uri._rows import (
    CheckedRows,
    CheckRows,
    CheckWebRows,
    NormalizeRows,
    ResolveRows,
    SchemeRows,
    SplitRows,
    UriRows,
    WebHostRows,
)


class Case(NamedTuple):
    """An operation, and its model."""

    name: str
    operation: RowOperation
    function: Any  # what it does with one row
    record: Any  # what stands for one that is rejected; None: nothing


def operations():
    yield "copy", RowOperation(), copy, None
    yield "copy URIs", UriRows(), copy, None
    for kind, productions in ("uri", URI_PRODUCTIONS), ("iri", IRI_PRODUCTIONS):
        for production in productions:
            check = checked(kind, production)
            rows = CheckRows(kind, production)
            yield f"check {production}", rows, check, None
            yield f"scheme {production}", CheckedRows(rows, SchemeRows()), both(check, scheme), None
        for form, safe, write, record in (
            ("jsonl", False, to_json, json_record),
            ("csv", False, to_csv, csv_record),
            ("csv", True, to_safe_csv, csv_record),
            ("tsv", False, to_tsv, tsv_record),
        ):
            rows = SplitRows(kind, form, safe)
            function = guarded(lambda row, kind=kind, write=write: write(row, kind), rows)
            yield f"split {kind} {form} {safe}", rows, function, record
    for form, write, record in (
        ("jsonl", to_json, json_record),
        ("csv", to_csv, csv_record),
        ("tsv", to_tsv, tsv_record),
    ):
        rows = SplitRows("web", form)
        function = both(agreed, guarded(lambda row, write=write: write(row, "iri"), SplitRows("iri", form)))
        yield f"split web {form} False", rows, function, record
    yield "web host", WebHostRows(), both(agreed, host_of), None
    for level in LEVELS:
        rows = NormalizeRows(level)
        function = of_text(guarded(lambda row, level=level: uri.normalize(row, level), rows))
        yield f"normalize {level}", rows, function, None
        both_of = both(checked("iri", "IRI-reference"), function)
        yield f"normalize web {level}", CheckedRows(CheckWebRows(), rows), both(agreed, function), None
        yield f"normalize checked {level}", CheckedRows(CheckRows("iri", "IRI-reference"), rows), both_of, None
    yield "resolve", ResolveRows(BASE), of_text(lambda row: uri.resolve(BASE, row)), None
    for option in "raise", "encode":
        for host in "percent", "idna":
            rows = IriToUriRows(option, host)
            function = guarded(
                lambda row, option=option, host=host: iri.iri_to_uri(row, disallowed=option, host=host), rows
            )
            yield f"to URI {option} {host}", rows, function, None
    for host in "keep", "unicode", "safe":
        rows = UriToIriRows(host)
        yield f"to IRI {host}", rows, guarded(lambda row, host=host: iri.uri_to_iri(row, host=host), rows), None


CASES = [Case(*row) for row in operations()]


def transform(src, operation, room=0, limit=100, **options):
    """All lines, in as many calls as it takes with so much room. The same as model()."""
    end = options.get("terminator", b"\n")
    written, lines, invalid, faults, start = b"", 0, 0, [], 0
    view = memoryview(src)
    while start < len(src):
        longest = max(len(text) for text, _ in lines_of(src[start:], end))
        dst = bytearray(max(room, operation.capacity(longest)))
        read, found = transform_lines(view[start:], dst, operation, limit=limit, **options)
        assert read > 0
        assert found.invalid <= limit or limit == 0
        written += dst[: found.written]
        faults += [
            fault._replace(line=fault.line + lines, start=fault.start + start, stop=fault.stop + start)
            for fault in found.faults
        ]
        assert (found.lines is None) == (limit == 0 and options.get("errors", "keep") in {"keep", "replace"})
        count = len(lines_of(src[start : start + read], end)) if found.lines is None else found.lines
        lines, invalid, start = lines + count, invalid + found.invalid, start + read
    return written, Lines(len(written), lines, invalid, faults)


# --- lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=40)
@given(
    src=TEXT, errors=st.sampled_from(["keep", "null", "drop"]), bounds=st.tuples(st.integers(0, 400), st.integers(0, 3))
)
def test_lines(tier, src, errors, bounds):
    for case in CASES:
        expected, found = model(src, case, errors)
        if bounds[1] == 0:
            found = found._replace(faults=[])
        assert transform(src, case.operation, *bounds, errors=errors) == (expected, found), case.name


@pytest.mark.slow
def test_all_kinds_of_lines(every_tier):
    for case, errors, end in product(CASES, ["keep", "null", "drop"], [b"\n", b"\r\n"]):
        src = end.join(LINES)
        wanted = {text: model(text, case, errors) for text in (src, src + end, end, b"")}
        for tier in every_tier():
            for text, want in wanted.items():
                assert transform(text, case.operation, errors=errors) == want, (case.name, errors, end, tier)


@pytest.mark.slow
@settings(max_examples=40)
@given(src=TEXT)
def test_the_terminator_may_be_another_control(src):
    src = src.replace(b"\x00", b"").replace(b"\r\n", b"\n").replace(b"\n", b"\x00")
    for case in CASES:
        assert transform(src, case.operation, terminator=b"\x00") == model(src, case, "keep", b"\x00"), case.name


@pytest.mark.slow
@settings(max_examples=40)
@given(src=TEXT)
def test_records_stay_records(src):
    """No line is lost, none is added, and no control comes into one, but the tabs between the ten fields of TSV."""
    ends = [tail for _, tail in lines_of(src)]
    for case, errors in product(CASES, ["keep", "null"]):
        tabs = 9 if " tsv " in case.name else 0
        written, found = transform(src, case.operation, errors=errors)
        assert found.lines == len(ends), case.name
        if type(case.operation) is CheckRows:
            assert written == b"", case.name
        elif src.endswith(b"\n"):
            assert [tail for _, tail in lines_of(written)] == ends, case.name
        for (before, _), (after, _) in zip(lines_of(src), lines_of(written), strict=False):
            assert control_count(after) - tabs <= control_count(before), case.name


@settings(max_examples=40)
@given(src=TEXT)
def test_the_first_rejected_line_fails(src):
    for case in CASES:
        before, found = model(src, case, "raise")
        dst = bytearray(sum(case.operation.capacity(len(text)) for text, _ in lines_of(src)))
        read, made = transform_lines(src, dst, case.operation, errors="raise")
        assert bytes(dst[: made.written]) == before, case.name
        assert (made.invalid, made.faults) == (found.invalid, found.faults), case.name
        end = (found.faults[0].start, found.lines - 1) if found.invalid else (len(src), found.lines)
        assert (read, made.lines) == end, case.name


@each_row("case", CASES)
def test_reads_nothing_past_the_ends(tier, fences, case):
    """With exactly the room for one more line, at the end of the memory there is."""
    for src in (line + tail for line in LINES for tail in (b"", b"\n", b"\r\n") if line + tail):
        expected, _ = model(src, case, "keep")
        text, _ = lines_of(src)[0]
        dst = fences[1].at_end(bytes(case.operation.capacity(len(text))))
        read, found = transform_lines(fences[0].at_end(src), dst, case.operation)
        assert (read, bytes(dst[: found.written])) == (len(src), expected)
        read, found = transform_lines(fences[0].at_start(src), dst[4:], case.operation)
        assert read in (0, len(src))


# --- lines that are copied --------------------------------------------------------------------------------------------


SHORT = [bytes([octet]) for octet in b"aF/:?.%4"] + [b"%41", b"%C3", b"%2f", b"@"]


def normal_lines(src, level):
    return b"".join(uri.normalize(text, level) + tail for text, tail in lines_of(src))


@pytest.mark.slow
@each_row("level", ["case", "percent", "path"])
@each_row("before", [b"", b"//", b"x://h", b"x:"])
def test_every_short_line(every_tier, level, before):
    """Of what may have to change: side by side, so that a mark at the wrong line shows."""
    lines = [b"".join(line) for length in range(5) for line in product(SHORT, repeat=length)]
    src = b"".join(before + line + b"\n" for line in lines)
    expected = normal_lines(src, level)
    for tier in every_tier():
        assert transform(src, NormalizeRows(level), room=1 << 20)[0] == expected, tier


@each_row("level", ["case", "percent", "path"])
def test_every_triplet(every_tier, level):
    digits = b"0123456789ABCDEFabcdefgG%"
    src = b"".join(b"x://h/%%%c%c\n//%%%c%c:x\n" % (pair + pair) for pair in product(digits, digits))
    expected = normal_lines(src, level)
    for tier in every_tier():
        for before in range(64):
            padded = b"a" * before + b"\n"
            assert transform(padded + src, NormalizeRows(level), room=1 << 20)[0] == padded + expected, (tier, before)


@pytest.mark.slow
@each_row("share", [0, 1, 10, 50])
def test_many_lines(every_tier, share):
    """Through many chunks, with lines of every length, some longer than a chunk."""
    chance = random.Random(share)
    quiet = [b"http://example.com/a.b/%C3%A9?Q=%2F#F" + b"y" * size for size in range(90)]
    quiet += [b"x:a/../b:..", b"x:./a/."]
    quiet += [b"x:" + b"a" * size for size in (4000, 4093, 4094, 4095, 4096, 10_000)]
    others = [b"HTTP://Example.com/%7E" + b"y" * 40, b"x:/a/../b", b"", b"x:/%c3%a9", b"x:/" + b"../" * 2000]
    lines = [chance.choice(others if chance.random() * 100 < share else quiet) for _ in range(300)]
    src = b"".join(line + chance.choice([b"\n", b"\r\n"]) for line in lines)
    for level, text in product(LEVELS, (src, src[:-1], src[:4096], src[:4095])):
        expected, count = normal_lines(text, level), len(lines_of(text))
        for tier in every_tier():
            for room in 0, 30_000:
                written, found = transform(text, NormalizeRows(level), room=room)
                assert (written, found.lines) == (expected, count), (level, len(text), tier, room)


# --- arguments --------------------------------------------------------------------------------------------------------


def test_capacity():
    rows = SplitRows("uri", "jsonl")
    assert rows.capacity(1000) - rows.capacity(0) >= 1000
    with pytest.raises(OverflowError):
        rows.capacity(2**63)
    with pytest.raises(OverflowError):
        rows.capacity(-1)


def test_checks_need_no_capacity():
    src = b"\n".join(LINES)
    case = Case("check", CheckRows("uri", "URI"), checked("uri", "URI"), None)
    for errors in "keep", "null", "drop":
        _, expected = model(src, case, errors)
        read, found = transform_lines(src, None, case.operation, errors=errors)
        assert (read, found) == (len(src), expected._replace(written=0))
    with pytest.raises(ValueError, match="dst"):
        transform_lines(src, None, RowOperation())


def test_any_number_of_faults():
    src = b" \n" * 300
    for limit in 1, 299, 300, 301, 2**59, 2**63 - 1:
        read, found = transform_lines(src, None, CheckRows("uri", "URI"), limit=limit)
        assert (read, found.invalid, len(found.faults)) == (2 * min(limit, 300), min(limit, 300), min(limit, 300))
    for limit in 0, -1:
        read, found = transform_lines(src, None, CheckRows("uri", "URI"), limit=limit)
        assert (read, found.invalid, found.faults) == (600, 300, [])
    assert transform_lines(b"", None, CheckRows("uri", "URI"), limit=2**62) == (0, Lines(0, 0, 0, []))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"terminator": b"a"}, "line terminator"),
        ({"terminator": b""}, "line terminator"),
        ({"terminator": b"\r\n"}, "line terminator"),
        ({"errors": "replace"}, "replace"),
        ({"errors": "trust"}, "must be one of"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        transform_lines(b"a", bytearray(9), RowOperation(), **options)
    with pytest.raises(TypeError):
        transform_lines(b"a", bytearray(9), None)
    with pytest.raises(BufferError):
        transform_lines(b"a", b"123456789", RowOperation())


@each_row(
    "make",
    [
        lambda: CheckRows("urn", "URI"),
        lambda: CheckRows("uri", "IRI"),
        lambda: CheckRows("iri", "URI"),
        lambda: SplitRows("uri", "xml"),
        lambda: SplitRows("url", "csv"),
        lambda: NormalizeRows("8141"),
        lambda: IriToUriRows("keep"),
        lambda: IriToUriRows("raise", "unicode"),
        lambda: UriToIriRows("idna"),
    ],
)
def test_no_such_option(make):
    with pytest.raises(ValueError):
        make()


def test_errors_are_those_of_the_functions():
    assert CheckRows("uri", "URI").error is ResolveRows(BASE).error is NormalizeRows("iri").error is UriSyntaxError
    assert CheckRows("iri", "IRI").error is SplitRows("iri", "csv").error is UriToIriRows().error is IriError
    with pytest.raises(UriSyntaxError):
        ResolveRows(b"//a/b")


def test_other_exceptions_end_the_loop(monkeypatch):
    """Not only a ValueError: that is a host without A-labels."""
    from uricodec._url import _hosts

    def interrupt(_host):
        raise KeyboardInterrupt

    monkeypatch.setattr(_hosts, "to_ascii", interrupt)
    with pytest.raises(KeyboardInterrupt):
        transform_lines("http://a/\nhttp://l·l/\nhttp://b/".encode(), bytearray(9999), IriToUriRows("raise", "idna"))


# --- records ----------------------------------------------------------------------------------------------------------


@given(src=TEXT, kind=st.sampled_from(["uri", "iri"]))
def test_records_say_what_split_says(src, kind):
    as_json, found = transform(src, SplitRows(kind, "jsonl"))
    rows = SplitRows(kind, "csv")
    as_csv, _ = transform(src, rows)
    header, *table = csv.reader(io.StringIO((rows.header + as_csv).decode(), newline=""))
    assert header == [*COLUMNS, "error", "offset"]
    faults = {fault.line: fault for fault in found.faults}
    lines = [text for text, _ in lines_of(src)]
    records = [json.loads(text) for text, _ in lines_of(as_json)]
    assert len(records) == len(table) == len(lines)
    for number, (line, record, cells) in enumerate(zip(lines, records, table, strict=True)):
        if number in faults:
            fault = faults[number]
            assert record == dict.fromkeys(COLUMNS) | {"error": fault.code, "offset": fault.offset}
        else:
            assert [*record.values()] == [None if v is None else v.decode() for v in components(kind, line)]
        assert cells == ["" if record.get(name) is None else str(record[name]) for name in header]


def test_safe_csv():
    for safe, quote in (False, ""), (True, "'"):
        written, _ = transform("//=u@-h/+p?@q#\uff1df\n@\n".encode(), SplitRows("iri", "csv", safe))
        rows = list(csv.reader(io.StringIO(written.decode())))
        cells = [f"{quote}=u@-h", f"{quote}=u", f"{quote}-h", "", "/+p", f"{quote}@q", f"{quote}\uff1df"]
        assert rows == [["", *cells, "", ""], [*[""] * 5, f"{quote}@", *[""] * 4]]
    assert transform(b"//=u@h", SplitRows("uri", "jsonl", True)) == transform(b"//=u@h", SplitRows("uri", "jsonl"))


def test_undefined_is_not_empty():
    written, _ = transform(b"http://@a:?\n//\n", SplitRows("uri", "csv"))
    assert written == b'http,@a:,"",a,"","","",,,\n,"",,"",,"",,,,\n'
