/* The words that compilers spell differently. MSVC compiles C as C89 with extensions, which have no `restrict`. */
#ifndef TAPEENGINE_COMPILER_H
#define TAPEENGINE_COMPILER_H
#if defined(_MSC_VER) && !defined(__clang__)
#define TE_RESTRICT __restrict
#define TE_INLINE static __forceinline
#define TE_FAST static
#else
#define TE_RESTRICT __restrict__
#define TE_INLINE static inline __attribute__((always_inline)) /* also where code is compiled for size */
#if defined(__clang__) || !defined(__GNUC__)
#define TE_FAST static
#else
#define TE_FAST static __attribute__((optimize("O3"))) /* a loop that is fast where the rest is small */
#endif
#endif
#if defined(__GNUC__) && !defined(__clang__)
/* No loop becomes one of vectors without tree-ch, which is off where the rest is small. */
#define TE_LOOPS optimize("O2", "tree-ch", "tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off", \
                          "no-trapping-math", "no-math-errno")
#if defined(__x86_64__) && defined(__linux__)
#define TE_WIDE __attribute__((TE_LOOPS, target_clones("avx2", "default"))) /* as wide as most processors */
#define TE_WIDEST __attribute__((TE_LOOPS, target_clones("avx512f", "avx2", "default"))) /* where masks save much */
#else
#define TE_WIDE __attribute__((TE_LOOPS))
#define TE_WIDEST TE_WIDE
#endif
#else
#define TE_WIDE
#define TE_WIDEST
#endif
#endif
