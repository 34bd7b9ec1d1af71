"""Columns, lines and lists by the million, beside what the engines and a loop do with them.

A row is a path of a log: a third of them has triplets. Only what a library does with its own column is timed, and the
output of each is compared with urllib.parse's.

python -m pytest benchmarks/test_bulk.py --benchmark-json=bench.json && python benchmarks/report.py bench.json
"""

import random
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from data import CORPORA, WORDS

from uricodec import bulk

pa = pytest.importorskip("pyarrow")

COUNT = 100_000
SCRIPTS = "/caf%C3%A9", "/%E6%97%A5%E6%9C%AC", "/%D0%BC%D0%BE%D1%81%D0%BA%D0%B2%D0%B0", "?q=a%20b%2Bc"


def path(rng):
    """A path of 41 octets on average."""
    parts = [rng.choice(WORDS) for _ in range(rng.randint(3, 11))]
    text = "/" + "/".join(parts)
    return text + rng.choice(SCRIPTS) if rng.random() < 0.35 else text


def urn(rng):
    """A URN of 40 octets on average."""
    scheme, nid = rng.choice((("urn", "isbn"), ("URN", "NBN"), ("urn", "example"), ("urn", "Uuid")))
    return f"{scheme}:{nid}:{rng.getrandbits(112):028x}{rng.choice(('', '', '%2f'))}"


PATHS = [path(rng) for rng in [random.Random(1)] for _ in range(COUNT)]
URNS = [urn(rng) for rng in [random.Random(2)] for _ in range(COUNT)]
DECODED = [unquote(row) for row in PATHS]
ENCODED = [quote(row) for row in PATHS]
LINES = "\n".join(PATHS).encode() + b"\n"


def log_paths():
    """Paths and what urllib.parse makes of them: real ones, if there are any."""
    file = Path(CORPORA or "", "paths.txt")
    if CORPORA is None or not file.exists():
        return PATHS, DECODED
    rows = file.read_text("utf-8").split("\n")[:-1]
    return rows, [unquote(row) for row in rows]


def arrow(rows, type_=None):
    return pa.array(rows, type_ or pa.string())


def polars(rows):
    return pytest.importorskip("polars").Series(rows)


def rows_of(result):
    return pa.chunked_array(result).to_pylist()


CASES = {
    "unquote, Arrow": (arrow(PATHS), lambda column: bulk.unquote(column, threads=1), rows_of, DECODED),
    "unquote, views": (
        arrow(PATHS, pa.string_view()),
        lambda column: bulk.unquote(column, threads=1),
        rows_of,
        DECODED,
    ),
    "quote, Arrow": (arrow(PATHS), lambda column: bulk.quote(column, threads=1), rows_of, ENCODED),
    "unquote, list": (PATHS, bulk.unquote, list, DECODED),
    "unquote, list, a loop": (PATHS, lambda rows: [unquote(row) for row in rows], list, DECODED),
    "unquote, lines": (
        LINES,
        lambda lines: bulk.unquote(lines, threads=1),
        lambda lines: lines.decode().splitlines(),
        DECODED,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_paths(benchmark, case):
    source, call, rows, want = CASES[case]
    assert rows(call(source)) == want
    benchmark.group = case.partition(",")[0]
    benchmark.extra_info |= {"function": f"bulk.{benchmark.group}", "kind": case, "n": COUNT, "bytes": len(LINES)}
    benchmark(call, source)


def test_polars(benchmark):
    column = polars(PATHS)
    call = lambda: type(column)(bulk.unquote(column, threads=1))  # noqa: E731
    assert call().to_list() == DECODED
    benchmark.group = "unquote"
    benchmark(call)


@pytest.mark.parametrize(("function", "want"), [("url_decode", DECODED), ("url_encode", None)])
def test_duckdb(benchmark, function, want):
    duck = pytest.importorskip("duckdb").connect()
    duck.execute("set threads = 1")
    duck.register("source", pa.table({"path": PATHS}))
    duck.execute("create table paths as select path from source")
    if want is not None:
        assert [row for (row,) in duck.execute(f"select {function}(path) from paths").fetchall()] == want
    benchmark.group = "unquote" if function == "url_decode" else "quote"
    benchmark(lambda: duck.execute(f"select max(length({function}(path))) from paths").fetchall())


@pytest.mark.parametrize("level", ["8141", "namespace"])
def test_urns(benchmark, level):
    from uricodec import urn as names

    column = arrow(URNS)
    assert rows_of(bulk.normalize_urn(column, level)) == [names.normalize(row, level) for row in URNS]
    benchmark.group = f"normalize_urn, {level}"
    benchmark(bulk.normalize_urn, column, level, threads=1)


def test_fingerprints(benchmark):
    column = arrow(URNS)
    assert rows_of(bulk.fingerprint(column, key="k")) == bulk.fingerprint(URNS, key="k")
    benchmark.group = "fingerprint"
    benchmark(bulk.fingerprint, column, key="k", threads=1)
