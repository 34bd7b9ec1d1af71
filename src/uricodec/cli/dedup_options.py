"""What `uricodec dedup` can be told, and what its help says. This is imported when any command starts."""

import argparse
import re

DEDUP = """\
Print each name once: the first line of all that stand for the same one, in the
order of the input. Lines are not changed.

--kind and --level say which names are the same; see 'uricodec normalize' for
the levels. A line that is no URN is the same as lines of its octets. With the
other kinds any line counts as a name; only --level rfc1630 refuses a stray %.

The order of the input stays whatever its size. What does not fit in --memory
waits in temporary files that nobody sees, and that are gone when the command
ends, however it ends. Several inputs are one; standard input is copied there.
"""
DEDUP_EXAMPLES = """\
examples:
  uricodec dedup --kind urn urns.txt -o unique.txt
  uricodec dedup --kind uri --level scheme --count urls.txt.gz
  uricodec dedup --kind urn --against old.txt new.txt -o added.txt
  uricodec dedup --kind urn --groups groups.jsonl -o unique.txt urns.txt
  uricodec dedup --kind iri --memory 2G --spill-dir /scratch --stats crawl*.gz
  uricodec dedup --kind urn --estimate urns.txt

"""

SIZE = re.compile(r"[0-9]+(\.[0-9]+)?([kmgt](i?b)?|%)?", re.IGNORECASE)


def memory_size(text):
    """The text, if it is a size: "1000000", "64M", "50%"."""
    if not SIZE.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"not a size: {text!r} (write 64M or 1G, or 50% for that part of the machine's memory)"
        )
    return text


def add(dedup):
    """Add the options to the parser of the command."""
    dedup.add_argument(
        "--errors",
        choices=["keep", "drop", "raise"],
        default="keep",
        help="what to do with a line that is no URN, or at --level rfc1630 has a stray %%: treat it as the octets that "
        "it has (keep, the default), leave it out (drop), or stop there and say where (raise); any other line "
        "counts as a name",
    )
    reports = dedup.add_argument_group("reports")
    reports.add_argument(
        "-c", "--count", action="store_true", help="write before each line how often its name occurs, and a tab"
    )
    reports.add_argument(
        "-d", "--repeated", action="store_true", help="write only the lines whose name occurs more than once"
    )
    reports.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="FILE",
        help="leave out the names that this file has; may be given again, for more files",
    )
    reports.add_argument(
        "--groups",
        metavar="FILE",
        help="also write, as JSON lines, each name that is spelled in more than one way: all its spellings, how often "
        "each occurs, and by which level it became the same",
    )
    reports.add_argument(
        "--estimate",
        action="store_true",
        help="print only how many names there are, to about 1 %% (HyperLogLog): one reading, next to no memory",
    )
    reports.add_argument(
        "--rules",
        action="store_true",
        help="with --stats: also how many lines each level merged; reads the input once more for each",
    )
    limits = dedup.add_argument_group("memory, and how sure")
    limits.add_argument(
        "--memory",
        type=memory_size,
        metavar="SIZE",
        help="how much the names may take: 64M, 1G, or 50%% of the machine's memory (the default); the program takes "
        "about 30M besides",
    )
    limits.add_argument(
        "--spill-dir",
        metavar="DIR",
        help="where temporary files go (default: the system's place, for example TMPDIR)",
    )
    limits.add_argument(
        "--exact",
        action="store_true",
        help="compare names octet by octet; without this, by 128-bit fingerprints under a random key",
    )
    key = limits.add_mutually_exclusive_group()
    key.add_argument(
        "--key",
        metavar="KEY",
        help="the key of the fingerprints, so that those of --groups are the same in every run; other users of the "
        "machine may see it, so it is good for tests",
    )
    key.add_argument("--key-file", metavar="FILE", help="the same, from a file: its octets, but a newline at the end")
    dedup.add_argument("-z", "--null-data", dest="nul", action="store_true", help="a line ends with NUL, not a newline")


# What --estimate does not do.
OTHERS = ["count", "repeated", "against", "groups", "rules", "memory", "spill_dir", "exact", "invalid_to", "stats"]


def settle(arguments, levels):
    """Refuse options that mean nothing.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.
        levels (dict[str, list[str]]): Of each kind.
    """
    kind, level = arguments.kind, arguments.level
    if level is not None and level not in levels[kind]:
        choices = ", ".join(levels[kind])
        has = f"has no level {level!r} (choose from {choices})" if choices else "has no levels"
        arguments.refuse(f"argument --level: --kind {kind} {has}")
    if arguments.estimate:
        for name in OTHERS:
            if getattr(arguments, name):
                arguments.refuse(f"argument --{name.replace('_', '-')}: not allowed with --estimate")
    if arguments.count and arguments.repeated:
        arguments.refuse("argument -d/--repeated: not allowed with -c/--count (1 says that a name is not repeated)")
    if arguments.rules and not arguments.stats:
        arguments.refuse("argument --rules: only with --stats, which says what it finds")
    if [*(arguments.files or ["-"]), *arguments.against].count("-") > 1:
        arguments.refuse("standard input can be read only once")
    if arguments.groups and kind == "bytes":
        arguments.refuse("argument --groups: with --kind bytes, each name has one spelling (see --count)")
    if arguments.key == "":
        arguments.refuse("argument --key: a key has at least one character")
