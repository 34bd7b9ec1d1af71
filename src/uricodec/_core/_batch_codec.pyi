from typing_extensions import disjoint_base

from uricodec._core._kernels import ByteSet
from uricodec._core._rows import RowOperation

@disjoint_base
class DecodeRows(RowOperation):
    def __init__(self, plus: bool, text: bool, framed: bool) -> None: ...

@disjoint_base
class EncodeRows(RowOperation):
    def __init__(
        self,
        safe: ByteSet,
        plus: bool = False,
        triplets: bool = False,
        invalid: str = "keep",
        end: bytes = b"",
    ) -> None: ...
