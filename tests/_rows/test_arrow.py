"""The Arrow C data interface by hand: what every library gives comes in, and what goes out every library takes;
everything is released once, and what is no array is rejected."""

import ctypes
import gc
import subprocess
import sys
import threading

import pytest
from support.arrow_memory import Lent

from uricodec import bulk, dedup

pa = pytest.importorskip("pyarrow")

ROWS = ["/a%20b", None, "/plain/and/longer/than/a/view", "", "/caf%C3%A9"]
WANT = ["/a b", None, "/plain/and/longer/than/a/view", "", "/café"]


# --- libraries --------------------------------------------------------------------------------------------------------


def polars_rows(column):
    return pytest.importorskip("polars").Series(column).to_list()


def pandas_rows(column):
    pandas = pytest.importorskip("pandas")
    return [None if pandas.isna(value) else value for value in pandas.Series.from_arrow(column)]


def nanoarrow_rows(column):
    return pytest.importorskip("nanoarrow").Array(column).to_pylist()


def nanoarrow_stream_rows(column):
    return pytest.importorskip("nanoarrow").ArrayStream(column).read_all().to_pylist()


def arro3_rows(column):
    return pytest.importorskip("arro3.core").ChunkedArray(column).to_pylist()


def arro3_array_rows(column):
    return pytest.importorskip("arro3.core").Array(column).to_pylist()


def pyarrow_rows(column):
    whole = pa.chunked_array(column)
    whole.validate(full=True)
    return whole.to_pylist()


def pyarrow_array_rows(column):
    whole = pa.array(column)
    whole.validate(full=True)
    return whole.to_pylist()


READERS = [
    pyarrow_rows,
    pyarrow_array_rows,
    polars_rows,
    pandas_rows,
    nanoarrow_rows,
    nanoarrow_stream_rows,
    arro3_rows,
    arro3_array_rows,
]


def pandas_series(rows):
    return pytest.importorskip("pandas").Series(rows, dtype="str")


def pandas_pyarrow(rows):
    return pytest.importorskip("pandas").Series(rows, dtype="string[pyarrow]")


def polars_series(rows):
    return pytest.importorskip("polars").Series(rows, dtype=pytest.importorskip("polars").String)


def polars_categories(rows):
    polars = pytest.importorskip("polars")
    return polars.Series(rows, dtype=polars.Categorical)


def nanoarrow_array(rows):
    nanoarrow = pytest.importorskip("nanoarrow")
    return nanoarrow.Array(rows, nanoarrow.string())


def arro3_array(rows):
    return pytest.importorskip("arro3.core").Array(pa.array(rows, pa.string()))


def arro3_chunks(rows):
    return pytest.importorskip("arro3.core").ChunkedArray(pa.chunked_array([rows[:2], rows[2:]]))


SOURCES = [
    *[
        lambda rows, type_=type_: pa.array(rows, type_)
        for type_ in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()))
    ],
    lambda rows: pa.chunked_array([rows[:1], [], rows[1:]], pa.string()),
    polars_series,
    polars_categories,
    pandas_series,
    pandas_pyarrow,
    nanoarrow_array,
    arro3_array,
    arro3_chunks,
]


