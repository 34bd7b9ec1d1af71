"""Bytes that are not UTF-8, and malformed triplets: one meaning on every path, under every policy, reported or not."""

import io
import json
from functools import cache, partial

import pytest
from reference import codec as naive
from support.command import run

from uricodec import bulk
from uricodec.bytesets import RFC3986_UNRESERVED
from uricodec.errors import UriSyntaxError

pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.interop

CASES = [
    *[b"\xad", b"a\xff", b"\xad%zz", b"%zz\xad", b"%4\xad", b"\xad%41", b"%41\xad%C3%A9", b"\xad %", b"%"],
    *[b"\xc3\xa9%FF", b"%FF\xc3\xa9", b"\xe6\x97\xa5%E6%97", b"%zz", b"100%", b"%4", b"a%u0041", b"%%41"],
    *[b"\xc3%A9", b"%C3\xa9", b"\xe6%97\xa5", b"%E6\x97%A5", b"\xf0%9F%98\x80", b"\xc3%zz", b"%C3%\xa9"],  # mixed
    *[
        b"%F0%8F%BF%BF",
        b"%F0%80%80%80",
        b"%C0%80",
        b"%c1%bf",
        b"%E0%9F%BF",
        b"\xf0\x8f\xbf\xbf",
        b"\xc0\x80",
    ],  # overlong
    *[b"\xf0\x8f%BF%BF", b"%F0\x8f\xbf%BF", b"\xe0%80\x80"],
    *[b"%ED%A0%80", b"%ED%BF%BF", b"\xed\xa0\x80", b"%ED%A0%BD%ED%B8%80", b"%F4%90%80%80", b"%F8%88%80%80%80", b"%FE"],
    *[
        b"a%C3",
        b"%E6%97",
        b"%F0%9F%98",
        b"a\xc3",
        b"\xe6\x97",
        b"\xf0\x9f\x98",
        b"%F0\x9f",
        b"\xf0%9F",
        b"%A9",
        b"\xa9",
    ],
    *[b"%C3%A9", b"caf\xc3\xa9", b"%E6%97%A5 b", b"plain", b"", b"a+b%2B", b"%F0%90%80%80", b"%EF%BF%BD", b"%25zz"],
]
GOOD = [b"/caf%C3%A9", b"plain", "日本".encode(), b""]
ROWS = {
    **{f"{case!r}": [case] for case in CASES},
    "alternating": [row for case in CASES for row in (case, GOOD[len(case) % len(GOOD)])],
    "neighbours": CASES,  # of which one may complete another one
    "a fault in many": [b"/a%20b/" + b"c" * 20] * 300 + [b"\xad"] + [b"/a%20b/" + b"c" * 20] * 300,
    "a plain fault in many": [b"/a/" + b"c" * 20] * 300 + [b"\xad"] + [b"/a/" + b"c" * 20] * 300,
    "long": [b"/" * 20_000 + case for case in (b"\xad", b"%zz", b"%C3", b"\xc3%A9", b"%C3%A9")],
}
SAFE = {
    "quote": {octet for octet in range(256) if octet in RFC3986_UNRESERVED} | {*b"/"},
    "requote": {octet for octet in range(256) if octet in RFC3986_UNRESERVED} | {*b":/?#[]@!$&'()*+,;="},
}
COMMANDS = {"percent_decode": "decode", "quote": "encode", "requote": "requote"}
REASONS = {"percent": '"%" not followed by two hexadecimal digits', "utf-8": "invalid UTF-8"}
POLICIES = ["keep", "replace", "null", "raise"]


@cache
def reference(name, row, errors, text=True):
    """A row by "keep" or "replace", and the first fault: (code, offset). In unquote, rows of bytes have none."""
    if name in SAFE:
        return naive.encode_row(row, errors, SAFE[name], triplets=name == "requote", utf8=text)
    if name == "percent_decode":
        return naive.decode_row(row, errors, utf8=text, stay=frozenset() if not text else naive.CONTROLS)
    if text:
        return naive.decode_row(row, errors, "keep")
    return naive.decode_row(row, "keep", utf8=False, stay=frozenset())[0], None


def wanted(name, rows, errors, text=True):
    """The results, None for those that are not written, and the report."""
    done = [reference(name, row, "replace" if errors == "replace" else "keep", text) for row in rows]
    report = [(number, *fault) for number, (_, fault) in enumerate(done) if fault]
    drops = errors not in ("keep", "replace")
    return [None if fault and drops else made for made, fault in done], report


# --- uricodec.bulk ----------------------------------------------------------------------------------------------------


def as_text(rows, type_):
    """An array that says that it is text, whatever the rows are."""
    octets = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    array = pa.array([b"x", *rows], octets[type_])[1:]
    return pa.Array.from_buffers(type_, len(array), array.buffers(), offset=array.offset)


def of_text(result):
    octets = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    arrays = pa.chunked_array(result).chunks
    return [
        row
        for array in arrays
        for row in pa.Array.from_buffers(
            octets[array.type], len(array), array.buffers(), offset=array.offset
        ).to_pylist()
    ]


