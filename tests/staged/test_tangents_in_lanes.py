"""Tangents and second derivatives of lanes run in lanes too, with the bits of lanes that run one by one."""

import math
import queue
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

N = 21
RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=N), np.abs(RNG.normal(size=N)) + 0.1
TX, TY = RNG.normal(size=N), RNG.normal(size=N)


def smooth(x: Any, y: Any) -> Any:
    return te.math.sin(x) * y + te.math.exp(-x) / (1.0 + y * y) - te.math.atan2(x, y) + te.math.log(y) - 2.0 / y


def branching(x: Any, y: Any) -> Any:
    if x > 0.5:
        return x * y
    return te.math.sqrt(y) * te.math.tanh(x) if x < -0.3 else abs(x) ** y


def structured(x: Any, y: Any) -> Any:
    return {"sum": x + y, "rest": [x * y, 3.0, max(x, y)]}


PROGRAMS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (smooth, branching, structured)}


def total(f: Any, weights: Any) -> Callable[..., Any]:
    """A number of all values of a program in lanes."""

    def number(*args: Any) -> Any:
        value = f(*args)
        parts = [value] if not isinstance(value, dict) else [value["sum"], value["rest"][0], value["rest"][2]]
        return sum((part * part * weights).sum() for part in parts)

    return number


WEIGHTS = np.linspace(0.5, 2.0, N)
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "jvp": lambda f: te.jvp(f, (X, Y), (TX, TY)),
    "jvp along one argument": lambda f: te.jvp(f, (X, Y), (TX, np.zeros(N))),
    "linear map": lambda f: te.linearize(f, X, Y)[1]((TX, TY)),
    "hvp": lambda f: te.hvp(total(f, WEIGHTS), (X, Y), (TX, TY)),
    "gradient of a gradient": lambda f: te.grad(lambda x: (te.grad(total(f, WEIGHTS))(x, Y) * TX).sum())(X),
    "gradient of a tangent": lambda f: te.grad(lambda x: te.jvp(total(f, WEIGHTS), (x, Y), (TX, TY))[1])(X),
    "derivative by the tangent": lambda f: te.grad(lambda t: te.jvp(total(f, WEIGHTS), (X, Y), (t, TY))[1])(TX),
    "some lanes": lambda f: te.hvp(total(f, WEIGHTS * (X > 0.0)), (X, Y), (TX, TY)),
    "third": lambda f: te.jvp(lambda x: te.hvp(total(f, WEIGHTS), (x, Y), (TX, TY))[0], (X,), (TX,)),
    "jacobian": lambda f: te.jacobian(f)(X[:3], Y[:3]),
}


def flat(value: Any) -> list[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in flat(part)]
    return np.ravel(value).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_those_of_single_lanes(name: str, transform: str, threads: int) -> None:
    call, program = TRANSFORMS[transform], PROGRAMS[name]
    staged = te.vmap(te.stage(program), threads=threads)
    wanted = flat(call(te.vmap(program)))
    for _ in range(3):
        np.testing.assert_allclose(flat(call(staged)), wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("transform", ["jvp", "linear map", "hvp", "gradient of a gradient", "gradient of a tangent"])
def test_the_program_does_not_run_for_each_lane(transform: str) -> None:
    runs = queue.SimpleQueue[None]()  # shows nothing of its contents, so they are not compared

    def counting(x: Any, y: Any) -> Any:
        runs.put(None)
        return te.math.sin(x) * y

    staged = te.vmap(te.stage(counting))
    TRANSFORMS[transform](staged)
    once = runs.qsize()
    for _ in range(3):
        TRANSFORMS[transform](staged)
    assert once <= 6
    assert runs.qsize() == once


@pytest.mark.parametrize("axes", [(0, None), (None, 0)])
def test_the_tangent_of_a_shared_number_counts_in_all_lanes(axes: Any) -> None:
    args = tuple(a if axis == 0 else 0.7 for a, axis in zip((X, Y), axes, strict=True))
    tangents = tuple(a if axis == 0 else -1.3 for a, axis in zip((TX, TY), axes, strict=True))
    plain, staged = (te.vmap(f, axes) for f in (smooth, te.stage(smooth)))
    for _ in range(2):
        np.testing.assert_array_equal(te.jvp(staged, args, tangents)[1], te.jvp(plain, args, tangents)[1])
        found = [te.hvp(total(f, WEIGHTS), args, tangents) for f in (staged, plain)]
        np.testing.assert_allclose(*map(flat, found), rtol=1e-13, atol=1e-13)


def test_zeros_are_nothing_at_poles() -> None:
    x, along = np.array([0.0, 1.0, 4.0]), np.array([0.0, 1.0, -1.0])
    plain, staged = te.vmap(te.math.sqrt), te.vmap(te.stage(lambda x: te.math.sqrt(x)))
    staged(x)
    assert te.jvp(staged, (x,), (along,))[1].tolist() == te.jvp(plain, (x,), (along,))[1].tolist() == [0.0, 0.5, -0.25]
    for weights in (along, np.ones(3)):
        of = [te.hvp(lambda x, f=f, w=weights: (f(x) * w).sum(), (x,), (along,)) for f in (plain, staged)]  # type: ignore[misc]
        np.testing.assert_array_equal(*of)


def test_lanes_agree_with_differences() -> None:
    f = te.vmap(te.stage(smooth))
    h = 1e-6
    found = (f(X + h * TX, Y + h * TY) - f(X - h * TX, Y - h * TY)) / (2 * h)
    np.testing.assert_allclose(te.jvp(f, (X, Y), (TX, TY))[1], found, rtol=1e-6, atol=1e-6)
    gradient = te.grad(total(f, WEIGHTS))
    second = (gradient(X + h * TX, Y) - gradient(X - h * TX, Y)) / (2 * h)
    product = te.hvp(total(f, WEIGHTS), (X, Y), (TX, np.zeros(N)))[0]
    np.testing.assert_allclose(product, second, rtol=1e-5, atol=1e-5)
    assert math.isfinite(product.sum())
