"""Compare uricodec with other programs, and with slow references, on far more inputs than the tests.

    python tools/differential.py hosts [N [SEED]]     uri.agreed_host: other parsers find the same host and port
    python tools/differential.py whatwg [N [SEED]]    the policy "whatwg": Ada makes the same href, or rejects, too
    python tools/differential.py redact [N [SEED]]    uri.redact, redact_text: secrets go, all other bytes stay
    python tools/differential.py logs [N [SEED]]      logs.count: goaccess, lnav and DuckDB count alike

N is how many random inputs are drawn; the default takes some minutes on two cores. Inputs also come from tests/data,
examples, and the folder URICODEC_CORPORA, if it is set: URLs in *urls*.txt and hrefs*.txt, logs in log_*.log. It needs
the dependency group `differential`; Node, libcurl, goaccess and lnav are left out, with a message, if they are missing.
URICODEC_PROCESSES limits the processes.

The exit status is 1 if there is a difference. Differences with a known reason are only counted.
"""

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote

ROOT = Path(__file__).resolve().parent.parent
CORPORA = Path(os.environ.get("URICODEC_CORPORA", "no such folder"))
BATCH = 10_000
SHOWN = 5  # differences of a batch that are printed

sys.path.append(str(ROOT / "tests"))  # for `reference`

from uricodec import logs as uricodec_logs  # noqa: E402
from uricodec import uri  # noqa: E402
from uricodec.errors import AmbiguousUrlError, UriError  # noqa: E402

# --- what all comparisons share ---------------------------------------------------------------------------------------


def pieces(text):
    return text.split(" ")


PIECES = pieces(
    "http:// https:// ws:// WSS:// http:/ http: http:/// http:\\\\ // ftp:// file:// foo: foo:// blob:http:// "
    "javascript: data: http file /// / \\ /\\ ? # @ @@ : :@ :: % %zz %00 %23 %2e %2E%2e %2f %3f %40 %41 %5c %C3 "
    "%ff %C3%A9 %E3%80%82 & ; = :80 :443 :0 :00 :080 :00080 :65535 :65536 :99999 :-1 :+1 :8a :80:80 :x \t \n \r "
    "\0 \x01 \x0b \x1f \x7f \x80 \xa0 \xad \u200b \u2028 \ufeff \u3002 \uff0e \uff0f \uff10 \uff1a \uff20 \u2100 "
    "\u2160 \u212a \u2260 \u0130 \u0131 \xdf \u2488 \u0308 \u0338 <\u0338 K\u030a a\u200db \u094d\u200d \u0627 "
    "\u05d0 \ud55c \u0915\u094d\u0937 \ufdfa \ufb00 \u338f \u65e5\u672c \xe9 \ufffd \ufdd0 \U0001f4a9 \U0010ffff "
    "xn-- xn--a xn--bcher-kva xn--zca XN--ZCA [ ] [::1] [:: ::1] [v1.a] [1:2::3.4.5.6] [ffff::] [1::8:0:0:0:1] "
    "[::ffff:1.2.3.4] [0:0:1:: [::%1] a A g x b.c A.B _ - . .. ... .%2e 0 1 08 0x 0x7f 0177 127 256 4294967295 "
    "4294967296 1.2.3 1.2.3.4. 0.0.0.0x100 127.0.0.1 169.254.169.254 localhost LOCALHOST good.example "
    "evil.example example.com 80 443 65535 00080 user:pw@ https ws wss:/ ftp foo mailto: "
    "HTTPS:\\\\ %2F \u2167 C: c| C%7C D|/ /C:/ u@ u:p@ ' \" < > { } | ^ ` * ! $ ( ) + , ~"
)
PIECES += [":8 0", " "]


def warn(text):
    print(text, file=sys.stderr)


def differs(counts, text):
    """Count a difference, and print the first ones."""
    counts["different"] += 1
    if counts["different"] <= SHOWN:
        print(f"  DIFFERENT: {text}\n", end="", flush=True)  # at once, as processes share the output


