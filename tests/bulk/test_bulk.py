"""uricodec.bulk against a loop over single values (row_by_row.py), on every tier and in every kind of column."""

import ctypes
import io
import itertools
import mmap
import os
import random
import subprocess
import sys
import urllib.parse

import pytest
from reference import codec as naive_codec
from reference import rows as reference
from reference.codec import ill_formed
from support import operations
from support import row_by_row as naive
from support.limits import lowered
from support.operations import OPERATIONS

import uricodec
from uricodec import ByteSet, bulk, dedup, urn
from uricodec.errors import UriError
from uricodec.urn.namespaces import NAMESPACES

pa = pytest.importorskip("pyarrow")

LAYOUTS = {
    str: {
        "utf8": pa.string(),
        "large_utf8": pa.large_string(),
        "utf8_view": pa.string_view(),
    },
    bytes: {
        "binary": pa.binary(),
        "large_binary": pa.large_binary(),
        "binary_view": pa.binary_view(),
    },
}
INDICES = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]

CALLS = [call for call in operations.CALLS if call[0] != "fingerprint"]
POLICIES = {"unquote": ["replace", "keep", "null"], "requote": ["replace", "keep", "null"]}


def make_array(rows, type_):
    """An array that is a slice of one with more rows, so that nothing begins at 0."""
    before = [rows[0]] * 3 if rows else [None]
    return pa.array([*before, *rows, "x" if pa.types.is_string(type_) else None], type_)[
        len(before) : len(before) + len(rows)
    ]


def run(name, column, errors, invalid=None, /, **how):
    return getattr(bulk, name)(column, errors=errors, invalid=invalid, **how)


def as_rows(result):
    """A Column as a list, after pyarrow has validated it."""
    whole = pa.chunked_array(result)
    whole.validate(full=True)
    one = pa.array(result)
    one.validate(full=True)
    assert len(result) == len(whole) == len(one)
    assert one.to_pylist() == whole.to_pylist()
    return whole.to_pylist()


def policies(name):
    return POLICIES.get(name, ["keep", "null"])


# --- every operation, every layout ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.bulk], ids=lambda operation: operation.id)
def test_results_are_valid_arrays(operation):
    """As pyarrow sees them; what is in them is what is in a list."""
    for kind, layouts in LAYOUTS.items():
        rows = [row for row in reference.rows_of(operation.rows) if not (kind is str and ill_formed(row))]
        rows = [None if number % 7 == 0 else row.decode() if kind is str else row for number, row in enumerate(rows)]
        for errors in {*operation.policies[:2]} - {"raise"}:
            want = want_of(operation, rows, errors)
            for type_ in layouts.values():
                source = pa.chunked_array([make_array(part, type_) for part in (rows[:100], [], rows[100:])], type_)
                made = call(operation, source, errors)
                assert as_rows(made) == want, (type_, errors)
                assert operation.result != "text" or pa.chunked_array(made).type == type_


def want_of(operation, rows, errors):
    """A list's results; offsets count bytes in columns."""
    if operation.result == "diagnostic":
        rows = [row.encode() if isinstance(row, str) else row for row in rows]
    found = call(operation, rows, errors)
    return reference.in_columns(operation.fields, found) if operation.name == "query_pairs" else found


def call(operation, column, errors):
    return getattr(bulk, operation.name)(column, errors=errors, **operation.given)


@pytest.mark.parametrize("name", ["unquote", "normalize_urn", "is_valid_urn", "split_urn", "check_urn"])
def test_dictionaries(name):
    words = ["urn:A:%41", "unused %FF", "URN:X-Y:b%2f", "%FF", "x" * 50 + "%zz"]
    rows = [words[3], None, *(words[i] for i in (2, 4, 0, 3, 2))]
    for index, values in itertools.product(INDICES, LAYOUTS[str].values()):
        source = pa.DictionaryArray.from_arrays(pa.array([0, 3, None, 2, 4, 0, 3, 2], index), pa.array(words, values))
        source = source[1:]
        for errors in ["keep"] if name == "is_valid_urn" else naive.policies(name):
            want, rejected = naive.column(name, rows, errors)
            faults = bulk.InvalidRows()
            result = run(name, source, errors, faults)
            assert as_rows(result) == want, (source.type, errors)
            if name in ("unquote", "normalize_urn"):
                assert pa.array(result).type == source.type
                assert [row for row, _, _ in faults.rows] == [row for row, _ in rejected]
                assert faults.count == len(rejected)
        with pytest.raises(UriError, match="row"):
            run(name, source, "raise")


def test_a_value_that_no_row_refers_to_is_no_fault():
    source = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["a%41", "%FF"]))
    faults = bulk.InvalidRows()
    assert as_rows(bulk.unquote(source, errors="raise", invalid=faults)) == ["aA", "aA"]
    assert faults.count == 0


def test_dictionaries_of_chunks_are_done_once_and_joined():
    one = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["%41", "b"]))
    other = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), pa.array(["%43", "d"]))
    source = pa.chunked_array([one, one, other])
    assert as_rows(bulk.unquote(source)) == ["A", "b", "A", "b", "d", None, "C"]


