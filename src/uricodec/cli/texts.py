"""What the commands say about themselves when they are asked for help."""

STATUSES = """\
exit status:
  0    all is well
  1    invalid input was found, by check or with --errors raise
  2    the command line is wrong
  3    a file cannot be read or written, is damaged, or has another header;
       or there is not enough memory
  130  interrupted
  141  nobody reads the output any more
"""

CSV_SAFE = (
    "in CSV, put an apostrophe before each text that a spreadsheet would run as a formula: one that begins with "
    "= + - or @ (also full-width), tab, CR or LF, after any spaces"
)

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
  uricodec decode -d ' ' -f 7 access.log       one field of each line
  uricodec decode --csv --header -f url pages.csv
  uricodec decode --json-field url events.jsonl
  echo 'q=caf%C3%A9+au+lait' | uricodec decode --plus
  uricodec decode --iri --host unicode urls.txt

"""

REQUOTE = """\
Percent-encode line by line what is not encoded yet: %HH stay, and so does every
character that a URI may have (RFC 3986). Doing it twice changes nothing.
"""
REQUOTE_EXAMPLES = """\
examples:
  uricodec requote links.txt
  echo '/a b/%C3%A9/100%' | uricodec requote --errors replace

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
  uricodec check --kind uri --production URI links.txt

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

COMPLETION = """\
Print a script with which a shell completes commands, options and their values.
"""
COMPLETION_EXAMPLES = """\
examples:
  eval "$(uricodec completion bash)"           in ~/.bashrc
  eval "$(uricodec completion zsh)"            in ~/.zshrc
  uricodec completion fish >~/.config/fish/completions/uricodec.fish

"""
