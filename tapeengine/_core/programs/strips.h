/* Operations on columns of arrays with many rows, some hundred rows at a time, so that the columns stay in the cache. */
#ifndef TAPEENGINE_STRIPS_H
#define TAPEENGINE_STRIPS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include "compiler.h"

#define TE_STRIP 128 /* rows of a strip */

typedef struct { int64_t op, to, a, b, c; } te_strip; /* an operation, and the registers that it writes and reads */
typedef struct { int64_t array, offset, stride, index; } te_column; /* in bytes; index: the array of its rows, or -1 */
typedef void (*te_strip_code)(char *const *arrays, int64_t from, int64_t to);

/* In the order of NAMES in staged/columns.py. */
enum { TE_READ, TE_PUT, TE_INTO, TE_PLUS, TE_MINUS, TE_TIMES, TE_OVER, TE_NEGATIVE, TE_ROOT, TE_WEIGHED, TE_GIVEN, TE_CHOSEN };

/* Of a strip with fewer rows the rest is computed from what the registers hold, and not written. */
#define TE_OF_ROWS(value) for (int k = 0; k < TE_STRIP; k++) to[k] = value; break
/* Something with the place of each element of a column. */
#define TE_OF_COLUMN(what)                                                                            \
    {                                                                                                 \
        char *place = arrays[at->array] + at->offset;                                                 \
        const int64_t stride = at->stride, *rows;                                                     \
        if (at->index < 0) {                                                                          \
            place += row * stride;                                                                    \
            for (int64_t k = 0; k < n; k++, place += stride) what;                                    \
        } else {                                                                                      \
            char *first = place;                                                                      \
            rows = (const int64_t *)arrays[at->index] + row;                                          \
            for (int64_t k = 0; k < n; k++) { place = first + stride * rows[k]; what; }               \
        }                                                                                             \
        break;                                                                                        \
    }
/* A cotangent times a partial: zero where the cotangent is, whatever the partial is. */
#define TE_WEIGHT(c, p) ((c) != 0.0 ? (c) * (p) : 0.0)

TE_WIDE static void te_run_strip(const te_strip *ops, ptrdiff_t count, const te_column *columns, char *const *arrays,
                                 double *registers, int64_t row, int64_t n) {
    for (ptrdiff_t i = 0; i < count; i++) {
        const te_strip x = ops[i];
        double *TE_RESTRICT to = registers + x.to * TE_STRIP;
        const double *a = registers + x.a * TE_STRIP, *b = registers + x.b * TE_STRIP, *c = registers + x.c * TE_STRIP;
        const te_column *at = &columns[x.op <= TE_INTO ? x.b : 0];
        switch (x.op) {
        case TE_READ: TE_OF_COLUMN(to[k] = *(const double *)place)
        case TE_PUT: TE_OF_COLUMN(*(double *)place = a[k])
        case TE_INTO: TE_OF_COLUMN(*(double *)place += a[k])
        case TE_PLUS: TE_OF_ROWS(a[k] + b[k]);
        case TE_MINUS: TE_OF_ROWS(a[k] - b[k]);
        case TE_TIMES: TE_OF_ROWS(a[k] * b[k]);
        case TE_OVER: TE_OF_ROWS(a[k] / b[k]);
        case TE_NEGATIVE: TE_OF_ROWS(-a[k]);
        case TE_ROOT: TE_OF_ROWS(sqrt(a[k]));
        case TE_WEIGHED: TE_OF_ROWS(TE_WEIGHT(a[k], b[k]));
        case TE_GIVEN: TE_OF_ROWS(c[k] + TE_WEIGHT(a[k], b[k]));
        case TE_CHOSEN: TE_OF_ROWS(a[k] != 0.0 ? b[k] : c[k]);
        }
    }
}

/* All operations on the rows from `row` on. */
static void te_run_strips(const void *ops, ptrdiff_t count, const void *columns, char *const *arrays, void *registers,
                          int64_t row, int64_t rows) {
    for (; row < rows; row += TE_STRIP)
        te_run_strip(ops, count, columns, arrays, registers, row, rows - row < TE_STRIP ? rows - row : TE_STRIP);
}

#endif
