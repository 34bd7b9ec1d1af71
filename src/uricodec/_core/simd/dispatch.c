/* The tiers of this binary in order, and what the running CPU can do. */
#include "kernels.h"
#include "target.h"

enum { UC_CPU_AVX2 = 1, UC_CPU_AVX512 = 2, UC_CPU_SSSE3 = 4, UC_CPU_NEON = 8 };

#if UC_X86
#include "isa/avx2.h"

static const uc_kernels uc_ssse3 = {
    .scan_utf8 = ssse3_scan_utf8,
    .to_utf8 = ssse3_to_utf8,
    .from_utf8 = ssse3_from_utf8,
};

#if UC_X86_64
#include "isa/avx512_utf8.h"
static const uc_kernels uc_avx512 = {
    .scan_utf8 = avx512_scan_utf8,
    .to_utf8 = avx512_to_utf8,
    .from_utf8 = avx512_from_utf8,
};
static void nothing(void) {}
#endif

#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif

static void cpuid(uint32_t leaf, uint32_t r[4]) {
#if defined(_MSC_VER)
    __cpuidex((int *)r, (int)leaf, 0);
#else
    __cpuid_count(leaf, 0, r[0], r[1], r[2], r[3]);
#endif
}

/* The register state that the operating system saves (XCR0). Read only when OSXSAVE says that it may be. */
static uint32_t saved_state(void) {
#if defined(_MSC_VER)
    return (uint32_t)_xgetbv(0);
#else
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
#endif
}

uint32_t uc_cpu_features(void) {
    enum { EAX, EBX, ECX, EDX };
    const uint32_t popcnt_osxsave_avx = 1u << 23 | 1u << 27 | 1u << 28; /* leaf 1, ECX */
    const uint32_t bmi1_avx2_bmi2 = 1u << 3 | 1u << 5 | 1u << 8;        /* leaf 7, EBX */
    const uint32_t f_dq_cd_bw_vl = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    const uint32_t vbmi_vbmi2 = 1u << 1 | 1u << 6; /* leaf 7, ECX */
    const uint32_t xmm_ymm = 1u << 1 | 1u << 2;    /* XCR0 */
    const uint32_t opmask_zmm = 1u << 5 | 1u << 6 | 1u << 7;
    uint32_t r[4], features = 0;
    cpuid(0, r);
    if (r[EAX] < 7) return 0;
    cpuid(1, r);
    if (r[ECX] & 1u << 9) features |= UC_CPU_SSSE3;
    if ((r[ECX] & popcnt_osxsave_avx) != popcnt_osxsave_avx || (saved_state() & xmm_ymm) != xmm_ymm) return features;
    cpuid(7, r);
    if ((r[EBX] & bmi1_avx2_bmi2) == bmi1_avx2_bmi2) features |= UC_CPU_AVX2;
    if (features & UC_CPU_AVX2 && (r[EBX] & f_dq_cd_bw_vl) == f_dq_cd_bw_vl && (r[ECX] & vbmi_vbmi2) == vbmi_vbmi2 &&
        (saved_state() & opmask_zmm) == opmask_zmm)
        features |= UC_CPU_AVX512;
    return features;
}

#elif UC_NEON
#include "isa/neon_utf8.h"
static const uc_kernels uc_neon = {
    .scan_utf8 = neon_scan_utf8,
    .to_utf8 = neon_to_utf8,
    .from_utf8 = neon_from_utf8,
};
uint32_t uc_cpu_features(void) { return UC_CPU_NEON; }
#else
uint32_t uc_cpu_features(void) { return 0; }
#endif

const uc_tier uc_tiers[] = {
#if UC_X86
    {"ssse3", UC_CPU_SSSE3, &uc_ssse3, utf8_prepare},
    {"avx2", UC_CPU_AVX2, &uc_avx2, avx2_prepare},
#endif
#if UC_X86_64
    {"avx512", UC_CPU_AVX512, &uc_avx512, nothing},
#endif
#if UC_NEON
    {"neon", UC_CPU_NEON, &uc_neon, utf8_prepare},
#endif
    {0, 0, 0, 0},
};
const size_t uc_tier_count = sizeof uc_tiers / sizeof *uc_tiers - 1;
