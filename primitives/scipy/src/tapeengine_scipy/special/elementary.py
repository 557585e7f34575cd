"""Powers, exponentials and robust losses, and the confluent hypergeometric functions in their derivatives."""

import math
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise, of_orders, ufunc
from tapeengine_scipy._values import ratio, real
from tapeengine_scipy.special.elliptic import hyp2f1
from tapeengine_scipy.special.entropy import log_ratio

exp2: Primitive = ufunc("exp2", {"x": lambda out: math.log(2.0) * out}, {"x": (-3.0, 3.0)}, "2^x; d/dx = log 2 itself")
exp10: Primitive = ufunc(
    "exp10", {"x": lambda out: math.log(10.0) * out}, {"x": (-3.0, 3.0)}, "10^x; d/dx = log 10 itself"
)
expm1: Primitive = ufunc("expm1", {"x": lambda x: np.exp(x)}, {"x": (-3.0, 3.0)}, "exp(x) - 1; d/dx = exp(x)")
log1p: Primitive = ufunc(
    "log1p", {"x": lambda x: np.divide(1.0, 1.0 + x)}, {"x": (-0.8, 3.0)}, "log(1 + x); d/dx = 1/(1 + x)"
)
cbrt: Primitive = ufunc(
    "cbrt", {"x": lambda out: np.divide(1.0 / 3.0, out * out)}, {"x": (0.2, 3.0)}, "x^(1/3); d/dx = x^(-2/3)/3"
)
_DEGREE = math.pi / 180.0
sindg: Primitive = ufunc("sindg", {"x": lambda x: _DEGREE * cosdg(x)}, {"x": (-180.0, 180.0)}, "the sine of degrees")
cosdg: Primitive = ufunc(
    "cosdg",
    {"x": lambda x: -_DEGREE * sindg(x)},
    {"x": (-180.0, 180.0)},
    "the cosine of degrees",
)
tandg: Primitive = ufunc(
    "tandg", {"x": lambda out: _DEGREE * (1.0 + out * out)}, {"x": (-60.0, 60.0)}, "the tangent of degrees"
)
cotdg: Primitive = ufunc(
    "cotdg", {"x": lambda out: -_DEGREE * (1.0 + out * out)}, {"x": (30.0, 150.0)}, "the cotangent of degrees"
)
cosm1: Primitive = ufunc("cosm1", {"x": lambda x: -np.sin(x)}, {"x": (-3.0, 3.0)}, "cos(x) - 1; d/dx = -sin(x)")
erfi: Primitive = ufunc(
    "erfi",
    {"x": lambda x: 2.0 / math.sqrt(math.pi) * np.exp(x * x)},
    {"x": (-2.0, 2.0)},
    "-i erf(i x); d/dx = 2/sqrt(pi) exp(x^2)",
)


def _omega_slope(out: Any) -> Any:
    """w/(1 + w); for large w in the form whose derivative does not cancel."""
    large = np.real(out) > 1.0
    return np.where(large, 1.0 - 1.0 / (1.0 + np.where(large, out, 1.0)), out / (1.0 + out))[()]


wrightomega: Primitive = ufunc(
    "wrightomega", {"x": _omega_slope}, {"x": (-3.0, 3.0)}, "w with w + log w = x; d/dx = w/(1 + w)"
)
hyp0f1: Primitive = ufunc(
    "hyp0f1",
    {"z": lambda v, z: hyp0f1(v + 1.0, z) / v},
    {"v": (0.5, 2.0), "z": (-2.0, 2.0)},
    "0F1(; v; z); d/dz = 0F1(; v+1; z)/v",
    "v",
)
hyperu: Primitive = ufunc(
    "hyperu",
    {"x": lambda a, b, x: -a * hyperu(a + 1, b + 1, x)},
    {"a": (0.3, 1.5), "b": (0.3, 1.5), "x": (0.3, 3.0)},
    "Tricomi's U(a, b, x); d/dx = -a U(a+1, b+1, x)",
    "a b",
)


@of_orders(
    "scipy.special.confluent",
    (-3.0, 3.0),
    "Kummer's 1F1(n; n+1; x) for the order n; d/dx = n/(n+1) 1F1(n+1; n+2; x)",
    2,
    lambda order: order / (order + 1.0),
)
def confluent(x: Any, *, order: int) -> Any:
    """The integral of n s^(n-1) exp(x s) over [0, 1] for the order n; SciPy's hyp1f1 adds |x| terms for large x."""
    x = real(x)
    far = ~(numpy.abs(x) < 30.0)
    value = scipy.special.hyp1f1(order, order + 1.0, numpy.where(far, 0.0, x))
    with numpy.errstate(all="ignore"):
        tail = numpy.expm1(x) / x
        for k in range(1, order):
            tail = numpy.exp(x) / x - k * tail / x
        return numpy.where(far, numpy.where(numpy.isposinf(x), x, order * tail), value)[()]


exprel: Primitive = ufunc(
    "exprel", {"x": lambda x: confluent(x, order=2) / 2.0}, {"x": (-3.0, 3.0)}, "(exp(x) - 1)/x; d/dx = 1F1(2; 3; x)/2"
)


def _power_slope(log_x: Any, power: Any) -> Any:
    finite = np.isfinite(log_x)
    inside = np.where(finite, log_x, 0.0)
    at_zero = np.divide(1.0, np.where(finite, 1.0, power * power))
    return np.where(finite, inside * inside * confluent(power * inside, order=2) / 2.0, at_zero)


