/* Recorded scalar programs, run again: values from the first instruction to the last, cotangents back.

   Each instruction has a register of its own, so an operand is the number of the instruction (or input) that made it.
   The opcode byte is the tape's: an opcode with the form that says which operands are constants. Constants are
   instructions too, and so are guards: what the program looked at, with the outcome that it saw. A run stops at a guard
   with another outcome, and where Python might raise: where a value is not finite and the recorded one was. */
#ifndef TAPEENGINE_REPLAY_H
#define TAPEENGINE_REPLAY_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "guards.h"
#include "ops_table.h"
#include "selects.h"

#define TE_RIGHT 0x40 /* the right operand is a constant */
#define TE_LEFT 0x80  /* the left operand is one */

/* The module around these loops is compiled for size. */
#if defined(__GNUC__) && !defined(__clang__)
#define TE_HOT __attribute__((optimize("O2")))
#else
#define TE_HOT
#endif

typedef struct { uint32_t a, b; } te_operands;

/* Operations that cannot make Python raise: their values may be infinite or NaN. */
static inline int te_total(int op) {
    switch (op) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_NEG: case OP_ABS: case OP_SIGN: case OP_RINT: case OP_COPYSIGN:
    case OP_MAXIMUM: case OP_MINIMUM: case OP_CHOOSE: case OP_RELU: case OP_STEP: return 1;
    }
    return 0;
}

static inline int te_same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

#define TE_FORMS(NAME) case OP_##NAME: case OP_##NAME | TE_RIGHT: case OP_##NAME | TE_LEFT:
#define TE_CHECKED(NAME, value)                            \
    { const double w = value; v[i] = w; if (!te_total(OP_##NAME) && !isfinite(w)) return i; break; }
#define TE_VALUE_ONE(NAME, f) case OP_##NAME: TE_CHECKED(NAME, f(v[x.a]))
#define TE_VALUE_TWO(NAME, f) TE_FORMS(NAME) TE_CHECKED(NAME, f(v[x.a], v[x.b]))
#define TE_GUARD(NAME, holds) case NAME: if (!(holds)) return i; break;

/* Values of the instructions from i on; the register of the first that does not hold, or `end`. */
TE_HOT static uint32_t te_replay(const uint8_t *op, const te_operands *operands, const double *constants, double *v, uint32_t i,
                          uint32_t end) {
    for (; i < end; i++) {
        const te_operands x = operands[i];
        switch (op[i]) {
        TE_OPS(TE_VALUE_ONE, TE_VALUE_TWO)
        case TE_CONSTANT: v[i] = constants[x.a]; break;
        TE_GUARD(TE_LT_TRUE, v[x.a] < v[x.b])
        TE_GUARD(TE_LT_FALSE, !(v[x.a] < v[x.b]))
        TE_GUARD(TE_LE_TRUE, v[x.a] <= v[x.b])
        TE_GUARD(TE_LE_FALSE, !(v[x.a] <= v[x.b]))
        TE_GUARD(TE_EQ_TRUE, v[x.a] == v[x.b])
        TE_GUARD(TE_EQ_FALSE, v[x.a] != v[x.b])
        TE_GUARD(TE_TRUNC, trunc(v[x.a]) == constants[x.b])
        TE_GUARD(TE_FLOOR, floor(v[x.a]) == constants[x.b])
        TE_GUARD(TE_CEIL, ceil(v[x.a]) == constants[x.b])
        TE_GUARD(TE_ROUND, rint(v[x.a]) == constants[x.b])
        TE_GUARD(TE_EXACT, te_same_bits(v[x.a], constants[x.b]))
        TE_GUARD(TE_FINITE, isfinite(v[x.a]))
        TE_GUARD(TE_INFINITE, isinf(v[x.a]))
        TE_GUARD(TE_NAN, isnan(v[x.a]))
        case TE_ACCESS: case TE_STEP: return i;
        }
    }
    return end;
}

#define TE_PART(op, which, c, partial) te_times(te_selects(op, which), c, partial)
#define TE_BACK_ONE(NAME, f) case OP_##NAME: ct[x.a] += TE_PART(OP_##NAME, 0, c, op_da(OP_##NAME, v[x.a], 0.0, v[i])); break;
#define TE_BACK_TWO(NAME, f)                                                                                          \
    case OP_##NAME: {                                                                                                 \
        const double a = v[x.a], b = v[x.b], w = v[i];                                                                \
        ct[x.a] += TE_PART(OP_##NAME, 0, c, op_da(OP_##NAME, a, b, w));                                               \
        ct[x.b] += TE_PART(OP_##NAME, 1, c, op_db(OP_##NAME, a, b, w));                                               \
        break;                                                                                                        \
    }                                                                                                                 \
    case OP_##NAME | TE_RIGHT: ct[x.a] += TE_PART(OP_##NAME, 0, c, op_da(OP_##NAME, v[x.a], v[x.b], v[i])); break;    \
    case OP_##NAME | TE_LEFT: ct[x.b] += TE_PART(OP_##NAME, 1, c, op_db(OP_##NAME, v[x.a], v[x.b], v[i])); break;

/* Cotangents of the instructions from `last` down to `first`, in the order in which the tape is resolved. */
TE_HOT static void te_replay_back(const uint8_t *op, const te_operands *operands, const double *v, double *ct, uint32_t last,
                           uint32_t first) {
    for (uint32_t i = last; i >= first; i--) {
        const double c = ct[i];
        const te_operands x = operands[i];
        if (c == 0.0) continue;
        ct[i] = 0.0; /* the array can be used again */
        switch (op[i]) {
        TE_OPS(TE_BACK_ONE, TE_BACK_TWO)
        }
    }
}

#endif
