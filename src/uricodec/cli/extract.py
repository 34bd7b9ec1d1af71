"""`uricodec extract`: URNs or URLs in data of any kind and size.

The input is cut into chunks after bytes that no URN or URL contains, so that none is cut, and several threads search
the chunks. Data without such bytes for more than the size of a chunk are searched in order, by one thread, in a buffer:
where a match may go on, the rest moves to the start of the buffer, and the next data follow it.
"""

from functools import partial

from uricodec._base._text import new_buffer
from uricodec._io import reading
from uricodec._io.reading import LineEnds
from uricodec._io.runner import Runner, Worker
from uricodec.cli.lines import for_each_input
from uricodec.cli.outputs import output_of
from uricodec.cli.records import records_of

# The bytes that a URN may contain, by either RFC (2141 section 2.2, 8141 section 2). Every other byte ends it.
URN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789()+,-.:=@;$_!*'%/?#&~"

# Bytes that end a URN or URL, are not part of a character, and begin none. Most data contain one of them soon.
ENDS = b"\n", b" ", b">", b"\0"

# The bytes that decide whether a URN begins among them: the one before it, "urn:", a NID of 32, ":" and a triplet.
ENOUGH = 41

# The start of the buffer if a URN goes on there.
BEGUN = b"urn:nid:"

# A URL is in the buffer as a whole, up to this size. A longer one ends there.
LONGEST_URL = 1 << 20

# The least capacity of a chunk, see chunks_of().
LEAST = 13

# The most bytes of an offset and a tab.
OFFSET = 21

# The bytes at the start of an input that show what it is.
HEAD = 4096


def run(plan, kind, content, offsets):
    """Write the URNs or URLs that all inputs contain."""
    content = None if kind == "urn" else content
    runner = Runner(plan.thread_count(), lambda: new_buffer(2 * reading.CHUNK), capacity=max(reading.CHUNK, LEAST))
    makes_records = plan.to != "text"
    with output_of(plan, template=template_of(plan.to, b"") if makes_records else None) as output:

        def process(source):
            prefix = source.name.encode() + b"\t" if offsets and len(plan.inputs) > 1 else b""
            if makes_records:
                output.rows = template_of(plan.to, source.file_name()).rows
            prefix = prefix if offsets or makes_records else None
            runner.run(source, Extractor(content, output, prefix, kind == "web"))

        for_each_input(process, plan, output)
    return 0


def template_of(to, name):
    """Return what makes records of the lines for an input (Template): offset, tab and match."""
    return records_of(to, ("input", "offset", "match"), {"offset"}, [name])


def copier_of(content):
    """Return the function that writes the matches of a chunk as lines; `content` is that of an Extractor."""
    if content is None:
        from uricodec.urn._parse import copy_urns

        return copy_urns
    from uricodec._search._find import copy_urls

    return partial(copy_urls, content)


class MatchEnds(LineEnds):
    """Where to cut: after one of ENDS, which need not be the last or first of them."""

    def last(self, buffer, start, stop):
        return next((at + 1 for end in ENDS if (at := buffer.rfind(end, start, stop)) >= 0), 0)

    def skip(self, buffer, start, stop):
        return next((at + 1 for end in ENDS if (at := buffer.find(end, start, stop)) >= 0), 0)


class Extractor(Worker):
    """Writes the matches of an input, in order.

    Args:
        content (str | None): What to search for URLs: a value of --content; None: find URNs.
        output (Output): Where the matches go.
        prefix (bytes | None): What is written before the offset of each match; None: write no offsets.
        web (bool): Whether to find only URLs in which all parsers find the same host.
    """

    def __init__(self, content, output, prefix, web=False):
        super().__init__()
        self._content, self._output, self._prefix, self._web = content, output, prefix, web
        self._kind = None  # the class of Matches, or what makes it
        self._long = None  # the Matches of data without ENDS

    def ends(self):
        return MatchEnds()

    def prepare(self, chunk):
        if self._kind is None:
            self._choose(bytes(chunk.view[: min(chunk.size, HEAD)]))

    def _choose(self, head):
        """Choose what to find, and how, in an input that begins with `head`."""
        content = self._content
        if content == "auto":
            from uricodec._search._find import content_of

            content = content_of(head)
        self._kind = Urns if content is None else partial(Urls, content)
        self._copy = copier_of(content)

    def work(self, chunk):
        """Return the lines for a chunk (list of bytes-like)."""
        start, parts = 0, []
        longest = chunk.size + 1 + (0 if self._prefix is None else len(self._prefix) + OFFSET)
        if len(chunk.state) < longest:
            chunk.state = new_buffer(longest)
        while start < chunk.size:
            if parts:
                parts[-1] = bytes(parts[-1])
            read, written = self._copy(chunk.view[start : chunk.size], chunk.state, self._prefix, chunk.before + start)
            part = memoryview(chunk.state)[:written]
            parts.append(web_lines(part) if self._web else part)
            start += read
        return parts

    def use(self, chunk, parts, at):
        for part in parts:
            self._output.write(part)

    def use_long(self, chunk, at):
        if self._long is None:
            self._long = self._kind(WebOutput(self._output) if self._web else self._output, self._prefix, chunk.before)
        self._long.feed(chunk.view[: chunk.size])
        if chunk.ends:
            self._long.end()
            self._long = None


