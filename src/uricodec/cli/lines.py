"""The commands that read lines and write lines: a transform runs an operation of the core on chunks of whole lines.

Python code sees only invalid lines, to report them: `REASONS` of the operation has the words.
"""

import os
from collections import namedtuple
from contextlib import suppress

from uricodec import ByteSet
from uricodec._base._text import new_buffer
from uricodec._io import reading
from uricodec._io.files import FileError, tell
from uricodec._io.meter import Meter
from uricodec._io.reading import Input
from uricodec._io.reports import InvalidLine, head_of
from uricodec._io.runner import CAPACITY, InvalidLines, Runner, Worker
from uricodec._records.ends import MarkedLineEnds, front_of
from uricodec._rows._tasks import transform_lines
from uricodec.cli.errors import ERRORS_HINT, LONG_HINT, CommandError
from uricodec.cli.outputs import EnoughError, output_of
from uricodec.cli.records import records_of

# How many chunks several threads read at once if a transform takes long lines in pieces. Such work is fast: with one at
# a time, threads often wait for each other.
PARALLEL = 4

# The capacity, in chunks, for the result of a chunk that waits until the results before it are written.
AHEAD = 8

# The number of groups that are counted one by one. When there are twice as many, the rarer half is counted together.
GROUPS = 5000


class Lines:
    """Lines, each of which is a value. fields.Values is the same for values in records.

    Args:
        end (bytes): The terminator of a line.
        out (bytes | None): The terminator of a line of the output; None: as above.
        raw (bool): Whether control characters are decoded; then an empty last line gets no terminator.

    Attributes:
        end, out, raw: As above.
        whole (bool): Whether each line that is written has a terminator, even if the last line of the input has none.
        decodable (ByteSet): The bytes whose triplets may be decoded.
        empty (bytes): The text of an empty line.
        jsonl (bool): Whether each line becomes a JSON string.
        added (list[bytes] | None): See fields.Values.
        are_records (bool): Whether values are in records.
    """

    empty, jsonl, added, are_records = b"", False, None, False

    def __init__(self, end=b"\n", out=None, raw=False):
        self.end, self.out, self.raw, self.whole = end, out or end, raw, out is not None
        from uricodec._codec._rows import NO_CONTROL  # which logs do not need

        self.decodable = NO_CONTROL if end == b"\n" else ~ByteSet(end)

    def begin(self, chunk, name):
        """Read the byte order mark and the header of an input.

        Args:
            chunk (Chunk): The first chunk of the input.
            name (str): The name of the input, for messages.

        Returns:
            int: The length of both in bytes; 0 if there is none.
        """
        return front_of(chunk.buffer, chunk.size)

    def header(self):
        """Return what is written for the mark and the header of an input (bytes): a mark is not part of a line."""
        return b""

    def ends(self):
        """Return the object that finds the ends of the lines of one input (LineEnds)."""
        return MarkedLineEnds(self.end)

    def finish(self, plan, errors):
        """Check, after all inputs have been read, that they contained what was selected, and were complete.

        Args:
            plan (Plan): The plan of the command.
            errors (str): How invalid lines were handled.

        Raises:
            CommandError: They did not contain it, or they were not complete and errors="raise".
        """

    def transform(self, lines, buffer, rows, errors, limit):
        """Run an operation on the values of lines, and return how far lines have been read, and the core's result."""
        return transform_lines(lines, buffer, rows, self.end, errors, limit)

    def capacity(self, lines, _buffer, rows, errors):
        """Return the size of a buffer for the first line, whose result was too large for a buffer."""
        return rows.capacity(bytes(lines).find(self.end) + 1 or len(lines), errors)

    def reason(self, rows, code):
        """Return the message for a code (str) of an operation."""
        return rows.reason(code)