@pytest.mark.interop
@pytest.mark.parametrize("read", READERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", SOURCES, ids=lambda f: f.__name__)
def test_every_library_in_and_out(make, read):
    if read is pandas_rows and not hasattr(pytest.importorskip("pandas").Series, "from_arrow"):
        pytest.skip("this pandas has no Series.from_arrow")
    if read is arro3_array_rows and make in (pandas_series, pandas_pyarrow, polars_series, polars_categories):
        pytest.skip("a Series, which comes out of one, has a stream and no array")
    result = bulk.unquote(make(ROWS))
    if read in (nanoarrow_rows, nanoarrow_stream_rows) and "view" in str(pa.chunked_array(result).type):
        pytest.skip("nanoarrow 0.9 cannot export views, whoever made them")
    assert read(result) == WANT


@pytest.mark.interop
@pytest.mark.parametrize("read", [pyarrow_rows, polars_rows, nanoarrow_rows, arro3_rows], ids=lambda f: f.__name__)
def test_every_library_takes_what_is_no_text(read):
    names = pa.chunked_array([["urn:example:a?=q", None], ["x", "urn:example:b"]])
    assert read(bulk.is_valid_urn(names)) == [True, None, False, True]
    codes = [row and row["code"] for row in read(bulk.check_urn(names))]
    assert codes == [None, None, "scheme", None]
    parts = [row and row["nss"] for row in read(bulk.split_urn(names))]
    assert parts == ["a", None, None, "b"]
    keys = read(bulk.fingerprint(names, kind="urn", secret="k"))
    assert [key and len(key) for key in keys] == [16, None, None, 16]


@pytest.mark.interop
def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    logs = pa.table({"path": ROWS})  # noqa: F841  (DuckDB finds it by its name)
    relation = connection.sql("select path from logs")
    result = bulk.unquote(relation)  # noqa: F841
    assert [row for (row,) in connection.sql("select path from result").fetchall()] == WANT
    connection.register("registered", bulk.unquote(connection.sql("select path from logs")))
    assert [row for (row,) in connection.sql("select * from registered").fetchall()] == WANT


@pytest.mark.interop
def test_tables_of_other_libraries():
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    frame = polars.DataFrame({"path": ROWS})
    assert polars.DataFrame(bulk.unquote(frame)).to_dict(as_series=False) == {"path": WANT}
    table = pa.table(bulk.unquote(pandas.DataFrame({"path": ROWS})))
    assert table.column("path").to_pylist() == WANT


def test_streams_of_batches():
    schema = pa.schema({"path": pa.string()})
    reader = pa.RecordBatchReader.from_batches(schema, [pa.record_batch({"path": ROWS})] * 3)
    assert pa.table(bulk.unquote(reader))["path"].to_pylist() == WANT * 3


# --- what is not imported --------------------------------------------------------------------------------------------


@pytest.mark.process
def test_nothing_is_imported_for_a_call():
    code = """
import sys
from uricodec import bulk
bulk.unquote(["%41"]), bulk.unquote(b"%41"), bulk.fingerprint(["a"])
for name in "pyarrow", "numpy", "polars", "pandas", "threading":
    assert name not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# --- released once ----------------------------------------------------------------------------------------------------


def allocated():
    gc.collect()
    return pa.total_allocated_bytes()


def test_sources_are_released():
    before = allocated()
    source = pa.array(["/a%20b" * 100] * 1000)
    result = bulk.unquote(source)
    del source
    assert allocated() == before  # the result has a copy
    views = pa.array(["/plain" * 100] * 1000, pa.string_view())
    result = bulk.unquote(views)
    del views
    assert allocated() > before  # the result shares
    taken = pa.array(result)
    del result
    assert taken[0].as_py() == "/plain" * 100
    part = taken.slice(500, 2)
    del taken
    assert part.to_pylist() == ["/plain" * 100] * 2
    del part
    assert allocated() == before


def test_unused_capsules_are_released():
    before = allocated()
    for name in "unquote", "is_valid_urn", "check_urn", "split_urn", "fingerprint":
        for type_ in pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()):
            result = getattr(bulk, name)(pa.array(["/a%20b/longer/than/a/view", None], type_))
            capsules = [result.__arrow_c_schema__(), *result.__arrow_c_array__(), result.__arrow_c_stream__()]
            del capsules, result
        assert allocated() == before, name


@pytest.mark.slow
def test_results_are_no_leak():
    """Our own memory: many rounds take no more of it than a few."""
    resource = pytest.importorskip("resource")

    def rounds(count):
        for _ in range(count):
            for type_ in pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()):
                source = pa.chunked_array([pa.array(["/a%20b/longer/than/a/view" * 20] * 500, type_)] * 3)
                for name in "unquote", "is_valid_urn", "check_urn", "split_urn", "fingerprint":
                    result = getattr(bulk, name)(source)
                    pa.chunked_array(result)
                    result.__arrow_c_array__()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    few = rounds(80)  # memory of freed results is kept for others, up to a limit
    assert rounds(40) - few < 5_000  # kilobytes; one round leaks 3000 if it leaks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), [("unquote", "string_view"), ("is_valid_urn", "string"), ("fingerprint", "string")]
)
def test_chunks_take_little_more_than_their_rows(name, kind):
    """What a task needs while it runs, it has while it runs: there are as many as chunks."""
    pytest.importorskip("resource")
    code = f"""
import resource
import pyarrow as pa
from uricodec import bulk
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = pa.chunked_array([pa.array(["/a%20b%C3%A9/which/is/longer", "x"], pa.{kind}())] * 5_000)
bulk.{name}(rows.slice(0, 2))
before = peak()
result = bulk.{name}(rows)
print((peak() - before) / 5_000)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert float(done.stdout) < 6  # kilobytes a chunk


def test_a_consumer_may_release_on_another_thread():
    holder = [pa.array(bulk.unquote(pa.array(["/a%20b"] * 10)))]
    thread = threading.Thread(target=holder.clear)
    thread.start()
    thread.join()
    assert not holder


def test_children_that_are_moved_out_live_on():
    parts = pa.array(bulk.split_urn(pa.array(["urn:example:a", None])))
    nid = parts.field("nid")
    del parts
    gc.collect()
    assert nid.to_pylist() == ["example", None]


class Once:
    """Gives the same capsules again and again."""

    def __init__(self, capsules):
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules


class Stream(Once):
    __arrow_c_array__ = property()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.capsules


def test_capsules_serve_once():
    source = Once(pa.array(ROWS).__arrow_c_array__())
    assert pyarrow_rows(bulk.unquote(source)) == WANT
    with pytest.raises(ValueError, match="released"):
        bulk.unquote(source)
    schema, _ = pa.array(ROWS).__arrow_c_array__()
    with pytest.raises(ValueError, match="used before"):
        bulk.unquote(Once((schema, source.capsules[1])))
    result = bulk.unquote(pa.array(ROWS))
    for _ in range(2):  # a Column gives new ones each time
        assert pyarrow_array_rows(result) == pyarrow_rows(result) == WANT
    capsules = result.__arrow_c_array__()
    assert pa.array(Once(capsules)).to_pylist() == WANT
    with pytest.raises(ValueError, match="released"):
        bulk.unquote(Once(capsules))


def test_a_stream_serves_once():
    class Reader:
        def __init__(self):
            self.capsule = pa.chunked_array([ROWS]).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    reader = Reader()
    assert pyarrow_rows(bulk.unquote(reader)) == WANT
    with pytest.raises(ValueError, match="used before"):
        bulk.unquote(reader)


def test_a_stream_that_fails():
    def batches():
        yield pa.record_batch({"path": ["%41"]})
        raise RuntimeError("the disk is on fire")

    before = allocated()
    reader = pa.RecordBatchReader.from_batches(pa.schema({"path": pa.string()}), batches())
    with pytest.raises(ValueError, match="on fire"):
        bulk.unquote(reader)
    del reader
    assert allocated() == before


@pytest.mark.parametrize("capsules", [(1, 2), (None, None), 5, ()], ids=repr)
def test_rejects_other_objects_than_capsules(capsules):
    with pytest.raises((TypeError, ValueError)):
        bulk.unquote(Once(capsules))


# --- what is no array -------------------------------------------------------------------------------------------------


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def spoiled(array, spoil):
    """The array with its struct changed. pyarrow may not release what is changed, so that it is not asked to look."""
    schema, capsule = array.__arrow_c_array__()
    spoil(ctypes.cast(pointer_of(capsule, b"arrow_array"), ctypes.POINTER(Array)).contents)
    return Once((schema, capsule))


def octets_of(values, width):
    return b"".join(value.to_bytes(width, "little", signed=True) for value in values)


@pytest.mark.parametrize("values", [[0, 5, 2, 6], [5, 2, 6, 7], [-1, 2, 3, 4], [3, 2, 1, 0]], ids=str)
@pytest.mark.parametrize("width", [4, 8])
def test_decreasing_offsets_are_rejected(width, values):
    type_ = pa.string() if width == 4 else pa.large_string()
    offsets = bytearray(octets_of([0, 1, 2, 3], width))
    source = pa.Array.from_buffers(type_, 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"x" * 10)])
    offsets[:] = octets_of(values, width)
    for name in "unquote", "is_valid_urn", "split_urn":
        with pytest.raises(ValueError, match="decreasing offsets"):
            getattr(bulk, name)(source)


