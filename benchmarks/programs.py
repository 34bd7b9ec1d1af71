"""Runs programs in turns: elapsed and processor time, memory, and whether the output is right."""

import argparse
import os
import statistics
import subprocess
import sys
import time

URICODEC = [sys.executable, "-m", "uricodec"]


def options(function, lines, rounds=3):
    """Return the parser of what all subjects take."""
    parser = argparse.ArgumentParser(
        prog=f"compare.py {function.__name__}",
        description=function.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--lines", type=int, default=lines, help=f"the size of the input (default: {lines:,})")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"how often each runs (default: {rounds})")
    parser.add_argument("--only", default="", help="programs whose names contain this text")
    return parser


def run(command, threads=1):
    """Return elapsed and processor time in seconds, and memory in MB."""
    environment = dict(os.environ, LC_ALL="C", POLARS_MAX_THREADS=str(threads))
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"failed: {command}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def compare(commands, is_right, rounds, threads=1, prepare=lambda: None):
    """Run all programs in each round. Print the medians, compared with the first program.

    Args:
        commands (dict[str, list[str]]): Command lines by the names of programs.
        is_right (Callable[[str], bool]): Called with a name, when that program has run for the first time. The memory
            of this process counts as that of programs which it starts: large checks belong to another one.
        rounds (int): The number of rounds.
        threads (int): How many threads Polars may use.
        prepare (Callable[[], None]): Called before each run.
    """
    found, right = {name: [] for name in commands}, {}
    for _ in range(rounds):
        for name, command in commands.items():
            prepare()
            found[name].append(run(command, threads))
            if name not in right:
                right[name] = "yes" if is_right(name) else "NO"
    print(f"{'seconds':>9}{'times':>7}{'processor':>10}{'MB':>7}  right  (medians of {rounds})")
    first = None
    for name, figures in found.items():
        wall, processor = (statistics.median(each[i] for each in figures) for i in (0, 1))
        first = first or wall
        memory = max(each[2] for each in figures)
        print(f"{wall:9.2f}{wall / first:7.2f}{processor:10.2f}{memory:7.0f}  {right[name]:5}  {name}", flush=True)
