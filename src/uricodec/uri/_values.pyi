from collections.abc import Sequence
from os import PathLike
from typing import Literal, final, overload

from typing_extensions import Buffer, disjoint_base

from uricodec._rows._engine import RowOperation
from uricodec.typing import ComponentErrors

@disjoint_base
class ValueRows(RowOperation): ...

@final
class HostRows(ValueRows):
    def __new__(cls, text: bool, checks: bool) -> HostRows: ...

@final
class PortRows(ValueRows):
    def __new__(cls, text: bool, checks: bool) -> PortRows: ...

@final
class QueryRows(ValueRows):
    def __new__(cls, name: str | Sequence[str], text: bool, checks: bool) -> QueryRows: ...

@final
class SuffixTable:
    def __new__(cls, names: dict[bytes, int]) -> SuffixTable: ...

@final
class DomainRows(ValueRows):
    def __new__(cls, table: SuffixTable, registrable: bool, text: bool, checks: bool) -> DomainRows: ...

@final
class SplitLines(ValueRows):
    def __new__(cls, kind: Literal["uri", "iri"]) -> SplitLines: ...

@final
class PairRows(ValueRows):
    def __new__(cls, text: bool, checks: bool) -> PairRows: ...

@final
class SegmentRows(ValueRows):
    def __new__(cls, text: bool, checks: bool) -> SegmentRows: ...

@overload
def host(uri: str, *, errors: ComponentErrors = "keep") -> str | None: ...
@overload
def host(uri: Buffer, *, errors: ComponentErrors = "keep") -> bytes | None: ...
@overload
def port(uri: str, *, errors: ComponentErrors = "keep") -> str | None: ...
@overload
def port(uri: Buffer, *, errors: ComponentErrors = "keep") -> bytes | None: ...
@overload
def query_value(uri: str, name: str, *, errors: ComponentErrors = "keep") -> str | None: ...
@overload
def query_value(uri: Buffer, name: str, *, errors: ComponentErrors = "keep") -> bytes | None: ...
@overload
def query_value(
    uri: str, name: list[str] | tuple[str, ...], *, errors: ComponentErrors = "keep"
) -> dict[str, str | None] | None: ...
@overload
def query_value(
    uri: Buffer, name: list[str] | tuple[str, ...], *, errors: ComponentErrors = "keep"
) -> dict[str, bytes | None] | None: ...
@overload
def query_pairs(uri: str, *, errors: ComponentErrors = "keep") -> list[tuple[str, str]] | None: ...
@overload
def query_pairs(uri: Buffer, *, errors: ComponentErrors = "keep") -> list[tuple[bytes, bytes]] | None: ...
@overload
def path_segments(uri: str, *, errors: ComponentErrors = "keep") -> list[str] | None: ...
@overload
def path_segments(uri: Buffer, *, errors: ComponentErrors = "keep") -> list[bytes] | None: ...
@overload
def registrable_domain(
    uri: str, *, private: bool = False, suffixes: str | PathLike[str] | None = None, errors: ComponentErrors = "keep"
) -> str | None: ...
@overload
def registrable_domain(
    uri: Buffer, *, private: bool = False, suffixes: str | PathLike[str] | None = None, errors: ComponentErrors = "keep"
) -> bytes | None: ...
@overload
def public_suffix(
    uri: str, *, private: bool = False, suffixes: str | PathLike[str] | None = None, errors: ComponentErrors = "keep"
) -> str | None: ...
@overload
def public_suffix(
    uri: Buffer, *, private: bool = False, suffixes: str | PathLike[str] | None = None, errors: ComponentErrors = "keep"
) -> bytes | None: ...
