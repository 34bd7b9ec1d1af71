"""The help texts, made from the tables of commands and options: short ones for `-h`, long ones for `--help`."""

import textwrap

from uricodec.cli.commands import COMMANDS, ENVIRONMENT, EXIT_STATUS, TASKS
from uricodec.cli.options import CATEGORIES, OPTIONS

__all__ = ["details_of", "of_command", "overview", "spelling", "usage"]

WIDTH = 79
COLUMN = 27  # where the short help of an option starts
ENDING = ["", "exit status:", EXIT_STATUS, "environment:", ENVIRONMENT.rstrip("\n")]


def overview(details):
    """Return the help of the program.

    Args:
        details (bool): Whether it is the long one.
    """
    lines = ["usage: uricodec COMMAND [OPTION]... [FILE]...", ""]
    lines += [
        "Encode, decode, parse and normalize URLs, URIs, IRIs and URNs, in files of any",
        "size.",
    ]
    for task in TASKS:
        lines += ["", f"{task}:"]
        for command in COMMANDS.values():
            if command.task == task:
                lines.append(f"  {command.name:12} {command.summary}")
                lines += [f"{'':15}{line_of(command.examples[0])}"] * details
    lines += ["", "options:", *(short(OPTIONS[key]) for key in ("help", "version"))]
    lines += ENDING if details else ["", "'uricodec COMMAND -h' shows the options of a command, --help describes them."]
    return "\n".join(lines) + "\n"


def of_command(command, details):
    """Return the help of a command.

    Args:
        command (Command): The command.
        details (bool): Whether it is the long one.
    """
    if not details:
        options = command.usual_options
        more = f"and {count} more" if (count := len(command.options) - len(options)) else "in detail"
        return "\n".join(
            [
                f"usage: {usage(command)}",
                *indented(command.examples[:2]),
                "",
                first_sentence(command.description),
                "",
                *map(short, options),
                "",
                f"'uricodec {command.name} --help' describes these options {more}.\n",
            ]
        )
    lines = [f"usage: {usage(command)}", *indented(command.examples[:2]), "", command.description.rstrip("\n")]
    for category in CATEGORIES:
        options = [option for option in command.options if option.category == category]
        if options:
            lines += ["", f"{category}:"]
        for i, option in enumerate(options):
            lines += [""] * (i > 0) + long(option)
    if command.examples[2:]:
        lines += ["", "more examples:", *indented(command.examples[2:])]
    return "\n".join([*lines, *ENDING]) + "\n"


def line_of(example):
    """Return the command line of an example, without what follows it.

    >>> line_of("uricodec info     # for reports\\n# prints text")
    'uricodec info'
    """
    return example.partition("\n")[0].partition("   #")[0].rstrip()


def indented(examples):
    return ["  " + line for example in examples for line in example.split("\n")]


def usage(command):
    """Return the usage of a command, with the options that it requires."""
    words = ["uricodec", command.name]
    words += [f"{option.flag} {option.value}" for option in command.options if option.required and option.flags]
    words.append("[OPTION]...")
    if command.operand:
        words.append(f"[{command.operand.value}]..." if command.operand.repeats else command.operand.value)
    return " ".join(words)


def first_sentence(text):
    """Return the first sentence of a description.

    >>> first_sentence("Do this,\\nand that. Then stop.")
    'Do this,\\nand that.'
    """
    end = min(at for mark in (". ", ".\n", ":\n") if (at := text.find(mark)) >= 0)
    return text[:end] + "."


def spelling(option):
    """Return how an option is written: "-j, --threads N".

    >>> spelling(OPTIONS["threads"])
    '-j, --threads N'
    """
    return f"{', '.join(option.flags)} {option.value}".strip()


def short(option):
    """Return the line of an option in the help of `-h`."""
    indent = "      " if option.flags == [option.flag] else "  "
    return f"{indent + spelling(option):{COLUMN - 1}} {option.short}"


def long(option):
    """Return the lines of an option in the help of `--help`."""
    text, choices = details_of(option)
    lines = ["  " + spelling(option), *textwrap.wrap(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)]
    column = 9 + max(map(len, choices), default=0)
    for choice, meaning in choices.items():
        first = f"       {choice}".ljust(column) + " "
        lines += textwrap.wrap(first + meaning, WIDTH, subsequent_indent=" " * len(first), break_on_hyphens=False)
    return lines


def details_of(option):
    """Return the long help of an option: a paragraph, and the meaning of each of its choices (dict[str, str])."""
    text = f"{option.short[0].upper()}{option.short[1:]}. {option.long}".strip()
    if option.environment:
        text += f" The default is that of the environment variable {option.environment}."
    if option.needs:
        text += f" Needs {' or '.join(option.needs.split())}.".replace("=", " ")
    choices = {
        choice: f"{meaning} (the default)" if choice == option.default else meaning
        for choice, meaning in option.choices.items()
    }
    return text, choices
