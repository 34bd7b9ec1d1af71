"""Hosts beyond ASCII in keys that other packages define by functions of Python. _keys.pyx calls them."""

from __future__ import annotations

import re

_LONGEST = 1024  # bytes of a host that is converted to A-labels
_LONGEST_NAME = 253  # bytes of a domain name


def w3lib_host(authority: bytes, start: int, end: int) -> bytes | None:
    """Return the host authority[start:end] as w3lib writes it; None if the authority is rejected."""
    from uricodec._url._characters import composed

    def text(part: bytes) -> str:
        """Decode UTF-8; triplets stand for other bytes."""
        escapes = part.decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", lambda found: f"%{ord(found[0]) - 0xDC00:02X}", escapes)

    cleaned = re.sub("[@:#?]", "", text(authority))
    normal = composed(cleaned, compatible=True)
    if normal != cleaned and re.search(r"[/?#@:\\]", normal):
        return None
    name, percent, zone = text(authority[start:end]).partition("%")
    host = name.lower() + percent + zone
    if not host.isascii() and end - start <= _LONGEST:
        try:
            labels = composed(host, compatible=True).encode("idna")
        except UnicodeError:
            return host.lower().encode()
        if len(labels) <= _LONGEST_NAME:
            return labels.lower()
    return host.lower().encode()
