"""Deduplication by a field of records: every format against a simple reader, in every pass, and broken records."""

import csv
import gzip
import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference.records import Reference, bare, csv_records, json_records
from support.command import HINT, output_of, run
from support.tables import each_row

from uricodec import dedup
from uricodec._base._fingerprint import FingerprintKey
from uricodec._io import reading
from uricodec._records._framing import Framing
from uricodec._rows._engine import RowOperation
from uricodec.dedup._identifiers import LineBatch

TINY = 1  # byte of memory: a table has some hundred identifiers anyway


def check(folder, data, reference, options, report, separator, **how):  # noqa: PLR0913, PLR0917
    """dedup_files() and estimate_files() agree with the reference."""
    source, target = folder / "source", folder / "target"
    source.write_bytes(data)
    done = dedup.dedup_files(source, target, report=report, **options, **how)
    written = target.read_bytes()
    assert written == b"".join(reference.output(report, separator))
    assert (done.rows, done.unique, done.invalid) == (reference.rows, len(reference.first), reference.invalid)
    assert done.duplicates == sum(reference.counts.values()) - len(reference.first)
    assert abs(dedup.estimate_files(source, **options) - len(reference.first)) < 2


URNS = ["urn:isbn:1", "URN:ISBN:1", "urn:ab:2", "urn:ab:2#x", "no urn", ""]
REPORTS = st.sampled_from(["unique", "counts", "repeated"])
ERRORS = st.sampled_from(["keep", "drop"])
HOW = st.fixed_dictionaries({"threads": st.sampled_from([1, 2]), "exact": st.booleans()})
CHUNKS = st.sampled_from([13, 40, reading.CHUNK])


# --- each format ------------------------------------------------------------------------------------------------------

TEXTS = st.one_of(st.sampled_from(URNS), st.text('a",\n;', max_size=4))


@settings(max_examples=40)
@given(
    st.lists(st.lists(TEXTS, max_size=3), max_size=12), st.sampled_from(["\n", "\r\n"]), CHUNKS, REPORTS, ERRORS, HOW
)
def test_csv_as_python_reads_it(tmp_path_factory, rows, end, chunk, report, errors, how):  # noqa: PLR0913, PLR0917
    rows = [["urn:ab:0", "urn:ab:1"], *rows]
    lines = []
    for row in rows:
        text = io.StringIO()
        csv.writer(text, lineterminator=end).writerow(row)
        lines.append(text.getvalue())
    read = [next(csv.reader(io.StringIO(line, newline="")), []) for line in lines]
    assert read == rows
    records = [(line.encode(), [value.encode() for value in row]) for line, row in zip(lines, read, strict=True)]
    options = {"kind": "urn", "field": 2, "errors": errors}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHUNK", chunk)
        reference = Reference(records, 1, "urn", errors)
        check(tmp_path_factory.mktemp("csv"), "".join(lines).encode(), reference, options, report, b",", **how)


PARTS = st.lists(st.sampled_from([b'"', b'""', b",", b"\n", b"\r\n", b"\r", b"a", b"b", b" "]), max_size=30).map(
    b"".join
)


@pytest.mark.slow
@settings(max_examples=100)
@given(PARTS, CHUNKS, REPORTS, ERRORS, HOW)
@example(b'a,"b\nc,d', 13, "unique", "keep", {"threads": 1})
@example(b"\r\r", 13, "unique", "keep", {"threads": 1})
@example(b"a,b\r", 13, "counts", "keep", {"threads": 1, "exact": True})
def test_csv_of_any_bytes(tmp_path_factory, data, chunk, report, errors, how):  # noqa: PLR0913, PLR0917
    data = b"x,y\n" + data
    options = {"kind": "bytes", "field": "2", "errors": errors}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHUNK", chunk)
        reference = Reference(csv_records(data), 1, errors=errors)
        check(tmp_path_factory.mktemp("csv"), data, reference, options, report, b",", **how)


@settings(max_examples=40)
@given(st.lists(st.lists(st.sampled_from([b"a", b"b", b'"', b""]), min_size=1, max_size=3), max_size=9), REPORTS, HOW)
def test_lines_with_a_delimiter(tmp_path_factory, rows, report, how):
    lines = [b";".join(row) + b"\n" for row in [[b"a", b"a"], *rows]]
    records = [(line, line[:-1].split(b";")) for line in lines]
    options = {"kind": "bytes", "field": 2, "format": "delimited", "delimiter": b";"}
    reference = Reference(records, 1)
    check(tmp_path_factory.mktemp("fields"), b"".join(lines), reference, options, report, b";", **how)


