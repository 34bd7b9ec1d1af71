"""Long lists, which the row engine does block by block: the results are those of each item by itself."""

import random

import pytest
from reference.rows import rows_of
from support.limits import lowered
from support.operations import OPERATIONS

from uricodec import bulk
from uricodec._codec._rows import DecodeRows
from uricodec._rows._lists import ListWork
from uricodec._rows._tasks import Plan
from uricodec.uri._rows import COLUMNS, SplitReferences

LONG = 20_000  # more bytes than a block has


BLOCKS = (None, None), (3, 40)  # those of calls, and small ones


def items(operation):
    """Runs of str and of bytes, with all that no block takes between them."""
    source, hostile = random.Random(operation.id), rows_of(operation.rows)
    others = [
        None,
        "\ud800%41",
        "%zz\udfff",
        5,
        bytearray(b"%41"),
        memoryview(b"A%2f"),
        "é" * LONG,
        "%41" * LONG,
        b"a" * LONG,
    ]
    rows = []
    for length in 1, 2, 40, 300, 90, 5:
        octets = source.choices(hostile, k=length)
        texts = [row.decode("utf-8", "replace") for row in octets]
        rows += [text if source.random() < 0.95 else None for text in texts]
        rows += [source.choice(others), *octets[::3], source.choice(others), "x" * 16383, "y" * 100]
    return rows


def do(name, rows, how, errors, limit=1000):
    faults = bulk.InvalidRows(limit)
    return getattr(bulk, name)(rows, errors=errors, invalid=faults, **how), faults


@pytest.mark.slow
@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.bulk], ids=lambda operation: operation.id)
def test_long_lists(operation):
    all_rows, name, how = items(operation), operation.name, operation.given
    known_rows = [row for row in all_rows if row != 5]
    number = all_rows.index(5) if 5 in all_rows else len(all_rows)
    for errors in sorted({*operation.policies} - {"raise", "drop"}):
        rows = all_rows if errors == "null" else known_rows
        if rows != all_rows:
            with pytest.raises(TypeError, match=rf"^expected str, bytes-like or None at row {number}, got int$"):
                getattr(bulk, name)(all_rows, errors=errors, **how)
        each = [do(name, [row], how, errors) for row in rows]
        found = [(row, code, offset) for row, (_, fault) in enumerate(each) for _, code, offset in fault.rows]
        for sizes in BLOCKS:
            with lowered(most_rows=sizes[0], most_bytes=sizes[1]):
                done, faults = do(name, rows, how, errors)
                assert do(name, rows, how, errors, 3)[1].rows == found[:3]
                assert getattr(bulk, name)(rows, errors=errors, **how) == done
            assert done == [result[0] for result, _ in each], (errors, sizes)
            assert [type(row) for row in done] == [type(result[0]) for result, _ in each]
            assert (faults.count, faults.rows) == (len(found), found), (errors, sizes)
    texts = [row for row in all_rows if isinstance(row, str)]
    bad = do(name, texts, how, "null" if "null" in operation.policies else "keep")[1].rows
    if bad:
        with pytest.raises(ValueError, match=f"row {bad[0][0]}: ") as of_list:
            getattr(bulk, name)(texts, errors="raise", **how)
        with pytest.raises(ValueError, match="row 0: ") as of_item:
            getattr(bulk, name)([texts[bad[0][0]]], errors="raise", **how)
        error, single = of_list.value, of_item.value
        assert str(error) == str(single).replace("row 0: ", f"row {bad[0][0]}: ")
        assert (type(error), error.input, error.offset) == (type(single), single.input, single.offset)
    else:
        assert len(getattr(bulk, name)(texts, errors="raise", **how)) == len(texts)


def test_long_lists_give_the_same_objects_where_nothing_changes():
    rows = [f"http://example.org/{i}" for i in range(500)] + [f"/é{i}".encode() for i in range(500)] + ["é" * 70] * 50
    rows[7] = "HTTP://example.org/"
    done = bulk.normalize_uri(rows)
    assert [i for i, row in enumerate(rows) if row is not done[i]] == [7] and done[7] == "http://example.org/"
    assert rows[7] == "HTTP://example.org/"


def test_no_triplet_has_bytes_of_two_rows():
    rows = ["a%", "Ab:", "x%", "A", "Bc://H/", "y%4", "Eh:"] * 30
    wanted = ["a%", "ab:", "x%", "A", "bc://h/", "y%4", "eh:"] * 30
    assert bulk.normalize_uri(rows) == wanted
    pa = pytest.importorskip("pyarrow")
    assert list(bulk.normalize_uri(pa.array(rows))) == wanted


@pytest.mark.interop
def test_columns_of_lists():
    def work(fields=COLUMNS):
        return ListWork(lambda _: Plan(SplitReferences("uri"), "struct", fields), "keep", None)

    with pytest.raises(ValueError, match="have fields"):
        ListWork(lambda text: Plan(DecodeRows(False, text)), "keep", None).run(["a"], columns=bytearray)
    with pytest.raises((TypeError, BufferError)):
        work().run(["a"], columns=bytes)
    with pytest.raises(TypeError, match="array of 1 objects"):
        work().run(["a"], columns=bytearray)
    with pytest.raises(ValueError, match="at most 32"):
        work((*COLUMNS, *COLUMNS * 3, "last"))
    np = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="array of 1 objects"):
        work().run(["a"], columns=lambda n: np.full(n + 1, None, object))
    rows = ["http://a/b?c", None, "%", b"//h:80", "é"] * 40
    found = work().run(rows, columns=lambda n: np.full(n, None, object))
    dicts = work().run(rows)
    for field, column in zip(COLUMNS, found, strict=True):
        assert column.tolist() == [row and row[field] for row in dicts]
