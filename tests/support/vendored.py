"""Test data of others: tests/data/wpt and tests/data/idna."""

import gzip
import json
from functools import cache
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"


@cache
def cases(path):
    """Return the cases of a file of the web platform tests, such as "wpt/urltestdata"; the others are comments."""
    rows = json.loads(gzip.decompress(DATA.joinpath(f"{path}.json.gz").read_bytes()))
    return [row for row in rows if isinstance(row, dict)]


def scalar(text):
    """Return a string as browsers take it: U+FFFD for lone surrogates, but pairs are characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def web_inputs():
    """Return the URLs and bases of the web platform tests, without surrogates."""
    rows = cases("wpt/urltestdata")
    return list(dict.fromkeys(scalar(text) for row in rows for text in (row["input"], row["base"]) if text is not None))
