/* The kernels on AVX2: 32 octets a step.
 *
 * Classify. A set of octets is a 16 x 16 bit matrix, indexed by the two nibbles of an octet. One byte shuffle looks up
 * the column of the low nibble (the rows 0-7 and 8-15 in a table each; a shuffle yields 0 for an index with its top
 * bit set, so the right table answers by itself), another turns the high nibble into the bit of its row. The set costs
 * the same whatever is in it.
 *
 * Encode. A block without work is one store; a block that is all work is three shuffles. A mixed block is cut into
 * eight groups of four octets, and each group is one shuffle: its 16 source bytes are the four octets, their high
 * hexadecimal digits, their low ones, and '%' four times
 *
 *      c0 c1 c2 c3 | h0 h1 h2 h3 | l0 l1 l2 l3 | % % % %
 *
 * so that a table of 16 rows (one for each pattern of work) holds every possible output. Where a group's output starts
 * follows from the number of escapes before it: nothing waits for the group before, and nothing branches on density.
 *
 * Decode. Whether a '%' begins a triplet is decided by the two octets after it alone, because a hexadecimal digit is
 * never a '%': so the block is looked at three times, at +0, +1 and +2, values replace the '%', and the digits are
 * squeezed out, eight octets a shuffle. Digits that belong to a triplet of the block before arrive as a carry of two
 * bits. Runs of triplets, 48 octets to 16, have a path of their own.
 *
 * Ends. The last block of the input, and the blocks whose wide stores might cross the end of the output, go through a
 * buffer on the stack: the same code, then a copy of exactly what was produced.
 */
#ifndef UC_AVX2_H
#define UC_AVX2_H

#include <immintrin.h>
#include <string.h>

#include "../kernels.h"
#include "../target.h"
#include "../utf8_tables.h"

#define AVX2 UC_TARGET("avx2,bmi,bmi2,popcnt")
#define AVX2_INLINE AVX2 UC_INLINE

/* The same 16 bytes in both halves: shuffles work within halves. */
#define BOTH(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

AVX2_INLINE __m256i load32(const uint8_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
AVX2_INLINE void store32(uint8_t *p, __m256i v) { _mm256_storeu_si256((__m256i *)p, v); }
AVX2_INLINE uint32_t mask_of(__m256i v) { return (uint32_t)_mm256_movemask_epi8(v); }
AVX2_INLINE size_t bits(uint32_t mask) { return (size_t)_mm_popcnt_u32(mask); }
AVX2_INLINE uint32_t first_bits(size_t n) { return _bzhi_u32(0xffffffffu, (uint32_t)n); } /* n <= 32 */

/* The n < 32 octets at p, then zeros: two overlapping loads that stay inside them, the second one shifted in a register
 * (through memory the wide load would wait for the narrow stores). */
AVX2_INLINE __m256i load_part(const uint8_t *p, size_t n) {
    static const uint8_t shift[32] = {0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,
                                      11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    uint64_t low = 0, high = 0;
    if (n >= 16) {
        __m128i first = _mm_loadu_si128((const __m128i *)p), last = _mm_loadu_si128((const __m128i *)(p + n - 16));
        last = _mm_shuffle_epi8(last, _mm_loadu_si128((const __m128i *)(shift + 32 - n)));
        return _mm256_inserti128_si256(_mm256_castsi128_si256(first), last, 1);
    }
    if (n > 8) {
        memcpy(&low, p, 8), memcpy(&high, p + n - 8, 8);
        high >>= 8 * (16 - n);
    } else if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4), memcpy(&last, p + n - 4, 4);
        low = first | (uint64_t)last << 8 * (n - 4);
    } else if (n) {
        low = p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
    }
    return _mm256_zextsi128_si256(_mm_set_epi64x((int64_t)high, (int64_t)low));
}

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

AVX2_INLINE uint32_t outside(__m256i v, const avx2_set *s) {
    __m256i column = _mm256_or_si256(_mm256_shuffle_epi8(s->low, v),
                                     _mm256_shuffle_epi8(s->high, _mm256_xor_si256(v, _mm256_set1_epi8(-128))));
    __m256i row = _mm256_shuffle_epi8(s->row, high_nibbles(v));
    return mask_of(_mm256_cmpeq_epi8(_mm256_and_si256(column, row), _mm256_setzero_si256()));
}

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

/* --- encode --------------------------------------------------------------------------------------------------------- */

static uint8_t avx2_groups[16][16]; /* row k: the shuffle of a group whose octets to escape are the bits of k */
static uint8_t avx2_keep[256][8];   /* row k: the shuffle that drops the octets whose bits are set in k */

