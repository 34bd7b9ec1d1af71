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

import os
import re
import sys
from mmap import mmap

from uricodec._base._text import new_buffer
from uricodec._io import reading
from uricodec._io.files import close_file, file_error, printable
from uricodec._io.sizes import parse_size
from uricodec.dedup._spill import SpillBuffers, SpilledBatch
from uricodec.dedup._table import Table

# Bytes of the buffer of a partition, unless the memory is tiny.
SPILL_CAPACITY = 64 * 1024
LEAST_SPILL_CAPACITY = 1024

# After so many files, references to closed ones are dropped.
FILES = 100

# The size of the address space.
ADDRESSES = 2 * sys.maxsize + 1

# A share of the machine's memory.
SHARE = re.compile(r"0*[1-9]\d?(\.\d+)?%|100%", re.ASCII)

# The flag that opens a file without a name; 0: not supported.
TEMPORARY = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC if hasattr(os, "O_TMPFILE") else 0


# --- temporary files --------------------------------------------------------------------------------------------------


def usual_folder():
    """Return the system's folder for temporary files: the choice of tempfile, but without importing it if possible."""
    guess = next((os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), "/tmp")
    if TEMPORARY and os.access(guess, os.W_OK | os.X_OK):
        return guess
    import tempfile

    try:
        return tempfile.gettempdir()
    except OSError as error:
        raise file_error("temporary files", error) from None


class Scratch:
    """The place for temporary files.

    Args:
        folder (str | None): The folder; None: the system's default.

    Attributes:
        spilled (int): The bytes of identifiers that were written to them.
    """

    def __init__(self, folder):
        self.spilled = 0
        self._files = []
        self.name = os.fspath(folder) if folder is not None else usual_folder()
        close_file(self.file())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def shown(self):
        """The folder, as a message shows it."""
        return printable(str(self.name))

    def fail(self, error):
        return file_error(self.shown, error)

    def file(self):
        """Return a new file that is deleted when it is closed."""
        file = self._open()
        if len(self._files) >= FILES:
            self._files = [each for each in self._files if not each.closed]
        self._files.append(file)
        return file

    def _open(self):
        if TEMPORARY:
            try:
                return open(os.open(self.name, TEMPORARY, 0o600), "r+b", buffering=0)
            except (OSError, ValueError):
                pass  # not supported by every file system; other errors are reported by tempfile
        import tempfile  # imported late: that takes longer than a short corpus

        try:
            return tempfile.TemporaryFile(buffering=0, prefix="uricodec-", dir=self.name)
        except (OSError, ValueError) as error:
            raise self.fail(error) from None

    def close(self):
        """Close all files."""
        for file in self._files:
            close_file(file)
        self._files = []

    def write(self, file, octets):
        """Append all of `octets`."""
        rest = memoryview(octets)
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except OSError as error:
            raise self.fail(error) from None

    def mapping(self, size):
        """Return zeroed memory that is mapped to a file; the disk space is allocated."""
        file = self.file()
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                for at in range(0, size, reading.CHUNK):
                    self.write(file, bytes(min(size - at, reading.CHUNK)))
            return mmap(file.fileno(), size)
        except OSError as error:
            raise self.fail(error) from None
        finally:
            close_file(file)


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
        self._file = scratch.file()
        self._size = 0
        self._blocks = [[] for _ in range(len(self._buffers))]
        self.rows = 0

    def add(self, names):
        """Add the undecided rows of a batch."""
        self.rows += names.later
        buffers = self._buffers
        at = 0
        while True:
            at = buffers.add(names, at)
            if buffers.full < 0:
                return
            self._flush(buffers.full)

    def _flush(self, part):
        block = self._buffers.take(part)
        if block:
            self._scratch.write(self._file, block)
            self._scratch.spilled += len(block)
            self._blocks[part].append((self._size, len(block)))
            self._size += len(block)
        self._buffers.clear(part)

    def finish(self):
        """Write what is still in memory. Return the numbers of the partitions with rows."""
        for part in range(len(self._blocks)):
            self._flush(part)
        self._buffers = None
        return [part for part, blocks in enumerate(self._blocks) if blocks]

    def read(self, part, names):
        """Read the rows of a partition.

        Yields:
            SpilledBatch: The next batch.
        """
        buffer = new_buffer(SPILL_CAPACITY)
        for place, size in self._blocks[part]:
            names.release()
            if size > len(buffer):
                buffer = new_buffer(size)
            view = memoryview(buffer)[:size]
            self._read(view, place)
            names.read(view)
            yield names
        names.release()

    def _read(self, view, place):
        try:
            self._file.seek(place)
            while view:
                size = self._file.readinto(view)
                if not size:
                    raise OSError(None, "temporary file was truncated")
                view = view[size:]
        except OSError as error:
            raise self._scratch.fail(error) from None

    def close(self):
        close_file(self._file)
        self._buffers = None


