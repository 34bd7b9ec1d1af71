"""The options of the command line: one table.

OPTIONS maps the key of each row to its Option. COMMANDS in commands.py lists the keys of the options of each command.
The parser, `-h`, `--help`, the man page, the completions of three shells and the reference page come from both tables.
The functions at the top check values; the parser adds which option a message is about.
"""

import os
import sys

from uricodec._io.reading import MAX_LINE
from uricodec._io.sizes import parse_size
from uricodec._records.formats import FORMATS
from uricodec._reports import REPORTS

__all__ = ["OPTIONS", "Option"]

# --- values -----------------------------------------------------------------------------------------------------------


def made_by(where, kept=False, given=str, said="{error}"):
    """Return the reader of a value that a function makes, which raises ValueError if it cannot.

    Args:
        where (str): The function, "module:function". Its module is imported when there is a value.
        kept (bool): Whether the value is not what the function returns, but what it gets.
        given (Callable[[str], Any]): Returns what the function gets, for a text.
        said (str): What is said of a text that it rejects; with {error} and {text!r}.
    """

    def read(text):
        module, _, function = where.partition(":")
        __import__(module)
        value = given(text)
        try:
            made = getattr(sys.modules[module], function)(value)
        except ValueError as error:
            raise ValueError(said.format(error=error, text=text)) from None
        return value if kept else made

    return read


def whole_number(text, least=0, what="such as 4"):
    """Return the number that a text is: 0, 1, 2 and so on."""
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= least):
        raise ValueError(f"expected a whole number {what}, got {text!r}")
    return int(text)


def positive_number(text):
    """Return the number that a text is: 1, 2, 3 and so on."""
    return whole_number(text, 1, "from 1 on, such as 10")


def single_byte(text):
    r"""Return one byte, of which "\t" is one way to write a tab.

    >>> single_byte(r"\t"), single_byte(",")
    (b'\t', b',')
    """
    byte = b"\t" if text == r"\t" else os.fsencode(text)
    if len(byte) != 1:
        raise ValueError(rf"expected one byte such as ; or \t, got {text!r}")
    return byte


def base_identifier(text):
    """Return a base as bytes, if it has a scheme and can be part of a line."""
    from uricodec.errors import UriSyntaxError
    from uricodec.uri._rows import ResolveRows

    base = os.fsencode(text)
    control = [character for character in text if character < " " or "\x7f" <= character < "\xa0"]
    if control:
        raise ValueError(f"invalid control character {control[0]!r} in {text!r}; expected a base such as http://a/b")
    try:
        ResolveRows(base)
    except UriSyntaxError as error:
        raise ValueError(f"{error.reason} in {text!r}; expected a base such as http://a/b") from None
    return base


def url_policy(text):
    """Return the Policy that a text names: a ready one, or one of a TOML file, whose path ends so or has a "/"."""
    from uricodec.uri import Policy

    if not text.endswith(".toml") and "/" not in text:
        return Policy.ready(text)
    try:
        return Policy.from_toml(text)
    except (OSError, TypeError, ImportError) as error:
        raise ValueError(f"{text!r}: {getattr(error, 'strerror', None) or error}") from None


def port_numbers(text):
    """Return the numbers of ports, which stand between commas.

    >>> port_numbers("80,443")
    [80, 443]
    """
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and len(part) < 6 and 0 < int(part) < 65536 for part in parts):
        raise ValueError(f"expected numbers from 1 to 65535 such as 80,443, got {text!r}")
    return list(map(int, parts))


def parameter_names(text):
    """Return the names of query parameters, which stand between commas."""
    return [name for name in text.split(",") if name]


def names_of_parameters(text):
    """Return names of parameters as bytes, which stand between commas."""
    return os.fsencode(text).split(b",") if text else []


def url_template(text):
    """Return a template for URLs as it is, if it is one, and what it needs is installed."""
    return checked_template(text, False)


def host_template(text):
    """Return a template for hosts as it is, if it is one, and what it needs is installed."""
    return checked_template(text, True)


def checked_template(text, hosts):
    from uricodec.cli.errors import needs
    from uricodec.cli.templates import SUFFIXES, checked_names

    if any(name in SUFFIXES for name in checked_names(text, hosts)):
        needs("--get", "domains", "publicsuffixlist")
    return text


def log_template(text):
    """Return a template for the fields of a log as it is, if it is one."""
    from uricodec.cli.templates import of_fields

    log_fields(",".join(of_fields(text)[0]))
    return text


def log_format(text):
    """Return the Format of access logs that a text is; "auto"."""
    from uricodec.logs import Format

    return text if text == "auto" else Format(text)


def mapped_field(text):
    """Return a field of records and the path of a member (tuple[str, str]), between which is "="."""
    name, equals, path = text.partition("=")
    if not equals:
        raise ValueError(f"expected FIELD=PATH such as path=request.uri, got {text!r}")
    from uricodec.logs import Format

    Format(map={name: path})
    return name, path


def log_fields(text):
    """Return the names of fields of a log (tuple[str, ...]), between which are commas."""
    from uricodec.logs._groups import split_names
    from uricodec.logs._records import field_names

    return field_names(map(utf8, split_names(text)), (), False)


def field_to_sort_by(text):
    """Return the name of a field of counts; the command knows which there are."""
    if not text:
        raise ValueError("expected a field such as count or sum.bytes_sent, got ''")
    return utf8(text)


def number_fields(text):
    """Return names of fields that are numbers (list[str]), between which are commas."""
    names = text.split(",")
    for name in names:
        if name not in ("bytes_sent", "duration"):
            raise ValueError(f"expected bytes_sent or duration, or both as in bytes_sent,duration, got {name!r}")
    return list(dict.fromkeys(names))


def charset(text):
    """Return the Charset with a name."""
    from uricodec._codec._charsets import Charset

    if text.lower().replace("_", "-") in ("utf-8", "utf8", "u8"):
        raise ValueError(f"got {text!r}, which is always read; expected the encoding of all else, such as latin-1")
    return Charset(text)


def nonempty(text):
    """Return a text that has at least one character."""
    if not text:
        raise ValueError("expected a text such as k7Qz, got ''")
    return text


def utf8(text):
    """Return a text whose bytes are UTF-8 whatever the locale."""
    return os.fsencode(text).decode("utf-8", "surrogateescape")


