"""`uricodec dedup`: the command line of uricodec.dedup."""

import os
import sys
from contextlib import contextmanager
from time import monotonic

from uricodec import dedup
from uricodec._io.files import FileError, file_error, printable, tell
from uricodec._io.meter import Meter, remaining
from uricodec._io.reports import InvalidLine
from uricodec._io.sources import open_soon
from uricodec._io.writing import Output
from uricodec._records._templates import cell
from uricodec._records.formats import FORMATS
from uricodec._records.headers import FieldError, LongHeaderError
from uricodec._reports import REPORTS
from uricodec.cli.errors import ERRORS_HINT, LONG_HEADER_HINT, LONG_HINT, UNCLOSED, CommandError, needs
from uricodec.cli.outputs import RecordsOutput, output_of
from uricodec.cli.records import header_of, records_of
from uricodec.dedup._fields import DelimiterError, NoValuesError, OrderError
from uricodec.dedup._lines import CountsOutput
from uricodec.errors import SetError, UriError, place

# The names of phases on the terminal.
PHASES = {
    "read": "reading",
    "partitions": "processing temporary files",
    "compare": "comparing levels",
    "groups": "finding groups",
    "write": "writing",
    "update": "updating the saved set",
    "done": "done",
}

# The most lines of a table.
MOST_SHOWN = 1000

# What helps with a saved set that cannot be read.
SEEN_HINT = "--update makes a saved set; later runs need the same --kind, --level or --policy, and secret"

# Units of the numbers that are shown.
UNITS = [(1e9, "G"), (1e6, "M"), (1e3, "k")]


def run(  # noqa: PLR0913
    plan, *, estimate, groups, exclude, only_in, secret, secret_file, keep, by, merged, seen, update, **options
):
    """Deduplicate all inputs, or estimate the number of identifiers.

    Args:
        plan (Plan): The plan of the command.
        estimate, merged, update (bool): The options of these names.
        groups, secret, secret_file, keep, by, seen (str | None): As above.
        exclude, only_in (list[str] | None): As above.
        options (Any): As above, those that select which identifiers are equivalent, where they are kept, and what is
            reported.

    Returns:
        int: 0

    Raises:
        CommandError: With status 1 for an invalid line under --errors raise, with 2 for an invalid command line.
        FileError: A file cannot be read or written.
        BrokenPipeError: The output pipe is closed.
    """
    exclude, only_in = exclude or [], only_in or []
    check(plan, keep, by, [*plan.inputs, *exclude, *only_in])
    tables = {name: options.pop(name) for name in ("memory", "spill_dir", "exact")}
    options |= {"errors": plan.errors, "threads": plan.threads}
    options["secret"] = None if secret is None else os.fsencode(secret)
    if secret_file is not None:
        options["secret"] = read_secret(secret_file)
    results = {"keep": keep, "by": by, "merged": merged, "seen": seen, "update": update, "top": plan.top} | tables
    results |= {"report": report_of(options | {"count": plan.count}), "groups": None}
    for report in REPORTS.values():
        options.pop(report.key, None)
    if groups is not None:
        results["groups"] = (
            Output(groups) if plan.to in (None, "jsonl") else MergedOutput(groups, plan.to, plan.parquet)
        )
    reports = [Output(path) for path in (groups, plan.invalid_to) if path is not None]
    outputs = [] if plan.parquet else [Output(plan.output), *reports]
    with DedupMeter(plan.inputs, *outputs, progress=plan.progress) as meter, errors_of(plan):
        if meter.shows:
            options["on_progress"] = meter.show
        start = monotonic()
        if plan.parquet:
            options |= results | {"exclude": exclude, "only_in": only_in}
            stats = dedup.unique_dataset(plan.inputs, plan.records.selected, plan.output, **options)
        else:
            options |= {"line_terminator": plan.records.end, "max_line": plan.max_line} | field_of(plan.records)
            if estimate:
                write_estimate(plan, options)
                return 0
            options |= results | {"exclude": inputs_of(exclude), "only_in": inputs_of(only_in)}
            output = output_of_lines(plan, REPORTS[options["report"]].column)
            if shows_table(plan):
                output = TableOutput(plan.records, exclude or only_in or seen)
            with plan.rejects() as rejects:
                if rejects:
                    options["on_invalid"] = lambda *line: rejects.write(InvalidLine(*line).row())
                stats = dedup.dedup_files(inputs_of(plan.inputs), output, **options)
        if plan.stats:
            show_stats(stats, monotonic() - start, merged)
        meter.finish(stats)
    if not plan.parquet and stats.unclosed:
        plan.note(UNCLOSED)
    return 0


