"""URLs beside other libraries, on one core: normal forms, parts as columns, hosts beyond ASCII, deduplication.

    python -m pip install '.[bench,interop]' courlan url-normalize turbohtml tldextract polars-tldextract
    python benchmarks/urls.py                    print the tables, in about four minutes
    python benchmarks/urls.py --write            and write them to docs/guides/url_corpora.md
    python benchmarks/urls.py --lines 1000000    with a file of a tenth of the size; corpus.py makes its lines

The URLs of the first three tables are real ones if URICODEC_CORPORA names a folder with lists of URLs (urls_*.txt and
hosts_idn_only.txt), generated ones otherwise. All functions of a table run in turns, round by round, each once before
the pass that counts; a figure is the least processor time of the rounds, of deduplication the median of three. The
outputs are compared: of functions that do the same as uricodec's, a difference is an error; of others, the table says
how many outputs are the same. Only duckdb and polars have to be installed.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import argparse
import pkgutil
import platform
import random
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle, islice
from operator import attrgetter
from pathlib import Path
from time import process_time
from typing import NamedTuple

import corpus
import duckdb
import polars as pl
import programs
import pyarrow as pa
from report import digits, filled
from url_lists import PAGE, web_urls

import uricodec
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
DEDUP = [sys.executable, "-m", "uricodec", "dedup", "--kind", "uri", "-j", "1", "--memory", "64M"]
COUNT, ROWS, FEW = 1000, 1_000_000, 20_000  # URLs of calls, of columns, and of a loop over a column
MARKS = "<!-- begin: speed, written by benchmarks/urls.py -->\n", "<!-- end: speed, written by benchmarks/urls.py -->\n"


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


def some_urls():
    """Return valid URLs of http and https, distinct and in random order, and what they are."""
    rng = random.Random("urls")
    if "URICODEC_CORPORA" in os.environ:
        found = {line.decode() for line in web_urls(Path(os.environ["URICODEC_CORPORA"])) if uri.is_valid(line)}
        return rng.sample(sorted(found), len(found)), "real URLs"
    return list({corpus.link(corpus.page(rng), rng): None for _ in range(200_000)}), "generated URLs"


def some_hosts():
    """Return hosts beyond ASCII, and what they are."""
    if "URICODEC_CORPORA" in os.environ:
        names = Path(os.environ["URICODEC_CORPORA"], "hosts_idn_only.txt").read_text("utf-8").split()
        return [name for name in names if not name.isascii()], "real hosts"
    rng = random.Random("hosts")
    return ["".join(rng.choices("äöüéàñçαβγδεζηθклмнопр", k=8)) + ".example" for _ in range(COUNT)], "generated hosts"


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
    for rule, options in RULES.items():
        yield [column(f"`bulk.normalize_uri`, {rule[2:]}", partial(bulk.normalize_uri, arrow, threads=1, **options))]
    host, value = partial(bulk.host, arrow, threads=1), partial(bulk.query_value, arrow, "id", threads=1)
    for ours, pattern, agrees in (  # a pattern does not decode values
        (column("`bulk.host`", host), HOST, True),
        (column("`bulk.query_value`", value), IDENTIFIER, False),
    ):
        theirs = column("Polars, `str.extract`", partial(series.str.extract, pattern), agrees)
        yield [ours, in_duckdb(con, pattern, agrees), theirs]
    domains = [column("`bulk.registrable_domain`", partial(bulk.registrable_domain, arrow, threads=1))]
    for name, function in installed("polars_tldextract.registrable_domain"):
        select = partial(pl.DataFrame({"url": series}).select, function("url", parallel=False))
        domains.append(column(f"`{name}`", select))
    for _, function in installed("tldextract.TLDExtract"):
        extract = function(suffix_list_urls=(), cache_dir=None)  # with its own list: it would download another
        domain = attrgetter("top_domain_under_public_suffix")
        domains.append(calls("tldextract.extract(url)", extract, urls[:FEW], domain))
    yield domains


def column(name, call, agrees=False):
    return Way(name, call, ROWS, lambda: pl.DataFrame({"": call()}).to_series().to_list(), agrees)


def in_duckdb(con, pattern, agrees):
    text = f"regexp_extract(url, '{pattern}', 1)"
    run = lambda: con.execute(f"select sum(strlen({text})) from crawl").fetchall()  # noqa: E731
    outputs = lambda: [row for (row,) in con.execute(f"select {text} from crawl").fetchall()]  # noqa: E731
    return Way("DuckDB, `regexp_extract`", run, ROWS, outputs, agrees)


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


def of_files(lines):
    """Return the rows of deduplication, and the size of the file. A set of normal forms says which lines are first."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "urls.txt"), os.path.join(folder, "unique.txt")
        corpus.write(corpus.urls(lines, random.Random("urls")), source)
        commands = {rule: [*DEDUP, *rule.split(), source, "-o", target] for rule in RULES}

        def is_right(rule):
            seen = set()
            with open(target, encoding="utf-8") as file:
                for line, form in with_forms(source, RULES[rule]):
                    if form not in seen:
                        seen.add(form)
                        if file.readline() != line:
                            return False
                return file.readline() == ""

        rows = programs.compare("urls.py", commands, is_right, 3)
        if any(row["extra_info"]["output checked"] != "yes" for row in rows):
            raise SystemExit("dedup: other lines than those of a set of normal forms")
        return rows, os.path.getsize(source)


