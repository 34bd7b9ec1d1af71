"""The options of a run, checked once, and its statistics."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, Union

from uricodec._base._fingerprint import FingerprintKey, as_key
from uricodec._identifier import Identifier
from uricodec._io.reading import MAX_LINE
from uricodec._io.sizes import parse_memory
from uricodec._io.writing import Output
from uricodec._reports import REPORTS
from uricodec._rows._engine import RowOperation
from uricodec.dedup._fields import Records
from uricodec.dedup._identifiers import LineBatch

Secret = Union[FingerprintKey, str, bytes, None]  # noqa: UP007
Path = Union[str, "os.PathLike[str]"]
MemorySize = Union[int, str, None]  # noqa: UP007


class Options(SimpleNamespace):
    """The arguments of a public function, by their names, such as those of dedup_files(); it may have fewer.

    Attributes:
        identifier (Identifier): Which identifiers are equivalent.
        report (Report): What is written of them.
        key (FingerprintKey | None): The key for the secret; None: no secret is given.
        size (int): The limit for memory in bytes.
        records (Records | None): The format, if lines are records.

    Raises:
        ValueError: If an option is wrong, or does not go with others.
    """

    line_terminator, max_line = b"\n", MAX_LINE
    report, top, keep, by, groups, merged = "unique", None, "first", None, None, False
    exclude, only_in, seen, update = (), (), None, False
    memory, spill_dir, exact, threads = None, None, False, None
    on_progress = on_invalid = None

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.identifier = Identifier(self.kind, self.level, self.policy)
        self._check_report()
        check_keep(self.keep, self.by)
        if self.threads is not None and self.threads < 0:
            raise ValueError(f"threads must be at least 0, got {self.threads}")
        if self.max_line < 1:
            raise ValueError(f"max_line must be at least 1, got {self.max_line}")
        LineBatch(RowOperation(), FingerprintKey(), self.line_terminator, self.errors)  # checks these two
        self._check_sets()
        self.size, self.key = parse_memory(self.memory), as_key(self.secret)
        self.records = self._records() if "field" in arguments else None

    def _check_report(self):
        name, top = self.report, self.top
        if name not in REPORTS:
            raise ValueError(f"report must be one of {', '.join(map(repr, REPORTS))}, got {name!r}")
        self.report = REPORTS[name]
        if top is not None and not self.report.column:
            counted = " or ".join(f"report={each!r}" for each, report in REPORTS.items() if report.column)
            raise ValueError(f"top is only supported with {counted}, got report={name!r}")
        if top is not None and top < 1:
            raise ValueError(f"top must be at least 1, got {top}")

    def _check_sets(self):
        if self.update and self.seen is None:
            raise ValueError("update is only supported with seen")
        if self.update and self.exclude:
            raise ValueError(
                "update is not supported with exclude: whether its identifiers belong to the set is not known"
            )
        for name, value in ("seen", self.seen is not None), ("only_in", bool(self.only_in)):
            if value and self.exact:
                raise ValueError(f"{name} is not supported with exact=True: sets have fingerprints")
            if value and self.merged:
                raise ValueError(f"{name} is not supported with merged=True: a set has one level")

    def _records(self):
        if self.field is not None:
            return Records(self.field, self.format, self.delimiter, self.header, self.line_terminator, self.by)
        if self.by is not None:
            raise ValueError("by is only supported with field")
        if self.header or self.delimiter is not None:
            raise ValueError(f"{'header' if self.header else 'delimiter'} is only supported with field")
        return None

    def run_key(self):
        """Return the key of a run. With exact=True it is random: a known one would only allow attacks on its speed."""
        return FingerprintKey() if self.key is None or self.exact else self.key

    @property
    def needs_table(self):
        """Whether the table has to count, or to know rows, so that nothing can be written in the first pass."""
        return self.report.counts or self.keep != "first"


def check_keep(keep: str, by: object) -> None:
    if keep not in ("first", "last", "newest"):
        raise ValueError(f"keep must be 'first', 'last' or 'newest', got {keep!r}")
    if keep == "newest" and by is None:
        raise ValueError("keep='newest' requires by")
    if keep != "newest" and by is not None:
        raise ValueError(f"by is only supported with keep='newest', got keep={keep!r}")


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
        merged (dict[str, int]): With merged=True: level (see `rules_of`) -> number of lines that it made duplicates.

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


# --- names of files ---------------------------------------------------------------------------------------------------


def paths_of(paths: Any) -> list[str]:
    """Return paths as a list of str, given one or more."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [os.fsdecode(path) for path in paths]


def inputs_of(paths: Any) -> list[str]:
    """Return the names of inputs as the command line has them, where "-" means standard input, as [None] does here."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return ["-" if path is None else _file(path) for path in given]


def output_of(path: Any) -> Output:
    """Return an output: that of the command line, standard output (None), or a file."""
    return path if isinstance(path, Output) else Output(None if path is None else _file(path))


def _file(path: Path) -> str:
    """Return the path of a file for streams, for which "-" alone means standard input or output."""
    name = os.fsdecode(path)
    return os.path.join(os.curdir, name) if name == "-" else name
