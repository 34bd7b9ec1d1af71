/* span_urns on vectors of 16 bytes, 64 a step (urn_grammar.h). Included after bytes16.h. */

/* The masks for 64 bytes; reads 80 bytes of src. */
V16_INLINE uc_urn_bytes v16_urn_bytes(const uint8_t *src, const v16_set *nid, const v16_set *nss, uint8_t end) {
    v16 ends[4], colons[4], hyphens[4], slashes[4], schemes[4], percents = v16_each(0);
    uc_urn_bytes o;
    for (int k = 0; k < 4; k++) {
        v16 v = v16_load(src + 16 * k);
        ends[k] = v16_equal(v, v16_each(end)), colons[k] = v16_equal(v, v16_each(':'));
        hyphens[k] = v16_equal(v, v16_each('-')), slashes[k] = v16_equal(v, v16_each('/'));
        schemes[k] = v16_schemes(src + 16 * k);
        percents = v16_or(percents, v16_equal(v, v16_each('%')));
    }
    o.ends = v16_mask64(ends[0], ends[1], ends[2], ends[3]);
    o.colons = v16_mask64(colons[0], colons[1], colons[2], colons[3]);
    o.hyphens = v16_mask64(hyphens[0], hyphens[1], hyphens[2], hyphens[3]);
    o.slashes = v16_mask64(slashes[0], slashes[1], slashes[2], slashes[3]);
    o.schemes = v16_mask64(schemes[0], schemes[1], schemes[2], schemes[3]);
    o.outside_nid = v16_outside64(src, nid);
    o.outside_nss = v16_outside64(src, nss);
    o.triplets = 0;
    if (v16_any(percents)) {
        v16 starts[4], hex = v16_hex_values(v16_load(src));
        for (int k = 0; k < 4; k++) {
            const uint8_t *p = src + 16 * k;
            v16 next_hex = v16_hex_values(v16_load(p + 16));
            v16 null = v16_and(v16_equal(v16_load(p + 1), v16_each('0')), v16_equal(v16_load(p + 2), v16_each('0')));
            starts[k] = v16_starts(v16_load(p), hex, next_hex);
            starts[k] = v16_xor(starts[k], v16_and(starts[k], null));
            hex = next_hex;
        }
        o.triplets = v16_mask64(starts[0], starts[1], starts[2], starts[3]);
    }
    return o;
}

V16 static size_t v16_span_urns(const uint8_t *src, size_t n, const uc_set *nid, const uc_set *nss, uint8_t end) {
    const v16_set nid_set = v16_load_set(nid, 0), nss_set = v16_load_set(nss, 0);
    uc_urn_state state = uc_first_urn_line;
    uc_urn_bytes o;
    uint64_t faults;
    size_t i = 0;
    if (n == 0) return 0;
    for (; n - i >= 80; i += 64) {
        o = v16_urn_bytes(src + i, &nid_set, &nss_set, end);
        faults = uc_urn_faults(&o, &state);
        if (faults) return uc_start_of_line(src, i + (size_t)uc_lowest_bit(faults), end);
    }
    for (;; i += 64) {
        uint8_t from[80] = {0};
        memcpy(from, src + i, n - i);
        o = v16_urn_bytes(from, &nid_set, &nss_set, end);
        if (n - i < 64) o.ends = (o.ends & ((UINT64_C(1) << (n - i)) - 1)) | UINT64_C(1) << (n - i);
        faults = uc_urn_faults(&o, &state);
        if (n - i < 64) { /* no line begins after the last end */
            uint64_t after_end = UINT64_C(1) << (n - i);
            faults &= src[n - 1] == end ? after_end - 1 : after_end | (after_end - 1);
        }
        if (faults) return uc_start_of_line(src, i + (size_t)uc_lowest_bit(faults), end);
        if (n - i < 64) return n;
    }
}
