"""The loop of the commands that read lines and write lines: chunks, invalid lines, reports and counts.

A worker runs an operation of the core on chunks of whole lines, in several threads if that is faster. Python code sees
only invalid lines, to report them: `REASONS` of the operation has the words, `_rows/reports.py` the format.
"""

from collections import namedtuple

from uricodec._base._text import new_buffer
from uricodec._io import streams
from uricodec._io.workers import OrderedWorkers, threads_for
from uricodec._records.ends import MarkedLineEnds, front_of
from uricodec._rows._tasks import transform_lines
from uricodec._rows.reports import InvalidLine, head_of, invalid_lines, message
from uricodec.cli.errors import CommandError

# The capacity of a buffer, in chunks. It grows for longer lines, up to --max-line: memory stays bounded.
CAPACITY = 2

# How many chunks several threads read at once if a worker takes long lines in pieces. Such work is fast: with one at a
# time, threads often wait for each other.
PARALLEL = 4

# The most invalid lines that the core reports at once.
FAULTS = 16_384

# The capacity, in chunks, for the result of a chunk that waits until the results before it are written.
AHEAD = 8

ERRORS_HINT = "--errors drop skips invalid records, --invalid-to FILE lists them"

# The number of groups that are counted one by one. When there are twice as many, the rarer half is counted together.
GROUPS = 5000


class Worker:
    """Processes lines: the part that differs between commands. A line may also be a record.

    Attributes:
        groups (str | None): What valid lines are counted by, in the plural.
        header (bytes): What is written before the first line of the output.
        end (bytes): The line terminator of the input.
        out (bytes): The line terminator of the output.
        whole (bool): Whether each line that is written has a terminator, even if the last line of the input has none.
        raw (bool): Whether control characters are decoded, too.
        empty (bytes): The text of an empty line.
        in_pieces (bool): Whether work() may get a long line in pieces; their results make up the result of the line.
    """

    groups: str | None = None
    header = b""
    end = out = b"\n"
    whole = raw = in_pieces = False
    empty = b""

    def clone(self):
        """Return a worker that does the same in another thread, with another buffer for the results of work().

        The buffer is large enough for most chunks. The rest of a longer result is computed when it can be written.
        """
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._buffer = new_buffer(max(len(self._buffer), AHEAD * streams.CHUNK))
        return clone

    def begin(self, chunk, name):
        """Read the byte order mark and the header of an input.

        Args:
            chunk (Chunk): The first chunk of the input.
            name (str): The name of the input, for messages.

        Returns:
            int: The length of both in bytes; 0 if there is none.
        """
        return front_of(chunk.buffer, chunk.size)

    def header_of(self, chunk, size):
        """Return what is written for a mark and a header (bytes) of `size` bytes: a mark is not part of a line."""
        return b""

    def ends(self):
        """Return the object that finds the ends of the lines of one input (LineEnds)."""
        return MarkedLineEnds(self.end)

    def finish(self, errors):
        """Check, after all inputs have been read, that they contained what was selected, and were complete.

        Args:
            errors (str): How invalid lines were handled.

        Raises:
            CommandError: They did not contain it, or they were not complete and errors="raise".
        """

    def work(self, lines, errors, limit):
        """Process lines, as many as fit.

        Args:
            lines (memoryview): Whole lines, or the last one of the input.
            errors (str): How invalid ones are handled: "keep", "replace", "null", "drop" or "raise".
            limit (int): The number of invalid lines after which the core may stop to report them; 0: report none.

        Returns:
            tuple[int, Lines, memoryview]: How many bytes of whole lines have been read; the core's result, with all
                invalid lines among them unless limit is 0; and the output, which is valid until the next call. With
                errors="raise", the last invalid line has not been read.
        """
        raise NotImplementedError

    def group(self, lines, found):
        """Return the group of each valid line (iterable of bytes); `found` is the core's result for the lines."""
        raise NotImplementedError

    def reason(self, code):
        """Return the message for a code (str)."""
        raise NotImplementedError

    def record(self, code, offset):
        """Return the record of an invalid line (bytes); None if the command writes no records."""


