"""Lines in, lines out: what the commands over lines share, whatever they do with one.

Chunks of whole lines go through a worker, which has the core do it. Python looks only at the lines of which it is to be
said what is wrong.
"""

from collections import namedtuple

from uricodec._io import streams
from uricodec._io.workers import OrderedWorkers, threads_for
from uricodec._rows._lines import transform_lines
from uricodec._rows.reports import InvalidLine, head_of, invalid_lines, message
from uricodec.cli.errors import CommandError

# The buffer has room for so many chunks. For longer lines it grows, up to --max-line: memory stays bounded.
ROOM = 4

# So many faults are fetched at once.
FAULTS = 16_384

# The result of a chunk that a thread may have before its turn comes is at most so many chunks long.
AHEAD = 8

# So many groups of valid lines are counted by name. Of twice as many, the rarer half is put together.
GROUPS = 5000


class Worker:
    """What is done with lines: the part of a command that it has for itself. Records may be lines, too.

    Attributes:
        groups (str | None): What valid lines are counted by.
        header (bytes): What stands before the first line of the output.
        end (bytes): What ends a line of the input,
        out (bytes): and of the output.
        whole (bool): Whether each line that is written has its end.
        empty (bytes): What stands for a line without anything in it.
        in_pieces (bool): Whether work() may be given a long line in pieces: their results are the result of the line.
    """

    groups: str | None = None
    header = b""
    end = out = b"\n"
    whole = raw = in_pieces = False
    empty = b""

    def clone(self):
        """Return a worker that does the same in another thread: it has a buffer of its own for what work() returns.

        The buffer is large enough for the result of a whole chunk: only what does not fit waits for the thread's turn.
        """
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._room = bytearray(max(len(self._room), AHEAD * streams.CHUNK))
        return clone

    def begin(self, chunk, name):
        """Read what stands before the lines of an input.

        Args:
            chunk (Chunk): The first of the input.
            name (str): Of the input, for messages.

        Returns:
            int: How many octets that are: nothing, or one line.
        """
        return 0

    def header_of(self, chunk, size):
        """What to write for these octets (bytes), if begin() has found any."""
        raise NotImplementedError

    def ends(self):
        """Return what finds the ends of the lines of one input (LineEnds)."""
        return streams.LineEnds(self.end)

    def finish(self):
        """See, when all inputs have been read, whether what was asked for was there.

        Raises:
            CommandError: It was not.
        """

    def work(self, lines, errors, limit):
        """Do it with lines, as far as that goes at once.

        Args:
            lines (memoryview): Whole lines, or the last one of the input.
            errors (str): How invalid ones are handled: "keep", "replace", "null", "drop" or "raise".
            limit (int): At least so many faults are to be found; 0: none.

        Returns:
            tuple[int, Lines, memoryview]: How many octets have been read, whole lines; what the core says of these: all
                their faults, unless none were to be found; and what is to be written, valid until the next call. With
                errors="raise", the last fault is that of a line that has not been read.
        """
        raise NotImplementedError

    def group(self, lines, found):
        """What the valid lines among these are counted by: an iterable of bytes, one for each. `found` is of work()."""
        raise NotImplementedError

    def reason(self, code):
        """A code in words, for the line that fails."""
        raise NotImplementedError

    def record(self, code, offset):
        """What is written for a line that is refused, in place of the line or of nothing; None: no such thing."""


