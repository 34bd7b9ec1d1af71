"""Every operation on rows, by every path, policy, CPU tier and number of threads, against its one reference.

A path is a source and a sink: lists, columns of Arrow, lines in memory and files, the filters of the command line,
deduplication. What paths may differ in stands in `reference.rows.Way`. One call of a batch compares all of its rows.
"""

import gzip
import importlib
import io
import itertools
import json
import sys
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import rows as reference
from reference.codec import CONTROLS, decode, ill_formed
from reference.rows import COLUMN, OCTETS, Way, handled, way_of_lines
from support.arrow_memory import Lent, rows_of
from support.command import run
from support.operations import IDENTIFIERS, OPERATIONS

import uricodec
from uricodec import ByteSet, bulk, dedup
from uricodec._base import _kernels
from uricodec.errors import UriError

TIERS = uricodec.cpu_tiers()


@contextmanager
def on_tier(name):
    before = uricodec.cpu_tier()
    if name == before:
        yield
        return
    _kernels.use_tier(name)
    try:
        yield
    finally:
        _kernels.use_tier(before)


# --- what may change on the way to one engine -------------------------------------------------------------------------


def call(operation, column, errors, report=None, **options):
    """One operation of `bulk`."""
    return getattr(bulk, operation.name)(column, errors=errors, invalid=report, **operation.given, **options)


DECODING = {"unquote", "percent_decode"}  # controls may stay
PROMISING = {"normalize_uri", "resolve"}  # accept any bytes, but in lines their results are text


# --- batches of rows --------------------------------------------------------------------------------------------------


def is_control(row):
    """Whether a row has, or becomes, what stays on some paths."""
    decoded = decode(row)
    return any(control in text for control in CONTROLS for text in (row, decoded))


@cache
def plain_rows(name):
    """The rows of a file in which no paths differ."""
    return [row for row in reference.rows_of(name) if not ill_formed(row) and not is_control(row)]


def batches_of(operation, path):
    """The batches of an operation by a path: most are one, with all kinds of rows."""
    if path.form != "lines":
        return ("rows",)
    if operation.name in DECODING:
        return "rows", "controls"
    return ("rows", "not UTF-8") if operation.name in PROMISING else ("rows",)


def rows_in(operation, path, batch):
    """The rows of a batch. In columns of text, those that are not UTF-8 are for the codec."""
    rows, (_, *others) = reference.rows_of(operation.rows), batches_of(operation, path)
    if path.text and operation.rows != "percent":
        rows = [row for row in rows if not ill_formed(row)]
    for other in others:
        is_other = is_control if other == "controls" else ill_formed
        rows = [row for row in rows if bool(is_other(row)) == (batch == other)]
    return rows


def with_nulls(rows):
    """Nulls at both ends, alone, and many in a row."""
    every_seventh = [part for i in range(0, len(rows), 7) for part in (*rows[i : i + 7], None)]
    return [None, *every_seventh, *[None] * 70]


@cache
def long_batch(name):
    """Rows for several blocks (16 KiB, 1024 rows): long ones between short ones, triplets at the ends of blocks."""
    good = {
        "hosts": b"http://x.a.example/",
        "percent": b"/a%20b/%C3%A9",
        "redact": b"//u@a.example?sig=%C3%A9",
        "repair": b"http://a.example/b c",
        "uris": b"HTTP://a.example/%7Eb/%C3%A9",
        "urls": b"//a.example:8?q=%C3%A9",
        "urns": b"URN:Example:%c3%A9b",
        "web": b"http://[::1]:8/",
    }[name]
    heads = {
        "hosts": b"//x.org/",
        "percent": b"/",
        "redact": b"//a?q=1&sig=",
        "repair": b"http:\\\\a/\xc3\xa9",
        "uris": b"http://a/",
        "urls": b"//a?q=",
        "urns": b"urn:example:",
        "web": b"ws://A/",
    }
    head = heads[name]
    batch = plain_rows(name)
    rows = [*batch, *[good] * 1500, None, *batch]
    for size in (16_383, 16_384, 16_385, 33_000):
        rows += [head + b"%41" + b"a" * (size - len(head) - 6) + b"%2f", good, b"", None]
    if name == "percent":  # one row that is not UTF-8 among many, and long ones with a fault at their end
        for many in good, b"/a/" + b"c" * 20:
            rows += [*[many] * 300, b"\xad", *[many] * 300]
        rows += [b"/" * 16_500 + end for end in (b"\xad", b"%zz", b"%C3", b"\xc3%A9", b"%C3%A9")]
    for pad in range(3):  # so that triplets are cut at another octet
        rows += [head + b"b" * pad, *[head + b"%2f" * 9] * 700]
    return tuple([*rows, *[None] * 1100, *[head + b"c", None] * 300, *batch])


