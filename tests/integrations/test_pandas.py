"""The accessor `uricodec` of pandas, against lists: every dtype of text, its index, its name and what it lacks."""

import inspect
import io
import subprocess
import sys
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.rows import in_columns, texts

from uricodec import bulk, dedup
from uricodec.bulk._operations import OPERATIONS
from uricodec.errors import UriError
from uricodec.integrations._operations import FUNCTIONS

pd = pytest.importorskip("pandas", reason="pandas is the extra pandas")
pa = pytest.importorskip("pyarrow", reason="pyarrow is part of the extra pandas")

import numpy as np  # noqa: E402

import uricodec.integrations.pandas  # noqa: E402, F401  (it registers the accessors)

pytestmark = pytest.mark.interop

ROWS = texts()
NAMES = [f"row {i}" for i in range(len(ROWS))]
OBJECTS = {"object": object, "string[python]": pd.StringDtype("python")}
ARROWS = {
    "string[pyarrow]": pd.StringDtype("pyarrow"),
    "arrow string": pd.ArrowDtype(pa.string()),
    "arrow large_string": pd.ArrowDtype(pa.large_string()),
    "arrow dictionary": pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
    "arrow binary": pd.ArrowDtype(pa.binary()),
    "category": "category",
}
if int(pd.__version__.partition(".")[0]) >= 3:
    OBJECTS["str, python"] = pd.StringDtype("python", na_value=np.nan)
    ARROWS["str"] = "str"
DTYPES = OBJECTS | ARROWS
LISTED = [kind for kind in ARROWS if kind.startswith("arrow ")]  # whose lists are those of Arrow
CALLS = [(name, row.required) for name, row in OPERATIONS.items()] + [
    ("quote", {"safe": "", "plus": True}),
    ("requote", {"errors": "null"}),
    ("unquote", {"plus": True, "errors": "null"}),
    ("unquote", {"errors": "keep", "threads": 2}),
    ("normalize_uri", {"level": "iri", "errors": "null"}),
    ("normalize_urn", {"level": "namespace", "errors": "null"}),
    ("is_valid_uri", {"production": "URI", "errors": "null"}),
    ("check_urn", {"rfc": "2141"}),
    ("query_value", {"name": ["q", "é"], "errors": "null"}),
    ("fingerprint", {"kind": "urn", "secret": b"k"}),
    ("fingerprint", {"kind": "uri", "level": "scheme", "secret": b"k", "errors": "keep"}),
]
IDS = [f"{name} {','.join(map(str, given.values()))}" for name, given in CALLS]


def made(kind, rows=ROWS, names=NAMES, name="x"):
    if kind == "arrow binary":
        rows = [row if row is None else row.encode() for row in rows]
    return pd.Series(rows, dtype=DTYPES[kind], index=names, name=name)


def fields_of(name, given):
    """The columns of the result; none if it is a Series."""
    if isinstance(given.get("name"), list):
        return given["name"]
    return [] if OPERATIONS[name].result == "list" else [*OPERATIONS[name].fields]


def plain(column):
    """The rows of a Series, None for those that are missing."""
    return [None if pd.isna(value) is True else value for value in column.tolist()]


def of_list(rows, name, given, kind):
    """What the rows are to be. Text that Arrow holds has its offsets in octets."""
    if OPERATIONS[name].result == "diagnostic" and kind in ARROWS:
        rows = [row.encode() if isinstance(row, str) else row for row in rows]
    found = FUNCTIONS[name](rows, **given)
    return in_columns(OPERATIONS[name].fields, found) if name == "query_pairs" and kind in LISTED else found


@pytest.mark.parametrize(("name", "given"), CALLS, ids=IDS)
def test_every_operation(name, given):
    for kind in DTYPES:
        print(kind)  # shown of a test that fails
        check_operation(name, given, kind)


