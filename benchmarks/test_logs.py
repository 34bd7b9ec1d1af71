"""Parse access logs, compared with a loop over lines with a regular expression or json.loads() and urllib.parse.

python -m pytest benchmarks/test_logs.py
"""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import pytest
from data import Library, cases, real

from uricodec.logs import Format
from uricodec.logs._records import LogReader

EXAMPLE = (Path(__file__).parent.parent / "examples/access.log").read_text("utf-8").splitlines()
COMBINED = re.compile(
    r'(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<time>[^]]+)\] "(?P<method>\S+) (?P<target>\S+) (?P<protocol>\S+)" '
    r'(?P<status>\d+) (?P<bytes_sent>\d+|-) "(?P<referer>[^"]*)" "(?P<user_agent>[^"]*)"'
)
# Requests that are well-formed and in UTF-8: of these, both have the same path and query.
PLAIN = re.compile(r'[^\\%]*"GET /[!#-~]* HTTP/1\.1"[^\\]*')

# A format string with twelve fields, and lines of it.
TWELVE = '%v|%h|%{X-Request-Id}i "%r" %D %>s;%O;%{msec}t [%{Content-Type}o] "%{Referer}i" "%{User-Agent}i" pid=%P'
TWELVE_LINE = re.compile(
    r'(?P<vhost>[^|]+)\|(?P<client>[^|]+)\|(?P<id>\S+) "(?P<method>\S+) (?P<target>\S+) (?P<protocol>\S+)" '
    r"(?P<duration>\d+) (?P<status>\d+);(?P<bytes_sent>\d+);(?P<time>\d+) \[(?P<type>[^]]+)\] "
    r'"(?P<referer>[^"]*)" "(?P<user_agent>[^"]*)" pid=(?P<pid>\d+)'
)


def plain(lines):
    """The records of lines that both read alike."""
    found = [COMBINED.fullmatch(line) for line in lines if PLAIN.fullmatch(line) and "\ufffd" not in unquote(line)]
    return [match.groupdict() for match in found if match]


def combined(record):
    return (
        '{client} - {user} [{time}] "{method} {target} {protocol}" {status} {bytes_sent} "{referer}" "{user_agent}"'
    ).format(**record)


def twelve(record):
    return (
        'www.example.com|{client}|6f1f9c3b1a7d4e0f "{method} {target} {protocol}" 17000 {status};512;1700000000123 '
        '[text/html] "{referer}" "{user_agent}" pid=4711'
    ).format(**record)


def caddy(record):
    headers = {"User-Agent": [record["user_agent"]], "Referer": [record["referer"]], "Accept": ["*/*"]}
    request = {"remote_ip": record["client"], "remote_port": "443", "client_ip": record["client"], "proto": "HTTP/1.1"}
    request |= {"method": record["method"], "host": "www.example.com", "uri": record["target"], "headers": headers}
    whole = {"level": "info", "ts": 1700000000.123, "logger": "http.log.access", "msg": "handled request"}
    whole |= {"request": request, "bytes_read": 0, "user_id": "", "duration": 0.012, "size": 512, "status": 200}
    return json.dumps(whole, separators=(",", ":"))


def log_of(records, line_of):
    """About two megabytes of lines."""
    lines = [line_of(record) for record in records]
    return ["\n".join(lines * (2_000_000 // sum(map(len, lines))))] if lines else []


def by_urllib(log):
    """Records as JSON, and the path and the query of each."""
    written, found = [], []
    match = None if log.startswith("{") else COMBINED.fullmatch if "|" not in log[:40] else TWELVE_LINE.fullmatch
    for line in log.split("\n"):
        record = match(line).groupdict() if match else json.loads(line)
        path, mark, query = (record if match else {"target": record["request"]["uri"]})["target"].partition("?")
        record["path"] = unquote(path)
        record["query"] = list(map(list, parse_qsl(query, keep_blank_values=True))) if mark else None
        written.append(json.dumps(record))
        found.append((record["path"], record["query"]))
    return found


def path_and_query(line):
    record = json.loads(line)
    return record["path"], record["query"]


BUFFER = memoryview(bytearray(1 << 25))
PROGRAMS = {b"{": Format("caddy").programs, b"w": Format(TWELVE).programs}
COMBINED_PROGRAMS = Format("combined").programs


def by_reader(log):
    found = LogReader(PROGRAMS.get(log[:1], COMBINED_PROGRAMS)).convert(log, BUFFER)
    assert not found.invalid and found.read == len(log)
    return BUFFER[: found.written]


INPUTS = {
    "records": {
        "example": [log_of(plain(EXAMPLE), combined)],
        "real": [log_of(plain(real("log_apache_elastic.log")), combined)],
        "twelve fields": [log_of(plain(EXAMPLE), twelve)],
        "caddy": [log_of(plain(EXAMPLE), caddy)],
    }
}
LIBRARIES = {
    "records": {
        "urllib.parse": Library(by_urllib),
        "uricodec": Library(
            by_reader,
            lambda columns: [[log.encode() for log in columns[0]]],
            lambda lines: list(map(path_and_query, bytes(lines).splitlines())),
        ),
    }
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS, LIBRARIES))
def test_logs(benchmark, measure, function, kind, library):
    benchmark.extra_info["bytes"] = sum(map(len, INPUTS[function][kind][0]))
    measure(function, kind, library, INPUTS[function][kind], LIBRARIES[function])
