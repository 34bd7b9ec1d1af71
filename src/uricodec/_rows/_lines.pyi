from typing import NamedTuple

from typing_extensions import Buffer

from uricodec._rows._operation import RowOperation
from uricodec.typing import CodecErrors

class LineFault(NamedTuple):
    line: int
    start: int
    code: str
    offset: int

class Lines(NamedTuple):
    written: int
    lines: int | None
    invalid: int
    faults: list[LineFault]

def transform_lines(
    src: Buffer,
    dst: Buffer | None,
    operation: RowOperation,
    terminator: bytes = b"\n",
    errors: CodecErrors = "keep",
    limit: int = 100,
) -> tuple[int, Lines]: ...
