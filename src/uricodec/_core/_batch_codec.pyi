from typing_extensions import disjoint_base

from uricodec._core._codec_rows import CodecRows

@disjoint_base
class DecodeRows(CodecRows):
    def __new__(cls, plus: bool, text: bool, framed: bool) -> DecodeRows: ...
