"""Numbers of different values, beside those of sets: exact up to 768, and within the stated error beyond."""

import math
import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._counts import KeyBatch, hashes_of
from uricodec._counting._table import Table
from uricodec._counting.counter import Counter

MOST_EXACT, ERROR = 768, 1.04 / math.sqrt(2**13)


def counted(rows, memory="64M", sums=0):
    """Keys, their counts, and the numbers of their different values, given rows of both; b"" is a missing value."""
    key = FingerprintKey()
    with Counter(memory, sums=sums, distincts=1) as counter:
        for start in range(0, len(rows), 1000):
            keys, values = zip(*rows[start : start + 1000], strict=True)
            hashes = array("Q")
            hashes.frombytes(hashes_of(key, b"".join(value + b"\n" for value in values), b""))
            columns = [array("q", [1] * len(keys))] * sums
            counter.add_lines(b"\n".join(keys) + b"\n", [*columns, hashes])
        return {each[0]: each[1:] for each in counter.most_common()}, counter.spilled


def sets_of(rows):
    found = {}
    for key, value in rows:
        count, values = found.get(key, (0, set()))
        found[key] = count + 1, values | ({value} if value else set())
    return {key: (count, len(values)) for key, (count, values) in found.items()}


texts = st.binary(max_size=3).filter(lambda text: b"\n" not in text)


@given(st.lists(st.tuples(texts, texts), max_size=60))
def test_few_values(rows):
    assert counted(rows)[0] == sets_of(rows)


@pytest.mark.parametrize("memory", [1, 200_000, "64M"])
def test_exact_up_to_the_limit(memory):
    """Also of groups that go to temporary files."""
    chance = random.Random(1)
    sizes = {b"%d" % i: chance.choice([1, 2, 3, 4, 7, 24, 25, 191, 192, 193, 767, MOST_EXACT]) for i in range(60)}
    rows = [(group, b"%d" % value) for group, size in sizes.items() for value in [*range(size), 0]]
    chance.shuffle(rows)
    found, spilled = counted(rows, memory, sums=1)
    assert found == {group: (size + 1, size + 1, size) for group, size in sizes.items()}
    assert bool(spilled) == (memory != "64M")


@pytest.mark.parametrize("size", [769, 1000, 5000, 30_000, 300_000])
def test_more_values(size):
    """Four standard errors, of a random key: once in 16,000 runs it is more."""
    [(_, found)] = counted([(b"key", b"%d" % (i % size)) for i in range(size + 500)])[0].values()
    assert found > MOST_EXACT and abs(found - size) <= 4 * ERROR * size


@pytest.mark.slow
def test_the_error_is_as_stated():
    """Of 100 estimates: the root of the mean of their squared errors."""
    rows = [(b"", b"%d" % i) for i in range(40_000)]
    errors = []
    for _ in range(100):
        [(_, found)] = counted(rows)[0].values()
        errors.append((found - 40_000) / 40_000)
    assert 0.7 * ERROR < math.sqrt(sum(error**2 for error in errors) / len(errors)) < 1.3 * ERROR


def test_sets_are_granted_their_memory():
    """Keys for which 8 KB do not fit wait in temporary files: the limit holds however their sets grow."""
    key, limit = FingerprintKey(), 1 << 21
    table, batch = Table(limit, True, True, distincts=1), KeyBatch(key, b"\n", 0, 0, 1)
    rows = [(group, value) for value in range(300) for group in range(400)]
    for start in range(0, len(rows), 8000):
        part = rows[start : start + 8000]
        hashes = array("Q")
        hashes.frombytes(hashes_of(key, b"".join(b"%d %d\n" % row for row in part), b""))
        batch.read(b"".join(b"%d\n" % row[0] for row in part), values=[hashes])
        table.add(batch)
        assert table.size <= limit
    assert 100 <= table.count < 400


def test_hashes_of_lines():
    key = FingerprintKey("secret")
    hashes = array("Q", hashes_of(key, b"a\n,\n\na\nb", b","))
    assert (hashes[0], hashes[1], len(hashes)) == (hashes[3], 0, 5) and len({*hashes}) == 4
    lines = b"".join(b"%d\n" % i for i in range(20_000))
    assert len({*array("Q", hashes_of(key, lines, b""))}) == 20_000