SIZES = "expected a size in bytes such as 64M or 1.5G, or a share such as 50%, got {text!r}"
memory_size = made_by("uricodec._io.sizes:parse_memory", kept=True, said=SIZES)
ascii_characters = made_by("uricodec:ByteSet", kept=True, said="expected ASCII characters such as /:@, got {text!r}")
url_schemes = made_by(
    "uricodec.uri._rows:WebRows",
    kept=True,
    given=lambda text: text.split(","),
    said="{error}, as in https,wss; parsers of other schemes are not compared",
)
sensitive_names = made_by(
    "uricodec.uri._redact:names_in", kept=True, given=utf8, said="{error}; expected names such as default,my_token"
)
path_patterns = made_by(
    "uricodec.uri._redact:paths_in",
    kept=True,
    given=utf8,
    said="{error}; expected patterns such as /reset/{{*}},/bot*/",
)
query_to_set = made_by(
    "uricodec.uri._with_query:WithQueryRows",
    kept=True,
    given=os.fsencode,
    said="{error}; expected a query such as page=2&sort=name",
)
log_condition = log_rate = made_by("uricodec.logs._conditions:condition_of", kept=True)
moment = made_by("uricodec.logs._times:moment_of", kept=True)
time_zone = made_by("uricodec.logs._times:timezone_of")


def zone_of_output(text):
    """Return the zone in which times are written (tzinfo)."""
    from uricodec.logs._times import UTC

    return time_zone(text) or UTC


# --- the shape of a row -----------------------------------------------------------------------------------------------

# The headings of help, in their order.
GENERAL, RECORDS, INVALID, LIMITS = "options", "records and fields", "invalid input and reports", "memory and threads"
CATEGORIES = [GENERAL, RECORDS, INVALID, LIMITS]


class Option:
    """An option, or the operands of a command.

    A condition is an option, "--csv", or an option with a value, "--kind=urn".

    Args:
        names (str): "-j --threads N": the names, and what help calls the value. An operand has only that: "FILE".
        short (str): The help of `-h`: one line, without a full stop.
        long (str): What `--help` adds, in sentences.
        choices (dict[str, str]): The values that are allowed, with their meanings; empty: what `read` accepts.
        read (Callable[[str], Any]): Returns the value of a text, or raises ValueError, which names no option.
        default (Any): The value if the option is not given.
        category (str): The heading in help.
        repeats (bool): Whether it may be given again; then the value is a list.
        required (bool): Whether it must be given, except under the conditions of `implied`.
        decides (bool): Whether conditions of other options are about it; they hold for its default, too.
        implied (dict[str, Any]): The value under a condition, if the option is not given.
        environment (str): The environment variable that is used without the option.
        conflicts (str): Conditions under which it is not allowed.
        needs (str): Conditions of which one must hold.
        only (dict[str, str]): The choices that are left under a condition.
        hint (str): What to do if one of the last three rejects it; "": what the parser says.

    Attributes:
        flags (list[str]): The names; none for operands.
        value (str): What help calls the value; "" for an option without one. "FILE" and "DIR" stand for paths.
        flag (str): The name in messages.
        key (str): The key of the value.
    """

    def __init__(self, names, short, long="", **rest):
        self.short, self.long = short, long
        self.flags = [word for word in names.split() if word.startswith("-")]
        self.value = "" if names.split()[-1] in self.flags else names.split()[-1]
        self.flag = self.flags[-1] if self.flags else self.value
        vars(self).update(DEFAULTS | rest)
        plural = "" if self.flags or not self.repeats else "s"
        self.key = self.flag.lstrip("-").replace("-", "_").lower() + plural


DEFAULTS = {"choices": {}, "read": str, "default": None, "category": GENERAL, "repeats": False, "required": False}
DEFAULTS |= {"decides": False, "implied": {}, "environment": "", "conflicts": "", "needs": "", "only": {}, "hint": ""}


# --- values that rows share -------------------------------------------------------------------------------------------

_KINDS = {
    "auto": "URNs where they begin with urn:, else URIs; with --parquet URIs",
    "urn": "URNs (RFC 2141, RFC 8141)",
    "uri": "URIs (RFC 3986)",
    "iri": "IRIs (RFC 3987)",
    "web": "URLs of http, https, ws and wss in which all parsers find the same host",
    "bytes": "any bytes: only equal lines are equivalent",
}

_LEVELS = {
    "bytes": "URN: change nothing",
    "2141": "URN: lower the case of 'urn' and of the namespace, raise that of %hh digits (RFC 2141)",
    "8141": "URN: also remove the r-, q- and f-component (RFC 8141; the default for URNs)",
    "namespace": "URN: also apply the equivalence rules that the namespace is registered with",
    "functional": "URN: also convert ISBN-10 to ISBN-13",
    "simple": "URI, IRI: change nothing",
    "case": "URI, IRI: lower the case of scheme and host, raise that of %hh digits (RFC 3986)",
    "percent": "URI, IRI: also decode %hh of letters, digits and - . _ ~",
    "path": "URI, IRI: also remove the segments . and .. from the path (the default for URIs)",
    "scheme": "URI, IRI: also apply the rules of the scheme: default port, empty path (the default for web)",
    "iri": "URI, IRI: also convert IRIs to URIs (RFC 3987; the default for IRIs)",
    "rfc2396": "URI, IRI, by itself: like percent, and also decode %hh of ! * ' ( ) (RFC 2396)",
    "rfc1630": "URI, IRI, by itself: write each character that is not reserved in one form (RFC 1630)",
}
_URN_LEVELS = "bytes 2141 8141 namespace functional"
_URI_LEVELS = "simple case percent path scheme iri rfc2396 rfc1630"

_PRODUCTIONS = {
    "URI-reference": "a URI or a relative reference (the default of 'check' for URIs)",
    "URI": "a URI, with a scheme",
    "absolute-URI": "a URI without a fragment",
    "relative-ref": "a relative reference",
    "whatwg": "what browsers accept as a URL (WHATWG URL Standard)",
    "IRI-reference": "an IRI or a relative reference (the default of 'check' for IRIs)",
    "IRI": "an IRI, with a scheme",
    "absolute-IRI": "an IRI without a fragment",
    "irelative-ref": "a relative reference",
}
_OF_URIS, _OF_IRIS = (
    "URI-reference URI absolute-URI relative-ref whatwg",
    "IRI-reference IRI absolute-IRI irelative-ref",
)

_AMBIGUITY = {"raise": "the line is invalid", "allow": "accept the URL"}

# The reports of dedup that an option selects.
SELECTED_REPORTS = [report for report in REPORTS.values() if report.option]

_RAISE = {"raise": "stop with exit status 1, and report input, line and column"}
_DROP = {"drop": "leave the record out"} | _RAISE
_FORMATS = {each.name: each.help for each in FORMATS.values()}
_COLUMNS = {
    "arrow": "an Arrow IPC stream (needs pyarrow)",
    "parquet": "a Parquet file: row groups of 131,072 records, Zstandard (needs pyarrow and -o)",
}
_COUNTS = "--count --sum --quantiles --distinct --rate"
_OF_RECORDS = "--fields --param --flags --get"
_NULL = {"null": "write an empty line, an empty field, or null in JSON"} | _DROP


