/* A test of many doubles. */
#ifndef TAPEENGINE_FINITE_H
#define TAPEENGINE_FINITE_H

#include <stdint.h>
#include <string.h>
#include "compiler.h"

/* The exponent of a double, raised by one: only that of what is not finite has the highest bit. */
TE_INLINE uint64_t te_exponent(const double *x) {
    uint64_t bits;
    memcpy(&bits, x, 8);
    return (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
}

/* Whether n contiguous doubles are finite. There are no branches, so that it is vectorised, in four rows at once. */
TE_WIDE static int te_all_finite(const double *x, int64_t n) {
    const int64_t row = n / 4;
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (int64_t k = 0; k < row; k++) {
        a |= te_exponent(x + k), b |= te_exponent(x + k + row);
        c |= te_exponent(x + k + 2 * row), d |= te_exponent(x + k + 3 * row);
    }
    for (int64_t k = 4 * row; k < n; k++) a |= te_exponent(x + k);
    return !((a | b | c | d) >> 63);
}

/* Copy n contiguous doubles; tell whether they are finite. */
static inline int te_copy_finite(double *to, const double *x, int64_t n) {
    memcpy(to, x, n * sizeof *x);
    return te_all_finite(to, n);
}

#endif
