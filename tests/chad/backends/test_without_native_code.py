"""Without llvmlite the machine runs loops whose steps depend on one another, or numpy's operations on dual numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.backends import tiers
from tapeengine.chad.run import execute

#: Steps of a loop that change `x`: by elements, and by numpy's operations.
BY_ELEMENTS = {
    "arrays": "x = [0.9 * x[i] + 0.1 * x[i] * x[i - 1] for i in range(len(x))]",
    "branches": "x = [v * v if v > 0.5 else v - x[0] / 8 for v in x]",
    "sums": "x = [x[i] - 0.25 * sum(v * x[i] for v in x) / len(x) for i in range(len(x))]",
    "inner loops": "y = [0.0] * len(x)\n    for i in range(1, len(x)): y[i] = 0.5 * y[i - 1] + x[i]\n    x = y",
}
BY_NUMPY = {
    "elements": "x = x + 0.1 * np.sin(x) * x",
    "neighbours": "x = x + 0.2 * (np.roll(x, 1) - x)",
    "products": "x = np.tanh(np.outer(x, x) @ x)",
    "parts": "y = x.copy()\n    y[1:-1] = 0.5 * x[1:-1] + 0.1 * (x[2:] + x[:-2])\n    x = y",
}
LOOPS = {"for": "for k in range(3):", "while": "k = 0\n  while k < 3:\n    k = k + 1"}
STEPS = {**BY_ELEMENTS, **BY_NUMPY}


@pytest.fixture(autouse=True)
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (tiers, execute):
        monkeypatch.setattr(module, "is_installed", lambda: False)


def written(name: str, loop: str) -> Callable[..., Any]:
    lines = [f"  {LOOPS[loop]}", f"    {STEPS[name]}", "  return sum(v * v for v in x)"]
    return defined("def f(x):\n" + "\n".join(lines), np=np)  # type: ignore[no-any-return]


@pytest.mark.parametrize("size", [5, 300])
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", STEPS)
def test_what_runs_a_loop(name: str, loop: str, size: int) -> None:
    function = written(name, loop)
    program, x, t = te.program(function), np.linspace(-0.6, 0.8, size), np.linspace(1.0, 2.0, size)
    (value, back), (plain, on_duals) = te.vjp(program, x), te.vjp(function, x)
    np.testing.assert_allclose(value, plain, rtol=1e-13)
    np.testing.assert_allclose(back(1.5)[0], on_duals(1.5)[0], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(te.jvp(program, (x,), (t,)), te.jvp(function, (x,), (t,)), rtol=1e-11)
    executable = program.executable
    assert executable.whole is None
    assert (executable.entry is not None) == (name in BY_ELEMENTS)
    assert executable.small is not None
