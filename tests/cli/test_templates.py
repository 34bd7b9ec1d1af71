"""Templates of --get, and counts of their texts."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import COMMAND, Text, output_of, run
from support.tables import each_row

from uricodec import uri
from uricodec._rows._tasks import transform_lines
from uricodec.cli.outputs import RecordsOutput
from uricodec.cli.records import Template
from uricodec.cli.templates import COMPONENTS, TemplateError, checked_names, of_urls, parts_of

URL = "http://u@A.example.co.uk:80/b/c%20d/?q=%41+b&q=2#f"
VALUES = {
    "scheme": "http",
    "authority": "u@A.example.co.uk:80",
    "userinfo": "u",
    "host": "A.example.co.uk",
    "port": "80",
    "path": "/b/c%20d/",
    "query": "q=%41+b&q=2",
    "fragment": "f",
    "registrable_domain": "example.co.uk",
    "public_suffix": "co.uk",
    "url": URL,
    "param.q": "A b",
    "param.x": "",
    "segment.2": "c d",
    "segment.9": "",
}


def made_of(rows, line):
    """What an operation makes of a line (bytes)."""
    buffer = bytearray(rows.capacity(len(line)))
    _, found = transform_lines(line, buffer, rows)
    return bytes(buffer[: found.written])


def naive(template, values):
    """What Python makes of a template, whose names are keys."""
    numbers = {name: f"x{number}" for number, name in enumerate(values)}
    for name, key in numbers.items():
        template = template.replace("{" + name + "}", "{" + key + "}")
    return template.format(**{numbers[name]: value for name, value in values.items()})


@each_row("name", VALUES)
def test_names(name):
    pytest.importorskip("publicsuffixlist", reason="publicsuffixlist is not installed")
    template = "<{%s}>{{{%s}}}" % (name, name)  # noqa: UP031
    want = naive(template, VALUES)
    assert output_of("split", "--get", template, "--text", URL).decode() == f"{want}\n"
    normal = uri.normalize(URL)
    if name in {*COMPONENTS, "url"}:
        values = {"url": normal} | {key: value or "" for key, value in uri.split(normal)._asdict().items()}
        values |= {"userinfo": "u", "host": uri.host(normal), "port": "80"}
        assert output_of("normalize", "--get", template, "--text", URL).decode() == f"{naive(template, values)}\n"


@given(
    st.lists(
        st.sampled_from(["{host}", "{path}", "{url}", "{param.q}", "{{", "}}", "a", "é", " ", "\t"]), min_size=1
    ).map("".join)
)
def test_templates(template):
    """As Python formats them, but for controls."""
    parts = parts_of(template)
    names = [part[0] for part in parts if isinstance(part, tuple)]
    if not names:
        with pytest.raises(TemplateError, match="no name in"):
            of_urls(template)
        return
    assert checked_names(template) == list(dict.fromkeys(names))
    text = naive(template, VALUES).replace("\t", "%09")
    assert made_of(of_urls(template), URL.encode()).decode() == text


@each_row(("template", "message"), [
        ("{host", "'{' without a partner in '{host'; write '{{' for the character"),
        ("host}", "'}' without a partner in 'host}'; write '}}' for the character"),
        ("{a{host}}", "'{' without a partner in '{a{host}}'; write '{{' for the character"),
        ("host", "no name in 'host'; expected one such as '{host}'"),
        ("", "no name in ''; expected one such as '{host}'"),
        ("{hots}", "unknown name 'hots'; choose from scheme, authority, userinfo, host, port, path, query, fragment, "
         "registrable_domain, public_suffix, url, param.NAME and segment.N, as in '{host}{path}'"),
        ("{}", "unknown name ''; choose from"),
        ("{host!r}", "unknown name 'host!r'; choose from"),
        ("{segment.0}", "unknown name 'segment.0'; choose from"),
        ("{param.}", "unknown name 'param.'; choose from"),
        ("{kind}", "unknown name 'kind'; choose from"),
        ("{param.\udcff}", "invalid UTF-8 in 'param.\\udcff'; expected a name such as 'param.q'"),
    ])  # fmt: skip
def test_invalid_templates(template, message):
    for name in "split", "normalize":
        status, output, said = run(name, "--get", template, "--text", "a")
        assert (status, output) == (2, b"")
        assert said.startswith(f"uricodec: --get: {message}")


def test_hosts():
    data = b"HTTP://A.example/b\nhttp://a\\b/\nhttps://u@[::1]:8443/c\n"
    command = ["hosts", "--get", "{scheme} {host} {port} {kind} {category} {path}"]
    assert output_of(*command, stdin=data) == b"http a.example 80 name name /b\n\n\n"
    assert output_of(*command, "--errors", "drop", "--userinfo", "allow", stdin=data) == (
        b"http a.example 80 name name /b\nhttps ::1 8443 ipv6 loopback /c\n"
    )
    assert output_of("hosts", "--get", "{path}", "--csv", "-f", "2", stdin=b"1,http://a/b\n") == b"/b\n"


def test_lines_stay_lines():
    """Controls of decoded values are encoded, and line ends are none of the value."""
    assert output_of("split", "--get", "{param.q}|", stdin=b"?q=%0A%00%C2%85%09x\r\n?q=1\n?q=") == (
        b"%0A%00%C2%85%09x|\n1|\n|\n"
    )
    assert output_of("split", "--get", "{path}", "-z", stdin=b"a\0b\0") == b"a\nb\n"
    assert output_of("split", "--get", "a{path}", "--errors", "null", stdin=b"x y\n\nb\n") == b"\n\nab\n"
    assert output_of("split", "--get", "a{path}", "--errors", "drop", stdin=b"x y\nb\n") == b"ab\n"
    assert run("split", "--get", "a{path}", "--errors", "raise", stdin=b"b\nx y\n")[:2] == (1, b"ab\n")


def test_pieces(monkeypatch):
    """However an output is written, its lines are the same."""
    data = b"a/b\r\n\nc\nd"
    for cut in range(len(data) + 1):
        monkeypatch.setattr(sys, "stdout", standard := Text())
        with RecordsOutput(None, template=Template(of_urls("<{path}>"), b"")) as output:
            output.write(data[:cut])
            output.write(memoryview(data)[cut:])
            assert output.in_line
        assert standard.buffer.getvalue() == b"<a/b>\n\n<c>\n<d>\n"


@each_row(("to", "records"), [
        ("csv", ['count,line\n', '2,""\n', '1,"a,""b"""\n', '1,%1B%FF%C2%85\u2028\n']),
        ("tsv", ['count\tline\n', '2\t\n', '1\ta,"b"\n', '1\t%1B%FF%C2%85\u2028\n']),
        ("text", ['2\t\n', '1\ta,"b"\n', '1\t%1B%FF%C2%85\u2028\n']),
        ("jsonl", ['{"count":2,"line":""}\n', '{"count":1,"line":"a,\\"b\\""}\n',
                   '{"count":1,"line":"\\u001b%FF\\u0085\\u2028"}\n']),
    ])  # fmt: skip
