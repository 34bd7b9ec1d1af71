"""Times and their zones, as people write them."""

import re
from collections.abc import Iterator
from datetime import datetime, time, timedelta, timezone, tzinfo

from uricodec._io.sizes import parse_duration

# An offset from UTC, as RFC 3339 writes it.
OFFSET = re.compile(r"([+-])([01]\d|2[0-3]):?([0-5]\d)")

# The lengths of periods, and how many of them without records are shown between two others.
STEPS = {"time:day": timedelta(days=1), "time:hour": timedelta(hours=1), "time:minute": timedelta(minutes=1)}
MOST_PERIODS = 1000

# A date or a time, as RFC 3339 writes them; the seconds and the zone may be missing.
MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d)?(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?)?", re.ASCII)

# Words for moments, and how many days before today's midnight they are; None: now.
WORDS = {"now": None, "today": 0, "yesterday": 1}
UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timezone_of(text: str) -> tzinfo | None:
    """Return the zone that a text means.

    Args:
        text (str): "UTC", "+hh:mm", "-hhmm", or a name of the IANA time zone database.

    Returns:
        tzinfo | None: The zone. None: UTC.

    Raises:
        ValueError: If the zone is unknown.

    >>> timezone_of("+05:30")
    datetime.timezone(datetime.timedelta(seconds=19800))
    """
    if not isinstance(text, str):
        raise TypeError(f"timezone must be a str, got {type(text).__name__}")
    if text.upper() in ("UTC", "Z"):
        return None
    if offset := OFFSET.fullmatch(text):
        minutes = 60 * int(offset[2]) + int(offset[3])
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(text)
    except (OSError, ValueError, LookupError):
        raise ValueError(
            f"unknown time zone {text!r}; a zone is UTC, +hh:mm, or a name such as Europe/Vienna"
        ) from None


def local_offset(zone: tzinfo, seconds: int) -> int:
    """Return the offset of a zone from UTC in seconds at a local time, given as seconds since 1970; 0 if it is unknown.

    >>> local_offset(timezone_of("+02:00"), 0)
    7200
    """
    try:
        offset = (datetime(1970, 1, 1, tzinfo=zone) + timedelta(seconds=seconds)).utcoffset()
    except (OverflowError, ValueError):  # at the ends of the years that datetime has
        offset = None
    return round(offset.total_seconds()) if offset else 0


def utc_offset(zone: tzinfo, seconds: int) -> int:
    """Return the offset of a zone from UTC in seconds at a moment, given as seconds since 1970; 0 if it is unknown.

    >>> utc_offset(timezone_of("+02:00"), 0)
    7200
    """
    try:
        offset = (EPOCH + timedelta(seconds=seconds)).astimezone(zone).utcoffset()
    except (OverflowError, ValueError):  # at the ends of the years that datetime has
        offset = None
    return round(offset.total_seconds()) if offset else 0


def periods_between(first: str, last: str, period: str, zone: tzinfo | None) -> Iterator[str]:
    """Yield the days, hours or minutes between two of them, at most MOST_PERIODS; more are too many to be shown.

    Args:
        first, last (str): Two values of the field of groups.
        period (str): The field: "time:day", "time:hour" or "time:minute".
        zone (tzinfo | None): The zone of the output; None: that of `first`.

    >>> list(periods_between("2025-01-31", "2025-02-02", "time:day", None))
    ['2025-02-01']
    >>> list(periods_between("2025-01-01T22:00:00+01:00", "2025-01-02T00:00:00+01:00", "time:hour", None))
    ['2025-01-01T23:00:00+01:00']
    """
    try:
        start, stop = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (first, last))
        step = STEPS[period]
        if start.tzinfo and zone:
            start = start.astimezone(zone)
        count = (stop - start) // step
    except (ValueError, TypeError):  # of times in another form, and of those with a zone and without
        return
    moment = start
    for _ in range(count if count <= MOST_PERIODS else 0):
        # In UTC, so that hours that a change of daylight saving time repeats are all there.
        moment = (moment.astimezone(UTC) + step).astimezone(start.tzinfo) if start.tzinfo else moment + step
        if moment < stop:
            text = moment.isoformat()[: 10 if period == "time:day" else None]
            yield text.replace("+00:00", "Z") if first.endswith("Z") else text


def moment_of(text: str, zone: tzinfo | None = None) -> int:
    """Return a moment as microseconds since 1970 in UTC.

    Args:
        text (str): A time of RFC 3339, with or without seconds and zone; a date; a distance before now: "2h", "7d";
            "now"; "today" or "yesterday", which begin at midnight.
        zone (tzinfo | None): The zone of a time without one, and of midnight; None: UTC.

    Returns:
        int: Microseconds.

    Raises:
        ValueError: If the text is something else.

    >>> moment_of("1970-01-02"), moment_of("1970-01-01T00:00:01.5Z")
    (86400000000, 1500000)
    """
    if not isinstance(text, str):
        raise TypeError(f"since and until must be a str, got {type(text).__name__}")
    moment = None
    if found := MOMENT.fullmatch(text):
        date, clock, second, fraction, offset = found.groups()
        try:
            moment = datetime.fromisoformat(f"{date}T{clock or '00:00'}{second or ':00'}.{(fraction or '.')[1:7]:0<6}")
            zone = timezone_of(offset) if offset else zone
            moment = moment.replace(tzinfo=zone or timezone.utc)
        except ValueError:
            moment = None
    elif text in WORDS:
        moment, days = datetime.now(zone or timezone.utc), WORDS[text]
        if days is not None:
            moment = datetime.combine(moment.date() - timedelta(days), time(), moment.tzinfo)
    elif text[:1].isdigit():
        try:
            moment = datetime.now(timezone.utc) - timedelta(seconds=parse_duration(text))
        except (ValueError, OverflowError):
            moment = None
    if moment is None:
        raise ValueError(
            f"expected a time such as 2025-01-31T12:00:00Z, a date, yesterday, or a distance such as 2h, got {text!r}"
        )
    return (moment - EPOCH) // timedelta(microseconds=1)
