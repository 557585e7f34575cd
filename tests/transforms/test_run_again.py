"""Functions that run again behave the same: every transform that does so, with every kind of capture and change.

The wanted derivative is that of the same program without the transform, which is run once.
"""

import itertools
import math
import random
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
from tapeengine.errors import RepeatError
from tapeengine.structure import Structures
from tapeengine.transforms.captures import array_copies
from tapeengine.transforms.repeated.rerun import Outcome

ENGINE = te.Engine()
GLOBAL: Any = 1.0
GLOBAL_LIST = [1.0]


@dataclass
class Settings:
    """A captured dataclass."""

    k: Any


class Plain:
    """A captured object of a class in the program."""

    def __init__(self, k: Any) -> None:
        self.k = k

    def times(self, x: Any) -> Any:
        return x * self.k + x**self.k


def power(k: Any, x: Any) -> Any:
    """Its value at 1 does not depend on k, so that comparing values cannot replace the binding."""
    return 0.5 * x**k


# -- what is captured: a maker of (the function, what changes it) from the k-th run on ---------------------------------
def by_cell() -> tuple[Callable[[Any], Any], Callable[[float], None]]:
    k = 1.0

    def change(new: float) -> None:
        nonlocal k
        k = new

    return lambda x: power(k, x), change


def by_list() -> tuple[Any, Any]:
    values = [1.0]
    return lambda x: power(values[-1], x), values.append


def by_dict() -> tuple[Any, Any]:
    values = {"k": [1.0]}
    return lambda x: power(values["k"][0], x), lambda new: values["k"].__setitem__(0, new)


def by_array() -> tuple[Any, Any]:
    values = np.array([1.0, 7.0])
    return lambda x: power(values[0], x), partial(values.__setitem__, 0)


def by_view() -> tuple[Any, Any]:
    values = np.ones((2, 3), order="F")
    return (lambda view: lambda x: power(view[0, 1], x))(values.T), partial(values.fill)


def by_dataclass() -> tuple[Any, Any]:
    settings = Settings(1.0)
    return lambda x: power(settings.k, x), partial(setattr, settings, "k")


def by_object() -> tuple[Any, Any]:
    held = Plain(1.0)
    return lambda x: power(held.k, x), partial(setattr, held, "k")


def by_method() -> tuple[Any, Any]:
    held = Plain(1.0)
    return held.times, partial(setattr, held, "k")


def by_namespace() -> tuple[Any, Any]:
    held = types.SimpleNamespace(k=1.0)
    return lambda x: power(held.k, x), partial(setattr, held, "k")


def by_partial() -> tuple[Any, Any]:
    values = [1.0]
    return partial(lambda held, x: power(held[0], x), values), partial(values.__setitem__, 0)


def by_keyword_of_partial() -> tuple[Any, Any]:
    values = [1.0]
    return partial(lambda x, *, held: power(held[0], x), held=values), partial(values.__setitem__, 0)


def by_objects() -> tuple[Any, Any]:
    values = np.array([1.0, None], dtype=object)
    return lambda x: power(values[0], x), partial(values.__setitem__, 0)


def by_default() -> tuple[Any, Any]:
    values = [1.0]

    def f(x: Any, held: Any = values, *, more: Any = values) -> Any:
        return power(held[0], x) * more[0]

    return f, partial(values.__setitem__, 0)


def by_inner_function() -> tuple[Any, Any]:
    values = [1.0]

    def inner(x: Any) -> Any:
        return power(values[0], x) if values[0] >= 0 else inner(x)

    return lambda x: inner(x), partial(values.__setitem__, 0)


def by_global() -> tuple[Any, Any]:
    return reads_global, partial(globals().__setitem__, "GLOBAL")


def reads_global(x: Any) -> Any:
    return helper(x) + power(GLOBAL_LIST[-1], x)


def helper(x: Any) -> Any:
    return power(GLOBAL, x)


def by_set() -> tuple[Any, Any]:
    values = {1.0}
    return lambda x: power(max(values), x), values.add


CAPTURES = [
    *(by_cell, by_list, by_dict, by_array, by_view, by_dataclass, by_object, by_method, by_namespace, by_partial),
    *(by_default, by_inner_function, by_global, by_set, by_keyword_of_partial, by_objects),
]


# -- who runs it again -------------------------------------------------------------------------------------------------
def plain(f: Any, x: Any) -> Any:
    return f(x)


def checkpointed(f: Any, x: Any) -> Any:
    return ENGINE.checkpoint(f)(x)


def twice_checkpointed(f: Any, x: Any) -> Any:
    return ENGINE.checkpoint(lambda y: ENGINE.checkpoint(f)(y))(x)


def iterated(f: Any, x: Any) -> Any:
    return ENGINE.iterate(f, 1, x)


