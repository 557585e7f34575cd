/* Sums in numpy's order: eight running sums of at most 128 numbers, which are added in pairs; otherwise two halves. */
#ifndef TAPEENGINE_PAIRWISE_H
#define TAPEENGINE_PAIRWISE_H

#include <stddef.h>
#include "compiler.h"

#define TE_SUM_OF_8(r) ((((r)[0] + (r)[1]) + ((r)[2] + (r)[3])) + (((r)[4] + (r)[5]) + ((r)[6] + (r)[7])))
#define TE_NUMBER(i) (*(const double *)(x + (i) * step))

/* The sum of at most 128 numbers, step bytes apart. */
TE_INLINE double te_sum_of_few(const char *x, ptrdiff_t step, ptrdiff_t n) {
    double r[8], s = -0.0;
    ptrdiff_t i = 0;
    if (n >= 8) {
        for (; i < 8; i++) r[i] = TE_NUMBER(i);
        for (; i < n - n % 8; i += 8) {
            r[0] += TE_NUMBER(i); r[1] += TE_NUMBER(i + 1); r[2] += TE_NUMBER(i + 2); r[3] += TE_NUMBER(i + 3);
            r[4] += TE_NUMBER(i + 4); r[5] += TE_NUMBER(i + 5); r[6] += TE_NUMBER(i + 6); r[7] += TE_NUMBER(i + 7);
        }
        s = TE_SUM_OF_8(r);
    }
    for (; i < n; i++) s += TE_NUMBER(i);
    return s;
}

/* The sum of contiguous numbers. */
static double te_pairwise(const double *a, ptrdiff_t n) {
    const ptrdiff_t half = n / 2 & ~7;
    return n <= 128 ? te_sum_of_few((const char *)a, 8, n) : te_pairwise(a, half) + te_pairwise(a + half, n - half);
}

#endif
