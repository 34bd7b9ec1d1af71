"""PySpark: functions of columns and of SQL, deduplication by fingerprints, extraction of URNs.

    from uricodec.integrations import spark as us

Spark passes columns to the Python workers as Arrow arrays, and each array is one call of `uricodec.bulk`; pandas is not
used. The workers need uricodec and pyarrow, too. `dedup` shuffles the fingerprint of each identifier and the number of
its row, never the identifier. The workers omit fingerprints that they have seen in their partition:

    part 1: identifiers --> (fingerprint, row) --> first of each fingerprint --\\
    part 2: identifiers --> (fingerprint, row) --> first of each fingerprint ---+--> shuffle --> first of all: rows
                                                                                                        |
    part 1: its rows, read again --> rows to keep <-----+------ a bit for each row, broadcast <---------+
    part 2: its rows, read again --> rows to keep <----/

The number of a row consists of its partition and its position there. It is the same in both readings if the rows are
files, or are selected and filtered from files. After a shuffle that is not guaranteed, so the executors keep a copy of
all other DataFrames until the second reading.

`dedup_dataset` does the same for Parquet files of any number of rows. There, the number of a row consists of its file
and its position in the file, so it stays the same from job to job, and the bits of rows to keep are files, too:

    job 1: identifiers --> (fingerprint, row) --> shuffle --> first of all: rows --> shuffle --> bitmaps, in files
    job 2: rows of group 1 of the files --> rows to keep <-- its bitmaps, broadcast
    job 3: rows of group 2 of the files --> ...

PySpark and pyarrow are imported when they are used: `pip install uricodec[spark]`, PySpark 4.1 or newer.
"""

from __future__ import annotations

import errno
import os
import pickle
import shutil
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from uricodec import bulk, urn
from uricodec._base._fingerprint import FingerprintKey
from uricodec._base.extras import need
from uricodec._counting._table import FingerprintBatch, Table
from uricodec._io.sizes import parse_size
from uricodec.bulk._operations import OPERATIONS
from uricodec.dedup import Deduplicator, DedupStats
from uricodec.dedup._seen import SeenSet, must_match
from uricodec.errors import UriError
from uricodec.integrations._methods import engine_function
from uricodec.integrations._operations import FUNCTIONS, SQL_FUNCTIONS, check_arguments, of_a_piece
from uricodec.integrations._sql import Compute, array_of, fixed_arguments, result_type, with_arguments

__all__ = ["dedup", "dedup_dataset", "extract_urns", "register", "save_set"]
__all__ += list(OPERATIONS)


def __dir__() -> list[str]:
    return __all__


_Secret = FingerprintKey | str | bytes | None

_WITH_ERRORS = ("text", "component", "list", "struct", "fingerprint")  # kinds of results that an invalid row lacks
_own_secret: dict[None, bytes] = {}


def _shared_key(secret: _Secret) -> FingerprintKey:
    """Return the key that the workers receive. A random one is made here, or each worker would make its own."""
    if secret is None:
        secret = _own_secret.get(None) or _own_secret.setdefault(None, os.urandom(64))  # threads may be first together
    if not isinstance(secret, FingerprintKey):
        return FingerprintKey(secret)
    pickle.dumps(secret)  # raises here if the key is random, and so cannot be shared
    return secret


def _need_spark() -> None:
    """Raise ModuleNotFoundError if PySpark or pyarrow is not installed; the message says what to type."""
    need("spark", "pyspark", "pyarrow")


# --- functions of columns ---------------------------------------------------------------------------------------------