class Rows(Worker):
    """Lines as rows of an operation.

    Args:
        rows (RowOperation): The operation.
        terminator (bytes): What ends a line.
        raw (bool): Whether a last line without anything in it gets no terminator.
        in_pieces (bool): Whether a long line may be done in pieces.
        groups (str | None): What valid lines are counted by.
        group_rows (RowOperation | None): What leaves that of a line; None: `rows` does.
    """

    def __init__(self, rows, terminator=b"\n", raw=False, in_pieces=False, groups=None, group_rows=None):  # noqa: PLR0913, PLR0917
        self._rows, self._group_rows = rows, group_rows
        self.end = self.out = terminator
        self.raw, self.in_pieces, self.groups = raw, in_pieces, groups
        self._room = bytearray(3 * streams.CHUNK)
        if hasattr(rows, "record"):
            self.header, self.record = rows.header, rows.record

    def work(self, lines, errors, limit):
        while True:
            read, found = transform_lines(lines, self._room, self._rows, self.end, errors, limit)
            if read or found.invalid or not len(lines):
                return read, found, memoryview(self._room)[: found.written]
            size = bytes(lines).find(self.end) + 1 or len(lines)  # there is no room for the first line
            self._room = bytearray(self._rows.room(size, errors))

    def group(self, lines, found):
        if self._group_rows is None:
            names = memoryview(self._room)[: found.written]
        else:
            names = bytearray(self._group_rows.room(len(lines)))
            _, written = transform_lines(lines, names, self._group_rows, self.end, "drop", 0)
            del names[written.written :]
        names = bytes(names).replace(self.end, b"\n").splitlines()
        return names + (found.lines - found.invalid - len(names)) * [b""]  # the last line may lack its terminator

    def reason(self, code):
        return self._rows.reason(code)


def filter_inputs(worker, arguments):
    """Send all inputs through a worker.

    Args:
        worker (Worker): What to do with the lines.
        arguments (argparse.Namespace): With files, output, errors, invalid_to, stats and max_line.

    Returns:
        int: 0

    Raises:
        CommandError: Of status 1 for a line that is refused with --errors raise, 2 if two files are one.
        FileError: A file fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    refuse_same_file(arguments)
    if arguments.invalid_to is None:
        with streams.Output(arguments.output) as output:
            run(worker, arguments, arguments.errors, output, None)
    else:
        with streams.Output(arguments.output) as output, streams.Output(arguments.invalid_to) as rejects:
            run(worker, arguments, arguments.errors, output, rejects)
    return 0


def refuse_same_file(arguments):
    """Refuse outputs that would overwrite each other, or an input; but what the output is may have been the input."""
    taken = {}
    for option in "output", "groups", "invalid_to":
        path = getattr(arguments, option, None)
        if (path is not None or option == "output") and (place := streams.place_of(path)):
            name = f"--{option.replace('_', '-')}"
            if place in taken:
                raise CommandError(f"{taken[place]} and {name} are the same file", 2)
            taken[place] = name
    inputs = [*arguments.files, *(getattr(arguments, "against", None) or [])]
    for place in {streams.place_of(name) for name in inputs if name != "-"} & taken.keys():
        if taken[place] != "--output":
            raise CommandError(f"{taken[place]} is an input", 2)


def check_inputs(worker, arguments):
    """Write what is wrong with the lines of all inputs.

    Args:
        worker (Worker): What refuses them.
        arguments (argparse.Namespace): With files, output, stats and max_line.

    Returns:
        int: 0 if every line is valid, else 1.

    Raises:
        FileError: A file fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    with streams.Output(arguments.output) as rejects:
        return 1 if run(worker, arguments, "drop", None, rejects) else 0


def run(worker, arguments, errors, output, rejects):
    """Send all inputs through a LineFilter. Returns how many lines are invalid."""
    names = arguments.files or ["-"]
    tally = Tally(worker.groups) if arguments.stats else None
    threads = arguments.jobs or threads_for(names)
    lines = LineFilter(worker, errors, output, rejects, tally, arguments.max_line)
    workers = OrderedWorkers(threads)
    buffers = streams.Buffers(
        (1 if worker.in_pieces else ROOM) * streams.CHUNK, worker.clone if threads > 1 else lambda: worker
    )
    if output:
        output.end = worker.out[0]
        output.write(worker.header)
    with streams.Meter(names, output or rejects) as meter:
        for name in names:
            with streams.Input(name, meter, output=output or rejects) as source:
                lines.filter(source, workers, buffers)
    if tally:
        tally.show()
    worker.finish()
    return lines.invalid


Piece = namedtuple("Piece", ["start", "read", "found", "written", "groups"])
Piece.__doc__ = "What has been done with some lines of a chunk."


