"""Functions of SQL for engines that pass columns of pyarrow: options and arguments of the operations.

In SQL the last arguments of a function may be omitted, and each may be a column. One call of `uricodec.bulk` runs all
rows with the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uricodec.errors import UriError
from uricodec.integrations._operations import FUNCTIONS, SQL_FUNCTIONS

Compute = Callable[..., Any]


def fixed_arguments(name: str, errors: str) -> dict[str, Any]:
    """Return the fixed arguments that a function of SQL gives to its operation.

    Args:
        errors (str): "null", "keep", "raise" or "replace"; see `register`.

    >>> [fixed_arguments(name, "replace") for name in ("uri_decode", "urn_normalize", "is_valid_urn")]
    [{'errors': 'replace'}, {'errors': 'null'}, {'errors': 'keep'}]
    """
    if name not in SQL_FUNCTIONS:
        raise ValueError(f"unknown function {name!r}; choose from {', '.join(SQL_FUNCTIONS)}")
    if errors not in ("null", "keep", "raise", "replace"):
        raise ValueError(f"errors must be one of 'null', 'keep', 'raise', 'replace', got {errors!r}")
    sql, operation = SQL_FUNCTIONS[name]
    if operation.result in ("component", "list"):  # of any text
        return {"errors": "raise" if errors == "raise" else "keep", **sql.fixed}
    return {"errors": errors if errors in operation.policies else "null", **sql.fixed}


def array_of(column: Any) -> Any:
    """Return a column as a pyarrow array. Fixed-size binary becomes binary: not all engines read it correctly."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    array = pa.array(column)
    return array.cast(pa.binary()) if pa.types.is_fixed_size_binary(array.type) else array


def result_type(name: str, compute: Compute) -> Any:
    """Return the type of what a function of SQL returns for a column of pyarrow.

    A component is text. Its operation is not called, because it may need a library that is not installed.
    """
    import pyarrow as pa

    is_component = SQL_FUNCTIONS[name].operation.result == "component"
    return pa.string() if is_component else array_of(compute(pa.array([], pa.string()))).type


def arity(name: str) -> str:
    """Return the error message for too many arguments, or too few."""
    sql, operation = SQL_FUNCTIONS[name]
    least, most = 1 + len(operation.required), 1 + len(sql.parameters)
    count = f"at most {most}" if least == 1 else str(most) if least == most else f"{least} to {most}"
    return f"{name} takes {count} arguments: {', '.join(('column', *sql.parameters))}"


_SAMPLE = 256  # rows
# The operations that take more than 100 ns a row: others are as fast as the search for values that repeat.
_SLOW = frozenset({"normalize_uri", "equivalent", "relation"})


def once_a_value(name: str, compute: Compute) -> Compute:
    """Return a function of columns that computes values that repeat only once, if the operation is slow.

    Engines pass the rows of dictionaries as plain arrays, in vectors of some thousand rows. Their distinct values are
    searched for, at 40 ns a row, if the first rows show that many repeat.
    """
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped,import-not-found,unused-ignore]

    if SQL_FUNCTIONS[name].operation.name not in _SLOW:
        return compute

    def of_column(column: Any, *values: Any) -> Any:
        if len(column) < 2 * _SAMPLE or any(isinstance(value, pa.Array) for value in values):
            return compute(column, *values)
        if pc.count_distinct(column.slice(0, _SAMPLE)).as_py() > _SAMPLE * 3 // 4:
            return compute(column, *values)
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        coded = array.dictionary_encode()
        return array_of(compute(coded.dictionary, *values)).take(coded.indices)

    return of_column


def with_arguments(name: str, compute: Compute) -> Compute:
    """Return a function whose last arguments are columns, too. If an argument is NULL, the result is NULL, unless it is
    one of a component.

    Args:
        compute (Callable): The function of a column of pyarrow; its last arguments are str, bool or columns.
    """
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped,import-not-found,unused-ignore]

    sql, operation = SQL_FUNCTIONS[name]
    arguments, required = sql.parameters, tuple(operation.required.values())
    types = {parameter.name: parameter.type for parameter in operation.parameters}
    columns = {parameter.name: parameter.column for parameter in operation.parameters}

    def one(column: Any, values: tuple[Any, ...]) -> Any:
        """Return the result for values of the arguments; arrays are columns."""
        for argument, value in zip(arguments, values, strict=False):
            if isinstance(value, pa.Array) or (value is None and columns[argument] == "optional"):
                continue
            if value is None:
                return compute(pa.nulls(len(column), pa.string()), *required)
            if types[argument].startswith("bool") and not isinstance(value, bool):
                raise TypeError(f"{name}: {argument} must be a boolean, got {value!r}")
            is_number = type(value) is int and types[argument].startswith("UrnRfc")
            is_bytes = isinstance(value, bytes) and columns[argument]
            if not types[argument].startswith("bool") and not (isinstance(value, str) or is_number or is_bytes):
                raise TypeError(f"{name}: {argument} must be text, got {value!r}")
        return compute(column, *values)

    def is_usable(argument: str, value: Any) -> bool:
        """Return whether a value may stand for a column of it. An invalid one makes rows invalid, not the call."""
        try:
            FUNCTIONS[operation.name]([], **dict(zip(arguments, required, strict=False)) | {argument: value})
        except UriError:
            return False
        return True

    def value_of(argument: str, rows: Any) -> Any:
        """Return the value of an argument for some rows: one value if all are equal, else a column."""
        first = rows[0].as_py()
        if not columns[argument] or (len(pc.unique(rows)) == 1 and (first is None or is_usable(argument, first))):
            return first
        return array_of(rows)

    def of_columns(column: Any, *given: Any) -> Any:
        if not len(column):
            return compute(column, *required)
        if not len(required) <= len(given) <= len(arguments):
            raise TypeError(arity(name))
        if not given:
            return compute(column)
        options = [rows for argument, rows in zip(arguments, given, strict=False) if not columns[argument]]
        if all(len(pc.unique(rows)) == 1 for rows in options):
            return one(
                column, tuple(value_of(argument, rows) for argument, rows in zip(arguments, given, strict=False))
            )
        # Rows with the same options are one call.
        rows_with: dict[tuple[Any, ...], list[int]] = {}
        for row, values in enumerate(zip(*(values.to_pylist() for values in options), strict=True)):
            rows_with.setdefault(values, []).append(row)
        column, *others = map(joined, (column, *given))
        parts = []
        for rows in rows_with.values():
            taken = [other.take(pa.array(rows)) for other in others]
            values = tuple(value_of(argument, each) for argument, each in zip(arguments, taken, strict=False))
            parts.append(array_of(one(column.take(pa.array(rows)), values)))
        order = pa.array([row for rows in rows_with.values() for row in rows])
        return pa.concat_arrays(parts).take(pc.array_sort_indices(order))

    def joined(column: Any) -> Any:
        """Return a column as one array."""
        if not isinstance(column, pa.ChunkedArray):
            return column
        # Not all versions of pyarrow implement take() for views.
        is_text = column.type not in (pa.binary(), pa.large_binary(), pa.bool_(), pa.int64())
        return (column.cast(pa.string()) if is_text else column).combine_chunks()

    return of_columns
