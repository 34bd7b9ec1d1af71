"""What operations do with one line: the grammar and components by their reference, conversions by the functions."""

import csv
import io
import json
import re
from functools import cache

from hypothesis import strategies as st
from reference import uri as naive
from reference.codec import lines_of

from uricodec import uri
from uricodec._rows._tasks import LineFault, Lines
from uricodec.errors import UriError
from uricodec.uri._rows import CheckRows

COLUMNS = ["scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"]


class Rejected(Exception):
    """What a row is rejected for."""

    def __init__(self, code, offset):
        super().__init__(code, offset)
        self.code, self.offset = code, offset


def copy(row):
    return row


@cache
def fault_of(row, production, is_iri):
    return naive.check(row, production, is_iri)


def checked(kind, production):
    def function(row):
        fault = fault_of(row, production, kind == "iri")
        if fault:
            raise Rejected(*fault)
        return b""

    return function


def agreed(row):
    """Reject a URL in which parsers may find different hosts."""
    try:
        uri.agreed_host(row)
    except UriError as error:
        raise Rejected(error.code, error.offset) from None
    return b""


def host_of(row):
    return uri.agreed_host(row).host.encode()


def guarded(function, operation):
    """A function that raises, as one that rejects."""

    def guard(row):
        try:
            return function(row)
        except UriError as error:
            known = error.reason in operation.reasons
            code = operation.code_names[operation.reasons.index(error.reason)] if known else "host"
            raise Rejected(code, error.offset) from None

    return guard


def of_text(function):
    """A function that takes any bytes, as one whose results are text."""

    def convert(row):
        made = function(row)
        try:
            row.decode()
        except UnicodeDecodeError as error:
            raise Rejected("utf-8", error.start) from None
        return made

    return convert


def both(first, then):
    return lambda row: first(row) + then(row)


def scheme(row):
    found = re.match(rb"([A-Za-z][A-Za-z0-9+.-]*):", row)
    return found[1].lower() if found else b""


def components(kind, row):
    checked(kind, f"{kind.upper()}-reference")(row)
    scheme, authority, *others = naive.split(row.decode())
    parts = (None, None, None) if authority is None else naive.split_authority(authority)
    return [None if part is None else part.encode() for part in (scheme, authority, *parts, *others)]


def to_json(row, kind):
    values = [None if value is None else value.decode() for value in components(kind, row)]
    record = json.dumps(dict(zip(COLUMNS, values, strict=True)), ensure_ascii=False, separators=(",", ":"))
    return record.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029").encode()


def csv_cell(text):
    """A cell of CSV as Python writes it, but an empty text is in quotes: a missing one is not."""
    if not text:
        return "" if text is None else '""'
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([text])
    return line.getvalue()


def to_csv(row, kind):
    values = [None if value is None else value.decode() for value in components(kind, row)]
    return ",".join(map(csv_cell, values)).encode() + b",,"


def to_tsv(row, kind):
    return b"\t".join(value or b"" for value in components(kind, row)) + b"\t\t"


def to_safe_csv(row, kind):
    """With an apostrophe before what a spreadsheet would run."""
    values = [None if value is None else value.decode() for value in components(kind, row)]
    safe = [value and re.sub("^(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])", "'", value) for value in values]
    return ",".join(map(csv_cell, safe)).encode() + b",,"


def json_record(code, offset):
    return json.dumps(dict.fromkeys(COLUMNS) | {"error": code, "offset": offset}, separators=(",", ":")).encode()


def csv_record(code, offset):
    return b",,,,,,,,%s,%d" % (code.encode(), offset)


def tsv_record(code, offset):
    return b"\t\t\t\t\t\t\t\t%s\t%d" % (code.encode(), offset)


# --- many lines -------------------------------------------------------------------------------------------------------

BASE = b"http://a.example/b/c/d?q"

LEVELS = ["simple", "case", "percent", "path", "scheme", "iri", "rfc1630", "rfc2396"]

