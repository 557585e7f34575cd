/* Base functions of the opcode table that math.h lacks; tapeengine/reference/functions.py has the same in Python. */
#ifndef TAPEENGINE_FUNCTIONS_H
#define TAPEENGINE_FUNCTIONS_H

#include <math.h>

static inline double base_sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a == 0 ? 0.0 : a; }
static inline double base_step(double a) { return a > 0 ? 1.0 : 0.0; }
static inline double base_relu(double a) { return a < 0 ? 0.0 : a; }
static inline double base_choose(double a, double b) { return a > b || a != a ? 1.0 : a == b ? 0.5 : 0.0; }
static inline double base_maximum(double a, double b) { return a >= b || a != a ? a : b; }
static inline double base_minimum(double a, double b) { return a <= b || a != a ? a : b; }
static inline double base_log0(double a) { return a == 0 ? 0.0 : log(a); }
static inline double base_prod0(double a, double b) { return a == 0 ? 0.0 : a * b; }
static inline double base_xdivy(double a, double b) { return a == 0 ? 0.0 : a / b; }
static inline double base_xlogy(double a, double b) { return a == 0 ? 0.0 : a * log(b); }

/* b = 2 is by far the most frequent power, and needs no call. */
static inline double base_powda(double a, double b) {
    if (b == 2) return 2.0 * a;
    if (b == 0) return 0.0;
    double p = pow(a, b - 1.0);
    return p == 0 ? 0.0 : b * p;
}
/* b (b - 1) a^(b-2), computed from a^(b-1) where a^(b-2) overflows or underflows and the product does not. */
static inline double base_powdaa(double a, double b) {
    if (b == 2) return 2.0;
    if (b == 0 || b == 1) return 0.0;
    double p = pow(a, b - 2.0);
    return isfinite(p) || a == 0 ? b * (b - 1.0) * p : b * pow(a, b - 1.0) * ((b - 1.0) / a);
}
static inline double base_powdb(double a, double b) { return a == 0 ? 0.0 : pow(a, b) * log(a); }

static inline double base_gap(double a, double b) { return a == b ? 0.0 : a - b; }

/* a / hypot(a, b), 0 at the origin, and its limit along a ray where the hypotenuse is infinite. */
static inline double base_cosine(double a, double b) {
    double h = hypot(a, b);
    if (h == INFINITY && isinf(a)) return copysign(isinf(b) ? 0.7071067811865476 : 1.0, a);
    return a == 0 ? 0.0 : a / h;
}

/* 1 / cosh(a)^2 for b = tanh(a): 1 - b^2 cancels where b is rounded to nearly 1. */
static inline double base_sech2(double a, double b) {
    if (b * b < 0.9) return 1.0 - b * b;
    double e = exp(-2.0 * fabs(a));
    return 4.0 * e / ((1.0 + e) * (1.0 + e));
}

/* Python's % on floats: the result has the sign of b. */
static inline double base_mod(double a, double b) {
    double m = fmod(a, b);
    if (m) return (b < 0) != (m < 0) ? m + b : m;
    return copysign(0.0, b);
}

static inline double base_remainder(double a, double b) { return remainder(a, b); }

static inline double base_expit(double a) {
    if (a >= 0) return 1.0 / (1.0 + exp(-a));
    double e = exp(a);
    return e / (1.0 + e);
}

static inline double base_softplus(double a) { return a > 0 ? a + log1p(exp(-a)) : log1p(exp(a)); }

static inline double base_logaddexp(double a, double b) {
    if (a == b) return a + 0.6931471805599453;
    double d = a - b;
    if (d > 0) return a + log1p(exp(-d));
    if (d <= 0) return b + log1p(exp(d));
    return d;
}

/* The polygamma function of order n at x > 0 by upward recurrence to x >= 20 and the asymptotic series (Abramowitz and
   Stegun 6.4.11); at x < 0, n = 0 and n = 1 by reflection, higher orders by the recurrence alone down from there. */
static inline double base_digamma_tail(double x) {
    double w = 1.0 / (x * x);
    double s = w * (1.0 / 12 - w * (1.0 / 120 - w * (1.0 / 252 - w * (1.0 / 240 - w * (1.0 / 132 - w * (691.0 / 32760
               - w * (1.0 / 12)))))));
    return log(x) - 0.5 / x - s;
}

static inline double base_polygamma_tail(int n, double x) {
    static const double bernoulli[10] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6,
                                         -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
    double rising = 1.0; /* (n - 1)! x^-n, then (2k + n - 1)! / (2k)! x^-(2k + n) */
    for (int i = 1; i < n; i++) rising *= i;
    for (int i = 0; i < n; i++) rising /= x;
    double s = rising + rising * n / (2.0 * x);
    for (int k = 1; k <= 10; k++) {
        rising *= (2.0 * k + n - 2) * (2.0 * k + n - 1) / ((2.0 * k - 1) * (2.0 * k)) / (x * x);
        s += bernoulli[k - 1] * rising;
    }
    return n % 2 ? s : -s;
}

static inline double base_polygamma(double order, double x) {
    int n = (int)order;
    if (!(x > 0) && floor(x) == x) return n % 2 ? INFINITY : NAN;
    if (x < -1000.0 && n > 1) return NAN;
    if (x < 0 && n == 0) return base_polygamma(0, 1.0 - x) - 3.141592653589793 / tan(3.141592653589793 * (x - rint(x)));
    if (x < 0 && n == 1) {
        double s = 3.141592653589793 / sin(3.141592653589793 * (x - rint(x)));
        return s * s - base_polygamma(1, 1.0 - x);
    }
    double factorial = 1.0, sum = 0.0;
    for (int i = 2; i <= n; i++) factorial *= i;
    if (n % 2 == 0) factorial = -factorial; /* (-1)^(n+1) n! */
    double limit = 20.0 + n;
    for (; x < limit; x += 1.0) {
        double term = factorial;
        for (int i = 0; i <= n; i++) term /= x;
        sum += term;
    }
    return sum + (n == 0 ? base_digamma_tail(x) : base_polygamma_tail(n, x));
}

#endif
