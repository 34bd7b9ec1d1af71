"""DuckDB: functions of SQL, and a stream for whole tables.

`register` gives a connection the functions of `SQL_FUNCTIONS`. DuckDB hands them vectors of up to 2048 rows, which are
computed by one call of `uricodec.bulk` each. A Python function has no overloads in DuckDB, but it may have any number
of arguments behind the first one: that is how the last arguments of `uri_normalize(name, level)` can be left out. An
argument may also be a column; rows with the same arguments are then computed together.

`stream` reads the result of a query in batches, adds columns to each, and is read by SQL again. A connection has one
result open at a time, so the query runs on a cursor of its own: reading its result never waits for itself.

DuckDB and pyarrow are imported when they are used: `pip install uricodec[duckdb]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypedDict

from uricodec._base._fingerprint import FingerprintKey
from uricodec.errors import UriError
from uricodec.integrations._operations import FUNCTIONS, SQL_FUNCTIONS, of_a_piece
from uricodec.integrations._sql import Compute, arity, array_of, how_of, with_arguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["register", "stream"]

_Key = FingerprintKey | str | bytes | None

# The functions that DuckDB calls, by name, errors and key. See _kept_function().
_functions: dict[tuple[str, str, FingerprintKey | None], Compute] = {}


class How(TypedDict, total=False):
    """What a stream takes besides."""

    errors: str
    key: FingerprintKey | str | bytes | None
    threads: int | None


def register(con: Any, errors: str = "null", key: _Key = None, prefix: str = "") -> None:
    """Give a connection the functions of SQL; those that it has been given before are replaced.

    Args:
        con (duckdb.DuckDBPyConnection): The connection. Its cursors, and other connections to the same database, have
            the functions as well, for as long as the database is open.
        errors (str): What becomes of a name that a function refuses. "null": NULL. "keep": it stays as it is (NULL for
            `*_split`). "raise": the query fails. "replace": as "null", but `*_decode` decodes as urllib.parse does, and
            `uri_requote` writes %25 for a malformed `%`. `is_*` are false, `*_check` say why, and `name_fingerprint`
            takes the name as it is, whatever this is.
        key (FingerprintKey | str | bytes | None): The secret of `name_fingerprint`; None: a random one, which is this
            process's own.
        prefix (str): What the names of all functions begin with.

    Raises:
        ValueError: There is no such policy.
        ModuleNotFoundError: DuckDB or pyarrow is not installed.
        duckdb.CatalogException: Another connection to the database, or a cursor of it, has given it the functions.

    Source: docs/duckdb.md.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> register(con)
    >>> con.sql("select uri_decode('/caf%C3%A9'), uri_decode('100%'), urn_normalize('URN:X-y:a', 'bytes')").fetchall()
    [('/café', None, 'URN:X-y:a')]
    """
    import duckdb  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import pyarrow as pa  # type: ignore[import-not-found,import-untyped,unused-ignore]

    key = _key_of(key)
    how: Any = {"type": "arrow", "null_handling": "special"}
    for name in SQL_FUNCTIONS:
        function = _kept_function(name, errors, key)
        type_ = _type_in_sql(function(pa.array([], pa.string())).type)
        with suppress(duckdb.InvalidInputException):
            con.remove_function(prefix + name)
        con.create_function(prefix + name, function, ["VARCHAR"], type_, **how)


def stream(
    con: Any,
    query: str,
    columns: Mapping[str, tuple[str, ...]],
    batch_size: int = 10_000,
    **how: Unpack[How],
) -> Any:
    """The result of a query with columns that are computed from others, batch by batch, to be read by SQL again.

    Args:
        con (duckdb.DuckDBPyConnection): Where the query runs: on a cursor of this connection, which has its tables and
            views, but none that are temporary, nor what is not committed.
        query (str): SQL.
        columns (Mapping[str, tuple[str, ...]]): The name of a column, and what is in it: a function of SQL (as of
            `register`, without prefix), the column of the query that it is computed from, and the function's last
            arguments. A name that the query has is replaced, any other one comes behind. Names have no case, as in SQL.
        batch_size (int): How many rows are in a batch, about. What is in one should stay in a cache of the processor.
        errors (str): As of `register`.
        key (FingerprintKey | str | bytes | None): As of `register`.
        threads (int | None): How many threads share a batch; None: those that there are, for more than 1 MiB of text.

    Returns:
        pyarrow.RecordBatchReader: The rows, in the order of the query. They are computed while they are read, once.

    Raises:
        ValueError: There is no such function, argument or policy.
        KeyError: The query has no such column, or more than one.
        OverflowError: A row becomes 2 GiB or longer; raised when it is read.
        TypeError: A column is no text.

    Source: docs/duckdb.md.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> con.execute("create table log as select 1 as id, '/caf%C3%A9' as path") and None
    >>> decoded = stream(con, "from log", {"text": ("uri_decode", "path")})
    >>> con.sql("select id, path, text from decoded").fetchall()
    [(1, '/caf%C3%A9', '/café')]
    """
    import pyarrow as pa

    work = []
    for name, (function, column, *arguments) in columns.items():
        compute = _computing(function, **how)
        if len(arguments) > len(SQL_FUNCTIONS[function].sql.parameters):
            raise ValueError(arity(function))
        work.append((name, column, compute, arguments))

    def add(batch: Any) -> Any:
        result = batch
        for name, column, compute, arguments in work:
            values, place = compute(batch.column(_place(batch, column)), *arguments), _place(result, name, -1)
            result = result.append_column(name, values) if place < 0 else result.set_column(place, name, values)
        return result

    def add_within(batch: Any, schema: Any) -> Iterator[Any]:
        """A batch; in parts, if it has more text than there are offsets for in the types, which are settled."""
        result = add(batch)
        if result.schema == schema:
            yield result
        elif len(batch) < 2:
            raise OverflowError("a row becomes 2 GiB or longer")
        else:
            yield from add_within(batch[: len(batch) // 2], schema)
            yield from add_within(batch[len(batch) // 2 :], schema)

    cursor = con.cursor()
    relation = cursor.sql(query)
    read = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader
    source = read(batch_size)

    empty = pa.RecordBatch.from_arrays([pa.nulls(0, type_) for type_ in source.schema.types], schema=source.schema)
    schema = add(empty).schema

    def batches() -> Iterator[Any]:
        with cursor:
            for batch in source:
                yield from add_within(batch, schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _place(batch: Any, name: str, missing: int | None = None) -> int:
    """Which column of a batch this is."""
    names = [each.lower() for each in batch.schema.names]
    if names.count(name.lower()) == 1:
        return names.index(name.lower())
    if name.lower() not in names and missing is not None:
        return missing
    raise KeyError(f"{'more than one' if name.lower() in names else 'no'} column {name!r}")


def _key_of(key: _Key) -> FingerprintKey | None:
    return key if key is None or isinstance(key, FingerprintKey) else FingerprintKey(key)


def _computing(name: str, errors: str = "null", key: _Key = None, threads: int | None = None) -> Compute:
    """What a function of SQL does with a column, and its last arguments as Python has them."""
    how = how_of(name, errors)
    sql, operation = SQL_FUNCTIONS[name]
    function, arguments = FUNCTIONS[operation.name], sql.parameters
    if operation.result == "fingerprint":
        how["key"] = _key_of(key)

    def compute(column: Any, *values: str) -> Any:
        try:
            return array_of(function(column, **dict(zip(arguments, values, strict=False)), threads=threads, **how))
        except UriError as error:
            raise of_a_piece(name, error) from None

    return compute


def _kept_function(name: str, errors: str, key: FingerprintKey | None) -> Compute:
    """Return the function that DuckDB calls, the same one for the same options. It lives until the process ends.

    The database has only a pointer to it. The connection that registered the function owns the reference, and releases
    it when it is closed or registers again, while cursors, other connections and running queries still call it.
    """
    if SQL_FUNCTIONS[name].operation.result != "fingerprint":
        key = None
    function = _of_vectors(name, _computing(name, errors, key, 1))
    # Not functools.cache: two threads at once would get a function each, and only one of the two would be kept.
    return _functions.setdefault((name, errors, key), function)


def _of_vectors(name: str, compute: Compute) -> Compute:
    """What DuckDB calls. It reads from a signature how many arguments there are, and evaluates its annotations."""
    many = with_arguments(name, compute)

    def of_column(column):
        return compute(column)

    def of_columns(*columns):
        return many(*columns)

    return of_columns if SQL_FUNCTIONS[name].sql.parameters else of_column


def _type_in_sql(type_: Any) -> str:
    """The type of a result in SQL."""
    import pyarrow as pa

    if pa.types.is_struct(type_):
        fields = [f'"{field.name}" {_type_in_sql(field.type)}' for field in type_]
        return f"STRUCT({', '.join(fields)})"
    return {pa.string(): "VARCHAR", pa.bool_(): "BOOLEAN", pa.int64(): "BIGINT"}.get(type_, "BLOB")
