"""Columns of pandas: a Series comes out as a Series, an Index as an Index, for `bulk` and for the accessors alike.

Columns that Arrow holds stay in Arrow; objects, and text that Python holds, are a list for as long as the call lasts.
This module is imported when a column of pandas comes in, and imports pandas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

_ARROW = "string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null"


class Call(NamedTuple):
    """An operation of `bulk` with its arguments.

    Attributes:
        run (Callable): It: a list or an Arrow array. Of a list, the values that pandas takes for missing rows stay, and
            with `columns`, which makes an array of None, a result that has fields is such an array for each of them.
        result (str): The kind of result: "text", "verdict", "diagnostic", "struct" or "fingerprint".
        fields (tuple[str, ...]): The names in a "diagnostic" or a "struct".
    """

    run: Callable[..., Any]
    result: str
    fields: tuple[str, ...]


def is_text(column: Any) -> bool:
    """Whether a Series or Index may have text or bytes. Of objects that shows when they are read."""
    return not isinstance(column, pd.MultiIndex) and _is_text(column.dtype)


def _is_text(dtype: Any) -> bool:
    if isinstance(dtype, pd.CategoricalDtype):
        return dtype.categories is None or not len(dtype.categories) or _is_text(dtype.categories.dtype)
    if isinstance(dtype, pd.ArrowDtype):
        type_ = dtype.pyarrow_dtype
        return str(type_.value_type if str(type_).startswith("dictionary<") else type_) in _ARROW
    return isinstance(dtype, pd.StringDtype) or bool(pd.api.types.is_object_dtype(dtype))


def run_on_column(column: Any, call: Call) -> Any:
    """Run an operation on a Series or Index.

    Args:
        column (pd.Series | pd.Index): The rows.
        call (Call): What to do with them.

    Returns:
        pd.Series | pd.Index | pd.DataFrame: Of the kind that came in, with its index and name; of text the dtype is
            that of the column. A DataFrame where a row has several fields.

    Raises:
        TypeError: The column has another dtype than text, bytes or object.
    """
    if not is_text(column):
        raise TypeError(f"expected text or bytes, got {type(column).__name__} of dtype {column.dtype}")
    if isinstance(column, pd.Series):
        return _of_series(column, call)
    # Its own to_series(), and an Index without a dtype, make str of objects.
    result = _of_series(pd.Series(column, index=column, dtype=column.dtype), call)
    return pd.Index(result, dtype=result.dtype, name=column.name) if isinstance(result, pd.Series) else result


def _of_series(column: pd.Series, call: Call) -> Any:
    """The result of a Series: a Series, or a DataFrame of what has several fields."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        result = _of_categories(column, call)
    elif isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage != "python"):
        result = _of_arrow(column.array.__arrow_array__(), call, dtype)
    else:
        result = _of_objects(column, call)
    result.index = column.index
    if isinstance(result, pd.Series):
        result.name = column.name
    return result


def _verdicts(rows: Any, nulls: bool, dtype: Any) -> pd.Series:
    """Verdicts on a column of this dtype. Only what is a bool in every row is bool, unless pandas says pd.NA there."""
    nullable = nulls or (isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA)
    return pd.Series(rows, dtype="boolean" if nullable else bool)


# --- columns that Arrow holds -----------------------------------------------------------------------------------------


def _of_arrow(column: Any, call: Call, dtype: Any) -> Any:
    """What comes out of an Arrow column; what is text there has this dtype."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    done = pa.chunked_array(call.run(column))
    if not call.fields:
        return _from_arrow(done, dtype)
    return pd.DataFrame(
        {field: _from_arrow(part, dtype) for field, part in zip(call.fields, done.flatten(), strict=True)}
    )


def _from_arrow(done: Any, dtype: Any) -> pd.Series:
    """A Series, with the dtypes of pandas that go with this one."""
    type_ = str(done.type)
    if isinstance(dtype, pd.ArrowDtype):
        return pd.Series(pd.ArrowDtype(done.type).__from_arrow__(done))
    if type_ == "bool":
        return _verdicts(pd.BooleanDtype().__from_arrow__(done), done.null_count > 0, dtype)
    if type_ == "int64":
        return pd.Series(pd.Int64Dtype().__from_arrow__(done))
    if isinstance(dtype, pd.StringDtype) and type_ in ("string", "large_string"):
        return pd.Series(dtype.__from_arrow__(done))
    return pd.Series(done.to_numpy(), dtype=object)


def _of_categories(column: pd.Series, call: Call) -> Any:
    """What comes out of a category: of text a category, too. Values that become the same are one."""
    import pyarrow as pa

    categories = column.cat.categories
    if not len(categories):
        categories = pd.Index([], dtype=object)
        column = column.cat.set_categories(categories)
    if pd.api.types.is_object_dtype(categories.dtype) and not any(
        all(isinstance(value, kind) for value in categories) for kind in (str, bytes)
    ):
        raise TypeError("a category of objects has to be str alone, or bytes alone")
    source = pa.array(column.array)
    if call.result != "text":
        return _of_arrow(source, call, categories.dtype)
    done = pa.array(call.run(source))
    values = _from_arrow(pa.chunked_array([done.dictionary]), categories.dtype)
    codes = done.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(values, dtype=values.dtype), ordered=done.type.ordered))


# --- columns of objects -----------------------------------------------------------------------------------------------


def _of_objects(column: pd.Series, call: Call) -> Any:
    """The result of objects, or of text that Python holds."""
    dtype, rows = column.dtype, column.to_numpy(dtype=object).tolist()
    if call.fields:
        columns = zip(call.fields, call.run(rows, columns=_missing), strict=True)
        return pd.DataFrame(
            {f: pd.Series(part, dtype="Int64" if f == "offset" else dtype, copy=False) for f, part in columns},
            copy=False,
        )
    done = call.run(rows)
    if call.result == "verdict":
        return _verdicts(done, None in done, dtype)
    filled = np.fromiter(done, object, len(done))
    return pd.Series(filled, dtype=object if call.result == "fingerprint" else dtype, copy=False)


def _missing(count: int) -> Any:
    return np.full(count, None, object)
