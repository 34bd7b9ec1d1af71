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

import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]

from uricodec.bulk._pandas import is_text
from uricodec.integrations._methods import with_operations
from uricodec.integrations._operations import FUNCTIONS

__all__ = ["UricodecIndex", "UricodecSeries"]

# --- accessors --------------------------------------------------------------------------------------------------------

_FIELDS = "fields that are undefined, and rows that are missing, are missing"


@pd.api.extensions.register_series_accessor("uricodec")
@with_operations(
    ["errors", "invalid", "threads"],
    {
        "text": "pd.Series: Of the dtype that came in.",
        "verdict": "pd.Series: bool; boolean where a row is missing; bool[pyarrow] of an ArrowDtype.",
        "diagnostic": "pd.DataFrame: code and offset of each row, missing where nothing is wrong. An offset counts\n"
        "        characters of a str that is an object, octets of all else.",
        "struct": f"pd.DataFrame: The components; {_FIELDS}.",
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
        if not is_text(column):
            raise AttributeError(f"the accessor uricodec is for text and octets, not for {column.dtype}")
        self._column = column

    def _do(self, name: str, given: dict[str, Any]) -> Any:
        return FUNCTIONS[name](self._column, **given)


@pd.api.extensions.register_index_accessor("uricodec")
@with_operations(
    ["errors", "invalid", "threads"],
    {
        "text": "pd.Index: Of the dtype that came in.",
        "verdict": "pd.Index: As of Series.",
        "diagnostic": "pd.DataFrame: As of Series; its index is this one.",
        "struct": f"pd.DataFrame: The components; {_FIELDS}. Its index is this one.",
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
        if not is_text(index):
            raise AttributeError(f"the accessor uricodec is for text and octets, not for {index.dtype}")
        self._index = index

    def _do(self, name: str, given: dict[str, Any]) -> Any:
        return FUNCTIONS[name](self._index, **given)
