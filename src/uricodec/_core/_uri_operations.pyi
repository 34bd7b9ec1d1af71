from typing import Literal, final

from typing_extensions import disjoint_base

from uricodec._core._rows import RowOperation

_Kind = Literal["uri", "iri"]

class UriRows(RowOperation): ...

@final
class CheckRows(UriRows):
    def __init__(self, kind: _Kind, rule: str) -> None: ...

@final
class CheckedRows(UriRows):
    def __init__(self, kind: _Kind, rule: str, rows: UriRows) -> None: ...

@final
class SchemeRows(UriRows): ...

@final
class SplitRows(UriRows):
    def __init__(self, kind: _Kind, form: Literal["jsonl", "csv"]) -> None: ...
    @property
    def header(self) -> bytes: ...
    def record(self, code: str, offset: int) -> bytes: ...

@final
class NormalizeRows(UriRows):
    def __init__(self, level: str = "path") -> None: ...

@final
class ResolveRows(UriRows):
    def __init__(self, base: bytes) -> None: ...

@disjoint_base
class HostsRows(UriRows): ...

@final
class IriToUriRows(HostsRows):
    def __init__(
        self, ascii_ext: Literal["error", "encode"] = "error", host: Literal["percent", "idna"] = "percent"
    ) -> None: ...

@final
class UriToIriRows(HostsRows):
    def __init__(self, host: Literal["keep", "unicode"] = "keep") -> None: ...
