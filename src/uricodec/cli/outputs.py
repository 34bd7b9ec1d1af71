"""What commands write: records, all of them, the first of them, a sample of them, or counts of them.

    lines  ->  records: those of --get or --to, or the lines themselves  ->  a choice of them  ->  the output

Each step sees parts of any size, in order, and no record as a whole: a long one needs no memory.
"""

import sys
from io import BytesIO
from math import floor, log, log1p

from uricodec._base._text import new_buffer
from uricodec._io.files import file_error
from uricodec._io.reading import CHUNK
from uricodec._io.writing import Output
from uricodec._records._framing import Framing
from uricodec._rows._tasks import transform_lines
from uricodec.cli.records import Template


class EnoughError(Exception):
    """No more records are needed: a command that reads lines ends here, and succeeds."""


def output_of(plan, end=b"\n", csv=None, ends=True, template=None):
    """Return the output of a command (Output).

    Args:
        plan (Plan): With output, limit, sample, seed, get and count; `log` counts records itself.
        end (bytes): What ends a record.
        csv (bytes | None): The delimiter if records are CSV of an input, in which newlines may be in quotes. Those that
            commands write are lines.
        ends (bool): Whether the command may end when the limit is reached.
        template (Template | None): What makes records of lines; None: what the command writes consists of records.
    """
    if plan.get is not None:
        from uricodec.cli import templates

        is_log = plan.command == "log"
        rows = templates.of_fields(plan.get)[1] if is_log else templates.of_urls(plan.get, plan.agreed, plan.private)
        template = Template(rows, b"")
    choice = choice_of(plan, end, csv, ends)
    if choice is None and template is None:
        return Output(plan.output)
    return RecordsOutput(plan.output, choice, template, end)


def choice_of(plan, end, csv, ends):
    """Return which records are written (First, Sample or Counts); None: all of them."""
    if plan.count is True and ends:
        shows = plan.output is None and sys.stdout is not None and sys.stdout.isatty()
        name = "text" if plan.get is not None else "host"
        return Counts(end, plan.top, name if shows else "")
    framing = Framing("csv", delimiter=csv) if csv else Framing("lines", end)
    if plan.sample is not None:
        return Sample(framing, Reservoir(plan.sample, plan.seed))
    return None if plan.limit is None else First(framing, plan.limit, ends)


class RecordsOutput(Output):
    """An output for records.

    Args:
        path (str | None): As for Output.
        choice (First | Sample | Counts | None): Which of them are written; None: all.
        template (Template | None): What makes records of the lines that are written here; None: they are records.
        end (bytes): What ends a line, and a record.

    Attributes:
        rows (RowOperation | None): What makes a record of a line; that of another input may be set between lines.
        counts (Counts | None): What counts the lines that are written, if they are not changed before.

    Raises:
        EnoughError: All records of the choice are written.
    """

    def __init__(self, path, choice=None, template=None, end=b"\n"):
        super().__init__(path)
        self._choice, self._end = choice, end
        self.counts = choice if template is None and isinstance(choice, Counts) else None
        self.rows, self._header = template or (None, b"")
        self._rest = b""  # of the last line
        self._buffer = new_buffer(2 * CHUNK) if self.rows else None

    def __enter__(self):
        super().__enter__()
        super().write(self._header)
        return self

    def write_header(self, data):
        if self.rows is None:
            super().write(data)

    def write(self, data):
        if not data:
            return
        if self.rows is None:
            self._choose(data)
            self.in_line = data[-1] != self.end
        else:
            data = self._rest + bytes(data)
            cut = data.rfind(self._end) + 1
            self._rest = data[cut:]
            self._convert(data[:cut])
            self.in_line = bool(self._rest)
        if self._choice and self._choice.has_enough:
            raise EnoughError

    def count(self, lines, keys):
        """Do the same as write(), given what counts.read() has read of the lines."""
        if lines and not self.in_line and lines[-1] == self.end:
            self.counts.add(keys)
        else:
            self.write(lines)

    def _convert(self, lines):
        """Write the records of whole lines."""
        view = memoryview(without_returns(lines, self._end))
        while view:
            read, found = transform_lines(view, self._buffer, self.rows, self._end, "keep", 0)
            if not read:  # the record of the first line does not fit
                self._buffer = new_buffer(self.rows.capacity(bytes(view).find(self._end)))
            self._choose(memoryview(self._buffer)[: found.written])
            view = view[read:]

    def _choose(self, records):
        if self._choice:
            self._choice.take(records, super().write)
        else:
            super().write(records)

    def __exit__(self, kind, *exception):
        try:
            if kind is None:
                self._finish()
        except BaseException:
            super().__exit__(*sys.exc_info())
            raise
        finally:
            if self._choice:
                self._choice.close()
        return super().__exit__(kind, *exception)

    def _finish(self):
        if self._rest:
            self._convert(self._rest + self._end)
        if self._choice:
            self._choice.finish(super().write)


