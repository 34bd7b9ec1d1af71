"""Dictionaries whose values become equal or null: what consumers count, group and convert is what plain rows give."""

import io
import itertools
import sys
import urllib.parse
from collections import Counter

import pytest
from support import row_by_row as naive
from support.arrow_memory import Lent
from support.limits import lowered

from uricodec import bulk, dedup
from uricodec.bulk._operations import OPERATIONS
from uricodec.errors import UriError

pa = pytest.importorskip("pyarrow")

import pyarrow.compute as pc  # noqa: E402
from pyarrow import parquet  # noqa: E402

INDICES = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
# The operations that give text, and rows of which some become equal and some null, as each of them does it.
MERGED = [
    ("quote", {}, ["a b", "a%20b", None, "\x00", "x" * 40]),
    ("unquote", {"errors": "null"}, ["%41", "A", "%zz", "%4a" * 20, "J" * 20, "A", None]),
    ("requote", {"errors": "null"}, ["a b", "a%20b", "%", "a%20b"]),
    ("normalize_uri", {"errors": "null"}, ["HTTP://a/", "http://a/", "http://a/%zz", "http://a/b/.."]),
    ("normalize_urn", {"errors": "null"}, ["URN:ISBN:1", "urn:isbn:1", "urn:ISBN:1", "no urn", "", "no urn"]),
    ("iri_to_uri", {"errors": "null"}, ["http://a/é", "http://a/%C3%A9", "http://a/ "]),
    ("uri_to_iri", {}, ["http://a/é", "http://a/%C3%A9", "http://a/%zz"]),
]
VALUES = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


def check_dictionary(result):
    """What consumers expect of a dictionary: distinct values, no nulls among them. Returns its rows."""
    whole, one = pa.chunked_array(result), pa.array(result)
    for array in *whole.chunks, one:
        array.validate(full=True)
        values = array.dictionary.to_pylist()
        assert len(set(values)) == len(values) and None not in values
        assert array.null_count == array.to_pylist().count(None)
    assert one.to_pylist() == whole.to_pylist()
    return whole.to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "how", "words"), MERGED, ids=[name for name, _, _ in MERGED])
def test_values_that_become_equal_are_one(name, how, words):
    for values in VALUES:
        check_equal_values(name, how, words, values)


def check_equal_values(name, how, words, values):
    binary = "binary" in str(values)
    if binary:
        words = [word and word.encode() for word in words]
    for index in INDICES:
        places = pa.array([*range(len(words)), None, 0, *range(len(words))], index)
        source = pa.DictionaryArray.from_arrays(places, pa.array(words, values))
        other = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], index), pa.array(words[::-1], values)[1:])
        for column in source, source[2:], source[:0], pa.chunked_array([source[3:], source[:2], other, other[1:]]):
            result = getattr(bulk, name)(column, **how)
            want = getattr(bulk, name)(column.to_pylist(), **how)
            assert check_dictionary(result) == want, source.type
            whole = pa.chunked_array(result)
            assert whole.type == column.type == pa.array(result).type
            counts = {pair["values"]: pair["counts"] for pair in pc.value_counts(pa.array(result)).to_pylist()}
            assert counts == Counter(want)


@pytest.mark.interop
@pytest.mark.parametrize("values", VALUES, ids=str)
def test_consumers_take_dictionaries_whose_values_became_equal(values):
    pytest.importorskip("pandas", reason="pandas is not installed")
    words = ["%41", "A", "%zz", "b"] if "string" in str(values) else [b"%41", b"A", b"%zz", b"b"]
    a, b, same = bulk.unquote([words[0], words[3], words[2]], errors="replace")
    source = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3, 0], pa.int8()), pa.array(words, values))
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(words[::-1], values))
    for column in source, pa.chunked_array([source, source[1:]]), pa.chunked_array([source, other]):
        done = pa.chunked_array(bulk.unquote(column, errors="null"))
        rows = done.to_pylist()
        assert set(rows) <= {a, b, None, same}
        if "view" not in str(values):  # which pyarrow does not convert
            frame = done.to_pandas()
            assert frame.nunique() == len({*rows} - {None})
            assert [None if each != each else each for each in frame] == rows  # noqa: PLR0124
            parquet.write_table(pa.table({"a": done}), sink := io.BytesIO())
            assert parquet.read_table(sink)["a"].to_pylist() == rows
            one = pa.table({"a": pa.array(bulk.unquote(column, errors="null"))})
            assert one.group_by("a").aggregate([([], "count_all")]).num_rows == len(set(rows))


