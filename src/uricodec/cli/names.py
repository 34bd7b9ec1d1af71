"""`uricodec normalize` and `uricodec check` for URNs."""

import re

from uricodec._core._urn_lines import check_lines, normalize_lines
from uricodec._files import streams
from uricodec.cli import fields, lines

# What level "functional" changes in lines of level "namespace", which is the highest that the core has for lines.
ISBN_10 = re.compile(rb"urn:isbn:[0-9]{9}[0-9X](?=\r?$)", re.MULTILINE)

find_nids = re.compile(rb"^...:([^:]+)", re.MULTILINE).findall


def normalize(arguments):
    """Normalize the lines of all inputs; see lines.filter_inputs().

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0
    """
    if fields.wanted(arguments):
        from uricodec import urn  # noqa: F401  (brings the rules of namespaces)
        from uricodec._core._urn_rows import NormalizeUrnRows

        rows = NormalizeUrnRows(arguments.level, arguments.spec)
        return lines.filter_inputs(fields.Values(fields.plan(arguments), rows), arguments)
    return lines.filter_inputs(Normalizer(arguments.level, arguments.spec), arguments)


def check(arguments):
    """Write what is wrong with the lines of all inputs; see lines.check_inputs().

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0 if every line is valid, else 1.
    """
    if fields.wanted(arguments):
        from uricodec._core._urn_rows import NormalizeUrnRows

        rows = NormalizeUrnRows("bytes", arguments.spec)
        values = fields.Values(fields.plan(arguments, only=True), rows, None, "namespaces", find_nids)
        return lines.check_inputs(values, arguments)
    return lines.check_inputs(Checker(arguments.spec), arguments)


class Checker(lines.Worker):
    """URNs checked.

    Args:
        spec (str): By which they are read: "2141", "8141" or "any".
    """

    groups = "namespaces"

    def __init__(self, spec):
        self._spec = spec
        self._room = bytearray(lines.ROOM * streams.CHUNK)

    def work(self, octets, errors, limit):
        if len(octets) > len(self._room):
            self._room = bytearray(len(octets))
        found = self._work(octets, errors, limit)
        size = len(octets)
        if limit and found.invalid > limit:
            last = found.faults[-1].start
            while octets[last] != 0x0A:
                last += 1
            size = last + 1
            found = self._work(octets[:size], errors, limit)
        return size, found, self._written(found)

    def _work(self, octets, _errors, limit):
        return check_lines(octets, b"\n", self._spec, limit)

    def _written(self, _found):
        return b""

    def group(self, octets, found):
        """Their NIDs."""
        if found.invalid:
            room = bytearray(len(octets))  # what stands in _room is still to be written
            valid = normalize_lines(octets, room, b"\n", "bytes", self._spec, "drop", 0)
            octets = memoryview(room)[: valid.written]
        return find_nids(octets)


class Normalizer(Checker):
    """URNs in normal form.

    Args:
        level (str): "bytes", "2141", "8141", "namespace" or "functional".
        spec (str | None): By which they are read; None: that of the level.
    """

    def __init__(self, level, spec):
        super().__init__(spec or ("2141" if level == "2141" else "8141"))
        self._level = level
        if level in ("namespace", "functional"):
            from uricodec import urn  # takes longer to import than all the rest; it brings the rules of namespaces

            self._normalize_one = urn.normalize

    def _work(self, octets, errors, limit):
        level = "namespace" if self._level == "functional" else self._level
        return normalize_lines(octets, self._room, b"\n", level, self._spec, errors, limit)

    def _written(self, found):
        written = memoryview(self._room)[: found.written]
        return ISBN_10.sub(self._to_isbn_13, written) if self._level == "functional" else written

    def _to_isbn_13(self, found):
        start = found.start()
        is_line = start == 0 or found.string[start - 1] == 0x0A
        return self._normalize_one(found[0], "functional") if is_line else found[0]
