"""Bessel functions of real order.

Derivatives in the argument use C_v' = (C_{v-1} - C_{v+1})/2 and related formulas, which also hold at 0. The order of kv
is differentiated; the orders of jv, yv, iv, ive and yn are not, and a traced order is refused.

For the scaled functions exp(-x) I_v(x), which vary slowly at large x, these formulas cancel there: the derivatives are
taken from Hankel's asymptotic series (DLMF 10.40.1), term by term.
"""

from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise, ufunc
from tapeengine_scipy._values import is_complex, real
from tapeengine_scipy.special.macdonald import macdonald

_TERMS = 60


def _scaled_tail(v: Any, x: Any, *, order: int) -> Any:
    """The derivative of exp(-x) I_v(x) of a given order, for x >= 50 and x >= v^2/16, from terms c x^(-1/2 - k)."""
    v, x = numpy.broadcast_arrays(real(v), real(x))
    with numpy.errstate(all="ignore"):
        weight, total, last = numpy.ones_like(x), numpy.zeros_like(x), numpy.full_like(x, numpy.inf)
        for k in range(_TERMS):
            slope = numpy.prod([-(0.5 + k + j) for j in range(order)])
            term = weight * slope
            growing = (numpy.abs(term) > last) & (k > numpy.abs(v))
            total, last = total + numpy.where(growing, 0.0, term), numpy.where(growing, 0.0, numpy.abs(term))
            weight = weight * -(4 * v * v - (2 * k + 1) ** 2) / (8 * (k + 1)) / x
        return (total * x**-order / numpy.sqrt(2 * numpy.pi * x))[()]


scaled_tail: Primitive = elementwise(
    "scipy.special.ive_tail",
    _scaled_tail,
    {"x": lambda v, x, order: scaled_tail(v, x, order=order + 1)},
    {"v": (0.0, 1.0, 2.5), "x": (60.0, 90.0)},
    "derivatives of exp(-x) I_v(x) for large x; v is not differentiated",
    static={"order": 1},
    refused={"v": "the order v of ive"},
)


def _scaled_slope(v: Any, x: Any, sign: Any, near: Any) -> Any:
    """The derivative of a scaled function, by `near` where that is accurate; `sign` is the value's sign for x < 0."""
    far = np.abs(x) >= np.maximum(50.0, v * v / 16.0)
    if not np.any(far):
        return near(x)
    tail = scaled_tail(v, np.where(far, np.abs(x), np.maximum(60.0, v * v)), order=1)
    return np.where(far, np.where(x < 0, -sign * tail, tail), near(np.where(far, 1.0, x)))


_ARGUMENT = (0.3, 6.0)
_SIGNED = (-4.0, 4.0)

j0: Primitive = ufunc("j0", {"x": lambda x: -j1(x)}, {"x": _SIGNED}, "d/dx = -j1(x)")
j1: Primitive = ufunc("j1", {"x": lambda x: (j0(x) - jv(2.0, x)) / 2}, {"x": _SIGNED}, "d/dx = (j0(x) - jv(2, x))/2")
y0: Primitive = ufunc("y0", {"x": lambda x: -y1(x)}, {"x": _ARGUMENT}, "d/dx = -y1(x)")
y1: Primitive = ufunc("y1", {"x": lambda x: (y0(x) - yv(2.0, x)) / 2}, {"x": _ARGUMENT}, "d/dx = (y0(x) - yv(2, x))/2")
i0: Primitive = ufunc("i0", {"x": lambda x: i1(x)}, {"x": _SIGNED}, "d/dx = i1(x)")
i1: Primitive = ufunc("i1", {"x": lambda x: (i0(x) + iv(2.0, x)) / 2}, {"x": _SIGNED}, "d/dx = (i0(x) + iv(2, x))/2")
i0e: Primitive = ufunc(
    "i0e",
    {"x": lambda x: _scaled_slope(0.0, x, 1.0, lambda x: i1e(x) - np.sign(x) * i0e(x))},
    {"x": _SIGNED},
    "exp(-|x|) i0(x)",
)
i1e: Primitive = ufunc(
    "i1e",
    {"x": lambda x: _scaled_slope(1.0, x, -1.0, lambda x: (i0e(x) + ive(2.0, x)) / 2 - np.sign(x) * i1e(x))},
    {"x": _SIGNED},
    "exp(-|x|) i1(x)",
)
k0: Primitive = ufunc("k0", {"x": lambda x: -k1(x)}, {"x": _ARGUMENT}, "d/dx = -k1(x)")
k1: Primitive = ufunc(
    "k1", {"x": lambda x: -(k0(x) + kv(2.0, x)) / 2}, {"x": _ARGUMENT}, "d/dx = -(k0(x) + kv(2, x))/2"
)

