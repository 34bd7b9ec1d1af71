"""Writes the man page: `python docs/make_man.py >docs/uricodec.1`. All of it is what the parsers say."""

from uricodec.cli import make_parser, texts
from uricodec.cli.completion import commands_of, help_of


def roff(text):
    """A line of text, as it stands in the source of a man page."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def paragraph(text):
    """Text whose lines stay as they are."""
    return [".nf", *map(roff, text.strip("\n").splitlines()), ".fi"]


def option(command, action):
    """An option, or an argument, and what it says."""
    value = "" if action.nargs == 0 else f" {action.metavar or '{' + ','.join(action.choices) + '}'}"
    names = ", ".join(f"\\fB{roff(name)}\\fR{roff(value)}" for name in action.option_strings)
    return [".TP", names or f"\\fI{roff(value.strip())}\\fR", roff(help_of(command, action))]


def section(name, summary, command):
    """A command."""
    summary = summary.replace("%%", "%")
    lines = [f".SS uricodec {roff(name)}", roff(f"{summary[0].upper()}{summary[1:]}.")]
    lines += [".PP", *paragraph(command.description)]
    examples = command.epilog.removesuffix(texts.STATUSES)
    for action in command._actions:
        lines += option(command, action)
    return [*lines, ".PP", *paragraph(examples)]


def man_page():
    """The source of the page."""
    parser = make_parser()
    commands = commands_of(parser)
    lines = [
        '.TH URICODEC 1 "" uricodec "User Commands"',
        ".SH NAME",
        "uricodec \\- percent\\-encoding, URIs, IRIs and URNs, in files of any size",
        ".SH SYNOPSIS",
        ".B uricodec",
        "\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...",
        ".SH COMMANDS",
    ]
    for name, (summary, command) in commands.items():
        lines += section(name, summary, command)
    lines += [".SH EXIT STATUS", *paragraph(texts.STATUSES.split("\n", 1)[1])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(man_page(), end="")
