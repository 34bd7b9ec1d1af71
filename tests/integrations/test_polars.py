"""The namespace `uricodec` of Polars, against lists: in memory and streaming, every dtype, any number of chunks."""

import inspect
import re
import subprocess
import sys
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.rows import in_columns, texts

from uricodec import bulk, dedup
from uricodec.bulk._operations import OPERATIONS
from uricodec.dedup import SeenSet
from uricodec.errors import UriError
from uricodec.integrations._operations import FUNCTIONS

pl = pytest.importorskip("polars", reason="polars is the extra polars")

import uricodec.integrations.polars  # noqa: E402, F401  (it registers the namespace)

pytestmark = pytest.mark.interop

ROWS = texts()
OCTETS = [*[row if row is None else row.encode() for row in ROWS], b"\xff%41", b"//\xff?q=%FF"]
CALLS = [(name, row.required) for name, row in OPERATIONS.items()] + [
    ("quote", {"safe": "", "plus": True}),
    ("requote", {"errors": "replace"}),
    ("requote", {"errors": "null"}),
    ("unquote", {"plus": True, "errors": "null"}),
    ("unquote", {"errors": "keep"}),
    ("iri_to_uri", {"disallowed": "encode"}),
    ("normalize_uri", {"level": "iri", "errors": "null"}),
    ("normalize_urn", {"level": "namespace", "errors": "null"}),
    ("is_valid_uri", {"production": "URI", "errors": "null"}),
    ("is_valid_urn", {"rfc": "2141"}),
    ("check_urn", {"rfc": "2141"}),
    ("query_value", {"name": ["q", "é"], "errors": "null"}),
    ("split_uri", {"errors": "keep"}),
    ("agreed_host", {"schemes": ["http"], "ports": [80]}),
    ("fingerprint", {"kind": "urn", "secret": b"k"}),
    ("fingerprint", {"kind": "uri", "level": "scheme", "secret": b"k", "errors": "keep"}),
]
IDS = [f"{name} {','.join(map(str, given.values()))}" for name, given in CALLS]
ENGINES = "streaming", "in-memory"


def of_list(rows, name, given):
    """What a Series is to have. Offsets are in octets there, so octets are what is looked at for faults."""
    function, result = FUNCTIONS[name], OPERATIONS[name].result
    if result == "diagnostic":
        rows = [row.encode() if isinstance(row, str) else row for row in rows]
    if result in {"component", "list", "struct"}:
        rows = [row.decode("utf-8", "replace") if isinstance(row, bytes) else row for row in rows]
    found = function(rows, **given)
    return in_columns(OPERATIONS[name].fields, found) if name == "query_pairs" else found


def results(column, name, given):
    """The Series that comes out of a plan in every engine, and of the Series itself."""
    plan = column.to_frame().lazy().select(getattr(pl.col(column.name).uricodec, name)(**given))
    schema = plan.collect_schema()
    for engine in ENGINES:
        frame = plan.collect(engine=engine)
        assert frame.schema == schema
        yield frame.to_series()
    yield getattr(column.uricodec, name)(**given)


def shapes(column):
    """The same dtype in slices and chunks."""
    yield column
    yield column[3:11]
    yield column[:0]
    yield pl.concat([column[:1], column[:0], column[1:9], column[9:]], rechunk=False)
    yield column.reverse()
    yield column.clear(4)


DTYPES = [pl.String(), pl.Categorical(), pl.Categorical(pl.Categories("uricodec-test")), pl.Binary()]


@pytest.mark.parametrize(("name", "given"), CALLS, ids=IDS)
def test_every_operation(name, given):
    text = OPERATIONS[name].result == "text"
    for dtype in DTYPES:
        column = pl.Series("x", OCTETS if dtype == pl.Binary else ROWS, dtype=dtype)
        for part in shapes(column):
            want = of_list(part.to_list(), name, given)
            for result in results(part, name, given):
                assert result.to_list() == want, dtype
                assert result.name == "x"
                assert not text or result.dtype == dtype


@given(st.lists(st.none() | st.text("%4A1Cc3é:/?#+ urn", max_size=30), max_size=60), st.integers(1, 20))
def test_unquote_is_that_of_the_library(rows, size):
    parts = [pl.Series("x", rows[i : i + size], dtype=pl.String) for i in range(0, len(rows), size)]
    column = pl.concat(parts, rechunk=False) if parts else pl.Series("x", rows, dtype=pl.String)
    want = [row if row is None else urllib.parse.unquote(row) for row in rows]
    for result in results(column, "unquote", {}):
        assert result.to_list() == want


