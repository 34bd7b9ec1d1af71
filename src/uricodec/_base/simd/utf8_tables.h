/* The shuffles of utf8_code.h: a row for every pattern of lengths, built once. */
#ifndef UC_UTF8_TABLES_H
#define UC_UTF8_TABLES_H

#include <stdint.h>
#include <string.h>

/* How long the sequences are that four code units become: two bits each, as the masks of utf8_code.h give them. */
enum { THREE_LONG, FOUR_LONG, TWO_LONG, ONE_LONG };

static uint8_t utf8_groups[256][16]; /* of four parts of 4 bytes, those that the lengths say */
static uint8_t utf8_sizes[256];      /* how many these are */
static uint8_t utf8_pairs[256][16];  /* of eight pairs, the first bytes, and the second ones whose bit is set */
static uint8_t utf8_bytes[256][8];  /* the bytes whose bit is set */
static uint8_t utf8_words[256][16];  /* the pairs whose bit is set */
static uint8_t utf8_quads[16][16];   /* the parts of 4 bytes whose bit is set */
static uint8_t utf8_counts[256];     /* how many bits are set */
static uint8_t utf8_pair_sizes[256], utf8_word_sizes[256];

static void utf8_prepare(void) {
    if (utf8_sizes[0]) return; /* several tiers use the same tables */
    memset(utf8_groups, 0x80, sizeof utf8_groups);
    memset(utf8_pairs, 0x80, sizeof utf8_pairs);
    memset(utf8_bytes, 0x80, sizeof utf8_bytes);
    memset(utf8_words, 0x80, sizeof utf8_words);
    memset(utf8_quads, 0x80, sizeof utf8_quads);
    for (int k = 0; k < 256; k++) {
        uint8_t *group = utf8_groups[k], *pair = utf8_pairs[k], *byte = utf8_bytes[k], *word = utf8_words[k];
        for (int j = 0; j < 4; j++) {
            /* The last byte of a sequence is always the fourth; ASCII is the first. */
            int length = k >> 2 * j & 3, first = length == THREE_LONG ? 1 : length == TWO_LONG ? 2 : 0;
            for (int at = first; at < (length == ONE_LONG ? 1 : 4); at++) *group++ = (uint8_t)(4 * j + at);
        }
        utf8_sizes[k] = (uint8_t)(group - utf8_groups[k]);
        for (int j = 0; j < 8; j++) {
            *pair++ = (uint8_t)(2 * j);
            if (k >> j & 1) {
                *pair++ = (uint8_t)(2 * j + 1);
                *byte++ = (uint8_t)j;
                *word++ = (uint8_t)(2 * j), *word++ = (uint8_t)(2 * j + 1);
            }
        }
        utf8_counts[k] = (uint8_t)(byte - utf8_bytes[k]);
        utf8_pair_sizes[k] = (uint8_t)(pair - utf8_pairs[k]);
        utf8_word_sizes[k] = (uint8_t)(word - utf8_words[k]);
    }
    for (int k = 0; k < 16; k++) {
        uint8_t *quad = utf8_quads[k];
        for (int j = 0; j < 16; j++)
            if (k >> j / 4 & 1) *quad++ = (uint8_t)j;
    }
}

/* memcpy of a few bytes: two copies that overlap, or 16 bytes each. */
static inline void utf8_copy(uint8_t *dst, const uint8_t *src, size_t n) {
    if (n >= 16) {
        for (size_t i = 0; i < n - 16; i += 16) memcpy(dst + i, src + i, 16);
        memcpy(dst + n - 16, src + n - 16, 16);
    } else if (n >= 8) {
        memcpy(dst, src, 8), memcpy(dst + n - 8, src + n - 8, 8);
    } else if (n >= 4) {
        memcpy(dst, src, 4), memcpy(dst + n - 4, src + n - 4, 4);
    } else if (n) {
        dst[0] = src[0], dst[n / 2] = src[n / 2], dst[n - 1] = src[n - 1];
    }
}

#endif
