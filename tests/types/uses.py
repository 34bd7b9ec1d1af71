"""What callers write, for type checkers: each use has the type that they count on. See `nox -s types`.

Everything public is used (tests/test_calls.py looks); hooks into engines are in engine_uses.py.
"""

import io
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, Literal
from uuid import UUID

from typing_extensions import assert_type

import uricodec
from uricodec import bulk, bytesets, dedup, iri, logs, parse, typing, uri, urn
from uricodec.errors import (
    AmbiguousUrlError,
    IriError,
    SetError,
    UnknownNamespaceError,
    UriError,
    UriSyntaxError,
    UrnError,
)
from uricodec.uri import legacy_schemes
from uricodec.urn import conversions, namespaces

# --- percent-encoding -------------------------------------------------------------------------------------------------


def percent_encoding(text: str, data: bytes, shared: memoryview) -> None:
    assert_type(uricodec.quote(text), str)
    assert_type(uricodec.quote(data, safe=""), str)
    assert_type(uricodec.quote_plus(text), str)
    assert_type(uricodec.quote_from_bytes(data), str)
    assert_type(uricodec.unquote(text, errors="strict"), str)
    assert_type(uricodec.unquote_plus(text), str)
    assert_type(uricodec.unquote_to_bytes(text), bytes)
    assert_type(uricodec.percent_encode(text), str)
    assert_type(uricodec.percent_encode(data), bytes)
    assert_type(uricodec.percent_decode(text, plus=True), str)
    assert_type(uricodec.percent_decode(shared), bytes)
    assert_type(uricodec.requote(text), str)
    assert_type(uricodec.requote(data, errors="replace"), bytes)
    assert_type(uricodec.quote_into(data, bytearray(300)), int)
    assert_type(uricodec.unquote_into(shared, bytearray(300)), int)
    assert_type(uricodec.cpu_tier(), str)
    assert_type(uricodec.cpu_tiers(), tuple[str, ...])
    with uricodec.install():
        pass
    uricodec.uninstall()


def byte_sets() -> None:
    assert_type(bytesets.RFC3986_UNRESERVED | bytesets.RFC3986_SUB_DELIMS, uricodec.ByteSet)
    assert_type(~uricodec.ByteSet("abc") - b"d" & {1, 2}, uricodec.ByteSet)
    assert_type(list(bytesets.WHATWG_QUERY), list[int])
    assert_type(97 in bytesets.JS_ENCODE_URI, bool)
    assert_type(bytes(bytesets.RFC3986_PCHAR), bytes)


def drop_in(url: str, data: bytes, row: dict[str, str]) -> None:
    assert_type(parse.urlsplit(url), parse.SplitResult)
    assert_type(parse.urlsplit(data), parse.SplitResultBytes)
    assert_type(parse.urlsplit(url).hostname, str | None)
    assert_type(parse.urlparse(url), parse.ParseResult)
    assert_type(parse.urlparse(data), parse.ParseResultBytes)
    assert_type(parse.urldefrag(url), parse.DefragResult)
    assert_type(parse.urljoin(url, "../b"), str)
    assert_type(parse.urlunsplit(parse.urlsplit(url)), str)
    assert_type(parse.urlunparse(parse.urlparse(data)), bytes)
    assert_type(parse.parse_qs("a=1&b=2"), dict[str, list[str]])
    assert_type(parse.parse_qsl(data), list[tuple[bytes, bytes]])
    assert_type(parse.urlencode(row), str)
    assert_type(parse.quote(url), str)
    assert_type(parse.quote_plus(data), str)
    assert_type(parse.quote_from_bytes(data), str)
    assert_type(parse.unquote(url), str)
    assert_type(parse.unquote_plus(url), str)
    assert_type(parse.unquote_to_bytes(url), bytes)
    parse.clear_cache()


# --- single identifiers -----------------------------------------------------------------------------------------------


