"""Temporary files. They have no name where the system can do that: nothing is left, however the process ends."""

import os
from mmap import mmap

from uricodec._io import reading
from uricodec._io.files import close_file, file_error, printable, read_at

# After so many files, references to closed ones are dropped.
FILES = 100

# The flag that opens a file without a name; 0: not supported.
TEMPORARY = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC if hasattr(os, "O_TMPFILE") else 0


def usual_folder():
    """Return the system's folder for temporary files: the choice of tempfile, but without importing it if possible."""
    guess = next((os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), "/tmp")
    if TEMPORARY and os.access(guess, os.W_OK | os.X_OK):
        return guess
    import tempfile

    try:
        return tempfile.gettempdir()
    except OSError as error:
        raise file_error("temporary files", error) from None


class Scratch:
    """The place for temporary files.

    Args:
        folder (str | None): The folder; None: the system's default.

    Attributes:
        spilled (int): The bytes of identifiers that were written to them.
    """

    def __init__(self, folder):
        self.spilled = 0
        self._files = []
        self.name = os.fspath(folder) if folder is not None else usual_folder()
        close_file(self.file())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def shown(self):
        """The folder, as a message shows it."""
        return printable(str(self.name))

    def fail(self, error):
        return file_error(self.shown, error)

    def file(self):
        """Return a new file that is deleted when it is closed."""
        file = self._open()
        if len(self._files) >= FILES:
            self._files = [each for each in self._files if not each.closed]
        self._files.append(file)
        return file

    def _open(self):
        if TEMPORARY:
            try:
                return open(os.open(self.name, TEMPORARY, 0o600), "r+b", buffering=0)
            except (OSError, ValueError):
                pass  # not supported by every file system; other errors are reported by tempfile
        import tempfile  # imported late: that takes longer than a short corpus

        try:
            return tempfile.TemporaryFile(buffering=0, prefix="uricodec-", dir=self.name)
        except (OSError, ValueError) as error:
            raise self.fail(error) from None

    def close(self):
        """Close all files."""
        for file in self._files:
            close_file(file)
        self._files = []

    def write(self, file, octets):
        """Append all of `octets`."""
        rest = memoryview(octets)
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except OSError as error:
            raise self.fail(error) from None

    def read(self, file, place, size):
        """Return the bytes of a file at a place."""
        try:
            return read_at(file, place, size, "temporary file")
        except OSError as error:
            raise self.fail(error) from None

    def mapping(self, size):
        """Return zeroed memory that is mapped to a file; the disk space is allocated."""
        file = self.file()
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                for at in range(0, size, reading.CHUNK):
                    self.write(file, bytes(min(size - at, reading.CHUNK)))
            return mmap(file.fileno(), size)
        except OSError as error:
            raise self.fail(error) from None
        finally:
            close_file(file)


class Blocks:
    """Blocks of bytes in a temporary file, which are read again by their places.

    Args:
        scratch (Scratch): The place for the file.
    """

    def __init__(self, scratch):
        self._scratch, self._file, self._size = scratch, scratch.file(), 0

    def add(self, block):
        """Write a block. Return its place."""
        place = self._size, len(block)
        try:
            self._file.seek(self._size)
        except OSError as error:
            raise self._scratch.fail(error) from None
        self._scratch.write(self._file, block)
        self._size += len(block)
        return place

    def read(self, places):
        """Yield the blocks at these places (bytes)."""
        return (self._scratch.read(self._file, *place) for place in places)

    def close(self):
        """Delete the file."""
        close_file(self._file)
