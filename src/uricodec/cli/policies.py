"""`uricodec normalize --policy NAME --explain`: which steps of a policy change each line."""

from json import dumps

from uricodec.cli.lines import Rows
from uricodec.errors import UriError
from uricodec.uri._policies import operation_of


class Explanations(Rows):
    """Writes a line of JSON for each line.

    Args:
        policy (Policy): The policy.
        terminator (bytes): The line terminator of the input.
    """

    whole = True

    def __init__(self, policy, terminator):
        super().__init__(operation_of(policy), terminator)
        self._policy, self.out = policy, b"\n"

    def work(self, lines, errors, limit):
        read, found, _ = super().work(lines, errors, limit)
        data = bytes(lines[:read])
        if not data:
            return read, found, memoryview(b"")
        rows = data.removesuffix(self.end).split(self.end)
        return read, found, memoryview(b"".join([self._explained(row, errors) for row in rows]))

    def _explained(self, row, errors):
        if self.end == b"\n":
            row = row.removesuffix(b"\r")
        try:
            row.decode()
            steps = self._policy.explain(row)
        except (UnicodeDecodeError, UriError):
            if errors != "keep":
                return b"null\n" if errors == "null" else b""
            steps = []
        shown = {"input": text_of(row), "steps": [{"step": step.step, "result": text_of(step.after)} for step in steps]}
        return dumps(shown, ensure_ascii=False).encode() + b"\n"


def text_of(row):
    return row.decode("utf-8", "replace")
