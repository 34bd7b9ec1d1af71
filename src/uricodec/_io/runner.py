"""The loop over chunks of lines that all commands and all functions over files share.

    source -> chunks of lines -> worker -> results, in order

A Runner reads a source in chunks and hands them to a Worker: prepare() in the order of the input, work() in any thread,
use() in order again. It owns what has to do with files and threads: buffers, which bound memory, positions, and lines
that are too long. A worker owns what happens to lines. InvalidLines owns what happens to invalid ones.
"""

from uricodec._io import reading
from uricodec._io.reading import Buffers, LineEnds
from uricodec._io.reports import InvalidLine, head_of, message
from uricodec._io.workers import OrderedWorkers

# The capacity of a buffer. It grows for longer lines, up to the limit, so memory stays bounded.
CAPACITY = 2 * reading.CHUNK

# The most invalid lines that the core reports at once.
MOST_FAULTS = 16_384


class Position:
    """How far the results of an input have been used.

    Args:
        name (str): The name of the input.

    Attributes:
        name (str): As above.
        line (int): The number of the next line, from 1.
    """

    __slots__ = ("line", "name")

    def __init__(self, name):
        self.name, self.line = name, 1


class Worker:
    """What is done with the lines of an input. A line may also be a record of several lines.

    Args:
        invalid (InvalidLines | None): What happens to invalid lines; None: lines that are too long are not reported.

    Attributes:
        invalid (InvalidLines | None): As above.
        in_pieces (bool): Whether a long line may be processed in pieces.
    """

    in_pieces = False

    def __init__(self, invalid=None):
        self.invalid = invalid

    def ends(self):
        """Return the object that finds the ends of the lines of one input (LineEnds)."""
        return LineEnds()

    def prepare(self, chunk):
        """Prepare a chunk for work(); called in the order of the input, by one thread at a time.

        Args:
            chunk (Chunk): The chunk. Its `start` may be set to where the first line begins, after a header.
        """

    def work(self, chunk):
        """Return the result for a chunk (object); called in any thread. Not called for pieces unless `in_pieces`."""

    def use(self, chunk, result, at):
        """Use the result for a chunk; called in order, by one thread at a time.

        Args:
            chunk (Chunk): The chunk.
            result (object): The result of work().
            at (Position): Where the chunk is; to be moved by the number of its lines.
        """
        raise NotImplementedError

    def use_long(self, chunk, at):
        """Use a piece of a line that is too long; like use(), but the position is moved by the runner."""
        if chunk.begins and self.invalid is not None:
            self.invalid.add_long(chunk, at)

    def rest(self):
        """Return lines (bytes) that come after those of the input; they are a last chunk."""
        return b""


class Runner:
    """Runs workers over inputs, one input after another.

    Args:
        threads (int): The number of threads.
        state (Callable[[], object]): Returns the `state` of a chunk: what a thread keeps for the next one.
        max_line (int | None): The limit for the bytes of a line, without its terminator; None: the capacity, and longer
            lines are in pieces.
        capacity (int): The bytes of a buffer.
        most_read (int): The bytes that are read at once.

    >>> from uricodec._io.runner import Runner, Worker
    >>> from uricodec._io.sources import BytesInput
    >>> worker = Worker()
    >>> worker.use = lambda chunk, result, at: print(at.name, at.line, bytes(chunk.view[: chunk.size]))
    >>> Runner().run(BytesInput("<data>", memoryview(b"a\\nbc\\n")), worker)
    <data> 1 b'a\\nbc\\n'
    """

    def __init__(self, threads=1, state=lambda: None, max_line=None, capacity=CAPACITY, most_read=reading.CHUNK):
        self._workers = OrderedWorkers(threads)
        self._buffers = Buffers(capacity, state)
        self._max_line, self._most_read = max_line, most_read

    def run(self, source, worker):
        """Run a worker over an input.

        Args:
            source (Input): The input; or another object with `name` and chunks().
            worker (Worker): The worker.

        Raises:
            BaseException: What the input or the worker raises first, in the order of the input. The results of all
                chunks before it have been used.
        """
        at = Position(source.name)

        def use(chunk, result):
            self._use(worker, chunk, result, at)
            self._buffers.release(chunk)

        self._workers.run(self._chunks(source, worker), lambda chunk: self._work(worker, chunk), use)

    def steps(self, source, worker):
        """Do what run() does in this thread, and yield after each chunk that has been used."""
        at = Position(source.name)
        for chunk in self._chunks(source, worker):
            self._use(worker, chunk, self._work(worker, chunk), at)
            yield
            self._buffers.release(chunk)

    def _chunks(self, source, worker):
        """Yield the chunks of an input, each of which knows its place."""
        before = 0
        for chunk in source.chunks(self._buffers, worker.ends(), self._max_line, self._most_read):
            chunk.start, chunk.before = 0, before
            before += chunk.size
            worker.prepare(chunk)
            yield chunk
        rest = worker.rest()
        if rest:
            chunk = self._buffers.borrowing(memoryview(rest))
            chunk.start, chunk.before = 0, before
            worker.prepare(chunk)
            yield chunk

    @staticmethod
    def _work(worker, chunk):
        return worker.work(chunk) if chunk.whole or worker.in_pieces else None

    @staticmethod
    def _use(worker, chunk, result, at):
        if chunk.whole or worker.in_pieces:
            worker.use(chunk, result, at)
            return
        worker.use_long(chunk, at)
        at.line += chunk.ends