power_slope: Primitive = elementwise(
    "scipy.special.power_slope",
    _power_slope,
    {
        "log_x": lambda log_x, power: np.where(np.isfinite(log_x), log_x, 0.0) * np.exp(power * log_x),
        "power": lambda log_x, power: log_x**3 * confluent(power * log_x, order=3) / 3.0,
    },
    {"log_x": (-2.0, 2.0), "power": (-1.0, 2.0)},
    "the derivative of boxcox in p, from log x; in log x, the factors of the product cancel",
)
boxcox: Primitive = ufunc(
    "boxcox",
    {"x": lambda x, lmbda: np.power(x, lmbda - 1.0), "lmbda": lambda x, lmbda: power_slope(np.log(x), lmbda)},
    {"x": (0.2, 3.0), "lmbda": (-1.0, 2.0)},
    "(x^p - 1)/p, log x for p = 0; d/dx = x^(p-1)",
)
boxcox1p: Primitive = ufunc(
    "boxcox1p",
    {
        "x": lambda x, lmbda: np.exp((lmbda - 1.0) * np.log1p(x)),
        "lmbda": lambda x, lmbda: power_slope(np.log1p(x), lmbda),
    },
    {"x": (-0.8, 3.0), "lmbda": (-1.0, 2.0)},
    "boxcox(1 + x, p); d/dx = (1 + x)^(p-1)",
)


def _root_slope(value: Any, y: Any, power: Any) -> Any:
    """The derivative of (1 + p y)^(1/p) in p: -y^2/2 2F1(2, 2; 3; -p y) times the value."""
    return -value * y * y / 2.0 * hyp2f1(2.0, 2.0, 3.0, -power * y)


inv_boxcox: Primitive = ufunc(
    "inv_boxcox",
    {
        "x": lambda x, lmbda, out: out / (1.0 + lmbda * x),
        "lmbda": lambda x, lmbda, out: _root_slope(out, x, lmbda),
    },
    {"x": (0.1, 1.0), "lmbda": (-0.8, 2.0)},
    "(1 + p x)^(1/p); d/dx = itself/(1 + p x)",
)
inv_boxcox1p: Primitive = ufunc(
    "inv_boxcox1p",
    {
        "x": lambda x, lmbda, out: (1.0 + out) / (1.0 + lmbda * x),
        "lmbda": lambda x, lmbda, out: _root_slope(1.0 + out, x, lmbda),
    },
    {"x": (0.1, 1.0), "lmbda": (-0.8, 2.0)},
    "inv_boxcox(x, p) - 1",
)
kl_div: Primitive = ufunc(
    "kl_div",
    {"x": lambda x, y: log_ratio(x, y), "y": lambda x, y: 1.0 - np.divide(x, y)},
    {"x": (0.1, 3.0), "y": (0.1, 3.0)},
    "x log(x/y) - x + y; d/dx = log(x/y), d/dy = 1 - x/y",
)
huber: Primitive = ufunc(
    "huber",
    {
        "delta": lambda delta, r: np.maximum(np.abs(r) - delta, 0.0),
        "r": lambda delta, r: np.clip(r, -delta, delta),
    },
    {"delta": (0.5, 1.0), "r": (-3.0, 3.0)},
    "r^2/2 up to delta, then linear; d/dr = r clipped to delta, d/ddelta = max(|r| - delta, 0)",
)


def _parts(delta: Any, r: Any) -> tuple[Any, Any, Any]:
    """With h = hypot(delta, r): delta/h, r/h and r/(h + delta); all 0 where both numbers are 0."""
    length = np.hypot(delta, r)
    return ratio(delta, length), ratio(r, length), ratio(r, length + delta)


def _cubed_sine(delta: Any, r: Any) -> Any:
    return _parts(delta, r)[1] ** 3


def _width(delta: Any, r: Any) -> Any:
    _, sine, tangent = _parts(delta, r)
    return np.where(np.less(delta, 0.0), numpy.nan, r * sine * tangent**2)


def _bend(delta: Any, r: Any) -> Any:
    cosine, sine, tangent = _parts(delta, r)
    return -((sine * tangent) ** 2) * (2.0 + cosine)


huber_slope: Primitive = elementwise(
    "scipy.special.huber_slope",
    lambda delta, r: r * _parts(delta, r)[0],
    {"delta": _cubed_sine, "r": lambda delta, r: _parts(delta, r)[0] ** 3},
    {"delta": (0.5, 2.0), "r": (-3.0, 3.0)},
    "r delta/hypot(delta, r), the derivative of pseudo_huber in r",
)
huber_width: Primitive = elementwise(
    "scipy.special.huber_width",
    _width,
    {"delta": _bend, "r": _cubed_sine},
    {"delta": (0.5, 2.0), "r": (-3.0, 3.0)},
    "(hypot(delta, r) - delta)^2/hypot(delta, r), the derivative of pseudo_huber in delta",
)
pseudo_huber: Primitive = ufunc(
    "pseudo_huber",
    {"delta": lambda delta, r: huber_width(delta, r), "r": lambda delta, r: huber_slope(delta, r)},
    {"delta": (0.5, 2.0), "r": (-3.0, 3.0)},
    "delta (h - delta) with h = hypot(delta, r); d/dr = r delta/h, d/ddelta = (h - delta)^2/h",
)
