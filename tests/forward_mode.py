"""Forward mode for tests: dual numbers with a tangent, written by hand and independent of the engine's opcode table.

The module stands in for `tapeengine.math`: its functions take floats and `Forward` numbers. A `Forward` may hold
`Forward` numbers, so that second derivatives come out as well.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

from scipy.special import digamma

inf, nan, pi = math.inf, math.nan, math.pi
floor, ceil, trunc = math.floor, math.ceil, math.trunc


def plain(x: Any) -> Any:
    while isinstance(x, Forward):
        x = x.value
    return x


def tangent(x: Any) -> Any:
    return x.tangent if isinstance(x, Forward) else 0.0


def value(x: Any) -> Any:
    return x.value if isinstance(x, Forward) else x


def times(t: Any, derivative: Callable[[], Any]) -> Any:
    """derivative * t, and zero where t is zero: a linear map sends zero to zero."""
    return 0.0 if isinstance(t, float) and t == 0 else derivative() * t


class Forward:
    """A number and its tangent."""

    def __init__(self, value: Any, tangent: Any) -> None:
        self.value = value
        self.tangent = tangent

    def __add__(self, y: Any) -> Any:
        return Forward(self.value + value(y), self.tangent + tangent(y)) if is_real(y) else NotImplemented

    def __radd__(self, x: Any) -> Any:
        return Forward(x + self.value, self.tangent)

    def __sub__(self, y: Any) -> Any:
        return Forward(self.value - value(y), self.tangent - tangent(y))

    def __rsub__(self, x: Any) -> Any:
        return Forward(x - self.value, -self.tangent)

    def __mul__(self, y: Any) -> Any:
        a, b = self.value, value(y)
        return Forward(a * b, times(self.tangent, lambda: b) + times(tangent(y), lambda: a))

    def __rmul__(self, x: Any) -> Any:
        return Forward(x * self.value, times(self.tangent, lambda: x))

    def __truediv__(self, y: Any) -> Any:
        a, b = self.value, value(y)
        return Forward(a / b, times(self.tangent, lambda: 1.0 / b) + times(tangent(y), lambda: -a / (b * b)))

    def __rtruediv__(self, x: Any) -> Any:
        return Forward(x, 0.0) / self

    def __mod__(self, y: Any) -> Any:
        a, b = self.value, value(y)
        return Forward(a % b, self.tangent + times(tangent(y), lambda: -float(plain(a) // plain(b))))

    def __rmod__(self, x: Any) -> Any:
        return Forward(x, 0.0) % self

    def __pow__(self, y: Any) -> Any:
        a, b = self.value, value(y)
        by_base = times(self.tangent, lambda: b * a ** (b - 1) if plain(b) != 0 else 0.0)
        by_exponent = times(tangent(y), lambda: a**b * log(a) if plain(a) != 0 else 0.0)
        return Forward(a**b, by_base + by_exponent)

    def __rpow__(self, x: Any) -> Any:
        return Forward(x, 0.0) ** self

    def __floordiv__(self, y: Any) -> Any:
        return plain(self) // plain(y)

    def __rfloordiv__(self, x: Any) -> Any:
        return x // plain(self)

    def __divmod__(self, y: Any) -> Any:
        return self // y, self % y

    def __rdivmod__(self, x: Any) -> Any:
        return x // self, x % self

    def __neg__(self) -> Any:
        return Forward(-self.value, -self.tangent)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return Forward(abs(self.value), times(self.tangent, lambda: sign(plain(self))))

    def __lt__(self, y: Any) -> bool:
        return bool(plain(self) < plain(y))

    def __le__(self, y: Any) -> bool:
        return bool(plain(self) <= plain(y))

    def __gt__(self, y: Any) -> bool:
        return bool(plain(self) > plain(y))

    def __ge__(self, y: Any) -> bool:
        return bool(plain(self) >= plain(y))

    def __eq__(self, y: object) -> bool:
        return bool(plain(self) == plain(y))

    def __hash__(self) -> int:
        return hash(plain(self))

    def __bool__(self) -> bool:
        return bool(plain(self))

    def __int__(self) -> int:
        return int(plain(self))

    def __round__(self, digits: int | None = None) -> Any:
        return round(plain(self), digits)

    def __floor__(self) -> int:
        return math.floor(plain(self))

    def __ceil__(self) -> int:
        return math.ceil(plain(self))

    def __trunc__(self) -> int:
        return math.trunc(plain(self))

    def __repr__(self) -> str:
        return f"{self.value!r} + {self.tangent!r} d"


def is_real(x: Any) -> bool:
    return isinstance(x, (int, float, Forward)) or hasattr(x, "__float__")


def sign(x: float) -> float:
    return (x > 0) - (x < 0) + 0.0


def function(name: str, derivative: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of one real with the derivative f'(x)."""

    def apply(x: Any) -> Any:
        if not isinstance(x, Forward):
            return getattr(math, name)(x)
        return Forward(apply(x.value), times(x.tangent, lambda: derivative(x.value)))

    return apply


