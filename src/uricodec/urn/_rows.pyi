from typing import final

from typing_extensions import disjoint_base

from uricodec._rows._engine import RowOperation
from uricodec.typing import UrnRfc

FIELDS: tuple[str, ...]

@disjoint_base
class UrnRows(RowOperation): ...

@final
class CheckUrnRows(UrnRows):
    def __new__(cls, rfc: UrnRfc = "8141") -> CheckUrnRows: ...

@final
class NormalizeUrnRows(UrnRows):
    def __new__(cls, level: str = "8141", rfc: UrnRfc | None = None) -> NormalizeUrnRows: ...

@final
class NidRows(UrnRows):
    def __new__(cls, rfc: UrnRfc = "8141") -> NidRows: ...

@final
class SplitUrns(UrnRows):
    def __new__(cls, rfc: UrnRfc = "8141") -> SplitUrns: ...
