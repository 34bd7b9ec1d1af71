/* What the kernels of simd/kernels.h must compute, one byte at a time: slow, short and obviously right.
 *
 * Written from the contract and from the RFCs that it names, not from the code of any tier. None of these knows a
 * capacity: there is always room. */
#ifndef NAIVE_H
#define NAIVE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../src/uricodec/_base/simd/kernels.h"

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

/* The value of a hexadecimal digit, or -1. */
static int digit(uint8_t c) {
    c = lower(c);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* RFC 3986 section 2.1: pct-encoded = "%" HEXDIG HEXDIG */
static int triplet_at(const uint8_t *src, size_t n, size_t i) {
    return n - i >= 3 && src[i] == '%' && digit(src[i + 1]) >= 0 && digit(src[i + 2]) >= 0;
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

static size_t naive_span(const uint8_t *src, size_t n, const uc_set *set) {
    size_t i = 0;
    while (i < n && set->member[src[i]]) i++;
    return i;
}

static size_t naive_count_outside(const uint8_t *src, size_t n, const uc_set *set) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += !set->member[src[i]];
    return count;
}

static void naive_mark_outside(const uint8_t *src, size_t n, const uc_set *set, uint64_t *bits) {
    memset(bits, 0, (n + 63) / 64 * 8);
    for (size_t i = 0; i < n; i++)
        if (!set->member[src[i]]) bits[i / 64] |= UINT64_C(1) << i % 64;
}

static void naive_mark_classes(const uint8_t *src, size_t n, const uc_classes *classes, uint64_t *bits) {
    size_t words = (n + 63) / 64;
    memset(bits, 0, 4 * words * 8);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            if (classes->low[src[i] % 16] & classes->high[src[i] / 16] & classes->mask[k])
                bits[k * words + i / 64] |= UINT64_C(1) << i % 64;
}

static size_t naive_encode(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst) {
    uint8_t *start = dst;
    for (size_t i = 0; i < n; i++) {
        if (safe->member[src[i]]) {
            *dst++ = plus && src[i] == ' ' ? '+' : src[i];
        } else {
            *dst++ = '%', *dst++ = "0123456789ABCDEF"[src[i] / 16], *dst++ = "0123456789ABCDEF"[src[i] % 16];
        }
    }
    return (size_t)(dst - start);
}

static size_t naive_decode(const uint8_t *src, size_t n, int plus, uint8_t *dst) {
    uint8_t *start = dst;
    for (size_t i = 0; i < n; i++) {
        if (triplet_at(src, n, i)) {
            *dst++ = (uint8_t)(16 * digit(src[i + 1]) + digit(src[i + 2])), i += 2;
        } else {
            *dst++ = plus && src[i] == '+' ? ' ' : src[i];
        }
    }
    return (size_t)(dst - start);
}

static int naive_mark_triplets(const uint8_t *src, size_t n, uint64_t *malformed, uint64_t *digits) {
    int any = 0;
    memset(malformed, 0, (n + 63) / 64 * 8);
    memset(digits, 0, (n + 63) / 64 * 8);
    for (size_t i = 0; i < n; i++) {
        if (src[i] != '%') continue;
        any = 1;
        if (!triplet_at(src, n, i)) malformed[i / 64] |= UINT64_C(1) << i % 64;
        else
            for (size_t k = i + 1; k <= i + 2; k++) digits[k / 64] |= UINT64_C(1) << k % 64;
    }
    return any;
}

static void naive_upper_triplets(const uint8_t *src, size_t n, uint8_t *dst) {
    memcpy(dst, src, n);
    for (size_t i = 0; i < n; i++)
        if (triplet_at(src, n, i))
            for (size_t k = i + 1; k <= i + 2; k++) dst[k] = src[k] >= 'a' ? src[k] - 32 : src[k];
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static size_t line_size(const uint8_t *src, size_t n, uint8_t end) {
    size_t size = 0;
    while (size < n && src[size] != end) size++;
    return size;
}

static int is_urn(const uint8_t *line, size_t n) {
    return n >= 4 && lower(line[0]) == 'u' && lower(line[1]) == 'r' && lower(line[2]) == 'n' && line[3] == ':';
}

/* RFC 2141 section 5, RFC 8141 section 3.1 */
static void naive_normalize_urns(const uint8_t *src, size_t n, uint8_t end, uint8_t *dst) {
    for (size_t start = 0, size; start < n; start += size + 1) {
        const uint8_t *line = src + start;
        uint8_t *to = dst + start;
        size = line_size(line, n - start, end);
        memcpy(to, line, start + size < n ? size + 1 : size);
        if (is_urn(line, size)) {
            size_t nid = 4 + line_size(line + 4, size - 4, ':');
            for (size_t i = 0; i < nid; i++) to[i] = lower(line[i]);
            naive_upper_triplets(line + nid, size - nid, to + nid);
        }
    }
}

static int is_plain(const uint8_t *line, size_t n, const uc_set *nid, const uc_set *nss) {
    size_t size, i;
    if (!is_urn(line, n)) return 0;
    size = line_size(line + 4, n - 4, ':');
    if (size < 2 || size > 32 || 4 + size == n) return 0;
    for (i = 4; i < 4 + size; i++)
        if (!nid->member[line[i]]) return 0;
    if (line[4] == '-' || line[4 + size - 1] == '-') return 0;
    if (size == 3 && lower(line[4]) == 'u' && lower(line[5]) == 'r' && lower(line[6]) == 'n') return 0;
    i = 4 + size + 1;
    if (i == n || line[i] == '/') return 0;
    while (i < n) {
        if (nss->member[line[i]])
            i++;
        else if (triplet_at(line, n, i) && !(line[i + 1] == '0' && line[i + 2] == '0'))
            i += 3;
        else
            return 0;
    }
    return 1;
}

static size_t naive_span_urns(const uint8_t *src, size_t n, const uc_set *nid, const uc_set *nss, uint8_t end) {
    for (size_t start = 0, size; start < n; start += size + 1) {
        size = line_size(src + start, n - start, end);
        if (!is_plain(src + start, size, nid, nss)) return start;
    }
    return n;
}

/* --- UTF-8 -------------------------------------------------------------------------------------------------------- */

/* RFC 3629 section 4. The length of the sequence that src begins with, and its character; 0 if it is ill-formed. */
static size_t character_at(const uint8_t *src, size_t n, uint32_t *c) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t lead = src[0];
    size_t length = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
    if (!length || length > n) return 0;
    *c = length == 1 ? src[0] : src[0] & (0x7F >> length);
    for (size_t i = 1; i < length; i++) {
        if ((src[i] & 0xC0) != 0x80) return 0;
        *c = *c << 6 | (src[i] & 0x3F);
    }
    return *c >= least[length] && *c <= 0x10FFFF && !(*c >= 0xD800 && *c <= 0xDFFF) ? length : 0;
}

static size_t naive_scan_utf8(const uint8_t *src, size_t n, uc_utf8 *found) {
    size_t i = 0, length;
    uint32_t c;
    found->characters = found->highest = 0;
    while (i < n && (length = character_at(src + i, n - i, &c))) {
        for (size_t k = i; k < i + length; k++) found->highest = src[k] > found->highest ? src[k] : found->highest;
        found->characters++;
        i += length;
    }
    return i;
}

static size_t put_character(uint32_t c, uint8_t *dst) {
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length; --i; c >>= 6) dst[i] = (uint8_t)(0x80 | (c & 0x3F));
    dst[0] = (uint8_t)(length == 1 ? c : (0xF00 >> length & 0xFF) | c);
    return length;
}

