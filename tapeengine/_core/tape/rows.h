/* Many cotangents or tangents that are swept together: those of one scalar are contiguous. */
#ifndef TAPEENGINE_ROWS_H
#define TAPEENGINE_ROWS_H
#include <math.h>
#include "compiler.h"
#include <stddef.h>
/* Do `body` for each k below `width`: a block of 8, a cache line, is a loop that compilers unroll. */
#define TE_EACH(width, body)                                          \
    if ((width) == 8) { for (ptrdiff_t k = 0; k < 8; k++) { body; } } \
    else { for (ptrdiff_t k = 0; k < (width); k++) { body; } }
/* to += partial * from; an exact zero stays zero where the partial is not finite. */
static inline void te_rows_add(double *TE_RESTRICT to, const double *TE_RESTRICT from, double partial, ptrdiff_t width) {
    if (isfinite(partial)) TE_EACH(width, to[k] += partial * from[k])
    else TE_EACH(width, if (from[k] != 0.0) to[k] += partial * from[k])
}
/* to = partial * from; an exact zero stays zero. */
static inline void te_rows_set(double *TE_RESTRICT to, const double *TE_RESTRICT from, double partial, ptrdiff_t width) {
    if (isfinite(partial)) TE_EACH(width, to[k] = partial * from[k])
    else TE_EACH(width, to[k] = from[k] != 0.0 ? partial * from[k] : 0.0)
}
/* to = first * from + second * other, in this order; an exact zero stays zero. */
static inline void te_rows_sum(double *TE_RESTRICT to, const double *TE_RESTRICT from, double first,
                               const double *TE_RESTRICT other, double second, ptrdiff_t width) {
    if (isfinite(first) && isfinite(second)) TE_EACH(width, to[k] = first * from[k] + second * other[k])
    else {
        te_rows_set(to, from, first, width);
        te_rows_add(to, other, second, width);
    }
}
static inline int te_rows_zero(const double *from, ptrdiff_t width) {
    int any = 0;
    TE_EACH(width, any |= from[k] != 0.0)
    return !any;
}
/* Read the same element of each row's buffer; `step` doubles lie between two rows. */
static inline void te_rows_gather(double *to, const double *from, ptrdiff_t step, ptrdiff_t width) {
    for (ptrdiff_t k = 0; k < width; k++) to[k] += from[k * step];
}
static inline void te_rows_scatter(double *to, const double *from, ptrdiff_t step, ptrdiff_t width) {
    for (ptrdiff_t k = 0; k < width; k++) to[k * step] += from[k];
}
static inline void te_rows_clear(double *to, ptrdiff_t step, ptrdiff_t width) {
    for (ptrdiff_t k = 0; k < width; k++) to[k * step] = 0.0;
}
/* acc += ct * partial for each row. ct and partial are C-contiguous of shape dims; acc has its own strides in bytes,
   and `step` bytes between two rows. A zero cotangent contributes zero, whatever the partial is. */
static inline void te_rows_scale(ptrdiff_t width, int axes, const ptrdiff_t *dims, const double *TE_RESTRICT ct,
                          const double *TE_RESTRICT partial, char *acc, ptrdiff_t step, const ptrdiff_t *strides, int assign,
                          int selects) {
    const ptrdiff_t n = axes ? dims[axes - 1] : 1, stride = axes ? strides[axes - 1] : 0;
    ptrdiff_t lines = 1, line, i, k;
    for (int axis = 0; axis < axes - 1; axis++) lines *= dims[axis];
    for (line = 0; line < lines; line++) {
        const double *p = partial + line * n;
        ptrdiff_t offset = 0, rest = line;
        for (int axis = axes - 2; axis >= 0; axis--) {
            offset += rest % dims[axis] * strides[axis];
            rest /= dims[axis];
        }
        for (k = 0; k < width; k++) {
            const double *c = ct + (k * lines + line) * n;
            char *to = acc + k * step + offset;
            if (!selects && stride == (ptrdiff_t)sizeof(double)) {
                double *TE_RESTRICT out = (double *)to;
                if (assign) for (i = 0; i < n; i++) { const double t = c[i] * p[i]; out[i] = c[i] != 0.0 ? t : 0.0; }
                else for (i = 0; i < n; i++) { const double t = c[i] * p[i]; out[i] += c[i] != 0.0 ? t : 0.0; }
            } else {
                for (i = 0; i < n; i++) {
                    double *out = (double *)(to + i * stride);
                    const double t = c[i] == 0.0 || (selects && p[i] == 0.0) ? 0.0 : c[i] * p[i];
                    if (assign) *out = t; else *out += t;
                }
            }
        }
    }
}
#endif
