"""fork and fork_map: derivatives of parallel programs, equal for any number of workers; counted, not timed."""

import gc
import itertools
import threading
import time
import weakref
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine.errors import DroppedDerivativeError, NotFiniteError, StructureError, UnsupportedError
from tapeengine.workers import Threads

ENGINE = te.Engine()
RNG = np.random.default_rng(5)
W, X = RNG.normal(size=(3, 3)), RNG.normal(size=3)
WAIT = 20.0  # seconds after which a test stops waiting for another thread
GLOBAL: list[Any] = []


@pytest.fixture(scope="module")
def two() -> Any:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def mixed(x: Any, y: Any) -> Any:
    """Tasks that share values, one that forks again, and one whose result is not used."""
    a, b = ENGINE.fork(lambda: x * y, lambda: tm.sin(x) + y)
    c, _, (d, e) = ENGINE.fork(
        lambda: a * b * x, lambda: tm.exp(a), lambda: ENGINE.fork(lambda: a + 1.0, lambda: [b * y])
    )
    return c * d + e[0]


def mixed_in_order(x: Any, y: Any) -> Any:
    a, b = x * y, tm.sin(x) + y
    return a * b * x * (a + 1.0) + b * y


def test_derivatives_of_all_orders_are_those_of_the_program_without_forks() -> None:
    at = (0.7, 1.3)
    for transform in (te.grad, te.jacfwd, te.jacrev, te.hessian, lambda f: te.grad(te.grad(te.grad(f)))):
        assert transform(mixed)(*at) == pytest.approx(transform(mixed_in_order)(*at), rel=1e-13)
    tangents = (0.4, -1.1)
    for product in (te.jvp, te.hvp, te.vhp):
        np.testing.assert_allclose(product(mixed, at, tangents), product(mixed_in_order, at, tangents), rtol=1e-13)


SECOND = {
    "grad of grad": lambda f: te.grad(lambda x: te.grad(f)(x).sum()),
    "jacrev of grad": lambda f: lambda x: te.jacrev(te.grad(f))(x).sum(0),
    "hessian": lambda f: lambda x: te.hessian(f)(x).sum(0),
    "third": lambda f: te.grad(lambda x: te.grad(lambda x: te.grad(f)(x).sum())(x).sum()),
}


@pytest.mark.parametrize("order", SECOND)
@pytest.mark.parametrize("beside", [3, None, "text", [True, {"a": None}], (2.0, 1), (np.ones(2), "text")], ids=str)
@pytest.mark.parametrize("has_array", [False, True])
def test_derivatives_of_all_orders_of_tasks_that_return_numbers_beside_what_is_discrete(
    order: str, beside: Any, has_array: bool
) -> None:
    def task(x: Any, k: float) -> Any:
        return {"x": x * k if has_array else np.sum(x**3) * k, "beside": beside}

    def total(of: Any, x: Any) -> Any:
        return sum(np.sum(found["x"] ** 2) * np.sum(x) for found in of(partial(task, x), [1.0, 2.0]))

    forked = SECOND[order](lambda x: total(te.fork_map, x))(X)
    assert np.allclose(forked, SECOND[order](lambda x: total(map, x))(X), rtol=1e-12)


def test_the_trace_that_forks_has_one_record_and_one_for_each_number_that_comes_out() -> None:
    def power(x: Any, n: int) -> Any:
        product = x
        for _ in range(n - 1):
            product = product * x
        return product

    for n in (2, 200):
        _, backpropagator = ENGINE.vjp(lambda x, n=n: ENGINE.fork(lambda: power(x, n), lambda: 2.0 * power(x, n)), 1.0)
        assert len(backpropagator.tape) == 3
        assert backpropagator((1.0, 1.0)) == (3.0 * n,)
        assert backpropagator((2.0, -1.0)) == (0.0,)


# -- in parallel ------------------------------------------------------------------------------------------------------
def met(barrier: threading.Barrier) -> Any:
    """A function whose value and reverse rule wait until another thread has reached the same point."""

    @ENGINE.custom_vjp
    def meet(x: Any) -> Any:
        return x

    def forward(x: Any) -> Any:
        barrier.wait(WAIT)
        return x, None

    def reverse(residuals: None, ct: Any) -> Any:
        barrier.wait(WAIT)
        return (ct,)

    meet.defvjp(forward, reverse)
    return meet


