"""Which inputs a command reads: files, the files of folders, those that match a pattern, or values of --text."""

import os
import sys

from uricodec._io.files import printable
from uricodec._io.writing import place_of
from uricodec.cli.errors import CommandError

PATTERN = "*?["


def expanded(command, names, recursive, output):
    """Return the files that operands mean (list[str]).

    A pattern such as "logs/*.gz", which the shell has not replaced, means the files that match it, and a folder, with
    --recursive, all files in it. Hidden files and folders are left out, and so is the output of the command.

    Args:
        command (str): The name of the command, for messages.
        names (list[str]): The operands.
        recursive (bool): Whether folders are read.
        output (str | None): The path of the output.

    Raises:
        CommandError: A pattern matches no file, or an operand is a folder.
    """
    found, own = [], output and place_of(output)
    for name in names:
        matching = [name]
        if any(character in PATTERN for character in name) and not os.path.lexists(name):
            from glob import glob

            matching = sorted(glob(name, recursive=True))
            if not matching:
                raise CommandError(f"{printable(name)}: no file matches", 3, hint_of(command, name))
        for each in matching:
            if not os.path.isdir(each):
                found.append(each)
            elif recursive:
                found += [path for path in files_in(each) if not own or place_of(path) != own]
            elif each == name:
                raise CommandError(f"{printable(each)}: Is a directory", 3, "-r reads the files in it")
    if recursive and not found:
        raise CommandError("--recursive: no file found", 3, "expected a folder with files, such as -r logs")
    return found or ["-"]


def files_in(folder):
    """Yield the files in a folder and the folders in it, in the order of their names, but no hidden ones."""
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(path, name) for name in sorted(names) if not name.startswith("."))


def hint_of(command, name):
    """Return what helps if a file does not exist, and its name looks like a value; "" if it does not."""
    import re

    if (
        not re.search(r"^[A-Za-z][A-Za-z0-9+.-]*:(//|[^/\\])|^(//|www\.)|%[0-9A-Fa-f]{2}|. .", name)
        or not name.isprintable()
    ):
        return ""
    from shlex import quote

    return f"a value instead of a file: uricodec {command} --text {quote(name)}"


class Texts:
    """Stands for standard input while a command runs, and has the values of --text as lines.

    Args:
        texts (list[str]): The values.
        end (bytes): What ends a line.
    """

    shown = "<text>"  # its name in messages

    def __init__(self, texts, end):
        from io import BytesIO

        self.buffer = BytesIO(b"".join([os.fsencode(text) + end for text in texts]))

    def __enter__(self):
        self._stdin, sys.stdin = sys.stdin, self

    def __exit__(self, *exception):
        sys.stdin = self._stdin

    def isatty(self):
        return False
