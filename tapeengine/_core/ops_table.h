/* Generated from table.py by generate_ops.py. */
#ifndef TAPEENGINE_OPS_TABLE_H
#define TAPEENGINE_OPS_TABLE_H
#include "functions.h"
enum {
    OP_ADD = 0,
    OP_SUB = 1,
    OP_MUL = 2,
    OP_DIV = 3,
    OP_NEG = 4,
    OP_ABS = 5,
    OP_SIGN = 6,
    OP_RINT = 7,
    OP_MOD = 8,
    OP_FMOD = 9,
    OP_REMAINDER = 10,
    OP_COPYSIGN = 11,
    OP_MAXIMUM = 12,
    OP_MINIMUM = 13,
    OP_CHOOSE = 14,
    OP_POW = 15,
    OP_POWDA = 16,
    OP_POWDAA = 17,
    OP_POWDB = 18,
    OP_PROD0 = 19,
    OP_LOG0 = 20,
    OP_SQRT = 21,
    OP_CBRT = 22,
    OP_HYPOT = 23,
    OP_COSINE = 24,
    OP_EXP = 25,
    OP_EXP2 = 26,
    OP_EXPM1 = 27,
    OP_LOG = 28,
    OP_LOG1P = 29,
    OP_LOG2 = 30,
    OP_LOG10 = 31,
    OP_LOGADDEXP = 32,
    OP_GAP = 33,
    OP_SIN = 34,
    OP_COS = 35,
    OP_TAN = 36,
    OP_ASIN = 37,
    OP_ACOS = 38,
    OP_ATAN = 39,
    OP_ATAN2 = 40,
    OP_TURN = 41,
    OP_SINH = 42,
    OP_COSH = 43,
    OP_TANH = 44,
    OP_ASINH = 45,
    OP_ACOSH = 46,
    OP_ATANH = 47,
    OP_REST2 = 48,
    OP_LORENTZ = 49,
    OP_SECH2 = 50,
    OP_ERF = 51,
    OP_ERFC = 52,
    OP_GAUSS = 53,
    OP_GAMMA = 54,
    OP_LGAMMA = 55,
    OP_POLYGAMMA = 56,
    OP_EXPIT = 57,
    OP_DEXPIT = 58,
    OP_SOFTPLUS = 59,
    OP_RELU = 60,
    OP_STEP = 61,
    OP_XLOGY = 62,
    OP_XDIVY = 63,
    OP_COUNT = 64
};
static const char *const op_names[] = {"add", "sub", "mul", "div", "neg", "abs", "sign", "rint", "mod", "fmod", "remainder", "copysign", "maximum", "minimum", "choose", "pow", "powda", "powdaa", "powdb", "prod0", "log0", "sqrt", "cbrt", "hypot", "cosine", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "gap", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "turn", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "rest2", "lorentz", "sech2", "erf", "erfc", "gauss", "gamma", "lgamma", "polygamma", "expit", "dexpit", "softplus", "relu", "step", "xlogy", "xdivy"};
static const unsigned char op_arities[] = {2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2, 2};
static const unsigned char op_discrete[] = {0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0};
static const unsigned char op_selects[] = {0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 2, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0};

