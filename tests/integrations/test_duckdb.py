"""DuckDB: every function of SQL does what its operation does with a list, and streams are in order, whole and lazy."""

import random
import subprocess
import sys

import pytest
from reference.rows import in_columns, texts
from support.limits import lowered

from uricodec import bulk
from uricodec._base._fingerprint import FingerprintKey
from uricodec._hosts import _suffixes
from uricodec.dedup import SeenSet
from uricodec.integrations import duckdb as hook
from uricodec.integrations._operations import FUNCTIONS, SQL_FUNCTIONS
from uricodec.uri import HostSet, PrefixSet

duckdb = pytest.importorskip("duckdb", reason="duckdb is part of the extra duckdb")
pa = pytest.importorskip("pyarrow", reason="pyarrow is part of the extra duckdb")
pytest.importorskip("numpy", reason="numpy is part of the extra duckdb")

pytestmark = pytest.mark.interop

HOSTILE = texts()
VECTORS = HOSTILE * 60  # of 2048 rows, and a shorter one
# The values of the first argument of each function that has one.
GIVEN = {
    name: [value for value in parameter.choices or parameter.examples if not isinstance(value, (list, dict))]
    for name, (sql, operation) in SQL_FUNCTIONS.items()
    for parameter in operation.parameters
    if sql.parameters[:1] == (parameter.name,)
}


def literal(value):
    """A value as it is written in SQL."""
    return str(value).lower() if isinstance(value, bool) else f"'{value}'"


@pytest.fixture
def con():
    with duckdb.connect() as con:
        table = pa.table({"id": range(len(VECTORS)), "name": pa.array(VECTORS, pa.string())})
        con.register("source", table)
        con.execute("create table names as from source")
        con.unregister("source")
        yield con


def call_of(name, column="name"):
    """A call of SQL, with examples of the arguments that are required."""
    return f"{name}({', '.join((column, *(repr(value) for value in SQL_FUNCTIONS[name].operation.required.values())))})"


def of_names(con, expression):
    return [row[0] for row in con.sql(f"select {expression} from names order by id").fetchall()]


def of_bulk(name, *values, rows=VECTORS, errors="null", secret=None):
    """What the function does, said in lists."""
    sql, operation = SQL_FUNCTIONS[name]
    how = {"errors": errors, **({"secret": secret} if operation.result == "fingerprint" else {})}
    if operation.result in {"component", "list"}:
        how["errors"] = "raise" if errors == "raise" else "keep"
    how |= {**operation.required, **dict(zip(sql.parameters, values, strict=False)), **sql.fixed}
    found = FUNCTIONS[operation.name](rows, **how)
    if operation.result == "diagnostic":  # in a column an offset counts octets
        for row, fault in zip(rows, found, strict=True):
            if fault is not None:
                fault["offset"] = len(row[: fault["offset"]].encode())
    return in_columns(operation.fields, found) if operation.name == "query_pairs" else found


def test_a_library_that_is_not_installed(con, monkeypatch):
    """Only what needs it fails."""
    monkeypatch.setattr("uricodec._hosts.suffix_list._tables", {})
    monkeypatch.delitem(_suffixes.default_tables, False, raising=False)
    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    hook.register(con)
    assert con.sql("select uri_host('//a')").fetchall() == [("a",)]
    with pytest.raises(duckdb.Error, match="publicsuffixlist"):
        con.sql("select uri_public_suffix('//a')").fetchall()


@pytest.mark.parametrize("name", SQL_FUNCTIONS)
def test_function(con, name):
    hook.register(con, secret="secret")
    expected = of_bulk(name, secret="secret")
    assert of_names(con, call_of(name)) == expected
    assert len({str(row) for row in expected}) > 2


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in GIVEN.items() for value in values])
def test_function_with_an_argument(con, name, value):
    hook.register(con, secret="secret")
    assert of_names(con, f"{name}(name, {literal(value)})") == of_bulk(name, value, secret="secret")


