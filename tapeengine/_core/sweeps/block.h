/* Blocks of TE_BLOCK cotangents or tangents that are swept together: each id has one cache line of them. */
#ifndef TAPEENGINE_BLOCK_H
#define TAPEENGINE_BLOCK_H
#include <math.h>
#include "compiler.h"
#define TE_BLOCK 8u
/* to += partial * from; an exact zero stays zero where the partial is not finite. */
static inline void te_block_add(double *TE_RESTRICT to, const double *TE_RESTRICT from, double partial) {
    if (isfinite(partial))
        for (unsigned k = 0; k < TE_BLOCK; k++) to[k] += partial * from[k];
    else
        for (unsigned k = 0; k < TE_BLOCK; k++) if (from[k] != 0.0) to[k] += partial * from[k];
}
/* to = partial * from; an exact zero stays zero. */
static inline void te_block_set(double *TE_RESTRICT to, const double *TE_RESTRICT from, double partial) {
    if (isfinite(partial))
        for (unsigned k = 0; k < TE_BLOCK; k++) to[k] = partial * from[k];
    else
        for (unsigned k = 0; k < TE_BLOCK; k++) to[k] = from[k] != 0.0 ? partial * from[k] : 0.0;
}
/* to = first * from + second * other, in this order; an exact zero stays zero. */
static inline void te_block_sum(double *TE_RESTRICT to, const double *TE_RESTRICT from, double first,
                                const double *TE_RESTRICT other, double second) {
    if (isfinite(first) && isfinite(second))
        for (unsigned k = 0; k < TE_BLOCK; k++) to[k] = first * from[k] + second * other[k];
    else {
        te_block_set(to, from, first);
        te_block_add(to, other, second);
    }
}
static inline int te_block_zero(const double *block) {
    int any = 0;
    for (unsigned k = 0; k < TE_BLOCK; k++) any |= block[k] != 0.0;
    return !any;
}
#endif