class Transform:
    """Transforms values in lines with an operation, chunk by chunk.

    Args:
        rows (RowOperation): The operation.
        lines (Lines): Where the values are.
        in_pieces (bool): Whether work() may get a long line in pieces; their results make up the result of the line.
            A record is never cut.
        groups (str | None): What valid lines are counted by, in the plural.
        group_rows (RowOperation | None): The operation whose result is the group; None: `rows`.

    Attributes:
        lines, groups, in_pieces: As above.
        header (bytes): What is written before the first line of the output.
        keys (KeyBatch | None): The last results that were read to be counted, in this thread.
    """

    def __init__(self, rows, lines, in_pieces=False, groups=None, group_rows=None):
        self._rows, self.lines, self._group_rows = rows, lines, group_rows
        self.in_pieces, self.groups = in_pieces and not lines.are_records, groups
        self._buffer = new_buffer(2 * reading.CHUNK)
        self._records = rows if hasattr(rows, "record") and lines.added is None else None
        self.header = self._records.header if self._records else b""
        self.keys = None

    def clone(self):
        """Return a transform that does the same in another thread, with another buffer for the results of work().

        The buffer is large enough for most chunks. The rest of a longer result is computed when it can be written.
        """
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._buffer = new_buffer(max(len(self._buffer), AHEAD * reading.CHUNK))
        return clone

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
        while True:
            read, found = self.lines.transform(lines, self._buffer, self._rows, errors, limit)
            if read or found.invalid or not len(lines):
                return read, found, memoryview(self._buffer)[: found.written]
            size, self._buffer = self.lines.capacity(lines, self._buffer, self._rows, errors), bytearray()
            self._buffer = new_buffer(size)

    def group(self, lines, found):
        """Return the group of each valid line (iterable of bytes); `found` is the core's result for the lines."""
        names, end = memoryview(self._buffer)[: found.written], self.lines.out
        if self._group_rows is not None:
            names = new_buffer(self._group_rows.capacity(len(lines)))
            _, written = transform_lines(lines, names, self._group_rows, end, "drop", 0)
            del names[written.written :]
        names = bytes(names).replace(end, b"\n").splitlines()
        if self.lines.are_records:
            return names
        return names + (found.lines - found.invalid - len(names)) * [b""]  # the last line may lack its terminator

    def reason(self, code):
        """Return the message for a code (str)."""
        return self.lines.reason(self._rows, code)

    def record(self, code, offset):
        """Return the record of an invalid line (bytes); None if the command writes no records."""
        return self._records.record(code, offset) if self._records else self.lines.empty if self.lines.jsonl else None


def filter_inputs(transform, plan, errors):
    """Transform all inputs.

    Args:
        transform (Transform): What transforms their lines.
        plan (Plan): The plan of the command.
        errors (str): How invalid lines are handled.

    Returns:
        int: 0

    Raises:
        CommandError: With status 1 for an invalid line under --errors raise, with 2 if an output is also another file.
        FileError: A file cannot be read or written.
        BrokenPipeError: The output pipe is closed.
    """
    csv = None if transform.lines.whole else plan.records.csv_delimiter()
    with output_of(plan, transform.lines.out, csv) as output, plan.rejects() as rejects:
        run(transform, plan, errors, output, rejects)
    return 0


def check_inputs(transform, plan):
    """Write a report of the invalid lines of all inputs, see filter_inputs(). Return 0 if there are none, else 1."""
    with report_of(plan) as rejects:
        return 1 if run(transform, plan, "drop", None, rejects) else 0


def report_of(plan):
    """Return the output of `check`: records of the rows of a report, and reasons; with --quiet the null device."""
    if plan.quiet:
        plan.output = os.devnull
    is_text = plan.to == "text"  # report_to() writes such records
    names = (*InvalidLine._fields, "reason")
    return output_of(plan, template=None if is_text else records_of(plan.to, names, {"line", "offset"}))


def run(transform, plan, errors, output, rejects):
    """Process all inputs with a LineFilter, and return the number of invalid lines."""

    def fail(text, line):
        return CommandError(text, 1, ERRORS_HINT + LONG_HINT * (line.code == "too-long"))

    tally = Tally(transform.groups) if plan.stats else None

    def why(line):
        return invalid.why(line)

    report = report_to(rejects, None if output else why)  # `check` writes reasons
    invalid = InvalidLines(errors, fail, lambda line: transform.reason(line.code), report, plan.max_line, plan.stats)
    threads = plan.thread_count()
    parallel = PARALLEL * reading.CHUNK
    runner = Runner(
        threads,
        transform.clone if threads > 1 else lambda: transform,
        None if transform.in_pieces else plan.max_line,
        parallel if transform.in_pieces else CAPACITY,  # whatever the number of threads: it decides where lines are cut
        parallel if transform.in_pieces and threads > 1 else reading.CHUNK,
    )
    if output:
        output.end = transform.lines.out[0]
        output.write_header(transform.header)

    def process(source):
        runner.run(source, LineFilter(transform, invalid, output, tally, source.name))

    for_each_input(process, plan, output, rejects)
    if tally:
        tally.show(invalid.codes)
    transform.lines.finish(plan, errors if output else "raise")
    if plan.command == "filter" and (long := invalid.codes.get("too-long")):  # it has no report of invalid lines
        what = "1 line is" if long == 1 else f"{long} lines are"
        plan.note(f"{what} left out: longer than {plan.max_line} bytes; see --max-line")
    return invalid.count


