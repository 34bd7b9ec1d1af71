/* to_utf8 and from_utf8 for vectors whose shuffles work on parts of 16 bytes, written once: a template over a small
 * vocabulary, which a tier defines before it includes this file, and which is undefined again at the end of it.
 *
 * To UTF-8. Every code unit is expanded to 4 bytes with all bytes that its encoding may need: the last six bits with
 * the tag of a continuation in the fourth byte, the six bits before in the third, and so on; the byte that is the lead,
 * according to the length, has the tag of a lead, and an ASCII character is in the first byte. The lengths of four
 * units, two bits each, select the shuffle that picks the right bytes. Below U+0100, two bytes for each unit suffice.
 *
 * From UTF-8. Relative to the last byte of a character, its bits are always at the same positions: six (or seven, for
 * ASCII) in that byte, the next six in the byte before it if that byte is a continuation, and so on. So a code unit is
 * assembled at every byte, as if it were the last one of a character, and a shuffle keeps the units at actual ends.
 *
 * Only the position of a group's output depends on the lengths before it, and nothing branches on lengths. Wide stores
 * reach into the output of the next group, which then overwrites it.
 *
 * All operations work within parts of 16 bytes, and vectors have any number of parts. A sequence that takes two vectors
 * a and b is stored in the order: first part of a, first part of b, second part of a, and so on.
 *
 *      V, P                    a vector of SIZE bytes, a part of 16
 *      KERNEL, INLINE, NAME    as in utf8_scan.h, and so are
 *      LOAD, LOAD_PART, ZERO, ALL, AND, OR, SUBTRACT, LOOK_UP, BEFORE
 *      PART(v, k)              its k-th part
 *      LOOK_UP_16              LOOK_UP of a part
 *      STORE_16(p, x), STORE_8(p, x), LOW32(x)   a part, its first 8 bytes; the first 4 as a word in order of memory
 *      LOAD_8(p), LAST_8(x)    8 bytes, and then any; the last 8 bytes first, then any
 *      LOAD_ROWS(rows, index, at)   the rows that the bytes of index name from bit `at` on, every other one
 *      LOAD_UNITS(p, n, i)     from p[0 .. n), 0 after: for every part 16 bytes, from i on, then from i + 32 on
 *      ALL16(c)                c in every unit of 2 bytes
 *      LEFT16, RIGHT16, RIGHT32 (v, k)   units shifted by k bits
 *      WITHIN16(v, c)          all ones in units up to c
 *      EQUAL8, EQUAL16         all ones in equal units
 *      ZIP_LOW8, ZIP_HIGH8, ZIP_LOW16, ZIP_HIGH16 (a, b)   a0 b0 a1 b1 .. of the first, or second, halves of parts
 *      NARROW16(a, b)          the low bytes of units of 2 bytes, which are below 0x80
 *      NARROW32(a, b)          the low halves of units of 4 bytes, which are at most 0x7FFF
 *      LOW_WORDS(a, b)         the low halves of any units of 4 bytes
 *      STORE_ASCII(p, v)       SIZE bytes, in order, of a vector that NARROW16 made of two in order
 *      STORE_WIDE16(p, v), STORE_WIDE32(p, v)   every byte as a unit
 *      CONTINUATIONS(v)        all ones in the bytes 80..BF
 *      FROM(v, c)              all ones in the bytes from c on
 *      ADD8(a, b)
 *      MASK(v)                 the top bits of the bytes, the first one lowest
 *      COUNT(bits)             how many of SIZE bits are set
 */

#define EVERY_BIT (0xFFFFFFFFu >> (32 - SIZE)) /* of a MASK */

/* Stores of every part the bytes that its row picks: each byte of index is the row of a part, and of its size. Of the
 * very last part only `tail` bytes, 12 or 16, are stored. */
