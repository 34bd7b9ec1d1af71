"""The commands over URIs and IRIs: options against a reference implementation, lines at every place of the buffer."""

import csv
import gzip
import json
import re
import subprocess
import sys
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.codec import lines_of
from support.command import HINT, growth, output_of, run, without_reasons
from support.tables import each_row
from support.uri_lines import (
    BASE,
    IRI_PRODUCTIONS,
    LEVELS,
    LINES,
    TEXT,
    URI_PRODUCTIONS,
    both,
    checked,
    control_count,
    csv_record,
    guarded,
    json_record,
    model,
    of_text,
    to_csv,
    to_json,
    to_safe_csv,
    to_tsv,
    tsv_record,
)

from uricodec import iri, uri
from uricodec._io import reading
from uricodec._io.reports import visible
from uricodec.cli import lines
from uricodec.uri._rows import CheckRows

NORMALIZE = ["normalize", "--kind", "uri"]
CHECK = ["check", "--kind", "uri"]
SPLIT = ["split", "--kind", "uri"]
RESOLVE = ["resolve", "--base", BASE.decode()]
ENCODE = ["encode", "--iri"]
DECODE = ["decode", "--iri"]
CSV_HEADER = b"scheme,authority,userinfo,host,port,path,query,fragment,error,offset\n"


def of_core(function):
    """A function of the core, refusing."""
    return guarded(function, CheckRows("uri", "URI"))


def normal(level):
    return of_text(of_core(lambda row: uri.normalize(row, level)))


class Filter(NamedTuple):
    """A command, and its model."""

    command: list[str]
    function: Any  # what it does with one line
    record: Any  # what stands for one that is rejected; None: nothing
    header: bytes  # what it writes first


def filters():
    yield NORMALIZE, normal("path"), None, b""
    yield ["normalize", "--kind", "iri"], normal("iri"), None, b""
    yield [*NORMALIZE, "--production", "URI"], both(checked("uri", "URI"), normal("path")), None, b""
    for level in LEVELS:
        yield [*NORMALIZE, "--level", level], normal(level), None, b""
    for production in IRI_PRODUCTIONS:
        command = ["normalize", "--kind", "iri", "--production", production, "--level", "case"]
        yield command, both(checked("iri", production), normal("case")), None, b""
    for kind in "uri", "iri":
        yield ["split", "--kind", kind], of_core(lambda row, kind=kind: to_json(row, kind)), json_record, b""
        command = ["split", "--kind", kind, "--to", "csv"]
        yield command, of_core(lambda row, kind=kind: to_csv(row, kind)), csv_record, CSV_HEADER
        yield [*command, "--csv-safe"], of_core(lambda row, kind=kind: to_safe_csv(row, kind)), csv_record, CSV_HEADER
        command = ["split", "--kind", kind, "--to", "tsv"]
        yield command, of_core(lambda row, kind=kind: to_tsv(row, kind)), tsv_record, CSV_HEADER.replace(b",", b"\t")
    yield RESOLVE, of_text(lambda row: uri.resolve(BASE, row)), None, b""
    yield ENCODE, of_core(iri.iri_to_uri), None, b""
    command = [*ENCODE, "--disallowed", "encode", "--host", "idna"]
    yield command, of_core(lambda row: iri.iri_to_uri(row, disallowed="encode", host="idna")), None, b""
    yield DECODE, of_core(iri.uri_to_iri), None, b""
    yield [*DECODE, "--host", "unicode"], of_core(lambda row: iri.uri_to_iri(row, host="unicode")), None, b""


FILTERS = [Filter(*row) for row in filters()]
every_filter = each_row("case", FILTERS)
every_policy = each_row("errors", ["keep", "null", "drop"])


def unless_kept(case):
    """The same, where lines that are no URI or IRI are invalid."""
    words = case.command
    if words[0] != "normalize" or "--production" in words or "rfc1630" in words:
        return case
    kind = "iri" if "iri" in words else "uri"
    return case._replace(function=both(checked(kind, f"{kind.upper()}-reference"), case.function))


def expected_of(data, case, errors="keep"):
    """The results of lines, and the rejected ones: number, offset, code and text."""
    output, found = model(data, case if errors == "keep" else unless_kept(case), errors)
    texts = [text for text, _ in lines_of(data)]
    return output, [(fault.line + 1, fault.offset, fault.code, texts[fault.line]) for fault in found.faults]


def with_last_end(output, data, errors):
    """An empty line at the end has an end."""
    ended = not output or output.endswith(b"\n")
    return output + b"\n" if data and not data.endswith(b"\n") and ended and errors != "drop" else output