# --- paths of bulk ----------------------------------------------------------------------------------------------------


class Path(NamedTuple):
    """How rows come to an operation of bulk, and how its results come back.

    Attributes:
        make (Callable): rows -> the source.
        form (str): "list", "Arrow" or "lines".
        way (Way): What is asked of rows.
        text (bool): Whether rows and results are str.
        join (Callable | None): (results, errors) -> lines.
        terminator (bytes): The last byte of each line.
        options (dict): What the call takes besides.
        last (bool): Whether the last line has an end.
        file (bool): Whether lines come from a file and go to another one.
    """

    make: Callable
    form: str
    way: Way
    text: bool = False
    join: Callable | None = None
    terminator: bytes = b""
    options: Any = MappingProxyType({})
    last: bool = True
    file: bool = False

    def takes(self, row):
        """Whether a row can come this way."""
        if self.text and self.form == "list" and row is not None and ill_formed(row):
            return False
        if self.form != "lines":
            return True
        return row is not None and self.terminator not in row and not (self.terminator == b"\n" and row.endswith(b"\r"))


def texts(rows):
    return [None if row is None else row.decode() for row in rows]


def buffers(rows):
    kinds = bytes, bytearray, memoryview
    return tuple(None if row is None else kinds[number % 3](row) for number, row in enumerate(rows))


def arrow(layout):
    return lambda rows: Lent(rows, layout)


def sliced(layout):
    return lambda rows: Lent([b"%41", None, b"before%", *rows, b"%4", None], layout, start=3, after=2)


def dictionary(layout):
    """Rows that are equal refer to one value, in another order than that of the rows; one value stays unused."""

    def make(rows):
        values = list(dict.fromkeys([b"%unused\xc3\xa9", *rows[::-1]]))
        places = {row: place for place, row in enumerate(values)}
        return Lent(values, layout, [places[row] for row in rows])

    return make


class Chunks:
    """Several arrays as one object of Arrow; some are empty."""

    def __init__(self, rows, layout="u"):
        sizes, start, arrays, self.lent = [3, 0, 1, 250, 1030], 0, [], []
        while start < len(rows) or not arrays:
            size = sizes[len(arrays) % len(sizes)]
            self.lent.append(Lent(rows[start : start + size], layout))
            column = bulk.quote(self.lent[-1], safe=ALL, errors="keep")
            arrays += column.arrays
            start += size
        self.column = bulk.Column(column.type, arrays)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.column.__arrow_c_stream__(requested_schema)


ALL = ByteSet(range(256))


def ended(*ends, last=True):
    """Rows as lines, or results as what a policy makes of them.

    The lines end with one of the ends, in turns, and the last one with none unless `last`. Null is an empty line that
    always has an end, and what is dropped is gone, with its end.
    """

    def join(rows, errors=None):
        pieces = [(row, ends[number % len(ends)]) for number, row in enumerate(rows)]
        if pieces and not last:
            # A last line that becomes empty gets an end: otherwise there would be one line less.
            is_empty = not rows[-1] and (errors == "null" or (rows[-1] == b"" and errors not in (None, "drop")))
            pieces[-1] = rows[-1], ends[0][-1:] if is_empty else b""
        if errors == "drop":
            pieces = [piece for piece in pieces if piece[0] is not None]
        return b"".join((row or b"") + end for row, end in pieces)

    return join


def lines_path(*ends, last=True, options=None, file=False, make=bytes):
    join = ended(*ends, last=last)
    return Path(
        lambda rows: make(join(rows)),
        "lines",
        way_of_lines(ends[0][-1:]),
        False,
        join,
        ends[0][-1:],
        options or {},
        last,
        file,
    )


def separated(end):
    return {"line_terminator": end}


