from typing import overload

from typing_extensions import Buffer, Self

from uricodec.typing import DisallowedCharacters, HostInIri, HostInUri

@overload
def iri_to_uri(
    iri: str,
    encoding: None = None,
    disallowed: DisallowedCharacters = "raise",
    host: HostInUri = "percent",
    nfc: bool = False,
) -> str: ...
@overload
def iri_to_uri(
    iri: Buffer,
    encoding: str | None = None,
    disallowed: DisallowedCharacters = "raise",
    host: HostInUri = "percent",
    nfc: bool = False,
) -> bytes: ...
@overload
def uri_to_iri(uri: str, host: HostInIri = "keep") -> str: ...
@overload
def uri_to_iri(uri: Buffer, host: HostInIri = "keep") -> bytes: ...

class IriToUriRows:
    def __new__(cls, disallowed: DisallowedCharacters = "raise", host: HostInUri = "percent") -> Self: ...

class UriToIriRows:
    def __new__(cls, host: HostInIri = "keep") -> Self: ...