def report(invalid, name="<stdin>"):
    return "".join(f"{name}\t{number}\t{offset}\t{code}\t{visible(text)}\n" for number, offset, code, text in invalid)


# --- what the commands write ------------------------------------------------------------------------------------------


@each_row(
    ("command", "line", "expected"),
    [
        (NORMALIZE, "HTTP://Example.com:80/a/../%7Eb", "http://example.com:80/~b"),
        ([*NORMALIZE, "--level", "simple"], "HTTP://Example.com/a/../%7Eb", "HTTP://Example.com/a/../%7Eb"),
        ([*NORMALIZE, "--level", "case"], "HTTP://Example.com/a/../%7eb", "http://example.com/a/../%7Eb"),
        ([*NORMALIZE, "--level", "percent"], "HTTP://Example.com/a/../%7eb", "http://example.com/a/../~b"),
        ([*NORMALIZE, "--level", "scheme"], "HTTP://Example.com:80", "http://example.com/"),
        ([*NORMALIZE, "--level", "iri"], "http://example.com/é", "http://example.com/%C3%A9"),
        (["normalize", "--kind", "iri"], "http://résumé.example.org", "http://xn--rsum-bpad.example.org/"),
        (["normalize", "--kind", "iri", "--level", "path"], "http://a/./é", "http://a/é"),
        ([*NORMALIZE, "--level", "rfc2396"], "x:%21", "x:!"),
        ([*NORMALIZE, "--level", "rfc1630"], "x:%61", "x:a"),
        ([*NORMALIZE, "--production", "URI"], "a/./b", "a/./b"),
        ([*NORMALIZE, "--production", "URI"], "s:/a/./b", "s:/a/b"),
        (RESOLVE, "../g?y", "http://a.example/b/g?y"),
        (RESOLVE, "//g/é", "http://g/é"),
        (RESOLVE, "", BASE.decode()),
        (ENCODE, "http://résumé.example.org/%c3", "http://r%C3%A9sum%C3%A9.example.org/%c3"),
        ([*ENCODE, "--host", "idna"], "http://résumé.example.org/é", "http://xn--rsum-bpad.example.org/%C3%A9"),
        ([*ENCODE, "--disallowed", "encode"], "a b", "a%20b"),
        (ENCODE, "a b", "a b"),
        (DECODE, "http://xn--99zt52a.example.org/%e7%B4%8d%0A", "http://xn--99zt52a.example.org/納%0A"),
        ([*DECODE, "--host", "unicode"], "http://xn--99zt52a.example.org/%2f", "http://納豆.example.org/%2f"),
    ],
)
def test_documented_lines(command, line, expected):
    line, expected = line.encode(), expected.encode()
    assert output_of(*command, stdin=line + b"\n") == expected + b"\n"
    assert output_of(*command, stdin=2 * (line + b"\r\n")) == 2 * (expected + b"\r\n")
    if line:
        assert output_of(*command, stdin=line) == expected


def test_hosts():
    data = b"HTTPS://-B.example/\nhttp://[0::1]:80\nhttp://u@b./\n"
    names = ["scheme", "host", "port", "kind", "category"]
    found = output_of("hosts", "--ports", "443", "--to", "jsonl", stdin=data).splitlines()
    assert [json.loads(line) for line in found] == [
        dict(zip(names, ["https", "-b.example", "443", "name", "name"], strict=True)),
        dict.fromkeys(names) | {"error": "port-not-allowed", "offset": 14},
        dict.fromkeys(names) | {"error": "userinfo", "offset": 8},
    ]
    options = "--schemes https,http --userinfo allow --trailing-dot allow --to csv --csv-safe"
    assert output_of("hosts", *options.split(), stdin=data).splitlines() == [
        b"scheme,host,port,kind,category,error,offset",
        b"https,'-b.example,443,name,name,,",
        b"http,::1,80,ipv6,loopback,,",
        b"http,b.,80,name,name,,",
    ]
    assert output_of("hosts", "--csv", "-f", "2", "--append", stdin=b"1,http://a\n2,b\n") == (
        b"1,http://a,http,a,80,name,name,,\n2,b,,,,,,scheme,0\n"
    )


