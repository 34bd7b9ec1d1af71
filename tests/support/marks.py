"""Marks of parameters: what a run of all tests leaves out."""

import pytest
from hypothesis import settings

import uricodec
from uricodec._base import _kernels

TIERS = uricodec.cpu_tiers()


def long(*values):
    """Return parameters for a long sweep: `python -m pytest` leaves them out, `python -m pytest -m long` runs them."""
    return [pytest.param(*as_tuple(value), marks=pytest.mark.long) for value in values]


def few_examples(test):
    """Ask a property that is slow to check of fewer examples than others."""
    return settings(max_examples=max(1, settings.default.max_examples * 3 // 10))(test)


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def tier_fixture(*, all_tiers):
    """Return the fixture of a test that runs once on every kernel tier of this CPU; its value is the tier's name.

    Unless `all_tiers`, those between the first and the best are for a long sweep.
    """

    def parameter(name):
        marks = [pytest.mark.slow] * (name != TIERS[-1])
        if not all_tiers and name not in {TIERS[0], TIERS[-1]}:
            marks.append(pytest.mark.long)
        return pytest.param(name, marks=marks)

    # "class" is per test for functions outside of classes, and Hypothesis rejects only what is of scope "function": it
    # would not be set up again for every example, which a tier need not be.
    @pytest.fixture(scope="class", params=map(parameter, TIERS))
    def tier(request):
        before = uricodec.cpu_tier()
        _kernels.use_tier(request.param)
        yield request.param
        _kernels.use_tier(before)

    return tier
