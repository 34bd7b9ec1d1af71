/* UTF-8 on AVX-512 with VBMI2: 64 bytes a step, one path for every mixture of characters.
 *
 * To UTF-8. Sixteen code units are in 32-bit lanes. The number of leading zeros of a lane determines the length of its
 * sequence, and is the index of two tables: which bits of the code point each of the four bytes keeps, and the tag bits
 * to add. One multishift puts the bits >> 18, >> 12, >> 6 and >> 0 into the four bytes of the lane, and a compress
 * drops unused bytes. (It compresses to a register: to memory it is many times slower on some CPUs.)
 *
 * From UTF-8. Relative to the last byte of a character, its bits are always at the same positions: six (or seven, for
 * ASCII) in that byte, the next six in the byte before it if that byte is a continuation, and so on. So the code point
 * is assembled at every byte, from the bytes at +0, -1, -2 and -3, as if each were the last one of a character, and a
 * compress keeps the lanes at actual ends.
 */
#ifndef UC_AVX512_UTF8_H
#define UC_AVX512_UTF8_H

#include <immintrin.h>

#include "../kernels.h"
#include "../target.h"


AVX512_INLINE uint64_t avx512_first(size_t n) { return _bzhi_u64(~(uint64_t)0, (uint32_t)n); } /* n <= 64 */
AVX512_INLINE size_t avx512_bits(uint64_t mask) { return (size_t)_mm_popcnt_u64(mask); }

/* --- scan_utf8 ---------------------------------------------------------------------------------------------------- */

AVX512_INLINE uint8_t avx512_highest(__m512i v) {
    __m256i half = _mm256_max_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    __m128i m = _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    /* The least of the complements, a word each. */
    m = _mm_andnot_si128(_mm_max_epu8(m, _mm_srli_epi16(m, 8)), _mm_set1_epi16(0xff));
    return (uint8_t)~_mm_cvtsi128_si32(_mm_minpos_epu16(m));
}

/* The 16 bytes before every part of v. */
AVX512_INLINE __m512i avx512_part_before(__m512i v, __m512i last) { return _mm512_alignr_epi32(v, last, 12); }

#define V __m512i
#define SIZE 64
#define STEP 2
#define KERNEL AVX512 static
#define INLINE AVX512_INLINE
#define NAME(x) avx512_##x
#define LOAD(p) _mm512_loadu_si512(p)
#define LOAD_PART(p, n) _mm512_maskz_loadu_epi8(avx512_first(n), p)
#define ZERO _mm512_setzero_si512()
#define ALL(c) _mm512_set1_epi8((char)(c))
#define ROWS(...) _mm512_broadcast_i32x4(_mm_setr_epi8(__VA_ARGS__))
#define AND _mm512_and_si512
#define OR _mm512_or_si512
#define XOR _mm512_xor_si512
#define MAX _mm512_max_epu8
#define SUBTRACT _mm512_subs_epu8
#define LOOK_UP _mm512_shuffle_epi8
#define HIGH_NIBBLES(v) _mm512_and_si512(_mm512_srli_epi16(v, 4), _mm512_set1_epi8(15))
#define BEFORE(v, last, k) _mm512_alignr_epi8(v, avx512_part_before(v, last), 16 - (k))
#define BEYOND_ASCII(v) (_mm512_movepi8_mask(v) != 0)
#define FAULTS(v) _mm512_test_epi8_mask(v, v)
#define FIRST(mask) _tzcnt_u64(mask)
#define LEADS(v) avx512_bits(_mm512_cmpgt_epi8_mask(v, _mm512_set1_epi8((char)0xBF)))
#define HIGHEST avx512_highest
#include "../utf8_scan.h"

/* --- to_utf8 ------------------------------------------------------------------------------------------------------ */

/* The first 64 of n bytes, or all and zeros. */
AVX512_INLINE __m512i avx512_load(const uint8_t *p, size_t n) {
    return n < 64 ? _mm512_maskz_loadu_epi8(avx512_first(n), p) : _mm512_loadu_si512(p);
}

/* Stores the first `room` bytes of v, or all 64 if `room` is larger. */
AVX512_INLINE void avx512_store(uint8_t *dst, size_t room, __m512i v) {
    if (room >= 64)
        _mm512_storeu_si512(dst, v);
    else
        _mm512_mask_storeu_epi8(dst, avx512_first(room), v);
}

