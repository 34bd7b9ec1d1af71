"""`--parquet`: the operations of commands on columns of Parquet files, batch by batch, as `uricodec.bulk` runs them.

Which function of `bulk` a command is, and which of its options are parameters, is in the table of operations.
"""

import os
from itertools import groupby

from uricodec._identifier import DEFAULTS
from uricodec._io.files import FileError, printable
from uricodec._io.reports import InvalidLine
from uricodec._io.writing import Output
from uricodec.bulk._operations import OPERATIONS
from uricodec.cli import lines
from uricodec.cli.errors import CommandError, needs
from uricodec.cli.outputs import Reservoir
from uricodec.cli.sets import load_sets
from uricodec.errors import SetError, UriError

# Rows that are processed at once.
ROWS = 65_536

RAISE_HINT = "--errors drop leaves out such rows"


def run(plan, **options):
    """Run a command on columns of Parquet files.

    Args:
        plan (Plan): The plan of the command.
        options (Any): The values of its own options.

    Returns:
        int: 0; for `check` 1 if there are invalid values.

    Raises:
        CommandError: An option is missing, or a value is invalid under --errors raise.
        FileError: A file cannot be read or written, has other columns than the first one, or lacks a column.
    """
    if "-" in plan.inputs:
        raise CommandError("--parquet: cannot read standard input", 2, "name Parquet files, or folders of them with -r")
    needs("--parquet", "arrow", "pyarrow")
    if plan.command == "check":
        from uricodec.cli.filters import check_rows

        options["kind"] = options["kind"].replace("auto", "uri")
        rows, _ = check_rows(False, **options)
        with lines.report_of(plan) as report:
            faults = Faults(plan, report, lambda line: rows.reason(line.code))
            convert(plan, Diagnostics(plan, options), faults, None, report)
        return 1 if faults.codes else 0
    columns = (Matches if plan.command == "filter" else Columns)(plan, options)
    if plan.output in (None, "-"):
        raise CommandError("--parquet: --output is required", 2, "-o FILE names the file to write")
    with plan.rejects() as rejects, Output(plan.output) as output, Writer(output, plan) as writer:
        faults = Faults(plan, rejects)
        convert(plan, columns, faults, writer, output, rejects)
        writer.close()
    faults.show()
    return 0


def convert(plan, columns, faults, writer, *outputs):
    """Run an operation on the columns of all inputs; `writer` (Writer | None) writes batches to the first output."""

    def process(source):
        for batch in source.batches(columns):
            made, found = columns.run(source, batch)
            faults.add(source, batch, found)
            if writer:
                writer.write(source.name, made)

    lines.for_each_input(process, plan, *outputs, open=Input)


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
        output (Output): Where the file goes.
        plan (Plan): The plan of the command.
    """

    def __init__(self, output, plan):
        self._output, self._limit = output, plan.limit
        self._writer = self._schema = None
        self._sample = plan.sample and Reservoir(plan.sample, plan.seed)
        self._count, self._rows = 0, {}  # of the sample: for the number of a row, a batch with it and its place there

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._writer is not None:
            self._writer.release()

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
            self._writer = Parquet(self._output, self._schema, self._limit)
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
        plan (Plan): The plan of the command.
        rejects (Output | None): Where the report goes.
        why (Callable[[InvalidLine], str] | None): As for lines.report_to().

    Attributes:
        codes (Counter[str]): How many rows are invalid: a row with several values by the first one.
    """

    def __init__(self, plan, rejects, why=None):
        from collections import Counter

        self._report, self.codes = lines.report_to(rejects, why), Counter()
        self._tally = lines.Tally(None) if plan.stats else None

    def add(self, source, batch, found):
        """Report the invalid values of a batch, and count rows.

        Args:
            source (Input): The input.
            batch (pyarrow.RecordBatch): The batch.
            found (list[tuple[int, str, str, int]]): The row, column, code and offset of each, in any order.
        """
        found = sorted(found, key=lambda fault: fault[0])  # of those of a row in the order of the columns
        if self._report:
            self._report([line_of(source, batch, fault) for fault in found])
        codes = {row: code for row, _, code, _ in reversed(found)}
        self.codes.update(codes.values())
        if self._tally:
            self._tally.count_valid(batch.num_rows - len(codes))

    def show(self):
        """Write the counts to standard error, with --stats."""
        if self._tally:
            self._tally.show(self.codes)