def test_indices_of_any_width_are_joined():
    """Of 200 values, the last 72 have indices that are negative where the same bytes have a sign."""
    for index in INDICES:
        last = 100 if index == pa.int8() else 200
        values = pa.array([f"%41{i}" for i in range(last)])
        one = pa.DictionaryArray.from_arrays(pa.array([0, last - 1, None], index), values)
        other = pa.DictionaryArray.from_arrays(pa.array([last // 2, 0], index), values.slice(0, last - 1))
        whole = pa.array(bulk.unquote(pa.chunked_array([one, other])))
        whole.validate(full=True)
        assert whole.to_pylist() == ["A0", f"A{last - 1}", None, f"A{last // 2}", "A0"], index


@pytest.mark.parametrize("type_", [pa.string(), pa.string_view()], ids=str)
def test_dictionaries_of_which_values_are_null(type_):
    names = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["urn:example:a", None, "b"], type_))
    assert as_rows(bulk.is_valid_urn(names)) == [True, None, None, False]
    assert [row and row["nss"] for row in as_rows(bulk.split_urn(names))] == ["a", None, None, None]


def test_columns_of_nulls():
    for source in pa.nulls(3), pa.chunked_array([pa.nulls(2), pa.nulls(1)]):
        assert as_rows(bulk.unquote(source)) == [None] * 3
        assert as_rows(bulk.is_valid_urn(source)) == [None] * 3
        assert as_rows(bulk.split_urn(source)) == [None] * 3
        assert as_rows(bulk.fingerprint(source)) == [None] * 3
        assert as_rows(bulk.check_uri(source)) == [None] * 3


@pytest.mark.parametrize("name", ["quote", "unquote", "normalize_urn", "is_valid_uri", "split_uri", "fingerprint"])
def test_empty_columns(name):
    for type_ in [*LAYOUTS[str].values(), *LAYOUTS[bytes].values(), pa.null()]:
        nulls = [pa.nulls(2, type_)]
        nulls += [pa.DictionaryArray.from_arrays(pa.nulls(2, index), pa.nulls(0, type_)) for index in INDICES]
        for array in nulls:
            for source in array[:0], array[2:], pa.chunked_array([], array.type), pa.chunked_array([array[:0]]):
                column = getattr(bulk, name)(source)
                assert as_rows(column) == [], array.type
                if name in {"quote", "unquote", "normalize_urn"}:
                    assert pa.array(column).type == array.type


CUT = [["%", "41"], ["%", "41", "%42"], ["%", "100%", "%FF", "%C3%A9"], ["", "%", "", "42%43"], ["%", "08"]]


@pytest.mark.parametrize("rows", CUT)
def test_no_triplet_reaches_into_the_next_row(tier, rows):
    """Not even from a first row of one byte."""
    want = [urllib.parse.unquote(row) for row in rows]
    octets = pa.array([row.encode() for row in rows], pa.binary())
    assert as_rows(bulk.unquote(octets)) == [urllib.parse.unquote_to_bytes(row) for row in rows]
    for type_ in LAYOUTS[str].values():
        assert as_rows(bulk.unquote(pa.array(rows, type_))) == want
        for errors in "keep", "replace", "null":
            found, rejected = naive.column("requote", rows, errors)
            faults = bulk.InvalidRows()
            assert as_rows(bulk.requote(pa.array(rows, type_), errors=errors)) == found
            assert as_rows(bulk.requote(pa.array(rows, type_), errors=errors, invalid=faults)) == found
            assert [row for row, _, _ in faults.rows] == [row for row, _ in rejected]


def test_values_of_a_dictionary_that_are_null():
    """A row that refers to one is null, whatever is asked, and nothing is rejected."""
    for rows in ["urn:example:a", "no urn", "%"], [b"urn:example:a", b"no urn", b"%FF"]:
        source = pa.DictionaryArray.from_arrays(pa.array([0, 3, 1, None, 2, 3]), pa.array([*rows, None]))
        as_list = source.to_pylist()
        for name, how in CALLS:
            if name == "iri_to_uri" and isinstance(rows[0], bytes):
                continue
            found, want = bulk.InvalidRows(), bulk.InvalidRows()
            answers = as_rows(getattr(bulk, name)(source, invalid=found, **how))
            assert answers == getattr(bulk, name)(as_list, invalid=want, **how) or name.startswith("check")
            assert answers[1] is answers[3] is answers[5] is None
            assert [row for row, _, _ in found.rows] == [row for row, _, _ in want.rows]
    rejected = bulk.normalize_urn(pa.array(["urn:example:a", "bad"]).dictionary_encode(), errors="null")
    assert as_rows(bulk.check_urn(rejected, errors="raise")) == [None, None]
    assert as_rows(bulk.is_valid_urn(rejected, errors="raise")) == [True, None]


def test_chunks_that_share_a_dictionary_beside_a_large_one():
    with lowered(limit_of_offsets=40):
        shared, large = pa.array(["a b", "c"]), pa.array([" " * 30])
        indices = [pa.array(rows, pa.int32()) for rows in ([0, 1], [1, 0], [0])]
        chunks = [pa.DictionaryArray.from_arrays(*of) for of in zip(indices, (shared, shared, large), strict=True)]
        found = bulk.quote(pa.chunked_array(chunks))
        assert pa.chunked_array(found).to_pylist() == ["a%20b", "c", "c", "a%20b", "%20" * 30]


def test_an_ordered_dictionary_stays_one():
    for ordered in False, True:
        source = pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int8()), pa.array(["%41"]), ordered=ordered)
        other = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["%42"]), ordered=ordered)
        for column in source, pa.chunked_array([source, source[:1]]):
            assert pa.array(bulk.unquote(column)).type == source.type
        assert pa.array(bulk.unquote(pa.chunked_array([source, other]))).type.ordered == ordered


def test_chunks_stay_chunks():
    """Also where an object can be had as one array, too."""
    source = pa.chunked_array([pa.array(["%41"]).dictionary_encode(), pa.array(["%42"]).dictionary_encode()])
    again = pa.chunked_array(bulk.unquote(bulk.unquote(source)))
    assert again.type == source.type and again.num_chunks == 2
    kept = pa.chunked_array(dedup.unique(source, "bytes"))
    assert kept.type == source.type and kept.to_pylist() == ["%41", "%42"]


def test_items_of_a_wrong_type_have_their_row():
    for items, row in ([float("nan")], 0), (["a", b"b", None, 7], 3):
        for call in bulk.unquote, bulk.is_valid_uri, bulk.fingerprint:
            with pytest.raises(TypeError, match=rf"^expected str, bytes-like or None at row {row}, got (float|int)$"):
                call([{"a": "a:b", b"b": b"a:b"}.get(item, item) for item in items], errors="raise")
        with pytest.raises(TypeError, match=rf"^row {row}: a bytes-like object is required, not '(float|int)'$"):
            dedup.unique(items, "urn")


OTHERS = [7, True, 1.5, float("nan"), ["a"], {"a": 1}, object(), ctypes.c_int(65), memoryview(b"abcd")[::2]]


@pytest.mark.parametrize("name", sorted({name for name, _ in CALLS}))
def test_items_of_another_type_are_errors_or_null(name):
    for how in [how for each, how in CALLS if each == name]:
        check_items_of_another_type(name, how)