AVX512 static size_t avx512_put8(const uint8_t *src, size_t n, uint8_t *dst) {
    const __m512i tags = _mm512_set1_epi16((short)0x80C0), low6 = _mm512_set1_epi16(0x3F00);
    size_t o = 0;
    for (size_t i = 0; i < n; i += 64) {
        size_t q = n - i < 64 ? n - i : 64;
        __m512i v = avx512_load(src + i, n - i);
        uint64_t wide = _mm512_movepi8_mask(v);
        if (!wide) {
            avx512_store(dst + o, q, v);
            o += q;
            continue;
        }
        for (size_t half = 0; half < q; half += 32) {
            /* A word for each: the byte of ASCII, or the lead and then the continuation. */
            __m512i c = _mm512_cvtepu8_epi16(half ? _mm512_extracti64x4_epi64(v, 1) : _mm512_castsi512_si256(v));
            __m512i pair = _mm512_or_si512(_mm512_srli_epi16(c, 6), _mm512_and_si512(_mm512_slli_epi16(c, 8), low6));
            uint32_t two = (uint32_t)(wide >> half);
            uint64_t keep = 0x5555555555555555 | _pdep_u64(two, 0xAAAAAAAAAAAAAAAA);
            c = _mm512_mask_mov_epi16(c, two, _mm512_or_si512(pair, tags));
            keep &= avx512_first(q - half < 32 ? 2 * (q - half) : 64);
            avx512_store(dst + o, 2 * (n - i - half), _mm512_maskz_compress_epi8(keep, c));
            o += avx512_bits(keep);
        }
    }
    return o;
}

/* Writes the sequences of the first q of 16 code points; dst has a capacity of `room` bytes. */
AVX512_INLINE size_t avx512_put_sequences(__m512i c, size_t q, uint8_t *dst, size_t room) {
    const __m512i bits_at = _mm512_set1_epi64(0x20262C3200060C12); /* 18, 12, 6, 0, and the same 32 bits on */
    /* By the number of leading zeros, from 11 to 32 (which is row 0). */
#define ROWS(four, three, two, one)                                                                               \
    _mm512_setr_epi32(one, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, four, four, four, four, four),                           \
        _mm512_setr_epi32(three, three, three, three, three, two, two, two, two, one, one, one, one, one, one, one)
    const __m512i bits_of[2] = {ROWS(0x3F3F3F07, 0x3F3F0F00, 0x3F1F0000, 0x7F000000)};
    const __m512i tags_of[2] = {ROWS((int)0x808080F0, (int)0x8080E000, (int)0x80C00000, 0)};
#undef ROWS
    __m512i zeros = _mm512_lzcnt_epi32(c);
    __m512i bits = _mm512_permutex2var_epi32(bits_of[0], zeros, bits_of[1]);
    __m512i tags = _mm512_permutex2var_epi32(tags_of[0], zeros, tags_of[1]);
    uint64_t keep = _mm512_test_epi8_mask(bits, bits) & avx512_first(4 * q);
    c = _mm512_ternarylogic_epi64(_mm512_multishift_epi64_epi8(bits_at, c), bits, tags, 0xEA); /* a & b | c */
    avx512_store(dst, room, _mm512_maskz_compress_epi8(keep, c));
    return avx512_bits(keep);
}

AVX512 static size_t avx512_encode16(const uint16_t *src, size_t n, uint8_t *dst) {
    size_t o = 0;
    for (size_t i = 0; i < n; i += 32) {
        size_t q = n - i < 32 ? n - i : 32;
        __m512i v = _mm512_maskz_loadu_epi16((__mmask32)avx512_first(q), src + i);
        __m512i kind = _mm512_and_si512(v, _mm512_set1_epi16((short)0xF800));
        if (!_mm512_test_epi16_mask(v, _mm512_set1_epi16((short)0xFF80))) {
            if (q == 32)
                _mm256_storeu_si256((__m256i *)(dst + o), _mm512_cvtepi16_epi8(v));
            else
                avx512_store(dst + o, q, _mm512_castsi256_si512(_mm512_cvtepi16_epi8(v)));
            o += q;
            continue;
        }
        if (_mm512_cmpeq_epi16_mask(kind, _mm512_set1_epi16((short)0xD800))) return UC_SURROGATE;
        o += avx512_put_sequences(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(v)), q < 16 ? q : 16, dst + o,
                                  3 * (n - i));
        if (q > 16)
            o += avx512_put_sequences(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(v, 1)), q - 16, dst + o,
                                      3 * (n - i - 16));
    }
    return o;
}

