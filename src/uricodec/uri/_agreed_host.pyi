from collections.abc import Container, Iterable
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from typing_extensions import Buffer

from uricodec.typing import AddressCategory, Ambiguity, HostCategory, WebHostKind, WebScheme

class Host(NamedTuple):
    scheme: WebScheme
    host: str
    port: int
    kind: WebHostKind
    category: HostCategory
    @property
    def is_global(self) -> bool: ...
    def as_url(self) -> str: ...

def address_category(address: str | IPv4Address | IPv6Address) -> AddressCategory: ...
def agreed_host(
    url: str | Buffer,
    *,
    schemes: Iterable[WebScheme] = ("http", "https", "ws", "wss"),
    userinfo: Ambiguity = "raise",
    trailing_dot: Ambiguity = "raise",
    ports: Container[int] | None = None,
) -> Host: ...
