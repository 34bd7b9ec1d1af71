"""`--parquet`: the operations of commands on columns of Parquet files, batch by batch, as `uricodec.bulk` runs them.

Which function of `bulk` a command is, and which of its options are parameters, is in the table of operations.
"""

import os

from uricodec._io import streams
from uricodec._io.reports import InvalidLine
from uricodec._rows.registry import OPERATIONS
from uricodec.cli import lines
from uricodec.cli.errors import CommandError, needs_pyarrow
from uricodec.cli.outputs import output_of
from uricodec.cli.records import header_of
from uricodec.errors import UriError

# Rows that are processed at once.
ROWS = 65_536

RAISE_HINT = "--errors drop leaves out such rows"


def run(arguments, sets=None):
    """Run a command on columns of Parquet files.

    Args:
        arguments (argparse.Namespace): The arguments of the command.
        sets (list[HostSet | PrefixSet] | None): The sets of `filter`.

    Returns:
        int: 0; for `check` 1 if there are invalid values.

    Raises:
        CommandError: An option is missing, or a value is invalid under --errors raise.
        FileError: A file cannot be read or written, has other columns than the first one, or lacks a column.
    """
    files = arguments.files
    if not files or "-" in files:
        raise CommandError("--parquet: cannot read standard input", 2, "name Parquet files, or folders of them with -r")
    needs_pyarrow("--parquet")
    columns = Columns(arguments) if sets is None else Matches(arguments, sets)
    if arguments.command == "check":
        return check(arguments, columns)
    if arguments.output in (None, "-"):
        raise CommandError("--parquet: --output is required", 2, "-o FILE names the file to write")
    lines.check_outputs(arguments)
    from uricodec.cli.log_outputs import Parquet

    writer, schema = None, None
    with streams.Output(arguments.output) as output, Sink(output) as sink:
        for name in files:
            for batch in columns.batches(name):
                made = columns.run(name, batch)
                if writer is None:
                    schema = made.schema.remove_metadata()
                    writer = Parquet(sink, schema)
                if made.schema.remove_metadata() != schema:
                    raise streams.FileError(streams.printable(name), "columns differ from those of the first input")
                writer.write(made)
        writer.close()
    return 0


class Sink:
    """Where a writer of pyarrow writes, up to an error: when it is freed it would write its footer all the same.

    Args:
        output (Output): The output.
    """

    def __init__(self, output):
        self._output = output

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._output = None

    def write(self, data):
        if self._output is not None:
            self._output.write(data)


def check(arguments, columns):
    """Write a report of the invalid values. Return whether there are any."""
    if arguments.quiet:
        arguments.output = os.devnull
    found = 0
    with output_of(arguments) as output:
        output.write_header(header_of(arguments.to, InvalidLine._fields))
        report = lines.report_to(output, arguments.to)
        for name in arguments.files:
            row = 0
            for batch in columns.batches(name):
                invalid = columns.faults(name, batch, row)
                found += len(invalid)
                report(invalid)
                row += batch.num_rows
    return 1 if found else 0


def operation_of(arguments):
    """Return the row of the table of operations that a command is, and its arguments (dict)."""
    line = arguments.command
    if line in ("decode", "encode"):
        line += " --iri" * arguments.iri
    elif line == "redact":
        line += " --urls" * arguments.urls
    elif line == "hosts":
        line += " --to jsonl"
    elif line == "normalize":
        line += " --kind urn" if arguments.kind == "urn" else " --kind uri"
    elif line in ("check", "split"):
        line += f" --kind {arguments.kind}"
    [operation] = [row for row in OPERATIONS.values() if row.command and row.command.line == line]
    options = {}
    for name, flag in operation.command.options.items():
        value = getattr(arguments, flag.lstrip("-").replace("-", "_"))
        if value is not None:
            options[name] = value
    if arguments.command == "normalize" and "level" not in options and "policy" not in options:
        from uricodec.cli.filters import DEFAULT_LEVELS

        options["level"] = DEFAULT_LEVELS[arguments.kind]
    if arguments.command == "redact":
        options["nested"] = not arguments.no_nested
    return operation, options


