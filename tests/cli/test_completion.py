"""What is made from the parsers: completion for three shells, and the man page."""

import pathlib
import runpy
import shutil
import subprocess

import pytest
from command import output_of, process, run

from uricodec.cli import make_parser
from uricodec.cli.completion import commands_of, script

ROOT = pathlib.Path(__file__).parents[2]
SHELLS = ["bash", "zsh", "fish"]


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def complete(*words):
    """What bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in ("uricodec", *words))
    source = script("bash", make_parser())
    source += f'COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _uricodec; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return subprocess.run(["bash", "-c", source], capture_output=True, check=True, text=True).stdout.split()


@needs("bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["de"], ["decode", "dedup"]),
        (["decode", "--j"], ["--jobs", "--json-field", "--jsonl"]),
        (["decode", "-"], None),
        (["decode", "--errors", ""], ["keep", "replace", "null", "drop", "raise"]),
        (["decode", "x", "--errors", "d"], ["drop"]),
        (["decode", "x"], []),
        (["decode", "-o", "-"], []),
        (["normalize", "--kind", "ur"], ["urn", "uri"]),
        (["normalize", "--level", "n"], ["namespace"]),
        (["check", "--production", "IRI"], ["IRI-reference", "IRI"]),
        (["completion", ""], SHELLS),
        (["nothing", "-"], []),
    ],
)
def test_bash_completes(words, offered):
    found = complete(*words)
    if offered is None:
        command = commands_of(make_parser())[words[0]][1]
        assert found == [flag for action in command._actions for flag in action.option_strings]
    else:
        assert found == offered


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in SHELLS])
def test_shells_read_their_scripts(shell):
    source = script(shell, make_parser())
    subprocess.run([shell, "-n"], input=source.encode(), check=True, capture_output=True)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_every_script(shell):
    printed = output_of_completion(shell)
    assert printed == script(shell, make_parser())
    for name, (_, command) in commands_of(make_parser()).items():
        assert name in printed
        for action in command._actions:
            for flag in action.option_strings:
                assert (f"-l {flag[2:]}" if shell == "fish" and flag.startswith("--") else flag[1:]) in printed


def output_of_completion(shell):
    done = process("completion", shell)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_wrong_usage():
    assert run("completion", "tcsh")[0] == 2
    assert run("completion")[0] == 2
    assert output_of("decode", stdin=b"") == b""


def test_the_man_page_is_what_the_parsers_say():
    """If not: python docs/make_man.py >docs/uricodec.1"""
    made = runpy.run_path(str(ROOT / "docs/make_man.py"))["man_page"]()
    assert made == (ROOT / "docs/uricodec.1").read_text("utf-8")


@needs("groff")
def test_the_man_page_is_one():
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", ROOT / "docs/uricodec.1"], capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b""
    assert b"uricodec normalize" in done.stdout
