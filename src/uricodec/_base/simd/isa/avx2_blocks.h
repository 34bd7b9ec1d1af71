/* The vocabulary of blocks.h in AVX2: a block is two registers. Included by avx2.h. */
#ifndef UC_AVX2_BLOCKS_H
#define UC_AVX2_BLOCKS_H

typedef struct avx2_bytes64 {
    __m256i half[2];
} avx2_bytes64;

AVX2_INLINE avx2_bytes64 avx2_load64(const uint8_t *p) {
    avx2_bytes64 v = {{load32(p), load32(p + 32)}};
    return v;
}

AVX2_INLINE avx2_bytes64 avx2_part64(const uint8_t *src, size_t n, size_t i) {
    avx2_bytes64 v = {{load_rest(src, n, i), n - i > 32 ? load_rest(src, n, i + 32) : _mm256_setzero_si256()}};
    return v;
}

AVX2_INLINE void avx2_store64(uint8_t *p, avx2_bytes64 v) { store32(p, v.half[0]), store32(p + 32, v.half[1]); }

AVX2_INLINE void avx2_store_part64(uint8_t *p, avx2_bytes64 v, size_t n) {
    __m256i rest = v.half[0];
    __m128i last;
    uint64_t words[2];
    if (n & 32) store32(p, rest), p += 32, rest = v.half[1];
    last = _mm256_castsi256_si128(rest);
    if (n & 16) _mm_storeu_si128((__m128i *)p, last), p += 16, last = _mm256_extracti128_si256(rest, 1);
    _mm_storeu_si128((__m128i *)words, last);
    uc_store_part(p, n & 15, words[0], words[1]);
}

AVX2_INLINE uint64_t avx2_zeros64(avx2_bytes64 v) { return zeros(v.half[0]) | (uint64_t)zeros(v.half[1]) << 32; }

AVX2_INLINE uint64_t avx2_equal64(avx2_bytes64 v, uint8_t byte) {
    const __m256i each = _mm256_set1_epi8((char)byte);
    return mask64(_mm256_cmpeq_epi8(v.half[0], each), _mm256_cmpeq_epi8(v.half[1], each));
}

AVX2_INLINE int avx2_has64(avx2_bytes64 v, uint8_t byte) { return avx2_equal64(v, byte) != 0; }

AVX2_INLINE uint64_t avx2_outside64(avx2_bytes64 v, const avx2_set *s) {
    return outside(v.half[0], s) | (uint64_t)outside(v.half[1], s) << 32;
}

/* What is loaded twice is marked twice. */
AVX2_INLINE uint64_t avx2_outside_rest(const uint8_t *src, size_t n, size_t i, const avx2_set *s) {
    uint32_t found;
    if (n >= 64) return avx2_outside64(avx2_load64(src + n - 64), s) >> (64 - (n - i));
    if (n >= 32) return outside(load32(src), s) | (uint64_t)outside(load32(src + n - 32), s) << (n - 32);
    if (n < 16) return outside(load_part(src, n), s) & first_bits(n);
    found = outside(load_two(src, src + n - 16), s);
    return (found & 0xFFFF) | found >> 16 << (n - 16);
}

AVX2_INLINE uint64_t avx2_count64(uint64_t mask) { return bits64(mask); }
AVX2_INLINE uint64_t avx2_count_outside64(avx2_bytes64 v, const avx2_set *s) { return bits64(avx2_outside64(v, s)); }

AVX2_INLINE uint64_t avx2_digits64(avx2_bytes64 v) {
    const __m256i low = BOTH(8, 88, 88, 88, 88, 88, 88, 8, 8, 8, 0, 0, 0, 0, 0, 0);
    const avx2_set hex = {low, _mm256_setzero_si256(), avx2_rows()};
    for (int k = 0; k < 2; k++) v.half[k] = members(v.half[k], &hex, 0);
    return ~avx2_zeros64(v);
}

AVX2_INLINE uint64_t avx2_triplets64(const uint8_t *p) {
    uint64_t second = avx2_digits64(avx2_load64(p + 2)), first = 2 * second + (uint64_t)uc_is_hex(p[1]);
    return avx2_equal64(avx2_load64(p), '%') & first & second;
}

