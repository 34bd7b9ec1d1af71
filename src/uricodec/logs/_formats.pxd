"""The formats of logs: the parser of a line, which fills an Entry."""
from libc.stdint cimport uint8_t

from uricodec.logs._fields cimport Entry


cdef enum Format:
    COMBINED, COMMON, NGINX_JSON, CLOUDFRONT, IIS, ALB


# The member of each column, from "#Fields:".
cdef enum:
    COLUMNS = 128
cdef struct Layout:
    size_t columns
    uint8_t member[128]     # COLUMNS
    bint announced          # whether this log has a "#Fields:" line


cdef enum Line:
    NO_RECORD, RECORD, DIRECTIVE


cdef void default_layout(Format format, Layout *layout) noexcept nogil
cdef Line read_line(Format format, Layout *layout, const uint8_t *s, size_t n, Entry *entry) noexcept nogil
