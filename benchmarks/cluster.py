"""Spark's `dedup_dataset` on one machine: its counters beside the formulas of docs/guides/scale.md.

The rows are URNs of 41 bytes in Parquet files, in two spellings. One in five is different, and duplicates are anywhere:
the number of each URN is random. The plan runs on two cores. For each of its figures, the table has the formula, its
value for this many rows, what Spark counted, the ratio of both, and the formula's value for 10^11 rows with partitions
of 512 MB. Files are counted in their folders; tasks, rows and bytes are metrics of Spark's stages. The result is
checked by `uricodec.dedup.Deduplicator`: it has as many URNs as the input has different ones, and none twice.

    python benchmarks/cluster.py --rows 10000000 --memory 4g --json cluster.json

10^8 rows need 10 GB of disk.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import threading
import time
from itertools import pairwise
from math import ceil, exp, log1p, log2
from pathlib import Path

import pyarrow.parquet
from pyspark.sql import SparkSession
from spark_dedup import processor_seconds

import uricodec
from uricodec._io.sizes import parse_size
from uricodec.dedup import Deduplicator
from uricodec.integrations import spark as us

COPIES = 4.9651  # of each number that a URN may have, on average; 1 in 143 numbers does not occur
UNIQUE = (1 - exp(-COPIES)) / COPIES  # the part of rows to keep: 0.2
FILE_ROWS = 4_000_000
TABLE = 3_000_000  # fingerprints in the table of a task

BLOCK = 568  # bytes of the bits of 4096 rows in the table of a broadcast
SHUFFLED_PRINT, SHUFFLED_ROW = 22, 5.5  # bytes of a fingerprint with its row, and of a row to keep, compressed


def different(part):
    """Return which part of the identifiers occurs in this part of the rows."""
    return (1 - exp(-COPIES * part)) / (1 - exp(-COPIES))


def plan(rows, input_bytes, size, group_rows, bitmap_rows):
    """Return the figures of the plan: name -> (formula, value). Sizes are in bytes."""
    kept = rows * UNIQUE
    groups = ceil(rows / group_rows)
    of_task = min(rows, rows * size / input_bytes)
    numbers = rows / COPIES
    filled = -numbers * log1p(-TABLE / numbers) if numbers > TABLE else of_task  # rows until the table is full
    first = min(of_task, filled)
    sent = numbers * (1 - exp(-first / numbers)) + (of_task - first) * (1 - TABLE / numbers)
    sent *= rows / of_task
    bounds = [min(1, group_rows * i / rows) for i in range(groups + 1)]
    written = [input_bytes * UNIQUE * (different(b) - different(a)) for a, b in pairwise(bounds)]
    return {
        "fingerprints: tasks": ("B / S", ceil(input_bytes / size)),
        "fingerprints: bytes read": ("B", input_bytes),
        "fingerprints: rows sent": ("K", sent),
        "fingerprints: bytes sent": ("22 K", SHUFFLED_PRINT * sent),
        "rows to keep: tasks": ("24 N / S", ceil(24 * rows / size)),
        "rows to keep: rows sent": ("D", kept),
        "rows to keep: bytes sent": ("5.5 D", SHUFFLED_ROW * kept),
        "bitmaps: tasks, and files written": (
            "sum of N' / M",
            sum(ceil(round(rows * (b - a)) / bitmap_rows) for a, b in pairwise(bounds)),
        ),
        "bitmaps: bytes written": ("at most N / 8", rows / 8),
        "broadcasts": ("N / G", groups),
        "broadcasts: bytes collected by the driver": ("at most N / 8", rows / 8),
        "broadcasts: bytes in an executor, the largest": (
            "64 MB, or 568 G / 4096 rounded up to a power of 2",
            max(1 << 26, 1 << ceil(log2(BLOCK * min(rows, group_rows) / 4096))),
        ),
        "result: tasks, and files written": (
            "sum of max(B D' / N / S, B' / 4 S)",
            sum(
                max(ceil(each / size), ceil(input_bytes * (b - a) / us._READ_SIZES / size))
                for each, (a, b) in zip(written, pairwise(bounds), strict=True)
            ),
        ),
        "result: bytes read": ("B", input_bytes),
        "result: bytes written": ("B D / N", input_bytes * UNIQUE),
        "all: shuffles": ("2, and 3 of lists of files", 5),
        "all: bytes sent": ("22 K + 5.5 D", SHUFFLED_PRINT * sent + SHUFFLED_ROW * kept),
        "all: bytes read": ("2 B, and at most N / 8", 2 * input_bytes + rows / 8),
        "all: bytes written": ("B D / N, and at most N / 8", input_bytes * UNIQUE + rows / 8),
    }


def session(folder, memory, size):
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(Path(uricodec.__file__).parent.parent), os.environ.get("PYTHONPATH")])
    )
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.memory", memory).config("spark.local.dir", folder)
    builder = builder.config("spark.sql.files.maxPartitionBytes", min(size, 128 << 20))
    # Spark does not count the bytes that Hadoop's other threads read.
    return builder.config("spark.hadoop.parquet.hadoop.vectored.io.enabled", "false").getOrCreate()


def generate(spark, rows, path, size):
    numbers = spark.range(0, rows, 1, max(8, ceil(rows / FILE_ROWS)))
    names = numbers.selectExpr("id % 2 as spelling", f"pmod(xxhash64(id), {round(rows / COPIES)}) as number")
    parts = [
        "if(spelling = 0, 'urn', 'URN')",
        "':example:'",
        "lower(lpad(hex(xxhash64(number)), 16, '0'))",
        "lpad(number, 13, '0')",
    ]
    names = names.selectExpr(f"concat({', '.join(parts)}) as name")
    # A task reads whole row groups.
    names.write.option("parquet.block.size", min(size, 128 << 20)).parquet(path)


def stages(spark):
    """Return the stages that ran, in their order."""
    scala = spark.sparkContext._jsc.sc()
    scala.listenerBus().waitUntilEmpty()
    quantiles = spark.sparkContext._gateway.new_array(spark.sparkContext._jvm.double, 0)
    found = scala.statusStore().stageList(None, False, False, quantiles, None)
    done = [found.apply(i) for i in range(found.size())]
    return sorted((each for each in done if each.status().toString() == "COMPLETE"), key=lambda each: each.stageId())


def broadcast_sizes(spark):
    """Return the sizes of the broadcasts of all queries, in bytes, as Spark's user interface rounds them."""
    store, sizes = spark._jsparkSession.sharedState().statusStore(), []
    queries = store.executionsList()
    for query in (queries.apply(i).executionId() for i in range(queries.size())):
        values, nodes = store.executionMetrics(query), store.planGraph(query).allNodes()
        for node in (nodes.apply(i) for i in range(nodes.size())):
            metrics = node.metrics() if node.name() == "BroadcastExchange" else None
            for metric in (metrics.apply(i) for i in range(metrics.size() if metrics else 0)):
                value = values.get(metric.accumulatorId())
                if metric.name() == "data size" and value.isDefined():
                    number, power = re.search(r"([\d.,]+) ([KMG]?)i?B", value.get()).groups()
                    sizes.append(float(number.replace(",", "")) * 1024 ** " KMG".index(power or " "))
    return sizes


