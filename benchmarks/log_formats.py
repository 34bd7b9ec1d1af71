"""How fast lines of logs become records: processor time a record, without start-up, in this process.

    python benchmarks/log_formats.py [--prototype log.so] [--log FILE ...] [--json FILE]

The same requests are written in the format of each text preset, and converted to JSON lines, CSV and columns.
`--prototype` is a library with a function that converts the combined format alone; what a record takes is compared with
what that takes for the same requests in the combined format. `fast` is the share of records that were read by marks.
`--log` adds logs in the combined format. Rows with options, lines that need care, and random formats follow.
"""

import argparse
import ctypes
import json
import random
import re
import string
import time
from pathlib import Path

from uricodec.logs import Format
from uricodec.logs._columns import convert_columns
from uricodec.logs._records import LogReader

CHUNK = 1 << 18
AGENTS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "curl/8.5.0",
    "-",
]
NUMBERS = (
    "status",
    "bytes",
    "length",
    "size",
    "count",
    "port",
    "priority",
    "actconn",
    "feconn",
    "beconn",
    "retries",
    "queue",
)


def request(rng):
    """Return the fields of a request by their names."""
    path = "".join(
        "/" + "".join(rng.choices(string.ascii_lowercase, k=rng.randrange(2, 12))) for _ in range(rng.randrange(1, 5))
    )
    query = "&".join(f"{rng.choice('abcpq')}={rng.randrange(10**6)}" for _ in range(rng.choice([0, 0, 1, 2])))
    target = path + (query and "?" + query)
    method = rng.choice(["GET", "GET", "GET", "POST", "HEAD"])
    second = rng.randrange(60)
    client = ".".join(str(rng.randrange(256)) for _ in range(4))
    return {
        "client": client,
        "client_endpoint": f"{client}:{rng.randrange(1024, 65536)}",
        "user": "-",
        "time": f"21/Mar/2025:08:{rng.randrange(3):02}:{second:02} +0000",
        "iso": f"2025-03-21T08:00:{second:02}.{rng.randrange(10**6):06}Z",
        "epoch": f"17425440{second:02}.{rng.randrange(1000):03}",
        "haproxy": f"21/Mar/2025:08:00:{second:02}.{rng.randrange(1000):03}",
        "method": method,
        "target": target,
        "url": f"https://www.example.com:443{target}",
        "path": path,
        "path_decoded": path,
        "query": query,
        "protocol": "HTTP/1.1",
        "request": f"{method} {target} HTTP/1.1",
        "status": rng.choice(["200", "200", "200", "304", "404"]),
        "bytes_sent": str(rng.randrange(10**6)),
        "referer": rng.choice(["-", f"https://www.example.com{path}"]),
        "user_agent": rng.choice(AGENTS),
        "vhost": "www.example.com",
        "forwarded_for": f"{client}, 192.0.2.{rng.randrange(256)}",
        "duration": f"0.{rng.randrange(1000):03}",
        "duration_ms": str(rng.randrange(1000)),
    }


TIMES = {"alb": "iso", "elb": "iso", "envoy": "iso", "squid": "epoch", "haproxy": "haproxy"}


def line_of(format, fields, rng):
    """Return a line: fields of requests by name, others made up."""

    def value(match):
        name = match[1] or match[2]
        if name in fields:
            return fields[name]
        if name == "port" or "endpoint" in name:
            return "443" if name == "port" else f"10.0.0.{rng.randrange(256)}:80"
        if "time" in name or "duration" in name:
            return f"0.{rng.randrange(1000):03}"
        if any(word in name for word in NUMBERS):
            return str(rng.randrange(1000))
        return name[: rng.randrange(3, 20)]

    format = format.replace("$optional", "").replace("$rest", "")
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", value, format)


def formats():
    """Yield the names of the text presets, and how their lines are written."""
    from configparser import ConfigParser
    from importlib.resources import files

    parser = ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str
    parser.read_string(files("uricodec.logs").joinpath("presets.ini").read_text("utf-8"))
    for name in parser.sections():
        if "format" in parser[name]:
            yield name, parser[name]["format"].strip().splitlines()[0].strip()


def log_of(name, format, requests, rng):
    lines = []
    for each in requests:
        fields = dict(each)
        fields["time"] = fields[TIMES.get(name, "time")]
        if name in ("alb", "elb"):
            fields["request"] = f"{fields['method']} {fields['url']} HTTP/1.1"
        if name == "squid":
            fields["target"] = fields["url"]
        lines.append(line_of(format, fields, rng))
    return "".join(line + "\n" for line in lines).encode()


def chunks(data):
    start = 0
    while start < len(data):
        stop = data.rfind(b"\n", start, start + CHUNK) + 1 or len(data)
        yield memoryview(data)[start:stop]
        start = stop


def to_text(reader, data, dst):
    for chunk in chunks(data):
        start = 0
        while start < len(chunk):
            start += reader.convert(chunk[start:], dst).read


def to_columns(reader, data, dst):
    for chunk in chunks(data):
        start = 0
        while start < len(chunk):
            start += convert_columns(reader, chunk[start:])[0].read


