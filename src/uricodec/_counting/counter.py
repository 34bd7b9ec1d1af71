"""Counting in bounded memory: how often each key occurs, exactly, and the keys in the order of their counts.

A Counter is a partitioned table (see partitions) of keys, which are compared byte by byte, with counts. When the
memory is full, further occurrences of keys in the table are counted there; all other keys go to partitions in temporary
files, and each partition is counted when the input ends. So each key is in exactly one table, and its count there is
complete.

A Ranking takes each table when it is complete. For a few keys it keeps the best so far, and looks at each slot of a
table once. For many, the slots of each table are sorted where they are and written as a run, and the runs are merged.

Equally frequent keys are in the order of their first occurrences. So the result depends on the keys and their order
alone: not on the memory, nor on the number of threads.
"""

import sys
from functools import partial
from math import isnan
from struct import Struct

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._counts import (
    KeyBatch,
    entries,
    lines_of_counts,
    lines_of_slots,
    most_frequent,
    records,
    sort_slots,
    unpack_ranked,
)
from uricodec._counting.partitions import PartitionedTable
from uricodec._counting.runs import Runs, Sorter
from uricodec._io.scratch import Scratch
from uricodec._io.sizes import parse_memory

# Up to so many keys are selected without sorting.
FEW = 1024

# Memory for the buffers of partitions: a sixth of all, and no more than they need.
BUFFERS = 6 * 1024 * 1024

# The size of a block of a run in bytes: so small a share of the memory that those of all runs fit.
BLOCK = 64 * 1024
LEAST_BLOCK = 1024
SHARE = 1024

# Where a key begins in a record that is sorted by its rank.
PLACE = Struct("=Q")


