"""The report of spellings that were merged, and by which level: three more passes over a source, and two sorts.

1. Deduplication by bytes, with counts, finds the spellings and their first rows.
2. Deduplication of the first rows of spellings by normal form, with counts, finds the identifiers, and how many
   spellings each has.
3. Only rows of identifiers with several spellings are read in the last pass: the first row of the identifier, if its
   count says so, and every spelling that is not the first of its identifier. Only these become records.

These records are sorted by fingerprint (and normal form, if exact) and row, so that those of an identifier are
neighbours, the first one first. Fingerprints at each level tell which level merges them. Then they are sorted by the
first row of their identifier and their own, and written. Sorting uses temporary files, so memory is bounded even if all
spellings belong to one identifier. _spellings.pyx has the loops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting.runs import Sorter
from uricodec._io.writing import Output
from uricodec._records._framing import json_string
from uricodec.dedup._identifiers import ColumnBatch
from uricodec.dedup._spellings import Members, Report, texts_of


def counts_of(firsts: Any, batch: Any) -> tuple[bytes, bytes]:
    """Return the marks that Firsts give the rows of a batch, and the counts of those that are new."""
    first, rows = batch.first, len(batch)
    return firsts.rows.marks(first, rows), firsts.rows.counts_of(firsts.counts, first, first + rows)


class Groups:
    """The report of merged spellings.

    Args:
        run (Run): A run whose source was read once, and can all be read again.
    """

    def __init__(self, run: Any) -> None:
        self._run, self._source, self._exact = run, run.source, run.options.exact
        identifier, key = run.options.identifier, FingerprintKey()
        # The levels, from fine to coarse; the last one defines the identifiers. What reads the others.
        steps = identifier.steps()
        self._levels = [json_string(name.encode()) for name, _ in steps]
        self._finer = [ColumnBatch(each.rows(), key, "keep", False) for _, each in steps[:-1]]
        self._as_bytes = partial(run.batch, identifier.at(None))

    def write(self, output: Output) -> int:
        """Write a line of JSON for each identifier with several spellings, in the order of their first rows.

        Args:
            output (Output): The output.

        Returns:
            int: The number of these identifiers.
        """
        run = self._run
        # counts stay in memory during the second deduplication, and while there are records
        memory = run.memory // 2
        spellings, identifiers = run.counted_firsts(memory, self._exact), run.counted_firsts(memory, False)
        found, members = Sorter(run.scratch, memory), Sorter(run.scratch, memory)

        def take(batch: Any) -> None:
            spellings.rows.mark(batch, decided=False)
            if batch.new:
                identifiers.add(batch)

        def find(batch: Any) -> None:
            spellings.rows.mark(batch)
            if batch.new:
                found.add_block(batch.records(*counts_of(spellings, batch), *counts_of(identifiers, batch)))

        try:
            self._read(self._as_bytes, spellings.add)
            spellings.finish()
            spellings.close()
            self._read(run.batch, take)
            identifiers.finish()
            identifiers.close()
            self._read(run.batch, find)
            # In an exact run, the fingerprints of spellings have another key than those that are written.
            key = run.options.key
            joined = Members(key if self._exact else None)
            for block in found.blocks():
                members.add_block(joined.join(block, self._prints(block)))
            report = Report(self._levels, self._source.place_of, key is not None)
            for block in members.blocks():
                output.write(report.write(block))
            output.write(report.finish())
            return report.groups
        finally:
            for each in spellings, identifiers, found, members:
                each.close()

    def _read(self, make: Callable[[], Any], take: Callable[[Any], None]) -> None:
        def take_input(batch: Any) -> None:
            if batch.first >= self._source.excluded:
                take(batch)

        self._source.read_again("groups", take_input, make)

    def _prints(self, block: bytes) -> list[bytes]:
        """Return the fingerprints of a block of spellings at each finer level."""
        texts, prints = texts_of(block), []
        for batch in self._finer:
            batch.hold(texts)
            parts = []
            while batch.read(0):
                parts.append(batch.fingerprints)
            prints.append(b"".join(parts))
        return prints
