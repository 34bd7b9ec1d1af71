"""Files of saved sets: their format, opening them, and writing them from sorted fingerprints.

docs/developing/fingerprint.md describes the format. _set_file.pyx has the loops.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._runs import Merge
from uricodec._counting._table import Table
from uricodec._counting.runs import Runs
from uricodec._identifier import Identifier
from uricodec._io.files import FileError, close_file, printable
from uricodec._io.scratch import Scratch
from uricodec._io.set_files import (
    FORMS,
    HEADER,
    MAGIC,
    ROW,
    VERSION,
    Layout,
    StoredSet,
    described,
    digest_of,
    memory_for,
    open_file,
    padded,
)
from uricodec._io.writing import Output
from uricodec.dedup._set_file import Directory, SetFile, bits_for, fold

if TYPE_CHECKING:
    from mmap import mmap


# Bytes that are read or written at once; and the fingerprints in a block of a sorted run, of which many are merged.
BLOCK = 1 << 20
SORTED = 1 << 14


def identifier_of(said: Any, description: bytes) -> Identifier:
    """Return which identifiers a set has, given what its description says as JSON, and the bytes of the description.

    Raises:
        ValueError, TypeError, LookupError, AttributeError: If this version of uricodec does not know them.
    """
    if said["forms"] != FORMS:
        raise ValueError("made by a version with other normal forms")
    policy = said.get("policy")
    if isinstance(policy, dict):
        from uricodec.uri import Policy

        policy = Policy(**policy)
    identifier = Identifier(said["kind"], said.get("level"), policy)
    if described(identifier.description()) != description:
        raise ValueError("unknown rules")
    return identifier


class Shard(NamedTuple):
    """A part of a set: the fingerprints whose highest `bits` bits, of the first half, are `number`."""

    bits: int = 0
    number: int = 0


class SavedSet(StoredSet):
    """An open saved set of identifiers; see StoredSet.

    Args:
        file (io.FileIO), name (str), key (FingerprintKey | None): See StoredSet.
        memory (int): If the fingerprints need at most so many bytes, those that were read stay in memory.

    Attributes:
        identifier (Identifier): Which identifiers are equivalent.
        shard (Shard): Which part of a set it is.
        held (int): The bytes of memory for fingerprints; 0: they are read again.
    """

    made_by = "uricodec.dedup.SeenSet"

    def __init__(self, file: Any, name: str, key: FingerprintKey | None = None, memory: int = 0) -> None:
        self._limit = memory
        self._memory: mmap | None = None
        super().__init__(file, name, key)

    def _layout(self, count: int, bits: int, said: Any) -> Layout:
        return Layout(ROW * count, ROW << bits)

    def _read_description(self, said: Any, description: bytes) -> None:
        self.shard, self.identifier = Shard(*self._shard), identifier_of(said, description)

    def _use(self, directory: bytes) -> None:
        if self._bits != bits_for(self.count):
            raise ValueError("damaged directory")
        size = ROW * self.count
        self._memory = memory_for(size) if 0 < size <= self._limit else None
        self.held = size if self._memory is not None else 0
        number = self._file.fileno()
        self._lookup = SetFile(
            directory, self.count, self._bits, *self.shard, self._place, number, self._memory
        )  # fmt: skip

    def _free(self) -> None:
        super()._free()
        if self._memory is not None:
            self._memory.close()

    def mark(self, batch: Any, present: bool, mark: int) -> None:
        """Mark the undecided rows of a batch that are in the set, or that are not; see SetFile.mark()."""
        with self:
            self.check_unchanged()
            try:
                self._lookup.mark(batch, present, mark)
            except (OSError, ValueError) as error:
                raise self.fail(error) from None

    def blocks(self) -> Iterator[bytes]:
        """Yield all fingerprints in order, in blocks of about BLOCK bytes, checked."""
        bucket = 0
        try:
            while bucket < self._lookup.buckets:
                place, size, after = self._lookup.span(bucket, BLOCK)
                block = self._read(place, size)
                self._lookup.check(block, bucket, after)
                if block:
                    yield block
                bucket = after
        except (OSError, ValueError) as error:
            raise self.fail(error) from None

    def parts(self) -> Iterator[bytes]:
        """Yield the bytes of the file, checked."""
        yield self._head
        yield from self.blocks()
        yield self._lookup.directory

    def must_match(self, identifier: Identifier, key: FingerprintKey | None = None) -> None:
        """Raise SetError unless the set has these identifiers, and this key if one is given."""
        if identifier != self.identifier:
            raise self._error(f"the saved set has {self.identifier}, not {identifier}")
        if key is not None and key != self.key:
            raise self._error("the saved set has another secret")


def open_set(path: str, key: FingerprintKey | None = None, memory: int = 0) -> SavedSet:
    """Open the saved set at a path; see SavedSet."""
    file, name = open_file(path)
    return SavedSet(file, name, key, memory)


def memory_of_sets(memory: int) -> int:
    """Return how much of the memory of a run, or of the default for one, the fingerprints of a set may need."""
    return memory // 4


# --- writing ----------------------------------------------------------------------------------------------------------


class ScratchOutput:
    """A temporary file without a name, as an output of write_set()."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch, self.file = scratch, scratch.file()

    def write(self, data: Any) -> None:
        self._scratch.write(self.file, data)

    def rewrite(self, data: bytes) -> None:
        self.file.seek(0)
        self.write(data)


