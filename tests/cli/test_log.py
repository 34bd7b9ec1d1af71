"""`uricodec log`: what it writes where, chunks and formats of several logs, memory.

The records are in logs/test_records.py.
"""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import logs as naive_logs
from support.command import COMMAND, growth, output_of, process, run
from support.tables import each_row
from support.timing import assert_linear

from uricodec import logs
from uricodec._io.reading import Input
from uricodec.cli import main
from uricodec.cli.errors import page_of
from uricodec.logs._mask import Mask
from uricodec.logs._records import NAMES, LogReader

LOGS = Path(__file__).parents[2] / "examples/logs"
COMBINED = b'192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /caf%C3%A9?q=a+b HTTP/1.0" 200 2326 "-" "curl/8"'
CLOUDFRONT = b"#Fields: x-edge-location cs-uri-stem\nFRA2\t/caf%25C3%25A9/100%2525\n"
IIS = (
    b"#Software: Microsoft Internet Information Services 10.0\r\n"
    b"#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status\r\n"
    b"2025-01-01 12:00:00.25 GET /caf\xc3\xa9%20 q=a%20b 192.0.2.1 Mozilla/5.0+(X11;+Linux) 200\r\n"
    b"#Fields: c-ip cs-uri-stem cs-username sc-bytes time\r\n"
    b"192.0.2.2 /b DOMAIN\\frank 17 12:00:01\r\n"
)
ALB = b'h2 - lb 192.0.2.1:2817 - - - - 200 - - 366 "GET https://www.example.com:443/caf%C3%A9?a=1 HTTP/2.0" "-" -'


def request(target):
    """A line of "common" with this request, as it is."""
    return b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "%b" 200 5' % target


LONGEST = 1 << 16


def converted(data):
    """Its records, in one go."""
    reader = LogReader(logs.Format("combined").programs)
    records = bytearray(reader.capacity_for(len(data)))
    return bytes(records[: reader.convert(data, records).written])


def test_command(tmp_path, monkeypatch):
    data = COMBINED + b"\njunk\n" + COMBINED
    status, output, complaint = run("log", stdin=data)
    assert (status, output) == (0, 2 * converted(COMBINED))
    assert complaint == (
        "uricodec: 1 of 3 lines are not records (33 %)\n"
        "  1: client, as in <stdin>:2: expected ' - ' after client at offset 4, got the end of the line\n"
        "\nhint: --invalid-to FILE lists them\n"
    )
    monkeypatch.setenv("URICODEC_NO_DOCS_LINKS", "")
    assert run("log", stdin=data)[2] == f"{complaint}see: {page_of('log', 1)}\n"
    bad = tmp_path / "bad"
    status, written, complaint = run("log", "--invalid-to", bad, stdin=data)
    assert (status, written, complaint.splitlines()[0]) == (0, output, "uricodec: 1 of 3 lines are not records (33 %)")
    assert bad.read_bytes() == b"<stdin>\t2\t0\tclient\tjunk\n"
    status, _, said = run("log", "--stats", stdin=data)
    counts = {"lines": 3, "records": 2, "invalid": 1, "dropped": 0, "directives": 0, "faults": {"client": 1}}
    assert json.loads(said.splitlines()[-1]) == counts | {"formats": {"<stdin>": "combined"}}


def test_command_writes_csv():
    output = output_of("log", "--to", "csv", "--flags", stdin=request(b'GET /a"%2C%0Ab?c=%22,%0A HTTP/1.1')).decode()
    [row] = csv.DictReader(io.StringIO(output))
    assert (row["path"], row["status"], row["referer"], row["flags"]) == ('/a",%0Ab', "200", "", "")
    assert json.loads(row["query"]) == [["c", '",\n']]
    assert output_of("log", "--to", "csv") == (",".join(NAMES) + "\n").encode()


def test_csv_is_that_of_python():
    """Cells are in quotes where csv.writer writes quotes, and if a text is empty: a missing one is not."""
    lines = [request(b'GET /a"%2C%0Ab?c=%22,&d HTTP/1.1'), COMBINED.replace(b'"-" "curl/8"', b'"" "a,\\"b\\""')]
    header, *rows = output_of("log", "--to", "csv", "--flags", stdin=b"\n".join(lines)).decode().splitlines()
    records = list(map(json.loads, output_of("log", "--flags", stdin=b"\n".join(lines)).splitlines()))
    assert len(rows) == 2
    for row, record in zip(rows, records, strict=True):
        values = dict(zip(header.split(","), next(csv.reader([row])), strict=True))
        for name in "client", "path", "target", "referer", "user_agent":
            assert values[name] == (record[name] or "").replace("\n", "%0A")
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(values.values())
        assert row.replace('""', "") == line.getvalue().replace('""', "")
        assert row.endswith(',""') is (record["flags"] == [])


def test_command_writes_tsv():
    line = request(b'GET /a"%2C%0Ab%09?c=%22,%0A&a%09b=%09 HTTP/1.1')
    for jobs in "1", "2":
        output = output_of("log", "--to", "tsv", "--param", "a\tb", "-j", jobs, stdin=3 * (line + b"\n")).decode()
        header, *rows = [each.split("\t") for each in output.split("\n")[:-1]]
        assert header == [*NAMES, "param.a%09b"]
        for row in rows:
            found = dict(zip(header, row, strict=True))
            assert (found["path"], found["status"], found["param.a%09b"]) == ('/a",%0Ab%09', "200", "%09")
            assert json.loads(found["query"]) == [["c", '",\n'], ["a\tb", "\t"]]
    assert output_of("log", "--to", "tsv") == ("\t".join(NAMES) + "\n").encode()


def test_csv_that_is_safe_for_spreadsheets():
    data = b'192.0.2.1 - =u [-] "GET /%3D1 HTTP/1.1" 200 5 "-1" "@x"\n192.0.2.1 - u [-] "=1+1|cmd" 200 5'
    rows = list(csv.DictReader(io.StringIO(output_of("log", "--to", "csv", "--csv-safe", stdin=data).decode())))
    assert [(row["user"], row["target"], row["referer"], row["user_agent"]) for row in rows] == [
        ("'=u", "/%3D1", "'-1", "'@x"),
        ("u", "'=1+1|cmd", "", ""),
    ]
    assert [row["status"] for row in rows] == ["200", "200"]
    assert b",=u," in output_of("log", "--to", "csv", stdin=data)
    for to in "jsonl", "arrow":
        status, output, complaint = run("log", "--to", to, "--csv-safe", stdin=data)
        assert (status, output) == (2, b"")
        assert complaint.endswith(
            "--csv-safe: not allowed without --to csv or --to tsv\n\nhint: add --to csv or --to tsv\n"
        )


@pytest.mark.interop
def test_command_writes_arrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    out = tmp_path / "out.arrow"
    assert output_of("log", "--to", "arrow", "-o", out, stdin=COMBINED) == b""
    assert pa.ipc.open_stream(out.read_bytes()).read_all() == logs.to_arrow(COMBINED).read_all()
    assert pa.ipc.open_stream(output_of("log", "--to", "arrow", "--flags")).read_all().num_rows == 0


