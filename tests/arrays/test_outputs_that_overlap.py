"""Outputs that share memory with operands or with one another: numpy's values, or the call is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

X = np.array([0.3, 1.7, -0.9, 2.2, 0.4, 1.1, -1.3, 0.6, 0.8])

#: Parts of one array of nine elements.
PARTS: dict[str, Callable[[Any], Any]] = {
    "all": lambda a: a,
    "reversed": lambda a: a[::-1],
    "first": lambda a: a[:3],
    "later": lambda a: a[1:4],
    "steps": lambda a: a[::3],
    "matrix": lambda a: a.reshape(3, 3),
    "transposed": lambda a: a.reshape(3, 3).T,
    "row": lambda a: a.reshape(3, 3)[1],
    "column": lambda a: a.reshape(3, 3)[:, 1],
    "rows": lambda a: a.reshape(3, 3)[:, None],
}
OF_TWO_RESULTS = ("modf", "divmod")
OF_VECTORS = [name for name in ("vecdot", "matvec", "vecmat", "matmul") if hasattr(np, name)]


def with_two_outputs(name: str) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    for first, second in itertools.product(PARTS, repeat=2):

        def program(a: Any, first: Any = PARTS[first], second: Any = PARTS[second]) -> Any:
            a = a * 1.0
            outs = first(a), second(a)
            operands = (a[:3] * 1.0, 0.7)[: getattr(np, name).nin]
            getattr(np, name)(*operands, *outs)
            return a

        yield f"{name} {first} {second}", program


def with_operands(name: str) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    for one, two, out in itertools.product(PARTS, repeat=3):

        def program(a: Any, one: Any = PARTS[one], two: Any = PARTS[two], out: Any = PARTS[out]) -> Any:
            a = a * 1.0
            getattr(np, name)(one(a), two(a), out=out(a))
            return a

        yield f"{name} {one} {two} {out}", program


def outcome(program: Callable[[Any], Any], run: Callable[[Callable[[Any], Any], Any], Any]) -> Any:
    try:
        return run(program, X.copy())
    except UnsupportedError:
        raise
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", [*OF_TWO_RESULTS, *OF_VECTORS])
def test_the_values_are_numpys_or_the_call_is_refused(name: str) -> None:
    right = 0
    for label, program in (with_two_outputs if name in OF_TWO_RESULTS else with_operands)(name):
        plain = outcome(program, lambda f, x: f(x))
        try:
            found = outcome(program, lambda f, x: te.vjp(f, x)[0])
        except UnsupportedError:
            continue
        if isinstance(plain, type):
            assert found is plain, label
        else:
            right += 1
            np.testing.assert_allclose(found, plain, rtol=1e-14, err_msg=label)
    assert right >= (4 if name in OF_TWO_RESULTS else 20)


#: Parts of a matrix of three rows and four columns.
LAYERS: dict[str, Callable[[Any], Any]] = {
    "all": lambda a: a,
    "reversed": lambda a: a[::-1],
    "first": lambda a: a[:1],
    "later": lambda a: a[1:],
    "from the end": lambda a: a[2:0:-1],
    "columns": lambda a: a[:, ::-1],
    "middle": lambda a: a[:, 1:3],
    "other": lambda a: np.ones((1, 4)),
}


def with_joined_parts(name: str, axis: int | None) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    for parts in itertools.chain(*(itertools.product(LAYERS, repeat=k) for k in (1, 2, 3))):
        for out in ("all", "reversed", "columns"):

            def program(a: Any, parts: Any = parts, place: Any = LAYERS[out]) -> Any:
                a = np.outer(a[:3], a[2:6])
                given = [LAYERS[part](a)[0] if name == "stack" else LAYERS[part](a) for part in parts]
                if name == "concatenate" and axis:
                    given = [part.T for part in given]
                getattr(np, name)(given, axis=axis, out=place(a).T if axis else place(a))
                return a

            yield f"{name} {parts} {axis} {out}", program


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["concatenate", "stack"])
def test_parts_are_joined_one_after_the_other(name: str, axis: int) -> None:
    right, direction = 0, np.linspace(-1.0, 1.0, 9)
    for label, program in with_joined_parts(name, axis):
        plain = outcome(program, lambda f, x: f(x))
        found = outcome(program, lambda f, x: te.jvp(f, (x,), (direction,)))
        if isinstance(plain, type):
            assert found is plain, label
        else:
            right += 1
            wanted = (program(X + direction) - program(X - direction)) / 2.0  # exact: the program is quadratic
            np.testing.assert_allclose(found[0], plain, rtol=1e-14, err_msg=label)
            np.testing.assert_allclose(found[1], wanted, rtol=1e-11, atol=1e-11, err_msg=label)
    assert right >= 50


def test_parts_that_are_joined_without_an_axis_may_not_share_memory() -> None:
    with pytest.raises(UnsupportedError, match="without an axis"):
        te.vjp(lambda a: np.concatenate([a[1:], a[:1]], None, a), X)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("objects", [[1.0, 2.0, 0.0], [0, 1, 5], [True, False, True]], ids=str)
def test_selections_of_objects(name: str, objects: list[Any]) -> None:
    x, f = np.array([0.0, 3.0, 4.0]), getattr(np, name)
    for pair in ((np.array(objects, object), x), (x, np.array(objects, object))):
        with pytest.raises(UnsupportedError, match="array of objects"):
            te.vjp(lambda x, pair=pair: f(*(x if isinstance(p[0], np.float64) else p for p in pair)), x)
    np.testing.assert_array_equal(te.vjp(lambda x: f(x, objects), x)[0], f(x, objects))


@pytest.mark.parametrize("name", ["percentile", "nanpercentile", "quantile", "nanquantile", "median"])
@pytest.mark.parametrize("rank", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_quantiles_of_lists_of_traced_numbers(name: str, rank: float) -> None:
    """numpy's own functions are right or refused; those of tapeengine.numpy are right."""

    def f(np: Any, x: Any) -> Any:
        of = [x[0], x[1], x[2]]
        return np.median(of) if name == "median" else getattr(np, name)(of, rank * (100 if "percent" in name else 1))

    x, step = X[:3], 1e-6
    wanted = [(f(np, x + step * e) - f(np, x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(te.grad(lambda x: f(te.numpy, x))(x), wanted, atol=1e-8)
    try:
        found = te.grad(lambda x: f(np, x))(x)
    except te.errors.TapeEngineError as error:
        assert "tapeengine.numpy" in str(error)
    else:
        np.testing.assert_allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_interpolation_has_numpys_values_or_is_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 8)
    xp, fp, x = rng.normal(size=n).round(1), rng.normal(size=n), rng.normal(size=rng.integers(1, 9)).round(1)
    xp = np.sort(xp) if seed % 2 else xp
    options: dict[str, Any] = [{}, {"left": 0.5, "right": -0.5}, {"period": 1.5}][seed % 3]
    wanted = np.interp(x, xp, fp, **options)
    for program in (
        lambda v: np.interp(v, xp, fp, **options),
        lambda v: np.interp(x + 0.0 * v[0], xp + 0.0 * v[0], fp, **options),
        lambda v: np.interp(x, xp, fp + 0.0 * v[0], **options),
    ):
        try:
            found = te.vjp(program, x)[0]
        except UnsupportedError:
            assert (np.diff(xp) < 0).any()
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
