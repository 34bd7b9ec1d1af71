"""Fields that are made from another one, for groups: "time:hour", "status:class", "client:/24", "referer:host"."""

import re
from typing import NamedTuple

# How many bytes of a time of RFC 3339 show the period.
PERIODS = {"time:day": 10, "time:hour": 13, "time:minute": 16}

# The fields whose names have no numbers, and an example of each of the others.
FIXED = (*PERIODS, "status:class", "referer:host", "referer:domain", "path:shape")
EXAMPLES = (*FIXED, "client:/24", "client:/24,/48", "path:2")

NETWORK = re.compile(r"client:/(\d{1,3})(?:,/(\d{1,3}))?", re.ASCII)
SEGMENTS = re.compile(r"path:([1-9]\d?)", re.ASCII)

# The field that needs the Public Suffix List.
DOMAIN = "referer:domain"


class Group(NamedTuple):
    """A field that is made from another one.

    Attributes:
        field (str): The other one.
        part (str): "period", "class", "host", "domain", "network", "segments" or "shape".
        size (int): Of a period, how many bytes of the time; of a network, how many bits of an IPv4 address; how many
            segments.
        bits (int): Of a network, how many bits of an IPv6 address; -1: all such addresses stay as they are.
    """

    field: str
    part: str
    size: int = 0
    bits: int = -1


def group_of(name: str) -> Group | None:
    """Return what a name of a field of groups means; None if it is no such name.

    Raises:
        ValueError: If a network has more bits than an address.

    >>> group_of("client:/24,/48"), group_of("status")
    (Group(field='client', part='network', size=24, bits=48), None)
    """
    if name in PERIODS:
        return Group("time", "period", PERIODS[name])
    if name in FIXED:
        field, _, part = name.partition(":")
        return Group(field, part)
    if found := SEGMENTS.fullmatch(name):
        return Group("path", "segments", int(found[1]))
    if found := NETWORK.fullmatch(name):
        group = Group("client", "network", int(found[1]), int(found[2] or -1))
        if group.size > 32 or group.bits > 128:
            raise ValueError(f"{name!r}: expected up to 32 bits of IPv4 and 128 of IPv6, such as client:/24,/48")
        return group
    return None


def split_names(text: str) -> list[str]:
    """Return names between commas, of which that of a network may have one itself.

    >>> split_names("status,client:/24,/48,path")
    ['status', 'client:/24,/48', 'path']
    """
    names: list[str] = []
    for name in text.split(","):
        if name.startswith("/") and names and re.fullmatch(r"client:/\d+", names[-1]):
            names[-1] += f",{name}"
        else:
            names.append(name)
    return names
