/* The kernels on vectors of 16 bytes, written once for every instruction set that has them.
 *
 * A tier (isa/ssse3.h, isa/neon.h) defines the type v16 and the operations v16_* on it, includes this file, and puts
 * V16_KERNELS into its table. An operation works lane by lane unless it says otherwise; a "mask" has 0x00 or 0xFF in
 * each lane, and as an integer one bit a lane, the first lane lowest. A shuffle takes indexes 0..15, and yields 0 for
 * an index with its top bit set.
 *
 * The loops take several vectors per step, with one branch for all of them. This matters: real text has escapes every
 * few bytes, and a mispredicted branch costs as much as processing a whole vector. The remainder after the last step is
 * processed in vectors of 16 bytes, without branches on their contents.
 *
 * Classify. A set of bytes is a 16 x 16 bit matrix, indexed by the two nibbles of a byte: a shuffle looks up the
 * column of the low nibble, another turns the high nibble into the bit of its row.
 *
 * Encode. Four bytes, their high hexadecimal digits, their low ones, and '%' four times make one vector
 *
 *      c0 c1 c2 c3 | h0 h1 h2 h3 | l0 l1 l2 l3 | % % % %
 *
 * from which a shuffle makes any output of these four bytes. A table has the shuffles and output sizes of two such
 * groups, for each pattern of bytes to escape in eight.
 *
 * Decode. Each byte is mapped to its value as a hexadecimal digit, or to more than 15. A '%' begins a triplet if the
 * next two lanes are digits, and their value replaces the '%'. Shuffles remove the digits, eight bytes at a time.
 * Digits that belong to a '%' of the previous step arrive as a carry of two bits. A run of triplets is decoded 48 bytes
 * to 16.
 *
 * Bounds. Loads of fewer than 16 bytes consist of smaller loads within them. A store that might cross the end of the
 * output goes to a buffer on the stack first.
 */

/* The n < 16 bytes at p, then zeros. */
V16_INLINE v16 v16_part(const uint8_t *p, size_t n) {
    uint64_t low, high;
    uc_load_part(p, n, &low, &high);
    return v16_words(low, high);
}

