"""The reference implementation of values in URLs: the expression of RFC 3986 appendix B, on bytes."""

import re

from reference.codec import decode

# RFC 3986 appendix B; "." is any byte.
COMPONENTS = re.compile(rb"^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?", re.DOTALL)
SUBCOMPONENTS = re.compile(rb"(?P<host>\[[^]]*\]?|[^:]*)[^:]*(:(?P<port>.*))?", re.DOTALL)


def as_text(value, text):
    """A value as UTF-8, with U+FFFD for what is not."""
    return value.decode("utf-8", "replace").encode() if text and value is not None else value


def subcomponent(row, name):
    authority = COMPONENTS.match(row)[4]
    return None if authority is None else SUBCOMPONENTS.fullmatch(authority.rpartition(b"@")[2])[name]


def host(row, text):
    return as_text(subcomponent(row, "host"), text)


def port(row, text):
    return as_text(subcomponent(row, "port"), text)


def split(row):
    """The components of any text: scheme, authority, userinfo, host, port, path, query, fragment."""
    found = COMPONENTS.match(row)
    userinfo, at, _ = (found[4] or b"").rpartition(b"@")
    parts = userinfo if at else None, subcomponent(row, "host"), subcomponent(row, "port")
    return found[2], found[4], *parts, found[5], found[7], found[9]


def query_pairs(row, text):
    """The names and values of a query, decoded."""
    pairs = [pair.partition(b"=") for pair in (COMPONENTS.match(row)[7] or b"").split(b"&") if pair]
    return [tuple(as_text(decode(part, plus=True), text) for part in (name, value)) for name, _, value in pairs]


def query_value(row, text, name):
    """The first value of a name; of several names, a tuple."""
    found = dict(query_pairs(row, text)[::-1])
    return found.get(name.encode()) if isinstance(name, str) else tuple(found.get(each.encode()) for each in name)
