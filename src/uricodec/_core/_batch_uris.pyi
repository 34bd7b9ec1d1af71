from typing import Literal

from typing_extensions import disjoint_base

from uricodec._core._rows import RowOperation

FIELDS: tuple[str, ...]

@disjoint_base
class SplitReferences(RowOperation):
    def __new__(cls, kind: Literal["uri", "iri"]) -> SplitReferences: ...