PATHS = {
    "list of str": Path(texts, "list", COLUMN, True),
    "list of bytes": Path(list, "list", OCTETS),
    "list of buffers": Path(buffers, "list", OCTETS),
    "Arrow utf8": Path(arrow("u"), "Arrow", COLUMN, True),
    "Arrow large utf8": Path(arrow("U"), "Arrow", COLUMN, True),
    "Arrow utf8 view": Path(arrow("vu"), "Arrow", COLUMN, True),
    "Arrow binary": Path(arrow("z"), "Arrow", OCTETS),
    "Arrow large binary": Path(arrow("Z"), "Arrow", OCTETS),
    "Arrow binary view": Path(arrow("vz"), "Arrow", OCTETS),
    "Arrow dictionary": Path(dictionary("u"), "Arrow", COLUMN, True),
    "Arrow dictionary of views": Path(dictionary("vu"), "Arrow", COLUMN, True),
    "Arrow dictionary of binary": Path(dictionary("z"), "Arrow", OCTETS),
    "Arrow sliced": Path(sliced("u"), "Arrow", COLUMN, True),
    "Arrow sliced view": Path(sliced("vz"), "Arrow", OCTETS),
    "Arrow chunked": Path(Chunks, "Arrow", COLUMN, True),
    "Arrow chunked views": Path(lambda rows: Chunks(rows, "vu"), "Arrow", COLUMN, True),
    "lines": lines_path(b"\n"),
    "lines in a bytearray": lines_path(b"\n", make=bytearray),
    "lines, CR LF": lines_path(b"\r\n"),
    "lines, both ends": lines_path(b"\n", b"\r\n", b"\n", b"\n", b"\r\n"),
    "lines, no last end": lines_path(b"\n", last=False),
    "lines, CR LF, no last end": lines_path(b"\r\n", last=False),
    "lines, NUL": lines_path(b"\0", options=separated(b"\0")),
    "lines, RS": lines_path(b"\x1e", options=separated(b"\x1e")),
    "lines, DEL": lines_path(b"\x7f", options=separated(b"\x7f")),
    "file": lines_path(b"\n", file=True),
    "file, CR LF, no last end": lines_path(b"\r\n", last=False, file=True),
}


def rows_for(path, rows, nulls=True):
    """The rows of a batch that can come by a path."""
    rows = [row for row in rows if path.takes(row)]
    if path.form != "lines":
        return with_nulls(rows) if nulls else rows
    return rows if path.last or not rows or rows[-1] else [*rows, b"last"]  # an empty line is no last one


def as_text(octets):
    """Columns of text may have what is not UTF-8."""
    return octets.decode("utf-8", "surrogateescape")


def whole_of(operation, row):
    """What the offset of a fault is in."""
    return operation.whole(row) if operation.whole else row


def in_characters(path, whole, offset):
    """Offsets count characters of a str, and bytes of all else."""
    return len(whole[:offset].decode()) if path.text and path.form == "list" else offset


def as_path(operation, path, rows, results, errors):
    """What the reference says, as it comes out of a path."""
    if path.form == "lines" and operation.result == "text":
        return path.join(results, errors)
    text = path.text or path.form == "lines"

    def of(row, made):
        if made is None or operation.result in {"verdict", "fingerprint"}:
            return made
        if operation.result == "diagnostic":
            made = made[0], in_characters(path, row, made[1])
            return dict(zip(("code", "offset"), made, strict=True)) if path.form == "list" else made
        if operation.result == "list":
            return items_of(operation, made, text)
        if operation.result in {"text", "component"} and not operation.fields:
            return as_text(made) if text else made
        parts = [as_text(part) if text and part is not None else part for part in made]
        return dict(zip(operation.fields, parts, strict=True)) if path.form == "list" else tuple(parts)

    return [of(row, made) for row, made in zip(rows, results, strict=True)]


def items_of(operation, items, text):
    """A list as it comes out of a path: of text, or of tuples."""
    if not operation.fields:
        return [as_text(item) if text else item for item in items]
    return [tuple(as_text(part) if text else part for part in item) for item in items]


