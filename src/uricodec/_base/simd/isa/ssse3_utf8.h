/* UTF-8 on SSSE3, a part of ssse3.h: the vocabulary of the templates utf8_scan.h and utf8_code.h. */
#ifndef UC_SSSE3_UTF8_H
#define UC_SSSE3_UTF8_H

V16_INLINE uint8_t ssse3_highest(__m128i v) {
    v = _mm_max_epu8(v, _mm_srli_si128(v, 8));
    v = _mm_max_epu8(v, _mm_srli_si128(v, 4));
    v = _mm_max_epu8(v, _mm_srli_si128(v, 2));
    v = _mm_max_epu8(v, _mm_srli_si128(v, 1));
    return (uint8_t)_mm_cvtsi128_si32(v);
}

/* The leads are the bytes that are above 0xBF without, or below 0x80 with a sign: those > -65. */
V16_INLINE size_t ssse3_leads(__m128i v) {
    __m128i ones = _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8((char)0xBF)), _mm_set1_epi8(1));
    __m128i sums = _mm_sad_epu8(ones, _mm_setzero_si128());
    return (size_t)_mm_cvtsi128_si32(_mm_add_epi32(sums, _mm_srli_si128(sums, 8)));
}

#define V __m128i
#define SIZE 16
#define STEP 4
#define KERNEL V16 static
#define INLINE V16_INLINE
#define NAME(x) ssse3_##x
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define LOAD_PART v16_part
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

V16_INLINE __m128i ssse3_extended(__m128i v) { return _mm_srai_epi32(_mm_slli_epi32(v, 16), 16); }

V16_INLINE void ssse3_store_wide16(uint8_t *dst, __m128i v) {
    _mm_storeu_si128((__m128i *)dst, _mm_unpacklo_epi8(v, _mm_setzero_si128()));
    _mm_storeu_si128((__m128i *)(dst + 16), _mm_unpackhi_epi8(v, _mm_setzero_si128()));
}

V16_INLINE void ssse3_store_wide32(uint8_t *dst, __m128i v) {
    const __m128i zero = _mm_setzero_si128();
    __m128i low = _mm_unpacklo_epi8(v, zero), high = _mm_unpackhi_epi8(v, zero);
    _mm_storeu_si128((__m128i *)dst, _mm_unpacklo_epi16(low, zero));
    _mm_storeu_si128((__m128i *)(dst + 16), _mm_unpackhi_epi16(low, zero));
    _mm_storeu_si128((__m128i *)(dst + 32), _mm_unpacklo_epi16(high, zero));
    _mm_storeu_si128((__m128i *)(dst + 48), _mm_unpackhi_epi16(high, zero));
}

#define V __m128i
#define P __m128i
#define SIZE 16
#define KERNEL V16 static
#define INLINE V16_INLINE
#define NAME(x) ssse3_##x
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define LOAD_PART v16_part
#define LOAD_8(p) _mm_loadl_epi64((const __m128i *)(p))
#define LOAD_ROWS(rows, index, at) LOAD(rows[(index) >> (at) & 255])
#define LOAD_UNITS(p, n, i) ssse3_bytes_at(p, n, i)
#define STORE(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define STORE_16 STORE
#define STORE_8(p, x) _mm_storel_epi64((__m128i *)(p), x)
#define STORE_ASCII STORE
#define STORE_WIDE16 ssse3_store_wide16
#define STORE_WIDE32 ssse3_store_wide32
#define PART(v, k) (v)
#define LAST_8(x) _mm_srli_si128(x, 8)
#define LOW32(x) (uint32_t)_mm_cvtsi128_si32(x)
#define ZERO _mm_setzero_si128()
#define ALL(c) _mm_set1_epi8((char)(c))
#define ALL16(c) _mm_set1_epi16((short)(c))
#define AND _mm_and_si128
#define OR _mm_or_si128
#define ANDNOT _mm_andnot_si128
#define ADD8 _mm_add_epi8
#define SUBTRACT _mm_subs_epu8
#define LOOK_UP _mm_shuffle_epi8
#define LOOK_UP_16 _mm_shuffle_epi8
#define BEFORE(v, last, k) _mm_alignr_epi8(v, last, 16 - (k))
#define LEFT16 _mm_slli_epi16
#define RIGHT16 _mm_srli_epi16
#define RIGHT32 _mm_srli_epi32
#define WITHIN16(v, c) _mm_cmpeq_epi16(_mm_subs_epu16(v, ALL16(c)), ZERO)
#define EQUAL8 _mm_cmpeq_epi8
#define EQUAL16 _mm_cmpeq_epi16
#define FROM(v, c) _mm_cmpeq_epi8(_mm_max_epu8(v, ALL(c)), v)
#define ZIP_LOW8 _mm_unpacklo_epi8
#define ZIP_HIGH8 _mm_unpackhi_epi8
#define ZIP_LOW16 _mm_unpacklo_epi16
#define ZIP_HIGH16 _mm_unpackhi_epi16
#define NARROW16 _mm_packus_epi16
#define NARROW32 _mm_packs_epi32
#define LOW_WORDS(a, b) _mm_packs_epi32(ssse3_extended(a), ssse3_extended(b))
#define CONTINUATIONS(v) _mm_cmplt_epi8(v, ALL(0xC0))
#define MASK(v) (uint32_t)_mm_movemask_epi8(v)
#define COUNT(mask) ((size_t)utf8_counts[(mask) & 255] + utf8_counts[(mask) >> 8])
#include "../utf8_code.h"

#endif
