"""DuckDB on one thread: its own url_decode, compared with `uri_decode` of `register` and a `stream` of two columns.

A query decodes the million paths of a table, of a multilingual site or of an English one, and adds up their lengths.
url_decode runs before each round, so that disturbances of the machine affect both. `extra_info` has the ratio of the
medians. Every row is compared with urllib.parse's.

python -m pytest benchmarks/test_duckdb.py
"""

from statistics import median
from time import process_time
from urllib.parse import unquote

import pytest
from test_bulk import PATHS, PLAIN

from uricodec.integrations import duckdb as hook

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")


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
def test_decode(benchmark, con, way):
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