class LineFilter:
    """Lines in, what a worker makes of them out.

    Args:
        worker (Worker): What to do with them.
        errors (str): How invalid ones are handled: "keep", "replace", "null", "drop" or "raise".
        output (Output | None): Where the lines go.
        rejects (Output | None): Where it is written what is wrong with the invalid ones.
        tally (Tally | None): What counts them.
        max_line (int): Bytes that a line may have, unless the worker takes it in pieces.

    Attributes:
        invalid (int): How many are.
    """

    def __init__(self, worker, errors, output, rejects, tally, max_line):  # noqa: PLR0913, PLR0917
        self._worker, self._errors = worker, errors
        self._max_line = None if worker.in_pieces else max_line
        self._output, self._rejects, self._tally = output, rejects, tally
        self._faults = FAULTS if rejects or tally else 0
        self.invalid = 0

    def filter(self, source, workers, buffers):
        """Filter one input. If what was written before lacks its last newline, it gets one.

        Args:
            source (Input): What to read.
            workers (OrderedWorkers): The threads that work on it.
            buffers (Buffers): The chunks to read into; the state of each is a Worker.

        Raises:
            CommandError: An invalid line, with --errors raise.
            FileError: A file fails.
            BrokenPipeError: Nobody reads the output any more.
        """
        self._name = source.name
        self._line, self._before = 1, 0  # at the front of the chunk: number of the line, octets of the input before it
        self._piece_start, self._piece_invalid = 0, False  # of a line in pieces: where the next one begins in it
        apart = self._output is None or not self._output.in_line

        def use(chunk, piece):
            nonlocal apart
            if not apart:
                self._output.write(self._worker.out)
                apart = True
            self._write_chunk(chunk, piece)
            self._before += chunk.size
            buffers.release(chunk)

        workers.run(self._chunks(source, buffers), self._begin, use)

    def _chunks(self, source, buffers):
        """Yield the chunks of an input; `start` of the first one is after the header, which is not worked on."""
        begun = False
        for chunk in source.chunks(buffers, self._worker.ends(), self._max_line):
            chunk.start = 0 if begun else self._worker.begin(chunk, self._name)
            chunk.header, begun = chunk.start, True
            yield chunk

    def _begin(self, chunk):
        """Work on the lines of a chunk, as far as that goes at once: memory stays flat. The rest waits for its turn."""
        if chunk.start < chunk.size and (chunk.whole or self._worker.in_pieces):
            return self._work(chunk, chunk.start)
        return None

    def _work(self, chunk, start):
        """Work on the lines from an offset on, and return a Piece."""
        worker, lines = chunk.state, chunk.view[start : chunk.size]
        read, found, written = worker.work(lines, self._errors, self._faults)
        groups = worker.group(lines[:read], found) if self._tally and worker.groups else ()
        return Piece(start, read, found, written, groups)

    def _write_chunk(self, chunk, piece):
        """Write the result of a chunk, of which the first Piece is known."""
        if chunk.header and self._output:
            self._output.write(self._worker.header_of(chunk, chunk.header))
        if not (chunk.whole or self._worker.in_pieces):
            self._reject_long(chunk)
            return
        # The header may be a byte order mark alone.
        self._line += chunk.header > 0 and chunk.buffer[chunk.header - 1] == self._worker.end[0]
        while piece:
            self._account(chunk, piece)
            end = piece.start + piece.read
            piece = self._work(chunk, end) if end < chunk.size else None

    def _reject_long(self, chunk):
        """Handle a line that is longer than allowed as any invalid line: this is a piece of it."""
        offset, piece = self._max_line, chunk.view[chunk.start : chunk.size]
        if chunk.begins:
            if self._errors == "raise":
                self._fail(chunk.start, offset, f"the line is longer than {offset} bytes (--max-line)")
            self.invalid += 1
            self._report(["too-long"], [InvalidLine(self._name, self._line, offset, "too-long", head_of(piece))])
        record = self._worker.record("too-long", offset)
        if self._errors in ("keep", "replace") and record is None:
            self._write(piece, piece, chunk.ends)
        elif self._errors != "drop":
            written = (record or self._worker.empty) if chunk.begins else b""
            if chunk.ends:
                written += self._worker.out if self._worker.whole else terminator_of(piece, self._worker.end)
            self._write(piece, written, chunk.ends)
        self._line += chunk.ends

    def _account(self, chunk, piece):
        """Write what has become of lines, and count them."""
        start, read, found = piece.start, piece.read, piece.found
        self._write(chunk.view[start : start + read], piece.written, chunk.ends)
        if found.invalid and self._errors == "raise":
            fault = found.faults[-1]
            self._line += fault.line
            place = start + fault.start - self._piece_start
            self._fail(place, self._piece_start + fault.offset, self._worker.reason(fault.code))
        if not chunk.whole:
            self._account_piece(chunk, found)
            return
        self.invalid += found.invalid
        if self._tally:
            self._tally.count_valid(found.lines - found.invalid)
            self._tally.count_groups(piece.groups)
        lines = chunk.buffer, start, start + read
        invalid = invalid_lines(found.faults, self._name, self._line, lines, self._worker.end)
        self._report([fault.code for fault in found.faults], invalid)
        self._line += found.lines or 0  # None: nobody is told the numbers of lines

    def _account_piece(self, chunk, found):
        """Count a piece of a line: what is wrong first is reported, and the line counted at its end."""
        if chunk.begins:
            self._piece_head = head_of(chunk.view[chunk.start : chunk.size])
        if found.invalid and not self._piece_invalid:
            self._piece_invalid = True
            self.invalid += 1
            for fault in found.faults[:1]:
                offset = self._piece_start + fault.offset
                self._report([fault.code], [InvalidLine(self._name, self._line, offset, fault.code, self._piece_head)])
        self._piece_start += chunk.size
        if chunk.ends:
            if self._tally and not self._piece_invalid:
                self._tally.count_valid(1)
            self._line += 1
            self._piece_start, self._piece_invalid = 0, False

    def _write(self, lines, written, ends=True):
        """Write what has become of lines, of which the last one ends there, with or without its terminator."""
        if self._output:
            self._output.write(written)
            unended = lines and lines[-1] != self._worker.end[0] and not (self._worker.whole or self._worker.raw)
            if ends and unended and self._errors != "drop" and not self._output.in_line:
                self._output.write(self._worker.out)  # an empty line, too

    def _report(self, codes, invalid):
        """Count invalid lines by their codes, and write them (an iterable of InvalidLine) to the report."""
        if self._tally:
            self._tally.count_faults(codes)
        if self._rejects:
            self._rejects.write(b"".join([line.row() for line in invalid]))

    def _fail(self, start, offset, reason):
        """Stop at a line that starts there in the chunk, or would if it were whole."""
        raise CommandError(message(self._name, self._line, offset, self._before + start, reason), 1)


