"""What is written to a terminal: no character beyond ASCII that the terminal would obey.

These are the control characters U+0080 to U+009F (ECMA-48), and those that change the order in which text is shown, so
that a path looks like another one: ALM, LRM and RLM, embeddings, overrides and isolates (Unicode Standard Annex 9,
section 2).
"""

import re

# U+0080-009F; U+061C; U+200E, U+200F, U+202A-202E; U+2066-2069.
OBEYED = re.compile(rb"\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]")

# The beginning of one of them, at the end of the data.
CUT = re.compile(rb"(?:\xc2|\xd8|\xe2[\x80\x81]?)\Z")


class Escapes:
    r"""Writes such characters as escapes of JSON.

    >>> terminal = Escapes()
    >>> terminal.escape("a\u202eb\u00e9".encode()) == "a\\u202eb\u00e9".encode()
    True
    """

    def __init__(self):
        self._rest = b""

    def escape(self, data):
        """Return what is written of `data` (bytes-like); the beginning of a character waits for the next call."""
        data = OBEYED.sub(self._escape, self._rest + bytes(data))
        cut = CUT.search(data)
        self._rest = cut[0] if cut else b""
        return data[: cut.start()] if cut else data

    def rest(self):
        """Return what still waits at the end (bytes)."""
        rest, self._rest = self._rest, b""
        return rest

    @staticmethod
    def _escape(found):
        return b"\\u%04x" % ord(found[0].decode())
