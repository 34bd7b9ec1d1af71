"""Policies on the command line: files of them, and explanations."""

import json

import pytest
from support.command import output_of, run
from support.tables import each_row

LINES = b"HTTP://h?b&a#f\nhttp://h/\r\nhttp://h/\xff?utm_a=1\nhttp://h/%C3%A9?b&a"
EXPLAIN = ["normalize", "--kind", "uri", "--policy", "crawl", "--explain"]


def steps_of(output):
    rows = map(json.loads, output.splitlines())
    return [row and (row["input"], *(step["step"] for step in row["steps"]), row["steps"][-1:]) for row in rows]


@pytest.mark.parametrize("options", [[], ["-j", "2"]], ids=" ".join)
def test_explanations(options):
    first = ("HTTP://h?b&a#f", "case", "scheme", "query", "fragment", [{"step": "fragment", "result": "http://h/?a&b"}])
    last = ("http://h/%C3%A9?b&a", "query", [{"step": "query", "result": "http://h/%C3%A9?a&b"}])
    kept = ("http://h/%FF?utm_a=1", [])
    for errors, third in ("keep", [kept]), ("null", [None]), ("drop", []):
        status, output, said = run(*EXPLAIN, *options, "--errors", errors, stdin=LINES)
        assert (status, said) == (0, "")
        assert steps_of(output) == [first, ("http://h/", []), *third, last]
    status, _, said = run(*EXPLAIN, *options, "--errors", "raise", stdin=LINES)
    assert status == 1 and "<stdin>:3:10" in said
    status, output, said = run(*EXPLAIN, *options, "--errors", "raise", stdin=b"http://h/\xff\n")
    assert (status, output) == (1, b"") and "<stdin>:1:10" in said
    status, output, _ = run(*EXPLAIN, *options, "-z", stdin=b"HTTP://h/\0")
    assert steps_of(output) == [("HTTP://h/", "case", [{"step": "case", "result": "http://h/"}])]
    assert run(*EXPLAIN, *options, stdin=b"") == (0, b"", "")


def test_policies_in_files(tmp_path):
    pytest.importorskip("tomllib", reason="Python 3.11")
    path = tmp_path / "mine.toml"
    path.write_text('base = "crawl"\nstrip_www = true\n', "utf-8")
    command = ["normalize", "--kind", "iri", "--policy", path]
    assert run(*command, stdin=b"http://www.h.example?utm_a=1\n") == (0, b"http://h.example/\n", "")
    assert run("dedup", *command[1:], stdin=b"http://www.h.example\nhttp://h.example\n")[1] == b"http://www.h.example\n"
    path.write_text("strip_www = 1\n", "utf-8")
    status, _, said = run(*command, stdin=b"")
    assert status == 2 and "--policy: " in said and "strip_www must be a bool, got 1" in said
    path.unlink()
    assert run(*command, stdin=b"")[0] == 2


@each_row(
    ("options", "message"),
    [
        (["--policy", "no"], "--policy: unknown policy 'no'; choose from tracking, crawl, shape, surt, w3lib"),
        (["--policy", "no.toml"], "--policy: 'no.toml': No such file or directory"),
    ],
)
def test_policies_that_there_are_not(options, message):
    status, output, said = run("normalize", "--kind", "uri", *options, stdin=b"")
    assert (status, output) == (2, b"") and message in said


def test_a_policy_is_for_uris_by_default():
    lines = b"HTTP://h?b&a\nhttp://h/?a&b\n"
    assert output_of("normalize", "--policy", "crawl", stdin=lines) == 2 * b"http://h/?a&b\n"
    assert output_of("dedup", "--policy", "crawl", stdin=lines) == b"HTTP://h?b&a\n"
    assert run("normalize", "--policy", "crawl", "--kind", "urn")[0] == 2
