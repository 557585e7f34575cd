"""fork on executors that share no memory: tasks are pickled, and return the data that their derivatives need."""

import multiprocessing
import os
import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from leaves import leaves

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp

ENGINE = te.Engine()
W = np.random.default_rng(3).normal(size=(2, 3))


class Pair(NamedTuple):
    """A structure that is sent."""

    a: Any
    b: Any


def wave(k: Any, x: Any) -> Any:
    return tm.sin(k * x) * x


def layer(w: Any, p: Pair) -> Any:
    return Pair(tnp.tanh(w @ p.a), p.b * tnp.sum(w))


def process(x: Any) -> Any:
    return os.getpid(), 2.0 * x


@pytest.fixture(scope="module")
def pool() -> Any:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


def waves(executor: Executor | None, k: Any, xs: Any) -> Any:
    return sum(ENGINE.fork_map(partial(wave, k), xs, executor=executor))


def layers(executor: Executor | None, w: Any, b: Any) -> Any:
    p, q = ENGINE.fork(partial(layer, w, Pair(w[0], b)), partial(layer, 2.0 * w, Pair(w[1], 1.0)), executor=executor)
    return tnp.sum(p.a * q.a) + p.b * q.b


def test_tasks_run_in_another_process(pool: Executor) -> None:
    def program(x: Any) -> Any:
        return ENGINE.fork(partial(process, x), partial(process, x * x), executor=pool)

    ((first, a), (second, b)), backpropagator = ENGINE.vjp(program, 3.0)
    assert (a, b) == (6.0, 18.0)
    assert first == second != os.getpid()
    assert backpropagator(((None, 1.0), (None, 10.0))) == (2.0 + 120.0,)


@pytest.mark.parametrize("transform", [te.grad, te.jacfwd, te.hessian], ids=["grad", "jacfwd", "hessian"])
def test_derivatives_are_the_same_bits_as_on_threads(pool: Executor, transform: Any) -> None:
    for program, args in ((waves, (1.3, [0.2, 0.4, -1.0])), (layers, (W, 0.7))):
        far, near = (transform(partial(program, executor), (0, 1))(*args) for executor in (pool, None))
        for a, b in zip(leaves(far), leaves(near), strict=True):
            np.testing.assert_array_equal(a, b)


def test_products_with_second_derivatives(pool: Executor) -> None:
    at, tangent = (1.3, [0.2, 0.4]), (0.5, [1.0, -2.0])
    for product in (te.hvp, te.vhp):
        far, near = (leaves(product(partial(waves, executor), at, tangent)) for executor in (pool, None))
        np.testing.assert_allclose(far, near, rtol=1e-13)


def test_a_task_that_does_not_travel_says_so(pool: Executor) -> None:
    with pytest.raises((AttributeError, TypeError), match=r"[Cc]an't (pickle|get) local object"):
        ENGINE.vjp(lambda x: ENGINE.fork(lambda: x, lambda: 2.0 * x, executor=pool), 1.0)
    assert ENGINE.grad(partial(waves, pool), 0)(1.0, [1.0]) == pytest.approx(np.cos(1.0), rel=1e-15)


class Elsewhere(Executor):
    """Runs everything at once after a round trip through pickle, and counts bytes."""

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.received: list[int] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        message = pickle.dumps((fn, args))
        function, received = pickle.loads(message)
        answer = pickle.dumps(function(*received))
        self.sent.append(len(message))
        self.received.append(len(answer))
        future.set_result(pickle.loads(answer))
        return future


def squares(w: Any, x: Any) -> Any:
    return tnp.sum((w * x) ** 2)


def many(w: Any, x: Any) -> Any:
    return w * x


def test_a_task_with_few_numbers_brings_its_derivative_and_is_sent_once() -> None:
    elsewhere = Elsewhere()
    value, backpropagator = ENGINE.vjp(partial(waves, elsewhere), 1.3, [0.2, 0.4, -1.0])
    assert len(elsewhere.sent) == 3
    near, its = ENGINE.vjp(partial(waves, None), 1.3, [0.2, 0.4, -1.0])
    for ct in (1.0, 0.7, -3e-5, 0.0):
        assert backpropagator(ct) == its(ct)
    assert value == near
    assert len(elsewhere.sent) == 3


