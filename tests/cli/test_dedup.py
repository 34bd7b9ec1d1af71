"""`uricodec dedup`: each option against a reference implementation, and what it says of what it cannot do."""

import bz2
import csv
import gzip
import json
import os
import pathlib
import pty
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import uri_forms
from reference import urn as naive_urn
from reference.errors import UriError as Invalid
from support.command import HINT, growth, output_of, process, run, without_reasons
from support.marks import few_examples
from support.tables import each_row

from uricodec import dedup
from uricodec._base._fingerprint import FingerprintKey
from uricodec._io import runner
from uricodec.cli import dedup as command

URN = ["dedup", "--kind", "urn"]
LEVELS = {
    "urn": ["bytes", "2141", "8141", "namespace", "functional"],
    "uri": ["simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630"],
    "iri": ["simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630"],
    "bytes": [None],
}
every_level = each_row(("kind", "level"), [(kind, level) for kind, levels in LEVELS.items() for level in levels])

NAMES = [
    b"urn:isbn:0-395-36341-1", b"URN:ISBN:0395363411", b"urn:ISBN:9780395363416", b"urn:isbn:0395363411#p7",
    b"urn:example:a%2fb", b"Urn:Example:a%2Fb?=q", b"urn:example:a%2fb#", b"urn:x:Y", b"URN:x:Y", b"urn:example:100%",
    b"urn:example:caf\xc3\xa9\xff", b"", b"http://example.com", b"HTTP://Example.com:80/",
    b"http://example.com/%7Ea/../b", b"http://example.com/b", b"http://ex%41mple.com/b%zz",
    b"http://example.com/\xc3\xa9", b"http://example.com/%C3%A9", b"//a/./b", b"\tnot a name\x0b",
]  # fmt: skip
LINES = st.lists(st.sampled_from(NAMES), max_size=40)


def form_of(line, kind, level):
    """The normal form of a line, and whether it is rejected."""
    try:
        if kind == "urn":
            return naive_urn.normalize(line, level), False
        return (line if kind == "bytes" else uri_forms.normalize(line, level)), False
    except Invalid:
        return line, True


def reference(lines, kind="urn", level="8141", errors="keep", against=()):
    """The names of lines: the first line, how often the name occurs; its spellings, with first row and count."""
    known = {form_of(line, kind, level)[0] for line in against}
    names = {}
    for row, line in enumerate(lines):
        form, rejected = form_of(line, kind, level)
        if form in known or (rejected and errors == "drop"):
            continue
        first, count, spellings = names.get(form, (line, 0, {}))
        at, times = spellings.get(line, (row, 0))
        names[form] = first, count + 1, {**spellings, line: (at, times + 1)}
    return names


def text(lines):
    return b"".join(line + b"\n" for line in lines)


def options_of(kind, level):
    return ["dedup", "--kind", kind, *(["--level", level] if level else [])]


# --- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_level
@settings(max_examples=12)
@given(LINES)
def test_output_agrees_with_the_reference(kind, level, lines):
    names = reference(lines, kind, level)
    options = options_of(kind, level)
    data = text(lines)
    assert output_of(*options, stdin=data) == text(first for first, _, _ in names.values())
    assert output_of(*options, "--exact", "-c", stdin=data) == text(
        b"%d\t%s" % (count, first) for first, count, _ in names.values()
    )
    assert output_of(*options, "--repeated", stdin=data) == text(
        first for first, count, _ in names.values() if count > 1
    )


@settings(max_examples=30)
@given(LINES, st.sampled_from(["urn", "uri", "bytes"]), st.integers(1, 8))
def test_the_most_frequent(lines, kind, top):
    level = {"urn": "8141", "uri": "path", "bytes": None}[kind]
    names = sorted(reference(lines, kind, level).values(), key=lambda name: -name[1])
    expected = text(b"%d\t%s" % (count, first) for first, count, _ in names[:top])
    assert output_of("dedup", "--kind", kind, "-c", "--top", str(top), stdin=text(lines)) == expected


