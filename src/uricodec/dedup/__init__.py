"""Deduplication: of names that are spelled differently and are the same, the first one, in memory that is given.

    from uricodec import dedup

What is the same is a matter of `kind` and `level`, as for `uricodec.urn.normalize` and `uricodec.uri.normalize`. The
first spelling of a name stands for it, and the order stays. See docs/dedup.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import compress
from threading import RLock
from typing import TYPE_CHECKING, Any, Union

from uricodec._base._fingerprint import FingerprintKey
from uricodec._io import streams
from uricodec._rows._operation import RowOperation
from uricodec._rows.overloads import returns_selection
from uricodec._rows.reports import text_of
from uricodec.dedup._cardinality import Cardinality
from uricodec.dedup._corpus import Corpus, Progress, count_unique, write_counted, write_unique
from uricodec.dedup._first_rows import FirstRows
from uricodec.dedup._identifiers import ColumnNames, LineNames, borrow, mask, select
from uricodec.dedup._sift import Scratch, Sieve, parse_memory
from uricodec.errors import UriError
from uricodec.uri._rows import NormalizeRows
from uricodec.urn._rows import NormalizeUrnRows

if TYPE_CHECKING:
    from uricodec.bulk import fingerprint
    from uricodec.typing import DedupErrors, DedupReport, IdentifierKind, UriLevel, UrnLevel

__all__ = [
    "DedupStats",
    "Deduplicator",
    "FingerprintKey",
    "Progress",
    "dedup_files",
    "estimate_files",
    "fingerprint",
    "rules_of",
    "unique",
]


def __getattr__(name: str) -> Any:
    if name == "fingerprint":  # imported when it is first used: the command line starts without it
        from uricodec.bulk import fingerprint

        return fingerprint
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


Key = Union[FingerprintKey, str, bytes, None]  # noqa: UP007
Path = Union[str, "os.PathLike[str]"]
Memory = Union[int, str, None]  # noqa: UP007

# The ladders of levels: each merges what those before merge, and more, of names that it can read.
_LADDERS = {
    "bytes": ("bytes",),
    "urn": ("bytes", "2141", "8141", "namespace", "functional"),
    "uri": ("simple", "case", "percent", "path", "scheme", "iri"),
}
_LEVELS = {"bytes": None, "urn": "8141", "uri": "path", "iri": "iri"}


class DedupStats:
    """What came of dedup_files().

    Attributes:
        rows (int): The lines of the inputs, those of `against` not among them.
        unique (int): How many names they have that `against` has not.
        duplicates (int): How many lines have a name that came before, or that `against` has.
        invalid (int): How many were refused; with errors="drop" they are neither unique nor duplicates.
        written (int): How many lines were written.
        spilled (int): Octets that went to temporary files because they had no room in memory.
        merged (dict[str, int]): With rules=True: by what (see `rules_of`) how many lines became duplicates.

    >>> DedupStats().as_dict()
    {'rows': 0, 'unique': 0, 'duplicates': 0, 'invalid': 0, 'written': 0, 'spilled': 0, 'merged': {}}
    """

    def __init__(self) -> None:
        self.rows = self.unique = self.duplicates = self.invalid = self.written = self.spilled = 0
        self.merged: dict[str, int] = {}

    def as_dict(self) -> dict[str, Any]:
        """All of them, for JSON."""
        return dict(self.__dict__)

    def __repr__(self) -> str:
        return f"DedupStats({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def rules_of(kind: IdentifierKind = "urn", level: UriLevel | UrnLevel | None = None) -> tuple[str, ...]:
    """The levels up to one, the finest first. If all read names as the last one does, each merges what the one before
    it merges, and more. By itself, "2141" reads URNs by RFC 2141; all others read them by RFC 8141, to which a URN such
    as urn:x:1 is none, so that they tell its spellings apart.

    Args:
        kind (str): "urn", "uri", "iri" or "bytes".
        level (str | None): The last of them; None: what is taken for the kind.

    Returns:
        tuple[str, ...]: Names of levels.

    Raises:
        ValueError: There is no such kind or level.

    >>> rules_of("urn"), rules_of("uri"), rules_of("uri", "rfc2396")
    (('bytes', '2141', '8141'), ('simple', 'case', 'percent', 'path'), ('simple', 'case', 'percent', 'rfc2396'))
    """
    level = _level_of(kind, level)
    ladder = _LADDERS["uri" if kind == "iri" else kind]
    if level is None:
        return ladder
    if level in ladder:
        return ladder[: ladder.index(level) + 1]
    return {"rfc2396": (*ladder[:3], level), "rfc1630": (level,)}[level]


def _level_of(kind: str, level: str | None) -> Any:
    if kind not in _LEVELS:
        raise ValueError(f"no kind {kind!r}; there are: {', '.join(_LEVELS)}")
    if level is not None and kind == "bytes":
        raise ValueError("octets have no levels")
    _rows_of(kind, level or _LEVELS[kind])
    return level or _LEVELS[kind]


def _rows_of(kind: str, level: str | None, last: str | None = None) -> RowOperation:
    """What brings names into normal form. A level on the way to the last one reads as that one does."""
    if kind == "bytes" or level is None:
        return RowOperation()
    if kind != "urn":
        return NormalizeRows(level)
    if level in ("namespace", "functional"):
        import uricodec.urn  # noqa: F401  (it brings the rules of namespaces to the core)
    return NormalizeUrnRows(level, "2141" if (last or level) == "2141" else "8141")


def _form_of(kind: str, level: Any, last: str | None) -> Callable[[bytes], bytes]:
    """What brings a name into normal form; if it is none, that is itself."""
    from uricodec import uri, urn

    spec: Any = "2141" if last == "2141" else "8141"

    def form(text: bytes) -> bytes:
        try:
            return urn.normalize(text, level, spec) if kind == "urn" else uri.normalize(text, level)
        except UriError:
            return text

    return bytes if kind == "bytes" else form


def _key_of(key: Key, exact: bool) -> FingerprintKey:
    """With exact=True, a key that may be known would only make it slow."""
    if key is None or exact:
        return FingerprintKey()
    return key if isinstance(key, FingerprintKey) else FingerprintKey(key)


def _check(errors: str, end: bytes, jobs: int | None, max_line: int = streams.MAX_LINE) -> None:
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if max_line < 1:
        raise ValueError(f"max_line must be at least 1, got {max_line}")
    LineNames(RowOperation(), FingerprintKey(b"none"), end, errors)  # type: ignore[arg-type]


def _paths(paths: Path | Sequence[Path]) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [os.fspath(path) for path in paths]


_NEW = 2
_ANSWERS = (None, False, True, None)  # to the marks of rows

_IS_NEW = bytes(mark == _NEW for mark in range(256))

_PIECE = 1 << 20  # octets of a buffer that are worked on at once


class Deduplicator:
    """Says of rows, as they come, whether they are the first ones of their names.

    When the memory is full, the names that it has are still known; whether others are new is found out by finish().
    Threads may share one: they wait for each other, and a call of add() has rows that follow each other.

    Args:
        kind (str): "urn", "uri", "iri" or "bytes".
        level (str | None): Of the normal form; None: "8141" for URNs, "path" for URIs, "iri" for IRIs.
        memory (int | str | None): Bounds the table: octets, "64M", "1G" or "50%"; None: half of what there is.
        spill_dir (str | PathLike | None): Where temporary files go; None: the system's place for them.
        exact (bool): Compare normal forms, not only their fingerprints. A given key is not used then.
        key (FingerprintKey | str | bytes | None): The key of fingerprints; None: a random one.
        errors (str): What becomes of a row that is no such name. "keep": it stands for itself; "drop": it is never the
            first; "raise": an error, and nobody knows which rows of that call have been added.

    Attributes:
        rows (int): How many rows were added.
        invalid (int): How many of them were refused.

    Raises:
        ValueError: There is no such kind, level, policy or amount of memory.
        OSError: Nothing can be written where temporary files go.

    >>> with Deduplicator("urn") as names:
    ...     print(names.add(["urn:isbn:0451450523", "URN:ISBN:0451450523", None, "urn:isbn:1", None]))
    ...     print(names.add(b"urn:isbn:1\\nurn:isbn:2\\n"), names.finish(), names.count, names.rows)
    [True, False, True, True, False]
    [False, True] [] 3 7
    """

    def __init__(  # noqa: PLR0913
        self,
        kind: IdentifierKind = "urn",
        level: UriLevel | UrnLevel | None = None,
        *,
        memory: Memory = None,
        spill_dir: Path | None = None,
        exact: bool = False,
        key: Key = None,
        errors: DedupErrors = "keep",
    ) -> None:
        level = _level_of(kind, level)
        rows, secret = _rows_of(kind, level), _key_of(key, exact)
        self._columns = ColumnNames(rows, secret, errors, exact)
        self._lines = LineNames(rows, secret, b"\n", errors, exact)
        self._scratch = Scratch(spill_dir)
        self._sieve = Sieve(parse_memory(memory), exact, False, self._scratch)
        self._cardinality = Cardinality()
        self._invalid = self._later = 0
        self._done = self._closed = False
        self._raises = errors == "raise"
        self._lock = RLock()
        self.rows: int = 0

    def __enter__(self) -> Deduplicator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back the memory, and what is on the disk. Nothing can be added then."""
        with self._lock:
            self._later, self._done, self._closed = self.count, True, True
            self._sieve.close()
            self._scratch.close()

    @property
    def invalid(self) -> int:
        return self._invalid + self._columns.invalid

    @property
    def count(self) -> int:
        """How many names are known. That is all there are, unless the memory was full and finish() was not called yet.

        Nulls are no names.
        """
        return self._later if self._done else self._sieve.table.count

    @property
    def estimate(self) -> int:
        """About how many names there are, with a standard error of 0.8 %; also if the memory is full."""
        return self._cardinality.estimate()

    def add(self, column: Any) -> Any:
        """Say of more rows whether each is the first one of its name.

        Args:
            column (list | tuple | Arrow object | bytes-like): str, bytes-like or None; text or octets of any layout; or
                lines, ended by "\\n" each. All nulls are the same.

        Returns:
            list[bool | None] | Column: True or False for each row; None (null): the memory was full. A Column of bool
                for an Arrow object.

        Raises:
            UriError: A row is refused, with errors="raise".
            ValueError: finish() or close() was called before.
            TypeError: The column is of another type.
            BufferError: The memory of a bytes-like is not contiguous.
            OSError: A temporary file fails.
        """
        found = []
        with self._lock:
            for names in self._batches(column):
                self._cardinality.add(names)
                found.append(names.marks)
        marks = b"".join(found)
        return mask(marks) if _is_arrow(column) else [_ANSWERS[mark] for mark in marks]

    def finish(self) -> list[int]:
        """Find out about the rows of which add() could not tell. Nothing can be added then.

        Returns:
            list[int]: The numbers of those that are the first ones of their names, ascending. Rows are numbered from 0
                in the order in which they were added.

        Raises:
            OSError: A temporary file fails.
        """
        found: list[int] = []

        def take(names: Any) -> None:
            found.extend(compress(names.row_numbers, names.marks.translate(_IS_NEW)))

        with self._lock:
            self._finish(take)
        return sorted(found)

    def _batches(self, column: Any) -> Iterator[Any]:
        """Add rows; yields each batch when its rows are marked."""
        if self._done:
            raise ValueError(f"{'close' if self._closed else 'finish'}() was called: nothing can be added")
        if isinstance(column, (list, tuple)) or _is_arrow(column):
            self._columns.hold(column)
            while self._columns.read(self.rows):
                yield self._add(self._columns)
        else:
            for lines in _pieces(column):
                found = self._lines.read(lines, self.rows)
                if found.invalid and self._raises:
                    [fault], operation = found.faults, self._lines.operation
                    reason = f"row {self.rows + fault.line}: {operation.reason(fault.code)}"
                    raise operation.error(reason, text_of(bytes(lines), 0, len(lines), fault, b"\n"), fault.offset)
                self._invalid += found.invalid
                yield self._add(self._lines)

    def _add(self, names: Any) -> Any:
        self._sieve.add(names)
        self.rows += len(names)
        return names

    def _finish(self, take: Callable[[Any], None]) -> None:
        count = self.count

        def count_and_take(names: Any) -> None:
            nonlocal count
            count += names.new
            take(names)

        if not self._done:
            self._sieve.finish(count_and_take, None)
        self._later, self._done = count, True
        self._sieve.close()