static inline double op_add(double a, double b) { return (a + b); }
static inline double op_sub(double a, double b) { return (a - b); }
static inline double op_mul(double a, double b) { return (a * b); }
static inline double op_div(double a, double b) { return (a / b); }
static inline double op_neg(double a) { return (-a); }
static inline double op_abs(double a) { return fabs(a); }
static inline double op_sign(double a) { return base_sign(a); }
static inline double op_rint(double a) { return rint(a); }
static inline double op_mod(double a, double b) { return base_mod(a, b); }
static inline double op_fmod(double a, double b) { return fmod(a, b); }
static inline double op_remainder(double a, double b) { return base_remainder(a, b); }
static inline double op_copysign(double a, double b) { return copysign(a, b); }
static inline double op_maximum(double a, double b) { return base_maximum(a, b); }
static inline double op_minimum(double a, double b) { return base_minimum(a, b); }
static inline double op_choose(double a, double b) { return base_choose(a, b); }
static inline double op_pow(double a, double b) { return pow(a, b); }
static inline double op_powda(double a, double b) { return base_powda(a, b); }
static inline double op_powdaa(double a, double b) { return base_powdaa(a, b); }
static inline double op_powdb(double a, double b) { return base_powdb(a, b); }
static inline double op_prod0(double a, double b) { return base_prod0(a, b); }
static inline double op_log0(double a) { return base_log0(a); }
static inline double op_sqrt(double a) { return sqrt(a); }
static inline double op_cbrt(double a) { return cbrt(a); }
static inline double op_hypot(double a, double b) { return hypot(a, b); }
static inline double op_cosine(double a, double b) { return base_cosine(a, b); }
static inline double op_exp(double a) { return exp(a); }
static inline double op_exp2(double a) { return exp2(a); }
static inline double op_expm1(double a) { return expm1(a); }
static inline double op_log(double a) { return log(a); }
static inline double op_log1p(double a) { return log1p(a); }
static inline double op_log2(double a) { return log2(a); }
static inline double op_log10(double a) { return log10(a); }
static inline double op_logaddexp(double a, double b) { return base_logaddexp(a, b); }
static inline double op_gap(double a, double b) { return base_gap(a, b); }
static inline double op_sin(double a) { return sin(a); }
static inline double op_cos(double a) { return cos(a); }
static inline double op_tan(double a) { return tan(a); }
static inline double op_asin(double a) { return asin(a); }
static inline double op_acos(double a) { return acos(a); }
static inline double op_atan(double a) { return atan(a); }
static inline double op_atan2(double a, double b) { return atan2(a, b); }
static inline double op_turn(double a, double b) { return (base_cosine(b, a) / hypot(a, b)); }
static inline double op_sinh(double a) { return sinh(a); }
static inline double op_cosh(double a) { return cosh(a); }
static inline double op_tanh(double a) { return tanh(a); }
static inline double op_asinh(double a) { return asinh(a); }
static inline double op_acosh(double a) { return acosh(a); }
static inline double op_atanh(double a) { return atanh(a); }
static inline double op_rest2(double a) { return ((1.0 - a) * (1.0 + a)); }
static inline double op_lorentz(double a) { return (1.0 / (1.0 + (a * a))); }
static inline double op_sech2(double a, double b) { return base_sech2(a, b); }
static inline double op_erf(double a) { return erf(a); }
static inline double op_erfc(double a) { return erfc(a); }
static inline double op_gauss(double a) { return exp((-(a * a))); }
static inline double op_gamma(double a) { return tgamma(a); }
static inline double op_lgamma(double a) { return lgamma(a); }
static inline double op_polygamma(double a, double b) { return base_polygamma(a, b); }
static inline double op_expit(double a) { return base_expit(a); }
static inline double op_dexpit(double a) { return (base_expit(a) * base_expit((-a))); }
static inline double op_softplus(double a) { return base_softplus(a); }
static inline double op_relu(double a) { return base_relu(a); }
static inline double op_step(double a) { return base_step(a); }
static inline double op_xlogy(double a, double b) { return base_xlogy(a, b); }
static inline double op_xdivy(double a, double b) { return base_xdivy(a, b); }
#define TE_OPS(ONE, TWO) TWO(ADD, op_add) TWO(SUB, op_sub) TWO(MUL, op_mul) TWO(DIV, op_div) ONE(NEG, op_neg) ONE(ABS, op_abs) ONE(SIGN, op_sign) ONE(RINT, op_rint) TWO(MOD, op_mod) TWO(FMOD, op_fmod) TWO(REMAINDER, op_remainder) TWO(COPYSIGN, op_copysign) TWO(MAXIMUM, op_maximum) TWO(MINIMUM, op_minimum) TWO(CHOOSE, op_choose) TWO(POW, op_pow) TWO(POWDA, op_powda) TWO(POWDAA, op_powdaa) TWO(POWDB, op_powdb) TWO(PROD0, op_prod0) ONE(LOG0, op_log0) ONE(SQRT, op_sqrt) ONE(CBRT, op_cbrt) TWO(HYPOT, op_hypot) TWO(COSINE, op_cosine) ONE(EXP, op_exp) ONE(EXP2, op_exp2) ONE(EXPM1, op_expm1) ONE(LOG, op_log) ONE(LOG1P, op_log1p) ONE(LOG2, op_log2) ONE(LOG10, op_log10) TWO(LOGADDEXP, op_logaddexp) TWO(GAP, op_gap) ONE(SIN, op_sin) ONE(COS, op_cos) ONE(TAN, op_tan) ONE(ASIN, op_asin) ONE(ACOS, op_acos) ONE(ATAN, op_atan) TWO(ATAN2, op_atan2) TWO(TURN, op_turn) ONE(SINH, op_sinh) ONE(COSH, op_cosh) ONE(TANH, op_tanh) ONE(ASINH, op_asinh) ONE(ACOSH, op_acosh) ONE(ATANH, op_atanh) ONE(REST2, op_rest2) ONE(LORENTZ, op_lorentz) TWO(SECH2, op_sech2) ONE(ERF, op_erf) ONE(ERFC, op_erfc) ONE(GAUSS, op_gauss) ONE(GAMMA, op_gamma) ONE(LGAMMA, op_lgamma) TWO(POLYGAMMA, op_polygamma) ONE(EXPIT, op_expit) ONE(DEXPIT, op_dexpit) ONE(SOFTPLUS, op_softplus) ONE(RELU, op_relu) ONE(STEP, op_step) TWO(XLOGY, op_xlogy) TWO(XDIVY, op_xdivy)

