"""Shared by the hooks into engines: the functions of `bulk` by their names in Python and SQL, and errors of pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from uricodec import bulk
from uricodec.bulk._operation import Operation, SqlFunction
from uricodec.bulk._operations import OPERATIONS
from uricodec.errors import UriError

__all__ = ["FUNCTIONS", "SHOWN", "SQL_FUNCTIONS", "InSql", "check_arguments", "of_a_piece"]

# The maximum number of characters of an invalid row in an error message.
SHOWN = 200

FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(bulk, name) for name in OPERATIONS}


class InSql(NamedTuple):
    """A function of SQL with the operation that it calls."""

    sql: SqlFunction
    operation: Operation


SQL_FUNCTIONS = {sql.name: InSql(sql, operation) for operation in OPERATIONS.values() for sql in operation.sql}


def check_arguments(operation: Operation, given: dict[str, Any], columns: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the arguments that are values, and raise for wrong ones here, not in a plan or a worker.

    Args:
        operation (Operation): The operation.
        given (dict[str, Any]): The arguments.
        columns (dict[str, Any]): Those of them that are columns of the engine.
        kind (str): What these are, for errors.
    """
    for name in columns:
        if name not in operation.columns:
            raise TypeError(f"{operation.name}: {name} must be a value, not {kind}")
    rows: list[Any] = []
    FUNCTIONS[operation.name](rows, **given | {name: rows for name in columns})
    return {name: value for name, value in given.items() if name not in columns}


def of_a_piece(name: str, error: UriError) -> ValueError:
    """Return the error for an engine that runs a column in pieces.

    Its message shows the row itself: the index of the row in the column is unknown.

    Args:
        name (str): The name of the function in the engine.
        error (UriError): The error of the operation; its row is that in the piece.

    >>> of_a_piece("uri_decode", UriError("malformed triplet", "100%", 3))
    ValueError("uri_decode: malformed triplet at offset 3 of '100%'")
    """
    text: Any = error.input
    at = error.offset
    start = max(min(at - SHOWN // 2, len(text) - SHOWN), 0)
    shown = f"{'...' * (start > 0)}{text[start : start + SHOWN]!r}{'...' * (start + SHOWN < len(text))}"
    return ValueError(f"{name}: {error.reason} at offset {at} of {shown}")