/* The bytes of src from i on, 16 at most, then zeros. */
V16_INLINE v16 v16_rest(const uint8_t *src, size_t n, size_t i) {
    static const uint8_t down[32] = {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    const uint8_t *p = src + i;
    size_t left = n - i;
    if (left >= 16) return v16_load(p);
    if (n >= 16) return v16_shuffle(v16_load(src + n - 16), v16_load(down + 16 - left));
    return v16_part(p, left);
}

/* v with `difference` added wherever it is `from`. */
V16_INLINE v16 v16_replace(v16 v, v16 from, v16 difference) {
    return v16_add(v, v16_and(v16_equal(v, from), difference));
}

/* --- sets -----------------------------------------------------------------------------------------------------------
 * */

/* ascii: nothing from 0x80 on is in the set. A constant where it is used, so that the compiler sees two loops. */
typedef struct v16_set {
    v16 low, high, row;
    int ascii;
} v16_set;

V16_INLINE v16_set v16_load_set(const uc_set *set, int ascii) {
    const uint64_t row_bits = 0x8040201008040201;
    v16_set s = {v16_load(set->low), v16_load(set->high), v16_words(row_bits, row_bits), ascii};
    return s;
}

/* nibbles: the high ones of v. */
V16_INLINE v16 v16_outside(v16 v, v16 nibbles, const v16_set *s) {
    v16 column = s->ascii ? v16_low_columns(s->low, v) : v16_columns(s->low, s->high, v);
    return v16_equal(v16_and(column, v16_shuffle(s->row, nibbles)), v16_each(0));
}

V16_INLINE v16 v16_outside_at(const uint8_t *p, const v16_set *s) {
    v16 v = v16_load(p);
    return v16_outside(v, v16_high_nibbles(v), s);
}

V16_INLINE uint64_t v16_outside64(const uint8_t *p, const v16_set *s) {
    return v16_mask64(v16_outside_at(p, s), v16_outside_at(p + 16, s), v16_outside_at(p + 32, s),
                      v16_outside_at(p + 48, s));
}

/* The same of the bytes from i on, 16 at most. */
V16_INLINE uint32_t v16_outside_rest(const uint8_t *src, size_t n, size_t i, const v16_set *s) {
    v16 v = v16_rest(src, n, i);
    uint32_t mask = v16_mask(v16_outside(v, v16_high_nibbles(v), s));
    return n - i < 16 ? mask & ((1u << (n - i)) - 1) : mask;
}

V16 static size_t v16_span(const uint8_t *src, size_t n, const uc_set *set) {
    const v16_set s = v16_load_set(set, 0);
    size_t i = 0;
    for (; n - i >= 64; i += 64) {
        uint64_t mask = v16_outside64(src + i, &s);
        if (mask) return i + (size_t)uc_lowest_bit(mask);
    }
    for (; i < n; i += 16) {
        uint32_t mask = v16_outside_rest(src, n, i, &s);
        if (mask) return i + (size_t)uc_lowest_bit(mask);
        if (n - i < 16) break;
    }
    return n;
}

V16 static size_t v16_count_outside(const uint8_t *src, size_t n, const uc_set *set) {
    const v16_set s = v16_load_set(set, 0);
    size_t i = 0, count = 0;
    for (; n - i >= 64; i += 64) {
        v16 ones = v16_each(0);
        for (int k = 0; k < 4; k++) ones = v16_sub(ones, v16_outside_at(src + i + 16 * k, &s));
        count += v16_sum(ones);
    }
    for (; i < n; i += 16) {
        v16 v = v16_rest(src, n, i);
        count += v16_sum(v16_sub(v16_each(0), v16_outside(v, v16_high_nibbles(v), &s)));
        if (n - i < 16) return set->member[0] ? count : count - (16 - (n - i)); /* the zeros after the end */
    }
    return count;
}

V16 static void v16_mark_outside(const uint8_t *src, size_t n, const uc_set *set, uint64_t *bits) {
    const v16_set s = v16_load_set(set, 0);
    size_t i = 0;
    for (; n - i >= 64; i += 64) bits[i / 64] = v16_outside64(src + i, &s);
    if (i < n) {
        uint64_t last = 0;
        for (size_t start = i; i < n; i = n - i < 16 ? n : i + 16)
            last |= (uint64_t)v16_outside_rest(src, n, i, &s) << (i - start);
        bits[(n - 1) / 64] = last;
    }
}

V16_INLINE v16 v16_classes_at(const uint8_t *p, v16 low, v16 high) {
    v16 v = v16_load(p);
    return v16_and(v16_shuffle(low, v16_and(v, v16_each(15))), v16_shuffle(high, v16_high_nibbles(v)));
}

V16 static void v16_mark_classes(const uint8_t *src, size_t n, const uc_classes *classes, uint64_t *bits) {
    const v16 low = v16_load(classes->low), high = v16_load(classes->high), zero = v16_each(0);
    uint8_t rest[64] = {0};
    const size_t words = (n + 63) / 64;
    for (size_t i = 0; i < n; i += 64, bits++) {
        const uint8_t *p = src + i;
        uint64_t valid = ~UINT64_C(0);
        if (n - i < 64) {
            valid = (UINT64_C(1) << (n - i)) - 1;
            p = memcpy(rest, p, n - i);
        }
        v16 a = v16_classes_at(p, low, high), b = v16_classes_at(p + 16, low, high);
        v16 c = v16_classes_at(p + 32, low, high), d = v16_classes_at(p + 48, low, high);
        for (int k = 0; k < 4; k++) {
            v16 mask = v16_each(classes->mask[k]);
            bits[(size_t)k * words] = ~v16_mask64(v16_equal(v16_and(a, mask), zero), v16_equal(v16_and(b, mask), zero),
                                  v16_equal(v16_and(c, mask), zero), v16_equal(v16_and(d, mask), zero)) & valid;
        }
    }
}

/* --- encode ---------------------------------------------------------------------------------------------------------
 * */

static uint8_t v16_groups[256][2][16]; /* row k: the shuffles of two groups whose bytes to escape are the bits of k */
static uint8_t v16_sizes[256][2];      /* and how many bytes the first one makes, and both */
static uint8_t v16_keep[256][8];       /* row k: the shuffle that drops the bytes whose bits are set in k */
static uint8_t v16_kept[256];          /* and how many it keeps */
static uint8_t v16_thirds[3][3][16];   /* row k, j: the shuffle that takes of bytes 16 j.. those that are 3 i + k, to i */

static void v16_prepare(void) {
    utf8_prepare();
    memset(v16_keep, 0x80, sizeof v16_keep);
    for (int k = 0; k < 256; k++) {
        uint8_t *keep = v16_keep[k];
        for (int half = 0; half < 2; half++) {
            uint8_t *place = v16_groups[k][half];
            for (uint8_t j = 0; j < 4; j++) {
                if (k >> (4 * half + j) & 1)
                    *place++ = 12, *place++ = 4 + j, *place++ = 8 + j;
                else
                    *place++ = j, *keep++ = 4 * half + j;
            }
            v16_sizes[k][half] = (uint8_t)(place - v16_groups[k][half] + (half ? v16_sizes[k][0] : 0));
        }
        v16_kept[k] = (uint8_t)(keep - v16_keep[k]);
    }
    memset(v16_thirds, 0x80, sizeof v16_thirds);
    for (uint8_t i = 0; i < 48; i++) v16_thirds[i % 3][i / 16][i / 3] = i % 16;
}

/* The last group's store reaches 4 bytes after what it makes. */
enum { V16_ENCODED = 48 + 4, V16_ENCODED32 = 2 * 48 + 4 };

V16_INLINE v16 v16_digits(v16 nibbles) {
    static const uint8_t digits[16] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};
    return v16_shuffle(v16_load(digits), nibbles);
}

