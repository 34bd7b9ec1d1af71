"""The namespace `uricodec` of expressions and Series in Polars; importing this module registers it.

Every operation of `uricodec.bulk` is a method with the same arguments; of those that all share, an expression has
`errors`, a Series also `invalid` and `threads`. Expressions are elementwise: a lazy plan runs them piece by piece on
the threads of Polars, and the GIL is released meanwhile.

>>> import polars as pl
>>> import uricodec.integrations.polars
>>> log = pl.LazyFrame({"path": ["/caf%C3%A9", None, "/plain"]})
>>> log.select(pl.col("path").uricodec.unquote()).collect().to_series().to_list()
['/café', None, '/plain']
>>> pl.Series(["urn:example:a#b"]).uricodec.split_urn().struct.field("nss").to_list()
['a']

Type checkers do not see a namespace that is registered at run time. `col` is `polars.col`, declared to have it, and
`UricodecExpr(expression)` and `UricodecSeries(series)` are the namespaces of any expression and Series:

>>> from uricodec.integrations.polars import UricodecExpr, col
>>> log.select(col("path").uricodec.unquote().str.len_chars()).collect().to_series().to_list()
[5, None, 6]
>>> log.select(UricodecExpr(pl.col("path").str.slice(1)).unquote()).collect().to_series().to_list()
['café', None, 'plain']
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from uricodec._base.extras import need
from uricodec.bulk._calls import plan_of
from uricodec.bulk._operations import OPERATIONS
from uricodec.errors import UriError
from uricodec.integrations._methods import with_operations
from uricodec.integrations._operations import FUNCTIONS, check_arguments, of_a_piece

try:
    import polars as pl  # type: ignore[import-not-found,unused-ignore]
except ModuleNotFoundError:
    need("polars", "polars")
    raise

__all__ = ["UricodecExpr", "UricodecSeries", "col"]


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from uricodec.integrations._signatures import ColumnMethods, ExpressionMethods

    class _Expr(pl.Expr):
        """An expression for type checkers, which do not see registered namespaces."""

        @property
        def uricodec(self) -> UricodecExpr: ...

    class _Col:
        def __call__(self, name: Any, *more_names: Any) -> _Expr: ...
        def __getattr__(self, name: str) -> _Expr: ...

    _ExpressionMethods = ExpressionMethods[_Expr, _Expr]
    _SeriesMethods = ColumnMethods[pl.Series, pl.Series]
    col: _Col
else:
    _ExpressionMethods = _SeriesMethods = object
    col = pl.col

# From this number of rows on, a piece is taken for a whole column of a plan that does not stream, and several threads
# run it. Pieces of streaming plans are much smaller, and Polars runs one on each core.
_WHOLE = 1_000_000
# Each chunk costs a call some KiB and microseconds. Chunks with fewer rows are joined, at 16 bytes a row.
_CHUNK = 32_768

_TEXT = pl.String, pl.Binary, pl.Categorical, pl.Enum, pl.Null


def _dtype(name: str, given: dict[str, Any]) -> Any:
    """Return the dtype of the result of an operation, for the schema of a plan."""
    operation = OPERATIONS[name]
    fields = operation.fields
    if operation.result == "text":
        return pl.self_dtype()
    if operation.result == "verdict":
        return pl.Boolean
    if operation.result == "fingerprint":
        return pl.Binary
    if operation.result == "component":
        own = {name: given[name] for name in operation.names if name in given}
        fields = plan_of(operation, (), own)(True, b"").fields
        if not fields:
            return pl.String
    numbers = {"offset": pl.Int64} if operation.result == "diagnostic" else {}
    struct = pl.Struct({field: numbers.get(field, pl.String) for field in fields})
    if operation.result == "list":
        return pl.List(struct if fields else pl.String)
    return struct


def _rows(column: pl.Series, name: str, given: dict[str, Any]) -> pl.Series:
    """Return the result of a column."""
    kind, dtype = OPERATIONS[name].result, column.dtype
    if not isinstance(dtype, _TEXT):
        raise TypeError(f"{name}: expected a column of String, Binary, Categorical or Enum, got {dtype}")
    if kind == "text" and isinstance(dtype, pl.Enum):
        raise TypeError(f"{name}: an Enum cannot contain new strings; cast it to String or Categorical")
    if column.n_chunks() > 1 and len(column) < _CHUNK * column.n_chunks():
        column = column.rechunk()
    if isinstance(dtype, pl.Binary) and kind in ("component", "list", "struct"):
        column = _utf8(column)
    result: pl.Series = FUNCTIONS[name](column, **given)
    wanted = dtype if kind == "text" else _dtype(name, given)
    return result if result.dtype == wanted else result.cast(wanted)


def _utf8(column: pl.Series) -> pl.Series:
    """Return a Binary column as String, because components are Strings. U+FFFD replaces bytes that are not UTF-8."""
    try:
        return column.cast(pl.String)
    except pl.exceptions.ComputeError:
        rows = [row if row is None else row.decode("utf-8", "replace") for row in column]
        return pl.Series(column.name, rows, pl.String)


def _pieces(columns: Sequence[pl.Series], name: str, names: list[str], given: dict[str, Any]) -> pl.Series:
    """Return the result of pieces of a column and of columns among the arguments.

    A piece of one row, a literal, is for all rows.
    """
    length = max(map(len, columns)) if min(map(len, columns)) else 0
    column, *others = (each if len(each) == length else each.new_from_index(0, length) for each in columns)
    return _piece(column, name, given | dict(zip(names, others, strict=True)))


def _piece(column: pl.Series, name: str, given: dict[str, Any]) -> pl.Series:
    """Return the result of a piece of a column."""
    try:
        return _rows(column, name, given | {"threads": None if len(column) >= _WHOLE else 1})
    except UriError as error:
        raise of_a_piece(name, error) from None


_RETURNS = {
    "text": "The dtype of the column: String, Binary or Categorical.",
    "verdict": "Boolean.",
    "diagnostic": "Struct of code (String) and offset in bytes (Int64), or null where nothing is wrong.",
    "component": "String; null if a row has no such component. For several names a Struct of Strings.",
    "list": "List of Strings; of Structs of name and value for `query_pairs`.",
    "struct": "Struct of Strings: the components, null where they are undefined.",
    "fingerprint": "Binary, 16 bytes.",
}


@pl.api.register_expr_namespace("uricodec")
@with_operations("pl.Expr", ["errors"], _RETURNS)
class UricodecExpr(_ExpressionMethods):
    """The operations on an expression.

    Args:
        column (pl.Expr): The rows: String, Binary, Categorical; Enum if the result is not text.

    >>> import polars as pl
    >>> pl.select(pl.lit("a%20b").uricodec.unquote()).item()
    'a b'
    """

    def __init__(self, column: pl.Expr) -> None:
        self._column = column

    def _run(self, name: str, given: dict[str, Any]) -> pl.Expr:
        columns = {key: value for key, value in given.items() if isinstance(value, pl.Expr)}
        for key, value in given.items():
            if isinstance(value, pl.Series):
                raise TypeError(f"{name}: {key} must be a value or an expression, not a Series")
        given = check_arguments(OPERATIONS[name], given, columns, "an expression; use a call for each value")
        if columns:
            return pl.map_batches(
                [self._column, *columns.values()],
                partial(_pieces, name=name, names=list(columns), given=given),
                return_dtype=_dtype(name, given),
                is_elementwise=True,
            )
        return self._column.map_batches(
            partial(_piece, name=name, given=given), return_dtype=_dtype(name, given), is_elementwise=True
        )


@pl.api.register_series_namespace("uricodec")
@with_operations("pl.Series", ["errors", "invalid", "threads"], _RETURNS)
class UricodecSeries(_SeriesMethods):
    """The operations on a Series.

    Args:
        column (pl.Series): The rows, as in `UricodecExpr`.

    >>> import polars as pl
    >>> pl.Series(["a%20b", "100%"]).uricodec.unquote(errors="null").to_list()
    ['a b', None]
    """

    def __init__(self, column: pl.Series) -> None:
        self._column = column

    def _run(self, name: str, given: dict[str, Any]) -> pl.Series:
        return _rows(self._column, name, given)