def check_operation(name, given, kind):
    whole = made(kind)
    for column in whole, whole[4:11], whole[:0], whole[::-2], pd.concat([whole, whole[2:5]]):
        before = column.copy(deep=True)
        done = getattr(column.uricodec, name)(**given)
        want = of_list(plain(column), name, given, kind)
        assert done.index.equals(column.index)
        if fields := fields_of(name, given):
            assert list(done.columns) == fields
            for field in done.columns:
                assert plain(done[field]) == [row and row[field] for row in want]
        else:
            assert plain(done) == want
            assert done.name == "x"
        assert column.equals(before)
        check_dtypes(done, column, OPERATIONS[name].result, want)


def check_dtypes(done, column, result, want):
    values = column.cat.categories.dtype if column.dtype == "category" else column.dtype
    arrow, nullable = isinstance(values, pd.ArrowDtype), isinstance(values, pd.StringDtype) and values.na_value is pd.NA
    if result == "text" and column.dtype == "category":
        assert done.dtype == "category" and done.cat.categories.dtype == values
    elif result == "text":
        assert done.dtype == column.dtype
    elif result == "verdict" and arrow:
        assert done.dtype == "bool[pyarrow]"
    elif result == "verdict":
        assert done.dtype == ("boolean" if nullable or None in want else bool)
    elif result == "diagnostic":
        assert done["offset"].dtype == ("int64[pyarrow]" if arrow else "Int64")
        assert arrow or done["code"].dtype == values
    elif result == "struct" or (result == "component" and isinstance(done, pd.DataFrame)):
        assert arrow or set(done.dtypes) == {values}
    elif result == "component":
        assert arrow or done.dtype == values
    elif result == "list":
        assert arrow == isinstance(done.dtype, pd.ArrowDtype) and (arrow or done.dtype == object)
    else:
        assert done.dtype == (pd.ArrowDtype(pa.binary(16)) if arrow else object)


@given(st.lists(st.none() | st.text("%4A1Cc3é:/?#+ urn", max_size=30), max_size=40), st.sampled_from(list(DTYPES)))
def test_unquote_is_that_of_the_library(rows, kind):
    done = made(kind, rows, range(len(rows))).uricodec.unquote()
    decode = urllib.parse.unquote_to_bytes if kind == "arrow binary" else urllib.parse.unquote
    assert plain(done) == [row if row is None else decode(row) for row in rows]


def test_missing_values_stay_the_same_objects():
    rows = ["%41", None, float("nan"), pd.NA, pd.NaT, b"%FF", "\ud800"]
    column = pd.Series(rows, dtype=object)
    done = column.uricodec.unquote().tolist()
    assert done[0] == "A" and done[5:] == [b"\xff", "\ud800"]
    assert all(one is other for one, other in zip(done[1:5], rows[1:5], strict=True))
    assert column.uricodec.is_valid_uri().isna().tolist() == [False, *[True] * 4, False, False]
    assert column.uricodec.fingerprint().tolist()[1:5] == [None] * 4
    assert column.uricodec.split_urn().isna().all(axis=None)
    assert pd.Series(["%41", "b"], dtype=object).uricodec.unquote().tolist() == ["A", "b"]
    for dtype in DTYPES.values():
        assert pd.Series([None] * 2, dtype=dtype).uricodec.unquote().isna().all()
        assert pd.Series([None] * 2, dtype=dtype).uricodec.split_uri().isna().all(axis=None)


def test_rows_that_do_not_change_are_the_same_objects():
    column = pd.Series(["/plain" * 9, "%41"], dtype=object)
    assert column.uricodec.unquote()[0] is column[0]


def test_categories_of_str_and_others():
    for other in b"b", 1:
        with pytest.raises(TypeError, match="categories must be all str or all bytes"):
            pd.Series(["%41", other], dtype="category").uricodec.unquote()
    assert pd.Series([b"%41"], dtype="category").uricodec.unquote().tolist() == [b"A"]


def test_an_index_of_objects_stays_one():
    index = pd.Index(["%41", None], dtype=object).uricodec.unquote()
    assert index.dtype == object and index.tolist() == ["A", None]