INLINE uint8_t *NAME(pick)(V a, V b, uint32_t index, uint8_t (*rows)[16], const uint8_t *sizes, uint8_t *dst,
                           int tail) {
    a = LOOK_UP(a, LOAD_ROWS(rows, index, 0)), b = LOOK_UP(b, LOAD_ROWS(rows, index, 8));
    for (int k = 0; k < SIZE / 16; k++) {
        P x = PART(b, k);
        STORE_16(dst, PART(a, k));
        dst += sizes[index >> 16 * k & 255];
        if (k < SIZE / 16 - 1 || tail == 16) {
            STORE_16(dst, x);
        } else {
            uint32_t last = LOW32(LAST_8(x));
            STORE_8(dst, x);
            memcpy(dst + 8, &last, 4);
        }
        dst += sizes[index >> (16 * k + 8) & 255];
    }
    return dst;
}

INLINE V NAME(bytes_at)(const uint8_t *src, size_t n, size_t i) {
    size_t left = i < n ? n - i : 0;
    return left >= SIZE ? LOAD(src + i) : left ? LOAD_PART(src + i, left) : ZERO;
}

/* --- to_utf8 --------------------------------------------------------------------------------------------------------
 *
 * dst has the capacity for the longest sequence of every unit, so the wide stores of a whole vector are in bounds: 8
 * units have 16 bytes, and 4 units have 12 or 16. If the number of units is not a multiple of a vector, the first
 * vector advances only by the remainder, so that the last vector ends with the units. Fewer units than a vector use a
 * buffer.
 */

/* Writes a vector below U+0100; returns the end of its first q sequences. */
INLINE uint8_t *NAME(write_bytes)(V v, uint32_t wide, size_t q, uint8_t *dst) {
    V pairs[2] = {ZIP_LOW8(v, ZERO), ZIP_HIGH8(v, ZERO)};
    uint8_t *end;
    for (int k = 0; k < 2; k++) {
        V c = pairs[k], ascii = WITHIN16(c, 0x7F);
        V tagged = OR(OR(RIGHT16(c, 6), AND(LEFT16(c, 8), ALL16(0x3F00))), ALL16(0x80C0));
        pairs[k] = OR(AND(ascii, c), ANDNOT(ascii, tagged));
    }
    end = NAME(pick)(pairs[0], pairs[1], wide, utf8_pairs, utf8_pair_sizes, dst, 16);
    return q == SIZE ? end : dst + q + COUNT(wide & (EVERY_BIT >> (SIZE - q)));
}

KERNEL size_t NAME(encode8)(const uint8_t *src, size_t n, uint8_t *dst) {
    uint8_t *start = dst;
    size_t i = n % SIZE;
    if (i) {
        uint8_t room[2 * SIZE];
        V v = NAME(bytes_at)(src, n, 0);
        dst = NAME(write_bytes)(v, MASK(v), i, i == n ? room : dst);
        if (i == n) {
            utf8_copy(start, room, (size_t)(dst - room));
            return (size_t)(dst - room);
        }
    }
    for (; i < n; i += SIZE) {
        V v = LOAD(src + i);
        uint32_t wide = MASK(v);
        if (wide) {
            dst = NAME(write_bytes)(v, wide, SIZE, dst);
        } else {
            STORE(dst, v);
            dst += SIZE;
        }
    }
    return (size_t)(dst - start);
}

/* As many units as a vector has words: their low 16 bits, and what is above. */
typedef struct NAME(units) {
    V low, above;
} NAME(units);

INLINE NAME(units) NAME(units_at)(const uint8_t *src, size_t n, size_t i, int width) {
    NAME(units) units = {ZERO, ZERO};
    if (width == 2) {
        units.low = NAME(bytes_at)(src, 2 * n, 2 * i);
    } else {
        V a = LOAD_UNITS(src, 4 * n, 4 * i), b = LOAD_UNITS(src, 4 * n, 4 * i + 16);
        units.low = LOW_WORDS(a, b), units.above = NARROW32(RIGHT32(a, 16), RIGHT32(b, 16));
    }
    return units;
}

