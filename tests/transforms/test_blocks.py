"""Jacobians by blocks of columns, compared with one jvp for each column, with calls and bytes counted."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.primitive import Primitive, Rule, Sample, uniform
from tapeengine.primitive.builders import scale, unbroadcast

N = 6  # inputs of the random programs, which is the number of columns


def by_columns(program: Callable[[Any], Any], x: Any) -> Any:
    """The Jacobian by one jvp for each input."""
    columns = [te.jvp(program, (x,), (e.reshape(x.shape),))[1] for e in np.eye(x.size)]
    return np.stack([np.ravel(column) for column in columns], axis=1)


def agree(program: Callable[[Any], Any], x: Any) -> None:
    found, expected = te.jacfwd(program)(x).reshape(-1, x.size), by_columns(program, x)
    finite = np.isfinite(expected)
    size = max(1.0, np.abs(expected).max(initial=0.0, where=finite))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-13 * size)


def written(x: Any, y: Any) -> Any:
    z = tnp.zeros((3, 2)) + 0.0 * x[0]
    z[1] = y
    z[[0, 2], [1, 0]] = x[:2]
    z[0, 0] = x[3] * y[0]
    z[:, 1][1:] = 0.5
    z[2, 1] = 1.5
    return z


def custom(x: Any) -> Any:
    @te.custom_jvp
    def twice(a: Any) -> Any:
        return 2.0 * a

    twice.defjvp(lambda primals, tangents: (2.0 * primals[0], 2.0 * tangents[0]))
    return twice(x)


def added(x: Any, index: Any) -> Any:
    z = 1.0 * x
    np.add.at(z, index, x[: len(index)])
    return z


THROUGH_PLUGIN = Primitive(
    "test.product",
    lambda a, b: a * b,
    vjp={
        "a": lambda ct, b, a_space: unbroadcast(scale(ct, b), a_space),
        "b": lambda ct, a, b_space: unbroadcast(scale(ct, a), b_space),
    },
    jvp={"a": lambda t, b: scale(t, b), "b": lambda t, a: scale(t, a)},
    samples=(Sample((uniform((3,)), uniform((3,)))),),
)

#: Functions from N numbers to N numbers, one for every kind of record.
STEPS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: tnp.sin(x) * x + x / (2.0 + x * x) - tnp.exp(-x),
    "same operand": lambda x: x * x,
    "scalar operand": lambda x: x[2] * x - x[1],
    "broadcast": lambda x: (x[:3].reshape(3, 1) * x[3:5] + x.reshape(3, 2)).reshape(-1),
    "rank": lambda x: (x[:2] * tnp.ones((3, 2)) * x[5]).reshape(-1),
    "sum of all": lambda x: tnp.sum(x) * x,
    "sums": lambda x: tnp.concatenate([tnp.sum(x.reshape(3, 2), axis=0), tnp.mean(x.reshape(2, 3), axis=1), x[:2]]),
    "sums in the middle": lambda x: tnp.sum(x.reshape(1, 3, 2) * tnp.ones((3, 1, 1)), axis=1).reshape(-1),
    "sum of two axes": lambda x: tnp.sum(x.reshape(1, 3, 2), axis=(0, 2), keepdims=True).reshape(-1)[0] + x,
    "dot": lambda x: (x[:3] @ x[3:]) * x,
    "matrix times vector": lambda x: tnp.concatenate([x.reshape(3, 2) @ x[1:3], x.reshape(3, 2).T @ x[:3], x[4:5]]),
    "matrices": lambda x: (x.reshape(3, 2) @ x[:4].reshape(2, 2)).reshape(-1),
    "batches": lambda x: (tnp.ones((3, 1, 2)) * x[2] @ x[:4].reshape(2, 2)).reshape(-1) + x,
    "vector times batch": lambda x: (x[:2] @ (x.reshape(1, 2, 3) * tnp.ones((2, 1, 1)))).reshape(-1),
    "batch times vector": lambda x: ((x.reshape(1, 2, 3) * tnp.ones((3, 1, 1))) @ x[:3]).reshape(-1),
    "joined": lambda x: tnp.concatenate([tnp.stack([x[:2], x[2:4]], axis=-1)[0], 2.0 * x[4:], tnp.stack([x[0], x[5]])]),
    "read by places": lambda x: x[[0, 0, 3, 5, 1, 2]] * x.reshape(3, 2)[[0, 1, 2, 0, 1, 2], [1, 1, 0, 0, 1, 0]],
    "read by a mask": lambda x: x[np.array([True, False] * 3)].sum() + x,
    "split places": lambda x: tnp.exp(x).reshape(1, N, 1)[[0] * N, :, [0] * N][:, 1] * x,
    "written": lambda x: written(x, x[4:] * x[0]).reshape(-1),
    "added": lambda x: added(x, [1, 1, 0]),
    "swept": lambda x: (tnp.cumsum(x) * tnp.prod(x[:3] + 2.0))[::-1],
    "extremes": lambda x: tnp.where(x > 0.1, x, tnp.maximum(x, -x)) + tnp.max(x) + tnp.sort(x),
    "norm": lambda x: x / (1.0 + tnp.linalg.norm(x)),
    "transposed": lambda x: tnp.exp(x.reshape(3, 2).T).reshape(-1) + x.reshape(3, 2).T.reshape(-1),
    "discrete": lambda x: x * tnp.floor(3.0 * x) + tnp.argmax(x),
    "custom": custom,
    "plugin": lambda x: THROUGH_PLUGIN(x, x[:1] * tnp.ones(N)),
    "checkpoint": te.checkpoint(lambda x: tnp.tanh(x) * x[0]),
    "inner gradient": lambda x: te.grad(lambda y: tnp.sum(tnp.sin(y) * x))(x),
    "loop over elements": lambda x: tnp.array([a * b + 1.0 for a, b in zip(list(x), list(x)[::-1])]),
}  # fmt: skip

VECTORS = st.lists(st.floats(-1.5, 1.5), min_size=N, max_size=N).map(np.array)


@pytest.mark.parametrize("step", STEPS)
def test_each_kind_of_record(step: str) -> None:
    agree(STEPS[step], np.array([0.3, -0.7, 1.1, 0.4, -0.2, 0.9]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=5), VECTORS)
def test_random_programs(steps: list[str], x: Any) -> None:
    def program(x: Any) -> Any:
        for step in steps:
            x = tnp.tanh(STEPS[step](x))
        return x

    agree(program, x)


@pytest.mark.parametrize("columns", [3, 4, 5, 7])
def test_places_that_numpy_puts_first_are_not_taken_for_columns(columns: int) -> None:
    """Index arrays with a slice between them: their axis comes first, before the block's."""

    def program(x: Any) -> Any:
        y = x.reshape(1, columns, 1)
        return y[[0] * columns, :, [0] * columns] * np.arange(1.0, columns + 1.0)[:, None]

    def writing(x: Any) -> Any:
        z = tnp.zeros((columns, columns, 1)) * x[0]
        z[list(range(columns)), :, [0] * columns] = tnp.exp(x) * np.arange(1.0, columns + 1.0)[:, None]
        return z

    agree(program, np.linspace(0.1, 1.0, columns))
    agree(writing, np.linspace(0.1, 1.0, columns))


