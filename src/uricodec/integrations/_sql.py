"""Functions of SQL for engines that hand over columns of pyarrow: what an operation is asked for, and its arguments.

In SQL the last arguments of a function may be left out, and each may be a column. Rows that have the same arguments are
done together, by one call of `uricodec.bulk`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uricodec.integrations._operations import SQL_FUNCTIONS

Compute = Callable[..., Any]


def how_of(name: str, errors: str) -> dict[str, Any]:
    """What a function asks of its operation, besides its arguments.

    Args:
        name (str): Of the function.
        errors (str): "null", "keep", "raise" or "replace", as of `register`.

    Raises:
        ValueError: There is no such function or policy.

    >>> how_of("uri_decode", "replace"), how_of("uri_normalize", "replace"), how_of("is_urn", "null")
    ({'errors': 'replace'}, {'errors': 'null'}, {'errors': 'keep'})
    """
    if name not in SQL_FUNCTIONS:
        raise ValueError(f"no function {name!r}; there are: {', '.join(SQL_FUNCTIONS)}")
    if errors not in ("null", "keep", "raise", "replace"):
        raise ValueError(f"neither 'null', 'keep', 'raise' nor 'replace': {errors!r}")
    sql, operation = SQL_FUNCTIONS[name]
    return {"errors": errors if errors in operation.policies else "null", **sql.fixed}


def array_of(column: Any) -> Any:
    """A column as engines take it: octets of a fixed length are nothing that all of them know, or read rightly."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    array = pa.array(column)
    return array.cast(pa.binary()) if pa.types.is_fixed_size_binary(array.type) else array


def arity(name: str) -> str:
    """What to say of too many arguments."""
    arguments = SQL_FUNCTIONS[name].sql.parameters
    return f"{name} has {1 + len(arguments)} arguments at most: {', '.join(('name', *arguments))}"


def with_arguments(name: str, compute: Compute) -> Compute:
    """A function whose last arguments are columns as well. One that is NULL makes the row NULL.

    Args:
        name (str): Of the function.
        compute (Callable): What it does with a column of pyarrow and its last arguments, as str.

    Returns:
        Callable: The same of columns.
    """
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped,import-not-found,unused-ignore]

    arguments = SQL_FUNCTIONS[name].sql.parameters

    def one(column: Any, values: tuple[Any, ...]) -> Any:
        if None in values:
            return compute(pa.nulls(len(column), pa.string()))
        for argument, value in zip(arguments, values, strict=False):
            if not isinstance(value, str):
                raise TypeError(f"{name}: {argument} is text, not {value!r}")
        return compute(column, *values)

    def of_columns(column: Any, *given: Any) -> Any:
        if len(given) > len(arguments):
            raise TypeError(arity(name))
        if not given or not len(column):
            return compute(column)
        distinct = [pc.unique(values) for values in given]
        if all(len(values) == 1 for values in distinct):
            return one(column, tuple(values[0].as_py() for values in distinct))
        rows_with: dict[tuple[Any, ...], list[int]] = {}
        for row, values in enumerate(zip(*(values.to_pylist() for values in given), strict=True)):
            rows_with.setdefault(values, []).append(row)
        if isinstance(column, pa.ChunkedArray):  # of views, of which not all versions of pyarrow take rows
            column = column.cast(pa.string()).combine_chunks()
        parts = [array_of(one(column.take(pa.array(rows)), values)) for values, rows in rows_with.items()]
        order = pa.array([row for rows in rows_with.values() for row in rows])
        return pa.concat_arrays(parts).take(pc.array_sort_indices(order))

    return of_columns
