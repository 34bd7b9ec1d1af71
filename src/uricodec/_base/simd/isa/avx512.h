/* The kernels on AVX-512 with VBMI and VBMI2: 64 bytes a step.
 *
 * Classify. A set is 256 bits in 32 bytes. One vpermb looks up the byte by the upper five bits of c, another the bit
 * within it by the lower three. vpermb ignores the upper bits of an index, and both tables are repeated to its 64
 * bytes, so no masking is needed. The cost does not depend on the set.
 *
 * Encode. 21 bytes get 63 slots, three for each byte: the byte or '%', the high digit, the low digit. Three
 * permutations fill these slots, and a compress keeps the used ones: only the first slot of a byte that is not escaped.
 *
 *      bytes   a     /     b            work    0   1   0
 *      slots    a61   %2F   b62          keep    100 111 100          result   a%2Fb
 *
 * A step does this three times, for 63 bytes. The start of each third follows from the number of escapes before it, so
 * no third depends on the previous one, and nothing branches on the density of escapes.
 *
 * Decode. Whether a '%' begins a triplet depends only on the two bytes after it, because a hexadecimal digit is never a
 * '%'. So the block is loaded at +0, +1 and +2, values replace the '%', and a compress removes the digits. Digits that
 * belong to a triplet of the previous block arrive as a carry of two bits. Hexadecimal digits differ in their lower six
 * bits, which are the index of two tables: the value, and the only digit with these bits, to compare with.
 *
 * Bounds. Masked loads and stores end where the input and the output do. Compresses go to registers, because some CPUs
 * are many times slower when they go to memory.
 */
#ifndef UC_AVX512_H
#define UC_AVX512_H

#include <immintrin.h>
#include <string.h>

#include "../kernels.h"
#include "../octets.h"
#include "../target.h"
#include "../urn_grammar.h"
#include "../urns.h"

#define AVX512 UC_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")
#define AVX512_INLINE AVX512 UC_INLINE

AVX512_INLINE __m512i avx512_load64(const uint8_t *p) { return _mm512_loadu_si512(p); }
AVX512_INLINE void avx512_store64(uint8_t *p, __m512i v) { _mm512_storeu_si512(p, v); }
AVX512_INLINE __m512i all64(int byte) { return _mm512_set1_epi8((char)byte); }
AVX512_INLINE size_t avx512_count64(uint64_t mask) { return (size_t)_mm_popcnt_u64(mask); }
AVX512_INLINE uint64_t first64(size_t n) { return _bzhi_u64(~UINT64_C(0), (uint32_t)n); } /* n < 256: min(n, 64) bits */

/* The min(n, 64) bytes at p, then zeros. */
AVX512_INLINE __m512i load64_part(const uint8_t *p, size_t n) {
    return _mm512_maskz_loadu_epi8(first64(n < 64 ? n : 64), p);
}

/* 16 bytes, four times. */
#define FOUR_TIMES(...) _mm512_broadcast_i32x4(_mm_setr_epi8(__VA_ARGS__))

typedef struct avx512_set {
    __m512i bytes, bits;
} avx512_set;

AVX512_INLINE avx512_set avx512_load_set(const uc_set *set) {
    avx512_set s;
    s.bytes = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)set->bits));
    s.bits = _mm512_set1_epi64((int64_t)0x8040201008040201);
    return s;
}

AVX512_INLINE uint64_t avx512_outside64(__m512i v, const avx512_set *s) {
    __m512i byte = _mm512_permutexvar_epi8(_mm512_srli_epi16(v, 3), s->bytes);
    return _mm512_testn_epi8_mask(byte, _mm512_permutexvar_epi8(v, s->bits));
}

/* --- encode ---------------------------------------------------------------------------------------------------------
 * */

/* For each third of a step, the byte of each of its 63 slots. */
static UC_ALIGNED(64) uint8_t avx512_slots[3][64];

/* For each byte, in the place of its lower six bits: its value as a hexadecimal digit, that value times 16, and the
 * digit itself. */
static UC_ALIGNED(64) uint8_t avx512_low_value[64], avx512_high_value[64], avx512_digit[64];

