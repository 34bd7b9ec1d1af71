"""Deduplication of Parquet files by a column, compared with DuckDB and Polars: elapsed and processor time, memory.

    python benchmarks/corpus.py urls 5000000 urls.txt && python benchmarks/dedup_parquet.py urls.txt
    python benchmarks/dedup_parquet.py urls.txt --rounds 5 --only "uricodec;duckdb, any rows" --json parquet.json

The lines become the column `url` of 20 files with five columns. All programs compare bytes, because the others cannot
normalize, use as many threads, and write all columns with the same compression. They write one file: any row of each
URL, in any order, or the first row, in order. Each round runs all programs; the medians are compared. Every output is
checked: it has each URL once, as many rows as there are different lines, and the first rows if it should.
"""

import argparse
import importlib.metadata
import os
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import programs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

FILES = 20
ROWS = 1 << 17  # of a row group
DUCKDB = """
import duckdb, sys
con = duckdb.connect()
con.execute(f"set threads = {sys.argv[3]}; set enable_progress_bar = false; " + sys.argv[5])
files = f"'{sys.argv[1]}/*.parquet'"
query = {
    "any": f"select distinct on (url) * from {files}",
    "first": f"select * from {files} where id in (select min(id) from {files} group by url)",
}[sys.argv[4]]
con.execute(f"copy ({query}) to '{sys.argv[2]}' (format parquet, compression snappy)")
"""
POLARS = """
import polars, sys
rows = polars.scan_parquet(sys.argv[1]).unique("url", keep=sys.argv[3], maintain_order=sys.argv[3] == "first")
rows.sink_parquet(sys.argv[2], compression="snappy")
"""


def write_files(path, folder):
    """Write the lines of a file as a dataset. Return the number of different ones."""
    with open(path, encoding="utf-8") as lines:
        urls = [line.rstrip("\n") for line in lines]
    size = -(-len(urls) // FILES)
    for i in range(FILES):
        part = urls[i * size : (i + 1) * size]
        numbers = pa.array(range(i * size, i * size + len(part)))
        table = pa.table(
            {
                "id": numbers,
                "time": pc.add(numbers, 1_700_000_000_000_000).cast(pa.timestamp("us")),
                "url": part,
                "status": pa.array([200, 200, 304, 404] * (len(part) // 4 + 1))[: len(part)],
                "agent": pa.array([f"Mozilla/5.0 (X11; {i * 7919 % 500})" for i in range(len(part))]),
            }
        )
        pq.write_table(table, f"{folder}/{i:02}.parquet", row_group_size=ROWS)
    return len(set(urls))


def figures_of(path):
    """Return the number of rows of an output, the number of different URLs, and the sum of the numbers of rows."""
    table = ds.dataset(path).to_table(columns=["id", "url"])
    return len(table), len(pc.unique(table["url"])), pc.sum(table["id"]).as_py()


def clear(path):
    """Remove an output: a folder or a file."""
    shutil.rmtree(path, ignore_errors=True)
    if os.path.exists(path):
        os.remove(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", help="names, with semicolons between them")
    parser.add_argument("--json", help="where to write the figures, for benchmarks/report.py")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, get_context("spawn")) as other:
        source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
        os.mkdir(source)
        different = other.submit(write_files, arguments.source, source).result()  # a program begins with our memory
        threads = str(arguments.threads)
        ours = [sys.executable, "-m", "uricodec", "dedup", "--parquet", "-f", "url", source, "-o", target]
        ours += ["-j", threads]
        commands = {
            "uricodec": [*ours, "--kind", "bytes"],
            "uricodec --kind uri": [*ours, "--kind", "uri"],
            "uricodec --memory 64M": [*ours, "--kind", "bytes", "--memory", "64M"],
            "uricodec --count": [*ours, "--kind", "bytes", "--count"],
            "uricodec --keep last": [*ours, "--kind", "bytes", "--keep", "last"],
            "uricodec --keep newest": [*ours, "--kind", "bytes", "--keep", "newest", "--by", "time"],
            "duckdb, any rows": [sys.executable, "-c", DUCKDB, source, target, threads, "any", ""],
            "duckdb, first rows": [sys.executable, "-c", DUCKDB, source, target, threads, "first", ""],
            "polars, any rows": [sys.executable, "-c", POLARS, source, target, "any"],
            "polars, first rows": [sys.executable, "-c", POLARS, source, target, "first"],
        }
        expected = []  # the sum of the numbers of first rows
        wanted = arguments.only.split(";") if arguments.only else list(commands)

        def is_right(name):
            rows, urls, ids = other.submit(figures_of, target).result()
            if name == "uricodec":
                expected.append(ids)
            if "--kind uri" in name:  # URLs with other spellings are merged
                return rows == urls <= different
            has_first_rows = "any" in name or "keep" in name or not expected or ids == expected[0]
            return rows == urls == different and has_first_rows

        rows = programs.compare(
            "dedup_parquet.py",
            {name: command for name, command in commands.items() if name in wanted},
            is_right,
            arguments.rounds,
            arguments.threads,
            lambda: clear(target),
        )
    if arguments.json:
        versions = {name: importlib.metadata.version(name) for name in ("duckdb", "polars")}
        programs.write(arguments.json, rows, versions)


if __name__ == "__main__":
    main()
