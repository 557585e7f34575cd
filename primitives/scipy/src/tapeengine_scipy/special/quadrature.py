"""Double exponential quadrature over (0, inf), for derivatives without a closed form.

The functions are kernels of primitives: they run on plain values only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeengine_scipy._values import real


def half_line(integrand: Callable[[Any], Any], scale: Any, *, step: float = 0.0625, reach: float = 8.0) -> Any:
    """Integrate a function over (0, inf) that decays at least exponentially, on the length scale `scale`.

    The substitution s = scale * exp(u - exp(-u)) (Takahasi and Mori) makes both ends decay doubly exponentially,
    so that the trapezoidal rule converges geometrically. `integrand` takes and returns arrays whose last axis runs
    over the nodes; `scale` has the leading axes.
    """
    u = np.arange(-4.0, reach + step / 2, step)
    node = np.exp(u - np.exp(-u))
    weight = step * node * (1 + np.exp(-u))
    scale = real(scale)[..., None]
    with np.errstate(all="ignore"):
        values = integrand(scale * node)
    return np.sum(np.where(np.isfinite(values), values, 0.0) * (scale * weight), axis=-1)