static void avx512_prepare(void) {
    for (int third = 0; third < 3; third++)
        for (int slot = 0; slot < 63; slot++) avx512_slots[third][slot] = (uint8_t)(21 * third + slot / 3);
    memset(avx512_digit, '0', sizeof avx512_digit); /* a byte that is not a digit is compared with one of other lower bits */
    for (int i = 0; i < 22; i++) {
        uint8_t digit = (uint8_t)"0123456789ABCDEFabcdef"[i], value = (uint8_t)(i < 16 ? i : i - 6);
        avx512_low_value[digit & 63] = value;
        avx512_high_value[digit & 63] = (uint8_t)(value << 4);
        avx512_digit[digit & 63] = digit;
    }
}

#define FIRST_SLOTS UINT64_C(0x1249249249249249) /* of each of 21 bytes */
enum { STEP = 63, ENCODED_STEP = 2 * 63 + 64 };  /* bytes that the stores of one step reach at most */

typedef struct avx512_encoder {
    avx512_set safe;
    __m512i hexadecimal, percent, slots[3];
} avx512_encoder;

AVX512_INLINE avx512_encoder avx512_load_encoder(const uc_set *safe) {
    avx512_encoder e;
    e.safe = avx512_load_set(safe);
    e.hexadecimal = FOUR_TIMES('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F');
    e.percent = all64('%');
    for (int third = 0; third < 3; third++) e.slots[third] = avx512_load64(avx512_slots[third]);
    return e;
}

AVX512_INLINE __m512i spaces_to_plus(__m512i v) {
    return _mm512_mask_mov_epi8(v, _mm512_cmpeq_epi8_mask(v, all64(' ')), all64('+'));
}

/* The STEP bytes of v, `work` of them as escapes. Returns where they end. Writes up to dst + ENCODED_STEP, unless
 * exact: then the first `size` bytes only. */
AVX512_INLINE uint8_t *encode_step(const avx512_encoder *e, __m512i v, uint64_t work, const int exact, size_t size,
                                   uint8_t *dst) {
    __m512i high = _mm512_permutexvar_epi8(_mm512_srli_epi16(v, 4), e->hexadecimal);
    __m512i low = _mm512_permutexvar_epi8(v, e->hexadecimal), bytes = _mm512_mask_mov_epi8(v, work, e->percent);
    for (int third = 0; third < 3; third++) {
        uint64_t keep = FIRST_SLOTS + 6 * _pdep_u64(work >> 21 * third, FIRST_SLOTS);
        __m512i slots = _mm512_permutexvar_epi8(e->slots[third], bytes);
        slots = _mm512_mask_permutexvar_epi8(slots, FIRST_SLOTS << 1, e->slots[third], high);
        slots = _mm512_mask_permutexvar_epi8(slots, FIRST_SLOTS << 2, e->slots[third], low);
        slots = _mm512_maskz_compress_epi8(keep, slots);
        if (exact) {
            size_t part = avx512_count64(keep) < size ? avx512_count64(keep) : size;
            _mm512_mask_storeu_epi8(dst, first64(part), slots);
            size -= part;
        } else {
            avx512_store64(dst, slots);
        }
        dst += avx512_count64(keep);
    }
    return dst;
}

/* The same for escapes only. */
AVX512_INLINE uint8_t *encode_step_of_escapes(const avx512_encoder *e, __m512i v, uint8_t *dst) {
    __m512i high = _mm512_permutexvar_epi8(_mm512_srli_epi16(v, 4), e->hexadecimal);
    __m512i low = _mm512_permutexvar_epi8(v, e->hexadecimal);
    for (int third = 0; third < 3; third++, dst += 63) {
        __m512i slots = _mm512_mask_permutexvar_epi8(e->percent, FIRST_SLOTS << 1, e->slots[third], high);
        avx512_store64(dst, _mm512_mask_permutexvar_epi8(slots, FIRST_SLOTS << 2, e->slots[third], low));
    }
    return dst;
}

