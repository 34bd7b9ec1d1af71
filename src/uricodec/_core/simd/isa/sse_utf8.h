/* The vocabulary of utf8_code.h on SSSE3, for the tiers that define KERNEL, INLINE, NAME and LOAD_PART: the compiler
 * writes the same operations with three operands where there is AVX. */
#define V __m128i
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define LOAD8(p) _mm_loadl_epi64((const __m128i *)(p))
#define STORE(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define STORE8(p, v) _mm_storel_epi64((__m128i *)(p), v)
#define LOW32(v) (uint32_t)_mm_cvtsi128_si32(v)
#define LAST8(v) _mm_srli_si128(v, 8)
#define ZERO _mm_setzero_si128()
#define ALL(c) _mm_set1_epi8((char)(c))
#define ALL16(c) _mm_set1_epi16((short)(c))
#define ALL32(c) _mm_set1_epi32((int)(c))
#define AND _mm_and_si128
#define OR _mm_or_si128
#define ANDNOT _mm_andnot_si128
#define ADD8 _mm_add_epi8
#define SUBTRACT _mm_subs_epu8
#define LOOK_UP _mm_shuffle_epi8
#define BEFORE(v, last, k) _mm_alignr_epi8(v, last, 16 - (k))
#define LEFT16 _mm_slli_epi16
#define RIGHT16 _mm_srli_epi16
#define LEFT32 _mm_slli_epi32
#define RIGHT32 _mm_srli_epi32
#define WITHIN16(v, c) _mm_cmpeq_epi16(_mm_subs_epu16(v, ALL16(c)), ZERO)
#define WITHIN32(v, c) _mm_cmpgt_epi32(ALL32((c) + 1), v)
#define EQUAL8 _mm_cmpeq_epi8
#define EQUAL16 _mm_cmpeq_epi16
#define EQUAL32 _mm_cmpeq_epi32
#define FROM(v, c) _mm_cmpeq_epi8(_mm_max_epu8(v, ALL(c)), v)
#define ZIP_LOW8 _mm_unpacklo_epi8
#define ZIP_HIGH8 _mm_unpackhi_epi8
#define ZIP_LOW16 _mm_unpacklo_epi16
#define ZIP_HIGH16 _mm_unpackhi_epi16
#define NARROW16 _mm_packus_epi16
#define NARROW32 _mm_packs_epi32
#define CONTINUATIONS(v) _mm_cmplt_epi8(v, ALL(0xC0))
#define MASK(v) (uint32_t)_mm_movemask_epi8(v)
#include "../utf8_code.h"
