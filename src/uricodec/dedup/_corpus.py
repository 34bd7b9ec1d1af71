"""Passes over the files of a corpus, which yield its lines as batches of identifiers; and the writing of lines.

uricodec._counting.partitions describes the algorithm. A line may be a record with the identifier in a field, see
_fields. For a second pass a file is opened again, and must not have changed. An input that cannot be read again, such
as a pipe, is copied to a temporary file from the first line on that may be needed.
"""

import mmap
from _thread import get_ident
from array import array
from itertools import compress, islice
from stat import S_ISREG
from struct import Struct
from time import monotonic
from typing import NamedTuple

from uricodec._base._text import new_buffer
from uricodec._counting.counter import FEW, Ranking
from uricodec._counting.runs import Sorter
from uricodec._io.files import FileError, close_file, total_size
from uricodec._io.reading import MAX_LINE, Input
from uricodec._io.runner import CAPACITY, InvalidLines, Position, Runner, Worker
from uricodec._io.workers import threads_for
from uricodec._io.writing import Output
from uricodec._records._fields import reason_of
from uricodec._records.ends import MarkedLineEnds, front_of
from uricodec.dedup._fields import NoOrderError, NoValuesError
from uricodec.dedup._first_rows import FirstRows
from uricodec.dedup._identifiers import LineBatch
from uricodec.errors import UriSyntaxError

# The marks of rows.
SEEN, NEW = 1, 2
IS_NEW = bytes(mark == NEW for mark in range(256))

# What precedes a line that is sorted by its count: how much the count is below the greatest number, and the row.
ORDER = Struct(">QQ")
MOST = (1 << 64) - 1

# How many counts are fetched at once.
COUNTS = 1 << 14

# Seconds between reports of progress.
PERIOD = 0.1


class Progress(NamedTuple):
    """The progress of a run.

    Attributes:
        phase (str): "read", "partitions" (of spilled identifiers), "compare" (by another level), "write",
            or "update" (of a saved set).
        bytes_read (int): The bytes read in this phase, before decompression.
        total (int): The bytes to be read in this phase; 0: unknown.
        rows (int): The lines read in this phase.
        unique (int): The different identifiers so far.
    """

    phase: str
    bytes_read: int
    total: int
    rows: int
    unique: int


class Ticker:
    """A progress meter for inputs that calls a function.

    Args:
        tell (Callable[[Progress], None] | None): Called in the thread that makes the ticker; None: no reports.
        total (int): The total size of all inputs in bytes.
    """

    def __init__(self, tell, total):
        self._tell, self._total, self._thread = tell, total, get_ident()
        self.unique = 0
        self.begin("read")

    def begin(self, phase):
        self._phase, self._bytes_read, self.rows, self._next = phase, 0, 0, 0

    def add(self, size):
        """Add `size` to the number of bytes read."""
        self._bytes_read += size
        if self._tell is not None and get_ident() == self._thread and monotonic() >= self._next:
            self._tell(Progress(self._phase, self._bytes_read, self._total, self.rows, self.unique))
            self._next = monotonic() + PERIOD


# --- inputs -----------------------------------------------------------------------------------------------------------


