"""Generate millions of log paths, URNs, URLs and lines of logs, the same in every run, for columns and for files.

    python benchmarks/corpus.py urns 10000000 urns.txt
    python benchmarks/corpus.py urls 10000000 urls.txt
    python benchmarks/corpus.py paths 2000000 paths.txt
    python benchmarks/corpus.py combined 1000000 access.log
    python benchmarks/corpus.py caddy 400000 caddy.log

As in real corpora of URNs, the frequency of a URN or URL falls with its rank (Zipf, exponent 0.7), and some of its
occurrences are spelled differently. One line in five has a URN or the URL of a page that did not occur before.
"""

import json
import random
import sys
import time
from itertools import accumulate
from urllib.parse import quote

WORDS = (  # noqa: SIM905  (a list of a line each would be longer than the file)
    "the of and to in is for on with at by from have this that they which were time year people way day man thing "
    "world life hand part child eye place work week case point company number group problem fact good new first last"
).split()
# Letters, as ranges of code points: Latin, Greek, Cyrillic, Hebrew, Devanagari, Thai, kana, Chinese, Korean.
SCRIPTS = (
    *((0xDF, 0xFF), (0x3B1, 0x3C9), (0x430, 0x44F), (0x5D0, 0x5EA), (0x915, 0x939), (0xE01, 0xE2E)),
    *((0x3041, 0x3090), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3)),
)
BATCH = 100_000


def plain_path(rng):
    """Return a path of an English site: 30 bytes on average, one in twenty with triplets."""
    text = "".join(f"/{rng.choice(WORDS)}" for _ in range(rng.randint(2, 10)))
    return text + "?q=a%20b%2Bc" if rng.random() < 0.05 else text


def word(rng):
    """Return a word in one of the scripts, percent-encoded."""
    first, last = rng.choice(SCRIPTS)
    return quote("".join(chr(rng.randint(first, last)) for _ in range(rng.randint(2, 7))))


def path(rng):
    """Return a path of a multilingual site: 85 bytes on average, three quarters with triplets, then 27 on average."""
    text = plain_path(rng).partition("?")[0][:20]
    if rng.random() < 0.24:
        return text
    text += "/" + "%20".join(word(rng) for _ in range(rng.randint(1, 2)))
    return text + f"?{rng.choice(WORDS)}=" + "+".join(word(rng) for _ in range(rng.randint(0, 2)))


def urn(rng):
    """Return a URN of 40 bytes on average."""
    scheme, nid = rng.choice((("urn", "isbn"), ("URN", "NBN"), ("urn", "example"), ("urn", "Uuid")))
    return f"{scheme}:{nid}:{rng.getrandbits(112):028x}{rng.choice(('', '', '%2f'))}"


def spellings(name):
    """Return a random URN with the frequency of its rank, in one of its equivalent spellings."""
    scheme, nid, nss = name.split(":")
    return name, name, name, f"{scheme}:{nid.upper()}:{nss}", f"Urn:{nid}:{nss.replace('%2f', '%2F')}"


def urns(count, rng):
    """Yield batches of URNs. There are a quarter as many different URNs as lines."""
    names = [spellings(urn(rng)) for _ in range(count // 4)]
    yield from occurrences(names, rng.choice, count, rng)


def occurrences(names, spell, count, rng):
    """Yield batches of names, spelled by a function. The frequency of a name is that of its rank."""
    weights = list(accumulate((i + 1) ** -0.7 for i in range(len(names))))
    for first in range(0, count, BATCH):
        some = rng.choices(names, cum_weights=weights, k=min(BATCH, count - first))
        yield map(spell, some)


def page(rng):
    """Return the URL of a page, 55 bytes on average, as the policy `crawl` writes it."""
    site = f"{rng.choice(('www.', 'docs.', 'shop.', ''))}{rng.choice(WORDS)}-{rng.randrange(10**4)}"
    path = "/".join(rng.choices(WORDS, k=rng.randint(1, 5)))
    query = f"?id={rng.randrange(10**7)}" if rng.random() < 0.7 else f"/{rng.randrange(10**7)}.html"
    more = f"&lang={rng.choice(WORDS)}" if query[0] == "?" and rng.random() < 0.4 else ""
    return f"https://{site}.{rng.choice(('com', 'org', 'net', 'de', 'co.uk', 'com.br'))}/{path}{query}{more}"


def link(url, rng):
    """Return the URL of a page as links to it spell it. The policy `crawl` merges all, level `scheme` four in five."""
    way = rng.randrange(10)
    if way < 4:
        return url
    if way == 4:
        return f"{url}#{rng.choice(WORDS)}"
    if way == 5:
        return f"{url}{'&' if '?' in url else '?'}utm_source={rng.choice(WORDS)}&utm_medium=mail"
    host, _, path = url[8:].partition("/")
    if way == 6:
        return f"HTTPS://{host}:443/{path}"
    if way == 7:
        return f"https://{host.title()}/./{path}"
    return f"https://{host}/{path.replace('t', '%74', 1)}"


def urls(count, rng):
    """Yield batches of URLs. There are a quarter as many different pages as lines."""
    pages = [page(rng) for _ in range(count // 4)]
    yield from occurrences(pages, lambda url: link(url, rng), count, rng)


def paths(count, rng):
    for first in range(0, count, BATCH):
        yield (path(rng) for _ in range(min(BATCH, count - first)))


def requests(count, rng):
    """Yield dicts of what logs say of requests, in the order of their time."""
    for i in range(count):
        yield {
            "client": f"192.0.{rng.randrange(4)}.{rng.randrange(256)}",
            "time": 1728568536 + i / 50,
            "target": path(rng) if rng.random() < 0.3 else plain_path(rng),
            "status": rng.choice((200, 200, 200, 304, 404, 500)),
            "size": rng.randrange(10**5),
            "duration": round(rng.random() / 3, 6),
            "referer": f"https://www.example.com{plain_path(rng)}",
            "agent": f"Mozilla/5.0 (X11; Linux x86_64; rv:{rng.randrange(90, 140)}.0) Gecko/20100101 Firefox/128.0",
        }


def combined(count, rng):
    """Yield one batch, of lines as Apache writes them, 210 bytes on average."""
    yield (
        '{client} - - [{when}] "GET {target} HTTP/1.1" {status} {size} "{referer}" "{agent}"'.format(
            when=time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(each["time"])), **each
        )
        for each in requests(count, rng)
    )


def caddy(count, rng):
    """Yield one batch, of lines as Caddy writes them, 530 bytes on average."""
    yield (json.dumps(caddy_of(each), separators=(",", ":")) for each in requests(count, rng))


def caddy_of(each):
    headers = {"User-Agent": [each["agent"]], "Accept": ["*/*"], "Referer": [each["referer"]]}
    request = {"remote_ip": each["client"], "remote_port": "41342", "client_ip": each["client"], "proto": "HTTP/2.0"}
    request |= {"method": "GET", "host": "www.example.com", "uri": each["target"], "headers": headers}
    whole = {"level": "info", "ts": each["time"], "logger": "http.log.access", "msg": "handled request"}
    whole |= {"request": request, "bytes_read": 0, "user_id": "", "duration": each["duration"]}
    return whole | {"size": each["size"], "status": each["status"]}


def write(batches, file):
    with open(file, "w", encoding="utf-8", newline="\n") as output:
        for batch in batches:
            output.writelines(f"{line}\n" for line in batch)


if __name__ == "__main__":
    what, count, file = sys.argv[1:]
    generate = {"urns": urns, "urls": urls, "paths": paths, "combined": combined, "caddy": caddy}[what]
    write(generate(int(count), random.Random(what)), file)
