"""The operations on rows: one table, and one reference implementation for each of them, row by row.

    for operation in OPERATIONS: operation.reference(row, "keep", path)

A reference is a function of one row of bytes, a policy and the path that the row comes and goes by. It returns the
result and why the row is invalid, a Fault or None. Only "keep" and "replace" are policies of a row; what "null", "drop"
and "raise" do follows from the fault (see `handled`). The rows are hostile ones of tests/data/rows.

tests/_rows/test_operations.py compares every path with it; other tests, tables of calls and the fuzz target take
their calls here.
"""

import re
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from reference import agreed_host as naive_web
from reference import codec as naive
from reference import fingerprint as naive_fingerprint
from reference import host_sets as naive_sets
from reference import iri as naive_iri
from reference import policies as naive_policies
from reference import redact as naive_redact
from reference import surt as naive_surt
from reference import uri as naive_uri
from reference import uri_forms as naive_uri_forms
from reference import urls as naive_urls
from reference import urn as naive_urn
from reference import w3lib as naive_w3lib
from reference import whatwg as naive_whatwg

from uricodec._rows import registry
from uricodec.errors import UriError
from uricodec.uri import Policy, PrefixSet

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


def component(function):
    """What any text has; invalid is what is not an IRI reference."""

    def reference(row, _errors, way):
        fault = naive_uri.check(row, "IRI-reference", True)
        return function(row, way.text), fault and Fault(*fault)

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


def redacted(function, names, nested, row, _errors, _way):
    return function(row, names, nested), None


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


# --- the table --------------------------------------------------------------------------------------------------------


class Operation(NamedTuple):
    """A row of the table: an operation with options that make a difference.

    Attributes:
        name (str): The function of `bulk`; of what only the command line has, the name that `bulk` would give it.
        given (dict[str, Any]): Its options.
        reference (Callable): (row, errors, way) -> (result, Fault | None).
        rows (str): The file of tests/data/rows.
        result (str): "text", "verdict", "diagnostic", "component", "struct", "list" or "fingerprint".
        policies (tuple[str, ...]): The values of `errors`, the default first; "drop" where rows may vanish.
        command (tuple[str, ...] | None): The arguments of the filter that does it; None: there is none.
        bulk (bool): Whether `bulk` has it.
        fields (tuple[str, ...]): The names of what a struct has, an item of a list, or of several components.
        whole (Callable | None): row -> what the offset of a fault is in; None: the row.
    """

    name: str
    given: dict[str, Any]
    reference: Any
    rows: str
    result: str = "text"
    policies: tuple[str, ...] = ("keep", "null", "raise", "drop")
    command: tuple[str, ...] | None = None
    bulk: bool = True
    fields: tuple[str, ...] = ()
    whole: Any = None

    @property
    def id(self):
        return " ".join([self.name, *map(str, self.given.values())])


CODEC = ("keep", "null", "raise", "drop", "replace")
VERDICT = ("keep", "null", "raise")
DIAGNOSTIC = ("keep", "raise")
COMPONENT = ("keep", "null", "raise")
STRUCT = ("null", "raise", "drop")
SPLIT = ("null", "keep", "raise", "drop")
FINGERPRINT = ("null", "keep", "raise")

URI_LEVELS = ("path", "simple", "case", "percent", "scheme", "iri", "rfc1630", "rfc2396")
URN_LEVELS = ("8141", "bytes", "2141", "namespace", "functional")


# What makes identifiers equal, for fingerprints and deduplication: kind, level, rows, and row -> normal form or Fault.
IDENTIFIERS = (
    ("bytes", None, "percent", bytes),
    ("urn", None, "urns", normal_urn),
    ("urn", "namespace", "urns", partial(normal_urn, level="namespace")),
    ("uri", None, "uris", normal_uri),
    ("uri", "rfc1630", "uris", partial(normal_uri, level="rfc1630")),
    ("iri", None, "uris", partial(normal_uri, level="iri")),
)


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


HOSTS = ["a.example", "*.B\u00fccher.example", "127.0.0.1", "::1", "org", "x.y.a.example", "::ffff:7f00:1"]
PREFIXES = [
    *(
        "https://a.example/b/",
        "http://a.example:8080/b/c",
        "a.example/x",
        "//[::1]",
        "xn--bcher-kva.example",
        "http://org/",
    ),
    *("com,example)/b", "example,a)/b/c", "http://(org,)/", "http://a.example/c/d//"),
]
HOST_SETS = (
    {"set": HOSTS},
    {"set": HOSTS, "exact": True},
    {"set": PrefixSet(PREFIXES)},
    {"set": PrefixSet(PREFIXES), "exact": True},
)

REDACTING = ({}, {"names": "extended"}, {"names": ["q", "é", "x-*"], "nested": False}, {"names": "*"})

