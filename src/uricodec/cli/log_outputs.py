"""What `uricodec log` writes: records as lines, as Arrow data or Parquet, and counts of them."""

from itertools import islice
from time import monotonic

from uricodec._records.formats import FORMATS
from uricodec.cli.errors import CommandError, needs
from uricodec.cli.outputs import EnoughError
from uricodec.cli.records import header_of
from uricodec.logs._reading import ColumnBuffer, RecordBuffer
from uricodec.logs._records import LogReader, csv_as_text

# How many rows are written at once; those of a row group of Parquet; those of a table without --top, and at most.
ROWS, GROUP, SHOWN, MOST = 4096, 131_072, 30, 100_000

# Groups whose values have seconds that are 0.
HOURS = "time:hour", "time:minute"

# Memory of the program without the keys that it counts, of which at least a half is left.
PROGRAM = 24 * 1024 * 1024

# Seconds between two tables of a log that grows.
PERIOD = 1.0


def output_of(plan, output, options, counts):
    """Return where the records of a run go, and the options of their readers.

    Args:
        plan (Plan): The plan of the command.
        output (Output): The output of the command.
        options (dict): The arguments of LogReader.
        counts (dict): Those of Counts.

    Returns:
        tuple[Lines | Arrow | Counts, dict]: The output, and the arguments of LogReader.

    Raises:
        CommandError: The output cannot have this form.
    """
    to = "text" if plan.get is not None else plan.to or "jsonl"
    if counts_records(plan, counts):
        form = "table" if plan.to is None and output.isatty() else to
        keys = options | {"to": form_of_keys(form), "fields": plan.count or ()}
        return Counts(output, keys, form, plan.top, **counts), keys
    if to == "table":
        raise CommandError("--to table: there are no counts", 2, "--count status --to table writes a table of counts")
    options |= {"to": "arrow" if to in BINARY else to}
    reader = LogReader([], **options)
    if to in BINARY:
        from uricodec._rows._columns import Column
        from uricodec.logs._columns import type_of_batch

        pyarrow = pyarrow_for(to, output)
        return BINARY[to](output, pyarrow.schema(Column(type_of_batch(reader), [])), plan.limit), options
    return Lines(output, header_of(to, reader.fields)), options


def counts_records(plan, counts):
    """Return whether records are counted, given the arguments of Counts."""
    return bool(plan.count or any(counts[name] for name in ("sum", "quantiles", "distinct", "rate")))


def form_of_keys(to):
    """Return the format of what is counted: one that tells a missing value from an empty one."""
    return "jsonl" if to not in FORMATS else "csv" if FORMATS[to].values == "text" else to


def pyarrow_for(to, output):
    """Return pyarrow.

    Raises:
        CommandError: It is not installed, or the output cannot be binary data.
    """
    if output.isatty() or (to == "parquet" and output.name == "<stdout>"):
        what = "a terminal" if output.isatty() else "not a file"
        raise CommandError(f"--to {to}: the output is {what}", 2, "-o FILE writes to a file")
    needs(f"--to {to}", "arrow", "pyarrow")
    import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    return pyarrow


class Lines:
    """Writes lines, after a header.

    Args:
        output (Output): Where they go.
        header (bytes): The header.
    """

    def __init__(self, output, header=b""):
        self._output, self._header = output, header

    def state(self, max_line):
        """Return what converts lines, in one of the threads."""
        return RecordBuffer(max_line)

    def write(self, records):
        """Write what a state has converted."""
        if self._header:
            self._output.write_header(self._header)
            self._header = b""
        self._output.write(records)

    def refresh(self):
        """Return whether to end while a log does not grow."""
        return False

    def close(self):
        """Write what follows the last record, and the header, if nothing was written."""
        self.write(b"")

    def release(self):
        """Free what is left after the last output, or after an error."""