static inline double op_value(int op, double a, double b) {
    switch (op) {
    case OP_ADD: return op_add(a, b);
    case OP_SUB: return op_sub(a, b);
    case OP_MUL: return op_mul(a, b);
    case OP_DIV: return op_div(a, b);
    case OP_NEG: return op_neg(a);
    case OP_ABS: return op_abs(a);
    case OP_SIGN: return op_sign(a);
    case OP_RINT: return op_rint(a);
    case OP_MOD: return op_mod(a, b);
    case OP_FMOD: return op_fmod(a, b);
    case OP_REMAINDER: return op_remainder(a, b);
    case OP_COPYSIGN: return op_copysign(a, b);
    case OP_MAXIMUM: return op_maximum(a, b);
    case OP_MINIMUM: return op_minimum(a, b);
    case OP_CHOOSE: return op_choose(a, b);
    case OP_POW: return op_pow(a, b);
    case OP_POWDA: return op_powda(a, b);
    case OP_POWDAA: return op_powdaa(a, b);
    case OP_POWDB: return op_powdb(a, b);
    case OP_PROD0: return op_prod0(a, b);
    case OP_LOG0: return op_log0(a);
    case OP_SQRT: return op_sqrt(a);
    case OP_CBRT: return op_cbrt(a);
    case OP_HYPOT: return op_hypot(a, b);
    case OP_COSINE: return op_cosine(a, b);
    case OP_EXP: return op_exp(a);
    case OP_EXP2: return op_exp2(a);
    case OP_EXPM1: return op_expm1(a);
    case OP_LOG: return op_log(a);
    case OP_LOG1P: return op_log1p(a);
    case OP_LOG2: return op_log2(a);
    case OP_LOG10: return op_log10(a);
    case OP_LOGADDEXP: return op_logaddexp(a, b);
    case OP_GAP: return op_gap(a, b);
    case OP_SIN: return op_sin(a);
    case OP_COS: return op_cos(a);
    case OP_TAN: return op_tan(a);
    case OP_ASIN: return op_asin(a);
    case OP_ACOS: return op_acos(a);
    case OP_ATAN: return op_atan(a);
    case OP_ATAN2: return op_atan2(a, b);
    case OP_TURN: return op_turn(a, b);
    case OP_SINH: return op_sinh(a);
    case OP_COSH: return op_cosh(a);
    case OP_TANH: return op_tanh(a);
    case OP_ASINH: return op_asinh(a);
    case OP_ACOSH: return op_acosh(a);
    case OP_ATANH: return op_atanh(a);
    case OP_REST2: return op_rest2(a);
    case OP_LORENTZ: return op_lorentz(a);
    case OP_SECH2: return op_sech2(a, b);
    case OP_ERF: return op_erf(a);
    case OP_ERFC: return op_erfc(a);
    case OP_GAUSS: return op_gauss(a);
    case OP_GAMMA: return op_gamma(a);
    case OP_LGAMMA: return op_lgamma(a);
    case OP_POLYGAMMA: return op_polygamma(a, b);
    case OP_EXPIT: return op_expit(a);
    case OP_DEXPIT: return op_dexpit(a);
    case OP_SOFTPLUS: return op_softplus(a);
    case OP_RELU: return op_relu(a);
    case OP_STEP: return op_step(a);
    case OP_XLOGY: return op_xlogy(a, b);
    case OP_XDIVY: return op_xdivy(a, b);
    }
    return 0.0;
}

