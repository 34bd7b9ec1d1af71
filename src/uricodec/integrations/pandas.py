"""The accessor `uricodec` of Series and Index in pandas; importing this module registers it.

Every operation of `uricodec.bulk` is a method with the same arguments; of those that all share, it has `errors`,
`invalid` and `threads`. Text keeps its dtype, index and name; missing rows stay missing. Columns stored by Arrow are
run without Python objects. Of a Categorical, only the categories are processed.

>>> import pandas as pd
>>> import uricodec.integrations.pandas
>>> pd.Series(["/caf%C3%A9", None, "/plain"]).uricodec.unquote().dropna().tolist()
['/café', '/plain']
>>> pd.Series(["urn:example:a#b"]).uricodec.split_urn()["nss"].tolist()
['a']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uricodec._base.extras import need

try:
    import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]
except ModuleNotFoundError:
    need("pandas", "pandas")
    raise

from uricodec.bulk._pandas import is_text
from uricodec.integrations._methods import with_operations
from uricodec.integrations._operations import FUNCTIONS

__all__ = ["UricodecIndex", "UricodecSeries"]


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from uricodec.integrations._signatures import ColumnMethods

    _SeriesMethods = ColumnMethods[pd.Series, pd.DataFrame]
    _IndexMethods = ColumnMethods[pd.Index, pd.DataFrame]
else:
    _SeriesMethods = _IndexMethods = object

_RETURNS = {
    "text": "The dtype of the column.",
    "verdict": "bool; boolean if a row is missing; bool[pyarrow] if the column has an ArrowDtype.",
    "diagnostic": "Code and offset of each row, missing if the row is valid. An offset counts characters of a str "
    "object, bytes otherwise.",
    "component": "Text or bytes, as in the column; missing if a row has no such component.",
    "list": "Objects: lists of text, or of tuples for `query_pairs`. Arrow lists if the column has an ArrowDtype.",
    "struct": "The components; undefined components and missing rows are missing.",
    "fingerprint": "bytes objects; binary(16)[pyarrow] if the column has an ArrowDtype.",
}


class _Accessor:
    def __init__(self, column: Any) -> None:
        if not is_text(column):
            raise AttributeError(f"the accessor uricodec expects text or bytes, got {column.dtype}")
        self._column = column

    def _run(self, name: str, given: dict[str, Any]) -> Any:
        return FUNCTIONS[name](self._column, **given)


@pd.api.extensions.register_series_accessor("uricodec")
@with_operations("pd.Series, or pd.DataFrame of several fields", ["errors", "invalid", "threads"], _RETURNS)
class UricodecSeries(_Accessor, _SeriesMethods):
    """The operations on a Series.

    Args:
        column (pd.Series): The rows: objects, strings of any storage, Arrow strings and binary, Categorical of these.

    Raises:
        AttributeError: If the Series has another dtype.

    >>> import pandas as pd
    >>> pd.Series(["a%20b", "100%"]).uricodec.unquote(errors="null").isna().tolist()
    [False, True]
    """


@pd.api.extensions.register_index_accessor("uricodec")
@with_operations("pd.Index, or pd.DataFrame of several fields", ["errors", "invalid", "threads"], _RETURNS)
class UricodecIndex(_Accessor, _IndexMethods):
    """The operations on an Index.

    Args:
        column (pd.Index): The rows, as in `UricodecSeries`.

    Raises:
        AttributeError: If the Index has another dtype or several levels.

    >>> import pandas as pd
    >>> pd.Index(["/a%20b"]).uricodec.unquote().tolist()
    ['/a b']
    """