def mutated(rng, text, pieces, changes, within):
    """Put so many pieces into a text, or in place of parts of it, or cut these; `within` is where most changes are."""
    for _ in range(changes):
        at = rng.randrange(min(len(text), within) + 1)
        text = text[:at] + rng.choice((*[rng.choice(pieces)] * 3, text[:0])) + text[at + rng.choice((0, 0, 1, 2)) :]
    return text


@cache
def corpus():
    """The lines of the corpora of URLs, each once."""
    paths = sorted({*CORPORA.glob("*urls*.txt"), *CORPORA.glob("hrefs*.txt")})
    return list(dict.fromkeys(line for path in paths for line in path.read_text("utf-8", "replace").splitlines()))


@cache
def web_platform_tests():
    """Pairs of URL and base of urltestdata.json, if the tests or the corpora have it."""
    paths = [*ROOT.glob("tests/data/**/urltestdata.json"), CORPORA / "wpt/urltestdata.json"]
    tests = json.loads(paths[0].read_text("utf-8")) if paths[0].exists() else []
    return [(scalars(test["input"]), scalars(test.get("base"))) for test in tests if isinstance(test, dict)]


def scalars(text):
    """A text without lone surrogates, which Ada does not take."""
    return text and text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sample(items, count):
    return random.Random(0).sample(items, min(len(items), count))


def in_batches(function, items):
    return [partial(function, items[at : at + BATCH]) for at in range(0, len(items), BATCH)]


