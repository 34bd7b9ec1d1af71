"""JSON logs to JSON lines and to columns: processor time for each record, without start-up, in one process and thread.

    python benchmarks/corpus.py caddy 100000 caddy.log
    POLARS_MAX_THREADS=1 python benchmarks/json_logs.py caddy.log

The log is one of Caddy. DuckDB and Polars read its members to the columns of uricodec's records, and decode nothing.
The exact reader of uricodec reads the same without marks (LogReader(fast=False)). Each round runs all; the medians are
compared. Checked are the number of records, and the sums of their statuses and sizes. Rows of other presets are of logs
with the same requests, made here.
"""

import argparse
import json
import statistics
from time import process_time
from typing import NamedTuple

import duckdb
import polars

from uricodec import logs
from uricodec.logs import Format
from uricodec.logs._records import LogReader

CHUNK = 1 << 18
RECORDS = bytearray(16 * CHUNK)
HEADERS = '"User-Agent" VARCHAR[], "Referer" VARCHAR[]'
REQUEST = f"remote_ip VARCHAR, method VARCHAR, uri VARCHAR, proto VARCHAR, host VARCHAR, headers STRUCT({HEADERS})"
NUMBERS = "duration: 'DOUBLE', size: 'BIGINT', status: 'BIGINT'"
COLUMNS = f"{{ts: 'DOUBLE', user_id: 'VARCHAR', {NUMBERS}, request: 'STRUCT({REQUEST})'}}"
SQL = """SELECT request.remote_ip AS client, user_id AS user, make_timestamp(CAST(ts * 1e6 AS BIGINT)) AS time,
    request.method AS method, request.uri AS target, request.proto AS protocol, status, size AS bytes_sent,
    request.headers."Referer"[1] AS referer, request.headers."User-Agent"[1] AS user_agent, request.host AS vhost,
    duration
    FROM read_json(?, format = 'newline_delimited', columns = """


def lines_of(data):
    start = 0
    while start < len(data):
        stop = data.rfind(b"\n", start, start + CHUNK) + 1 or len(data)
        yield memoryview(data)[start:stop]
        start = stop


def to_lines(name, data, **options):
    """Write records. Return the number of records, and the share of them that was read by marks."""
    reader = LogReader(Format(name).programs, **options)
    records = 0
    for chunk in lines_of(data):
        start = 0
        while start < len(chunk):
            found = reader.convert(chunk[start:], RECORDS)
            start, records = start + found.read, records + found.records
    return records, reader.fast_records / records


def with_uricodec(path):
    return logs.to_arrow(path, format="caddy").read_all()


def with_duckdb(path):
    with duckdb.connect(config={"threads": 1}) as connection:
        return connection.sql(SQL + COLUMNS + ")", params=[path]).to_arrow_table()


def with_polars(path):
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
    return frame.select(*some, first, agent, time, "user_id", *numbers).rename({"size": "bytes_sent"}).collect()


def sums(table):
    if isinstance(table, polars.DataFrame):
        return table.height, table["status"].sum(), table["bytes_sent"].sum()
    frame = polars.from_arrow(table.select(["status", "bytes_sent"]))
    return table.num_rows, frame["status"].sum(), frame["bytes_sent"].sum()


# --- other presets ----------------------------------------------------------------------------------------------------


class Request(NamedTuple):
    client: str
    target: str
    status: int
    size: int
    duration: float
    agent: str
    referer: str


def request_of(line):
    """What the other presets need of a line of Caddy."""
    whole = json.loads(line)
    request = whole["request"]
    agent, referer = (request["headers"][name][0] for name in ("User-Agent", "Referer"))
    return Request(
        request["remote_ip"], request["uri"], whole["status"], whole["size"], whole["duration"], agent, referer
    )


TIME = "2024-10-10T13:55:36.123Z"


def nginx(r):
    text = {"time_iso8601": TIME, "remote_addr": r.client, "remote_user": "", "request": f"GET {r.target} HTTP/1.1"}
    text |= {
        "status": str(r.status),
        "body_bytes_sent": str(r.size),
        "request_time": f"{r.duration:.3f}",
        "http_referer": r.referer,
    }
    return text | {"http_user_agent": r.agent, "http_x_forwarded_for": "203.0.113.10, 198.51.100.6"}


def traefik(r):
    whole = {"ClientAddr": f"{r.client}:41342", "ClientHost": r.client, "ClientPort": "41342", "ClientUsername": "-"}
    whole |= {"DownstreamContentSize": r.size, "DownstreamStatus": r.status, "Duration": int(r.duration * 1e9)}
    whole |= {
        "RequestHost": "www.example.com",
        "RequestMethod": "GET",
        "RequestPath": r.target,
        "RequestProtocol": "HTTP/2.0",
    }
    return whole | {"StartUTC": TIME, "request_Referer": r.referer, "request_User-Agent": r.agent, "time": TIME}


