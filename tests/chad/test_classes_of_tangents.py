"""Tangents of numbers may be numbers of numpy, arrays without axes, or integers: compiled code takes them all."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.chad.run.execute import Executable

TANGENTS: dict[str, Any] = {
    "float": float,
    "float64": np.float64,
    "0-d": np.array,
    "int": lambda x: int(4 * x),
}


def wave(x: Any, y: Any) -> Any:
    return math.sin(x) * y * y + x * y


def of_waves(x: Any, y: Any) -> Any:
    dx = math.cos(x) * y * y + y, 2 * math.sin(x) * y + x
    second = ((-math.sin(x) * y * y, 2 * math.cos(x) * y + 1), (2 * math.cos(x) * y + 1, 2 * math.sin(x)))
    return dx, second


@pytest.mark.parametrize("primal", [float, np.float64])
@pytest.mark.parametrize("classes", [*itertools.product(TANGENTS, repeat=2)], ids="-".join)
def test_products_with_tangents_of_any_class(primal: Any, classes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = te.program(wave)
    at = primal(0.5), primal(1.25)
    along = tuple(TANGENTS[name](x) for name, x in zip(classes, (0.75, -1.5), strict=True))
    first, second = of_waves(*map(float, at))
    numbers = [float(t) for t in along]

    def check() -> None:
        assert te.jvp(program, at, along)[1] == pytest.approx(np.dot(first, numbers), rel=1e-14)
        assert te.hvp(program, at, along) == pytest.approx(tuple(np.dot(second, numbers)), rel=1e-14)

    te.jvp(program, at, at)
    te.hvp(program, at, at)
    monkeypatch.setattr(Executable, "jvp", None)
    monkeypatch.setattr(Executable, "general_vjp", None)
    check()


@pytest.mark.parametrize("tangent", [1j, "1", np.ones(1), [1.0], np.array("a"), 10**400])
def test_other_tangents_of_numbers_are_refused_as_on_dual_numbers(tangent: Any) -> None:
    found = []
    for f in (te.program(wave).python, te.program(wave)):
        with pytest.raises(Exception, match=r".") as raised:
            te.jvp(f, (0.5, 1.25), (tangent, 1.0))
        found.append(raised.type)
    assert found[0] is found[1]
