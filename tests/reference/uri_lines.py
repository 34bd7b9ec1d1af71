"""What operations do with one line of URIs or IRIs, by the functions for single values."""

import json
import re

from uricodec import iri, uri
from uricodec.errors import UriError

COLUMNS = ["scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"]


class Refused(Exception):
    """What a row is refused for."""

    def __init__(self, code, offset):
        super().__init__(code, offset)
        self.code, self.offset = code, offset


def copy(row):
    return row


def checked(kind, production):
    def function(row):
        fault = uri.check(row, production) if kind == "uri" else iri.check_iri(row, production)
        if fault:
            raise Refused(*fault)
        return b""

    return function


def guarded(function, operation):
    """A function that raises, as one that refuses."""

    def guard(row):
        try:
            return function(row)
        except UriError as error:
            known = error.reason in operation.reasons
            code = operation.code_names[operation.reasons.index(error.reason)] if known else "host"
            raise Refused(code, error.position) from None

    return guard


def of_text(function):
    """A function that takes any bytes, as one whose results are text."""

    def convert(row):
        made = function(row)
        try:
            row.decode()
        except UnicodeDecodeError as error:
            raise Refused("utf-8", error.start) from None
        return made

    return convert


def both(first, then):
    return lambda row: first(row) + then(row)


def scheme(row):
    found = re.match(rb"([A-Za-z][A-Za-z0-9+.-]*):", row)
    return found[1].lower() if found else b""


def components(kind, row):
    found = (uri if kind == "uri" else iri).split(row)
    return [getattr(found, column) for column in COLUMNS]


def to_json(row, kind):
    values = [None if value is None else value.decode() for value in components(kind, row)]
    return json.dumps(dict(zip(COLUMNS, values, strict=True)), ensure_ascii=False, separators=(",", ":")).encode()


def to_csv(row, kind):
    return b",".join(b"" if value is None else b'"%s"' % value for value in components(kind, row)) + b",,"


def to_safe_csv(row, kind):
    """With an apostrophe before what a spreadsheet would run."""
    values = [None if value is None else value.decode() for value in components(kind, row)]
    safe = [value and re.sub("^(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])", "'", value) for value in values]
    return ",".join("" if value is None else f'"{value}"' for value in safe).encode() + b",,"


def json_record(code, offset):
    return json.dumps(dict.fromkeys(COLUMNS) | {"error": code, "offset": offset}, separators=(",", ":")).encode()


def csv_record(code, offset):
    return b",,,,,,,,%s,%d" % (code.encode(), offset)