MEMBERS = st.one_of(
    st.sampled_from(URNS),
    st.sampled_from(
        [None, 1, True, [], ["urn:isbn:1"], ["urn:isbn:1", "urn:isbn:1"], [None, "x"], {"u": "urn:isbn:1"}]
    ),
    st.text(max_size=3),
)
BROKEN = [
    b"", b"x", b"[]", b'{"u":"urn:isbn:1"', b'{"u":"\\ud800"}', b'{"u":"\\x"}', b'{"u":"urn:isbn:1","u":"urn:ab:2"}',
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.dictionaries(st.sampled_from("uv"), MEMBERS), st.sampled_from(BROKEN)), max_size=12),
    st.booleans(),
    CHUNKS,
    REPORTS,
    ERRORS,
    HOW,
)
def test_members_of_json(tmp_path_factory, rows, ascii_only, chunk, report, errors, how):  # noqa: PLR0913, PLR0917
    lines = [
        row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=ascii_only).encode()
        for row in [{"u": "urn:ab:1"}, *rows]
    ]
    data = b"\n".join(lines)
    records = [record for line in lines for record in json_records(line or b"\n", "u")]
    records = [(bare(record) + b"\n", values) for record, values in records]
    if data.endswith(b"\n"):
        records.pop()  # an empty line is one if a newline ends it
    options = {"kind": "urn", "field": "u", "format": "jsonl", "errors": errors}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHUNK", chunk)
        reference = Reference(records, None, "urn", errors)
        check(tmp_path_factory.mktemp("json"), data, reference, options, report, b"\t", **how)


def test_escapes_are_decoded_and_paths_are_followed():
    data = b'{"a":{"u":"x\\u002Fy"},"n":1}\n{"a":[{"u":"x/y"}]}\n{"a.u":"\\u0078/y"}\n{"a":"x/y"}\n'
    options = ["dedup", "--kind", "bytes", "--json-field", "a.u"]
    assert output_of(*options, stdin=data) == data.splitlines(True)[0] + data.splitlines(True)[3]


# --- batches: every end of the buffer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "delimited", "json"])
def test_batches_of_every_size(form):
    data = {
        "csv": b'1,a\r\n2,"a"\n3\n\n4,"b\nc""d"e,f\n,\n5,"a',
        "delimited": b"1,a\r\n2,a\n3\n\n,\n4,b\r",
        "json": b'{"u":"a\\n"}\r\n{"u":"a\\u000A","v":[{"u":2}]}\n\n{"u":1}\n[]\n{"u":"b"} ',
    }[form]
    framing = Framing(form, delimiter=b",", fields=[(2, 2)], names=[b"u"] if form == "json" else [])
    names, key = LineBatch(RowOperation(), FingerprintKey("k"), forms=True), FingerprintKey("k")
    for size in range(len(data) + 1):
        part = data[:size]
        if form == "csv":
            records = [(record, values[1:2]) for record, values in csv_records(part)]
        elif form == "json":
            lines = part.splitlines(keepends=True)
            records = [each for line in lines for each in json_records(line, "u")]
        else:
            records = [(line, bare_line(line).split(b",")[1:2]) for line in part.splitlines(keepends=True)]
        found = names.read(part, 0, 99, framing)
        texts, prints = [], []
        for record, values in records:
            valid = len(values) == 1 and values[0] is not None
            line = bare(record) if form == "csv" else bare_line(record)
            texts.append(values[0] if valid else line)
            print_ = key.fingerprint(texts[-1])
            prints.append(print_ if valid else bytes(byte ^ 0xFF for byte in print_))
        assert [names.text(row) for row in range(len(names))] == texts, part
        assert names.fingerprints == b"".join(prints), part
        assert found.invalid == len(found.faults) == sum(len(v) != 1 or v[0] is None for _, v in records)
        assert all(part[fault.start : fault.stop] == texts[fault.line] for fault in found.faults)
        names.find(part, 0, framing)
        assert len(names) == len(texts)
    with pytest.raises(IndexError, match=r"expected a row below 0, got 0"):
        names.read(b"", 0, 0, framing)
        names.text(0)


