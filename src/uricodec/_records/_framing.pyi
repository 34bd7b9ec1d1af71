from collections.abc import Iterable
from typing import Literal, final

from typing_extensions import Buffer

@final
class Framing:
    def __new__(
        cls,
        form: Literal["lines", "delimited", "csv", "json"],
        end: bytes = b"\n",
        delimiter: bytes = b"\t",
        fields: Iterable[tuple[int, int | None]] = ((1, None),),
        names: Iterable[bytes] = (),
        only: bool = False,
        free: bool = False,
        jsonl: bool = False,
        after: bool = False,
        base: int = 0,
    ) -> Framing: ...
    @property
    def end(self) -> bytes: ...
    @property
    def missing(self) -> tuple[bytes, ...]: ...
    @property
    def beyond(self) -> tuple[tuple[int, int | None], ...]: ...
    @property
    def undivided(self) -> bool: ...
    @property
    def unclosed(self) -> bool: ...
    def cut(self, buffer: bytes | bytearray, start: int, stop: int) -> int: ...
    def skip(self, buffer: bytes | bytearray, start: int, stop: int, state: int) -> tuple[int, int]: ...
    def first(self, buffer: Buffer, stop: int) -> tuple[list[bytes], int]: ...
