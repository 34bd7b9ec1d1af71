"""`uricodec extract`: the command line of uricodec.urn's search for URNs."""

from uricodec._io import streams
from uricodec.cli.lines import progress_of
from uricodec.urn._extract import CAPACITY, Urns, extract


def run(arguments):
    """Write the URNs that all inputs contain.

    Args:
        arguments (argparse.Namespace): The arguments of the command.

    Returns:
        int: 0

    Raises:
        FileError: A file cannot be read or written.
        BrokenPipeError: The output pipe is closed.
    """
    names = arguments.files or ["-"]
    buffer = bytearray(CAPACITY * streams.CHUNK)
    progress = progress_of(arguments)
    with streams.Output(arguments.output) as output, streams.Meter(names, output, progress=progress) as meter:
        for name in names:
            with streams.Input(name, meter, output=output) as source:
                prefix = source.name.encode() + b"\t" if len(names) > 1 else b""
                extract(source, buffer, Urns(output, prefix if arguments.offsets else None))
    return 0
