/* span_urns on AVX-512: 64 bytes a step (urn_grammar.h). Included by avx512.h. */
#ifndef UC_AVX512_URN_H
#define UC_AVX512_URN_H

typedef struct avx512_grammar {
    avx512_set nid, nss;
    avx512_hex hex;
    __m512i end;
} avx512_grammar;

/* v: a block; v1, v2, v3: the same one, two and three bytes on. */
AVX512_INLINE uc_urn_bytes urn_bytes64(const avx512_grammar *g, __m512i v, __m512i v1, __m512i v2, __m512i v3) {
    uc_urn_bytes o;
    o.ends = _mm512_cmpeq_epi8_mask(v, g->end);
    o.colons = _mm512_cmpeq_epi8_mask(v, all64(':'));
    o.hyphens = _mm512_cmpeq_epi8_mask(v, all64('-'));
    o.slashes = _mm512_cmpeq_epi8_mask(v, all64('/'));
    o.schemes = schemes64(v, v1, v2, v3);
    o.triplets = triplets64(&g->hex, _mm512_cmpeq_epi8_mask(v, all64('%')), v1, v2);
    o.triplets ^= _mm512_mask_cmpeq_epi8_mask(_mm512_mask_cmpeq_epi8_mask(o.triplets, v1, all64('0')), v2, all64('0'));
    o.outside_nid = outside64(v, &g->nid);
    o.outside_nss = outside64(v, &g->nss);
    return o;
}

AVX512 static size_t avx512_span_urns(const uint8_t *src, size_t n, const uc_set *nid, const uc_set *nss, uint8_t end) {
    const avx512_grammar g = {avx512_load_set(nid), avx512_load_set(nss), avx512_load_hex(), all64(end)};
    uc_urn_state state = uc_first_urn_line;
    uc_urn_bytes o;
    uint64_t faults = 0;
    size_t i = 0;
    if (n == 0) return 0;
    for (; n - i >= 67; i += 64) {
        const uint8_t *p = src + i;
        o = urn_bytes64(&g, load64(p), load64(p + 1), load64(p + 2), load64(p + 3));
        faults = uc_urn_faults(&o, &state);
        if (faults) return uc_start_of_line(src, i + _tzcnt_u64(faults), end);
    }
    for (;; i += 64) {
        __m512i v = load64_part(src + i, n - i);
        __m512i over = over64(v, n - i > 64 ? load64_part(src + i + 64, n - i - 64) : _mm512_setzero_si512());
        o = urn_bytes64(&g, v, AHEAD(v, over, 1), AHEAD(v, over, 2), AHEAD(v, over, 3));
        if (n - i < 64) o.ends = (o.ends & first64(n - i)) | UINT64_C(1) << (n - i);
        faults = uc_urn_faults(&o, &state);
        if (n - i < 64) faults &= first64(n - i + (src[n - 1] != end)); /* no line begins after the last end */
        if (faults) return uc_start_of_line(src, i + _tzcnt_u64(faults), end);
        if (n - i < 64) return n;
    }
}

#endif
