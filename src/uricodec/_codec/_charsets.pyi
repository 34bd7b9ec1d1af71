from typing import final

from typing_extensions import Buffer

@final
class Charset:
    @property
    def name(self) -> str: ...
    def __new__(cls, name: str) -> Charset: ...
    def decode(self, data: Buffer) -> tuple[bytes, bool]: ...
