"""Written by tools/make_stubs.py from the table of operations."""

from os import PathLike
from typing import Any
from typing import overload
from typing_extensions import Buffer
from uricodec.typing import ComponentErrors

__all__ = ['public_suffix', 'registrable_domain']

def __getattr__(name: str) -> Any: ...
@overload
def registrable_domain(uri: str, *, private: bool = False, suffixes: str | PathLike[str] | None = None, bare: bool = False, errors: ComponentErrors = "keep") -> str | None: ...
@overload
def registrable_domain(uri: Buffer, *, private: bool = False, suffixes: str | PathLike[str] | None = None, bare: bool = False, errors: ComponentErrors = "keep") -> bytes | None: ...
@overload
def public_suffix(uri: str, *, private: bool = False, suffixes: str | PathLike[str] | None = None, bare: bool = False, errors: ComponentErrors = "keep") -> str | None: ...
@overload
def public_suffix(uri: Buffer, *, private: bool = False, suffixes: str | PathLike[str] | None = None, bare: bool = False, errors: ComponentErrors = "keep") -> bytes | None: ...
