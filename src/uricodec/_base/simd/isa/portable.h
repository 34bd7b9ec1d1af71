/* The kernels one byte at a time, for any machine: they define what those of every other tier compute. */
#ifndef UC_PORTABLE_H
#define UC_PORTABLE_H

#include <string.h>

#include "../kernels.h"
#include "../octets.h"
#include "../target.h"

/* --- sets ---------------------------------------------------------------------------------------------------------- */

static size_t portable_span(const uint8_t *src, size_t n, const uc_set *set) {
    size_t i = 0;
    while (i < n && set->member[src[i]]) i++;
    return i;
}

static size_t portable_count_outside(const uint8_t *src, size_t n, const uc_set *set) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += 1u - set->member[src[i]];
    return count;
}

static void portable_mark_outside(const uint8_t *src, size_t n, const uc_set *set, uint64_t *bits) {
    for (size_t i = 0; i < n; i++) {
        if (i % 64 == 0) bits[i / 64] = 0;
        if (!set->member[src[i]]) bits[i / 64] |= UINT64_C(1) << i % 64;
    }
}

/* Whether a byte is in set k, in the lowest bit of byte k. */
static inline uint32_t portable_sets_of(uint8_t byte, const uc_classes *classes) {
    uint8_t found = classes->low[byte & 15] & classes->high[byte >> 4];
    uint32_t sets = 0;
    for (int k = 0; k < 4; k++) sets |= (uint32_t)((found & classes->mask[k]) != 0) << 8 * k;
    return sets;
}

static void portable_mark_classes(const uint8_t *src, size_t n, const uc_classes *classes, uint64_t *bits) {
    const size_t words = (n + 63) / 64;
    const int many = n >= 512;
    uint32_t table[256], found = 0;
    for (int c = 0; many && c < 256; c++) table[c] = portable_sets_of((uint8_t)c, classes);
    for (size_t w = 0; w < words; w++) {
        uint64_t word[4] = {0};
        const size_t end = n - 64 * w < 64 ? n : 64 * w + 64;
        for (size_t i = 64 * w; i < end; i++) {
            found |= (many ? table[src[i]] : portable_sets_of(src[i], classes)) << i % 8;
            if (i % 8 == 7 || i + 1 == n) {
                for (int k = 0; k < 4; k++) word[k] |= (uint64_t)(found >> 8 * k & 0xFF) << (i & 56);
                found = 0;
            }
        }
        for (size_t k = 0; k < 4; k++) bits[k * words + w] = word[k];
    }
}

static int portable_move_ends(const uint64_t *marks, size_t words, const uint32_t *ends, size_t n, uint32_t by,
                              uint32_t *moved, uint32_t *counts) {
    uint32_t sum = 0;
    uint64_t found = 0;
    for (size_t w = 0; w < words; w++) counts[w] = sum, sum += uc_count_bits(marks[w]);
    for (size_t i = 0; i < n; i++) {
        uint32_t end = ends[i];
        uint64_t word = marks[end / 64];
        found |= word >> end % 64;
        moved[i] = end + by * (counts[end / 64] + uc_count_bits(word & ((UINT64_C(1) << end % 64) - 1)));
    }
    return (int)(found & 1);
}

/* --- triplets ------------------------------------------------------------------------------------------------------ */

static int portable_mark_triplets(const uint8_t *src, size_t n, uint64_t *malformed, uint64_t *digits) {
    int found = 0;
    for (size_t w = 0; w < (n + 63) / 64; w++) malformed[w] = digits[w] = 0;
    for (size_t i = 0; i < n; i++) {
        if (src[i] != '%') continue;
        found = 1;
        if (uc_triplet_value(src + i, n - i) < 0) {
            malformed[i / 64] |= UINT64_C(1) << i % 64;
        } else {
            for (size_t j = i + 1; j <= i + 2; j++) digits[j / 64] |= UINT64_C(1) << j % 64;
            i += 2;
        }
    }
    return found;
}

static size_t portable_encode(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst, size_t cap) {
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = src[i];
        if (safe->member[c]) {
            if (o == cap) return UC_FULL;
            dst[o++] = plus && c == ' ' ? '+' : c;
        } else {
            if (cap - o < 3) return UC_FULL;
            o += uc_write_triplet(c, dst + o);
        }
    }
    return o;
}

static size_t portable_decode(const uint8_t *src, size_t n, int plus, uint8_t *dst, size_t cap) {
    size_t o = 0;
    for (size_t i = 0; i < n;) {
        if (o == cap) return UC_FULL;
        if (src[i] == '%') {
            int byte = uc_triplet_value(src + i, n - i);
            if (byte >= 0) {
                dst[o++] = (uint8_t)byte;
                i += 3;
                continue;
            }
        }
        dst[o++] = plus && src[i] == '+' ? ' ' : src[i];
        i++;
    }
    return o;
}

