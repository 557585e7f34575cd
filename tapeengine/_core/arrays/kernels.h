/* Accumulation of elementwise backward rules over float64, with one loop for each opcode. Values are computed by the
   inner loops of numpy, partials by the opcode table. */
#ifndef TAPEENGINE_KERNELS_H
#define TAPEENGINE_KERNELS_H

#include <stddef.h>
#include "compiler.h"
#include "ops_table.h"
#include "pairwise.h"
#include "selects.h"

#define TE_AXES 4
#define TE_PART 64 /* partials computed at a time */

typedef struct {
    char *data;                /* first element; NULL if the rule does not need the operand */
    ptrdiff_t strides[TE_AXES]; /* in bytes, 0 along broadcast axes */
} te_operand;

#define TE_AT(p, s, i) (*(const double *)((p) + (i) * (s)))

/* acc[i] += product, of the cotangent c; a zero cotangent contributes zero, whatever the partial is. */
#define TE_EACH(product)                                                                                       \
    for (i = 0; i < n; i++) {                                                                                  \
        const double c = ct[i], t = c != 0.0 ? (product) : 0.0;                                                \
        double *out = (double *)(acc + i * sacc);                                                              \
        if (assign) *out = t; else *out += t;                                                                  \
    }

/* The same for ct[i] * partial, with loops for arrays without gaps. */
#define TE_LOOP(partial)                                                                                       \
    do {                                                                                                       \
        if (sacc == 8 && (sa == 8 || !pa) && (sb == 8 || !pb)) {                                               \
            double *TE_RESTRICT out = (double *)acc;                                                              \
            const double *TE_RESTRICT A = (const double *)pa, *TE_RESTRICT B = (const double *)pb;                   \
            (void)A; (void)B;                                                                                  \
            if (assign)                                                                                        \
                for (i = 0; i < n; i++) { const double c = ct[i]; const double t = c * (partial(A[i], B[i], v[i])); \
                    out[i] = c != 0.0 ? t : 0.0; }                                                             \
            else                                                                                               \
                for (i = 0; i < n; i++) { const double c = ct[i]; const double t = c * (partial(A[i], B[i], v[i])); \
                    out[i] += c != 0.0 ? t : 0.0; }                                                            \
        } else {                                                                                               \
            TE_EACH(c * (partial(TE_AT(pa, sa, i), TE_AT(pb, sb, i), v[i])));                                  \
        }                                                                                                      \
    } while (0)

static const double te_one = 1.0, te_minus_one = -1.0;

#define TE_B(a, b, v) (b)
#define TE_INVERSE_A(a, b, v) (1.0 / (a))
#define TE_QUOTIENT(a, b, v) (-((v) / (b)))
#define TE_SQRT(a, b, v) (0.5 / (v))