class Arrow(Lines):
    """Writes batches as an Arrow IPC stream, with pyarrow.

    Args:
        output (Output): Where it goes.
        schema (pyarrow.Schema): The schema of the batches.
        most (int | None): How many rows are written; None: all.
    """

    def __init__(self, output, schema, most=None):
        super().__init__(output)
        self._sink, self._schema, self._writer, self._left = Sink(output), schema, None, most

    def state(self, max_line):
        return ColumnBuffer()

    def write(self, batch):
        import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]

        if self._writer is None:
            self._writer = self._open(pyarrow.PythonFile(self._sink, "w"))
        if batch is not None:
            batch = pyarrow.record_batch(batch).slice(0, self._left)
            self._add(batch)
            if self._left is not None:
                self._left -= batch.num_rows
                if not self._left:
                    raise EnoughError

    def _open(self, file):
        import pyarrow.ipc  # type: ignore[import-untyped,import-not-found,unused-ignore]

        return pyarrow.ipc.new_stream(file, self._schema)

    def _add(self, batch):
        self._writer.write_batch(batch)

    def close(self):
        self.write(None)
        self._writer.close()

    def release(self):
        self._sink.output = None


class Parquet(Arrow):
    """Writes batches as a Parquet file, with pyarrow: row groups of GROUP rows, compressed with Zstandard."""

    def __init__(self, output, schema, most=None):
        super().__init__(output, schema, most)
        self._batches, self._rows = [], 0

    def _open(self, file):
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped,import-not-found,unused-ignore]

        return ParquetWriter(file, self._schema, compression="zstd")

    def _add(self, batch):
        while self._rows + batch.num_rows >= GROUP:
            part = batch.slice(0, GROUP - self._rows)
            batch = batch.slice(part.num_rows)
            self._batches.append(part)
            self._flush()
        if batch.num_rows:
            self._batches.append(batch)
            self._rows += batch.num_rows

    def _flush(self):
        import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]

        self._writer.write_table(pyarrow.Table.from_batches(self._batches, self._schema), GROUP)
        self._batches, self._rows = [], 0

    def close(self):
        self.write(None)
        if self._batches:
            self._flush()
        self._writer.close()


BINARY = {"arrow": Arrow, "parquet": Parquet}


class Sink:
    """The output, as a file object for pyarrow, up to an error: a writer that is freed writes its footer all the same.

    Attributes:
        output (Output | None): The output; None: nothing more is written.
    """

    closed = False

    def __init__(self, output):
        self.output = output

    def write(self, data):
        if self.output is not None:
            self.output.write(data)
        return len(data)


