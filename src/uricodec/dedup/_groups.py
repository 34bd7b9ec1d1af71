"""The report of spellings that were merged, and by which level: three more passes over a source, and two sorts.

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
from functools import partial
from itertools import compress
from struct import Struct
from typing import Any

from uricodec._counting.runs import Sorter
from uricodec._io.writing import Output
from uricodec._records._framing import json_string
from uricodec.dedup._source import IS_NEW

PREFIX = Struct(">I")  # of a field that its size precedes
SPELLING = Struct(">QQ")  # its first row, its number of occurrences; after the fingerprint and the form
MEMBER = Struct(">QQQB")  # first row of the identifier, own first row, occurrences, level that merges it

BLOCK = 32 * 1024  # bytes that are written at once


# --- passes -----------------------------------------------------------------------------------------------------------


def places_of(marks: bytes) -> Iterator[int]:
    """Yield the positions of new rows.

    >>> list(places_of(bytes([1, 2, 0, 2])))
    [1, 3]
    """
    return compress(range(len(marks)), marks.translate(IS_NEW))


def counts_of(firsts: Any, batch: Any) -> dict[int, int]:
    """Return the count of each row of a batch that Firsts have kept, by its position in the batch."""
    counts = memoryview(firsts.rows.counts_of(firsts.counts, batch.first, batch.first + len(batch))).cast("Q")
    return dict(zip(places_of(firsts.rows.marks(batch.first, len(batch))), counts, strict=True))


class Groups:
    """The report of merged spellings.

    Args:
        run (Run): A run whose source was read once, and can all be read again.
    """

    def __init__(self, run: Any) -> None:
        self._run, self._source, self._exact = run, run.source, run.options.exact
        identifier = run.options.identifier
        # The levels, from fine to coarse, each with a function; the last one defines the identifiers.
        self._forms = [(name, each.form()) for name, each in identifier.steps()]
        self._as_bytes = partial(run.batch, identifier.at(None))
        self._key = run.options.key  # of the fingerprints that are written

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
        try:
            self._read(self._as_bytes, spellings.add)
            spellings.finish()
            spellings.close()

            def take(batch: Any) -> None:
                spellings.rows.mark(batch, decided=False)
                if batch.new:
                    identifiers.add(batch)

            self._read(run.batch, take)
            identifiers.finish()
            identifiers.close()
            self._read(run.batch, lambda batch: self._find(batch, spellings, identifiers, found))
            self._join(found, members)
            return self._write(members, output)
        finally:
            for each in spellings, identifiers, found, members:
                each.close()

    def _read(self, make: Callable[[], Any], take: Callable[[Any], None]) -> None:
        def take_input(batch: Any) -> None:
            if batch.first >= self._source.excluded:
                take(batch)

        self._source.read_again("groups", take_input, make)

    def _find(self, batch: Any, spellings: Any, identifiers: Any, found: Sorter) -> None:
        """Find the spellings of a batch that share their identifier with others, given the Firsts of both."""
        spellings.rows.mark(batch)
        places = list(places_of(batch.marks))
        if not places:
            return
        counts, of_identifiers = counts_of(spellings, batch), counts_of(identifiers, batch)
        prints = batch.fingerprints
        form_of = self._forms[-1][1]
        for at in places:
            if of_identifiers.get(at) == 1:  # its identifier has no other spelling
                continue
            text = batch.text(at)
            form = form_of(text) if self._exact else b""
            name = b"".join((prints[16 * at : 16 * at + 16], PREFIX.pack(len(form)), form))
            found.add(b"".join((name, SPELLING.pack(batch.first + at, counts[at]), text)))

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
            by, place = b"null", self._source.place_of(row)
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