def test_hosts_as_text():
    data = b"HTTPS://-B.example/\nhttp://[0::1]:80\nhttp://u@b./\nhttp://a"
    for errors in "keep", "null":
        assert output_of("hosts", "--errors", errors, stdin=data) == b"-b.example\n::1\n\na"
    assert output_of("hosts", "--errors", "drop", stdin=data) == b"-b.example\n::1\na"
    assert run("hosts", "--errors", "raise", stdin=data)[::2] == (
        1,
        'uricodec: <stdin>:3:9 (byte 45): "@" in the authority (urllib.request connects to all of it, others to what '
        f'follows "@")\n{HINT}',
    )
    assert output_of("hosts", "--csv", "-f", "2", stdin=b"1,http://a\n2,b\n") == b"a\n\n"
    assert output_of("hosts", "-z", stdin=b"http://a\0b\0") == b"a\n\n"


def test_the_default_kind_is_uri():
    data = b"HTTP://a/%7e\nx y\n"
    for name in "normalize", "check", "split", "extract":
        assert run(name, stdin=data) == run(name, "--kind", "uri", stdin=data)
    data = b"urn:x:1\n"  # not by RFC 8141
    assert output_of("check", "--rfc", "2141", stdin=data) == b""
    assert run("check", "--rfc", "8141", stdin=data) == run("check", "--kind", "urn", stdin=data)


def test_web():
    data = b"HTTP://A:80/%7e\nhttp://a\\@b/\nftp://a/\n"
    assert output_of("normalize", "--kind", "web", stdin=data) == b"http://a/~\nhttp://a\\@b/\nftp://a/\n"
    assert output_of("normalize", "--kind", "web", "--errors", "drop", stdin=data) == b"http://a/~\n"
    assert (
        output_of("normalize", "--kind", "web", "--policy", "crawl", "--errors", "drop", stdin=data) == b"http://a/~\n"
    )
    assert output_of("split", "--kind", "web", "--to", "text", stdin=data) == (
        b"HTTP\tA:80\t\tA\t80\t/%7e\t\t\t\t\n" + 8 * b"\t" + b"backslash\t8\n" + 8 * b"\t" + b"scheme\t0\n"
    )
    assert output_of("extract", "--kind", "web", stdin=data) == b"HTTP://A:80/%7e\nhttp://a\n"
    assert output_of("extract", "--kind", "web", "--offsets", stdin=data) == b"0\tHTTP://A:80/%7e\n16\thttp://a\n"
    assert output_of("dedup", "--kind", "web", stdin=data + b"http://a/~\nftp://A/\n") == data + b"ftp://A/\n"


@pytest.mark.parametrize("to", ["text", "tsv", "csv", "jsonl"])
def test_reports_in_all_formats(to):
    status, output, said = run("check", "--to", to, stdin=b'a\nx y\n"\t,\n')
    rows = [["<stdin>", "2", "1", "path", "x y"], ["<stdin>", "3", "0", "path", '"\\x09,']]
    rows = [[*row, "invalid character in path"] for row in rows]
    names = ["input", "line", "offset", "code", "text", "reason"]
    lines = output.decode().splitlines()
    if to == "jsonl":
        found = [list(map(str, json.loads(line).values())) for line in lines]
        assert [*json.loads(lines[0])] == names
    else:
        found = list(csv.reader(lines)) if to == "csv" else [line.split("\t") for line in lines]
        assert to == "text" or found.pop(0) == names
    assert (status, found, said) == (1, rows, "")


@pytest.mark.parametrize("to", ["tsv", "csv", "jsonl"])
def test_matches_in_all_formats(tmp_path, to):
    paths = tmp_path / "one", tmp_path / 'two,"\t\\'
    for path in paths:
        path.write_bytes(b"see http://a/b, <http://c>\n" * 3)
    lines = output_of("extract", "--to", to, *paths, chunk=32).decode().splitlines()
    rows = [
        [str(path) if to == "jsonl" else str(path).replace("\t", "%09"), 27 * i + at, url]
        for path in paths
        for i in range(3)
        for at, url in ((4, "http://a/b"), (17, "http://c"))
    ]
    if to == "jsonl":
        found = [list(json.loads(line).values()) for line in lines]
    else:
        found = list(csv.reader(lines)) if to == "csv" else [line.split("\t") for line in lines]
        assert found.pop(0) == ["input", "offset", "match"]
        found = [[name, int(offset), url] for name, offset, url in found]
    assert found == rows
    limited = output_of("extract", "--to", to, "--limit", 2, *paths).decode().splitlines()
    assert limited == lines[: 2 + (to != "jsonl")]
    assert run("extract", "--to", to, "--offsets")[0] == 2