@pytest.mark.parametrize("name", GIVEN)
def test_an_argument_is_a_column(con, name):
    """Every row has its own; where it is NULL, so is the row, or a component is undefined."""
    hook.register(con, secret="secret")
    one, other = GIVEN[name][:2]
    found = of_names(con, f"{name}(name, case id % 3 when 0 then {literal(one)} when 1 then {literal(other)} end)")
    ones, others = of_bulk(name, one, secret="secret"), of_bulk(name, other, secret="secret")
    none = of_bulk(name, secret="secret") if name == "uri_unsplit" else [None] * len(ones)
    assert found == [(ones, others, none)[i % 3][i] for i in range(len(ones))]


def test_values_that_repeat(con):
    """Values that repeat are computed once; results are those of each row."""
    hook.register(con)
    urls = [None, "HTTP://a/%7Eb", "http://a/~b", "%zz", "é"]
    for distinct in (urls, [*urls, *(f"HTTP://a/{i}" for i in range(3000))]):
        rows = [distinct[i * i % len(distinct)] for i in range(5000)]
        con.register("repeated", pa.table({"id": range(5000), "url": pa.array(rows, pa.string())}))
        calls = "uri_normalize(url, 'case'), uri_equivalent(url, 'http://a/~b'), uri_relation(url, '//a')"
        found = con.sql(f"select {calls} from repeated order by id").fetchall()
        columns = (
            bulk.normalize_uri(rows, "case", errors="null", production="any"),
            bulk.equivalent(rows, "http://a/~b"),
            bulk.relation(rows, "//a", errors="null"),
        )
        assert [pair for pair in zip(found, zip(*columns, strict=True), strict=True) if pair[0] != pair[1]] == []


def test_columns_as_arguments(con):
    hook.register(con)
    con.execute(
        "create table links as select * from (values ('../c', 'http://a/b/'), ('d', 'e'), (NULL, 's:')) as t(r, b)"
    )
    query = (
        "select uri_resolve(r, b), uri_resolve(r, '/'), uri_relativize(b, 'http://a/'), uri_unsplit(r, b) from links"
    )
    assert con.sql(query).fetchall() == [
        ("http://a/c", None, "b/", None),
        (None, None, None, "e:d"),
        (None, None, "s:", None),
    ]
    parts = "select uri_split(b) as u from links where b like 'http:%'"
    call = "uri_unsplit(u.path, u.scheme, u.authority, u.query, u.fragment)"
    assert con.sql(f"select {call} from ({parts})").fetchall() == [("http://a/b/",)]


def test_two_arguments(con):
    hook.register(con, secret="secret")
    expected = of_bulk("name_fingerprint", "urn", "namespace", secret="secret")
    assert of_names(con, "name_fingerprint(name, 'urn', 'namespace')") == expected
    assert of_names(con, "name_fingerprint(name, 'urn', if(id >= 0, 'namespace', '2141'))") == expected
    assert expected[HOSTILE.index("URN:ISBN:0-395-36341-1")] == expected[HOSTILE.index("urn:isbn:0395363411")]
    assert of_names(con, "name_fingerprint(name, 'urn', NULL)") == [None] * len(VECTORS)


def test_functions_in_an_expression(con):
    hook.register(con)
    query = "select count(*) from names where is_valid_uri(name) and uri_split(name).host = 'example.org'"
    rows = zip(bulk.is_valid_uri(VECTORS), bulk.split_uri(VECTORS), strict=True)
    expected = sum(1 for valid, parts in rows if valid and parts["host"] == "example.org")
    assert con.sql(query).fetchall() == [(expected,)]


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("uri_decode('a')", "VARCHAR"),
        ("is_valid_urn('a')", "BOOLEAN"),
        ("urn_check('a')", 'STRUCT(code VARCHAR, "offset" BIGINT)'),
        ("uri_query_pairs('a')", 'STRUCT("name" VARCHAR, "value" VARCHAR)[]'),
        ("uri_path_segments('a')", "VARCHAR[]"),
        ("name_fingerprint('a')", "BLOB"),
        ("uri_decode(NULL)", "VARCHAR"),
    ],
)
def test_type(con, expression, type_):
    hook.register(con)
    assert con.sql(f"select typeof({expression})").fetchall() == [(type_,)]


