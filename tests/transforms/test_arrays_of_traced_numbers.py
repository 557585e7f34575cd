"""numpy makes arrays of objects from lists of traced numbers; every transform takes them for arrays of numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import StructureError

PRIMALS = [0.5, 0.7, -0.3]
WEIGHTS = np.array([[0.3, -1.1, 0.7], [0.2, 0.4, -0.9]])


def cubed(a: Any) -> Any:
    return a**3 + 2.0 * a


def custom() -> Any:
    function = te.custom_vjp(cubed)
    function.defvjp(lambda a: (cubed(a), a), lambda a, ct: (ct * (3.0 * a**2 + 2.0),))
    return function


#: How programs make an array from numbers, each of shape (2, 3).
MAKERS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda xs: np.array([xs, [2.0 * x for x in xs]]),
    "with constants": lambda xs: np.array([[xs[0], 1.0, xs[1]], [2, xs[2], 0.5]]),
    "of tuples": lambda xs: np.asarray((tuple(xs), tuple(xs))),
    "reshaped": lambda xs: np.array([xs[0], xs[1], xs[2], 1.0, xs[0], 3.0]).reshape(2, 3),
    "transposed": lambda xs: np.array([[x, x * x] for x in xs]).T,
    "filled": lambda xs: np.array([[xs[(i + j) % 3] for j in range(3)] for i in range(2)], dtype=object),
}

#: What a program does with such an array; each computes `cubed`, or a derivative of its sum.
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "checkpoint": lambda a: te.checkpoint(cubed)(a),
    "checkpoint of a container": lambda a: te.checkpoint(lambda d: {"a": cubed(d["a"]), "b": d["b"]})({"a": a, "b": a})[
        "a"
    ],
    "checkpoint that captures": lambda a: te.checkpoint(lambda: cubed(a))(),
    "iterate": lambda a: te.iterate(cubed, 1, a),
    "iterate that captures": lambda a: te.iterate(lambda s: cubed(a) + 0.0 * s, 2, a),
    "fork": lambda a: te.fork(lambda: cubed(a))[0],
    "fork_map": lambda a: te.fork_map(cubed, [a])[0],
    "stage": lambda a: te.stage(cubed)(a),
    "vmap": lambda a: te.vmap(cubed)(a),
    "custom": lambda a: custom()(a),
    "value of vjp": lambda a: te.vjp(cubed, a)[0],
    "value of jvp": lambda a: te.jvp(cubed, (a,), (np.ones((2, 3)),))[0],
    "value of linearize": lambda a: te.linearize(cubed, a)[0],
    "vjp": lambda a: te.vjp(cubed, a)[1](np.ones((2, 3)))[0],
    "jvp": lambda a: te.jvp(cubed, (a,), (np.ones((2, 3)),))[1],
    "linearize": lambda a: te.linearize(cubed, a)[1](np.ones((2, 3))),
    "grad": lambda a: te.grad(lambda b: np.sum(cubed(b)))(a),
    "hvp": lambda a: te.hvp(lambda b: np.sum(cubed(b)), (a,), (np.ones((2, 3)),)),
    "jacfwd": lambda a: np.einsum("ijij->ij", te.jacfwd(cubed)(a)),
    "jacrev": lambda a: np.einsum("ijij->ij", te.jacrev(cubed)(a)),
    "hessian": lambda a: np.einsum("ijij->ij", te.hessian(lambda b: np.sum(cubed(b)))(a)),
}
FIRST = frozenset(("vjp", "jvp", "linearize", "grad", "jacfwd", "jacrev"))
SECOND = frozenset(("hvp", "hessian"))


def expected(name: str, a: Any) -> Any:
    if name in SECOND:
        return 6.0 * a
    return 3.0 * a**2 + 2.0 if name in FIRST else cubed(a)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_transform_takes_it_for_an_array_of_numbers(name: str, make: str) -> None:
    def program(xs: Any) -> Any:
        found = TRANSFORMS[name](MAKERS[make](xs))
        assert np.shape(found) == (2, 3)
        return np.sum(WEIGHTS * found)

    def plain(xs: Any) -> Any:
        return np.sum(WEIGHTS * expected(name, np.array(MAKERS[make](xs), dtype=type(xs[0]))))

    steps = [[x + 1e-30j * (k == j) for j, x in enumerate(PRIMALS)] for k in range(3)]
    gradient = [complex(plain(xs)).imag / 1e-30 for xs in steps]
    value, found = te.value_and_grad(program)(PRIMALS)
    assert value == pytest.approx(plain(PRIMALS), rel=1e-14)
    assert found == pytest.approx(gradient, rel=1e-13)
    assert te.jvp(program, (PRIMALS,), ([0.3, -0.2, 0.9],))[1] == pytest.approx(
        np.dot(gradient, [0.3, -0.2, 0.9]), rel=1e-13
    )


def test_an_array_of_other_objects_is_refused_as_a_primal() -> None:
    with pytest.raises(StructureError, match="dtype object"):
        te.grad(lambda a: 1.0)(np.array([object(), "text"], dtype=object))
