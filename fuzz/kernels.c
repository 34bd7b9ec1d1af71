/* Every kernel of every tier that the CPU has, under libFuzzer, against the naive definitions of naive.h.
 *
 * The first bytes of an input choose: the kernel, its set of bytes, how the rest becomes a text, the capacity, the
 * alignment, the width of code units. Random bytes seldom hold triplets, URNs or well-formed UTF-8, and coverage leads
 * nowhere in code that does not branch, so what the rest becomes is mostly made of these; and it may be repeated up to
 * 64 KiB, or stand for runs, because what goes wrong goes wrong where blocks meet.
 *
 * Input and output are heap blocks of exactly their sizes: AddressSanitizer sees each byte read or written beyond. */
#include <stdio.h>
#include <stdlib.h>

#include "../src/uricodec/_base/simd/dispatch.c"
#include "../src/uricodec/_base/simd/fingerprint.h"
#include "../src/uricodec/_base/simd/memory.h"

/* What tells right from wrong is left as it is: only the kernels are looked at, and much faster so. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("address", "undefined", "coverage"))), apply_to = function)
#endif
#include "naive.h"

enum { MOST = 1 << 17, LONGEST = 1 << 16, HEAD = 10 };

enum kernel {
    SPAN, COUNT_OUTSIDE, MARK_OUTSIDE, ENCODE, DECODE, UPPER_TRIPLETS, NORMALIZE_URNS, SPAN_URNS, SCAN_UTF8, TO_UTF8,
    FROM_UTF8, FINGERPRINT, MEMORY, MARK_TRIPLETS, MOVE_ENDS, KERNELS
};

/* What an input says, besides its text. */
typedef struct choice {
    uint8_t kernel, set, text, stretch, plus, in_place, room, place, width, end;
} choice;

/* A block of the heap: bytes, and before them a few that must stay as they are. */
typedef struct block {
    uint8_t *memory, *octets;
    size_t lead, size;
} block;

static uint8_t text[MOST], stretched[MOST], right[4 * MOST];
static uint64_t right_bits[MOST / 16 + 4];
static uint16_t units16[MOST];
static uint32_t units32[MOST];
static choice chosen;
static size_t text_size;

static void wrong(const char *tier, const char *what) {
    fprintf(stderr, "%s is wrong: kernel %d, %s; text of %zu bytes, set %d, plus %d, in place %d, end %d, width %d\n",
            tier, chosen.kernel, what, text_size, chosen.set, chosen.plus, chosen.in_place, chosen.end, chosen.width);
    abort();
}

/* A block without bytes consists of the lead only, because malloc(0) may return NULL. */
static block new_block(const void *octets, size_t size, size_t lead) {
    block b = {0, 0, lead + !(lead + size), size};
    b.memory = malloc(b.lead + size);
    if (!b.memory) abort();
    b.octets = b.memory + b.lead;
    memset(b.memory, 0xA5, b.lead + size);
    if (octets) memcpy(b.octets, octets, size);
    return b;
}

static void free_block(block b, const char *tier) {
    for (size_t i = 0; i < b.lead; i++)
        if (b.memory[i] != 0xA5) wrong(tier, "wrote before its output");
    free(b.memory);
}

/* --- sets --------------------------------------------------------------------------------------------------------- */

static void add(uc_set *set, uint8_t c) {
    set->member[c] = 1;
    *(c < 128 ? &set->low[c & 15] : &set->high[c & 15]) |= (uint8_t)(1 << (c >> 4 & 7));
    set->bits[c >> 3] |= (uint8_t)(1 << (c & 7));
}

static int is_unreserved(int c) {
    return (c >= '0' && c <= '9') || (lower((uint8_t)c) >= 'a' && lower((uint8_t)c) <= 'z') || (c && strchr("-._~", c));
}

/* Whether a byte is in one of the sets; the last one is what the input says. */
static int chosen_for(int set, int c, const uint8_t *own) {
    switch (set % 8) {
        case 0: return is_unreserved(c);
        case 1: return c == ' ' || is_unreserved(c);
        case 2: return is_unreserved(c) || (c && strchr("/!$&'()*+,;=:@", c));
        case 3: return c < 128;
        case 4: return c >= 128;
        case 5: return 0;
        case 6: return 1;
        default: return own[c / 8] >> c % 8 & 1;
    }
}