def forked(f: Any, x: Any) -> Any:
    return ENGINE.fork(lambda: f(x), lambda: 0.0 * x)[0]


def mapped(f: Any, x: Any) -> Any:
    return ENGINE.fork_map(f, [x, 0.0 * x + 1.0])[0]


def with_rule(f: Any, x: Any) -> Any:
    """A function whose rules capture the same variables as the function."""

    @ENGINE.custom_vjp
    def function(y: Any) -> Any:
        return f(y)

    function.defvjp(lambda y: (f(y), y), lambda y, ct: (ct * ENGINE.grad(f)(y),))
    return function(x)


def with_forward_rule(f: Any, x: Any) -> Any:
    @ENGINE.custom_jvp
    def function(y: Any) -> Any:
        return f(y)

    function.defjvp(lambda primals, tangents: ENGINE.jvp(f, primals, tangents))
    return function(x)


AGAIN = [checkpointed, twice_checkpointed, iterated, forked, mapped, with_rule, with_forward_rule]
ORDERS: dict[str, Callable[[Any], Any]] = {
    "grad": ENGINE.grad,
    "jvp": lambda f: lambda x: ENGINE.jvp(f, (x,), (1.0,)),
    "hessian": ENGINE.hessian,
    "reverse2": lambda f: ENGINE.grad(ENGINE.grad(f)),
}


def program(run: Any, make: Any) -> Any:
    """Three calls with a change after each, as in a loop."""

    def summed(x: Any) -> Any:
        f, change = make()
        change(1.0)
        total = 0.0
        for k in (2.0, 3.0, 4.0):
            total = total + run(f, x)
            change(k)
        return total

    return summed


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("run", AGAIN, ids=lambda run: run.__name__)
@pytest.mark.parametrize("make", CAPTURES, ids=lambda make: make.__name__)
def test_captures_are_those_of_the_call(make: Any, run: Any, order: str) -> None:
    ours = ORDERS[order](program(run, make))(1.0)
    np.testing.assert_allclose(ours, ORDERS[order](program(plain, make))(1.0), rtol=1e-13)


# -- random numbers ----------------------------------------------------------------------------------------------------
def seeded(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)


def of_generator() -> Any:
    rng = np.random.default_rng(3)
    return lambda x: x * rng.normal() + tm.sin(x) * rng.random()


def of_bound_method() -> Any:
    draw = np.random.default_rng(3).normal
    return lambda x: x * draw()


def of_random() -> Any:
    rng = random.Random(3)
    return lambda x: x * rng.gauss(0.0, 1.0)


def of_random_state() -> Any:
    rng = np.random.RandomState(3)
    return lambda x: x * rng.normal()


def of_globals() -> Any:
    return lambda x: x * np.random.normal() + x * random.random() * random.gauss(0.0, 1.0)


def of_dropout() -> Any:
    return lambda x: x * float(np.random.rand() < 0.5) + tm.exp(x) * float(random.random() < 0.5)


@pytest.mark.parametrize("order", ["grad", "jvp", "hessian"])
@pytest.mark.parametrize("run", [checkpointed, twice_checkpointed, iterated], ids=lambda run: run.__name__)
@pytest.mark.parametrize(
    "make",
    [of_generator, of_bound_method, of_random, of_random_state, of_globals, of_dropout],
    ids=lambda m: m.__name__,
)
def test_random_numbers_are_those_of_the_first_run_and_the_stream_goes_on(make: Any, run: Any, order: str) -> None:
    def program(wrapped: Any) -> Any:
        f = make()

        def three(x: Any) -> Any:
            for _ in range(3):
                x = wrapped(f, x)
            return x

        return three

    seeded(5)
    wanted = ORDERS[order](program(plain))(0.7)
    stream = (random.random(), random.gauss(0.0, 1.0), np.random.normal(), np.random.normal())
    seeded(5)
    np.testing.assert_allclose(ORDERS[order](program(run))(0.7), wanted, rtol=1e-13)
    assert (random.random(), random.gauss(0.0, 1.0), np.random.normal(), np.random.normal()) == stream


@pytest.mark.parametrize("kept", [1, 2, 40])
@pytest.mark.parametrize("order", ["grad", "jvp", "hessian"])
def test_the_steps_of_iterate_draw_what_they_drew(order: str, kept: int) -> None:
    def program(run: Any) -> Any:
        rng = np.random.default_rng(7)
        return lambda x: run(lambda y: y + 0.1 * tm.sin(y) * rng.normal() * np.random.rand(), x)

    def loop(step: Any, x: Any) -> Any:
        for _ in range(11):
            x = step(x)
        return x

    seeded(1)
    wanted = ORDERS[order](program(loop))(0.4)
    seeded(1)
    ours = ORDERS[order](program(lambda step, x: ENGINE.iterate(step, 11, x, checkpoints=kept)))(0.4)
    np.testing.assert_allclose(ours, wanted, rtol=1e-12)


