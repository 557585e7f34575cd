"""Primals that share memory: reads are exact, and a write that would have to change another primal is refused."""

import itertools
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

BASE = np.arange(1.0, 25.0).reshape(4, 6)
VIEWS = [
    lambda a: a,
    lambda a: a[1],
    lambda a: a[2:],
    lambda a: a[:, ::2],
    lambda a: a[:, 1::2],
    lambda a: a.T,
    lambda a: a[::-1, 3],
    lambda a: a.reshape(-1)[5:9],
    lambda a: a[0:0],
    lambda a: a.copy(),
]
WRITES = [
    lambda x: x.__setitem__(..., x * 2.0 + 1.0),
    lambda x: x.__setitem__((0,) * x.ndim, 7.0),
    lambda x: x.__iadd__(3.0),
    lambda x: np.add(x, 1.0, out=x),
    lambda x: x.fill(2.5),
    lambda x: np.copyto(x, 0.5),
    lambda x: np.add.at(x, (0,) * x.ndim, 1.5),
    lambda x: x.sort(),
    lambda x: x[...].T.__setitem__(..., 0.25),
]


def total(x: Any, y: Any) -> Any:
    return np.sum(x * x) + 3.0 * np.sum(np.sin(y))


def pairs() -> Any:
    return [(i, j) for i, j in itertools.product(range(len(VIEWS)), repeat=2)]


def at(i: int, j: int, nested: bool) -> tuple[Any, Any]:
    base = BASE.copy()
    pair = VIEWS[i](base), VIEWS[j](base)
    return ({"a": [pair[0]], "b": (1.0, pair[1])},) if nested else pair


@pytest.mark.parametrize(("i", "j"), pairs())
def test_what_reads_them_is_exact(i: int, j: int) -> None:
    x, y = at(i, j, False)
    value, back = te.vjp(total, x, y)
    assert value == total(x, y)
    dx, dy = back(1.0)
    np.testing.assert_allclose(dx, 2 * x)
    np.testing.assert_allclose(dy, 3 * np.cos(y))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("k", range(len(WRITES)))
def test_writes_are_those_of_the_plain_program_or_refused(k: int, nested: bool) -> None:
    def program(*args: Any) -> Any:
        x, y = (args[0]["a"][0], args[0]["b"][1]) if nested else args
        WRITES[k](x)
        return total(x, y)

    for i, j in pairs():
        x, y = at(i, j, False)
        if x.size == 0:
            continue
        if np.shares_memory(x, y):
            with pytest.raises(UnsupportedError, match="shares memory"):
                te.vjp(program, *at(i, j, nested))
        else:
            assert te.vjp(program, *at(i, j, nested))[0] == program(*at(i, j, nested))


def test_inner_traces_and_views_of_one_traced_array() -> None:
    def inner(x: Any, y: Any) -> Any:
        x[0] = 5.0
        return np.sum(x * y)

    def outer(a: Any) -> Any:
        return te.vjp(inner, a, a[::-1])[0]

    with pytest.raises(UnsupportedError, match="shares memory"):
        te.grad(outer)(np.arange(3.0))
    np.testing.assert_allclose(te.grad(lambda a: te.vjp(total, a, a[::-1])[0])(np.arange(3.0)),
                               2 * np.arange(3.0) + 3 * np.cos(np.arange(3.0)))  # fmt: skip


def test_large_arrays_are_as_small_ones() -> None:
    a = np.arange(20_000.0)

    def program(x: Any, y: Any) -> Any:
        x[3] = 1.0
        return np.sum(x * y)

    with pytest.raises(UnsupportedError, match="shares memory"):
        te.vjp(program, a, a)
    assert te.vjp(program, a, a.copy())[0] == program(a.copy(), a)


def by_name(make: Any) -> Any:
    def call(program: Any, x: Any, y: Any) -> Any:
        return make(lambda x, *, y: program(x, y))(x, y=y)

    return call


#: Ways to differentiate in one of two arguments.
WAYS = {
    "first": lambda program, x, y: te.value_and_grad(program)(x, y),
    "second": lambda program, x, y: te.grad(lambda y, x: program(x, y), argnums=1)(y, x),
    "negative": lambda program, x, y: te.grad(program, argnums=-1)(x, y),
    "keyword": by_name(te.grad),
    "chosen keyword": lambda program, x, y: te.grad(lambda x, y: program(x, y), argnums="y")(x, y=y),
    "auxiliary": lambda program, x, y: te.grad(lambda x, y: (program(x, y), 1), has_aux=True)(x, y),
    "jacobian": lambda program, x, y: te.jacobian(program)(x, y),
    "hessian": lambda program, x, y: te.hessian(program)(x, y),
    "twice": lambda program, x, y: te.grad(lambda x, y: np.sum(te.grad(program)(x, y)))(x, y),
}


@pytest.mark.parametrize("written", [0, 1])
@pytest.mark.parametrize("way", WAYS)
def test_arguments_that_are_not_differentiated_may_not_be_changed_either(way: str, written: int) -> None:
    for k, write in enumerate(WRITES):

        def program(*args: Any, write: Any = write) -> Any:
            write(args[written])
            return total(*args)

        for i, j in pairs()[k :: len(WRITES)]:
            x, y = at(i, j, False)
            if x.size and y.size and np.shares_memory(x, y):
                with pytest.raises(UnsupportedError, match="shares memory"):
                    WAYS[way](program, x, y)


@pytest.mark.parametrize("way", WAYS)
def test_arguments_that_are_not_differentiated_are_read_as_they_are(way: str) -> None:
    for i, j in pairs():
        x, y = at(i, j, False)
        found, expected = WAYS[way](total, x, y), WAYS[way](total, x.copy("K"), y.copy("K"))
        for one, other in zip(found, expected, strict=True) if type(found) is tuple else [(found, expected)]:
            np.testing.assert_allclose(one, other, rtol=1e-15)


def test_only_the_arrays_that_share_memory_are_refused() -> None:
    def program(x: Any, y: Any, z: Any) -> Any:
        y += 1.0
        return total(x, y) + np.sum(z * z)

    base = np.arange(6.0)
    x, y, z = base[:4], np.ones(4), base[3:]
    value, gradient = te.value_and_grad(program, argnums=(0, 1))(x, y, z)
    assert value == program(x, y.copy(), z)
    np.testing.assert_allclose(gradient, (2 * x, 3 * np.cos(y + 1.0)))
    with pytest.raises(UnsupportedError, match="shares memory"):
        te.grad(lambda x, empty, z: program(empty, x, z), argnums=(0, 1))(x, base[:0], z)


@pytest.mark.parametrize("between", [2.0, None, (), np.ones(2)], ids=repr)
def test_the_places_of_arrays_that_share_memory_do_not_matter(between: Any) -> None:
    for count in range(2, 5):
        for own, other in itertools.permutations(range(count), 2):
            base = np.arange(6.0)
            args = [between] * count
            args[own], args[other] = base[:4], base[2:]

            def program(*args: Any, written: Any, own: int = own, other: int = other) -> Any:
                if written is not None:
                    args[written][0] = 1.0
                return total(args[own], args[other])

            for nums in (own, (own,), own - count):
                gradient = te.grad(lambda *args: program(*args, written=None), argnums=nums)(*args)
                np.testing.assert_allclose(gradient if type(nums) is int else gradient[0], 2 * base[:4])
                for written in (own, other):
                    with pytest.raises(UnsupportedError, match="shares memory"):
                        te.grad(lambda *args, written=written: program(*args, written=written), argnums=nums)(*args)
            assert (base == np.arange(6.0)).all()
