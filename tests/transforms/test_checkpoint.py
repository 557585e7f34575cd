"""checkpoint and iterate: the same derivatives with fewer stored records; recomputation is counted."""

import itertools
from functools import cache
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine.errors import StructureError, UnsupportedError
from tapeengine.transforms.repeated.rerun import FirstRun
from tapeengine.transforms.repeated.treeverse import Chain, repetitions


def layers(wrap: Any, x: Any, weights: Any) -> Any:
    layer = wrap(lambda h: tnp.tanh(weights @ h))
    return tnp.sum(layer(layer(layer(x))))


X, W = np.array([0.3, 0.8]), np.array([[0.1, 0.4], [-0.3, 0.2]])


@pytest.mark.parametrize("argnums", [0, 1])
def test_checkpoint_gives_the_same_derivatives(argnums: int) -> None:
    saved, stored = (lambda x, w, wrap=wrap: layers(wrap, x, w) for wrap in (te.checkpoint, lambda f: f))
    for transform in (te.grad, te.jacfwd, te.hessian):
        np.testing.assert_allclose(transform(saved, argnums)(X, W), transform(stored, argnums)(X, W), rtol=1e-12)


def test_checkpoint_leaves_one_record_for_each_call_and_recomputes_once() -> None:
    calls = itertools.count()  # functions that run again get copies of captured lists, not of this

    def program(x: Any) -> Any:
        next(calls)
        for _ in range(50):
            x = tm.sin(x)
        return x

    saved = te.checkpoint(program)
    _value, backpropagator = te.vjp(lambda x: saved(saved(x)), 0.7)
    assert (len(backpropagator.tape), next(calls)) == (2, 2)
    expected = te.vjp(lambda x: program(program(x)), 0.7)[1](1.0)
    before = next(calls)
    assert backpropagator(1.0) == pytest.approx(expected)
    assert next(calls) - before == 3


def test_checkpoint_finds_captured_values_in_nested_functions_and_partials() -> None:
    from functools import partial

    def program(x: Any, a: Any, b: Any) -> Any:
        def inner(y: Any) -> Any:
            return tm.sin(a["k"] * y)

        return te.checkpoint(partial(lambda c, y: inner(y) * c, b))(x)

    _value, backpropagator = te.vjp(program, 0.5, {"k": 2.0}, 3.0)
    assert len(backpropagator.tape) == 1
    dx, da, db = backpropagator(1.0)
    assert dx == pytest.approx(6.0 * np.cos(1.0))
    assert da["k"] == pytest.approx(1.5 * np.cos(1.0))
    assert db == pytest.approx(np.sin(1.0))


def loop(step: Any, n: int, x: Any) -> Any:
    for _ in range(n):
        x = step(x)
    return x


@pytest.mark.parametrize(("n", "kept"), [(0, 1), (1, 1), (7, 1), (7, 2), (23, 3), (60, 70)])
def test_iterate_gives_the_derivatives_of_the_loop(n: int, kept: int) -> None:
    def by_iterate(x: Any, a: Any) -> Any:
        return te.iterate(lambda y: y * tm.cos(a * y), n, x, checkpoints=kept)

    def by_loop(x: Any, a: Any) -> Any:
        return loop(lambda y: y * tm.cos(a * y), n, x)

    for transform in (te.grad, te.jacfwd, te.hessian):
        ours, theirs = transform(by_iterate, (0, 1))(0.5, 1.3), transform(by_loop, (0, 1))(0.5, 1.3)
        np.testing.assert_allclose(np.ravel(np.array(ours)), np.ravel(np.array(theirs)), rtol=1e-12, atol=1e-14)


def test_iterate_over_structures_of_arrays() -> None:
    def step(state: Any) -> Any:
        return {"x": state["x"] + 0.1 * state["v"], "v": state["v"] - 0.1 * tnp.sin(state["x"]), "n": state["n"] + 1}

    def end(run: Any) -> Any:
        def program(x: Any) -> Any:
            last = run(step, 12, {"x": x, "v": 0.0 * x, "n": 0})
            assert last["n"] == 12
            return tnp.sum(last["x"] * last["v"])

        return program

    ours = te.grad(end(lambda *args: te.iterate(*args, checkpoints=3)))(X)
    np.testing.assert_allclose(ours, te.grad(end(loop))(X), rtol=1e-12)


