"""Sizes in bytes, sizes of memory and durations, as people write them."""

import os
import sys

UNITS = "KMGT"
SIZE = rf"(\d{{1,18}}(?:\.\d{{1,18}})?) ?([{UNITS}]?)(?:I?B)?"

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
DURATION = rf"(\d{{1,9}}(?:\.\d{{1,9}})?) ?([{''.join(SECONDS)}])"

# The size of the address space.
ADDRESSES = 2 * sys.maxsize + 1

# A share of the machine's memory.
SHARE = r"0*[1-9]\d?(\.\d+)?%|100%"


def matched(pattern, text):
    """Return the match of a whole text of ASCII, or None."""
    import re  # imported late: most command lines have neither a size nor a duration

    return re.fullmatch(pattern, text, re.ASCII)


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
    found = matched(SIZE, text.strip().upper())
    size = 0
    if found:
        number, unit = found.groups()
        whole, _, part = number.partition(".")
        factor = 1024 ** (1 + UNITS.index(unit)) if unit else 1
        size = int(whole) * factor + int(part or 0) * factor // 10 ** len(part)
    if not 0 < size < sys.maxsize:
        raise ValueError(f"expected a size in bytes such as 4096, 64K or 1.5G, got {text!r}")
    return size


def parse_memory(memory):
    """Return a memory size in bytes.

    Args:
        memory (int | str | None): Bytes, a size ("64M", see parse_size()), or a share of the machine's memory ("50%");
            None: half of it.

    >>> parse_memory("64M"), parse_memory("1.5k"), parse_memory(1000)
    (67108864, 1536, 1000)
    """
    if memory is None:
        return machine_memory() // 2
    if isinstance(memory, str):
        if matched(SHARE, memory):
            return int(float(memory[:-1]) * machine_memory() / 100)
        return parse_size(memory)
    try:
        size = int(memory)
    except (ValueError, OverflowError):  # not a number, infinite
        size = 0
    if not 0 < size <= ADDRESSES:
        raise ValueError(f"expected a size in bytes within the address space, got {memory!r}")
    return size


def machine_memory():
    """Return the machine's memory in bytes, or the limit of the control group or address space if that is less."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        size = 1 << 31
    try:
        with open("/sys/fs/cgroup/memory.max", "rb") as file:
            size = min(size, int(file.read()))
    except (OSError, ValueError):
        pass
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

        limit, _ = getrlimit(RLIMIT_AS)
        size = size if limit == RLIM_INFINITY else min(size, limit)
    except ImportError:  # Windows
        pass
    return min(size, ADDRESSES)  # a 32-bit process may run on a larger machine


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
    found = matched(DURATION, text.strip().lower())
    if not found:
        raise ValueError(f"expected a duration such as 90s, 15m, 2h or 7d, got {text!r}")
    return float(found[1]) * SECONDS[found[2]]
