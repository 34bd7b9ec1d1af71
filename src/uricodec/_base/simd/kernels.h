/* The contract of the kernels: what every CPU tier promises, and nothing else.
 *
 * A kernel is a loop over bytes. It knows no Python, no rows and no exceptions, and it keeps two promises on every
 * input: it loads nothing outside src[0 .. n) and stores nothing outside dst[0 .. cap).
 *
 * isa/portable.h defines each kernel for any machine. With vectors, most of them are written once (blocks.h), over words
 * that the other files in isa/ define; these have faster ones, too. dispatch.c lists the tiers in order and asks the CPU
 * which of them it can run.
 */
#ifndef UC_KERNELS_H
#define UC_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* The result of an encoder or decoder if dst is too small. */
#define UC_FULL SIZE_MAX

/* The result of to_utf8 if src has a surrogate. */
#define UC_SURROGATE SIZE_MAX

/* A set of bytes, in three forms for different lookups. In the nibble tables, bit r of low[c & 15] is set if the byte
 * c = 16 r + (c & 15) is a member, for r = 0..7; high[] is the same for the bytes from 0x80 on. */
typedef struct uc_set {
    uint8_t member[256]; /* 1: in the set */
    uint8_t low[16], high[16];
    uint8_t bits[32]; /* bit c & 7 of bits[c >> 3]: c is in the set */
} uc_set;

/* Four sets of bytes that are looked up at once: c is in set k if low[c & 15] & high[c >> 4] & mask[k] is not 0. */
typedef struct uc_classes {
    uint8_t low[16], high[16], mask[4];
} uc_classes;

/* Properties of well-formed UTF-8. The highest byte determines the width of code units that the text needs: below 0x80
 * it is ASCII, below 0xC4 every character is below U+0100, below 0xF0 every character is below U+10000. */
typedef struct uc_utf8 {
    size_t characters;
    uint8_t highest;
} uc_utf8;

typedef struct uc_kernels {
    /* Index of the first byte of src that is not in set; n if there is none. */
    size_t (*span)(const uint8_t *src, size_t n, const uc_set *set);

    /* How many bytes of src are not in set. */
    size_t (*count_outside)(const uint8_t *src, size_t n, const uc_set *set);

    /* Sets bit i % 64 of bits[i / 64] for every byte src[i] that is not in set, and clears the others; bits has
     * (n + 63) / 64 words. */
    void (*mark_outside)(const uint8_t *src, size_t n, const uc_set *set, uint64_t *bits);

    /* Four bitmaps of (n + 63) / 64 words each, one after the other: sets bit i % 64 of word i / 64 of bitmap k for
     * every byte src[i] in set k of the classes, and clears the others. */
    void (*mark_classes)(const uint8_t *src, size_t n, const uc_classes *classes, uint64_t *bits);

    /* Marks every '%' that two hexadecimal digits do not follow, and the digits after every other '%', like
     * mark_outside. Returns 1 if src has a '%', else 0. */
    int (*mark_triplets)(const uint8_t *src, size_t n, uint64_t *malformed, uint64_t *digits);

    /* Sets moved[i] to ends[i] plus `by` for every bit of `marks` before bit ends[i], modulo 2^32. Returns 1 if one of
     * the bits ends[i] is set, else 0. marks has `words` words, and ends[i] < 64 * words; counts is working memory for
     * as many. moved may be ends. */
    int (*move_ends)(const uint64_t *marks, size_t words, const uint32_t *ends, size_t n, uint32_t by,
                     uint32_t *moved, uint32_t *counts);

    /* Percent-encode (RFC 3986 section 2.1): bytes in safe are copied, the others become %HH in upper case. With plus,
     * a space that is in safe becomes '+'. Returns the bytes written, or UC_FULL. */
    size_t (*encode)(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst, size_t cap);

    /* Decode every '%' that two hexadecimal digits follow, once; any other '%' is copied. With plus, a '+' of src
     * becomes a space. Returns the bytes written, or UC_FULL. dst may be src: the output never overtakes the input. */
    size_t (*decode)(const uint8_t *src, size_t n, int plus, uint8_t *dst, size_t cap);

    /* Copies src to dst[0 .. n), which may be src, with the digits of every triplet in upper case (RFC 3986 section
     * 6.2.2.1). */
    void (*upper_triplets)(const uint8_t *src, size_t n, uint8_t *dst);

    /* Copies lines, each ended by the byte `end` (the last one perhaps not), to dst[0 .. n), which may be src. In a
     * line that begins with "urn:", in any case, the letters of ASCII before the second colon (or the end of the line)
     * become lower case, and the digits of the triplets after it upper case: RFC 2141 section 5, RFC 8141 section 3.1.
     * `end` must not be a letter, digit, '%' or ':'. */
    void (*normalize_urns)(const uint8_t *src, size_t n, uint8_t end, uint8_t *dst);

    /* Offset of the first line that is not a simple URN; n if all are. Lines are as above, and `end` is in neither set.
     * A simple URN is "urn:" in any case; an NID of 2 to 32 bytes of `nid` (which has the letters u, r, n and no ':')
     * that neither begins nor ends with '-' and is not "urn" in any case; ':'; and an NSS of one or more bytes of `nss`
     * (which has the digits of triplets, and no '%') or triplets other than "%00", not beginning with '/'. */
    size_t (*span_urns)(const uint8_t *src, size_t n, const uc_set *nid, const uc_set *nss, uint8_t end);

    /* Length of the longest prefix of src that is well-formed UTF-8 (RFC 3629 section 4): n, or where the first
     * ill-formed sequence starts. Sets *found for that prefix. */
    size_t (*scan_utf8)(const uint8_t *src, size_t n, uc_utf8 *found);

    /* Writes n code units of `width` bytes (1, 2 or 4: the code points themselves) as UTF-8. dst has a capacity of 2 n,
     * 3 n or 4 n bytes, and all of it may be written. Returns the bytes written, or UC_SURROGATE. */
    size_t (*to_utf8)(const void *src, size_t n, int width, uint8_t *dst);

    /* Writes the characters of well-formed UTF-8 as code units of `width` bytes, which is wide enough for all of them.
     * dst has a capacity of `characters` code units, as counted by scan_utf8. */
    void (*from_utf8)(const uint8_t *src, size_t n, int width, void *dst, size_t characters);
} uc_kernels;

/* The kernels of blocks.h, in the table of a tier. */
#define BLOCK_KERNELS(tier)                                                                           \
    .span = tier##_span, .count_outside = tier##_count_outside, .mark_outside = tier##_mark_outside,  \
    .mark_classes = tier##_mark_classes, .mark_triplets = tier##_mark_triplets,                       \
    .upper_triplets = tier##_upper_triplets, .normalize_urns = tier##_normalize_urns, .span_urns = tier##_span_urns

/* One row of the tier table. A kernel that a tier lacks (NULL) is taken from the tier before it. */
typedef struct uc_tier {
    const char *name;
    uint32_t needs; /* CPU features, as uc_cpu_features() reports them */
    const uc_kernels *kernels;
    void (*prepare)(void); /* builds the tier's tables: once, before its kernels are used */
} uc_tier;

/* The tiers built into this binary, slowest first. */
extern const uc_tier uc_tiers[];
extern const size_t uc_tier_count;

uint32_t uc_cpu_features(void);

#endif