def write_set(  # noqa: PLR0913, PLR0917
    output: Any,
    blocks: Iterable[bytes],
    most: int,
    identifier: Identifier,
    key: FingerprintKey,
    scratch: Scratch,
    shard: Shard = Shard(),  # noqa: B008
) -> int:
    """Write a saved set.

    Args:
        output (Output | ScratchOutput): An empty regular file.
        blocks (Iterable[bytes]): The fingerprints, ascending.
        most (int): At least their number. If it is much more, temporary files are larger.
        identifier (Identifier), key (FingerprintKey), shard (Shard): See SavedSet.
        scratch (Scratch): The place for temporary files.

    Returns:
        int: The number of fingerprints.
    """
    description = described(identifier.description())
    digest = digest_of(description).digest()
    description = padded(description)
    bits = bits_for(most)
    directory, rows = Directory(bits, *shard), scratch.file()
    output.write(bytes(HEADER.size) + description)
    for block in blocks:
        output.write(block)
        scratch.write(rows, directory.add(block))
    for block in directory.finish():
        scratch.write(rows, block)
    count, fewer = directory.count, bits_for(directory.count)
    header = HEADER.pack(
        MAGIC, VERSION, len(description), count, fewer, *shard, key._material or bytes(64), key.fingerprint(b""),
        digest, bytes(16),
    )[:-ROW]  # fmt: skip
    sealed = digest_of(header, description)
    step, at = 1 << (bits - fewer), 0
    rows.seek(0)
    try:
        while at < ROW << bits:
            part = rows.read(min((ROW << bits) - at, max(BLOCK, ROW * step)))
            while len(part) % (ROW * step):
                part += rows.read(ROW * step - len(part) % (ROW * step))
            at += len(part)
            part = fold(part, step)
            sealed.update(part)
            output.write(part)
    except OSError as error:
        raise error if isinstance(error, FileError) else scratch.fail(error) from None
    finally:
        close_file(rows)
    output.rewrite(header + sealed.digest())
    return count


class SortedRuns:
    """The fingerprints of complete tables, for a set.

    Attributes:
        count (int): At least the number of fingerprints: those in several tables may count for each.
    """

    def __init__(self) -> None:
        self._runs: Runs | None = None
        self._table: Table | None = None
        self._stored = 0

    @property
    def count(self) -> int:
        return self._stored + (self._table.count if self._table is not None else 0)

    def take(self, table: Table) -> None:
        """Take over the last table."""
        self._table = table

    def add(self, table: Table, scratch: Scratch) -> None:
        """Add the fingerprints of a table, which may be cleared afterwards."""
        if self._runs is None:
            self._runs = Runs(scratch, "any", ROW * SORTED)
        if table.count:
            self._stored += table.count
            self._runs.add(table.fingerprints(SORTED))

    def sources(self) -> list[Iterator[bytes]]:
        """Return sorted sources of all fingerprints."""
        found = self._runs.sources() if self._runs is not None else []
        return [*found, self._table.fingerprints()] if self._table is not None else found

    def close(self) -> None:
        """Free the memory and the temporary files."""
        if self._table is not None:
            self._table.clear()
            self._table = None
        if self._runs is not None:
            self._runs.close()


