"""The commands: one table, COMMANDS, in the order of the help."""

from collections import namedtuple

from uricodec.cli.options import OPTIONS, SELECTED_REPORTS

__all__ = ["COMMANDS", "Command"]


_Fields = namedtuple("_Fields", "name task summary description examples usual rare run")


class Command(_Fields):
    """A command.

    Attributes:
        name (str): The name.
        task (str): What it is for: the heading in the help of the program, which lists commands by task.
        summary (str): What it does, in a few words.
        description (str): What it does, for `--help`; the first sentence is the help of `-h`.
        examples (tuple[str, ...]): Command lines, with remarks after "# "; a second line "# prints TEXT" is the output.
            The first two work in the repository; help begins with them.
        usual (str): The keys of its options in OPTIONS: those that `-h` shows.
        rare (str): The keys of its other options, which only `--help` shows.
        run (str): "module:function" that runs it, given a Plan and its own options, and returns the exit status.
    """

    __slots__ = ()

    @property
    def keys(self):
        """The keys of all options (list[str]), usual ones first."""
        return f"{self.usual} {self.rare}".split()

    @property
    def options(self):
        """The options (list[Option]), usual ones first; one of them may be the operand."""
        return [OPTIONS[key] for key in self.keys]

    @property
    def usual_options(self):
        """The options that `-h` shows (list[Option])."""
        return [OPTIONS[key] for key in self.usual.split()]

    @property
    def operand(self):
        """The Option that describes what is not an option, such as files; None: there is nothing else."""
        return next((option for option in self.options if not option.flags), None)


# What lists of options share; of those that begin with _RARE, `-h` shows none.
_RARE = "version quiet color"
_FILES = "files text output limit help"
_RARE_FILES = f"recursive sample seed {_RARE}"
_FIELDS = "field csv header json-field"
_COLUMNS = f"{_FIELDS} parquet"
_RARE_FIELDS = "delimiter null-data"
_SELECTED = " ".join(report.key for report in SELECTED_REPORTS)
_RARE_LIMITS = "max-line threads progress no-progress"
_RARE_LINES = f"{_RARE_FILES} {_RARE_FIELDS} stats {_RARE_LIMITS}"

# The tasks, in the order of the help.
_TEXT, _READ, _CHANGE = "percent-encode text", "check and take apart", "change identifiers and URLs"
_COUNT, _LOGS, _ABOUT = "compare and count", "read access logs", "about this program"
TASKS = [_TEXT, _READ, _CHANGE, _COUNT, _LOGS, _ABOUT]

EXIT_STATUS = """\
  0    success
  1    invalid input was found: by check, or with --errors raise
  2    the command line is invalid
  3    a file cannot be read or written, is damaged or has the wrong header;
       or memory is exhausted
  130  interrupted
  141  output pipe closed
"""

ENVIRONMENT = """\
  URICODEC_TIER           the CPU tier to use, one of those that
                          'uricodec info' prints
  NO_COLOR                unless empty, messages and help have no colors
  TMPDIR                  the directory for temporary files
  URICODEC_NO_DOCS_LINKS  unless empty, messages have no link to the page
                          that explains them
"""

