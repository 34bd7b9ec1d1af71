"""Operations of the percent codec on rows."""
from uricodec._core._batch cimport *


cdef block_function codec_block(RowOperation rows)
cdef quick_function codec_quick(RowOperation rows)
cdef size_t expected_size(RowOperation rows, const uint8_t *src, size_t n) noexcept
# What writes a rejected row by the policy; NULL: nothing does.
cdef row_function codec_otherwise(RowOperation rows, Refused policy) except? NULL
# The operation, with room for what the policy writes. If rejected rows are not reported, it may keep them itself.
cdef Operation operation_for(RowOperation rows, Refused policy, bint look) noexcept

# What becomes of a str of which no row is refused, without a look at its rows; None: it has a surrogate.
ctypedef object (*text_function)(str text, const void *options)
cdef text_function codec_text(RowOperation rows, Refused policy, bint look)
# What a rejected str with surrogates decodes to by the policy; None: the operation does not decode, or nothing is written.
cdef object decode_surrogates(RowOperation rows, Refused policy, str text)
