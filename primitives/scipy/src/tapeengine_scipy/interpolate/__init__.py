"""Derivatives of `scipy.interpolate`: splines and piecewise interpolation, with SciPy's own signatures.

Differentiable in the values, the query points and the data points: `CubicSpline` solves for the slopes with the
differentiable `solve_banded` and `solve`.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import interpolate
>>> float(interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])(1.5))
2.25
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy.interpolate.bsplines import BSpline, make_interp_spline
from tapeengine_scipy.interpolate.fitpack import splrep
from tapeengine_scipy.interpolate.grids import RegularGridInterpolator, interpn
from tapeengine_scipy.interpolate.nodes import BarycentricInterpolator, KroghInterpolator
from tapeengine_scipy.interpolate.polynomials import CubicHermiteSpline, CubicSpline, PchipInterpolator, PPoly
from tapeengine_scipy.interpolate.samples import interp1d

__all__ = [
    "BSpline", "BarycentricInterpolator", "CubicHermiteSpline", "CubicSpline", "KroghInterpolator", "PPoly",
    "PchipInterpolator", "RegularGridInterpolator", "interp1d", "interpn", "make_interp_spline", "splrep",
]  # fmt: skip

__getattr__, __dir__ = names_of("scipy.interpolate", globals())