def uris(text: str, data: bytes) -> None:
    assert_type(uri.is_valid(text), bool)
    assert_type(uri.check(data, "absolute-URI"), uri.Diagnostic | None)
    assert_type(uri.split(text), uri.Components[str])
    assert_type(uri.split(data).userinfo, bytes | None)
    assert_type(uri.split(text).host, str | None)
    assert_type(uri.split(text).port, str | None)
    assert_type(uri.split(text).host_kind, typing.HostKind | None)
    assert_type(uri.split(text).path, str)
    assert_type(uri.unsplit(uri.split(text)), str)
    assert_type(uri.unsplit(uri.split(data)), bytes)
    assert_type(uri.normalize(text), str)
    assert_type(uri.normalize(data, level="scheme"), bytes)
    assert_type(uri.key(text, policy="surt"), str)
    assert_type(uri.key(data), bytes)
    assert_type(uri.shape(text), str)
    how: typing.ShapeQuery = "drop"
    assert_type(uri.shape(data, how), bytes)
    assert_type(uri.equivalent(text, "http://example.org/"), bool)
    assert_type(uri.resolve(text, "../b"), str)
    assert_type(uri.resolve(data, b"../b"), bytes)
    assert_type(uri.relativize(text, text), str)
    assert_type(uri.relativize(data, data), bytes)
    assert_type(uri.relation(text, data), str)
    assert_type(uri.repair(text), str)
    assert_type(uri.repair(data), bytes)
    assert_type(uri.explain_repair(text), list[uri.PolicyStep])
    space: typing.QuerySpace = "%20"
    assert_type(uri.with_query(text, {"page": "2"}, space=space), str)
    assert_type(uri.with_query(data, drop="utm_*"), bytes)
    assert_type(uri.redact(text), str)
    assert_type(uri.redact(data, names=["token"], paths="/reset/{*}"), bytes)
    assert_type(uri.redact_text(text), str)
    assert_type(uri.redact_text(data, paths=["tokens"]), bytes)
    assert_type(uri.SENSITIVE_NAMES, Mapping[str, tuple[str, ...]])
    assert_type(uri.find(data, "html"), list[tuple[int, int]])
    assert_type(uri.extract(data), list[bytes])
    assert_type(uri.find("a"), list[tuple[int, int]])
    assert_type(uri.extract("a", "json"), list[str])
    assert_type(legacy_schemes.parse(text), dict[str, Any])


def parts(text: str, data: bytes) -> None:
    assert_type(uri.userinfo(text), str | None)
    assert_type(uri.userinfo(data), bytes | None)
    assert_type(uri.host(text), str | None)
    assert_type(uri.host(data), bytes | None)
    assert_type(uri.port(text), str | None)
    assert_type(uri.port(data, errors="null"), bytes | None)
    assert_type(uri.registrable_domain(text, private=True), str | None)
    assert_type(uri.registrable_domain(data), bytes | None)
    assert_type(uri.public_suffix(text), str | None)
    assert_type(uri.public_suffix(data), bytes | None)
    assert_type(uri.query_value(text, "q"), str | None)
    assert_type(uri.query_value(data, "q"), bytes | None)
    assert_type(uri.query_value(text, ["q", "page"]), dict[str, str | None] | None)
    assert_type(uri.query_value(data, ("q", "page")), dict[str, bytes | None] | None)
    assert_type(uri.query_pairs(text), list[tuple[str, str]] | None)
    assert_type(uri.query_pairs(data), list[tuple[bytes, bytes]] | None)
    assert_type(uri.path_segments(text), list[str] | None)
    assert_type(uri.path_segments(data), list[bytes] | None)


def hosts(text: str, data: bytes) -> None:
    found = uri.agreed_host(data, schemes=["https"], ports={443})
    assert_type(found, uri.Host)
    assert_type(found.scheme, typing.WebScheme)
    assert_type(found.host, str)
    assert_type(found.port, int)
    assert_type(found.kind, typing.WebHostKind)
    assert_type(found.category, typing.HostCategory)
    assert_type(found.is_global, bool)
    assert_type(found.as_url(), str)
    assert_type(uri.address_category("192.0.2.1"), typing.AddressCategory)


