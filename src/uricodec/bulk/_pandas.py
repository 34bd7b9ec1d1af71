"""Columns of pandas: a Series becomes a Series, an Index becomes an Index.

Columns stored by Arrow are run as Arrow arrays; objects, and text stored by Python, as a list. This module imports
pandas, and is imported with the first column of pandas.
"""

from __future__ import annotations

from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

from uricodec._base.extras import need
from uricodec._rows.kinds import is_missing
from uricodec.bulk._calls import Call

_ARROW = "string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null"


def is_text(column: Any) -> bool:
    """Return whether a Series or Index may contain text or bytes. Objects are checked one by one when they are read."""
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

    Returns:
        pd.Series | pd.Index | pd.DataFrame: A result of the same type, with the same index and name; text has the same
            dtype. A DataFrame if a row has several fields.
    """
    if not is_text(column):
        raise TypeError(f"expected text or bytes, got {type(column).__name__} of dtype {column.dtype}")
    if isinstance(column, pd.Series):
        return _of_series(column, call)
    # Index.to_series(), and an Index without an explicit dtype, would convert objects to str.
    result = _of_series(pd.Series(column, index=column, dtype=column.dtype), call)
    return pd.Index(result, dtype=result.dtype, name=column.name) if isinstance(result, pd.Series) else result


def list_or_arrow(column: Any) -> Any:
    """Return a column among the arguments of a call as a list, or as an Arrow object."""
    if not is_text(column):
        raise TypeError(f"expected text or bytes, got {type(column).__name__} of dtype {column.dtype}")
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        column, dtype = column.astype(_stored(dtype)), _stored(dtype)
    if isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage != "python"):
        return column.array.__arrow_array__()
    return [None if not isinstance(row, (str, bytes)) and is_missing(row) else row for row in column.tolist()]


def _of_series(column: pd.Series, call: Call) -> Any:
    """Return the result of a Series: a Series, or a DataFrame if a row has several fields."""
    if call.has_tuples and isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(_stored(column.dtype))
    dtype = column.dtype
    if call.operation.result == "list" and not isinstance(_stored(dtype), pd.ArrowDtype):
        result = _of_objects(column.astype(object), call)
    elif isinstance(dtype, pd.CategoricalDtype):
        result = _of_categories(column, call)
    elif isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage != "python"):
        result = _of_arrow(column.array.__arrow_array__(), call, dtype)
    else:
        result = _of_objects(column, call)
    result.index = column.index
    if isinstance(result, pd.Series):
        result.name = column.name
    return result


def _stored(dtype: Any) -> Any:
    """Return the dtype of the values: that of the categories of a Categorical."""
    if isinstance(dtype, pd.CategoricalDtype):
        return None if dtype.categories is None else dtype.categories.dtype
    return dtype


def _verdicts(rows: Any, nulls: bool, dtype: Any) -> pd.Series:
    """Return verdicts on a column of this dtype: bool, or the nullable boolean if the column can contain nulls."""
    nullable = nulls or (isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA)
    return pd.Series(rows, dtype="boolean" if nullable else bool)


# --- columns stored by Arrow ------------------------------------------------------------------------------------------


def _of_arrow(column: Any, call: Call, dtype: Any) -> Any:
    """Return the result of an Arrow column. Text gets this dtype."""
    need("pandas", "pyarrow")
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    done = pa.chunked_array(call.on_arrow(column))
    fields = call.fields
    if not fields:
        return _from_arrow(done, dtype)
    return pd.DataFrame({field: _from_arrow(part, dtype) for field, part in zip(fields, done.flatten(), strict=True)})


def _from_arrow(done: Any, dtype: Any) -> pd.Series:
    """Return a Series with the dtypes that pandas uses together with this one."""
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
    """Return the result of a Categorical. Text is a Categorical again; values that become equal are merged."""
    need("pandas", "pyarrow")
    import pyarrow as pa

    categories = column.cat.categories
    if not len(categories):
        categories = pd.Index([], dtype=object)
        column = column.cat.set_categories(categories)
    if pd.api.types.is_object_dtype(categories.dtype) and not any(
        all(isinstance(value, kind) for value in categories) for kind in (str, bytes)
    ):
        raise TypeError("categories must be all str or all bytes")
    source = pa.array(column.array)
    if call.operation.result != "text":
        return _of_arrow(source, call, categories.dtype)
    done = pa.array(call.on_arrow(source))
    values = _from_arrow(pa.chunked_array([done.dictionary]), categories.dtype)
    codes = done.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(values, dtype=values.dtype), ordered=done.type.ordered))


# --- columns of objects -----------------------------------------------------------------------------------------------


def _of_objects(column: pd.Series, call: Call) -> Any:
    """Return the result of objects, or of text stored by Python."""
    dtype, rows = column.dtype, column.to_numpy(dtype=object).tolist()
    operation = call.operation
    if call.fields:
        columns = zip(call.fields, call.on_list(rows, is_missing, _nones), strict=True)
        return pd.DataFrame(
            {
                field: pd.Series(values, dtype="Int64" if field == "offset" else dtype, copy=False)
                for field, values in columns
            },
            copy=False,
        )
    done = call.on_list(rows, is_missing)
    if operation.result == "verdict":
        return _verdicts(done, None in done, dtype)
    filled = np.fromiter(done, object, len(done))
    return pd.Series(filled, dtype=object if operation.result in ("fingerprint", "list") else dtype, copy=False)


def _nones(count: int) -> Any:
    return np.full(count, None, object)