class RepeatableInput:
    """An input that may be read more than once.

    Args:
        path (str): The path of the file; "-" for standard input.

    Attributes:
        path (str): The same.
        first (int): The number of its first line.
        lines (int): The number of its lines.
        size (int): The bytes of the lines that were read, and of a header.
        framing (Framing | None): The format of its records, when its header is read; None: lines.
        headers (int): The number of its headers: 0 or 1.
        begins (bool): Whether the next chunk is the first one, perhaps with a header.
    """

    def __init__(self, path):
        self.path = path
        self.framing, self.headers, self.begins = None, 0, True
        self.first = self.lines = self.size = 0
        self._file = self._place = None  # the temporary copy, and where it begins
        self._resume = 0, 0  # what to skip of the copy, or of the file: lines and bytes
        self._version = self._start = None  # for a regular file: its identity, and where reading began
        self._known = self._compressed = False

    def open(self, ticker):
        file = Input(self.path, ticker, self._file)
        if self._file is not None:
            file.name = self._place
        return file

    def begin(self, file, number):
        """Prepare the file at the start of a pass.

        Args:
            file (Input): The open file.
            number (int): The number of its first line, in the first pass.

        Returns:
            int: The number of the first line that is read.

        Raises:
            FileError: If the file has changed since the first pass.
        """
        lines, size = self._resume
        self.begins = self._file is None and (self._compressed or size == 0)
        if self._file is not None:
            file.resume(0)
            return self.first + lines
        if not self._known:
            self._known = True
            self.first, self._version = number, version_of(file.status())
            self._start = file.place() if self._version else None
            return number
        if version_of(file.status()) != self._version:
            raise changed(file.name)
        if self._compressed:
            file.resume(self._start, plain=False)
            return self.first
        file.resume(self._start + size)
        return self.first + lines

    def end(self, file, number, again, scratch=None):
        """Check at the end of a pass that the file has not changed; `number` is that of the line after it.

        With a `scratch`, the input is to be read again, even if nothing of it had to be copied.
        """
        if not again:
            self.lines = number - self.first
            self._compressed = file.compressed
            if scratch and self._version is None and self._file is None:
                self._file, self._place, self._resume = scratch.file(), scratch.shown, (self.lines, 0)
        elif self._file is None and (version_of(file.status()) != self._version or number != self.first + self.lines):
            raise changed(file.name)

    def keep(self, chunk, number, scratch):
        """Copy a chunk of lines, the first of which has this number, to the temporary file. Chunks are consecutive.

        A header is not copied.
        """
        if self._version is not None:
            return
        if self._file is None:
            self._file, self._place = scratch.file(), scratch.shown
            self._resume = number - self.first, 0
        scratch.write(self._file, chunk.view[chunk.start : chunk.size])

    def skip(self, number):
        """Skip the lines before the one with this number, which begins the next chunk, in the next pass."""
        if self._file is None:
            self._resume = number - self.first, self.size

    def close(self):
        if self._file is not None:
            close_file(self._file)


def version_of(status):
    """Return a value that changes when a file is changed, given its status; None if it is not a regular file."""
    if status is None or not S_ISREG(status.st_mode):
        return None
    # A process can set the modification time back, but not the change time (ctime).
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def changed(name):
    """Return the error for a file that was changed."""
    return FileError(name, "file was changed while it was read")