def test_lists_of_arrow_have_no_accessor():
    column = pd.Series([["a"]], dtype=pd.ArrowDtype(pa.list_(pa.string())))
    assert not hasattr(column, "uricodec")
    with pytest.raises(AttributeError, match="expects text or bytes, got list"):
        column.uricodec  # noqa: B018


def test_categories():
    """Values that become the same are one, in their order; those that are rejected are missing; codes of -1 stay."""
    kinds = pd.CategoricalDtype(["%zz", "b%20", "b ", "a"], ordered=True)
    column = pd.Series(["a", "b ", None, "b%20", "%zz"], dtype=kinds)
    done = column.uricodec.unquote(errors="null")
    assert plain(done) == ["a", "b ", None, "b ", None]
    assert done.cat.categories.tolist() == ["b ", "a"] and done.cat.ordered
    with pytest.raises(UriError, match='row 4: "%" not followed by two hexadecimal digits'):
        column.uricodec.unquote(errors="raise")
    assert plain(column[:4].uricodec.unquote(errors="raise")) == ["a", "b ", None, "b "]
    for empty in pd.Series([], dtype="category"), pd.Series([None], dtype="category"):
        assert empty.uricodec.quote().isna().all() and len(empty.uricodec.quote()) == len(empty)
        assert len(empty.uricodec.check_uri()) == len(empty.uricodec.is_valid_uri()) == len(empty)


def test_dictionaries_of_arrow():
    """What pandas counts and groups is what it does of plain rows."""
    kinds = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    done = pd.Series(["%41", "A", "%zz", None, "b"], dtype=kinds).uricodec.unquote(errors="null")
    assert done.dtype == kinds and plain(done) == ["A", "A", None, None, "b"]
    assert done.nunique() == 2 and done.value_counts().to_dict() == {"A": 2, "b": 1}
    assert done.groupby(done).size().to_dict() == {"A": 2, "b": 1}


def test_indexes():
    index = pd.Index(["/a%20b", "/c"], name="path")
    decoded = index.uricodec.unquote()
    assert isinstance(decoded, pd.Index) and decoded.dtype == index.dtype and decoded.name == "path"
    assert decoded.tolist() == ["/a b", "/c"]
    assert index.uricodec.is_valid_uri().tolist() == [True, True]
    assert index.uricodec.is_valid_uri("URI").tolist() == [False, False]
    parts = index.uricodec.split_uri()
    assert parts.index.equals(index) and parts["path"].tolist() == index.tolist()
    assert pd.CategoricalIndex(["%41", "A"]).uricodec.unquote().categories.tolist() == ["A"]


def test_indexes_of_rows_that_repeat():
    column = pd.Series(["%41", "%42", "%43"], index=[1, 1, 0])
    assert column.uricodec.unquote().tolist() == ["A", "B", "C"]
    assert column.uricodec.split_uri()["path"].tolist() == column.tolist()
    frame = pd.DataFrame({"path": column})
    frame["path"] = frame["path"].uricodec.unquote()
    assert frame.index.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1]),
        pd.Series([True]),
        pd.Series([1.5]),
        pd.Series([pd.Timestamp(0)]),
        pd.Series(pd.Categorical([1, 2])),
        pd.Series([1], dtype=pd.ArrowDtype(pa.int64())),
        pd.Index([1]),
        pd.MultiIndex.from_tuples([("a", "b")]),
    ],
    ids=lambda column: f"{type(column).__name__} {column.dtype}",
)
def test_columns_of_no_text(column):
    assert not hasattr(column, "uricodec")
    with pytest.raises(AttributeError, match="expects text or bytes, got"):
        column.uricodec  # noqa: B018