static void portable_upper_triplets(const uint8_t *src, size_t n, uint8_t *dst) {
    int digits = 0; /* how many of the next bytes belong to a triplet */
    for (size_t i = 0; i < n; i++) {
        uint8_t c = src[i];
        if (c == '%' && uc_triplet_value(src + i, n - i) >= 0) digits = 3;
        dst[i] = digits && c >= 'a' ? c - 32 : c;
        digits -= digits > 0;
    }
}

/* --- URNs ---------------------------------------------------------------------------------------------------------- */

static inline size_t portable_line_size(const uint8_t *src, size_t n, uint8_t end) {
    const uint8_t *found = (const uint8_t *)memchr(src, end, n);
    return found ? (size_t)(found - src) : n;
}

static void portable_normalize_urns(const uint8_t *src, size_t n, uint8_t end, uint8_t *dst) {
    for (size_t start = 0; start < n;) {
        size_t i = start, stop = start + portable_line_size(src + start, n - start, end);
        if (stop - start >= 4 && uc_is_urn(src + start)) {
            for (; i < stop && (src[i] != ':' || i < start + 4); i++) dst[i] = uc_lower(src[i]);
            portable_upper_triplets(src + i, stop - i, dst + i);
        } else {
            memmove(dst + start, src + start, stop - start);
        }
        if (stop < n) dst[stop++] = end;
        start = stop;
    }
}

/* Whether a line is a simple URN. */
static int portable_is_simple(const uint8_t *s, size_t n, const uc_set *nid, const uc_set *nss) {
    size_t i = 4;
    if (n < 4 || !uc_is_urn(s)) return 0;
    while (i < n && nid->member[s[i]]) i++;
    if (i < 4 + 2 || i > 4 + 32 || i == n || s[i] != ':' || s[4] == '-' || s[i - 1] == '-') return 0;
    if (i == 7 && uc_is_urn(s + 4)) return 0; /* its NID is "urn" */
    i++;
    if (i == n || s[i] == '/') return 0;
    while (i < n) {
        if (nss->member[s[i]])
            i++;
        else if (s[i] == '%' && uc_triplet_value(s + i, n - i) > 0)
            i += 3;
        else
            return 0;
    }
    return 1;
}

static size_t portable_span_urns(const uint8_t *src, size_t n, const uc_set *nid, const uc_set *nss, uint8_t end) {
    for (size_t start = 0; start < n;) {
        size_t size = portable_line_size(src + start, n - start, end);
        if (!portable_is_simple(src + start, size, nid, nss)) return start;
        start += size + (start + size < n);
    }
    return n;
}

/* --- UTF-8 --------------------------------------------------------------------------------------------------------- */

/* A validator without branches: a state machine. Its table has a word for each byte, with the successor of each state
 * in six bits. States are multiples of 6, so that a shift by the state moves its successor to the lowest bits. */
enum portable_state {
    DONE = 0,
    WRONG = 6,
    ONE_MORE = 12,
    TWO_MORE = 18,
    THREE_MORE = 24,
    AFTER_E0 = 30,
    AFTER_ED = 36,
    AFTER_F0 = 42,
    AFTER_F4 = 48
};
static uint64_t portable_successors[256];

static enum portable_state portable_successor(int state, uint8_t c) {
    static const enum portable_state by_length[] = {WRONG, DONE, ONE_MORE, TWO_MORE, THREE_MORE};
    const uint8_t lead = state == AFTER_E0   ? 0xE0
                         : state == AFTER_ED ? 0xED
                         : state == AFTER_F0 ? 0xF0
                         : state == AFTER_F4 ? 0xF4
                                             : 0;
    if (state == DONE)
        return c == 0xE0   ? AFTER_E0
               : c == 0xED ? AFTER_ED
               : c == 0xF0 ? AFTER_F0
               : c == 0xF4 ? AFTER_F4
                           : by_length[uc_sequence_length(c)];
    if (state == WRONG || !uc_continues(lead, 1, c)) return WRONG;
    if (state == ONE_MORE) return DONE;
    return state == THREE_MORE || lead >= 0xF0 ? TWO_MORE : ONE_MORE;
}

static void portable_prepare(void) {
    for (int c = 0; c < 256; c++)
        for (int state = DONE; state <= AFTER_F4; state += 6)
            portable_successors[c] |= (uint64_t)portable_successor(state, (uint8_t)c) << state;
}

