"""`uricodec log` compared with goaccess and jq, from files to files: elapsed and processor time, memory.

    python benchmarks/corpus.py combined 1000000 access.log && python benchmarks/corpus.py caddy 400000 caddy.log
    python benchmarks/logs.py access.log caddy.log --rounds 5

uricodec writes a record per line, with decoded paths and queries. goaccess writes a report of counts; it decodes paths,
too. jq writes the members of each line that uricodec's records have, and decodes nothing. Each round runs all programs;
the medians are compared. Checked are the number of requests and the sum of their statuses, of goaccess the number only.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import programs

JQ = """{client: .request.client_ip, time: .ts, method: .request.method, target: .request.uri, status,
    bytes_sent: .size, referer: .request.headers.Referer[0], user_agent: .request.headers["User-Agent"][0]}"""
STATUS = re.compile(rb'(?:"status":|HTTP/1.1" )(\d+)')


def commands(combined, caddy, target):
    """Return the names and command lines of the programs."""
    ours = [sys.executable, "-m", "uricodec", "log", "--no-progress", "-o", target]
    goaccess = ["goaccess", "--no-progress", "--no-global-config", "-o", target]
    return {
        "combined: uricodec -j 1": [*ours, "-j", "1", combined],
        "combined: uricodec -j 2": [*ours, "-j", "2", combined],
        "combined: goaccess": [*goaccess, "--log-format=COMBINED", combined],
        "caddy: uricodec -j 1": [*ours, "-j", "1", caddy],
        "caddy: uricodec -j 2": [*ours, "-j", "2", caddy],
        "caddy: goaccess": [*goaccess, "--log-format=CADDY", caddy],
        "caddy: jq": ["sh", "-c", 'jq -c "$1" "$2" > "$3"', "sh", JQ, caddy, target],
    }


def requests(path):
    """Return the number of records of a file, and the sum of their statuses."""
    count = total = 0  # no list: the memory of this process would count as that of the programs
    with open(path, "rb") as lines:
        for line in lines:
            count, total = count + 1, total + int(STATUS.search(line)[1])
    return count, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("combined")
    parser.add_argument("caddy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="where to write the figures, for benchmarks/report.py")
    arguments = parser.parse_args()
    expected = {"combined": requests(arguments.combined), "caddy": requests(arguments.caddy)}
    sizes = {"combined": os.path.getsize(arguments.combined), "caddy": os.path.getsize(arguments.caddy)}
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "target.json")

        def is_right(name):
            kind = name.partition(":")[0]
            if "goaccess" not in name:
                return requests(target) == expected[kind]
            with open(target, encoding="utf-8") as report:
                return json.load(report)["general"]["valid_requests"] == expected[kind][0]

        every = commands(arguments.combined, arguments.caddy, target)
        rows = []
        for kind, size in sizes.items():
            some = {name: command for name, command in every.items() if name.startswith(kind)}
            found = programs.compare("logs.py", some, is_right, arguments.rounds)
            for row in found:
                row["extra_info"]["bytes"] = size
            rows += found
    if arguments.json:
        versions = {name: version(name) for name in ("goaccess", "jq")}
        programs.write(arguments.json, rows, versions)


def version(program):
    return re.search(r"\d[\d.]*\d", subprocess.check_output([program, "--version"], text=True))[0]


if __name__ == "__main__":
    main()
