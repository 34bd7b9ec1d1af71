"""Decode a pandas column, stored by Arrow or as Python objects, compared with a loop over urllib.parse.

A row is a path of a multilingual site (`corpus.path`). Every output is compared with urllib.parse's.

    python -m pytest benchmarks/test_pandas.py
"""

import urllib.parse

import pytest
from test_bulk import DECODED, PATHS

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

import uricodec.integrations.pandas  # noqa: E402, F401

TIMES = 1_000_000 // len(PATHS)
DTYPES = {
    "str": "str" if int(pd.__version__.partition(".")[0]) >= 3 else "string[pyarrow]",
    "object": object,
    "string[python]": "string[python]",
    "ArrowDtype": pd.ArrowDtype(pa.string()),
    "category": "category",
}
CALLS = {
    "uricodec": lambda column: column.uricodec.unquote(),
    "uricodec, one thread": lambda column: column.uricodec.unquote(threads=1),
    "map, urllib": lambda column: column.map(urllib.parse.unquote),
}


@pytest.mark.parametrize("library", CALLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_unquote(benchmark, dtype, library):
    column = pd.Series(PATHS * TIMES, dtype=DTYPES[dtype])
    assert CALLS[library](column).tolist() == DECODED * TIMES
    benchmark.group = f"unquote, {dtype}"
    benchmark(CALLS[library], column)
    benchmark.extra_info["rows_per_second"] = round(len(column) / benchmark.stats["median"])
    print(benchmark.name, benchmark.extra_info)