static void avx2_prepare(void) {
    utf8_prepare();
    memset(avx2_groups, 0x80, sizeof avx2_groups);
    memset(avx2_keep, 0x80, sizeof avx2_keep);
    for (int k = 0; k < 16; k++) {
        uint8_t *row = avx2_groups[k];
        for (uint8_t j = 0; j < 4; j++) {
            if (k >> j & 1)
                *row++ = 12, *row++ = 4 + j, *row++ = 8 + j;
            else
                *row++ = j;
        }
    }
    for (int k = 0; k < 256; k++) {
        uint8_t *row = avx2_keep[k];
        for (uint8_t j = 0; j < 8; j++)
            if (!(k >> j & 1)) *row++ = j;
    }
}

/* Wide stores of one encoded block reach at most this far: 96 octets, and 12 from the last group's shuffle. */
enum { ENCODED_BLOCK = 96 + 12 };

AVX2_INLINE __m256i two_groups(__m256i source, uint32_t work, int low) {
    __m128i first = _mm_loadu_si128((const __m128i *)avx2_groups[work >> 4 * low & 15]);
    __m128i second = _mm_loadu_si128((const __m128i *)avx2_groups[work >> (4 * low + 16) & 15]);
    return _mm256_shuffle_epi8(source, _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1));
}

AVX2_INLINE uint8_t *start_of_group(uint8_t *dst, uint32_t work, int group) {
    return dst + 4 * group + 2 * bits(work & ((1u << 4 * group) - 1));
}

AVX2_INLINE void encode_mixed(__m256i v, __m256i hi, __m256i lo, uint32_t work, uint8_t *dst) {
    const __m256i percent = _mm256_set1_epi8('%');
    __m256i vh0 = _mm256_unpacklo_epi32(v, hi), vh1 = _mm256_unpackhi_epi32(v, hi);
    __m256i lp0 = _mm256_unpacklo_epi32(lo, percent), lp1 = _mm256_unpackhi_epi32(lo, percent);
    __m256i pair[4]; /* groups k and k + 4 */
    pair[0] = two_groups(_mm256_unpacklo_epi64(vh0, lp0), work, 0);
    pair[1] = two_groups(_mm256_unpackhi_epi64(vh0, lp0), work, 1);
    pair[2] = two_groups(_mm256_unpacklo_epi64(vh1, lp1), work, 2);
    pair[3] = two_groups(_mm256_unpackhi_epi64(vh1, lp1), work, 3);
    /* In ascending order: each store may run into the place of the next group, which then overwrites it. */
    for (int k = 0; k < 4; k++)
        _mm_storeu_si128((__m128i *)start_of_group(dst, work, k), _mm256_castsi256_si128(pair[k]));
    for (int k = 0; k < 4; k++)
        _mm_storeu_si128((__m128i *)start_of_group(dst, work, k + 4), _mm256_extracti128_si256(pair[k], 1));
}

AVX2_INLINE void encode_all(__m256i hi, __m256i lo, uint8_t *dst) {
    /* Per half: h0 l0 .. h7 l7 | h8 l8 .. h15 l15, spread to three registers; an index with its top bit set makes the
     * 0 that becomes '%'. */
    __m256i first = _mm256_unpacklo_epi8(hi, lo), last = _mm256_unpackhi_epi8(hi, lo);
    __m256i middle = _mm256_alignr_epi8(last, first, 8);
    const __m256i i0 = BOTH(-1, 0, 1, -1, 2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1);
    const __m256i i1 = BOTH(2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1, 10, 11, -1, 12);
    const __m256i i2 = BOTH(5, -1, 6, 7, -1, 8, 9, -1, 10, 11, -1, 12, 13, -1, 14, 15);
    const __m256i percent = _mm256_set1_epi8('%');
    __m256i a = _mm256_blendv_epi8(_mm256_shuffle_epi8(first, i0), percent, i0);
    __m256i b = _mm256_blendv_epi8(_mm256_shuffle_epi8(middle, i1), percent, i1);
    __m256i c = _mm256_blendv_epi8(_mm256_shuffle_epi8(last, i2), percent, i2);
    store32(dst, _mm256_permute2x128_si256(a, b, 0x20));
    store32(dst + 32, _mm256_permute2x128_si256(c, a, 0x30));
    store32(dst + 64, _mm256_permute2x128_si256(b, c, 0x31));
}

/* block: a bit for each octet of v that there is. */
AVX2_INLINE void encode_block(__m256i v, uint32_t work, uint32_t block, uint8_t *dst) {
    const __m256i digits = BOTH('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F');
    __m256i hi = _mm256_shuffle_epi8(digits, high_nibbles(v));
    __m256i lo = _mm256_shuffle_epi8(digits, _mm256_and_si256(v, _mm256_set1_epi8(15)));
    if (work == block)
        encode_all(hi, lo, dst);
    else
        encode_mixed(v, hi, lo, work, dst);
}

