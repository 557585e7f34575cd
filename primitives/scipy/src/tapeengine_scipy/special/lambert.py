"""Lambert's W on its two real branches."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine._core.sweeps.trace import value_of
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise


def _branch(name: str, k: int, low: float, high: float) -> Primitive:
    def primal(z: Any) -> Any:
        return scipy.special.lambertw(z, k).real

    doc = f"the real branch {k} of Lambert's W; d/dz = 1/(z + exp(W))"
    return elementwise(
        f"scipy.special.{name}", primal, {"z": lambda z, out: 1.0 / (z + np.exp(out))}, {"z": (low, high)}, doc
    )


lambertw_main = _branch("lambertw_main", 0, -0.3, 3.0)
lambertw_lower = _branch("lambertw_lower", -1, -0.3, -0.05)


def lambertw(z: Any, k: int = 0, tol: float = 1e-8) -> Any:
    """Return Lambert's W like `scipy.special.lambertw`; traced arguments must lie on a real branch.

    Examples
    --------
    >>> complex(lambertw(0.0))
    0j
    """
    value = value_of(z)
    if value is z:
        return scipy.special.lambertw(z, k, tol)
    lowest = -numpy.exp(-1.0)
    if k == 0 and numpy.all(value >= lowest):
        return lambertw_main(z) + 0j
    if k == -1 and numpy.all((value >= lowest) & (value < 0.0)):
        return lambertw_lower(z) + 0j
    raise UnsupportedError(
        "scipy.special.lambertw has a derivative rule for its real branches: k = 0 from -1/e on, k = -1 from -1/e to "
        "0. For other arguments solve w exp(w) = z by iteration"
    )