def random_batches(function, count, seed):
    """Calls of `function` that each draw a part of `count` inputs, with another seed."""
    sizes = [BATCH] * (count // BATCH) + [count % BATCH]
    return [partial(function, random.Random(f"{seed}.{at}"), size) for at, size in enumerate(sizes) if size]


def call(function):
    return function()


# --- hosts ------------------------------------------------------------------------------------------------------------


def hosts(count, seed):
    from reference.url_parsers import PARSERS

    missing = {"urllib3", "requests", "yarl", "httpx", "ada", "node", "curl"} - PARSERS.keys()
    warn(f"parsers: {', '.join(PARSERS)}; not installed: {', '.join(sorted(missing)) or 'none'}")
    real = [url for url in map(absolute, corpus()) if url]
    yield "rows of tests/data", in_batches(compare_hosts, tricks())
    yield "web platform tests", in_batches(compare_hosts, [url for url, _ in web_platform_tests()])
    yield "corpora", in_batches(partial(compare_hosts, is_real=True), real)
    yield "generated", random_batches(compare_generated_hosts, count, seed)


def absolute(line):
    """The URL of a line: all of it, or its last word."""
    words = line.split()
    found = (each for each in (line, *words[-1:]) if re.match("(https?|wss?)://", each, re.IGNORECASE))
    return next(found, None)


@cache
def tricks():
    lines = (ROOT / "tests/data/agreed_hosts.tsv").read_text("utf-8").splitlines()
    return [json.loads(line.split("\t")[0]) for line in lines if line and not line.startswith("# ")]


def compare_generated_hosts(rng, count):
    real = sample([*filter(None, map(absolute, corpus()))], 2000)
    seeds = [*tricks(), *(url for url, _ in web_platform_tests()), *real]
    drawn = [mutated(rng, rng.choice(seeds), [*PIECES, "\ud800"], rng.choice((1, 1, 2, 3)), 40) for _ in range(count)]
    return compare_hosts(drawn)


def agreed(url, **options):
    """Return the host and port, and the code of the error: one of these is None."""
    from reference.url_parsers import found

    try:
        host = uri.agreed_host(url, **options)
    except AmbiguousUrlError as error:
        return None, error.code
    return found(host.scheme, host.host, host.port), None


def compare_hosts(urls, is_real=False):
    """Compare what is accepted; of real URLs, also count what others read alike, and uricodec rejects."""
    from reference.url_parsers import PARSERS

    counts = Counter(URLs=len(urls))
    ours = {url: (agreed(url), agreed(url, userinfo="allow", trailing_dot="allow")) for url in urls}
    asked = [url for url, (_, (host, _)) in ours.items() if host or is_real]
    theirs = zip(asked, *(function(asked) for function in PARSERS.values()), strict=True)
    for url, *found in theirs:
        (strict, code), (lenient, _) = ours[url]
        others = dict(zip(PARSERS, found, strict=True))
        if not strict:
            del others["urllib.request"]  # it takes userinfo as a part of the host
        if not lenient:
            if None not in others.values() and len({*others.values()}) == 1:
                counts[f"rejected alone: {code}"] += 1
            continue
        counts["accepted" if strict else "accepted with options"] += 1
        for name, host in others.items():
            if host is None:
                counts[f"rejected by {name}"] += 1
            elif host != (strict or lenient):
                differs(counts, f"{name} finds {host} in {url!r}, not {strict or lenient}")
    return counts


# --- whatwg -----------------------------------------------------------------------------------------------------------

BASES = (
    *("http://u:p@h:1/a/b?q#f", "https://h/", "file:///C:/a/b", "file:///a/b?q", "file://h/x", "foo://h/a", "foo://h"),
    *("foo:/a/b/../c", "foo:/.//x/y", "foo:opaque?q#f", "mailto:x", "ws://h/p", "ftp://h/p/", "foo:///p", "file:///C:"),
)
STARTS = ("http://", "https://", "file:///", "foo://", "foo:", "file:", "//", "/", "http://u:p@", " http://", "..", "")


def whatwg(count, seed):
    if not find_spec("ada_url"):
        raise SystemExit("Ada (the package ada-url) is not installed.")
    yield "web platform tests", in_batches(compare_hrefs, web_platform_tests())
    yield "corpora", in_batches(compare_hrefs, [(url, None) for url in corpus()])
    yield "generated", random_batches(compare_generated_hrefs, count, seed)


def compare_generated_hrefs(rng, count):
    real, pairs = sample(corpus(), 5000), []
    for _ in range(count):
        if real and rng.randrange(2):
            url = mutated(rng, rng.choice(real), PIECES, rng.choice((1, 1, 2, 3)), rng.choice((12, 40, 100)))
        else:
            url = rng.choice(STARTS) + "".join(rng.choices(PIECES, k=rng.randrange(9)))
        pairs.append((url, rng.choice(BASES) if rng.randrange(2) else None))
    return compare_hrefs(pairs)


def compare_hrefs(pairs):
    import ada_url

    counts = Counter(URLs=len(pairs))
    for url, base in pairs:
        ours = theirs = None
        with contextlib.suppress(UriError):
            ours = uri.normalize(url, policy="whatwg", base=base)
        with contextlib.suppress(ValueError):
            theirs = ada_url.URL(url, base).href
        counts["valid"] += ours is not None
        if uri.is_valid(url, "whatwg", base=base) != (ours is not None):
            differs(counts, f"is_valid() and normalize() for {url!r}, base {base!r}")
        if ours != theirs:
            known = reason(url, base, ours)
            if known:
                counts[f"known reason: {known}"] += 1
            else:
                differs(counts, f"{url!r}, base {base!r}: {ours!r}, Ada {theirs!r}")
    return counts


def reason(url, base, href):
    """Return the known reason of a difference to Ada, if tests/reference/whatwg.py agrees with the package."""
    from reference import whatwg as reference

    try:
        expected = reference.normalize(url.encode(), base and base.encode()).decode()
    except reference.Failure:
        expected = None
    found = re.match(r"(?:[^:/\\]*:)?[/\\]*([^/\\?#]*)", re.sub("[\t\n\r]", "", url).strip())
    if found is None or expected != href:
        return None
    host = unicodedata.normalize("NFKC", unquote(found[1].rpartition("@")[2]).lower()).replace("\u3002", ".")
    # No characters precede the delimiter, so that it is not one (RFC 3492 section 6.2), but Ada takes it for one.
    if any(label.startswith("xn--") and label.rfind("-") == 4 for label in host.split(".")):
        return "Punycode"
    for label in host.split("."):
        with contextlib.suppress(UnicodeError, OverflowError):
            host += label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else ""
    # Ada, idna and Python have different versions of Unicode.
    if any(unicodedata.category(c) == "Cn" for c in host):
        return "version of Unicode"
    # After the first valid joiner, Ada accepts what follows in the label.
    if "\u200c" in host or "\u200d" in host:
        return "joiner"
    # Ada looks at labels one by one; all labels of a Bidi domain name have to obey the rule (UTS 46 section 4.1).
    return "Bidi Rule" if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in host) else None


