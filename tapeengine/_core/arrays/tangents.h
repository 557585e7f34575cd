/* Forward rules over float64 for a block of tangents with one row for each: loops over rows, then over elements. */
#ifndef TAPEENGINE_TANGENTS_H
#define TAPEENGINE_TANGENTS_H

#include <stddef.h>
#include <string.h>
#include "kernels.h"

#if defined(__GNUC__) && !defined(__clang__)
#define TE_SAME_PLACE _Pragma("GCC ivdep") /* out and t may be the same memory */
#else
#define TE_SAME_PLACE
#endif

/* out[i] (+)= t[i] * p[i] along one axis. A zero tangent gives zero, whatever the partial is; where a partial only
   selects, an operand that is not selected gives zero, too. */
static void te_push_row(ptrdiff_t n, const char *t, ptrdiff_t st, const char *p, ptrdiff_t sp, double *out, int assign,
                        int selects) {
    ptrdiff_t i;
    if (!selects && st == 8 && (sp == 8 || sp == 0)) {
        const double *T = (const double *)t, *P = (const double *)p;
        if (sp == 8 && assign) {
            TE_SAME_PLACE
            for (i = 0; i < n; i++) { const double c = T[i], x = c * P[i]; out[i] = c != 0.0 ? x : 0.0; }
        } else if (sp == 8) {
            TE_SAME_PLACE
            for (i = 0; i < n; i++) { const double c = T[i], x = c * P[i]; out[i] += c != 0.0 ? x : 0.0; }
        } else if (assign) {
            const double f = *P;
            TE_SAME_PLACE
            for (i = 0; i < n; i++) { const double c = T[i], x = c * f; out[i] = c != 0.0 ? x : 0.0; }
        } else {
            const double f = *P;
            TE_SAME_PLACE
            for (i = 0; i < n; i++) { const double c = T[i], x = c * f; out[i] += c != 0.0 ? x : 0.0; }
        }
        return;
    }
    if (st == 0 && *(const double *)t == 0.0) {
        if (assign) memset(out, 0, (size_t)n * sizeof(double));
        return;
    }
    for (i = 0; i < n; i++) {
        const double x = te_times(selects, TE_AT(t, st, i), TE_AT(p, sp, i));
        if (assign) out[i] = x; else out[i] += x;
    }
}

/* The same for a block: strides are those of the result's axes, 0 where an operand is broadcast. The rows of t and of
   the result are `row_t` and `row_out` bytes apart; the result is C-contiguous of shape dims. */
static void te_push(ptrdiff_t width, int axes, const ptrdiff_t *dims, const char *t, ptrdiff_t row_t, const ptrdiff_t *st,
                    const char *p, const ptrdiff_t *sp, char *out, ptrdiff_t row_out, int assign, int selects) {
    ptrdiff_t n = axes ? dims[axes - 1] : 1, lines = 1, line, k, rest;
    ptrdiff_t last_t = axes ? st[axes - 1] : 0, last_p = axes ? sp[axes - 1] : 0;
    int axis;
    if (!n) return;
    for (axis = 0; axis < axes - 1; axis++) lines *= dims[axis];
    for (k = 0; k < width; k++) {
        for (line = 0; line < lines; line++) {
            ptrdiff_t ot = k * row_t, op = 0;
            for (axis = axes - 2, rest = line; axis >= 0; axis--) {
                const ptrdiff_t at = rest % dims[axis];
                rest /= dims[axis];
                ot += at * st[axis];
                op += at * sp[axis];
            }
            te_push_row(n, t + ot, last_t, p + op, last_p, (double *)(out + k * row_out) + line * n, assign,
                        selects);
        }
    }
}

/* The sum of n rows, one after the other. */
TE_WIDE static void te_sum_of_rows(ptrdiff_t n, ptrdiff_t width, const double *p, double *TE_RESTRICT out) {
    for (ptrdiff_t k = 0; k < width; k++) out[k] = 0.0 + p[k];
    for (ptrdiff_t j = 1; j < n; j++)
        for (ptrdiff_t k = 0; k < width; k++) out[k] += p[j * width + k];
}

/* The sum over the middle one of three axes, in numpy's order: pairwise if it is the last axis. */
static void te_sum(ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner, const double *p, double *out, double divisor) {
    ptrdiff_t i, k;
    for (i = 0; i < outer; i++, p += n * inner, out += inner) {
        if (inner == 1)
            *out = n == 8 ? 0.0 + TE_SUM_OF_8(p) : te_sum_of(p, n);
        else
            te_sum_of_rows(n, inner, p, out);
        if (divisor != 1.0)
            for (k = 0; k < inner; k++) out[k] /= divisor;
    }
}

#endif
