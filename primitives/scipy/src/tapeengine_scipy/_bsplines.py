"""B-splines with given knots, differentiable in their coefficients and arguments. See `interpolate`."""

import functools
from collections.abc import Callable
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns
from tapeengine.primitive.builders import broadcast, scale, unbroadcast
from tapeengine_scipy._callables import holds_traced, plain_value
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating


def _basis(x: Any, *, knots: Any, degree: int, nu: int, outside: Any) -> Any:
    """The values, or derivatives, of every B-spline at given places, as a matrix."""
    spline = scipy.interpolate.BSpline(knots, numpy.eye(len(knots) - degree - 1), degree, extrapolate=outside)
    return spline(x, nu)


def _slope(x: Any, knots: Any, degree: int, nu: int, outside: Any) -> Any:
    return BASIS(x, knots=knots, degree=degree, nu=nu + 1, outside=outside)


_KNOTS = {"knots": numpy.array([0.0, 0, 0, 0, 1, 2, 3, 3, 3, 3]), "degree": 3, "nu": 0, "outside": True}


def _pattern(call: patterns.Call) -> Any:
    """All splines at a place depend on that place."""
    return numpy.broadcast_to(call.sets[0][..., None], call.shape)


BASIS: Primitive = Primitive(
    "scipy.interpolate.basis",
    _basis,
    vjp={
        "x": lambda ct, x, knots, degree, nu, outside, x_space: unbroadcast(
            np.sum(scale(ct, _slope(x, knots, degree, nu, outside)), axis=-1), x_space
        )
    },
    jvp={
        "x": lambda t, x, knots, degree, nu, outside, out_space: broadcast(
            scale(t[..., None], _slope(x, knots, degree, nu, outside)), out_space
        )
    },
    pattern=_pattern,
    samples=(Sample((numpy.array([0.3, 1.7, 2.2]),), _KNOTS), Sample((numpy.array([[0.4], [2.6]]),), _KNOTS)),
    doc="the values of all B-splines of given knots at places; d = those of their derivatives",
)


class BSpline:
    """A spline with given knots; see `scipy.interpolate.BSpline`. Coefficients and places may be traced.

    Examples
    --------
    >>> import numpy as np
    >>> float(BSpline(np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 3.0]), 1)(0.5))
    2.0
    """

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        if holds_traced(t):
            raise UnsupportedError("BSpline: the knots are constants; traced ones are refused")
        self.c, self.k, self.axis, self.extrapolate = floating(c), int(k), axis, extrapolate
        self._theirs = scipy.interpolate.BSpline(t, plain_value(self.c), k, extrapolate, axis)
        self.t = self._theirs.t

    @property
    def tck(self) -> Any:
        """Knots, coefficients and degree."""
        return self.t, self.c, self.k

    def of_scipy(self) -> Any:
        """Return SciPy's own spline with plain values."""
        return self._theirs

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Evaluate the spline, or its derivative of order `nu`."""
        if not holds_traced(self.c, x):
            return self._theirs(x, nu, extrapolate)
        at, outside = floating(x), self.extrapolate if extrapolate is None else extrapolate
        c = np.moveaxis(self.c, self.axis, 0)
        c = c[: len(self.t) - self.k - 1]  # further coefficients are padding
        if outside == "periodic":
            first, last = self.t[self.k], self.t[len(self.t) - self.k - 1]
            at, outside = at - (last - first) * numpy.floor((plain_value(at) - first) / (last - first)), False
        flat = np.reshape(at, (-1,))
        last = len(self.t) - self.k - 2
        left = numpy.clip(numpy.searchsorted(self.t, plain_value(flat), side="right") - 1, self.k, last)
        near = left[:, None] + numpy.arange(-self.k, 1)  # the coefficients that affect a place, even if others are NaN
        basis = BASIS(flat, knots=self.t, degree=self.k, nu=int(nu), outside=bool(outside))
        value = np.einsum("ij,ijk->ik", np.take_along_axis(basis, near, 1), np.reshape(c, (c.shape[0], -1))[near])
        value = np.reshape(value, (*np.shape(at), *c.shape[1:]))
        return np.moveaxis(value, tuple(range(np.ndim(at))), tuple(self.axis + k for k in range(np.ndim(at))))

    def _of_coefficients(self, name: str, *args: Any) -> "BSpline":
        """A spline whose coefficients are linear in those of this one, computed by SciPy."""
        c = np.moveaxis(self.c, self.axis, 0)
        matrix = getattr(scipy.interpolate.BSpline(self.t, numpy.eye(c.shape[0]), self.k), name)(*args)
        found = BSpline(matrix.t, np.tensordot(matrix.c, c, axes=(1, 0)), matrix.k, self.extrapolate)
        moved = np.moveaxis(found.c, 0, self.axis)
        return BSpline(found.t, moved, found.k, self.extrapolate, self.axis)

    def derivative(self, nu: int = 1) -> "BSpline":
        """Return the derivative as a spline."""
        return self._of_coefficients("derivative", nu)

    def antiderivative(self, nu: int = 1) -> "BSpline":
        """Return an antiderivative as a spline."""
        return self._of_coefficients("antiderivative", nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral between limits, which may be traced; beyond the knots only if the spline extrapolates."""
        outside = self.extrapolate if extrapolate is None else extrapolate
        if outside == "periodic":
            raise UnsupportedError("BSpline: integrals of periodic extrapolations are not differentiated")
        first, last = self.t[self.k], self.t[len(self.t) - self.k - 1]
        if not outside:
            a, b = np.clip(a, first, last), np.clip(b, first, last)
        whole = self.antiderivative()
        found = whole(b, extrapolate=True) - whole(a, extrapolate=True)
        return np.asarray(found)  # also without dimensions


