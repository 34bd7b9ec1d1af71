/* The kernels on AVX2: 32 bytes a step. What all of them use is here, with those that look bytes up in a set; the
 * others are in avx2_encode.h, avx2_decode.h, avx2_utf8.h, avx2_grammar.h and avx2_urn.h.
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

/* The n < 32 bytes at p, then zeros: two overlapping loads that stay inside them, the second one shifted in a register
 * (through memory the wide load would wait for the narrow stores). */
AVX2_INLINE __m256i load_part(const uint8_t *p, size_t n) {
    static const uint8_t shift[32] = {0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,
                                      11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    uint64_t low, high;
    if (n >= 16) {
        __m128i first = _mm_loadu_si128((const __m128i *)p), last = _mm_loadu_si128((const __m128i *)(p + n - 16));
        last = _mm_shuffle_epi8(last, _mm_loadu_si128((const __m128i *)(shift + 32 - n)));
        return _mm256_inserti128_si256(_mm256_castsi128_si256(first), last, 1);
    }
    uc_load_part(p, n, &low, &high);
    return _mm256_zextsi128_si256(_mm_set_epi64x((int64_t)high, (int64_t)low));
}

/* The first 32 of n bytes. */
AVX2_INLINE __m256i load_up_to(const uint8_t *p, size_t n) { return n < 32 ? load_part(p, n) : load32(p); }

/* A byte 32 times. It is read from a variable, because compilers build a constant anew in every block. */
static uint8_t avx2_byte[256];
AVX2_INLINE __m256i fill(int byte) { return _mm256_set1_epi8((char)avx2_byte[byte]); }

AVX2_INLINE __m256i high_nibbles(__m256i v) {
    return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15));
}

typedef struct avx2_set {
    __m256i low, high, row;
} avx2_set;

AVX2_INLINE avx2_set avx2_load_set(const uc_set *set) {
    avx2_set s;
    s.low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)set->low));
    s.high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)set->high));
    s.row = BOTH(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
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

AVX2 static size_t avx2_span(const uint8_t *src, size_t n, const uc_set *set) {
    const avx2_set s = avx2_load_set(set);
    size_t i = 0;
    for (; n - i >= 32; i += 32) {
        uint32_t m = outside(load32(src + i), &s);
        if (m) return i + _tzcnt_u32(m);
    }
    if (i < n) {
        uint32_t m = outside(load_part(src + i, n - i), &s) & first_bits(n - i);
        if (m) return i + _tzcnt_u32(m);
    }
    return n;
}

AVX2 static size_t avx2_count_outside(const uint8_t *src, size_t n, const uc_set *set) {
    const avx2_set s = avx2_load_set(set);
    size_t i = 0, count = 0;
    for (; n - i >= 32; i += 32) count += bits(outside(load32(src + i), &s));
    if (i < n) count += bits(outside(load_part(src + i, n - i), &s) & first_bits(n - i));
    return count;
}

AVX2 static void avx2_mark_outside(const uint8_t *src, size_t n, const uc_set *set, uint64_t *bits) {
    const avx2_set s = avx2_load_set(set);
    size_t i = 0;
    for (; n - i >= 64; i += 64)
        bits[i / 64] = outside(load32(src + i), &s) | (uint64_t)outside(load32(src + i + 32), &s) << 32;
    if (i < n) {
        uint64_t *last = bits + i / 64;
        *last = 0;
        if (n - i >= 32) {
            *last = outside(load32(src + i), &s);
            i += 32;
        }
        if (i < n) *last |= (uint64_t)(outside(load_part(src + i, n - i), &s) & first_bits(n - i)) << i % 64;
    }
}

AVX2 static void avx2_mark_classes(const uint8_t *src, size_t n, const uc_classes *classes, uint64_t *bits) {
    const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)classes->low));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)classes->high));
    const __m256i nibble = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    __m256i masks[4];
    uint8_t rest[64] = {0};
    for (int k = 0; k < 4; k++) masks[k] = _mm256_set1_epi8((char)classes->mask[k]);
    const size_t words = (n + 63) / 64;
    for (size_t i = 0; i < n; i += 64, bits++) {
        const uint8_t *p = src + i;
        uint64_t valid = ~UINT64_C(0);
        if (n - i < 64) {
            valid = (UINT64_C(1) << (n - i)) - 1;
            p = memcpy(rest, p, n - i);
        }
        __m256i first = load32(p), last = load32(p + 32);
        first = _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(first, nibble)),
                                 _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(first, 4), nibble)));
        last = _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(last, nibble)),
                                _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(last, 4), nibble)));
        for (int k = 0; k < 4; k++)
            bits[(size_t)k * words] = ~mask64(_mm256_cmpeq_epi8(_mm256_and_si256(first, masks[k]), zero),
                              _mm256_cmpeq_epi8(_mm256_and_si256(last, masks[k]), zero)) & valid;
    }
}

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
#include "avx2_urn.h"
#include "avx2_grammar.h"
#include "avx2_utf8.h"

static void avx2_prepare(void) {
    utf8_prepare();
    for (int i = 0; i < 256; i++) avx2_byte[i] = (uint8_t)i;
    avx2_prepare_encode();
    avx2_prepare_decode();
}

static const uc_kernels uc_avx2 = {
    .span = avx2_span,
    .count_outside = avx2_count_outside,
    .mark_outside = avx2_mark_outside,
    .mark_classes = avx2_mark_classes,
    .mark_triplets = avx2_mark_triplets,
    .move_ends = avx2_move_ends,
    .encode = avx2_encode,
    .decode = avx2_decode,
    .upper_triplets = avx2_upper_triplets,
    .normalize_urns = avx2_normalize_urns,
    .span_urns = avx2_span_urns,
    .scan_utf8 = avx2_scan_utf8,
    .to_utf8 = avx2_to_utf8_of_any_length,
    .from_utf8 = avx2_from_utf8,
};

#undef AVX2
#undef AVX2_INLINE
#undef BOTH
#endif
