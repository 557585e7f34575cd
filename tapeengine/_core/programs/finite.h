/* A test of many doubles. */
#ifndef TAPEENGINE_FINITE_H
#define TAPEENGINE_FINITE_H

#include <stdint.h>
#include <string.h>
#include "compiler.h"

/* Whether n contiguous doubles are finite: no exponent is all ones. There are no branches, so that it is vectorised. */
TE_WIDE static int te_all_finite(const double *x, int64_t n) {
    const uint64_t mask = 0x7ff0000000000000u, one = 0x0010000000000000u;
    uint64_t found = 0;
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits;
        memcpy(&bits, x + k, 8);
        found |= (bits & mask) + one;
    }
    return !(found >> 63);
}

/* Copy n contiguous doubles; tell whether they are finite. */
TE_WIDE static int te_copy_finite(double *TE_RESTRICT to, const double *TE_RESTRICT x, int64_t n) {
    const uint64_t mask = 0x7ff0000000000000u, one = 0x0010000000000000u;
    uint64_t found = 0;
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits;
        memcpy(&bits, x + k, 8);
        memcpy(to + k, &bits, 8);
        found |= (bits & mask) + one;
    }
    return !(found >> 63);
}

#endif