def firsts(count: int, x: Any) -> Any:
    return tnp.sin(x[:count]) * x[-1]


@pytest.mark.parametrize("count", range(1, 7))
def test_few_numbers_are_fewer_than_those_that_the_task_gets(count: int) -> None:
    elsewhere = Elsewhere()
    x, ct = np.linspace(0.1, 0.9, 5), np.linspace(-1.0, 1.0, min(count, 5))

    def program(x: Any) -> Any:
        return ENGINE.fork_map(partial(firsts, count), [x], executor=elsewhere)

    value, backpropagator = ENGINE.vjp(program, x)
    np.testing.assert_array_equal(value[0], np.sin(x[:count]) * x[-1])
    expected = np.zeros(5)
    expected[:count] = ct * np.cos(x[:count]) * x[-1]
    expected[-1] += ct @ np.sin(x[:count])
    np.testing.assert_allclose(backpropagator([ct])[0], expected, rtol=1e-14)
    assert len(elsewhere.sent) == (1 if count < 5 else 2)


def test_a_task_with_a_large_value_is_sent_again_with_its_cotangent() -> None:
    elsewhere = Elsewhere()
    w, ct = np.arange(1.0, 6.0), np.linspace(-1.0, 1.0, 5)

    def program(executor: Any, w: Any) -> Any:
        return sum(ENGINE.fork_map(partial(many, w), [1.5, 2.5], executor=executor))

    (far, its), (near, theirs) = (ENGINE.vjp(partial(program, e), w) for e in (elsewhere, None))
    np.testing.assert_array_equal(far, near)
    assert len(elsewhere.sent) == 2
    np.testing.assert_array_equal(its(ct)[0], theirs(ct)[0])
    assert len(elsewhere.sent) == 4


def steep(x: Any) -> Any:
    return x * 1e200 * 1e200


def test_a_row_that_is_not_finite_is_not_used() -> None:
    """The derivative overflows, but its product with a small cotangent does not."""
    for executor in (Elsewhere(), None):
        _, backpropagator = ENGINE.vjp(lambda x, e=executor: ENGINE.fork(partial(steep, x), executor=e)[0], 1e-200)
        assert backpropagator(1e-300) == pytest.approx((1e100,))
        assert backpropagator(1.0) == (np.inf,)


def test_data_at_rest_is_sent_once_and_an_iteration_sends_parameters_and_brings_cotangents() -> None:
    elsewhere = Elsewhere()
    data = np.linspace(0.0, 1.0, 50_000)
    shards = [te.Shared(part) for part in np.split(data, 5)]

    def loss(executor: Any, parts: Any, w: Any) -> Any:
        return sum(ENGINE.fork_map(partial(squares, w), parts, executor=executor))

    far, near = (ENGINE.value_and_grad(partial(loss, e, shards)) for e in (elsewhere, None))
    for k, w in enumerate((0.5, 1.5, 2.5)):
        elsewhere.sent.clear(), elsewhere.received.clear()
        assert far(w) == near(w)
        assert len(elsewhere.sent) == (10 if k == 0 else 5)
        assert sum(elsewhere.sent) < (1.1 * data.nbytes if k == 0 else 5 * 1500)
        assert sum(elsewhere.received) < 10 * 1000
    assert near(2.5) == pytest.approx((6.25 * (data @ data), 5.0 * (data @ data)), rel=1e-12)


def products(w: Any, pairs: Any) -> Any:
    return sum(w * a * b for a, b in pairs)


def test_data_of_any_kind_are_what_the_task_finds_and_not_what_it_writes() -> None:
    for executor in (Elsewhere(), None):
        shards = [te.Shared([(1.0, 2.0), (3.0, 4.0)]), te.Shared([[5.0, 6.0]])]
        each = partial(ENGINE.fork_map, executor=executor)
        assert ENGINE.grad(lambda w, f=each, s=shards: sum(f(partial(products, w), s)))(2.0) == 44.0
        assert each(len, shards) == [2, 1]


def test_equal_tasks_are_all_run() -> None:
    runs: list[int] = []

    class Counting(Elsewhere):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            runs.append(1)
            return super().submit(fn, *args, **kwargs)

    assert ENGINE.fork_map(abs, [-1.0] * 4, executor=Counting()) == [1.0] * 4
    assert len(runs) == 4