def test_short_views_after_long_ones():
    """A block of rows may end before a row that is stored in its view."""
    rows = [("%41" * 5 * k)[:length] for k in range(1, 9) for length in (120, 12, 3)] * 300
    source = pa.array(rows, pa.string_view())
    assert pa.array(bulk.unquote(source)).to_pylist() == bulk.unquote(rows)


def view(size, prefix=b"abcd", buffer=0, start=0):
    return (
        size.to_bytes(4, "little", signed=True)
        + prefix
        + buffer.to_bytes(4, "little", signed=True)
        + start.to_bytes(4, "little", signed=True)
    )


@pytest.mark.parametrize(
    "views",
    [view(-1), view(20, buffer=1), view(20, buffer=-1), view(20, start=100), view(20, start=-1), view(101)],
    ids=str,
)
def test_views_out_of_range_are_rejected(views):
    source = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(views), pa.py_buffer(b"x" * 100)])
    for name in "unquote", "normalize_urn", "split_urn":
        with pytest.raises(ValueError, match="out of range"):
            getattr(bulk, name)(source)
    names = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), source)
    with pytest.raises(ValueError, match="out of range"):
        bulk.split_urn(names)


@pytest.mark.parametrize("index", [-1, 3, 2**31 - 1])
def test_indices_out_of_range_are_rejected(index):
    indices = pa.array([0, index], pa.int32())
    source = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    with pytest.raises(ValueError, match="out of range"):
        bulk.split_urn(source)
    bulk.unquote(source, errors="null", invalid=bulk.InvalidRows())  # nobody looks at the indices