# --- redact -----------------------------------------------------------------------------------------------------------

NAMES = pieces("token TOKEN tok%65n %74oken tok%2565n +token token[] user[token] x-a X-Amz-A t.o-ken")
EQUALS = ("=", "=", "%3D", "%253D")
BETWEEN = pieces(
    "https://h.example http:// // /a/b /%C3%A9 ? & ; # = @ : q=1 &b=c ;d=e %3F %26 %3D %2540 %3A%2F%2F &amp; "
    "\\u0026 \\/ [::1]:80 % %2 \xe9 \xff + '"
)
BYTES = [bytes([byte]) for byte in range(256)]


def redact(count, seed):
    yield "URLs with secret parameters", random_batches(compare_parameters, count, seed)
    yield "URLs and texts with userinfo", random_batches(compare_userinfo, count, seed)
    yield "URLs and texts with planted secrets", random_batches(compare_planted, count, seed)


def url_with_secrets(rng):
    """Return a URL with secret parameters, perhaps with userinfo, perhaps inside another URL; and the secrets."""
    parts, secrets = [], []
    for _ in range(rng.randrange(1, 4)):
        between = "".join(rng.choices(BETWEEN, k=rng.randrange(6))).encode("utf-8")
        secret = b"SECRET%d" % rng.randrange(10**9)
        secrets.append(secret)
        value = rng.choice((b"", b"%2F", b"a/b?", b"+=")) + secret + rng.choice((b"", b"%3D", b"==", b"~:@", b"\xff"))
        start, end = rng.choice(((b"?", b"&"), (b"&", b"&"), (b"#", b"&"), (b"?", b"#"), (b"&", b"&amp;")))
        name = (rng.choice(NAMES) + rng.choice(EQUALS)).encode()
        parts += [mutated(rng, between, BYTES, rng.randrange(3), 99), start, name, value, end]
    parts.append(mutated(rng, b"".join(rng.choices((b"a=1", b"&b", b"#c", b"/d"), k=2)), BYTES, rng.randrange(3), 99))
    nesting = max(0, rng.randrange(-1, 3))
    if rng.randrange(4) == 0:
        secrets.append(b"SECRETuser")
        starts = (b"https://", b"http:\\\\") if nesting else (b"https://", b"//", b"http:\\/\\/")
        parts.insert(0, rng.choice(starts) + b"SECRETuser:SECRETuser@h/")
    url = b"".join(parts)
    for _ in range(nesting):
        url = b"/?next=" + quote_from_bytes(url, safe="").encode() + rng.choice((b"", b"&a=1", b"#"))
    return url, secrets


def compare_parameters(rng, count):
    from reference.redact import redact as expected

    counts, names = Counter(URLs=count), ("token", "x-a*")
    for _ in range(count):
        url, secrets = url_with_secrets(rng)
        found = uri.redact(url, names)
        is_left = any(secret in found for secret in secrets)
        if is_left or found != expected(url, names):
            differs(counts, f"{'a secret is left' if is_left else 'another byte changes'}: {url!r}: {found!r}")
    return counts


def compare_userinfo(rng, count):
    from reference import planted  # which knows what it planted, and reads nothing

    counts = Counter(URLs=count)
    for _ in range(count):
        in_text = rng.randrange(2) == 0
        function = uri.redact_text if in_text else uri.redact
        drawn = planted.draw(rng, in_text)
        found = function(drawn.text)
        is_left = drawn.secret in found and drawn.secret not in drawn.redacted
        if is_left or found != drawn.redacted or function(found) != found:
            differs(counts, f"{'a secret is left' if is_left else 'another byte changes'}: {drawn.text!r}: {found!r}")
    return counts


