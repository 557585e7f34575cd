/* Generated from table.py by generate_ops.py. */
#ifndef TAPEENGINE_OPS_RECORDED_H
#define TAPEENGINE_OPS_RECORDED_H
#include "ops_table.h"
#include "te_scalar.h"
static inline te_scalar te_constant(double value) { te_scalar s = {value, 0}; return s; }
static te_scalar te_unary(void *h, int op, te_scalar a);
static te_scalar te_binary(void *h, int op, te_scalar a, te_scalar b);
static te_scalar te_record_da(void *h, int op, te_scalar a, te_scalar b, te_scalar v) {
    switch (op) {
    case OP_ADD: return te_constant(1.0);
    case OP_SUB: return te_constant(1.0);
    case OP_MUL: return b;
    case OP_DIV: return te_binary(h, OP_DIV, te_constant(1.0), b);
    case OP_NEG: return te_constant(-1.0);
    case OP_ABS: return te_unary(h, OP_SIGN, a);
    case OP_SIGN: return te_constant(0.0);
    case OP_RINT: return te_constant(0.0);
    case OP_MOD: return te_constant(1.0);
    case OP_FMOD: return te_constant(1.0);
    case OP_REMAINDER: return te_constant(1.0);
    case OP_COPYSIGN: return te_binary(h, OP_MUL, te_unary(h, OP_SIGN, a), te_binary(h, OP_COPYSIGN, te_constant(1.0), b));
    case OP_MAXIMUM: return te_binary(h, OP_CHOOSE, a, b);
    case OP_MINIMUM: return te_binary(h, OP_CHOOSE, b, a);
    case OP_CHOOSE: return te_constant(0.0);
    case OP_POW: return te_binary(h, OP_POWDA, a, b);
    case OP_POWDA: return te_binary(h, OP_POWDAA, a, b);
    case OP_POWDAA: return te_binary(h, OP_PROD0, b, te_binary(h, OP_POWDAA, a, te_binary(h, OP_SUB, b, te_constant(1.0))));
    case OP_POWDB: return te_binary(h, OP_ADD, te_binary(h, OP_POW, a, te_binary(h, OP_SUB, b, te_constant(1.0))), te_binary(h, OP_MUL, te_binary(h, OP_POWDA, a, b), te_unary(h, OP_LOG0, a)));
    case OP_PROD0: return b;
    case OP_LOG0: return te_binary(h, OP_DIV, te_constant(1.0), a);
    case OP_SQRT: return te_binary(h, OP_DIV, te_constant(0.5), v);
    case OP_CBRT: return te_binary(h, OP_DIV, te_constant(1.0), te_binary(h, OP_MUL, te_binary(h, OP_MUL, te_constant(3.0), v), v));
    case OP_HYPOT: return te_binary(h, OP_COSINE, a, b);
    case OP_COSINE: return te_binary(h, OP_MUL, te_binary(h, OP_COSINE, b, a), te_binary(h, OP_XDIVY, te_binary(h, OP_COSINE, b, a), te_binary(h, OP_HYPOT, a, b)));
    case OP_EXP: return v;
    case OP_EXP2: return te_binary(h, OP_MUL, te_constant(0.6931471805599453), v);
    case OP_EXPM1: return te_unary(h, OP_EXP, a);
    case OP_LOG: return te_binary(h, OP_DIV, te_constant(1.0), a);
    case OP_LOG1P: return te_binary(h, OP_DIV, te_constant(1.0), te_binary(h, OP_ADD, te_constant(1.0), a));
    case OP_LOG2: return te_binary(h, OP_DIV, te_constant(1.4426950408889634), a);
    case OP_LOG10: return te_binary(h, OP_DIV, te_constant(0.4342944819032518), a);
    case OP_LOGADDEXP: return te_unary(h, OP_EXPIT, te_binary(h, OP_GAP, a, b));
    case OP_GAP: return te_constant(1.0);
    case OP_SIN: return te_unary(h, OP_COS, a);
    case OP_COS: return te_unary(h, OP_NEG, te_unary(h, OP_SIN, a));
    case OP_TAN: return te_binary(h, OP_ADD, te_constant(1.0), te_binary(h, OP_MUL, v, v));
    case OP_ASIN: return te_binary(h, OP_DIV, te_constant(1.0), te_unary(h, OP_SQRT, te_unary(h, OP_REST2, a)));
    case OP_ACOS: return te_binary(h, OP_DIV, te_constant(-1.0), te_unary(h, OP_SQRT, te_unary(h, OP_REST2, a)));
    case OP_ATAN: return te_unary(h, OP_LORENTZ, a);
    case OP_ATAN2: return te_binary(h, OP_TURN, a, b);
    case OP_TURN: return te_binary(h, OP_MUL, te_binary(h, OP_MUL, te_constant(-2.0), te_binary(h, OP_DIV, te_binary(h, OP_COSINE, a, b), te_binary(h, OP_HYPOT, a, b))), te_binary(h, OP_DIV, te_binary(h, OP_COSINE, b, a), te_binary(h, OP_HYPOT, a, b)));
    case OP_SINH: return te_unary(h, OP_COSH, a);
    case OP_COSH: return te_unary(h, OP_SINH, a);
    case OP_TANH: return te_binary(h, OP_SECH2, a, v);
    case OP_ASINH: return te_binary(h, OP_DIV, te_constant(1.0), te_binary(h, OP_HYPOT, a, te_constant(1.0)));
    case OP_ACOSH: return te_binary(h, OP_DIV, te_constant(1.0), te_binary(h, OP_MUL, te_unary(h, OP_SQRT, te_binary(h, OP_SUB, a, te_constant(1.0))), te_unary(h, OP_SQRT, te_binary(h, OP_ADD, a, te_constant(1.0)))));
    case OP_ATANH: return te_binary(h, OP_DIV, te_constant(1.0), te_unary(h, OP_REST2, a));
    case OP_REST2: return te_binary(h, OP_MUL, te_constant(-2.0), a);
    case OP_LORENTZ: return te_binary(h, OP_MUL, te_constant(-2.0), te_binary(h, OP_PROD0, v, te_binary(h, OP_PROD0, v, a)));
    case OP_SECH2: return te_binary(h, OP_MUL, te_constant(-2.0), te_binary(h, OP_MUL, b, v));
    case OP_ERF: return te_binary(h, OP_MUL, te_constant(1.1283791670955126), te_unary(h, OP_GAUSS, a));
    case OP_ERFC: return te_binary(h, OP_MUL, te_constant(-1.1283791670955126), te_unary(h, OP_GAUSS, a));
    case OP_GAUSS: return te_binary(h, OP_MUL, te_constant(-2.0), te_binary(h, OP_PROD0, v, a));
    case OP_GAMMA: return te_binary(h, OP_MUL, v, te_binary(h, OP_POLYGAMMA, te_constant(0.0), a));
    case OP_LGAMMA: return te_binary(h, OP_POLYGAMMA, te_constant(0.0), a);
    case OP_POLYGAMMA: return te_constant(0.0);
    case OP_EXPIT: return te_unary(h, OP_DEXPIT, a);
    case OP_DEXPIT: return te_unary(h, OP_NEG, te_binary(h, OP_MUL, v, te_unary(h, OP_TANH, te_binary(h, OP_MUL, te_constant(0.5), a))));
    case OP_SOFTPLUS: return te_unary(h, OP_EXPIT, a);
    case OP_RELU: return te_unary(h, OP_STEP, a);
    case OP_STEP: return te_constant(0.0);
    case OP_XLOGY: return te_unary(h, OP_LOG, b);
    case OP_XDIVY: return te_binary(h, OP_DIV, te_constant(1.0), b);
    }
    return te_constant(0.0);
}

