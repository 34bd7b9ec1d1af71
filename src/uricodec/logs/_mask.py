"""Hiding the values of parameters in lines of logs that could not be parsed.

Such a line may have several layers of escapes, and nothing is known about where its parts begin and end. So all layers
are decoded, and everything after the first of the names that is followed by "=" is hidden.
"""

import re

BACKSLASH = 0x5C
OPENING = re.compile(rb"[%\\]")
ESCAPE = re.compile(
    rb"(?:(?:%|\\x)([0-9A-F]{2})|[%\\]u([0-9A-F]{4})|(\xED[\xA0-\xAF][\x80-\xBF]\xED[\xB0-\xBF][\x80-\xBF]))\Z",
    re.IGNORECASE,
)

# For comparison, a control character is the letter of its escape, and "+" is a space.
SAME = bytes(range(256)).lower().translate(bytes.maketrans(b"\t\n\r\b\f\v+", b"tnrbfv "))


def fold(data):
    r"""Return bytes for comparison: without case, backslashes, and the difference between "n" and a newline.

    >>> fold(b"A+b\\n\n")
    b'a bnn'
    """
    return bytes(data).translate(SAME, b"\\")


def decode_all(line):
    r"""Return a line with all layers of %HH, "\xhh" and "\uhhhh" decoded, and the offset of each byte in the line.

    An escape is decoded as soon as it is complete, and its result may complete another escape: so the time does not
    depend on the number of layers.

    >>> decode_all(rb"%2541\x4%32")
    (bytearray(b'AB'), [0, 5])
    """
    decoded, starts, at = bytearray(), [], 0
    while at < len(line):
        if OPENING.search(decoded, max(0, len(decoded) - 5)):  # the next byte may complete an escape
            end = at + 1
        else:
            opening = OPENING.search(line, at)
            end = opening.end() if opening else len(line)
        decoded += line[at:end]
        starts += range(at, end)
        at = end
        while found := ESCAPE.search(decoded, max(0, len(decoded) - 6)):
            start, made = found.start(), bytes_of(found)
            decoded[start:] = made
            starts[start:] = [starts[start]] * len(made)
    return decoded, starts


def bytes_of(escape):
    """Return the bytes that an escape stands for; two surrogates are one character."""
    if escape[1]:
        return bytes.fromhex(escape[1].decode())
    text = chr(int(escape[2], 16)) if escape[2] else escape[3].decode("utf-8", "surrogatepass")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")


class Mask:
    """Hides the values of query parameters.

    Args:
        names (list[str]): The names of the parameters.
    """

    def __init__(self, names):
        self._names = {fold(decode_all(name.encode("utf-8", "surrogateescape"))[0]) + b"=" for name in names}

    def hide(self, line):
        r"""Return the part of a line that may be shown (bytes).

        >>> print(Mask(["token"]).hide(rb"GET /a?x=1&%54ok\x65n%253Dabc HTTP/1.1").decode())
        GET /a?x=1&%54ok\x65n%253D***
        """
        decoded, starts = decode_all(line)
        ends = [*starts[1:], len(line)]
        ends = [end for byte, end in zip(decoded, ends, strict=False) if byte != BACKSLASH]
        decoded = fold(decoded)
        last = [at + len(name) - 1 for name in self._names if (at := decoded.find(name)) >= 0]
        return line[: ends[min(last)]] + b"***" if last else line