def test_a_dictionary_whose_values_stay_distinct_keeps_its_indices():
    source = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1], pa.int16()), pa.array(["%41", "b"]))
    assert pa.array(bulk.unquote(source)).indices.buffers()[1].address == source.indices.buffers()[1].address


@pytest.mark.slow
def test_many_values_that_become_equal():
    """More than one slot of the table is taken, and values that are not equal have slots beside each other."""
    words = [f"%4{i % 10}{i // 3}" for i in range(20_000)]
    rows = [*range(20_000), *range(0, 20_000, 7)]
    for values in pa.string(), pa.string_view():
        source = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), pa.array(words, values))
        assert check_dictionary(bulk.unquote(source)) == [urllib.parse.unquote(words[row]) for row in rows]


def test_the_order_of_a_dictionary_as_long_as_there_is_one():
    def ordered(words, *more):
        columns = [
            pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(each), ordered=True)
            for each in (words, *more)
        ]
        done = bulk.unquote(pa.chunked_array(columns), errors="null")
        for array in pa.chunked_array(done).chunks:
            assert array.type.ordered == pa.chunked_array(done).type.ordered
        return pa.chunked_array(done).type.ordered, pa.array(done).type.ordered

    assert ordered(["%41", "A", "b"]) == ordered(["%41", "%zz", "A", "b"]) == (True, True)
    assert ordered(["%41", "b", "A"]) == (False, False)
    assert ordered(["a", "b"], ["a", "b", "c"]) == ordered(["a", "c"], ["b"]) == (True, True)
    assert ordered(["a", "b"], ["b", "a"]) == (True, False)  # each chunk has its order, and there is none of both
    assert ordered(["a", "b"], ["%41", "x", "A"]) == (False, False)


def test_indices_that_are_too_narrow_for_joined_dictionaries():
    one = pa.DictionaryArray.from_arrays(pa.array([0, 99], pa.int8()), pa.array([f"%41{i}" for i in range(100)]))
    for start, type_ in (28, pa.int8()), (29, pa.int64()):
        words = pa.array([f"A{i}" for i in range(start, start + 100)])
        other = pa.DictionaryArray.from_arrays(pa.array([99, 0], pa.int8()), words)
        result = bulk.unquote(pa.chunked_array([one, other]))
        assert check_dictionary(result) == ["A0", "A99", f"A{start + 99}", f"A{start}"]
        assert pa.array(result).type.index_type == type_


def test_tables_of_a_dictionary():
    chunks = [pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(words)) for words in (["%41", "A"], ["A", "c"])]
    result = bulk.unquote(pa.table({"a": pa.chunked_array(chunks)}).slice(1))
    assert pa.table(result)["a"].to_pylist() == ["A", "c", "A"]
    one = pa.array(result)
    one.validate(full=True)
    assert one.field(0).to_pylist() == ["A", "c", "A"] and one.field(0).dictionary.to_pylist() == ["A", "c"]


WORDS = [
    "http://h.example/a?x=1&y=%41",
    "urn:isbn:1",
    "",
    None,
    "no uri\x00",
    "http://[::1",
    "http://é.example/%zz",
    "m:é",
]
OTHERS = [(name, how) for name, how in naive.CALLS if OPERATIONS[name].result != "text"]


