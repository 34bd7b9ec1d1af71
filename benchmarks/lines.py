"""Deduplication and counting of lines and rows, compared with DuckDB, Polars, sort, and sets. See compare.py."""

import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import corpus
from programs import URICODEC, compare, options

DEDUP = [*URICODEC, "dedup", "--no-progress"]
PYTHON = [sys.executable, "-c"]
# What the code of DuckDB and Polars begins with: a query of the lines of a file, and where results go.
DUCKDB = """
import duckdb, sys
con = duckdb.connect()
con.execute("set threads = 1; set enable_progress_bar = false")
def lines(path): return f'''read_csv('{path}', header = false, columns = {{'x': 'VARCHAR'}}, delim = '\\x01',
    quote = '', escape = '')'''
def copy(query, path, delimiter="\\x01"):
    con.execute(f"copy ({query}) to '{path}' (header false, delimiter '{delimiter}', quote '')")
"""
POLARS = """
import polars as pl, sys
def lines(path):
    return pl.scan_csv(path, has_header=False, separator="\\x01", quote_char=None, new_columns=["x"])
def copy(query, path, separator="\\x01"):
    query.sink_csv(path, include_header=False, separator=separator, quote_style="never")
"""


def isolated(function, *arguments):
    """Call a function in another process: the memory of this one counts as that of programs which it starts."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def chosen(commands, given):
    return {name: command for name, command in commands.items() if given.only in name}


def write_corpus(kind, count, path):
    corpus.write(getattr(corpus, kind)(count, random.Random(kind)), path)


# --- dedup ------------------------------------------------------------------------------------------------------------

UNIQUE_DUCKDB = DUCKDB + 'copy(f"select distinct x from {lines(sys.argv[1])}", sys.argv[2])'
UNIQUE_POLARS = POLARS + "copy(lines(sys.argv[1]).unique(), sys.argv[2])"
UNIQUE_SET = """
import sys
seen = set()
with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:
    for line in source:
        if line not in seen:
            seen.add(line)
            target.write(line)
"""


def dedup(arguments):
    """Deduplicate URNs on one core.

    The other programs get normalized lines, because they cannot normalize. Normalized and sorted, each output has to
    equal that of `sort -u`.
    """
    given = options(dedup, 10_000_000).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        source, normal, target = (f"{folder}/{name}" for name in ("source", "normal", "target"))
        isolated(write_corpus, "urns", given.lines, source)
        subprocess.run([*URICODEC, "normalize", "--kind", "urn", source, "-o", normal], check=True)
        ours = [*DEDUP, "--kind", "urn", source, "-o", target, "-j"]
        commands = {
            "uricodec": [*ours, "1"],
            "uricodec --memory 64M": [*ours, "1", "--memory", "64M"],
            "uricodec --exact": [*ours, "1", "--exact"],
            "uricodec --level namespace": [*ours, "1", "--level", "namespace"],
            "uricodec -j 2": [*ours, "2"],
            "uricodec --count": [*ours, "1", "--count"],
            "sort -u": ["sort", "-u", "-S", "1G", "--parallel=1", normal, "-o", target],
            "duckdb": [*PYTHON, UNIQUE_DUCKDB, normal, target],
            "polars": [*PYTHON, UNIQUE_POLARS, normal, target],
            "set": [*PYTHON, UNIQUE_SET, normal, target],
        }
        expected = {level: sorted_forms(source, folder, level) for level in ("8141", "namespace")}

        def is_right(name):
            if "count" in name:
                subprocess.run(["sed", "-i", "s/^[0-9]*\t//", target], check=True)
            level = "namespace" if "namespace" in name else "8141"
            return sorted_forms(target, folder, level) == expected[level]

        compare(chosen(commands, given), is_right, given.rounds)


def sorted_forms(path, folder, level):
    """Return the hash of the sorted normal forms of an output."""
    form = f"{folder}/form"
    subprocess.run([*URICODEC, "normalize", "--kind", "urn", "--level", level, path, "-o", form], check=True)
    subprocess.run(["sort", "-u", "-S", "1G", form, "-o", form], check=True, env=dict(os.environ, LC_ALL="C"))
    with open(form, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


# --- parquet ----------------------------------------------------------------------------------------------------------

FILES = 20
ROWS_DUCKDB = (
    DUCKDB
    + """
