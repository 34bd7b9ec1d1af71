"""Where the records of an input begin and end: after a byte order mark, and not at a newline in quotes."""

from uricodec._io.reading import LineEnds

MARK = b"\xef\xbb\xbf"  # U+FEFF, the byte order mark


def front_of(buffer, stop):
    """Return the length of the byte order mark of an input that begins with buffer[:stop].

    >>> front_of(b"\\xef\\xbb\\xbfa", 4), front_of(b"\\xef\\xbb\\xbfa", 2)
    (3, 0)
    """
    return len(MARK) if buffer.startswith(MARK, 0, stop) else 0


class MarkedLineEnds(LineEnds):
    """Finds the ends of the lines of an input that may begin with a byte order mark.

    Args:
        terminator (bytes): The byte that ends a line.
    """

    def front(self, buffer, stop):
        may_begin_mark = stop < len(MARK) and MARK.startswith(buffer[:stop])  # only the next bytes decide
        return stop if may_begin_mark else front_of(buffer, stop)


class RecordEnds(MarkedLineEnds):
    """Finds the ends of the records of a CSV file.

    Whether a newline is one depends on all of the record before it, so the state is kept: no part is searched twice.
    """

    def __init__(self, framing):
        super().__init__(framing.end)
        self._framing = framing
        self._open = self._skipped = 0  # states of Framing.skip(): at the end of what is known; in a long record

    def last(self, buffer, start, stop):
        return self._framing.cut(buffer, start, stop)

    def cut(self, buffer, first, start, stop):
        end = 0
        if start > first:
            end, self._open = self._framing.skip(buffer, start, stop, self._open)
            if not end:
                return 0
        end = self.last(buffer, end or first, stop) or end
        _, self._open = self._framing.skip(buffer, end or first, stop, 0)
        return end

    def skip(self, buffer, start, stop):
        end, state = self._framing.skip(buffer, start, stop, self._skipped)
        self._skipped = 0 if end else state
        return end