MANY = b"".join(
    b'192.0.2.%d - - [10/Oct/2000:13:5%d:36 -0700] "GET /%d?q=%d HTTP/1.0" %d %d "-" "curl/8"\n'
    % (i % 7, i % 3, i % 11, i % 2, 200 + 100 * (i % 3), i)
    for i in range(1, 500)
)


def test_fields_and_conditions():
    found = output_of("log", "--fields", "status,param.q", "--where", "status>=300", "--where", "path=/1", stdin=MANY)
    wanted = [record for record in map(json.loads, output_of("log", "--param", "q", stdin=MANY).splitlines())
              if record["status"] >= 300 and record["path"] == "/1"]  # fmt: skip
    assert list(map(json.loads, found.splitlines())) == [
        {"status": record["status"], "param.q": record["param.q"]} for record in wanted
    ]
    assert output_of("log", "--fields", "time:hour,status:class", "--to", "csv", stdin=COMBINED) == (
        b"time:hour,status:class\n2000-10-10T13:00:00-07:00,2xx\n"
    )
    status, output, said = run("log", "--where", "status=999", "--stats", stdin=MANY)
    assert (status, output) == (0, b"")
    counts = json.loads(said)
    assert (counts["lines"], counts["records"], counts["dropped"], counts["invalid"]) == (499, 0, 499, 0)
    assert output_of("log", "--since", "2000-10-11", stdin=MANY) == b""
    assert output_of("log", "--until", "2000-10-11", stdin=MANY) == output_of("log", stdin=MANY)


def test_the_zone_of_times_is_said():
    log = (LOGS / "haproxy.log").read_bytes()
    said = json.loads(run("log", "--since", "2000-01-01", "--timezone", "+02:00", "--stats", stdin=log)[2])
    assert said["timezone"] == "UTC+02:00"
    assert json.loads(run("log", "--until", "2100-01-01", "--stats", stdin=log)[2])["timezone"] == "UTC"
    assert "timezone" not in json.loads(run("log", "--since", "2000-01-01", "--stats", stdin=MANY)[2])


@pytest.mark.parametrize("threads", [1, 2])
def test_counts(tmp_path, threads):
    path = tmp_path / "log"
    path.write_bytes(MANY)
    more = ["-j", threads, "--format", "combined", path]
    wanted = list(logs.count(MANY, ["status", "param.q"], sums=["bytes_sent"], quantiles=["bytes_sent"]))
    numbers = ["--sum", "bytes_sent", "--quantiles", "bytes_sent"]
    found = output_of("log", "--count", "status,param.q", *numbers, *more)
    assert list(map(json.loads, found.splitlines())) == wanted
    assert output_of("log", "--count", "client", "--top", "1", "--to", "csv", *more) == b"client,count\n192.0.2.1,72\n"
    rows = csv.DictReader(output_of("log", "--count", "status,param.q", *numbers, "--to", "tsv", *more).decode()
                          .splitlines(), delimiter="\t")  # fmt: skip
    assert list(rows) == [{name: str(value) for name, value in row.items()} for row in wanted]
    counts = output_of("log", "--count", "client,path", *more)
    for memory in "2K", "1":
        assert output_of("log", "--count", "client,path", "--memory", memory, *more) == counts


SORTED = b"".join(
    b'{"client":"192.0.2.%d","time":"2025-03-%02dT0%d:00:00%s","status":%d,"user":%s,"bytes_sent":%s}\n'
    % (i % 9, 1 + i % 2, i % 5, b"+02:00" if i % 3 else b"Z", 90 + 300 * (i % 5),
       b'"a\\u000%d"' % (i % 3) if i % 4 else b"null",
       b"null" if i % 11 == 3 else b"%d" % (2**53 + i % 9 * i % 7 * 2**50 + i))
    for i in range(3000)
)  # fmt: skip


@pytest.mark.slow
@each_row(
    ("fields", "sort", "value", "descends"),
    [
        ("client", "sum.bytes_sent", lambda row: row["sum.bytes_sent"], True),
        ("client", "sum.bytes_sent:asc", lambda row: row["sum.bytes_sent"], False),
        ("client,status", "p90.bytes_sent", lambda row: row["p90.bytes_sent"], True),
        ("status,client", "status", lambda row: row["status"], False),
        ("client,status", "status:desc", lambda row: row["status"], True),
        ("client", "count:asc", lambda row: row["count"], False),
        ("user,status", "user", lambda row: row["user"], False),
        ("user,status", "user:desc", lambda row: row["user"], True),
        ("bytes_sent", "bytes_sent:desc", lambda row: row["bytes_sent"], True),
        ("time", "time", lambda row: datetime.fromisoformat(row["time"].replace("Z", "+00:00")), False),
        ("time:hour", "time:hour:desc", lambda row: datetime.fromisoformat(row["time:hour"]), True),
    ],
)
def test_counts_in_another_order(tmp_path, fields, sort, value, descends):
    path = tmp_path / "log"
    path.write_bytes(SORTED)
    maps = [word for name in ("client", "time", "status", "user", "bytes_sent") for word in ("--map", f"{name}={name}")]
    command = ["log", *maps, "--count", fields, "--sum", "bytes_sent", "--quantiles", "bytes_sent", path]
    rows = list(map(json.loads, output_of(*command).splitlines()))
    here = [row for row in rows if value(row) is not None]
    wanted = sorted(here, key=value, reverse=descends) + [row for row in rows if row not in here]
    for more in [], ["--memory", "1"]:
        found = [json.loads(line) for line in output_of(*command, "--sort", sort, *more).splitlines()]
        assert found == wanted
    assert list(map(json.loads, output_of(*command, "--sort", sort, "--top", "3").splitlines())) == wanted[:3]
    lines = output_of(*command, "--sort", sort, "--to", "csv").decode().splitlines()
    names = fields.split(",")
    shown = [["" if row[name] is None else str(row[name]) for name in names] for row in wanted]
    encoded = [[re.sub("[\0-\2]", lambda found: f"%0{ord(found[0])}", text) for text in row] for row in shown]
    assert [[row[name] for name in names] for row in csv.DictReader(lines)] == encoded


def test_the_order_of_counts_in_python():
    rows = list(logs.count(MANY, ["client", "time:hour"], sums=["bytes_sent"], sort="sum.bytes_sent:asc", top=3))
    every = list(logs.count(MANY, ["client", "time:hour"], sums=["bytes_sent"]))
    assert rows == sorted(every, key=lambda row: row["sum.bytes_sent"])[:3]
    named = logs.count(MANY, ["param.q:desc", "param.q"], sort="param.q:desc")  # a name with a colon is itself
    assert next(named)["count"] == 250
    message = "^sort: expected a field of client, count, or one with :asc or :desc, got 'bytes_sent'$"
    with pytest.raises(ValueError, match=message):
        next(logs.count(MANY, ["client"], sort="bytes_sent"))
    with pytest.raises(TypeError, match=r"^sort must be a str, got int$"):
        next(logs.count(MANY, ["client"], sort=1))
    status, output, said = run("log", "--count", "client", "--sort", "bytes_sent", stdin=MANY)
    assert (status, output, said.startswith("uricodec: --sort: expected ")) == (2, b"", True)


