"""Parse access logs, compared with a loop over lines with a regular expression and urllib.parse.

python -m pytest benchmarks/test_logs.py
"""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import pytest
from data import Library, cases, real

from uricodec.logs._records import LogReader

COMBINED = re.compile(
    r'(?P<host>\S+) \S+ (?P<user>\S+) \[(?P<time>[^]]+)\] "(?P<method>\S+) (?P<target>\S+) (?P<protocol>\S+)" '
    r'(?P<status>\d+) (?P<size>\d+|-) "(?P<referer>[^"]*)" "(?P<agent>[^"]*)"'
)
# Requests that are well-formed and in UTF-8: of these, both have the same path and query.
PLAIN = re.compile(r'[^\\%]*"GET /[!#-~]* HTTP/1\.1"[^\\]*')


def plain_log(lines):
    lines = [
        line for line in lines if PLAIN.fullmatch(line) and COMBINED.fullmatch(line) and "\ufffd" not in unquote(line)
    ]
    return ["\n".join(lines * (2_000_000 // sum(map(len, lines))))] if lines else []


def by_urllib(log):
    written, found = [], []
    for line in log.split("\n"):
        record = COMBINED.fullmatch(line).groupdict()
        path, mark, query = record["target"].partition("?")
        record["path"] = unquote(path)
        record["query"] = list(map(list, parse_qsl(query, keep_blank_values=True))) if mark else None
        written.append(json.dumps(record))
        found.append((record["path"], record["query"]))
    return found


def path_and_query(line):
    record = json.loads(line)
    return record["path"], record["query"]


ROOM = memoryview(bytearray(1 << 25))


def by_reader(log):
    return ROOM[: LogReader("combined", "jsonl").convert(log, ROOM).written]


EXAMPLE = Path(__file__).parent.parent / "examples/access.log"
INPUTS = {
    "records": {
        "example": [plain_log(EXAMPLE.read_text("utf-8").splitlines())],
        "real": [plain_log(real("log_apache_elastic.log"))],
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