def with_forms(path, rule):
    """Yield the lines of a file with the hashes of their normal forms."""
    with open(path, encoding="utf-8") as file:
        while lines := list(islice(file, 100_000)):
            forms = bulk.normalize_uri([line[:-1] for line in lines], threads=1, **rule)
            yield from zip(lines, map(hash, forms), strict=True)


# --- tables -----------------------------------------------------------------------------------------------------------


def table(title, rows, unit, convert):
    yield f"| {title} | {unit} | uricodec is faster | same output |"
    yield "|---|---:|---:|---:|"
    for name, seconds, times, same in rows:
        compared = f"{digits(times)} times | {f'{int(same * 1000) / 10} %' if same < 1 else 'all'}" if times else " | "
        yield f"| {name} | {digits(convert(seconds))} | {compared} |"


def nanoseconds(seconds):
    return seconds * 1e9


def million_rows(seconds):
    return 1e-6 / seconds


def report(lines):
    """Yield the lines of the section of the page."""
    (urls, kind), (names, kind_of_names) = some_urls(), some_hosts()
    rows = list(islice(cycle(urls), ROWS))
    found = {name: version_of(name) for name in PACKAGES}
    missing = ", ".join(name for name in found if found[name] is None)
    yield f"{machine()}; uricodec {uricodec.__version__} ({uricodec.cpu_tier()}), Python {platform.python_version()},"
    yield f"{', '.join(f'{name} {found[name]}' for name in found if found[name])}."
    if missing:
        yield f"Not installed, and not measured: {missing}."
    yield f"\nA call, {COUNT:,} {kind}:\n"
    yield from table("normal form", measured(normal_forms(urls), 10), "ns", nanoseconds)
    size = sum(map(len, rows)) / ROWS
    yield f"\nA column of {ROWS:,} rows, which repeat the {kind}, {size:.0f} characters on average:\n"
    yield from table("column", measured(columns(rows), 3), "million rows/s", million_rows)
    yield f"\nA call, {len(names)} {kind_of_names} beyond ASCII:\n"
    yield from table("A-labels", measured(a_labels(names), 10), "ns", nanoseconds)
    hosts = pa.array(list(islice(cycle(f"http://{name}/" for name in names), ROWS)))
    [(_, seconds, _, _)] = measured([[column("", partial(bulk.iri_to_uri, hosts, host="idna", threads=1))]], 5)
    yield f"\n`bulk.iri_to_uri` converts {digits(million_rows(seconds))} million such URLs a second."
    rows, size = of_files(lines)
    yield f"\n`uricodec dedup --memory 64M -j 1` of {lines:,} generated URLs, {size / 1e6:,.0f} MB, file to file:\n"
    yield "| option | processor seconds | compared with the first |"
    yield "|---|---:|---:|"
    seconds = {row["name"]: row["extra_info"]["processor seconds"] for row in rows}
    for rule, used in seconds.items():
        yield f"| `{rule}` | {used:.2f} | {used / next(iter(seconds.values())):.2f} times |"


def version_of(name):
    with suppress(PackageNotFoundError):
        return version(name)


def machine():
    for _, info in installed("cpuinfo.get_cpu_info"):  # of pytest-benchmark
        return f"{info().get('brand_raw', platform.machine())}, {platform.system()}"
    return f"{platform.machine()}, {platform.system()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    found = []
    for line in report(arguments.lines):
        print(line, flush=True)
        found.append(line)
    if arguments.write:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), found, MARKS), "utf-8")


if __name__ == "__main__":
    main()