_ORDERED = {"v": (-2.5, 0.0, 0.5, 1.0, 3.2), "z": _ARGUMENT}


def _of_order(name: str, partial: Callable[..., Any], doc: str) -> Primitive:
    """The record of a function of the order v, which is not differentiated, and of z."""
    return ufunc(name, {"z": partial}, _ORDERED, doc, "v")


jv = _of_order("jv", lambda v, z: (jv(v - 1, z) - jv(v + 1, z)) / 2, "d/dz = (jv(v-1, z) - jv(v+1, z))/2")
jn = jv
yv = _of_order("yv", lambda v, z: (yv(v - 1, z) - yv(v + 1, z)) / 2, "d/dz = (yv(v-1, z) - yv(v+1, z))/2")
hankel1 = _of_order("hankel1", lambda v, z: (hankel1(v - 1, z) - hankel1(v + 1, z)) / 2, "jv + i yv, like jv")
hankel2 = _of_order("hankel2", lambda v, z: (hankel2(v - 1, z) - hankel2(v + 1, z)) / 2, "jv - i yv, like jv")
iv = _of_order("iv", lambda v, z: (iv(v - 1, z) + iv(v + 1, z)) / 2, "d/dz = (iv(v-1, z) + iv(v+1, z))/2")


def _ive_slope(v: Any, z: Any) -> Any:
    if is_complex(z):
        raise UnsupportedError(
            "ive is not holomorphic: at complex z write iv(v, z) * np.exp(-np.abs(np.real(z))), which has derivatives"
        )

    def near(z: Any) -> Any:
        return (ive(v - 1, z) + ive(v + 1, z)) / 2 - np.sign(z) * ive(v, z)

    return _scaled_slope(v, z, numpy.cos(numpy.pi * numpy.rint(v)), near)


ive = _of_order("ive", _ive_slope, "exp(-|z|) iv(v, z), for real z")
yn: Primitive = ufunc(
    "yn",
    {"x": lambda n, x: (yn(np.trunc(n) - 1, x) - yn(np.trunc(n) + 1, x)) / 2},  # SciPy truncates n to an integer
    {"n": (-1, 0, 1, 2), "x": _ARGUMENT},
    "yv of an integer order; d/dx = (yn(n-1, x) - yn(n+1, x))/2",
)
kn: Primitive = ufunc(
    "kn",
    {"x": lambda n, x: -(kn(np.trunc(n) - 1, x) + kn(np.trunc(n) + 1, x)) / 2},
    {"n": (0, 1, 2, 4), "x": _ARGUMENT},
    "kv of an integer order; d/dx = -(kn(n-1, x) + kn(n+1, x))/2",
)
kv: Primitive = ufunc(
    "kv",
    {"v": lambda v, z: macdonald(v, z, order=1), "z": lambda v, z: -(kv(v - 1, z) + kv(v + 1, z)) / 2},
    {"v": (-2.5, 3.2), "z": _ARGUMENT},
    "d/dz = -(kv(v-1, z) + kv(v+1, z))/2; d/dv by quadrature, for real z > 0",
)


def _spherical(name: str, below: float, above: float) -> Primitive:
    """The record of one of the ufuncs of spherical_jn, ...; those of their derivatives obey the same recurrence."""

    def slope(n: Any, z: Any) -> Any:
        lower = record(np.where(np.equal(n, 0), 0, n - 1), z)
        return (below * n * lower + above * (n + 1) * record(n + 1, z)) / (2 * n + 1)

    record = ufunc(name, {"z": slope}, {"n": (0, 1, 2, 5), "z": _ARGUMENT}, "d/dz = (b n f_n-1 + a (n+1) f_n+1)/(2n+1)")
    return record


SPHERICAL = tuple(
    _spherical(f"_spherical_{kind}{derivative}", below, above)
    for kind, below, above in (("jn", 1.0, -1.0), ("yn", 1.0, -1.0), ("in", 1.0, 1.0), ("kn", -1.0, -1.0))
    for derivative in ("", "_d")
)
