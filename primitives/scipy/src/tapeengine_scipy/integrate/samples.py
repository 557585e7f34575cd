"""Simpson's rule for samples, which is SciPy's own code where it has a derivative."""

from typing import Any

import numpy

from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._own_code import own_code
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating, is_traced


@beside("scipy.integrate.simpson")
def simpson(y: Any, x: Any = None, *, dx: float = 1.0, axis: int = -1) -> Any:
    """Integrate samples by Simpson's rule; see `scipy.integrate.simpson`. Differentiable in `y` and `x`.

    With an even number of points, the parabola through the last three points integrates the last interval.

    Examples
    --------
    >>> import numpy as np
    >>> float(simpson(np.array([0.0, 1.0, 4.0])))
    2.6666666666666665
    """
    if x is not None and numpy.shape(y)[axis] > 2 and is_traced(points := floating(x)):
        steps = numpy.diff(plain_value(points), axis=axis if points.ndim > 1 else -1)
        if not numpy.all(steps):
            raise UnsupportedError("simpson jumps where points coincide, so it has no derivative at repeated points")
    return own_code("scipy.integrate.simpson", y, x, dx=dx, axis=axis)
