/* The kernels on AVX2 that change letters or mark triplets: 64 bytes a step, in two registers. Included by avx2.h.
 *
 * Findings are masks of 64 bits, from which urns.h computes one mask of the letters that change their case. To flip
 * bit 5 of these, the mask is broadcast, each of its bytes is shuffled to the eight bytes that it describes, and each
 * of these is compared with its bit.
 *
 * Hexadecimal digits are looked up once, at +2; the mask for +1 is the same one, shifted, with a bit from the previous
 * block.
 */
#ifndef UC_AVX2_URN_H
#define UC_AVX2_URN_H

/* 64 bytes. */
typedef struct avx2_lines {
    __m256i half[2];
} avx2_lines;

AVX2_INLINE avx2_lines load_block(const uint8_t *p) {
    avx2_lines v = {{load32(p), load32(p + 32)}};
    return v;
}

/* The min(n, 96) bytes at p, then zeros, from byte k < 16 on. k is a constant. */
#define PART_FROM(parts, k)                                                                           \
    {{_mm256_alignr_epi8(_mm256_permute2x128_si256(parts[0], parts[1], 0x21), parts[0], k),             \
      _mm256_alignr_epi8(_mm256_permute2x128_si256(parts[1], parts[2], 0x21), parts[1], k)}}

AVX2_INLINE void load_parts(const uint8_t *p, size_t n, __m256i parts[3]) {
    for (size_t k = 0; k < 3; k++) parts[k] = n > 32 * k ? load_up_to(p + 32 * k, n - 32 * k) : _mm256_setzero_si256();
}

/* The first n < 32 bytes of v. */
AVX2_INLINE void store_part(uint8_t *p, __m256i v, size_t n) {
    __m128i rest = _mm256_castsi256_si128(v);
    uint32_t word;
    if (n & 16) _mm_storeu_si128((__m128i *)p, rest), p += 16, rest = _mm256_extracti128_si256(v, 1);
    if (n & 8) _mm_storel_epi64((__m128i *)p, rest), p += 8, rest = _mm_srli_si128(rest, 8);
    word = (uint32_t)_mm_cvtsi128_si32(rest);
    if (n & 4) memcpy(p, &word, 4), p += 4, word = (uint32_t)_mm_extract_epi32(rest, 1);
    if (n & 2) memcpy(p, &word, 2), p += 2, word >>= 16;
    if (n & 1) *p = (uint8_t)word;
}

AVX2_INLINE void store_block(uint8_t *p, avx2_lines v, size_t n) {
    if (n >= 32)
        store32(p, v.half[0]);
    else
        store_part(p, v.half[0], n);
    if (n >= 64)
        store32(p + 32, v.half[1]);
    else if (n > 32)
        store_part(p + 32, v.half[1], n - 32);
}

#define MASK64(expression_of_half)                            \
    ((uint64_t)mask_of(expression_of_half(0)) | (uint64_t)mask_of(expression_of_half(1)) << 32)

AVX2_INLINE uint64_t equal64(avx2_lines v, __m256i byte) {
#define EQUAL(k) _mm256_cmpeq_epi8(v.half[k], byte)
    return MASK64(EQUAL);
#undef EQUAL
}

/* The letters from a to f, and other bytes above the upper-case letters. */
AVX2_INLINE uint64_t above_capitals64(avx2_lines v) {
#define ABOVE(k) _mm256_cmpgt_epi8(v.half[k], _mm256_set1_epi8('a' - 1))
    return MASK64(ABOVE);
#undef ABOVE
}

AVX2_INLINE uint64_t capitals64(avx2_lines v) {
    __m256i letter[2];
    for (int k = 0; k < 2; k++) letter[k] = _mm256_sub_epi8(v.half[k], _mm256_set1_epi8('A'));
#define CAPITAL(k) _mm256_cmpeq_epi8(_mm256_min_epu8(letter[k], _mm256_set1_epi8('Z' - 'A')), letter[k])
    return MASK64(CAPITAL);
#undef CAPITAL
}

/* The block with bit 5 of these bytes turned. */
AVX2_INLINE avx2_lines turn_case(avx2_lines v, uint64_t bytes) {
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    const __m256i eight_times = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    __m256i all = _mm256_set1_epi64x((int64_t)bytes);
    for (int k = 0; k < 2; k++) {
        __m256i from = _mm256_add_epi8(eight_times, _mm256_set1_epi8((char)(4 * k)));
        __m256i chosen = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(all, from), bit), bit);
        v.half[k] = _mm256_xor_si256(v.half[k], _mm256_and_si256(chosen, _mm256_set1_epi8(0x20)));
    }
    return v;
}