/* Writes two groups. In ascending order: what a store writes too much, the next one overwrites. */
V16_INLINE uint8_t *v16_put_groups(uint8_t *dst, v16 first, v16 second, uint32_t work) {
    v16_store(dst, v16_shuffle(first, v16_load(v16_groups[work][0])));
    v16_store(dst + v16_sizes[work][0], v16_shuffle(second, v16_load(v16_groups[work][1])));
    return dst + v16_sizes[work][1];
}

/* Writes v with the bytes of `work` escaped; high has its high nibbles. Returns where that ends. */
V16_INLINE uint8_t *v16_encode_mixed(uint8_t *dst, v16 v, v16 high, uint32_t work) {
    const v16 percent = v16_each('%');
    v16 low = v16_digits(v16_and(v, v16_each(15)));
    high = v16_digits(high);
    v16 start = v16_zip32_low(v, high), rest = v16_zip32_low(low, percent);
    dst = v16_put_groups(dst, v16_zip64_low(start, rest), v16_zip64_high(start, rest), work & 255);
    start = v16_zip32_high(v, high), rest = v16_zip32_high(low, percent);
    return v16_put_groups(dst, v16_zip64_low(start, rest), v16_zip64_high(start, rest), work >> 8);
}

/* The digits selected by index, and '%' where index selects none. */
V16_INLINE v16 v16_spread(v16 digits, const uint8_t *index) {
    v16 at = v16_load(index), percents = v16_and(v16_equal(at, v16_each(0x80)), v16_each('%'));
    return v16_or(v16_shuffle(digits, at), percents);
}

/* Writes v with all bytes escaped. */
V16_INLINE void v16_encode_all(uint8_t *dst, v16 v) {
    /* Of the digits h0 l0 .. h7 l7, h4 l4 .. h11 l11, and h8 l8 .. h15 l15. */
    static const uint8_t index[3][16] = {
        {0x80, 0, 1, 0x80, 2, 3, 0x80, 4, 5, 0x80, 6, 7, 0x80, 8, 9, 0x80},
        {2, 3, 0x80, 4, 5, 0x80, 6, 7, 0x80, 8, 9, 0x80, 10, 11, 0x80, 12},
        {5, 0x80, 6, 7, 0x80, 8, 9, 0x80, 10, 11, 0x80, 12, 13, 0x80, 14, 15},
    };
    v16 high = v16_digits(v16_high_nibbles(v)), low = v16_digits(v16_and(v, v16_each(15)));
    v16 first = v16_zip8_low(high, low), last = v16_zip8_high(high, low);
    v16_store(dst, v16_spread(first, index[0]));
    v16_store(dst + 16, v16_spread(v16_window(first, last, 8), index[1]));
    v16_store(dst + 32, v16_spread(last, index[2]));
}