def terminator_of(line, end):
    r"""Return what terminates a line (bytes-like), of lines that end with `end`: also "\r\n"; nothing for a last line.

    >>> terminator_of(b"a\r\n", b"\n"), terminator_of(b"a\r\0", b"\0"), terminator_of(b"a", b"\n")
    (b'\r\n', b'\x00', b'')
    """
    last = bytes(line[-2:])
    return last if last == b"\r" + end == b"\r\n" else end if last.endswith(end) else b""


class Tally:
    """What --stats says: how many lines are valid, of which groups, and how many have which fault.

    Args:
        groups (str | None): What the groups are, in the plural; None: there are none.
    """

    def __init__(self, groups):
        from collections import Counter

        self._groups = groups
        self._valid = 0
        self._faults = Counter()
        self._counts = Counter()  # of groups
        self._others = 0  # lines of the groups that are put together

    def count_valid(self, count):
        """Count valid lines."""
        self._valid += count

    def count_groups(self, names):
        """Count the groups of valid lines (iterable of bytes)."""
        self._counts.update(names)
        if len(self._counts) > 2 * GROUPS:
            for name, count in self._counts.most_common()[GROUPS:]:
                self._others += count
                del self._counts[name]

    def count_faults(self, codes):
        """Count invalid lines (iterable of str)."""
        self._faults.update(codes)

    def show(self):
        """Write the counts to standard error, the largest first."""
        from json import dumps

        invalid = sum(self._faults.values())
        said = {"lines": self._valid + invalid, "valid": self._valid, "invalid": invalid}
        said["faults"] = descending(self._faults)
        if self._groups:
            names = dict.fromkeys((name.decode().lower() for name in self._counts), 0)
            for name, count in self._counts.items():
                names[name.decode().lower()] += count
            said[self._groups] = descending(names)
        if self._others:
            said[f"other {self._groups}"] = self._others
        streams.tell(dumps(said) + "\n")


def descending(counts):
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