def test_a_zero_meets_an_infinite_partial_in_arrays() -> None:
    def program(x: Any) -> Any:
        return tnp.sqrt(x[:2]) * 0.0 + x[1:3], tnp.cbrt(x) + x

    first, second = te.jacfwd(program)(np.array([4.0, 0.0, 1.0]))
    assert np.array_equal(first[0], [0.0, 1.0, 0.0])
    assert second[1, 1] == np.inf and second[0, 1] == second[1, 0] == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_structures_dtypes_and_layouts_of_inputs(dtype: Any, order: Any) -> None:
    a = np.asarray(np.arange(6.0).reshape(2, 3) + 1.0, dtype, order)

    def program(p: Any) -> Any:
        return {"a": p["a"].T * p["s"], "n": 3, "l": [p["l"][0] * p["a"][0, 1], 2.0], "c": np.ones(2)}

    p = {"a": a, "s": 2.0, "l": [3.0, 4.0], "n": 7}
    forward, reverse = te.jacfwd(program)(p), te.jacrev(program)(p)
    for key in ("a", "s"):
        np.testing.assert_allclose(forward["a"][key], reverse["a"][key])
        assert forward["a"][key].dtype == reverse["a"][key].dtype
    np.testing.assert_allclose(forward["l"][0]["a"], reverse["l"][0]["a"])
    assert [forward["l"][k][key] for k in (0, 1) for key in ("s", "l", "n")] == [
        0.0,
        [2.0, 0.0],
        None,
        0.0,
        [0.0] * 2,
        None,
    ]
    assert not np.any(forward["c"]["a"]) and forward["n"] == reverse["n"]