static uint32_t get_unit(const void *src, size_t i, int width) {
    return width == 1   ? ((const uint8_t *)src)[i]
           : width == 2 ? ((const uint16_t *)src)[i]
                        : ((const uint32_t *)src)[i];
}

static void put_unit(uint32_t c, size_t i, int width, void *dst) {
    if (width == 1)
        ((uint8_t *)dst)[i] = (uint8_t)c;
    else if (width == 2)
        ((uint16_t *)dst)[i] = (uint16_t)c;
    else
        ((uint32_t *)dst)[i] = c;
}

static size_t naive_to_utf8(const void *src, size_t n, int width, uint8_t *dst) {
    uint8_t *start = dst;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = get_unit(src, i, width);
        if (c >= 0xD800 && c <= 0xDFFF) return UC_SURROGATE;
        dst += put_character(c, dst);
    }
    return (size_t)(dst - start);
}

static void naive_from_utf8(const uint8_t *src, size_t n, int width, void *dst) {
    uint32_t c;
    for (size_t i = 0, k = 0; i < n; k++) {
        i += character_at(src + i, n - i, &c);
        put_unit(c, k, width, dst);
    }
}

/* --- fingerprints, as docs/developing/fingerprint.md defines them --------------------------------------------------- */

/* A number below 2^128. (Not every compiler has a type for it.) */
typedef struct wide {
    uint64_t low, high;
} wide;