@returns_selection
def unique(  # noqa: PLR0913
    column: Any,
    kind: IdentifierKind,
    level: UriLevel | UrnLevel | None = None,
    *,
    memory: Memory = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    key: Key = None,
    errors: DedupErrors = "keep",
) -> Any:
    """Return the first row of each group of equivalent identifiers, in the order of the column.

    All nulls are equivalent: the first one is kept.

    Args:
        column (list | tuple | Arrow object | bytes-like): The rows, as in `Deduplicator.add`.
        kind (str): "urn", "uri", "iri", or "bytes" (compared as they are).
        level, memory, spill_dir, exact, key, errors: As in `Deduplicator`.

    Returns:
        list | Column | bytes: These rows: a list for a list, a Column of the same type for an Arrow object, lines for
            lines.

    Raises:
        UriError: If a row is invalid, with errors="raise".
        ValueError: If the kind, level, policy or memory size is unknown.
        TypeError: If the column has another type.
        BufferError: If the memory of a bytes-like object is not contiguous.
        OSError: If a temporary file fails.

    >>> unique(["URN:Example:a", "urn:example:a", "urn:example:b", "urn:example:A"], kind="urn")
    ['URN:Example:a', 'urn:example:b', 'urn:example:A']
    >>> unique(b"HTTP://a/\\nhttp://a/\\n", kind="uri")
    b'HTTP://a/\\n'
    """
    with Deduplicator(
        kind, level, memory=memory, spill_dir=spill_dir, exact=exact, key=key, errors=errors
    ) as deduplicator:
        if isinstance(column, (list, tuple)) or _is_arrow(column):
            # A stream can be read once, and a list can change meanwhile.
            column = borrow(column) if _is_arrow(column) else list(column)
            marks = bytearray().join([names.marks for names in deduplicator._batches(column)])
            for row in deduplicator.finish():
                marks[row] = _NEW
            return select(column, bytes(marks))
        found, later = [], 0
        for names in deduplicator._batches(column):
            found.append(_new_lines(names))
            later += names.later
        if later:  # the table is full: what is new among these comes after all that was written
            rows, number, names = FirstRows(), 0, deduplicator._lines
            deduplicator._finish(rows.set)
            for lines in _pieces(column):
                names.find(lines, number)
                number += len(names)
                rows.mark(names)
                found.append(_new_lines(names))
        return b"".join(found)