static size_t portable_scan_utf8(const uint8_t *src, size_t n, uc_utf8 *found) {
    size_t i = 0, characters = 0;
    uint64_t state = DONE;
    uint8_t highest = 0;
    for (; n - i >= 16; i += 16) {
        uint64_t words[2], before = state;
        memcpy(words, src + i, 16);
        if (state == DONE && !((words[0] | words[1]) & 0x8080808080808080)) continue;
        for (int k = 0; k < 16; k++) state = portable_successors[src[i + k]] >> state & 63;
        if (state == WRONG) { /* somewhere in these bytes: repeat them, checking every byte */
            state = before;
            break;
        }
    }
    for (; i < n; i++) {
        state = portable_successors[src[i]] >> state & 63;
        if (state == WRONG) break;
    }
    if (state != DONE) i = uc_interrupted(src, i);
    /* Two separate loops, which compilers vectorize. */
    for (size_t k = 0; k < i; k++) characters += (src[k] & 0xC0) != 0x80;
    for (size_t k = 0; k < i; k++) highest = src[k] > highest ? src[k] : highest;
    found->characters = characters;
    found->highest = highest;
    return i;
}

static inline uint32_t portable_unit(const void *units, size_t i, int width) {
    return width == 1   ? ((const uint8_t *)units)[i]
           : width == 2 ? ((const uint16_t *)units)[i]
                        : ((const uint32_t *)units)[i];
}

/* Whether 8 bytes of code units are left, and these are ASCII. */
static inline int portable_ascii_units(const void *units, size_t i, size_t n, int width) {
    const uint64_t others = width == 1 ? 0x8080808080808080 : width == 2 ? 0xFF80FF80FF80FF80 : 0xFFFFFF80FFFFFF80;
    uint64_t word;
    if (n - i < 8 / (size_t)width) return 0;
    memcpy(&word, (const uint8_t *)units + i * (size_t)width, 8);
    return !(word & others);
}

UC_INLINE size_t portable_put(const void *src, size_t n, const int width, uint8_t *dst) {
    uint8_t *start = dst;
    for (size_t i = 0; i < n;) {
        uint32_t c = portable_unit(src, i, width);
        if (c < 0x80) {
            size_t ascii = portable_ascii_units(src, i, n, width) ? 8 / (size_t)width : 1;
            for (size_t k = 0; k < ascii; k++) *dst++ = (uint8_t)portable_unit(src, i + k, width);
            i += ascii;
            continue;
        }
        i++;
        if (c >= 0xD800 && c < 0xE000) return UC_SURROGATE;
        dst += uc_write_character(c, dst);
    }
    return (size_t)(dst - start);
}

static size_t portable_to_utf8(const void *src, size_t n, int width, uint8_t *dst) {
    return width == 1   ? portable_put(src, n, 1, dst)
           : width == 2 ? portable_put(src, n, 2, dst)
                        : portable_put(src, n, 4, dst);
}

UC_INLINE void portable_get(const uint8_t *src, size_t n, const int width, void *dst) {
    const uint8_t *end = src + n;
    uint8_t *units = (uint8_t *)dst;
    while (src < end) {
        uint32_t c = src[0];
        int length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        size_t ascii = length == 1 && portable_ascii_units(src, 0, (size_t)(end - src), 1) ? 8 : 1;
        if (length == 2)
            c = (c & 0x1F) << 6 | (src[1] & 0x3Fu);
        else if (length == 3)
            c = (c & 0x0F) << 12 | (src[1] & 0x3Fu) << 6 | (src[2] & 0x3Fu);
        else if (length == 4)
            c = (c & 0x07) << 18 | (src[1] & 0x3Fu) << 12 | (src[2] & 0x3Fu) << 6 | (src[3] & 0x3Fu);
        for (size_t k = 0; k < ascii; k++, units += width) {
            if (length == 1) c = src[k];
            if (width == 1) *units = (uint8_t)c;
            if (width == 2) *(uint16_t *)(void *)units = (uint16_t)c;
            if (width == 4) *(uint32_t *)(void *)units = c;
        }
        src += length == 1 ? ascii : (size_t)length;
    }
}

static void portable_from_utf8(const uint8_t *src, size_t n, int width, void *dst, size_t characters) {
    (void)characters;
    if (width == 1)
        portable_get(src, n, 1, dst);
    else if (width == 2)
        portable_get(src, n, 2, dst);
    else
        portable_get(src, n, 4, dst);
}

static const uc_kernels uc_portable = {
    .span = portable_span,
    .count_outside = portable_count_outside,
    .mark_outside = portable_mark_outside,
    .mark_classes = portable_mark_classes,
    .mark_triplets = portable_mark_triplets,
    .move_ends = portable_move_ends,
    .encode = portable_encode,
    .decode = portable_decode,
    .upper_triplets = portable_upper_triplets,
    .normalize_urns = portable_normalize_urns,
    .span_urns = portable_span_urns,
    .scan_utf8 = portable_scan_utf8,
    .to_utf8 = portable_to_utf8,
    .from_utf8 = portable_from_utf8,
};

#endif