def test_both_passes_run_side_by_side(two: Executor) -> None:
    meet = met(threading.Barrier(2))

    def program(x: Any) -> Any:
        return sum(ENGINE.fork(lambda: meet(x * x), lambda: meet(3.0 * x), executor=two))

    value, backpropagator = ENGINE.vjp(program, 2.0)
    assert (value, backpropagator(1.0)) == (10.0, (7.0,))


def test_the_first_task_runs_in_the_thread_that_forks(two: Executor) -> None:
    assert ENGINE.fork(threading.get_ident, threading.get_ident, executor=two)[0] == threading.get_ident()
    assert ENGINE.fork(threading.get_ident, executor=two) == (threading.get_ident(),)


def test_a_backpropagator_keeps_the_tapes_of_its_tasks_and_no_longer(two: Executor) -> None:
    class Residual:
        """An object whose deletion can be observed."""

    gone = []

    @ENGINE.custom_vjp
    def kept(x: Any) -> Any:
        return x

    def forward(x: Any) -> Any:
        residual = Residual()
        gone.append(weakref.ref(residual))
        return x, residual

    kept.defvjp(forward, lambda residual, ct: (ct,))
    _, backpropagator = ENGINE.vjp(lambda x: ENGINE.fork(lambda: kept(x), lambda: kept(2.0 * x), executor=two), 1.0)
    assert backpropagator((1.0, 1.0)) == (3.0,)
    assert all(found() is not None for found in gone)
    del backpropagator
    gc.collect()
    assert [found() for found in gone] == [None, None]


def tree(executor: Executor, x: Any, depth: int) -> Any:
    if depth == 0:
        return tm.sin(x)
    left, right = ENGINE.fork(
        lambda: tree(executor, 1.1 * x, depth - 1), lambda: tree(executor, x + 0.1, depth - 1), executor=executor
    )
    return left * right


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_tasks_that_wait_for_tasks_never_block_each_other(workers: int) -> None:
    with ThreadPoolExecutor(workers) as executor:
        value, backpropagator = ENGINE.vjp(lambda x: tree(executor, x, 5), 0.8)
        done = (value, *backpropagator(1.0))
    with ThreadPoolExecutor(1) as executor:
        executor.shutdown()  # no worker takes a task: all run in this thread
        value, backpropagator = ENGINE.vjp(lambda x: tree(executor, x, 5), 0.8)
        assert done == (value, *backpropagator(1.0))


def test_a_task_whose_value_has_no_cotangent_is_not_resolved() -> None:
    calls = []

    @ENGINE.custom_vjp
    def counted(x: Any) -> Any:
        return x

    counted.defvjp(lambda x: (x, x), lambda x, ct: (calls.append(x) or ct,))  # type: ignore[func-returns-value]

    def program(x: Any) -> Any:
        used, _, masked = ENGINE.fork(
            lambda: counted(1.0 * x), lambda: counted(2.0 * x), lambda: counted(x * np.ones(2))
        )
        return used + tnp.sum(tnp.where(np.array([False, False]), masked, 0.0))

    assert ENGINE.grad(program)(5.0) == 1.0
    assert calls == [5.0]


def test_context_variables_reach_the_tasks(two: Executor) -> None:
    def divided() -> Any:
        return np.ones(2) / np.zeros(2)

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        ENGINE.fork(lambda: 1.0, divided, executor=two)
    with np.errstate(divide="ignore"):
        assert np.all(np.isinf(ENGINE.fork(lambda: 1.0, divided, executor=two)[1]))


# -- values -----------------------------------------------------------------------------------------------------------
def test_arrays_and_structures_go_in_and_out() -> None:
    def program(p: Any, use: Any) -> Any:
        first, second = use(lambda: {"h": tnp.tanh(p["w"] @ p["x"]), "n": 3}, lambda: (p["w"] * p["b"], None, "name"))
        return tnp.sum(first["h"] * first["n"]) + tnp.sum(second[0] ** 2) * p["b"]

    p = {"w": W, "x": X, "b": 1.5}
    forked = ENGINE.grad(lambda p: program(p, ENGINE.fork))(p)
    plain = ENGINE.grad(lambda p: program(p, lambda *tasks: [task() for task in tasks]))(p)
    for name in p:
        np.testing.assert_allclose(forked[name], plain[name], rtol=1e-13)