def _new_lines(names: LineNames) -> bytes:
    """The lines that are marked as new."""
    if not names.new:
        return b""
    room = bytearray(names.room())
    return bytes(memoryview(room)[: names.write(room)])


def _is_arrow(column: Any) -> bool:
    return hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__")


def _pieces(column: Any) -> Iterator[memoryview]:
    """Lines of a buffer, some at a time."""
    try:
        view = memoryview(column)
    except TypeError:
        raise TypeError(f"{type(column).__name__} is no list, Arrow object or bytes-like") from None
    if view.format.lstrip("@=<>!") not in ("B", "b", "c"):
        raise TypeError(f"{type(column).__name__} of items of format {view.format!r}, which are no octets")
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
    inputs: Path | Sequence[Path],
    output: Path | None = None,
    *,
    kind: IdentifierKind = "urn",
    level: UriLevel | UrnLevel | None = None,
    report: DedupReport = "unique",
    groups: Path | None = None,
    against: Sequence[Path] = (),
    memory: Memory = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    key: Key = None,
    errors: DedupErrors = "keep",
    end: bytes = b"\n",
    jobs: int | None = None,
    max_line: int = streams.MAX_LINE,
    rules: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_invalid: Callable[[str, int, int, str, bytes], None] | None = None,
) -> DedupStats:
    """Write the first line of each name.

    Args:
        inputs (Path | Sequence[Path]): Files, compressed or not; "-" is standard input (once).
        output (Path | None): Where to; None or "-": standard output. A file is there only when it is complete.
        kind (str): "urn", "uri", "iri" or "bytes".
        level (str | None): Of the normal form; None: "8141" for URNs, "path" for URIs, "iri" for IRIs.
        report (str): "unique": the first line of each name. "counts": "COUNT TAB LINE". "repeated": the first line of
            each name that came more than once.
        groups (Path | None): A file for the report which spellings merged, and why: a line of JSON for each name with
            several spellings in the inputs, see docs/dedup.md.
        against (Sequence[Path]): Files whose names are not written.
        memory (int | str | None): Bounds the tables: octets, "64M", "1G" or "50%"; None: half of what there is.
        spill_dir (Path | None): Where temporary files go; None: the system's place for them.
        exact (bool): Compare normal forms, not only their fingerprints.
        key (FingerprintKey | str | bytes | None): The key of fingerprints; None: a random one.
        errors (str): What becomes of a line that is no such name. "keep": it stands for its own octets; "drop": it is
            left out; "raise": an error.
        end (bytes): What ends a line, a control character.
        jobs (int | None): How many threads work, at most 64 or as many as there are cores; None: as many as are worth
            it.
        max_line (int): How many bytes a line may have, its terminator not counted: buffers hold one such line for each
            thread. A longer line is rejected with the code "too-long"; with errors="keep" it is copied as it is, and
            never the same as another one.
        rules (bool): Find out what merged the lines, for DedupStats.merged; one more pass for each rule.
        on_progress (Callable[[Progress], None] | None): Is told now and then.
        on_invalid (Callable | None): Is told of each line of the inputs that is no such name: input, number of the line
            (from 1), where in it the fault is (in octets, from 0), code, line. That is in order, and in any thread if
            there are several.

    Returns:
        DedupStats: How many there were.

    Raises:
        UriError: A line is refused, with errors="raise": the message says where, as "FILE:LINE:COLUMN (octet N): ...".
        ValueError: There is no such kind, level or option.
        streams.FileError: A file fails (an OSError with filename and strerror); an input changed while it was read.
        BrokenPipeError: Nobody reads the output any more.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
    ...     with open(source, "w") as file:
    ...         _ = file.write("urn:isbn:1\\nURN:ISBN:1\\nurn:isbn:2\\nurn:isbn:1\\n")
    ...     done = dedup_files(source, target, rules=True)
    ...     with open(target) as file:
    ...         print(file.read(), end="")
    urn:isbn:1
    urn:isbn:2
    >>> done.rows, done.unique, done.merged
    (4, 2, {'bytes': 1, '2141': 1, '8141': 0})
    """
    level = _level_of(kind, level)
    if report not in ("unique", "counts", "repeated"):
        raise ValueError(f"no report {report!r}; there are: unique, counts, repeated")
    _check(errors, end, jobs, max_line)
    size, secret = parse_memory(memory), _key_of(key, exact)
    statistics = DedupStats()

    def make(at: str | None = level) -> LineNames:
        return LineNames(_rows_of(kind, at, level), secret, end, errors, exact)

    report_to = nullcontext() if groups is None else streams.Output(os.fspath(groups))
    with (
        Scratch(spill_dir) as scratch,  # which is known to be there before anything else is
        streams.Output(None if output is None else os.fspath(output)) as file,
        report_to as group_file,
        Corpus(
            _paths(inputs), _paths(against), end, jobs, scratch, on_progress, errors, max_line, on_invalid
        ) as corpus,
    ):
        file.end = end[0]
        sieve = Sieve(size, exact, report != "unique", scratch)
        if report == "unique":
            statistics.written = write_unique(corpus, make, sieve, scratch, file, rules or groups is not None)
            statistics.unique = statistics.written
        else:
            least = 2 if report == "repeated" else None
            statistics.unique, statistics.written = write_counted(corpus, make, sieve, scratch, file, least, size)
        statistics.invalid, statistics.rows = corpus.invalid, corpus.lines - corpus.mine
        valid = statistics.rows - (statistics.invalid if errors == "drop" else 0)
        statistics.duplicates = before = valid - statistics.unique
        finer = 0
        for name in rules_of(kind, level) if rules else ():
            if name != (level or "bytes"):
                sieve = Sieve(size, exact, False, scratch)
                before = valid - count_unique(corpus, lambda at=name: make(at), sieve, scratch)
            else:
                before = statistics.duplicates
            statistics.merged[name], finer = before - finer, before
        if group_file is not None:
            from uricodec.dedup._groups import Groups

            forms = [(name, _form_of(kind, name, level)) for name in rules_of(kind, level)]
            shown = None if key is None else _key_of(key, False)
            how = Groups(corpus, lambda names: make(level if names else None), forms, scratch, size, exact, shown, end)
            how.write(group_file)
        statistics.spilled = scratch.spilled
    return statistics