def test_long_matches_in_all_formats():
    urn = b"urn:ex:" + b"a" * 2_000_000
    output = output_of("extract", "--kind", "urn", "--to", "jsonl", stdin=b"x " + urn)
    assert json.loads(output) == {"input": "<stdin>", "offset": 2, "match": urn.decode()}


def test_split():
    data = b"HTTP://u@a:80/b?#\n//\n\nx y\n"
    nothing = dict.fromkeys(["scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"])
    assert [json.loads(line) for line in output_of(*SPLIT, stdin=data).splitlines()] == [
        {
            **{"scheme": "HTTP", "authority": "u@a:80", "userinfo": "u", "host": "a", "port": "80"},
            **{"path": "/b", "query": "", "fragment": ""},
        },
        nothing | {"authority": "", "host": "", "path": ""},
        nothing | {"path": ""},
        nothing | {"error": "path", "offset": 1},
    ]
    assert output_of(*SPLIT, "--to", "csv", stdin=data).splitlines(keepends=True) == [
        CSV_HEADER,
        b'HTTP,u@a:80,u,a,80,/b,"","",,\n',
        b',"",,"",,"",,,,\n',
        b',,,,,"",,,,\n',
        b",,,,,,,,path,1\n",
    ]
    assert output_of(*SPLIT, "--errors", "drop", stdin=b"x y\na:\nb%\n").count(b"\n") == 1


@pytest.mark.slow
@every_filter
@every_policy
def test_filters_agree_with_their_references(case, errors, tmp_path):
    for data in (
        b"\n".join(LINES) + b"\r\n" + b"\r\n".join(LINES),
        b"\n".join([*LINES, b"x y"]),
        b"\r\n".join([*LINES, b"a:"]) + b"\r\n",
    ):
        output, invalid = expected_of(data, case, errors)
        output = case.header + with_last_end(output, data, errors)
        options = ["--errors", errors]
        assert output_of(*case.command, *options, stdin=data) == output
        bad = tmp_path / "bad"
        assert output_of(*case.command, *options, "--invalid-to", bad, stdin=data) == output
        assert bad.read_text("utf-8") == report(invalid)


@pytest.mark.slow
@every_filter
@settings(max_examples=8)
@given(data=TEXT, chunk=st.integers(128, 256), errors=st.sampled_from(["keep", "null", "drop"]))
def test_chunks_do_not_show(case, data, chunk, errors):
    expected = case.header + with_last_end(expected_of(data, case, errors)[0], data, errors)
    assert output_of(*case.command, "--errors", errors, stdin=data, chunk=chunk) == expected


@pytest.mark.slow
@each_row("production", [*URI_PRODUCTIONS, *IRI_PRODUCTIONS, None, "iri"])
@settings(max_examples=10)
@given(data=TEXT, chunk=st.integers(128, 256))
def test_check_agrees_with_the_reference(production, data, chunk):
    kind = "iri" if production in IRI_PRODUCTIONS or production == "iri" else "uri"
    options = ["--production", production] if production and production != "iri" else []
    _, invalid = expected_of(
        data, Filter([], checked(kind, production if options else f"{kind.upper()}-reference"), None, b"")
    )
    for chunks in {}, {"chunk": chunk}:
        status, output, complaint = run("check", "--kind", kind, *options, stdin=data, **chunks)
        assert (status, without_reasons(output).decode(), complaint) == (1 if invalid else 0, report(invalid), "")


@pytest.mark.parametrize("kind", ["uri", "iri"])
def test_check_takes_references(kind):
    assert output_of("check", "--kind", kind, stdin=b"/a\nhttp://e/\n") == b""
    strict = ["--production", kind.upper()]
    wanted = '<stdin>\t1\t0\tscheme\t/a\texpected a scheme and ":"\n'
    assert run("check", "--kind", kind, *strict, stdin=b"/a\n")[:2] == (1, wanted.encode())


@pytest.mark.slow
@every_filter
@settings(max_examples=6)
@given(data=TEXT, chunk=st.integers(128, 256))
def test_a_fault_is_found_where_it_is(case, data, chunk):
    """And what was written is what comes before its line."""
    status, output, complaint = run(*case.command, "--errors", "raise", stdin=data, chunk=chunk)
    expected, invalid = expected_of(data, case, "raise")
    if not invalid:
        assert (status, output, complaint) == (0, case.header + with_last_end(expected, data, "keep"), "")
        return
    number, offset = invalid[0][:2]
    before = b"".join(text + tail for text, tail in lines_of(data)[: number - 1])
    assert (status, output) == (1, case.header + expected_of(before, case, "raise")[0])
    assert complaint.startswith(f"uricodec: <stdin>:{number}:{offset + 1} (byte {len(before) + offset}): ")
    assert complaint.endswith(HINT) and complaint.count("\n") == 3


