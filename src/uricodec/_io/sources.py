"""Inputs of functions: paths, binary files and bytes, with the name and the chunks() of Input.

Files with lists and settings are opened by open_soon(): a command needs them before its inputs.
"""

import os
from contextlib import contextmanager
from functools import partial
from io import BytesIO, RawIOBase
from stat import S_ISFIFO
from time import monotonic, sleep

from uricodec._io import magic, reading
from uricodec._io.files import FileError, descriptor_of, printable
from uricodec._io.reading import Ahead, Input, LineEnds, begin, chunks_of

# Seconds to wait for the writer of a named pipe with a list or settings, and between two looks for it.
WRITER_DELAY = 5.0
WRITER_PERIOD = 0.01


class BytesInput:
    """Lines in memory: one chunk, which is not copied.

    Args:
        name (str): What messages call it.
        view (memoryview): The lines.
    """

    def __init__(self, name, view):
        self.name, self._view = name, view

    def chunks(self, buffers, ends=None, _max_line=None, _most_read=None):
        """Yield the only chunk, if there are lines."""
        view = self._view
        if any(0 in bytes(view[start : start + reading.CHUNK]) for start in range(0, len(view), reading.CHUNK)):
            copy = bytearray(view)
            view = memoryview(copy)[: (ends or LineEnds()).keep(copy, 0, len(copy))]
        return iter([buffers.borrowing(view)] if view else [])


class FileInput:
    """A binary file of the caller, which is not closed.

    Args:
        name (str): What messages call it.
        file (binary file): The file.
        compressed (bool): Whether it may be compressed.
    """

    def __init__(self, name, file, compressed=True):
        self.name, self._compressed = name, compressed
        self._read_into = file.readinto if hasattr(file, "readinto") else FunctionReader(file.read).read_into

    def read_into(self, view):
        """Read at most len(view) bytes into `view`. Return their number; 0 at the end."""
        size = self._read_into(view)
        if size is None:
            raise BlockingIOError("the input is non-blocking and has no data now")
        return size

    def _begin(self, view):
        if self._compressed:
            return begin(self.name, self.read_into, view)
        return self.read_into, self.read_into(view)

    def chunks(self, buffers, ends=None, max_line=None, most_read=None):
        """Yield the file in chunks; the parameters are those of chunks_of()."""
        return chunks_of(self._begin, buffers, ends, max_line, most_read)


class FunctionReader:
    """Reads into a buffer what a function returns, even if that is more than requested.

    Args:
        read (Callable[[int], bytes | None]): The function.
    """

    def __init__(self, read):
        self._read, self._ahead = read, Ahead()

    def read_into(self, view):
        """Read at most len(view) bytes into `view`. Return their number; None: there are none now."""
        if size := self._ahead.read_into(view):
            return size
        data = self._read(len(view))
        if isinstance(data, str):
            raise TypeError('the input is open in text mode; open it in binary mode ("rb")')
        if data is None:
            return None
        self._ahead = Ahead(data)
        return self._ahead.read_into(view)


class PipeFile(RawIOBase):
    """A pipe of which some bytes were read already.

    Args:
        file (io.FileIO): The pipe, which close() closes.
        head (bytes): The bytes.
    """

    def __init__(self, file, head):
        super().__init__()
        self._file, self._ahead = file, Ahead(head)

    def readinto(self, view):
        """Read at most len(view) bytes into `view`. Return their number; 0 at the end."""
        return self._ahead.read_into(view) or self._file.readinto(view)

    def readable(self):
        return True

    def fileno(self):
        return self._file.fileno()

    def close(self):
        self._file.close()
        super().close()


def open_soon(path):
    """Open a file that is needed at once, such as a list or settings, for reading without a buffer.

    A named pipe may get its writer a moment later. One without a writer for WRITER_DELAY seconds is an error: a process
    that waits for it would look as if it worked.

    Args:
        path (str | PathLike): The path of the file.

    Raises:
        OSError: If the file cannot be opened, or is a named pipe without a writer.
        ValueError: If the path contains NUL.
    """
    file = open(path, "rb", buffering=0, opener=without_waiting)  # noqa: SIM115  (the caller closes it)
    try:
        head = b""
        is_pipe = S_ISFIFO(os.fstat(file.fileno()).st_mode) and descriptor_of(os.fsdecode(path)) is None
        if is_pipe:
            head = _first_of_pipe(file, path)
        if hasattr(os, "O_NONBLOCK"):
            os.set_blocking(file.fileno(), True)
    except BaseException:
        file.close()
        raise
    return PipeFile(file, head) if is_pipe else file


def without_waiting(path, flags):
    """Open a file for open(): a named pipe without waiting for its writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _first_of_pipe(file, path):
    """Wait until a named pipe has a writer. Return what was read of it: at most a byte.

    Without a writer, a read returns no bytes; with one that has not written yet, it returns None.
    """
    end = monotonic() + WRITER_DELAY
    while (head := file.read(1)) == b"":
        if monotonic() > end:
            raise FileError(printable(os.fsdecode(path)), "named pipe without a writer")
        sleep(WRITER_PERIOD)
    return head or b""


open_raw = partial(open, mode="rb", buffering=0)


@contextmanager
def opened(source, name, open_path=open_raw):
    """Open the argument of a function.

    Args:
        source (bytes-like | binary file | str | PathLike): The input, perhaps compressed; or the path of a file.
        name (str): What messages call it, if it has no name.
        open_path (Callable): Opens a path: open_soon, or open_raw, which waits for the writer of a pipe for ever.

    Yields:
        Input | FileInput | BytesInput: The input.

    Raises:
        TypeError: If it is something else.
        OSError: If the file cannot be opened.
    """
    if isinstance(source, (str, os.PathLike)):
        with open_path(source) as file, Input(os.fsdecode(source), file=file) as found:
            yield found
        return
    name = printable(str(getattr(source, "name", name)))
    if hasattr(source, "read"):
        yield FileInput(name, source)
        return
    try:
        view = memoryview(source)
    except TypeError:
        raise TypeError(f"expected a path, a binary file or a bytes-like, got {type(source).__name__}") from None
    if view.format.lstrip("@=<>!") not in ("B", "b", "c"):
        raise TypeError(f"expected a buffer of bytes, got items of format {view.format!r}")
    view = view.cast("B")
    yield BytesInput(name, view) if magic.format_of(view) is None else FileInput(name, BytesIO(view))