def test_the_most_frequent_records():
    csv = ["dedup", "--kind", "uri", "--csv", "--header", "-f", "url", "-c", "--top", "2"]
    data = b'id,url\n1,http://b/\n2,http://a/\n3,"http://A/"\n4,"http:\n/c"\n5,HTTP://a/'
    assert output_of(*csv, stdin=data) == b"count,id,url\n3,2,http://a/\n1,1,http://b/\n"
    assert output_of(*csv, stdin=b"id,url\n") == b"count,id,url\n"
    assert output_of(*csv, stdin=b"id,url") == b"count,id,url\n"
    json_lines = b'{"u":"b"}\n{"u":"a"}\n{"u":"\\u0061"}\n'
    options = ["dedup", "--kind", "bytes", "--json-field", "u", "-c", "--top", "1"]
    assert output_of(*options, stdin=json_lines) == b'2\t{"u":"a"}\n'
    assert output_of("dedup", "--kind", "bytes", "-c", "--top", "1", "-z", stdin=b"a\n\0b\0a\n") == b"2\ta\n\0"


@pytest.mark.slow
@settings(max_examples=50)
@given(LINES, LINES, st.sampled_from(["keep", "drop"]))
def test_against_other_files(tmp_path_factory, lines, others, errors):
    folder = tmp_path_factory.mktemp("against")
    (folder / "a").write_bytes(text(others[:5]))
    (folder / "b").write_bytes(gzip.compress(text(others[5:])))
    names = reference(lines, errors=errors, against=others)
    options = [*URN, "--errors", errors, "--exclude", folder / "a", "--exclude", folder / "b"]
    assert output_of(*options, stdin=text(lines)) == text(first for first, _, _ in names.values())
    status, output, said = run(*options, "--repeated", "--stats", stdin=text(lines))
    assert (status, output) == (0, text(first for first, count, _ in names.values() if count > 1))
    assert json.loads(said)["unique"] == len(names)


@each_row("data", [b"", b"x" * 11 + b"\n"])
@each_row("report", [[], ["--count"], ["--repeated"]])
def test_standard_input_has_nothing_for_later(tmp_path, data, report):
    """The names of the other file do not fit the memory, and wait; no line of the input does."""
    (tmp_path / "old").write_bytes(b"".join(b"%d\n" % number for number in range(20_000)))
    options = ["--kind", "bytes", "--exclude", tmp_path / "old", "--memory", "1", "--max-line", "10", *report]
    expected = b"" if "--repeated" in report else b"1\t" * ("--count" in report and data > b"") + data
    assert output_of("dedup", *options, stdin=data) == expected


def groups_of(lines, kind, level, errors="keep", key=None):
    """The report, as objects of JSON."""
    for form, (first, count, spellings) in reference(lines, kind, level, errors).items():
        if len(spellings) > 1:
            group = {"first": shown(first), "line": min(at for at, _ in spellings.values()) + 1}
            if key:
                group["fingerprint"] = FingerprintKey(key).fingerprint(form).hex()
            group["spellings"] = [
                {"spelling": shown(each), "line": at + 1, "rows": times, "by": rule_of(first, each, kind, level)}
                for each, (at, times) in spellings.items()
            ]
            group["rows"] = count
            yield group


def shown(line):
    return re.sub(
        "[\udc80-\udcff]", lambda found: f"%{ord(found[0]) - 0xDC00:X}", line.decode("utf-8", "surrogateescape")
    )


def rule_of(first, other, kind, level):
    for rule in dedup.rules_of(kind, level):
        if first == other:
            return None
        rfc = {"rfc": "2141" if level == "2141" else "8141"} if kind == "urn" else {}
        normalize = naive_urn.normalize if kind == "urn" else uri_forms.normalize
        try:
            if normalize(first, rule, **rfc) == normalize(other, rule, **rfc):
                return rule
        except Invalid:
            pass
    raise AssertionError


@pytest.mark.slow
@every_level
@settings(max_examples=6)
@given(lines=LINES)
def test_groups(tmp_path_factory, kind, level, lines):
    if kind == "bytes":
        return
    path = tmp_path_factory.mktemp("groups") / "groups"
    names = reference(lines, kind, level)
    options = [*options_of(kind, level), "--groups", path]
    for more, key in ([], None), (["--exact", "--memory", "1K"], None), (["--secret", "k"], "k"):
        assert output_of(*options, *more, stdin=text(lines)) == text(first for first, _, _ in names.values())
        found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert found == list(groups_of(lines, kind, level, key=key))


