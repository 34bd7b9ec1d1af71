"""`uricodec dedup`: what the command line has to say about deduplication. See uricodec.dedup for the work."""

import sys
from time import monotonic

from uricodec import dedup
from uricodec._io import streams
from uricodec._rows.reports import InvalidLine
from uricodec.cli.errors import CommandError
from uricodec.cli.lines import refuse_same_file
from uricodec.errors import UriError

# What a phase is called on the terminal.
PHASES = {
    "read": "reading",
    "sift": "sorting out what was spilled",
    "compare": "comparing levels",
    "groups": "finding groups",
    "write": "writing",
}

# What is done to the names of the numbers that are shown.
UNITS = [(1e9, "G"), (1e6, "M"), (1e3, "k")]


def run(arguments):
    """Deduplicate all inputs, or estimate what that would leave.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0

    Raises:
        CommandError: Of status 1 for a line that is refused with --errors raise, 2 for options that cannot be.
        FileError: A file fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    refuse_same_file(arguments)
    key = read_key(arguments)
    if arguments.memory is not None:
        check_memory(arguments.memory)
    how = {
        "kind": arguments.kind,
        "level": arguments.level,
        "errors": arguments.errors,
        "end": b"\0" if arguments.nul else b"\n",
        "jobs": arguments.jobs,
        "max_line": arguments.max_line,
        "key": key,
    }
    files = arguments.files or ["-"]
    with Meter(arguments.output) as meter:
        if meter.shows:
            how["on_progress"] = meter.show
        try:
            if arguments.estimate:
                return estimate(arguments, files, how)
            return deduplicate(arguments, files, how)
        except UriError as error:
            raise CommandError(error.reason, 1) from None


def estimate(arguments, files, how):
    """Write about how many names there are."""
    count = dedup.estimate_files(files, **how)
    with streams.Output(arguments.output) as output:
        output.write(b"%d\n" % count)
    return 0


def deduplicate(arguments, files, how):
    """Write names, reports and counts."""
    how |= {
        "report": "counts" if arguments.count else "repeated" if arguments.repeated else "unique",
        "groups": arguments.groups,
        "against": arguments.against,
        "memory": arguments.memory,
        "spill_dir": arguments.spill_dir,
        "exact": arguments.exact,
        "rules": arguments.rules,
    }
    start = monotonic()
    if arguments.invalid_to is None:
        counts = dedup.dedup_files(files, arguments.output, **how)
    else:
        with streams.Output(arguments.invalid_to) as rejects:
            how["on_invalid"] = lambda *line: rejects.write(InvalidLine(*line).row())
            counts = dedup.dedup_files(files, arguments.output, **how)
    if arguments.stats:
        show_stats(counts, monotonic() - start, arguments.rules)
    return 0


def show_stats(counts, seconds, rules):
    """Write the counts to standard error."""
    from json import dumps

    said = counts.as_dict()
    merged = said.pop("merged")
    said["seconds"] = round(seconds, 3)
    if rules:
        said["merged"] = merged
    streams.tell(dumps(said) + "\n")


# --- options ----------------------------------------------------------------------------------------------------------


def read_key(arguments):
    """The key of the fingerprints (str or bytes), None for a random one."""
    if arguments.key_file is None:
        return arguments.key
    name = streams.printable(arguments.key_file)
    try:
        with open(arguments.key_file, "rb") as file:
            key = file.read()
    except (OSError, ValueError) as error:
        raise streams.failure(name, error) from None
    key = key.removesuffix(b"\r\n" if key.endswith(b"\r\n") else b"\n")  # a CR alone is a part of it
    if not key:
        raise CommandError(f"{name}: no key in it (for a new one: head -c 32 /dev/urandom | base64 >FILE)", 2)
    return key


def check_memory(memory):
    """Refuse what is no size, or no memory at all."""
    from uricodec.dedup._sift import parse_memory

    try:
        parse_memory(memory)
    except ValueError as error:
        raise CommandError(f"argument --memory: {error}", 2) from None


# --- the terminal -----------------------------------------------------------------------------------------------------


class Meter(streams.Meter):
    """How far it is: lines, names, lines a second, and what is done just now.

    Args:
        path (str | None): Where the command writes.

    Attributes:
        shows (bool): Whether there is a terminal to show it on.
    """

    def __init__(self, path):
        super().__init__([], Where(path))
        self.shows = self.on_terminal
        self._phase, self._began = None, 0.0

    def show(self, progress):
        """Show it, if it is time to."""
        now = monotonic()
        if progress.phase != self._phase:
            self._phase, self._began = progress.phase, now
        if self.due(now):
            self.say(describe(progress, now - self._began))


class Where:
    """Where the command writes, for a meter.

    Args:
        path (str | None): The file; None or "-": standard output.
    """

    def __init__(self, path):
        self._path = path

    def isatty(self):
        """Whether that is a terminal."""
        return self._path in (None, "-") and sys.stdout is not None and sys.stdout.isatty()


def describe(progress, seconds):
    """Progress in words.

    Args:
        progress (Progress): It.
        seconds (float): How long its phase has taken so far.

    Returns:
        str: A line.

    >>> describe(dedup.Progress("read", 50, 200, 1_500_000, 1234), 0.5)
    'reading  25 %  1.5M lines  1.2k names  3.0M lines/s'
    """
    parts = [PHASES.get(progress.phase, progress.phase)]
    if progress.total and progress.octets:
        parts.append(f"{min(100, 100 * progress.octets // progress.total)} %")
    parts += [f"{short(progress.rows)} lines", f"{short(progress.unique)} names"]
    if seconds > 0:
        parts.append(f"{short(progress.rows / seconds)} lines/s")
    return "  ".join(parts)


def short(number):
    """A number in few characters.

    >>> short(999), short(64_000_000)
    ('999', '64.0M')
    """
    for size, unit in UNITS:
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"
