"""`uricodec extract`: names that stand in anything.

What is read goes into a buffer, and all up to the last octet that no name holds is searched; the rest, where a name may
go on, moves to the front, and the next read goes behind it. So no name is cut. If the buffer is full of octets that
names may hold, only its last ones stay, enough for a name to begin in, or, if a name goes on at its end, that name is
written in pieces.
"""

from uricodec._io import streams
from uricodec.urn._find import find

# The buffer has room for so many chunks.
ROOM = 4

# What a URN may hold, by either RFC (2141 section 2.2, 8141 section 2). Every other octet ends it.
URN_OCTETS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789()+,-.:=@;$_!*'%/?#&~"

# So many octets say whether a URN begins among them: the one before it, "urn:", a NID of 32, ":" and a triplet.
ENOUGH = 41

# Stands at the front of the buffer for a URN that goes on there.
BEGUN = b"urn:nid:"


def run(arguments):
    """Write the URNs that all inputs hold.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0

    Raises:
        FileError: A file fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    names = arguments.files or ["-"]
    buffer = bytearray(ROOM * streams.CHUNK)
    with streams.Output(arguments.output) as output, streams.Meter(names, output) as meter:
        for name in names:
            with streams.Input(name, meter, output=output) as source:
                prefix = source.name.encode() + b"\t" if len(names) > 1 else b""
                extract(source, buffer, Urns(output, prefix if arguments.offsets else None))
    return 0


def extract(source, buffer, urns):
    """Write the URNs of one input.

    Args:
        source (Input): What to read.
        buffer (bytearray): Room for its chunks.
        urns (Urns): Where they go.
    """
    view = memoryview(buffer)
    read_into, end = source.begin(view[: streams.CHUNK])
    new = 0  # where what was read last starts
    while end > new:
        cut = last_end(view, new, end)
        if cut:
            urns.write(view[:cut])
            view[: end - cut] = view[cut:end]
            end -= cut
        elif end == len(buffer):
            front = urns.write_begun(view)
            view[: len(front)] = front
            end = len(front)
        new = end
        end += read_into(view[new : new + streams.CHUNK])
    urns.write(view[:end])


def last_end(view, start, end):
    """Behind the last octet of view[start:end] that no URN holds; 0 if there is none.

    >>> last_end(memoryview(b"a < urn:isbn:0"), 0, 14)
    4
    """
    for near in max(start, end - 256), start:
        size = len(bytes(view[near:end]).rstrip(URN_OCTETS))
        if size:
            return near + size
    return 0


class Urns:
    """The URNs of an input, buffer after buffer.

    Args:
        output (Output): Where they go, one a line.
        prefix (bytes | None): What stands before the offset of each; None: there are no offsets.
    """

    def __init__(self, output, prefix):
        self._output, self._prefix = output, prefix
        self._before = 0  # octets of the input before the next buffer
        self._front = 0  # octets at the front of the next buffer that are not to be searched: one of context, or BEGUN

    def write(self, view):
        """Write those of a buffer at the end of which nothing goes on."""
        self._put(view, self._find(view), b"\n")
        self._before += len(view)
        self._front = 0

    def write_begun(self, view):
        """Write those of a buffer at the end of which something may go on.

        Returns:
            bytes: What is to stand before the octets that follow.
        """
        spans = self._find(view)
        size = len(view)
        if spans and spans[-1][1] > size - 3:  # the last two octets may be a part of a triplet
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
        """Where they are; one that goes on at the front is the first, even if it ends there."""
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
