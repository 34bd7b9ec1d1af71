"""Which row of an identifier is kept, and its count: lines, records, Parquet and Python against a dict."""

import errno
import functools
import itertools
import json
import os
import random
from pathlib import Path

import pytest
from reference.dedup import kept_rows, order_of
from support.command import run
from support.tables import each_row

from uricodec import dedup, uri
from uricodec._io.scratch import Scratch

ROWS = 3000
TINY = 1  # byte of memory: a table has some hundred identifiers anyway
VALUES = ["", "x", "7", "1970-01-01T00:00:07Z", "6.5", "-1", "1970-01-01", "1e1", "2026-01-01T00:00:00+01:00"]
# report, least count, top
REPORTS = {
    "unique": ("unique", 1, None),
    "counts": ("counts", 1, None),
    "repeated": ("repeated", 2, None),
    "top": ("counts", 1, 7),
    "all": ("counts", 1, 1500),  # of more than FEW, lines are sorted
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@functools.cache
def some_rows(seed=1, rows=ROWS):
    chance = random.Random(seed)
    spellings = ["http://example.com/%d", "HTTP://Example.COM/a/../%d", "http://example.com:80/%d", "%d"]
    urls = [chance.choice(spellings) % chance.randrange(rows // 3) for _ in range(rows)]
    return urls, [chance.choice(VALUES) for _ in range(rows)]


@functools.cache
def name_of(url):
    try:
        return uri.normalize(url)
    except ValueError:
        return url


def expected_rows(urls, values, keep, report, excluded=()):
    _, least, top = REPORTS[report]
    orders = [order_of(value) for value in values]
    return kept_rows(list(map(name_of, urls)), keep, orders, set(map(name_of, excluded)), least, top)


def with_counts(lines, rows, report, separator):
    """Return the output."""
    if report not in ("counts", "top", "all"):
        return [lines[row] for row, _ in rows]
    if report != "counts":
        rows = sorted(rows, key=lambda each: (-each[1], each[0]))
    return [f"{count}{separator}{lines[row]}" for row, count in rows]


def write(path, lines):
    Path(path).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def read(path):
    return Path(path).read_text("utf-8").splitlines()


OPTIONS = [(None, 1, False), (None, 2, True), (TINY, 1, True), (TINY, 2, False)]


def with_options(*others):
    """Each combination of the others, with two of the options in turn."""
    combinations = enumerate(itertools.product(*others))
    return [(*each, *options) for number, each in combinations for options in OPTIONS[number % 2 :: 2]]


@pytest.mark.slow
@each_row(("keep", "report", "memory", "threads", "exact"), with_options(["first", "last"], REPORTS))
def test_lines_agree_with_the_reference(keep, report, memory, threads, exact):
    urls, values = some_rows()
    write("in1", urls[:1300])
    write("in2", urls[1300:])
    write("other", urls[::50])
    for excluded in [], ["other"]:
        done = dedup.dedup_files(
            ["in1", "in2"],
            "out",
            kind="uri",
            keep=keep,
            report=REPORTS[report][0],
            top=REPORTS[report][2],
            exclude=excluded,
            memory=memory,
            threads=threads,
            exact=exact,
        )
        rows = expected_rows(urls, values, keep, report, urls[::50] if excluded else ())
        assert read("out") == with_counts(urls, rows, report, "\t")
        assert done.written == len(rows) and (done.spilled > 0) == (memory == TINY) and done.unordered == 0
        assert done.unique == len(expected_rows(urls, values, keep, "unique", urls[::50] if excluded else ()))


def records(form, urls, values):
    """Return records, and options that describe them."""
    if form == "csv":
        lines = [f'{i},"{value}",{url}' for i, (url, value) in enumerate(zip(urls, values, strict=True))]
        return lines, {"field": 3, "by": 2}
    if form == "delimited":
        lines = [f"{value}\t{url}\t{i}" for i, (url, value) in enumerate(zip(urls, values, strict=True))]
        return lines, {"format": "delimited", "field": "url", "by": "time", "header": True}
    lines = []
    for i, (url, value) in enumerate(zip(urls, values, strict=True)):
        is_number = value in ("7", "6.5", "-1", "1e1") and i % 2
        lines.append(
            f'{{"a": {{"time":{value if is_number else json.dumps(value)} }},"url":{json.dumps(url)},"i":{i}}}'
        )
    return lines, {"format": "jsonl", "field": "url", "by": "a.time"}


@pytest.mark.slow
@each_row(("form", "report", "memory", "threads", "exact"), with_options(["csv", "delimited", "jsonl"], REPORTS))
def test_the_newest_record(form, report, memory, threads, exact):
    urls, values = some_rows()
    lines, options = records(form, urls, values)
    head = ["time\turl\ti"] if form == "delimited" else []
    write("in", head + lines)
    name, _, top = REPORTS[report]
    done = dedup.dedup_files(
        "in",
        "out",
        kind="uri",
        keep="newest",
        report=name,
        top=top,
        memory=memory,
        threads=threads,
        exact=exact,
        **options,
    )
    separator = "," if form == "csv" else "\t"
    head = [("count\t" if name == "counts" else "") + line for line in head]
    assert read("out") == head + with_counts(lines, expected_rows(urls, values, "newest", report), report, separator)
    assert done.unordered == sum(order_of(value) is None for value in values)
    assert (done.spilled > 0) == (memory == TINY)


def test_excluded_records_need_no_value():
    """Nor the field; and no record replaces one of them."""
    write("in", ["url,time", "http://a/,1", "http://b/,2", "http://a/,3", "http://b/,1"])
    write("other", ["url", "http://a/"])
    options = {"kind": "uri", "field": "url", "by": "time", "header": True, "keep": "newest"}
    dedup.dedup_files("in", "out", exclude=["other"], **options)
    assert read("out") == ["url,time", "http://b/,2"]


def test_all_records_are_as_old():
    """They are read, but a mistake in the name of the field is more likely."""
    write("in", ["a,x", "b,", "a"])
    for by, said in [(2, r"no record has a number or time in field 2"), (7, "field 7")]:
        with pytest.raises(ValueError, match=said):
            dedup.dedup_files("in", "out", kind="bytes", field=1, by=by, keep="newest")
    write(
        "json",
        [
            '{"a":"x","b":[1,2]}', '{"a":"x","b":[3]}', '{"a":"y","b":{"c":1}}', '{"a":"z","b":null}',
            '{"a":"z","b":true}',
        ],
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"number or time in field 'b'"):
        dedup.dedup_files("json", "out", kind="bytes", field="a", by="b", format="jsonl", keep="newest")
    assert not os.path.exists("out")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keep": "best"}, "keep must be 'first', 'last' or 'newest', got 'best'"),
        ({"keep": "newest"}, "keep='newest' requires by"),
        ({"keep": "last", "by": 2}, "by is only supported with keep='newest', got keep='last'"),
        ({"by": 2}, "by is only supported with keep='newest', got keep='first'"),
        ({"keep": "newest", "by": 2}, "by is only supported with field"),
    ],
)
def test_wrong_options(options, said):
    write("in", ["a"])
    with pytest.raises(ValueError) as caught:
        dedup.dedup_files("in", "out", kind="bytes", **options)
    assert str(caught.value) == said


# --- Python -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row("keep", ["last", "newest"])
@each_row(("memory", "threads", "exact"), OPTIONS)
def test_unique(keep, memory, threads, exact):
    urls, values = some_rows(2)
    options = {"kind": "uri", "keep": keep, "memory": memory, "exact": exact}
    by = {"by": values} if keep == "newest" else {}
    found = [urls[row] for row, _ in expected_rows(urls, values, keep, "unique")]
    assert dedup.unique(urls, **options, **by) == found
    if keep == "last":
        lines = "".join(f"{url}\n" for url in urls).encode()
        assert dedup.unique(lines, **options).decode().splitlines() == found
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    column = pa.chunked_array([urls[:100], urls[100:]])
    assert pa.chunked_array(dedup.unique(column, **options, **by)).to_pylist() == found


def test_unique_by_other_values():
    """By their text; and nulls are equivalent, but not to an empty text."""
    from datetime import datetime, timezone
    from decimal import Decimal

    values = [None, 3, 2.5, Decimal("3.5"), datetime(1970, 1, 1, 0, 0, 4, tzinfo=timezone.utc), b"1"]
    assert dedup.unique(["a", "a", "a", "b", "b", "c"], "bytes", keep="newest", by=values) == ["a", "b", "c"]
    assert dedup.unique([None, "", None, ""], "bytes", keep="newest", by=[1, 1, 2, 0]) == ["", None]
    assert dedup.unique([None, "a", None], "bytes", keep="last") == ["a", None]
    assert dedup.unique([], "bytes", keep="last") == []
    with pytest.raises(ValueError, match="expected the order of 2 rows, got 1"):
        dedup.unique(["a", "b"], "bytes", keep="newest", by=[1])
    with pytest.raises(ValueError, match="no value in by is a number or time"):
        dedup.unique(["a"], "bytes", keep="newest", by=["x"])
    with pytest.raises(TypeError, match="by is only supported with a list or Arrow object, got bytes"):
        dedup.unique(b"a\n", "bytes", keep="newest", by=[1])
    with pytest.raises(ValueError, match="keep='newest' requires by"):
        dedup.unique(["a"], "bytes", keep="newest")


# --- Parquet ----------------------------------------------------------------------------------------------------------


def parquet():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return pa, pytest.importorskip("pyarrow.parquet", reason="pyarrow was built without Parquet")


def table_of(urls, values, first=0):
    pa, _ = parquet()
    return pa.table({"row": range(first, first + len(urls)), "url": pa.array(urls, pa.string()), "time": values})


@pytest.mark.interop
@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("keep", ["first", "last", "newest"])
@pytest.mark.parametrize(("memory", "threads", "exact"), OPTIONS)
def test_parquet(keep, report, memory, threads, exact):
    pa, pq = parquet()
    size = ROWS // 3
    urls, values = some_rows(3)
    urls = [None if i % 97 == 0 else url for i, url in enumerate(urls)]
    os.mkdir("in")
    for i in range(3):
        part = slice(size * i, size * (i + 1))
        pq.write_table(table_of(urls[part], values[part], size * i), f"in/{i}.parquet", row_group_size=700)
    os.mkdir("other")
    pq.write_table(pa.table({"url": [url for url in urls[::50] if url is not None]}), "other/0.parquet")
    name, least, top = REPORTS[report]
    names = [None if url is None else name_of(url) for url in urls]
    for excluded in [], ["other"]:
        output = f"out{len(excluded)}"
        done = dedup.unique_dataset(
            "in",
            "url",
            output,
            kind="uri",
            keep=keep,
            by="time" if keep == "newest" else None,
            report=name,
            top=top,
            exclude=excluded,
            memory=memory,
            threads=threads,
            exact=exact,
        )
        others = {each for each in names[::50] if each is not None} if excluded else ()
        orders = list(map(order_of, values))
        rows = kept_rows(names, keep, orders, others, least, top)
        found = [pq.ParquetFile(f"{output}/{i}.parquet").read() for i in range(3)]
        table = pa.concat_tables(found)
        assert table["row"].to_pylist() == [row for row, _ in rows]
        assert [len(each) for each in found] == [sum(i == row // size for row, _ in rows) for i in range(3)]
        assert table.column_names == ["count"] * (name == "counts") + ["row", "url", "time"]
        if name == "counts":
            assert table["count"].to_pylist() == [count for _, count in rows]
        assert done.rows == ROWS and done.written == len(rows) and (done.spilled > 0) == (memory == TINY)
        assert done.unique == len(kept_rows(names, keep, orders, others))
        assert done.unordered == (sum(each is None for each in orders) if keep == "newest" else 0)


@pytest.mark.interop
def test_types_of_the_column_with_the_order():
    from datetime import date, datetime
    from decimal import Decimal

    pa, pq = parquet()
    columns = [
        pa.array([1, 3, None, 2]),
        pa.array([1, 3, None, 2], pa.uint8()),
        pa.array([1.5, float("inf"), 1e30, 1e-30]),
        pa.array([Decimal("-1.5"), Decimal("3.25"), None, Decimal("3.24")]),
        pa.array([datetime(2026, 1, 1), datetime(2026, 1, 2, 0, 0, 0, 5), None, datetime(2026, 1, 2)]),
        pa.array(
            [datetime(2026, 1, 1), datetime(2026, 1, 2), None, datetime(2026, 1, 1)], pa.timestamp("ns", "Asia/Tokyo")
        ),
        pa.array([date(2026, 1, 1), date(2026, 1, 2), None, date(1900, 1, 2)], pa.date32()),
        pa.array(["2026-01-01", "2026-01-02", "x", "1"]).dictionary_encode(),
        pa.array([b"2026-01-01", b"2026-01-02", b"x", b"1"]),
    ]
    for i, column in enumerate(columns):
        pq.write_table(pa.table({"url": ["a"] * 4, "n": range(4), "by": column}), f"{i}.parquet")
        done = dedup.unique_dataset(f"{i}.parquet", "url", f"out{i}", kind="bytes", keep="newest", by="by")
        kept = 0 if i == 2 else 1  # infinity and 1e30 are out of range
        assert pq.read_table(f"out{i}")["n"].to_pylist() == [kept]
        assert done.unordered == (2 if i == 2 else 1)
    for name, column, said in [
        ("list", pa.array([[1]]), "column 'by' must be numbers, times or text, got list"),
        ("bool", pa.array([True]), "column 'by' must be numbers, times or text, got bool"),
        ("other", None, "no column 'by'; the columns are 'url'"),
    ]:
        pq.write_table(pa.table({"url": ["a"]} | ({} if column is None else {"by": column})), name)
        with pytest.raises(OSError, match=said):
            dedup.unique_dataset(name, "url", "out", kind="bytes", keep="newest", by="by")
    pq.write_table(pa.table({"url": ["a"], "by": ["x"]}), "texts")
    with pytest.raises(ValueError, match="no row has a number or time in the column by which rows are ordered"):
        dedup.unique_dataset("texts", "url", "out", kind="bytes", keep="newest", by="by")
    dedup.unique_dataset("texts", "by", "same", kind="bytes", keep="last")


@pytest.mark.interop
def test_groups_of_parquet():
    """As of lines, with a file and a row."""
    _, pq = parquet()
    urls, values = some_rows(4, 300)
    os.mkdir("in")
    for i in range(3):
        part = slice(100 * i, 100 * (i + 1))
        pq.write_table(table_of(urls[part], values[part]), f"in/{i}.parquet", row_group_size=30)
    write("lines", urls)
    for options in {}, {"memory": TINY, "threads": 2, "exact": True}, {"secret": "k", "policy": "crawl"}:
        of_lines = dedup.dedup_files("lines", "unique", kind="uri", groups="lines.jsonl", merged=True, **options)
        done = dedup.unique_dataset("in", "url", "out", kind="uri", groups="rows.jsonl", merged=True, **options)
        assert done.merged == of_lines.merged and (done.unique, done.invalid) == (of_lines.unique, of_lines.invalid)

        def replaced(group):
            line = group.pop("line") - 1
            return group | {"file": f"in/{line // 100}.parquet", "row": line % 100}

        groups = [replaced(json.loads(line)) for line in read("lines.jsonl")]
        for group in groups:
            group["spellings"] = [replaced(each) for each in group["spellings"]]
        assert [json.loads(line) for line in read("rows.jsonl")] == groups and len(groups) > 20
        for path in Path("out").iterdir():
            path.unlink()


@pytest.mark.interop
def test_a_column_that_is_named_count():
    pa, pq = parquet()
    pq.write_table(pa.table({"url": ["a", "a"], "count": [1, 2]}), "in.parquet")
    with pytest.raises(OSError, match=r"in\.parquet: already has a column 'count'"):
        dedup.unique_dataset("in.parquet", "url", "out", kind="bytes", report="counts")
    assert dedup.unique_dataset("in.parquet", "url", "out", kind="bytes", report="repeated").written == 1


@pytest.mark.interop
def test_counts_keep_what_files_keep():
    """Compression, the order of rows, and the types of other columns."""
    pa, pq = parquet()
    table = pa.table({"url": ["a", "a", "b"], "kind": pa.array(["x", "y", "x"]).dictionary_encode()})
    order = [pq.SortingColumn(0, descending=True)]
    pq.write_table(table, "in.parquet", compression={"url": "zstd", "kind": "none"}, sorting_columns=order)
    dedup.unique_dataset("in.parquet", "url", "out", kind="bytes", report="counts")
    file = pq.ParquetFile("out/in.parquet")
    group = file.metadata.row_group(0)
    assert [*group.sorting_columns] == [pq.SortingColumn(1, descending=True)]
    assert [group.column(i).compression for i in range(3)] == ["ZSTD", "ZSTD", "UNCOMPRESSED"]
    assert file.schema_arrow == table.schema.insert(0, pa.field("count", pa.int64(), nullable=False))


@pytest.mark.interop
@pytest.mark.parametrize(
    "options", [{"keep": "last"}, {"keep": "newest", "by": "time", "report": "counts"}, {"groups": "g"}]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_temporary_files_that_cannot_be_written(options, threads, monkeypatch):
    """At the first write, at one between and at the last: nothing stays, and the next run is right."""
    _, pq = parquet()
    urls, values = some_rows(5, 3000)
    os.mkdir("in")
    for i in range(3):
        pq.write_table(table_of(urls[i::3], values[i::3]), f"in/{i}")
    left = [1 << 30]
    real = Scratch.write

    def write_some(scratch, file, octets):
        left[0] -= 1
        if left[0] < 0:
            raise scratch.fail(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        real(scratch, file, octets)

    monkeypatch.setattr(Scratch, "write", write_some)
    options = options | {"kind": "uri", "memory": TINY, "threads": threads, "secret": "k"}  # as many writes each time
    dedup.unique_dataset("in", "url", "out", **options)
    written = (1 << 30) - left[0]
    expected = [pq.read_table(f"out/{i}") for i in range(3)]
    assert written > 3
    for number in 0, written // 2, written - 1:
        before = sorted(os.listdir("."))
        left[0] = number
        with pytest.raises(OSError, match="No space left on device"):
            dedup.unique_dataset("in", "url", "again", **options)
        assert sorted(os.listdir(".")) == before
    left[0] = 1 << 30
    dedup.unique_dataset("in", "url", "again", **options)
    assert [pq.read_table(f"again/{i}") for i in range(3)] == expected


@pytest.mark.interop
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
@pytest.mark.parametrize("threads", [1, 2])
def test_files_that_cannot_be_written(threads, monkeypatch):
    """One of several, in any thread."""
    pa, pq = parquet()
    os.mkdir("in")
    for i in range(4):
        pq.write_table(table_of(["a", str(i), "a"], ["1", "2", "3"]), f"in/{i}")
    real = pa.OSFile

    def opened(path, mode="rb"):
        return real("/dev/full" if mode == "wb" and path.endswith(b"2") else path, mode)

    monkeypatch.setattr(pa, "OSFile", opened)
    with pytest.raises(OSError, match=r"^out/2: .*No space left on device"):
        dedup.unique_dataset("in", "url", "out", kind="bytes", report="counts", threads=threads, groups="g")
    assert os.listdir(".") == ["in"]


# --- the command line -------------------------------------------------------------------------------------------------


def test_the_command():
    write("in", ["http://a/,1", "HTTP://a/,3", "http://b/,x", "http://a/,2"])
    for arguments, lines in [
        ("--keep last", ["http://b/,x", "http://a/,2"]),
        ("--keep newest --by 2", ["HTTP://a/,3", "http://b/,x"]),
        ("--keep newest --by 2 --count", ["3,HTTP://a/,3", "1,http://b/,x"]),
        ("--keep last --count --top 1", ["3,http://a/,2"]),
        ("--keep last --repeated", ["http://a/,2"]),
    ]:
        status, output, said = run("dedup", "--kind", "uri", "--csv", "-f", "1", *arguments.split(), "in")
        assert (status, output.decode().splitlines(), said) == (0, lines, "")
    _, _, said = run("dedup", "--kind", "uri", "--csv", "-f1", "--keep", "newest", "--by", "2", "--stats", "in")
    assert json.loads(said)["unordered"] == 1


@each_row(
    ("arguments", "status", "said"),
    [
        ("--keep newest -f 1", 2, "--keep newest: not allowed without --by\n\nhint: add --by FIELD"),
        ("--by 2 -f 1", 2, "--by: not allowed without --keep newest"),
        ("--keep newest --by 2", 2, "--by: not allowed without --field, --json-field or --parquet"),
        ("--keep oldest", 2, "--keep: unknown value 'oldest'; choose from first, last, newest"),
        ("--keep newest --by 2 --csv -f 1", 1, "--by: no record has a number or time in field '2'"),
        (
            "--keep newest --by time --csv -f 1",
            2,
            "--by: expected the number of a field, or with a header its name, got 'time'",
        ),
        ("--keep newest --by time --csv --header -f 1", 2, "--by: in: "),
        ("--keep last --estimate", 2, "--estimate: not allowed with --keep"),
    ],
)
def test_the_command_rejects_wrong_options(arguments, status, said):
    write("in", ["a,x"])
    found, output, message = run("dedup", "--kind", "bytes", *arguments.split(), "in")
    assert (found, output) == (status, b"") and said in message


@pytest.mark.interop
def test_the_command_for_parquet():
    _, pq = parquet()
    os.mkdir("in")
    pq.write_table(table_of(["a", "b", "a"], ["1", "2", "3"]), "in/a.parquet")
    pq.write_table(table_of(["c", "b"], ["x", "1"], 3), "in/b.parquet")
    command = ["dedup", "--kind", "bytes", "--parquet", "-f", "url"]
    for i, (arguments, rows) in enumerate(
        [
            ("--keep last -j 2 in", [[2], [3, 4]]),
            ("--keep newest --by time in", [[1, 2], [3]]),
            ("--repeated in", [[0, 1], []]),
            ("--count --top 1 --keep last in", [[2], []]),
            ("--exclude in/a.parquet in/b.parquet", [[3]]),
        ]
    ):
        assert run(*command, *arguments.split(), "-o", f"out{i}") == (0, b"", "")
        files = sorted(Path(f"out{i}").iterdir())
        assert [pq.read_table(file)["row"].to_pylist() for file in files] == rows
    status, _, said = run(*command, "--keep", "newest", "--by", "url", "in", "-o", "out")
    assert status == 1 and said.startswith("uricodec: --by: no row has a number or time in the column")