/* One inner loop: n elements along the last axis. `which` is the operand, 0 or 1; a missing v is never read. */
static void te_accumulate_row(int op, int which, ptrdiff_t n, const double *ct, const char *pa, ptrdiff_t sa,
                              const char *pb, ptrdiff_t sb, const double *v, char *acc, ptrdiff_t sacc, int assign) {
    ptrdiff_t i;
    double none = 0.0;
    const int selects = te_selects(op, which);
    if (!v) v = ct;
    if (which == 0) {
        switch (op) {
        case OP_ADD: case OP_SUB: pa = pb = 0; goto ones;
        case OP_NEG: pa = pb = 0; goto minus;
        case OP_MUL: pa = 0; goto times_b;
        case OP_DIV: if (!pb) break; pa = pb; sa = sb; pb = 0; goto inverse_a;
        case OP_EXP: pa = 0; pb = (const char *)v; sb = 8; goto times_b;
        case OP_LOG: pb = 0; goto inverse_a;
        case OP_SQRT: pa = pb = 0; TE_LOOP(TE_SQRT); return;
        case OP_TANH: /* an argument near 0 needs no exponential */
            if (!pa) break;
            for (; n > 0; n -= TE_PART, ct += TE_PART, v += TE_PART, pa += TE_PART * sa, acc += TE_PART * sacc) {
                const ptrdiff_t part = n < TE_PART ? n : TE_PART;
                double p[TE_PART];
                int far = 0;
                for (i = 0; i < part; i++) { p[i] = 1.0 - v[i] * v[i]; far |= !(v[i] * v[i] < 0.9); }
                for (i = 0; far && i < part; i++) if (!(v[i] * v[i] < 0.9)) p[i] = op_sech2(TE_AT(pa, sa, i), v[i]);
                te_accumulate_row(OP_MUL, 0, part, ct, 0, 0, (const char *)p, 8, v, acc, sacc, assign);
            }
            return;
        }
        if (!pa) { pa = (const char *)&none; sa = 0; }
        if (!pb) { pb = (const char *)&none; sb = 0; }
        TE_EACH(te_times(selects, c, op_da(op, TE_AT(pa, sa, i), TE_AT(pb, sb, i), v[i])));
        return;
    }
    switch (op) {
    case OP_ADD: pa = pb = 0; goto ones;
    case OP_SUB: pa = pb = 0; goto minus;
    case OP_MUL: pb = pa; sb = sa; pa = 0; goto times_b;
    case OP_DIV: pa = 0; TE_LOOP(TE_QUOTIENT); return;
    }
    if (!pa) { pa = (const char *)&none; sa = 0; }
    if (!pb) { pb = (const char *)&none; sb = 0; }
    TE_EACH(te_times(selects, c, op_db(op, TE_AT(pa, sa, i), TE_AT(pb, sb, i), v[i])));
    return;
ones:
    if (sacc == 0 && !assign) { double s = 0.0; for (i = 0; i < n; i++) s += ct[i]; *(double *)acc += s; return; }
    pb = (const char *)&te_one;
    sb = 0;
    goto times_b;
minus:
    if (sacc == 0 && !assign) { double s = 0.0; for (i = 0; i < n; i++) s += ct[i]; *(double *)acc -= s; return; }
    pb = (const char *)&te_minus_one;
    sb = 0;
    goto times_b;
inverse_a:
    TE_LOOP(TE_INVERSE_A);
    return;
times_b:
    if (sb == 0 && sacc == 8) {
        const double b = *(const double *)pb;
        double *TE_RESTRICT out = (double *)acc;
        if (assign) for (i = 0; i < n; i++) { const double c = ct[i], t = c * b; out[i] = c != 0.0 ? t : 0.0; }
        else for (i = 0; i < n; i++) { const double c = ct[i], t = c * b; out[i] += c != 0.0 ? t : 0.0; }
        return;
    }
    TE_LOOP(TE_B);
}

/* Where the rows of an array of several axes begin: the offsets of up to three operands, one row after the other. */
typedef struct { ptrdiff_t at[TE_AXES], a, b, acc; } te_offsets;

static inline void te_next_row(te_offsets *o, int axes, const ptrdiff_t *dims, const ptrdiff_t *sa, const ptrdiff_t *sb,
                               const ptrdiff_t *sacc) {
    for (int axis = axes - 2; axis >= 0; axis--) {
        o->a += sa[axis];
        o->b += sb[axis];
        o->acc += sacc[axis];
        if (++o->at[axis] < dims[axis]) return;
        o->a -= dims[axis] * sa[axis];
        o->b -= dims[axis] * sb[axis];
        o->acc -= dims[axis] * sacc[axis];
        o->at[axis] = 0;
    }
}

#define TE_SHORT 16 /* elements of a row up to which to choose a loop for it takes longer than to run the loop */
#if defined(__GNUC__) && !defined(__clang__)
#define TE_PLAIN __attribute__((noinline, optimize("no-tree-vectorize")))
#else
#define TE_PLAIN
#endif

/* All rows by one loop, in the order in which te_accumulate_row adds. */
#define TE_SHORT_ROWS(...)                                                                       \
    for (; rows > 0; rows--) {                                                                   \
        const char *pa = a->data + o.a, *pb = b->data + o.b;                                     \
        char *to = acc + o.acc;                                                                  \
        (void)pa, (void)pb;                                                                      \
        __VA_ARGS__                                                                              \
        ct += step == 1 ? n : 1;                                                                 \
        v += step == 1 ? n : 1;                                                                  \
        te_next_row(&o, axes, dims, a->strides, b->strides, sacc);                               \
    }                                                                                            \
    return 1
