"""A derivative has one value: the kernels of arrays and the rules of every other path agree to the last bit."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.primitive import Primitive
from tapeengine_primitives import arithmetic, extremes, transcendental, ufunc_methods

RULES = {**arithmetic.RULES, **extremes.RULES, **transcendental.RULES}
TABLED = {f.__name__: f for f, rule in RULES.items() if isinstance(rule, Primitive) and rule.opcode}
EDGES = [-np.inf, -800.0, -20.0, -1.0, -0.0, 0.0, 1e-300, 1e-20, 0.5, 1.0, 1.5, 2.0, 3.0, 1e155, 1e300, np.inf, np.nan]


def points(arity: int) -> tuple[np.ndarray, ...]:
    """Every pair of edges, and numbers between them, up to the 32 elements per axis for which five axes suffice."""
    rng = np.random.default_rng(8)
    if arity == 1:
        return (np.concatenate([EDGES, rng.normal(size=207) * 2, np.abs(rng.normal(size=64))]),)
    a, b = (side.ravel() for side in np.meshgrid(EDGES, EDGES))
    return (np.concatenate([a, rng.normal(size=319) * 2]), np.concatenate([b, rng.normal(size=319)]))


def pulled(f: Any, xs: tuple[Any, ...], ct: Any) -> tuple[Any, ...]:
    return te.vjp(f, *xs)[1](ct)


def inside(f: Any, xs: tuple[Any, ...], ct: Any) -> list[Any]:
    """The cotangents of a program whose inputs belong to an outer trace."""
    seen: list[Any] = []

    def outer(*inputs: Any) -> Any:
        seen.extend(pulled(f, inputs, ct))
        return tuple(seen)

    value, _ = te.vjp(outer, *xs)
    return list(value)


def five_axes(x: np.ndarray) -> np.ndarray:
    return x.reshape(x.shape[0], 1, 1, 1, 1)


def assert_bits(found: Any, wanted: Any, what: str) -> None:
    """Equal numbers; the sign of a zero may differ, as it depends on whether it was added to another zero."""
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.ravel(a), np.ravel(b), err_msg=what)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(TABLED))
def test_kernels_and_rules_give_the_same_bits(name: str) -> None:
    f = TABLED[name]
    xs = points(f.nin)
    ct = np.random.default_rng(9).normal(size=xs[0].shape)
    wanted = pulled(f, xs, ct)
    wide = tuple(map(five_axes, xs))
    assert_bits(pulled(f, wide, five_axes(ct)), wanted, "five axes")
    assert_bits(inside(f, xs, ct), wanted, "inside another trace")
    many = tuple(np.tile(x, 40) for x in xs)
    assert_bits(inside(f, many, np.tile(ct, 40)), [np.tile(w, 40) for w in wanted], "large")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(TABLED))
def test_second_derivatives_give_the_same_bits(name: str) -> None:
    f = TABLED[name]
    xs = points(f.nin)
    ct, second = np.random.default_rng(9).normal(size=(2, *xs[0].shape))

    def first(*inputs: Any) -> Any:
        return pulled(f, inputs, ct)

    def first_wide(*inputs: Any) -> Any:
        return pulled(f, inputs, five_axes(ct))

    wanted = pulled(first, xs, (second,) * len(xs))
    wide = pulled(first_wide, tuple(map(five_axes, xs)), (five_axes(second),) * len(xs))
    assert_bits(wide, wanted, "five axes")
    assert_bits(inside(first, xs, (second,) * len(xs)), wanted, "inside another trace")


BINARY = sorted({ufunc.__name__ for ufunc, method in ufunc_methods.RULES if ufunc.nin == 2 and method == "reduceat"})
CORNERS = [(a, b) for a in (0.0, 1.0, -1.0, 2.0, -2.0, 0.5) for b in (0.0, 1.0, -1.0, 2.0, 3.0, 0.5)]


@pytest.mark.parametrize("name", BINARY)
def test_second_derivatives_at_corners_are_those_of_numbers_and_of_arrays(name: str) -> None:
    f = getattr(np, name)
    ways = {
        "numbers": lambda x: f(x[0], x[1]),
        "arrays of one": lambda x: np.sum(f(x[:1], x[1:])),
        "short arrays": lambda x: np.sum(f(x[:1] * np.ones(4), x[1:])) / 4.0,
        "arrays of five axes": lambda x: np.sum(f(five_axes(x[:1]), five_axes(x[1:]))),
    }
    with np.errstate(all="ignore"):
        for corner in CORNERS:
            found = {way: te.hessian(program)(np.array(corner)) for way, program in ways.items()}
            for way, hessian in found.items():
                np.testing.assert_allclose(hessian, found["numbers"], rtol=1e-14, err_msg=f"{way} {corner}")
