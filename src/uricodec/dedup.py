"""Deduplication: of names that are spelled differently and are the same, the first one, in memory that is given.

    from uricodec import dedup

What is the same is a matter of `kind` and `level`, as for `uricodec.urn.normalize` and `uricodec.uri.normalize`. The
first spelling of a name stands for it, and the order stays. See docs/dedup.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Union

from uricodec._core._fingerprint import FingerprintKey

__all__ = ["Deduplicator", "Progress", "Statistics", "dedup_files", "estimate_files", "rules_of", "unique"]

Key = Union[FingerprintKey, str, bytes, None]
Path = Union[str, "os.PathLike[str]"]
Memory = Union[int, str, None]


class Progress(NamedTuple):
    """How far dedup_files() is.

    Attributes:
        phase (str): "read", "sift" (what was spilled), or "write".
        octets (int): How many have been read in this phase, of inputs as they are (compressed, if they are).
        total (int): How many that will be; 0: nobody knows.
        rows (int): How many have been done in this phase.
        unique (int): How many names are known.
    """

    phase: str
    octets: int
    total: int
    rows: int
    unique: int


@dataclass
class Statistics:
    """What came of dedup_files().

    Attributes:
        rows (int): The lines of the inputs, those of `against` not among them.
        unique (int): How many names they have that `against` has not.
        duplicates (int): How many lines have a name that came before, or that `against` has.
        invalid (int): How many were refused; with errors="drop" they are neither unique nor duplicates.
        written (int): How many lines were written.
        spilled (int): Octets that went to temporary files because they had no room in memory.
        merged (dict[str, int]): With rules=True: by what (see `rules_of`) how many lines became duplicates.
    """

    rows: int = 0
    unique: int = 0
    duplicates: int = 0
    invalid: int = 0
    written: int = 0
    spilled: int = 0
    merged: dict[str, int] = field(default_factory=dict)


def rules_of(kind: str = "urn", level: str | None = None) -> tuple[str, ...]:
    """The levels up to one, the finest first, each of which merges what the one before merges, and more.

    >>> rules_of("urn"), rules_of("uri")
    (('bytes', '2141', '8141'), ('bytes', 'case', 'percent', 'path'))
    """
    raise NotImplementedError


class Deduplicator:
    """Says of rows whether their name is new: see the design."""

    def __init__(
        self,
        kind: str = "urn",
        level: str | None = None,
        *,
        memory: Memory = None,
        spill_dir: Path | None = None,
        exact: bool = False,
        key: Key = None,
        errors: Literal["keep", "drop", "fail"] = "keep",
    ) -> None:
        raise NotImplementedError

    def add(self, column: Any) -> Any:
        raise NotImplementedError

    def finish(self) -> list[int]:
        raise NotImplementedError


def unique(column: Any, kind: str = "urn", level: str | None = None, **how: Any) -> Any:
    """The first rows of all names, the same kind as the column."""
    raise NotImplementedError


def dedup_files(
    inputs: Path | Sequence[Path],
    output: Path | None = None,
    *,
    kind: str = "urn",
    level: str | None = None,
    report: Literal["unique", "counts", "repeated"] = "unique",
    groups: Path | None = None,
    against: Sequence[Path] = (),
    memory: Memory = None,
    spill_dir: Path | None = None,
    exact: bool = False,
    key: Key = None,
    errors: Literal["keep", "drop", "fail"] = "keep",
    end: bytes = b"\n",
    jobs: int | None = None,
    rules: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Statistics:
    """Write the first line of each name.

    Args:
        inputs (Path | Sequence[Path]): Files, compressed or not; "-" is standard input (once).
        output (Path | None): Where to; None or "-": standard output. A file is there only when it is complete.
        kind (str): "urn", "uri", "iri" or "bytes".
        level (str | None): Of the normal form; None: "8141" for URNs, "path" for URIs, "iri" for IRIs.
        report (str): "unique": the first line of each name. "counts": "COUNT TAB LINE". "repeated": the first line of
            each name that came more than once.
        groups (Path | None): A file for the report which spellings merged, and why. A line for each spelling (as octets)
            of a name with more than one, in the order of the input: "FIRST TAB RULE TAB LINE". FIRST is the number (from
            1, over all inputs) of the first line of the name, RULE what merged it (see rules_of), "first" for the first.
        against (Sequence[Path]): Files whose names are not written.
        memory (int | str | None): Bounds the tables: octets, "64M", "1G" or "50%"; None: half of what there is.
        spill_dir (Path | None): Where temporary files go; None: the system's place for them.
        exact (bool): Compare normal forms, not only their fingerprints.
        key (FingerprintKey | str | bytes | None): The key of fingerprints; None: a random one.
        errors (str): What becomes of a line that is no such name. "keep": it stands for its own octets; "drop": it is
            left out; "fail": an error.
        end (bytes): What ends a line, a control character.
        jobs (int | None): How many threads work; None: as many as are worth it.
        rules (bool): Find out what merged the lines, for Statistics.merged; one more pass for each rule.
        progress (Callable[[Progress], None] | None): Is told now and then.

    Returns:
        Statistics: How many there were.

    Raises:
        UriError: A line is refused, with errors="fail": the message has the file and the line.
        ValueError: There is no such kind, level or option.
        streams.FileError: A file fails (an OSError with filename and strerror); an input changed while it was read.
        BrokenPipeError: Nobody reads the output any more.
    """
    raise NotImplementedError


def estimate_files(
    inputs: Path | Sequence[Path],
    *,
    kind: str = "urn",
    level: str | None = None,
    key: Key = None,
    errors: Literal["keep", "drop", "fail"] = "keep",
    end: bytes = b"\n",
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """About how many names there are (HyperLogLog): in one pass, and in next to no memory."""
    raise NotImplementedError