def test_nulls_alone():
    for name, operation in OPERATIONS.items():
        for column in pl.Series("x", [None] * 3), pl.Series("x", [None] * 3, dtype=pl.String):
            for result in results(column, name, operation.required):
                assert result.is_null().all() and len(result) == 3, name


def test_enums():
    """Their strings are settled: they have verdicts and components, but no other text."""
    column = pl.Series("x", ["a", "a b", None, "a"], dtype=pl.Enum(["a b", "a", "%"]))
    for name, operation in OPERATIONS.items():
        given = operation.required
        if operation.result == "text":
            for engine in ENGINES:
                plan = column.to_frame().lazy().select(getattr(pl.col("x").uricodec, name)(**given))
                with pytest.raises(TypeError, match="cast it to String"):
                    plan.collect(engine=engine)
            with pytest.raises(TypeError, match="cast it to String"):
                getattr(column.uricodec, name)(**given)
        else:
            for result in results(column, name, given):
                assert result.to_list() == of_list(column.to_list(), name, given), name


def test_columns_as_arguments():
    frame = pl.DataFrame({"ref": ["../g", None, "x", "y"], "base": ["http://a/b/c/d", "http://b", "/", None]})
    want = ["http://a/b/g", None, None, None]
    resolved = pl.col("ref").uricodec.resolve(pl.col("base"), errors="null")
    for engine in ENGINES:
        assert frame.lazy().select(resolved).collect(engine=engine)["ref"].to_list() == want
    assert frame["ref"].uricodec.resolve(frame["base"], errors="null").to_list() == want
    assert frame["ref"].uricodec.resolve(frame["base"].to_list(), errors="null").to_list() == want
    assert frame.select(pl.col("ref").uricodec.resolve(pl.lit("s:"))).to_series().to_list() == [
        "s:g",
        None,
        "s:x",
        "s:y",
    ]
    assert frame.select(pl.lit("g").uricodec.resolve(pl.col("base"), errors="null")).to_series()[0] == "http://a/b/c/g"
    assert frame.head(0).select(resolved).to_series().to_list() == []
    for dtype in pl.Binary, pl.Categorical:
        made = frame.select(pl.col("ref").cast(dtype).uricodec.resolve(pl.col("base"), errors="null"))
        assert made.schema["ref"] == dtype and made["ref"].cast(pl.String).to_list() == want
    joined = pl.col("ref").uricodec.unsplit("s", query=pl.col("base").str.slice(0, 1))
    assert frame.select(joined).to_series().to_list() == ["s:../g?h", None, "s:x?/", "s:y"]
    with pytest.raises(
        TypeError, match=r"^query_value: name must be a value, not an expression; use a call for each value$"
    ):
        pl.col("ref").uricodec.query_value(pl.col("base"))
    with pytest.raises(TypeError, match=r"^resolve: base must be a value or an expression, not a Series$"):
        pl.col("ref").uricodec.resolve(frame["base"])


def test_where_expressions_stand():
    """Elements of lists, groups, windows, literals, conditions, and several columns."""
    frame = pl.DataFrame({"g": [1, 1, 2], "x": ["%41", None, "%42"], "l": [["%41", "b"], [], None], "y": ["%43"] * 3})
    decoded = pl.col("x").uricodec.unquote()
    assert frame.select(pl.col("l").list.eval(pl.element().uricodec.unquote()))["l"].to_list() == [["A", "b"], [], None]
    assert frame.group_by("g", maintain_order=True).agg(decoded)["x"].to_list() == [["A", None], ["B"]]
    assert frame.select(decoded.over("g"))["x"].to_list() == ["A", None, "B"]
    assert pl.select(pl.lit("%41").uricodec.unquote()).item() == "A"
    assert frame.filter(decoded == "B")["g"].to_list() == [2]
    assert frame.select(pl.col("x", "y").uricodec.unquote()).rows() == [("A", "C"), (None, "C"), ("B", "C")]
    assert frame.select(pl.col("x").uricodec.split_uri().struct.field("path"))["path"].to_list() == ["%41", None, "%42"]


