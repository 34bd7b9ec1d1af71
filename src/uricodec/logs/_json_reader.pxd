"""Most lines of JSON logs, read by marks."""
from libc.stdint cimport uint8_t, uint16_t, uint64_t

from uricodec.logs._line cimport *


cdef enum:
    KNOWN = 256             # members that are remembered
    TABLE = 1024            # slots of the table in which they are found, a power of two
    KEY_SIZE = 64           # the longest key that is remembered
    EXPECTED = 32           # bytes after a member that are remembered

# What is done with a value.
cdef enum Use:
    PASSED_OVER
    SET                     # the only member that a field is read from
    CHOSEN                  # one of several, or one that needs more work: see set_value()
    ADDED                   # a field under its own name

# A member of an object; or, with the next number, the inside of the object that is its value. The first one is the
# inside of the line's object.
cdef struct Known:
    uint64_t word[4]        # what followed it last time, up to the value of the next member: at most EXPECTED bytes,
    uint64_t mask[4]        # and which bytes these are
    size_t n
    Known *next             # that member
    Use use
    int slot                # of the field
    int node                # of the tree of paths; 0: no field is in it
    int enters              # if a path goes on in its value: the number of the inside of it; otherwise 0
    int parent              # the number of the inside of the object that has it
    int around              # the same; of the inside of an object, its own number
    uint8_t key[96]         # KEY_SIZE + BLOCK
    size_t key_n
    uint8_t written[128]    # what an extra field has before its value: KEY_SIZE, punctuation, BLOCK
    size_t written_n

cdef struct JsonReader:
    const Writer *writer
    const Variant *variant
    Known *known
    int count               # how many are known
    uint16_t *table
    Marked request          # the marks of the request, which may be undone


cdef int set_json_reader(JsonReader *reader, const Variant *variant, const Writer *w) except -1
cdef void free_json_reader(JsonReader *reader) noexcept
cdef bint read_json_line(JsonReader *reader, Marked *marked, Record *record) noexcept nogil
