"""The commands over URIs and IRIs, one a line: each is an operation of the core on rows."""

import os
import re

from uricodec._core._row_lines import transform_lines
from uricodec._core._uri_operations import (
    CheckedRows,
    CheckRows,
    IriToUriRows,
    NormalizeRows,
    ResolveRows,
    SchemeRows,
    SplitRows,
    UriToIriRows,
)
from uricodec._files import streams
from uricodec.cli import fields, lines
from uricodec.errors import UriSyntaxError

# Of a base: it would be one of every line.
CONTROL = re.compile(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]")


def normalize(arguments):
    """Normalize the lines of all inputs; see lines.filter_inputs()."""
    rows = NormalizeRows(arguments.level)
    if arguments.production:
        rows = CheckedRows(arguments.kind, arguments.production, rows)
    return lines.filter_inputs(worker(arguments, rows), arguments)


def check(arguments):
    """Write what is wrong with the lines of all inputs; see lines.check_inputs()."""
    if arguments.stats:
        rows = CheckedRows(arguments.kind, arguments.production, SchemeRows())
    else:
        rows = CheckRows(arguments.kind, arguments.production)
    if fields.wanted(arguments):
        plan = fields.plan(arguments, only=True)
        checker = fields.Values(plan, rows, None, "schemes" if arguments.stats else None, bytes.splitlines)
    else:
        checker = (Schemes if arguments.stats else Rows)(rows)
    return lines.check_inputs(checker, arguments)


def split(arguments):
    """Split the lines of all inputs into records; see lines.filter_inputs()."""
    if arguments.csv_safe and arguments.format != "csv":
        arguments.refuse("argument --csv-safe: not allowed without --format csv")
    rows = SplitRows(arguments.kind, arguments.format, arguments.csv_safe)
    records = fields.Values(fields.plan(arguments, only=True), rows) if fields.wanted(arguments) else Records(rows)
    return lines.filter_inputs(records, arguments)


def resolve(arguments):
    """Resolve the lines of all inputs; see lines.filter_inputs()."""
    base = os.fsencode(arguments.base)
    if CONTROL.search(base):
        arguments.refuse("argument --base: a control character")
    try:
        rows = ResolveRows(base)
    except UriSyntaxError as error:
        arguments.refuse(f"argument --base: {error.reason}: {lines.visible(base)}")
    return lines.filter_inputs(worker(arguments, rows), arguments)


def encode(arguments):
    """Turn the IRIs of all inputs into URIs; see lines.filter_inputs()."""
    return lines.filter_inputs(worker(arguments, IriToUriRows(arguments.ascii_ext, arguments.host)), arguments)


def decode(arguments):
    """Turn the URIs of all inputs into IRIs; see lines.filter_inputs()."""
    return lines.filter_inputs(worker(arguments, UriToIriRows(arguments.host)), arguments)


def worker(arguments, rows):
    """What does an operation with lines, or with the values that are asked for."""
    return fields.Values(fields.plan(arguments), rows) if fields.wanted(arguments) else Rows(rows)


class Rows(lines.Worker):
    """Lines as rows of an operation.

    Args:
        rows (RowOperation): The operation.
    """

    def __init__(self, rows):
        self._rows = rows
        self._room = bytearray(2 * streams.CHUNK)

    def work(self, octets, errors, limit):
        read = 0
        while not read:
            read, found = transform_lines(octets, self._room, self._rows, b"\n", errors, limit)
            if not read:  # there is no room for the first line
                size = bytes(octets).find(b"\n") + 1 or len(octets)
                self._room = bytearray(self._rows.room(size))
        return read, found, memoryview(self._room)[: found.written]


class Records(Rows):
    """Lines as records of their components.

    Args:
        rows (SplitRows): The operation.
    """

    def __init__(self, rows):
        super().__init__(rows)
        self.header = rows.header
        self.record = rows.record


class Schemes(Rows):
    """Lines of which nothing is left but the scheme, to count them.

    Args:
        rows (RowOperation): What leaves it.
    """

    groups = "schemes"

    def group(self, octets, found):
        """The schemes; nothing for a line without one."""
        schemes = bytes(memoryview(self._room)[: found.written]).splitlines()
        return schemes + (found.lines - found.invalid - len(schemes)) * [b""]  # the last line may lack its end
