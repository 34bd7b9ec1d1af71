"""Lists of str: a bulk call, `map` of the single call, and the least that making so many objects takes.

    python benchmarks/lists.py [ROWS]

All run in turns; the figures are the least of several rounds, in nanoseconds of processor time a row. The rows are in
the order in which their objects were made, or shuffled: then neighbours in the list are far from each other in memory.
`objects` makes ASCII strings of the same lengths (by str.split), and does nothing else; `join` makes one string of the
list. If all rows change, a bulk call needs both. Outputs are compared. `two threads` is the wall time of two calls, one
after the other, over that of two threads: 1 if objects take all of it, 2 if the rows do.
"""

import gc
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from uricodec import bulk, parse, uri

WORDS = ("alpha", "beta", "search", "item", "page", "caf%C3%A9", "a%20b", "100%25", "%E4%BE%8B", "x%2Fy")
ROUNDS = 5
KINDS = {
    "unquote": (parse.unquote, bulk.unquote),
    "quote": (parse.quote, bulk.quote),
    "normalize_uri": (uri.normalize, bulk.normalize_uri),
    "is_valid_uri": (uri.is_valid, bulk.is_valid_uri),
    "redact": (uri.redact, bulk.redact),
}


def mapped(call, rows):
    return list(map(call, rows))


def elapsed(call, *arguments):
    """Return the nanoseconds of processor time a row. The result is freed afterwards."""
    gc.disable()
    start = time.process_time()
    result = call(*arguments)
    took = time.process_time() - start
    gc.enable()
    return took / len(result) * 1e9


def gain_of_two_threads(call, rows):
    """Return the wall time of two calls one after the other over that of two at once."""
    with ThreadPoolExecutor(2) as pool:
        start = time.perf_counter()
        kept = call(rows), call(rows)
        middle = time.perf_counter()
        kept = kept, list(pool.map(call, [rows, rows]))
        end = time.perf_counter()
    del kept
    return (middle - start) / (end - middle)


def main():
    rng = random.Random(1)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rows = [f"https://www.example{i % 997}.com/{rng.choice(WORDS)}/{rng.choice(WORDS)}?id={i}" for i in range(count)]
    shuffled = rng.sample(rows, count)
    print("| function | order | join | objects | map | bulk | (join + objects) / bulk | map / bulk | two threads |")
    print("| --- | --- |" + " ---: |" * 7)
    for name, (single, many) in KINDS.items():
        for order, texts in ("as made", rows), ("shuffled", shuffled):
            expected = list(map(single, texts))
            if many(texts) != expected:
                raise AssertionError(f"{name}: the outputs differ")
            lines = "\n".join("x" * len(text) for text in map(str, expected))
            del expected
            took = []
            for _ in range(ROUNDS):
                start = time.process_time()
                joined = "\n".join(texts)
                join = (time.process_time() - start) / count * 1e9
                del joined
                times = elapsed(lines.split, "\n"), elapsed(mapped, single, texts), elapsed(many, texts)
                took.append((join, *times))
            join, objects, mapping, bulk_call = map(min, zip(*took, strict=True))
            threads = median(gain_of_two_threads(many, texts) for _ in range(ROUNDS))
            shares = f"{(join + objects) / bulk_call:.2f} | {mapping / bulk_call:.2f} | {threads:.2f}"
            print(f"| {name} | {order} | {join:.0f} | {objects:.0f} | {mapping:.0f} | {bulk_call:.0f} | {shares} |")


if __name__ == "__main__":
    main()