def without_returns(lines, end):
    r"""Return lines (bytes) without the CR before each newline, which is part of the line end.

    >>> without_returns(b"a\r\nb\n", b"\n"), without_returns(b"a\r\n\0", b"\0")
    (b'a\nb\n', b'a\r\n\x00')
    """
    # One CR is found much faster than that there is none before any of many newlines.
    return lines.replace(b"\r\n", b"\n") if end == b"\n" and b"\r" in lines else lines


class Choice:
    """Which records are written: the base class of the choices, and the choice of none."""

    has_enough = False  # no more records are needed

    def take(self, data, write):
        """Take the next part of the records (bytes-like), and write what is chosen of it."""

    def finish(self, write):
        """Write what is chosen when there are no more records."""

    def close(self):
        """Free what is left, after the last record or an error."""


class First(Choice):
    """The first records.

    Args:
        framing (Framing): Finds the ends of records.
        most (int): How many.
        ends (bool): Whether no others are needed; else they are not written.
    """

    def __init__(self, framing, most, ends):
        self._framing, self._state, self._left, self._ends = framing, 0, most, ends

    def take(self, data, write):
        if self._left:
            count, end, self._state = self._framing.skip_records(data, 0, self._left, self._state)
            self._left -= count
            write(memoryview(data)[: None if self._left else end])
        self.has_enough = self._ends and not self._left


class Counts(Choice):
    """How often each line occurs, the most frequent first.

    Args:
        end (bytes): What ends a line.
        top (int | None): How many lines are written; None: all.
        name (str): The name of the lines in a table; "": they are not written as one.
    """

    SHOWN = 30  # the rows of a table without --top

    def __init__(self, end, top, name):
        from uricodec._counting.counter import Counter

        self._end, self._name, self._rest = end, name, b""
        self._top = top or (self.SHOWN if name else None)
        self._counter = Counter(terminator=end)

    def read(self, lines, keys=None):
        """Read lines for count(), in any thread.

        Args:
            lines (bytes-like): The lines.
            keys (KeyBatch | None): What was returned before, and was counted: its memory is used again.

        Returns:
            KeyBatch: The lines.
        """
        keys = self._counter.keys() if keys is None else keys
        keys.read(without_returns(bytes(lines), self._end), 0, len(lines))
        return keys

    def add(self, keys):
        """Count whole lines, which read() has read."""
        self._counter.add(keys)

    def take(self, data, write):
        data = self._rest + bytes(data)
        cut = data.rfind(self._end) + 1
        self._counter.add_lines(without_returns(data[:cut], self._end))
        self._rest = data[cut:]

    def finish(self, write):
        if self._rest:
            self._counter.add_lines(self._rest)
        if not self._name:
            for lines in self._counter.lines(self._top):
                write(lines)
            return
        from uricodec.cli.table import table_of

        rows = [([line], count, []) for line, count in self._counter.most_common(self._top)]
        write(table_of([self._name], rows, self._counter.total, self._counter.distinct - len(rows)))

    def close(self):
        self._counter.close()