def test_sizes_that_cannot_be():
    for name, value in (("length", -1), ("offset", -1), ("n_buffers", -1), ("n_buffers", 1)):
        with pytest.raises(ValueError, match="Arrow array"):
            bulk.unquote(spoiled(pa.array(ROWS), lambda array, name=name, value=value: setattr(array, name, value)))


LONG = ["a" * 20, "%41" * 7, "urn:a1:" + "b" * 13]
COLUMNS = {
    **{str(type_): pa.array(LONG, type_) for type_ in (pa.string(), pa.large_string(), pa.string_view())},
    **{str(type_): pa.array(LONG, type_) for type_ in (pa.binary(), pa.large_binary(), pa.binary_view())},
    "dictionary": pa.array(LONG).dictionary_encode(),
    "views in a dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(LONG, pa.string_view())),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), pa.array(LONG)),
    "table": pa.StructArray.from_arrays([pa.array(LONG)], ["a"]),
}


def parts_of(array):
    """The struct of an array, and those in it that a column of text has."""
    yield array
    address = ctypes.sizeof(ctypes.c_void_p)
    for i in range(array.n_children):
        place = ctypes.c_void_p.from_address(array.children + i * address).value
        yield from parts_of(Array.from_address(place))
    if array.dictionary:
        yield from parts_of(Array.from_address(array.dictionary))


def attempts(source, spoil, uses):
    """What becomes of each use of an array whose struct, or one in it, is spoiled: an error, or its rows."""
    _, capsule = source.__arrow_c_array__()
    for part in range(len(list(parts_of(Array.from_address(pointer_of(capsule, b"arrow_array")))))):
        for use in uses:
            changed = spoiled(source, lambda array, part=part: spoil(list(parts_of(array))[part]))
            try:
                yield part, use(changed)
            except (ValueError, MemoryError) as error:
                yield part, error
            except TypeError as error:
                assert use is USES[3] and "format '+r'" in str(error)


USES = [bulk.unquote, bulk.is_valid_urn, bulk.split_urn, lambda source: dedup.unique(source, "urn")]
USES += [lambda source, run=run: list(run(source)) for run in (bulk.unquote, bulk.split_urn)]


@pytest.mark.slow
@pytest.mark.parametrize("column", COLUMNS)
def test_wrong_sizes_are_rejected(column):
    for name in "length", "offset", "null_count", "n_buffers", "n_children":
        check_wrong_sizes(column, name)


def check_wrong_sizes(column, name):
    values = [-(2**63), -2, -1, 2**31 - 1, 2**59, 2**60, 2**61, 2**62, 2**63 - 16, 2**63 - 1]
    for value in values:
        if name in ("length", "offset", "n_buffers", "n_children") and 0 <= value < 2**49:
            continue  # it cannot be known that there is no such memory
        if name in ("n_buffers", "n_children") and value > 0:
            continue
        for part, found in attempts(COLUMNS[column], lambda array, value=value: setattr(array, name, value), USES):
            fine = name == "null_count" and value == -1
            fine |= name == "n_children" and column not in ("runs", "table")
            fine |= name == "n_buffers" and part == 0 and column in ("runs", "table") and value >= 0
            assert fine or isinstance(found, (ValueError, MemoryError)), (name, part, value, found)
            assert not fine or not isinstance(found, ValueError) or "Arrow" in str(found)