def check_items_of_another_type(name, how):
    rows = ["urn:example:%41", None, *OTHERS, b"urn:example:a"]
    if "relative-ref" in str(how) or name == "unsplit":
        rows[0], rows[-1] = "/%41", b"/a"
    if name == "agreed_host":
        rows[0], rows[-1] = "http://a/", b"http://1.2.3.4:8080"
    if name == "iri_to_uri":
        rows.pop()
    places = range(2, 2 + len(OTHERS))
    plain = getattr(bulk, name)([row if i not in places else None for i, row in enumerate(rows)], **how)
    for errors in naive.policies(name):
        faults = bulk.InvalidRows()
        if errors != "null":
            for row in places:
                with pytest.raises(TypeError, match=rf"^expected str, bytes-like or None at row {row - 1}, got "):
                    getattr(bulk, name)([None] * (row - 1) + [rows[row]], errors=errors, **how)
            continue
        done = getattr(bulk, name)(tuple(rows), errors=errors, invalid=faults, **how)
        assert faults.count == len(OTHERS) and faults.rows == [(place, "type", 0) for place in places]
        assert done == [None if i in places else want for i, want in enumerate(plain)]
    with pytest.raises(TypeError, match=r"^expected str, bytes-like or None at row 2, got int$"):
        getattr(bulk, name)([*rows[:2], 7], errors="raise", **how)


@pytest.mark.interop
def test_scalars_of_numpy_are_not_bytes():
    """They have a buffer, and single values and buffers of lines do not read it, either."""
    np = pytest.importorskip("numpy")
    numbers = [np.int64(65), np.float64("nan"), np.bool_(True), np.datetime64("NaT", "ns"), np.array(65)]
    faults = bulk.InvalidRows()
    assert bulk.unquote(numbers, errors="null", invalid=faults) == [None] * 5
    assert faults.rows == [(row, "type", 0) for row in range(5)]
    for number in numbers[:3]:
        with pytest.raises(TypeError, match=r"bytes-like"):
            uricodec.percent_decode(number)
        with pytest.raises(TypeError, match=r"^row 1: .*bytes-like"):
            dedup.unique(["a", number], "urn")
    assert bulk.unquote([np.bytes_(b"%41"), np.str_("%41"), np.array([37, 52, 49], np.uint8)]) == [b"A", "A", b"A"]


def test_limits_of_faults():
    for limit, error in (-1, ValueError), (None, TypeError), ("3", TypeError):
        with pytest.raises(error):
            bulk.InvalidRows(limit)


def test_dictionaries_of_nulls():
    source = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int32()), pa.nulls(0))
    assert as_rows(bulk.unquote(source)) == as_rows(bulk.is_valid_uri(source)) == [None, None]


def test_tables_without_columns():
    with pytest.raises(TypeError, match=r"^expected one column, got a table of 0 columns$"):
        bulk.unquote(pa.table({}))


def test_tables_of_one_column():
    table = pa.table({"path": pa.chunked_array([["/%41", None], ["/b"]])})
    result = pa.table(bulk.unquote(table))
    assert result.to_pydict() == {"path": ["/A", None, "/b"]}
    assert pa.table(bulk.is_valid_uri(table[1:])).to_pydict() == {"path": [None, True]}
    batch = pa.record_batch({"path": ["%41", "%42", "%43"]})[1:]
    assert pa.record_batch(bulk.unquote(batch)).to_pydict() == {"path": ["B", "C"]}
    with pytest.raises(TypeError, match="2 columns"):
        bulk.unquote(pa.table({"a": ["x"], "b": ["y"]}))


# --- views ------------------------------------------------------------------------------------------------------------


def buffers_of(array):
    return [buffer.address for buffer in array.buffers()[2:] if buffer is not None]


def test_views_of_all_lengths():
    """Up to 12 octets stand in a view itself, more of them in a buffer."""
    rows = [text * n for text in ("x", "%41", "x%41") for n in range(16)]
    source = pa.array(rows, pa.string_view())
    assert pa.array(bulk.unquote(source)).to_pylist() == [row.replace("%41", "A") for row in rows]


def test_views_share_what_has_not_changed():
    rows = ["/a path that is not in the view", "/b%20path that is not in the view", "short", "s%41", None] * 50
    source = pa.array(rows, pa.string_view())
    result = pa.array(bulk.unquote(source))
    result.validate(full=True)
    assert result.to_pylist() == naive.column("unquote", rows, "replace")[0]
    assert set(buffers_of(source)) <= set(buffers_of(result))
    sizes = [buffer.size for buffer in result.buffers()[2:] if buffer.address not in buffers_of(source)]
    assert sum(sizes) == 50 * len("/b path that is not in the view")
    same = pa.array(bulk.unquote(pa.array(["/a path that is not in the view"] * 9, pa.string_view())))
    same.validate(full=True)
    assert len(buffers_of(same)) == 1


VIEWED = {
    "changed": "/b%20path/that is longer than a view",
    "unchanged": "/path/that/is longer than a view",
    "plus": "/a+path/that is longer than a view",
    "replaced": "/path%FFthat is longer than a view",
    "malformed": "/path%4gthat is longer than a view",
    "short": "%41b",
    "empty": "",
    "null": None,
}


def views_in_runs(seed, kinds=tuple(VIEWED)):
    """Runs of rows of a kind, up to several blocks long. Long rows lie one after the other, or runs of them do."""
    chance = random.Random(seed)
    rows = []
    while len(rows) < 5000:
        run = [VIEWED[chance.choice(kinds)]] * chance.choice([1, 2, 62, 63, 64, 65, 130, 1500])
        rows += [row and f"{row}{chance.choice(('', '%20', '/'))}" for row in run]
    order = list(range(len(rows)))
    for _ in range(seed % 4):
        start, middle, stop = sorted(chance.choices(range(len(rows)), k=3))
        order = order[:start] + order[middle:stop] + order[start:middle] + order[stop:]
    _, views, *data = pa.array(rows, pa.string_view()).buffers()
    views = memoryview(views).cast("B")
    views = b"".join(views[16 * i : 16 * i + 16] for i in order)
    valid = pa.array([rows[i] is not None for i in order]).buffers()[1] if None in rows else None
    return pa.Array.from_buffers(pa.string_view(), len(rows), [valid, pa.py_buffer(views), *data])


@pytest.mark.parametrize("kinds", [tuple(VIEWED), ("changed", "unchanged"), ("changed", "plus", "replaced", "short")])
@pytest.mark.parametrize("seed", range(4))
def test_views_in_runs(kinds, seed):
    source = views_in_runs(seed, kinds)
    rows = source.to_pylist()
    for plus in False, True:
        for errors in "replace", "keep", "null":
            result = pa.array(bulk.unquote(source, plus, errors=errors, threads=1))
            result.validate(full=True)
            assert result.to_pylist() == bulk.unquote(rows, plus, errors=errors)
    for name in "quote", "is_valid_uri":
        assert pa.array(getattr(bulk, name)(source, threads=1)).to_pylist() == getattr(bulk, name)(rows)