def compare_planted(rng, count):
    from reference import planted

    counts = Counter()
    for _ in range(count):
        in_text = rng.randrange(4) == 0
        kind, drawn = planted.draw_secrets(rng, in_text)
        found = (uri.redact_text if in_text else uri.redact)(drawn.with_secrets, planted.NAMES, True, planted.PATHS)
        counts[kind] += 1
        if found != drawn.redacted:
            is_left = b"SECRET" in found
            text = f"{'a secret is left' if is_left else 'another byte changes'}: {drawn.with_secrets!r}: {found!r}"
            differs(counts, text)
    return counts


# --- logs -------------------------------------------------------------------------------------------------------------

# Formats that other readers know, and how they name them: goaccess its presets, lnav its tables.
GOACCESS = {"common": "COMMON", "combined": "COMBINED", "vhost_combined": "VCOMBINED", "cloudfront": "CLOUDFRONT"}
GOACCESS |= {"s3": "AWSS3", "alb": "AWSALB"}
LNAV = dict.fromkeys(["common", "combined", "vhost_combined", "nginx", "nginx-ingress", "lighttpd"], "access_log")
LNAV |= dict.fromkeys(["iis", "cloudfront"], "w3c_log")

# Why a reader does not read a line: the first pattern that is found in the line.
UNREAD = [
    ("COMBINED", r'" \d+ (\d+|-)$', "expects a referer and an agent"),
    ("VCOMBINED", r"^[^ :]+ [\d.]+ ", "expects a port after the site"),
    ("CLOUDFRONT", r"^[\d-]{10}(\t[^\t]*){,20}$", "expects all fields, whatever #Fields says"),
    ("w3c_log", r"^[\d-]{10} [\d:]{8} [\d.]+ [A-Z]+ ", "reads the fields of the first #Fields"),
    ("access_log", r'\] "[A-Z]+ [^ "]+" \d', "expects a protocol (this is HTTP/0.9)"),
    ("access_log", r'\] "(-"|\\)', "expects a method, a target and a protocol"),
    ("access_log", r"^[^ ]+ [^ ]+:\d+ ", "expects no port in the second field"),
    ("access_log", r"^[^ ]+ - [^ ]+ - - ", "expects one user"),
]

# Fields and conditions, and the same in SQL over the Arrow table. Minutes are counted from 1970.
CLASS = "CASE WHEN status BETWEEN 100 AND 999 THEN status // 100 || 'xx' END"
QUERIES = [
    (["status"], [], "status", "true"),
    (["client"], [], "client", "true"),
    (["method", "status:class"], [], f"method, {CLASS}", "true"),
    (["time:minute"], [], "floor(epoch_us(time) / 60e6)::BIGINT", "true"),
    (["path"], ["status>=400"], "path", "status >= 400"),
    (["path"], ["bytes_sent<5000", "method!=POST"], "path", "bytes_sent < 5000 AND method <> 'POST'"),
    (["client"], ["path^=/i", "referer="], "client", "starts_with(path, '/i') AND referer IS NULL"),
    (["user_agent"], ["user_agent*=bot"], "user_agent", "contains(user_agent, 'bot')"),
]  # fmt: skip


LOG_PIECES = [*BYTES, *(each.encode() for each in pieces(r"""\" - [ ] "," 0 999 -1 \x16 %41 POST " "- """))]


def log_files(count, seed):
    missing = [tool for tool in ("goaccess", "lnav") if not shutil.which(tool)]
    warn(f"not installed: {', '.join(missing) or 'none'}")
    yield from ((path.name, [partial(compare_log, path)]) for path in [*sorted(CORPORA.glob("log_*.log")), *examples()])
    yield "generated lines, by DuckDB", random_batches(compare_generated_lines, count, seed)


def examples():
    return sorted(ROOT.glob("examples/**/*.log"))


