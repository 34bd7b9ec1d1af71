/* The kernels on AVX2. What all of them use is here; they are in avx2_encode.h and avx2_decode.h, and in avx2_blocks.h
 * and avx2_utf8.h, which have the words of the templates.
 *
 * Classify. A set of bytes is a 16 x 16 bit matrix, indexed by the two nibbles of a byte. One byte shuffle looks up
 * the column of the low nibble (rows 0-7 and 8-15 are in two tables; a shuffle yields 0 for an index with its top bit
 * set, so only one of them contributes), another turns the high nibble into the bit of its row. The cost does not
 * depend on the set, except that the second table is not needed without bytes from 0x80 on.
 *
 * Bounds. The last block of the input is loaded in parts. Blocks whose wide stores might cross the end of the output
 * are written to a buffer on the stack by the same code, and then exactly the bytes produced are copied.
 */
#ifndef UC_AVX2_H
#define UC_AVX2_H

#include <immintrin.h>
#include <string.h>

#include "../kernels.h"
#include "../octets.h"
#include "../part.h"
#include "../target.h"
#include "../urn_grammar.h"
#include "../urns.h"
#include "../utf8_tables.h"

#define AVX2 UC_TARGET("avx2,bmi,bmi2,popcnt")
#define AVX2_INLINE AVX2 UC_INLINE

/* The same 16 bytes in both halves: shuffles work within halves. */
#define BOTH(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

AVX2_INLINE __m256i load32(const uint8_t *p) { return _mm256_loadu_si256((const __m256i *)p); }

/* 16 bytes and 16 others. */
AVX2_INLINE __m256i load_two(const uint8_t *first, const uint8_t *second) {
    __m128i low = _mm_loadu_si128((const __m128i *)first), high = _mm_loadu_si128((const __m128i *)second);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

AVX2_INLINE void store32(uint8_t *p, __m256i v) { _mm256_storeu_si256((__m256i *)p, v); }
AVX2_INLINE uint32_t mask_of(__m256i v) { return (uint32_t)_mm256_movemask_epi8(v); }
AVX2_INLINE size_t bits(uint32_t mask) { return (size_t)(uint32_t)_mm_popcnt_u32(mask); }
AVX2_INLINE uint32_t bits64(uint64_t mask) {
#if UC_X86_64
    return (uint32_t)_mm_popcnt_u64(mask);
#else
    return (uint32_t)(_mm_popcnt_u32((uint32_t)mask) + _mm_popcnt_u32((uint32_t)(mask >> 32)));
#endif
}
AVX2_INLINE uint32_t first_bits(size_t n) { return _bzhi_u32(0xffffffffu, (uint32_t)n); } /* n <= 32 */
AVX2_INLINE uint64_t mask64(__m256i first, __m256i last) { return mask_of(first) | (uint64_t)mask_of(last) << 32; }

/* The number of the lowest bit; 64 if there is none. */
AVX2_INLINE size_t lowest64(uint64_t mask) {
#if UC_X86_64
    return (size_t)_tzcnt_u64(mask);
#else
    return (uint32_t)mask ? _tzcnt_u32((uint32_t)mask) : 32 + _tzcnt_u32((uint32_t)(mask >> 32));
#endif
}

/* The last n <= 16 of the 16 bytes before `end`, then zeros. They are shifted in a register (through memory the wide
 * load would wait for the narrow stores). */
AVX2_INLINE __m128i load_last(const uint8_t *end, size_t n) {
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(end - 16)),
                            _mm_loadu_si128((const __m128i *)(uc_shift + 16 - n)));
}

/* The bytes of src from i on, 32 at most, then zeros. */
AVX2_INLINE __m256i load_rest(const uint8_t *src, size_t n, size_t i) {
    const uint8_t *p = src + i;
    uint64_t low, high;
    if (n - i >= 32) return load32(p);
    if (n - i >= 16) {
        __m128i first = _mm_loadu_si128((const __m128i *)p);
        return _mm256_inserti128_si256(_mm256_castsi128_si256(first), load_last(src + n, n - i - 16), 1);
    }
    if (n >= 16) return _mm256_zextsi128_si256(load_last(src + n, n - i));
    uc_load_part(p, n - i, &low, &high);
    return _mm256_zextsi128_si256(_mm_set_epi64x((int64_t)high, (int64_t)low));
}