class Columns:
    """Some columns of Parquet files, and what is done with them.

    Args:
        arguments (argparse.Namespace): The arguments of the command.
    """

    def __init__(self, arguments):
        from uricodec import bulk

        self._names, self._base, self._errors = arguments.fields, arguments.base_field, arguments.errors
        self._before = 0  # rows of the input before the batch
        self._operation, self._options = operation_of(arguments)
        self._function = getattr(bulk, self._operation.name)
        self._options["threads"] = arguments.threads or None

    def batches(self, name):
        """Yield the batches of a file (pyarrow.RecordBatch): at least one, perhaps without rows."""
        import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-untyped,import-not-found,unused-ignore]

        shown, self._before = streams.printable(name), 0
        try:
            with open(name, "rb") as data, pq.ParquetFile(data) as file:
                schema = file.schema_arrow
                for column in [*self._names, *filter(None, [self._base])]:
                    if column not in schema.names:
                        known = ", ".join(map(repr, schema.names))
                        raise streams.FileError(shown, f"no column {column!r}; the columns are {known}")
                yield pa.RecordBatch.from_pylist([], schema=schema)
                yield from file.iter_batches(ROWS)
        except streams.FileError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise streams.FileError(shown, getattr(error, "strerror", None) or str(error)) from None

    def run(self, name, batch):
        """Return a batch with results: in the place of the values, or after them if they are records."""
        import pyarrow as pa

        columns, keep, faulty = {}, None, set()
        for column in batch.schema.names:
            columns[column] = batch.column(column)
        for column in self._names:
            values, rows = self._result(name, batch, column)
            if self._operation.result == "struct":
                columns = inserted(columns, column, self._records(values, rows, batch.num_rows))
            else:
                columns[column] = values
            faulty.update(row for row, _, _ in rows)
        self._before += batch.num_rows
        made = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        if self._errors == "drop" and faulty:
            keep = pa.array([row not in faulty for row in range(batch.num_rows)])
            made = made.filter(keep)
        return made

    def faults(self, name, batch, before):
        """Return the invalid values of a batch (list[InvalidLine]); `before` rows of the file come before it."""
        found = []
        for column in self._names:
            result, _ = self._result(name, batch, column)
            for row, fault in enumerate(result.to_pylist() if result.null_count < len(result) else []):
                if fault is not None:
                    text = batch.column(column)[row].as_py()
                    text = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
                    found.append(
                        InvalidLine(streams.printable(name), before + row, fault["offset"], fault["code"], text)
                    )
        return sorted(found, key=lambda line: line.line)

    def _result(self, name, batch, column):
        """Return the results for a column (pyarrow.Array), and its invalid rows (list[tuple[int, str, int]])."""
        import pyarrow as pa

        from uricodec.bulk import InvalidRows

        errors = {"drop": "null"}.get(self._errors, self._errors)
        options = dict(self._options)
        if self._operation.result == "struct" and errors == "keep":
            errors = "null"
        if self._operation.result == "diagnostic":
            errors = "keep"
        invalid = InvalidRows(limit=batch.num_rows)
        if self._base is not None:
            options["base"] = batch.column(self._base)
        try:
            made = self._function(batch.column(column), errors=errors, invalid=invalid, **options)
        except UriError as error:
            place = f"{streams.printable(name)}: column {column!r}: row {self._before + error.row}"
            raise CommandError(f"{place}: {error.reason} at offset {error.offset}", 1, RAISE_HINT) from None
        except TypeError:
            raise wrong_type(name, batch, column) from None
        return pa.array(made), invalid.rows

    def _records(self, values, rows, count):
        """Return the columns of records: their fields, and the error and offset of invalid rows."""
        import pyarrow as pa

        codes, offsets = [None] * count, [None] * count
        for row, code, offset in rows:
            codes[row], offsets[row] = code, offset
        fields = dict(zip(self._operation.fields, values.flatten(), strict=True))
        return fields | {"error": pa.array(codes, pa.string()), "offset": pa.array(offsets, pa.int64())}


class Matches(Columns):
    """The rows of Parquet files whose values match sets, in each of some columns; with --invert, those that do not.

    Args:
        arguments (argparse.Namespace): The arguments of the command.
        sets (list[HostSet | PrefixSet]): The sets.
    """

    def __init__(self, arguments, sets):
        self._names, self._base, self._sets, self._invert = arguments.fields, None, sets, arguments.invert
        self._options = {"exact": arguments.exact, "threads": arguments.threads or None}

    def run(self, name, batch):
        """Return the rows of a batch that are kept."""
        import pyarrow as pa
        import pyarrow.compute as pc  # type: ignore[import-untyped,import-not-found,unused-ignore]

        from uricodec import bulk

        kept = pa.array([True] * batch.num_rows, pa.bool_())
        for column in self._names:
            values, matched = batch.column(column), pa.array([False] * batch.num_rows, pa.bool_())
            for each in self._sets:
                try:
                    found = pa.array(bulk.is_match(values, each, **self._options))
                except TypeError:
                    raise wrong_type(name, batch, column) from None
                matched = pc.or_(matched, found.fill_null(False))
            kept = pc.and_(kept, pc.invert(matched) if self._invert else matched)
        return batch.filter(kept)


def wrong_type(name, batch, column):
    """Return the error for a column that is not text."""
    what = f"column {column!r} must be text or bytes, got {batch.schema.field(column).type}"
    return streams.FileError(streams.printable(name), what)


def inserted(columns, name, added):
    """Return columns (dict) with others after the one of this name, as NAME_FIELD.

    >>> inserted({"a": 1, "b": 2}, "a", {"host": 3})
    {'a': 1, 'a_host': 3, 'b': 2}
    """
    made = {}
    for each, values in columns.items():
        made[each] = values
        if each == name:
            made |= {f"{name}_{field}": part for field, part in added.items()}
    return made
