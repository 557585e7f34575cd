"""`tapeengine.math` for duals of the reference: values from Python's `math`, partials from the opcode table."""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ceil, comb, e, factorial, floor, gcd, inf, isqrt, lcm, nan, perm, pi, tau, trunc  # noqa: F401
from typing import TYPE_CHECKING, Any

from .._core.tape.table import FUNCTIONS
from . import ops
from .dual import Dual, as_float, operate, value_of

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Any]:
        """The functions generated from the opcode table."""


def any_dual(xs: Iterable[Any]) -> bool:
    """Whether any of the numbers is a dual."""
    return any(isinstance(x, Dual) for x in xs)


def recorded(op: str, function: Callable[..., float]) -> Callable[..., Any]:
    """A function of `math` that records a call with dual arguments as one operation."""

    def apply(*args: Any) -> Any:
        value = function(*[value_of(x) for x in args])
        return operate(op, *args, value=value) if any_dual(args) else value

    apply.__name__, apply.__doc__ = op, f"`{op}` on floats and on duals."
    return apply


def by_table(op: str) -> Callable[..., Any]:
    """A function that `math` lacks; its value comes from the row of the opcode table."""
    return recorded(op, lambda *args: ops.value(op, *[real(x) for x in args]))


def real(x: Any) -> float:
    """A real number as a float."""
    number = as_float(x)
    if number is None:
        raise TypeError(f"must be real number, not {type(x).__name__}")
    return number


for _op in FUNCTIONS:
    _name, _ = _op.signature
    globals()[_name] = recorded(_op.name, getattr(math, _name)) if hasattr(math, _name) else by_table(_op.name)


def digamma(x: Any) -> Any:
    """Derivative of lgamma at x."""
    return by_table("polygamma")(0.0, x)


def replaced(d: Any, value: float) -> Any:
    """A dual with the same derivative and the value of the whole operation."""
    return operate("add", d, value - d._value, value=value) if isinstance(d, Dual) else value


def log(x: Any, base: Any = None) -> Any:
    """Logarithm of x, natural or to the given base."""
    if base is None:
        return recorded("log", math.log)(x)
    value = math.log(value_of(x), value_of(base))
    return replaced(log(x) / log(base), value) if any_dual((x, base)) else value


def degrees(x: Any) -> Any:
    """Radians to degrees."""
    return x * (180.0 / math.pi) if isinstance(x, Dual) else math.degrees(x)


def radians(x: Any) -> Any:
    """Degrees to radians."""
    return x * (math.pi / 180.0) if isinstance(x, Dual) else math.radians(x)


def scaled(x: Dual, exponent: int, value: float) -> Dual:
    """Record x * 2**exponent, whose value is known."""
    return operate("mul", x, math.ldexp(1.0, max(-1074, min(exponent, 1023))), value=value)


def ldexp(x: Any, i: int) -> Any:
    """Multiply x by 2**i."""
    value = math.ldexp(value_of(x), i)
    return scaled(x, i, value) if isinstance(x, Dual) else value


def modf(x: Any) -> tuple[Any, float]:
    """The fractional part, which is differentiated, and the whole part, which is not."""
    fraction, whole = math.modf(value_of(x))
    return (operate("fmod", x, 1.0, value=fraction) if isinstance(x, Dual) else fraction), whole


def frexp(x: Any) -> tuple[Any, int]:
    """The mantissa, which is differentiated, and the exponent of x."""
    mantissa, exponent = math.frexp(value_of(x))
    return (scaled(x, -exponent, mantissa) if isinstance(x, Dual) else mantissa), exponent


def nextafter(x: Any, y: Any) -> Any:
    """The next float from x towards y; its derivative with respect to x is 1."""
    return replaced(x, math.nextafter(value_of(x), value_of(y)))


def of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `math` with a discrete result, called with the values of duals."""

    def apply(*args: Any, **options: Any) -> Any:
        return function(*map(value_of, args), **options)

    apply.__name__, apply.__doc__ = function.__name__, function.__doc__
    return apply


DISCRETE: tuple[Callable[..., Any], ...] = math.ulp, math.isclose, math.isfinite, math.isinf, math.isnan
ulp, isclose, isfinite, isinf, isnan = map(of_values, DISCRETE)


def chain(op: str, xs: list[Any], value: float) -> Any:
    """x0 op x1 op ...: the plain operands first, then one record for each dual; the last one gets the given value."""
    plain = [float(x) for x in xs if not isinstance(x, Dual)]
    duals = [x for x in xs if isinstance(x, Dual)]
    total: Any = duals.pop(0) if len(duals) > 1 and not plain else 0.0
    for number in plain:
        total = ops.value(op, total, number)
    for x in duals[:-1]:
        total = operate(op, total, x)
    return operate(op, total, duals[-1], value=value)


def length(xs: list[Any], value: float) -> Any:
    """The length of a vector; zeros come last, since a length of zeros has no second derivatives."""
    zeros = next((k for k, x in enumerate(xs) if value_of(x)), 0) if len(xs) > 2 else 0
    return chain("hypot", xs[zeros:] + xs[:zeros], value)


def hypot(*coordinates: Any) -> Any:
    """Length of a vector, n-ary; its derivative at the origin is 0."""
    value = math.hypot(*[value_of(x) for x in coordinates])
    return length(list(coordinates), value) if any_dual(coordinates) else value


def dist(p: Iterable[Any], q: Iterable[Any]) -> Any:
    """Distance between two points of the same dimension."""
    p, q = list(p), list(q)
    value = math.dist([value_of(x) for x in p], [value_of(x) for x in q])
    return length([a - b for a, b in zip(p, q, strict=True)], value) if any_dual(p + q) else value


def fsum(seq: Iterable[Any]) -> Any:
    """Sum without loss of precision."""
    xs = list(seq)
    value = math.fsum(value_of(x) for x in xs)
    return chain("add", xs, value) if any_dual(xs) else value


def prod(iterable: Iterable[Any], *, start: Any = 1) -> Any:
    """Product of all numbers, from the left."""
    result = start
    for x in iterable:
        result = result * x
    return result


def sumprod(p: Iterable[Any], q: Iterable[Any]) -> Any:
    """Sum of the products of corresponding numbers, rounded once."""
    p, q = list(p), list(q)
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    value = exact_sumprod([value_of(x) for x in p], [value_of(x) for x in q])
    return chain("add", [a * b for a, b in zip(p, q, strict=True)], value) if any_dual(p + q) else value


def exact_sumprod(p: list[Any], q: list[Any]) -> Any:
    """The sum of products of plain numbers; integers stay integers."""
    if hasattr(math, "sumprod"):
        return math.sumprod(p, q)
    if all(isinstance(x, int) for x in p + q):
        return sum(a * b for a, b in zip(p, q, strict=True))
    products = [float(a) * float(b) for a, b in zip(p, q, strict=True)]
    if not all(math.isfinite(x) for x in products):
        return math.fsum(products)
    return float(sum(Fraction(a) * Fraction(b) for a, b in zip(p, q, strict=True)))


def fma(x: Any, y: Any, z: Any) -> Any:
    """Compute x * y + z, rounded once."""
    value = exact_fma(value_of(x), value_of(y), value_of(z))
    return replaced(x * y + z, value) if any_dual((x, y, z)) else value


def exact_fma(x: Any, y: Any, z: Any) -> float:
    """Compute x * y + z for plain numbers, rounded once."""
    if hasattr(math, "fma"):
        return float(math.fma(x, y, z))
    rough = float(x) * float(y) + float(z)
    if not math.isfinite(rough):
        return rough
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    return float(exact) if exact else rough
