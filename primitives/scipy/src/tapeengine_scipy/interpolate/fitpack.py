"""FITPACK's splines of knots, coefficients and degree, which are evaluated as `BSpline` objects.

`splev`, `splder` and `splint` have the names and arguments of SciPy's compiled functions, which its own code calls.
"""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import constants, holds_traced
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating, of_python
from tapeengine_scipy.interpolate.bsplines import BSpline, make_interp_spline


def _spline(t: Any, c: Any, k: int) -> Any:
    """The spline; FITPACK's coefficients are as many as the knots, and the last ones have no effect."""
    t, c = floating(t), floating(c)
    return BSpline(t, c[: t.shape[0] - k - 1], k)


def _ends(t: Any, k: int) -> tuple[Any, Any]:
    return t[k], t[t.shape[0] - k - 1]


def splder(t: Any, c: Any, k: int, x: Any, order: int, beyond: int) -> tuple[Any, int]:
    """A derivative at places, and 1 if one of them is beyond the ends and that is an error."""
    low, high = _ends(floating(t), k)
    outside, value = np.less(x, low) | np.greater(x, high), _spline(t, c, k)(x, order)
    return np.where(outside, 0.0, value) if beyond == 1 else value, int(beyond == 2 and outside.any())


def splev(t: Any, c: Any, k: int, x: Any, beyond: int) -> tuple[Any, int]:
    """The values at places, as `splder` returns them, or those at the ends."""
    return splder(t, c, k, np.clip(x, *_ends(floating(t), k)) if beyond == 3 else x, 0, beyond)


def splint(t: Any, c: Any, k: int, a: Any, b: Any) -> tuple[Any, None]:
    """The integral of the spline, which is 0 beyond its ends."""
    return of_python(_spline(t, c, k).integrate(a, b, extrapolate=False)), None


@beside("scipy.interpolate.splrep")
def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0, s: Any = None,
    t: Any = None, full_output: int = 0, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    """Return knots, coefficients and degree of the spline through points; see `scipy.interpolate.splrep`.

    Differentiable in `y`, without smoothing.

    Examples
    --------
    >>> import numpy as np
    >>> t, c, k = splrep(np.arange(4.0), np.arange(4.0) ** 2)
    >>> t
    array([0., 0., 0., 0., 3., 3., 3., 3.])
    """
    x, w, ends = constants((x, w, (xb, xe)))
    smooths = s != 0 if s is not None else w is not None
    if holds_traced(x, w, ends, s, t) or smooths or t is not None or task or per or full_output or ends != (None, None):
        raise UnsupportedError("splrep is differentiated in y only, for a spline through all points: s=0")
    y = floating(y)
    knots, found, _ = scipy.interpolate.splrep(x, numpy.zeros(y.shape), k=k)
    c = make_interp_spline(x, y, k, knots).c
    return knots, np.concatenate([c, numpy.zeros(found.shape[0] - c.shape[0])]), k
