"""Rows by index: in range or not, from the end or not, read or not, they give what Python gives, in every back end."""

import itertools
from typing import Any

import numpy as np
import pytest
from chad.source_programs import Source, function_of

import tapeengine
from tapeengine import chad as te

ENGINE = tapeengine.Engine()
HEADER = "def program(m: te.Array[te.Vec], n: int, ks: te.Array[int]):"
BODIES = {
    "row": "return m[n]",
    "row that is not read": "r = m[n]\n    return 2.0 * len(m)",
    "element": "return m[n][0]",
    "elements": "return sum(v * v for v in m[n])",
    "elements by index": "return sum(m[n][j] for j in range(len(m[0])))",
    "length": "return 1.5 * len(m[n])",
    "rows of rows": "return sum(m[k][j] ** 2 for j in range(len(m[0])) for k in ks)",
    "neighbours": "return 0.0 + sum(m[i - n][j] * m[i][j] for i in range(len(m)) for j in range(len(m[i])))",
    "a row as a value": "r = m[ks[0]]\n    return [x * y for x, y in zip(r, m[n])]",
    "a loop over rows": "s = m[0]\n    for k in ks:\n        s = [a * b for a, b in zip(s, m[k])]\n    return sum(s)",
    "rows of its own": "w = [[x * x for x in r] for r in m]\n    return sum(w[n]) * w[ks[0]][0]",
    "appended rows": "w = [m[0]]\n    for k in ks:\n        w.append([x * 2.0 for x in w[-1]])\n    return sum(w[n])",
}
MATRICES = {
    "dense": np.array([[0.5, -1.0], [2.0, 0.25], [1.5, 3.0]]),
    "ragged": [[0.5, -1.0], [2.0], [1.5, 3.0, 0.75]],
    "no rows": np.zeros((0, 2)),
    "one": np.array([[0.5, -1.0]]),
}
BACKENDS = (None, "machine", "native")


def outcome(f: Any, primals: tuple[Any, ...]) -> Any:
    """The value and the cotangent of the matrix in one list, or the type of what is raised."""
    try:
        value, back = ENGINE.vjp(f, *primals)
        d = [1.0 + k for k in range(len(value))] if isinstance(value, list | np.ndarray) else 1.5
        cotangent = back(np.array(d) if isinstance(value, np.ndarray) else d)[0]
    except (IndexError, ValueError, ZeroDivisionError) as error:
        return type(error)
    return [*np.ravel(value).tolist(), *(float(x) for row in cotangent for x in row)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("body", BODIES)
def test_rows_by_index(body: str, matrix: str, backend: Any) -> None:
    if backend == "native":
        pytest.importorskip("llvmlite")
    function = function_of(Source(hash((body, matrix, backend)), f"{HEADER}\n    {BODIES[body]}\n", ()))
    program = te.program(function, backend=backend)
    for n, ks in itertools.product((0, -1, 1, 2, -3, 3, -4, 40), ([0, -1], [1], [7])):
        primals = (MATRICES[matrix], n, ks)
        found, wanted = outcome(program, primals), outcome(function, primals)
        assert (found is wanted) if isinstance(wanted, type) else found == pytest.approx(wanted), (n, ks)
