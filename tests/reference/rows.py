"""The reference implementation of each operation on rows: a function of one row of bytes, a policy and the path that
the row comes and goes by.

It returns the result and why the row is invalid, a Fault or None. Only "keep" and "replace" are policies of a row; what
"null", "drop" and "raise" do follows from the fault (see `handled`). The rows are hostile ones of tests/data/rows.
support/operations.py has the table of all operations."""

import re
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from reference import agreed_host as naive_web
from reference import codec as naive
from reference import fingerprint as naive_fingerprint
from reference import iri as naive_iri
from reference import uri as naive_uri
from reference import uri_forms as naive_uri_forms
from reference import urls as naive_urls
from reference import urn as naive_urn
from reference.errors import UriError

UNRESERVED = {*b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"}
RESERVED = {*b":/?#[]@!$&'()*+,;="}
BASE = b"http://a.example/b/c/d?q"
OTHER = b"http://example.com/a/../b/c?q=1"
KEY = "tests"


class Fault(NamedTuple):
    """Why a row is invalid; the offset is in bytes."""

    code: str
    offset: int


class Way(NamedTuple):
    """What a source and a sink ask of an operation.

    Attributes:
        text (bool): Rows are to be UTF-8: lines, str and columns of text; bytes and columns of them are not.
        stay (frozenset[bytes]): The controls whose triplets are not decoded, because they would end a line or a field.
    """

    text: bool = True
    stay: frozenset = frozenset()


COLUMN, OCTETS = Way(), Way(text=False)


def way_of_lines(terminator, *delimiters):
    """Lines that end with LF have no control but those that came in; others protect their terminator alone."""
    return Way(True, frozenset(naive.CONTROLS if terminator == b"\n" else {terminator}) | {*delimiters})


# --- one row ----------------------------------------------------------------------------------------------------------


def quoted(row, errors, way, *, safe=b"/", plus=False, triplets=False):  # noqa: PLR0913
    kept = UNRESERVED | {*safe}
    return naive.encode_row(row, errors, naive.form_set(kept) if plus else kept, triplets, plus, way.text)


def unquoted(row, errors, way, *, plus=False):
    """urllib.parse's: a malformed triplet stays also where U+FFFD replaces what is not UTF-8."""
    made, fault = naive.decode_row(row, errors, "keep", plus, way.text, stay=way.stay)
    return made, fault if way.text else None


def percent_decoded(row, errors, way, *, plus=False):
    """The lossless one: U+FFFD replaces malformed triplets, too."""
    return naive.decode_row(row, errors, None, plus, way.text, stay=way.stay)


def percent_decoded_as(row, errors, way, *, encoding, plus=False):
    return naive.decode_encoded_row(row, errors, encoding, plus, stay=way.stay)


def strict(function, text=False):
    """A function of a row that raises, or returns a fault. With `text`, its result is to be text as well."""

    @cache  # it is the same for each way
    def answer(row):
        try:
            made = function(row)
        except UriError as error:
            return row, Fault(error.reason, error.offset)
        return (row, Fault(*made)) if isinstance(made, tuple) and len(made) == 2 else (made, None)

    def reference(row, _errors, way):
        made, fault = answer(row)
        if text and way.text and not fault and (parts := naive.ill_formed(row)):
            return row, Fault("utf-8", parts[0][0])
        return made, fault

    return reference


def code_of_character(row, offset):
    """Why a character is none of an IRI, or of a URI."""
    character = row[offset:].decode("utf-8", "surrogateescape")[0]
    if character >= "\ud800" and character <= "\udfff":
        return "utf-8"
    if character in naive_iri.BIDI:
        return "bidi"
    if naive_iri.within(character, naive_iri.IPRIVATE):
        return "private"
    return "percent" if character == "%" else "character"


def iri(function):
    def reference(row):
        try:
            return function(row)
        except UriError as error:
            return Fault(code_of_character(row, error.offset), error.offset)

    return reference


def normal_urn(row, level="8141", rfc=None):
    rfc = rfc or ("2141" if level == "2141" else "8141")
    return naive_urn.check(row, rfc) or naive_urn.normalize(row, level, rfc)


def normal_uri(row, level="path"):
    return naive_uri_forms.normalize(row, level)


URI_FIELDS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
URN_FIELDS = ("nid", "nss", "r_component", "q_component", "f_component")


def octets_of(texts):
    return tuple(None if text is None else text.encode("latin-1") for text in texts)


def uri_parts(row, is_iri=False):
    fault = naive_uri.check(row, "IRI-reference" if is_iri else "URI-reference", is_iri)
    if fault:
        return fault
    scheme, authority, *rest = naive_uri.split(row.decode("latin-1"))
    of_authority = (None,) * 3 if authority is None else naive_uri.split_authority(authority)
    return list(octets_of((scheme, authority, *of_authority, *rest)))


def split(is_iri):
    """With "keep", the components of any text."""

    def reference(row, errors, way):
        parts, fault = strict(partial(uri_parts, is_iri=is_iri))(row, errors, way)
        if fault:
            parts = [naive_urls.as_text(part, way.text) for part in naive_urls.split(row)]
        return parts, fault

    return reference


def component(function, bare=False):
    """What any text has; invalid is what is not an IRI reference."""

    def reference(row, _errors, way):
        checked = naive_urls.with_authority(row) if bare else row
        fault = naive_uri.check(checked, "IRI-reference", True)
        return function(row, way.text), fault and Fault(fault.code, fault.offset - len(checked) + len(row))

    return reference


def matched(entries, exact, match, entry):
    """What a set has for any text; no row is invalid."""
    found = {made for each in entries if (made := entry(each.encode()))}
    return lambda row, _errors, _way: (match(found, row, exact), None)


def verdict_of(matching):
    def reference(row, errors, way):
        made, fault = matching(row, errors, way)
        return made is not None, fault

    return reference


def urn_parts(row, rfc="8141"):
    return naive_urn.check(row, rfc) or list(octets_of(naive_urn.parse(row, rfc)[:5]))


WEB_FIELDS = ("scheme", "host", "port", "kind", "category")


def web_host(row, **given):
    found = naive_web.agreed_host(row.decode("latin-1"), **given)
    return found if len(found) == 2 else [str(part).encode() for part in found]


def checked(function):
    """A verdict or a diagnostic is the fault itself; `results_of` makes it of that."""
    return strict(lambda row: function(row) or b"")


def fingerprints(normal):
    """Of the normal form; of an invalid row with "keep", of the row."""
    secret = naive_fingerprint.derived(KEY)

    def reference(row, _errors, _way):
        made, fault = strict(normal)(row, None, OCTETS)
        return naive_fingerprint.fingerprint(secret, made), fault

    return reference


def redacted(function, names, nested, paths, row, _errors, _way):
    return function(row, names, nested, paths), None


def resolved(row):
    return naive_uri_forms.resolve(BASE, row)


def relativized(row):
    return naive_uri_forms.relativize(BASE, row)


def is_equivalent(row, _errors, _way, other, level):
    """Whether a row is equivalent to another one, which has a normal form at the level."""
    made, fault = strict(partial(normal_uri, level=level))(row, None, OCTETS)
    return made == normal_uri(other, level), fault


def related_to(other, row):
    return naive_uri_forms.relation(row, other).encode()


def with_path(row, scheme=None, authority=None, query=None, fragment=None):
    return scheme, authority, row.decode("latin-1"), query, fragment


def unchecked(row, **given):
    return naive_uri.unsplit(with_path(row, **given)).encode("latin-1")


def joined(row, **given):
    """The path with components around it; a fault is in what they make."""
    parts = with_path(row, **given)
    whole = naive_uri.unsplit(parts)
    fault = naive_uri.check(whole.encode("latin-1"))
    if fault is not None:
        return fault
    if naive_uri.split(whole) != parts:
        return "components", naive_uri.misread(whole, parts)
    return whole.encode("latin-1")


def in_grammar(function, production):
    """A function of a row that reports what does not match a production."""
    iri = production in naive_uri.IRI_PRODUCTIONS
    return lambda row: naive_uri.check(row, production, iri) or function(row)


def unless_kept(function, production):
    """The reference of a function of a row: one that does not match a production is invalid, unless it is kept."""
    kept, others = (
        strict(function, text=True),
        strict(in_grammar(function, production), text=True) if production else None,
    )
    return lambda row, errors, way: (kept if errors == "keep" or others is None else others)(row, errors, way)


def named(kind, level, normal, errors):
    """The normal form of an identifier, or why it is invalid: only where they are kept, any text is a URI or IRI."""
    if errors == "keep" or kind not in {"uri", "iri"} or level == "rfc1630":
        return normal
    return in_grammar(normal, f"{kind.upper()}-reference")


# --- many rows -----------------------------------------------------------------------------------------------------


def in_columns(fields, rows):
    """The results of a list as columns show them: an item of a list that is a tuple there is a dict here."""
    return [row and [dict(zip(fields, item, strict=True)) for item in row] for row in rows]


@cache
def answers(operation_id, errors, way):
    """What a reference has answered: one row stands in many batches."""
    return {}


def handled(operation, rows, errors, way):
    """What a policy makes of many rows: their results and the report, (row, code, offset). None is null, or dropped."""
    results, report = [], []
    asked = errors if errors == "replace" or operation.name == "normalize_uri" else "keep"
    known = answers(operation.id, asked, way)
    for number, row in enumerate(rows):
        if row is None:
            results.append(None)
            continue
        if row not in known:
            known[row] = operation.reference(row, asked, way)
        made, fault = known[row]
        if fault:
            report.append((number, *fault))
            if operation.result == "verdict":
                made = False if errors == "keep" else None
            elif operation.result == "diagnostic":
                made = tuple(fault)
            elif errors not in {"keep", "replace"}:
                made = None
        elif operation.result == "verdict":
            made = made is not False
        elif operation.result == "diagnostic":
            made = None
        elif operation.result == "struct":
            made = tuple(made)
        results.append(made)
    return results, report


def first_rows(rows, kind, level, normal, errors):
    """Deduplication: the numbers of the first row of each identifier, and the report, (row, code, offset).

    A row that is invalid stands for itself, or with "drop" is never the first. All nulls are one.
    """
    seen, first, report = set(), [], []
    normal = named(kind, level, normal, errors)
    for number, row in enumerate(rows):
        form, fault = (None, None) if row is None else strict(normal)(row, None, OCTETS)
        if fault:
            report.append((number, *fault))
        if form not in seen and (fault is None or errors != "drop"):
            seen.add(form)
            first.append(number)
    return first, report


# --- rows -------------------------------------------------------------------------------------------------------------


@cache
def rows_of(name):
    r"""The rows of a file: one a line, with \xHH for a byte that stands for itself nowhere."""
    lines = Path(__file__).parent.with_name("data").joinpath("rows", f"{name}.txt").read_bytes().splitlines()
    return tuple(re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), line) for line in lines)


def texts():
    """Some rows of each file that are text, as str, and null: for what is asked of each engine."""
    found = [None, ""]
    for name in "percent", "urls", "uris", "urns", "web":
        rows = [row.decode() for row in rows_of(name) if not naive.ill_formed(row)]
        found += rows[:: len(rows) // 8]
    found += [
        "http://user@EXAMPLE.org:80/a/../%7Eb?q=1#f",
        "//me:pw@h/",
        "http://example.org/a/../b",
        "http://example.org/b",
    ]
    found += ["URN:ISBN:0-395-36341-1", "urn:isbn:0395363411"]
    return [*found, "/plain/and/longer/than/a/view/has/room", "%41" * 400, "é" * 3000]
