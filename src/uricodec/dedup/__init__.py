"""Deduplication of identifiers in bounded memory: keeps the first of all identifiers that have the same normal form.

    from uricodec import dedup

`kind` and `level` select the normal form, as for `uricodec.urn.normalize` and `uricodec.uri.normalize`. The first
spelling of each identifier is kept, in the order of the input. See docs/guides/dedup.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from itertools import compress
from threading import RLock
from typing import TYPE_CHECKING, Any, Union, overload

from uricodec._base._fingerprint import FingerprintKey
from uricodec._base._text import new_buffer
from uricodec._base.extras import need
from uricodec._counting._order import orders_of
from uricodec._counting._table import Cardinality, FingerprintBatch
from uricodec._counting.partitions import PartitionedTable
from uricodec._io.reading import MAX_LINE
from uricodec._io.scratch import Scratch
from uricodec._io.sizes import parse_memory
from uricodec._io.writing import Output
from uricodec._rows._engine import RowOperation
from uricodec._rows.overloads import returns_selection
from uricodec.dedup._corpus import (
    Corpus,
    CountsOutput,
    Progress,
    Ticker,
    count_unique,
    find_counted,
    find_rows,
    find_top,
    select_top,
    write_kept,
    write_top,
    write_unique,
)
from uricodec.dedup._fields import Records
from uricodec.dedup._first_rows import FirstRows
from uricodec.dedup._identifiers import ColumnBatch, LineBatch, borrow, mask, select
from uricodec.dedup._sets import Known, Rules, SortedRuns, known_set, set_of, union, write_set
from uricodec.errors import SetError, UriError
from uricodec.uri._policies import checked, operation_of, policy_of, production_of
from uricodec.uri._rows import CheckedWebRows, NormalizeRows
from uricodec.urn._rows import NormalizeUrnRows

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

    from uricodec._rows._columns import Column
    from uricodec._rows.overloads import HasArrowArray, HasArrowStream
    from uricodec.bulk import fingerprint
    from uricodec.dedup._seen import SeenSet
    from uricodec.typing import (
        DedupErrors,
        DedupKeep,
        DedupReport,
        IdentifierKind,
        PolicyName,
        RecordFormat,
        UriLevel,
        UrnLevel,
    )
    from uricodec.uri import Policy

__all__ = [
    "DedupStats",
    "Deduplicator",
    "FingerprintKey",
    "Progress",
    "SeenSet",
    "SetError",
    "dedup_files",
    "estimate_files",
    "fingerprint",
    "rules_of",
    "unique",
    "unique_dataset",
]


def __getattr__(name: str) -> Any:
    if name == "fingerprint":  # imported when it is first used: the command line starts without it
        from uricodec.bulk import fingerprint

        return fingerprint
    if name == "SeenSet":
        from uricodec.dedup._seen import SeenSet

        return SeenSet
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


Secret = Union[FingerprintKey, str, bytes, None]  # noqa: UP007
Path = Union[str, "os.PathLike[str]"]
Memory = Union[int, str, None]  # noqa: UP007

# Levels of each kind, from fine to coarse: each merges what the previous ones merge, and more, among valid identifiers.
_LADDERS = {
    "bytes": ("bytes",),
    "urn": ("bytes", "2141", "8141", "namespace", "functional"),
    "uri": ("simple", "case", "percent", "path", "scheme", "iri"),
}
_LEVELS = {"bytes": None, "urn": "8141", "uri": "path", "iri": "iri", "web": "scheme"}


class DedupStats:
    """The figures of a run of dedup_files(), or of unique_dataset(), where a line is a row.

    Attributes:
        rows (int): The number of lines in the inputs, without `exclude`.
        unique (int): The number of different identifiers in the inputs that are not in `exclude`.
        duplicates (int): The number of lines whose identifier occurred before, or in `exclude`.
        invalid (int): The number of invalid lines. With errors="drop" they count neither as unique nor as duplicates.
        written (int): The number of lines written.
        spilled (int): The number of bytes written to temporary files because the memory was full.
        unordered (int): With keep="newest": the number of lines without a readable value in `by`; they count as the
            oldest.
        unclosed (bool): Whether the last record of a CSV file has a quote that is not closed. The record is
            invalid, and contains the rest of the file.
        merged (dict[str, int]): With rules=True: level (see `rules_of`) -> number of lines that it made duplicates.

    >>> list(DedupStats().as_dict())
    ['rows', 'unique', 'duplicates', 'invalid', 'written', 'spilled', 'unordered', 'unclosed', 'merged']
    """

    def __init__(self) -> None:
        self.rows = self.unique = self.duplicates = self.invalid = self.written = self.spilled = self.unordered = 0
        self.unclosed = False
        self.merged: dict[str, int] = {}

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as a dict, for JSON."""
        return dict(self.__dict__)

    def __repr__(self) -> str:
        return f"DedupStats({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def rules_of(
    kind: IdentifierKind, level: UriLevel | UrnLevel | None = None, policy: Policy | PolicyName | None = None
) -> tuple[str, ...]:
    """Return the levels of a kind up to a given one, or the steps of a policy, from fine to coarse.

    Each level merges what the previous one merges, and more. For URNs, this requires that all read identifiers by the
    same RFC: level "2141" by itself reads URNs by RFC 2141, the others by RFC 8141, where for example urn:x:1 is
    invalid, so that its spellings are not merged.

    Args:
        kind (str): "urn", "uri", "iri", "web" (URLs in which all parsers find the same host) or "bytes".
        level (str | None): The last level; None: the default of the kind.
        policy (Policy | str | None): A policy, instead of a level.

    Returns:
        tuple[str, ...]: The names of the levels, and of the fields of the policy that follow them.

    Raises:
        ValueError: If `kind`, `level` or `policy` is unknown.

    >>> rules_of("urn"), rules_of("uri"), rules_of("uri", "rfc2396")
    (('bytes', '2141', '8141'), ('simple', 'case', 'percent', 'path'), ('simple', 'case', 'percent', 'rfc2396'))
    >>> rules_of("uri", policy="tracking")
    ('simple', 'case', 'percent', 'path', 'scheme', 'drop_parameters')
    """
    return tuple(name for name, _ in _rules(kind, _level_of(kind, level, policy)))


