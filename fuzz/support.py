"""What the targets share: choices drawn from the bytes of an input, and outcomes that can be compared.

An input begins with bytes that choose, each by its distance from "0": the CPU tier, the operation of the target, then
what the operation asks for. So seeds can be read and written by hand. What is left are texts, with 0x1E between them.
"""

import warnings

from diagnostics import brief  # noqa: F401  (targets take it from here, like all else that they share)
from reference.codec import lines_of  # noqa: F401  (targets take it from here, like all else that they share)

from uricodec._base import _kernels
from uricodec.errors import UriError

BETWEEN = b"\x1e"


class Draw:
    """Choices from the front of an input. At its end there are only first choices and empty texts.

    Args:
        data (bytes): The input.
    """

    def __init__(self, data):
        self._data = bytes(data)
        self._at = 0

    def number(self, limit=256):
        """An int below the limit."""
        octet = self._data[self._at] if self._at < len(self._data) else 0x30
        self._at += 1
        return (octet - 0x30) % limit

    def one(self, options):
        """One of a sequence."""
        return options[self.number(len(options))]

    def flag(self):
        return self.one((False, True))

    def octets(self):
        """All that is left."""
        rest, self._at = self._data[self._at :], len(self._data)
        return rest

    def parts(self, count):
        """What is left, as so many pieces."""
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
    """What a function returns, or which error of the package it raises and where: a place in its first argument."""
    try:
        return function(*arguments, **options)
    except UriError as error:
        assert 0 <= error.offset <= len(error.input), error
        return type(error), error.offset


def is_refusal(result):
    return type(result) is tuple and isinstance(result[0], type)


def exact(value):
    """A value with the types of all of its parts, so that == tells whether two values are alike."""
    if isinstance(value, (tuple, list)):
        return type(value), [exact(item) for item in value]
    if isinstance(value, dict):
        return dict, [(exact(key), exact(item)) for key, item in value.items()]
    return type(value), value


def behaviour(function, *arguments, **options):
    """What a function does: its result, with all types, or its error; and its warnings. For comparison with urllib."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = exact(function(*arguments, **options))
        except Exception as error:  # whatever urllib raises
            # The texts of errors about types are nobody's promise.
            found = type(error), None if isinstance(error, (TypeError, AttributeError)) else repr(error.args)
    return found, [warning.category for warning in caught]


def octets_of(given):
    """What a text is, as octets."""
    return given.encode("utf-8", "surrogateescape") if isinstance(given, str) else bytes(given)


def same_on_every_tier(function, *arguments, **options):
    """What a function does on the tier in use, which is what it does on the portable one."""
    tier = _kernels.cpu_tier()
    found = outcome(function, *arguments, **options)
    _kernels.use_tier("portable")
    portable = outcome(function, *arguments, **options)
    _kernels.use_tier(tier)
    assert exact(found) == exact(portable)
    return found