AVX2_INLINE uint64_t avx2_schemes64(const uint8_t *p) {
    const __m256i u = _mm256_set1_epi8('u'), r = _mm256_set1_epi8('r'), n = _mm256_set1_epi8('n');
    const __m256i colon = _mm256_set1_epi8(':'), case_bit = _mm256_set1_epi8(0x20);
    avx2_bytes64 differs; /* from "urn:" */
    for (int k = 0; k < 2; k++, p += 32) {
        __m256i all = _mm256_or_si256(_mm256_xor_si256(load32(p), u), _mm256_xor_si256(load32(p + 1), r));
        all = _mm256_andnot_si256(case_bit, _mm256_or_si256(all, _mm256_xor_si256(load32(p + 2), n)));
        differs.half[k] = _mm256_or_si256(all, _mm256_xor_si256(load32(p + 3), colon));
    }
    return avx2_zeros64(differs);
}

/* 0x20 in the bytes of the mask: it is broadcast, each of its bytes is shuffled to the eight bytes that it describes,
 * and each of these is compared with its bit. */
AVX2_INLINE avx2_bytes64 avx2_case_bits(uint64_t mask) {
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201), all = _mm256_set1_epi64x((int64_t)mask);
    avx2_bytes64 chosen;
    for (int k = 0; k < 2; k++) {
        int64_t from = k * 0x0404040404040404;
        __m256i eight_times = _mm256_setr_epi64x(from, from + 0x0101010101010101, from + 0x0202020202020202,
                                                 from + 0x0303030303030303);
        chosen.half[k] = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(all, eight_times), bit), bit);
        chosen.half[k] = _mm256_and_si256(chosen.half[k], _mm256_set1_epi8(0x20));
    }
    return chosen;
}

AVX2_INLINE avx2_bytes64 avx2_lower64(avx2_bytes64 v, uint64_t mask) {
    avx2_bytes64 bits = avx2_case_bits(mask);
    for (int k = 0; k < 2; k++) {
        __m256i letter = _mm256_sub_epi8(v.half[k], _mm256_set1_epi8('A'));
        __m256i capital = _mm256_cmpeq_epi8(_mm256_min_epu8(letter, _mm256_set1_epi8('Z' - 'A')), letter);
        v.half[k] = _mm256_xor_si256(v.half[k], _mm256_and_si256(bits.half[k], capital));
    }
    return v;
}

/* Of hexadecimal digits, only small letters have the bit 0x20 after 0x40 is subtracted. */
AVX2_INLINE avx2_bytes64 avx2_upper64(avx2_bytes64 v, uint64_t mask) {
    avx2_bytes64 bits = avx2_case_bits(mask);
    for (int k = 0; k < 2; k++) {
        __m256i small = _mm256_and_si256(bits.half[k], _mm256_subs_epu8(v.half[k], _mm256_set1_epi8(0x40)));
        v.half[k] = _mm256_xor_si256(v.half[k], small);
    }
    return v;
}

typedef struct avx2_classes {
    __m256i low, high, mask[4];
} avx2_classes;

AVX2_INLINE avx2_classes avx2_load_classes(const uc_classes *classes) {
    avx2_classes c;
    c.low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)classes->low));
    c.high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)classes->high));
    for (int k = 0; k < 4; k++) c.mask[k] = _mm256_set1_epi8((char)classes->mask[k]);
    return c;
}

AVX2_INLINE avx2_bytes64 avx2_classes64(avx2_bytes64 v, const avx2_classes *c) {
    for (int k = 0; k < 2; k++)
        v.half[k] = _mm256_and_si256(_mm256_shuffle_epi8(c->low, _mm256_and_si256(v.half[k], _mm256_set1_epi8(15))),
                                     _mm256_shuffle_epi8(c->high, high_nibbles(v.half[k])));
    return v;
}

AVX2_INLINE uint64_t avx2_in_class64(avx2_bytes64 found, const avx2_classes *c, size_t k) {
    for (int half = 0; half < 2; half++) found.half[half] = _mm256_and_si256(found.half[half], c->mask[k]);
    return ~avx2_zeros64(found);
}

#define LAZY 0
#define NAME(x) avx2_##x
#define INLINE AVX2_INLINE
#define KERNEL AVX2 static
#include "../blocks.h"

#endif
