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

__all__: list[str] = []

__getattr__, __dir__ = names_of(
    "scipy.interpolate",
    globals(),
    {
        "bsplines": "BSpline make_interp_spline",
        "fitpack": "splrep",
        "grids": "RegularGridInterpolator interpn",
        "nodes": "BarycentricInterpolator KroghInterpolator",
        "polynomials": "CubicHermiteSpline CubicSpline PchipInterpolator PPoly",
        "samples": "interp1d",
    },
)
