from typing import Any, overload

from typing_extensions import Buffer

from uricodec.uri._policies import PolicyStep

@overload
def repair(uri: str) -> str: ...
@overload
def repair(uri: Buffer) -> bytes: ...
def explain_repair(uri: str | Buffer) -> list[PolicyStep]: ...
def __getattr__(name: str) -> Any: ...  # what is private
