"""Partitioned deduplication: finds the first row of each identifier in bounded memory.

A table holds the identifiers seen so far. When it is full it no longer changes, and rows whose identifiers it does not
hold are undecided: fingerprint and row number go to one of 64 partitions in temporary files. Rows with equal
identifiers are in the same partition. After the whole input, each partition is deduplicated in the same way, and
partitioned again, by other bits of the fingerprint, if it does not fit. The first rows that are found this way have
their bits set, and the input is read a second time from where the table was full: the lines whose bits are set are
written.

So all lines that the first pass writes come before all others, and the output does not depend on the memory. Counts are
complete only at the end; they, and identifiers with duplicates, are written in a second pass over everything.

Temporary files have no name: nothing is left, however the process ends.
"""

from uricodec._counting._spill import SpillBuffers, SpilledBatch
from uricodec._counting._table import Table
from uricodec._io.scratch import Blocks

# Bytes of the buffer of a partition, unless the memory is tiny.
SPILL_CAPACITY = 64 * 1024
LEAST_SPILL_CAPACITY = 1024


class Spill:
    """Undecided rows, by partition.

    Args:
        depth (int): How many times the rows were partitioned before.
        memory (int): The approximate limit for memory in bytes.
        columns (int): How many numbers belong to each row.
    """

    def __init__(self, scratch, depth, exact, memory, columns=0):
        self._scratch = scratch
        capacity = max(LEAST_SPILL_CAPACITY, min(SPILL_CAPACITY, memory // 512))
        self._buffers = SpillBuffers(depth, exact or columns > 0, capacity, columns=columns)  # numbers follow forms
        self._file = Blocks(scratch)
        self._places = [[] for _ in range(len(self._buffers))]
        self.rows = 0

    def add(self, batch):
        """Add the undecided rows of a batch."""
        self.rows += batch.later
        buffers = self._buffers
        at = 0
        while True:
            at = buffers.add(batch, at)
            if buffers.full < 0:
                return
            self._flush(buffers.full)

    def _flush(self, part):
        block = self._buffers.take(part)
        if block:
            self._scratch.spilled += len(block)
            self._places[part].append(self._file.add(block))
        self._buffers.clear(part)

    def finish(self):
        """Write what is still in memory. Return the numbers of the partitions with rows."""
        for part in range(len(self._places)):
            self._flush(part)
        self._buffers = None
        return [part for part, places in enumerate(self._places) if places]

    def read(self, part, batch):
        """Read the rows of a partition.

        Yields:
            SpilledBatch: The next batch.
        """
        for block in self._file.read(self._places[part]):
            batch.read(block)
            del block  # it may be long: it is freed before the next one is read
            yield batch
            batch.release()

    def close(self):
        self._file.close()
        self._buffers = None


# --- partitioned deduplication ----------------------------------------------------------------------------------------


class PartitionedTable:
    """A table, and the rows for which it has no memory.

    Args:
        memory (int): The limit for the table in bytes.
        depth (int): How many times the rows were partitioned before.
        sums (int), quantiles (int), distincts (int), keep (str): See Table.
        runs (SortedRuns | None): What gets the fingerprints of all identifiers, when they are complete.

    Attributes:
        table (Table): The table.
        spill (Spill | None): The rows for which it has no memory.
        keep (str): As above.
        spilled (bool): Whether there ever were such rows.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self, memory, exact, counting, scratch, depth=0, sums=0, quantiles=0, distincts=0, runs=None, keep="first"
    ):
        self._options = memory, exact, counting, scratch
        self._depth, self._numbers, self.runs = depth, (sums, quantiles, distincts), runs
        self.table = Table(memory, counting, exact, sums, quantiles, keep, distincts)
        self.spill = None
        self.keep, self.spilled = keep, False

    @property
    def _columns(self):
        return 2 if self.keep == "newest" else sum(self._numbers)

    def add(self, batch):
        """Mark the rows of a batch as seen, new, or undecided."""
        self.table.add(batch)
        if batch.later:
            if self.spill is None:
                memory, exact, _, scratch = self._options
                self.spill = Spill(scratch, self._depth, exact, memory, self._columns)
                self.spilled = True
            self.spill.add(batch)

    def finish(self, take, counted, tick=lambda: None):
        """Deduplicate the partitions.

        Args:
            take (Callable[[SpilledBatch], None]): Called with each batch when its rows are marked.
            counted (Callable[[Table], None] | None): Called with each table when it is complete.
            tick (Callable[[], None]): Called from time to time.
        """
        runs, spill, self.spill = self.runs, self.spill, None
        if runs is not None and (spill is not None or counted or self._depth):
            self.runs = None
            runs.add(self.table, self._options[3])
        if counted:
            counted(self.table)
        if spill is None:
            return
        self.table.clear()
        try:
            spare = SpilledBatch(self._columns)
            for part in spill.finish():
                partitions = PartitionedTable(*self._options, self._depth + 1, *self._numbers, runs, self.keep)
                partitions.table.settled = self.table.settled
                for batch in spill.read(part, spare):
                    partitions.add(batch)
                    take(batch)
                    tick()
                partitions.finish(take, counted, tick)
        finally:
            spill.close()

    def close(self):
        """Free the memory and the temporary files."""
        runs, self.runs = self.runs, None
        if runs is not None:
            runs.take(self.table)
        else:
            self.table.clear()
        if self.spill is not None:
            self.spill.close()
            self.spill = None
