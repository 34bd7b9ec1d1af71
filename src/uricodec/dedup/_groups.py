"""The report which spellings are of one name, and by which rule: three more readings of a corpus, and two sorts.

1. The corpus is sifted by octets, and counts: these are the spellings, with their first rows.
2. The first rows of spellings are sifted by names, and counts: these are the names, with how many spellings each has.
3. What belongs to a name with several spellings is read once more: the first row of the name, if its count says so, and
   every spelling that is not the first of its name. That is all that Python sees.

These spellings are sorted by fingerprint (and normal form, if that is to be exact) and row, so that those of a name
stand together, the first one first. What equals what is found out by normal forms, level by level. Then they are sorted
by the first row of their name and their own, and written. Sorting takes temporary files, and so the memory is bounded
even if all spellings are of one name.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator
from itertools import compress
from json import dumps
from struct import Struct
from typing import Any

from uricodec._base._fingerprint import FingerprintKey
from uricodec._io.streams import Output, close
from uricodec.dedup._corpus import Corpus, Counts
from uricodec.dedup._first_rows import FirstRows
from uricodec.dedup._identifiers import LineNames
from uricodec.dedup._table import FingerprintNames
from uricodec.dedup._sift import Scratch, Sieve

NEW = 2
PRINTS = Struct("16s")
PREFIX = Struct(">I")  # of what is as long as it says
SPELLING = Struct(">QQ")  # its first row, how often it occurs; before that, the fingerprint and the form
MEMBER = Struct(">QQQB")  # the first row of its name, and its own; how often it occurs; which level makes it the same

# A record in memory takes so many octets besides its own; more memory than that makes sorting no faster.
RECORD = 64
ENOUGH = 64 * 1024 * 1024

# So many runs become one.
FAN = 32
BLOCK = 32 * 1024


# --- sorting ----------------------------------------------------------------------------------------------------------


class Sorter:
    """Octets in order, of which there may be more than memory.

    Args:
        scratch (Scratch): Where temporary files are.
        memory (int): Octets.
    """

    def __init__(self, scratch: Scratch, memory: int) -> None:
        self._scratch, self._memory = scratch, min(memory, ENOUGH)
        self._records: list[bytes] = []
        self._size = 0
        self._runs: list[list[Any]] = []  # files; those of list i are about FAN ** i times as long as at first

    def add(self, record: bytes) -> None:
        """Take octets in."""
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
        """The records of a run, which goes then."""
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
            close(file)

    def __iter__(self) -> Iterator[bytes]:
        """All of them, once."""
        self._records.sort()
        files = [file for runs in self._runs for file in runs]
        self._runs = []
        return heapq.merge(iter(self._records), *map(self._read, files)) if files else iter(self._records)

    def close(self) -> None:
        """Give back what is on the disk."""
        for runs in self._runs:
            for file in runs:
                close(file)
        self._runs, self._records = [], []


# --- readings ---------------------------------------------------------------------------------------------------------


class Firsts:
    """Which rows are the first ones of what a sieve finds, and how often that occurs.

    Args:
        scratch (Scratch): Where temporary files are.
        memory (int): Octets of the sieve, and then of the counts.
        exact (bool): Whether normal forms are compared.
    """

    def __init__(self, scratch: Scratch, memory: int, exact: bool) -> None:
        self._sieve, self._counts = Sieve(memory, exact, True, scratch), Counts(scratch, memory)
        self.rows = FirstRows()

    def add(self, names: Any) -> None:
        """Take a batch in."""
        self._sieve.add(names)
        self.rows.set(names)

    def finish(self) -> None:
        """No more is to come: `counts` is there."""
        if self._sieve.spill is not None:
            self._sieve.finish(self.rows.set, self._counts.add)
        self.counts = self._counts.put(self.rows, self._sieve.table)
        self._sieve.close()

    def close(self) -> None:
        """Give back the memory, and what is on the disk."""
        self._sieve.close()


def places_of(marks: bytes) -> Iterator[int]:
    """Where rows are new.

    >>> list(places_of(bytes([1, 2, 0, 2])))
    [1, 3]
    """
    return compress(range(len(marks)), marks.translate(IS_NEW))


IS_NEW = bytes(mark == NEW for mark in range(256))


def prints_of(names: Any) -> Iterator[bytes]:
    """The fingerprints of all rows."""
    return (each for (each,) in PRINTS.iter_unpack(names.fingerprints))


def pick(names: Any) -> FingerprintNames:
    """The rows of a batch that are new, as a batch in which nothing is said of them."""
    chosen = names.marks.translate(IS_NEW)
    prints = b"".join(compress(prints_of(names), chosen))
    return FingerprintNames(prints, None, names.first, list(compress(range(len(chosen)), chosen)))


class Groups:
    """The report.

    Args:
        corpus (Corpus): Has been read once, all of which is to be read again.
        make (Callable[[bool], LineNames]): Makes what lines are read with: False, as octets; True, as names.
        forms (list[tuple[str, Callable[[bytes], bytes]]]): The levels, the finest first, and what brings a spelling
            into normal form. The last one is that of the names.
        scratch (Scratch): Where temporary files are.
        memory (int): Octets.
        exact (bool): Whether normal forms are compared.
        key (FingerprintKey | None): Of the fingerprints that are written; None: none are.
        end (bytes): What ends a line.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        corpus: Corpus,
        make: Callable[[bool], LineNames],
        forms: list[tuple[str, Callable[[bytes], bytes]]],
        scratch: Scratch,
        memory: int,
        exact: bool = False,
        key: FingerprintKey | None = None,
        end: bytes = b"\n",
    ) -> None:
        self._corpus, self._make, self._forms, self._scratch = corpus, make, forms, scratch
        self._memory, self._exact, self._key, self._end = memory, exact, key, end
        self._room = memoryview(bytearray(0))

    def write(self, output: Output) -> int:
        """Write a line of JSON for each name that has several spellings, in the order of the first ones.

        Args:
            output (Output): Where to.

        Returns:
            int: How many names that are.
        """
        # Counts stay while names are sifted, and while there are records.
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

    def _read(self, as_names: bool, take: Callable[[LineNames], None]) -> None:
        def take_mine(batch: LineNames) -> None:
            if batch.first >= self._corpus.mine:
                take(batch)

        self._corpus.next_reading("groups", take_mine, lambda: self._make(as_names))

    def _find(self, batch: Any, spellings: Firsts, names: Firsts, found: Sorter) -> None:
        """Find the spellings of a batch that share their name with others."""
        spellings.rows.mark(batch)
        places = list(places_of(batch.marks))
        if not places:
            return
        if batch.room() > len(self._room):
            self._room = memoryview(bytearray(2 * batch.room()))
        written = self._room[: batch.write(self._room)]
        counts = memoryview(spellings.rows.counts_of(batch, spellings.counts)).cast("Q")
        names.rows.mark(batch)
        first = batch.marks
        names.rows.mark_counted(batch, names.counts, 2)
        several = batch.marks
        chosen = [n for n, at in enumerate(places) if first[at] != NEW or several[at] == NEW]
        if not chosen:
            return
        texts = bytes(written).split(self._end)
        prints = batch.fingerprints
        form_of = self._forms[-1][1]
        for n in chosen:
            at, text = places[n], texts[n]
            if self._end == b"\n":
                text = text.removesuffix(b"\r")
            form = form_of(text) if self._exact else b""
            name = b"".join((prints[16 * at : 16 * at + 16], PREFIX.pack(len(form)), form))
            found.add(b"".join((name, SPELLING.pack(batch.first + at, counts[n]), text)))

    def _join(self, found: Sorter, members: Sorter) -> None:
        """Put together what is of one name."""
        name, head, forms = b"", b"", []
        pending = None  # the first spelling of the name, until there is another one
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
        """Write the groups, of which a part may be all that is in memory."""
        groups, current, rows = 0, -1, 0
        lines: list[str] = []
        size = 0
        for record in members:
            first, row, count, level = MEMBER.unpack_from(record)
            spelling = dumps(shown(record[MEMBER.size :]), ensure_ascii=False)
            by = "null"
            if first == current:
                by = dumps(self._forms[level][0])
                lines.append(", ")
            else:
                if groups:
                    lines.append(f'], "rows": {rows}}}\n')
                current, rows = first, 0
                groups += 1
                lines.append(f'{{"first": {spelling}, "line": {self._line(row)}, ')
                if self._key is not None:
                    form = self._forms[-1][1](record[MEMBER.size :])
                    lines.append(f'"fingerprint": "{self._key.fingerprint(form).hex()}", ')
                lines.append('"spellings": [')
            rows += count
            lines.append(f'{{"spelling": {spelling}, "line": {self._line(row)}, "rows": {count}, "by": {by}}}')
            size += len(lines[-1])
            if size > BLOCK:
                output.write("".join(lines).encode())
                lines, size = [], 0
        if groups:
            lines.append(f'], "rows": {rows}}}\n')
        output.write("".join(lines).encode())
        return groups

    def _line(self, row: int) -> int:
        return row - self._corpus.mine + 1


def shown(octets: bytes) -> str:
    """As text: an octet that is not UTF-8 becomes a triplet.

    >>> shown(b"caf\\xe9")
    'caf%E9'
    """
    text = octets.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda found: f"%{ord(found[0]) & 0xFF:02X}", text)
