/* span_urns on masks: the part that all tiers share. Bit i of a mask describes byte i of a block of 64.
 *
 * One addition finds the NIDs (urns.h), assuming that each line is a URN; a line that is not shows at its first byte.
 * Then each rule of the grammar takes a few operations, and sets a bit where it is violated, within the line or at its
 * end. So the lowest of all these bits is in the first line that is not a simple URN.
 *
 *      byte      u r n : i s b n : 9 7 8 LF        (bit 0 on the left)
 *      starts    1 0 0 0 0 0 0 0 0 0 0 0 0
 *      head      1 1 1 1 1 1 1 1 0 0 0 0 0        "urn:" and the NID
 *      after     0 0 0 0 0 0 0 0 1 0 0 0 0        the byte after a head: a colon
 *
 * Only a few words of state pass from one block to the next.
 */
#ifndef UC_URN_GRAMMAR_H
#define UC_URN_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

#include "target.h"
#include "urns.h"

/* The masks of a block. After the end of the input all bits are 0, except that the first one counts as a line end. */
typedef struct uc_urn_bytes {
    uint64_t ends, colons, hyphens, slashes;
    uint64_t schemes;     /* the 'u' of "urn:", in any case; the other three may be in the next block */
    uint64_t triplets;    /* a '%' that two hexadecimal digits other than 00 follow, be it in the next block */
    uint64_t outside_nid; /* not in the set of an NID, */
    uint64_t outside_nss; /* and of an NSS */
} uc_urn_bytes;

/* State from the blocks before: bits 0, 1, ... describe the first bytes of the block. */
typedef struct uc_urn_state {
    uint64_t line_start, in_head;
    uint64_t behind, hyphen; /* the block before ended with the byte after a head, with a hyphen */
    uint64_t starts, head;   /* those of the block before */
} uc_urn_state;

static const uc_urn_state uc_first_urn_line = {1, 0, 0, 0, 0, 0};

/* The bytes that end 37 bytes of a head: the 33rd byte of an NID, which is too long. Few have more than 12, so few heads
 * more than 16. */
UC_INLINE uint64_t uc_far(uint64_t head, uint64_t before) {
    head &= head << 16 | before >> 48;
    if (!head) return 0;
    before &= before << 16;
    for (int k = 1; k <= 8; k *= 2) { /* run lengths are doubled */
        head &= head << k | before >> (64 - k);
        before &= before << k;
    }
    return head & (head << 5 | before >> 59);
}

/* The bytes that violate a rule; only the lowest bit matters. */
UC_INLINE uint64_t uc_urn_faults(const uc_urn_bytes *o, uc_urn_state *state) {
    uint64_t starts = o->ends << 1 | state->line_start, before = state->starts;
    uint64_t scheme_colon = starts << 3 | before >> 61, nid = starts << 4 | before >> 60;
    uint64_t nid_second = starts << 5 | before >> 59;
    uint64_t was_in_head = state->in_head;
    uint64_t head = uc_ripple(starts, o->ends | (o->colons & ~scheme_colon), &state->in_head);
    uint64_t behind = (head << 1 | was_in_head) & ~head;
    uint64_t faults = starts & ~o->schemes;
    faults |= head & ~scheme_colon & o->outside_nid;
    faults |= nid & (o->hyphens | o->schemes); /* a hyphen at its start, or "urn:urn:" */
    faults |= behind & (nid | nid_second | o->hyphens << 1 | state->hyphen | ~o->colons);
    faults |= (behind << 1 | state->behind) & (o->ends | o->slashes);
    faults |= ~(head | behind | o->ends | o->triplets) & o->outside_nss;
    faults |= uc_far(head, state->head);
    state->line_start = o->ends >> 63;
    state->behind = behind >> 63;
    state->hyphen = o->hyphens >> 63;
    state->starts = starts;
    state->head = head;
    return faults;
}

/* The start of the line that contains byte i, or that the end of the input ends. */
UC_INLINE size_t uc_start_of_line(const uint8_t *src, size_t i, uint8_t end) {
    while (i > 0 && src[i - 1] != end) i--;
    return i;
}

#endif
