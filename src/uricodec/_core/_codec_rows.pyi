from typing import Literal, final

from uricodec._core._kernels import ByteSet
from uricodec._core._lines import NO_CONTROL as NO_CONTROL
from uricodec._core._rows import RowOperation

_Errors = Literal["keep", "replace", "fail"]

class CodecRows(RowOperation): ...

@final
class DecodeRows(CodecRows):
    def __init__(
        self, plus: bool = False, raw: bool = False, errors: _Errors = "keep", free: ByteSet = ...
    ) -> None: ...

@final
class EncodeRows(CodecRows):
    def __init__(self, safe: ByteSet, plus: bool = False, errors: _Errors = "keep") -> None: ...

@final
class RequoteRows(CodecRows):
    def __init__(self, safe: ByteSet, errors: _Errors = "keep") -> None: ...
