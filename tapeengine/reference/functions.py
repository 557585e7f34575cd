"""The functions that the opcode table calls, on floats: those of C's `math.h` and of `_core/tape/functions.h`.

Python's `math` uses the same library as C, but raises where C returns an infinity or a NaN. `in_c` restores C's result,
so that values and partials have the same bits as in the core.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

Real = Callable[..., float]


def in_c(function: Real, at_error: Real) -> Real:
    """A function of `math` that returns `at_error` of its arguments instead of raising."""

    def total(*args: float) -> float:
        try:
            return function(*args)
        except (ValueError, OverflowError):
            return at_error(*args)

    return total


def constant(value: float) -> Real:
    """A function that ignores its arguments."""
    return lambda *args: value


def signed_infinity(a: float) -> float:
    """An infinity with the sign of a."""
    return math.copysign(math.inf, a)


def below(bound: float) -> Real:
    """Minus infinity at a bound, NaN below it, as C's logarithms return."""
    return lambda a: -math.inf if a == bound else math.nan


def divide(a: float, b: float) -> float:
    """Divide a by b as C does, where Python would raise ZeroDivisionError."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def power_at_error(a: float, b: float) -> float:
    """C's pow where Python's raises: at a pole, on overflow, or for a negative base."""
    odd = b == math.floor(b) and math.fmod(b, 2.0) != 0
    if a < 0 and b != math.floor(b):
        return math.nan
    return math.copysign(math.inf, a) if odd else math.inf


def rint(a: float) -> float:
    """The nearest whole number; the even one at a tie."""
    return math.copysign(float(round(a)), a) if math.isfinite(a) else a


def hypot(a: float, b: float) -> float:
    """C's hypot, which `abs` of a complex number calls; `math.hypot` rounds differently."""
    try:
        return abs(complex(a, b))
    except OverflowError:
        return math.inf


def sign(a: float) -> float:
    """1, -1 or 0; NaN for a NaN."""
    return 1.0 if a > 0 else -1.0 if a < 0 else 0.0 if a == 0 else a


def choose(a: float, b: float) -> float:
    """1 if a is larger, 0.5 at a tie, otherwise 0."""
    return 1.0 if a > b or a != a else 0.5 if a == b else 0.0


def log0(a: float) -> float:
    """The logarithm, with 0 at 0."""
    return 0.0 if a == 0 else FUNCTIONS["log"](a)


def prod0(a: float, b: float) -> float:
    """Multiply two numbers; 0 where a is 0, whatever b is."""
    return 0.0 if a == 0 else a * b


def xdivy(a: float, b: float) -> float:
    """Divide a by b; 0 where a is 0."""
    return 0.0 if a == 0 else divide(a, b)


def xlogy(a: float, b: float) -> float:
    """Multiply a by log(b); 0 where a is 0."""
    return 0.0 if a == 0 else a * FUNCTIONS["log"](b)


def powda(a: float, b: float) -> float:
    """The partial of a**b with respect to a."""
    if b == 2:
        return 2.0 * a
    p = FUNCTIONS["pow"](a, b - 1.0) if b else 0.0
    return 0.0 if p == 0 else b * p


def powdaa(a: float, b: float) -> float:
    """The second partial of a**b with respect to a."""
    if b in (0, 1, 2):
        return 2.0 if b == 2 else 0.0
    p = FUNCTIONS["pow"](a, b - 2.0)
    if math.isfinite(p) or a == 0:
        return b * (b - 1.0) * p
    return b * FUNCTIONS["pow"](a, b - 1.0) * ((b - 1.0) / a)


def powdb(a: float, b: float) -> float:
    """The partial of a**b with respect to b."""
    return 0.0 if a == 0 else FUNCTIONS["pow"](a, b) * FUNCTIONS["log"](a)


def gap(a: float, b: float) -> float:
    """Subtract b from a; 0 where both are the same infinity."""
    return 0.0 if a == b else a - b


def cosine(a: float, b: float) -> float:
    """Divide a by hypot(a, b); 0 at the origin, and the limit along a ray where the hypotenuse is infinite."""
    h = hypot(a, b)
    if h == math.inf and math.isinf(a):
        return math.copysign(0.7071067811865476 if math.isinf(b) else 1.0, a)
    return 0.0 if a == 0 else a / h


def sech2(a: float, b: float) -> float:
    """1 / cosh(a)**2 for b = tanh(a)."""
    if b * b < 0.9:
        return 1.0 - b * b
    e = FUNCTIONS["exp"](-2.0 * abs(a))
    return 4.0 * e / ((1.0 + e) * (1.0 + e))


def mod(a: float, b: float) -> float:
    """Python's % on floats: the result has the sign of b."""
    m = FUNCTIONS["fmod"](a, b)
    if m:
        return m + b if (b < 0) != (m < 0) else m
    return math.copysign(0.0, b)


def expit(a: float) -> float:
    """1 / (1 + exp(-a)), without overflow."""
    if a >= 0:
        return 1.0 / (1.0 + FUNCTIONS["exp"](-a))
    e = FUNCTIONS["exp"](a)
    return e / (1.0 + e)