def test_iterate_refuses_what_it_cannot_repeat() -> None:
    with pytest.raises(StructureError, match=r"keep the state's form f64; it returned \(f64, f64\)"):
        te.grad(lambda x: te.iterate(lambda y: (y, y), 1, x)[0])(1.0)

    class Box:
        held: Any = None

    def program(x: Any) -> Any:
        Box.held = x
        return te.iterate(lambda y: y * Box.held, 3, x)

    with pytest.raises(UnsupportedError, match="neither in its state nor in its closure"):
        te.grad(program)(2.0)


@cache
def fewest(n: int, kept: int) -> int:
    """The fewest repeated steps for reversing n steps, by trying every place to keep a state."""
    if n <= 1:
        return 0
    if kept == 1:
        return n * (n - 1) // 2
    return min(m + fewest(n - m, kept - 1) + fewest(m, kept) for m in range(1, n))


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 80), st.integers(1, 7))
def test_the_recomputation_is_the_least_possible(n: int, kept: int) -> None:
    passed: list[Any] = []
    chain: Chain = Chain(lambda state: passed.append(state) or state + 1, n, kept, 0)
    passed.clear()
    order: list[Any] = []
    chain.reverse(lambda state, position: order.append((state, position)))
    assert order == [(k, k) for k in reversed(range(n))]
    repeated = len(passed) + chain.first[-1][0]
    assert repeated == fewest(n, kept)
    r = repetitions(n, kept)
    assert repeated == (r * n - comb(kept + r, r - 1) if r else 0)  # Griewank's binomial bound, attained


def test_a_reversal_does_not_change_the_chain_which_other_threads_reverse() -> None:
    chain: Chain = Chain(lambda state: state + 1, 9, 2, 0)
    before = vars(chain).copy()
    chain.reverse(lambda state, position: None, lambda state: state + 1)
    assert vars(chain) == before


def test_calls_of_a_step_stay_within_the_binomial_bound() -> None:
    calls = itertools.count()

    def step(x: Any) -> Any:
        next(calls)
        return tm.sin(x)

    n, kept = 300, 5
    te.grad(lambda x: te.iterate(step, n, x, checkpoints=kept))(0.5)
    r = repetitions(n, kept)
    # the first run, the repeated steps, and each step once more on a tape for its reversal
    assert next(calls) <= n + (r * n - comb(kept + r, r - 1)) + n


def test_few_states_are_alive_at_a_time() -> None:
    alive: set[int] = set()
    most = []

    class State:
        def __init__(self, k: int) -> None:
            self.k = k
            alive.add(id(self))

        def __del__(self) -> None:
            alive.discard(id(self))

    def step(state: State) -> State:
        most.append(len(alive))
        return State(state.k + 1)

    chain = Chain(step, 500, 4, State(0))
    chain.reverse(lambda state, position: None)
    assert max(most) <= 2 * 4 + 3  # the states of the first run, those of this reversal, and the current ones


def test_captures_of_functions_that_call_each_other() -> None:
    def program(x: Any, wrap: Any) -> Any:
        def even(n: int, y: Any) -> Any:
            return y if n == 0 else odd(n - 1, y * x)

        def odd(n: int, y: Any) -> Any:
            return tm.sin(y) if n == 0 else even(n - 1, y + x)

        return wrap(even)(5, x)

    expected = te.grad(lambda x: program(x, lambda f: f))(0.7)
    assert te.grad(lambda x: program(x, te.checkpoint))(0.7) == pytest.approx(expected, rel=1e-14)
    assert te.jvp(lambda x: program(x, te.checkpoint), (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("length", [1, 2, 300, 1000])
@pytest.mark.parametrize("kind", [list, tuple, lambda xs: dict(enumerate(xs))])
def test_captured_containers_of_any_length(kind: Any, length: int) -> None:
    def program(x: Any) -> Any:
        held = kind([x * k for k in range(length)])
        return te.checkpoint(lambda y: y * sum(held[k] for k in range(length)))(x)

    assert te.grad(program)(1.5) == 3.0 * sum(range(length))


def test_the_writes_of_steps_are_looked_for_after_as_many_as_powers_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look compares all captured data; one after each step would take time quadratic in what the steps write."""
    looks, look = [], FirstRun.look
    monkeypatch.setattr(FirstRun, "look", lambda run: looks.append(1) or look(run))
    te.vjp(lambda x: te.iterate(lambda y: 0.5 * y, 100, x), 1.0)
    assert len(looks) == 7  # after 1, 2, 4, ..., 64 steps
