/* Recorded scalar programs for many arguments at a time: one dispatch for a block of lanes, loops that vectorise.

   The instructions and their order are those of replay.h, and so are the bits of every lane. A lane whose guard does not
   hold goes on with the others, and its numbers mean nothing from there on: `stop` tells where. */
#ifndef TAPEENGINE_LANES_H
#define TAPEENGINE_LANES_H

#include <stddef.h>
#include <float.h>
#include "compiler.h"
#include "replay.h"

#define TE_LANES 8
typedef double te_row[TE_LANES];

#define TE_EACH for (int l = 0; l < TE_LANES; l++)
#define TE_ROW(NAME, value) case OP_##NAME: { const double *a = v[x.a], *b = v[x.b]; (void)b; TE_EACH w[l] = value; break; }
/* An operation of which Python might raise. */
#define TE_ROW_CHECKED(NAME, value) case OP_##NAME: { const double *a = v[x.a], *b = v[x.b]; (void)b; TE_EACH w[l] = value; goto check; }
/* What does not hold in a lane stops it here, if nothing did before. The numbers of instructions are kept as doubles, so
   that all rows have elements of one width. */
#define TE_HOLDS(holds) { const double here = i; TE_EACH { const double s = out[l] < here ? out[l] : here; out[l] = (holds) ? out[l] : s; } }
#define TE_ROW_GUARD(NAME, holds) case NAME: { const double *a = v[x.a]; TE_HOLDS(holds) break; }
#define TE_RIGHT_LANE v[x.b][l]
#define TE_K constants[x.b]

/* Values of the instructions from i on, for a block of lanes; `stop` is lowered to the first that does not hold. */
TE_WIDE static void te_lanes(const uint8_t *op, const te_operands *operands, const double *constants, te_row *v, uint32_t i,
                             uint32_t end, uint32_t *stop) {
    double out[TE_LANES];
    TE_EACH out[l] = stop[l];
    for (; i < end; i++) {
        const te_operands x = operands[i];
        double *TE_RESTRICT w = v[i];
        const int code = op[i] < TE_CONSTANT ? op_codes[op[i]] : op[i];
        switch (code) {
        TE_ROW(ADD, a[l] + b[l])
        TE_ROW(SUB, a[l] - b[l])
        TE_ROW(MUL, a[l] * b[l])
        TE_ROW(NEG, -a[l])
        TE_ROW_CHECKED(DIV, a[l] / b[l])
        TE_ROW_CHECKED(SQRT, sqrt(a[l]))
        TE_ROW_CHECKED(EXP, exp(a[l]))
        TE_ROW_CHECKED(LOG, log(a[l]))
        TE_ROW_CHECKED(SIN, sin(a[l]))
        TE_ROW_CHECKED(COS, cos(a[l]))
        case TE_CONSTANT: { const double c = constants[x.a]; TE_EACH w[l] = c; break; }
        TE_ROW_GUARD(TE_LT_TRUE, a[l] < TE_RIGHT_LANE)
        TE_ROW_GUARD(TE_LT_FALSE, !(a[l] < TE_RIGHT_LANE))
        TE_ROW_GUARD(TE_LE_TRUE, a[l] <= TE_RIGHT_LANE)
        TE_ROW_GUARD(TE_LE_FALSE, !(a[l] <= TE_RIGHT_LANE))
        TE_ROW_GUARD(TE_EQ_TRUE, a[l] == TE_RIGHT_LANE)
        TE_ROW_GUARD(TE_EQ_FALSE, a[l] != TE_RIGHT_LANE)
        TE_ROW_GUARD(TE_TRUNC, trunc(a[l]) == TE_K)
        TE_ROW_GUARD(TE_FLOOR, floor(a[l]) == TE_K)
        TE_ROW_GUARD(TE_CEIL, ceil(a[l]) == TE_K)
        TE_ROW_GUARD(TE_ROUND, rint(a[l]) == TE_K)
        TE_ROW_GUARD(TE_EXACT, te_same_bits(a[l], TE_K))
        TE_ROW_GUARD(TE_FINITE, isfinite(a[l]))
        TE_ROW_GUARD(TE_INFINITE, isinf(a[l]))
        TE_ROW_GUARD(TE_NAN, isnan(a[l]))
        case TE_CALL: TE_HOLDS(0) break;
        default: {
            const int two = op_arities[code] == 2;
            const double *a = v[x.a], *b = two ? v[x.b] : a;
            TE_EACH w[l] = te_value_once(code, a[l], two ? b[l] : 0.0);
            if (te_total(code)) break;
        }
        check:
            TE_HOLDS(fabs(w[l]) <= DBL_MAX)
        }
    }
    TE_EACH stop[l] = (uint32_t)out[l];
}

