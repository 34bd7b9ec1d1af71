/* UTF-8 on NEON, a part of neon.h: the vocabulary of the templates utf8_scan.h and utf8_code.h. */
#ifndef UC_NEON_UTF8_H
#define UC_NEON_UTF8_H

/* Four bits for each byte of v that is not 0. */
UC_INLINE uint64_t neon_nibbles(uint8x16_t v) {
    uint16x8_t tested = vreinterpretq_u16_u8(vtstq_u8(v, v));
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(tested, 4)), 0);
}

/* The top bits of the bytes of v, the first one lowest. */
UC_INLINE uint32_t neon_mask(uint8x16_t v) {
    static const int8_t places[16] = {-7, -6, -5, -4, -3, -2, -1, 0, -7, -6, -5, -4, -3, -2, -1, 0};
    uint8x16_t bits = vshlq_u8(vandq_u8(v, vdupq_n_u8(0x80)), vld1q_s8(places));
    return vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

#define U8(v) vreinterpretq_u8_u16(v)
#define U16 vreinterpretq_u16_u8
#define U32 vreinterpretq_u32_u8
#define FROM32 vreinterpretq_u8_u32

UC_INLINE uint8x16_t neon_row_of(const int8_t row[16]) { return vreinterpretq_u8_s8(vld1q_s8(row)); }

#define V uint8x16_t
#define SIZE 16
#define STEP 4
#define KERNEL static
#define INLINE UC_INLINE
#define NAME(x) neon_##x
#define LOAD vld1q_u8
#define LOAD_PART v16_part
#define ZERO vdupq_n_u8(0)
#define ALL(c) vdupq_n_u8((uint8_t)(c))
#define ROWS(...) neon_row_of((const int8_t[16]){__VA_ARGS__})
#define AND vandq_u8
#define OR vorrq_u8
#define XOR veorq_u8
#define MAX vmaxq_u8
#define SUBTRACT vqsubq_u8
#define LOOK_UP vqtbl1q_u8
#define HIGH_NIBBLES(v) vshrq_n_u8(v, 4)
#define BEFORE(v, last, k) vextq_u8(last, v, 16 - (k))
#define BEYOND_ASCII(v) (vmaxvq_u8(v) >= 0x80)
#define FAULTS neon_nibbles
#define FIRST(nibbles) ((size_t)uc_lowest_bit(nibbles) / 4)
#define LEADS(v) (size_t)vaddvq_u8(vshrq_n_u8(vcgtq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(-65)), 7))
#define HIGHEST vmaxvq_u8
#include "../utf8_scan.h"

UC_INLINE void neon_store_wide16(uint8_t *dst, uint8x16_t v) {
    vst1q_u8(dst, vzip1q_u8(v, vdupq_n_u8(0)));
    vst1q_u8(dst + 16, vzip2q_u8(v, vdupq_n_u8(0)));
}

UC_INLINE void neon_store_wide32(uint8_t *dst, uint8x16_t v) {
    const uint16x8_t zero = vdupq_n_u16(0);
    uint16x8_t low = U16(vzip1q_u8(v, vdupq_n_u8(0))), high = U16(vzip2q_u8(v, vdupq_n_u8(0)));
    vst1q_u8(dst, U8(vzip1q_u16(low, zero)));
    vst1q_u8(dst + 16, U8(vzip2q_u16(low, zero)));
    vst1q_u8(dst + 32, U8(vzip1q_u16(high, zero)));
    vst1q_u8(dst + 48, U8(vzip2q_u16(high, zero)));
}

#define V uint8x16_t
#define P uint8x16_t
#define SIZE 16
#define KERNEL static
#define INLINE UC_INLINE
#define NAME(x) neon_##x
#define LOAD vld1q_u8
#define LOAD_PART v16_part
#define LOAD_8(p) vcombine_u8(vld1_u8(p), vdup_n_u8(0x80))
#define LOAD_ROWS(rows, index, at) LOAD(rows[(index) >> (at) & 255])
#define LOAD_UNITS(p, n, i) neon_bytes_at(p, n, i)
#define STORE vst1q_u8
#define STORE_16 STORE
#define STORE_ASCII STORE
#define STORE_WIDE16 neon_store_wide16
#define STORE_WIDE32 neon_store_wide32
#define PART(v, k) (v)
#define STORE_8(p, x) vst1_u8(p, vget_low_u8(x))
#define LOW32(x) vgetq_lane_u32(U32(x), 0)
#define LAST_8(x) vextq_u8(x, x, 8)
#define ZERO vdupq_n_u8(0)
#define ALL(c) vdupq_n_u8((uint8_t)(c))
#define ALL16(c) U8(vdupq_n_u16((uint16_t)(c)))
#define AND vandq_u8
#define OR vorrq_u8
#define ANDNOT(a, b) vbicq_u8(b, a)
#define ADD8 vaddq_u8
#define SUBTRACT vqsubq_u8
#define LOOK_UP vqtbl1q_u8
#define LOOK_UP_16 vqtbl1q_u8
#define BEFORE(v, last, k) vextq_u8(last, v, 16 - (k))
#define LEFT16(v, k) U8(vshlq_n_u16(U16(v), k))
#define RIGHT16(v, k) U8(vshrq_n_u16(U16(v), k))
#define RIGHT32(v, k) FROM32(vshrq_n_u32(U32(v), k))
#define WITHIN16(v, c) U8(vcleq_u16(U16(v), vdupq_n_u16(c)))
#define EQUAL8 vceqq_u8
#define EQUAL16(a, b) U8(vceqq_u16(U16(a), U16(b)))
#define FROM(v, c) vcgeq_u8(v, ALL(c))
#define ZIP_LOW8 vzip1q_u8
#define ZIP_HIGH8 vzip2q_u8
#define ZIP_LOW16(a, b) U8(vzip1q_u16(U16(a), U16(b)))
#define ZIP_HIGH16(a, b) U8(vzip2q_u16(U16(a), U16(b)))
#define NARROW16 vuzp1q_u8
#define NARROW32(a, b) U8(vuzp1q_u16(U16(a), U16(b)))
#define LOW_WORDS NARROW32
#define CONTINUATIONS(v) vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(-64))
#define MASK neon_mask
#define COUNT(mask) ((size_t)utf8_counts[(mask) & 255] + utf8_counts[(mask) >> 8])
#include "../utf8_code.h"

#undef U8
#undef U16
#undef U32
#undef FROM32
#endif