URI_PRODUCTIONS = ["URI-reference", "URI", "absolute-URI", "relative-ref"]

IRI_PRODUCTIONS = ["IRI-reference", "IRI", "absolute-IRI", "irelative-ref"]

PIECES = [
    *(b"http:", b"HTTP:", b"//", b"/", b"a", b"A", b"Ex.com", b":80", b":", b"@", b"u", b"[::1]", b"[0::", b"..", b"."),
    *(b"?", b"#"),
    *(b"%7e", b"%7E", b"%2f", b"%0A", b"%0d", b"%1B", b"%00", b"%C2%85", b"%C3%A9", b"%c3", b"%", b"%4", b"%zz"),
    b"%25",
    *["é", "東京", "\u202e", "\ue000", "\U0001f600", "\x85", "\ufdd0", "xn--99zt52a", "xn--", "ö.example"],
    *[b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\x1b", b"\r", b" ", b'"', b"\\", b",", b"<"],
]
PIECES = [piece.encode() if isinstance(piece, str) else piece for piece in PIECES]

LINES = [
    b"",
    b"\r",
    b"http://example.com/a/../b/./c?q=1#f",
    b"HTTP://User@EXAMPLE.com:80/%7Euser/%c3%a9/%2F",
    b"//example.com",
    b"../a:b",
    b"a:b",
    b"?q",
    b"#f",
    b"x:%zz",
    b"x y",
    "http://résumé.example.org/東京?\ue000#é".encode(),
    b"http://xn--rsum-bpad.example.org/%E6%9D%B1%FF",
    b"http://[::1]:8080/",
    "http://a.example/\u2028?\u2029".encode(),  # JSON has them as escapes
    b"http://A.example./",
    b"https://a\\b@c/",
    b"https://a.example/%zz",
    b"ws://[::FFFF:7F00:1]:80/a b",
    b"https://a.example/\xff",
    # The normal form of this one takes all the room there is at level "scheme".
    b"http://[::ffff:a:a]",
    b"//[2001:DB8:0:0::01%25En0]:80",
    b"data:text/plain,a/../b",
    b"http://a%2Fb/",
    b"// ",
    b"//a|b\\c",
    b"//\x7f",
    b"urn:example:a%2fb",
    b"mailto:Me@Example.COM",
    b"\x00\x1b[2J",
    b"\xff\xfe",
    b"a" * 300,
    b"http://a/" + b"../%7E" * 50,
    ("http://a/" + "é%C3%A9" * 30).encode(),
]

TEXT = (
    st.lists(
        st.tuples(
            st.one_of(st.sampled_from(LINES), st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join)),
            st.sampled_from([b"\n", b"\n", b"\r\n"]),
        ),
        max_size=12,
    )
    .map(lambda lines: b"".join(line + end for line, end in lines))
    .flatmap(lambda text: st.sampled_from([text, text.removesuffix(b"\n")]))
)


def stand_in(case, text, rejected, errors):
    if case.record:
        return case.record(rejected.code, rejected.offset)
    return text if errors == "keep" else b""


def model(src, case, errors, end=b"\n"):
    """What transform_lines() should write and find."""
    written, faults, start, number = b"", [], 0, 0
    for number, (text, tail) in enumerate(lines_of(src, end), 1):
        try:
            written += case.function(text) + tail
        except Rejected as rejected:
            faults.append(LineFault(number - 1, start, start + len(text), rejected.code, rejected.offset))
            if errors == "raise":
                break
            if errors != "drop":
                written += stand_in(case, text, rejected, errors) + tail
        start += len(text) + len(tail)
    if type(getattr(case, "operation", None)) is CheckRows:  # which writes nothing
        written = b""
    return written, Lines(len(written), number, len(faults), faults)


def control_count(octets):
    """Controls of ASCII, and those of Unicode in UTF-8."""
    return len(re.findall(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]", octets))
