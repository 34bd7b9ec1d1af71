"""Quantiles of sketches, beside those of sorted numbers."""

import math
import random
from array import array
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each_row

from uricodec._counting._sketch import RELATIVE_ERROR, Quantiles

SHARES = [0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1]
positive = st.floats(1e-9, 1e24)
numbers = st.one_of(positive, st.floats(0.001, 100), st.sampled_from([0.0, -1.0, 1e-300, 1e-9, 1.0, 1e24, -0.0]))


def is_close(found, number):
    return abs(found - number) <= RELATIVE_ERROR * number * (1 + 1e-9) + 1e-9


def rank(ordered, share):
    return ordered[int(share * (len(ordered) - 1))]


@given(given_numbers=st.lists(numbers, min_size=1, max_size=200))
def test_agrees_with_sorted_numbers(given_numbers):
    sketch, ordered = Quantiles(array("d", given_numbers)), sorted(max(x, 0) for x in given_numbers)
    assert sketch.count == len(ordered)
    assert (sketch.quantile(0), sketch.quantile(1)) == (ordered[0], ordered[-1])
    for share in SHARES:
        assert is_close(sketch.quantile(share), rank(ordered, share)), share


@given(parts=st.lists(st.lists(numbers, max_size=30), min_size=1, max_size=5), order=st.randoms())
def test_merging_is_the_sketch_of_all(parts, order):
    whole, merged = Quantiles(array("d", chain.from_iterable(parts))), Quantiles()
    order.shuffle(parts)
    for part in parts:
        merged.merge(Quantiles(array("d", part)))
    assert merged.count == whole.count
    assert [merged.quantile(share) for share in SHARES] == [whole.quantile(share) for share in SHARES]


@pytest.mark.parametrize("shape", ["uniform", "lognormal", "pareto", "alternating"])
def test_shapes(shape):
    chance = random.Random(shape)
    draw = {
        "uniform": chance.random,
        "lognormal": lambda: chance.lognormvariate(0, 3),
        "pareto": lambda: chance.paretovariate(0.5),
        "alternating": lambda: chance.choice([1e-3, 1e3]),
    }[shape]
    given_numbers = [draw() for _ in range(20_000)]
    sketch, ordered = Quantiles(array("d", given_numbers)), sorted(given_numbers)
    for share in SHARES:
        assert is_close(sketch.quantile(share), rank(ordered, share)), share
    assert sketch.size <= 8 * 4096 + 64


def test_memory_is_what_the_span_needs():
    assert Quantiles().size == 0
    assert Quantiles(array("d", [0.5])).size <= 80
    assert Quantiles(array("d", range(1, 1001))).size <= 1.3 * math.log(1000) / 0.0188 + 80
    assert Quantiles(array("d", [1e-9, 1e24, 0, -5])).size <= 4096 + 64


@each_row("count", [254, 255, 256, 257, 65535, 65536, 65537])
def test_counts_of_any_size(count):
    """Buckets become wider when a count needs it; those of other buckets stay."""
    sketch = Quantiles(array("d", [4.0, 1.0] + [2.0] * count + [1.0, 4.0, 4.0]))
    halves = [Quantiles(array("d", [number] * n)) for number in (1.0, 2.0) for n in (count // 2, count - count // 2)]
    merged = Quantiles()
    for half in halves:
        merged.merge(half)
    assert (sketch.count, merged.count) == (count + 5, 2 * count)
    assert (sketch.size > 200, sketch.size > 300) == (count > 255, count > 65535)
    for found, ranks in (
        (sketch, [(1, 1.0), (2, 2.0), (count + 1, 2.0), (count + 2, 4.0)]),
        (merged, [(count - 1, 1.0), (count, 2.0)]),
    ):
        for place, number in ranks:
            assert is_close(found.quantile((place + 0.1) / (found.count - 1)), number), place


def test_counts_beyond_32_bits():
    sketch = Quantiles(array("d", [1.0] * 3 + [8.0]))
    for _ in range(40):
        sketch.merge(sketch)
    sketch.add(array("d", [1e-3]))
    assert sketch.count == 4 * 2**40 + 1
    assert [round(sketch.quantile(share), 1) for share in (0, 0.1, 0.74, 0.76, 1)] == [0, 1, 1, 8, 8]


def test_one_number_is_exact():
    for number in 0.1, 3.0, 1e-9, 1e24, 1e300:
        assert {Quantiles(array("d", [number])).quantile(share) for share in SHARES} == {number}


def test_values_that_are_no_numbers_are_skipped():
    sketch = Quantiles(array("d", [math.nan, math.inf, -math.inf]))
    assert sketch.count == 0 and sketch.quantile(0.5) is None
    assert Quantiles(array("d")).quantile(1) is None
    sketch.add(array("d", [-7, 2]))
    assert (sketch.count, sketch.quantile(0), sketch.quantile(0.5), sketch.quantile(1)) == (2, 0, 0, 2)


def test_a_sketch_merged_with_itself():
    sketch = Quantiles(array("d", [1, 2, 3]))
    sketch.merge(sketch)
    assert (sketch.count, sketch.quantile(0), sketch.quantile(1)) == (6, 1, 3)


def test_wrong_arguments_are_rejected():
    for wrong in array("f", [1]), array("q", [1]), b"12345678":
        with pytest.raises(TypeError, match=r"^expected a buffer of numbers in format 'd'$"):
            Quantiles(wrong)
    for share in -0.1, 1.1, math.nan:
        with pytest.raises(ValueError, match=r"^share must be from 0 to 1, got "):
            Quantiles().quantile(share)
