"""B-splines, by de Boor's algorithm on the coefficients that affect each place. See `interpolate`."""

import operator
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import constants, holds_traced
from tapeengine_scipy._making import made_by_scipy
from tapeengine_scipy._own_code import own_code
from tapeengine_scipy._values import floating, ratio
from tapeengine_scipy.interpolate.polynomials import Pieces
from tapeengine_scipy.interpolate.slopes import conditions
from tapeengine_scipy.sparse.linalg import spsolve


class BSpline(Pieces, path="scipy.interpolate.BSpline"):
    """A spline with given knots; see `scipy.interpolate.BSpline`. Knots, coefficients and places may be traced.

    Examples
    --------
    >>> import numpy as np
    >>> float(BSpline(np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 3.0]), 1)(0.5))
    2.0
    """

    _leading = 1

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        if self._stand(t, c, k, extrapolate, axis):
            self.t, self.c = floating(t), np.moveaxis(floating(c), axis, 0)

    @property
    def tck(self) -> Any:
        """Knots, coefficients and degree."""
        return self.t, self.c, self.k

    @property
    def _ends(self) -> tuple[Any, Any]:
        return self.t[self.k], self.t[self.t.shape[0] - self.k - 1]

    def _value(self, x: Any, nu: int) -> Any:
        """Sum the k + 1 splines that are not 0 at each place, by the recursion of Cox and de Boor."""
        t, k, c = self.t, self.k, np.reshape(self.c, (self.c.shape[0], -1))
        if operator.index(nu) > k:
            return np.zeros((x.shape[0], c.shape[1])) * x[:, None]
        left = numpy.clip(np.searchsorted(t, x, side="right") - 1, k, t.shape[0] - k - 2)[:, None]
        basis, none = 1.0 + 0.0 * x[:, None], numpy.zeros((x.shape[0], 1))
        for degree in range(1, k + 1):
            first, last = (t[left + numpy.arange(start, start + degree)] for start in (1 - degree, 1))
            lower = ratio(basis, last - first)
            is_slope = degree > k - nu
            down, up = (
                (-degree * lower, degree * lower)
                if is_slope
                else ((last - x[:, None]) * lower, (x[:, None] - first) * lower)
            )
            basis = np.concatenate([down, none], axis=1) + np.concatenate([none, up], axis=1)
        return np.einsum("ij,ijk->ik", basis, c[left + numpy.arange(-k, 1)])

    def _changed(self, theirs: Any, nu: int) -> "BSpline":
        """SciPy's derivative or antiderivative, with traced coefficients and knots."""
        padding = numpy.zeros((max(self.t.shape[0] - self.c.shape[0], 0), *self.c.shape[1:]))
        tck = self.t, np.concatenate([self.c, padding]), self.k
        t, c, _ = own_code("scipy.interpolate.splder", tck, nu)
        return type(self).around(theirs, t=t, c=c)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral between limits, which may be traced; beyond the knots only if the spline extrapolates."""
        outside = self.extrapolate if extrapolate is None else extrapolate
        if not outside:
            a, b = (np.clip(x, *self._ends) for x in (a, b))
        return super().integrate(a, b, outside)


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> Any:
    """Return the B-spline through points; see `scipy.interpolate.make_interp_spline`.

    Differentiable in `y`, and in the values of `bc_type`; `x` and the knots are constants.

    Examples
    --------
    >>> import numpy as np
    >>> float(make_interp_spline(np.arange(5.0), np.arange(5.0) ** 2)(1.5).round(12))
    2.25
    """
    x, t = constants((x, t))
    if holds_traced(x, t):
        raise UnsupportedError("make_interp_spline: x and t are constants; use CubicSpline for traced x")
    given = x, y, k, t, bc_type, axis, check_finite
    if not holds_traced(y, bc_type):
        return BSpline.around(scipy.interpolate.make_interp_spline(*given))
    theirs = made_by_scipy("scipy.interpolate.make_interp_spline", given, {})
    values = np.moveaxis(floating(y), axis, 0)
    flat = np.reshape(values, (values.shape[0], -1))
    matrix, (first, last) = _collocation(numpy.asarray(x, float), theirs.t, k, bc_type, flat.shape[1])
    rhs = np.concatenate([first, flat[:-1] if bc_type == "periodic" else flat, last])
    return BSpline.around(theirs, t=theirs.t, c=np.reshape(spsolve(matrix, rhs), (-1, *values.shape[1:])))


def _collocation(x: Any, t: Any, k: int, bc_type: Any, width: int) -> tuple[Any, list[Any]]:
    """The sparse matrix that gives the data from the coefficients, and the values of the conditions at both ends."""
    size = len(t) - k - 1
    if bc_type == "periodic":
        rows = scipy.interpolate.BSpline.design_matrix(x[:-1], t, k)
        same = scipy.sparse.eye_array(k, size) - scipy.sparse.eye_array(k, size, k=size - k)
        return scipy.sparse.vstack([rows, same], format="csc"), [numpy.zeros((0, width)), numpy.zeros((k, width))]
    ends = (bc_type, bc_type) if bc_type is None or isinstance(bc_type, str) else bc_type
    given = [conditions(end, width) for end in ends]
    near = [scipy.interpolate.BSpline(t, numpy.eye(size, k + 1, -start), k) for start in (0, size - k - 1)]
    rows = [
        [spline(place, order) for order, _ in end]
        for spline, place, end in zip(near, (x[0], x[-1]), given, strict=True)
    ]
    blocks = [scipy.interpolate.BSpline.design_matrix(x, t, k)]
    for side, part in enumerate(rows):
        if part:
            empty = scipy.sparse.coo_array((len(part), size - k - 1))
            blocks.insert(side * len(blocks), scipy.sparse.hstack([empty, numpy.array(part)][:: 2 * side - 1]))
    values = [np.stack([v for _, v in end]) if end else numpy.zeros((0, width)) for end in given]
    return scipy.sparse.vstack(blocks, format="csc"), values
