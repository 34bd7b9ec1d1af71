/* Keyed fingerprints of 128 bits. docs/developing/fingerprint.md defines them, and shows how unlikely collisions are.
 *
 * The n bytes of an identifier are read as little-endian words w1 .. wk of 8 bytes, the last one padded with zeros. In
 * the field of the integers modulo p = 2^127 - 1, with secret r, a and c,
 *
 *      f = c + a (n + wk r + ... + w2 r^(k-1) + w1 r^k)
 *
 * and four rounds of a Feistel network, which is a permutation, mix the 127 bits of f. Bit 128 is their parity.
 *
 * The products a r^i are in a table, so multiplications do not depend on each other, and one reduction modulo p at the
 * end suffices; c + a n is in another table. Rows do not depend on each other, either: branches depend only on their
 * lengths, so the CPU executes several rows at a time. Identifiers longer than the tables use Horner's rule, chunk by
 * chunk: the sum so far, times r^16, counts as two more words with their own table entries.
 *
 * All tiers share this code, which uses no vector instructions: its speed is limited by additions, not products.
 */
#ifndef UC_FINGERPRINT_H
#define UC_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "target.h"

enum {
    UC_FINGERPRINT = 16, /* bytes of a fingerprint */
    UC_FINGERPRINT_KEY = 64,
    UC_CHUNK_WORDS = 16,
    UC_CHUNK = 8 * UC_CHUNK_WORDS,
    UC_BATCH = 128, /* rows that are sorted at once; their numbers fit into a byte */
    UC_FEW = 8      /* fewer rows are not sorted */
};

#define UC_63_BITS (UINT64_MAX >> 1)

/* An element of the field: low + 2^64 high, below p. */
typedef struct uc_point {
    uint64_t low, high;
} uc_point;

typedef struct uc_fingerprint_key {
    uc_point start;                  /* c */
    uc_point length;                 /* a */
    uc_point words[UC_CHUNK_WORDS];  /* a r, a r^2 ... a r^16 */
    uc_point chunk, chunk_high;      /* r^16, 2^64 r^16 */
    uint64_t mix[2];
    uc_point begins[UC_CHUNK + 1];   /* c + a n for each n */
} uc_fingerprint_key;

/* A sum of products that is not reduced yet: a + 2^64 b, each of three limbs. */
typedef struct uc_sum {
    uint64_t a[3], b[3];
} uc_sum;

/* uc_multiply: the product of two words; returns its low half. uc_add_product: adds it to three limbs. */
#if defined(__SIZEOF_INT128__)
typedef unsigned __int128 uc_two_words;

UC_INLINE uint64_t uc_multiply(uint64_t x, uint64_t y, uint64_t *high) {
    uc_two_words product = (uc_two_words)x * y;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
}

UC_INLINE void uc_add_product(uint64_t limbs[3], uint64_t x, uint64_t y) {
    uc_two_words product = (uc_two_words)x * y, sum = ((uc_two_words)limbs[1] << 64 | limbs[0]) + product;
    limbs[0] = (uint64_t)sum, limbs[1] = (uint64_t)(sum >> 64);
    limbs[2] += sum < product;
}
#else
UC_INLINE uint64_t uc_multiply(uint64_t x, uint64_t y, uint64_t *high) {
#if defined(_MSC_VER) && defined(_M_X64)
    return _umul128(x, y, high);
#else
    const uint64_t half = UINT32_MAX;
    uint64_t low = (x & half) * (y & half), left = (x >> 32) * (y & half), right = (x & half) * (y >> 32);
    uint64_t middle = (low >> 32) + (left & half) + right; /* at most 2^64 - 1: (2^32 - 1) (2^32 + 1) */
    *high = (x >> 32) * (y >> 32) + (left >> 32) + (middle >> 32);
    return middle << 32 | (low & half);
#endif
}

