"""Copies and pickles of columns, also in other processes, and run-end encoded columns."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from support.arrow_memory import Lent as Memory
from support.arrow_memory import rows_of

from uricodec import bulk
from uricodec.errors import UriError

ROWS = [b"HTTP://a/%7Eb?q=1&q=2#f", None, b"", b"//h/" + b"%41" * 30, b"urn:x:a b", b"http://\xc3\xa9/"]

LENT = []


def Lent(*arguments):
    """An array whose memory lives as long as the tests: columns of views share it."""
    LENT.append(Memory(*arguments))
    return LENT[-1]


COLUMNS = {
    **{
        f"text {layout}": (lambda layout=layout: bulk.normalize_uri(Lent(ROWS, layout)))
        for layout in ("u", "U", "vu", "z", "vz")
    },
    "long view": lambda: bulk.quote(Lent([b"a b" * 20, b"x" * 30, None], "vu")),
    "slice": lambda: bulk.normalize_uri(Lent(ROWS, "u"))[1:5],
    "dictionary": lambda: bulk.unquote(Lent([b"%41", b"b", b"%41"], "u", [0, 1, 2, 1, 0])),
    "verdicts": lambda: bulk.is_valid_uri(Lent(ROWS, "u")),
    "diagnostics": lambda: bulk.check_uri(Lent(ROWS, "u")),
    "structs": lambda: bulk.split_uri(Lent(ROWS, "u")),
    "lists": lambda: bulk.query_pairs(Lent(ROWS, "u")),
    "slice of lists": lambda: bulk.path_segments(Lent(ROWS, "u"))[2:],
    "fingerprints": lambda: bulk.fingerprint(Lent(ROWS, "u"), secret="k"),
    "chunks": lambda: bulk.Column(*two_chunks()),
    "no rows": lambda: bulk.unquote(Lent([], "u")),
    "nulls": lambda: bulk.unquote(Lent([None, None], "u")),
}


def two_chunks():
    column = bulk.unquote(Lent(ROWS, "u"))
    return column.type, column.arrays * 2


@pytest.mark.parametrize("name", COLUMNS)
def test_pickles_and_copies_have_the_same_rows(name):
    column = COLUMNS[name]()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(column, protocol))
        assert type(again) is bulk.Column and again.to_pylist() == column.to_pylist()
        assert again.type.format == column.type.format and len(again.arrays) == len(column.arrays)
        assert rows_of(again) == rows_of(column)
        if name.startswith("text"):  # a source again
            prints = bulk.fingerprint(again, secret="k").to_pylist()
            assert prints == bulk.fingerprint(column, secret="k").to_pylist()
    # A column never changes.
    assert copy.copy(column) is column and copy.deepcopy([column])[0] is column


def rows(column):
    return bulk.quote(column), len(column)


@pytest.mark.slow
def test_other_processes():
    column = bulk.unquote(Lent(ROWS, "u"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        quoted, count = pool.submit(rows, column).result()
    assert (quoted.to_pylist(), count) == (bulk.quote(column).to_pylist(), len(ROWS))


# --- run-end encoded --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["int16", "int32", "int64"])
def test_runs(ends):
    """Each run is one row of the operation; the results have the same runs."""
    pa = pytest.importorskip("pyarrow")
    values = pa.array(["%41", None, "100%", "b", "%zz"])
    whole = pa.RunEndEncodedArray.from_arrays(pa.array([3, 4, 6, 9, 11], ends), values)
    plain = [row for row, count in zip(values.to_pylist(), (3, 1, 2, 3, 2), strict=True) for _ in range(count)]
    for column in whole, whole[2:8], whole[4:], whole[:0], pa.chunked_array([whole, whole[5:]]):
        want = plain + plain[5:] if isinstance(column, pa.ChunkedArray) else column.to_pylist()
        invalid = bulk.InvalidRows()
        made = bulk.unquote(column, invalid=invalid, errors="null")
        assert made.to_pylist() == bulk.unquote(want, errors="null") and len(made) == len(want)
        assert pa.chunked_array(made).type.value_type == pa.string()
        assert pa.chunked_array(made).to_pylist() == made.to_pylist()
        first = {row for row in range(len(want)) if row == 0 or want[row - 1] != want[row] or row == 11}
        assert [row for row, _, _ in invalid.rows] == [row for row in sorted(first) if want[row] in {"100%", "%zz"}]
        assert bulk.is_valid_uri(column).to_pylist() == bulk.is_valid_uri(want)
        assert bulk.split_uri(column).to_pylist() == bulk.split_uri(want)
        assert bulk.query_value(column, "q").to_pylist() == bulk.query_value(want, "q")
        assert pickle.loads(pickle.dumps(made)).to_pylist() == made.to_pylist()
        assert made[1:3].to_pylist() == made.to_pylist()[1:3]
    with pytest.raises(UriError, match=r"^row 4: "):
        bulk.unquote(whole, errors="raise")
    with pytest.raises(UriError, match=r"^row 2: ") as caught:
        bulk.unquote(whole[2:], errors="raise")
    assert caught.value.row == 2
    assert repr(made).startswith("<Column of 17 run_end_encoded<string>: 'A', 'A'")
    numbers = pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([1]))
    with pytest.raises(TypeError, match="expected a column of text or bytes"):
        bulk.unquote(numbers)
