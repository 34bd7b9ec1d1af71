"""What is deduplicated: rows that can be read again and again, as batches of identifiers.

`Files` has lines or records, `Dataset` rows of Parquet files, `Memory` a list, a column, or a buffer of lines.
"""

from _thread import get_ident
from time import monotonic
from typing import NamedTuple

# The marks of rows in a batch; 0 is a row that is not decided yet, 3 one for which the table has no memory.
SEEN, NEW = 1, 2
IS_NEW = bytes(mark == NEW for mark in range(256))

# Seconds between reports of progress.
PERIOD = 0.1


class Progress(NamedTuple):
    """The progress of a run.

    Attributes:
        phase (str): "read", "partitions" (of spilled identifiers), "compare" (by another level),
            "groups" (of spellings), "write", or "update" (of a saved set).
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
        self._tell, self.total, self._thread = tell, total, get_ident()
        self.unique = 0
        self.begin("read")

    def begin(self, phase):
        self._phase, self._bytes_read, self.rows, self._next = phase, 0, 0, 0

    def add(self, size):
        """Add `size` to the number of bytes read."""
        self._bytes_read += size
        if self._tell is not None and get_ident() == self._thread and monotonic() >= self._next:
            self._tell(Progress(self._phase, self._bytes_read, self.total, self.rows, self.unique))
            self._next = monotonic() + PERIOD


class Source:
    """Rows of inputs, and before them those of inputs to exclude, all numbered in the order in which they are read.

    Args:
        options (Options): The options of the run.
        size (int): The bytes of all inputs.

    Attributes:
        sets (Sequence[tuple[SavedSet, bool]]): Saved sets. Rows whose identifiers are in one (True), or not in it
            (False), count as seen in the first pass.
        excluded (int): The number of rows of the inputs to exclude, which come first.
        lines (int): The number of all rows, when it is known; else 0.
        invalid (int): The number of invalid rows in the inputs.
        long (int): The number of lines of the inputs that are too long, and kept. They are in no batch.
        unordered (int): The number of rows of the inputs without a readable value by which they are ordered.
        later (int | None): The number of the first row of the inputs after which some rows are undecided.
        records (Records | None): The format, if the rows are records in files.
        ticker (Ticker): Reports the progress.
    """

    records = later = None

    def __init__(self, options, size=0):
        self.options, self.sets = options, ()
        self.excluded = self.lines = self.invalid = self.long = self.unordered = 0
        self.ticker = Ticker(options.on_progress, size)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """Close temporary files."""

    def batch(self, identifier, key, ordered=False):
        """Return a new batch for this source.

        Args:
            identifier (Identifier): The normal form of the identifiers.
            key (FingerprintKey): The key of their fingerprints.
            ordered (bool): Whether to read the order of each row, too.
        """
        raise NotImplementedError

    def read_first(self, make, take, keep=True, copy=None):
        """Read all rows in the first pass.

        Args:
            make (Callable[[], IdentifierBatch]): Returns a new batch to read rows with.
            take (Callable[[IdentifierBatch, bool], None]): Called with each batch, in order, in any thread, and with
                whether it belongs to an input. If it does and has undecided rows, it and all rows after it will be read
                again.
            keep (bool): Whether all rows will be read again.
            copy (Callable[[Chunk], None] | None): Called, in turn, with the pieces of lines that are too long, kept,
                and before any undecided line.
        """
        raise NotImplementedError

    def read_again(self, phase, take, make=None, copy=None):
        """Read again the rows that are needed again.

        Args:
            phase (str): The name of the pass.
            take (Callable[[IdentifierBatch], None]): Called with each batch, in order, in any thread.
            make (Callable[[], IdentifierBatch] | None): Returns a new batch to read rows with, if identifiers are
                needed; then those to exclude are read, too. None: only the positions of lines are needed.
            copy (Callable[[Chunk, int], None] | None): Called, in turn, with the pieces of lines that are too long and
                kept, and the line number.
        """
        raise NotImplementedError

    def place_of(self, row):
        """Return where a row of the inputs is, as members of a JSON object."""
        raise NotImplementedError

    def mark_known(self, batch):
        """Mark the rows of a batch whose identifiers the saved sets decide."""
        for saved, present in self.sets:
            saved.mark(batch, present, SEEN)
