"""A run of deduplication: what is asked about the rows of a source, and how it is found.

All questions are answered by the same passes; see _counting/partitions:

    batches of rows --> table --> rows that are marked as new are first rows
                          |
                          | full
                          v
                     partitions in temporary files --> tables, one after the other --> the other first rows

Then the source is read again, and the rows that were found are written: `Files` and `Dataset` do that.
"""

import mmap
from array import array
from contextlib import ExitStack, closing, nullcontext
from functools import partial

from uricodec._base._text import new_buffer
from uricodec._counting.counter import Ranking
from uricodec._counting.partitions import PartitionedTable
from uricodec._io.files import close_file
from uricodec._io.scratch import Scratch
from uricodec.dedup._first_rows import FirstRows
from uricodec.dedup._groups import Groups
from uricodec.dedup._options import DedupStats, output_of
from uricodec.dedup._sets import SortedRuns, known_set, set_of_runs

# How many counts are fetched at once.
COUNTS = 1 << 14


def deduplicate(options, open_source):
    """Deduplicate files or a dataset; see dedup_files() and unique_dataset().

    Args:
        options (Options): All options.
        open_source (Callable): Returns a Source, given `options`, the paths of inputs and of those to exclude, the
            Scratch, and who is told of invalid lines.

    Returns:
        DedupStats: The figures of the run.
    """
    with (
        known_set(options) as known,  # replaced after all others
        Scratch(options.spill_dir) as scratch,  # entered before the outputs: it checks that the folder is writable
        ExitStack() as stack,
    ):
        source = stack.enter_context(open_source(options, options.inputs, options.exclude, scratch, options.on_invalid))
        output = stack.enter_context(source.output())
        groups = stack.enter_context(nullcontext() if options.groups is None else output_of(options.groups))
        sets, memory = list(known.sets), options.size
        if options.only_in:
            with open_source(options, options.only_in, (), scratch, None) as wanted:
                runs = Run(options, wanted, known.key, scratch, memory).fingerprints()
            only = set_of_runs(runs, options.identifier, known.key, scratch, memory)
            sets.append((stack.enter_context(closing(only)), False))
        memory -= sum(saved.held for saved, _ in sets)
        source.sets = sets
        run = Run(options, source, known.key, scratch, memory, known.runs)
        return run.complete(known, output, groups)


