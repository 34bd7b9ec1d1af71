"""--parquet: columns of files against the functions of `bulk` on whole columns."""

import json
import os
import sys

import pytest
from support.command import output_of, run
from support.tables import each_row

from uricodec import bulk, uri
from uricodec.cli import parquet
from uricodec.cli.outputs import Reservoir

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")

VALUES = [
    "http://A.example/%7Eb?utm_source=x&sig=c2VjcmV0", "%zz", None, "", "http://a\\b/", "x y", "https://[::1]:443/é",
    "URN:ISBN:0-395-36341-1", "../c%0Ad", "http://user:secret@a.example/",
]  # fmt: skip

# The command, and what it does with a column.
COMMANDS = {
    "decode": (["decode"], bulk.percent_decode, {}),
    "decode --plus": (["decode", "--plus"], bulk.percent_decode, {"plus": True}),
    "decode --iri": (["decode", "--iri", "--host", "unicode"], bulk.uri_to_iri, {"host": "unicode"}),
    "encode": (["encode"], bulk.quote, {}),
    "encode --safe": (["encode", "--safe", ":"], bulk.quote, {"safe": ":"}),
    "encode --iri": (["encode", "--iri"], bulk.iri_to_uri, {}),
    "requote": (["requote"], bulk.requote, {}),
    "normalize": (["normalize"], bulk.normalize_uri, {}),
    "normalize --kind iri": (["normalize", "--kind", "iri"], bulk.normalize_uri, {"level": "iri"}),
    "normalize --policy": (["normalize", "--policy", "crawl"], bulk.normalize_uri, {"policy": "crawl"}),
    "normalize --repair": (["normalize", "--repair"], bulk.repair, {}),
    "normalize --kind urn": (["normalize", "--kind", "urn", "--level", "2141"], bulk.normalize_urn, {"level": "2141"}),
    "resolve": (["resolve", "--base", "http://a/b/c"], bulk.resolve, {"base": "http://a/b/c"}),
    "redact": (["redact"], bulk.redact_text, {}),
    "redact --urls": (["redact", "--urls", "--names", "utm_source"], bulk.redact, {"names": "utm_source"}),
}
RECORDS = {
    "split": (["split"], bulk.split_uri, {}),
    "split --kind iri": (["split", "--kind", "iri"], bulk.split_iri, {}),
    "hosts": (["hosts", "--userinfo", "allow"], bulk.agreed_host, {"userinfo": "allow"}),
}
CHECKS = {
    "check": (["check"], bulk.check_uri, {}),
    "check --production": (["check", "--production", "URI"], bulk.check_uri, {"production": "URI"}),
    "check --kind iri": (["check", "--kind", "iri"], bulk.check_iri, {}),
    "check --kind urn": (["check", "--kind", "urn"], bulk.check_urn, {}),
}
TYPES = {
    "string": pa.string(),
    "large": pa.large_string(),
    "binary": pa.binary(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two files, which are read in batches of three rows."""
    monkeypatch.setattr(parquet, "ROWS", 3)
    monkeypatch.chdir(tmp_path)

    def make(type=TYPES["string"]):
        column = (
            pa.array(VALUES).cast(type) if not pa.types.is_dictionary(type) else pa.array(VALUES).dictionary_encode()
        )
        table = pa.table({"id": range(len(VALUES)), "url": column, "other": VALUES})
        pq.write_table(table, "one.parquet", row_group_size=4)
        pq.write_table(table.slice(3), "two.parquet")
        return pa.concat_tables([table, table.slice(3)])

    return make


def made_by(command):
    output_of(*command, "--parquet", "-f", "url", "one.parquet", "two.parquet", "-o", "out.parquet")
    return pq.read_table("out.parquet")


def column_of(table, name="url"):
    return table[name].combine_chunks()


@pytest.mark.slow
@each_row("name", COMMANDS)
@each_row("errors", ["keep", "null", "drop"])
@each_row("type", TYPES)
def test_texts(files, name, errors, type):
    table = files(TYPES[type])
    command, function, options = COMMANDS[name]
    made = made_by([*command, "--errors", errors])
    values, invalid = column_of(table), bulk.InvalidRows(limit=100)
    want = pa.array(
        function(values, errors="null" if errors == "drop" else errors, invalid=invalid, **options)
    ).to_pylist()
    rows = {row for row, _, _ in invalid.rows} if errors == "drop" else ()
    kept = [row for row in range(len(values)) if row not in rows]
    assert made.column_names == ["id", "url", "other"]
    assert column_of(made).to_pylist() == [want[row] for row in kept]
    for other in "id", "other":
        assert made[other].to_pylist() == [table[other].to_pylist()[row] for row in kept]


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("errors", ["keep", "null", "drop"])
def test_records(files, name, errors):
    table = files()
    command, function, options = RECORDS[name]
    made, invalid = made_by([*command, "--errors", errors]), bulk.InvalidRows(limit=100)
    want = pa.array(function(column_of(table), errors="null", invalid=invalid, **options)).to_pylist()
    faults = {row: (code, offset) for row, code, offset in invalid.rows}
    assert faults
    kept = [row for row in range(len(want)) if errors != "drop" or row not in faults]
    found = [
        {key.removeprefix("url_"): value for key, value in row.items() if key.startswith("url_")}
        for row in made.to_pylist()
    ]
    fields = [key.removeprefix("url_") for key in made.column_names if key.startswith("url_")]
    for row, record in zip(kept, found, strict=True):
        code, offset = faults.get(row, (None, None))
        assert record == dict.fromkeys(fields) | (want[row] or {}) | {"error": code, "offset": offset}
    assert made.column_names.index("url_scheme") == 2


@pytest.mark.parametrize("name", CHECKS)
def test_checks(files, name):
    table = files()
    command, function, options = CHECKS[name]
    status, output, said = run(*command, "--parquet", "-f", "url", "one.parquet", "two.parquet", "--to", "tsv")
    want = pa.array(function(column_of(table), **options)).to_pylist()
    places = [("one.parquet", row) for row in range(len(VALUES))] + [
        ("two.parquet", row) for row in range(len(VALUES) - 3)
    ]
    rows = [line.split("\t") for line in output.decode().splitlines()]
    assert (status, said, rows.pop(0)) == (1, "", ["input", "line", "offset", "code", "text", "reason"])
    assert all(" " in row[5] for row in rows)
    assert [row[:4] for row in rows] == [
        [name, str(row), str(fault["offset"]), fault["code"]]
        for (name, row), fault in zip(places, want, strict=True)
        if fault
    ]
    assert run(*command, "-q", "--parquet", "-f", "url", "one.parquet") == (1, b"", "")


@pytest.mark.slow
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("invert", [False, True])
def test_filter(files, type, invert):
    """What matches in each column, in one of the sets; a null matches nothing."""
    table = files(TYPES[type])
    with open("hosts", "w") as hosts, open("pages", "w") as pages:
        hosts.write("a.example\n"), pages.write("http://b.example/x\n")
    sets = uri.HostSet(["a.example"]), uri.PrefixSet(["http://b.example/x"])
    for names in ["url"], ["url", "other"]:
        command = ["filter", "--hosts", "hosts", "--prefixes", "pages", *["--invert"] * invert]
        output_of(
            *command, "--parquet", *(part for name in names for part in ("-f", name)), "one.parquet", "two.parquet",
            "-o", "out.parquet",
        )  # fmt: skip
        rows = zip(*(table[name].to_pylist() for name in names), strict=True)
        kept = [all(any(each.match(url or "") for each in sets) != invert for url in row) for row in rows]
        assert 0 < sum(kept) < len(kept)
        assert pq.read_table("out.parquet").equals(table.filter(pa.array(kept)))
    assert run("filter", "--hosts", "hosts", "--parquet", "-f", "id", "one.parquet", "-o", "out")[2].startswith(
        "uricodec: one.parquet: column 'id' must be text or bytes, got int64\n"
    )


def test_several_columns_and_bases(files):
    files()
    output_of("decode", "--parquet", "-f", "url", "-f", "other", "one.parquet", "-o", "out.parquet")
    made = pq.read_table("out.parquet")
    assert made["url"] == made["other"] and made["url"][0].as_py().startswith("http://A.example/~b")
    pq.write_table(pa.table({"url": ["../c", "d"], "page": ["http://a/b/", None]}), "links.parquet")
    output_of("resolve", "--base-field", "page", "--parquet", "-f", "url", "links.parquet", "-o", "out.parquet")
    assert pq.read_table("out.parquet")["url"][0].as_py() == "http://a/c"


@pytest.mark.slow
@pytest.mark.parametrize("type", TYPES)
def test_the_first_rows_and_samples(files, type):
    """The rows of --limit and --sample are those of the whole output, in its order."""
    files(TYPES[type])
    rows = made_by(["decode"]).to_pylist()
    for size in 1, 4, 10, 16, 17, 18:
        assert made_by(["decode", "--limit", size]).to_pylist() == rows[:size]
        for seed in 1, 2:
            sample = Reservoir(size, seed)
            for row in rows:
                sample.take(row)
            made = made_by(["decode", "--sample", size, "--seed", seed])
            assert made.to_pylist() == sample.items() and made.schema == made_by(["decode"]).schema
    assert made_by(["split", "--errors", "drop", "--limit", "3"]).num_rows == 3
    status, report, _ = run("check", "--parquet", "-f", "url", "one.parquet", "--limit", "2")
    assert (status, report.count(b"\n")) == (1, 2)


@pytest.mark.parametrize("errors", ["keep", "null", "drop"])
def test_reports_and_counts(files, errors):
    """A report has each invalid value; --stats counts rows, those with two invalid values by the first one."""
    table = files()
    command = ["requote", "--parquet", "--errors", errors, "-f", "url", "-f", "other", "one.parquet", "two.parquet"]
    status, _, said = run(*command, "--invalid-to", "report", "--stats", "--progress", "-o", "out.parquet")
    invalid = bulk.InvalidRows(limit=100)
    bulk.requote(column_of(table), errors="null", invalid=invalid)
    assert status == 0 and len(invalid.rows) == 1
    with open("report", encoding="utf-8") as report:
        lines = report.read().splitlines()
    assert lines == ["one.parquet\t1\t0\tpercent\t%zz"] * 2
    progress, counts = said.splitlines()
    assert progress.startswith("100 %")
    assert json.loads(counts) == {"lines": 17, "valid": 16, "invalid": 1, "faults": {"percent": 1}}


def test_folders_and_empty_files(files, tmp_path):
    table = files()
    (tmp_path / "d").mkdir()
    pq.write_table(table.slice(0, 0), "d/a.parquet")
    output_of("decode", "--parquet", "-f", "url", "-r", "d", "-o", "out.parquet")
    assert pq.read_table("out.parquet").schema.names == table.schema.names
    pq.write_table(table, "d/b.parquet")
    output_of("decode", "--parquet", "-f", "url", "d/*.parquet", "-o", "d/a.parquet")  # one of the inputs
    assert pq.read_table("d/a.parquet").num_rows == table.num_rows


@each_row(
    ("line", "status", "message"),
    [
        ("decode --parquet one.parquet", 2, "--parquet: not allowed without --field\n\nhint: add --field\n"),
        (
            "decode --parquet -f url",
            2,
            "--parquet: cannot read standard input\n\nhint: name Parquet files, or folders of them with -r\n",
        ),
        (
            "decode --parquet -f url one.parquet",
            2,
            "--parquet: --output is required\n\nhint: -o FILE names the file to write\n",
        ),
        (
            "decode --parquet -f url --csv one.parquet",
            2,
            "--parquet: not allowed with --csv\n\nhint: leave out --parquet or --csv\n",
        ),
        (
            "decode --parquet -f x one.parquet -o out",
            3,
            "one.parquet: no column 'x'; the columns are 'id', 'url', 'other'\n",
        ),
        ("decode --parquet -f id one.parquet -o out", 3, "one.parquet: column 'id' must be text or bytes, got int64\n"),
        ("decode --parquet -f url missing -o out", 3, "missing: No such file or directory\n"),
        (
            "decode --parquet -f url one.parquet other.parquet -o out",
            3,
            "other.parquet: columns differ from those of the first input\n",
        ),
        (
            "requote --errors raise --parquet -f url one.parquet -o out",
            1,
            "one.parquet: column 'url': row 1: \"%\" not followed by two hexadecimal digits at "
            "offset 0\n\nhint: --errors drop leaves out such rows\n",
        ),
        ("split --errors raise --parquet -f url one.parquet -o out", 1, "one.parquet: column 'url': row 1: "),
    ],
)
def test_failures(files, line, status, message, tmp_path):
    """Nothing replaces an output, and nothing is left."""
    files()
    pq.write_table(pa.table({"url": ["a"]}), "other.parquet")
    (tmp_path / "out").write_bytes(b"before")
    before = sorted(os.listdir())
    found, output, said = run(*line.split())
    assert (found, output) == (status, b"") and said.startswith(f"uricodec: {message}")
    assert (tmp_path / "out").read_bytes() == b"before" and sorted(os.listdir()) == before


@pytest.mark.parametrize("command", ["decode", "normalize", "split", "hosts", "check", "redact", "filter --hosts list"])
def test_columns_that_cannot_be_read(files, command):
    with open("list", "w") as hosts:
        hosts.write("a.example\n")
    pq.write_table(pa.table({"url": [{"a": "x"}]}), "struct.parquet")
    pq.write_table(pa.table({"url": [["x"]]}), "list.parquet")
    pq.write_table(pa.table([["a"], ["b"], ["c"]], names=["url", "b", "b"]), "twice.parquet")
    for name, message in {
        "struct": "column 'url' must be text or bytes, got struct<a: string>",
        "list": "column 'url' must be text or bytes, got list<",
        "twice": "several columns 'b'; the columns are 'url', 'b', 'b'",
    }.items():
        output = [] if command == "check" else ["-o", "out"]
        status, _, said = run(*command.split(), "--parquet", "-f", "url", f"{name}.parquet", *output)
        assert status == 3 and said.startswith(f"uricodec: {name}.parquet: {message}")
        assert not os.path.exists("out")


def test_files_that_are_not_parquet(files, tmp_path):
    files()
    (tmp_path / "text").write_bytes(b"http://a\n")
    status, output, said = run("decode", "--parquet", "-f", "url", "text", "-o", "out.parquet")
    assert (status, output) == (3, b"") and said.startswith("uricodec: text: Parquet magic bytes not found")
    assert not os.path.exists("out.parquet")


def test_without_pyarrow(files, monkeypatch):
    files()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run("decode", "--parquet", "-f", "url", "one.parquet", "-o", "out") == (
        2,
        b"",
        "uricodec: --parquet: pyarrow is not installed\n\nhint: pip install 'uricodec[arrow]'\n",
    )


@pytest.mark.parametrize(
    ("options", "invalid"),
    [
        ([], 2),
        (["--kind", "iri", "--level", "path"], 1),
        (["--policy", "crawl"], 1),
        (["--production", "any"], 0),
        (["--kind", "iri", "--production", "IRI"], 1),
    ],
)
def test_text_that_is_no_uri_is_invalid_unless_it_is_kept(options, invalid, tmp_path):
    pq.write_table(pa.table({"url": ["HTTP://a/", "http://us er@h/", "http://a/é"]}), tmp_path / "in")
    for errors, count in ("drop", invalid), ("keep", 0 if "IRI" not in options else 1):
        command = ["normalize", "--parquet", "-f", "url", *options, "--errors", errors, "--stats"]
        status, _, said = run(*command, "-o", tmp_path / "out", tmp_path / "in")
        assert (status, json.loads(said)["invalid"]) == (0, count)
        left = pq.read_table(tmp_path / "out").num_rows
        assert left == (3 - invalid if errors == "drop" else 3)