@pytest.mark.parametrize("changed", [0, 1, 5, 7, 8, 9, 10])
def test_views_leave_little_memory_unused(changed):
    """Of 10 rows. The first block is written before it is known how many change."""
    rows = ([VIEWED["changed"]] * changed + [VIEWED["unchanged"]] * (10 - changed)) * 1000
    source = pa.array(rows, pa.string_view())
    result = pa.array(bulk.unquote(source, threads=1))
    used = sum(len(row) for row in result.to_pylist() if row != VIEWED["unchanged"])
    size = sum(buffer.size for buffer in result.buffers()[2:] if buffer.address not in buffers_of(source))
    assert used <= size <= used + used // 3 + 16384


# --- sizes ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_offsets():
    with lowered(limit_of_offsets=1000):
        yield


@pytest.mark.usefixtures("small_offsets")
@pytest.mark.parametrize("type_", [pa.string(), pa.binary()], ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_offsets_become_large_ones(type_, threads):
    rows = ["a b", None, "é" * 100] * 20
    source = pa.chunked_array([["a"], pa.array(rows, type_), [None, "c d"]], type_)
    want, _ = naive.column("quote", [row if row is None else row.encode() for row in ["a", *rows, None, "c d"]], "keep")
    result = bulk.quote(source, threads=threads)
    assert pa.chunked_array(result).type == (pa.large_string() if type_ == pa.string() else pa.large_binary())
    assert [row.encode() if isinstance(row, str) else row for row in as_rows(result)] == want
    parts = bulk.split_urn(pa.array(["urn:example:" + "a" * 2000, "urn:example:b"]))
    assert pa.array(parts).type.field("nss").type == pa.large_string()
    assert [row["nss"][-1] for row in as_rows(parts)] == ["a", "b"]


@pytest.mark.parametrize(("rows", "type_"), [(1000, pa.string()), (1001, pa.large_string())], ids=str)
def test_offsets_are_large_ones_after_the_limit(rows, type_):
    """Of all rows together: those that are worked on at once are far below it."""
    with lowered(limit_of_offsets=100_000):
        result = bulk.quote(pa.array(["abcd" + "é" * 16] * rows), threads=1)
    assert pa.chunked_array(result).type == type_
    assert as_rows(result) == ["abcd" + "%C3%A9" * 16] * rows


@pytest.mark.usefixtures("small_offsets")
def test_joining_may_need_large_offsets():
    result = bulk.quote(pa.chunked_array([["é" * 100]] * 5))
    assert pa.chunked_array(result).type == pa.string()
    assert pa.array(result).type == pa.large_string()
    assert pa.array(result).to_pylist() == ["%C3%A9" * 100] * 5


@pytest.mark.usefixtures("small_offsets")
def test_dictionaries_may_need_large_offsets():
    source = pa.chunked_array([pa.array(["é" * 10]).dictionary_encode(), pa.array(["é" * 400]).dictionary_encode()])
    result = pa.chunked_array(bulk.quote(source))
    result.validate(full=True)
    assert result.to_pylist() == ["%C3%A9" * 10, "%C3%A9" * 400]


@pytest.mark.slow
def test_a_task_of_more_than_64_mib():
    """It pauses, so that Ctrl-C does not wait for all of it."""
    count = (1 << 20) + 100
    assert bulk.unquote((b"%41" * 21 + b"\n") * count, threads=1) == (b"A" * 21 + b"\n") * count


@pytest.mark.slow
def test_many_tasks():
    """Of a large column, most of which becomes shorter than its beginning says, or longer."""
    rows = ["/plain"] * 20_000 + ["/%41%42" * 30] * 100_000 + ["/é" * 20] * 30_000
    for source in pa.array(rows), pa.array(rows[::-1]):
        result = bulk.unquote(source, threads=2)
        assert len(result.arrays) > 4
        whole = pa.chunked_array(result)
        whole.validate(full=True)
        assert whole.to_pylist() == [row.replace("%41%42", "AB") for row in source.to_pylist()]


# --- rows that are rejected -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rows", "row", "position"),
    [
        ("unquote", ["a", None, "é%FF"], 2, 1),
        ("unquote", ["a", "éé%4"], 1, 2),
        ("normalize_urn", ["urn:example:a"] * 100 + ["urn:example:"], 100, 12),
        ("is_valid_urn", ["urn:example:a", "x"], 1, 0),
        ("split_uri", ["/a", "/é"], 1, 1),
        ("fingerprint", ["urn:example:a", "urn:é:a"], 1, 4),
    ],
)
def test_errors_name_the_row_and_the_position(name, rows, row, position):
    how = {"kind": "urn"} if name == "fingerprint" else {}
    sources = [pa.array(rows), pa.array(rows, pa.string_view()), pa.chunked_array([rows[:1], rows[1:]]), rows]
    sources += [pa.array(rows).dictionary_encode()]
    for source in sources:
        with pytest.raises(UriError, match=f"^row {row}: .* at offset {position}$") as caught:
            getattr(bulk, name)(source, errors="raise", **how)
        assert caught.value.input == rows[row]
        assert caught.value.offset == position


@pytest.mark.parametrize(
    ("name", "rows", "row", "position"),
    [
        ("iri_to_uri", [b"a", b"\xc3\xa9<"], 1, 2),
        ("iri_to_uri", [b"\xc3\xa9\xff<"], 0, 2),
        ("uri_to_iri", [b"/", b"/", b"/%4\xc3\xa9\xff"], 2, 1),
        ("is_valid_urn", [b"urn:example:\xff"], 0, 12),
        ("check_uri", [b"/a", b"/\xc3\xa9"], 1, 1),
        ("requote", [b"\xc3\xa9%4"], 0, 2),
        ("fingerprint", [b"urn:example:\xc3"], 0, 12),
    ],
)
def test_errors_in_bytes_name_bytes(name, rows, row, position):
    """As those of a single value do: nothing of what came in is lost in the error."""
    how = {"kind": "urn"} if name == "fingerprint" else {}
    sources = [rows, pa.array(rows).dictionary_encode(), pa.chunked_array([rows[:1], rows[1:]], pa.binary())]
    sources += [pa.array(rows, type_) for type_ in (pa.binary(), pa.large_binary(), pa.binary_view())]
    sources += [b"\n".join(rows), bytearray(b"\n".join(rows))]
    for source in sources:
        with pytest.raises(UriError, match=f"^row {row}: .* at offset {position}$") as caught:
            getattr(bulk, name)(source, errors="raise", **how)
        assert (caught.value.input, caught.value.offset) == (rows[row], position)


