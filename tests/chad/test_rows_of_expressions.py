"""Rows of matrices that an expression makes: back ends run such programs, and keep rows for the reverse pass."""

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.run.execute import Executable

MADE = ["(x @ w)", "np.exp(x)", "(x * 2.0)", "x.T", "np.tanh(x @ w + w[0])", "(x / np.sum(x, axis=1, keepdims=True))"]
READ = ["np.sum({}[1])", "{}[0] @ {}[-1]", "np.max({}[0]) + {}[1, 2]", "sum(np.sum(r) ** 2 for r in {})", "{}[1][2]"]


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("read", READ)
def test_rows_of_expressions(made, read, backend, monkeypatch):
    def refuse(self, primals):
        raise AssertionError("runs on dual numbers")

    if backend != "machine":  # which has no rows that the reverse pass reads
        monkeypatch.setattr(Executable, "dual_vjp", refuse)
    f = function_of("x, w", [f"return {read.format(made, made)}"])
    rng = np.random.default_rng(0)
    x, w, dx, dw = (rng.uniform(0.5, 1.5, size=(3, 3)) for _ in range(4))
    value, back = te.vjp(te.program(f, backend=backend), x, w)
    assert value == pytest.approx(f(x, w), rel=1e-13)
    step = 1e-6
    slope = (f(x + step * dx, w + step * dw) - f(x - step * dx, w - step * dw)) / (2 * step)
    of_x, of_w = back(1.0)
    assert np.sum(of_x * dx) + np.sum(of_w * dw) == pytest.approx(slope, rel=1e-7, abs=1e-8)
