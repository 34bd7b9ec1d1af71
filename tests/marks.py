"""Marks of parameters."""

import pytest


def long(*values):
    """Return parameters for a long sweep: `python -m pytest` leaves them out, `python -m pytest -m long` runs them."""
    return [pytest.param(*value, marks=pytest.mark.long) for value in map(as_tuple, values)]


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)