V16_INLINE size_t v16_encode_as(const uint8_t *src, size_t n, const uc_set *safe, int ascii, int plus, uint8_t *dst,
                                size_t cap) {
    const v16_set s = v16_load_set(safe, ascii);
    const v16 space = v16_each(' '), space_to = v16_each('+' - ' ');
    size_t i = 0, o = 0;
    for (; n - i >= 32 && cap - o >= V16_ENCODED32; i += 32) {
        uint8_t *to = dst + o;
        v16 a = v16_load(src + i), b = v16_load(src + i + 16);
        v16 high_a = v16_high_nibbles(a), high_b = v16_high_nibbles(b);
        uint32_t work_a = v16_mask(v16_outside(a, high_a, &s)), work_b = v16_mask(v16_outside(b, high_b, &s));
        if (plus) a = v16_replace(a, space, space_to), b = v16_replace(b, space, space_to);
        if (!(work_a | work_b)) {
            v16_store(to, a), v16_store(to + 16, b);
            o += 32;
            continue;
        }
        if ((work_a & work_b) == 0xFFFF) {
            v16_encode_all(to, a), v16_encode_all(to + 48, b);
            o += 96;
            continue;
        }
        to = v16_encode_mixed(to, a, high_a, work_a);
        o = (size_t)(v16_encode_mixed(to, b, high_b, work_b) - dst);
    }
    while (i < n) {
        uint8_t end[V16_ENCODED], *to = cap - o >= V16_ENCODED ? dst + o : end;
        size_t q = n - i < 16 ? n - i : 16, size;
        v16 v = v16_rest(src, n, i), high = v16_high_nibbles(v);
        uint32_t work = v16_mask(v16_outside(v, high, &s)) & ((1u << q) - 1);
        if (plus) v = v16_replace(v, space, space_to);
        size = (size_t)(v16_encode_mixed(to, v, high, work) - to) - (16 - q);
        if (to == end) {
            if (size > cap - o) return UC_FULL;
            memcpy(dst + o, end, size);
        }
        i += q, o += size;
    }
    return o;
}

V16 static size_t v16_encode(const uint8_t *src, size_t n, const uc_set *safe, int plus, uint8_t *dst, size_t cap) {
    uint64_t high[2];
    memcpy(high, safe->high, 16);
    plus = plus && safe->member[' '];
    if ((high[0] | high[1]) == 0 && !plus) return v16_encode_as(src, n, safe, 1, 0, dst, cap);
    return v16_encode_as(src, n, safe, 0, plus, dst, cap);
}

/* --- decode ---------------------------------------------------------------------------------------------------------
 * */

/* The value of each hexadecimal digit; more than 15 for every other byte. Decimal digits are brought to the upper end
 * of the range and letters beyond 15, where saturation keeps what is not between their ends out of the way. */
V16_INLINE v16 v16_hex_values(v16 v) {
    v16 decimal = v16_sub_saturated(v16_add(v, v16_each(0xFF - '9')), v16_each(6));
    v16 letter = v16_sub(v16_and(v, v16_each(0xDF)), v16_each('A'));
    return v16_min(v16_sub(decimal, v16_each(0xF0)), v16_add_saturated(letter, v16_each(10)));
}

/* The bytes that pairs of digits stand for, and a mask of the pairs that are some. */
V16_INLINE v16 v16_joined(v16 high, v16 low) { return v16_or(v16_times16(high), low); }
V16_INLINE v16 v16_are_digits(v16 high, v16 low) {
    return v16_equal(v16_and(v16_or(high, low), v16_each(0xF0)), v16_each(0));
}

/* Writes the 16 bytes that the 48 at src stand for, if these are triplets. */
V16_INLINE int v16_decode_triplets(const uint8_t *src, uint8_t *dst) {
    v16 a = v16_load(src), b = v16_load(src + 16), c = v16_load(src + 32), part[3];
    for (int k = 0; k < 3; k++)
        part[k] = v16_or(v16_or(v16_shuffle(a, v16_load(v16_thirds[k][0])), v16_shuffle(b, v16_load(v16_thirds[k][1]))),
                         v16_shuffle(c, v16_load(v16_thirds[k][2])));
    v16 high = v16_hex_values(part[1]), low = v16_hex_values(part[2]);
    v16 good = v16_and(v16_equal(part[0], v16_each('%')), v16_are_digits(high, low));
    if (v16_mask(good) != 0xFFFF) return 0;
    v16_store(dst, v16_joined(high, low));
    return 1;
}