AVX512_INLINE size_t avx512_encode_as(const uint8_t *src, size_t n, const uc_set *safe, const int plus, uint8_t *dst,
                                      size_t cap) {
    const avx512_encoder e = avx512_load_encoder(safe);
    const uint64_t step = first64(STEP);
    size_t i = 0, o = 0;
    if (n >= 64 && cap >= ENCODED_STEP) {
        const uint8_t *from = src, *const last = src + n - 64, *const full = dst + cap - ENCODED_STEP;
        uint8_t *to = dst;
        while (from <= last && to <= full) {
            __m512i v = avx512_load64(from);
            uint64_t work = avx512_outside64(v, &e.safe);
            if (plus) v = spaces_to_plus(v);
            if (!work) {
                avx512_store64(to, v);
                from += 64, to += 64;
                continue;
            }
            work &= step;
            to = work == step ? encode_step_of_escapes(&e, v, to) : encode_step(&e, v, work, 0, 0, to);
            from += STEP;
        }
        i = (size_t)(from - src), o = (size_t)(to - dst);
    }
    while (i < n) {
        size_t q = n - i < STEP ? n - i : STEP, size;
        uint64_t block = first64(q), work;
        __m512i v = _mm512_maskz_loadu_epi8(block, src + i);
        work = avx512_outside64(v, &e.safe) & block;
        if (plus) v = spaces_to_plus(v);
        size = q + 2 * avx512_count64(work);
        if (size > cap - o) return UC_FULL;
        if (cap - o >= ENCODED_STEP)
            encode_step(&e, v, work, 0, 0, dst + o);
        else
            encode_step(&e, v, work, 1, size, dst + o);
        i += q, o += size;
    }
    return o;
}

AVX512 UC_APART size_t avx512_encode_plain(const uint8_t *src, size_t n, const uc_set *safe, uint8_t *dst, size_t cap) {
    return avx512_encode_as(src, n, safe, 0, dst, cap);
}

AVX512 UC_APART size_t avx512_encode_plus(const uint8_t *src, size_t n, const uc_set *safe, uint8_t *dst, size_t cap) {
    return avx512_encode_as(src, n, safe, 1, dst, cap);
}

/* Most calls have a text without escapes, or less than a step: they skip the setup that they do not need. */
AVX512 static size_t avx512_encode(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst,
                                   size_t cap) {
    const avx512_set s = avx512_load_set(safe);
    const int change = plus && safe->member[' '];
    size_t i = 0, rest;
    for (; n - i >= 64 && cap - i >= 64; i += 64) {
        __m512i v = avx512_load64(src + i);
        if (avx512_outside64(v, &s)) break;
        avx512_store64(dst + i, change ? spaces_to_plus(v) : v);
    }
    if (n - i <= STEP && cap - i >= ENCODED_STEP) {
        const uint64_t block = first64(n - i);
        __m512i v = _mm512_maskz_loadu_epi8(block, src + i);
        uint64_t work = avx512_outside64(v, &s) & block;
        if (change) v = spaces_to_plus(v);
        if (work) {
            const avx512_encoder e = avx512_load_encoder(safe);
            encode_step(&e, v, work, 0, 0, dst + i);
        } else {
            avx512_store64(dst + i, v);
        }
        return n + 2 * avx512_count64(work);
    }
    rest = (change ? avx512_encode_plus : avx512_encode_plain)(src + i, n - i, safe, dst + i, cap - i);
    return rest == UC_FULL ? UC_FULL : i + rest;
}

/* --- decode ---------------------------------------------------------------------------------------------------------
 * */

typedef struct avx512_hex {
    __m512i digit, low, high;
} avx512_hex;

AVX512_INLINE avx512_hex avx512_load_hex(void) {
    avx512_hex hex;
    hex.digit = avx512_load64(avx512_digit);
    hex.low = avx512_load64(avx512_low_value);
    hex.high = avx512_load64(avx512_high_value);
    return hex;
}

/* Which bytes of v are '%' before two digits, when v1 and v2 are the bytes one and two places on. */
AVX512_INLINE uint64_t triplets64(const avx512_hex *hex, uint64_t percents, __m512i v1, __m512i v2) {
    uint64_t first = _mm512_mask_cmpeq_epi8_mask(percents, v1, _mm512_permutexvar_epi8(v1, hex->digit));
    return _mm512_mask_cmpeq_epi8_mask(first, v2, _mm512_permutexvar_epi8(v2, hex->digit));
}

AVX512_INLINE __m512i decode_triplets64(const avx512_hex *hex, __m512i v, uint64_t triplets, __m512i v1, __m512i v2) {
    return _mm512_mask_add_epi8(v, triplets, _mm512_permutexvar_epi8(v1, hex->high),
                                _mm512_permutexvar_epi8(v2, hex->low));
}

/* The bytes of v and then `next`, from byte k on. over = bytes 16 to 79. */
AVX512_INLINE __m512i over64(__m512i v, __m512i next) { return _mm512_alignr_epi32(next, v, 4); }
#define AHEAD(v, over, k) _mm512_alignr_epi8(over, v, k)

AVX512_INLINE __m512i plus_to_spaces(__m512i v) {
    return _mm512_mask_mov_epi8(v, _mm512_cmpeq_epi8_mask(v, all64('+')), all64(' '));
}

