"""Split, unsplit and resolve URLs, per call: distinct ones, and the same one repeatedly.

python -m pytest benchmarks
"""

from urllib.parse import urlsplit

import pytest
from data import COUNT, LIBRARIES, cases, columns, many, real, reference, url

URLS = {"distinct URLs": [many(url)], "real URLs": [real("urls_ada_node_files.txt")]}
SPLIT = URLS | {"one URL": [many(url, count=1) * COUNT]}

INPUTS = {
    "urlsplit": SPLIT,
    "urlparse": SPLIT,
    "urlunsplit": {kind: [list(map(urlsplit, urls))] for kind, [urls] in URLS.items()},
    "urljoin": {
        "distinct": columns(many(reference)),
        "real": columns(line.split(",", 1) for line in real("urls_cc_base_relative.csv")),
    },
    "urldefrag": URLS,
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS))
def test_split(measure, function, kind, library):
    measure(function, kind, library, INPUTS[function][kind], LIBRARIES[function])
