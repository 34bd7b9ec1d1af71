"""Sifting: which rows of a corpus are the first of their names, in memory that is given.

A table has the names seen so far, and stays as it is when it is full: a name that it does not hold is found out about
later. Fingerprint and number of such a row go to one of 64 partitions in a temporary file, and a row with the same name
goes to the same one. When all has been read, each partition is sifted in the same way, with bits of the fingerprint
that were not used before if it has to be partitioned again. The first rows that are found so have their bits set, and
the input is read a second time from where the table was full: the lines whose bits are set are written.

So all lines written in the first reading come before all others, and the output is the same whatever the memory. Counts
are known at the end only; they, and what has duplicates, are written in a second reading of everything.

Temporary files have no name: whatever ends the process, nothing is left.
"""

import os
import sys
from mmap import mmap

from uricodec._io import streams
from uricodec.dedup._spill import SpillBuffers, SpilledNames
from uricodec.dedup._table import Table

# Octets of the buffer of a partition: as many as that if memory is not tiny.
SPILL_ROOM = 64 * 1024
LEAST_SPILL_ROOM = 1024

# After so many files, those that are closed are forgotten.
FILES = 100

# More octets than that have no address.
ADDRESSES = 2 * sys.maxsize + 1

# How a file without a name is opened; 0: there are none.
TEMPORARY = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC if hasattr(os, "O_TMPFILE") else 0


# --- temporary files --------------------------------------------------------------------------------------------------


def usual_folder():
    """Where the system wants temporary files: as tempfile says, asked only if it is not the first guess."""
    guess = next((os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), "/tmp")
    if TEMPORARY and os.access(guess, os.W_OK | os.X_OK):
        return guess
    import tempfile

    try:
        return tempfile.gettempdir()
    except OSError as error:
        raise streams.failure("temporary files", error) from None


class Scratch:
    """A place for temporary files.

    Args:
        folder (str | None): Where they are; None: where the system wants them.

    Attributes:
        spilled (int): Octets of names that were written to them.

    Raises:
        FileError: Nothing can be written there.
    """

    def __init__(self, folder):
        self.spilled = 0
        self._files = []
        self.name = os.fspath(folder) if folder is not None else usual_folder()
        streams.close(self.file())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def shown(self):
        """The folder, as a message may show it."""
        return streams.printable(str(self.name))

    def fail(self, error):
        return streams.failure(self.shown, error)

    def file(self):
        """A new file, which goes when it is closed."""
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
                pass  # not every file system has files without a name; or tempfile says what is wrong
        import tempfile  # it takes longer to import than a short corpus to be done

        try:
            return tempfile.TemporaryFile(buffering=0, prefix="uricodec-", dir=self.name)
        except (OSError, ValueError) as error:
            raise self.fail(error) from None

    def close(self):
        """Close all files."""
        for file in self._files:
            streams.close(file)
        self._files = []

    def write(self, file, octets):
        """Write all of it at the end."""
        rest = memoryview(octets)
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except OSError as error:
            raise self.fail(error) from None

    def mapping(self, size):
        """Zeros in a file, as memory; there is room on the disk for all of them."""
        file = self.file()
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                for at in range(0, size, streams.CHUNK):
                    self.write(file, bytes(min(size - at, streams.CHUNK)))
            return mmap(file.fileno(), size)
        except OSError as error:
            raise self.fail(error) from None
        finally:
            streams.close(file)


