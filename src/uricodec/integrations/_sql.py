"""Functions of SQL for engines that pass columns of pyarrow: options and arguments of the operations.

In SQL the last arguments of a function may be omitted, and each may be a column. One call of `uricodec.bulk` runs all
rows with the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uricodec.integrations._operations import SQL_FUNCTIONS

Compute = Callable[..., Any]


def fixed_arguments(name: str, errors: str) -> dict[str, Any]:
    """Return the fixed arguments that a function of SQL gives to its operation.

    Args:
        errors (str): "null", "keep", "raise" or "replace"; see `register`.

    >>> [fixed_arguments(name, "replace") for name in ("uri_decode", "uri_normalize", "is_valid_urn")]
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


def with_arguments(name: str, compute: Compute) -> Compute:
    """Return a function whose last arguments are columns, too. If an argument is NULL, the result is NULL.

    Args:
        compute (Callable): The function of a column of pyarrow; its last arguments are str or bool.
    """
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped,import-not-found,unused-ignore]

    sql, operation = SQL_FUNCTIONS[name]
    arguments, required = sql.parameters, tuple(operation.required.values())
    types = {parameter.name: parameter.type for parameter in operation.parameters}

    def one(column: Any, values: tuple[Any, ...]) -> Any:
        if None in values:
            return compute(pa.nulls(len(column), pa.string()), *required)
        for argument, value in zip(arguments, values, strict=False):
            if types[argument] == "bool" and not isinstance(value, bool):
                raise TypeError(f"{name}: {argument} must be a boolean, got {value!r}")
            is_number = type(value) is int and types[argument].startswith("UrnRfc")
            if types[argument] != "bool" and not isinstance(value, str) and not is_number:
                raise TypeError(f"{name}: {argument} must be text, got {value!r}")
        return compute(column, *values)

    def of_columns(column: Any, *given: Any) -> Any:
        if not len(column):
            return compute(column, *required)
        if not len(required) <= len(given) <= len(arguments):
            raise TypeError(arity(name))
        if not given:
            return compute(column)
        distinct = [pc.unique(values) for values in given]
        if all(len(values) == 1 for values in distinct):
            return one(column, tuple(values[0].as_py() for values in distinct))
        rows_with: dict[tuple[Any, ...], list[int]] = {}
        for row, values in enumerate(zip(*(values.to_pylist() for values in given), strict=True)):
            rows_with.setdefault(values, []).append(row)
        if isinstance(column, pa.ChunkedArray):  # not all versions of pyarrow implement take() for views
            column = column.cast(pa.string()).combine_chunks()
        parts = [array_of(one(column.take(pa.array(rows)), values)) for values, rows in rows_with.items()]
        order = pa.array([row for rows in rows_with.values() for row in rows])
        return pa.concat_arrays(parts).take(pc.array_sort_indices(order))

    return of_columns
