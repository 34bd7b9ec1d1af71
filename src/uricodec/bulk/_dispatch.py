"""The function that all functions of `bulk` call: what to do is decided by the kind of column."""

from __future__ import annotations

from typing import Any

from uricodec._rows import kinds
from uricodec.bulk._calls import Call, InvalidRows
from uricodec.bulk._operation import Operation


def run(  # noqa: PLR0913, PLR0917
    operation: Operation,
    column: Any,
    own: tuple[Any, ...],
    named: dict[str, Any],
    errors: str,
    invalid: InvalidRows | None,
    threads: int | None,
    line_terminator: bytes,
) -> Any:
    """Run an operation on a column of any kind.

    Args:
        operation (Operation): The operation.
        column (Any): The rows.
        own (tuple), named (dict): The operation's own arguments; of operations whose results are text, also `output`.
        errors, invalid, threads, line_terminator: The options that all operations share; see `bulk`.

    Returns:
        Any: The result; the table at the head of `bulk` lists the types.
    """
    output = named.pop("output", None) if operation.result == "text" else None
    for name in named:
        if name not in operation.names:
            raise TypeError(f"{operation.name}() got an unexpected keyword argument {name!r}")
    is_list = isinstance(column, (list, tuple))
    is_pandas = not is_list and kinds.is_pandas(column)
    is_numpy = not is_list and kinds.is_instance(column, "numpy", "ndarray")
    columns = _columns_among(operation, column, own, named) if operation.columns else {}
    missing = kinds.is_missing if is_pandas or is_numpy else None
    call = Call(operation, own, named, columns, missing, errors, invalid, threads, line_terminator)
    has_attributes = not is_list and not is_pandas  # which are labels of a Series of pandas, too
    is_arrow = has_attributes and kinds.is_arrow(column)
    is_file = has_attributes and not is_arrow and kinds.is_file(column)
    if is_file and operation.result != "text":
        raise TypeError(f"{operation.name} does not accept a file: its results are not text")
    if is_file != (output is not None):
        raise TypeError("output= is required for file input and not allowed otherwise")
    # A list or tuple: a list.
    if is_list:
        return call.on_list(column)
    # A Series or Index of pandas, a NumPy array of objects or text: run as a list or an Arrow array, converted back.
    if is_pandas:
        from uricodec.bulk._pandas import run_on_column

        return run_on_column(column, call)
    if is_numpy and column.dtype.kind in "OUST":
        import numpy as np  # type: ignore[import-not-found,unused-ignore]

        return np.fromiter(call.on_list(kinds.items(column), kinds.is_missing), object, len(column))
    # An Arrow object: a Column. A Series of Polars: a Series.
    if is_arrow:
        return kinds.like(column, call.on_arrow(column))
    # A binary file: its lines, written to another file.
    if is_file:
        return call.on_file(column, output)
    # A bytes-like object: its lines, as bytes or as a Column.
    return call.on_lines(kinds.buffer_of(column))


def _columns_among(operation: Operation, column: Any, own: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Return the columns among the arguments, in the order of the parameters: lists, or Arrow objects.

    Raises:
        ValueError: If one is a Series of another index: rows are matched by position.
    """
    given = dict(zip(operation.names, own, strict=False)) | named
    columns = {}
    for name in operation.names:
        other: Any = given.get(name)
        if name not in operation.columns or not kinds.is_column(other):
            continue
        are_series = all(kinds.is_instance(each, "pandas", "Series") for each in (column, other))
        if are_series and not column.index.equals(other.index):
            raise ValueError(f"{name} has another index than the column; align it first, with reindex()")
        columns[name] = _list_or_arrow(other)
    return columns


def _list_or_arrow(column: Any) -> Any:
    """Return a column among the arguments as a list, or as an Arrow object."""
    if kinds.is_pandas(column):
        from uricodec.bulk._pandas import list_or_arrow

        return list_or_arrow(column)
    if kinds.is_instance(column, "numpy", "ndarray"):
        rows = kinds.items(column)
        return [None if not isinstance(row, (str, bytes)) and kinds.is_missing(row) else row for row in rows]
    return column
