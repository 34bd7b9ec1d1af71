"""Sets of hosts and prefixes that the command `filter` takes: lists, or saved sets."""

from uricodec._io.files import FileError, file_error, printable
from uricodec._io.reports import visible
from uricodec.cli.errors import CommandError
from uricodec.errors import SetError
from uricodec.uri import HostSet, PrefixSet

MOST = 32  # the capacity of FilterRows


def load_sets(plan, hosts, prefixes):
    """Return the sets in files, and say which lines of lists were not understood.

    Args:
        plan (Plan): The plan of the command.
        hosts, prefixes (list[str] | None): The files: lists, or saved sets.

    Raises:
        FileError: If a file cannot be read.
        CommandError: If a saved set is damaged, or of another kind; a set has no entry; or there are more than MOST
            files.
    """
    if hosts is None and prefixes is None:
        raise CommandError("expected --hosts or --prefixes", 2)
    files = (("--hosts", hosts, HostSet), ("--prefixes", prefixes, PrefixSet))
    if sum(len(paths or ()) for _, paths, _ in files) > MOST:
        raise CommandError(f"--hosts: expected at most {MOST} lists, with those of --prefixes", 2)
    return [load(plan, flag, path, kind) for flag, paths, kind in files for path in paths or ()]


def load(plan, flag, path, kind):
    """Return the set in a file."""
    name = printable(path)
    try:
        entries = kind._load(path)
    except FileError:
        raise
    except SetError as error:
        raise CommandError(f"{flag}: {error}", 3) from None
    except (OSError, ValueError) as error:  # ValueError: a name with NUL
        raise file_error(name, error) from None
    report = entries.report
    if report is not None and report.not_understood:
        number, text = report.examples[0]
        count = f"{report.not_understood} line{'' if report.not_understood == 1 else 's'} of {report.lines}"
        shown = visible(text.encode())
        plan.note(f"{name}: {count} not understood, first line {number}: {shown!r}")
    if not entries:  # it would match nothing: a block list lets everything pass
        raise CommandError(f"{flag}: {name}: no {kind._kind} found", 1, f"expected one {kind._what} on each line")
    return entries
