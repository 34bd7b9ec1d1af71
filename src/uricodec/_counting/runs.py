"""External sorting: sorted runs in temporary files, which are merged.

    level 0: | run | run | run | ...      as they come
    level 1: |  64 of these   | ...       when a level has FAN runs, they become one of the next level

So the number of runs, each of which needs memory for a block when all are merged, grows with the logarithm of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from uricodec._counting._runs import Merge, Sorted, pack, unpack
from uricodec._io.scratch import Blocks, Scratch

# How many runs are merged into one.
FAN = 64

# Memory overhead of a record in bytes; and a limit above which more memory makes sorting no faster.
RECORD = 64
ENOUGH = 64 * 1024 * 1024

# Bytes of a block.
BLOCK = 32 * 1024


class Runs:
    """Sorted runs in temporary files.

    Args:
        scratch (Scratch): The place for the files, one for each level.
        keep (str): What is kept of the records of several runs, see Merge.
        size (int): The size of merged blocks in bytes.
    """

    def __init__(self, scratch: Scratch, keep: str, size: int) -> None:
        self._scratch, self._keep, self._size = scratch, keep, size
        self._levels: list[tuple[Blocks, list[list[tuple[int, int]]]]] = []  # files, and the places of their runs

    def add(self, blocks: Iterable[bytes], level: int = 0) -> None:
        """Add a run."""
        if level == len(self._levels):
            self._levels.append((Blocks(self._scratch), []))
        file, runs = self._levels[level]
        runs.append([file.add(block) for block in blocks])
        if len(runs) == FAN:
            self.add(self._merge([file.read(run) for run in runs]), level + 1)
            file.close()
            self._levels[level] = Blocks(self._scratch), []

    def _merge(self, runs: list[Iterator[bytes]]) -> Iterable[bytes]:
        return Merge(runs, self._keep, self._size)

    def sources(self) -> list[Iterator[bytes]]:
        """Return the blocks of each run."""
        return [file.read(run) for file, runs in self._levels for run in runs]

    def merged(self, *more: Iterator[bytes]) -> Iterable[bytes]:
        """Return blocks of the records of all runs, and of `more`, in order."""
        return self._merge([*self.sources(), *more])

    def close(self) -> None:
        """Delete the files."""
        for file, _ in self._levels:
            file.close()
        self._levels = []


class Sorter:
    """External sorting of records, for lines and spellings that may not fit into memory.

    Args:
        scratch (Scratch): The place for temporary files.
        memory (int): The limit for memory in bytes.
    """

    def __init__(self, scratch: Scratch, memory: int) -> None:
        self._runs, self._memory = Runs(scratch, "records", BLOCK), min(memory, ENOUGH)
        self._records: list[bytes] = []  # that are in no block yet,
        self._loose = 0  # and what they need
        self._blocks: list[bytes] = []
        self._size = 0

    def add(self, record: bytes) -> None:
        """Add a record of at least 16 bytes."""
        self._records.append(record)
        self._loose += len(record) + RECORD
        if self._loose > min(BLOCK, self._memory):
            self._pack()

    def _pack(self) -> None:
        records, self._records, size, self._loose = self._records, [], self._loose, 0
        self._take(pack(records), size)

    def add_block(self, block: bytes) -> None:
        """Add a block of records, which are in any order; see pack()."""
        self._take(block, 2 * len(block))  # sorting needs memory, too

    def _take(self, block: bytes, size: int) -> None:
        self._blocks.append(block)
        self._size += size
        if self._size > self._memory:
            self._runs.add(self._sorted())

    def _sorted(self) -> Iterator[bytes]:
        """Sort the records in memory, and return them in blocks."""
        blocks, self._blocks, self._size = self._blocks, [], 0
        return Sorted(blocks, BLOCK)

    def blocks(self) -> Iterable[bytes]:
        """Return all records in order, in blocks; possible only once."""
        self._pack()
        return self._runs.merged(self._sorted())

    def __iter__(self) -> Iterator[bytes]:
        """Yield all records in order; possible only once."""
        return chain.from_iterable(map(unpack, self.blocks()))

    def close(self) -> None:
        """Delete the temporary files."""
        self._runs.close()
        self._records, self._blocks = [], []
