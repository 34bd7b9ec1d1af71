from collections.abc import Callable, Iterable
from typing import Any, final

from uricodec._rows._tasks import Plan

@final
class ListWork:
    def __new__(
        cls,
        make: Callable[[bool], Plan],
        errors: str,
        limit: int | None,
        missing: Callable[[Any], bool] | None = None,
    ) -> ListWork: ...
    @property
    def count(self) -> int: ...
    @property
    def found(self) -> list[tuple[int, str, int]]: ...
    def run(self, items: Iterable[Any], columns: Callable[[int], Any] | None = None) -> list[Any]: ...

@final
class Batch: ...

@final
class Columns: ...
