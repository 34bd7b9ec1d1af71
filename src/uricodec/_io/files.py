"""What every file has: errors and names as messages show them, its size, and the descriptor that a path means."""

import os
import sys
from stat import S_ISREG

DESCRIPTORS = {"stdin": 0, "stdout": 1, "stderr": 2}


class FileError(OSError):
    """An error of one file.

    Args:
        name (str): The file's name, as a message shows it.
        reason (str): What went wrong, for the user.
        number (int | None): The system's error number, if the system reported the error.

    >>> str(FileError("access.log", "No such file or directory"))
    'access.log: No such file or directory'
    """

    def __init__(self, name, reason, number=None):
        super().__init__(number, reason, name)

    def __str__(self):
        return f"{self.filename}: {self.strerror}"


def file_error(name, error):
    return FileError(name, getattr(error, "strerror", None) or str(error), getattr(error, "errno", None))


def printable(name):
    """Return a file's name as a message shows it: control characters, which could affect a terminal, are escaped.

    >>> printable("access.log"), printable("a\\nb"), printable("")
    ('access.log', 'a\\\\nb', "''")
    """
    return (name if name.isprintable() else repr(name)[1:-1]) or "''"


def tell(text):
    """Write to standard error; do nothing if that fails."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
    except OSError:
        pass


def binary_stream(text_stream, name):
    """Return the binary stream below sys.stdin or sys.stdout."""
    if text_stream is None:
        raise FileError(name, "closed")
    return getattr(text_stream.buffer, "raw", text_stream.buffer)  # test doubles may have no raw stream


def read_at(file, place, size, what):
    """Return so many bytes of an unbuffered file at a place; `what` it is, for the error if it is too short."""
    file.seek(place)
    found = file.read(size)
    while len(found) < size:
        more = file.read(size - len(found))
        if not more:
            raise OSError(None, f"{what} was truncated")
        found += more
    return found


def close_file(file):
    """Close a file, ignoring errors: nothing more is needed from it."""
    try:  # noqa: SIM105
        file.close()
    except OSError:
        pass


def close_descriptor(number):
    """Close a descriptor (int | None) that was not written to, ignoring errors."""
    try:
        if number is not None:
            os.close(number)
    except OSError:
        pass


def total_size(names):
    """Return the total size of all inputs; 0 if it is unknown because one is not a regular file."""
    total = 0
    for name in names:
        try:
            status = os.stat(0 if name == "-" else name)
        except (OSError, ValueError):
            return 0
        if not S_ISREG(status.st_mode):
            return 0
        total += status.st_size
    return total


def descriptor_of(path):
    """Return the file descriptor that a path such as /dev/fd/1 means in this process; None for other paths.

    >>> descriptor_of("/dev/stdout"), descriptor_of("/dev/fd/7"), descriptor_of("out.txt")
    (1, 7, None)
    """
    folder, _, name = os.fspath(path).rpartition("/")
    if folder == "/dev" and name in DESCRIPTORS:
        return DESCRIPTORS[name]
    return int(name) if folder in ("/dev/fd", "/proc/self/fd") and name.isdecimal() else None
