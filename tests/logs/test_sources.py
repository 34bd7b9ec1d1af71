"""What functions of uricodec.logs read: paths, patterns, files, bytes, lines; "auto" among several formats."""

import gzip
import io
import json
import random

import pytest
from support.command import output_of, run

from uricodec import logs

LINE = b'192.0.2.%d - - [01/Jan/2025:12:00:00 +0000] "GET /%d HTTP/1.1" 200 5 "-" "x"\n'
LINES = [LINE % (i % 7, i) for i in range(300)]
OWN = r"X|$remote_addr|$uri|$status"


def paths_of(source, format="auto", **options):
    """The paths in the records of a source, which all functions agree about."""
    make = source if callable(source) else lambda: source
    found = [record.path for record in logs.parse(make(), format, fields=["path"], **options)]
    assert logs.columns(make(), format, fields=["path"], **options) == {"path": found}
    counts = {row["path"]: row["count"] for row in logs.count(make(), ["path"], format, **options)}
    assert counts == {path: found.count(path) for path in found}
    try:
        import pyarrow
    except ImportError:
        return found
    assert pyarrow and logs.to_arrow(make(), format, fields=["path"], **options).read_all().to_pydict() == {
        "path": found
    }
    return found


def test_sources(tmp_path):
    wanted = [f"/{i}" for i in range(300)]
    data = b"".join(LINES)
    first, second = tmp_path / "a.log", tmp_path / "b.log.gz"
    first.write_bytes(b"".join(LINES[:100]))
    second.write_bytes(gzip.compress(b"".join(LINES[100:])))
    (tmp_path / "c.log").mkdir()
    texts = [line.decode() for line in LINES]
    for source in (
        *(data, bytearray(data), lambda: io.BytesIO(data), [first, second], (str(first), str(second))),
        *(str(tmp_path / "[ab].log*"), [str(tmp_path / "*.log"), second], lambda: iter([first, second])),
        *(LINES, [line.strip() for line in LINES], texts, lambda: iter(texts), [memoryview(line) for line in LINES]),
        data.decode().splitlines(),
    ):
        assert paths_of(source) == wanted
    assert paths_of(first) == paths_of(str(tmp_path / "*.log")) == wanted[:100]
    special = tmp_path / "a[1].log"
    special.write_bytes(LINES[0])
    assert paths_of(str(special)) == ["/0"]  # a name is not a pattern
    blank = tmp_path / "a b.log"
    blank.write_bytes(LINES[0])
    assert paths_of([str(blank)]) == ["/0"]


def test_many_lines():
    lines = [random.Random(1).choice(LINES) for _ in range(200_000)]
    assert len(logs.columns(iter(lines), "combined", fields=["path"])["path"]) == 200_000


def test_each_log_has_its_format(tmp_path):
    (tmp_path / "1.log").write_bytes(LINES[0])
    (tmp_path / "2.log").write_bytes(b'{"ts":1,"request":{"method":"GET","uri":"/caddy"},"status":200,"duration":1}\n')
    assert paths_of(str(tmp_path / "*.log")) == ["/0", "/caddy"]
    (tmp_path / "3.log").write_bytes(b"nothing\n" * 3)
    invalid = []
    records = logs.parse([tmp_path / "1.log", tmp_path / "3.log"], "combined", invalid=invalid)
    assert (len(list(records)), [line.input for line in invalid]) == (1, [str(tmp_path / "3.log")] * 3)


def test_wrong_sources(tmp_path):
    (tmp_path / "a.log").write_bytes(LINES[0])
    for source, error, message in [
        ([], ValueError, "the list is empty"),
        (str(tmp_path / "*.gz"), FileNotFoundError, "no file matches"),
        ([tmp_path / "x.log"], FileNotFoundError, "x.log"),
        ([1], TypeError, "expected a path, or lines as bytes or str, got int"),
        ([LINES[0], 1], TypeError, "expected a path, or lines as bytes or str, got int"),
        ([tmp_path / "a.log", 1], TypeError, "expected a path like those before, got int"),
        (1, TypeError, "got int"),
    ]:
        with pytest.raises(error, match=message):
            list(logs.parse(source, "combined"))


def test_auto_among_formats():
    """It is the preset of the lines that the other formats do not read."""
    own = b"X|192.0.2.1|/own|200\n"
    mixed = b"".join(line + own for line in LINES)
    wanted = [path for i in range(300) for path in (f"/{i}", "/own")]
    for format in [OWN, "auto"], ["auto", OWN], [logs.Format(OWN), "auto"], ["caddy", "auto", OWN]:
        assert paths_of(mixed, format) == wanted
        command = [word for each in format for word in ("--format", str(each))]
        found = output_of("log", *command, "--fields", "path", "--to", "text", stdin=mixed)
        assert found.decode().split() == wanted
    assert paths_of(own * 3, [OWN, "auto"]) == ["/own"] * 3
    assert paths_of(b"".join(LINES), [OWN, "auto"]) == wanted[::2]
    assert paths_of(own * 5 + b"nothing\n", [OWN, "auto"], invalid=[]) == ["/own"] * 5
    with pytest.raises(logs.FormatError, match="unknown log format"):
        list(logs.parse(b"nothing\n" * 5, [OWN, "auto"]))
    with pytest.raises(ValueError, match="'auto' stands for one format"):
        list(logs.parse(b"", ["auto", OWN, "auto"]))


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("format", ["auto", "combined"])
def test_counts_of_a_truncated_log(tmp_path, threads, format):
    """They are written, with a warning and status 3; records are not."""
    path = tmp_path / "access.log.gz"
    chance = random.Random(1)
    lines = [line.replace(b"GET /", b"GET /%d" % chance.randrange(10**9)) for line in LINES] * 30
    path.write_bytes(gzip.compress(b"".join(lines))[:-2000])
    command = ["log", "--format", format, "-j", threads, path]
    status, output, said = run(*command, "--count", "status")
    [row] = map(json.loads, output.splitlines())
    assert status == 3 and "truncated gzip data" in said and row["status"] == 200
    assert 1000 < row["count"] < len(lines)
    status, output, said = run(*command, "-o", tmp_path / "out")
    assert status == 3 and "truncated gzip data" in said and not (tmp_path / "out").exists()
    path.write_bytes(gzip.compress(b"".join(lines))[:30])
    status, output, said = run(*command, "--count", "status")
    assert (status, output) == (3, b"")


def test_a_wrong_format_is_told_early(tmp_path):
    """After 1000 lines, while the others are read."""
    path = tmp_path / "access.log"
    path.write_bytes(b"".join(LINES) * 10)
    status, output, said = run("log", "--format", "caddy", path)
    [first, *_, last] = [line for line in said.splitlines() if line.startswith("uricodec: ")]
    assert (status, output) == (1, b"") and "none of the first 3000 lines is one" in first and "no line is one" in last
    assert "none of the first" not in run("log", "--format", "caddy", "-q", path)[2]
    path.write_bytes(b"".join(LINES) * 3)
    assert "none of the first" not in run("log", "--format", "caddy", path)[2]
    path.write_bytes(LINES[0] + b"x\n" * 2000)
    assert "none of the first" not in run("log", "--format", "combined", path)[2]


def test_one_report_of_many_files(tmp_path, monkeypatch):
    for i in range(5):
        (tmp_path / f"{i}.log").write_bytes(LINES[i])
    from support import command

    monkeypatch.setattr(command.Text, "isatty", lambda self: True)
    status, _, said = run("log", "--to", "csv", *(tmp_path / f"{i}.log" for i in range(5)))
    assert status == 0 and said.count("format combined") == 1
