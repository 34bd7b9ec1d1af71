"""Decode five million paths in a streaming Polars query, compared with Polars' own function and with urllib.parse.

A row is a path of a multilingual site (`corpus.path`). Every output is compared with urllib.parse's.
The loop processes a sample of the rows: compare `rows_per_second` and `GB/s` in extra_info.

    POLARS_MAX_THREADS=2 python -m pytest benchmarks/test_polars.py
"""

import urllib.parse

import pytest
from test_bulk import DECODED, PATHS, URNS

from uricodec import bulk

pl = pytest.importorskip("polars")

import uricodec.integrations.polars  # noqa: E402, F401

TIMES = 5_000_000 // len(PATHS)
SAMPLE = 50_000
URL = pl.col("x")
LONG = pl.concat([pl.Series("x", PATHS)] * TIMES, rechunk=False)
COLUMNS = {
    "50 chunks": LONG,
    "1 chunk": LONG.rechunk(),
    "5000 chunks": pl.concat([LONG[i : i + 1000].rechunk() for i in range(0, len(LONG), 1000)], rechunk=False),
}
CALLS = {
    "uricodec": URL.uricodec.unquote(),
    "map_elements, urllib": URL.map_elements(urllib.parse.unquote, return_dtype=pl.String),
}


def measure(benchmark, column, expression, want, engine="streaming"):
    def call():
        return column.to_frame().lazy().select(expression).collect(engine=engine)

    assert call().to_series().to_list() == want
    benchmark(call)
    seconds, size = benchmark.stats["median"], column.str.len_bytes().sum()
    benchmark.extra_info |= {
        "threads": pl.thread_pool_size(),
        "rows_per_second": round(len(column) / seconds),
        "GB/s": round(size / seconds / 1e9, 3),
    }
    print(benchmark.name, benchmark.extra_info)


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_unquote(benchmark, kind, engine):
    benchmark.group = "unquote"
    measure(benchmark, COLUMNS[kind], CALLS["uricodec"], DECODED * TIMES, engine)


def test_unquote_of_urllib(benchmark):
    benchmark.group = "unquote"
    measure(benchmark, LONG[:SAMPLE], CALLS["map_elements, urllib"], DECODED[:SAMPLE])


def test_fingerprints_of_urns(benchmark):
    benchmark.group = "fingerprint"
    column = pl.concat([pl.Series("x", URNS)] * 10, rechunk=False)
    measure(
        benchmark, column, URL.uricodec.fingerprint("urn", secret="k"), bulk.fingerprint(URNS, "urn", secret="k") * 10
    )
