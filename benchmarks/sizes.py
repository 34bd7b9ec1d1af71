"""Whether time is in proportion to the number of rows, to their lengths, and to the size of files. See compare.py."""

import json
import math
import os
import random
import subprocess
import tempfile
from statistics import median
from time import process_time

from lines import isolated
from programs import URICODEC, options

from uricodec import bulk
from uricodec.bulk._operations import OPERATIONS

ROW = 40
TOTAL = 32 << 20
DISTINCT = 10_000
PIECES = "caf%C3%A9 a%20b index item search x=1&y=2 100%25 a+b 2025-03-21 q=%E4%BE%8B Path".split()  # noqa: SIM905


def sizes(arguments):
    """Cost against size, of uricodec alone: each operation of bulk, and commands over files.

    First come commands over files of up to --lines lines: the slope is the exponent of the lines in the processor time,
    1 is linear. The numbers of lines and of identifiers are compared with those of the files. 10**8 lines take 12 GB of
    memory and 17 GB of disk.

    Then come 1000, 10,000 ... --lines rows of 40 bytes in Arrow columns: nanoseconds a row; and rows of 10, 100 ...
    1,000,000 bytes, 32 MiB of each: nanoseconds a byte. Figures are medians of processor time. The growth is the
    greatest between any two sizes, from 10,000 rows, and 100 bytes, on: an operation that takes quadratic time would
    have 10 or more there.
    """
    given = options(sizes, 10_000_000).parse_args(arguments)
    most = round(math.log10(given.lines))
    operations = [each for each in OPERATIONS.values() if given.only in each.name]
    counts, lengths = [10**power for power in range(3, most + 1)], [10**power for power in range(1, 7)]
    # Before columns are made: a command begins with the memory of this process.
    of_files([10**power for power in range(5, most + 1)], given)
    by_count, by_length = {}, {}
    for kind in "uri", "urn":
        some = [each for each in operations if ("urn" in each.name) == (kind == "urn")]
        for count in counts if some else ():
            rows = column(kind, count, ROW)
            for each in some:
                by_count.setdefault(each.name, []).append(nanoseconds(each, rows) / count)
        for length in lengths if some else ():
            rows = column(kind, -(-TOTAL // length), length)
            for each in some:
                by_length.setdefault(each.name, []).append(nanoseconds(each, rows) / (len(rows) * length))
    table(f"Nanoseconds a row, by the number of rows of {ROW} bytes", [f"{count:,}" for count in counts], by_count)
    table("Nanoseconds a byte, by the bytes of a row", [f"{length:,}" for length in lengths], by_length)


# --- columns ----------------------------------------------------------------------------------------------------------


def row(rng, kind, size):
    """Return a URL or a URN of `size` bytes, or one of a few more."""
    start = {"uri": "http://a.b/", "urn": "urn:abc:"}[kind][: max(size - 1, 8)]
    pieces = []
    while size > 0:
        pieces.append(rng.choice(PIECES))
        size -= len(pieces[-1]) + 1
    text = (start + "/".join(pieces)).encode()
    return text


def column(kind, count, size):
    """Return a column of `count` rows of `size` bytes."""
    import pyarrow as pa

    rng = random.Random(size)
    distinct = [cut(row(rng, kind, size), size) for _ in range(min(count, DISTINCT, max(TOTAL // size, 1)))]
    found = pa.array(distinct, pa.large_binary())
    indices = pa.array(range(len(distinct)), pa.int64())
    repeated = pa.chunked_array([indices] * -(-count // len(distinct))).combine_chunks().slice(0, count)
    return found.take(repeated)


def cut(text, size):
    """Return the first `size` bytes of a text, without a part of a triplet at the end."""
    text = text[:size]
    percent = text.rfind(b"%", -2)
    return text if percent < 0 else text[:percent] + b"x" * (len(text) - percent)


def nanoseconds(operation, rows):
    """Return the median processor time of a call."""
    call = getattr(bulk, operation.name)
    found = []
    while len(found) < 3 or (len(found) < 100 and sum(found) < 2e8):
        start = process_time()
        result = call(rows, **operation.required, threads=1)
        found.append((process_time() - start) * 1e9)
        del result  # freeing memory is not timed
    return median(found)


def growth(values):
    """Return how many times as much as the least of the values before it a value is, at most."""
    return max(value / min(values[: i + 1]) for i, value in enumerate(values))


def table(title, heads, curve_of):
    print(f"\n{title}\n\n| operation |", *(f"{head} |" for head in heads), "growth |")
    print("| --- |" + " ---: |" * (len(heads) + 1))
    for name, values in curve_of.items():
        print(f"| {name} |", *(f"{value:.3g} |" for value in values), f"{growth(values[1:]):.2f} |")


# --- files ------------------------------------------------------------------------------------------------------------

BLOCK = 100_000  # lines
NEW = 3  # of ten lines are in one block only
NUMBER = b"@@@@@@"  # stands for the number of the block
WORDS = ("alpha", "beta", "search", "item", "page", "caf%C3%A9", "a%20b", "index.html", "2025", "x")
HOSTS = ("www.example.org", "docs.example.com", "a.example", "shop.example.net")
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def target(rng, number):
    """Return a path with a query. In three of ten it has the number of the block, and differs from all others."""
    block = NUMBER.decode() if number % 10 < NEW else "000000"
    return f"/{rng.choice(WORDS)}/{block}?id={number:05d}"


def urls(rng):
    """Return a block of URLs of 44 bytes on average. One of eight is not in normal form."""
    lines = []
    for number in range(BLOCK):
        scheme, host = rng.choice(("http", "https")), rng.choice(HOSTS)
        if number % 8 == 0:
            host = rng.choice((host.title(), f"{host}:{80 if scheme == 'http' else 443}"))
        lines.append(f"{scheme}://{host}{target(rng, number)}\n")
    return "".join(lines).encode()


def requests(rng):
    """Return a block of lines of a log in the combined format, of 170 bytes on average."""
    lines = []
    for number in range(BLOCK):
        client = f"192.0.2.{rng.randrange(256)}"
        at = f"21/Mar/2025:{number % 24:02d}:{number % 60:02d}:{number // 60 % 60:02d} +0000"
        status, size = rng.choice((200, 200, 200, 304, 404)), rng.randrange(10**5)
        line = f'{client} - - [{at}] "GET {target(rng, number)} HTTP/1.1" {status} {size} "-" "{AGENT}"\n'
        lines.append(line)
    return "".join(lines).encode()


def write(path, make, count):
    block = make(random.Random(45))
    with open(path, "wb") as file:
        for number in range(count // BLOCK):
            file.write(block.replace(NUMBER, b"%06x" % (number + 1)))


def run(arguments, path):
    """Return elapsed and processor seconds, memory in MB, and what --stats writes."""
    with tempfile.TemporaryFile() as told:
        command = [*URICODEC, *arguments, "-j", "1", "--stats", "--no-progress", path]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told)
        _, status, used = os.wait4(child.pid, 0)
        told.seek(0)
        text = told.read().decode()
    if status:
        raise SystemExit(f"failed: {command}\n{text}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, json.loads(text.splitlines()[-1])


COMMANDS = {
    "normalize, level scheme": (urls, ["normalize", "--kind", "uri", "--level", "scheme"]),
    "dedup, level scheme": (urls, ["dedup", "--kind", "uri", "--level", "scheme"]),
    "dedup, level scheme, --memory 256M": (urls, ["dedup", "--kind", "uri", "--level", "scheme", "--memory", "256M"]),
    "log": (requests, ["log", "--format", "combined"]),
}


def check(name, count, stats):
    lines = next(stats[key] for key in ("rows", "lines", "records") if key in stats)
    if lines != count:
        raise SystemExit(f"{name}: {lines} lines instead of {count}")
    distinct = count * NEW // 10 + BLOCK * (10 - NEW) // 10
    if stats.get("unique", distinct) != distinct:
        raise SystemExit(f"{name}: {stats['unique']} identifiers instead of {distinct}")


def of_files(counts, given):
    """Print what commands take. The faster one of the runs counts."""
    before = {}
    print("\n| command | lines | GB | processor seconds | ns a line | MB of memory | slope |")
    print("| --- |" + " ---: |" * 6)
    for make in urls, requests:
        some = {name: options for name, (kind, options) in COMMANDS.items() if kind is make and given.only in name}
        for count in counts if some else ():
            with tempfile.TemporaryDirectory() as folder:
                path = f"{folder}/lines.txt"
                isolated(write, path, make, count)
                for name, command in some.items():
                    processor, memory, stats = min((run(command, path) for _ in range(2)), key=lambda each: each[0])
                    check(name, count, stats)
                    slope = f"{math.log10(processor / before[name]):.2f}" if name in before else ""
                    before[name] = processor
                    figures = f"{processor:.2f} | {processor / count * 1e9:.0f} | {memory:.0f} | {slope}"
                    print(f"| {name} | {count:,} | {os.path.getsize(path) / 1e9:.2f} | {figures} |", flush=True)
