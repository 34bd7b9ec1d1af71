"""Shared by the hooks into engines: the functions of `bulk` by their names in Python and SQL, and errors of pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from uricodec import bulk
from uricodec._rows.registry import OPERATIONS, Operation, SqlFunction
from uricodec.errors import UriError

__all__ = ["FUNCTIONS", "SHOWN", "SQL_FUNCTIONS", "InSql", "of_a_piece"]

# The maximum number of characters of an invalid row in an error message.
SHOWN = 200

FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(bulk, name) for name in OPERATIONS}


class InSql(NamedTuple):
    """A function of SQL with the operation that it calls."""

    sql: SqlFunction
    operation: Operation


SQL_FUNCTIONS = {sql.name: InSql(sql, operation) for operation in OPERATIONS.values() for sql in operation.sql}


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