/* The high half of a product is at most 2^64 - 2, so it takes a carry. */
UC_INLINE void uc_add_product(uint64_t limbs[3], uint64_t x, uint64_t y) {
    uint64_t high, low = uc_multiply(x, y, &high);
    limbs[0] += low;
    high += limbs[0] < low;
    limbs[1] += high;
    limbs[2] += limbs[1] < high;
}
#endif

UC_INLINE void uc_add(uc_sum *sum, uint64_t word, const uc_point *point) {
    uc_add_product(sum->a, word, point->low);
    uc_add_product(sum->b, word, point->high);
}

/* The sum modulo p. 2^127 is 1 there, so what is above 127 bits is added to what is below. The sum is below 2^197 (some
 * twenty products of 64 and 127 bits), what is added below 2^70, and one more step is enough. */
UC_INLINE uc_point uc_reduce(const uc_sum *sum) {
    uint64_t second = sum->a[1] + sum->b[0];
    uint64_t carry = sum->a[2] + (second < sum->b[0]);
    uint64_t third = sum->b[1] + carry;
    uint64_t fourth = sum->b[2] + (third < carry);
    uint64_t above = third << 1 | second >> 63, over;
    uc_point x;
    x.low = sum->a[0] + above;
    x.high = (second & UC_63_BITS) + (fourth << 1 | third >> 63) + (x.low < above);
    over = (x.high + (x.low == UINT64_MAX)) >> 63; /* x is p or more: x + 1 has a bit 127 */
    x.low += over;
    x.high = (x.high + (x.low < over)) & UC_63_BITS;
    return x;
}

/* The 8 bytes at p as a little-endian word. */
UC_INLINE uint64_t uc_load_word(const uint8_t *p) {
#if UC_LITTLE_ENDIAN
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
#else
    uint64_t word = 0;
    for (int i = 8; i--;) word = word << 8 | p[i];
    return word;
#endif
}

UC_INLINE void uc_store_word(uint64_t word, uint8_t *p) {
#if UC_LITTLE_ENDIAN
    memcpy(p, &word, 8);
#else
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(word >> 8 * i);
#endif
}

/* Adds the 1 .. UC_CHUNK bytes at src as words. The last 8 bytes are loaded whole and shifted, so that a length that
 * is not a multiple of 8 costs no branch; only an identifier of less than 8 bytes is read byte by byte. */
UC_INLINE void uc_add_words(uc_sum *sum, const uc_fingerprint_key *key, const uint8_t *src, size_t n, int is_short) {
    size_t last = (n - 1) / 8;
    uint64_t word = 0;
    if (is_short)
        for (size_t i = n; i--;) word = word << 8 | src[i];
    else
        word = uc_load_word(src + n - 8) >> 8 * ((0 - n) & 7);
    uc_add(sum, word, key->words);
    for (size_t i = 0; i < last; i++) uc_add(sum, uc_load_word(src + 8 * i), key->words + last - i);
}

/* Adds r^16 times what came before. */
UC_INLINE void uc_add_before(uc_sum *sum, const uc_fingerprint_key *key, uc_point x) {
    uc_add(sum, x.low, &key->chunk);
    uc_add(sum, x.high, &key->chunk_high);
}

/* The words of all chunks but the last one, of which there is at least one. The first may be a part of a chunk. */
UC_APART uc_point uc_add_chunks(const uc_fingerprint_key *key, const uint8_t *src, size_t words) {
    uc_point x = {0, 0};
    size_t size = (words - 1) % UC_CHUNK_WORDS + 1;
    for (; words; src += 8 * size, words -= size, size = UC_CHUNK_WORDS) {
        uc_sum sum = {{0, 0, 0}, {0, 0, 0}};
        uc_add_before(&sum, key, x);
        uc_add_words(&sum, key, src, 8 * size, 0);
        x = uc_reduce(&sum);
    }
    return x;
}

UC_INLINE uint64_t uc_mixed(uint64_t x, uint64_t y) {
    uint64_t high, low = uc_multiply(x, y, &high);
    return low ^ high;
}