def test_objects_of_another_type_are_errors_or_null():
    others = [1, 1.5, True, ["a"], np.int64(7)]
    column = pd.Series(["%41", None, *others, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "ns")], dtype=object)
    faults = bulk.InvalidRows()
    done = column.uricodec.unquote(invalid=faults, errors="null")
    assert faults.rows == [(row, "type", 0) for row in range(2, 7)] and done[0] == "A"
    for row, value in enumerate(column):
        assert row == 0 or done[row] is (None if 2 <= row < 7 else value)
    valid = column.uricodec.is_valid_iri("IRI-reference", errors="null")
    assert valid.dtype == "boolean" and valid.isna().tolist() == [False] + [True] * 10
    assert column.uricodec.split_uri(errors="null").isna().all(axis=1).tolist() == [False] + [True] * 10
    assert column.uricodec.fingerprint(errors="null").isna().tolist() == [False] + [True] * 10
    for method in "unquote", "check_uri", "is_valid_iri":  # "null" is the default of the others
        with pytest.raises(TypeError, match=r"^expected str, bytes-like or None at row 2, got int$"):
            getattr(column.uricodec, method)()


def test_objects_that_are_no_text():
    for rows in ["a", 1], [None, 1.5]:
        with pytest.raises(TypeError, match=r"^expected str, bytes-like or None at row 1, got (int|float)$"):
            pd.Series(rows, dtype=object).uricodec.unquote(errors="raise")


@pytest.mark.parametrize(("name", "given"), CALLS, ids=IDS)
def test_operations_of_bulk_are_those_of_the_accessor(name, given):
    for kind in DTYPES:
        column = made(kind)
        faults, others = bulk.InvalidRows(), bulk.InvalidRows()
        done = getattr(bulk, name)(column, invalid=faults, **given)
        want = getattr(column.uricodec, name)(invalid=others, **given)
        (pd.testing.assert_frame_equal if fields_of(name, given) else pd.testing.assert_series_equal)(done, want)
        assert faults.rows == others.rows, kind
        index = pd.Index(column, name="y")
        of_index, want = getattr(bulk, name)(index, **given), getattr(index.uricodec, name)(**given)
        assert type(of_index) is type(want) and of_index.equals(want), kind


def test_columns_of_frames():
    frame = pd.DataFrame({"u": ["%41", None, "b"]}, index=[3, 3, 1])
    frame["d"] = bulk.unquote(frame["u"])
    frame["valid"] = bulk.is_valid_uri(frame["u"], "URI-reference")
    assert plain(frame["d"]) == ["A", None, "b"] and frame["d"].dtype == frame["u"].dtype
    assert frame["valid"].dtype == "boolean" and frame.index.tolist() == [3, 3, 1]
    assert frame.assign(path=bulk.split_uri(frame["u"])["path"])["path"].tolist()[::2] == ["%41", "b"]


def test_columns_that_are_no_text_in_bulk():
    for column in pd.Series([1]), pd.Index([1.5]), pd.Series([True]), pd.MultiIndex.from_tuples([("a", "b")]):
        with pytest.raises(TypeError, match=r"^expected text or bytes, got (Series|Index|MultiIndex) of dtype"):
            bulk.unquote(column, errors="null")
    with pytest.raises(TypeError, match="output"):
        bulk.unquote(pd.Series(["a"]), output=io.BytesIO())


def test_a_series_that_has_a_row_of_any_name():
    assert bulk.unquote(pd.Series(["%41"], index=["readinto"])).tolist() == ["A"]


@pytest.mark.parametrize("kind", [kind for kind in DTYPES if kind != "arrow binary"])
def test_errors_and_faults(kind):
    column = made(kind, ["/ok", "é100%"], [5, 6])
    with pytest.raises(UriError, match='row 1: "%" not followed by two hexadecimal digits'):
        column.uricodec.unquote(errors="raise")
    faults = bulk.InvalidRows()
    assert plain(column.uricodec.unquote(errors="keep", invalid=faults)) == ["/ok", "é100%"]
    assert faults.rows == [(1, "percent", 4 if kind in OBJECTS else 5)]
    with pytest.raises(ValueError, match="errors of unquote must be one of"):
        column.uricodec.unquote(errors="ignore")
    with pytest.raises(TypeError, match=r"unquote.* 'line_terminator'"):
        column.uricodec.unquote(line_terminator=b"\0")