def line_of(source, batch, fault):
    """Return the InvalidLine for a fault, as for Faults.add()."""
    row, column, code, offset = fault
    text = batch.column(column)[row].as_py()
    text = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return InvalidLine(source.name, source.before + row, offset, code, text)


def operation_of(plan, options):
    """Return the row of the table of operations that a command is, and its arguments (dict)."""
    command, options = plan.command, options | (plan.agreed or {})
    line = command + " --iri" * options.get("iri", False) + " --urls" * options.get("urls", False)
    line += " --to jsonl" * (command == "hosts")
    if command in ("check", "split"):
        line += f" --kind {options['kind']}"
    elif command == "normalize":
        line += " --repair" if options["repair"] else " --kind urn" if options["kind"] == "urn" else " --kind uri"
    if command == "redact":
        options["no_nested"] = not options["no_nested"]  # the flag of the parameter `nested`
    elif command == "normalize" and options["policy"] is None:
        options["level"] = options["level"] or DEFAULTS[options["kind"]]
    if command == "normalize" and options["kind"] == "iri" and plan.errors != "keep" and options["production"] is None:
        from uricodec.uri._policies import production_of

        default = production_of("iri", options["level"] or "iri", options["policy"])  # that of `bulk` ignores the kind
        options["production"] = default or "any"
    [operation] = [row for row in OPERATIONS.values() if row.command and row.command.line == line]
    given = {name: options[flag.lstrip("-").replace("-", "_")] for name, flag in operation.command.options.items()}
    return operation, {name: value for name, value in given.items() if value is not None}


class Columns:
    """Some columns of Parquet files, and what is done with them.

    Args:
        plan (Plan): The plan of the command.
        options (dict[str, Any]): The values of its own options.

    Attributes:
        read (list[str]): All columns that are read.
    """

    def __init__(self, plan, options):
        from uricodec import bulk

        self._names, self._base, self._errors = plan.records.selected, options.get("base_field"), plan.errors
        self.read = [*self._names, *filter(None, [self._base])]
        self._operation, self._options = operation_of(plan, options)
        self._function = getattr(bulk, self._operation.name)
        self._options["threads"] = plan.threads

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
        return made, faults

    def _result(self, source, batch, column):
        """Return the results for a column (pyarrow.Array), and its invalid rows (list[tuple[int, str, int]])."""
        import pyarrow as pa

        from uricodec.bulk import InvalidRows

        errors = {"drop": "null"}.get(self._errors, self._errors)
        options = dict(self._options)
        if self._operation.result == "struct" and errors == "keep":
            errors = "null"
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


class Diagnostics(Columns):
    """The reasons why values are invalid."""

    def __init__(self, plan, options):
        super().__init__(plan, options)
        self._errors = "keep"

    def run(self, source, batch):
        """Return nothing to write, and the faults of a batch, as for Faults.add()."""
        found = []
        for column in self.read:
            result, _ = self._result(source, batch, column)
            for row, fault in enumerate(result.to_pylist() if result.null_count < len(result) else []):
                if fault is not None:
                    found.append((row, column, fault["code"], fault["offset"]))
        return None, found


class Matches(Columns):
    """The rows of Parquet files whose values match sets, in each of some columns; with --invert, those that do not."""

    def __init__(self, plan, options):
        self.read, self._invert = plan.records.selected, options["invert"]
        self._sets = load_sets(plan, options["hosts"], options["prefixes"])
        self._options = {"exact": options["no_below"], "threads": plan.threads}

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
                except SetError as error:  # a block of a saved set is checked when it is used
                    raise CommandError(str(error), 3) from None
                matched = pc.or_(matched, found.fill_null(False))
            kept = pc.and_(kept, pc.invert(matched) if self._invert else matched)
        return batch.filter(kept), []


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
