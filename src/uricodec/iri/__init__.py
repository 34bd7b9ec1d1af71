"""IRIs (RFC 3987): check, split and join them, and convert them to and from URIs.

Texts are str or bytes-like objects (UTF-8); what a function returns of a text is str for a str, bytes for a bytes-like
object.

>>> from uricodec import iri
>>> iri.split("http://example.org/é")
Components(scheme='http', authority='example.org', path='/é', query=None, fragment=None)
>>> iri.check("http://example.org/\ue000")
Diagnostic(code='private', offset=19, message='private-use character outside the query at offset 19')
>>> iri.iri_to_uri("http://example.org/é%20"), iri.uri_to_iri("http://example.org/%c3%a9%20")
('http://example.org/%C3%A9%20', 'http://example.org/é%20')
"""

from uricodec._base.diagnostics import Diagnostic
from uricodec.iri._conversion import iri_to_uri, uri_to_iri
from uricodec.uri._components import Components
from uricodec.uri._components import check_iri as check
from uricodec.uri._components import is_valid_iri as is_valid
from uricodec.uri._components import split_iri as split
from uricodec.uri._components import unsplit_iri as unsplit

__all__ = ["Components", "Diagnostic", "check", "iri_to_uri", "is_valid", "split", "unsplit", "uri_to_iri"]


def __dir__() -> list[str]:
    return __all__