def compare(operation, path, rows, errors, reports=(False, True), tiers=TIERS[-1:], **options):  # noqa: PLR0913, PLR0917
    """One call without a report, and one with it, on some tiers."""
    results, report = handled(operation, rows, errors, path.way)
    want = as_path(operation, path, rows, results, errors)
    report = [(row, code, in_characters(path, whole_of(operation, rows[row]), offset)) for row, code, offset in report]
    options = {**path.options, **options}
    if path.form == "list":
        options.pop("threads", None)
    source = path.make(rows)
    for tier, reported in itertools.product(tiers, reports):
        found = bulk.InvalidRows(limit=1_000_000) if reported else None
        output = io.BytesIO() if path.file else None
        how = {**options, "output": output} if path.file else options
        with on_tier(tier):
            if errors == "raise" and report:
                compare_error(operation, path, rows, report[0], io.BytesIO(source) if path.file else source, found, how)
                continue
            made = call(operation, io.BytesIO(source) if path.file else source, errors, found, **how)
        if path.file:
            assert made == len(rows)
            made = output.getvalue()
        elif path.form == "Arrow" or hasattr(made, "__arrow_c_array__"):
            made = rows_of(made)
        assert same(made, want)
        if found is not None:
            assert same(found.rows, report)
            assert found.count == len(report)


def compare_error(operation, path, rows, fault, source, found, how):  # noqa: PLR0913, PLR0917
    row, code, offset = fault
    with pytest.raises(UriError, match=f"^row {row}: ") as caught:
        call(operation, source, "raise", found, **how)
    given = whole_of(operation, rows[row])
    if path.form == "Arrow" and path.text:
        offset, given = len(given[:offset].decode("utf-8", "replace")), given.decode("utf-8", "replace")
    elif path.text:
        given = given.decode()
    assert (caught.value.row, caught.value.input, caught.value.offset) == (row, given, offset), code


def same(made, want):
    """Equal; if not, what differs first is shown, not all of it."""
    if made == want:
        return True
    if isinstance(made, bytes):
        made, want = made.split(b"\n"), want.split(b"\n")
    for number, pair in enumerate(zip(made, want, strict=False)):
        assert (number, pair[0]) == (number, pair[1])
    assert len(made) == len(want)
    raise AssertionError("equal rows in unequal columns")


def has(operation, path, errors):
    """Whether a path has a policy: rows may vanish from lines alone."""
    if path.file and operation.result != "text":
        return False
    return errors in operation.policies and (errors != "drop" or (path.form == "lines" and operation.result == "text"))


def fast_or_all(config, fast, names):
    """The names that --fast leaves, or all."""
    return [name for name in names if name in fast] if config.option.fast else names


# Paths with loops of their own, on all tiers. The others differ in what all operations share.
MAIN = {"list of str", "Arrow utf8", "Arrow utf8 view", "Arrow binary", "lines", "lines, CR LF", "lines, NUL"}
OF_OPTIONS = {"list of str", "Arrow utf8", "Arrow binary", "lines"}  # what options change is the function of a row
FAST = {"list of str", "Arrow utf8", "lines"}  # one of each form
OF_BULK = [operation for operation in OPERATIONS if operation.bulk]
FIRST_OF_NAME = [*{operation.name: operation for operation in OPERATIONS[::-1]}.values()]
FIRST_OF_NAME_OR_LONG = [
    pytest.param(each, id=each.id, marks=[] if each in FIRST_OF_NAME else pytest.mark.long) for each in OF_BULK
]
every_operation = pytest.mark.parametrize("operation", OF_BULK, ids=lambda operation: operation.id)


def test_every_operation_has_a_reference():
    assert {operation.name for operation in OF_BULK} == {*bulk.__all__} - {"Column", "InvalidRows"}


@every_operation
def test_bulk(operation, pytestconfig):
    names = PATHS if operation in FIRST_OF_NAME else OF_OPTIONS
    for name in fast_or_all(pytestconfig, FAST, names):
        path = PATHS[name]
        both = operation in FIRST_OF_NAME and name in MAIN and not pytestconfig.option.fast
        tiers = {TIERS[0], TIERS[-1]} if both else TIERS[-1:]
        for batch in batches_of(operation, path):
            rows = rows_for(path, rows_in(operation, path, batch))
            for errors in operation.policies:
                print(name, batch, errors)  # shown of a test that fails
                if has(operation, path, errors):
                    reports = (False, True) if name in FAST or errors == operation.policies[0] else (True,)
                    compare(operation, path, rows, errors, reports, tiers)


