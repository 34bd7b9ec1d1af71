from collections.abc import Iterator
from typing import final

from typing_extensions import Buffer

from uricodec._base._fingerprint import FingerprintKey
from uricodec.errors import SetError

KINDS: tuple[str, ...]

class TableBuilder:
    @property
    def key(self) -> FingerprintKey: ...
    @property
    def entries(self) -> int: ...
    def finish(self) -> EntryTable: ...

@final
class EntryTable:
    def __new__(
        cls,
        kind: str,
        data: Buffer,
        count: int,
        bits: int,
        depths: int,
        surts: int,
        key: FingerprintKey,
        directory: bytes | None = None,
        place: int = 0,
        size: int | None = None,
        file: object = None,
        start: int = 0,
        name: str = "",
    ) -> EntryTable: ...
    @property
    def kind(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def key(self) -> FingerprintKey: ...
    @property
    def bits(self) -> int: ...
    @property
    def depths(self) -> int: ...
    @property
    def surts(self) -> int: ...
    def damaged(self) -> SetError: ...
    def __iter__(self) -> Iterator[str]: ...
    def verify(self) -> None: ...
    def data(self) -> memoryview: ...

def checksums(data: Buffer, key: FingerprintKey) -> bytes: ...
def aligned(data: Buffer) -> tuple[bytes, int]: ...
