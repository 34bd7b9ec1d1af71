/* What differs between compilers: how a function is allowed to use an instruction set, and how it is forced inline. */
#ifndef UC_TARGET_H
#define UC_TARGET_H

#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__) || defined(_M_IX86)
#define UC_X86 1
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define UC_INLINE static __forceinline
#define UC_TARGET(features)
#else
#define UC_INLINE static inline __attribute__((always_inline))
#define UC_TARGET(features) __attribute__((target(features)))
#endif

#endif
