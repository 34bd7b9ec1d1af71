"""`uricodec decode`, `encode` and `requote` of values in records, and of lines that are counted, emptied or dropped."""

from uricodec._core._codec_rows import DecodeRows, EncodeRows, RequoteRows
from uricodec.cli import codec, fields, lines


def run(arguments):
    """Do it with the values of all inputs; see lines.filter_inputs().

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0
    """
    plan = fields.plan(arguments)
    errors = arguments.errors
    in_pieces = plan.lines and errors in ("keep", "replace", "fail")
    if errors in ("keep", "replace"):
        rows = otherwise = rows_of(arguments, plan, errors)
        if arguments.invalid_to or arguments.stats:
            rows = rows_of(arguments, plan, "fail")
        arguments.errors = "keep"
    else:
        rows, otherwise = rows_of(arguments, plan, "fail"), None
    return lines.filter_inputs(fields.Values(plan, rows, otherwise, in_pieces=in_pieces), arguments)


def rows_of(arguments, plan, errors):
    """The operation, with a policy for what is invalid."""
    if arguments.name == "decode":
        return DecodeRows(arguments.plus, arguments.raw, errors, plan.free)
    if arguments.name == "encode":
        return EncodeRows(codec.safe_of(arguments), arguments.plus, errors)
    return RequoteRows(codec.safe_of(arguments), errors)
