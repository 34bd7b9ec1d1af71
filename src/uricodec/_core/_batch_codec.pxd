"""Operations of the percent codec on rows."""
from uricodec._core._batch cimport *


cdef block_function codec_block(RowOperation rows)
cdef quick_function codec_quick(RowOperation rows)
cdef size_t expected_size(RowOperation rows, const uint8_t *src, size_t n) noexcept
cdef row_function codec_replacing(RowOperation rows)

# What becomes of a str of which no row is refused, without a look at its rows; None: it has a surrogate.
ctypedef object (*text_function)(str text, const void *options)
cdef text_function codec_text(RowOperation rows)