def files_in(folder):
    return sorted(path for path in Path(folder).rglob("*.parquet") if path.is_file())


class Folder(threading.Thread):
    """What the folder of bitmaps has at most, while it exists."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.files, self.ended = path, 0, threading.Event()

    def run(self):
        while not self.ended.wait(0.2):
            self.files = max(self.files, len(list(Path(self.path).glob("bitmap=*/*.parquet"))))


def counted(spark, after, folder):
    """Return what Spark counted, by the names of plan()."""
    done = [stage for stage in stages(spark) if stage.stageId() > after]
    prints, keep, bitmaps = steps_of_first_job(done)
    results = [stage for stage in done if stage.inputBytes() and stage.outputBytes()]
    later = [stage for stage in done if stage.stageId() > bitmaps.stageId() and stage.inputBytes()]
    sources = [stage for stage in later if not stage.outputBytes() and not stage.shuffleWriteBytes()]
    return {
        "fingerprints: tasks": prints.numTasks(),
        "fingerprints: bytes read": prints.inputBytes(),
        "fingerprints: rows sent": prints.shuffleWriteRecords(),
        "fingerprints: bytes sent": prints.shuffleWriteBytes(),
        "rows to keep: tasks": keep.numTasks(),
        "rows to keep: rows sent": keep.shuffleWriteRecords(),
        "rows to keep: bytes sent": keep.shuffleWriteBytes(),
        "bitmaps: tasks, and files written": bitmaps.numTasks(),
        "bitmaps: bytes written": bitmaps.outputBytes(),
        "broadcasts": len(results),
        "broadcasts: bytes in an executor, the largest": max(broadcast_sizes(spark)),
        "broadcasts: bytes collected by the driver": sum(stage.resultSize() for stage in sources),
        "result: tasks, and files written": len(files_in(folder)),
        "result: bytes read": sum(stage.inputBytes() for stage in results),
        "result: bytes written": sum(stage.outputBytes() for stage in results),
        "all: shuffles": sum(stage.shuffleWriteBytes() > 0 for stage in done),
        "all: bytes sent": sum(stage.shuffleWriteBytes() for stage in done),
        "all: bytes read": sum(stage.inputBytes() for stage in done),
        "all: bytes written": sum(stage.outputBytes() for stage in done),
    }


def steps_of_first_job(done):
    """Return the stages that write fingerprints, find the rows to keep, and write bitmaps."""
    bitmaps = next(stage for stage in done if stage.shuffleReadBytes() and stage.outputBytes())
    before = [stage for stage in done if stage.stageId() < bitmaps.stageId() and stage.shuffleWriteBytes()]
    return before[-2], before[-1], bitmaps


def count(folder):
    """Return the numbers of rows and of different URNs in these files."""
    rows = unique = 0
    with Deduplicator("urn", memory="1G") as names:
        for path in files_in(folder):
            for batch in pyarrow.parquet.ParquetFile(path).iter_batches(1 << 16):
                rows += len(batch)
                names.add(batch.column(0))
        unique = names.count
    return rows, unique


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--memory", default="4g", help="of Spark's machine (default: 4g)")
    options.add_argument("--partition", default="128M", help="partition_size of dedup_dataset (default: 128M)")
    options.add_argument("--groups", type=int, default=3, help="groups of files (default: 3)")
    options.add_argument("--folder", help="where to write (default: the system's temporary folder)")
    options.add_argument(
        "--names", help="a folder for the rows, which stay there; if it exists, they are not generated"
    )
    options.add_argument("--json", help="where to write the figures")
    given = options.parse_args()
    size = parse_size(given.partition)
    full = us._GROUP_ROWS, us._BITMAP_ROWS
    # Groups are as many files as fit, and files of bitmaps divide them, so that all steps have several tasks.
    files = max(8, ceil(given.rows / FILE_ROWS))
    us._GROUP_ROWS = ceil(files / given.groups) * ceil(given.rows / files)
    us._BITMAP_ROWS = max(1 << 16, min(1 << 26, 1 << (us._GROUP_ROWS // 3).bit_length()))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        spark = session(folder, given.memory, size)
        start = time.perf_counter()
        source = given.names or f"{folder}/names"
        if not Path(source).exists():
            generate(spark, given.rows, source, size)
        print(f"generated in {time.perf_counter() - start:.0f} s", flush=True)
        names = files_in(source)
        total = sum(path.stat().st_size for path in names)
        last = max((stage.stageId() for stage in stages(spark)), default=-1)
        watch = Folder(f"{folder}/unique.kept")
        watch.start()
        start, busy = time.perf_counter(), processor_seconds()
        found = us.dedup_dataset(spark, source, "name", f"{folder}/unique", partition_size=size)
        seconds, busy = time.perf_counter() - start, processor_seconds() - busy
        watch.ended.set()
        watch.join()
        measured = counted(spark, last, f"{folder}/unique")
        if watch.files != measured["bitmaps: tasks, and files written"]:
            raise SystemExit(f"expected as many files of bitmaps as tasks, got {watch.files}")
        spark.stop()
        rows, unique = count(source)
        if (found.rows, found.unique) != (rows, unique) or count(f"{folder}/unique") != (unique, unique):
            raise SystemExit(f"expected {unique:,} different URNs of {rows:,}, got {found}")
    formulas = plan(given.rows, total, size, us._GROUP_ROWS, us._BITMAP_ROWS)
    goal = plan(10**11, total / given.rows * 10**11, 512 << 20, *full)
    print(
        f"{given.rows:,} rows in {len(names)} files of {total:,} bytes; S = {size:,}, G = {us._GROUP_ROWS:,}, ", end=""
    )
    print(f"M = {us._BITMAP_ROWS:,}; {seconds:.0f} s, {busy:.0f} s of processors; {found.unique:,} rows are left\n")
    print("| | formula | its value | counted | counted / formula | 10^11 rows |\n|---|---|---:|---:|---:|---:|")
    for name, (formula, value) in formulas.items():
        ratio = measured[name] / value
        print(f"| {name} | {formula} | {value:,.0f} | {measured[name]:,.0f} | {ratio:.3f} | {goal[name][1]:,.0f} |")
    if given.json:
        rows = [
            {"figure": name, "formula": text, "value": value, "counted": measured[name], "at 10^11": goal[name][1]}
            for name, (text, value) in formulas.items()
        ]
        run = {"rows": given.rows, "bytes": total, "seconds": seconds, "processor seconds": busy, "figures": rows}
        Path(given.json).write_text(json.dumps(run, indent=1), "utf-8")


if __name__ == "__main__":
    main()