def test_the_first_policy_is_the_default():
    for operation in OF_BULK:
        function, rows = getattr(bulk, operation.name), reference.rows_of(operation.rows)
        for name in FAST - {"Arrow utf8"}:
            path = PATHS[name]
            source = path.make(rows_for(path, rows, nulls=False))
            made, want = function(source, **operation.given), call(operation, source, operation.policies[0])
            assert made == want or rows_of(made) == rows_of(want)


@pytest.mark.slow
@pytest.mark.parametrize("operation", FIRST_OF_NAME_OR_LONG)
def test_bulk_raises_for_each_invalid_row(operation, pytestconfig):
    """In a column of its own, and after a valid one."""
    if "raise" in operation.policies:
        for name in fast_or_all(pytestconfig, {"list of str"}, sorted(FAST)):
            path = PATHS[name]
            rows = rows_for(path, rows_in(operation, path, "rows"), nulls=False)
            _, report = handled(operation, rows, "raise", path.way)
            for number, _, _ in report:
                print(name, rows[number])
                rows_of_one = [rows[number]] if path.takes(rows[number]) else []
                compare(operation, path, rows_of_one, "raise", reports=[False])


IN_BLOCKS = [
    *("list of str", "Arrow utf8", "Arrow utf8 view", "Arrow binary", "Arrow sliced", "Arrow chunked", "lines"),
    *("lines, CR LF", "lines, both ends", "lines, NUL", "file"),
]


@pytest.mark.slow
@pytest.mark.parametrize("operation", FIRST_OF_NAME_OR_LONG)
def test_blocks(operation):
    """Batches of several blocks, by one path if only options differ."""
    others = IN_BLOCKS[OF_BULK.index(operation) % len(IN_BLOCKS) :][:1]  # each path with some operations
    for name in {"list of str", "Arrow utf8", "lines", *others} if operation in FIRST_OF_NAME else {"lines"}:
        path = PATHS[name]
        if not has(operation, path, operation.policies[0]):
            continue
        print(name)
        rows = [row for row in long_batch(operation.rows) if path.takes(row)]
        tiers = {TIERS[0], TIERS[-1]} if operation in FIRST_OF_NAME and name == "lines" else TIERS[-1:]
        is_codec = operation.rows == "percent" and name in FAST and operation in FIRST_OF_NAME
        for errors in operation.policies if is_codec else operation.policies[:1]:
            if has(operation, path, errors):
                compare(operation, path, rows, errors, tiers=tiers, threads=1)


FIRST_OF_RESULT = {operation.result: operation for operation in OF_BULK[::-1]}.values()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "name", "threads"),
    [
        pytest.param(
            operation,
            name,
            threads,
            id=f"{operation.id}-{name}-{threads}",
            marks=[] if name in {"Arrow utf8", "lines"} else pytest.mark.long,
        )
        for operation in FIRST_OF_RESULT
        for name, threads in (("Arrow utf8", 2), ("lines", 8), ("Arrow utf8 view", 8), ("file", 2))
    ],
)
def test_threads(operation, name, threads):
    """Columns of two megabytes, which are several tasks: results and reports stay in order."""
    path = PATHS[name]
    rows = [row for row in long_batch(operation.rows) if path.takes(row)] * 12
    policies = [errors for errors in operation.policies[1:] if errors != "drop" and has(operation, path, errors)]
    for errors in {*policies[:1], *policies[-1:]}:
        compare(operation, path, rows, errors, reports=[True], threads=threads)


@pytest.mark.slow
@every_operation
@settings(max_examples=6)
@given(data=st.data())
def test_any_rows(operation, data):
    """Pieces of the hostile rows, in any order, by any path."""
    name = data.draw(st.sampled_from(list(PATHS)))
    path = PATHS[name]
    pieces = st.sampled_from(plain_rows(operation.rows)).flatmap(
        lambda row: st.tuples(st.integers(0, len(row)), st.integers(0, len(row))).map(
            lambda cut: row[min(cut) : max(cut)]
        )
    )
    row = st.lists(pieces, max_size=4).map(b"".join)
    found = data.draw(st.lists(st.none() | row, max_size=30))
    rows = [row for row in found if row is None or (not ill_formed(row) and not is_control(row))]
    rows = rows_for(path, rows, nulls=False) if path.form == "lines" else [row for row in rows if path.takes(row)]
    errors = data.draw(st.sampled_from([errors for errors in operation.policies if errors != "drop"]))
    if has(operation, path, errors):
        compare(operation, path, rows, errors, tiers=[data.draw(st.sampled_from(TIERS))])


