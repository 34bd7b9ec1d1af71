"""Reading a file that grows, as `tail -F` does.

At the end of the file the reader looks every 0.2 seconds for one of these:

- The file has grown: what is new is read.
- The bytes before the place of the next read are not those that were read, because the file was truncated (copytruncate
  of logrotate), and perhaps written again, up to any size: reading starts again.
- Its name refers to another file, because it was rotated: the old file is read to its end, then the new one. This is
  when the new file is not empty: until then, programs may still write to the old one. What they write to it later is
  read, too, at line ends of the new one, for a minute.
"""

import os
from stat import S_ISREG
from time import monotonic, sleep

from uricodec._io import magic
from uricodec._io.files import FileError, close_file, file_error
from uricodec._io.reading import Input

PERIOD = 0.2

# The number of bytes before the place of the next read that are compared.
COMPARED = 512

# Seconds during which a file that was renamed is read.
LATE = 60.0


class FollowedInput(Input):
    r"""A file that is read as chunks of lines while it grows, across rotation.

    A line is part of a chunk when its terminator is in the file. If a file ends within a line and is then truncated or
    rotated, the terminator is added, so that two lines are never joined. Lines that are overwritten before they were
    read are lost. A file that was truncated, and in less than the period written again with the same bytes, is taken
    for one that has grown.

    Args:
        name (str): The path of a regular file, which is not compressed.
        meter (Meter | None): The progress meter that counts the bytes read.
        output (Output | None): The output of the command. It must not be appended to the input.
        stop (Callable[[], bool]): Called before each read. If it returns true, the input ends there. Otherwise only an
            exception, such as KeyboardInterrupt, ends it.
        terminator (bytes): The byte that ends a line.

    Raises:
        FileError: The input is not a regular file, is compressed, or cannot be read.

    >>> from tempfile import NamedTemporaryFile
    >>> from uricodec._io.reading import Buffers
    >>> with NamedTemporaryFile() as file, FollowedInput(file.name) as source:
    ...     chunks = source.chunks(Buffers(100))
    ...     for line in b"a\n", b"b\n":
    ...         _ = os.write(file.fileno(), line)
    ...         print(next(chunks).view[:2].tobytes())
    b'a\n'
    b'b\n'
    """

    def __init__(self, name, meter=None, output=None, stop=lambda: False, terminator=b"\n"):
        super().__init__(name, meter, output=output)
        self._stop, self._terminator = stop, terminator[0]
        self._in_line = False  # whether the last byte that was read is not a terminator
        self._last = b""  # the last bytes that were read of the file
        self._successor = None  # the new file, after a rotation
        self._old, self._until = None, 0.0  # the file before it, and until when it is read

    def __enter__(self):
        if self._path == "-":
            raise FileError(self.name, "cannot be followed")
        try:
            self._check(os.stat(self._path))  # before it is opened: opening a pipe would wait for its writer
        except (OSError, ValueError) as error:  # ValueError: a name with NUL
            raise file_error(self.name, error) from None
        super().__enter__()
        head = bytearray(magic.LONGEST)
        if magic.format_of(head[: self._read(head)]):
            self.__exit__()
            raise FileError(self.name, "compressed files cannot be followed")
        self.resume(0)
        return self

    def __exit__(self, *exception):
        super().__exit__(*exception)
        for file in self._successor, self._old:
            if file is not None:
                close_file(file)

    def _check(self, status):
        if not S_ISREG(status.st_mode):
            raise FileError(self.name, "only regular files can be followed")

    def _read(self, view):
        try:
            return self._raw.readinto(view)
        except OSError as error:
            raise file_error(self.name, error) from None

    def read_into(self, view):
        """Read at most len(view) bytes into `view`, waiting for them. Return their number; 0 if `stop` says so."""
        while not self._stop():
            size = self._read(view)
            if self._was_truncated(size):
                self.resume(0)
                self._last = b""
            elif size or (late := self._read_old(view)):
                self._last = (self._last + bytes(view[max(size - COMPARED, 0) : size]))[-COMPARED:]
                size = size or late
                self._in_line = view[size - 1] != self._terminator
                if self._meter is not None:
                    self._meter.add(size)
                return size
            elif not self._restart():
                if self._successor is None:
                    sleep(PERIOD)
                continue
            if self._in_line:
                view[0], self._in_line = self._terminator, False
                return 1
        return 0

    def _was_truncated(self, size):
        """Return whether what precedes the `size` bytes just read is not what was read before."""
        place = self._raw.tell()
        try:
            self._raw.seek(place - size - len(self._last))
            found = self._raw.read(len(self._last))
            self._raw.seek(place)
        except OSError as error:
            raise file_error(self.name, error) from None
        return found != self._last

    def _read_old(self, view):
        """Read lines that were written to the file before this one. Return the number of bytes."""
        if self._old is None or self._in_line:
            return 0
        try:
            place = self._old.tell()
            size = self._old.readinto(view)
            size = bytes(view[:size]).rfind(self._terminator) + 1
            self._old.seek(place + size)
        except OSError as error:
            raise file_error(self.name, error) from None
        if not size and monotonic() > self._until:
            close_file(self._old)
            self._old = None
        return size

    def _restart(self):
        """At the end of the file, begin with what comes after it. Return whether there is something."""
        try:
            opened = os.fstat(self._raw.fileno())
            if self._successor is not None:  # it was there before the end was read, so nothing was missed
                if self._old is not None:
                    close_file(self._old)
                self._old, self._until = self._raw, monotonic() + LATE
                self._raw, self._successor, self._last = self._successor, None, b""
                return True
            named = os.stat(self._path)
            if named.st_size and not os.path.samestat(named, opened):
                self._check(named)
                self._successor = open(self._path, "rb", buffering=0)  # noqa: SIM115  (__exit__ closes it)
        except FileNotFoundError:  # it may be created again
            pass
        except OSError as error:
            raise file_error(self.name, error) from None
        return False