AVX512 static size_t avx512_encode32(const uint32_t *src, size_t n, uint8_t *dst) {
    size_t o = 0;
    for (size_t i = 0; i < n; i += 64) {
        __m512i v[4], all = _mm512_setzero_si512();
        __mmask16 surrogates = 0;
        size_t q = n - i < 64 ? n - i : 64;
        for (size_t k = 0; k < 4; k++) {
            const uint32_t *at = src + (16 * k < q ? i + 16 * k : i);
            __m512i kind;
            v[k] = _mm512_maskz_loadu_epi32((__mmask16)(avx512_first(q) >> 16 * k), at);
            kind = _mm512_and_si512(v[k], _mm512_set1_epi32(~0x7FF));
            surrogates |= _mm512_cmpeq_epi32_mask(kind, _mm512_set1_epi32(0xD800));
            all = _mm512_or_si512(all, v[k]);
        }
        if (surrogates) return UC_SURROGATE;
        if (_mm512_test_epi32_mask(all, _mm512_set1_epi32(~0x7F)) || q < 64) {
            for (size_t k = 0; 16 * k < q; k++)
                o += avx512_put_sequences(v[k], q - 16 * k < 16 ? q - 16 * k : 16, dst + o, 4 * (n - i - 16 * k));
        } else {
            for (int k = 0; k < 4; k++)
                _mm_storeu_si128((__m128i *)(dst + o + 16 * k), _mm512_cvtepi32_epi8(v[k]));
            o += 64;
        }
    }
    return o;
}

AVX512 static size_t avx512_to_utf8(const void *src, size_t n, int width, uint8_t *dst) {
    return width == 1   ? avx512_put8((const uint8_t *)src, n, dst)
           : width == 2 ? avx512_encode16((const uint16_t *)src, n, dst)
                        : avx512_encode32((const uint32_t *)src, n, dst);
}

/* --- from_utf8 ---------------------------------------------------------------------------------------------------- */

/* Below U+0100, the lead only determines whether 0x40 is added to the byte after it. */
AVX512 static void avx512_get8(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {
    uint64_t carry = 0;
    size_t o = 0;
    for (size_t i = 0; i < n; i += 64) {
        uint64_t there = avx512_first(n - i < 64 ? n - i : 64);
        __m512i v = avx512_load(src + i, n - i);
        uint64_t keep = _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8((char)0xC0)) & there;
        uint64_t high = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8((char)0xC3));
        v = _mm512_mask_add_epi8(v, high << 1 | carry, v, _mm512_set1_epi8(0x40));
        carry = high >> 63;
        if (~keep) v = _mm512_maskz_compress_epi8(keep, v);
        avx512_store(dst + o, characters - o, v);
        o += avx512_bits(keep);
    }
}

/* For each of 64 bytes, as the last one of a character: the bits in it and in those before it, without tags. */
typedef struct avx512_bits_of {
    __m512i byte, at_1, at_2, at_3;
    uint64_t ends; /* where characters really end */
} avx512_bits_of;

/* State that is carried from one block to the next. */
typedef struct avx512_carry {
    __m512i untagged;
    uint64_t continuations;
} avx512_carry;

