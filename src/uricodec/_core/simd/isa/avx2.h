/* The kernels on AVX2: 32 octets a step.
 *
 * Classify. A set of octets is a 16 x 16 bit matrix, indexed by the two nibbles of an octet. One byte shuffle looks up
 * the column of the low nibble (the rows 0-7 and 8-15 in a table each; a shuffle yields 0 for an index with its top
 * bit set, so the right table answers by itself), another turns the high nibble into the bit of its row. The set costs
 * the same whatever is in it, but for one thing: without octets from 0x80 on, the second table is left out.
 *
 * Encode. What a block costs depends on its escapes. None, and four blocks before without any: runs of clean octets are
 * copied 128 at a time. A few: the block is stored once as it is, and again behind each escape, two octets further on
 *
 *      source   a b / c d e     stored   a b / c d e        then at the '/'   a b %2F c d e
 *
 * as often as there could be escapes: a count of its own for each block would be mispredicted. All: three shuffles. The
 * others are cut into four groups of eight octets. The row of a table, one for each pattern of escapes, holds the
 * shuffle of two registers with everything that the output can have (a row's top bits say from which)
 *
 *      c0 .. c7 h0 .. h7 | l0 .. l7 % .. %          octets, high digits | low digits, '%'
 *
 * and where a group's output starts follows from the number of escapes before it: nothing waits for the group before.
 *
 * Decode. Whether a '%' begins a triplet is decided by the two octets after it alone, because a hexadecimal digit is
 * never a '%': so the block is looked at three times, at +0, +1 and +2, values replace the '%', and the digits are
 * squeezed out, eight octets a shuffle. Digits that belong to a triplet of the block before arrive as a carry of two
 * bits. Runs of triplets, 48 octets to 16, have a path of their own, and so do runs without '%'.
 *
 * Ends. The last block of the input is loaded in parts; blocks whose wide stores might cross the end of the output go
 * through a buffer on the stack: the same code, then a copy of exactly what was produced.
 */
#ifndef UC_AVX2_H
#define UC_AVX2_H

#include <immintrin.h>
#include <string.h>

#include "../kernels.h"
#include "../target.h"
#include "../urns.h"

#define AVX2 UC_TARGET("avx2,bmi,bmi2,popcnt")
#define AVX2_INLINE AVX2 UC_INLINE

/* The same 16 bytes in both halves: shuffles work within halves. */
#define BOTH(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