#define TE_SHORT_LOOP(partial)                                                                   \
    TE_SHORT_ROWS(for (i = 0; i < n; i++) {                                                      \
        const double c = ct[i * step], t = c != 0.0 ? c * (partial) : 0.0;                       \
        double *out = (double *)(to + i * sl);                                                   \
        if (assign) *out = t; else *out += t;                                                    \
    })
#define TE_SHORT_SUM(sign) \
    TE_SHORT_ROWS(double s = 0.0; for (i = 0; i < n; i++) s += ct[i]; *(double *)to sign s;)

/* The contribution to one operand where rows are short; 0 for operations that have no loop here. Elements of ct and v
   that follow each other in a row are `step` apart: 1, or the number of rows where they are the columns of an array. */
TE_PLAIN static int te_accumulate_short(int op, int which, int axes, ptrdiff_t rows, const ptrdiff_t *dims, const double *ct,
                                        const te_operand *a, const te_operand *b, const double *v, char *acc,
                                        const ptrdiff_t *sacc, int assign, ptrdiff_t step) {
    const ptrdiff_t n = dims[axes - 1], sl = sacc[axes - 1], sa = a->strides[axes - 1], sb = b->strides[axes - 1];
    const int sums = sl == 0 && !assign;
    ptrdiff_t i;
    te_offsets o = {{0}, 0, 0, 0};
    if (!v) v = ct;
    switch (which ? op + OP_COUNT : op) {
    case OP_ADD: case OP_SUB: case OP_ADD + OP_COUNT:
        if (sums) { TE_SHORT_SUM(+=); }
        TE_SHORT_LOOP(1.0);
    case OP_NEG: case OP_SUB + OP_COUNT:
        if (sums) { TE_SHORT_SUM(-=); }
        TE_SHORT_LOOP(-1.0);
    case OP_MUL: TE_SHORT_LOOP(TE_AT(pb, sb, i));
    case OP_MUL + OP_COUNT: TE_SHORT_LOOP(TE_AT(pa, sa, i));
    case OP_DIV:
        if (!b->data) return 0;
        TE_SHORT_LOOP(1.0 / TE_AT(pb, sb, i));
    case OP_DIV + OP_COUNT: TE_SHORT_LOOP(-(v[i * step] / TE_AT(pb, sb, i)));
    }
    return 0;
}

#define TE_SHORT_VALUES(value)                                                                   \
    for (; rows > 0; rows--) {                                                                   \
        const char *pa = a->data + o.a, *pb = b->data + o.b;                                     \
        for (i = 0; i < n; i++) { const double x = TE_AT(pa, sa, i), y = TE_AT(pb, sb, i); out[i * step] = value; } \
        out += step == 1 ? n : 1;                                                                                \
        te_next_row(&o, axes, dims, a->strides, b->strides, none);                               \
    }                                                                                            \
    return 1

/* The values of an operation of two operands where rows are short; 0 for operations that have no loop here. */
TE_PLAIN static int te_values_short(int op, int axes, ptrdiff_t rows, const ptrdiff_t *dims, const te_operand *a,
                                    const te_operand *b, double *out, ptrdiff_t step) {
    const ptrdiff_t n = dims[axes - 1], sa = a->strides[axes - 1], sb = b->strides[axes - 1], none[TE_AXES] = {0};
    ptrdiff_t i;
    te_offsets o = {{0}, 0, 0, 0};
    switch (op) {
    case OP_ADD: TE_SHORT_VALUES(x + y);
    case OP_SUB: TE_SHORT_VALUES(x - y);
    case OP_MUL: TE_SHORT_VALUES(x * y);
    case OP_DIV: TE_SHORT_VALUES(x / y);
    }
    return 0;
}

#define TE_TALL 128 /* rows whose columns stay in the cache while a loop goes along them */