def of_dictionary(result):
    array = pa.array(result)
    values = of_text(array.dictionary)
    return [None if index is None else values[index] for index in array.indices.to_pylist()]


def dictionary(rows):
    indices = [i for i, _ in enumerate(rows)]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), as_text(rows, pa.string()), safe=False)


def of_file(function, data, **how):
    output = io.BytesIO()
    function(io.BytesIO(data), output=output, **how)
    return output.getvalue()


def of_lines(end):
    return lambda result: [row or None for row in result.split(end)[:-1]]


def chunked(rows):
    parts = [rows[start : start + 3] for start in range(0, len(rows), 3)]
    return pa.chunked_array([as_text(part, pa.string()) for part in parts], pa.string())


def call(function, source, **how):
    return function(source, **how)


# name -> the source of some rows, how it is done, the rows of a result, and whether they are text
BULK = {
    "list of bytes": (list, call, list, False),
    "list of bytearray": (
        lambda rows: [bytearray(row) for row in rows],
        call,
        lambda made: [*map(as_bytes, made)],
        False,
    ),
    "binary": (lambda rows: pa.array(rows, pa.binary()), call, lambda made: pa.array(made).to_pylist(), False),
    "large_binary": (
        lambda rows: pa.array(rows, pa.large_binary()),
        call,
        lambda made: pa.array(made).to_pylist(),
        False,
    ),
    "binary_view": (
        lambda rows: pa.array(rows, pa.binary_view()),
        call,
        lambda made: pa.array(made).to_pylist(),
        False,
    ),
    "string": (partial(as_text, type_=pa.string()), call, of_text, True),
    "large_string": (partial(as_text, type_=pa.large_string()), call, of_text, True),
    "string_view": (partial(as_text, type_=pa.string_view()), call, of_text, True),
    "chunks": (chunked, call, of_text, True),
    "dictionary": (dictionary, call, of_dictionary, True),
    "lines": (lambda rows: b"".join(row + b"\n" for row in rows), call, of_lines(b"\n"), True),
    "lines with CR": (lambda rows: b"".join(row + b"\r\n" for row in rows), call, of_lines(b"\r\n"), True),
    "lines with NUL": (
        lambda rows: bytearray(b"".join(row + b"\0" for row in rows)),
        lambda function, source, **how: function(source, line_terminator=b"\0", **how),
        of_lines(b"\0"),
        True,
    ),
    "file": (lambda rows: b"".join(row + b"\n" for row in rows), of_file, of_lines(b"\n"), True),
}


def as_bytes(made):
    return None if made is None else bytes(made)


@pytest.mark.parametrize("path", BULK)
@pytest.mark.parametrize("errors", POLICIES)
@pytest.mark.parametrize("name", ["quote", "requote", "unquote", "percent_decode"])
def test_bulk(tier, name, errors, path):
    make, do, rows_of, text = BULK[path]
    function = getattr(bulk, name)
    ended = isinstance(make([]), (bytes, bytearray))
    for case, rows in ROWS.items():
        want, report = wanted(name, rows, errors, text)
        want = [row or None for row in want] if ended else want
        source = make(rows)
        for faults in None, bulk.InvalidRows(limit=1000):
            how = {"errors": errors, "invalid": faults}
            if errors == "raise" and report:
                number, code, offset = report[0]
                with pytest.raises(UriSyntaxError) as caught:
                    do(function, source, **how)
                assert (caught.value.row, caught.value.reason) == (number, REASONS[code]), case
                row = caught.value.input
                if not isinstance(row, str):
                    assert (row, caught.value.offset) == (rows[number], offset), case
                else:
                    assert row == rows[number].decode("utf-8", "replace")
                    assert caught.value.offset == len(rows[number][:offset].decode("utf-8", "replace")), case
                continue
            assert rows_of(do(function, source, **how)) == want, (case, faults)
            if faults is not None:
                assert (faults.count, faults.rows) == (len(report), report), case


@pytest.mark.slow
@pytest.mark.parametrize("path", ["lines", "file", "string", "string_view", "binary"])
@pytest.mark.parametrize("name", ["quote", "requote", "unquote", "percent_decode"])
def test_threads(name, path):
    make, do, rows_of, text = BULK[path]
    rows = [*CASES, *[b"/a%20b/" + b"c" * 20_000] * 80] * 2
    for errors in "keep", "replace", "null":
        want, report = wanted(name, rows, errors, text)
        want = [row or None for row in want] if path in {"lines", "file"} else want
        for threads in 1, 2, 3:
            faults = bulk.InvalidRows(limit=1000)
            how = {"errors": errors, "threads": threads}
            assert rows_of(do(getattr(bulk, name), make(rows), **how)) == want
            assert rows_of(do(getattr(bulk, name), make(rows), invalid=faults, **how)) == want
            assert (faults.count, faults.rows) == (len(report), report)