class Rows(Worker):
    """Runs an operation on lines.

    Args:
        rows (RowOperation): The operation.
        terminator (bytes): The line terminator.
        raw (bool): Whether an empty last line gets no terminator.
        in_pieces (bool): Whether a long line may be processed in pieces.
        groups (str | None): What valid lines are counted by, in the plural.
        group_rows (RowOperation | None): The operation whose result is the group; None: `rows`.
    """

    def __init__(self, rows, terminator=b"\n", raw=False, in_pieces=False, groups=None, group_rows=None):  # noqa: PLR0913, PLR0917
        self._rows, self._group_rows = rows, group_rows
        self.end = self.out = terminator
        self.raw, self.in_pieces, self.groups = raw, in_pieces, groups
        self._buffer = new_buffer(2 * streams.CHUNK)
        if hasattr(rows, "record"):
            self.header, self.record = rows.header, rows.record

    def work(self, lines, errors, limit):
        while True:
            read, found = transform_lines(lines, self._buffer, self._rows, self.end, errors, limit)
            if read or found.invalid or not len(lines):
                return read, found, memoryview(self._buffer)[: found.written]
            size = bytes(lines).find(self.end) + 1 or len(lines)  # the result of the first line did not fit
            self._buffer = new_buffer(self._rows.capacity(size, errors))

    def group(self, lines, found):
        if self._group_rows is None:
            names = memoryview(self._buffer)[: found.written]
        else:
            names = new_buffer(self._group_rows.capacity(len(lines)))
            _, written = transform_lines(lines, names, self._group_rows, self.end, "drop", 0)
            del names[written.written :]
        names = bytes(names).replace(self.end, b"\n").splitlines()
        return names + (found.lines - found.invalid - len(names)) * [b""]  # the last line may lack its terminator

    def reason(self, code):
        return self._rows.reason(code)


def filter_inputs(worker, arguments):
    """Process all inputs with a worker.

    Args:
        worker (Worker): The worker.
        arguments (argparse.Namespace): With files, output, errors, invalid_to, stats, max_line and threads.

    Returns:
        int: 0

    Raises:
        CommandError: With status 1 for an invalid line under --errors raise, with 2 if an output is also another file.
        FileError: A file cannot be read or written.
        BrokenPipeError: The output pipe is closed.
    """
    check_outputs(arguments)
    if arguments.invalid_to is None:
        with streams.Output(arguments.output) as output:
            run(worker, arguments, arguments.errors, output, None)
    else:
        with streams.Output(arguments.output) as output, streams.Output(arguments.invalid_to) as rejects:
            run(worker, arguments, arguments.errors, output, rejects)
    return 0


def check_outputs(arguments):
    """Reject two outputs that are the same file, and outputs that are an input; --output may be one."""
    taken = {}
    for option in "output", "groups", "invalid_to":
        path = getattr(arguments, option)
        if (path is not None or option == "output") and (place := streams.place_of(path)):
            flag = f"--{option.replace('_', '-')}"
            if place in taken:
                raise CommandError(f"{taken[place]} and {flag} are the same file", 2, f"change {flag} FILE")
            taken[place] = flag
    inputs = [*arguments.files, *(arguments.exclude or [])]
    for place in {streams.place_of(name) for name in inputs if name != "-"} & taken.keys():
        if taken[place] != "--output":
            raise CommandError(f"{taken[place]} and an input are the same file", 2, f"give {taken[place]} another FILE")


def check_inputs(worker, arguments):
    """Write a report of the invalid lines of all inputs.

    Args:
        worker (Worker): The worker that finds them.
        arguments (argparse.Namespace): With files, output, stats, max_line and threads.

    Returns:
        int: 0 if every line is valid, else 1.

    Raises:
        FileError: A file cannot be read or written.
        BrokenPipeError: The output pipe is closed.
    """
    with streams.Output(arguments.output) as rejects:
        return 1 if run(worker, arguments, "drop", None, rejects) else 0


def run(worker, arguments, errors, output, rejects):
    """Process all inputs with a LineFilter, and return the number of invalid lines."""
    names = arguments.files or ["-"]
    tally = Tally(worker.groups) if arguments.stats else None
    threads = arguments.threads or threads_for(names)
    most_read = (PARALLEL if threads > 1 and worker.in_pieces else 1) * streams.CHUNK
    lines = LineFilter(worker, errors, output, rejects, tally, arguments.max_line, most_read)
    workers = OrderedWorkers(threads)
    buffers = streams.Buffers(
        (1 if worker.in_pieces else CAPACITY) * most_read, worker.clone if threads > 1 else lambda: worker
    )
    if output:
        output.end = worker.out[0]
        output.write(worker.header)
    with streams.Meter(names, output, rejects, progress=progress_of(arguments)) as meter:
        for name in names:
            with streams.Input(name, meter, output=output or rejects) as source:
                lines.filter(source, workers, buffers)
    if tally:
        tally.show()
    worker.finish(errors if output else "raise")
    return lines.invalid


def progress_of(arguments):
    """Return what --progress and --no-progress say of the meter: True, False or None, see streams.Meter."""
    return not arguments.no_progress if arguments.progress or arguments.no_progress else None


Piece = namedtuple("Piece", ["start", "read", "found", "written", "groups"])
Piece.__doc__ = "The result of some lines of a chunk."


