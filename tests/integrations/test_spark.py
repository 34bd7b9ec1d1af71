"""PySpark does what the scalar functions do, row by row, and what one machine does.

One session for all tests. Rows come from Arrow files where it matters that there are several partitions.
"""

import inspect
import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from reference.rows import in_columns

import uricodec
from uricodec import bulk, dedup, iri, uri, urn
from uricodec._base._fingerprint import FingerprintKey
from uricodec.bulk._operations import OPERATIONS
from uricodec.integrations import spark as us
from uricodec.integrations._operations import FUNCTIONS, SQL_FUNCTIONS

sql = pytest.importorskip("pyspark.sql", reason="PySpark is part of the extra spark")
sf = pytest.importorskip("pyspark.sql.functions", reason="PySpark is part of the extra spark")
pa = pytest.importorskip("pyarrow", reason="pyarrow is part of the extra spark")
PythonException = pytest.importorskip("pyspark.errors").PythonException
Row = sql.Row

# PySpark says so of pandas 3, which nothing here needs.
pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

PATHS = [None, "", "/plain", "/a%20b+c", "/caf%C3%A9/long/enough/for/a/view", "%", "100%", "%zz", "%FF", "%C3%A9%C3"]
PATHS += ["%e2%82%ac", "%F0%9F%8D%B5", "é", "日本/%2F", "a" * 300 + "%41", "%00", "%0A\t", "%25%32%35", "+", "a b"]
URIS = [
    None,
    "",
    "http://example.org/",
    "HTTP://Example.org:80/a/../%7eb?q#f",
    "//h:8/%",
    "a b",
    "http://[::1]/",
    "é:x",
]
URIS += [
    "http://example.org/é",
    "urn:x",
    "http://a:b@c.co.uk:1/d?e&q=a+b%C3%A9#f",
    "1:a",
    "x:",
    "http://%41",
    "http://münchen.de/",
    "%zz",
]
URNS = [None, "", "urn:example:a", "URN:Example:a", "urn:example:A%2f", "urn:example:A%2F", "URN:ISBN:0-395-36341-1"]
URNS += ["urn:isbn:0395363411", "urn:x:", "urn:", "url:x", "urn:example:a?+r?=q#f", "urn:example:é", "urn:a&b:c", "%zz"]

ROWS = PATHS + URIS + URNS
KEY = b"of these tests"


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    source = str(Path(uricodec.__file__).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    builder = sql.SparkSession.builder.master("local[2]").appName("uricodec")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def names(spark):
    """All rows, in more than one partition, with their places."""
    return spark.createDataFrame(list(enumerate(ROWS)), "id int, name string").repartition(3).cache()


def column_of(frame):
    """The second column by the first one."""
    rows = {row[0]: row[1] for row in frame.collect()}
    return [plain(rows[i]) for i in range(len(rows))]


def plain(value):
    if isinstance(value, Row):
        return value.asDict()
    if isinstance(value, list):
        return [plain(item) for item in value]
    return bytes(value) if isinstance(value, bytearray) else value


def expected(name, /, **given):
    """What the operation makes of a list. The offset of a fault counts octets in columns, characters in a list."""
    result = FUNCTIONS[name](ROWS, **given)
    if name == "query_pairs":
        return in_columns(OPERATIONS[name].fields, result)
    if OPERATIONS[name].result != "diagnostic":
        return result
    return [
        fault and {"code": fault["code"], "offset": len(row[: fault["offset"]].encode())}
        for row, fault in zip(ROWS, result, strict=True)
    ]


# --- functions of columns ---------------------------------------------------------------------------------------------


def test_each_operation_has_a_function():
    assert set(us.__all__) == {*OPERATIONS, "dedup", "dedup_dataset", "extract_urns", "register", "save_set"}
    for name, operation in OPERATIONS.items():
        function = getattr(us, name)
        assert function.__name__ == name
        own = [parameter.name for parameter in operation.parameters]
        takes = list(inspect.signature(function).parameters)
        assert takes[: len(own) + 1] == ["column", *own]
        assert ("errors" in takes) == (operation.result in ("text", "component", "list", "struct", "fingerprint"))
        for argument in takes:
            assert f"\n    {argument} (" in function.__doc__
        assert "\nSource: " in function.__doc__ and "\n\n\n" not in function.__doc__


@pytest.mark.parametrize("name", OPERATIONS)
def test_columns(names, name):
    given = {"secret": KEY} if name == "fingerprint" else OPERATIONS[name].required
    assert column_of(names.select("id", getattr(us, name)("name", **given))) == expected(name, **given)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("quote", {"safe": "", "plus": True}),
        ("quote", {"safe": uricodec.ByteSet("abc/")}),
        ("requote", {"errors": "replace"}),
        ("unquote", {"plus": True, "errors": "null"}),
        ("unquote", {"errors": "keep"}),
        ("iri_to_uri", {"disallowed": "encode", "host": "idna", "errors": "null"}),
        ("uri_to_iri", {"host": "unicode"}),
        ("normalize_uri", {"level": "scheme", "errors": "null"}),
        ("normalize_urn", {"level": "namespace", "errors": "null"}),
        ("is_valid_uri", {"production": "URI"}),
        ("check_urn", {"rfc": "2141"}),
        ("split_urn", {"rfc": "2141", "errors": "null"}),
        ("fingerprint", {"kind": "urn", "level": "namespace", "secret": KEY, "errors": "keep"}),
        ("query_value", {"name": ["q", "é", "a `b`, c"], "errors": "null"}),
        ("fingerprint", {"kind": "uri", "secret": KEY}),
    ],
)
def test_arguments(names, name, given):
    assert column_of(names.select("id", getattr(us, name)(sf.col("name"), **given))) == expected(name, **given)


