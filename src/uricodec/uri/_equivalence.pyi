from typing import Any, overload

from typing_extensions import Buffer

from uricodec.typing import PolicyName, ShapeQuery, UriLevel
from uricodec.uri._policies import Policy

@overload
def normalize(
    uri: str, level: UriLevel = "path", *, policy: Policy | PolicyName | None = None, base: str | Buffer | None = None
) -> str: ...
@overload
def normalize(
    uri: Buffer,
    level: UriLevel = "path",
    *,
    policy: Policy | PolicyName | None = None,
    base: str | Buffer | None = None,
) -> bytes: ...
@overload
def shape(uri: str, query: ShapeQuery = "names") -> str: ...
@overload
def shape(uri: Buffer, query: ShapeQuery = "names") -> bytes: ...
@overload
def key(uri: str, level: UriLevel = "path", *, policy: Policy | PolicyName | None = None) -> str: ...
@overload
def key(uri: Buffer, level: UriLevel = "path", *, policy: Policy | PolicyName | None = None) -> bytes: ...
def equivalent(
    a: str | Buffer, b: str | Buffer, level: UriLevel = "path", *, policy: Policy | PolicyName | None = None
) -> bool: ...
def relation(a: str | Buffer, b: str | Buffer, level: UriLevel = "scheme") -> str: ...

RELATIONS: tuple[str, ...]

def __getattr__(name: str) -> Any: ...  # what is private
