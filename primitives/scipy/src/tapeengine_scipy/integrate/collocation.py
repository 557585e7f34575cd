"""One interval of the adjoint of an ordinary differential equation, by collocation.

The sensitivities s of y' = f(t, y, p) solve s' = A s + B, with A = df/dy and B = df/dp. On an interval of length h from
a they are a polynomial that satisfies this equation at Radau's nodes, with the slopes k_j = A_j s(t_j) + B_j there:

    s(a + x h) = s(a) + h sum_j w_j(x) k_j,    w_j(x) the integral from 0 to x of the polynomial of node j

So states at any times in the interval are linear in the slopes. Its transpose takes the cotangent l of the state at the
end and cotangents c_i of states at x_i to the cotangents g_j of the slopes, and these to the ones at a:

    g_j = h (w_j(1) l + sum_i w_j(x_i) c_i) + h sum_k w_j(x_k) A_k^T g_k
    l(a) = l + sum_i c_i + sum_j A_j^T g_j,    the parameters get sum_j B_j^T g_j

All nodes are evaluated in one trace, which gives the products A_j^T g_j, and the sum over B_j, at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy
import scipy
from numpy.polynomial import legendre

import tapeengine as te
import tapeengine.numpy as np
from tapeengine_scipy._callables import as_vector, plain

COUNT = 5  # nodes
MOST = 40  # the longest state for which the equations are solved directly
WHERE = "the solver of differential equations"
ROUNDS = 40  # of the iteration for longer ones


def _radau() -> Any:
    """The nodes in (0, 1], with 1 among them: an order of 2 COUNT - 1, and stiff components are damped."""
    polynomial = numpy.zeros(COUNT + 1)
    polynomial[-2:] = -1.0, 1.0
    return (numpy.sort(legendre.legroots(polynomial).real) + 1.0) / 2.0


def _integrals(x: Any) -> Any:
    """The integrals from 0 to x of Legendre's polynomials on [0, 1], as rows."""
    values = legendre.legvander(2.0 * x - 1.0, COUNT)
    rest = (values[:, 2:] - values[:, :-2]) / (4.0 * numpy.arange(1, COUNT) + 2.0)
    return numpy.concatenate([x[:, None], rest], axis=1)


NODES = _radau()
_TO_LEGENDRE = numpy.linalg.inv(legendre.legvander(2.0 * NODES - 1.0, COUNT - 1))


def weights(x: Any) -> Any:
    """Those of the slopes in the states at x, as rows."""
    return _integrals(x) @ _TO_LEGENDRE


COUPLING = weights(NODES)
_VALUES, _VECTORS = numpy.linalg.eig(COUPLING.T)


@dataclass
class Equation:
    """A differential equation and its solution.

    Attributes
    ----------
    slope_of : callable
        The slope as a function of time and state, for parameters.
    states : callable
        The solution as a function of times, with the ends of the solver's steps in ``ts``.
    params : array
    accuracy : float
        The relative error of its adjoint.
    smallest : float
        The absolute tolerance of the solution.
    is_stiff : bool
        Whether an iteration without a Jacobian has failed.
    """

    slope_of: Callable[[Any], Callable[[Any, Any], Any]]
    states: Any
    params: Any
    accuracy: float
    smallest: float
    is_stiff: bool = False


class Linear:
    """An equation that is linearised at the nodes of an interval."""

    def __init__(self, equation: Equation, start: float, end: float) -> None:
        self._equation, self._length, times = equation, end - start, start + NODES * (end - start)

        def slopes(ys: Any, params: Any) -> Any:
            slope = equation.slope_of(params)
            return np.stack([as_vector(slope(t, ys[:, j])) for j, t in enumerate(times.tolist())])

        found = equation.states(times)
        self._size = found.shape[0]
        self._recorded = te.vjp(slopes, found, equation.params)[1]
        self._back = plain(self._recorded, WHERE)

    def transposed(self, ct: Any, inner: Any, shares: Any) -> tuple[Any, Any]:
        """The cotangents of the state at the start and of the parameters, for one of the end and those within."""
        sources = COUPLING[-1][:, None] * ct + shares.T @ inner.T
        at_start, of_params = self._back(self._solved(self._length * sources))
        return ct + inner.sum(axis=1) + at_start.sum(axis=1), of_params

    def _solved(self, sources: Any) -> Any:
        """The cotangents of the slopes."""
        if self._size <= MOST:
            return scipy.linalg.lu_solve(self._factors, sources.ravel(), check_finite=False).reshape(sources.shape)
        if not self._equation.is_stiff:
            found, failed = self._iterated(sources, None)
            if not failed:
                return found
            self._equation.is_stiff = True
        return self._iterated(sources, self._nearby)[0]

    @cached_property
    def _factors(self) -> Any:
        products = numpy.einsum("lj,bal->jalb", self._length * COUPLING, self._jacobians(slice(None)))
        whole = COUNT * self._size
        return scipy.linalg.lu_factor(numpy.eye(whole) - products.reshape(whole, whole), check_finite=False)

    def _jacobians(self, nodes: Any) -> Any:
        """The derivatives of each slope by each component of the state, at nodes."""

        def rows() -> Any:
            for unit in numpy.eye(self._size):
                ct = numpy.zeros((COUNT, self._size))
                ct[nodes] = unit
                yield self._recorded(ct)[0]

        return numpy.stack(plain(lambda: list(rows()), WHERE)())

    def _iterated(self, sources: Any, nearby: Any) -> tuple[Any, Any]:
        def residual(g: Any) -> Any:
            g = g.reshape(sources.shape)
            return (g - self._length * COUPLING.T @ self._back(g)[0].T).ravel()

        size = sources.size
        operator = scipy.sparse.linalg.LinearOperator((size, size), residual, dtype=float)
        options = {"restart": ROUNDS, "maxiter": 1 if nearby is None else 5, "M": nearby}
        found, failed = scipy.sparse.linalg.gmres(
            operator, sources.ravel(), rtol=max(1e-3 * self._equation.accuracy, 1e-13), **options
        )
        return found.reshape(sources.shape), failed

    @cached_property
    def _nearby(self) -> Any:
        """The inverse for the Jacobian of the middle node at all nodes, which separates for the eigenvectors."""
        middle = COUNT // 2
        jacobian = self._jacobians(middle)[:, :, middle]
        eye, into = numpy.eye(self._size), numpy.linalg.inv(_VECTORS)
        factors = [scipy.linalg.lu_factor(eye - self._length * value * jacobian.T) for value in _VALUES]

        def solve(g: Any) -> Any:
            parts = into @ g.reshape(COUNT, self._size)
            solved = [scipy.linalg.lu_solve(factor, part) for factor, part in zip(factors, parts, strict=True)]
            return (_VECTORS @ numpy.stack(solved)).real.ravel()

        whole = COUNT * self._size
        return scipy.sparse.linalg.LinearOperator((whole, whole), solve, dtype=float)