def test_errors_in_decoded_lines_name_bytes():
    """Lines are octets where they are decoded to text, too."""
    with pytest.raises(UriError, match=r"^row 1: .* at offset 4$") as caught:
        bulk.unquote("a\néé%4\n".encode(), errors="raise")
    assert (caught.value.input, caught.value.offset) == ("éé%4".encode(), 4)
    with pytest.raises(UriError, match=r"^row 0: .* at offset 4$") as caught:
        bulk.unquote(io.BytesIO("éé%4\n".encode()), output=io.BytesIO(), errors="raise")
    assert (caught.value.input, caught.value.offset) == ("éé%4".encode(), 4)


def test_wrong_sets_kinds_and_levels_are_rejected():
    with pytest.raises(ValueError, match="all non-ASCII bytes or none"):
        bulk.quote(["a"], safe=ByteSet(b"\xc3"))
    with pytest.raises(ValueError, match="kind must be one of"):
        bulk.fingerprint(["a"], kind="url")
    with pytest.raises(ValueError, match="level is not supported with kind="):
        bulk.fingerprint(["a"], level="path")


@pytest.mark.parametrize("source", ["a string", 5, None, {"a": 1}, object()], ids=lambda source: type(source).__name__)
def test_rejects_other_objects(source):
    with pytest.raises(TypeError):
        bulk.unquote(source)
    with pytest.raises(TypeError):
        bulk.unquote([source] if source not in ("a string", None) else [5], errors="raise")
    with pytest.raises(TypeError):
        bulk.unquote(pa.array([5]), errors="null")


@pytest.mark.parametrize("buffer", [(ctypes.py_object * 2)("%41", "a"), (ctypes.c_wchar * 3)(*"%41")], ids=["O", "u"])
@pytest.mark.parametrize("name", ["quote", "unquote", "requote", "normalize_uri", "is_valid_urn", "fingerprint"])
def test_buffers_of_pointers_or_characters_are_no_columns(name, buffer):
    function = getattr(bulk, name)
    for column in buffer, memoryview(buffer):
        with pytest.raises(TypeError, match=r"with items of format '[<>][Ou]'"):
            function(column, errors="raise")
    with pytest.raises(TypeError, match=r"^expected str, bytes-like or None at row 1, got (py_object|c_wchar)_Array_"):
        function([b"a:b" if "valid" not in name else b"urn:example:a", buffer], errors="raise")


@pytest.mark.interop
def test_arrays_of_numpy_are_columns_if_they_have_bytes():
    np = pytest.importorskip("numpy")
    for dtype in object, "<U3", "S3":
        with pytest.raises(TypeError, match="expected a buffer of bytes or numbers"):
            uricodec.percent_decode(np.array(["%41"], dtype=dtype))
        with pytest.raises(TypeError, match="expected a buffer of bytes, got ndarray with items of format"):
            dedup.unique(np.array(["%41"], dtype=dtype), "urn")
    assert bulk.unquote(np.frombuffer(b"%41\n%42", dtype=np.uint8)) == b"A\nB"
    for numbers in np.array([1]), memoryview(np.array([1.5])):
        with pytest.raises(TypeError, match=r"^expected a buffer of bytes, got \w+ with items of format '[lqd]'$"):
            bulk.unquote(numbers)
    with pytest.raises(TypeError, match="expected a list, Arrow object, bytes-like object or file, got"):
        bulk.unquote(np.array(["2026-11-26"], dtype="M8[s]"))


@pytest.mark.interop
def test_arrays_of_objects_come_out_as_such():
    np = pytest.importorskip("numpy")
    missing = [None, float("nan"), np.float32("nan"), np.datetime64("NaT", "ns")]
    source = np.array(["%41", "/plain" * 3, b"%42", *missing, "%zz"], dtype=object)
    for column in source, source[::-1], source[:0]:
        for name, how in CALLS:
            if name == "iri_to_uri":
                continue
            faults, of_list = bulk.InvalidRows(), bulk.InvalidRows()
            done = getattr(bulk, name)(column, invalid=faults, **how)
            rows = [None if any(row is each for each in missing) else row for row in column]
            want = getattr(bulk, name)(rows, invalid=of_list, **how)
            assert type(done) is np.ndarray and done.dtype == object and done.shape == column.shape
            text = naive.OPERATIONS[name].result == "text"
            for row, result, wanted in zip(column, done, want, strict=True):
                assert result is row if text and any(row is each for each in missing) else result == wanted
            assert faults.rows == of_list.rows
    assert bulk.fingerprint(source[:2], secret="k").tolist() == bulk.fingerprint(source[:2].tolist(), secret="k")
    for shape in (3, 3), ():
        with pytest.raises(TypeError, match=r"^expected an array of one dimension, got (2|0)$"):
            bulk.unquote(np.empty(shape, object))


def test_a_file_has_no_verdicts():
    with pytest.raises(TypeError, match="is_valid_urn does not accept a file"):
        bulk.is_valid_urn(io.BytesIO(b"urn:example:a\n"))


