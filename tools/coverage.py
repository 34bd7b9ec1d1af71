"""Show which lines the tests run: of Python by coverage.py, of Cython and C by gcov.

    python tools/coverage.py                all tests; the exit status is 1 if a line that is not marked did not run
    python tools/coverage.py ARGUMENT ...   what these arguments of pytest select; lines that did not run are only shown

It needs gcc with gcov and the dependency group `coverage`, on Python 3.12 or later. All output is below build/coverage.

gcov counts lines of the C that Cython writes (Cython's own tracing calls Python for each line, which takes hours for
loops over bytes). Cython writes a comment with the place of each line before its C, and `function exit code` before
what cleans up: what is between two of these belongs to the line of the first. A line has run if any of its C has, in
any module: an inline function of a .pxd is in each that imports it. What only runs at import does not count.

A line that cannot run in the tests is marked by a comment, in C likewise:

    raise MemoryError  # pragma: no cover: no memory

The mark holds for its line and for all below it that is indented deeper. It is an error if all of that has run, unless
it depends on the moment or on the version of Python (SOMETIMES).
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/uricodec"
WORK = ROOT / "build/coverage"
PLACE = re.compile(r'\s*/\* "uricodec/([\w/]+\.p[yx][xd])":(\d+)')
IMPORT = re.compile(r"__pyx_pymod_|__Pyx_|__pyx_import_|PyInit_")
MARK = re.compile(r"(?:#|/\*) pragma: no cover: ([a-zA-Z ]+)")
SOMETIMES = {"a race", "another Python"}
REASONS = {
    *SOMETIMES,  # another thread interferes; urllib.parse of another version has more arguments
    "no memory",  # tests/test_allocation.py lets some allocations of Python fail, none of the C library
    "too large",  # takes gigabytes
    "larger pages",  # of other machines
    "cannot happen",  # other parts of the package promise that
}


def run(*command, **environment):
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode


def build():
    """Compile the core so that it counts; each process adds to the counts beside the objects when it ends."""
    WORK.mkdir(parents=True, exist_ok=True)
    compiler = WORK / "cc"
    compiler.write_text('#!/bin/sh\nexec gcc "$@" -O0 --coverage\n')
    compiler.chmod(0o755)
    folders = ["--build-lib", str(WORK / "lib"), "--build-temp", str(WORK / "objects")]
    if run(sys.executable, "setup.py", "-q", "build", *folders, CC=str(compiler)):
        raise SystemExit("The build failed.")
    for counts in WORK.glob("objects/**/*.gcda"):
        counts.unlink()
    shutil.rmtree(WORK / "data", ignore_errors=True)


def run_tests(arguments):
    """Run pytest. What Hypothesis tries is the same each time, and so are the figures.

    The mark `process` is for tests of the memory, the imports and the files of a process, which counting changes.
    """
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", "-m", "not process"]
    return run(
        *(sys.executable, "-m", "coverage", "run", "-m", "pytest", *options, *(arguments or ["tests"])),
        PYTHONPATH=str(WORK / "lib"),
        COVERAGE_FILE=str(WORK / "data/python"),
        COVERAGE_CORE="sysmon",  # sees threads that other libraries start
        URICODEC_EXAMPLES=os.environ.get("URICODEC_EXAMPLES", "20"),
    )


def report_python(is_part):
    file = str(WORK / "python")
    run(sys.executable, "-m", "coverage", "combine", "-q", str(WORK / "data"), COVERAGE_FILE=file)
    options = ["--fail-under=0"] if is_part else []
    return run(sys.executable, "-m", "coverage", "report", *options, COVERAGE_FILE=file)


def places(path):
    """Return the line of Cython that each line of C belongs to, or None."""
    place, found = None, [None]
    for line in path.read_text(encoding="utf-8").splitlines():
        marker = PLACE.match(line)
        if marker:
            place = marker[1], int(marker[2])
        elif "/* function exit code */" in line or line.startswith("/* #### Code section"):
            place = None
        found.append(place)
    return found


def times_of_lines():
    """Return how often each line of Cython and of C ran: {(file, number): times}."""
    times = defaultdict(int)
    for notes in sorted(WORK.glob("objects/**/*.gcno")):
        command = ["gcov", "--json-format", "--stdout", notes]
        answer = subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout
        for file in json.loads(answer)["files"]:
            path = Path(file["file"])
            cython = places(ROOT / path) if path.parts[:2] == ("build", "cython") else None
            kernel = path.parts[:2] == ("src", "uricodec") and str(Path(*path.parts[2:]))
            for line in file["lines"]:
                if cython:
                    place = not IMPORT.match(line.get("function_name", "")) and cython[line["line_number"]]
                else:
                    place = kernel and (kernel, line["line_number"])
                if place and not text_of(place).startswith("cdef readonly "):
                    times[place] += line["count"]
    return times


@cache
def lines_of(name):
    return (SOURCE / name).read_text(encoding="utf-8").splitlines()


def text_of(place):
    return lines_of(place[0])[place[1] - 1].strip()


def marks_of(name):
    """Yield the marks in a file: the reason, and the numbers of the lines that the mark holds for."""
    lines = lines_of(name)
    for start, line in enumerate(lines):
        if found := MARK.search(line):
            stop = start + 1
            while stop < len(lines) and (not lines[stop].strip() or depth_of(lines[stop]) > depth_of(line)):
                stop += 1
            yield found[1].strip(), range(start + 1, stop + 1)


def depth_of(line):
    return len(line) - len(line.lstrip())


def report_core(is_part):
    times = times_of_lines()
    left = {place for place, count in times.items() if not count}
    marked, faults = set(), []
    for name in sorted({name for name, _ in times}):
        for reason, numbers in marks_of(name):
            held = {(name, number) for number in numbers} & times.keys()
            marked |= held
            if reason not in REASONS:
                faults.append(f"{name}:{numbers[0]} unknown reason: {reason}")
            elif held and not held & left and reason not in SOMETIMES:
                faults.append(f"{name}:{numbers[0]} is marked, but ran: {text_of((name, numbers[0]))}")
    faults += [f"{place[0]}:{place[1]} did not run: {text_of(place)}" for place in sorted(left - marked)]
    print(*faults, sep="\n")
    for title, suffixes in ("Cython", (".pyx", ".pxd")), ("C", (".h", ".c")):
        total = sum(name.endswith(suffixes) for name, _ in times)
        missed = sum(name.endswith(suffixes) for name, _ in left)
        print(f"{title}: {100 * (1 - missed / total):.2f} % ({missed} of {total} lines did not run)")
    return 0 if is_part else len(faults)


def main(arguments):
    build()
    status = run_tests(arguments)
    python, core = report_python(bool(arguments)), report_core(bool(arguments))
    return 1 if status or python or core else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
