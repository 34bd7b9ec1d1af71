/* to_utf8 and from_utf8 for vectors of 16 octets, written once: a template over a small vocabulary, which a tier defines
 * before it includes this file, and which is undefined again at the end of it.
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
 *      V                       a vector of 16 octets
 *      KERNEL, INLINE, NAME    as in utf8_scan.h, and so are
 *      LOAD, LOAD_PART, ZERO, ALL, AND, OR, SUBTRACT, LOOK_UP, BEFORE
 *      STORE(p, v), STORE8(p, v), LOW32(v)   16 octets, the first 8; the first 4 as a word in order of memory
 *      ALL16(c), ALL32(c)      c in every unit of 2 or 4 octets
 *      LEFT16, RIGHT16, LEFT32, RIGHT32 (v, k)   units shifted by k bits
 *      WITHIN16(v, c), WITHIN32(v, c)  all ones in the units that are no higher than c; 32: without the top bit
 *      EQUAL16, EQUAL32        all ones in equal units
 *      ZIP_LOW8, ZIP_HIGH8, ZIP_LOW16, ZIP_HIGH16 (a, b)   a0 b0 a1 b1 .. of the first, or second, halves
 *      NARROW16(a, b)          the low octets of 16 units of 2 octets below 0x80
 *      NARROW32(a, b)          the low halves of 8 units, each between -0x8000 and 0x7FFF
 *      CONTINUATIONS(v)        all ones in the octets 80..BF
 *      FROM(v, c)              all ones in the octets from c on
 *      ADD8(a, b)
 *      MASK(v)                 the top bits of the octets, the first one lowest
 */

/* The first q of the octets of v, q <= 16. */
INLINE void NAME(store_part)(uint8_t *dst, V v, size_t q) {
    static const uint8_t from[32] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    if (q >= 8) {
        STORE8(dst, v);
        STORE8(dst + q - 8, LOOK_UP(v, LOAD(from + q - 8)));
    } else if (q >= 4) {
        uint32_t first = LOW32(v), last = LOW32(LOOK_UP(v, LOAD(from + q - 4)));
        memcpy(dst, &first, 4), memcpy(dst + q - 4, &last, 4);
    } else if (q) {
        uint8_t few[4];
        uint32_t first = LOW32(v);
        memcpy(few, &first, 4);
        dst[0] = few[0], dst[q / 2] = few[q / 2], dst[q - 1] = few[q - 1];
    }
}

/* Stores the octets of v that the row picks. With `checked`, nothing from `end` on. */
INLINE void NAME(pick)(V v, const uint8_t *row, uint8_t *dst, const uint8_t *end, int checked) {
    v = LOOK_UP(v, LOAD(row));
    if (!checked || end - dst >= 16)
        STORE(dst, v);
    else if (end > dst)
        NAME(store_part)(dst, v, (size_t)(end - dst));
}

INLINE V NAME(octets_at)(const uint8_t *src, size_t n, size_t i) {
    return i + 16 <= n ? LOAD(src + i) : i < n ? LOAD_PART(src + i, n - i) : ZERO;
}

/* --- to_utf8 ---------------------------------------------------------------------------------------------------------- */

/* Sixteen characters below U+0100; `wide` has a bit for each that is not ASCII. */
INLINE uint8_t *NAME(put_pairs)(V v, uint32_t wide, uint8_t *dst, const uint8_t *end, int checked) {
    for (int half = 0; half < 2; half++) {
        uint32_t index = wide >> 8 * half & 255;
        V c = half ? ZIP_HIGH8(v, ZERO) : ZIP_LOW8(v, ZERO), ascii = WITHIN16(c, 0x7F);
        V tagged = OR(OR(RIGHT16(c, 6), AND(LEFT16(c, 8), ALL16(0x3F00))), ALL16(0x80C0));
        NAME(pick)(OR(AND(ascii, c), ANDNOT(ascii, tagged)), utf8_pairs[index], dst, end, checked);
        dst += 8 + utf8_counts[index];
    }
    return dst;
}

KERNEL size_t NAME(put8)(const uint8_t *src, size_t n, uint8_t *dst) {
    uint8_t *start = dst, *end = dst + 2 * n;
    size_t i = 0;
    for (; n - i >= 16; i += 16) {
        V v = LOAD(src + i);
        uint32_t wide = MASK(v);
        if (wide)
            dst = NAME(put_pairs)(v, wide, dst, end, 0);
        else
            STORE(dst, v), dst += 16;
    }
    if (i < n) {
        V v = LOAD_PART(src + i, n - i);
        uint32_t wide = MASK(v);
        if (wide)
            dst = NAME(put_pairs)(v, wide, dst, end, 1) - (16 - (n - i));
        else
            NAME(store_part)(dst, v, n - i), dst += n - i;
    }
    return (size_t)(dst - start);
}

