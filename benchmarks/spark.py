"""Spark on two cores, compared with its own functions. See compare.py."""

import os
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from urllib.parse import unquote

import corpus
import pyarrow as pa
import pyarrow.parquet
import pyspark
from programs import options
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


def to_parquet(lines, column, path):
    """Write a table of lines and their numbers."""
    schema = pa.schema({"id": pa.int64(), column: pa.string()})
    with pyarrow.parquet.ParquetWriter(path, schema) as table:
        for start in range(0, len(lines), ROWS):
            piece = lines[start : start + ROWS]
            table.write_table(pa.table([pa.array(range(start, start + len(piece))), pa.array(piece)], schema))


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
    return list(rows.values())


def key(name):
    try:
        return urn.key(name)
    except UrnError:
        return name


def check_duplicates(found, lines):
    """Check that the result is the first line of each group, unchanged."""
    first = {}
    for number, name in enumerate(lines):
        first.setdefault(key(name), (number, name))
    kept = found.orderBy("id").toArrow()
    ids, names = zip(*first.values(), strict=True)
    want = pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string())})
    if kept.cast(want.schema) != want:
        raise SystemExit("dedup and a dict of urn.key differ")
    return len(first)


def spark(arguments):
    """Deduplication of URNs and decoding of a fifth as many paths in Spark on two cores.

    A measurement is a query from cached Parquet files to a sink that discards its input. The session has started, and
    each query has run once before. The figures are medians of the elapsed time, and of the processor time of Spark and
    its Python workers. Shuffled bytes are those that Spark reports for its stages. Duplicates are compared with a dict
    of `uricodec.urn.key`, and decoded paths with urllib.parse. Needs the extra spark, Java, Linux. --only is not used.
    """
    parser = options(spark, 10_000_000)
    parser.add_argument("--memory", default="4g", help="of Spark's machine (default: 4g)")
    given = parser.parse_args(arguments)
    names = [name for batch in corpus.urns(given.lines, random.Random("urns")) for name in batch]
    paths = [path for batch in corpus.paths(given.lines // 5, random.Random("paths")) for path in batch]
    with tempfile.TemporaryDirectory() as folder:
        engine = session(folder, given.memory)
        to_parquet(names, "name", f"{folder}/urns.parquet")
        to_parquet(paths, "path", f"{folder}/paths.parquet")
        urns = engine.read.parquet(f"{folder}/urns.parquet")
        log = engine.read.parquet(f"{folder}/paths.parquet")
        python_unquote = sf.udf(unquote, "string")

        rows = compare(
            engine,
            f"duplicates, {len(names):,} URNs",
            {
                "distinct of normalize_urn": lambda: urns.select(us.normalize_urn("name").alias("name")).distinct(),
                "dedup": lambda: us.dedup(urns, "name", order="id"),
                "normalize_urn alone": lambda: urns.select(us.normalize_urn("name")),
            },
            given.rounds,
        )
        kept = check_duplicates(us.dedup(urns, "name", order="id"), names)
        assert urns.select(us.normalize_urn("name")).distinct().count() == kept

        rows += compare(
            engine,
            f"decoding, {len(paths):,} paths",
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
        engine.stop()

    print(f"PySpark {pyspark.__version__}: {kept:,} URNs are left")
    print(f"{len(paths) - same:,} paths differ from try_url_decode")
    print(f"{'seconds':>9}{'fastest':>9}{'processor':>10}{'shuffled MB':>12}{'rows':>12}")
    for row in rows:
        wall, processor = (median(row[figure]) for figure in ("seconds", "processor_seconds"))
        figures = f"{wall:9.2f}{min(row['seconds']):9.2f}{processor:10.2f}{row['shuffled_bytes'] / 1e6:12.1f}"
        print(f"{figures}{row['shuffled_rows']:12,}  {row['group']}: {row['query']}")
