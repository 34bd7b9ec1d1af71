"""Commands over files of a million to a hundred million lines: time a line, memory, and the slope of time over size.

    python benchmarks/sizes.py --folder /tmp/sizes              10**6 and 10**7 lines
    python benchmarks/sizes.py --folder /tmp/sizes --most 8     up to 10**8 lines: 4.4 GB of URLs and 17 GB of logs

Files are written to the folder in streams, one at a time, and removed afterwards; the output of a command is discarded.
A command is run on one core, twice at most, and the faster run counts. The slope is the exponent of the lines in the
processor time, between a size and the one before: 1 is linear. The number of identifiers that `dedup` finds, and the
numbers of lines, are compared with those that the files have.
"""

import argparse
import json
import math
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
        start = time.perf_counter()
        command = [sys.executable, "-m", "uricodec", *arguments, "-j", "1", "--stats", "--no-progress", path]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        told.seek(0)
        text = told.read().decode()
    if status:
        raise SystemExit(f"failed: {command}\n{text}")
    stats = json.loads(text.splitlines()[-1])
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, stats


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where files are written")
    parser.add_argument("--most", type=int, default=7, help="the most lines, as a power of ten (default: 7)")
    parser.add_argument("--only", default="", help="commands whose names contain this text")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    path = str(arguments.folder / "lines.txt")
    # Another process writes: the memory of this one would count as that of the commands that it starts.
    processes = multiprocessing.get_context("spawn")
    before = {}
    print("| command | lines | GB | seconds | processor seconds | ns a line | MB of memory | slope | load |")
    print("| --- |" + " ---: |" * 8)
    try:
        for make in urls, requests:
            some = {n: a for n, (m, a) in COMMANDS.items() if m is make and arguments.only in n}
            for power in range(6, arguments.most + 1) if some else ():
                count = 10**power
                writer = processes.Process(target=write, args=(path, make, count))
                writer.start()
                writer.join()
                size = os.path.getsize(path)
                for name, options in some.items():
                    load = os.getloadavg()[0]
                    runs = [run(options, path) for _ in range(2 if power < 8 else 1)]
                    seconds, processor, memory, stats = min(runs, key=lambda each: each[1])
                    check(name, count, stats)
                    slope = f"{math.log10(processor / before[name]):.2f}" if name in before else ""
                    before[name] = processor
                    print(
                        f"| {name} | {count:,} | {size / 1e9:.2f} | {seconds:.2f} | {processor:.2f} | "
                        f"{processor / count * 1e9:.0f} | {memory:.0f} | {slope} | {load:.1f} |",
                        flush=True,
                    )
    finally:
        Path(path).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
