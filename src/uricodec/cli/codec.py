"""`uricodec decode`, `encode` and `requote`: chunks of lines through the core, and where a fault is."""

from uricodec import ByteSet
from uricodec._core._lines import NO_CONTROL, decode_lines, encode_lines
from uricodec._files import pool, streams
from uricodec.charsets import RFC3986_UNRESERVED
from uricodec.cli.errors import CommandError
from uricodec.errors import UriSyntaxError


def run(arguments):
    """Decode or encode all inputs, one after the other.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0

    Raises:
        CommandError: Invalid input, with --errors fail.
        FileError: A file fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    names = arguments.files or ["-"]
    jobs = arguments.jobs or pool.jobs_for(names)
    converter = {"decode": decoder, "encode": encoder, "requote": requoter}[arguments.name]
    end = b"\0" if arguments.nul else b"\n"
    with (
        streams.Output(arguments.output) as output,
        streams.Meter(names, output) as meter,
        pool.Pool(jobs, streams.CHUNK, lambda: worker(converter(arguments, end))) as workers,
    ):
        output.end = end[0]
        for name in names:
            with streams.Input(name, meter, output=output) as source:
                convert_input(source, workers, output, end, arguments.errors == "fail")
    return 0


def decoder(arguments, end):
    """The function that decodes one chunk: lines in, decoded lines out, valid until the next call."""
    plus, raw, errors = arguments.plus, arguments.raw, arguments.errors
    free = ~ByteSet(end) if end == b"\0" else NO_CONTROL
    decoded = bytearray(3 * streams.CHUNK)
    return lambda lines: memoryview(decoded)[: decode_lines(lines, decoded, plus, raw, errors, end, free)]


def safe_of(arguments):
    """What `encode` or `requote` leaves as it is."""
    if arguments.name == "encode":
        return RFC3986_UNRESERVED | ("/" if arguments.safe is None else arguments.safe)
    from uricodec._core._triplets import URI_CHARACTERS

    return URI_CHARACTERS if arguments.safe is None else RFC3986_UNRESERVED | arguments.safe


def encoder(arguments, end):
    """The function that encodes one chunk."""
    safe = safe_of(arguments)
    plus, errors = arguments.plus, arguments.errors
    room = bytearray(3 * streams.CHUNK)

    def convert(lines):
        encoded = room
        if errors != "keep":
            try:
                str(lines, "utf-8")
            except UnicodeDecodeError as error:
                if errors == "fail":
                    raise UriSyntaxError("octets that are not UTF-8", lines, error.start) from None
                lines = str(lines, "utf-8", "replace").encode()
                encoded = bytearray(3 * len(lines))
        return memoryview(encoded)[: encode_lines(lines, encoded, safe, plus, end)]

    return convert


def requoter(arguments, end):
    """The function that encodes in one chunk what is not encoded yet."""
    safe = safe_of(arguments) | "%"
    room = bytearray(3 * streams.CHUNK)
    return lambda lines: memoryview(room)[: encode_lines(lines, room, safe, False, end)]


def worker(convert):
    """The function that converts a chunk; an error is its result, too, for its place is known only in order."""

    def work(chunk):
        try:
            return convert(chunk.view[: chunk.size])
        except UriSyntaxError as error:
            return error

    work.convert = convert
    return work


def convert_input(source, workers, output, end, fail):
    """Convert one input. If what was written before lacks its last newline, it gets one: its last line stays apart.

    Args:
        source (Input): What to read.
        workers (Pool): What converts its chunks.
        output (Output): Where to write.
        end (bytes): The octet that ends a line.
        fail (bool): Whether there may be errors: only then are the lines counted.

    Raises:
        CommandError: As run().
        BrokenPipeError: As run().
    """
    line, column, offset = 1, 1, 0  # of the first octet of the chunk
    apart = not output.in_line
    for chunk, converted in workers.results(source, streams.LineEnds(end)):
        buffer, size = chunk.buffer, chunk.size
        if not apart:
            output.write(end)
            apart = True
        if isinstance(converted, UriSyntaxError):
            position = converted.position
            whole = buffer.rfind(end, 0, position) + 1
            output.write(chunk.work.convert(chunk.view[:whole]))
            line += buffer.count(end, 0, whole)
            column = position - whole + (1 if whole else column)
            place = f"{source.name}:{line}:{column} (octet {offset + position})"
            raise CommandError(f"{place}: {converted.reason}", 1)
        output.write(converted)
        if fail:
            newline = buffer.rfind(end, 0, size)
            column = column + size if newline < 0 else size - newline
            line += buffer.count(end, 0, size)
            offset += size
