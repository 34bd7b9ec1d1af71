from typing import Literal, overload

from typing_extensions import Buffer

from uricodec._base._kernels import ByteSet

URI_CHARACTERS: ByteSet

_Safe = ByteSet | str | bytes

def kept_in_rows(safe: _Safe, terminator: bytes) -> ByteSet: ...

_Errors = Literal["raise", "keep", "replace"]

@overload
def percent_encode(data: str, safe: _Safe = ..., plus: bool = False) -> str: ...
@overload
def percent_encode(data: Buffer, safe: _Safe = ..., plus: bool = False) -> bytes: ...
@overload
def percent_decode(data: str, plus: bool = False, errors: _Errors = "keep", encoding: str | None = None) -> str: ...
@overload
def percent_decode(
    data: Buffer, plus: bool = False, errors: _Errors = "keep", encoding: str | None = None
) -> bytes: ...
@overload
def requote(data: str, safe: _Safe = ..., errors: _Errors = "keep") -> str: ...
@overload
def requote(data: Buffer, safe: _Safe = ..., errors: _Errors = "keep") -> bytes: ...
def quote_into(src: Buffer, dst: Buffer, safe: _Safe = "/") -> int: ...
def unquote_into(src: Buffer, dst: Buffer) -> int: ...
