"""Derivatives of the Bessel function kv with respect to its order.

K_v(z) is the integral over (0, inf) of exp(-z cosh t) cosh(v t) (DLMF 10.32.9). `macdonald` of order k is its k-th
derivative in v: the integral of exp(-z cosh t) t^k cosh(v t), with sinh where k is odd. The family is closed under
differentiation, and kv is its member k = 0.
"""

from typing import Any

import numpy
import scipy

from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise


def _macdonald(v: Any, z: Any, *, order: int) -> Any:
    v, z = numpy.broadcast_arrays(numpy.asarray(v, dtype=float), numpy.asarray(z, dtype=float))
    if order == 0:
        return scipy.special.kv(v, z)
    step = 0.04
    with numpy.errstate(all="ignore"):
        # The integrand is even in t and decays doubly exponentially: the trapezoidal rule converges geometrically.
        reach = numpy.arccosh(1 + 800 / numpy.nanmin(z[z > 0], initial=700.0)) + 1
        t = numpy.arange(step, reach, step)
        grow = numpy.exp(v[..., None] * t - z[..., None] * numpy.cosh(t))
        fall = numpy.exp(-v[..., None] * t - z[..., None] * numpy.cosh(t))
        values = t**order * (grow - fall if order % 2 else grow + fall) / 2
        total = step * numpy.sum(values, axis=-1)
    return numpy.where(z > 0, total, numpy.nan)[()]


macdonald: Primitive = elementwise(
    "scipy.special.macdonald",
    _macdonald,
    {
        "v": lambda v, z, order: macdonald(v, z, order=order + 1),
        "z": lambda v, z, order: -(macdonald(v - 1, z, order=order) + macdonald(v + 1, z, order=order)) / 2,
    },
    {"v": (-2.5, 3.2), "z": (0.3, 6.0)},
    "derivatives of kv in its order",
    static={"order": 1},
)