def variant(key, short="", long="", **changes):
    """Return the option of a row of the table as another command has it: with another help, if there is one."""
    option = object.__new__(Option)
    changes |= {"short": short, "long": long} if short else {}
    vars(option).update(vars(OPTIONS[key]) | changes)
    return option


def _errors(short, choices, long="", default="keep", **rest):
    return Option("--errors POLICY", short, long, choices=choices, default=default, **rest)


def _kind(*kinds, default="uri", **rest):
    choices = {kind: _KINDS[kind] for kind in kinds}
    shown = ", ".join(kinds).replace(default, f"{default} (default)")
    return Option("--kind KIND", f"the identifiers: {shown}", choices=choices, default=default, decides=True, **rest)


# The grammar of an RFC is that of URNs, and rules are those of their namespaces.
_URN_BY_RFC = {"long": "With --rfc, the default is urn.", "implied": {"--rfc": "urn"}}
_URN_BY_RULES = {"long": "With --rfc or --rules, the default is urn.", "implied": {"--rfc": "urn", "--rules": "urn"}}


def _to(choices, default, long="", **rest):
    """Return an option for the format of the output; `choices` are values with their meanings."""
    shown = [f"{to} (default)" if to == default else to for to in choices]
    short = f"write {', '.join(shown[:-1])} or {shown[-1]}"
    return Option("--to FORMAT", short, long, choices=choices, default=default, **rest)


_GET = (
    "TEMPLATE has names in braces, as in '{host}{path}': scheme, authority, userinfo, host, port, path, query, "
    "fragment, registrable_domain, public_suffix, url, param.NAME of the query and segment.N of the path, decoded. "
    "Braces themselves are written twice. A missing value is empty, an invalid line becomes an empty one, and control "
    "characters are written as %hh."
)


def _get(read, long=_GET, **rest):
    return Option("--get TEMPLATE", "write a text for each: '{host}{path}'", long, read=read, **rest)


def _to_one_of(*names):
    """Return the conditions that one of these formats is chosen."""
    return " ".join(f"--to={name}" for name in names)


def _csv_safe(more="", needs="", conflicts=""):
    return Option(
        "--csv-safe",
        "protect CSV from being run as spreadsheet formulas",
        "Writes an apostrophe before each text that begins, after any spaces, with = + - @ (also full-width), tab, CR "
        "or LF." + more,
        needs=_to_one_of(*[each.name for each in FORMATS.values() if each.header]) + needs,
        conflicts=conflicts,
    )


# --- the table --------------------------------------------------------------------------------------------------------

