"""A staged program that must not be replayed runs once for each lane, and its derivatives belong to that run."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from leaves import numbers

import tapeengine as te
from tapeengine.errors import RepeatError

pytestmark = pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")

X = np.array([1.0, 2.0, 3.0])


def counting() -> Callable[[Any], Any]:
    runs = [0]

    def program(x: Any) -> Any:
        runs[0] += 1
        return x * x * runs[0]

    return program


def reading() -> Callable[[Any], Any]:
    numbers = itertools.count(1)
    return lambda x: x * x * next(numbers)


def drawing() -> Callable[[Any], Any]:
    rng = np.random.default_rng(3)
    return lambda x: x * x * rng.normal()


def globally() -> Callable[[Any], Any]:
    random.seed(3)
    return lambda x: x * x * random.random()


def keeping() -> Callable[[Any], Any]:
    kept: list[Any] = []

    def program(x: Any) -> Any:
        kept.append(te.value(x))
        return x * x * len(kept)

    return program


MAKERS = {made.__name__: made for made in (counting, reading, drawing, globally, keeping)}
#: Transforms of a function of all lanes, each called twice.
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f(X),
    "vjp": lambda f: (lambda value, back: (value, back(np.ones(3))))(*te.vjp(f, X)),
    "jvp": lambda f: te.jvp(f, (X,), (X,)),
    "gradient": lambda f: te.value_and_grad(lambda x: np.sum(f(x)))(X),
    "jacobian": lambda f: te.jacobian(f)(X),
    "forward": lambda f: te.jacfwd(f)(X),
    "hessian": lambda f: te.hessian(lambda x: np.sum(f(x)))(X),
    "hvp": lambda f: te.hvp(lambda x: np.sum(f(x)), (X,), (X,)),
    "gradient of a gradient": lambda f: te.grad(lambda x: np.sum(te.grad(lambda y: np.sum(f(y)))(x) ** 2))(X),
    "linear map": lambda f: te.linearize(f, X)[1](X),
    "shared": lambda f: te.value_and_grad(lambda s: np.sum(f(X * s)))(2.0),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", MAKERS)
def test_programs_that_differ_from_run_to_run(name: str, transform: str) -> None:
    call, make = TRANSFORMS[transform], MAKERS[name]
    plain = te.vmap(make())
    wanted = [call(plain) for _ in range(2)]
    staged = te.vmap(te.stage(make()))
    for values in wanted:
        assert str(call(staged)) == str(values)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_other_programs_are_replayed(transform: str) -> None:
    staged = te.stage(lambda x: x * x if x > 1.5 else te.math.sin(x))
    wanted = numbers(TRANSFORMS[transform](te.vmap(staged.program)))
    mapped = te.vmap(staged)
    for _ in range(3):
        found = numbers(TRANSFORMS[transform](lambda x: mapped(x)))
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert 1 <= staged.stats().recordings <= 2


def test_a_lane_that_draws() -> None:
    rng = np.random.default_rng(3)
    mapped = te.vmap(te.stage(lambda x: x * x if x < 2.5 else x * rng.normal()))
    with pytest.raises(RepeatError, match="draws random numbers"):
        te.jvp(lambda x: mapped(x), (X,), (X,))  # whose other lanes have been replayed
    value, tangent = te.jvp(lambda x: mapped(x), (X,), (X,))
    np.testing.assert_allclose(tangent, [2.0, 8.0, value[2]])