# --- the filters of the command line ----------------------------------------------------------------------------------


class Filter(NamedTuple):
    """How rows come to a filter of the command line.

    Attributes:
        options (list[str]): What is added to the arguments.
        way (Way): What is asked of rows.
        join (Callable): rows -> the input; (results, errors) -> the output.
        lacks (bytes): Bytes that no row may have here.
        before (int): How many bytes of its record come before a row.
        pack (Callable | None): What makes a compressed file of the input; None: standard input.
    """

    options: list[str]
    way: Way
    join: Callable
    lacks: bytes = b""
    before: int = 0
    pack: Callable | None = None

    def takes(self, row):
        return not any(byte in self.lacks for byte in row) and not (b"\n" in self.lacks and row.endswith(b"\r"))


def of_records(template, null=b""):
    """Rows as values in records of a template."""

    def join(rows, errors=None):
        kept = [row for row in rows if row is not None or errors != "drop"]
        return b"".join(template % (null if row is None else row) + b"\n" for row in kept)

    return join


def csv(rows, errors=None):
    return of_records(b"%s")([b'""' if errors == "null" and row is None else row for row in rows], errors)


def json_lines(rows, errors=None):
    values = [None if row is None else json.dumps(row.decode(), ensure_ascii=False).encode() for row in rows]
    return of_records(b'{"u":%s}', b"null")(values, errors)


LINES, NUL = way_of_lines(b"\n"), way_of_lines(b"\0")
FILTERS = {
    "lines": Filter([], LINES, ended(b"\n"), b"\n"),
    "lines, 2 threads": Filter(["-j", "2"], LINES, ended(b"\n"), b"\n"),
    "lines, CR LF": Filter([], LINES, ended(b"\r\n"), b"\n"),
    "lines, both ends": Filter([], LINES, ended(b"\n", b"\r\n"), b"\n"),
    "lines, no last end": Filter([], LINES, ended(b"\n", last=False), b"\n"),
    "lines, NUL": Filter(["-z"], NUL, ended(b"\0"), b"\0"),
    "fields": Filter(["-f", "1-"], LINES, ended(b"\n"), b"\n\t"),
    "second field": Filter(["-d", ",", "-f", "2"], way_of_lines(b"\n", b","), of_records(b"%%41,%s,%%zz"), b"\n,", 4),
    "CSV": Filter(["--csv"], LINES, csv, b'\n\r,"'),
    "JSON": Filter(["--json-field", "u"], COLUMN, json_lines, b'"\\\x7f' + bytes(range(32)), 6),
    "gzip": Filter([], LINES, ended(b"\n"), b"\n", pack=gzip.compress),
}
with suppress(ModuleNotFoundError):
    zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    FILTERS["zst"] = Filter([], LINES, ended(b"\n"), b"\n", pack=zstd.compress)


FIRST_FILTERS = "lines", "lines, CR LF", "lines, NUL", "fields"  # the others differ in what all operations share


FILTERED = [
    pytest.param(each, id=each.id, marks=[] if each in FIRST_OF_NAME else pytest.mark.long)
    for each in OPERATIONS
    if each.command and each.result == "text"
]


@pytest.mark.parametrize("operation", FILTERED)
def test_filters(operation, tmp_path, pytestconfig):
    """The output is the same with and without a report, and --stats counts what the report lists."""
    names = FILTERS if operation in FIRST_OF_NAME else FIRST_FILTERS
    for name in fast_or_all(pytestconfig, {"lines"}, names):
        batches = ("rows", "not UTF-8") if operation.name in PROMISING and name != "JSON" else ("rows",)
        for batch in batches:
            for errors in operation.policies:
                print(name, batch, errors)
                compare_filter(operation, name, errors, batch, tmp_path)


