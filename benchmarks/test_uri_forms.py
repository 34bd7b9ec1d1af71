"""Normalize and resolve URIs, per call: all distinct.

urllib.parse has no normal form: `normalize` is compared with a combination of its functions, on well-formed input.

python -m pytest benchmarks
"""

import re
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

import ada_url
import can_ada
import pytest
import uritools
from data import Library, cases, columns, many, reference, url
from yarl import URL

from uricodec import uri


def untidy(rng):
    """Return a URL that every level changes."""
    scheme, _, rest = url(rng).partition("://")
    host, _, path = rest.partition("/")
    return f"{scheme.upper()}://{host.title()}/./%7e{rng.randrange(1000)}/../{path.replace('%20', '%2d')}"


UNRESERVED = re.compile("%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)", re.IGNORECASE)


def normal(text):
    parts = urlsplit(UNRESERVED.sub(lambda triplet: unquote(triplet[0]), text))
    return urlunsplit(parts._replace(netloc=parts.netloc.lower(), path=urljoin("/", parts.path)))


LIBRARIES = {
    "normalize": {
        "urllib.parse": Library(normal),
        "uricodec": Library(uri.normalize),
        "uricodec, level scheme": Library(lambda text: uri.normalize(text, "scheme")),
        "uricodec, level iri": Library(lambda text: uri.normalize(text, "iri")),
        "yarl": Library(URL, result=str),
        "ada-url": Library(ada_url.normalize_url),
        "can_ada": Library(lambda text: can_ada.parse(text).href),
    },
    "resolve": {
        "urllib.parse": Library(urljoin),
        "uricodec": Library(uri.resolve),
        "uritools": Library(uritools.urijoin),
        "ada-url": Library(ada_url.join_url),
    },
}
INPUTS = {
    "normalize": {"distinct URLs": [many(url)], "untidy URLs": [many(untidy)]},
    "resolve": {"distinct": columns(many(reference))},
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS, LIBRARIES))
def test_uri_forms(measure, function, kind, library):
    measure(function, kind, library, INPUTS[function][kind], LIBRARIES[function])