INLINE V NAME(surrogates)(NAME(units) units, int width) {
    V surrogates = EQUAL16(AND(units.low, ALL16(0xF800)), ALL16(0xD800));
    return width == 2 ? surrogates : AND(surrogates, EQUAL16(units.above, ZERO));
}

/* The units, or 0x800 or more for those of 0x10000 or more. */
INLINE V NAME(capped)(NAME(units) units, int width) {
    return width == 2 ? units.low : OR(units.low, LEFT16(units.above, 11));
}

/* Writes a vector of units; returns the end of the first q sequences. */
INLINE uint8_t *NAME(write_units)(NAME(units) units, int width, size_t q, uint8_t *dst) {
    V low = units.low, above = units.above, capped = NAME(capped)(units, width);
    V one = WITHIN16(capped, 0x7F), two = WITHIN16(capped, 0x7FF), one_or_four = one;
    V inner = OR(OR(AND(RIGHT16(low, 6), ALL16(0x3F)), AND(LEFT16(low, 8), ALL16(0x3F00))),
                 OR(ALL16(0x8080), AND(two, ALL16(0x40))));
    V outer = OR(AND(low, ALL16(0x7F)), ALL16(0xE000));
    uint32_t lengths;
    uint8_t *end;
    size_t size = 0;
    if (width == 4) {
        V four = ANDNOT(EQUAL16(above, ZERO), ALL(0xFF));
        outer = OR(ANDNOT(four, outer), AND(four, ALL16(0x80F0)));
        outer = OR(outer, OR(RIGHT16(above, 2), LEFT16(AND(above, ALL16(3)), 12)));
        one_or_four = OR(one, four);
    }
    outer = OR(outer, LEFT16(RIGHT16(low, 12), 8));
    lengths = MASK(OR(AND(one_or_four, ALL16(0x00FF)), AND(two, ALL16(0xFF00))));
    end = NAME(pick)(ZIP_LOW16(outer, inner), ZIP_HIGH16(outer, inner), lengths, utf8_groups, utf8_sizes, dst,
                     width == 4 ? 16 : 12);
    if (q == SIZE / 2) return end;
    lengths &= EVERY_BIT >> (SIZE - 2 * q);
    for (int k = 0; k < SIZE / 8; k++) size += utf8_sizes[lengths >> 8 * k & 255];
    return dst + size - 3 * (SIZE / 2 - q); /* the size of the units that were masked out */
}

INLINE size_t NAME(encode_units)(const uint8_t *src, size_t n, int width, uint8_t *dst) {
    uint8_t *start = dst;
    size_t i = n % (SIZE / 2);
    if (i) {
        uint8_t room[2 * SIZE];
        NAME(units) units = NAME(units_at)(src, n, 0, width);
        if (MASK(NAME(surrogates)(units, width))) return UC_SURROGATE;
        dst = NAME(write_units)(units, width, i, i == n ? room : dst);
        if (i == n) {
            utf8_copy(start, room, (size_t)(dst - room));
            return (size_t)(dst - room);
        }
    }
    if ((n - i) % SIZE) {
        NAME(units) units = NAME(units_at)(src, n, i, width);
        if (MASK(NAME(surrogates)(units, width))) return UC_SURROGATE;
        dst = NAME(write_units)(units, width, SIZE / 2, dst);
        i += SIZE / 2;
    }
    for (; i < n; i += SIZE) {
        NAME(units) a = NAME(units_at)(src, i + SIZE, i, width);
        NAME(units) b = NAME(units_at)(src, i + SIZE, i + SIZE / 2, width);
        V all = OR(NAME(capped)(a, width), NAME(capped)(b, width));
        if (MASK(WITHIN16(all, 0x7F)) == EVERY_BIT) {
            STORE_ASCII(dst, NARROW16(a.low, b.low));
            dst += SIZE;
        } else {
            if (MASK(OR(NAME(surrogates)(a, width), NAME(surrogates)(b, width)))) return UC_SURROGATE;
            dst = NAME(write_units)(a, width, SIZE / 2, dst);
            dst = NAME(write_units)(b, width, SIZE / 2, dst);
        }
    }
    return (size_t)(dst - start);
}

