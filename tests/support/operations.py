"""The operations on rows: one table, with the reference implementation of each (reference/rows.py).

    for operation in OPERATIONS: operation.reference(row, "keep", path)

tests/_rows/test_operations.py compares every path with it; other tests, tables of calls and the fuzz target take
their calls here.
"""

from functools import partial
from typing import Any, NamedTuple

from reference import host_sets as naive_sets
from reference import iri as naive_iri
from reference import policies as naive_policies
from reference import redact as naive_redact
from reference import repair as naive_repair
from reference import surt as naive_surt
from reference import uri as naive_uri
from reference import urls as naive_urls
from reference import urn as naive_urn
from reference import urn_forms as naive_urn_forms
from reference import w3lib as naive_w3lib
from reference import whatwg as naive_whatwg
from reference.rows import (
    BASE,
    KEY,
    OTHER,
    RESERVED,
    URI_FIELDS,
    URN_FIELDS,
    WEB_FIELDS,
    checked,
    component,
    fingerprints,
    in_grammar,
    iri,
    is_equivalent,
    joined,
    matched,
    normal_uri,
    normal_urn,
    percent_decoded,
    percent_decoded_as,
    quoted,
    redacted,
    related_to,
    relativized,
    resolved,
    split,
    strict,
    unchecked,
    unless_kept,
    unquoted,
    urn_parts,
    verdict_of,
    web_host,
)

from uricodec.bulk import _operations as bulk_operations
from uricodec.uri import Policy, PrefixSet


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
REDACTING += ({"paths": "/a/{*},tokens,/x*/"},)

# Operations that read parts of any text: name, result, fields of an item of a list.
PARTS_OF_URLS = [
    (row.name, row.result, row.fields)
    for row in bulk_operations.OPERATIONS.values()
    if row.result in {"component", "list"} and row.single
]
# Their options; the others have none.
OF_PARTS = {
    "host": [{}, {"bare": True}],
    "registrable_domain": [{}, {"bare": True}],
    "public_suffix": [{"private": True}],
    "query_pairs": [{}, {"plus": True}, {"plus": False, "encoding": "shift_jis"}],
    "query_value": [
        *({"name": name} for name in ("q", ["page", "é", "\ufffd", ""])),
        {"name": "q", "plus": False},
        {"name": ["q", "é"], "encoding": "cp1252"},
    ],
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
        yield Operation("percent_decode", given, decoded, "percent", policies=CODEC, command=command)
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
        valid = checked(partial(naive_urn_forms.fault_of, **given))
        yield Operation(
            "validate_urn", given, valid, "urns", "diagnostic", DIAGNOSTIC, (*command[:3], "--rules", *command[3:])
        )
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
    for policy in "tracking", "crawl", "shape", "surt", "w3lib":
        command = ("normalize", "--kind", "uri", "--policy", policy)
        by_fields = partial(naive_policies.normalize, policy=Policy.ready(policy))
        keys = {"surt": naive_surt.key, "w3lib": naive_w3lib.key}
        normal = unless_kept(keys.get(policy, by_fields), None if policy == "w3lib" else "IRI-reference")
        yield Operation("normalize_uri", {"policy": policy}, normal, "uris", command=command)
    command = ("normalize", "--kind", "uri", "--policy", "whatwg")
    href = strict(naive_whatwg.href_or_fault)
    yield Operation("normalize_uri", {"policy": "whatwg"}, href, "uris", command=command)
    for query in "names", "drop", "keep":
        shaped = partial(naive_policies.normalize, policy=Policy.ready("shape").replace(query=query))
        yield Operation("shape", {"query": query}, strict(shaped, text=True), "uris")
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
    for name, result, fields in PARTS_OF_URLS:
        for given in OF_PARTS.get(name, [{}]):
            function = component(partial(getattr(naive_urls, name), **given), given.get("bare", False))
            named = tuple(given["name"]) if isinstance(given.get("name"), list) else fields
            yield Operation(name, given, function, "urls", result, COMPONENT, fields=named)
    repaired = strict(naive_repair.repaired)
    yield Operation("repair", {}, repaired, "repair", command=("normalize", "--repair"))
    for option in "raise", "encode":
        to_uri = strict(iri(partial(naive_iri.iri_to_uri, disallowed=option)), text=True)
        command = ("encode", "--iri", "--disallowed", option)
        yield Operation("iri_to_uri", {"disallowed": option}, to_uri, "uris", command=command)
    yield Operation("uri_to_iri", {}, strict(iri(naive_iri.uri_to_iri), text=True), "uris", command=("decode", "--iri"))
    for given in REDACTING:
        names, nested, paths = given.get("names", "default"), given.get("nested", True), given.get("paths", ())
        listed = names if isinstance(names, str) else ",".join(names)
        options = ("--names", listed, *(() if nested else ("--no-nested",)), *(("--paths", paths) if paths else ()))
        options += ("--quiet",)  # of parameters that the default names leave
        url, text = (
            partial(redacted, function, names, nested, paths)
            for function in (naive_redact.redact, naive_redact.redact_text)
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
        ({"keep": "q,p*"}, ["--only", "q,p*"]),
        ({"drop": "*"}, ["--drop", "*"]),
        ({"set": "q=a b&x y=", "space": "%20"}, ["--set", "q=a b&x y=", "--space", "%20"]),
        ({"set": {"q": "a b"}, "space": "+"}, ["--set", "q=a b", "--space", "+"]),
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
