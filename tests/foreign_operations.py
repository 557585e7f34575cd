"""Operators, ufuncs and functions of an array and another operand."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

VECTOR = np.array([0.8, 1.7, 2.4])
SQUARE = np.array([[2.5, 0.3, 0.1], [0.2, 1.9, 0.7], [0.4, 0.6, 2.2]])
X = np.array([1.3, 0.6, 2.9])
XS = np.array([[1.3, 0.6, 2.9], [0.9, 2.1, 0.4], [1.8, 0.5, 1.1]])
OPERATORS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.matmul, divmod, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge),
)
IN_PLACE = (
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod),
    *(operator.ipow, operator.imatmul),
)
UFUNCS = [f for name, f in sorted(vars(np).items()) if isinstance(f, np.ufunc) and f.nin == 2 and name == f.__name__]
#: Array functions of a traced array and an operand.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in "dot inner outer kron vdot convolve tensordot cross append".split()},
    **{name: getattr(np, name) for name in "allclose isclose array_equal searchsorted cov corrcoef".split()},
    **{f.__name__: lambda x, y, f=f: f([x, y]) for f in (np.concatenate, np.stack, np.vstack, np.hstack, np.block)},
    "where": lambda x, y: np.where(X > 1.0, x, y),
    "clip": lambda x, y: np.clip(x, 0.1, y),
    "interp": lambda x, y: np.interp(x, y, y),
    "solve": lambda x, y: np.linalg.solve(y, x),
    "solve the other": lambda x, y: np.linalg.solve(np.diag(np.array([1.0, 2.0, 3.0])), x * np.sum(y)),
    "average": lambda x, y: np.average(x, weights=y),
    "einsum": lambda x, y: np.einsum("...i,...i->...", x, y),
    "polyval": lambda x, y: np.polyval(y, x),
    "insert": lambda x, y: np.insert(x, 1, y),
    "outer ufunc": np.multiply.outer,
    "method dot": lambda x, y: x.dot(y),
    "method clip": lambda x, y: x.clip(0.1, y),
    "assignment": lambda x, y: assigned(x, y),
    "copyto": lambda x, y: (z := x * 1.0, np.copyto(z, y))[0] * x,
    "where=": lambda x, y: np.add(x, x, where=np.asarray(y) > 1.0, out=x * 0.0),
    "index by a mask": lambda x, y: x[y > 1.0],
}


def assigned(x: Any, y: Any) -> Any:
    z = x * 1.0
    z[...] = y
    return z * x