files = f"'{sys.argv[1]}/*.parquet'"
query = {
    "any": f"select distinct on (url) * from {files}",
    "first": f"select * from {files} where id in (select min(id) from {files} group by url)",
}[sys.argv[3]]
con.execute(f"set threads = {sys.argv[4]}; copy ({query}) to '{sys.argv[2]}' (format parquet, compression snappy)")
"""
)
ROWS_POLARS = """
import polars, sys
rows = polars.scan_parquet(sys.argv[1]).unique("url", keep=sys.argv[3], maintain_order=sys.argv[3] == "first")
rows.sink_parquet(sys.argv[2], compression="snappy")
"""


def parquet(arguments):
    """Deduplicate Parquet files by a column.

    URLs are the column `url` of 20 files with five columns. All programs compare bytes, because the others cannot
    normalize, use as many threads, and write one file with the same compression: any row of each URL, in any order, or
    the first row, in order. Each output has to have each URL once, and the first rows if it should.
    """
    parser = options(parquet, 5_000_000)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        source, target, threads = f"{folder}/in", f"{folder}/out", str(given.threads)
        different = isolated(write_files, given.lines, source)
        ours = [*DEDUP, "--parquet", "-f", "url", source, "-o", target, "-j", threads, "--kind"]
        commands = {
            "uricodec": [*ours, "bytes"],
            "uricodec --kind uri": [*ours, "uri"],
            "uricodec --memory 64M": [*ours, "bytes", "--memory", "64M"],
            "uricodec --count": [*ours, "bytes", "--count"],
            "uricodec --keep last": [*ours, "bytes", "--keep", "last"],
            "uricodec --keep newest": [*ours, "bytes", "--keep", "newest", "--by", "time"],
            "duckdb, any rows": [*PYTHON, ROWS_DUCKDB, source, target, "any", threads],
            "duckdb, first rows": [*PYTHON, ROWS_DUCKDB, source, target, "first", threads],
            "polars, any rows": [*PYTHON, ROWS_POLARS, source, target, "any"],
            "polars, first rows": [*PYTHON, ROWS_POLARS, source, target, "first"],
        }
        expected = []  # the sum of the numbers of first rows

        def is_right(name):
            rows, urls, ids = isolated(figures_of, target)
            if name == "uricodec":
                expected.append(ids)
            if "--kind uri" in name:  # URLs with other spellings are merged
                return rows == urls <= different
            has_first_rows = "any" in name or "keep" in name or not expected or ids == expected[0]
            return rows == urls == different and has_first_rows

        def clear():
            shutil.rmtree(target, ignore_errors=True)
            if os.path.exists(target):
                os.remove(target)

        compare(chosen(commands, given), is_right, given.rounds, given.threads, clear)


def write_files(count, folder):
    """Write a dataset of URLs. Return the number of different ones."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    os.mkdir(folder)
    urls = [url for batch in corpus.urls(count, random.Random("urls")) for url in batch]
    size = -(-len(urls) // FILES)
    for i in range(FILES):
        part = urls[i * size : (i + 1) * size]
        numbers = pa.array(range(i * size, i * size + len(part)))
        columns = {
            "id": numbers,
            "time": pc.add(numbers, 1_700_000_000_000_000).cast(pa.timestamp("us")),
            "url": part,
            "status": pa.array([200, 200, 304, 404] * (len(part) // 4 + 1))[: len(part)],
            "agent": pa.array([f"Mozilla/5.0 (X11; {i * 7919 % 500})" for i in range(len(part))]),
        }
        pq.write_table(pa.table(columns), f"{folder}/{i:02}.parquet", row_group_size=1 << 17)
    return len(set(urls))


def figures_of(path):
    """Return the number of rows of an output, the number of different URLs, and the sum of the numbers of rows."""
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    table = ds.dataset(path).to_table(columns=["id", "url"])
    return len(table), len(pc.unique(table["url"])), pc.sum(table["id"]).as_py()


# --- seen -------------------------------------------------------------------------------------------------------------

RBLOOM = """
import sys
from hashlib import blake2b
from rbloom import Bloom
step, old, new, target, store, count = sys.argv[1:]
def hash_of(line): return int.from_bytes(blake2b(line, digest_size=16).digest(), "big", signed=True)
if step == "build":
    bloom = Bloom(int(count), 1e-6, hash_of)
    with open(old, "rb") as lines: bloom.update(lines)
    bloom.save(store)
else:
    bloom = Bloom.load(store, hash_of)
    with open(new, "rb") as lines, open(target, "wb") as out:
        out.writelines(line for line in lines if line not in bloom)
"""
PYBLOOM = """
import sys
from pybloomfilter import BloomFilter
step, old, new, target, store, count = sys.argv[1:]
if step == "build":
    bloom = BloomFilter(int(count), 1e-6, store)
    with open(old, "rb") as lines: bloom.update(lines)
    bloom.sync()
else:
    bloom = BloomFilter.open(store)
    with open(new, "rb") as lines, open(target, "wb") as out:
        out.writelines(line for line in lines if line not in bloom)
"""
SEEN_DUCKDB = (
    DUCKDB
    + """
step, old, new, target, store, count = sys.argv[1:]
con.execute(f"attach '{store}' as kept; use kept")
if step == "build":
    con.execute(f"create table old as select distinct hash(x) h from {lines(old)}")
else:
    copy(f"select x from {lines(new)} n anti join old on hash(n.x) = old.h", target)
"""
)
SEEN_POLARS = (
    POLARS
    + """
step, old, new, target, store, count = sys.argv[1:]
if step == "build":
    lines(old).select(pl.col("x").hash().alias("h")).unique().sink_parquet(store)
else:
    new = lines(new).with_columns(pl.col("x").hash().alias("h"))
    copy(new.join(pl.scan_parquet(store), on="h", how="anti", maintain_order="left").select("x"), target)
"""
)
STORES = {"rbloom": RBLOOM, "pybloomfiltermmap3": PYBLOOM, "duckdb": SEEN_DUCKDB, "polars": SEEN_POLARS}


def seen(arguments):
    """Find new lines beside all lines before, on one core: saved sets, Bloom filters, anti joins.

    First all old lines, which differ, are put into what each program keeps ("dedup" removes duplicates and keeps
    nothing). Then come new lines, a tenth as many, half of which are old ones. Bloom filters have a false positive rate
    of 1e-6: they lose new lines, and are not right then. DuckDB and Polars keep the hash of a line instead of the line.
    """
    given = options(seen, 10_000_000).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        old, new, target, store = (f"{folder}/{name}" for name in ("old", "new", "target", "seen.set"))
        some = given.lines // 10
        start = given.lines - some // 2
        isolated(write_numbered, old, 0, given.lines)
        isolated(write_numbered, new, start, start + some)
        ours = [*DEDUP, "--kind", "bytes", "-j", "1", "-o", target]
        steps = {
            "build": {"dedup": [*ours, old], "seen": [*ours, old, "--seen", store, "--update"]},
            "ask": {"seen": [*ours, new, "--seen", store], "update": [*ours, new, "--seen", f"{store}.2", "--update"]},
        }
        for step, commands in steps.items():
            for name, code in STORES.items():
                commands[name] = [*PYTHON, code, step, old, new, target, f"{folder}/{name}", str(given.lines)]

            def is_right(name, step=step):
                if step == "build":
                    return name in STORES or os.path.getsize(target) == os.path.getsize(old)
                with open(new, "rb") as lines, open(target, "rb") as made:
                    return set(made) == set(list(lines)[some // 2 :])

            compare(chosen(commands, given), is_right, 1 if step == "build" else given.rounds)
            if os.path.exists(store):
                shutil.copy(store, f"{store}.2")
        sizes = {name: os.path.getsize(f"{folder}/{name}") for name in sorted(os.listdir(folder)) if name in STORES}
        print("bytes:", sizes | {"seen": os.path.exists(store) and os.path.getsize(store)})


def write_numbered(path, start, stop):
    """Write different URLs, one for each number."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"https://example.com/{n * 0x9E3779B97F4A7C15 % 2**64:x}/{n}\n" for n in range(start, stop))


# --- counting ---------------------------------------------------------------------------------------------------------

COUNTER = """
import sys
from uricodec._counting.counter import Counter
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
TOP_DUCKDB = (
    DUCKDB
    + """
copy(f"select count(*) n, x from {lines(sys.argv[1])} group by x order by n desc limit 10", sys.argv[2], "\\t")
"""
)
TOP_POLARS = (
    POLARS
    + """
copy(lines(sys.argv[1]).group_by("x").len().top_k(10, by="len").select("len", "x"), sys.argv[2], "\\t")
"""
)
TOP_SORT = 'sort -S 1G --parallel=1 "$0" | uniq -c | sort -rn -S 64M --parallel=1 | head | sed "s/^ *//;s/ /\\t/" >"$1"'


def counting(arguments):
    """Count lines on one core: the ten most frequent ones.

    The lines are 100,000 addresses of clients, a few of which are frequent, and addresses that all differ. Each output
    has to have the greatest counts, and the lines except for equally frequent ones.
    """
    given = options(counting, 10_000_000).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/source", f"{folder}/target"
        ours = [*DEDUP, "--kind", "bytes", "-j", "1", "--count", "--top", "10", source, "-o", target]
        commands = {
            "Counter": [*PYTHON, COUNTER, source, target, "4G"],
            "Counter, 64M": [*PYTHON, COUNTER, source, target, "64M"],
            "dedup": ours,
            "dedup --memory 64M": [*ours, "--memory", "64M"],
            "duckdb": [*PYTHON, TOP_DUCKDB, source, target],
            "polars": [*PYTHON, TOP_POLARS, source, target],
            "sort, uniq -c, sort -rn, head": ["bash", "-c", TOP_SORT, source, target],
        }
        for title, write in ("100,000 clients", write_clients), ("all different", write_different):
            isolated(write, source, given.lines)
            print(title)
            compare(chosen(commands, given), lambda _: isolated(are_most_common, source, target), given.rounds)


def address(number):
    return ".".join(map(str, number.to_bytes(4, "big"))) + "\n"


def write_clients(path, lines):
    rng = random.Random(7)
    clients = [address(rng.getrandbits(32)) for _ in range(100_000)]
    with open(path, "w", encoding="ascii") as file:
        file.writelines(clients[int(len(clients) * rng.random() ** 2)] for _ in range(lines))


def write_different(path, lines):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(address(number * 2654435761 % 2**32) for number in range(lines))


def are_most_common(source, target):
    with open(source, "rb") as file:
        counts = Counter(line.rstrip(b"\n") for line in file)
    with open(target, "rb") as file:
        found = [line.rstrip(b"\n").split(b"\t") for line in file]
    wanted = sorted(counts.values(), reverse=True)[:10]
    names = {name for _, name in found}
    return [int(count) for count, _ in found] == [counts[name] for _, name in found] == wanted and len(names) == 10