static wide wide_of(uint64_t low) {
    wide x = {low, 0};
    return x;
}

static wide sum_of(wide x, wide y) {
    wide sum = {x.low + y.low, x.high + y.high};
    sum.high += sum.low < x.low;
    return sum;
}

/* Modulo the prime 2^127 - 1, of a number below twice the prime: x - (2^127 - 1) is x + 1 without bit 127. */
static wide reduced(wide x) {
    wide next = sum_of(x, wide_of(1));
    if (!(next.high >> 63)) return x;
    next.high &= UINT64_MAX >> 1;
    return next;
}

/* Of at most 16 bytes, little-endian. */
static wide number(const uint8_t *octets, size_t n) {
    wide x = {0, 0};
    while (n--) x.high = x.high << 8 | x.low >> 56, x.low = x.low << 8 | octets[n];
    return x;
}

/* The lowest 127 bits of 16 bytes, modulo the prime. */
static wide coefficient(const uint8_t *octets) {
    wide x = number(octets, 16);
    x.high &= UINT64_MAX >> 1;
    return reduced(x);
}

static wide product(wide x, wide y) {
    wide sum = {0, 0};
    for (int i = 127; i--;) {
        sum = reduced(sum_of(sum, sum));
        if ((i < 64 ? y.low : y.high) >> i % 64 & 1) sum = reduced(sum_of(sum, x));
    }
    return sum;
}

static uint64_t folded(uint64_t x, uint64_t y) {
    wide sum = {0, 0};
    for (int i = 64; i--;) {
        sum = sum_of(sum, sum);
        if (y >> i & 1) sum = sum_of(sum, wide_of(x));
    }
    return sum.low ^ sum.high;
}

static void naive_fingerprint(const uint8_t key[64], const uint8_t *src, size_t n, uint8_t *dst) {
    wide r = coefficient(key), a = coefficient(key + 16), c = coefficient(key + 32), sum = {0, 0}, f;
    uint64_t low, high, parity;
    if (!a.low && !a.high) a.low = 1;
    for (size_t i = 0; i < n; i += 8) sum = product(reduced(sum_of(sum, number(src + i, n - i < 8 ? n - i : 8))), r);
    f = reduced(sum_of(product(a, reduced(sum_of(sum, wide_of(n)))), c));
    low = f.low, high = f.high;
    for (int i = 0; i < 2; i++) {
        high ^= folded(low, number(key + 48, 8).low) >> 1;
        low ^= folded(high, number(key + 56, 8).low);
    }
    parity = low ^ high;
    for (int shift = 32; shift; shift /= 2) parity ^= parity >> shift;
    high |= parity << 63;
    for (int i = 0; i < 8; i++) dst[i] = (uint8_t)(low >> 8 * i), dst[8 + i] = (uint8_t)(high >> 8 * i);
}

#endif