def check(plan, keep, by, names):
    """Reject what the inputs, whose names include those of sets, do not allow."""
    if keep == "newest" and by is None:
        raise CommandError("--keep newest: not allowed without --by", 2, "add --by FIELD")
    if plan.to and plan.count and (plan.parquet or plan.records.selected is not None or plan.records.end == b"\0"):
        hint = "records are written as they are, with the count before them"
        raise CommandError("--to: --count makes records of lines only", 2, hint)
    if plan.parquet:
        if "-" in plan.inputs:
            raise CommandError("--parquet: cannot read standard input", 2, "name Parquet files, or folders of them")
        if plan.output in (None, "-"):
            raise CommandError("--parquet: --output is required", 2, "-o DIR names the folder to write")
        check_parquet(plan.output, plan.inputs)
        return
    if by is not None and plan.records.selected is None:
        raise CommandError("--by: not allowed without --field, --json-field or --parquet", 2, "add one of them")
    if names.count("-") > 1:
        raise CommandError("standard input can be read only once", 2, "use - for one input only")


@contextmanager
def errors_of(plan):
    """Turn errors of the library into those of the command."""
    try:
        yield
    except SetError as error:
        raise CommandError(f"--seen: {error}", 3, SEEN_HINT) from None
    except UriError as error:
        if plan.parquet:
            raise CommandError(str(error), 1, "--errors drop leaves out such rows") from None
        reason = error.reason.removesuffix(" (max_line)")
        raise CommandError(place(error) + reason, 1, ERRORS_HINT + LONG_HINT * (reason != error.reason)) from None
    except OrderError as error:
        if plan.parquet:
            raise CommandError(f"--by: {error}", 1, "such as --by COLUMN, with numbers or times") from None
        raise CommandError(f"--by: {error}", 1 if isinstance(error, NoValuesError) else 2) from None
    except FieldError as error:
        flag = "--json-field" if plan.records.form == "json" else "--field"
        flag = "--delimiter" if isinstance(error, DelimiterError) else flag
        raise CommandError(f"{flag}: {error}", 1 if isinstance(error, NoValuesError) else 2) from None
    except LongHeaderError as error:
        raise CommandError(str(error), 3, LONG_HEADER_HINT) from None


def report_of(options):
    """Return the report that an option selects, by its name."""
    return next((name for name, report in REPORTS.items() if options.get(report.key)), "unique")


def inputs_of(names):
    """Return the inputs of dedup_files(), for which standard input is None, and "-" a file."""
    return [None if name == "-" else name for name in names]


def field_of(records):
    """Return the options of dedup_files() that select a field of Records."""
    if records.selected is None:
        return {}
    if records.form == "json":
        return {"field": records.selected, "format": "jsonl"}
    form = {"field": records.selected, "format": records.form}
    return form | {"delimiter": records.delimiter, "header": records.header}


def write_estimate(plan, options):
    """Write the approximate number of identifiers."""
    count = dedup.estimate_files(inputs_of(plan.inputs), **options)
    with Output(plan.output) as output:
        output.write(b"%d\n" % count)


def output_of_lines(plan, column):
    """Return the output for dedup_files(); `column` is the name of the counts."""
    if plan.to is not None and plan.count:
        return RecordsOutput(plan.output, template=records_of(plan.to, (column, "line"), {column}))
    return output_of(plan, plan.records.end, plan.records.csv_delimiter(), ends=False)


class MergedOutput(Output):
    """An output for a report of groups, in which each spelling that was merged becomes a record.

    Args:
        path (str): As for Output.
        to (str): The format of records, of FORMATS.
        of_files (bool): Whether spellings are in rows of files, not in lines.
    """

    def __init__(self, path, to, of_files):
        super().__init__(path)
        self._form = FORMATS[to]
        self._places = ("file", "row") if of_files else ("line",)
        self._header = header_of(to, ("kept", "spelling", "reason", *self._places, "rows"))
        self._rest = b""

    def __enter__(self):
        super().__enter__()
        super().write(self._header)
        return self

    def write(self, data):
        """Write the records of lines of JSON (bytes); the last line may go on in the next call."""
        from json import loads

        *lines, self._rest = (self._rest + data).split(b"\n")
        for group in map(loads, lines):
            for each in group["spellings"][1:]:
                self._write_record(
                    [group["first"], each["spelling"], each["by"], *map(each.get, self._places), each["rows"]]
                )

    def _write_record(self, values):
        cells = [cell(str(value).encode(), self._form.values, self._form.delimiter) for value in values]
        super().write(self._form.delimiter.join(cells) + b"\n")