def bare_line(line):
    """A line without its terminator: a carriage return belongs to it only before a newline."""
    return line[:-1].removesuffix(b"\r") if line.endswith(b"\n") else line


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("report", ["unique", "counts", "repeated"])
@pytest.mark.parametrize("exact", [False, True])
def test_more_than_fits_in_memory(tmp_path, report, exact):
    """Pipes and files, compressed or not, with headers; records without a value, too, are found in the partitions."""
    rows = [b'%d,"u\n%d"\n' % (i, i * 7 % 4001) if i % 9 else b"%d\n" % (i % 11) for i in range(12_000)]
    header, mark = b"n,u\r\n", b"\xef\xbb\xbf"
    (tmp_path / "a").write_bytes(mark + header + b"".join(rows[:5000]))
    (tmp_path / "b").write_bytes(gzip.compress(header + b"".join(rows[5000:9000])))
    data = header + b"".join(rows[9000:])
    before = [b"u,x\n", *[b'"u\n%d"\n' % i for i in range(0, 4001, 3)]]
    (tmp_path / "old").write_bytes(b"".join(before))
    excluded = [(b"", [b"u\n%d" % i]) for i in range(0, 4001, 3)]
    reference = Reference([(row, values[1:2]) for row in rows for _, values in csv_records(row)], exclude=excluded)
    flags = {"unique": [], "counts": ["--count"], "repeated": ["--repeated"]}[report]
    wanted = mark + (b"count," if report == "counts" else b"") + header + b"".join(reference.output(report, b","))
    options = ["--csv", "--header", "-f", "u", *flags, "--memory", TINY, *(["--exact"] if exact else [])]
    files = ["--exclude", tmp_path / "old", tmp_path / "a", tmp_path / "b", "-"]
    for chunk in 400, None:
        assert output_of("dedup", "--kind", "bytes", *options, *files, stdin=data, chunk=chunk) == wanted
    status, output, said = run("dedup", "--kind", "bytes", *options, "--stats", *files, stdin=data)
    assert (status, output) == (0, wanted) and json.loads(said)["spilled"] > 0


def test_groups_and_rules_are_of_the_values(tmp_path):
    data = b'1,"urn:ab:1"\n2,URN:AB:1\n3\n4,urn:ab:1#x\n3\n5,urn:ab:2\n'
    groups = tmp_path / "groups"
    options = ["dedup", "--kind", "urn", "--csv", "-f", "2", "--stats", "--merged", "--groups", groups]
    for more in [], ["--exact"], ["--memory", TINY]:
        status, output, said = run(*options, *more, stdin=data)
        assert (status, output) == (0, b'1,"urn:ab:1"\n3\n5,urn:ab:2\n')
        assert json.loads(said)["merged"] == {"bytes": 1, "2141": 1, "8141": 1}
        [group] = map(json.loads, groups.read_text().splitlines())
        assert group["first"] == "urn:ab:1" and group["rows"] == 3
        assert [(each["spelling"], each["line"]) for each in group["spellings"]] == [
            ("urn:ab:1", 1),
            ("URN:AB:1", 2),
            ("urn:ab:1#x", 4),
        ]


def test_reports_of_invalid_records(tmp_path):
    """The line counts the header; the offset is in the record, whose quotes and escapes count."""
    bad = tmp_path / "bad"
    options = ["dedup", "--kind", "urn", "--errors", "drop", "--invalid-to", bad]
    data = b'n,u\r\n1,"urn:ab:1"\n2\n3,"urn:""ab"\n4,"urn:\n'
    assert run(*options, "--csv", "--header", "-f", "u", stdin=data)[:2] == (0, data[:18])
    assert bad.read_text() == (
        '<stdin>\t3\t0\tfield\t2\n<stdin>\t4\t8\tnid\t3,"urn:""ab"\n<stdin>\t5\t2\tcsv\t4,"urn:\n'
    )
    assert output_of(*options, "--csv", "-f", "1", stdin=b"urn:ab:1\n\r\r\n") == b"urn:ab:1\n"
    assert bad.read_text() == "<stdin>\t2\t0\tscheme\t\\x0d\n"
    data = b'{"u":"urn:ab:1"}\n{"u":"urn:\\u00e9b:1"}\n\n{"u":"\\q"}\n'
    assert output_of(*options, "--json-field", "u", stdin=data) == data[:17]
    assert [line.split("\t")[1:4] for line in bad.read_text().splitlines()] == [
        ["2", "10", "nid"],
        ["3", "0", "field"],
        ["4", "6", "json"],
    ]


