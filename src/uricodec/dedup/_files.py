"""Files of lines or records, which are read in passes as batches of identifiers.

uricodec._counting.partitions describes the algorithm. A line may be a record with the identifier in a field, see
_fields. For a second pass a file is opened again, and must not have changed. An input that cannot be read again, such
as a pipe, is copied to a temporary file from the first line on that may be needed.
"""

from stat import S_ISREG

from uricodec._base._fingerprint import FingerprintKey
from uricodec._io.files import FileError, close_file, total_size
from uricodec._io.reading import Input
from uricodec._io.runner import InvalidLines, Position, Runner, Worker
from uricodec._io.workers import threads_for
from uricodec._records._fields import reason_of
from uricodec._records.ends import MarkedLineEnds, front_of
from uricodec._rows._engine import RowOperation
from uricodec.dedup import _lines
from uricodec.dedup._fields import NoOrderError, NoValuesError
from uricodec.dedup._identifiers import LineBatch
from uricodec.dedup._options import inputs_of, output_of
from uricodec.dedup._source import Source
from uricodec.errors import UriSyntaxError


class RepeatableInput:
    """An input that may be read more than once. What is read again, if line 7 is the first one that is needed:

        first pass     1 2 3 4 5 6 | 7 8 9     `|`: where a chunk begins
        a file                     | 7 8 9     from this place on; the file must not have changed
        compressed     1 2 3 4 5 6 | 7 8 9     all of it: decompression cannot begin here
        a pipe                     | 7 8 9     a copy, which the first pass made: keep() gets each chunk from here on

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


class Files(Source):
    """Lines, or records, of files.

    A line that exceeds `max_line` is a row but not in any batch: it is not compared with other lines.

    Args:
        options (Options): The options of the run.
        inputs, exclude (Path | Sequence[Path | None]): The files; None in a list is standard input.
        scratch (Scratch | None): The place for temporary files; None: the files are read once.
        on_invalid (Callable | None): Called for each invalid line of the inputs with the name of the input, the line
            number (from 1), the offset, the code and the line (bytes). It may be called in any thread.
    """

    def __init__(self, options, inputs, exclude=(), scratch=None, on_invalid=None):
        inputs, exclude = inputs_of(inputs), inputs_of(exclude)
        names = [*exclude, *inputs]
        if names.count("-") > 1:
            raise ValueError("standard input can be read only once")
        super().__init__(options, total_size(names))
        self._exclude = [RepeatableInput(path) for path in exclude]
        self._inputs = [RepeatableInput(path) for path in inputs]
        self.end, self.records = options.line_terminator, options.records
        self._threads, self._scratch, self._on_invalid = options.threads or threads_for(names), scratch, on_invalid
        self._selects = False  # whether a record has a value
        self._from = None  # the first file that must be read again

    def close(self):
        for source in (*self._exclude, *self._inputs):
            source.close()

    def batch(self, identifier, key, ordered=False):
        errors, exact = self.options.errors, self.options.exact
        return LineBatch(identifier.rows(errors), key, self.end, errors, exact, ordered)

    def output(self):
        output = output_of(self.options.output)
        output.end = self.end[0]
        return output

    def write(self, run, output):
        """Read the files, and write what the run keeps. Return the number of lines written."""
        options = self.options
        if not options.needs_table:
            return _lines.write_first(run, output, options.merged or options.groups is not None)
        return (_lines.write_kept if options.top is None else _lines.write_top)(run, output)

    def read_first(self, make, take, keep=True, copy=None):
        spare = make()
        invalid = self._invalid_lines(spare.operation)
        runner = self._runner(make)

        def step(reading, chunk, found, at):
            source, is_input = reading.source, reading.is_input
            if not chunk.whole:
                if is_input and self.options.errors == "keep":
                    self.long += chunk.begins
                    if copy and self.later is None:
                        copy(chunk)
            else:
                batch = chunk.state
                if is_input or self.options.errors == "raise":
                    lines, before = chunk.view[chunk.start : chunk.size], chunk.before + chunk.start
                    invalid.add(found.invalid, found.faults, lines, before, at)
                    if invalid.limit:
                        report_rest(invalid, found, spare, chunk, at, self.end)
                take(batch, is_input)
                if is_input:
                    self._selects |= batch.selects
                    self.unordered += batch.unordered
                    if batch.later and self.later is None:
                        self.later = reading.number
                        if not keep:
                            source.skip(reading.number)
                            self._from = source
            if keep or self._from is not None:
                source.keep(chunk, reading.number, self._scratch)
            source.size += chunk.size

        for source in (*self._exclude, *self._inputs):
            if source is self._inputs[0]:
                self.excluded = self.lines
            with source.open(self.ticker) as file:
                work = batch_reader(invalid.limit, self.mark_known)
                taken = invalid if self.has(source) else None
                reading = Reading(self, source, file, self.lines, work, step, taken)
                runner.run(file, reading)
                self.lines = reading.number
                again = keep or self._from is not None
                source.end(file, self.lines, False, self._scratch if again else None)
        self.invalid = invalid.count
        if self.records and not self._selects and self.lines > self.excluded + self.long:
            unclosed = "; the last one ends within quotes, which are not closed" if self.records.unclosed else ""
            raise NoValuesError(f"no record has a text in {self.records.describe()}{unclosed}")
        if self.records:
            self.records.check_delimiter()
        if self.unordered and self.unordered == self.lines - self.excluded - self.long:
            raise NoOrderError(f"no record has a number or time in {self.records.describe_by()}")

    def _runner(self, make):
        return Runner(self._threads, make, self.options.max_line)

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
            self.options.errors,
            fail,
            lambda line: reason_of(operation, line.code),
            self._on_invalid and report,
            self.options.max_line,
        )

    def read_again(self, phase, take, make=None, copy=None):
        self.ticker.begin(phase)
        sources = self._inputs[self._inputs.index(self._from) :] if self._from else self._inputs
        if make:
            sources = [*self._exclude, *sources]
        runner = self._runner(make or self._make_plain)
        work = batch_reader(0) if make else find_lines

        def step(reading, chunk, found, at):
            if found and found.invalid and self.options.errors == "raise":
                raise changed(at.name)
            if chunk.whole:
                take(chunk.state)
            elif copy and self.options.errors == "keep" and reading.is_input:
                copy(chunk, reading.number)

        for source in sources:
            with source.open(self.ticker) as file:
                reading = Reading(self, source, file, 0, work, step)
                runner.run(file, reading)
                source.end(file, reading.number, True)

    def _make_plain(self):
        return LineBatch(RowOperation(), FingerprintKey(), self.end)

    def ends(self):
        """Return the object that finds the ends of the lines or records of one file (LineEnds)."""
        return self.records.ends() if self.records else MarkedLineEnds(self.end)

    def place_of(self, row):
        """Return where a row of the inputs is, as members of a JSON object."""
        return b'"line":%d' % (row - self.excluded + 1)

    def has(self, source):
        """Return whether a RepeatableInput is an input, whose lines are written."""
        return source in self._inputs


class Reading(Worker):
    """One reading of a file.

    Args:
        files (Files): All files.
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

    def __init__(self, files, source, file, number, work, step, invalid=None):  # noqa: PLR0913, PLR0917
        super().__init__(invalid)
        self._files, self.source, self._name, self._step = files, source, file.name, step
        self.is_input, self.number = files.has(source), source.begin(file, number)
        self.ends, self.work = files.ends, work

    def prepare(self, chunk):
        source, records = self.source, self._files.records
        if source.begins and records is None:
            chunk.start = front_of(chunk.buffer, chunk.size)
        elif source.begins:
            source.framing, chunk.start = records.begin(chunk, self._name, self.is_input)
            source.headers = int(chunk.buffer.endswith(self._files.end, 0, chunk.start))
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
        self._files.ticker.rows += rows


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


def batch_reader(limit, mark=lambda batch: None):
    """Return a function that reads the lines of a chunk into its LineBatch, and returns so many invalid ones.

    `mark` is called with each batch.
    """

    def read(chunk):
        found = chunk.state.read(chunk.view[chunk.start : chunk.size], 0, limit, chunk.framing)
        mark(chunk.state)
        return found

    return read


def find_lines(chunk):
    """Find the lines of a chunk with its LineBatch."""
    chunk.state.find(chunk.view[chunk.start : chunk.size], 0, chunk.framing)
