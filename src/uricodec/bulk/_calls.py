"""What all calls of `bulk` have in common: what they take besides their own arguments, and the kinds of columns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from io import RawIOBase
from operator import index
from typing import TYPE_CHECKING, Any, TypedDict

from uricodec._io import streams
from uricodec._io.workers import useful_threads
from uricodec._rows._columns import Work
from uricodec._rows._lists import ListWork
from uricodec._rows.registry import OPERATIONS, Operation
from uricodec.bulk._operations import Make, make_plan

if TYPE_CHECKING:
    from typing import BinaryIO

_PIECE = 1 << 20  # octets of a file that are read at once, for each thread

Missing = Callable[[Any], bool]


class InvalidRows:
    """What a call tells about rows that were refused.

    Args:
        limit (int): How many rows are kept, 0 or more.

    Attributes:
        count (int): How many rows there were.
        rows (list[tuple[int, str, int]]): The first of them: the number of the row, from 0; a code; and where in the
            row the fault is, in characters of a str, octets of all else.

    Raises:
        ValueError: The limit is negative.

    >>> from uricodec.bulk import InvalidRows, unquote
    >>> invalid = InvalidRows(limit=1)
    >>> unquote(["%", "a", "%FF"], invalid=invalid)
    ['%', 'a', '\\ufffd']
    >>> invalid.count, invalid.rows
    (2, [(0, 'percent', 0)])
    """

    def __init__(self, limit: int = 100) -> None:
        if index(limit) < 0:
            raise ValueError(f"no number of rows: {limit}")
        self.limit = limit
        self.count: int = 0
        self.rows: list[tuple[int, str, int]] = []

    def __repr__(self) -> str:
        return f"InvalidRows(count={self.count}, rows={self.rows})"

    def _add(self, count: int, rows: list[tuple[int, str, int]]) -> None:
        self.count += count
        self.rows += rows[: max(self.limit - len(self.rows), 0)]


class How(TypedDict, total=False):
    """What every operation takes besides its own arguments; see the head of `bulk`."""

    errors: str
    invalid: InvalidRows | None
    threads: int | None
    separator: bytes
    output: BinaryIO | None


def run(name: str, column: Any, how: How, **arguments: Any) -> Any:
    """Run an operation on a column of any kind.

    Args:
        name (str): The operation, in the table of `_rows/registry.py`.
        column (Any): The rows.
        how (How): What all operations take.
        arguments (Any): The values of the operation's own parameters.

    Returns:
        Any: The rows, of the kind that came in.
    """
    operation = OPERATIONS[name]
    return _run(operation, make_plan(operation, arguments), column, how)


def _run(  # noqa: PLR0913, PLR0917
    operation: Operation,
    make: Make,
    column: Any,
    how: How,
    missing: Missing | None = None,
    columns: Callable[[int], Any] | None = None,
) -> Any:
    """Run an operation. `missing` says which values of a list are missing rows, as None is; `columns` makes an array of
    objects for each field of a list's results, which otherwise are dicts."""
    is_list = isinstance(column, (list, tuple))
    if not is_list and _is_instance(column, "pandas", "Series", "Index"):
        from uricodec.bulk._pandas import Call, run_on_column

        on_rows = partial(_run, operation, make, how=how, missing=_is_missing)
        return run_on_column(column, Call(on_rows, operation.result, operation.fields))
    if not is_list and _is_instance(column, "numpy", "ndarray") and column.dtype == object:
        return _do_objects(column, partial(_run, operation, make, how=how, missing=_is_missing))
    if how and (unknown := how.keys() - How.__annotations__.keys()):
        raise TypeError(f"unexpected keyword arguments: {', '.join(sorted(unknown))}")
    invalid, threads = how.get("invalid"), _threads(how.get("threads"))
    separator, output = how.get("separator", b"\n"), how.get("output")
    if not (invalid is None or isinstance(invalid, InvalidRows)):
        raise TypeError(f"invalid must be an InvalidRows, not {type(invalid).__name__}")
    if not isinstance(separator, bytes):
        raise TypeError(f"separator must be bytes, not {type(separator).__name__}")
    limit = None if invalid is None else invalid.limit
    is_file = not is_list and hasattr(column, "readinto")
    if is_file != (output is not None) or (is_file and operation.result != "text"):
        raise TypeError("the lines of a file, and nothing else, go to an output, which is a file as well")
    is_arrow = not is_list and (hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"))
    errors = how.get("errors", operation.policies[0])
    _check_policy(operation, errors, is_list or is_arrow)
    work: ListWork | Work
    result: Any
    if is_list:
        work = ListWork(lambda text: make(text, b""), errors, limit, missing)
        result = work.run(column, columns)
    elif is_arrow:
        work = Work(lambda text: make(text, b""), errors, limit, threads)
        result = work.column(column)
    elif is_file:

        def begin(first: int) -> Work:
            return Work(lambda _: make(True, separator), errors, limit, threads, first)

        return _do_file(begin, column, how, _PIECE * (threads or 4))
    else:
        work = Work(lambda _: make(True, separator), errors, limit, threads)
        result = work.lines(_buffer(column), separator)
    if invalid is not None:
        invalid._add(work.count, work.found)
    return result


def _check_policy(operation: Operation, errors: str, has_length: bool) -> None:
    """Raise a ValueError unless the operation has the policy. In a list or a column, which have a length, no row may
    vanish."""
    drops = errors == "drop" and has_length
    if errors in operation.policies and not drops:
        return
    allowed = ", ".join(repr(policy) for policy in operation.policies if policy != "drop" or not has_length)
    reason = ": the length of a list or column must match" if drops else ""
    raise ValueError(f"errors of {operation.name} must be one of {allowed}, got {errors!r}{reason}")


def _is_instance(column: Any, module: str, *names: str) -> bool:
    """Whether a column is an object of a module. If it is, somebody has imported that."""
    found = sys.modules.get(module)
    return found is not None and isinstance(column, tuple(getattr(found, name, ()) for name in names))


def _do_objects(column: Any, run: Callable[[list[Any]], list[Any]]) -> Any:
    """Do a NumPy array of objects; returns another one."""
    import numpy as np  # type: ignore[import-not-found,unused-ignore]

    if column.ndim != 1:
        raise TypeError(f"expected an array of one dimension, got {column.ndim}")
    return np.fromiter(run(column.tolist()), object, len(column))


def _is_missing(value: Any) -> bool:
    """Whether a value stands for a missing row where pandas and NumPy have objects: NaN, NaT, NA."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        return pandas.isna(value) is True
    return isinstance(value, (float, sys.modules["numpy"].generic)) and bool(value != value)  # noqa: PLR0124


def _threads(threads: Any) -> int | None:
    """How many threads there may be, of those that somebody asks for."""
    if threads is None:
        return None
    number = index(threads)
    if number < 1:
        raise ValueError(f"threads must be at least 1, got {number}")
    return useful_threads(number)


def _buffer(column: Any) -> memoryview | bytes:
    try:
        return column if isinstance(column, bytes) else memoryview(column)
    except (TypeError, ValueError):  # NumPy's ValueError says which of its types has no buffer
        raise TypeError(f"{type(column).__name__} is no list, Arrow object, bytes-like or file") from None


def _do_file(begin: Callable[[int], Work], source: Any, how: How, room: int) -> int:
    """Do the lines of a file, pieces of so many bytes; returns their number."""
    output, invalid, separator = how["output"], how.get("invalid"), how.get("separator", b"\n")
    assert output is not None

    def read_into(view: memoryview) -> int:
        size: int | None = source.readinto(view)
        if size is None:
            raise BlockingIOError("the file has nothing yet, and does not wait")
        return size

    rows = 0
    begin(rows).lines(b"", separator)  # arguments are checked for an empty file, too
    buffers, ends = streams.Buffers(room), streams.LineEnds(separator)
    for chunk in streams.chunks_of(lambda view: (read_into, read_into(view)), buffers, ends, sys.maxsize, room):
        work = begin(rows)
        with chunk.view[: chunk.size] as lines:
            _write(output, work.lines(lines, separator))
        rows += work.rows
        if invalid is not None:
            invalid._add(work.count, work.found)
        buffers.release(chunk)
    return rows


def _write(output: Any, octets: bytes) -> None:
    """Write all of it: a raw file may take a part, or nothing. (What is no file of io need not say how much.)"""
    size = output.write(octets)
    rest = memoryview(octets)
    while size is not None or isinstance(output, RawIOBase):
        rest = rest[size or 0 :]
        if not rest:
            return
        if not size:
            raise BlockingIOError("the output takes nothing more now, and does not wait")
        size = output.write(rest)