/* A contribution to a row of cotangents; exactly nothing where the cotangent is zero. It is computed for all lanes, as
   compilers make no vectors of what is read in some lanes only. */
#define TE_GIVE(to, part) {                                                                                    \
    double *TE_RESTRICT t = ct[to];                                                                            \
    TE_EACH { const double s = t[l] + (part); t[l] = c[l] == 0.0 ? t[l] : s; }                                 \
}
#define TE_ROW_BACK(NAME, da, db)                                                                              \
    case OP_##NAME: { const double *a = v[x.a], *b = v[x.b]; (void)a; (void)b; TE_GIVE(x.a, da) TE_GIVE(x.b, db) break; }        \
    case OP_##NAME + TE_RIGHT: { const double *b = v[x.b]; (void)b; TE_GIVE(x.a, da) break; }                           \
    case OP_##NAME + TE_LEFT: { const double *a = v[x.a]; (void)a; TE_GIVE(x.b, db) break; }

/* Cotangents of the instructions from `last` down to `first`, in the order of te_replay_back. */
TE_WIDEST static void te_lanes_back(const uint8_t *op, const te_operands *operands, const te_row *TE_RESTRICT v,
                                    te_row *TE_RESTRICT ct, uint32_t last, uint32_t first) {
    for (uint32_t i = last; i >= first; i--) {
        const te_operands x = operands[i];
        double c[TE_LANES];
        if (op[i] >= TE_CONSTANT) continue;
        TE_EACH c[l] = ct[i][l];
        TE_EACH ct[i][l] = 0.0;
        const double *w = v[i];
        switch (op[i]) {
        TE_ROW_BACK(ADD, c[l], c[l])
        TE_ROW_BACK(SUB, c[l], -c[l])
        TE_ROW_BACK(MUL, c[l] * b[l], c[l] * a[l])
        TE_ROW_BACK(DIV, c[l] * (1.0 / b[l]), c[l] * -(w[l] / v[x.b][l]))
        case OP_NEG: TE_GIVE(x.a, -c[l]) break;
        case OP_SQRT: { TE_GIVE(x.a, c[l] * (0.5 / w[l])) break; }
        case OP_EXP: { TE_GIVE(x.a, c[l] * w[l]) break; }
        case OP_LOG: { const double *a = v[x.a]; TE_GIVE(x.a, c[l] * (1.0 / a[l])) break; }
        default: {
            const int code = op_codes[op[i]], form = op_forms[op[i]], two = op_arities[code] == 2;
            for (int l = 0; l < TE_LANES; l++) {
                const double a = v[x.a][l], b = two ? v[x.b][l] : 0.0;
                if (c[l] == 0.0) continue;
                if (form != TE_LEFT) ct[x.a][l] += te_part_once(code, 0, c[l], a, b, w[l]);
                if (two && form != TE_RIGHT) ct[x.b][l] += te_part_once(code, 1, c[l], a, b, w[l]);
            }
        }
        }
    }
}

/* The tangent by the first operand, and what the second one adds: a zero counts as it is, whatever the partial is. */
#define TE_PUSH(from, part) { const double *c = t[from]; TE_EACH { const double s = part; d[l] = c[l] == 0.0 ? c[l] : s; } }
#define TE_PUSH_MORE(from, part) { const double *c = t[from]; TE_EACH { const double s = d[l] + (part); d[l] = c[l] == 0.0 ? d[l] : s; } }
#define TE_ROW_PUSH(NAME, da, db)                                                                              \
    case OP_##NAME: { const double *a = v[x.a], *b = v[x.b]; (void)a; (void)b; TE_PUSH(x.a, da) TE_PUSH_MORE(x.b, db) break; }   \
    case OP_##NAME + TE_RIGHT: { const double *b = v[x.b]; (void)b; TE_PUSH(x.a, da) break; }                           \
    case OP_##NAME + TE_LEFT: { const double *a = v[x.a]; (void)a; TE_PUSH(x.b, db) break; }