_COMMANDS = [
    Command(
        "decode",
        _TEXT,
        "decode percent-encoding",
        """\
Decode percent-encoding, line by line. Each %HH becomes the byte that it stands
for, once; all else is copied.

Without --raw, decoding adds no lines: control characters (%0A, %00, %1B,
%C2%85 ...) stay encoded. Malformed %HH (100%, %zz) and bytes that are not
UTF-8 (%FF) do not change either.
""",
        (
            "uricodec decode examples/access.log",
            "uricodec decode --plus --text 'q=black+%26+white'\n# prints q=black & white",
            "uricodec decode access.log.gz -o plain.log     # gzip is recognized",
            "uricodec decode -d ' ' -f 7 access.log         # one field of each line",
            "uricodec decode --csv --header -f url pages.csv",
            "uricodec decode --json-field url events.jsonl",
            "uricodec decode --encoding shift_jis access.log # for %HH that is not UTF-8",
            "uricodec decode --iri --host unicode urls.txt",
        ),
        f"{_FILES} plus:decode encoding iri:decode host:decode {_COLUMNS} to:lines errors:decode invalid-to",
        f"{_RARE_LINES} raw",
        "uricodec.cli.filters:decode",
    ),
    Command(
        "encode",
        _TEXT,
        "percent-encode all but unreserved characters and /",
        """\
Percent-encode line by line. Every byte becomes %HH, except letters, digits,
- . _ ~ and the --safe characters. Line ends (LF, CRLF) are copied.

Text that is encoded already is encoded again: % becomes %25. Use 'uricodec
requote' to encode only what is not encoded yet.
""",
        (
            "uricodec encode --text 'black & white'\n# prints black%20%26%20white",
            "uricodec encode --csv --header -f title examples/pages.csv",
            "uricodec encode files.txt -o paths.txt         # one file name per line",
            "echo 'black & white' | uricodec encode --plus --safe ''\n# prints black+%26+white",
            "uricodec encode --iri --errors drop --invalid-to bad.tsv urls.txt",
        ),
        f"{_FILES} plus:encode safe:encode iri:encode host:encode {_COLUMNS} to:lines errors:encode invalid-to",
        f"{_RARE_LINES} disallowed",
        "uricodec.cli.filters:encode",
    ),
    Command(
        "requote",
        _TEXT,
        "percent-encode what is not encoded yet",
        """\
Percent-encode what is not encoded yet, line by line. %HH and all characters
that are allowed in a URI (RFC 3986) are copied: a second run changes nothing.
""",
        (
            "uricodec requote examples/urls.txt",
            "uricodec requote --text '/a b/%C3%A9'\n# prints /a%20b/%C3%A9",
            "echo '/a b/%C3%A9/100%' | uricodec requote --errors replace\n# prints /a%20b/%C3%A9/100%25",
        ),
        f"{_FILES} safe:requote {_COLUMNS} to:lines errors:requote invalid-to",
        _RARE_LINES,
        "uricodec.cli.filters:requote",
    ),
    Command(
        "normalize",
        _CHANGE,
        "normalize URNs, URIs or IRIs",
        """\
Normalize identifiers, one per line. Equivalent identifiers get the same
spelling; --level selects which ones are equivalent.
""",
        (
            "uricodec normalize examples/urls.txt",
            "uricodec normalize --text HTTP://Example.com/a/../%7Eb\n# prints http://example.com/~b",
            "uricodec normalize --kind urn urns.txt -o normal.txt",
            "uricodec normalize --kind urn --errors drop --invalid-to bad.tsv urns.txt",
            "echo URN:ISBN:0-395-36341-1 | uricodec normalize --kind urn\n# prints urn:isbn:0-395-36341-1",
            "uricodec normalize --policy crawl urls.txt     # of URIs",
            "uricodec normalize --policy crawl --explain urls.txt",
            "uricodec normalize --repair --text 'http://a/b c?[1]'\n# prints http://a/b%20c?%5B1%5D",
        ),
        f"{_FILES} kind level policy repair explain get:normalize count:get top:get {_COLUMNS} errors:normalize "
        "invalid-to",
        f"{_RARE_LINES} private base:normalize rfc production:normalize to:lines",
        "uricodec.cli.filters:normalize",
    ),
    Command(
        "check",
        _READ,
        "report invalid URNs, URIs or IRIs",
        """\
Check identifiers, one per line, and print a report of the invalid ones: input,
line (from 1), offset of the error in the line (in bytes, from 0), code, text
and reason, separated by tabs. Control characters in the text are escaped.

Lines that begin with urn: are checked as URNs, all others as URIs, unless
--kind says otherwise.
""",
        (
            "uricodec check examples/urls.txt",
            "uricodec check --kind web --text 'http://a\\@b/'",
            "uricodec check --kind urn urns.txt",
            "uricodec check --kind urn --rfc any --stats urns.txt >invalid.tsv",
            "uricodec check --rules urns.txt                # check digits, too",
            "uricodec check --production URI urls.txt",
            "uricodec check --kind web urls.txt             # may parsers disagree?",
        ),
        f"{_FILES} kind:check rfc rules production to:check {_FIELDS} parquet:check",
        f"recursive sample seed version quiet:check color {_RARE_FIELDS} safe-host stats {_RARE_LIMITS}",
        "uricodec.cli.filters:check",
    ),
    Command(
        "split",
        _READ,
        "split URIs or IRIs into components",
        """\
Split URIs, IRIs or relative references, one per line, into components. Each
becomes one record: a JSON object, or a line of CSV or TSV after a header. A
missing component is null in JSON and nothing in CSV; an empty one is "".

The record of an invalid line has no components: "error" is the code of the
error, "offset" its offset in bytes.

With --append, the components are added to the records of the input, which keep
all their fields.
""",
        (
            "uricodec split examples/urls.txt",
            "uricodec split --get '{host}{path}' --text 'http://example.com/a?b'\n# prints example.com/a",
            "uricodec split urls.txt -o urls.jsonl",
            "echo '//example.com/a?' | uricodec split --to csv",
            "uricodec split --csv --header -f url --append pages.csv",
        ),
        f"{_FILES} kind:split append to:split get count:get top:get {_COLUMNS} errors:split invalid-to",
        f"{_RARE_LINES} private csv-safe:split",
        "uricodec.cli.filters:split",
    ),
    Command(
        "hosts",
        _READ,
        "print the host that all parsers find in URLs",
        """\
Print the host of each http, https, ws or wss URL, one per line, if all parsers
would connect to it; else an empty line. With --to, each URL becomes a record
with scheme, host, port, kind (name, ipv4, ipv6) and category (name, public,
private, loopback ...).

The record of a URL in which parsers may find different hosts has only the
reason: "error" is its code, "offset" its offset in bytes.
""",
        (
            "uricodec hosts --count --top 10 examples/urls.txt",
            "uricodec hosts --text HTTP://Example.com:80/a\n# prints example.com",
            "uricodec hosts urls.txt -o hosts.txt",
            "uricodec hosts --schemes https --ports 443,8443 --to csv urls.txt",
            "uricodec hosts --csv --header -f url --append pages.csv",
        ),
        f"{_FILES} schemes ports append to:hosts get:hosts count:hosts top:get {_COLUMNS} errors:split invalid-to",
        f"{_RARE_LINES} private userinfo trailing-dot csv-safe:split",
        "uricodec.cli.filters:hosts",
    ),
    Command(
        "resolve",
        _CHANGE,
        "resolve relative references",
        """\
Resolve references, one per line, against a base (RFC 3986 section 5.2). Any
text is accepted as a reference; characters that no URI has are copied.
""",
        (
            "uricodec resolve --base http://example.com/a examples/links.txt",
            "uricodec resolve --base http://example.com/a/b --text ../c\n# prints http://example.com/c",
            "uricodec resolve --base http://example.com/a/b links.txt",
            "uricodec resolve --csv --header -f href --base-field page links.csv",
        ),
        f"{_FILES} base base-field {_COLUMNS} to:lines errors invalid-to",
        _RARE_LINES,
        "uricodec.cli.filters:resolve",
    ),
    Command(
        "redact",
        _CHANGE,
        "redact the secrets of URLs in any text",
        """\
Redact the URLs in lines of any text, and rather too much than too little. The
values of parameters that may be secret (passwords, tokens, keys, sessions,
signatures), and user names and passwords before a host, become REDACTED;
every other byte is copied.

Parameters are found without case, "-", "_", "." and percent-encoding, in
queries, fragments, JSON in parameters, and URLs in other URLs. Secrets in
paths are found with --paths.
""",
        (
            "uricodec redact examples/access.log",
            "uricodec redact --text 'GET /a?id=7&token=c2VjcmV0'\n# prints GET /a?id=7&token=REDACTED",
            "uricodec redact access.log -o shared.log",
            "uricodec redact --names extended,ticket events.jsonl",
            "uricodec redact --paths '/reset/{*}' access.log",
            "uricodec redact --urls --csv --header -f url pages.csv",
            "uricodec redact --null-data page.html          # a value may go on after =",
        ),
        f"{_FILES} names urls no-nested paths {_COLUMNS} to:lines errors:redact invalid-to",
        _RARE_LINES,
        "uricodec.cli.filters:redact",
    ),
    Command(
        "query",
        _CHANGE,
        "set, drop and keep parameters of URLs",
        """\
Change the parameters in the query of URLs, one per line. All other bytes stay:
fields keep their order and their spelling. Names are compared decoded, so
utm%5Fsource is utm_source. A query that loses its last field is left out with
its "?".
""",
        (
            "uricodec query --drop 'utm_*,fbclid' examples/urls.txt",
            "uricodec query --set page=2 --text '/s?q=a&page=1#top'\n# prints /s?q=a&page=2#top",
            "uricodec query --policy tracking urls.txt",
            "uricodec query --only q,page urls.txt",
            "echo '/s?q=a&page=1#top' | uricodec query --set 'page=2&l=pt br'\n# prints /s?q=a&page=2&l=pt+br#top",
            "uricodec query --set page=1 --csv --header -f url pages.csv",
        ),
        f"{_FILES} set space drop policy:query only {_FIELDS} to:lines errors invalid-to",
        _RARE_LINES,
        "uricodec.cli.filters:query",
    ),
    Command(
        "filter",
        _COUNT,
        "keep URLs of listed hosts, or leave them out",
        """\
Write the lines or records whose URLs match a list of hosts or of URL prefixes.
A URL matches a host if its host is that, or below it; and a prefix if it has
its host, and its path begins with the same whole segments.

Lists have an entry on each line. For hosts, also hosts files (0.0.0.0 NAME)
and lines of Adblock (||NAME^); for prefixes, also SURTs: com,example)/path.
Lines that are not understood are counted on standard error. A file may also be
a set that Python saved: it opens at once.

Nothing matches a record without the selected field. Records that cannot be
read are left out.
""",
        (
            "uricodec filter --hosts examples/blocked.txt examples/urls.txt",
            "uricodec filter --hosts examples/blocked.txt --invert examples/urls.txt",
            "uricodec filter --hosts list.txt --csv --header -f url pages.csv",
            "uricodec filter --prefixes sections.txt --json-field url events.jsonl",
            "uricodec filter --hosts list.txt --parquet -r -f url crawl -o rest.parquet",
        ),
        f"{_FILES} hosts prefixes no-below invert {_COLUMNS}",
        f"{_RARE_FILES} {_RARE_FIELDS} {_RARE_LIMITS}",
        "uricodec.cli.filters:filter",
    ),
    Command(
        "extract",
        _READ,
        "find URLs or URNs in any data",
        """\
Find URLs or URNs in any data: text, logs, XML, WARC, executables. Each match
becomes one line. A URL starts with a scheme and "://"; it ends before what no
URI contains, a bracket without its partner, or final punctuation, and after a
mebibyte. A URN starts with "urn:" and ends before the first byte that RFC 2141
excludes, so a full stop or a bracket after it is part of it.
""",
        (
            "uricodec extract examples/access.log",
            "uricodec extract --kind urn --offsets examples/urns.txt",
            "uricodec extract --content json *.log",
            "uricodec extract --kind urn --offsets page.html -o urns.tsv",
        ),
        f"{_FILES} kind:extract content offsets to:extract",
        f"{_RARE_FILES} threads progress no-progress",
        "uricodec.cli.extract:run",
    ),
    Command(
        "dedup",
        _COUNT,
        "remove equivalent URNs, URIs, IRIs or lines",
        """\
Remove duplicates: write one of all lines with equivalent identifiers, in the
order of the input: the first, or that which --keep selects. Lines are not
changed. --kind and --level select which identifiers are equivalent.

With --field or --json-field, lines are records, and the identifier of a
record is one of its fields.

Several inputs count as one. What does not fit in --memory goes to temporary
files, which have no directory entry and disappear when the command ends, for
whatever reason. Standard input is copied there if it is read twice.
""",
        (
            "uricodec dedup --kind uri examples/urls.txt",
            "uricodec dedup --kind uri --count --top 10 examples/urls.txt",
            "uricodec dedup --kind urn urns.txt -o unique.txt",
            "uricodec dedup --kind uri --level scheme --count urls.txt",
            "uricodec dedup --policy crawl --merged --stats urls.txt",
            "uricodec dedup --policy crawl --csv --header -f url pages.csv",
            "uricodec dedup --kind uri --json-field url events.jsonl",
            "uricodec dedup --kind uri --csv -f 2 --keep newest --by 1 pages.csv",
            "uricodec dedup --kind urn --exclude old.txt new.txt -o added.txt",
            "uricodec dedup --kind urn --seen known.set --update new.txt -o added.txt",
            "uricodec dedup --kind urn --groups groups.jsonl -o unique.txt urns.txt",
            "uricodec dedup --kind iri --memory 2G --spill-dir /tmp --stats urls.txt",
            "uricodec dedup --kind urn --estimate urns.txt",
            "uricodec dedup --policy crawl --parquet -f url crawl -o unique",
        ),
        f"files output help kind:dedup level policy {_SELECTED} top keep:dedup exclude only-in seen groups "
        "field:dedup csv:dedup header:dedup json-field:dedup parquet:dedup errors:dedup memory",
        f"text limit {_RARE_LINES} to:dedup by update estimate invalid-to merged spill-dir exact secret secret-file",
        "uricodec.cli.dedup:run",
    ),
    Command(
        "log",
        _LOGS,
        "convert access logs to records",
        """\
Convert access logs to records. The escapes of the log are undone, the request
is split while it is percent-encoded, then path and query are decoded.

A record is one line with the members client, user, time (RFC 3339), method,
target, path, query (pairs of name and value), protocol, status, bytes_sent,
referer and user_agent; and, if the format has them, vhost, duration (seconds),
forwarded_for, and other fields as extra.

The exit status is 1, and nothing is written, if no line is a record.
""",
        (
            "uricodec log --fields time,status,path examples/access.log",
            "uricodec log --count client --top 10 examples/access.log",
            "uricodec log access.log                        # JSON lines",
            "uricodec log --fields time,status,path --to csv access.log",
            "uricodec log --where 'status<500' --since 2024-01-31 access.log",
            "uricodec log --redact access.log",
            "uricodec log --to csv --param q access.log.gz -o searches.csv",
            'uricodec log --format \'%h %l %u %t "%r" %s %b "%{Via}i" "%{Id}i"\' access.log',
            "uricodec log --map target=url --map extra.id=id events.jsonl",
        ),
        "files output help format:log map list-formats to fields:log get:log where since until "
        "count:log sort top:log sum quantiles distinct rate to-timezone redact",
        f"text limit {_RARE_FILES} csv-safe:log timezone client param encoding:log replace-invalid-utf8 mask names:log "
        f"flags follow errors:log invalid-to stats {_RARE_LIMITS} memory:log spill-dir:log",
        "uricodec.cli.log:run",
    ),
    Command(
        "info",
        _ABOUT,
        "show version, CPU tiers, Python and platform",
        "Show version, CPU tiers, build, Python, platform, packages and location, for\n"
        "bug reports, as 'uricodec --version --verbose' does.\n"
        "'python -m uricodec.selftest' checks the installation.\n",
        (
            "uricodec info",
            "URICODEC_TIER=portable uricodec info           # without SIMD",
        ),
        "help",
        _RARE,
        "uricodec.cli.info:run",
    ),
    Command(
        "completion",
        _ABOUT,
        "print a completion script for a shell",
        "Print a script that lets a shell complete commands, options and their values.\n",
        (
            'eval "$(uricodec completion bash)"             # in ~/.bashrc',
            'eval "$(uricodec completion zsh)"              # in ~/.zshrc',
            "uricodec completion fish >~/.config/fish/completions/uricodec.fish",
        ),
        "shell help",
        _RARE,
        "uricodec.cli.completion:run",
    ),
]

COMMANDS = {command.name: command for command in _COMMANDS}
