from collections.abc import Sequence
from typing import AnyStr, Generic, NamedTuple, overload
from typing_extensions import Buffer

from uricodec._base.diagnostics import Diagnostic
from uricodec.typing import HostKind, IriProduction, UriProduction

class _Components(NamedTuple, Generic[AnyStr]):
    scheme: AnyStr | None
    authority: AnyStr | None
    path: AnyStr
    query: AnyStr | None
    fragment: AnyStr | None

class Components(_Components[AnyStr]):
    @property
    def userinfo(self) -> AnyStr | None: ...
    @property
    def host(self) -> AnyStr | None: ...
    @property
    def port(self) -> AnyStr | None: ...
    @property
    def host_kind(self) -> HostKind | None: ...

def check(
    uri: str | Buffer,
    production: UriProduction = "URI-reference",
    safe_host: bool = False,
    *,
    base: str | Buffer | None = None,
) -> Diagnostic | None: ...
def is_valid(
    uri: str | Buffer,
    production: UriProduction = "URI-reference",
    safe_host: bool = False,
    *,
    base: str | Buffer | None = None,
) -> bool: ...
def check_iri(
    iri: str | Buffer, production: IriProduction = "IRI-reference", safe_host: bool = False
) -> Diagnostic | None: ...
def is_valid_iri(iri: str | Buffer, production: IriProduction = "IRI-reference", safe_host: bool = False) -> bool: ...
@overload
def split(uri: str) -> Components[str]: ...
@overload
def split(uri: Buffer) -> Components[bytes]: ...
@overload
def split_iri(iri: str) -> Components[str]: ...
@overload
def split_iri(iri: Buffer) -> Components[bytes]: ...
def unsplit(components: Sequence[AnyStr | None]) -> AnyStr: ...
def unsplit_iri(components: Sequence[AnyStr | None]) -> AnyStr: ...
@overload
def resolve(base: str, ref: str, strict: bool = True) -> str: ...
@overload
def resolve(base: Buffer, ref: Buffer, strict: bool = True) -> bytes: ...
@overload
def relativize(base: str, target: str) -> str: ...
@overload
def relativize(base: Buffer, target: Buffer) -> bytes: ...