# -- what does not repeat ----------------------------------------------------------------------------------------------
RUNS = itertools.count(1.0)  # an iterator is not bound


class Source:
    """Numbers from outside; an attribute of a class is not bound."""

    numbers: Any = None


def scaled(x: Any) -> Any:
    return x * next(Source.numbers)


def counted(x: Any) -> Any:
    return {"loss": [x, 2.0 * x, np.array([1.0, next(RUNS)]) * x]}


@pytest.mark.parametrize(
    "run",
    [
        lambda x: ENGINE.checkpoint(counted)(x)["loss"][2][1],
        lambda x: ENGINE.fork(lambda: counted(x))[0]["loss"][2][1],
        lambda x: ENGINE.iterate(lambda s: counted(s["loss"][0]), 2, counted(x))["loss"][2][1],
    ],
    ids=["checkpoint", "fork", "iterate"],
)
def test_what_does_not_repeat_is_refused_with_the_path(run: Any) -> None:
    with pytest.raises(RepeatError, match=r"does not give the same value twice: (value|state)\['loss'\]\[2\]"):
        ENGINE.jvp(run, (1.0,), (1.0,))
    assert ENGINE.grad(ENGINE.checkpoint(lambda x: x * x))(3.0) == 6.0


def test_the_first_difference_is_told_to_the_element() -> None:
    with pytest.raises(RepeatError, match=r"value\['loss'\]\[2\]\[1\] was \d+\.0 and is \d+\.0"):
        ENGINE.grad(lambda x: ENGINE.checkpoint(counted)(x)["loss"][1])(1.0)


def test_what_is_run_again_leaves_the_program_alone() -> None:
    log: list[float] = []
    data = np.zeros(2)

    def f(x: Any) -> Any:
        log.append(1.0)
        data[0] += 1.0
        return x * data[0] * len(log)

    value, backpropagator = ENGINE.vjp(ENGINE.checkpoint(f), 3.0)
    assert (value, len(log), data[0]) == (3.0, 1, 1.0)
    assert [backpropagator(1.0), backpropagator(1.0)] == [(1.0,), (1.0,)]
    assert (len(log), data[0]) == (1, 1.0)


def test_a_traced_run_that_rounds_otherwise_is_decided_by_a_plain_one() -> None:
    rng = np.random.default_rng(0)

    def f(x: Any) -> Any:
        return np.sin(x * 0.37) ** 3 / np.cbrt(x)

    for x in rng.normal(size=200):
        assert np.isfinite(ENGINE.grad(ENGINE.checkpoint(f))(float(x)))


def values_and_slopes(run: Any, mode: str) -> tuple[Any, Any]:
    if mode == "reverse":
        value, backpropagator = ENGINE.vjp(run, 3.0)
        return value, backpropagator(1.0)[0]
    return tuple(ENGINE.jvp(run, (3.0,), (1.0,)))  # type: ignore[return-value]


@pytest.mark.parametrize("outcomes", list(itertools.product((1.0, 2.0), repeat=3)), ids=str)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(
    "run",
    [
        lambda f, x: ENGINE.checkpoint(f)(x),
        lambda f, x: ENGINE.fork(lambda: f(x))[0],
        lambda f, x: ENGINE.checkpoint(lambda x: [np.array([x, f(x)])])(x)[0][1],
        lambda f, x: ENGINE.iterate(f, 1, x),
        lambda f, x: ENGINE.iterate(lambda s: {"a": [f(s["a"][0]), s["a"][1]]}, 1, {"a": [x, np.ones(2)]})["a"][0],
    ],
    ids=["checkpoint", "fork", "an array", "iterate", "states of iterate"],
)
def test_a_program_of_two_outcomes_is_right_or_refused(run: Any, mode: str, outcomes: tuple[float, ...]) -> None:
    """Whatever the first, the traced and the plain run return: the slope is that of the value, or the call raises."""
    Source.numbers = itertools.chain(outcomes, itertools.repeat(outcomes[0]))
    try:
        value, slope = values_and_slopes(lambda x: run(scaled, x), mode)
    except RepeatError:
        assert len(set(outcomes)) > 1
    else:
        assert value == 3.0 * slope == 3.0 * outcomes[0]


def test_a_long_chain_of_two_outcomes_is_refused(monkeypatch: Any) -> None:
    """With several steps in a block of compared states, each step is compared."""
    monkeypatch.setattr("tapeengine.transforms.repeated.passed_states.MOST", 2)
    for other in range(8, 16):
        Source.numbers = (1.0 + (k == other) for k in itertools.count())
        with pytest.raises(RepeatError):
            ENGINE.jvp(lambda x: ENGINE.iterate(scaled, 8, x), (3.0,), (1.0,))


