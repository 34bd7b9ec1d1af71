"""Fingerprints of octets, for loops over rows."""
from libc.stdint cimport uint8_t


cdef extern from "simd/fingerprint.h" nogil:
    enum: UC_FINGERPRINT, UC_FINGERPRINT_KEY        # octets of a fingerprint; of what a key is made of

    ctypedef struct Key "uc_fingerprint_key":
        pass

    void make_key "uc_make_fingerprint_key"(Key *key, const uint8_t *octets) noexcept
    # The fingerprint of src[0 .. n), inline.
    void fingerprint "uc_fingerprint"(const Key *key, const uint8_t *src, size_t n, uint8_t *dst) noexcept
    # Those of the rows src[starts[i] .. ends[i]), one behind the other. `ends` may be starts + 1.
    void fingerprints "uc_fingerprints"(const Key *key, const uint8_t *src, const size_t *starts, const size_t *ends,
                                        size_t rows, uint8_t *dst) noexcept


cdef class FingerprintKey:
    cdef Key key
    cdef bytes octets       # what the key is made of
    cdef bytes given        # what it was derived from; None: it is random