def test_the_default_of_unquote_is_what_urllib_does():
    for row in CASES:
        want = naive.decode_row(row, "replace", "keep")[0] + b"\n"
        assert bulk.unquote(row + b"\n") == bulk.unquote(row + b"\n", invalid=bulk.InvalidRows()) == want


@pytest.mark.parametrize("errors", POLICIES)
@pytest.mark.parametrize("name", ["quote", "requote", "unquote", "percent_decode"])
def test_str(tier, name, errors):
    rows = [row for row in CASES if not naive.ill_formed(row)]
    texts = [row.decode() for row in rows]
    want, report = wanted(name, rows, errors)
    want = [None if row is None else row.decode() for row in want]
    report = [(row, code, len(rows[row][:offset].decode())) for row, code, offset in report]
    function = getattr(bulk, name)
    if errors == "raise" and report:
        with pytest.raises(UriSyntaxError, match=f"row {report[0][0]}: {REASONS[report[0][1]]}"):
            function(texts, errors=errors)
        return
    faults = bulk.InvalidRows(limit=1000)
    assert function(texts, errors=errors) == function(texts, errors=errors, invalid=faults) == want
    assert (faults.count, faults.rows) == (len(report), report)


@pytest.mark.parametrize("errors", ["keep", "replace", "null"])
@pytest.mark.parametrize("name", ["quote", "requote", "unquote", "percent_decode"])
def test_engines(name, errors):
    rows = [row for row in CASES if not naive.ill_formed(row)]
    texts = [row.decode() for row in rows]
    want = [None if row is None else row.decode() for row in wanted(name, rows, errors)[0]]
    octets, _ = wanted(name, CASES, errors, text=False)
    pl = pytest.importorskip("polars", reason="polars is the extra polars")
    import uricodec.integrations.polars

    assert getattr(pl.Series(texts).uricodec, name)(errors=errors).to_list() == want
    assert getattr(pl.Series(CASES, dtype=pl.Binary).uricodec, name)(errors=errors).to_list() == octets
    pd = pytest.importorskip("pandas", reason="pandas is the extra pandas")
    import uricodec.integrations.pandas  # noqa: F401

    for dtype in object, pd.StringDtype("pyarrow"):
        made = getattr(pd.Series(texts, dtype=dtype).uricodec, name)(errors=errors)
        assert [None if pd.isna(row) else row for row in made] == want
    made = getattr(pd.Series(CASES, dtype=pd.ArrowDtype(pa.binary())).uricodec, name)(errors=errors)
    assert [None if row is pd.NA else row for row in made] == octets
    duckdb = pytest.importorskip("duckdb", reason="duckdb is the extra duckdb")
    from uricodec.integrations import duckdb as hook

    con = duckdb.connect()
    hook.register(con, errors=errors)
    texts_of_arrow = pa.table({"x": texts})  # noqa: F841  (DuckDB finds it)
    sql = {"quote": "uri_encode", "requote": "uri_requote", "unquote": "uri_decode"}.get(name, name)
    assert [row for (row,) in con.sql(f"select {sql}(x) from texts_of_arrow").fetchall()] == want


# --- the command line -------------------------------------------------------------------------------------------------

PATHS = {
    "lines": [],
    "threads": ["-j", "2"],
    "fields": ["-f", "1-"],
    "csv": ["--csv"],
    "nul": ["-z"],
}


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("errors", ["keep", "replace", "null", "drop", "raise"])
@pytest.mark.parametrize("name", COMMANDS)
def test_command_line(tier, name, errors, path, tmp_path):
    bad = tmp_path / "bad"
    for case, rows in ROWS.items() if errors == "raise" and path == "lines" else list(ROWS.items())[len(CASES) :]:
        if path == "csv":
            rows = [row for row in rows if row]  # noqa: PLW2901  (an empty line is a record of no fields)
        want, report = wanted(name, rows, errors)
        end = b"\0" if path == "nul" else b"\n"
        data = b"".join(row + end for row in rows)
        if errors == "drop":
            want = [row for row in want if row is not None]
        if path == "csv":
            want = [b'""' if row is None else row for row in want]
        output = b"".join((row or b"") + end for row in want)
        command = [COMMANDS[name], "--errors", errors, *PATHS[path]]
        if errors == "raise" and report:
            number, code, offset = report[0]
            for options in [], ["--stats"]:
                status, _, said = run(*command, *options, stdin=data)
                assert status == 1, case
                assert f"<stdin>:{number + 1}:{offset + 1} (" in said, case
                assert REASONS[code] in said, case
            continue
        assert run(*command, stdin=data) == (0, output, ""), case
        status, made, said = run(*command, "--stats", "--invalid-to", bad, stdin=data)
        assert (status, made) == (0, output), case
        assert json.loads(said)["invalid"] == len(report), case
        found = [line.split("\t")[1:4] for line in bad.read_text().splitlines()]
        assert found == [[str(row + 1), str(offset), code] for row, code, offset in report], case
