"""The command line: which commands and options there are, and what the exit status says.

argparse alone is imported here. What a command needs is imported when it runs, so that every command starts fast.
"""

import argparse
import functools
import os
import sys

from uricodec import ByteSet, __version__
from uricodec.cli.streams import CommandError, tell

__all__ = ["main"]

STATUSES = """\
exit status:
  0    all is well
  1    invalid input was found, by check or with --errors fail
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

NORMALIZE = """\
Normalize names, one a line: each becomes the spelling that all its equivalents
share. Nothing is decoded, and a line stays a line.

levels for URNs, each of which merges what the one before keeps apart:
  bytes       nothing is changed: the same octets are the same name
  2141        case of "urn", of the namespace and of %hh digits (RFC 2141)
  8141        the same; r-, q- and f-component are dropped (RFC 8141)
  namespace   and what the namespace itself has declared equivalent
  functional  and ISBN-10 becomes ISBN-13
"""
NORMALIZE_EXAMPLES = """\
examples:
  uricodec normalize --kind urn urns.txt -o normal.txt
  uricodec normalize --kind urn --errors drop --invalid-to bad.tsv urns.txt
  echo URN:ISBN:0-395-36341-1 | uricodec normalize --kind urn --level namespace

"""

CHECK = """\
Check names, one a line, and print what is wrong. For each invalid line: input,
number of the line, place of the first fault in it (in octets, from 0), code of
the fault, and the line, between tabs. What a terminal could obey is escaped.
"""
CHECK_EXAMPLES = """\
examples:
  uricodec check --kind urn urns.txt
  uricodec check --kind urn --spec any --stats urns.txt.gz >faults.tsv

"""

EXTRACT = """\
Print every name that stands in the input, which may be anything: logs, XML,
WARC, executables. A URN starts with "urn:" and ends before the first octet
that RFC 2141 excludes; a full stop or a bracket behind it is legal in it.
"""
EXTRACT_EXAMPLES = """\
examples:
  uricodec extract --kind urn page.html
  uricodec extract --kind urn --offsets crawl.warc.gz -o urns.tsv

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


def run_normalize(arguments):
    from uricodec.cli import names

    return names.normalize(arguments)


def run_check(arguments):
    from uricodec.cli import names

    return names.check(arguments)


def run_extract(arguments):
    from uricodec.cli import extract

    return extract.run(arguments)


def run_info(_arguments):
    from uricodec.cli import info

    return info.run()


def add_filter(commands, name, summary, description, epilog):
    """A command that reads files and writes one, with what all of them share."""
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
    command.set_defaults(name=name)
    return command


def add_kind(command):
    command.add_argument(
        "--kind", choices=["urn"], required=True, help="what the names are: 'urn' for RFC 2141 and 8141"
    )


def add_stats(command):
    command.add_argument("--stats", action="store_true", help="count, and say it at the end on standard error, as JSON")


def add_names(commands):
    """The commands over names."""
    normalize = add_filter(commands, "normalize", "give equivalent names one spelling", NORMALIZE, NORMALIZE_EXAMPLES)
    normalize.set_defaults(run=run_normalize)
    add_kind(normalize)
    normalize.add_argument(
        "--level",
        choices=["bytes", "2141", "8141", "namespace", "functional"],
        default="8141",
        help="which names become one (default: %(default)s)",
    )
    normalize.add_argument(
        "--spec",
        choices=["2141", "8141", "any"],
        help="the RFC by which names are read; 'any': what either allows (default: 2141 for --level 2141, else 8141)",
    )
    normalize.add_argument(
        "--errors",
        choices=["keep", "null", "drop", "fail"],
        default="keep",
        help="what to do with a line that is no such name: keep it as it is (the default), write an empty line, "
        "drop it, or fail and say where",
    )
    normalize.add_argument(
        "--invalid-to",
        metavar="FILE",
        help="write the invalid lines here, each with input, line, place and code, as 'uricodec check' does",
    )
    add_stats(normalize)

    check = add_filter(commands, "check", "find invalid names", CHECK, CHECK_EXAMPLES)
    check.set_defaults(run=run_check)
    add_kind(check)
    check.add_argument(
        "--spec",
        choices=["2141", "8141", "any"],
        default="8141",
        help="the RFC by which names are read; 'any': what either allows (default: %(default)s)",
    )
    add_stats(check)

    extract = add_filter(commands, "extract", "find names in any text", EXTRACT, EXTRACT_EXAMPLES)
    extract.set_defaults(run=run_extract)
    add_kind(extract)
    extract.add_argument(
        "--offsets",
        action="store_true",
        help="write where each name starts, in octets of the (decompressed) input, and a tab before it; "
        "before that the input, if there are several",
    )


def make_parser():
    parser = Parser(
        prog="uricodec",
        description="Percent-encoding and URNs, in files of any size.",
        epilog="example:\n  uricodec decode access.log\n\n'uricodec COMMAND --help' says more.\n\n" + STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"uricodec {__version__}")
    commands = parser.add_subparsers(prog="uricodec", metavar="COMMAND", required=True, parser_class=CommandParser)

    decode = add_filter(commands, "decode", "turn %%HH into what it stands for", DECODE, DECODE_EXAMPLES)
    decode.set_defaults(run=run_codec)
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

    encode = add_filter(commands, "encode", "turn everything unusual into %%HH", ENCODE, ENCODE_EXAMPLES)
    encode.set_defaults(run=run_codec)
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

    add_names(commands)
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
        tell(f"uricodec: {error}\n")
        return error.status
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        tell(f"uricodec: {error.filename or '<stdout>'}: {error.strerror}\n")
        return 3
