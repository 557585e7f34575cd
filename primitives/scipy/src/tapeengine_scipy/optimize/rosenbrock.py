"""Rosenbrock's function, with which methods of minimisation are compared."""

from typing import Any

import tapeengine.numpy as np
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating


@beside("scipy.optimize.rosen")
def rosen(x: Any) -> Any:
    """Return Rosenbrock's function; see `scipy.optimize.rosen`.

    Examples
    --------
    >>> import numpy as np
    >>> float(rosen(np.array([1.0, 2.0])))
    100.0
    """
    x = floating(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)
