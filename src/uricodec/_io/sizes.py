"""Sizes in bytes and durations, as people write them."""

import re
import sys

UNITS = "KMGT"
SIZE = re.compile(rf"(\d{{1,18}}(?:\.\d{{1,18}})?) ?([{UNITS}]?)(?:I?B)?", re.ASCII)

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
DURATION = re.compile(rf"(\d{{1,9}}(?:\.\d{{1,9}})?) ?([{''.join(SECONDS)}])", re.ASCII)


def parse_size(text: str) -> int:
    """Return a size in bytes.

    Args:
        text (str): A number, perhaps with a unit, which is a power of 1024: "4096", "64K", "1.5G", "16MiB".

    Returns:
        int: The size, rounded down.

    Raises:
        ValueError: If the text is something else, or the size is 0 or exceeds the address space.

    >>> parse_size("4096"), parse_size("1.5k"), parse_size("16MiB")
    (4096, 1536, 16777216)
    """
    found = SIZE.fullmatch(text.strip().upper())
    size = 0
    if found:
        number, unit = found.groups()
        whole, _, part = number.partition(".")
        factor = 1024 ** (1 + UNITS.index(unit)) if unit else 1
        size = int(whole) * factor + int(part or 0) * factor // 10 ** len(part)
    if not 0 < size < sys.maxsize:
        raise ValueError(f"expected a size in bytes such as 4096, 64K or 1.5G, got {text!r}")
    return size


def parse_duration(text: str) -> float:
    """Return a duration in seconds.

    Args:
        text (str): A number and a unit: "90s", "15m", "2h", "7d", "1.5w".

    Returns:
        float: Seconds.

    Raises:
        ValueError: If the text is something else.

    >>> parse_duration("2h"), parse_duration("1.5d")
    (7200.0, 129600.0)
    """
    found = DURATION.fullmatch(text.strip().lower())
    if not found:
        raise ValueError(f"expected a duration such as 90s, 15m, 2h or 7d, got {text!r}")
    return float(found[1]) * SECONDS[found[2]]
