/* The vocabulary of bytes16.h in NEON, and its kernels as a tier: every AArch64 CPU has it. */
#ifndef UC_NEON_H
#define UC_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "../kernels.h"
#include "../octets.h"
#include "../part.h"
#include "../target.h"
#include "../urn_grammar.h"
#include "../urns.h"
#include "../utf8_tables.h"

#define V16
#define V16_INLINE UC_INLINE

typedef uint8x16_t v16;

V16_INLINE v16 v16_load(const uint8_t *p) { return vld1q_u8(p); }
V16_INLINE v16 v16_load8(const uint8_t *p) { return vcombine_u8(vld1_u8(p), vdup_n_u8(0)); }
V16_INLINE void v16_store(uint8_t *p, v16 v) { vst1q_u8(p, v); }
V16_INLINE void v16_store8(uint8_t *p, v16 v) { vst1_u8(p, vget_low_u8(v)); }
V16_INLINE v16 v16_each(uint8_t byte) { return vdupq_n_u8(byte); }
V16_INLINE v16 v16_words(uint64_t low, uint64_t high) {
    return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
}

V16_INLINE v16 v16_and(v16 a, v16 b) { return vandq_u8(a, b); }
V16_INLINE v16 v16_or(v16 a, v16 b) { return vorrq_u8(a, b); }
V16_INLINE v16 v16_xor(v16 a, v16 b) { return veorq_u8(a, b); }
V16_INLINE v16 v16_select(v16 mask, v16 a, v16 b) { return vbslq_u8(mask, a, b); }
V16_INLINE v16 v16_add(v16 a, v16 b) { return vaddq_u8(a, b); }
V16_INLINE v16 v16_sub(v16 a, v16 b) { return vsubq_u8(a, b); }
V16_INLINE v16 v16_add_saturated(v16 a, v16 b) { return vqaddq_u8(a, b); }
V16_INLINE v16 v16_sub_saturated(v16 a, v16 b) { return vqsubq_u8(a, b); }
V16_INLINE v16 v16_min(v16 a, v16 b) { return vminq_u8(a, b); }
V16_INLINE v16 v16_equal(v16 a, v16 b) { return vceqq_u8(a, b); }
V16_INLINE v16 v16_high_nibbles(v16 v) { return vshrq_n_u8(v, 4); }
V16_INLINE v16 v16_times16(v16 v) { return vshlq_n_u8(v, 4); }

V16_INLINE v16 v16_shuffle(v16 table, v16 index) { return vqtbl1q_u8(table, index); }
/* Looks up low nibbles: in `low` where the top bit is clear, in `high` (or 0) where it is set. */
V16_INLINE v16 v16_low_columns(v16 low, v16 v) { return vqtbl1q_u8(low, vandq_u8(v, vdupq_n_u8(0x8F))); }
V16_INLINE v16 v16_columns(v16 low, v16 high, v16 v) {
    const uint8x16x2_t both = {{low, high}};
    return vqtbl2q_u8(both, vsliq_n_u8(v, vshrq_n_u8(v, 7), 4)); /* the top bit goes before the low nibble */
}

/* Bytes k..15 of a, then bytes 0..k-1 of b. */
#define v16_window(a, b, k) vextq_u8(a, b, k)
V16_INLINE v16 v16_zip8_low(v16 a, v16 b) { return vzip1q_u8(a, b); }
V16_INLINE v16 v16_zip8_high(v16 a, v16 b) { return vzip2q_u8(a, b); }
#define V16_ZIP(bits, which, a, b) \
    vreinterpretq_u8_u##bits(vzip##which##q_u##bits(vreinterpretq_u##bits##_u8(a), vreinterpretq_u##bits##_u8(b)))
V16_INLINE v16 v16_zip32_low(v16 a, v16 b) { return V16_ZIP(32, 1, a, b); }
V16_INLINE v16 v16_zip32_high(v16 a, v16 b) { return V16_ZIP(32, 2, a, b); }
V16_INLINE v16 v16_zip64_low(v16 a, v16 b) { return V16_ZIP(64, 1, a, b); }
V16_INLINE v16 v16_zip64_high(v16 a, v16 b) { return V16_ZIP(64, 2, a, b); }

/* NEON has no instruction that collects the top bits. So every lane of a mask keeps a different bit, and pairwise sums
 * combine eight lanes to one byte: three additions for one vector, and only four for four vectors. */
V16_INLINE v16 v16_weights(void) { return v16_words(0x8040201008040201, 0x8040201008040201); }
V16_INLINE v16 v16_weighed(v16 mask) { return vandq_u8(mask, v16_weights()); }
V16_INLINE uint32_t v16_mask(v16 v) {
    uint8x16_t sums = v16_weighed(v);
    sums = vpaddq_u8(sums, sums);
    sums = vpaddq_u8(sums, sums);
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u16(vreinterpretq_u16_u8(sums), 0);
}
V16_INLINE uint64_t v16_mask64(v16 a, v16 b, v16 c, v16 d) {
    uint8x16_t first = vpaddq_u8(v16_weighed(a), v16_weighed(b)), last = vpaddq_u8(v16_weighed(c), v16_weighed(d));
    uint8x16_t sums = vpaddq_u8(first, last);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}
V16_INLINE int v16_any(v16 mask) { return vmaxvq_u32(vreinterpretq_u32_u8(mask)) != 0; }
V16_INLINE uint32_t v16_sum(v16 v) { return vaddlvq_u8(v); }

#include "../bytes16.h"

#include "neon_utf8.h"

static const uc_kernels uc_neon = {
    BLOCK_KERNELS(v16),
    .encode = v16_encode,
    .decode = v16_decode,
    .scan_utf8 = neon_scan_utf8,
    .to_utf8 = neon_to_utf8,
    .from_utf8 = neon_from_utf8,
};

#endif