/* Writes the bytes of v without those in the mask `drop`; stores at most 16 bytes at dst. Returns the end. */
V16_INLINE uint8_t *v16_squeeze(uint8_t *dst, v16 v, uint32_t drop) {
    v16_store8(dst, v16_shuffle(v, v16_load8(v16_keep[drop & 255])));
    dst += v16_kept[drop & 255];
    v16_store8(dst, v16_shuffle(v16_window(v, v, 8), v16_load8(v16_keep[drop >> 8])));
    return dst + v16_kept[drop >> 8];
}

/* The '%' of v that two digits follow; hex has the values of v, next_hex those of the bytes after it. */
V16_INLINE v16 v16_starts(v16 v, v16 hex, v16 next_hex) {
    v16 high = v16_window(hex, next_hex, 1), low = v16_window(hex, next_hex, 2);
    return v16_and(v16_equal(v, v16_each('%')), v16_are_digits(high, low));
}

/* The '%' of the 64 bytes at src that two digits follow. Reads 80 bytes. */
V16_INLINE uint64_t v16_triplets64(const uint8_t *src) {
    v16 starts[4], hex = v16_hex_values(v16_load(src));
    for (int k = 0; k < 4; k++) {
        v16 next_hex = v16_hex_values(v16_load(src + 16 * k + 16));
        starts[k] = v16_starts(v16_load(src + 16 * k), hex, next_hex);
        hex = next_hex;
    }
    return v16_mask64(starts[0], starts[1], starts[2], starts[3]);
}

V16 static int v16_mark_triplets(const uint8_t *src, size_t n, uint64_t *malformed, uint64_t *digits) {
    uint64_t carry = 0, any = 0;
    for (size_t i = 0; i < n; i += n - i < 64 ? n - i : 64) {
        const uint8_t *from = src + i;
        uint8_t part[80] = {0};
        v16 percent[4];
        uint64_t percents, triplets = 0;
        if (n - i < 80) from = memcpy(part, from, n - i);
        for (int k = 0; k < 4; k++) percent[k] = v16_equal(v16_load(from + 16 * k), v16_each('%'));
        percents = v16_mask64(percent[0], percent[1], percent[2], percent[3]);
        if (percents) triplets = v16_triplets64(from);
        any |= percents;
        malformed[i / 64] = percents & ~triplets;
        digits[i / 64] = uc_triplet_digits(triplets, &carry);
    }
    return any != 0;
}

/* Replaces the '%' of triplets by the byte that the triplet encodes. Returns a mask of the digits of triplets in v.
 * *carry: digits that belong to a '%' before v; afterwards, digits after v that belong to a '%' in v. */
V16_INLINE uint32_t v16_decode_percents(v16 *v, v16 hex, v16 next_hex, uint32_t *carry) {
    v16 starts = v16_starts(*v, hex, next_hex);
    uint32_t mask = v16_mask(starts), digits = mask << 1 | mask << 2 | *carry;
    *v = v16_select(starts, v16_joined(v16_window(hex, next_hex, 1), v16_window(hex, next_hex, 2)), *v);
    *carry = digits >> 16;
    return digits & 0xFFFF;
}