def _of_places(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return splines of this package, also of plain values: their places may be traced."""

    @functools.wraps(make)
    def made(*args: Any, **keywords: Any) -> Any:
        found = make(*args, **keywords)
        if isinstance(found, BSpline):
            return found
        return BSpline(found.t, numpy.moveaxis(found.c, 0, found.axis), found.k, found.extrapolate, found.axis)

    return made


@_of_places
@beside("scipy.interpolate.make_interp_spline")
def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> Any:
    """Return the B-spline through points; see `scipy.interpolate.make_interp_spline`.

    Differentiable in `y`; `x` and the knots are constants.

    Examples
    --------
    >>> import numpy as np
    >>> float(make_interp_spline(np.arange(5.0), np.arange(5.0) ** 2)(1.5).round(12))
    2.25
    """
    if holds_traced(x, t, bc_type):
        raise UnsupportedError("make_interp_spline: x, t and bc_type are constants; use CubicSpline for traced x")
    values = np.moveaxis(floating(y), axis, 0)
    flat = np.reshape(values, (values.shape[0], -1))
    still = numpy.zeros(flat.shape)
    conditions = bc_type if bc_type is None or isinstance(bc_type, str) else _flat_conditions(bc_type, flat.shape[1])
    theirs = scipy.interpolate.make_interp_spline(x, still, k, t, conditions, check_finite=check_finite)
    unit = scipy.interpolate.make_interp_spline(
        x, numpy.eye(flat.shape[0]), k, t, _homogeneous(bc_type, flat.shape[0]), check_finite=check_finite
    )
    c = np.tensordot(unit.c, flat, axes=(1, 0)) + theirs.c
    c = np.moveaxis(np.reshape(c, (c.shape[0], *values.shape[1:])), 0, axis)
    return BSpline(theirs.t, c, theirs.k, theirs.extrapolate, axis % values.ndim)


def _flat_conditions(bc_type: Any, width: int) -> Any:
    """Conditions with their values as one row each."""
    return tuple(
        end if end is None or isinstance(end, str)
        else [(order, numpy.broadcast_to(numpy.ravel(value), (width,))) for order, value in end]
        for end in bc_type
    )  # fmt: skip


def _homogeneous(bc_type: Any, width: int) -> Any:
    """The same conditions with zeros."""
    if bc_type is None or isinstance(bc_type, str):
        return bc_type
    return tuple(
        end if end is None or isinstance(end, str) else [(order, numpy.zeros(width)) for order, _ in end]
        for end in bc_type
    )
