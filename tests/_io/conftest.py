"""What tests of inputs and outputs share."""

import os

import pytest


@pytest.fixture
def pipe():
    """Whose ends do not block."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    with open(ends[0], "rb", buffering=0) as reading, open(ends[1], "wb", buffering=0) as writing:
        yield reading, writing