sin = function("sin", lambda x: cos(x))
cos = function("cos", lambda x: -sin(x))
tan = function("tan", lambda x: 1.0 / (cos(x) * cos(x)))
asin = function("asin", lambda x: 1.0 / sqrt(1.0 - x * x))
acos = function("acos", lambda x: -1.0 / sqrt(1.0 - x * x))
atan = function("atan", lambda x: 1.0 / (1.0 + x * x))
sinh = function("sinh", lambda x: cosh(x))
cosh = function("cosh", lambda x: sinh(x))
tanh = function("tanh", lambda x: 1.0 / (cosh(x) * cosh(x)))
asinh = function("asinh", lambda x: 1.0 / sqrt(x * x + 1.0))
acosh = function("acosh", lambda x: 1.0 / sqrt(x * x - 1.0))
atanh = function("atanh", lambda x: 1.0 / (1.0 - x * x))
exp = function("exp", lambda x: exp(x))
exp2 = function("exp2", lambda x: math.log(2) * exp2(x))
expm1 = function("expm1", lambda x: exp(x))
log1p = function("log1p", lambda x: 1.0 / (1.0 + x))
log2 = function("log2", lambda x: 1.0 / (math.log(2) * x))
log10 = function("log10", lambda x: 1.0 / (math.log(10) * x))
sqrt = function("sqrt", lambda x: 0.5 / sqrt(x))
cbrt = function("cbrt", lambda x: cbrt(x) / (3.0 * x))
fabs = function("fabs", lambda x: sign(plain(x)))
erf = function("erf", lambda x: 2.0 / math.sqrt(pi) * exp(-x * x))
erfc = function("erfc", lambda x: -2.0 / math.sqrt(pi) * exp(-x * x))
natural_log = function("log", lambda x: 1.0 / x)


def log(x: Any, base: Any = None) -> Any:
    if base is None:
        return natural_log(x)
    if isinstance(x, Forward) or isinstance(base, Forward):
        return natural_log(x) / natural_log(base)
    return math.log(x, base)


def gamma(x: Any) -> Any:
    if isinstance(x, Forward):
        return Forward(math.gamma(plain(x)), times(x.tangent, lambda: math.gamma(plain(x)) * digamma(plain(x))))
    return math.gamma(x)


def lgamma(x: Any) -> Any:
    if isinstance(x, Forward):
        return Forward(math.lgamma(plain(x)), times(x.tangent, lambda: digamma(plain(x))))
    return math.lgamma(x)


def expit(x: Any) -> Any:
    if plain(x) >= 0:
        return 1.0 / (1.0 + exp(-x))
    return exp(x) / (1.0 + exp(x))


def softplus(x: Any) -> Any:
    return x + log1p(exp(-x)) if plain(x) > 0 else log1p(exp(x))


def relu(x: Any) -> Any:
    return x if plain(x) > 0 else 0.0


def xlogy(x: Any, y: Any) -> Any:
    if plain(x) == 0:
        return x * log(plain(y)) if plain(y) > 0 else 0.0
    return x * log(y)


def logaddexp(x: Any, y: Any) -> Any:
    top = max(plain(x), plain(y))
    return top + log(exp(x - top) + exp(y - top))


def maximum(x: Any, y: Any) -> Any:
    return x if plain(x) > plain(y) else y if plain(x) < plain(y) else 0.5 * (x + y)


def minimum(x: Any, y: Any) -> Any:
    return -maximum(-x, -y)


def atan2(y: Any, x: Any) -> Any:
    a, b = value(y), value(x)
    if not (isinstance(y, Forward) or isinstance(x, Forward)):
        return math.atan2(y, x)
    square = a * a + b * b
    return Forward(atan2(a, b), times(tangent(y), lambda: b / square) - times(tangent(x), lambda: a / square))


def fmod(x: Any, y: Any) -> Any:
    if not (isinstance(x, Forward) or isinstance(y, Forward)):
        return math.fmod(x, y)
    return x - math.trunc(plain(x) / plain(y)) * y


def remainder(x: Any, y: Any) -> Any:
    if not (isinstance(x, Forward) or isinstance(y, Forward)):
        return math.remainder(x, y)
    return x - round(plain(x) / plain(y)) * y


def copysign(x: Any, y: Any) -> Any:
    same = math.copysign(1.0, plain(x)) == math.copysign(1.0, plain(y))
    return x if same else -x


def pow(x: Any, y: Any) -> Any:
    return x**y if isinstance(x, Forward) or isinstance(y, Forward) else math.pow(x, y)


def degrees(x: Any) -> Any:
    return x * 180.0 / pi


def radians(x: Any) -> Any:
    return x * pi / 180.0


def ldexp(x: Any, i: int) -> Any:
    return x * 2.0**i


def modf(x: Any) -> Any:
    whole = float(math.trunc(plain(x)))
    return x - whole, whole


def frexp(x: Any) -> Any:
    exponent = math.frexp(plain(x))[1]
    return x / 2.0**exponent, exponent


def hypot(*xs: Any) -> Any:
    total = fsum(x * x for x in xs)
    return sqrt(total) if plain(total) else 0.0


def dist(p: Iterable[Any], q: Iterable[Any]) -> Any:
    return hypot(*[a - b for a, b in zip(p, q, strict=True)])


def fsum(xs: Iterable[Any]) -> Any:
    return sum(xs, 0.0)


def prod(xs: Iterable[Any], *, start: Any = 1) -> Any:
    for x in xs:
        start = start * x
    return start


def sumprod(p: Iterable[Any], q: Iterable[Any]) -> Any:
    return fsum(a * b for a, b in zip(p, q, strict=True))


def fma(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def isfinite(x: Any) -> bool:
    return math.isfinite(plain(x))


def isnan(x: Any) -> bool:
    return math.isnan(plain(x))
