/* UTF-8 on AVX2, a part of avx2.h. */
#ifndef UC_AVX2_UTF8_H
#define UC_AVX2_UTF8_H

#include "../utf8_tables.h"

/* --- scan_utf8 ------------------------------------------------------------------------------------------------------ */

AVX2_INLINE uint8_t avx2_highest(__m256i v) {
    __m128i m = _mm_max_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    m = _mm_xor_si128(_mm_max_epu8(m, _mm_srli_epi16(m, 8)), _mm_set1_epi8(-1)); 
    m = _mm_minpos_epu16(_mm_and_si128(m, _mm_set1_epi16(0xff)));
    return (uint8_t)~_mm_cvtsi128_si32(m);
}

/* How scan_utf8 of utf8_scan.h looks here. */
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

/* --- to_utf8, from_utf8 --------------------------------------------------------------------------------------------- */

AVX2_INLINE __m128i load_part16(const uint8_t *p, size_t n) { return _mm256_castsi256_si128(load_part(p, n)); }

#define KERNEL AVX2 static
#define INLINE AVX2_INLINE
#define NAME(x) avx2_##x
#define LOAD_PART load_part16
#include "sse_utf8.h"

#endif
