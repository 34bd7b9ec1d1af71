"""Fingerprints of bytes, for loops over rows."""
from libc.stdint cimport uint8_t, uint64_t


cdef extern from "simd/fingerprint.h" nogil:
    enum: UC_FINGERPRINT, UC_FINGERPRINT_KEY        # bytes of a fingerprint; bytes of key material

    ctypedef struct Key "uc_fingerprint_key":
        pass

    void make_key "uc_make_fingerprint_key"(Key *key, const uint8_t *material) noexcept
    # Write the fingerprint of src[0 .. n). Inline.
    void fingerprint "uc_fingerprint"(const Key *key, const uint8_t *src, size_t n, uint8_t *dst) noexcept
    # Write the fingerprints of the rows src[starts[i] .. ends[i]), consecutively. `ends` may be starts + 1.
    void fingerprints "uc_fingerprints"(const Key *key, const uint8_t *src, const size_t *starts, const size_t *ends,
                                        size_t rows, uint8_t *dst) noexcept

    # A half of a fingerprint as a little-endian word; the product of two words, whose low half is returned.
    uint64_t load_word "uc_load_word"(const uint8_t *src) noexcept
    void store_word "uc_store_word"(uint64_t word, uint8_t *dst) noexcept
    uint64_t multiply "uc_multiply"(uint64_t x, uint64_t y, uint64_t *high) noexcept


cdef class FingerprintKey:
    cdef Key key
    cdef bytes material     # of the key
    cdef bytes given        # the secret it was derived from; None: random
