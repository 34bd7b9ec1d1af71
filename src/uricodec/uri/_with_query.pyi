from collections.abc import Collection, Mapping, Sequence
from typing import Any, overload

from typing_extensions import Buffer

from uricodec.typing import QuerySpace

@overload
def with_query(
    uri: str,
    set: Mapping[str, str | Sequence[str]] | Sequence[tuple[str, str | Sequence[str]]] | str | None = None,
    *,
    drop: Collection[str] | str | None = None,
    keep: Collection[str] | str | None = None,
    space: QuerySpace | None = None,
) -> str: ...
@overload
def with_query(
    uri: Buffer,
    set: Mapping[str, str | Sequence[str]] | Sequence[tuple[str, str | Sequence[str]]] | str | None = None,
    *,
    drop: Collection[str] | str | None = None,
    keep: Collection[str] | str | None = None,
    space: QuerySpace | None = None,
) -> bytes: ...
def __getattr__(name: str) -> Any: ...  # what is private
