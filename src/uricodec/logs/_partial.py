"""The lines of a log of Kubernetes that the container runtime splits, joined again."""

import re
from collections import deque

from uricodec.logs._wrapping import find_parts

# Kubernetes CRI: a part of a line ("P"), or its last or only part ("F").
CRI = re.compile(rb"(.{4}-..-..T..:..:..[^ ]* (std(?:out|err)) )([PF]) ", re.DOTALL)

NEWLINE = re.compile(rb"\n")

# One of so many lines at the start of a log of Kubernetes is in this form.
FIRST = 8


class PartialLines:
    """The parts of lines in a log of Kubernetes, which the container runtime splits.

    Args:
        max_line (int): The longest valid line, in bytes. No more than that is kept of a line.

    Attributes:
        changes (deque[tuple[int, int]]): Numbers of lines after joining, and how many more, or fewer, lines of the log
            than that precede them.
    """

    def __init__(self, max_line: int) -> None:
        self.changes: deque[tuple[int, int]] = deque()
        self._max_line = max_line
        self._lines = 0  # after joining
        self._found, self._left = False, FIRST  # whether the log is one of Kubernetes; lines that may still show it
        self._parts: dict[bytes, bytearray] = {}  # by stream

    def join(self, data: memoryview) -> bytes | None:
        """Return lines whose parts are joined; None if nothing has to be joined."""
        if self._left:
            self._look(data)
        if not self._found and not self._left:
            return None
        count, has_parts = find_parts(data)
        if not self._found or not (self._parts or has_parts):
            self._lines += count
            return None
        lines = bytes(data).split(b"\n")
        end = [lines.pop()] if not lines[-1] else []
        joined = []
        for line in lines:
            found = CRI.match(line) if self._fits(len(line), line[-1:]) else None
            if found is None or (found[3] == b"F" and found[2] not in self._parts):
                joined.append(line)
                continue
            start = len(found[0]) if found[2] in self._parts else 0
            parts = self._parts.setdefault(found[2], bytearray())
            parts += line[start : start + self._max_line + 1 - len(parts)]
            if found[3] == b"P":
                self.changes.append((self._lines + len(joined), 1))
            else:
                joined.append(self._whole(found[2]))
        self._lines += len(joined)
        return b"\n".join([*joined, *end])

    def _look(self, data: memoryview) -> None:
        """Find out whether the log is one of Kubernetes."""
        at = 0
        while self._left and at < len(data):
            found = NEWLINE.search(data, at)
            end = found.start() if found else len(data)
            if self._fits(end - at, bytes(data[max(at, end - 1) : end])) and CRI.match(data, at):
                self._found = True
            at = end + 1
            self._left -= 1

    def _fits(self, size: int, last: bytes) -> bool:
        """Return whether a line that ends in this byte is not too long."""
        return size - (last == b"\r") <= self._max_line

    def rest(self) -> bytes:
        """Return the lines whose last part is missing."""
        self.changes.append((self._lines, -len(self._parts)))
        return b"\n".join([self._whole(stream) for stream in list(self._parts)])

    def skip(self, lines: int) -> None:
        """Count lines that are not joined, because they are too long."""
        self._lines += lines
        self._left = max(self._left - lines, 0)

    def _whole(self, stream: bytes) -> bytes:
        """Return a line in the form of one that was not split."""
        line = bytes(self._parts.pop(stream))
        return CRI.sub(rb"\1F ", line, count=1)
