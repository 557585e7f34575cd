"""Skewness, kurtosis and standard scores of samples."""

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating_real


def _standardised(a: Any, axis: Any, nan_policy: str, ddof: int = 0) -> tuple[Any, Any]:
    """Deviations from the mean in units of the standard deviation, NaN where all elements are equal, and the axis."""
    if nan_policy != "propagate":
        raise UnsupportedError(f"scipy.stats: nan_policy={nan_policy!r} is not differentiated")
    a = floating_real(a)
    if axis is None:
        a, axis = np.ravel(a), 0
    mean = np.mean(a, axis=axis, keepdims=True)
    spread = np.var(a, axis=axis, ddof=ddof, keepdims=True)
    equal = (spread <= (numpy.finfo(a.dtype).eps * mean) ** 2) | (a.shape[axis] <= ddof)
    return np.where(equal, np.nan, (a - mean) / np.sqrt(np.where(equal, 1.0, spread))), axis


@beside("scipy.stats.skew")
def skew(a: Any, axis: Any = 0, bias: bool = True, nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:
    """Return the skewness of samples; see `scipy.stats.skew`.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(skew(np.array([1.0, 2.0, 6.0]))), 6)
    0.59517
    """
    z, axis = _standardised(a, axis, nan_policy)
    value, n = np.mean(z**3, axis=axis, keepdims=keepdims), z.shape[axis]
    return value if bias or n < 3 else value * ((n - 1.0) * n) ** 0.5 / (n - 2.0)


@beside("scipy.stats.kurtosis")
def kurtosis(
    a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """Return the kurtosis of samples; see `scipy.stats.kurtosis`.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(kurtosis(np.array([1.0, 2.0, 6.0]))), 6)
    -1.5
    """
    z, axis = _standardised(a, axis, nan_policy)
    value, n = np.mean(z**4, axis=axis, keepdims=keepdims), z.shape[axis]
    if not bias and n > 3:
        value = ((n**2 - 1.0) * value - 3 * (n - 1) ** 2.0) / (n - 2) / (n - 3) + 3.0
    return value - 3 if fisher else value


@beside("scipy.stats.zscore")
def zscore(a: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """Return standard scores; see `scipy.stats.zscore`.

    Examples
    --------
    >>> import numpy as np
    >>> zscore(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    return np.reshape(_standardised(a, axis, nan_policy, ddof)[0], np.shape(a))