class Counts:
    """Counts records, and writes the counts at the end; in a terminal as a table, which is drawn again as a log grows.

    Args:
        output (Output): Where the counts go.
        options (dict): The arguments of LogReader for the keys.
        to (str): "table", or the form of --to.
        top, sort, sum, quantiles, distinct, rate, memory, spill_dir (Any): The options of these names.

    Raises:
        CommandError: The output cannot be binary data, or --sort names no field.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self, output, options, to, top, sort, sum, quantiles, distinct, rate, memory, spill_dir
    ):
        from json import dumps

        from uricodec._io.sizes import parse_memory
        from uricodec.logs._counting import Counting, Numbers

        self._output, self._to = output, to
        self._zone = options["to_timezone"]
        memory = parse_memory(memory)
        memory = max(memory - PROGRAM, memory // 2, 1)
        try:
            numbers = Numbers(sum or (), quantiles or (), distinct or (), rate or (), self._zone or options["timezone"])
            self._counting = Counting(options, numbers, memory, spill_dir, sort, top)
        except ValueError as error:
            if str(error).startswith("sort: "):
                raise CommandError(f"--{error}", 2, "such as --sort count") from None
            raise CommandError(str(error), 2) from None
        self._pyarrow = pyarrow_for(to, output) if to in BINARY else None
        self._drawn, self._next, self._counted = 0, 0.0, 0
        self._form, between = FORMATS.get(to), FORMATS[options["to"]].delimiter.decode()
        self._is_json = options["to"] == "jsonl"
        names = self._counting.names[len(self._counting.fields) :]
        # What is written before each number.
        self._heads = [f"{between}{dumps(name)}:" if self._is_json else between for name in names]
        if not self._counting.fields:
            self._heads[0] = self._heads[0].removeprefix(between)
        self._all_rows = top is not None or self._counting.period is not None

    def state(self, max_line):
        """Return what converts lines, in one of the threads."""
        return self._counting.state()

    def write(self, data):
        """Count what a state has converted."""
        self._counting.take(data)

    def refresh(self):
        """Draw the table again, if there are new records. False: go on."""
        counter = self._counting.counter
        if self._to == "table" and counter.total > self._counted and monotonic() >= self._next:
            self._next, self._counted = monotonic() + PERIOD, counter.total
            # Of groups in the order of time, the last ones: the others have left the screen.
            rows = self._counting.peek(MOST if self._counting.period else self._counting.top or SHOWN)
            self._draw(rows[-SHOWN:] if self._counting.period else rows, 0)
        return False

    def _draw(self, rows, others):
        """Draw a table, in the place of the last one."""
        from uricodec.cli.table import table_of

        names, fields = self._counting.names, self._counting.fields
        shown = [(self._in_table(row.key), row.count, row.numbers) for row in rows]
        encoding = None if self._output.name == "<stdout>" else "utf-8"
        table = table_of(fields, shown, self._counting.counter.total, others, names[len(fields) + 1 :], encoding)
        self._output.write((b"\x1b[%dA\x1b[J" % self._drawn if self._drawn else b"") + table)
        self._drawn = table.count(b"\n")

    def _without_gaps(self, rows):
        """Yield groups by time, and between them, with a count of 0, those of which there are no records."""
        from json import dumps

        from uricodec.logs._times import periods_between

        nothing, last = self._counting.nothing(), None
        for row in rows:
            [time] = self._shown(row.key)
            for between in periods_between(last, time, self._counting.period, self._zone) if last else ():
                yield row._replace(key=dumps({self._counting.period: between}).encode(), count=0, numbers=nothing)
            last = time
            yield row

    def _shown(self, key):
        """Return the values of a key as texts."""
        from json import dumps, loads

        values = loads(key).values()
        return ["-" if value is None else value if isinstance(value, str) else dumps(value) for value in values]

    def _in_table(self, key):
        """Return the values of a key as a table shows them: of hours and minutes, without the seconds, which are 0."""
        texts = zip(self._counting.fields, self._shown(key), strict=True)
        return [
            f"{text[:10]} {text[11:16]}{text[19:]}" if field in HOURS and text[16:19] == ":00" else text
            for field, text in texts
        ]

    def close(self):
        """Write the counts."""
        if self._to == "table":
            if not self._all_rows:
                self._counting.top = SHOWN
            rows = list(self._counting.results())
            others = (self._counting.counter.distinct or len(rows)) - len(rows)
            if self._counting.period and len(self._counting.fields) == 1:
                rows = list(self._without_gaps(rows))
            self._draw(rows, others)
            return
        rows = self._counting.results()
        writer = (
            self._batches() if self._to in BINARY else Lines(self._output, header_of(self._to, self._counting.names))
        )
        while block := list(islice(rows, ROWS)):
            writer.write(self._batch(block) if self._to in BINARY else b"".join(map(self._line, block)))
        writer.close()

    def release(self):
        """Remove the temporary files."""
        self._counting.counter.close()

    def _line(self, row):
        """Return a row as a line: its numbers follow the values of its key."""
        numbers = [row.count, *row.numbers]
        missing = "null" if self._is_json else ""
        shown = [missing if number is None else repr(number) for number in numbers]
        added = "".join([head + text for head, text in zip(self._heads, shown, strict=True)]).encode()
        if self._is_json:
            return b"%s%s}\n" % (row.key[:-1], added)
        line = b"%s%s\n" % (row.key, added)
        return csv_as_text(line, self._form.delimiter) if self._form.values == "text" else line

    def _schema(self):
        """Return the schema of the counts: fields are texts or numbers."""
        whole, real, text = self._pyarrow.int64(), self._pyarrow.float64(), self._pyarrow.string()
        types = {"status": whole, "bytes_sent": whole, "duration": real}
        wholes = "count", "sum.bytes_sent", "distinct."
        fields = [(name, types.get(name, text)) for name in self._counting.fields]
        for name in self._counting.names[len(fields) :]:
            fields.append((name, whole if name.startswith(wholes) else real))
        return self._pyarrow.schema(fields)

    def _batches(self):
        return BINARY[self._to](self._output, self._schema())

    def _batch(self, rows):
        from json import dumps, loads

        records = []
        for row in rows:
            values = [dumps(value) if isinstance(value, list | dict) else value for value in loads(row.key).values()]
            records.append(dict(zip(self._counting.names, [*values, row.count, *row.numbers], strict=True)))
        return self._pyarrow.RecordBatch.from_pylist(records, self._schema())
