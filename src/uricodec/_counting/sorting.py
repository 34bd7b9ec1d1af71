"""External sorting of bytes objects, for lines and spellings that may not fit into memory."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from struct import Struct
from typing import Any

from uricodec._io.files import close_file
from uricodec._io.scratch import Scratch

PREFIX = Struct(">I")  # of a record that its size precedes

# Memory overhead of a record in bytes; and a limit above which more memory makes sorting no faster.
RECORD = 64
ENOUGH = 64 * 1024 * 1024

# How many runs are merged into one.
FAN = 32
BLOCK = 32 * 1024


class Sorter:
    """External sorting of bytes objects.

    Args:
        scratch (Scratch): The place for temporary files.
        memory (int): The limit for memory in bytes.
    """

    def __init__(self, scratch: Scratch, memory: int) -> None:
        self._scratch, self._memory = scratch, min(memory, ENOUGH)
        self._records: list[bytes] = []
        self._size = 0
        self._runs: list[list[Any]] = []  # files; a file of list i is the merge of about FAN ** i first ones

    def add(self, record: bytes) -> None:
        """Add a record."""
        self._records.append(record)
        self._size += len(record) + RECORD
        if self._size > self._memory:
            self._records.sort()
            self._spill(iter(self._records), 0)
            self._records, self._size = [], 0

    def _spill(self, records: Iterator[bytes], depth: int) -> None:
        file, size = self._scratch.file(), 0
        block: list[bytes] = []
        for record in records:
            block += PREFIX.pack(len(record)), record
            size += len(record)
            if size > BLOCK:
                self._scratch.write(file, b"".join(block))
                block, size = [], 0
        self._scratch.write(file, b"".join(block))
        if depth == len(self._runs):
            self._runs.append([])
        self._runs[depth].append(file)
        if len(self._runs[depth]) == FAN:
            files, self._runs[depth] = self._runs[depth], []
            self._spill(heapq.merge(*map(self._read, files)), depth + 1)

    def _read(self, file: Any) -> Iterator[bytes]:
        """Yield the records of a run, and delete its file."""
        data, at = b"", 0
        try:
            file.seek(0)
            while True:
                wanted = at + PREFIX.size
                if wanted <= len(data):
                    wanted += PREFIX.unpack_from(data, at)[0]
                if wanted > len(data) or at + PREFIX.size > len(data):
                    more = file.read(max(BLOCK, wanted - len(data)))
                    if not more:
                        return
                    data, at = data[at:] + more, 0
                    continue
                yield data[at + PREFIX.size : wanted]
                at = wanted
        except OSError as error:
            raise self._scratch.fail(error) from None
        finally:
            close_file(file)

    def __iter__(self) -> Iterator[bytes]:
        """Yield all records in order; possible only once."""
        self._records.sort()
        files = [file for runs in self._runs for file in runs]
        self._runs = []
        return heapq.merge(iter(self._records), *map(self._read, files)) if files else iter(self._records)

    def close(self) -> None:
        """Delete the temporary files."""
        for runs in self._runs:
            for file in runs:
                close_file(file)
        self._runs, self._records = [], []
