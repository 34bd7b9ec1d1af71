"""`uricodec dedup` on one core, compared with programs that find equal lines: elapsed and processor time, memory.

    python benchmarks/corpus.py urns 10000000 urns.txt && python benchmarks/dedup.py urns.txt
    python benchmarks/dedup.py urns.txt --rounds 5 --only uricodec,duckdb --json dedup.json

The other programs get normalized lines, because they cannot normalize. Each round runs all programs; the medians are
compared. Every output is checked: normalized and sorted, it equals that of `sort -u`.
"""

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tempfile

import programs

OURS = [sys.executable, "-m", "uricodec", "dedup", "--kind", "urn", "-j", "1"]
DUCKDB = """
import duckdb, sys
con = duckdb.connect()
con.execute("set threads = 1; set enable_progress_bar = false")
con.execute(f'''copy (select distinct x from read_csv('{sys.argv[1]}', header = false, columns = {{'x': 'VARCHAR'}},
    delim = '\\x01', quote = '', escape = '')) to '{sys.argv[2]}' (header false, delimiter '\\x01', quote '')''')
"""
POLARS = """
import polars, sys
lines = polars.read_csv(sys.argv[1], has_header=False, separator="\\x01", quote_char=None, new_columns=["x"])
lines.unique().write_csv(sys.argv[2], include_header=False, quote_style="never")
"""
SET = """
import sys
seen = set()
with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:
    for line in source:
        if line not in seen:
            seen.add(line)
            target.write(line)
"""


def commands(source, normal, target):
    """Return the names and command lines of the programs."""
    return {
        "uricodec": [*OURS, source, "-o", target],
        "uricodec --memory 64M": [*OURS, "--memory", "64M", source, "-o", target],
        "uricodec --exact": [*OURS, "--exact", source, "-o", target],
        "uricodec --level namespace": [*OURS, "--level", "namespace", source, "-o", target],
        "uricodec -j 2": [*OURS, "-j", "2", source, "-o", target],
        "uricodec --count": [*OURS, "--count", source, "-o", target],
        "sort -u": ["sort", "-u", "-S", "1G", "--parallel=1", normal, "-o", target],
        "duckdb": [sys.executable, "-c", DUCKDB, normal, target],
        "polars": [sys.executable, "-c", POLARS, normal, target],
        "set": [sys.executable, "-c", SET, normal, target],
    }


def sorted_forms(path, folder, level="8141"):
    """Return the hash of the sorted normal forms of an output."""
    form = os.path.join(folder, "form")
    normalize = [sys.executable, "-m", "uricodec", "normalize", "--kind", "urn", "--level", level, path, "-o", form]
    subprocess.run(normalize, check=True)
    subprocess.run(["sort", "-u", "-S", "1G", form, "-o", form], check=True, env=dict(os.environ, LC_ALL="C"))
    with open(form, "rb") as file:
        return hash(file.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="names, with commas between them")
    parser.add_argument("--json", help="where to write the figures, for benchmarks/report.py")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        normal, target = os.path.join(folder, "normal"), os.path.join(folder, "target")
        subprocess.run([*OURS[:3], "normalize", "--kind", "urn", arguments.source, "-o", normal], check=True)
        wanted = arguments.only.split(",") if arguments.only else None
        chosen = commands(arguments.source, normal, target)
        chosen = {name: command for name, command in chosen.items() if wanted is None or name in wanted}
        expected = {level: sorted_forms(arguments.source, folder, level) for level in ("8141", "namespace")}

        def is_right(name):
            if "count" in name:
                subprocess.run(["sed", "-i", "s/^[0-9]*\t//", target], check=True)
            level = "namespace" if "namespace" in name else "8141"
            return sorted_forms(target, folder, level) == expected[level]

        rows = programs.compare("dedup.py", chosen, is_right, arguments.rounds)
    if arguments.json:
        versions = {name: importlib.metadata.version(name) for name in ("duckdb", "polars")}
        programs.write(arguments.json, rows, versions)


if __name__ == "__main__":
    main()
