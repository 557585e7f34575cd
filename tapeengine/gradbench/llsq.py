"""The evaluation ``llsq``: half the squared distance of a polynomial to the sign of t, at n points t in [-1, 1]."""

from typing import Any

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function


def distance(x: Any, n: int) -> Any:
    """Return the distance; `x` holds the coefficients in ascending order."""
    t = onp.linspace(-1.0, 1.0, n)
    residual = onp.sign(t) - onp.vander(t, len(x), increasing=True) @ x
    return 0.5 * np.sum(residual * residual)


def prepare(given: dict[str, Any]) -> tuple[Any, int]:
    """The coefficients, and the number of points."""
    return onp.array(given["x"], dtype=float), given["n"]


FUNCTIONS = {"primal": Function(prepare, distance), "gradient": Function(prepare, te.grad(distance))}
