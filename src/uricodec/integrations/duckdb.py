"""DuckDB: functions of SQL, and a stream for whole tables.

`register` registers the functions of `SQL_FUNCTIONS` in a connection. DuckDB passes them vectors of up to 2048 rows,
and each vector is one call of `uricodec.bulk`. A Python function has no overloads in DuckDB, but it may have any number
of arguments after the first one; so the last arguments of `uri_normalize(name, level)` can be omitted. An argument may
also be a column; one call then runs all rows with the same arguments.

`stream` reads the result of a query in batches and adds columns to each; SQL can read it again. A connection has one
open result at a time, so the query runs on its own cursor: reading its result never blocks itself.

DuckDB and pyarrow are imported when they are used: `pip install uricodec[duckdb]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from uricodec._base._fingerprint import FingerprintKey, as_key
from uricodec._base.extras import need
from uricodec.errors import UriError
from uricodec.integrations._operations import FUNCTIONS, SQL_FUNCTIONS, of_a_piece
from uricodec.integrations._sql import (
    Compute,
    arity,
    array_of,
    fixed_arguments,
    once_a_value,
    result_type,
    with_arguments,
)

if TYPE_CHECKING:
    from uricodec.dedup import SeenSet
    from uricodec.typing import SqlErrors
    from uricodec.uri import HostSet, PrefixSet

__all__ = ["register", "register_set", "stream"]


def __dir__() -> list[str]:
    return __all__


_Secret = FingerprintKey | str | bytes | None

# The functions that DuckDB calls, by name, errors and key. See _kept_function().
_functions: dict[tuple[str, str, FingerprintKey | None], Compute] = {}
_sets: list[Compute] = []


def register(con: Any, errors: SqlErrors = "null", secret: _Secret = None, prefix: str = "") -> None:
    """Register the functions of SQL in a connection; functions registered before are replaced.

    Args:
        con (duckdb.DuckDBPyConnection): The connection. Its cursors, and other connections to the same database, have
            the functions, too, for as long as the database is open.
        errors (str): How invalid values are handled. "null": the result is NULL. "keep": it is the value itself (its
            components for `uri_split` and `iri_split`, NULL for `urn_split`). "raise": the query fails. "replace": as
            "null", but `uri_decode` and `form_decode` decode as urllib.parse does, `percent_decode` writes U+FFFD, and
            `uri_requote` writes %25 for a malformed `%`. Four kinds of functions ignore it: `is_valid_*` and
            `uri_equivalent` return false, `*_check` return why, and `name_fingerprint` returns the fingerprint of the
            value itself. Those of parts of URLs, such as `uri_host`, return what the value has, unless
            it is "raise".
        secret (FingerprintKey | str | bytes | None): The secret of `name_fingerprint`; None: a random secret of this
            process.
        prefix (str): A prefix for the names of all functions.

    Raises:
        ValueError: If the policy is unknown, or the secret is empty.
        ModuleNotFoundError: If DuckDB or pyarrow is not installed.
        duckdb.CatalogException: If another connection to the database, or a cursor of it, has registered the functions.

    Source: docs/guides/duckdb.md.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> register(con)
    >>> con.sql("select uri_decode('/caf%C3%A9'), uri_decode('100%'), urn_normalize('URN:X-y:a', 'bytes')").fetchall()
    [('/café', None, 'URN:X-y:a')]
    """
    need("duckdb", "duckdb", "pyarrow")
    import duckdb  # type: ignore[import-not-found,import-untyped,unused-ignore]

    secret = as_key(secret)
    options: Any = {"type": "arrow", "null_handling": "special"}
    for name in SQL_FUNCTIONS:
        function = _kept_function(name, errors, secret)
        type_ = _type_in_sql(result_type(name, function))
        with suppress(duckdb.InvalidInputException):
            con.remove_function(prefix + name)
        con.create_function(prefix + name, function, ["VARCHAR"], type_, **options)


def register_set(con: Any, name: str, seen: SeenSet | HostSet | PrefixSet) -> None:
    """Register a set in a connection: functions that ask it, and, for a saved set of identifiers, its fingerprints.

    They have the name of the set. Of identifiers, `NAME(identifier)` is whether the set contains the identifier, and
    `FROM NAME()` has a row for each fingerprint, in order, with the column `fingerprint`: a BLOB, for joins with
    `name_fingerprint`. Of hosts or prefixes, `NAME(url)` is whether an entry matches the URL, and `NAME_entry(url)` the
    longest entry that does, or NULL. All are NULL for NULL. The set stays open as long as the database.

    Args:
        con (duckdb.DuckDBPyConnection): The connection.
        name (str): The name, an identifier of SQL. A set of this name that was registered before is replaced.
        seen (uricodec.dedup.SeenSet | uricodec.uri.HostSet | uricodec.uri.PrefixSet): The set.

    Raises:
        ValueError: If the name is not a letter or "_", then letters, digits and "_".
        duckdb.CatalogException: If another connection to the database, or a cursor of it, has registered the name.
        ModuleNotFoundError: If DuckDB or pyarrow is not installed.

    Source: docs/guides/duckdb.md.

    >>> import duckdb
    >>> from uricodec.dedup import SeenSet
    >>> con = duckdb.connect()
    >>> register_set(con, "known", SeenSet.build(["http://a/", "http://b/"], "uri"))
    >>> con.sql("select known('HTTP://a/'), known('http://c/'), (select count(*) from known())").fetchall()
    [(True, False, 2)]
    >>> from uricodec import uri
    >>> register_set(con, "ads", uri.HostSet(["ads.example"]))
    >>> con.sql("select ads('http://x.ads.example/'), ads_entry('http://x.ads.example/'), ads('http://c/')").fetchall()
    [(True, 'ads.example', False)]
    """
    need("duckdb", "duckdb", "pyarrow")
    import duckdb

    from uricodec.uri import HostSet, PrefixSet

    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"expected a letter or '_', then letters, digits and '_', as the name of a set, got {name!r}")

    def register(name, function, returned):
        def of_column(column):
            return array_of(function(column))

        _sets.append(of_column)  # see _kept_function()
        with suppress(duckdb.InvalidInputException):
            con.remove_function(name)
        con.create_function(name, of_column, ["VARCHAR"], returned, type="arrow", null_handling="special")

    if isinstance(seen, (HostSet, PrefixSet)):
        register(name, partial(FUNCTIONS["is_match"], set=seen, threads=1), "BOOLEAN")
        register(f"{name}_entry", partial(FUNCTIONS["match"], set=seen, threads=1), "VARCHAR")
        return
    register(name, seen.contains, "BOOLEAN")
    con.register(f"{name}__fingerprints", seen)
    con.execute(f"create or replace temp macro {name}() as table select fingerprint from {name}__fingerprints")


def stream(  # noqa: PLR0913
    con: Any,
    query: str,
    columns: Mapping[str, tuple[str, ...]],
    batch_size: int = 10_000,
    *,
    errors: SqlErrors = "null",
    secret: _Secret = None,
    threads: int | None = None,
) -> Any:
    """Return the result of a query with added columns, batch by batch, as a reader that SQL can read again.

    Args:
        con (duckdb.DuckDBPyConnection): The connection. The query runs on a cursor of it, which sees its tables and
            views, but neither temporary nor uncommitted ones.
        query (str): SQL.
        columns (Mapping[str, tuple[str, ...]]): For the name of each column, how it is computed: a function of SQL (as
            in `register`, without prefix), the column of the query, and the last arguments of the function. A column of
            the query with the same name is replaced; others are appended. Names are compared without case, as in SQL.
        batch_size (int): The approximate number of rows in a batch. A batch should fit into the processor's cache.
        errors (str): As in `register`.
        secret (FingerprintKey | str | bytes | None): As in `register`.
        threads (int | None): The maximum number of threads for a batch; None: one per core for more than 1 MiB of text.

    Returns:
        pyarrow.RecordBatchReader: The rows, in the order of the query. They are computed while they are read, once.

    Raises:
        ValueError: If a function, argument or policy is unknown.
        KeyError: If the query lacks a column, or has several of its name.
        OverflowError: If a row grows to 2 GiB or more; raised when it is read.
        TypeError: If a column is neither text nor binary.
        duckdb.Error: If DuckDB rejects the query.
        ModuleNotFoundError: If DuckDB or pyarrow is not installed.

    Source: docs/guides/duckdb.md.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> con.execute("create table log as select 1 as id, '/caf%C3%A9' as path") and None
    >>> decoded = stream(con, "from log", {"text": ("uri_decode", "path")})
    >>> con.sql("select id, path, text from decoded").fetchall()
    [(1, '/caf%C3%A9', '/café')]
    """
    need("duckdb", "duckdb", "pyarrow")
    import pyarrow as pa  # type: ignore[import-not-found,import-untyped,unused-ignore]

    work = []
    for name, (function, column, *arguments) in columns.items():
        compute = _computing(function, errors, secret, threads)
        if len(arguments) > len(SQL_FUNCTIONS[function].sql.parameters):
            raise ValueError(arity(function))
        work.append((name, column, compute, arguments))

    def add(batch: Any) -> Any:
        result = batch
        for name, column, compute, arguments in work:
            values = compute(batch.column(_column_index(batch, column)), *arguments)
            replaced = _column_index(result, name, -1)
            result = result.append_column(name, values) if replaced < 0 else result.set_column(replaced, name, values)
        return result

    def add_within(batch: Any, schema: Any) -> Iterator[Any]:
        """Yield a batch; in parts if it has more text than the offsets of the schema can address."""
        result = add(batch)
        if result.schema == schema:
            yield result
        elif len(batch) < 2:
            raise OverflowError("a row grows to 2 GiB or more")
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


def _column_index(batch: Any, name: str, missing: int | None = None) -> int:
    """Return the index of the column of this name in a batch; `missing`, unless None, if it has none."""
    names = [each.lower() for each in batch.schema.names]
    if names.count(name.lower()) == 1:
        return names.index(name.lower())
    if name.lower() not in names and missing is not None:
        return missing
    raise KeyError(f"{'more than one' if name.lower() in names else 'no'} column {name!r}")


def _computing(name: str, errors: str = "null", secret: _Secret = None, threads: int | None = None) -> Compute:
    """Return the function of a column of pyarrow, and of the last arguments as str."""
    given = fixed_arguments(name, errors)
    sql, operation = SQL_FUNCTIONS[name]
    function, arguments = FUNCTIONS[operation.name], sql.parameters
    if operation.result == "fingerprint":
        given["secret"] = as_key(secret)

    def compute(column: Any, *values: str) -> Any:
        try:
            return array_of(function(column, **dict(zip(arguments, values, strict=False)), threads=threads, **given))
        except UriError as error:
            raise of_a_piece(name, error) from None

    return compute


def _kept_function(name: str, errors: str, secret: FingerprintKey | None) -> Compute:
    """Return the function that DuckDB calls, the same one for the same options. It lives until the process ends.

    The database has only a pointer to it. The connection that registered the function owns the reference, and releases
    it when it is closed or registers again, while cursors, other connections and running queries still call it.
    """
    if SQL_FUNCTIONS[name].operation.result != "fingerprint":
        secret = None
    function = _of_vectors(name, _computing(name, errors, secret, 1))
    # Not functools.cache: two threads at once would get a function each, and only one of the two would be kept.
    return _functions.setdefault((name, errors, secret), function)


def _of_vectors(name: str, compute: Compute) -> Compute:
    """Return the function that DuckDB calls. It has no annotations: DuckDB reads its signature and evaluates them."""
    once = once_a_value(name, compute)
    many = with_arguments(name, once)

    def of_column(column):
        return once(column)

    def of_columns(*columns):
        return many(*columns)

    return of_columns if SQL_FUNCTIONS[name].sql.parameters else of_column


def _type_in_sql(type_: Any) -> str:
    """Return the name of the type of a result in SQL."""
    import pyarrow as pa

    if pa.types.is_struct(type_):
        fields = [f'"{field.name}" {_type_in_sql(field.type)}' for field in type_]
        return f"STRUCT({', '.join(fields)})"
    if pa.types.is_list(type_):
        return f"{_type_in_sql(type_.value_type)}[]"
    return {pa.string(): "VARCHAR", pa.bool_(): "BOOLEAN", pa.int64(): "BIGINT"}.get(type_, "BLOB")
