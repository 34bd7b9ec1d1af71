"""Outputs: standard output, devices, and files that appear when they are complete."""

import errno
import os
import sys
from stat import S_ISREG

from uricodec._io.files import binary_stream, descriptor_of, file_error, printable
from uricodec._io.signals import HeldSignals, catch_signals, restore_signals
from uricodec._io.workers import waiting


class Output:
    """Standard output, or a file that appears only when it is complete.

    A regular file is written under a temporary name in the same folder and replaces its target at the end of the `with`
    block. If the block ends by an exception, which includes signals that end the process, the temporary file is removed
    and the target is unchanged. A temporary file that a killed process leaves is removed by the next one that writes
    the same target. Devices and named pipes are written to directly. At a terminal, characters that it would obey, and
    that are not of ASCII, are written as JSON escapes.

    Args:
        path (str | None): The path of the file; None or "-" for standard output.
        alone (bool): Whether it is an error if another process is writing the same file, see Temporary.

    Attributes:
        end (int): The byte that ends a line.
        in_line (bool): Whether the last byte written was not `end`.

    Raises:
        FileError: The output cannot be opened or written.
        BrokenPipeError: The reader of the output has closed it.
    """

    def __init__(self, path=None, alone=False):
        self._path, self._alone = None if path in (None, "-") else path, alone
        self.name = "<stdout>" if self._path is None else printable(path)
        self.end, self.in_line = 0x0A, False
        self._temporary = None
        self._handlers = {}
        self._terminal = None

    def __enter__(self):
        if self._path is None:
            self._raw = binary_stream(sys.stdout, self.name)
            sys.stdout.flush()
            self._find_terminal()
            return self
        try:
            self._open()
        except (OSError, ValueError) as error:
            raise file_error(self.name, error) from None
        if self._temporary is None:
            self._find_terminal()
        return self

    def _find_terminal(self):
        if self.isatty():
            from uricodec._io.terminals import Escapes

            self._terminal = Escapes()

    def isatty(self):
        """Return whether the output is a terminal."""
        return self._raw.isatty()

    def _open(self):
        number = descriptor_of(self._path)
        if number is not None:  # a dup shares the offset with other writers of the file
            self._raw = open(os.dup(number), "wb", buffering=0)  # noqa: SIM115  (__exit__ closes it)
            return
        try:
            mode = os.stat(self._path).st_mode
        except FileNotFoundError:  # any other error is raised: the system may forbid to follow another user's link
            mode = None
        if mode is not None and not S_ISREG(mode):
            self._raw = open(self._path, "wb", buffering=0)  # noqa: SIM115  (__exit__ closes it)
            return
        if mode is not None and not os.access(self._path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        from uricodec._io.temporary import Temporary

        self._handlers = catch_signals()
        try:
            with HeldSignals():
                self._temporary = Temporary(self._path, self._alone)
        except BaseException:
            self._leave()
            raise
        self._raw = self._temporary.raw

    def follows(self, source):
        """Return whether writes append to the file that `source` (Input) is reading, which would never end."""
        read = source.status() if self._temporary is None else None
        if read is None or not S_ISREG(read.st_mode):
            return False
        try:
            number = self._raw.fileno()
            written = os.fstat(number)
            if (read.st_dev, read.st_ino) != (written.st_dev, written.st_ino):
                return False
            return source.place() < (written.st_size if appends(number) else os.lseek(number, 0, os.SEEK_CUR))
        except (OSError, ValueError, AttributeError):  # not a file of the system
            return False

    def write(self, data):
        """Write all of `data` (memoryview or bytes)."""
        if not data:
            return
        self.in_line = data[-1] != self.end
        self._write(self._terminal.escape(data) if self._terminal else data)

    def _write(self, data):
        rest = memoryview(data)
        try:
            with waiting:
                while rest:
                    size = self._raw.write(rest)
                    if size is None:  # None: another process made it non-blocking
                        from select import select

                        select([], [self._raw], [])
                        size = 0
                    rest = rest[size:]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise file_error(self.name, error) from None

    def write_header(self, data):
        """Write a header, which outputs that count records do not count."""
        self.write(data)

    def rewrite(self, data):
        """Write `data` over the beginning of a regular file."""
        try:
            self._raw.seek(0)
        except OSError as error:
            raise file_error(self.name, error) from None
        self.write(data)

    def __exit__(self, kind, *exception):
        if self._terminal and kind is None:
            self._write(self._terminal.rest())
        if self._path is None:
            return
        try:
            if self._temporary is None:
                self._raw.close()
            elif kind is None:
                self._temporary.replace()
                self._temporary = None
        except OSError as error:
            raise file_error(self.name, error) from None
        finally:
            self._leave()

    def _leave(self):
        """Remove what is not complete, and no longer catch signals."""
        try:
            if self._temporary:
                self._temporary.discard()
        finally:
            restore_signals(self._handlers)


def place_of(path):
    """Return a key for what an output writes: equal for the same file, "-", None for a device (several may write)."""
    if path in (None, "-"):
        return "-"
    if descriptor_of(path) is not None:
        return None
    try:
        status = os.stat(path)
        return (status.st_dev, status.st_ino) if S_ISREG(status.st_mode) else None
    except (OSError, ValueError):
        pass
    from uricodec._io.temporary import place_of_new

    try:
        return place_of_new(path)
    except (OSError, ValueError):
        return path  # opening it reports the error


def appends(number):
    """Return whether writes to a descriptor always go to the end of its file (O_APPEND)."""
    try:
        from fcntl import F_GETFL, fcntl
    except ImportError:  # Windows
        return True
    return bool(fcntl(number, F_GETFL) & os.O_APPEND)
