/* The tiers of this binary in order, and what the running CPU can do. */
#include "kernels.h"
#include "target.h"

enum { UC_CPU_SSSE3 = 1, UC_CPU_AVX2 = 2, UC_CPU_AVX512 = 4 };

#include "isa/portable.h"
#if UC_X86
#include "isa/ssse3.h"
#include "isa/avx2.h"
#if UC_X86_64
#include "isa/avx512.h"
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

static int has(uint32_t word, uint32_t all) { return (word & all) == all; }

uint32_t uc_cpu_features(void) {
    enum { EAX, EBX, ECX, EDX };
    const uint32_t ssse3 = 1u << 9, popcnt_osxsave_avx = 1u << 23 | 1u << 27 | 1u << 28;  /* leaf 1, ECX */
    const uint32_t bmi1_avx2_bmi2 = 1u << 3 | 1u << 5 | 1u << 8;                          /* leaf 7, EBX */
    const uint32_t f_dq_cd_bw_vl = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;  /* AVX-512: leaf 7, EBX */
    const uint32_t vbmi_vbmi2 = 1u << 1 | 1u << 6;                                        /* and ECX */
    const uint32_t xmm_ymm = 1u << 1 | 1u << 2, opmask_zmm = 1u << 5 | 1u << 6 | 1u << 7; /* XCR0 */
    uint32_t r[4], leaves, state, features = 0;
    cpuid(0, r);
    leaves = r[EAX];
    cpuid(1, r);
    if (has(r[ECX], ssse3)) features |= UC_CPU_SSSE3;
    if (leaves < 7 || !has(r[ECX], popcnt_osxsave_avx)) return features;
    state = saved_state();
    cpuid(7, r);
    if (!has(state, xmm_ymm) || !has(r[EBX], bmi1_avx2_bmi2)) return features;
    features |= UC_CPU_AVX2;
    if (has(state, opmask_zmm) && has(r[EBX], f_dq_cd_bw_vl) && has(r[ECX], vbmi_vbmi2)) features |= UC_CPU_AVX512;
    return features;
}

#else
#if UC_NEON
#include "isa/neon.h"
#endif

uint32_t uc_cpu_features(void) { return 0; }
#endif

const uc_tier uc_tiers[] = {
    {"portable", 0, &uc_portable, portable_prepare},
#if UC_X86
    {"ssse3", UC_CPU_SSSE3, &uc_ssse3, v16_prepare},
    {"avx2", UC_CPU_AVX2, &uc_avx2, avx2_prepare},
#if UC_X86_64
    {"avx512", UC_CPU_AVX512, &uc_avx512, avx512_prepare},
#endif
#elif UC_NEON
    {"neon", 0, &uc_neon, v16_prepare},
#endif
};
const size_t uc_tier_count = sizeof uc_tiers / sizeof *uc_tiers;
