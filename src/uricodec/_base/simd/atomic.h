/* Atomic operations for threads that run without the GIL: words that one thread writes and others read, and flags that
 * one thread holds at a time. Publishing a word and releasing a flag have release semantics, reading the word and
 * taking the flag have acquire semantics: a thread that does the latter sees everything that was written before. */
#ifndef UC_ATOMIC_H
#define UC_ATOMIC_H

#include <stddef.h>
#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)

#include <intrin.h>
#if defined(_M_ARM64)
#define UC_FENCE() __dmb(_ARM64_BARRIER_ISH)
#else
#define UC_FENCE() _ReadWriteBarrier() /* x86 keeps loads, and stores, in order */
#endif
static __forceinline void *uc_read(void *const *word) {
    void *value = *(void *const volatile *)word;
    UC_FENCE();
    return value;
}
static __forceinline uint16_t uc_read16(const uint16_t *word) {
    uint16_t value = *(const volatile uint16_t *)word;
    UC_FENCE();
    return value;
}
static __forceinline uint8_t uc_read8(const uint8_t *word) {
    uint8_t value = *(const volatile uint8_t *)word;
    UC_FENCE();
    return value;
}
static __forceinline uint64_t uc_glance64(const uint64_t *word) { return *(const volatile uint64_t *)word; }
static __forceinline uint32_t uc_glance32(const uint32_t *word) { return *(const volatile uint32_t *)word; }
static __forceinline uint8_t uc_glance8(const uint8_t *word) { return *(const volatile uint8_t *)word; }
static __forceinline void uc_publish(void **word, void *value) {
    UC_FENCE();
    *(void *volatile *)word = value;
}
static __forceinline void uc_publish16(uint16_t *word, uint16_t value) {
    UC_FENCE();
    *(volatile uint16_t *)word = value;
}
static __forceinline void uc_publish8(uint8_t *word, uint8_t value) {
    UC_FENCE();
    *(volatile uint8_t *)word = value;
}
static __forceinline size_t uc_glance_size(const size_t *word) { return *(const volatile size_t *)word; }
static __forceinline void uc_put_size(size_t *word, size_t value) { *(volatile size_t *)word = value; }
static __forceinline void uc_put64(uint64_t *word, uint64_t value) { *(volatile uint64_t *)word = value; }
static __forceinline void uc_put32(uint32_t *word, uint32_t value) { *(volatile uint32_t *)word = value; }
static __forceinline void uc_put8(uint8_t *word, uint8_t value) { *(volatile uint8_t *)word = value; }
static __forceinline int uc_take(char *flag) { return !_InterlockedExchange8(flag, 1); }
static __forceinline void uc_give(char *flag) { (void)_InterlockedExchange8(flag, 0); }

#else

static inline void *uc_read(void *const *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline uint16_t uc_read16(const uint16_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline uint8_t uc_read8(const uint8_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
/* Relaxed: the value, without ordering other accesses. */
#if UINTPTR_MAX > 0xFFFFFFFF
static inline uint64_t uc_glance64(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline void uc_put64(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
#else /* 32 bits: an atomic access to 64 bits may need libatomic, so only each half is atomic */
static inline uint64_t uc_glance64(const uint64_t *word) { return *(const volatile uint64_t *)word; }
static inline void uc_put64(uint64_t *word, uint64_t value) { *(volatile uint64_t *)word = value; }
#endif
static inline uint32_t uc_glance32(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline uint8_t uc_glance8(const uint8_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline void uc_publish(void **word, void *value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static inline void uc_publish16(uint16_t *word, uint16_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static inline void uc_publish8(uint8_t *word, uint8_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static inline size_t uc_glance_size(const size_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline void uc_put_size(size_t *word, size_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
static inline void uc_put32(uint32_t *word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
static inline void uc_put8(uint8_t *word, uint8_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
/* Returns 1 if the flag was free; the caller then holds it. */
static inline int uc_take(char *flag) { return !__atomic_test_and_set(flag, __ATOMIC_ACQUIRE); }
static inline void uc_give(char *flag) { __atomic_clear(flag, __ATOMIC_RELEASE); }

#endif

#endif
