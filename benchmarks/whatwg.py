"""The policy "whatwg" beside Ada: its own C++, and ada-url and can_ada called in a loop. The outputs are compared.

    URICODEC_CORPORA=FOLDER python benchmarks/whatwg.py [--source FOLDER]

It needs the extra `bench` and a C++20 compiler, and ada.cpp and ada.h: in FOLDER, or in the sdist of ada-url, which
pip downloads. The inputs are the distinct lines of urls_*.txt in the folder of real data, in a random order, and the
same URLs so changed that no href is a copy of its URL. Figures are of CPU time on one core, the best of five rounds in
turns.
"""

import argparse
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from time import process_time_ns

import ada_url
import can_ada
import pyarrow as pa

from uricodec import bulk

ROUNDS = 5
PYTHON_ROWS = 20_000  # of a loop in Python


def inputs():
    """Yield the name of an input, and its URLs, which are UTF-8 without line ends."""
    lines = {}
    for path in sorted(Path(os.environ["URICODEC_CORPORA"]).glob("urls_*.txt")):
        lines.update(dict.fromkeys(path.read_text("utf-8", "replace").split("\n")))
    real = [line for line in lines if line and "\r" not in line]
    random.Random(1).shuffle(real)
    yield "real", real
    yield "changed", ["HTTPS://U@EX%41MPLE.org:443/./" + line for line in real]


def source_of(folder):
    """Return the folder of ada.cpp: that of the sdist of ada-url."""
    command = ["pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "ada-url", "-d", str(folder)]
    subprocess.run([sys.executable, "-m", *command], check=True)
    with tarfile.open(next(folder.glob("ada_url-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.glob("*/ada_url"))


def timed(function, count):
    before = process_time_ns()
    function()
    return (process_time_ns() - before) / count


def outcome(function, url):
    try:
        return function(url)
    except ValueError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path)
    source = parser.parse_args().source
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = source or source_of(folder)
        program = folder / "whatwg"
        code = Path(__file__).with_suffix(".cpp"), source / "ada.cpp"
        options = ["-std=c++20", "-O3", "-march=native", "-DNDEBUG", "-I", str(source), "-o", str(program)]
        subprocess.run([os.environ.get("CXX", "g++"), *map(str, code), *options], check=True)
        for kind, urls in inputs():
            measure(kind, urls, folder, program)
    print(f"load: {os.getloadavg()[0]:.1f}")


def measure(kind, urls, folder, program):
    column, lines = pa.array(urls), ("\n".join(urls) + "\n").encode()
    (folder / "urls").write_bytes(lines)
    some = urls[:PYTHON_ROWS]
    calls = {
        "bulk, Arrow": (lambda: bulk.normalize_uri(column, policy="whatwg", errors="null", threads=1), len(urls)),
        "bulk, lines": (lambda: bulk.normalize_uri(lines, policy="whatwg", errors="null", threads=1), len(urls)),
        "can_ada in a loop": (lambda: [outcome(lambda url: str(can_ada.parse(url)), url) for url in some], len(some)),
        "ada_url in a loop": (lambda: [outcome(ada_url.normalize_url, url) for url in some], len(some)),
    }
    best = dict.fromkeys(("Ada, C++", *calls), float("inf"))
    for _ in range(ROUNDS):
        run = subprocess.run(
            [program, folder / "urls", folder / "hrefs", "1"], check=True, capture_output=True, text=True
        )
        best["Ada, C++"] = min(best["Ada, C++"], int(run.stdout) / len(urls))
        for name, (function, count) in calls.items():
            best[name] = min(best[name], timed(function, count))
    found = pa.array(calls["bulk, Arrow"][0]()).to_pylist()
    of_ada = (folder / "hrefs").read_text("utf-8").split("\n")[:-1]
    differences = sum((href or "") != other for href, other in zip(found, of_ada, strict=True))
    unchanged = sum(href == url for href, url in zip(found, urls, strict=True))
    size = len(lines) / len(urls)
    print(f"{kind}: {len(urls)} URLs, {size:.0f} bytes each, {unchanged / len(urls):.0%} are their href;", end=" ")
    print(f"differences from Ada: {differences}")
    for name, nanoseconds in best.items():
        times = nanoseconds / best["bulk, Arrow"]
        print(f"  {name:18} {nanoseconds:7.0f} ns a row, {1000 / nanoseconds:5.2f} M rows/s, {times:.2f} times bulk's")


if __name__ == "__main__":
    main()
