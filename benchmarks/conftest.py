"""The fixtures of benchmarks. A benchmark measures a function of a library on one kind of input, and urllib.parse.

A round is one pass over all inputs. Before each round, urllib.parse makes a pass, so that disturbances of the machine
affect both. Times are processor times: on a busy machine, elapsed times would favour short rounds, which end before
another process runs. `extra_info` has the calls in a round (n), the median of urllib.parse's passes (reference, in
seconds), and whether the output equals urllib.parse's (correct). A benchmark of uricodec fails if it does not.

    python -m pytest benchmarks
"""

import importlib.metadata
import os
import platform
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import process_time

import pytest

import uricodec

sys.path.insert(0, str(Path(__file__).parent))  # for `data`

MEASURED = "yarl", "uritools", "ada-url", "can_ada", "fast-query-parsers", "pyarrow", "polars", "pandas", "duckdb"
SECONDS = 0.4  # of urllib.parse, in a row


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.benchmark(timer=process_time))


def consume(call, columns):
    deque(map(call, *columns), maxlen=0)


def timed(call, columns):
    start = process_time()
    consume(call, columns)
    return process_time() - start


@pytest.fixture
def measure(benchmark):
    def run(function, kind, library, columns, libraries):
        stdlib, tested = libraries["urllib.parse"], libraries[library]
        arguments = tested.arguments(columns)
        start = process_time()
        expected = list(map(stdlib.call, *columns))
        rounds = min(100, max(5, round(SECONDS / (process_time() - start))))
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
    machine_info["load"] = os.getloadavg()[2]
    machine_info["measured"] = {
        "uricodec": f"{uricodec.__version__} (tier {uricodec.cpu_tier()})",
        "urllib.parse": f"of Python {platform.python_version()}",
    }
    for name in MEASURED:
        with suppress(importlib.metadata.PackageNotFoundError):
            machine_info["measured"][name] = importlib.metadata.version(name)
