"""The commands that filter lines or fields: each selects an operation on rows and runs it."""

import os
from functools import partial

from uricodec._codec._rows import DecodeRows, EncodeRows, RequoteRows
from uricodec.cli import lines
from uricodec.cli.errors import CommandError
from uricodec.errors import SetError


def decode(plan, plus, encoding, raw, iri, host):  # noqa: PLR0913, PLR0917
    """Decode percent-encoded lines or fields, or convert URIs to IRIs; see lines.filter_inputs()."""
    if iri:
        from uricodec.iri._conversion import UriToIriRows

        return run(plan, UriToIriRows(host))
    source = lines_of(plan, raw=raw)
    rows = DecodeRows(plus, not raw, None if raw else source.decodable, charset=encoding)
    return run_codec(plan, rows, source, encoding is not None)


def encode(plan, plus, safe, iri, host, disallowed):  # noqa: PLR0913, PLR0917
    """Percent-encode lines or fields, or convert IRIs to URIs; see lines.filter_inputs()."""
    if iri:
        from uricodec.iri._conversion import IriToUriRows

        return run(plan, IriToUriRows(disallowed, host))
    source = lines_of(plan)
    return run_codec(plan, EncodeRows(kept("/" if safe is None else safe, source), plus), source)


def requote(plan, safe):
    """Percent-encode what is not encoded yet in lines or fields; see lines.filter_inputs()."""
    from uricodec._codec._triplets import URI_CHARACTERS

    source = lines_of(plan)
    return run_codec(plan, RequoteRows(kept(URI_CHARACTERS if safe is None else safe, source)), source)


def kept(safe, source):
    """Return the bytes that are not encoded: safe ones, and the terminator of lines."""
    from uricodec._codec._triplets import kept_in_rows

    return kept_in_rows(safe, b"" if source.are_records else source.end)


def run_codec(plan, rows, source, has_encoding=False):
    """Run an operation that can process a long line in pieces; but an encoding is chosen for a line as a whole."""
    in_pieces = plan.errors in ("keep", "replace", "raise") and not has_encoding
    return lines.filter_inputs(lines.Transform(rows, source, in_pieces), plan, plan.errors)


def normalize(plan, kind, level, policy, base, repair, explain, rfc, production):  # noqa: PLR0913, PLR0917
    """Normalize lines or fields; see lines.filter_inputs()."""
    from uricodec._identifier import DEFAULTS

    only, level = plan.get is not None, level or DEFAULTS[kind]
    if kind == "urn":
        from uricodec.urn._rows import NidRows, NormalizeUrnRows

        rows = NormalizeUrnRows(level, rfc)
        rfc = rfc or ("2141" if level == "2141" else "8141")
        source = lines_of(plan, only)
        groups = None if source.are_records else "namespaces"
        transform = lines.Transform(rows, source, groups=groups, group_rows=NidRows(rfc) if plan.stats else None)
        return lines.filter_inputs(transform, plan, errors_of(plan, only))
    from uricodec.uri._policies import production_of
    from uricodec.uri._rows import CheckedRows, CheckWebRows, NormalizeRows, checked

    if repair:
        from uricodec.uri._repair import RepairRows, explain_repair

        rows, production, steps = RepairRows(), None, explain_repair
    else:
        rows, steps = (NormalizeRows(level), None) if policy is None else (policy_rows(policy, base), policy.explain)
        production = production or (None if plan.errors == "keep" else production_of(kind, level, policy))
        production = None if production == "any" else production
        rows = checked(rows, production)
    if explain:
        from uricodec.cli.policies import Explanations

        return lines.filter_inputs(Explanations(steps, rows, production, plan.records.end), plan, plan.errors)
    return run(plan, CheckedRows(CheckWebRows(), rows) if kind == "web" else rows, only)


def policy_rows(policy, base):
    """Return the operation of a policy, with a base if there is one."""
    from uricodec.uri._policies import operation_of

    try:
        return operation_of(policy, base=base)
    except ValueError as error:
        raise CommandError(f"--base: {error}", 2, "such as --policy whatwg; 'resolve' has a base, too") from None


def check(plan, **options):
    """Report invalid lines or fields; see lines.check_inputs()."""
    rows, groups = check_rows(plan.stats, **options)
    return lines.check_inputs(lines.Transform(rows, lines_of(plan, only=True), groups=plan.stats and groups), plan)


def check_rows(names_groups, kind, rfc, rules, production, safe_host):  # noqa: PLR0913, PLR0917
    """Return the operation that checks rows, and what valid ones are counted by.

    Args:
        names_groups (bool): Whether it writes by what each row is counted.
        kind, rfc, rules, production, safe_host: The options of `check`.
    """
    from uricodec.uri._rows import CheckedRows, CheckRows, CheckWebRows, EitherRows, SchemeRows
    from uricodec.urn._rows import CheckUrnRows, NidRows

    if kind == "urn":
        return (NidRows if names_groups else CheckUrnRows)(rfc or "8141", rules), "namespaces"
    if kind == "web":
        rows = CheckWebRows()
    elif kind == "auto" and production is None:
        rows = EitherRows(CheckUrnRows(), CheckRows("uri", "URI-reference", safe_host))
    else:
        syntax = "iri" if kind == "iri" else "uri"
        rows = CheckRows(syntax, production or f"{syntax.upper()}-reference", safe_host)
    return CheckedRows(rows, SchemeRows()) if names_groups else rows, "schemes"