class Prototype:
    def __init__(self, path):
        self.convert = ctypes.CDLL(path).convert
        self.convert.restype = ctypes.c_size_t
        self.target = ctypes.create_string_buffer(8 * CHUNK + 4096)

    def run(self, data):
        source = ctypes.create_string_buffer(data + bytes(64), len(data) + 64)
        base, at = ctypes.addressof(source), 0
        slow, records, used = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
        lines = 0
        start = time.process_time()
        while at < len(data):
            arguments = ctypes.c_void_p(base + at), ctypes.c_size_t(min(CHUNK, len(data) - at))
            self.convert(*arguments, self.target, ctypes.byref(slow), ctypes.byref(records), ctypes.byref(used))
            at += used.value
            lines += records.value + slow.value
            if not used.value:
                break
        return (time.process_time() - start) / lines


class Row:
    """A log to convert: `base` is the log in the combined format that the prototype reads."""

    def __init__(self, name, format, data, base=None, **options):
        self.name, self.format, self.data, self.base, self.options = name, format, data, base, options
        self.dst = bytearray(1 << 20)
        self.best = {}

    def measure(self, prototype):
        runs = {"jsonl": to_text, "csv": to_text, "columns": to_columns}
        for kind, convert in runs.items():
            reader = LogReader(self.format.programs, "csv" if kind == "csv" else "jsonl", **self.options)
            start = time.process_time()
            convert(reader, self.data, self.dst)
            self.note(kind, (time.process_time() - start) / self.data.count(b"\n"))
            self.fast = reader.fast_records / self.data.count(b"\n") if kind == "jsonl" else self.fast
        if prototype and self.base:
            self.note("prototype", prototype.run(self.base))

    def note(self, kind, seconds):
        self.best[kind] = min(seconds * 1e9, self.best.get(kind, 1e18))

    def __str__(self):
        ratio = self.best["jsonl"] / self.best["prototype"] if "prototype" in self.best else 0
        size = len(self.data) / self.data.count(b"\n")
        best = self.best
        return (
            f"{self.name:32} {size:5.0f} B  {best['jsonl']:6.0f} ns  {best.get('prototype', 0):5.0f}  {ratio:5.2f}"
            f"  csv {best['csv']:6.0f}  columns {best['columns']:6.0f}  fast {self.fast:6.1%}"
        )


def rows(arguments):
    rng = random.Random(1)
    requests = [request(rng) for _ in range(arguments.lines)]
    written = dict(formats())
    base = log_of("combined", written["combined"].replace("$rest", ""), requests, rng)
    for name, format in written.items():
        yield Row(name, Format(name), log_of(name, format, requests, rng), base)
    for path in arguments.log:
        data = Path(path).read_bytes()
        data *= max(1, 10_000_000 // len(data))
        yield Row(Path(path).name, Format("combined"), data, data)
    yield Row("combined, --param q", Format("combined"), base, base, params=["q"])
    yield Row("combined, --client forwarded", Format("combined"), base, base, client="forwarded")
    yield Row("combined, --mask q", Format("combined"), base, base, mask=["q"])
    yield Row("combined, --flags", Format("combined"), base, base, flags=True)
    lines = base.splitlines(keepends=True)
    decoded = b"".join(line.replace(b" /", b" /caf%C3%A9%20", 1) for line in lines)
    yield Row("combined, triplets in the path", Format("combined"), decoded, decoded)
    strange = b"".join(line.replace(b" /", b" /\\x22\\xc3", 1) if i % 20 == 0 else line for i, line in enumerate(lines))
    yield Row("combined, 5 % strange lines", Format("combined"), strange, base)
    directives = [
        "%h",
        "%u",
        '"%r"',
        "%>s",
        "%b",
        '"%{Referer}i"',
        '"%{User-Agent}i"',
        "%v",
        "%D",
        "%p",
        "%I",
        "%P",
        "%X",
        '"%{X-Forwarded-For}i"',
        "%A",
        "%k",
    ]
    names = [
        "client",
        "user",
        "request",
        "status",
        "bytes_sent",
        "referer",
        "user_agent",
        "vhost",
        "duration_ms",
        "port",
        "length",
        "pid_count",
        "connection",
        "forwarded_for",
        "host",
        "retries",
    ]
    for seed in range(arguments.random):
        rng = random.Random(seed)
        some = rng.sample(range(len(names)), 11)
        if 2 not in some:
            some[0] = 2
        format = " ".join(directives[k] for k in some) + " %t"
        template = (
            " ".join(f'"${names[k]}"' if directives[k].startswith('"') else "$" + names[k] for k in some) + " [$time]"
        )
        yield Row(f"random format {seed}", Format(format), log_of("", template, requests, rng), base)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prototype", help="a shared library")
    parser.add_argument("--log", nargs="*", default=[], help="logs in the combined format")
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--random", type=int, default=5, help="how many random formats of 12 fields")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="a part of the names of the rows to run")
    parser.add_argument("--json", help="where to write the figures")
    arguments = parser.parse_args()
    prototype = Prototype(arguments.prototype) if arguments.prototype else None
    every = [row for row in rows(arguments) if arguments.only in row.name]
    for _ in range(arguments.rounds):
        for row in every:
            row.measure(prototype)
    for row in every:
        print(row)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([{"name": row.name, "fast": row.fast, **row.best} for row in every]))


if __name__ == "__main__":
    main()
