"""Derivatives of float32 at ties, zeros, poles and infinities are those of float64, rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.primitive import Primitive
from tapeengine_primitives import arithmetic, extremes, transcendental

REAL = sorted(
    {
        f.__name__
        for f, rule in {**arithmetic.RULES, **extremes.RULES, **transcendental.RULES}.items()
        if isinstance(rule, Primitive) and isinstance(f, np.ufunc) and f.nout == 1 and f.nin <= 2
    }
    - {"ldexp"}
)
EDGES = [
    -np.inf,
    -3.0,
    -1.0,
    -0.5,
    -1e-30,
    -0.0,
    0.0,
    1e-38,
    1e-20,
    0.25,
    1.0,
    1.5,
    2.0,
    80.0,
    1e19,
    1e38,
    np.inf,
    np.nan,
]


def edges(count: int) -> list[Any]:
    return [side.ravel().astype(np.float32) for side in np.meshgrid(*[EDGES] * count)]


def derivatives(f: Callable[..., Any], xs: list[Any]) -> Iterator[tuple[str, Any]]:
    """First and second derivatives of an elementwise function in all modes."""
    one = np.ones_like(xs[0])

    def pulled(*inputs: Any) -> Any:
        return te.vjp(f, *inputs)[1](one)

    for k, first in enumerate(pulled(*xs)):
        yield f"vjp by {k}", first
    for j in range(len(xs)):
        unit = tuple(one if k == j else 0 * one for k in range(len(xs)))
        yield f"jvp by {j}", te.jvp(f, tuple(xs), unit)[1]
        for k in range(len(xs)):
            yield f"vjp of vjp by {j}, {k}", te.vjp(pulled, *xs)[1](unit)[k]
            yield f"jvp of vjp by {j}, {k}", te.jvp(pulled, tuple(xs), unit)[1][k]
            yield (
                f"vjp of jvp by {j}, {k}",
                te.vjp(lambda *inputs, unit=unit: te.jvp(f, inputs, unit)[1], *xs)[1](one)[k],
            )


def like(shape: str, xs: list[Any]) -> list[Any]:
    return [x.reshape(-1, 1, 1, 1, 1) for x in xs] if shape == "five axes" else xs


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("shape", ["vector", "five axes"])
@pytest.mark.parametrize("name", REAL)
def test_derivatives_are_those_of_double_precision(name: str, shape: str) -> None:
    ufunc = getattr(np, name)
    if ufunc(*[np.ones(1, np.float32)] * ufunc.nin).dtype != np.float32:
        pytest.skip("computes in double precision")
    xs = like(shape, edges(ufunc.nin))
    wide = [x.astype(float) for x in xs]
    values = ufunc(*xs), ufunc(*wide).astype(np.float32)
    same = (values[0] == values[1]) | np.isclose(*values, rtol=1e-6) | (np.isnan(values[0]) & np.isnan(values[1]))
    for (what, found), (_, wanted) in zip(
        derivatives(lambda *x: ufunc(*x), xs), derivatives(lambda *x: ufunc(*x), wide), strict=True
    ):
        if wanted is None:
            assert found is None
            continue
        assert found.dtype == np.float32
        rounded = wanted.astype(np.float32)
        np.testing.assert_allclose(found[same], rounded[same], rtol=1e-4, atol=1e-37, err_msg=what)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", REAL)
def test_numbers_of_single_precision_have_the_derivatives_of_arrays(name: str) -> None:
    ufunc = getattr(np, name)
    if ufunc(*[np.ones(1, np.float32)] * ufunc.nin).dtype != np.float32:
        pytest.skip("computes in double precision")
    xs = edges(ufunc.nin)
    arrays = dict(derivatives(lambda *x: ufunc(*x), xs))
    for k in range(0, len(xs[0]), 17 if ufunc.nin == 2 else 1):
        for what, found in derivatives(lambda *x: ufunc(*x), [x[k] for x in xs]):
            if found is not None:
                np.testing.assert_allclose(found, arrays[what][k], rtol=1e-5, atol=1e-37, err_msg=f"{what} {k}")


@pytest.mark.parametrize("name", [name for name in REAL if getattr(np, name).nin == 2])
def test_operands_of_both_precisions_give_derivatives_in_double_precision(name: str) -> None:
    ufunc = getattr(np, name)
    rng = np.random.default_rng(3)
    narrow, wide = rng.uniform(0.4, 2.0, (2, 2, 1000)) * [[[1.0]], [[0.7]]]
    narrow = narrow.astype(np.float32)
    for swapped in (False, True):

        def program(x: Any, y: Any, swapped: bool = swapped) -> Any:
            return ufunc(y, x) if swapped else ufunc(x, y)

        wanted = te.vjp(program, narrow.astype(float), wide)[1](np.ones((2, 1000)))
        found = te.vjp(program, narrow, wide)[1](np.ones((2, 1000)))
        if wanted[1] is not None:
            np.testing.assert_allclose(found[1], wanted[1], rtol=1e-14)
        if wanted[0] is not None:
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-6)
