"""What kind of column an object is. No library is imported to find out: the caller has imported its own."""

from __future__ import annotations

import sys
from typing import Any

from uricodec._rows._columns import Column


def is_instance(column: Any, module: str, *names: str) -> bool:
    """Return whether a column is an instance of a class of a module. False if the module is not imported."""
    found = sys.modules.get(module)
    if found is not None:
        for name in names:
            if isinstance(column, getattr(found, name, ())):
                return True
    return False


def is_pandas(column: Any) -> bool:
    """Return whether a column is a Series or an Index of pandas."""
    return is_instance(column, "pandas", "Series", "Index")


def is_arrow(column: Any) -> bool:
    """Return whether a column is an object of the Arrow PyCapsule interface."""
    # A Series of Polars, which has the second, takes long to say that it lacks an attribute.
    return hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__")


def is_column(value: Any) -> bool:
    """Return whether an argument is a column, not one value."""
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return False
    return (
        isinstance(value, (list, tuple))
        or is_arrow(value)
        or is_pandas(value)
        or is_instance(value, "numpy", "ndarray")
    )


def like(column: Any, found: Column) -> Any:
    """Return the result for an Arrow object: a Series for one of Polars, with the same chunks, else as it is found."""
    if not is_instance(column, "polars", "Series"):
        return found
    polars = sys.modules["polars"]
    if len(found.arrays) < 2:
        return polars.Series(column.name, found)
    # Series() alone would copy the chunks into one
    parts = [polars.Series(column.name, Column(found.type, [array])) for array in found.arrays]
    return polars.concat(parts, rechunk=False)


def items(column: Any) -> list[Any]:
    """Return the rows of a NumPy array as a list."""
    if column.ndim != 1:
        raise TypeError(f"expected an array of one dimension, got {column.ndim}")
    found: list[Any] = column.tolist()
    return found


def is_missing(value: Any) -> bool:
    """Return whether pandas and NumPy take an object for a missing row: NaN, NaT, NA."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        return pandas.isna(value) is True
    return isinstance(value, (float, sys.modules["numpy"].generic)) and bool(value != value)  # noqa: PLR0124


def is_file(column: Any) -> bool:
    """Return whether an object, not of Arrow, is a file: only read() is needed. A memory map is a buffer, too."""
    if hasattr(column, "readinto"):
        return True
    if not hasattr(column, "read"):
        return False
    try:
        memoryview(column)
    except (TypeError, ValueError):
        return True
    return False


def buffer_of(column: Any) -> memoryview | bytes:
    """Return the bytes of an object, which are lines. The numbers of an array are none."""
    name = type(column).__name__
    try:
        found = column if isinstance(column, bytes) else memoryview(column)
    except (TypeError, ValueError):  # ValueError is NumPy's, for types without a buffer
        raise TypeError(f"expected a list, Arrow object, bytes-like object or file, got {name}") from None
    if isinstance(found, memoryview) and found.itemsize != 1:
        raise TypeError(f"expected a buffer of bytes, got {name} with items of format {found.format!r}")
    return found
