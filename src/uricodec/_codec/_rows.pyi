from typing import final

from typing_extensions import disjoint_base

from uricodec._base._kernels import ByteSet
from uricodec._codec._charsets import Charset
from uricodec._rows._engine import RowOperation

NO_CONTROL: ByteSet

@disjoint_base
class CodecRows(RowOperation): ...

@final
class DecodeRows(CodecRows):
    def __new__(
        cls,
        plus: bool = False,
        text: bool = True,
        decodable: ByteSet | None = None,
        lossless: bool = True,
        charset: Charset | None = None,
    ) -> DecodeRows: ...

@final
class EncodeRows(CodecRows):
    def __new__(cls, safe: ByteSet, plus: bool = False, text: bool = True) -> EncodeRows: ...

@final
class RequoteRows(CodecRows):
    def __new__(cls, safe: ByteSet, text: bool = True) -> RequoteRows: ...