def test_a_group(tmp_path):
    """As the documentation has it."""
    (tmp_path / "in").write_bytes(b"urn:example:a\nURN:example:a\nurn:example:b\nurn:example:a#\xff\nURN:example:a\n")
    run(*URN, "--groups", tmp_path / "groups", "-o", tmp_path / "out", tmp_path / "in")
    assert (tmp_path / "groups").read_text() == (
        '{"first":"urn:example:a","line":1,"spellings":['
        '{"spelling":"urn:example:a","line":1,"rows":1,"by":null},'
        '{"spelling":"URN:example:a","line":2,"rows":2,"by":"2141"}],"rows":3}\n'
    )


def test_groups_as_a_table(tmp_path):
    data = b'urn:ab:1\nURN:ab:1\nurn:ab:1\nURN:AB:1,"\nurn:ab:1#x\n'
    for to, wanted in (
        ("csv", b"kept,spelling,reason,line,rows\nurn:ab:1,URN:ab:1,2141,2,1\nurn:ab:1,urn:ab:1#x,8141,5,1\n"),
        (
            "tsv",
            b"kept\tspelling\treason\tline\trows\nurn:ab:1\tURN:ab:1\t2141\t2\t1\nurn:ab:1\turn:ab:1#x\t8141\t5\t1\n",
        ),
        ("text", b"urn:ab:1\tURN:ab:1\t2141\t2\t1\nurn:ab:1\turn:ab:1#x\t8141\t5\t1\n"),
    ):
        assert output_of(*URN, "--groups", tmp_path / to, "--to", to, stdin=data) == b'urn:ab:1\nURN:AB:1,"\n'
        assert (tmp_path / to).read_bytes() == wanted
        counted = output_of(*URN, "-c", "--groups", tmp_path / to, "--to", to, stdin=data)
        assert b"4" in counted and (tmp_path / to).read_bytes() == wanted
    fields = output_of(
        *URN, "--csv", "-f", "2", "--groups", tmp_path / "f", "--to", "csv", stdin=b"1,urn:a1:b\n2,URN:a1:b\n"
    )
    assert fields == b"1,urn:a1:b\n" and (tmp_path / "f").read_bytes().endswith(b"\nurn:a1:b,URN:a1:b,2141,2,1\n")


def test_the_default_kind():
    assert output_of("dedup", stdin=b"HTTP://a/./\nhttp://a/\n") == b"HTTP://a/./\n"


def test_groups_of_what_is_not_dropped(tmp_path):
    (tmp_path / "old").write_bytes(b"urn:example:a\n")
    lines = [b"x", b"urn:example:a", b"URN:example:a", b"x"]
    options = ["--errors", "drop", "--exclude", tmp_path / "old", "--groups", tmp_path / "groups"]
    assert output_of(*URN, *options, stdin=text(lines)) == b""
    (group,) = map(json.loads, (tmp_path / "groups").read_text().splitlines())
    assert (group["first"], group["line"], group["rows"]) == ("urn:example:a", 2, 2)


@pytest.mark.slow
def test_groups_that_are_larger_than_memory(tmp_path):
    """All lines are of one name, or of a few; runs of the sort are merged, more than once."""
    for names in 1, 7:
        lines = [b"urn:example:%d#%06d" % (row * row % names, row % 12_000) for row in range(16_000)]
        options = ["--memory", "16K", "--groups", tmp_path / "groups", "-o", tmp_path / "out"]
        assert run(*URN, *options, stdin=text(lines)) == (0, b"", "")
        found = [json.loads(line) for line in (tmp_path / "groups").read_text().splitlines()]
        expected = {}
        for row, line in enumerate(lines):
            group = expected.setdefault(line[: line.index(b"#")], {})
            group.setdefault(line, []).append(row + 1)
        assert [
            [(each["spelling"].encode(), each["line"], each["rows"]) for each in group["spellings"]] for group in found
        ] == [[(line, rows[0], len(rows)) for line, rows in group.items()] for group in expected.values()]
        assert all(group["rows"] == sum(each["rows"] for each in group["spellings"]) for group in found)


# --- bad lines --------------------------------------------------------------------------------------------------------


@given(LINES, st.sampled_from(["keep", "drop"]), st.sampled_from([16, 64, 4096]))
def test_invalid_lines_are_what_check_says(tmp_path_factory, lines, errors, chunk):
    bad = tmp_path_factory.mktemp("bad") / "bad"
    names = reference(lines, errors=errors)
    options = ["--errors", errors, "--invalid-to", bad]
    assert output_of(*URN, *options, stdin=text(lines), chunk=chunk) == text(first for first, _, _ in names.values())
    assert bad.read_bytes() == without_reasons(run("check", "--kind", "urn", stdin=text(lines))[1])


