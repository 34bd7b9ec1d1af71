from typing import final

from typing_extensions import disjoint_base

from uricodec._core._rows import RowOperation

@disjoint_base
class UrnRows(RowOperation): ...

@final
class CheckUrnRows(UrnRows):
    def __init__(self, spec: str = "8141") -> None: ...

@final
class NormalizeUrnRows(UrnRows):
    def __init__(self, level: str = "8141", spec: str | None = None) -> None: ...