# A key is the option's long name. What follows a colon tells the rows of different commands apart.
OPTIONS = {
    "files": Option(
        "FILE",
        "read these files, one after the other",
        "Compressed files (gzip, bzip2, xz, zstd) are recognized by their content. Without FILE, or if FILE is -, "
        "standard input is read. A quoted pattern such as 'logs/*.gz' means the files that match it; ** stands for "
        "folders at any depth.",
        repeats=True,
    ),
    "text": Option(
        "--text VALUE",
        "read VALUE instead of a file",
        "VALUE is a line. May be given again, for more lines.",
        repeats=True,
    ),
    "recursive": Option(
        "-r --recursive",
        "read all files in folders, and in their folders",
        "They are read in the order of their names, without hidden ones.",
    ),
    "limit": Option(
        "--limit N",
        "write only the first N records",
        "Reading ends there; 'dedup' reads all.",
        read=positive_number,
        conflicts="--sample --count --estimate",
    ),
    "sample": Option(
        "--sample N",
        "write a random sample of N records",
        "Of all records that would be written, each has the same chance. They are written at the end, in their order.",
        read=positive_number,
        conflicts="--count --estimate --follow " + _to_one_of(*_COLUMNS),
    ),
    "seed": Option("--seed N", "with --sample: the same N gives the same sample", read=whole_number, needs="--sample"),
    "shell": Option(
        "SHELL",
        "the shell: bash, zsh or fish",
        choices={"bash": "for ~/.bashrc", "zsh": "for ~/.zshrc", "fish": "for ~/.config/fish/completions"},
        required=True,
    ),
    "help": Option("-h --help", "show help; --help shows all details"),
    "version": Option("-V --version", "show version, CPU tier and Python version"),
    "quiet": Option(
        "-q --quiet",
        "write only errors to standard error",
        "No hints, notes or progress. Counts of --stats are written.",
        conflicts="--progress",
    ),
    "color": Option(
        "--color WHEN",
        "colors in messages and help: auto, always, never",
        choices={
            "auto": "at a terminal, unless NO_COLOR is set or TERM is dumb",
            "always": "whatever the output is",
            "never": "write no colors",
        },
        default="auto",
    ),
    "output": Option(
        "-o --output FILE",
        "write to FILE instead of standard output",
        "FILE appears, or is replaced, when the command has succeeded, so it may be one of the inputs.",
    ),
    # --- encode, decode, requote
    "plus:decode": Option(
        "--plus",
        "decode '+' as a space",
        "HTML forms and many query strings use it.",
        conflicts="--iri",
        hint="leave out --plus or --iri: in URIs and IRIs, '+' stands for itself",
    ),
    "raw": Option(
        "--raw",
        "write every decoded byte, control characters too",
        "Without it, control characters and bytes that are not UTF-8 stay encoded. With it, decoding may change the "
        "number of lines.",
        conflicts="--iri --json-field --to=jsonl",
    ),
    "encoding": Option(
        "--encoding NAME",
        "the encoding of records that are not UTF-8",
        "NAME is Python's name for a superset of ASCII: latin-1, cp1251, koi8-r, shift_jis, euc-jp, gbk, big5, euc-kr "
        "and others. A line or field that is UTF-8 once it is decoded is read as UTF-8, any other, as a whole, in this "
        "encoding. The output is UTF-8.",
        read=charset,
        conflicts="--iri --raw",
    ),
    "safe:encode": Option(
        "--safe CHARS",
        "do not encode these ASCII characters (default: /)",
        "Letters, digits and - . _ ~ are never encoded.",
        read=ascii_characters,
        conflicts="--iri",
    ),
    "iri:decode": Option(
        "--iri",
        "convert URIs to IRIs",
        "Decodes only the UTF-8 of characters that are allowed at that position of an IRI (RFC 3987 section 3.2).",
    ),
    "host:decode": Option(
        "--host FORM",
        "how to write hosts beyond ASCII: keep, unicode, safe",
        choices={
            "keep": "do not change A-labels (xn--...)",
            "unicode": "convert A-labels to Unicode",
            "safe": "convert A-labels to Unicode, and labels that mix scripts to A-labels",
        },
        default="keep",
        needs="--iri",
    ),
    "host:encode": Option(
        "--host FORM",
        "how to write hosts beyond ASCII: percent, idna",
        choices={"percent": "percent-encode them", "idna": "convert their labels to A-labels (xn--...)"},
        default="percent",
        needs="--iri",
    ),
    "disallowed": Option(
        "--disallowed ACTION",
        'how to handle < > " { } | \\ ^ ` and space',
        "An IRI must not contain these characters.",
        choices={"raise": "the line is invalid", "encode": "encode them"},
        default="raise",
        needs="--iri",
    ),
    # --- identifiers
    "kind": _kind("urn", "uri", "iri", "web", **_URN_BY_RFC),
    "kind:check": _kind("auto", "urn", "uri", "iri", "web", default="auto", **_URN_BY_RULES),
    "kind:split": _kind("uri", "iri", "web"),
    "kind:extract": Option(
        "--kind KIND",
        "what to find: urn, uri (default), web",
        choices={
            "urn": _KINDS["urn"],
            "uri": "URLs: URIs and IRIs with '://' after the scheme",
            "web": _KINDS["web"],
        },
        default="uri",
        decides=True,
    ),
    "content": Option(
        "--content CONTENT",
        "the kind of text: auto (default), plain, json, html",
        "URLs are written without the escapes of JSON or HTML.",
        choices={
            "auto": "by the start of each input: json for an object or a list of objects or strings, html for a tag",
            "plain": "text without escapes",
            "json": "JSON: \\/ and \\u0026 are escapes",
            "html": "HTML or XML: &amp; is a character reference",
        },
        default="auto",
        conflicts="--kind=urn",
    ),
    "kind:dedup": _kind("urn", "uri", "iri", "web", "bytes"),
    "level": Option(
        "--level LEVEL",
        "which identifiers are equivalent (default: by kind)",
        "Each level includes the one before it.",
        choices=_LEVELS,
        only={"--kind=urn": _URN_LEVELS, "--kind=bytes": ""}
        | {f"--kind={kind}": _URI_LEVELS for kind in ("uri", "iri", "web")},
    ),
    "policy": Option(
        "--policy NAME",
        "merge more, such as crawl, shape, surt or tracking",
        "'tracking' removes parameters that only track visitors; 'crawl' also removes fragments, sorts parameters, and "
        "converts IRIs to URIs; 'shape' writes the classes of path segments, such as /users/{int}, and the names of "
        "parameters; 'surt' writes the keys of web-archive indexes; 'w3lib' writes what Scrapy compares, "
        "'whatwg' what browsers request. "
        "A TOML file, whose path ends with .toml or has a '/', has the fields of uricodec.uri.Policy, and 'base', the "
        "name of a policy to change.",
        read=url_policy,
        conflicts="--level --kind=urn --kind=bytes",
        hint="policies are for URIs and IRIs, instead of a level",
    ),
    "repair": Option(
        "--repair",
        "write the URL that was meant by text that is none",
        "What a component does not allow is percent-encoded, and blanks and controls at the ends are left out. URI "
        "references do not change. Lines of which it is not certain what was meant, as of a blank in the host, are "
        "invalid.",
        conflicts="--level --policy --production --rfc --kind=urn --kind=iri --kind=web",
        hint="repair URLs first, and normalize what that writes",
    ),
    "explain": Option(
        "--explain",
        "write the steps of a policy or repair for each line",
        "A line of JSON for each line: 'input', and 'steps', each with its name and its 'result'.",
        needs="--policy --repair",
        conflicts="--production --csv --field --json-field --to",
    ),
    "rfc": Option(
        "--rfc RFC",
        "the grammar of URNs: 2141, 8141 or any",
        "The default is 8141, but 2141 for --level 2141.",
        choices={"2141": "RFC 2141", "8141": "RFC 8141", "any": "valid by either of them"},
        conflicts="--kind=uri --kind=iri --kind=web",
        hint="--production selects the grammar of URIs and IRIs",
    ),
    "rules": Option(
        "--rules",
        "reject URNs that break the rules of their namespace",
        "Those of registrations: the form, such as 8-4-4-4-12 digits of a UUID (code form), and check digits of ISBN, "
        "ISSN, ISAN and German NBN (code check-digit). Where a registration is unknown, or requires no form, a URN is "
        "valid.",
        conflicts="--kind=uri --kind=iri --kind=web",
    ),
    "production": Option(
        "--production RULE",
        "the grammar of URIs and IRIs, such as absolute-URI",
        choices=_PRODUCTIONS,
        conflicts="--kind=urn --kind=web",
        only={"--kind=auto": _OF_URIS, "--kind=uri": _OF_URIS, "--kind=iri": _OF_IRIS},
        hint="--rfc selects the grammar of URNs",
    ),
    "safe-host": Option(
        "--safe-host",
        "reject hosts that decode to a delimiter: a%2Fb",
        "The grammar allows them. Characters of an IRI that normalize to a delimiter are rejected, too.",
        conflicts="--kind=urn --kind=web",
    ),
    "base": Option(
        "--base BASE",
        "the URI or IRI that references are relative to",
        read=base_identifier,
        required=True,
        implied={"--base-field": None},
        conflicts="--base-field",
    ),
    "base-field": Option(
        "--base-field NAME",
        "the field or member with the base, instead of --base",
        "It is not changed. NAME may also be the number of a field. A record without a base, or whose base has no "
        "scheme or more than 8192 bytes, is invalid.",
        needs="--field --csv --json-field",
    ),
    "set": Option(
        "--set QUERY",
        "set parameters, as in page=2&sort=name",
        "QUERY is decoded as a form: + is a space. The first field of a name becomes a field for each of its values, "
        "others of that name are dropped; a name that the query lacks is added at its end.",
        read=query_to_set,
    ),
    "space": Option(
        "--space TEXT",
        "how a space in --set is written: + or %20",
        "The default is + in http, https, ws and wss, and without a scheme, and %20 in other schemes.",
        choices={"+": "as forms write it", "%20": "as in other components"},
        needs="--set",
    ),
    "drop": Option(
        "--drop NAMES",
        "drop these parameters: utm_*,fbclid",
        "utm_* is all names that begin with utm_.",
        read=names_of_parameters,
    ),
    "only": Option(
        "--only NAMES",
        "keep only these parameters, and those of --set",
        "NAMES is as for --drop. An empty one drops all.",
        read=names_of_parameters,
    ),
    "policy:query": Option(
        "--policy NAME",
        "drop what this policy drops, such as tracking",
        "All else of the URL stays, which 'normalize --policy' normalizes.",
        read=url_policy,
        conflicts="--set --drop --only",
    ),
    "hosts": Option(
        "--hosts FILE",
        "the hosts: a list, a hosts file, or a saved set",
        "A URL matches if its host is one of them, or below one. May be given again, for more lists.",
        repeats=True,
    ),
    "prefixes": Option(
        "--prefixes FILE",
        "the prefixes: a list of URLs, SURTs, or a saved set",
        "A URL matches if it has the host of one, and its path begins with that of the entry. May be given again, for "
        "more lists. Of all lists, one must match.",
        repeats=True,
    ),
    "no-below": Option("--no-below", "match only hosts and pages themselves, none below"),
    "invert": Option("--invert", "write what does not match"),
    "offsets": Option(
        "--offsets",
        "write the offset of each match before it",
        "The offset counts bytes of the (decompressed) input from 0. A tab follows it. If there are several inputs, "
        "the input and a tab come first.",
    ),
    "to:extract": _to(
        _FORMATS | {"text": "the matches, one per line"},
        "text",
        "Records have input, offset and match.",
        conflicts="--offsets",
        hint="records have the offset",
    ),
    "to:dedup": _to(
        _FORMATS | {"text": "the number, a tab and the line"},
        None,
        "Of --count: records have count and line. Of --groups: each spelling that is not the first of its identifier "
        "becomes a record of kept, spelling, reason (the level that merged it), line (with --parquet file and row) and "
        "rows.",
        needs="--count --groups",
    ),
    "to:split": _to(
        _FORMATS,
        "jsonl",
        conflicts="--append",
        hint="with --append, the output has the format of the input",
    ),
    "to:hosts": _to(
        _FORMATS | {"text": "the host of each URL, one per line; an empty line if there is none"},
        "text",
        "Records have scheme, host, port, kind and category.",
        conflicts="--append",
        hint="with --append, the output has the format of the input",
    ),
    "to:check": _to(_FORMATS, "text"),
    "to:lines": _to(
        {"text": "lines or records, as they are read", "jsonl": "each line as a JSON string"},
        "text",
        "In JSON nothing has to stay encoded, because control characters are escaped.",
        only={name: "text" for name in ("--csv", "--delimiter", "--field", "--header", "--json-field")},
    ),
    "append": Option(
        "--append",
        "keep the records, and add the components to them",
        "In CSV, the fields NAME_scheme, NAME_host and so on follow the field NAME; in JSON, the member NAME_parts, an "
        "object, follows the member NAME.",
        needs="--csv --json-field",
    ),
    "get": _get(url_template, conflicts="--append --to --csv-safe"),
    "get:normalize": _get(url_template, _GET + " They are those of the normal form.", conflicts="--to --explain"),
    "get:hosts": _get(
        host_template,
        _GET + " In 'hosts', there are also kind and category, and scheme, host and port are normalized.",
        conflicts="--append --to --csv-safe",
    ),
    "private": Option(
        "--private",
        "public suffixes include those of companies: github.io",
        "For registrable_domain and public_suffix of --get.",
        needs="--get",
    ),
    "count:get": Option(
        "-c --count",
        "write how often each text of --get occurs",
        "The most frequent comes first; a tab follows the number. At a terminal, the counts are a table with bars.",
        needs="--get",
    ),
    "schemes": Option(
        "--schemes LIST",
        "accept only these schemes",
        "LIST has commas between the names. The default is http,https,ws,wss.",
        read=url_schemes,
    ),
    "userinfo": Option(
        "--userinfo ACTION",
        "how to handle an @ before the host: raise, allow",
        "urllib.request connects to all of the authority, other parsers to what follows the @.",
        choices=_AMBIGUITY,
        default="raise",
    ),
    "trailing-dot": Option(
        "--trailing-dot ACTION",
        "how to handle a dot after the host: raise, allow",
        "In DNS it is the same name as without the dot, but not in lists of hosts.",
        choices=_AMBIGUITY,
        default="raise",
    ),
    "ports": Option(
        "--ports LIST",
        "accept only these ports",
        "LIST has commas between the numbers. A URL without a port has that of its scheme.",
        read=port_numbers,
    ),
    # --- redact
    "names": Option(
        "--names LIST",
        "which parameters: extended (the default) or names",
        "LIST has commas between names, of which two stand for lists: extended for those of signatures, OAuth, "
        "sessions, passwords and keys; default, as in Python, only for the signatures that the OpenTelemetry semantic "
        "conventions name. x-amz-* stands for all names that begin with x-amz-, and *token* for those that have token "
        "in them.",
        read=sensitive_names,
        default="extended",
    ),
    "urls": Option(
        "--urls", "each line or field is one URL", "A value then does not end at a space, a quote or final punctuation."
    ),
    "no-nested": Option("--no-nested", "do not look for URLs in encoded values, or for JSON"),
    "paths": Option(
        "--paths LIST",
        "secrets in paths, such as /reset/{*}",
        "LIST has commas between patterns. What * stands for becomes REDACTED, as in /bot*/; if there are braces, what "
        "is in braces, as in /user/*/reset/{*}. tokens stands for segments that look drawn at random.",
        read=path_patterns,
    ),
    "csv-safe:split": _csv_safe(
        " With --append, the fields of the input stay as they are.", needs=" --append", conflicts="--json-field"
    ),
    # --- log
    "format:log": Option(
        "--format FORMAT",
        "a name or the server's format string (default: auto)",
        "FORMAT is a name that --list-formats lists, or the string in the configuration of Apache, nginx, HAProxy, "
        "Envoy, gunicorn, Uvicorn, aiohttp, uWSGI, Squid or morgan, or the whole directive. auto finds out which "
        "preset it is, by a vote of up to 1000 lines. May be given again: a line has the first format that it matches; "
        "auto is then the preset of the lines that the others do not read.",
        read=log_format,
        default="auto",
        repeats=True,
    ),
    "map": Option(
        "--map FIELD=PATH",
        "a field, and the path of its member of the JSON",
        "Such as --map path=request.uri. Alternative paths have | between them. FIELD is a field of the record, or "
        "request, duration.ms, duration.us, duration.ns or extra.NAME. May be given again, for more fields. With "
        "--format of a preset of JSON, its other fields stay; with --format logfmt, PATH is a key.",
        read=mapped_field,
        repeats=True,
    ),
    "list-formats": Option("--list-formats", "list the names of formats, and what writes them"),
    "client": Option(
        "--client WHO",
        "the client: peer (default) or forwarded",
        "Believe X-Forwarded-For only if a proxy of yours sets it.",
        choices={"peer": "the peer that the server logged", "forwarded": "the first address of X-Forwarded-For"},
        default="peer",
    ),
    "fields:log": Option(
        "--fields NAMES",
        "write these fields, such as time,status,path",
        "NAMES, in this order, are those of the members, param.NAME of a parameter, extra.NAME of a field that only "
        "the format has, flags, and groups: time:day, time:hour, time:minute, status:class, client:/24 or "
        "client:/24,/48 (networks of IPv4, IPv6), referer:host, referer:domain, path:2 (the first two segments) and "
        "path:shape (/users/{int}). They have commas between them. What is not named is not computed.",
        read=log_fields,
    ),
    "count:log": Option(
        "--count FIELDS",
        "write how often these fields occur together",
        "FIELDS are those of --fields. The most frequent come first; those that are equally frequent, in the order of "
        "their first records. Without --sort and --top, groups by time are in the order of time. At a terminal, the "
        "counts are a table with bars, in which hours without records are there, too.",
        read=log_fields,
        conflicts=_OF_RECORDS.removesuffix(" --get"),
    ),
    "sort": Option(
        "--sort FIELD",
        "order the counts by a field, such as sum.bytes_sent",
        "FIELD is count, one of the fields of --count, or one that --sum or --quantiles adds; :asc or :desc may "
        "follow. Without that, counts, sums and quantiles begin with the greatest, and fields of --count with the "
        "least. Missing values are last; equal ones are in the order of the counts.",
        read=field_to_sort_by,
        needs="--count",
    ),
    "top:log": Option(
        "--top N",
        "write only the first N, by default the most frequent",
        "It applies after --sort. Without it, all are written; at a terminal, 30.",
        read=positive_number,
        needs="--count",
    ),
    "sum": Option(
        "--sum FIELDS",
        "add up bytes_sent or duration beside the count",
        "The sum is a field sum.FIELD. Without --count, it is that of all records.",
        read=number_fields,
        conflicts=_OF_RECORDS,
    ),
    "quantiles": Option(
        "--quantiles FIELDS",
        "write the quantiles of duration or bytes_sent",
        "They are fields p50.FIELD, p90.FIELD, p95.FIELD and p99.FIELD, within 1 %, and max.FIELD. Without --count, "
        "they are those of all records.",
        read=number_fields,
        conflicts=_OF_RECORDS,
    ),
    "distinct": Option(
        "--distinct FIELDS",
        "count the different values of these fields",
        "As in --count time:day --distinct client,user_agent. Each group has a field distinct.FIELDS: exact up to 768, "
        "beyond that an estimate with a standard error of 1.15 %. Records that have none of FIELDS do not count. May "
        "be given again. Without --count, it is the number for all records.",
        read=log_fields,
        repeats=True,
        conflicts=_OF_RECORDS,
    ),
    "rate": Option(
        "--rate CONDITION",
        "write the part of the records like this: status>=500",
        "CONDITION is what --where takes. Each group has a field rate.CONDITION, from 0 to 1. May be given again. "
        "Without --count, it is the part of all records.",
        read=log_rate,
        repeats=True,
        conflicts=_OF_RECORDS,
    ),
    "timezone": Option(
        "--timezone ZONE",
        "the zone of times without one (default: UTC)",
        "ZONE is a name such as Europe/Vienna, or an offset such as +02:00. It matters where times are compared, and "
        "for --to arrow and --to parquet, which have all times in UTC.",
        read=time_zone,
    ),
    "to-timezone": Option(
        "--to-timezone ZONE",
        "write times, and count hours and days, in this zone",
        "ZONE is a name such as Europe/Vienna, with daylight saving time, or an offset such as +02:00. Times of "
        "--since, --until and --where that name no zone are in this one. Without it, times are in the zone of the log.",
        read=zone_of_output,
    ),
    "where": Option(
        "--where CONDITION",
        "write only records like this: status>=500",
        "A condition is a field, an operator and a value: =, !=, <, <=, >, >=, ^= (begins with), *= (contains), "
        "~= (has a match of a regular expression), !^=, !*= and !~= (does not), =* (equal without regard to case). "
        "Several values have | between them: status=404|410, status=4xx. bytes_sent and duration take units: "
        "bytes_sent>1M, duration>500ms. A missing value meets only FIELD=. client is compared with an address or a "
        "network: client=10.0.0.0/8. May be given again; then all must hold.",
        read=log_condition,
        repeats=True,
    ),
    "since": Option(
        "--since TIME",
        "write the records from this time on",
        "TIME is a time of RFC 3339, a date, today, yesterday, or a distance before now, such as 2h or 7d.",
        read=moment,
    ),
    "until": Option(
        "--until TIME",
        "write the records before this time",
        "TIME is what --since takes.",
        read=moment,
    ),
    "param": Option(
        "--param NAME",
        "add the value of this parameter as param.NAME",
        "It is decoded, and null without the parameter. May be given again, for more parameters.",
        repeats=True,
    ),
    "replace-invalid-utf8": Option(
        "--replace-invalid-utf8", "write U+FFFD for bytes that are not UTF-8", "Without it, they are written as %HH."
    ),
    "follow": Option(
        "--follow",
        "wait for more lines at the end of FILE",
        "Reads one file, also across rotation, until it is interrupted.",
        conflicts="--output --threads",
        hint="with --follow, records go to standard output",
    ),
    "to": _to(
        _FORMATS | _COLUMNS | {"table": "counts as a table, as at a terminal"},
        None,
        "The default is jsonl; at a terminal, counts are a table.",
    ),
    "csv-safe:log": _csv_safe(),
    "mask": Option(
        "--mask NAMES",
        "write '***' for the values of these query parameters",
        "NAMES are separated by commas.",
        read=parameter_names,
        default=(),
    ),
    "redact": Option(
        "--redact",
        "redact the URLs in each line before it is read",
        "As uricodec redact does, wherever they are in the line. In JSON, and in logs with a field for the query, "
        "it is also recognized without '?'.",
    ),
    "flags": Option(
        "--flags",
        "add a list of what is suspicious in each request",
        "The flags are malformed, double-encoded, overlong-utf8, encoded-slash, dot-dot and nul.",
    ),
    "get:log": _get(
        log_template,
        "TEMPLATE has names of --fields in braces, as in '{status} {path}'. Braces themselves are written twice. A "
        "missing value is empty, and control characters are written as %HH.",
        conflicts="--fields --param --flags --count --to --csv-safe",
    ),
    # --- dedup
    **{
        report.key: Option(
            report.option,
            report.help,
            report.details,
            conflicts=" ".join(f"--{other.key}" for other in SELECTED_REPORTS[: SELECTED_REPORTS.index(report)]),
            hint=report.hint,
        )
        for report in SELECTED_REPORTS
    },
    "keep:dedup": Option(
        "--keep WHICH",
        "which line to write (default: first)",
        choices={
            "first": "the first line with an identifier",
            "last": "the last one",
            "newest": "the first of those with the greatest value in the field or column --by",
        },
        default="first",
    ),
    "by": Option(
        "--by FIELD",
        "with --keep newest: the field with a number or time",
        "A number or name of a field, a member of the JSON objects, or a column with --parquet. Times are those of ISO "
        "8601; one counts as the seconds since 1970 in UTC. A record without such a value is older than all others.",
        needs="--keep=newest",
    ),
    "exclude": Option(
        "--exclude FILE",
        "leave out identifiers that FILE contains",
        "May be given again, for more files. With --parquet, FILE is a Parquet file or a folder of them.",
        repeats=True,
    ),
    "only-in": Option(
        "--only-in FILE",
        "write only identifiers that FILE contains",
        "May be given again, for more files.",
        repeats=True,
        conflicts="--exact --merged",
        hint="sets of identifiers hold fingerprints of one level",
    ),
    "seen": Option(
        "--seen FILE",
        "leave out identifiers of this saved set",
        "A saved set is a file of fingerprints, 16 bytes for each identifier, that --update makes. Its --kind and "
        "--level or --policy have to be those of this command.",
        conflicts="--exact --merged",
        hint="a saved set holds fingerprints of one level",
    ),
    "update": Option(
        "--update",
        "with --seen: add what is read to the set",
        "The set is replaced at the end, after the output; it is made if there is none. If the command fails, it is "
        "unchanged.",
        needs="--seen",
        conflicts="--exclude",
        hint="the set would not say which identifiers were excluded",
    ),
    "groups": Option(
        "--groups FILE",
        "write identifiers with several spellings to FILE",
        "Each line of FILE is a JSON object for one identifier: its spellings, how often each occurs, and the level "
        "that merged it. A line number, or with --parquet a file and a row, shows where each is. --to csv writes a "
        "table.",
        conflicts="--kind=bytes",
        hint="with --kind bytes each identifier has one spelling; --count counts them",
    ),
    "estimate": Option(
        "--estimate",
        "print only the approximate number of identifiers",
        "The standard error is 0.8 % (HyperLogLog). Reads the input once and needs little memory.",
        conflicts=" ".join(f"--{report.key}" for report in SELECTED_REPORTS)
        + " --keep --exclude --only-in --seen --groups --merged --memory --spill-dir --exact --invalid-to --stats",
    ),
    "parquet:dedup": Option(
        "--parquet",
        "read Parquet files or folders, and write a folder",
        "-f is the column of the identifiers, of text or bytes and not within another one. FILE may be a folder, and "
        "--output is the folder to write: it does not exist, or is empty, and appears when the command has succeeded. "
        "Each file that is read has one in it, with the same relative path, and with all columns of the rows that are "
        "kept. Needs pyarrow.",
        needs="--field",
        conflicts="--estimate --csv --delimiter --header --json-field --invalid-to --null-data --max-line --text "
        "--limit --sample",
    ),
}