@pytest.mark.slow
def test_numbers_beside_keys_have_the_fields_of_their_lines(tmp_path):
    """A W3C log announces its fields once, for all chunks of it, which several threads read."""
    path = tmp_path / "log"
    lines = b"".join(b"2025-01-01 12:00:00 192.0.2.1 GET /%d %d 200\n" % (i % 7, i) for i in range(200_000))
    path.write_bytes(b"#Fields: date time c-ip cs-method cs-uri-stem sc-bytes sc-status\n" + lines)
    rows = output_of("log", "--count", "path", "--sum", "bytes_sent", "-j", "3", path).splitlines()
    found = {row["path"]: row["sum.bytes_sent"] for row in map(json.loads, rows)}
    assert found == {f"/{i}": sum(range(i, 200_000, 7)) for i in range(7)}


@pytest.mark.interop
def test_parquet(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "out.parquet"
    assert output_of("log", "--to", "parquet", "-o", out, stdin=MANY) == b""
    assert parquet.read_table(out) == logs.to_arrow(MANY).read_all()
    assert parquet.ParquetFile(out).metadata.row_group(0).column(0).compression == "ZSTD"
    from uricodec.cli import log_outputs

    monkeypatch.setattr(log_outputs, "GROUP", 100)
    assert (
        main(["log", "--to", "parquet", "-o", str(out), str(LOGS / "common.log"), *[str(LOGS / "combined.log")] * 99])
        == 0
    )
    found = parquet.ParquetFile(out).metadata
    assert [found.row_group(i).num_rows for i in range(found.num_row_groups)] == [100] * (found.num_rows // 100)
    output_of("log", "--to", "parquet", "--count", "status,time:hour", "--sum", "bytes_sent", "-o", out, stdin=MANY)
    assert parquet.read_table(out).to_pylist() == list(logs.count(MANY, ["status", "time:hour"], sums=["bytes_sent"]))
    assert run("log", "--to", "parquet", stdin=MANY)[0::2] == (
        2,
        "uricodec: --to parquet: the output is not a file\n\nhint: -o FILE writes to a file\n",
    )


@pytest.mark.interop
def test_counts_are_those_of_sql(tmp_path):
    """DuckDB counts the same over Parquet."""
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    out = tmp_path / "out.parquet"
    output_of("log", "--to", "parquet", "-o", out, stdin=MANY)
    sql = f"""SELECT client, status, count(*), sum(bytes_sent), strftime(time, '%Y-%m-%dT%H') FROM '{out}'
        WHERE status >= 300 AND path LIKE '/1%' GROUP BY ALL ORDER BY ALL"""
    wanted = duckdb.sql(f"SET TimeZone = 'UTC'; {sql}").fetchall()
    where = ["status>=300", "path^=/1"]
    rows = logs.count(MANY, ["client", "status", "time:hour"], sums=["bytes_sent"], where=where)
    found = [(row["client"], row["status"], row["count"], row["sum.bytes_sent"], "2000-10-10T20") for row in rows]
    assert sorted(found) == wanted != []


def test_arrow_does_not_go_to_a_terminal():
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        said = "uricodec: --to arrow: the output is a terminal\n\nhint: -o FILE writes to a file\n"
        assert run("log", "--to", "arrow", "-o", os.ttyname(theirs), stdin=COMBINED) == (2, b"", said)
    finally:
        os.close(ours)
        os.close(theirs)


def test_command_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = "uricodec: --to arrow: pyarrow is not installed\n\nhint: pip install 'uricodec[arrow]'\n"
    assert run("log", "--to", "arrow") == (2, b"", said)


def test_several_logs_of_several_formats(tmp_path):
    names = []
    for number, data in enumerate([IIS, IIS.splitlines()[4], COMBINED, CLOUDFRONT, ALB]):
        names.append(tmp_path / f"{number}.log")
        names[-1].write_bytes(data)
    bad = tmp_path / "bad"
    status, output, said = run("log", *names, "--invalid-to", bad)
    assert [json.loads(line)["path"] for line in output.splitlines()] == [
        "/café%20", "/b", "/café", "/café/100%", "/café",
    ]  # fmt: skip
    assert status == 1 and f"{names[1]}: unknown log format" in said and not bad.read_bytes()
    # The fields of one log are not those of the next.
    assert run("log", "--format", "iis", names[0], names[1])[0] == 1


@pytest.mark.parametrize("size", [1, 16, 100])
def test_a_pipe_may_show_the_format_later(monkeypatch, size):
    logs = [IIS, b"#Version: 1.0\n" + CLOUDFRONT, b"\n" + ALB, b"\n" * 101 + COMBINED, b"# nothing\n", b""]
    expected = [run("log", "--stats", stdin=log) for log in logs]
    read_into = Input.read_into
    monkeypatch.setattr(Input, "read_into", lambda self, view: read_into(self, view[:size]))
    assert [run("log", "--stats", stdin=log) for log in logs] == expected


def rejected(line, *names, format="combined"):
    """What is shown of a line that is not a record."""
    arguments = ["log", "--format", format, "--mask", ",".join(names), "-o", os.devnull, "--invalid-to", "-"]
    status, output, _ = run(*arguments, stdin=line)
    [shown] = output.decode().splitlines()
    assert status == 1
    return shown.split("\t", 4)[4]


# A line of a format that is not a record, whatever the target holds.
REJECTED = {
    "combined": b'192.0.2.1 - - [-] "GET /a?x=1&%b HTTP/1.1" 200 x "-" "-"',
    "common": b'192.0.2.1 - - [-] "GET /a?x=1&%b HTTP/1.1" 200 x',
    "nginx-json": b'{"request":"GET /a?x=1&%b HTTP/1.1","status":"x"}',
    "cloudfront": b"2025-01-01\t12:00:00\t-\tx\t-\t-\t-\t/a\t200\t-\t-\tx=1&%b",
    "iis": b"2025-01-01 12:00:00 - - /a x=1&%b - - - - - x - - -",
    "alb": b'h2 - lb 192.0.2.1:2817 - - - - x - - 366 "GET https://www.example.com/a?x=1&%b HTTP/2.0" "-" -',
}


@pytest.mark.slow
@each_row("format", REJECTED)
@each_row("target", [
        rb"token=|SEC;RET", rb"token=|SEC\"RET", rb"token=|\SECRET", rb'token=|SEC"RET', rb"token=|SEC RET",
        rb"token=|SEC&RET", rb"token=|SEC%26RET", rb"tok\x65n=|SECRET", rb"token\x3d|SECRET",
        rb"\x3ftoken=|SECRET", rb"&TOKEN=|SECRET",
        rb"to%256Ben=|SECRET", rb"\u0074oken=|SECRET", rb"token%25253d|SECRET", rb"token\u003D|SECRET",
        rb"%u0074oken=|SECRET", rb"%5Cx74oken=|SECRET", rb"\\u0025%37%34oken=|SECRET", rb"%%37%34oken=|SECRET",
        rb"\\token\\=|SECRET", rb"\token=|SECRET", rb"a+key=|SECRET", rb"a%20key=|SECRET", rb"a\tname=|SECRET",
        rb"a\u0009name=|SECRET", rb"cl\u00e9=|SECRET", rb"cl\xC3\xA9=|SECRET", b"cl\xc3\xa9=|SECRET",
        rb"\ud83d\ude00=|SECRET", rb"%25F0%9F\x98\x80=|SECRET",
    ])  # fmt: skip
def test_invalid_lines_are_masked(format, target):
    shown = rejected(
        REJECTED[format] % target.replace(b"|", b""), "Token", "a key", "a\tname", "clé", "😀", format=format
    )
    before = REJECTED[format].split(b"%b")[0] + target.split(b"|")[0]
    assert shown == before.decode().replace("\\", r"\\").replace("\t", r"\x09") + "***"


def test_the_first_of_the_names_that_are_masked():
    line = b'junk "GET /?a=1&to=2&token&pass%3D3&token=4&key=5 HTTP/1.1" token=6; Token=7'
    assert rejected(line, "key", "token", "pass") == 'junk "GET /?a=1&to=2&token&pass%3D***'
    assert rejected(line, "key", "token") == 'junk "GET /?a=1&to=2&token&pass%3D3&token=***'
    assert rejected(line, "key") == 'junk "GET /?a=1&to=2&token&pass%3D3&token=4&key=***'
    assert rejected(line, "secret") == line.decode()


LAYERS = [(b"%", "%{:02x}"), (b"%", "%{:02X}"), (b"\\", r"\x{:02x}"), (b"\\", r"\u{:04X}")]


@pytest.mark.slow
@given(
    st.sampled_from(sorted(REJECTED)),
    st.text("TOKENtoken", min_size=1, max_size=6),
    st.text("JQWZ", min_size=1),
    st.data(),
)
def test_secrets_under_any_escapes(format, name, secret, data):
    pieces = [letter.encode() for letter in f"{name}={secret}"]
    for own, escape in data.draw(st.lists(st.sampled_from(LAYERS), max_size=4)):
        for i, piece in enumerate(pieces):
            chosen = data.draw(st.booleans())
            pieces[i] = b"".join(
                escape.format(octet).encode() if octet in own or chosen else bytes([octet]) for octet in piece
            )
    shown = rejected(REJECTED[format] % b"".join(pieces), name, format=format)
    before = REJECTED[format].split(b"%b")[0] + b"".join(pieces[: len(name) + 1])
    assert shown == before.decode().replace("\\", r"\\").replace("\t", r"\x09") + "***"
    assert not re.search("[JQWZ]", shown)


PIECES = [
    *rb"token token= = tok en \x74 \u0074 %74 %25 %3D \x3d \u003d \u00 \x % \ \\ 74 3 d & \" 5C x u00".split(),
    *[b" ", b"SECRET", b"%ed", b"%a0", b"%b0", b"\xed", b"\xa0", b"\xb0", rb"\ud83d", rb"\ude00"],
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_nothing_is_shown_behind_a_name(line):
    """Nor if only some of the layers of escapes are undone."""
    shown = Mask(["token"]).hide(line)
    cut = line if shown == line else shown.removesuffix(b"***")
    assert line.startswith(cut)
    for reading in naive_logs.readings(cut):
        assert reading.find(b"token=") in (-1, len(reading) - 6)
        assert shown != line or b"token=" not in reading


def test_texts_like_surrogates_are_masked():
    line = rb"%ed%a0A%ed%b0A%ed%a0%80\ud83d\ude0\ude00"
    assert Mask(["token"]).hide(line + b"token=secret") == line + b"token=***"


@pytest.mark.slow
@pytest.mark.timeout(60)
@each_row("unit", [b"25", b"%", b"\\", rb"\x5cx41", b"%41", rb"\ud83d"])
def test_the_time_to_mask_is_linear(unit):
    line = b"%" + unit * (10_000 // len(unit))
    assert Mask(["token"]).hide(line + b"&token=secret") == line + b"&token=***"
    assert_linear(Mask(["token"]).hide, lambda size: b"%" + unit * (size // len(unit)) + b"&token=secret", 10_000)


@pytest.mark.parametrize("chunk", [12, 100, 1000])
def test_chunks_of_the_command(tmp_path, chunk):
    long = b"x" * 950
    lines = [request(b"GET /%d HTTP/1.1" % i) for i in range(9)] + [long, b"", b"junk", long, request(b"-")]
    bad = tmp_path / "bad"
    for end in b"", b"\n", b"\n" + long:
        options = ["--stats", "--invalid-to", bad, "--max-line", chunk]
        status, output, said = run("log", *options, stdin=b"\n".join(lines) + end, chunk=chunk)
        fit = [line for line in lines if len(line) <= chunk]
        assert status == (chunk == 12)  # without any record
        assert output == (b"" if status else converted(b"\n".join(fit)))
        if status:
            continue
        counts = json.loads(said.splitlines()[-1])
        assert counts["lines"] == 14 + (end > b"\n") == counts["records"] + counts["invalid"]
        assert bad.read_text().count("\n") == counts["invalid"]
        assert [int(line.split("\t")[1]) for line in bad.read_text().splitlines()][-1] >= (12 if end <= b"\n" else 15)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r\n" + COMBINED])
def test_the_longest_line(end):
    """The same as for logs.parse()."""
    start = b'- - - [-] "GET /'
    for size, more in (LONGEST, 0), (LONGEST + 1, 1), (LONGEST + 2, 1), (LONGEST + 3, 1), (2 * LONGEST, 1):
        line = start + b"x" * (size - len(start) - 16) + b' HTTP/1.1" 200 5'
        assert len(line) == size
        invalid = []
        paths = [record.path for record in logs.parse(line + end, max_line=LONGEST, invalid=invalid)]
        assert [(fault.line, fault.offset, fault.code) for fault in invalid] == [(1, LONGEST, "too-long")] * more
        arguments = ["--format", "combined", "--max-line", LONGEST, "-o", os.devnull, "--stats", "--invalid-to", "-"]
        _, shown, counts = run("log", *arguments, stdin=line + end)
        assert shown == b"<stdin>\t1\t%d\ttoo-long\t%b...\n" % (LONGEST, line[:100]) * more
        counts = json.loads(next(line for line in counts.splitlines() if line.startswith("{")))
        assert (counts["records"], counts["invalid"]) == (len(paths), more)
        assert counts["lines"] == len(paths) + more == 1 + end.endswith(COMBINED)
        assert [len(path) for path in paths if path != "/café"] == [LONGEST - len(start) - 15] * (1 - more)


@pytest.mark.parametrize("text", [b"user=joe&password=hunter2", b"password=hunter2", b"a&PASSWORD=hunter2&b=c"])
def test_the_body_of_a_form_is_masked(text):
    for line in request(text), request(b"-") + b' "%b" "-"' % text:
        [record] = map(json.loads, output_of("log", "--mask", "password", stdin=line).splitlines())
        shown = record["target"] if record["target"] != "-" and record["target"] else record["referer"]
        assert shown == re.sub("hunter2", "***", text.decode())
    line = request(b"GET /%b HTTP/1.1" % text)
    [record] = map(json.loads, output_of("log", "--mask", "password", stdin=line).splitlines())
    assert record["target"] == "/" + text.decode() == record["path"]  # a path is shown as it is


def test_each_log_may_have_a_byte_order_mark(tmp_path):
    names = []
    for number, data in enumerate([IIS, IIS.splitlines()[4], IIS]):
        names.append(tmp_path / f"{number}.log")
        names[-1].write_bytes(b"\xef\xbb\xbf" + data)
    bad = tmp_path / "bad"
    for format in "iis", "auto":
        output = output_of("log", "--format", format, names[0], names[2], "--to", "csv")
        assert output == output_of("log", "--to", "csv", stdin=IIS + IIS)
    assert run("log", "--format", "iis", *names, "--invalid-to", bad)[0] == 1
    assert (
        bad.read_text("utf-8")
        == f"{names[1]}\t1\t40\tfields\t\\xef\\xbb\\xbf192.0.2.2 /b DOMAIN\\\\frank 17 12:00:01\n"
    )


# --- formats ----------------------------------------------------------------------------------------------------------


def records_of(*arguments, stdin=b""):
    return [json.loads(line) for line in output_of("log", *arguments, stdin=stdin).splitlines()]


def test_format_strings_and_maps():
    [record] = records_of("--format", '%h %t "%r" %>s %D', stdin=b'192.0.2.1 [-] "GET /%41 HTTP/1.1" 200 4711')
    assert (record["path"], record["duration"]) == ("/A", 0.004711)
    line = b'{"req":{"url":"/%41?a=1"},"code":"404","ms":12}'
    maps = ["--map", "target=req.url", "--map", "status=code", "--map", "duration.ms=ms"]
    [record] = records_of(*maps, stdin=line)
    assert (record["path"], record["query"], record["status"], record["duration"]) == ("/A", [["a", "1"]], 404, 0.012)
    assert run("log", *maps, stdin=b'{"other":1}')[:2] == (1, b"")


@each_row(
    ("arguments", "said"),
    [
        (["--format", "combind"], "unknown format 'combind'; did you mean 'combined'"),
        (["--format", "%h %Q"], "unknown directive '%Q' at offset 3"),
        (["--map", "path"], "expected FIELD=PATH such as path=request.uri, got 'path'"),
        (["--map", "paht=a"], "unknown field 'paht'; did you mean 'path'"),
        (["--map", "path=a", "--map", "status=a"], "--map: 'a' is mapped to 'path' and to 'status'"),
        (["--map", "path=a", "--map", "path_decoded=b"], "--map: "),
        ([f"--map=extra.{i}=b{i}" for i in range(600)], "--map: the mapping has more than 512 paths"),
        (["--map", "target=\udcff"], "--map: lone surrogate in the path '\\udcff' at offset 0"),
        (["--format", "%h \udcff"], "--format: lone surrogate in the format at offset 3"),
        (["--map", "path=a", "--format", "combined"], "a map needs a format of JSON, logfmt or LTSV"),
        (["--encoding", "utf-16"], "--encoding: "),
        (["--follow", "-o", "out"], "--follow: not allowed with --output"),
        (["--fields", "status,path,"], "--fields: unknown field ''; the fields are client"),
        (["--where", "status"], "--where: expected a condition such as"),
        (["--since", "soon"], "--since: expected a time such as"),
        (["--since", "2025-01-02", "--until", "2025-01-01"], "--since: since must be before until"),
        (["--timezone", "Mars"], "--timezone: unknown time zone 'Mars'"),
        (["--top", "3"], "--top: "),
        (["--count", "stat"], "--count: unknown field 'stat'; did you mean 'status'"),
        (
            ["--count", "status", "--sum", "status"],
            "--sum: expected bytes_sent or duration, or both as in bytes_sent,duration, got 'status'",
        ),
        (["--count", "status", "--fields", "path"], "--fields"),
        (["--count", "status", "--top", "0"], "--top: "),
        (["--memory", "1M"], "--memory: "),
        (["--follow", "a", "b"], "--follow: expected one FILE"),
    ],
)
def test_options_that_are_wrong(arguments, said):
    status, output, complaint = run("log", *arguments)
    assert (status, output) == (2, b"") and said in complaint


def test_several_formats(tmp_path):
    """A line has the first one that it matches; a W3C log announces its fields for later chunks, too."""
    caddy, iis = ((LOGS / f"{name}.log").read_bytes() for name in ("caddy", "iis"))
    formats = ["--format", "caddy", "--format", "iis", "--format", "combined"]
    records = records_of(*formats, stdin=iis + COMBINED + b"\n" + caddy)
    assert [record["status"] for record in records] == [200, 404, 302, 200, 200, 502, 500]
    path = tmp_path / "log"
    path.write_bytes(iis + (COMBINED + b"\n" + iis.splitlines(keepends=True)[-1] + caddy) * 3000)
    one, two = (output_of("log", *formats, "-j", threads, path) for threads in "12")
    assert one == two and one.count(b"\n") == 3 + 3000 * 5
    assert run("log", *formats, stdin=b"junk\n")[2].startswith("uricodec: <stdin>:1:")
    for wrong in ["--format", "auto", "--format", "auto"], ["--format", "combind"]:
        assert run("log", *formats, *wrong)[0] == 2


def test_list_of_formats():
    listed = output_of("log", "--list-formats").decode().splitlines()
    assert [line.split()[0] for line in listed] == list(logs.presets())
    assert all(len(line.split()) > 1 for line in listed)


def test_parameters_and_encodings():
    line = request(b"GET /%93%FA?q=%93%FA%96%7B&q=2&e=%E9 HTTP/1.1")
    [record] = records_of("--param", "q", "--param", "none", "--encoding", "shift_jis", stdin=line)
    assert (record["path"], record["param.q"], record["param.none"]) == ("/日", "日本", None)
    assert record["query"] == [["q", "日本"], ["q", "2"], ["e", "%E9"]]
    [record] = records_of("--param", "e", "--replace-invalid-utf8", stdin=line)
    assert record["param.e"] == "\ufffd"
    [record] = records_of("--param", "q", "--mask", "q", stdin=line)
    assert record["param.q"] == "***"
    rows = csv.DictReader(io.StringIO(output_of("log", "--param", "q,", "--to", "csv", stdin=line).decode()))
    assert next(rows)["param.q,"] == ""


def test_clients_of_a_proxy():
    line = b"203.0.113.7, 10.0.0.1 " + COMBINED
    [record] = records_of(stdin=line)
    assert (record["client"], record["forwarded_for"]) == ("192.0.2.1", ["203.0.113.7", "10.0.0.1"])
    [record] = records_of("--client", "forwarded", stdin=line)
    assert record["client"] == "203.0.113.7"
    status, output, said = run("log", stdin=b"203.0.113.7 " + COMBINED)
    assert (status, output) == (1, b"")
    assert "may be vhost_combined or combined-forwarded" in said and "--format" in said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Once upon a time\n", "unknown log format"),
        (COMBINED.replace(b"2326", b"2326 0.1"), "the nearest is rack"),
        ((COMBINED + b"\n").decode().encode("utf-16"), "the log is UTF-16"),
        (bytes(range(256)) * 20, "the log is binary"),
        (
            (COMBINED + b"\n") * 5 + b'{"ts":1,"request":{"uri":"/"},"status":200}\n' * 5,
            "two formats: combined (5 of the",
        ),
    ],
)
def test_a_log_of_no_known_format(tmp_path, data, said):
    out = tmp_path / "out"
    out.write_text("old")
    status, _, complaint = run("log", "-o", out, stdin=data)
    assert status == 1 and said in complaint and "hint: --format" in complaint
    assert out.read_text() == "old"


def test_a_log_of_another_format(tmp_path):
    out, bad = tmp_path / "out", tmp_path / "bad"
    status, _, said = run("log", "--format", "caddy", "-o", out, "--invalid-to", bad, stdin=COMBINED)
    assert status == 1 and "not a record of the format caddy: expected valid JSON" in said
    assert "no line is one; com" in said and " reads it" in said
    assert not out.exists() and bad.read_bytes().startswith(b"<stdin>\t1\t0\tjson\t")


def test_a_line_that_is_not_a_record():
    status, _, said = run("log", "--errors", "raise", stdin=COMBINED + b"\n" + request(b"-").replace(b"200", b"2x0"))
    assert status == 1
    assert said.startswith(
        "uricodec: <stdin>:2:48 (byte 144): not a record of the format combined: "
        "expected a number in status at offset 47, got '2x0 5'\n\nhint: --errors"
    )


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(COMBINED)
    status, output, said = run("log", tmp_path / "missing", path)
    assert (status, output) == (3, converted(COMBINED))
    assert said == f"uricodec: {tmp_path}/missing: No such file or directory\n"
    for number in 1, 2:
        assert run("log", *[tmp_path / "missing"] * number)[:2] == (3, b"")


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_change_the_records(tmp_path, threads):
    data = b"".join(IIS.replace(b"/b", b"/%d" % i) + b"\r\njunk\n" for i in range(300))
    names = [tmp_path / "iis", tmp_path / "combined"]
    names[0].write_bytes(data)
    names[1].write_bytes((COMBINED + b"\n") * 500 + b"junk\n")
    bad = tmp_path / "bad"
    arguments = ["--invalid-to", bad, "--max-line", "1K", "--stats"]
    expected = run("log", "-j", "1", *arguments, *names), bad.read_bytes()
    assert (run("log", "-j", threads, *arguments, *names, chunk=1000), bad.read_bytes()) == expected


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_log_that_grows(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(COMBINED + b"\n")
    with subprocess.Popen([*COMMAND, "log", "--follow", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == converted(COMBINED)
        with open(path, "ab") as file:
            file.write(COMBINED[:20])
            file.flush()
            file.write(COMBINED[20:] + b"\n")
        assert child.stdout.readline() == converted(COMBINED)
        path.rename(tmp_path / "log.1")
        path.write_bytes(b"junk\n" + COMBINED.replace(b"192.0.2.1", b"192.0.2.2") + b"\n")
        assert json.loads(child.stdout.readline())["client"] == "192.0.2.2"
        with open(path, "r+b") as file:  # copytruncate; the program goes on at its offset
            file.truncate(0)
            file.seek(300)
            file.write(COMBINED.replace(b"192.0.2.1", b"192.0.2.3") + b"\n")
        assert json.loads(child.stdout.readline())["client"] == "192.0.2.3"
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 130
        said = child.stderr.read().decode()
        assert "300 NUL bytes" in said and re.search("1 of [45] lines are not records", said)


def read_terminal(terminal, until=b""):
    """What is written to a terminal, up to a text or its end."""
    said = b""
    try:
        while not until or until not in said:
            octets = os.read(terminal, 4096)
            if not octets:
                break
            said += octets
    except OSError:  # the other side is closed
        pass
    return said.decode().replace("\r\n", "\n")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
def test_counts_on_a_terminal(tmp_path):
    """As a table; of a log that grows, drawn again."""
    pty = pytest.importorskip("pty")
    path = tmp_path / "log"
    path.write_bytes(MANY)
    environment = os.environ | {"COLUMNS": "60", "PYTHONIOENCODING": "utf-8"}
    command = [*COMMAND, "log", "--format", "combined", "--count", "status,param.q", "--top", "2", path]
    terminal, device = pty.openpty()
    with subprocess.Popen(command, stdout=device, env=environment) as child:
        os.close(device)
        assert read_terminal(terminal).splitlines() == [
            "count   share                        status  param.q",
            "   84  16.8 %  ████████████████████  300     1",
            "   83  16.6 %  ███████████████████▊  400     0",
            "  332  66.5 %                        4 others",
        ]
        assert child.wait() == 0
    os.close(terminal)
    terminal, device = pty.openpty()
    command[-1:-1] = ["--follow"]
    with subprocess.Popen(command, stdout=device, env=environment, stderr=subprocess.PIPE) as child:
        os.close(device)
        assert "300     1" in read_terminal(terminal, b"400     0")
        with open(path, "ab") as file:
            file.write(2 * MANY)
        assert "  252  16.8 %" in read_terminal(terminal, b"400     0")
        child.send_signal(signal.SIGINT)
        last = read_terminal(terminal)
        assert child.wait(timeout=60) == 130
    os.close(terminal)
    assert last.rpartition("\x1b[J")[2].splitlines()[-1] == "  996  66.5 %                        4 others"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_line_ends(end):
    data = b"".join([request(b"GET /%d HTTP/1.1" % i) + end for i in range(5)])
    for log in data, data.removesuffix(end), data.removesuffix(b"\n"):
        assert [record["path"] for record in records_of(stdin=log)] == ["/0", "/1", "/2", "/3", "/4"]
        assert [record.path for record in logs.parse(log)] == ["/0", "/1", "/2", "/3", "/4"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_memory_of_counts_is_bounded(tmp_path):
    path = tmp_path / "log"
    with open(path, "wb") as file:
        for i in range(600_000):
            file.write(b'192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /%d HTTP/1.0" 200 5\n' % i)
    command = ["log", "--format", "common", "--count", "path", "--top", "5", "-j", "1"]
    assert growth([*command, "--memory", "16M"], path, tmp_path / "out") < 16_000
    assert growth([*command, "--memory", "1G"], path, tmp_path / "out") > 20_000


@pytest.mark.slow
def test_a_line_of_a_log_may_have_256_megabytes():
    """Columns have 32 bits for the offsets of their texts."""
    assert process("log", "--max-line", "256M", os.devnull).returncode == 0
    done = process("log", "--max-line", "257M", os.devnull)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.endswith(
        b"--max-line: must be from 1 to 268435456, got 269484032\n\nhint: such as --max-line 16M\n"
    )


def test_the_commonest_reasons_are_reported():
    good, junk = COMBINED + b"\n", b"junk\n"
    late = COMBINED.replace(b" 200 ", b" OK ", 1) + b"\n"
    odd = COMBINED.replace(b"[", b"(", 1) + b"\n"
    data = good * 4 + late * 2 + junk * 3 + odd + good
    for arguments in [], ["--stats"], ["--invalid-to", os.devnull]:
        status, output, said = run("log", "--format", "combined", *arguments, stdin=data)
        assert (status, output.count(b"\n")) == (0, 5)
        lines = said.splitlines()
        assert lines[0] == "uricodec: 6 of 11 lines are not records (55 %)"
        assert [line.split(":")[0].strip() for line in lines[1:4]] == ["3", "2", "1"]
        assert [int(line.split("<stdin>:")[1].split(":")[0]) for line in lines[1:4]] == [7, 5, 10]
    few = good * 200 + junk
    assert run("log", "--invalid-to", os.devnull, stdin=few)[2] == ""
    assert run("log", stdin=few)[2].startswith("uricodec: 1 of 201 lines are not records (0.5 %)\n  1: client, as in")


@pytest.mark.parametrize("options", [[], ["--stats"], ["--invalid-to", os.devnull], ["-j", "2", "--stats"]])
def test_one_of_several_logs_loses_lines(tmp_path, options):
    """Another one that is larger does not hide it."""
    large, small = tmp_path / "large", tmp_path / "small"
    large.write_bytes((COMBINED + b"\n") * 1000)
    small.write_bytes((COMBINED + b"\njunk\n") * 3)
    status, _, said = run("log", *options, large, small)
    assert (status, said.splitlines()[:3]) == (
        0,
        [
            "uricodec: 3 of 1006 lines are not records (0.3 %)",
            f"  {small}: 3 of 6",
            f"  3: client, as in {small}:2: expected ' - ' after client at offset 4, got the end of the line",
        ],
    )
    large.write_bytes((COMBINED + b"\n") * 1000 + b"junk\n")
    assert ("lines are not records" in run("log", *options, large)[2]) == (not options)


def test_json_without_the_important_fields_is_named():
    line = b'{"a":"192.0.2.1","u":"/a","s":"-","t":null}\n'
    maps = [f"--map={pair}" for pair in ("client=a", "target=u", "status=s", "time=t", "method=m")]
    status, output, said = run("log", *maps, stdin=line * 3)
    assert (status, output.count(b"\n")) == (0, 3)
    assert said == "uricodec: <stdin>: time, method, status: null in all 3 records of the format map\n"
    assert run("log", *maps, stdin=line * 3 + line.replace(b"null", b'"2025-01-01T00:00:00Z"'))[2] == (
        "uricodec: <stdin>: method, status: null in all 4 records of the format map\n"
    )
    assert run("log", "--map=target=u", stdin=line)[2] == ""
    written = 'log_format m escape=json \'{"a":"$remote_addr","u":"$request_uri","s":"$status"}\';'
    said = run("log", "--format", written, stdin=b'{"a":"192.0.2.1","u":"/","s":"-"}\n')[2]
    assert said == f"uricodec: <stdin>: status: null in all 1 records of the format {written}\n"


def test_text_without_the_important_fields_is_named():
    """Of more than a few records; of fields that the format has."""
    line = b'192.0.2.1 - - [-] "-" 400 0\n'
    said = "uricodec: <stdin>: time, method, target: null in all 10 records of the format common\n"
    assert run("log", stdin=line * 10)[2] == said
    assert run("log", stdin=line * 9)[2] == run("log", stdin=line * 9 + request(b"GET /"))[2] == ""
    assert run("log", stdin=(LOGS / "uvicorn.log").read_bytes())[2] == ""


def test_other_formats_of_lines_that_were_left_out(tmp_path):
    """`auto` says which formats they have, and how many each would read."""
    caddy, alb = ((LOGS / f"{name}.log").read_bytes().splitlines(keepends=True) for name in ("caddy", "alb"))
    data = (COMBINED + b"\n") * 60 + b"".join(caddy) + b"junk\n" + alb[0]
    status, _, said = run("log", "--stats", stdin=data)
    assert status == 0 and said.splitlines()[3:5] == [
        "  <stdin>: caddy would read 3 of the first 5 of them; --format combined --format caddy reads both",
        "  <stdin>: alb would read 1 of the others; --format combined --format alb reads both",
    ]
    both = ["--format", "combined", "--format", "caddy", "--format", "alb"]
    assert len(records_of(*both, stdin=data.replace(b"junk\n", b""))) == 64
    assert "would read" not in run("log", stdin=data * 5 + (COMBINED + b"\n") * 3000)[2]  # no more than 1 %
    assert "would read" not in run("log", "--format", "combined", stdin=data)[2]
    assert "would read" not in run("log", stdin=(COMBINED + b"\n") * 60 + b"junk\n" * 5)[2]
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(data)
    other.write_bytes(COMBINED)
    assert f"{one}: caddy would read 3" in run("log", other, one)[2]
    status, _, said = run("log", stdin=(COMBINED + b"\n") * 3 + b"".join(caddy))
    assert status == 1 and "lines of two formats: caddy (3 of the first 6) and combined (3)" in said
    assert "hint: --format NAME --format NAME" in said


# --- logs that were truncated, or split -------------------------------------------------------------------------------

LINES = [COMBINED.replace(b"?q", b"%d?q" % i) for i in range(40)]
BASE = b"\n".join(LINES) + b"\n"
SMALL = [(None, 1), (12, 1), (100, 2), (3000, 3)]


def outcomes(data, tmp_path, max_line=1000):
    """The records, the counts and the invalid lines, which do not depend on chunks and threads."""
    found = []
    for chunk, threads in SMALL:
        options = ["--stats", "-j", threads, "--max-line", max_line, "--invalid-to", tmp_path / "bad"]
        status, output, said = run("log", *options, stdin=data, chunk=chunk)
        counts = json.loads(said[said.index("{") :].splitlines()[0])
        lost = (tmp_path / "bad").read_bytes() if status == 0 else b""
        found.append((status, output, counts, lost, said))
        assert (
            counts["records"] + counts["invalid"] + counts.get("joined", 0)
            == counts["lines"]
            == data.count(b"\n") + (data.rstrip(b"\0")[-1:] not in {b"\n", b""})
        )
    assert all(each == found[0] for each in found)
    return found[0]


@pytest.mark.slow
@each_row("size", [1, 200, 5000])
@each_row(("before", "after"), [(b"", BASE), (BASE, BASE), (BASE, b""), (BASE + b"\n", b"\n" + BASE)])
def test_blocks_of_nul_are_skipped(tmp_path, size, before, after):
    """A program went on writing at its offset in a file that was truncated."""
    data = before + bytes(size) + after
    status, output, counts, _, said = outcomes(data, tmp_path)
    assert (status, output) == (0, converted(before.rstrip() + b"\n" + after.lstrip() if before else after))
    assert counts["nul_bytes"] == size
    assert f"<stdin>: {size} NUL bytes before lines skipped: the file was truncated while" in said
    invalid = []
    assert len(list(logs.parse(data, invalid=invalid))) == counts["records"]
    assert [line.code for line in invalid] == ["empty"] * counts["invalid"]
    assert logs.detect(data)[0].lines == counts["records"]


def test_nul_bytes_elsewhere(tmp_path):
    """They belong to their line; a file of them alone is no log."""
    _, output, counts, *_ = outcomes(BASE + LINES[0][:30] + bytes(9) + LINES[1] + b"\n", tmp_path)
    assert output.startswith(converted(BASE)) and counts["lines"] == 41 and "nul_bytes" not in counts
    status, output, counts, _, said = outcomes(bytes(5000), tmp_path)
    assert (status, output, counts["lines"]) == (1, b"", 0) and "the log is binary: it has only NUL bytes" in said
    with pytest.raises(logs.FormatError, match="only NUL bytes"):
        list(logs.parse(bytes(50), "combined"))
    for encoding in "utf-16", "utf-16-le", "utf-16-be":
        assert "UTF-16" in run("log", stdin=BASE.decode().encode(encoding))[2]


STAMP = b"2016-10-06T00:17:09.669794202Z "


def parts_of(line, stream, *places):
    """A line as container runtimes split it."""
    ends = [*places, len(line)]
    pieces = [line[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return [STAMP + stream + b" P " + piece + b"\n" for piece in pieces[:-1]] + [
        STAMP + stream + b" F " + pieces[-1] + b"\n"
    ]


def test_parts_of_lines_are_joined(tmp_path):
    log, errors = [], 0
    for i, line in enumerate(LINES):
        parts = parts_of(line, b"stdout", *[[], [10], [0, 50, 50], [len(line)]][i % 4])
        if i % 5 == 0:  # another stream between the parts
            parts[1:1] = parts_of(b"out of memory", b"stderr", 7)
            errors += 1
        log += parts
    status, output, counts, lost, _ = outcomes(b"".join(log), tmp_path)
    assert (status, output) == (0, converted(BASE))
    assert (counts["invalid"], counts["joined"]) == (errors, len(log) - 40 - errors)
    for row in lost.splitlines():
        _, number, _, _, text = row.split(b"\t")
        assert text == STAMP + b"stderr F out of memory"
        assert log[int(number) - 1] == STAMP + b"stderr F memory\n"
    assert len(list(logs.parse(b"".join(log), invalid=[]))) == 40


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_last_part_that_is_missing(tmp_path, end):
    start = b"".join(STAMP + b"stdout F " + line + b"\n" for line in LINES)
    data = start + STAMP + b"stdout P " + LINES[0][:40] + b"\n" + STAMP + b"stdout P " + LINES[0][40:] + end
    status, output, counts, *_ = outcomes(data, tmp_path)
    assert (status, output) == (0, converted(BASE + LINES[0])) and counts["joined"] == 1
    data = start + STAMP + b"stderr P x\n" + STAMP + b"stdout P y" + end
    _, output, counts, lost, _ = outcomes(data, tmp_path)
    assert output == converted(BASE) and "joined" not in counts
    assert [row.split(b"\t")[1] for row in lost.splitlines()] == [b"41", b"42"]


def test_parts_are_kept_up_to_the_longest_line(tmp_path):
    start = b"".join(STAMP + b"stdout F " + line + b"\n" for line in LINES[:9])
    parts = b"".join(STAMP + b"stdout P " + b"x" * 300 + b"\n" for _ in range(50))
    data = start + parts + STAMP + b"stdout F x\n" + start
    _, output, counts, lost, _ = outcomes(data, tmp_path)
    assert output == converted(b"\n".join(LINES[:9]) + b"\n") * 2 and (counts["invalid"], counts["joined"]) == (1, 50)
    assert lost.startswith(b"<stdin>\t60\t1000\ttoo-long\t" + STAMP + b"stdout F xxx")


def test_a_part_that_is_too_long_itself(tmp_path):
    """It is not joined: small chunks do not have it as a whole."""
    long = [STAMP + b"stdout P " + b"x" * 1500 + b"\n", STAMP + b"stdout F " + LINES[0] + b"\n"]
    _, output, counts, *_ = outcomes(b"".join(long[1:] + long * 9), tmp_path)
    assert output == converted(LINES[0] + b"\n") * 10
    assert counts["faults"] == {"too-long": 9} and "joined" not in counts


def test_other_logs_have_no_parts(tmp_path):
    """What a visitor writes is no prefix, nor are lines of another log at the end."""
    agent = LINES[0].replace(b"curl/8", b" stdout P ")
    data = BASE + agent + b"\n" + STAMP + b"stdout P x\n" + BASE
    _, output, counts, *_ = outcomes(data, tmp_path)
    assert counts["invalid"] == 1 and output == converted(BASE + agent + b"\n" + BASE)


# --- redaction --------------------------------------------------------------------------------------------------------

SIGNED = (
    b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /a?b=c&sig=secret HTTP/1.1" 200 5 '
    b'"https://u:secret@h/?Sig=secret" "-"\n'
)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_redacted_logs(tmp_path, threads):
    log, report, bad = tmp_path / "a.log", tmp_path / "bad.tsv", b"no record /?sig=secret\n"
    log.write_bytes(SIGNED * 20_000 + bad + SIGNED[:-1] + b"/?sig=secret" * 99 + b"\n")
    options = ["--redact", "-j", threads, "--invalid-to", report, "--format", "combined", "--max-line", "500"]
    written = output_of("log", *options, log)
    assert written.count(b"\n") == 20_000
    assert b"secret" not in written + report.read_bytes()
    first = json.loads(written[: written.index(b"\n")])
    assert (first["target"], first["referer"]) == ("/a?b=c&sig=REDACTED", "https://REDACTED:REDACTED@h/?Sig=REDACTED")
    assert first["query"] == [["b", "c"], ["sig", "REDACTED"]]
    assert report.read_bytes().count(b"\n") == 2


def test_names_of_redacted_logs():
    first = json.loads(output_of("log", "--redact", "--names", "b", stdin=SIGNED))
    assert first["target"] == "/a?b=REDACTED&sig=secret"
    assert run("log", "--names", "b", stdin=SIGNED)[0] == 2
    assert run("log", "--redact", "--names", "a*b", stdin=SIGNED)[0] == 2