@pytest.mark.parametrize("errors", ["keep", "replace"])
@pytest.mark.parametrize(
    "name", ["uri_decode", "form_decode", "urn_normalize", "is_valid_urn", "uri_check", "urn_split"]
)
def test_policy(con, name, errors):
    hook.register(con, errors)
    allowed = errors in SQL_FUNCTIONS[name].operation.policies
    expected = of_bulk(name, errors=errors if allowed else "null")
    assert of_names(con, f"{name}(name)") == expected


def test_checks_take_references(con):
    hook.register(con)
    names = ", ".join(f"{name}('/a'), {name}('/a', '{name[-3:].upper()}')" for name in ("is_valid_uri", "is_valid_iri"))
    assert con.sql(f"select {names}").fetchall() == [(True, False, True, False)]
    names = ", ".join(f"{name}('/a'), {name}('/a', '{name[:3].upper()}').code" for name in ("uri_check", "iri_check"))
    assert con.sql(f"select {names}").fetchall() == [(None, "scheme", None, "scheme")]


def test_policy_is_to_raise(con):
    hook.register(con, "raise")
    with pytest.raises(duckdb.InvalidInputException, match='"%" not followed by two hexadecimal digits at offset 3'):
        con.sql("select uri_decode('100%')").fetchall()
    assert con.sql("select uri_decode('%41'), is_valid_urn('x'), uri_check('/a b').code").fetchall() == [
        ("A", False, "path")
    ]


def test_a_bad_row_is_null_where_the_own_function_of_duckdb_stops(con):
    hook.register(con)
    con.execute("create table bad as select unnest(['/caf%C3%A9', '/%FF', '/b']) as path")
    with pytest.raises(duckdb.Error):
        con.sql("select url_decode(path) from bad").fetchall()
    assert con.sql("select uri_decode(path) from bad").fetchall() == [("/café",), (None,), ("/b",)]


def test_no_rows_and_one(con):
    hook.register(con)
    assert con.sql("select uri_normalize(name, 'case') from names where false").fetchall() == []
    assert con.sql("select uri_normalize(name, 'case') from names where id = 1").fetchall() == [("",)]


def test_filtered_vectors(con):
    """Of a vector, DuckDB may hand over some rows only, in another order."""
    hook.register(con)
    query = "select id, uri_decode(name) from names where id % 7 = 3 order by hash(id) limit 500"
    expected = bulk.unquote(VECTORS, errors="null")
    assert all(text == expected[id_] for id_, text in con.sql(query).fetchall())


def test_views_of_strings(con):
    """DuckDB can hand over views, and large offsets."""
    hook.register(con)
    expected = of_bulk("uri_normalize", "case")
    for setting in "produce_arrow_string_view", "arrow_large_buffer_size":
        con.execute(f"set {setting}=true")
        assert of_names(con, "uri_normalize(name, 'case')") == expected
        assert of_names(con, "uri_normalize(name, if(id >= 0, 'case', 'path'))") == expected
        assert of_names(con, "uri_normalize(name, if(id % 2 = 0, 'case', 'path'))")[::2] == expected[::2]


