"""The examples of log formats, and their records, which were checked against the documentation of the products."""

from pathlib import Path

ROOT = Path(__file__).parents[2]

EXPECTED = {}  # name of a format -> its records, as JSON
for _line in (ROOT / "tests/data/log_samples.tsv").read_text("utf-8").splitlines():
    _name, _, _record = _line.partition("\t")
    EXPECTED.setdefault(_name, []).append(_record)
