"""Completion for three shells, made from the tables of commands and options."""

import shutil
import subprocess

import pytest
from support.command import process
from support.tables import each_row

from uricodec.cli.commands import COMMANDS
from uricodec.cli.completion import script

SHELLS = ["bash", "zsh", "fish"]


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def flags_of(name):
    return [flag for option in COMMANDS[name].options for flag in option.flags]


def complete(*words):
    """What bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in ("uricodec", *words))
    source = script("bash")
    source += f'COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _uricodec; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return subprocess.run(["bash", "-c", source], capture_output=True, check=True, text=True).stdout.split()


@needs("bash")
@each_row(
    ("words", "offered"),
    [
        (["de"], ["decode", "dedup"]),
        (["--v"], ["--version"]),
        (["decode", "--t"], ["--text", "--to", "--threads"]),
        (["decode", "--j"], ["--json-field"]),
        (["decode", "-"], flags_of("decode")),
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
    assert complete(*words) == offered


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in SHELLS])
def test_shells_read_their_scripts(shell):
    subprocess.run([shell, "-n"], input=script(shell).encode(), check=True, capture_output=True)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_every_script(shell):
    printed = output_of_completion(shell)
    assert printed == script(shell)
    for name in COMMANDS:
        assert name in printed
        for flag in flags_of(name):
            assert (f"-l {flag[2:]}" if shell == "fish" and flag.startswith("--") else flag[1:]) in printed


def output_of_completion(shell):
    done = process("completion", shell)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()