def test_cotangents_of_shared_arrays_are_added_in_memory_of_their_own() -> None:
    kept: list[Any] = []

    @ENGINE.custom_vjp
    def through(w: Any) -> Any:
        return w

    def reverse(residuals: None, ct: Any) -> Any:
        kept.append((ct, ct.copy()))
        return (ct,)

    through.defvjp(lambda w: (w, None), reverse)
    gradient = ENGINE.grad(
        lambda w: sum(tnp.sum(part) for part in ENGINE.fork_map(lambda c: c * through(w), [1.0, 2.0, 4.0]))
    )(W)
    np.testing.assert_array_equal(gradient, 7.0 * np.ones((3, 3)))
    assert len(kept) == 3
    for ct, before in kept:
        np.testing.assert_array_equal(ct, before)


def test_a_task_that_writes_into_a_captured_traced_array_is_refused() -> None:
    def program(w: Any) -> Any:
        def task(k: int) -> Any:
            w[k] = 0.0
            return tnp.sum(w)

        return sum(ENGINE.fork_map(task, range(3))) + tnp.sum(w)

    start = np.array([1.0, 2.0, 4.0])
    with pytest.raises(DroppedDerivativeError, match="what task writes"):
        ENGINE.vjp(program, start)
    assert start.tolist() == [1.0, 2.0, 4.0]


def test_outside_of_a_trace_tasks_just_run() -> None:
    assert ENGINE.fork(lambda: 1, lambda: "two", lambda: [3.0]) == (1, "two", [3.0])
    assert ENGINE.fork() == ()
    assert ENGINE.fork_map(pow, [2, 3], [3, 2]) == [8, 9]


@pytest.mark.parametrize("chunksize", [1, 2, 3, 100])
def test_a_map_gives_the_results_in_order(chunksize: int) -> None:
    def program(w: Any, xs: Any) -> Any:
        return sum(ENGINE.fork_map(lambda k, x: (w - k) * x * x, range(len(xs)), xs, chunksize=chunksize))

    xs = [0.5, -1.0, 2.0, 3.0, 1.0]
    dw, dxs = ENGINE.grad(program, (0, 1))(1.5, xs)
    assert dw == pytest.approx(sum(x * x for x in xs), rel=1e-14)
    np.testing.assert_allclose(dxs, [2.0 * (1.5 - k) * x for k, x in enumerate(xs)], rtol=1e-14)


def test_a_map_of_nothing_and_of_iterables_that_do_not_match() -> None:
    assert ENGINE.grad(lambda x: x + sum(ENGINE.fork_map(lambda y: x * y, [])))(1.0) == 1.0
    assert ENGINE.grad(lambda x: sum(ENGINE.fork_map(lambda y: x * y, (k * 1.0 for k in range(4)))))(1.0) == 6.0
    with pytest.raises(ValueError, match="shorter"):
        ENGINE.fork_map(pow, [1, 2], [1])
    with pytest.raises(StructureError, match="chunksize must be a whole number of at least 1"):
        ENGINE.fork_map(abs, [1], chunksize=0)


# -- with other transforms --------------------------------------------------------------------------------------------
def layers(w: Any, x: Any) -> Any:
    parts = ENGINE.fork(lambda: tnp.tanh(w @ x), lambda: tnp.sin(x), lambda: w @ w @ x)
    return parts[0] * parts[1] + parts[2]


@pytest.mark.parametrize("argnums", [0, 1])
def test_jacobians_in_both_modes_agree(argnums: int) -> None:
    forward, reverse = (ENGINE.jacobian(layers, argnums, mode)(W, X) for mode in ("forward", "reverse"))
    np.testing.assert_allclose(forward, reverse, rtol=1e-12, atol=1e-14)


def test_inner_products_tie_the_two_modes() -> None:
    tangents, ct = (RNG.normal(size=(3, 3)), RNG.normal(size=3)), RNG.normal(size=3)
    _, tangent = ENGINE.jvp(layers, (W, X), tangents)
    cotangents = ENGINE.vjp(layers, W, X)[1](ct)
    inner = sum(np.vdot(c, t) for c, t in zip(cotangents, tangents, strict=True))
    assert inner == pytest.approx(np.vdot(ct, tangent), rel=1e-13)


def test_a_linear_map_runs_the_tasks_once_more_however_often_it_is_applied() -> None:
    runs = itertools.count(1)  # functions that run again get copies of captured lists, not of this

    def program(x: Any) -> Any:
        return sum(ENGINE.fork(lambda: x * x * (next(runs) > 0), lambda: 3.0 * x))

    _, m = ENGINE.linearize(program, 2.0)
    assert [m(1.0), m(2.0), m.T(1.0)] == [7.0, 14.0, 7.0]
    assert next(runs) == 3


