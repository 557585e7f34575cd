"""Programs run on dual numbers as they are written: with `math` and `numpy`, nested, and under every transform."""

import inspect
import math
from math import log as logarithm
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.chad.ordinary import is_traced, on_duals
from tapeengine.errors import StructureError


@te.program
def entropy(x: float) -> float:
    return -x * math.log(x) - (1.0 - x) * logarithm(1.0 - x)


@te.program
def logarithms(xs: te.Vec) -> te.Vec:
    return np.array([math.log(x) * later(x) for x in xs])


@te.program
def later(x: float) -> float:
    def inner(y: float) -> float:
        return math.exp(y) * x

    return inner(x)


def by_hand(x: np.ndarray) -> np.ndarray:
    return np.exp(x) + np.log(x) * np.exp(x) * (1.0 + x)


TRANSFORMS = {
    "jacobian": te.jacobian,
    "jacfwd": te.jacfwd,
    "jacrev": te.jacrev,
    "linearize": lambda f: lambda x: te.linearize(f, x)[1].matrix(),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_every_transform_takes_a_program(transform: Any) -> None:
    x = np.array([0.5, 2.0])
    np.testing.assert_allclose(transform(logarithms)(x), np.diag(by_hand(x)), rtol=1e-14)


SECOND = {
    "hessian": te.hessian,
    "grad of grad": lambda f: te.grad(te.grad(f)),
    "jacfwd of grad": lambda f: te.jacfwd(te.grad(f)),
    "jvp of grad": lambda f: lambda x: te.jvp(te.grad(f), (x,), (1.0,))[1],
    "grad of jvp": lambda f: te.grad(lambda x: te.jvp(f, (x,), (1.0,))[1]),
    "hvp": lambda f: lambda x: te.hvp(f, (x,), (1.0,)),
    "inside a callable": lambda f: te.grad(te.grad(lambda x: f(x * 1.0))),
}


@pytest.mark.parametrize("second", SECOND.values(), ids=SECOND)
def test_programs_nest(second: Any) -> None:
    assert second(entropy)(0.3) == pytest.approx(-1.0 / (0.3 * 0.7), rel=1e-13)


def test_a_program_with_numbers_alone_is_its_own_function() -> None:
    def square(x: float) -> float:
        return x * x

    assert inspect.unwrap(te.program(square).python) is square


def test_a_captured_module_is_exchanged_and_others_are_not() -> None:
    module, number = math, 3.0

    def captured(x: Any) -> Any:
        return module.sin(x) * number

    made = on_duals(captured)
    assert made is not None and made is not captured
    assert te.grad(made)(0.5) == pytest.approx(3.0 * math.cos(0.5), rel=1e-15)
    assert captured(0.5) == made(0.5)


def test_a_name_that_is_defined_later_is_waited_for() -> None:
    scope: dict[str, Any] = {"math": math}
    exec("def f(x):\n    return math.sin(x) * coefficient", scope)
    with pytest.raises(NameError, match="name 'coefficient' is not defined"):
        te.grad(on_duals(scope["f"]))(0.5)
    scope["coefficient"] = 2.0
    made = on_duals(scope["f"])
    assert te.grad(made)(0.5) == 2.0 * math.cos(0.5)
    assert made(0.5) == 2.0 * math.sin(0.5)


def test_a_wrong_argument_is_still_refused() -> None:
    with pytest.raises(StructureError, match="the argument x"):
        te.vjp(entropy, "text")
    assert not is_traced(({"a": 1.0}, [2.0], "text"))


@te.program
def scaled(x: float, y: float = 3.0, z: float = 1.0) -> float:
    return x * y + z


def test_arguments_by_name_are_not_differentiated() -> None:
    for program in (scaled, scaled.python):
        value, backpropagator = te.vjp(program, 2.0, z=5.0, y=4.0)
        assert (value, backpropagator(1.0)) == (13.0, (4.0,))
        assert te.vjp(program, 2.0)[0] == 7.0
        with pytest.raises(TypeError, match="unexpected keyword argument 'w'"):
            te.vjp(program, 2.0, w=1.0)
    assert te.grad(lambda x: te.vjp(scaled, x, y=x)[0])(2.0) == 4.0


def test_the_short_way_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    program = te.program(scaled.function)
    te.vjp(program, 1.0, 2.0, 3.0)
    tried = []
    monkeypatch.setattr(program.executable, "vjp", lambda primals: tried.append(primals))
    value, backpropagator = te.vjp(program, np.float64(2.0), 4.0, 1.0)
    assert (value, backpropagator(1.0), tried) == (9.0, (4.0, 2.0, 1.0), [])


def towers(n: int, x: float) -> float:
    return x if n < 2 else math.sin(towers(n - 1, x)) + towers(n - 2, x)


def test_a_recursive_function_that_is_not_decorated_calls_itself() -> None:
    def inside(n: int, x: float) -> float:
        return x if n < 2 else math.sin(inside(n - 1, x)) + inside(n - 2, x)

    for function in (towers, inside):
        program = te.program(function)
        value, back = te.vjp(program.python, 5, 0.3)
        expected, wanted = te.vjp(program, 5, 0.3)
        assert value == expected == towers(5, 0.3)
        assert back(1.0)[1] == pytest.approx(wanted(1.0)[1], rel=1e-14)
    assert inside.__closure__ is not None and inside.__closure__[0].cell_contents is inside


def halves(x):
    return np.zeros(2, dtype=float) + np.array([1, 2]).astype(float) * float(x)


def kind_of(x):
    return x if type(x) is float else -x


@pytest.mark.parametrize("function", [halves, kind_of])
def test_float_means_the_type_where_it_is_no_call(function: Any) -> None:
    exchanged = on_duals(function)
    assert exchanged is not None
    np.testing.assert_array_equal(exchanged(2.0), function(2.0))
    np.testing.assert_array_equal(te.jvp(on_duals(halves), (2.0,), (1.0,))[1], [1.0, 2.0])
