"""Derivatives of `scipy.ndimage`: filters and interpolation of images, with SciPy's own signatures.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import ndimage
>>> ndimage.uniform_filter(np.array([0.0, 3.0, 0.0]), 3)
array([1., 1., 1.])
"""

from tapeengine_scipy._passing import names_of
from tapeengine_scipy.ndimage.filters import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
    laplace,
    maximum_filter,
    median_filter,
    minimum_filter,
    prewitt,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from tapeengine_scipy.ndimage.interpolation import affine_transform, map_coordinates, shift, spline_filter

__all__ = [
    "affine_transform", "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "laplace", "map_coordinates", "maximum_filter", "median_filter",
    "minimum_filter", "prewitt", "shift", "sobel", "spline_filter", "uniform_filter", "uniform_filter1d",
]  # fmt: skip

__getattr__, __dir__ = names_of("scipy.ndimage")
