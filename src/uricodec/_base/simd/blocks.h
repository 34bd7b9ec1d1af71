/* The kernels on sets of bytes, triplets and URNs, written once for all tiers with vectors: a template over a small
 * vocabulary, which a tier defines before it includes this file.
 *
 * A text is read in blocks of 64 bytes. What a kernel finds in a block is a mask, whose bit i stands for byte i; what
 * follows from masks is arithmetic on words, the same on every machine. So a tier has no loops, only words. They read
 * nothing outside src[0 .. n); those without n are used where what they read is inside.
 *
 *      KERNEL, INLINE             the start of the declaration of a kernel, of a helper
 *      NAME(x)                    x with the prefix of the tier; all that follows has it
 *      bytes64, set, classes      types: a block; a uc_set and a uc_classes, ready for lookups
 *      load64(p), store64(p, v)
 *      part64(src, n, i)          the n - i < 64 bytes of src from i on, then zeros
 *      store_part64(p, v, n)      the first n < 64 bytes of v
 *      equal64(v, byte)           where `byte` is in a block,
 *      has64(v, byte)             and whether it is there
 *      digits64(v)                where hexadecimal digits are
 *      triplets64(p)              where '%' and two of them begin in the block at p; reads 66 bytes
 *      schemes64(p)               where "urn:" begins, in any case; reads 67 bytes
 *      lower64(v, mask)           v with small letters for the capitals of ASCII among these bytes
 *      upper64(v, mask)           v with capitals for the small letters among these bytes, which are hexadecimal digits
 *      load_set(set)
 *      outside64(v, &s)           which bytes are outside the set,
 *      outside_rest(src, n, i, &s)     and which of the n - i < 64 from i on, of which there is one
 *      count_outside64(v, &s), count64(mask)     how many bytes are outside the set; how many bits are set
 *      load_classes(classes)
 *      classes64(v, &c), in_class64(found, &c, k)    a lookup; which bytes it found in class k
 *      LAZY                       1 if a branch on whether there is a '%' costs less than looking up digits, else 0
 */

/* --- sets ---------------------------------------------------------------------------------------------------------- */

KERNEL size_t NAME(span)(const uint8_t *src, size_t n, const uc_set *set) {
    const NAME(set) s = NAME(load_set)(set);
    size_t i = 0;
    uint64_t found;
    for (; n - i >= 64; i += 64) {
        found = NAME(outside64)(NAME(load64)(src + i), &s);
        if (found) return i + (size_t)uc_lowest_bit(found);
    }
    found = i < n ? NAME(outside_rest)(src, n, i, &s) : 0;
    return found ? i + (size_t)uc_lowest_bit(found) : n;
}

KERNEL size_t NAME(count_outside)(const uint8_t *src, size_t n, const uc_set *set) {
    const NAME(set) s = NAME(load_set)(set);
    size_t i = 0, count = 0;
    for (; n - i >= 64; i += 64) count += NAME(count_outside64)(NAME(load64)(src + i), &s);
    return i < n ? count + NAME(count64)(NAME(outside_rest)(src, n, i, &s)) : count;
}

KERNEL void NAME(mark_outside)(const uint8_t *src, size_t n, const uc_set *set, uint64_t *bits) {
    const NAME(set) s = NAME(load_set)(set);
    size_t i = 0;
    for (; n - i >= 64; i += 64) bits[i / 64] = NAME(outside64)(NAME(load64)(src + i), &s);
    if (i < n) bits[i / 64] = NAME(outside_rest)(src, n, i, &s);
}

KERNEL void NAME(mark_classes)(const uint8_t *src, size_t n, const uc_classes *classes, uint64_t *bits) {
    const NAME(classes) c = NAME(load_classes)(classes);
    const size_t words = (n + 63) / 64;
    size_t i = 0;
    for (; n - i >= 64; i += 64, bits++) {
        NAME(bytes64) found = NAME(classes64)(NAME(load64)(src + i), &c);
        for (size_t k = 0; k < 4; k++) bits[k * words] = NAME(in_class64)(found, &c, k);
    }
    if (i < n) {
        NAME(bytes64) found = NAME(classes64)(NAME(part64)(src, n, i), &c);
        for (size_t k = 0; k < 4; k++) bits[k * words] = uc_first_bits(NAME(in_class64)(found, &c, k), n - i);
    }
}

