"""The Public Suffix List: what the names in its rules are, and a table of them, made once for each list.

The list is that of the library `publicsuffixlist`, or a file of the same format. A rule is a name, "*." before a name,
or "!" before a name that a rule with "*." contains. Rules between the lines "===BEGIN PRIVATE DOMAINS===" and "===END
PRIVATE DOMAINS===" are of the private section.
"""

import os
from collections.abc import Callable, Iterable
from importlib.resources import files
from itertools import product
from stat import S_ISFIFO
from typing import Any

from uricodec._base.extras import need

# What a name is. A "parent" is the end of a longer name in a rule.
RULE, WILDCARD, EXCEPTION, PARENT = 1, 2, 4, 8

# By file and section: the state of the file, and its table.
_tables: dict[tuple[str | None, bool], tuple[tuple[int, ...], Any]] = {}


def table_of(private: bool, suffixes: str | os.PathLike[str] | None, made_of: Callable[[dict[bytes, int]], Any]) -> Any:
    """Return the table of a list. A file that has changed is read again.

    Args:
        suffixes (str | os.PathLike | None): The file; None: the list of the library.
        made_of (Callable): Makes a table of what names_of() returns.

    Raises:
        ModuleNotFoundError: If the library is needed and not installed.
        OSError: If the file cannot be read.
        TypeError: If `suffixes` is not a path.
        ValueError: If a rule is malformed.
    """
    path = None if suffixes is None else os.fspath(suffixes)
    if path is not None and not isinstance(path, str):
        raise TypeError(f"suffixes must be a str or a path, got {suffixes!r}")
    state: tuple[int, ...] = ()
    if path is not None:
        about = os.stat(path)
        if S_ISFIFO(about.st_mode):  # the next call would find nothing in it
            raise ValueError(f"suffixes must be a file that can be read again, got the pipe {path!r}")
        state = about.st_mtime_ns, about.st_size
    known = _tables.get((path, bool(private)))
    if known is not None and known[0] == state:
        return known[1]
    if path is None:
        need("domains", "publicsuffixlist")
        text = files("publicsuffixlist").joinpath("public_suffix_list.dat").read_bytes()
    else:
        with open(path, "rb") as file:
            text = file.read()
    table = made_of(names_of(text.decode("utf-8").splitlines(), private))
    _tables[path, bool(private)] = state, table
    return table


def names_of(lines: Iterable[str], private: bool) -> dict[bytes, int]:
    """Return what each name in the rules of a list is.

    A name beyond ASCII is there with U-labels, with A-labels, and with any mixture of them.

    Args:
        lines (Iterable[str]): The lines of the list. A rule ends with the first white space.

    Raises:
        ValueError: If a rule is malformed.

    >>> names_of(["// comment", "*.ck", "!www.ck"], False)
    {b'ck': 10, b'www.ck': 4}
    """
    found: dict[bytes, int] = {}
    skipped = False
    for line in lines:
        if line.startswith("//"):
            if "===BEGIN PRIVATE DOMAINS===" in line:
                skipped = not private
            elif "===END PRIVATE DOMAINS===" in line:
                skipped = False
            continue
        rule = (line.split(maxsplit=1) or [""])[0].lower()
        if skipped or rule in ("", "*"):  # "*" is the default rule
            continue
        flag, name = RULE, rule
        if rule.startswith("*."):
            flag, name = WILDCARD, rule[2:]
        elif rule.startswith("!"):
            flag, name = EXCEPTION, rule[1:]
        labels = name.split(".")
        ways = [_spellings(label) for label in labels]
        if "" in labels or {"*", "!"} & {*name} or (flag == EXCEPTION and len(labels) == 1):
            raise ValueError(f"malformed rule {rule!r}")
        if sum(len(way) == 2 for way in ways) > 8:  # which is 256 mixtures
            raise ValueError(f"too many labels beyond ASCII in rule {rule!r}")
        for first in range(len(labels)):
            for way in product(*ways[first:]):
                key = b".".join(way)
                found[key] = found.get(key, 0) | (PARENT if first else flag)
    return found


def _spellings(label: str) -> tuple[bytes, ...]:
    """Return the U-label and the A-label, or the only spelling (RFC 3492)."""
    if label.isascii():
        return (label.encode(),)
    return label.encode(), b"xn--" + label.encode("punycode")
