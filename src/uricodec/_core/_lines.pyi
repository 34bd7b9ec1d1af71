from typing import Literal

from typing_extensions import Buffer

from uricodec._core._kernels import ByteSet

def decode_lines(
    src: Buffer, dst: Buffer, plus: bool = False, raw: bool = False, errors: Literal["keep", "replace", "fail"] = "keep"
) -> int: ...
def encode_lines(src: Buffer, dst: Buffer, safe: ByteSet, plus: bool = False) -> int: ...
