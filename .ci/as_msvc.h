/* For .ci/cross: makes clang for Windows see our C as Microsoft's compiler would. Include it first (-include), with
 * -fms-extensions, for which MSVC's keywords and intrinsics are known.
 *
 * The system's headers are read as they are. After them, the macros are those of MSVC, and what only GNU C has is an
 * error: attributes, inline assembly, built-in functions, 128-bit integers (the extensions in syntax are: -Wgnu, -Wvla).
 * Vector code needs no attribute in MSVC, and so here all instructions are to be allowed on the command line (-mcpu). */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intrin.h>
#include <io.h>
#include <windows.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>
static inline void uc_cpuidex(int r[4], int leaf, int subleaf) { __cpuid_count(leaf, subleaf, r[0], r[1], r[2], r[3]); }
#else
#include <arm_neon.h>
#endif
static inline void uc_barrier(void) { __asm__ volatile("" ::: "memory"); }

#undef _M_X64
#undef _M_IX86
#undef _M_ARM64
#if defined(__x86_64__)
#define _M_X64 100
#elif defined(__i386__)
#define _M_IX86 600
#else
#define _M_ARM64 1
#define _ARM64_BARRIER_ISH 0xB
#define __dmb(kind) __builtin_arm_dmb(kind)
#endif
#undef _ReadWriteBarrier
#define _ReadWriteBarrier() uc_barrier()
#undef __cpuidex
#define __cpuidex(r, leaf, subleaf) uc_cpuidex(r, leaf, subleaf)

/* Macros of MinGW for what are keywords and intrinsics. */
#undef __forceinline
#undef __declspec
#undef _BitScanForward

#pragma clang diagnostic ignored "-Wbuiltin-macro-redefined"
#undef __x86_64__
#undef __i386__
#undef __aarch64__
#undef __BYTE_ORDER__
#undef __SIZEOF_INT128__
#undef __clang__
#undef __GNUC__
#define _MSC_VER 1940
#define __attribute__(attributes) only_GNU_C_has_attributes
#define __asm__ only_GNU_C_has_inline_assembly
#pragma GCC poison __int128 typeof __typeof__ __builtin_expect __builtin_unreachable __builtin_prefetch
#pragma GCC poison __builtin_ctz __builtin_ctzl __builtin_ctzll __builtin_clz __builtin_clzl __builtin_clzll
#pragma GCC poison __builtin_popcount __builtin_popcountll __builtin_parityll __builtin_bswap32 __builtin_bswap64
#pragma GCC poison __builtin_add_overflow __builtin_mul_overflow __builtin_memcpy __builtin_assume_aligned
#pragma GCC poison __atomic_load_n __atomic_store_n __atomic_test_and_set __atomic_clear __atomic_fetch_add
