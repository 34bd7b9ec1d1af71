"""What callers write with the hooks into engines, for type checkers. Nothing runs this; see .ci/types."""

# pyright: reportUnknownMemberType=false
# (Polars annotates parameters with types of NumPy.)

import polars as pl
from typing_extensions import assert_type

from uricodec import bulk
from uricodec.integrations.polars import UricodecExpr, UricodecSeries, col


def expressions(log: pl.LazyFrame) -> pl.DataFrame:
    decoded = col("path").uricodec.unquote(errors="null")
    host = UricodecExpr(pl.col("url").str.strip_chars()).split_uri().struct.field("host")
    assert_type(host, pl.Expr)
    form = col.url.uricodec.normalize_uri("scheme", errors="null").uricodec.fingerprint("uri", secret="a secret")
    return log.select(decoded, host.alias("host"), form.alias("form")).collect()


def series(column: pl.Series, invalid: bulk.InvalidRows) -> None:
    assert_type(UricodecSeries(column).unquote(plus=True, invalid=invalid, threads=2), pl.Series)
    assert_type(UricodecSeries(column).is_valid_urn(), pl.Series)
    assert_type(bulk.unquote(column), bulk.Column)
    UricodecSeries(column).normalize_uri("no level")  # type: ignore[arg-type]
