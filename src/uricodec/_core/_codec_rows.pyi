from typing import final

from uricodec._core._kernels import ByteSet
from uricodec._core._lines import NO_CONTROL as NO_CONTROL
from uricodec._rows._operation import RowOperation

class CodecRows(RowOperation): ...

@final
class DecodeRows(CodecRows):
    def __new__(
        cls, plus: bool = False, raw: bool = False, errors: str = "keep", free: ByteSet = ...
    ) -> DecodeRows: ...

@final
class EncodeRows(CodecRows):
    def __new__(cls, safe: ByteSet, plus: bool = False, errors: str = "keep", utf8: bool = True) -> EncodeRows: ...

@final
class RequoteRows(CodecRows):
    def __new__(cls, safe: ByteSet, errors: str = "keep", utf8: bool = True) -> RequoteRows: ...
