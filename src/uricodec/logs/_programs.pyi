from typing import final

from uricodec.logs._formats import Text, W3c
from uricodec.logs._mappings import Json

@final
class Program:
    def __new__(cls, program: Text | Json | W3c, request_needed: bool = True) -> Program: ...
    @property
    def names(self) -> tuple[str, ...]: ...