def compare_filter(operation, name, errors, batch, folder):
    path = FILTERS[name]
    rows = [row for row in reference.rows_of(operation.rows) if path.takes(row)]
    if operation.name in PROMISING or name == "JSON":
        rows = [row for row in rows if bool(ill_formed(row)) == (batch == "not UTF-8")]
    if name == "CSV":
        rows = [row for row in rows if row]  # an empty line has no value
    elif not rows[-1:] or not rows[-1]:
        rows = [*rows, b"last"]
    results, report = handled(operation, rows, errors, path.way)
    data = path.join(rows)
    command = [*operation.command, "--errors", errors, *path.options]
    invalid, source = folder / "invalid", "<stdin>"
    if path.pack:
        source = folder / "input"
        source.write_bytes(path.pack(data))
        command += [source]
    for tier in {TIERS[0], TIERS[-1]} if name == "lines" else TIERS[-1:]:
        with on_tier(tier):
            if errors == "raise" and report:
                row, code, offset = report[0]
                place = f"{source}:{row + 1}:{path.before + offset + 1} ("
                for options in [], ["--stats"]:
                    status, _, said = run(*command, *options, stdin=data)
                    assert (status, place in said) == (1, True), (said, code)
                continue
            want = path.join(results, errors)
            status, made, said = run(*command, stdin=data)
            assert (status, said) == (0, "")
            if name == "JSON":
                assert same([*map(json.loads, made.splitlines())], [*map(json.loads, want.splitlines())])
                want = made
            assert same(made, want)
            status, made, said = run(*command, "--stats", "--invalid-to", invalid, stdin=data)
            assert status == 0 and same(made, want)
            assert json.loads(said)["invalid"] == len(report)
            found = [line.split("\t")[1:4] for line in invalid.read_text("utf-8").split("\n")[:-1]]
            assert same(found, [[str(row + 1), str(path.before + offset), code] for row, code, offset in report])


REPORTS = "lines", "lines, 2 threads", "lines, both ends", "lines, NUL", "gzip"


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation",
    [operation for operation in OPERATIONS if operation.command and operation.result != "text"],
    ids=lambda operation: operation.id,
)
def test_reports(operation, tmp_path):
    """`check` writes a line for each invalid row, `split` a record for each row, and says what is wrong in it."""
    for name in REPORTS:
        print(name)
        compare_reports(operation, name, tmp_path)


def compare_reports(operation, name, folder):
    path = FILTERS[name]
    rows = [row for row in reference.rows_of(operation.rows) if path.takes(row)]
    results, report = handled(operation, rows, operation.policies[0], path.way)
    data, source = path.join(rows), "<stdin>"
    if path.pack:
        source = folder / "input"
        source.write_bytes(path.pack(data))
    command = [*operation.command, *path.options, *([source] if path.pack else [])]
    if operation.result == "diagnostic":
        for tier in {TIERS[0], TIERS[-1]} if name == "lines" else TIERS[-1:]:
            with on_tier(tier):
                status, made, said = run(*command, "--stats", stdin=data)
            found = [line.split("\t")[:4] for line in made.decode().split("\n")[:-1]]
            assert same(found, [[str(source), str(row + 1), str(offset), code] for row, code, offset in report])
            assert (status, json.loads(said)["invalid"]) == (1, len(report))
        return
    faults = {row: {"error": code, "offset": offset} for row, code, offset in report}
    records = [
        dict.fromkeys(operation.fields) | faults[row]
        if made is None
        else dict(zip(operation.fields, texts(made), strict=True))
        for row, made in enumerate(results)
    ]
    for errors in "keep", "null", "drop":
        status, made, said = run(*command, "--errors", errors, "--stats", stdin=data)
        want = [record for row, record in enumerate(records) if errors != "drop" or row not in faults]
        lines = made.splitlines()  # of JSON, whatever ends those that are read
        assert same([json.loads(line) for line in lines], want)
        assert (status, json.loads(said)["invalid"]) == (0, len(report))


# --- deduplication ----------------------------------------------------------------------------------------------------


def with_spellings(name):
    """The rows of a file, some of them again, and in a spelling that may be another one."""
    rows = reference.rows_of(name)
    return [*rows, *[row.swapcase() for row in rows], *rows[::-3], *rows[::5]]


OF_DEDUP = [name for name, path in PATHS.items() if not path.file and path.terminator in (b"", b"\n")]
every_identifier = pytest.mark.parametrize(
    ("kind", "level", "name", "normal"),
    IDENTIFIERS,
    ids=[" ".join(filter(None, row[:2])) for row in IDENTIFIERS],
)


