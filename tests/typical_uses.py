"""What callers write, for type checkers: each use has the type that they count on. Nothing runs this; see .ci/types."""

import io
from typing import Any, BinaryIO

from typing_extensions import assert_type

import uricodec
from uricodec import bulk, bytesets, dedup, iri, parse, uri, urn
from uricodec.errors import UriError, UrnError
from uricodec.typing import IdentifierKind, TextErrors, UriLevel


def octets_and_text(name: str, octets: bytes, shared: memoryview) -> None:
    assert_type(uricodec.quote(name), str)
    assert_type(uricodec.quote(octets, safe=""), str)
    assert_type(uricodec.unquote(name, errors="strict"), str)
    assert_type(uricodec.unquote_to_bytes(name), bytes)
    assert_type(uricodec.percent_encode(name), str)
    assert_type(uricodec.percent_encode(octets), bytes)
    assert_type(uricodec.percent_decode(shared), bytes)
    assert_type(uricodec.requote(name), str)
    assert_type(uricodec.quote_into(octets, bytearray(300)), int)
    assert_type(bytesets.RFC3986_UNRESERVED | bytesets.RFC3986_SUB_DELIMS, uricodec.ByteSet)
    assert_type(uricodec.cpu_tiers(), tuple[str, ...])


def drop_in(url: str, octets: bytes, row: dict[str, str]) -> None:
    assert_type(parse.urlsplit(url), parse.SplitResult)
    assert_type(parse.urlsplit(octets), parse.SplitResultBytes)
    assert_type(parse.urlsplit(url).hostname, str | None)
    assert_type(parse.urljoin(url, "../b"), str)
    assert_type(parse.parse_qs("a=1&b=2"), dict[str, list[str]])
    assert_type(parse.parse_qsl(octets), list[tuple[bytes, bytes]])
    assert_type(parse.urlencode(row), str)
    assert_type(parse.urlunsplit(parse.urlsplit(url)), str)


def names(name: str, octets: bytes) -> None:
    assert_type(uri.normalize(name), str)
    assert_type(uri.normalize(octets, level="scheme"), bytes)
    assert_type(uri.is_valid(name), bool)
    assert_type(uri.check(name), uri.Diagnostic | None)
    assert_type(uri.equivalent(name, "http://example.org/"), bool)
    assert_type(uri.resolve(name, "../b"), str)
    assert_type(uri.agreed_host(octets, schemes=["https"], ports={443}).port, int)
    assert_type(uri.agreed_host(name).is_global, bool)
    assert_type(uri.HostSet(["a.example", octets]).match(name, exact=True), str | None)
    assert_type(uri.PrefixSet.read(octets).match(octets), bytes | None)
    assert_type(uri.HostSet.open(name), uri.HostSet)
    assert_type(iri.iri_to_uri(name), str)
    assert_type(urn.parse(name), urn.URN)
    assert_type(urn.parse(name).q_component, str | None)
    assert_type(urn.normalize(urn.parse(name), level="namespace"), urn.URN)
    assert_type(urn.key(octets), bytes)
    try:
        urn.parse(name)
    except UrnError as error:
        assert_type(error.offset, int)
    except UriError:
        raise


def rows_of(column: bulk.Column) -> None:
    assert_type(column[-1], Any)
    assert_type(column[1:], bulk.Column)
    assert_type(column.to_pylist(), list[Any])
    assert_type(len(column), int)
    for row in column:
        assert_type(row, Any)


def lists(rows: list[str], nullable: list[str | None], pair: tuple[bytes, bytes]) -> list[str]:
    invalid = bulk.InvalidRows(limit=10)
    assert_type(bulk.unquote(nullable, errors="null", invalid=invalid, threads=2), list[str | Any | None])
    assert_type(invalid.rows, list[tuple[int, str, int]])
    assert_type(bulk.quote(pair, safe=bytesets.RFC3986_PCHAR), list[bytes | Any])
    assert_type(bulk.is_valid_uri(rows, "URI"), list[bool | None])
    assert_type(bulk.check_urn(rows), list[dict[str, Any] | None])
    assert_type(bulk.split_iri(rows, errors="raise"), list[dict[str, Any] | None])
    assert_type(bulk.fingerprint(rows, "urn", "namespace"), list[bytes | None])
    assert_type(dedup.unique(rows, kind="uri"), list[str])
    return bulk.normalize_uri(rows, level="scheme")


def columns(column: bulk.Column) -> None:
    assert_type(bulk.unquote(column), bulk.Column)
    assert_type(bulk.is_valid_urn(column), bulk.Column)
    assert_type(dedup.unique(column, "urn"), bulk.Column)


def lines(text: bytes, shared: memoryview, log: BinaryIO, raw: io.FileIO, out: BinaryIO) -> None:
    assert_type(bulk.unquote(text), bytes)
    assert_type(bulk.requote(shared, errors="drop"), bytes)
    assert_type(bulk.split_uri(text), bulk.Column)
    assert_type(bulk.unquote(log, output=out), int)
    assert_type(bulk.unquote(raw, output=out), int)
    assert_type(dedup.unique(text, "bytes"), bytes)


def options(rows: list[str], kind: IdentifierKind, level: UriLevel, errors: TextErrors) -> None:
    bulk.normalize_uri(rows, level, errors=errors)
    bulk.fingerprint(rows, kind, level)
    uri.key("a", level)


def mistakes(rows: list[str], log: BinaryIO) -> None:
    bulk.unquote(1)  # type: ignore[call-overload]
    bulk.unquote(rows, errors="ignore")  # type: ignore[call-overload]
    bulk.check_uri(rows, errors="null")  # type: ignore[call-overload]
    bulk.normalize_uri(rows, "8141")  # type: ignore[call-overload]
    bulk.is_valid_uri(rows, output=log)  # type: ignore[call-overload]
    uri.normalize("a", "8141")  # type: ignore[call-overload]
    dedup.unique(rows)  # type: ignore[call-overload]
