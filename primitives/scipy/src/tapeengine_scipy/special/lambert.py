"""Lambert's W on all its branches."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise
from tapeengine_scipy._callables import constants, holds_traced
from tapeengine_scipy._values import floating


def _primal(z: Any, *, k: int, tol: float) -> Any:
    return scipy.special.lambertw(z, k, tol)


LAMBERTW: Primitive = elementwise(
    "scipy.special.lambertw",
    _primal,
    {"z": lambda z, out: 1.0 / (z + np.exp(out))},
    {"z": (-0.3, 3.0)},
    "the branch k of Lambert's W; d/dz = 1/(z + exp(W))",
    static={"k": 0, "tol": 1e-8},
)


def lambertw(z: Any, k: int = 0, tol: float = 1e-8) -> Any:
    """Return the branch k of Lambert's W like `scipy.special.lambertw`: complex, for real and complex z.

    Examples
    --------
    >>> complex(lambertw(0.0))
    0j
    """
    k, tol = constants((k, tol))
    if holds_traced(k, tol):
        raise UnsupportedError("lambertw: the branch k and the tolerance are not differentiated")
    return LAMBERTW(floating(z), k=k[()] if isinstance(k, numpy.ndarray) else k, tol=tol)
