"""Find identifiers that were seen before: a table of fingerprints, compared with a Python set and a dict of counts.

Batches have 65,536 rows: all new, all seen in another order, or half of them seen within the last thousand rows.
Creating batches is not timed, nor is creating the bytes objects for the set. `extra_info` has nanoseconds per row,
bytes per identifier (of the set: without its values), and whether the number of new identifiers equals that of the set.

python -m pytest benchmarks/test_table.py
"""

import random
import sys
from time import process_time

import pytest

from uricodec.dedup._table import FingerprintBatch, Table

COUNT = 500_000
BATCH = 1 << 16
RNG = random.Random(1)
OCTETS = RNG.randbytes(16 * COUNT)
NEW = [OCTETS[i : i + 16] for i in range(0, 16 * COUNT, 16)]
KINDS = {
    "new": (NEW, []),
    "seen": (NEW, RNG.sample(NEW, COUNT)),
    "near": ([], [NEW[i // 2 if i % 2 else max(i // 2 - RNG.randrange(1000), 0)] for i in range(COUNT)]),
}
TABLES = {
    "uricodec": {},
    "uricodec, filled up": {"limit": 10_300_000},
    "uricodec, counting": {"counting": True},
    "uricodec, exact": {"exact": True},
}


def with_table(before, rows, limit=1 << 32, counting=False, exact=False):
    def batches(values):
        parts = [values[i : i + BATCH] for i in range(0, len(values), BATCH)]
        return [FingerprintBatch(b"".join(part), [value.hex().encode() for value in part]) for part in parts]

    first, timed = batches(before), batches(rows)
    table = Table(limit, counting, exact)
    for names in first:
        table.add(names)
    start = process_time()
    for names in timed:
        table.add(names)
    return process_time() - start, table.count, table.size


def with_set(before, rows):
    names, rows = set(before), [bytes(memoryview(value)) for value in rows]  # whose hashes are not known yet
    start = process_time()
    for value in rows:
        if value not in names:
            names.add(value)
    return process_time() - start, len(names), sys.getsizeof(names)


def with_dict(before, rows):
    counts, rows = dict.fromkeys(before, 1), [bytes(memoryview(value)) for value in rows]
    start = process_time()
    for value in rows:
        counts[value] = counts.get(value, 0) + 1
    return process_time() - start, len(counts), sys.getsizeof(counts)


@pytest.mark.parametrize("library", [*TABLES, "set", "dict"])
@pytest.mark.parametrize("kind", KINDS)
def test_table(benchmark, kind, library):
    before, rows = KINDS[kind]
    if not rows:
        before, rows = [], before
    call = {"set": with_set, "dict": with_dict}.get(library, with_table)
    seconds, size = [], 0

    def run():
        nonlocal size
        time, count, size = call(before, rows, **TABLES.get(library, {}))
        seconds.append(time)
        assert count == len({*before, *rows})

    benchmark.group = f"table, {kind}"
    benchmark.pedantic(run, rounds=3)
    benchmark.extra_info |= {
        "ns a row": round(sorted(seconds)[len(seconds) // 2] / len(rows) * 1e9, 1),
        "bytes per identifier": round(size / len({*before, *rows}), 1),
    }
