"""The command line.

`commands.py` and `options.py` are tables. `parser.py`, `help.py`, `completion.py`, the man page and the reference come
from them. `plan.py` makes objects of the values of options. A command is a function that gets this plan and the values
of its own options, and returns the exit status. Its module is imported when it runs, so that every command starts fast.
`program.py` runs commands, and says what ended them.
"""

import sys

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
    if words in (["-V", "--verbose"], ["--version", "--verbose"]):
        words = ["info"]
    if words[:1] in (["-V"], ["--version"]):
        from uricodec.cli.version import show_version

        try:
            return show_version()
        except (OSError, KeyboardInterrupt, AttributeError):  # the program says what failed
            pass
    from uricodec.cli import program

    return program.main(words, argv is None)