@pytest.mark.slow
@every_identifier
def test_unique(kind, level, name, normal):
    """Of columns the rows, of lines the lines; each gets an end."""
    for path in filter(MAIN.__contains__, OF_DEDUP):
        how = PATHS[path]
        rows = rows_for(how, with_spellings(name))
        lines = [line + end for line, end in zip_ends(how, rows)] if how.form == "lines" else None
        tiers = {TIERS[0], TIERS[-1]} if path in MAIN else TIERS[-1:]
        for errors in "keep", "drop":
            print(path, errors)
            first, _ = reference.first_rows(rows, kind, level, normal, errors)
            for tier, exact in [(tier, False) for tier in tiers] + [(TIERS[-1], True)]:
                with on_tier(tier):
                    source = how.make(rows)
                    made = dedup.unique(source, kind, level, errors=errors, exact=exact)
                if lines is not None:
                    assert same(made, b"".join(lines[row] for row in first))
                    continue
                made = list(made) if how.form == "list" else rows_of(made)
                want = [rows[row] for row in first]
                assert same(made, [row if row is None or not how.text else as_text(row) for row in want])


def zip_ends(path, rows):
    """Lines with their ends; a last one without an end gets the terminator."""
    found, start = [], 0
    data = path.make(rows)
    for row in rows:
        stop = data.find(path.terminator, start + len(row)) + 1
        found.append((row, bytes(data[start + len(row) : stop]) if stop else path.terminator))
        start = stop or len(data)
    return found


@pytest.mark.slow
@every_identifier
def test_dedup(kind, level, name, normal, tmp_path):
    for options in ["-j", "1"], ["-j", "2"], ["--exact"], ["-z"], ["gzip"]:
        for errors in "keep", "drop", "raise":
            print(options, errors)
            end = b"\0" if options == ["-z"] else b"\n"
            rows = [row for row in with_spellings(name) if end not in row]
            rows = [row for row in rows if not (end == b"\n" and row.endswith(b"\r"))]
            found = reference.first_rows(rows, kind, level, normal, errors)
            command = ["dedup", "--kind", kind, *(["--level", level] if level else []), "--errors", errors]
            compare_dedup(command, options, rows, end, *found, tmp_path)


def compare_dedup(command, options, rows, end, first, report, folder):  # noqa: PLR0913, PLR0917
    source, invalid = folder / "input", folder / "invalid"
    data = b"".join(row + end for row in rows)
    source.write_bytes(gzip.compress(data) if options == ["gzip"] else data)
    command = [*command, source, *([] if options == ["gzip"] else options)]
    if "raise" in command and report:
        status, _, said = run(*command)
        row, code, offset = report[0]
        assert (status, f"{source}:{row + 1}:{offset + 1} (" in said) == (1, True), (said, code)
        return
    status, made, said = run(*command, "--stats", "--invalid-to", invalid)
    assert status == 0
    assert same(made, b"".join(rows[row] + end for row in first))
    stats = json.loads(said)
    assert (stats["rows"], stats["invalid"], stats["written"]) == (len(rows), len(report), len(first))
    found = [line.split("\t")[1:4] for line in invalid.read_text("utf-8").split("\n")[:-1]]
    assert same(found, [[str(row + 1), str(offset), code] for row, code, offset in report])


# --- lines longer than what is held -----------------------------------------------------------------------------------


@pytest.mark.parametrize("errors", ["keep", "replace", "null", "drop"])
@pytest.mark.parametrize("command", ["decode", "encode", "requote"])
def test_a_report_does_not_change_long_lines(command, errors):
    """A line that is streamed without a report is streamed with one."""
    line = b"/a%20b/\xc3\xa9" * 200_000
    data = b"%41\n" + line + b"\n%42\n"
    command = [command, "--errors", errors, "--max-line", "1M"]
    assert run(*command, stdin=data)[1] == run(*command, "--stats", stdin=data)[1]


# --- policies that a path does not have -------------------------------------------------------------------------------

EVERY = ("raise", "keep", "null", "drop", "replace")


@pytest.mark.parametrize("name", ["list of str", "Arrow utf8", "lines"])
def test_policies_that_a_path_lacks_are_rejected(name):
    path = PATHS[name]
    source = path.make(rows_for(path, [b"urn:example:a"], nulls=False))
    for operation in OF_BULK:
        for errors in EVERY:
            if not has(operation, path, errors):
                with pytest.raises(ValueError, match=f"^errors of {operation.name} must be one of .*, got '{errors}'"):
                    call(operation, source, errors)
