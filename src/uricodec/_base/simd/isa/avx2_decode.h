/* Percent-decoding on AVX2. Included by avx2.h.
 *
 * Whether a '%' begins a triplet depends only on the two bytes after it, because a hexadecimal digit is never a '%'. So
 * the block is loaded at +0, +1 and +2, values replace the '%', and shuffles remove the digits, eight bytes at a time.
 * Digits that belong to a triplet of the previous block arrive as a carry of two bits. Runs of triplets have their own
 * path, 48 bytes to 16. Where triplets are few, 64 bytes are copied at once, and after each triplet again, two bytes
 * less far,
 *
 *      source   a b % 2 F c d e     stored   a b % 2 F c d e     then, from the '%' on     a b / c d e
 */
#ifndef UC_AVX2_DECODE_H
#define UC_AVX2_DECODE_H

static uint8_t avx2_keep[256][8];  /* row k: the shuffle that keeps the bytes whose bits are set in k */
static uint16_t avx2_digit[256];   /* the value of a hexadecimal digit; 0x100 for other bytes */

static void avx2_prepare_decode(void) {
    for (int c = 0; c < 256; c++) avx2_digit[c] = 0x100;
    for (int i = 0; i < 22; i++)
        avx2_digit[(uint8_t)"0123456789ABCDEFabcdef"[i]] = (uint16_t)(i < 16 ? i : i - 6);
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

AVX2_INLINE void squeeze8(uint8_t *dst, __m128i v, uint32_t keep) {
    __m128i row = _mm_loadl_epi64((const __m128i *)avx2_keep[keep & 255]);
    _mm_storel_epi64((__m128i *)dst, _mm_shuffle_epi8(v, row));
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

/* How far a long text is decoded; carry is as in decode_block(). */
typedef struct avx2_decoded {
    size_t i, o;
    uint32_t carry;
} avx2_decoded;

/* What a step of the next two functions reads and writes, at most, and what it does if it decodes FEW triplets. */
enum { DECODE_STEP = 66, DECODE_FEW = 133 };

AVX2_INLINE void copy64(const uint8_t *src, const int plus, uint8_t *dst) {
    __m256i first = load32(src), last = load32(src + 32);
    store32(dst, spaces(first, plus));
    store32(dst + 32, spaces(last, plus));
}

/* Decodes up to src + stop, 64 bytes at a time, as long as there are at most two '%' in them, and these begin triplets.
 * What a copy writes too much, the next one overwrites; in place, it would overwrite the input, so that only bytes
 * without '%' are copied. If there is one '%', what is done for the second changes bytes after the output only. */
AVX2_INLINE void decode_few(const uint8_t *src, size_t stop, const int plus, uint8_t *dst, avx2_decoded *at) {
    const __m256i percent = fill('%');
    const uint8_t *from = src + at->i, *const end = src + stop;
    size_t skip = at->carry - (at->carry >> 1); /* digits of an earlier triplet: 0, 1 or 2 */
    uint8_t *to = dst + at->o;                  /* where from[skip] is written */
    while (from < end) {
        __m256i v = load32(from), w = load32(from + 32);
        uint64_t percents = mask64(_mm256_cmpeq_epi8(v, percent), _mm256_cmpeq_epi8(w, percent)), rest;
        size_t first, second, single;
        uint32_t value, value2;
        uint8_t *place;
        if (!(percents | skip)) {
            store32(to, spaces(v, plus));
            store32(to + 32, spaces(w, plus));
            from += 64, to += 64;
            continue;
        }
        if (!percents) {
            copy64(from + skip, plus, to);
            from += 64, to += 64 - skip, skip = 0;
            continue;
        }
        if (dst == src || (size_t)(end - from) <= DECODE_FEW - DECODE_STEP) break;
        /* single: 1 if there is one '%' only; `second` is then 64. A triplet makes the output two bytes shorter. */
        rest = percents & (percents - 1);
        first = lowest64(percents), second = lowest64(rest), single = second >> 6;
        value = (uint32_t)avx2_digit[from[first + 1]] << 4 | avx2_digit[from[first + 2]];
        value2 = (uint32_t)avx2_digit[from[second + 1]] << 4 | avx2_digit[from[second + 2]];
        if ((rest & (rest - 1)) | (value | (value2 & ((uint32_t)single - 1))) >> 8) break;
        second += 2 * single; /* after the digits of a triplet that ends in the next 64 bytes */
        copy64(from + skip, plus, to);
        place = to + (first - skip);
        *place = (uint8_t)value;
        copy64(from + first + 3, plus, place + 1);
        place += second - first - 2;
        *place = (uint8_t)value2;
        copy64(from + second + 3, plus, place + 1);
        to += 60 + 2 * single - skip, from += 64;
        skip = (size_t)(percents >> 62);
        to += skip;
    }
    at->i = (size_t)(from - src), at->o = (size_t)(to - dst), at->carry = (uint32_t)(skip + (skip >> 1));
}

/* Decodes up to src + stop: 64 bytes, and more as long as there are triplets in them. */
AVX2_INLINE void decode_many(const uint8_t *src, size_t stop, const int plus, uint8_t *dst, avx2_decoded *at) {
    const avx2_decoder d = avx2_load_decoder();
    const uint32_t every_third = 0x49249249;
    const uint8_t *from = src + at->i, *const end = src + stop;
    uint8_t *to = dst + at->o;
    uint32_t carry = at->carry, digits = 1;
    while (from < end && digits) {
        if ((mask_of(_mm256_cmpeq_epi8(load32(from), d.percent)) & every_third) == every_third) {
            const uint8_t *start = from;
            while (from < end && decode_triplets(&d, from, to)) from += 48, to += 16;
            if (from > start) continue;
        }
        digits = 0;
        for (int k = 0; k < 64; k += 32) {
            __m256i v = spaces(load32(from + k), plus);
            uint32_t drop = decode_block(&d, &v, load32(from + k + 1), load32(from + k + 2), &carry);
            squeeze(to, v, ~drop);
            to += bits(~drop);
            digits |= drop;
        }
        from += 64;
    }
    at->i = (size_t)(from - src), at->o = (size_t)(to - dst), at->carry = carry;
}

/* Decodes the last n bytes of the input; `carry` says which of the first are digits. Returns the number of bytes
 * written, or UC_FULL. */
AVX2_INLINE size_t decode_end(const avx2_decoder *d, const uint8_t *src, size_t n, uint32_t carry, const int plus,
                              uint8_t *dst, size_t cap) {
    __m256i v = load_part(src, n), next;
    size_t i = 0, o = 0;
    for (; i < n; i += 32, v = next) {
        size_t rest = n - i, size;
        uint32_t digits = 0;
        __m256i out = spaces(v, plus);
        next = rest > 32 ? load_part(src + i + 32, rest - 32) : _mm256_setzero_si256(); /* zeros are not digits */
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
    avx2_decoded at = {0, 0, 0};
    size_t end;
    for (;;) {
        /* The output is not longer than the input, so its end is not nearer than that of the bytes left. */
        size_t left = n - at.i < cap - at.o ? n - at.i : cap - at.o, stop = at.i + left - (DECODE_STEP - 1);
        if (left < DECODE_STEP) break;
        decode_few(src, stop, plus, dst, &at);
        decode_many(src, stop, plus, dst, &at);
    }
    while (n - at.i >= 34 && cap - at.o >= 32) {
        __m256i v = spaces(load32(src + at.i), plus);
        uint32_t drop = decode_block(&d, &v, load32(src + at.i + 1), load32(src + at.i + 2), &at.carry);
        squeeze(dst + at.o, v, ~drop);
        at.i += 32, at.o += bits(~drop);
    }
    end = decode_end(&d, src + at.i, n - at.i, at.carry, plus, dst + at.o, cap - at.o);
    return end == UC_FULL ? UC_FULL : at.o + end;
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
    if (n <= SHORT_TEXT && cap >= n + 32) {
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
