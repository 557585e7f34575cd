"""Linear programs: a vertex is the solution of the system of its active constraints."""

from collections.abc import Iterator
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value, plain_values
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._values import floating, of_python
from tapeengine_scipy.optimize.implicit import check_converged


@with_signature("scipy.optimize.linprog")
def linprog(
    c: Any, A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, bounds: Any, method: str, options: Any, integrality: Any,
    **_: Any,
) -> Any:  # fmt: skip
    """Minimise a linear function under linear constraints; see `scipy.optimize.linprog`.

    Its numbers are functions of all traced values. The vertex is the solution of its active constraints, and their
    marginals solve the transposed system; both are refused if the constraints do not determine the vertex, or if there
    are more of them than unknowns.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> te.grad(lambda b: linprog([-1.0], [[2.0]], [b]).fun)(3.0)
    -0.5
    """
    if integrality is not None:
        raise UnsupportedError("linprog: integrality= is not differentiated")
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
    active = list(_active(found, rows, ends, pairs))
    matrix = np.stack([row for _, _, row, _ in active]) if active else numpy.zeros((0, size))
    if len(active) != size or numpy.linalg.matrix_rank(plain_value(matrix)) < size:
        raise UnsupportedError(
            f"linprog: {len(active)} constraints are active and do not determine {size} unknowns smoothly; "
            "change the problem a little"
        )
    x = np.linalg.solve(matrix, np.stack([right for *_, right in active]))
    left = _left(x, rows, ends, pairs)
    marginals = np.linalg.solve(matrix.T, cost)
    groups = {name: _group(found[name], name, active, left[name], marginals) for name in _GROUPS if name in found}
    sides = {"slack": left["ineqlin"], "con": left["eqlin"]}
    return scipy.optimize.OptimizeResult({**found, **sides, **groups, "x": x, "fun": of_python(np.sum(cost * x))})


def _still(x: Any) -> Any:
    return None if x is None else plain_value(x)


#: SciPy's names of the groups of constraints.
_GROUPS = ("eqlin", "ineqlin", "lower", "upper")


def _active(found: Any, rows: Any, ends: Any, pairs: Any) -> Iterator[tuple[str, int, Any, Any]]:
    """Yield the group, the number, the row and the right-hand side of each active constraint."""
    if rows["eq"] is not None:
        yield from (("eqlin", k, rows["eq"][k], ends["eq"][k]) for k in range(rows["eq"].shape[0]))
    if rows["ub"] is not None:
        scale = 1e-9 * (1.0 + numpy.abs(plain_value(ends["ub"])))
        for k in map(int, numpy.flatnonzero(numpy.abs(found.slack) <= scale)):
            yield "ineqlin", k, rows["ub"][k], ends["ub"][k]
    unit = numpy.eye(len(found.x))
    for k, pair in enumerate(pairs):
        for name, end in zip(("lower", "upper"), pair, strict=True):
            if end is not None and abs(found.x[k] - plain_value(end)) <= 1e-9 * (1.0 + abs(plain_value(end))):
                yield name, k, unit[k], end
                break


def _left(x: Any, rows: Any, ends: Any, pairs: Any) -> dict[str, Any]:
    """Return for each group how far the vertex is from its constraints."""
    low, high = zip(*pairs, strict=True)
    return {
        "eqlin": numpy.zeros(0) if rows["eq"] is None else ends["eq"] - rows["eq"] @ x,
        "ineqlin": numpy.zeros(0) if rows["ub"] is None else ends["ub"] - rows["ub"] @ x,
        "lower": x - np.stack([-numpy.inf if end is None else end for end in low]),
        "upper": np.stack([numpy.inf if end is None else end for end in high]) - x,
    }


def _group(theirs: Any, name: str, active: list[Any], left: Any, marginals: Any) -> Any:
    """Return distances and marginals of a group; a constraint that is not active has marginal 0."""
    each: list[Any] = [0.0] * len(theirs.marginals)
    for value, (group, k, _, _) in zip(marginals, active, strict=True):
        if group == name:
            each[k] = value
    return scipy.optimize.OptimizeResult({**theirs, "residual": left, "marginals": np.array(each, float)})
