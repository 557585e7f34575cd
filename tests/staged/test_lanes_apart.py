"""A lane of `vmap` changes neither another lane nor the caller's objects: a lane is a call with copies, or refused."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

WRITES: dict[str, Callable[[Any], None]] = {
    "element": lambda a: a.__setitem__(0, a[1] * 2),
    "slice": lambda a: a.__setitem__(slice(1, None), a[0]),
    "mask": lambda a: a.__setitem__(a > 0.5, a[0] * a[1]),
    "in place": lambda a: a.__imul__(3.0),
    "out": lambda a: np.multiply(a, 2.0, out=a),
    "view": lambda a: a[::-1].__iadd__(1.0),
    "transposed": lambda a: a.T.__isub__(0.25),
    "sort": lambda a: a.sort(),
    "fill": lambda a: a.fill(0.5),
    "put": lambda a: np.put(a, [0], [0.125]),
    "copyto": lambda a: np.copyto(a, 2 * a),
    "flat": lambda a: a.flat.__setitem__(1, 4.0),
}
MAKERS: dict[str, Callable[[Any], Any]] = {"plain": lambda f: f, "staged": te.stage}


def changing(write: Callable[[Any], None], at: int) -> Callable[[Any, Any], Any]:
    """A program that changes one of its arguments, and whose value depends on what it finds there."""

    def program(x: Any, y: Any) -> Any:
        before = (x * y).sum()
        write((x, y)[at])
        return before + (x * x * y).sum()

    return program


def lane_by_lane(program: Callable[[Any, Any], Any], xs: Any, y: Any) -> list[Any]:
    return [te.value_and_grad(program, (0, 1))(x.copy(), y.copy()) for x in xs]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_own_lane(name: str, make: str, order: Any) -> None:
    xs = np.array(np.linspace(0.1, 1.9, 8).reshape(4, 2), order=order)
    y = np.array([0.75, 1.25])
    program = changing(WRITES[name], 0)
    wanted = lane_by_lane(program, xs, y)
    mapped = te.vmap(MAKERS[make](program), (0, None))
    given = xs.copy(order="K"), y.copy()
    for _ in range(2):
        np.testing.assert_array_equal(mapped(*given), [value for value, _ in wanted])
        value, back = te.vjp(mapped, *given)
        np.testing.assert_array_equal(value, [value for value, _ in wanted])
        of_xs, of_y = back(np.ones(4))
        np.testing.assert_allclose(of_xs, [parts[0] for _, parts in wanted], rtol=1e-14)
        np.testing.assert_allclose(of_y, sum(parts[1] for _, parts in wanted), rtol=1e-14)
        np.testing.assert_array_equal(given[0], xs)
        np.testing.assert_array_equal(given[1], y)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", WRITES)
def test_shared(name: str, make: str) -> None:
    xs, y = np.linspace(0.1, 1.9, 8).reshape(4, 2), np.array([0.75, 1.25])
    program = changing(WRITES[name], 1)
    wanted = lane_by_lane(program, xs, y)
    mapped = te.vmap(MAKERS[make](program), (0, None))
    for _ in range(2):
        np.testing.assert_array_equal(mapped(xs, y), [value for value, _ in wanted])
        value, back = te.vjp(mapped, xs, y)
        np.testing.assert_array_equal(value, [value for value, _ in wanted])
        of_xs, of_y = back(np.ones(4))
        np.testing.assert_allclose(of_xs, [parts[0] for _, parts in wanted], rtol=1e-14)
        np.testing.assert_allclose(of_y, sum(parts[1] for _, parts in wanted), rtol=1e-14)
        np.testing.assert_array_equal(y, [0.75, 1.25])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", WRITES)
def test_large_shared(name: str, make: str) -> None:
    xs, y = np.linspace(0.1, 1.9, 8).reshape(4, 2, 1), np.full((2, 5000), 0.75)
    mapped = te.vmap(MAKERS[make](changing(WRITES[name], 1)), (0, None))
    for call in (mapped, te.jacobian(mapped), lambda *args: te.jvp(mapped, args, args), te.jacobian(mapped, (0, 1))):
        with pytest.raises(ValueError, match="read-only") as caught:
            call(xs, y)
        assert "all lanes share" in caught.value.__notes__[0]
        np.testing.assert_array_equal(y, 0.75)


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("make", MAKERS)
def test_shared_containers(make: str) -> None:
    def program(x: float, rest: Any, *, more: Any) -> float:
        rest[0] *= 2.0
        more["a"] += 1.0
        rest.append(x)
        return x * rest[0] * more["a"] + len(rest)

    given: tuple[Any, Any] = [0.5, 3.0], {"a": 0.25}
    before = copy.deepcopy(given)
    mapped = te.vmap(MAKERS[make](program), (0, None))
    xs = np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        np.testing.assert_array_equal(mapped(xs, given[0], more=given[1]), xs * 1.25 + 3)
        np.testing.assert_array_equal(te.jacobian(mapped)(xs, given[0], more=given[1]), 1.25 * np.eye(3))
    assert given == before


@pytest.mark.parametrize("make", MAKERS)
def test_lanes_that_overlap(make: str) -> None:
    series = np.linspace(1.0, 2.0, 6)
    windows = np.lib.stride_tricks.sliding_window_view(series, 3)
    program = changing(WRITES["in place"], 0)
    wanted = [program(window.copy(), np.ones(3)) for window in windows]
    np.testing.assert_array_equal(te.vmap(MAKERS[make](program), (0, None))(windows, np.ones(3)), wanted)
    np.testing.assert_array_equal(series, np.linspace(1.0, 2.0, 6))
