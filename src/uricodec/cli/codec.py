"""`uricodec decode` and `uricodec encode`: chunks of lines through the core, and where a fault is."""

from uricodec._core._lines import decode_lines, encode_lines
from uricodec.charsets import RFC3986_UNRESERVED
from uricodec.cli import streams
from uricodec.errors import UriSyntaxError


def run(arguments):
    """Decode or encode all inputs, one after the other.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0

    Raises:
        CommandError: Of status 1 for invalid input with --errors fail, 3 for a file that fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    names = arguments.files or ["-"]
    convert = decoder(arguments) if arguments.name == "decode" else encoder(arguments)
    buffer = bytearray(streams.CHUNK)
    with streams.Output(arguments.output) as output, streams.Meter(names, output) as meter:
        for name in names:
            with streams.Input(name, meter) as source:
                convert_input(source, buffer, convert, output, arguments.errors == "fail")
    return 0


def decoder(arguments):
    """The function that decodes one chunk: lines in, decoded lines out, valid until the next call."""
    plus, raw, errors = arguments.plus, arguments.raw, arguments.errors
    decoded = memoryview(bytearray(3 * streams.CHUNK))
    return lambda lines: decoded[: decode_lines(lines, decoded, plus, raw, errors)]


def encoder(arguments):
    """The function that encodes one chunk."""
    safe = RFC3986_UNRESERVED | ("/" if arguments.safe is None else arguments.safe)
    plus, errors = arguments.plus, arguments.errors
    room = memoryview(bytearray(3 * streams.CHUNK))

    def convert(lines):
        encoded = room
        if errors != "keep":
            try:
                str(lines, "utf-8")
            except UnicodeDecodeError as error:
                if errors == "fail":
                    raise UriSyntaxError("octets that are not UTF-8", lines, error.start) from None
                lines = str(lines, "utf-8", "replace").encode()
                encoded = memoryview(bytearray(3 * len(lines)))
        return encoded[: encode_lines(lines, encoded, safe, plus)]

    return convert


def convert_input(source, buffer, convert, output, fail):
    """Convert one input. If what was written before lacks its last newline, it gets one: its last line stays apart.

    Args:
        source (Input): What to read.
        buffer (bytearray): Room for its chunks.
        convert (Callable): Of decoder() or encoder().
        output (Output): Where to write.
        fail (bool): Whether convert() raises UriSyntaxError: only then are the lines counted.

    Raises:
        CommandError: As run().
        BrokenPipeError: As run().
    """
    view = memoryview(buffer)
    line, column, offset = 1, 1, 0  # of the first octet of the chunk
    apart = not output.in_line
    for size in source.chunks(buffer):
        if not apart:
            output.write(b"\n")
            apart = True
        try:
            output.write(convert(view[:size]))
        except UriSyntaxError as error:
            whole = buffer.rfind(b"\n", 0, error.position) + 1
            output.write(convert(view[:whole]))
            line += buffer.count(b"\n", 0, whole)
            column = error.position - whole + (1 if whole else column)
            place = f"{source.name}:{line}:{column} (octet {offset + error.position})"
            raise streams.CommandError(f"{place}: {error.reason}", 1) from None
        if fail:
            newline = buffer.rfind(b"\n", 0, size)
            column = column + size if newline < 0 else size - newline
            line += buffer.count(b"\n", 0, size)
            offset += size