static inline double op_da(int op, double a, double b, double v) {
    switch (op) {
    case OP_ADD: return 1.0;
    case OP_SUB: return 1.0;
    case OP_MUL: return b;
    case OP_DIV: return (1.0 / b);
    case OP_NEG: return (-1.0);
    case OP_ABS: return op_sign(a);
    case OP_SIGN: return 0.0;
    case OP_RINT: return 0.0;
    case OP_MOD: return 1.0;
    case OP_FMOD: return 1.0;
    case OP_REMAINDER: return 1.0;
    case OP_COPYSIGN: return (op_sign(a) * op_copysign(1.0, b));
    case OP_MAXIMUM: return op_choose(a, b);
    case OP_MINIMUM: return op_choose(b, a);
    case OP_CHOOSE: return 0.0;
    case OP_POW: return op_powda(a, b);
    case OP_POWDA: return op_powdaa(a, b);
    case OP_POWDAA: return op_prod0(b, op_powdaa(a, (b - 1.0)));
    case OP_POWDB: return (op_pow(a, (b - 1.0)) + (op_powda(a, b) * op_log0(a)));
    case OP_PROD0: return b;
    case OP_LOG0: return (1.0 / a);
    case OP_SQRT: return (0.5 / v);
    case OP_CBRT: return (1.0 / ((3.0 * v) * v));
    case OP_HYPOT: return op_cosine(a, b);
    case OP_COSINE: return (op_cosine(b, a) * op_xdivy(op_cosine(b, a), op_hypot(a, b)));
    case OP_EXP: return v;
    case OP_EXP2: return (0.6931471805599453 * v);
    case OP_EXPM1: return op_exp(a);
    case OP_LOG: return (1.0 / a);
    case OP_LOG1P: return (1.0 / (1.0 + a));
    case OP_LOG2: return (1.4426950408889634 / a);
    case OP_LOG10: return (0.4342944819032518 / a);
    case OP_LOGADDEXP: return op_expit(op_gap(a, b));
    case OP_GAP: return 1.0;
    case OP_SIN: return op_cos(a);
    case OP_COS: return (-op_sin(a));
    case OP_TAN: return (1.0 + (v * v));
    case OP_ASIN: return (1.0 / op_sqrt(op_rest2(a)));
    case OP_ACOS: return ((-1.0) / op_sqrt(op_rest2(a)));
    case OP_ATAN: return op_lorentz(a);
    case OP_ATAN2: return op_turn(a, b);
    case OP_TURN: return (((-2.0) * (op_cosine(a, b) / op_hypot(a, b))) * (op_cosine(b, a) / op_hypot(a, b)));
    case OP_SINH: return op_cosh(a);
    case OP_COSH: return op_sinh(a);
    case OP_TANH: return op_sech2(a, v);
    case OP_ASINH: return (1.0 / op_hypot(a, 1.0));
    case OP_ACOSH: return (1.0 / (op_sqrt((a - 1.0)) * op_sqrt((a + 1.0))));
    case OP_ATANH: return (1.0 / op_rest2(a));
    case OP_REST2: return ((-2.0) * a);
    case OP_LORENTZ: return ((-2.0) * op_prod0(v, op_prod0(v, a)));
    case OP_SECH2: return ((-2.0) * (b * v));
    case OP_ERF: return (1.1283791670955126 * op_gauss(a));
    case OP_ERFC: return ((-1.1283791670955126) * op_gauss(a));
    case OP_GAUSS: return ((-2.0) * op_prod0(v, a));
    case OP_GAMMA: return (v * op_polygamma(0.0, a));
    case OP_LGAMMA: return op_polygamma(0.0, a);
    case OP_POLYGAMMA: return 0.0;
    case OP_EXPIT: return op_dexpit(a);
    case OP_DEXPIT: return (-(v * op_tanh((0.5 * a))));
    case OP_SOFTPLUS: return op_expit(a);
    case OP_RELU: return op_step(a);
    case OP_STEP: return 0.0;
    case OP_XLOGY: return op_log(b);
    case OP_XDIVY: return (1.0 / b);
    }
    return 0.0;
}