/* c + a n, not reduced if that is in no table. */
UC_INLINE uc_sum uc_begin(const uc_fingerprint_key *key, size_t n) {
    const uc_point *begin = n > UC_CHUNK ? &key->start : key->begins + n;
    uc_sum sum = {{begin->low, begin->high, 0}, {0, 0, 0}};
    if (n > UC_CHUNK) uc_add(&sum, n, &key->length);
    return sum;
}

/* f of src[0 .. n). */
UC_INLINE uc_point uc_polynomial(const uc_fingerprint_key *key, const uint8_t *src, size_t n) {
    uc_sum sum = uc_begin(key, n);
    if (n > UC_CHUNK) {
        size_t before = (n - 1) / 8 + 1 - UC_CHUNK_WORDS;
        uc_add_before(&sum, key, uc_add_chunks(key, src, before));
        src += 8 * before;
        n -= 8 * before;
    }
    if (n >= 8)
        uc_add_words(&sum, key, src, n, 0);
    else if (n)
        uc_add_words(&sum, key, src, n, 1);
    return uc_reduce(&sum);
}

/* The fingerprint that f becomes. */
UC_INLINE void uc_mix(const uc_fingerprint_key *key, uc_point x, uint8_t *dst) {
    for (int i = 0; i < 2; i++) {
        x.high ^= uc_mixed(x.low, key->mix[0]) >> 1;
        x.low ^= uc_mixed(x.high, key->mix[1]);
    }
    uc_store_word(x.low, dst);
    uc_store_word(x.high | uc_parity(x.low ^ x.high), dst + 8);
}

/* The fingerprint of src[0 .. n), UC_FINGERPRINT bytes. */
UC_INLINE void uc_fingerprint(const uc_fingerprint_key *key, const uint8_t *src, size_t n, uint8_t *dst) {
    uc_mix(key, uc_polynomial(key, src, n), dst);
}

/* Up to UC_BATCH rows, grouped by their number of words; group 0 has rows of less than 8 or more than UC_CHUNK bytes.
 * */
typedef struct uc_batch {
    const uint8_t *src;
    const size_t *starts, *ends;
    uint8_t *dst; /* f at first, then the fingerprints */
    size_t counts[UC_CHUNK_WORDS + 1];
    uint8_t rows[UC_CHUNK_WORDS + 1][UC_BATCH];
} uc_batch;

UC_INLINE void uc_sort(uc_batch *batch, size_t rows) {
    memset(batch->counts, 0, sizeof batch->counts);
    for (size_t i = 0; i < rows; i++) {
        size_t n = batch->ends[i] - batch->starts[i];
        size_t words = n < 8 || n > UC_CHUNK ? 0 : (n + 7) / 8;
        batch->rows[words][batch->counts[words]++] = (uint8_t)i;
    }
}

/* Computes f of the rows with so many words. If that is a constant, the loop over words is unrolled. */
UC_INLINE void uc_polynomials(const uc_fingerprint_key *key, const uc_batch *batch, size_t words) {
    for (size_t k = 0; k < batch->counts[words]; k++) {
        size_t i = batch->rows[words][k], n = batch->ends[i] - batch->starts[i];
        const uint8_t *src = batch->src + batch->starts[i];
        uc_point x;
        if (words) {
            uc_sum sum = {{key->begins[n].low, key->begins[n].high, 0}, {0, 0, 0}};
            for (size_t w = 0; w < words - 1; w++) uc_add(&sum, uc_load_word(src + 8 * w), key->words + words - 1 - w);
            uc_add(&sum, uc_load_word(src + n - 8) >> 8 * ((0 - n) & 7), key->words);
            x = uc_reduce(&sum);
        } else
            x = uc_polynomial(key, src, n);
        memcpy(batch->dst + UC_FINGERPRINT * i, &x, UC_FINGERPRINT);
    }
}

