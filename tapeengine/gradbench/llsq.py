"""The evaluation ``llsq``: half the squared distance of a polynomial to the sign of t, at n points t in [-1, 1]."""

from typing import Any

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function, entries


def distance(x: Any, n: int) -> Any:
    """Return the distance; `x` holds the coefficients in ascending order."""
    t = onp.linspace(-1.0, 1.0, n)
    residual = onp.sign(t) - onp.vander(t, len(x), increasing=True) @ x
    return 0.5 * np.sum(residual * residual)


PREPARE = entries("x", "n")
FUNCTIONS = {"primal": Function(PREPARE, distance), "gradient": Function(PREPARE, te.grad(distance))}