def softplus(a: float) -> float:
    """log(1 + exp(a)), without overflow."""
    exp, log1p = FUNCTIONS["exp"], FUNCTIONS["log1p"]
    return a + log1p(exp(-a)) if a > 0 else log1p(exp(a))


def logaddexp(a: float, b: float) -> float:
    """log(exp(a) + exp(b)), without overflow."""
    exp, log1p = FUNCTIONS["exp"], FUNCTIONS["log1p"]
    if a == b:
        return a + 0.6931471805599453
    d = a - b
    if d > 0:
        return a + log1p(exp(-d))
    return b + log1p(exp(d)) if d <= 0 else d


def digamma_tail(x: float) -> float:
    """The asymptotic series of digamma at large x (Abramowitz and Stegun 6.3.18)."""
    w = 1.0 / (x * x)
    s = 691.0 / 32760 - w * (1.0 / 12)
    for coefficient in (1.0 / 132, 1.0 / 240, 1.0 / 252, 1.0 / 120, 1.0 / 12):
        s = coefficient - w * s
    return math.log(x) - 0.5 / x - w * s


BERNOULLI = (1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510, 43867.0 / 798)


def polygamma_tail(n: int, x: float) -> float:
    """The asymptotic series of polygamma of order n at large x (Abramowitz and Stegun 6.4.11)."""
    rising = 1.0
    for i in range(1, n):
        rising *= i
    for _ in range(n):
        rising /= x
    s = rising + rising * n / (2.0 * x)
    for k, bernoulli in enumerate((*BERNOULLI, -174611.0 / 330), start=1):
        rising *= (2.0 * k + n - 2) * (2.0 * k + n - 1) / ((2.0 * k - 1) * (2.0 * k)) / (x * x)
        s += bernoulli * rising
    return s if n % 2 else -s


def polygamma_left(n: int, x: float) -> float | None:
    """Values for x that is not positive: poles, the reflection of orders 0 and 1; None where the recurrence applies."""
    if not x > 0 and not math.isnan(x) and (math.isinf(x) or math.floor(x) == x):
        return math.inf if n % 2 else math.nan
    if x < -1000.0 and n > 1:
        return math.nan
    if x < 0 and n == 0:
        return polygamma(0.0, 1.0 - x) - math.pi / math.tan(math.pi * (x - rint(x)))
    if x < 0 and n == 1:
        s = math.pi / math.sin(math.pi * (x - rint(x)))
        return s * s - polygamma(1.0, 1.0 - x)
    return None


def polygamma(order: float, x: float) -> float:
    """The derivative of order `order` of digamma, by upward recurrence and the asymptotic series."""
    n = int(order)
    left = polygamma_left(n, x)
    if left is not None:
        return left
    factorial, total = 1.0, 0.0
    for i in range(2, n + 1):
        factorial *= i
    if n % 2 == 0:
        factorial = -factorial
    while x < 20.0 + n:
        term = factorial
        for _ in range(n + 1):
            term /= x
        total += term
        x += 1.0
    return total + (digamma_tail(x) if n == 0 else polygamma_tail(n, x))


#: The functions that a value expression of the opcode table may call.
FUNCTIONS: Mapping[str, Real] = MappingProxyType(
    {
        **{
            name: in_c(getattr(math, name), constant(math.nan))
            for name in ("sin", "cos", "tan", "asin", "acos", "atan")
        },
        **{name: in_c(getattr(math, name), constant(math.nan)) for name in ("atan2", "acosh", "sqrt", "fmod")},
        **{name: in_c(getattr(math, name), constant(math.inf)) for name in ("exp", "exp2", "expm1", "cosh", "lgamma")},
        **{name: in_c(getattr(math, name), below(0.0)) for name in ("log", "log2", "log10")},
        **{name: getattr(math, name) for name in ("fabs", "copysign", "cbrt", "tanh", "asinh", "erf", "erfc")},
        "log1p": in_c(math.log1p, below(-1.0)),
        "sinh": in_c(math.sinh, signed_infinity),
        "atanh": in_c(math.atanh, lambda a: signed_infinity(a) if abs(a) == 1 else math.nan),
        "tgamma": in_c(math.gamma, lambda a: signed_infinity(a) if a == 0 or a > 0 else math.nan),
        "pow": in_c(math.pow, power_at_error),
        "rint": rint,
        "hypot": hypot,
        "base_sign": sign,
        "base_step": lambda a: 1.0 if a > 0 else 0.0,
        "base_relu": lambda a: 0.0 if a < 0 else a,
        "base_choose": choose,
        "base_cosine": cosine,
        "base_gap": gap,
        "base_maximum": lambda a, b: a if a >= b or a != a else b,
        "base_minimum": lambda a, b: a if a <= b or a != a else b,
        "base_log0": log0,
        "base_prod0": prod0,
        "base_xdivy": xdivy,
        "base_xlogy": xlogy,
        "base_powda": powda,
        "base_powdaa": powdaa,
        "base_powdb": powdb,
        "base_mod": mod,
        "base_remainder": in_c(math.remainder, constant(math.nan)),
        "base_expit": expit,
        "base_sech2": sech2,
        "base_softplus": softplus,
        "base_logaddexp": logaddexp,
        "base_polygamma": polygamma,
    }
)