@pytest.mark.parametrize("errors", ["keep", "drop"])
def test_many_invalid_lines(tmp_path, monkeypatch, errors):
    monkeypatch.setattr(runner, "MOST_FAULTS", 3)
    lines = [b"x%d" % row for row in range(100)] + [b"urn:example:a"] * 5 + [b"\r"] * 7
    for jobs in "1", "2":
        options = ["--errors", errors, "-j", jobs, "--invalid-to", tmp_path / "bad"]
        kept = text([*lines[:101], b"\r"] if errors == "keep" else [b"urn:example:a"])
        assert output_of(*URN, *options, stdin=text(lines)) == kept
        assert (tmp_path / "bad").read_bytes() == without_reasons(run("check", "--kind", "urn", stdin=text(lines))[1])


def test_a_line_that_fails(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(b"urn:example:a\nurn:example:b\nurn:example:10%\n")
    status, output, said = run(*URN, "--errors", "raise", path, "-o", tmp_path / "out")
    assert (status, output) == (1, b"")
    assert said == f'uricodec: {path}:3:15 (byte 42): "%" not followed by two hexadecimal digits\n' + HINT
    assert os.listdir(tmp_path) == ["in"]


@every_level
def test_lines_that_are_no_identifiers(kind, level):
    """Each stands for itself, unless --errors drops it."""
    lines = [b"http://a b/", b"http://a/%zz", b"http://a/\xff", b"", b"::: <", b"http://a/\xed\xa0\x80"]
    assert output_of(*options_of(kind, level), stdin=text(lines)) == text(lines)
    kept = {"urn": [], "bytes": lines}.get(kind, [b""])
    if level == "rfc1630":
        kept = [line for line in lines if b"%zz" not in line]
    status, output, said = run(*options_of(kind, level), "--errors", "drop", "--stats", stdin=text(lines))
    assert (status, output) == (0, text(kept))
    assert json.loads(said)["invalid"] == len(lines) - len(kept)


def test_long_lines():
    """They are held up to --max-line; longer ones are copied, and reported."""
    line = b":example:%s\n" % (b"a" * (1 << 21))
    data = b"urn" + line + b"URN" + line
    assert output_of(*URN, "--errors", "raise", stdin=data) == b"urn" + line
    assert run("check", "--kind", "urn", stdin=data) == (0, b"", "")
    status, output, said = run(*URN, "--max-line", "2M", "--stats", "--invalid-to", "-", "-o", os.devnull, stdin=data)
    assert status == 0 and json.loads(said)["invalid"] == json.loads(said)["unique"] == 2
    assert output == b"".join(
        b"<stdin>\t%d\t2097152\ttoo-long\t%b:example:%b...\n" % (number, name, b"a" * 88)
        for number, name in ((1, b"urn"), (2, b"URN"))
    )
    assert output_of(*URN, "--max-line", "2M", stdin=data) == data
    assert output_of(*URN, "--max-line", "2M", "--estimate", stdin=data) == b"2\n"
    said = "uricodec: <stdin>:1:2097153 (byte 2097152): line is longer than 2097152 bytes\n" + HINT
    said = said[:-1] + "; --max-line SIZE allows longer ones\n"
    assert run(*URN, "--max-line", "2M", "--errors", "raise", stdin=data) == (1, b"", said)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("options", [["--memory", "1M"], ["--memory", "1M", "--count", "-j", "2"]], ids=" ".join)
def test_the_memory_of_a_bomb_is_bounded(tmp_path, options):
    """One line of 100 MB in a file of 100 KB: what grows are the buffers of a line that may be."""
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(1_000_001)) * 100)
    assert growth([*URN, *options, "--max-line", "1M"], tmp_path / "bomb.gz", tmp_path / "out") < 10_000
    assert growth([*URN, *options], tmp_path / "bomb.gz", tmp_path / "out") < 60_000


# --- lines and inputs -------------------------------------------------------------------------------------------------


