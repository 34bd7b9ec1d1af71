"""The ten most frequent lines on one core, compared with programs that count: elapsed and processor time, memory.

    python benchmarks/counting.py
    python benchmarks/counting.py --lines 1000000 --rounds 5 --only "Counter;duckdb" --json counting.json

The lines are IPv4 addresses, once of 100,000 clients with very different numbers of lines, once all different. Each
round runs all programs; the medians are compared. "Counter" gets the lines as `log --count` gives them, once; "dedup"
is the command line, which reads the file again to write the first lines. Every output is checked: its counts are those
of collections.Counter, and so are its lines, but for lines that are as frequent as the last one.
"""

import argparse
import importlib.metadata
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

import programs

CLIENTS = 100_000
BATCH = 100_000

COUNTER = """
import sys
from uricodec.dedup._counter import Counter
source, target, memory = sys.argv[1:]
with Counter(memory) as counter, open(source, "rb", buffering=0) as file, open(target, "wb") as out:
    rest = b""
    while chunk := file.read(384 * 1024):
        chunk = rest + chunk
        end = chunk.rfind(b"\\n") + 1
        counter.add_lines(memoryview(chunk)[:end])
        rest = chunk[end:]
    counter.add_lines(rest)
    for key, count in counter.most_common(10):
        out.write(b"%d\\t%s\\n" % (count, key))
"""
DUCKDB = """
import duckdb, sys
con = duckdb.connect()
con.execute("set threads = 1; set enable_progress_bar = false")
con.execute(f'''copy (select count(*) n, x from read_csv('{sys.argv[1]}', header = false, columns = {{'x': 'VARCHAR'}},
    delim = '\\x01', quote = '', escape = '') group by x order by n desc limit 10) to '{sys.argv[2]}'
    (header false, delimiter '\\t', quote '')''')
"""
POLARS = """
import polars, sys
lines = polars.read_csv(sys.argv[1], has_header=False, separator="\\x01", quote_char=None, new_columns=["x"])
top = lines.group_by("x").len().top_k(10, by="len").select("len", "x")
top.write_csv(sys.argv[2], include_header=False, separator="\\t", quote_style="never")
"""
SORT = 'sort -S 1G --parallel=1 "$0" | uniq -c | sort -rn -S 64M --parallel=1 | head | sed "s/^ *//;s/ /\\t/" >"$1"'


def commands(source, target):
    """Return the names and command lines of the programs."""
    ours = [sys.executable, "-m", "uricodec", "dedup", "--kind", "bytes", "-j", "1", "--count", "--top", "10"]
    return {
        "Counter": [sys.executable, "-c", COUNTER, source, target, "4G"],
        "Counter, 64M": [sys.executable, "-c", COUNTER, source, target, "64M"],
        "dedup": [*ours, source, "-o", target],
        "dedup --memory 64M": [*ours, "--memory", "64M", source, "-o", target],
        "duckdb": [sys.executable, "-c", DUCKDB, source, target],
        "polars": [sys.executable, "-c", POLARS, source, target],
        "sort, uniq -c, sort -rn, head": ["bash", "-c", SORT, source, target],
    }


def write_clients(path, lines):
    """Write addresses of clients, a few of which are frequent."""
    rng = random.Random(7)
    clients = [".".join(map(str, rng.getrandbits(32).to_bytes(4, "big"))) + "\n" for _ in range(CLIENTS)]
    with open(path, "w", encoding="ascii") as file:
        for _ in range(lines // BATCH):
            file.write("".join(clients[int(CLIENTS * rng.random() ** 2)] for _ in range(BATCH)))


def write_different(path, lines):
    """Write different addresses."""
    with open(path, "w", encoding="ascii") as file:
        for start in range(0, lines, BATCH):
            numbers = (number * 2654435761 % 2**32 for number in range(start, start + BATCH))
            file.write("".join(".".join(map(str, number.to_bytes(4, "big"))) + "\n" for number in numbers))


def is_right(source, target):
    """Return whether an output has the counts, and the lines except for equally frequent ones."""
    with open(source, "rb") as file:
        counts = Counter(line.rstrip(b"\n") for line in file)
    with open(target, "rb") as file:
        found = [line.rstrip(b"\n").split(b"\t") for line in file]
    found = [(int(count), line) for count, line in found]
    wanted = [(count, line) for line, count in counts.most_common(10)]
    least = wanted[-1][0]
    return (
        [count for count, _ in found] == [count for count, _ in wanted]
        and {each for each in found if each[0] > least} == {each for each in wanted if each[0] > least}
        and all(counts[line] == count for count, line in found)
        and len({line for _, line in found}) == len(found)
    )


def check(source, target):
    """Return is_right() of another process: the memory of this one counts as that of programs which it starts."""
    code = f"import counting, sys; sys.exit(not counting.is_right({source!r}, {target!r}))"
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.abspath(__file__)))
    return subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="names, with semicolons between them")
    parser.add_argument("--json", help="where to write the figures, for benchmarks/report.py")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
        for name, write in ("100,000 clients", write_clients), ("all different", write_different):
            write(source, arguments.lines)
            chosen = commands(source, target)
            wanted = arguments.only.split(";") if arguments.only else chosen
            chosen = {f"{each}: {name}": command for each, command in chosen.items() if each in wanted}
            rows += programs.compare("counting.py", chosen, lambda _: check(source, target), arguments.rounds)
    if arguments.json:
        versions = {name: importlib.metadata.version(name) for name in ("duckdb", "polars")}
        programs.write(arguments.json, rows, versions)


if __name__ == "__main__":
    main()
