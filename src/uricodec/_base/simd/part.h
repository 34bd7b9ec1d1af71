/* Loads and stores at the end of a text, where those of a whole vector would be out of bounds. They overlap, but stay
 * within the n bytes. */
#ifndef UC_PART_H
#define UC_PART_H

#include <stdint.h>
#include <string.h>

#include "target.h"

/* The shuffle of 16 bytes at uc_shift + n moves them n <= 16 places to the front, and fills up with zeros. */
static const uint8_t uc_shift[32] = {0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,
                                     11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};

/* The n < 16 bytes at p, then zeros, as two little-endian words. */
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

/* Stores the first n < 16 bytes of two little-endian words. */
UC_INLINE void uc_store_part(uint8_t *p, size_t n, uint64_t low, uint64_t high) {
    if (n >= 8) {
        uint64_t last = n == 8 ? low : low >> 8 * (n - 8) | high << 8 * (16 - n);
        memcpy(p, &low, 8), memcpy(p + n - 8, &last, 8);
    } else if (n >= 4) {
        uint32_t first = (uint32_t)low, last = (uint32_t)(low >> 8 * (n - 4));
        memcpy(p, &first, 4), memcpy(p + n - 4, &last, 4);
    } else if (n) {
        p[0] = (uint8_t)low, p[n / 2] = (uint8_t)(low >> 8 * (n / 2)), p[n - 1] = (uint8_t)(low >> 8 * (n - 1));
    }
}

#endif
