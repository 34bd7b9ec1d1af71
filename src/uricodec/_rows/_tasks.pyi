from typing import final

from uricodec._base._fingerprint import FingerprintKey
from uricodec._rows._operation import RowOperation

def set_limit_of_offsets(limit: int | None) -> None: ...

@final
class Plan:
    def __new__(
        cls,
        rows: RowOperation,
        kind: str = "text",
        fields: tuple[str, ...] = (),
        key: FingerprintKey | None = None,
    ) -> Plan: ...
    @property
    def rows(self) -> RowOperation: ...
    @property
    def fields(self) -> tuple[str, ...]: ...
    @property
    def result(self) -> str: ...

@final
class Rows: ...

@final
class Job: ...
