/* to_utf8 and from_utf8 for vectors whose shuffles work on parts of 16 octets, written once: a template over a small
 * vocabulary, which a tier defines before it includes this file, and which is undefined again at the end of it.
 *
 * To UTF-8. Every code unit is spread over a part of 4 octets that holds whatever it can become: the last six bits with
 * the tag of a continuation in the fourth octet, the six before in the third, and so on; each with the tag of a lead where
 * the lengths say that it is one, and ASCII as it is in the first. The lengths of four units, two bits each, choose the
 * shuffle that picks the right octets of each part. Below U+0100 a pair of octets for each of eight units does.
 *
 * From UTF-8. Seen from the last octet of a character, its bits are always at the same place: six (or seven, of ASCII)
 * in the octet itself, the next six in the octet before if this one is a continuation, and so on. So a code unit is put
 * together at every octet, as if it were the last one of a character, and a shuffle keeps those units where that is so.
 *
 * Where the next group goes depends on the lengths before it, but nothing else does, and nothing branches on them. Wide
 * stores run into the place of the next group, which then overwrites it; the last ones are cut off in the register.
 *
 * Operations that work within parts of 16 octets are all that is needed, in vectors of any number of parts: where two
 * vectors a and b hold neighbours, it is the first part of a, the first of b, the second of a, and so on.
 *
 *      V, P                    a vector of SIZE octets, a part of 16
 *      KERNEL, INLINE, NAME    as in utf8_scan.h, and so are
 *      LOAD, LOAD_PART, ZERO, ALL, AND, OR, SUBTRACT, LOOK_UP, BEFORE
 *      PART(v, k)              its k-th part
 *      LOAD_16, LOOK_UP_16     LOAD and LOOK_UP of a part
 *      STORE_16(p, x), STORE_8(p, x), LOW32(x)   a part, its first 8 octets; the first 4 as a word in order of memory
 *      LOAD_8(p), LAST_8(x)    8 octets, and then any; the last 8 octets first, then any
 *      LOAD_ROWS(rows, index, at)   the rows that the octets of index name from bit `at` on, every other one
 *      LOAD_UNITS(p, n, i)     from p[0 .. n), 0 behind: for every part 16 octets, from i on, then from i + 32 on
 *      ALL16(c)                c in every unit of 2 octets
 *      LEFT16, RIGHT16, RIGHT32 (v, k)   units shifted by k bits
 *      WITHIN16(v, c)          all ones in the units that are no higher than c
 *      EQUAL8, EQUAL16         all ones in equal units
 *      ZIP_LOW8, ZIP_HIGH8, ZIP_LOW16, ZIP_HIGH16 (a, b)   a0 b0 a1 b1 .. of the first, or second, halves of parts
 *      NARROW16(a, b)          the low octets of units of 2 octets, which are below 0x80
 *      NARROW32(a, b)          the low halves of units of 4 octets, which are no higher than 0x7FFF
 *      LOW_WORDS(a, b)         the low halves of any units of 4 octets
 *      STORE_ASCII(p, v)       SIZE octets, in order, of a vector that NARROW16 made of two in order
 *      STORE_WIDE16(p, v), STORE_WIDE32(p, v)   every octet as a unit
 *      CONTINUATIONS(v)        all ones in the octets 80..BF
 *      FROM(v, c)              all ones in the octets from c on
 *      ADD8(a, b)
 *      MASK(v)                 the top bits of the octets, the first one lowest
 */

#define EVERY_BIT (0xFFFFFFFFu >> (32 - SIZE)) /* of a MASK */

/* The first q of the octets of a part, q <= 16. */
INLINE void NAME(store_part)(uint8_t *dst, P x, size_t q) {
    static const uint8_t down_by_8[36] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    if (q >= 8) {
        STORE_8(dst, x);
        STORE_8(dst + q - 8, LOOK_UP_16(x, LOAD_16(down_by_8 + q)));
    } else if (q >= 4) {
        uint32_t first = LOW32(x), last = LOW32(LOOK_UP_16(x, LOAD_16(down_by_8 + q + 4)));
        memcpy(dst, &first, 4), memcpy(dst + q - 4, &last, 4);
    } else if (q) {
        uint8_t few[4];
        uint32_t first = LOW32(x);
        memcpy(few, &first, 4);
        dst[0] = few[0], dst[q / 2] = few[q / 2], dst[q - 1] = few[q - 1];
    }
}

