"""The rows of a Column as objects: a sequence, a list, a NumPy array, and its repr; pyarrow is the reference."""

import subprocess
import sys

import pytest
from support.arrow_memory import Lent

from uricodec import ByteSet, bulk
from uricodec.dedup._identifiers import borrow

WORDS = [
    "/a%20b",
    None,
    "",
    "/plain/and/longer/than/a/view/has/room",
    "%C3%A9",
    "urn:example:a?=q#f",
    "http://u@h/?&a=b&c",
]
OPERATIONS = {
    "quote": {},
    "unquote": {"errors": "null"},
    "is_valid_uri": {},
    "check_urn": {},
    "split_uri": {},
    "split_urn": {},
    "query_pairs": {},
    "path_segments": {"errors": "null"},
    "fingerprint": {"secret": "k"},
}


def columns(pa, name, how):
    """Results of every layout, in chunks and slices."""
    function = getattr(bulk, name)
    texts = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
    for type_ in texts:
        words = [word if word is None or "string" in str(type_) else word.encode() for word in WORDS]
        whole = pa.array(words, type_)
        yield function(whole, **how)
        yield function(whole[2:], **how)
        yield function(pa.chunked_array([whole[:3], whole[:0], whole[3:]]), **how)
        if "view" not in str(type_):
            for index in pa.int8(), pa.uint16(), pa.uint32(), pa.int64():
                source = whole.dictionary_encode().cast(pa.dictionary(index, type_))
                yield function(pa.chunked_array([source[1:], source[:2]]), **how)
    yield function(pa.nulls(3), **how)
    yield function(pa.array([], pa.string()), **how)
    yield function(pa.chunked_array([], pa.string()), **how)
    yield function(pa.table({"a": WORDS}).slice(1), **how)
    yield function(pa.array(WORDS * 500), **how)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_rows_are_those_of_pyarrow(name):
    pa = pytest.importorskip("pyarrow")
    for column in columns(pa, name, OPERATIONS[name]):
        want = pa.chunked_array(column).to_pylist()
        assert list(column) == column.to_pylist() == want and len(column) == len(want)
        assert [type(row) for row in column] == [type(row) for row in want]
        some = range(-len(want), len(want), max(len(want) // 9, 1))
        assert [column[i] for i in some] == [want[i] for i in some]
        assert list(reversed(column[:9])) == want[:9][::-1]
        assert all(row in column for row in want[:9]) and "no such row" not in column
        for rows in slice(None), slice(1, 4), slice(-3, None), slice(4, 2), slice(2, 99), slice(-99, 3):
            part = column[rows]
            assert type(part) is bulk.Column and part.to_pylist() == want[rows] and len(part) == len(want[rows])
            whole = pa.chunked_array(part)
            whole.validate(full=True)
            assert whole.to_pylist() == pa.array(part).to_pylist() == want[rows]
            assert part[1:].to_pylist() == want[rows][1:]
        assert repr(column).startswith(f"<Column of {len(want)} ")


def test_indices_of_rows():
    column = bulk.is_valid_uri(b"a:b\na b\n")

    class Index:
        def __index__(self):
            return 1

    assert (column[0], column[True], column[Index()]) == (True, False, False)
    for index in 2, -3, 1 << 70, -(1 << 70):
        with pytest.raises(IndexError, match=f"^row index {index} is out of range for 2 rows$"):
            column[index]
    for index in "a", 1.0, None, (0, 1):
        with pytest.raises(TypeError):
            column[index]
    for step in 2, -1:
        with pytest.raises(ValueError, match=f"^the step of a slice must be 1, got {step}$"):
            column[::step]
    with pytest.raises(TypeError):
        column[0] = True
    assert column == column and column != bulk.is_valid_uri(b"a:b\na b\n") and hash(column)  # noqa: PLR0124


def test_reprs():
    assert repr(bulk.is_valid_uri(b"a:b\n" * 6)) == "<Column of 6 bool: True, True, True, True, True, ...>"
    assert repr(bulk.is_valid_uri(b"")) == "<Column of 0 bool>"
    assert (
        repr(bulk.path_segments(Lent([b"/a/b", None], "U")))
        == "<Column of 2 large_list<large_string>: ['a', 'b'], None>"
    )
    assert repr(bulk.query_pairs(b"?a\n"))[:55] == "<Column of 1 list<struct<name, value>>: [{'name': 'a', "
    assert repr(bulk.check_uri(b"a b\n")) == "<Column of 1 struct<code, offset>: {'code': 'path', 'offset': 1}>"
    views, indices = Lent([b"%41" * 99, None], "vu"), Lent([b"a"], "U", [0, 0])
    long = bulk.unquote(views)
    assert repr(long) == f"<Column of 2 string_view: '{'A' * 39}..., None>"
    assert repr(bulk.quote(indices)) == "<Column of 2 dictionary<values=large_string, indices=int32>: 'a', 'a'>"
    assert repr(bulk.quote(Lent([b"a", b"b"], "z"))[1:]) == "<Column of 1 binary: b'b'>"


def test_text_that_is_not_utf8():
    """Bytes that do not change are not checked."""
    column = bulk.requote(Lent([b"a", b"\xff"]), ByteSet(range(256)))
    assert column[0] == "a" and repr(column) == "<Column of 2 string: 'a', '\ufffd'>"
    with pytest.raises(UnicodeDecodeError):
        column[1]


@pytest.mark.interop
def test_arrays_of_numpy():
    np = pytest.importorskip("numpy")
    column = bulk.split_urn(b"urn:example:a\nno urn\n")
    array = np.asarray(column)
    assert array.dtype == object and array.shape == (2,) and array.tolist() == column.to_pylist()
    verdicts = bulk.is_valid_urn(b"urn:example:a\nno urn\n")
    assert np.array(verdicts, dtype=bool).tolist() == [True, False] == np.array(verdicts).tolist()
    prints = np.asarray(bulk.fingerprint(b"\0\n", secret="k"))
    assert prints[0] == bulk.fingerprint([b"\0"], secret="k")[0]
    assert column.__array__(copy=True).shape == column.__array__(object, copy=None).shape == (2,)
    with pytest.raises(ValueError, match="cannot make a NumPy array of a Column without a copy"):
        column.__array__(copy=False)
    assert np.asarray(bulk.split_urn(b"")).shape == (0,)


@pytest.mark.interop
def test_a_column_as_a_column_of_pandas():
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"u": ["%41", "b", None]})
    frame["d"] = bulk.unquote(pa.array(["%41", "b", None]))
    frame["valid"] = bulk.is_valid_uri(pa.array(["a:b", "a b", "c:d"]))
    assert frame["d"].tolist()[:2] == ["A", "b"] and frame["d"].isna().tolist() == [False, False, True]
    assert frame["valid"].tolist() == [True, False, True]


def test_no_library_is_imported():
    code = (
        "import sys\nfrom uricodec import bulk\n"
        "column = bulk.split_urn(b'urn:example:a\\n' * 2)\n"
        "assert column[1]['nid'] == 'example' and len(list(column[:1])) == 1 and repr(column)\n"
        "assert not {'numpy', 'pyarrow', 'pandas'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rows_that_cannot_be_read():
    source = Lent([b"a", b"b"], "u", [0, 9, -1])
    column = bulk.quote(source)
    assert column[0] == "a"
    for row in 1, 2:
        with pytest.raises(ValueError, match="indices out of range"):
            column[row]
    pa = pytest.importorskip("pyarrow")
    numbers = borrow(pa.array([1.5]))
    with pytest.raises(TypeError, match=r"^expected a column of text, bytes, bool, int64, structs or lists, got 'g'$"):
        numbers.to_pylist()
