"""URLs beside other libraries, on one core: normal forms, parts as columns, hosts beyond ASCII. See compare.py."""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import pkgutil
import random
import tempfile
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle, islice
from operator import attrgetter
from time import process_time
from typing import NamedTuple

import corpus
import duckdb
import polars as pl
import pyarrow as pa
from programs import URICODEC, compare, options

from uricodec import bulk, iri, uri

PACKAGES = (
    *("surt", "w3lib", "courlan", "url-normalize", "turbohtml", "ada-url", "idna"),
    *("duckdb", "polars", "tldextract", "polars-tldextract"),
)
NORMAL_FORMS = {
    '`uri.normalize(url, "scheme")`': partial(uri.normalize, level="scheme"),
    '`uri.normalize(url, policy="crawl")`': partial(uri.normalize, policy="crawl"),
    '`uri.normalize(url, policy="surt")`': partial(uri.normalize, policy="surt"),
    '`uri.normalize(url, policy="w3lib")`': partial(uri.normalize, policy="w3lib"),
}
PEERS = (
    ("url_normalize.url_normalize", "ada_url.normalize_url"),
    ("courlan.normalize_url", "courlan.clean_url", "turbohtml.extract.normalize_url"),
    ("surt.surt",),
    ("w3lib.url.canonicalize_url",),
)
HOST = r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?(\[[^\]]*\]|[^:/?#]*)"
IDENTIFIER = r"^[^?#]*\?(?:[^#]*?&)?id=([^&#]*)"
THE_SAME = "surt.surt", "w3lib.url.canonicalize_url", "idna.encode"  # all of their outputs are those of uricodec
RULES = {
    "--level scheme": {"level": "scheme"},
    "--policy crawl": {"policy": "crawl"},
    "--policy surt": {"policy": "surt"},
    "--policy w3lib": {"policy": "w3lib"},
}
DEDUP = [*URICODEC, "dedup", "--kind", "uri", "-j", "1", "--memory", "64M"]
COUNT, FEW = 1000, 20_000  # URLs of calls, and of a loop over a column


class Way(NamedTuple):
    """What to measure: a function without arguments that processes all rows, and one that returns all outputs."""

    name: str
    run: Callable
    rows: int
    outputs: Callable
    agrees: bool = False


def installed(*names):
    """Yield the functions that are installed, with their names."""
    for name in names:
        with suppress(ModuleNotFoundError):
            module, _, function = name.rpartition(".")
            yield name, pkgutil.resolve_name(f"{module}:{function}")


def calls(name, call, arguments, result=lambda output: output):
    """Return the way to call a function for each argument."""
    run = lambda: deque(map(call, arguments), maxlen=0)  # noqa: E731
    outputs = lambda: [result(call(argument)) for argument in arguments]  # noqa: E731
    return Way(f"`{name.strip('`')}`", run, len(arguments), outputs, name in THE_SAME)


# --- inputs -----------------------------------------------------------------------------------------------------------


def some_urls(count):
    """Return distinct URLs of http and https, as links spell them."""
    rng = random.Random("urls")
    return list({corpus.link(corpus.page(rng), rng): None for _ in range(count)})


def some_hosts():
    """Return hosts beyond ASCII."""
    rng = random.Random("hosts")
    return ["".join(rng.choices("äöüéàñçαβγδεζηθклмнопр", k=8)) + ".example" for _ in range(COUNT)]


def accepted(urls, functions):
    """Return the first URLs that all functions accept."""

    def accept(url):
        with suppress(Exception):
            return all(function(url) is not None for function in functions)
        return False

    return list(islice(filter(accept, urls), COUNT))


# --- what is measured -------------------------------------------------------------------------------------------------


def normal_forms(urls):
    groups = [[ours, *installed(*peers)] for ours, peers in zip(NORMAL_FORMS.items(), PEERS, strict=True)]
    urls = accepted(urls, [function for group in groups for _, function in group])
    return [[calls(name, function, urls) for name, function in group] for group in groups]


def columns(urls):
    arrow, series = pa.array(urls), pl.Series("url", urls)
    con = duckdb.connect(config={"threads": 1})
    con.register("arrow", pa.table({"url": arrow}))
    con.execute("create table crawl as from arrow")
    column = partial(of_column, len(urls))
    for rule, how in RULES.items():
        yield [column(f"`bulk.normalize_uri`, {rule[2:]}", partial(bulk.normalize_uri, arrow, threads=1, **how))]
    host, value = partial(bulk.host, arrow, threads=1), partial(bulk.query_value, arrow, "id", threads=1)
    for ours, pattern, agrees in (  # a pattern does not decode values
        (column("`bulk.host`", host), HOST, True),
        (column("`bulk.query_value`", value), IDENTIFIER, False),
    ):
        theirs = column("Polars, `str.extract`", partial(series.str.extract, pattern), agrees)
        yield [ours, in_duckdb(con, len(urls), pattern, agrees), theirs]
    domains = [column("`bulk.registrable_domain`", partial(bulk.registrable_domain, arrow, threads=1))]
    for name, function in installed("polars_tldextract.registrable_domain"):
        select = partial(pl.DataFrame({"url": series}).select, function("url", parallel=False))
        domains.append(column(f"`{name}`", select))
    for _, function in installed("tldextract.TLDExtract"):
        extract = function(suffix_list_urls=(), cache_dir=None)  # with its own list: it would download another
        domain = attrgetter("top_domain_under_public_suffix")
        domains.append(calls("tldextract.extract(url)", extract, urls[:FEW], domain))
    yield domains


def of_column(rows, name, call, agrees=False):
    return Way(name, call, rows, lambda: pl.DataFrame({"": call()}).to_series().to_list(), agrees)


def in_duckdb(con, rows, pattern, agrees):
    text = f"regexp_extract(url, '{pattern}', 1)"
    run = lambda: con.execute(f"select sum(strlen({text})) from crawl").fetchall()  # noqa: E731
    outputs = lambda: [row for (row,) in con.execute(f"select {text} from crawl").fetchall()]  # noqa: E731
    return Way("DuckDB, `regexp_extract`", run, rows, outputs, agrees)


def a_labels(names):
    urls = [f"http://{name}/" for name in names]
    to_uri = partial(iri.iri_to_uri, host="idna")
    group = [calls('iri.iri_to_uri(url, host="idna")', to_uri, urls, lambda url: url[7:-1])]
    for name, function in installed("idna.encode"):
        group.append(calls(name, partial(function, uts46=True), names, bytes.decode))
    for name, function in installed("ada_url.idna_to_ascii"):
        group.append(calls(name, function, names, bytes.decode))
    return [group]


# --- measurement ------------------------------------------------------------------------------------------------------


def timed(run):
    run()  # what ran before has left nothing of it in the caches
    start = process_time()
    run()
    return process_time() - start


def measured(groups, rounds):
    """Yield of each way its name, seconds for a row, how many times as fast uricodec is, the share of same outputs."""
    groups = list(groups)
    times = [[timed(way.run) for group in groups for way in group] for _ in range(rounds)]
    least = iter([min(found) for found in zip(*times, strict=True)])
    for group in groups:
        ours, expected = None, group[0].outputs() if len(group) > 1 else None
        for way in group:
            seconds = next(least) / way.rows
            if ours is None:
                ours = seconds
                yield way.name, seconds, None, None
                continue
            outputs = way.outputs()
            same = sum((a or None) == (b or None) for a, b in zip(outputs, expected, strict=False)) / way.rows
            if way.agrees and same < 1:
                raise SystemExit(f"{way.name}: other outputs than uricodec's")
            yield way.name, seconds, seconds / ours, same


def of_files(lines, rounds):
    """Compare the rules of deduplication. A set of normal forms says which lines are first."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/urls.txt", f"{folder}/unique.txt"
        corpus.write(corpus.urls(lines, random.Random("urls")), source)

        def is_right(rule):
            seen = set()
            with open(target, encoding="utf-8") as file:
                for line, form in with_forms(source, RULES[rule]):
                    if form not in seen:
                        seen.add(form)
                        if file.readline() != line:
                            return False
                return file.readline() == ""

        compare({rule: [*DEDUP, *rule.split(), source, "-o", target] for rule in RULES}, is_right, rounds)


def with_forms(path, rule):
    """Yield the lines of a file with the hashes of their normal forms."""
    with open(path, encoding="utf-8") as file:
        while lines := list(islice(file, 100_000)):
            forms = bulk.normalize_uri([line[:-1] for line in lines], threads=1, **rule)
            yield from zip(lines, map(hash, forms), strict=True)


# --- tables -----------------------------------------------------------------------------------------------------------


def table(title, rows, unit, convert):
    print(f"\n| {title} | {unit} | uricodec is faster | same output |\n|---|---:|---:|---:|")
    for name, seconds, times, same in rows:
        compared = f"{times:.3g} times | {f'{int(same * 1000) / 10} %' if same < 1 else 'all'}" if times else " | "
        print(f"| {name} | {convert(seconds):.3g} | {compared} |", flush=True)


def nanoseconds(seconds):
    return seconds * 1e9


def million_rows(seconds):
    return 1e-6 / seconds


def urls(arguments):
    """Normal forms, parts as columns, hosts beyond ASCII, deduplication of URLs, on one core.

    All functions of a table run in turns, round by round, each once before the pass that counts; a figure is the least
    processor time of the rounds. Of functions that do the same as uricodec's, a difference of outputs is an error; of
    others, the table says how many outputs are the same. Peers that are not installed are left out: surt, w3lib,
    courlan, url-normalize, turbohtml, ada-url, idna, tldextract, polars-tldextract. --only is not used.
    """
    given = options(urls, 1_000_000).parse_args(arguments)
    found = some_urls(min(given.lines, 200_000))
    rows = list(islice(cycle(found), given.lines))
    print(", ".join(f"{name} {version_of(name) or '-'}" for name in ("uricodec", *PACKAGES)))
    table(f"{COUNT} calls", measured(normal_forms(found), 3 * given.rounds), "ns", nanoseconds)
    table(f"a column of {len(rows):,} rows", measured(columns(rows), given.rounds), "million rows/s", million_rows)
    table("A-labels", measured(a_labels(some_hosts()), 3 * given.rounds), "ns", nanoseconds)
    print("\ndedup, from file to file")
    of_files(given.lines, given.rounds)


def version_of(name):
    with suppress(PackageNotFoundError):
        return version(name)
