/* Percent-encoding on AVX2. Included by avx2.h.
 *
 * The path depends on the number of escapes. Where they are few, 64 bytes are copied at once, and after each escape
 * again, two bytes further on,
 *
 *      source   a b / c d e     stored   a b / c d e     then, from the '/' on     a b % 2 F c d e
 *
 * always twice, because a loop with the actual number would be mispredicted. If all bytes of a block are escapes, three
 * shuffles spread their digits. Other blocks are divided into four groups of eight bytes. A table has a row for each
 * pattern of escapes, with a shuffle of two registers that hold all bytes that the output may need
 *
 *      c0 .. c7 h0 .. h7 | l0 .. l7 % .. %          bytes, high digits | low digits, '%'
 *
 * (the top bits of a row select the register). The start of a group's output follows from the number of escapes before
 * it, so no group depends on the previous one.
 */
#ifndef UC_AVX2_ENCODE_H
#define UC_AVX2_ENCODE_H

/* Wide stores of one encoded block reach at most this far: 24 bytes for each of three groups, and 32. */
enum { ENCODED_BLOCK = 72 + 32 };

static UC_ALIGNED(32) uint8_t avx2_groups[256][32];      /* row k: a group whose escapes are the bits of k */
static uint8_t avx2_escapes[256][4];                     /* %HH */
static uint8_t avx2_digits[32];                          /* 0-9 A-F, twice */
static uint8_t avx2_spread[3][32], avx2_percents[3][32]; /* the shuffles of encode_all, and its '%' */

static void avx2_prepare_encode(void) {
    static const char digits[] = "0123456789ABCDEF";
    memset(avx2_groups, 0x80, sizeof avx2_groups);
    for (int k = 0; k < 256; k++) {
        uint8_t *row = avx2_groups[k];
        for (uint8_t j = 0; j < 8; j++) {
            if (k >> j & 1)
                *row++ = 0x80 | 8, *row++ = 8 + j, *row++ = 0x80 | j;
            else
                *row++ = j;
        }
        avx2_escapes[k][0] = '%';
        avx2_escapes[k][1] = (uint8_t)digits[k >> 4];
        avx2_escapes[k][2] = (uint8_t)digits[k & 15];
    }
    for (int i = 0; i < 32; i++) {
        avx2_digits[i] = (uint8_t)digits[i & 15];
        for (int third = 0; third < 3; third++) {
            int slot = 16 * third + (i & 15); /* of the 48 that 16 bytes become; sources start at digit 8 * third */
            avx2_spread[third][i] = (uint8_t)(slot % 3 ? slot / 3 * 2 + slot % 3 - 1 - 8 * third : 0x80);
            avx2_percents[third][i] = slot % 3 ? 0 : '%';
        }
    }
}

typedef struct avx2_encoder {
    avx2_set safe;
    __m256i digits, fifteen, percent, top_bit;
    __m256i from, difference; /* of bytes that stay, but change */
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

/* block: a bit for each byte of v that there is. */
AVX2_INLINE void encode_block(const avx2_encoder *e, __m256i v, uint32_t work, uint32_t block, uint8_t *dst) {
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), e->fifteen), low = _mm256_and_si256(v, e->fifteen);
    high = _mm256_shuffle_epi8(e->digits, high), low = _mm256_shuffle_epi8(e->digits, low);
    if (work == block)
        encode_all(high, low, dst);
    else
        encode_mixed(e, v, high, low, work, dst);
}

AVX2_INLINE __m256i changed(const avx2_encoder *e, __m256i v, const int plus) {
    return plus ? replace(v, e->from, e->difference) : v;
}

/* How far a long text is encoded. */
typedef struct avx2_encoded {
    size_t i, o;
} avx2_encoded;

/* What a step of encode_few() and encode_many() reads and writes, at most, and what it reads if it encodes FEW escapes.
 * Steps begin before src + stop and dst + full. */
enum { ENCODE_STEP = 128, ENCODE_FEW = 64 + 129, ENCODE_WRITES = 68 + 133 };

AVX2_INLINE void encode_copy64(const avx2_encoder *e, const uint8_t *src, const int plus, uint8_t *dst) {
    store32(dst, changed(e, load32(src), plus));
    store32(dst + 32, changed(e, load32(src + 32), plus));
}

/* Encodes the 64 bytes at src, of which `work`, at most two, are escapes. Returns where that ends. What is written too
 * much, the next bytes overwrite; without a first or second escape, this is what is written for it. */
AVX2_INLINE uint8_t *encode64(const avx2_encoder *e, const uint8_t *src, uint64_t work, const int plus, uint8_t *dst) {
    size_t first = lowest64(work), second = lowest64(work & (work - 1));
    encode_copy64(e, src, plus, dst);
    memcpy(dst + first, avx2_escapes[src[first]], 4);
    encode_copy64(e, src + first + 1, plus, dst + first + 3);
    memcpy(dst + second + 2, avx2_escapes[src[second]], 4);
    encode_copy64(e, src + second + 1, plus, dst + second + 5);
    return dst + 68 - 2 * (first >> 6) - 2 * (second >> 6);
}