def _udf(name: str, compute: Compute, type_: Any) -> Any:
    """Return the function that Spark calls for each piece of a column, whose result has this type of pyarrow."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from pyspark.sql.functions import arrow_udf  # type: ignore[import-not-found,unused-ignore]

    def rows(*columns: Any) -> Any:
        return array_of(compute(*columns))

    rows.__name__ = name
    rows.__annotations__ = {
        "columns": pa.Array,
        "return": pa.Array,
    }  # Spark could not evaluate annotations of the source
    return arrow_udf(rows, _ddl(type_))


def _ddl(type_: Any) -> str:
    import pyarrow as pa

    if pa.types.is_struct(type_):
        fields = [f"`{field.name.replace('`', '``')}`: {_ddl(field.type)}" for field in type_]
        return f"struct<{', '.join(fields)}>"
    if pa.types.is_list(type_):
        return f"array<{_ddl(type_.value_type)}>"
    return {pa.string(): "string", pa.bool_(): "boolean", pa.int64(): "bigint"}.get(type_, "binary")


def _computing(
    name: str, result: str, function: Compute, given: dict[str, Any], arguments: tuple[str, ...] = ()
) -> Compute:
    """Return the function of a column and the values of `arguments`. Binary columns have no text and no components."""
    import pyarrow as pa

    text, binary = (pa.string(), pa.large_string()), (pa.binary(), pa.large_binary())

    def compute(column: Any, *values: str) -> Any:
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        if column.type not in (text if result in ("text", "component", "list", "struct") else text + binary):
            raise TypeError(f"{name}: expected a column of text, got {column.type}")
        try:
            return function(column, threads=1, **given, **dict(zip(arguments, values, strict=False)))
        except UriError as error:
            raise of_a_piece(name, error) from None

    return compute


_RETURNS = {
    "text": "Column: Strings.",
    "verdict": "Column: Booleans.",
    "diagnostic": "Column: Structs of code and offset (in bytes), or NULL if the row is valid.",
    "component": "Column: Strings, or NULL if a row has no such component. For several names, Structs of Strings.",
    "list": "Column: Arrays of strings; of structs of name and value for `query_pairs`.",
    "struct": "Column: Structs of the components, which are NULL if they are undefined.",
    "fingerprint": "Column: Binary, 16 bytes. If the secret is None, the driver makes a random one for all its calls.",
}


def _column_function(name: str) -> Compute:
    """Return an operation of `bulk` as a function of a column of Spark."""
    operation, of_bulk = OPERATIONS[name], FUNCTIONS[name]
    options = ["errors"] if operation.result in _WITH_ERRORS else []

    def run(argument: Any, name: str, given: dict[str, Any]) -> Any:
        _need_spark()
        import pyarrow as pa
        from pyspark.sql import Column  # type: ignore[import-not-found,unused-ignore]
        from pyspark.sql import functions as sf  # type: ignore[import-not-found,unused-ignore]

        if operation.result == "fingerprint":
            given["secret"] = _shared_key(given.get("secret"))
        base = given.get("base")
        if isinstance(base, str) and ":" not in base:  # a base has a scheme: this is the name of a column
            given["base"] = sf.col(base)
        columns = {key: value for key, value in given.items() if isinstance(value, Column)}
        given = check_arguments(operation, given, columns, "a column")
        compute = _computing(name, operation.result, of_bulk, given, tuple(columns))
        none = pa.array([], pa.string())
        return _udf(name, compute, array_of(compute(none, *[none] * len(columns))).type)(argument, *columns.values())

    about_column = "column (Column | str): The column, or its name."
    function = engine_function(operation, "column", options, run, _RETURNS[operation.result], about_column)
    function.__module__ = __name__
    return function


if TYPE_CHECKING:
    from uricodec.integrations._signatures import *  # noqa: F403
    from uricodec.typing import PolicyName
    from uricodec.uri._policies import Policy
else:
    globals().update({name: _column_function(name) for name in OPERATIONS})


# --- functions of SQL -------------------------------------------------------------------------------------------------


def register(spark: Any, errors: str = "null", secret: _Secret = None, prefix: str = "") -> None:
    """Register the functions of SQL in a session; functions registered before are replaced.

    Args:
        spark (SparkSession): The session.
        errors (str): How invalid values are handled. "null": the result is NULL. "keep": it is the value itself (its
            components for `uri_split` and `iri_split`, NULL for `urn_split`). "raise": the query fails. "replace": as
            "null", but `uri_decode` and `form_decode` decode as urllib.parse does, `percent_decode` writes U+FFFD, and
            `uri_requote` writes %25 for a malformed `%`. Four kinds of functions ignore it: `is_valid_*` and
            `uri_equivalent` return false, `*_check` return why, and `name_fingerprint` returns the fingerprint of the
            value itself. Those of parts of URLs, such as `uri_host`, return what the value has, unless
            it is "raise".
        secret (FingerprintKey | str | bytes | None): The secret of `name_fingerprint`; None: a random secret of this
            driver.
        prefix (str): A prefix for the names of all functions.

    Raises:
        ValueError: If the policy is unknown, or the secret is empty.
        TypeError: If the key is a random FingerprintKey, which cannot be shared.
        ModuleNotFoundError: If PySpark or pyarrow is not installed.

    Source: docs/guides/spark.md.

    >>> import pyspark
    >>> spark = pyspark.sql.SparkSession.builder.getOrCreate()
    >>> register(spark)
    >>> tuple(spark.sql("select uri_decode('/caf%C3%A9'), uri_decode('100%'), is_valid_urn('urn:')").first())
    ('/café', None, False)
    """
    _need_spark()
    shared = _shared_key(secret)
    for name, (sql, operation) in SQL_FUNCTIONS.items():
        given = fixed_arguments(name, errors)
        if operation.result == "fingerprint":
            given["secret"] = shared
        compute = _computing(name, operation.result, FUNCTIONS[operation.name], given, sql.parameters)
        compute = with_arguments(name, compute)
        spark.udf.register(prefix + name, _udf(prefix + name, compute, result_type(name, compute)))


# --- deduplication ----------------------------------------------------------------------------------------------------

# Names of temporary columns; a DataFrame has no columns of these names.
_ROW, _BLOCK, _MARKS = "\0row", "\0block", "\0marks"

# Types of `order` that convert to 64-bit integers with the same order. NULL becomes the highest integer, although that
# may occur in the column: a second column for NULL would be more to shuffle.
_NUMBERS = dict.fromkeys(("ByteType", "ShortType", "IntegerType", "LongType"), "cast(by as bigint)")
_NUMBERS |= {"DateType": "cast(unix_date(by) as bigint)", "TimestampType": "unix_micros(by)"}

_TABLE_SIZE = 1 << 26  # limit for the table of a partition in bytes: 3 million fingerprints
_SEEN = 1  # mark of a row whose fingerprint is in the table

# Nodes of a plan that return the same rows at the same positions each time.
_DETERMINISTIC_NODES = {"Project", "Filter", "LocalRelation", "Range", "ArrowEvalPython", "BatchEvalPython"}


def dedup(  # noqa: PLR0913, PLR0917
    df: Any,
    column: str | Any,
    kind: str | None = None,
    level: str | None = None,
    secret: _Secret = None,
    order: str | Any | None = None,
    seen: SeenSet | None = None,
    policy: Policy | PolicyName | None = None,
) -> Any:
    """Keep the first row of each group of equivalent identifiers, with all its columns.

    Between machines moves, for the first row of each identifier in a partition, its fingerprint of 16 bytes and its
    number (and `order`). An invalid identifier is equivalent to itself only. All rows that are NULL are equivalent.

    Args:
        df (DataFrame): The rows. They are read twice. Unless they are files, selections and filters, the second reading
            could differ, so the executors keep a copy (DataFrame.localCheckpoint).
        column (str | Column): The identifiers, or the name of their column: text or binary.
        kind (str | None): "urn", "uri", "iri", "web", or "bytes" (compared as they are); None: "urn", or with a policy
            "uri".
        level (str | None): What is equivalent, as in `uricodec.bulk.fingerprint`.
        secret (FingerprintKey | str | bytes | None): The secret of the fingerprints; None: a random one. The result
            does not depend on it.
        order (str | Column | None): The row with the lowest value is the first. NULL comes last, equal to the highest
            64-bit integer. Spark chooses among rows with the same value. Numbers, dates and times are fast, text is
            slower. None: the order of the partitions and of the rows in each; for a single file this is its order,
            several files are read in any order.
        seen (uricodec.dedup.SeenSet | None): A saved set of identifiers to leave out, before anything is shuffled. The
            executors open the file of a set that was opened by its path; other sets are sent to them.
        policy (Policy | str | None): What is equivalent, instead of a level, as in `uricodec.bulk.normalize_uri`.

    Returns:
        DataFrame: The rows to keep, in the partitions of `df`.

    Raises:
        ValueError: If the kind or level is unknown.
        SetError: If `seen` has another kind, level or secret.
        TypeError: If the key is a random FingerprintKey, which cannot be shared.
        ModuleNotFoundError: If PySpark or pyarrow is not installed.

    Source: docs/guides/spark.md; docs/developing/fingerprint.md.

    >>> import pyspark
    >>> spark = pyspark.sql.SparkSession.builder.getOrCreate()
    >>> names = spark.createDataFrame([(2, "urn:example:a"), (1, "URN:Example:a")], "id int, name string")
    >>> [tuple(row) for row in dedup(names, "name", order="id").collect()]
    [(1, 'URN:Example:a')]
    """
    _need_spark()
    from pyspark.sql import functions as sf  # type: ignore[import-not-found,unused-ignore]
    from pyspark.sql.types import LongType, StructField, StructType  # type: ignore[import-not-found,unused-ignore]

    given = _fingerprint_options(kind, level, secret, seen, policy)
    rows = df.withColumn(_ROW, sf.monotonically_increasing_id())
    if not _is_deterministic(df):
        rows = rows.localCheckpoint(eager=False)
    name = sf.col(column) if isinstance(column, str) else column
    names = rows.select(name.alias("name"), sf.col(_ROW).alias("row"))
    first = sf.min("row")
    if order is not None:
        by = sf.col(order) if isinstance(order, str) else order
        names = rows.select(name.alias("name"), sf.col(_ROW).alias("row"), by.alias("by"))
        number = _NUMBERS.get(type(names.schema["by"].dataType).__name__)
        if number:
            last = f"coalesce({number}, {2**63 - 1}L) as by"
            names = names.selectExpr("name", "row", last)
            first = sf.min_by("row", "by")
        else:
            first = sf.coalesce(sf.min_by("row", "by"), first)  # min_by ignores rows whose order is NULL
    halves = [StructField("high", LongType()), StructField("low", LongType())]
    schema = StructType([*halves, *names.schema.fields[1:]])
    is_number = isinstance(names.schema.fields[-1].dataType, LongType)
    prints = names.mapInArrow(_fingerprints(given, is_number, seen), schema)
    if order is None:
        # The rows of a partition have different fingerprints, so there is nothing to aggregate before the shuffle.
        prints = prints.repartition("high", "low")
    kept = prints.groupBy("high", "low").agg(first.alias("row"))
    # A bit for each row: a million rows cost 125 kB, and the keys of the blocks of 64.
    marks = kept.groupBy(sf.shiftright("row", 6).alias(_BLOCK)).agg(
        sf.bit_or(sf.expr("shiftleft(1L, cast(row & 63 as int))")).alias(_MARKS)
    )
    rows = rows.withColumn(_BLOCK, sf.shiftright(sf.col(_ROW), 6)).join(sf.broadcast(marks), _BLOCK)
    is_marked = sf.expr(f"shiftrightunsigned(`{_MARKS}`, cast(`{_ROW}` & 63 as int)) & 1 = 1")
    return rows.where(is_marked).drop(_ROW, _BLOCK, _MARKS)


def _equivalence(kind: str | None, level: str | None, policy: Any) -> dict[str, Any]:
    """Return the options that say which identifiers are equivalent."""
    return {"kind": kind or ("urn" if policy is None else "uri"), "level": level, "policy": policy}


def _fingerprint_options(
    kind: str | None, level: str | None, secret: _Secret, seen: SeenSet | None, policy: Any
) -> dict[str, Any]:
    given = _equivalence(kind, level, policy)
    if seen is None:
        given["secret"] = _shared_key(secret)
    else:  # the executors take the key from the set
        must_match(seen, **given, secret=secret)
    given["errors"] = "keep"
    bulk.fingerprint([], **given)
    return given


def _is_deterministic(df: Any) -> bool:
    """Return whether the rows of a DataFrame are at the same positions of the same partitions in each computation.

    The answer is False if it is unknown: for Spark Connect, and for sources that are not Spark's own files.
    """
    if not hasattr(df, "_jdf"):
        return False
    plan = df._jdf.queryExecution().optimizedPlan()
    if not plan.deterministic():
        return False
    nodes = [plan]
    for node in nodes:
        name = node.nodeName()
        if name not in _DETERMINISTIC_NODES and not (name == "LogicalRelation" and _is_of_files(node.relation())):
            return False
        nodes += [node.children().apply(i) for i in range(node.children().size())]
    return True


def _is_of_files(relation: Any) -> bool:
    """Return whether a relation consists of files without buckets: with buckets, partitions depend on the plan."""
    return relation.getClass().getSimpleName() == "HadoopFsRelation" and relation.bucketSpec().isEmpty()


def _fingerprints(
    given: dict[str, Any], reduces: bool, seen: SeenSet | None = None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a function from batches of identifiers to two integers each; Spark groups integers faster than binary.

    The last column of a batch is the order. With `reduces`, it consists of integers, and most rows that are not the
    first of their fingerprint are omitted:

        omit a row if its fingerprint is in the table, and its order is at least the highest before it

    The row that put the fingerprint into the table has the same order or a lower one. So rows in ascending order are
    reduced to one for each fingerprint, unless the table is full.

    Identifiers of the set `seen` are omitted.
    """
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped,import-not-found,unused-ignore]

    def without_seen(batch: Any) -> Any:
        return batch.filter(pc.fill_null(pc.invert(pa.array(seen.contains(batch.column(0)))), True))  # type: ignore[union-attr]

    def batches(source: Iterator[Any]) -> Iterator[Any]:
        table, highest = Table(_TABLE_SIZE), None
        if seen is not None:
            given["secret"] = seen.key
        for batch in source if seen is None else map(without_seen, source):
            prints = pa.array(bulk.fingerprint(batch.column(0), threads=1, **given))
            data = prints.buffers()[1]
            if len(batch) == 0 or data is None:
                continue
            data = data.slice(16 * prints.offset, 16 * len(prints))
            pairs = pa.FixedSizeListArray.from_arrays(
                pa.Array.from_buffers(pa.int64(), data.size // 8, [None, data]), 2
            )
            halves = [pc.list_element(pairs, half) for half in (0, 1)]
            if prints.null_count:
                halves = [pc.if_else(prints.is_valid(), half, None) for half in halves]
            rows = pa.RecordBatch.from_arrays(
                [*halves, *batch.columns[1:]], names=["high", "low", *batch.schema.names[1:]]
            )
            if reduces:
                if prints.null_count:
                    data = prints.fill_null(bytes(16)).buffers()[1]  # a null row has any bytes
                names = FingerprintBatch(data)
                table.add(names)
                marks = pa.Array.from_buffers(pa.uint8(), len(batch), [None, pa.py_buffer(names.marks)])
                highest_so_far = pc.cumulative_max(batch.columns[-1], start=highest)
                highest = highest_so_far[-1]
                is_lower = pc.not_equal(batch.columns[-1], highest_so_far)
                rows = rows.filter(pc.or_(pc.not_equal(marks, _SEEN), is_lower))
            yield rows

    return batches


# --- deduplication of files -------------------------------------------------------------------------------------------

_FILE, _FIRST = "\0file", "\0first"  # more temporary columns

_PRINT_BYTES = 24  # of a fingerprint and its row in a shuffle, at most
_BLOCK_ROWS = 1 << 12  # rows whose bits are a row of a file of bitmaps, and so an entry of the table of a broadcast
_BITMAP_ROWS = 1 << 26  # rows whose bits are a file: 8 MB
_READ_SIZES = 4  # times partition_size: what a task reads at most, however few rows of it are kept
_GROUP_ROWS = 1 << 32  # rows whose bits are a broadcast: 0.5 GB, which Spark's driver collects unless it is told not to


class _File(NamedTuple):
    path: str
    size: int
    rows: int
    first: int  # the number of its first row


def dedup_dataset(  # noqa: PLR0913, PLR0917
    spark: Any,
    path: str | os.PathLike[str] | Sequence[str],
    column: str | Any,
    output: str | os.PathLike[str],
    kind: str | None = None,
    level: str | None = None,
    secret: _Secret = None,
    seen: SeenSet | None = None,
    partition_size: int | str = "512M",
    policy: Policy | PolicyName | None = None,
) -> DedupStats:
    """Write the first row of each group of equivalent identifiers in Parquet files, however many rows these have.

    The first row is that of the first file, by path. The input is read twice, this column and then all columns. It
    is not shuffled: only fingerprints and the numbers of the rows to keep are. These numbers become bitmaps, which are
    files until the end of the call: OUTPUT.kept. Then the rows are written, a group of files at a time.

    Args:
        spark (SparkSession): The session, not one of Spark Connect.
        path (str | PathLike | list[str]): The folders or files, which must not change during the call.
        column (str | Column): The identifiers, or the name of their column: text or binary.
        output (str | PathLike): The new folder. It is complete when it has a file _SUCCESS.
        kind (str | None), level (str | None), secret (FingerprintKey | str | bytes | None), seen (SeenSet | None),
            policy (Policy | str | None): As in `dedup`.
        partition_size (int | str): How many bytes of the input a task reads, how many one receives of the shuffle of
            fingerprints, and how many a file of the output has, about. If fewer than a quarter of the rows are kept,
            files are smaller: a task that writes one reads at most four times as many bytes.

    Returns:
        DedupStats: The numbers of rows, of unique ones, which were written, and of duplicates, which include those of
            `seen`.

    Raises:
        FileExistsError: If `output` or OUTPUT.kept exists.
        ValueError: If the kind or level is unknown, or the size is not positive.
        SetError: If `seen` has another kind, level or secret.
        TypeError: If the key is a random FingerprintKey, which cannot be shared.
        ModuleNotFoundError: If PySpark or pyarrow is not installed.

    Source: docs/guides/spark.md.

    >>> import pyspark, tempfile
    >>> spark = pyspark.sql.SparkSession.builder.getOrCreate()
    >>> names = spark.createDataFrame([(2, "urn:example:a"), (1, "URN:Example:a")], "id int, name string")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     names.coalesce(1).write.parquet(f"{folder}/names")
    ...     dedup_dataset(spark, f"{folder}/names", "name", f"{folder}/unique").duplicates
    ...     [tuple(row) for row in spark.read.parquet(f"{folder}/unique").collect()]
    1
    [(2, 'urn:example:a')]
    """
    _need_spark()
    given = _fingerprint_options(kind, level, secret, seen, policy)
    size = parse_size(partition_size) if isinstance(partition_size, str) else partition_size
    if size < 1:
        raise ValueError(f"partition_size must be at least 1, got {partition_size!r}")
    target = os.fspath(output).rstrip("/")
    folders = [spark._jvm.org.apache.hadoop.fs.Path(name) for name in (f"{target}.kept", target)]
    storage = folders[0].getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    for folder in folders:
        if storage.exists(folder):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), folder.toString())
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    df = spark.read.parquet(*[os.fspath(each) for each in paths])
    groups = _groups_of(df.groupBy("_metadata.file_path", "_metadata.file_size").count().orderBy("file_path").collect())
    try:
        kept = _write_bitmaps(df, column, groups, given, seen, size, f"{target}.kept")
        for group in groups:
            _write_rows(df, group, kept, size, f"{target}.kept", target, group is groups[-1])
    except BaseException:
        storage.delete(folders[1], True)
        raise
    finally:
        storage.delete(folders[0], True)
    stats = DedupStats()
    stats.rows = sum(file.rows for group in groups for file in group)
    stats.unique = stats.written = sum(kept.values())
    stats.duplicates = stats.rows - stats.unique
    return stats