AVX2_INLINE __m256i load32(const uint8_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
AVX2_INLINE void store32(uint8_t *p, __m256i v) { _mm256_storeu_si256((__m256i *)p, v); }
AVX2_INLINE uint32_t mask_of(__m256i v) { return (uint32_t)_mm256_movemask_epi8(v); }
AVX2_INLINE size_t bits(uint32_t mask) { return (size_t)(uint32_t)_mm_popcnt_u32(mask); }
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

/* The first 32 of n octets. */
AVX2_INLINE __m256i load_up_to(const uint8_t *p, size_t n) { return n < 32 ? load_part(p, n) : load32(p); }

/* An octet 32 times. It comes from a variable: what a compiler knows, it would build again in every block. */
static uint8_t avx2_octet[256];
AVX2_INLINE __m256i fill(int octet) { return _mm256_set1_epi8((char)avx2_octet[octet]); }

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

/* Whether octets from 0x80 on are in the set. */
AVX2_INLINE int is_wide(const uc_set *set) {
    __m128i high = _mm_loadu_si128((const __m128i *)set->high);
    return !_mm_testz_si128(high, high);
}

/* 0 for each octet that is not in the set; wide: as is_wide() says, or 1. */
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

/* --- encode --------------------------------------------------------------------------------------------------------- */

static UC_ALIGNED(32) uint8_t avx2_groups[256][32]; /* row k: the shuffles of a group whose escapes are the bits of k */
static uint8_t avx2_escapes[256][4];                /* %HH */
static uint8_t avx2_keep[256][8]; /* row k: the shuffle that drops the octets whose bits are set in k */

static uint8_t avx2_digits[32];                          /* 0-9 A-F, twice */
static uint8_t avx2_spread[3][32], avx2_percents[3][32]; /* see encode_all */

static void avx2_prepare(void) {
    memset(avx2_groups, 0x80, sizeof avx2_groups);
    memset(avx2_keep, 0x80, sizeof avx2_keep);
    for (int k = 0; k < 256; k++) {
        uint8_t *group = avx2_groups[k], *keep = avx2_keep[k];
        for (uint8_t j = 0; j < 8; j++) {
            if (k >> j & 1)
                *group++ = 0x80 | 8, *group++ = 8 + j, *group++ = 0x80 | j;
            else
                *group++ = j, *keep++ = j;
        }
        avx2_escapes[k][0] = '%';
        avx2_escapes[k][1] = (uint8_t)"0123456789ABCDEF"[k >> 4];
        avx2_escapes[k][2] = (uint8_t)"0123456789ABCDEF"[k & 15];
    }
    for (int i = 0; i < 256; i++) avx2_octet[i] = (uint8_t)i;
    for (int i = 0; i < 32; i++) {
        avx2_digits[i] = (uint8_t)"0123456789ABCDEF"[i & 15];
        for (int third = 0; third < 3; third++) {
            int slot = 16 * third + (i & 15); /* of the 48 that 16 octets become; sources start at digit 8 * third */
            avx2_spread[third][i] = (uint8_t)(slot % 3 ? slot / 3 * 2 + slot % 3 - 1 - 8 * third : 0x80);
            avx2_percents[third][i] = slot % 3 ? 0 : '%';
        }
    }
}

/* After MANY octets, it is worth while to see whether a clean run begins. FEW escapes or less are stored one by one. ENCODED_BLOCK: wide stores of one encoded block reach at most this far, 24
 * octets for each of three groups, and 32. */
enum { SHORT = 256, MANY = 256, FEW = 2, ENCODED_BLOCK = 72 + 32 };

typedef struct avx2_encoder {
    avx2_set safe;
    __m256i digits, fifteen, percent, top_bit;
    __m256i from, difference; /* of octets that stay, but change */
} avx2_encoder;

AVX2_INLINE avx2_encoder avx2_load_encoder(const uc_set *safe, int space_to) {
    avx2_encoder e;
    e.safe = avx2_load_set(safe);
    e.digits = load32(avx2_digits);
    e.fifteen = fill(15);
    e.percent = fill('%');
    e.top_bit = fill(0x80);
    e.from = _mm256_set1_epi8(' ');
    e.difference = _mm256_set1_epi8((char)(space_to - ' '));
    return e;
}

AVX2_INLINE void store_group(uint8_t *dst, __m256i first, __m256i second, __m256i top_bit, uint32_t work) {
    __m256i row = _mm256_load_si256((const __m256i *)avx2_groups[work & 255]);
    __m256i other = _mm256_xor_si256(row, top_bit);
    store32(dst, _mm256_or_si256(_mm256_shuffle_epi8(first, row), _mm256_shuffle_epi8(second, other)));
}

AVX2_INLINE void encode_mixed(const avx2_encoder *e, __m256i v, __m256i hi, __m256i lo, uint32_t work, uint8_t *dst) {
    __m256i a = _mm256_unpacklo_epi64(v, hi), b = _mm256_unpackhi_epi64(v, hi); /* groups 0 and 2, groups 1 and 3 */
    __m256i c = _mm256_unpacklo_epi64(lo, e->percent), d = _mm256_unpackhi_epi64(lo, e->percent);
    /* In ascending order: each store may run into the place of the next group, which then overwrites it. */
#define GROUP(k, a, c, half)                                                                               \
    store_group(dst + 8 * k + 2 * bits(work & ((1u << 8 * k) - 1)), _mm256_permute2x128_si256(a, a, half), \
                _mm256_permute2x128_si256(c, c, half), e->top_bit, work >> 8 * k)
    GROUP(0, a, c, 0x00);
    GROUP(1, b, d, 0x00);
    GROUP(2, a, c, 0x11);
    GROUP(3, b, d, 0x11);
#undef GROUP
}

/* Per half: h0 l0 .. h7 l7 | h8 l8 .. h15 l15, spread to three registers, with '%' where a shuffle leaves a 0. */
AVX2_INLINE void encode_all(__m256i high, __m256i low, uint8_t *dst) {
    __m256i first = _mm256_unpacklo_epi8(high, low), last = _mm256_unpackhi_epi8(high, low);
    __m256i middle = _mm256_alignr_epi8(last, first, 8);
    first = _mm256_or_si256(_mm256_shuffle_epi8(first, load32(avx2_spread[0])), load32(avx2_percents[0]));
    middle = _mm256_or_si256(_mm256_shuffle_epi8(middle, load32(avx2_spread[1])), load32(avx2_percents[1]));
    last = _mm256_or_si256(_mm256_shuffle_epi8(last, load32(avx2_spread[2])), load32(avx2_percents[2]));
    store32(dst, _mm256_permute2x128_si256(first, middle, 0x20));
    store32(dst + 32, _mm256_permute2x128_si256(last, first, 0x30));
    store32(dst + 64, _mm256_permute2x128_si256(middle, last, 0x31));
}

/* block: a bit for each octet of v that there is. */
AVX2_INLINE void encode_block(const avx2_encoder *e, __m256i v, uint32_t work, uint32_t block, uint8_t *dst) {
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), e->fifteen), low = _mm256_and_si256(v, e->fifteen);
    high = _mm256_shuffle_epi8(e->digits, high), low = _mm256_shuffle_epi8(e->digits, low);
    if (work == block)
        encode_all(high, low, dst);
    else
        encode_mixed(e, v, high, low, work, dst);
}