/* All bits but the lowest two. */
AVX2_INLINE uint64_t after_two(uint64_t mask) {
    mask &= mask - 1;
    return mask & (mask - 1);
}

/* Encodes 128 bytes at a time, as long as there are at most two escapes in each half of them. */
AVX2_INLINE void encode_few(const avx2_encoder *e, const uint8_t *src, size_t stop, const int wide, const int plus,
                            uint8_t *dst, size_t full, avx2_encoded *at) {
    size_t i = at->i, o = at->o;
    for (; i < stop && o < full; i += 128) {
        __m256i v[4], safe[4], least;
        uint64_t work, work2;
        for (int k = 0; k < 4; k++) v[k] = load32(src + i + 32 * k), safe[k] = members(v[k], &e->safe, wide);
        least = _mm256_min_epu8(_mm256_min_epu8(safe[0], safe[1]), _mm256_min_epu8(safe[2], safe[3]));
        if (!zeros(least)) {
            for (int k = 0; k < 4; k++) store32(dst + o + 32 * k, changed(e, v[k], plus));
            o += 128;
            continue;
        }
        work = zeros(safe[0]) | (uint64_t)zeros(safe[1]) << 32, work2 = zeros(safe[2]) | (uint64_t)zeros(safe[3]) << 32;
        if (stop - i <= ENCODE_FEW - ENCODE_STEP || (after_two(work) | after_two(work2))) break;
        o = (size_t)(encode64(e, src + i, work, plus, dst + o) - dst);
        o = (size_t)(encode64(e, src + i + 64, work2, plus, dst + o) - dst);
    }
    at->i = i, at->o = o;
}

/* Encodes 64 bytes, and more as long as there are escapes in them. */
AVX2_INLINE void encode_many(const avx2_encoder *e, const uint8_t *src, size_t stop, const int wide, const int plus,
                             uint8_t *dst, size_t full, avx2_encoded *at) {
    size_t i = at->i, o = at->o;
    uint32_t found = 1;
    while (i < stop && o < full && found) {
        found = 0;
        for (int k = 0; k < 2; k++, i += 32) {
            __m256i v = load32(src + i);
            uint32_t work = zeros(members(v, &e->safe, wide));
            encode_block(e, changed(e, v, plus), work, 0xffffffffu, dst + o);
            o += 32 + 2 * bits(work), found |= work;
        }
    }
    at->i = i, at->o = o;
}

/* wide: whether the set may have bytes from 0x80 on. plus: whether a byte that stays may change. */
AVX2_INLINE size_t avx2_encode_as(const uint8_t *src, size_t n, const uc_set *safe, const int wide, const int plus,
                                  int space_to, uint8_t *dst, size_t cap) {
    const avx2_encoder e = avx2_load_encoder(safe, space_to);
    avx2_encoded at = {0, 0};
    size_t i, o;
    if (n >= ENCODE_STEP && cap >= ENCODE_WRITES) {
        const size_t stop = n - (ENCODE_STEP - 1), full = cap - (ENCODE_WRITES - 1);
        while (at.i < stop && at.o < full) {
            encode_few(&e, src, stop, wide, plus, dst, full, &at);
            encode_many(&e, src, stop, wide, plus, dst, full, &at);
        }
    }
    i = at.i, o = at.o;
    while (i < n) {
        uint8_t end[ENCODED_BLOCK], *to = cap - o >= ENCODED_BLOCK ? dst + o : end;
        size_t q = n - i < 32 ? n - i : 32, size;
        __m256i v = q < 32 ? load_part(src + i, q) : load32(src + i);
        uint32_t block = first_bits(q), work = zeros(members(v, &e.safe, wide)) & block;
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

/* Most calls have a short text. Without escapes, or for the last bytes, they skip the setup that is not needed. */
AVX2 static size_t avx2_encode(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst, size_t cap) {
    size_t i = 0, o, rest;
    plus = plus && safe->member[' '];
    if (is_wide(safe)) return avx2_encode_wide(src, n, safe, plus ? '+' : ' ', dst, cap);
    if (plus) return avx2_encode_plus(src, n, safe, dst, cap);
    if (n <= SHORT_TEXT && cap >= n + 2 * 64 + ENCODED_BLOCK) {
        const avx2_encoder e = avx2_load_encoder(safe, ' ');
        for (; n - i >= 32; i += 32) {
            __m256i v = load32(src + i);
            if (zeros(members(v, &e.safe, 0))) break;
            store32(dst + i, v);
        }
        if (n - i <= 64) {
            for (o = i; i < n; i += 32) {
                __m256i v = load_part(src + i, n - i);
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

#endif
