"""Every message of the command line says what is wrong, what is accepted, and an example or what to type.

The tests walk the raises in the source, the options that read a value, and those of the parser.
"""

import ast
import re
from pathlib import Path

import pytest
from support.command import run
from support.tables import each_row

from uricodec.cli import parser
from uricodec.cli.commands import COMMANDS
from uricodec.cli.errors import CommandError
from uricodec.cli.options import OPTIONS

CLI = Path(parser.__file__).parent

# What shows that a message says what is accepted.
ACCEPTED = re.compile(r"expected|choose from|such as|as in|did you mean|its fields|fields are|write |a zone is|must be")
EXAMPLE = re.compile(r"such as|as in|choose from|did you mean|fields are|; write|a zone is|[A-Za-z]/[A-Z][a-z]+na")

# Messages of the system, or of another part of the package which the tests there look at.
FOREIGN = {"str(error)", "f'{flag}: {where}{error}'", "place(error) + reason"}


def text_of(node):
    """The text of an expression: literals, and {} for what is put in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join([part.value if isinstance(part, ast.Constant) else "{}" for part in node.values])
    if isinstance(node, ast.BinOp):
        return text_of(node.left) + text_of(node.right)
    return "{}"


def raises():
    """Yield where each CommandError of the package is made, with its arguments."""
    for path in sorted(CLI.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "CommandError":
                yield f"{path.name}:{node.lineno}", node.args


RAISES = dict(raises())


def test_all_raises_are_found():
    assert len(RAISES) > 50
    assert sum(path.read_text("utf-8").count(" CommandError(") for path in CLI.glob("*.py")) <= len(RAISES) + 2


@pytest.mark.parametrize("where", RAISES)
def test_raises(where):
    """One sentence in lower case, without a full stop; and there is a hint, or it says what is accepted."""
    message, status, *rest = RAISES[where]
    text = text_of(message)
    assert not text.endswith(".") and not text[:1].isupper(), text
    assert isinstance(status, ast.Constant | ast.IfExp | ast.Name | ast.Attribute)
    if ast.unparse(message) in FOREIGN:
        return
    hint = text_of(rest[0]) if rest else ""
    assert hint or ACCEPTED.search(text) or text.count("{}") > 1, f"{text!r}: what is accepted?"
    assert not hint.endswith(".")


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


@each_row("key", [key for key, option in OPTIONS.items() if option.read is not str])
def test_values(key):
    """What a value is not, in quotes, what it is, and an example."""
    option, messages = OPTIONS[key], set()
    for bad in BAD:
        try:
            option.read(bad)
        except UnicodeError:  # of the format of logs: only bytes that are not UTF-8
            assert bad == "\udcff"
        except ValueError as error:
            if "lone surrogate" not in str(error):
                messages.add(str(error))
    assert messages or key in {"drop", "keep:query"}, f"{option.flag} reads everything"
    for message in messages:
        assert ACCEPTED.search(message) and EXAMPLE.search(message), message
        assert not message.removesuffix("extra.").endswith(".") and not message[0].isupper() and len(message) < 1000
        assert "'" in message or "got" in message


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
            "--fields: <stdin>: the header has no field 'urll'; its fields are 'id', 'url'",
        ),
        (
            "dedup --kind uri --csv --header -f urll",
            "--fields: <stdin>: the header has no field 'urll'; its fields are 'id', 'url'",
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
        (
            "decode -o",
            "--output: expected a value\n\nhint: such as --output FILE",
        ),
        (
            "decode --plus=1",
            "--plus: expected no value, got '1'\n\nhint: such as --plus",
        ),
        (
            "query",
            "expected --set, --drop or --keep\n\nhint: such as --drop 'utm_*'",
        ),
    ],
)
def test_messages(line, said):
    status, output, found = run(*line.split(), stdin=b"id,url\n1,a\n")
    assert (status > 0, output) == (True, b"")
    assert found == f"uricodec: {said}\n"
