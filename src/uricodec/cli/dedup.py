"""`uricodec dedup`: the command line of uricodec.dedup."""

import os
import sys
from time import monotonic

from uricodec import dedup
from uricodec._io.files import FileError, file_error, printable, tell
from uricodec._io.meter import Meter, remaining
from uricodec._io.reports import InvalidLine
from uricodec._io.sources import open_soon
from uricodec._io.writing import Output
from uricodec._records.headers import FieldError, LongHeaderError
from uricodec.cli.errors import CommandError, needs
from uricodec.cli.fields import LONG_HEADER_HINT, UNCLOSED, delimiter_of
from uricodec.cli.lines import ERRORS_HINT, LONG_HINT, check_outputs, note, progress_of, rejects_of
from uricodec.cli.outputs import CountRecordsOutput, output_of
from uricodec.dedup._corpus import CountsOutput
from uricodec.dedup._fields import DelimiterError, NoValuesError, OrderError
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


def run(arguments):
    """Deduplicate all inputs, or estimate the number of identifiers.

    Args:
        arguments (Arguments): The arguments of the command.

    Returns:
        int: 0

    Raises:
        CommandError: With status 1 for an invalid line under --errors raise, with 2 for an invalid command line.
        FileError: A file cannot be read or written.
        BrokenPipeError: The output pipe is closed.
    """
    if arguments.keep == "newest" and arguments.by is None:
        raise CommandError("--keep newest: not allowed without --by", 2, "add --by FIELD")
    if arguments.parquet:
        return deduplicate_parquet(arguments)
    if arguments.by is not None and arguments.fields is None and arguments.json_field is None:
        raise CommandError("--by: not allowed without --fields, --json-field or --parquet", 2, "add one of them")
    files, exclude, only_in = arguments.files or ["-"], arguments.exclude or [], arguments.only_in or []
    if [*files, *exclude, *only_in].count("-") > 1:
        raise CommandError("standard input can be read only once", 2, "use - for one input only")
    check_outputs(arguments)
    end = b"\0" if arguments.null_data else b"\n"
    options = identifiers(arguments) | {
        "line_terminator": end,
        "threads": arguments.threads or None,
        "max_line": arguments.max_line,
        **fields_of(arguments, end),
    }
    reports = [path for path in (arguments.groups, arguments.invalid_to) if path is not None]
    outputs = map(Output, [arguments.output, *reports])
    with DedupMeter(files, *outputs, progress=progress_of(arguments)) as meter:
        if meter.shows:
            options["on_progress"] = meter.show
        try:
            if arguments.estimate:
                return estimate(arguments, inputs_of(files), options)
            others = {"exclude": inputs_of(exclude), "only_in": inputs_of(only_in)}
            stats = deduplicate(arguments, inputs_of(files), options | others)
            meter.finish(stats)
            if stats.unclosed:
                note(arguments, UNCLOSED)
        except SetError as error:
            raise of_set(error) from None
        except UriError as error:
            reason = error.reason.removesuffix(" (max_line)")
            hint = ERRORS_HINT + LONG_HINT * (reason != error.reason)
            raise CommandError(place(error) + reason, 1, hint) from None
        except FieldError as error:
            flag = "--json-field" if arguments.json_field is not None else "--fields"
            flag = "--by" if isinstance(error, OrderError) else flag
            flag = "--delimiter" if isinstance(error, DelimiterError) else flag
            raise CommandError(f"{flag}: {error}", 1 if isinstance(error, NoValuesError) else 2) from None
        except LongHeaderError as error:
            raise CommandError(str(error), 3, LONG_HEADER_HINT) from None
    return 0


def inputs_of(names):
    """Return the inputs of dedup_files(), for which standard input is None, and "-" a file."""
    return [None if name == "-" else name for name in names]


def fields_of(arguments, end):
    """Return the options of dedup_files() that select a field of records, given the terminator of lines."""
    if arguments.json_field is not None:
        return {"field": arguments.json_field, "format": "jsonl"}
    if arguments.fields is None:
        return {}
    form = "csv" if arguments.csv else "delimited"
    delimiter = delimiter_of(arguments, form, end)
    return {"field": arguments.fields, "format": form, "delimiter": delimiter, "header": arguments.header}


def estimate(arguments, files, options):
    """Write the approximate number of identifiers."""
    count = dedup.estimate_files(files, **options)
    with Output(arguments.output) as output:
        output.write(b"%d\n" % count)
    return 0


def deduplicate(arguments, files, options):
    """Write identifiers, reports and counts. Return the counts (DedupStats)."""
    options |= tables(arguments) | results(arguments)
    start = monotonic()
    with rejects_of(arguments) as rejects:
        if rejects:
            options["on_invalid"] = lambda *line: rejects.write(InvalidLine(*line).row())
        output = TableOutput(arguments) if shows_table(arguments) else records_output(arguments, options)
        stats = dedup.dedup_files(files, output, **options)
    if arguments.stats:
        show_stats(stats, monotonic() - start, arguments.rules)
    return stats


