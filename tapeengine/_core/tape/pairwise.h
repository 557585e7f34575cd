/* Sums in numpy's order. */
#ifndef TAPEENGINE_PAIRWISE_H
#define TAPEENGINE_PAIRWISE_H

#include <stddef.h>

/* numpy's pairwise sum of contiguous numbers. */
#define TE_SUM_OF_8(r) ((((r)[0] + (r)[1]) + ((r)[2] + (r)[3])) + (((r)[4] + (r)[5]) + ((r)[6] + (r)[7])))
static double te_pairwise(const double *a, ptrdiff_t n) {
    ptrdiff_t i;
    if (n < 8) {
        double s = -0.0;
        for (i = 0; i < n; i++) s += a[i];
        return s;
    }
    if (n <= 128) {
        double r[8], s;
        for (i = 0; i < 8; i++) r[i] = a[i];
        for (i = 8; i < n - n % 8; i += 8) {
            r[0] += a[i]; r[1] += a[i + 1]; r[2] += a[i + 2]; r[3] += a[i + 3];
            r[4] += a[i + 4]; r[5] += a[i + 5]; r[6] += a[i + 6]; r[7] += a[i + 7];
        }
        s = TE_SUM_OF_8(r);
        for (; i < n; i++) s += a[i];
        return s;
    }
    ptrdiff_t half = n / 2;
    half -= half % 8;
    return te_pairwise(a, half) + te_pairwise(a + half, n - half);
}

#endif