def test_more_invalid_records_than_are_fetched_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("uricodec._io.runner.MOST_FAULTS", 2)
    bad = tmp_path / "bad"
    data = b"n,u\n1,a\n" + b"".join(b'"%d\n"\n' % i for i in range(9))
    options = ["dedup", "--kind", "bytes", "--errors", "drop", "--invalid-to", bad, "--csv", "--header", "-f", "u"]
    assert output_of(*options, stdin=data) == data[:8]
    assert bad.read_text() == "".join(f'<stdin>\t{i + 3}\t0\tfield\t"{i}\\x0a"\n' for i in range(9))


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        (
            ["--csv", "-f", "2"],
            b'1,"a\nb"\n2\n',
            "<stdin>:2:1 (byte 8): the record does not have one text in this field",
        ),
        (["--csv", "--header", "-f", "u"], b'n,u\n1,a\n2,"b\n', "<stdin>:3:3 (byte 10): unclosed quote"),
        (["--csv", "-f", "1"], b'a,b\nc,"d\n', "<stdin>:2:3 (byte 6): unclosed quote"),
        (["--csv", "-f", "3"], b'a,b,c\nd,"e\n', "<stdin>:2:3 (byte 8): unclosed quote"),
        (["--json-field", "u"], b'{"u":"a"}\n{"u":1}\n', "<stdin>:2:1 (byte 10): the record does not have one text"),
    ],
)
def test_raise_stops_at_the_first_invalid_record(options, data, message):
    status, _, said = run("dedup", "--kind", "bytes", "--errors", "raise", *options, stdin=data)
    assert status == 1 and said.startswith(f"uricodec: {message}") and said.endswith(HINT)


@pytest.mark.parametrize(("field", "errors"), [("1", "keep"), ("2", "keep"), ("1", "drop")])
def test_quotes_that_are_not_closed(field, errors):
    data = b'a,b\nc,"d\ne,f\n'
    command = ["dedup", "--kind", "bytes", "--csv", "-f", field, "--errors", errors]
    status, output, said = run(*command, stdin=data)
    assert (status, output) == (0, data if errors == "keep" else data[:4])
    assert said == "uricodec: the last record ends within quotes, which are not closed\n"
    assert run(*command, "-q", stdin=data)[2] == "" and run(*command, stdin=data + b'"')[2] == ""
    status, _, said = run(*command, stdin=data[4:])
    assert status == 1 and "; the last one ends within quotes, which are not closed\n" in said


@each_row("header", [(), ("--header",)])
@each_row(
    ("data", "found"), [(b"a,1\na,1\n", False), (b"a;1\nb\na\n", True), (b"a\n", False), (b"", True), (b"\n", True)]
)
def test_a_delimiter_that_no_record_contains(data, found, header):
    data = b"a;n\n" * bool(header) + data
    status, _, said = run("dedup", "--kind", "bytes", "-d", ";", "-f", "1", *header, stdin=data)
    assert (status, said.split("\n")[0]) == ((0, "") if found else (1, "uricodec: --delimiter: no record contains ';'"))


def test_a_delimiter_that_some_files_contain(tmp_path):
    for name, data in {"one": b"u;n\na\n", "two": b"u;n\nb;1\n"}.items():
        (tmp_path / name).write_bytes(data)
    options = ["dedup", "--kind", "bytes", "-d", ";", "-f", "u", "--header"]
    assert output_of(*options, tmp_path / "one", tmp_path / "two") == b"u;n\na\nb;1\n"
    assert run(*options, tmp_path / "one", tmp_path / "one")[0] == 1


@pytest.mark.parametrize("errors", ["keep", "drop", "raise"])
def test_records_that_are_too_long(errors):
    """A record goes on after a newline in quotes, however long it is."""
    long = b'2,"' + b"a,b\n" * 20 + b'"\n'
    data = b"\xef\xbb\xbfn,u\n1,a\n" + long + b"1,a\n" + long
    options = ["dedup", "--kind", "bytes", "--errors", errors, "--max-line", "40", "--csv", "--header", "-f", "u", "-c"]
    status, output, said = run(*options, stdin=data, chunk=16)
    wanted = b"\xef\xbb\xbfcount,n,u\n2,1,a\n" + (b"1," + long) * (2 if errors == "keep" else 0)
    if errors == "raise":
        assert status == 1 and "<stdin>:3:41 (byte 51): line is longer than 40 bytes" in said
    else:
        assert (status, output, said) == (0, wanted, "")


