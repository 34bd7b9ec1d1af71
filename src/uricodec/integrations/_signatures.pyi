"""Printed by docs/make_stubs.py: the operations, as type checkers see them in the hooks into engines."""

from collections.abc import Collection, Sequence
from os import PathLike
from typing import Any, Generic, TypeVar

from uricodec._base._fingerprint import FingerprintKey
from uricodec._base._kernels import ByteSet
from uricodec.bulk import InvalidRows
from uricodec.typing import (
    Ambiguity,
    CodecErrors,
    ComponentErrors,
    DiagnosticErrors,
    DisallowedCharacters,
    FingerprintErrors,
    HostInIri,
    HostInUri,
    IdentifierKind,
    IriProduction,
    PolicyName,
    SplitErrors,
    StructErrors,
    TextErrors,
    UriLevel,
    UriProduction,
    UrnLevel,
    UrnRfc,
    VerdictErrors,
    WebScheme,
)
from uricodec.uri import Policy

__all__ = [
    "agreed_host",
    "check_iri",
    "check_uri",
    "check_urn",
    "fingerprint",
    "host",
    "iri_to_uri",
    "is_valid_iri",
    "is_valid_uri",
    "is_valid_urn",
    "normalize_uri",
    "normalize_urn",
    "path_segments",
    "percent_decode",
    "port",
    "public_suffix",
    "query_pairs",
    "query_value",
    "quote",
    "registrable_domain",
    "requote",
    "split_iri",
    "split_uri",
    "split_urn",
    "unquote",
    "uri_to_iri",
]

_Column = TypeVar("_Column")  # the type of a column in the engine
_Frame = TypeVar("_Frame")  # the type of columns of several fields

class ExpressionMethods(Generic[_Column, _Frame]):
    """Methods of an expression, which is evaluated later."""

    def quote(
        self, safe: ByteSet | str | bytes = "/", plus: bool = False, *, errors: CodecErrors | None = None
    ) -> _Column: ...
    def requote(
        self, safe: ByteSet | str | bytes = ":/?#[]@!$&'()*+,;=", *, errors: CodecErrors | None = None
    ) -> _Column: ...
    def unquote(self, plus: bool = False, *, errors: CodecErrors | None = None) -> _Column: ...
    def percent_decode(self, plus: bool = False, *, errors: CodecErrors | None = None) -> _Column: ...
    def iri_to_uri(
        self,
        disallowed: DisallowedCharacters = "raise",
        host: HostInUri = "percent",
        *,
        errors: TextErrors | None = None,
    ) -> _Column: ...
    def uri_to_iri(self, host: HostInIri = "keep", *, errors: TextErrors | None = None) -> _Column: ...
    def normalize_uri(
        self, level: UriLevel = "path", policy: Policy | PolicyName | None = None, *, errors: TextErrors | None = None
    ) -> _Column: ...
    def normalize_urn(
        self, level: UrnLevel = "8141", rfc: UrnRfc | None = None, *, errors: TextErrors | None = None
    ) -> _Column: ...
    def is_valid_uri(
        self,
        production: UriProduction = "URI-reference",
        safe_host: bool = False,
        *,
        errors: VerdictErrors | None = None,
    ) -> _Column: ...
    def is_valid_iri(
        self,
        production: IriProduction = "IRI-reference",
        safe_host: bool = False,
        *,
        errors: VerdictErrors | None = None,
    ) -> _Column: ...
    def is_valid_urn(self, rfc: UrnRfc = "8141", *, errors: VerdictErrors | None = None) -> _Column: ...
    def check_uri(
        self,
        production: UriProduction = "URI-reference",
        safe_host: bool = False,
        *,
        errors: DiagnosticErrors | None = None,
    ) -> _Frame: ...
    def check_iri(
        self,
        production: IriProduction = "IRI-reference",
        safe_host: bool = False,
        *,
        errors: DiagnosticErrors | None = None,
    ) -> _Frame: ...
    def check_urn(self, rfc: UrnRfc = "8141", *, errors: DiagnosticErrors | None = None) -> _Frame: ...
    def split_uri(self, *, errors: SplitErrors | None = None) -> _Frame: ...
    def split_iri(self, *, errors: SplitErrors | None = None) -> _Frame: ...
    def agreed_host(
        self,
        schemes: Collection[WebScheme] | None = None,
        userinfo: Ambiguity = "raise",
        trailing_dot: Ambiguity = "raise",
        ports: Collection[int] | None = None,
        *,
        errors: StructErrors | None = None,
    ) -> _Frame: ...
    def host(self, *, errors: ComponentErrors | None = None) -> _Column: ...
    def port(self, *, errors: ComponentErrors | None = None) -> _Column: ...
    def registrable_domain(
        self,
        private: bool = False,
        suffixes: str | PathLike[str] | None = None,
        *,
        errors: ComponentErrors | None = None,
    ) -> _Column: ...
    def public_suffix(
        self,
        private: bool = False,
        suffixes: str | PathLike[str] | None = None,
        *,
        errors: ComponentErrors | None = None,
    ) -> _Column: ...
    def query_value(self, name: str | Sequence[str], *, errors: ComponentErrors | None = None) -> _Column | _Frame: ...
    def query_pairs(self, *, errors: ComponentErrors | None = None) -> _Column: ...
    def path_segments(self, *, errors: ComponentErrors | None = None) -> _Column: ...
    def split_urn(self, rfc: UrnRfc = "8141", *, errors: StructErrors | None = None) -> _Frame: ...
    def fingerprint(
        self,
        kind: IdentifierKind = "bytes",
        level: UriLevel | UrnLevel | None = None,
        secret: FingerprintKey | str | bytes | None = None,
        policy: Policy | PolicyName | None = None,
        *,
        errors: FingerprintErrors | None = None,
    ) -> _Column: ...