/* --- a block and what follows it ------------------------------------------------------------------------------------
 *
 * Triplets and "urn:" reach into the next block, so blocks are also loaded one, two and three bytes on. At the end of a
 * text, where this is not possible, masks are shifted instead, and single bytes are read. */

/* What is loaded for a block before the end. */
#define REACH (64 + 3)

typedef struct NAME(view) {
    NAME(bytes64) v;
    const uint8_t *p;
    size_t left; /* bytes of the text from p on, REACH at most */
    int at_end;  /* whether these are fewer: a constant */
} NAME(view);

INLINE NAME(view) NAME(look)(const uint8_t *p) {
    NAME(view) b = {NAME(load64)(p), p, REACH, 0};
    return b;
}

INLINE NAME(view) NAME(look_at_end)(const uint8_t *src, size_t n, size_t i) {
    NAME(view) b = {n - i < 64 ? NAME(part64)(src, n, i) : NAME(load64)(src + i), src + i, n - i, 1};
    return b;
}

/* step(view) for each block, at src + i. The last ones have code of their own. */
#define EACH_BLOCK(step)                                                        \
    size_t i = 0;                                                               \
    for (; n - i >= REACH; i += 64) step(NAME(look)(src + i));                  \
    if (n - i >= 64) step(NAME(look_at_end)(src, n, i)), i += 64;               \
    if (i < n) step(NAME(look_at_end)(src, n, i));

INLINE void NAME(put)(uint8_t *dst, NAME(bytes64) v, size_t left) {
    if (left < 64)
        NAME(store_part64)(dst, v, left);
    else
        NAME(store64)(dst, v);
}

/* --- triplets ------------------------------------------------------------------------------------------------------ */

/* The '%' that two digits follow. */
INLINE uint64_t NAME(triplets)(const NAME(view) *b) {
    uint64_t digits;
    if (LAZY && !NAME(has64)(b->v, '%')) return 0;
    if (!b->at_end) return NAME(triplets64)(b->p);
    digits = NAME(digits64)(b->v);
    return (NAME(equal64)(b->v, '%') & digits >> 1 & digits >> 2) | uc_last_triplets(b->p, b->left, 0);
}

/* Those of them that are "%00". */
INLINE uint64_t NAME(nulls)(const NAME(view) *b, uint64_t triplets) {
    uint64_t zeros;
    if (LAZY && !triplets) return 0;
    if (!b->at_end) {
        zeros = NAME(equal64)(NAME(load64)(b->p + 2), '0');
        return triplets & zeros & (zeros << 1 | (uint64_t)(b->p[1] == '0'));
    }
    zeros = NAME(equal64)(b->v, '0');
    return (triplets & zeros >> 1 & zeros >> 2) | uc_last_triplets(b->p, b->left, 1);
}

/* Rows are read in blocks, first here: what follows a block is requested before it is needed. */
INLINE uint64_t NAME(mark)(NAME(view) b, uint64_t *carry, uint64_t *malformed, uint64_t *digits) {
    uint64_t percents = NAME(equal64)(b.v, '%'), triplets = NAME(triplets)(&b);
    if (!b.at_end) UC_PREFETCH(b.p + 4096);
    *malformed = percents & ~triplets;
    *digits = uc_triplet_digits(triplets, carry);
    return percents;
}

KERNEL int NAME(mark_triplets)(const uint8_t *src, size_t n, uint64_t *malformed, uint64_t *digits) {
    uint64_t carry = 0, any = 0;
#define MARK(b) any |= NAME(mark)(b, &carry, malformed + i / 64, digits + i / 64)
    EACH_BLOCK(MARK)
#undef MARK
    return any != 0;
}

INLINE void NAME(upper)(NAME(view) b, uint64_t *carry, uint8_t *dst) {
    if (!LAZY || (*carry | (uint64_t)NAME(has64)(b.v, '%')))
        b.v = NAME(upper64)(b.v, uc_triplet_digits(NAME(triplets)(&b), carry));
    NAME(put)(dst, b.v, b.left);
}

KERNEL void NAME(upper_triplets)(const uint8_t *src, size_t n, uint8_t *dst) {
    uint64_t carry = 0;
#define UPPER(b) NAME(upper)(b, &carry, dst + i)
    EACH_BLOCK(UPPER)
#undef UPPER
}