/* The fingerprints of rows: src[starts[i] .. ends[i]) to dst[16 i .. 16 i + 16). `ends` may be starts + 1.
 *
 * Rows with the same number of words are processed together; otherwise the CPU would mispredict the end of nearly every
 * row. Mixing, a long chain of dependent operations, is a separate loop, in which the CPU executes more rows at a time.
 * */
UC_INLINE void uc_fingerprints(const uc_fingerprint_key *key, const uint8_t *src, const size_t *starts,
                               const size_t *ends, size_t rows, uint8_t *dst) {
    uc_batch batch;
    if (rows < UC_FEW) {
        for (size_t i = 0; i < rows; i++)
            uc_fingerprint(key, src + starts[i], ends[i] - starts[i], dst + UC_FINGERPRINT * i);
        return;
    }
    batch.src = src, batch.starts = starts, batch.ends = ends, batch.dst = dst;
    while (rows) {
        size_t count = rows < UC_BATCH ? rows : UC_BATCH;
        uc_sort(&batch, count);
        uc_polynomials(key, &batch, 0);
        uc_polynomials(key, &batch, 1);
        uc_polynomials(key, &batch, 2);
        uc_polynomials(key, &batch, 3);
        uc_polynomials(key, &batch, 4);
        uc_polynomials(key, &batch, 5);
        uc_polynomials(key, &batch, 6);
        uc_polynomials(key, &batch, 7);
        uc_polynomials(key, &batch, 8);
        for (size_t words = 9; words <= UC_CHUNK_WORDS; words++) uc_polynomials(key, &batch, words);
        for (size_t i = 0; i < count; i++) {
            uc_point x;
            memcpy(&x, batch.dst + UC_FINGERPRINT * i, UC_FINGERPRINT);
            uc_mix(key, x, batch.dst + UC_FINGERPRINT * i);
        }
        batch.starts += count, batch.ends += count, batch.dst += UC_FINGERPRINT * count;
        rows -= count;
    }
}

/* An element of the field from 16 bytes, of which the last bit does not count. */
UC_INLINE uc_point uc_load_point(const uint8_t *p) {
    uc_sum sum = {{uc_load_word(p), uc_load_word(p + 8) & UC_63_BITS, 0}, {0, 0, 0}};
    return uc_reduce(&sum);
}

/* 2^64 x */
UC_INLINE uc_point uc_point_shifted(uc_point x) {
    uc_sum sum = {{0, 0, 0}, {x.low, x.high, 0}};
    return uc_reduce(&sum);
}

UC_INLINE uc_point uc_point_product(uc_point x, uc_point y) {
    uc_sum sum = {{0, 0, 0}, {0, 0, 0}};
    uc_point shifted = uc_point_shifted(x);
    uc_add(&sum, y.low, &x);
    uc_add(&sum, y.high, &shifted);
    return uc_reduce(&sum);
}

/* UC_FINGERPRINT_KEY bytes: r, a, c, and the words of the mixing. */
UC_INLINE void uc_make_fingerprint_key(uc_fingerprint_key *key, const uint8_t *material) {
    uc_point r = uc_load_point(material), power = r;
    key->length = uc_load_point(material + 16);
    if (!(key->length.low | key->length.high)) key->length.low = 1;
    key->start = uc_load_point(material + 32);
    key->mix[0] = uc_load_word(material + 48), key->mix[1] = uc_load_word(material + 56);
    for (int i = 0; i < UC_CHUNK_WORDS; i++) {
        key->chunk = power;
        key->words[i] = uc_point_product(power, key->length);
        power = uc_point_product(power, r);
    }
    key->chunk_high = uc_point_shifted(key->chunk);
    for (int n = 0; n <= UC_CHUNK; n++) {
        uc_sum sum = {{key->start.low, key->start.high, 0}, {0, 0, 0}};
        uc_add(&sum, (uint64_t)n, &key->length);
        key->begins[n] = uc_reduce(&sum);
    }
}

#endif
