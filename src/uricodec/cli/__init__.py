"""The command line: which commands and options there are, and what the exit status says.

argparse alone is imported here. What a command needs is imported when it runs, so that every command starts fast.
"""

import argparse
import functools
import os
import sys

from uricodec import ByteSet, __version__
from uricodec.cli.streams import CommandError

__all__ = ["main"]

STATUSES = """\
exit status:
  0    all is well
  1    invalid input was found, with --errors fail
  2    the command line is wrong
  3    a file cannot be read or written, or its gzip data are damaged
  130  interrupted
  141  nobody reads the output any more
"""

DECODE = """\
Decode percent-encoding line by line: each %HH becomes the octet it stands for,
once. All else is copied.

A line stays a line: triplets of control characters (%0A, %00, %1B, %C2%85 ...)
stay as they are, and so do malformed ones (100%, %zz) and those that are not
UTF-8 (%FF).
"""
DECODE_EXAMPLES = """\
examples:
  uricodec decode access.log                   a log in readable form
  uricodec decode access.log.gz -o plain.log   gzip is known by its content
  echo 'q=caf%C3%A9+au+lait' | uricodec decode --plus

"""

ENCODE = """\
Percent-encode line by line: every octet but A-Z a-z 0-9 - . _ ~ and the --safe
ones becomes %HH. The ends of the lines (LF, CRLF) stay.

What is encoded already is encoded again: % becomes %25, but for --safe '/%'.
"""
ENCODE_EXAMPLES = """\
examples:
  uricodec encode names.txt -o paths.txt       one file name a line
  echo 'black & white' | uricodec encode --plus --safe ''

"""

# argparse would ask the terminal how wide it is, and takes longer to import what that needs than uricodec to start.
formatter = functools.partial(argparse.RawDescriptionHelpFormatter, width=79)


class Parser(argparse.ArgumentParser):
    """Says so when a help text cannot be written: newer versions of argparse do not."""

    def _print_message(self, message, file=None):
        if message and file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


class CommandParser(Parser):
    """The parser of one command: options may stand between and after the files, up to a "--"."""

    intermixed = False

    def parse_known_args(self, args=None, namespace=None):
        if self.intermixed:  # argparse calls this in turn
            return super().parse_known_args(args, namespace)
        end = args.index("--") if "--" in args else len(args)
        self.intermixed = True
        try:
            namespace, extras = self.parse_known_intermixed_args(args[:end], namespace)
        finally:
            self.intermixed = False
        names = args[end + 1 :]
        if hasattr(namespace, "files"):
            namespace.files = [*namespace.files, *names]
            names = []
        return namespace, extras + names


def safe_octets(text):
    try:
        return ByteSet(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run_codec(arguments):
    from uricodec.cli import codec

    return codec.run(arguments)


def run_info(_arguments):
    from uricodec.cli import info

    return info.run()


def add_codec(commands, name, summary, description, epilog):
    """A command over lines, with what decode and encode share."""
    command = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog + STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    command.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="what to read, one file after the other, plain or gzip; none or '-' is standard input",
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write to this file; it appears (or is replaced) when all is done, so it may be one of the inputs",
    )
    command.set_defaults(run=run_codec, name=name)
    return command


def make_parser():
    parser = Parser(
        prog="uricodec",
        description="Decode and encode the percent-encoding of URLs, in files of any size.",
        epilog="example:\n  uricodec decode access.log\n\n'uricodec COMMAND --help' says more.\n\n" + STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"uricodec {__version__}")
    commands = parser.add_subparsers(prog="uricodec", metavar="COMMAND", required=True, parser_class=CommandParser)

    decode = add_codec(commands, "decode", "turn %%HH into what it stands for", DECODE, DECODE_EXAMPLES)
    decode.add_argument("--plus", action="store_true", help="'+' is a space, as in HTML forms and many query strings")
    decode.add_argument(
        "--errors",
        choices=["keep", "replace", "fail"],
        default="keep",
        help="what to do with a malformed triplet and with octets that are not UTF-8: keep them as they are "
        "(the default), replace them by U+FFFD, or fail and say where",
    )
    decode.add_argument(
        "--raw",
        action="store_true",
        help="write every decoded octet, newlines and other control characters too, UTF-8 or not",
    )

    encode = add_codec(commands, "encode", "turn everything unusual into %%HH", ENCODE, ENCODE_EXAMPLES)
    encode.add_argument("--plus", action="store_true", help="write '+' for a space, as HTML forms do; '+' becomes %%2B")
    encode.add_argument(
        "--safe",
        type=safe_octets,
        default="/",
        metavar="CHARS",
        help="ASCII characters that stay as they are, besides A-Z a-z 0-9 - . _ ~ (default: '%(default)s')",
    )
    encode.add_argument(
        "--errors",
        choices=["keep", "replace", "fail"],
        default="keep",
        help="what to do with octets that are not UTF-8: encode them as they are (keep, the default), "
        "encode U+FFFD in their place (replace), or fail and say where",
    )

    info = commands.add_parser(
        "info",
        help="say which uricodec this is, and where it runs",
        description="Print version, CPU kernels, Python, platform and location: for bug reports.",
        epilog="example:\n  uricodec info\n\n" + STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    info.set_defaults(run=run_info)
    return parser


def flush_text():
    """Write out what has been printed, now: the interpreter's own flush, at its end, cannot be answered for."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the interpreter's flush
        raise


def complain(message):
    try:
        if sys.stderr is not None:
            sys.stderr.write(f"uricodec: {message}\n")
    except OSError:
        pass  # nobody to tell


def main(argv=None):
    """Run the command line.

    Args:
        argv (list[str] | None): The arguments, without the name of the program; None for those of the process.

    Returns:
        int: The exit status: 0 fine, 1 invalid input found, 2 wrong usage, 3 input or output failed, 130 interrupted,
            141 the reader of the output has gone.

    >>> main(["--version"])
    uricodec ...
    0
    """
    try:
        try:
            arguments = make_parser().parse_args(argv)
            status = arguments.run(arguments)
        except SystemExit as stop:  # argparse, and signals that end the process
            status = stop.code
        flush_text()
        return status
    except CommandError as error:
        complain(error)
        return error.status
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        complain(f"{error.filename or '<stdout>'}: {error.strerror}")
        return 3