/* The hexadecimal digits as a set. */
AVX2_INLINE avx2_set avx2_hex_set(void) {
    avx2_set s;
    s.low = BOTH(8, 88, 88, 88, 88, 88, 88, 8, 8, 8, 0, 0, 0, 0, 0, 0);
    s.high = _mm256_setzero_si256();
    s.row = BOTH(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    return s;
}

/* The '%' before two digits, when v2 is the block two bytes on. *digit: whether byte 1 of the block, and then that of
 * the next block, is a digit. */
AVX2_INLINE uint64_t block_triplets(const avx2_set *hex, avx2_lines v, avx2_lines v2, uint64_t *digit) {
    uint64_t none = zeros(members(v2.half[0], hex, 0)) | (uint64_t)zeros(members(v2.half[1], hex, 0)) << 32;
    uint64_t first = ~none << 1 | *digit;
    *digit = ~none >> 63;
    return equal64(v, _mm256_set1_epi8('%')) & first & ~none;
}

AVX2_INLINE uint64_t second_is_digit(const avx2_set *hex, const uint8_t *src, size_t n) {
    return n > 1 && !(zeros(members(_mm256_set1_epi8((char)src[1]), hex, 0)) & 1);
}

AVX2 static int avx2_mark_triplets(const uint8_t *src, size_t n, uint64_t *malformed, uint64_t *digits) {
    const avx2_set hex = avx2_hex_set();
    uint64_t digit = second_is_digit(&hex, src, n), carry = 0, any = 0;
    for (size_t i = 0; i < n; i += n - i < 64 ? n - i : 64) {
        avx2_lines v, v2;
        uint64_t percents, triplets;
        if (n - i >= 66) {
            v = load_block(src + i), v2 = load_block(src + i + 2);
        } else {
            __m256i parts[3];
            load_parts(src + i, n - i, parts);
            {
                avx2_lines two_on = PART_FROM(parts, 2);
                v.half[0] = parts[0], v.half[1] = parts[1], v2 = two_on;
            }
        }
        percents = equal64(v, _mm256_set1_epi8('%'));
        triplets = block_triplets(&hex, v, v2, &digit);
        any |= percents;
        malformed[i / 64] = percents & ~triplets;
        digits[i / 64] = uc_triplet_digits(triplets, &carry);
    }
    return any != 0;
}

AVX2_INLINE avx2_lines upper_block(avx2_lines v, uint64_t triplets, uint64_t *carry) {
    return turn_case(v, uc_triplet_digits(triplets, carry) & above_capitals64(v));
}

AVX2 static void avx2_upper_triplets(const uint8_t *src, size_t n, uint8_t *dst) {
    const avx2_set hex = avx2_hex_set();
    uint64_t digit = second_is_digit(&hex, src, n), carry = 0;
    size_t i = 0;
    for (; n - i >= 66; i += 64) {
        avx2_lines v = load_block(src + i);
        v = upper_block(v, block_triplets(&hex, v, load_block(src + i + 2), &digit), &carry);
        store_block(dst + i, v, 64);
    }
    for (; i < n; i += n - i < 64 ? n - i : 64) {
        __m256i parts[3];
        load_parts(src + i, n - i, parts);
        {
            avx2_lines v = {{parts[0], parts[1]}}, v2 = PART_FROM(parts, 2);
            store_block(dst + i, upper_block(v, block_triplets(&hex, v, v2, &digit), &carry), n - i);
        }
    }
}

/* The 'u' of each "urn:", in any case, when v1, v2 and v3 are the block one, two and three bytes on. */
AVX2_INLINE uint64_t block_schemes(avx2_lines v, avx2_lines v1, avx2_lines v2, avx2_lines v3) {
    const __m256i u = _mm256_set1_epi8('u'), r = _mm256_set1_epi8('r'), n = _mm256_set1_epi8('n');
    const __m256i colon = _mm256_set1_epi8(':'), case_bit = _mm256_set1_epi8(0x20);
    __m256i differs[2]; /* from "urn:" */
    for (int k = 0; k < 2; k++) {
        differs[k] = _mm256_or_si256(_mm256_xor_si256(v.half[k], u), _mm256_xor_si256(v1.half[k], r));
        differs[k] = _mm256_or_si256(differs[k], _mm256_xor_si256(v2.half[k], n));
        differs[k] = _mm256_or_si256(_mm256_andnot_si256(case_bit, differs[k]), _mm256_xor_si256(v3.half[k], colon));
    }
    return zeros(differs[0]) | (uint64_t)zeros(differs[1]) << 32;
}

/* v normalised; v1, v2 and v3 as before. */
AVX2_INLINE avx2_lines normalize_block(const avx2_set *hex, avx2_lines v, avx2_lines v1, avx2_lines v2, avx2_lines v3,
                                       __m256i end, uint64_t *digit, uc_urn_carry *carry) {
    uc_urn_block block;
    uint64_t lower, upper;
    block.schemes = block_schemes(v, v1, v2, v3);
    block.ends = equal64(v, end);
    block.colons = equal64(v, _mm256_set1_epi8(':'));
    block.triplets = block_triplets(hex, v, v2, digit);
    uc_urn_masks(&block, carry, &lower, &upper);
    return turn_case(v, (lower & capitals64(v)) | (upper & above_capitals64(v)));
}

AVX2 static void avx2_normalize_urns(const uint8_t *src, size_t n, uint8_t end, uint8_t *dst) {
    const avx2_set hex = avx2_hex_set();
    const __m256i ends = _mm256_set1_epi8((char)end);
    uint64_t digit = second_is_digit(&hex, src, n);
    uc_urn_carry carry = uc_first_urn_block;
    size_t i = 0;
    for (; n - i >= 67; i += 64) {
        const uint8_t *p = src + i;
        avx2_lines v = load_block(p), v1 = load_block(p + 1), v2 = load_block(p + 2), v3 = load_block(p + 3);
        store_block(dst + i, normalize_block(&hex, v, v1, v2, v3, ends, &digit, &carry), 64);
    }
    for (; i < n; i += n - i < 64 ? n - i : 64) {
        __m256i parts[3];
        load_parts(src + i, n - i, parts);
        {
            avx2_lines v = {{parts[0], parts[1]}}, v1 = PART_FROM(parts, 1), v2 = PART_FROM(parts, 2);
            avx2_lines v3 = PART_FROM(parts, 3);
            store_block(dst + i, normalize_block(&hex, v, v1, v2, v3, ends, &digit, &carry), n - i);
        }
    }
}

#undef MASK64
#endif