static inline double op_db(int op, double a, double b, double v) {
    switch (op) {
    case OP_ADD: return 1.0;
    case OP_SUB: return (-1.0);
    case OP_MUL: return a;
    case OP_DIV: return (-(v / b));
    case OP_MOD: return (-op_rint(((a / b) - (v / b))));
    case OP_FMOD: return (-op_rint(((a / b) - (v / b))));
    case OP_REMAINDER: return (-op_rint(((a / b) - (v / b))));
    case OP_COPYSIGN: return 0.0;
    case OP_MAXIMUM: return op_choose(b, a);
    case OP_MINIMUM: return op_choose(a, b);
    case OP_CHOOSE: return 0.0;
    case OP_POW: return op_powdb(a, b);
    case OP_POWDA: return (op_pow(a, (b - 1.0)) + (op_powda(a, b) * op_log0(a)));
    case OP_POWDAA: return ((((2.0 * b) - 1.0) * op_pow(a, (b - 2.0))) + (op_powdaa(a, b) * op_log0(a)));
    case OP_POWDB: return (op_powdb(a, b) * op_log0(a));
    case OP_PROD0: return a;
    case OP_HYPOT: return op_cosine(b, a);
    case OP_COSINE: return (-(op_cosine(a, b) * op_xdivy(op_cosine(b, a), op_hypot(a, b))));
    case OP_LOGADDEXP: return op_expit(op_gap(b, a));
    case OP_GAP: return (-1.0);
    case OP_ATAN2: return (-op_turn(b, a));
    case OP_TURN: return (((op_cosine(a, b) - op_cosine(b, a)) / op_hypot(a, b)) * ((op_cosine(a, b) + op_cosine(b, a)) / op_hypot(a, b)));
    case OP_SECH2: return 0.0;
    case OP_POLYGAMMA: return op_polygamma((a + 1.0), b);
    case OP_XLOGY: return op_xdivy(a, b);
    case OP_XDIVY: return (-op_xdivy(op_xdivy(a, b), b));
    }
    return 0.0;
}

#endif
