from typing import Literal

from typing_extensions import Buffer

from uricodec.uri._components import Fault

def run_row(
    name: Literal["check", "jsonl", "csv", "safe csv"], src: Buffer, dst: Buffer, production: str, iri: bool = False
) -> int | Fault: ...
