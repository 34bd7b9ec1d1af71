"""Calls of `bulk`: an operation with its arguments and the options that all share, run on lists, Arrow and lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import RawIOBase
from operator import index
from typing import TYPE_CHECKING, Any

from uricodec._io.runner import Position, Runner, Worker
from uricodec._io.sources import FileInput
from uricodec._io.workers import useful_threads
from uricodec._records.ends import MarkedLineEnds, front_of
from uricodec._rows._columns import ColumnWork
from uricodec._rows._lists import ListWork
from uricodec._rows._tasks import Plan
from uricodec._rows._tuples import EACH_ROW, Tuples
from uricodec.bulk._operation import Operation

if TYPE_CHECKING:
    from uricodec._rows._columns import Column

_PIECE = 1 << 20  # bytes of a file that are read at once, for each thread

# Makes the plan for rows that are text or bytes, and lines that end with these bytes (no lines: b"").
Make = Callable[[bool, bytes], Plan]


class InvalidRows:
    """A report of the invalid rows of a call.

    Args:
        limit (int): The maximum length of `rows`, 0 or more.

    Attributes:
        count (int): The number of invalid rows.
        rows (list[tuple[int, str, int]]): The first of them: the index of the row, from 0; a code; and the offset in
            the row, from 0: of a character in a str, of a byte otherwise.

    Raises:
        ValueError: If the limit is negative.

    >>> from uricodec.bulk import InvalidRows, unquote
    >>> invalid = InvalidRows(limit=1)
    >>> unquote(["%", "a", "%FF"], invalid=invalid)
    ['%', 'a', '\\ufffd']
    >>> invalid.count, invalid.rows
    (2, [(0, 'percent', 0)])
    """

    def __init__(self, limit: int = 100) -> None:
        if index(limit) < 0:
            raise ValueError(f"limit must be at least 0, got {limit}")
        self.limit = limit
        self.count: int = 0
        self.rows: list[tuple[int, str, int]] = []

    def __repr__(self) -> str:
        return f"InvalidRows(count={self.count}, rows={self.rows})"

    def _add(self, count: int, rows: list[tuple[int, str, int]]) -> None:
        self.count += count
        self.rows += rows[: max(self.limit - len(self.rows), 0)]


def plan_of(operation: Operation, own: tuple[Any, ...], named: dict[str, Any], errors: str = "keep") -> Make:
    """Return what makes the plan of an operation, for its own arguments.

    >>> from uricodec.bulk._operations import OPERATIONS
    >>> plan_of(OPERATIONS["split_uri"], (), {})(True, b"").fields[0]
    'scheme'
    """
    made = operation.function(*own, **named, errors=errors)
    if callable(made):
        return lambda text, terminator: _planned(operation, made(text, terminator))
    plan = _planned(operation, made)
    return lambda _text, _terminator: plan


def _planned(operation: Operation, rows: Any) -> Plan:
    if isinstance(rows, Plan):
        return rows
    return Plan(rows, operation.result, operation.fields if operation.result in ("struct", "list") else ())


class Call:
    """An operation with all arguments but the column.

    Args:
        operation (Operation): The operation.
        own (tuple), named (dict): Its own arguments.
        columns (dict[str, Any]): Those of them that are columns: lists, or Arrow objects.
        missing (Callable | None): Returns whether a value of these is a missing row, as None is.
        errors, invalid, threads, line_terminator: The options that all operations share; see `bulk`.

    Attributes:
        operation (Operation): The operation.
        fields (tuple[str, ...]): The names of what a row has, if it has several. Lists have none.

    Raises:
        TypeError: If `invalid` or `line_terminator` has the wrong type.
        ValueError: If an argument has an unknown value.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        operation: Operation,
        own: tuple[Any, ...],
        named: dict[str, Any],
        columns: dict[str, Any],
        missing: Callable[[Any], bool] | None,
        errors: str,
        invalid: InvalidRows | None,
        threads: int | None,
        line_terminator: bytes,
    ) -> None:
        self.operation, self._columns, self._missing = operation, columns, missing
        if columns:
            names = operation.names
            own = tuple(EACH_ROW if i < len(names) and names[i] in columns else own[i] for i in range(len(own)))
            named = {name: EACH_ROW if name in columns else each for name, each in named.items()}
        self._make = plan_of(operation, own, named, errors)
        self.fields = () if operation.result == "list" else operation.fields
        if operation.result == "component":  # several, if several names are given
            self.fields = self._make(True, b"").fields
        if not (invalid is None or isinstance(invalid, InvalidRows)):
            raise TypeError(f"invalid must be an InvalidRows, not {type(invalid).__name__}")
        if not isinstance(line_terminator, bytes):
            raise TypeError(f"line_terminator must be bytes, not {type(line_terminator).__name__}")
        self._errors, self._invalid, self._separator = errors, invalid, line_terminator
        self._limit = None if invalid is None else invalid.limit
        self._threads = _thread_count(threads)

    def on_list(
        self,
        rows: list[Any] | tuple[Any, ...],
        missing: Callable[[Any], bool] | None = None,
        columns: Callable[[int], Any] | None = None,
    ) -> list[Any]:
        """Return the results of a list.

        Args:
            rows (list | tuple): The rows.
            missing (Callable | None): Returns whether a value is a missing row, as None is.
            columns (Callable | None): Returns an array of a number of None. With it, the results of an operation with
                fields are one array for each field, instead of dicts.
        """
        self._check_errors(has_length=True)
        if self.has_tuples:
            return self._tuples_of_list(rows)
        work = ListWork(lambda text: self._make(text, b""), self._errors, self._limit, missing)
        result = work.run(rows, columns)
        self._report(work)
        return result

    def on_arrow(self, column: Any) -> Column:
        """Return the results of an Arrow object."""
        self._check_errors(has_length=True)
        if self.has_tuples:
            return self._tuples(column, self._threads)[1]
        work = ColumnWork(lambda text: self._make(text, b""), self._errors, self._limit, self._threads)
        result = work.column(column)
        self._report(work)
        return result

    @property
    def has_tuples(self) -> bool:
        """Whether the rows of several columns are put together."""
        return bool(self._columns)

    def _tuples(self, column: Any, threads: int | None) -> tuple[Tuples, Column]:
        """Put the column and the columns among the arguments together, and run the operation on the rows."""
        operation = self.operation
        mixes = operation.name in ("equivalent", "relation")  # text is compared by its UTF-8
        columns, needed = [column, *self._columns.values()], [True]
        needed += [name not in operation.defaults for name in self._columns]
        tuples = Tuples(columns, ["", *self._columns], needed, mixes, self._errors == "null", self._missing)
        plans = {text: self._make(text, b"") for text in (True, False)}
        work = ColumnWork(plans.__getitem__, self._errors, self._limit, threads)
        result = work.tuples(tuples.array, tuples.format, tuples.name, tuples.table)
        if self._invalid is not None:
            rows: Any = plans[True].rows
            is_list = isinstance(column, (list, tuple))
            self._invalid._add(work.count, [_located(rows, tuples, is_list, *found) for found in work.found])
        return tuples, result

    def _tuples_of_list(self, rows: list[Any] | tuple[Any, ...]) -> list[Any]:
        tuples, column = self._tuples(rows, 1)
        result = column.to_pylist()
        if self.operation.result == "text":
            if isinstance(tuples.text, list):  # rows of both kinds: those of the result are bytes
                result = [
                    row.decode() if row is not None and is_text else row
                    for row, is_text in zip(result, tuples.text, strict=True)
                ]
            if self._errors == "keep":  # no column can have a lone surrogate
                for number, row in enumerate(rows):
                    if isinstance(row, str) and result[number] is not None and has_surrogate(row):
                        result[number] = row
        return result

    def on_lines(self, buffer: bytes | memoryview) -> Any:
        """Return the results of lines: bytes, or a Column if they are not text."""
        work = self._line_work(0)
        result = work.lines(buffer, self._separator)
        self._report(work)
        return result

    def on_file(self, source: Any, output: Any) -> int:
        """Write the results of the lines of a file, piece by piece, to another file; return the number of lines."""

        self._line_work(0).lines(b"", self._separator)  # raises for wrong arguments also if the file is empty
        worker, capacity = FileRows(self, output), _PIECE * (self._threads or 4)
        runner = Runner(max_line=sys.maxsize, capacity=capacity, most_read=capacity)
        runner.run(FileInput("<file>", source, compressed=False), worker)
        return worker.rows

    def _line_work(self, first: int) -> ColumnWork:
        for name in self._columns:
            raise TypeError(f"{name} must be one value for lines, not a column")
        self._check_errors(has_length=self.operation.result != "text")
        return ColumnWork(lambda _: self._make(True, self._separator), self._errors, self._limit, self._threads, first)

    def _check_errors(self, has_length: bool) -> None:
        """Raise a ValueError unless the operation accepts `errors`.

        A list or column keeps its length, so it cannot drop rows. Results of lines that are not text are a column.
        """
        operation, errors = self.operation, self._errors
        drops = errors == "drop" and has_length
        if errors in operation.policies and not drops:
            return
        allowed = ", ".join(repr(policy) for policy in operation.policies if policy != "drop" or not has_length)
        reason = ": the length of a list or column must match" if drops else ""
        raise ValueError(f"errors of {operation.name} must be one of {allowed}, got {errors!r}{reason}")

    def _report(self, work: ListWork | ColumnWork) -> None:
        if self._invalid is not None:
            self._invalid._add(work.count, work.found)