class InvalidLines:
    """What happens to the invalid lines of a run: they are counted, reported, or end it.

    Args:
        errors (str): The policy. "raise": the first one ends the run.
        fail (Callable[[str, InvalidLine], Exception]): Returns the exception for it, given the message.
        reason (Callable[[InvalidLine], str]): Returns why a line is invalid.
        report (Callable[[list[InvalidLine]], None] | None): Called with invalid lines, in order.
        max_line (int | None): The limit for the bytes of a line; None: there is none.
        counts (bool): Whether `codes` is needed.
        wanted (int | None): How many are reported; of the others, only examples need to be. None: all of them.

    Attributes:
        errors (str): As above.
        count (int): How many there are.
        codes (dict[str, int]): How many of each code.
        first (tuple[InvalidLine, int] | None): The first one that was taken, and the bytes of the input before it.
        max_line (int | None): As above.
        limit (int): How many the core should return at once; 0: none.
    """

    def __init__(self, errors, fail, reason, report=None, max_line=None, counts=False, wanted=None):  # noqa: PLR0913, PLR0917
        self.errors, self.count, self.codes, self.first = errors, 0, {}, None
        self.limit = MOST_FAULTS if report or counts else 0
        self.max_line, self._fail, self._reason, self._report, self._wanted = max_line, fail, reason, report, wanted

    @property
    def examples_suffice(self):
        """Whether of further lines, only the first ones of each code in some lines are needed (bool)."""
        return self._wanted is not None and self.count >= self._wanted

    def add(self, count, faults, lines, before, at, others=None):  # noqa: PLR0913, PLR0917
        """Take the invalid ones of some lines.

        Args:
            count (int): How many there are.
            faults (list[LineFault]): Those of them that the core returned; with "raise", the last one ends the run.
            lines (memoryview): The lines.
            before (int): The number of bytes of the input before them.
            at (Position): The number of the first line.
            others (dict[str, int] | None): The numbers of those that the core did not return, by code.
        """
        if count and self.errors == "raise":
            fault = faults[-1]
            raise self.failure(self._line(fault, lines, at), before + fault.start)
        self.count += count
        if self.limit and faults:
            self._take([self._line(fault, lines, at) for fault in faults], before + faults[0].start)
        for code, more in (others or {}).items():
            self.codes[code] += more

    def add_long(self, chunk, at):
        """Take a line that is too long, given its first piece."""
        head = head_of(chunk.view[chunk.start : chunk.size])
        self.add_line(InvalidLine(at.name, at.line, self.max_line, "too-long", head), chunk.before + chunk.start)

    def add_line(self, line, before):
        """Take an InvalidLine; there are `before` bytes of the input before it."""
        if self.errors == "raise":
            raise self.failure(line, before)
        self.count += 1
        self._take([line], before)

    def _take(self, lines, before):
        self.first = self.first or (lines[0], before)
        for line in lines:
            self.codes[line.code] = self.codes.get(line.code, 0) + 1
        if self._report:
            self._report(lines)

    @staticmethod
    def _line(fault, lines, at):
        text = bytes(lines[fault.start : fault.stop])
        text = head_of(text) if fault.code == "too-long" else text
        return InvalidLine(at.name, at.line + fault.line, fault.offset, fault.code, text)

    def failure(self, line, before):
        """Return the exception for an InvalidLine, given the number of bytes of the input before it."""
        return self._fail(self.message(line, before), line)

    def message(self, line, before):
        """Return the message for an InvalidLine."""
        return message(line.input, line.line, line.offset, before, self.why(line))

    def why(self, line):
        """Return why a line is invalid (str)."""
        if line.code == "too-long":
            return f"line is longer than {self.max_line} bytes"
        return self._reason(line)