KERNEL size_t NAME(encode16)(const uint8_t *src, size_t n, uint8_t *dst) { return NAME(encode_units)(src, n, 2, dst); }
KERNEL size_t NAME(encode32)(const uint8_t *src, size_t n, uint8_t *dst) { return NAME(encode_units)(src, n, 4, dst); }

KERNEL size_t NAME(to_utf8)(const void *src, size_t n, int width, uint8_t *dst) {
    return width == 1   ? NAME(encode8)((const uint8_t *)src, n, dst)
           : width == 2 ? NAME(encode16)((const uint8_t *)src, n, dst)
                        : NAME(encode32)((const uint8_t *)src, n, dst);
}

/* --- from_utf8 ------------------------------------------------------------------------------------------------------
 *
 * The last units, after which wide stores would be out of bounds, go through a buffer.
 */

/* A block of bytes: without their tags; and which are continuations, as a vector and as bits. */
typedef struct NAME(block) {
    V v, untagged, continuations;
    uint32_t continuing;
} NAME(block);

INLINE NAME(block) NAME(block_of)(V v) {
    NAME(block) b = {v, AND(v, OR(ALL(0x0F), ANDNOT(FROM(v, 0xE0), ALL(0x30)))), CONTINUATIONS(v), 0};
    b.continuing = MASK(b.continuations);
    return b;
}

/* The bytes that no continuation follows. */
INLINE uint32_t NAME(ends)(const NAME(block) *b, const NAME(block) *next) {
    return ~(b->continuing >> 1 | next->continuing << (SIZE - 1)) & EVERY_BIT;
}

/* Below U+0100, the lead only determines whether 0x40 is added to the byte after it. */
INLINE uint8_t *NAME(get_bytes)(const NAME(block) *b, const NAME(block) *last, uint32_t ends, uint8_t *dst) {
    V high = EQUAL8(BEFORE(b->v, last->v, 1), ALL(0xC3)), bytes = ADD8(b->v, AND(high, ALL(0x40)));
    for (int k = 0; k < SIZE / 8; k++) {
        P eight = k & 1 ? LAST_8(PART(bytes, k / 2)) : PART(bytes, k / 2);
        STORE_8(dst, LOOK_UP_16(eight, LOAD_8(utf8_bytes[ends >> 8 * k & 255])));
        dst += utf8_counts[ends >> 8 * k & 255];
    }
    return dst;
}

INLINE uint8_t *NAME(get_words)(const NAME(block) *b, const NAME(block) *last, uint32_t ends, uint8_t *dst) {
    V second = AND(AND(BEFORE(b->v, last->v, 1), ALL(0x3F)), b->continuations);
    V third = SUBTRACT(BEFORE(b->v, last->v, 2), ALL(0xE0)); /* the bits of a lead of three, else 0 */
    V low = OR(AND(b->v, ALL(0x7F)), AND(LEFT16(second, 6), ALL(0xC0)));
    V high = OR(AND(RIGHT16(second, 2), ALL(0x0F)), LEFT16(third, 4));
    return NAME(pick)(ZIP_LOW8(low, high), ZIP_HIGH8(low, high), ends, utf8_words, utf8_word_sizes, dst, 16);
}

