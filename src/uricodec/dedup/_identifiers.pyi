from typing import Any, final

from typing_extensions import Buffer, disjoint_base

from uricodec._base._fingerprint import FingerprintKey
from uricodec.dedup._table import IdentifierBatch
from uricodec._records._framing import Framing
from uricodec._rows._columns import Column
from uricodec._rows._tasks import Lines
from uricodec._rows._engine import RowOperation
from uricodec.typing import DedupErrors

@disjoint_base
class Identifiers(IdentifierBatch):
    def __new__(cls, operation: RowOperation, key: FingerprintKey, *_args: Any, **_kwargs: Any) -> Identifiers: ...
    @property
    def operation(self) -> RowOperation: ...

@final
class LineBatch(Identifiers):
    def __new__(
        cls,
        operation: RowOperation,
        key: FingerprintKey,
        terminator: bytes = b"\n",
        errors: DedupErrors = "keep",
        forms: bool = True,
    ) -> LineBatch: ...
    def read(self, lines: Buffer, first: int, limit: int = 0, framing: Framing | None = None) -> Lines: ...
    def find(self, lines: Buffer, first: int, framing: Framing | None = None) -> None: ...
    @property
    def selects(self) -> bool: ...
    def text(self, row: int) -> bytes: ...
    def write(self, dst: Buffer, counts: Buffer | None = None) -> int: ...
    def capacity(self) -> int: ...

@final
class ColumnBatch(Identifiers):
    def __new__(
        cls,
        operation: RowOperation,
        key: FingerprintKey,
        errors: DedupErrors = "keep",
        forms: bool = True,
    ) -> ColumnBatch: ...
    @property
    def invalid(self) -> int: ...
    null_seen: bool
    def hold(self, column: Any) -> int: ...
    def read(self, first: int) -> int: ...

def borrow(column: Any) -> Column: ...
def mask(marks: bytes) -> Column: ...
def select(column: Any, marks: bytes) -> Any: ...
