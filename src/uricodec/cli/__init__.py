"""The command line: which commands and options there are, and what the exit status says.

argparse alone is imported here. What a command needs is imported when it runs, so that every command starts fast.
"""

import argparse
import functools
import os
import re
import sys

from uricodec import ByteSet, __version__
from uricodec._io.streams import MAX_LINE, printable, tell
from uricodec.cli import texts
from uricodec.cli.errors import CommandError

__all__ = ["main"]


def __dir__() -> list[str]:
    return __all__


# argparse would ask the terminal how wide it is, and takes longer to import what that needs than uricodec to start.
formatter = functools.partial(argparse.RawDescriptionHelpFormatter, width=79)


class Parser(argparse.ArgumentParser):
    """Says so when a help text cannot be written: newer versions of argparse do not."""

    def error(self, message):
        super().error(printable(message))

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


def suggest(action, *words):
    """Say which values an option may have that is only settled later."""
    action.suggestions = words


def choose(arguments, name, choices, default):
    """Settle an option of which the choices depend on others."""
    value = getattr(arguments, name)
    if value is None:
        setattr(arguments, name, default)
    elif value not in choices:
        options = ", ".join(map(repr, choices))
        arguments.refuse(f"argument --{name.replace('_', '-')}: invalid choice: {value!r} (choose from {options})")


def exclude(arguments, reason, *names):
    """Refuse options that mean nothing."""
    for name in names:
        if getattr(arguments, name) not in (None, False):
            arguments.refuse(f"argument --{name.replace('_', '-')}: {reason}")


def settle_kind(arguments):
    """Settle the options that depend on --kind."""
    kind = arguments.kind
    if kind == "urn":
        exclude(arguments, "not allowed with --kind urn", "production")
        choose(arguments, "spec", SPECS, None)
    else:
        exclude(arguments, f"not allowed with --kind {kind}", "spec")
        choose(arguments, "production", PRODUCTIONS[kind], None)


def run_codec(arguments):
    iri = arguments.iri
    policies = ["keep", "replace", "null", "drop", "raise"]
    choose(arguments, "errors", [name for name in policies if not iri or name != "replace"], "keep")
    if arguments.name == "decode":
        others, iri_options = ["plus", "raw"], ["host"]
        choose(arguments, "host", ["keep", "unicode"], "keep" if iri else None)
    else:
        others, iri_options = ["plus", "safe"], ["disallowed", "host"]
        choose(arguments, "host", ["percent", "idna"], "percent" if iri else None)
        choose(arguments, "disallowed", ["raise", "encode"], "raise" if iri else None)
    if iri:
        exclude(arguments, "not allowed with --iri", *others)
    else:
        exclude(arguments, "only with --iri", *iri_options)
    from uricodec.cli import filters

    return filters.decode(arguments) if arguments.name == "decode" else filters.encode(arguments)


def run_requote(arguments):
    from uricodec.cli import filters

    return filters.requote(arguments)


def run_normalize(arguments):
    settle_kind(arguments)
    if arguments.kind == "urn":
        choose(arguments, "level", URN_LEVELS, "8141")
    else:
        choose(arguments, "level", URI_LEVELS, "path" if arguments.kind == "uri" else "iri")
    from uricodec.cli import filters

    return filters.normalize(arguments)


def run_check(arguments):
    settle_kind(arguments)
    if arguments.kind == "urn":
        arguments.spec = arguments.spec or "8141"
    else:
        arguments.production = arguments.production or PRODUCTIONS[arguments.kind][0]
    from uricodec.cli import filters

    return filters.check(arguments)


def run_split(arguments):
    from uricodec.cli import filters

    return filters.split(arguments)


def run_resolve(arguments):
    from uricodec.cli import filters

    return filters.resolve(arguments)


def run_extract(arguments):
    from uricodec.cli import extract

    return extract.run(arguments)


def run_log(arguments):
    from uricodec.cli import log

    return log.run(arguments)


def run_dedup(arguments):
    from uricodec.cli import dedup, dedup_options

    dedup_options.settle(arguments, {"urn": URN_LEVELS, "uri": URI_LEVELS, "iri": URI_LEVELS, "bytes": []})
    return dedup.run(arguments)


def run_info(_arguments):
    from uricodec.cli import info

    return info.run()


def run_completion(arguments):
    from uricodec.cli import completion

    return completion.run(arguments)