/* v with `to - from` added wherever it is `from`. */
AVX2_INLINE __m256i replace(__m256i v, __m256i from, __m256i difference) {
    return _mm256_add_epi8(v, _mm256_and_si256(_mm256_cmpeq_epi8(v, from), difference));
}

AVX2 static size_t avx2_encode(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst, size_t cap) {
    const avx2_set s = avx2_load_set(safe);
    const __m256i space = _mm256_set1_epi8(' '), space_to = _mm256_set1_epi8(plus && safe->member[' '] ? '+' - ' ' : 0);
    size_t i = 0, o = 0;
    while (n - i >= 32 && cap - o >= ENCODED_BLOCK) {
        __m256i v = load32(src + i);
        uint32_t work = outside(v, &s);
        v = replace(v, space, space_to);
        if (work)
            encode_block(v, work, 0xffffffffu, dst + o);
        else
            store32(dst + o, v);
        i += 32, o += 32 + 2 * bits(work);
    }
    while (i < n) {
        uint8_t end[ENCODED_BLOCK], *to = cap - o >= ENCODED_BLOCK ? dst + o : end;
        size_t q = n - i < 32 ? n - i : 32, size;
        __m256i v = q < 32 ? load_part(src + i, q) : load32(src + i);
        uint32_t block = first_bits(q), work = outside(v, &s) & block;
        v = replace(v, space, space_to);
        if (work)
            encode_block(v, work, block, to);
        else
            store32(to, v);
        size = q + 2 * bits(work);
        if (to == end) {
            if (size > cap - o) return UC_FULL;
            memcpy(dst + o, end, size);
        }
        i += q, o += size;
    }
    return o;
}

/* --- decode --------------------------------------------------------------------------------------------------------- */

/* The value of each hexadecimal digit; *is_digit says which octets are one. */
AVX2_INLINE __m256i hex_values(__m256i c, __m256i *is_digit) {
    const __m256i nine = _mm256_set1_epi8(9), five = _mm256_set1_epi8(5);
    __m256i decimal = _mm256_sub_epi8(c, _mm256_set1_epi8('0'));
    __m256i letter = _mm256_sub_epi8(_mm256_or_si256(c, _mm256_set1_epi8(0x20)), _mm256_set1_epi8('a'));
    __m256i is_letter = _mm256_cmpeq_epi8(_mm256_min_epu8(letter, five), letter);
    *is_digit = _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(decimal, nine), decimal), is_letter);
    return _mm256_add_epi8(_mm256_and_si256(c, _mm256_set1_epi8(15)), _mm256_and_si256(is_letter, nine));
}

AVX2_INLINE __m256i joined(__m256i high, __m256i low) { return _mm256_or_si256(_mm256_slli_epi16(high, 4), low); }

/* 48 octets that are 16 triplets. Octet j of part[i] holds the '%' (i = 0), the high or the low digit of triplet j. */
AVX2_INLINE int decode_triplets(const uint8_t *src, uint8_t *dst) {
    __m128i a = _mm_loadu_si128((const __m128i *)src), b = _mm_loadu_si128((const __m128i *)(src + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(src + 32));
    /* Every third octet of a, b and c; the other parts are the same, one and two octets on. */
    const __m128i from_a = _mm_setr_epi8(0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i from_b = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1);
    const __m128i from_c = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13);
    __m128i a1 = _mm_alignr_epi8(b, a, 1), b1 = _mm_alignr_epi8(c, b, 1), c1 = _mm_srli_si128(c, 1);
    __m128i a2 = _mm_alignr_epi8(b, a, 2), b2 = _mm_alignr_epi8(c, b, 2), c2 = _mm_srli_si128(c, 2);
#define THIRDS(a, b, c) \
    _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, from_a), _mm_shuffle_epi8(b, from_b)), _mm_shuffle_epi8(c, from_c))
    __m128i percent = THIRDS(a, b, c);
    __m256i digits = _mm256_inserti128_si256(_mm256_castsi128_si256(THIRDS(a1, b1, c1)), THIRDS(a2, b2, c2), 1);
#undef THIRDS
    __m256i good, value = hex_values(digits, &good);
    __m128i all = _mm_and_si128(_mm256_castsi256_si128(good), _mm256_extracti128_si256(good, 1));
    all = _mm_and_si128(all, _mm_cmpeq_epi8(percent, _mm_set1_epi8('%')));
    if (_mm_movemask_epi8(all) != 0xffff) return 0;
    _mm_storeu_si128((__m128i *)dst, _mm_or_si128(_mm_slli_epi16(_mm256_castsi256_si128(value), 4),
                                                  _mm256_extracti128_si256(value, 1)));
    return 1;
}