def test_arguments_that_are_no_text(con):
    hook.register(con)
    for host, safe in ("a%2Fb", "false"), ("a", "true"):
        calls = [
            f"{name}('http://{host}/', '{rule}', true)"
            for name, rule in (("is_valid_uri", "URI"), ("is_valid_iri", "IRI"))
        ]
        assert con.sql(f"select {', '.join(calls)}").fetchall() == [(safe == "true",) * 2]
        assert con.sql(f"select is_valid_uri('http://{host}/', 'URI', false)").fetchall() == [(True,)]
        assert con.sql(f"select uri_check('http://{host}/', 'URI', true) is null").fetchall() == [(safe == "true",)]
    for rfc in 2141, 8141:
        numbers, texts = (con.sql(f"select is_valid_urn('urn:x:a', {value})").fetchall() for value in (rfc, f"'{rfc}'"))
        assert numbers == texts == [(rfc == 2141,)]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("uri_normalize('a', 'none')", "unknown level 'none'"),
        ("uri_normalize('a', 5)", "level must be text, got 5"),
        ("is_valid_uri('a', 'URI', 'true')", "safe_host must be a boolean, got 'true'"),
        ("is_valid_urn('urn:a:b', true)", "rfc must be text, got True"),
        ("uri_normalize('a', 'case', 'b')", "uri_normalize takes at most 2 arguments: column, level"),
        ("uri_query_value('a')", "uri_query_value takes 2 to 4 arguments: column, name, encoding, plus"),
        ("name_fingerprint('a', 'urn', '8141', 'x')", "at most 3 arguments: column, kind, level"),
        ("uri_decode('a', 'b')", "No function matches"),
        ("uri_decode(5)", "No function matches"),
        ("uri_normalize()", "No function matches"),
    ],
)
def test_a_wrong_call(con, call, says):
    hook.register(con)
    with pytest.raises(duckdb.Error, match=says):
        con.sql(f"select {call}").fetchall()


def test_register_again(con):
    """The last time counts."""
    hook.register(con, "keep", secret="one")
    one = con.sql("select uri_decode('100%'), name_fingerprint('a')").fetchall()
    hook.register(con, secret="other")
    other = con.sql("select uri_decode('100%'), name_fingerprint('a')").fetchall()
    assert one == [("100%", FingerprintKey("one").fingerprint("a"))]
    assert other == [(None, FingerprintKey("other").fingerprint("a"))]


def test_register_again_by_a_cursor(con):
    """DuckDB lets nobody but the connection that made them take functions away."""
    hook.register(con, "keep")
    with pytest.raises(duckdb.CatalogException, match="already exists"):
        hook.register(con.cursor())
    assert con.sql("select uri_decode('100%')").fetchall() == [("100%",)]


def test_prefix(con):
    hook.register(con)
    hook.register(con, "keep", prefix="uc_")
    assert con.sql("select uc_uri_decode('100%'), uri_decode('100%')").fetchall() == [("100%", None)]


def test_a_cursor_has_the_functions(con):
    hook.register(con)
    assert con.cursor().sql("select uri_decode('%41'), uri_normalize('A:', 'case')").fetchall() == [("A", "a:")]


def test_no_function_of_duckdb_has_such_a_name(con):
    names = {name for (name,) in con.sql("select distinct function_name from duckdb_functions()").fetchall()}
    assert names & set(SQL_FUNCTIONS) == set()
    hook.register(con)
    names = {name for (name,) in con.sql("select distinct function_name from duckdb_functions()").fetchall()}
    assert names >= set(SQL_FUNCTIONS)


def test_unknown_policy(con):
    with pytest.raises(ValueError, match="errors must be one of 'null', 'keep', 'raise', 'replace', got 'ignore'"):
        hook.register(con, "ignore")


def test_groups_are_those_of_the_key(con):
    hook.register(con, secret=FingerprintKey("secret"))
    secret = FingerprintKey("secret")
    query = "select name_fingerprint(name, 'urn'), list(distinct name) from names where name is not null group by 1"
    groups = {key: set(names) for key, names in con.sql(query).fetchall()}
    expected = {}
    for name, normal in zip(HOSTILE, bulk.normalize_urn(HOSTILE), strict=True):
        if name is not None:
            expected.setdefault(secret.fingerprint(normal), set()).add(name)
    assert groups == expected


def test_a_random_key_is_that_of_the_process(con):
    hook.register(con)
    assert con.sql("select name_fingerprint('a')").fetchall() == [tuple(bulk.fingerprint(["a"]))]


