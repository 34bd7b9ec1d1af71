"""Most lines of JSON logs, read by marks."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from uricodec.logs._fast cimport FastPlan, FastRecord, FastRun, FastTime
from uricodec.logs._fields cimport Entry
from uricodec.logs._programs cimport Plan
from uricodec.logs._texts cimport Writer


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

cdef struct FastJson:
    const Plan *plan
    const Writer *writer
    Known *known
    int count               # how many are known
    uint16_t *table
    int extra[129]          # EXTRAS: which members the extra fields of the line are
    bint writes             # whether records may be written by the plan
    FastPlan writing
    FastTime time


cdef int set_fast_json(FastJson *json, const Plan *plan, const Writer *w, list kept) except -1
cdef void free_fast_json(FastJson *json) noexcept
cdef bint read_fast_json(FastJson *json, FastRun *run, Entry *entry, FastRecord *record) noexcept nogil
cdef bint read_docker(FastRun *run, uint8_t *memory, FastRun *inner, size_t *next) noexcept nogil
cdef bint set_fast_record(FastJson *json, FastRun *request, Entry *entry, FastRecord *record) noexcept nogil
