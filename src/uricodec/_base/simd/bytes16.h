/* The kernels on vectors of 16 bytes, written once for every instruction set that has them: encoder and decoder, and the
 * words of blocks.h for the others.
 *
 * A tier (isa/ssse3.h, isa/neon.h) defines the type v16 and the operations v16_* on it, includes this file, and puts the
 * kernels into its table. An operation works lane by lane unless it says otherwise; a "mask" has 0x00 or 0xFF in each
 * lane, and as an integer one bit a lane, the first lane lowest. A shuffle takes indexes 0..15, and yields 0 for an
 * index with its top bit set.
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

/* The first n < 16 bytes of v. */
V16_INLINE void v16_store_part(uint8_t *p, v16 v, size_t n) {
    uint64_t words[2];
    v16_store((uint8_t *)words, v);
    uc_store_part(p, n, words[0], words[1]);
}

/* The bytes of src from i on, 16 at most, then zeros. */
V16_INLINE v16 v16_rest(const uint8_t *src, size_t n, size_t i) {
    size_t left = n - i;
    if (left >= 16) return v16_load(src + i);
    if (n >= 16) return v16_shuffle(v16_load(src + n - 16), v16_load(uc_shift + 16 - left));
    return v16_part(src + i, left);
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

V16_INLINE v16 v16_rows(void) { return v16_words(0x8040201008040201, 0x8040201008040201); }

V16_INLINE v16_set v16_load_set_as(const uc_set *set, int ascii) {
    v16_set s = {v16_load(set->low), v16_load(set->high), v16_rows(), ascii};
    return s;
}
V16_INLINE v16_set v16_load_set(const uc_set *set) { return v16_load_set_as(set, 0); }

/* nibbles: the high ones of v. */
V16_INLINE v16 v16_outside(v16 v, v16 nibbles, const v16_set *s) {
    v16 column = s->ascii ? v16_low_columns(s->low, v) : v16_columns(s->low, s->high, v);
    return v16_equal(v16_and(column, v16_shuffle(s->row, nibbles)), v16_each(0));
}

V16_INLINE uint64_t v16_mask_outside(v16 v, const v16_set *s) {
    return v16_mask(v16_outside(v, v16_high_nibbles(v), s));
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
    const v16_set s = v16_load_set_as(safe, ascii);
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

/* --- the vocabulary of blocks.h -------------------------------------------------------------------------------------
 * */

typedef struct v16_bytes64 {
    v16 part[4];
} v16_bytes64;

typedef struct v16_classes {
    v16 low, high, mask[4];
} v16_classes;

V16_INLINE uint64_t v16_mask_of(v16_bytes64 v) { return v16_mask64(v.part[0], v.part[1], v.part[2], v.part[3]); }

V16_INLINE v16_bytes64 v16_load64(const uint8_t *p) {
    v16_bytes64 v = {{v16_load(p), v16_load(p + 16), v16_load(p + 32), v16_load(p + 48)}};
    return v;
}

V16_INLINE v16_bytes64 v16_part64(const uint8_t *src, size_t n, size_t i) {
    v16_bytes64 v;
    for (size_t k = 0; k < 4; k++) v.part[k] = n - i > 16 * k ? v16_rest(src, n, i + 16 * k) : v16_each(0);
    return v;
}

V16_INLINE void v16_store64(uint8_t *p, v16_bytes64 v) {
    for (int k = 0; k < 4; k++) v16_store(p + 16 * k, v.part[k]);
}

V16_INLINE void v16_store_part64(uint8_t *p, v16_bytes64 v, size_t n) {
    for (int k = 0; k < 4; k++, p += 16, n -= 16) {
        if (n < 16) {
            v16_store_part(p, v.part[k], n);
            return;
        }
        v16_store(p, v.part[k]);
    }
}

V16_INLINE uint64_t v16_equal64(v16_bytes64 v, uint8_t byte) {
    for (int k = 0; k < 4; k++) v.part[k] = v16_equal(v.part[k], v16_each(byte));
    return v16_mask_of(v);
}

V16_INLINE int v16_has64(v16_bytes64 v, uint8_t byte) {
    for (int k = 0; k < 4; k++) v.part[k] = v16_equal(v.part[k], v16_each(byte));
    return v16_any(v16_or(v16_or(v.part[0], v.part[1]), v16_or(v.part[2], v.part[3])));
}

V16_INLINE uint64_t v16_outside64(v16_bytes64 v, const v16_set *s) {
    for (int k = 0; k < 4; k++) v.part[k] = v16_outside(v.part[k], v16_high_nibbles(v.part[k]), s);
    return v16_mask_of(v);
}

/* What is loaded twice is marked twice. */
V16_INLINE uint64_t v16_outside_rest(const uint8_t *src, size_t n, size_t i, const v16_set *s) {
    const uint8_t *p = src + i, *end = src + n;
    size_t left = n - i;
    if (left >= 32) {
        v16_bytes64 v = {{v16_load(p), v16_load(p + 16), v16_load(end - 32), v16_load(end - 16)}};
        uint64_t found = v16_outside64(v, s);
        return (uint32_t)found | found >> 32 << (left - 32);
    }
    if (left >= 16) return v16_mask_outside(v16_load(p), s) | v16_mask_outside(v16_load(end - 16), s) << (left - 16);
    if (n >= 16) return v16_mask_outside(v16_load(end - 16), s) >> (16 - left);
    return uc_first_bits(v16_mask_outside(v16_part(p, n), s), n);
}

V16_INLINE size_t v16_count64(uint64_t mask) { return uc_count_bits(mask); }
V16_INLINE size_t v16_count_outside64(v16_bytes64 v, const v16_set *s) {
    v16 ones = v16_each(0);
    for (int k = 0; k < 4; k++) ones = v16_sub(ones, v16_outside(v.part[k], v16_high_nibbles(v.part[k]), s));
    return v16_sum(ones);
}

V16_INLINE uint64_t v16_digits64(v16_bytes64 v) {
    const v16_set hex = {v16_words(0x0858585858585808, 0x0808), v16_each(0), v16_rows(), 1};
    return ~v16_outside64(v, &hex);
}

V16_INLINE uint64_t v16_triplets64(const uint8_t *p) {
    uint64_t second = v16_digits64(v16_load64(p + 2)), first = 2 * second + (uint64_t)uc_is_hex(p[1]);
    return v16_equal64(v16_load64(p), '%') & first & second;
}

V16_INLINE uint64_t v16_schemes64(const uint8_t *p) {
    v16_bytes64 v;
    for (int k = 0; k < 4; k++, p += 16) {
        v16 letters = v16_or(v16_xor(v16_load(p), v16_each('u')), v16_xor(v16_load(p + 1), v16_each('r')));
        letters = v16_or(letters, v16_xor(v16_load(p + 2), v16_each('n')));
        letters = v16_or(v16_and(letters, v16_each(0xDF)), v16_xor(v16_load(p + 3), v16_each(':')));
        v.part[k] = v16_equal(letters, v16_each(0));
    }
    return v16_mask_of(v);
}

/* 0x20 in the bytes of the mask: each of its bytes is shuffled to eight, and each of these compared with its bit. */
V16_INLINE v16_bytes64 v16_case_bits(uint64_t mask) {
    const v16 all = v16_words(mask, mask), bit = v16_rows();
    v16_bytes64 chosen;
    for (uint64_t k = 0; k < 4; k++) {
        v16 eight_times = v16_words(2 * k * 0x0101010101010101, (2 * k + 1) * 0x0101010101010101);
        chosen.part[k] = v16_and(v16_equal(v16_and(v16_shuffle(all, eight_times), bit), bit), v16_each(0x20));
    }
    return chosen;
}

V16_INLINE v16_bytes64 v16_lower64(v16_bytes64 v, uint64_t mask) {
    v16_bytes64 bits = v16_case_bits(mask);
    for (int k = 0; k < 4; k++) {
        v16 letter = v16_sub(v.part[k], v16_each('A')), capital = v16_equal(v16_min(letter, v16_each(25)), letter);
        v.part[k] = v16_xor(v.part[k], v16_and(bits.part[k], capital));
    }
    return v;
}

/* Of hexadecimal digits, only small letters have the bit 0x20 after 0x40 is subtracted. */
V16_INLINE v16_bytes64 v16_upper64(v16_bytes64 v, uint64_t mask) {
    v16_bytes64 bits = v16_case_bits(mask);
    for (int k = 0; k < 4; k++)
        v.part[k] = v16_xor(v.part[k], v16_and(bits.part[k], v16_sub_saturated(v.part[k], v16_each(0x40))));
    return v;
}

V16_INLINE v16_classes v16_load_classes(const uc_classes *classes) {
    v16_classes c = {v16_load(classes->low), v16_load(classes->high), {v16_each(0)}};
    for (int k = 0; k < 4; k++) c.mask[k] = v16_each(classes->mask[k]);
    return c;
}

V16_INLINE v16_bytes64 v16_classes64(v16_bytes64 v, const v16_classes *c) {
    for (int k = 0; k < 4; k++)
        v.part[k] = v16_and(v16_shuffle(c->low, v16_and(v.part[k], v16_each(15))),
                            v16_shuffle(c->high, v16_high_nibbles(v.part[k])));
    return v;
}

V16_INLINE uint64_t v16_in_class64(v16_bytes64 found, const v16_classes *c, size_t class) {
    for (int k = 0; k < 4; k++) found.part[k] = v16_equal(v16_and(found.part[k], c->mask[class]), v16_each(0));
    return ~v16_mask_of(found);
}

#define LAZY 1
#define NAME(x) v16_##x
#define INLINE V16_INLINE
#define KERNEL V16 static
#include "blocks.h"
