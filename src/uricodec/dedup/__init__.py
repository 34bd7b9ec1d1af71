"""Deduplication of identifiers in bounded memory: keeps the first of all identifiers that have the same normal form.

    from uricodec import dedup

`kind` and `level` select the normal form, as for `uricodec.urn.normalize` and `uricodec.uri.normalize`. The first
spelling of each identifier is kept, in the order of the input. See docs/guides/dedup.md.

Inside: `_options` checks the arguments, `_source` says what is read, and how (`_files`, `_dataset`, `_memory`), `_run`
finds which rows are kept, and `_lines` and `_dataset_output` write them. `_sets` has saved sets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from uricodec._base._fingerprint import FingerprintKey
from uricodec._base.extras import need
from uricodec._counting._order import orders_of
from uricodec._counting._table import Cardinality
from uricodec._identifier import Identifier
from uricodec._io.reading import MAX_LINE
from uricodec._io.scratch import Scratch
from uricodec._rows.kinds import is_arrow, is_pandas, like
from uricodec._rows.overloads import returns_selection
from uricodec.dedup._files import Files
from uricodec.dedup._identifiers import borrow, select
from uricodec.dedup._memory import Batches, Memory, has_items
from uricodec.dedup._options import DedupStats, MemorySize, Options, Path, Secret, paths_of
from uricodec.dedup._run import Run, deduplicate
from uricodec.dedup._source import NEW, Progress
from uricodec.errors import SetError

if TYPE_CHECKING:
    from uricodec.bulk import fingerprint
    from uricodec.dedup._deduplicator import Deduplicator
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


# What is imported when it is first used: the command line starts without it.
_LATER = {
    "Deduplicator": "uricodec.dedup._deduplicator",
    "SeenSet": "uricodec.dedup._seen",
    "fingerprint": "uricodec.bulk",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


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
    return tuple(name for name, _ in Identifier(kind, level, policy).steps())


@returns_selection
def unique(  # noqa: PLR0913
    column: Any,
    kind: IdentifierKind,
    level: UriLevel | UrnLevel | None = None,
    *,
    policy: Policy | PolicyName | None = None,
    keep: DedupKeep = "first",
    by: Iterable[Any] | None = None,
    memory: MemorySize = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    secret: Secret = None,
    errors: DedupErrors = "keep",
) -> Any:
    """Return one row of each group of equivalent identifiers, in the order of the column.

    All nulls are equivalent.

    Args:
        column (list | tuple | Series | Index | Arrow object | bytes-like): The rows.
        kind (str): "urn", "uri", "iri", "web", or "bytes" (compared as they are).
        level, policy: As in `Deduplicator`.
        keep (str): Which row of a group is kept: "first", "last", or "newest": the first of those with the greatest
            value of `by`.
        by (Iterable | None): With keep="newest", and a column that is not lines, the value of each row: a number, a
            date or time, or its text, see `dedup_files`. A row with None or anything else is older than all others.
        memory, spill_dir, exact, secret, errors: As in `Deduplicator`.

    Returns:
        list | Series | Index | Column | bytes: The rows that are kept: a list for a list, a Series of pandas or Polars
            for one, with its index, a Column of the same type for another Arrow object, lines for lines.

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
    options = Options(**locals())
    orders = None if by is None else _orders_of(by)
    given = column
    if is_pandas(column):
        from uricodec.bulk._pandas import list_or_arrow

        column = list_or_arrow(column)
    if has_items(column):
        # a stream can be read only once, and a list can change meanwhile
        column = borrow(column) if is_arrow(column) else list(column)
    elif by is not None:
        raise TypeError(f"by is only supported with a list or Arrow object, got {type(column).__name__}")
    key = options.run_key()
    batches = Batches(options.identifier, key, errors, exact, nulls=keep != "first", ordered=by is not None)
    source, output = Memory(options, column, batches, orders), BytesIO()
    with Scratch(spill_dir) as scratch:
        run = Run(options, source, key, scratch, options.size)
        if has_items(column):
            rows, _ = run.selected()
            return _selected(given, column, source.marks(rows))
        source.write(run, output)
    return output.getvalue()


def _selected(given: Any, column: Any, marks: bytes) -> Any:
    """Return the rows that are marked: of what was given, which is read as a column."""
    if is_pandas(given):
        import numpy as np  # type: ignore[import-not-found,unused-ignore]

        return given[np.frombuffer(marks, np.uint8) == NEW]
    return like(given, select(column, marks))


def _orders_of(values: Iterable[Any]) -> bytes:
    """Return the order of each row, given its value: a number, or a date or time."""
    texts = [
        value if value is None or isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        for value in values
    ]
    orders, unordered = orders_of(texts)
    if unordered and unordered == len(texts):
        raise ValueError("no value in by is a number or time")
    return orders


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
    memory: MemorySize = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    secret: Secret = None,
    errors: DedupErrors = "keep",
    line_terminator: bytes = b"\n",
    threads: int | None = None,
    max_line: int = MAX_LINE,
    merged: bool = False,
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
        merged (bool): Whether to count which level merged the lines, for DedupStats.merged; one more pass for each
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
    ...     done = dedup_files(source, target, kind="urn", merged=True)
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
    return deduplicate(Options(**locals()), Files)


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
    memory: MemorySize = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    secret: Secret = None,
    errors: DedupErrors = "keep",
    threads: int | None = None,
    merged: bool = False,
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
        report (str): As in `dedup_files`, with rows instead of lines; counts are a first column "count".
        top (int | None): As in `dedup_files`, but the rows stay in their files, in the order of the input.
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
        merged (bool): Whether to count which level merged the rows, as in `dedup_files`.
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
    options = Options(**locals(), inputs=paths)
    need("arrow", "pyarrow.parquet")
    from uricodec.dedup._dataset import Dataset
    from uricodec.dedup._dataset_files import check_output

    check_output(os.fsdecode(output), paths_of(paths))
    return deduplicate(options, Dataset)


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
    options, found = Options(**locals()), Cardinality()
    key = options.key or FingerprintKey()
    with Files(options, inputs) as files:
        files.read_first(
            lambda: files.batch(options.identifier, key), lambda batch, _is_input: found.add(batch), keep=False
        )
    return found.estimate() + files.long