class Run:
    """The passes over one source.

    Args:
        options (Options): The options.
        source (Source): The rows.
        key (FingerprintKey): The key of all fingerprints.
        scratch (Scratch): The place for temporary files.
        memory (int): The limit for tables in bytes.
        runs (SortedRuns | None): Gets the fingerprints of all identifiers.

    Attributes:
        unique (int): The number of different identifiers in the inputs, after the first pass.
        options, source, scratch, memory: As above.
    """

    def __init__(self, options, source, key, scratch, memory, runs=None):  # noqa: PLR0913, PLR0917
        self.options, self.source, self.scratch, self.memory = options, source, scratch, memory
        self._key, self._runs = key, runs
        self.unique = 0

    def complete(self, known, output, groups):
        """Write the output and the report of groups, and replace a saved set. Return the statistics."""
        options, source, stats = self.options, self.source, DedupStats()
        stats.written = source.write(self, output)
        stats.unique, stats.rows, stats.invalid = self.unique, source.lines - source.excluded, source.invalid
        stats.unordered = source.unordered
        stats.unclosed = source.records is not None and source.records.unclosed
        stats.duplicates = self.valid - stats.unique
        if options.merged:
            stats.merged = self._merged(stats.duplicates)
        if groups is not None:
            Groups(self).write(groups)
        if known.runs is not None:
            source.ticker.begin("update")
            source.ticker.add(0)
            known.write(self.scratch)
        stats.spilled = self.scratch.spilled
        return stats

    @property
    def valid(self):
        """The number of rows of the inputs that count, after the first pass."""
        dropped = self.source.invalid if self.options.errors == "drop" else 0
        return self.source.lines - self.source.excluded - dropped

    # --- passes -------------------------------------------------------------------------------------------------------

    def batch(self, identifier=None):
        """Return a new batch for the rows, which normalizes them as `identifier` says; None: as the options do."""
        return self.source.batch(identifier or self.options.identifier, self._key)

    def firsts(self, **arguments):
        """Return new Firsts for the first pass, with a table as the options say."""
        options = self.options
        table = PartitionedTable(
            self.memory, options.exact, options.needs_table, self.scratch, runs=self._runs, keep=options.keep
        )
        return Firsts(table, self.source, **arguments)

    def counted_firsts(self, memory, exact):
        """Return new Firsts for another pass, which count."""
        table = PartitionedTable(memory, exact, True, self.scratch)
        return Firsts(table, self.source, self.rows(), counts=Counts(self.scratch, memory))

    def rows(self):
        """Return an empty set for rows of the source: on disk if their number is known, else it grows in memory."""
        lines = self.source.lines
        return FirstRows(self.scratch.mapping((lines + 63) // 64 * 8)) if lines else FirstRows()

    def selected(self, ranked=True):
        """Find the rows to be written, in the first pass. All of the source can be read again.

        Args:
            ranked (bool): Whether `top` selects rows; False: counts are returned for all.

        Returns:
            tuple[FirstRows, bytes-like | None]: The rows, and their counts if these are written.
        """
        options, report = self.options, self.options.report
        if options.top is not None and ranked:
            rankings = []
            self._first_pass(complete=partial(self._rank, rankings)).close()
            return most_frequent(rankings[0])
        if not report.counts:
            return self._first_pass().close(), None
        firsts = self._first_pass(counts=Counts(self.scratch, self.memory))
        rows = firsts.close()
        if report.least > 1:
            rows.remove_rare(firsts.counts, report.least)
            rows.seal()
        return rows, firsts.counts if report.column else None

    def _first_pass(self, **arguments):
        """Find the row of each identifier that is kept. Return the Firsts."""
        source, firsts = self.source, self.firsts(rows=self.rows(), **arguments)
        newest = self.options.keep == "newest"

        def take(batch, is_input):
            if is_input:
                firsts.partitions.table.settled = source.excluded  # no row replaces one to exclude
            firsts.add(batch, is_input)
            source.ticker.unique += batch.new if is_input else 0

        source.read_first(lambda: source.batch(self.options.identifier, self._key, newest), take)
        firsts.finish()
        self.unique = firsts.count
        return firsts

    def _rank(self, rankings, table):
        """Add a complete table to the Ranking of the most frequent identifiers."""
        if not rankings:  # where the inputs begin is known when those to exclude have been read
            rankings.append(Ranking(self.scratch, self.memory, self.options.top, self.source.excluded))
        rankings[0].add(table)

    def _merged(self, duplicates):
        """Return how many of all duplicates each step makes, with one more pass for each but the last one."""
        merged, finer, steps = {}, 0, self.options.identifier.steps()
        for name, identifier in steps:
            found = duplicates if name == steps[-1][0] else self.valid - self._unique_at(identifier)
            merged[name], finer = found - finer, found
        return merged

    def _unique_at(self, identifier):
        """Return the number of different identifiers at another level."""
        source = self.source
        table = PartitionedTable(self.memory, self.options.exact, False, self.scratch)
        firsts = Firsts(table, source, self.rows())
        source.read_again(
            "compare", lambda batch: firsts.add(batch, batch.first >= source.excluded), lambda: self.batch(identifier)
        )
        firsts.finish()
        firsts.close()
        return firsts.count

    def fingerprints(self):
        """Return the fingerprints of the source, as SortedRuns, after one pass."""
        runs = SortedRuns()
        firsts = Firsts(PartitionedTable(self.memory, False, False, self.scratch, runs=runs), self.source)
        self.source.read_first(self.batch, firsts.add, keep=False)
        firsts.finish()
        firsts.close()
        return runs


class Firsts:
    """The first row of each identifier of one pass; or the row that is kept instead of it.

    Args:
        partitions (PartitionedTable): The table, which decides which rows are kept.
        source (Source): What is read.
        rows (FirstRows | None): Gets the rows; None: they are not needed.
        complete (Callable[[Table], None] | None): Called with each table when it is complete.
        counts (Counts | None): Counts how often each identifier occurs, in a table that counts.

    Attributes:
        partitions, rows: As above.
        count (int): The number of different identifiers in the inputs, when it has finished.
        counts (bytes-like | None): How often each occurs, in the order of the rows, when it has finished.
    """

    def __init__(self, partitions, source, rows=None, complete=None, counts=None):
        self.partitions, self.rows = partitions, rows
        self._source, self._complete, self._counts, self.counts = source, complete, counts, None
        self._is_late = partitions.keep != "first"  # the rows are known when tables are complete
        self.count = 0

    def add(self, batch, is_input=True):
        """Mark the rows of a batch. Those of inputs are kept."""
        self.partitions.add(batch)
        if is_input and batch.new and self.rows is not None and not self._is_late:
            self.rows.set(batch)

    def finish(self):
        """Process the partitions, after the last batch."""
        is_spilled, source = self.partitions.spill is not None, self._source
        if is_spilled:
            source.ticker.begin("partitions")
        complete = self._take_table if self._complete or self._is_late or (self._counts and is_spilled) else None
        if is_spilled or complete:
            self.partitions.finish(self._take_later, complete)
        if self.rows is not None:
            self.rows.seal()
            self.count = self.rows.count - self.rows.rank(source.excluded) + source.long
        if self._counts:
            self.counts = self._counts.put(self.rows, self.partitions.table)

    def _take_later(self, batch):
        if self.rows is not None and not self._is_late:
            self.rows.set(batch)
        self._source.ticker.rows += len(batch)
        self._source.ticker.add(0)

    def _take_table(self, table):
        if self._is_late:
            for pairs in table.counts(COUNTS):
                self.rows.set_pairs(pairs, self._source.excluded)
        if self._counts and self.partitions.spilled:
            self._counts.add(table)
        if self._complete:
            self._complete(table)

    def close(self):
        """Free the memory of the table, and its temporary files. Return the rows."""
        self.partitions.close()
        return self.rows


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
        if self._file is None:
            counts = array("Q", [1]) * rows.count
            for pairs in table.counts(COUNTS, 2):  # most counts are 1, and finding their places takes long
                rows.put_counts(pairs, counts)
            return counts
        size = 8 * rows.count
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


def most_frequent(ranking):
    """Return the rows of the identifiers of a Ranking, and their counts, in the order of the rows."""
    pairs = array("Q")
    for count, row, _ in ranking:
        pairs.append(row)
        pairs.append(count)
    rows, counts = FirstRows(), bytearray(4 * len(pairs))
    rows.set_pairs(pairs)
    rows.seal()
    rows.put_counts(pairs, counts)
    return rows, counts