AVX512_INLINE size_t avx512_decode_as(const uint8_t *src, size_t n, const int plus, uint8_t *dst, size_t cap) {
    const avx512_hex hex = avx512_load_hex();
    uint64_t carry = 0;
    size_t i = 0, o = 0;
    if (n >= 66 && cap >= 64) {
        const uint8_t *from = src, *const last = src + n - 66, *const full = dst + cap - 64;
        uint8_t *to = dst;
        for (; from <= last && to <= full; from += 64) {
            __m512i v = avx512_load64(from), v1, v2;
            uint64_t percents = _mm512_cmpeq_epi8_mask(v, all64('%')), keep;
            if (plus) v = plus_to_spaces(v);
            if (!(percents | carry)) {
                avx512_store64(to, v);
                to += 64;
                continue;
            }
            v1 = avx512_load64(from + 1), v2 = avx512_load64(from + 2);
            percents = triplets64(&hex, percents, v1, v2);
            keep = ~uc_triplet_digits(percents, &carry);
            avx512_store64(to, _mm512_maskz_compress_epi8(keep, decode_triplets64(&hex, v, percents, v1, v2)));
            to += avx512_count64(keep);
        }
        i = (size_t)(from - src), o = (size_t)(to - dst);
    }
    while (i < n) {
        size_t q = n - i < 64 ? n - i : 64, size;
        uint64_t block = first64(q), keep, percents;
        __m512i v = _mm512_maskz_loadu_epi8(block, src + i), v1, v2;
        __m512i over = over64(v, n - i > 64 ? load64_part(src + i + 64, n - i - 64) : _mm512_setzero_si512());
        v1 = AHEAD(v, over, 1), v2 = AHEAD(v, over, 2);
        percents = triplets64(&hex, _mm512_cmpeq_epi8_mask(v, all64('%')), v1, v2);
        if (plus) v = plus_to_spaces(v);
        keep = block & ~uc_triplet_digits(percents, &carry);
        size = avx512_count64(keep);
        v = _mm512_maskz_compress_epi8(keep, decode_triplets64(&hex, v, percents, v1, v2));
        if (cap - o >= 64)
            avx512_store64(dst + o, v);
        else if (size <= cap - o)
            _mm512_mask_storeu_epi8(dst + o, first64(size), v);
        else
            return UC_FULL;
        i += q, o += size;
    }
    return o;
}

AVX512 UC_APART size_t avx512_decode_plain(const uint8_t *src, size_t n, uint8_t *dst, size_t cap) {
    return avx512_decode_as(src, n, 0, dst, cap);
}

AVX512 UC_APART size_t avx512_decode_plus(const uint8_t *src, size_t n, uint8_t *dst, size_t cap) {
    return avx512_decode_as(src, n, 1, dst, cap);
}

/* As avx512_encode. */
AVX512 static size_t avx512_decode(const uint8_t *src, size_t n, int plus, uint8_t *dst, size_t cap) {
    size_t i = 0, rest;
    if (plus) return avx512_decode_plus(src, n, dst, cap);
    for (; n - i >= 64 && cap - i >= 64; i += 64) {
        __m512i v = avx512_load64(src + i);
        if (_mm512_cmpeq_epi8_mask(v, all64('%'))) break;
        avx512_store64(dst + i, v);
    }
    if (n - i <= 64 && cap - i >= 64) {
        const uint64_t block = first64(n - i);
        __m512i v = _mm512_maskz_loadu_epi8(block, src + i);
        uint64_t triplets = _mm512_cmpeq_epi8_mask(v, all64('%')), carry = 0;
        if (triplets) {
            const avx512_hex hex = avx512_load_hex();
            __m512i over = over64(v, _mm512_setzero_si512()), v1 = AHEAD(v, over, 1), v2 = AHEAD(v, over, 2);
            triplets = triplets64(&hex, triplets, v1, v2);
            v = decode_triplets64(&hex, v, triplets, v1, v2);
            v = _mm512_maskz_compress_epi8(~uc_triplet_digits(triplets, &carry), v);
        }
        avx512_store64(dst + i, v);
        return n - 2 * avx512_count64(triplets);
    }
    rest = avx512_decode_plain(src + i, n - i, dst + i, cap - i);
    return rest == UC_FULL ? UC_FULL : i + rest;
}