@pytest.mark.slow
@every_filter
@settings(max_examples=6)
@given(data=TEXT)
def test_a_line_stays_a_line(case, data):
    tabs = 9 if "tsv" in case.command else 0  # between ten fields
    for errors in "keep", "null":
        output = output_of(*case.command, "--errors", errors, stdin=data)[len(case.header) :]
        before, after = lines_of(data), lines_of(output)
        assert len(after) == len(before)
        for (line, _), (written, _) in zip(before, after, strict=True):
            assert control_count(written) - tabs <= control_count(line)


# --- long lines -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_filter
@every_policy
@each_row("length", [129, 256, 1000])
def test_lines_that_are_too_long(tmp_path, case, errors, length):
    """They stay whole, or become one record, are counted once, and do not take their neighbours with them."""
    line = b"urn:ex:" + b"A" * (length - 7)
    data = line + b"\nx:y\n" + line
    bad = tmp_path / "bad"
    options = ["--errors", errors, "--invalid-to", bad, "--stats"]
    status, output, complaint = run(*case.command, *options, "--max-line", 128, stdin=data, chunk=32)
    assert status == 0
    between = expected_of(b"x:y\n", case, errors)[0]
    reports = [line.split("\t") for line in bad.read_text().splitlines()]
    assert [(number, code) for _, number, _, code, _ in reports if code == "too-long"] == [
        ("1", "too-long"),
        ("3", "too-long"),
    ]
    assert all(text == line[:100].decode() + "..." for *_, code, text in reports if code == "too-long")
    assert json.loads(complaint)["faults"]["too-long"] == 2
    if errors == "drop":
        expected = between
    elif case.record:
        assert int(reports[0][2]) == int(reports[-1][2]) == 128
        record = case.record("too-long", 128)
        expected = record + b"\n" + between + record  # the last line has no end, and its record has none
    else:
        expected = line + b"\n" + between + line if errors == "keep" else b"\n" + between + b"\n"
    assert output == case.header + expected
    status, output, complaint = run(*case.command, "--errors", "raise", "--max-line", 128, stdin=data, chunk=32)
    assert (status, output) == (1, case.header)
    said = "uricodec: <stdin>:1:129 (byte 128): line is longer than 128 bytes\n"
    assert complaint == said + HINT[:-1] + "; --max-line SIZE allows longer ones\n"