def test_bytes_have_fingerprints_and_verdicts_but_no_text(names):
    octets = names.select("id", sf.col("name").cast("binary").alias("name"))
    assert column_of(octets.select("id", us.is_valid_urn("name"))) == expected("is_valid_urn")
    prints = column_of(octets.select("id", us.fingerprint("name", "urn", secret=KEY)))
    assert prints == expected("fingerprint", kind="urn", secret=KEY)
    with pytest.raises(PythonException, match="unquote: expected a column of text, got binary"):
        octets.select(us.unquote("name")).collect()


def test_no_rows(spark, names):
    assert names.where("id < 0").select(us.unquote("name"), us.split_uri("name")).collect() == []
    assert spark.sql("select 1 as id").select("id", us.unquote(sf.lit(None))).collect()[0][1] is None


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: us.unquote("name", errors="no"), ValueError),
        (lambda: us.normalize_uri("name", errors="replace"), ValueError),
        (lambda: us.normalize_urn("name", level="no"), ValueError),
        (lambda: us.unquote("name", threads=2), TypeError),
        (lambda: us.is_valid_urn("name", errors="null"), TypeError),
        (lambda: us.fingerprint("name", secret=dedup.FingerprintKey()), TypeError),
    ],
)
def test_wrong_arguments_fail_in_the_driver(spark, call, error):
    with pytest.raises(error):
        call()


def test_a_row_that_is_rejected_fails_the_query_if_that_is_wanted(names):
    with pytest.raises(
        PythonException, match=r'"%" not followed by two hexadecimal digits|invalid UTF-8'
    ):  # that of any partition
        names.select(us.unquote("name", errors="raise")).collect()


def test_without_a_key_all_calls_share_a_random_one(names):
    first, second = (column_of(names.select("id", us.fingerprint("name"))) for _ in range(2))
    assert first == second != expected("fingerprint")
    assert len(set(first)) == len(set(ROWS))


# --- functions of SQL -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def select(spark, names):
    us.register(spark, secret=KEY)
    names.createOrReplaceTempView("names")
    return lambda expression: column_of(spark.sql(f"select id, {expression} from names"))


@pytest.mark.parametrize("name", SQL_FUNCTIONS)
def test_sql(select, name):
    sql, operation = SQL_FUNCTIONS[name]
    how = {"errors": "null", **sql.fixed}
    if operation.result == "fingerprint":
        how["secret"] = KEY
    if operation.result in {"component", "list"}:
        how["errors"] = "keep"
    of_all = {each.name: (each.choices or each.examples or ["simple", ""])[-2] for each in operation.parameters}
    values = {parameter: of_all[parameter] for parameter in sql.parameters}
    for count in range(len(operation.required), len(values) + 1):
        first = dict(list(values.items())[:count])
        shown = (",".join(value) if isinstance(value, list) else value for value in first.values())
        literals = (str(value).lower() if isinstance(value, bool) else f"'{value}'" for value in shown)
        texts = ", ".join(["name", *literals])
        assert select(f"{name}({texts})") == expected(operation.name, **how, **first)


def test_arguments_that_are_columns(select):
    levels = ["bytes", "8141", "namespace", None]
    per_row = "array('bytes', '8141', 'namespace', null)[id % 4]"
    by_level = [
        expected("normalize_urn", level=level, errors="null") if level else [None] * len(ROWS) for level in levels
    ]
    assert select(f"urn_normalize(name, {per_row})") == [by_level[i % 4][i] for i in range(len(ROWS))]
    assert select("urn_normalize(name, null)") == [None] * len(ROWS)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("uri_decode(name, 'x')", "uri_decode takes at most 1 arguments: column"),
        ("uri_normalize(name, 'no')", "unknown level 'no'"),
        ("uri_encode(name, 1)", "uri_encode: safe must be text, got 1"),
        ("uri_decode(id)", "uri_decode: expected a column of text, got int32"),
        ("is_valid_urn(id)", "is_valid_urn: expected a column of text, got int32"),
    ],
)
def test_wrong_calls(select, expression, message):
    with pytest.raises(PythonException, match=message):
        select(expression)


