"""Messages of the command line about values: which are rejected, and what is said of some."""

import pytest
from support.command import run
from support.tables import each_row

from uricodec.cli import parser
from uricodec.cli.commands import COMMANDS
from uricodec.cli.errors import CommandError
from uricodec.cli.options import OPTIONS

# Values that options do not read, for which they say so.
BAD = [
    "",
    "-1",
    "nonsense",
    "\udcff",
    "0",
    "a b",
    "é",
    "99999999999999999999",
    "=",
    "{",
    "x=y=z",
    "x" * 300,
    "&".join(map(str, range(65))),
]


@each_row(
    "key",
    [key for key, option in OPTIONS.items() if option.read is not str and key not in {"drop", "only", "mask"}],
)
def test_bad_values_are_named(key):
    messages = set()
    for bad in BAD:
        try:
            OPTIONS[key].read(bad)
        except UnicodeError:  # of the format of logs: only bytes that are not UTF-8
            assert bad == "\udcff"
        except ValueError as error:
            messages.add(str(error))
    assert messages
    assert all("'" in message or "got" in message for message in messages if "lone surrogate" not in message)


@each_row("command", COMMANDS.values())
def test_missing_and_unknown_values(command):
    """An option without its value, or with one that it does not have; unknown options."""
    for option in command.options:
        if not option.flags or option.flag in {"--help", "--version"}:
            continue
        words = [option.flag] if option.value else [f"{option.flag}=x"]
        with pytest.raises(CommandError) as found:
            parser.parse(command, words)
        error = found.value
        assert option.flag in error.message and error.status == 2
        assert error.hint == (f"such as {option.flag} {option.value}".rstrip())
        if option.choices:
            with pytest.raises(CommandError, match=r"choose from|not allowed|is required"):
                parser.parse(command, [option.flag, "x"])
        with pytest.raises(CommandError) as found:
            parser.parse(command, [f"{option.flag}x"])
        assert found.value.hint.startswith("did you mean '--")


@each_row(
    ("line", "said"),
    [
        (
            "hosts --schemes http,ftp",
            "--schemes: unknown scheme 'ftp'; choose from http, https, ws, wss, as in https,wss; "
            "parsers of other schemes are not compared",
        ),
        (
            "decode --csv --header -f urll",
            "--field: <stdin>: the header has no field 'urll'; its fields are 'id', 'url'",
        ),
        (
            "dedup --kind uri --csv --header -f urll",
            "--field: <stdin>: the header has no field 'urll'; its fields are 'id', 'url'",
        ),
        (
            "decode --plus --iri",
            "--plus: not allowed with --iri\n\nhint: leave out --plus or --iri: in URIs and IRIs, "
            "'+' stands for itself",
        ),
        (
            "dedup --kind uri --memory 10X",
            "--memory: expected a size in bytes such as 64M or 1.5G, or a share such as 50%, got '10X'",
        ),
        (
            "decode --encoding utf8",
            "--encoding: got 'utf8', which is always read; expected the encoding of all else, such as latin-1",
        ),
        (
            "normalize --kind urn --errors raise --text urn:x:1",
            "<text>:1:6 (byte 5): NID must have 2 to 32 characters\n\nhint: --errors drop skips "
            "invalid records, --invalid-to FILE lists them",
        ),
        ("decode -o", "--output: expected a value\n\nhint: such as --output FILE"),
        ("decode --plus=1", "--plus: expected no value, got '1'\n\nhint: such as --plus"),
        ("query", "expected --set, --drop, --policy or --only\n\nhint: such as --policy tracking"),
    ],
)
def test_messages(line, said):
    status, output, found = run(*line.split(), stdin=b"id,url\n1,a\n")
    assert (status > 0, output) == (True, b"")
    assert found == f"uricodec: {said}\n"