def test_ends_of_lines():
    assert output_of(*URN, stdin=b"urn:ab:1\r\nURN:ab:1\nurn:ab:2") == b"urn:ab:1\r\nurn:ab:2\n"
    assert output_of(*URN, "-z", stdin=b"urn:ab:1\0URN:ab:1\0urn:ab:2\n\0urn:ab:2") == (
        b"urn:ab:1\0urn:ab:2\n\0urn:ab:2\0"
    )
    assert output_of("dedup", "--kind", "bytes", "--count", stdin=b"a\n\na\n\nb") == b"2\ta\n2\t\n1\tb\n"


def test_inputs_are_one(tmp_path):
    (tmp_path / "a").write_bytes(b"urn:ab:1\nurn:ab:2")
    (tmp_path / "b").write_bytes(bz2.compress(b"URN:ab:2\nurn:ab:3\n"))
    (tmp_path / "c").touch()
    files = [tmp_path / name for name in "cab"]
    assert output_of(*URN, *files, "-", stdin=b"urn:AB:3\nurn:ab:4\n") == b"urn:ab:1\nurn:ab:2\nurn:ab:3\nurn:ab:4\n"
    assert output_of(*URN, stdin=b"") == output_of(*URN, "-c", tmp_path / "c") == b""


@pytest.mark.slow
@few_examples
@given(LINES, st.integers(16, 64), st.sampled_from(["1", "2", "3"]))
def test_chunks_and_threads_do_not_show(lines, chunk, jobs):
    for more in [], ["-c"], ["--repeated"]:
        expected = run(*URN, *more, stdin=text(lines))
        assert run(*URN, *more, "-j", jobs, stdin=text(lines), chunk=chunk) == expected


# --- keys -------------------------------------------------------------------------------------------------------------


def test_keys(tmp_path):
    path, groups = tmp_path / "key", tmp_path / "groups"
    data = b"urn:ab:1\nURN:ab:1\n"
    found = []
    for content, key in (b"s\r", b"s\r"), (b"s\r\r\n", b"s\r"), (b"s\n\n", b"s\n"), (b"\n\r", b"\n\r"), (b"\r", b"\r"):
        path.write_bytes(content)
        assert command.read_secret(str(path)) == key
    for content in b"secret", b"secret\n", b"secret\r\n", b"other":
        path.write_bytes(content)
        assert output_of(*URN, "--secret-file", path, "--groups", groups, stdin=data) == b"urn:ab:1\n"
        found.append(json.loads(groups.read_text())["fingerprint"])
    output_of(*URN, "--secret", "\udcff", "--groups", groups, stdin=data)  # a byte of the command line
    output_of(*URN, "--secret", "secret", "--exact", "--groups", groups, stdin=data)
    found.append(json.loads(groups.read_text())["fingerprint"])
    assert found[0] == found[1] == found[2] == found[4] != found[3]
    output_of(*URN, "--groups", groups, stdin=data)
    assert "fingerprint" not in groups.read_text()
    path.write_bytes(b"\r\n")
    status, _, said = run(*URN, "--secret-file", path, stdin=data)
    assert status == 2 and said.startswith(f"uricodec: {path}: no secret found\n") and "/dev/urandom" in said
    status, _, said = run(*URN, "--secret-file", tmp_path / "none", stdin=data)
    assert (status, said) == (3, f"uricodec: {tmp_path / 'none'}: No such file or directory\n")


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("errors", ["keep", "drop"])
def test_stats_agree_with_the_reference(errors):
    lines = [name for name in NAMES for _ in range(3)]
    names = reference(lines, errors=errors)
    rejected = 3 * sum(form_of(name, "urn", "8141")[1] for name in NAMES)
    status, output, said = run(*URN, "--errors", errors, "--stats", stdin=text(lines))
    counts = json.loads(said)
    assert (status, said.count("\n")) == (0, 1)
    assert counts.pop("seconds") >= 0
    assert counts == {
        "rows": len(lines),
        "unique": len(names),
        "duplicates": sum(count - 1 for _, count, _ in names.values()),
        "invalid": rejected,
        "written": output.count(b"\n"),
        "spilled": 0,
    }


@every_level
def test_stats_of_rules(kind, level):
    lines = NAMES + NAMES[::-1]
    status, _, said = run(*options_of(kind, level), "--stats", "--merged", stdin=text(lines))
    counts = json.loads(said)
    assert status == 0
    assert list(counts["merged"]) == list(dedup.rules_of(kind, level))
    assert sum(counts["merged"].values()) == counts["duplicates"]
    assert next(iter(counts["merged"].values())) >= len(NAMES)