_RECORDS = {
    "parquet": Option(
        "--parquet",
        "read and write columns of Parquet files",
        "-f is a column of text or bytes, and may be given again. The output is one Parquet file with all rows and "
        "columns, in which results replace the values; 'split' and 'hosts' add columns NAME_scheme, NAME_host and so "
        "on after NAME. In reports of invalid values, lines are rows, from 0. Nothing has to stay encoded in columns. "
        "Needs pyarrow.",
        needs="--field",
        conflicts=" ".join(
            [
                "--csv --delimiter --header --json-field --null-data --text --max-line --raw",
                "--encoding --get --count --append --explain --kind=web",
                _to_one_of(*[name for name in _FORMATS if name != "text"]),
            ]
        ),
    ),
    "field": Option(
        "-f --field LIST",
        "process these fields: 1,3-5,-2,4- or their names",
        "Numbers start at 1, as in cut. Names need --header and must not contain a comma. All other fields are copied. "
        "With --parquet, a column.",
        repeats=True,
    ),
    "delimiter": Option(
        "-d --delimiter BYTE",
        "the byte between fields (default: tab; CSV: comma)",
        read=single_byte,
        needs="--field --csv",
    ),
    "csv": Option(
        "--csv", "read CSV records (RFC 4180)", "Without --field, all fields are processed.", conflicts="--null-data"
    ),
    "header": Option(
        "--header",
        "the first record of each input contains field names",
        "The first line of a CDX file, such as ' CDX N b a', is a header also without this.",
        needs="--field --csv",
    ),
    "json-field": Option(
        "--json-field NAME",
        "process this member of the JSON object in each line",
        "Its value must be a string or an array of strings. A nested member is written a.b. May be given again, for "
        "more members.",
        repeats=True,
        conflicts="--csv --delimiter --field --header --null-data",
    ),
    "null-data": Option("-z --null-data", "lines end with NUL instead of newline"),
}

