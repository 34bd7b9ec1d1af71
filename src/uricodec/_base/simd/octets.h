/* What single bytes mean, for loops that read one at a time, in C and in Cython: letters, triplets (RFC 3986 section 2.1)
 * and UTF-8 (RFC 3629 section 4). */
#ifndef UC_OCTETS_H
#define UC_OCTETS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An ASCII letter in lower case, and any other byte as it is. */
static inline uint8_t uc_lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

/* Whether four bytes are "urn:", in any case. */
static inline int uc_is_urn(const uint8_t *s) {
    uint32_t word, case_bits, urn;
    memcpy(&word, s, 4), memcpy(&case_bits, "\x20\x20\x20", 4), memcpy(&urn, "urn:", 4);
    return (word | case_bits) == urn;
}

/* --- triplets ------------------------------------------------------------------------------------------------------ */

/* The value of a hexadecimal digit; -1 for other bytes. */
static inline int uc_hex_value(uint8_t c) {
    static const uint8_t above[256] = {/* 1 more than the value of a digit */
                                       ['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ['A'] = 11, 12, 13, 14, 15, 16,
                                       ['a'] = 11, 12, 13, 14, 15, 16};
    return above[c] - 1;
}

static inline int uc_is_hex(uint8_t c) { return uc_hex_value(c) >= 0; }

/* The byte that the triplet at s[0] (a '%') encodes; -1 if it is not a triplet. Each byte is read only once, because
 * another thread may change s. */
static inline int uc_triplet_value(const uint8_t *s, size_t n) {
    int high, low;
    if (n < 3) return -1;
    high = uc_hex_value(s[1]), low = uc_hex_value(s[2]);
    return (high | low) < 0 ? -1 : high << 4 | low;
}

/* Writes the triplet of a byte. Returns its size. */
static inline size_t uc_write_triplet(uint8_t c, uint8_t *dst) {
    static const char digits[] = "0123456789ABCDEF";
    dst[0] = '%', dst[1] = (uint8_t)digits[c >> 4], dst[2] = (uint8_t)digits[c & 15];
    return 3;
}

/* --- UTF-8 --------------------------------------------------------------------------------------------------------- */

/* The length of a sequence that begins with this byte; 0 if none does. */
static inline int uc_sequence_length(uint8_t lead) {
    return lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

/* Whether a byte is allowed at this index of a sequence; overlong forms and surrogates are not. */
static inline int uc_continues(uint8_t lead, int index, uint8_t byte) {
    uint8_t first = 0x80, last = 0xBF;
    if (index == 1) {
        if (lead == 0xE0) first = 0xA0;
        if (lead == 0xED) last = 0x9F;
        if (lead == 0xF0) first = 0x90;
        if (lead == 0xF4) last = 0x8F;
    }
    return first <= byte && byte <= last;
}

/* Where an incomplete sequence before src[i] begins; i if there is none. All of C0..FF count as leads, so if src[i] is
 * the first byte that makes two adjacent ones ill-formed, this is where the ill-formed sequence begins. */
static inline size_t uc_interrupted(const uint8_t *src, size_t i) {
    for (size_t k = 1; k <= 3 && k <= i && src[i - k] >= 0x80; k++)
        if (src[i - k] >= 0xC0) return (src[i - k] < 0xE0 ? 2 : src[i - k] < 0xF0 ? 3 : 4) > k ? i - k : i;
    return i;
}

/* Writes a character. Returns the length of its sequence. */
static inline size_t uc_write_character(uint32_t c, uint8_t *dst) {
    if (c < 0x80) {
        dst[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        dst[0] = (uint8_t)(0xC0 | c >> 6), dst[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        dst[0] = (uint8_t)(0xE0 | c >> 12), dst[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F)), dst[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    dst[0] = (uint8_t)(0xF0 | c >> 18), dst[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    dst[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F)), dst[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

#endif
