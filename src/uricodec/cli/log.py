"""`uricodec log`: the command line of uricodec.logs."""

import sys
from contextlib import ExitStack
from functools import partial

from uricodec._io import follow
from uricodec._io.files import FileError, tell
from uricodec._io.reading import Input
from uricodec._io.runner import Runner
from uricodec._io.writing import Output
from uricodec.cli.errors import CommandError, needs, with_link
from uricodec.cli.lines import descending, for_each_input
from uricodec.cli.log_outputs import BINARY, counts_records, output_of
from uricodec.cli.outputs import output_of as output_of_records
from uricodec.logs import Format, FormatError
from uricodec.logs._conditions import conditions_of
from uricodec.logs._detection import HEAD, LINES, TWO_FORMATS, others_of
from uricodec.logs._format import format_of
from uricodec.logs._groups import DOMAIN
from uricodec.logs._reading import CAPACITY, LogWorker, longest_chunk
from uricodec.logs._records import LogReader

FORMAT_HINT = "--format NAME or --format 'FORMAT STRING' says which it is; --list-formats lists the names"
BOTH_HINT = "--format NAME --format NAME, with both names, reads the lines of both"
ERRORS_HINT = "--errors drop leaves such lines out, --invalid-to FILE lists them"

# One invalid line in so many is reported always; the number of reasons that are.
FEW, REASONS = 100, 3

# In fewer records of text, a request that is not one is not worth a line, if all have none.
MANY = 10

# What is counted of each log.
TOTALS = "lines", "records", "dropped", "joined", "nul_bytes"

# Why a log has NUL bytes.
TRUNCATED = "the file was truncated while a program wrote it"


def run(plan, *, list_formats, **options):
    """Write the records of all logs.

    Args:
        plan (Plan): The plan of the command.
        list_formats (bool): Whether only to list the names of formats.
        options (Any): See Logs.

    Returns:
        int: 0; 1 if a log has no known format, or no record; 3 if a file could not be read, and others were.

    Raises:
        CommandError: No log has a record, a line is invalid under --errors raise, an output is also another file,
            --max-line is too large, or pyarrow is missing.
        FileError: The only file cannot be read, or an output not written.
        BrokenPipeError: The output pipe is closed.
    """
    if list_formats:
        return write_formats()
    try:
        LogReader([], max_line=plan.max_line)
    except ValueError as error:
        raise CommandError(f"--max-line: {str(error).removeprefix('max_line ')}", 2, "such as --max-line 16M") from None
    with records_output(plan) as output, ExitStack() as stack:
        with plan.rejects() as rejects:  # the report is complete, even if no line is a record
            converted = Logs(plan, output, rejects, **options)
            stack.callback(converted.release)
            converted.convert()
        return converted.finish()


def records_output(plan):
    """Return the output. Batches of columns count their rows themselves, see log_outputs."""
    return Output(plan.output) if plan.to in BINARY else output_of_records(plan)


def write_formats():
    """Write the names of the presets, and what writes such logs."""
    from uricodec.logs._presets import preset_descriptions

    sys.stdout.write("".join([f"{name:20}{text}\n" for name, text in preset_descriptions().items()]))
    return 0


def mapped(format, map):
    """Return the format of --map: of JSON, or a preset in which some fields are elsewhere."""
    given = [] if format == "auto" else [str(each) for each in format]
    if len(given) > 1:
        raise CommandError("--map: expected one --format", 2, "such as --format nginx-json")
    return Format(given[0] if given else None, map=map)


def options_of(format):
    """Return the hint that says how to begin with a format."""
    from shlex import quote

    options = [] if format.text is None else [f"--format {quote(format.text)}"]
    options += [f"--map {quote(f'{field}={path}')}" for field, path in (format.map or {}).items()]
    return f"{' '.join(options)} is a format to begin with; --list-formats lists those that have a name"


