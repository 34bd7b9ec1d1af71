from typing import final

from typing_extensions import Buffer

@final
class Decoded:
    def __new__(cls, content: str, buffer: Buffer, last: bool) -> Decoded: ...

def find_part(
    content: str, buffer: Buffer, longest: int, last: bool
) -> tuple[list[tuple[int, int]], list[bytes], int]: ...
def copy_urls(
    content: str, src: Buffer, dst: Buffer, prefix: bytes | None = None, before: int = 0
) -> tuple[int, int]: ...