def test_one_dialect(to, records):
    data = b'\n\na,"b"\n\x1b\xff\xc2\x85\xe2\x80\xa8\n'
    assert output_of("dedup", "--kind", "bytes", "--count", "--to", to, stdin=data).decode() == "".join(records)


def test_logs():
    line = '192.0.2.1 - - [31/Jan/2024:00:00:00 +0000] "GET /a%09b?q=1 HTTP/1.1" 503 5'
    assert output_of("log", "--get", "{status:class} {path} {param.q} {referer}", "--text", line) == b"5xx /a%09b 1 \n"
    assert output_of("log", "--get", "{status}", "--where", "status<500", "--text", line) == b""
    for template, message in (
        ("{statu}", "unknown field 'statu'"),
        ("x", "no name in 'x'; expected one such as '{path}'"),
    ):
        status, output, said = run("log", "--get", template, "--text", line)
        assert (status, output) == (2, b"") and said.startswith(f"uricodec: --get: {message}")


def test_limits_of_texts():
    data = b"http://a/b\n" * 3
    assert output_of("split", "--get", "{path}", "--limit", 2, stdin=data) == b"/b\n/b\n"
    assert output_of("split", "--get", "{path}", "--sample", 2, stdin=data) == b"/b\n/b\n"


def test_counts():
    data = b"http://a/1\r\nhttp://b/\nHTTP://A:80/2\nhttp://b\\c\nhttp://a"
    assert output_of("hosts", "--count", stdin=data) == b"3\ta\n1\tb\n1\t\n"
    assert output_of("hosts", "-c", "--top", 1, "--errors", "drop", stdin=data) == b"3\ta\n"
    assert output_of("hosts", "-c", "--get", "{category}", "--errors", "drop", stdin=data) == b"4\tname\n"
    assert output_of("split", "-c", "--get", "{scheme}", "-j", "3", stdin=data) == b"3\thttp\n1\tHTTP\n1\t\n"
    for words in (
        ["split", "-c"],
        ["hosts", "-c", "--to", "csv"],
        ["hosts", "--top", "2"],
        ["hosts", "-c", "--limit", "1"],
    ):
        assert run(*words, stdin=data)[:2] == (2, b"")


def test_counts_to_a_file(tmp_path):
    out = tmp_path / "out"
    assert output_of("hosts", "-c", "-o", out, "--text", "http://a") == b"" and out.read_bytes() == b"1\ta\n"
    assert run("hosts", "-c", "-o", out, "--errors", "raise", "--text", "x")[0] == 1
    assert out.read_bytes() == b"1\ta\n"


@pytest.mark.slow
def test_counts_at_a_terminal():
    """A table with the names of the columns, which fits the width."""
    pty = pytest.importorskip("pty")
    if not hasattr(os, "fork"):
        pytest.skip("no pseudo-terminals")
    for words, name in (["hosts", "-c"], "host"), (["split", "-c", "--get", "{host}"], "text"):
        ours, theirs = pty.openpty()
        environment = os.environ | {"COLUMNS": "60", "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [*COMMAND, *words, "--text", "http://a", "--text", "http://a/b", "--text", "http://b"],
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=environment,
            check=True,
        )
        shown = os.read(ours, 4096).decode().replace("\r\n", "\n")
        os.close(ours)
        os.close(theirs)
        assert done.stderr == b""
        assert [line.split()[0] for line in shown.splitlines()] == ["count", "2", "1"]
        assert shown.splitlines()[0].split()[-1] == name and shown.splitlines()[1].endswith(" a")
        assert max(map(len, shown.splitlines())) <= 60
