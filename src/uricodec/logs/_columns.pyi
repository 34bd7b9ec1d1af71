from typing_extensions import Buffer

from uricodec.logs._records import Lines, LogReader

def convert_columns(
    reader: LogReader, src: Buffer, limit: int = ...
) -> tuple[Lines, list[tuple[int, bytes, bytes, bytes]]]: ...
