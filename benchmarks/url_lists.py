"""What a crawl list contains and what each step of the policies merges, of real lists of URLs.

    URICODEC_CORPORA=FOLDER python benchmarks/url_lists.py            print the tables
    URICODEC_CORPORA=FOLDER python benchmarks/url_lists.py --write    and write docs/guides/url_corpora.md and its chart
    python benchmarks/url_lists.py --chart                            the chart again, from the table of the page

The folder contains lists of one URL a line: urls_*.txt and hrefs_*.txt, or the same with .xz. They are joined in the
order of their names; the lines that begin with http:// or https:// are the crawl list.
"""

import lzma
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from plot import counts
from report import filled, markdown

from uricodec import bulk, dedup

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/guides/url_corpora.md"
CHART = ROOT / "docs/guides/url_corpora.svg"
TITLE = "Lines that each step merges, on a logarithmic scale"
STEPS = {
    "simple": ("equal lines", "RFC 3986 section 6.2.1"),
    "case": ("level `case`", "RFC 3986 section 6.2.2.1"),
    "percent": ("level `percent`", "RFC 3986 section 6.2.2.2"),
    "path": ("level `path`", "RFC 3986 section 6.2.2.3"),
    "scheme": ("level `scheme`", "RFC 3986 section 6.2.3"),
    "iri": ("level `iri`", "RFC 3987 section 3.1, UTS 46"),
    "drop_parameters": ("tracking parameters", "the list of `tracking`"),
    "query": ("order of parameters", "a convention"),
    "fragment": ("fragments", "RFC 3986 section 3.5"),
}
LEVELS = "simple", "case", "percent", "path", "scheme"
OTHERS = "tracking", "surt", "w3lib"
TOP = 8


def lines_of(folder):
    """Yield the lines of the lists, as bytes."""
    for path in sorted([*folder.glob("urls_*.txt*"), *folder.glob("hrefs_*.txt*")]):
        with (lzma.open if path.suffix == ".xz" else open)(path, "rb") as file:
            for line in file:
                yield line.removesuffix(b"\n")


def web_urls(folder):
    return [line for line in lines_of(folder) if re.match(b"https?://", line, re.IGNORECASE)]


def tables(folder):
    """Yield the names of the tables of the page, and their rows."""
    urls = web_urls(folder)
    with tempfile.TemporaryDirectory() as work:
        source, target = os.path.join(work, "crawl.txt"), os.path.join(work, "pages.txt")
        Path(source).write_bytes(b"".join(url + b"\n" for url in urls))
        others = {name: unique(source, target, policy=name) for name in OTHERS}
        crawl = unique(source, target, policy="crawl")
        pages = bulk.normalize_uri(Path(target).read_bytes().splitlines(), policy="crawl")
    yield "list", of_list(sum(1 for _ in lines_of(folder)), urls)
    yield "steps", of_steps(len(urls), crawl)
    yield "policies", of_policies(crawl, others)
    yield "sites", of_sites(pages)
    yield "parameters", of_parameters(pages)


def unique(source, target, policy):
    return dedup.dedup_files(source, target, kind="uri", policy=policy, rules=True)


def of_list(total, urls):
    reasons = Counter(found["code"] for found in bulk.check_iri(urls) if found)
    codes = ", ".join(f"`{code}` {count:,}" for code, count in reasons.most_common(4))
    hosts = {host.lower() for host in bulk.host(urls)}
    yield ["what", "number"]
    yield ["---", "---:"]
    yield ["lines", f"{total:,}"]
    yield ["lines that begin with `http://` or `https://`: the crawl list", f"{len(urls):,}"]
    yield [f"lines of it that are not valid ({codes} ...)", f"{reasons.total():,}"]
    yield ["different lines", f"{len(set(urls)):,}"]
    yield ["different hosts, in lower case", f"{len(hosts):,}"]


def of_steps(rows, stats):
    yield ["step", "source", "lines merged", "lines left"]
    yield ["---", "---", "---:", "---:"]
    for name, count in stats.merged.items():
        rows -= count
        step, source = STEPS[name]
        yield [step, source, f"{count:,}", f"{rows:,}"]


def of_policies(crawl, others):
    yield ["policy", "lines left", "rejected"]
    yield ["---", "---:", "---:"]
    scheme = crawl.rows - sum(crawl.merged[level] for level in LEVELS)
    yield ["none, `--level scheme`", f"{scheme:,}", "0"]
    for name, stats in {**others, "crawl": crawl}.items():
        yield [f"`{name}`", f"{stats.unique:,}", f"{stats.invalid:,}"]


def of_sites(pages):
    sites = Counter(bulk.registrable_domain(pages))
    yield ["site", "pages"]
    yield ["---", "---:"]
    yield from ([f"`{site.decode()}`", f"{count:,}"] for site, count in sites.most_common(TOP) if site)
    yield [f"{len(sites) - (None in sites):,} sites", f"{sites.total() - sites[None]:,}"]
    yield ["no registrable domain", f"{sites[None]:,}"]


def of_parameters(pages):
    names = Counter(name for pairs in bulk.query_pairs(pages) for name in {name for name, _ in pairs})
    yield ["parameter", "pages"]
    yield ["---", "---:"]
    yield from ([f"`{name.decode()}`", f"{count:,}"] for name, count in names.most_common(TOP))
    yield [f"{len(names):,} names", f"{sum(map(bool, bulk.query_pairs(pages))):,}"]


def marks(name):
    return tuple(f"<!-- {edge}: {name}, written by benchmarks/url_lists.py -->\n" for edge in ("begin", "end"))


def chart():
    """Return the chart of the steps in the table of the page."""
    begin, end = marks("steps")
    table = PAGE.read_text("utf-8").partition(begin)[2].partition(end)[0]
    rows = [line.strip("| ").split(" | ") for line in table.strip().splitlines()[2:]]
    return "\n".join(counts(TITLE, [(row[0].replace("`", ""), int(row[2].replace(",", ""))) for row in rows])) + "\n"


def main(*arguments):
    if arguments != ("--chart",):
        text = PAGE.read_text("utf-8")
        for name, rows in tables(Path(os.environ["URICODEC_CORPORA"])):
            lines = markdown(rows)
            print("\n".join(lines), end="\n\n", flush=True)
            text = filled(text, lines, marks(name))
        if arguments == ("--write",):
            PAGE.write_text(text, "utf-8")
    if arguments:
        CHART.write_text(chart(), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
