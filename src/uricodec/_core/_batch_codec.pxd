"""Operations of the percent codec on rows."""
from uricodec._core._batch cimport *


cdef block_function codec_block(RowOperation rows)
cdef row_function codec_replacing(RowOperation rows)
