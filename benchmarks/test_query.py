"""Build and parse query strings, per call.

python -m pytest benchmarks
"""

from urllib.parse import parse_qsl, urlencode

import pytest
from data import LIBRARIES, cases, cjk, english, many, pairs, query, real

REAL = real("query_strings.txt")
QUERIES = {
    "60 B": [many(query, 60)],
    "2 KB": [many(query, 2048, count=200)],
    "CJK, 4 pairs": [list(map(urlencode, many(pairs, cjk)))],
    "real": [REAL],
}

INPUTS = {
    "urlencode": {
        "4 pairs": [many(pairs, english)],
        "CJK, 4 pairs": [many(pairs, cjk)],
        "real": [list(filter(None, map(parse_qsl, REAL)))],
    },
    "parse_qsl": QUERIES,
    "parse_qs": QUERIES,
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS))
def test_query(measure, function, kind, library):
    measure(function, kind, library, INPUTS[function][kind], LIBRARIES[function])