def envoy(r):
    whole = {"start_time": TIME, "method": "GET", "path": r.target, "protocol": "HTTP/2", "response_code": r.status}
    whole |= {"response_flags": "-", "bytes_received": 0, "bytes_sent": r.size, "duration": int(r.duration * 1000)}
    whole |= {"x_forwarded_for": f"203.0.113.14,{r.client}", "user_agent": r.agent, "authority": "www.example.com"}
    return whole | {"downstream_remote_address": f"{r.client}:50112", "referer": r.referer}


def gcp(r):
    request = {
        "latency": f"{r.duration}s",
        "referer": r.referer,
        "remoteIp": r.client,
        "requestMethod": "GET",
        "requestSize": "464",
    }
    request |= {
        "requestUrl": f"https://www.example.com{r.target}",
        "responseSize": str(r.size),
        "serverIp": "10.128.0.2",
    }
    request |= {"status": r.status, "userAgent": r.agent, "protocol": "HTTP/2"}
    return {"httpRequest": request, "insertId": "1oek5rg3l3fxj7", "severity": "INFO", "timestamp": TIME}


def cloudflare(r):
    whole = {
        "ClientIP": r.client,
        "ClientRequestHost": "www.example.com",
        "ClientRequestMethod": "GET",
        "ClientRequestURI": r.target,
    }
    whole |= {"ClientRequestProtocol": "HTTP/2", "ClientRequestReferer": r.referer, "ClientRequestUserAgent": r.agent}
    return whole | {
        "EdgeResponseBytes": r.size,
        "EdgeResponseStatus": r.status,
        "EdgeStartTimestamp": TIME,
        "RayID": "3a6050bcbe121a87",
    }


def ecs(r):
    response = {"status_code": r.status, "body": {"bytes": r.size}}
    whole = {"@timestamp": TIME, "client": {"ip": r.client}, "user": {"name": "frank"}}
    whole |= {"http": {"request": {"method": "GET", "referrer": r.referer}, "response": response, "version": "1.1"}}
    whole |= {"url": {"original": r.target, "domain": "www.example.com"}, "user_agent": {"original": r.agent}}
    return whole | {"event": {"duration": int(r.duration * 1e9), "outcome": "success"}}


PRESETS = {
    "nginx-json": nginx,
    "traefik-json": traefik,
    "envoy-json": envoy,
    "gcp-lb": gcp,
    "cloudflare": cloudflare,
    "ecs": ecs,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("caddy")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with open(arguments.caddy, "rb") as file:
        data = file.read()
    inputs = {"caddy": data}
    requests = [request_of(line) for line in data.splitlines()[:40000]]
    for name, make in PRESETS.items():
        inputs[name] = b"".join(json.dumps(make(each), separators=(",", ":")).encode() + b"\n" for each in requests)
    wrapped = [
        json.dumps({"log": line.decode() + "\n", "stream": "stdout", "time": TIME}, separators=(",", ":"))
        for line in data.splitlines()[:40000]
    ]
    inputs["caddy in records of Docker"] = "".join(line + "\n" for line in wrapped).encode()
    calls = {}
    for name, log in inputs.items():
        preset = name.partition(" ")[0]
        calls[f"{name}: JSON lines"] = lambda preset=preset, log=log: to_lines(preset, log)
        calls[f"{name}: JSON lines, exact reader"] = lambda preset=preset, log=log: to_lines(preset, log, fast=False)
    calls["caddy: to_arrow"] = lambda: with_uricodec(arguments.caddy)
    calls["caddy: DuckDB read_json"] = lambda: with_duckdb(arguments.caddy)
    calls["caddy: Polars scan_ndjson"] = lambda: with_polars(arguments.caddy)
    expected = sums(with_uricodec(arguments.caddy))
    assert sums(with_duckdb(arguments.caddy)) == sums(with_polars(arguments.caddy)) == expected
    times = {name: [] for name in calls}
    shares = {}
    for _ in range(arguments.rounds):
        for name, call in calls.items():
            start = process_time()
            found = call()
            times[name].append(process_time() - start)
            if "JSON lines" in name:
                shares[name] = found[1]
                assert found[0] == inputs[name.partition(":")[0]].count(b"\n")
    print(f"{'ns a record':>12} {'bytes':>6} {'by marks':>9}")
    for name in calls:
        log = inputs[name.partition(":")[0]]
        records = log.count(b"\n")
        share = f"{100 * shares[name]:8.1f}%" if name in shares else ""
        print(f"{statistics.median(times[name]) / records * 1e9:12.0f} {len(log) / records:6.0f} {share:>9} {name}")


if __name__ == "__main__":
    main()
