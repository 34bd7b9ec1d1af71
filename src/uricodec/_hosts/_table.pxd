"""A hash table of texts, which may be saved: what loops over hosts and prefixes need of it."""
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

from uricodec._base._atomic cimport uc_read8
from uricodec._base._fingerprint cimport FingerprintKey, Key, load_word, multiply
from uricodec._base._text cimport copy_text
from uricodec._rows._arrow cimport Buffer


cdef extern from *:
    """
    #define UC_PRIME (((uint64_t)1 << 61) - 1)
    #define UC_PLACE (((uint64_t)1 << 40) - 1)
    #define UC_TAG (((uint64_t)1 << 24) - 1)
    #define UC_MARK ((uint64_t)1 << 56)
    #define UC_EACH ((uint64_t)0x0101010101010101)
    #define UC_FIRST ((uint64_t)0xFF51AFD7ED558CCD)
    #define UC_SECOND ((uint64_t)0xC4CEB9FE1A85EC53)
    """
    const uint64_t PRIME "UC_PRIME", PLACE "UC_PLACE", TAG "UC_TAG", MARK "UC_MARK"
    const uint64_t EACH "UC_EACH"       # each byte of a word
    const uint64_t FIRST "UC_FIRST", SECOND "UC_SECOND"         # those of MurmurHash3

cdef enum:
    LINE = 64                   # bytes of a cache line
    SLOTS = 8                   # in a line
    LINE_BITS = 3
    SLOT = 8                    # bytes of a slot: 40 bits say where the entry is, and 24 are of its hash
    HEAD = 2                    # bytes of the size before each entry
    CHECKED = 4096              # bytes of data that have one checksum
    DEPTHS = 63                 # numbers of labels or segments that are told apart
    AHEAD = 32                  # rows whose slots are prefetched

# What a set is of.
cdef enum Kind:
    HOSTS, PREFIXES


cdef struct Table:
    Kind kind
    const uint8_t *slots
    const uint8_t *text         # after the slots
    uint64_t text_size
    int bits                    # 2 ** bits slots
    uint64_t point              # where polynomials are evaluated: the secret
    uint64_t depths             # bit min(d, DEPTHS): some entries have d labels, or segments
    uint64_t surts              # the same for entries that are SURTs
    uint8_t *sound              # which blocks of a file were checked; NULL: all of them
    int number                  # the descriptor of the file that blocks are read from; -1: it is mapped
    uint64_t place              # where the data are in it
    char *storing               # whether a thread writes a block
    const uint8_t *directory    # the checksums
    const Key *key
    const char *name            # the file, as messages show it


# What an entry is found by: the hash, and the number of its labels or segments.
cdef struct EntryKey:
    uint64_t hash
    size_t depth
    bint is_surt


cdef enum Found:
    ABSENT, PRESENT, DAMAGED, RAISED


# An entry in a table.
cdef struct Entry:
    const uint8_t *text
    size_t size


# --- hashes -----------------------------------------------------------------------------------------------------------

cdef inline uint64_t step(uint64_t hash, uint64_t word, uint64_t point) noexcept nogil:
    """Return hash * point + word modulo 2^61 - 1; the result may be a little more."""
    cdef uint64_t high, low = multiply(hash, point, &high)
    cdef uint64_t sum = (low & PRIME) + (low >> 61 | high << 3) + word
    return (sum & PRIME) + (sum >> 61)


cdef inline uint64_t absorb(uint64_t hash, const uint8_t *s, size_t n, uint64_t point) noexcept nogil:
    """Return the hash with one more piece. The eight bytes from the last byte on are readable."""
    cdef uint64_t mark = MARK
    while n > 7:
        hash = step(hash, load_word(s) & MARK - 1 | mark, point)
        mark = 0
        s += 7
        n -= 7
    return step(hash, (load_word(s) & (<uint64_t>1 << 8 * n) - 1 if n else 0) | mark, point)


cdef inline uint64_t mixed(uint64_t hash) noexcept nogil:
    hash ^= hash >> 33
    hash *= FIRST
    hash ^= hash >> 33
    hash *= SECOND
    return hash ^ hash >> 33


# --- looking up -------------------------------------------------------------------------------------------------------

# Look for an entry, given its hash.
cdef Found find(const Table *table, uint64_t hash, const uint8_t *text, size_t n, Entry *entry) noexcept nogil

# Return whether a block of the file is as it was written. It is read, unless the file is mapped.
cdef bint check_block(const Table *table, uint64_t block) noexcept nogil

# Set the exception for a lookup that failed, unless there is one.
cdef void raise_found(const Table *table, Found found) noexcept with gil


