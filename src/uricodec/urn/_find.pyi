from typing_extensions import Buffer

from uricodec._base._kernels import ByteSet

TERMINATORS: ByteSet

def find(buffer: Buffer, terminators: ByteSet | Buffer | str = ...) -> list[tuple[int, int]]: ...
