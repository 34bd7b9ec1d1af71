"""How a row is measured: one library, one function, one kind of input.

A round is one pass over all inputs of the row; before each, urllib.parse makes a pass of its own, so that what disturbs
the machine disturbs both. The row records the calls in a round, the median of urllib.parse's rounds beside its own, and
whether its output was urllib.parse's.
"""

import platform
import sys
from collections import deque
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest
import uritools
import yarl

import uricodec

sys.path.insert(0, str(Path(__file__).parent))  # for `data`

SECONDS = 0.25  # of urllib.parse, in a row


def consume(call, columns):
    deque(map(call, *columns), maxlen=0)


def timed(call, columns):
    start = perf_counter()
    consume(call, columns)
    return perf_counter() - start


@pytest.fixture
def measure(benchmark):
    def run(function, kind, library, columns, libraries):
        stdlib, tested = libraries["urllib.parse"], libraries[library]
        arguments = tested.arguments(columns)
        start = perf_counter()
        expected = list(map(stdlib.call, *columns))
        rounds = min(40, max(5, round(SECONDS / (perf_counter() - start))))
        correct = None
        if tested.result is not None:
            correct = list(map(tested.result, map(tested.call, *arguments))) == expected
        times = []
        benchmark.group = f"{function}, {kind}"
        benchmark.pedantic(
            consume,
            (tested.call, arguments),
            setup=lambda: times.append(timed(stdlib.call, columns)),
            rounds=rounds,
            warmup_rounds=1,
        )
        benchmark.extra_info |= {
            "function": function,
            "kind": kind,
            "library": library,
            "n": len(columns[0]),
            "reference": median(times),
            "correct": correct,
        }
        assert correct or not library.startswith("uricodec")

    return run


def pytest_benchmark_update_machine_info(machine_info):
    machine_info["measured"] = {
        "uricodec": f"{uricodec.__version__} (tier {uricodec.cpu_tier()})",
        "urllib.parse": f"of Python {platform.python_version()}",
        "yarl": yarl.__version__,
        "uritools": uritools.__version__,
    }
