"""`python -m uricodec.run` and `pytest -p uricodec.pytest_plugin`: programs and test suites with the drop-in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import uricodec
from uricodec import parse
from uricodec.run import Profile

PROGRAM = """
import sys, urllib.request
from urllib.parse import quote, quote_plus, urlencode, urlsplit
assert __name__ == "__main__" and urllib.request.quote is quote
for i in range(50):
    urlencode({"a": quote(f"a b {i}")}, quote_via=quote_plus)
    urlsplit(f"http://h/{i}").geturl()
print(getattr(quote, "__wrapped__", quote).__module__, sys.argv[1:], sys.path[0])
sys.exit(3)
"""


@pytest.fixture
def folder(tmp_path):
    tmp_path.joinpath("program.py").write_text(PROGRAM)
    return tmp_path


def run(folder, *arguments):
    source = Path(uricodec.__file__).parent.parent
    environment = dict(os.environ, PYTHONPATH=str(source))
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("program", [["program.py"], ["-m", "program"]])
def test_run(folder, program):
    process = run(folder, "-m", "uricodec.run", *program, "-x", "--profile")
    assert (process.returncode, process.stderr) == (3, "")
    assert process.stdout == f"uricodec.parse ['-x', '--profile'] {folder}\n"


def test_profile(folder):
    process = run(folder, "-m", "uricodec.run", "--profile", "program.py")
    assert process.returncode == 3, process.stderr
    assert process.stdout == f"uricodec.parse [] {folder}\n"
    rows = {line.split()[0]: line.split() for line in process.stderr.splitlines() if line}
    assert {name: rows[name][1] for name in ("quote", "urlencode", "urlsplit", "all")} == {
        "quote": "50", "urlencode": "50", "urlsplit": "50", "all": "150",
    }  # fmt: skip
    assert "quote_plus" not in rows  # what urlencode calls is not counted again


def test_calls_within_calls_are_not_counted():
    profile = Profile()
    quote, urlencode = [profile.wrap(name, getattr(parse, name)) for name in ("quote", "urlencode")]

    class Quoting:
        def __str__(self):
            return quote("a b")

    assert urlencode([("a", Quoting()), ("b", [1, (2,)])]) == "a=a%2520b&b=%5B1%2C+%282%2C%29%5D"
    assert urlencode([("a", "b")]) == urlencode({"a": "b"}) == "a=b"
    figures = profile.figures["urlencode"]
    assert (profile.figures["quote"].calls, figures.calls, len(figures.ours)) == (0, 3, 2)


@pytest.mark.parametrize("arguments", [[], ["--no-such", "program.py"], ["no_such.py"], ["-m", "no_such"]])
def test_errors(folder, arguments):
    process = run(folder, "-m", "uricodec.run", *arguments)
    assert process.returncode in (1, 2) and process.stderr


def test_pytest_plugin(folder):
    folder.joinpath("test_it.py").write_text(
        "from urllib.parse import quote\ndef test_it():\n    assert quote.__module__ == 'uricodec.parse'\n"
    )
    process = run(folder, "-m", "pytest", "-p", "uricodec.pytest_plugin", "-p", "no:cacheprovider", "test_it.py")
    assert process.returncode == 0, process.stdout
    assert "uricodec: " in process.stdout and "1 passed" in process.stdout
