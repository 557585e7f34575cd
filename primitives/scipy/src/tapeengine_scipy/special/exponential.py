"""Exponential integrals and Spence's function."""

from typing import Any

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import ufunc
from tapeengine_scipy.special.elliptic import hyp2f1

exp1: Primitive = ufunc("exp1", {"z": lambda z: -np.exp(-z) / z}, {"z": (0.2, 4.0)}, "E1(z); d/dz = -exp(-z)/z")
expi: Primitive = ufunc("expi", {"x": lambda x: np.exp(x) / x}, {"x": (0.2, 4.0)}, "Ei(x); d/dx = exp(x)/x")


def _expn_slope(n: Any, x: Any) -> Any:
    """-E_{n-1}(x), where E_{-1}(x) = exp(-x) (1/x + 1/x^2) is not among SciPy's."""
    lowest = np.asarray(n) == 0
    inverse = 1 / np.where(lowest, x, 1.0)
    return -np.where(lowest, np.exp(-x) * inverse * (1 + inverse), expn(np.where(lowest, 0, n - 1), x))


expn: Primitive = ufunc(
    "expn", {"x": _expn_slope}, {"n": (0, 1, 2, 3), "x": (0.2, 4.0)}, "E_n(x), n an integer; d/dx = -E_{n-1}(x)"
)
spence: Primitive = ufunc(
    "spence",
    {"z": lambda z: -hyp2f1(1.0, 1.0, 2.0, 1 - z)},
    {"z": (0.2, 3.0)},
    "dilogarithm of 1 - z; d/dz = -log(z)/(z-1), written as a hypergeometric function to hold at z = 1",
)