INLINE uint8_t *NAME(get_longs)(const NAME(block) *b, const NAME(block) *last, uint32_t ends, uint8_t *dst) {
    V two = AND(b->continuations, BEFORE(b->continuations, last->continuations, 1));
    V three = AND(two, BEFORE(b->continuations, last->continuations, 2));
    V at_1 = AND(BEFORE(b->untagged, last->untagged, 1), b->continuations);
    V at_2 = AND(BEFORE(b->untagged, last->untagged, 2), two);
    V at_3 = AND(BEFORE(b->untagged, last->untagged, 3), three);
    V low = OR(AND(b->v, ALL(0x7F)), AND(LEFT16(at_1, 6), ALL(0xC0)));
    V middle = OR(AND(RIGHT16(at_1, 2), ALL(0x0F)), AND(LEFT16(at_2, 4), ALL(0xF0)));
    V high = OR(AND(RIGHT16(at_2, 4), ALL(0x03)), LEFT16(AND(at_3, ALL(0x07)), 2));
    V words[2] = {ZIP_LOW8(low, middle), ZIP_HIGH8(low, middle)}, longs[4];
    V highs[2] = {ZIP_LOW8(high, ZERO), ZIP_HIGH8(high, ZERO)};
    for (int k = 0; k < 4; k++) {
        longs[k] = k & 1 ? ZIP_HIGH16(words[k / 2], highs[k / 2]) : ZIP_LOW16(words[k / 2], highs[k / 2]);
        longs[k] = LOOK_UP(longs[k], LOAD_ROWS(utf8_quads, (ends >> 4 * k & 0x000F000F), 0));
    }
    for (int k = 0; k < SIZE / 4; k++) {
        STORE_16(dst, PART(longs[k & 3], k / 4));
        dst += 4 * utf8_counts[ends >> 4 * k & 15];
    }
    return dst;
}

/* Writes the characters whose last bytes are given. */
INLINE uint8_t *NAME(get_block)(const NAME(block) *b, const NAME(block) *last, uint32_t ends, int width, uint8_t *dst) {
    return width == 1   ? NAME(get_bytes)(b, last, ends, dst)
           : width == 2 ? NAME(get_words)(b, last, ends, dst)
                        : NAME(get_longs)(b, last, ends, dst);
}

INLINE void NAME(get)(const uint8_t *src, size_t n, int width, uint8_t *dst, size_t characters) {
    uint8_t room[4 * SIZE + 32], *rest = 0, *end = dst + (size_t)width * characters;
    NAME(block) last = NAME(block_of)(ZERO), b = NAME(block_of)(NAME(bytes_at)(src, n, 0)), next;
    size_t i = 0;
    for (; n - i >= 2 * SIZE && end - dst >= width * SIZE; i += SIZE, last = b, b = next) {
        next = NAME(block_of)(LOAD(src + i + SIZE));
        if (MASK(b.v)) {
            dst = NAME(get_block)(&b, &last, NAME(ends)(&b, &next), width, dst);
        } else {
            width == 1 ? STORE(dst, b.v) : width == 2 ? STORE_WIDE16(dst, b.v) : STORE_WIDE32(dst, b.v);
            dst += width * SIZE;
        }
    }
    for (; i < n; i += SIZE, last = b, b = next) {
        uint32_t ends, size;
        next = NAME(block_of)(NAME(bytes_at)(src, n, i + SIZE));
        ends = NAME(ends)(&b, &next);
        if (n - i < SIZE) ends &= EVERY_BIT >> (SIZE - (n - i));
        size = (uint32_t)COUNT(ends) * (uint32_t)width;
        if (!rest && (size_t)(end - dst) < size + 16) rest = dst, dst = room;
        dst = NAME(get_block)(&b, &last, ends, width, dst);
    }
    if (rest) utf8_copy(rest, room, (size_t)(end - rest));
}

KERNEL void NAME(get8)(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {
    NAME(get)(src, n, 1, dst, characters);
}

KERNEL void NAME(get16)(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {
    NAME(get)(src, n, 2, dst, characters);
}

KERNEL void NAME(get32)(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {
    NAME(get)(src, n, 4, dst, characters);
}

KERNEL void NAME(from_utf8)(const uint8_t *src, size_t n, int width, void *dst, size_t characters) {
    if (width == 1)
        NAME(get8)(src, n, (uint8_t *)dst, characters);
    else if (width == 2)
        NAME(get16)(src, n, (uint8_t *)dst, characters);
    else
        NAME(get32)(src, n, (uint8_t *)dst, characters);
}

#undef EVERY_BIT
#undef V
#undef P
#undef SIZE
#undef KERNEL
#undef INLINE
#undef NAME
#undef LOAD
#undef LOAD_PART
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
#undef COUNT