def union(sets: Iterable[SavedSet], runs: SortedRuns) -> tuple[Iterable[bytes], int]:
    """Return the fingerprints of saved sets and tables (blocks), and at least their number."""
    sets = list(sets)
    sources = [each.blocks() for each in sets] + runs.sources()
    return Merge(sources, "any"), sum(each.count for each in sets) + runs.count


# --- sets of one run --------------------------------------------------------------------------------------------------


class Known:
    """The identifiers that a run knows before it begins: none.

    Args:
        key (FingerprintKey): The key of all fingerprints of the run.

    Attributes:
        key (FingerprintKey): The same.
        sets (list[tuple[SavedSet, bool]]): See Source.
        runs (SortedRuns | None): What gets the new ones; None: they are not saved.
    """

    def __init__(self, key: FingerprintKey, saved: SavedSet | None = None) -> None:
        self.key, self._saved = key, saved
        self.runs: SortedRuns | None = None
        self.sets = [(saved, True)] if saved is not None else []

    def __enter__(self) -> Known:
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._saved is not None:
            self._saved.close()

    def write(self, scratch: Scratch) -> None:
        """Write what is to be saved."""


class Updated(Known):
    """A saved set that is replaced when the `with` block succeeds.

    The name of its temporary file keeps other updates of the same file away, where files have locks; also while the set
    does not exist yet.

    Args:
        path (str): The file; it need not exist.
        identifier (Identifier): That of a new set.

    Raises:
        FileError: If another process is updating the set, or has replaced it after it was opened.
    """

    def __init__(self, key: FingerprintKey, saved: SavedSet | None, path: str, identifier: Identifier) -> None:
        super().__init__(key, saved)
        self._path, self._identifier, self.runs = path, identifier, SortedRuns()
        self._output = Output(os.path.join(".", path), alone=True)
        self._output.name = printable(path)

    def __enter__(self) -> Known:
        with ExitStack() as stack:
            stack.push(super().__exit__)
            stack.enter_context(self._output)
            self._check_place()  # another update may have ended between the opening and the lock
            stack.pop_all()
        return self

    def write(self, scratch: Scratch) -> None:
        runs: Any = self.runs
        blocks, most = union([saved for saved, _ in self.sets], runs)
        write_set(self._output, blocks, most, self._identifier, self.key, scratch)
        runs.close()
        self._check_place()

    def _check_place(self) -> None:
        """Raise FileError if the file at the path is not the one that was read."""
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            there = None
        here = os.fstat(self._saved.number) if self._saved is not None else None
        if (there and (there.st_dev, there.st_ino)) != (here and (here.st_dev, here.st_ino)):
            raise FileError(printable(self._path), "saved set was replaced meanwhile; run this again")

    def __exit__(self, *exception: Any) -> None:
        try:
            self._output.__exit__(*exception)
        finally:
            super().__exit__()


def known_set(options: Any) -> Known:
    """Return what a run knows, given its Options.

    Raises:
        SetError: See SavedSet.
        FileError: If the file cannot be read, or is missing without `update`.
    """
    key = options.run_key()
    if options.seen is None:
        return Known(key)
    path, saved = os.fsdecode(options.seen), None
    if not options.update or os.path.lexists(path):
        saved = open_set(path, options.key, memory_of_sets(options.size))
        try:
            saved.must_match(options.identifier)
        except BaseException:
            saved.close()
            raise
        key = saved.key
    return Updated(key, saved, path, options.identifier) if options.update else Known(key, saved)


def set_of_runs(
    runs: SortedRuns, identifier: Identifier, key: FingerprintKey, scratch: Scratch, memory: int
) -> SavedSet:
    """Write a set of the fingerprints of tables to a temporary file, for a run with so much memory, and open it."""
    blocks, most = union([], runs)
    saved = temporary_set(blocks, most, identifier, key, scratch, memory=memory_of_sets(memory))
    runs.close()
    return saved


def temporary_set(  # noqa: PLR0913, PLR0917
    blocks: Iterable[bytes],
    most: int,
    identifier: Identifier,
    key: FingerprintKey,
    scratch: Scratch,
    shard: Shard = Shard(),  # noqa: B008
    memory: int = 0,
) -> SavedSet:
    """Write a set to a temporary file, and open it; see write_set()."""
    output = ScratchOutput(scratch)
    write_set(output, blocks, most, identifier, key, scratch, shard)
    return SavedSet(output.file, scratch.shown, key, memory)
