/* UTF-8 on SSSE3: 16 octets a step. */
#ifndef UC_SSSE3_UTF8_H
#define UC_SSSE3_UTF8_H

#include <string.h>
#include <tmmintrin.h>

#include "../kernels.h"
#include "../target.h"
#include "../utf8_tables.h"

#define SSSE3 UC_TARGET("ssse3")
#define SSSE3_INLINE SSSE3 UC_INLINE

/* The n < 16 octets at p, then zeros: loads that overlap, but stay inside them. */
SSSE3_INLINE __m128i ssse3_utf8_part(const uint8_t *p, size_t n) {
    uint64_t first = 0, last = 0;
    if (n > 8) {
        memcpy(&first, p, 8), memcpy(&last, p + n - 8, 8);
        last >>= 8 * (16 - n);
    } else if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, p, 4), memcpy(&high, p + n - 4, 4);
        first = low | (uint64_t)high << 8 * (n - 4);
    } else if (n) {
        first = p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
    }
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)&first), _mm_loadl_epi64((const __m128i *)&last));
}

SSSE3_INLINE uint8_t ssse3_highest(__m128i v) {
    v = _mm_max_epu8(v, _mm_srli_si128(v, 8));
    v = _mm_max_epu8(v, _mm_srli_si128(v, 4));
    v = _mm_max_epu8(v, _mm_srli_si128(v, 2));
    v = _mm_max_epu8(v, _mm_srli_si128(v, 1));
    return (uint8_t)_mm_cvtsi128_si32(v);
}

/* The leads are the octets that are above 0xBF without, or below 0x80 with a sign: those > -65. */
SSSE3_INLINE size_t ssse3_leads(__m128i v) {
    __m128i ones = _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8((char)0xBF)), _mm_set1_epi8(1));
    __m128i sums = _mm_sad_epu8(ones, _mm_setzero_si128());
    return (size_t)_mm_cvtsi128_si32(_mm_add_epi32(sums, _mm_srli_si128(sums, 8)));
}

#define V __m128i
#define SIZE 16
#define STEP 4
#define KERNEL SSSE3 static
#define INLINE SSSE3_INLINE
#define NAME(x) ssse3_##x
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define LOAD_PART ssse3_utf8_part
#define ZERO _mm_setzero_si128()
#define ALL(c) _mm_set1_epi8((char)(c))
#define ROWS _mm_setr_epi8
#define AND _mm_and_si128
#define OR _mm_or_si128
#define XOR _mm_xor_si128
#define MAX _mm_max_epu8
#define SUBTRACT _mm_subs_epu8
#define LOOK_UP _mm_shuffle_epi8
#define HIGH_NIBBLES(v) _mm_and_si128(_mm_srli_epi16(v, 4), _mm_set1_epi8(15))
#define BEFORE(v, last, k) _mm_alignr_epi8(v, last, 16 - (k))
#define BEYOND_ASCII(v) (_mm_movemask_epi8(v) != 0)
#define FAULTS(v) (0xFFFF & ~_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())))
#define FIRST(mask) (size_t)uc_lowest_bit((unsigned)(mask))
#define LEADS ssse3_leads
#define HIGHEST ssse3_highest
#include "../utf8_scan.h"

#define KERNEL SSSE3 static
#define INLINE SSSE3_INLINE
#define NAME(x) ssse3_##x
#define LOAD_PART ssse3_utf8_part
#include "sse_utf8.h"

#undef SSSE3
#undef SSSE3_INLINE
#endif
