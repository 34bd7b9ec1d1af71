from collections.abc import Collection
from typing import Literal, final

from typing_extensions import Buffer, disjoint_base

from uricodec._rows._engine import RowOperation
from uricodec.typing import (
    Ambiguity,
    DisallowedCharacters,
    HostInIri,
    HostInUri,
    IriProduction,
    UriProduction,
    WebScheme,
)

COLUMNS: tuple[str, ...]
HOST_FIELDS: tuple[str, ...]

_Kind = Literal["uri", "iri"]
_Form = Literal["jsonl", "csv"]

class UriRows(RowOperation): ...

@final
class CheckRows(UriRows):
    def __new__(cls, kind: _Kind, production: UriProduction | IriProduction, safe_host: bool = False) -> CheckRows: ...

@final
class CheckedRows(UriRows):
    def __new__(
        cls, kind: _Kind, production: UriProduction | IriProduction, rows: RowOperation, safe_host: bool = False
    ) -> CheckedRows: ...

@final
class SchemeRows(UriRows): ...

@disjoint_base
class RecordRows(UriRows):
    @property
    def header(self) -> bytes: ...
    def record(self, code: str, offset: int) -> bytes: ...

@final
class SplitRows(RecordRows):
    def __new__(cls, kind: _Kind, form: _Form, csv_safe: bool = False, delimiter: bytes = b",") -> SplitRows: ...

@final
class HostRecordRows(RecordRows):
    def __new__(
        cls,
        form: _Form,
        csv_safe: bool = False,
        delimiter: bytes = b",",
        *,
        schemes: Collection[WebScheme] | None = None,
        userinfo: Ambiguity = "raise",
        trailing_dot: Ambiguity = "raise",
        ports: Collection[int] | None = None,
    ) -> HostRecordRows: ...

@final
class SplitReferences(UriRows):
    def __new__(cls, kind: _Kind) -> SplitReferences: ...

@disjoint_base
class WebRows(UriRows):
    def __new__(
        cls,
        schemes: Collection[WebScheme] | None = None,
        userinfo: Ambiguity = "raise",
        trailing_dot: Ambiguity = "raise",
        ports: Collection[int] | None = None,
    ) -> WebRows: ...

@final
class AgreedHostRows(WebRows):
    def __new__(
        cls,
        schemes: Collection[WebScheme] | None = None,
        userinfo: Ambiguity = "raise",
        trailing_dot: Ambiguity = "raise",
        ports: Collection[int] | None = None,
    ) -> AgreedHostRows: ...

@final
class CheckWebRows(UriRows):
    def __new__(cls, writes: bool = False) -> CheckWebRows: ...

@final
class NormalizeRows(UriRows):
    def __new__(cls, level: str = "path") -> NormalizeRows: ...

@final
class ResolvePairs(UriRows):
    @property
    def pairs(self) -> bool: ...

@final
class ResolveRows(UriRows):
    def __new__(cls, base: bytes) -> ResolveRows: ...

@disjoint_base
class HostsRows(UriRows): ...

@final
class IriToUriRows(HostsRows):
    def __new__(cls, disallowed: DisallowedCharacters = "raise", host: HostInUri = "percent") -> IriToUriRows: ...

@final
class UriToIriRows(HostsRows):
    def __new__(cls, host: HostInIri = "keep") -> UriToIriRows: ...

def record_fields(names: tuple[str, ...]) -> list[bytes]: ...
def run_row(
    name: Literal["check", "jsonl", "csv", "safe csv"], src: Buffer, dst: Buffer, production: str, iri: bool = False
) -> int | tuple[str, int]: ...