/* Both for arrays of many short rows, whose loops go along the columns: the contribution, or with acc = 0 values in v. */
static int te_tall(int op, int which, const ptrdiff_t *dims, const double *ct, const te_operand *a, const te_operand *b,
                   double *v, char *acc, const ptrdiff_t *sacc, int assign) {
    const ptrdiff_t n = dims[1];
    te_operand x = {a->data, {a->strides[1], a->strides[0]}}, y = {b->data, {b->strides[1], b->strides[0]}};
    for (ptrdiff_t left = dims[0]; left > 0; left -= TE_TALL) {
        const ptrdiff_t turned[2] = {n, left < TE_TALL ? left : TE_TALL}, s[2] = {sacc[1], sacc[0]};
        if (!(acc ? te_accumulate_short(op, which, 2, n, turned, ct, &x, &y, v, acc, s, assign, n)
                  : te_values_short(op, 2, n, turned, &x, &y, v, n))) return 0;
        if (acc) { ct += TE_TALL * n; acc += TE_TALL * sacc[0]; }
        if (v) v += TE_TALL * n;
        if (x.data) x.data += TE_TALL * a->strides[0];
        if (y.data) y.data += TE_TALL * b->strides[0];
    }
    return 1;
}

/* Whether te_tall can compute: numbers that are added up go through in the order of the rows. */
#define TE_IS_TALL(axes, dims, acc, sacc, assign) \
    ((axes) == 2 && (dims)[0] > 2 * TE_SHORT && (!(acc) || (assign) || ((sacc)[0] && (sacc)[1])))

/* Values of an operation of two operands where rows are short; 0 for operations that have no loop here. */
static int te_values(int op, int axes, ptrdiff_t rows, const ptrdiff_t *dims, const te_operand *a, const te_operand *b,
                     double *out) {
    return TE_IS_TALL(axes, dims, 0, a->strides, 0) ? te_tall(op, 0, dims, 0, a, b, out, 0, a->strides, 0)
                                                    : te_values_short(op, axes, rows, dims, a, b, out, 1);
}

/* Add the contribution to one operand: ct and v are C-contiguous of shape dims, acc has the operand's geometry. */
static void te_accumulate(int op, int which, int axes, const ptrdiff_t *dims, const double *ct, const te_operand *a,
                          const te_operand *b, const double *v, char *acc, const ptrdiff_t *sacc, int assign) {
    ptrdiff_t n = axes ? dims[axes - 1] : 1, rows = 1, row;
    const int last = axes ? axes - 1 : 0;
    te_offsets o = {{0}, 0, 0, 0};
    for (int axis = 0; axis < axes - 1; axis++) rows *= dims[axis];
    if (n == 0) return; /* an operand without elements has no place even for a sum of none */
    if (axes > 1 && n < TE_SHORT
        && (TE_IS_TALL(axes, dims, acc, sacc, assign)
                ? te_tall(op, which, dims, ct, a, b, (double *)v, acc, sacc, assign)
                : te_accumulate_short(op, which, axes, rows, dims, ct, a, b, v, acc, sacc, assign, 1))) return;
    for (row = 0; row < rows; row++) {
        te_accumulate_row(op, which, n, ct + row * n, a->data ? a->data + o.a : 0, axes ? a->strides[last] : 0,
                          b->data ? b->data + o.b : 0, axes ? b->strides[last] : 0, v ? v + row * n : 0, acc + o.acc,
                          axes ? sacc[last] : 0, assign);
        te_next_row(&o, axes, dims, a->strides, b->strides, sacc);
    }
}

/* Whether the partial with respect to operand `which` reads a, b or v (bits 1, 2 and 4). */
static inline int te_reads(int op, int which) {
    if (which == 0) {
        switch (op) {
        case OP_ADD: case OP_SUB: case OP_NEG: return 0;
        case OP_MUL: case OP_DIV: return 2;
        case OP_EXP: case OP_EXP2: case OP_SQRT: case OP_CBRT: return 4;
        case OP_TANH: return 5;
        case OP_EXPM1: case OP_ATAN: case OP_SIN: case OP_COS: case OP_LOG: case OP_LOG1P: case OP_LOG2: case OP_LOG10: case OP_ABS: return 1;
        }
        return 7;
    }
    switch (op) {
    case OP_ADD: case OP_SUB: return 0;
    case OP_MUL: return 1;
    case OP_DIV: return 6;
    }
    return 7;
}

/* numpy adds the pairwise sum to zero, so that the sum of negative zeros is zero. */
static double te_sum_of(const double *a, ptrdiff_t n) { return 0.0 + te_pairwise(a, n); }

#endif