def test_plans_stream():
    """The function sees pieces of a long column, and an operation that is not elementwise would see it whole."""
    seen = []

    def look(column):
        seen.append(len(column))
        return column

    rows = pl.Series("x", ["/a%20b"] * 500_000).to_frame().lazy()
    looked = rows.select(pl.col("x").map_batches(look, return_dtype=pl.String, is_elementwise=True).uricodec.unquote())
    assert looked.select(pl.col("x").str.len_bytes().sum()).collect(engine="streaming").item() == 4 * 500_000
    assert len(seen) > 1 and sum(seen) == 500_000


def test_arguments_that_are_wrong_are_rejected_before_a_plan_runs():
    column = pl.col("x").uricodec
    with pytest.raises(ValueError, match="errors of unquote must be one of"):
        column.unquote(errors="ignore")
    with pytest.raises(ValueError, match="kind must be one of"):
        column.fingerprint(kind="urn:")
    with pytest.raises(TypeError, match=r"unquote.* 'invalid'"):
        column.unquote(invalid=bulk.InvalidRows())
    with pytest.raises(TypeError, match=r"unquote.* 'line_terminator'"):
        pl.Series(["a"]).uricodec.unquote(line_terminator=b"\0")
    with pytest.raises(TypeError, match=r"split_uri.* positional argument"):
        column.split_uri("URI")


@pytest.mark.parametrize("rows", [[1], [1.5], [["a"]], [{"a": "b"}], [True]])
def test_columns_of_no_text(rows):
    column = pl.Series("x", rows)
    with pytest.raises(TypeError, match="unquote: expected a column of String"):
        column.uricodec.unquote()
    for engine in ENGINES:
        with pytest.raises(TypeError, match="unquote: expected a column of String"):
            column.to_frame().lazy().select(pl.col("x").uricodec.unquote()).collect(engine=engine)


def test_errors_that_are_raised():
    column = pl.Series("x", ["/ok", "100%"])
    with pytest.raises(UriError, match='row 1: "%" not followed by two hexadecimal digits'):
        column.uricodec.unquote(errors="raise")
    for engine in ENGINES:
        with pytest.raises(
            ValueError, match=r"""^unquote: "%" not followed by two hexadecimal digits at offset 3 of '100%'"""
        ):
            column.to_frame().lazy().select(pl.col("x").uricodec.unquote(errors="raise")).collect(engine=engine)


def test_faults_and_threads_of_a_series():
    faults = bulk.InvalidRows()
    column = pl.concat([pl.Series("x", ["a", "%"]), pl.Series("x", ["%FF", "é%"])], rechunk=False)
    assert column.uricodec.unquote(invalid=faults, threads=2).to_list() == ["a", "%", "\ufffd", "é%"]
    assert faults.rows == [(1, "percent", 0), (2, "utf-8", 0), (3, "percent", 2)]


def test_the_same_key_gives_the_same_groups():
    frame = pl.DataFrame({"x": ["urn:example:a", "URN:Example:a", "urn:example:A", "no urn", None, "no urn"]})
    print_of = pl.col("x").uricodec.fingerprint("urn", secret=b"k", errors="keep")
    want = bulk.fingerprint(frame["x"].to_list(), "urn", secret=b"k", errors="keep")
    for engine in ENGINES:
        assert frame.lazy().select(print_of).collect(engine=engine)["x"].to_list() == want
    first = frame.filter(print_of.is_first_distinct())["x"].to_list()
    assert first == ["urn:example:a", "urn:example:A", "no urn", None]
    own = frame.lazy().select(pl.col("x").uricodec.fingerprint("urn")).collect(engine="streaming")["x"]
    assert own.to_list() == bulk.fingerprint(frame["x"].to_list(), "urn")  # the process has one key of its own


def test_signatures_and_documentation():
    for name, function in FUNCTIONS.items():
        own = [each.name for each in OPERATIONS[name].parameters]
        for methods, how in (
            (pl.col("x").uricodec, ["errors"]),
            (pl.Series().uricodec, ["errors", "invalid", "threads"]),
        ):
            method = getattr(methods, name)
            assert list(inspect.signature(method).parameters) == own + how
            assert method.__name__ == name and method.__qualname__ == f"{type(methods).__name__}.{name}"
            assert method.__doc__.startswith(function.__doc__.splitlines()[0])
            assert re.findall(r"^    (\w+) \(", method.__doc__, re.MULTILINE) == own + how


