"""The reference implementation of deduplication by a field: records and their values, byte by byte, and a dict."""

import json
from collections import Counter

from reference import urn


def csv_records(data, delimiter=b","):
    """Each record with its terminator, and its values: all None if a quote in it is never closed."""
    i = 0
    while i < len(data):
        start, values = i, []
        while True:
            first, value, closed = i, b"", True
            if data.startswith(b'"', i):
                i, closed = i + 1, False
                while i < len(data) and not closed:
                    closed = data[i : i + 1] == b'"' != data[i + 1 : i + 2]
                    value += b"" if closed else data[i : i + 1]
                    i += 2 if data.startswith(b'""', i) and not closed else 1
            while i < len(data) and data[i : i + 1] not in (delimiter, b"\n"):
                value += data[i : i + 1]
                i += 1
            last = not data.startswith(delimiter, i)
            if last and i > first and data[i - 1 : i] == b"\r":
                value = value[:-1]
            values.append(value if closed else None)
            i += 1
            if last:
                break
        record = data[start:i]
        if values[-1] is None:
            values = [None] * len(values)
        yield record, values if bare(record) else []  # an empty line is not a record with an empty field


def json_records(data, name):
    """The values are strings of the member; None if the record cannot be read."""
    for line in data.splitlines(keepends=True):
        try:
            pairs = json.loads(line, object_pairs_hook=lambda pairs: pairs)
            members = [value for key, value in pairs if key == name]
            found = [text for value in members for text in (value if isinstance(value, list) else [value])]
            yield line, [text.encode() for text in found if isinstance(text, str)]
        except (ValueError, TypeError):
            yield line, [None]


def bare(record):
    """A record without its terminator."""
    return record[:-1].removesuffix(b"\r") if record.endswith(b"\n") else record.removesuffix(b"\r")


class Reference:
    """The first record with each identifier, and how often it occurs.

    `records` are pairs of a record and its values; the identifier is the value numbered `at`, or the only one if None.
    """

    def __init__(self, records, at=None, kind="bytes", errors="keep", exclude=()):
        self.first, self.counts, self.invalid, self.rows = {}, Counter(), 0, 0
        known = set(Reference(exclude, at, kind, errors).first) if exclude else set()
        for record, values in records:
            chosen = values if at is None else values[at : at + 1]
            name, valid = self.name_of(record, chosen, kind)
            self.rows += 1
            self.invalid += not valid
            if name not in known and (valid or errors == "keep"):
                self.counts[name] += 1
                self.first.setdefault(name, record.removesuffix(b"\n"))

    @staticmethod
    def name_of(record, values, kind):
        if len(values) != 1 or values[0] is None:
            return ("record", bare(record)), False
        if kind != "urn":
            return values[0], True
        valid = urn.is_valid(values[0])
        return urn.normalize(values[0]) if valid else values[0], valid

    def output(self, report="unique", separator=b"\t"):
        for name, record in self.first.items():
            if report == "counts":
                yield b"%d%s%s\n" % (self.counts[name], separator, record)
            elif report == "unique" or self.counts[name] > 1:
                yield record + b"\n"
