"""Quantiles of sketches, beside those of sorted numbers."""

import math
import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each_row

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._counts import KeyBatch
from uricodec._counting._table import Table
from uricodec._counting.counter import Counter

SHARES = [0.5, 0.9, 0.95, 0.99, 1]
ERROR = 0.0094
numbers = st.one_of(
    st.floats(1e-9, 1e24), st.floats(0.001, 100), st.sampled_from([0.0, -1.0, 1e-300, 1e-9, 1.0, 1e24, -0.0])
)


def quantiles(given_numbers):
    """Those of one key with these numbers."""
    with Counter("64M", quantiles=1) as counter:
        counter.add_lines(b"\n".join([b"key"] * len(given_numbers)), [array("d", given_numbers)])
        [(_, count, found)] = counter.most_common()
    assert count == len(given_numbers)
    return found


def size_of_sketch(given_numbers):
    table, keys = Table(1 << 24, True, True, 0, 1), KeyBatch(FingerprintKey(), b"\n", 0, 1)
    before = table.size
    keys.read(b"\n".join([b"key"] * len(given_numbers)), values=[array("d", given_numbers)])
    table.add(keys)
    return table.size - before


def is_close(found, number):
    return abs(found - number) <= ERROR * number * (1 + 1e-9) + 1e-9


def assert_agrees(given_numbers):
    found, ordered = quantiles(given_numbers), sorted(max(x, 0) for x in given_numbers)
    for share, quantile in zip(SHARES, found, strict=True):
        assert is_close(quantile, ordered[int(share * (len(ordered) - 1))]), share
    assert found[-1] == ordered[-1]


@given(given_numbers=st.lists(numbers, min_size=1, max_size=200))
def test_agrees_with_sorted_numbers(given_numbers):
    assert_agrees(given_numbers)


@pytest.mark.parametrize("shape", ["uniform", "lognormal", "pareto", "alternating"])
def test_shapes(shape):
    chance = random.Random(shape)
    draw = {
        "uniform": chance.random,
        "lognormal": lambda: chance.lognormvariate(0, 3),
        "pareto": lambda: chance.paretovariate(0.5),
        "alternating": lambda: chance.choice([1e-3, 1e3]),
    }[shape]
    given_numbers = [draw() for _ in range(10_000)]
    assert_agrees(given_numbers)
    assert size_of_sketch(given_numbers[:5000]) <= 8 * 4096 + 64


def test_memory_is_what_the_span_needs():
    assert size_of_sketch([math.nan]) == 0
    assert size_of_sketch([0.5]) <= 80
    assert size_of_sketch(range(1, 1001)) <= 1.3 * math.log(1000) / 0.0188 + 80
    assert size_of_sketch([1e-9, 1e24, 0, -5]) <= 4096 + 64


@each_row("count", [254, 255, 256, 257, 65535, 65536, 65537])
def test_counts_of_any_size(count):
    """Buckets become wider when a count needs it; those of other buckets stay."""
    assert_agrees([4.0, 1.0] + [2.0] * count + [1.0, 4.0, 4.0])
    assert_agrees([4.0] * 70 + [2.0] * count + [1.0] * (count // 2))


def test_one_number_is_exact():
    for number in 0.1, 3.0, 1e-9, 1e24, 1e300:
        assert {*quantiles([number])} == {number}


def test_values_that_are_no_numbers_are_skipped():
    assert quantiles([math.nan, math.inf, -math.inf]) is None
    assert quantiles([math.nan, -7, math.inf, 2]) == (0, 0, 0, 0, 2)
