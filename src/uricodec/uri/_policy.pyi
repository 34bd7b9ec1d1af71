from typing import Any, final

from uricodec._rows._engine import RowOperation

@final
class PolicyRows(RowOperation):
    def __new__(cls, policy: Any) -> PolicyRows: ...
