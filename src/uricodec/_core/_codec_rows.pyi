from typing import final

from uricodec._core._kernels import ByteSet
from uricodec._core._lines import NO_CONTROL as NO_CONTROL
from uricodec._core._rows import RowOperation

class CodecRows(RowOperation): ...

@final
class DecodeRows(CodecRows):
    def __init__(self, plus: bool = False, raw: bool = False, errors: str = "keep", free: ByteSet = ...) -> None: ...

@final
class EncodeRows(CodecRows):
    def __init__(self, safe: ByteSet, plus: bool = False, errors: str = "keep", utf8: bool = True) -> None: ...

@final
class RequoteRows(CodecRows):
    def __init__(self, safe: ByteSet, errors: str = "keep", utf8: bool = True) -> None: ...