_INVALID = {
    "errors": _errors("how to handle invalid records", {"keep": "write the record unchanged"} | _NULL),
    "errors:normalize": _errors(
        "how to handle invalid records",
        {"keep": "write the record unchanged"} | _NULL,
        "Lines that are not UTF-8 are invalid, lines that are not URNs, with --kind web URLs that parsers may read in "
        "two ways, and what --production says: 'keep' writes the normal form of text that is not quite a URI.",
    ),
    "errors:decode": _errors(
        "how to handle malformed %HH and invalid UTF-8",
        {"keep": "do not change them (with --iri: the record)", "replace": "write U+FFFD in their place"} | _NULL,
        "With --iri, records that cannot become IRIs are invalid.",
        only={"--iri": "keep null drop raise"},
    ),
    "errors:encode": _errors(
        "how to handle bytes that are not UTF-8",
        {
            "keep": "encode them as they are (with --iri: do not change the record)",
            "replace": "write an encoded U+FFFD in their place",
        }
        | _NULL,
        "With --iri, records that cannot become URIs are invalid.",
        only={"--iri": "keep null drop raise"},
    ),
    "errors:requote": _errors(
        "how to handle malformed %HH and invalid UTF-8",
        {"keep": "keep the %, encode the bytes", "replace": "write %25 for the %, an encoded U+FFFD for the bytes"}
        | _NULL,
    ),
    "errors:redact": _errors(
        "how to handle records that are too long or damaged",
        {"keep": "write the record unchanged, with its secrets"} | _NULL,
        "Lines within --max-line are never invalid, only records of CSV and JSON. --invalid-to writes invalid records "
        "with their secrets.",
        default="raise",
    ),
    "errors:split": _errors(
        "how to handle invalid records",
        {"keep": "write a record with 'error' and 'offset' only", "null": "the same as keep"} | _DROP,
        "Where each URL becomes one text instead of a record, keep and null write an empty line.",
    ),
    "errors:dedup": _errors(
        "how to handle invalid lines",
        {"keep": "compare them byte by byte, as --kind bytes does"} | _DROP,
        "Lines that are not URNs are invalid, with --kind web URLs that parsers may read in two ways, with the "
        "policies whatwg and w3lib what these reject, at --level rfc1630 lines with a % that does not begin %HH, and "
        "records without one text in the field. With 'drop' and 'raise', lines that are not URI references are "
        "invalid, too, or with --kind iri, --level iri and other policies IRI references; 'keep' compares their normal "
        "forms.",
    ),
    "errors:log": Option(
        "--errors POLICY",
        "how to handle lines that are not records",
        choices={"drop": "leave them out"} | _RAISE,
        default="drop",
    ),
    "invalid-to": Option(
        "--invalid-to FILE",
        "write a report of invalid lines to FILE",
        "Its columns are input, line (from 1), offset (in bytes, from 0), code and text. Tabs separate them. Control "
        "characters in text are escaped.",
    ),
    "stats": Option("--stats", "write counts to standard error, as JSON"),
    "merged": Option(
        "--merged",
        "with --stats: count the lines that each level merged",
        "Reads the input once more for each level.",
        needs="--stats",
    ),
    "progress": Option(
        "--progress",
        "show a progress meter, whatever standard error is",
        "By default it is shown on a terminal to which nothing else writes, because all outputs are files. Where "
        "standard error is not a terminal, a line is written every 10 seconds, and one at the end.",
        conflicts="--no-progress",
    ),
    "no-progress": Option("--no-progress", "never show a progress meter"),
}