# --- partitioned deduplication ----------------------------------------------------------------------------------------


class PartitionedTable:
    """A table, and the rows for which it has no memory.

    Args:
        memory (int): The limit for the table in bytes.
        depth (int): How many times the rows were partitioned before.
        sums (int), quantiles (int), keep (str): See Table.
        runs (SortedRuns | None): What gets the fingerprints of all identifiers, when they are complete.

    Attributes:
        table (Table): The table.
        spill (Spill | None): The rows for which it has no memory.
        keep (str): As above.
        spilled (bool): Whether there ever were such rows.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self, memory, exact, counting, scratch, depth=0, sums=0, quantiles=0, runs=None, keep="first"
    ):
        self._options = memory, exact, counting, scratch
        self._depth, self._numbers, self.runs = depth, (sums, quantiles), runs
        self.table = Table(memory, counting, exact, sums, quantiles, keep)
        self.spill = None
        self.keep, self.spilled = keep, False

    @property
    def _columns(self):
        return 2 if self.keep == "newest" else sum(self._numbers)

    def add(self, names):
        """Mark the rows of a batch as seen, new, or undecided."""
        self.table.add(names)
        if names.later:
            if self.spill is None:
                memory, exact, _, scratch = self._options
                self.spill = Spill(scratch, self._depth, exact, memory, self._columns)
                self.spilled = True
            self.spill.add(names)

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
            names = SpilledBatch(self._columns)
            for part in spill.finish():
                partitions = PartitionedTable(*self._options, self._depth + 1, *self._numbers, runs, self.keep)
                partitions.table.settled = self.table.settled
                for batch in spill.read(part, names):
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


# --- memory ----------------------------------------------------------------------------------------------------------


def parse_memory(memory):
    """Return a memory size in bytes.

    Args:
        memory (int | str | None): Bytes, a size ("64M", see parse_size()), or a share of the machine's memory ("50%");
            None: half of it.

    >>> parse_memory("64M"), parse_memory("1.5k"), parse_memory(1000)
    (67108864, 1536, 1000)
    """
    if memory is None:
        memory = "50%"
    if isinstance(memory, str):
        if SHARE.fullmatch(memory):
            return int(float(memory[:-1]) * machine_memory() / 100)
        return parse_size(memory)
    try:
        size = int(memory)
    except (ValueError, OverflowError):  # not a number, infinite
        size = 0
    if not 0 < size <= ADDRESSES:
        raise ValueError(f"expected a size in bytes within the address space, got {memory!r}")
    return size


def machine_memory():
    """Return the machine's memory in bytes, or the limit of the control group or address space if that is less."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        size = 1 << 31
    try:
        with open("/sys/fs/cgroup/memory.max", "rb") as file:
            size = min(size, int(file.read()))
    except (OSError, ValueError):
        pass
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

        limit, _ = getrlimit(RLIMIT_AS)
        size = size if limit == RLIM_INFINITY else min(size, limit)
    except ImportError:  # Windows
        pass
    return min(size, ADDRESSES)  # a 32-bit process may run on a larger machine