def web_lines(data):
    r"""Return the lines of data (bytes-like) whose URL, after any tab, has the same host for all parsers.

    >>> web_lines(b"0\thttp://a\n9\tftp://a\n")
    b'0\thttp://a\n'
    """
    from uricodec.uri import agreed_host

    found = []
    for line in bytes(data).splitlines(True):
        try:
            agreed_host(line.rpartition(b"\t")[2].removesuffix(b"\n"))
        except ValueError:
            continue
        found.append(line)
    return b"".join(found)


class WebOutput:
    """An output that gets only the URLs in which all parsers find the same host."""

    def __init__(self, output):
        self._output = output

    def write(self, data):
        """Write whole lines."""
        self._output.write(web_lines(data))


class Matches:
    """Finds the matches of long data, buffer by buffer, and writes them, one per line. The base class of each kind.

    `capacity()` is the size of the buffer. `search(view, new, end)` writes the matches of view[:end] that are complete,
    moves the rest to the start, and returns its size; the last data are view[new:end]. `finish(view)` writes the
    matches of the rest at the end of the data.

    Args:
        output (Output): Where they go.
        prefix (bytes | None): What is written before the offset of each; None: write no offsets.
        before (int): The offset of the data in the input.
    """

    def __init__(self, output, prefix, before):
        self._output, self._prefix = output, prefix
        self._before = before  # bytes of the input before the buffer
        self._buffer = new_buffer(self.capacity())
        self._size = 0  # of what is in the buffer

    def feed(self, data):
        """Search the next part of the data (memoryview)."""
        view = memoryview(self._buffer)
        while data:
            end = min(self._size + len(data), len(view))
            part, data = data[: end - self._size], data[end - self._size :]
            view[self._size : end] = part
            self._size = self.search(view, self._size, end)

    def end(self):
        """Write the matches that the end of the data decides."""
        self.finish(memoryview(self._buffer)[: self._size])

    def _write(self, lines, spans, end=b"\n", begun=0):
        """Write the matches at `spans` (list of bytes), each but the first `begun` after its offset, and `end`."""
        if not lines:
            return
        if self._prefix is not None:
            for i, (start, _) in enumerate(spans[begun:], begun):
                lines[i] = b"%s%d\t%s" % (self._prefix, self._before + start, lines[i])
        self._output.write(b"\n".join(lines) + end)


class Urns(Matches):
    """URNs. The buffer is searched up to the last byte that no URN contains.

    If the whole buffer consists of bytes that a URN may contain, only its last bytes stay: enough for a URN to begin
    in. A URN that goes on at its end is written in pieces.
    """

    def __init__(self, output, prefix, before):
        from uricodec.urn import find

        super().__init__(output, prefix, before)
        self._find_urns = find
        self._front = 0  # bytes at the start of the buffer that are not searched: one of context, or BEGUN

    @staticmethod
    def capacity():
        return 4 * reading.CHUNK

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
        self._write_spans(view, self._find(view))
        self._before += len(view)
        self._front = 0

    def _write_begun(self, view):
        """Write the URNs of a buffer; the last one may go on after its end. Return the start of the next buffer."""
        spans = self._find(view)
        size = len(view)
        if spans and spans[-1][1] > size - 3:  # the last two bytes may be part of a triplet
            spans[-1] = spans[-1][0], size - 2
            self._write_spans(view, spans, b"")
            rest = BEGUN + view[size - 2 :]
            self._front = len(BEGUN)
        else:
            self._write_spans(view, spans)
            rest = bytes(view[max(size - ENOUGH, spans[-1][1] if spans else 0) :])
            self._front = 1
        self._before += size - len(rest)
        return rest

    def _write_spans(self, view, spans, end=b"\n"):
        data = bytes(view)
        self._write([data[start:stop] for start, stop in spans], spans, end, int(self._begun()))

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
    """URLs, without escapes.

    One that may go on after the buffer is searched again from its start, when there is twice as much of it. So the time
    is linear, however few bytes a pipe has at a time.

    Args:
        content (str): "plain", "json" or "html".
        output, prefix, before: See Matches.
    """

    def __init__(self, content, output, prefix, before):
        from uricodec._search._find import find_part

        super().__init__(output, prefix, before)
        self._find_part = partial(find_part, content)
        self._kept = 0  # bytes at the start of the buffer that have been searched

    @staticmethod
    def capacity():
        return 2 * LONGEST_URL + reading.CHUNK

    def search(self, view, new, end):
        if end < 2 * self._kept:
            return end
        rest = self._find(view[:end], False)
        if 2 * (end - rest) > len(view):  # only escapes make a URL that long in the input: it ends here
            rest = self._find(view[:end], True)
        self._before += rest
        self._kept = end - rest
        view[: self._kept] = view[rest:end]
        return self._kept

    def finish(self, view):
        self._find(view, True)

    def _find(self, view, last):
        """Write the URLs of a part of the input, and return where the next part begins."""
        spans, urls, rest = self._find_part(view, LONGEST_URL, last)
        self._write(urls, spans)
        return rest
