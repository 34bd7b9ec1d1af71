"""Operations on rows of several values: every kind of column, and mixtures of them, against calls of single values."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import rows as reference
from reference.codec import ill_formed
from support.arrow_memory import Lent, rows_of

from uricodec import ByteSet, bulk, uri
from uricodec.errors import UriError

BASES = [
    *(
        b"http://a.example/b/c/d?q",
        b"s:a/b",
        b"s:",
        b"//h/p",
        b"",
        b"urn:example:a#f",
        b"HTTP://\xc3\xa9/\xc3\xa9/..//",
        None,
    ),
    b"http://a.example",
]


def unsplit(path, scheme, authority, query, fragment):
    return uri.unsplit((scheme, authority, path, query, fragment))


def relation(a, b):
    found = uri.relation(a, b)
    return found if isinstance(a, str) else found.encode()


class Case:
    """An operation: its columns of bytes, the function of one row, and which nulls make a row null."""

    def __init__(self, name, columns, single, needed):
        self.name, self.single, self.needed, self.is_text = name, single, needed, name != "equivalent"
        self.columns = {key: list(rows) for key, rows in columns.items()}
        self.rows = list(zip(*self.columns.values(), strict=True))

    def want(self, errors, text):
        """The results and the rows that are invalid."""
        results, invalid = [], []
        for number, row in enumerate(self.rows):
            values = [value.decode() if text and value is not None else value for value in row]
            if any(value is None and needed for value, needed in zip(values, self.needed, strict=True)):
                results.append(None)
                continue
            try:
                results.append(self.single(*values))
            except UriError as error:
                invalid.append((number, error.offset))
                results.append(None if errors == "null" else values[0] if self.is_text else False)
        return results, invalid


def repeated(values, count):
    return [values[number % len(values)] for number in range(count)]


@pytest.fixture(scope="module")
def cases():
    rows = [row for row in reference.rows_of("uris") if not ill_formed(row)]
    rows = [*rows, None, *rows[::3]]
    count = len(rows)
    bases = {"": rows, "base": repeated(BASES, count)}
    parts = {
        "": rows,
        "scheme": repeated([b"http", None, b"s", b"1", b"", None, None], count),
        "authority": repeated([b"a", None, None, b"u@h:80", b"[::1]", b"a b", b"\xc3\xa9", None, None], count),
        "query": repeated([None, b"q=1", b"", b"#"], count),
        "fragment": repeated([b"f", None, None], count),
    }
    others = {"": rows, "other": repeated(rows[1:] + rows[5:9], count)}
    others["other"][::2] = [row and row.replace(b"%7E", b"~").replace(b"a", b"A") for row in others["other"][::2]]
    others["other"][::5] = [row and row.partition(b"#")[0].partition(b"?")[0] for row in rows[::5]]
    targets = [row and b"http://a.example/b/" + row.partition(b":")[2] for row in rows]
    return [
        Case("resolve", bases, lambda ref, base: uri.resolve(base, ref), (True, True)),
        Case(
            "relativize", {"": targets, "base": bases["base"]}, lambda to, base: uri.relativize(base, to), (True, True)
        ),
        Case("equivalent", others, uri.equivalent, (True, True)),
        Case("relation", others, relation, (True, True)),
        Case("unsplit", parts, unsplit, (True, False, False, False, False)),
    ]


def texts(rows):
    return [None if row is None else row.decode() for row in rows]


def octets(rows):
    return [None if row is None else row.encode() for row in rows]


def buffers(rows):
    return [None if row is None else (bytearray, memoryview, bytes)[number % 3](row) for number, row in enumerate(rows)]


def dictionary(layout):
    def make(rows):
        values = list(dict.fromkeys([b"unused", *rows[::-1]]))
        return Lent(values, layout, [values.index(row) for row in rows])

    return make


def chunks(rows):
    parts = [
        bulk.quote(Lent(rows[at : at + 100], "u"), safe=uri_safe(), errors="keep") for at in range(0, len(rows), 100)
    ]
    return bulk.Column(parts[0].type, [array for part in parts for array in part.arrays])


def uri_safe():
    return ByteSet(range(256))


TEXT = {
    "list": texts,
    "tuple": lambda rows: tuple(texts(rows)),
    "chunks": chunks,
    "sliced": lambda rows: Lent([b"a", None, *rows, b"b"], "u", start=2, after=1),
    "dictionary": dictionary("u"),
    **{layout: partial(lambda layout, rows: Lent(rows, layout), layout) for layout in ("u", "U", "vu")},
}
OCTETS = {
    "list of bytes": list,
    "list of buffers": buffers,
    **{layout: partial(lambda layout, rows: Lent(rows, layout), layout) for layout in ("z", "Z", "vz")},
}


def run(case, kinds, errors, text, invalid=None, **options):
    columns = [kinds[number % len(kinds)](rows) for number, rows in enumerate(case.columns.values())]
    column, *others = columns
    named = dict(zip([*case.columns][1:], others, strict=True))
    made = getattr(bulk, case.name)(column, **named, errors=errors, invalid=invalid, **options)
    return made if isinstance(made, list) else rows_of(made)


@pytest.mark.slow
@pytest.mark.parametrize("errors", ["keep", "null"])
@pytest.mark.parametrize("second", [*TEXT, *OCTETS])
def test_every_kind_of_column(cases, second, errors):
    kinds = TEXT if second in TEXT else OCTETS
    for case in cases:
        want, bad = case.want(errors, second in TEXT)
        for first in kinds:
            invalid = bulk.InvalidRows(limit=1_000_000)
            made = run(case, [kinds[first], kinds[second]], errors, second in TEXT, invalid)
            assert made == want, (case.name, first)
            assert [row for row, _, _ in invalid.rows] == [row for row, _ in bad] and invalid.count == len(bad)
            if kinds is OCTETS or first in {"list", "tuple"}:
                assert [(row, at) for row, _, at in invalid.rows] == bad


@pytest.mark.slow
def test_threads_and_blocks(cases):
    for case in cases:
        long = Case(case.name, {name: rows * 40 for name, rows in case.columns.items()}, case.single, case.needed)
        want, bad = case.want("keep", True)
        for threads in 1, 3:
            invalid = bulk.InvalidRows()
            assert run(long, [TEXT["u"], TEXT["vu"]], "keep", True, invalid, threads=threads) == want * 40
            assert invalid.count == 40 * len(bad) and len(invalid.rows) == min(invalid.count, 100)


def test_first_error(cases):
    for case in (case for case in cases if case.want("null", True)[1]):
        for kind in (TEXT["list"], TEXT["u"], OCTETS["list of bytes"]):
            with pytest.raises(UriError) as caught:
                run(case, [kind], "raise", True)
            row = case.want("null", True)[1][0][0]
            values = [value if kind is list or value is None else value.decode() for value in case.rows[row]]
            with pytest.raises(UriError) as single:
                case.single(*values)
            assert caught.value.row == row and str(caught.value).startswith(f"row {row}: ")
            found = caught.value.input, caught.value.offset
            assert found == (single.value.input, single.value.offset)
            assert single.value.row is None


def test_rows_of_both_types():
    refs, bases = ["a", b"a", None, "é"], ["http://h/", b"http://h/", "s:", "http://h/é/"]
    assert bulk.resolve(refs, bases) == ["http://h/a", b"http://h/a", None, "http://h/é/é"]
    with pytest.raises(TypeError, match=r"^expected only str or only bytes-like at row 1, got both$"):
        bulk.resolve(["a", b"a"], ["s:", "s:"])
    assert bulk.unsplit(["/a", b"/b"], query=["é", b"q"], errors="null") == [None, b"/b?q"]


def test_values_that_are_no_text():
    with pytest.raises(TypeError, match=r"^expected str, bytes-like or None at row 1, got int$"):
        bulk.resolve(["a", "b"], ["s:", 5])
    invalid = bulk.InvalidRows()
    assert bulk.resolve(["a", 5, "c\ud800", "é"], ["s:", "s:", "s:", 5], errors="null", invalid=invalid) == [
        *("s:a", None, None, None)
    ]
    assert invalid.rows == [(1, "type", 0), (2, "surrogate", 1), (3, "type", 0)]
    invalid = bulk.InvalidRows()
    assert bulk.resolve(["\ud800", "a", "é"], ["s:", "é\ud800", "s:"], invalid=invalid) == ["\ud800", "a", "s:é"]
    assert invalid.rows == [(0, "surrogate", 0), (1, "surrogate", 1)]
    with pytest.raises(UriError, match=r"^row 0: lone surrogate at offset 1$"):
        bulk.resolve(["a"], ["é\ud800"], errors="raise")


def test_arguments():
    with pytest.raises(ValueError, match=r"^base must have as many rows as the column, 1, got 2$"):
        bulk.resolve(["a"], ["s:", "s:"])
    with pytest.raises(TypeError, match=r"^base must be one value for lines, not a column$"):
        bulk.resolve(b"a\n", ["s:"])
    with pytest.raises(TypeError, match=r"^base must be str, bytes-like or a column, not int$"):
        bulk.resolve(["a"], 5)
    with pytest.raises(TypeError, match=r"^base must be str, bytes-like or a column, not NoneType$"):
        bulk.relativize(["a"], None)
    with pytest.raises(UriError, match=r"^base URI has no scheme at offset 0$") as caught:
        bulk.relativize(["a"], "/b")
    assert caught.value.row is None
    with pytest.raises(UriError, match=r"^lone surrogate in base at offset 1$"):
        bulk.resolve(["a"], "s\ud800")
    assert bulk.resolve([], []) == [] and bulk.resolve([None], [None]) == [None]


@given(st.lists(st.tuples(*[st.one_of(st.none(), st.text("/.:?#a%é", max_size=8))] * 2), max_size=30))
def test_any_rows(pairs):
    refs, bases = [ref for ref, _ in pairs], [None if base is None else f"s:{base}" for _, base in pairs]
    case = Case(
        "resolve",
        {"": octets(refs), "base": octets(bases)},
        lambda ref, base: uri.resolve(base, ref),
        (True, True),
    )
    assert bulk.resolve(refs, bases) == case.want("keep", True)[0]


def test_types_of_results():
    """Text keeps its type; views and dictionaries become plain strings."""
    for layout, found in {"u": b"u", "U": b"U", "vu": b"u", "z": b"z", "Z": b"Z", "vz": b"z"}.items():
        assert bulk.resolve(Lent([b"a"], layout), ["s:"]).type.format == found
    assert bulk.resolve(Lent([b"a"], "vu"), "s:").type.format == b"vu"