def test_in_checkpoint_and_in_iterate_and_the_other_way_round() -> None:
    def step(x: Any) -> Any:
        a, b = ENGINE.fork(lambda: tm.sin(x), lambda: ENGINE.checkpoint(lambda: tm.cos(x) * x)())
        return a * b

    def plain(x: Any) -> Any:
        return tm.sin(x) * (tm.cos(x) * x)

    wanted = ENGINE.grad(lambda x: plain(plain(plain(x))))(0.9)
    assert ENGINE.grad(lambda x: ENGINE.iterate(step, 3, x, checkpoints=1))(0.9) == pytest.approx(wanted, rel=1e-13)
    assert ENGINE.grad(ENGINE.checkpoint(lambda x: step(step(step(x)))))(0.9) == pytest.approx(wanted, rel=1e-13)


def test_rules_of_a_task_may_be_differentiated_with_respect_to_its_cotangent() -> None:
    def program(x: Any, ct: Any) -> Any:
        return ENGINE.vjp(lambda y: ENGINE.fork(lambda: y * y, lambda: tm.sin(y))[0], x)[1](ct)[0]

    assert ENGINE.grad(program, (0, 1))(3.0, 5.0) == (10.0, 6.0)


def test_a_traced_value_in_a_global_is_found() -> None:
    def program(x: Any) -> Any:
        GLOBAL.append(x)
        try:
            return sum(ENGINE.fork(lambda: x, lambda: x * GLOBAL[-1]))
        finally:
            GLOBAL.clear()

    assert ENGINE.grad(program)(2.0) == 5.0


# -- errors -----------------------------------------------------------------------------------------------------------
def test_the_first_error_in_order_is_raised_once_the_others_have_ended(two: Executor) -> None:
    ended = []
    barrier = threading.Barrier(2)

    def fails(error: Exception) -> Any:
        barrier.wait(WAIT)
        if isinstance(error, KeyError):
            threading.Event().wait(0.05)
        ended.append(error)
        raise error

    with pytest.raises(KeyError, match="first"):
        ENGINE.vjp(
            lambda x: ENGINE.fork(lambda: fails(KeyError("first")), lambda: fails(ValueError("second")), executor=two),
            1.0,
        )
    assert sorted(map(str, ended)) == ["'first'", "second"]
    assert ENGINE.grad(mixed)(0.7, 1.3) == pytest.approx(ENGINE.grad(mixed_in_order)(0.7, 1.3), rel=1e-13)