def test_many_columns_go_in_several_blocks() -> None:
    x = np.linspace(-1.0, 1.0, 2000)
    with pytest.warns(UserWarning, match=r"te\.sparse_jacobian"):
        found = te.jacfwd(lambda x: tnp.sin(x[::-1]) * x)(x)
    expected = np.diag(np.sin(x[::-1])) + (np.cos(x[::-1]) * x)[:, None] * np.eye(2000)[::-1]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


class Counted:
    """A product that counts the calls of its forward rule, for single tangents and for blocks."""

    def __init__(self, with_block: bool) -> None:
        self.calls: list[int] = []
        self.blocks: list[tuple[int, ...]] = []
        rule = Rule(self.push, ("b",), block=self.push_block if with_block else None)
        self.primitive = Primitive(
            "test.scaled",
            lambda a, *, b: a * b,
            vjp={"a": lambda ct, b: scale(ct, b)},
            jvp={"a": rule},
        )

    def push(self, t: Any, b: Any) -> Any:
        self.calls.append(np.ndim(t))
        return scale(t, b)

    def push_block(self, t: Any, b: Any) -> Any:
        self.blocks.append(t.shape)
        return t * b

    def program(self, x: Any) -> Any:
        return self.primitive(self.primitive(x, b=2.0), b=3.0)


def test_a_rule_is_called_once_with_the_block_and_once_to_check_it() -> None:
    counted = Counted(with_block=False)
    np.testing.assert_array_equal(te.jacfwd(counted.program)(np.ones(10)), 6.0 * np.eye(10))
    assert counted.calls == [2, 1] * 2


def test_a_block_form_is_called_once_for_each_record() -> None:
    counted = Counted(with_block=True)
    np.testing.assert_array_equal(te.jacfwd(counted.program)(np.ones(10)), 6.0 * np.eye(10))
    assert counted.calls == [] and counted.blocks == [(10, 10)] * 2


def peak(thunk: Callable[[], Any]) -> int:
    """The largest number of bytes that a call holds at a time."""
    thunk()
    gc.collect()
    tracemalloc.start()
    thunk()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize(
    "step", [tnp.sin, lambda x: x * 1.5 + x, lambda x: THROUGH_PLUGIN(x, 2.0), lambda x: x[::-1].copy()]
)
def test_a_sweep_holds_what_is_still_to_be_read(step: Callable[[Any], Any]) -> None:
    """Blocks of 20 columns of 5000 numbers: a chain of 40 steps holds as many of them as one of 10."""

    def chain(steps: int) -> Callable[[Any], Any]:
        def program(x: Any) -> Any:
            y = x[:1] * np.ones(5000)
            for _ in range(steps):
                y = step(y)
            return tnp.sum(y)

        return program

    primal, block = np.linspace(0.1, 0.2, 20), 20 * 5000 * 8
    long, short = (peak(lambda n=n: te.jacfwd(chain(n))(primal)) for n in (40, 10))  # type: ignore[misc]
    values = 40 * 5000 * 8 * 4  # an upper bound for what the tape keeps of the primal run
    assert long - short < values and long < 4 * block + values
