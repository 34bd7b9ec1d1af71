"""What commands write to: all of their records, the first of them, a sample of them, or counts of them.

Each output counts records where they are written, so it serves every command, whatever it does with invalid records.
"""

from uricodec._io import reading
from uricodec._io.files import file_error
from uricodec._io.writing import Output
from uricodec._records._framing import Framing
from uricodec.cli.records import CONTROL, header_of, record_of, text_of


class EnoughError(Exception):
    """No more records are needed: a command that reads lines ends here, and succeeds."""


def output_of(arguments, end=b"\n", csv=None, ends=True):
    """Return the output of a command (Output).

    Args:
        arguments (Plan): With output, limit, sample, seed, get and count; `log` counts records itself.
        end (bytes): What ends a record.
        csv (bytes | None): The delimiter if records are CSV, in which newlines may be in quotes.
        ends (bool): Whether the command may end when the limit is reached.
    """
    output = counted_output(arguments, end) if arguments.count is True and ends else None
    output = output or records_output(arguments, end, csv, ends)
    if arguments.get is None:
        return output
    from uricodec.cli import templates

    if arguments.command == "log":
        _, render = templates.of_fields(arguments.get)
    else:
        render = templates.of_urls(arguments.get, arguments.agreed)
    return templates.TemplateOutput(output, render, end)


def records_output(arguments, end, csv, ends):
    """Return what output_of() does, for records that are written as they are."""
    path = arguments.output
    if arguments.limit is None and arguments.sample is None:
        return Output(path)
    framing = Framing("csv", delimiter=csv) if csv else Framing("lines", end)
    if arguments.sample is not None:
        return SampledOutput(path, framing, Reservoir(arguments.sample, arguments.seed))
    return LimitedOutput(path, framing, arguments.limit, ends)


def counted_output(arguments, end):
    """Return the output for --count: a table at a terminal, else lines."""
    import sys

    shows = arguments.output is None and sys.stdout is not None and sys.stdout.isatty()
    name = "text" if arguments.get is not None else "host"
    return CountedOutput(arguments.output, end, arguments.top, name if shows else "")


class CountedOutput(Output):
    """Counts lines, and writes at the end how often each occurs, the most frequent first.

    Args:
        path (str | None): As for Output.
        end (bytes): What ends a line.
        top (int | None): How many lines are written; None: all.
        name (str): The name of the lines in a table; "": they are not written as one.
    """

    # The rows of a table without --top, and how many lines are written at once.
    SHOWN, ROWS = 30, 4096

    def __init__(self, path, end, top, name):
        from uricodec._counting.counter import Counter

        super().__init__(path)
        self._end, self._name, self._rest = end, name, b""
        self._top = top or (self.SHOWN if name else None)
        self._counter = Counter(terminator=end)

    def write(self, data):
        data = self._rest + bytes(data)
        cut = data.rfind(self._end) + 1
        # A CR before the newline is part of the line end.
        self._counter.add_lines(data[:cut].replace(b"\r\n", b"\n") if self._end == b"\n" else data[:cut])
        self._rest = data[cut:]
        self.in_line = bool(self._rest)

    def __exit__(self, kind, *exception):
        with self._counter as counter:
            if kind is None:
                if self._rest:
                    counter.add_lines(self._rest)
                self._show(counter.most_common(self._top))
        return super().__exit__(kind, *exception)

    def _show(self, found):
        from itertools import islice

        if not self._name:
            while block := list(islice(found, self.ROWS)):
                super().write(b"".join([b"%d\t%s%s" % (count, line, self._end) for line, count in block]))
            return
        from uricodec.cli.table import CountTable, terminal

        rows = [([line], count, []) for line, count in found]
        width, encoding = terminal()
        others = self._counter.distinct - len(rows)
        lines = CountTable([self._name], width=width, encoding=encoding).lines(rows, self._counter.total, others)
        super().write("".join(f"{line}\n" for line in lines).encode(encoding))


class CountRecordsOutput(Output):
    """Writes lines with counts, "COUNT TAB LINE", as records.

    Args:
        path (str | None): As for Output.
        to (str): A value of --to.
    """

    NAMES = "count", "line"

    def __init__(self, path, to):
        super().__init__(path)
        self._to, self._rest = to, b""

    def __enter__(self):
        super().__enter__()
        super().write(header_of(self._to, self.NAMES))
        return self

    def write(self, data):
        lines = (self._rest + bytes(data)).split(b"\n")
        self._rest = lines.pop()
        super().write(b"".join(map(self._record, lines)))

    def __exit__(self, kind, *exception):
        if kind is None and self._rest:
            super().write(self._record(self._rest))
        return super().__exit__(kind, *exception)

    def _record(self, line):
        count, _, text = line.removesuffix(b"\r").partition(b"\t")
        text = text_of(text)
        if self._to != "jsonl":  # as in reports: a value has no tab and no newline
            text = CONTROL.sub(lambda found: f"%{ord(found[0]):02X}", text)
        return record_of(self._to, self.NAMES, [int(count), text])


