"""URIs (RFC 3986): check, split, join, resolve, normalize, compare and find them.

Texts are str or bytes-like objects; what a function returns of a text is str for a str, bytes for a bytes-like object.
`find` and `extract` take bytes only.

>>> from uricodec import uri
>>> uri.split("http://example.org/?")
Components(scheme='http', authority='example.org', path='/', query='', fragment=None)
>>> uri.check("http://example.org/%zz")
Diagnostic(code='percent', offset=19, message='"%" not followed by two hexadecimal digits at offset 19')
>>> uri.resolve("http://example.org/a/b", "../c"), uri.normalize("HTTP://Example.org/%7ea/../b")
('http://example.org/c', 'http://example.org/b')
"""

from importlib import import_module
from typing import TYPE_CHECKING

from uricodec._base.diagnostics import Diagnostic
from uricodec._search._find import extract, find
from uricodec._url._agreed_host import Host, address_category, agreed_host
from uricodec.uri import _values
from uricodec.uri._components import Components, check, is_valid, relativize, resolve, split, unsplit
from uricodec.uri._equivalence import equivalent, key, normalize, relation, shape
from uricodec.uri._policies import Policy, PolicyStep
from uricodec.uri._redact import SENSITIVE_NAMES, redact, redact_text
from uricodec.uri._repair import explain_repair, repair
from uricodec.uri._values import *  # noqa: F403
from uricodec.uri._with_query import with_query

if TYPE_CHECKING:
    from uricodec._hosts._suffixes import public_suffix as public_suffix
    from uricodec._hosts._suffixes import registrable_domain as registrable_domain
    from uricodec._hosts.sets import HostSet as HostSet
    from uricodec._hosts.sets import ListReport as ListReport
    from uricodec._hosts.sets import PrefixSet as PrefixSet
    from uricodec.uri import legacy_schemes as legacy_schemes
    from uricodec.uri._redacting_filter import RedactingFilter as RedactingFilter

__all__ = [
    "SENSITIVE_NAMES",
    "Components",
    "Diagnostic",
    "Host",
    "HostSet",
    "ListReport",
    "Policy",
    "PolicyStep",
    "PrefixSet",
    "RedactingFilter",
    "address_category",
    "agreed_host",
    "check",
    "equivalent",
    "explain_repair",
    "extract",
    "find",
    "is_valid",
    "key",
    "normalize",
    "public_suffix",
    "redact",
    "redact_text",
    "registrable_domain",
    "relation",
    "relativize",
    "repair",
    "resolve",
    "shape",
    "split",
    "unsplit",
    "with_query",
]
__all__ += _values.__all__


if not TYPE_CHECKING:
    __all__.sort()

    # Imported on first use: what is large, and what builds on this package.
    _MODULES = {
        **dict.fromkeys(("HostSet", "ListReport", "PrefixSet"), "uricodec._hosts.sets"),
        **dict.fromkeys(("public_suffix", "registrable_domain"), "uricodec._hosts._suffixes"),
        "RedactingFilter": "uricodec.uri._redacting_filter",
    }

    def __getattr__(name):
        if name == "legacy_schemes":
            return import_module("uricodec.uri.legacy_schemes")
        if name in _MODULES:
            globals()[name] = found = getattr(import_module(_MODULES[name]), name)
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "legacy_schemes"]