static uc_set make_set(int choice, const uint8_t *own, const char *with, const char *without, int end) {
    uc_set set;
    memset(&set, 0, sizeof set);
    for (int c = 0; c < 256; c++) {
        int is_member = chosen_for(choice, c, own) || (c && strchr(with, c));
        if (is_member && c != end && !(c && strchr(without, c))) add(&set, (uint8_t)c);
    }
    return set;
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

static size_t at_most(size_t size, size_t limit) { return size < limit ? size : limit; }

/* As it is; repeated, up to 64 KiB; or pairs: how often, and what. */
static size_t stretch(const uint8_t *data, size_t n) {
    size_t size = 0, whole;
    n = at_most(n, LONGEST);
    memcpy(stretched, data, n);
    if (chosen.stretch < 128 || !n) return n;
    if (chosen.stretch < 250) {
        for (size_t i = 0; i + 1 < n && size < LONGEST; i += 2) {
            memset(stretched + size, data[i + 1], data[i] % 80);
            size += data[i] % 80;
        }
        return size;
    }
    whole = at_most(((size_t)1 << (chosen.stretch - 239)) + chosen.place, LONGEST);
    for (size = n; size < whole; size++) stretched[size] = data[size % n];
    return size;
}

/* What decoders look for, and its neighbours on either side. */
static const char PERCENT[] = "%%%%%%%%%%%%0123456789ABCDEFabcdef/:@G`g+ aZ~-%2f%C3%";

static const char *const URNS[32] = {
    "urn:",  "URN:", "uRn:", "urn:isbn:", "urn:ab:", "URN:A-1:", "\n",  "\n",
    "\nurn:", "urn",  ":",    ":",         "-",       "/",        "%41", "%aF",
    "%",     "%0",   "%00",  "%fg",       "a",       "Z",        "7",   "x-Y",
    "urm:",  "?=q",  "#f",   "\xC3\xA9",  " ",       "abcdefgh", "\nurn:example:a%2fB\n",
    "abcdefghijklmnopqrstuvwxyz0123",
};

static const uint32_t EDGES[32] = {
    0,      1,      0x7F,   0x80,   0x81,   0xBF,    0xC0,    0xFF,    0x100,   0x101,    0x24B,
    0x7FF,  0x800,  0x801,  0xFFF,  0x1000, 0x20AC,  0xCFFF,  0xD000,  0xD7FF,  0xE000,   0xFFFD,
    0xFFFE, 0xFFFF, 0x10000, 0x10001, 0x1F600, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF,
};

/* A character no higher than `most`: of ASCII, of the edges, of the first planes, of all. */
static uint32_t character(uint8_t octet, uint8_t next, uint32_t most) {
    uint32_t kinds[4] = {octet & 63u, EDGES[octet & 31], (uint32_t)next << 6 | (octet & 63u),
                         ((octet & 63u) << 16 | (uint32_t)next << 8 | octet) % 0x110000};
    uint32_t c = kinds[octet >> 6];
    c = c > most ? c % (most + 1) : c;
    return c >= 0xD800 && c <= 0xDFFF ? 0xD7FF : c;
}

static uint32_t most_of(int choice) {
    static const uint32_t most[5] = {0xFF, 0x7F, 0x7FF, 0xFFFF, 0x10FFFF};
    return most[choice % 5];
}

static size_t make_utf8(size_t n) {
    size_t size = 0;
    for (size_t i = 0; i < n && size < MOST - 4; i++)
        size += put_character(character(stretched[i], stretched[(i + 1) % n], most_of(chosen.width)), text + size);
    return size;
}

static void make_text(const uint8_t *data, size_t n, int kind) {
    n = stretch(data, n);
    text_size = 0;
    switch (kind % 4) {
        case 0:
            memcpy(text, stretched, n);
            text_size = n;
            break;
        case 1:
            for (; text_size < n; text_size++)
                text[text_size] = (uint8_t)PERCENT[stretched[text_size] % (sizeof PERCENT - 1)];
            break;
        case 2:
            for (size_t i = 0; i < n && text_size < MOST - 64; i++) {
                const char *token = URNS[stretched[i] % 32];
                memcpy(text + text_size, token, strlen(token));
                text_size += strlen(token);
            }
            for (size_t i = 0; i < text_size; i++)
                if (text[i] == '\n') text[i] = chosen.end;
            break;
        default:
            text_size = make_utf8(n);
    }
}

/* --- one kernel, every tier --------------------------------------------------------------------------------------- */

static uint32_t features; /* of the CPU */

/* The next tier that it can run: NULL at first, and in the end. What a tier lacks, one before it has. */
static const uc_tier *next_tier(const uc_tier *tier) {
    for (tier = tier ? tier + 1 : uc_tiers; tier < uc_tiers + uc_tier_count; tier++)
        if ((tier->needs & features) == tier->needs) return tier;
    return NULL;
}

#define FOR_EACH_TIER(tier) for (const uc_tier *tier = next_tier(NULL); tier; tier = next_tier(tier))

/* All that there is room for, exactly enough, or less. */
static size_t capacity_for(size_t needed) {
    if (chosen.room < 64) return needed;
    if (chosen.room < 128) return needed + chosen.room - 63;
    if (chosen.room < 192) return needed > chosen.room - 127u ? needed - (chosen.room - 127u) : 0;
    return needed * (chosen.room - 192u) / 64;
}

static void check_span(block src, const uc_set *set) {
    size_t want = naive_span(src.octets, src.size, set);
    FOR_EACH_TIER(tier) {
        if (tier->kernels->span && tier->kernels->span(src.octets, src.size, set) != want)
            wrong(tier->name, "the index");
    }
}

static void check_count(block src, const uc_set *set) {
    size_t want = naive_count_outside(src.octets, src.size, set);
    FOR_EACH_TIER(tier) {
        if (tier->kernels->count_outside && tier->kernels->count_outside(src.octets, src.size, set) != want)
            wrong(tier->name, "the number");
    }
}

static void check_marks(block src, const uc_set *set) {
    size_t size = (src.size + 63) / 64 * 8;
    naive_mark_outside(src.octets, src.size, set, right_bits);
    FOR_EACH_TIER(tier) {
        block bits = new_block(0, size, 0);
        if (tier->kernels->mark_outside) {
            tier->kernels->mark_outside(src.octets, src.size, set, (uint64_t *)bits.octets);
            if (memcmp(bits.octets, right_bits, size)) wrong(tier->name, "the bits");
        }
        free_block(bits, tier->name);
    }
}

static void check_classes(block src, const uint8_t *own) {
    size_t size = (src.size + 63) / 64 * 32;
    uc_classes classes;
    memcpy(&classes, own, 32);
    memcpy(classes.mask, own, 4);
    naive_mark_classes(src.octets, src.size, &classes, right_bits);
    FOR_EACH_TIER(tier) {
        block bits = new_block(0, size, 0);
        if (tier->kernels->mark_classes) {
            tier->kernels->mark_classes(src.octets, src.size, &classes, (uint64_t *)bits.octets);
            if (memcmp(bits.octets, right_bits, size)) wrong(tier->name, "the bits");
        }
        free_block(bits, tier->name);
    }
}

static void check_triplets(block src) {
    size_t words = (src.size + 63) / 64;
    int want = naive_mark_triplets(src.octets, src.size, right_bits, right_bits + words);
    FOR_EACH_TIER(tier) {
        block bits = new_block(0, 16 * words, 0);
        uint64_t *malformed = (uint64_t *)bits.octets;
        if (tier->kernels->mark_triplets) {
            if (tier->kernels->mark_triplets(src.octets, src.size, malformed, malformed + words) != want)
                wrong(tier->name, "whether there is a '%'");
            if (memcmp(malformed, right_bits, 16 * words)) wrong(tier->name, "the bits");
        }
        free_block(bits, tier->name);
    }
}

/* The marks are those of bytes outside of the set; an end is at each byte below `room`, and they move by `width`. */
static void check_ends(block src, const uc_set *set) {
    static uint32_t ends[MOST], moved[MOST], counts[MOST / 64];
    size_t words = src.size / 64, count = 0;
    naive_mark_outside(src.octets, 64 * words, set, right_bits);
    for (size_t i = 0; i < 64 * words; i++)
        if (src.octets[i] < chosen.room) ends[count++] = (uint32_t)i;
    FOR_EACH_TIER(tier) {
        uint32_t before = 0;
        int at_mark = 0, found;
        size_t i = 0;
        if (!tier->kernels->move_ends) continue;
        found = tier->kernels->move_ends(right_bits, words, ends, count, chosen.width, moved, counts);
        for (size_t bit = 0; bit < 64 * words; bit++) {
            int marked = right_bits[bit / 64] >> bit % 64 & 1;
            if (i < count && ends[i] == bit) {
                if (moved[i++] != bit + before * chosen.width) wrong(tier->name, "an end");
                at_mark |= marked;
            }
            before += (uint32_t)marked;
        }
        if (found != at_mark) wrong(tier->name, "whether a mark is at an end");
    }
}

static void check_encode(block src, const uc_set *safe) {
    size_t want = naive_encode(src.octets, src.size, safe, chosen.plus, right), cap = capacity_for(want), size;
    FOR_EACH_TIER(tier) {
        block dst = new_block(0, cap, chosen.place >> 4);
        if (tier->kernels->encode) {
            size = tier->kernels->encode(src.octets, src.size, safe, chosen.plus, dst.octets, cap);
            if (size != (cap < want ? UC_FULL : want)) wrong(tier->name, "the size");
            if (size != UC_FULL && memcmp(dst.octets, right, want)) wrong(tier->name, "the bytes");
        }
        free_block(dst, tier->name);
    }
}

static void check_decode(block src) {
    size_t n = src.size, want = naive_decode(src.octets, n, chosen.plus, right), cap = capacity_for(want), size;
    if (chosen.in_place && cap > n) cap = n;
    FOR_EACH_TIER(tier) {
        block dst = chosen.in_place ? new_block(src.octets, n, src.lead) : new_block(0, cap, chosen.place >> 4);
        if (tier->kernels->decode) {
            size = tier->kernels->decode(chosen.in_place ? dst.octets : src.octets, n, chosen.plus, dst.octets, cap);
            if (size != (cap < want ? UC_FULL : want)) wrong(tier->name, "the size");
            if (size != UC_FULL && memcmp(dst.octets, right, want)) wrong(tier->name, "the bytes");
            if (chosen.in_place && memcmp(dst.octets + cap, src.octets + cap, n - cap))
                wrong(tier->name, "wrote beyond its capacity");
        }
        free_block(dst, tier->name);
    }
}

/* upper_triplets and normalize_urns: as many bytes as there were, elsewhere or where they were. */
static void check_spelling(block src) {
    size_t n = src.size;
    if (chosen.kernel == NORMALIZE_URNS)
        naive_normalize_urns(src.octets, n, chosen.end, right);
    else
        naive_upper_triplets(src.octets, n, right);
    FOR_EACH_TIER(tier) {
        const uc_kernels *kernels = tier->kernels;
        block dst = chosen.in_place ? new_block(src.octets, n, src.lead) : new_block(0, n, chosen.place >> 4);
        const uint8_t *from = chosen.in_place ? dst.octets : src.octets;
        int has_kernel = chosen.kernel == NORMALIZE_URNS ? kernels->normalize_urns != 0 : kernels->upper_triplets != 0;
        if (has_kernel && chosen.kernel == NORMALIZE_URNS) kernels->normalize_urns(from, n, chosen.end, dst.octets);
        if (has_kernel && chosen.kernel != NORMALIZE_URNS) kernels->upper_triplets(from, n, dst.octets);
        if (has_kernel && memcmp(dst.octets, right, n)) wrong(tier->name, "the bytes");
        free_block(dst, tier->name);
    }
}

static void check_span_urns(block src, const uint8_t *own) {
    uc_set nid = make_set(chosen.set & 64 ? chosen.set / 8 : 0, own, "urnURN-", ":._~", chosen.end);
    uc_set nss = make_set(chosen.set, own, "0123456789ABCDEFabcdef", "%", chosen.end);
    size_t want = naive_span_urns(src.octets, src.size, &nid, &nss, chosen.end);
    FOR_EACH_TIER(tier) {
        if (tier->kernels->span_urns &&
            tier->kernels->span_urns(src.octets, src.size, &nid, &nss, chosen.end) != want)
            wrong(tier->name, "the line");
    }
}

static void check_scan_utf8(block src) {
    uc_utf8 want;
    size_t size = naive_scan_utf8(src.octets, src.size, &want);
    FOR_EACH_TIER(tier) {
        uc_utf8 found = {SIZE_MAX, 0xEE};
        if (!tier->kernels->scan_utf8) continue;
        if (tier->kernels->scan_utf8(src.octets, src.size, &found) != size) wrong(tier->name, "the length");
        if (found.characters != want.characters) wrong(tier->name, "the number of characters");
        if (found.highest != want.highest) wrong(tier->name, "the highest octet");
    }
}

/* The bytes of the text, or what they stand for, as code units; with a surrogate, perhaps. */
static void check_to_utf8(void) {
    int width = 1 << chosen.width % 3;
    uint32_t most = width == 1 ? 0xFF : width == 2 ? most_of(chosen.set) & 0xFFFF : most_of(chosen.set);
    size_t n = at_most(text_size, MOST / 4), want, size;
    void *units = width == 1 ? (void *)text : width == 2 ? (void *)units16 : (void *)units32;
    block src;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = most == 0xFF ? text[i] : character(text[i], text[(i + 1) % n], most);
        if (chosen.plus && width > 1 && i == (n * chosen.end) >> 8) c = 0xD800 + (chosen.end * 8u + chosen.room % 8);
        put_unit(c, i, width, units);
    }
    want = naive_to_utf8(units, n, width, right);
    src = new_block(units, n * (size_t)width, (size_t)(chosen.place & 15) * (size_t)width);
    FOR_EACH_TIER(tier) {
        block dst = new_block(0, n * (width == 1 ? 2 : width == 2 ? 3 : 4), chosen.place >> 4);
        if (tier->kernels->to_utf8) {
            size = tier->kernels->to_utf8(src.octets, n, width, dst.octets);
            if (size != want) wrong(tier->name, "the size");
            if (want != UC_SURROGATE && memcmp(dst.octets, right, want)) wrong(tier->name, "the bytes");
        }
        free_block(dst, tier->name);
    }
    free_block(src, "to_utf8");
}

