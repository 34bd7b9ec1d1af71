"""Conditions on records, as texts: "status>=500", "client=10.0.0.0/8"."""

import re
from collections.abc import Iterable
from datetime import tzinfo
from typing import NamedTuple

from uricodec.logs._records import field_names
from uricodec.logs._times import moment_of

CONDITION = re.compile(r"(.+?)(!?[\^*]?=|[<>]=?)(.*)", re.DOTALL)
NUMBER = re.compile(r"\d{1,18}(\.\d{1,15})?", re.ASCII)
NUMBERS = ("status", "bytes_sent", "duration")
FLAG_NAMES = ("malformed", "double-encoded", "overlong-utf8", "encoded-slash", "dot-dot", "nul")
EXAMPLES = "such as status>=500, path^=/api/ or client=10.0.0.0/8"


class Condition(NamedTuple):
    """What a field is compared with.

    Attributes:
        field (str): The name of the field.
        operator (str): "=", "!=", "<", "<=", ">", ">=", "^=" (begins with), "*=" (contains),
            "!^=" or "!*=" (does not).
        value (str): The value; "": the field is missing or empty.
        number (float | int | None): The value as a number, if the field is one.
        moment (int | None): The value as microseconds since 1970 in UTC, if the field is the time.
        network (tuple[str, int] | None): An address, and how many of its bits count, of those of IPv6.
    """

    field: str
    operator: str
    value: str
    number: float | int | None = None
    moment: int | None = None
    network: tuple[str, int] | None = None


def condition_of(text: str, zone: tzinfo | None = None) -> Condition:
    """Return the condition that a text means.

    Args:
        text (str): A field, an operator and a value, without spaces between them.
        zone (tzinfo | None): The zone of times without one; None: UTC.

    Returns:
        Condition: The condition.

    Raises:
        ValueError: If the field or the operator is unknown, or the value is not one of the field.

    >>> condition_of("status>=500")
    Condition(field='status', operator='>=', value='500', number=500, moment=None, network=None)
    >>> condition_of("client=10.0.0.0/8").network
    ('10.0.0.0', 104)
    """
    found = CONDITION.fullmatch(text)
    if not found:
        raise ValueError(f"expected a condition {EXAMPLES}, got {text!r}")
    field, operator, value = found.groups()
    if field == "extra":
        raise ValueError(f"{text!r}: extra has many fields; name one, extra.NAME")
    field_names([field], (), False)
    condition = Condition(field, operator, value)
    is_list = field in ("forwarded_for", "flags")
    if value and operator in ("<", "<=", ">", ">=") and (is_list or field == "status:class"):
        raise ValueError(f"{text!r}: {field} can be compared with =, != and other texts, not with {operator}")
    if not value:
        if operator not in ("=", "!="):
            raise ValueError(f"{text!r}: expected a value after {operator}; {field}= means that it is missing or empty")
    elif field == "flags" and (value not in FLAG_NAMES or operator not in ("=", "!=")):
        raise ValueError(f"{text!r}: expected = or != and one of {', '.join(FLAG_NAMES)}")
    elif operator in ("^=", "*=", "!^=", "!*="):
        pass
    elif field in NUMBERS:
        if not NUMBER.fullmatch(value):
            raise ValueError(f"{text!r}: expected a number, got {value!r}")
        condition = condition._replace(number=float(value) if "." in value else int(value))
    elif field == "time":
        condition = condition._replace(moment=moment_of(value, zone))
    elif field in ("client", "forwarded_for") and operator in ("=", "!="):
        condition = condition._replace(network=_network_of(value, text))
    return condition


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
