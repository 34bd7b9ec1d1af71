"""The commands that filter lines or fields: each selects an operation on rows and runs it."""

from functools import partial

from uricodec import ByteSet
from uricodec._codec._rows import NO_CONTROL, DecodeRows, EncodeRows, RequoteRows
from uricodec.cli import lines
from uricodec.cli.errors import CommandError
from uricodec.errors import SetError

# The options that select values in records instead of whole lines.
FIELDS = ["csv", "fields", "json_field"]

DEFAULT_LEVELS = {"urn": "8141", "uri": "path", "iri": "iri", "web": "scheme"}


def decode(arguments):
    """Decode percent-encoded lines or fields, or convert URIs to IRIs; see lines.filter_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    if arguments.iri:
        from uricodec.uri._rows import UriToIriRows

        return run(arguments, UriToIriRows(arguments.host))
    values = selected_values(arguments)
    lines_decodable = ~ByteSet(b"\0") if arguments.null_data else NO_CONTROL
    decodable = None if arguments.raw else values.decodable if values else lines_decodable
    rows = DecodeRows(arguments.plus, not arguments.raw, decodable, charset=arguments.encoding)
    return run_codec(arguments, values, rows)


def encode(arguments):
    """Percent-encode lines or fields, or convert IRIs to URIs; see lines.filter_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    if arguments.iri:
        from uricodec.uri._rows import IriToUriRows

        return run(arguments, IriToUriRows(arguments.disallowed, arguments.host))
    from uricodec._codec._triplets import kept_in_rows

    values = selected_values(arguments)
    safe = kept_in_rows("/" if arguments.safe is None else arguments.safe, b"" if values else terminator_of(arguments))
    return run_codec(arguments, values, EncodeRows(safe, arguments.plus))


def requote(arguments):
    """Percent-encode what is not encoded yet in lines or fields; see lines.filter_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    from uricodec._codec._triplets import URI_CHARACTERS, kept_in_rows

    values = selected_values(arguments)
    safe = URI_CHARACTERS if arguments.safe is None else arguments.safe
    return run_codec(arguments, values, RequoteRows(kept_in_rows(safe, b"" if values else terminator_of(arguments))))


def parquet(arguments, sets=None):
    """Run a command on columns of Parquet files."""
    from uricodec.cli.parquet import run

    return run(arguments, sets)


def run_codec(arguments, values, rows):
    """Run an operation that can process a long line in pieces."""
    # An encoding is chosen for a line as a whole.
    in_pieces = arguments.errors in ("keep", "replace", "raise") and arguments.encoding is None
    return lines.filter_inputs(transform_of(arguments, values, rows, raw=arguments.raw, in_pieces=in_pieces), arguments)


def normalize(arguments):
    """Normalize lines or fields; see lines.filter_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    only, keeps = arguments.get is not None, arguments.errors == "keep"
    if only and keeps:
        arguments.errors = "null"
    kind, level, rfc = arguments.kind, arguments.level or DEFAULT_LEVELS[arguments.kind], arguments.rfc
    if kind == "urn":
        from uricodec.urn._rows import NidRows, NormalizeUrnRows

        rows = NormalizeUrnRows(level, rfc)
        rfc = rfc or ("2141" if level == "2141" else "8141")
        return run(arguments, rows, "namespaces", NidRows(rfc) if arguments.stats else None, only)
    from uricodec.uri._policies import checked, operation_of, production_of
    from uricodec.uri._rows import CheckedWebRows, NormalizeRows

    rows = NormalizeRows(level) if arguments.policy is None else operation_of(arguments.policy)
    production = arguments.production or (None if keeps else production_of(kind, level, arguments.policy))
    production = None if production == "any" else production
    rows = checked(rows, production)
    if arguments.explain:
        from uricodec.cli.policies import Explanations

        transform = Explanations(arguments.policy, rows, production, terminator_of(arguments))
        return lines.filter_inputs(transform, arguments)
    return run(arguments, CheckedWebRows(rows) if kind == "web" else rows, only=only)


def check(arguments):
    """Report invalid lines or fields; see lines.check_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    if arguments.kind == "urn":
        from uricodec.urn._rows import CheckUrnRows, NidRows

        groups, rows = "namespaces", (NidRows if arguments.stats else CheckUrnRows)(arguments.rfc or "8141")
    elif arguments.kind == "web":
        from uricodec.uri._rows import CheckWebRows

        groups, rows = "schemes", CheckWebRows(arguments.stats)
    else:
        from uricodec.uri._rows import CheckedRows, CheckRows, SchemeRows

        production = arguments.production or f"{arguments.kind.upper()}-reference"
        groups, rows = "schemes", CheckRows(arguments.kind, production, arguments.safe_host)
        if arguments.stats:
            rows = CheckedRows(arguments.kind, production, SchemeRows(), arguments.safe_host)
    transform = transform_of(arguments, selected_values(arguments, only=True), rows)
    if arguments.stats:
        transform.groups = groups
    return lines.check_inputs(transform, arguments)


def split(arguments):
    """Split lines or fields into records of their components; see lines.filter_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    from uricodec.uri._rows import COLUMNS, CheckedRows, CheckedWebRows, SplitRows, UriRows

    if arguments.get is not None:
        web = arguments.kind == "web"
        kind = "iri" if web else arguments.kind
        rows = CheckedRows(kind, f"{kind.upper()}-reference", UriRows())
        return texts(arguments, CheckedWebRows(rows) if web else rows)
    return write_records(arguments, COLUMNS, partial(SplitRows, arguments.kind))