def _rules(kind: str, level: Any) -> list[tuple[str, Any]]:
    """Return the names of rules_of(), each with its level or policy."""
    ladder = _LADDERS["uri" if kind in ("iri", "web") else kind]
    if level is None:
        return [("bytes", None)]
    if not isinstance(level, str):
        return level._stages()
    if level in ladder:
        ladder = ladder[: ladder.index(level) + 1]
    else:
        ladder = {"rfc2396": (*ladder[:3], level), "rfc1630": (level,)}[level]
    return [(name, name) for name in ladder]


def _level_of(kind: str, level: str | None, policy: Policy | str | None) -> Any:
    """Return the level; a Policy if one is given."""
    if policy is not None:
        if kind not in ("uri", "iri", "web"):
            raise ValueError(f"policy is only supported with kind='uri', kind='iri' and kind='web', got kind={kind!r}")
        return policy_of(policy, level)
    if kind not in _LEVELS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, _LEVELS))}, got {kind!r}")
    if level is not None and kind == "bytes":
        raise ValueError(f"level is not supported with kind='bytes', got {level!r}")
    _rows_of(kind, level or _LEVELS[kind])
    return level or _LEVELS[kind]


def _rows_of(kind: str, level: Any, errors: str = "keep", last: Any = None) -> RowOperation:
    """Return the operation that normalizes identifiers.

    All levels read identifiers by the RFC of the `last` level. Unless invalid URIs and IRIs are kept, the operation
    also rejects those that do not match the grammar.
    """
    if kind == "urn" and level is not None:
        if level in ("namespace", "functional"):
            import uricodec.urn  # noqa: F401  (it registers the rules of namespaces)
        return NormalizeUrnRows(level, "2141" if (last or level) == "2141" else "8141")
    rows = RowOperation()
    if level is not None:
        rows = NormalizeRows(level) if isinstance(level, str) else operation_of(level)
        if kind == "web":
            return CheckedWebRows(rows)
    return rows if errors == "keep" else checked(rows, production_of(kind, last or level))


def _form_of(kind: str, level: Any, last: Any) -> Callable[[bytes], bytes]:
    """Return a function that normalizes one identifier; it returns an invalid one unchanged."""
    from uricodec import uri, urn

    rfc: Any = "2141" if last == "2141" else "8141"

    policy = None if isinstance(level, str) else level
    uri_level: Any = "path" if policy else level

    def form(text: bytes) -> bytes:
        try:
            if kind == "web":
                uri.agreed_host(text)
            return urn.normalize(text, level, rfc) if kind == "urn" else uri.normalize(text, uri_level, policy=policy)
        except UriError:
            return text

    return bytes if kind == "bytes" else form


def _fingerprint_key(secret: Secret, exact: bool) -> FingerprintKey:
    """Return the key for fingerprints: random with exact=True, where a known key would only allow attacks on speed."""
    if secret is None or exact:
        return FingerprintKey()
    return secret if isinstance(secret, FingerprintKey) else FingerprintKey(secret)


def _check(errors: str, line_terminator: bytes, threads: int | None, max_line: int = MAX_LINE) -> None:
    if threads is not None and threads < 0:
        raise ValueError(f"threads must be at least 0, got {threads}")
    if max_line < 1:
        raise ValueError(f"max_line must be at least 1, got {max_line}")
    LineBatch(RowOperation(), FingerprintKey(b"none"), line_terminator, errors)  # type: ignore[arg-type]


def _check_sets(  # noqa: PLR0913, PLR0917
    seen: Any, update: bool, exclude: Sequence[Path], only_in: Sequence[Path], exact: bool, rules: bool
) -> None:
    """Check options about sets of fingerprints."""
    if update and seen is None:
        raise ValueError("update is only supported with seen")
    if update and exclude:
        raise ValueError("update is not supported with exclude: whether its identifiers belong to the set is not known")
    for name, value in ("seen", seen is not None), ("only_in", bool(only_in)):
        if value and exact:
            raise ValueError(f"{name} is not supported with exact=True: sets have fingerprints")
        if value and rules:
            raise ValueError(f"{name} is not supported with rules=True: a set has one level")


def _check_report(report: str, top: int | None) -> None:
    if report not in ("unique", "counts", "repeated"):
        raise ValueError(f"report must be 'unique', 'counts' or 'repeated', got {report!r}")
    if top is not None and report != "counts":
        raise ValueError(f"top is only supported with report='counts', got report={report!r}")
    if top is not None and top < 1:
        raise ValueError(f"top must be at least 1, got {top}")


def _check_keep(keep: str, by: object) -> None:
    if keep not in ("first", "last", "newest"):
        raise ValueError(f"keep must be 'first', 'last' or 'newest', got {keep!r}")
    if keep == "newest" and by is None:
        raise ValueError("keep='newest' requires by")
    if keep != "newest" and by is not None:
        raise ValueError(f"by is only supported with keep='newest', got keep={keep!r}")


def _records(  # noqa: PLR0913, PLR0917
    field: str | int | None,
    form: str,
    delimiter: bytes | None,
    header: bool,
    line_terminator: bytes,
    by: str | int | None = None,
) -> Records | None:
    if field is not None:
        return Records(field, form, delimiter, header, line_terminator, by)
    if by is not None:
        raise ValueError("by is only supported with field")
    if header or delimiter is not None:
        raise ValueError(f"{'header' if header else 'delimiter'} is only supported with field")
    return None


