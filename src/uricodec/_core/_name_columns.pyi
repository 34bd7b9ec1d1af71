from typing import Any, Literal, final

from uricodec._core._batch_columns import Column
from uricodec._core._fingerprint import FingerprintKey
from uricodec._core._names import Names
from uricodec._core._rows import RowOperation

@final
class ColumnNames(Names):
    def __init__(
        self, rows: RowOperation, key: FingerprintKey, errors: Literal["keep", "drop", "fail"] = "keep"
    ) -> None: ...
    @property
    def invalid(self) -> int: ...
    null_seen: bool
    def hold(self, column: Any) -> int: ...
    def read(self, first: int) -> int: ...

def mask(marks: bytes) -> Column: ...
def select(column: Any, marks: bytes) -> Column: ...