def test_estimate(tmp_path):
    data = b"".join(b"urn:example:%d\nURN:example:%d\n" % (row, row) for row in range(20_000))
    assert abs(int(output_of(*URN, "--estimate", stdin=data)) - 20_000) < 1000
    assert output_of(*URN, "--estimate", "-o", tmp_path / "out", stdin=data) == b""
    assert abs(int((tmp_path / "out").read_bytes()) - 20_000) < 1000
    assert output_of(*URN, "--estimate", stdin=b"") == b"0\n"
    assert run(*URN, "--estimate", "--errors", "raise", stdin=b"x\n")[0] == 1


# --- usage ------------------------------------------------------------------------------------------------------------


@each_row(
    ("arguments", "said"),
    [
        (["--to", "csv"], "--to: not allowed without --count or --groups"),
        (["--count", "--to", "csv", "-f", "1"], "--to: --count makes records of lines only"),
        (["--kind", "url"], "--kind: unknown value 'url'; choose from urn, uri, iri, web, bytes"),
        (["--kind", "uri", "--level", "8141"], "--level: unknown value '8141' with --kind uri; choose from simple"),
        (["--kind", "urn", "--level", "path"], "choose from bytes, 2141, 8141, namespace, functional"),
        (["--kind", "bytes", "--level", "bytes"], "--level: not allowed with --kind bytes"),
        (["--kind", "urn", "--memory", "much"], "--memory: "),
        (["--kind", "urn", "--memory", "64X"], "--memory: "),
        (["--kind", "urn", "--memory", "-1"], "--memory"),
        (["--kind", "urn", "--memory", "0"], "--memory: "),
        (["--kind", "urn", "--memory", "99999999T"], "--memory: "),
        (["--kind", "urn", "-c", "--repeated"], "--repeated: not allowed with --count"),
        (["--kind", "urn", "--top", "5"], "--top: not allowed without --count"),
        (["--kind", "urn", "--top", "5"], "hint: add --count"),
        (["--kind", "urn", "-c", "--top", "0"], "--top: expected a whole number from 1 on, such as 10, got '0'"),
        (["--kind", "urn", "-c", "--top", "-1"], "--top: expected a whole number from 1 on, such as 10, got '-1'"),
        (["--kind", "urn", "--merged"], "--merged: not allowed without --stats"),
        (["--kind", "urn", "--secret", ""], "--secret: expected a text such as k7Qz"),
        (["--kind", "urn", "--secret", "a", "--secret-file", "b"], "--secret: not allowed with --secret-file"),
        (["--kind", "urn", "-", "--exclude", "-"], "standard input can be read only once"),
        (["--kind", "urn", "-", "-"], "standard input can be read only once"),
        (["--kind", "urn", "--exclude", "-"], "standard input can be read only once"),
        (["--kind", "bytes", "--groups", "a"], "--groups: not allowed with --kind bytes"),
        (["--kind", "urn", "--errors", "null"], "--errors: unknown value 'null'"),
        (["--kind", "urn", "-o", "a", "--groups", "a"], "--output and --groups are the same file"),
        (["--kind", "urn", "-o", "a", "--invalid-to", "./a"], "--output and --invalid-to are the same file"),
        (["--kind", "urn", "--invalid-to", "a", "--groups", "a"], "--groups and --invalid-to are the same file"),
        (["--kind", "urn", "--groups", "-"], "--output and --groups are the same file"),
        (["--kind", "urn", "-j", "x"], "--threads: expected a whole number"),
        *[
            (["--kind", "urn", "--estimate", *more], f"--estimate: not allowed with {more[0]}")
            for more in (
                ["--count"],
                ["--repeated"],
                ["--exclude", "a"],
                ["--groups", "a"],
                ["--memory", "1G"],
                ["--spill-dir", "a"],
                ["--exact"],
                ["--invalid-to", "a"],
                ["--stats"],
            )
        ],
    ],
)
def test_wrong_options_are_rejected(arguments, said):
    status, output, found = run("dedup", *arguments)
    assert (status, output) == (2, b"") and said in re.sub(r"\s+", " ", found)


