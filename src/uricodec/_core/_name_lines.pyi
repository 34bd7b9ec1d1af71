from typing import Literal, final

from typing_extensions import Buffer

from uricodec._core._fingerprint import FingerprintKey
from uricodec._core._names import Names
from uricodec._core._row_lines import Lines
from uricodec._rows._operation import RowOperation

@final
class LineNames(Names):
    def __new__(
        cls,
        rows: RowOperation,
        key: FingerprintKey,
        end: bytes = b"\n",
        errors: Literal["keep", "drop", "raise"] = "keep",
    ) -> LineNames: ...
    def read(self, lines: Buffer, first: int, limit: int = 0) -> Lines: ...
    def find(self, lines: Buffer, first: int) -> None: ...
    def write(self, dst: Buffer) -> int: ...
    def write_counted(self, dst: Buffer, counts: Buffer) -> int: ...
    def room(self) -> int: ...
