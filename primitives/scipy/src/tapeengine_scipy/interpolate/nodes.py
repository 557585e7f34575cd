"""The polynomial through points, in Newton's form and in barycentric form. See `interpolate`."""

import math
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._passing import Standing
from tapeengine_scipy._values import floating
from tapeengine_scipy.interpolate.polynomials import moved


class _Polynomial(Standing, path=""):
    """What both forms share; `_derivatives(x, orders)` gives derivatives at a vector of places, one row for each."""

    def _points(self, xi: Any, yi: Any, axis: int) -> tuple[Any, Any]:
        values = np.moveaxis(floating(yi), axis, 0)
        return floating(xi), np.reshape(values, (values.shape[0], -1))

    def __call__(self, x: Any) -> Any:
        """Evaluate at places."""
        return self._shaped(x, [0])[0]

    def derivative(self, x: Any, der: int = 1) -> Any:
        """Evaluate the derivative of one order."""
        return self._shaped(x, [der])[0]

    def derivatives(self, x: Any, der: int | None = None) -> Any:
        """Evaluate the derivatives of the orders below `der`, by default all."""
        return np.stack(self._shaped(x, list(range(self.n if der is None else der))))

    def _shaped(self, x: Any, orders: list[int]) -> list[Any]:
        query, rest = floating(x), self._theirs._y_extra_shape
        found = self._derivatives(np.reshape(query, (-1,)), orders)
        return [moved(np.reshape(row, (*query.shape, *rest)), query.ndim, self._theirs._y_axis) for row in found]


class KroghInterpolator(_Polynomial, path="scipy.interpolate.KroghInterpolator"):
    """The polynomial through points, with derivatives at repeated ones; see `scipy.interpolate.KroghInterpolator`.

    Examples
    --------
    >>> import numpy as np
    >>> KroghInterpolator(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0]))(np.array([1.5]))
    array([2.25])
    """

    def __init__(self, xi: Any, yi: Any, axis: int = 0) -> None:
        if self._stand(xi, yi, axis):
            self.xi, self.yi = self._points(xi, yi, axis)
            self.c = np.concatenate([_coefficients(self.xi, self.yi), numpy.zeros((1, self.yi.shape[1]))])

    def _derivatives(self, x: Any, orders: list[int]) -> list[Any]:
        """Sum Newton's products with their coefficients, in SciPy's order; derivatives by the product rule."""
        count = max(orders, default=0) + 1
        products = [np.ones(x.shape) if m == 0 else np.zeros(x.shape) for m in range(count)]
        found = [product[:, None] * self.c[0] for product in products]
        for k in range(1, self.n):
            step, before = x - self.xi[k - 1], products
            products = [step * p + m * before[m - 1] if m else step * p for m, p in enumerate(before)]
            found = [total + product[:, None] * self.c[k] for total, product in zip(found, products, strict=True)]
        return [found[m] for m in orders]


def _coefficients(x: Any, y: Any) -> Any:
    """Newton's coefficients by divided differences, in SciPy's order; values at equal points are derivatives.

    Column i of the table has, for each point k behind the first i, the difference over these and the point k.
    """
    places, fresh = numpy.arange(x.shape[0]), numpy.append(True, np.not_equal(x[1:], x[:-1]))
    first = numpy.maximum.accumulate(numpy.where(fresh, places, 0))
    order = places - first
    column, found = y / numpy.array([math.factorial(s) for s in order], float)[:, None], [None] * len(places)
    for i in places:
        for k in numpy.flatnonzero(first == i):
            found[k] = column[k]
        later = numpy.flatnonzero(first > i)
        steps = (x[i] - x[later])[:, None]
        after = (found[i] - column[later]) / steps
        for level in range(1, max(order[later], default=0) + 1):
            at = (order[later] == level)[:, None]
            after = np.where(at, (after[numpy.maximum(numpy.arange(len(later)) - 1, 0)] - column[later]) / steps, after)
        column = np.concatenate([column[: len(places) - len(later)], after])
    return np.stack(found)


class BarycentricInterpolator(_Polynomial, path="scipy.interpolate.BarycentricInterpolator"):
    """The polynomial through points, in a stable form; see `scipy.interpolate.BarycentricInterpolator`.

    Examples
    --------
    >>> import numpy as np
    >>> BarycentricInterpolator(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0]))(np.array([1.5]))
    array([2.25])
    """

    def __init__(
        self, xi: Any, yi: Any = None, axis: int = 0, *, wi: Any = None, rng: Any = None, random_state: Any = None
    ) -> None:
        # SciPy's order of the points decides about the last bits: by default it is the same in each run.
        order = {"rng": 0 if rng is None else rng} if random_state is None else {"random_state": random_state}
        if self._stand(xi, yi, axis, wi=wi, **order):
            self.xi, self.yi = self._points(xi, yi, axis)
            self.wi = floating(wi) if wi is not None else 1.0 / np.prod(self._apart(1.0), axis=1)

    @property
    def _scale(self) -> float:
        """The factor that keeps products of distances from overflow."""
        return float(4.0 / numpy.ptp(plain_value(self.xi)))

    def _apart(self, diagonal: float) -> Any:
        """The scaled differences of the points."""
        eye = numpy.eye(self.n)
        return self._scale * (self.xi[:, None] - self.xi) * (1.0 - eye) + diagonal * eye

    def _derivatives(self, x: Any, orders: list[int]) -> list[Any]:
        """Interpolate the derivatives at the points, by products of differences, which are smooth at the points."""
        steps = self._scale * (x[:, None] - self.xi)
        one = numpy.ones((x.shape[0], 1))
        before = np.cumprod(np.concatenate([one, steps[:, :-1]], axis=1), axis=1)
        after = np.flip(np.cumprod(np.concatenate([one, np.flip(steps[:, 1:], 1)], axis=1), axis=1), 1)
        weights = before * after * self.wi
        basis, values, found = weights / np.sum(weights, axis=1)[:, None], self.yi, []
        for _ in range(min(max(orders, default=0) + 1, self.n)):
            found.append(basis @ values)
            values = self._slopes() @ values
        return [found[m] if m < self.n else 0.0 * found[0] for m in orders]

    def _slopes(self) -> Any:
        """The matrix that gives the derivative at the points from the values there."""
        matrix = self._scale * (self.wi / self.wi[:, None]) / self._apart(1.0) * (1.0 - numpy.eye(self.n))
        return matrix - np.sum(matrix, axis=1)[:, None] * numpy.eye(self.n)
