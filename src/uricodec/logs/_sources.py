"""What functions read: one log, several of them, or lines."""

import os
from collections.abc import Iterable, Iterator
from errno import ENOENT
from typing import Any

PATTERN = "*?["


def sources_of(source: Any) -> Iterator[Any]:
    """Yield what `uricodec._io.sources.opened` opens, one after the other.

    Args:
        source (bytes-like | binary file | str | PathLike | Iterable): A log, its path, or a pattern such as
            "logs/*.gz"; several paths or patterns; or lines, which are bytes or str, see _is_line().

    Raises:
        FileNotFoundError: If no file matches a pattern.
        TypeError: If it is something else, or paths and lines are mixed.
        ValueError: If there is no path and no line.

    >>> [source] = sources_of(["a\\n", "b\\n"])
    >>> source.read(100)
    b'a\\nb\\n'
    """
    if isinstance(source, str | os.PathLike):
        yield from _files(source)
    elif hasattr(source, "read") or _has_buffer(source) or not isinstance(source, Iterable):
        yield source
    else:
        items = iter(source)
        first = next(items, None)
        if first is None:
            raise ValueError("expected a path or a line, got none: the list is empty")
        if isinstance(first, os.PathLike) or (isinstance(first, str) and not _is_line(first)):
            for path in (first, *items):
                if not isinstance(path, str | os.PathLike):
                    raise TypeError(f"expected a path like those before, got {type(path).__name__}")
                yield from _files(path)
        else:
            yield Lines(first, items)


def _is_line(text: str) -> bool:
    """Return whether the first of several texts is a line: it ends with a newline, or has a blank and names no file."""
    if text.endswith("\n") or not text:
        return True
    has_blank = " " in text or "\t" in text or text.startswith("{")
    return has_blank and not os.path.lexists(text)


def _has_buffer(source: Any) -> bool:
    try:
        memoryview(source)
    except TypeError:
        return False
    return True


def _files(path: str | os.PathLike[str]) -> Iterator[str | os.PathLike[str]]:
    """Yield a path, or the files that match it as a pattern."""
    if not isinstance(path, str) or not any(each in path for each in PATTERN) or os.path.lexists(path):
        yield path
        return
    from glob import glob

    found = sorted(each for each in glob(path, recursive=True) if not os.path.isdir(each))
    if not found:
        raise FileNotFoundError(ENOENT, "no file matches", path)
    yield from found


class Lines:
    """Lines as a binary file.

    Args:
        first (bytes-like | str): The first line.
        others (Iterator): Those after it.
    """

    name = "<lines>"

    def __init__(self, first: Any, others: Iterator[Any]) -> None:
        self._first: Any = first
        self._others = others

    def read(self, size: int) -> bytes:
        """Return whole lines of `size` bytes or a little more; nothing at the end."""
        lines: list[bytes] = []
        if self._first is not None:
            lines.append(self._line(self._first))
            self._first = None
        left = size - sum(map(len, lines))
        while left > 0 and (line := next(self._others, None)) is not None:
            lines.append(self._line(line))
            left -= len(lines[-1])
        return b"".join(lines)

    @staticmethod
    def _line(line: Any) -> bytes:
        if isinstance(line, str):
            line = line.encode("utf-8", "surrogateescape")
        elif not _has_buffer(line):
            raise TypeError(f"expected a path, or lines as bytes or str, got {type(line).__name__}")
        line = bytes(line)
        return line if line.endswith(b"\n") else line + b"\n"