/* The first 32 of the n bytes at p, then zeros. */
AVX2_INLINE __m256i load_part(const uint8_t *p, size_t n) { return load_rest(p, n, 0); }

/* A byte 32 times. It is read from a variable, because compilers build a constant anew in every block. */
static uint8_t avx2_byte[256];
AVX2_INLINE __m256i fill(int byte) { return _mm256_set1_epi8((char)avx2_byte[byte]); }

AVX2_INLINE __m256i high_nibbles(__m256i v) {
    return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15));
}

typedef struct avx2_set {
    __m256i low, high, row;
} avx2_set;

AVX2_INLINE __m256i avx2_rows(void) { return BOTH(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128); }

AVX2_INLINE avx2_set avx2_load_set(const uc_set *set) {
    avx2_set s;
    s.low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)set->low));
    s.high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)set->high));
    s.row = avx2_rows();
    return s;
}

/* Whether bytes from 0x80 on are in the set. */
AVX2_INLINE int is_wide(const uc_set *set) {
    __m128i high = _mm_loadu_si128((const __m128i *)set->high);
    return !_mm_testz_si128(high, high);
}

/* 0 for each byte that is not in the set; wide: as is_wide() says, or 1. */
AVX2_INLINE __m256i members(__m256i v, const avx2_set *s, const int wide) {
    __m256i column = _mm256_shuffle_epi8(s->low, v);
    if (wide)
        column = _mm256_or_si256(column, _mm256_shuffle_epi8(s->high, _mm256_xor_si256(v, _mm256_set1_epi8(-128))));
    return _mm256_and_si256(column, _mm256_shuffle_epi8(s->row, high_nibbles(v)));
}

AVX2_INLINE uint32_t zeros(__m256i v) { return mask_of(_mm256_cmpeq_epi8(v, _mm256_setzero_si256())); }
AVX2_INLINE uint32_t outside(__m256i v, const avx2_set *s) { return zeros(members(v, s, 1)); }

/* Each end needs two loads and no branch. Adding up the marks from end to end would branch at each word. */
AVX2 static int avx2_move_ends(const uint64_t *marks, size_t words, const uint32_t *ends, size_t n, uint32_t by,
                               uint32_t *moved, uint32_t *counts) {
    uint32_t sum = 0;
    uint64_t found = 0;
    for (size_t w = 0; w < words; w++) counts[w] = sum, sum += bits64(marks[w]);
    for (size_t i = 0; i < n; i++) {
        uint32_t end = ends[i];
        uint64_t word = marks[end / 64];
        found |= word >> end % 64;
        moved[i] = end + by * (counts[end / 64] + bits64(word & ((UINT64_C(1) << end % 64) - 1)));
    }
    return (int)(found & 1);
}

/* v with `difference` added wherever it is `from`. */
AVX2_INLINE __m256i replace(__m256i v, __m256i from, __m256i difference) {
    return _mm256_add_epi8(v, _mm256_and_si256(_mm256_cmpeq_epi8(v, from), difference));
}

/* Encoder and decoder are tuned for short texts, which most calls have: they skip setup that is not needed. Long texts
 * alternate between a loop for runs with few escapes and one for dense runs: a mispredicted branch costs as much as
 * processing 64 bytes, so what a branch decides is the path for 64 bytes or more. */
enum { SHORT_TEXT = 256 };

#include "avx2_decode.h"
#include "avx2_encode.h"
#include "avx2_blocks.h"
#include "avx2_utf8.h"

static void avx2_prepare(void) {
    utf8_prepare();
    for (int i = 0; i < 256; i++) avx2_byte[i] = (uint8_t)i;
    avx2_prepare_encode();
    avx2_prepare_decode();
}

static const uc_kernels uc_avx2 = {
    BLOCK_KERNELS(avx2),
    .move_ends = avx2_move_ends,
    .encode = avx2_encode,
    .decode = avx2_decode,
    .scan_utf8 = avx2_scan_utf8,
    .to_utf8 = avx2_to_utf8_of_any_length,
    .from_utf8 = avx2_from_utf8,
};

#undef AVX2
#undef AVX2_INLINE
#undef BOTH
#endif
