from collections.abc import Sequence
from typing import final

from typing_extensions import Buffer, disjoint_base

@disjoint_base
class Names:
    first: int
    @property
    def new(self) -> int: ...
    @property
    def later(self) -> int: ...
    @property
    def marks(self) -> bytes: ...
    @property
    def fingerprints(self) -> bytes: ...
    def __len__(self) -> int: ...

@final
class FingerprintNames(Names):
    def __new__(
        cls,
        fingerprints: Buffer,
        forms: Sequence[bytes] | None = None,
        first: int = 0,
        numbers: Sequence[int] | None = None,
        marks: bytes | None = None,
    ) -> FingerprintNames: ...
