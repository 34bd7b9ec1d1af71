"""Decode columns of paths in DuckDB, pandas and Polars, compared with their own functions and with urllib.parse.

A row is a path of a multilingual site (`corpus.path`). Every output is compared with urllib.parse's.

- DuckDB on one thread: url_decode, which runs before each round, `uri_decode` of `register`, a `stream` of two columns.
- pandas: a column stored by Arrow or as Python objects, and a loop.
- Polars: five million rows in a streaming query; the loop processes a sample, so compare `rows_per_second`.

    POLARS_MAX_THREADS=2 python -m pytest benchmarks/test_frames.py
"""

import urllib.parse
from statistics import median
from time import process_time
from urllib.parse import unquote

import pytest
from test_bulk import DECODED, PATHS, PLAIN, URNS

from uricodec import bulk
from uricodec.integrations import duckdb as hook

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

import uricodec.integrations.pandas  # noqa: E402
import uricodec.integrations.polars  # noqa: E402, F401

# --- DuckDB -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["many languages", "English"])
def con(request):
    rows = (PATHS if request.param == "many languages" else PLAIN) * (1_000_000 // len(PATHS))
    with duckdb.connect(config={"threads": 1}) as con:
        con.register("source", pa.table({"id": range(len(rows)), "path": rows, "text": [unquote(row) for row in rows]}))
        con.execute("create table log as from source")
        con.unregister("source")
        hook.register(con)
        yield con


def built_in(con, select):
    return select("url_decode(path)", "log")


def function(con, select):
    return select("uri_decode(path)", "log")


def stream(con, select):
    needed = "id, path, text" if select.__name__ == "check" else "id, path"
    con.register("decoded", hook.stream(con, f"select {needed} from log", {"path": ("uri_decode", "path")}))
    return select("path", "decoded")


@pytest.mark.parametrize("way", [built_in, function, stream])
def test_duckdb(benchmark, con, way):
    def check(text, source):
        return con.execute(f"select count(*) from {source} where {text} is distinct from text").fetchall()

    def total(text, source):
        return con.execute(f"select sum(strlen({text})) from {source}").fetchall()

    def reference():
        start = process_time()
        built_in(con, total)
        times.append(process_time() - start)

    assert way(con, check) == [(0,)]
    times = []
    benchmark.group = "decode"
    benchmark.pedantic(way, (con, total), setup=reference, rounds=15, warmup_rounds=1)
    benchmark.extra_info |= {"bytes": con.execute("select sum(strlen(path)) from log").fetchall()[0][0]}
    benchmark.extra_info["times faster"] = round(median(times) / benchmark.stats.stats.median, 2)


# --- pandas -----------------------------------------------------------------------------------------------------------

DTYPES = {
    "str": "str" if int(pd.__version__.partition(".")[0]) >= 3 else "string[pyarrow]",
    "object": object,
    "string[python]": "string[python]",
    "ArrowDtype": pd.ArrowDtype(pa.string()),
    "category": "category",
}
PANDAS = {
    "uricodec": lambda column: column.uricodec.unquote(),
    "uricodec, one thread": lambda column: column.uricodec.unquote(threads=1),
    "map, urllib": lambda column: column.map(urllib.parse.unquote),
}


@pytest.mark.parametrize("library", PANDAS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pandas(benchmark, dtype, library):
    column = pd.Series(PATHS * 10, dtype=DTYPES[dtype])
    assert PANDAS[library](column).tolist() == DECODED * 10
    benchmark.group = f"unquote, {dtype}"
    benchmark(PANDAS[library], column)
    benchmark.extra_info["rows_per_second"] = round(len(column) / benchmark.stats["median"])
    print(benchmark.name, benchmark.extra_info)


# --- Polars -----------------------------------------------------------------------------------------------------------

TIMES = 5_000_000 // len(PATHS)
SAMPLE = 50_000
URL = pl.col("x")
LONG = pl.concat([pl.Series("x", PATHS)] * TIMES, rechunk=False)
COLUMNS = {
    "50 chunks": LONG,
    "1 chunk": LONG.rechunk(),
    "5000 chunks": pl.concat([LONG[i : i + 1000].rechunk() for i in range(0, len(LONG), 1000)], rechunk=False),
}
POLARS = {
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
def test_polars(benchmark, kind, engine):
    benchmark.group = "unquote"
    measure(benchmark, COLUMNS[kind], POLARS["uricodec"], DECODED * TIMES, engine)


def test_urllib_in_polars(benchmark):
    benchmark.group = "unquote"
    measure(benchmark, LONG[:SAMPLE], POLARS["map_elements, urllib"], DECODED[:SAMPLE])


def test_fingerprints_in_polars(benchmark):
    benchmark.group = "fingerprint"
    column = pl.concat([pl.Series("x", URNS)] * 10, rechunk=False)
    measure(
        benchmark, column, URL.uricodec.fingerprint("urn", secret="k"), bulk.fingerprint(URNS, "urn", secret="k") * 10
    )
