"""Columns, lines and lists of 100,000 rows, compared with the functions of data frame libraries and with a loop.

A row is a path of the log of a multilingual site, or of an English one where stated. Only the operation of a library on
its own column is timed. Every output is compared with urllib.parse's.

python -m pytest benchmarks/test_bulk.py
"""

import random
import re
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit, urlunsplit
from uuid import UUID

import ada_url
import pytest
from corpus import path, plain_path, urn
from w3lib.url import add_or_replace_parameter, url_query_cleaner
from yarl import URL

from uricodec import bulk, uri
from uricodec import urn as names

pa = pytest.importorskip("pyarrow")

COUNT = 100_000
PATHS, PLAIN, URNS = (
    [make(rng) for rng in [random.Random(1)] for _ in range(COUNT)] for make in (path, plain_path, urn)
)
DECODED = [unquote(row) for row in PATHS]
ENCODED = [quote(row) for row in PATHS]
LINES = "\n".join(PATHS).encode() + b"\n"


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
    "unquote, Arrow, English": (
        arrow(PLAIN),
        lambda column: bulk.unquote(column, threads=1),
        rows_of,
        [unquote(row) for row in PLAIN],
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
    benchmark.extra_info["bytes"] = sum(map(len, PLAIN if "English" in case else PATHS)) + COUNT
    benchmark(call, source)


def test_polars(benchmark):
    column = polars(PATHS)
    call = lambda: type(column)(bulk.unquote(column, threads=1))  # noqa: E731
    assert call().to_list() == DECODED
    benchmark.group = "unquote"
    benchmark.extra_info["bytes"] = len(LINES)
    benchmark(call)


@pytest.mark.parametrize("function", ["url_decode", "url_encode"])
def test_duckdb(benchmark, function):
    duck = pytest.importorskip("duckdb").connect()
    duck.execute("set threads = 1")
    duck.register("source", pa.table({"path": PATHS}))
    duck.execute("create table paths as select path from source")
    if function == "url_decode":
        assert [row for (row,) in duck.execute("select url_decode(path) from paths").fetchall()] == DECODED
    benchmark.group = "unquote" if function == "url_decode" else "quote"
    benchmark.extra_info["bytes"] = len(LINES)
    benchmark(lambda: duck.execute(f"select max(length({function}(path))) from paths").fetchall())


URLS = [
    f"https://www.example{i % 1000}.co.uk/path/to/page-{i}/index.html?utm_source=news&q=term+{i % 77}&page={i % 9}#top"
    for i in range(COUNT)
]
OF_HOST, OF_QUERY = r"^[^:/?#]+://([^/?#:@]*)", r"[?&]q=([^&#]*)"


@pytest.mark.parametrize("way", ["uricodec", "polars: str.extract", "duckdb: regexp_extract"])
@pytest.mark.parametrize("part", ["host", "query_value"])
def test_parts_of_urls(benchmark, part, way):
    """On one thread. The expressions do not decode, and know neither userinfo nor brackets: they do less."""
    benchmark.group = f"{part}, URLs"
    benchmark.extra_info["bytes"] = sum(map(len, URLS)) + COUNT
    pattern = OF_HOST if part == "host" else OF_QUERY
    want = [re.search(pattern, url)[1].replace("+", " " if way == "uricodec" else "+") for url in URLS]
    if way == "uricodec":
        column, arguments = arrow(URLS), () if part == "host" else ("q",)
        assert rows_of(getattr(bulk, part)(column, *arguments)) == want
        benchmark(getattr(bulk, part), column, *arguments, threads=1)
    elif way.startswith("polars"):
        column = polars(URLS)
        assert column.str.extract(pattern).to_list() == want
        benchmark(column.str.extract, pattern)
    else:
        duck = pytest.importorskip("duckdb").connect()
        duck.execute("set threads = 1")
        duck.register("source", pa.table({"url": URLS}))
        duck.execute("create table urls as select url from source")
        select = f"regexp_extract(url, '{pattern}', 1)"
        assert [row for (row,) in duck.execute(f"select {select} from urls").fetchall()] == want
        benchmark(lambda: duck.execute(f"select sum(strlen({select})) from urls").fetchall())


BASES = [f"https://www.example{i % 1000}.co.uk/path/{i % 7}/index.html" for i in range(COUNT)]
BASE = BASES[0]
REFS = [("../a/{}?q=1", "page-{}.html", "/img/{}.png", "?page={}")[i % 4].format(i) for i in range(COUNT)]
TARGETS = [urljoin(base, ref) for base, ref in zip(BASES, REFS, strict=True)]
PARTS = [urlsplit(target) for target in TARGETS]
COLUMNS = {
    name: arrow([getattr(parts, field) or None for parts in PARTS])
    for name, field in {"path": "path", "scheme": "scheme", "authority": "netloc", "query": "query"}.items()
}
# Each second one is another spelling of the target; the others are other URLs.
SPELLED = [
    f"HTTPS://{target[8:].replace('.uk/', '.uk:443/x/../')}" if i % 2 else BASES[i] for i, target in enumerate(TARGETS)
]
SET = {"page": "7"}
(PAGE,) = SET.items()


def with_query(url):
    parts = urlsplit(url)
    pairs = [(name, SET.get(name, value)) for name, value in parse_qsl(parts.query) if name != "utm_source"]
    return urlunsplit(parts._replace(query=urlencode(pairs)))


# For each operation, the libraries: ours, on a column, and others, in a loop. All have the same output.
REFERENCES = {
    "resolve, one base": {
        "uricodec": (arrow(REFS), lambda column: bulk.resolve(column, BASE, threads=1)),
        "uricodec, list": (REFS, lambda rows: bulk.resolve(rows, BASE)),
        "urllib: urljoin": (REFS, lambda rows: [urljoin(BASE, row) for row in rows]),
        "ada-url: join_url": (REFS, lambda rows: [ada_url.join_url(BASE, row) for row in rows]),
        "yarl: join": (REFS, lambda rows: [str(URL(BASE).join(URL(row))) for row in rows]),
    },
    "resolve, a column of bases": {
        "uricodec": ((arrow(REFS), arrow(BASES)), lambda columns: bulk.resolve(*columns, threads=1)),
        "urllib: urljoin": ((BASES, REFS), lambda columns: list(map(urljoin, *columns))),
        "ada-url: join_url": ((BASES, REFS), lambda columns: list(map(ada_url.join_url, *columns))),
    },
    "relativize": {
        "uricodec": (arrow(TARGETS), lambda column: bulk.relativize(column, BASE, threads=1)),
        "uricodec.uri, a loop": (TARGETS, lambda rows: [uri.relativize(BASE, row) for row in rows]),
    },
    "with_query": {
        "uricodec": (arrow(URLS), lambda column: bulk.with_query(column, SET, drop="utm_source", threads=1)),
        "uricodec.uri, a loop": (URLS, lambda rows: [uri.with_query(row, SET, drop="utm_source") for row in rows]),
        "urllib: parse_qsl, urlencode": (URLS, lambda rows: list(map(with_query, rows))),
        "yarl: update_query": (
            URLS,
            lambda rows: [str(URL(row).update_query(SET).without_query_params("utm_source")) for row in rows],
        ),
        "w3lib: url_query_cleaner, add_or_replace_parameter": (
            URLS,
            lambda rows: [
                add_or_replace_parameter(
                    url_query_cleaner(row, ["utm_source"], remove=True, keep_fragments=True), *PAGE
                )
                for row in rows
            ],
        ),
    },
    "equivalent": {
        "uricodec": (
            (arrow(TARGETS), arrow(SPELLED)),
            lambda columns: bulk.equivalent(*columns, level="scheme", threads=1),
        ),
        "uricodec.uri, a loop": (
            (TARGETS, SPELLED),
            lambda columns: [uri.equivalent(a, b, "scheme") for a, b in zip(*columns, strict=True)],
        ),
        "ada-url: normalize_url": (
            (TARGETS, SPELLED),
            lambda columns: [
                ada_url.normalize_url(a) == ada_url.normalize_url(b) for a, b in zip(*columns, strict=True)
            ],
        ),
    },
    "relation": {
        "uricodec": ((arrow(TARGETS), arrow(SPELLED)), lambda columns: bulk.relation(*columns, threads=1)),
        "uricodec.uri, a loop": ((TARGETS, SPELLED), lambda columns: list(map(uri.relation, *columns))),
    },
    "unsplit": {
        "uricodec": (COLUMNS, lambda columns: bulk.unsplit(*columns.values(), threads=1)),
        "urllib: urlunsplit": (PARTS, lambda rows: list(map(urlunsplit, rows))),
    },
}


@pytest.mark.parametrize(
    ("operation", "library"), [(operation, library) for operation, ways in REFERENCES.items() for library in ways]
)
def test_references(benchmark, operation, library):
    """On one thread."""
    source, call = REFERENCES[operation][library]
    (first, first_call), *_ = REFERENCES[operation].values()
    made = call(source)
    assert (made if isinstance(made, list) else rows_of(made)) == rows_of(first_call(first))
    benchmark.group = operation
    benchmark.extra_info["bytes"] = sum(map(len, TARGETS if operation == "relativize" else REFS)) + COUNT
    benchmark(call, source)


@pytest.mark.parametrize("level", ["8141", "namespace"])
def test_urns(benchmark, level):
    column = arrow(URNS)
    assert rows_of(bulk.normalize_urn(column, level)) == [names.normalize(row, level) for row in URNS]
    benchmark.group = f"normalize_urn, {level}"
    benchmark(bulk.normalize_urn, column, level, threads=1)


def numbers(nid):
    """URNs of a namespace, nearly all of which are well formed."""
    rng = random.Random(1)
    if nid == "uuid":
        return [f"urn:uuid:{UUID(int=rng.getrandbits(128))}" for _ in range(COUNT)]
    if nid == "oid":
        return [f"urn:oid:1.3.6.1.4.1.{rng.randrange(60_000)}.{rng.randrange(1000)}" for _ in range(COUNT)]
    digits = [f"978{rng.randrange(10**9):09}" if nid == "isbn" else f"{rng.randrange(10**7):07}" for _ in range(COUNT)]
    found = [f"urn:{nid}:{each}{check}" for each in digits for check in "0123456789X"]
    return [row for row in found if names.validate(row).ok]


@pytest.mark.parametrize("kind", ["list", "Arrow"])
@pytest.mark.parametrize("nid", ["isbn", "issn", "uuid", "oid"])
def test_validate(benchmark, nid, kind):
    rows = numbers(nid)
    column = arrow(rows) if kind == "Arrow" else rows
    assert rows_of(bulk.validate_urn(arrow(rows))) == [None] * len(rows)
    benchmark.group = f"validate_urn, {nid}"
    benchmark.extra_info["rows"] = len(rows)
    benchmark(bulk.validate_urn, column, threads=1)


def test_fingerprints(benchmark):
    column = arrow(URNS)
    assert rows_of(bulk.fingerprint(column, secret="k")) == bulk.fingerprint(URNS, secret="k")
    benchmark.group = "fingerprint"
    benchmark(bulk.fingerprint, column, secret="k", threads=1)
