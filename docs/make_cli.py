"""The man page, which `python docs/make_cli.py` writes, and what docs/conf.py makes when the site is built: the rest of
docs/reference/cli.md, and a page for each command. All come from the tables of commands and options.
"""

import re
from pathlib import Path

from uricodec.cli.commands import COMMANDS, ENVIRONMENT, EXIT_STATUS
from uricodec.cli.help import details_of, spelling, usage
from uricodec.cli.options import CATEGORIES

DOCS = Path(__file__).parent

# How every command ends: what happens, the exit status, standard error, and the file of --output.
ENDINGS = [
    ("it succeeds", 0, "notes, unless -q is given", "it appears, or is replaced, as a whole"),
    ("invalid input, with `check` or `--errors raise`", 1, "input, line, column, byte, reason and hint", "unchanged"),
    ("no record has what was selected; a header that lacks it is a wrong option", 1, "what is missing", "unchanged"),
    ("the command line is invalid", 2, "what is wrong, what is accepted, and an example", "unchanged"),
    ("a file cannot be read or written, or memory is exhausted", 3, "the file and the reason", "unchanged"),
    ("an interrupt (Ctrl-C, SIGINT)", 130, "nothing", "unchanged"),
    ("SIGTERM, or SIGHUP", "143, 129", "nothing", "unchanged"),
    ("the reader of the output pipe has closed it", 141, "nothing", "unchanged"),
]

PROGRESS = """\
A progress meter is shown on standard error after half a second if that is a
terminal and nothing else writes to one: all outputs are files. It is one line,
which disappears at the end. --progress shows it always, where there is no
terminal as a line every 10 seconds; --no-progress and -q never.
"""


def roff(text):
    """Return a line of text as the source of a man page."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def unfilled(text):
    """Return the source of text whose line breaks stay."""
    return [".nf", *map(roff, text.strip("\n").splitlines()), ".fi"]


def man_option(option):
    """Return the source of an option."""
    text, choices = details_of(option)
    value = f" \\fI{roff(option.value)}\\fR" if option.value else ""
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option.flags)
    lines = [".TP", (names + value).strip(), roff(text)]
    for choice, meaning in choices.items():
        lines += [".br", f"\\fB{roff(choice)}\\fR: {roff(meaning)}"]
    return lines


def man_page():
    """Return the source of the man page."""
    lines = [
        '.TH URICODEC 1 "" uricodec "User Commands"',
        ".SH NAME",
        "uricodec \\- encode, decode, parse and normalize URLs, URIs, IRIs and URNs",
        ".SH SYNOPSIS",
        ".B uricodec",
        "\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...",
        ".SH COMMANDS",
    ]
    for name, command in COMMANDS.items():
        lines += [f".SS uricodec {roff(name)}", *unfilled(command.description), ".PP", "Usage:", roff(usage(command))]
        for option in command.options:
            lines += man_option(option)
        lines += [".PP", "Examples:", *unfilled("\n".join(command.examples))]
    lines += [".SH EXIT STATUS", *unfilled(EXIT_STATUS), ".SH ENVIRONMENT", *unfilled(ENVIRONMENT)]
    return "\n".join(lines) + "\n"


def cell(text):
    """Return text as a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def paragraphs(text):
    """Yield the lines of a text of help as Markdown. Only what is drawn, with spaces before it, keeps its lines."""
    for part in text.strip("\n").split("\n\n"):
        drawn = re.search(r"(?m)^ ", part)
        yield from ["", "```text", part, "```"] if drawn else ["", re.sub(r"([\\`*_<>\[\]{}|#])", r"\\\1", part)]


def command_page(command):
    """Return the page of a command."""
    lines = [f"# uricodec {command.name}", "", f"`{usage(command)}`", *paragraphs(command.description)]
    lines += ["", "```bash", *command.examples, "```"]
    for category in CATEGORIES:
        options = [option for option in command.options if option.category == category]
        names = [name for option in options for name in option.flags if name.startswith("--")]
        if names:
            lines += ["", f"```{{index}} {', '.join(names)}", "```"]  # the search does not find them otherwise
        if options:
            lines += ["", f"| {category} | |", "|---|---|"]
        for option in options:
            text, choices = details_of(option)
            values = "; ".join(f"`{choice}`: {cell(meaning)}" for choice, meaning in choices.items())
            lines.append(f"| `{spelling(option)}` | {cell(text)} {values}".rstrip() + " |")
    return "\n".join([*lines, ""])


def reference():
    """Return the list of the commands, and what they share."""
    lines = ["", "| command | what it does |", "|---|---|"]
    for name, command in COMMANDS.items():
        lines.append(f"| {{doc}}`{name} <../commands/{name}>` | {cell(command.summary)} |")
    lines += ["", "## How a command ends", "", "The same in every command:", ""]
    lines += ["| what happens | exit status | standard error | the file of `--output` |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in ENDINGS]
    lines += ["", *PROGRESS.splitlines()]
    lines += ["", "## Environment", "", "```text", ENVIRONMENT.rstrip("\n"), "```"]
    lines += ["", "```{toctree}", ":hidden:", "", "../guides/cookbook", "../guides/framing"]
    lines += [*(f"{name} <../commands/{name}>" for name in COMMANDS), "```"]
    return "\n".join(lines) + "\n"


def write_pages():
    """Write the pages of the commands: docs/commands/NAME.md."""
    folder = DOCS / "commands"
    folder.mkdir(exist_ok=True)
    for name, command in COMMANDS.items():
        page, text = folder / f"{name}.md", command_page(command)
        if not page.exists() or page.read_text("utf-8") != text:  # Sphinx reads again what has changed
            page.write_text(text, "utf-8")


if __name__ == "__main__":
    (DOCS / "uricodec.1").write_text(man_page(), "utf-8")
