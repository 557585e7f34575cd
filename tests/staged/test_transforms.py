"""Every transform of a staged program has the bits of the program's own, down to the signs of zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from leaves import bits

import tapeengine as te
import tapeengine.numpy as np

#: Steps of random programs from a vector of three numbers to another one; many derivatives are zero of either sign.
OF_ARRAYS: tuple[Callable[[Any], Any], ...] = (
    lambda x: -x,
    lambda x: 1.0 - x,
    lambda x: x[0] - x,
    lambda x: x * x[::-1],
    lambda x: x * -0.5,
    lambda x: x * numpy.array([0.0, -1.0, 2.0]),
    lambda x: x / -4.0,
    lambda x: np.where(x > 0.25, 2.0 * x, -x),
    lambda x: np.maximum(x, -x),
    lambda x: -np.maximum(x, 0.0),
    lambda x: -np.tanh(x) * x[1],
    lambda x: numpy.array([[1.0, 0.0, -1.0], [0.0, -2.0, 0.0], [-0.0, 1.0, 0.5]]) @ x,
    lambda x: np.outer(x, -x)[1],
    lambda x: np.concatenate([x[:1] - x[1:2], -x[1:]]),
    lambda x: x - np.sum(x * x, keepdims=True),
    lambda x: np.stack([x[2] * x[0], -x[1], x[0] - 1.0]),
)
#: The same from a list to another one.
OF_LISTS: tuple[Callable[[Any], Any], ...] = (
    lambda x: [-x[2], x[1], x[0]],
    lambda x: [1.0 - a for a in x],
    lambda x: [a * b for a, b in zip(x, x[::-1], strict=True)],
    lambda x: [a * -0.5 for a in x],
    lambda x: [x[0] * 0.0, x[1] * -0.0, x[2]],
    lambda x: [2.0 * a if a > 0.25 else -a for a in x],
    lambda x: [-te.math.tanh(a) * x[1] for a in x],
    lambda x: [sum(a * -1.0 for a in x), x[0] - x[2], x[1] / -4.0],
)
TRANSFORMS: dict[str, Callable[[Any, Any], Any]] = {
    "jacobian": lambda f, x: te.jacobian(f)(x),
    "jacfwd": lambda f, x: te.jacfwd(f)(x),
    "jacrev": lambda f, x: te.jacrev(f)(x),
    "jvp": lambda f, x: te.jvp(f, (x,), (direction(x),)),
    "linearize": lambda f, x: te.linearize(f, x)[1](direction(x)),
    "vjp": lambda f, x: te.vjp(f, x)[1](direction(x)),
    "hessian": lambda f, x: te.hessian(f)(x),
    "hvp": lambda f, x: te.hvp(f, (x,), (direction(x),)),
    "vhp": lambda f, x: te.vhp(f, (x,), (direction(x),)),
    "grad of grad": lambda f, x: te.vjp(te.grad(f), x)[1](direction(x)),
    "jacobian of grad": lambda f, x: te.jacobian(te.grad(f))(x),
    "jacobian by arguments": lambda f, x: te.jacobian(f, (0,))(x),
    "jacobian of vmap": lambda f, x: te.jacobian(te.vmap(f))(in_lanes(x)),
    "jacobian of a caller": lambda f, x: te.jacobian(lambda y: f(y))(x),
}
OF_NUMBERS = ("hessian", "hvp", "vhp", "grad of grad", "jacobian of grad")
POINTS = ([1.0, -2.0, 3.0], [0.0, -0.0, -1.0], [0.5, 0.5, -0.5])


def is_array(x: Any) -> bool:
    return isinstance(x, numpy.ndarray)


def direction(x: Any) -> Any:
    return numpy.array([1.0, 0.0, -1.0]) if is_array(x) else [1.0, 0.0, -1.0]


def in_lanes(x: Any) -> Any:
    return numpy.stack([x, x]) if is_array(x) else [numpy.array([a, a]) for a in x]


def random_program(seed: int, is_of_numbers: bool, steps: tuple[Callable[[Any], Any], ...]) -> Callable[[Any], Any]:
    chosen = [steps[k] for k in numpy.random.default_rng(seed).integers(len(steps), size=1 + seed % 3)]

    def program(x: Any) -> Any:
        for step in chosen:
            x = step(x)
        return x[0] * x[1] - x[2] * x[0] if is_of_numbers else x

    return program


@pytest.mark.parametrize("kind", ["arrays", "lists"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_has_the_bits_of_the_program_that_is_not_staged(name: str, kind: str) -> None:
    for seed in range(60):
        program = random_program(seed, name in OF_NUMBERS, OF_ARRAYS if kind == "arrays" else OF_LISTS)
        staged = te.stage(program)
        for point in (*POINTS, *POINTS):
            x = numpy.array(point) if kind == "arrays" else point
            assert bits(TRANSFORMS[name](staged, x)) == bits(TRANSFORMS[name](program, x)), (seed, point)


def test_the_kind_of_a_number_stays() -> None:
    """The recording of a number of Python's does not fit a traced number of numpy's."""

    def f(x: Any) -> Any:
        return x * x * x if x > 0.3 else te.math.sin(x)

    staged = te.stage(f)
    for x in (1.0, 0.1, np.float64(1.0), np.float64(0.1)) * 3:
        for transform in (lambda g: te.grad(g), lambda g: lambda y: te.grad(g)(y) * 1.0, lambda g: lambda y: g(y) + y):
            value, back = te.vjp(transform(staged), x)
            wanted, wanted_back = te.vjp(transform(f), x)
            assert repr((value, back(1.0))) == repr((wanted, wanted_back(1.0)))