class LineFilter:
    """Reads lines and writes their results, in order.

    Args:
        worker (Worker): What processes them.
        errors (str): How invalid ones are handled: "keep", "replace", "null", "drop" or "raise".
        output (Output | None): Where the results go.
        rejects (Output | None): Where the report of invalid lines goes.
        tally (Tally | None): What counts lines.
        max_line (int): The bytes that a line may have, unless the worker processes it in pieces.
        most_read (int): The bytes to read at once.

    Attributes:
        invalid (int): The number of invalid lines.
    """

    def __init__(self, worker, errors, output, rejects, tally, max_line, most_read):  # noqa: PLR0913, PLR0917
        self._worker, self._errors = worker, errors
        self._max_line, self._most_read = None if worker.in_pieces else max_line, most_read
        self._output, self._rejects, self._tally = output, rejects, tally
        self._faults = FAULTS if rejects or tally else 0
        self.invalid = 0

    def filter(self, source, workers, buffers):
        """Process one input. If the output so far lacks its last newline, it is added.

        Args:
            source (Input): The input.
            workers (OrderedWorkers): The threads.
            buffers (Buffers): The buffers for chunks; the state of each is a Worker.

        Raises:
            CommandError: A line is invalid, under --errors raise.
            FileError: A file cannot be read or written.
            BrokenPipeError: The output pipe is closed.
        """
        self._name = source.name
        self._line, self._before = 1, 0  # at the start of the chunk: the line's number, bytes of the input before it
        self._piece_start, self._piece_invalid = 0, False  # of a line in pieces: the offset of the next piece
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
        """Yield the chunks of an input; `start` of the first one is after the header."""
        begun = False
        for chunk in source.chunks(buffers, self._worker.ends(), self._max_line, self._most_read):
            chunk.start = 0 if begun else self._worker.begin(chunk, self._name)
            chunk.header, begun = chunk.start, True
            yield chunk

    def _begin(self, chunk):
        """Process the lines of a chunk whose results fit the buffer; _write_chunk() does the rest."""
        if chunk.start < chunk.size and (chunk.whole or self._worker.in_pieces):
            return self._work(chunk, chunk.start)
        return None

    def _work(self, chunk, start):
        """Process the lines of a chunk from an offset on, and return a Piece."""
        worker, lines = chunk.state, chunk.view[start : chunk.size]
        read, found, written = worker.work(lines, self._errors, self._faults)
        groups = worker.group(lines[:read], found) if self._tally and worker.groups else ()
        return Piece(start, read, found, written, groups)

    def _write_chunk(self, chunk, piece):
        """Write the result of a chunk, given its first Piece."""
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
        """Handle a piece of a line that is longer than --max-line, as `errors` requires."""
        offset, piece = self._max_line, chunk.view[chunk.start : chunk.size]
        if chunk.begins:
            if self._errors == "raise":
                reason = f"line is longer than {offset} bytes"
                self._fail(chunk.start, offset, reason, "; --max-line SIZE allows longer ones")
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
        """Write the result of lines, count them and report the invalid ones."""
        start, read, found = piece.start, piece.read, piece.found
        self._write(chunk.view[start : start + read], piece.written, chunk.ends)
        if found.invalid and self._errors == "raise":
            fault = found.faults[-1]
            self._line += fault.line
            begin = start + fault.start - self._piece_start
            self._fail(begin, self._piece_start + fault.offset, self._worker.reason(fault.code))
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
        self._line += found.lines or 0  # None: lines are not counted, since nothing shows their numbers

    def _account_piece(self, chunk, found):
        """Report the first error of a line in pieces, and count the line at its end."""
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
        """Write the result of lines; `ends` is false if the last one goes on in the next piece."""
        if self._output:
            self._output.write(written)
            unended = lines and lines[-1] != self._worker.end[0] and not (self._worker.whole or self._worker.raw)
            if ends and unended and self._errors != "drop" and not self._output.in_line:
                self._output.write(self._worker.out)  # an empty line, too

    def _report(self, codes, invalid):
        """Count invalid lines by their codes, and write their rows (iterable of InvalidLine) to the report."""
        if self._tally:
            self._tally.count_faults(codes)
        if self._rejects:
            self._rejects.write(b"".join([line.row() for line in invalid]))

    def _fail(self, start, offset, reason, more=""):
        """Stop at an invalid line, which starts at an offset of the chunk."""
        hint = ERRORS_HINT + more
        raise CommandError(message(self._name, self._line, offset, self._before + start, reason), 1, hint)


def terminator_of(line, end):
    r"""Return the terminator of a line (bytes-like): `end`, "\r\n" if `end` is "\n", or nothing for a last line.

    >>> terminator_of(b"a\r\n", b"\n"), terminator_of(b"a\r\0", b"\0"), terminator_of(b"a", b"\n")
    (b'\r\n', b'\x00', b'')
    """
    last = bytes(line[-2:])
    return last if last == b"\r" + end == b"\r\n" else end if last.endswith(end) else b""


class Tally:
    """The counts of --stats: valid lines, their groups, and invalid lines by code.

    Args:
        groups (str | None): What the groups are, in the plural; None: there are none.
    """

    def __init__(self, groups):
        from collections import Counter

        self._groups = groups
        self._valid = 0
        self._faults = Counter()
        self._counts = Counter()  # of groups
        self._others = 0  # lines of the groups that are counted together

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