@pytest.mark.interop
def test_missing_values_without_pandas():
    pytest.importorskip("numpy")
    code = (
        "import sys\n"
        "import numpy as np; from uricodec import bulk\n"
        "faults = bulk.InvalidRows(); nan = float('nan')\n"
        "rows = np.array(['%41', nan, None, np.datetime64('NaT', 'ns'), 1], object)\n"
        "done = bulk.unquote(rows, errors='null', invalid=faults)\n"
        "assert 'pandas' not in sys.modules and 'pyarrow' not in sys.modules\n"
        "assert done[0] == 'A' and done[1] is nan and done[4] is None and faults.rows == [(4, 'type', 0)]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("safe", ["é", "/é€\ud800", b"\xc3", b"/\xa9\xff", bytes(range(256))], ids=ascii)
@pytest.mark.parametrize("name", ["quote", "requote"])
def test_characters_beyond_ascii_are_never_safe(name, safe):
    """Nothing, as for a single value, and for urllib.parse."""
    rows = ["é/", "a b", "\xff"]
    octets = [row.encode() for row in rows]
    single = uricodec.percent_encode if name == "quote" else uricodec.requote
    wanted = [single(row, safe=safe) for row in rows]
    function = getattr(bulk, name)
    assert function(rows, safe=safe) == wanted
    assert as_rows(function(pa.array(rows), safe=safe)) == wanted
    assert function(octets, safe=safe) == [row.encode() for row in wanted]
    assert function(b"\n".join(octets), safe=safe) == "\n".join(wanted).encode()


@pytest.mark.parametrize("name", ["quote", "requote"])
def test_all_beyond_ascii_may_stay(name):
    """In a ByteSet: characters stay what they are."""
    rows = ["é/", "a/€\U0001f600", "\xff", "plain", "/" * 600 + "é"]
    safe = ~ByteSet("/")
    wanted = [row.replace("/", "%2F") for row in rows]
    function = getattr(bulk, name)
    assert function(rows, safe=safe) == wanted
    assert as_rows(function(pa.array(rows), safe=safe)) == wanted
    assert function([row.encode() for row in rows], safe=safe) == [row.encode() for row in wanted]


def test_lists_give_the_same_objects_where_nothing_changes():
    rows = ["/plain/" + "x" * 50, b"/plain/" + b"x" * 50, "é" * 40, None]
    for name in "unquote", "normalize_uri":
        assert all(a is b for a, b in zip(getattr(bulk, name)(rows), rows, strict=True))
    assert bulk.unquote(("%41", bytearray(b"%41"), memoryview(b"%42"))) == ["A", b"A", b"B"]
    assert bulk.unquote([]) == []


def test_surrogates_in_lists():
    rows = ["\ud800%41", "%41+\udfff"]
    assert bulk.unquote(rows) == ["\ud800A", "A+\udfff"]
    assert bulk.unquote(rows, plus=True) == ["\ud800A", "A \udfff"]
    for plus in False, True:
        faults = bulk.InvalidRows()
        assert bulk.unquote(rows, plus=plus, invalid=faults) == bulk.unquote(rows, plus=plus)
        assert faults.rows == [(0, "surrogate", 0), (1, "surrogate", 4)]
        assert bulk.unquote(rows, plus=plus, errors="keep") == bulk.unquote(rows, plus=plus)
        assert bulk.unquote(rows, plus=plus, errors="null") == [None, None]
    assert bulk.unquote(["%FF\ud800"], errors="keep", invalid=faults) == ["%FF\ud800"]
    assert faults.rows[2:] == [(0, "utf-8", 0)]
    assert bulk.quote(["%\ud800 "], errors="replace") == ["%25%EF%BF%BD%20"]
    assert bulk.requote(["%\ud800 "], errors="replace") == ["%25%EF%BF%BD%20"]
    faults = bulk.InvalidRows()
    assert bulk.quote(rows, errors="null", invalid=faults) == [None, None]
    assert faults.rows == [(0, "surrogate", 0), (1, "surrogate", 4)]
    with pytest.raises(UriError, match="row 1"):
        bulk.quote(["a", "\ud800"], errors="raise")
    assert bulk.is_valid_uri(rows) == [False, False]


@pytest.mark.parametrize(
    "row", [":\udcff", "\ud800", "http:é\udcff", "urn:ab:a\ud800 ", "a\ud800%zz", "é %\ud800", "\udfffé:"]
)
def test_the_first_fault_of_a_str_with_surrogates(row):
    """As of a single value: what is wrong before the surrogate comes first."""
    for name in "check_uri", "check_iri", "check_urn", "split_uri", "split_urn", "normalize_uri", "iri_to_uri":
        errors, faults = naive.policies(name)[-1], bulk.InvalidRows()
        of_lists = naive.column(name, [row], errors)
        assert (getattr(bulk, name)([row], errors=errors, invalid=faults), faults.count > 0) == (of_lists[0], True)
        if not name.startswith("check"):
            assert [(number, place) for number, _, place in faults.rows] == of_lists[1]


def test_a_list_that_shrinks_while_it_is_read():
    items = ["%41"] * 10

    class Evil(bytearray):
        def __buffer__(self, flags):
            items.clear()
            return memoryview(b"x")

    items[3] = Evil(b"%42")
    assert bulk.unquote(items)[:3] == ["A"] * 3


# --- lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quote", "requote", "unquote", "percent_decode", "normalize_urn", "iri_to_uri"])
@pytest.mark.parametrize("line_terminator", [b"\n", b"\0"])
def test_a_last_line_without_an_end_that_becomes_null(name, line_terminator):
    """It gets an end, as on the command line: the number of lines stays."""
    function = getattr(bulk, name)
    for lines in [b"\xad"], [b"urn:example:a", b"\xad"], [b"\xad", b"\xad"], [b"\xad", b"urn:example:a"]:
        source = line_terminator.join(lines)
        want = line_terminator.join(b"" if line == b"\xad" else line for line in lines)
        want += line_terminator if lines[-1] == b"\xad" else b""
        how = {"errors": "null", "line_terminator": line_terminator} | (
            {"safe": ":"} if name in {"quote", "requote"} else {}
        )
        for threads in 1, 2:
            assert function(source, threads=threads, **how) == want
        output = io.BytesIO()
        assert function(io.BytesIO(source), output=output, **how) == len(lines)
        assert output.getvalue() == want


@pytest.mark.parametrize("count", [1, 50, 5000])
@pytest.mark.parametrize(
    ("line", "replaced", "kept", "null"),
    [
        (b"a%01b+%7F%42", b"a%01b %7FB", b"a%01b %7FB", b"a%01b %7FB"),
        (b"%0A%C2%85%zz+%41", b"%0A%C2%85%zz A", b"%0A%C2%85%zz A", b""),
        (b"%0A%C2%85%FF+%41", b"%0A%C2%85\xef\xbf\xbd A", b"%0A%C2%85%FF A", b""),
    ],
    ids=["well-formed", "malformed", "not UTF-8"],
)
def test_controls_stay_encoded_in_lines(tier, line, replaced, kept, null, count):  # noqa: PLR0913, PLR0917
    for errors, want in ("replace", replaced), ("keep", kept), ("null", null):
        done = bulk.unquote((b"%43\n" + line + b"\n") * count, plus=True, errors=errors)
        assert done == (b"C\n" + want + b"\n") * count


@pytest.mark.parametrize("size", [100, 30_000, 300_000])
def test_lines_of_any_length_keep_their_ends(size):
    line = b"%41" * (size // 3)
    for end in b"\n", b"\r\n":
        assert bulk.unquote(b"%42" + end + line + end + b"%43") == b"B" + end + b"A" * (size // 3) + end + b"C"
    names = b"urn:example:a%2f\n" * 5 + b"URN:example:" + line + b"\n"
    assert bulk.normalize_urn(names, level="bytes") == names


@pytest.mark.parametrize("line_terminator", [b"", b"ab", b",", b"\xff"])
def test_other_line_terminators_are_rejected(line_terminator):
    with pytest.raises(ValueError, match="line terminator must be one control character, got"):
        bulk.unquote(b"a", line_terminator=line_terminator)


# --- files ------------------------------------------------------------------------------------------------------------


class Later(io.RawIOBase):
    """A file that has no data now, and does not wait."""

    def readinto(self, _view):
        return None


def test_files_that_do_not_wait():
    output = io.BytesIO()
    with pytest.raises(BlockingIOError, match="has no data now"):
        bulk.quote(Later(), output=output)
    assert output.getvalue() == b""


class Reader:
    """A file that can only be read, such as the body of a response."""

    def __init__(self, file):
        self.read = file.read


def test_files_that_only_have_read(tmp_path):
    """As for logs.parse and Deduplicator: whatever has read() is a file. A memory map stays a buffer."""
    lines, output = b"%41\n%zz\n" * 1000, io.BytesIO()
    assert bulk.unquote(Reader(io.BytesIO(lines)), output=output) == 2000
    assert output.getvalue() == b"A\n%zz\n" * 1000
    with pytest.raises(TypeError, match=r'^the input is open in text mode; open it in binary mode \("rb"\)$'):
        bulk.unquote(io.StringIO("a"), output=output)
    with pytest.raises(TypeError, match=r"^output= is required for file input"):
        bulk.unquote(Reader(io.BytesIO(lines)))
    (tmp_path / "in").write_bytes(lines)
    with (tmp_path / "in").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as buffer:
        assert bulk.unquote(buffer) == b"A\n%zz\n" * 1000


class Part(io.RawIOBase):
    """A file that takes some octets at once, and no more than there is room for."""

    def __init__(self, at_once, room=None):
        self.octets, self.at_once, self.room = b"", at_once, room

    def write(self, octets):
        if self.room is not None and len(self.octets) >= self.room:
            return None
        self.octets += bytes(octets[: self.at_once])
        return min(len(octets), self.at_once)


class Silent:
    """No file of io: it takes all, and does not say so."""

    octets = b""

    def write(self, octets):
        self.octets += octets


@pytest.mark.parametrize("output", [Part(1), Part(3), Part(1000), Silent()], ids=["1", "3", "1000", "silent"])
def test_all_is_written(output):
    lines = b"a b\nc\n" * 50
    assert bulk.quote(io.BytesIO(lines), output=output) == 100
    assert output.octets == lines.replace(b" ", b"%20")
    assert bulk.quote(io.BytesIO(b""), output=output) == 0


@pytest.mark.parametrize("output", [Part(3, 5), Part(0)], ids=["full", "zero"])
def test_an_output_that_does_not_wait(output):
    with pytest.raises(BlockingIOError, match="accepts no data now"):
        bulk.quote(io.BytesIO(b"a b\nc d\n"), output=output)
    assert output.octets == b"a%20b\n"[: len(output.octets)]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that always block")
def test_a_pipe_that_does_not_wait():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with (
        open(reading, "rb", buffering=0),
        open(writing, "wb", buffering=0) as output,
        pytest.raises(BlockingIOError, match="accepts no data now"),
    ):
        bulk.quote(io.BytesIO(b"a b\n" * 300_000), output=output)


def test_unknown_arguments_are_rejected():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'treads'"):
        bulk.quote(["a b"], treads=2, seperator=b"\0")


def kinds_of_column():
    return [["a b"], pa.array(["a b"]), b"a b", io.BytesIO(b"a b")]


def quote(column, **how):
    return bulk.quote(column, output=io.BytesIO() if isinstance(column, io.BytesIO) else None, **how)


@pytest.mark.parametrize(
    ("how", "error", "said"),
    [
        ({"threads": -1}, ValueError, r"^threads must be at least 0, got -1$"),
        ({"threads": "x"}, TypeError, "integer"),
        ({"threads": 1.5}, TypeError, "integer"),
        ({"invalid": 1}, TypeError, r"^invalid must be an InvalidRows, not int$"),
        ({"line_terminator": None}, TypeError, r"^line_terminator must be bytes, not NoneType$"),
        ({"line_terminator": "\n"}, TypeError, r"^line_terminator must be bytes, not str$"),
    ],
)
def test_wrong_arguments_are_rejected(how, error, said):
    """Whatever the column is."""
    for column in kinds_of_column():
        with pytest.raises(error, match=said):
            quote(column, **how)


@pytest.mark.parametrize("threads", [True, 10**9, 10**30])
def test_more_threads_than_there_is_work(threads):
    listed, array, lines, file = kinds_of_column()
    assert quote(listed, threads=threads) == ["a%20b"]
    assert as_rows(quote(array, threads=threads)) == ["a%20b"]
    assert quote(lines, threads=threads) == b"a%20b"
    assert quote(file, threads=threads) == 1
    assert bulk.quote(b"a b\n" * 300_000, threads=threads) == b"a%20b\n" * 300_000


def test_faults_say_what_they_are():
    faults = bulk.InvalidRows()
    bulk.unquote(["a", "%zz"], invalid=faults)
    assert repr(faults) == "InvalidRows(count=1, rows=[(1, 'percent', 0)])"


@pytest.mark.parametrize("threads", [1, 0, None])
def test_files(threads):
    row = b"/a%20b/%C3%A9/" + b"x" * 40 + b"\n"
    lines = row * 60_000 + b"%FF\n" + b"y" * (3 << 20) + b"\nlast%41"
    output = io.BytesIO()
    faults = bulk.InvalidRows()
    count = bulk.unquote(io.BytesIO(lines), output=output, invalid=faults, threads=threads)
    assert count == 60_003
    assert output.getvalue() == bulk.unquote(lines)
    assert faults.rows == [(60_000, "utf-8", 0)]
    assert bulk.unquote(io.BytesIO(b""), output=io.BytesIO()) == 0
    with pytest.raises(UriError, match="row 60000:"):
        bulk.unquote(io.BytesIO(lines), output=io.BytesIO(), errors="raise")
    with pytest.raises(TypeError, match="output"):
        bulk.unquote(io.BytesIO(lines))
    with pytest.raises(TypeError, match="output"):
        bulk.unquote([], output=output)


# --- rules of namespaces ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["namespace", "functional"])
def test_rules_of_namespaces_in_columns(tier, level):
    """Of every namespace, of names that are none, and with triplets and what a rule drops at both ends of rows."""
    others = ["ab", "abc", "abcd", "x-wmoo", "schemas-upnp-orgs", "schemas-upnp-0rg", "a" * 31, "a" * 32]
    names = ["%c3x-A%a9", "0-395-36341-1", "Params:xA%aa", "ul:A", "IMEI:90420156-025763-0;vers=0", "A-B:c:%2f", "-"]
    rows = [f"URN:{nid.title()}:{name}" for nid in [*NAMESPACES, *others] for name in names]
    want = [urn.normalize(row, level) for row in rows]
    for source in pa.array(rows), pa.array(rows, pa.string_view()):
        assert as_rows(bulk.normalize_urn(source, level=level)) == want
    between = itertools.cycle([None, "urn:isbn:", "URN:ISBN:0-395-36341-1?=q"])
    rows[5::7] = itertools.islice(between, len(rows[5::7]))
    want, _ = naive.column("normalize_urn", rows, "keep", level=level)
    assert as_rows(bulk.normalize_urn(pa.array(rows), level=level)) == want


# --- fingerprints -----------------------------------------------------------------------------------------------------


def test_the_fingerprint_of_what_has_no_utf8():
    a, b, c, none = bulk.fingerprint(["\ud800", "\ud801", "\ud800", None], secret="k", errors="keep")
    assert a == c != b and none is None
    assert bulk.fingerprint(["\ud800"], secret="k") == [None]


def test_the_key_of_fingerprints():
    a, b = bulk.fingerprint(["x"]), as_rows(bulk.fingerprint(pa.array(["x"])))
    assert a == b
    assert bulk.fingerprint(["x"], secret="k") != a
    assert bulk.fingerprint(["x" * 100_000], secret="k") == as_rows(
        bulk.fingerprint(pa.array(["x" * 100_000]), secret=b"k")
    )


@pytest.mark.parametrize("last", [b"x", b"x" * 20_000, b"x" * 20_000 + b"\n"])
def test_a_long_row_that_is_rejected_has_one_fingerprint(last):
    """And not one for each row of the block before, behind the end of the column."""
    for count in 0, 1, 2, 300:
        want = bulk.fingerprint(["urn:example:a"], kind="urn", secret="k") * count + [None]
        lines = b"URN:example:a\n" * count + last
        assert as_rows(bulk.fingerprint(lines, kind="urn", secret="k")) == want
        column = pa.array(lines.decode().splitlines())
        assert as_rows(bulk.fingerprint(column, kind="urn", secret="k")) == want


def test_a_byte_order_mark_of_a_file_is_no_part_of_its_first_line():
    for data in b"%41\n%42", b"%41\n\xef\xbb\xbf%42", b"", b"\n":
        output, plain = io.BytesIO(), io.BytesIO()
        assert bulk.unquote(io.BytesIO(b"\xef\xbb\xbf" + data), output=output) == bulk.unquote(
            io.BytesIO(data), output=plain
        )
        assert output.getvalue() == plain.getvalue()


@pytest.mark.interop
def test_arrays_of_text_of_numpy():
    """Fixed-size str and bytes, and strings of any size, with and without missing ones."""
    np = pytest.importorskip("numpy")
    rows = ["%41", "", "/caf%C3%A9", "100%"]
    want = bulk.unquote(rows, errors="null")
    arrays = [np.array(rows), np.array(rows, np.dtypes.StringDType()), np.array(rows, object)]
    for column in arrays:
        made = bulk.unquote(column, errors="null")
        assert made.dtype == object and made.tolist() == want
        assert bulk.is_valid_uri(column).tolist() == bulk.is_valid_uri(rows)
    octets = [row.encode() for row in rows]
    assert bulk.unquote(np.array(octets)).tolist() == bulk.unquote(octets)
    missing = np.array(["%41", np.nan], np.dtypes.StringDType(na_object=np.nan))
    assert bulk.unquote(missing).tolist()[0] == "A" and bulk.is_valid_uri(missing).tolist() == [True, None]
    assert bulk.resolve(np.array(["a", "b"]), np.array(["s:x", "t:y/z"])).tolist() == ["s:a", "t:y/b"]
    with pytest.raises(TypeError, match="expected an array of one dimension, got 2"):
        bulk.unquote(np.array([["a"]]))


@pytest.mark.parametrize("errors", ["keep", "null", "replace"])
def test_rows_that_are_not_utf8_between_others_in_a_block(errors):
    """What is not UTF-8 is after more valid triplets and characters than are looked at at once, and in most rows."""
    drawn = random.Random(errors)
    pieces = ["%FF", "%C3", "%F0%9F", "%zz", "a", "b" * 57, "c" * 64, "%41" * 19, "%E6%97%A5" * 20, "%20d", "é"]
    rows = ["a" + "".join(drawn.choices(pieces, k=drawn.randrange(12))) for _ in range(400)]
    valid = [row for row in rows if "%zz" not in row]
    for column in (rows, valid):
        invalid, expected, found = bulk.InvalidRows(1000), [], []
        for number, row in enumerate(column):
            try:
                decoded = naive_codec.percent_decode(row, errors="raise")
            except naive_codec.UriSyntaxError as error:
                found.append((number, error.offset))
                decoded = None if errors == "null" else naive_codec.percent_decode(row, errors=errors)
            expected.append(decoded)
        array = pa.array(column)
        assert as_rows(bulk.percent_decode(array, errors=errors)) == expected
        assert as_rows(bulk.percent_decode(array, errors=errors, invalid=invalid)) == expected
        offsets = [(number, len(column[number].encode()[:offset].decode())) for number, _, offset in invalid.rows]
        assert offsets == found