def sets_of_hosts(text: str, data: bytes) -> None:
    hosts = uri.HostSet(["a.example", data])
    assert_type(hosts.match(text, exact=True), str | None)
    assert_type(uri.PrefixSet.read(data).match(data), bytes | None)
    assert_type(uri.HostSet.open(text), uri.HostSet)
    assert_type(hosts.report, uri.ListReport | None)
    assert_type("a.example" in hosts, bool)
    assert_type(list(hosts), list[str])
    hosts.save("hosts")
    hosts.verify()


def policies(text: str, level: typing.UriLevel) -> None:
    policy = uri.Policy(level=level, drop_parameters=["utm_*"], query="sort")
    assert_type(uri.Policy.ready("crawl"), uri.Policy)
    assert_type(uri.Policy.from_toml("policy.toml"), uri.Policy)
    assert_type(uri.Policy.from_clearurls("rules.json"), uri.Policy)
    assert_type(policy.replace(fragment="drop"), uri.Policy)
    assert_type(policy.explain(text), list[uri.PolicyStep])
    assert_type(policy.explain(text)[0].step, str)
    assert_type(policy.level, typing.UriLevel)
    assert_type(policy.http_is_https, bool)
    assert_type(policy.userinfo, typing.KeepOrDrop)
    assert_type(policy.strip_www, bool)
    assert_type(policy.session_ids, typing.KeepOrDrop)
    assert_type(policy.lower_case_path, bool)
    assert_type(policy.shape, bool)
    assert_type(policy.default_documents, tuple[str, ...])
    assert_type(policy.trailing_slash, typing.KeepOrDrop)
    assert_type(policy.drop_parameters, tuple[str, ...])
    assert_type(policy.query, typing.QueryPolicy)
    assert_type(policy.fragment, typing.KeepOrDrop)


def redacting(record: logging.LogRecord) -> None:
    handler = logging.StreamHandler()
    handler.addFilter(uri.RedactingFilter("extended", paths=["/bot*/"]))
    assert_type(uri.RedactingFilter(["token"]).filter(record), bool)


def iris(text: str, data: bytes) -> None:
    assert_type(iri.is_valid(text), bool)
    assert_type(iri.check(data, "absolute-IRI"), iri.Diagnostic | None)
    assert_type(iri.split(text), iri.Components[str])
    assert_type(iri.split(data).path, bytes)
    assert_type(iri.unsplit(iri.split(text)), str)
    assert_type(iri.unsplit(iri.split(data)), bytes)
    assert_type(iri.iri_to_uri(text), str)
    assert_type(iri.iri_to_uri(data, "latin-1"), bytes)
    assert_type(iri.uri_to_iri(text, "unicode"), str)
    assert_type(iri.uri_to_iri(data), bytes)


def urns(text: str, data: bytes) -> None:
    found = urn.parse(text)
    assert_type(found, urn.URN)
    assert_type(urn.URN(data, 2141), urn.URN)
    assert_type(found.nid, str)
    assert_type(found.nss, str)
    assert_type(found.r_component, str | None)
    assert_type(found.q_component, str | None)
    assert_type(found.f_component, str | None)
    assert_type(found.rfc, Literal["2141", "8141"])
    assert_type(found.rfcs, tuple[str, ...])
    assert_type(found.normalized, str)
    assert_type(sorted({found}), list[urn.URN])
    assert_type(urn.is_valid(text), bool)
    assert_type(urn.check(found), urn.Diagnostic | None)
    assert_type(urn.rfcs(data), tuple[str, ...])
    assert_type(urn.normalize(text), str)
    assert_type(urn.normalize(data), bytes)
    assert_type(urn.normalize(found, level="namespace"), urn.URN)
    assert_type(urn.key(found), str)
    assert_type(urn.key(data), bytes)
    assert_type(urn.equivalent(found, text), bool)
    assert_type(urn.find(data, urn.TERMINATORS), list[tuple[int, int]])
    assert_type(urn.encode_nss(text), str)
    assert_type(urn.encode_nss(data), bytes)
    assert_type(urn.decode_nss(text), str)
    assert_type(urn.decode_nss(data), bytes)
    assert_type(urn.display(found), str)
    assert_type(urn.validate(text), urn.Verdict)
    assert_type(urn.validate(text).ok, bool | None)