@pytest.mark.parametrize(("errors", "row"), [("keep", "100%"), ("replace", "100%"), ("null", None)])
def test_policies(spark, errors, row):
    us.register(spark, errors=errors, prefix="p_")
    calls = "p_uri_decode('100%'), p_is_valid_urn('x'), p_urn_check('x').code, p_iri_to_uri('a b'), p_uri_decode('%FF')"
    kept = {"keep": ("a b", "%FF"), "replace": (None, "\ufffd"), "null": (None, None)}[errors]
    assert tuple(spark.sql(f"select {calls}").collect()[0]) == (row, False, "scheme", *kept)


def test_no_such_policy(spark):
    with pytest.raises(ValueError, match="'no'"):
        us.register(spark, errors="no")


# --- deduplication ----------------------------------------------------------------------------------------------------


def first_of_each(rows, key):
    """The plain definition: the first row for each key, of what cannot be read for itself."""
    kept = {}
    for row in rows:
        kept.setdefault(key(row[-1]), row)
    return list(kept.values())


def key_of(kind, level):
    function = {"urn": urn.key, "uri": uri.normalize, "iri": uri.normalize, "bytes": lambda name: name}[kind]

    def key(name):
        try:
            return name and (function(name, level=level) if level else function(name))
        except uricodec.errors.UriError:
            return "rejected", name

    return key


@pytest.mark.parametrize(
    ("kind", "level"),
    [("urn", None), ("urn", "namespace"), ("urn", "bytes"), ("uri", "path"), ("iri", "iri"), ("bytes", None)],
)
def test_dedup(spark, names, kind, level):
    doubled = names.union(names.select((sf.col("id") + len(ROWS)).alias("id"), sf.col("name")))
    want = first_of_each(list(enumerate(ROWS * 2)), key_of(kind, level))
    found = us.dedup(doubled, "name", kind, level, order="id")
    assert found.columns == ["id", "name"]
    assert sorted(map(tuple, found.collect())) == want


def test_dedup_by_a_policy(spark, tmp_path):
    rows = ["http://a/?utm_x=1", "HTTP://a/?utm_y=2#f", "http://a/?b", "http://b/"]
    urls = spark.createDataFrame(list(enumerate(rows)), "id int, url string")
    kept = [0, 2, 3]
    assert sorted(row.id for row in us.dedup(urls, "url", policy="crawl", order="id").collect()) == kept
    us.save_set(urls.where("id < 2"), "url", tmp_path / "seen", policy="crawl")
    with dedup.SeenSet.open(tmp_path / "seen") as seen:
        left = us.dedup(urls, "url", policy="crawl", seen=seen).collect()
    assert sorted(row.id for row in left) == kept[1:]
    urls.coalesce(1).write.parquet(str(tmp_path / "in"))
    stats = us.dedup_dataset(spark, tmp_path / "in", "url", tmp_path / "out", policy="crawl")
    assert (stats.rows, stats.unique) == (4, 3)


def test_bases_by_the_name_of_their_column(spark):
    links = spark.createDataFrame([("x", "http://a/b/c"), ("../y", "http://d/e/f")], "href string, page string")
    names = [us.resolve("href", "page"), us.resolve("href", links.page), us.resolve("href", "http://g/")]
    found = [tuple(row) for row in links.select(*names).collect()]
    assert found == [("http://a/b/x", "http://a/b/x", "http://g/x"), ("http://d/y", "http://d/y", "http://g/y")]


@pytest.fixture(scope="module")
def files(spark, tmp_path_factory):
    """200 000 rows of 40 000 names in files, so in several partitions."""
    import pyarrow.parquet as pq

    rng = random.Random(1)
    rows = [variant(rng, rng.randrange(40_000)) for _ in range(200_000)]
    times = [rng.choice([None, *range(50)]) for _ in rows]
    folder = tmp_path_factory.mktemp("names")
    table = pa.table({"id": range(len(rows)), "time": times, "name": rows})
    for part in range(4):
        pq.write_table(table.slice(part * 50_000, 50_000), folder / f"{part}.parquet")
    return spark.read.parquet(str(folder)), rows, times


def variant(rng, number):
    if number % 100 == 0:
        return None
    if number % 100 == 1:
        return f"no urn {number}"
    return f"{rng.choice(['urn', 'URN'])}:{rng.choice(['example', 'Example'])}:{number:x}%{rng.choice(['2f', '2F'])}"


def test_dedup_of_files_is_that_of_one_machine(files):
    frame, rows, _ = files
    assert us._is_deterministic(frame)
    found = us.dedup(frame, "name", order="id").select("id", "name")
    assert sorted(map(tuple, found.collect())) == first_of_each(list(enumerate(rows)), key_of("urn", None))


def test_the_first_is_that_with_the_lowest_order_and_ties_leave_one(files):
    frame, rows, times = files
    key = key_of("urn", None)
    lowest = {}
    for name, time in zip(rows, times, strict=True):
        lowest.setdefault(key(name), []).append(51 if time is None else time)
    found = us.dedup(frame, "name", order="time").collect()
    assert {key(row.name): 51 if row.time is None else row.time for row in found} == {
        k: min(v) for k, v in lowest.items()
    }
    assert len(found) == len(lowest)
    assert all(rows[row.id] == row.name and times[row.id] == row.time for row in found)


