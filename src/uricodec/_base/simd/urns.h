/* normalize_urns on masks: the part that all tiers share. Bit i of a mask describes byte i of a block of 64.
 *
 * One addition finds everything from the start of a line to the colon that ends the NID. Let `inner` have a bit for
 * every byte that is not a stop (a line end, or a colon other than the first one of a URN), and `starts` a bit where a
 * URN begins. In the sum of the two, a carry ripples from each start through the ones up to the next stop:
 *
 *      byte      u r n : i s b n : 9 7 8 ... a b c        (bit 0 on the left)
 *      starts    1 0 0 0 0 0 0 0 0 0 0 0
 *      inner     1 1 1 1 1 1 1 1 0 1 1 1
 *      sum       0 0 0 0 0 0 0 0 1 1 1 1
 *
 * So the ones that became zeros are the region. A carry out of the top bit means that it continues in the next block,
 * where it counts as a start at bit 0. A second addition, with line ends as the only stops, gives the lines that are
 * URNs. Nothing branches, and only a few bits of state pass from one block to the next.
 */
#ifndef UC_URNS_H
#define UC_URNS_H

#include <stdint.h>

#include "octets.h"
#include "target.h"

/* The masks of a block. After the end of the input all bits are 0. */
typedef struct uc_urn_block {
    uint64_t ends, colons;
    uint64_t schemes;  /* the 'u' of "urn:", in any case; the other three may be in the next block */
    uint64_t triplets; /* a '%' that two hexadecimal digits follow, be it in the next block */
} uc_urn_block;

/* State from the blocks before. */
typedef struct uc_urn_carry {
    uint64_t line_start;    /* bit 0: the block begins a line */
    uint64_t scheme_colons; /* bits 0..2: the colon of a "urn:" that began before */
    uint64_t in_nid;        /* bit 0: the block begins inside "urn:" or an NID */
    uint64_t in_urn;        /* bit 0: the block begins inside a line that is a URN */
    uint64_t digits;        /* bits 0..1: digits of a triplet that began before */
} uc_urn_carry;

static const uc_urn_carry uc_first_urn_block = {1, 0, 0, 0, 0};

/* The digits of these triplets; *carry: those of the triplets before, then those for the next block. */
UC_INLINE uint64_t uc_triplet_digits(uint64_t triplets, uint64_t *carry) {
    uint64_t digits = triplets << 1 | triplets << 2 | *carry;
    *carry = triplets >> 62 | triplets >> 63;
    return digits;
}

/* The '%' of triplets that reach over the end of a block, when `left` bytes are left from its start; or only "%00". */
UC_INLINE uint64_t uc_last_triplets(const uint8_t *p, size_t left, int nulls) {
    uint64_t found = 0;
    for (size_t at = 62; at < 64 && at + 3 <= left; at++) {
        int value = p[at] == '%' ? uc_triplet_value(p + at, 3) : -1;
        found |= (uint64_t)(nulls ? value == 0 : value >= 0) << at;
    }
    return found;
}

/* From each start to before the next stop; *carry: whether the block begins, then ends, inside. */
UC_INLINE uint64_t uc_ripple(uint64_t starts, uint64_t stops, uint64_t *carry) {
    uint64_t inner = ~stops, sum = inner + (starts | *carry);
    *carry = sum < inner;
    return inner & ~sum;
}

/* lower: where letters become lower case; upper: the digits that become upper case. */
UC_INLINE void uc_urn_masks(const uc_urn_block *block, uc_urn_carry *carry, uint64_t *lower, uint64_t *upper) {
    uint64_t starts = block->schemes & (block->ends << 1 | carry->line_start);
    uint64_t scheme_colons = starts << 3 | carry->scheme_colons;
    uint64_t urn = uc_ripple(starts, block->ends, &carry->in_urn);
    *lower = uc_ripple(starts, block->ends | (block->colons & ~scheme_colons), &carry->in_nid);
    *upper = uc_triplet_digits(block->triplets & urn & ~*lower, &carry->digits);
    carry->line_start = block->ends >> 63;
    carry->scheme_colons = starts >> 61;
}

#endif