AVX2_INLINE void squeeze8(uint8_t *dst, __m128i octets, uint32_t drop) {
    __m128i row = _mm_loadl_epi64((const __m128i *)avx2_keep[drop & 255]);
    _mm_storel_epi64((__m128i *)dst, _mm_shuffle_epi8(octets, row));
}

/* Stores the octets of v that drop does not name, eight at a time, within 32 octets from dst. */
AVX2_INLINE void squeeze(uint8_t *dst, __m256i v, uint32_t drop) {
    __m128i first = _mm256_castsi256_si128(v), last = _mm256_extracti128_si256(v, 1);
    squeeze8(dst, first, drop);
    squeeze8(dst + 8 - bits(drop & 0xff), _mm_srli_si128(first, 8), drop >> 8);
    squeeze8(dst + 16 - bits(drop & 0xffff), last, drop >> 16);
    squeeze8(dst + 24 - bits(drop & 0xffffff), _mm_srli_si128(last, 8), drop >> 24);
}

/* Decodes one block: v, and the same one and two octets on. *carry has the digits of v that an earlier '%' took; it
 * becomes those of the next block. Returns the octets of v that are digits of triplets. */
AVX2_INLINE uint32_t decode_block(__m256i *v, __m256i v1, __m256i v2, __m256i is_percent, uint32_t *carry) {
    __m256i good1, good2, value1 = hex_values(v1, &good1), value2 = hex_values(v2, &good2);
    __m256i triplet = _mm256_and_si256(is_percent, _mm256_and_si256(good1, good2));
    uint64_t starts = mask_of(triplet), digits = starts << 1 | starts << 2 | *carry;
    *v = _mm256_blendv_epi8(*v, joined(value1, value2), triplet);
    *carry = (uint32_t)(digits >> 32);
    return (uint32_t)digits;
}

AVX2 static size_t avx2_decode(const uint8_t *src, size_t n, int plus, uint8_t *dst, size_t cap) {
    const __m256i percent = _mm256_set1_epi8('%');
    const __m256i plus_sign = _mm256_set1_epi8('+'), plus_to = _mm256_set1_epi8(plus ? ' ' - '+' : 0);
    const uint32_t every_third = 0x49249249;
    uint32_t carry = 0;
    size_t i = 0, o = 0;
    while (n - i >= 34 && cap - o >= 32) {
        __m256i v = load32(src + i), is_percent = _mm256_cmpeq_epi8(v, percent);
        uint32_t percents = mask_of(is_percent);
        v = replace(v, plus_sign, plus_to);
        if (!(percents | carry)) {
            store32(dst + o, v);
            i += 32, o += 32;
        } else if ((percents & every_third) == every_third && n - i >= 48 &&
                   decode_triplets(src + i, dst + o)) {
            i += 48, o += 16;
        } else {
            uint32_t digits = decode_block(&v, load32(src + i + 1), load32(src + i + 2), is_percent, &carry);
            squeeze(dst + o, v, digits);
            i += 32, o += 32 - bits(digits);
        }
    }
    while (i < n) {
        uint8_t end[32], *to = cap - o >= 32 ? dst + o : end;
        size_t q = n - i < 32 ? n - i : 32, size;
        __m256i v = q < 32 ? load_part(src + i, q) : load32(src + i), is_percent = _mm256_cmpeq_epi8(v, percent);
        /* What follows the block: two octets at most count, zeros are no digits. */
        __m256i next = _mm256_castsi128_si256(
            _mm_cvtsi32_si128((n - i > 32 ? src[i + 32] : 0) | (n - i > 33 ? src[i + 33] : 0) << 8));
        __m256i over = _mm256_permute2x128_si256(v, next, 0x21);
        __m256i v1 = _mm256_alignr_epi8(over, v, 1), v2 = _mm256_alignr_epi8(over, v, 2);
        uint32_t digits;
        v = replace(v, plus_sign, plus_to);
        digits = decode_block(&v, v1, v2, is_percent, &carry) & first_bits(q);
        squeeze(to, v, digits);
        size = q - bits(digits);
        if (to == end) {
            if (size > cap - o) return UC_FULL;
            memcpy(dst + o, end, size);
        }
        i += q, o += size;
    }
    return o;
}

#include "avx2_utf8.h"

static const uc_kernels uc_avx2 = {
    .span = avx2_span,
    .count_outside = avx2_count_outside,
    .mark_outside = avx2_mark_outside,
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
