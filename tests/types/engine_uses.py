"""What callers write with the hooks into engines, for type checkers. Nothing runs this; see `nox -s types`.

Of the engines, only Polars need be installed.
"""

# pyright: reportUnknownMemberType=false
# (Polars annotates parameters with types of NumPy.)

from typing import Any

import polars as pl
from typing_extensions import assert_type

from uricodec import bulk, dedup, typing, uri
from uricodec.integrations import duckdb, pandas, spark
from uricodec.integrations.polars import UricodecExpr, UricodecSeries, col


def expressions(log: pl.LazyFrame) -> pl.DataFrame:
    decoded = col("path").uricodec.unquote(errors="null")
    host = UricodecExpr(pl.col("url").str.strip_chars()).split_uri().struct.field("host")
    assert_type(host, pl.Expr)
    form = col.url.uricodec.normalize_uri("scheme", errors="null").uricodec.fingerprint("uri", secret="a secret")
    return log.select(decoded, host.alias("host"), form.alias("form")).collect()


def series(column: pl.Series, invalid: bulk.InvalidRows, hosts: uri.HostSet) -> None:
    rows = UricodecSeries(column)
    assert_type(rows.quote("/", errors="replace"), pl.Series)
    assert_type(rows.requote(), pl.Series)
    assert_type(rows.unquote(plus=True, invalid=invalid, threads=2), pl.Series)
    assert_type(rows.percent_decode(), pl.Series)
    assert_type(rows.iri_to_uri(host="idna"), pl.Series)
    assert_type(rows.uri_to_iri("unicode"), pl.Series)
    assert_type(rows.normalize_uri(policy="crawl"), pl.Series)
    assert_type(rows.redact("extended"), pl.Series)
    assert_type(rows.redact_text(), pl.Series)
    assert_type(rows.normalize_urn("namespace"), pl.Series)
    assert_type(rows.is_valid_uri("URI"), pl.Series)
    assert_type(rows.is_valid_iri(), pl.Series)
    assert_type(rows.is_valid_urn(), pl.Series)
    assert_type(rows.check_uri(), pl.Series)
    assert_type(rows.check_iri(), pl.Series)
    assert_type(rows.check_urn(), pl.Series)
    assert_type(rows.split_uri(), pl.Series)
    assert_type(rows.split_iri(), pl.Series)
    assert_type(rows.resolve("http://example.org/"), pl.Series)
    assert_type(rows.relativize(column), pl.Series)
    assert_type(rows.unsplit(scheme="http", query=column), pl.Series)
    assert_type(rows.equivalent(column, policy="surt"), pl.Series)
    assert_type(rows.relation(column), pl.Series)
    assert_type(rows.with_query({"page": "2"}, drop="utm_*"), pl.Series)
    assert_type(rows.agreed_host(schemes=["https"]), pl.Series)
    assert_type(rows.userinfo(), pl.Series)
    assert_type(rows.host(), pl.Series)
    assert_type(rows.port(), pl.Series)
    assert_type(rows.registrable_domain(private=True), pl.Series)
    assert_type(rows.public_suffix(), pl.Series)
    assert_type(rows.query_value(["q", "page"]), pl.Series)
    assert_type(rows.query_pairs(), pl.Series)
    assert_type(rows.path_segments(), pl.Series)
    assert_type(rows.split_urn(), pl.Series)
    assert_type(rows.match(hosts), pl.Series)
    assert_type(rows.is_match(hosts, exact=True), pl.Series)
    assert_type(rows.fingerprint("urn"), pl.Series)
    rows.normalize_uri("no level")  # type: ignore[arg-type]


def columns(column: pl.Series, found: dedup.Deduplicator, seen: dedup.SeenSet) -> None:
    assert_type(bulk.unquote(column), pl.Series)
    assert_type(bulk.is_valid_uri(column), pl.Series)
    assert_type(bulk.split_uri(column), pl.Series)
    assert_type(dedup.unique(column, "uri"), pl.Series)
    assert_type(found.add(column), bulk.Column)
    assert_type(seen.contains(column), bulk.Column)


def frames(column: Any, hosts: uri.HostSet) -> None:
    pandas.UricodecSeries(column).unquote(errors="null", threads=2)
    pandas.UricodecIndex(column).match(hosts)


def sql(con: Any, errors: typing.SqlErrors, seen: dedup.SeenSet) -> None:
    duckdb.register(con, errors, prefix="uri_")
    duckdb.register_set(con, "seen", seen)
    assert_type(duckdb.stream(con, "from log", {"host": ("host", "url")}), Any)


def clusters(session: Any, df: Any, seen: dedup.SeenSet) -> None:
    spark.register(session, secret="a secret")
    assert_type(spark.dedup(df, "url", "uri", seen=seen), Any)
    assert_type(spark.dedup_dataset(session, "in", "url", "out", partition_size="64M"), dedup.DedupStats)
    assert_type(spark.extract_urns(df, "text", offsets=True), Any)
    spark.save_set(df, "url", "seen", "uri")
    spark.normalize_uri(df.url, "scheme", errors="null")