@pytest.mark.parametrize("kind", [kind for kind in DTYPES if kind != "arrow binary"])
def test_the_same_key_gives_the_same_groups(kind):
    rows = ["urn:example:a", "URN:Example:a", "urn:example:A", "no urn", None, "no urn"]
    column = made(kind, rows, range(6))
    prints = column.uricodec.fingerprint("urn", secret=b"k", errors="keep")
    assert plain(prints) == bulk.fingerprint(rows, "urn", secret=b"k", errors="keep")
    assert plain(column[~prints.duplicated()]) == ["urn:example:a", "urn:example:A", "no urn", None]


def test_signatures_and_documentation():
    for name, function in FUNCTIONS.items():
        own = [each.name for each in OPERATIONS[name].parameters]
        for accessor in pd.Series(["a"]).uricodec, pd.Index(["a"]).uricodec:
            method = getattr(accessor, name)
            assert list(inspect.signature(method).parameters) == [*own, "errors", "invalid", "threads"]
            assert method.__qualname__ == f"{type(accessor).__name__}.{name}"
            assert method.__doc__.startswith(function.__doc__.splitlines()[0])


def test_objects_need_no_pyarrow():
    code = (
        "import sys, uricodec.bulk; assert 'pandas' not in sys.modules\n"
        "import pandas, uricodec.integrations.pandas; assert not {'polars', 'duckdb'} & set(sys.modules)\n"
        "sys.modules['pyarrow'] = None\n"
        "assert pandas.Series(['%41'], dtype=object).uricodec.unquote().tolist() == ['A']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dtype", [object, "str", "string", "category", "string[pyarrow]", pd.ArrowDtype(pa.string())])
def test_columns_as_arguments(dtype):
    """Rows are matched by position, so two Series have one index."""
    refs = pd.Series(["../g", None, "x", "y"], index=[5, 6, 7, 8], name="q", dtype=dtype)
    bases = pd.Series(["http://a/b/c/d", "http://b", "/", None], index=refs.index, dtype=dtype)
    want = ["http://a/b/g", None, "x", None]
    for column in bases, bases.tolist(), bases.to_numpy(object), pd.Index(bases):
        made = refs.uricodec.resolve(column)
        assert (made.index.tolist(), made.name) == ([5, 6, 7, 8], "q")
        assert [None if pd.isna(row) else row for row in made] == want
        assert made.dtype == (refs.cat.categories.dtype if dtype == "category" else refs.dtype)
    found = bulk.resolve(refs.to_numpy(object), bases)
    assert [None if pd.isna(row) else row for row in found] == want
    with pytest.raises(ValueError, match=r"^base has another index than the column; align it first, with reindex\(\)$"):
        refs.uricodec.resolve(bases.reset_index(drop=True))
    with pytest.raises(TypeError, match="expected text or bytes"):
        refs.uricodec.resolve(pd.Series([1, 2, 3, 4], index=refs.index))


@pytest.mark.parametrize("dtype", [*OBJECTS.values(), *ARROWS.values()], ids=[*OBJECTS, *ARROWS])
def test_unique_returns_what_came_in(dtype):
    rows = ["HTTP://a/", None, "http://a/", "http://b/", None]
    texts = [row and row.encode() for row in rows] if dtype == ARROWS["arrow binary"] else rows
    series = pd.Series(texts, index=[9, 8, 7, 6, 5], name="url", dtype=dtype)
    for keep, kept in ("first", [9, 8, 6]), ("last", [7, 6, 5]):
        found = dedup.unique(series, "uri", keep=keep)
        pd.testing.assert_series_equal(found, series.loc[kept])
    index = dedup.unique(pd.Index(series), "uri")
    pd.testing.assert_index_equal(index, pd.Index(series)[[0, 1, 3]])
