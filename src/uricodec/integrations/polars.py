"""Polars: `import uricodec.integrations.polars` gives expressions and Series the namespace `uricodec`.

Every operation of `uricodec.bulk` is a method with the same arguments. An expression is elementwise: in a lazy plan it
runs on the threads of Polars, piece by piece, and the interpreter's lock is released meanwhile.

>>> import polars as pl
>>> import uricodec.integrations.polars
>>> log = pl.LazyFrame({"path": ["/caf%C3%A9", None, "/plain"]})
>>> log.select(pl.col("path").uricodec.unquote()).collect().to_series().to_list()
['/café', None, '/plain']
>>> pl.Series(["urn:example:a#b"]).uricodec.split_urn().struct.field("nss").to_list()
['a']
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl  # type: ignore[import-not-found,unused-ignore]

from uricodec._rows.registry import OPERATIONS
from uricodec.bulk import Column
from uricodec.errors import UriError
from uricodec.integrations._methods import with_operations
from uricodec.integrations._operations import FUNCTIONS, of_a_piece

__all__ = ["UricodecExpr", "UricodecSeries"]

# Plans that do not stream hand over a column as a whole. Pieces of those that do are smaller than that by far, and
# Polars has threads for as many of them as there are cores.
_WHOLE = 1_000_000
# Each chunk costs a call some KiB and microseconds. To join chunks of less than that costs 16 octets a row.
_CHUNK = 32_768

_TEXT = pl.String, pl.Binary, pl.Categorical, pl.Enum, pl.Null


def _dtype(name: str) -> Any:
    """The type of what comes out of an operation, as plans want to know it."""
    operation = OPERATIONS[name]
    if operation.result == "text":
        return pl.self_dtype()
    if operation.result == "verdict":
        return pl.Boolean
    if operation.result == "fingerprint":
        return pl.Binary
    numbers = {"offset": pl.Int64} if operation.result == "diagnostic" else {}
    return pl.Struct({field: numbers.get(field, pl.String) for field in operation.fields})


def _rows(column: pl.Series, name: str, given: dict[str, Any]) -> pl.Series:
    """What comes out of the rows of a column."""
    text = OPERATIONS[name].result == "text"
    if not isinstance(column.dtype, _TEXT):
        raise TypeError(f"{name}: a column of String, Binary, Categorical or Enum, not of {column.dtype}")
    if text and column.dtype == pl.Enum:
        raise TypeError(f"{name}: an Enum has no strings but its own; cast it to String or Categorical")
    if column.n_chunks() > 1 and len(column) < _CHUNK * column.n_chunks():
        column = column.rechunk()
    result = _series(column.name, FUNCTIONS[name](column, **given))
    wanted = column.dtype if text else _dtype(name)
    return result if result.dtype == wanted else result.cast(wanted)


def _series(name: str, done: Column) -> pl.Series:
    """A Series of what is done. Polars would copy it into one chunk."""
    if len(done.arrays) < 2:
        return pl.Series(name, done)
    return pl.concat([pl.Series(name, Column(done.type, [array])) for array in done.arrays], rechunk=False)


def _piece(column: pl.Series, name: str, given: dict[str, Any]) -> pl.Series:
    """What comes out of the rows of a piece of a column."""
    try:
        return _rows(column, name, given | {"threads": None if len(column) >= _WHOLE else 1})
    except UriError as error:
        raise of_a_piece(name, error) from None


@pl.api.register_expr_namespace("uricodec")
@with_operations(
    ["errors"],
    {
        "text": "pl.Expr: Strings; octets (Binary) of octets, Categorical of Categorical.",
        "verdict": "pl.Expr: Boolean.",
        "diagnostic": "pl.Expr: Struct of code (String) and offset in bytes (Int64), or null where nothing is wrong.",
        "struct": "pl.Expr: Struct of Strings: the components, null where they are undefined.",
        "fingerprint": "pl.Expr: Binary of 16 octets.",
    },
)
class UricodecExpr:
    """The operations, of an expression.

    Args:
        column (pl.Expr): The rows: String, Binary, Categorical; Enum, where the result is no text.

    >>> import polars as pl
    >>> pl.select(pl.lit("a%20b").uricodec.unquote()).item()
    'a b'
    """

    def __init__(self, column: pl.Expr) -> None:
        self._column = column

    def _do(self, name: str, given: dict[str, Any]) -> pl.Expr:
        FUNCTIONS[name]([], **given)  # what is wrong with arguments is said here, not while the plan runs
        return self._column.map_batches(
            partial(_piece, name=name, given=given), return_dtype=_dtype(name), is_elementwise=True
        )


@pl.api.register_series_namespace("uricodec")
@with_operations(
    ["errors", "invalid", "threads"],
    {
        "text": "pl.Series: Strings; octets (Binary) of octets, Categorical of Categorical.",
        "verdict": "pl.Series: Boolean.",
        "diagnostic": "pl.Series: Struct of code (String) and offset in bytes (Int64), or null where nothing is wrong.",
        "struct": "pl.Series: Struct of Strings: the components, null where they are undefined.",
        "fingerprint": "pl.Series: Binary of 16 octets.",
    },
)
class UricodecSeries:
    """The operations, of a Series.

    Args:
        column (pl.Series): As of `UricodecExpr`.

    >>> import polars as pl
    >>> pl.Series(["a%20b", "100%"]).uricodec.unquote(errors="null").to_list()
    ['a b', None]
    """

    def __init__(self, column: pl.Series) -> None:
        self._column = column

    def _do(self, name: str, given: dict[str, Any]) -> pl.Series:
        return _rows(self._column, name, given)
