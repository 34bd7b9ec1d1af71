"""URIs (RFC 3986): checked, taken apart and put together.

    from uricodec import uri

What is named here is compiled. All functions take a str or bytes-like, and give back what came in: bytes for a
bytes-like.

>>> split("http://example.org/?")
Components(scheme='http', authority='example.org', path='/', query='', fragment=None)
>>> check("http://example.org/%zz")
Fault(code='percent', offset=19)
"""

from uricodec._core._uri import Components, Fault, check, is_uri, split, unsplit

__all__ = ["Components", "Fault", "check", "is_uri", "split", "unsplit"]
