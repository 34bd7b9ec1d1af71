"""Inputs of functions: paths, binary files and bytes, with the name and the chunks() of streams.Input."""

import os
from contextlib import contextmanager
from io import BytesIO

from uricodec._io import compress, streams


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
        if any(0 in bytes(view[start : start + streams.CHUNK]) for start in range(0, len(view), streams.CHUNK)):
            copy = bytearray(view)
            view = memoryview(copy)[: (ends or streams.LineEnds()).keep(copy, 0, len(copy))]
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
            return streams.begin(self.name, self.read_into, view)
        return self.read_into, self.read_into(view)

    def chunks(self, buffers, ends=None, max_line=None, most_read=None):
        """Yield the file in chunks; the parameters are those of streams.chunks_of()."""
        return streams.chunks_of(self._begin, buffers, ends, max_line, most_read)


class FunctionReader:
    """Reads into a buffer what a function returns, even if that is more than requested.

    Args:
        read (Callable[[int], bytes | None]): The function.
    """

    def __init__(self, read):
        self._read, self._rest = read, memoryview(b"")

    def read_into(self, view):
        """Read at most len(view) bytes into `view`. Return their number; None: there are none now."""
        if not self._rest:
            data = self._read(len(view))
            if isinstance(data, str):
                raise TypeError('the input is open in text mode; open it in binary mode ("rb")')
            if data is None:
                return None
            self._rest = memoryview(data)
        size = min(len(self._rest), len(view))
        view[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


@contextmanager
def opened(source, name):
    """Open the argument of a function.

    Args:
        source (bytes-like | binary file | str | PathLike): The input, perhaps compressed; or the path of a file.
        name (str): What messages call it, if it has no name.

    Yields:
        streams.Input | FileInput | BytesInput: The input.

    Raises:
        TypeError: If it is something else.
        OSError: If the file cannot be opened.
    """
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb", buffering=0) as file, streams.Input(os.fsdecode(source), file=file) as found:
            yield found
        return
    name = streams.printable(str(getattr(source, "name", name)))
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
    yield BytesInput(name, view) if compress.format_of(view) is None else FileInput(name, BytesIO(view))