/* --- URNs (urns.h, urn_grammar.h) --------------------------------------------------------------------------------- */

/* The 'u' of each "urn:", in any case; at the end of a text only of those asked for, which are few. */
INLINE uint64_t NAME(schemes)(const NAME(view) *b, uint64_t asked) {
    uint64_t found = 0;
    if (!b->at_end) return NAME(schemes64)(b->p);
    for (asked = b->left < 4 ? 0 : uc_first_bits(asked, b->left - 3); asked; asked &= asked - 1) {
        int at = uc_lowest_bit(asked);
        found |= (uint64_t)uc_is_urn(b->p + at) << at;
    }
    return found;
}

INLINE void NAME(normalize)(NAME(view) b, uint8_t end, uc_urn_carry *carry, uint8_t *dst) {
    uint64_t lower, upper;
    uc_urn_block block = {NAME(equal64)(b.v, end), NAME(equal64)(b.v, ':'), 0, 0};
    block.schemes = NAME(schemes)(&b, block.ends << 1 | carry->line_start);
    block.triplets = NAME(triplets)(&b);
    uc_urn_masks(&block, carry, &lower, &upper);
    b.v = NAME(lower64)(b.v, lower);
    if (!LAZY || upper) b.v = NAME(upper64)(b.v, upper);
    NAME(put)(dst, b.v, b.left);
}

KERNEL void NAME(normalize_urns)(const uint8_t *src, size_t n, uint8_t end, uint8_t *dst) {
    uc_urn_carry carry = uc_first_urn_block;
#define NORMALIZE(b) NAME(normalize)(b, end, &carry, dst + i)
    EACH_BLOCK(NORMALIZE)
#undef NORMALIZE
}

typedef struct NAME(grammar) {
    NAME(set) nid, nss;
    uint8_t end;
} NAME(grammar);

/* The bytes that violate a rule. The end of the text counts as that of a line. */
INLINE uint64_t NAME(urn_faults)(NAME(view) b, const NAME(grammar) *g, uc_urn_state *state) {
    uint64_t triplets = NAME(triplets)(&b), starts;
    uc_urn_bytes o;
    o.ends = NAME(equal64)(b.v, g->end);
    o.colons = NAME(equal64)(b.v, ':');
    o.hyphens = NAME(equal64)(b.v, '-');
    o.slashes = NAME(equal64)(b.v, '/');
    o.triplets = triplets & ~NAME(nulls)(&b, triplets);
    o.outside_nid = NAME(outside64)(b.v, &g->nid);
    o.outside_nss = NAME(outside64)(b.v, &g->nss);
    if (b.left < 64) o.ends = uc_first_bits(o.ends, b.left) | UINT64_C(1) << b.left;
    starts = o.ends << 1 | state->line_start;
    o.schemes = NAME(schemes)(&b, starts | starts << 4 | state->starts >> 60); /* of lines, and of NIDs */
    return uc_urn_faults(&o, state);
}

KERNEL size_t NAME(span_urns)(const uint8_t *src, size_t n, const uc_set *nid, const uc_set *nss, uint8_t end) {
    const NAME(grammar) g = {NAME(load_set)(nid), NAME(load_set)(nss), end};
    uc_urn_state state = uc_first_urn_line;
    uint64_t faults;
    size_t i = 0;
    if (n == 0) return 0;
    for (; n - i >= REACH; i += 64) {
        faults = NAME(urn_faults)(NAME(look)(src + i), &g, &state);
        if (faults) return uc_start_of_line(src, i + (size_t)uc_lowest_bit(faults), end);
    }
    if (n - i >= 64) {
        faults = NAME(urn_faults)(NAME(look_at_end)(src, n, i), &g, &state);
        if (faults) return uc_start_of_line(src, i + (size_t)uc_lowest_bit(faults), end);
        i += 64;
    }
    faults = NAME(urn_faults)(NAME(look_at_end)(src, n, i), &g, &state);
    faults = uc_first_bits(faults, n - i + (src[n - 1] != end)); /* no line begins after the last end */
    return faults ? uc_start_of_line(src, i + (size_t)uc_lowest_bit(faults), end) : n;
}

#undef EACH_BLOCK
#undef REACH
#undef LAZY
#undef KERNEL
#undef INLINE
#undef NAME