def urn_namespaces(nid: str, is_rightful: namespaces.Validator) -> None:
    assert_type(urn.lookup(nid), namespaces.Namespace)
    assert_type(urn.nid_class(nid), str)
    assert_type(urn.register_namespace(nid, "nss"), namespaces.Namespace)
    assert_type(urn.NAMESPACES[nid].validate, namespaces.Validator | None)
    assert_type(namespaces.lookup(nid).references, tuple[str, ...])
    assert_type(namespaces.nid_class(nid), str)
    assert_type(namespaces.register_namespace(nid, validate=is_rightful).rule, str)
    assert_type(namespaces.NAMESPACES[nid], namespaces.Namespace)
    assert_type(namespaces.RULES["nss"], str)
    assert_type(urn.nid_class(namespaces.REGISTRY_DATE), str)


def urn_conversions(text: str, uuid: UUID, name: urn.URN) -> None:
    assert_type(conversions.from_public_id(text), str)
    assert_type(conversions.to_public_id(name), str)
    assert_type(conversions.from_uuid(uuid), str)
    assert_type(conversions.to_uuid(text), UUID)
    assert_type(conversions.from_oid([1, 3, 6]), str)
    assert_type(conversions.to_oid(name), tuple[int, ...])
    assert_type(conversions.from_isbn(text), str)
    assert_type(conversions.to_isbn(name), str)
    assert_type(conversions.isbn_13(text), str)
    assert_type(conversions.isbn_10(text), str)


def errors(text: str) -> None:
    try:
        urn.parse(text)
    except UrnError as error:
        assert_type(error.offset, int)
        assert_type(error.reason, str)
    except AmbiguousUrlError as error:
        assert_type(error.code, str)
    except (UriSyntaxError, IriError) as error:
        assert_type(error, UriSyntaxError | IriError)
        assert_type(error.input, object)
        assert_type(error.code, str | None)
    except UnknownNamespaceError:
        raise UriError("unknown", text, 0) from None
    except SetError as error:
        assert_type(error, SetError)


# --- many values ------------------------------------------------------------------------------------------------------


def results(column: bulk.Column) -> None:
    assert_type(bulk.Column(column.type, column.arrays), bulk.Column)
    assert_type(column[-1], Any)
    assert_type(column[1:], bulk.Column)
    assert_type(column.to_pylist(), list[Any])
    assert_type(len(column), int)
    for row in column:
        assert_type(row, Any)


def lists_of_str(rows: list[str], hosts: uri.HostSet) -> list[str]:
    assert_type(bulk.quote(rows), list[str | Any])
    assert_type(bulk.requote(rows), list[str | Any])
    assert_type(bulk.unquote(rows), list[str | Any])
    assert_type(bulk.percent_decode(rows), list[str | Any])
    assert_type(bulk.iri_to_uri(rows, host="idna"), list[str | Any])
    assert_type(bulk.uri_to_iri(rows), list[str | Any])
    assert_type(bulk.normalize_uri(rows, policy="tracking"), list[str | Any])
    assert_type(bulk.shape(rows), list[str | Any])
    assert_type(bulk.redact(rows), list[str | Any])
    assert_type(bulk.redact_text(rows), list[str | Any])
    assert_type(bulk.normalize_urn(rows, "namespace"), list[str | Any])
    assert_type(bulk.is_valid_uri(rows, "URI"), list[bool | None])
    assert_type(bulk.is_valid_iri(rows), list[bool | None])
    assert_type(bulk.is_valid_urn(rows), list[bool | None])
    assert_type(bulk.check_uri(rows), list[dict[str, Any] | None])
    assert_type(bulk.check_iri(rows), list[dict[str, Any] | None])
    assert_type(bulk.check_urn(rows), list[dict[str, Any] | None])
    assert_type(bulk.validate_urn(rows, "any"), list[dict[str, Any] | None])
    assert_type(bulk.split_uri(rows), list[dict[str, Any] | None])
    assert_type(bulk.split_iri(rows, errors="raise"), list[dict[str, Any] | None])
    assert_type(bulk.resolve(rows, "http://example.org/"), list[str | Any])
    assert_type(bulk.relativize(rows, rows), list[str | Any])
    assert_type(bulk.unsplit(rows, scheme="http"), list[str | Any])
    assert_type(bulk.equivalent(rows, rows), list[bool | None])
    assert_type(bulk.relation(rows, rows), list[str | Any])
    assert_type(bulk.with_query(rows, keep=["q"]), list[str | Any])
    assert_type(bulk.agreed_host(rows), list[dict[str, Any] | None])
    assert_type(bulk.userinfo(rows), list[Any])
    assert_type(bulk.host(rows), list[Any])
    assert_type(bulk.port(rows), list[Any])
    assert_type(bulk.registrable_domain(rows), list[Any])
    assert_type(bulk.public_suffix(rows), list[Any])
    assert_type(bulk.query_value(rows, "q"), list[Any])
    assert_type(bulk.query_pairs(rows), list[list[Any] | None])
    assert_type(bulk.path_segments(rows), list[list[Any] | None])
    assert_type(bulk.split_urn(rows), list[dict[str, Any] | None])
    assert_type(bulk.match(rows, hosts), list[Any])
    assert_type(bulk.is_match(rows, ["a.example"]), list[bool | None])
    assert_type(bulk.fingerprint(rows, "urn", "namespace"), list[bytes | None])
    return bulk.normalize_uri(rows, level="scheme")


