"""`SeenSet`: saved sets of identifiers, to ask what was seen before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

from uricodec._base._fingerprint import FingerprintKey, as_key
from uricodec._base.extras import need
from uricodec._counting._runs import Merge
from uricodec._identifier import Identifier
from uricodec._io.scratch import Scratch
from uricodec._io.sizes import parse_memory
from uricodec._io.writing import Output
from uricodec.dedup._identifiers import column_of
from uricodec.dedup._memory import Batches, Memory, answers
from uricodec.dedup._options import Options
from uricodec.dedup._run import Run
from uricodec.dedup._set_file import first_of
from uricodec.dedup._sets import SavedSet, Shard, memory_of_sets, open_set, temporary_set, union
from uricodec.dedup._source import NEW
from uricodec.errors import SetError

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Buffer, Self

    from uricodec._rows._columns import Column
    from uricodec._rows.overloads import HasArrowArray, HasArrowStream
    from uricodec.typing import DedupErrors, IdentifierKind, PolicyName, UriLevel, UrnLevel
    from uricodec.uri import Policy

MOST_SHARDS = 1 << 16


class SeenSet:
    """A set of identifiers, saved in a file of their fingerprints: 16 bytes for each, whatever its length.

    `open`, `build`, `merge`, `split` and the operators make sets. What a question needs of a file is read, checked, and
    stays in memory, unless all fingerprints would take more than an eighth of the machine's memory: then it is read
    again. Sets that are not saved are in temporary files without a name.

    An identifier is in the set if an equivalent one was put in. The probability that another one is taken for a member
    is below 10^-26, in a set of 10^11 identifiers of up to 100 bytes: docs/developing/fingerprint.md.

    Several threads may use one set.

    Attributes:
        kind (str): "urn", "uri" (which includes "iri"), "web", or "bytes".
        level (str | None): The level of the normal form; None with a policy, and for "bytes".
        policy (Policy | None): The policy.
        key (FingerprintKey): The key of the fingerprints. Sets with the same key can be combined.
        shard (tuple[int, int]): Which shard it is, from 0, and of how many: (0, 1) is a whole set.

    Source: docs/developing/fingerprint.md has the format of the file.

    >>> seen = SeenSet.build(["urn:isbn:1", "urn:isbn:2"], "urn")
    >>> "URN:ISBN:1" in seen, len(seen), seen.contains(["urn:isbn:2", "urn:isbn:3", None])
    (True, 2, [True, False, None])
    """

    _saved: SavedSet
    _path: str | None

    def __init__(self) -> None:
        raise TypeError("cannot create a SeenSet: use SeenSet.open() or SeenSet.build()")

    @classmethod
    def _of(cls, saved: SavedSet, path: str | None = None) -> Self:
        self = object.__new__(cls)
        self._saved, self._path = saved, path
        return self

    @classmethod
    def _made(
        cls,
        blocks: Iterable[bytes],
        most: int,
        identifier: Identifier,
        key: FingerprintKey,
        shard: Shard = Shard(),  # noqa: B008
    ) -> Self:
        """Return a set of sorted fingerprints."""
        scratch = Scratch(None)
        try:
            return cls._of(temporary_set(blocks, most, identifier, key, scratch, shard, _memory()))
        except BaseException:
            scratch.close()
            raise

    @classmethod
    def open(cls, path: str | os.PathLike[str], secret: FingerprintKey | str | bytes | None = None) -> Self:
        """Open a saved set.

        Args:
            path (str | PathLike): The file.
            secret (FingerprintKey | str | bytes | None): The secret that it was made with, if one was given then.

        Raises:
            SetError: If the file is not a saved set or is damaged, or the secret is missing or another one. The
                fingerprints themselves are checked when they are read.
            OSError: If the file cannot be read.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     SeenSet.build(["http://a/"], "uri").save(os.path.join(folder, "seen"))
        ...     with SeenSet.open(os.path.join(folder, "seen")) as seen:
        ...         print("HTTP://A/" in seen, seen.kind, seen.level)
        True uri path
        """
        name = os.fsdecode(path)
        return cls._of(open_set(name, as_key(secret), _memory()), os.path.abspath(name))

    @classmethod
    def build(  # noqa: PLR0913
        cls,
        column: Any,
        kind: IdentifierKind,
        level: UriLevel | UrnLevel | None = None,
        *,
        policy: Policy | PolicyName | None = None,
        memory: int | str | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
        secret: FingerprintKey | str | bytes | None = None,
        errors: DedupErrors = "keep",
    ) -> Self:
        """Return the set of the identifiers of a column.

        Args:
            column (list | tuple | Arrow object | bytes-like): As in `Deduplicator.add`. Nulls are left out.
            kind, level, policy, memory, spill_dir, secret, errors: As in `Deduplicator`. A given secret is not saved
                with the set, a random one is.

        Raises:
            UriError, ValueError, TypeError, BufferError, OSError: As in `Deduplicator`.

        >>> SeenSet.build(b"http://a/\\nHTTP://a/\\n", "uri")
        <SeenSet of 1 identifier, kind 'uri' and level 'path'>
        """
        options = Options(**locals())
        key = options.key or FingerprintKey()
        with Scratch(spill_dir) as scratch:
            source = Memory(options, column, Batches(options.identifier, key, errors))
            blocks, most = union([], Run(options, source, key, scratch, options.size).fingerprints())
            return cls._made(blocks, most, options.identifier, key)

    @classmethod
    def merge(cls, sets: Iterable[SeenSet]) -> Self:
        """Return the union of any number of sets, or the whole of which they are the shards.

        Args:
            sets (Iterable[SeenSet]): At least one. All have the same rules and key, and are the same shard; or they are
                the shards of one set, as `split` returns them.

        Raises:
            ValueError: If there is none, or shards are missing.
            SetError: If sets differ in kind, level, policy or key, or one is damaged.
            OSError: If a file cannot be read or written.

        >>> days = [SeenSet.build([f"urn:x-day:{day}", "urn:x-all:1"], "urn", secret="s") for day in range(3)]
        >>> len(SeenSet.merge(days))
        4
        """
        saved = [each._saved for each in sets]
        if not saved:
            raise ValueError("expected at least one set")
        first = saved[0]
        for each in saved[1:]:
            each.must_match(first.identifier, first.key)
        blocks, most = Merge([each.blocks() for each in saved], "any"), sum(each.count for each in saved)
        return cls._made(blocks, most, first.identifier, first.key, whole(saved))

    def split(self, shards: int) -> list[Self]:
        """Return the set in shards: parts of about the same size, by the first bits of the fingerprints.

        Args:
            shards (int): How many: a power of 2 up to 65,536. Each keeps a file open.

        Raises:
            ValueError: If the number is another one, or the set is closed.
            SetError: If the set is damaged.
            OSError: If a file cannot be read or written.

        >>> parts = SeenSet.build([f"urn:example:{i}" for i in range(1000)], "urn").split(4)
        >>> sum(map(len, parts)), len(SeenSet.merge(parts)), parts[1].shard
        (1000, 1000, (1, 4))
        """
        more = shards.bit_length() - 1
        if not 0 < shards <= MOST_SHARDS or shards != 1 << more:
            raise ValueError(f"shards must be a power of 2 up to {MOST_SHARDS}, got {shards}")
        bits, first = self._saved.shard.bits + more, self._saved.shard.number << more
        pieces, identifier, key = Pieces(self._saved.blocks(), bits), self._saved.identifier, self.key
        about = self._saved.count // shards * 2 + 128
        parts = (Shard(bits, first + i) for i in range(shards))
        return [self._made(pieces.up_to(part.number), about, identifier, key, part) for part in parts]

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return self._saved.identifier.kind

    @property
    def level(self) -> str | None:
        level = self._saved.identifier.level
        return level if isinstance(level, str) else None

    @property
    def policy(self) -> Policy | None:
        level = self._saved.identifier.level
        return None if isinstance(level, str) else level

    @property
    def key(self) -> FingerprintKey:
        return self._saved.key

    @property
    def shard(self) -> tuple[int, int]:
        return self._saved.shard.number, 1 << self._saved.shard.bits

    def __len__(self) -> int:
        return self._saved.count

    def __bool__(self) -> bool:
        return self._saved.count > 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SeenSet):
            return NotImplemented
        return self._saved.digest == other._saved.digest and self._saved.key == other._saved.key

    def __hash__(self) -> int:
        return hash(self._saved.digest)

    def __repr__(self) -> str:
        count, (number, shards) = len(self), self.shard
        part = f"shard {number} of {shards}, " if shards > 1 else ""
        return f"<SeenSet of {count:,} identifier{'' if count == 1 else 's'}, {part}{self._saved.identifier}>"

    # --- questions ----------------------------------------------------------------------------------------------------

    @overload
    def contains(
        self, column: list[Any] | tuple[Any, ...] | Buffer, errors: DedupErrors = "keep"
    ) -> list[bool | None]: ...
    @overload
    def contains(self, column: HasArrowArray | HasArrowStream, errors: DedupErrors = "keep") -> Column: ...
    def contains(self, column: Any, errors: DedupErrors = "keep") -> Any:
        """Return whether each identifier is in the set.

        Args:
            column (list | tuple | Arrow object | bytes-like): str, bytes-like or None items; a column of text or bytes;
                or lines, each ended by "\\n".
            errors (str): How an invalid row is handled. "keep": its bytes are its identifier; "drop": it is not in the
                set; "raise": an error is raised.

        Returns:
            list[bool | None] | Column: For each row True or False, or None (null) for null. A Column of bool for an
                Arrow object. Of a shard, False also for an identifier that belongs to another one.

        Raises:
            UriError: If a row is invalid, with errors="raise".
            SetError: If the set is damaged.
            ValueError: If the set is closed.
            TypeError: If `column` is of another type.
            BufferError: If the memory of a bytes-like is not contiguous.
            OSError: If the file cannot be read, or was changed.

        >>> SeenSet.build(["http://a/"], "uri").contains(["http://a/", "http://b/"])
        [True, False]
        """
        batches, found = Batches(self._saved.identifier, self.key, errors, nulls_later=True), []
        for batch in batches.read(column):
            self._saved.mark(batch, True, NEW)
            found.append(batch.marks)
        return answers(column, b"".join(found))

    def __contains__(self, identifier: str | bytes) -> bool:
        [found] = self.contains([identifier])
        return bool(found)

    def fingerprints(self) -> Iterator[Any]:
        """Yield the fingerprints in columns of 16 bytes (Arrow), in order: for joins on `fingerprint`.

        Raises:
            SetError: If the set is damaged.
            ValueError: If the set is closed.
            OSError: If the file cannot be read.

        >>> seen = SeenSet.build(["http://a/", "http://b/"], "uri")
        >>> [len(column) for column in seen.fingerprints()]
        [2]
        """
        return map(column_of, self._saved.blocks())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow stream of a table with one column, `fingerprint`, of 16 bytes, in order. Requires pyarrow.

        So DuckDB, Polars, pyarrow and others read a set as a table, batch by batch.
        """
        need("arrow", "pyarrow")
        import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

        schema = pa.schema({"fingerprint": pa.binary(16)})
        batches = (pa.record_batch([pa.array(column)], schema=schema) for column in self.fingerprints())
        return pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__(requested_schema)

    def verify(self) -> None:
        """Read the whole file, and check it.

        Raises:
            SetError: If the set is damaged.
            ValueError: If the set is closed.
            OSError: If the file cannot be read.

        >>> SeenSet.build([], "urn").verify()
        """
        for _ in self._saved.blocks():
            pass

    # --- algebra ------------------------------------------------------------------------------------------------------

    def _combine(self, other: object, keep: str, most: int) -> Self:
        if not isinstance(other, SeenSet):
            return NotImplemented
        own, others = self._saved, other._saved
        others.must_match(own.identifier, own.key)
        if own.shard != others.shard:
            raise SetError("cannot combine shards that differ: merge them first")
        return self._made(Merge([own.blocks(), others.blocks()], keep), most, own.identifier, own.key, own.shard)

    def __or__(self, other: SeenSet) -> Self:
        """Return the union: what is in any of both sets."""
        return self._combine(other, "any", len(self) + len(other) if isinstance(other, SeenSet) else 0)

    def __and__(self, other: SeenSet) -> Self:
        """Return the intersection: what is in both sets."""
        return self._combine(other, "all", len(self))

    def __sub__(self, other: SeenSet) -> Self:
        """Return the difference: what is in this set and not in the other."""
        return self._combine(other, "only-first", len(self))

    # --- files --------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a file, which appears, or replaces another one, when it is complete.

        Args:
            path (str | PathLike): The file.

        Raises:
            SetError: If the set is damaged.
            ValueError: If the set is closed.
            OSError: If a file cannot be read or written.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     SeenSet.build(["http://a/"], "uri").save(os.path.join(folder, "seen"))
        ...     os.path.getsize(os.path.join(folder, "seen"))
        240
        """
        name = os.fsdecode(path)
        with Output(os.path.join(".", name)) as output:
            for part in self._saved.parts():
                output.write(part)

    def close(self) -> None:
        """Close the file. The set cannot be used afterwards; calls in other threads end first, or raise ValueError."""
        self._saved.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an opened set as its path, any other one as its bytes. A secret that was given is in the pickle."""
        given = None if self.key._material is not None else self.key
        if self._path is not None:
            return type(self).open, (self._path, given)
        return _restore, (type(self), b"".join(self._saved.parts()), given)


