"""pandas: `import uricodec.integrations.pandas` gives Series and Index the accessor `uricodec`.

Every operation of `uricodec.bulk` is a method with the same arguments. Text comes out with the dtype that came in, with
its index and its name; what is missing stays missing. Of columns that Arrow holds no Python object is made; of columns
of objects each string is one, as pandas has it. Of a category the values are done, each of them once.

>>> import pandas as pd
>>> import uricodec.integrations.pandas
>>> pd.Series(["/caf%C3%A9", None, "/plain"]).uricodec.unquote().dropna().tolist()
['/café', '/plain']
>>> pd.Series(["urn:example:a#b"]).uricodec.split_urn()["nss"].tolist()
['a']
"""

from __future__ import annotations

from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

from uricodec.integrations._methods import with_operations
from uricodec.integrations._operations import OPERATIONS, Operation

__all__ = ["UricodecIndex", "UricodecSeries"]

_ARROW = "string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null"


def _is_text(dtype: Any) -> bool:
    """Whether a column of this dtype may have text or octets. Of objects that shows when they are read."""
    if isinstance(dtype, pd.CategoricalDtype):
        return dtype.categories is None or not len(dtype.categories) or _is_text(dtype.categories.dtype)
    if isinstance(dtype, pd.ArrowDtype):
        type_ = dtype.pyarrow_dtype
        return str(type_.value_type if str(type_).startswith("dictionary<") else type_) in _ARROW
    return isinstance(dtype, pd.StringDtype) or bool(pd.api.types.is_object_dtype(dtype))


def _do(column: pd.Series, name: str, given: dict[str, Any]) -> Any:
    """What comes out of a column: a Series, or a DataFrame of what has several fields."""
    dtype, operation = column.dtype, OPERATIONS[name]
    if isinstance(dtype, pd.CategoricalDtype):
        result = _of_categories(column, operation, given)
    elif isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage != "python"):
        result = _of_arrow(column.array.__arrow_array__(), operation, given, dtype)
    else:
        result = _of_objects(column, operation, given)
    result.index = column.index
    if isinstance(result, pd.Series):
        result.name = column.name
    return result


def _verdicts(rows: Any, nulls: bool, dtype: Any) -> pd.Series:
    """Verdicts on a column of this dtype. Only what is a bool in every row is bool, unless pandas says pd.NA there."""
    nullable = nulls or (isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA)
    return pd.Series(rows, dtype="boolean" if nullable else bool)


# --- columns that Arrow holds -----------------------------------------------------------------------------------------


def _of_arrow(column: Any, operation: Operation, given: dict[str, Any], dtype: Any) -> Any:
    """What comes out of an Arrow column; what is text there has this dtype."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    done = pa.chunked_array(operation.function(column, **given))
    if not operation.fields:
        return _from_arrow(done, dtype)
    return pd.DataFrame(
        {field: _from_arrow(part, dtype) for field, part in zip(operation.fields, done.flatten(), strict=True)}
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


def _of_categories(column: pd.Series, operation: Operation, given: dict[str, Any]) -> Any:
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
    if operation.result != "text":
        return _of_arrow(source, operation, given, categories.dtype)
    done = pa.array(operation.function(source, **given))
    values = _from_arrow(pa.chunked_array([done.dictionary]), categories.dtype)
    codes = done.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Series(
        pd.Categorical.from_codes(codes, pd.Index(values, dtype=values.dtype), ordered=done.type.ordered)
    )


# --- columns of objects -----------------------------------------------------------------------------------------------


def _of_objects(column: pd.Series, operation: Operation, given: dict[str, Any]) -> Any:
    """What comes out of str, bytes and what is missing."""
    dtype, values = column.dtype, column.to_numpy(dtype=object)
    missing = None
    try:
        done = operation.function(values.tolist(), **given)
    except TypeError:  # None is the one missing value that a list has
        missing = pd.isna(values)
        if not missing.any():
            raise
        rows = values.copy()
        rows[missing] = None
        done = operation.function(rows.tolist(), **given)
    if operation.result == "verdict":
        return _verdicts(done, None in done, dtype)
    if operation.fields:
        return pd.DataFrame(
            {
                field: pd.Series([row and row[field] for row in done], dtype="Int64" if field == "offset" else dtype)
                for field in operation.fields
            }
        )
    filled = np.fromiter(done, object, len(done))
    if operation.result == "fingerprint":
        return pd.Series(filled, dtype=object)
    if missing is not None:
        filled[missing] = values[missing]
    return pd.Series(filled, dtype=dtype, copy=False)


# --- accessors --------------------------------------------------------------------------------------------------------

_FIELDS = "fields that are undefined, and rows that are missing, are missing"


@pd.api.extensions.register_series_accessor("uricodec")
@with_operations(
    ["errors", "faults", "threads"],
    {
        "text": "pd.Series: Of the dtype that came in.",
        "verdict": "pd.Series: bool; boolean where a row is missing; bool[pyarrow] of an ArrowDtype.",
        "fault": "pd.DataFrame: code and offset of each row, missing where nothing is wrong. An offset counts\n"
        "        characters of a str that is an object, octets of all else.",
        "split": f"pd.DataFrame: The components; {_FIELDS}.",
        "fingerprint": "pd.Series: bytes, as objects; binary(16)[pyarrow] of an ArrowDtype.",
    },
)
class UricodecSeries:
    """The operations, of a Series.

    Args:
        column (pd.Series): The rows: objects, text of any storage, text and octets of Arrow, or a category of them.

    Raises:
        AttributeError: It has another dtype.

    >>> import pandas as pd
    >>> pd.Series(["a%20b", "100%"]).uricodec.unquote(errors="null").isna().tolist()
    [False, True]
    """

    def __init__(self, column: pd.Series) -> None:
        if not _is_text(column.dtype):
            raise AttributeError(f"the accessor uricodec is for text and octets, not for {column.dtype}")
        self._column = column

    def _do(self, name: str, given: dict[str, Any]) -> Any:
        return _do(self._column, name, given)


@pd.api.extensions.register_index_accessor("uricodec")
@with_operations(
    ["errors", "faults", "threads"],
    {
        "text": "pd.Index: Of the dtype that came in.",
        "verdict": "pd.Index: As of Series.",
        "fault": "pd.DataFrame: As of Series; its index is this one.",
        "split": f"pd.DataFrame: The components; {_FIELDS}. Its index is this one.",
        "fingerprint": "pd.Index: bytes, as objects; binary(16)[pyarrow] of an ArrowDtype.",
    },
)
class UricodecIndex:
    """The operations, of an Index.

    Args:
        index (pd.Index): The rows, as of `UricodecSeries`.

    Raises:
        AttributeError: It has another dtype, or several levels.

    >>> import pandas as pd
    >>> pd.Index(["/a%20b"]).uricodec.unquote().tolist()
    ['/a b']
    """

    def __init__(self, index: pd.Index) -> None:
        if isinstance(index, pd.MultiIndex) or not _is_text(index.dtype):
            raise AttributeError(f"the accessor uricodec is for text and octets, not for {index.dtype}")
        self._index = index

    def _do(self, name: str, given: dict[str, Any]) -> Any:
        # Its own to_series(), and an Index without a dtype, make str of objects.
        index = self._index
        result = _do(pd.Series(index, index=index, dtype=index.dtype), name, given)
        return pd.Index(result, dtype=result.dtype, name=index.name) if isinstance(result, pd.Series) else result