@pytest.mark.slow
@each_row(("case", "chunk"), [(FILTERS[0], reading.CHUNK), *((case, 4096) for case in FILTERS)])
def test_long_lines(case, chunk):
    """Some that take more room than there is, and fit."""
    data = b"".join(
        (b"http://a/" + piece * (size // len(piece)) + b"\n")
        for size in (chunk // 2, chunk + 9, chunk * 7 // 3)
        for piece in (b"a", b"%C3%A9", "é".encode(), b"../")
    )
    found = output_of(*case.command, "--errors", "keep", stdin=data, chunk=chunk)
    assert found == case.header + expected_of(data, case)[0]


# --- inputs -----------------------------------------------------------------------------------------------------------


def test_inputs_follow_each_other(tmp_path):
    for name, data in (("a", b"A:1"), ("b", b""), ("c", b"x y\n"), ("d", b"%"), ("e", b"B:3\n")):
        (tmp_path / name).write_bytes(data)
    files = [tmp_path / name for name in "abcde"]
    command = [*NORMALIZE, "--production", "URI"]
    assert output_of(*command, *files) == b"a:1\nx y\n%\nb:3\n"
    assert output_of(*command, "--errors", "null", *files) == b"a:1\n\n\nb:3\n"
    assert output_of(*command, "--errors", "drop", *files) == b"a:1\nb:3\n"
    found = without_reasons(run(*CHECK, *files)[1]).decode()
    assert found == f"{files[2]}\t1\t1\tpath\tx y\n{files[3]}\t1\t0\tpercent\t%\n"
    assert output_of(*SPLIT, "--to", "csv", *files).count(b"\n") == 5
    assert output_of(*SPLIT, *files).count(b"\n") == 4


# --- --stats ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [None, 128])
def test_stats_of_check(chunk):
    data = b"HTTP://a\nhttp://b\r\nx y\nhttp://c%\n//d\nftp:e\n\n#"
    status, output, said = run(*CHECK, "--stats", stdin=data, chunk=chunk)
    assert (status, output.count(b"\n"), said.count("\n")) == (1, 2, 1)
    counts = json.loads(said)
    assert counts == {
        **{"lines": 8, "valid": 6, "invalid": 2},
        "faults": counts["faults"],
        "schemes": {"": 3, "http": 2, "ftp": 1},
    }
    assert sum(counts["faults"].values()) == 2
    assert [*counts["schemes"]] == ["", "http", "ftp"]


@every_filter
@every_policy
def test_stats_agree_with_the_reference(case, errors):
    data = b"".join(line + b"\n" for line in 3 * LINES)
    status, output, said = run(*case.command, "--errors", errors, "--stats", stdin=data, chunk=256)
    expected, invalid = expected_of(data, case, errors)
    counts = json.loads(said)
    total = {"lines": len(3 * LINES), "valid": len(3 * LINES) - len(invalid), "invalid": len(invalid)}
    assert counts == total | {"faults": counts["faults"]}
    assert sum(counts["faults"].values()) == len(invalid)
    assert (status, output) == (0, case.header + expected)


def test_stats_forget_rare_schemes(monkeypatch):
    monkeypatch.setattr(lines, "GROUPS", 3)
    data = b"http:\n" * 100 + b"".join(b"a%d:\n" % i for i in range(100))
    counts = json.loads(run(*CHECK, "--stats", stdin=data, chunk=16)[2])
    assert counts["valid"] == 200 == sum(counts["schemes"].values()) + counts["other schemes"]
    assert len(counts["schemes"]) <= 6
    assert counts["schemes"]["http"] == 100


def test_many_faults(tmp_path):
    """More than are fetched at once."""
    data = b"x y\n" * 20_000 + b"\n" * 20_000 + b"a:b"
    status, output, said = run(*CHECK, "--production", "URI", "--stats", stdin=data)
    assert (status, output.count(b"\n")) == (1, 40_000)
    assert output.endswith(b'<stdin>\t40000\t0\tscheme\t\texpected a scheme and ":"\n')
    assert json.loads(said)["faults"] == {"scheme": 40_000}


def test_a_base_of_bytes():
    """An argument is what the octets were, in any locale."""
    command = [sys.executable, "-m", "uricodec", "resolve", "--base", b"http://\xc3\xa9/\xff/"]
    done = subprocess.run(command, input=b"a", capture_output=True, check=True)
    assert done.stdout == b"http://\xc3\xa9/\xff/a"


# --- extract ----------------------------------------------------------------------------------------------------------

EXTRACT = ["extract", "--kind", "uri"]
PAGE = "see http://a.example/b_(c)?\u2014=1, <ws://é.example/😀>(a+b.c://d/[e\0) x://.., 1http://f z://例".encode()


def urls(data, prefix=b""):
    """What is written with offsets."""
    return b"".join(b"%s%d\t%s\n" % (prefix, start, data[start:stop]) for start, stop in uri.find(data))


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_extract_with_chunks_of_each_size(jobs):
    assert len(uri.find(PAGE)) == 4
    data = PAGE + b"aaaaaaaaaaa." * 6 + PAGE
    for chunk in range(1, 65):
        assert output_of(*EXTRACT, "--offsets", "-j", jobs, stdin=data, chunk=chunk) == urls(data)


@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from([b"a://b", b"http://", b"x" * 30, b" ", b"\n", b"\0", b"<", b'"', b"(", b")", b"\xc3", b"\xa9"])
    ),
    st.integers(13, 40),
)
def test_extract_across_the_borders_of_chunks(parts, chunk):
    """One buffer for all that has no end inside, and several threads for the rest."""
    data = b"".join(parts)
    assert output_of(*EXTRACT, "--offsets", "-j", "2", stdin=data, chunk=chunk) == urls(data)


def test_lines_that_do_not_fit_a_buffer(tmp_path):
    """Each line of the output is longer than its URL by a long prefix."""
    path = tmp_path / ("f" * 200)
    path.write_bytes(b"a://b " * 1000)
    want = urls(b"a://b " * 1000, f"{path}\t".encode())
    for jobs in 1, 2:
        assert output_of(*EXTRACT, "--offsets", "-j", jobs, path, path, chunk=600) == 2 * want


ESCAPED = {
    "json": rb'{"a":"http:\/\/a.example\/?b\u0026c","b":"x:\/\/\u00e9\ud83d\ude00!"} "a:\u002f/b\\" ' * 3,
    "html": b"<p>&lt;http://a.example/?b&amp;c!&gt;<a href='x://a/&#39;&eacute;!'>&quot;a://b&copy=1&quot;" * 3,
}


@pytest.mark.parametrize("content", ESCAPED)
def test_extract_from_text_with_escapes(content):
    """With chunks of each size, with ends and without, so that one buffer has all."""
    for data in ESCAPED[content], ESCAPED[content].replace(b" ", b"").replace(b">", b""):
        found = zip(uri.find(data, content), uri.extract(data, content), strict=True)
        want = b"".join(b"%d\t%s\n" % (start, url) for (start, _), url in found)
        assert want.count(b"\n") >= 6
        for chunk in [*range(13, 70), None]:
            command = *EXTRACT, "--offsets", "--content", content, "-j", "2"
            assert output_of(*command, stdin=data, chunk=chunk) == want
    assert output_of(*EXTRACT, "--offsets", stdin=ESCAPED[content]) == output_of(*command, stdin=ESCAPED[content])


def test_the_start_of_each_input_decides_what_it_is(tmp_path):
    contents = {"a.json": ESCAPED["json"], "b.html": ESCAPED["html"], "c.txt": b"a:// http://a.example/?b&amp;c"}
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    want = [url for data in contents.values() for url in uri.extract(data)]
    assert output_of(*EXTRACT, *(tmp_path / name for name in contents)).splitlines() == want


def test_an_escaped_url_that_is_too_long_ends():
    data = b'{"a":"x://' + rb"\u0041" * (1 << 20) + b'",'
    data += b'"b":"x:\\/\\/b"}'
    found = output_of(*EXTRACT, "--offsets", "--content", "json", stdin=data).splitlines()
    assert len(found[0]) <= 2 + (1 << 20)
    assert found[-1] == b"%d\tx://b" % data.rindex(b"x:")


def test_extract_from_several_inputs(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b.gz"
    a.write_bytes(b"http://a" * 2)
    b.write_bytes(gzip.compress(PAGE * 10_000))
    want = urls(b"http://a" * 2, f"{a}\t".encode()) + urls(PAGE * 10_000, f"{b}\t".encode())
    assert output_of(*EXTRACT, "--offsets", a, b) == want
    assert output_of(*EXTRACT, a, b) == re.sub(rb"(?m)^.*\t", b"", want)


@pytest.mark.parametrize("chunk", [997, None])
def test_a_long_url_is_read_in_linear_time_and_ends(chunk):
    """Also if it arrives in small pieces; what is after it is found."""
    data = b"a://" + b"x" * (1 << 21) + b" b://c"
    found = output_of(*EXTRACT, "--offsets", stdin=data, chunk=chunk)
    assert found == b"0\t" + data[: 1 << 20] + b"\n%d\tb://c\n" % (len(data) - 5)
    data = b" ".join([b"a://" + b"(" * ((1 << 19) - 9) + b")" * ((1 << 19) - 9)] * 3)
    assert output_of(*EXTRACT, "--offsets", stdin=data, chunk=chunk) == urls(data)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@each_row(("unit", "jobs"), [(b"x", "1"), (b"a://(b", "3"), (b" a://" + b"b" * 200, "3"), (b"a://b ", "1")])
@pytest.mark.process
def test_extract_in_flat_memory(tmp_path, unit, jobs):
    path = tmp_path / "long"
    path.write_bytes(unit * (20_000_000 // len(unit)))
    assert growth([*EXTRACT, "--offsets", "-j", jobs], path, tmp_path / "out") < 10_000


def test_check_web():
    source = b"http://a/\nhttp://a\\@b/\nHTTPS://[::1]:8\n"
    status, report, counts = run("check", "--kind", "web", "--stats", stdin=source)
    assert (status, without_reasons(report)) == (1, b"<stdin>\t2\t8\tbackslash\thttp://a\\\\@b/\n")
    assert json.loads(counts)["schemes"] == {"http": 1, "https": 1}
    assert run("check", "--kind", "web", stdin=source)[:2] == (status, report)


# --- text that is no URI or IRI ---------------------------------------------------------------------------------------

DIRTY = "HTTP://a.example/1\nhttp://us er@h/\nhttp://[::1/\nhttp://a.example/é\nhttp://h/%zz\nhttp://h:x/\n".encode()


@each_row(
    ("options", "normal", "invalid"),
    [
        ([], b"http://a.example/1\n", [2, 3, 4, 5, 6]),
        (["--kind", "iri", "--level", "path"], "http://a.example/1\nhttp://a.example/é\n".encode(), [2, 3, 5, 6]),
        (["--level", "iri"], b"http://a.example/1\nhttp://a.example/%C3%A9\n", [2, 3, 5, 6]),
        (["--policy", "crawl"], b"http://a.example/1\nhttp://a.example/%C3%A9\n", [2, 3, 5, 6]),
        (["--policy", "surt"], b"example,a)/1\nexample,a)/%c3%a9\n", [2, 3, 5, 6]),
        (["--policy", "whatwg"], None, [3, 6]),
        (["--policy", "w3lib"], None, [3, 6]),
        (["--level", "rfc1630"], None, [5]),
        (["--production", "any"], None, []),
        (["--kind", "web"], None, [2, 3, 6]),
    ],
)
def test_text_that_is_no_uri_is_invalid_unless_it_is_kept(options, normal, invalid, tmp_path):
    bad = tmp_path / "bad"
    for threads in "1", "2":
        status, output, said = run(
            "normalize", *options, "--errors", "drop", "--stats", "--invalid-to", bad, "-j", threads, stdin=DIRTY
        )
        assert status == 0 and (normal is None or output == normal) and output.count(b"\n") == 6 - len(invalid)
        assert [json.loads(said)[name] for name in ("valid", "invalid")] == [6 - len(invalid), len(invalid)]
        assert [int(row.split("\t")[1]) for row in bad.read_text("utf-8").splitlines()] == invalid
    assert output_of("normalize", *options, stdin=DIRTY).count(b"\n") == 6
    nulls = output_of("normalize", *options, "--errors", "null", stdin=DIRTY).split(b"\n")
    assert [number for number, line in enumerate(nulls[:-1], 1) if not line] == invalid
    status, _, said = run("normalize", *options, "--errors", "raise", stdin=DIRTY)
    assert status == (1 if invalid else 0) and (not invalid or f"<stdin>:{invalid[0]}:" in said)


def test_the_steps_of_what_is_no_iri():
    command = ["normalize", "--policy", "crawl", "--explain", "--errors"]
    assert output_of(*command, "drop", stdin=b"http://a/\nhttp://a b/\n") == b'{"input":"http://a/","steps":[]}\n'
    assert output_of(*command, "null", stdin=b"http://a b/\n") == b"null\n"
    assert output_of(*command, "keep", stdin=b"http://a b/\n") == b'{"input":"http://a b/","steps":[]}\n'


def test_query_drops_what_a_policy_drops():
    line = "HTTP://A/%7e/../?id=%7e&UTM_source=x&tracking=y#f"
    assert output_of("query", "--policy", "tracking", "--text", line) == b"HTTP://A/%7e/../?id=%7e&tracking=y#f\n"
    assert output_of("query", "--policy", "crawl", "--text", "/?utm_a=1&&") == b"/?&\n"
    assert run("query", "--policy", "surt", "--text", line)[0] == 2


def test_query_says_that_a_name_is_that_of_a_policy():
    status, output, said = run("query", "--drop", "tracking,id", "--text", "/?tracking=y&utm_a=1")
    assert (status, output) == (0, b"/?utm_a=1\n") and "--policy tracking" in said


def test_the_steps_of_a_repair():
    command = ["normalize", "--repair", "--explain", "--errors"]
    steps = b'[{"step":"ends","result":"//a/b c"},{"step":"path","result":"//a/b%20c"}]'
    assert output_of(*command, "drop", stdin=b" //a/b c\n//a b\n") == b'{"input":" //a/b c","steps":%s}\n' % steps
    assert output_of(*command, "null", stdin=b"//a b\n/a\n") == b'null\n{"input":"/a","steps":[]}\n'
    assert output_of(*command, "keep", stdin=b"//a b\n") == b'{"input":"//a b","steps":[]}\n'


def test_normalize_with_a_base():
    base = ["normalize", "--policy", "whatwg", "--base", "http://h/a/b/c"]
    assert output_of(*base, stdin=b"../x\n\\\\a\\b\nftp://c\n") == b"http://h/a/x\nhttp://a/b\nftp://c/\n"
    assert run("normalize", "--policy", "crawl", "--base", "http://h", stdin=b"x\n")[0] == 2


def test_private_suffixes():
    for command in "split", "hosts", "normalize":
        words = [command, "--get", "{registrable_domain} {public_suffix}", "--text", "http://a.b.github.io/"]
        assert output_of(*words) == b"github.io io\n"
        assert output_of(*words, "--private") == b"b.github.io github.io\n"
