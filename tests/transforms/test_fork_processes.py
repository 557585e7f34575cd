"""fork on executors that share no memory: tasks travel by pickle, and their derivatives run them again there."""

import multiprocessing
import os
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp

ENGINE = te.Engine()
W = np.random.default_rng(3).normal(size=(2, 3))


class Pair(NamedTuple):
    """A structure that travels."""

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

    ((here, first), (there, second)), backpropagator = ENGINE.vjp(program, 3.0)
    assert (here, first, second) == (os.getpid(), 6.0, 18.0)
    assert there != here
    assert backpropagator(((None, 1.0), (None, 10.0))) == (2.0 + 120.0,)


@pytest.mark.parametrize("transform", [te.grad, te.jacfwd, te.hessian], ids=["grad", "jacfwd", "hessian"])
def test_derivatives_are_the_same_bits_as_on_threads(pool: Executor, transform: Any) -> None:
    for program, args in ((waves, (1.3, [0.2, 0.4, -1.0])), (layers, (W, 0.7))):
        far, near = (transform(partial(program, executor), (0, 1))(*args) for executor in (pool, None))
        for a, b in zip(flat(far), flat(near), strict=True):
            np.testing.assert_array_equal(a, b)


def flat(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, tuple | list) else [value]


def test_products_with_second_derivatives(pool: Executor) -> None:
    at, tangent = (1.3, [0.2, 0.4]), (0.5, [1.0, -2.0])
    for product in (te.hvp, te.vhp):
        far, near = (flat(product(partial(waves, executor), at, tangent)) for executor in (pool, None))
        np.testing.assert_allclose(far, near, rtol=1e-13)


def test_a_task_that_does_not_travel_says_so(pool: Executor) -> None:
    with pytest.raises((AttributeError, TypeError), match=r"[Cc]an't (pickle|get) local object"):
        ENGINE.vjp(lambda x: ENGINE.fork(lambda: x, lambda: 2.0 * x, executor=pool), 1.0)
    assert ENGINE.grad(partial(waves, pool), 0)(1.0, [1.0]) == pytest.approx(np.cos(1.0), rel=1e-15)


def test_an_executor_that_nobody_knows_is_taken_to_be_far_away() -> None:
    class Elsewhere(Executor):
        """Runs everything at once, on what has been through pickle."""

        def __init__(self) -> None:
            self.sent = 0

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            import pickle

            self.sent += 1
            future: Future[Any] = Future()
            future.set_running_or_notify_cancel()
            function, received = pickle.loads(pickle.dumps((fn, args)))
            future.set_result(pickle.loads(pickle.dumps(function(*received))))
            return future

    elsewhere = Elsewhere()
    _, backpropagator = ENGINE.vjp(partial(waves, elsewhere), 1.3, [0.2, 0.4, -1.0])
    assert elsewhere.sent == 2
    assert backpropagator(1.0) == ENGINE.vjp(partial(waves, None), 1.3, [0.2, 0.4, -1.0])[1](1.0)
    assert elsewhere.sent == 4
