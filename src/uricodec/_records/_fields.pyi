from typing_extensions import Buffer

from uricodec._records._framing import Framing
from uricodec._rows._tasks import Lines
from uricodec._rows._engine import RowOperation
from uricodec.typing import CodecErrors

def transform_fields(
    src: Buffer,
    dst: Buffer | None,
    operation: RowOperation,
    framing: Framing,
    errors: CodecErrors = "keep",
    limit: int = 100,
) -> tuple[int, Lines]: ...
def reason_of(operation: RowOperation, code: str) -> str: ...