def _paths(paths: Path | Sequence[Path]) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [os.fsdecode(path) for path in paths]


def _inputs(paths: Path | Sequence[Path | None]) -> list[str]:
    """Return the names of inputs as the command line has them, where "-" means standard input, as [None] does here."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return ["-" if path is None else _file(path) for path in given]


def _output(path: Path | Output | None) -> Output:
    """Return an output: that of the command line, standard output (None), or a file."""
    return path if isinstance(path, Output) else Output(None if path is None else _file(path))


def _file(path: Path) -> str:
    """Return the path of a file for streams, for which "-" alone means standard input or output."""
    name = os.fsdecode(path)
    return os.path.join(os.curdir, name) if name == "-" else name


def error_of(names: LineBatch, lines: memoryview, row: int, found: Any) -> UriError:
    """Return the error for the first invalid line, given the lines, the number of their first row, and the faults."""
    [fault], operation = found.faults, names.operation
    error: UriError = operation.error(
        operation.reason(fault.code), bytes(lines[fault.start : fault.stop]), fault.offset
    )
    error.row = row + fault.line
    return error


_SEEN, _NEW = 1, 2
_ANSWERS = (None, False, True, None)  # indexed by the mark of a row

_IS_NEW = bytes(mark == _NEW for mark in range(256))

_PIECE = 1 << 20  # bytes of a buffer that are processed at once
_ROWS = 1 << 16  # rows that are marked at once


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
        memory: Memory = None,
        spill_dir: Path | None = None,
        exact: bool = False,
        secret: Secret = None,
        errors: DedupErrors = "keep",
        seen: SeenSet | None = None,
    ) -> None:
        level = _level_of(kind, level, policy)
        rows, fingerprint_key = _rows_of(kind, level, errors), _fingerprint_key(secret, exact)
        self._rules, self._saved = Rules.of(kind, level), None
        if seen is not None:
            from uricodec.dedup._seen import SeenSet

            if not isinstance(seen, SeenSet):
                raise TypeError(f"seen must be a SeenSet, got {type(seen).__name__}")
            if exact:
                raise ValueError("seen is not supported with exact=True: sets have fingerprints")
            seen._saved.must_match(self._rules, None if secret is None else fingerprint_key)
            self._saved, fingerprint_key = seen._saved, seen.key
        self._seen, self._key, self._errors = seen, fingerprint_key, errors
        self._columns = ColumnBatch(rows, fingerprint_key, errors, exact)
        self._lines = LineBatch(rows, fingerprint_key, b"\n", errors, exact)
        self._scratch = Scratch(spill_dir)
        self._memory, self._spill_dir, self._exact = memory, spill_dir, exact
        self._partitions = PartitionedTable(parse_memory(memory), exact, False, self._scratch)
        self._cardinality = Cardinality()
        self._found: list[int] = []  # what finish() returns
        self._runs: SortedRuns | None = None  # all identifiers, if save() had to finish
        self._invalid = self._later = 0
        self._done = self._closed = False
        self._raises = errors == "raise"
        self._lock = RLock()
        self._orders: bytes | None = None  # of the rows of a column
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
        return self._invalid + self._columns.invalid

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
            for names in self._batches(column):
                self._cardinality.add(names)
                found.append(names.marks)
        marks = b"".join(found)
        return mask(marks) if _is_arrow(column) else [_ANSWERS[mark] for mark in marks]

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
        found: list[int] = []
        self._finish(lambda names: found.extend(compress(names.row_numbers, names.marks.translate(_IS_NEW))))
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
            blocks, most = self._identifiers()
            with Output(os.path.join(".", os.fsdecode(path))) as output:
                write_set(output, blocks, most, self._rules, self._key, self._scratch)

    def _identifiers(self) -> tuple[Iterable[bytes], int]:
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

    def _to_set(self) -> SeenSet:
        """Return a set of all identifiers so far."""
        from uricodec.dedup._seen import SeenSet

        with self._lock:
            blocks, most = self._identifiers()
            return SeenSet._made(blocks, most, self._rules, self._key)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        memory: Memory = None,
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
        from uricodec.dedup._seen import SeenSet

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
            options = {"memory": self._memory, "spill_dir": self._spill_dir, "errors": self._errors}
            state = self.rows, self.invalid, self._columns.null_seen
            return _restore, (type(self), self._to_set(), options, state)

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _batches(self, column: Any) -> Iterator[Any]:
        """Add rows; yield each batch when its rows are marked."""
        if self._done:
            raise ValueError(f"cannot add to a {'closed' if self._closed else 'finished'} Deduplicator")
        if isinstance(column, (list, tuple)) or _is_arrow(column):
            self._columns.hold(column, self._orders)
            while self._columns.read(self.rows):
                yield self._add(self._columns)
        else:
            for lines in _pieces(column):
                found = self._lines.read(lines, self.rows)
                if found.invalid and self._raises:
                    raise error_of(self._lines, lines, self.rows, found)
                self._invalid += found.invalid
                yield self._add(self._lines)

    def _add(self, names: Any) -> Any:
        if self._saved is not None:
            self._saved.mark(names, True, _SEEN)
        self._partitions.add(names)
        self.rows += len(names)
        return names

    def _finish(self, take: Callable[[Any], None]) -> None:
        count = self.count

        def count_and_take(names: Any) -> None:
            nonlocal count
            count += names.new
            take(names)

        if not self._done:
            self._partitions.finish(count_and_take, None)
        self._later, self._done = count, True
        self._partitions.close()


def _restore(kind: type[Deduplicator], seen: SeenSet, options: dict[str, Any], state: tuple[int, int, bool]) -> Any:
    made = kind._after(seen, **options)
    made.rows, made._invalid, made._columns.null_seen = state
    return made


class _Keeper(Deduplicator):
    """A Deduplicator that keeps other rows than the first ones; nulls are an identifier.

    Args:
        keep (str): "last" or "newest".
        by (Iterable | None): With "newest", the value of each row.
        options (dict): The options of a Deduplicator.
    """

    def __init__(self, keep: str, by: Iterable[Any] | None, **options: Any) -> None:
        super().__init__(**options)
        memory, exact, errors = parse_memory(options["memory"]), options["exact"], options["errors"]
        operation, key = self._lines.operation, _fingerprint_key(options["secret"], exact)
        self._columns = ColumnBatch(operation, key, errors, exact, nulls=True, ordered=by is not None)
        self._partitions = PartitionedTable(memory, exact, True, self._scratch, keep=keep)
        if by is not None:
            self._orders, unordered = orders_of(list(map(_text_of, by)))
            if unordered and 16 * unordered == len(self._orders):
                raise ValueError("no value in by is a number or time")

    def find(self) -> FirstRows:
        """Return the rows that are kept."""
        rows = FirstRows()

        def complete(table: Any) -> None:
            for pairs in table.counts():
                rows.set_pairs(pairs)

        self._partitions.finish(lambda names: None, complete)
        self._partitions.close()
        return rows


def _text_of(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "replace")


def _marks_of(rows: FirstRows, count: int) -> bytes:
    """Return the marks of so many rows."""
    found = []
    for start in range(0, count, _ROWS):
        names = FingerprintBatch(bytes(16 * min(_ROWS, count - start)), first=start)  # only the marks are used
        rows.mark(names)
        found.append(names.marks)
    return b"".join(found)


@returns_selection
def unique(  # noqa: PLR0913
    column: Any,
    kind: IdentifierKind,
    level: UriLevel | UrnLevel | None = None,
    *,
    policy: Policy | PolicyName | None = None,
    keep: DedupKeep = "first",
    by: Iterable[Any] | None = None,
    memory: Memory = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    secret: Secret = None,
    errors: DedupErrors = "keep",
) -> Any:
    """Return one row of each group of equivalent identifiers, in the order of the column.

    All nulls are equivalent.

    Args:
        column (list | tuple | Arrow object | bytes-like): The rows, as in `Deduplicator.add`.
        kind (str): "urn", "uri", "iri", "web", or "bytes" (compared as they are).
        level, policy: As in `Deduplicator`.
        keep (str): Which row of a group is kept: "first", "last", or "newest": the first of those with the greatest
            value of `by`.
        by (Iterable | None): With keep="newest", and a list or an Arrow object, the value of each row: a number, a
            date or time, or its text, see `dedup_files`. A row with None or anything else is older than all others.
        memory, spill_dir, exact, secret, errors: As in `Deduplicator`.

    Returns:
        list | Column | bytes: The rows that are kept: a list for a list, a Column of the same type for an Arrow object,
            lines for lines.

    Raises:
        UriError: If a row is invalid, with errors="raise".
        ValueError: If kind, level, policy or memory size is invalid.
        TypeError: If `column` is of another type.
        BufferError: If the memory of a bytes-like is not contiguous.
        OSError: If a temporary file cannot be read or written.

    >>> unique(["URN:Example:a", "urn:example:a", "urn:example:b", "urn:example:A"], kind="urn")
    ['URN:Example:a', 'urn:example:b', 'urn:example:A']
    >>> unique(b"HTTP://a/\\nhttp://a/\\n", kind="uri")
    b'HTTP://a/\\n'
    >>> unique(["http://a/", "HTTP://a/", "http://a"], kind="uri", keep="newest", by=["2026-01-01", "2026-07-01", None])
    ['HTTP://a/', 'http://a']
    """
    _check_keep(keep, by)
    options: Any = {"policy": policy, "memory": memory, "spill_dir": spill_dir}
    options |= {"exact": exact, "secret": secret, "errors": errors}
    if keep != "first":
        return _unique_by(column, _Keeper(keep, by, kind=kind, level=level, **options))
    with Deduplicator(kind, level, **options) as deduplicator:
        if isinstance(column, (list, tuple)) or _is_arrow(column):
            # a stream can be read only once, and a list can change meanwhile
            column = borrow(column) if _is_arrow(column) else list(column)
            marks = bytearray().join([names.marks for names in deduplicator._batches(column)])
            for row in deduplicator.finish():
                marks[row] = _NEW
            return select(column, bytes(marks))
        found, later = [], 0
        for names in deduplicator._batches(column):
            found.append(_new_lines(names))
            later += names.later
        if later:  # the table was full: these rows come after everything that was written
            rows, number, names = FirstRows(), 0, deduplicator._lines
            deduplicator._finish(rows.set)
            for lines in _pieces(column):
                names.find(lines, number)
                number += len(names)
                rows.mark(names)
                found.append(_new_lines(names))
        return b"".join(found)


def _unique_by(column: Any, keeper: _Keeper) -> Any:
    with keeper:
        if isinstance(column, (list, tuple)) or _is_arrow(column):
            column = borrow(column) if _is_arrow(column) else list(column)
            for _ in keeper._batches(column):
                pass
            return select(column, _marks_of(keeper.find(), keeper.rows))
        if keeper._orders is not None:
            raise TypeError(f"by is only supported with a list or Arrow object, got {type(column).__name__}")
        for _ in keeper._batches(column):
            pass
        found, number, names, rows = [], 0, keeper._lines, keeper.find()
        for lines in _pieces(column):
            names.find(lines, number)
            number += len(names)
            rows.mark(names)
            found.append(_new_lines(names))
        return b"".join(found)


def _new_lines(names: LineBatch) -> bytes:
    """Return the lines that are marked as new."""
    if not names.new:
        return b""
    buffer = new_buffer(names.capacity())
    return bytes(memoryview(buffer)[: names.write(buffer)])


def _is_arrow(column: Any) -> bool:
    return hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__")


def _pieces(column: Any) -> Iterator[memoryview]:
    """Yield the lines of a buffer in pieces."""
    try:
        view = memoryview(column)
    except TypeError:
        raise TypeError(f"expected a list, Arrow object or bytes-like object, got {type(column).__name__}") from None
    if view.format.lstrip("@=<>!") not in ("B", "b", "c"):
        raise TypeError(f"expected a buffer of bytes, got {type(column).__name__} with items of format {view.format!r}")
    if not view.c_contiguous:
        raise BufferError(f"{type(column).__name__}: underlying buffer is not C-contiguous")
    view = view.cast("B")
    start, size = 0, _PIECE
    while start < len(view):
        stop = min(start + size, len(view))
        cut = bytes(view[start:stop]).rfind(b"\n") + 1 if stop < len(view) else stop - start
        if not cut:
            size *= 2
            continue
        yield view[start : start + cut]
        start, size = start + cut, _PIECE


def dedup_files(  # noqa: PLR0913
    inputs: Path | Sequence[Path | None],
    output: Path | None = None,
    *,
    kind: IdentifierKind,
    level: UriLevel | UrnLevel | None = None,
    policy: Policy | PolicyName | None = None,
    field: str | int | None = None,
    format: RecordFormat = "csv",
    delimiter: bytes | None = None,
    header: bool = False,
    report: DedupReport = "unique",
    top: int | None = None,
    keep: DedupKeep = "first",
    by: str | int | None = None,
    groups: Path | None = None,
    exclude: Sequence[Path] = (),
    only_in: Sequence[Path] = (),
    seen: Path | None = None,
    update: bool = False,
    memory: Memory = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    secret: Secret = None,
    errors: DedupErrors = "keep",
    line_terminator: bytes = b"\n",
    threads: int | None = None,
    max_line: int = MAX_LINE,
    rules: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_invalid: Callable[[str, int, int, str, bytes], None] | None = None,
) -> DedupStats:
    """Write the first line with each identifier.

    With `field`, lines are records, and the identifier of a record is its value in this field. Records are written as
    they are. A record whose field is missing or, in JSON, is not one string, or whose quotes or JSON cannot be read, is
    invalid: with errors="keep" it is equivalent to records of the same bytes only. An empty value is an identifier.

    Args:
        inputs (Path | Sequence[Path | None]): The input files, perhaps compressed; None in a list is standard input,
            at most once.
        output (Path | None): The output; None: standard output. A file appears only when it is complete.
        kind (str): "urn", "uri", "iri", "web" (URLs in which all parsers find the same host) or "bytes".
        level (str | None): The level of the normal form; None: "8141" for URNs, "path" for URIs, "iri" for IRIs,
            "scheme" for "web".
        policy (Policy | str | None): A policy instead of a level, with kind="uri", "iri" or "web": see
            `uricodec.uri.Policy`.
        field (str | int | None): The field with the identifiers: its number, from 1, or its name in the header; for
            JSON the name of a member, where "a.b" is the member b of the object a. None: lines are identifiers.
        format (str): The format of the records, with `field`. "csv": RFC 4180; "delimited": lines with a delimiter;
            "jsonl": a JSON object in each line.
        delimiter (bytes | None): The byte between fields; None: b"," in CSV, else b"\\t".
        header (bool): Whether the first record of each file has the names of its fields. It is written once; those of
            all inputs must be equal.
        report (str): "unique": the first line with each identifier. "counts": "COUNT TAB LINE" for each, or the count
            as the first field of each record, which the header calls "count". "repeated": the first line with each
            identifier that occurs more than once.
        top (int | None): With report="counts": only so many identifiers, the most frequent first. Of equally frequent
            ones, the one whose first line comes first. Lines that are too long are not among them. None: all, in the
            order of their first lines.
        keep (str): Which line of an identifier is written, at its own place: "first", "last", or "newest": the first of
            those with the greatest value of the field `by`. Lines of `exclude` are not replaced.
        by (str | int | None): With keep="newest", the field with a number, or a date or time of ISO 8601, which counts
            as the seconds since 1970 in UTC. A record without such a value is older than all others.
        groups (Path | None): A file for a report of the spellings that were merged, and why: a line of JSON for each
            identifier with several spellings in the inputs, see docs/guides/dedup.md.
        exclude (Sequence[Path]): Files with identifiers to exclude.
        only_in (Sequence[Path]): Files with identifiers, perhaps compressed: all others are excluded. They are read
            first, as the inputs are.
        seen (Path | None): A file with a saved set (`SeenSet`) of identifiers to exclude; it is read, but not into
            memory.
        update (bool): Whether to replace `seen` by its union with the identifiers of the inputs, at the end, when the
            output is complete; a file that does not exist is made then.
        memory (int | str | None): The limit for the tables: bytes, "64M", "1G" or "50%"; None: half of the memory.
        spill_dir (Path | None): The folder for temporary files; None: the system's default.
        exact (bool): Whether to compare normal forms, not only fingerprints.
        secret (FingerprintKey | str | bytes | None): The key of fingerprints; None: random, or that of `seen`.
        errors (str): How an invalid line is handled. "keep": its bytes are its identifier; "drop": it is omitted;
            "raise": an error is raised. What is invalid is said at `Deduplicator`.
        line_terminator (bytes): The control character that ends a line.
        threads (int | None): The number of threads, at most 64 or the number of cores; None: automatic.
        max_line (int): The limit for the bytes of a line, without its terminator: each thread has a buffer for one such
            line. A longer line is invalid (code "too-long"); with errors="keep" it is copied, and differs from all
            others.
        rules (bool): Whether to count which level merged the lines, for DedupStats.merged; one more pass for each
            level.
        on_progress (Callable[[Progress], None] | None): Called from time to time with the progress.
        on_invalid (Callable | None): Called for each invalid line of the inputs, in order, with input, line number
            (from 1), offset of the error in the line (bytes, from 0), code, line. With several threads, it is called in
            any of them.

    Returns:
        DedupStats: The figures of the run.

    Raises:
        UriError: If a line is invalid, with errors="raise". The message begins with
            ``FILE:LINE:COLUMN (byte N):``.
        ValueError: If kind, level or another option is invalid, a header lacks a field, or no record has a value in it.
        SetError: If `seen` is not a saved set, is damaged, or has another kind, level, policy or secret.
        OSError: If a file fails, or an input changes while it is read; with filename and strerror.
        BrokenPipeError: If the reader of the output has closed it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
    ...     with open(source, "w") as file:
    ...         _ = file.write("urn:isbn:1\\nURN:ISBN:1\\nurn:isbn:2\\nurn:isbn:1\\n")
    ...     done = dedup_files(source, target, kind="urn", rules=True)
    ...     with open(target) as file:
    ...         print(file.read(), end="")
    urn:isbn:1
    urn:isbn:2
    >>> done.rows, done.unique, done.merged
    (4, 2, {'bytes': 1, '2141': 1, '8141': 0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = os.path.join(folder, "in.csv"), os.path.join(folder, "out.csv")
    ...     with open(source, "w") as file:
    ...         _ = file.write("id,url\\n1,http://a/\\n2,HTTP://a\\n3,http://b/\\n")
    ...     done = dedup_files(source, target, kind="uri", level="scheme", field="url", header=True)
    ...     with open(target) as file:
    ...         print(file.read(), end="")
    id,url
    1,http://a/
    3,http://b/
    """
    level = _level_of(kind, level, policy)
    _check_report(report, top)
    _check_keep(keep, by)
    _check(errors, line_terminator, threads, max_line)
    _check_sets(seen, update, exclude, only_in, exact, rules)
    size, given = parse_memory(memory), None if secret is None else _fingerprint_key(secret, False)
    records = _records(field, format, delimiter, header, line_terminator, by)
    statistics = DedupStats()
    names = None if seen is None else os.fsdecode(seen)

    def make(at: Any = level, ordered: bool = False) -> LineBatch:
        return LineBatch(_rows_of(kind, at, errors, level), known.key, line_terminator, errors, exact, ordered)

    def corpus_of(inputs: list[str], others: list[str], sets: Any, tell: Any = None) -> Corpus:
        return Corpus(
            inputs, others, line_terminator, threads, scratch, on_progress, errors, max_line, tell, records, sets
        )

    shows = isinstance(output, CountsOutput)  # it is that of the command line
    target: Any = _output(output)
    report_to = nullcontext() if groups is None else _output(groups)
    with (
        known_set(names, update, Rules.of(kind, level), given, exact, size) as known,  # replaced after all others
        Scratch(spill_dir) as scratch,  # entered before the outputs: it checks that the folder is writable
        target as file,
        report_to as group_file,
        ExitStack() as stack,
    ):
        sets = list(known.sets)
        if only_in:
            with corpus_of(_inputs(only_in), [], ()) as corpus:
                only = set_of(corpus, make, Rules.of(kind, level), known.key, size, scratch)
                sets.append((stack.enter_context(only), False))
        size -= sum(saved.held for saved, _ in sets)
        corpus = stack.enter_context(corpus_of(_inputs(inputs), _inputs(exclude), sets, on_invalid))
        file.end = line_terminator[0]
        found = None
        counts = report != "unique" or keep != "first"
        partitions = PartitionedTable(size, exact, counts, scratch, runs=known.runs, keep=keep)
        make_kept = partial(make, ordered=True) if keep == "newest" else make
        if not counts:
            statistics.written = write_unique(corpus, make, partitions, scratch, file, rules or groups is not None)
            statistics.unique = statistics.written
        elif top is not None:
            statistics.unique, found = find_top(corpus, make_kept, partitions, scratch, top, size)
        else:
            statistics.unique, statistics.written = write_kept(
                corpus, make_kept, partitions, scratch, file, report, size
            )
        statistics.unordered, statistics.unclosed = corpus.unordered, records is not None and records.unclosed
        statistics.invalid, statistics.rows = corpus.invalid, corpus.lines - corpus.mine
        valid = statistics.rows - (statistics.invalid if errors == "drop" else 0)
        statistics.duplicates = valid - statistics.unique
        if found is not None:
            statistics.written = (
                file.show(found, valid, statistics.unique) if shows else write_top(found, records, file)
            )
        steps = _rules(kind, level)
        if rules:
            _count_merged(statistics, valid, steps, corpus, make, scratch, size, exact)
        if group_file is not None:
            _write_groups(group_file, kind, steps, corpus, make, scratch, size, exact, given)
        _update(known, corpus.ticker, scratch)
        statistics.spilled = scratch.spilled
    return statistics


def _update(known: Known, ticker: Ticker, scratch: Scratch) -> None:
    """Write the saved set that is to be updated, if there is one."""
    if known.runs is not None:
        ticker.begin("update")
        ticker.add(0)
        known.write(scratch)


def _count_merged(  # noqa: PLR0913, PLR0917
    statistics: DedupStats,
    valid: int,
    steps: list[tuple[str, Any]],
    corpus: Any,
    make: Callable[[Any], Any],
    scratch: Scratch,
    memory: int,
    exact: bool,
) -> None:
    """Count which step merged how many of the `valid` rows, in one more pass for each step but the last one."""
    finer = 0
    for name, at in steps:
        before = statistics.duplicates
        if name != steps[-1][0]:
            partitions = PartitionedTable(memory, exact, False, scratch)
            before = valid - count_unique(corpus, partial(make, at), partitions, scratch)
        statistics.merged[name], finer = before - finer, before


def _write_groups(  # noqa: PLR0913, PLR0917
    output: Output,
    kind: str,
    steps: list[tuple[str, Any]],
    corpus: Any,
    make: Callable[[Any], Any],
    scratch: Scratch,
    memory: int,
    exact: bool,
    key: FingerprintKey | None,
) -> None:
    from uricodec.dedup._groups import Groups

    level = steps[-1][1]
    forms = [(name, _form_of(kind, at, level)) for name, at in steps]
    Groups(corpus, lambda names: make(level if names else None), forms, scratch, memory, exact, key).write(output)


def _find_kept(  # noqa: PLR0913, PLR0917
    dataset: Any,
    make: Callable[[], ColumnBatch],
    partitions: PartitionedTable,
    scratch: Scratch,
    report: str,
    top: int | None,
    memory: int,
) -> tuple[FirstRows, Any, int]:
    """Return which rows are written, their counts if these are written, and the number of different identifiers."""
    rows = FirstRows(scratch.mapping(max(8, (dataset.lines + 63) // 64 * 8)))
    if report == "unique":
        rows, unique = find_rows(dataset, make, partitions, None, rows)
        return rows, None, unique
    if top is not None:
        unique, found = select_top(dataset, make, partitions, scratch, top, memory, rows)
        return found.rows, found.counts, unique
    rows, unique, counts = find_counted(dataset, make, partitions, scratch, memory, rows)
    if report == "counts":
        return rows, counts, unique
    rows.remove_rare(counts, 2)
    rows.seal()
    return rows, None, unique


def unique_dataset(  # noqa: PLR0913
    paths: Path | Sequence[Path],
    column: str,
    output: Path,
    *,
    kind: IdentifierKind,
    level: UriLevel | UrnLevel | None = None,
    policy: Policy | PolicyName | None = None,
    report: DedupReport = "unique",
    top: int | None = None,
    keep: DedupKeep = "first",
    by: str | None = None,
    groups: Path | None = None,
    exclude: Path | Sequence[Path] = (),
    only_in: Path | Sequence[Path] = (),
    seen: Path | None = None,
    update: bool = False,
    memory: Memory = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    secret: Secret = None,
    errors: DedupErrors = "keep",
    threads: int | None = None,
    rules: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> DedupStats:
    """Write a copy of Parquet files with only one row of each identifier in a column. This requires pyarrow.

    Each file of the input has one in the output, perhaps without rows, with the same relative path, schema, metadata,
    compression and order of rows. Memory is bounded, whatever the size of the files: `memory`, and about 400 MB for
    each thread.

    Args:
        paths (Path | Sequence[Path]): Files, and folders, which stand for all files in them and their subfolders,
            sorted by name, except for names that begin with "." or "_". A file is read once, even if named twice.
        column (str): The name of a column of text or bytes, not within another column. All nulls count as the same.
        output (Path): The folder to write, which does not exist or is empty. It appears only when it is complete.
            Paths of files in it are relative to the innermost folder that contains all `paths` and is not a partition
            (NAME=VALUE).
        kind (str): "urn", "uri", "iri", "web" (URLs in which all parsers find the same host) or "bytes".
        level, policy: As in `dedup_files`.
        report (str): "unique": a row of each identifier. "counts": the same, with a first column "count", the number of
            rows with this identifier. "repeated": a row of each identifier that occurs more than once.
        top (int | None): With report="counts": only the rows of so many identifiers, the most frequent ones, in their
            files. Of equally frequent ones, those whose rows come first. None: all.
        keep (str): Which row of an identifier is written, at its own place: "first", "last", or "newest": the first of
            those with the greatest value in the column `by`. Rows of `exclude` are not replaced.
        by (str | None): With keep="newest", a column of numbers, times or text, see `dedup_files`. A row without a
            readable value is older than all others.
        groups (Path | None): A file for a report of the spellings that were merged, as in `dedup_files`, with "file"
            and "row" (from 0, in the file) in place of "line".
        exclude (Path | Sequence[Path]): Parquet files and folders with identifiers to exclude, in the same column.
        only_in (Path | Sequence[Path]): Parquet files and folders with identifiers, in the same column: all others are
            excluded.
        seen (Path | None), update (bool): As in `dedup_files`. Null is an identifier of a set like others.
        memory, spill_dir, exact, secret: As in `dedup_files`.
        errors (str): How an invalid row is handled. "keep": its bytes are its identifier; "drop": it is omitted;
            "raise": an error is raised. What is invalid is said at `Deduplicator`.
        threads (int | None): The number of threads, at most 64 or the number of cores; None: automatic.
        rules (bool): Whether to count which level merged the rows, as in `dedup_files`.
        on_progress (Callable[[Progress], None] | None): Called from time to time with the progress.

    Returns:
        DedupStats: The figures of the run. All nulls count as one identifier.

    Raises:
        UriError: If a row is invalid, with errors="raise". The message begins with ``FILE: row N:``,
            with N from 0.
        SetError: As in `dedup_files`.
        ValueError: If kind, level or another option is invalid, `output` is not empty, or inside one of `paths`, or no
            row has a readable value in `by`.
        ModuleNotFoundError: If pyarrow is not installed.
        OSError: If a file fails, changes while it is read, is not a Parquet file, lacks a column, or has a column
            "count" with report="counts"; with filename and strerror.

    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.makedirs(f"{folder}/crawl/date=2026-01-01")
    ...     table = pa.table({"id": [1, 2, 3], "url": ["http://a/b", "HTTP://a/./b", "http://a/c"]})
    ...     pq.write_table(table, f"{folder}/crawl/date=2026-01-01/0.parquet")
    ...     done = unique_dataset(f"{folder}/crawl", "url", f"{folder}/unique", kind="uri")
    ...     print(done.rows, done.unique, pq.read_table(f"{folder}/unique").to_pydict()["id"])
    ...     done = unique_dataset(f"{folder}/crawl", "url", f"{folder}/newest", kind="uri", keep="newest", by="id")
    ...     print(done.rows, done.unique, pq.read_table(f"{folder}/newest").to_pydict()["id"])
    3 2 [1, 3]
    3 2 [2, 3]
    """
    level = _level_of(kind, level, policy)
    _check_report(report, top)
    _check_keep(keep, by)
    _check(errors, b"\n", threads)
    _check_sets(seen, update, _paths(exclude), _paths(only_in), exact, rules)
    size, given = parse_memory(memory), None if secret is None else _fingerprint_key(secret, False)
    need("arrow", "pyarrow.parquet")
    from uricodec._io.folders import OutputFolder
    from uricodec.dedup import _dataset, _dataset_output

    def make(at: Any = level, ordered: bool = False) -> ColumnBatch:
        return ColumnBatch(_rows_of(kind, at, errors, level), known.key, errors, exact, nulls=True, ordered=ordered)

    def files_of(folders: list[str], by: str | None = None) -> list[Any]:
        return [_dataset.DatasetFile(*file, column, names, by) for file in _dataset.find_files(folders)]

    inputs, target, statistics = _paths(paths), os.fsdecode(output), DedupStats()
    _dataset.check_output(target, inputs)
    report_to = nullcontext() if groups is None else _output(groups)
    set_path = None if seen is None else os.fsdecode(seen)
    with (
        known_set(set_path, update, Rules.of(kind, level), given, exact, size) as known,  # replaced after all others
        Scratch(spill_dir) as scratch,
        ExitStack() as stack,
    ):
        names = make()
        files = files_of(inputs, by)
        excluded, wanted = (files_of(_paths(each)) if each else [] for each in (exclude, only_in))
        if report == "counts":
            _dataset_output.check_counted(files)
        folder, group_file = stack.enter_context(OutputFolder(target)), stack.enter_context(report_to)
        sets = list(known.sets)
        if wanted:
            others = _dataset.Dataset(wanted, [], threads, on_progress)
            only = set_of(others, make, Rules.of(kind, level), known.key, size, scratch)
            sets.append((stack.enter_context(only), False))
        size -= sum(saved.held for saved, _ in sets)
        dataset = _dataset.Dataset(files, excluded, threads, on_progress, sets)
        counts = report != "unique" or keep != "first"
        partitions = PartitionedTable(size, exact, counts, scratch, runs=known.runs, keep=keep)
        make_kept = partial(make, ordered=True) if keep == "newest" else make
        rows, counted, statistics.unique = _find_kept(dataset, make_kept, partitions, scratch, report, top, size)
        partitions.close()
        _dataset_output.DatasetOutput(dataset, rows, counted, folder).write()
        statistics.written = rows.count - rows.rank(dataset.mine)
        statistics.rows, statistics.invalid = dataset.lines - dataset.mine, dataset.invalid
        statistics.unordered = dataset.unordered
        valid = statistics.rows - (statistics.invalid if errors == "drop" else 0)
        statistics.duplicates = valid - statistics.unique
        steps = _rules(kind, level)
        if rules:
            _count_merged(statistics, valid, steps, dataset, make, scratch, size, exact)
        if group_file is not None:
            _write_groups(group_file, kind, steps, dataset, make, scratch, size, exact, given)
        _update(known, dataset.ticker, scratch)
        statistics.spilled = scratch.spilled
    return statistics


def estimate_files(  # noqa: PLR0913
    inputs: Path | Sequence[Path | None],
    *,
    kind: IdentifierKind,
    level: UriLevel | UrnLevel | None = None,
    policy: Policy | PolicyName | None = None,
    field: str | int | None = None,
    format: RecordFormat = "csv",
    delimiter: bytes | None = None,
    header: bool = False,
    secret: Secret = None,
    errors: DedupErrors = "keep",
    line_terminator: bytes = b"\n",
    threads: int | None = None,
    max_line: int = MAX_LINE,
    on_progress: Callable[[Progress], None] | None = None,
) -> int:
    """Return about how many different identifiers there are (HyperLogLog), in one pass and constant memory.

    Args:
        inputs, kind, level, policy, field, format, delimiter, header: See `dedup_files`.
        secret, errors, line_terminator, threads, max_line, on_progress: See `dedup_files`.

    Returns:
        int: The number, with a standard error of 0.8 %.

    Raises:
        UriError, ValueError, OSError: See `dedup_files`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "in"), "w") as file:
    ...         _ = file.write("urn:isbn:1\\nURN:ISBN:1\\nurn:isbn:2\\n")
    ...     estimate_files(os.path.join(folder, "in"), kind="urn")
    2
    """
    level = _level_of(kind, level, policy)
    _check(errors, line_terminator, threads, max_line)
    fingerprint_key, found = _fingerprint_key(secret, False), Cardinality()
    records = _records(field, format, delimiter, header, line_terminator)
    with Corpus(
        _inputs(inputs), [], line_terminator, threads, None, on_progress, errors, max_line, records=records
    ) as corpus:
        corpus.first_reading(
            lambda: LineBatch(_rows_of(kind, level, errors), fingerprint_key, line_terminator, errors, False),
            False,
            lambda names, _: found.add(names),
        )
    return found.estimate() + corpus.long
