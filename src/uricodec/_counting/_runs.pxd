"""Records of sorted runs."""
from libc.stdint cimport uint8_t, uint64_t

from uricodec._base._fingerprint cimport load_word


cdef extern from *:
    """
    #include <stdint.h>
    static inline uint64_t uc_load_big_word(const uint8_t *s) {
        return (uint64_t)s[0] << 56 | (uint64_t)s[1] << 48 | (uint64_t)s[2] << 40 | (uint64_t)s[3] << 32
            | (uint64_t)s[4] << 24 | (uint64_t)s[5] << 16 | (uint64_t)s[6] << 8 | (uint64_t)s[7];
    }
    """
    # Eight bytes as a number, the highest one first: such numbers compare as the bytes do.
    uint64_t load_big_word "uc_load_big_word"(const uint8_t *s) noexcept nogil


cdef inline void store_big_word(uint64_t word, uint8_t *dst) noexcept nogil:
    cdef int i
    for i in range(8):
        dst[i] = <uint8_t>(word >> (56 - 8 * i))


cdef enum:
    KEY = 16            # bytes that a record has at least

cdef inline const uint8_t *record_at(const uint8_t *at, const uint8_t *end, size_t *size) noexcept nogil:
    """Return the record whose size is at `at`; NULL if it does not end before `end`."""
    cdef uint64_t found
    if end - at < 8:
        return NULL
    found = load_word(at)
    if not KEY <= found <= <uint64_t>(end - at - 8):
        return NULL
    size[0] = <size_t>found
    return at + 8
