"""Run programs in turns: elapsed and processor time, memory, and whether the output is right."""

import json
import os
import statistics
import subprocess
import time


def run(command, threads=1):
    """Return elapsed and processor time in seconds, and memory in MB."""
    environment = dict(os.environ, LC_ALL="C", POLARS_MAX_THREADS=str(threads))
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"failed: {command}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def compare(file, commands, is_right, rounds, threads=1, prepare=lambda: None):  # noqa: PLR0913, PLR0917
    """Run all programs in each round. Print the medians.

    Args:
        file (str): The name of the benchmark.
        commands (dict[str, list[str]]): Command lines by the names of programs.
        is_right (Callable[[str], bool]): Called with a name, when that program has run for the first time.
        rounds (int): The number of rounds.
        threads (int): How many threads Polars may use.
        prepare (Callable[[], None]): Called before each run.

    Returns:
        list[dict]: The rows for benchmarks/report.py.
    """
    found, right = {name: [] for name in commands}, {}
    for _ in range(rounds):
        for name, command in commands.items():
            prepare()
            found[name].append(run(command, threads))
            if name not in right:
                right[name] = "yes" if is_right(name) else "no"
    first = statistics.median(wall for wall, _, _ in next(iter(found.values())))
    rows = []
    for name, figures in found.items():
        wall, processor = (statistics.median(each[i] for each in figures) for i in (0, 1))
        extra = {
            "times the first": round(wall / first, 2),
            "processor seconds": round(processor, 2),
            "memory, MB": round(max(each[2] for each in figures)),
            "output checked": right[name],
        }
        rows.append({"name": name, "fullname": file, "extra_info": extra, "stats": {"median": wall, "rounds": rounds}})
        print(f"{name}: {wall:.2f} s, {extra}", flush=True)
    return rows


def write(path, rows, versions):
    """Write rows for benchmarks/report.py."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine_info": {"measured": versions}, "benchmarks": rows}, file)
