"""Fingerprints and tables of them, compared with hashes, a Python set, and a dict of counts.

Fingerprints: BLAKE2b runs before each round, so that disturbances of the machine affect both; xxhash and mmh3 (128
bits) run if they are installed, and SipHash, with which Python hashes bytes (64 bits). `extra_info` has millions of
identifiers per second, and the ratio to BLAKE2b.

Tables: batches have 65,536 rows: all new, all seen in another order, or half of them seen within the last thousand
rows. Creating batches is not timed, nor is creating the bytes objects for the set. `extra_info` has nanoseconds per
row, and bytes per identifier (of the set: without its values). The number of new identifiers has to be that of the set.

python -m pytest benchmarks/test_dedup.py
"""

import functools
import importlib
import random
import sys
from collections import deque
from hashlib import blake2b
from statistics import median
from time import process_time

import pytest
from data import many, url

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._counts import KeyBatch
from uricodec._counting._table import FingerprintBatch, Table

# --- fingerprints -----------------------------------------------------------------------------------------------------

IDENTIFIERS = 20_000
KEY = FingerprintKey("of the benchmarks")


def random_bytes(rng, least, most):
    return rng.randbytes(rng.randint(least, most))


NAMES = {
    "40 bytes": many(random_bytes, 40, 40, count=IDENTIFIERS),
    "20 to 80 bytes": many(random_bytes, 20, 80, count=IDENTIFIERS),
    "URNs": [b"urn:isbn:%d" % (9_780_000_000_000 + 9973 * i) for i in range(IDENTIFIERS)],
    "addresses": [text.encode() for text in many(url, count=IDENTIFIERS)],
    "1000 bytes": many(random_bytes, 1000, 1000, count=IDENTIFIERS // 10),
}


def batch(names):
    """Return a call that processes all identifiers in one buffer, as lines."""
    names = [name.replace(b"\n", b"\r") for name in names]
    lines, keys = b"\n".join(names), KeyBatch(KEY)
    keys.read(lines)
    assert keys.fingerprints == b"".join(map(KEY.fingerprint, names))
    return functools.partial(keys.read, lines)


def calls(function, make=list):
    """Return a function that calls another one for each identifier. The work of `make` is not timed."""

    def prepare(names):
        return lambda: deque(map(function, make(names)), maxlen=0)

    return prepare


def blake(name, digest=blake2b):
    return digest(name, digest_size=16, key=b"0123456789abcdef").digest()


def installed(module, function):
    try:
        return calls(getattr(importlib.import_module(module), function))
    except ImportError:
        return None


HASHES = {
    "uricodec, a batch": batch,
    "uricodec, calls": calls(KEY.fingerprint),
    "blake2b, calls": calls(blake),
    "xxh3_128, calls": installed("xxhash", "xxh3_128_digest"),
    "murmur3_128, calls": installed("mmh3", "mmh3_x64_128_digest"),
    # A memoryview has not been hashed before, as bytes have; making it is timed, too.
    f"{sys.hash_info.algorithm}, calls": calls(hash, lambda names: map(memoryview, names)),
}


def timed(call):
    start = process_time()
    call()
    return process_time() - start


@pytest.mark.parametrize("library", [name for name, prepare in HASHES.items() if prepare])
@pytest.mark.parametrize("kind", NAMES)
def test_fingerprint(benchmark, kind, library):
    names = NAMES[kind]
    call, reference, times = HASHES[library](names), calls(blake)(names), []
    benchmark.group = f"fingerprint, {kind}"
    benchmark.pedantic(call, setup=lambda: times.append(timed(reference)), rounds=20, warmup_rounds=2)
    seconds = benchmark.stats.stats.median
    benchmark.extra_info |= {
        "million names a second": round(len(names) / seconds / 1e6, 2),
        "times faster than BLAKE2b": round(median(times) / seconds, 1),
    }


# --- tables -----------------------------------------------------------------------------------------------------------

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
