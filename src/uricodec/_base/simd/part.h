/* Loads at the end of an input, where a load of a whole vector would be out of bounds. */
#ifndef UC_PART_H
#define UC_PART_H

#include <stdint.h>
#include <string.h>

#include "target.h"

/* The n < 16 bytes at p, then zeros, as two little-endian words. The loads overlap, but stay within the n bytes. */
UC_INLINE void uc_load_part(const uint8_t *p, size_t n, uint64_t *low, uint64_t *high) {
    *low = *high = 0;
    if (n > 8) {
        memcpy(low, p, 8), memcpy(high, p + n - 8, 8);
        *high >>= 8 * (16 - n);
    } else if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4), memcpy(&last, p + n - 4, 4);
        *low = first | (uint64_t)last << 8 * (n - 4);
    } else if (n) {
        *low = p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
    }
}

#endif
