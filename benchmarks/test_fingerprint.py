"""Fingerprints, compared with keyed BLAKE2b and with hashes without a proven bound, in batches and single calls.

BLAKE2b runs before each round, so that disturbances of the machine affect both. `extra_info` has millions of
identifiers per second, and the ratio to BLAKE2b. The others run if they are installed: xxhash and mmh3 (128 bits), and
SipHash, with which Python hashes bytes (64 bits).

python -m pytest benchmarks/test_fingerprint.py
"""

import ctypes
import functools
import importlib
import sys
from collections import deque
from hashlib import blake2b
from itertools import accumulate
from statistics import median
from time import process_time

import pytest
from data import many, url

from uricodec._base._fingerprint import FingerprintKey, run_rows

COUNT = 20_000
KEY = FingerprintKey("of the benchmarks")


def random_bytes(rng, least, most):
    return rng.randbytes(rng.randint(least, most))


NAMES = {
    "40 bytes": many(random_bytes, 40, 40, count=COUNT),
    "20 to 80 bytes": many(random_bytes, 20, 80, count=COUNT),
    "URNs": [b"urn:isbn:%d" % (9_780_000_000_000 + 9973 * i) for i in range(COUNT)],
    "addresses": [text.encode() for text in many(url, count=COUNT)],
    "1000 bytes": many(random_bytes, 1000, 1000, count=COUNT // 10),
}


def batch(names):
    """Return a call that processes all identifiers in one buffer."""
    size, src, dst = ctypes.c_size_t * len(names), b"".join(names), bytearray(16 * len(names))
    ends = list(accumulate(map(len, names)))
    starts = size(0, *ends[:-1])
    call = functools.partial(run_rows, KEY, src, starts, size(*ends), dst)
    call()
    assert bytes(dst) == b"".join(map(KEY.fingerprint, names))
    return call


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
