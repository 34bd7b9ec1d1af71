"""URIs brought into normal form, compared and resolved, per call: all distinct.

urllib.parse has no normal form: beside `normalize` and `key` it takes URLs apart and puts them together.

python -m pytest benchmarks --benchmark-json=bench.json && python benchmarks/report.py bench.json
"""

import urllib.parse

import ada_url
import pytest
import uritools
from data import Library, cases, columns, many, real, reference, url
from yarl import URL

from uricodec import uri


def untidy(rng):
    """A URL in which every level has something to do."""
    scheme, _, rest = url(rng).partition("://")
    host, _, path = rest.partition("/")
    return f"{scheme.upper()}://{host.title()}/./%7e{rng.randrange(1000)}/../{path.replace('%20', '%2d')}"


def unchecked(call):
    return Library(call, result=None)


def split_and_unsplit(text):
    return urllib.parse.urlunsplit(urllib.parse.urlsplit(text))


def urljoin_relative(base, target):
    """Nothing in urllib.parse finds the reference to a target."""
    return urllib.parse.urljoin(base, target)


NORMAL = {
    "urllib.parse": unchecked(split_and_unsplit),
    "uricodec": unchecked(uri.normalize),
    "uricodec, level scheme": unchecked(lambda text: uri.normalize(text, "scheme")),
    "uricodec, level iri": unchecked(lambda text: uri.normalize(text, "iri")),
    "yarl": unchecked(lambda text: str(URL(text))),
    "ada-url": unchecked(ada_url.normalize_url),
}
LIBRARIES = {
    "normalize": NORMAL,
    "resolve": {
        "urllib.parse": Library(urllib.parse.urljoin),
        "uricodec": Library(uri.resolve),
        "uritools": Library(uritools.urijoin),
        "ada-url": Library(ada_url.join_url),
    },
    "relativize": {"urllib.parse": unchecked(urljoin_relative), "uricodec": unchecked(uri.relativize)},
}
URLS = [many(url)]
INPUTS = {
    "normalize": {
        "distinct URLs": URLS,
        "untidy URLs": [many(untidy)],
        "real URLs": [real("urls_ada_node_files.txt")],
    },
    "resolve": {"distinct": columns(many(reference))},
    "relativize": {"distinct": [*URLS, *URLS[::-1]]},
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS, LIBRARIES))
def test_uri_forms(measure, function, kind, library):
    measure(function, kind, library, INPUTS[function][kind], LIBRARIES[function])
