"""Naive references of the tables that find duplicates, and of which rows are kept: dicts."""

import functools
import re
from datetime import date
from fractions import Fraction

PENDING, SEEN, NEW, LATER = range(4)


class Table:
    """What a table holds, by the name itself: its fingerprint, or that with its normal form.

    `full` is told: when that is depends on memory.
    """

    def __init__(self, exact=False):
        self.exact = exact
        self.names = {}  # -> [number of the first row, how often]
        self.full = False

    def add(self, fingerprints, forms=None, numbers=None, marks=None, until=None):
        """Return the marks. From row `until` on the table is full."""
        marks = list(marks or [PENDING] * len(fingerprints))
        for i, fingerprint in enumerate(fingerprints):
            self.full |= i == until
            if marks[i] != PENDING:
                continue
            name = (fingerprint, forms[i]) if self.exact else fingerprint
            if name in self.names:
                self.names[name][1] += 1
                marks[i] = SEEN
            elif self.full:
                marks[i] = LATER
            else:
                self.names[name] = [numbers[i] if numbers else i, 1]
                marks[i] = NEW
        return marks


def registers(fingerprints, precision):
    """Those of HyperLogLog, by the bits of the second half as text."""
    result = [0] * 2**precision
    for fingerprint in fingerprints:
        bits = f"{int.from_bytes(fingerprint[8:], 'little'):064b}"[1:]
        register, rest = int(bits[:precision], 2), bits[precision:] + "1"
        result[register] = max(result[register], rest.index("1") + 1)
    return result


# --- which rows are kept ----------------------------------------------------------------------------------------------

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)? ?(?:[Zz]|UTC|([+-])(\d\d)(?::?(\d\d))?)?)?",
    re.ASCII,
)
UNIT = 10**19  # the order of a value is exact to a part of 1 in so many


@functools.cache
def order_of(text):
    """Where a value stands: a number of units, rounded towards 0; None if it is not readable."""
    text = text.strip(" \t")
    if NUMBER.fullmatch(text):
        digits, _, exponent = text.lower().partition("e")
        exponent = max(-1000, min(int(exponent or 0), 1000))  # a greater one makes the fraction too large for memory
        number = Fraction(f"{digits}e{exponent}")
        units = int(number * UNIT)
        return units if units - (units % UNIT) > -(2**63) * UNIT and units < 2**63 * UNIT else None
    found = TIME.fullmatch(text)
    if not found:
        return None
    day, hour, minute, second, part, sign, zone, zone_minute = found.groups()
    hour, minute, second, zone, zone_minute = (int(each or 0) for each in (hour, minute, second, zone, zone_minute))
    if hour > 23 or minute > 59 or second > 60 or zone > 23 or zone_minute > 59:
        return None
    try:
        year, month, day = map(int, day.split("-"))
        days = date(year or 400, month, day).toordinal() - (0 if year else 146097) - date(1970, 1, 1).toordinal()
    except ValueError:
        return None
    ahead = (60 * zone + zone_minute) * (-60 if sign == "-" else 60)
    whole = 86400 * days + 3600 * hour + 60 * minute + second - ahead
    return whole * UNIT + int((part or "0")[:19].ljust(19, "0"))


def kept_rows(names, keep="first", orders=None, excluded=(), least=1, top=None):  # noqa: PLR0913, PLR0917
    """Return the rows that are kept, each with its count.

    Args:
        names (list): The identifier of each row; no identifier is the same as ....
        keep (str): "first", "last" or "newest".
        orders (list): With "newest", for each row where it stands, or None.
        excluded (Container): Identifiers that are not kept.
        least (int): The lowest count.
        top (int | None): How many of the most frequent ones.
    """
    counts, rows = {}, {}
    for row, name in enumerate(names):
        if name is ... or name in excluded:
            continue
        counts[name] = counts.get(name, 0) + 1
        is_newer = (
            keep == "newest"
            and orders[row] is not None
            and (name in rows and (orders[rows[name]] is None or orders[row] > orders[rows[name]]))
        )
        if name not in rows or keep == "last" or is_newer:
            rows[name] = row
    found = sorted((row, counts[name]) for name, row in rows.items() if counts[name] >= least)
    return found if top is None else sorted(sorted(found, key=lambda each: -each[1])[:top])