def test_headers(tmp_path):
    for name, data in {
        "a": b"n,u\n1,a\n",
        "same": b"n,u\r\n2,a\n3,b",
        "other": b"u,n\na,1\nb,2\n",
        "twice": b"u,u\na,1\n",
        "alone": b"n,u",
        "none": b"",
    }.items():
        (tmp_path / name).write_bytes(data)

    def dedup_of(field, *names, more=()):
        files = [tmp_path / name for name in names]
        return run("dedup", "--kind", "bytes", "--csv", "--header", "-f", field, *more, *files)

    assert dedup_of("u", "none", "a", "none", "same") == (0, b"n,u\n1,a\n3,b\n", "")
    assert dedup_of("u", "same", "a", more=["--exclude", tmp_path / "other"]) == (0, b"n,u\r\n", "")
    assert dedup_of("u", "alone") == (0, b"n,u\n", "") and dedup_of("u", "none") == (0, b"", "")
    assert dedup_of("2", "alone", more=["--count"]) == (0, b"count,n,u\n", "")
    status, _, said = dedup_of("u", "a", "other")
    assert (status, said) == (3, f"uricodec: {tmp_path / 'other'}: header differs from that of the first input\n")
    for field, name, message in (
        ("v", "a", "the header has no field 'v'; its fields are 'n', 'u'"),
        ("u", "twice", "the header has 2 fields 'u'"),
        ("3", "a", "the header has only 2 fields, got '3'"),
        ("0", "a", "fields count from 1, got '0'"),
    ):
        assert dedup_of(field, name) == (2, b"", f"uricodec: --field: {tmp_path / name}: {message}\n")
    status, _, said = run("dedup", "--kind", "bytes", "--csv", "--header", "-f", "u", "--max-line", "2", tmp_path / "a")
    hint = "\nhint: --max-line SIZE allows longer ones\n"
    assert (status, said) == (3, f"uricodec: {tmp_path / 'a'}: the header is too long\n{hint}")


def test_a_field_that_no_record_has(tmp_path):
    """A name or number that is wrong is an error, and the output is not replaced."""
    target = tmp_path / "target"
    target.write_bytes(b"old")
    for options, field, data in (
        (["--json-field", "v"], "'v'", b'{"u":"a"}\n{"v":1}\n'),
        (["-f", "3", "-d", ","], "'3'", b"a,b\n"),
    ):
        status, _, said = run("dedup", "--kind", "bytes", *options, "-o", target, stdin=data)
        assert (status, said) == (
            1,
            f"uricodec: {options[0].replace('-f', '--field', options[0] == '-f')}: "
            f"no record has a text in field {field}\n",
        )
    assert target.read_bytes() == b"old"
    assert output_of("dedup", "--kind", "bytes", "--json-field", "v") == b""


def test_invalid_options(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(b"a\n")
    for options, message in (
        ({"header": True}, "header is only supported with field"),
        ({"delimiter": b";"}, "delimiter is only supported with field"),
        ({"field": 1, "format": "xml"}, "format must be one of 'csv', 'delimited', 'jsonl', got 'xml'"),
        ({"field": "a", "format": "jsonl", "header": True}, "header is not supported with format='jsonl'"),
        ({"field": "a", "format": "jsonl", "delimiter": b","}, "delimiter is not supported with format='jsonl'"),
        ({"field": 1, "line_terminator": b"\0"}, r"line_terminator must be b'\n' with format='csv', got b'\x00'"),
        (
            {"field": 1, "delimiter": b"::"},
            "delimiter must be one byte with no other meaning in the records, got b'::'",
        ),
        ({"field": "a"}, "expected the number of a field, or with a header its name, got 'a'"),
    ):
        for function in dedup.dedup_files, dedup.estimate_files:
            with pytest.raises(ValueError) as error:
                function(source, kind="bytes", **options)
            assert str(error.value) == message
    status, _, said = run("dedup", "--kind", "bytes", "-f", "2", "-d", "\n", source)
    assert (status, said) == (
        2,
        "uricodec: --delimiter: '\\\\x0a' has another meaning in these records\n\nhint: such as --delimiter ';'\n",
    )
    assert output_of("dedup", "--kind", "bytes", "-z", "-f", "2", "-d", "\n", stdin=b"1\na\x002\na\0") == b"1\na\0"