def test_threads_of_duckdb():
    with duckdb.connect(config={"threads": 4}) as con:
        hook.register(con)
        con.execute("create table many as select range as id, 'a%20' || range as name from range(500_000)")
        wrong = "select count(*) from many where uri_decode(name) is distinct from 'a ' || id"
        assert con.sql(wrong).fetchall() == [(0,)]


# Each case registers, lets go of what registered, and calls a function from elsewhere. `found` has to be `EXPECTED`.
OUTLIVES = {
    "cursor": "register(con); cursor = con.cursor(); del con; gc.collect(); found = cursor.execute(CALL).fetchall()",
    "registered by a cursor": (
        "cursor = con.cursor(); register(cursor); del cursor; found = con.execute(CALL).fetchall()"
    ),
    "cursor of a cursor": (
        "register(con); other = con.cursor().cursor(); del con; found = other.execute(CALL).fetchall()"
    ),
    "relation": (
        "register(con); cursor = con.cursor(); relation = cursor.sql(CALL); del con; found = relation.fetchall()"
    ),
    "Arrow reader": (
        "register(con); cursor = con.cursor(); reader = read(cursor.sql(CALL)); del con; found = rows(reader)"
    ),
    "closed while a reader is open": (
        "register(con); cursor = con.cursor(); reader = read(cursor.sql(CALL)); con.close(); found = rows(reader)"
    ),
    "registered again while a reader is open": (
        "register(con, 'keep'); cursor = con.cursor(); reader = read(cursor.sql(CALL)); register(con); "
        "gc.collect(); found = rows(reader)"
    ),
    "stream": "register(con); reader = stream(con, CALL, {}); con.close(); del con; found = rows(reader)",
    "other connection, first one deleted": (
        "con = duckdb.connect(FILE); register(con); other = duckdb.connect(FILE); del con; "
        "found = other.sql(CALL).fetchall()"
    ),
    "other connection, first one closed": (
        "con = duckdb.connect(FILE); register(con); other = duckdb.connect(FILE); con.close(); "
        "found = other.sql(CALL).fetchall()"
    ),
    "two databases": (
        "other = duckdb.connect(); register(con, secret='a'); register(other, secret='b'); "
        "cursor = other.cursor(); del con, other; gc.collect(); found = cursor.execute(CALL).fetchall()"
    ),
    "thread": (
        "register(con); cursor = con.cursor(); del con; gc.collect(); found = []; "
        "thread = threading.Thread(target=lambda: found.extend(cursor.execute(CALL).fetchall())); "
        "thread.start(); thread.join()"
    ),
}

OUTLIVES_PROGRAM = """
import faulthandler, gc, sys, threading
import duckdb
from uricodec.integrations.duckdb import register, stream
faulthandler.enable()
FILE = sys.argv[1]
CALL = "select uri_decode('%41' || range), uri_encode(' ' || range, '/') from range(20000)"
EXPECTED = [(f"A{i}", f"%20{i}") for i in range(20_000)]

def read(relation):
    return (relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader)(500)

def rows(reader):
    return [row for batch in reader for row in zip(*batch.to_pydict().values())]

con = duckdb.connect()
CASE
assert found == EXPECTED, found[:3]
"""


@pytest.mark.parametrize("case", OUTLIVES)
def test_functions_outlive_the_connection(tmp_path, case):
    """DuckDB's database has only a pointer to a function, and calls it after the connection has given up its own."""
    program = OUTLIVES_PROGRAM.replace("CASE", OUTLIVES[case])
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "db"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_registering_keeps_one_function_for_the_same_options():
    """What is kept until the process ends does not grow with the number of connections."""
    for _ in range(2):
        before = dict(hook._functions)
        with duckdb.connect() as con:
            hook.register(con, secret="the same")
            hook.register(con, secret=FingerprintKey("the same"))
    assert hook._functions == before
    with duckdb.connect() as con:
        hook.register(con, secret="another")
    assert len(hook._functions) == len(before) + 1


# --- streams ----------------------------------------------------------------------------------------------------------