V16 static size_t v16_decode(const uint8_t *src, size_t n, int plus, uint8_t *dst, size_t cap) {
    const v16 percent = v16_each('%'), sign = v16_each('+'), sign_to = v16_each(plus ? ' ' - '+' : 0);
    const uint32_t every_third = 0x1249; /* of 14 bytes */
    uint32_t carry = 0;                  /* the bytes from i on that are digits of an earlier '%' */
    size_t i = 0, o = 0;
    while (n - i >= 80 && cap - o >= 64) {
        uint8_t *to = dst + o;
        v16 v[4], percents[4], hex;
        for (int k = 0; k < 4; k++) v[k] = v16_load(src + i + 16 * k), percents[k] = v16_equal(v[k], percent);
        if (!(v16_any(v16_or(v16_or(percents[0], percents[1]), v16_or(percents[2], percents[3]))) | carry)) {
            for (int k = 0; k < 4; k++) v16_store(to + 16 * k, v16_replace(v[k], sign, sign_to));
            i += 64, o += 64;
            continue;
        }
        if ((v16_mask(percents[0]) >> (carry - (carry >> 1)) & every_third) == every_third) {
            size_t start = i;
            i += carry - (carry >> 1), carry = 0;
            while (n - i >= 48 && cap - o >= 16 && v16_decode_triplets(src + i, dst + o)) i += 48, o += 16;
            if (i > start) continue;
        }
        hex = v16_hex_values(v[0]);
        for (int k = 0; k < 4; k++) {
            uint32_t digits;
            v16 bytes = v16_load(src + i + 16 * k), next_hex = v16_hex_values(v16_load(src + i + 16 * k + 16));
            bytes = v16_replace(bytes, sign, sign_to);
            digits = v16_decode_percents(&bytes, hex, next_hex, &carry);
            to = v16_squeeze(to, bytes, digits);
            hex = next_hex;
        }
        i += 64, o = (size_t)(to - dst);
    }
    if (i < n) {
        v16 v = v16_rest(src, n, i), hex = v16_hex_values(v);
        while (i < n) {
            uint8_t end[16], *to = cap - o >= 16 ? dst + o : end;
            size_t q = n - i < 16 ? n - i : 16, size;
            v16 next = n - i > 16 ? v16_rest(src, n, i + 16) : v16_each(0), next_hex = v16_hex_values(next);
            uint32_t digits;
            v = v16_replace(v, sign, sign_to);
            digits = v16_decode_percents(&v, hex, next_hex, &carry);
            size = (size_t)(v16_squeeze(to, v, digits) - to);
            if (q < 16) size -= 16 - q;
            if (to == end) {
                if (size > cap - o) return UC_FULL;
                memcpy(dst + o, end, size);
            }
            v = next, hex = next_hex;
            i += q, o += size;
        }
    }
    return o;
}

/* --- upper-case triplets --------------------------------------------------------------------------------------------
 * */

/* v with small letters changed to capitals where digits, a mask, has hexadecimal digits. */
V16_INLINE v16 v16_upper(v16 v, v16 digits) {
    /* Of hexadecimal digits, only letters have the bit 0x40. */
    v16 letters = v16_and(digits, v16_equal(v16_and(v, v16_each(0x40)), v16_each(0x40)));
    return v16_xor(v, v16_and(letters, v16_and(v, v16_each(0x20))));
}

/* The digits of the triplets that begin in two vectors, where they are in the second. */
V16_INLINE v16 v16_triplet_digits(v16 starts_before, v16 starts) {
    return v16_or(v16_window(starts_before, starts, 14), v16_window(starts_before, starts, 15));
}

V16 static void v16_upper_triplets(const uint8_t *src, size_t n, uint8_t *dst) {
    const v16 percent = v16_each('%');
    v16 before = v16_each(0); /* the triplets that begin in the 16 bytes before src + i */
    size_t i = 0;
    for (; n - i >= 80; i += 64) {
        v16 v[4], hex, percents = v16_window(before, v16_each(0), 14);
        for (int k = 0; k < 4; k++) v[k] = v16_load(src + i + 16 * k), percents = v16_or(percents, v16_equal(v[k], percent));
        if (!v16_any(percents)) {
            for (int k = 0; k < 4; k++) v16_store(dst + i + 16 * k, v[k]);
            continue;
        }
        hex = v16_hex_values(v[0]);
        for (int k = 0; k < 4; k++) {
            v16 bytes = v16_load(src + i + 16 * k), next_hex = v16_hex_values(v16_load(src + i + 16 * k + 16));
            v16 starts = v16_starts(bytes, hex, next_hex);
            v16_store(dst + i + 16 * k, v16_upper(bytes, v16_triplet_digits(before, starts)));
            before = starts, hex = next_hex;
        }
    }
    if (i < n) {
        v16 v = v16_rest(src, n, i), hex = v16_hex_values(v);
        for (; i < n; i += 16) {
            v16 next = n - i > 16 ? v16_rest(src, n, i + 16) : v16_each(0), next_hex = v16_hex_values(next);
            v16 starts = v16_starts(v, hex, next_hex), upper = v16_upper(v, v16_triplet_digits(before, starts));
            if (n - i < 16) {
                uint8_t end[16];
                v16_store(end, upper);
                memcpy(dst + i, end, n - i);
                return;
            }
            v16_store(dst + i, upper);
            before = starts, v = next, hex = next_hex;
        }
    }
}