_LIMITS = {
    "memory": Option(
        "--memory SIZE",
        "memory for identifiers: 64M, 1G, 50% (default: 50%)",
        "A percentage is that of the machine's memory. The program needs about 30M more. Identifiers that do not fit "
        "go to temporary files.",
        read=memory_size,
    ),
    "spill-dir": Option("--spill-dir DIR", "the directory for temporary files", environment="TMPDIR"),
    "exact": Option(
        "--exact",
        "compare whole identifiers, not their fingerprints",
        "A fingerprint has 128 bits and depends on a random secret.",
    ),
    "secret": Option(
        "--secret TEXT",
        "the secret of the fingerprints, for tests",
        "With the same secret, the fingerprints in --groups are the same in every run. Other users of the machine may "
        "see it on the command line.",
        read=nonempty,
        conflicts="--secret-file",
    ),
    "secret-file": Option(
        "--secret-file FILE",
        "read the secret of the fingerprints from FILE",
        "One newline at the end of FILE is not part of the secret.",
    ),
    "max-line": Option(
        "--max-line SIZE",
        "the longest valid line, in bytes (default: 16M)",
        "A longer line is invalid, with the code too-long. decode, encode and requote accept plain lines of any length "
        "under --errors keep, replace and raise, but decode --encoding does not.",
        read=parse_size,
        default=MAX_LINE,
    ),
    "threads": Option(
        "-j --threads N",
        "use N threads; 0, the default: automatic",
        "Automatic means one per idle core for large files, else one. At most 64, or one per core if that is more, are "
        "used. The output does not depend on N.",
        read=whole_number,
    ),
}

