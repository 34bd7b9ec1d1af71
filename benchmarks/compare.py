"""Compare uricodec with programs and libraries that do the same, all outputs checked.

    python benchmarks/compare.py SUBJECT [OPTIONS]
    python benchmarks/compare.py SUBJECT --help

Lines and files:  dedup, parquet, seen, counting (lines.py)  logs (logs.py)  spark (spark.py)
In one process:   urls (urls.py)  host_sets (host_sets.py)  drop_in (drop_in.py)  sizes (sizes.py: uricodec alone)

They need the group `bench` of pyproject.toml, the extras arrow, duckdb and polars, and what --help says. All make their
inputs, the same in each run; default sizes take minutes. Compare on an otherwise idle machine: processor times stand
beside elapsed ones. The functions themselves, call by call, are measured by `python -m pytest benchmarks`, two builds
by `benchmarks/alternate`.
"""

import importlib
import sys

SUBJECTS = {
    "dedup": "lines",
    "parquet": "lines",
    "seen": "lines",
    "counting": "lines",
    "logs": "logs",
    "spark": "spark",
    "urls": "urls",
    "host_sets": "host_sets",
    "drop_in": "drop_in",
    "sizes": "sizes",
}

if __name__ == "__main__":
    subject = sys.argv[1] if len(sys.argv) > 1 else ""
    if subject not in SUBJECTS:
        sys.exit(__doc__)
    getattr(importlib.import_module(SUBJECTS[subject]), subject)(sys.argv[2:])