/* Tangents of the instructions from `first` on, for a block of lanes. */
TE_WIDEST static void te_lanes_forward(const uint8_t *op, const te_operands *operands, const te_row *TE_RESTRICT v,
                                       te_row *TE_RESTRICT t, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const te_operands x = operands[i];
        double *TE_RESTRICT d = t[i];
        if (op[i] >= TE_CONSTANT) { TE_EACH d[l] = 0.0; continue; }
        const double *w = v[i];
        switch (op[i]) {
        TE_ROW_PUSH(ADD, c[l], c[l])
        TE_ROW_PUSH(SUB, c[l], -c[l])
        TE_ROW_PUSH(MUL, c[l] * b[l], c[l] * a[l])
        TE_ROW_PUSH(DIV, c[l] * (1.0 / b[l]), c[l] * -(w[l] / v[x.b][l]))
        case OP_NEG: TE_PUSH(x.a, -c[l]) break;
        case OP_SQRT: TE_PUSH(x.a, c[l] * (0.5 / w[l])) break;
        case OP_EXP: TE_PUSH(x.a, c[l] * w[l]) break;
        case OP_LOG: { const double *a = v[x.a]; TE_PUSH(x.a, c[l] * (1.0 / a[l])) break; }
        default: {
            const int code = op_codes[op[i]], form = op_forms[op[i]], two = op_arities[code] == 2;
            for (int l = 0; l < TE_LANES; l++) {
                const double a = v[x.a][l], b = two ? v[x.b][l] : 0.0;
                double s = t[form == TE_LEFT ? x.b : x.a][l];
                if (s != 0.0) s = te_part_once(code, form == TE_LEFT, s, a, b, w[l]);
                if (two && form == TE_BOTH && t[x.b][l] != 0.0) s += te_part_once(code, 1, t[x.b][l], a, b, w[l]);
                d[l] = s;
            }
        }
        }
    }
}

/* Give all lanes the numbers that they share, from one register on. */
TE_WIDE static void te_spread(te_row *v, const double *numbers, uint32_t from, uint32_t end) {
    for (uint32_t i = from; i < end; i++) TE_EACH v[i][l] = numbers[i];
}

/* Take the cotangents of a block of inputs into a column of a matrix, and leave zeros. */
TE_WIDE static void te_take(double *TE_RESTRICT x, ptrdiff_t width, te_row *TE_RESTRICT ct, uint32_t end) {
    for (uint32_t i = 1; i < end; i++) {
        double *TE_RESTRICT c = ct[i];
        TE_EACH x[i * width + l] = c[l];
        TE_EACH c[l] = 0.0;
    }
}

/* Both, by native code where there is some. A check does not count in lanes that stopped before. */
static void te_run_lanes(const te_bodies *n, const uint8_t *op, const te_operands *operands, const double *constants,
                         te_row *v, uint32_t first, uint32_t end, uint32_t *stop) {
    const te_entry *s = n->schedule;
    if (n->entries == 0) { te_lanes(op, operands, constants, v, first, end, stop); return; }
    for (int64_t at = 0;; at++) {
        uint32_t dead = 0;
        for (int l = 0; l < TE_LANES; l++) dead |= (uint32_t)(stop[l] < s[at].start) << l;
        at = n->values(v, 0, operands, constants, s, at, n->entries, dead);
        if (at == n->entries) return;
        te_lanes(op, operands, constants, v, s[at].start, s[at + 1].start, stop);
    }
}

static void te_run_lanes_back(const te_bodies *n, const uint8_t *op, const te_operands *operands, const double *constants,
                              te_row *v, te_row *ct, uint32_t last, uint32_t first) {
    const te_entry *s = n->schedule;
    if (n->entries == 0) { te_lanes_back(op, operands, v, ct, last, first); return; }
    for (int64_t at = te_entry_of(n, last) + 1;; at--) {
        at = n->cotangents(v, ct, operands, constants, s, at, 0, 0);
        if (at == 0) return;
        te_lanes_back(op, operands, v, ct, s[at].start - 1, s[at - 1].start);
    }
}

#endif