/* Eight characters below U+10000. */
INLINE uint8_t *NAME(put_words)(V c, uint8_t *dst, const uint8_t *end, int checked) {
    V one = WITHIN16(c, 0x7F), two = WITHIN16(c, 0x7FF);
    V outer = OR(OR(AND(c, ALL16(0x7F)), LEFT16(RIGHT16(c, 12), 8)), ALL16(0xE000));
    V inner = OR(OR(AND(RIGHT16(c, 6), ALL16(0x3F)), AND(LEFT16(c, 8), ALL16(0x3F00))),
                 OR(ALL16(0x8080), AND(two, ALL16(0x40))));
    uint32_t lengths = MASK(OR(AND(one, ALL16(0x00FF)), AND(two, ALL16(0xFF00))));
    NAME(pick)(ZIP_LOW16(outer, inner), utf8_groups[lengths & 255], dst, end, checked);
    dst += utf8_sizes[lengths & 255];
    NAME(pick)(ZIP_HIGH16(outer, inner), utf8_groups[lengths >> 8], dst, end, checked);
    return dst + utf8_sizes[lengths >> 8];
}

INLINE int NAME(has_surrogate16)(V c) {
    return MASK(EQUAL16(AND(c, ALL16(0xF800)), ALL16(0xD800))) != 0;
}

KERNEL size_t NAME(put16)(const uint8_t *src, size_t n, uint8_t *dst) {
    uint8_t *start = dst, *end = dst + 3 * n;
    size_t i = 0;
    /* The last of four groups may store 4 octets more than it has room for: two units have to follow. */
    for (; n - i >= 18; i += 16) {
        V a = LOAD(src + 2 * i), b = LOAD(src + 2 * i + 16);
        if (MASK(WITHIN16(OR(a, b), 0x7F)) == 0xFFFF) {
            STORE(dst, NARROW16(a, b));
            dst += 16;
        } else {
            if (NAME(has_surrogate16)(a) || NAME(has_surrogate16)(b)) return UC_SURROGATE;
            dst = NAME(put_words)(a, dst, end, 0);
            dst = NAME(put_words)(b, dst, end, 0);
        }
    }
    for (; i < n; i += 8) {
        size_t q = n - i < 8 ? n - i : 8;
        V c = NAME(octets_at)(src, 2 * n, 2 * i);
        if (NAME(has_surrogate16)(c)) return UC_SURROGATE;
        dst = NAME(put_words)(c, dst, end, 1) - (8 - q);
    }
    return (size_t)(dst - start);
}

/* The parts of four characters, and their lengths, 16 bits of a unit for each of the two bits of utf8_tables.h. */
INLINE V NAME(parts)(V c, V *lengths) {
    V one = WITHIN32(c, 0x7F), two = WITHIN32(c, 0x7FF), three = WITHIN32(c, 0xFFFF);
    V bits = OR(OR(AND(LEFT32(c, 24), ALL32(0x3F000000)), AND(LEFT32(c, 10), ALL32(0x003F0000))),
                OR(AND(RIGHT32(c, 4), ALL32(0x00003F00)), RIGHT32(c, 18)));
    V tags = OR(OR(ALL32(0x80808000), AND(two, ALL32(0x00400000))),
                OR(AND(three, ALL32(0x00006000)), ANDNOT(one, ALL32(0x000000F0))));
    *lengths = OR(AND(OR(one, ANDNOT(three, ALL(0xFF))), ALL32(0x000000FF)), AND(two, ALL32(0xFFFFFF00)));
    return OR(OR(bits, tags), AND(one, c));
}

INLINE uint8_t *NAME(put_longs)(V a, V b, uint8_t *dst) {
    V lengths_of_a, lengths_of_b, parts_of_a = NAME(parts)(a, &lengths_of_a), parts_of_b = NAME(parts)(b, &lengths_of_b);
    uint32_t lengths = MASK(NARROW32(lengths_of_a, lengths_of_b));
    NAME(pick)(parts_of_a, utf8_groups[lengths & 255], dst, dst, 0);
    dst += utf8_sizes[lengths & 255];
    NAME(pick)(parts_of_b, utf8_groups[lengths >> 8], dst, dst, 0);
    return dst + utf8_sizes[lengths >> 8];
}