def test_an_error_in_the_reverse_pass_leaves_the_engine_usable() -> None:
    @ENGINE.custom_vjp
    def broken(x: Any) -> Any:
        return x

    broken.defvjp(lambda x: (x, None), lambda residuals, ct: 1 / 0)
    _, backpropagator = ENGINE.vjp(lambda x: sum(ENGINE.fork(lambda: x * x, lambda: broken(x))), 3.0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            backpropagator(1.0)
    assert ENGINE.grad(lambda x: sum(ENGINE.fork(lambda: x * x, lambda: x)))(3.0) == 7.0


def test_an_interrupt_passes_through() -> None:
    def interrupted() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ENGINE.vjp(lambda x: ENGINE.fork(interrupted, lambda: x, lambda: x), 1.0)
    assert ENGINE.grad(lambda x: sum(ENGINE.fork(lambda: x * x, lambda: x)))(3.0) == 7.0


def test_a_traced_value_out_of_reach_is_refused() -> None:
    class Box:
        held: Any = None

    def program(x: Any) -> Any:
        Box.held = x
        return sum(ENGINE.fork(lambda: x, lambda: x * Box.held))

    with pytest.raises(UnsupportedError, match="the task <lambda> uses a traced value that is not in its closure"):
        ENGINE.vjp(program, 2.0)


def test_what_is_no_task_and_what_is_no_value_are_refused() -> None:
    with pytest.raises(StructureError, match=r"fork takes callables without arguments, not 3\.0"):
        ENGINE.fork(3.0)  # type: ignore[arg-type]
    with pytest.raises(StructureError, match=r"value\[1\] is a builtins.object"):
        ENGINE.vjp(lambda x: ENGINE.fork(lambda: x, lambda: (x, object()))[0], 1.0)


def test_values_that_are_not_finite_are_found_in_tasks() -> None:
    engine = te.Engine()
    with engine.debug(nans=True), pytest.raises(NotFiniteError, match="sqrt"):
        engine.vjp(lambda x: engine.fork(lambda: x, lambda: tm.sqrt(x - x)), 1.0)


def test_calls_in_order_of_none_and_with_an_executor_that_is_gone() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    assert list(Threads(executor).run([], "call")) == []
    assert list(Threads(executor).run([(abs, -k) for k in range(4)], "call")) == [0, 1, 2, 3]


def test_results_that_have_been_taken_are_not_kept(two: Executor) -> None:
    class Result:
        """An object whose deletion can be observed."""

    barrier = threading.Barrier(3)

    def make() -> Result:
        barrier.wait(WAIT)
        return Result()

    seen = []
    for result in Threads(two).run([(make,)] * 3, "make"):
        seen.append(weakref.ref(result))
        del result
        deadline = time.monotonic() + WAIT
        while seen[-1]() is not None and time.monotonic() < deadline:
            time.sleep(0.001)
        assert seen[-1]() is None
    assert len(seen) == 3


class Counting(ThreadPoolExecutor):
    """Counts what it is given."""

    given = 0

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        self.given += 1
        return super().submit(*args, **kwargs)


@pytest.mark.parametrize("tasks", [1, 2, 3, 8, 1000])
def test_threads_are_asked_once_for_all_tasks(tasks: int) -> None:
    with Counting(2) as executor:
        assert te.fork_map(lambda x: x + 1, range(tasks), executor=executor) == list(range(1, tasks + 1))
        assert executor.given == min(tasks - 1, 2)


def test_a_thread_that_has_ended_a_task_takes_the_next(two: Executor) -> None:
    """While one task runs, the two others threads do all the rest."""
    last = threading.Event()

    def task(k: int) -> int:
        if k == 0:
            assert last.wait(WAIT)
        elif k == 99:
            last.set()
        return threading.get_ident()

    threads = te.fork_map(task, range(100), executor=two)
    assert threads[0] == threading.get_ident() and threads[0] not in threads[1:]


def test_the_first_error_of_many_tasks_is_raised_and_context_variables_stay_apart(two: Executor) -> None:
    seen = ContextVar("seen", default=0)

    def task(k: int) -> int:
        before = seen.get()
        seen.set(k)
        if k in (41, 43, 97):
            raise ValueError(k)
        return before

    assert te.fork_map(task, range(40), executor=two) == [0] * 40
    with pytest.raises(ValueError, match="41"):
        te.fork_map(task, range(100), executor=two)


SCALE = [3.0]
SHIFT = 0.25


def scaled(x: Any) -> Any:
    return SCALE[0] * x


def shifted(x: Any) -> Any:
    return SCALE[0] * x + SHIFT


class Model:
    """An item that is looked into."""

    def __init__(self, w: Any) -> None:
        self.w = w
        self.parts = [w, 2.0 * w]

    def __call__(self, x: Any) -> Any:
        return self.w * x + self.parts[1]


@pytest.mark.parametrize("chunksize", [1, 2])
def test_what_the_function_of_a_map_and_its_items_share_stays_shared(chunksize: int) -> None:
    """Items that hold the function's own captures, read its globals, or are traced, in every combination."""
    w0, bias = 0.7, [0.5]

    def value(fork: Any, w: Any) -> Any:
        kept = [w, bias]
        model = Model(w)

        def f(item: Any, x: Any) -> Any:
            own = item(x) if callable(item) else item[0] * x + (item is kept) + (item[1:] == [bias])
            return own * model(x) * kept[0] + scaled(x) + bias[0]

        items = [scaled, shifted, model, model.__call__, kept, [w], (2.0,), partial(shifted), lambda x: w * shifted(x)]
        return sum(fork(f, items, [w * k for k in range(len(items))]))

    def mapped(f: Any, *iterables: Any) -> list[Any]:
        return te.fork_map(f, *iterables, chunksize=chunksize)

    plain, spread = (partial(value, fork) for fork in (lambda f, *its: list(map(f, *its)), mapped))
    wanted = te.value_and_grad(plain)(w0)
    assert te.value_and_grad(spread)(w0) == pytest.approx(wanted, rel=1e-13)
    assert wanted[1] == pytest.approx((plain(w0 + 1e-6) - plain(w0 - 1e-6)) / 2e-6, rel=1e-8)
    assert te.hvp(spread, (w0,), (1.0,)) == pytest.approx(te.hvp(plain, (w0,), (1.0,)), rel=1e-12)
    assert spread(w0) == plain(w0)


def test_what_cannot_be_called_is_named() -> None:
    with pytest.raises(StructureError, match=r"write fork_map\(f, xs\)"):
        te.fork_map(3, [1.0])  # type: ignore[arg-type]