/* v with `difference` added wherever it is `from`. */
AVX2_INLINE __m256i replace(__m256i v, __m256i from, __m256i difference) {
    return _mm256_add_epi8(v, _mm256_and_si256(_mm256_cmpeq_epi8(v, from), difference));
}

AVX2_INLINE __m256i changed(const avx2_encoder *e, __m256i v, const int plus) {
    return plus ? replace(v, e->from, e->difference) : v;
}

/* The block at src, v when changed, with FEW escapes at most. What is behind the last escape is stored once for each
 * that is missing, behind the block: 33 octets more of src are read. */
AVX2_INLINE void encode_few(const avx2_encoder *e, const uint8_t *src, __m256i v, uint32_t work, const int plus,
                            uint8_t *dst) {
    store32(dst, v);
    for (size_t j = 0; j < FEW; j++, work &= work - 1) {
        size_t p = _tzcnt_u32(work); /* 32 if there is none */
        memcpy(dst + p + 2 * j, avx2_escapes[src[p]], 4);
        store32(dst + p + 2 * j + 3, changed(e, load32(src + p + 1), plus));
    }
}

/* Copies octets as long as 128 of them are in the set. Returns how many. */
AVX2_INLINE size_t encode_none(const avx2_encoder *e, const uint8_t *src, size_t n, const int wide, const int plus,
                               uint8_t *dst) {
    size_t i = 0;
    for (; n - i >= 128; i += 128) {
        __m256i v[4], least;
        for (int k = 0; k < 4; k++) v[k] = load32(src + i + 32 * k);
        least = _mm256_min_epu8(_mm256_min_epu8(members(v[0], &e->safe, wide), members(v[1], &e->safe, wide)),
                                _mm256_min_epu8(members(v[2], &e->safe, wide), members(v[3], &e->safe, wide)));
        if (zeros(least)) break;
        for (int k = 0; k < 4; k++) store32(dst + i + 32 * k, changed(e, v[k], plus));
    }
    return i;
}