def hosts(arguments):
    """Write a record of the host of each line or field; see lines.filter_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    from uricodec.uri._rows import HOST_FIELDS, HostRecordRows

    options = {name: getattr(arguments, name) for name in ("schemes", "userinfo", "trailing_dot", "ports")}
    if arguments.get is not None:
        from uricodec.uri._rows import CheckedWebRows, UriRows

        return texts(arguments, CheckedWebRows(UriRows(), **options))
    if arguments.to == "text" and not arguments.keep:
        from uricodec.uri._rows import WebHostRows

        return texts(arguments, WebHostRows(**options))
    return write_records(arguments, HOST_FIELDS, partial(HostRecordRows, **options))


def texts(arguments, rows):
    """Run an operation whose result is one text for each line or field; that for an invalid one is empty."""
    arguments.errors = "null" if arguments.errors == "keep" else arguments.errors
    return run(arguments, rows, only=True)


def write_records(arguments, names, make):
    """Run an operation that writes records.

    Args:
        arguments (Arguments): With to, keep, csv_safe, and the options for records and fields.
        names (tuple[str, ...]): The fields of a row that is not rejected.
        make (Callable): Returns the operation, given the form, whether CSV is safe, and the delimiter.
    """
    if not arguments.keep:
        rows = make("tsv" if arguments.to == "text" else arguments.to, arguments.csv_safe)
        transform = transform_of(arguments, selected_values(arguments, only=True), rows)
        if arguments.to == "text":
            transform.header = b""
        return lines.filter_inputs(transform, arguments)
    from uricodec.cli import fields
    from uricodec.uri._rows import record_fields

    values = fields.SelectedValues(arguments, added=record_fields(names))
    rows = make("csv" if arguments.csv else "jsonl", arguments.csv_safe, arguments.delimiter or b",")
    return lines.filter_inputs(transform_of(arguments, values, rows), arguments)


def resolve(arguments):
    """Resolve references against a base, or the base of their record; see lines.filter_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    from uricodec.uri._rows import ResolvePairs, ResolveRows

    return run(arguments, ResolvePairs() if arguments.base_field is not None else ResolveRows(arguments.base))


def redact(arguments):
    """Redact the URLs in lines or fields; see lines.filter_inputs()."""
    if arguments.parquet:
        return parquet(arguments)
    from uricodec.uri._redact import RedactRows, RedactTextRows

    kind = RedactRows if arguments.urls else RedactTextRows
    return run(arguments, kind(arguments.names, not arguments.no_nested))


def query(arguments):
    """Set, drop and keep parameters of queries; see lines.filter_inputs()."""
    from uricodec.uri._with_query import WithQueryRows

    if arguments.set is arguments.drop is arguments.keep is None:
        raise CommandError("expected --set, --drop or --keep", 2, "such as --drop 'utm_*'")
    return run(arguments, WithQueryRows(arguments.set, arguments.drop, arguments.keep))


def filter(arguments):
    """Write the lines or records whose URLs match a set of hosts or prefixes; see lines.filter_inputs()."""
    from uricodec.cli.sets import load_sets
    from uricodec.uri._entries import FilterRows

    if arguments.hosts is None and arguments.prefixes is None:
        raise CommandError("expected --hosts or --prefixes", 2)
    sets = load_sets(arguments)
    arguments.errors = "drop"
    try:
        if arguments.parquet:
            return parquet(arguments, sets)
        return run(arguments, FilterRows([each._checked() for each in sets], arguments.exact, arguments.invert))
    except SetError as error:  # a block of a saved set is checked when it is used
        raise CommandError(str(error), 3) from None


def run(arguments, rows, groups=None, group_rows=None, only=False):
    """Run an operation on lines, or on the fields that are selected."""
    transform = transform_of(arguments, selected_values(arguments, only), rows, groups=groups, group_rows=group_rows)
    return lines.filter_inputs(transform, arguments)


def transform_of(arguments, values, rows, **options):
    """Return what runs an operation on selected values, or on lines (see lines.LineTransform)."""
    if values:
        from uricodec.cli import fields

        return fields.FieldTransform(values, rows)
    return lines.LineTransform(rows, terminator_of(arguments), **options)


def selected_values(arguments, only=False):
    """Return the values that are selected in records, or None if whole lines are processed.

    Args:
        arguments (Arguments): With the options for records and fields.
        only (bool): Whether each value becomes a line, and nothing else is written.

    Returns:
        fields.SelectedValues | None: The values.
    """
    jsonl = arguments.to == "jsonl" and not only
    if not (jsonl or any(getattr(arguments, name) for name in FIELDS) or (only and arguments.null_data)):
        return None
    from uricodec.cli import fields

    return fields.SelectedValues(arguments, only, jsonl)


def terminator_of(arguments):
    return b"\0" if arguments.null_data else b"\n"
