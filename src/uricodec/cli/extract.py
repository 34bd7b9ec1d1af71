"""`uricodec extract`: URNs or URLs in data of any kind and size, buffer by buffer.

Chunks are read into a buffer, which is searched. Where a match may go on, the rest moves to the start of the buffer,
and the next chunk is read after it. So no match is cut.
"""

from uricodec._io import streams
from uricodec.cli.lines import progress_of

# The bytes that a URN may contain, by either RFC (2141 section 2.2, 8141 section 2). Every other byte ends it.
URN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789()+,-.:=@;$_!*'%/?#&~"

# The bytes that decide whether a URN begins among them: the one before it, "urn:", a NID of 32, ":" and a triplet.
ENOUGH = 41

# The start of the buffer if a URN goes on there.
BEGUN = b"urn:nid:"

# A URL is in the buffer as a whole, up to this size. A longer one ends there.
LONGEST_URL = 1 << 20


def run(arguments):
    """Write the URNs or URLs that all inputs contain.

    Args:
        arguments (argparse.Namespace): The arguments of the command.

    Returns:
        int: 0

    Raises:
        FileError: A file cannot be read or written.
        BrokenPipeError: The output pipe is closed.
    """
    names = arguments.files or ["-"]
    kind = Urls if arguments.kind == "uri" else Urns
    buffer = bytearray(kind.capacity())
    progress = progress_of(arguments)
    with streams.Output(arguments.output) as output, streams.Meter(names, output, progress=progress) as meter:
        for name in names:
            with streams.Input(name, meter, output=output) as source:
                prefix = source.name.encode() + b"\t" if len(names) > 1 else b""
                extract(source, buffer, kind(output, prefix if arguments.offsets else None))
    return 0


def extract(source, buffer, matches):
    """Write the matches of one input.

    Args:
        source (Input): The input.
        buffer (bytearray): A buffer of the capacity that the matches need.
        matches (Matches): Where they go.
    """
    view = memoryview(buffer)
    read_into, size = source.begin(view[: streams.CHUNK])
    end = size
    while size:
        kept = matches.search(view, end - size, end)
        size = read_into(view[kept : kept + streams.CHUNK])
        end = kept + size
    matches.finish(view[:end])


class Matches:
    """Finds the matches of an input, buffer by buffer, and writes them, one per line. The base class of each kind.

    `capacity()` is the size of the buffer. `search(view, new, end)` writes the matches of view[:end] that are complete,
    moves the rest to the start, and returns its size; the last chunk is view[new:end]. `finish(view)` writes the
    matches of the rest at the end of the input.

    Args:
        output (Output): Where they go.
        prefix (bytes | None): What is written before the offset of each; None: write no offsets.
    """

    def __init__(self, output, prefix):
        self._output, self._prefix = output, prefix
        self._before = 0  # bytes of the input before the buffer

    def _write(self, view, spans, end=b"\n", begun=0):
        """Write lines of view, but for the first `begun` spans without the offset, with `end` after the last one."""
        if not spans:
            return
        data = bytes(view)
        lines = [data[start:stop] for start, stop in spans]
        if self._prefix is not None:
            for i, (start, _) in enumerate(spans[begun:], begun):
                lines[i] = b"%s%d\t%s" % (self._prefix, self._before + start, lines[i])
        self._output.write(b"\n".join(lines) + end)


class Urns(Matches):
    """URNs. The buffer is searched up to the last byte that no URN contains.

    If the whole buffer consists of bytes that a URN may contain, only its last bytes stay: enough for a URN to begin
    in. A URN that goes on at its end is written in pieces.
    """

    def __init__(self, output, prefix):
        from uricodec.urn import find

        super().__init__(output, prefix)
        self._find_urns = find
        self._front = 0  # bytes at the start of the buffer that are not searched: one of context, or BEGUN

    @staticmethod
    def capacity():
        return 4 * streams.CHUNK

    def search(self, view, new, end):
        cut = last_end(view, new, end)
        if cut:
            self.finish(view[:cut])
            view[: end - cut] = view[cut:end]
            return end - cut
        if end < len(view):
            return end
        rest = self._write_begun(view)
        view[: len(rest)] = rest
        return len(rest)

    def finish(self, view):
        """Write the URNs of a part of the input; none goes on after its end."""
        self._write(view, self._find(view), begun=self._begun())
        self._before += len(view)
        self._front = 0

    def _write_begun(self, view):
        """Write the URNs of a buffer; the last one may go on after its end. Return the start of the next buffer."""
        spans = self._find(view)
        size, begun = len(view), self._begun()
        if spans and spans[-1][1] > size - 3:  # the last two bytes may be part of a triplet
            spans[-1] = spans[-1][0], size - 2
            self._write(view, spans, b"", begun)
            rest = BEGUN + view[size - 2 :]
            self._front = len(BEGUN)
        else:
            self._write(view, spans, begun=begun)
            rest = bytes(view[max(size - ENOUGH, spans[-1][1] if spans else 0) :])
            self._front = 1
        self._before += size - len(rest)
        return rest

    def _begun(self):
        """Return whether a URN goes on at the start."""
        return self._front == len(BEGUN)

    def _find(self, view):
        """Return the spans of URNs; one that goes on at the start is the first, even if it ends there."""
        spans = self._find_urns(view)
        at_front = spans.pop(0)[1] if self._front and spans and spans[0][0] == 0 else self._front
        if self._begun():
            spans.insert(0, (self._front, at_front))
        return spans


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


class Urls(Matches):
    """URLs. One that may go on after the buffer is searched again from its start, when there is twice as much of it.

    So the time is linear, however few bytes a pipe has at a time.
    """

    def __init__(self, output, prefix):
        from uricodec.uri._components import find_part

        super().__init__(output, prefix)
        self._find_part = find_part
        self._kept = 0  # bytes at the start of the buffer that have been searched

    @staticmethod
    def capacity():
        return 2 * LONGEST_URL + streams.CHUNK

    def search(self, view, new, end):
        if end < 2 * self._kept:
            return end
        spans, rest = self._find_part(view[:end], LONGEST_URL, False)
        self._write(view[:end], spans)
        self._before += rest
        self._kept = end - rest
        view[: self._kept] = view[rest:end]
        return self._kept

    def finish(self, view):
        self._write(view, self._find_part(view, LONGEST_URL, True)[0])
