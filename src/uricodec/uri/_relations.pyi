from typing import Any

from typing_extensions import Buffer

from uricodec.typing import UriLevel

RELATIONS: tuple[str, ...]

def relation(a: str | Buffer, b: str | Buffer, level: UriLevel = "scheme") -> str: ...
def __getattr__(name: str) -> Any: ...  # what is private
