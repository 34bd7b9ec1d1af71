from collections.abc import Collection, Mapping
from typing import final, overload

from typing_extensions import Buffer

__all__ = ["SENSITIVE_NAMES", "redact", "redact_text"]

SENSITIVE_NAMES: Mapping[str, tuple[str, ...]]

@overload
def redact(uri: str, names: str | Collection[str] = "default", nested: bool = True) -> str: ...
@overload
def redact(uri: Buffer, names: str | Collection[str] = "default", nested: bool = True) -> bytes: ...
@overload
def redact_text(text: str, names: str | Collection[str] = "default", nested: bool = True) -> str: ...
@overload
def redact_text(text: Buffer, names: str | Collection[str] = "default", nested: bool = True) -> bytes: ...
def names_in(names: str | Collection[str]) -> list[bytes]: ...

class RedactRows:
    def __new__(
        cls, names: str | Collection[str] = "default", nested: bool = True, bare: bool = False
    ) -> RedactRows: ...

@final
class RedactTextRows(RedactRows):
    def __new__(
        cls, names: str | Collection[str] = "default", nested: bool = True, bare: bool = False
    ) -> RedactTextRows: ...

def redact_lines(lines: Buffer, rows: RedactTextRows) -> memoryview: ...