/* The longest well-formed prefix of the text. */
static void check_from_utf8(void) {
    uc_utf8 found;
    size_t n = naive_scan_utf8(text, text_size, &found), size;
    int least = found.highest < 0xC4 ? 1 : found.highest < 0xF0 ? 2 : 4, width = 1 << chosen.width % 3;
    block src = new_block(text, n, chosen.place & 15);
    width = width < least ? least : width;
    size = found.characters * (size_t)width;
    naive_from_utf8(text, n, width, right);
    FOR_EACH_TIER(tier) {
        block dst = new_block(0, size, (size_t)(chosen.place >> 4) * (size_t)width);
        if (tier->kernels->from_utf8) {
            tier->kernels->from_utf8(src.octets, n, width, dst.octets, found.characters);
            if (memcmp(dst.octets, right, size)) wrong(tier->name, "the characters");
        }
        free_block(dst, tier->name);
    }
    free_block(src, "from_utf8");
}

/* --- what has no tiers -------------------------------------------------------------------------------------------- */

/* The text as rows, each as long as the byte that it begins with says: all of them at once, and the last one alone. */
static void check_fingerprints(block src, const uint8_t *own) {
    static uc_fingerprint_key key;
    size_t starts[401], rows = 0, n = at_most(src.size, 2048);
    uint8_t octets[64], want[16];
    block dst;
    for (int i = 0; i < 64; i++) octets[i] = chosen.set < 8 ? 0 : chosen.set < 16 ? 0xFF : own[(i * chosen.set) % 32];
    uc_make_fingerprint_key(&key, octets);
    starts[0] = 0;
    while (starts[rows] < n && rows < 400) {
        size_t size = src.octets[starts[rows]] % (chosen.room + 1u);
        starts[rows + 1] = at_most(starts[rows] + size * (chosen.plus ? 8 : 1), n);
        rows++;
    }
    dst = new_block(0, 16 * rows, chosen.place >> 4);
    uc_fingerprints(&key, src.octets, starts, starts + 1, rows, dst.octets);
    for (size_t i = 0; i < rows; i++) {
        naive_fingerprint(octets, src.octets + starts[i], starts[i + 1] - starts[i], want);
        if (memcmp(dst.octets + 16 * i, want, 16)) wrong("fingerprints", "a row");
    }
    free_block(dst, "fingerprints");
    dst = new_block(0, 16, chosen.place & 15);
    uc_fingerprint(&key, src.octets, n, dst.octets);
    naive_fingerprint(octets, src.octets, n, want);
    if (memcmp(dst.octets, want, 16)) wrong("fingerprint", "the text");
    free_block(dst, "fingerprint");
}