def test_stream(con):
    columns = {
        "text": ("uri_decode", "name"),
        "normal": ("uri_normalize", "name", "case"),
        "name": ("uri_encode", "name", "/:"),
        "fault": ("uri_check", "name"),
        "key": ("name_fingerprint", "name", "urn", "2141"),
    }
    reader = hook.stream(con, "select id, name, -id as last from names order by id", columns, secret="secret")
    assert reader.schema.names == ["id", "name", "last", "text", "normal", "fault", "key"]
    found = con.sql("select text, normal, name, fault, key, id, last from reader").fetchall()
    expected = [of_bulk(function, *values, secret="secret") for function, _, *values in columns.values()]
    assert found == list(zip(*expected, range(len(VECTORS)), range(0, -len(VECTORS), -1), strict=True))


def test_stream_is_what_the_functions_are(con):
    hook.register(con, secret="secret")
    columns = {
        f"of_{name}": (name, "name", *operation.required.values()) for name, (_, operation) in SQL_FUNCTIONS.items()
    }
    reader = hook.stream(con, "from names order by id", columns, secret="secret")  # noqa: F841  (SQL reads it)
    calls = ", ".join(map(call_of, SQL_FUNCTIONS))
    assert (
        con.sql("select columns('of_.*') from reader order by id").fetchall()
        == con.sql(f"select {calls} from names order by id").fetchall()
    )


@pytest.mark.parametrize("errors", ["keep", "replace", "null"])
def test_stream_with_a_policy(con, errors):
    columns = {"text": ("uri_decode", "name"), "urn": ("urn_key", "name")}
    table = hook.stream(con, "from names order by id", columns, errors=errors).read_all()
    assert table["text"].to_pylist() == of_bulk("uri_decode", errors=errors)
    assert table["urn"].to_pylist() == of_bulk("urn_key", errors="keep" if errors == "keep" else "null")


def test_stream_that_raises(con):
    reader = hook.stream(con, "from names", {"text": ("uri_decode", "name")}, errors="raise")
    with pytest.raises(ValueError, match='"%" not followed by two hexadecimal digits'):
        reader.read_all()


def test_errors_show_the_row():
    with duckdb.connect() as con:
        hook.register(con, "raise")
        rows = "select if(range = 3000, repeat('é', 300) || '%', 'a') as name from range(5000)"
        con.execute(f"create table names as {rows}")
        says = r"""uri_decode: "%" not followed by two hexadecimal digits at offset 300 of \.\.\.'é{199}%'"""
        with pytest.raises(duckdb.InvalidInputException, match=says):
            con.sql("select uri_decode(name) from names").fetchall()
        reader = hook.stream(con, "from names", {"text": ("uri_decode", "name")}, errors="raise", batch_size=2048)
        with pytest.raises(ValueError, match=f"^{says}$"):
            reader.read_all()


def test_stream_of_more_text_than_a_batch_has_offsets_for():
    with duckdb.connect() as con:
        con.execute("create table names as select range as id, repeat(' ', range % 10) as name from range(100)")
        with lowered(limit_of_offsets=40):
            columns = {"text": ("uri_encode", "name"), "again": ("uri_encode", "name")}
            table = hook.stream(con, "from names", columns).read_all()
            assert table["text"].to_pylist() == table["again"].to_pylist() == ["%20" * (i % 10) for i in range(100)]
            assert table["id"].to_pylist() == list(range(100)) and table.schema.types[1:] == [pa.string()] * 3
            long = hook.stream(con, "select repeat(' ', 20) as name", {"text": ("uri_encode", "name")})
            with pytest.raises(OverflowError, match="2 GiB"):
                long.read_all()


def test_columns_of_a_stream_have_names_without_case():
    with duckdb.connect() as con:
        query = "select 1 as id, '%41' as Path"
        for name, column in ("path", "Path"), ("PATH", "PATH"):
            table = hook.stream(con, query, {name: ("uri_decode", column)}).read_all()
            assert table.column_names == ["id", name] and table[name].to_pylist() == ["A"]
        for columns in {"x": ("uri_decode", "id")}, {"id": ("uri_decode", "path")}:
            with pytest.raises(KeyError, match="more than one column 'id'"):
                hook.stream(con, "select 'a' as id, 'b' as id, 'c' as path", columns)


