/* The words that compilers spell differently. MSVC compiles C as C89 with extensions, which have no `restrict`. */
#ifndef TAPEENGINE_COMPILER_H
#define TAPEENGINE_COMPILER_H
#if defined(_MSC_VER) && !defined(__clang__)
#define TE_RESTRICT __restrict
#else
#define TE_RESTRICT __restrict__
#endif
#endif