# Options of operations that read parts of any text; the others have none.
OF_PARTS = {
    "public_suffix": [{"private": True}],
    "query_value": [{"name": name} for name in ("q", ["page", "é", "\ufffd", ""])],
}


def _operations():  # noqa: PLR0912, PLR0915
    yield Operation("quote", {}, quoted, "percent", policies=CODEC, command=("encode",))
    form = partial(quoted, safe=b"", plus=True)
    yield Operation(
        "quote",
        {"safe": "", "plus": True},
        form,
        "percent",
        policies=CODEC,
        command=("encode", "--plus", "--safe", ""),
    )
    requoted = partial(quoted, safe=RESERVED, triplets=True)
    yield Operation("requote", {}, requoted, "percent", policies=CODEC, command=("requote",))
    for given in {}, {"plus": True}:
        options = ("--plus",) if given else ()
        policies = ("replace", *CODEC[:-1])
        yield Operation("unquote", given, partial(unquoted, **given), "percent", policies=policies)
        decoded = partial(percent_decoded, **given)
        command = ("decode", *options)
        yield Operation("percent_decode", given, decoded, "percent", policies=CODEC, command=command)
    for given in {"encoding": "shift_jis"}, {"encoding": "cp1252", "plus": True}:
        command = ("decode", "--encoding", given["encoding"], *(("--plus",) if "plus" in given else ()))
        decoded = partial(percent_decoded_as, **given)
        yield Operation("percent_decode", given, decoded, "percent", policies=CODEC, command=command, bulk=False)
    for level in URN_LEVELS:
        command = ("normalize", "--kind", "urn", "--level", level)
        normal = partial(normal_urn, level=level)
        yield Operation("normalize_urn", {"level": level}, strict(normal, text=True), "urns", command=command)
    command = ("normalize", "--kind", "urn", "--rfc", "any")
    normal = partial(normal_urn, rfc="any")
    yield Operation("normalize_urn", {"rfc": "any"}, strict(normal, text=True), "urns", command=command)
    for given in {}, {"rfc": "2141"}:
        check = checked(partial(naive_urn.check, **given))
        yield Operation("is_valid_urn", given, check, "urns", "verdict", VERDICT)
        command = ("check", "--kind", "urn", "--rfc", given.get("rfc", "8141"))
        yield Operation("check_urn", given, check, "urns", "diagnostic", DIAGNOSTIC, command)
    yield Operation("split_urn", {}, strict(urn_parts), "urns", "struct", STRUCT, fields=URN_FIELDS)
    for level in URI_LEVELS:
        command = ("normalize", "--kind", "uri", "--level", level)
        production = {"iri": "IRI-reference", "rfc1630": None}.get(level, "URI-reference")
        normal = unless_kept(partial(normal_uri, level=level), production)
        yield Operation("normalize_uri", {"level": level}, normal, "uris", command=command)
    for production in "URI", "any":
        command = ("normalize", "--kind", "uri", "--production", production)
        normal = strict(normal_uri if production == "any" else in_grammar(normal_uri, production), text=True)
        yield Operation("normalize_uri", {"production": production}, normal, "uris", command=command)
    for policy in "tracking", "crawl", "surt", "w3lib":
        command = ("normalize", "--kind", "uri", "--policy", policy)
        by_fields = partial(naive_policies.normalize, policy=Policy.ready(policy))
        keys = {"surt": naive_surt.key, "w3lib": naive_w3lib.key}
        normal = unless_kept(keys.get(policy, by_fields), None if policy == "w3lib" else "IRI-reference")
        yield Operation("normalize_uri", {"policy": policy}, normal, "uris", command=command)
    command = ("normalize", "--kind", "uri", "--policy", "whatwg")
    href = strict(naive_whatwg.href_or_fault)
    yield Operation("normalize_uri", {"policy": "whatwg"}, href, "uris", command=command)
    check, given = checked(naive_whatwg.check), {"production": "whatwg"}
    yield Operation("is_valid_uri", given, check, "uris", "verdict", VERDICT)
    command = ("check", "--kind", "uri", "--production", "whatwg")
    yield Operation("check_uri", given, check, "uris", "diagnostic", DIAGNOSTIC, command)
    for kind, productions in ("uri", naive_uri.PRODUCTIONS), ("iri", naive_uri.IRI_PRODUCTIONS):
        for production in productions[:2]:
            given = {} if production.endswith("reference") else {"production": production}
            check = checked(partial(naive_uri.check, production=production, iri=kind == "iri"))
            yield Operation(f"is_valid_{kind}", given, check, "uris", "verdict", VERDICT)
            command = ("check", "--kind", kind, "--production", production)
            yield Operation(f"check_{kind}", given, check, "uris", "diagnostic", DIAGNOSTIC, command)
        command = ("split", "--kind", kind)
        yield Operation(f"split_{kind}", {}, split(kind == "iri"), "uris", "struct", SPLIT, command, fields=URI_FIELDS)
    for given, options in (
        ({}, ""),
        ({"schemes": ["http"]}, "--schemes http"),
        (
            {"userinfo": "allow", "trailing_dot": "allow", "ports": [80, 8080]},
            "--userinfo allow --trailing-dot allow --ports 80,8080",
        ),
    ):
        host = strict(partial(web_host, **given))
        command = ("hosts", "--to", "jsonl", *options.split())
        yield Operation("agreed_host", given, host, "web", "struct", STRUCT, command, fields=WEB_FIELDS)
    for given in HOST_SETS:
        is_hosts = isinstance(given["set"], list)
        how = (
            (naive_sets.match_host, naive_sets.host_entry)
            if is_hosts
            else (naive_sets.match_prefix, naive_sets.prefix_entry)
        )
        matching = matched(given["set"] if is_hosts else PREFIXES, given.get("exact", False), *how)
        yield Operation("match", given, matching, "hosts", "component", COMPONENT)
        yield Operation("is_match", given, verdict_of(matching), "hosts", "verdict", VERDICT)
    for row in registry.OPERATIONS.values():
        for given in OF_PARTS.get(row.name, [{}]) if row.result in {"component", "list"} and row.single else []:
            function = component(partial(getattr(naive_urls, row.name), **given))
            fields = tuple(given["name"]) if isinstance(given.get("name"), list) else row.fields
            yield Operation(row.name, given, function, row.rows, row.result, COMPONENT, fields=fields)
    for option in "raise", "encode":
        to_uri = strict(iri(partial(naive_iri.iri_to_uri, disallowed=option)), text=True)
        command = ("encode", "--iri", "--disallowed", option)
        yield Operation("iri_to_uri", {"disallowed": option}, to_uri, "uris", command=command)
    yield Operation("uri_to_iri", {}, strict(iri(naive_iri.uri_to_iri), text=True), "uris", command=("decode", "--iri"))
    for given in REDACTING:
        names, nested = given.get("names", "default"), given.get("nested", True)
        listed = names if isinstance(names, str) else ",".join(names)
        options = ("--names", listed, *(() if nested else ("--no-nested",)))
        url, text = (
            partial(redacted, function, names, nested) for function in (naive_redact.redact, naive_redact.redact_text)
        )
        yield Operation("redact", given, url, "redact", command=("redact", "--urls", *options))
        yield Operation("redact_text", given, text, "redact", command=("redact", *options))
    command = ("resolve", "--base", BASE.decode())
    given = {"base": BASE.decode()}
    yield Operation("resolve", given, strict(resolved, text=True), "uris", command=command)
    yield Operation("relativize", given, strict(relativized, text=True), "uris")
    for given in {"scheme": "http", "authority": "a"}, {"query": "q=1", "fragment": ""}:
        made = strict(partial(joined, **given), text=True)
        yield Operation("unsplit", given, made, "uris", whole=partial(unchecked, **given))
    for level in "path", "scheme", "rfc1630":
        given = {"other": OTHER.decode(), "level": level}
        compared = partial(is_equivalent, other=OTHER, level=level)
        yield Operation("equivalent", given, compared, "uris", "verdict", VERDICT)
    for other in OTHER, b"//a.example/b/c":
        related = partial(related_to, other)
        yield Operation("relation", {"other": other.decode()}, strict(related, text=True), "uris")
    for given, options in (
        ({"set": "page=2&é=a b&utm_source="}, ["--set", "page=2&é=a b&utm_source="]),
        (
            {"set": {"q": "é&=+ ~*", "": "x"}, "drop": ["utm_*", "page"]},
            ["--set", "q=é%26%3D%2B ~*&=x", "--drop", "utm_*,page"],
        ),
        ({"keep": "q,p*"}, ["--keep", "q,p*"]),
        ({"drop": "*"}, ["--drop", "*"]),
    ):
        edited = partial(
            naive_urls.with_query, **{"given" if name == "set" else name: each for name, each in given.items()}
        )
        yield Operation("with_query", given, strict(edited, text=True), "urls", command=("query", *options))
    for kind, level, rows, normal in IDENTIFIERS:
        given = {"kind": kind, "secret": KEY} | ({"level": level} if level else {})
        yield Operation("fingerprint", given, fingerprints(normal), rows, "fingerprint", FINGERPRINT)


OPERATIONS = tuple(_operations())

# The calls of bulk alone, as (name, options).
CALLS = [(operation.name, operation.given) for operation in OPERATIONS if operation.bulk]


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
