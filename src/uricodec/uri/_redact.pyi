from collections.abc import Collection, Mapping
from typing import final, overload

from typing_extensions import Buffer

__all__ = ["SENSITIVE_NAMES", "redact", "redact_text"]

SENSITIVE_NAMES: Mapping[str, tuple[str, ...]]

@overload
def redact(
    uri: str, names: str | Collection[str] = "default", nested: bool = True, paths: str | Collection[str] = ()
) -> str: ...
@overload
def redact(
    uri: Buffer, names: str | Collection[str] = "default", nested: bool = True, paths: str | Collection[str] = ()
) -> bytes: ...
@overload
def redact_text(
    text: str, names: str | Collection[str] = "default", nested: bool = True, paths: str | Collection[str] = ()
) -> str: ...
@overload
def redact_text(
    text: Buffer, names: str | Collection[str] = "default", nested: bool = True, paths: str | Collection[str] = ()
) -> bytes: ...
def names_in(names: str | Collection[str]) -> list[bytes]: ...
def paths_in(paths: str | Collection[str]) -> tuple[list[tuple[bytes, ...]], bool]: ...

class RedactRows:
    def __new__(
        cls,
        names: str | Collection[str] = "default",
        nested: bool = True,
        paths: str | Collection[str] = (),
        bare: bool = False,
        watched: str | Collection[str] = (),
    ) -> RedactRows: ...
    @property
    def has_seen(self) -> bool: ...

@final
class RedactTextRows(RedactRows):
    def __new__(
        cls,
        names: str | Collection[str] = "default",
        nested: bool = True,
        paths: str | Collection[str] = (),
        bare: bool = False,
        watched: str | Collection[str] = (),
    ) -> RedactTextRows: ...

def redact_lines(lines: Buffer, rows: RedactTextRows) -> memoryview: ...
