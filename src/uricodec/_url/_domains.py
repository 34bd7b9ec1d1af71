"""Domains beyond ASCII as the URL Standard converts them: ToASCII of UTS 46, without the limits of DNS.

`_idna` converts most domains without this module. What is left includes hosts of any length from hostile pages, so each
step takes linear time or nearly: Punycode with a Fenwick tree over the positions of a label, not with a pass over the
label for each of its characters.
"""

from __future__ import annotations

import re
from itertools import groupby
from unicodedata import bidirectional, category

from uricodec._url._characters import composed

__all__ = ["domain_to_ascii"]

_PREFIX = "xn--"
# "A forbidden domain code point is a forbidden host code point, a C0 control, U+0025 (%), or U+007F DELETE."
_FORBIDDEN = re.compile(r"[\0-\x20\x7F#/:<>?@\[\\\]^|%]")
_MOST = 0x7FFFFFFF  # RFC 3492 section 6.4: numbers have 31 bits


def domain_to_ascii(domain: bytes) -> bytes | None:
    """Convert a domain that is not ASCII.

    Args:
        domain (bytes): The domain; bytes that are not UTF-8 stand for U+FFFD.

    Returns:
        bytes | None: The domain in ASCII; None if it is invalid.

    Source: URL Standard section 3.3 ("domain to ASCII", beStrict false); UTS 46 section 4 with CheckHyphens,
        UseSTD3ASCIIRules, Transitional_Processing, VerifyDnsLength and IgnoreInvalidPunycode false, CheckBidi and
        CheckJoiners true.

    >>> domain_to_ascii("Stra\u00dfe。Example".encode())
    b'xn--strae-oqa.example'
    """
    text = _mapped_text(domain.decode("utf-8", "replace"))
    if text is None:
        return None
    labels = text.split(".")
    for i, label in enumerate(labels):
        decoded = label
        if label.startswith(_PREFIX):
            decoded = _decode(label[len(_PREFIX) :]) or ""
        if (decoded.isascii() and decoded is not label) or not _is_valid(decoded):
            return None
        labels[i] = decoded
    if not _obey_bidi_rule(labels):
        return None
    encoded = [label if label.isascii() else _encode(label) for label in labels]
    return None if None in encoded else ".".join(encoded).encode("ascii")  # type: ignore[arg-type]


def _mapped_text(domain: str) -> str | None:
    """Return the domain as UTS 46 maps it; None if it has a character that is disallowed or forbidden."""
    mapped = []
    for character in domain:
        result = _mapped(character)
        if result is None:
            return None
        mapped.append(result)
    text = composed("".join(mapped))
    return None if _FORBIDDEN.search(text) else text


# --- characters -------------------------------------------------------------------------------------------------------


def _mapped(character: str) -> str | None:
    """Return what UTS 46 maps a character to; None if it is disallowed."""
    import idna

    try:
        return idna.uts46_remap(character, std3_rules=False)
    except idna.IDNAError:
        return None


# --- labels (UTS 46 section 4.1) --------------------------------------------------------------------------------------


def _is_valid(label: str) -> bool:
    if label.isascii():
        return not label.startswith(_PREFIX) and label == label.lower() and "." not in label
    if label != composed(label) or label.startswith(_PREFIX) or "." in label:
        return False
    if category(label[0]).startswith("M"):
        return False
    if any(_mapped(character) != character for character in label):
        return False
    return all(_may_join(label, i) for i, character in enumerate(label) if character in "\u200c\u200d")


def _may_join(label: str, i: int) -> bool:
    """Return whether a joiner is allowed at a position (RFC 5892 appendices A.1 and A.2)."""
    import idna

    try:
        return idna.core.valid_contextj(label, i)
    except ValueError:  # a character before it that this Python does not know
        return False


def _obey_bidi_rule(labels: list[str]) -> bool:
    """Return whether each label obeys the Bidi Rule, if one of them has characters from right to left."""
    if not any(bidirectional(c) in ("R", "AL", "AN") for label in labels if not label.isascii() for c in label):
        return True
    return all(_has_good_directions(label) for label in labels if label)


def _has_good_directions(label: str) -> bool:
    """Return whether a label obeys the Bidi Rule (RFC 5893 section 2)."""
    directions = [bidirectional(character) for character in label]
    present = {*directions}
    last = next((each for each in reversed(directions) if each != "NSM"), None)
    neutral = {"EN", "ES", "CS", "ET", "ON", "BN", "NSM"}
    if directions[0] in ("R", "AL"):
        return (
            present <= neutral | {"R", "AL", "AN"} and last in ("R", "AL", "EN", "AN") and not {"EN", "AN"} <= present
        )
    return directions[0] == "L" and present <= neutral | {"L"} and last in ("L", "EN")


