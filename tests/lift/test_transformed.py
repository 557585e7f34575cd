"""Lifting reaches the program inside of what transforms make of it, and lifted programs go through all transforms."""

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tapeengine as te

Program = Callable[..., Any]


def own(x: Any) -> Any:
    """A program that only runs lifted: `math.exp` takes plain numbers, and `numpy.eye` a trace."""
    return math.exp(x) * x * np.eye(2)[0, 0]


def rows(x: Any) -> Any:
    return x * x + 3.0 * np.eye(3)[0]


WRAPPERS: dict[str, tuple[Program, float]] = {  # and the order of the derivative that each of them takes
    "checkpoint": (te.checkpoint, 0),
    "twice": (lambda f: te.checkpoint(te.checkpoint(f)), 0),
    "stage": (te.stage, 0),
    "grad": (te.grad, 1),
    "value_and_grad": (lambda f: te.value_and_grad(f), 1),
    "jacfwd": (te.jacfwd, 1),
    "jacrev": (te.jacrev, 1),
    "jacobian": (te.jacobian, 1),
    "hessian": (te.hessian, 2),
    "grad of grad": (lambda f: te.grad(te.grad(f)), 2),
}


#: A name under which tests put what a decorator makes.
decorated: Any = None


def in_module(decorator: Program, program: Program, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a decorator makes of a program that is written in this module."""
    function = FunctionType(program.__code__, globals())  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = "decorated"
    made = decorator(function)
    monkeypatch.setitem(globals(), "decorated", made)
    return made


def derivative(order: float, x: float) -> float:
    return (x + order) * math.exp(x)


@pytest.mark.parametrize("name", WRAPPERS)
def test_what_a_transform_makes_can_be_lifted(name: str) -> None:
    wrap, order = WRAPPERS[name]
    lifted = te.lift(wrap(own))
    last = (lambda found: found[1]) if name == "value_and_grad" else (lambda found: found)
    assert last(lifted(0.5)) == pytest.approx(derivative(order, 0.5), rel=1e-14)
    assert te.grad(lambda x: last(lifted(x)))(0.5) == pytest.approx(derivative(order + 1, 0.5), rel=1e-13)


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_decorated_function_which_pickles_store_by_its_name_can_be_lifted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def calling(x: Any) -> Any:
        found = decorated(x)
        return found[1] if isinstance(found, tuple) else found

    wrap, order = WRAPPERS[name]
    made = in_module(wrap, own, monkeypatch)
    assert name == "grad of grad" or made.__reduce_ex__(4) == "decorated"
    for program in (calling, made):
        lifted = te.lift(program)
        last = (lambda found: found[1]) if program is made and name == "value_and_grad" else (lambda found: found)
        assert te.grad(lambda x, f=lifted, last=last: last(f(x)))(0.5) == pytest.approx(
            derivative(order + 1, 0.5), rel=1e-13
        )


def with_rule(transform: Program, program: Program) -> Any:
    """A function with a rule that gives ten times the derivative."""
    made: Any = transform(program)
    if transform is te.primitive:
        made.def_vjp(x=lambda ct: 10.0 * ct)
    elif transform is te.custom_vjp:
        made.defvjp(lambda x: (program(x), None), lambda residuals, ct: (10.0 * ct,))
    else:
        made.defjvp(lambda primals, tangents: (program(*primals), 10.0 * tangents[0]))
    return made


@pytest.mark.parametrize("transform", [te.primitive, te.custom_vjp, te.custom_jvp])
def test_a_decorated_function_with_a_rule_keeps_it(transform: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def same(x: Any) -> Any:
        return x

    made = in_module(lambda program: with_rule(transform, program), same, monkeypatch)
    assert te.grad(te.lift(made))(2.0) == 10.0
    assert te.grad(te.lift(lambda x: decorated(x) * x))(2.0) == 2.0 + 10.0 * 2.0


@pytest.mark.parametrize("name", WRAPPERS)
def test_what_a_transform_makes_is_lifted_with_the_function_that_calls_it(name: str) -> None:
    inner, order = WRAPPERS[name][0](own), WRAPPERS[name][1]

    def program(x: Any) -> Any:
        found = inner(x)
        return 2.0 * (found[1] if isinstance(found, tuple) else found)

    assert te.grad(te.lift(program))(0.5) == pytest.approx(2.0 * derivative(order + 1, 0.5), rel=1e-13)


def test_a_mapped_program_is_lifted() -> None:
    xs = np.array([0.5, -0.2])
    lifted = te.lift(te.vmap(own))
    assert lifted(xs) == pytest.approx(xs * np.exp(xs), rel=1e-14)
    assert te.grad(lambda xs: np.sum(lifted(xs)))(xs) == pytest.approx((xs + 1.0) * np.exp(xs), rel=1e-14)


AROUND: dict[str, Callable[[Program], Program]] = {
    "checkpoint": te.checkpoint,
    "iterate": lambda f: lambda x: te.iterate(f, 1, x),
    "iterate that captures": lambda f: lambda x: te.iterate(lambda s: f(x) + 0.0 * s, 2, x),
    "fork": lambda f: lambda x: te.fork(lambda: f(x))[0],
    "fork_map": lambda f: lambda x: te.fork_map(f, [x])[0],
    "stage": te.stage,
    "vmap": lambda f: lambda x: te.vmap(f)(np.stack([x, x]))[1],
    "lift": te.lift,
}


@pytest.mark.parametrize("name", AROUND)
def test_constants_of_lifted_programs_go_through_transforms(name: str) -> None:
    program = AROUND[name](te.lift(rows))
    x, w = np.array([0.1, -0.4, 0.9]), np.array([0.7, 0.2, -1.3])
    assert program(x).tolist() == rows(x).tolist()
    assert te.grad(lambda x: np.sum(w * program(x)))(x) == pytest.approx(2.0 * x * w, rel=1e-14)
    assert te.jvp(program, (x,), (w,))[1] == pytest.approx(2.0 * x * w, rel=1e-14)
    assert np.allclose(te.hessian(lambda x: np.sum(w * program(x)))(x), np.diag(2.0 * w), rtol=1e-14, atol=0.0)
