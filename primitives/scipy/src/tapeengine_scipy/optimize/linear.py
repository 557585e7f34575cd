"""Linear programs: a vertex is the solution of the system of its active constraints."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value, plain_values
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating, of_python
from tapeengine_scipy.optimize.implicit import check_converged


@beside("scipy.optimize.linprog")
def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None),
    method: str = "highs", callback: Any = None, options: Any = None, x0: Any = None, integrality: Any = None,
) -> Any:  # fmt: skip
    """Minimise a linear function under linear constraints; see `scipy.optimize.linprog`.

    Its ``x`` and ``fun`` are functions of all traced values; the rest is plain. The vertex is the solution of its
    active constraints; it is refused if they do not determine it, or if there are more of them than unknowns.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> te.grad(lambda b: linprog([-1.0], [[2.0]], [b]).fun)(3.0)
    -0.5
    """
    if integrality is not None:
        raise UnsupportedError("linprog: whole numbers are not differentiated")
    cost = np.atleast_1d(floating(c))
    size = cost.shape[0]
    rows = {name: None if a is None else np.atleast_2d(floating(a)) for name, a in (("ub", A_ub), ("eq", A_eq))}
    ends = {name: None if b is None else np.atleast_1d(floating(b)) for name, b in (("ub", b_ub), ("eq", b_eq))}
    still = {
        "A_ub": _still(rows["ub"]), "b_ub": _still(ends["ub"]), "A_eq": _still(rows["eq"]), "b_eq": _still(ends["eq"]),
    }  # fmt: skip
    found = scipy.optimize.linprog(
        plain_value(cost), **still, bounds=plain_values(bounds), method=method, options=options
    )
    check_converged(found.success, "linprog", found.message)
    pairs = bounds if numpy.ndim(plain_values(bounds)) == 2 else [bounds] * size
    matrix, right = _active(found, rows, ends, pairs)
    if len(matrix) != size or numpy.linalg.matrix_rank(plain_value(np.stack(matrix))) < size:
        raise UnsupportedError(
            f"linprog: {len(matrix)} constraints are active and do not determine {size} unknowns smoothly; "
            "change the problem a little"
        )
    x = np.linalg.solve(np.stack(matrix), np.stack(right))
    return scipy.optimize.OptimizeResult({**found, "x": x, "fun": of_python(np.sum(cost * x))})


def _still(x: Any) -> Any:
    return None if x is None else plain_value(x)


def _active(found: Any, rows: Any, ends: Any, pairs: Any) -> tuple[list[Any], list[Any]]:
    """The rows and right-hand sides of the active constraints."""
    matrix: list[Any] = []
    right: list[Any] = []
    if rows["eq"] is not None:
        matrix, right = list(rows["eq"]), list(ends["eq"])
    if rows["ub"] is not None:
        scale = 1e-9 * (1.0 + numpy.abs(plain_value(ends["ub"])))
        for k in numpy.flatnonzero(numpy.abs(found.slack) <= scale):
            matrix.append(rows["ub"][int(k)])
            right.append(ends["ub"][int(k)])
    unit = numpy.eye(len(found.x))
    for k, pair in enumerate(pairs):
        for end in pair:
            if end is not None and abs(found.x[k] - plain_value(end)) <= 1e-9 * (1.0 + abs(plain_value(end))):
                matrix.append(unit[k])
                right.append(end)
                break
    return matrix, right