@pytest.mark.skipif(sys.platform == "win32", reason="no devices")
def test_outputs_that_are_no_files(tmp_path):
    """They may be the same, but a file may not, by whatever name."""
    data = b"urn:ab:1\nURN:ab:1\nx\n"
    outputs = ["--groups", "/dev/null", "--invalid-to", "/dev/null"]
    assert run(*URN, "-o", "/dev/null", *outputs, stdin=data) == (0, b"", "")
    out, link = tmp_path / "out", tmp_path / "link"
    link.symlink_to(out)
    said = "uricodec: --output and --groups are the same file\n\nhint: change --groups FILE\n"
    for _ in range(2):  # a file that does not exist, and one that does
        assert run(*URN, "-o", out, "--groups", link, stdin=data) == (2, b"", said)
        out.write_bytes(b"as it was")
    assert out.read_bytes() == b"as it was"
    pipe = process(*URN, "-o", "/dev/stdout", "--groups", "/dev/stdout", input=data)
    assert (pipe.returncode, pipe.stdout.count(b"\n")) == (0, 3)


@each_row("size", ["1000000", "64M", "1.5g", "64MB", "64MiB", "50%", "12.5%"])
def test_sizes(size):
    assert output_of(*URN, "--memory", size, stdin=b"urn:ab:1\nURN:ab:1\n") == b"urn:ab:1\n"


# --- processes --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("more", [[], ["-c"], ["--groups", os.devnull]], ids=["unique", "count", "groups"])
@pytest.mark.process
def test_memory_is_bounded(tmp_path, more):
    """600 000 names, which take 15 MB as fingerprints and 30 MB with counts. The first megabyte pays for buffers."""
    path = tmp_path / "in"
    with open(path, "wb") as file:
        for row in range(600_000):
            file.write(b"urn:example:%d\n" % (row * 7919 % 1_000_003))
    assert growth([*URN, "--memory", "2M", "-j", "1", *more], path, tmp_path / "out") < 12_000


@pytest.mark.slow
def test_progress_on_a_terminal(tmp_path):
    """What is done, how many lines and names, how fast; and nothing of it is left in the end."""
    path = tmp_path / "in"
    with open(path, "wb") as file:
        for row in range(200_000):
            file.write(b"urn:example:%d\n" % (row % 70_000))
    terminal, device = pty.openpty()
    code = "import sys; from uricodec._io import meter; meter.METER_DELAY = meter.METER_PERIOD = 0;"
    code += "from uricodec.dedup import _source; _source.PERIOD = 0;"
    code += "from uricodec.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = [*URN, "--memory", "1M", "-c", "-j", "1", path, "-o", tmp_path / "out"]
    child = subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=device)
    os.close(device)
    said = b""
    try:
        while octets := os.read(terminal, 4096):
            said += octets
    except OSError:  # the other side is closed
        pass
    os.close(terminal)
    assert child.wait() == 0
    shown = [line for line in said.decode().split("\r") if line.strip()]
    assert shown
    for line in shown:
        assert re.fullmatch(
            r"(reading|processing temporary files|writing)(  [0-9]+ %)?  [0-9.]+[kM]? lines  [0-9.]+[kM]? unique"
            r"(  [0-9.]+[kM]? lines/s)?(  ETA 0:0[0-9])? *",
            line,
        ), line
    assert said.decode().split("\r")[-2].strip() == ""