def test_without_an_order_the_first_is_that_of_the_first_partition(files):
    frame, rows, _ = files
    placed = frame.select("id", sf.monotonically_increasing_id().alias("place")).collect()
    in_order = sorted((row.place, row.id, rows[row.id]) for row in placed)
    want = sorted(row[1] for row in first_of_each(in_order, key_of("urn", None)))
    assert sorted(row.id for row in us.dedup(frame, "name").collect()) == want


def test_rows_after_a_shuffle_are_kept_until_they_are_read_again(spark, files):
    frame, rows, _ = files
    shuffled = frame.repartition(7)
    assert not us._is_deterministic(shuffled)
    assert not us._is_deterministic(frame.limit(10)) and not us._is_deterministic(frame.where(sf.rand() < 0.5))
    assert us._is_deterministic(frame.where("id > 3").select(us.unquote("name").alias("name")).where("name > 'a'"))
    frame.limit(10).write.bucketBy(2, "name").mode("overwrite").saveAsTable("buckets")
    assert not us._is_deterministic(spark.table("buckets"))
    for order in None, "id", sf.col("id").cast("string"):
        found = us.dedup(shuffled, "name", order=order).collect()
        assert len(found) == len(first_of_each(list(enumerate(rows)), key_of("urn", None)))
    halves = us.dedup(frame.where(sf.rand() < 0.5), "name").select("name").collect()
    assert len({key_of("urn", None)(row.name) for row in halves}) == len(halves) > 30_000


def test_dedup_of_bytes_and_of_expressions(files):
    frame, rows, _ = files
    want = [row[0] for row in first_of_each(list(enumerate(rows)), key_of("urn", None))]
    found = us.dedup(frame, sf.col("name").cast("binary"), order="id")
    assert sorted(row.id for row in found.collect()) == want
    last = us.dedup(frame, "name", order=-sf.col("id"))
    backwards = first_of_each(list(enumerate(rows))[::-1], key_of("urn", None))
    assert sorted(map(tuple, last.select("id", "name").collect())) == sorted(backwards)


def test_dedup_of_nothing_and_of_one(spark, files):
    frame, _, _ = files
    assert us.dedup(frame.where("id < 0"), "name").collect() == []
    assert us.dedup(spark.range(1).select(sf.lit(None).cast("string").alias("name")), "name").collect() == [
        Row(name=None)
    ]


def test_names_are_not_shuffled(spark, files):
    """What is exchanged between machines are numbers."""
    plan = us.dedup(files[0], "name", order="id")._jdf.queryExecution().executedPlan().toString()
    exchanges = [line for line in plan.split("\n") if "Exchange hashpartitioning" in line]
    assert len(exchanges) == 2
    behind = plan[plan.index("BroadcastExchange") : plan.index("MapInArrow")]
    assert "name#" not in behind and "high#" in behind


def test_without_an_order_nothing_is_aggregated_before_the_shuffle(files):
    plan = us.dedup(files[0], "name")._jdf.queryExecution().executedPlan().toString()
    source_of_exchange = plan[plan.index("Exchange hashpartitioning(high#") :].split("\n")[1]
    assert "MapInArrow" in source_of_exchange


def reduced(batches, reduces=True):
    """What the function for mapInArrow makes of (identifiers, orders): its rows, numbered from 0."""
    given = {"kind": "urn", "level": None, "secret": KEY, "errors": "keep"}
    row, source = 0, []
    for names, orders in batches:
        columns = [pa.array(names, pa.string()), pa.array(range(row, row + len(names))), pa.array(orders, pa.int64())]
        source.append(pa.RecordBatch.from_arrays(columns, names=["name", "row", "by"]))
        row += len(names)
    return [each for batch in us._fingerprints(given, reduces)(iter(source)) for each in batch.to_pylist()]


@pytest.mark.parametrize("size", [1 << 26, 1])
@pytest.mark.parametrize("orders", ["ascending", "equal", "descending", "random"])
def test_reduction_in_the_workers_keeps_the_lowest_of_each_fingerprint(monkeypatch, orders, size):
    monkeypatch.setattr(us, "_TABLE_SIZE", size)
    rng = random.Random(orders)
    names = [variant(rng, rng.randrange(4_000)) for _ in range(30_000)]
    lists = {"ascending": range(30_000), "equal": [7] * 30_000, "descending": range(30_000, 0, -1)}
    by = lists.get(orders) or [rng.randrange(-100, 100) for _ in names]
    rows = [*zip(names, by, strict=True)]
    bounds = [0, 0, 1, 9_000, 9_000, 9_500, 30_000]
    batches = [tuple(zip(*rows[first:stop], strict=True)) or ((), ()) for first, stop in pairwise(bounds)]
    everything, found = reduced(batches, False), reduced(batches)
    assert [(row["row"], row["by"]) for row in everything] == list(enumerate(by))
    numbers = {row["row"] for row in found}
    assert found == [row for row in everything if row["row"] in numbers]

    def lowest(rows):
        least = {}
        for row in rows:
            key = row["high"], row["low"]
            least[key] = min(least.get(key, row["by"]), row["by"])
        return least

    assert lowest(found) == lowest(everything)
    assert len(lowest(everything)) == len({key_of("urn", None)(name) for name in names})
    if orders in {"ascending", "equal"}:
        first = [row for row, _ in first_of_each(list(enumerate(names)), key_of("urn", None))]
        assert [row["row"] for row in found] == first if size > 1 else set(first) <= numbers
        assert len(found) < len(names)