def _groups_of(found: list[tuple[str, int, int]]) -> list[list[_File]]:
    """Return groups of files of (path, bytes, rows). No file of bitmaps has rows of two groups."""
    groups: list[list[_File]] = [[]]
    start = first = 0
    for path, size, rows in found:
        if groups[-1] and first - start + rows > _GROUP_ROWS:
            start = first = -(-first // _BITMAP_ROWS) * _BITMAP_ROWS
            groups.append([])
        groups[-1].append(_File(path, size, rows, first))
        first += rows
    return groups


def _numbered(df: Any, files: list[_File]) -> Any:
    """Return the rows of these files with their numbers."""
    import pyarrow as pa
    from pyspark.sql import functions as sf

    table = pa.table(
        {
            _FILE: pa.array([file.path for file in files], pa.string()),
            _FIRST: pa.array([file.first for file in files], pa.int64()),
        }
    )
    firsts = df.sparkSession.createDataFrame(table)
    return df.join(sf.broadcast(firsts), _FILE).withColumn(_ROW, sf.col(_FIRST) + sf.col(_ROW)).drop(_FILE, _FIRST)


def _with_place(df: Any, *columns: Any) -> Any:
    """Return these columns, and where the rows are: their file and their position in it."""
    from pyspark.sql import functions as sf

    return df.select(*columns, sf.col("_metadata.file_path").alias(_FILE), sf.col("_metadata.row_index").alias(_ROW))


def _write_bitmaps(  # noqa: PLR0913, PLR0917
    df: Any,
    column: str | Any,
    groups: list[list[_File]],
    given: dict[str, Any],
    seen: SeenSet | None,
    size: int,
    to: str,
) -> dict[int, int]:
    """Write the bits of the rows to keep, a file for each _BITMAP_ROWS; return how many rows to keep each has."""
    from pyspark.sql import functions as sf

    files = [file for group in groups for file in group]
    name = sf.col(column) if isinstance(column, str) else column
    names = _with_place(df, name.alias("name")).coalesce(_pieces(sum(file.size for file in files), size))
    names = _numbered(names, files).select("name", sf.col(_ROW).alias("row"))
    prints = names.mapInArrow(_fingerprints(given, True, seen), "high bigint, low bigint, row bigint")
    count = _pieces(_PRINT_BYTES * sum(file.rows for file in files), size)
    first = prints.repartition(count, "high", "low").groupBy("high", "low").agg(sf.min("row").alias("row"))
    bitmap = sf.expr(f"cast(row div {_BITMAP_ROWS} as int)")
    last = files[-1].first + files[-1].rows if files else 0
    numbers = first.select("row").repartitionById(_pieces(last, _BITMAP_ROWS), bitmap)
    bitmaps = numbers.mapInArrow(_bits(_BITMAP_ROWS, _BLOCK_ROWS), _BITS)
    bitmaps.write.partitionBy("bitmap").parquet(to)
    counts = df.sparkSession.read.schema(_BITS).parquet(to).groupBy("bitmap").agg(sf.sum("kept"))
    return {bitmap: kept for bitmap, kept in counts.collect()}


_BITS = "block bigint, marks array<bigint>, kept int, bitmap int"


def _bits(bitmap_rows: int, block_rows: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a function from the numbers of rows to keep, all in one file of bitmaps, to the rows of this file."""
    import pyarrow as pa

    def batches(source: Iterator[Any]) -> Iterator[Any]:
        marks, bitmap = array("Q"), 0
        for batch in source:
            column = batch.column(0)
            rows = memoryview(column.buffers()[1]).cast("q")[column.offset : column.offset + len(column)]
            if rows and not marks:
                marks, bitmap = array("Q", bytes(bitmap_rows // 8)), rows[0] // bitmap_rows
            start = bitmap * bitmap_rows
            for row in rows:
                marks[(row - start) >> 6] |= 1 << (row & 63)
        words, width, first = memoryview(marks), block_rows // 64, bitmap * (bitmap_rows // block_rows)
        kept = [int.from_bytes(words[i : i + width], "little").bit_count() for i in range(0, len(words), width)]
        lists = pa.ListArray.from_arrays(
            pa.array(range(0, len(words) + 1, width), pa.int32()),
            pa.Array.from_buffers(pa.int64(), len(words), [None, pa.py_buffer(marks)]),
        )
        columns = [
            pa.array(range(first, first + len(kept)), pa.int64()),
            lists,
            pa.array(kept, pa.int32()),
            pa.array([bitmap] * len(kept), pa.int32()),
        ]
        blocks = pa.RecordBatch.from_arrays(columns, names=["block", "marks", "kept", "bitmap"])
        yield blocks.filter(pa.array([count > 0 for count in kept], pa.bool_()))

    return batches


def _write_rows(  # noqa: PLR0913, PLR0917
    df: Any, files: list[_File], kept: dict[int, int], size: int, bitmaps: str, to: str, is_last: bool
) -> None:
    """Write the rows to keep of a group of files."""
    from pyspark.sql import functions as sf

    first, last = (files[0].first, files[-1].first + files[-1].rows - 1) if files else (0, 0)
    numbers = range(first // _BITMAP_ROWS, last // _BITMAP_ROWS + 1)
    marks = df.sparkSession.read.schema(_BITS).parquet(bitmaps)
    marks = marks.where(sf.col("bitmap").between(numbers[0], numbers[-1]))
    marks = marks.select(sf.col("block").alias(_BLOCK), sf.col("marks").alias(_MARKS))
    rows = df.where(sf.col("_metadata.file_path").isin([file.path for file in files]))  # lists only these
    rows = _numbered(_with_place(rows, "*"), files).withColumn(_BLOCK, sf.expr(f"`{_ROW}` div {_BLOCK_ROWS}"))
    word = f"`{_MARKS}`[cast(shiftright(`{_ROW}`, 6) & {_BLOCK_ROWS // 64 - 1} as int)]"
    is_marked = sf.expr(f"shiftrightunsigned({word}, cast(`{_ROW}` & 63 as int)) & 1 = 1")
    rows = rows.join(sf.broadcast(marks), _BLOCK).where(is_marked).drop(_ROW, _BLOCK, _MARKS)
    read, total = sum(file.size for file in files), sum(file.rows for file in files)
    written = read * sum(kept.get(number, 0) for number in numbers) // max(total, 1)
    tasks = max(_pieces(written, size), _pieces(read, _READ_SIZES * size))
    files_written = rows.coalesce(tasks).write.mode("append")
    if not is_last:
        files_written = files_written.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    files_written.parquet(to)


def _pieces(total: int, size: int) -> int:
    return max(1, -(-total // size))


# --- saved sets -------------------------------------------------------------------------------------------------------


def save_set(  # noqa: PLR0913, PLR0917
    df: Any,
    column: str | Any,
    path: str | os.PathLike[str],
    kind: str | None = None,
    level: str | None = None,
    secret: _Secret = None,
    memory: int | str = "64M",
    policy: Policy | PolicyName | None = None,
) -> None:
    """Save the identifiers of a column as a set (`uricodec.dedup.SeenSet`).

    Each task writes a set of its identifiers to the folder `PATH.parts`, which the driver merges: all need to see the
    folder by this path. Nothing is shuffled.

    Args:
        df (DataFrame): The rows.
        column (str | Column): The identifiers, or the name of their column: text or binary. NULL is left out.
        path (str | PathLike): The file, which appears, or replaces another one, when it is complete.
        kind (str | None), level (str | None), policy (Policy | str | None): As in `dedup`.
        secret (FingerprintKey | str | bytes | None): The secret of the fingerprints, which is not saved with the set;
            None: a random one of this process, which is saved.
        memory (int | str): The limit for the table of each task.

    Raises:
        ValueError: If the kind or level is unknown.
        TypeError: If the key is a random FingerprintKey, which cannot be shared.
        OSError: If the set cannot be written.
        ModuleNotFoundError: If PySpark or pyarrow is not installed.

    Source: docs/guides/spark.md; docs/developing/fingerprint.md.

    >>> import pyspark, tempfile
    >>> from uricodec.dedup import SeenSet
    >>> spark = pyspark.sql.SparkSession.builder.getOrCreate()
    >>> names = spark.createDataFrame([("urn:example:a",), ("URN:Example:a",)], "name string")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_set(names, "name", f"{folder}/seen")
    ...     len(SeenSet.open(f"{folder}/seen"))
    1
    """
    _need_spark()
    from pyspark.sql import functions as sf

    material = os.urandom(64) if secret is None else None
    key = None if secret is None else _shared_key(secret)
    target = os.path.abspath(os.fsdecode(path))
    parts = f"{target}.parts"
    options: Any = {**_equivalence(kind, level, policy), "memory": memory}
    Deduplicator(**options).close()  # checks them

    def save(source: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

        with Deduplicator(secret=FingerprintKey(_material=material) if key is None else key, **options) as names:
            for batch in source:
                names.add(batch.column(0))
            # The name is new in each attempt of the task: Spark may run two at once.
            name = os.path.join(parts, os.urandom(16).hex())
            names.save(name)
        yield pa.RecordBatch.from_arrays([pa.array([name])], ["name"])

    name = sf.col(column) if isinstance(column, str) else column
    os.mkdir(parts)
    try:
        written = df.select(name).mapInArrow(save, "name string").collect()
        sets = [SeenSet.open(row.name, key) for row in written]
        if not sets:
            sets = [SeenSet.build([], kind, level, secret=key)]  # type: ignore[arg-type]
        SeenSet.merge(sets).save(target)
    finally:
        shutil.rmtree(parts, ignore_errors=True)


# --- extraction -------------------------------------------------------------------------------------------------------

_AT_ONCE = 10_000  # maximum number of rows in a batch of the result


def extract_urns(
    df: Any, column: str, into: str = "urn", offsets: bool = False, terminators: Any = urn.TERMINATORS
) -> Any:
    """Find the URNs in texts; return a row for each, with the other columns of its text.

    Args:
        df (DataFrame): The rows.
        column (str): The name of the column of texts: strings or binary. The result lacks it.
        into (str): The name of the column of URNs.
        offsets (bool): Add the columns `<into>_start` and `<into>_end`: the offsets of the URN in the UTF-8 of the
            text, in bytes from 0.
        terminators (ByteSet | bytes | str): The bytes that end a URN, as in `uricodec.urn.find`.

    Returns:
        DataFrame: The other columns, the URNs, and the offsets. In a partition, the URNs are in the order of the texts.

    Raises:
        ValueError: If `column` is not one column of text or binary, or a new column has the name of another one.
        ModuleNotFoundError: If PySpark or pyarrow is not installed.

    Source: RFC 2141 section 2.4.

    >>> import pyspark
    >>> spark = pyspark.sql.SparkSession.builder.getOrCreate()
    >>> pages = spark.createDataFrame([(1, "see <urn:isbn:0451450523>")], "page int, text string")
    >>> [tuple(row) for row in extract_urns(pages, "text", offsets=True).collect()]
    [(1, 'urn:isbn:0451450523', 5, 24)]
    """
    _need_spark()
    import pyarrow as pa
    from pyspark.sql.types import (  # type: ignore[import-not-found,unused-ignore]
        BinaryType,
        LongType,
        StringType,
        StructField,
        StructType,
    )

    urn.find(b"", terminators)
    fields = list(df.schema.fields)
    if [type(field.dataType) for field in fields if field.name == column] not in ([StringType], [BinaryType]):
        raise ValueError(f"expected the name of one column of text or binary, got {column!r}")
    kept = [i for i, field in enumerate(fields) if field.name != column]
    position = next(i for i, field in enumerate(fields) if field.name == column)
    new = [StructField(into, StringType(), False)]
    if offsets:
        new += [StructField(f"{into}_{end}", LongType(), False) for end in ("start", "end")]
    schema = StructType([*(fields[i] for i in kept), *new])
    names = schema.fieldNames()
    if len(set(names)) < len(names):
        raise ValueError(f"two columns of the result have the same name: {', '.join(names)}")

    def found(texts: list[bytes | None]) -> Iterator[tuple[int, str, int, int]]:
        for row, text in enumerate(texts):
            if text is not None:
                for start, end in urn.find(text, terminators):
                    yield row, text[start:end].decode("utf-8", "replace"), start, end

    def batches(source: Iterator[Any]) -> Iterator[Any]:
        for batch in source:
            rest = batch.select(kept) if kept else None
            urns = found(batch.column(position).cast(pa.binary()).to_pylist())
            while piece := list(islice(urns, _AT_ONCE)):
                rows, *columns = map(list, zip(*piece, strict=True))
                others = rest.take(pa.array(rows, pa.int64())).columns if rest is not None else []
                types = [pa.string(), pa.int64(), pa.int64()]
                columns = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
                yield pa.RecordBatch.from_arrays([*others, *columns[: len(new)]], names=names)

    return df.mapInArrow(batches, schema)
