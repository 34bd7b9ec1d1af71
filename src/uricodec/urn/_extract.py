"""URNs in data of any kind and size, buffer by buffer.

Chunks are read into a buffer. It is searched up to the last byte that no URN contains; the rest, where a URN may go on,
moves to the start of the buffer, and the next chunk is read after it. So no URN is cut. If the whole buffer consists of
bytes that a URN may contain, only its last bytes stay: enough for a URN to begin in. A URN that goes on at its end is
written in pieces.
"""

from uricodec._io import streams
from uricodec.urn._parse import find

# The capacity of the buffer, in chunks.
CAPACITY = 4

# The bytes that a URN may contain, by either RFC (2141 section 2.2, 8141 section 2). Every other byte ends it.
URN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789()+,-.:=@;$_!*'%/?#&~"

# The bytes that decide whether a URN begins among them: the one before it, "urn:", a NID of 32, ":" and a triplet.
ENOUGH = 41

# The start of the buffer if a URN goes on there.
BEGUN = b"urn:nid:"


def extract(source, buffer, urns):
    """Write the URNs of one input.

    Args:
        source (Input): The input.
        buffer (bytearray): A buffer of CAPACITY chunks.
        urns (Urns): Where the URNs go.
    """
    view = memoryview(buffer)
    read_into, end = source.begin(view[: streams.CHUNK])
    new = 0  # the offset of the last chunk
    while end > new:
        cut = last_end(view, new, end)
        if cut:
            urns.write(view[:cut])
            view[: end - cut] = view[cut:end]
            end -= cut
        elif end == len(buffer):
            start = urns.write_begun(view)
            view[: len(start)] = start
            end = len(start)
        new = end
        end += read_into(view[new : new + streams.CHUNK])
    urns.write(view[:end])


def last_end(view, start, end):
    """Return the end of the last byte of view[start:end] that no URN contains; 0 if there is none.

    >>> last_end(memoryview(b"a < urn:isbn:0"), 0, 14)
    4
    """
    for near in max(start, end - 256), start:
        size = len(bytes(view[near:end]).rstrip(URN_BYTES))
        if size:
            return near + size
    return 0


class Urns:
    """Finds the URNs of an input, buffer by buffer, and writes them, one per line.

    Args:
        output (Output): Where they go.
        prefix (bytes | None): What is written before the offset of each; None: write no offsets.
    """

    def __init__(self, output, prefix):
        self._output, self._prefix = output, prefix
        self._before = 0  # bytes of the input before the next buffer
        self._front = 0  # bytes at the start of the next buffer that are not searched: one of context, or BEGUN

    def write(self, view):
        """Write the URNs of a buffer; none goes on after its end."""
        self._put(view, self._find(view), b"\n")
        self._before += len(view)
        self._front = 0

    def write_begun(self, view):
        """Write the URNs of a buffer; the last one may go on after its end.

        Returns:
            bytes: The start of the next buffer.
        """
        spans = self._find(view)
        size = len(view)
        if spans and spans[-1][1] > size - 3:  # the last two bytes may be part of a triplet
            spans[-1] = spans[-1][0], size - 2
            self._put(view, spans, b"")
            rest = BEGUN + view[size - 2 :]
            self._front = len(BEGUN)
        else:
            self._put(view, spans, b"\n")
            rest = bytes(view[max(size - ENOUGH, spans[-1][1] if spans else 0) :])
            self._front = 1
        self._before += size - len(rest)
        return rest

    def _find(self, view):
        """Return the spans of URNs; one that goes on at the start is the first, even if it ends there."""
        spans = find(view)
        at_front = spans.pop(0)[1] if self._front and spans and spans[0][0] == 0 else self._front
        if self._front == len(BEGUN):
            spans.insert(0, (self._front, at_front))
        return spans

    def _put(self, view, spans, end):
        if not spans:
            return
        data = bytes(view)
        lines = [data[start:stop] for start, stop in spans]
        if self._prefix is not None:
            begun = self._front == len(BEGUN)
            for i, (start, _) in enumerate(spans[begun:], begun):
                lines[i] = b"%s%d\t%s" % (self._prefix, self._before + start, lines[i])
        self._output.write(b"\n".join(lines) + end)