def lists_of_bytes(rows: list[bytes], pair: tuple[bytes, bytes], nullable: list[str | None]) -> list[bytes]:
    invalid = bulk.InvalidRows(limit=10)
    assert_type(bulk.unquote(nullable, errors="null", invalid=invalid, threads=2), list[str | Any | None])
    assert_type(invalid.rows, list[tuple[int, str, int]])
    assert_type(invalid.count, int)
    assert_type(bulk.quote(pair, safe=bytesets.RFC3986_PCHAR), list[bytes | Any])
    assert_type(bulk.redact(rows), list[bytes | Any])
    assert_type(bulk.is_valid_iri(rows), list[bool | None])
    assert_type(bulk.check_urn(nullable), list[dict[str, Any] | None])
    assert_type(bulk.host(rows), list[Any])
    return bulk.normalize_urn(rows)


def columns(column: bulk.Column, hosts: uri.PrefixSet) -> None:
    assert_type(bulk.quote(column), bulk.Column)
    assert_type(bulk.requote(column), bulk.Column)
    assert_type(bulk.unquote(column), bulk.Column)
    assert_type(bulk.percent_decode(column), bulk.Column)
    assert_type(bulk.iri_to_uri(column), bulk.Column)
    assert_type(bulk.uri_to_iri(column), bulk.Column)
    assert_type(bulk.normalize_uri(column), bulk.Column)
    assert_type(bulk.shape(column, "keep"), bulk.Column)
    assert_type(bulk.redact(column), bulk.Column)
    assert_type(bulk.redact_text(column), bulk.Column)
    assert_type(bulk.normalize_urn(column), bulk.Column)
    assert_type(bulk.is_valid_uri(column), bulk.Column)
    assert_type(bulk.is_valid_iri(column), bulk.Column)
    assert_type(bulk.is_valid_urn(column), bulk.Column)
    assert_type(bulk.check_uri(column), bulk.Column)
    assert_type(bulk.check_iri(column), bulk.Column)
    assert_type(bulk.check_urn(column), bulk.Column)
    assert_type(bulk.validate_urn(column), bulk.Column)
    assert_type(bulk.split_uri(column), bulk.Column)
    assert_type(bulk.split_iri(column), bulk.Column)
    assert_type(bulk.resolve(column, column), bulk.Column)
    assert_type(bulk.relativize(column, "http://example.org/"), bulk.Column)
    assert_type(bulk.unsplit(column, query=column), bulk.Column)
    assert_type(bulk.equivalent(column, column), bulk.Column)
    assert_type(bulk.relation(column, column), bulk.Column)
    assert_type(bulk.with_query(column, "a=b"), bulk.Column)
    assert_type(bulk.agreed_host(column), bulk.Column)
    assert_type(bulk.userinfo(column), bulk.Column)
    assert_type(bulk.host(column), bulk.Column)
    assert_type(bulk.port(column), bulk.Column)
    assert_type(bulk.registrable_domain(column), bulk.Column)
    assert_type(bulk.public_suffix(column), bulk.Column)
    assert_type(bulk.query_value(column, ["q", "page"]), bulk.Column)
    assert_type(bulk.query_pairs(column), bulk.Column)
    assert_type(bulk.path_segments(column), bulk.Column)
    assert_type(bulk.split_urn(column), bulk.Column)
    assert_type(bulk.match(column, hosts), bulk.Column)
    assert_type(bulk.is_match(column, hosts, exact=True), bulk.Column)
    assert_type(bulk.fingerprint(column, secret="a secret"), bulk.Column)