/* --- URNs -----------------------------------------------------------------------------------------------------------
 * */

V16_INLINE v16 v16_is_letter(v16 v, uint8_t letter) { return v16_equal(v16_or(v, v16_each(0x20)), v16_each(letter)); }

/* The bytes from p on that begin "urn:", in any case. */
V16_INLINE v16 v16_schemes(const uint8_t *p) {
    v16 u = v16_is_letter(v16_load(p), 'u'), r = v16_is_letter(v16_load(p + 1), 'r');
    v16 n = v16_is_letter(v16_load(p + 2), 'n'), colon = v16_equal(v16_load(p + 3), v16_each(':'));
    return v16_and(v16_and(u, r), v16_and(n, colon));
}

/* v with capitals of ASCII changed to small letters where mask says so. */
V16_INLINE v16 v16_lower(v16 v, v16 mask) {
    v16 letter = v16_sub(v, v16_each('A')), capital = v16_equal(v16_min(letter, v16_each(25)), letter);
    return v16_xor(v, v16_and(v16_and(capital, mask), v16_each(0x20)));
}

/* Normalizes 64 bytes; reads 80 bytes of src. Skips the work for triplets if there are none. */
V16_INLINE void v16_normalize64(const uint8_t *src, uint8_t end, uint8_t *dst, uc_urn_carry *carry) {
    v16 ends[4], colons[4], schemes[4], percents = v16_each(0);
    uc_urn_block block;
    uint64_t lower, upper;
    for (int k = 0; k < 4; k++) {
        v16 v = v16_load(src + 16 * k);
        ends[k] = v16_equal(v, v16_each(end)), colons[k] = v16_equal(v, v16_each(':'));
        schemes[k] = v16_schemes(src + 16 * k);
        percents = v16_or(percents, v16_equal(v, v16_each('%')));
    }
    block.ends = v16_mask64(ends[0], ends[1], ends[2], ends[3]);
    block.colons = v16_mask64(colons[0], colons[1], colons[2], colons[3]);
    block.schemes = v16_mask64(schemes[0], schemes[1], schemes[2], schemes[3]);
    block.triplets = v16_any(percents) ? v16_triplets64(src) : 0;
    uc_urn_masks(&block, carry, &lower, &upper);
    for (int k = 0; k < 4; k++)
        v16_store(dst + 16 * k, v16_lower(v16_load(src + 16 * k), v16_of_bits((uint32_t)(lower >> 16 * k))));
    if (upper)
        for (int k = 0; k < 4; k++)
            v16_store(dst + 16 * k, v16_upper(v16_load(dst + 16 * k), v16_of_bits((uint32_t)(upper >> 16 * k))));
}

V16 static void v16_normalize_urns(const uint8_t *src, size_t n, uint8_t end, uint8_t *dst) {
    uc_urn_carry carry = uc_first_urn_block;
    size_t i = 0;
    for (; n - i >= 80; i += 64) v16_normalize64(src + i, end, dst + i, &carry);
    for (; i < n; i += 64) {
        uint8_t from[80] = {0}, to[64];
        size_t q = n - i < 64 ? n - i : 64;
        memcpy(from, src + i, n - i);
        v16_normalize64(from, end, to, &carry);
        memcpy(dst + i, to, q);
        if (q < 64) return;
    }
}

#define V16_KERNELS                                                                         \
    .span = v16_span, .count_outside = v16_count_outside, .mark_outside = v16_mark_outside, \
    .mark_classes = v16_mark_classes, .mark_triplets = v16_mark_triplets, .encode = v16_encode, .decode = v16_decode,         \
    .upper_triplets = v16_upper_triplets, .normalize_urns = v16_normalize_urns