/* Memory that is had page by page is zeros, and what was had before stays. */
static void check_memory(void) {
    size_t page = uc_page_size(), pages = chosen.room % 16 + 1, had = 0;
    uint8_t *at = uc_reserve(pages * page);
    if (!at) abort();
    while (had < pages) {
        size_t more = at_most(had % 3 + 1, pages - had);
        if (!uc_commit(at + had * page, more * page)) abort();
        for (size_t i = had * page; i < (had + more) * page; i++)
            if (at[i]) wrong("memory", "not zeros");
        memset(at + had * page, 0x5A, more * page);
        had += more;
    }
    for (size_t i = 0; i < pages * page; i++)
        if (at[i] != 0x5A) wrong("memory", "not what was written");
    uc_release(at, pages * page);
}

/* --- libFuzzer ---------------------------------------------------------------------------------------------------- */

static void check(block src, const uc_set *set, const uint8_t *own) {
    switch (chosen.kernel) {
        case SPAN: check_span(src, set); break;
        case COUNT_OUTSIDE: check_count(src, set); break;
        case MARK_OUTSIDE: check_marks(src, set), check_classes(src, own); break;
        case ENCODE: check_encode(src, set); break;
        case DECODE: check_decode(src); break;
        case UPPER_TRIPLETS:
        case NORMALIZE_URNS: check_spelling(src); break;
        case SPAN_URNS: check_span_urns(src, own); break;
        case SCAN_UTF8: check_scan_utf8(src); break;
        case TO_UTF8: check_to_utf8(); break;
        case FROM_UTF8: check_from_utf8(); break;
        case FINGERPRINT: check_fingerprints(src, own); break;
        case MARK_TRIPLETS: check_triplets(src); break;
        case MOVE_ENDS: check_ends(src, set); break;
        default: check_memory();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    features = uc_cpu_features();
    FOR_EACH_TIER(tier) {
        if (tier->prepare) tier->prepare();
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t own[32] = {0};
    uc_set set;
    block src;
    if (size < HEAD) return -1;
    memcpy(&chosen, data, HEAD);
    data += HEAD, size -= HEAD;
    chosen.kernel %= KERNELS, chosen.plus &= 1, chosen.in_place &= 1;
    if (chosen.end == '%' || chosen.end == ':' || digit(chosen.end) >= 0 ||
        (lower(chosen.end) >= 'a' && lower(chosen.end) <= 'z') || (chosen.end >= '0' && chosen.end <= '9'))
        chosen.end = '\n';
    if (size > 32 && (chosen.set % 8 == 7 || chosen.kernel == FINGERPRINT)) {
        memcpy(own, data, 32);
        data += 32, size -= 32;
    }
    set = make_set(chosen.set, own, "", "", -1);
    make_text(data, size, chosen.text);
    /* One byte of the whole is something else: what no rule makes. */
    if (chosen.text & 128 && text_size) text[(text_size * chosen.room) >> 8] = chosen.end;
    src = new_block(text, text_size, chosen.place & 15);
    check(src, &set, own);
    if (text_size && memcmp(src.octets, text, text_size)) wrong("a tier", "wrote into its input");
    free_block(src, "a tier");
    return 0;
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