def test_a_database_has_the_functions_of_one_connection():
    with duckdb.connect() as con:
        hook.register(con)
        with con.cursor() as cursor, pytest.raises(duckdb.CatalogException, match="already exists"):
            hook.register(cursor)
        hook.register(con, "keep")


def test_stream_of_many_batches_is_in_order():
    with duckdb.connect(config={"threads": 4}) as con:
        con.execute("create table many as select range as id, 'a%20' || range as name from range(300_000)")
        reader = hook.stream(con, "from many", {"text": ("uri_decode", "name")})  # noqa: F841  (SQL reads it)
        con.execute("create table decoded as from reader")
        query = "select id, rowid from decoded where id <> rowid or text is distinct from 'a ' || id"
        assert con.sql(query).fetchall() == []
        assert con.sql("select count(*) from decoded").fetchall() == [(300_000,)]


def test_stream_is_lazy(con):
    """What has not been read yet is not computed: memory stays flat."""
    seen = []
    tick = lambda column: seen.append(len(column)) or column  # noqa: E731
    con.create_function("tick", tick, ["BIGINT"], "BIGINT", type="arrow", side_effects=True)
    con.execute("set threads=1")
    query = "select tick(range) as id, repeat('a%20', 100) as name from range(2_000_000)"
    reader = hook.stream(con, query, {"name": ("uri_decode", "name")})
    batch = reader.read_next_batch()
    assert batch["name"][0].as_py() == "a " * 100
    assert batch.num_rows <= sum(seen) < 200_000
    assert batch["id"].to_pylist() == list(range(batch.num_rows))


@pytest.mark.parametrize("threads", [1, 2, None])
def test_stream_in_batches_of_a_size(con, threads):
    con.execute("create table many as select range as id, repeat('a%20', 50) || range as name from range(30_000)")
    reader = hook.stream(con, "from many", {"name": ("uri_decode", "name")}, batch_size=4096, threads=threads)
    sizes = []
    for batch in reader:
        expected = [f"{'a ' * 50}{i}" for i in range(sum(sizes), sum(sizes) + batch.num_rows)]
        assert batch["name"].to_pylist() == expected
        sizes.append(batch.num_rows)
    assert sum(sizes) == 30_000
    assert max(sizes) <= 4096 < 3 * max(sizes)


def test_stream_of_an_enum(con):
    con.execute(
        "create table kinds as select ('a%20' || range % 3)::enum('a%200', 'a%201', 'a%202') as kind from range(9)"
    )
    reader = hook.stream(con, "from kinds", {"kind": ("uri_decode", "kind")})
    assert reader.read_all()["kind"].to_pylist() == ["a 0", "a 1", "a 2"] * 3


def test_stream_with_what_it_does_not_take(con):
    with pytest.raises(TypeError, match="invalid"):
        hook.stream(con, "from names", {"x": ("uri_decode", "name")}, invalid=None)


def test_stream_of_no_rows(con):
    table = hook.stream(con, "from names where false", {"text": ("uri_decode", "name")}).read_all()
    assert table.schema.names == ["id", "name", "text"]
    assert table.num_rows == 0


def test_stream_leaves_the_connection_alone(con):
    reader = hook.stream(con, "from names", {"text": ("uri_decode", "name")})
    assert con.sql("select count(*) from names").fetchall() == [(len(VECTORS),)]
    assert sum(batch.num_rows for batch in reader) == len(VECTORS)
    assert con.sql("select 1").fetchall() == [(1,)]


def test_stream_of_what_a_cursor_does_not_see(con):
    con.execute("create temp table mine as from names")
    with pytest.raises(duckdb.CatalogException, match="mine"):
        hook.stream(con, "from mine", {})