static te_scalar te_record_db(void *h, int op, te_scalar a, te_scalar b, te_scalar v) {
    switch (op) {
    case OP_ADD: return te_constant(1.0);
    case OP_SUB: return te_constant(-1.0);
    case OP_MUL: return a;
    case OP_DIV: return te_unary(h, OP_NEG, te_binary(h, OP_DIV, v, b));
    case OP_MOD: return te_unary(h, OP_NEG, te_unary(h, OP_RINT, te_binary(h, OP_SUB, te_binary(h, OP_DIV, a, b), te_binary(h, OP_DIV, v, b))));
    case OP_FMOD: return te_unary(h, OP_NEG, te_unary(h, OP_RINT, te_binary(h, OP_SUB, te_binary(h, OP_DIV, a, b), te_binary(h, OP_DIV, v, b))));
    case OP_REMAINDER: return te_unary(h, OP_NEG, te_unary(h, OP_RINT, te_binary(h, OP_SUB, te_binary(h, OP_DIV, a, b), te_binary(h, OP_DIV, v, b))));
    case OP_COPYSIGN: return te_constant(0.0);
    case OP_MAXIMUM: return te_binary(h, OP_CHOOSE, b, a);
    case OP_MINIMUM: return te_binary(h, OP_CHOOSE, a, b);
    case OP_CHOOSE: return te_constant(0.0);
    case OP_POW: return te_binary(h, OP_POWDB, a, b);
    case OP_POWDA: return te_binary(h, OP_ADD, te_binary(h, OP_POW, a, te_binary(h, OP_SUB, b, te_constant(1.0))), te_binary(h, OP_MUL, te_binary(h, OP_POWDA, a, b), te_unary(h, OP_LOG0, a)));
    case OP_POWDAA: return te_binary(h, OP_ADD, te_binary(h, OP_MUL, te_binary(h, OP_SUB, te_binary(h, OP_MUL, te_constant(2.0), b), te_constant(1.0)), te_binary(h, OP_POW, a, te_binary(h, OP_SUB, b, te_constant(2.0)))), te_binary(h, OP_MUL, te_binary(h, OP_POWDAA, a, b), te_unary(h, OP_LOG0, a)));
    case OP_POWDB: return te_binary(h, OP_MUL, te_binary(h, OP_POWDB, a, b), te_unary(h, OP_LOG0, a));
    case OP_PROD0: return a;
    case OP_HYPOT: return te_binary(h, OP_COSINE, b, a);
    case OP_COSINE: return te_unary(h, OP_NEG, te_binary(h, OP_MUL, te_binary(h, OP_COSINE, a, b), te_binary(h, OP_XDIVY, te_binary(h, OP_COSINE, b, a), te_binary(h, OP_HYPOT, a, b))));
    case OP_LOGADDEXP: return te_unary(h, OP_EXPIT, te_binary(h, OP_GAP, b, a));
    case OP_GAP: return te_constant(-1.0);
    case OP_ATAN2: return te_unary(h, OP_NEG, te_binary(h, OP_TURN, b, a));
    case OP_TURN: return te_binary(h, OP_MUL, te_binary(h, OP_DIV, te_binary(h, OP_SUB, te_binary(h, OP_COSINE, a, b), te_binary(h, OP_COSINE, b, a)), te_binary(h, OP_HYPOT, a, b)), te_binary(h, OP_DIV, te_binary(h, OP_ADD, te_binary(h, OP_COSINE, a, b), te_binary(h, OP_COSINE, b, a)), te_binary(h, OP_HYPOT, a, b)));
    case OP_SECH2: return te_constant(0.0);
    case OP_POLYGAMMA: return te_binary(h, OP_POLYGAMMA, te_binary(h, OP_ADD, a, te_constant(1.0)), b);
    case OP_XLOGY: return te_binary(h, OP_XDIVY, a, b);
    case OP_XDIVY: return te_unary(h, OP_NEG, te_binary(h, OP_XDIVY, te_binary(h, OP_XDIVY, a, b), b));
    }
    return te_constant(0.0);
}

#endif