/* --- the vocabulary of blocks.h --------------------------------------------------------------------------------------
 *
 * A block is a register, and a mask is what comparisons yield. */

typedef __m512i avx512_bytes64;

AVX512_INLINE __m512i avx512_part64(const uint8_t *src, size_t n, size_t i) { return load64_part(src + i, n - i); }

AVX512_INLINE void avx512_store_part64(uint8_t *p, __m512i v, size_t n) { _mm512_mask_storeu_epi8(p, first64(n), v); }

AVX512_INLINE uint64_t avx512_equal64(__m512i v, uint8_t byte) { return _mm512_cmpeq_epi8_mask(v, all64(byte)); }
AVX512_INLINE int avx512_has64(__m512i v, uint8_t byte) { return avx512_equal64(v, byte) != 0; }

AVX512_INLINE uint64_t avx512_triplets64(const uint8_t *p) {
    const avx512_hex hex = avx512_load_hex();
    return triplets64(&hex, avx512_equal64(avx512_load64(p), '%'), avx512_load64(p + 1), avx512_load64(p + 2));
}

AVX512_INLINE uint64_t avx512_digits64(__m512i v) {
    return _mm512_cmpeq_epi8_mask(v, _mm512_permutexvar_epi8(v, avx512_load64(avx512_digit)));
}

AVX512_INLINE uint64_t avx512_schemes64(const uint8_t *p) {
    /* What differs from "urn", in one register; case is bit 5. */
    enum { FIRST_OR_DIFFERENCE = 0xF6 }; /* a | (b ^ c) */
    __m512i differs = _mm512_xor_si512(avx512_load64(p), all64('u'));
    differs = _mm512_ternarylogic_epi32(differs, avx512_load64(p + 1), all64('r'), FIRST_OR_DIFFERENCE);
    differs = _mm512_ternarylogic_epi32(differs, avx512_load64(p + 2), all64('n'), FIRST_OR_DIFFERENCE);
    return _mm512_mask_testn_epi8_mask(avx512_equal64(avx512_load64(p + 3), ':'), differs, all64(~32));
}

AVX512_INLINE __m512i avx512_lower64(__m512i v, uint64_t mask) {
    mask = _mm512_mask_cmple_epu8_mask(mask, _mm512_sub_epi8(v, all64('A')), all64('Z' - 'A'));
    return _mm512_mask_add_epi8(v, mask, v, all64(32));
}

AVX512_INLINE __m512i avx512_upper64(__m512i v, uint64_t mask) {
    return _mm512_mask_sub_epi8(v, _mm512_mask_cmpge_epu8_mask(mask, v, all64('a')), v, all64(32));
}

AVX512_INLINE size_t avx512_count_outside64(__m512i v, const avx512_set *s) {
    return avx512_count64(avx512_outside64(v, s));
}

AVX512_INLINE uint64_t avx512_outside_rest(const uint8_t *src, size_t n, size_t i, const avx512_set *s) {
    return avx512_outside64(load64_part(src + i, n - i), s) & first64(n - i);
}

typedef struct avx512_classes {
    __m512i low, high, mask[4];
} avx512_classes;

AVX512_INLINE avx512_classes avx512_load_classes(const uc_classes *classes) {
    avx512_classes c;
    c.low = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)classes->low));
    c.high = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)classes->high));
    for (int k = 0; k < 4; k++) c.mask[k] = all64(classes->mask[k]);
    return c;
}

AVX512_INLINE __m512i avx512_classes64(__m512i v, const avx512_classes *c) {
    return _mm512_and_si512(_mm512_permutexvar_epi8(v, c->low),
                            _mm512_permutexvar_epi8(_mm512_srli_epi16(v, 4), c->high));
}

AVX512_INLINE uint64_t avx512_in_class64(__m512i found, const avx512_classes *c, size_t k) {
    return _mm512_test_epi8_mask(found, c->mask[k]);
}

#define LAZY 0
#define NAME(x) avx512_##x
#define INLINE AVX512_INLINE
#define KERNEL AVX512 static
#include "../blocks.h"

#include "avx512_utf8.h"

static const uc_kernels uc_avx512 = {
    BLOCK_KERNELS(avx512),
    .encode = avx512_encode,
    .decode = avx512_decode,
    .scan_utf8 = avx512_scan_utf8,
    .to_utf8 = avx512_to_utf8,
    .from_utf8 = avx512_from_utf8,
};

#undef AVX512
#undef AVX512_INLINE
#endif
