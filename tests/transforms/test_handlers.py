"""An exception that a signal handler raises passes through the engine unchanged, wherever it arrives."""

import functools
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import CO_GENERATOR
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.duals.dispatch import explained
from tapeengine.errors import UnsupportedError

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals"),
    pytest.mark.usefixtures("no_callbacks_of_collections"),
]

A = np.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [0.6, 0.2, 0.9]])
X = np.array([0.4, 0.9, -0.3])
#: Where Python itself loses exceptions: contexts on the way in and out, ends of generators, callbacks of references.
UNSAFE = ("__enter__", "__exit__", "remove")


class Late(Exception):
    """What the handler raises."""


def raising(signum: int, frame: Any) -> None:
    raise Late("after some time")


def raising_star(*given: Any) -> None:
    raise Late("after some time")


class Raising:
    def __call__(self, signum: int, frame: Any) -> None:
        raise Late("after some time")


@contextmanager
def handled(handler: Any) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def late_at(event: int, run: Callable[[], Any]) -> int:
    """Run with a signal when one of the functions is entered; the number of functions that were entered."""
    count = 0

    def profile(frame: Any, kind: str, arg: Any) -> None:
        nonlocal count
        if kind != "call" or frame.f_code.co_name in UNSAFE or frame.f_code.co_flags & CO_GENERATOR:
            return
        count += 1
        if count == event:
            signal.raise_signal(signal.SIGUSR1)

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def arrays(a: Any) -> Any:
    b = np.tanh(A @ a) + np.diff(np.concatenate([a, a[:1]]))
    c = np.sort(np.where(b > 0.1, np.dot(A, b), np.exp(b)))
    return np.linalg.norm(np.cumsum(c)) + np.max(np.outer(c, b)) + np.einsum("i,i->", b, c)


def numbers(x: Any) -> Any:
    return te.math.sin(x) * abs(x) + max(x, 0.3) / (1.0 + x**2)


def typed(x: float) -> float:
    return x * x / (x + 1.0)


CALLS: dict[str, Callable[[], Any]] = {
    "grad of arrays": lambda: te.grad(arrays)(X),
    "jvp of arrays": lambda: te.jvp(arrays, (X,), (X,)),
    "jacrev": lambda: te.jacrev(lambda a: np.cumsum(np.tanh(A @ a)))(X),
    "jacfwd": lambda: te.jacfwd(lambda a: np.sort(np.tanh(A @ a)))(X),
    "jacobian": lambda: te.jacobian(lambda a: np.kron(a, a))(X),
    "hessian": lambda: te.hessian(lambda a: np.sum(np.exp(A @ a)))(X),
    "checkpoint": lambda: te.grad(te.checkpoint(arrays))(X),
    "iterate": lambda: te.grad(lambda x: te.iterate(numbers, 3, x))(0.7),
    "vmap": lambda: te.vmap(numbers)(X),
    "numbers": lambda: te.hessian(numbers)(0.7),
    "typed": lambda: te.grad(te.program(typed))(0.7),
    "staged": lambda: te.grad(te.stage(arrays))(X),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_exception_of_a_handler_passes_unchanged_at_every_event(name: str) -> None:
    run = CALLS[name]
    run()
    before = run()
    with handled(raising):
        events = late_at(0, run)
        for event in range(1, events + 1, 1 + events // 150):
            with pytest.raises(Late, match=r"^after some time$"):
                reached = late_at(event, run)
                if reached < event:  # what was cached in the meantime is not called again
                    raise Late("after some time")
    np.testing.assert_equal(run(), before)


@pytest.mark.parametrize("handler", [raising, raising_star, Raising(), functools.partial(raising), Raising().__call__])
def test_handlers_of_every_form_are_known(handler: Any) -> None:
    run = CALLS["grad of arrays"]
    with handled(handler):
        for event in range(5, late_at(0, run), 40):
            with pytest.raises(Late):
                late_at(event, run)


def test_an_error_of_a_rule_is_still_explained() -> None:
    with handled(raising), pytest.raises(TypeError) as own:
        sum([1.0, "a"])  # type: ignore[list-item]
    assert isinstance(explained(own.value, np.sort, (X,), {}), UnsupportedError)