INLINE V NAME(surrogates32)(V c) { return EQUAL32(AND(c, ALL32(0xFFFFF800)), ALL32(0x0000D800)); }

KERNEL size_t NAME(put32)(const uint8_t *src, size_t n, uint8_t *dst) {
    uint8_t *start = dst, *end = dst + 4 * n;
    size_t i = 0;
    for (; n - i >= 16; i += 16) {
        V a = LOAD(src + 4 * i), b = LOAD(src + 4 * i + 16), c = LOAD(src + 4 * i + 32), d = LOAD(src + 4 * i + 48);
        if (MASK(WITHIN32(OR(OR(a, b), OR(c, d)), 0x7F)) == 0xFFFF) {
            STORE(dst, NARROW16(NARROW32(a, b), NARROW32(c, d)));
            dst += 16;
        } else {
            V surrogates = OR(OR(NAME(surrogates32)(a), NAME(surrogates32)(b)),
                              OR(NAME(surrogates32)(c), NAME(surrogates32)(d)));
            if (MASK(surrogates)) return UC_SURROGATE;
            dst = NAME(put_longs)(a, b, dst);
            dst = NAME(put_longs)(c, d, dst);
        }
    }
    for (; i < n; i += 4) {
        size_t q = n - i < 4 ? n - i : 4;
        V lengths, c = NAME(octets_at)(src, 4 * n, 4 * i), parts = NAME(parts)(c, &lengths);
        uint32_t index = MASK(NARROW32(lengths, lengths)) & 255;
        if (MASK(NAME(surrogates32)(c))) return UC_SURROGATE;
        NAME(pick)(parts, utf8_groups[index], dst, end, 1);
        dst += utf8_sizes[index] - (4 - q);
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
KERNEL void NAME(get8)(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {
    uint8_t *end = dst + characters;
    V last = ZERO;
    for (size_t i = 0; i < n; i += 16) {
        size_t q = n - i < 16 ? n - i : 16;
        V v = q < 16 ? LOAD_PART(src + i, q) : LOAD(src + i), leads = FROM(v, 0xC0);
        V high = EQUAL8(BEFORE(v, last, 1), ALL(0xC3)), octets = ADD8(v, AND(high, ALL(0x40)));
        uint32_t keep = ~MASK(leads) & (0xFFFFu >> (16 - q));
        last = v;
        if (end - dst >= 16) {
            if (keep == 0xFFFF) {
                STORE(dst, octets);
                dst += 16;
                continue;
            }
            STORE8(dst, LOOK_UP(octets, LOAD8(utf8_octets[keep & 255])));
            dst += utf8_counts[keep & 255];
            STORE8(dst, LOOK_UP(LAST8(octets), LOAD8(utf8_octets[keep >> 8])));
            dst += utf8_counts[keep >> 8];
        } else {
            for (int half = 0; half < 2; half++) {
                size_t count = utf8_counts[keep & 255];
                NAME(store_part)(dst, LOOK_UP(octets, LOAD8(utf8_octets[keep & 255])), count);
                dst += count, keep >>= 8, octets = LAST8(octets);
            }
        }
    }
}

KERNEL void NAME(get16)(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {
    uint8_t *end = dst + 2 * characters;
    V v = NAME(octets_at)(src, n, 0), last = ZERO, continuations = CONTINUATIONS(v);
    uint32_t here = MASK(continuations);
    for (size_t i = 0; i < n; i += 16) {
        V next = NAME(octets_at)(src, n, i + 16), next_continuations = CONTINUATIONS(next);
        uint32_t there = MASK(next_continuations), ends = ~(here >> 1 | there << 15) & 0xFFFF;
        V second = AND(AND(BEFORE(v, last, 1), ALL(0x3F)), continuations);
        V third = SUBTRACT(BEFORE(v, last, 2), ALL(0xE0)); /* the bits of a lead of three, else 0 */
        V low = OR(AND(v, ALL(0x7F)), AND(LEFT16(second, 6), ALL(0xC0)));
        V high = OR(AND(RIGHT16(second, 2), ALL(0x0F)), LEFT16(third, 4));
        if (n - i < 16) ends &= 0xFFFFu >> (16 - (n - i));
        if (end - dst >= 32) {
            NAME(pick)(ZIP_LOW8(low, high), utf8_words[ends & 255], dst, end, 0);
            dst += 2 * utf8_counts[ends & 255];
            NAME(pick)(ZIP_HIGH8(low, high), utf8_words[ends >> 8], dst, end, 0);
        } else {
            NAME(pick)(ZIP_LOW8(low, high), utf8_words[ends & 255], dst, end, 1);
            dst += 2 * utf8_counts[ends & 255];
            NAME(pick)(ZIP_HIGH8(low, high), utf8_words[ends >> 8], dst, end, 1);
        }
        dst += 2 * utf8_counts[ends >> 8];
        last = v, v = next, continuations = next_continuations, here = there;
    }
}

KERNEL void NAME(get32)(const uint8_t *src, size_t n, uint8_t *dst, size_t characters) {
    uint8_t *end = dst + 4 * characters;
    V v = NAME(octets_at)(src, n, 0), continuations = CONTINUATIONS(v);
    V last_bits = ZERO, last_continuations = ZERO;
    uint32_t here = MASK(continuations);
    for (size_t i = 0; i < n; i += 16) {
        V next = NAME(octets_at)(src, n, i + 16), next_continuations = CONTINUATIONS(next);
        uint32_t there = MASK(next_continuations), ends = ~(here >> 1 | there << 15) & 0xFFFF;
        V bits = AND(v, OR(ALL(0x0F), ANDNOT(FROM(v, 0xE0), ALL(0x30))));
        V two = AND(continuations, BEFORE(continuations, last_continuations, 1));
        V three = AND(two, BEFORE(continuations, last_continuations, 2));
        V at_1 = AND(BEFORE(bits, last_bits, 1), continuations), at_2 = AND(BEFORE(bits, last_bits, 2), two);
        V at_3 = AND(BEFORE(bits, last_bits, 3), three);
        V low = OR(AND(v, ALL(0x7F)), AND(LEFT16(at_1, 6), ALL(0xC0)));
        V middle = OR(AND(RIGHT16(at_1, 2), ALL(0x0F)), AND(LEFT16(at_2, 4), ALL(0xF0)));
        V high = OR(AND(RIGHT16(at_2, 4), ALL(0x03)), LEFT16(AND(at_3, ALL(0x07)), 2));
        V words[2] = {ZIP_LOW8(low, middle), ZIP_HIGH8(low, middle)};
        V highs[2] = {ZIP_LOW8(high, ZERO), ZIP_HIGH8(high, ZERO)};
        int checked = end - dst < 64;
        if (n - i < 16) ends &= 0xFFFFu >> (16 - (n - i));
        for (int half = 0; half < 2; half++) {
            NAME(pick)(ZIP_LOW16(words[half], highs[half]), utf8_quads[ends & 15], dst, end, checked);
            dst += 4 * utf8_counts[ends & 15], ends >>= 4;
            NAME(pick)(ZIP_HIGH16(words[half], highs[half]), utf8_quads[ends & 15], dst, end, checked);
            dst += 4 * utf8_counts[ends & 15], ends >>= 4;
        }
        last_bits = bits, last_continuations = continuations;
        v = next, continuations = next_continuations, here = there;
    }
}

KERNEL void NAME(from_utf8)(const uint8_t *src, size_t n, int width, void *dst, size_t characters) {
    if (width == 1)
        NAME(get8)(src, n, (uint8_t *)dst, characters);
    else if (width == 2)
        NAME(get16)(src, n, (uint8_t *)dst, characters);
    else
        NAME(get32)(src, n, (uint8_t *)dst, characters);
}

#undef V
#undef KERNEL
#undef INLINE
#undef NAME
#undef LOAD
#undef LOAD_PART
#undef STORE
#undef STORE8
#undef LOAD8
#undef LAST8
#undef LOW32
#undef ZERO
#undef ALL
#undef ALL16
#undef ALL32
#undef AND
#undef OR
#undef ANDNOT
#undef ADD8
#undef SUBTRACT
#undef LOOK_UP
#undef BEFORE
#undef LEFT16
#undef RIGHT16
#undef LEFT32
#undef RIGHT32
#undef WITHIN16
#undef WITHIN32
#undef EQUAL8
#undef EQUAL16
#undef EQUAL32
#undef FROM
#undef ZIP_LOW8
#undef ZIP_HIGH8
#undef ZIP_LOW16
#undef ZIP_HIGH16
#undef NARROW16
#undef NARROW32
#undef CONTINUATIONS
#undef MASK
