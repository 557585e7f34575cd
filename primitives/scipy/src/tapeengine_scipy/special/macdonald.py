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
from tapeengine_scipy._values import real


def _macdonald(v: Any, z: Any, *, order: int) -> Any:
    v, z = numpy.broadcast_arrays(real(v), real(z))
    if order == 0:
        return scipy.special.kv(v, z)
    with numpy.errstate(all="ignore"):
        # The integrand is even in t and decays doubly exponentially: the trapezoidal rule converges geometrically, with
        # steps of half the width of its peak.
        reach = numpy.arccosh(1 + 800 / z) + 1
        width = numpy.minimum(0.04, 0.5 * (v * v + z * z) ** -0.25)
        counts = (reach / width)[(z > 0) & (z < 1e4) & (numpy.abs(v) < 1e4)]  # elsewhere it is 0, infinite or NaN
        count = int(numpy.ceil(numpy.max(counts, initial=1.0)))
        step = reach / count
        t = numpy.arange(1, count + 1) * step[..., None]
        rise = numpy.abs(v[..., None]) * t
        grow = numpy.exp(rise - z[..., None] * numpy.cosh(t)) / 2
        sides = -numpy.sign(v[..., None]) * numpy.expm1(-2 * rise) if order % 2 else 1 + numpy.exp(-2 * rise)
        total = step * numpy.sum(t**order * grow * sides, axis=-1)
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
