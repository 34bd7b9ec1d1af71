"""Cost curves: whether each operation of the row engine takes time in proportion to the rows and to their lengths.

    python benchmarks/curves.py [--most 7] [--folder docs/concepts] [OPERATION ...]

Rows are in Arrow columns of bytes. First come 1000, 10,000 ... 10**MOST rows of 40 bytes: nanoseconds a row. Then rows
of 10, 100 ... 1,000,000 bytes, 32 MiB of each: nanoseconds a byte. `--most 8` takes 12 GB of memory. Figures are
medians of processor time. With `--folder`, two plots are written there. The last column is the greatest growth between
any two sizes, from 10,000 rows, and 100 bytes, on: an operation that takes quadratic time would have 10 or more there.
"""

import argparse
import random
from pathlib import Path
from statistics import median
from time import process_time

import pyarrow as pa
from plot import curves

from uricodec import bulk
from uricodec._rows.registry import OPERATIONS

ROW = 40
TOTAL = 32 << 20
DISTINCT = 10_000
NAMED = {"split_uri", "normalize_uri", "is_valid_uri", "host", "quote", "unquote"}  # in the plots
PIECES = (
    "caf%C3%A9",
    "a%20b",
    "index",
    "item",
    "search",
    "x=1&y=2",
    "100%25",
    "a+b",
    "2025-03-21",
    "q=%E4%BE%8B",
    "Path",
)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "operations", nargs="*", metavar="OPERATION", help="names of functions of bulk; all of them by default"
    )
    parser.add_argument("--most", type=int, default=7, help="the most rows, as a power of ten")
    parser.add_argument("--folder", type=Path, help="where plots are written")
    arguments = parser.parse_args()
    operations = [each for each in OPERATIONS.values() if not arguments.operations or each.name in arguments.operations]
    counts = [10**power for power in range(3, arguments.most + 1)]
    sizes = [10**power for power in range(1, 7)]
    by_count, by_size = {}, {}
    for kind in "uri", "urn":
        some = [each for each in operations if ("urn" in each.name) == (kind == "urn")]
        for count in counts:
            rows = column(kind, count, ROW)
            for each in some:
                by_count.setdefault(each.name, []).append(nanoseconds(each, rows) / count)
        for size in sizes:
            rows = column(kind, -(-TOTAL // size), size)
            for each in some:
                by_size.setdefault(each.name, []).append(nanoseconds(each, rows) / (len(rows) * size))
    table(f"Nanoseconds a row, by the number of rows of {ROW} bytes", [f"{count:,}" for count in counts], by_count)
    table("Nanoseconds a byte, by the bytes of a row", [f"{size:,}" for size in sizes], by_size)
    if arguments.folder:
        for name, title, xs, found in (
            ("rows", f"Nanoseconds a row of {ROW} bytes, by the number of rows", counts, by_count),
            ("lengths", "Nanoseconds a byte, by the bytes of a row", sizes, by_size),
        ):
            (arguments.folder / f"costs-{name}.svg").write_text(
                "\n".join(curves(title, xs, found, NAMED)) + "\n", "utf-8"
            )


if __name__ == "__main__":
    main()
