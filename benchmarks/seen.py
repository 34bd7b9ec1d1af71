"""New lines against all lines before, on one core: saved sets, Bloom filters, and anti joins of databases.

    python benchmarks/seen.py
    python benchmarks/seen.py --old 100000000 --rounds 3 --only "dedup;seen;duckdb" --json seen.json

The first table is the first day: all old lines, all different, are put into what each program keeps; "dedup" removes
duplicates and keeps nothing. The second is the next day: new lines, half of which are old ones. The third is a column
in memory against the same. Bloom filters have a false positive rate of 1e-6: they lose new lines, and "output checked"
says whether they did. All programs start anew each time; the medians of the rounds are compared. The old lines of
DuckDB are a table of its database, those of Polars a Parquet file; both have the hash of a line instead of the line.
"""

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tempfile

import programs

RATE = "1e-6"

RBLOOM = """
import sys
from hashlib import blake2b
from rbloom import Bloom
step, old, new, target, store, count = sys.argv[1:]
def hash_of(line): return int.from_bytes(blake2b(line, digest_size=16).digest(), "big", signed=True)
if step == "build":
    bloom = Bloom(int(count), RATE, hash_of)
    with open(old, "rb") as lines: bloom.update(lines)
    bloom.save(store)
else:
    bloom = Bloom.load(store, hash_of)
    with open(new, "rb") as lines, open(target, "wb") as out:
        out.writelines(line for line in lines if line not in bloom)
""".replace("RATE", RATE)
PYBLOOM = """
import sys
from pybloomfilter import BloomFilter
step, old, new, target, store, count = sys.argv[1:]
if step == "build":
    bloom = BloomFilter(int(count), RATE, store)
    with open(old, "rb") as lines: bloom.update(lines)
    bloom.sync()
else:
    bloom = BloomFilter.open(store)
    with open(new, "rb") as lines, open(target, "wb") as out:
        out.writelines(line for line in lines if line not in bloom)
""".replace("RATE", RATE)
DUCKDB = """
import sys, duckdb
step, old, new, target, store, count = sys.argv[1:]
con = duckdb.connect(store)
con.execute("set threads = 1; set enable_progress_bar = false")
lines = '''read_csv('{}', header = false, columns = {{'x': 'VARCHAR'}}, delim = '\\x01', quote = '', escape = '')'''
if step == "build":
    con.execute(f"create table old as select distinct hash(x) h from {lines.format(old)}")
else:
    con.execute(f'''copy (select x from {lines.format(new)} n anti join old on hash(n.x) = old.h) to '{target}'
        (header false, delimiter '\\x01', quote '')''')
"""
POLARS = """
import sys, polars as pl
step, old, new, target, store, count = sys.argv[1:]
def lines(path):
    return pl.scan_csv(path, has_header=False, separator="\\x01", quote_char=None, new_columns=["x"])
if step == "build":
    lines(old).select(pl.col("x").hash().alias("h")).unique().sink_parquet(store)
else:
    new = lines(new).with_columns(pl.col("x").hash().alias("h"))
    new.join(pl.scan_parquet(store), on="h", how="anti", maintain_order="left").select("x").sink_csv(
        target, include_header=False, separator="\\x01", quote_style="never")
"""
OTHERS = {"rbloom": RBLOOM, "pybloomfiltermmap3": PYBLOOM, "duckdb": DUCKDB, "polars": POLARS}

GENERATE = """
import sys
path, start, stop, first = sys.argv[1], *map(int, sys.argv[2:])
with open(path, "w") as file:
    for block in range(start, stop, 100_000):
        numbers = range(block, min(block + 100_000, stop))
        file.write("".join(f"https://example.com/{n * 0x9E3779B97F4A7C15 % 2**64:x}/{n}\\n" for n in numbers))
"""

COLUMN = """
import statistics, sys, time
import pyarrow as pa
from uricodec.dedup import SeenSet
new, store = sys.argv[1:]
with open(new, "rb") as file: lines = file.read().splitlines()
column, seen, found = pa.array(lines, pa.string()), SeenSet.open(store), []
answers = pa.array(seen.contains(column))
for _ in range(9):
    start = time.perf_counter()
    seen.contains(column)
    found.append(time.perf_counter() - start)
assert answers.true_count == len(lines) // 2 and answers[0].as_py() and not answers[-1].as_py()
print(len(lines) / statistics.median(found))
"""


def commands(step, files, folder, count):
    """Return the command lines of a step: "build" or "ask"."""
    ours = [sys.executable, "-m", "uricodec", "dedup", "--kind", "bytes", "-j", "1"]
    store = os.path.join(folder, "seen.set")
    old, new, target = files
    found = {}
    if step == "build":
        found["dedup"] = [*ours, old, "-o", target]
        found["seen"] = [*ours, old, "-o", target, "--seen", store, "--update"]
    else:
        found["seen"] = [*ours, new, "-o", target, "--seen", store]
        found["seen, update"] = [*ours, new, "-o", target, "--seen", store + ".copy", "--update"]
    for name, code in OTHERS.items():
        kept = os.path.join(folder, name)
        found[name] = [sys.executable, "-c", code, step, old, new, target, kept, str(count)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=int, default=10_000_000, help="lines")
    parser.add_argument("--new", type=int, default=1_000_000, help="lines, half of which are old")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="names, with semicolons between them")
    parser.add_argument("--folder", help="where to work")
    parser.add_argument("--json", help="where to write the figures, for benchmarks/report.py")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        old, new, target = (os.path.join(folder, name) for name in ("old", "new", "target"))
        start = arguments.old - arguments.new // 2
        for path, first, last in (old, 0, arguments.old), (new, start, start + arguments.new):
            subprocess.run([sys.executable, "-c", GENERATE, path, str(first), str(last), "0"], check=True)
        wanted = arguments.only.split(";") if arguments.only else None
        for step in "build", "ask":
            if step == "ask":
                store = os.path.join(folder, "seen.set")
                subprocess.run(["cp", store, store + ".copy"], check=True)
                print({name: os.path.getsize(os.path.join(folder, name)) for name in sorted(os.listdir(folder))})
            chosen = commands(step, (old, new, target), folder, arguments.old)
            chosen = {name: command for name, command in chosen.items() if wanted is None or name in wanted}

            def is_right(name, step=step):
                if step == "build":
                    return not name.startswith(("dedup", "seen")) or os.path.getsize(target) == os.path.getsize(old)
                with open(new, "rb") as lines, open(target, "rb") as made:
                    expected, found = lines.read().splitlines()[arguments.new // 2 :], made.read().splitlines()
                missing = len(expected) - len(found)
                if missing:
                    print(f"{name}: {missing} new lines are missing")
                return set(found) <= set(expected) and missing == 0

            made = programs.compare("seen.py", chosen, is_right, 1 if step == "build" else arguments.rounds)
            rows += [row | {"name": f"{step}: {row['name']}"} for row in made]
        done = subprocess.run(
            [sys.executable, "-c", COLUMN, new, os.path.join(folder, "seen.set")], check=True, capture_output=True
        )
        print(f"contains() of a column: {float(done.stdout) / 1e6:.1f} M rows/s")
    if arguments.json:
        versions = {name: importlib.metadata.version(name) for name in ("duckdb", "polars", "rbloom")}
        programs.write(arguments.json, rows, versions)


if __name__ == "__main__":
    main()