def test_registering_does_not_import_other_engines():
    code = (
        "import sys, uricodec.bulk; assert 'polars' not in sys.modules\n"
        "import uricodec.integrations.polars; assert not {'pyarrow', 'pandas', 'duckdb'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_large_chunks_stay(monkeypatch):
    """What comes out of a Series has as many as went in; small ones are put together."""
    from uricodec.integrations import polars

    column = pl.concat([pl.Series("x", ROWS[i : i + 5]) for i in (0, 5, 10)], rechunk=False)
    assert column.n_chunks() == 3
    for name, how in CALLS:
        want = of_list(ROWS[:15], name, how)
        for size, chunks in (1, 3), (5, 3), (6, 1):
            monkeypatch.setattr(polars, "_CHUNK", size)
            result = getattr(column.uricodec, name)(**how)
            assert (result.n_chunks(), result.to_list()) == (chunks, want), (name, how)


MEMORY = """
import resource
import sys

import polars as pl

import uricodec.integrations.polars

row = "/a/path/of/a/log/that/has/some/caf%C3%A9/in/it?q=a%20b"
rows = pl.Series("x", [row] * 1_000_000)
chunks = int(sys.argv[1])
size = len(rows) // chunks
column = pl.concat([rows[i * size : (i + 1) * size].reverse() for i in range(chunks)], rechunk=False)
assert column.n_chunks() == chunks
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
plan = column.to_frame().lazy().select(pl.col("x").uricodec.unquote().str.len_bytes().sum())
assert plan.collect(engine="streaming").item() == (len(row) - 6) * len(rows)
print(peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the unit of ru_maxrss")
@pytest.mark.process
def test_memory_does_not_grow_with_the_number_of_chunks():
    def peak(chunks):
        command = [sys.executable, "-c", MEMORY, str(chunks)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert peak(2000) < peak(1) + 20_000  # KiB; 2000 pieces of 64 KiB would be 128 MB


def test_saved_sets():
    """Columns ask them, and they are tables."""
    rows = [None, *[f"http://a.example/{i}" for i in range(300)]]
    seen = SeenSet.build(rows[:100], "uri", secret="k")
    frame = pl.DataFrame({"url": rows})
    assert pl.Series(seen.contains(frame["url"])).to_list() == [None, *[i < 99 for i in range(300)]]
    asked = pl.col("url").map_batches(lambda urls: pl.Series(seen.contains(urls)), return_dtype=pl.Boolean)
    assert frame.lazy().filter(~asked).collect().height == 201
    table = pl.DataFrame(seen)
    assert (table.columns, table["fingerprint"].n_unique()) == (["fingerprint"], 99)
    prints = pl.Series(bulk.fingerprint(frame["url"], "uri", secret="k"))
    left = frame.with_columns(fingerprint=prints).join(table, on="fingerprint", how="anti", nulls_equal=False)
    assert left.height == 202


@pytest.mark.parametrize("dtype", [pl.String, pl.Binary, pl.Categorical])
@pytest.mark.parametrize("keep", ["first", "last"])
def test_unique_returns_a_series(dtype, keep):
    rows = ["HTTP://a/", None, "http://a/", "http://b/", None]
    column = pl.Series("url", rows, pl.String).cast(dtype)
    for series in column, pl.concat([column.head(2), column.tail(3)], rechunk=False):
        found = dedup.unique(series, "uri", keep=keep)
        assert (type(found), found.name, found.dtype) == (pl.Series, "url", dtype)
        assert found.cast(pl.String).to_list() == dedup.unique(rows, "uri", keep=keep)


@pytest.mark.parametrize("operation", ["unquote", "is_valid_uri", "split_uri", "query_pairs", "fingerprint", "host"])
def test_functions_of_bulk_return_a_series(operation):
    column = pl.Series("url", ["http://a/%20?b=c", None, "http://a%2", "http://b"])
    found = getattr(bulk, operation)(column)
    assert isinstance(found, pl.Series) and found.name == "url"
    rows = getattr(bulk, operation)(column.to_arrow())
    assert found.to_list() == pl.Series(rows).to_list()