def split(plan, kind, append, csv_safe):
    """Split lines or fields into records of their components; see lines.filter_inputs()."""
    from uricodec.uri._rows import COLUMNS, CheckedRows, CheckRows, CheckWebRows, SplitRows, UriRows

    if plan.get is not None:
        syntax = "iri" if kind == "web" else kind
        rows = CheckedRows(CheckRows(syntax, f"{syntax.upper()}-reference"), UriRows())
        return run(plan, CheckedRows(CheckWebRows(), rows) if kind == "web" else rows, only=True)
    return write_records(plan, COLUMNS, partial(SplitRows, kind), append, csv_safe)


def hosts(plan, append, csv_safe):
    """Write a record of the host of each line or field; see lines.filter_inputs()."""
    from uricodec.uri._rows import HOST_FIELDS, CheckedRows, CheckWebRows, HostRecordRows, UriRows, WebHostRows

    if plan.get is not None:
        return run(plan, CheckedRows(CheckWebRows(**plan.agreed), UriRows()), only=True)
    if plan.to == "text" and not append:
        return run(plan, WebHostRows(**plan.agreed), only=True)
    return write_records(plan, HOST_FIELDS, partial(HostRecordRows, **plan.agreed), append, csv_safe)


def write_records(plan, names, make, append, csv_safe):
    """Run an operation that writes records.

    Args:
        plan (Plan): The plan of the command.
        names (tuple[str, ...]): The fields of a row that is not rejected.
        make (Callable): Returns the operation, given the form, whether CSV is safe, and the delimiter.
        append (bool): Whether the records are added to those of the input.
        csv_safe (bool): Whether CSV is safe.
    """
    if not append:
        transform = lines.Transform(make(plan.to, csv_safe), lines_of(plan, only=True))
    else:
        from uricodec.cli.fields import Values
        from uricodec.uri._rows import record_fields

        delimiter = plan.records.csv_delimiter()
        rows = make("csv" if delimiter else "jsonl", csv_safe, delimiter)
        transform = lines.Transform(rows, Values(plan.records, added=record_fields(names)))
    return lines.filter_inputs(transform, plan, plan.errors)


def resolve(plan, base, base_field):
    """Resolve references against a base, or the base of their record; see lines.filter_inputs()."""
    from uricodec.uri._rows import ResolvePairs, ResolveRows

    return run(plan, ResolvePairs() if base_field is not None else ResolveRows(base), base=base_field)


def redact(plan, names, urls, no_nested, paths):
    """Redact the URLs in lines or fields; see lines.filter_inputs()."""
    from uricodec.uri._redact import RedactRows, RedactTextRows

    watched = ("password", "token") if names == "default" else ()
    rows = (RedactRows if urls else RedactTextRows)(names, not no_nested, paths or (), watched=watched)
    status = run(plan, rows)
    if rows.has_seen:
        plan.note("a parameter password= or token= was left as it is: --names extended redacts it")
    return status


def query(plan, set, space, drop, policy, only):  # noqa: PLR0913, PLR0917
    """Set, drop and keep parameters of queries; see lines.filter_inputs()."""
    from uricodec.uri._with_query import WithQueryRows

    if set is drop is policy is only is None:
        raise CommandError("expected --set, --drop, --policy or --only", 2, "such as --policy tracking")
    if policy:
        if not policy.drop_parameters:
            raise CommandError("--policy: this policy drops no parameters", 2, "such as --policy tracking")
        from uricodec.uri._policies import Policy, operation_of

        return run(plan, operation_of(Policy(level="simple", drop_parameters=policy.drop_parameters)))
    if drop:
        from uricodec.uri._policies import READY

        for name in READY.keys() & {*map(os.fsdecode, drop)}:
            plan.note(f"--drop {name} drops a parameter of this name; --policy {name} drops those of the policy")
    return run(plan, WithQueryRows(set, drop, only, space))


def filter(plan, hosts, prefixes, no_below, invert):
    """Write the lines or records whose URLs match a set of hosts or prefixes; see lines.filter_inputs()."""
    from uricodec._hosts._entries import FilterRows
    from uricodec.cli.sets import load_sets

    sets = load_sets(plan, hosts, prefixes)
    try:
        return run(plan, FilterRows([each._checked() for each in sets], no_below, invert))
    except SetError as error:  # a block of a saved set is checked when it is used
        raise CommandError(str(error), 3) from None


def run(plan, rows, only=False, base=None):
    """Run an operation on lines, or on the values that are selected in records.

    Args:
        plan (Plan): The plan of the command.
        rows (RowOperation): The operation.
        only (bool): Whether each value becomes a line, and nothing else is written.
        base (str | None): The field or member of each record with its base.
    """
    transform = lines.Transform(rows, lines_of(plan, only, base=base))
    return lines.filter_inputs(transform, plan, errors_of(plan, only))


def errors_of(plan, only):
    """Return how invalid lines are handled; where each value becomes a line, nothing can be kept of an invalid one."""
    return "null" if only and plan.errors == "keep" else plan.errors


def lines_of(plan, only=False, raw=False, base=None):
    """Return where the values of a command are: in records, or whole lines (Lines); see run(), and Lines for `raw`."""
    records, jsonl = plan.records, plan.to == "jsonl" and not only
    if records.form == "lines" and not jsonl and not (only and records.end == b"\0"):
        return lines.Lines(records.end, raw=raw)
    from uricodec.cli.fields import Values

    return Values(records, only, jsonl, raw=raw, base=base)
