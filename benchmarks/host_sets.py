"""Sets of hosts against the usual loops, on one core: building, opening, and matching URLs; with all results compared.

    python benchmarks/host_sets.py
    python benchmarks/host_sets.py --hosts 5000000 --rows 1000000
    URICODEC_CORPORA=FOLDER python benchmarks/host_sets.py --differences 1000000

The usual loop is that of filters of crawls: the host by urllib.parse.urlsplit, and it and its parent domains looked up
in a set of Python; and the same with tldextract, if it is installed, for the registrable domain. Times are those of the
processor. The last form counts differences between the loop and HostSet on URLs of files *.txt of a folder, as they are
and mutated: letter case, subdomains, userinfo, ports, dots, percent-encoding, IDN, other bytes.
"""

import argparse
import os
import random
import re
import sys
import tempfile
from functools import partial
from itertools import chain, cycle, islice
from pathlib import Path
from time import perf_counter, process_time
from urllib.parse import unquote, urlsplit

import idna

from uricodec import bulk
from uricodec.uri import HostSet

WORDS = [
    "shop",
    "ads",
    "track",
    "cdn",
    "mail",
    "img",
    "static",
    "news",
    "blue",
    "green",
    "red",
    "fast",
    "data",
    "cloud",
]
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


def careful(url, entries):
    """The same, with what HostSet does for hosts beyond ASCII, percent-encoding and the dot at the end."""
    try:
        host = unquote(urlsplit(url).hostname or "", errors="surrogateescape")
    except ValueError:
        return None
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True, std3_rules=True).decode()
        except ValueError:
            host = re.sub("[\u3002\uff0e\uff61]", ".", host)
    host = host.lower().removesuffix(".")
    if re.fullmatch("[0-9]+|0x[0-9a-f]*", host.rpartition(".")[2]):
        return host if host in entries else None  # nothing is above an address
    return parents(host, entries)


def timed(call, *arguments, clock=process_time):
    """Return how long a call took, and its result."""
    start = clock()
    result = call(*arguments)
    return clock() - start, result


def row(what, seconds, count, unit, checked=""):
    print(f"| {what} | {seconds:.3f} s | {count / seconds / 1e6:.2f} M {unit}/s | {checked} |", flush=True)


def measure(hosts_count, rows):
    """Print the tables."""
    import pyarrow as pa

    chance = random.Random(43)
    hosts = names(hosts_count, chance)
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


# --- differences ------------------------------------------------------------------------------------------------------


def real_urls(folder):
    """The lines of files that are http or https URLs, in files in turns."""
    for path in sorted(Path(folder).glob("*.txt")):
        for line in path.read_bytes().splitlines():
            if line[:4].lower() == b"http" and line[4:8].lstrip(b"sS")[:3] == b"://":
                yield line.decode("utf-8", "replace")


def mutated(url, chance):
    """A URL that is spelled in another way, or is another one, perhaps an invalid one."""
    scheme, _, rest = url.partition("://")
    cut = next((i for i, each in enumerate(rest) if each in "/?#"), len(rest))
    authority, rest = rest[:cut], rest[cut:]
    before, at, host = authority.rpartition("@")
    host, colon, port = host.partition(":")
    kind = chance.randrange(10)
    if kind == 0:
        host = "".join(chance.choice((each.upper(), each.lower())) for each in host)
    elif kind == 1:
        host = chance.choice(["www.", "a.b.", "not", "-"]) + host
    elif kind == 2:
        before, at = chance.choice(["me", "u:p", "a@b", "example.com"]), "@"
    elif kind == 3:
        colon, port = ":", chance.choice(["80", "", "8080", "x", "80:90"])
    elif kind == 4:
        host += "."
    elif kind == 5 and host:
        i = chance.randrange(len(host))
        host = host[:i] + "".join(f"%{byte:02X}" for byte in host[i].encode()) + host[i + 1 :]
    elif kind == 6:
        host = chance.choice(["bücher.", "ü.", "例え.", "xn--bcher-kva.", "BÜCHER。", "😀."]) + host
    elif kind == 7:
        rest = chance.choice(["", "/", "?", "#", "/a@b.com", "?u=//x.com/", "#//x.com", "//x.com"])
    elif kind == 8:
        i = chance.randrange(len(host) + 1)
        host = host[:i] + chance.choice("!$&'()*+,;=_~ \"<>^`{|}.é") + host[i:]
    else:
        scheme = chance.choice(["HTTP", "ftp", "x-y", "https"])
    return f"{scheme}://{before}{at}{host}{colon}{port}{rest}"


def differences(count):
    """Print how many of real and mutated URLs have another result than the careful loop."""
    folder = os.environ.get("URICODEC_CORPORA")
    if not folder:
        sys.exit("URICODEC_CORPORA is not set: the folder with files of URLs")
    chance = random.Random(7)
    urls = sorted({*real_urls(folder)})
    hosts = sorted({host for url in urls if (host := careful(url, Everything()))})
    listed = [*chance.sample(hosts, len(hosts) // 5), "ua", "co.uk", "xn--bcher-kva.com"]
    report = HostSet.read("\n".join(listed).encode())
    entries = {*report}
    chance.shuffle(urls)
    tried = list(islice(chain(urls, (mutated(url, chance) for url in cycle(urls))), count))
    found = bulk.match(tried, report)
    wrong = [
        (url, mine, wanted) for url, mine in zip(tried, found, strict=True) if (wanted := careful(url, entries)) != mine
    ]
    print(
        f"{len(tried)} URLs, {min(len(urls), count)} of them real; {len(entries)} entries; "
        f"{sum(map(bool, found))} matches; {len(wrong)} differences"
    )
    for url, mine, wanted in wrong[:20]:
        print(f"  {url!r}: {mine!r} instead of {wanted!r}")


class Everything:
    """A set that has whatever is asked for."""

    def __contains__(self, _item):
        return True


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--differences", type=int)
    given = parser.parse_args()
    if given.differences:
        differences(given.differences)
    else:
        measure(given.hosts, given.rows)