for category, rows in {RECORDS: _RECORDS, INVALID: _INVALID, LIMITS: _LIMITS}.items():
    OPTIONS |= rows
    for option in rows.values():
        option.category = category

# --- variants ---------------------------------------------------------------------------------------------------------

OPTIONS |= {
    "base:normalize": variant(
        "base",
        "with --policy whatwg: what references are relative to",
        "As browsers do it; 'resolve' does what RFC 3986 says.",
        required=False,
        implied={},
        needs="--policy",
        conflicts="--explain --parquet",
    ),
    "quiet:check": variant(
        "quiet",
        "write no report: the exit status says it",
        "Nor hints or progress. It is 0 if all lines are valid, 1 if one is not.",
        conflicts="--progress --output",
    ),
    "plus:encode": variant("plus:decode", "encode a space as '+', and '+' as %2B", "HTML forms use it."),
    "safe:requote": variant(
        "safe:encode",
        "do not encode these ASCII characters",
        "Letters, digits, - . _ ~ and %HH are never encoded. The default is all characters that are allowed in a URI.",
        conflicts="",
    ),
    "iri:encode": variant(
        "iri:decode",
        "convert IRIs to URIs",
        "URIs do not change: %HH is not encoded again (RFC 3987 section 3.1). Only --host idna decodes %HH in hosts.",
    ),
    "production:normalize": variant(
        "production",
        "the grammar of URIs and IRIs, such as absolute-URI",
        "The default is 'any' with --errors keep. Else it is URI-reference, or IRI-reference with --kind iri, --level "
        "iri and policies; but 'any' with --level rfc1630 and the policies w3lib and whatwg, which reject lines "
        "themselves.",
        choices={**_PRODUCTIONS, "any": "any text"},
        only={"--kind=uri": f"{_OF_URIS} any", "--kind=iri": f"{_OF_IRIS} any"},
    ),
    "top:get": variant("top:log", "write only the N most frequent"),
    "memory:log": variant(
        "memory",
        "memory for counting: 64M, 1G, 50% (default: 50%)",
        "A percentage is that of the machine's memory. The memory of the program is included. Keys that do not fit go "
        "to temporary files.",
        needs="--count",
    ),
    "encoding:log": variant(
        "encoding",
        "the encoding of values that are not UTF-8",
        "A path, a parameter or another value that is UTF-8 is read as UTF-8, any other, as a whole, in this encoding.",
        conflicts="--replace-invalid-utf8",
    ),
    "count:hosts": variant(
        "count:get",
        "write how often each host or text of --get occurs",
        "The most frequent comes first; a tab follows the number. At a terminal, the counts are a table with bars.",
        conflicts="--append --to",
        needs="",
    ),
    "top": variant(
        "top:log",
        "with --count: the N most frequent, in this order",
        "Of equally frequent identifiers, the one that occurs first comes first. A terminal gets a table with shares "
        "and bars. With --parquet, rows stay in their files, in the order of the input.",
    ),
    "field:dedup": variant(
        "field",
        "compare this field of records: its number or name",
        "Numbers start at 1. A name needs --header. Records are written whole; those without the field are invalid. "
        "With --parquet, a column.",
        value="FIELD",
        repeats=False,
    ),
    "csv:dedup": variant("csv", "read CSV records (RFC 4180)", needs="--field"),
    "header:dedup": variant(
        "header",
        "the first record of each input contains field names",
        "It is written once, and all inputs must have the same.",
    ),
    "json-field:dedup": variant(
        "json-field",
        "compare this member of the JSON object in each line",
        "A nested member is written a.b. A record in which it is not one string is invalid.",
        repeats=False,
    ),
    "parquet:check": variant(
        "parquet",
        "check columns of Parquet files",
        "-f is a column of text or bytes, and may be given again. The lines of the report are rows, from 0. Needs "
        "pyarrow.",
        conflicts="--csv --delimiter --header --json-field --null-data --text --stats --max-line --kind=web",
    ),
    "spill-dir:log": variant("spill-dir", needs=_COUNTS),
    "names:log": variant("names", needs="--redact"),
}