def for_each_input(process, plan, *outputs, open=Input, forgive=lambda error: False, waits=False):
    """Process the inputs of a command one by one, while the progress meter shows how much has been read.

    Args:
        process (Callable[[Input], None]): Called with each input, which is open.
        plan (Plan): The plan of the command.
        outputs (Output | None): The outputs of the command. The first one must not be appended to an input.
        open (type[Input]): How to open an input.
        forgive (Callable[[OSError], bool]): Returns whether the command goes on with the next input after an error.
        waits (bool): Whether nothing is written to the first output before all inputs are read.

    Raises:
        FileError: An input cannot be opened or read.
    """
    output = next(filter(None, outputs))
    with suppress(EnoughError), Meter(plan.inputs, *outputs[waits:], progress=plan.progress) as meter:
        for name in plan.inputs:
            try:
                with open(name, meter, output=output) as source:
                    process(source)
            except FileError as error:
                if not forgive(error):
                    raise


def report_to(rejects, why=None):
    """Return a function that writes invalid lines (list[InvalidLine]) to an output; None without one.

    Args:
        rejects (Output | None): The output.
        why (Callable[[InvalidLine], str] | None): Returns the reason that is written, too; None: none is.
    """
    return rejects and (lambda lines: rejects.write(b"".join([line.row(why and why(line)) for line in lines])))


Piece = namedtuple("Piece", ["start", "read", "found", "written", "groups", "keys"])
Piece.__doc__ = "The result of some lines of a chunk."


