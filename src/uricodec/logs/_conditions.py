"""Conditions on records, as texts: "status>=500", "client=10.0.0.0/8"."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import tzinfo
from decimal import Decimal
from typing import Any, NamedTuple

from uricodec._io.sizes import parse_size
from uricodec.logs._records import field_names
from uricodec.logs._times import moment_of

CONDITION = re.compile(r"(.+?)(==|=\*(?=[^*])|!?[\^*~]?=|[<>]=?)(.*)", re.DOTALL)
BAR = re.compile(r"(?<!\\)\|")  # between values
NUMBER = re.compile(r"\d{1,18}(\.\d{1,15})?", re.ASCII)
NUMBERS = ("status", "bytes_sent", "duration")
STATUS_CLASS = re.compile(r"[1-9]xx", re.IGNORECASE)
ORDERS = "<", "<=", ">", ">="
PARTS = "^=", "*=", "!^=", "!*="
PATTERNS = "~=", "!~=", "=*"

# Units of durations, as powers of ten of a second or as seconds.
DURATION = re.compile(r"(\d{1,18}(?:\.\d{1,15})?) ?(ns|us|\u00b5s|\u03bcs|ms|s|min|m|h)", re.ASCII)
UNITS = {"ns": "1e-9", "us": "1e-6", "\u00b5s": "1e-6", "\u03bcs": "1e-6", "ms": "1e-3", "s": "1"}
UNITS |= {"min": "60", "m": "60", "h": "3600"}

FLAG_NAMES = ("malformed", "double-encoded", "overlong-utf8", "encoded-slash", "dot-dot", "nul")
EXAMPLES = "such as status>=500, path^=/api/ or client=10.0.0.0/8"


class Condition(NamedTuple):
    """What a field is compared with.

    Attributes:
        field (str): The name of the field.
        operator (str): "=", "!=", "<", "<=", ">", ">=", "^=" (begins with), "*=" (contains), "~=" (matches a regular
            expression), "!^=", "!*=", "!~=" (does not), or "=*" (is equal without regard to case).
        value (str): The value; "": the field is missing or empty.
        number (float | int | None): The value as a number, if the field is one.
        moment (int | None): The value as microseconds since 1970 in UTC, if the field is the time.
        network (tuple[str, int] | None): An address, and how many of its bits count, of those of IPv6.
        search (Callable | None): Returns a match, or None, given the text; of the operators with "~" and "=*".
        others (tuple[Condition, ...]): The conditions for the other values between bars: one of all must hold, or with
            "!", all.
    """

    field: str
    operator: str
    value: str
    number: float | int | None = None
    moment: int | None = None
    network: tuple[str, int] | None = None
    search: Callable[[str], Any] | None = None
    others: "tuple[Condition, ...]" = ()


def condition_of(text: str, zone: tzinfo | None = None) -> Condition:
    """Return the condition that a text means.

    Args:
        text (str): A field, an operator and a value, without spaces between them.
        zone (tzinfo | None): The zone of times without one; None: UTC.

    Returns:
        Condition: The condition.

    Raises:
        ValueError: If the field or the operator is unknown, or the value is not one of the field.

    >>> condition_of("status>=500")[:4]
    ('status', '>=', '500', 500)
    >>> condition_of("client=10.0.0.0/8").network, condition_of("duration>500ms").number
    (('10.0.0.0', 104), 0.5)
    >>> [(each.field, each.value) for each in (condition_of("status=404|5xx"), *condition_of("status=404|5xx").others)]
    [('status', '404'), ('status:class', '5xx')]
    """
    found = CONDITION.fullmatch(text)
    if not found:
        raise ValueError(f"expected a condition {EXAMPLES}, got {text!r}")
    field, operator, value = found.groups()
    operator = "=" if operator == "==" else operator
    if field == "extra":
        raise ValueError(f"{text!r}: extra has many fields; name one, extra.NAME")
    field_names([field], (), False)
    if operator in PATTERNS:
        return _pattern(Condition(field, operator, value), text)
    values = [value] if operator in ORDERS else [each.replace("\\|", "|") for each in BAR.split(value)]
    first, *others = [_comparison(field, operator, each, text, zone) for each in values]
    return first._replace(others=tuple(others))


def _comparison(field: str, operator: str, value: str, text: str, zone: tzinfo | None) -> Condition:
    """Return the condition for one value; `text` is for messages."""
    if field == "status" and operator in ("=", "!=") and STATUS_CLASS.fullmatch(value):
        return Condition("status:class", operator, value.lower())
    condition = Condition(field, operator, value)
    is_list = field in ("forwarded_for", "flags")
    if value and operator in ORDERS and (is_list or field == "status:class"):
        raise ValueError(f"{text!r}: {field} can be compared with =, != and other texts, not with {operator}")
    if not value:
        if operator not in ("=", "!="):
            raise ValueError(f"{text!r}: expected a value after {operator}; {field}= means that it is missing or empty")
    elif field == "flags" and (value not in FLAG_NAMES or operator not in ("=", "!=")):
        raise ValueError(f"{text!r}: expected = or != and one of {', '.join(FLAG_NAMES)}")
    elif operator in PARTS:
        pass
    elif field in NUMBERS:
        condition = condition._replace(number=_number_of(field, value, text))
    elif field == "time":
        condition = condition._replace(moment=moment_of(value, zone))
    elif field in ("client", "forwarded_for") and operator in ("=", "!="):
        condition = condition._replace(network=_network_of(value, text))
    return condition


def _pattern(condition: Condition, text: str) -> Condition:
    """Return a condition with what searches for its pattern; `text` is for messages."""
    if condition.field == "flags":
        raise ValueError(f"{text!r}: expected = or != and one of {', '.join(FLAG_NAMES)}")
    if condition.operator == "=*":
        values = [re.escape(each.replace("\\|", "|")) for each in BAR.split(condition.value)]
        return condition._replace(search=re.compile("|".join(values), re.IGNORECASE).fullmatch)
    if not condition.value:
        raise ValueError(f"{text!r}: expected a regular expression after {condition.operator}")
    try:
        return condition._replace(search=re.compile(condition.value).search)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r}: invalid regular expression: {error}") from None


def _number_of(field: str, value: str, text: str) -> float | int:
    """Return the number that a value of a field means: bytes or seconds, perhaps with a unit."""
    if NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    if field == "bytes_sent":
        with suppress(ValueError):
            return parse_size(value)
    if field == "duration" and (found := DURATION.fullmatch(value)):
        return float(Decimal(found[1]) * Decimal(UNITS[found[2]]))
    unit = {"bytes_sent": ", perhaps with a unit such as 1.5M", "duration": ", perhaps with a unit such as 500ms"}
    raise ValueError(f"{text!r}: expected a number{unit.get(field, '')}, got {value!r}")


def _network_of(value: str, text: str) -> tuple[str, int] | None:
    """Return the address and the size of a network; None: the value is a name."""
    from ipaddress import ip_interface

    try:
        interface = ip_interface(value)
    except ValueError:
        if "/" in value:
            raise ValueError(f"{text!r}: expected an address or a network such as 10.0.0.0/8, got {value!r}") from None
        return None
    return str(interface.ip).partition("%")[0], interface.network.prefixlen + (96 if interface.version == 4 else 0)


def conditions_of(
    where: Iterable[str], since: str | None = None, until: str | None = None, zone: tzinfo | None = None
) -> list[Condition]:
    """Return the conditions of the arguments of a function or a command.

    Args:
        where (Iterable[str]): Conditions.
        since, until (str | None): The first moment, and the first one after the last, see moment_of().
        zone (tzinfo | None): The zone of times without one; None: UTC.

    Returns:
        list[Condition]: All conditions.

    Raises:
        TypeError: If `where` is a str.
        ValueError: See condition_of(); or since is not before until.
    """
    if isinstance(where, str):
        raise TypeError("where must be an iterable of conditions, got a str")
    texts = list(where)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"where must be conditions, got {type(text).__name__}")
    conditions = [condition_of(text, zone) for text in texts]
    bounds = [
        Condition("time", operator, text, moment=moment_of(text, zone))
        for operator, text in ((">=", since), ("<", until))
        if text is not None
    ]
    if len(bounds) == 2 and bounds[0].moment >= bounds[1].moment:  # type: ignore[operator]
        raise ValueError(f"since must be before until, got {since!r} and {until!r}")
    return conditions + bounds