def must_match(seen: SeenSet, kind: str, level: str | None, policy: Any = None, secret: Any = None) -> None:
    """Raise SetError unless a set has this kind, level or policy, and secret."""
    seen._saved.must_match(Identifier(kind, level, policy), as_key(secret))


def _memory() -> int:
    return memory_of_sets(parse_memory(None))


def _restore(kind: type[SeenSet], data: bytes, key: FingerprintKey | None) -> SeenSet:
    scratch = Scratch(None)
    try:
        file = scratch.file()
        scratch.write(file, data)
        return kind._of(SavedSet(file, scratch.shown, key, _memory()))
    except BaseException:
        scratch.close()
        raise


class Pieces:
    """The fingerprints of a set, to be taken shard by shard.

    Args:
        blocks (Iterator[bytes]): The fingerprints, ascending.
        bits (int): How many of their highest bits are the number of a shard.
    """

    def __init__(self, blocks: Iterator[bytes], bits: int) -> None:
        self._blocks, self._bits = blocks, bits

    def up_to(self, shard: int) -> Iterator[bytes]:
        """Yield the fingerprints that are left up to the end of a shard."""
        for block in self._blocks:
            cut = first_of(block, self._bits, shard + 1)
            if cut:
                yield block[:cut]
            if cut < len(block):
                self._blocks = chain([block[cut:]], self._blocks)
                return


def whole(sets: list[SavedSet]) -> Shard:
    """Return of which shard the union of sets is.

    Raises:
        ValueError: If they are different shards, but not all of a whole.
    """
    shards = sorted({each.shard for each in sets})
    if len(shards) == 1:
        return shards[0]
    fewer = len(shards).bit_length() - 1
    bits = shards[0].bits - fewer
    number = shards[0].number >> fewer
    if len(shards) != 1 << fewer or shards != [Shard(bits + fewer, (number << fewer) + i) for i in range(len(shards))]:
        raise ValueError("expected the same shard of each set, or all shards of one")
    return Shard(bits, number)