def add_filter(commands, name, summary, description, epilog):
    """A command that reads files and writes one, with what all of them share."""
    command = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog + texts.STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    command.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="what to read, one file after the other, plain or compressed (gzip, bzip2, xz, zstd); none or '-' is "
        "standard input",
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write to this file; it appears (or is replaced) when all is done, so it may be one of the inputs",
    )
    command.set_defaults(name=name, refuse=command.error)
    return command


FRAMING = ["delimiter", "fields", "csv", "header", "json_field", "jsonl"]
KINDS = {"urn": "RFC 2141 and 8141", "uri": "RFC 3986", "iri": "RFC 3987", "bytes": "any octets, as they are"}
SPECS = ["2141", "8141", "any"]
URN_LEVELS = ["bytes", "2141", "8141", "namespace", "functional"]
URI_LEVELS = ["simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630"]
PRODUCTIONS = {
    "uri": ["URI-reference", "URI", "absolute-URI", "relative-ref"],
    "iri": ["IRI-reference", "IRI", "absolute-IRI", "irelative-ref"],
}


def positive(text):
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"not a number from 1 on: {text!r}")
    return int(text)


def byte_count(text):
    """A number of bytes: "4096", "64K", "16M"."""
    found = re.fullmatch(r"([0-9]{1,15})([KMGT]?)(i?B)?", text, re.IGNORECASE)
    size = int(found[1]) << 10 * " KMGT".index(found[2].upper() or " ") if found else 0
    if not 0 < size < sys.maxsize:
        raise argparse.ArgumentTypeError(f"not a number of bytes from 1 on: {text!r} (write 4096, 64K or 16M)")
    return size


def add_max_line(command, streams=""):
    command.add_argument(
        "--max-line",
        type=byte_count,
        default=MAX_LINE,
        metavar="SIZE",
        help=f"how many bytes a line may have; a longer one is invalid, with the code too-long (default: 16M){streams}",
    )


def add_jobs(command):
    command.add_argument(
        "-j",
        "--jobs",
        type=positive,
        metavar="N",
        help="how many threads work, at most 64 or as many as there are cores; what is written is the same "
        "(default: all cores for large files, else 1)",
    )


def add_framing(command, *, writes=True):
    """Which parts of a line a command is for."""
    group = command.add_argument_group("fields", "what of a line counts; all else is copied, and a record stays one")
    group.add_argument(
        "-f",
        "--fields",
        action="append",
        metavar="LIST",
        help="these fields, from 1 on, as in cut: 1,3-5,-2,4-; with --header, also their names (without a comma)",
    )
    group.add_argument(
        "-d", "--delimiter", metavar="OCTET", help="what is between fields (default: tab; a comma in CSV)"
    )
    group.add_argument("--csv", action="store_true", help="records are CSV (RFC 4180); without -f, all their fields")
    group.add_argument("--header", action="store_true", help="the first record of a file has the names of the fields")
    group.add_argument(
        "--json-field",
        action="append",
        metavar="NAME",
        help="lines are objects of JSON; this member of each, if it is a string or an array of strings; a.b is the "
        "member b of the object a; may be given again",
    )
    group.add_argument("-z", "--null-data", dest="nul", action="store_true", help="a line ends with NUL, not a newline")
    if writes:
        group.add_argument("--jsonl", action="store_true", help="write each line as a string of JSON, controls and all")
    else:
        command.set_defaults(jsonl=False)


def add_kind(command, kinds):
    meanings = ", ".join(f"'{kind}' for {KINDS[kind]}" for kind in kinds)
    command.add_argument("--kind", choices=kinds, required=True, help=f"what the names are: {meanings}")


def add_grammar(command, spec, production):
    """By what names are read."""
    action = command.add_argument(
        "--spec",
        metavar="{2141,8141,any}",
        help=f"for URNs, the RFC by which they are read; 'any': what either allows (default: {spec})",
    )
    suggest(action, *SPECS)
    action = command.add_argument(
        "--production",
        metavar="PRODUCTION",
        help="for URIs and IRIs, what a line has to be: URI-reference, URI, absolute-URI, relative-ref; IRI-reference, "
        f"IRI, absolute-IRI, irelative-ref (default: {production})",
    )
    suggest(action, *PRODUCTIONS["uri"], *PRODUCTIONS["iri"])


def add_errors(command, what):
    """What becomes of lines that are refused, for the commands that may refuse a line as a whole."""
    command.add_argument("--errors", choices=["keep", "null", "drop", "raise"], default="keep", help=what)


def add_stats(command):
    command.add_argument("--stats", action="store_true", help="count, and say it at the end on standard error, as JSON")


