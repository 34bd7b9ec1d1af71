"""The output of deduplicated lines: those that are kept, perhaps with their counts."""

from itertools import compress, islice
from struct import Struct

from uricodec._base._text import new_buffer
from uricodec._counting.counter import FEW
from uricodec._counting.runs import Sorter
from uricodec._io.runner import CAPACITY
from uricodec._io.writing import Output
from uricodec.dedup._source import IS_NEW

# What precedes a line that is sorted by its count: how much the count is below the greatest number, and the row.
ORDER = Struct(">QQ")
MOST = (1 << 64) - 1


class Lines:
    """The lines of the output.

    Args:
        output (Output): The output.
        records (Records | None): The format of the records, if lines are records.
        column (str): What the header calls the count before each line; "": there is none.

    Attributes:
        written (int): The number of lines written.
    """

    def __init__(self, output, records, column=""):
        self._output, self._records, self._column = output, records, column
        self._buffer = memoryview(new_buffer(CAPACITY))
        self.written = 0

    def begin(self):
        """Write the header of the records, once, when it is known."""
        records, self._records = self._records, None
        if records:
            self._output.write_header(records.header(self._column))
            if records.has_header and self._output.in_line:  # no record follows
                self._output.write(bytes([self._output.end]))

    def write(self, batch, counts=None):
        """Write the lines that are marked as new, with their counts if given."""
        self.begin()
        if batch.capacity() > len(self._buffer):
            self._buffer = memoryview(new_buffer(2 * batch.capacity()))
        self._output.write(self._buffer[: batch.write(self._buffer, counts)])
        self.written += batch.new

    def copy(self, chunk, count=b""):
        """Write a piece of a line that is too long, after `count` if the line begins in it."""
        self.begin()
        if chunk.begins:
            self._output.write(count)
            self.written += 1
        self._output.write(chunk.view[chunk.start : chunk.size])
        if chunk.ends and self._output.in_line:
            self._output.write(bytes([self._output.end]))


def write_first(run, output, keep=False):
    """Write the first line with each identifier: most of them in the first pass.

    Args:
        run (Run): The run.
        output (Output): The output.
        keep (bool): Whether all lines will be read again in any case.

    Returns:
        int: The number of lines written.
    """
    source, firsts = run.source, run.firsts()
    lines = Lines(output, source.records)

    def take(batch, is_input):
        firsts.add(batch, is_input)
        if is_input and batch.new:
            lines.write(batch)
            source.ticker.unique = lines.written

    def take_marked(batch):
        firsts.rows.mark(batch)
        if batch.new:
            lines.write(batch)

    def copy_later(chunk, number):
        if number >= source.later:
            lines.copy(chunk)

    source.read_first(run.batch, take, keep, lines.copy)
    if firsts.partitions.spill is not None:
        firsts.rows = run.rows()  # only of what is not written yet
    firsts.finish()
    if firsts.close() is not None and source.later is not None:  # what was spilled may be of `exclude` alone
        source.read_again("write", take_marked, copy=copy_later)
    lines.begin()
    run.unique = lines.written
    return lines.written


def write_kept(run, output):
    """Write the lines that are kept in a second pass, perhaps with their counts. Return their number."""
    rows, counts = run.selected()
    source, report = run.source, run.options.report
    count = b"" if counts is None else b"1" + (source.records.separator if source.records else b"\t")
    lines = Lines(output, source.records, report.column)

    def counts_of(batch):
        return rows.counts_of(counts, batch.first, batch.first + len(batch))

    def take(batch):
        rows.mark(batch)
        if batch.new:
            lines.write(batch, None if counts is None else counts_of(batch))

    def copy(chunk, _number):
        lines.copy(chunk, count)

    source.read_again("write", take, copy=copy if report.least == 1 else None)  # a line that is too long occurs once
    lines.begin()
    return lines.written


def write_top(run, output):
    """Write the lines of the most frequent identifiers, with their counts. Return their number.

    Of up to FEW, the rows are selected before lines are read again. Of more, the lines of all identifiers are sorted by
    their counts, with temporary files if needed. Of equally frequent ones, the first line comes first. Lines that are
    too long are not among them.
    """
    top = run.options.top
    rows, counts = run.selected(ranked=top <= FEW)
    lines = Sorter(run.scratch, run.memory)

    def take(batch):
        rows.mark(batch)
        if batch.new:
            numbers = memoryview(rows.counts_of(counts, batch.first, batch.first + len(batch))).cast("Q")
            places = compress(range(len(batch)), batch.marks.translate(IS_NEW))
            for count, place, line in zip(numbers, places, batch.new_lines(), strict=True):
                lines.add(ORDER.pack(MOST - count, batch.first + place) + line)

    run.source.read_again("write", take)
    try:
        found = ((MOST - ORDER.unpack_from(each)[0], each[ORDER.size :]) for each in islice(lines, top))
        if isinstance(output, CountsOutput):  # it is that of the command line
            return output.show(found, run.valid, run.unique)
        return write_counts(found, run.source.records, output, run.options.report.column)
    finally:
        lines.close()


class CountsOutput(Output):
    """Standard output for counts that are not written as lines."""

    def show(self, found, total, unique):
        """Write the counts.

        Args:
            found (Iterator[tuple[int, bytes]]): Counts and lines, see write_top().
            total (int): The number of all lines.
            unique (int): The number of different identifiers.

        Returns:
            int: The number of lines in `found`.
        """
        raise NotImplementedError


def write_counts(found, records, output, column):
    """Write counts and lines; see write_top(). Return their number."""
    separator, written, size = b"\t", 0, 0
    block = []
    if records:
        separator = records.separator
        block.append(records.header(column))
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
