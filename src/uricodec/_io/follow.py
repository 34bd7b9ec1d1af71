"""Reading a file that grows, as `tail -F` does.

At the end of the file the reader looks every 0.2 seconds for one of these:

- The file has grown: what is new is read.
- The file is shorter than what was read, because it was truncated (copytruncate of logrotate): reading starts again.
- Its name refers to another file, because it was rotated: the old file is read to its end, then the new one. This is
  when the new file is not empty: until then, programs may still write to the old one.
"""

import os
from stat import S_ISREG
from time import sleep

from uricodec._io import compress, streams

PERIOD = 0.2


class FollowedInput(streams.Input):
    r"""A file that is read as chunks of lines while it grows, across rotation.

    A line is part of a chunk when its terminator is in the file. If a file ends within a line and is then truncated or
    rotated, the terminator is added, so that two lines are never joined. Lines that are overwritten before they were
    read are lost, also if a truncated file has become as long as before in less than the period.

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
    >>> with NamedTemporaryFile() as file, FollowedInput(file.name) as source:
    ...     chunks = source.chunks(streams.Buffers(100))
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
        self._successor = None  # the new file, after a rotation

    def __enter__(self):
        if self._path == "-":
            raise streams.FileError(self.name, "cannot be followed")
        try:
            self._check(os.stat(self._path))  # before it is opened: opening a pipe would wait for its writer
        except (OSError, ValueError) as error:  # ValueError: a name with NUL
            raise streams.failure(self.name, error) from None
        super().__enter__()
        head = bytearray(compress.LONGEST)
        if compress.format_of(head[: self._read(head)]):
            self.__exit__()
            raise streams.FileError(self.name, "compressed files cannot be followed")
        self.resume(0)
        return self

    def __exit__(self, *exception):
        super().__exit__(*exception)
        if self._successor is not None:
            streams.close(self._successor)

    def _check(self, status):
        if not S_ISREG(status.st_mode):
            raise streams.FileError(self.name, "only regular files can be followed")

    def _read(self, view):
        try:
            return self._raw.readinto(view)
        except OSError as error:
            raise streams.failure(self.name, error) from None

    def read_into(self, view):
        """Read at most len(view) bytes into `view`, waiting for them. Return their number; 0 if `stop` says so."""
        while not self._stop():
            size = self._read(view)
            if size:
                self._in_line = view[size - 1] != self._terminator
                if self._meter is not None:
                    self._meter.add(size)
                return size
            if self._restart():
                if self._in_line:
                    view[0], self._in_line = self._terminator, False
                    return 1
            elif self._successor is None:
                sleep(PERIOD)
        return 0

    def _restart(self):
        """At the end of the file, begin with what comes after it. Return whether there is something."""
        try:
            opened = os.fstat(self._raw.fileno())
            if self._successor is not None:  # it was there before the end was read, so nothing was missed
                streams.close(self._raw)
                self._raw, self._successor = self._successor, None
                return True
            if opened.st_size < self._raw.tell():
                self._raw.seek(0)
                return True
            named = os.stat(self._path)
            if named.st_size and not os.path.samestat(named, opened):
                self._check(named)
                self._successor = open(self._path, "rb", buffering=0)  # noqa: SIM115  (__exit__ closes it)
        except FileNotFoundError:  # it may be created again
            pass
        except OSError as error:
            raise streams.failure(self.name, error) from None
        return False
