"""`Deduplicator`: a test for the rows of a stream."""

from __future__ import annotations

import os
from itertools import compress
from threading import RLock
from typing import TYPE_CHECKING, Any, overload

from uricodec._base._fingerprint import FingerprintKey, as_key
from uricodec._counting._table import Cardinality
from uricodec._counting.partitions import PartitionedTable
from uricodec._identifier import Identifier
from uricodec._io.scratch import Scratch
from uricodec._io.sizes import parse_memory
from uricodec._io.writing import Output
from uricodec.dedup._memory import Batches, answers
from uricodec.dedup._options import MemorySize, Path, Secret
from uricodec.dedup._seen import SeenSet
from uricodec.dedup._sets import SortedRuns, union, write_set
from uricodec.dedup._source import IS_NEW, SEEN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer, Self

    from uricodec._rows._columns import Column
    from uricodec._rows.overloads import HasArrowArray, HasArrowStream
    from uricodec.typing import DedupErrors, IdentifierKind, PolicyName, UriLevel, UrnLevel
    from uricodec.uri import Policy


class Deduplicator:
    """A test for the rows of a stream: is each the first one with its identifier?

    When the memory is full, identifiers in the table are still recognized; finish() determines which of the other rows
    are first. Several threads may use one deduplicator: calls of add() wait for each other, and the rows of a call are
    consecutive.

    Args:
        kind (str): "urn", "uri", "iri", "web" (URLs in which all parsers find the same host) or "bytes".
        level (str | None): The level of the normal form; None: "8141" for URNs, "path" for URIs, "iri" for IRIs,
            "scheme" for "web".
        policy (Policy | str | None): A policy instead of a level, with kind="uri", "iri" or "web": see
            `uricodec.uri.Policy`.
        memory (int | str | None): The limit for the table: bytes, "64M", "1G" or "50%"; None: half of the memory.
        spill_dir (str | PathLike | None): The folder for temporary files; None: the system's default.
        exact (bool): Whether to compare normal forms, not only fingerprints. A given secret is then ignored.
        secret (FingerprintKey | str | bytes | None): The key of fingerprints; None: random.
        errors (str): How an invalid row is handled. "keep": its bytes are its identifier if it has no normal form;
            "drop": it is never the first; "raise": an error is raised, and it is undefined which rows of the call have
            been added. With "drop" and "raise", rows that are not URI references are invalid, too; with kind or level
            "iri" and policies, those that are not IRI references. The policies "w3lib" and "whatwg", and level
            "rfc1630", reject others.
        seen (SeenSet | None): Identifiers that count as seen before. Its key is that of the fingerprints.

    Attributes:
        rows (int): The number of rows added.
        invalid (int): The number of invalid ones among them.

    Raises:
        ValueError: If kind, level, policy, errors, secret or memory size is invalid, or if `seen` is given with
            exact=True.
        SetError: If `seen` has another kind, level, policy or secret.
        OSError: If temporary files cannot be written.

    >>> with Deduplicator("urn") as names:
    ...     print(names.add(["urn:isbn:0451450523", "URN:ISBN:0451450523", None, "urn:isbn:1", None]))
    ...     print(names.add(b"urn:isbn:1\\nurn:isbn:2\\n"), names.finish(), names.count, names.rows)
    [True, False, True, True, False]
    [False, True] [] 3 7
    """

    def __init__(  # noqa: PLR0913
        self,
        kind: IdentifierKind,
        level: UriLevel | UrnLevel | None = None,
        *,
        policy: Policy | PolicyName | None = None,
        memory: MemorySize = None,
        spill_dir: Path | None = None,
        exact: bool = False,
        secret: Secret = None,
        errors: DedupErrors = "keep",
        seen: SeenSet | None = None,
    ) -> None:
        self._identifier, self._saved = Identifier(kind, level, policy), None
        key = None if exact else as_key(secret)  # with exact, a key that is known would only allow attacks on speed
        if seen is not None:
            if not isinstance(seen, SeenSet):
                raise TypeError(f"seen must be a SeenSet, got {type(seen).__name__}")
            if exact:
                raise ValueError("seen is not supported with exact=True: sets have fingerprints")
            seen._saved.must_match(self._identifier, key)
            self._saved, key = seen._saved, seen.key
        self._key = key or FingerprintKey()
        self._batches = Batches(self._identifier, self._key, errors, exact)
        self._options = {"memory": memory, "spill_dir": spill_dir, "errors": errors}  # for pickle
        self._scratch = Scratch(spill_dir)
        self._exact = exact
        self._partitions = PartitionedTable(parse_memory(memory), exact, False, self._scratch)
        self._cardinality = Cardinality()
        self._runs: SortedRuns | None = None  # all identifiers, if save() had to finish
        self._found: list[int] = []  # what finish() returns then
        self._later = 0
        self._done = self._closed = False
        self._lock = RLock()
        self.rows: int = 0

    def __enter__(self) -> Deduplicator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory and the temporary files. No rows can be added afterwards."""
        with self._lock:
            self._later, self._done, self._closed = self.count, True, True
            self._partitions.close()
            if self._runs is not None:
                self._runs.close()
            self._scratch.close()

    @property
    def invalid(self) -> int:
        return self._batches.invalid

    @property
    def count(self) -> int:
        """The number of different identifiers so far. If the memory was full, it is complete only after finish().

        Nulls do not count; those of `seen` do.
        """
        return self._later if self._done else self._before + self._partitions.table.count

    @property
    def _before(self) -> int:
        return 0 if self._saved is None else self._saved.count

    @property
    def estimate(self) -> int:
        """About how many different identifiers there are (standard error 0.8 %), even if the memory is full."""
        return self._before + self._cardinality.estimate()

    @overload
    def add(self, column: list[Any] | tuple[Any, ...] | Buffer) -> list[bool | None]: ...
    @overload
    def add(self, column: HasArrowArray | HasArrowStream) -> Column: ...
    def add(self, column: Any) -> Any:
        """Add rows, and return whether each is the first one with its identifier.

        Args:
            column (list | tuple | Arrow object | bytes-like): str, bytes-like or None items; a column of text or bytes;
                or lines, each ended by "\\n". All nulls count as the same.

        Returns:
            list[bool | None] | Column: For each row True or False, or None (null) if the memory was full. A Column of
                bool for an Arrow object.

        Raises:
            UriError: If a row is invalid, with errors="raise".
            ValueError: If finish() or close() was called before.
            TypeError: If `column` is of another type.
            BufferError: If the memory of a bytes-like is not contiguous.
            OSError: If a temporary file cannot be written.
        """
        found = []
        with self._lock:
            if self._done:
                raise ValueError(f"cannot add to a {'closed' if self._closed else 'finished'} Deduplicator")
            for batch in self._batches.read(column, self.rows):
                if self._saved is not None:
                    self._saved.mark(batch, True, SEEN)
                self._partitions.add(batch)
                self.rows += len(batch)
                self._cardinality.add(batch)
                found.append(batch.marks)
        return answers(column, b"".join(found))

    def finish(self) -> list[int]:
        """Return which of the rows that add() answered with None are first. No rows can be added afterwards.

        Returns:
            list[int]: The numbers of the rows that are the first ones with their identifiers, ascending. Rows are
                numbered from 0, in the order in which they were added.

        Raises:
            OSError: If a temporary file cannot be read or written.
        """
        with self._lock:
            self._find_later()
            found, self._found = self._found, []
            return found

    def _find_later(self) -> None:
        """Process the rows for which there was no memory."""
        found: list[int] = []
        count = self.count

        def take(batch: Any) -> None:
            nonlocal count
            count += batch.new
            found.extend(compress(batch.row_numbers, batch.marks.translate(IS_NEW)))

        if not self._done:
            self._partitions.finish(take, None)
        self._later, self._done = count, True
        self._partitions.close()
        self._found += sorted(found)

    # --- saving -------------------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write all identifiers so far to a file, as a set: see `SeenSet`.

        If the memory was full, temporary files are processed now, and no rows can be added afterwards.

        Args:
            path (Path): The file, which appears, or replaces another one, when it is complete.

        Raises:
            ValueError: If finish() or close() was called before, or with exact=True: a set has fingerprints.
            SetError: If `seen` is damaged.
            OSError: If a file cannot be read or written.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Deduplicator("urn") as today:
        ...         _ = today.add(["urn:isbn:1", "urn:isbn:2"])
        ...         today.save(os.path.join(folder, "seen"))
        ...     with Deduplicator.load(os.path.join(folder, "seen")) as tomorrow:
        ...         print(tomorrow.add(["urn:isbn:2", "urn:isbn:3"]), tomorrow.count)
        [False, True] 3
        """
        with self._lock:
            blocks, most = self._fingerprints()
            with Output(os.path.join(".", os.fsdecode(path))) as output:
                write_set(output, blocks, most, self._identifier, self._key, self._scratch)

    def _fingerprints(self) -> tuple[Iterable[bytes], int]:
        """Return all fingerprints, and at least their number."""
        if self._exact:
            raise ValueError("cannot save with exact=True: a set has fingerprints")
        if self._closed or (self._done and self._runs is None):
            raise ValueError(f"cannot save a {'closed' if self._closed else 'finished'} Deduplicator")
        if self._partitions.spill is not None:
            self._runs = self._partitions.runs = SortedRuns()
            self._find_later()
        runs = self._runs
        if runs is None:
            runs = SortedRuns()
            runs.take(self._partitions.table)
        return union([] if self._saved is None else [self._saved], runs)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        memory: MemorySize = None,
        spill_dir: Path | None = None,
        secret: Secret = None,
        errors: DedupErrors = "keep",
    ) -> Self:
        """Return a deduplicator that has seen the identifiers of a saved set.

        Args:
            path (Path): The file.
            memory, spill_dir, secret, errors: As in `Deduplicator`; the set is not read into memory.

        Raises:
            SetError, OSError: As in `SeenSet.open`.
            ValueError: As in `Deduplicator`.

        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     with Deduplicator("bytes") as names:
        ...         names.save(file.name)
        ...     with Deduplicator.load(file.name) as names:
        ...         print(names.add(["a"]), names.count)
        [True] 1
        """
        return cls._after(SeenSet.open(path, secret), memory=memory, spill_dir=spill_dir, errors=errors)

    @classmethod
    def _after(cls, seen: SeenSet, **options: Any) -> Self:
        kind: Any = seen.kind
        return cls(kind, seen.level, policy=seen.policy, seen=seen, **options)  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the identifiers as a set. A secret that was given is in the pickle."""
        with self._lock:
            if self._partitions.spill is not None or self._done:
                raise ValueError("cannot pickle a Deduplicator whose memory was full, or that is finished; see save()")
            blocks, most = self._fingerprints()
            seen = SeenSet._made(blocks, most, self._identifier, self._key)
            return _restore, (
                type(self),
                seen,
                self._options,
                (self.rows, self.invalid, self._batches.columns.null_seen),
            )


def _restore(kind: type[Deduplicator], seen: SeenSet, options: dict[str, Any], state: tuple[int, int, bool]) -> Any:
    made = kind._after(seen, **options)
    made.rows, made._batches.invalid_lines, made._batches.columns.null_seen = state
    return made