class LimitedOutput(Output):
    """Writes so many records. What has been written of a record is not kept, so a long one needs no memory.

    Args:
        path (str | None): As for Output.
        framing (Framing): Finds the ends of records.
        most (int): How many.
        ends (bool): Whether to raise EnoughError after the last one; else the others are not written.
    """

    def __init__(self, path, framing, most, ends):
        super().__init__(path)
        self._framing, self._state, self._left, self._ends = framing, 0, most, ends

    def write_header(self, data):
        super().write(data)

    def write(self, data):
        if not data:
            return
        if self._left:
            count, end, self._state = self._framing.skip_records(data, 0, self._left, self._state)
            self._left -= count
            super().write(memoryview(data)[: None if self._left else end])
        self.in_line = data[-1] != self.end
        if self._ends and not self._left:
            raise EnoughError


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
    (None, None, ['a', 'b'])
    """

    def __init__(self, size, seed):
        from random import Random

        self._random, self._size = Random(seed), size
        self._taken, self._count, self._w, self._next = [], 0, 1.0, size - 1

    def _advance(self):
        """Choose the next item that replaces one."""
        from math import floor, log, log1p

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
        """Take an item, or not."""
        if self._count < self._size:
            self._taken.append((self._count, item))
        elif self._count == self._next:
            self._taken[self._random.randrange(self._size)] = self._count, item
        if self._count == self._next or self._count == self._size - 1:
            self._advance()
        self._count += 1

    def items(self):
        """Return the sample, in the order of the items."""
        return [item for _, item in sorted(self._taken, key=lambda taken: taken[0])]


class SampledOutput(Output):
    """Writes a random sample of records, in their order.

    The reservoir is drawn before records are read: the others are skipped, and what is taken is in memory up to ENOUGH
    bytes, else in a temporary file. A record that another one replaces stays there until the end.

    Args:
        path (str | None): As for Output.
        framing (Framing): Finds the ends of records.
        sample (Reservoir): The sample, whose items become the places of records in the file.
    """

    ENOUGH = 4 * reading.CHUNK

    def __init__(self, path, framing, sample):
        super().__init__(path)
        self._framing, self._state, self._sample = framing, 0, sample
        self._skip = 0  # so many records are skipped, of which the first one may have begun
        self._start = self._size = 0  # of the record that is being taken, in the file

    def __enter__(self):
        from tempfile import SpooledTemporaryFile

        self._file = SpooledTemporaryFile(self.ENOUGH)
        return super().__enter__()

    def write_header(self, data):
        super().write(data)

    def write(self, data):
        if not data:
            return
        at, view = 0, memoryview(data)
        while at < len(view):
            count, end, self._state = self._framing.skip_records(view, at, self._skip or 1, self._state)
            if self._skip:
                self._sample.skip(count)
                self._skip -= count
                at = len(view) if self._skip else end
                continue
            part = view[at : end if count else None]
            at += len(part)
            self._put(part)
            if count:
                self._take()
        self.in_line = data[-1] != self.end

    def _put(self, part):
        """Append a part of the record that is taken."""
        try:
            self._file.write(part)
        except OSError as error:
            raise file_error("temporary files", error) from None
        self._size += len(part)

    def _take(self):
        """Take the record whose parts have been put into the file."""
        self._sample.take((self._start, self._size))
        self._start, self._size = self._start + self._size, 0
        self._skip = self._sample.wait

    def __exit__(self, kind, *exception):
        with self._file:
            if kind is None:
                if self._size:  # the last record has no terminator
                    self._take()
                self._write_sample()
        return super().__exit__(kind, *exception)

    def _write_sample(self):
        parts, size = [], 0
        for start, length in self._sample.items():
            self._file.seek(start)
            for at in range(0, length, reading.CHUNK):
                part = self._file.read(min(length - at, reading.CHUNK))
                parts.append(part)
                size += len(part)
                if size >= reading.CHUNK:
                    super().write(b"".join(parts))
                    parts, size = [], 0
        super().write(b"".join(parts))
