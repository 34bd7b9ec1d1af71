from typing import Literal, overload

from typing_extensions import Buffer

@overload
def iri_to_uri(
    iri: str,
    encoding: None = None,
    disallowed: Literal["raise", "encode"] = "raise",
    host: Literal["percent", "idna"] = "percent",
    written: bool = False,
) -> str: ...
@overload
def iri_to_uri(
    iri: Buffer,
    encoding: str | None = None,
    disallowed: Literal["raise", "encode"] = "raise",
    host: Literal["percent", "idna"] = "percent",
    written: bool = False,
) -> bytes: ...
@overload
def uri_to_iri(uri: str, host: Literal["keep", "unicode"] = "keep") -> str: ...
@overload
def uri_to_iri(uri: Buffer, host: Literal["keep", "unicode"] = "keep") -> bytes: ...
