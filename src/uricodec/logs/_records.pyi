from collections.abc import Iterable
from typing import Literal, NamedTuple, final

from typing_extensions import Buffer

from uricodec._codec._charsets import Charset
from uricodec.logs._programs import Program

MAX_LINE: int
NAMES: tuple[str, ...]
IMPORTANT: tuple[str, ...]

class RejectedLine(NamedTuple):
    line: int
    start: int
    size: int
    code: str
    offset: int

class Lines(NamedTuple):
    read: int
    written: int
    lines: int
    records: int
    invalid: list[RejectedLine]

@final
class LogReader:
    failed_variant: int
    missing: frozenset[str]
    fast_records: int
    def __new__(
        cls,
        programs: Iterable[Program],
        to: Literal["jsonl", "csv"] = "jsonl",
        *,
        params: Iterable[str] = (),
        client: Literal["peer", "forwarded"] = "peer",
        mask: Iterable[str] = (),
        flags: bool = False,
        encoding: Charset | None = None,
        replace_invalid_utf8: bool = False,
        max_line: int = ...,
        csv_safe: bool = False,
        strict: int = 0,
        fast: bool = True,
    ) -> LogReader: ...
    def capacity_for(self, size: int) -> int: ...
    def begin(self) -> None: ...
    def go_on(self, other: LogReader) -> None: ...
    def skip(self, src: Buffer) -> None: ...
    def convert(self, src: Buffer, dst: Buffer, limit: int = ...) -> Lines: ...
