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

With --iri, each line is a URI and becomes the IRI that it stands for
(RFC 3987 section 3.2): decoded are letters, digits, - . _ ~, and the UTF-8 of
characters that an IRI may have there. All other %HH stay.
"""
DECODE_EXAMPLES = """\
examples:
  uricodec decode access.log                   a log in readable form
  uricodec decode access.log.gz -o plain.log   gzip is known by its content
  echo 'q=caf%C3%A9+au+lait' | uricodec decode --plus
  uricodec decode --iri --host unicode urls.txt

"""

ENCODE = """\
Percent-encode line by line: every octet but A-Z a-z 0-9 - . _ ~ and the --safe
ones becomes %HH. The ends of the lines (LF, CRLF) stay.

What is encoded already is encoded again: % becomes %25, but for --safe '/%'.

With --iri, each line is an IRI and becomes the URI that it stands for
(RFC 3987 section 3.1). A URI stays as it is: no %HH is encoded again.
"""
ENCODE_EXAMPLES = """\
examples:
  uricodec encode names.txt -o paths.txt       one file name a line
  echo 'black & white' | uricodec encode --plus --safe ''
  uricodec encode --iri --errors drop --invalid-to bad.tsv iris.txt

"""

NORMALIZE = """\
Normalize names, one a line: each becomes the spelling that all its equivalents
share. A line stays a line.

levels for URNs, each of which merges what the one before keeps apart; the
default is 8141:
  bytes       nothing is changed: the same octets are the same name
  2141        case of "urn", of the namespace and of %hh digits (RFC 2141)
  8141        the same; r-, q- and f-component are dropped (RFC 8141)
  namespace   and what the namespace itself has declared equivalent
  functional  and ISBN-10 becomes ISBN-13

levels for URIs and IRIs, likewise; the default is path, for IRIs it is iri:
  simple      nothing is changed
  case        case of the scheme, of the host and of %hh digits (RFC 3986)
  percent     %hh of letters, digits and - . _ ~ are decoded
  path        . and .. are gone from the path
  scheme      and what the scheme says: its port, and its empty path
  iri         and an IRI is the URI it stands for (RFC 3987)
others, which stand by themselves:
  rfc2396     as percent, by RFC 2396: also %hh of ! * ' ( ) are decoded
  rfc1630     %hh of what is not reserved are brought to one level (RFC 1630)
"""
NORMALIZE_EXAMPLES = """\
examples:
  uricodec normalize --kind urn urns.txt -o normal.txt
  uricodec normalize --kind urn --errors drop --invalid-to bad.tsv urns.txt
  echo URN:ISBN:0-395-36341-1 | uricodec normalize --kind urn --level namespace
  echo HTTP://Example.com/a/../%7Eb | uricodec normalize --kind uri

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
  uricodec check --kind uri --rule URI-reference links.txt

"""

SPLIT = """\
Split URIs or IRIs, one a line, or references to them, into their components,
one record a line: an object of JSON, or CSV with a header. A component that is
not there is null in JSON and nothing in CSV; an empty one is "".

A line that is no such thing becomes a record without components, in which
"error" has the code of the fault, and "offset" its place in octets.
"""
SPLIT_EXAMPLES = """\
examples:
  uricodec split --kind uri urls.txt -o urls.jsonl
  echo '//example.com/a?' | uricodec split --kind uri --format csv

"""

RESOLVE = """\
Resolve references, one a line, against a base (RFC 3986 section 5.2): each
becomes the URI, or IRI, that it stands for there.
"""
RESOLVE_EXAMPLES = """\
examples:
  uricodec resolve --base http://example.com/a/b hrefs.txt
  echo ../c | uricodec resolve --base http://example.com/a/b

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