@pytest.mark.parametrize(("given", "error"), [({"kind": "no"}, ValueError), ({"level": "no"}, ValueError)])
def test_dedup_rejects_in_the_driver(names, given, error):
    with pytest.raises(error):
        us.dedup(names, "name", **given)
    with pytest.raises(TypeError, match="pickle"):
        us.dedup(names, "name", secret=dedup.FingerprintKey())


# --- deduplication of files -------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """Bitmaps and broadcasts of few rows, so that there are several of each."""
    monkeypatch.setattr(us, "_BLOCK_ROWS", 128)
    monkeypatch.setattr(us, "_BITMAP_ROWS", 1024)
    monkeypatch.setattr(us, "_GROUP_ROWS", 2500)


def written(folder, rows, files=7):
    """Write rows to files of different sizes, in the order of their paths, in folders with special characters."""
    import pyarrow.parquet as pq

    rng = random.Random(len(rows))
    bounds = [0, *sorted(rng.randrange(len(rows) + 1) for _ in range(files - 1)), len(rows)]
    table = pa.table({"id": range(len(rows)), "name": pa.array(rows, pa.string()), "list": [[i] for i in rows]})
    for number, (first, stop) in enumerate(pairwise(bounds)):
        place = folder / f"day=2%20 {number // 2}"
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(table[first:stop], place / f"{number}.parquet", row_group_size=700)
    return folder


def rows_in(spark, folder):
    return sorted((row.id, row.name) for row in spark.read.parquet(str(folder)).select("id", "name").collect())


@pytest.mark.parametrize(("kind", "level"), [("urn", None), ("urn", "namespace"), ("uri", "path"), ("bytes", None)])
def test_a_dataset_is_deduplicated_as_by_one_machine(spark, small, tmp_path, kind, level):
    rng = random.Random(kind)
    rows = [rng.choice(ROWS) if i % 9 == 0 else variant(rng, rng.randrange(1_200)) for i in range(6_000)]
    folder = written(tmp_path / "na mes%41", rows)
    stats = us.dedup_dataset(spark, folder, "name", tmp_path / "unique/", kind, level, partition_size="8k")
    want = first_of_each(list(enumerate(rows)), key_of(kind, level))
    assert rows_in(spark, tmp_path / "unique") == want
    assert (stats.rows, stats.unique, stats.written) == (len(rows), len(want), len(want))
    assert stats.duplicates == len(rows) - len(want)
    found = spark.read.parquet(str(tmp_path / "unique"))
    assert set(found.columns) == {"id", "name", "list", "day"}
    assert all(row.list == [row.name] and row.day[:3] == "2  " for row in found.collect())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["na mes%41", "unique"]
    assert (tmp_path / "unique" / "_SUCCESS").exists()