def lines(text: bytes, shared: memoryview, log: BinaryIO, raw: io.FileIO, out: BinaryIO) -> None:
    assert_type(bulk.unquote(text), bytes)
    assert_type(bulk.requote(shared, errors="drop"), bytes)
    assert_type(bulk.split_uri(text), bulk.Column)
    assert_type(bulk.unquote(log, output=out), int)
    assert_type(bulk.unquote(raw, output=out), int)


def options(  # noqa: PLR0913, PLR0917  (a name for each option)
    rows: list[str],
    data: bytes,
    text: typing.TextErrors,
    codec: typing.CodecErrors,
    verdict: typing.VerdictErrors,
    component: typing.ComponentErrors,
    diagnostic: typing.DiagnosticErrors,
    struct: typing.StructErrors,
    split: typing.SplitErrors,
    fingerprint: typing.FingerprintErrors,
    deduplication: typing.DedupErrors,
    log: typing.LogErrors,
    kind: typing.IdentifierKind,
    level: typing.UriLevel,
    urn_level: typing.UrnLevel,
    rfc: typing.UrnRfc,
    policy: typing.PolicyName,
    production: typing.UriProduction,
    iri_production: typing.IriProduction,
    any_production: typing.NormalizeProduction,
    ambiguity: typing.Ambiguity,
    content: typing.TextContent,
    disallowed: typing.DisallowedCharacters,
    host_in_uri: typing.HostInUri,
    host_in_iri: typing.HostInIri,
    keep: typing.DedupKeep,
    report: typing.DedupReport,
    record_format: typing.RecordFormat,
    client: typing.LogClient,
) -> None:
    bulk.normalize_uri(rows, level, policy, errors=text)
    bulk.quote(rows, errors=codec)
    bulk.is_valid_uri(rows, production, errors=verdict)
    bulk.is_valid_iri(rows, iri_production)
    bulk.host(rows, errors=component)
    bulk.check_uri(rows, errors=diagnostic)
    bulk.split_urn(rows, rfc, errors=struct)
    bulk.split_uri(rows, errors=split)
    bulk.agreed_host(rows, userinfo=ambiguity)
    bulk.iri_to_uri(rows, disallowed, host_in_uri)
    bulk.uri_to_iri(rows, host_in_iri)
    bulk.fingerprint(rows, kind, level, errors=fingerprint)
    dedup.unique(rows, kind, urn_level, keep=keep, errors=deduplication)
    dedup.dedup_files("a.csv", kind=kind, format=record_format, report=report)
    uri.key("a", level)
    uri.find(data, content)
    logs.parse(data, client=client, errors=log)


# --- deduplication ----------------------------------------------------------------------------------------------------


def unique(rows: list[str], column: bulk.Column, lines: bytes) -> None:
    assert_type(dedup.unique(rows, kind="uri"), list[str])
    assert_type(dedup.unique(column, "urn"), bulk.Column)
    assert_type(dedup.unique(lines, "bytes"), bytes)
    assert_type(dedup.fingerprint(rows, "uri"), list[bytes | None])
    assert_type(dedup.rules_of("uri", "path"), tuple[str, ...])
    assert_type(dedup.FingerprintKey("a secret").fingerprint(lines), bytes)