def check_parquet(output, files):
    """Check that pyarrow is installed, and that the output can be written."""
    needs("--parquet", "arrow", "pyarrow")
    from uricodec.dedup._dataset_files import check_output

    try:
        check_output(output, files)
    except ValueError as error:
        raise CommandError(f"--output: {error}", 2, "give --output a new folder") from None


def show_stats(stats, seconds, merged):
    """Write the counts to standard error."""
    from json import dumps

    shown = stats.as_dict()
    merged = shown.pop("merged")
    for name in "unordered", "unclosed":
        if not shown[name]:
            del shown[name]
    shown["seconds"] = round(seconds, 3)
    if merged:
        shown["merged"] = merged
    tell(dumps(shown) + "\n")


def read_secret(path):
    """Return the secret in a file (bytes)."""
    name = printable(path)
    try:
        with open_soon(path) as file:
            secret = file.read()
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise file_error(name, error) from None
    secret = secret.removesuffix(b"\r\n" if secret.endswith(b"\r\n") else b"\n")  # a CR alone is part of the secret
    if not secret:
        raise CommandError(f"{name}: no secret found", 2, "for a new one: head -c 32 /dev/urandom | base64 >FILE")
    return secret


# --- tables -----------------------------------------------------------------------------------------------------------


def shows_table(plan):
    """Return whether counts are shown as a table: at a terminal, if they are few and no file is named."""
    if (
        plan.to is not None
        or plan.output is not None
        or plan.records.end == b"\0"
        or not 0 < (plan.top or 0) <= MOST_SHOWN
    ):
        return False
    return sys.stdout is not None and sys.stdout.isatty()


class TableOutput(CountsOutput):
    """Standard output, where counts become a table.

    Args:
        records (Records): What is counted.
        excludes (object): Whether identifiers are left out because of others.
    """

    def __init__(self, records, excludes):
        super().__init__()
        self._key, self._excludes = "line" if records.selected is None else "record", excludes

    def show(self, found, total, unique):
        from uricodec.cli.table import table_of

        rows = [([line.removesuffix(b"\n").removesuffix(b"\r")], count, []) for count, line in found]
        # `total` has lines whose identifiers are excluded
        others = 0 if self._excludes else unique - len(rows)
        self.write(table_of([self._key], rows, total, others))
        return len(rows)


# --- the terminal -----------------------------------------------------------------------------------------------------


class DedupMeter(Meter):
    """Shows progress: the phase, lines, identifiers, lines per second, and how long the rest of the phase will take."""

    _progress, _began = dedup.Progress("read", 0, 0, 0, 0), 0.0

    def show(self, progress):
        """Show progress, if the last time was long enough ago."""
        now = monotonic()
        if progress.phase != self._progress.phase:
            self._began = now
        self._progress = progress
        if self.due(now):
            self.say(self.describe())

    def finish(self, stats):
        """Set what the last line says, given the counts of the whole run (DedupStats)."""
        self._progress, self._began = dedup.Progress("done", 0, 0, stats.rows, stats.unique), self._start

    def __exit__(self, *exception):
        if self._on_terminal or self._progress.phase == "done":
            super().__exit__(*exception)

    def describe(self):
        return describe(self._progress, monotonic() - max(self._began, self._start))


def describe(progress, seconds):
    """Return a line that describes progress.

    Args:
        progress (Progress): The progress.
        seconds (float): How long the phase has taken so far.

    Returns:
        str: The line.

    >>> describe(dedup.Progress("read", 50, 200, 1_500_000, 1234), 0.5)
    'reading  25 %  1.5M lines  1.2k unique  3.0M lines/s  ETA 0:02'
    """
    parts = [PHASES.get(progress.phase, progress.phase)]
    if progress.total and progress.bytes_read:
        parts.append(f"{min(100, 100 * progress.bytes_read // progress.total)} %")
    parts += [f"{short(progress.rows)} lines", f"{short(progress.unique)} unique"]
    if seconds > 0:
        parts.append(f"{short(progress.rows / seconds)} lines/s")
    return "  ".join(parts + remaining(progress.bytes_read, progress.total, seconds))


def short(number):
    """Return a number in few characters.

    >>> short(999), short(64_000_000)
    ('999', '64.0M')
    """
    for size, unit in UNITS:
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"
