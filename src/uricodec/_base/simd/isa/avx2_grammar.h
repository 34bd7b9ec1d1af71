/* span_urns on AVX2: 64 bytes a step, in two registers (urn_grammar.h). Included by avx2.h. */
#ifndef UC_AVX2_GRAMMAR_H
#define UC_AVX2_GRAMMAR_H

typedef struct avx2_grammar {
    avx2_set nid, nss, hex;
    uint8_t end;
} avx2_grammar;

AVX2_INLINE uint64_t outside_block(avx2_lines v, const avx2_set *s) {
    return outside(v.half[0], s) | (uint64_t)outside(v.half[1], s) << 32;
}

/* v1, v2, v3: the block one, two and three bytes on; *digit: see block_triplets. */
AVX2_INLINE uc_urn_bytes urn_bytes(const avx2_grammar *g, avx2_lines v, avx2_lines v1, avx2_lines v2, avx2_lines v3,
                                     uint64_t *digit) {
    const __m256i zero = fill('0');
    uc_urn_bytes o;
    o.ends = equal64(v, fill(g->end));
    o.colons = equal64(v, fill(':'));
    o.hyphens = equal64(v, fill('-'));
    o.slashes = equal64(v, fill('/'));
    o.schemes = block_schemes(v, v1, v2, v3);
    o.triplets = block_triplets(&g->hex, v, v2, digit) & ~(equal64(v1, zero) & equal64(v2, zero));
    o.outside_nid = outside_block(v, &g->nid);
    o.outside_nss = outside_block(v, &g->nss);
    return o;
}

AVX2 static size_t avx2_span_urns(const uint8_t *src, size_t n, const uc_set *nid, const uc_set *nss, uint8_t end) {
    const avx2_grammar g = {avx2_load_set(nid), avx2_load_set(nss), avx2_hex_set(), end};
    uc_urn_state state = uc_first_urn_line;
    uc_urn_bytes o;
    uint64_t digit = second_is_digit(&g.hex, src, n), faults;
    size_t i = 0;
    if (n == 0) return 0;
    for (; n - i >= 67; i += 64) {
        const uint8_t *p = src + i;
        o = urn_bytes(&g, load_block(p), load_block(p + 1), load_block(p + 2), load_block(p + 3), &digit);
        faults = uc_urn_faults(&o, &state);
        if (faults) return uc_start_of_line(src, i + uc_lowest_bit(faults), end);
    }
    for (;; i += 64) {
        __m256i parts[3];
        load_parts(src + i, n - i, parts);
        {
            avx2_lines v = {{parts[0], parts[1]}}, v1 = PART_FROM(parts, 1), v2 = PART_FROM(parts, 2);
            avx2_lines v3 = PART_FROM(parts, 3);
            o = urn_bytes(&g, v, v1, v2, v3, &digit);
        }
        if (n - i < 64) o.ends = uc_first_bits(o.ends, n - i) | UINT64_C(1) << (n - i);
        faults = uc_urn_faults(&o, &state);
        /* No line begins after the last end. */
        if (n - i < 64) faults = uc_first_bits(faults, n - i + (src[n - 1] != end));
        if (faults) return uc_start_of_line(src, i + uc_lowest_bit(faults), end);
        if (n - i < 64) return n;
    }
}

#undef PART_FROM
#endif
