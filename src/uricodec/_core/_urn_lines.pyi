from typing import Literal

from typing_extensions import Buffer

from uricodec._core._kernels import ByteSet
from uricodec._core._row_lines import Lines

_Spec = Literal["2141", "8141", "any"]
_Level = Literal["bytes", "2141", "8141", "namespace"]

TERMINATORS: ByteSet

def normalize_lines(
    src: Buffer,
    dst: Buffer,
    end: bytes = b"\n",
    level: _Level = "8141",
    spec: _Spec | None = None,
    errors: Literal["keep", "null", "drop", "raise", "trust"] = "keep",
    limit: int = 100,
) -> Lines: ...
def check_lines(src: Buffer, end: bytes = b"\n", spec: _Spec = "8141", limit: int = 100) -> Lines: ...
def find(buffer: Buffer, terminators: ByteSet | Buffer | str = ...) -> list[tuple[int, int]]: ...
