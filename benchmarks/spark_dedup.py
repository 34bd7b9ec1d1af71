"""Spark on two cores: deduplication and decoding, compared with Spark's own functions.

A measurement is a query from cached Parquet files to a sink that discards its input. The session has started, and each
query has run once before. The contenders take turns. The table has medians of the elapsed time, and of the processor
time of Spark and its Python workers, which other programs disturb less. Shuffled bytes are those that Spark reports for
its stages. The results are checked in the same run: duplicates against a dict of `uricodec.urn.key`, and decoded paths
against urllib.parse.

    python benchmarks/spark_dedup.py urns.txt paths.txt --json spark.json

benchmarks/corpus.py generates both files.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet
import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import uricodec
from uricodec import urn
from uricodec.errors import UrnError
from uricodec.integrations import spark as us

ROWS = 250_000  # in a group of a table


def session(folder, memory):
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(Path(uricodec.__file__).parent.parent), os.environ.get("PYTHONPATH")])
    )
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.memory", memory).config("spark.local.dir", folder)
    return builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()


def lines_of(path):
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield line.removesuffix("\n")


def to_parquet(lines, column, path):
    """Return a table of the lines of a file and their numbers."""
    schema = pa.schema({"id": pa.int64(), column: pa.string()})
    rest, number = lines_of(lines), 0
    with pyarrow.parquet.ParquetWriter(path, schema) as table:
        while piece := list(islice(rest, ROWS)):
            table.write_table(pa.table([pa.array(range(number, number + len(piece))), pa.array(piece)], schema))
            number += len(piece)
    return number


class Stages:
    """The bytes that stages have written for shuffles, from Spark's metrics."""

    def __init__(self, spark):
        self.context = spark.sparkContext
        self.seen = {}

    def written(self):
        """Return bytes and rows since the last call."""
        scala = self.context._jsc.sc()
        scala.listenerBus().waitUntilEmpty()
        quantiles = self.context._gateway.new_array(self.context._jvm.double, 0)
        found = scala.statusStore().stageList(None, False, False, quantiles, None)
        size = rows = 0
        for stage in (found.apply(i) for i in range(found.size())):
            if stage.stageId() not in self.seen:
                self.seen[stage.stageId()] = True
                size += stage.shuffleWriteBytes()
                rows += stage.shuffleWriteRecords()
        return size, rows


def processor_seconds():
    """Return the processor time of this process, Spark and its Python workers, including ended ones (Linux)."""
    ticks, children = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = path.read_text("utf-8").partition(" (")
        except OSError:
            continue
        fields = rest.rpartition(") ")[2].split()
        ticks[int(number)] = sum(map(int, fields[11:15]))
        children.setdefault(int(fields[1]), []).append(int(number))
    family = [os.getpid()]
    for process in family:
        family += children.get(process, [])
    return sum(ticks.get(process, 0) for process in family) / os.sysconf("SC_CLK_TCK")


def drop(frame):
    frame.write.format("noop").mode("overwrite").save()


def compare(spark, title, queries, rounds):
    """Run queries that take turns."""
    stages = Stages(spark)
    rows = {name: {"group": title, "query": name, "seconds": [], "processor_seconds": []} for name in queries}
    for turn in range(rounds + 1):
        for name, query in queries.items():
            stages.written()
            start, busy = time.perf_counter(), processor_seconds()
            drop(query())
            seconds, busy = time.perf_counter() - start, processor_seconds() - busy
            rows[name]["shuffled_bytes"], rows[name]["shuffled_rows"] = stages.written()
            if turn:
                rows[name]["seconds"].append(seconds)
                rows[name]["processor_seconds"].append(busy)
    for row in rows.values():
        row["median"], row["processor"] = median(row["seconds"]), median(row["processor_seconds"])
    return list(rows.values())


def key(name):
    try:
        return urn.key(name)
    except UrnError:
        return name