/* Stores a part; with `checked`, nothing from `end` on. */
INLINE void NAME(store)(uint8_t *dst, P x, const uint8_t *end, int checked) {
    if (!checked || end - dst >= 16)
        STORE_16(dst, x);
    else if (end > dst)
        NAME(store_part)(dst, x, (size_t)(end - dst));
}

/* Stores of every part the octets that its row picks: each octet of index is the row of a part, and of its size. */
INLINE uint8_t *NAME(pick)(V a, V b, uint32_t index, uint8_t (*rows)[16], const uint8_t *sizes, uint8_t *dst,
                           const uint8_t *end, int checked) {
    a = LOOK_UP(a, LOAD_ROWS(rows, index, 0)), b = LOOK_UP(b, LOAD_ROWS(rows, index, 8));
    for (int k = 0; k < SIZE / 16; k++) {
        NAME(store)(dst, PART(a, k), end, checked);
        dst += sizes[index >> 16 * k & 255];
        NAME(store)(dst, PART(b, k), end, checked);
        dst += sizes[index >> (16 * k + 8) & 255];
    }
    return dst;
}

INLINE V NAME(octets_at)(const uint8_t *src, size_t n, size_t i) {
    return i + SIZE <= n ? LOAD(src + i) : i < n ? LOAD_PART(src + i, n - i) : ZERO;
}

/* --- to_utf8 ---------------------------------------------------------------------------------------------------------- */

/* Characters below U+0100; `wide` has a bit for each that is not ASCII. */
INLINE uint8_t *NAME(put_pairs)(V v, uint32_t wide, uint8_t *dst, const uint8_t *end, int checked) {
    V pairs[2] = {ZIP_LOW8(v, ZERO), ZIP_HIGH8(v, ZERO)};
    for (int k = 0; k < 2; k++) {
        V c = pairs[k], ascii = WITHIN16(c, 0x7F);
        V tagged = OR(OR(RIGHT16(c, 6), AND(LEFT16(c, 8), ALL16(0x3F00))), ALL16(0x80C0));
        pairs[k] = OR(AND(ascii, c), ANDNOT(ascii, tagged));
    }
    return NAME(pick)(pairs[0], pairs[1], wide, utf8_pairs, utf8_pair_sizes, dst, end, checked);
}

KERNEL size_t NAME(put8)(const uint8_t *src, size_t n, uint8_t *dst) {
    uint8_t *start = dst, *end = dst + 2 * n;
    size_t i = 0;
    for (; n - i >= SIZE; i += SIZE) {
        V v = LOAD(src + i);
        uint32_t wide = MASK(v);
        if (wide) {
            dst = NAME(put_pairs)(v, wide, dst, end, 0);
        } else {
            STORE(dst, v);
            dst += SIZE;
        }
    }
    if (i < n) {
        V v = LOAD_PART(src + i, n - i);
        uint32_t wide = MASK(v);
        if (wide) {
            dst = NAME(put_pairs)(v, wide, dst, end, 1) - (SIZE - (n - i));
        } else {
            for (int k = 0; k < SIZE / 16; k++) NAME(store)(dst + 16 * k, PART(v, k), dst + (n - i), 1);
            dst += n - i;
        }
    }
    return (size_t)(dst - start);
}

/* Characters given as two words: the low 16 bits, and those above, if any_above. */
INLINE uint8_t *NAME(put_words)(V low, V above, int any_above, uint8_t *dst, const uint8_t *end, int checked) {
    V all = any_above ? OR(low, LEFT16(above, 11)) : low; /* 0x800 or more, if there is anything above */
    V one = WITHIN16(all, 0x7F), two = WITHIN16(all, 0x7FF), not_three = one;
    V inner = OR(OR(AND(RIGHT16(low, 6), ALL16(0x3F)), AND(LEFT16(low, 8), ALL16(0x3F00))),
                 OR(ALL16(0x8080), AND(two, ALL16(0x40))));
    V outer = OR(AND(low, ALL16(0x7F)), ALL16(0xE000));
    uint32_t lengths;
    if (any_above) {
        V four = ANDNOT(EQUAL16(above, ZERO), ALL(0xFF));
        outer = OR(ANDNOT(four, outer), AND(four, ALL16(0x80F0)));
        outer = OR(outer, OR(RIGHT16(above, 2), LEFT16(AND(above, ALL16(3)), 12)));
        not_three = OR(one, four);
    }
    outer = OR(outer, LEFT16(RIGHT16(low, 12), 8));
    lengths = MASK(OR(AND(not_three, ALL16(0x00FF)), AND(two, ALL16(0xFF00))));
    return NAME(pick)(ZIP_LOW16(outer, inner), ZIP_HIGH16(outer, inner), lengths, utf8_groups, utf8_sizes, dst, end,
                      checked);
}

