"""Shared functions of the targets: drawing choices from the bytes of an input, and comparing outcomes.

An input begins with bytes that are choices, as distances from "0", so that seeds can be read and written by hand: the
CPU tier, the operation of the target, then the choices of the operation. The rest is texts, separated by 0x1E.
"""

import warnings

from reference.codec import lines_of  # noqa: F401  (targets take it from here, like all else that they share)
from reference.errors import UriError as Invalid
from support.diagnostics import brief  # noqa: F401  (targets take it from here, like all else that they share)

from uricodec import errors
from uricodec._base import _kernels
from uricodec.errors import UriError

BETWEEN = b"\x1e"


class Draw:
    """Choices from the start of an input. After its end, there are only first choices and empty texts.

    Args:
        data (bytes): The input.
    """

    def __init__(self, data):
        self._data = bytes(data)
        self._at = 0

    def number(self, limit=256):
        """Return an int from 0 to limit - 1."""
        octet = self._data[self._at] if self._at < len(self._data) else 0x30
        self._at += 1
        return (octet - 0x30) % limit

    def one(self, options):
        """Return an item of a sequence."""
        return options[self.number(len(options))]

    def flag(self):
        return self.one((False, True))

    def octets(self):
        """Return the rest of the input."""
        rest, self._at = self._data[self._at :], len(self._data)
        return rest

    def parts(self, count):
        """Return the rest of the input in `count` pieces."""
        found = self.octets().split(BETWEEN, count - 1)
        return found + [b""] * (count - len(found))

    def as_given(self, octets):
        """Return bytes as they are, as a str (with a lone surrogate for what is not UTF-8), or in a buffer."""
        return GIVEN[self.number(len(GIVEN))](octets)


def text_of(octets):
    return octets.decode("utf-8", "surrogateescape")


GIVEN = (text_of, bytes, bytearray, memoryview)


def run(operations, data):
    """Run one of a target's operations on an input; it raises if something is wrong."""
    draw = Draw(data)
    before = _kernels.cpu_tier()
    _kernels.use_tier(draw.one(_kernels.cpu_tiers()))
    try:
        draw.one(operations)(draw)
    finally:
        _kernels.use_tier(before)


def outcome(function, *arguments, **options):
    """Return the result of a function, or the error that it raises and its offset in the first argument."""
    try:
        return function(*arguments, **options)
    except UriError as error:
        assert 0 <= error.offset <= len(error.input), error
        return type(error), error.offset
    except Invalid as error:
        return getattr(errors, type(error).__name__), error.offset


def is_refusal(result):
    return type(result) is tuple and isinstance(result[0], type)


def exact(value):
    """Return a value with the types of all its parts, so that == also compares types."""
    if isinstance(value, (tuple, list)):
        return type(value), [exact(item) for item in value]
    if isinstance(value, dict):
        return dict, [(exact(key), exact(item)) for key, item in value.items()]
    return type(value), value


def behaviour(function, *arguments, **options):
    """Return the result of a function with all types, or its error; and its warnings, to compare with urllib.parse."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = exact(function(*arguments, **options))
        except Exception as error:  # whatever urllib raises
            # The texts of errors about types are nobody's promise.
            found = type(error), None if isinstance(error, (TypeError, AttributeError)) else repr(error.args)
    return found, [warning.category for warning in caught]


def octets_of(given):
    """Return the bytes of a text."""
    return given.encode("utf-8", "surrogateescape") if isinstance(given, str) else bytes(given)


def same_on_every_tier(function, *arguments, **options):
    """Return the outcome of a function on the current tier, after comparing it with that on the portable tier."""
    tier = _kernels.cpu_tier()
    found = outcome(function, *arguments, **options)
    _kernels.use_tier("portable")
    portable = outcome(function, *arguments, **options)
    _kernels.use_tier(tier)
    assert exact(found) == exact(portable)
    return found
