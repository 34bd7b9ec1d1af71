"""Atomic operations for threads that run without the GIL: published words, and flags that one thread holds at a time."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "simd/atomic.h" nogil:
    void *uc_read(void **word) noexcept
    uint16_t uc_read16(const uint16_t *word) noexcept
    uint8_t uc_read8(const uint8_t *word) noexcept
    uint64_t uc_glance64(const uint64_t *word) noexcept     # relaxed: no order with other accesses
    uint32_t uc_glance32(const uint32_t *word) noexcept
    uint8_t uc_glance8(const uint8_t *word) noexcept
    size_t uc_glance_size(const size_t *word) noexcept
    void uc_publish(void **word, void *value) noexcept
    void uc_publish16(uint16_t *word, uint16_t value) noexcept
    void uc_publish8(uint8_t *word, uint8_t value) noexcept
    void uc_put64(uint64_t *word, uint64_t value) noexcept
    void uc_put32(uint32_t *word, uint32_t value) noexcept
    void uc_put8(uint8_t *word, uint8_t value) noexcept
    void uc_put_size(size_t *word, size_t value) noexcept
    bint uc_take(char *flag) noexcept                       # True: the caller now holds the flag
    void uc_give(char *flag) noexcept
