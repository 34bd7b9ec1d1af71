"""Zones of times in logs."""

import re
from datetime import timedelta, timezone, tzinfo

# An offset from UTC, as RFC 3339 writes it.
OFFSET = re.compile(r"([+-])([01]\d|2[0-3]):?([0-5]\d)")


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
