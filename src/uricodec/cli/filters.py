"""The commands that filter lines or fields: each is an operation of the core on rows."""

import os
import re

from uricodec import ByteSet
from uricodec._codec._rows import NO_CONTROL, DecodeRows, EncodeRows, RequoteRows
from uricodec._rows.reports import visible
from uricodec.cli import lines

# Of a base: it would be one of every line.
CONTROL = re.compile(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]")

# Options that say where the values are, if not whole lines are meant.
FRAMING = ["csv", "delimiter", "fields", "header", "json_field", "jsonl"]


def decode(arguments):
    """Decode percent-encoded lines or fields, or turn URIs into IRIs; see lines.filter_inputs()."""
    if arguments.iri:
        from uricodec.uri._rows import UriToIriRows

        return run(arguments, UriToIriRows(arguments.host))
    plan = plan_of(arguments)
    decodable = None if arguments.raw else plan.decodable if plan else ~ByteSet(b"\0") if arguments.nul else NO_CONTROL
    return run_codec(arguments, plan, DecodeRows(arguments.plus, not arguments.raw, decodable))


def encode(arguments):
    """Percent-encode lines or fields, or turn IRIs into URIs; see lines.filter_inputs()."""
    if arguments.iri:
        from uricodec.uri._rows import IriToUriRows

        return run(arguments, IriToUriRows(arguments.disallowed, arguments.host))
    from uricodec.bytesets import RFC3986_UNRESERVED

    plan = plan_of(arguments)
    safe = RFC3986_UNRESERVED | ("/" if arguments.safe is None else arguments.safe)
    return run_codec(arguments, plan, EncodeRows(safe if plan else safe | terminator_of(arguments), arguments.plus))


def requote(arguments):
    """Percent-encode what is not encoded yet in lines or fields; see lines.filter_inputs()."""
    from uricodec._codec._triplets import URI_CHARACTERS
    from uricodec.bytesets import RFC3986_UNRESERVED

    plan = plan_of(arguments)
    safe = URI_CHARACTERS if arguments.safe is None else RFC3986_UNRESERVED | arguments.safe
    return run_codec(arguments, plan, RequoteRows(safe if plan else safe | terminator_of(arguments)))


def run_codec(arguments, plan, rows):
    """Run an operation of which a long line can be done in pieces."""
    if plan:
        from uricodec.cli import fields

        return lines.filter_inputs(fields.Values(plan, rows), arguments)
    in_pieces = arguments.errors in ("keep", "replace", "raise")
    raw = getattr(arguments, "raw", False)
    return lines.filter_inputs(lines.Rows(rows, terminator_of(arguments), raw, in_pieces), arguments)


def normalize(arguments):
    """Normalize lines or fields; see lines.filter_inputs()."""
    if arguments.kind == "urn":
        from uricodec.urn._rows import NidRows, NormalizeUrnRows

        rows = NormalizeUrnRows(arguments.level, arguments.spec)
        spec = arguments.spec or ("2141" if arguments.level == "2141" else "8141")
        return run(arguments, rows, "namespaces", NidRows(spec) if arguments.stats else None)
    from uricodec.uri._rows import CheckedRows, NormalizeRows

    rows = NormalizeRows(arguments.level)
    if arguments.production:
        rows = CheckedRows(arguments.kind, arguments.production, rows)
    return run(arguments, rows)


def check(arguments):
    """Write what is wrong with lines or fields; see lines.check_inputs()."""
    if arguments.kind == "urn":
        from uricodec.urn._rows import CheckUrnRows, NidRows

        groups, rows = "namespaces", (NidRows if arguments.stats else CheckUrnRows)(arguments.spec)
    else:
        from uricodec.uri._rows import CheckedRows, CheckRows, SchemeRows

        groups, rows = "schemes", CheckRows(arguments.kind, arguments.production)
        if arguments.stats:
            rows = CheckedRows(arguments.kind, arguments.production, SchemeRows())
    plan = plan_of(arguments, only=True)
    if plan:
        from uricodec.cli import fields

        worker = fields.Values(plan, rows)
    else:
        worker = lines.Rows(rows, terminator_of(arguments))
    if arguments.stats:
        worker.groups = groups
    return lines.check_inputs(worker, arguments)


def split(arguments):
    """Split lines or fields into records of their components; see lines.filter_inputs()."""
    from uricodec.uri._rows import SplitRows

    if arguments.csv_safe and arguments.format != "csv":
        arguments.refuse("argument --csv-safe: not allowed without --format csv")
    rows = SplitRows(arguments.kind, arguments.format, arguments.csv_safe)
    return run(arguments, rows, only=True)


def resolve(arguments):
    """Resolve references against a base; see lines.filter_inputs()."""
    from uricodec.errors import UriSyntaxError
    from uricodec.uri._rows import ResolveRows

    base = os.fsencode(arguments.base)
    if CONTROL.search(base):
        arguments.refuse("argument --base: a control character")
    try:
        rows = ResolveRows(base)
    except UriSyntaxError as error:
        arguments.refuse(f"argument --base: {error.reason}: {visible(base)}")
    return run(arguments, rows)


def run(arguments, rows, groups=None, group_rows=None, only=False):
    """Run an operation on lines, or on the fields that are asked for."""
    plan = plan_of(arguments, only)
    if plan:
        from uricodec.cli import fields

        return lines.filter_inputs(fields.Values(plan, rows), arguments)
    return lines.filter_inputs(
        lines.Rows(rows, terminator_of(arguments), groups=groups, group_rows=group_rows), arguments
    )


def plan_of(arguments, only=False):
    """Return where the fields are that are asked for, or None: whole lines are.

    Args:
        arguments (argparse.Namespace): With the options of framing.
        only (bool): Whether each value becomes a line, and nothing else is written.

    Returns:
        fields.Plan | None: The plan.
    """
    options = [*FRAMING, "nul"] if only else FRAMING
    if all(getattr(arguments, name, None) in (None, False) for name in options):
        return None
    from uricodec.cli import fields

    return fields.plan(arguments, only)


def terminator_of(arguments):
    return b"\0" if arguments.nul else b"\n"