/* wide: whether the set may have octets from 0x80 on. plus: whether an octet that stays may change. */
AVX2_INLINE size_t avx2_encode_as(const uint8_t *src, size_t n, const uc_set *safe, const int wide, const int plus,
                                  int space_to, uint8_t *dst, size_t cap) {
    const avx2_encoder e = avx2_load_encoder(safe, space_to);
    uint32_t work = 0;
    size_t i = 0, o = 0;
    while (n - i >= 65 && cap - o >= ENCODED_BLOCK) {
        size_t stop;
        if (!work) {
            size_t clean = encode_none(&e, src + i, n - i < cap - o ? n - i : cap - o, wide, plus, dst + o);
            i += clean, o += clean;
        }
        stop = n - i < 65 ? i : n - i - 64 < MANY ? n - 64 : i + MANY;
        for (; i < stop && cap - o >= ENCODED_BLOCK; i += 32) {
            __m256i v = load32(src + i);
            size_t escapes;
            work = zeros(members(v, &e.safe, wide));
            escapes = bits(work);
            v = changed(&e, v, plus);
            if (escapes > FEW)
                encode_block(&e, v, work, 0xffffffffu, dst + o);
            else
                encode_few(&e, src + i, v, work, plus, dst + o);
            o += 32 + 2 * escapes;
        }
    }
    while (i < n) {
        uint8_t end[ENCODED_BLOCK], *to = cap - o >= ENCODED_BLOCK ? dst + o : end;
        size_t q = n - i < 32 ? n - i : 32, size;
        __m256i v = q < 32 ? load_part(src + i, q) : load32(src + i);
        uint32_t block = first_bits(q);
        work = zeros(members(v, &e.safe, wide)) & block;
        v = changed(&e, v, plus);
        if (work)
            encode_block(&e, v, work, block, to);
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

AVX2 UC_APART size_t avx2_encode_plain(const uint8_t *src, size_t n, const uc_set *safe, uint8_t *dst, size_t cap) {
    return avx2_encode_as(src, n, safe, 0, 0, ' ', dst, cap);
}

AVX2 UC_APART size_t avx2_encode_plus(const uint8_t *src, size_t n, const uc_set *safe, uint8_t *dst, size_t cap) {
    return avx2_encode_as(src, n, safe, 0, 1, '+', dst, cap);
}

AVX2 UC_APART size_t avx2_encode_wide(const uint8_t *src, size_t n, const uc_set *safe, int space_to, uint8_t *dst,
                                      size_t cap) {
    return avx2_encode_as(src, n, safe, 1, 1, space_to, dst, cap);
}

/* Most calls have a SHORT text: a clean one, or the last octets of one, set up nothing that they do not use. */
AVX2 static size_t avx2_encode(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst, size_t cap) {
    size_t i = 0, o, rest;
    plus = plus && safe->member[' '];
    if (is_wide(safe)) return avx2_encode_wide(src, n, safe, plus ? '+' : ' ', dst, cap);
    if (plus) return avx2_encode_plus(src, n, safe, dst, cap);
    if (n <= SHORT && cap >= n + 2 * 64 + ENCODED_BLOCK) {
        const avx2_encoder e = avx2_load_encoder(safe, ' ');
        for (; n - i >= 32; i += 32) {
            __m256i v = load32(src + i);
            if (zeros(members(v, &e.safe, 0))) break;
            store32(dst + i, v);
        }
        if (n - i <= 64) {
            for (o = i; i < n; i += 32) {
                __m256i v = load_up_to(src + i, n - i);
                uint32_t block = first_bits(n - i < 32 ? n - i : 32), work = zeros(members(v, &e.safe, 0)) & block;
                if (work)
                    encode_block(&e, v, work, block, dst + o);
                else
                    store32(dst + o, v);
                o += (n - i < 32 ? n - i : 32) + 2 * bits(work);
            }
            return o;
        }
    }
    rest = avx2_encode_plain(src + i, n - i, safe, dst + i, cap - i);
    return rest == UC_FULL ? UC_FULL : i + rest;
}

/* --- decode --------------------------------------------------------------------------------------------------------- */

typedef struct avx2_decoder {
    __m256i percent, zero, nine, case_bit, a, ten, fifteen;
} avx2_decoder;

AVX2_INLINE avx2_decoder avx2_load_decoder(void) {
    avx2_decoder d = {fill('%'), fill('0'), fill(9), fill(0x20), fill('a'), fill(10), fill(15)};
    return d;
}

/* The value of each hexadecimal digit; more than 15 for other octets. As a letter, saturation keeps out what is just
 * below 'a'. */
AVX2_INLINE __m256i hex_values(const avx2_decoder *d, __m256i c) {
    __m256i letter = _mm256_sub_epi8(_mm256_or_si256(c, d->case_bit), d->a);
    __m256i decimal = _mm256_xor_si256(c, d->zero);
    decimal = _mm256_or_si256(decimal, _mm256_cmpgt_epi8(decimal, d->nine));
    return _mm256_min_epu8(decimal, _mm256_adds_epu8(letter, d->ten));
}

/* 48 octets that are 16 triplets. Octet j of part[i] holds the '%' (i = 0), the high or the low digit of triplet j. */
AVX2_INLINE int decode_triplets(const avx2_decoder *d, const uint8_t *src, uint8_t *dst) {
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
    __m256i values = hex_values(d, digits);
    __m128i high = _mm256_castsi256_si128(values), low = _mm256_extracti128_si256(values, 1);
    __m128i differs = _mm_xor_si128(percent, _mm256_castsi256_si128(d->percent));
    /* Any value above 15 has one of the upper bits, any difference some bit. */
    if (!_mm_testz_si128(_mm_or_si128(high, low), _mm_set1_epi8((char)0xF0)) || !_mm_testz_si128(differs, differs)) return 0;
    _mm_storeu_si128((__m128i *)dst, _mm_or_si128(_mm_slli_epi16(high, 4), low));
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
AVX2_INLINE uint32_t decode_block(const avx2_decoder *d, __m256i *v, __m256i v1, __m256i v2, uint32_t *carry) {
    __m256i high = hex_values(d, v1), low = hex_values(d, v2);
    __m256i greater = _mm256_max_epu8(high, low); /* good: neither is above 15 */
    __m256i good = _mm256_cmpeq_epi8(_mm256_min_epu8(greater, d->fifteen), greater);
    __m256i triplet = _mm256_and_si256(_mm256_cmpeq_epi8(*v, d->percent), good);
    uint64_t starts = mask_of(triplet), digits = starts << 1 | starts << 2 | *carry;
    high = _mm256_slli_epi16(_mm256_and_si256(high, d->fifteen), 4);
    *v = _mm256_blendv_epi8(*v, _mm256_or_si256(high, low), triplet);
    *carry = (uint32_t)(digits >> 32);
    return (uint32_t)digits;
}

AVX2_INLINE __m256i spaces(__m256i v, const int plus) {
    return plus ? replace(v, _mm256_set1_epi8('+'), _mm256_set1_epi8(' ' - '+')) : v;
}

/* Copies octets as long as 128 of them have no '%'. Returns how many. */
AVX2_INLINE size_t decode_none(const avx2_decoder *d, const uint8_t *src, size_t n, const int plus, uint8_t *dst) {
    size_t i = 0;
    for (; n - i >= 128; i += 128) {
        __m256i v[4], found = _mm256_setzero_si256();
        for (int k = 0; k < 4; k++) {
            v[k] = load32(src + i + 32 * k);
            found = _mm256_or_si256(found, _mm256_cmpeq_epi8(v[k], d->percent));
        }
        if (mask_of(found)) break;
        for (int k = 0; k < 4; k++) store32(dst + i + 32 * k, spaces(v[k], plus));
    }
    return i;
}

/* The n octets at src, to the end of the input, when the first of them are digits by *carry. Returns the octets written,
 * or UC_FULL. */
AVX2_INLINE size_t decode_end(const avx2_decoder *d, const uint8_t *src, size_t n, uint32_t carry, const int plus,
                              uint8_t *dst, size_t cap) {
    __m256i v = load_up_to(src, n), next;
    size_t i = 0, o = 0;
    for (; i < n; i += 32, v = next) {
        size_t rest = n - i, size;
        uint32_t digits = 0;
        __m256i out = spaces(v, plus);
        next = rest > 32 ? load_up_to(src + i + 32, rest - 32) : _mm256_setzero_si256(); /* zeros are no digits */
        if (mask_of(_mm256_cmpeq_epi8(v, d->percent)) | carry) {
            __m256i over = _mm256_permute2x128_si256(v, next, 0x21);
            digits = decode_block(d, &out, _mm256_alignr_epi8(over, v, 1), _mm256_alignr_epi8(over, v, 2), &carry);
            digits &= first_bits(rest < 32 ? rest : 32);
        }
        size = (rest < 32 ? rest : 32) - bits(digits);
        if (cap - o >= 32) {
            if (digits)
                squeeze(dst + o, out, digits);
            else
                store32(dst + o, out);
        } else {
            uint8_t end[32];
            if (size > cap - o) return UC_FULL;
            squeeze(end, out, digits);
            memcpy(dst + o, end, size);
        }
        o += size;
    }
    return o;
}

AVX2_INLINE size_t avx2_decode_as(const uint8_t *src, size_t n, const int plus, uint8_t *dst, size_t cap) {
    const avx2_decoder d = avx2_load_decoder();
    const uint32_t every_third = 0x49249249;
    uint32_t carry = 0, percents = 0;
    size_t i = 0, o = 0, end;
    while (n - i >= 34 && cap - o >= 32) {
        size_t stop;
        if (!(percents | carry)) {
            size_t clean = decode_none(&d, src + i, n - i < cap - o ? n - i : cap - o, plus, dst + o);
            i += clean, o += clean;
        }
        stop = n - i < 34 ? i : n - i - 33 < MANY ? n - 33 : i + MANY;
        while (i < stop && cap - o >= 32) {
            __m256i v = load32(src + i);
            uint32_t digits;
            percents = mask_of(_mm256_cmpeq_epi8(v, d.percent));
            if ((percents & every_third) == every_third && n - i >= 48 && decode_triplets(&d, src + i, dst + o)) {
                i += 48, o += 16;
                continue;
            }
            v = spaces(v, plus);
            digits = decode_block(&d, &v, load32(src + i + 1), load32(src + i + 2), &carry);
            squeeze(dst + o, v, digits);
            i += 32, o += 32 - bits(digits);
        }
    }
    end = decode_end(&d, src + i, n - i, carry, plus, dst + o, cap - o);
    return end == UC_FULL ? UC_FULL : o + end;
}

AVX2 UC_APART size_t avx2_decode_plain(const uint8_t *src, size_t n, uint8_t *dst, size_t cap) {
    return avx2_decode_as(src, n, 0, dst, cap);
}

AVX2 UC_APART size_t avx2_decode_plus(const uint8_t *src, size_t n, uint8_t *dst, size_t cap) {
    return avx2_decode_as(src, n, 1, dst, cap);
}

AVX2 static size_t avx2_decode(const uint8_t *src, size_t n, int plus, uint8_t *dst, size_t cap) {
    size_t i = 0, rest;
    if (plus) return avx2_decode_plus(src, n, dst, cap);
    if (n <= SHORT && cap >= n + 32) { /* as avx2_encode; whole blocks fit, as the output is not longer than the input */
        const avx2_decoder d = avx2_load_decoder();
        for (; n - i >= 32; i += 32) {
            __m256i v = load32(src + i);
            if (mask_of(_mm256_cmpeq_epi8(v, d.percent))) break;
            store32(dst + i, v);
        }
        if (n - i <= 64) return i + decode_end(&d, src + i, n - i, 0, 0, dst + i, cap - i);
    }
    rest = avx2_decode_plain(src + i, n - i, dst + i, cap - i);
    return rest == UC_FULL ? UC_FULL : i + rest;
}

#include "avx2_urn.h"

static const uc_kernels uc_avx2 = {
    .span = avx2_span,
    .count_outside = avx2_count_outside,
    .mark_outside = avx2_mark_outside,
    .encode = avx2_encode,
    .decode = avx2_decode,
    .upper_triplets = avx2_upper_triplets,
    .normalize_urns = avx2_normalize_urns,
};

#undef AVX2
#undef AVX2_INLINE
#undef BOTH
#endif