def at_terminal(*arguments, width=60, encoding="utf-8"):
    """What a command writes to a terminal."""
    terminal, device = pty.openpty()
    environment = os.environ | {"COLUMNS": str(width), "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "uricodec", *map(str, arguments)]
    child = subprocess.Popen(command, stdout=device, env=environment)
    os.close(device)
    said = b""
    try:
        while octets := os.read(terminal, 4096):
            said += octets
    except OSError:  # the other side is closed
        pass
    os.close(terminal)
    assert child.wait() == 0
    return said.decode(encoding).replace("\r\n", "\n").splitlines()


@pytest.mark.slow
def test_a_table_on_a_terminal(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(b"urn:ab:1\n" * 3 + b"URN:ab:2\n" * 8 + b"\x1b[1m\xff\n" + b"urn:ab:3\n" * 1000)
    path.write_bytes(path.read_bytes() + b"".join(b"urn:cd:%d\n" % i for i in range(1000)))
    options = [*URN, "--count", path, "--top", "4"]
    assert at_terminal(*options) == [
        "count   share                        line", "1,000  49.7 %  ████████████████████  urn:ab:3",
        "    8   0.4 %  ▏                     URN:ab:2", "    3   0.1 %  ▏                     urn:ab:1",
        "    1  <0.1 %  ▏                     \\x1b[1m\\xff", "1,000  49.7 %                        1,000 others",
    ]  # fmt: skip
    assert at_terminal(*options, width=35, encoding="ascii")[1] == "1,000  49.7 %  ######  urn:ab:3"
    assert "others" not in at_terminal(*options, "--exclude", path)[-1]
    plain = b"1000\turn:ab:3\n8\tURN:ab:2\n3\turn:ab:1\n1\t\x1b[1m\xff\n"
    assert at_terminal(*options, "-o", "-", encoding="latin-1") == plain.decode("latin-1").splitlines()
    assert output_of(*options) == plain
    path.write_bytes(path.read_bytes().replace(b"\xff", b""))
    assert at_terminal(*URN, path, "-c")[0] == "3\turn:ab:1"
    assert at_terminal(*URN, path, "-c", "--top", "1001")[0] == "1000\turn:ab:3"
    assert at_terminal(*URN, "--csv", "-f", "1", path, "-c", "--top", "1")[0].split()[-1] == "record"


def test_progress_in_words():
    progress = dedup.Progress("write", 0, 0, 5, 1_000)
    assert command.describe(progress, 0.0) == "writing  5 lines  1.0k unique"
    said = command.describe(progress._replace(phase="partitions"), 2.0)
    assert said.startswith("processing temporary files  5 lines")


@pytest.mark.slow
def test_no_progress_elsewhere():
    done = process(*URN, input=b"urn:ab:1\n" * 100_000)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"urn:ab:1\n", b"")
    done = process(*URN, "--progress", input=b"urn:ab:1\n" * 100_000)
    assert re.fullmatch(rb"done  100.0k lines  1 unique  [0-9.]+[kM]? lines/s\n", done.stderr), done.stderr


# --- the documentation ------------------------------------------------------------------------------------------------


def table_of_levels():
    page = (pathlib.Path(__file__).parents[2] / "docs/guides/dedup.md").read_text("utf-8")
    return re.findall(r"^\| `(\w+)` \| `(.*)` \| `(\w+)` \| `(.*)` \|$", page, re.MULTILINE)


@each_row(("kind", "one", "level", "other"), table_of_levels())
def test_the_documented_examples_of_levels(kind, one, level, other):
    rules = dedup.rules_of(kind, LEVELS[kind][4 if kind == "urn" else 5])
    for rule in rules:
        found = output_of(*options_of(kind, rule), stdin=f"{one}\n{other}\n".encode()).count(b"\n")
        assert found == (1 if rules.index(rule) >= rules.index(level) else 2)


@each_row("to", ["text", "tsv", "csv", "jsonl"])
def test_counts_in_all_formats(to):
    data = b'a\t"b"\r\nc,\xff\nc,\xff\n\xc3\xa9'
    for top in [], ["--top", "9"]:
        output = output_of("dedup", "--kind", "bytes", "--count", *top, "--to", to, stdin=data).decode()
        rows = [["1", 'a%09"b"'], ["2", "c,%FF"], ["1", "é"]]
        if top:
            rows = [rows[1], rows[0], rows[2]]
        if to == "jsonl":
            records = map(json.loads, output.splitlines())
            found = [[str(each["count"]), each["line"].replace("\t", "%09")] for each in records]
        else:
            lines = output.splitlines()
            found = list(csv.reader(lines)) if to == "csv" else [line.split("\t") for line in lines]
            assert to == "text" or found.pop(0) == ["count", "line"]
        assert found == rows
    assert run("dedup", "--kind", "bytes", "--to", to)[0] == 2
    assert run("dedup", "--kind", "bytes", "--count", "-f", "1", "--to", to)[0] == 2


def test_a_dash_is_standard_input_and_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert output_of("dedup", "--kind", "uri", "-", "-o", "-", stdin=b"a:b\nA:b\n") == b"a:b\n"
    command = "dedup", "--kind", "uri", "--groups", "-", "-o", os.devnull
    assert b"A:b" in output_of(*command, stdin=b"a:b\nA:b\n") and not list(tmp_path.iterdir())
