from collections.abc import Iterable
from typing import Literal, NamedTuple, final

from typing_extensions import Buffer

from uricodec.typing import LogErrors, LogFormat

FORMATS: tuple[str, ...]
MAX_LINE: int
NAMES: tuple[str, ...]

class LineFault(NamedTuple):
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
    faults: list[LineFault]

@final
class LogReader:
    def __new__(
        cls,
        format: LogFormat,
        to: Literal["jsonl", "csv"] = "jsonl",
        mask: Iterable[str] = (),
        flags: bool = False,
        errors: LogErrors = "keep",
        max_line: int = ...,
        csv_safe: bool = False,
    ) -> LogReader: ...
    @staticmethod
    def room(size: int) -> int: ...
    def begin(self) -> None: ...
    def convert(self, src: Buffer, dst: Buffer) -> Lines: ...
