"""Sets of hosts against the usual loops. See compare.py."""

import os
import random
import tempfile
from functools import partial
from time import perf_counter, process_time
from urllib.parse import urlsplit

from programs import options

from uricodec import bulk
from uricodec.uri import HostSet

WORDS = "shop ads track cdn mail img static news blue green red fast data cloud".split()  # noqa: SIM905
ENDS = ["com", "net", "org", "de", "co.uk", "fr", "io", "ru", "info", "cn"]
BEFORE = ["", "www.", "a.", "m.", "x.y."]


def names(count, chance):
    """Different hosts of 20 characters on average."""
    made = {
        f"{WORDS[i % 14]}{chance.getrandbits(28):x}-{WORDS[i // 14 % 14]}.{ENDS[i % 10]}"
        for i in range(count + count // 50)
    }
    return sorted(made)[:count]


def urls_of(hosts, count, chance):
    """URLs, of which about a third match."""
    for i in range(count):
        host = hosts[chance.randrange(len(hosts))]
        if i % 10 > 2:
            host = f"{WORDS[i % 14]}{chance.getrandbits(30):x}.{ENDS[i % 10]}"
        yield f"https://{BEFORE[i % 5]}{host}/{WORDS[i % 14]}/{i:x}?q={i}"


def parents(host, entries):
    """The longest of a host and its parent domains that is in a set."""
    while host and host not in entries:
        host = host.partition(".")[2]
    return host or None


def usual(url, entries):
    """What programs do."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None
    return parents(host.rstrip("."), entries)


def timed(call, *arguments, clock=process_time):
    """Return how long a call took, and its result."""
    start = clock()
    result = call(*arguments)
    return clock() - start, result


def row(what, seconds, count, unit, checked=""):
    print(f"| {what} | {seconds:.3f} s | {count / seconds / 1e6:.2f} M {unit}/s | {checked} |", flush=True)


def host_sets(arguments):
    """Sets of hosts on one core: building, opening, and matching URLs.

    The usual loop is that of filters of crawls: the host by urllib.parse.urlsplit, and it and its parent domains looked
    up in a set of Python; and the same with tldextract, if it is installed, for the registrable domain. Times are those
    of the processor. There are twice as many hosts as URLs.
    """
    import pyarrow as pa

    parser = options(host_sets, 500_000)
    parser.add_argument("--hosts", type=int)
    given = parser.parse_args(arguments)
    rows, chance = given.lines, random.Random(43)
    hosts = names(given.hosts or 2 * rows, chance)
    lines = "\n".join(hosts).encode()
    urls = list(urls_of(hosts, rows, chance))
    column = pa.array(urls)
    print(f"{len(hosts)} hosts, {rows} URLs, load {os.getloadavg()[0]:.1f}\n")
    print("| what | processor time | speed | result |\n|---|---:|---:|---|")
    seconds, made = timed(HostSet, hosts)
    row("HostSet of a list", seconds, len(hosts), "hosts", f"{len(made)} entries")
    seconds, made = timed(HostSet.read, lines)
    row("HostSet.read of lines", seconds, len(hosts), "hosts", f"{len(made)} entries")
    seconds, entries = timed(set, hosts)
    row("set of a list", seconds, len(hosts), "hosts")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hosts.set")
        seconds, _ = timed(made.save, path)
        row("save", seconds, len(hosts), "hosts", f"{os.path.getsize(path) / len(hosts):.1f} bytes an entry")
        seconds, opened = min(timed(HostSet.open, path, clock=perf_counter) for _ in range(3))
        row("open", seconds, len(hosts), "hosts", f"{1000 * seconds:.2f} ms")
        seconds, wanted = timed(lambda: [usual(url, entries) for url in urls])
        row("urlsplit and parents in a set", seconds, rows, "rows", f"{sum(map(bool, wanted))} matches")
        base = seconds
        for shown, some in (("memory", made), ("file", opened)):
            bulk.match(column, some, threads=1)
            for name, call in (("match", bulk.match), ("is_match", bulk.is_match)):
                runs = [timed(partial(call, column, some, threads=1)) for _ in range(5)]
                seconds, found = min(runs, key=lambda each: each[0])
                same = found.to_pylist() == [each if name == "match" else each is not None for each in wanted]
                shown_result = f"{'the same' if same else 'DIFFERENT'}, {base / seconds:.0f} times as fast"
                row(f"bulk.{name}, {shown}", seconds, rows, "rows", shown_result)
        seconds, found = timed(lambda: [made.match(url) for url in urls])
        row("HostSet.match in a loop", seconds, rows, "rows", "the same" if found == wanted else "DIFFERENT")
    tldextract_row(urls[: rows // 10], entries, wanted)


def tldextract_row(urls, entries, wanted):
    """Print how long tldextract takes: it finds entries that are registrable domains."""
    try:
        import tldextract
    except ModuleNotFoundError:
        print("\ntldextract is not installed")
        return
    extract = tldextract.TLDExtract(suffix_list_urls=())
    extract(urls[0])

    def one(url):
        found = extract(url)
        domain = f"{found.domain}.{found.suffix}"
        return domain if domain in entries else None

    seconds, found = timed(lambda: list(map(one, urls)))
    row("tldextract and a set", seconds, len(urls), "rows", "the same" if found == wanted[: len(urls)] else "DIFFERENT")