def test_an_array_that_never_changes_is_copied_once() -> None:
    data = np.ones(1000)
    seen = []

    def program(x: Any) -> Any:
        for _ in range(5):
            x = ENGINE.checkpoint(lambda y: y * data[0])(x)
            seen.append(ENGINE.copies.of(data))
        return x

    ENGINE.grad(program)(1.0)
    assert len({id(copy) for copy in seen}) == 1
    data[0] = 2.0
    assert ENGINE.copies.of(data) is not seen[0]


# -- rules in threads --------------------------------------------------------------------------------------------------
class Box:
    """Not covered by the binding: computations of a rule on this are recorded on a tape of its call."""

    w: Any = None


def ruled(captures: bool) -> Any:
    def program(x: Any, w: Any) -> Any:
        Box.w = w

        @ENGINE.custom_vjp
        def f(y: Any) -> Any:
            return w * y

        if captures:
            f.defvjp(lambda y: (w * y, y), lambda y, ct: (ct * w * w / w,))
        else:
            f.defvjp(lambda y: (w * y, y), lambda y, ct: (ct * Box.w * Box.w / Box.w,))
        for _ in range(20):
            x = f(x) * 0.5 + tm.sin(x)
        return x

    return program


REPEATED: dict[str, Callable[..., Any]] = {
    "a rule that captures": ruled(True),
    "a rule": ruled(False),
    "checkpoint": lambda x, c: ENGINE.checkpoint(lambda y: tm.cos(y) * c)(x),
    "iterate": lambda x, c: ENGINE.iterate(lambda y: tm.cos(y) * c, 25, x, checkpoints=3),
    "fork_map": lambda x, c: sum(ENGINE.fork_map(lambda y: tm.cos(y) * c, [x, 2.0 * x])),
}


@pytest.mark.parametrize("name", REPEATED)
def test_what_captures_runs_again_in_several_threads_and_leaves_nothing(name: str) -> None:
    _value, backpropagator = ENGINE.vjp(REPEATED[name], 0.3, 1.5)
    records, wanted = len(backpropagator.tape), backpropagator(1.0)
    found: list[Any] = []

    def work() -> None:
        try:
            found.extend(backpropagator(1.0) for _ in range(60))
        except BaseException as error:
            found.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert set(found) == {wanted} and len(found) == 240
    assert len(backpropagator.tape) == records


def rule_of_tangents(x: Any, w: Any) -> Any:
    @ENGINE.custom_jvp
    def f(y: Any) -> Any:
        return w * y

    f.defjvp(lambda primals, tangents: (w * primals[0], tangents[0] * w * w / w))
    for _ in range(20):
        x = f(x) * 0.5 + tm.sin(x)
    return x


@pytest.mark.parametrize("program", [ruled(True), ruled(False), rule_of_tangents])
@pytest.mark.parametrize("order", ["hessian", "reverse2"])
def test_second_derivatives_of_rules_that_capture(program: Any, order: str) -> None:
    def without(x: Any) -> Any:
        for _ in range(20):
            x = 1.5 * x * 0.5 + tm.sin(x)
        return x

    ours = ORDERS[order](lambda x: program(x, 1.5 + 0.0 * x))(0.3)
    np.testing.assert_allclose(ours, ORDERS[order](without)(0.3), rtol=1e-12)


def test_a_rule_may_log_its_calls() -> None:
    calls: list[str] = []

    @ENGINE.custom_vjp
    def f(x: Any) -> Any:
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, ct: (calls.append("bwd") or 2.0 * x * ct,))  # type: ignore[func-returns-value]
    assert ENGINE.grad(lambda x: f(f(x)))(2.0) == 32.0
    assert calls == ["bwd", "bwd"]


@pytest.mark.parametrize(
    "other", [np.zeros(3, int), np.zeros(3, np.float32), np.zeros((3, 1)), -np.zeros(3), np.zeros(2)]
)
def test_arrays_of_other_bits_are_not_the_same(other: Any) -> None:
    one = np.zeros(3)
    assert not array_copies.same_bits(one, other)
    assert not array_copies.same_bits(other, one)
    assert array_copies.same_bits(other, other.copy())


NANS = [math.nan, -math.nan, complex(math.nan, 1.0), complex(1.0, -math.nan), np.float64(-np.nan)]


@pytest.mark.parametrize("was", [*NANS, 1.0, 0.0, -0.0, 1j], ids=repr)
@pytest.mark.parametrize("now", [*NANS, 1.0, 0.0, -0.0, 1j], ids=repr)
def test_a_value_that_is_not_a_number_repeats_whatever_its_bits(was: Any, now: Any) -> None:
    """The traced program may make a NaN of another sign; any other number has to have the same bits."""
    alike = (was != was and now != now) or (repr(was) == repr(now) and was == was)
    assert bool(Outcome(Structures(), [was]).difference([now])) is not alike