class Spill:
    """Names that wait, by partition.

    Args:
        scratch (Scratch): Where they are.
        depth (int): How many times they were partitioned before.
        exact (bool): Whether their normal forms are wanted.
        memory (int): How many octets may be in memory, roughly.
    """

    def __init__(self, scratch, depth, exact, memory):
        self._scratch = scratch
        room = max(LEAST_SPILL_ROOM, min(SPILL_ROOM, memory // 512))
        self._buffers = SpillBuffers(depth, exact, room)
        self._file = scratch.file()
        self._size = 0
        self._blocks = [[] for _ in range(len(self._buffers))]
        self.rows = 0

    def add(self, names):
        """Take the rows of a batch that are for later."""
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
        """Write what is still in memory. Returns the numbers of partitions."""
        for part in range(len(self._blocks)):
            self._flush(part)
        self._buffers = None
        return [part for part, blocks in enumerate(self._blocks) if blocks]

    def read(self, part, names):
        """Read the names of a partition.

        Args:
            part (int): Its number.
            names (SpilledNames): Is what is yielded.

        Yields:
            SpilledNames: A batch.
        """
        buffer = bytearray(SPILL_ROOM)
        for place, size in self._blocks[part]:
            names.release()
            if size > len(buffer):
                buffer = bytearray(size)
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
                    raise OSError(None, "cut short by somebody")
                view = view[size:]
        except OSError as error:
            raise self._scratch.fail(error) from None

    def close(self):
        streams.close(self._file)
        self._buffers = None


# --- sifting ----------------------------------------------------------------------------------------------------------


class Sieve:
    """A table, and what it has no room for.

    Args:
        memory (int): Octets of the table.
        exact (bool): Whether normal forms are compared.
        counting (bool): Whether names are counted.
        scratch (Scratch): Where temporary files are.
        depth (int): How many times the names were partitioned before.
    """

    def __init__(self, memory, exact, counting, scratch, depth=0):
        self._memory, self._exact, self._counting, self._scratch = memory, exact, counting, scratch
        self._depth = depth
        self.table = Table(memory, counting, exact)
        self.spill = None

    def add(self, names):
        """Mark the rows of a batch: names that are seen, new, or for later."""
        self.table.add(names)
        if names.later:
            if self.spill is None:
                self.spill = Spill(self._scratch, self._depth, self._exact, self._memory)
            self.spill.add(names)

    def finish(self, take, counted, tick=lambda: None):
        """Sift what is in partitions.

        Args:
            take (Callable[[SpilledNames], None]): Is given each batch when its rows are marked.
            counted (Callable[[Table], None] | None): Is given each table, when it is complete.
            tick (Callable[[], None]): Is called now and then.
        """
        if counted:
            counted(self.table)
        spill, self.spill = self.spill, None
        if spill is None:
            return
        self.table.clear()
        try:
            names = SpilledNames()
            for part in spill.finish():
                sieve = Sieve(self._memory, self._exact, self._counting, self._scratch, self._depth + 1)
                for batch in spill.read(part, names):
                    sieve.add(batch)
                    take(batch)
                    tick()
                sieve.finish(take, counted, tick)
        finally:
            spill.close()

    def close(self):
        """Give back the memory, and what is on the disk."""
        self.table.clear()
        if self.spill is not None:
            self.spill.close()
            self.spill = None


# --- memory ----------------------------------------------------------------------------------------------------------


def parse_memory(memory):
    """How many octets somebody means.

    Args:
        memory (int | str | None): Octets, or with a unit ("64M", "1.5G": powers of 1024), or a part of the machine's
            memory ("50%"); None: half of it.

    Returns:
        int: Octets.

    Raises:
        ValueError: It is nothing of that, or more than there are addresses for.

    >>> parse_memory("64M"), parse_memory("1.5k"), parse_memory(1000)
    (67108864, 1536, 1000)
    """
    if memory is None:
        memory = "50%"
    text, factor = memory, 1
    if isinstance(memory, str):
        text = memory.strip().upper().removesuffix("B").removesuffix("I")
        if text and text[-1] in "KMGT":
            factor, text = 1024 ** (1 + "KMGT".index(text[-1])), text[:-1]
        elif text.endswith("%"):
            factor, text = machine_memory() / 100, text[:-1]
    try:
        size = int(float(text) * factor) if isinstance(text, str) else int(text)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise ValueError(f"no amount of memory: {memory!r}")
    if size > ADDRESSES:
        raise ValueError(f"more memory than there are addresses for: {memory!r}")
    return size


def machine_memory():
    """Octets of memory that the machine has, or the control group that the process is in, or that it may address."""
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
    return min(size, ADDRESSES)  # a process of 32 bits may be on a larger machine
