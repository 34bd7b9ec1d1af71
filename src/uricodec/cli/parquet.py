"""`--parquet`: the operations of commands on columns of Parquet files, batch by batch, as `uricodec.bulk` runs them.

Which function of `bulk` a command is, and which of its options are parameters, is in the table of operations.
"""

import os
from itertools import groupby

from uricodec._io.files import FileError, printable
from uricodec._io.reports import InvalidLine
from uricodec._io.writing import Output
from uricodec._rows.registry import OPERATIONS
from uricodec.cli import lines
from uricodec.cli.errors import CommandError, needs
from uricodec.cli.outputs import Reservoir, output_of
from uricodec.cli.records import header_of
from uricodec.errors import UriError

# Rows that are processed at once.
ROWS = 65_536

RAISE_HINT = "--errors drop leaves out such rows"


def run(arguments, sets=None):
    """Run a command on columns of Parquet files.

    Args:
        arguments (Arguments): The arguments of the command.
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
    needs("--parquet", "arrow", "pyarrow")
    columns = Columns(arguments) if sets is None else Matches(arguments, sets)
    if arguments.command == "check":
        return check(arguments, columns)
    if arguments.output in (None, "-"):
        raise CommandError("--parquet: --output is required", 2, "-o FILE names the file to write")
    lines.check_outputs(arguments)
    with (
        lines.rejects_of(arguments) as rejects,
        Output(arguments.output) as output,
        Sink(output) as sink,
    ):
        writer, faults = Writer(sink, arguments), Faults(arguments, rejects)

        def process(source):
            for batch in source.batches(columns):
                made, found = columns.run(source, batch)
                faults.add(source, batch, found)
                writer.write(source.name, made)

        lines.for_each_input(process, arguments, output, rejects, open=Input)
        writer.close()
    faults.show()
    return 0


class Input:
    """A Parquet file.

    Args:
        path (str): The path of the file.
        meter (Meter): The progress meter.
        output (Output | None): Not used: a file that is read cannot be the one that is written.

    Attributes:
        name (str): The name in messages.
        before (int): The number of rows before the batch.
    """

    def __init__(self, path, meter, output=None):
        self._path, self._meter = path, meter
        self.name, self.before = printable(path), 0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        """Do nothing: batches() closes the file."""

    def batches(self, columns):
        """Yield the batches (pyarrow.RecordBatch): at least one, perhaps without rows.

        Args:
            columns (Columns): What reads columns, which the file must have.
        """
        import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-untyped,import-not-found,unused-ignore]

        try:
            with open(self._path, "rb") as data, pq.ParquetFile(data) as file:
                schema, size = file.schema_arrow, os.fstat(data.fileno()).st_size
                self._check(schema, columns.read)
                yield pa.RecordBatch.from_pylist([], schema=schema)
                said = 0
                for batch in file.iter_batches(ROWS):
                    yield batch
                    self.before += batch.num_rows
                    done = size * self.before // file.metadata.num_rows
                    self._meter.add(done - said)
                    said = done
        except FileError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise FileError(self.name, getattr(error, "strerror", None) or str(error)) from None

    def _check(self, schema, read):
        """Check that each column has a name of its own, and that those that are read have text or bytes."""
        import pyarrow as pa

        known = ", ".join(map(repr, schema.names))
        seen = set()
        for column in schema.names:
            if column in seen:
                raise FileError(self.name, f"several columns {column!r}; the columns are {known}")
            seen.add(column)
        for column in read:
            if column not in seen:
                raise FileError(self.name, f"no column {column!r}; the columns are {known}")
            if pa.types.is_nested(schema.field(column).type):  # a struct would be read as a table
                raise wrong_type(self, schema, column)


class Writer:
    """Writes batches to one Parquet file: all of their rows, the first of them, or a sample of them.

    Args:
        sink (Sink): Where the file goes.
        arguments (Arguments): With limit, sample and seed.
    """

    def __init__(self, sink, arguments):
        self._sink, self._limit = sink, arguments.limit
        self._writer = self._schema = None
        self._sample = arguments.sample and Reservoir(arguments.sample, arguments.seed)
        self._count, self._rows = 0, {}  # of the sample: for the number of a row, a batch with it and its place there

    def write(self, name, batch):
        """Write a batch.

        Args:
            name (str): The name of the input.
            batch (pyarrow.RecordBatch): The batch.

        Raises:
            FileError: The batch has other columns than the first one.
            EnoughError: No more rows are needed.
        """
        from uricodec.cli.log_outputs import Parquet

        if self._writer is None:
            self._schema = batch.schema.remove_metadata()
            self._writer = Parquet(self._sink, self._schema, self._limit)
        if batch.schema.remove_metadata() != self._schema:
            raise FileError(name, "columns differ from those of the first input")
        if self._sample:
            self._take(batch)
        else:
            self._writer.write(batch)

    def _take(self, batch):
        first = self._count
        self._count += batch.num_rows
        for number in range(first, self._count):
            self._sample.take(number)
        numbers = self._sample.items()
        added = [number for number in numbers if number >= first]
        part = batch.take([number - first for number in added]) if added else None
        self._rows |= {number: (part, place) for place, number in enumerate(added)}
        self._rows = {number: self._rows[number] for number in numbers}

    def close(self):
        """Write the sample, and the end of the file."""
        for _, rows in groupby(self._rows.values(), lambda row: id(row[0])):
            found = list(rows)
            self._writer.write(found[0][0].take([place for _, place in found]))
        self._writer.close()


class Faults:
    """The invalid values of a run.

    Args:
        arguments (Arguments): With stats.
        rejects (Output | None): Where the report goes.
    """

    def __init__(self, arguments, rejects):
        from collections import Counter

        self._report, self._codes = lines.report_to(rejects), Counter()
        self._tally = lines.Tally(None) if arguments.stats else None

    def add(self, source, batch, found):
        """Report the invalid values of a batch, and count rows: a row with several by the first one.

        Args:
            source (Input): The input.
            batch (pyarrow.RecordBatch): The batch.
            found (list[tuple[int, str, str, int]]): The row, column, code and offset of each.
        """
        if self._report:
            self._report(report_of(source, batch, found))
        if self._tally:
            codes = {row: code for row, _, code, _ in reversed(found)}
            self._codes.update(codes.values())
            self._tally.count_valid(batch.num_rows - len(codes))

    def show(self):
        """Write the counts to standard error, with --stats."""
        if self._tally:
            self._tally.show(self._codes)


def report_of(source, batch, found):
    """Return the rows of a report (list[InvalidLine]); the arguments are those of Faults.add()."""
    report = []
    for row, column, code, offset in found:
        text = batch.column(column)[row].as_py()
        text = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        report.append(InvalidLine(source.name, source.before + row, offset, code, text))
    return report


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

        def process(source):
            nonlocal found
            for batch in source.batches(columns):
                faults = columns.faults(source, batch)
                found += len(faults)
                report(report_of(source, batch, faults))

        lines.for_each_input(process, arguments, output, open=Input)
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
    if arguments.command == "normalize" and arguments.kind == "iri" and arguments.errors != "keep":
        from uricodec.uri._policies import production_of

        default = production_of("iri", arguments.level or "iri", arguments.policy) or "any"
        options.setdefault("production", default)  # that of `bulk` depends on the level alone
    if arguments.command == "redact":
        options["nested"] = not arguments.no_nested
    return operation, options


class Columns:
    """Some columns of Parquet files, and what is done with them.

    Args:
        arguments (Arguments): The arguments of the command.

    Attributes:
        read (list[str]): All columns that are read.
    """

    def __init__(self, arguments):
        from uricodec import bulk

        self._names, self._base, self._errors = arguments.fields, arguments.base_field, arguments.errors
        self.read = [*self._names, *filter(None, [self._base])]
        self._operation, self._options = operation_of(arguments)
        self._function = getattr(bulk, self._operation.name)
        self._options["threads"] = arguments.threads or None

    def run(self, source, batch):
        """Return a batch with results, in the place of the values, or after them if they are records; and its faults.

        The faults are as for Faults.add().
        """
        import pyarrow as pa

        columns, faults = {}, []
        for column in batch.schema.names:
            columns[column] = batch.column(column)
        for column in self._names:
            values, rows = self._result(source, batch, column)
            if self._operation.result == "struct":
                columns = inserted(columns, column, self._records(values, rows, batch.num_rows))
            else:
                columns[column] = values
            faults += [(row, column, code, offset) for row, code, offset in rows]
        made = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        if self._errors == "drop" and faults:
            faulty = {row for row, *_ in faults}
            made = made.filter(pa.array([row not in faulty for row in range(batch.num_rows)]))
        return made, in_order(faults)

    def faults(self, source, batch):
        """Return the faults of a batch, as for Faults.add()."""
        found = []
        for column in self._names:
            result, _ = self._result(source, batch, column)
            for row, fault in enumerate(result.to_pylist() if result.null_count < len(result) else []):
                if fault is not None:
                    found.append((row, column, fault["code"], fault["offset"]))
        return in_order(found)

    def _result(self, source, batch, column):
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
            place = f"{source.name}: column {column!r}: row {source.before + error.row}"
            raise CommandError(f"{place}: {error.reason} at offset {error.offset}", 1, RAISE_HINT) from None
        except TypeError:
            raise wrong_type(source, batch.schema, column) from None
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
        arguments (Arguments): The arguments of the command.
        sets (list[HostSet | PrefixSet]): The sets.
    """

    def __init__(self, arguments, sets):
        self.read, self._sets, self._invert = arguments.fields, sets, arguments.invert
        self._options = {"exact": arguments.exact, "threads": arguments.threads or None}

    def run(self, source, batch):
        """Return the rows of a batch that are kept, and no faults."""
        import pyarrow as pa
        import pyarrow.compute as pc  # type: ignore[import-untyped,import-not-found,unused-ignore]

        from uricodec import bulk

        kept = pa.array([True] * batch.num_rows, pa.bool_())
        for column in self.read:
            values, matched = batch.column(column), pa.array([False] * batch.num_rows, pa.bool_())
            for each in self._sets:
                try:
                    found = pa.array(bulk.is_match(values, each, **self._options))
                except TypeError:
                    raise wrong_type(source, batch.schema, column) from None
                matched = pc.or_(matched, found.fill_null(False))
            kept = pc.and_(kept, pc.invert(matched) if self._invert else matched)
        return batch.filter(kept), []


def in_order(faults):
    """Return faults in the order of their rows, and in each of the columns."""
    return sorted(faults, key=lambda fault: fault[0])


def wrong_type(source, schema, column):
    """Return the error for a column that is not text."""
    what = f"column {column!r} must be text or bytes, got {schema.field(column).type}"
    return FileError(source.name, what)


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