def records_output(arguments, options):
    """Return the output for dedup_files()."""
    if arguments.to is not None:
        return CountRecordsOutput(arguments.output, arguments.to)
    form = options.get("format")
    csv = (options["delimiter"] or b",") if form == "csv" else None
    return output_of(arguments, options["line_terminator"], csv, ends=False)


def deduplicate_parquet(arguments):
    """Deduplicate Parquet files."""
    files, output = arguments.files, arguments.output
    if not files or "-" in files:
        raise CommandError("--parquet: cannot read standard input", 2, "name Parquet files, or folders of them")
    if output in (None, "-"):
        raise CommandError("--parquet: --output is required", 2, "-o DIR names the folder to write")
    check_parquet(output, files)
    check_outputs(arguments)
    options = identifiers(arguments) | tables(arguments) | results(arguments)
    options |= {"exclude": arguments.exclude or [], "only_in": arguments.only_in or []}
    options |= {"threads": arguments.threads or None}
    start = monotonic()
    with DedupMeter(files, progress=progress_of(arguments)) as meter:
        if meter.shows:
            options["on_progress"] = meter.show
        try:
            stats = dedup.unique_dataset(files, arguments.fields, output, **options)
        except SetError as error:
            raise of_set(error) from None
        except UriError as error:
            raise CommandError(str(error), 1, "--errors drop leaves out such rows") from None
        except OrderError as error:
            raise CommandError(f"--by: {error}", 1, "such as --by COLUMN, with numbers or times") from None
        meter.finish(stats)
    if arguments.stats:
        show_stats(stats, monotonic() - start, arguments.rules)
    return 0


def of_set(error):
    """Return the error of the command for a SetError."""
    return CommandError(f"--seen: {error}", 3, SEEN_HINT)


def check_parquet(output, files):
    """Check that pyarrow is installed, and that the output can be written."""
    needs("--parquet", "arrow", "pyarrow")
    from uricodec.dedup._dataset import check_output

    try:
        check_output(output, files)
    except ValueError as error:
        raise CommandError(f"--output: {error}", 2, "give --output a new folder") from None


def identifiers(arguments):
    """Return the options that select which identifiers are equivalent."""
    secret = None if arguments.secret is None else os.fsencode(arguments.secret)
    if arguments.secret_file is not None:
        secret = read_secret(arguments.secret_file)
    names = "kind", "level", "policy", "errors"
    return {name: getattr(arguments, name) for name in names} | {"secret": secret}


def tables(arguments):
    """Return the options of the tables of identifiers."""
    return {name: getattr(arguments, name) for name in ("memory", "spill_dir", "exact")}


def results(arguments):
    """Return the options that select what is written."""
    report = "counts" if arguments.count else "repeated" if arguments.repeated else "unique"
    names = "top", "keep", "by", "rules", "seen", "update"
    groups = None if arguments.groups is None else Output(arguments.groups)
    return {"report": report, "groups": groups} | {name: getattr(arguments, name) for name in names}


def show_stats(stats, seconds, rules):
    """Write the counts to standard error."""
    from json import dumps

    shown = stats.as_dict()
    merged = shown.pop("merged")
    for name in "unordered", "unclosed":
        if not shown[name]:
            del shown[name]
    shown["seconds"] = round(seconds, 3)
    if rules:
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


def shows_table(arguments):
    """Return whether counts are shown as a table: at a terminal, if they are few and no file is named."""
    if (
        arguments.to is not None
        or arguments.top is None
        or arguments.top > MOST_SHOWN
        or arguments.output is not None
        or arguments.null_data
    ):
        return False
    return sys.stdout is not None and sys.stdout.isatty()


class TableOutput(CountsOutput):
    """Standard output, where counts become a table.

    Args:
        arguments (Arguments): The arguments of the command.
    """

    def __init__(self, arguments):
        super().__init__()
        self._key = "line" if arguments.fields is None and arguments.json_field is None else "record"
        self._excludes = bool(arguments.exclude or arguments.only_in or arguments.seen)

    def show(self, found, total, unique):
        from uricodec.cli.table import CountTable, terminal

        rows = [([line.removesuffix(b"\n").removesuffix(b"\r")], count, []) for count, line in found]
        width, encoding = terminal()
        # `total` has lines whose identifiers are excluded
        others = 0 if self._excludes else unique - len(rows)
        lines = CountTable([self._key], width=width, encoding=encoding).lines(rows, total, others)
        self.write("".join(f"{line}\n" for line in lines).encode(encoding))
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