def outcome(operation, source, /, **how):
    """The results and their type, and the invalid rows; or the error."""
    invalid = bulk.InvalidRows()
    try:
        made = pa.chunked_array(getattr(bulk, operation)(source, invalid=invalid, **how))
    except UriError as error:
        return str(error), error.row
    made.validate(full=True)
    return made.type, made.to_pylist(), made.null_count, invalid.count, invalid.rows


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({name for name, _ in OTHERS}))
def test_other_results_of_dictionaries_are_plain(name):
    """Also if the dictionary is processed as a whole, and if it has more values than there are rows."""
    ways = [how for each, how in OTHERS if each == name]
    rows = [[*range(8), None, 0, 0, 5, 2], [8, None, 0, *range(9)], [], [4, 1, 7] * 3]
    chunks = [pa.array(numbers, pa.int8()) for numbers in rows]
    for values in pa.string(), pa.binary(), pa.large_string(), pa.string_view():
        words, more = pa.array(WORDS).cast(values), pa.array([*WORDS[::-1], "a:b"]).cast(values)
        parts = [pa.DictionaryArray.from_arrays(*of) for of in zip(chunks, (words, more, more, words), strict=True)]
        cut = pa.chunked_array([parts[0][4:], parts[1][:0]])
        for column in pa.chunked_array(parts), cut, parts[1][1:], parts[0][1:4]:
            plain = pa.array(column.to_pylist(), values)
            for how, errors in itertools.product(ways, (*naive.policies(name), "raise")):
                made, want = outcome(name, column, errors=errors, **how), outcome(name, plain, errors=errors, **how)
                assert made == want, (values, how, errors)


@pytest.mark.parametrize("limit", [None, 1000, 100])
@pytest.mark.parametrize("name", ["host", "split_uri", "path_segments", "query_pairs"])
def test_offsets_of_copies_of_results_become_large_ones(name, limit):
    long = "h" * 50
    words = [f"http://{long}/{long}/b?x={long}&y", "s:"]
    source = pa.DictionaryArray.from_arrays(pa.array([0, 1, None] * 30, pa.int8()), words)
    with lowered(limit_of_offsets=limit):
        made = outcome(name, source)
        assert made == outcome(name, pa.array(source.to_pylist()))
    assert ("large" in str(made[0])) == (limit is not None)


def test_unique_rows_that_refer_to_a_null_of_a_dictionary():
    words = pa.array(["a", None, "b", "a"])
    source = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 2, 3, 1], pa.int8()), words)
    for column in source, pa.chunked_array([source[:1], source[1:]]), pa.table({"a": source}):
        result = dedup.unique(column, "bytes")
        rows = pa.table(result)["a"] if isinstance(column, pa.Table) else pa.chunked_array(result)
        assert rows.to_pylist() == [None, "a", "b"] and rows.null_count == 1
        assert all(chunk.dictionary.to_pylist() == ["a", "b"] for chunk in rows.chunks)
    assert check_dictionary(dedup.unique(pa.DictionaryArray.from_arrays([0, 1, 0], pa.nulls(2)), "bytes")) == [None]


def test_indices_without_a_value_are_rejected():
    source = Lent([b"%41", b"A"], "u", [0, 1, 2])
    with pytest.raises(ValueError, match="indices out of range"):
        bulk.unquote(source)


def test_values_with_decreasing_offsets_are_rejected():
    """Also if no row refers to them."""
    offsets = b"".join(end.to_bytes(4, sys.byteorder) for end in (0, 0, 9, 1))
    words = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(each) for each in (b"\x06", offsets, b"a")])
    source = pa.DictionaryArray.from_arrays(pa.array([0, None]), words, safe=False)
    with pytest.raises(ValueError, match="decreasing offsets"):
        dedup.unique(source, "bytes")


def test_values_of_the_type_null():
    column = pa.DictionaryArray.from_arrays(pa.array([0, None, 0]), pa.nulls(1))
    for function in bulk.is_valid_uri, bulk.split_uri, bulk.check_uri, bulk.fingerprint:
        assert list(function(column)) == [None, None, None]
