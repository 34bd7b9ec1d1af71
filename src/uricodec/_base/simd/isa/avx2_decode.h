/* Percent-decoding on AVX2. Included by avx2.h.
 *
 * Whether a '%' begins a triplet depends only on the two bytes after it, because a hexadecimal digit is never a '%'. So
 * the block is loaded at +0, +1 and +2, values replace the '%', and shuffles remove the digits, eight bytes at a time.
 * Digits that belong to a triplet of the previous block arrive as a carry of two bits. Runs of triplets have their own
 * path, 48 bytes to 16, and so do runs without '%', 128 bytes at a time.
 */
#ifndef UC_AVX2_DECODE_H
#define UC_AVX2_DECODE_H

static uint8_t avx2_keep[256][8]; /* row k: the shuffle that keeps the bytes whose bits are set in k */

static void avx2_prepare_decode(void) {
    memset(avx2_keep, 0x80, sizeof avx2_keep);
    for (int k = 0; k < 256; k++) {
        uint8_t *row = avx2_keep[k];
        for (uint8_t j = 0; j < 8; j++)
            if (k >> j & 1) *row++ = j;
    }
}

typedef struct avx2_decoder {
    __m256i percent, zero, nine, case_bit, a, ten, fifteen;
} avx2_decoder;

AVX2_INLINE avx2_decoder avx2_load_decoder(void) {
    avx2_decoder d = {fill('%'), fill('0'), fill(9), fill(0x20), fill('a'), fill(10), fill(15)};
    return d;
}

/* The value of each hexadecimal digit; more than 15 for other bytes. As a letter, saturation keeps out what is just
 * below 'a'. */
AVX2_INLINE __m256i hex_values(const avx2_decoder *d, __m256i c) {
    __m256i letter = _mm256_sub_epi8(_mm256_or_si256(c, d->case_bit), d->a);
    __m256i decimal = _mm256_xor_si256(c, d->zero);
    decimal = _mm256_or_si256(decimal, _mm256_cmpgt_epi8(decimal, d->nine));
    return _mm256_min_epu8(decimal, _mm256_adds_epu8(letter, d->ten));
}

/* Decodes 48 bytes that are 16 triplets. Byte j of part[i] is the '%' (i = 0), high or low digit of triplet j. */
AVX2_INLINE int decode_triplets(const avx2_decoder *d, const uint8_t *src, uint8_t *dst) {
    __m128i a = _mm_loadu_si128((const __m128i *)src), b = _mm_loadu_si128((const __m128i *)(src + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(src + 32));
    /* Every third byte of a, b and c; the other parts are the same, one and two bytes on. */
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
    if (!_mm_testz_si128(_mm_or_si128(high, low), _mm_set1_epi8((char)0xF0))) return 0;
    if (!_mm_testz_si128(differs, differs)) return 0;
    _mm_storeu_si128((__m128i *)dst, _mm_or_si128(_mm_slli_epi16(high, 4), low));
    return 1;
}

AVX2_INLINE void squeeze8(uint8_t *dst, __m128i octets, uint32_t keep) {
    __m128i row = _mm_loadl_epi64((const __m128i *)avx2_keep[keep & 255]);
    _mm_storel_epi64((__m128i *)dst, _mm_shuffle_epi8(octets, row));
}

/* Stores the bytes of v that `keep` names, eight at a time, within 32 bytes from dst. */
AVX2_INLINE void squeeze(uint8_t *dst, __m256i v, uint32_t keep) {
    __m128i first = _mm256_castsi256_si128(v), last = _mm256_extracti128_si256(v, 1);
    squeeze8(dst, first, keep);
    squeeze8(dst + bits(keep & 0xff), _mm_srli_si128(first, 8), keep >> 8);
    squeeze8(dst + bits(keep & 0xffff), last, keep >> 16);
    squeeze8(dst + bits(keep & 0xffffff), _mm_srli_si128(last, 8), keep >> 24);
}

/* Decodes one block: v, and the same one and two bytes on. *carry has the digits of v that an earlier '%' took; it
 * becomes those of the next block. Returns the bytes of v that are digits of triplets. */
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

/* Copies bytes as long as 128 of them have no '%'. Returns how many. */
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

/* Decodes the last n bytes of the input; `carry` says which of the first are digits. Returns the number of bytes
 * written, or UC_FULL. */
AVX2_INLINE size_t decode_end(const avx2_decoder *d, const uint8_t *src, size_t n, uint32_t carry, const int plus,
                              uint8_t *dst, size_t cap) {
    __m256i v = load_up_to(src, n), next;
    size_t i = 0, o = 0;
    for (; i < n; i += 32, v = next) {
        size_t rest = n - i, size;
        uint32_t digits = 0;
        __m256i out = spaces(v, plus);
        next = rest > 32 ? load_up_to(src + i + 32, rest - 32) : _mm256_setzero_si256(); /* zeros are not digits */
        if (mask_of(_mm256_cmpeq_epi8(v, d->percent)) | carry) {
            __m256i over = _mm256_permute2x128_si256(v, next, 0x21);
            digits = decode_block(d, &out, _mm256_alignr_epi8(over, v, 1), _mm256_alignr_epi8(over, v, 2), &carry);
            digits &= first_bits(rest < 32 ? rest : 32);
        }
        size = (rest < 32 ? rest : 32) - bits(digits);
        if (cap - o >= 32) {
            if (digits)
                squeeze(dst + o, out, ~digits);
            else
                store32(dst + o, out);
        } else {
            uint8_t end[32];
            if (size > cap - o) return UC_FULL;
            squeeze(end, out, ~digits);
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
            squeeze(dst + o, v, ~digits);
            i += 32, o += bits(~digits);
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
    /* See avx2_encode. Stores of whole blocks are in bounds, because the output is not longer than the input. */
    if (n <= SHORT && cap >= n + 32) {
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

#endif