@pytest.mark.parametrize(
    ("columns", "error", "says"),
    [
        ({"x": ("url_decode", "name")}, ValueError, "unknown function 'url_decode'; choose from uri_encode, "),
        ({"x": ("uri_decode", "nome")}, KeyError, "nome"),
        ({"x": ("uri_decode", "id")}, TypeError, "expected a column of text"),
        ({"x": ("uri_decode", "name", "path")}, ValueError, "uri_decode takes at most 1 arguments"),
        ({"x": ("urn_key", "name", "path")}, ValueError, "path"),
    ],
)
def test_stream_of_nothing(con, columns, error, says):
    with pytest.raises(error, match=says):
        hook.stream(con, "from names", columns)


# --- besides ----------------------------------------------------------------------------------------------------------


def test_random_names(con):
    rng = random.Random(8)
    hook.register(con)
    pieces = [
        "%",
        "%4",
        "%41",
        "%C3%A9",
        "%E6%97",
        "é",
        "a",
        "b c",
        "+",
        "/",
        ":",
        "urn:",
        "urn:isbn:",
        "//h",
        "?",
        "#",
    ]
    rows = ["".join(rng.choices(pieces, k=rng.randint(0, 9))) for _ in range(5000)]
    con.register("random", pa.table({"id": range(len(rows)), "name": rows}))
    for name in SQL_FUNCTIONS:
        found = con.sql(f"select {call_of(name)} from random order by id").fetchall()
        assert [row for (row,) in found] == of_bulk(name, rows=rows)


@pytest.mark.process
def test_nothing_is_imported_before_it_is_used():
    code = "import sys, uricodec.integrations.duckdb; print(*{'duckdb', 'pyarrow', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_saved_sets():
    """A function, a table function, and, as it is, a table."""
    con = duckdb.connect()
    rows = [None, *[f"http://a.example/{i}" for i in range(5000)]]
    for count in 10, 3000:
        seen = SeenSet.build(rows[: count + 1], "uri", secret="k")
        hook.register_set(con, "known", seen)
        con.register("rows", pa.table({"url": rows}))
        found = con.sql("select known(url) from rows").fetchall()
        assert found == [(None,), *[(i < count,) for i in range(5000)]]
        for table in "known()", "seen":
            assert con.sql(f"select count(*), count(distinct fingerprint) from {table}").fetchall() == [(count, count)]
        hook.register(con, secret="k", prefix=f"of{count}_")
        join = f"from rows anti join known() on of{count}_name_fingerprint(url, 'uri') = fingerprint"
        assert con.sql(f"select count(*) {join}").fetchall() == [(5001 - count,)]
    for name in "a b", "1", "", "é", "a;b":
        with pytest.raises(ValueError, match="as the name of a set"):
            hook.register_set(con, name, seen)


def test_sets_of_hosts_and_prefixes(con):
    rows = [None, *[f"http://x{i}.a.example/{i % 7}" for i in range(5000)]]
    con.register("rows", pa.table({"url": rows}))
    hosts, pages = (
        HostSet([f"x{i}.a.example" for i in range(100)]),
        PrefixSet([f"x{i}.a.example/3" for i in range(100)]),
    )
    for made in hosts, pages:
        hook.register_set(con, "listed", made)
        found = con.sql("select listed(url), listed_entry(url) from rows").fetchall()
        wanted = [None if row is None else made.match(row) for row in rows]
        assert found == [
            (None if row is None else each is not None, each) for row, each in zip(rows, wanted, strict=True)
        ]
        assert 10 < sum(each is not None for each in wanted) < 101
    with pytest.raises(ValueError, match="as the name of a set"):
        hook.register_set(con, "a b", hosts)


def test_any_text_has_a_normal_form():
    con = duckdb.connect()
    hook.register(con)
    made = con.sql("SELECT uri_normalize('HTTP://us er@h/'), uri_policy('HTTP://us er@h/', 'crawl')").fetchall()
    assert made == [("http://us er@h/", "http://us er@h/")]
