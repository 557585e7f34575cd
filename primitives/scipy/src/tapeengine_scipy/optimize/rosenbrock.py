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


def _of_several(x: Any) -> Any:
    if x.shape[0] < 2:
        raise IndexError("the derivatives of Rosenbrock's function need two coordinates")
    return x


@beside("scipy.optimize.rosen_der")
def rosen_der(x: Any) -> Any:
    """Return the gradient of Rosenbrock's function; see `scipy.optimize.rosen_der`.

    Examples
    --------
    >>> import numpy as np
    >>> rosen_der(np.array([1.0, 2.0]))
    array([-400.,  200.])
    """
    x = _of_several(floating(x))
    rise = x[1:] - x[:-1] ** 2
    zero = np.zeros_like(x[:1])
    return np.concatenate([-400 * rise * x[:-1] - 2 * (1 - x[:-1]), zero]) + np.concatenate([zero, 200 * rise])


@beside("scipy.optimize.rosen_hess")
def rosen_hess(x: Any) -> Any:
    """Return the Hessian matrix of Rosenbrock's function; see `scipy.optimize.rosen_hess`.

    Examples
    --------
    >>> import numpy as np
    >>> rosen_hess(np.array([1.0, 2.0]))
    array([[ 402., -400.],
           [-400.,  200.]])
    """
    x = _of_several(np.atleast_1d(floating(x)))
    if x.ndim > 1:
        raise ValueError("rosen_hess: a single vector is needed")
    beside_it = np.diag(-400 * x[:-1], 1)
    start = np.concatenate([1200 * x[:-1] ** 2 - 400 * x[1:] + 2, np.zeros_like(x[:1])])
    last = np.concatenate([np.zeros_like(x[:1]), np.full_like(x[1:], 200.0)])
    return beside_it + beside_it.T + np.diag(start + last)
