"""Functions whose values no instruction computes: a replay calls them, and has the bits of the program everywhere."""

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from outcomes import shown

import tapeengine as te
import tapeengine.numpy as np
from tapeengine._core.scalars.scalar import opcode_of
from tapeengine.errors import StagingError

m = te.math
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "gamma": lambda x, y: m.gamma(x) * y,
    "lgamma": lambda x, y: m.lgamma(x) * y,
    "hypot": lambda x, y: m.hypot(x, y),
    "hypot of three": lambda x, y: m.hypot(x, 2.0, y * x),
    "dist": lambda x, y: m.dist([x, 1.0, y], [y, x, 0.5]),
    "fsum": lambda x, y: m.fsum([x * 1e16, y, 1.0, -x * 1e16]),
    "sumprod": lambda x, y: m.sumprod([x * 1e8, y, 3], [y * 1e8, 2.0, x]),
    "fma": lambda x, y: m.fma(x, y, -x),
    "log of a base": lambda x, y: m.log(x * x + 1.0, y * y + 2.0),
}
UFUNCS = [f for f in vars(numpy).values() if isinstance(f, numpy.ufunc) and opcode_of(f) is not None]
for ufunc in UFUNCS:
    for module in (numpy, np):
        function = getattr(module, ufunc.__name__)
        name = f"{module.__name__}.{ufunc.__name__}"
        if ufunc.nin == 1:
            FUNCTIONS[name] = lambda x, y, function=function: function(x) * y  # type: ignore[misc]
        else:
            FUNCTIONS[name] = lambda x, y, f=function: f(x, y) * f(x, 1.25) + f(0.75, y)  # type: ignore[misc]


def gradient(program: Callable[..., Any], *primals: Any) -> Any:
    value, back = te.vjp(program, *primals)
    return value, back(1.0)


DRAW = numpy.random.default_rng(0)
POINTS = [tuple(map(float, point)) for point in DRAW.normal(size=(200, 2)) * DRAW.choice([0.1, 1.0, 30.0], (200, 1))]
EDGES = [(0.0, 1.0), (-0.0, -1.0), (-1.0, 0.0), (math.nan, 1.0), (1.0, math.inf), (171.7, 2.0), (-math.inf, math.nan)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_replay_has_the_bits_of_the_program(name: str) -> None:
    program = FUNCTIONS[name]
    staged = te.stage(program)
    for point in [*POINTS, *EDGES, *POINTS[:5]]:
        assert shown(lambda point=point: gradient(staged, *point)) == shown(  # type: ignore[misc]
            lambda point=point: gradient(program, *point)  # type: ignore[misc]
        )
        assert shown(lambda point=point: staged(*point)) == shown(  # type: ignore[misc]
            lambda point=point: te.vjp(program, *point)[0]  # type: ignore[misc]
        )
    assert staged.refused is None
    assert staged.stats().replays > 0


@pytest.mark.parametrize("name", ["gamma", "hypot of three", "dist", "fsum", "sumprod", "fma", "numpy.exp"])
def test_one_recording_serves_all_points(name: str) -> None:
    staged = te.stage(FUNCTIONS[name])
    for x, y in POINTS[:50]:
        staged(abs(x) + 0.5, abs(y) + 0.5)
    assert staged.stats().recordings == 1
    hessian, wanted = te.hessian(lambda p: staged(*p)), te.hessian(lambda p: FUNCTIONS[name](*p))
    numpy.testing.assert_array_equal(hessian([0.75, 1.5]), wanted([0.75, 1.5]))
    assert te.jvp(staged, (0.75, 1.5), (1.0, 2.0)) == te.jvp(FUNCTIONS[name], (0.75, 1.5), (1.0, 2.0))


def way(x: Any, y: Any) -> Any:
    try:
        z = m.gamma(x)
    except ValueError:
        z = y * y
    for _ in range(3):
        z = m.hypot(z, y) if z > y else np.sin(z) + m.fsum([z, y, x])
    return z


def test_calls_in_branches() -> None:
    staged = te.stage(way, paths=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x, y in [*POINTS, (0.0, 2.0), (-1.0, 3.0), (172.0, 1.0), (0.0, 2.5)] * 2:
            assert shown(lambda x=x, y=y: gradient(staged, x, y)) == shown(lambda x=x, y=y: gradient(way, x, y))  # type: ignore[misc]
    assert staged.refused is None


def test_calls_between_operations_on_arrays() -> None:
    def program(a: Any, x: Any) -> Any:
        b = np.exp(a * np.exp(x)) + m.gamma(x)
        return np.sum(b * b) * np.sin(a[0]) + m.hypot(a[1], x)

    staged = te.stage(program)
    for k in range(20):
        a, x = numpy.linspace(-1.0, 0.1 * k, 5), 0.5 + 0.1 * k
        assert shown(lambda a=a, x=x: gradient(staged, a, x)) == shown(lambda a=a, x=x: gradient(program, a, x))  # type: ignore[misc]
    assert staged.stats().recordings == 1


def test_what_is_said_of_calls(tmp_path: Path) -> None:
    staged = te.stage(lambda x: m.gamma(x) * np.sin(x))
    assert staged(2.5) == te.vjp(staged.program, 2.5)[0]
    assert "= gamma(%1)" in str(staged)
    assert "sin(%1)" in staged.svg()
    staged.save(tmp_path / "gamma")
    assert gradient(te.load_staged(tmp_path / "gamma"), 2.5) == gradient(staged.program, 2.5)
    with pytest.raises(StagingError, match="functions"):
        staged.to_c("gamma")
    x = numpy.linspace(0.5, 3.0, 20)
    value, back = te.vjp(staged.batch, x)
    wanted = [gradient(staged.program, float(one)) for one in x]
    assert value.tolist() == [v for v, _ in wanted]
    assert back(numpy.ones(20))[0].tolist() == [d for _, (d,) in wanted]


@pytest.mark.parametrize("module", [numpy, np])
def test_an_error_of_numpy_is_a_path_of_its_own(module: Any) -> None:
    def program(x: Any) -> Any:
        try:
            return module.exp(x * 1000.0) * x
        except FloatingPointError:
            return x * 2.0

    staged = te.stage(program)
    with numpy.errstate(over="raise"):
        for x in (0.1, 1.0, 0.2, 2.0, 0.1, 1.0):
            assert gradient(staged, x) == gradient(program, x)