def read_log(path):
    """Return the lines of a log, its format, and the numbers of the lines that uricodec rejects."""
    lines, invalid = path.read_bytes().splitlines(), []
    format = uricodec_logs.detect(b"\n".join(lines))[0].format.text
    sum(1 for _ in uricodec_logs.count(b"\n".join(lines), ["status"], format, invalid=invalid))
    return lines, format, {each.line - 1 for each in invalid}


def compare_log(path):
    lines, format, rejected = read_log(path)
    kept = [line for number, line in enumerate(lines) if number not in rejected]
    counts = Counter(lines=len(lines), rejected=len(rejected))
    compare_with_sql(counts, b"\n".join(kept), format)
    if len(rejected) > 1 + len(lines) // 100:
        print(f"  {path.name} is a mixture of formats, which other programs read as one")
        return counts
    for name, names, read in ("goaccess", GOACCESS, by_goaccess), ("lnav", LNAV, by_lnav):
        if format in names and shutil.which(name):
            if rejected:
                counts[f"read by {name}, but rejected"] = len(rejected - read(lines, names[format])[0])
            unread, theirs = read(kept, names[format])
            for number in unread:
                line = kept[number].decode(errors="backslashreplace")
                known = [why for own, pattern, why in UNREAD if own == names[format] and re.search(pattern, line)]
                if known:
                    counts[f"unread by {name}, which {known[0]}"] += 1
                else:
                    differs(counts, f"{name} does not read {line!r:.200}")
            data = b"\n".join(line for number, line in enumerate(kept) if number not in unread)
            compare_counts(counts, name, {field: ours_of(data, format, field) for field in theirs}, theirs)
    return counts


