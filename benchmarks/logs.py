"""Reading of logs, compared with goaccess, jq, DuckDB and Polars. See compare.py."""

import json
import random
import re
import statistics
import tempfile
from shutil import which
from time import process_time

import corpus
from lines import isolated
from programs import URICODEC, compare, options

JQ = """{client: .request.client_ip, time: .ts, method: .request.method, target: .request.uri, status,
    bytes_sent: .size, referer: .request.headers.Referer[0], user_agent: .request.headers["User-Agent"][0]}"""
STATUS = re.compile(rb'(?:"status":|HTTP/1.1" )(\d+)')


def logs(arguments):
    """Read logs: lines of Apache to JSON lines and a report, lines of Caddy to JSON lines and to columns.

    uricodec writes a record per line, with decoded paths and queries. goaccess writes a report of counts; it decodes
    paths, too. jq, DuckDB and Polars read the members of each line that uricodec's records have, and decode nothing.
    Checked are the number of requests and the sum of their statuses, of goaccess the number only. goaccess and jq run
    if they are installed. Columns are made in this process, on one thread; their figures are processor times.
    """
    given = options(logs, 1_000_000).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/target.json"
        ours = [*URICODEC, "log", "--no-progress", "-o", target, "-j"]
        goaccess = ["goaccess", "--no-progress", "--no-global-config", "-o", target]
        programs = {
            "combined": {"goaccess": [*goaccess, "--log-format=COMBINED"]},
            "caddy": {
                "goaccess": [*goaccess, "--log-format=CADDY"],
                "jq": ["sh", "-c", 'jq -c "$1" "$3" > "$2"', "sh", JQ, target],
            },
        }
        for kind, others in programs.items():
            source = f"{folder}/{kind}"
            isolated(write, kind, given.lines, source)
            expected = requests(source)
            commands = {"uricodec": [*ours, "1"], "uricodec -j 2": [*ours, "2"]} | others
            commands = {name: [*command, source] for name, command in commands.items() if which(command[0])}

            def is_right(name, expected=expected):
                if "goaccess" not in name:
                    return requests(target) == expected
                with open(target, encoding="utf-8") as report:
                    return json.load(report)["general"]["valid_requests"] == expected[0]

            print(kind)
            compare({name: each for name, each in commands.items() if given.only in name}, is_right, given.rounds)
        columns(source, given)


def write(kind, count, path):
    corpus.write(getattr(corpus, kind)(count, random.Random(kind)), path)


def requests(path):
    """Return the number of records of a file, and the sum of their statuses."""
    count = total = 0
    with open(path, "rb") as lines:
        for line in lines:
            count, total = count + 1, total + int(STATUS.search(line)[1])
    return count, total


# --- columns ----------------------------------------------------------------------------------------------------------

HEADERS = '"User-Agent" VARCHAR[], "Referer" VARCHAR[]'
REQUEST = f"remote_ip VARCHAR, method VARCHAR, uri VARCHAR, proto VARCHAR, host VARCHAR, headers STRUCT({HEADERS})"
NUMBERS = "duration: 'DOUBLE', size: 'BIGINT', status: 'BIGINT'"
COLUMNS = f"{{ts: 'DOUBLE', user_id: 'VARCHAR', {NUMBERS}, request: 'STRUCT({REQUEST})'}}"
SQL = f"""SELECT request.remote_ip AS client, user_id AS user, make_timestamp(CAST(ts * 1e6 AS BIGINT)) AS time,
    request.method AS method, request.uri AS target, request.proto AS protocol, status, size AS bytes_sent,
    request.headers."Referer"[1] AS referer, request.headers."User-Agent"[1] AS user_agent, request.host AS vhost,
    duration FROM read_json(?, format = 'newline_delimited', columns = {COLUMNS})"""


def columns(path, given):
    """Print the nanoseconds of processor time for each record, from a log of Caddy to columns."""
    ways = {"uricodec to_arrow": with_uricodec, "DuckDB read_json": with_duckdb, "Polars scan_ndjson": with_polars}
    ways = {name: way for name, way in ways.items() if given.only in name}
    found = {name: [] for name in ways}
    for _ in range(given.rounds):
        for name, way in ways.items():
            start = process_time()
            table = way(path)
            found[name].append((process_time() - start) / given.lines * 1e9)
            if sums(table) != sums(with_uricodec(path)):
                raise SystemExit(f"{name}: other records")
    print("caddy to columns, ns a record")
    for name, figures in found.items():
        print(f"{statistics.median(figures):9.0f}  {name}")


def with_uricodec(path):
    from uricodec import logs

    return logs.to_arrow(path, format="caddy").read_all()


def with_duckdb(path):
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        return connection.sql(SQL, params=[path]).to_arrow_table()


def with_polars(path):
    import polars

    text, texts = polars.String, polars.List(polars.String)
    headers = polars.Struct({"User-Agent": texts, "Referer": texts})
    request = polars.Struct(dict.fromkeys(("remote_ip", "method", "uri", "proto", "host"), text) | {"headers": headers})
    numbers = {"duration": polars.Float64, "size": polars.Int64, "status": polars.Int64}
    frame = polars.scan_ndjson(path, schema={"ts": polars.Float64, "user_id": text, **numbers, "request": request})
    field = polars.col("request").struct.field
    first = field("headers").struct.field("Referer").list.first().alias("referer")
    agent = field("headers").struct.field("User-Agent").list.first().alias("user_agent")
    some = [field(name) for name in ("remote_ip", "method", "uri", "proto", "host")]
    time = (polars.col("ts") * 1e6).cast(polars.Datetime("us")).alias("time")
    made = frame.select(*some, first, agent, time, "user_id", *numbers).rename({"size": "bytes_sent"})
    return made.collect().to_arrow()


def sums(table):
    import pyarrow.compute as pc

    return table.num_rows, *(pc.sum(table[name]).as_py() for name in ("status", "bytes_sent"))