INLINE V NAME(surrogates16)(V c) { return EQUAL16(AND(c, ALL16(0xF800)), ALL16(0xD800)); }

KERNEL size_t NAME(put16)(const uint8_t *src, size_t n, uint8_t *dst) {
    uint8_t *start = dst, *end = dst + 3 * n;
    size_t i = 0;
    /* The last group may store 4 octets more than there is room for it: two units have to follow. */
    for (; n - i >= SIZE + 2; i += SIZE) {
        V a = LOAD(src + 2 * i), b = LOAD(src + 2 * i + SIZE);
        if (MASK(WITHIN16(OR(a, b), 0x7F)) == EVERY_BIT) {
            STORE_ASCII(dst, NARROW16(a, b));
            dst += SIZE;
        } else {
            if (MASK(OR(NAME(surrogates16)(a), NAME(surrogates16)(b)))) return UC_SURROGATE;
            dst = NAME(put_words)(a, ZERO, 0, dst, end, 0);
            dst = NAME(put_words)(b, ZERO, 0, dst, end, 0);
        }
    }
    for (; i < n; i += SIZE / 2) {
        size_t q = n - i < SIZE / 2 ? n - i : SIZE / 2;
        V c = NAME(octets_at)(src, 2 * n, 2 * i);
        if (MASK(NAME(surrogates16)(c))) return UC_SURROGATE;
        if (n - i >= SIZE / 2 + 2)
            dst = NAME(put_words)(c, ZERO, 0, dst, end, 0);
        else
            dst = NAME(put_words)(c, ZERO, 0, dst, end, 1) - (SIZE / 2 - q);
    }
    return (size_t)(dst - start);
}

KERNEL size_t NAME(put32)(const uint8_t *src, size_t n, uint8_t *dst) {
    uint8_t *start = dst, *end = dst + 4 * n;
    for (size_t i = 0; i < n; i += SIZE / 2) {
        size_t at = 4 * i, q = n - i < SIZE / 2 ? n - i : SIZE / 2;
        int whole = q == SIZE / 2;
        V a = whole ? LOAD_UNITS(src, at + 2 * SIZE, at) : LOAD_UNITS(src, 4 * n, at);
        V b = whole ? LOAD_UNITS(src, at + 2 * SIZE, at + 16) : LOAD_UNITS(src, 4 * n, at + 16);
        V low = LOW_WORDS(a, b), above = NARROW32(RIGHT32(a, 16), RIGHT32(b, 16));
        if (MASK(AND(NAME(surrogates16)(low), EQUAL16(above, ZERO)))) return UC_SURROGATE;
        if (whole)
            dst = NAME(put_words)(low, above, 1, dst, end, 0);
        else
            dst = NAME(put_words)(low, above, 1, dst, end, 1) - (SIZE / 2 - q);
    }
    return (size_t)(dst - start);
}

KERNEL size_t NAME(to_utf8)(const void *src, size_t n, int width, uint8_t *dst) {
    return width == 1   ? NAME(put8)((const uint8_t *)src, n, dst)
           : width == 2 ? NAME(put16)((const uint8_t *)src, n, dst)
                        : NAME(put32)((const uint8_t *)src, n, dst);
}

/* --- from_utf8 -------------------------------------------------------------------------------------------------------- */