AVX512_INLINE avx512_bits_of avx512_take(const uint8_t *src, size_t n, size_t i, __m512i v, avx512_carry *carry) {
    const __m512i six = _mm512_set1_epi8(0x3F), four = _mm512_set1_epi8(0x0F);
    uint64_t continuations = _mm512_cmplt_epi8_mask(v, _mm512_set1_epi8((char)0xC0));
    uint64_t long_leads = _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8((char)0xE0));
    uint64_t two = continuations & (continuations << 1 | carry->continuations >> 63);
    uint64_t three = two & (continuations << 2 | carry->continuations >> 62);
    __m512i untagged = _mm512_and_si512(v, _mm512_mask_mov_epi8(six, long_leads, four));
    __m512i before = avx512_part_before(untagged, carry->untagged);
    avx512_bits_of b;
    b.byte = _mm512_and_si512(v, _mm512_set1_epi8(0x7F));
    b.at_1 = _mm512_maskz_alignr_epi8(continuations, untagged, before, 15);
    b.at_2 = _mm512_maskz_alignr_epi8(two, untagged, before, 14);
    b.at_3 = _mm512_maskz_alignr_epi8(three, untagged, before, 13);
    b.ends = ~(continuations >> 1);
    if (n - i <= 64)
        b.ends &= avx512_first(n - i);
    else
        b.ends ^= (uint64_t)((src[i + 64] & 0xC0) == 0x80) << 63;
    carry->untagged = untagged, carry->continuations = continuations;
    return b;
}

AVX512 static void avx512_get16(const uint8_t *src, size_t n, uint16_t *dst, size_t characters) {
    avx512_carry carry = {_mm512_setzero_si512(), 0};
    size_t o = 0;
    for (size_t i = 0; i < n; i += 64) {
        __m512i v = avx512_load(src + i, n - i);
        avx512_bits_of b = avx512_take(src, n, i, v, &carry);
#define HALF(v, half) _mm512_cvtepu8_epi16(half ? _mm512_extracti64x4_epi64(v, 1) : _mm512_castsi512_si256(v))
        for (int half = 0; half < 2; half++) {
            uint32_t ends = (uint32_t)(b.ends >> 32 * half);
            __m512i c = _mm512_ternarylogic_epi64(HALF(b.byte, half), _mm512_slli_epi16(HALF(b.at_1, half), 6),
                                                  _mm512_slli_epi16(HALF(b.at_2, half), 12), 0xFE); /* a | b | c */
            avx512_store((uint8_t *)(dst + o), 2 * (characters - o), _mm512_maskz_compress_epi16(ends, c));
            o += avx512_bits(ends);
        }
#undef HALF
    }
}

AVX512 static void avx512_get32(const uint8_t *src, size_t n, uint32_t *dst, size_t characters) {
    avx512_carry carry = {_mm512_setzero_si512(), 0};
    size_t o = 0;
    for (size_t i = 0; i < n; i += 64) {
        __m512i v = avx512_load(src + i, n - i);
        avx512_bits_of b = avx512_take(src, n, i, v, &carry);
        size_t count = avx512_bits(b.ends);
        /* Few characters may be in 64 bytes, and a vector holds 16 of them: compress first here. */
        b.byte = _mm512_maskz_compress_epi8(b.ends, b.byte), b.at_1 = _mm512_maskz_compress_epi8(b.ends, b.at_1);
        b.at_2 = _mm512_maskz_compress_epi8(b.ends, b.at_2), b.at_3 = _mm512_maskz_compress_epi8(b.ends, b.at_3);
#define QUARTER(v, k) _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(v, k))
#define PUT(k)                                                                                                    \
    do {                                                                                                          \
        size_t at = o + 16 * k < characters ? o + 16 * k : characters;                                            \
        __m512i c = _mm512_ternarylogic_epi64(QUARTER(b.byte, k), _mm512_slli_epi32(QUARTER(b.at_1, k), 6),      \
                                              _mm512_slli_epi32(QUARTER(b.at_2, k), 12), 0xFE);                   \
        c = _mm512_or_si512(c, _mm512_slli_epi32(QUARTER(b.at_3, k), 18));                                        \
        avx512_store((uint8_t *)(dst + at), 4 * (characters - at), c);                                            \
    } while (0)
        PUT(0);
        if (count > 16) PUT(1);
        if (count > 32) {
            PUT(2);
            PUT(3);
        }
#undef PUT
#undef QUARTER
        o += count;
    }
}

AVX512 static void avx512_from_utf8(const uint8_t *src, size_t n, int width, void *dst, size_t characters) {
    if (width == 1)
        avx512_get8(src, n, (uint8_t *)dst, characters);
    else if (width == 2)
        avx512_get16(src, n, (uint16_t *)dst, characters);
    else
        avx512_get32(src, n, (uint32_t *)dst, characters);
}

#endif
