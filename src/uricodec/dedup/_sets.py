"""Files of saved sets: their format, opening them, and writing them from sorted fingerprints.

docs/reference/saved_sets.md describes the format. _set_file.pyx has the loops.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._runs import Merge
from uricodec._counting._table import Table
from uricodec._counting.partitions import PartitionedTable
from uricodec._counting.runs import Runs
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
from uricodec.dedup._corpus import Corpus
from uricodec.dedup._set_file import Directory, SetFile, bits_for, fold
from uricodec.uri._policies import Policy

if TYPE_CHECKING:
    from mmap import mmap

    from uricodec.dedup._dataset import Dataset

# Bytes that are read or written at once; and the fingerprints in a block of a sorted run, of which many are merged.
BLOCK = 1 << 20
SORTED = 1 << 14


class Rules(NamedTuple):
    """Which identifiers are equivalent in a set.

    Attributes:
        kind (str): "bytes", "urn", "web" or "uri", which includes "iri": its levels are among those of URIs.
        level (str | Policy | None): The level; a policy; None for "bytes".
    """

    kind: str
    level: Any

    @classmethod
    def of(cls, kind: str, level: Any) -> Rules:
        return cls("uri" if kind == "iri" else kind, level)

    def description(self) -> bytes:
        """Return these rules as JSON, in one way."""
        shown: dict[str, Any] = {"kind": self.kind}
        if isinstance(self.level, Policy):
            shown["policy"] = self.level._form or self.level._values()
        elif self.level is not None:
            shown["level"] = self.level
        return described(shown)

    @classmethod
    def read(cls, said: Any, description: bytes) -> Rules:
        """Return the rules that a description has.

        Args:
            said (Any): What it says as JSON,
            description (bytes): and its bytes.

        Raises:
            ValueError, TypeError, LookupError, AttributeError: If this version of uricodec does not know them.
        """
        from uricodec.dedup import _level_of

        if said["forms"] != FORMS:
            raise ValueError("made by a version with other normal forms")
        policy = said.get("policy")
        policy = Policy(**policy) if isinstance(policy, dict) else policy
        rules = cls.of(said["kind"], _level_of(said["kind"], said.get("level"), policy))
        if rules.description() != description:
            raise ValueError("unknown rules")
        return rules

    def __str__(self) -> str:
        if self.level is None:
            return f"kind {self.kind!r}"
        if isinstance(self.level, Policy):
            return f"kind {self.kind!r} and {self.level!r}"
        return f"kind {self.kind!r} and level {self.level!r}"


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
        rules (Rules): Which identifiers are equivalent.
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
        self.shard, self.rules = Shard(*self._shard), Rules.read(said, description)

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

    def mark(self, names: Any, present: bool, mark: int) -> None:
        """Mark the undecided rows of a batch that are in the set, or that are not; see SetFile.mark()."""
        with self:
            self.check_unchanged()
            try:
                self._lookup.mark(names, present, mark)
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

    def must_match(self, rules: Rules, key: FingerprintKey | None = None) -> None:
        """Raise SetError unless the set has these rules, and this key if one is given."""
        if rules.description() != self.rules.description():
            raise self._error(f"the saved set has {self.rules}, not {rules}")
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
    rules: Rules,
    key: FingerprintKey,
    scratch: Scratch,
    shard: Shard = Shard(),  # noqa: B008
) -> int:
    """Write a saved set.

    Args:
        output (Output | ScratchOutput): An empty regular file.
        blocks (Iterable[bytes]): The fingerprints, ascending.
        most (int): At least their number. If it is much more, temporary files are larger.
        rules (Rules), key (FingerprintKey), shard (Shard): See SavedSet.
        scratch (Scratch): The place for temporary files.

    Returns:
        int: The number of fingerprints.
    """
    description = rules.description()
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
        sets (list[tuple[SavedSet, bool]]): See Corpus.
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
        rules (Rules): The rules of a new set.

    Raises:
        FileError: If another process is updating the set, or has replaced it after it was opened.
    """

    def __init__(self, key: FingerprintKey, saved: SavedSet | None, path: str, rules: Rules) -> None:
        super().__init__(key, saved)
        self._path, self._rules, self.runs = path, rules, SortedRuns()
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
        write_set(self._output, blocks, most, self._rules, self.key, scratch)
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


def known_set(  # noqa: PLR0913, PLR0917
    path: str | None, update: bool, rules: Rules, given: FingerprintKey | None, exact: bool, memory: int
) -> Known:
    """Return what a run knows.

    Args:
        path (str | None): The file with a saved set; None: none.
        update (bool): Whether it is replaced, or made, at the end.
        rules (Rules): What it has to have.
        given (FingerprintKey | None): The key of the run; None: that of the set, or a random one.
        exact (bool): Whether the run needs no fingerprints: its key is random, since a key that is known would only
            allow attacks on its speed.
        memory (int): That of the run in bytes.

    Raises:
        SetError: See SavedSet.
        FileError: If the file cannot be read, or is missing without `update`.
    """
    key = FingerprintKey() if given is None or exact else given
    if path is None:
        return Known(key)
    saved = None
    if not update or os.path.lexists(path):
        saved = open_set(path, given, memory_of_sets(memory))
        try:
            saved.must_match(rules)
        except BaseException:
            saved.close()
            raise
        key = saved.key
    return Updated(key, saved, path, rules) if update else Known(key, saved)


@contextmanager
def set_of(  # noqa: PLR0913, PLR0917
    corpus: Corpus | Dataset, make: Callable[[], Any], rules: Rules, key: FingerprintKey, memory: int, scratch: Scratch
) -> Iterator[SavedSet]:
    """Make a set, in a temporary file, of the identifiers of a corpus.

    Args:
        corpus (Corpus | Dataset): The lines or rows, which are read once.
        make (Callable[[], LineBatch | ColumnBatch]): Returns a new batch to read them with.
        rules (Rules), key (FingerprintKey): Those of the set.
        memory (int): The limit for the table in bytes.
        scratch (Scratch): The place for temporary files.
    """
    runs = SortedRuns()
    partitions = PartitionedTable(memory, False, False, scratch, runs=runs)
    corpus.first_reading(make, False, lambda names, _: partitions.add(names))
    partitions.finish(lambda _: None, None)
    partitions.close()
    saved = temporary_set(Merge(runs.sources(), "any"), runs.count, rules, key, scratch, memory=memory_of_sets(memory))
    runs.close()
    with closing(saved):
        yield saved


def temporary_set(  # noqa: PLR0913, PLR0917
    blocks: Iterable[bytes],
    most: int,
    rules: Rules,
    key: FingerprintKey,
    scratch: Scratch,
    shard: Shard = Shard(),  # noqa: B008
    memory: int = 0,
) -> SavedSet:
    """Write a set to a temporary file, and open it; see write_set()."""
    output = ScratchOutput(scratch)
    write_set(output, blocks, most, rules, key, scratch, shard)
    return SavedSet(output.file, scratch.shown, key, memory)
