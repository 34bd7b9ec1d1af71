from typing_extensions import disjoint_base

from uricodec._core._rows import RowOperation

FIELDS: tuple[str, ...]

@disjoint_base
class UrnRows(RowOperation):
    def __init__(self, task: str, level: str = "8141", spec: str | None = None) -> None: ...
