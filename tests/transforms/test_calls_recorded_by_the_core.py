"""A call of a program within a differentiated function: derivatives of each order, and what the core records itself."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.transforms import programs


def square(x: float) -> float:
    return x * x + 3.0 * math.sin(x)


def product(x: float, y: float) -> float:
    return x * x * math.exp(y) / (1.0 + x)


def total(xs: list[float]) -> float:
    found = 1.0
    for x in xs:
        found = found * x + x
    return found


def mixed(xs: list[float], scale: float, n: int) -> float:
    found = 0.0
    for k in range(n):
        found += scale * math.sin(xs[k])
    return found


def pairs(p: tuple[float, float], rows: list[list[float]]) -> float:
    return p[0] * rows[0][0] * rows[1][1] - p[1] * rows[0][1] * rows[1][0]


def norm(v: te.Vec, s: float) -> float:
    return sum(x * x * x for x in v) * s


def scaled(v: te.Vec, s: float) -> te.Vec:
    return v * s * s


#: For each function of a vector what calls a program with parts of it, and the program.
AROUND: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], Any]]] = {
    "a number": (square, lambda p, x: p(x[0]) * x[1]),
    "a number twice": (product, lambda p, x: p(x[0], x[0]) * 2.0),
    "a plain number": (product, lambda p, x: p(x[0] * x[1], 0.5) + x[2]),
    "a program of a program": (square, lambda p, x: p(p(x[0]) * x[1]) + x[2]),
    "a list": (total, lambda p, x: p([x[0], x[1] * x[0], x[2]]) * x[0]),
    "a list with a plain number": (total, lambda p, x: p([x[0], 2.0, x[2]])),
    "an integer": (mixed, lambda p, x: p([x[0], x[1]], x[2], 2)),
    "a tuple and rows": (pairs, lambda p, x: p((x[0], 2.0), [[x[1], 1.0], [x[2], x[0]]])),
    "no dependence": (square, lambda p, x: p(2.0) * x[0] * x[1]),
}
#: The same for arrays.
OF_ARRAYS: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], Any]]] = {
    "an array": (norm, lambda p, x: p(x, 2.0) * x[0]),
    "a part of an array": (norm, lambda p, x: p(x[1:], x[0])),
    "an array of a program": (scaled, lambda p, x: p(x * x, x[0]).sum()),
    "an array and a number": (scaled, lambda p, x: p(np.arange(3.0), x[0]) @ x),
}
POINT = [0.7, 1.3, -0.4]


def called(functions: dict[str, Any], name: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """The function around a program, and around the plain function on dual numbers."""
    function, around = functions[name]
    program = te.program(function)
    return (lambda x: around(program, x)), (lambda x: around(program.python, x))


def flat(x: Any) -> Any:
    return np.concatenate([np.ravel(part) for part in x]) if isinstance(x, list | tuple) else np.ravel(x)


DERIVATIVES: dict[str, Callable[..., Any]] = {
    "grad": lambda f, x: te.grad(f)(x),
    "jacobian": lambda f, x: te.jacobian(f)(x),
    "hessian": lambda f, x: te.hessian(f)(x),
    "hvp": lambda f, x: te.hvp(f, (x,), (x,)),
    "jvp": lambda f, x: te.jvp(f, (x,), (x,))[1],
    "a gradient of a gradient": lambda f, x: te.grad(lambda y: sum(a * b for a, b in zip(te.grad(f)(y), x)))(x),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("name", [*AROUND, *OF_ARRAYS])
def test_each_run_gives_what_dual_numbers_give(name: str, derivative: str) -> None:
    functions, point = (AROUND, POINT) if name in AROUND else (OF_ARRAYS, np.array(POINT))
    typed, plain = called(functions, name)
    expected = flat(DERIVATIVES[derivative](plain, point))
    for _ in range(3):  # the first run makes the program, later ones are the core's
        np.testing.assert_allclose(flat(DERIVATIVES[derivative](typed, point)), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", AROUND)
def test_second_derivatives_are_differences_of_first_ones(name: str) -> None:
    typed, _ = called(AROUND, name)
    step = 1e-6

    def gradient(k: int, h: float) -> Any:
        return flat(te.grad(typed)([x + h * (i == k) for i, x in enumerate(POINT)]))

    expected = [(gradient(k, step) - gradient(k, -step)) / (2 * step) for k in range(3)]
    for _ in range(2):
        np.testing.assert_allclose(te.hessian(typed)(POINT), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", [*AROUND, *OF_ARRAYS])
def test_later_calls_need_no_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    functions, point = (AROUND, POINT) if name in AROUND else (OF_ARRAYS, np.array(POINT))
    typed, _ = called(functions, name)
    transforms = ("grad", "hessian", "hvp") if name in AROUND and name != "no dependence" else ("grad",)
    for transform in transforms:
        DERIVATIVES[transform](typed, point)
        DERIVATIVES[transform](typed, point)
    calls: list[Any] = []
    monkeypatch.setattr(programs, "call_with_rule", lambda *args: calls.append(args))
    for transform in transforms:
        DERIVATIVES[transform](typed, point)
    assert calls == []


def test_a_constant_that_changes_is_seen() -> None:
    typed = te.program(with_factor)
    around = te.grad(lambda x: typed(x) * 2.0)
    try:
        assert [around(3.0) for _ in range(3)] == [12.0] * 3
        FACTORS[0] = globals()["FACTOR"] = 2.0
        assert [around(3.0) for _ in range(3)] == [24.0] * 3
    finally:
        FACTORS[0] = globals()["FACTOR"] = 1.0


FACTOR, FACTORS = 1.0, [1.0]


def with_factor(x: float) -> float:
    return x * x * FACTOR


def reciprocal(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else 1.0 / (x + 1.0)


def test_errors_and_poles_are_those_of_dual_numbers() -> None:
    typed = te.program(reciprocal)
    around = te.grad(lambda x: typed(x) * 2.0)
    assert [around(4.0) for _ in range(3)] == [0.5] * 3
    with pytest.raises(ZeroDivisionError):
        around(-1.0)
    second = te.hessian(lambda x: typed(x * x) * 1.0)
    assert second(2.0) == pytest.approx(0.0) == second(2.0)
    plain = te.hessian(lambda x: typed.python(x * x) * 1.0)
    for f, g in ((second, plain), (around, te.grad(lambda x: typed.python(x) * 2.0))):
        np.testing.assert_equal(f(0.0), g(0.0))


def test_an_array_that_changes_after_the_call_changes_no_derivative() -> None:
    typed = te.program(norm)

    def around(x: Any) -> Any:
        y = x * 1.0
        found = typed(y, 2.0)
        y[0] = 5.0
        return found + y[0] * 0.0

    x = np.array(POINT)
    for _ in range(3):
        np.testing.assert_allclose(te.grad(around)(x), 6.0 * x * x, rtol=1e-12)