def test_the_files_of_a_dataset_are_few(spark, tmp_path):
    """As many as the rule says, and one for a small result."""
    rows = [f"urn:example:{i % 8_000:x}{hash(str(i % 8_000)):x}" for i in range(40_000)]
    folder = written(tmp_path / "names", rows)
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    for partition_size, files in ("512M", 1), (size, 1), (size // 6, 2):
        to = tmp_path / str(partition_size)
        us.dedup_dataset(spark, [str(folder)], sf.col("name").cast("binary"), to, partition_size=partition_size)
        assert rows_in(spark, to) == [*enumerate(rows[:8_000])]
        assert len(list(to.glob("*.parquet"))) == files


@pytest.mark.parametrize("secret", [None, KEY])
def test_a_dataset_without_what_a_saved_set_has(spark, small, tmp_path, secret):
    rng = random.Random(7)
    rows = [variant(rng, rng.randrange(600)) for _ in range(3_000)]
    dedup.SeenSet.build([row for row in rows[:500] if row], "urn", secret=secret).save(tmp_path / "seen")
    seen = dedup.SeenSet.open(tmp_path / "seen", secret)
    folder = written(tmp_path / "names", rows)
    stats = us.dedup_dataset(spark, folder, "name", tmp_path / "unique", secret=secret, seen=seen)
    want = [row for row in first_of_each(list(enumerate(rows)), key_of("urn", None)) if row[1] not in seen]
    assert rows_in(spark, tmp_path / "unique") == want
    assert stats.duplicates == len(rows) - len(want) > 2_600
    everything = dedup.SeenSet.build([row for row in rows if row], "urn")
    us.dedup_dataset(spark, folder, "name", tmp_path / "null", seen=everything)
    assert [row[1] for row in rows_in(spark, tmp_path / "null")] == [None]


def test_a_dataset_without_rows(spark, tmp_path):
    spark.createDataFrame([], "name string, id int").write.parquet(str(tmp_path / "names"))
    assert us.dedup_dataset(spark, tmp_path / "names", "name", tmp_path / "unique").rows == 0
    found = spark.read.parquet(str(tmp_path / "unique"))
    assert (found.count(), found.columns) == (0, ["name", "id"])


def test_datasets_that_are_rejected(spark, tmp_path):
    """Nothing is left of a call that fails, and what there was stays."""
    spark.range(9).select(sf.lit("urn").alias("name"), "id").write.parquet(str(tmp_path / "names"))
    call = (spark, str(tmp_path / "names"), "name", tmp_path / "unique")
    for given, error in [
        ({"kind": "no"}, ValueError),
        ({"level": "no"}, ValueError),
        ({"partition_size": "no"}, ValueError),
        ({"partition_size": 0}, ValueError),
        ({"secret": dedup.FingerprintKey()}, TypeError),
        ({"seen": dedup.SeenSet.build(["a"], "bytes")}, dedup.SetError),
    ]:
        with pytest.raises(error):
            us.dedup_dataset(*call, **given)
    with pytest.raises(PythonException, match="text"):
        us.dedup_dataset(*call[:2], "id", call[3])
    assert [path.name for path in tmp_path.iterdir()] == ["names"]
    for name in "unique", "unique.kept":
        (tmp_path / name).mkdir()
        with pytest.raises(FileExistsError, match=name):
            us.dedup_dataset(*call)
        (tmp_path / name).rmdir()


def test_a_late_failure_leaves_nothing(spark, small, tmp_path, monkeypatch):
    folder = written(tmp_path / "names", [f"urn:example:{i}" for i in range(7_000)])
    write, calls = us._write_rows, []

    def fails(*args):
        calls.append((tmp_path / "unique" / "_SUCCESS").exists())
        if len(calls) == 3:
            raise KeyboardInterrupt
        write(*args)

    monkeypatch.setattr(us, "_write_rows", fails)
    with pytest.raises(KeyboardInterrupt):
        us.dedup_dataset(spark, folder, "name", tmp_path / "unique")
    assert calls == [False] * 3
    assert [path.name for path in tmp_path.iterdir()] == ["names"]


def test_groups_of_files(monkeypatch):
    monkeypatch.setattr(us, "_BITMAP_ROWS", 8)
    monkeypatch.setattr(us, "_GROUP_ROWS", 20)
    found = [("a", 1, 3), ("b", 1, 17), ("c", 1, 1), ("d", 1, 50), ("e", 1, 20), ("f", 1, 0)]
    groups = us._groups_of(found)
    assert [[(file.path, file.first) for file in group] for group in groups] == [
        [("a", 0), ("b", 3)],
        [("c", 24)],
        [("d", 32)],
        [("e", 88), ("f", 108)],
    ]
    assert us._groups_of([]) == [[]]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_bits_of_rows(size):
    rng = random.Random(size)
    rows = rng.sample(range(3 * 4096, 4 * 4096), 900)
    batches = pa.table({"row": pa.array([0, *rows])}).slice(1).to_batches(max_chunksize=size)
    (blocks,) = us._bits(4096, 128)(iter(batches))
    assert set(blocks.column("bitmap").to_pylist()) == {3}
    found = []
    for block in blocks.to_pylist():
        bits = [64 * i + bit for i, word in enumerate(block["marks"]) for bit in range(64) if word >> bit & 1]
        assert len(block["marks"]) == 2 and len(bits) == block["kept"] > 0
        found += [128 * block["block"] + bit for bit in bits]
    assert found == sorted(rows)
    (nothing,) = us._bits(4096, 128)(iter([]))
    assert len(nothing) == 0 and nothing.schema.names == ["block", "marks", "kept", "bitmap"]


# --- extraction -------------------------------------------------------------------------------------------------------

TEXTS = ['see <urn:isbn:0451450523>, "URN:x1:a%2Fb"', None, "", "no names", "é urn:example:é", "urn:", "urn:a1:b" * 3]
TEXTS += ["urn:aa:~b&c ", "turn:a:b", "日本 urn:example:日 urn:example:1,"]


@pytest.mark.parametrize("secret", [None, "of the tests"])
@pytest.mark.parametrize("kind", ["urn", "uri", "bytes"])
def test_saved_sets(spark, tmp_path, kind, secret):
    """Made by tasks, they are those of one machine; what they have is left out, whether they are files or not."""
    rows = [*ROWS, *[f"urn:example:{i % 500}" for i in range(2000)]]
    df = spark.createDataFrame([(row,) for row in rows], "name string").repartition(3)
    us.save_set(df.where("hash(name) % 2 = 0"), "name", tmp_path / "seen", kind, secret=secret)
    had = [row.name for row in df.where("hash(name) % 2 = 0").collect()]
    seen = dedup.SeenSet.open(tmp_path / "seen", secret)
    assert seen == dedup.SeenSet.build(had, kind, secret=seen.key)
    assert [path.name for path in tmp_path.iterdir()] == ["seen"]
    kept = {row for row in rows if row is None or row not in seen}
    expected = len(dedup.unique(sorted(kept - {None}), kind)) + 1
    for given in seen, dedup.SeenSet.merge([seen]):
        for order in None, "name":
            found = [row.name for row in us.dedup(df, "name", kind, order=order, seen=given).collect()]
            assert len(found) == expected and set(found) <= kept
    us.save_set(df.where("false"), "name", tmp_path / "seen", kind)
    assert len(dedup.SeenSet.open(tmp_path / "seen")) == 0


def test_saved_sets_that_do_not_fit(spark, tmp_path):
    df = spark.createDataFrame([("a",)], "name string")
    with pytest.raises(dedup.SetError, match="has kind 'bytes'"):
        us.dedup(df, "name", seen=dedup.SeenSet.build(["a"], "bytes"))
    with pytest.raises(dedup.SetError, match="another secret"):
        us.dedup(df, "name", "bytes", secret="x", seen=dedup.SeenSet.build(["a"], "bytes"))
    with pytest.raises(ValueError, match="kind must be"):
        us.save_set(df, "name", tmp_path / "seen", "no-such")
    with pytest.raises(TypeError, match="random secret"):
        us.save_set(df, "name", tmp_path / "seen", secret=FingerprintKey())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("type_", ["string", "binary"])
def test_extraction(spark, type_):
    rows = [(i, text if type_ == "string" or text is None else text.encode(), [i]) for i, text in enumerate(TEXTS)]
    frame = spark.createDataFrame(rows, f"id int, text {type_}, more array<int>").repartition(3)
    want = []
    for i, text in enumerate(TEXTS):
        octets = (text or "").encode()
        want += [(i, [i], octets[a:b].decode(), a, b) for a, b in urn.find(octets)]
    assert len(want) == 4
    found = us.extract_urns(frame, "text", offsets=True)
    assert found.columns == ["id", "more", "urn", "urn_start", "urn_end"]
    assert sorted(map(tuple, found.collect()), key=lambda row: (row[0], row[3])) == want
    without = us.extract_urns(frame.select("text"), "text", into="name")
    assert without.columns == ["name"]
    assert sorted(row.name for row in without.collect()) == sorted(row[2] for row in want)


def test_extraction_with_other_terminators(spark):
    frame = spark.createDataFrame([("urn:aa:~b&c d",)], "text string")
    assert us.extract_urns(frame, "text", terminators=" ").collect() == [Row(urn="urn:aa:~b&c")]


def test_a_text_with_many_urns_goes_in_pieces(spark):
    frame = spark.range(1).select("id", sf.expr("repeat('urn:aa:b ', 50001)").alias("text"))
    found = us.extract_urns(frame, "text", offsets=True)
    assert [row.urn_start for row in found.collect()] == list(range(0, 9 * 50001, 9))
    assert found.where("id = 0 and urn = 'urn:aa:b'").count() == 50001


@pytest.mark.parametrize("given", [{"column": "no"}, {"column": "id"}, {"column": "text", "into": "id"}])
def test_extraction_rejects_columns(spark, given):
    with pytest.raises(ValueError, match="name"):
        us.extract_urns(spark.createDataFrame([(1, "a")], "id int, text string"), **given)


# --- what workers do, in this process ---------------------------------------------------------------------------------


def pieces(table, size):
    """Batches as Spark may hand them over: views of others, some without rows."""
    yield table.to_batches()[0][:0]
    yield from (batch[1:] for batch in table[:size].to_batches())
    yield from table[size:].to_batches(max_chunksize=size)


def test_a_column_without_a_type():
    for name, function in FUNCTIONS.items():
        given = {"secret": KEY} if name == "fingerprint" else OPERATIONS[name].required
        done = us.array_of(us._computing(name, OPERATIONS[name].result, function, given)(pa.nulls(3)))
        assert done.to_pylist() == function([None] * 3, **given)
        assert not pa.types.is_null(done.type)


def test_a_column_of_another_type():
    compute = us._computing("unquote", "text", bulk.unquote, {})
    for column in pa.array([1]), pa.array([b"a"]), pa.array(["a"]).dictionary_encode():
        with pytest.raises(TypeError, match="unquote: expected a column of text, got "):
            compute(column)


def test_arguments_that_go_with_a_function(monkeypatch):
    """None is the default of `bulk`; a key is the one that was given, or of its secret."""
    monkeypatch.setattr(
        us, "_udf", lambda _name, compute, _type: lambda column: us.array_of(compute(column)).to_pylist()
    )
    column = pa.array(ROWS)
    assert us.unquote(column, errors=None) == expected("unquote")
    assert us.unquote(column, errors="null") == expected("unquote", errors="null") != expected("unquote")
    want = expected("fingerprint", secret=KEY)
    for key in KEY, dedup.FingerprintKey(KEY):
        assert us.fingerprint(column, secret=key) == want
    assert us.fingerprint(column, secret=b"another") != want


def test_a_frame_that_does_not_tell_its_plan():
    """As one of Spark Connect: nobody knows where its rows are the second time."""
    assert not us._is_deterministic(object())


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("type_", ["string", "binary"])
def test_numbers_instead_of_names(type_, size):
    rows = [row if row is None or type_ == "string" else row.encode() for row in ROWS]
    table = pa.table({"name": pa.array(rows, type_), "row": pa.array(range(len(rows)), pa.int64())})
    how = {"kind": "urn", "level": None, "secret": dedup.FingerprintKey(KEY), "errors": "keep"}
    done = list(us._fingerprints(how, False)(pieces(table, size)))
    assert all(len(batch) and batch.schema.names == ["high", "low", "row"] for batch in done)
    found = [row for batch in done for row in batch.to_pylist()]
    want = []
    for row, octets in enumerate(bulk.fingerprint(ROWS, **how)):
        halves = octets and [int.from_bytes(half, "little", signed=True) for half in (octets[:8], octets[8:])]
        high, low = halves or (None, None)
        want.append({"high": high, "low": low, "row": row})
    assert found == want[1:]


class Frame:
    """A DataFrame that is there already, in batches."""

    def __init__(self, schema, batches):
        self.schema, self._batches = schema, batches

    def mapInArrow(self, function, schema):
        done = list(function(iter(self._batches)))
        assert all(batch.schema.names == schema.fieldNames() for batch in done)
        return [tuple(row.values()) for batch in done for row in batch.to_pylist()]


@pytest.mark.parametrize("at_once", [1, 2, 1000])
@pytest.mark.parametrize("type_", ["string", "binary"])
def test_urns_of_texts(monkeypatch, type_, at_once):
    monkeypatch.setattr(us, "_AT_ONCE", at_once)
    texts = [text if text is None or type_ == "string" else text.encode() for text in TEXTS]
    table = pa.table({"id": range(len(texts)), "text": pa.array(texts, type_)})
    schema = sql.types.StructType().add("id", "long").add("text", type_)
    octets = [(i, (text or "").encode()) for i, text in enumerate(TEXTS)]
    want = [(i, text[a:b].decode(), a, b) for i, text in octets for a, b in urn.find(text) if i]
    assert us.extract_urns(Frame(schema, pieces(table, 4)), "text", offsets=True) == want
    assert us.extract_urns(Frame(schema, pieces(table, 4)), "text") == [row[:2] for row in want]
    alone = Frame(sql.types.StructType().add("text", type_), pieces(table.select(["text"]), 4))
    assert us.extract_urns(alone, "text", into="name") == [row[1:2] for row in want]


# --- a million --------------------------------------------------------------------------------------------------------


def test_a_million_rows(spark, tmp_path):
    """Names that Spark makes, in files, through SQL, columns, deduplication and extraction; the counts are known."""
    made = spark.range(1_000_000, numPartitions=4).select(
        "id",
        sf.expr(
            "concat(if(id % 2 = 0, 'URN:Example:', 'urn:example:'), id % 250000, '%2', if(id % 3 = 0, 'F', 'f'))"
        ).alias("name"),
    )
    made.write.parquet(str(tmp_path / "names"))
    frame = spark.read.parquet(str(tmp_path / "names"))
    us.register(spark)
    frame.createOrReplaceTempView("million")
    query = (
        "select count(*), count_if(is_valid_urn(name)), count(distinct urn_key(name)), sum(length(uri_decode(name)))"
    )
    rows, valid, distinct, length = spark.sql(query + " from million").collect()[0]
    numbers = sum(len(str(i % 250_000)) for i in range(1_000_000))
    assert (rows, valid, distinct, length) == (1_000_000, 1_000_000, 250_000, numbers + 13_000_000)
    kept = us.dedup(frame, "name", order="id")
    assert kept.agg(sf.count("*"), sf.min("id"), sf.max("id")).collect()[0][:] == (250_000, 0, 249_999)
    texts = frame.select(sf.concat(sf.lit("see "), "name", sf.lit(", "), "name", sf.lit("\n")).alias("text"))
    assert us.extract_urns(texts, "text").count() == 2_000_000


def test_nothing_is_imported_before_it_is_used():
    code = "import sys, uricodec.integrations.spark; print({'pyspark', 'pyarrow', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_scalar_functions_agree(names):
    """The references above are lists; this one is the functions for one name."""
    decoded = column_of(names.select("id", us.normalize_urn("name", errors="null")))
    for name, form in zip(ROWS, decoded, strict=True):
        assert form == (urn.normalize(name) if name is not None and urn.is_valid(name) else None)
    converted = column_of(names.select("id", us.iri_to_uri("name", errors="null")))
    for name, form in zip(ROWS, converted, strict=True):
        if form is not None:
            assert form == iri.iri_to_uri(name)
