"""Lines of text, read by marks."""
from uricodec._base._kernels cimport uc_classes, uc_set
from uricodec.logs._line cimport *


cdef struct TextReader:
    const Writer *writer
    int variants
    Variant *variant
    bint is_usable          # lines of the first variant can be read by marks
    bint has_stops
    bint has_hashes         # a "#" may be an escape: lines that have one are declined
    uc_set others           # all bytes but those that end a field, besides quotes, and ends of lines


cdef void set_text_reader(TextReader *reader, Variant *variant, int variants, const Writer *w) noexcept
cdef bint read_text_line(const TextReader *reader, Marked *marked, Record *record) noexcept nogil

# What reading of requests in JSON has in common with it.
cdef uc_classes CLASSES
cdef bint split_usual(Text text, const Marked *marked, Record *record) noexcept nogil
cdef void read_other_request(Record *record) noexcept nogil
