"""Complete elliptic integrals, and hypergeometric functions, which are in their derivatives.

With the parameter m: K = pi/2 2F1(1/2, 1/2; 1; m) and E = pi/2 2F1(-1/2, 1/2; 1; m). The textbook forms of their
derivatives divide by m; the forms here do not, and hold at m = 0.
"""

import math
from typing import Any

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import ufunc


def _ellipk_slope(m: Any) -> Any:
    """The textbook form for m < -1, where SciPy's hypergeometric function loses digits."""
    far = (m < -1) & np.isfinite(m)
    away = np.where(far, m, -1.0)
    textbook = (ellipe(away) / (1 - away) - ellipk(away)) / (2 * away)
    near = math.pi / 8 * hyp2f1(1.5, 1.5, 2.0, np.where(m < -1, 0.0, m))
    return np.where(np.isinf(m), 0.0, np.where(far, textbook, near))


ellipk: Primitive = ufunc(
    "ellipk",
    {"m": _ellipk_slope},
    {"m": (-2.0, 0.9)},
    "K(m); d/dm = (E - (1-m) K)/(2 m (1-m))",
)
ellipe: Primitive = ufunc(
    "ellipe", {"m": lambda m: -math.pi / 8 * hyp2f1(0.5, 1.5, 2.0, m)}, {"m": (-2.0, 0.9)}, "E(m); d/dm = (E - K)/(2 m)"
)


def _series_slope(factor: Any, higher: Any) -> Any:
    """The product; a series whose terms in z have the factor 0 is constant, also where the other one diverges."""
    return np.where(np.equal(factor, 0), 0.0, factor * higher)


hyp2f1: Primitive = ufunc(
    "hyp2f1",
    {"z": lambda a, b, c, z: _series_slope(a * b / c, hyp2f1(a + 1, b + 1, c + 1, z))},
    {"a": (0.5, 1.5), "b": (0.5, 1.5), "c": (1.6, 3.0), "z": (-0.9, 0.7)},
    "Gauss's 2F1(a, b; c; z); d/dz = a b/c 2F1(a+1, b+1; c+1; z)",
    "a b c",
)
hyp1f1: Primitive = ufunc(
    "hyp1f1",
    {"z": lambda a, b, z: _series_slope(a / b, hyp1f1(a + 1, b + 1, z))},
    {"a": (-1.5, 0.0, 0.5, 2.0), "b": (0.5, 3.0), "z": (-2.0, 2.0)},
    "Kummer's 1F1(a; b; z); d/dz = a/b 1F1(a+1; b+1; z)",
    "a b",
)