class Counter:
    """How often each key occurs. A key is a line: any bytes without the terminator.

    Only one thread at a time may call its methods. Batches of keys(), one for each thread, can be read in any thread
    and then be added in order.

    Args:
        memory (int | str | None): The limit for memory: bytes, "64M", "1G" or "50%"; None: half of the memory. It
            bounds the table, the buffers of temporary files and the merge of sorted runs. Batches of keys need memory
            beside it, and so do the keys that most_common() selects without sorting: up to 1024.
        spill_dir (str | None): The folder for temporary files; None: the system's default.
        terminator (bytes): The byte that ends a key.
        sums (int): How many integers of each key are added up, exactly; they have 64 bits, and their sum may have 128.
        quantiles (int): How many numbers of each key go to sketches of their quantiles, with a relative error
            of at most 1 %. Up to 12 columns are possible, where a sum counts twice. A sketch needs about 60 bytes, and
            one for each 2 % between the least and the greatest number of its key, or two, four or eight if more than
            255 numbers are that close to each other; at most 32 KB. When the sketches use a quarter of the memory, new
            keys go to temporary files. The sketches of keys that are in memory then still grow, and only they can
            exceed the limit.
        distincts (int): How many hashes of each key are told apart; such a column counts as one of quantiles. Up to 768
            are exact; of more, the standard error is 1.15 %. A set needs 8 KB at most, which are granted to each key
            in a half of the memory; other keys go to temporary files.

    Attributes:
        total (int): The number of keys added, repeated ones included.
        distinct (int | None): The number of different keys; None until most_common() has counted them all.

    >>> with Counter("64M") as counter:
    ...     counter.add_lines(b"b\\na\\nc\\na\\nb\\n")
    ...     print(list(counter.most_common(2)), counter.total, counter.distinct)
    [(b'b', 2), (b'a', 2)] 5 3
    >>> from array import array
    >>> with Counter("64M", sums=1, quantiles=1) as counter:
    ...     counter.add_lines(b"a\\nb\\na\\n", [array("q", [5, 7, -1]), array("d", [0.5, 3, 0.5])])
    ...     print(list(counter.most_common()))
    [(b'a', 2, 4, (0.5, 0.5, 0.5, 0.5, 0.5)), (b'b', 1, 7, (3.0, 3.0, 3.0, 3.0, 3.0))]
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self, memory=None, spill_dir=None, terminator=b"\n", sums=0, quantiles=0, distincts=0
    ):
        self._memory, self._terminator = parse_memory(memory), terminator
        self._columns = sums, quantiles, distincts
        self._unpack = Struct("=" + "Qq" * sums + "5d" * quantiles + "Q" * distincts)
        self._scratch, self._fingerprint_key = Scratch(spill_dir), FingerprintKey()
        size = self._memory - min(self._memory // 6, BUFFERS)
        self._partitions = PartitionedTable(size, True, True, self._scratch, 0, *self._columns)
        self._keys = self.keys()
        self._ranking = None
        self.total, self.distinct = 0, None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """Free the memory and the temporary files. Nothing can be added or returned afterwards."""
        self._ranking = self._ranking or Ranking(self._scratch, self._memory)
        self._partitions.close()
        self._scratch.close()

    @property
    def spilled(self):
        """The number of bytes of keys that were written to temporary files."""
        return self._scratch.spilled

    @property
    def complete(self):
        """Whether all keys so far are in memory, so that peek() knows them all."""
        return self._partitions.spill is None

    def keys(self):
        """Return a new batch of keys (KeyBatch): its read() reads lines, in any thread."""
        return KeyBatch(self._fingerprint_key, self._terminator, *self._columns)

    def add(self, keys):
        """Add a batch that keys() has returned, after its read(). A batch can be added once."""
        if self._ranking is not None:
            raise ValueError("cannot add to a Counter that is closed, or has returned its counts")
        keys.first = self.total
        self._partitions.add(keys)
        self.total += len(keys)

    def add_lines(self, lines, values=()):
        """Add all keys of a buffer of lines; the last one may lack its terminator.

        Args:
            lines (bytes-like): The lines.
            values (Sequence[Buffer]): For each column an array with a number for each line: of format "q" if they are
                added up, "d" for quantiles, "Q" for hashes. The least integer, NaN, or the hash 0 stands for a missing
                one; infinities are skipped, and numbers below 10^-9, negative ones included, count as 0.
        """
        at, row, keys = 0, 0, self._keys
        try:
            while at < len(lines):
                at = keys.read(lines, at, values=values, row=row)
                row += len(keys)
                self.add(keys)
        finally:
            keys.release()

    def peek(self, top, rank=None):
        """Return the first ones of the keys in memory, while more may be added.

        Args:
            top (int): How many; memory for so many keys is needed.
            rank (Callable | None): The order, as for in_order(); None: the most frequent first.

        Returns:
            list[tuple]: As from most_common(). If `complete`, they are those of all keys.
        """
        table = self._partitions.table
        if rank is None:
            return list(map(self._result, most_frequent(table, top)))
        from heapq import nsmallest

        found = nsmallest(top, all_of(table), key=lambda each: (rank(self._result(each)), -each[0], each[1]))
        return list(map(self._result, found))

    def in_order(self, rank, top=None):
        """Yield what most_common() does in another order; those of equal rank as most_common() orders them.

        Sorting needs up to 64 MiB or a quarter of the limit for memory beside it.

        Args:
            rank (Callable[[tuple], bytes]): Returns the rank of a tuple of most_common(): the least comes first. No
                rank is the beginning of another one.
            top (int | None): How many keys; None: all.
        """
        if top is not None and top <= FEW:
            from heapq import nsmallest

            yield from nsmallest(top, self.most_common(), key=rank)
            return
        from itertools import count, islice
        from marshal import dumps, loads

        sorter = Sorter(self._scratch, self._memory // 4)
        try:
            for number, found in zip(count(), self.most_common()):
                first = rank(found)
                sorter.add(b"%b%b%b%b" % (first, number.to_bytes(8, "big"), dumps(found), PLACE.pack(len(first) + 8)))
            for record in islice(sorter, top):
                yield loads(record[PLACE.unpack_from(record, len(record) - PLACE.size)[0] : -PLACE.size])
        finally:
            sorter.close()

    def most_common(self, top=None):
        """Yield keys and their counts, the most frequent first. No keys can be added afterwards.

        Equally frequent keys are in the order of their first occurrences. The counts are complete, and `distinct` is
        set, when this returns; temporary files are needed until the last key.

        Args:
            top (int | None): How many keys; None: all.

        Yields:
            tuple: A key (bytes) and its count, the sums (int), and for each other column the quantiles 0.5, 0.9, 0.95
                and 0.99 and the greatest number, or None if all are missing; then the numbers of different hashes.

        Raises:
            OSError: If a temporary file cannot be written or read.
        """
        return map(self._result, self._rank(top))

    def lines(self, top=None):
        r"""Yield the keys as lines, COUNT TAB KEY, in the order of most_common(). The counter has no sums or quantiles.

        Args:
            top (int | None): How many keys; None: all.

        Yields:
            bytes: The next lines, each with the terminator.

        >>> with Counter("64M") as counter:
        ...     counter.add_lines(b"b\na\nc\na\n")
        ...     b"".join(counter.lines())
        b'2\ta\n1\tb\n1\tc\n'
        """
        return self._rank(top).lines(self._terminator)

    def _rank(self, top):
        """Return the Ranking of all keys, when the last one was added."""
        if self._ranking is not None:
            raise ValueError("cannot count with a Counter that is closed, or has returned its counts")
        self._ranking = Ranking(self._scratch, self._memory, top)
        self._ranking.finish(self._partitions)
        self.distinct = self._ranking.distinct
        return self._ranking

    def _result(self, found):
        count, _, key = found
        if not self._unpack.size:
            return key, count
        sums, quantiles, distincts = self._columns
        numbers = self._unpack.unpack_from(key)
        result = [key[self._unpack.size :], count]
        for i in range(0, 2 * sums, 2):
            result.append((numbers[i + 1] << 64) + numbers[i])
        for i in range(2 * sums, 2 * sums + 5 * quantiles, 5):
            result.append(None if isnan(numbers[i]) else numbers[i : i + 5])
        result += numbers[len(numbers) - distincts :]
        return tuple(result)


def all_of(table):
    """Yield count, first row, and numbers and key of each identifier of a Table, which does not change, in no order."""
    at = 0
    while at is not None:
        found, at = entries(table, at, FEW)
        yield from found


class Ranking:
    """The identifiers of tables in the order of their counts, each of which is in one of the tables.

    Args:
        scratch (Scratch): The place for temporary files.
        memory (int): The limit for memory in bytes, beside the tables.
        top (int | None): How many identifiers are wanted; None: all.
        least (int): Only identifiers whose first row has at least this number.

    Attributes:
        distinct (int): The number of identifiers in the tables.
    """

    def __init__(self, scratch, memory, top=None, least=0):
        if top is not None and top < 1:
            raise ValueError(f"top must be at least 1, got {top}")
        self._scratch, self._top, self._least = scratch, top, least
        self._block = max(LEAST_BLOCK, min(BLOCK, memory // SHARE))
        self._best, self._bound = [], None  # of a few
        self._table, self._count = None, 0  # the only table, if there is one, and how many of it are wanted
        self._runs = Runs(scratch, "records", self._block)
        self.distinct = 0

    def finish(self, partitions, take=lambda batch: None, tick=lambda: None):
        """Take all identifiers of a PartitionedTable; see its finish()."""
        if partitions.spill is None and not self._is_few():
            self.distinct += partitions.table.count
            self._table, self._count = partitions.table, self._sort(partitions.table)
            return
        partitions.finish(take, self.add, tick)

    def add(self, table):
        """Take the identifiers of a table, which is complete."""
        self.distinct += table.count
        if self._is_few():
            found = self._best + most_frequent(table, self._top, self._least, self._bound)
            self._best = sorted(found, key=lambda each: (-each[0], each[1]))[: self._top]
            if len(self._best) == self._top:
                self._bound = self._best[-1][:2]
            return
        count = self._sort(table)
        if count:
            self._runs.add(self._blocks(table, count))

    def _is_few(self):
        return self._top is not None and self._top <= FEW

    def _sort(self, table):
        """Sort a table. Return how many of its identifiers are wanted."""
        count = sort_slots(table, self._least)
        return count if self._top is None else min(count, self._top)

    def _blocks(self, table, count, read=records):
        at = 0
        while at < count:
            block, at = read(table, at, count, self._block)
            yield block

    def __iter__(self):
        """Yield count, first row, and numbers and key of each identifier, in order; possible only once.

        Keys of tables that are not exact are empty.
        """
        yield from self._best
        for block in self._read(unpack_ranked):
            yield from block

    def lines(self, terminator):
        """Yield identifiers without numbers as lines, COUNT TAB KEY; possible only once."""
        if self._best:
            yield b"".join([b"%d\t%b%b" % (count, key, terminator) for count, _, key in self._best])
        if self._table is not None:
            yield from self._blocks(self._table, self._count, partial(lines_of_slots, terminator=terminator[0]))
            return
        yield from self._read(lambda block, most: lines_of_counts(block, most, terminator[0]))

    def _read(self, read):
        """Yield what a function makes of the first records of each block of many identifiers."""
        left = sys.maxsize if self._top is None else min(self._top, sys.maxsize)
        blocks = self._runs.merged() if self._table is None else self._blocks(self._table, self._count)
        for block in blocks:
            found, count = read(block, left)
            left -= count
            yield found
            if not left:
                break
        self._runs.close()
