"""The kernel table and ByteSet, for loops that use them."""
cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef extern from "simd/kernels.h" nogil:
    const size_t UC_FULL, UC_SURROGATE

    ctypedef struct uc_set:
        uint8_t member[256]
        uint8_t low[16]
        uint8_t high[16]
        uint8_t bits[32]

    ctypedef struct uc_classes:
        uint8_t low[16]
        uint8_t high[16]
        uint8_t mask[4]

    ctypedef struct uc_utf8:
        size_t characters
        uint8_t highest

    ctypedef struct uc_kernels:
        size_t (*span)(const uint8_t *src, size_t n, const uc_set *set) noexcept nogil
        size_t (*count_outside)(const uint8_t *src, size_t n, const uc_set *set) noexcept nogil
        void (*mark_outside)(const uint8_t *src, size_t n, const uc_set *set, uint64_t *bits) noexcept nogil
        void (*mark_classes)(const uint8_t *src, size_t n, const uc_classes *classes, uint64_t *bits) noexcept nogil
        int (*mark_triplets)(const uint8_t *src, size_t n, uint64_t *malformed, uint64_t *digits) noexcept nogil
        int (*move_ends)(const uint64_t *marks, size_t words, const uint32_t *ends, size_t n, uint32_t by, uint32_t *moved,
                         uint32_t *counts) noexcept nogil
        size_t (*encode)(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst, size_t cap) noexcept nogil
        size_t (*decode)(const uint8_t *src, size_t n, int plus, uint8_t *dst, size_t cap) noexcept nogil
        void (*upper_triplets)(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil
        void (*normalize_urns)(const uint8_t *src, size_t n, uint8_t end, uint8_t *dst) noexcept nogil
        size_t (*span_urns)(const uint8_t *src, size_t n, const uc_set *nid, const uc_set *nss, uint8_t end) noexcept nogil
        size_t (*scan_utf8)(const uint8_t *src, size_t n, uc_utf8 *found) noexcept nogil
        size_t (*to_utf8)(const void *src, size_t n, int width, uint8_t *dst) noexcept nogil
        void (*from_utf8)(const uint8_t *src, size_t n, int width, void *dst, size_t characters) noexcept nogil

    ctypedef struct uc_tier:
        const char *name
        uint32_t needs
        const uc_kernels *kernels
        void (*prepare)() noexcept nogil

    const uc_tier *uc_tiers
    const size_t uc_tier_count
    uint32_t uc_cpu_features()


cdef extern from "simd/octets.h" nogil:
    uint8_t lower "uc_lower"(uint8_t c)     # an ASCII letter in lower case, any other byte as it is

cdef extern from "simd/target.h" nogil:
    int uc_lowest_bit(uint64_t word)
    uint32_t bits_of "uc_count_bits"(uint64_t word)     # the number of bits that are set
    uint64_t uc_bits_from(const uint64_t *bits, size_t at)
    void prefetch "UC_PREFETCH"(const void *at)


# The kernels in use. All loops call through this table, so that one assignment changes the tier of all of them.
cdef uc_kernels kernels
cdef bint portable      # whether they are those for any machine


@cython.final
cdef class ByteSet:
    cdef uc_set set
    cdef bint ascii     # no member above 0x7F

# Sets that many grammars build on. bytesets.py has the names of the RFCs for all others.
cdef ByteSet ALPHA, DIGIT, ALPHANUM, HEXDIG
cdef ByteSet SUB_DELIMS, UNRESERVED
cdef ByteSet ALL_BYTES, ASCII_BYTES


# Change a copy of a set.
cdef inline void add_byte(uc_set *set, uint8_t c) noexcept nogil:
    set.member[c] = 1
    set.bits[c >> 3] |= 1 << (c & 7)
    if c < 128:
        set.low[c & 15] |= 1 << (c >> 4)
    else:
        set.high[c & 15] |= 1 << ((c >> 4) - 8)


cdef inline void remove_byte(uc_set *set, uint8_t c) noexcept nogil:
    set.member[c] = 0
    set.bits[c >> 3] &= ~(1 << (c & 7))
    if c < 128:
        set.low[c & 15] &= ~(1 << (c >> 4))
    else:
        set.high[c & 15] &= ~(1 << ((c >> 4) - 8))


cdef inline uint64_t bits_ahead(const uint64_t *words, size_t w, int by) noexcept nogil:
    """Return a word whose bit i is bit i + by of the input. The array has one word more than its last word w."""
    return words[w] >> by | words[w + 1] << (64 - by)


cdef inline uint64_t bits_after(const uint64_t *words, size_t w, int by) noexcept nogil:
    """Return a word whose bit i is bit i - by of the input."""
    return words[w] << by | (words[w - 1] >> (64 - by) if w else 0)


cdef inline size_t next_mark(const uint64_t *marks, size_t i, size_t n) noexcept nogil:
    """Return the first marked byte from i on; n if none is before it."""
    cdef size_t w = i >> 6
    cdef uint64_t word
    if i >= n:
        return n
    word = marks[w] & ~<uint64_t>0 << (i & 63)
    while word == 0:
        w += 1
        if 64 * w >= n:
            return n
        word = marks[w]
    return min(64 * w + <size_t>uc_lowest_bit(word), n)


cdef inline int reraise() except -1:
    """Raise the exception that is set."""
    return -1
