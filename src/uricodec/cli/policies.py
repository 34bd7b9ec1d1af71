"""`uricodec normalize --explain`: which steps of a policy, or of a repair, change each line."""

from uricodec._records._framing import json_string
from uricodec.cli.lines import Lines, Transform
from uricodec.errors import UriError
from uricodec.iri import is_valid


class Explanations(Transform):
    """Writes a line of JSON for each line.

    Args:
        explain (Callable): Returns the steps (PolicyStep) of a line.
        rows (RowOperation): The operation, which says which lines are invalid.
        production (str | None): What lines must match, if not any text is valid.
        terminator (bytes): The line terminator of the input.
    """

    def __init__(self, explain, rows, production, terminator):
        super().__init__(rows, Lines(terminator, out=b"\n"))
        self._explain, self._production = explain, production

    def work(self, lines, errors, limit):
        read, found, _ = super().work(lines, errors, limit)
        data = bytes(lines[:read])
        if not data:
            return read, found, memoryview(b"")
        rows = data.removesuffix(self.lines.end).split(self.lines.end)
        return read, found, memoryview(b"".join([self._explained(row, errors) for row in rows]))

    def _explained(self, row, errors):
        if self.lines.end == b"\n":
            row = row.removesuffix(b"\r")
        try:
            row.decode()
            steps = self._explain(row)
            is_invalid = self._production is not None and not is_valid(row, self._production)
        except (UnicodeDecodeError, UriError):
            is_invalid, steps = True, []
        if is_invalid and errors != "keep":
            return b"null\n" if errors == "null" else b""
        texts = [(json_string(step.step.encode()), json_string(step.after)) for step in steps]
        shown = b",".join([b'{"step":%s,"result":%s}' % each for each in texts])
        return b'{"input":%s,"steps":[%s]}\n' % (json_string(row), shown)
