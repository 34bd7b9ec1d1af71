"""The command line.

`commands.py` and `options.py` are tables. `parser.py`, `help.py`, `completion.py`, the man page and the reference come
from them. A command is a function that gets the arguments and returns the exit status. Its module is imported when it
runs, so that every command starts fast.
"""

import _signal as signal  # type: ignore[import-not-found,unused-ignore]  # without enumerations: they take longer
import importlib
import os
import sys

import uricodec
from uricodec._io.streams import tell
from uricodec.cli.errors import CommandError, with_link

__all__ = ["main"]


def main(argv=None):
    """Run the command line.

    Args:
        argv (list[str] | None): The arguments, without the name of the program; None for those of the process.

    Returns:
        int: The exit status: 0 for success, 1 if invalid input was found, 2 if the command line is invalid, 3 if input
            or output failed, 130 if interrupted, 141 if the output pipe is closed.

    >>> main(["--version"])
    uricodec ...
    0
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        if argv is None and signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # see uricodec/__init__.py
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            status = run(words)
        except SystemExit as stop:  # signals that end the process
            status = stop.code
        flush_text()
        return status
    except CommandError as error:
        return fail(words, str(error), error.status)
    except MemoryError:
        return fail(words, "not enough memory", 3)
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return fail(words, f"{error.filename or '<stdout>'}: {error.strerror}", 3)


def fail(words, message, status):
    """Write the message that ends the command, with a link to a page. Return the exit status."""
    from uricodec.cli.commands import COMMANDS

    command = words[0] if words and words[0] in COMMANDS else None
    tell(f"uricodec: {with_link(message, command, status)}\n")
    return status


def run(words):
    """Run a command and return the exit status."""
    first = words[0] if words else None
    if words[:2] == ["--version", "--verbose"]:
        words, first = ["info"], "info"
    if first == "--version":
        python = ".".join(map(str, sys.version_info[:3]))
        print(f"uricodec {uricodec.__version__} (tier {uricodec.cpu_tier()}, {sys.implementation.name} {python})")
        return 0
    if first in ("-h", "--help"):
        from uricodec.cli import help

        print(help.overview(details=first == "--help"), end="")
        return 0
    if first is None:
        raise CommandError("expected a command", 2, "'uricodec --help' lists the commands")
    from uricodec.cli.parser import find_command, parse

    command = find_command(first)
    arguments = parse(command, words[1:])
    if arguments.help:
        from uricodec.cli import help

        print(help.of_command(command, details="--help" in words), end="")
        return 0
    module, _, function = command.run.partition(":")
    return getattr(importlib.import_module(module), function)(arguments)


def flush_text():
    """Write what has been printed now: an error in the interpreter's own flush, at its end, could not be handled."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the interpreter's flush
        raise
