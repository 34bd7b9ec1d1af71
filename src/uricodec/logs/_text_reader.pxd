"""Lines of text, read by marks."""
from uricodec._base._kernels cimport uc_classes, uc_set
from uricodec.logs._line cimport *


cdef struct TextReader:
    const Writer *writer
    int variants
    Variant *variant
    bint is_usable          # lines of the first variant can be read by marks
    bint has_stops
    Escapes escapes         # of all variants,
    bint is_mixed           # or they differ: lines with bytes that need care are declined
    Columns *columns        # of W3C, or NULL:
    uint8_t delimiter       # what separates the values of its lines,
    Text *name              # the names of its extra fields,
    Text *key               # and what stands before their values
    uint8_t *keys
    uc_set others           # all bytes but those that end a field, besides quotes, and ends of lines


cdef int set_text_reader(TextReader *reader, Variant *variant, int variants, Columns *columns, const Writer *w) except -1
cdef void free_text_reader(TextReader *reader) noexcept
cdef bint read_text_line(const TextReader *reader, Marked *marked, Record *record) noexcept nogil

cdef bint read_w3c_line(TextReader *reader, Marked *marked, Record *record) noexcept nogil

# What reading of requests in JSON has in common with it.
cdef uc_classes CLASSES
cdef bint split_usual(Text text, const Marked *marked, Record *record) noexcept nogil
cdef bint split_usual_target(size_t start, size_t stop, const Marked *marked, Record *record) noexcept nogil
cdef void read_other_request(Record *record) noexcept nogil
