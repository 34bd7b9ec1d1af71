/* UTF-8 on AVX2: the vocabulary of the templates utf8_scan.h and utf8_code.h. Part of avx2.h, whose helpers it uses. */
#ifndef UC_AVX2_UTF8_H
#define UC_AVX2_UTF8_H

#include "../utf8_tables.h"
#include "ssse3.h"

/* --- scan_utf8 ---------------------------------------------------------------------------------------------------- */

AVX2_INLINE uint8_t avx2_highest(__m256i v) {
    __m128i m = _mm_max_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    /* The least of the complements, a word each. */
    m = _mm_andnot_si128(_mm_max_epu8(m, _mm_srli_epi16(m, 8)), _mm_set1_epi16(0xff));
    return (uint8_t)~_mm_cvtsi128_si32(_mm_minpos_epu16(m));
}

#define V __m256i
#define SIZE 32
#define STEP 2
#define KERNEL AVX2 static
#define INLINE AVX2_INLINE
#define NAME(x) avx2_##x
#define LOAD load32
#define LOAD_PART load_part
#define ZERO _mm256_setzero_si256()
#define ALL(c) _mm256_set1_epi8((char)(c))
#define ROWS(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))
#define AND _mm256_and_si256
#define OR _mm256_or_si256
#define XOR _mm256_xor_si256
#define MAX _mm256_max_epu8
#define SUBTRACT _mm256_subs_epu8
#define LOOK_UP _mm256_shuffle_epi8
#define HIGH_NIBBLES high_nibbles
#define BEFORE(v, last, k) _mm256_alignr_epi8(v, _mm256_permute2x128_si256(last, v, 0x21), 16 - (k))
#define BEYOND_ASCII(v) (mask_of(v) != 0)
#define FAULTS(v) (~mask_of(_mm256_cmpeq_epi8(v, _mm256_setzero_si256())))
#define FIRST(mask) _tzcnt_u32(mask)
#define LEADS(v) bits(mask_of(_mm256_cmpgt_epi8(v, _mm256_set1_epi8((char)0xBF))))
#define HIGHEST avx2_highest
#include "../utf8_scan.h"

/* --- to_utf8, from_utf8 ------------------------------------------------------------------------------------------- */

/* 16 bytes from i on, and from i + 32 on, of n; then zeros. */
AVX2_INLINE __m256i avx2_load_units(const uint8_t *src, size_t n, size_t i) {
    size_t left = n > i ? n - i : 0;
    __m256i high = _mm256_setzero_si256();
    if (left >= 48) return load_two(src + i, src + i + 32);
    if (left > 32) high = load_part(src + i + 32, left & 15);  /* pragma: no cover: cannot happen */
    return _mm256_inserti128_si256(  /* pragma: no cover: cannot happen */
        load_part(src + i, left < 16 ? left : 16), _mm256_castsi256_si128(high), 1);
}

AVX2_INLINE __m256i avx2_low_words(__m256i v) { return _mm256_blend_epi16(v, _mm256_setzero_si256(), 0xAA); }

AVX2_INLINE void avx2_store_wide16(uint8_t *dst, __m256i v) {
    store32(dst, _mm256_cvtepu8_epi16(_mm256_castsi256_si128(v)));
    store32(dst + 32, _mm256_cvtepu8_epi16(_mm256_extracti128_si256(v, 1)));
}

AVX2_INLINE void avx2_store_wide32(uint8_t *dst, __m256i v) {
    __m128i low = _mm256_castsi256_si128(v), high = _mm256_extracti128_si256(v, 1);
    store32(dst, _mm256_cvtepu8_epi32(low));
    store32(dst + 32, _mm256_cvtepu8_epi32(_mm_srli_si128(low, 8)));
    store32(dst + 64, _mm256_cvtepu8_epi32(high));
    store32(dst + 96, _mm256_cvtepu8_epi32(_mm_srli_si128(high, 8)));
}

#define V __m256i
#define P __m128i
#define SIZE 32
#define KERNEL AVX2 static
#define INLINE AVX2_INLINE
#define NAME(x) avx2_##x
#define LOAD load32
#define LOAD_PART load_part
#define LOAD_8(p) _mm_loadl_epi64((const __m128i *)(p))
#define LOAD_ROWS(rows, index, at) load_two(rows[(index) >> (at) & 255], rows[(index) >> ((at) + 16) & 255])
#define LOAD_UNITS avx2_load_units
#define STORE store32
#define STORE_16(p, x) _mm_storeu_si128((__m128i *)(p), x)
#define STORE_8(p, x) _mm_storel_epi64((__m128i *)(p), x)
#define STORE_ASCII(p, v) store32(p, _mm256_permute4x64_epi64(v, 0xD8))
#define STORE_WIDE16 avx2_store_wide16
#define STORE_WIDE32 avx2_store_wide32
#define PART(v, k) ((k) ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v))
#define LAST_8(x) _mm_srli_si128(x, 8)
#define LOW32(x) (uint32_t)_mm_cvtsi128_si32(x)
#define ZERO _mm256_setzero_si256()
#define ALL(c) _mm256_set1_epi8((char)(c))
#define ALL16(c) _mm256_set1_epi16((short)(c))
#define AND _mm256_and_si256
#define OR _mm256_or_si256
#define ANDNOT _mm256_andnot_si256
#define ADD8 _mm256_add_epi8
#define SUBTRACT _mm256_subs_epu8
#define LOOK_UP _mm256_shuffle_epi8
#define LOOK_UP_16 _mm_shuffle_epi8
#define BEFORE(v, last, k) _mm256_alignr_epi8(v, _mm256_permute2x128_si256(last, v, 0x21), 16 - (k))
#define LEFT16 _mm256_slli_epi16
#define RIGHT16 _mm256_srli_epi16
#define RIGHT32 _mm256_srli_epi32
#define WITHIN16(v, c) _mm256_cmpeq_epi16(_mm256_subs_epu16(v, ALL16(c)), ZERO)
#define EQUAL8 _mm256_cmpeq_epi8
#define EQUAL16 _mm256_cmpeq_epi16
#define FROM(v, c) _mm256_cmpeq_epi8(_mm256_max_epu8(v, ALL(c)), v)
#define ZIP_LOW8 _mm256_unpacklo_epi8
#define ZIP_HIGH8 _mm256_unpackhi_epi8
#define ZIP_LOW16 _mm256_unpacklo_epi16
#define ZIP_HIGH16 _mm256_unpackhi_epi16
#define NARROW16 _mm256_packus_epi16
#define NARROW32 _mm256_packs_epi32
#define LOW_WORDS(a, b) _mm256_packus_epi32(avx2_low_words(a), avx2_low_words(b))
#define CONTINUATIONS(v) _mm256_cmpgt_epi8(ALL(0xC0), v)
#define MASK mask_of
#define COUNT bits
#include "../utf8_code.h"

/* A vector is filled so rarely by a few units that half as long ones are faster. */
static size_t avx2_to_utf8_of_any_length(const void *src, size_t n, int width, uint8_t *dst) {
    return n < 32 && width > 1 ? ssse3_to_utf8(src, n, width, dst) : avx2_to_utf8(src, n, width, dst);
}

#endif
