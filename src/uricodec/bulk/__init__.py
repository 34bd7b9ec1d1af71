"""Operations on many values in one call: lists, columns, lines in memory and files.

The type of the result depends on the type of the input:

======================================== ====================================== =====================================
input                                    result                                 example
======================================== ====================================== =====================================
list or tuple of str, bytes or None      list                                   ``unquote(["%41", None])``
pandas Series or Index                   the same type (DataFrame if rows have  ``unquote(pd.Series(["%41"]))``
                                         several fields)
Polars Series                            Polars Series                          ``unquote(pl.Series(["%41"]))``
NumPy array of objects, str or bytes     NumPy array of objects                 ``unquote(np.array(["%41"]))``
other Arrow object (pyarrow, DuckDB,     `Column`, an Arrow object              ``unquote(pa.array(["%41"]))``
nanoarrow and so on)
binary file, with `output=` another one  number of lines                        ``unquote(file, output=other)``
bytes-like object: lines                 bytes; `Column` if not text            ``unquote(b"%41\\n")``
======================================== ====================================== =====================================

Nulls stay null. Values that do not change are the same objects in a list, and share the input's buffers in Arrow views.
In pandas and NumPy objects, NaN, NaT and NA are null. Arrow strings, large strings and views keep their type (offsets
become large if 32 bits are too few), and binary stays binary. In dictionary arrays, only the dictionary is processed,
and values that become equal are merged. A table of one column becomes a table.

All functions have these parameters besides their own:

- `errors` (str): How invalid rows are handled; docs/guides/columns.md lists the values of each function. "keep": text
  stays as it is (functions that encode or decode keep only the invalid part), a verdict is false, a fingerprint is
  that of the row. "null": the row becomes null (None, an empty line). "drop": the line is left out (lines and files
  only). "raise": raises a `UriError`, of the class for its grammar, with the index of the row. "replace": U+FFFD
  replaces bytes that are not UTF-8. A str with a lone surrogate is invalid, except for `match`, `is_match`, `redact`
  and `redact_text`, and by the rules of "whatwg". A list item of another type raises a TypeError with its position;
  with "null" it is an invalid row with the code "type".
- `invalid` (InvalidRows | None): Receives the number of invalid rows, and the first of them.
- `threads` (int | None): The maximum number of threads. None: one per core for more than 1 MiB, otherwise one. Lists
  always use one. The order of rows never changes.
- `line_terminator` (bytes): The control character that ends a line. A "\\r" before "\\n" is part of the line ending.
- `output` (binary file | None): Receives the lines of a file. Required for files; functions without it accept none.

No library is imported for columns: the caller has imported it.

>>> from uricodec import bulk
>>> bulk.unquote(["/caf%C3%A9", None, "/plain", "%FF"])
['/café', None, '/plain', '\\ufffd']
>>> invalid = bulk.InvalidRows()
>>> bulk.normalize_urn(b"URN:ISBN:0451450523\\nurl:x\\n", invalid=invalid)
b'urn:isbn:0451450523\\nurl:x\\n'
>>> invalid
InvalidRows(count=1, rows=[(1, 'scheme', 2)])
"""

from uricodec._rows._columns import Column
from uricodec.bulk import _operations
from uricodec.bulk._calls import InvalidRows
from uricodec.bulk._operations.fingerprints import *  # noqa: F403
from uricodec.bulk._operations.hosts import *  # noqa: F403
from uricodec.bulk._operations.percent import *  # noqa: F403
from uricodec.bulk._operations.uri import *  # noqa: F403
from uricodec.bulk._operations.url import *  # noqa: F403
from uricodec.bulk._operations.urn import *  # noqa: F403

__all__ = ["Column", "InvalidRows"]
__all__ += _operations.__all__


def __dir__() -> list[str]:
    return __all__