class FileRows(Worker):
    """Runs an operation on the lines of a file, a piece at a time, each with all threads.

    Args:
        call (Call): The operation.
        output (binary file): Where the results go.
    """

    def __init__(self, call: Call, output: Any) -> None:
        super().__init__()
        self._call, self._output, self.rows = call, output, 0

    def ends(self) -> MarkedLineEnds:
        return MarkedLineEnds(self._call._separator)

    def prepare(self, chunk: Any) -> None:
        if not chunk.before:
            chunk.start = front_of(chunk.buffer, chunk.size)

    def use(self, chunk: Any, _result: None, _at: Position) -> None:
        work = self._call._line_work(self.rows)
        with chunk.view[chunk.start : chunk.size] as lines:
            _write(self._output, work.lines(lines, self._call._separator))
        self.rows += work.rows
        self._call._report(work)


def _located(rows: Any, tuples: Tuples, is_list: bool, row: int, code: str, offset: int) -> tuple[int, str, int]:  # noqa: PLR0913, PLR0917
    """Return an invalid row of several values, with its offset in one of them: in characters for a str of a list."""
    value, offset = rows.input_at(tuples.row(row), offset)
    is_text = is_list and (tuples.text[row] if isinstance(tuples.text, list) else tuples.text)
    if is_text and code != "surrogate":
        offset = len((value or b"")[:offset].decode("utf-8", "replace"))
    return row, code, offset


def has_surrogate(text: str) -> bool:
    """Return whether a str contains a lone surrogate."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _thread_count(threads: Any) -> int | None:
    """Return the number of threads to use; None: automatic."""
    number = 0 if threads is None else index(threads)
    if number < 0:
        raise ValueError(f"threads must be at least 0, got {number}")
    return useful_threads(number) or None


def _write(output: Any, data: bytes) -> None:
    """Write all data. A raw file may write only a part of it; other objects than files of io need not return a size."""
    size = output.write(data)
    rest = memoryview(data)
    while size is not None or isinstance(output, RawIOBase):
        rest = rest[size or 0 :]
        if not rest:
            return
        if not size:
            raise BlockingIOError("the output is non-blocking and accepts no data now")
        size = output.write(rest)
