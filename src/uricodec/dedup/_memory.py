"""Lists, columns and buffers of lines in memory, as batches of identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uricodec._rows.kinds import is_arrow
from uricodec.dedup import _lines
from uricodec.dedup._identifiers import ColumnBatch, LineBatch, mask
from uricodec.dedup._source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uricodec._base._fingerprint import FingerprintKey
    from uricodec._identifier import Identifier
    from uricodec.errors import UriError

# The answers for rows, by their marks: SEEN is not the first one, NEW is; LATER is not known.
ANSWERS = [False, False, True, None]

# Bytes of a buffer that are read at once.
PIECE = 1 << 20


class Batches:
    """Reads columns of any kind.

    Args:
        identifier (Identifier): The normal form of the identifiers.
        key (FingerprintKey): The key of their fingerprints.
        errors (str), exact (bool): See Deduplicator.
        options: Other arguments of ColumnBatch.

    Attributes:
        columns (ColumnBatch): The batch for lists and Arrow objects.
        lines (LineBatch): The batch for buffers of lines.
        invalid_lines (int): The number of invalid lines so far.
    """

    def __init__(
        self, identifier: Identifier, key: FingerprintKey, errors: str, exact: bool = False, **options: bool
    ) -> None:
        rows = identifier.rows(errors)
        self.columns = ColumnBatch(rows, key, errors, exact, **options)
        self.lines = LineBatch(rows, key, b"\n", errors, exact)
        self._raises, self.invalid_lines = errors == "raise", 0

    @property
    def invalid(self) -> int:
        """The number of invalid rows so far."""
        return self.invalid_lines + self.columns.invalid

    def read(self, column: Any, number: int = 0, orders: bytes | None = None) -> Iterator[Any]:
        """Yield the rows as batches: the first row has this number, and `orders` are as ColumnBatch.hold() has them."""
        if has_items(column):
            self.columns.hold(column, orders)
            while read := self.columns.read(number):
                number += read
                yield self.columns
            return
        for lines in pieces(column):
            found = self.lines.read(lines, number)
            if found.invalid and self._raises:
                raise error_of(self.lines, lines, number, found)
            self.invalid_lines += found.invalid
            number += len(self.lines)
            yield self.lines


class Memory(Source):
    """A list, a column, or a buffer of lines.

    Args:
        options (Options): The options of the run.
        column (list | tuple | Arrow object | bytes-like): The rows, which do not change.
        batches (Batches): Reads them.
        orders (bytes | None): The order of each row, see ColumnBatch.
    """

    def __init__(self, options: Any, column: Any, batches: Batches, orders: bytes | None = None) -> None:
        super().__init__(options)  # type: ignore[no-untyped-call]
        self._column, self._batches, self._orders = column, batches, orders
        self._marks: list[bytes] = []  # of the first pass

    def write(self, run, output):
        """Read lines, and write those that the run keeps. Return their number."""
        return (_lines.write_kept if self.options.needs_table else _lines.write_first)(run, output)

    def marks(self, rows):
        """Return the marks of all rows, given those that are kept (FirstRows)."""
        if self.options.keep == "first" and self.later is None:
            return b"".join(self._marks)  # the first pass has found all
        return rows.marks(0, self.lines)

    def read_first(self, make, take, keep=True, copy=None):
        for batch in self._batches.read(self._column, 0, self._orders):
            take(batch, True)
            self._marks.append(batch.marks)
            self.lines += len(batch)
            if batch.later:
                self.later = 0

    def read_again(self, phase, take, make=None, copy=None):
        batch, number = self._batches.lines, 0
        for lines in pieces(self._column):
            batch.find(lines, number)
            number += len(batch)
            take(batch)


def error_of(batch: LineBatch, lines: memoryview, row: int, found: Any) -> UriError:
    """Return the error for the first invalid line, given the lines, the number of their first row, and the faults."""
    [fault], operation = found.faults, batch.operation
    error: UriError = operation.error(
        operation.reason(fault.code), bytes(lines[fault.start : fault.stop]), fault.offset
    )
    error.row = row + fault.line
    return error


def has_items(column: Any) -> bool:
    """Return whether a column is a list or an Arrow object, and not lines."""
    return isinstance(column, (list, tuple)) or is_arrow(column)


def answers(column: Any, marks: bytes) -> Any:
    """Return the answers for the rows of a column: a Column for an Arrow object, else a list."""
    return mask(marks) if is_arrow(column) else [ANSWERS[mark] for mark in marks]


def pieces(column: Any) -> Iterator[memoryview]:
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
    start, size = 0, PIECE
    while start < len(view):
        stop = min(start + size, len(view))
        cut = bytes(view[start:stop]).rfind(b"\n") + 1 if stop < len(view) else stop - start
        if not cut:
            size *= 2
            continue
        yield view[start : start + cut]
        start, size = start + cut, PIECE
