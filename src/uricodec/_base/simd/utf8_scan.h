/* scan_utf8, written once for all tiers: a template over a small vocabulary of vector operations, which a tier defines
 * before it includes this file, and which is undefined again at the end of it.
 *
 * Errors in pairs. Nearly every error in UTF-8 shows in two adjacent bytes
 * (RFC 3629 section 4, the table of the ABNF): a lead without a continuation, a continuation after ASCII, an overlong
 * form, a surrogate, a character above U+10FFFF. Each error is a bit. The two nibbles of the first byte and the high
 * nibble of the second each allow some bits: three lookups in tables of sixteen rows and two ANDs leave the bits that
 * apply. The eighth bit, two continuations in a row, is not an error by itself: it must be set exactly two bytes after
 * a lead of three or four bytes, and three bytes after a lead of four, which an XOR checks.
 *
 * An error shows at the byte that breaks the sequence, so the sequence itself may begin in the block before. Therefore
 * the counts up to the last step and up to the step before it are kept: after an error, counting continues from there
 * exactly to where the sequence begins, at a cost that does not depend on the length of the input.
 *
 *      V                       a vector of SIZE bytes; a step is STEP of them
 *      KERNEL, INLINE          how functions of the tier are declared
 *      NAME(x)                 the tier's name for x
 *      LOAD(p), LOAD_PART(p, n)   SIZE bytes, or n < SIZE of them and then zeros
 *      ZERO, ALL(c), ROWS(...)    all bytes 0, or c, or sixteen bytes in every part of 16
 *      AND, OR, XOR, MAX, SUBTRACT   byte by byte, without sign; SUBTRACT stops at 0
 *      LOOK_UP(rows, v)        the row of every byte of v, which is < 16, in its part of 16
 *      HIGH_NIBBLES(v)
 *      BEFORE(v, last, k)      the bytes k places before those of v; last is what stands before v
 *      BEYOND_ASCII(v)         whether a byte has its top bit set
 *      FAULTS(v)               0 if all bytes are 0; FIRST(FAULTS(v)) is the place of the first that is not
 *      LEADS(v)                how many bytes are not 80..BF
 *      HIGHEST(v)              the highest byte
 */

#ifndef UC_UTF8_SCAN_H
#define UC_UTF8_SCAN_H

#include "octets.h"

/* Errors of two adjacent bytes, as bits of a char. */
enum {
    TOO_SHORT = 1,     /* C0..FF, then no continuation */
    TOO_LONG = 2,      /* 00..7F, then a continuation */
    OVERLONG_2 = 4,    /* C0 or C1, then a continuation */
    OVERLONG_3 = 8,    /* E0, then 80..9F */
    SURROGATE = 16,    /* ED, then A0..BF */
    ABOVE_10FFFF = 32, /* F4..FF, then 90..BF */
    OUTSIDE_4 = 64,    /* F0 (overlong) or F5..FF, then 80..8F */
    CONTINUES = -128,  /* two continuations */
};

#endif

/* Counts of the bytes processed so far: the characters that begin in them, and the highest byte in each lane. */
typedef struct NAME(passed) {
    size_t i, characters;
    V highest;
} NAME(passed);

/* Not 0 where a byte is not allowed after the three bytes before it. */
INLINE V NAME(faults)(V v, V last) {
    const V first_high =
        ROWS(TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, CONTINUES, CONTINUES,
             CONTINUES, CONTINUES, TOO_SHORT | OVERLONG_2, TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE,
             TOO_SHORT | ABOVE_10FFFF | OUTSIDE_4);
    /* Errors that are possible with any low nibble, and with those of F5..FF. */
    enum { ANY = TOO_SHORT | TOO_LONG | CONTINUES, LARGE = ANY | ABOVE_10FFFF | OUTSIDE_4 };
    const V first_low = ROWS(ANY | OVERLONG_2 | OVERLONG_3 | OUTSIDE_4, ANY | OVERLONG_2, ANY, ANY, ANY | ABOVE_10FFFF,
                             LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE | SURROGATE, LARGE, LARGE);
    enum { CONTINUATION = TOO_LONG | OVERLONG_2 | CONTINUES };
    const V second_high =
        ROWS(TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
             CONTINUATION | OVERLONG_3 | OUTSIDE_4, CONTINUATION | OVERLONG_3 | ABOVE_10FFFF,
             CONTINUATION | SURROGATE | ABOVE_10FFFF, CONTINUATION | SURROGATE | ABOVE_10FFFF, TOO_SHORT, TOO_SHORT,
             TOO_SHORT, TOO_SHORT);
    V first = BEFORE(v, last, 1);
    V pair = AND(AND(LOOK_UP(first_high, HIGH_NIBBLES(first)), LOOK_UP(first_low, AND(first, ALL(15)))),
                 LOOK_UP(second_high, HIGH_NIBBLES(v)));
    /* The top bit is set from E0, or F0, on. */
    V third = SUBTRACT(BEFORE(v, last, 2), ALL(0xE0 - 0x80)), fourth = SUBTRACT(BEFORE(v, last, 3), ALL(0xF0 - 0x80));
    return XOR(pair, AND(OR(third, fourth), ALL(0x80)));
}