def compare_generated_lines(rng, count):
    counts = Counter()
    for path in examples():
        lines, format, _ = read_log(path)
        head = [line for line in lines if line.startswith(b"#")]
        lines = [line for line in lines if line not in head]
        drawn = [rng.choice(lines) for _ in range(count // len(examples()) + 1)]
        drawn = [mutated(rng, line, LOG_PIECES, rng.randrange(3), len(line)) for line in drawn]
        counts["lines"] += len(drawn)
        compare_with_sql(counts, b"\n".join(head + drawn), format)
    return counts


def ours_of(data, format, field):
    """What uricodec counts of a field of goaccess or lnav."""
    if field == "bytes":
        rows = uricodec_logs.count(data, ["status"], format, sums=["bytes_sent"])
        return Counter(bytes=sum(row["sum.bytes_sent"] for row in rows))
    counts = Counter()
    for value, count in count_by(data, format, ["time:hour" if field == "hour" else field]).items():
        counts[value and value[11:13] if field == "hour" else None if value is None else str(value)] += count
    return counts


def count_by(data, format, fields, where=()):
    """Counts of the values of a field, or of tuples of several."""
    counts = Counter()
    for row in uricodec_logs.count(data, fields, format, where=where):
        values = tuple(row[name] for name in fields)
        counts[values if len(values) > 1 else values[0]] += row["count"]
    return counts


def compare_counts(counts, name, ours, theirs):
    for field, expected in theirs.items():
        counts["tables"] += 1
        for key in ours[field].keys() | expected.keys():
            if ours[field][key] != expected[key]:
                differs(counts, f"{field} {key!r:.100}: {ours[field][key]} by uricodec, {expected[key]} by {name}")


def compare_with_sql(counts, data, format):
    """DuckDB counts what uricodec has read: conditions and counts are compared, not how lines are read."""
    import duckdb

    connection = duckdb.connect()
    connection.register("log", uricodec_logs.to_arrow(data, format).read_all())
    ours, theirs = {}, {}
    for fields, where, columns, condition in QUERIES:
        rows = connection.sql(f"SELECT {columns}, count(*) FROM log WHERE {condition} GROUP BY ALL").fetchall()
        name = " ".join([*fields, *where])
        theirs[name] = Counter({row[:-1] if len(row) > 2 else row[0]: row[-1] for row in rows})
        found = count_by(data, format, fields, where)
        if fields == ["time:minute"]:
            ours[name] = Counter()
            for minute, count in found.items():
                zoned = minute and (minute if re.search(r"Z$|[+-]\d\d:\d\d$", minute) else f"{minute}+00:00")
                moment = zoned and datetime.fromisoformat(zoned.replace("Z", "+00:00"))
                ours[name][moment and int(moment.timestamp()) // 60] += count
        else:
            ours[name] = found
    [(total,)] = connection.sql("SELECT coalesce(sum(bytes_sent), 0)::BIGINT FROM log").fetchall()
    ours["bytes"], theirs["bytes"] = ours_of(data, format, "bytes"), Counter(bytes=total)
    compare_counts(counts, "DuckDB", ours, theirs)


def output_of(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True, **options).stdout


def by_goaccess(lines, preset):
    """Return the numbers of the lines that goaccess does not read, and its counts."""
    with tempfile.TemporaryDirectory() as folder:
        log, report, rejected = Path(folder, "log"), Path(folder, "report.json"), Path(folder, "rejected")
        log.write_bytes(b"".join(line + b"\n" for line in lines))
        rejected.write_bytes(b"")
        command = ["goaccess", log, f"--log-format={preset}", "--no-global-config", "--no-ip-validation"]
        output_of(*command, "--max-items=1000000", f"--invalid-requests={rejected}", "-o", report)
        left = Counter(rejected.read_bytes().splitlines())
        found = json.loads(report.read_text("utf-8", "replace"))
    unread = set()
    for number, line in enumerate(lines):
        if left[line] > 0:
            left[line] -= 1
            unread.add(number)
    status = Counter()
    for group in found["status_codes"]["data"]:
        for item in group.get("items", [group]):
            status[item["data"][:3]] += item["hits"]["count"]
    clients, hours = (
        Counter({item["data"]: item["hits"]["count"] for item in found[panel]["data"]})
        for panel in ("hosts", "visit_time")
    )
    return unread, {
        "status": status,
        "client": clients,
        "hour": hours,
        "bytes": Counter(bytes=found["general"]["bandwidth"]),
    }


def by_lnav(lines, table):
    """Return the numbers of the lines that lnav does not read, and its counts."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        log.write_bytes(b"".join(line + b"\n" for line in lines))

        def query(columns):
            sql = f";SELECT {columns} FROM {table} WHERE sc_status IS NOT NULL"
            environment = {**os.environ, "HOME": folder, "TERM": "dumb"}
            text = output_of("lnav", "-n", "-c", sql, "-c", ":write-json-to -", log, env=environment)
            return json.loads(text.decode(errors="replace") or "[]")

        rows = query(
            "log_line, sc_status AS status, c_ip AS client, cs_method AS method,"
            " strftime('%H', log_actual_time) AS hour, sc_bytes AS bytes"
        )
    read = {row["log_line"] for row in rows}
    records = [number for number, line in enumerate(lines) if not line.startswith(b"#")]  # which it does not number
    counts = {
        field: Counter(None if row[field] is None else str(row[field]) for row in rows)
        for field in ("status", "client", "method", "hour")
    }
    unread = {number for at, number in enumerate(records) if at not in read}
    return unread, counts | {"bytes": Counter(bytes=sum(row["bytes"] or 0 for row in rows))}


# --- the program ------------------------------------------------------------------------------------------------------

# The comparisons, and how many random inputs are drawn.
SUBJECTS = {
    "hosts": (hosts, 2_000_000),
    "whatwg": (whatwg, 5_000_000),
    "redact": (redact, 1_000_000),
    "logs": (log_files, 200_000),
}


def main(subject="", count=None, seed=1):
    if subject not in SUBJECTS:
        raise SystemExit(__doc__)
    comparison, default = SUBJECTS[subject]
    failed = False
    with ProcessPoolExecutor(int(os.environ.get("URICODEC_PROCESSES", "0")) or None) as pool:
        for kind, calls in comparison(int(count or default), int(seed)):
            start = time.monotonic()
            counts = sum(pool.map(call, calls), Counter())
            failed |= counts["different"] > 0
            text = ", ".join(f"{name}: {number}" for name, number in counts.items())
            print(f"{kind}: {text or 'no inputs'} ({time.monotonic() - start:.0f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