def estimate_files(  # noqa: PLR0913
    inputs: Path | Sequence[Path],
    *,
    kind: IdentifierKind = "urn",
    level: UriLevel | UrnLevel | None = None,
    key: Key = None,
    errors: DedupErrors = "keep",
    end: bytes = b"\n",
    jobs: int | None = None,
    max_line: int = streams.MAX_LINE,
    on_progress: Callable[[Progress], None] | None = None,
) -> int:
    """About how many names there are (HyperLogLog), in one reading and next to no memory.

    Args:
        inputs, kind, level, key, errors, end, jobs, max_line, on_progress: As of `dedup_files`.

    Returns:
        int: The number, with a standard error of 0.8 %.

    Raises:
        UriError, ValueError, OSError: As `dedup_files`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "in"), "w") as file:
    ...         _ = file.write("urn:isbn:1\\nURN:ISBN:1\\nurn:isbn:2\\n")
    ...     estimate_files(os.path.join(folder, "in"))
    2
    """
    level = _level_of(kind, level)
    _check(errors, end, jobs, max_line)
    secret, found = _key_of(key, False), Cardinality()
    with Corpus(_paths(inputs), [], end, jobs, None, on_progress, errors, max_line) as corpus:
        corpus.first_reading(
            lambda: LineNames(_rows_of(kind, level), secret, end, errors, False),
            False,
            lambda names, _: found.add(names),
        )
    return found.estimate() + corpus.long