LOG = """\
Turn access logs into records. What the log has escaped is undone; the request
is split while it is percent-encoded; then path and query are decoded.

A record is one line: host, user, time (RFC 3339), method, target, path, query
(pairs of name and value), protocol, status, size, referer, agent.
Octets that are not UTF-8 stay triplets.
"""
LOG_EXAMPLES = """\
examples:
  uricodec log access.log                      JSON lines
  uricodec log --format iis --to csv u_ex25*.log -o requests.csv
  uricodec log --mask token,password --invalid-to bad.tsv access.log.gz

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


def parameter_names(text):
    names = [name for name in text.split(",") if name]
    if any(len(os.fsencode(name)) > 255 for name in names):
        raise argparse.ArgumentTypeError("a name has more than 255 octets")
    return names


def run_codec(arguments):
    iri = arguments.iri
    choose(arguments, "errors", ["keep", "null", "drop", "fail"] if iri else ["keep", "replace", "fail"], "keep")
    if arguments.name == "decode":
        others, iri_options = ["plus", "raw"], ["host", "invalid_to", "stats"]
        choose(arguments, "host", ["keep", "unicode"], "keep" if iri else None)
    else:
        others, iri_options = ["plus", "safe"], ["ascii_ext", "host", "invalid_to", "stats"]
        choose(arguments, "host", ["percent", "idna"], "percent" if iri else None)
        choose(arguments, "ascii_ext", ["error", "encode"], "error" if iri else None)
    if iri:
        exclude(arguments, "not allowed with --iri", *others)
        from uricodec.cli import uris

        return uris.decode(arguments) if arguments.name == "decode" else uris.encode(arguments)
    exclude(arguments, "only with --iri", *iri_options)
    from uricodec.cli import codec

    return codec.run(arguments)


def run_normalize(arguments):
    settle_kind(arguments)
    if arguments.kind == "urn":
        choose(arguments, "level", URN_LEVELS, "8141")
        from uricodec.cli import names

        return names.normalize(arguments)
    choose(arguments, "level", URI_LEVELS, "path" if arguments.kind == "uri" else "iri")
    from uricodec.cli import uris

    return uris.normalize(arguments)


def run_check(arguments):
    settle_kind(arguments)
    if arguments.kind == "urn":
        arguments.spec = arguments.spec or "8141"
        from uricodec.cli import names

        return names.check(arguments)
    arguments.rule = arguments.rule or arguments.kind.upper()
    from uricodec.cli import uris

    return uris.check(arguments)


def run_split(arguments):
    from uricodec.cli import uris

    return uris.split(arguments)


def run_resolve(arguments):
    from uricodec.cli import uris

    return uris.resolve(arguments)


def run_extract(arguments):
    from uricodec.cli import extract

    return extract.run(arguments)


def run_log(arguments):
    from uricodec.cli import log

    return log.run(arguments)


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
    command.set_defaults(name=name, refuse=command.error)
    return command


KINDS = {"urn": "RFC 2141 and 8141", "uri": "RFC 3986", "iri": "RFC 3987"}
SPECS = ["2141", "8141", "any"]
URN_LEVELS = ["bytes", "2141", "8141", "namespace", "functional"]
URI_LEVELS = ["simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630"]
RULES = {
    "uri": ["URI-reference", "URI", "absolute-URI", "relative-ref"],
    "iri": ["IRI-reference", "IRI", "absolute-IRI", "irelative-ref"],
}


def add_kind(command, kinds):
    meanings = ", ".join(f"'{kind}' for {KINDS[kind]}" for kind in kinds)
    command.add_argument("--kind", choices=kinds, required=True, help=f"what the names are: {meanings}")


def add_grammar(command, spec, rule):
    """By what names are read."""
    command.add_argument(
        "--spec",
        metavar="{2141,8141,any}",
        help=f"for URNs, the RFC by which they are read; 'any': what either allows (default: {spec})",
    )
    command.add_argument(
        "--rule",
        metavar="RULE",
        help="for URIs and IRIs, what a line has to be: URI, URI-reference, absolute-URI, relative-ref; IRI, "
        f"IRI-reference, absolute-IRI, irelative-ref (default: {rule})",
    )


def add_errors(command, what):
    """What becomes of lines that are refused, for the commands that may refuse a line as a whole."""
    command.add_argument("--errors", choices=["keep", "null", "drop", "fail"], default="keep", help=what)


def add_invalid_to(command, condition=""):
    command.add_argument(
        "--invalid-to",
        metavar="FILE",
        help=f"{condition}write the invalid lines here, each with input, line, place and code, as 'uricodec check' "
        "does",
    )


def add_stats(command, condition=""):
    command.add_argument(
        "--stats", action="store_true", help=f"{condition}count, and say it at the end on standard error, as JSON"
    )


def add_names(commands):
    """The commands over names."""
    errors = (
        "what to do with a line that is no such name: keep it as it is (the default), write an empty line, "
        "drop it, or fail and say where"
    )
    normalize = add_filter(commands, "normalize", "give equivalent names one spelling", NORMALIZE, NORMALIZE_EXAMPLES)
    normalize.set_defaults(run=run_normalize)
    add_kind(normalize, ["urn", "uri", "iri"])
    normalize.add_argument("--level", metavar="LEVEL", help="which names become one, see above")
    add_grammar(normalize, "2141 for --level 2141, else 8141", "a line may be anything")
    add_errors(normalize, errors)
    add_invalid_to(normalize)
    add_stats(normalize)

    check = add_filter(commands, "check", "find invalid names", CHECK, CHECK_EXAMPLES)
    check.set_defaults(run=run_check)
    add_kind(check, ["urn", "uri", "iri"])
    add_grammar(check, "8141", "URI, or IRI")
    add_stats(check)

    split = add_filter(commands, "split", "take URIs apart", SPLIT, SPLIT_EXAMPLES)
    split.set_defaults(run=run_split)
    add_kind(split, ["uri", "iri"])
    split.add_argument(
        "--format", choices=["jsonl", "csv"], default="jsonl", help="what to write (default: %(default)s)"
    )
    add_errors(
        split,
        "what to do with a line that is no such name: write a record without components (keep, the default, and "
        "null), drop it, or fail and say where",
    )
    add_invalid_to(split)
    add_stats(split)

    resolve = add_filter(commands, "resolve", "resolve references against a base", RESOLVE, RESOLVE_EXAMPLES)
    resolve.set_defaults(run=run_resolve)
    resolve.add_argument("--base", required=True, metavar="BASE", help="the URI or IRI that they are relative to")
    add_errors(resolve, errors)
    add_invalid_to(resolve)
    add_stats(resolve)

    extract = add_filter(commands, "extract", "find names in any text", EXTRACT, EXTRACT_EXAMPLES)
    extract.set_defaults(run=run_extract)
    add_kind(extract, ["urn"])
    extract.add_argument(
        "--offsets",
        action="store_true",
        help="write where each name starts, in octets of the (decompressed) input, and a tab before it; "
        "before that the input, if there are several",
    )


def add_log(commands):
    log = add_filter(commands, "log", "turn access logs into records", LOG, LOG_EXAMPLES)
    log.set_defaults(run=run_log)
    log.add_argument(
        "--format",
        choices=["auto", "combined", "common", "nginx-json", "cloudfront", "iis", "alb"],
        default="auto",
        metavar="FORMAT",
        help="combined, common, nginx-json, cloudfront, iis or alb; auto (the default) looks at the first lines",
    )
    log.add_argument(
        "--to",
        choices=["jsonl", "csv", "arrow"],
        default="jsonl",
        help="write JSON lines (the default), CSV, or a stream of Arrow IPC (needs pyarrow)",
    )
    log.add_argument(
        "--mask",
        type=parameter_names,
        default=[],
        metavar="NAMES",
        help="write '***' for the values of these query parameters, names with commas between them",
    )
    log.add_argument(
        "--flags",
        action="store_true",
        help="say what is suspicious: malformed, double-encoded, overlong-utf8, encoded-slash, dot-dot, nul",
    )
    log.add_argument(
        "--errors",
        choices=["keep", "replace"],
        default="keep",
        help="what to do with octets that are not UTF-8: keep them as triplets (the default) or replace them by U+FFFD",
    )
    log.add_argument(
        "--invalid-to",
        metavar="FILE",
        help="write lines that are no records here, each with input, line, place and code, as 'uricodec check' does",
    )
    add_stats(log)


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
        "--raw",
        action="store_true",
        help="write every decoded octet, newlines and other control characters too, UTF-8 or not",
    )
    decode.add_argument("--iri", action="store_true", help="each line is a URI, and becomes an IRI")
    decode.add_argument(
        "--host",
        metavar="{keep,unicode}",
        help="with --iri: keep A-labels in hosts (the default), or show them as Unicode",
    )
    decode.add_argument(
        "--errors",
        metavar="POLICY",
        help="what to do with a malformed triplet and with octets that are not UTF-8: keep them as they are "
        "(the default), replace them by U+FFFD, or fail and say where; with --iri, what to do with a line that is no "
        "URI: keep it, write an empty line (null), drop it, or fail",
    )
    add_invalid_to(decode, "with --iri: ")
    add_stats(decode, "with --iri: ")

    encode = add_filter(commands, "encode", "turn everything unusual into %%HH", ENCODE, ENCODE_EXAMPLES)
    encode.set_defaults(run=run_codec)
    encode.add_argument("--plus", action="store_true", help="write '+' for a space, as HTML forms do; '+' becomes %%2B")
    encode.add_argument(
        "--safe",
        type=safe_octets,
        metavar="CHARS",
        help="ASCII characters that stay as they are, besides A-Z a-z 0-9 - . _ ~ (default: '/')",
    )
    encode.add_argument("--iri", action="store_true", help="each line is an IRI, and becomes a URI")
    encode.add_argument(
        "--ascii-ext",
        metavar="{error,encode}",
        help='with --iri: the characters < > " { } | \\ ^ ` and space, which no IRI has, make a line invalid (the '
        "default), or are encoded",
    )
    encode.add_argument(
        "--host",
        metavar="{percent,idna}",
        help="with --iri: what is not ASCII in a host becomes %%HH (the default), or its labels A-labels",
    )
    encode.add_argument(
        "--errors",
        metavar="POLICY",
        help="what to do with octets that are not UTF-8: encode them as they are (keep, the default), "
        "encode U+FFFD in their place (replace), or fail and say where; with --iri, what to do with a line that is no "
        "IRI: keep it, write an empty line (null), drop it, or fail",
    )
    add_invalid_to(encode, "with --iri: ")
    add_stats(encode, "with --iri: ")


def make_parser():
    parser = Parser(
        prog="uricodec",
        description="Percent-encoding, URIs, IRIs and URNs, in files of any size.",
        epilog="example:\n  uricodec decode access.log\n\n'uricodec COMMAND --help' says more.\n\n" + STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"uricodec {__version__}")
    commands = parser.add_subparsers(prog="uricodec", metavar="COMMAND", required=True, parser_class=CommandParser)

    add_codec(commands)
    add_names(commands)
    add_log(commands)
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