/* Counts src[passed.i .. end). */
INLINE NAME(passed) NAME(count_to)(const uint8_t *src, size_t end, NAME(passed) passed) {
    for (; passed.i < end; passed.i += SIZE) {
        size_t q = end - passed.i;
        V v = q < SIZE ? LOAD_PART(src + passed.i, q) : LOAD(src + passed.i);
        passed.characters += LEADS(v) - (q < SIZE ? SIZE - q : 0); /* without the zeros */
        passed.highest = MAX(passed.highest, v);
    }
    return passed;
}

KERNEL size_t NAME(scan_utf8)(const uint8_t *src, size_t n, uc_utf8 *found) {
    NAME(passed) now = {0, 0, ZERO}, before = now;
    V last = ZERO;
    size_t end = n;
    for (; n - now.i >= STEP * SIZE; now.i += STEP * SIZE) {
        V v[STEP], faults[STEP], highest, any;
        for (int k = 0; k < STEP; k++) v[k] = LOAD(src + now.i + k * SIZE);
        highest = v[0];
        for (int k = 1; k < STEP; k++) highest = MAX(highest, v[k]);
        if (!BEYOND_ASCII(highest) && (!now.i || src[now.i - 1] < 0x80)) {
            /* Only ASCII, and no sequence continues from before. */
            before = now;
            now.characters += STEP * SIZE;
        } else {
            any = faults[0] = NAME(faults)(v[0], last);
            for (int k = 1; k < STEP; k++) any = OR(any, faults[k] = NAME(faults)(v[k], v[k - 1]));
            if (FAULTS(any)) {
                int k = 0;
                while (!FAULTS(faults[k])) k++;
                end = uc_interrupted(src, now.i + (size_t)k * SIZE + FIRST(FAULTS(faults[k])));
                goto fault;
            }
            before = now;
            for (int k = 0; k < STEP; k++) now.characters += LEADS(v[k]);
        }
        now.highest = MAX(now.highest, highest);
        last = v[STEP - 1];
    }
    for (; now.i < n; now.i += SIZE) {
        size_t q = n - now.i;
        V v = q < SIZE ? LOAD_PART(src + now.i, q) : LOAD(src + now.i);
        if (BEYOND_ASCII(v) || (now.i && src[now.i - 1] >= 0x80)) {
            V faults = NAME(faults)(v, last);
            if (FAULTS(faults)) {
                end = uc_interrupted(src, now.i + FIRST(FAULTS(faults)));
                goto fault;
            }
        }
        before = now;
        now.characters += LEADS(v) - (q < SIZE ? SIZE - q : 0);
        now.highest = MAX(now.highest, v);
        last = v;
    }
    /* A sequence that the end of the input truncates. If zeros followed it, they were found as an error. */
    end = uc_interrupted(src, n);
    if (end < n) goto fault;
    found->characters = now.characters;
    found->highest = HIGHEST(now.highest);
    return n;
fault:
    before = NAME(count_to)(src, end, before);
    found->characters = before.characters;
    found->highest = HIGHEST(before.highest);
    return end;
}

#undef V
#undef SIZE
#undef STEP
#undef KERNEL
#undef INLINE
#undef NAME
#undef LOAD
#undef LOAD_PART
#undef ZERO
#undef ALL
#undef ROWS
#undef AND
#undef OR
#undef XOR
#undef MAX
#undef SUBTRACT
#undef LOOK_UP
#undef HIGH_NIBBLES
#undef BEFORE
#undef BEYOND_ASCII
#undef FAULTS
#undef FIRST
#undef LEADS
#undef HIGHEST
