"""`uricodec log`: what it writes where, chunks and formats of several logs, memory. The records are in test_logs.py."""

import csv
import gzip
import io
import json
import os
import sys

import pytest
from command import growth, output_of, output_to_nobody, run

from uricodec import logs
from uricodec._core._log_records import NAMES, LogReader
from uricodec.cli import log, main

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


def converted(data):
    """Its records, in one go."""
    room = bytearray(LogReader.room(len(data)))
    return bytes(room[: LogReader("combined").convert(data, room).written])


def test_command(tmp_path):
    data = COMBINED + b"\njunk\n" + COMBINED
    status, output, complaint = run("log", stdin=data)
    assert (status, output) == (0, 2 * converted(COMBINED))
    assert complaint == "uricodec: 1 of 3 lines are no records; --invalid-to FILE writes them\n"
    bad = tmp_path / "bad"
    assert output_of("log", "--invalid-to", bad, stdin=data) == output
    assert bad.read_bytes() == b"<stdin>\t2\t4\thost\tjunk\n"
    status, _, said = run("log", "--stats", stdin=data)
    assert json.loads(said) == {"lines": 3, "records": 2, "invalid": 1, "directives": 0, "faults": {"host": 1}}


def test_command_writes_csv():
    output = output_of("log", "--to", "csv", "--flags", stdin=request(b'GET /a"%2C%0Ab?c=%22,%0A HTTP/1.1')).decode()
    [row] = csv.DictReader(io.StringIO(output))
    assert (row["path"], row["status"], row["referer"], row["flags"]) == ('/a",%0Ab', "200", "", "")
    assert json.loads(row["query"]) == [["c", '",\n']]
    assert output_of("log", "--to", "csv") == (",".join(NAMES[:-1]) + "\n").encode()


def test_command_writes_arrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    out = tmp_path / "out.arrow"
    assert output_of("log", "--to", "arrow", "-o", out, stdin=COMBINED) == b""
    assert pa.ipc.open_stream(out.read_bytes()).read_all() == logs.to_arrow(COMBINED).read_all()
    assert pa.ipc.open_stream(output_of("log", "--to", "arrow", "--flags")).read_all().num_rows == 0


def test_arrow_does_not_go_to_a_terminal():
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        said = "uricodec: --to arrow does not write to a terminal\n"
        assert run("log", "--to", "arrow", "-o", os.ttyname(theirs), stdin=COMBINED) == (2, b"", said)
    finally:
        os.close(ours)
        os.close(theirs)


def test_command_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run("log", "--to", "arrow") == (2, b"", "uricodec: --to arrow needs pyarrow\n")


def test_several_logs_of_several_formats(tmp_path):
    names = []
    for number, data in enumerate([IIS, IIS.splitlines()[4], COMBINED, CLOUDFRONT, ALB]):
        names.append(tmp_path / f"{number}.log")
        names[-1].write_bytes(data)
    bad = tmp_path / "bad"
    records = [json.loads(line) for line in output_of("log", *names, "--invalid-to", bad).splitlines()]
    assert [record["path"] for record in records] == ["/café%20", "/b", "/café", "/café/100%", "/café"]
    # The fields of one log are not those of the next.
    assert bad.read_text() == f"{names[1]}\t1\t37\ttime\t192.0.2.2 /b DOMAIN\\\\frank 17 12:00:01\n"
    assert run("log", "--format", "iis", names[0], names[1])[2].startswith("uricodec: 1 of 6 lines")


def test_what_cannot_be_read_is_masked_too(tmp_path):
    bad = tmp_path / "bad"
    line = b'junk "GET /?a=1&token=secret&%54oken=secret&b=2 HTTP/1.1" token=secret; Token=secret'
    output_of("log", "--mask", "token,password", "--invalid-to", bad, stdin=line)
    assert bad.read_text().endswith('junk "GET /?a=1&token=***&%54oken=***&b=2 HTTP/1.1" token=***; Token=***\n')


@pytest.mark.parametrize("chunk", [12, 100, 1000])
def test_chunks_of_the_command(monkeypatch, tmp_path, chunk):
    monkeypatch.setattr(log, "ROOM", chunk)
    long = b"x" * 950
    lines = [request(b"GET /%d HTTP/1.1" % i) for i in range(9)] + [long, b"", b"junk", long, request(b"-")]
    bad = tmp_path / "bad"
    for end in b"", b"\n", b"\n" + long:
        status, output, said = run("log", "--stats", "--invalid-to", bad, stdin=b"\n".join(lines) + end, chunk=chunk)
        fit = [line for line in lines if len(line) + 12 < chunk or chunk == 1000]
        assert status == 0
        assert output == converted(b"\n".join(fit))
        counts = json.loads(said)
        assert counts["lines"] == 14 + (end > b"\n") == counts["records"] + counts["invalid"]
        assert bad.read_text().count("\n") == counts["invalid"]
        assert [int(line.split("\t")[1]) for line in bad.read_text().splitlines()][-1] >= (12 if end <= b"\n" else 15)


def test_outputs_that_are_one_file(tmp_path):
    out = tmp_path / "out"
    assert run("log", "-o", out, "--invalid-to", out)[:2] == (2, b"")
    assert run("log", "-o", os.devnull, "--invalid-to", os.devnull)[0] == 0


def test_gzip():
    assert output_of("log", stdin=gzip.compress(COMBINED)) == output_of("log", stdin=COMBINED)


@pytest.mark.parametrize(
    "arguments", [["--format", "apache"], ["--to", "xml"], ["--errors", "fail"], ["--mask", "x" * 256]]
)
def test_wrong_usage(capfd, arguments):
    assert main(["log", *arguments]) == 2
    assert capfd.readouterr().err.startswith("usage: uricodec")


def test_help(capsys):
    assert main(["log", "--help"]) == 0
    text = capsys.readouterr().out
    assert text.isascii() and max(map(len, text.splitlines())) < 80


def test_a_closed_pipe_is_quiet():
    result = output_to_nobody("log", input=(COMBINED + b"\n") * 100_000)
    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("unit", [COMBINED + b"\n", b"x", b"\n", b"junk\n"])
def test_memory_is_flat(tmp_path, unit):
    path = tmp_path / "long"
    with open(path, "wb") as file:
        for _ in range(4 if len(unit) < 6 else 20):
            file.write(unit * (1_000_000 // len(unit)))
    assert growth(["log"], path, tmp_path / "out") < 20_000