def deduplicators(rows: list[str], column: bulk.Column, lines: bytes, seen: dedup.SeenSet) -> None:
    with dedup.Deduplicator("uri", memory="1G", seen=seen) as found:
        assert_type(found.add(rows), list[bool | None])
        assert_type(found.add(column), bulk.Column)
        assert_type(found.add(lines), list[bool | None])
        assert_type(found.finish(), list[int])
        assert_type(found.count, int)
        assert_type(found.estimate, int)
        assert_type(found.invalid, int)
        found.save("state")
    assert_type(dedup.Deduplicator.load("state"), dedup.Deduplicator)
    found.close()


def files(show: Callable[[dedup.Progress], None]) -> None:
    figures = dedup.dedup_files(["a.txt", "b.txt"], "unique.txt", kind="uri", on_progress=show)
    assert_type(figures, dedup.DedupStats)
    assert_type(figures.as_dict(), dict[str, Any])
    assert_type(dedup.unique_dataset("a.parquet", "url", "out", kind="web"), dedup.DedupStats)
    assert_type(dedup.estimate_files("a.txt", kind="bytes"), int)


def saved_sets(rows: list[str], column: bulk.Column, data: bytes) -> None:
    with dedup.SeenSet.build(rows, "uri", memory="64M") as seen:
        assert_type(seen, dedup.SeenSet)
        assert_type(seen.contains(rows), list[bool | None])
        assert_type(seen.contains(column), bulk.Column)
        assert_type(seen.contains(data), list[bool | None])
        assert_type(rows[0] in seen, bool)
        assert_type(seen.kind, str)
        assert_type(seen.level, str | None)
        assert_type(seen.policy, uri.Policy | None)
        assert_type(seen.key, dedup.FingerprintKey)
        assert_type(seen.shard, tuple[int, int])
        assert_type(seen.fingerprints(), Iterator[Any])
        assert_type(seen.split(4), list[dedup.SeenSet])
        assert_type(dedup.SeenSet.merge(seen.split(2)), dedup.SeenSet)
        assert_type(seen | seen, dedup.SeenSet)
        seen.verify()
        seen.save("seen")
    try:
        dedup.SeenSet.open("seen", secret="a secret").close()
    except dedup.SetError as error:
        assert_type(error.args, tuple[Any, ...])


# --- access logs ------------------------------------------------------------------------------------------------------


def access_logs(log: BinaryIO, data: bytes) -> None:
    invalid: list[logs.InvalidLine] = []
    for record in logs.parse(log, "combined", where=["status>=400"], invalid=invalid):
        assert_type(record, logs.Record)
        assert_type(record.status, int | None)
        assert_type(record.query, tuple[tuple[str, str], ...] | None)
    assert_type(invalid[0].row(), bytes)
    assert_type(invalid[0].offset, int)
    assert_type(logs.columns(data, fields=["status"]), dict[str, list[Any]])
    assert_type(logs.count(data, ["status"], top=10), Iterator[dict[str, Any]])
    assert_type(logs.to_arrow("access.log"), Any)
    assert_type(logs.presets(), tuple[str, ...])
    assert_type(logs.detect(data), list[logs.Candidate])
    assert_type(logs.detect(data)[0].format, logs.Format)


def log_formats(line: bytes) -> None:
    form = logs.Format('%h %l %u %t "%r" %>s %b')
    assert_type(form.fields, tuple[str, ...])
    assert_type(form.is_json, bool)
    assert_type(len(form.programs), int)
    found = form.explain(line)
    if found is not None:
        assert_type(form.message(0, found.code, found.offset, line), str)
    try:
        logs.Format(map={"status": "code"})
    except logs.FormatError as error:
        assert_type(error, logs.FormatError)


# --- mistakes ---------------------------------------------------------------------------------------------------------


def mistakes(rows: list[str], log: BinaryIO) -> None:
    bulk.unquote(1)  # type: ignore[call-overload]
    bulk.unquote(rows, errors="ignore")  # type: ignore[call-overload]
    bulk.check_uri(rows, errors="null")  # type: ignore[call-overload]
    bulk.normalize_uri(rows, "8141")  # type: ignore[call-overload]
    bulk.is_valid_uri(rows, output=log)  # type: ignore[call-overload]
    uri.normalize("a", "8141")  # type: ignore[call-overload]
    dedup.unique(rows)  # type: ignore[call-overload]
