from typing import NamedTuple, final

from typing_extensions import Buffer

from uricodec._base._fingerprint import FingerprintKey
from uricodec._rows._engine import RowOperation
from uricodec.typing import CodecErrors

def set_limit_of_offsets(limit: int | None) -> None: ...

@final
class Plan:
    def __new__(
        cls,
        rows: RowOperation,
        kind: str = "text",
        fields: tuple[str, ...] = (),
        key: FingerprintKey | None = None,
    ) -> Plan: ...
    @property
    def rows(self) -> RowOperation: ...
    @property
    def fields(self) -> tuple[str, ...]: ...
    @property
    def result(self) -> str: ...

@final
class Rows: ...

@final
class Job: ...

class LineFault(NamedTuple):
    line: int
    start: int
    stop: int
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
