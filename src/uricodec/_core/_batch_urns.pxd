"""Operations on rows of URNs."""
from uricodec._core._batch cimport *

cdef block_function urn_block(RowOperation rows, Kind kind)
cdef quick_function urn_quick(RowOperation rows)