def check_duplicates(found, lines):
    """Check that the result is the first line of each group, unchanged."""
    first = {}
    for number, name in enumerate(lines_of(lines)):
        first.setdefault(key(name), (number, name))
    kept = found.orderBy("id").toArrow()
    ids, names = zip(*first.values(), strict=True)
    want = pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string())})
    if kept.cast(want.schema) != want:
        raise SystemExit("dedup and a dict of urn.key differ")
    return len(first)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("urns", help="a file of URNs, one in a line")
    options.add_argument("paths", help="a file of paths, one in a line")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--memory", default="4g", help="of Spark's machine (default: 4g)")
    options.add_argument("--json", help="where to write the figures, for benchmarks/report.py")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder, given.memory)
        names = to_parquet(given.urns, "name", f"{folder}/urns.parquet")
        paths = to_parquet(given.paths, "path", f"{folder}/paths.parquet")
        urns = spark.read.parquet(f"{folder}/urns.parquet")
        log = spark.read.parquet(f"{folder}/paths.parquet")
        python_unquote = sf.udf(unquote, "string")

        rows = compare(
            spark,
            f"duplicates, {names:,} URNs",
            {
                "distinct of normalize_urn": lambda: urns.select(us.normalize_urn("name").alias("name")).distinct(),
                "dedup": lambda: us.dedup(urns, "name", order="id"),
                "normalize_urn alone": lambda: urns.select(us.normalize_urn("name")),
            },
            given.rounds,
        )
        kept = check_duplicates(us.dedup(urns, "name", order="id"), given.urns)
        assert urns.select(us.normalize_urn("name")).distinct().count() == kept

        rows += compare(
            spark,
            f"decoding, {paths:,} paths",
            {
                "udf of urllib.parse.unquote": lambda: log.select(python_unquote("path")),
                "try_url_decode": lambda: log.select(sf.try_url_decode("path")),
                "unquote": lambda: log.select(us.unquote("path")),
                "unquote, plus and null": lambda: log.select(us.unquote("path", plus=True, errors="null")),
            },
            given.rounds,
        )
        both = log.select(us.unquote("path").alias("ours"), python_unquote("path").alias("theirs"))
        assert both.where(~sf.col("ours").eqNullSafe(sf.col("theirs"))).count() == 0
        java = log.select(
            us.unquote("path", plus=True, errors="null").alias("ours"), sf.try_url_decode("path").alias("theirs")
        )
        same = java.where(sf.col("ours").eqNullSafe(sf.col("theirs"))).count()
        spark.stop()

    print(f"Python {platform.python_version()}, PySpark {pyspark.__version__}, uricodec {uricodec.__version__}")
    print(f"{kept:,} URNs are left; {paths - same:,} of {paths:,} paths differ from those of try_url_decode\n")
    print("| | median, s | fastest, s | processor, s | shuffled, MB | shuffled rows |\n|---|---:|---:|---:|---:|---:|")
    for row in rows:
        figures = f"{row['median']:.2f} | {min(row['seconds']):.2f} | {row['processor']:.2f}"
        figures += f" | {row['shuffled_bytes'] / 1e6:.1f}"
        print(f"| {row['group']}: {row['query']} | {figures} | {row['shuffled_rows']:,} |")
    pairs = {
        "dedup beside distinct": ("distinct of normalize_urn", "dedup"),
        "unquote beside the udf": ("udf of urllib.parse.unquote", "unquote"),
        "unquote beside try_url_decode": ("try_url_decode", "unquote, plus and null"),
    }
    by = {row["query"]: row for row in rows}
    for title, (other, ours) in pairs.items():
        wall, processor = (by[other][figure] / by[ours][figure] for figure in ("median", "processor"))
        print(f"\n{title}: {wall:.2f}x by the clock, {processor:.2f}x by the time of processors")
    if given.json:
        run = {"machine_info": {"measured": {"pyspark": pyspark.__version__}}, "benchmarks": list(map(kept_row, rows))}
        Path(given.json).write_text(json.dumps(run), "utf-8")


def kept_row(row):
    extra = {
        "processor seconds": round(row["processor"], 2),
        "shuffled MB": round(row["shuffled_bytes"] / 1e6, 1),
        "shuffled rows": row["shuffled_rows"],
    }
    return {
        "name": f"{row['group']}: {row['query']}",
        "fullname": Path(__file__).name,
        "extra_info": extra,
        "stats": {"median": row["median"], "rounds": len(row["seconds"])},
    }


if __name__ == "__main__":
    main()