/* Below U+0100 a lead says only whether 0x40 is to be added to the octet behind it. */
INLINE uint8_t *NAME(get_octets)(V v, V last, uint32_t there, uint8_t *dst, const uint8_t *end, int checked) {
    V high = EQUAL8(BEFORE(v, last, 1), ALL(0xC3)), octets = ADD8(v, AND(high, ALL(0x40)));
    uint32_t keep = ~MASK(FROM(v, 0xC0)) & there;
    for (int k = 0; k < SIZE / 8; k++) {
        uint32_t row = keep >> 8 * k & 255;
        P eight = k & 1 ? LAST_8(PART(octets, k / 2)) : PART(octets, k / 2);
        eight = LOOK_UP_16(eight, LOAD_8(utf8_octets[row]));
        if (!checked || end - dst >= 8)
            STORE_8(dst, eight);
        else
            NAME(store_part)(dst, eight, utf8_counts[row]);
        dst += utf8_counts[row];
    }
    return dst;
}

KERNEL void NAME(get8)(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {
    uint8_t *end = dst + characters;
    V last = ZERO;
    size_t i = 0;
    for (; n - i >= SIZE && end - dst >= SIZE; i += SIZE) {
        V v = LOAD(src + i);
        if (MASK(v)) {
            dst = NAME(get_octets)(v, last, EVERY_BIT, dst, end, 0);
        } else {
            STORE(dst, v);
            dst += SIZE;
        }
        last = v;
    }
    for (; i < n; i += SIZE) {
        V v = NAME(octets_at)(src, n, i);
        dst = NAME(get_octets)(v, last, n - i < SIZE ? EVERY_BIT >> (SIZE - (n - i)) : EVERY_BIT, dst, end, 1);
        last = v;
    }
}

/* What the loops of get16 and get32 know of the octets at hand; `ends` has a bit for the last octet of a character. */
typedef struct NAME(block) {
    V v, bits, continuations; /* bits: without the tags */
    uint32_t continuing, ends;
} NAME(block);

INLINE NAME(block) NAME(block_of)(V v) {
    NAME(block) b = {v, AND(v, OR(ALL(0x0F), ANDNOT(FROM(v, 0xE0), ALL(0x30)))), CONTINUATIONS(v), 0, 0};
    b.continuing = MASK(b.continuations);
    return b;
}

INLINE int NAME(count)(uint32_t mask) {
    int count = 0;
    for (int k = 0; k < SIZE / 8; k++) count += utf8_counts[mask >> 8 * k & 255];
    return count;
}

INLINE void NAME(find_ends)(NAME(block) *b, const NAME(block) *next) {
    b->ends = ~(b->continuing >> 1 | next->continuing << (SIZE - 1)) & EVERY_BIT;
}

INLINE uint8_t *NAME(get_words)(const NAME(block) *b, const NAME(block) *last, uint8_t *dst, const uint8_t *end,
                                int checked) {
    V second = AND(AND(BEFORE(b->v, last->v, 1), ALL(0x3F)), b->continuations);
    V third = SUBTRACT(BEFORE(b->v, last->v, 2), ALL(0xE0)); /* the bits of a lead of three, else 0 */
    V low = OR(AND(b->v, ALL(0x7F)), AND(LEFT16(second, 6), ALL(0xC0)));
    V high = OR(AND(RIGHT16(second, 2), ALL(0x0F)), LEFT16(third, 4));
    return NAME(pick)(ZIP_LOW8(low, high), ZIP_HIGH8(low, high), b->ends, utf8_words, utf8_word_sizes, dst, end,
                      checked);
}

INLINE uint8_t *NAME(get_longs)(const NAME(block) *b, const NAME(block) *last, uint8_t *dst, const uint8_t *end,
                                int checked) {
    V two = AND(b->continuations, BEFORE(b->continuations, last->continuations, 1));
    V three = AND(two, BEFORE(b->continuations, last->continuations, 2));
    V at_1 = AND(BEFORE(b->bits, last->bits, 1), b->continuations), at_2 = AND(BEFORE(b->bits, last->bits, 2), two);
    V at_3 = AND(BEFORE(b->bits, last->bits, 3), three);
    V low = OR(AND(b->v, ALL(0x7F)), AND(LEFT16(at_1, 6), ALL(0xC0)));
    V middle = OR(AND(RIGHT16(at_1, 2), ALL(0x0F)), AND(LEFT16(at_2, 4), ALL(0xF0)));
    V high = OR(AND(RIGHT16(at_2, 4), ALL(0x03)), LEFT16(AND(at_3, ALL(0x07)), 2));
    V words[2] = {ZIP_LOW8(low, middle), ZIP_HIGH8(low, middle)};
    V highs[2] = {ZIP_LOW8(high, ZERO), ZIP_HIGH8(high, ZERO)};
    V longs[4];
    for (int k = 0; k < 4; k++) {
        longs[k] = k & 1 ? ZIP_HIGH16(words[k / 2], highs[k / 2]) : ZIP_LOW16(words[k / 2], highs[k / 2]);
        longs[k] = LOOK_UP(longs[k], LOAD_ROWS(utf8_quads, (b->ends >> 4 * k & 0x000F000F), 0));
    }
    for (int part = 0; part < SIZE / 16; part++)
        for (int k = 0; k < 4; k++) {
            NAME(store)(dst, PART(longs[k], part), end, checked);
            dst += 4 * utf8_counts[b->ends >> (16 * part + 4 * k) & 15];
        }
    return dst;
}

#define DEFINE_GET(get, width, get_block, store_ascii)                                                            \
    KERNEL void NAME(get)(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {                        \
        uint8_t *end = dst + width * characters;                                                                  \
        NAME(block) last = NAME(block_of)(ZERO), block = NAME(block_of)(NAME(octets_at)(src, n, 0)), next;        \
        size_t i = 0;                                                                                             \
        for (; n - i >= 2 * SIZE && end - dst >= width * SIZE; i += SIZE) {                                       \
            next = NAME(block_of)(LOAD(src + i + SIZE));                                                          \
            if (MASK(block.v)) {                                                                                  \
                NAME(find_ends)(&block, &next);                                                                   \
                dst = NAME(get_block)(&block, &last, dst, end, 0);                                                \
            } else {                                                                                              \
                store_ascii(dst, block.v);                                                                        \
                dst += width * SIZE;                                                                              \
            }                                                                                                     \
            last = block, block = next;                                                                           \
        }                                                                                                         \
        for (; i < n; i += SIZE) {                                                                                \
            next = NAME(block_of)(NAME(octets_at)(src, n, i + SIZE));                                             \
            NAME(find_ends)(&block, &next);                                                                       \
            if (n - i < SIZE) block.ends &= EVERY_BIT >> (SIZE - (n - i));                                        \
            if (end - dst >= width * NAME(count)(block.ends) + 16)                        \
                dst = NAME(get_block)(&block, &last, dst, end, 0);                                                \
            else                                                                                                  \
                dst = NAME(get_block)(&block, &last, dst, end, 1);                                                \
            last = block, block = next;                                                                           \
        }                                                                                                         \
    }

DEFINE_GET(get16, 2, get_words, STORE_WIDE16)
DEFINE_GET(get32, 4, get_longs, STORE_WIDE32)
#undef DEFINE_GET

KERNEL void NAME(from_utf8)(const uint8_t *src, size_t n, int width, void *dst, size_t characters) {
    if (width == 1)
        NAME(get8)(src, n, (uint8_t *)dst, characters);
    else if (width == 2)
        NAME(get16)(src, n, (uint8_t *)dst, characters);
    else
        NAME(get32)(src, n, (uint8_t *)dst, characters);
}

#undef V
#undef P
#undef SIZE
#undef EVERY_BIT
#undef KERNEL
#undef INLINE
#undef NAME
#undef LOAD
#undef LOAD_PART
#undef LOAD_16
#undef LOAD_8
#undef LOAD_ROWS
#undef LOAD_UNITS
#undef STORE
#undef STORE_16
#undef STORE_8
#undef STORE_ASCII
#undef STORE_WIDE16
#undef STORE_WIDE32
#undef PART
#undef LAST_8
#undef LOW32
#undef ZERO
#undef ALL
#undef ALL16
#undef AND
#undef OR
#undef ANDNOT
#undef ADD8
#undef SUBTRACT
#undef LOOK_UP
#undef LOOK_UP_16
#undef BEFORE
#undef LEFT16
#undef RIGHT16
#undef RIGHT32
#undef WITHIN16
#undef EQUAL8
#undef EQUAL16
#undef FROM
#undef ZIP_LOW8
#undef ZIP_HIGH8
#undef ZIP_LOW16
#undef ZIP_HIGH16
#undef NARROW16
#undef NARROW32
#undef LOW_WORDS
#undef CONTINUATIONS
#undef MASK
