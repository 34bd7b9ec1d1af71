/* Differences between compilers and machines: byte order, target attributes, inlining, alignment, prefetching, the
 * lowest bit and the parity. Nothing else has what MSVC does not accept, but atomic.h (atomic operations) and dispatch.c
 * (what the CPU can do); fingerprint.h has integers of 128 bits where there are any. */
#ifndef UC_TARGET_H
#define UC_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(_M_X64)
#define UC_X86_64 1
#endif

#if defined(UC_X86_64) || defined(__i386__) || defined(_M_IX86)
#define UC_X86 1
#endif

#if defined(_MSC_VER) || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define UC_LITTLE_ENDIAN 1
#else
#define UC_LITTLE_ENDIAN 0
#endif

#if (defined(__aarch64__) || defined(_M_ARM64)) && UC_LITTLE_ENDIAN
#define UC_NEON 1
#endif

/* uc_lowest_bit: the number of the lowest bit of a word that is not 0. uc_parity: bit 63 is the parity of a word. */
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define UC_INLINE static __forceinline
#define UC_APART static __declspec(noinline)
#define UC_ALIGNED(size) __declspec(align(size))
#define UC_TARGET(features)
#define UC_PREFETCH(at) ((void)(at))
static __forceinline int uc_lowest_bit(unsigned long long word) {
    unsigned long low;
    if (_BitScanForward(&low, (unsigned long)word)) return (int)low;
    _BitScanForward(&low, (unsigned long)(word >> 32));
    return (int)low + 32;
}
static __forceinline uint64_t uc_parity(uint64_t word) {
    for (int shift = 32; shift; shift /= 2) word ^= word << shift;
    return word >> 63 << 63;
}
#else
#define UC_INLINE static inline __attribute__((always_inline))
#define UC_APART static __attribute__((noinline))
#define UC_ALIGNED(size) __attribute__((aligned(size)))
#define UC_TARGET(features) __attribute__((target(features)))
#define UC_PREFETCH(at) __builtin_prefetch(at)
static inline int uc_lowest_bit(unsigned long long word) { return __builtin_ctzll(word); }
static inline uint64_t uc_parity(uint64_t word) { return (uint64_t)__builtin_parityll(word) << 63; }
#endif

/* The lowest n bits of a word, n <= 64. (The instruction for it is one of 64-bit machines.) */
UC_INLINE uint64_t uc_first_bits(uint64_t word, size_t n) { return n < 64 ? word & ((UINT64_C(1) << n) - 1) : word; }

/* How many bits are set, on any machine. */
static inline uint32_t uc_count_bits(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return (uint32_t)(((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101 >> 56);
}

/* The bits of a bitmap from bit `at` on, lowest first: 57 or more, then zeros. The word after that of `at` may be loaded. */
static inline uint64_t uc_bits_from(const uint64_t *bits, size_t at) {
#if UC_LITTLE_ENDIAN
    uint64_t word;
    memcpy(&word, (const char *)bits + at / 8, 8);
    return word >> at % 8;
#else
    return bits[at / 64] >> at % 64 | bits[at / 64 + 1] << 1 << (63 - at % 64);
#endif
}

#endif
