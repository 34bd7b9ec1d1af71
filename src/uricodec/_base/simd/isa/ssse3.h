/* The vocabulary of bytes16.h in SSSE3, and its kernels as a tier: what CPUs before AVX2 run. */
#ifndef UC_SSSE3_H
#define UC_SSSE3_H

#include <string.h>
#include <tmmintrin.h>

#include "../kernels.h"
#include "../octets.h"
#include "../part.h"
#include "../target.h"
#include "../urn_grammar.h"
#include "../urns.h"
#include "../utf8_tables.h"

#define V16 UC_TARGET("ssse3")
#define V16_INLINE V16 UC_INLINE

typedef __m128i v16;

V16_INLINE v16 v16_load(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)p); }
V16_INLINE v16 v16_load8(const uint8_t *p) { return _mm_loadl_epi64((const __m128i *)p); }
V16_INLINE void v16_store(uint8_t *p, v16 v) { _mm_storeu_si128((__m128i *)p, v); }
V16_INLINE void v16_store8(uint8_t *p, v16 v) { _mm_storel_epi64((__m128i *)p, v); }
V16_INLINE v16 v16_each(uint8_t byte) { return _mm_set1_epi8((char)byte); }
V16_INLINE v16 v16_words(uint64_t low, uint64_t high) { return _mm_set_epi64x((int64_t)high, (int64_t)low); }

V16_INLINE v16 v16_and(v16 a, v16 b) { return _mm_and_si128(a, b); }
V16_INLINE v16 v16_or(v16 a, v16 b) { return _mm_or_si128(a, b); }
V16_INLINE v16 v16_xor(v16 a, v16 b) { return _mm_xor_si128(a, b); }
V16_INLINE v16 v16_select(v16 mask, v16 a, v16 b) { return _mm_xor_si128(b, _mm_and_si128(mask, _mm_xor_si128(a, b))); }
V16_INLINE v16 v16_add(v16 a, v16 b) { return _mm_add_epi8(a, b); }
V16_INLINE v16 v16_sub(v16 a, v16 b) { return _mm_sub_epi8(a, b); }
V16_INLINE v16 v16_add_saturated(v16 a, v16 b) { return _mm_adds_epu8(a, b); }
V16_INLINE v16 v16_sub_saturated(v16 a, v16 b) { return _mm_subs_epu8(a, b); }
V16_INLINE v16 v16_min(v16 a, v16 b) { return _mm_min_epu8(a, b); }
V16_INLINE v16 v16_equal(v16 a, v16 b) { return _mm_cmpeq_epi8(a, b); }
V16_INLINE v16 v16_high_nibbles(v16 v) { return _mm_and_si128(_mm_srli_epi16(v, 4), _mm_set1_epi8(15)); }
V16_INLINE v16 v16_times16(v16 v) { return _mm_and_si128(_mm_slli_epi16(v, 4), _mm_set1_epi8(-16)); }

V16_INLINE v16 v16_shuffle(v16 table, v16 index) { return _mm_shuffle_epi8(table, index); }
/* Looks up low nibbles: in `low` where the top bit is clear, in `high` where it is set. A shuffle
 * yields 0 for an index with its top bit set, so only one table contributes. */
V16_INLINE v16 v16_low_columns(v16 low, v16 v) { return _mm_shuffle_epi8(low, v); }
V16_INLINE v16 v16_columns(v16 low, v16 high, v16 v) {
    return _mm_or_si128(_mm_shuffle_epi8(low, v), _mm_shuffle_epi8(high, _mm_xor_si128(v, _mm_set1_epi8(-128))));
}

/* Bytes k..15 of a, then bytes 0..k-1 of b. */
#define v16_window(a, b, k) _mm_alignr_epi8(b, a, k)
V16_INLINE v16 v16_zip8_low(v16 a, v16 b) { return _mm_unpacklo_epi8(a, b); }
V16_INLINE v16 v16_zip8_high(v16 a, v16 b) { return _mm_unpackhi_epi8(a, b); }
V16_INLINE v16 v16_zip32_low(v16 a, v16 b) { return _mm_unpacklo_epi32(a, b); }
V16_INLINE v16 v16_zip32_high(v16 a, v16 b) { return _mm_unpackhi_epi32(a, b); }
V16_INLINE v16 v16_zip64_low(v16 a, v16 b) { return _mm_unpacklo_epi64(a, b); }
V16_INLINE v16 v16_zip64_high(v16 a, v16 b) { return _mm_unpackhi_epi64(a, b); }

V16_INLINE uint32_t v16_mask(v16 v) { return (uint32_t)_mm_movemask_epi8(v); }
V16_INLINE uint64_t v16_mask64(v16 a, v16 b, v16 c, v16 d) {
    uint32_t low = v16_mask(a) | v16_mask(b) << 16, high = v16_mask(c) | v16_mask(d) << 16;
    return low | (uint64_t)high << 32;
}
V16_INLINE int v16_any(v16 mask) { return _mm_movemask_epi8(mask) != 0; }
V16_INLINE uint32_t v16_sum(v16 v) {
    v16 halves = _mm_sad_epu8(v, _mm_setzero_si128());
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_unpackhi_epi64(halves, halves)));
}

#include "../bytes16.h"

#include "ssse3_utf8.h"

static const uc_kernels uc_ssse3 = {
    BLOCK_KERNELS(v16),
    .encode = v16_encode,
    .decode = v16_decode,
    .scan_utf8 = ssse3_scan_utf8,
    .to_utf8 = ssse3_to_utf8,
    .from_utf8 = ssse3_from_utf8,
};

#endif