@pytest.mark.parametrize("column", COLUMNS)
def test_arrays_that_lack_a_buffer(column):
    """Whichever it is, if its rows need it. Without rows, none is needed."""
    source = COLUMNS[column]
    for number in range(5):

        def spoil(array, number=number):
            if number < array.n_buffers:
                array.buffers[number] = None

        for part, found in attempts(source, spoil, USES):
            struct = list(parts_of(Array.from_address(pointer_of(source.__arrow_c_array__()[1], b"arrow_array"))))[part]
            needed = 0 < number < struct.n_buffers
            assert isinstance(found, ValueError) == needed, (part, number, found)
            assert not needed or "missing a buffer" in str(found) or "run ends" in str(found)
        if column in ("runs", "table"):
            continue
        for start in 0, 2:
            empty = spoiled(source[start:start], spoil)
            if number < (2 if "view" in str(source.type) else 5):
                assert pyarrow_rows(bulk.unquote(empty)) == []


def test_nulls_without_their_buffer():
    source = pa.array(["a", None, "b"])
    with pytest.raises(ValueError, match="missing a buffer"):
        bulk.unquote(spoiled(source, lambda array: array.buffers.__setitem__(0, None)))
    for nulls in 4, -2:
        with pytest.raises(ValueError, match="nulls in 3 rows"):
            bulk.unquote(spoiled(source, lambda array, nulls=nulls: setattr(array, "null_count", nulls)))
    assert pyarrow_rows(bulk.unquote(spoiled(source, lambda array: setattr(array, "null_count", -1)))) == [
        "a",
        None,
        "b",
    ]


def test_negative_sizes_of_the_buffers_of_views():
    source = pa.array(LONG, pa.string_view())

    def spoil(array):
        sizes = ctypes.cast(array.buffers[array.n_buffers - 1], ctypes.POINTER(ctypes.c_int64))
        sizes[0] = -1

    with pytest.raises(ValueError, match="negative size"):
        bulk.unquote(spoiled(source, spoil))


STRUCTS = [("_type", None), ("_array", None), ("_type", [0, 1]), ("_array", [0, 1])]


@pytest.mark.parametrize(("struct", "indices"), STRUCTS, ids=str)
def test_structs_that_lack_a_part_are_rejected(struct, indices):
    parts = {"n_children": 1} | ({"buffers": None} if struct == "_array" else {})
    for name, value in (parts | ({"dictionary": None} if indices else {})).items():
        source = Lent([b"%41", b"b"], "u", indices)
        assert hasattr(getattr(source, struct), name)
        setattr(getattr(source, struct), name, value)
        for function in bulk.unquote, bulk.check_uri, bulk.is_valid_urn:
            with pytest.raises(ValueError, match=r"is missing a|differ in the number of children|has a dictionary"):
                function(source)


def test_a_schema_without_a_format():
    schema, array = pa.array(ROWS).__arrow_c_array__()
    ctypes.cast(pointer_of(schema, b"arrow_schema"), ctypes.POINTER(ctypes.c_void_p))[0] = None
    with pytest.raises(ValueError, match="is missing its format"):
        bulk.unquote(Once((schema, array)))


def test_structs_that_are_no_tables():
    column = pa.array(["%41", None, "%42"])
    table = pa.StructArray.from_arrays([column], ["a"])
    assert [row["a"] for row in pyarrow_rows(bulk.unquote(table[1:]))] == [None, "B"]
    with pytest.raises(TypeError, match="with nulls"):
        bulk.unquote(pa.StructArray.from_arrays([column], ["a"], mask=pa.array([False, True, False])))
    with pytest.raises(ValueError, match="has too few rows"):
        bulk.unquote(spoiled(table, lambda array: setattr(array, "length", 4)))


def test_types_of_many_levels():
    """Nothing recurses over what is given: reading the type would end the process."""
    types = [pa.string()]
    for _ in range(300):
        types.append(pa.list_(types[-1]))
    for level in 1, 63:
        with pytest.raises(TypeError, match="expected a column of text or bytes, got Arrow format"):
            bulk.unquote(pa.array([], types[level]))
    for level in 64, 65, 300:
        for column in pa.array([], types[level]), pa.chunked_array([], types[level]):
            with pytest.raises(ValueError, match=r"^the Arrow schema has more than 64 levels$"):
                bulk.unquote(column)


@pytest.mark.parametrize(
    "type_",
    [pa.int64(), pa.list_(pa.string()), pa.bool_(), pa.dictionary(pa.int8(), pa.int64()), pa.binary(4)],
    ids=str,
)
def test_other_types(type_):
    with pytest.raises(TypeError, match="Arrow format"):
        bulk.unquote(pa.nulls(2, type_))
