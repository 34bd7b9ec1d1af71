from typing import Literal, final

from typing_extensions import disjoint_base

from uricodec._core._rows import RowOperation

_Spec = Literal["2141", "8141", "any"]

@disjoint_base
class UrnRows(RowOperation): ...

@final
class CheckUrnRows(UrnRows):
    def __init__(self, spec: _Spec = "8141") -> None: ...

@final
class NormalizeUrnRows(UrnRows):
    def __init__(
        self, level: Literal["bytes", "2141", "8141", "namespace", "functional"] = "8141", spec: _Spec | None = None
    ) -> None: ...
