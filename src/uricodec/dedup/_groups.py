"""The report of spellings that were merged, and by which level: three more passes over a corpus, and two sorts.

1. Deduplication by bytes, with counts, finds the spellings and their first rows.
2. Deduplication of the first rows of spellings by normal form, with counts, finds the identifiers, and how many
   spellings each has.
3. Only rows of identifiers with several spellings are read in the last pass: the first row of the identifier, if its
   count says so, and every spelling that is not the first of its identifier. Only these become Python objects.

These spellings are sorted by fingerprint (and normal form, if exact) and row, so that those of an identifier are
neighbours, the first one first. Normal forms at each level tell which level merges them. Then they are sorted by the
first row of their identifier and their own, and written. Sorting uses temporary files, so memory is bounded even if all
spellings belong to one identifier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import compress
from struct import Struct
from typing import Any

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._table import FingerprintBatch
from uricodec._counting.partitions import PartitionedTable
from uricodec._counting.runs import Sorter
from uricodec._io.scratch import Scratch
from uricodec._io.writing import Output
from uricodec._records._framing import json_string
from uricodec.dedup._corpus import IS_NEW, NEW, Corpus, Counts
from uricodec.dedup._first_rows import FirstRows
from uricodec.dedup._identifiers import LineBatch

PRINTS = Struct("16s")
PREFIX = Struct(">I")  # of a field that its size precedes
SPELLING = Struct(">QQ")  # its first row, its number of occurrences; after the fingerprint and the form
MEMBER = Struct(">QQQB")  # first row of the identifier, own first row, occurrences, level that merges it

BLOCK = 32 * 1024  # bytes that are written at once


# --- passes -----------------------------------------------------------------------------------------------------------


class Firsts:
    """The first rows that a deduplication finds, and how often each identifier occurs.

    Args:
        scratch (Scratch): The place for temporary files.
        memory (int): The limit in bytes for the table, and afterwards for the counts.
        exact (bool): Whether to compare normal forms.
    """

    def __init__(self, scratch: Scratch, memory: int, exact: bool) -> None:
        self._partitions, self._counts = PartitionedTable(memory, exact, True, scratch), Counts(scratch, memory)
        self.rows = FirstRows()

    def add(self, names: Any) -> None:
        """Add a batch."""
        self._partitions.add(names)
        self.rows.set(names)

    def finish(self) -> None:
        """Finish after the last batch: `counts` is set."""
        if self._partitions.spill is not None:
            self._partitions.finish(self.rows.set, self._counts.add)
        self.counts = self._counts.put(self.rows, self._partitions.table)
        self._partitions.close()

    def close(self) -> None:
        """Free the memory and the temporary files."""
        self._partitions.close()


def places_of(marks: bytes) -> Iterator[int]:
    """Yield the positions of new rows.

    >>> list(places_of(bytes([1, 2, 0, 2])))
    [1, 3]
    """
    return compress(range(len(marks)), marks.translate(IS_NEW))


def prints_of(names: Any) -> Iterator[bytes]:
    """Yield the fingerprints of all rows."""
    return (each for (each,) in PRINTS.iter_unpack(names.fingerprints))


def pick(names: Any) -> FingerprintBatch:
    """Return the new rows of a batch as a batch without marks."""
    chosen = names.marks.translate(IS_NEW)
    prints = b"".join(compress(prints_of(names), chosen))
    return FingerprintBatch(prints, None, names.first, list(compress(range(len(chosen)), chosen)))


class Groups:
    """The report of merged spellings.

    Args:
        corpus (Corpus | Dataset): A corpus that was read once, all of which can be read again.
        make (Callable[[bool], LineBatch | ColumnBatch]): Returns a batch to read rows with: False, as
            bytes; True, in normal form.
        forms (list[tuple[str, Callable[[bytes], bytes]]]): The levels, from fine to coarse, each with a function that
            returns the normal form of a spelling. The last one defines the identifiers.
        scratch (Scratch): The place for temporary files.
        memory (int): The limit for memory in bytes.
        exact (bool): Whether to compare normal forms.
        key (FingerprintKey | None): The key of the fingerprints that are written; None: none are written.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        corpus: Corpus,
        make: Callable[[bool], LineBatch],
        forms: list[tuple[str, Callable[[bytes], bytes]]],
        scratch: Scratch,
        memory: int,
        exact: bool = False,
        key: FingerprintKey | None = None,
    ) -> None:
        self._corpus, self._make, self._forms, self._scratch = corpus, make, forms, scratch
        self._memory, self._exact, self._key = memory, exact, key

    def write(self, output: Output) -> int:
        """Write a line of JSON for each identifier with several spellings, in the order of their first rows.

        Args:
            output (Output): The output.

        Returns:
            int: The number of these identifiers.
        """
        # counts stay in memory during the second deduplication, and while there are records
        memory = self._memory // 2
        spellings, names = Firsts(self._scratch, memory, self._exact), Firsts(self._scratch, memory, False)
        found, members = Sorter(self._scratch, memory), Sorter(self._scratch, memory)
        try:
            self._read(False, spellings.add)
            spellings.finish()

            def take(batch: Any) -> None:
                spellings.rows.mark(batch)
                if batch.new:
                    names.add(pick(batch))

            self._read(True, take)
            names.finish()
            self._read(True, lambda batch: self._find(batch, spellings, names, found))
            self._join(found, members)
            return self._write(members, output)
        finally:
            for each in spellings, names, found, members:
                each.close()

    def _read(self, as_names: bool, take: Callable[[LineBatch], None]) -> None:
        def take_mine(batch: LineBatch) -> None:
            if batch.first >= self._corpus.mine:
                take(batch)

        self._corpus.next_reading("groups", take_mine, lambda: self._make(as_names))

    def _find(self, batch: Any, spellings: Firsts, names: Firsts, found: Sorter) -> None:
        """Find the spellings of a batch that share their identifier with others."""
        spellings.rows.mark(batch)
        places = list(places_of(batch.marks))
        if not places:
            return
        counts = memoryview(spellings.rows.counts_of(batch, spellings.counts)).cast("Q")
        names.rows.mark(batch)
        first = batch.marks
        names.rows.mark_counted(batch, names.counts, 2)
        several = batch.marks
        chosen = [n for n, at in enumerate(places) if first[at] != NEW or several[at] == NEW]
        if not chosen:
            return
        prints = batch.fingerprints
        form_of = self._forms[-1][1]
        for n in chosen:
            at = places[n]
            text = batch.text(at)
            form = form_of(text) if self._exact else b""
            name = b"".join((prints[16 * at : 16 * at + 16], PREFIX.pack(len(form)), form))
            found.add(b"".join((name, SPELLING.pack(batch.first + at, counts[n]), text)))

    def _join(self, found: Sorter, members: Sorter) -> None:
        """Group the spellings of each identifier."""
        name, head, forms = b"", b"", []
        pending = None  # the first spelling of the identifier, until another one is found
        row = 0
        for record in found:
            size = 20 + PREFIX.unpack_from(record, 16)[0]
            at, count = SPELLING.unpack_from(record, size)
            text = record[size + SPELLING.size :]
            if record[:size] != name:
                name, row, head = record[:size], at, text
                pending = MEMBER.pack(row, row, count, 0) + text
                continue
            if pending is not None:
                members.add(pending)
                pending = None
                forms = [form_of(head) for _, form_of in self._forms[:-1]]
            level = next((i for i, form in enumerate(forms) if self._forms[i][1](text) == form), len(forms))
            members.add(MEMBER.pack(row, at, count, level) + text)

    def _write(self, members: Sorter, output: Output) -> int:
        """Write the groups. A group need not fit into memory."""
        groups, current, rows = 0, -1, 0
        lines: list[bytes] = []
        size = 0
        for record in members:
            first, row, count, level = MEMBER.unpack_from(record)
            spelling = json_string(record[MEMBER.size :])
            by, place = b"null", self._corpus.place_of(row)
            if first == current:
                by = json_string(self._forms[level][0].encode())
                lines.append(b",")
            else:
                if groups:
                    lines.append(b'],"rows":%d}\n' % rows)
                current, rows = first, 0
                groups += 1
                lines.append(b'{"first":%s,%s,' % (spelling, place))
                if self._key is not None:
                    form = self._forms[-1][1](record[MEMBER.size :])
                    lines.append(b'"fingerprint":"%s",' % self._key.fingerprint(form).hex().encode())
                lines.append(b'"spellings":[')
            rows += count
            lines.append(b'{"spelling":%s,%s,"rows":%d,"by":%s}' % (spelling, place, count, by))
            size += len(lines[-1])
            if size > BLOCK:
                output.write(b"".join(lines))
                lines, size = [], 0
        if groups:
            lines.append(b'],"rows":%d}\n' % rows)
        output.write(b"".join(lines))
        return groups
