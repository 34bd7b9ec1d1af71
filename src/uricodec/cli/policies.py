"""`uricodec normalize --policy NAME --explain`: which steps of a policy change each line."""

from uricodec._records._framing import json_string
from uricodec.cli.lines import LineTransform
from uricodec.errors import UriError
from uricodec.uri._policies import operation_of


class Explanations(LineTransform):
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
        texts = [(json_string(step.step.encode()), json_string(step.after)) for step in steps]
        shown = b",".join([b'{"step":%s,"result":%s}' % each for each in texts])
        return b'{"input":%s,"steps":[%s]}\n' % (json_string(row), shown)
