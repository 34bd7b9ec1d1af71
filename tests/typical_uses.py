"""What callers write, for type checkers: each use has the type that they count on. Nothing runs this; see .ci/types."""

from typing import Any, BinaryIO

from typing_extensions import assert_type

import uricodec
from uricodec import bulk, bytesets, dedup, iri, parse, uri, urn
from uricodec.errors import UriError, UrnError


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
    assert_type(uri.is_uri(name), bool)
    assert_type(uri.check(name), uri.Fault | None)
    assert_type(uri.equivalent(name, "http://example.org/"), bool)
    assert_type(uri.resolve(name, "../b"), str)
    assert_type(iri.iri_to_uri(name), str)
    assert_type(urn.parse(name), urn.URN)
    assert_type(urn.parse(name).q_component, str | None)
    assert_type(urn.normalize(urn.parse(name), level="namespace"), urn.URN)
    assert_type(urn.key(octets), bytes)
    try:
        urn.parse(name)
    except UrnError as error:
        assert_type(error.position, int)
    except UriError:
        raise


def rows_of(column: bulk.Column) -> None:
    assert_type(column[-1], Any)
    assert_type(column[1:], bulk.Column)
    assert_type(column.to_pylist(), list[Any])
    assert_type(len(column), int)
    for row in column:
        assert_type(row, Any)


def columns(rows: list[str | None], log: BinaryIO, out: BinaryIO) -> None:
    faults = bulk.InvalidRows(limit=10)
    bulk.unquote(rows, errors="null", invalid=faults, threads=2)
    bulk.unquote(log, output=out)
    assert_type(faults.rows, list[tuple[int, str, int]])
    assert_type(bulk.normalize_uri(rows, level="scheme"), Any)
    assert_type(dedup.unique(rows), Any)
