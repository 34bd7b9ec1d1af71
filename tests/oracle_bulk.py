"""The naive twin of uricodec.bulk: a loop over the rows, with the functions for single values."""

import re
import urllib.parse

from uricodec import iri, percent_decode, requote, uri, urn
from uricodec.errors import UriError


def decoded(row, plus):
    """What unquote's strict reading gives, or what is wrong."""
    if isinstance(row, bytes):
        return urllib.parse.unquote_to_bytes(row.replace(b"+", b" ") if plus else row)
    return percent_decode(row, plus=plus, invalid="error")


def replaced(row, plus):
    return urllib.parse.unquote_plus(row) if plus else urllib.parse.unquote(row)


def framed(line, plus):
    """A line decoded, but for controls; None if it is refused."""
    units = [
        (int(unit[1:], 16) if len(unit) == 3 else ord(unit), len(unit) == 3)
        for unit in re.findall("%[0-9A-Fa-f]{2}|.", line.decode("latin-1"), re.DOTALL)
    ]
    if any(octet == 0x25 and not triplet for octet, triplet in units):
        return None
    try:
        characters = bytes(octet for octet, _ in units).decode()
    except UnicodeDecodeError:
        return None
    found, place = [], 0
    for character in characters:
        size = len(character.encode())
        part, place = units[place : place + size], place + size
        control = ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0
        if control and any(triplet for _, triplet in part):
            found.append(None)
        else:
            found.append(" " if plus and character == "+" and not part[0][1] else character)
    # The spelling of those that stay is that of the line.
    return found, units


def fault_of(check, row, **how):
    found = check(row, **how)
    return None if found is None else {"code": found.code, "offset": found.offset}


SPLIT_URN = ("nid", "nss", "r_component", "q_component", "f_component")
SPLIT_URI = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")


def parts(row, split, names):
    whole = split(row)
    return {name: getattr(whole, name) for name in names}


# name of the operation and its arguments -> what becomes of one row (str or bytes), or an error
ROWS = {
    "quote": lambda row, safe="/", plus=False: (
        urllib.parse.quote_plus(row, safe) if plus else urllib.parse.quote(row, safe)
    ),
    "requote": lambda row, invalid="keep": requote(row, invalid=invalid),
    "unquote": lambda row, plus=False: decoded(row, plus),
    "normalize_urn": lambda row, level="8141", spec=None: urn.normalize(row, level, spec),
    "is_valid_urn": lambda row, spec="8141": urn.is_valid(row, spec),
    "check_urn": lambda row, spec="8141": fault_of(urn.check, row, spec=spec),
    "split_urn": lambda row: parts(row, urn.parse, SPLIT_URN),
    "normalize_uri": lambda row, level="path": uri.normalize(row, level),
    "is_valid_uri": lambda row, production="URI-reference": uri.is_uri(row, production),
    "is_valid_iri": lambda row, production="IRI-reference": iri.is_iri(row, production),
    "check_uri": lambda row, production="URI-reference": fault_of(uri.check, row, production=production),
    "check_iri": lambda row, production="IRI-reference": fault_of(iri.check_iri, row, production=production),
    "split_uri": lambda row: parts(row, uri.split, SPLIT_URI),
    "split_iri": lambda row: parts(row, iri.split, SPLIT_URI),
    "iri_to_uri": lambda row, ascii_ext="error": iri.iri_to_uri(row, ascii_ext=ascii_ext),
    "uri_to_iri": iri.uri_to_iri,
}


def column(name, rows, errors, **how):
    """What becomes of a list, and the rows that are refused: (row, position). The first error with errors="raise"."""
    function = ROWS[name]
    result, refused = [], []
    for number, row in enumerate(rows):
        if row is None:
            result.append(None)
            continue
        try:
            made = function(row, **how)
        except UriError as error:
            refused.append((number, error.position))
            if errors == "raise":
                raise
            made = {
                "keep": lambda row=row: row if not name.startswith("split") else None,
                "null": lambda: None,
                "replace": lambda row=row: replaced(row, how.get("plus", False)),
            }[errors]()
        if isinstance(row, bytes) and isinstance(made, str):
            made = made.encode()
        if isinstance(row, bytes) and isinstance(made, dict) and name.startswith("split"):
            made = {key: value.encode() if isinstance(value, str) else value for key, value in made.items()}
        result.append(made)
    return result, refused