class Corpus:
    """The inputs, to be read in passes as batches of identifiers.

    A line that exceeds `max_line` is a row but not in any batch: it is not compared with other lines.

    Args:
        inputs (list[str]): The paths of files; "-" for standard input.
        exclude (list[str]): The paths of files with identifiers to exclude, which are read first.
        end (bytes): The terminator of lines.
        threads (int | None): The number of threads, see OrderedWorkers; None: automatic.
        scratch (Scratch): The place for temporary files.
        on_progress (Callable[[Progress], None] | None): Called with the progress.
        errors (str): How a line that is too long is handled: "keep", "drop" or "raise".
        max_line (int): The limit for the bytes of a line, without its terminator.
        on_invalid (Callable | None): Called for each invalid line of the inputs with the name of the input, the line
            number (from 1), the offset, the code and the line (bytes). It may be called in any thread.
        records (Records | None): The lines are records in this format; None: they are not.
        sets (Sequence[tuple[SavedSet, bool]]): Saved sets. Lines whose identifiers are in one (True), or not in it
            (False), count as seen in the first pass.

    Attributes:
        mine (int): The number of the first line of the inputs.
        lines (int): The number of all lines, including those of `exclude`.
        invalid (int): The number of invalid lines in the inputs.
        long (int): The number of lines of the inputs that are too long, and kept.
        unordered (int): The number of records of the inputs without a readable value by which they are ordered.
        later (int | None): The number of the first line of the inputs after which some lines are undecided.
        end (bytes): As above.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        inputs,
        exclude,
        end,
        threads,
        scratch,
        on_progress,
        errors="keep",
        max_line=MAX_LINE,
        on_invalid=None,
        records=None,
        sets=(),
    ):
        names = [*exclude, *inputs]
        if names.count("-") > 1:
            raise ValueError("standard input can be read only once")
        self._exclude = [RepeatableInput(path) for path in exclude]
        self._inputs = [RepeatableInput(path) for path in inputs]
        self.end, self._threads, self._scratch = end, threads or threads_for(names), scratch
        self.ticker = Ticker(on_progress, total_size(names))
        self._errors, self._max_line, self._on_invalid = errors, max_line, on_invalid
        self.records, self._selects = records, False  # whether a record has a value
        self._sets = sets
        self._from = None  # the first source that must be read again
        self.mine = self.lines = 0
        self.invalid = self.long = self.unordered = 0
        self.later = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for source in (*self._exclude, *self._inputs):
            source.close()

    def first_reading(self, make, keep, take, copy=None):
        """Read all files in the first pass.

        Args:
            make (Callable[[], LineBatch]): Returns a new batch to read lines with.
            keep (bool): Whether all of the corpus will be read again.
            take (Callable[[LineBatch, bool], None]): Called with each batch, in order, in any thread, and with whether
                it belongs to an input. If it does and has undecided rows, it and all lines after it will be read again.
            copy (Callable[[Chunk], None] | None): Called, in turn, with the pieces of lines that are too long, kept,
                and before any undecided line.
        """
        spare = make()
        invalid = self._invalid_lines(spare.operation)
        runner = self._runner(make)

        def step(reading, chunk, found, at):
            source, mine = reading.source, reading.is_input
            if not chunk.whole:
                if mine and self._errors == "keep":
                    self.long += chunk.begins
                    if copy and self.later is None:
                        copy(chunk)
            else:
                names = chunk.state
                if mine or self._errors == "raise":
                    lines, before = chunk.view[chunk.start : chunk.size], chunk.before + chunk.start
                    invalid.add(found.invalid, found.faults, lines, before, at)
                    if invalid.limit:
                        report_rest(invalid, found, spare, chunk, at, self.end)
                take(names, mine)
                if mine:
                    self._selects |= names.selects
                    self.unordered += names.unordered
                    if names.later and self.later is None:
                        self.later = reading.number
                        if not keep:
                            source.skip(reading.number)
                            self._from = source
            if keep or self._from is not None:
                source.keep(chunk, reading.number, self._scratch)
            source.size += chunk.size

        for source in (*self._exclude, *self._inputs):
            if source is self._inputs[0]:
                self.mine = self.lines
            with source.open(self.ticker) as file:
                work = names_reader(invalid.limit, self._sets)
                taken = invalid if self.has(source) else None
                reading = Reading(self, source, file, self.lines, work, step, taken)
                runner.run(file, reading)
                self.lines = reading.number
                again = keep or self._from is not None
                source.end(file, self.lines, False, self._scratch if again else None)
        self.invalid = invalid.count
        if self.records and not self._selects and self.lines > self.mine + self.long:
            unclosed = "; the last one ends within quotes, which are not closed" if self.records.unclosed else ""
            raise NoValuesError(f"no record has a text in {self.records.describe()}{unclosed}")
        if self.records:
            self.records.check_delimiter()
        if self.unordered and self.unordered == self.lines - self.mine - self.long:
            raise NoOrderError(f"no record has a number or time in {self.records.describe_by()}")

    def _runner(self, make):
        return Runner(self._threads, make, self._max_line)

    def _invalid_lines(self, operation):
        """Return what happens to invalid lines, given the operation (RowOperation) that finds them."""

        def fail(text, line):
            if line.code == "too-long":
                return UriSyntaxError(f"{text} (max_line)", line.text, line.offset)
            return operation.error(text, line.text, line.offset)

        def report(lines):
            for line in lines:
                self._on_invalid(*line)

        return InvalidLines(
            self._errors,
            fail,
            lambda line: reason_of(operation, line.code),
            self._on_invalid and report,
            self._max_line,
        )

    def next_reading(self, phase, take, make=None, copy=None):
        """Read again the lines that are needed again.

        Args:
            phase (str): The name of the pass.
            take (Callable[[LineBatch], None]): Called with each batch, in order, in any thread.
            make (Callable[[], LineBatch] | None): Returns a new batch to read lines with, if identifiers are needed;
                then `exclude` is read, too. None: only the positions of lines are needed, without `exclude`.
            copy (Callable[[Chunk, int], None] | None): Called, in turn, with the pieces of lines that are too long and
                kept, and the line number.
        """
        self.ticker.begin(phase)
        sources = self._inputs[self._inputs.index(self._from) :] if self._from else self._inputs
        if make:
            sources = [*self._exclude, *sources]
        runner = self._runner(make or self._make_plain)
        work = names_reader(0) if make else find_names

        def step(reading, chunk, found, at):
            if found and found.invalid and self._errors == "raise":
                raise changed(at.name)
            if chunk.whole:
                take(chunk.state)
            elif copy and self._errors == "keep" and reading.is_input:
                copy(chunk, reading.number)

        for source in sources:
            with source.open(self.ticker) as file:
                reading = Reading(self, source, file, 0, work, step)
                runner.run(file, reading)
                source.end(file, reading.number, True)

    def _make_plain(self):
        from uricodec._base._fingerprint import FingerprintKey
        from uricodec._rows._engine import RowOperation

        return LineBatch(RowOperation(), FingerprintKey(b"none"), self.end)

    def ends(self):
        """Return the object that finds the ends of the lines or records of one file (LineEnds)."""
        return self.records.ends() if self.records else MarkedLineEnds(self.end)

    def place_of(self, row):
        """Return where a row of the inputs is, as members of a JSON object."""
        return b'"line":%d' % (row - self.mine + 1)

    def has(self, source):
        """Return whether a RepeatableInput is an input, whose lines are written."""
        return source in self._inputs


class Reading(Worker):
    """One reading of a file.

    Args:
        corpus (Corpus): The corpus.
        source (RepeatableInput): The file,
        file (Input): which is open.
        number (int): The number of its first line, in the first pass.
        work (Callable[[Chunk], Lines | None]): Reads the lines of a chunk into its LineBatch.
        step (Callable): Called with this, each chunk, the result of `work` and the Position, in order.
        invalid (InvalidLines | None): What happens to lines that are too long.

    Attributes:
        source: As above.
        is_input (bool): Whether the file is an input, not one to exclude.
        number (int): The number of the first line of the chunk; at the end, that of the line after the last one.
    """

    def __init__(self, corpus, source, file, number, work, step, invalid=None):  # noqa: PLR0913, PLR0917
        super().__init__(invalid)
        self._corpus, self.source, self._name, self._step = corpus, source, file.name, step
        self.is_input, self.number = corpus.has(source), source.begin(file, number)
        self.ends, self.work = corpus.ends, work

    def prepare(self, chunk):
        source, records = self.source, self._corpus.records
        if source.begins and records is None:
            chunk.start = front_of(chunk.buffer, chunk.size)
        elif source.begins:
            source.framing, chunk.start = records.begin(chunk, self._name, self.is_input)
            source.headers = int(chunk.buffer.endswith(self._corpus.end, 0, chunk.start))
        source.begins = False
        chunk.framing = source.framing

    def use(self, chunk, found, at):
        if at.line == 1:
            at.line += self.source.headers
        chunk.state.first = self.number
        self._step(self, chunk, found, at)
        rows = len(chunk.state)
        at.line += rows
        self._count(rows)

    def use_long(self, chunk, at):
        super().use_long(chunk, at)
        self._step(self, chunk, None, at)
        self._count(chunk.ends)  # a line in pieces is a row when it ends

    def _count(self, rows):
        self.number += rows
        self._corpus.ticker.rows += rows


def report_rest(invalid, found, spare, chunk, at, end):  # noqa: PLR0913, PLR0917
    """Report the invalid lines of a chunk that the core did not return, because there were too many.

    Args:
        invalid (InvalidLines): What happens to them.
        found (Lines): What the core returned.
        spare (LineBatch): A batch to read lines with.
        chunk (Chunk): The chunk.
        at (Position): The number of its first line.
        end (bytes): The terminator of lines.
    """
    start, line = chunk.start, at.line
    while found.invalid > len(found.faults):
        last = found.faults[-1]
        start = chunk.buffer.find(end, start + last.stop) + 1
        line += last.line + 1
        place = Position(at.name)
        place.line = line
        lines = chunk.view[start : chunk.size]
        found = spare.read(lines, 0, invalid.limit, chunk.framing)
        invalid.add(0, found.faults, lines, chunk.before + start, place)


def names_reader(limit, sets=()):
    """Return a function that reads the lines of a chunk into its LineBatch, and returns so many invalid ones.

    Lines whose identifiers are in one of the `sets`, or not in it, are marked as seen; see Corpus.
    """

    def read(chunk):
        found = chunk.state.read(chunk.view[chunk.start : chunk.size], 0, limit, chunk.framing)
        for saved, present in sets:
            saved.mark(chunk.state, present, SEEN)
        return found

    return read


def find_names(chunk):
    """Find the lines of a chunk with its LineBatch."""
    chunk.state.find(chunk.view[chunk.start : chunk.size], 0, chunk.framing)


class Lines:
    """The lines of the output.

    Args:
        output (Output): The output.
        records (Records | None): The format of the records, if lines are records.
        counted (bool): Whether each line begins with its count.

    Attributes:
        written (int): The number of lines written.
    """

    def __init__(self, output, records, counted=False):
        self._output, self._records, self._counted = output, records, counted
        self._buffer = memoryview(new_buffer(CAPACITY))
        self.written = 0

    def begin(self):
        """Write the header of the records, once, when it is known."""
        records, self._records = self._records, None
        if records:
            self._output.write_header(records.header(self._counted))
            if records.has_header and self._output.in_line:  # no record follows
                self._output.write(bytes([self._output.end]))

    def write(self, names, counts=None):
        """Write the lines that are marked as new, with their counts if given."""
        self.begin()
        if names.capacity() > len(self._buffer):
            self._buffer = memoryview(new_buffer(2 * names.capacity()))
        self._output.write(self._buffer[: names.write(self._buffer, counts)])
        self.written += names.new

    def copy(self, chunk, count=b""):
        """Write a piece of a line that is too long, after `count` if the line begins in it."""
        self.begin()
        if chunk.begins:
            self._output.write(count)
            self.written += 1
        self._output.write(chunk.view[chunk.start : chunk.size])
        if chunk.ends and self._output.in_line:
            self._output.write(bytes([self._output.end]))


# --- results ----------------------------------------------------------------------------------------------------------


class Counts:
    """The number of occurrences of each identifier.

    Args:
        scratch (Scratch): The place for temporary files.
        memory (int): The limit for memory in bytes.
    """

    def __init__(self, scratch, memory):
        self._scratch, self._memory = scratch, memory
        self._file = None

    def add(self, table):
        """Add the counts of a table, when its partition is complete."""
        if self._file is None:
            self._file = self._scratch.file()
        for pairs in table.counts(COUNTS):
            self._scratch.write(self._file, pairs)

    def put(self, rows, table):
        """Put all counts in order: those that were added, or those of the only table.

        Returns:
            bytes-like: The counts, in the order of FirstRows.
        """
        rows.seal()
        size = 8 * rows.count
        if self._file is None:
            counts = bytearray(size)
            for pairs in table.counts(COUNTS):
                rows.put_counts(pairs, counts)
            return counts
        counts = self._scratch.mapping(max(size, 8))
        window = max(self._memory, mmap.ALLOCATIONGRANULARITY) // 8 * 8
        buffer = new_buffer(16 * COUNTS)
        try:
            # Pairs are in no order, and not all pages of the mapped file fit in memory: read the pairs once for each
            # window of ranks.
            for start in range(0, size, window):
                with memoryview(counts)[start : min(start + window, size)] as part:
                    self._file.seek(0)
                    while read := self._file.readinto(buffer):
                        rows.put_counts(memoryview(buffer)[:read], part, start // 8)
                if size > window and hasattr(mmap, "MADV_DONTNEED"):
                    counts.madvise(mmap.MADV_DONTNEED)  # pages that are in the file need not stay in memory
        except OSError as error:
            raise self._scratch.fail(error) from None
        close_file(self._file)
        return counts


def write_unique(corpus, make, partitions, scratch, output, keep):  # noqa: PLR0913, PLR0917
    """Write the first line with each identifier.

    Args:
        corpus (Corpus): The lines.
        make (Callable[[], LineBatch]): Returns a new batch to read lines with.
        partitions (PartitionedTable): The partitioned table, without counting.
        scratch (Scratch): The place for temporary files.
        output (Output): The output.
        keep (bool): Whether the corpus will be read again in any case.

    Returns:
        int: The number of lines written.
    """
    lines, ticker = Lines(output, corpus.records), corpus.ticker

    def take(names, mine):
        partitions.add(names)
        if mine and names.new:
            lines.write(names)
            ticker.unique = lines.written

    def take_marked(names):
        rows.mark(names)
        if names.new:
            lines.write(names)

    def copy_later(chunk, number):
        if number >= corpus.later:
            lines.copy(chunk)

    corpus.first_reading(make, keep, take, lines.copy)
    rows = find_later(corpus, partitions, scratch)
    if rows is not None and corpus.later is not None:  # what was spilled may be of `exclude` alone
        corpus.next_reading("write", take_marked, copy=copy_later)
    lines.begin()
    return lines.written


def find_rows(corpus, make, partitions, complete=None, rows=None):
    """Find the row of each identifier that is kept, and count, in the first pass over a corpus.

    Args:
        corpus, make: See write_unique(). All of the corpus can be read again.
        partitions (PartitionedTable): The partitioned table. It is not closed.
        complete (Callable[[Table], None] | None): Called with each table when it is complete.
        rows (FirstRows | None): An empty set for the rows; None: a new one.

    Returns:
        tuple[FirstRows, int]: The rows, and the number of different identifiers in the inputs.
    """
    rows, is_first = FirstRows() if rows is None else rows, partitions.keep == "first"

    def take(names, mine):
        if mine:
            partitions.table.settled = corpus.mine  # no row replaces one of `exclude`
        partitions.add(names)
        if mine:
            corpus.ticker.unique += names.new
            if is_first and names.new:
                rows.set(names)

    def finish(table):
        if not is_first:
            for pairs in table.counts(COUNTS):
                rows.set_pairs(pairs, corpus.mine)
        if complete:
            complete(table)

    corpus.first_reading(make, True, take)
    if partitions.spill is not None:
        corpus.ticker.begin("partitions")
    if partitions.spill is not None or complete or not is_first:
        partitions.finish(lambda names: take_later(corpus, rows if is_first else None, names), finish)
    rows.seal()
    return rows, rows.count - rows.rank(corpus.mine) + corpus.long


def find_counted(corpus, make, partitions, scratch, memory, rows=None):  # noqa: PLR0913, PLR0917
    """Find the row of each identifier that is kept, and its count.

    Args:
        corpus, make, partitions, rows: See find_rows(). The partitioned table counts.
        scratch (Scratch): The place for temporary files.
        memory (int): The limit for counts in bytes.

    Returns:
        tuple[FirstRows, int, bytes-like]: The rows, the number of different identifiers, and the counts in the order of
            the rows.
    """
    counts = Counts(scratch, memory)

    def complete(table):
        if partitions.spilled:
            counts.add(table)

    rows, unique = find_rows(corpus, make, partitions, complete, rows)
    return rows, unique, counts.put(rows, partitions.table)


def write_kept(corpus, make, partitions, scratch, output, report, memory):  # noqa: PLR0913, PLR0917
    """Write the line of each identifier that is kept, in a second pass.

    Args:
        corpus, make, scratch, output: See write_unique().
        partitions (PartitionedTable): The partitioned table, with counting.
        report (str): "unique": all; "counts": all, each after its count; "repeated": those that occur more than once.
        memory (int): The limit for counts in bytes.

    Returns:
        tuple[int, int]: The number of different identifiers, and the number of lines written.
    """
    counted = report == "counts"

    def take(names):
        rows.mark(names)
        if names.new:
            lines.write(names, rows.counts_of(names, known) if counted else None)

    def copy(chunk, _number):
        separator = corpus.records.separator if corpus.records else b"\t"
        lines.copy(chunk, b"1" + separator if counted else b"")

    if report == "unique":
        rows, unique = find_rows(corpus, make, partitions)
    else:
        rows, unique, known = find_counted(corpus, make, partitions, scratch, memory)
    if report == "repeated":
        rows.remove_rare(known, 2)
    partitions.close()
    lines = Lines(output, corpus.records, counted)
    corpus.next_reading("write", take, copy=copy if report != "repeated" else None)
    lines.begin()
    return unique, lines.written


class SelectedRows:
    """The rows of the most frequent identifiers, with their counts.

    Args:
        found (Iterable[tuple[int, int, bytes]]): Count and row of each, see Ranking.

    Attributes:
        rows (FirstRows): The rows.
        counts (bytes-like): The counts, in the order of the rows.
    """

    def __init__(self, found):
        pairs = array("Q")
        for count, row, _ in found:
            pairs.append(row)
            pairs.append(count)
        self.rows, self.counts = FirstRows(), bytearray(4 * len(pairs))
        self.rows.set_pairs(pairs)
        self.rows.seal()
        self.rows.put_counts(pairs, self.counts)


def find_top(corpus, make, partitions, scratch, top, memory):  # noqa: PLR0913, PLR0917
    """Find the lines of the most frequent identifiers.

    Of up to FEW, the rows are selected before lines are read again. Of more, the lines of all identifiers are sorted by
    their counts, with temporary files if needed. Lines that are too long are not among them.

    Args:
        corpus, make, partitions, scratch, memory: See find_counted().
        top (int): How many.

    Returns:
        tuple[int, Iterator[tuple[int, bytes]]]: The number of different identifiers; and the count and the line of each
            of the most frequent ones, in order: of equally frequent ones, the first line first.
    """

    def take_selected(names):
        rows.mark(names)
        if names.new:
            numbers = memoryview(rows.counts_of(names, known)).cast("Q")
            places = compress(range(len(names)), names.marks.translate(IS_NEW))
            for count, place, line in zip(numbers, places, names.new_lines(), strict=True):
                lines.add(ORDER.pack(MOST - count, names.first + place) + line)

    if top <= FEW:
        unique, selected = select_top(corpus, make, partitions, scratch, top, memory)
        rows, known = selected.rows, selected.counts
    else:
        rows, unique, known = find_counted(corpus, make, partitions, scratch, memory)
    partitions.close()
    lines = Sorter(scratch, memory)
    corpus.next_reading("write", take_selected)

    def found():
        try:
            for record in islice(lines, top):
                yield MOST - ORDER.unpack_from(record)[0], record[ORDER.size :]
        finally:
            lines.close()

    return unique, found()


def select_top(corpus, make, partitions, scratch, top, memory, rows=None):  # noqa: PLR0913, PLR0917
    """Return the number of different identifiers, and the SelectedRows of the most frequent ones; see find_top()."""
    rankings = []

    def complete(table):
        if not rankings:  # where the inputs begin is known when `exclude` has been read
            rankings.append(Ranking(scratch, memory, top, corpus.mine))
        rankings[0].add(table)

    _, unique = find_rows(corpus, make, partitions, complete, rows)
    return unique, SelectedRows(rankings[0])


class CountsOutput(Output):
    """Standard output for counts that are not written as lines."""

    def show(self, found, total, unique):
        """Write the counts.

        Args:
            found (Iterator[tuple[int, bytes]]): Counts and lines, see find_top().
            total (int): The number of all lines.
            unique (int): The number of different identifiers.

        Returns:
            int: The number of lines in `found`.
        """
        raise NotImplementedError


def write_top(found, records, output):
    """Write the lines of find_top(), with their counts. Return their number."""
    separator, written, size = b"\t", 0, 0
    block = []
    if records:
        separator = records.separator
        block.append(records.header(True))
    for count, line in found:
        block += b"%d" % count, separator, line
        written += 1
        size += len(line)
        if size > CAPACITY:
            output.write(b"".join(block))
            block, size = [], 0
    output.write(b"".join(block))
    if records and records.has_header and not written and output.in_line:
        output.write(bytes([output.end]))
    return written


def find_later(corpus, partitions, scratch):
    """Process the spilled rows. Return which of them are first rows (FirstRows); None if no rows were spilled."""
    if partitions.spill is None:
        partitions.close()
        return None
    corpus.ticker.begin("partitions")
    rows = FirstRows(scratch.mapping((corpus.lines + 63) // 64 * 8))
    partitions.finish(lambda names: take_later(corpus, rows, names), None)
    partitions.close()
    rows.seal()
    return rows


def take_later(corpus, rows, names):
    if rows is not None:
        rows.set(names)
    corpus.ticker.rows += len(names)
    corpus.ticker.add(0)


def count_unique(corpus, make, partitions, scratch):
    """Return the number of different identifiers at another level, in a corpus that was read before."""
    unique = 0

    def take(names):
        nonlocal unique
        partitions.add(names)
        unique += names.new if names.first >= corpus.mine else 0

    corpus.next_reading("compare", take, make)
    rows = find_later(corpus, partitions, scratch)
    return unique + corpus.long + (rows.count - rows.rank(corpus.mine) if rows is not None else 0)