# --- Punycode (RFC 3492) ----------------------------------------------------------------------------------------------

_DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}


def _thresholds(bias: int):
    """Iterate over the thresholds of the digits of a number (section 3.3)."""
    at = 36
    while True:
        yield min(max(at - bias, 1), 26)
        at += 36


def _adapted(delta: int, points: int, first: bool) -> int:
    """Return the bias for the next delta (section 6.1)."""
    at = 0
    delta //= 700 if first else 2
    delta += delta // points
    while delta > 455:
        delta //= 35
        at += 36
    return at + 36 * delta // (delta + 38)


# A Fenwick tree: a list of sums by which marked positions of a label are counted and found.


def _tree(size: int, marked: bool) -> list[int]:
    """Return a tree in which all positions are marked, or none.

    >>> tree = _tree(4, True)
    >>> _add(tree, 1, -1)
    >>> _before(tree, 3), _find(tree, 1)
    (2, 2)
    """
    return [(i & -i) * marked for i in range(size + 1)]


def _add(tree: list[int], position: int, by: int) -> None:
    """Mark a position (1), or remove its mark (-1)."""
    position += 1
    while position < len(tree):
        tree[position] += by
        position += position & -position


def _before(tree: list[int], position: int) -> int:
    """Return how many positions before this one are marked."""
    count = 0
    while position:
        count += tree[position]
        position &= position - 1
    return count


def _find(tree: list[int], count: int) -> int:
    """Return the marked position that `count` marked ones are before."""
    position, step = 0, 1 << len(tree).bit_length()
    while step:
        if position + step < len(tree) and tree[position + step] <= count:
            position += step
            count -= tree[position]
        step >>= 1
    return position


def _encode(label: str) -> str | None:
    """Return the A-label of a label; None if a number is too large (section 6.3).

    Section 6.3 counts, for each character in the order of code points, the smaller ones between the position before
    and this one, once around the label. `written` has the positions of those.
    """
    basic = [c for c in label if c.isascii()]
    output = [*basic, "-"] if basic else []
    written = _tree(len(label), False)
    for i, c in enumerate(label):
        if c.isascii():
            _add(written, i, 1)
    others = sorted((ord(c), i) for i, c in enumerate(label) if not c.isascii())
    done, bias, delta, previous = len(basic), 72, 0, 0x80
    for point, run in groupby(others, lambda each: each[0]):
        delta += (point - previous) * (done + 1)
        if delta > _MOST:
            return None
        start = 0  # smaller characters up to the position before have been counted
        smaller = done
        for count, (_, i) in enumerate(run):
            before = _before(written, i) - count
            delta += before - start
            start = before
            value = delta
            for threshold in _thresholds(bias):
                if value < threshold:
                    break
                value, digit = divmod(value - threshold, 36 - threshold)
                output.append(_DIGITS[threshold + digit])
            output.append(_DIGITS[value])
            bias = _adapted(delta, done + 1, done == len(basic))
            delta = 0
            done += 1
            _add(written, i, 1)
        delta += smaller - start + 1
        previous = point + 1
    return _PREFIX + "".join(output)


def _decode(text: str) -> str | None:
    """Return the label that Punycode stands for; None if it is invalid (section 6.2).

    Each number says where the next character is inserted. From the last to the first, that is the position among those
    which are still free.
    """
    basic, delimiter, digits = text.rpartition("-")
    if not text.isascii() or (delimiter and not basic):  # a delimiter without characters before it is a digit
        return None
    point, i, bias, size, at = 0x80, 0, 72, len(basic), 0
    inserted = []
    while at < len(digits):
        old, weight = i, 1
        for threshold in _thresholds(bias):
            value = _VALUES.get(digits[at]) if at < len(digits) else None
            if value is None:
                return None
            at += 1
            i += value * weight
            if i > _MOST:
                return None
            if value < threshold:
                break
            weight *= 36 - threshold
        size += 1
        bias = _adapted(i - old, size, old == 0)
        point += i // size
        i %= size
        if point > 0x10FFFF or 0xD800 <= point < 0xE000:
            return None
        inserted.append((i, chr(point)))
        i += 1
    label = [""] * size
    free = _tree(size, True)
    for index, character in reversed(inserted):
        position = _find(free, index)
        _add(free, position, -1)
        label[position] = character
    others = iter(basic)
    return "".join(character or next(others) for character in label)