class LineFilter(Worker):
    """Writes the results of the lines of an input. If the output so far lacks its last newline, it is added.

    Args:
        transform (Transform): What transforms their lines.
        invalid (InvalidLines): What happens to invalid ones.
        output (Output | None): Where the results go.
        tally (Tally | None): What counts lines.
        name (str): The name of the input.
    """

    def __init__(self, transform, invalid, output, tally, name):
        super().__init__(invalid)
        self._transform, self._lines = transform, transform.lines
        self._output, self._tally, self._name = output, tally, name
        self.in_pieces = transform.in_pieces
        self._begun = False
        self._counts = getattr(output, "counts", None)
        self._apart = output is None or not output.in_line
        self._piece_start, self._piece_invalid = 0, False  # of a line in pieces: the offset of the next piece

    def ends(self):
        return self._lines.ends()

    def prepare(self, chunk):
        chunk.start = 0 if self._begun else self._lines.begin(chunk, self._name)
        chunk.header, self._begun = chunk.start, True

    def work(self, chunk):
        """Process the lines of a chunk whose results fit the buffer; use() does the rest."""
        return self._work(chunk, chunk.start) if chunk.start < chunk.size else None

    def _work(self, chunk, start):
        """Process the lines of a chunk from an offset on, and return a Piece."""
        transform, lines = chunk.state, chunk.view[start : chunk.size]
        read, found, written = transform.work(lines, self.invalid.errors, self.invalid.limit)
        groups = transform.group(lines[:read], found) if self._tally and transform.groups else ()
        if self._counts:
            transform.keys = self._counts.read(written, transform.keys)
        return Piece(start, read, found, written, groups, transform.keys)

    def use(self, chunk, piece, at):
        """Write the result of a chunk, given its first Piece."""
        self._write_header(chunk)
        # The header may be a byte order mark alone.
        at.line += chunk.header > 0 and chunk.buffer[chunk.header - 1] == self._lines.end[0]
        while piece:
            self._account(chunk, piece, at)
            end = piece.start + piece.read
            piece = self._work(chunk, end) if end < chunk.size else None

    def use_long(self, chunk, at):
        self._write_header(chunk)
        super().use_long(chunk, at)
        errors, piece = self.invalid.errors, chunk.view[chunk.start : chunk.size]
        record = self._transform.record("too-long", self.invalid.max_line)
        if errors in ("keep", "replace") and record is None:
            self._write(piece, piece, chunk.ends)
        elif errors != "drop":
            written = (record or self._lines.empty) if chunk.begins else b""
            if chunk.ends:
                written += self._lines.out if self._lines.whole else terminator_of(piece, self._lines.end)
            self._write(piece, written, chunk.ends)

    def _write_header(self, chunk):
        """Write what precedes the result of a chunk: the end of the last line of the input before, and a header."""
        if not self._apart:
            self._output.write(self._lines.out)
            self._apart = True
        if chunk.header and self._output:
            self._output.write_header(self._lines.header())

    def _account(self, chunk, piece, at):
        """Write the result of lines, count them and report the invalid ones."""
        start, read, found = piece.start, piece.read, piece.found
        lines = chunk.view[start : start + read]
        self._write(lines, piece.written, chunk.ends, piece.keys)
        if not chunk.whole:
            self._account_piece(chunk, found, at)
            return
        self.invalid.add(found.invalid, found.faults, lines, chunk.before + start, at)
        if self._tally:
            self._tally.count_valid(found.lines - found.invalid)
            self._tally.count_groups(piece.groups)
        at.line += found.lines or 0  # None: lines are not counted, since nothing shows their numbers

    def _account_piece(self, chunk, found, at):
        """Report the first error of a line in pieces, and count the line at its end."""
        if chunk.begins:
            self._piece_head = head_of(chunk.view[chunk.start : chunk.size])
        if found.invalid and not self._piece_invalid:
            self._piece_invalid = True
            for fault in found.faults[:1]:
                offset = self._piece_start + fault.offset
                line = InvalidLine(at.name, at.line, offset, fault.code, self._piece_head)
                self.invalid.add_line(line, chunk.before + chunk.start - self._piece_start)
        self._piece_start += chunk.size
        if chunk.ends:
            if self._tally and not self._piece_invalid:
                self._tally.count_valid(1)
            at.line += 1
            self._piece_start, self._piece_invalid = 0, False

    def _write(self, lines, written, ends=True, keys=None):
        """Write the result of lines, or count it; `ends` is false if the last one goes on in the next piece."""
        if self._output:
            if keys is None:
                self._output.write(written)
            else:
                self._output.count(written, keys)
            form = self._lines
            unended = lines and lines[-1] != form.end[0] and not (form.whole or form.raw)
            if ends and unended and self.invalid.errors != "drop" and not self._output.in_line:
                self._output.write(form.out)  # an empty line, too


def terminator_of(line, end):
    r"""Return the terminator of a line (bytes-like): `end`, "\r\n" if `end` is "\n", or nothing for a last line.

    >>> terminator_of(b"a\r\n", b"\n"), terminator_of(b"a\r\0", b"\0"), terminator_of(b"a", b"\n")
    (b'\r\n', b'\x00', b'')
    """
    last = bytes(line[-2:])
    return last if last == b"\r" + end == b"\r\n" else end if last.endswith(end) else b""


class Tally:
    """The counts of --stats: valid lines and their groups.

    Args:
        groups (str | None): What the groups are, in the plural; None: there are none.
    """

    def __init__(self, groups):
        from collections import Counter

        self._groups = groups
        self._valid = 0
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

    def show(self, codes):
        """Write the counts to standard error, the largest first, given those of invalid lines by code."""
        from json import dumps

        invalid = sum(codes.values())
        said = {"lines": self._valid + invalid, "valid": self._valid, "invalid": invalid}
        said["faults"] = descending(codes)
        if self._groups:
            names = dict.fromkeys((name.decode().lower() for name in self._counts), 0)
            for name, count in self._counts.items():
                names[name.decode().lower()] += count
            said[self._groups] = descending(names)
        if self._others:
            said[f"other {self._groups}"] = self._others
        tell(dumps(said) + "\n")


def descending(counts):
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