class Sample(Choice):
    """A random sample of the records, in their order.

    The reservoir is drawn before records are read: the others are skipped, and what is taken is in memory up to ENOUGH
    bytes, else in a temporary file. A record that another one replaces stays there until the end.

    Args:
        framing (Framing): Finds the ends of records.
        reservoir (Reservoir): The sample, whose items become the places of records in the file.
    """

    ENOUGH = 4 * CHUNK

    def __init__(self, framing, reservoir):
        self._framing, self._state, self._reservoir = framing, 0, reservoir
        self._skip = 0  # so many records are skipped, of which the first one may have begun
        self._start = self._size = 0  # of the record that is being taken, in the file
        self._file, self._in_memory = BytesIO(), True

    def take(self, data, write):
        at, size, view = 0, len(data), memoryview(data)
        while at < size:
            count, end, self._state = self._framing.skip_records(view, at, self._skip or 1, self._state)
            if self._skip:
                self._reservoir.skip(count)
                self._skip -= count
                at = size if self._skip else end
                continue
            end = end if count else size
            self._put(view[at:end])
            at = end
            if count:
                self._take_record()

    def _put(self, part):
        """Append a part of the record that is taken."""
        try:
            self._file.write(part)
            self._size += len(part)
            if self._in_memory and self._start + self._size > self.ENOUGH:
                self._leave_memory()
        except OSError as error:
            raise file_error("temporary files", error) from None

    def _leave_memory(self):
        """Move what is taken to a temporary file."""
        from tempfile import TemporaryFile  # imported late: that takes longer than many a sample

        file, self._in_memory = TemporaryFile(), False  # noqa: SIM115  (close() closes it)
        file.write(self._file.getbuffer())
        self._file = file

    def _take_record(self):
        """Take the record whose parts have been put into the file."""
        self._skip = self._reservoir.take((self._start, self._size))
        self._start, self._size = self._start + self._size, 0

    def finish(self, write):
        if self._size:  # the last record has no terminator
            self._take_record()
        parts, size = [], 0
        for start, length in self._reservoir.items():
            self._file.seek(start)
            for at in range(0, length, CHUNK):
                part = self._file.read(min(length - at, CHUNK))
                parts.append(part)
                size += len(part)
                if size >= CHUNK:
                    write(b"".join(parts))
                    parts, size = [], 0
        write(b"".join(parts))

    def close(self):
        self._file.close()


class Reservoir:
    """A random sample of so many items, each with the same probability.

    The first `size` items fill the reservoir. After that, W is distributed like the greatest of `size` random
    numbers, and from it follows how many items are skipped until the next one replaces one of the reservoir
    (Kim-Hung Li, "Reservoir-sampling algorithms of time complexity O(n(1 + log(N/n)))", algorithm L).

    Args:
        size (int): How many.
        seed (int | None): The seed of random numbers; None: a random one.

    >>> sample = Reservoir(2, seed=1)
    >>> sample.take("a"), sample.take("b"), sample.items()
    (0, 0, ['a', 'b'])
    """

    def __init__(self, size, seed):
        from _random import Random  # that of `random`, whose import takes longer than many a sample

        self._random, self._size = Random(seed), size
        self._taken, self._count, self._w, self._next = [], 0, 1.0, size - 1

    def _advance(self):
        """Choose the next item that replaces one."""
        uniform = self._random.random
        self._w *= (1 - uniform()) ** (1 / self._size)
        self._next += 1 + (floor(log(1 - uniform()) / log1p(-self._w)) if 0 < self._w < 1 else 0)

    @property
    def wait(self):
        """How many items are not taken before the next one that is."""
        return 0 if self._count < self._size else self._next - self._count

    def skip(self, count):
        """Do not take so many items, at most `wait`."""
        self._count += count

    def take(self, item):
        """Take an item, or not. Return how many are not taken after it."""
        if self._count < self._size:
            self._taken.append((self._count, item))
        elif self._count == self._next:
            self._taken[int(self._random.random() * self._size)] = self._count, item
        if self._count == self._next or self._count == self._size - 1:
            self._advance()
        self._count += 1
        return self.wait

    def items(self):
        """Return the sample, in the order of the items."""
        return [item for _, item in sorted(self._taken, key=lambda taken: taken[0])]