class ColumnMethods(Generic[_Column, _Frame]):
    """Methods of a column."""

    def quote(
        self,
        safe: ByteSet | str | bytes = "/",
        plus: bool = False,
        *,
        errors: CodecErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def requote(
        self,
        safe: ByteSet | str | bytes = ":/?#[]@!$&'()*+,;=",
        *,
        errors: CodecErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def unquote(
        self,
        plus: bool = False,
        *,
        errors: CodecErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def percent_decode(
        self,
        plus: bool = False,
        *,
        errors: CodecErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def iri_to_uri(
        self,
        disallowed: DisallowedCharacters = "raise",
        host: HostInUri = "percent",
        *,
        errors: TextErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def uri_to_iri(
        self,
        host: HostInIri = "keep",
        *,
        errors: TextErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def normalize_uri(
        self,
        level: UriLevel = "path",
        policy: Policy | PolicyName | None = None,
        *,
        errors: TextErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def normalize_urn(
        self,
        level: UrnLevel = "8141",
        rfc: UrnRfc | None = None,
        *,
        errors: TextErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def is_valid_uri(
        self,
        production: UriProduction = "URI-reference",
        safe_host: bool = False,
        *,
        errors: VerdictErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def is_valid_iri(
        self,
        production: IriProduction = "IRI-reference",
        safe_host: bool = False,
        *,
        errors: VerdictErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def is_valid_urn(
        self,
        rfc: UrnRfc = "8141",
        *,
        errors: VerdictErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def check_uri(
        self,
        production: UriProduction = "URI-reference",
        safe_host: bool = False,
        *,
        errors: DiagnosticErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Frame: ...
    def check_iri(
        self,
        production: IriProduction = "IRI-reference",
        safe_host: bool = False,
        *,
        errors: DiagnosticErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Frame: ...
    def check_urn(
        self,
        rfc: UrnRfc = "8141",
        *,
        errors: DiagnosticErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Frame: ...
    def split_uri(
        self, *, errors: SplitErrors | None = None, invalid: InvalidRows | None = None, threads: int | None = None
    ) -> _Frame: ...
    def split_iri(
        self, *, errors: SplitErrors | None = None, invalid: InvalidRows | None = None, threads: int | None = None
    ) -> _Frame: ...
    def agreed_host(
        self,
        schemes: Collection[WebScheme] | None = None,
        userinfo: Ambiguity = "raise",
        trailing_dot: Ambiguity = "raise",
        ports: Collection[int] | None = None,
        *,
        errors: StructErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Frame: ...
    def host(
        self, *, errors: ComponentErrors | None = None, invalid: InvalidRows | None = None, threads: int | None = None
    ) -> _Column: ...
    def port(
        self, *, errors: ComponentErrors | None = None, invalid: InvalidRows | None = None, threads: int | None = None
    ) -> _Column: ...
    def registrable_domain(
        self,
        private: bool = False,
        suffixes: str | PathLike[str] | None = None,
        *,
        errors: ComponentErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def public_suffix(
        self,
        private: bool = False,
        suffixes: str | PathLike[str] | None = None,
        *,
        errors: ComponentErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...
    def query_value(
        self,
        name: str | Sequence[str],
        *,
        errors: ComponentErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column | _Frame: ...
    def query_pairs(
        self, *, errors: ComponentErrors | None = None, invalid: InvalidRows | None = None, threads: int | None = None
    ) -> _Column: ...
    def path_segments(
        self, *, errors: ComponentErrors | None = None, invalid: InvalidRows | None = None, threads: int | None = None
    ) -> _Column: ...
    def split_urn(
        self,
        rfc: UrnRfc = "8141",
        *,
        errors: StructErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Frame: ...
    def fingerprint(
        self,
        kind: IdentifierKind = "bytes",
        level: UriLevel | UrnLevel | None = None,
        secret: FingerprintKey | str | bytes | None = None,
        policy: Policy | PolicyName | None = None,
        *,
        errors: FingerprintErrors | None = None,
        invalid: InvalidRows | None = None,
        threads: int | None = None,
    ) -> _Column: ...

def quote(
    column: Any, safe: ByteSet | str | bytes = "/", plus: bool = False, *, errors: CodecErrors | None = None
) -> Any: ...
def requote(
    column: Any, safe: ByteSet | str | bytes = ":/?#[]@!$&'()*+,;=", *, errors: CodecErrors | None = None
) -> Any: ...
def unquote(column: Any, plus: bool = False, *, errors: CodecErrors | None = None) -> Any: ...
def percent_decode(column: Any, plus: bool = False, *, errors: CodecErrors | None = None) -> Any: ...
def iri_to_uri(
    column: Any,
    disallowed: DisallowedCharacters = "raise",
    host: HostInUri = "percent",
    *,
    errors: TextErrors | None = None,
) -> Any: ...
def uri_to_iri(column: Any, host: HostInIri = "keep", *, errors: TextErrors | None = None) -> Any: ...
def normalize_uri(
    column: Any,
    level: UriLevel = "path",
    policy: Policy | PolicyName | None = None,
    *,
    errors: TextErrors | None = None,
) -> Any: ...
def normalize_urn(
    column: Any, level: UrnLevel = "8141", rfc: UrnRfc | None = None, *, errors: TextErrors | None = None
) -> Any: ...
def is_valid_uri(column: Any, production: UriProduction = "URI-reference", safe_host: bool = False) -> Any: ...
def is_valid_iri(column: Any, production: IriProduction = "IRI-reference", safe_host: bool = False) -> Any: ...
def is_valid_urn(column: Any, rfc: UrnRfc = "8141") -> Any: ...
def check_uri(column: Any, production: UriProduction = "URI-reference", safe_host: bool = False) -> Any: ...
def check_iri(column: Any, production: IriProduction = "IRI-reference", safe_host: bool = False) -> Any: ...
def check_urn(column: Any, rfc: UrnRfc = "8141") -> Any: ...
def split_uri(column: Any, *, errors: SplitErrors | None = None) -> Any: ...
def split_iri(column: Any, *, errors: SplitErrors | None = None) -> Any: ...
def agreed_host(
    column: Any,
    schemes: Collection[WebScheme] | None = None,
    userinfo: Ambiguity = "raise",
    trailing_dot: Ambiguity = "raise",
    ports: Collection[int] | None = None,
    *,
    errors: StructErrors | None = None,
) -> Any: ...
def host(column: Any, *, errors: ComponentErrors | None = None) -> Any: ...
def port(column: Any, *, errors: ComponentErrors | None = None) -> Any: ...
def registrable_domain(
    column: Any,
    private: bool = False,
    suffixes: str | PathLike[str] | None = None,
    *,
    errors: ComponentErrors | None = None,
) -> Any: ...
def public_suffix(
    column: Any,
    private: bool = False,
    suffixes: str | PathLike[str] | None = None,
    *,
    errors: ComponentErrors | None = None,
) -> Any: ...
def query_value(column: Any, name: str | Sequence[str], *, errors: ComponentErrors | None = None) -> Any: ...
def query_pairs(column: Any, *, errors: ComponentErrors | None = None) -> Any: ...
def path_segments(column: Any, *, errors: ComponentErrors | None = None) -> Any: ...
def split_urn(column: Any, rfc: UrnRfc = "8141", *, errors: StructErrors | None = None) -> Any: ...
def fingerprint(
    column: Any,
    kind: IdentifierKind = "bytes",
    level: UriLevel | UrnLevel | None = None,
    secret: FingerprintKey | str | bytes | None = None,
    policy: Policy | PolicyName | None = None,
    *,
    errors: FingerprintErrors | None = None,
) -> Any: ...