class Logs:
    """Converts the logs of a run.

    Args:
        plan (Plan): The plan of the command.
        output (Output): Where the records go.
        rejects (Output | None): Where the report of invalid lines goes.
        format (list[Format] | str): What --format says.
        map (list[tuple[str, str]] | None): What --map says.
        where, since, until (list[str] | str | None): The conditions.
        param (list[str] | None): The parameters whose values are added.
        redact (bool), names (str): Whether URLs are redacted, and which parameters of them.
        follow (bool): Whether to wait for more lines.
        options (Any): Other arguments of LogReader, and those of log_outputs.Counts.
    """

    def __init__(  # noqa: PLR0913
        self, plan, output, rejects, *, format, map, where, since, until, param, redact, names, follow, **options
    ):
        self._plan, self._output, self._rejects, self._follow = plan, output, rejects, follow
        self._redact = names if redact else None
        self._hide = None
        if options["mask"]:
            from uricodec.logs._mask import Mask

            self._hide = Mask(options["mask"]).hide
        try:
            self._format = mapped(format, dict(map)) if map else format_of(format)
        except ValueError as error:
            raise CommandError(f"{'--map' if map else '--format'}: {error}", 2) from None
        try:
            options["where"] = conditions_of(where or (), since, until, options["to_timezone"] or options["timezone"])
        except ValueError as error:
            raise CommandError(f"--since: {error}", 2, "such as --since 2h") from None
        names = "sort", "sum", "quantiles", "distinct", "rate", "memory", "spill_dir"
        counts = {name: options.pop(name) for name in names}
        self._counts = counts_records(plan, counts)
        options |= {"params": param or [], "max_line": plan.max_line}
        if plan.get is not None:
            from uricodec.cli.templates import of_fields

            options["fields"] = tuple(of_fields(plan.get)[0])
        if DOMAIN in {*(options["fields"] or ()), *(plan.count or ()), *(each.field for each in options["where"])}:
            needs(DOMAIN, "domains", "publicsuffixlist")
        self._sink, self._options = output_of(plan, output, options, counts)
        self._totals = dict.fromkeys(TOTALS, 0)
        self._local_times = False
        self._codes = {}  # the number of invalid lines, by code,
        self._examples = {}  # and what was wrong with the first of them: its place and the reason
        self._lossy = []  # the logs with more invalid lines than one in FEW, and how many
        self._formats = {}  # of the logs, by name
        self._likely = None  # the format of the log before
        self._told = None  # the format that was reported last
        self._left = {}  # lines that are not records, of the logs that have many, by name
        self._failures = []  # of the logs that have no record

    def convert(self):
        """Convert all inputs."""
        plan, growing = self._plan, self._follow
        if growing and len(plan.inputs) > 1:
            raise CommandError("--follow: expected one FILE", 2)
        threads, max_line = 1 if growing else plan.thread_count(), plan.max_line
        runner = Runner(threads, lambda: self._sink.state(max_line), longest_chunk(max_line), CAPACITY)
        outputs = [output.name for output in (self._output, self._rejects) if output]

        def forgive(error):
            # The counts of what could be read of the only log are worth something, too.
            counts = self._counts and self._totals["records"]
            if (len(plan.inputs) == 1 and not counts) or error.filename in outputs:
                return False
            self._failures.append(error)
            return True

        try:
            for_each_input(
                lambda source: self._convert(source, runner, threads),
                plan,
                self._output,
                self._rejects,
                open=partial(follow.FollowedInput, stop=self._sink.refresh) if growing else Input,
                forgive=forgive,
                waits=self._counts and not growing,
            )
        except KeyboardInterrupt:  # which ends a log that grows
            self._tell_invalid()
            if growing and self._counts:
                self._sink.close()
            raise

    def finish(self):
        """Say which logs have no records, and write the counts. Return the exit status.

        Raises:
            CommandError, FileError: No log has a record, and one is not empty.
        """
        self._tell_invalid()
        if self._plan.stats:
            self._show()
        records = self._totals["records"]
        for error in self._failures[: len(self._failures) - (not records)]:
            tell(f"uricodec: {error}\n")
        if self._failures and not records:
            error = self._failures[-1]
            if isinstance(error, FormatError):
                hint = BOTH_HINT if TWO_FORMATS in error.message else FORMAT_HINT
                raise CommandError(error.message, 1, hint if error.suggestion is None else options_of(error.suggestion))
            raise self._failures[-1]
        self._sink.close()
        return max([3 if isinstance(error, FileError) else 1 for error in self._failures], default=0)

    def release(self):
        """Remove temporary files."""
        self._sink.release()

    def _tell_invalid(self):
        """Say how many lines were left out, and why: if nothing else does, or if one log has more than one in 100."""
        count, lines = sum(self._codes.values()), self._totals["lines"]
        reported = self._plan.stats or self._rejects is not None
        if count == 0 or not self._totals["records"] or (reported and not self._lossy):
            return
        text = f"{count} of {lines} lines are not records ({100 * count / lines:.2g} %)"
        if len(self._plan.inputs) > 1:
            text += "".join(f"\n  {name}: {lost} of {lines}" for name, lost, lines in self._lossy)
        for code, number in list(descending(self._codes).items())[:REASONS]:
            text += f"\n  {number}: {code}, as in {self._examples[code]}"
        text += "".join(map(self._other_formats, self._left))
        if self._rejects is None:
            text += "\n\nhint: --invalid-to FILE lists them"
        self._plan.note(with_link(text, "log", 1))

    def _other_formats(self, name):
        """Return the lines of a message that say which formats the lines have that `auto` left out of a log."""
        count = f"the first {len(self._left[name])} of them"
        text = ""
        for other in others_of(self._left[name]):
            text += f"\n  {name}: {other.format} would read {other.votes} of {count}; "
            text += f"--format {self._formats[name]} --format {other.format} reads both"
            count = "the others"
        return text

    def _convert(self, source, runner, threads):
        """Convert one log."""
        name = source.name
        left = []  # the first lines that are not records
        hints = self._format is None and not self._plan.quiet
        room = HEAD if hints else 0

        def report(lines):
            nonlocal room
            for line in lines:
                if len(line.text) < room and len(left) < LINES:
                    left.append(line.text)
                    room -= len(line.text)
                if line.code not in self._examples:
                    self._examples[line.code] = f"{name}:{line.line}: {worker.why(line)}"
            if self._rejects:
                hidden = [line._replace(text=self._hide(line.text)) for line in lines] if self._hide else lines
                self._rejects.write(b"".join([line.row() for line in hidden]))

        def tell_format(found):
            self._formats[name] = str(found.format)
            if self._told == self._formats[name]:  # of many files, usually all have one format
                return
            self._told = self._formats[name]
            if not self._plan.stats and sys.stderr is not None and sys.stderr.isatty():
                votes = f"{found.votes} of the first {found.lines} lines"
                self._plan.note(f"{name}: format {found.format} ({votes})")

        worker = LogWorker(
            name,
            self._format,
            self._options,
            self._plan.errors,
            fail=lambda text, line: CommandError(text, 1, ERRORS_HINT),
            report=report,
            take=self._sink.write,
            threads=threads,
            on_format=tell_format,
            wait=self._follow,
            redact=self._redact,
            wanted=None if self._rejects else LINES if hints else 0,
            likely=self._likely,
            on_none=self._plan.note if self._plan.errors != "raise" else None,
        )
        try:
            runner.run(source, worker)
        except FormatError as error:
            self._failures.append(FormatError(f"{name}: {error.message}", error.suggestion))
            return
        finally:
            self._totals = {name: total + getattr(worker, name) for name, total in self._totals.items()}
            self._local_times |= worker.local_times
            lost = worker.invalid.count
            if worker.records and lost * FEW > worker.lines:
                self._lossy.append((name, lost, worker.lines))
                if left:
                    self._left[name] = left
            if worker.nul_bytes:
                self._plan.note(f"{name}: {worker.nul_bytes} NUL bytes before lines skipped: {TRUNCATED}")
            for code, count in worker.invalid.codes.items():
                self._codes[code] = self._codes.get(code, 0) + count
        self._likely = worker.format if worker.records and self._format is None else self._likely
        try:
            worker.check_records()
        except FormatError as error:
            self._failures.append(error)
        missing = [field for field in worker.format.fields if field in worker.missing] if worker.records else []
        if missing and (worker.format.is_json or worker.records >= MANY):
            fields = ", ".join(missing)
            self._plan.note(f"{name}: {fields}: null in all {worker.records} records of the format {worker.format}")

    def _show(self):
        """Write the counts to standard error."""
        from json import dumps

        lines, records, dropped, joined, nul_bytes = self._totals.values()
        invalid = sum(self._codes.values())
        counts = {"lines": lines, "records": records, "invalid": invalid, "dropped": dropped}
        counts["directives"] = lines - records - dropped - joined - invalid
        counts |= {"faults": descending(self._codes), "formats": self._formats}
        zone = str(self._options["timezone"] or "UTC") if self._local_times else ""
        rare = {"joined": joined, "nul_bytes": nul_bytes, "timezone": zone}
        tell(dumps(counts | {key: count for key, count in rare.items() if count}) + "\n")