def add_reports(command, streams=""):
    """What is said of lines, how long they may be, and how many threads work on them."""
    command.add_argument(
        "--invalid-to",
        metavar="FILE",
        help="write the invalid lines here, each with input, line, place and code, as 'uricodec check' does",
    )
    add_stats(command)
    add_max_line(command, streams)
    add_jobs(command)


def add_names(commands):
    """The commands over names."""
    errors = (
        "what to do with a line that is no such name: keep it as it is (the default), write an empty line, "
        "drop it, or stop there and say where (raise)"
    )
    normalize = add_filter(
        commands, "normalize", "give equivalent names one spelling", texts.NORMALIZE, texts.NORMALIZE_EXAMPLES
    )
    normalize.set_defaults(run=run_normalize)
    add_kind(normalize, ["urn", "uri", "iri"])
    action = normalize.add_argument("--level", metavar="LEVEL", help="which names become one, see above")
    suggest(action, *URN_LEVELS, *URI_LEVELS)
    add_grammar(normalize, "2141 for --level 2141, else 8141", "a line may be anything")
    add_errors(normalize, errors)
    add_reports(normalize)
    add_framing(normalize)

    check = add_filter(commands, "check", "find invalid names", texts.CHECK, texts.CHECK_EXAMPLES)
    check.set_defaults(run=run_check)
    add_kind(check, ["urn", "uri", "iri"])
    add_grammar(check, "8141", "URI-reference, or IRI-reference")
    add_stats(check)
    add_max_line(check)
    add_jobs(check)
    add_framing(check, writes=False)

    split = add_filter(commands, "split", "take URIs apart", texts.SPLIT, texts.SPLIT_EXAMPLES)
    split.set_defaults(run=run_split)
    add_kind(split, ["uri", "iri"])
    split.add_argument(
        "--format", choices=["jsonl", "csv"], default="jsonl", help="what to write (default: %(default)s)"
    )
    split.add_argument("--csv-safe", action="store_true", help=texts.CSV_SAFE)
    add_errors(
        split,
        "what to do with a line that is no such name: write a record without components (keep, the default, and "
        "null), drop it, or stop there and say where (raise)",
    )
    add_reports(split)
    add_framing(split, writes=False)

    resolve = add_filter(
        commands, "resolve", "resolve references against a base", texts.RESOLVE, texts.RESOLVE_EXAMPLES
    )
    resolve.set_defaults(run=run_resolve)
    resolve.add_argument("--base", required=True, metavar="BASE", help="the URI or IRI that they are relative to")
    add_errors(resolve, errors)
    add_reports(resolve)
    add_framing(resolve)

    extract = add_filter(commands, "extract", "find names in any text", texts.EXTRACT, texts.EXTRACT_EXAMPLES)
    extract.set_defaults(run=run_extract)
    add_kind(extract, ["urn"])
    extract.add_argument(
        "--offsets",
        action="store_true",
        help="write where each name starts, in octets of the (decompressed) input, and a tab before it; "
        "before that the input, if there are several",
    )


def add_dedup(commands):
    from uricodec.cli import dedup_options

    dedup = add_filter(commands, "dedup", "print each name once", dedup_options.DEDUP, dedup_options.DEDUP_EXAMPLES)
    dedup.set_defaults(run=run_dedup)
    add_kind(dedup, ["urn", "uri", "iri", "bytes"])
    action = dedup.add_argument(
        "--level",
        metavar="LEVEL",
        help="which names are the same (default: 8141 for URNs, path for URIs, iri for IRIs)",
    )
    suggest(action, *URN_LEVELS, *URI_LEVELS)
    dedup_options.add(dedup)
    add_reports(dedup)


def add_log(commands):
    from uricodec.cli import log_options

    log = add_filter(commands, "log", "turn access logs into records", log_options.LOG, log_options.LOG_EXAMPLES)
    log.set_defaults(run=run_log)
    log_options.add(log)
    add_stats(log)
    add_max_line(log)


# What the commands that encode and decode do with long lines.
STREAMS = "; with --errors keep, replace or raise, plain lines have no such limit: they are worked on in pieces"


