"""Runs commands: finds the command, calls it, and turns what ends it into a message and an exit status."""

import _signal as signal  # type: ignore[import-not-found,unused-ignore]  # without enumerations: they take longer
import os
import sys
from errno import ENOENT

from uricodec._io.files import printable, tell
from uricodec.cli.errors import CommandError, with_link
from uricodec.cli.version import show_version

__all__ = ["main"]


def main(words, of_process):
    """Run the command line.

    Args:
        words (list[str]): The arguments.
        of_process (bool): Whether they are those of the process, whose interrupts are handled then.

    Returns:
        int: The exit status, see uricodec.cli.main().
    """
    try:
        if of_process and signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # see uricodec/__init__.py
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            status = run(words)
        except SystemExit as stop:  # signals that end the process
            status = stop.code
        flush_text()
        return status
    except CommandError as error:
        return fail(words, error)
    except MemoryError:
        return fail(
            words, CommandError("not enough memory", 3, "a smaller --memory, --max-line or --threads needs less")
        )
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        from uricodec.cli.inputs import hint_of

        names = [word for word in words[1:] if error.errno == ENOENT and printable(word) == error.filename]
        hint = hint_of(words[0], names[0]) if names else ""
        return fail(words, CommandError(f"{error.filename or '<stdout>'}: {error.strerror}", 3, hint))


def fail(words, error):
    """Write the message that ends the command, with a link to a page. Return the exit status."""
    from uricodec.cli.colors import are_shown, in_message, wanted
    from uricodec.cli.commands import COMMANDS

    command = words[0] if words and words[0] in COMMANDS else None
    quiet = not {"-q", "--quiet"}.isdisjoint(words)
    text = f"uricodec: {error.message if quiet else with_link(str(error), command, error.status)}\n"
    tell(in_message(text) if are_shown(wanted(words), sys.stderr) else text)
    return error.status


def run(words):
    """Run a command and return the exit status."""
    if words[:1] == ["help"]:
        words = [*words[1:2], "-h"]
    elif words[1:] == ["help"] and not os.path.lexists("help"):
        words = [words[0], "-h"]
    first = words[0] if words else None
    if first in ("-V", "--version"):
        return show_version()
    if first in ("-h", "--help"):
        from uricodec.cli import help

        return show_help(help.overview(details=first == "--help"), words)
    if first is None:
        raise CommandError("expected a command", 2, "'uricodec --help' lists the commands")
    from uricodec.cli.parser import find_command, parse

    command = find_command(words)
    values = parse(command, words[1:])
    if values["help"]:
        from uricodec.cli import help

        return show_help(help.of_command(command, details="--help" in words), words)
    if values["version"]:
        return show_version()
    from uricodec.cli.plan import plan_of

    plan, own = plan_of(command, values)
    where = command.run if not plan.parquet or command.name == "dedup" else "uricodec.cli.parquet:run"
    module, _, function = where.partition(":")
    __import__(module)  # importing importlib takes longer
    with plan.stdin:
        return getattr(sys.modules[module], function)(plan, **own)


def show_help(text, words):
    from uricodec.cli.colors import are_shown, in_help, wanted

    print(in_help(text) if are_shown(wanted(words), sys.stdout) else text, end="")
    return 0


def flush_text():
    """Write what has been printed now: an error in the interpreter's own flush, at its end, could not be handled."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the interpreter's flush
        raise
