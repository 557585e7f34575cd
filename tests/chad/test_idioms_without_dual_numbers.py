"""Short idioms that are read and run without dual numbers, which would give the same numbers more slowly."""

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.run.execute import Executable

#: Of a matrix of integers `m`, a vector `x` and a number `y`.
IDIOMS = """
t = (x[0], y) + (x[1],); return t[0] * t[1] * t[2]
t = (x[0], y) * 2; return t[0] * t[3] + t[2]
d = {"a": x[0], "b": y} | {"b": x[1], "c": y}; return d["a"] * d["b"] * d["c"]
return x[np.tril(m)[1][0]] * y
return x[np.triu(m)[0][1]] * y
return x[np.nan_to_num(m)[1][0]] * y
return np.column_stack([x, x * y])[1][0] * x[0]
a, *b, c = [x[0], x[1], x[2], y]; return a * b[0] * b[1] - c
return sum(np.correlate(np.sin(x), x[:2])) * y
return sum(np.correlate(np.append(x, y), x[:2])) * y
return np.convolve(x, np.append(x, y))[2]
return sum([u * v for u, v in zip(x[:2], x)])
q = list(x); q = q[1:]; return q[0] * q[1] * y
""".strip().splitlines()
M, X, Y = np.array([[1, 2], [2, 0]]), np.array([0.5, 1.5, -0.7]), 0.8


@pytest.mark.parametrize("idiom", IDIOMS)
def test_an_idiom(idiom, monkeypatch):
    function = function_of("m, x, y", idiom.split("; "))
    wanted, of_duals = te.vjp(function, M, X, Y)
    monkeypatch.setattr(Executable, "dual_vjp", None)
    for backend in (None, "machine", "native"):
        value, back = te.vjp(te.program(function, backend=backend), M, X, Y)
        assert value == pytest.approx(wanted, rel=1e-14)
        for found, of_dual in zip(back(1.5)[1:], of_duals(1.5)[1:], strict=True):
            np.testing.assert_allclose(found, of_dual, rtol=1e-13)
