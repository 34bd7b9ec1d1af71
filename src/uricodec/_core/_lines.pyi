from typing import Literal

from typing_extensions import Buffer

from uricodec._core._kernels import ByteSet

NO_CONTROL: ByteSet

def decode_lines(
    src: Buffer,
    dst: Buffer,
    plus: bool = False,
    raw: bool = False,
    errors: Literal["keep", "replace", "raise"] = "keep",
    end: bytes = b"\n",
    free: ByteSet = ...,
) -> int: ...
def encode_lines(src: Buffer, dst: Buffer, safe: ByteSet, plus: bool = False, end: bytes = b"\n") -> int: ...