cdef inline bint is_sound(const Table *table, const uint8_t *at, size_t n) noexcept nogil:
    """Return whether n >= 1 bytes of data are as they were written."""
    cdef uint64_t block, last
    if table.sound == NULL:
        return True
    block, last = <uint64_t>(at - table.slots) // CHECKED, <uint64_t>(at - table.slots + n - 1) // CHECKED
    while block <= last:
        if not uc_read8(table.sound + block) and not check_block(table, block):
            return False
        block += 1
    return True


cdef inline size_t entry_size(const uint8_t *at) noexcept nogil:
    return <size_t>at[0] | <size_t>at[1] << 8


cdef inline const uint8_t *line_of(const Table *table, uint64_t hash) noexcept nogil:
    """Return the first slot that an entry may be in: they are searched from the start of a cache line."""
    return table.slots + LINE * (hash >> (64 + LINE_BITS - table.bits))


cdef inline Found compare(const Table *table, uint64_t at, const uint8_t *text, size_t n, Entry *entry) noexcept nogil:
    """Compare an entry with text."""
    cdef const uint8_t *found
    cdef size_t size
    if at + HEAD > table.text_size or not is_sound(table, table.text + at, HEAD):
        return DAMAGED
    found = table.text + at + HEAD
    size = entry_size(found - HEAD)
    if at + HEAD + size > table.text_size:
        return DAMAGED
    if size != n or n == 0:
        return ABSENT
    if not is_sound(table, found, n):
        return DAMAGED
    if memcmp(found, text, n) != 0:
        return ABSENT
    entry.text, entry.size = found, n
    return PRESENT


# --- texts of labels --------------------------------------------------------------------------------------------------

cdef inline uint64_t lower_word(uint64_t word) noexcept nogil:
    """Return 8 bytes with A to Z in lower case."""
    cdef uint64_t low = word & 0x7F * EACH
    # The high bit of a byte is set if it is at least "A", and not if it is above "Z".
    return word | ((low + (0x80 - 65) * EACH) & ~(low + (0x80 - 91) * EACH) & ~word & 0x80 * EACH) >> 2


cdef inline void copy_lower(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Copy text with ASCII in lower case. Up to 8 bytes more are written."""
    cdef uint64_t word
    cdef size_t i = 0
    copy_text(dst, s, n)
    while i < n:
        memcpy(&word, dst + i, 8)
        word = lower_word(word)
        memcpy(dst + i, &word, 8)
        i += 8


cdef inline size_t label_start(const uint8_t *host, size_t end) noexcept nogil:
    """Return where the label that ends before `end` starts."""
    while end and host[end - 1] != c'.':
        end -= 1
    return end


cdef inline size_t absorb_label(const uint8_t *host, size_t end, uint64_t point, uint64_t *hash) noexcept nogil:
    """Add the label that ends before `end` to the hash of what follows it. Return where it starts: 0 for an address."""
    cdef size_t start = 0 if host[0] == c'[' else label_start(host, end)
    hash[0] = absorb(hash[0], host + start, end - start, point)
    return start


# Return the hash of a host, n > 0, and the number of its labels.
cdef uint64_t whole_host(const uint8_t *host, size_t n, uint64_t point, size_t *labels) noexcept nogil


# --- objects ----------------------------------------------------------------------------------------------------------

cdef inline uint64_t depth_bit(size_t depth) noexcept nogil:
    """Return the bit for a number of labels or segments, in Table.depths."""
    return <uint64_t>1 << min(depth, <size_t>DEPTHS)


cdef class EntryTable:
    cdef Table table
    cdef readonly str kind
    cdef readonly uint64_t count
    cdef readonly FingerprintKey key
    cdef bytes directory
    cdef Py_buffer view
    cdef bint viewed
    cdef size_t size            # of the data
    cdef object file            # kept open
    cdef bytes name             # of the file, as messages show it
    cdef char storing

    # Raise what a lookup that failed has found.
    cdef int check(self, Found found) except -1


cdef class TableBuilder:
    cdef readonly FingerprintKey key
    cdef Table table            # only its kind, point and depths are used
    cdef Buffer text            # a byte, then the entries as in a Table
    cdef Buffer items           # for each its hash, and where it is in the text
    cdef size_t most            # bytes of both after which they are looked through
    cdef readonly uint64_t entries

    # Set what entries are.
    cdef int begin(self, str kind, FingerprintKey key) except -1

    # Add an entry in its normal form. False: an exception is set.
    cdef bint put(self, const uint8_t *s, size_t n, const EntryKey *key) noexcept nogil

    cdef bint compact(self) noexcept nogil
    cdef void size_for(self, Table *table, size_t items) noexcept nogil
    cdef uint64_t fill(self, Table *table, size_t items) noexcept nogil