def add_codec(commands):
    """The commands that encode and decode."""
    decode = add_filter(commands, "decode", "turn %%HH into what it stands for", texts.DECODE, texts.DECODE_EXAMPLES)
    decode.set_defaults(run=run_codec)
    decode.add_argument("--plus", action="store_true", help="'+' is a space, as in HTML forms and many query strings")
    decode.add_argument(
        "--raw",
        action="store_true",
        help="write every decoded octet, newlines and other control characters too, UTF-8 or not",
    )
    decode.add_argument("--iri", action="store_true", help="each line is a URI, and becomes an IRI")
    action = decode.add_argument(
        "--host",
        metavar="{keep,unicode}",
        help="with --iri: keep A-labels in hosts (the default), or show them as Unicode",
    )
    suggest(action, "keep", "unicode")
    action = decode.add_argument(
        "--errors",
        metavar="POLICY",
        help="what to do with a malformed triplet and with octets that are not UTF-8: keep them as they are "
        "(the default) or replace them by U+FFFD; or with their line (with --iri: with one that is no URI): keep it, "
        "write an empty one (null), drop it, or stop there and say where (raise)",
    )
    suggest(action, "keep", "replace", "null", "drop", "raise")
    add_reports(decode, STREAMS)
    add_framing(decode)

    encode = add_filter(commands, "encode", "turn everything unusual into %%HH", texts.ENCODE, texts.ENCODE_EXAMPLES)
    encode.set_defaults(run=run_codec)
    encode.add_argument("--plus", action="store_true", help="write '+' for a space, as HTML forms do; '+' becomes %%2B")
    encode.add_argument(
        "--safe",
        type=safe_octets,
        metavar="CHARS",
        help="ASCII characters that stay as they are, besides A-Z a-z 0-9 - . _ ~ (default: '/')",
    )
    encode.add_argument("--iri", action="store_true", help="each line is an IRI, and becomes a URI")
    action = encode.add_argument(
        "--disallowed",
        metavar="{raise,encode}",
        help='with --iri: the characters < > " { } | \\ ^ ` and space, which no IRI has, make a line invalid (the '
        "default), or are encoded",
    )
    suggest(action, "raise", "encode")
    action = encode.add_argument(
        "--host",
        metavar="{percent,idna}",
        help="with --iri: what is not ASCII in a host becomes %%HH (the default), or its labels A-labels",
    )
    suggest(action, "percent", "idna")
    action = encode.add_argument(
        "--errors",
        metavar="POLICY",
        help="what to do with octets that are not UTF-8: encode them as they are (keep, the default), "
        "encode U+FFFD in their place (replace); or with their line (with --iri: with one that is no IRI): keep it, "
        "write an empty one (null), drop it, or stop there and say where (raise)",
    )
    suggest(action, "keep", "replace", "null", "drop", "raise")
    add_reports(encode, STREAMS)
    add_framing(encode)

    requote = add_filter(commands, "requote", "encode what is not encoded yet", texts.REQUOTE, texts.REQUOTE_EXAMPLES)
    requote.set_defaults(run=run_requote)
    requote.add_argument(
        "--safe",
        type=safe_octets,
        metavar="CHARS",
        help="ASCII characters that stay as they are, besides A-Z a-z 0-9 - . _ ~ and %%HH (default: all that a URI "
        "may have)",
    )
    requote.add_argument(
        "--errors",
        choices=["keep", "replace", "null", "drop", "raise"],
        default="keep",
        help="what to do with a %% that begins no %%HH, and with bytes that are not UTF-8: keep the %% and encode the "
        "bytes (the default), or write %%25 and an encoded U+FFFD in their place (replace); or with their line: write "
        "an empty one (null), drop it, or stop there and say where (raise)",
    )
    add_reports(requote, STREAMS)
    add_framing(requote)


def make_parser():
    parser = Parser(
        prog="uricodec",
        description="Percent-encoding, URIs, IRIs and URNs, in files of any size.",
        epilog="example:\n  uricodec decode access.log\n\n'uricodec COMMAND --help' says more.\n\n" + texts.STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"uricodec {__version__}")
    commands = parser.add_subparsers(prog="uricodec", metavar="COMMAND", required=True, parser_class=CommandParser)

    add_codec(commands)
    add_names(commands)
    add_dedup(commands)
    add_log(commands)
    info = commands.add_parser(
        "info",
        help="say which uricodec this is, and where it runs",
        description="Print version, CPU kernels, Python, platform and location: for bug reports.",
        epilog="example:\n  uricodec info\n\n" + texts.STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    info.set_defaults(run=run_info)
    completion = commands.add_parser(
        "completion",
        help="print what a shell needs to complete command lines",
        description=texts.COMPLETION,
        epilog=texts.COMPLETION_EXAMPLES + texts.STATUSES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    completion.add_argument("shell", metavar="SHELL", choices=["bash", "zsh", "fish"], help="bash, zsh or fish")
    completion.set_defaults(run=run_completion, parser=parser)
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
    except MemoryError:
        tell("uricodec: there is not enough memory\n")
        return 3
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        tell(f"uricodec: {error.filename or '<stdout>'}: {error.strerror}\n")
        return 3
